"""Walks the registered ops of the dl dialect and holds the gradient of each one
against finite differences in double, on the CPU target or on a device: with static sizes
and, where a case names any, with symbolic ones. An op without a gradient needs a
reason, one with a gradient needs a case."""
import argparse
import concurrent.futures as futures
import functools
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

import cases  # noqa: E402
import model  # noqa: E402
from harness import BUILD, Tally, lacking, need_dlc  # noqa: E402

PARITY = HERE.parent / "parity"
# The simulator reserves twice the addresses of its memory.
os.environ.setdefault("DLC_CUDASIM_MEMORY_MB", "256")


def registered():
    """Op -> the interfaces that tests ask for."""
    out = subprocess.run([BUILD / "bin" / "dlc-registry"], capture_output=True, text=True, check=True).stdout
    return {words[0]: set(words[1:]) for words in map(str.split, out.splitlines())}


def cases_of(op, interfaces):
    if op in cases.CASES:
        return cases.CASES[op]()
    if "Elementwise" in interfaces:
        return cases.elementwise(op, cases.ARITY.get(op, 1))
    return []


def jobs(ops, tally):
    """(name, case, symbolic) of everything to run; what is missing is a failure."""
    made = []
    for op, interfaces in sorted(ops.items()):
        if "Differentiable" not in interfaces:
            if op not in cases.WITHOUT:
                tally.fail(op, "has no gradient, and no reason is given for that")
            continue
        if op in cases.WITHOUT:
            tally.fail(op, "has a gradient, and a reason for having none")
        found = cases_of(op, interfaces)
        if not found:
            tally.fail(op, "has a gradient and no case that tests it")
        for number, case in enumerate(found):
            made.append((f"{op} {number} static", case, False))
            shapes = [arg.shape for arg in case.args if not arg.constant]
            if case.symbolic and any(isinstance(d, str) for shape in shapes for d in shape):
                made.append((f"{op} {number} symbolic", case, True))
    for op in sorted((set(cases.WITHOUT) | set(cases.CASES)) - set(ops)):
        tally.fail(op, "is named in cases.py but is no op")
    return made


def run(job, device):
    name, case, symbolic = job
    with tempfile.TemporaryDirectory() as folder:
        try:
            return name, model.disagreement(case, symbolic, pathlib.Path(folder), device)
        except Exception as error:  # one broken case must not hide the others
            return name, f"{type(error).__name__}: {error}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--filter", default="", help="only ops whose name contains this")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda-sim")
    parser.add_argument("-v", action="store_true", help="print what passes, too")
    args = parser.parse_args()
    need_dlc()
    tally = Tally(quiet=not args.v)
    if args.device != "cpu" and (lack := lacking(PARITY / "rnn/model.onnx", *model.TARGET[args.device])):
        tally.skip("gradients on " + args.device, lack)
        return tally.finish()
    work = [job for job in jobs(registered(), tally) if args.filter in job[0]]
    with futures.ThreadPoolExecutor(2) as pool:
        for name, problem in pool.map(functools.partial(run, device=args.device), work):
            tally.fail(name, problem) if problem else tally.ok(name)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
