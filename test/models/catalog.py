"""Every network that the end-to-end tests and the benchmarks use: where its file is
and at which shapes it is run. Two shapes where the batch is dynamic."""
import pathlib
from dataclasses import dataclass

import make_models
import make_transformers
from harness import CACHE, ROOT
from reference import site_packages


@dataclass
class Network:
    name: str
    path: pathlib.Path
    shapes: list  # one dictionary (input name -> shape) per run; empty: as the model says
    high: int = 2  # integer inputs lie below this


def images(name, path, tensor, *shapes):
    return Network(name, path, [{tensor: list(shape)} for shape in shapes])


def packaged():
    """Trained networks that come with PyPI packages."""
    site = site_packages()
    magika = next((site / "magika/models").iterdir()) / "model.onnx"
    ocr = site / "rapidocr_onnxruntime/models"
    return [
        Network("magika", magika, [{"bytes": [1, 2048]}, {"bytes": [5, 2048]}], high=257),
        images("rapidocr_det", ocr / "ch_PP-OCRv4_det_infer.onnx", "x", (1, 3, 320, 320), (2, 3, 192, 256)),
        images("rapidocr_cls", ocr / "ch_ppocr_mobile_v2.0_cls_infer.onnx", "x", (1, 3, 48, 192), (3, 3, 48, 192)),
        images("rapidocr_rec", ocr / "ch_PP-OCRv4_rec_infer.onnx", "x", (1, 3, 48, 320), (2, 3, 48, 160)),
        images("nudenet_320n", site / "nudenet/320n.onnx", "images", (1, 3, 320, 320), (2, 3, 320, 320)),
    ]


def light():
    folder = site_packages() / "onnx/backend/test/data/light"
    return [Network(path.stem, path, [{}]) for path in sorted(folder.glob("*.onnx"))]


def parity():
    """Exported in training mode; run here for inference."""
    shapes = {"encoder": [16], "gru": [10, 12], "lstm": [10, 12], "rnn": [10, 12], "simplecnn": [3, 28, 28]}
    return [Network(f"parity_{name}", ROOT / "test/parity" / name / "model.onnx",
                    [{"x": [batch, *rest]} for batch in (1, 8)], high=50)
            for name, rest in shapes.items()]


def full_size(batch="N"):
    """Random weights, real sizes. `batch`: "N" for one artifact at several sizes, or a number."""
    sizes = (1, 2) if batch == "N" else (batch,)
    return [images(f"{name}_{batch}", make_models.path_of(name, batch, CACHE / "models"), "image",
                   *[(size, 3, make_models.SIZE, make_models.SIZE) for size in sizes])
            for name in make_models.NETWORKS]


def transformers(names, length, batch="N"):
    """Random weights; word numbers and masks are 0 or 1."""
    sizes = (1, 3) if batch == "N" else (batch,)
    return [Network(f"{name}_{batch}x{length}", make_transformers.path_of(name, batch, length, CACHE / "models"),
                    [dict.fromkeys(("input_ids", "attention_mask"), [size, length]) for size in sizes])
            for name in names]


def everything():
    tiny = transformers(("bert_tiny", "gpt2_tiny"), 37)
    return packaged() + parity() + full_size("N") + full_size(1) + light() + tiny
