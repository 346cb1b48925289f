"""The lint stage: each check yields one line per problem; a check without
problems is one passed test."""
import pathlib
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path[:0] = [str(HERE.parent), str(ROOT / "docs")]

import constraints  # noqa: E402
import generate  # noqa: E402
import layers  # noqa: E402
import text  # noqa: E402
from harness import Tally  # noqa: E402


def tracked_files():
    """Also files that are new and not ignored, so that a developer sees it before committing."""
    out = subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, text=True,
                         capture_output=True, check=True).stdout
    return [name for name in out.splitlines() if (ROOT / name).is_file()]


def pages_are_current(root, files):
    for name in generate.stale():
        yield f"docs/{name} is not current: run docs/generate.py"


def main():
    files = tracked_files()
    tally = Tally()
    checks = {"includes and file lengths": layers.problems, "text": text.problems, "constraints": constraints.problems,
              "generated pages": pages_are_current}
    for name, check in checks.items():
        found = list(check(ROOT, files))
        if not found:
            tally.ok(name)
        else:
            tally.fail(name, f"{len(found)} problems")
            print("".join(f"         {line}\n" for line in found), end="")
    return tally.finish()


if __name__ == "__main__":
    sys.exit(main())
