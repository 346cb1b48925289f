"""The cases of each differentiable op: by rule for elementwise ops, by hand for
others. Shapes are odd; letters are sizes that a second form leaves symbolic."""
from model import Arg, Case

I64 = "i64"


def ints(values, shape=None, element=I64, constant=True):
    flat = [v for row in values for v in (row if isinstance(row, list) else [row])] if isinstance(values, list) else [values]
    return Arg((len(flat),) if shape is None else shape, values=flat, element=element, constant=constant)


def array(name, values):
    return f"{name} = array<i64: {', '.join(map(str, values))}>"


# Where an elementwise op is smooth: (low, high) per operand.
DOMAINS = {
    "dl.log": [(0.3, 2)], "dl.log1p": [(-0.6, 2)], "dl.sqrt": [(0.3, 2)], "dl.rsqrt": [(0.3, 2)],
    "dl.acosh": [(1.3, 3)], "dl.asin": [(-0.8, 0.8)], "dl.acos": [(-0.8, 0.8)], "dl.atanh": [(-0.8, 0.8)],
    "dl.pow": [(0.3, 2), (-2, 2)], "dl.div": [(-2, 2), (0.4, 2)], "dl.mod": [(5.1, 5.9), (2.1, 2.4)],
    "dl.rem": [(-5.9, -5.1), (2.1, 2.4)], "dl.atan2": [(0.2, 1), (-1, -0.2)],
    "dl.floor": [(0.1, 0.9)], "dl.ceil": [(0.1, 0.9)], "dl.round": [(0.6, 0.9)],
}
UNARY = [("N", 5), ()]
# Every way to broadcast: by rank, by a size of 1 on either side or both, by a scalar.
BINARY = [(("N", 5), ("N", 5)), (("N", 5), (5,)), ((5,), ("N", 5)), (("N", 1, 5), (1, "M", 5)),
          (("N", 5), ()), ((1, 1), ("N", 5)), ((1,), (1,))]


def broadcast(*shapes):
    rank = max(map(len, shapes))
    padded = [(1,) * (rank - len(s)) + tuple(s) for s in shapes]
    return tuple(next((d for d in dims if d != 1), 1) for dims in zip(*padded))


def elementwise(op, arity):
    domains = DOMAINS.get(op, [(-1.5, 1.5)] * arity)
    shapes = [(s,) for s in UNARY] if arity == 1 else BINARY
    return [Case(op, [Arg(s, *d) for s, d in zip(form, domains)], [broadcast(*form)]) for form in shapes]


def select():
    bits = [i % 3 == 1 for i in range(15)]
    return [Case("dl.select", [Arg(("N", 5), values=bits, element="i1"), Arg(("N", 5)), Arg((5,))], [("N", 5)]),
            Case("dl.select", [Arg((5,), values=bits[:5], element="i1"), Arg(("N", 1)), Arg(())], [("N", 5)])]


def cast():
    return [Case("dl.cast", [Arg(("N", 5))], [("N", 5)], "to = f64")]


def matmul():
    made = []
    for lhs, rhs, out in [(("N", 4), (4, 3), ("N", 3)), (("N", 5, 4), (4, 3), ("N", 5, 3)),
                          (("N", "M", "K"), ("N", "K", 2), ("N", "M", 2)), ((2, 1, 3, 4), (5, 4, 3), (2, 5, 3, 3)),
                          ((5, 3, 4), ("N", 1, 4, 2), ("N", 5, 3, 2))]:
        for flags in ("", "transpose_lhs", "transpose_rhs", "transpose_lhs, transpose_rhs"):
            a = lhs[:-2] + (lhs[-1], lhs[-2]) if "lhs" in flags else lhs
            b = rhs[:-2] + (rhs[-1], rhs[-2]) if "rhs" in flags else rhs
            made.append(Case("dl.matmul", [Arg(a), Arg(b)], [out], flags))
    return made


def reduce():
    made = []
    for kind in range(6):
        for axes, keep, out in [([1], False, ("N", 4)), ([0, 2], True, (1, 5, 1)), ([0, 1, 2], False, ())]:
            made.append(Case("dl.reduce", [Arg(("N", 5, 4), 0.3, 1.5)], [out],
                             f"kind = {kind} : i32, keep_dims = {'true' if keep else 'false'}, {array('axes', axes)}"))
    zeros = [0, 2, 3, 1, 0, 0, 2, 3, 5]
    made.append(Case("dl.reduce", [Arg((3, 3), values=zeros)], [(3,)],
                     "kind = 2 : i32, keep_dims = false, axes = array<i64: 1>"))
    return made


def softmax():
    return [Case("dl.softmax", [Arg(("N", 5, 3), -2, 2)], [("N", 5, 3)], f"axis = {axis} : i64{log}")
            for axis in range(3) for log in ("", ", is_log")]


