"""Every numbered constraint of a dl op ("C2. ...") is broken by a test: a case below
test/ops/ that is headed "// <op> C2" and expects an error."""
import re

OP = re.compile(r'^def Dl_\w+ : \w+<"(\w+)"(.*?)(?=^def |\Z)', re.MULTILINE | re.DOTALL)
CONSTRAINT = re.compile(r"^\s+(C\d+)\. ", re.MULTILINE)
HEADING = re.compile(r"^// (\w+) (C\d+)$", re.MULTILINE)


def declared(root, files):
    for name in files:
        if name.startswith("dialects/dl/ops/") and name.endswith(".td"):
            for op, body in OP.findall((root / name).read_text()):
                for constraint in CONSTRAINT.findall(body):
                    yield name, op, constraint


def tested(root, files):
    found = set()
    for name in files:
        if name.startswith("test/ops/") and name.endswith(".mlir"):
            for case in (root / name).read_text().split("// -----"):
                if "expected-error" in case:
                    found.update(HEADING.findall(case))
    return found


def problems(root, files):
    broken = tested(root, files)
    known = set()
    for name, op, constraint in declared(root, files):
        known.add((op, constraint))
        if (op, constraint) not in broken:
            yield f"{name}: no test breaks {constraint} of {op}: head one with '// {op} {constraint}'"
    for op, constraint in sorted(broken - known):
        yield f"test/ops: '{op} {constraint}' is no constraint of any op"
