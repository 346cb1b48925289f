"""Runs the onnx package's backend suite, every case as `dlc compile` and `dlc run`
in processes of their own with limits on time and memory, and sorts the results:

  pass      all outputs agree
  refused   dlc said, with a message, that it does not support the model (exit 3)
  wrong     outputs differ (exit 4): the worst defect
  crash     a signal, a time-out, or any other exit

Refused cases count as skipped. One that is listed in passing.txt counts as failed:
what once passed must go on passing. `--write` brings docs/conformance.md and
passing.txt up to date.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import report  # noqa: E402
from cases import all_cases  # noqa: E402
from harness import BUILD, CACHE, DLC, TARGET, Tally, compile_model, execute, lacking, need_dlc  # noqa: E402

PASSING = HERE / "passing.txt"
SECONDS, MIB = 60, 4096
# What these expect are the draws of one particular generator, which ONNX does not
# specify: they are compiled and run, and their numbers are not compared.
DRAWS = re.compile(r"test_bernoulli")
# The simulated device reserves the memory that it has, and the cage counts that.
os.environ.setdefault("DLC_CUDASIM_MEMORY_MB", "512")
SORTED_BY_EXIT = {0: "pass", 3: "refused", 4: "wrong"}


def sort_out(outcome):
    return "crash" if outcome.timed_out else SORTED_BY_EXIT.get(outcome.code, "crash")


def run_case(folder, device="cpu"):
    """(status, message) of one case."""
    about = json.loads((folder / "case.json").read_text())
    limits = {"timeout_s": SECONDS, "memory_mib": MIB}
    with tempfile.TemporaryDirectory() as scratch:
        artifact = pathlib.Path(scratch) / "m.dlc"
        last = compile_model(folder / "model.onnx", artifact, *TARGET.get(device, []), **limits)
        for data in sorted(folder.glob("test_data_set_*")):
            if last.code != 0:
                break
            last = execute([DLC, "run", artifact, "--test-dir", data, "--rtol", str(about["rtol"]),
                            "--atol", str(about["atol"]), "--device", device], **limits)
    status = sort_out(last)
    if status == "wrong" and DRAWS.match(folder.name):
        return {"name": folder.name, "kind": about["kind"], "ops": about["ops"], "status": "refused",
                "how": last.how(), "message": "random: ONNX does not specify the numbers"}
    message = "" if status == "pass" else last.message().replace(str(folder), folder.name)
    return {"name": folder.name, "kind": about["kind"], "ops": about["ops"], "status": status,
            "how": last.how(), "message": message}


def count(result, tally, must_pass):
    name, status = result["name"], result["status"]
    if status == "pass":
        tally.ok(name)
    elif status != "refused":
        tally.fail(name, f"{status}: {result['how']}: {result['message']}")
    elif name in must_pass:
        tally.fail(name, f"passed before, now refused: {result['message']}")
    else:
        tally.skipped += 1  # said in one line per reason below


def choose(folders, args):
    if args.filter:
        folders = [f for f in folders if re.search(args.filter, f.name)]
    if args.sample and args.sample < len(folders):
        step = len(folders) / args.sample
        folders = [folders[int(i * step)] for i in range(args.sample)]
    return folders


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--filter", help="only the cases whose name matches this regular expression")
    parser.add_argument("--sample", type=int, help="only this many, evenly spread")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--device", default="cpu", choices=["cpu", *TARGET], help="where the models run")
    parser.add_argument("--json", type=pathlib.Path, default=BUILD / "log" / "conformance.json",
                        help="where the result of every case goes")
    parser.add_argument("--reasons", type=int, default=25, help="how many refusal reasons to print")
    parser.add_argument("--write", action="store_true", help="update docs/conformance.md and passing.txt")
    return parser.parse_args()


def main():
    args = arguments()
    need_dlc()
    folders = choose(all_cases(CACHE), args)
    must_pass = set(PASSING.read_text().split()) if PASSING.exists() else set()
    tally = Tally(total=len(folders))
    if folders and (lack := lacking(folders[0] / "model.onnx", *TARGET.get(args.device, []))):
        tally.skip(f"the suite on {args.device}", lack)
        return tally.finish()
    results = []
    with concurrent.futures.ThreadPoolExecutor(args.workers) as pool:
        for result in pool.map(lambda folder: run_case(folder, args.device), folders):
            results.append(result)
            count(result, tally, must_pass)
    args.json.parent.mkdir(parents=True, exist_ok=True)
    args.json.write_text(json.dumps(results, indent=1))
    found = collections.Counter(r["status"] for r in results)
    print("   " + ", ".join(f"{found[s]} {s}" for s in report.STATUSES))
    report.print_reasons(results, args.reasons)
    if args.write and args.device == "cpu" and not (args.filter or args.sample):
        report.write_page(results)
        PASSING.write_text("".join(r["name"] + "\n" for r in results if r["status"] == "pass"))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
