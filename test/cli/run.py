"""The dlc command from outside: arguments, exit codes, every array format there
and back. Its artifacts copy their inputs and come from dlc-copy-artifact, so that
no compiler takes part."""
import io
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import arrays  # noqa: E402
import ml_dtypes  # noqa: E402
import numpy as np  # noqa: E402
import PIL.Image  # noqa: E402
from harness import BUILD, DLC, Tally, execute, need_dlc  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

MAKE = BUILD / "bin" / "dlc-copy-artifact"
USAGE, UNSUPPORTED, MISMATCH, OUT_OF_MEMORY = 2, 3, 4, 5
X = arrays.X
NUMPY_TYPES = {"f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8,
               "i16": np.int16, "u16": np.uint16, "i32": np.int32, "u32": np.uint32, "i64": np.int64,
               "u64": np.uint64, "bool": np.bool_}
# Types that NumPy lacks: ONNX's number, ml_dtypes' type, how outputs are written.
OTHER_TYPES = {"bf16": (TensorProto.BFLOAT16, ml_dtypes.bfloat16, np.uint16),
               "f8e4m3fn": (TensorProto.FLOAT8E4M3FN, ml_dtypes.float8_e4m3fn, np.uint8),
               "f8e4m3fnuz": (TensorProto.FLOAT8E4M3FNUZ, ml_dtypes.float8_e4m3fnuz, np.uint8),
               "f8e5m2": (TensorProto.FLOAT8E5M2, ml_dtypes.float8_e5m2, np.uint8),
               "f8e5m2fnuz": (TensorProto.FLOAT8E5M2FNUZ, ml_dtypes.float8_e5m2fnuz, np.uint8),
               "i4": (TensorProto.INT4, ml_dtypes.int4, np.int8),
               "u4": (TensorProto.UINT4, ml_dtypes.uint4, np.uint8)}


class Checks:
    """What the functions below share; a failed expectation is one failed test."""

    def __init__(self, scratch, tally):
        self.scratch, self.tally = scratch, tally

    def artifact(self, *ports):
        path = self.scratch / "m.dlc"
        subprocess.run([MAKE, path, *ports], check=True)
        return path

    def file(self, name, data):
        path = self.scratch / name
        path.write_bytes(data)
        return path

    def expect(self, name, code, words, *arguments):
        outcome = execute([DLC, *arguments], timeout_s=20, memory_mib=1024)
        text = outcome.stdout + outcome.stderr
        if outcome.code != code:
            self.tally.fail(name, f"{outcome.how()}, expected exit {code}: {outcome.message()}")
        elif any(word not in text for word in words):
            self.tally.fail(name, f"{words} is not in: {text.strip()[:300]}")
        elif code and len(outcome.stderr.splitlines()) != 1:
            self.tally.fail(name, f"not one line: {outcome.stderr}")
        else:
            self.tally.ok(name)
        return outcome

    def that(self, name, good, why):
        if good:
            self.tally.ok(name)
        else:
            self.tally.fail(name, why)

    def same(self, name, got, want):
        good = got.dtype == want.dtype and got.shape == want.shape and got.tobytes() == want.tobytes()
        self.that(name, good, f"{got!r}, expected {want!r}")


def copied(checks, name, model, source):
    """What comes out of the copy of x."""
    out = checks.scratch / "out.npz"
    out.unlink(missing_ok=True)
    checks.expect(f"{name} runs", 0, [], "run", model, "--inputs", source, "-o", out)
    with np.load(out) as found:
        return found["x_copy"]


def array_types(checks):
    values = np.array([[0, 1, 2], [3, 5, 7]])
    for name, dtype in NUMPY_TYPES.items():
        model, want = checks.artifact(f"x:{name}[N,3]"), values.astype(dtype)
        for kind, array in (("C", want), ("Fortran", np.asfortranarray(want)),
                            ("big-endian", want.astype(want.dtype.newbyteorder(">")))):
            path = checks.scratch / "x.npy"
            np.save(path, array)
            checks.same(f"{name} {kind}", copied(checks, f"{name} {kind}", model, path), want)
        for kind in ("raw", "typed"):
            proto = (numpy_helper.from_array(want) if kind == "raw" else
                     helper.make_tensor("", helper.np_dtype_to_tensor_dtype(np.dtype(dtype)), want.shape,
                                        want.flatten().tolist()))
            path = checks.file("x.pb", proto.SerializeToString())
            checks.same(f"{name} pb {kind}", copied(checks, f"{name} pb {kind}", model, path), want)


