"""One op as a function with a loss: its text, its gradients by dl-build-gradients,
and the same by finite differences in double."""
import subprocess
from dataclasses import dataclass

import numpy as np
from capi import Model
from harness import BUILD, compile_model

# Letters in a shape: a size in the static form of a case, a symbol in the other.
SIZES = {"N": 3, "M": 5, "K": 4, "H": 7}
STEP = 1e-5
TARGET = {"cuda": ["--target=cuda:source"], "cuda-sim": ["--target=cuda:compute_80"]}
DLC_OPT = BUILD / "bin" / "dlc-opt"


@dataclass
class Arg:
    """An operand. Floats are drawn from [low, high) and are differentiated by."""
    shape: tuple
    low: float = -1.0
    high: float = 1.0
    values: object = None    # integers, bools: the elements; floats: instead of drawing
    constant: bool = False   # part of the program, not an input
    element: str = "f64"

    @property
    def is_float(self):
        return self.element.startswith("f")

    @property
    def trained(self):
        return self.is_float and not self.constant

    def array(self, random):
        dtype = {"f64": np.float64, "f32": np.float32, "i64": np.int64, "i32": np.int32, "i1": np.bool_}[self.element]
        if self.values is not None:
            return np.array(self.values, dtype).reshape(sizes(self.shape))
        return random.uniform(self.low, self.high, sizes(self.shape)).astype(dtype)


@dataclass
class Case:
    op: str
    args: list
    results: list            # shapes; (shape, element) where it is not f64
    attrs: str = ""
    symbolic: bool = True    # whether the form with symbols is tested, too


def sizes(shape):
    return tuple(SIZES.get(d, d) for d in shape)


def tensor(shape, element, symbolic):
    dims = [("?" if symbolic else str(SIZES[d])) if isinstance(d, str) else str(d) for d in shape]
    return f"tensor<{'x'.join(dims + [element])}>"


def literal(array):
    return "dense<" + str(array.tolist()).replace("'", "").replace("True", "true").replace("False", "false") + ">"


def text(case, symbolic, arrays):
    """The module, and the names and numbers of its float arguments."""
    params, lines, operands, types, trained = [], [], [], [], []

    def parameter(name, shape, element):
        dims = ", ".join(f'"{d}"' if isinstance(d, str) and symbolic else str(sizes((d,))[0]) for d in shape)
        params.append(f'%{name}: {tensor(shape, element, symbolic)} {{dl.name = "{name}", dl.dims = [{dims}]}}')

    for i, arg in enumerate(case.args):
        kind = tensor(arg.shape, arg.element, symbolic and not arg.constant)
        operands.append(f"%x{i}")
        types.append(kind)
        if arg.constant:
            lines.append(f"  %x{i} = dl.constant {literal(arrays[i])} : {kind}")
            continue
        if arg.trained:
            trained.append((i, len(params)))
        parameter(f"x{i}", arg.shape, arg.element)
    results = [(r[1], r[0]) if r and isinstance(r[0], tuple) else ("f64", r) for r in case.results]
    attrs = f" {{{case.attrs}}}" if case.attrs else ""
    kinds = [tensor(shape, element, symbolic) for element, shape in results]
    lines.append(f'  %y:{len(results)} = "{case.op}"({", ".join(operands)}){attrs} : '
                 f"({', '.join(types)}) -> ({', '.join(kinds)})")
    losses = []
    for i, (element, shape) in enumerate(results):
        if not element.startswith("f"):
            continue
        parameter(f"r{i}", shape, element)
        kind, axes = kinds[i], ", ".join(map(str, range(len(shape))))
        lines.append(f"  %p{i} = dl.mul %y#{i}, %r{i} : ({kind}, {kind}) -> {kind}")
        lines.append(f"  %s{i} = dl.reduce %p{i} {{kind = 0 : i32, keep_dims = false, "
                     f"axes = array<i64{': ' + axes if axes else ''}>}} : ({kind}) -> tensor<{element}>")
        losses.append(f"%s{i}")
    loss = losses[0]
    for i, other in enumerate(losses[1:]):
        lines.append(f"  %t{i} = dl.add {loss}, {other} : (tensor<f64>, tensor<f64>) -> tensor<f64>")
        loss = f"%t{i}"
    body = "\n".join(lines)
    return f"func.func @main({', '.join(params)}) -> tensor<f64> {{\n{body}\n  return {loss} : tensor<f64>\n}}\n", trained


def disagreement(case, symbolic, folder, device="cpu"):
    """None, or how the gradients of a case differ from finite differences."""
    random = np.random.default_rng(7)
    arrays = [arg.array(random) for arg in case.args]
    source, trained = text(case, symbolic, arrays)
    plain, whole = folder / "plain.mlir", folder / "whole.mlir"
    plain.write_text(source)
    done = subprocess.run([DLC_OPT, plain, "--dl-build-gradients=wrt=" + ",".join(str(p) for _, p in trained),
                           "-o", whole], capture_output=True, text=True, timeout=60)
    if done.returncode:
        return f"no gradient: {done.stderr.strip()[:400]}"
    built = compile_model(whole, folder / "whole.dlc", *TARGET.get(device, []))
    if built.code:
        return f"does not compile: {built.message()}"
    model = Model(folder / "whole.dlc", threads=1, device=device)
    feeds = {f"x{i}": arrays[i] for i in range(len(arrays)) if f"x{i}" in model.inputs}
    for i, shape in enumerate(case.results):
        if f"r{i}" in model.inputs:
            feeds[f"r{i}"] = random.uniform(0.5, 1.5, sizes(shape))
    try:
        return compare(model, feeds, trained, arrays)
    finally:
        model.close()


def compare(model, feeds, trained, arrays):
    outputs = list(model.run(feeds).values())
    for number, (i, _) in enumerate(trained):
        got, want = outputs[1 + number], np.empty(arrays[i].shape)
        if got.shape != want.shape:
            return f"gradient by operand {i} has the shape {got.shape}, expected {want.shape}"
        for at in np.ndindex(want.shape):
            ends = []
            for sign in (1, -1):
                moved = arrays[i].copy()
                moved[at] += sign * STEP
                ends.append(float(list(model.run({**feeds, f"x{i}": moved}).values())[0]))
            want[at] = (ends[0] - ends[1]) / (2 * STEP)
        good = np.isclose(got, want, rtol=2e-6, atol=2e-8)
        if not good.all():
            at = tuple(np.argwhere(~good)[0])
            return (f"gradient by operand {i}: {int((~good).sum())} of {good.size} differ, at {at}: "
                    f"{got[at]:.9g}, finite differences {want[at]:.9g}")
    return None
