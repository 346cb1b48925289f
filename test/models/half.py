"""A model in half precision: every f32 weight, input and output becomes f16."""
import numpy as np
import onnx
from onnx import TensorProto, numpy_helper


def to_half(source, target):
    """Writes the f16 form of the model file `source`; for graphs whose types follow from
    their inputs and weights alone (no Cast, no value_info that says f32)."""
    model = onnx.load(source)
    for tensor in model.graph.initializer:
        if tensor.data_type == TensorProto.FLOAT:
            tensor.CopyFrom(numpy_helper.from_array(numpy_helper.to_array(tensor).astype(np.float16), tensor.name))
    for port in [*model.graph.input, *model.graph.output]:
        if port.type.tensor_type.elem_type == TensorProto.FLOAT:
            port.type.tensor_type.elem_type = TensorProto.FLOAT16
    del model.graph.value_info[:]
    onnx.save(model, target)
    return target
