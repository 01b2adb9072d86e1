"""Prices of everyday calls in Y: the CPU time of a plain Python loop of 10^7 additions, timed in the same run.

python -m benchmarks.yardstick [--all] [--edges] [part of a name]

Exits with 1 where a goal is missed. A row is a command line, a script of Python or a command of this house, run in a
process of its own, start included; what takes longer than ``CUT`` Y of CPU is ended and printed as "> 100".
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from benchmarks.measure import table

HERE: Final = Path(__file__).parents[1]
CUT: Final = 100.0


@dataclass(frozen=True, slots=True)
class Call:
    """What is run, and its goal in Y; None where only the price is of interest.

    ``line`` is what follows ``symshuffle``, or ``python: CODE``, or ``make: TARGET``.
    """

    name: str
    line: str
    goal: float | None = None

    @property
    def command(self) -> list[str]:
        """As it is run."""
        kind, _, rest = self.line.partition(": ")
        if kind == "make":
            return ["make", rest]
        if kind == "python":
            return [sys.executable, "-c", rest]
        return [sys.executable, "-m", "symshuffle", *self.line.split()]


_VECTORS = "import numpy as np; from symshuffle.vectors import private_mean; rng = np.random.default_rng(1); "

GOALS: Final = (
    Call("example", "example", 10),
    Call("compare, k = 50", "compare --k 50 --n 200000 --eps 0.5 --delta 1e-8", 15),
    Call("compare, k = 10^4", "compare --k 10000 --n 1000000 --eps0 2 --delta 1e-8", 25),
    Call("30 rounds of krr", "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --rounds 30", 5),
)
"""The first table of what has to be reached; :mod:`benchmarks.vectors` adds its rows as ``YARDSTICK``."""

CHOOSING: Final = tuple(
    Call(f"how to choose: {line.split()[0]}", line, 15)
    for line in (
        "delta krr -p k=10 --eps0 1 --n 10000 --eps 0.02 --confirm",
        "epsilon krr -p k=10 --eps0 1 --n 10000 --delta 1e-6",
        "solve-eps0 krr -p k=10 --n 10000 --eps 0.5 --delta 1e-6",
        "solve-n krr -p k=10 --eps0 1 --eps 0.1 --delta 1e-6",
        "curve krr -p k=10 --eps0 1 --n 10000 --kind delta-eps",
        "decompose krr",
        "mechanisms",
        "show decomposition.thm-12",
        "verify decomposition.thm-12",
        "frontier --k 5 --budget 1/2",
        "subset-size --k 10 --lam 3",
        "renyi krr -p k=10 --eps0 1 --n 10000 --alpha 4",
        "gdp krr -p k=10 --eps0 1 --n 10000",
        "errata",
        "law krr",
        "compare --k 10 --n 10000 --budget 1/2",
        "delta bmg -p gamma=0.95 -p sigma0=4.6 --adjacency zero-out --n 1000 --eps 0.0004",
        "calibrate bmg --n 1000 --d 10 --eps 0.5 --delta 1e-5",
        "doctor",
    )
)
"""The commands of the table in docs/how-to-choose.md."""

EDGES: Final = (
    *(
        Call(f"edge {i}", line, 20)
        for i, line in enumerate(
            (
                "solve-eps0 hadamard -p D=16 --n 100 --eps 15 --delta 1e-9",
                "compare --k 10 --n 100 --eps 60 --delta 1e-9",
                "epsilon bmg -p gamma=0.9 -p sigma0=3 --n 1000 --delta 1e-6 --adjacency zero-out --blanket largest "
                "--rounds 2",
                "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 1 --delta 1e-6 --rounds 2",
                "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 3 --delta 1e-6 --rounds 2",
                "renyi gaussian -p sigma0=2 --n 1000 --alpha 4",
                "delta rr --eps0 50 --eps 49.99999999 --n 1000000000",
                "solve-eps0 rappor --n 10000 --eps 0.5 --delta 1e-6",
                "delta krr -p k=10 --eps0 8 --eps 1 --n 100 --rigour ball",
                "epsilon krr -p k=10 --eps0 1 --delta 1e-6 --n 10000 --dropout 0.1",
                "epsilon krr -p k=10 --eps0 4 --delta 1e-6 --n 1000000000",
                "epsilon rr --eps0 1 --delta 1e-300 --n 1000000",
                "delta laplace --eps0 1 --eps 0.02 --n 10000 --confirm",
                "delta oue --eps0 1 --eps 0.02 --n 10000 --confirm",
                "delta half-block -p k=10 --eps0 1 --eps 0.02 --n 10000",
                "delta hadamard -p D=16 --eps0 1 --eps 0.02 --n 10000",
                "epsilon olh -p g=4 -p D=1000 --eps0 2 --delta 1e-8 --n 1000000",
                "delta krr -p k=10 --eps0 1 --eps 0.02 --n 10000 --group 5",
                "delta krr -p k=10 --eps0 1 --eps 0.02 --n 10000 --min-users 5000",
                "solve-n rappor --eps0 2 --eps 0.1 --delta 1e-8",
                "curve krr -p k=10 --eps0 1 --kind eps-n --delta 1e-6",
                "gdp rappor --eps0 1 --n 10000",
            ),
            1,
        )
    ),
    Call(
        "mean of 400 x 2 vectors",
        "python: " + _VECTORS + "private_mean(rng.uniform(-.5, .5, (400, 2)), eps=1, delta='1e-6', seed=1)",
        20,
    ),
    Call(
        "a user's own mechanism, derived when asked",
        "python: from fractions import Fraction as F; import symshuffle as s; "
        "m = s.Mechanism.from_matrix([[F(1,2),F(1,4),F(1,4)],[F(1,4),F(1,2),F(1,4)],[F(1,4),F(1,4),F(1,2)]]); "
        "print(s.delta(m, n=10000, eps=F(1,50)))",
        20,
    ),
)
"""Everyday and edge calls that have to be answered or refused within 20 Y."""

LONG: Final = (Call("verify", "verify", 800), Call("make docs", "make: docs", 250))


def unit() -> float:
    """CPU time of 10^7 additions in a plain loop."""
    start, total = time.process_time(), 0
    for i in range(10**7):
        total += i
    return time.process_time() - start


def price(call: Call, y: float, cut: float = CUT) -> tuple[float, int]:
    """CPU of a process and its children in Y, and its exit code; what costs more than the cut is ended there."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    limit = int(cut * y) + 1
    run = subprocess.run(
        call.command,
        check=False,
        capture_output=True,
        cwd=HERE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (limit, limit)),
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) / y, run.returncode


