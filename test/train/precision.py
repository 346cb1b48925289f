"""Training in bf16 and f16: as accurate as in f32, and f16's loss scale does what it should."""
import json
import os
import pathlib
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import digits  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
from harness import DLC, Tally, execute, lacking, need_dlc  # noqa: E402
from onnx import TensorProto, helper, numpy_helper  # noqa: E402
from run import SIMULATOR, read_safetensors  # noqa: E402

POINTS, LENGTH, VOCABULARY = 0.005, 12, 20
FIRST_SCALE, UPDATES_TO_GROW = 65536, 2000


class Checks:
    def __init__(self, scratch, tally):
        self.scratch, self.tally = scratch, tally

    def train(self, model, *flags, timeout_s=180):
        log, save = self.scratch / "log.json", self.scratch / "out.safetensors"
        outcome = execute([DLC, "train", model, "--quiet", "--log", log, "--save", save, *flags], timeout_s=timeout_s,
                          env=os.environ | SIMULATOR)
        if outcome.code:
            raise RuntimeError(outcome.message())
        return json.loads(log.read_text()), read_safetensors(save)[0]

    def accuracies(self, name, model, *flags):
        reached = {p: self.train(model, *flags, "--precision", p)[0]["validation"][-1]["accuracy"] for p in ("f32", "bf16", "f16")}
        for precision in ("bf16", "f16"):
            self.tally.check(f"{name} in {precision}", reached[precision] >= reached["f32"] - POINTS, str(reached))
        self.tally.check(f"{name} learns", reached["f32"] > 0.95, str(reached))

    def digits(self):
        path, data, test = (self.scratch / f for f in ("conv.onnx", "digits.npz", "digits-test.npz"))
        digits.convolutional()[0].save(path)
        x, y = digits.load()
        x = x.reshape(-1, 1, 8, 8)
        np.savez(data, x=x[:digits.TRAIN], y=y[:digits.TRAIN])
        np.savez(test, x=x[digits.TRAIN:], y=y[digits.TRAIN:])
        self.accuracies("digits by convolutions", path, "--data", data, "--validation", test, "--batch-size", "50", "--epochs",
                        "10", "--lr", "3e-3", "--schedule", "one-cycle")

    def encoder(self):
        """Every token's class is the token at the mirrored place."""
        path, data, test = (self.scratch / f for f in ("encoder.onnx", "tokens.npz", "tokens-test.npz"))
        made = execute([DLC, "new", "encoder", "--width", "64", "--length", LENGTH, "--vocabulary", VOCABULARY, "--classes",
                        VOCABULARY, "--dropout", "0", "-o", path])
        if made.code:
            raise RuntimeError(made.message())
        for file, count, seed in ((data, 2000, 0), (test, 400, 1)):
            x = np.random.default_rng(seed).integers(1, VOCABULARY, (count, LENGTH))
            np.savez(file, x=x, y=x[:, ::-1])
        self.accuracies("mirrored tokens by an encoder", path, "--data", data, "--validation", test, "--batch-size", "50",
                        "--epochs", "30", "--lr", "2e-3", "--schedule", "one-cycle")

    def linear(self, size):
        """y = x w for inputs of that size; f16 ends at 65504."""
        graph = helper.make_graph(
            [helper.make_node("MatMul", ["x", "w"], ["z"])], "linear",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 4])],
            [helper.make_tensor_value_info("z", TensorProto.FLOAT, ["N", 2])],
            [numpy_helper.from_array(np.ones((4, 2), np.float32), "w")])
        path, data = self.scratch / "linear.onnx", self.scratch / "linear.npz"
        onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), path)
        np.savez(data, x=np.full((3, 8, 4), size, np.float32), y=np.zeros((3, 8, 2), np.float32))
        return [path, "--batches", data, "--loss", "mse", "--precision", "f16"]

    def scale(self):
        _, states = self.train(*self.linear(1e5), "--steps", "3")
        halved = float(states["loss.scale"]) == FIRST_SCALE / 8
        kept = np.array_equal(states["w"], np.ones((4, 2))) and not states["w.exp_avg"].any() and int(states["step.counter"]) == 0
        self.tally.check("an overflow halves the scale", halved, f"it is {states['loss.scale']}")
        self.tally.check("an overflow leaves everything as it was", kept, str(states))
        _, states = self.train(*self.linear(0.1), "--steps", str(UPDATES_TO_GROW + 1))
        grown = float(states["loss.scale"]) == FIRST_SCALE * 2 and int(states["step.counter"]) == UPDATES_TO_GROW + 1
        self.tally.check("the scale grows again", grown, f"{states['loss.scale']} after {states['step.counter']} updates")
        _, states = self.train(*self.linear(1e5), "--steps", "3", "--accumulate", "3")
        good = float(states["loss.scale"]) == FIRST_SCALE / 2 and np.array_equal(states["w"], np.ones((4, 2)))
        self.tally.check("an overflow in a window", good and not states["w.gradient"].any(), str(states))

    def small_gradients(self):
        """Gradients of 4e-8 are 0 in f16 unless the loss is scaled; sgd shows their size."""
        _, states = self.train(*self.linear(1e-4), "--optimizer", "sgd", "--steps", "1", "--lr", "1e6")
        moved = 1 - states["w"]
        want = 1e6 * 4e-4 * 1e-4  # rate * z * x
        self.tally.check("small gradients", np.allclose(moved, want, rtol=1e-2), f"moved by {moved.ravel()}, expected {want}")

    def device(self):
        """The same in tensor cores' arithmetic."""
        path = HERE.parent / "parity/encoder"
        if lack := lacking(path / "model.onnx", "--target=cuda:sm_80"):
            return self.tally.skip("bf16 and f16 on cuda-sim", lack)
        for precision in ("bf16", "f16"):
            flags = [path / "model.onnx", "--batches", path / "batches.npz", "--precision", precision]
            losses = {d: self.train(*flags, "--device", d)[0]["loss"] for d in ("cpu", "cuda-sim")}
            self.tally.check(f"{precision} on cuda-sim", np.allclose(*losses.values(), rtol=2e-3), str(losses)[:300])


def main():
    need_dlc()
    tally = Tally(quiet="-v" not in sys.argv)
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch), tally)
        for name in [a for a in sys.argv[1:] if not a.startswith("-")] or ("digits", "encoder", "scale", "small_gradients", "device"):
            try:
                getattr(checks, name)()
            except RuntimeError as error:
                tally.fail(name, str(error))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
