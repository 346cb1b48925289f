"""scikit-learn's 1797 handwritten digits, 8 x 8, and two networks that learn them.

usage: digits.py FOLDER   (writes them there in the files of MNIST, 1500 to train on)
"""
import gzip
import importlib.util
import pathlib
import struct
import sys

import numpy as np
from onnx import TensorProto, helper, numpy_helper

BATCH, TEST_BATCH = 50, 33
TRAIN = 1500 # the other 297 are for the test


def load():
    """Images in [0, 1] and digits, shuffled; read from the package without importing it."""
    root = pathlib.Path(importlib.util.find_spec("sklearn").origin).parent
    with gzip.open(root / "datasets" / "data" / "digits.csv.gz") as file:
        rows = np.loadtxt(file, delimiter=",")
    rows = rows[np.random.default_rng(0).permutation(len(rows))]
    return (rows[:, :-1] / 16).astype(np.float32), rows[:, -1].astype(np.int64)


def batches(epochs, shape):
    """x, y for training, every epoch in its own order, then x, y for the test."""
    x, y = load()
    rng = np.random.default_rng(1)
    order = np.concatenate([rng.permutation(TRAIN) for _ in range(epochs)]).reshape(-1, BATCH)
    test = np.arange(TRAIN, len(x)).reshape(-1, TEST_BATCH)
    return ((x[order].reshape(*order.shape, *shape), y[order]), (x[test].reshape(*test.shape, *shape), y[test]))


def idx(path, array):
    """Bytes in MNIST's format."""
    header = struct.pack(">HBB", 0, 8, array.ndim) + struct.pack(">" + "I" * array.ndim, *array.shape)
    path.write_bytes(header + array.astype(np.uint8).tobytes())


def write(folder):
    """The digits as bytes, a training and a test part."""
    folder.mkdir(parents=True, exist_ok=True)
    x, y = load()
    x = (x * 255).round().reshape(-1, 8, 8)
    for name, part in (("train", slice(None, TRAIN)), ("t10k", slice(TRAIN, None))):
        idx(folder / f"{name}-images-idx3-ubyte", x[part])
        idx(folder / f"{name}-labels-idx1-ubyte", y[part])


class Net:
    """A graph under construction, initialised as PyTorch does."""

    def __init__(self, shape):
        self.rng, self.nodes, self.weights, self.last = np.random.default_rng(3), [], [], "x"
        self.shape = ["N", *shape]

    def weight(self, name, shape, bound):
        value = self.rng.uniform(-bound, bound, shape).astype(np.float32)
        self.weights.append(numpy_helper.from_array(value, name))
        return name

    def constant(self, name, value):
        self.weights.append(numpy_helper.from_array(np.asarray(value, np.float32), name))
        return name

    def add(self, op, *inputs, outputs=(), **attributes):
        name = f"{op.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, [self.last, *inputs], [name, *outputs], name=name, **attributes))
        self.last = name
        return self

    def linear(self, name, inputs, outputs):
        bound = inputs ** -0.5
        return self.add("Gemm", self.weight(f"{name}.weight", (outputs, inputs), bound),
                        self.weight(f"{name}.bias", (outputs,), bound), transB=1)

    def conv_norm_relu(self, name, inputs, outputs):
        bound = (9 * inputs) ** -0.5
        self.add("Conv", self.weight(f"{name}.weight", (outputs, inputs, 3, 3), bound),
                 self.weight(f"{name}.bias", (outputs,), bound), pads=[1, 1, 1, 1])
        statistics = [self.constant(f"{name}.{what}", np.full(outputs, value)) for what, value in
                      (("scale", 1), ("shift", 0), ("running_mean", 0), ("running_var", 1))]
        self.add("BatchNormalization", *statistics, outputs=[f"{name}.mean_out", f"{name}.var_out"],
                 training_mode=1, momentum=0.9)
        return self.add("Relu")

    def save(self, path):
        info = helper.make_tensor_value_info
        graph = helper.make_graph(self.nodes, "digits", [info("x", TensorProto.FLOAT, self.shape)],
                                  [info(self.last, TensorProto.FLOAT, ["N", 10])], self.weights)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
        path.write_bytes(model.SerializeToString())


def mlp():
    net = Net([64])
    net.linear("first", 64, 64).add("Relu")
    return net.linear("second", 64, 10), [64]


def convolutional():
    net = Net([1, 8, 8])
    net.conv_norm_relu("first", 1, 16).conv_norm_relu("second", 16, 32)
    net.add("MaxPool", kernel_shape=[2, 2], strides=[2, 2]).conv_norm_relu("third", 32, 64)
    net.add("GlobalAveragePool").add("Flatten")
    return net.linear("last", 64, 10), [1, 8, 8]


if __name__ == "__main__":
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    write(pathlib.Path(sys.argv[1]))
