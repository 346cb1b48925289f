"""Fails when an #include points up a layer or a source file outgrows its budget."""
import pathlib
import re

# Each folder may include itself and these, nothing else of ours.
MAY_INCLUDE = {
    "runtime": [],
    "dialects": [],
    "passes": ["dialects", "runtime/schema"],  # the arena planner that compiler and runtime share
    "frontends": ["dialects"],
    "compiler": ["dialects", "passes", "frontends", "runtime/schema"],
    "test": ["dialects", "passes", "frontends", "compiler", "runtime"],
    "benchmarks": ["compiler", "runtime", "test"],  # the tests' makers of files
}
# The runtime is what is shipped: none of what the compiler is made of.
FOREIGN_TO_RUNTIME = ("mlir/", "llvm/", "lld/", "google/protobuf/")
MAY_USE_C_API = {"runtime", "test", "benchmarks"}
SUFFIXES = {".h", ".cpp", ".cc", ".c", ".td", ".fbs", ".cuh", ".cu", ".py", ".inc"}
MAX_LINES = 500
INCLUDE = re.compile(r'^\s*#?\s*include\s+["<]([^">]+)[">]')
OURS = re.compile(r"(?:%s)/" % "|".join(MAY_INCLUDE))


def forbidden(layer, target):
    if OURS.match(target):
        return not target.startswith((layer + "/", *(a + "/" for a in MAY_INCLUDE[layer])))
    if target.startswith("dlc/"):
        return layer not in MAY_USE_C_API
    return layer == "runtime" and target.startswith(FOREIGN_TO_RUNTIME)


def problems(root, files):
    for name in files:
        path = pathlib.PurePath(name)
        layer = path.parts[0]
        if layer not in MAY_INCLUDE or path.suffix not in SUFFIXES:
            continue
        lines = (root / name).read_text(errors="replace").splitlines()
        if len(lines) > MAX_LINES:
            yield f"{name}: {len(lines)} lines, budget {MAX_LINES}"
        for number, line in enumerate(lines, 1):
            found = INCLUDE.match(line)
            if found and forbidden(layer, found[1]):
                yield f"{name}:{number}: {layer} may not include {found[1]}"
