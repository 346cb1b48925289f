"""Full-size image networks with random weights, made with onnx.helper: the shapes
and costs of the real ones without anybody's weights. Batch norms are kept as nodes,
as exporters leave them in training mode, so that folding has something to do."""
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET, CLASSES, SIZE = 17, 1000, 224


class Net:
    """Appends layers; each returns the name of its result."""

    def __init__(self, name, batch, seed=0):
        self.name, self.batch, self.random = name, batch, np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], [], 0

    def weight(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def node(self, op, *inputs, **attributes):
        self.count += 1
        output = f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=output, **attributes))
        return output

    def conv(self, x, cin, cout, kernel, stride=1, groups=1, gain=2.0, bias=False):
        """He initialisation: keeps the variance through a ReLU."""
        fan_in = cin // groups * kernel * kernel
        shape = (cout, cin // groups, kernel, kernel)
        values = self.random.standard_normal(shape, np.float32) * np.float32(np.sqrt(gain / fan_in))
        operands = [x, self.weight(f"w_{self.count}", values)]
        if bias:
            operands.append(self.weight(f"b_{self.count}", 0.1 * self.random.standard_normal(cout).astype(np.float32)))
        pad = kernel // 2
        return self.node("Conv", *operands, kernel_shape=[kernel] * 2, strides=[stride] * 2,
                         pads=[pad] * 4, group=groups)

    def norm(self, x, channels, gain=1.0):
        tag = self.count

        def values(center, spread):
            return (center + spread * self.random.standard_normal(channels)).astype(np.float32)

        return self.node("BatchNormalization", x, self.weight(f"scale_{tag}", gain * values(1, 0.1)),
                         self.weight(f"shift_{tag}", values(0, 0.1)), self.weight(f"mean_{tag}", values(0, 0.1)),
                         self.weight(f"var_{tag}", np.abs(values(1, 0.1)) + np.float32(0.1)), epsilon=1e-5)

    def activate(self, x, kind):
        if kind == "silu":
            return self.node("Mul", x, self.node("Sigmoid", x))
        if kind == "relu6":
            return self.node("Clip", x, self.scalar("zero", 0), self.scalar("six", 6))
        return self.node({"relu": "Relu", "hardswish": "HardSwish"}[kind], x) if kind else x

    def scalar(self, name, value):
        if all(w.name != name for w in self.weights):
            self.weight(name, np.float32(value))
        return name

    def block(self, x, cin, cout, kernel, stride=1, groups=1, act="relu", gain=1.0, conv_gain=2.0):
        return self.activate(self.norm(self.conv(x, cin, cout, kernel, stride, groups, conv_gain), cout, gain), act)

    def squeeze_excite(self, x, channels, hidden, inner, gate):
        s = self.node("GlobalAveragePool", x)
        s = self.activate(self.conv(s, channels, hidden, 1, bias=True), inner)
        return self.node("Mul", x, self.node(gate, self.conv(s, hidden, channels, 1, gain=1.0, bias=True)))

    def dense(self, x, cin, cout):
        values = self.random.standard_normal((cout, cin), np.float32) / np.float32(np.sqrt(cin))
        return self.node("Gemm", x, self.weight(f"w_{self.count}", values),
                         self.weight(f"b_{self.count}", np.zeros(cout, np.float32)), transB=1)

    def pool(self, x):
        return self.node("Flatten", self.node("GlobalAveragePool", x), axis=1)

    def model(self, x):
        self.nodes[-1].output[0] = "logits"
        image = helper.make_tensor_value_info("image", TensorProto.FLOAT, [self.batch, 3, SIZE, SIZE])
        logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [self.batch, CLASSES])
        graph = helper.make_graph(self.nodes, self.name, [image], [logits], self.weights)
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(made)
        return made


