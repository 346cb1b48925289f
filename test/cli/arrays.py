"""Array files that dlc must refuse, each with the exit code and a word of the message."""
import io
import struct
import zipfile

import numpy as np
import onnx
from onnx import TensorProto, helper

MAGIC = b"\x93NUMPY\x01\x00"
X = np.arange(6, dtype=np.float32).reshape(2, 3)


def npy_bytes(array):
    out = io.BytesIO()
    np.save(out, array)
    return out.getvalue()


def npy(header, data=b"", version=MAGIC):
    text = header.encode() if isinstance(header, str) else header
    return version + struct.pack("<H", len(text)) + text + data


def shaped(shape, data=b"", descr="<f4", order="False"):
    return npy(f"{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}\n", data)


def npz(entries, compression=zipfile.ZIP_STORED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return out.getvalue()


def lying_npz():
    """Its directory claims 3 GiB for an entry of a few bytes."""
    whole = bytearray(npz([("x.npy", npy_bytes(X))], zipfile.ZIP_DEFLATED))
    for signature, at in ((b"PK\x03\x04", 22), (b"PK\x01\x02", 24)):
        place = whole.index(signature) + at
        whole[place:place + 4] = struct.pack("<I", 3 << 30)
    return bytes(whole)


def tensor(**fields):
    message = TensorProto(data_type=TensorProto.FLOAT, dims=[2, 3], raw_data=X.tobytes())
    for key, value in fields.items():
        message.ClearField(key)
        if isinstance(value, list):
            getattr(message, key).extend(value)
        elif value is not None:
            setattr(message, key, value)
    return message.SerializeToString()


def sequence():
    message = onnx.SequenceProto(name="x", elem_type=1)
    message.tensor_values.append(onnx.numpy_helper.from_array(X))
    return message.SerializeToString()


def strings():
    return helper.make_tensor("x", TensorProto.STRING, [2], [b"a", b"b"]).SerializeToString()


def float4():
    return TensorProto(data_type=TensorProto.FLOAT4E2M1, dims=[2], raw_data=b"\0").SerializeToString()


def external():
    message = TensorProto(data_type=TensorProto.FLOAT, dims=[1], data_location=TensorProto.EXTERNAL)
    return message.SerializeToString()


BIG = 1 << 62
NPY = {
    "empty": (b"", 2, "truncated"),
    "no magic": (b"NOTNUMPYxxxxxxxx", 2, "not a .npy"),
    "version 9": (npy("{}", version=b"\x93NUMPY\x09\x00"), 3, "version 9"),
    "cut header": (npy_bytes(X)[:40], 2, "truncated"),
    "cut data": (npy_bytes(X)[:-1], 2, "needs 24 bytes, 23"),
    "trailing data": (npy_bytes(X) + b"!", 2, "needs 24 bytes, 25"),
    "no dictionary": (npy("descr"), 2, "'{' is due"),
    "no end": (npy("{'descr': '<f4'"), 2, "is due"),
    "unknown key": (npy("{'descr': '<f4', 'x': 1}"), 2, "unknown key"),
    "missing key": (npy("{'descr': '<f4', }"), 2, "missing"),
    "negative size": (shaped("(-1, 3)"), 2, "a size is due"),
    "huge number": (shaped(f"({'9' * 30},)"), 2, "a size is due"),
    "product overflows": (shaped(f"({BIG}, {BIG})"), 2, "overflows"),
    "product is zero mod 2^64": (shaped(f"({1 << 32}, {1 << 32})"), 2, "overflows"),
    "claims 4 TiB": (shaped(f"({1 << 40},)", X.tobytes()), 2, "needs 4398046511104 bytes, 24"),
    "rank 9": (shaped("(1, 1, 1, 1, 1, 1, 1, 1, 1)", X.tobytes()[:4]), 3, "rank 9"),
    "objects": (shaped("(1,)", descr="|O"), 3, "'|O'"),
    "text": (shaped("(1,)", descr="<U4"), 3, "'<U4'"),
    "structured": (npy("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }"), 3, "structured"),
    "neither True nor False": (shaped("(2, 3)", X.tobytes(), order="Maybe"), 2, "fortran_order"),
    "another shape": (npy_bytes(X[:, :2]), 2, "is f32[N,3], the file has f32[2,2]"),
    "another type": (npy_bytes(X.astype(np.float64)), 2, "the file has f64[2,3]"),
}
NPZ = {
    "no archive": (b"PK\x03\x04 not really", 2, "zip"),
    "cut archive": (npz([("x.npy", npy_bytes(X))])[:-30], 2, "zip"),
    "unknown input": (npz([("z.npy", npy_bytes(X))]), 2, "no input 'z'"),
    "not an array": (npz([("x.npy", b"hello, world")]), 2, "not a .npy"),
    "same name twice": (npz([("x.npy", npy_bytes(X)), ("x", npy_bytes(X))]), 2, "two arrays are named 'x'"),
    "claims 3 GiB": (lying_npz(), 2, "claims 3221225472"),
}
PB = {
    "no data type": (tensor(data_type=0), 2, "no data type"),
    "unknown data type": (b"\x10\xe7\x07", 3, "unknown data type 999"),
    "cut": (tensor()[:-1], 2, "truncated"),
    "too little data": (tensor(raw_data=b"abcd"), 2, "needs 24 bytes"),
    "too much data": (tensor(raw_data=X.tobytes() + b"!"), 2, "needs 24 bytes of raw data, 25"),
    "no data": (tensor(raw_data=None), 2, "needs 24 bytes"),
    "negative size": (tensor(dims=[-2, 3]), 2, "dimension 0 is -2"),
    "product overflows": (tensor(dims=[BIG, BIG]), 2, "overflows"),
    "claims 16 TiB": (tensor(dims=[1 << 42]), 2, "needs 17592186044416 bytes"),
    "raw and typed": (tensor(float_data=[1.0]), 2, "raw_data and in field 4"),
    "wrong typed field": (tensor(raw_data=None, int64_data=[1] * 6), 2, "are in field 7, not 4"),
    "two typed fields": (tensor(raw_data=None, float_data=[1.0], int64_data=[1]), 2, "two fields"),
    "endless number": (b"\x08" + b"\xff" * 11, 2, "64 bits"),
    "length beyond the end": (b"\x4a\xff\xff\xff\xff\x0f", 2, "claims 4294967295 bytes"),
    "group": (b"\x0b", 2, "wire type 3"),
    "field 0": (b"\x00\x01", 2, "field number 0"),
    "sequence": (sequence(), 3, "a sequence"),
    "strings": (strings(), 3, "string"),
    "float4e2m1": (float4(), 3, "float4e2m1"),
    "complex": (tensor(data_type=TensorProto.COMPLEX64), 3, "complex64"),
    "external data": (external(), 3, "external data"),
}
FILES = [(f"{kind} {name}", "." + kind, *what)
         for kind, table in (("npy", NPY), ("npz", NPZ), ("pb", PB)) for name, what in table.items()]
