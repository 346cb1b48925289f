"""The main job: Google's file-type network (the magika package's model.onnx), compiled by
`dlc compile` and run by `dlc run` on real files. Neither magika's code nor another
engine takes part: this file only cuts the bytes out and names the winning class."""
import importlib.util
import json
import pathlib
import subprocess
import sys
import time

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[2]
DLC = ROOT / "build" / "bin" / "dlc"
WORK = ROOT / "build" / "quickstart"


def package_folder():
    """Found without importing the package, which would load its own engine."""
    spec = importlib.util.find_spec("magika")
    return next((pathlib.Path(spec.origin).parent / "models").iterdir())


def features(content, config):
    """The first and the last bytes, stripped and padded to fixed lengths, as the network was trained."""
    block, pad = config["block_size"], config["padding_token"]
    begin = content[:block].lstrip()[: config["beg_size"]]
    end = content[-block:].rstrip()[-config["end_size"]:]
    return ([*begin] + [pad] * (config["beg_size"] - len(begin))
            + [pad] * (config["end_size"] - len(end)) + [*end])


def run(*command):
    """Shows the command as a user would type it from the project's root, then runs it."""
    words = [str(word) for word in command]
    shown = [pathlib.Path(w).relative_to(ROOT) if w.startswith(str(ROOT)) else w for w in words]
    print("   $", *shown, flush=True)
    start = time.monotonic()
    done = subprocess.run(words)
    if done.returncode:
        sys.exit(done.returncode)
    print(f"   ({time.monotonic() - start:.2f} s)", flush=True)


def main(names):
    folder = package_folder()
    config = json.loads((folder / "config.min.json").read_text())
    WORK.mkdir(parents=True, exist_ok=True)
    rows = [features((ROOT / name).read_bytes(), config) for name in names]
    np.savez(WORK / "in.npz", bytes=np.array(rows, np.int32))
    run(DLC, "compile", folder / "model.onnx", "-o", WORK / "magika.dlc")
    run(DLC, "run", WORK / "magika.dlc", "--inputs", WORK / "in.npz", "--outputs", WORK / "out.npz")
    scores = np.load(WORK / "out.npz")["target_label"]
    labels = config["target_labels_space"]
    for name, row in zip(names, scores):
        print(f"   {name:28} is {labels[row.argmax()]} ({row.max():.1%})")


if __name__ == "__main__":
    main(sys.argv[1:])
