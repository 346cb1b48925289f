"""Losses, optimizers and clipping in numpy, double precision, as PyTorch defines them, for
a linear model; `dlc train` must follow them step by step."""
import numpy as np
from onnx import TensorProto, helper, numpy_helper

STEPS, BATCH, INPUTS, CLASSES = 6, 5, 4, 3


def softmax(z):
    e = np.exp(z - z.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def one_hot(y):
    return np.eye(CLASSES)[y]


def cross_entropy(z, target, weight, count):
    """Targets are distributions; rows of weight 0 do not count."""
    log_prob = np.log(softmax(z))
    loss = -(target * log_prob).sum(-1) * weight
    return loss.sum() / count, (softmax(z) * target.sum(-1, keepdims=True) - target) * weight[:, None] / count


def classes(z, y, smoothing=0.0, ignore=-100):
    kept = (y != ignore).astype(float)
    target = (1 - smoothing) * one_hot(np.where(y == ignore, 0, y)) + smoothing / CLASSES
    return cross_entropy(z, target, kept, kept.sum())


def probabilities(z, y):
    return cross_entropy(z, y, np.ones(len(z)), len(z))


def nll(z, y):
    return -(one_hot(y) * z).sum() / len(z), -one_hot(y) / len(z)


def bce(z, y):
    loss = np.maximum(z, 0) - z * y + np.log1p(np.exp(-np.abs(z)))
    return loss.mean(), (1 / (1 + np.exp(-z)) - y) / z.size


def mse(z, y):
    return ((z - y) ** 2).mean(), 2 * (z - y) / z.size


def l1(z, y):
    return np.abs(z - y).mean(), np.sign(z - y) / z.size


def huber(z, y, delta=1.0):
    d = z - y
    near = np.abs(d) <= delta
    return np.where(near, d * d / 2, delta * (np.abs(d) - delta / 2)).mean(), np.where(near, d, delta * np.sign(d)) / z.size


def kl(z, y):
    return np.where(y > 0, y * (np.log(np.where(y > 0, y, 1)) - z), 0).mean(), -y / z.size


# name: flags, what targets are, loss and its gradient
LOSSES = {
    "cross-entropy": ([], "classes", classes),
    "cross-entropy smoothed": (["--label-smoothing", "0.1"], "classes", lambda z, y: classes(z, y, 0.1)),
    "cross-entropy ignoring": (["--ignore-index", "1"], "classes", lambda z, y: classes(z, y, ignore=1)),
    "cross-entropy of probabilities": ([], "probabilities", probabilities),
    "nll": ([], "classes", nll),
    "bce-with-logits": ([], "probabilities", bce),
    "mse": ([], "numbers", mse),
    "l1": ([], "numbers", l1),
    "huber": (["--huber-delta", "0.5"], "numbers", lambda z, y: huber(z, y, 0.5)),
    "kl": ([], "probabilities", kl),
}


def sgd(momentum=0.0, dampening=0.0, decay=0.0, nesterov=False):
    def step(p, g, s, t, lr):
        g = g + decay * p
        if momentum:
            s["b"] = g if t == 1 else momentum * s["b"] + (1 - dampening) * g
            g = g + momentum * s["b"] if nesterov else s["b"]
        return p - lr * g
    return step


def adam(decay=0.0, decoupled=False, beta1=0.9, beta2=0.999, eps=1e-8):
    def step(p, g, s, t, lr):
        p, g = (p * (1 - lr * decay), g) if decoupled else (p, g + decay * p)
        s["m"] = beta1 * s.get("m", 0) + (1 - beta1) * g
        s["v"] = beta2 * s.get("v", 0) + (1 - beta2) * g * g
        root = np.sqrt(s["v"]) / np.sqrt(1 - beta2 ** t) + eps
        return p - lr / (1 - beta1 ** t) * s["m"] / root
    return step


def rmsprop(alpha=0.99, momentum=0.0, eps=1e-8):
    def step(p, g, s, t, lr):
        s["s"] = alpha * s.get("s", 0) + (1 - alpha) * g * g
        g = g / (np.sqrt(s["s"]) + eps)
        if momentum:
            g = s["b"] = momentum * s.get("b", 0) + g
        return p - lr * g
    return step


def adagrad(decay=0.0, eps=1e-10):
    def step(p, g, s, t, lr):
        s["s"] = s.get("s", 0) + g * g
        return p - lr / (1 + (t - 1) * decay) * g / (np.sqrt(s["s"]) + eps)
    return step


def lion(decay=0.0, beta1=0.9, beta2=0.999):
    def step(p, g, s, t, lr):
        m = s.get("m", 0)
        update = np.sign(beta1 * m + (1 - beta1) * g)
        s["m"] = beta2 * m + (1 - beta2) * g
        return p * (1 - lr * decay) - lr * update
    return step


OPTIMIZERS = {
    "sgd": ([], sgd()),
    "sgd momentum": (["--momentum", "0.9", "--dampening", "0.5", "--weight-decay", "0.1"], sgd(0.9, 0.5, 0.1)),
    "sgd nesterov": (["--momentum", "0.9", "--nesterov"], sgd(0.9, nesterov=True)),
    "adam": (["--weight-decay", "0.1", "--beta1", "0.8", "--beta2", "0.9"], adam(0.1, beta1=0.8, beta2=0.9)),
    "adamw": (["--weight-decay", "0.1", "--eps", "1e-3"], adam(0.1, True, eps=1e-3)),
    "rmsprop": (["--alpha", "0.9", "--momentum", "0.5"], rmsprop(0.9, 0.5)),
    "adagrad": (["--lr-decay", "0.25"], adagrad(0.25)),
    "lion": (["--weight-decay", "0.1", "--beta2", "0.99"], lion(0.1, beta2=0.99)),
}


def clip_norm(grads, most):
    total = np.sqrt(sum((g * g).sum() for g in grads))
    return [g * min(1, most / (total + 1e-6)) for g in grads]


def clip_value(grads, most):
    return [np.clip(g, -most, most) for g in grads]


CLIPPING = {"--clip-norm": (["--clip-norm", "0.05"], lambda g: clip_norm(g, 0.05)),
            "--clip-value": (["--clip-value", "0.02"], lambda g: clip_value(g, 0.02))}


def model():
    """z = x w + b in f64."""
    rng = np.random.default_rng(1)
    w, b = rng.normal(size=(INPUTS, CLASSES)), rng.normal(size=CLASSES)
    node = helper.make_node("Gemm", ["x", "w", "b"], ["z"])
    graph = helper.make_graph(
        [node], "linear", [helper.make_tensor_value_info("x", TensorProto.DOUBLE, ["N", INPUTS])],
        [helper.make_tensor_value_info("z", TensorProto.DOUBLE, ["N", CLASSES])],
        [numpy_helper.from_array(w, "w"), numpy_helper.from_array(b, "b")])
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), w, b


def batches(kind):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(STEPS, BATCH, INPUTS))
    if kind == "classes":
        y = rng.integers(0, CLASSES, size=(STEPS, BATCH))
        y[:, 0] = 0 # so that a batch never ignores all
    elif kind == "probabilities":
        y = softmax(rng.normal(size=(STEPS, BATCH, CLASSES)))
    else:
        y = rng.normal(size=(STEPS, BATCH, CLASSES))
    return x, y


def train(loss, optimizer, x, y, lr, window=1, clip=lambda g: g):
    """Losses and parameters; updates after every `window` batches, as if they were one."""
    _, w, b = model()
    states, losses, t = ({}, {}), [], 0
    for i in range(0, len(x), window):
        xs, ys = np.concatenate(x[i:i + window]), np.concatenate(y[i:i + window])
        losses += [loss(xb @ w + b, yb)[0] for xb, yb in zip(x[i:i + window], y[i:i + window])]
        dz = loss(xs @ w + b, ys)[1]
        t += 1
        grads = clip([xs.T @ dz, dz.sum(0)])
        w, b = (optimizer(p, g, s, t, lr) for p, g, s in zip((w, b), grads, states))
    return np.array(losses), w, b
