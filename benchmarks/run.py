"""Measure, in one run, what docs/performance.md states, and write that page (``make bench``)."""

from __future__ import annotations

import math
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

from algorithm7 import algorithm7

from symshuffle import BallContour, Exp, Rigour, delta, epsilon, mechanism
from symshuffle.accountants.curves import amplification_curve, spaced
from symshuffle.accountants.inverses import solve_eps0, solve_n
from symshuffle.accountants.reduction import Reduction, laws, reduction
from symshuffle.accountants.solve import evaluate_law

PAGE = Path(__file__).parents[1] / "docs" / "performance.md"
PUBLISHED = {10**3: 0.75, 10**4: 8.2}
MILLIONTH = Fraction(1, 10**6)
STEPS = {"0.1": 1200, "4": 1000}


def seconds(run: Callable[[], object], repeats: int = 7) -> float:
    """Median process time of a call; the first one warms caches and does not count when there are several."""
    if repeats > 2:
        run()
    times = []
    for _ in range(repeats):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return statistics.median(times)


def reduced(eps0: str) -> Reduction:
    return reduction(mechanism("krr").at(k=10, eps0=eps0))


def target(source: Reduction, n: int) -> Fraction:
    """A level at which delta is near 1e-6."""
    return epsilon(source, n=n, delta=MILLIONTH, rel=1e-4).bracket.upper


def table(head: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(row) + " |" for row in rows)])


def verdict(reached: bool) -> str:
    return "reached" if reached else "**not reached**"


def against_algorithm7() -> tuple[str, float]:
    """The printed algorithm and `auto` on the same law; and the time of the former at eps0 = 4, n = 10^4."""
    rows, slow = [], 0.0
    for eps0, parts in STEPS.items():
        source = reduced(eps0)
        for n, published in PUBLISHED.items():
            eps = target(source, n)
            (law,) = laws(source.bounds[0], Exp(eps), "forward", None)
            step = math.expm1(float(eps0)) / parts
            found: list[float] = []
            slow = seconds(lambda law=law, n=n, step=step, found=found: found.append(algorithm7(law, n, step)), 3)
            truth = float(evaluate_law(law, n, rel=1e-8).midpoint)
            excess = f"{found[-1] / truth - 1:+.1e}"
            fine, wide = (seconds(lambda law=law, n=n, rel=rel: evaluate_law(law, n, rel=rel)) for rel in (1e-6, 1e-2))
            counts = "yes" if slow <= 1.5 * published else "no"
            figures = (f"{slow:.3f} s", excess, counts, f"{1e3 * fine:.1f} ms", f"{slow / fine:.0f}")
            rows.append((eps0, f"{n}", *figures, f"{1e3 * wide:.1f} ms", f"{slow / wide:.0f}"))
    head = (
        "eps0",
        "n",
        "Algorithm 7",
        "its excess",
        "fast enough to count",
        "auto, 1e-6",
        "ratio",
        "auto, 1e-2",
        "ratio",
    )
    return table(head, rows), slow


def against_n() -> tuple[str, float]:
    """Cost of delta at relative width 1e-6, law included, for n from 10^3 to 10^12; ratio of 10^9 to 10^3."""
    source, rows, costs = reduced("1"), [], {}
    for exponent in (3, 4, 5, 6, 7, 8, 9, 10, 11, 12):
        n = 10**exponent
        eps = target(source, n)
        bracket = delta(source, n=n, eps=eps, rel=1e-6).bracket
        costs[exponent] = seconds(lambda n=n, eps=eps: delta(source, n=n, eps=eps, rel=1e-6))
        wide = f"{float(bracket.relative_width or 0):.1e}"
        rows.append((f"10^{exponent}", f"{float(eps):.6g}", wide, f"{1e3 * costs[exponent]:.1f} ms"))
    return table(("n", "eps", "relative width", "CPU time"), rows), costs[9] / costs[3]


def certified_inverse() -> tuple[float, int, str]:
    """Time, ball evaluations and result of a certified eps(delta = 1e-6) at n = 10^6."""
    source, evaluations = reduced("1"), 0
    plain = BallContour.bracket

    def counted(self: BallContour, law: object, n: int) -> object:
        nonlocal evaluations
        evaluations += 1
        return plain(self, law, n)

    BallContour.bracket = counted
    try:
        found = epsilon(source, n=10**6, delta=MILLIONTH, rigour=Rigour.BALL)
    finally:
        BallContour.bracket = plain
    took = seconds(lambda: epsilon(source, n=10**6, delta=MILLIONTH, rigour=Rigour.BALL), 3)
    return took, evaluations, str(found.bracket)