def other_types(checks):
    for name, (onnx_type, dtype, carrier) in OTHER_TYPES.items():
        model = checks.artifact(f"x:{name}[N,3]")
        values = np.array([[0, 1, 2], [3, 4, 6]]).astype(dtype)
        want = values.astype(carrier) if name in ("i4", "u4") else values.view(carrier)
        proto = helper.make_tensor("x", onnx_type, values.shape, values.astype(np.float32).flatten().tolist())
        path = checks.file("x.pb", proto.SerializeToString())
        checks.same(f"{name} from pb", copied(checks, f"{name} pb", model, path), want)
        np.savez(checks.scratch / "x.npz", x=want)
        checks.same(f"{name} from npz", copied(checks, f"{name} npz", model, checks.scratch / "x.npz"), want)
        checks.expect(f"{name} prints", 0, ["0 1 2 3 4"], "run", model, "--inputs", path)
    np.savez(checks.scratch / "x.npz", x=np.full((1, 3), 9, np.int8))
    checks.expect("i4 does not hold 9", USAGE, ["does not fit i4"], "run", checks.artifact("x:i4[N,3]"),
                  "--inputs", checks.scratch / "x.npz")


def broken_files(checks):
    model = checks.artifact("x:f32[N,3]")
    for name, suffix, data, code, word in arrays.FILES:
        path = checks.file("bad" + suffix, data)
        checks.expect(name, code, ["error: ", "bad" + suffix, word], "run", model, "--inputs", path)


def arguments(checks):
    model = checks.artifact("x:f32[N,3]", "k:i64[2]")
    np.savez(checks.scratch / "in.npz", x=X, k=np.array([1, 2]))
    good, folder = checks.scratch / "in.npz", checks.scratch
    np.save(folder / "k.npy", np.array([1, 2]))
    (folder / "folder.npz").mkdir()
    (folder / "device.npz").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe.pb")
    for name, code, words, line in [
        ("no command", USAGE, ["subcommand"], []),
        ("unknown command", USAGE, ["no command 'fly'"], ["fly"]),
        ("help", 0, ["Example", "Exit codes"], ["--help"]),
        ("version", 0, ["0."], ["--version"]),
        ("no artifact", USAGE, ["artifact is required"], ["run"]),
        ("missing artifact", USAGE, ["nowhere.dlc"], ["run", "nowhere.dlc"]),
        ("missing inputs", USAGE, ["no value for input 'x' f32[N,3]"], ["run", model]),
        ("missing file", USAGE, ["nowhere.npz", "No such file"], ["run", model, "--inputs", "nowhere.npz"]),
        ("a folder as file", USAGE, ["not a plain file"], ["run", model, "--inputs", folder / "folder.npz"]),
        ("a device as file", USAGE, ["not a plain file"], ["run", model, "--inputs", folder / "device.npz"]),
        ("a pipe as file", USAGE, ["not a plain file"], ["run", model, "--inputs", folder / "pipe.pb"]),
        ("a value twice", USAGE, ["'k' has a value already"], ["run", model, "--inputs", good, "--inputs", f"k={folder}/k.npy"]),
        ("unknown extension", USAGE, [".npz, .npy and .pb"], ["run", model, "--inputs", model]),
        ("unknown option", USAGE, ["--fly"], ["run", model, "--fly"]),
        ("bad dim", USAGE, ["--dim expects"], ["run", model, "--random", "1", "--dim", "N"]),
        ("unknown dim", USAGE, ["no input has that symbolic size"], ["run", model, "--random", "1", "--dim", "Q=2"]),
        ("bad thread count", USAGE, ["--threads"], ["run", model, "--threads", "9999"]),
        ("bad tolerance", USAGE, ["--rtol"], ["run", model, "--rtol", "-1"]),
        ("test folder and inputs", USAGE, ["excludes"], ["run", model, "--test-dir", "d", "--random", "1"]),
        ("no test folder", USAGE, ["nowhere"], ["run", model, "--test-dir", "nowhere"]),
        ("empty test folder", USAGE, ["neither input_0.pb"], ["run", model, "--test-dir", folder]),
        ("two outputs as npy", USAGE, ["holds one array"], ["run", model, "--inputs", good, "-o", "o.npy"]),
        ("outputs to nowhere", USAGE, ["nowhere/o.npz"], ["run", model, "--inputs", good, "-o", "nowhere/o.npz"]),
        ("named file", 0, ["x_copy", "k_copy"], ["run", model, "--random", "1", "--inputs", f"k={folder}/k.npy"]),
        ("random", 0, ["f32[5,3]"], ["run", model, "--random", "1", "--dim", "N=5"]),
        ("inspect", 0, ["f32[N,3]", "k_copy"], ["inspect", model]),
        ("inspect an unknown size", USAGE, ["no symbolic size 'Q'"], ["inspect", model, "--dim", "Q=1"]),
        ("inspect another file", USAGE, ["not a dlc artifact"], ["inspect", good]),
        ("doctor", 0, ["CPU", "cores"], ["doctor"]),
        ("devices", 0, ["cpu", "cuda-sim"], ["devices"]),
    ]:
        checks.expect(name, code, words, *line)
    alone = folder / "dlc"
    shutil.copy(DLC, alone)
    outcome = execute([alone, "compile", "m.onnx"])
    checks.that("no compiler beside dlc", outcome.code == UNSUPPORTED and "dlc-compiler is not there" in outcome.stderr,
                f"{outcome.how()}: {outcome.message()}")
    checks.expect("2 GiB of input where there is 1", OUT_OF_MEMORY, ["out of memory"], "run", model, "--random", "1",
                  "--dim", f"N={(2 << 30) // 12}", "--threads", "1")
    for command in ("run", "bench", "inspect", "doctor", "devices"):
        lines = checks.expect(f"{command} --help", 0, ["Example"], command, "--help").stdout.splitlines()
        checks.that(f"{command} --help is short", len(lines) <= 30, f"{len(lines)} lines are more than a screen")


