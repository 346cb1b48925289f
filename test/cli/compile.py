"""What `dlc compile` promises besides right answers: the memory it announces is the
memory a run plans, limits end in one message, and an artifact knows its ONNX nodes."""
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
from harness import BUILD, DLC, Tally, compile_model, execute, need_dlc  # noqa: E402
from onnx import TensorProto, helper, numpy_helper, save_model  # noqa: E402

F32 = TensorProto.FLOAT
UNSUPPORTED, OUT_OF_MEMORY = 3, 5


def tensor(name, dims, kind=F32):
    return helper.make_tensor_value_info(name, kind, dims)


def save(path, nodes, inputs, outputs, constants=()):
    graph = helper.make_graph(nodes, "g", inputs, outputs,
                              [numpy_helper.from_array(value, name) for name, value in constants])
    save_model(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


def mlp(path, width=96):
    """Three products whose batch is symbolic."""
    rng = np.random.default_rng(1)
    weights = [(f"w{i}", rng.standard_normal((width, width)).astype(np.float32)) for i in range(3)]
    nodes = []
    for i in range(3):
        nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"m{i}"], f"product{i}"))
        nodes.append(helper.make_node("Tanh", [f"m{i}"], [f"x{i + 1}"], f"tanh{i}"))
    return save(path, nodes, [tensor("x0", ["N", width])], [tensor("x3", ["N", width])], weights)


def looping(path):
    """A loop of eight iterations around two nodes."""
    body = helper.make_graph(
        [helper.make_node("Exp", ["v"], ["e"], "inner_exp"), helper.make_node("Softmax", ["e"], ["w"], "inner_softmax"),
         helper.make_node("Identity", ["go"], ["go_on"], "keep")],
        "body", [tensor("i", [], TensorProto.INT64), tensor("go", [], TensorProto.BOOL), tensor("v", [4, 8])],
        [tensor("go_on", [], TensorProto.BOOL), tensor("w", [4, 8])])
    return save(path, [helper.make_node("Loop", ["trip", "", "x"], ["y"], "loop", body=body)],
                [tensor("x", [4, 8])], [tensor("y", [4, 8])], [("trip", np.int64(8))])


def long_sizes(path):
    """Concatenations that double: the last size has more steps than an artifact may hold."""
    nodes, name = [], "x"
    for i in range(7):
        # Rounded differently each time, so that the sum cannot be simplified.
        nodes.append(helper.make_node("MaxPool", [name], [f"p{i}"], f"pool{i}", kernel_shape=[2], strides=[i + 2]))
        nodes.append(helper.make_node("Concat", [name, f"p{i}", f"p{i}", name], [f"c{i}"], f"join{i}", axis=2))
        nodes.append(helper.make_node("MaxPool", [f"c{i}"], [f"q{i}"], f"again{i}", kernel_shape=[3], strides=[2]))
        nodes.append(helper.make_node("Concat", [f"c{i}", f"q{i}", f"p{i}"], [f"d{i}"], f"both{i}", axis=2))
        name = f"d{i}"
    return save(path, nodes, [tensor("x", [1, 1, "L"])], [tensor(name, [1, 1, None])])


def report(scratch, model, *flags):
    outcome = compile_model(model, scratch / "m.dlc", "--json", *flags)
    if outcome.code:
        raise RuntimeError(outcome.message())
    return json.loads(outcome.stdout)


def check_memory(scratch, tally):
    summary = report(scratch, mlp(scratch / "mlp.onnx"), "--dim", "N=2..64")
    for index, batch in enumerate([2, 64]):
        seen = json.loads(execute([DLC, "inspect", scratch / "m.dlc", "--json", "--dim", f"N={batch}"]).stdout)
        announced = summary["memory"][index]
        planned = seen["arena_bytes"]
        tally.check(f"memory for N={batch}",
                    announced["sizes"] == f"N={batch}" and announced["arena_bytes"] == planned >= batch * 96 * 4,
                    f"announced {announced}, a run plans {planned}")


def check_counts(scratch, tally):
    summary = report(scratch, looping(scratch / "loop.onnx"))
    tally.check("nodes of subgraphs are counted", summary["nodes"] == 4, f"{summary['nodes']} nodes, the model has 4")
    tally.check("kernel calls in loops are counted", summary["dispatches"] >= 1, "no kernel call")


def check_source_map(scratch, tally):
    report(scratch, mlp(scratch / "mlp.onnx"))
    data = (scratch / "m.dlc").read_bytes()
    for word in [b"product1", b"MatMul", b"tanh2", b"Tanh"]:
        tally.check(f"source map names {word.decode()}", word in data, "not in the artifact")


def check_long_sizes(scratch, tally):
    target = scratch / "long.dlc"
    outcome = compile_model(long_sizes(scratch / "long.onnx"), target)
    tally.check("sizes too long for an artifact",
                outcome.code == UNSUPPORTED and "more than 1024 steps" in outcome.stderr and not target.exists(),
                f"{outcome.how()}: {outcome.message()}")


def check_plain_host(scratch, tally):
    model = save(scratch / "libm.onnx", [helper.make_node("Atan", ["x"], ["a"], "atan"),
                                         helper.make_node("Sinh", ["a"], ["y"], "sinh")],
                 [tensor("x", [4])], [tensor("y", [4])])
    report(scratch, model)
    outcome = execute([BUILD / "bin" / "dlc-plain-host", BUILD / "lib" / "libdlc_runtime.so", scratch / "m.dlc"])
    tally.check("kernels that call libm load in a host without it", outcome.code == 0, outcome.message())


def check_out_of_memory(scratch, tally):
    folder = scratch / "oom"
    folder.mkdir()
    outcome = compile_model(mlp(scratch / "wide.onnx", 2048), folder / "m.dlc", memory_mib=48)
    tally.check("out of memory", outcome.code == OUT_OF_MEMORY and "out of memory" in outcome.stderr,
                f"{outcome.how()}: {outcome.message()}")
    tally.check("out of memory leaves no file", not any(folder.iterdir()), "a half-written file is left")


def main():
    need_dlc()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for check in [check_memory, check_counts, check_source_map, check_long_sizes, check_plain_host,
                      check_out_of_memory]:
            check(pathlib.Path(folder), tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