def resnet(net, bottleneck, depths):
    x = net.block("image", 3, 64, 7, 2)
    x = net.node("MaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1] * 4)
    cin = 64
    for stage, depth in enumerate(depths):
        width = 64 << stage
        cout = width * 4 if bottleneck else width
        for index in range(depth):
            stride = 2 if stage and not index else 1
            y = net.block(x, cin, width, 1 if bottleneck else 3, 1 if bottleneck else stride)
            if bottleneck:
                y = net.block(y, width, width, 3, stride)
            y = net.block(y, width, cout, 1 if bottleneck else 3, act=None, gain=0.5)
            if cin != cout or stride != 1:
                x = net.block(x, cin, cout, 1, stride, act=None)
            x = net.node("Relu", net.node("Add", y, x))
            cin = cout
    return net.dense(net.pool(x), cin, CLASSES)


def inverted_residual(net, x, cin, cout, expanded, kernel, stride, act, squeeze=None):
    gain = 2.6 if act == "silu" else 2.0
    y = net.block(x, cin, expanded, 1, act=act, conv_gain=gain) if expanded != cin else x
    y = net.block(y, expanded, expanded, kernel, stride, groups=expanded, act=act, conv_gain=gain)
    if squeeze:
        y = net.squeeze_excite(y, expanded, *squeeze)
    # The gate halves the signal on average; silu passes less of it than relu does.
    y = net.block(y, expanded, cout, 1, act=None, conv_gain=4.0 if squeeze else 2.0)
    return net.node("Add", x, y) if cin == cout and stride == 1 else y


def mobilenet_v2(net):
    x, cin = net.block("image", 3, 32, 3, 2, act="relu6"), 32
    for expand, cout, depth, stride in ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2),
                                        (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)):
        for index in range(depth):
            x = inverted_residual(net, x, cin, cout, cin * expand, 3, 1 if index else stride, "relu6")
            cin = cout
    return net.dense(net.pool(net.block(x, cin, 1280, 1, act="relu6")), 1280, CLASSES)


def round_to_8(value):
    rounded = max(8, int(value + 4) // 8 * 8)
    return rounded + 8 if rounded < 0.9 * value else rounded


def mobilenet_v3_large(net):
    x, cin = net.block("image", 3, 16, 3, 2, act="hardswish"), 16
    for kernel, expanded, cout, squeeze, act, stride in (
            (3, 16, 16, False, "relu", 1), (3, 64, 24, False, "relu", 2), (3, 72, 24, False, "relu", 1),
            (5, 72, 40, True, "relu", 2), (5, 120, 40, True, "relu", 1), (5, 120, 40, True, "relu", 1),
            (3, 240, 80, False, "hardswish", 2), (3, 200, 80, False, "hardswish", 1),
            (3, 184, 80, False, "hardswish", 1), (3, 184, 80, False, "hardswish", 1),
            (3, 480, 112, True, "hardswish", 1), (3, 672, 112, True, "hardswish", 1),
            (5, 672, 160, True, "hardswish", 2), (5, 960, 160, True, "hardswish", 1),
            (5, 960, 160, True, "hardswish", 1)):
        gate = (round_to_8(expanded / 4), "relu", "HardSigmoid") if squeeze else None
        x, cin = inverted_residual(net, x, cin, cout, expanded, kernel, stride, act, gate), cout
    x = net.pool(net.block(x, cin, 960, 1, act="hardswish"))
    return net.dense(net.activate(net.dense(x, 960, 1280), "hardswish"), 1280, CLASSES)


def efficientnet_b0(net):
    x, cin = net.block("image", 3, 32, 3, 2, act="silu"), 32
    for expand, kernel, stride, cout, depth in ((1, 3, 1, 16, 1), (6, 3, 2, 24, 2), (6, 5, 2, 40, 2), (6, 3, 2, 80, 3),
                                                (6, 5, 1, 112, 3), (6, 5, 2, 192, 4), (6, 3, 1, 320, 1)):
        for index in range(depth):
            gate = (max(1, cin // 4), "silu", "Sigmoid")
            x = inverted_residual(net, x, cin, cout, cin * expand, kernel, 1 if index else stride, "silu", gate)
            cin = cout
    return net.dense(net.pool(net.block(x, cin, 1280, 1, act="silu")), 1280, CLASSES)


NETWORKS = {
    "resnet18": lambda net: resnet(net, False, (2, 2, 2, 2)),
    "resnet50": lambda net: resnet(net, True, (3, 4, 6, 3)),
    "mobilenet_v2": mobilenet_v2,
    "mobilenet_v3_large": mobilenet_v3_large,
    "efficientnet_b0": efficientnet_b0,
}


def path_of(name, batch, folder):
    """The model file, made when it is not there. `batch` is a number or a symbol such as "N"."""
    path = pathlib.Path(folder) / f"{name}-{batch}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        net = Net(name, batch)
        partial = path.with_suffix(".part")
        onnx.save(net.model(NETWORKS[name](net)), partial)
        partial.rename(path)
    return path


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(".cache/models")
    for network in NETWORKS:
        for size in (1, "N"):
            print(path_of(network, size, target))