def reshape():
    return [Case("dl.reshape", [Arg((3, 4)), ints([-1, 2])], [(6, 2)]),
            Case("dl.reshape", [Arg(("N", 4)), ints([-1, 2, 2])], [("N", 2, 2)])]


def expand():
    return [Case("dl.expand", [Arg((5, 1)), ints([3, 5, 4])], [(3, 5, 4)]),
            Case("dl.expand", [Arg(()), ints([3, 5])], [(3, 5)])]


def transpose():
    return [Case("dl.transpose", [Arg(("N", 4, 5))], [(5, "N", 4)], array("permutation", [2, 0, 1]))]


def concat():
    return [Case("dl.concat", [Arg(("N", 4)), Arg(("N", 1)), Arg(("N", 3))], [("N", 8)], "axis = 1 : i64"),
            Case("dl.concat", [Arg((2, "N")), Arg((1, "N"))], [(3, "N")], "axis = 0 : i64")]


def tile():
    return [Case("dl.tile", [Arg(("N", 4)), ints([1, 3])], [("N", 12)]),
            Case("dl.tile", [Arg((2, 3, 1)), ints([2, 1, 4])], [(4, 3, 4)])]


def slice_():
    bounds = [((5, "N"), [1, 0, 3, 3, 1, 1], (3, 3)), ((7, 4), [0, 3, 3, 2, 2, -2], (3, 2)),
              ((4,), [2, 1, 1], (1,)), ((5, 4), [4, 0, 5, 4, -1, 1], (5, 4))]
    return [Case("dl.slice", [Arg(shape), ints(values, (3, len(shape)))], [out], symbolic=shape == (5, "N"))
            for shape, values, out in bounds]


def unslice():
    return [Case("dl.unslice", [Arg((3, 2)), ints([0, 3, 3, 2, 2, -2], (3, 2)), ints([7, 4])], [(7, 4)])]


def pad():
    made = [Case("dl.pad", [Arg(("N", 4)), ints([0, 1, 0, 2]), Arg(())], [("N", 7)], "mode = 0 : i32"),
            Case("dl.pad", [Arg((5, 4)), ints([-1, 1, 2, -2]), Arg(())], [(6, 3)], "mode = 0 : i32")]
    for mode in (1, 2, 3):
        made.append(Case("dl.pad", [Arg((5, 4)), ints([2, 0, 1, 3]), Arg((), constant=True, values=[0.0])],
                         [(8, 7)], f"mode = {mode} : i32"))
        made.append(Case("dl.pad", [Arg(("N", 4)), ints([0, 3, 0, -1]), Arg((), constant=True, values=[0.0])],
                         [("N", 6)], f"mode = {mode} : i32"))
    return made


def reverse_sequence():
    return [Case("dl.reverse_sequence", [Arg((4, "N")), ints([4, 1, 2], ("N",), constant=False)], [(4, "N")],
                 "time_axis = 0 : i64, batch_axis = 1 : i64")]


def gather():
    twice = ints([1, 0, 1, -1], (2, 2), constant=False)
    return [Case("dl.gather", [Arg(("M", 3)), ints([4, 0, 4, -1], ("K",), constant=False)], [("K", 3)], "axis = 0 : i64"),
            Case("dl.gather", [Arg(("N", 3, 4)), twice], [("N", 2, 2, 4)], "axis = 1 : i64"),
            Case("dl.gather", [Arg(("N", 3)), Arg((), values=[2], element=I64)], [("N",)], "axis = 1 : i64")]


def gather_elements():
    return [Case("dl.gather_elements", [Arg((3, 4)), ints([0, 1, 1, -1, 2, 2], (2, 3), constant=False)], [(2, 3)],
                 f"axis = {axis} : i64") for axis in (0, 1)]


def gather_nd():
    i, j = ints([0, 2, 0], constant=False), ints([1, -1, 1], constant=False)
    rows = ints([1, 1, 0, 2, 0, 0], ("N", 2), constant=False)
    return [Case("dl.gather_nd", [Arg((3, 4, 2)), i, j], [(3, 2)], "batch_dims = 0 : i64"),
            Case("dl.gather_nd", [Arg(("N", 4, 2)), rows], [("N", 2, 2)], "batch_dims = 1 : i64")]


def scatter_elements():
    made = []
    for mode in (0, 1, 3, 4):
        indices = ints([0, 1, 0, 2, 2, 1], (2, 3), constant=False)
        made += [Case("dl.scatter_elements", [Arg((3, 4)), indices, Arg((2, 3))], [(3, 4)],
                      f"axis = {axis} : i64, mode = {mode} : i32") for axis in (0, 1)]
    still = Arg((2, 3), constant=True, values=[.5, 2, 3, 4, 5, 6])
    made.append(Case("dl.scatter_elements", [Arg((3, 4)), ints([0, 1, 0, 2, 2, 1], (2, 3)), still], [(3, 4)],
                     "axis = 0 : i64, mode = 2 : i32"))
    return made


