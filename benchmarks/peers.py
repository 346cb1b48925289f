"""dlc beside onnxruntime in one process: the same inputs, calls taken in turn so
that noise hits both, medians, and a ratio above 1 where dlc is faster. A result
that was not compared with the peer's first is never timed.

usage: peers.py [--networks PART,...] [--batch 1] [--length 128] [--threads 1] [--seconds 5] [--json FILE]
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test"), str(ROOT / "test/models")]

import capi  # noqa: E402
import catalog  # noqa: E402
import reference  # noqa: E402
from harness import compile_model, need_dlc  # noqa: E402


def networks(args):
    # Transformers take half a GB each: made only when asked for by name.
    parts = [part for part in args.networks.split(",") if part]
    large = [name for name in ("bert_base", "gpt2_small") if any(part in name for part in parts)]
    return [*catalog.full_size(args.batch), *catalog.packaged(), *catalog.parity(),
            *catalog.transformers(large, args.length, args.batch)]


def milliseconds(function):
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) * 1e3


def take_turns(first, second, seconds):
    """Medians and minima of both, measured alternately after a warm-up of three calls each."""
    for _ in range(3):
        first()
        second()
    a, b = [], []
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(a) < 5:
        a.append(milliseconds(first))
        b.append(milliseconds(second))
    return [(statistics.median(times), min(times)) for times in (a, b)], len(a)


def measure(network, args, scratch):
    """One row of the table, or a row that says why there is none."""
    row = {"network": network.name, "threads": args.threads}
    artifact = scratch / "m.dlc"
    compiled = compile_model(network.path, artifact, timeout_s=300, memory_mib=8192)
    if compiled.code != 0:
        return {**row, "refused": compiled.message()}
    feeds = reference.random_feeds(network.path, network.shapes[0], high=network.high)
    peer = reference.session(network.path, args.threads)
    names = [o.name for o in peer.get_outputs()]
    start = time.perf_counter()
    model = capi.Model(artifact, args.threads)
    load_ms = (time.perf_counter() - start) * 1e3
    differ = reference.compare(dict(zip(names, peer.run(None, feeds))), model.run(feeds))
    if differ:
        return {**row, "refused": f"results differ: {differ}"}
    (ours, theirs), rounds = take_turns(lambda: model.run(feeds), lambda: peer.run(None, feeds), args.seconds)
    model.close()
    return {**row, "compile_s": round(compiled.seconds, 2), "load_ms": round(load_ms, 2), "rounds": rounds,
            "dlc_ms": round(ours[0], 3), "dlc_min_ms": round(ours[1], 3),
            "onnxruntime_ms": round(theirs[0], 3), "onnxruntime_min_ms": round(theirs[1], 3),
            "ratio": round(theirs[0] / ours[0], 3)}


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="", help="only names that contain one of these, comma-separated")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--length", type=int, default=128, help="words per sequence")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=5, help="time per network")
    parser.add_argument("--json", type=pathlib.Path)
    return parser.parse_args()


def main():
    args = arguments()
    need_dlc()
    rows = []
    print(f"{'network':24}{'dlc ms':>10}{'ort ms':>10}{'ratio':>8}{'compile s':>11}{'load ms':>9}")
    for network in networks(args):
        if not any(part in network.name for part in args.networks.split(",")):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            row = measure(network, args, pathlib.Path(scratch))
        rows.append(row)
        if "refused" in row:
            print(f"{network.name:24}not timed: {row['refused']}", flush=True)
        else:
            print(f"{network.name:24}{row['dlc_ms']:10.3f}{row['onnxruntime_ms']:10.3f}{row['ratio']:8.2f}"
                  f"{row['compile_s']:11.2f}{row['load_ms']:9.1f}", flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any("refused" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
