"""Inputs for a model, what onnxruntime makes of them, and the comparison: one
definition for the end-to-end tests, the hostile files and the benchmarks."""
import pathlib

import numpy as np
import onnx
import onnxruntime


def signature(path):
    """(name, element type, dims) of every input that is not an initializer; unknown dims are text."""
    model = onnx.load(path, load_external_data=False)
    weights = {i.name for i in model.graph.initializer}
    return [(i.name, onnx.helper.tensor_dtype_to_np_dtype(i.type.tensor_type.elem_type),
             [d.dim_value if d.HasField("dim_value") and d.dim_value > 0 else d.dim_param or "?"
              for d in i.type.tensor_type.shape.dim])
            for i in model.graph.input if i.name not in weights]


def random_feeds(path, shapes=None, seed=0, high=2):
    """Reproducible inputs; integers lie in [0, high). Unknown dims are 1 unless `shapes` (name -> shape) says else."""
    random = np.random.default_rng(seed)
    feeds = {}
    for name, dtype, dims in signature(path):
        shape = (shapes or {}).get(name) or [d if isinstance(d, int) else 1 for d in dims]
        if dtype.kind in "iu":
            feeds[name] = random.integers(0, high, shape).astype(dtype)
        elif dtype.kind == "b":
            feeds[name] = random.integers(0, 2, shape).astype(bool)
        else:
            feeds[name] = random.standard_normal(shape).astype(dtype)
    return feeds


def session(path, threads=0):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])


def expected_outputs(path, feeds):
    run = session(path)
    return dict(zip([o.name for o in run.get_outputs()], run.run(None, feeds)))


def disagreement(name, expected, actual, rtol=1e-3, atol=1e-4):
    """None, or what differs. atol is scaled to the range of the expected values."""
    if actual.shape != expected.shape:
        return f"{name}: shape {actual.shape}, expected {expected.shape}"
    if actual.dtype != expected.dtype:
        return f"{name}: type {actual.dtype}, expected {expected.dtype}"
    if expected.dtype.kind in "iub":
        wrong = int(np.count_nonzero(expected != actual))
        return f"{name}: {wrong} of {expected.size} differ" if wrong else None
    want, got = expected.astype(np.float64), actual.astype(np.float64)
    finite = want[np.isfinite(want)]
    span = float(finite.max() - finite.min()) if finite.size else 1.0
    scale = max(span, float(np.abs(finite).max())) if finite.size else 1.0
    # Below this, f32 sigmoids differ by design: onnxruntime flushes 1e-7 to 0.
    floor = 2.0**-22 if expected.dtype == np.float32 else 0.0
    good = np.isclose(got, want, rtol=rtol, atol=max(atol * scale, floor), equal_nan=True)
    if good.all():
        return None
    gap = np.where(good, 0, np.abs(got - want))
    worst = np.unravel_index(int(np.nanargmax(gap)) if not np.isnan(gap).all() else 0, gap.shape)
    return (f"{name}: {int((~good).sum())} of {want.size} differ, worst at {tuple(map(int, worst))}: "
            f"{got[worst]:.6g}, expected {want[worst]:.6g} (range {span:.3g})")


def compare(expected, actual, **tolerances):
    """All disagreements of two dictionaries of outputs, as text."""
    missing = sorted(expected.keys() - actual.keys())
    found = [f"missing outputs: {', '.join(missing)}"] if missing else []
    for name in expected.keys() & actual.keys():
        found.append(disagreement(name, expected[name], actual[name], **tolerances))
    return "; ".join(f for f in found if f)


def load_outputs(path):
    with np.load(path) as arrays:
        return {name: arrays[name] for name in arrays.files}


def site_packages():
    return pathlib.Path(onnx.__file__).resolve().parents[1]
