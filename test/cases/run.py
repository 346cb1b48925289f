"""Runs the models rebuilt from public bug reports (see LOG.md): every one must
compile and give the expected numbers."""
import argparse
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import onnx  # noqa: E402
from harness import DLC, TARGET, Tally, compile_model, execute, need_dlc  # noqa: E402

HALF = {onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}


def tolerances(model):
    """As every case's note.txt states: f32 1e-4 / 1e-5, half precision 2e-2."""
    outputs = onnx.load(model).graph.output
    half = any(o.type.tensor_type.elem_type in HALF for o in outputs)
    return ("--rtol", "2e-2", "--atol", "2e-2") if half else ("--rtol", "1e-4", "--atol", "1e-5")


def run_case(folder, scratch, tally, device):
    model, artifact = folder / "model.onnx", scratch / f"{folder.name}.dlc"
    compiled = compile_model(model, artifact, *TARGET.get(device, []))
    if compiled.code == 3:  # refused by name: not supported, and not wrong
        tally.skip(folder.name, compiled.message())
        return
    if compiled.code != 0:
        tally.fail(folder.name, f"compile: {compiled.how()}: {compiled.message()}")
        return
    for data in sorted(folder.glob("test_data_set_*")):
        ran = execute([DLC, "run", artifact, "--test-dir", data, "--device", device, *tolerances(model)])
        if ran.code != 0:
            tally.fail(folder.name, f"run: {ran.how()}: {ran.message()}")
            return
    tally.ok(folder.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-v", action="store_true", help="name what passes")
    parser.add_argument("--device", default="cpu", choices=["cpu", *TARGET], help="where the models run")
    args = parser.parse_args()
    need_dlc()
    tally = Tally(quiet=not args.v)
    with tempfile.TemporaryDirectory() as scratch:
        for folder in sorted(p.parent for p in HERE.glob("*/*/model.onnx")):
            run_case(folder, pathlib.Path(scratch), tally, args.device)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
