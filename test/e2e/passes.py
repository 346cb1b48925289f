"""Passes that do nothing where they should are a defect that no result shows: on two
full-size networks every count that a pass reports must be above zero, and in a
transformer every layer's attention must be recognised."""
import json
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE.parent / "models"))

import catalog  # noqa: E402
from harness import Tally, compile_model, need_dlc  # noqa: E402

# Counts that are rightly zero, and why.
RIGHTLY_ZERO = {
    "dl-decompose.decomposed": "no composite op is imported",
    "dl-fuse-attention.fused": "images need none here",
    "dl-form-kernels.transposes": "the fewer the better",
    "dl-infer-shapes.folded": "nothing computes with sizes",
    "dl-infer-shapes.refined": "the importer infers static sizes",
    "plan-assign-in-place.in-place": "every elementwise op runs inside a convolution",
    "plan-update-states-in-place.in-place": "inference has no states",
}
# Most transposes of activations that a network needs: its input, and what leaves NHWC.
MOST_TRANSPOSES = {"resnet50_1": 1, "mobilenet_v2_1": 1}


def check(network, scratch, tally):
    name = network.name
    outcome = compile_model(network.path, scratch / "m.dlc", "--json")
    if outcome.code:
        return tally.fail(name, outcome.message())
    counts = json.loads(outcome.stdout)["passes"]
    tally.check(f"{name}: passes report", len(counts) >= 8, f"only {sorted(counts)}")
    for count, value in counts.items():
        if count not in RIGHTLY_ZERO:
            tally.check(f"{name}: {count}", value > 0, "0 times")
    left = counts["dl-form-kernels.transposes"]
    tally.check(f"{name}: layout conversions", left <= MOST_TRANSPOSES[name],
                f"{left} transposes of activations, {MOST_TRANSPOSES[name]} are needed")


def check_attention(network, layers, scratch, tally):
    outcome = compile_model(network.path, scratch / "m.dlc", "--json")
    if outcome.code:
        return tally.fail(network.name, outcome.message())
    fused = json.loads(outcome.stdout)["passes"]["dl-fuse-attention.fused"]
    tally.check(f"{network.name}: attention", fused == layers, f"{fused} recognised, {layers} are there")


def main():
    need_dlc()
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        for network in catalog.full_size(1):
            if network.name in MOST_TRANSPOSES:
                check(network, pathlib.Path(folder), tally)
        for network in catalog.transformers(("bert_tiny", "gpt2_tiny"), 37):
            check_attention(network, 2, pathlib.Path(folder), tally)
        encoder = next(n for n in catalog.parity() if n.name == "parity_encoder")
        check_attention(encoder, 2, pathlib.Path(folder), tally)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
