"""Damages a good artifact for the CPU and CUDA, cut short at many lengths and with single
bytes changed in its header and table, and feeds each to `dlc inspect` and `dlc run`: any answer
will do, but no crash, no hang and no memory without bounds. Offsets come from the header. Changed
tables come once as they are and once with hashes that fit, so that what is behind the hashes has to
hold; the latter run on the simulated device, whose kernels cannot leave their memory (an artifact's
machine code for the CPU is a program: who changes it, or which of it is called, can do anything)."""
import os
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
from harness import DLC, TARGET, Tally, compile_model, execute, lacking, need_dlc  # noqa: E402

MODEL = ROOT / "test/parity/gru/model.onnx"
DEVICES = {"DLC_CUDASIM_MEMORY_MB": "64"}
HEADER = struct.Struct("<8sIIQQQQ")  # magic, version, header bytes, table offset and bytes, file bytes, hash
HASHES = struct.Struct("<QQ")  # of the contents, of the table
HASHES_AT = 40
CUTS, FLIPS = 24, 150


def content_hash(data):
    """As runtime/schema/ContentHash.h."""
    mask, p1, p2 = 2**64 - 1, 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F
    lanes, whole = [p1, p2, p1 ^ p2, (p1 + p2) & mask], len(data) // 32 * 32
    for words in struct.iter_unpack("<4Q", data[:whole]):
        for lane, word in enumerate(words):
            x = (lanes[lane] + word * p2) & mask
            lanes[lane] = ((x << 31 | x >> 33) & mask) * p1 & mask
    result = len(data)
    for lane in lanes:
        x = result ^ lane
        result = (((x << 27 | x >> 37) & mask) * p1 + p2) & mask
    for byte in data[whole:]:
        x = result ^ byte * p1 & mask
        result = ((x << 11 | x >> 53) & mask) * p2 & mask
    result = (result ^ result >> 33) * p2 & mask
    return result ^ result >> 29


def rehash(data, header_bytes, table, table_bytes):
    HASHES.pack_into(data, HASHES_AT, content_hash(data[header_bytes:]), content_hash(data[table:table + table_bytes]))


def damaged(whole):
    """(what was done, bytes, the device to run on) for every damaged copy."""
    _, _, header_bytes, table, table_bytes, _, _ = HEADER.unpack_from(whole)
    for i in range(CUTS):
        length = len(whole) * i // CUTS
        yield f"cut to {length} bytes", whole[:length], "cpu"
    source = random.Random(0)
    places = list(range(header_bytes)) + [table + source.randrange(table_bytes) for _ in range(FLIPS)]
    for place in places:
        copy = bytearray(whole)
        copy[place] ^= source.choice((0x01, 0x80, 0xFF))
        what = f"byte {place} is {copy[place]:#x}"
        yield what, bytes(copy), "cpu"
        if place >= header_bytes:
            rehash(copy, header_bytes, table, table_bytes)
            yield f"{what}, with its hash", bytes(copy), "cuda-sim"


def complaint(path, inputs, outputs, device):
    run = ["run", path, "--inputs", inputs, "--outputs", outputs, "--device", device]
    for command in (["inspect", "--json", path], run):
        outcome = execute([DLC, *command], timeout_s=10, memory_mib=1024, env=os.environ | DEVICES)
        if outcome.crashed or outcome.peak_mib > 1024:
            return f"dlc {command[0]}: {outcome.how()}, {outcome.peak_mib} MiB: {outcome.message()}"
    return None


def main():
    need_dlc()
    tally = Tally(quiet="-v" not in sys.argv)
    with tempfile.TemporaryDirectory() as folder:
        scratch = pathlib.Path(folder)
        good, bad, inputs = scratch / "good.dlc", scratch / "bad.dlc", scratch / "in.npz"
        target = "cpu" if lacking(MODEL, *TARGET["cuda-sim"]) else "cpu,cuda:compute_90"
        compiled = compile_model(MODEL, good, f"--target={target}")
        if compiled.code != 0:
            tally.fail("the undamaged artifact", compiled.message())
            return tally.finish()
        np.savez(inputs, **reference.random_feeds(MODEL))
        whole = bytearray(good.read_bytes())
        same = bytearray(whole)
        rehash(same, *HEADER.unpack_from(whole)[2:5])
        tally.check("the undamaged artifact's hashes", same == whole, "content_hash is not the writer's")
        for what, data, device in damaged(whole):
            bad.write_bytes(data)
            found = complaint(bad, inputs, scratch / "out.npz", device)
            if found:
                tally.fail(what, found)
            else:
                tally.ok(what)
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
