"""CPU of a command from the shell beside that of a script with NumPy and scipy.stats, in one run.

python -m benchmarks.shell
"""

from __future__ import annotations

import os
import resource
import statistics
import subprocess
import sys
from pathlib import Path

from benchmarks.measure import Goal, Section, duration, table

SCRIPT = Path(__file__).with_name("bennett.py")
COMMANDS = {
    "symshuffle delta krr": "delta krr -p k=10 --eps0 1 --eps 0.02 --n 10000",
    "symshuffle delta rappor": "delta rappor --eps0 1 --eps 0.02 --n 10000",
    "symshuffle epsilon krr": "epsilon krr -p k=10 --eps0 1 --delta 1e-6 --n 10000",
    "symshuffle delta half-block": "delta half-block -p k=10 --eps0 1 --eps 0.02 --n 10000",
    "symshuffle epsilon half-block": "epsilon half-block -p k=10 --eps0 1 --delta 1e-6 --n 10000",
    "symshuffle delta half-block, k = 10^4": "delta half-block -p k=10000 --eps0 1 --eps 0.02 --n 10000",
}
ROUNDS = 7
FEWER = 3
"""Rounds of the commands that no goal speaks about."""

GOAL = "symshuffle delta krr"


def cpu(arguments: list[str]) -> float:
    """User and system seconds of one process of its own."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = {**os.environ, "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run([sys.executable, *arguments], check=True, capture_output=True, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def section() -> Section:
    """One line per command: median CPU, and its ratio to the script measured beside it."""
    lines, goals = [], []
    for name, line in COMMANDS.items():
        command = ["-m", "symshuffle", *line.split()]
        pairs = [(cpu(command), cpu([str(SCRIPT)])) for _ in range(1 + (ROUNDS if name == GOAL else FEWER))][
            1:
        ]  # the first compiles
        ours, theirs = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratio = statistics.median(one / other for one, other in pairs)
        lines.append((name, duration(ours), duration(theirs), f"{ratio:.2f}"))
        if name == GOAL:
            goals.append(Goal(f"`{name}` costs at most what the script costs", f"{ratio:.2f} times", ratio <= 1))
    text = table(("command", "CPU", "NumPy, scipy.stats and Bennett's bound", "ratio"), lines)
    note = f"Medians of {ROUNDS} processes of `{GOAL}` and of {FEWER} of each other command, after one that compiles."
    return Section(f"## From the shell\n\n{note}\n\n{text}", tuple(goals))


if __name__ == "__main__":
    print(section().text)
