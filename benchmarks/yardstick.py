"""Prices of everyday calls in Y: the CPU time of a plain Python loop of 10^7 additions, timed in the same run.

python -m benchmarks.yardstick [--all] [--edges] [PART ...]

Exits with 1 where a goal is missed. A row is a command line, a script of Python or a command of this house, run in a
process of its own, start included; what takes longer than ``CUT`` Y of CPU is ended and printed as "> 100".
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from benchmarks.calls import CHOOSING, DEAR, EDGES, EVERYDAY, FAMILIES, LONG, SURVEYS, Call, prepare
from benchmarks.measure import table

HERE: Final = Path(__file__).parents[1]
CUT: Final = 100.0


def unit() -> float:
    """CPU time of 10^7 additions in a plain loop."""
    start, total = time.process_time(), 0
    for i in range(10**7):
        total += i
    return time.process_time() - start


def price(call: Call, data: Path, y: float, cut: float = CUT) -> tuple[float, int]:
    """CPU of a process and its children in Y, and its exit code; what costs more than the cut is ended there."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = int(cut * y) + 1
    run = subprocess.run(
        call.command(data),
        check=False,
        capture_output=True,
        cwd=HERE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / y, run.returncode


def measured(calls: Sequence[Call], data: Path, y: float) -> tuple[str, bool]:
    """The table of prices, and whether all goals are reached; a refusal (exit code 2) answers few calls only."""
    rows, reached = [], True
    for call in calls:
        took, code = price(call, data, y, max(CUT, 1.25 * (call.goal or 0)))
        good = (code == 0 or (code == 2 and call.refusable)) and (call.goal is None or took <= call.goal)
        reached &= good
        shown = f"> {CUT:.0f}" if code not in (0, 1, 2) else f"{took:.1f}"
        said = {0: "", 2: "refused"}.get(code, "failed" if code == 1 else "ended")
        goal = "" if call.goal is None else f"{call.goal:g}"
        rows.append((call.name, f"`{call.line}`", shown, goal, said if good else f"{said} **not reached**".strip()))
        print(f"{shown:>8} Y  {call.name}", file=sys.stderr, flush=True)
    return table(("what", "call", "Y", "goal", ""), rows), reached


def asked(arguments: Sequence[str]) -> list[Call]:
    """The calls that the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("parts", nargs="*", metavar="PART", help="part of a name or a line; without any, all calls")
    parser.add_argument("--edges", action="store_true", help="the commands of the guide and edges as well")
    parser.add_argument("--all", action="store_true", help="those, the ledger, the site and the tests")
    given = parser.parse_args(arguments)
    calls = [*EVERYDAY, *FAMILIES, *SURVEYS]
    if given.all or given.edges:
        calls += [*CHOOSING, *EDGES, *DEAR]
    if given.all:
        calls += LONG
    return [
        call for call in calls if not given.parts or any(part in f"{call.name} {call.line}" for part in given.parts)
    ]


def main(arguments: Sequence[str]) -> int:
    """Print the prices; 1 where a goal is missed."""
    calls, y = asked(arguments), unit()
    with TemporaryDirectory(prefix="yardstick-") as folder:
        prepare(Path(folder), calls)
        text, reached = measured(calls, Path(folder), y)
    print(f"Y = {y:.2f} s\n\n{text}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