def measured(calls: Sequence[Call], y: float) -> tuple[str, bool]:
    """The table of prices, and whether all goals are reached; a refusal (exit code 2) is an answer."""
    rows, reached = [], True
    for call in calls:
        took, code = price(call, y, max(CUT, 1.25 * (call.goal or 0)))
        good = code in (0, 2) and (call.goal is None or took <= call.goal)
        reached &= good
        shown = f"> {CUT:.0f}" if code not in (0, 1, 2) else f"{took:.1f}"
        said = {0: "", 2: "refused"}.get(code, "failed" if code == 1 else "ended")
        goal = "" if call.goal is None else f"{call.goal:g}"
        rows.append((call.name, f"`{call.line}`", shown, goal, said if good else f"{said} **not reached**".strip()))
        print(f"{shown:>8} Y  {call.name}", file=sys.stderr, flush=True)
    return table(("what", "call", "Y", "goal", ""), rows), reached


def asked(arguments: Sequence[str]) -> list[Call]:
    """The calls that the arguments name."""
    from benchmarks import vectors

    calls = [*GOALS, *getattr(vectors, "YARDSTICK", ())]
    if "--all" in arguments or "--edges" in arguments:
        calls += [*CHOOSING, *EDGES]
    if "--all" in arguments:
        calls += LONG
    parts = [part for part in arguments if not part.startswith("--")]
    return [call for call in calls if not parts or any(part in f"{call.name} {call.line}" for part in parts)]


def main(arguments: Sequence[str]) -> int:
    """Print the prices; 1 where a goal is missed."""
    y = unit()
    text, reached = measured(asked(arguments), y)
    print(f"Y = {y:.2f} s\n\n{text}")
    return 0 if reached else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