def scatter_nd():
    return [Case("dl.scatter_nd", [Arg(("M", 3)), Arg(("N", 3)), ints([1, 4, 1], ("N",), constant=False)], [("M", 3)],
                 f"mode = {mode} : i32") for mode in (0, 1, 3, 4)]


def range_():
    return [Case("dl.range", [Arg(()), Arg(()), ints([5])], [(5,)])]


def cumulate():
    return [Case("dl.cumulate", [Arg(("N", 4)), Arg((), values=[axis], element=I64, constant=True)], [("N", 4)], flags)
            for axis in (0, 1) for flags in ("", "exclusive", "reverse", "exclusive, reverse")]


def topk():
    return [Case("dl.topk", [Arg(("N", 5)), ints([3])], [("N", 3), (("N", 3), I64)], f"axis = 1 : i64{flag}")
            for flag in ("", ", largest")]


def interpolate():
    positions = ints([0, 1, 1, 1, 2, 3, 3, 0, 0, 2], (5, 2))
    return [Case("dl.interpolate", [Arg(("N", 4, 3)), positions, Arg((5, 2))], [("N", 5, 3)], "axis = 1 : i64")]


def geometry(strides, dilations, pads):
    return ", ".join([array("strides", strides), array("dilations", dilations), array("pads", pads)])


def conv_forms():
    """(input, filter, result, strides, dilations, pads, groups, channels of the result)"""
    return [(("N", 3, 5, 6), (4, 3, 3, 3), ("N", 4, 5, 6), [1, 1], [1, 1], [1, 1, 1, 1], 1),
            (("N", 3, 7, 6), (4, 3, 3, 2), ("N", 4, 3, 3), [2, 2], [1, 1], [0, 1, 0, 0], 1),
            (("N", 4, 7), (6, 2, 3), ("N", 6, 3), [2], [2], [1, 1], 2),
            (("N", 3, 6, 5), (3, 1, 3, 3), ("N", 3, 3, 3), [2, 2], [1, 1], [1, 1, 1, 1], 3),
            ((1, 2, 3, 4, 3), (3, 2, 2, 1, 2), (1, 3, 2, 2, 2), [1, 2, 1], [1, 1, 1], [0, 0, 0, 0, 0, 0], 1),
            ((2, 2, 9, 8), (3, 2, 2, 2), (2, 3, 3, 3), [3, 3], [2, 1], [0, 1, 0, 1], 1)]


def conv():
    made = [Case("dl.conv", [Arg(x), Arg(w)], [y], geometry(s, d, p) + f", groups = {g} : i64")
            for x, w, y, s, d, p, g in conv_forms()]
    made.append(Case("dl.conv", [Arg(("N", 2, "H", 5)), Arg((3, 2, 3, 3))], [("N", 3, "H", 5)],
                     geometry([1, 1], [1, 1], [1, 1, 1, 1]) + ", groups = 1 : i64"))
    return made


def conv_transpose():
    return [Case("dl.conv_transpose", [Arg(("N", 4, 3, 2)), Arg((4, 3, 3, 2))], [("N", 3, 6, 5)],
                 geometry([2, 2], [1, 1], [1, 0, 1, 0]) + ", output_padding = array<i64: 1, 1>, groups = 1 : i64"),
            Case("dl.conv_transpose", [Arg(("N", 4, 3)), Arg((4, 1, 3))], [("N", 2, 7)],
                 geometry([1], [2], [0, 0]) + ", output_padding = array<i64: 0>, groups = 2 : i64")]


def conv_filter_gradient():
    return [Case("dl.conv_filter_gradient", [Arg(x), Arg(y)], [w],
                 geometry(s, d, p) + f", groups = {g} : i64, " + array("kernel", w[2:]))
            for x, w, y, s, d, p, g in conv_forms()[:4]]


def pool():
    made = []
    for kind in (1, 3, 5):
        for x, y, k, s, d, p, ceil, include in [
                (("N", 2, 6, 4), ("N", 2, 3, 2), [2, 2], [2, 2], [1, 1], [0, 0, 0, 0], False, False),
                (("N", 2, 7, 6), ("N", 2, 4, 3), [3, 3], [2, 2], [1, 1], [1, 1, 1, 1], False, True),
                ((2, 1, 7), (2, 1, 4), [3], [2], [1], [1, 1], True, False),
                ((2, 1, 8, 9), (2, 1, 6, 3), [2, 3], [1, 3], [2, 1], [0, 0, 0, 0], False, False)]:
            flags = f"ceil_mode = {str(ceil).lower()}, count_include_pad = {str(include).lower()}"
            made.append(Case("dl.pool", [Arg(x)], [y], f"kind = {kind} : i32, {flags}, {array('kernel', k)}, "
                             + geometry(s, d, p)))
    return made