def comparisons(checks):
    model = checks.artifact("x:f32[3]", "k:i64[2]")
    x, k = np.array([1, np.nan, np.inf], np.float32), np.array([1 << 62, 5])
    np.savez(checks.scratch / "in.npz", x=x, k=k)

    def compare(name, code, words, x=x, k=k, *more):
        np.savez(checks.scratch / "want.npz", x_copy=x, k_copy=k)
        checks.expect(f"compare {name}", code, words, "run", model, "--inputs", checks.scratch / "in.npz",
                      "--compare", checks.scratch / "want.npz", *more)

    compare("equal", 0, ["3 elements agree"])
    compare("within rtol", 0, [], x=x * np.float32(1.0009))
    compare("beyond rtol", MISMATCH, ["'x_copy'", "1 of 3", "[0]", "expected 1.1, got 1"], x=x * np.float32(1.1))
    compare("rtol given", 0, [], x * np.float32(1.1), k, "--rtol", "0.2")
    compare("a NaN less", MISMATCH, ["worst at [1]: expected 0, got nan"], x=np.array([1, 0, np.inf], np.float32))
    compare("the other infinity", MISMATCH, ["expected -inf, got inf"], x=np.array([1, np.nan, -np.inf], np.float32))
    compare("a finite infinity", MISMATCH, ["[2]"], np.array([1, np.nan, 3e38], np.float32), k, "--rtol", "10")
    compare("integers are exact", MISMATCH, [str((1 << 62) + 1)], x, k + np.array([1, 0]), "--rtol", "1")
    compare("another type", MISMATCH, ["expected f64[3], got f32[3]"], x=x.astype(np.float64))
    compare("another shape", MISMATCH, ["expected f32[1,3], got f32[3]"], x=x[None])


def test_folders(checks):
    model = checks.artifact("x:f32[N,3]")
    for index, change in ((0, 0), (1, 0)):
        folder = checks.scratch / "data" / f"test_data_set_{index}"
        folder.mkdir(parents=True)
        (folder / "input_0.pb").write_bytes(numpy_helper.from_array(X[:index + 1]).SerializeToString())
        (folder / "output_0.pb").write_bytes(numpy_helper.from_array(X[:index + 1] + change).SerializeToString())
    data = checks.scratch / "data"
    checks.expect("two sets", 0, ["3 elements agree", "6 elements agree"], "run", model, "--test-dir", data)
    checks.expect("one set", 0, ["6 elements"], "run", model, "--test-dir", data / "test_data_set_1")
    (data / "test_data_set_1/output_0.pb").write_bytes(numpy_helper.from_array(X + 1).SerializeToString())
    checks.expect("a wrong set", MISMATCH, ["test_data_set_1", "6 of 6"], "run", model, "--test-dir", data)
    (data / "test_data_set_1/output_0.pb").unlink()
    checks.expect("a set without outputs", USAGE, ["0 files for 1"], "run", model, "--test-dir", data)


def picture_bytes(pixels, kind, **options):
    out = io.BytesIO()
    PIL.Image.fromarray(pixels).save(out, kind, **options)
    return out.getvalue()


