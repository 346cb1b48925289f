"""Damages a good artifact, cut short at many lengths and with single bytes changed
in its header and table, and feeds each to `dlc inspect` and `dlc run`: any answer will do,
but no crash, no hang and no memory without bounds. Offsets come from the header."""
import pathlib
import random
import struct
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE.parent))

import numpy as np  # noqa: E402
import reference  # noqa: E402
from harness import DLC, Tally, compile_model, execute, need_dlc  # noqa: E402

MODEL = ROOT / "test/parity/gru/model.onnx"
HEADER = struct.Struct("<8sIIQQQQ")  # magic, version, header bytes, table offset and bytes, file bytes, hash
CUTS, FLIPS = 24, 150


def damaged(whole):
    """(what was done, bytes) for every damaged copy."""
    _, _, header_bytes, table, table_bytes, _, _ = HEADER.unpack_from(whole)
    for i in range(CUTS):
        length = len(whole) * i // CUTS
        yield f"cut to {length} bytes", whole[:length]
    source = random.Random(0)
    places = list(range(header_bytes)) + [table + source.randrange(table_bytes) for _ in range(FLIPS)]
    for place in places:
        copy = bytearray(whole)
        copy[place] ^= source.choice((0x01, 0x80, 0xFF))
        yield f"byte {place} is {copy[place]:#x}", bytes(copy)


def complaint(path, inputs, outputs):
    for command in (["inspect", path], ["run", path, "--inputs", inputs, "--outputs", outputs]):
        outcome = execute([DLC, *command], timeout_s=10, memory_mib=1024)
        if outcome.crashed or outcome.peak_mib > 1024:
            return f"dlc {command[0]}: {outcome.how()}, {outcome.peak_mib} MiB: {outcome.message()}"
    return None


def main():
    need_dlc()
    tally = Tally(quiet="-v" not in sys.argv)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        good, bad, inputs = scratch / "good.dlc", scratch / "bad.dlc", scratch / "in.npz"
        compiled = compile_model(MODEL, good)
        if compiled.code != 0:
            tally.fail("the undamaged artifact", compiled.message())
            return tally.finish()
        np.savez(inputs, **reference.random_feeds(MODEL))
        for what, data in damaged(good.read_bytes()):
            bad.write_bytes(data)
            found = complaint(bad, inputs, scratch / "out.npz")
            if found:
                tally.fail(what, found)
            else:
                tally.ok(what)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
