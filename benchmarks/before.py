"""The commit before the issue that set the goals of speed, measured in the same run as this tree.

python -m benchmarks.before
"""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path
from typing import Final

from benchmarks.measure import Goal, Section, duration, table

HERE: Final = Path(__file__).parents[1]
BEFORE: Final = "55ed658bd1f84341dbd70820fefd6c7e7c55316a"
SCRIPT: Final = Path(__file__).with_name("denominators.py")
FASTER: Final = {
    "k-RR at eps0 = 0.1, epsilon in balls, n = 1000": 10,
    "k-RR, curve of 30 points eps(n)": 3,
}
"""What has to be so many times faster; nothing may be slower."""

NOISE: Final = 1.05
ROUNDS: Final = 3
PATIENCE: Final = 150
"""Seconds after which no further round begins: the old half takes most of the time of all benchmarks."""


def times(tree: Path) -> dict[str, float]:
    """What the script measures in one tree."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    command = [sys.executable, str(SCRIPT)]
    run = subprocess.run(command, check=True, capture_output=True, text=True, env=environment, cwd=tree)
    found: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return found


def taken_out(commit: str, place: Path) -> bool:
    """Write the tree of a commit to a place; False where there is no such commit, as in a source archive."""
    archive = subprocess.run(["git", "archive", commit], check=False, capture_output=True, cwd=HERE)
    if archive.returncode:
        return False
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tree:
        tree.extractall(place, filter="data")
    return True


def section() -> Section:
    """Times before and now, by turns; the smallest of each."""
    title = "## Before and now"
    with tempfile.TemporaryDirectory() as place:
        if not taken_out(BEFORE, Path(place)):
            return Section(f"{title}\n\nNot measured: this checkout has no commit {BEFORE[:7]}.")
        began, rounds = time.monotonic(), []
        while len(rounds) < ROUNDS and (not rounds or time.monotonic() - began < PATIENCE):
            rounds.append((times(Path(place)), times(HERE)))
    lines, goals, slower = [], [], []
    for name in rounds[0][0]:
        before, now = (min(pair[side][name] for pair in rounds) for side in (0, 1))
        lines.append((name, duration(before), duration(now), f"{before / now:.2f}"))
        if name in FASTER:
            asked = f"{name}: at least {FASTER[name]} times faster than before"
            goals.append(Goal(asked, f"{before / now:.1f} times", before >= FASTER[name] * now))
        if now > NOISE * before:
            slower.append(f"{name}: {now / before:.2f}")
    kept = Goal("nothing below is slower than before (5 % are noise)", "; ".join(slower) or "none is", not slower)
    text = f"""{title}

CPU time of commit {BEFORE[:7]} and of this tree, measured by turns in one run; the smallest of {len(rounds)} processes
each. No further round begins after {PATIENCE} s (at most {ROUNDS} are made). In a process the smallest of five times
counts; a task is timed only once where the first call took more than 0.3 s.

{table(("", "before", "now", "times faster"), lines)}"""
    return Section(text, (kept, *goals))


if __name__ == "__main__":
    found = section()
    print(found.text, *found.goals, sep="\n")
