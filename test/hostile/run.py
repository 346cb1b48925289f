"""Feeds dlc malformed and hostile files (manifest.json says what each must get):
no crash, no hang, no memory without bounds, and an error is one clear line."""
import json
import pathlib
import re
import shutil
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import reference  # noqa: E402
from google.protobuf.message import DecodeError  # noqa: E402
from harness import DLC, Tally, execute, need_dlc  # noqa: E402

SECONDS, MIB = 10, 1024
REFUSALS = (2, 3, 5)  # broken or misused, unsupported, too much memory
LONGEST_LINE, LONGEST_TEXT = 600, 4000
NOT_A_MODEL = {
    "empty.onnx": "empty",
    "truncated_half.onnx": "truncated|not a valid",
    "random_bytes.onnx": "not a valid|not an ONNX",
    "lfs_pointer.onnx": "LFS",
    "huge_length_prefix.onnx": "truncated|not a valid",
    "nested_if_3000.onnx": "nest|deep|deeper",
    "artifact_bad_identifier.bin": "not a dlc artifact|not an artifact|magic|identifier",
    "artifact_truncated.bin": "truncated|shorter|not a dlc artifact|not an artifact",
}


def caged(*arguments):
    return execute([DLC, *arguments], timeout_s=SECONDS, memory_mib=MIB)


def misbehaved(outcome):
    """None, or what no file may cause."""
    if outcome.crashed:
        return f"{outcome.how()}: {outcome.message()}"
    if outcome.peak_mib > MIB:
        return f"used {outcome.peak_mib} MiB"
    return None


def culprits(path):
    """A pattern for what the message may name: the model's nodes, ops, tensors and domains,
    or, where the file is no model, what is the matter with it."""
    if path.name in NOT_A_MODEL:
        return NOT_A_MODEL[path.name]
    model = onnx.load(path, load_external_data=False)
    graph, words = model.graph, {"opset", "IR"}
    for node in [*graph.node, *(n for f in model.functions for n in f.node)]:
        words |= {node.name, node.op_type, node.domain, *node.input, *node.output}
    words |= {i.name for i in [*graph.initializer, *graph.input, *graph.output]}
    return "|".join(rf"(?<!\w){re.escape(w)}(?!\w)" for w in words if 0 < len(w) < 100)


def poor_message(outcome, path):
    """None, or why this is not a clear refusal."""
    if outcome.code not in REFUSALS:
        return f"{outcome.how()} where an error is due"
    errors = [line for line in outcome.stderr.splitlines() if "error" in line]
    if not errors:
        return "no line on stderr says error"
    if len(errors[0]) > LONGEST_LINE or len(outcome.stderr) > LONGEST_TEXT:
        return f"the message is {len(errors[0])} of {len(outcome.stderr)} characters long"
    if not re.search(culprits(path), outcome.stderr.replace(str(path), "")):
        return f"the message does not name the culprit: {errors[0]}"
    return None


def compile_and_run(path, scratch):
    """The outcome of compiling, and of running on random inputs if that went well."""
    artifact, inputs, outputs = scratch / "m.dlc", scratch / "in.npz", scratch / "out.npz"
    compiled = caged("compile", path, "-o", artifact)
    if compiled.code != 0:
        return compiled, None
    try:
        feeds = reference.random_feeds(path)
    except (ValueError, MemoryError, UnicodeError, DecodeError):
        return compiled, None  # no inputs can be made for it: the compiler has the last word
    np.savez(inputs, **feeds)
    return compiled, caged("run", artifact, "--inputs", inputs, "--outputs", outputs)


def verdict(want, path, scratch):
    """None, or what is wrong."""
    if path.suffix == ".bin":
        outcome = caged("inspect", path)
        return misbehaved(outcome) or poor_message(outcome, path)
    if want == "compile-ok":
        outcome = caged("compile", path, "-o", scratch / "m.dlc")
        return misbehaved(outcome) or (f"{outcome.how()}: {outcome.message()}" if outcome.code else None)
    compiled, ran = compile_and_run(path, scratch)
    last = ran or compiled
    bad = misbehaved(compiled) or misbehaved(last)
    if bad or want == "any":
        return bad
    if want == "error":
        return poor_message(last, path)
    if last.code != 0:
        return f"{last.how()}: {last.message()}"
    feeds = dict(np.load(scratch / "in.npz"))
    return reference.compare(EXPECTED[path.name](feeds), reference.load_outputs(scratch / "out.npz")) or None


# What the `ok` files compute, by hand: loading them is what breaks other engines.
EXPECTED = {
    "diamond_chain_64.onnx": lambda feeds: {"y": feeds["x"] * np.float32(2.0**64)},
    "nested_if_24.onnx": lambda feeds: {"r24": np.maximum(feeds["x"], 0) if feeds["c"] else -feeds["x"]},
    "ext_good.onnx": lambda feeds: {"y": feeds["x"] + np.float32(1)},
}


def lay_out(scratch):
    """The files with the links that some of them point at; git would not carry those."""
    files = scratch / "files"
    shutil.copytree(HERE / "files", files)
    (files / "link_dev_zero").symlink_to("/dev/zero")
    return files


def run_all(tally, scratch):
    files = lay_out(scratch)
    for entry in json.loads((HERE / "manifest.json").read_text()):
        bad = verdict(entry["want"], files / entry["file"], scratch)
        if bad:
            tally.fail(entry["file"], f"{bad} ({entry['note']})")
        else:
            tally.ok(entry["file"])


def main():
    need_dlc()
    tally = Tally(quiet="-v" not in sys.argv)
    with tempfile.TemporaryDirectory() as scratch:
        run_all(tally, pathlib.Path(scratch))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
