"""`dlc new`: every model it writes is valid ONNX, infers as onnxruntime says, and learns a batch by heart."""
import json
import pathlib
import re
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from harness import DLC, Tally, execute, need_dlc  # noqa: E402

BATCH, STEPS, TOLERANCE = 4, 40, 2e-5
# The model's flags, and the rate that halves its loss within the steps.
MODELS = {"simplecnn": ["--channels", 1, "--size", 12],
          "mobilenetv2": ["--size", 32, "--width", 0.35, "--classes", 10],
          "rnn": ["--length", 9, "--features", 7, "--bidirectional"],
          "lstm": ["--length", 9, "--features", 7, "--layers", 2, "--bidirectional"],
          "gru": ["--length", 9, "--features", 7, "--layers", 2, "--dropout", 0.1],
          "encoder": ["--width", 32, "--length", 12, "--vocabulary", 20],
          "encoder-decoder": ["--width", 32, "--length", 12, "--vocabulary", 20],
          "gpt": ["--width", 32, "--length", 12, "--vocabulary", 20, "--layers", 2, "--heads", 4],
          "bert": ["--width", 32, "--length", 12, "--vocabulary", 20]}


def feed(session, rng):
    """Random inputs; tokens end in padding."""
    made = {}
    for info in session.get_inputs():
        shape = [BATCH if isinstance(size, str) else size for size in info.shape]
        if info.type != "tensor(int64)":
            made[info.name] = rng.standard_normal(shape).astype(np.float32)
            continue
        made[info.name] = rng.integers(1, 2 if info.name == "segments" else 20, shape)
        if info.name in ("x", "source") and len(session.get_inputs()) > 1:
            made[info.name][:, -2:] = 0
    return made


def infers(tally, folder, name, flags):
    path = folder / "infer.onnx"
    outcome = execute([DLC, "new", name, *flags, "--for-inference", "-o", path])
    if outcome.code:
        tally.fail(f"{name} is written", outcome.message())
        return None
    onnx.checker.check_model(onnx.load(path), full_check=True)
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    inputs = feed(session, np.random.default_rng(7))
    wanted = session.run(None, inputs)[0]
    np.savez(folder / "in.npz", **inputs)
    for command in ([DLC, "compile", path, "-o", folder / "infer.dlc"],
                    [DLC, "run", folder / "infer.dlc", "--inputs", folder / "in.npz", "--outputs", folder / "out.npz"]):
        outcome = execute(command)
        if outcome.code:
            tally.fail(f"{name} runs", outcome.message())
            return None
    got = np.load(folder / "out.npz")["logits"]
    gap = np.abs(got - wanted).max() / np.abs(wanted).max()
    tally.check(f"{name} infers as onnxruntime does", gap <= TOLERANCE, f"relative difference {gap:.1e}")
    return inputs, wanted.shape


def learns(tally, folder, name, flags, inputs, shape):
    path, log = folder / "model.onnx", folder / "log.json"
    outcome = execute([DLC, "new", name, *flags, "-o", path])
    if outcome.code == 0:
        targets = np.random.default_rng(8).integers(0, shape[-1], shape[:-1])
        repeated = {key: np.repeat(value[None], STEPS, 0) for key, value in {**inputs, "y": targets}.items()}
        np.savez(folder / "batches.npz", **repeated)
        outcome = execute([DLC, "train", path, "--batches", folder / "batches.npz", "--loss", "cross-entropy",
                           "--optimizer", "adam", "--lr", "3e-3", "--steps", STEPS, "--log", log], timeout_s=180)
    if outcome.code:
        tally.fail(f"{name} learns", outcome.message())
        return
    losses = json.loads(log.read_text())["loss"]
    tally.check(f"{name} learns", losses[-1] < 0.6 * losses[0], f"loss {losses[0]:.3f} to {losses[-1]:.3f}")


def main():
    need_dlc()
    tally = Tally(quiet="-v" not in sys.argv)
    for name, flags in MODELS.items():
        with tempfile.TemporaryDirectory() as scratch:
            folder = pathlib.Path(scratch)
            found = infers(tally, folder, name, flags)
            if found:
                learns(tally, folder, name, flags, *found)
    listed = re.findall(r"^  ([a-z0-9-]+) ", execute([DLC, "new", "--help"]).stdout.split("Subcommands:")[1].split("Example:")[0], re.M)
    tally.check("every model is tested", sorted(listed) == sorted(MODELS), f"dlc new lists {listed}")
    outcome = execute([DLC, "new", "gpt", "--width", 10, "-o", "unwritten.onnx"])
    tally.check("sizes that do not fit are refused", outcome.code == 2 and "cannot be divided into 8 heads" in outcome.stderr
                and not pathlib.Path("unwritten.onnx").exists(), outcome.message())
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
