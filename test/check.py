"""Runs the stages of ./check one after the other and adds up their counts.

Each stage is a command that ends with "N passed, N failed, N skipped", or a test
driver that writes a JUnit file. Nothing a stage prints is swallowed.
"""
import argparse
import pathlib
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

from harness import BUILD, COUNTS, ROOT

PYTHON = sys.executable
LIT = pathlib.Path(PYTHON).parent / "lit"
CONFORMANCE_SAMPLE = 300

UNIT_XML = BUILD / "log" / "unit.xml"
LIT_XML = BUILD / "log" / "lit.xml"


def stages(full):
    """name, what it is, command, JUnit file or None."""
    sample = [] if full else ["--sample", str(CONFORMANCE_SAMPLE)]
    return [
        ("lint", "layers, file lengths, paths, generated pages", [PYTHON, "test/lint/run.py"], None),
        ("unit", "GoogleTest: runtime, artifact, thread pool, data",
         ["ctest", "--test-dir", BUILD, "--output-on-failure", "--no-tests=ignore", "-j2",
          "--progress", "--output-junit", UNIT_XML], UNIT_XML),
        ("lit", "FileCheck: ops, passes, frontends, tools",
         [LIT, "-v", "-j2", "--allow-empty-runs", "--xunit-xml-output", LIT_XML, "test"], LIT_XML),
        ("cli", "dlc's arguments, exit codes and array files", [PYTHON, "test/cli/run.py"], None),
        ("compile", "what dlc compile announces, its limits", [PYTHON, "test/cli/compile.py"], None),
        ("gradients", "every op's gradient against finite differences", [PYTHON, "test/gradients/run.py"], None),
        ("cuda-gradients", "the same as CUDA kernels on the simulated device",
         [PYTHON, "test/gradients/run.py", "--device", "cuda-sim"], None),
        ("cases", "models rebuilt from public bug reports", [PYTHON, "test/cases/run.py"], None),
        ("hostile", "malformed and hostile files", [PYTHON, "test/hostile/run.py"], None),
        ("damage", "artifacts cut short and with changed bytes", [PYTHON, "test/hostile/artifacts.py"], None),
        ("conformance", "the onnx package's backend suite", [PYTHON, "test/conformance/run.py", *sample], None),
        ("cuda-sim", "a sample of that suite as CUDA kernels on the simulated device",
         [PYTHON, "test/conformance/run.py", "--device", "cuda-sim", "--sample", "150", "--reasons", "0"], None),
        ("cuda-models", "whole networks as CUDA kernels: results, checkers, spills", [PYTHON, "test/e2e/cuda.py"], None),
        ("models", "real and full-size networks against onnxruntime", [PYTHON, "test/e2e/models.py"], None),
        ("passes", "every pass does something where it should", [PYTHON, "test/e2e/passes.py"], None),
        ("train", "losses of every step against PyTorch's, accumulation, resuming", [PYTHON, "test/train/run.py"], None),
        ("train-data", "samples by worker threads, models that learn from files", [PYTHON, "test/train/data.py"], None),
        ("precision", "training in bf16 and f16, on the simulated device, too", [PYTHON, "test/train/precision.py"], None),
        ("cuda-train", "training as CUDA kernels on the simulated device, with Adam",
         [PYTHON, "test/train/run.py", "--device", "cuda-sim", "--optimizers", "adam"], None),
        ("new", "models that dlc new writes: against onnxruntime, and trained", [PYTHON, "test/train/new.py"], None),
        ("budgets", "size, memory, compile time and speed", [PYTHON, "test/e2e/budgets.py"], None),
    ]


def run(command):
    """Streams the command's output; returns its exit status and its last line."""
    process = subprocess.Popen([str(c) for c in command], cwd=ROOT, text=True, errors="replace",
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    last = ""
    for line in process.stdout:
        if not COUNTS.match(line.strip()):
            print(line, end="", flush=True)
        last = line.strip() or last
    return process.wait(), last


def junit_counts(path):
    root = xml.parse(path).getroot()
    suites = [root] if root.tag == "testsuite" else list(root.iter("testsuite"))

    def total(key):
        return sum(int(suite.get(key) or 0) for suite in suites)

    failed = total("failures") + total("errors")
    skipped = total("skipped") + total("disabled")
    return total("tests") - failed - skipped, failed, skipped


def run_stage(command, junit):
    if junit:
        junit.parent.mkdir(parents=True, exist_ok=True)
        junit.unlink(missing_ok=True)
    status, last = run(command)
    found = COUNTS.match(last)
    if junit and junit.exists():
        passed, failed, skipped = junit_counts(junit)
    elif found:
        passed, failed, skipped = map(int, found.groups())
    else:
        print(f"   FAIL  the stage itself: exit {status} without counts")
        return 0, 1, 0
    # A driver that fails without a failing test must not count as green.
    return passed, max(failed, 1) if status else failed, skipped


def main():
    parser = argparse.ArgumentParser(prog="./check", description=__doc__.splitlines()[0])
    parser.add_argument("stage", nargs="*", help="only these stages: " + ", ".join(s[0] for s in stages(False)))
    parser.add_argument("--full", action="store_true", help="the whole ONNX backend suite, not a sample")
    args = parser.parse_args()
    chosen = [s for s in stages(args.full) if not args.stage or s[0] in args.stage]
    unknown = set(args.stage) - {s[0] for s in chosen}
    if unknown:
        parser.error("no such stage: " + ", ".join(sorted(unknown)))

    sums = [0, 0, 0]
    for name, what, command, junit in chosen:
        print(f"== {name}: {what}", flush=True)
        start = time.monotonic()
        counts = run_stage(command, junit)
        sums = [a + b for a, b in zip(sums, counts)]
        print("   {} passed, {} failed, {} skipped".format(*counts), f"({time.monotonic() - start:.0f} s)", flush=True)
    print("{} passed, {} failed, {} skipped".format(*sums))
    return 1 if sums[1] else 0


if __name__ == "__main__":
    sys.exit(main())
