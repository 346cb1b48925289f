"""lit: every .mlir file below test/ is a test of dlc-opt or dlc-compiler, every
.textproto file an ONNX model for dlc-compiler."""
import os

import lit.formats

here = os.path.dirname(__file__)
build = os.environ.get("DLC_BUILD", os.path.join(here, "..", "build"))

config.name = "dlc"
config.test_format = lit.formats.ShTest()
config.suffixes = [".mlir", ".textproto"]
config.excludes = ["cases", "hostile", "parity", "models", "conformance"]
config.test_source_root = here
config.test_exec_root = os.path.join(build, "lit")
config.environment["PATH"] = os.pathsep.join(
    [os.path.join(build, "bin"), "/usr/lib/llvm-22/bin", os.environ["PATH"]])
config.substitutions.append(
    ("%onnx-encode", f"protoc --encode=dlc.onnx.ModelProto -I {here}/../frontends/onnx onnx.proto"))