def other_inverses() -> str:
    """Times of the other two inverses, doubles and balls."""
    krr, rows = mechanism("krr").at(k=10), []
    for level in (Rigour.FLOAT64, Rigour.BALL):
        budget = solve_eps0(krr, n=1000, eps="0.1", delta=MILLIONTH, rigour=level)
        took = seconds(lambda level=level: solve_eps0(krr, n=1000, eps="0.1", delta=MILLIONTH, rigour=level), 3)
        rows.append(("eps0 at n = 1000, eps = 0.1", str(budget), f"{took:.2f} s"))
        users = solve_n(krr.at(eps0=1), eps="0.002", delta=MILLIONTH, rigour=level)
        took = seconds(lambda level=level: solve_n(krr.at(eps0=1), eps="0.002", delta=MILLIONTH, rigour=level), 3)
        rows.append(("n at eps0 = 1, eps = 0.002", str(users), f"{took:.2f} s"))
    return table(("inverse at delta = 1e-6", "bracket", "CPU time"), rows)


def curve() -> float:
    users = [round(x) for x in spaced(10**3, 10**6, 30, geometric=True)]
    source = reduced("1")
    return seconds(lambda: amplification_curve(source, delta=MILLIONTH, users=users, rel=1e-4), 3)


def tight() -> tuple[float, str]:
    """A certified bracket of relative width 1e-10 at delta about 1e-6, n = 10^6."""
    source = reduced("1")
    eps = target(source, 10**6)
    found = delta(source, n=10**6, eps=eps, rigour=Rigour.BALL, rel=1e-10).bracket
    took = seconds(lambda: delta(source, n=10**6, eps=eps, rigour=Rigour.BALL, rel=1e-10), 3)
    return took, f"{float(found.relative_width or 0):.1e}"


def peak_memory() -> float:
    """Megabytes of a process of its own that answers at n = 10^3 and 10^9."""
    program = (
        "from symshuffle import delta, mechanism; import resource, sys\n"
        "krr = mechanism('krr').at(k=10, eps0=1)\n"
        "for n, eps in ((10**3, '0.08'), (10**9, '0.00008')): delta(krr, n=n, eps=eps)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    return int(printed) / (1024 if sys.platform != "darwin" else 1024**2)


def page() -> str:
    memory = peak_memory()  # first: a child's peak starts at its parent's
    compared, point = against_algorithm7()
    sizes, growth = against_n()
    took, evaluations, inverse = certified_inverse()
    thirty = curve()
    tight_took, width = tight()
    system = f"{platform.machine()}, Python {platform.python_version()}, one process"
    return f"""# Performance

Written by `make bench` ({system}); medians of process time.
10-ary randomized response throughout, delta near 1e-6. `auto` is what `symshuffle.delta` uses when no engine is named.

## Against Algorithm 7 of the paper

`benchmarks/algorithm7.py` is the printed algorithm, one-sided and without an error bound, at the paper's step
((e^eps0 - 1)/1200 at eps0 = 0.1, (e^eps0 - 1)/1000 at eps0 = 4). It counts if it takes at most 1.5 times the published
implementation (0.75 s at n = 10^3, 8.2 s at n = 10^4). `auto` returns both sides, at the relative width in the heading.

{compared}

## Cost against n

delta at relative width 1e-6, the law of G derived anew at each call (eps0 = 1). eps is where delta is 1e-6, and 0 where
it is below that everywhere:

{sizes}

Cost at n = 10^9 over cost at n = 10^3: {growth:.2f} (at most 1.5: {verdict(growth <= 1.5)}).

## Inverses and curves

Certified eps(delta = 1e-6) at n = 10^6: {inverse} in {took:.2f} s with {evaluations} ball evaluations
(at most 5: {verdict(evaluations <= 5)}): doubles find the two ends, balls confirm them.

Certified bracket of delta at n = 10^6: relative width {width} (asked: 1e-10) in {tight_took:.2f} s.

A curve eps(n) of 30 points from n = 10^3 to 10^6, relative width 1e-4: {thirty:.2f} s; Algorithm 7 for one point at
n = 10^4, eps0 = 4: {point:.2f} s (less: {verdict(thirty < point)}).

{other_inverses()}

## Memory

Peak resident memory of a process that answers at n = 10^3 and 10^9: {memory:.0f} MB
(below 200 MB: {verdict(memory < 200)}). This process, which ran Algorithm 7 as well, peaked at
{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB.
"""


if __name__ == "__main__":
    text = page()
    PAGE.write_text(text, encoding="utf-8")
    print(text)
