"""The public C API through ctypes: one loaded model, run from any number of Python
threads (ctypes lets go of the interpreter lock while dlc runs)."""
import ctypes as c

import ml_dtypes
import numpy as np
from harness import BUILD

MAX_RANK = 8
# In the order of dlc_type; int4 kinds have no numpy layout and are left out.
TYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn,
         ml_dtypes.float8_e4m3fnuz, ml_dtypes.float8_e5m2, ml_dtypes.float8_e5m2fnuz, None, None,
         np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64, np.bool_]
CODES = {np.dtype(t): code for code, t in enumerate(TYPES) if t}


class LoadOptions(c.Structure):
    _fields_ = [("struct_bytes", c.c_size_t), ("threads", c.c_int), ("verify_hash", c.c_bool),
                ("device", c.c_char_p), ("cache_dir", c.c_char_p)]


class ProfileEntry(c.Structure):
    _fields_ = [("kernel", c.c_char_p), ("nodes", c.c_char_p), ("start_us", c.c_double),
                ("duration_us", c.c_double), ("flops", c.c_double)]


PROFILE = c.CFUNCTYPE(None, c.c_void_p, c.POINTER(ProfileEntry))


class RunOptions(c.Structure):
    _fields_ = [("struct_bytes", c.c_size_t), ("profile", PROFILE), ("profile_user", c.c_void_p)]


def library():
    lib = c.CDLL(str(BUILD / "lib" / "libdlc_runtime.so"))
    pointers = {"dlc_model_load": c.c_void_p, "dlc_model_run": c.c_void_p, "dlc_tensor_wrap": c.c_void_p,
                "dlc_tensor_data": c.c_void_p, "dlc_tensor_dims": c.POINTER(c.c_int64),
                "dlc_tensor_size_bytes": c.c_int64, "dlc_status_message": c.c_char_p,
                "dlc_model_input_name": c.c_char_p, "dlc_model_output_name": c.c_char_p,
                "dlc_model_entry": c.c_void_p, "dlc_model_read_state": c.c_void_p,
                "dlc_model_write_state": c.c_void_p, "dlc_model_state_name": c.c_char_p,
                "dlc_model_state_role": c.c_char_p, "dlc_model_state_count": c.c_size_t,
                "dlc_model_arena_bytes": c.c_int64,
                "dlc_model_weight_bytes": c.c_int64, "dlc_model_input_count": c.c_size_t, "dlc_model_output_count": c.c_size_t}
    for name, result in pointers.items():
        getattr(lib, name).restype = result
    return lib


class Model:
    """A loaded artifact. Raises RuntimeError with the status message."""

    def __init__(self, path, threads=0, device="cpu"):
        self.lib, self.handle = library(), c.c_void_p()
        options = LoadOptions(c.sizeof(LoadOptions), threads, False, device.encode(), None)
        self._check(self.lib.dlc_model_load(str(path).encode(), c.byref(options), c.byref(self.handle)))
        self.inputs = self._names("input")
        self.outputs = self._names("output")

    def _check(self, status):
        if status:
            text = self.lib.dlc_status_message(c.c_void_p(status)).decode(errors="replace")
            self.lib.dlc_status_free(c.c_void_p(status))
            raise RuntimeError(text)

    def _names(self, which):
        count = getattr(self.lib, f"dlc_model_{which}_count")(self.handle)
        name = getattr(self.lib, f"dlc_model_{which}_name")
        return [name(self.handle, c.c_size_t(i)).decode() for i in range(count)]

    def _wrap(self, array):
        tensor = c.c_void_p()
        dims = (c.c_int64 * MAX_RANK)(*array.shape)
        self._check(self.lib.dlc_tensor_wrap(CODES[array.dtype], dims, array.ndim, c.c_void_p(array.ctypes.data),
                                             c.c_size_t(array.nbytes), c.byref(tensor)))
        return tensor

    def _take(self, tensor):
        lib, tensor = self.lib, c.c_void_p(tensor)
        dims = lib.dlc_tensor_dims(tensor)
        shape = tuple(dims[i] for i in range(lib.dlc_tensor_rank(tensor)))
        raw = c.string_at(lib.dlc_tensor_data(tensor), lib.dlc_tensor_size_bytes(tensor))
        array = np.frombuffer(raw, TYPES[lib.dlc_tensor_type(tensor)]).reshape(shape)
        lib.dlc_tensor_free(tensor)
        return array

    def profile(self, feeds):
        """One run's dispatches as (kernel, nodes, microseconds, flops)."""
        seen = []

        def note(_, entry):
            e = entry[0]
            seen.append((e.kernel.decode(), (e.nodes or b"").decode(), e.duration_us, e.flops))

        callback = PROFILE(note)
        self.run(feeds, RunOptions(c.sizeof(RunOptions), callback, None))
        return seen

    def run(self, feeds, options=None):
        """Runs on a dictionary of arrays; new arrays come back by output name."""
        arrays = [np.asarray(feeds[name], order="C") for name in self.inputs]
        wrapped = [self._wrap(array) for array in arrays]
        results = (c.c_void_p * max(1, len(self.outputs)))()
        try:
            self._check(self.lib.dlc_model_run(
                self.handle, (c.c_void_p * max(1, len(wrapped)))(*wrapped), c.c_size_t(len(wrapped)), results,
                c.c_size_t(len(self.outputs)), c.byref(options) if options else None))
        finally:
            for tensor in wrapped:
                self.lib.dlc_tensor_free(tensor)
        return {name: self._take(tensor) for name, tensor in zip(self.outputs, results)}

    def entry(self, name):
        """Another entry of the same artifact, over the same states."""
        other = Model.__new__(Model)
        other.lib, other.handle = self.lib, c.c_void_p()
        self._check(self.lib.dlc_model_entry(self.handle, name.encode(), c.byref(other.handle)))
        other.inputs, other.outputs = other._names("input"), other._names("output")
        return other

    def states(self):
        """Names and roles."""
        return {self.lib.dlc_model_state_name(self.handle, c.c_size_t(i)).decode():
                self.lib.dlc_model_state_role(self.handle, c.c_size_t(i)).decode()
                for i in range(self.lib.dlc_model_state_count(self.handle))}

    def read_state(self, name):
        tensor = c.c_void_p()
        self._check(self.lib.dlc_model_read_state(self.handle, name.encode(), c.byref(tensor)))
        return self._take(tensor.value)

    def write_state(self, name, array):
        tensor = self._wrap(np.asarray(array, order="C"))
        try:
            self._check(self.lib.dlc_model_write_state(self.handle, name.encode(), tensor))
        finally:
            self.lib.dlc_tensor_free(tensor)

    def close(self):
        self.lib.dlc_model_free(self.handle)
        self.handle = c.c_void_p()
