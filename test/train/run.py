"""Training against PyTorch: the losses of every step, the norms of all parameters at the
end; gradient accumulation; the same bits for any number of threads and across a resume."""
import argparse
import json
import os
import pathlib
import random
import signal
import struct
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import digits  # noqa: E402
import formulas  # noqa: E402
import numpy as np  # noqa: E402
import onnx  # noqa: E402
import onnxruntime  # noqa: E402
from capi import Model  # noqa: E402
from harness import DLC, Tally, execute, lacking, need_dlc  # noqa: E402

PARITY = HERE.parent / "parity"
FLAGS = {"sgd": ["--optimizer", "sgd", "--lr", "0.05"],
         "sgd_momentum": ["--optimizer", "sgd", "--lr", "0.05", "--momentum", "0.9", "--weight-decay", "1e-4"],
         "adam": ["--optimizer", "adam", "--lr", "1e-3"],
         "adamw": ["--optimizer", "adamw", "--lr", "1e-3", "--weight-decay", "0.01"]}
DTYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64}
MODELS = ("simplecnn", "rnn", "lstm", "gru", "encoder")
# The simulator reserves twice the addresses of its memory.
SIMULATOR = {"DLC_CUDASIM_MEMORY_MB": "1024"}
DEVICE_ERROR = 6
LOSS_TOLERANCE, NORM_TOLERANCE = 2e-6, 1e-5
# Softmax does not change when the bias of the keys adds the same to a whole row: the gradient
# of that bias is 0 but for rounding errors, and Adam gives each of them the size of a step.
NO_GRADIENT, NO_GRADIENT_TOLERANCE = {"a.0.k.bias", "a.1.k.bias"}, 1e-3


def read_safetensors(path):
    data = path.read_bytes()
    size = struct.unpack("<Q", data[:8])[0]
    header = json.loads(data[8:8 + size])
    body = data[8 + size:]
    metadata = header.pop("__metadata__", {})
    arrays = {name: np.frombuffer(body[e["data_offsets"][0]:e["data_offsets"][1]], DTYPES[e["dtype"]])
              .reshape(e["shape"]) for name, e in header.items()}
    return arrays, metadata


