"""dlc beside PyTorch, eager and compiled: training steps, in turns in one process, from
the same weights on the same batch, so that noise hits all. Medians, and ratios above 1
where dlc is faster. A network whose losses differ from PyTorch's is never timed. Needs
the packages torch and onnxscript, which the tests do not.

usage: training.py [--networks PART,...] [--threads 2] [--seconds 10] [--compiled] [--json FILE]
"""
import argparse
import json
import pathlib
import statistics
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "test"))

import capi  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from harness import compile_model, need_dlc  # noqa: E402
from torch import nn  # noqa: E402

CHECKED_STEPS, TOLERANCE, TURN_SECONDS = 4, 1e-4, 0.5


class SimpleCNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(3, 32, 3, padding=1), nn.BatchNorm2d(32)
        self.c2, self.b2 = nn.Conv2d(32, 64, 3, padding=1), nn.BatchNorm2d(64)
        self.f1, self.f2 = nn.Linear(64 * 49, 128), nn.Linear(128, 10)

    def forward(self, x):
        x = nn.functional.max_pool2d(torch.relu(self.b1(self.c1(x))), 2)
        x = nn.functional.max_pool2d(torch.relu(self.b2(self.c2(x))), 2)
        return self.f2(torch.relu(self.f1(x.flatten(1))))


class Block(nn.Module):
    def __init__(self, inputs, outputs, stride):
        super().__init__()
        self.c1, self.b1 = nn.Conv2d(inputs, outputs, 3, stride, 1, bias=False), nn.BatchNorm2d(outputs)
        self.c2, self.b2 = nn.Conv2d(outputs, outputs, 3, 1, 1, bias=False), nn.BatchNorm2d(outputs)
        self.short = None
        if stride != 1 or inputs != outputs:
            self.short = nn.Sequential(nn.Conv2d(inputs, outputs, 1, stride, bias=False), nn.BatchNorm2d(outputs))

    def forward(self, x):
        y = self.b2(self.c2(torch.relu(self.b1(self.c1(x)))))
        return torch.relu(y + (self.short(x) if self.short else x))


