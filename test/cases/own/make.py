"""Writes the cases below: the smallest models of faults found in dlc itself, in the
ONNX backend test format. Expected values are worked out by hand."""
import pathlib
import sys

import numpy as np
from onnx import TensorProto, numpy_helper

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "onnx"))

from common import mk, node, vi, write_case  # noqa: E402


def reduce_log_sum_exp_int(name, values, expected):
    """e^x was rounded to the integer type before the sum."""
    x = np.array(values, np.int32)
    model = mk([node("ReduceLogSumExp", ["x"], ["y"], keepdims=0)],
               [vi("x", TensorProto.INT32, x.shape)], [vi("y", TensorProto.INT32, [])])
    write_case(str(HERE / name), model, [("x", x)], [np.array(expected, np.int32)])


reduce_log_sum_exp_int("log_sum_exp_of_ones", [1] * 10, 3)  # 1 + ln 10 = 3.30
reduce_log_sum_exp_int("log_sum_exp_large", [30, 29], 30)  # 30 + ln(1 + 1/e) = 30.31


def product_cast_to_half():
    """The cast was taken into the product's kernel, which then stored 4 bytes per element."""
    x, w = np.eye(32, dtype=np.float32), np.arange(1024, dtype=np.float32).reshape(32, 32)
    model = mk([node("MatMul", ["x", "w"], ["p"]), node("Cast", ["p"], ["y"], to=TensorProto.FLOAT16)],
               [vi("x", TensorProto.FLOAT, x.shape), vi("w", TensorProto.FLOAT, w.shape)],
               [vi("y", TensorProto.FLOAT16, x.shape)])
    write_case(str(HERE / "product_cast_to_half"), model, [("x", x), ("w", w)], [w.astype(np.float16)])


product_cast_to_half()


def norms_of_half():
    """The sum of squares, 160000, was rounded to f16, which ends at 65504: infinity."""
    x = np.full((1, 1, 4), 200, np.float16)
    model = mk([node("ReduceL2", ["x"], ["n"], keepdims=0), node("LpNormalization", ["x"], ["y"]),
                node("GlobalLpPool", ["x"], ["g"]), node("LpPool", ["x"], ["l"], kernel_shape=[4], p=3)],
               [vi("x", TensorProto.FLOAT16, x.shape)],
               [vi("n", TensorProto.FLOAT16, []), vi("y", TensorProto.FLOAT16, x.shape),
                vi("g", TensorProto.FLOAT16, [1, 1, 1]), vi("l", TensorProto.FLOAT16, [1, 1, 1])])
    cubes = np.array([[[4 ** (1 / 3) * 200]]], np.float16)
    write_case(str(HERE / "norms_of_half"), model, [("x", x)],
               [np.array(400, np.float16), np.full((1, 1, 4), 0.5, np.float16),
                np.full((1, 1, 1), 400, np.float16), cubes])


norms_of_half()


def pointwise_padded_at_the_end():
    """A 1x1 convolution with padding below and at the right alone read past its input."""
    x, w = np.ones((1, 16, 4, 4), np.float32), np.ones((16, 16, 1, 1), np.float32)
    model = mk([node("Conv", ["x", "w"], ["y"], pads=[0, 0, 1, 1])],
               [vi("x", TensorProto.FLOAT, x.shape)], [vi("y", TensorProto.FLOAT, [1, 16, 5, 5])],
               [numpy_helper.from_array(w, "w")])
    y = np.pad(np.full((1, 16, 4, 4), 16, np.float32), ((0, 0), (0, 0), (0, 1), (0, 1)))
    write_case(str(HERE / "pointwise_padded_at_the_end"), model, [("x", x)], [y])


pointwise_padded_at_the_end()