class Checks:
    def __init__(self, scratch, tally, device="cpu"):
        self.scratch, self.tally, self.device = scratch, tally, device

    def train(self, model, *flags, timeout_s=180, model_path=None, batches=None, loss="cross-entropy", env=None):
        """Runs `dlc train`; returns how it ended, the log and the saved arrays."""
        log, save = self.scratch / "log.json", self.scratch / "out.safetensors"
        for path in (log, save):
            path.unlink(missing_ok=True)
        folder = PARITY / model
        outcome = execute([DLC, "train", model_path or folder / "model.onnx", "--batches",
                           batches or folder / "batches.npz", "--loss",
                           loss, "--log", log, "--save", save, "--device", self.device, *flags],
                          timeout_s=timeout_s, env=os.environ | SIMULATOR | (env or {}))
        if outcome.code == 0 and "cudasim" in outcome.stderr:  # a finding of the simulated device
            outcome.code, outcome.stdout = DEVICE_ERROR, ""
        if outcome.code != 0:
            return outcome, None, None
        return outcome, json.loads(log.read_text()), read_safetensors(save)[0]

    def compare(self, name, outcome, log, arrays, losses, norms, gap):
        if outcome.code != 0:
            return self.tally.fail(name, f"{outcome.how()}: {outcome.message()}")
        got, want = np.array(log["loss"]), np.array(losses)
        if got.shape != want.shape:
            return self.tally.fail(name, f"{len(got)} losses, expected {len(want)}")
        allowed = np.maximum(LOSS_TOLERANCE * np.abs(want), 4 * gap)
        worst = np.argmax(np.abs(got - want) / allowed)
        if not np.all(np.abs(got - want) <= allowed):
            return self.tally.fail(name, f"step {worst}: loss {got[worst]!r}, expected {want[worst]!r} +- {allowed[worst]:.2g}")
        for parameter, norm in norms.items():
            mine = np.linalg.norm(arrays[parameter].astype(np.float64))
            tolerance = NO_GRADIENT_TOLERANCE if parameter in NO_GRADIENT else NORM_TOLERANCE
            if not abs(mine - norm) <= tolerance * max(norm, 1):
                return self.tally.fail(name, f"norm of {parameter} is {mine!r}, expected {norm!r}")
        self.tally.ok(name, f"{abs(got - want)[worst] / allowed[worst]:.2f} of what is allowed")

    def parity(self, model, optimizers=FLAGS):
        expected = json.loads((PARITY / model / "expected.json").read_text())
        for optimizer in optimizers:
            values = expected["optimizers"][optimizer]
            result = self.train(model, *FLAGS[optimizer], "--steps", str(expected["steps"]))
            self.compare(f"{model} {optimizer}", *result, values["loss_f64"], values["param_norms_f64"],
                         values["max_f32_f64_gap"])
        values = expected["accumulate_4_sgd"]
        result = self.train(model, *FLAGS["sgd"], "--accumulate", "4")
        self.compare(f"{model} accumulate_4_sgd", *result, values["loss_f64"], values["param_norms_f64"],
                     expected["optimizers"]["sgd"]["max_f32_f64_gap"])

    def same(self, name, first, second):
        different = [key for key in first if first[key].tobytes() != second[key].tobytes()]
        if different:
            return self.tally.fail(name, f"{len(different)} tensors differ, for instance {different[0]}")
        self.tally.ok(name)

    def threads(self, model):
        results = [self.train(model, *FLAGS["adam"], "--threads", str(n)) for n in (1, 2, 4)]
        for (outcome, log, arrays), n in zip(results[1:], (2, 4)):
            name = f"{model} with {n} threads"
            if outcome.code != 0:
                self.tally.fail(name, outcome.message())
            elif log["loss"] != results[0][1]["loss"]:
                self.tally.fail(name, "losses differ from those with one thread")
            else:
                self.same(name, results[0][2], arrays)

    def schedules(self, model):
        """The simulated device runs warps, blocks and streams in an order drawn from a seed."""
        results = [self.train(model, *FLAGS["adam"], env={"DLC_CUDASIM_SEED": seed}) for seed in ("0", "1", "2")]
        for (outcome, log, arrays), seed in zip(results[1:], (1, 2)):
            name = f"{model} in order {seed} of the device"
            if outcome.code != 0:
                self.tally.fail(name, outcome.message())
            elif log["loss"] != results[0][1]["loss"]:
                self.tally.fail(name, "losses differ from those in the usual order")
            else:
                self.same(name, results[0][2], arrays)

    def resume(self, model):
        """Half a run, then the rest: the bits of the whole."""
        _, log, whole = self.train(model, *FLAGS["adam"])
        self.train(model, *FLAGS["adam"], "--schedule", "constant", "--steps", "7")
        half = self.scratch / "half.safetensors"
        (self.scratch / "out.safetensors").rename(half)
        outcome, rest, arrays = self.train(model, *FLAGS["adam"], "--resume", half)
        name = f"{model} resumed"
        if outcome.code != 0:
            return self.tally.fail(name, outcome.message())
        if rest["first_step"] != 7 or rest["loss"] != log["loss"][7:]:
            return self.tally.fail(name, f"other losses: {rest['loss'][:2]} from step {rest['first_step']}")
        self.same(name, whole, arrays)

    def own_loop(self, model):
        """The C API, step by step, against `dlc train`; then inference with what it learnt."""
        name = f"{model} through the C API"
        artifact = self.scratch / "train.dlc"
        made = execute([DLC, "compile", PARITY / model / "model.onnx", "--train", "--loss", "cross-entropy",
                        "--optimizer", "adam", "-o", artifact], timeout_s=120)
        if made.code != 0:
            return self.tally.fail(name, made.message())
        outcome, log, arrays = self.train(artifact.name, *FLAGS["adam"], "--threads", "2", model_path=artifact,
                                          batches=PARITY / model / "batches.npz")
        if outcome.code != 0:
            return self.tally.fail(name, outcome.message())
        infer = Model(artifact, threads=2)
        step, evaluate = infer.entry("train_step"), infer.entry("eval")
        with np.load(PARITY / model / "batches.npz") as batches:
            x, y = batches["x"], batches["y"]
        losses = [float(step.run({step.inputs[0]: x[i], "y": y[i], "lr": np.array(1e-3)})["loss"])
                  for i in range(len(x))]
        if losses != log["loss"]:
            return self.tally.fail(name, f"losses {losses[:2]}, dlc train has {log['loss'][:2]}")
        for state, role in infer.states().items():
            if not np.array_equal(infer.read_state(state), arrays[state]):
                return self.tally.fail(name, f"{role} {state} differs from what dlc train saved")
        logits = infer.run({infer.inputs[0]: x[0]})[infer.outputs[0]].astype(np.float64)
        rows = logits.reshape(-1, logits.shape[-1])
        log_sum = np.log(np.exp(rows - rows.max(1, keepdims=True)).sum(1)) + rows.max(1)
        want = np.mean(log_sum - rows[np.arange(len(rows)), y[0].ravel()])
        got = float(evaluate.run({evaluate.inputs[0]: x[0], "y": y[0]})["loss"])
        if abs(got - want) > 1e-5 * want:
            return self.tally.fail(name, f"eval gives {got}, infer's outputs {want}")
        self.tally.ok(name)

    def exported(self, model):
        """The trained model as ONNX gives in onnxruntime what `infer` gives."""
        name = f"{model} exported to ONNX"
        target = self.scratch / "trained.onnx"
        outcome, _, arrays = self.train(model, *FLAGS["adam"], "--export", target)
        if outcome.code != 0:
            return self.tally.fail(name, outcome.message())
        trained = onnx.load(target)
        for initializer in trained.graph.initializer:
            value = onnx.numpy_helper.to_array(initializer)
            if initializer.name in arrays and not np.array_equal(value, arrays[initializer.name]):
                return self.tally.fail(name, f"initializer {initializer.name} is not what was trained")
        with np.load(PARITY / model / "batches.npz") as batches:
            x = batches["x"][0]
        session = onnxruntime.InferenceSession(str(target), providers=["CPUExecutionProvider"])
        want = session.run(None, {session.get_inputs()[0].name: x})[0]
        artifact = self.scratch / "trained.dlc"
        made = execute([DLC, "compile", target, "-o", artifact], timeout_s=120)
        if made.code != 0:
            return self.tally.fail(name, made.message())
        compiled = Model(artifact)
        got = compiled.run({compiled.inputs[0]: x})[compiled.outputs[0]]
        if not np.allclose(got, want, rtol=1e-4, atol=1e-5):
            return self.tally.fail(name, f"outputs differ from onnxruntime's by {np.abs(got - want).max()}")
        self.tally.ok(name)

    def formula(self, name, loss, optimizer, *flags, window=1, clip=lambda g: g):
        """A linear model in f64 against numpy."""
        loss_flags, targets, loss_function = formulas.LOSSES[loss]
        optimizer_flags, step = formulas.OPTIMIZERS[optimizer]
        x, y = formulas.batches(targets)
        np.savez(self.scratch / "linear.npz", x=x, y=y)
        onnx.save(formulas.model()[0], self.scratch / "linear.onnx")
        outcome, log, arrays = self.train("linear", "--optimizer", optimizer.split()[0], "--lr", "0.1", *loss_flags,
                                          *optimizer_flags, *flags, model_path=self.scratch / "linear.onnx",
                                          batches=self.scratch / "linear.npz", loss=loss.split()[0])
        if outcome.code != 0:
            return self.tally.fail(name, f"{outcome.how()}: {outcome.message()}")
        losses, w, b = formulas.train(loss_function, step, x, y, 0.1, window, clip)
        for what, got, want in (("losses", log["loss"], losses), ("w", arrays["w"], w), ("b", arrays["b"], b)):
            if not np.allclose(got, want, rtol=1e-10, atol=1e-12):
                return self.tally.fail(name, f"{what}: {np.ravel(got)[:3]}, expected {np.ravel(want)[:3]}")
        self.tally.ok(name)

    def dropout(self):
        """z = drop(x w) with x = 1: the loss says how much was kept, w whether backward
        dropped the same; validation drops nothing."""
        make, ratio, rate, steps = onnx.helper, 0.25, 0.1, 4
        constants = [onnx.numpy_helper.from_array(np.array(v, t), n) for n, v, t in
                     (("w", [1], np.float64), ("ratio", ratio, np.float32), ("training", True, np.bool_))]
        graph = make.make_graph(
            [make.make_node("Mul", ["x", "w"], ["p"]), make.make_node("Dropout", ["p", "ratio", "training"], ["z"])],
            "dropout", [make.make_tensor_value_info("x", onnx.TensorProto.DOUBLE, ["N", 100])],
            [make.make_tensor_value_info("z", onnx.TensorProto.DOUBLE, ["N", 100])], constants)
        path, data = self.scratch / "dropout.onnx", self.scratch / "ones.npz"
        onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 17)]), path)
        np.savez(data, x=np.ones((steps, 64, 100)), y=np.zeros((steps, 64, 100)))
        logs = []
        for seed in ("1", "1", "2"):
            outcome, log, arrays = self.train("dropout", "--optimizer", "sgd", "--lr", str(rate), "--seed", seed,
                                              "--validation", data, model_path=path, batches=data, loss="l1")
            if outcome.code != 0:
                return self.tally.fail("dropout", f"{outcome.how()}: {outcome.message()}")
            logs.append(log)
        w, kept = 1.0, []
        for loss in logs[2]["loss"]:
            kept.append(loss / w)
            w -= rate * loss / w
        if logs[0]["loss"] != logs[1]["loss"] or logs[0]["loss"] == logs[2]["loss"]:
            return self.tally.fail("dropout", "does not follow the seed")
        if len(set(kept)) != steps or not np.allclose(kept, 1, atol=0.05):
            return self.tally.fail("dropout", f"keeps {kept}, scaled; expected four numbers near 1")
        if abs(arrays["w"][0] - w) > 1e-9 or abs(logs[2]["validation"][-1]["loss"] - w) > 1e-9:
            return self.tally.fail("dropout", f"w is {arrays['w'][0]}, expected {w}; {logs[2]['validation']}")
        self.tally.ok("dropout")

    def learns(self, name, made, least, *flags, epochs):
        """Digits: accuracy on the test images; then the exported model says the same."""
        net, shape = made
        path, data, test = (self.scratch / f for f in ("digits.onnx", "digits.npz", "test.npz"))
        net.save(path)
        (x, y), (test_x, test_y) = digits.batches(epochs, shape)
        np.savez(data, x=x, y=y)
        np.savez(test, x=test_x, y=test_y)
        exported = self.scratch / "digits-trained.onnx"
        outcome, log, _ = self.train("digits", "--optimizer", "adam", "--validation", test, "--export", exported, *flags,
                                     model_path=path, batches=data)
        if outcome.code != 0:
            return self.tally.fail(name, f"{outcome.how()}: {outcome.message()}")
        accuracy = log["validation"][-1]["accuracy"]
        if accuracy < least:
            return self.tally.fail(name, f"accuracy {accuracy:.4f}, expected {least}")
        artifact = self.scratch / "digits.dlc"
        made = execute([DLC, "compile", exported, "-o", artifact], timeout_s=120)
        if made.code != 0:
            return self.tally.fail(name, made.message())
        model = Model(artifact)
        guesses = [model.run({"x": batch})[model.outputs[0]].argmax(-1) for batch in test_x]
        if np.mean(np.array(guesses) == test_y) != accuracy:
            return self.tally.fail(name, f"exported it reaches {np.mean(np.array(guesses) == test_y)}, trained {accuracy}")
        self.tally.ok(name, f"accuracy {accuracy:.4f} after {log['seconds']:.1f} s")

    def groups(self):
        """Rates and decays of their own, and averages, against PyTorch's formulas; then the export."""
        x, y = formulas.batches("numbers")
        model, data, exported = (self.scratch / f for f in ("linear.onnx", "linear.npz", "average.onnx"))
        np.savez(data, x=x, y=y)
        onnx.save(formulas.model()[0], model)
        outcome, _, arrays = self.train("linear", "--optimizer", "sgd", "--lr", "0.1", "--weight-decay", "0.2", "--group",
                                        "b*:lr=0.5,weight-decay=0", "--average", "0.75", "--export", exported,
                                        model_path=model, batches=data, loss="mse")
        if outcome.code != 0:
            return self.tally.fail("groups and averages", outcome.message())
        start = {i.name: onnx.numpy_helper.to_array(i) for i in formulas.model()[0].graph.initializer}
        w, b = start["w"], start["b"]
        averages = [w, b]
        for rows, targets in zip(x, y):
            _, dz = formulas.mse(rows @ w + b, targets)
            w, b = w - 0.1 * (rows.T @ dz + 0.2 * w), b - 0.05 * dz.sum(0)
            averages = [a + 0.25 * (now - a) for a, now in zip(averages, (w, b))]
        saved = {i.name: onnx.numpy_helper.to_array(i) for i in onnx.load(exported).graph.initializer}
        want = {"w": w, "b": b, "w.average": averages[0], "b.average": averages[1]}
        wrong = [name for name, value in want.items() if not np.allclose(arrays[name], value, rtol=1e-10, atol=1e-12)]
        self.tally.check("groups and averages", not wrong, f"{wrong} differ: {[(arrays[n], want[n]) for n in wrong]}")
        self.tally.check("averages are exported", np.allclose(saved["w"], averages[0]) and np.allclose(saved["b"], averages[1]),
                         str(saved))

    def all_formulas(self):
        for loss in formulas.LOSSES:
            self.formula(loss, loss, "sgd")
        for optimizer in formulas.OPTIMIZERS:
            self.formula(optimizer, "mse", optimizer)
        for name, (flags, clip) in formulas.CLIPPING.items():
            self.formula(name, "mse", "sgd", *flags, clip=clip)
        # 6 batches in windows of 4: the last one is not full; some targets are ignored.
        self.formula("accumulation", "cross-entropy ignoring", "adam", "--accumulate", "4", window=4)

    def stopped(self, model):
        """A signal ends the run after its step, and it is saved."""
        save = self.scratch / "stopped.safetensors"
        folder = PARITY / model
        process = subprocess.Popen(
            [DLC, "train", folder / "model.onnx", "--batches", folder / "batches.npz", "--epochs", "100000",
             "--save", save, "--save-every", "20"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        deadline = time.monotonic() + 60
        while not save.exists() and time.monotonic() < deadline and process.poll() is None:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=60)
        name = f"{model} stopped by a signal"
        if process.returncode != 0 or "stopped after step" not in out:
            return self.tally.fail(name, f"exit {process.returncode}: {out.strip()}")
        steps = int(read_safetensors(save)[1]["steps"])
        words = out.split()
        if steps != int(words[words.index("step") + 1]):
            return self.tally.fail(name, f"saved at step {steps}: {out.strip()}")
        self.tally.ok(name)

    def killed(self, model, times=6):
        """kill -9 at moments drawn at random, resuming after each: the bits of a run that
        never stopped, and never a checkpoint that cannot be read."""
        name = f"{model} killed {times} times"
        artifact, save = self.scratch / "killed.dlc", self.scratch / "killed.safetensors"
        made = execute([DLC, "compile", PARITY / model / "model.onnx", "--train", "-o", artifact], timeout_s=120)
        if made.code != 0:
            return self.tally.fail(name, made.message())
        command = [DLC, "train", artifact, "--batches", PARITY / model / "batches.npz", "--epochs", "150",
                   "--save", save, "--save-every", "10", "--threads", "2", "--quiet"]
        draw = random.Random(7)
        for _ in range(times):
            resume = ["--resume", save] if save.exists() else []
            process = subprocess.Popen(command + resume, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
            time.sleep(draw.uniform(0.02, 0.4))
            process.kill()
            _, error = process.communicate()
            if process.returncode not in (0, -signal.SIGKILL):
                return self.tally.fail(name, error.decode().strip())
        resume = ["--resume", save] if save.exists() else []
        outcome = execute(command + resume, timeout_s=120)
        if outcome.code != 0:
            return self.tally.fail(name, outcome.message())
        interrupted = read_safetensors(save)[0]
        save.unlink()
        execute(command, timeout_s=120)
        self.same(name, read_safetensors(save)[0], interrupted)

    def refused(self, name, code, words, *arguments):
        outcome = execute([DLC, "train", *arguments], timeout_s=60)
        text = outcome.stdout + outcome.stderr
        if outcome.code != code or not all(word in text for word in words):
            return self.tally.fail(name, f"{outcome.how()}: {outcome.message()}")
        self.tally.ok(name)

    def mistakes(self):
        rnn = [PARITY / "rnn" / "model.onnx", "--batches", PARITY / "rnn" / "batches.npz"]
        wrong = self.scratch / "wrong.npz"
        np.savez(wrong, x=np.zeros((2, 1, 10, 12), np.float32))
        self.refused("a loss that does not exist", 2, ["--loss", "hinge"], *rnn, "--loss", "hinge")
        self.refused("no targets", 2, ["no array for the input 'y'"], rnn[0], "--batches", wrong)
        self.refused("a device that does not exist", 2, ["there is no device 'tpu'"], *rnn, "--device", "tpu")
        self.refused("a group without settings", 2, ["expected GLOB:lr=0.1"], *rnn, "--group", "w*:rate=3")
        broken = self.scratch / "broken.safetensors"
        broken.write_bytes(struct.pack("<Q", 1 << 60) + b"{}")
        self.refused("a broken checkpoint", 2, ["no safetensors file"], *rnn, "--resume", broken)
        labels = self.scratch / "labels.npz"
        with np.load(rnn[2]) as arrays:
            np.savez(labels, x=arrays["x"], y=arrays["y"] + 5)
        self.refused("a class that does not exist", 2, ["out of range"], rnn[0], "--batches", labels)


def check_cpu(checks):
    checks.threads("simplecnn")
    checks.threads("encoder")
    checks.resume("simplecnn")
    checks.learns("digits by an MLP", digits.mlp(), 0.97, "--lr", "3e-3", "--schedule", "cosine", epochs=30)
    checks.learns("digits by convolutions", digits.convolutional(), 0.985, "--lr", "3e-3", "--schedule",
                  "one-cycle", epochs=15)
    checks.all_formulas()
    checks.groups()
    checks.dropout()
    checks.stopped("rnn")
    checks.killed("rnn")
    checks.own_loop("encoder")
    checks.exported("simplecnn")
    checks.mistakes()


def check_device(checks):
    if checks.device == "cuda-sim":
        checks.schedules("encoder")
    checks.resume("gru")
    checks.all_formulas()
    checks.dropout()
    checks.exported("encoder")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="*", help="only the parity of these")
    parser.add_argument("--device", default="cpu", help="cpu, cuda, cuda-sim")
    parser.add_argument("--optimizers", default=",".join(FLAGS), help="of the parity")
    parser.add_argument("-v", action="store_true", help="print what passes, too")
    args = parser.parse_args()
    need_dlc()
    tally = Tally(quiet=not args.v)
    if args.device != "cpu" and (lack := lacking(PARITY / "rnn/model.onnx", "--target=cuda:sm_80")):
        tally.skip("training on " + args.device, lack)
        return tally.finish()
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch), tally, args.device)
        for model in args.models or MODELS:
            checks.parity(model, args.optimizers.split(","))
        if not args.models:
            check_cpu(checks) if args.device == "cpu" else check_device(checks)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
