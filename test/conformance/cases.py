"""Writes the onnx package's backend suite to disk once: a folder per case with
model.onnx, test_data_set_*/ and case.json (kind, tolerances, ops)."""
import json
import pathlib
import shutil
import warnings

import numpy as np
import onnx
from onnx import numpy_helper

KINDS = ("node", "simple", "pytorch-converted", "pytorch-operator", "real")


def to_proto(value, info):
    """The bytes of one input or output as the suite's own generator writes them."""
    if isinstance(value, onnx.TensorProto):
        return value.SerializeToString()
    kind = info.type.WhichOneof("value")
    write = {"map_type": numpy_helper.from_dict, "sequence_type": numpy_helper.from_list,
             "optional_type": numpy_helper.from_optional}.get(kind)
    if write:
        return write(value, info.name).SerializeToString()
    return numpy_helper.from_array(np.asarray(value), info.name).SerializeToString()


def write_set(folder, model, inputs, outputs):
    folder.mkdir(parents=True)
    for stem, values, infos in (("input", inputs, model.graph.input), ("output", outputs, model.graph.output)):
        for index, value in enumerate(values):
            (folder / f"{stem}_{index}.pb").write_bytes(to_proto(value, infos[index]))


def write_light(case, folder):
    """The light_* networks: a ramp as input, the packaged output as expectation."""
    source = pathlib.Path(onnx.__file__).parents[1] / case.url
    model = onnx.load(source)
    weights = {i.name for i in model.graph.initializer}
    data = folder / "test_data_set_0"
    data.mkdir(parents=True)
    for index, info in enumerate(i for i in model.graph.input if i.name not in weights):
        shape = [d.dim_value or 1 for d in info.type.tensor_type.shape.dim]
        count = int(np.prod(shape))
        ramp = (np.arange(count).reshape(shape) / count).astype(np.float32)
        (data / f"input_{index}.pb").write_bytes(numpy_helper.from_array(ramp, info.name).SerializeToString())
    shutil.copy(source, folder / "model.onnx")
    for output in source.parent.glob(source.stem + "_output_*.pb"):
        shutil.copy(output, data / output.name.removeprefix(source.stem + "_"))


def write_case(case, folder):
    if case.model_dir:
        shutil.copytree(case.model_dir, folder)
    elif case.model is None:
        write_light(case, folder)
    else:
        folder.mkdir(parents=True)
        (folder / "model.onnx").write_bytes(case.model.SerializeToString())
        for index, (inputs, outputs) in enumerate(case.data_sets):
            write_set(folder / f"test_data_set_{index}", case.model, inputs, outputs)
    graph = onnx.load(folder / "model.onnx", load_external_data=False).graph
    about = {"kind": case.kind, "rtol": case.rtol, "atol": case.atol,
             "ops": sorted({f"{n.domain}.{n.op_type}".lstrip(".") for n in graph.node})}
    (folder / "case.json").write_text(json.dumps(about))


def all_cases(cache):
    """Folders of all cases, sorted by name; made under `cache` when missing."""
    root = cache / f"onnx-backend-{onnx.__version__}"
    if not (root / "complete").exists():
        print("   writing the backend suite to .cache, once", flush=True)
        shutil.rmtree(root, ignore_errors=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from onnx.backend.test.loader import load_model_tests
            for kind in KINDS:
                for case in load_model_tests(kind=kind):
                    write_case(case, root / case.name)
        (root / "complete").touch()
    return sorted(p.parent for p in root.glob("*/case.json"))