def recurrent():
    """Every cell, both directions, with and without lengths, peepholes and clipping."""
    made = []
    cells = [(0, 1, '"Tanh"', ""), (0, 1, '"Softsign"', "clip = 0.6 : f64"),
             (1, 3, '"Sigmoid", "Tanh"', ""), (1, 3, '"HardSigmoid", "Elu"', "linear_before_reset"),
             (2, 4, '"Sigmoid", "Tanh", "Tanh"', ""), (2, 4, '"Sigmoid", "Softplus", "ScaledTanh"', "clip = 0.9 : f64"),
             (2, 4, '"Sigmoid", "Tanh", "Affine"', "input_forget")]
    for number, (kind, gates, names, flags) in enumerate(cells):
        for reverse in ("", "reverse"):
            for has_lengths in (False, True):
                has_peepholes = kind == 2 and (number + has_lengths) % 2 == 0
                args = [Arg((4, "N", gates * 2)), Arg((gates * 2, 2)), Arg((gates * 2,)), Arg(("N", 2)), Arg(("N", 2))]
                args += [ints([4, 1, 3], ("N",), "i64", False)] if has_lengths else []
                args += [Arg((6,))] if has_peepholes else []
                count = names.count(",") + 1
                attrs = [f"kind = {kind} : i32", f"activations = [{names}]", f"alphas = [{', '.join(['0.4'] * count)}]",
                         f"betas = [{', '.join(['0.5'] * count)}]", flags, reverse,
                         f"operandSegmentSizes = array<i32: 1, 1, 1, 1, 1, {int(has_lengths)}, {int(has_peepholes)}>"]
                made.append(Case("dl.recurrent", args, [(4, "N", 2), ("N", 2), ("N", 2)], ", ".join(filter(None, attrs))))
    return made


CASES = {
    "dl.select": select, "dl.cast": cast, "dl.matmul": matmul, "dl.reduce": reduce, "dl.softmax": softmax,
    "dl.reshape": reshape, "dl.expand": expand, "dl.transpose": transpose, "dl.concat": concat, "dl.tile": tile,
    "dl.slice": slice_, "dl.unslice": unslice, "dl.pad": pad, "dl.reverse_sequence": reverse_sequence,
    "dl.gather": gather, "dl.gather_elements": gather_elements, "dl.gather_nd": gather_nd,
    "dl.scatter_elements": scatter_elements, "dl.scatter_nd": scatter_nd, "dl.range": range_,
    "dl.cumulate": cumulate, "dl.topk": topk, "dl.interpolate": interpolate, "dl.conv": conv,
    "dl.conv_transpose": conv_transpose, "dl.conv_filter_gradient": conv_filter_gradient, "dl.pool": pool,
    "dl.recurrent": recurrent,
}

ARITY = {"dl.add": 2, "dl.sub": 2, "dl.mul": 2, "dl.div": 2, "dl.min": 2, "dl.max": 2, "dl.mod": 2, "dl.rem": 2,
         "dl.pow": 2, "dl.atan2": 2}

INTEGERS = "its results are integers or booleans"
LAYOUT = "made by the layout and fusion passes, after differentiation"
# Ops that have no gradient, each with its reason.
WITHOUT = {
    "dl.and": INTEGERS, "dl.or": INTEGERS, "dl.xor": INTEGERS, "dl.not": INTEGERS, "dl.shift_left": INTEGERS,
    "dl.shift_right": INTEGERS, "dl.compare": INTEGERS, "dl.is_nan": INTEGERS, "dl.arg_reduce": INTEGERS,
    "dl.nonzero": INTEGERS, "dl.non_max_suppression": INTEGERS, "dl.shape_of": INTEGERS,
    "dl.resolve_shape": INTEGERS, "dl.broadcast_shape": INTEGERS, "dl.slice_bounds": INTEGERS,
    "dl.range_size": INTEGERS, "dl.constant": "it has no operands", "dl.random": "its operands are integers",
    "dl.bitcast": "it reads bits, not numbers", "dl.kernel": LAYOUT, "dl.pack_filter": LAYOUT,
    "dl.packed_conv": LAYOUT, "dl.packed_matmul": LAYOUT, "dl.depthwise_conv": LAYOUT, "dl.patches": LAYOUT,
    "dl.yield": "it computes nothing", "dl.attention": "differentiated as its decomposition",
    "dl.pool_gradient": "the second derivative of pooling is not offered",
    "dl.if": "control flow is not differentiated", "dl.loop": "control flow is not differentiated",
    "dl.recurrent_gradient": "the second derivative of recurrent layers is not offered",
}
