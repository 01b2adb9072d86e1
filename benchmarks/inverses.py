"""Few users, one pass, and inverses that start from the Gaussian limit: ratios inside one run."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial
from typing import Any, Final
from unittest.mock import patch

import numpy as np

from benchmarks.measure import MILLIONTH, Goal, Section, duration, seconds, table, ten_ary
from symshuffle import delta, epsilon, randomizer
from symshuffle.accountants.bounds import brackets as bounds
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.questions.curves import amplification_curve, spaced
from symshuffle.engines.contours import contour

MANY: Final = 10**6
LEVELS: Final = {100: "0.2", 1000: "0.08", MANY: "0.002"}
"""Users, and a level at which delta of 10-ary randomized response at eps0 = 1 is small."""

NODES: Final = 7_109
EVALUATIONS: Final = f"3 bare evaluations of {NODES:,} nodes"
"""What one pass at n = 10^6 took when these goals were set; passes take fewer nodes since, and goals did not move."""


def bare_nodes() -> float:
    """Time to evaluate the integrand of one pass at as many nodes as it had when the goals below were set."""
    seen: list[Any] = []
    plain: Any = contour._nodes

    def kept(*given: Any) -> Any:
        seen.append(given)
        return plain(*given)

    with patch.object(contour, "_nodes", kept):
        delta(ten_ary("1"), n=MANY, eps=LEVELS[MANY])
    region, n, plan, _ = seen[-1]
    return seconds(lambda: plain(region, n, plan, np.arange(NODES)))


def few_users(bare: float) -> tuple[str, list[Goal]]:
    """Times of delta at few and at many users."""
    source = ten_ary("1")
    rows, took = [], {}
    for rtol in (1e-10, 1e-6):
        took[rtol] = {n: seconds(partial(delta, source, n=n, eps=eps, rtol=rtol)) for n, eps in LEVELS.items()}
        many = took[rtol][MANY]
        rows += [(str(n), f"{rtol:.0e}", duration(each), f"{each / many:.2f}") for n, each in took[rtol].items()]
    fine, coarse = (max(each for n, each in took[rtol].items() if n < MANY) for rtol in took)
    over = fine / took[1e-10][MANY]
    asked = "delta of 10-RR at n = 100 and 1000"
    goals = [
        Goal(f"{asked} to 1e-10 costs at most 2 times that at n = 10^6", f"{over:.2f} times", over <= 2),
        Goal(f"{asked} to 1e-6 costs at most {EVALUATIONS}", f"{coarse / bare:.2f}", coarse <= 3 * bare),
    ]
    return table(("n", "relative width", "CPU time", "over n = 10^6"), rows), goals


def warm(bare: float) -> list[Goal]:
    """A warm delta over bare evaluations, and the same for a sweep over eps0."""
    ratio = seconds(partial(delta, ten_ary("1"), n=MANY, eps=LEVELS[MANY])) / bare
    budgets, krr = itertools.count(), randomizer("krr", k=10)
    sources = [reduction(krr.at(eps0=1 + Fraction(next(budgets), 10**4))) for _ in range(16)]
    given = iter(sources)  # every law is made for one call, from a reduction that is known
    levels = seconds(lambda: delta(next(given), n=MANY, eps=LEVELS[MANY]), 15) / bare
    whole = seconds(lambda: delta(krr.at(eps0=1 + Fraction(next(budgets), 10**4)), n=MANY, eps=LEVELS[MANY]), 15) / bare
    asked = f"a warm delta at n = 10^6 costs at most {EVALUATIONS}"
    return [
        Goal(asked, f"{ratio:.2f}", ratio <= 3),
        Goal(
            f"{asked}, also where its law is new", f"{levels:.2f}; with the mechanism new too {whole:.2f}", levels <= 3
        ),
    ]


def evaluations(run: Any) -> int:
    """How often an inverse evaluates delta."""
    with patch.object(bounds, "bound_at", wraps=bounds.bound_at) as counted:
        run()
    return counted.call_count


def section() -> Section:
    bare = bare_nodes()
    shown, goals = few_users(bare)
    source = ten_ary("1")
    users = [int(n) for n in spaced(1000, 10**7, 30, geometric=True)]
    most = max(
        evaluations(partial(epsilon, ten_ary(eps0), n=n, delta=Fraction(target)))
        for eps0 in ("0.1", "1", "4")
        for n in (100, 10**4, 10**6, 10**9)
        for target in ("1e-4", "1e-8", "1e-12")
    )
    curve = seconds(partial(amplification_curve, source, delta=MILLIONTH, users=users), 1)
    text = f"""## Few users, and inverses

10-ary randomized response, eps0 = 1:

{shown}

A curve of 30 points eps(n) from n = 10^3 to 10^7 at delta = 1e-6 takes {duration(curve)}."""
    few = Goal("an inverse takes at most 9 evaluations of delta", f"at most {most}", most <= 9)
    return Section(text, (*goals, *warm(bare), few))
