"""Few users, one pass, and inverses that start from the Gaussian limit: ratios inside one run."""

from __future__ import annotations

import itertools
from fractions import Fraction
from functools import partial
from typing import Any, Final
from unittest.mock import patch

from benchmarks.measure import MILLIONTH, Goal, Section, duration, seconds, table, ten_ary
from symshuffle import delta, epsilon, mechanism
from symshuffle.accountants.bounds import brackets as bounds
from symshuffle.accountants.covering.reduction import reduction
from symshuffle.accountants.questions.curves import amplification_curve, spaced
from symshuffle.engines.contours import contour

MANY: Final = 10**6
LEVELS: Final = {100: "0.2", 1000: "0.08", MANY: "0.002"}
"""Users, and a level at which delta of 10-ary randomized response at eps0 = 1 is small."""


def few_users() -> tuple[str, list[Goal]]:
    """Times of delta at few and at many users."""
    source = ten_ary("1")
    rows, goals = [], []
    for rel, most in ((1e-10, 2), (1e-6, 1)):
        took = {n: seconds(partial(delta, source, n=n, eps=eps, rel=rel)) for n, eps in LEVELS.items()}
        rows += [(str(n), f"{rel:.0e}", duration(each), f"{each / took[MANY]:.2f}") for n, each in took.items()]
        worst = max(took[n] / took[MANY] for n in LEVELS)
        asked = f"delta of 10-RR to {rel:.0e} at n = 100 and 1000 costs at most {most} times that at n = 10^6"
        goals.append(Goal(asked, f"{worst:.2f} times", worst <= most))
    return table(("n", "relative width", "CPU time", "over n = 10^6"), rows), goals


def bare_nodes() -> list[Goal]:
    """A warm delta over the bare evaluation of the nodes of its last pass, and the same for a sweep over eps0."""
    source, seen = ten_ary("1"), []
    plain: Any = contour._nodes

    def kept(*given: Any) -> Any:
        seen.append(given)
        return plain(*given)

    with patch.object(contour, "_nodes", kept):
        delta(source, n=MANY, eps=LEVELS[MANY])
    bare = seconds(lambda: plain(*seen[-1]))
    ratio = seconds(partial(delta, source, n=MANY, eps=LEVELS[MANY])) / bare
    budgets, krr = itertools.count(), mechanism("krr").at(k=10)
    sources = [reduction(krr.at(eps0=1 + Fraction(next(budgets), 10**4))) for _ in range(16)]
    given = iter(sources)  # every law is made for one call, from a reduction that is known
    levels = seconds(lambda: delta(next(given), n=MANY, eps=LEVELS[MANY]), 15) / bare
    whole = seconds(lambda: delta(krr.at(eps0=1 + Fraction(next(budgets), 10**4)), n=MANY, eps=LEVELS[MANY]), 15) / bare
    asked = "a warm delta at n = 10^6 costs at most 3 bare evaluations of its nodes"
    return [
        Goal(asked, f"{ratio:.1f}", ratio <= 3),
        Goal(
            f"{asked}, also where its law is new", f"{levels:.1f}; with the mechanism new too {whole:.1f}", levels <= 3
        ),
    ]


def evaluations(run: Any) -> int:
    """How often an inverse evaluates delta."""
    with patch.object(bounds, "bound_at", wraps=bounds.bound_at) as counted:
        run()
    return counted.call_count


def section() -> Section:
    shown, goals = few_users()
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
    return Section(text, (*goals, *bare_nodes(), few))
