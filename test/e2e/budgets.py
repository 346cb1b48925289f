"""The promised figures: what the runtime weighs and needs, and how long ResNet-50
takes to compile, load and run beside onnxruntime. Times are the best of a few
tries, so that a busy machine does not fail a good build."""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import types

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "models"), str(ROOT / "benchmarks")]

import capi  # noqa: E402
import catalog  # noqa: E402
import numpy as np  # noqa: E402
import peers  # noqa: E402
import reference  # noqa: E402
from harness import BUILD, DLC, Tally, compile_model, execute, need_dlc  # noqa: E402

RUNTIME = BUILD / "lib" / "libdlc_runtime.so"
RUNTIME_BYTES = 500 * 1024
NOT_LINKED = re.compile(r"LLVM|MLIR|protobuf|onnx", re.IGNORECASE)
COMPILE_S, LOAD_MS, SPEED, MEMORY = 10, 50, 0.8, 1.3
TRIES = 3


def runtime_size(scratch, tally):
    stripped = scratch / "stripped.so"
    subprocess.run(["strip", "-o", stripped, RUNTIME], check=True)
    size = stripped.stat().st_size
    report(tally, "stripped runtime library", size, RUNTIME_BYTES, "bytes")
    needed = re.findall(r"NEEDED.*\[(.*)\]", subprocess.run(["readelf", "-d", RUNTIME], check=True, text=True,
                                                            capture_output=True).stdout)
    bad = [name for name in needed if NOT_LINKED.search(name)]
    if bad:
        tally.fail("runtime dependencies", ", ".join(bad))
    else:
        tally.ok("runtime dependencies", ", ".join(needed))


def report(tally, what, measured, limit, unit, at_least=False):
    good = measured >= limit if at_least else measured <= limit
    text = f"{measured:.4g} {unit}, {'at least' if at_least else 'at most'} {limit:.4g}"
    print(f"   {what}: {text}", flush=True)
    if good:
        tally.ok(what)
    else:
        tally.fail(what, text)


def peak_memory(artifact, scratch, tally):
    """The resident peak of a run, against weights plus planned arena."""
    model = capi.Model(artifact, 1)
    planned = (model.lib.dlc_model_weight_bytes(model.handle) + model.lib.dlc_model_arena_bytes(model.handle)) / 2**20
    model.close()
    done = execute([DLC, "bench", artifact, "--threads", "1", "--inputs", scratch / "in.npz", "--json"])
    if done.code != 0:
        tally.fail("dlc bench", f"{done.how()}: {done.message()}")
        return
    report(tally, "peak memory of a run", json.loads(done.stdout)["peak_rss_mb"], MEMORY * planned, "MiB")


def beside_onnxruntime(network, scratch, tally):
    options = types.SimpleNamespace(threads=1, seconds=3)
    rows = [peers.measure(network, options, scratch) for _ in range(TRIES)]
    refused = [row["refused"] for row in rows if "refused" in row]
    if refused:
        tally.fail("resnet50 beside onnxruntime", refused[0])
        return
    report(tally, "resnet50 load", min(row["load_ms"] for row in rows), LOAD_MS, "ms")
    report(tally, "resnet50 speed beside onnxruntime", max(row["ratio"] for row in rows), SPEED, "", at_least=True)


def main():
    need_dlc()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        runtime_size(scratch, tally)
        network = next(n for n in catalog.full_size(1) if n.name == "resnet50_1")
        artifact = scratch / "m.dlc"
        compiled = [compile_model(network.path, artifact, timeout_s=120) for _ in range(TRIES)]
        if compiled[0].code != 0:
            tally.fail("resnet50 compile", compiled[0].message())
            return tally.finish()
        report(tally, "resnet50 compile", min(c.seconds for c in compiled), COMPILE_S, "s")
        feeds = reference.random_feeds(network.path, network.shapes[0])
        np.savez(scratch / "in.npz", **feeds)
        peak_memory(artifact, scratch, tally)
        beside_onnxruntime(network, scratch, tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
