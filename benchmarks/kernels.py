"""Single kernels as a share of the measured f32 peak of one core: GEMM 512^3 and
three convolutions of ResNet-50. Times are the kernel's own, from the runtime's
profile; results are compared with onnxruntime's before anything is timed.

usage: kernels.py [--at-least 85] [--json FILE]     exit 1 if a kernel is below the share
"""
import argparse
import json
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))

import capi  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import reference  # noqa: E402
from harness import BUILD, compile_model, need_dlc  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402

RUNS = 200
# input channels, output channels, kernel, image side
CONVS = {"conv3x3_64x56": (64, 64, 3, 56), "conv1x1_256x14": (1024, 256, 1, 14), "conv3x3_256x14": (256, 256, 3, 14)}


def one_node(name, node, x_shape, y_shape, weight):
    graph = helper.make_graph([node], name, [helper.make_tensor_value_info("x", TensorProto.FLOAT, x_shape)],
                              [helper.make_tensor_value_info("y", TensorProto.FLOAT, y_shape)],
                              [numpy_helper.from_array(weight, "w")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def models():
    """name -> (model, floating-point operations)"""
    random = np.random.default_rng(0)
    size = 512
    weight = random.standard_normal((size, size), np.float32)
    made = {"gemm_512": (one_node("gemm", helper.make_node("MatMul", ["x", "w"], ["y"]), [size, size], [size, size],
                                  weight), 2 * size**3)}
    for name, (cin, cout, kernel, side) in CONVS.items():
        weight = random.standard_normal((cout, cin, kernel, kernel), np.float32)
        node = helper.make_node("Conv", ["x", "w"], ["y"], kernel_shape=[kernel] * 2, pads=[kernel // 2] * 4)
        shape = [[1, channels, side, side] for channels in (cin, cout)]
        made[name] = (one_node(name, node, *shape, weight), 2 * weight.size * side * side)
    return made


def measured_peak():
    done = subprocess.run([BUILD / "bin" / "bench-peak", "--benchmark_format=json"], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return max(b["gflops"] for b in json.loads(done.stdout)["benchmarks"] if b["run_type"] == "iteration")


def best_kernel_us(path, scratch):
    """The shortest time of the one kernel that does the work."""
    artifact = scratch / "m.dlc"
    compiled = compile_model(path, artifact)
    if compiled.code != 0:
        sys.exit(f"error: {path.name}: {compiled.message()}")
    model = capi.Model(artifact, 1)
    feeds = reference.random_feeds(path)
    differ = reference.compare(reference.expected_outputs(path, feeds), model.run(feeds))
    if differ:
        sys.exit(f"error: {path.name} is not timed, results differ: {differ}")
    best = min(max(us for _, _, us, _ in model.profile(feeds)) for _ in range(RUNS))
    model.close()
    return best


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--at-least", type=float, default=0, help="per cent of the peak that every kernel must reach")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    need_dlc()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, (model, flops) in models().items():
            path = pathlib.Path(folder) / f"{name}.onnx"
            onnx.save(model, path)
            us = best_kernel_us(path, pathlib.Path(folder))
            peak = measured_peak()
            share = 100 * flops / us / 1e3 / peak
            rows.append({"kernel": name, "us": round(us, 1), "gflops": round(flops / us / 1e3, 1),
                         "peak_gflops": round(peak, 1), "peak_percent": round(share, 1)})
            print(f"   {name:16} {us:9.1f} us {flops / us / 1e3:8.1f} GFLOP/s {share:6.1f}% of {peak:.1f}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(row["peak_percent"] < args.at_least for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
