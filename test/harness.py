"""What every test runner shares: where dlc is, how a command is run in a cage,
and how counts are reported. A runner's last line is "N passed, N failed, N skipped";
check.py adds those up."""
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import dataclass, field

ROOT = pathlib.Path(__file__).resolve().parents[1]
CACHE = ROOT / ".cache"
BUILD = pathlib.Path(os.environ.get("DLC_BUILD", ROOT / "build"))
DLC = str(BUILD / "bin" / "dlc")
COUNTS = re.compile(r"^(\d+) passed, (\d+) failed, (\d+) skipped$")
MIB = 1 << 20
# How models are compiled for a device. PTX for the least architecture runs on all.
TARGET = {device: ["--target=cuda:compute_80"] for device in ("cuda", "cuda-sim")}


@dataclass
class Outcome:
    """How one command ended."""
    code: int  # exit status, or -signal
    stdout: str
    stderr: str
    seconds: float
    peak_mib: int
    timed_out: bool

    @property
    def crashed(self):
        """True unless dlc ended by itself with one of its documented exit codes."""
        return self.timed_out or self.code not in (0, 2, 3, 4, 5, 6)

    def how(self):
        if self.timed_out:
            return f"timed out after {self.seconds:.0f} s"
        if self.code < 0:
            return f"killed by {signal.Signals(-self.code).name}"
        return f"exit {self.code}"

    def message(self):
        """The first line that says what went wrong."""
        lines = [line for line in (self.stderr + "\n" + self.stdout).splitlines() if line.strip()]
        errors = [line for line in lines if "error" in line.lower()]
        return (errors or lines or [self.how()])[0].strip()[:400]


def execute(argv, timeout_s=60, memory_mib=4096, cwd=None, env=None):
    """Runs argv in a process group of its own with a time limit and a limit on
    private memory (RLIMIT_DATA: mapped libraries and weights do not count)."""
    cage = ["prlimit", f"--data={memory_mib * MIB}", "--core=0", "--"]
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        start = time.monotonic()
        process = subprocess.Popen(cage + [str(a) for a in argv], stdin=subprocess.DEVNULL, stdout=out,
                                   stderr=err, cwd=cwd, env=env, start_new_session=True)
        expired = threading.Event()

        def kill():
            expired.set()
            os.killpg(process.pid, signal.SIGKILL)

        timer = threading.Timer(timeout_s, kill)
        timer.start()
        _, status, usage = os.wait4(process.pid, 0)
        timer.cancel()
        process.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        err.seek(0)
        return Outcome(process.returncode, out.read(8 * MIB).decode(errors="replace"),
                       err.read(8 * MIB).decode(errors="replace"), time.monotonic() - start,
                       usage.ru_maxrss // 1024, expired.is_set())


def compile_model(model, artifact, *flags, **limits):
    return execute([DLC, "compile", model, "-o", artifact, *flags], **limits)


def lacking(model, *flags, **limits):
    """What this machine lacks to compile the model so; None when nothing."""
    with tempfile.TemporaryDirectory() as scratch:
        outcome = compile_model(model, pathlib.Path(scratch) / "m.dlc", *flags, **limits)
    return outcome.message() if outcome.code and "libnvrtc" in outcome.stderr else None


def need_dlc():
    """Ends the runner, saying so, where dlc has not been built."""
    if not os.access(DLC, os.X_OK):
        sys.exit(f"error: {DLC} is not built; run ./check or `ninja -C build`")


@dataclass
class Tally:
    """Counts results, prints failures as they come and the counts at the end."""
    total: int = 0
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    quiet: bool = True
    lock: threading.Lock = field(default_factory=threading.Lock)

    def ok(self, name, detail=""):
        with self.lock:
            self.passed += 1
            if not self.quiet:
                print(f"   ok    {name} {detail}", flush=True)
            self._progress()

    def fail(self, name, reason):
        with self.lock:
            self.failed += 1
            print(f"   FAIL  {name}: {reason}", flush=True)
            self._progress()

    def check(self, name, holds, reason):
        """One test: passed if `holds`, else failed for `reason`."""
        if holds:
            self.ok(name)
        else:
            self.fail(name, reason)

    def skip(self, name, reason):
        with self.lock:
            self.skipped += 1
            print(f"   SKIP  {name}: {reason}", flush=True)

    def _progress(self):
        done = self.passed + self.failed
        if self.quiet and self.total >= 200 and done % 200 == 0:
            print(f"   {done} of {self.total}", flush=True)

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed, {self.skipped} skipped", flush=True)
        return 1 if self.failed else 0
