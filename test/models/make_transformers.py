"""BERT and GPT-2 with random weights, made with onnx.helper: the graphs that exporters
write (attention as separate products, masks and softmax; GELU as its formula)."""
import pathlib
import sys
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17


@dataclass
class Size:
    layers: int
    width: int
    heads: int
    words: int
    positions: int


class Net:
    """Appends nodes; each call returns the name of its result."""

    def __init__(self, size, seed=0):
        self.size, self.random = size, np.random.default_rng(seed)
        self.nodes, self.weights, self.count = [], {}, 0

    def constant(self, name, value):
        if name not in self.weights:
            self.weights[name] = numpy_helper.from_array(np.asarray(value), name)
        return name

    def scalar(self, value):
        return self.constant(f"scalar_{value}", np.float32(value))

    def node(self, op, *inputs, **attributes):
        self.count += 1
        output = f"{op.lower()}_{self.count}"
        self.nodes.append(helper.make_node(op, list(inputs), [output], name=output, **attributes))
        return output

    def dense(self, x, tag, cin, cout):
        weight = self.random.standard_normal((cin, cout), np.float32) / np.float32(np.sqrt(cin))
        bias = 0.1 * self.random.standard_normal(cout, np.float32)
        product = self.node("MatMul", x, self.constant(f"{tag}.weight", weight))
        return self.node("Add", product, self.constant(f"{tag}.bias", bias))

    def norm(self, x, tag):
        width = self.size.width
        scale = 1 + 0.1 * self.random.standard_normal(width, np.float32)
        shift = 0.1 * self.random.standard_normal(width, np.float32)
        return self.node("LayerNormalization", x, self.constant(f"{tag}.scale", scale),
                         self.constant(f"{tag}.shift", shift), axis=-1, epsilon=1e-5)

    def embedding(self, tag, rows):
        table = 0.5 * self.random.standard_normal((rows, self.size.width), np.float32)
        return self.constant(tag, table)

    def split_heads(self, x, perm):
        heads = self.size.heads
        shape = self.constant("heads_shape", np.array([0, 0, heads, self.size.width // heads], np.int64))
        return self.node("Transpose", self.node("Reshape", x, shape), perm=perm)

    def attention(self, q, k, v, mask):
        """`mask` turns the scaled scores into masked ones."""
        q, v = self.split_heads(q, [0, 2, 1, 3]), self.split_heads(v, [0, 2, 1, 3])
        root = np.sqrt(self.size.width // self.size.heads)
        scores = self.node("Div", self.node("MatMul", q, self.split_heads(k, [0, 2, 3, 1])), self.scalar(root))
        weights = self.node("Softmax", mask(scores), axis=-1)
        y = self.node("Transpose", self.node("MatMul", weights, v), perm=[0, 2, 1, 3])
        return self.node("Reshape", y, self.constant("flat_shape", np.array([0, 0, self.size.width], np.int64)))

    def gelu_erf(self, x):
        erf = self.node("Erf", self.node("Div", x, self.scalar(np.sqrt(2))))
        return self.node("Mul", self.node("Mul", x, self.node("Add", erf, self.scalar(1.0))), self.scalar(0.5))

    def gelu_tanh(self, x):
        cube = self.node("Mul", self.node("Pow", x, self.scalar(3.0)), self.scalar(0.044715))
        inner = self.node("Mul", self.node("Add", x, cube), self.scalar(np.sqrt(2 / np.pi)))
        gate = self.node("Add", self.node("Tanh", inner), self.scalar(1.0))
        return self.node("Mul", self.node("Mul", x, self.scalar(0.5)), gate)

    def model(self, name, inputs, outputs):
        graph = helper.make_graph(self.nodes, name, inputs, outputs, list(self.weights.values()))
        made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(made)
        return made


def tokens(name, batch, length):
    return helper.make_tensor_value_info(name, TensorProto.INT64, [batch, length])


def bert(size, batch, length):
    """Encoder of `input_ids` and `attention_mask` (1: a word, 0: padding) -> `hidden`."""
    net, width = Net(size), size.width
    x = net.node("Gather", net.embedding("words", size.words), "input_ids")
    x = net.node("Add", x, net.constant("positions", 0.1 * net.random.standard_normal((length, width), np.float32)))
    x = net.norm(x, "embedding_norm")
    axes = net.constant("mask_axes", np.array([1, 2], np.int64))
    keep = net.node("Cast", net.node("Unsqueeze", "attention_mask", axes), to=TensorProto.FLOAT)
    bias = net.node("Mul", net.node("Sub", net.scalar(1.0), keep), net.scalar(np.finfo(np.float32).min))
    for layer in range(size.layers):
        q, k, v = (net.dense(x, f"{layer}.{part}", width, width) for part in "qkv")
        y = net.attention(q, k, v, lambda scores: net.node("Add", scores, bias))
        x = net.norm(net.node("Add", net.dense(y, f"{layer}.out", width, width), x), f"{layer}.norm1")
        y = net.gelu_erf(net.dense(x, f"{layer}.up", width, 4 * width))
        x = net.norm(net.node("Add", net.dense(y, f"{layer}.down", 4 * width, width), x), f"{layer}.norm2")
    net.nodes[-1].output[0] = "hidden"
    hidden = helper.make_tensor_value_info("hidden", TensorProto.FLOAT, [batch, length, width])
    return net.model("bert", [tokens("input_ids", batch, length), tokens("attention_mask", batch, length)], [hidden])


def gpt2(size, batch, length):
    """Decoder of `input_ids` -> `logits`, causal by a constant mask of all positions."""
    net, width = Net(size), size.width
    words = net.embedding("words", size.words)
    x = net.node("Gather", words, "input_ids")
    x = net.node("Add", x, net.constant("positions", 0.1 * net.random.standard_normal((length, width), np.float32)))
    allowed = np.tril(np.ones((1, 1, size.positions, size.positions), bool))
    ends = [net.constant(f"mask_{n}", np.array(v, np.int64)) for n, v in
            (("starts", [0, 0]), ("ends", [length, length]), ("axes", [2, 3]))]
    causal = net.node("Slice", net.constant("allowed", allowed), *ends)
    lowest = net.constant("lowest", np.finfo(np.float32).min)
    for layer in range(size.layers):
        qkv = net.dense(net.norm(x, f"{layer}.norm1"), f"{layer}.qkv", width, 3 * width)
        parts = [f"{layer}.{part}" for part in "qkv"]
        net.nodes.append(helper.make_node("Split", [qkv, net.constant("thirds", np.array([width] * 3, np.int64))],
                                          parts, name=f"{layer}.split", axis=2))
        y = net.attention(*parts, lambda scores: net.node("Where", causal, scores, lowest))
        x = net.node("Add", net.dense(y, f"{layer}.out", width, width), x)
        y = net.gelu_tanh(net.dense(net.norm(x, f"{layer}.norm2"), f"{layer}.up", width, 4 * width))
        x = net.node("Add", net.dense(y, f"{layer}.down", 4 * width, width), x)
    net.node("MatMul", net.norm(x, "final_norm"), net.node("Transpose", words, perm=[1, 0]))
    net.nodes[-1].output[0] = "logits"
    logits = helper.make_tensor_value_info("logits", TensorProto.FLOAT, [batch, length, size.words])
    return net.model("gpt2", [tokens("input_ids", batch, length)], [logits])


BASE = dict(layers=12, width=768, heads=12)
NETWORKS = {
    "bert_base": (bert, Size(**BASE, words=30522, positions=512)),
    "gpt2_small": (gpt2, Size(**BASE, words=50257, positions=1024)),
    # Two layers each, for tests.
    "bert_tiny": (bert, Size(layers=2, width=128, heads=2, words=1000, positions=512)),
    "gpt2_tiny": (gpt2, Size(layers=2, width=96, heads=3, words=1000, positions=256)),
}


def path_of(name, batch, length, folder):
    """The model file, made when it is not there. `batch` is a number or a symbol."""
    path = pathlib.Path(folder) / f"{name}-{batch}x{length}.onnx"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        build, size = NETWORKS[name]
        partial = path.with_suffix(".part")
        onnx.save(build(size, batch, length), partial)
        partial.rename(path)
    return path


if __name__ == "__main__":
    target = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(".cache/models")
    for network in NETWORKS:
        print(path_of(network, 1, 128, target))
