"""Compiles every network of the catalog once and runs that artifact at all its
shapes; the results must be onnxruntime's, the bytes of a second compilation the
same, and eight threads on one loaded model must give the bits that one gives.

usage: models.py [NAME-PART...]   (-v: also the passes)
"""
import pathlib
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE.parent / "models")]

import capi  # noqa: E402
import catalog  # noqa: E402
import numpy as np  # noqa: E402
import reference  # noqa: E402
from harness import DLC, Tally, compile_model, execute, need_dlc  # noqa: E402

RTOL, ATOL = 1e-3, 1e-4
LIMITS = {"timeout_s": 300, "memory_mib": 8192}
THREADS = 8


def check_shape(network, artifact, feeds, scratch, tally):
    """One run through the command line, against onnxruntime."""
    name = f"{network.name} {'x'.join(map(str, next(iter(feeds.values())).shape))}"
    np.savez(scratch / "in.npz", **feeds)
    ran = execute([DLC, "run", artifact, "--inputs", scratch / "in.npz", "--outputs", scratch / "out.npz"], **LIMITS)
    if ran.code != 0:
        tally.fail(name, f"run: {ran.how()}: {ran.message()}")
        return
    expected = reference.expected_outputs(network.path, feeds)
    differ = reference.compare(expected, reference.load_outputs(scratch / "out.npz"), rtol=RTOL, atol=ATOL)
    if differ:
        tally.fail(name, differ)
    else:
        tally.ok(name, f"{ran.seconds:.2f} s")


def check_same_bytes(network, artifact, scratch, tally):
    again = scratch / "again.dlc"
    compiled = compile_model(network.path, again, **LIMITS)
    name = f"{network.name} compiled twice"
    if compiled.code == 0 and again.read_bytes() == artifact.read_bytes():
        tally.ok(name)
    else:
        tally.fail(name, "the bytes differ" if compiled.code == 0 else compiled.message())


def check_threads(network, artifact, feeds, tally):
    model = capi.Model(artifact)
    one = model.run(feeds)
    results = [None] * THREADS

    def work(index):
        try:
            results[index] = model.run(feeds)
        except RuntimeError as error:
            results[index] = error

    threads = [threading.Thread(target=work, args=(i,)) for i in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    model.close()
    errors = [str(r) for r in results if isinstance(r, RuntimeError)]
    differ = [n for n in one for r in results if not errors and r[n].tobytes() != one[n].tobytes()]
    name = f"{network.name} from {THREADS} threads"
    if errors or differ:
        tally.fail(name, errors[0] if errors else f"{differ[0]} differs between threads")
    else:
        tally.ok(name)


def check_network(network, scratch, tally):
    artifact = scratch / "m.dlc"
    artifact.unlink(missing_ok=True)
    compiled = compile_model(network.path, artifact, **LIMITS)
    if compiled.code != 0:
        tally.fail(network.name, f"compile: {compiled.how()}: {compiled.message()}")
        return
    tally.ok(f"{network.name} compile", f"{compiled.seconds:.2f} s, {compiled.peak_mib} MiB")
    feeds = [reference.random_feeds(network.path, shapes, seed, network.high)
             for seed, shapes in enumerate(network.shapes)]
    for arrays in feeds:
        check_shape(network, artifact, arrays, scratch, tally)
    check_same_bytes(network, artifact, scratch, tally)
    check_threads(network, artifact, feeds[-1], tally)


def main():
    need_dlc()
    parts = [a for a in sys.argv[1:] if not a.startswith("-")]
    tally = Tally(quiet="-v" not in sys.argv)
    for network in catalog.everything():
        if parts and not any(part in network.name for part in parts):
            continue
        with tempfile.TemporaryDirectory() as scratch:
            try:
                check_network(network, pathlib.Path(scratch), tally)
            except RuntimeError as error:  # what the library itself reports
                tally.fail(network.name, str(error))
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
