"""Whole networks as CUDA kernels on the simulated device: the results are the CPU
target's, no checker of the device has anything to report, and no kernel spills registers.

usage: cuda.py [NAME-PART...]   (-v: also the passes, with their times)
"""
import dataclasses
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "models")]

import catalog  # noqa: E402
import half  # noqa: E402
import numpy as np  # noqa: E402
import reference  # noqa: E402
from harness import CACHE, DLC, Tally, compile_model, execute, lacking, need_dlc  # noqa: E402

TARGET = "--target=cuda:sm_90"
GPUS = ("resnet18_1", "mobilenet_v2_1", "rapidocr_rec", "rapidocr_cls")
TOLERANCE = {"f32": (1e-3, 1e-4), "f16": (2e-2, 4e-3)}
# The simulator reserves twice the addresses of its memory.
DEVICE = {"DLC_CUDASIM_MEMORY_MB": "1024"}
LIMITS = {"timeout_s": 300, "memory_mib": 8192}


def networks():
    """Networks with the type that they compute in."""
    known = {n.name: n for n in catalog.packaged() + catalog.full_size(1)}
    single = catalog.parity() + [known[name] for name in GPUS] + catalog.transformers(("bert_tiny", "gpt2_tiny"), 128, 1)
    path = CACHE / "models/resnet18-1-f16.onnx"
    if not path.exists():
        half.to_half(known["resnet18_1"].path, path)
    halved = dataclasses.replace(known["resnet18_1"], name="resnet18_1_f16", path=path)
    return [(n, "f32") for n in single] + [(halved, "f16")]


def run_on(device, artifact, feeds, scratch):
    np.savez(scratch / "in.npz", **feeds)
    return execute([DLC, "run", artifact, "--device", device, "--inputs", scratch / "in.npz",
                    "--outputs", scratch / f"{device}.npz"], env=os.environ | DEVICE, **LIMITS)


def check_spills(network, artifact, tally):
    told = execute([DLC, "inspect", "--json", artifact], **LIMITS)
    launches = [launch for kernel in json.loads(told.stdout)["gpu_kernels"] for launch in kernel["launches"]]
    untold = [launch["function"] for launch in launches if "spill_bytes" not in launch]
    spilled = [f"{launch['function']} ({launch['spill_bytes']} bytes)" for launch in launches if launch.get("spill_bytes")]
    tally.check(f"{network.name} {len(launches)} launches", bool(launches) and not untold, f"nothing told of {untold}")
    tally.check(f"{network.name} spills", not spilled, ", ".join(spilled))


def check_network(network, kind, scratch, tally):
    artifact, on_cpu = scratch / "cuda.dlc", scratch / "cpu.dlc"
    for target, path in ((TARGET, artifact), ("--target=cpu", on_cpu)):
        compiled = compile_model(network.path, path, target, **LIMITS)
        if compiled.code != 0:
            return tally.fail(network.name, f"compile {target}: {compiled.how()}: {compiled.message()}")
    check_spills(network, artifact, tally)
    for seed, shapes in enumerate(network.shapes):
        feeds = reference.random_feeds(network.path, shapes, seed, network.high)
        name = f"{network.name} {'x'.join(map(str, next(iter(feeds.values())).shape))}"
        expected, ran = run_on("cpu", on_cpu, feeds, scratch), run_on("cuda-sim", artifact, feeds, scratch)
        if expected.code or ran.code:
            tally.fail(name, (expected if expected.code else ran).message())
            continue
        tally.check(f"{name} findings", "cudasim" not in ran.stderr, ran.stderr.strip()[:300])
        rtol, atol = TOLERANCE[kind]
        differ = reference.compare(reference.load_outputs(scratch / "cpu.npz"),
                                   reference.load_outputs(scratch / "cuda-sim.npz"), rtol=rtol, atol=atol)
        tally.fail(name, differ) if differ else tally.ok(name, f"{ran.seconds:.2f} s")


def main():
    need_dlc()
    parts = [a for a in sys.argv[1:] if not a.startswith("-")]
    tally = Tally(quiet="-v" not in sys.argv)
    if lack := lacking(catalog.parity()[0].path, TARGET, **LIMITS):
        tally.skip("networks as CUDA kernels", lack)
        return tally.finish()
    for network, kind in networks():
        if parts and not any(part in network.name for part in parts):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            check_network(network, kind, pathlib.Path(scratch), tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