class ResNet18(nn.Module):
    """For images of 32 x 32: no pooling in front."""

    def __init__(self):
        super().__init__()
        self.stem, self.norm = nn.Conv2d(3, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64)
        widths = [64, 64, 128, 256, 512]
        self.blocks = nn.Sequential(*(Block(widths[i] if j == 0 else widths[i + 1], widths[i + 1], 2 if i > 0 and j == 0 else 1)
                                      for i in range(4) for j in range(2)))
        self.last = nn.Linear(512, 10)

    def forward(self, x):
        x = self.blocks(torch.relu(self.norm(self.stem(x))))
        return self.last(x.mean((2, 3)))


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.q, self.k, self.v, self.o = (nn.Linear(width, width) for _ in range(4))
        self.heads = heads

    def forward(self, x):
        batch, length, width = x.shape
        q, k, v = (f(x).view(batch, length, self.heads, width // self.heads).transpose(1, 2) for f in (self.q, self.k, self.v))
        scores = torch.softmax(q @ k.transpose(2, 3) * (width // self.heads) ** -0.5, -1)
        return self.o((scores @ v).transpose(1, 2).reshape(batch, length, width))


class Layer(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.a, self.n1, self.n2 = Attention(width, heads), nn.LayerNorm(width), nn.LayerNorm(width)
        self.f1, self.f2 = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        x = self.n1(x + self.a(x))
        return self.n2(x + self.f2(nn.functional.gelu(self.f1(x))))


class Transformer(nn.Module):
    def __init__(self, vocabulary=512, width=256, layers=2, length=128):
        super().__init__()
        self.e, self.p = nn.Embedding(vocabulary, width), nn.Parameter(torch.randn(length, width) * 0.02)
        self.layers = nn.Sequential(*(Layer(width, 8) for _ in range(layers)))
        self.last = nn.Linear(width, vocabulary)

    def forward(self, x):
        return self.last(self.layers(self.e(x) + self.p))


class Lstm(nn.Module):
    def __init__(self):
        super().__init__()
        self.r, self.last = nn.LSTM(64, 256, batch_first=True), nn.Linear(256, 10)

    def forward(self, x):
        return self.last(self.r(x)[0][:, -1])


def images(batch, size):
    return torch.randn(batch, 3, size, size), torch.randint(0, 10, (batch,))


# Model, batch, optimizer, its flags.
ADAM, SGD = (lambda p: torch.optim.Adam(p, 1e-3), ["adam"], 1e-3), (lambda p: torch.optim.SGD(p, 0.01), ["sgd"], 0.01)
NETWORKS = {
    "simplecnn": (SimpleCNN, lambda: images(64, 28), ADAM),
    "resnet18_32": (ResNet18, lambda: images(32, 32), SGD),
    "transformer": (Transformer, lambda: (torch.randint(0, 512, (16, 128)), torch.randint(0, 512, (16, 128))), ADAM),
    "lstm": (Lstm, lambda: (torch.randn(32, 64, 64), torch.randint(0, 10, (32,))), ADAM)}


def export(model, x, path):
    torch.onnx.export(model, (x,), path, input_names=["x"], output_names=["logits"], opset_version=17,
                      training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False, dynamo=False)


def torch_step(model, optimizer, x, y):
    optimizer.zero_grad(set_to_none=True)
    logits = model(x)
    loss = nn.functional.cross_entropy(logits.reshape(-1, logits.shape[-1]), y.reshape(-1))
    loss.backward()
    optimizer.step()
    return loss


def milliseconds(function):
    start = time.perf_counter()
    function()
    return (time.perf_counter() - start) * 1e3


def take_turns(steps, seconds):
    """The median of each. Turns of half a second: threads of another library that still
    wait for work at the end of its turn must not cost the next one a core."""
    for step in steps.values():
        step()
    times = {name: [] for name in steps}
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(next(iter(times.values()))) < 5:
        for name, step in steps.items():
            step()
            turn = time.perf_counter() + TURN_SECONDS
            while time.perf_counter() < turn:
                times[name].append(milliseconds(step))
    return {name: statistics.median(t) for name, t in times.items()}


def measure(name, args, scratch):
    make_model, make_batch, (make_optimizer, flags, rate) = NETWORKS[name]
    torch.manual_seed(0)
    model, (x, y) = make_model(), make_batch()
    model.train()
    weights = {key: value.clone() for key, value in model.state_dict().items()}
    export(model, x, scratch / "m.onnx")
    model.load_state_dict(weights)
    artifact = scratch / "m.dlc"
    start = time.perf_counter()
    compiled = compile_model(scratch / "m.onnx", artifact, "--train", "--optimizer", *flags, timeout_s=300, memory_mib=8192)
    if compiled.code:
        return {"network": name, "refused": compiled.message()}
    entry = capi.Model(artifact, args.threads).entry("train_step")
    feeds = {"x": x.numpy(), "y": y.numpy(), "lr": np.array(rate)}
    ours = [float(entry.run(feeds)["loss"])]
    first = {"dlc": time.perf_counter() - start}
    ours += [float(entry.run(feeds)["loss"]) for _ in range(CHECKED_STEPS - 1)]
    optimizer = make_optimizer(model.parameters())
    theirs = [float(torch_step(model, optimizer, x, y).detach()) for _ in range(CHECKED_STEPS)]
    if not np.allclose(ours, theirs, rtol=TOLERANCE):
        return {"network": name, "refused": f"losses {ours}, PyTorch has {theirs}"}
    steps = {"dlc": lambda: entry.run(feeds), "eager": lambda: torch_step(model, optimizer, x, y)}
    if args.compiled:
        start = time.perf_counter()
        whole = torch.compile(make_model().train())
        other = make_optimizer(whole.parameters())
        torch_step(whole, other, x, y)
        first["compile"] = time.perf_counter() - start
        steps["compile"] = lambda: torch_step(whole, other, x, y)
    times = take_turns(steps, args.seconds)
    row = {"network": name, "threads": args.threads, "losses_differ_by": max(abs(a / b - 1) for a, b in zip(ours, theirs))}
    row |= {f"{who}_ms": round(t, 2) for who, t in times.items()} | {f"{who}_first_s": round(t, 2) for who, t in first.items()}
    return row | {f"over_{who}": round(t / times["dlc"], 3) for who, t in times.items() if who != "dlc"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="", help="only names that contain one of these, comma-separated")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=10, help="time per network")
    parser.add_argument("--compiled", action="store_true", help="torch.compile, too")
    parser.add_argument("--json", type=pathlib.Path)
    args = parser.parse_args()
    need_dlc()
    torch.set_num_threads(args.threads)
    rows = []
    for name in NETWORKS:
        if not any(part in name for part in args.networks.split(",")):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            rows.append(measure(name, args, pathlib.Path(scratch)))
        print(json.dumps(rows[-1]), flush=True)
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any("refused" in row for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