def images(checks):
    pixels = np.arange(48, dtype=np.uint8).reshape(4, 4, 3) * 5
    photo = (np.add.outer(np.arange(64), np.arange(48))[..., None] * np.array([1, 2, 0.5])).astype(np.uint8)
    png, jpeg = picture_bytes(pixels, "PNG"), picture_bytes(photo, "JPEG", quality=95)
    planes = pixels.astype(np.float64).transpose(2, 0, 1)[None]
    small = np.asarray(PIL.Image.fromarray(photo).resize((20, 30), PIL.Image.BILINEAR)).transpose(2, 0, 1)[None]
    large = np.asarray(PIL.Image.fromarray(pixels).resize((9, 7), PIL.Image.BILINEAR)).transpose(2, 0, 1)[None]
    gray = np.asarray(PIL.Image.fromarray(pixels).convert("L"))[None, None]
    decoded = np.asarray(PIL.Image.open(io.BytesIO(jpeg))).transpose(2, 0, 1)[None]
    level = 1.5 / 255  # what rounding to whole levels may differ by
    for name, port, data, want, tolerance, more in [
        ("NCHW", "x:f32[N,3,4,4]", png, planes / 255, 1e-6, []),
        ("its own size", "x:f32[N,3,H,W]", png, planes / 255, 1e-6, []),
        ("NHWC", "x:f32[N,4,4,3]", png, planes.transpose(0, 2, 3, 1) / 255, 1e-6, []),
        ("without a batch", "x:f32[3,4,4]", png, planes[0] / 255, 1e-6, []),
        ("u8", "x:u8[1,3,4,4]", png, planes, 0, []),
        ("f16", "x:f16[1,3,4,4]", png, planes / 255, 1e-3, []),
        ("mean and deviation", "x:f32[N,3,4,4]", png, (planes / 255 - 0.5) / 0.25, 1e-5, ["--mean", "0.5", "--std", "0.25"]),
        ("blue first", "x:f32[N,3,4,4]", png, planes[:, ::-1] / 255, 1e-6, ["--bgr"]),
        ("gray", "x:f32[N,1,4,4]", png, gray / 255, level, []),
        ("enlarged", "x:f32[N,3,7,9]", png, large / 255, level, []),
        ("shrunk", "x:f32[N,3,30,20]", picture_bytes(photo, "PNG"), small / 255, level, []),
        ("JPEG", "x:f32[N,3,64,48]", jpeg, decoded / 255, level, []),
    ]:
        out = checks.scratch / "out.npz"
        checks.expect(f"image {name} runs", 0, [], "run", checks.artifact(port), "--image",
                      checks.file("p.png", data), "-o", out, *more)
        got = np.load(out)["x_copy"]
        good = got.shape == want.shape and np.allclose(got, want, atol=tolerance, rtol=0)
        checks.that(f"image {name}", good, f"{got.shape} of {want.shape}: {got.flatten()[:6]}, expected {want.flatten()[:6]}")
    model = checks.artifact("x:f32[N,3,4,4]")
    for name, data, code in (("cut PNG", png[:60], USAGE), ("cut pixels", png[:-30], USAGE), ("text", b"hello, picture", UNSUPPORTED),
                             ("cut JPEG", jpeg[:100], USAGE), ("cut scan", jpeg[:-200], USAGE), ("empty", b"", USAGE)):
        checks.expect(f"image {name}", code, ["p.png"], "run", model, "--image", checks.file("p.png", data))
    checks.expect("image for a matrix", USAGE, ["is no image"], "run", checks.artifact("x:f32[N,3]"), "--image",
                  checks.file("p.png", png))


def figures(checks):
    model = checks.artifact("x:f32[N,3]")
    np.savez(checks.scratch / "in.npz", x=X)
    done = checks.expect("bench", 0, ["median_ms"], "bench", model, "--threads", "1", "--inputs",
                         checks.scratch / "in.npz", "--json", "--seconds", "0.05")
    found = json.loads(done.stdout)
    for key in ("median_ms", "min_ms", "p90_ms", "load_ms", "peak_rss_mb", "gflops", "percent_of_peak", "runs", "noise"):
        checks.that(f"bench {key}", key in found, "missing")
    for command in (["run", model, "--random", "1"], ["inspect", model], ["doctor"], ["devices"]):
        done = checks.expect(f"{command[0]} --json", 0, [], *command, "--json")
        checks.that(f"{command[0]} --json is JSON", isinstance(json.loads(done.stdout), (dict, list)), done.stdout)
    picture = checks.scratch / "plan.svg"
    checks.expect("inspect --svg", 0, [], "inspect", model, "--svg", picture)
    checks.that("the picture is XML", xml.etree.ElementTree.parse(picture).getroot().tag.endswith("svg"), "another root")
    weights = checks.scratch / "w.npz"
    checks.expect("extract", 0, [], "inspect", model, "--extract", weights)
    checks.that("no weights", np.load(weights).files == [], "arrays where there are no weights")


def main():
    need_dlc()
    tally = Tally(quiet="-v" not in sys.argv)
    for group in (array_types, other_types, broken_files, arguments, comparisons, test_folders, images, figures):
        with tempfile.TemporaryDirectory() as scratch:
            group(Checks(pathlib.Path(scratch), tally))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
