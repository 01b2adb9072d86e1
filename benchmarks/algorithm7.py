"""Algorithm 7 of the paper `decomposition` as printed, against `auto`."""

from __future__ import annotations

import math
from functools import partial
from typing import Final

import numpy as np
from scipy import fft

from benchmarks.measure import MILLIONTH, Goal, Section, duration, level, power, seconds, table, ten_ary, timed
from symshuffle import Exp, Law
from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.accountants.deployment.reduced import laws
from symshuffle.accountants.questions.curves import amplification_curve, spaced
from symshuffle.base.numbers import to_float

PUBLISHED: Final = {10**3: 0.75, 10**4: 8.2}
"""Seconds per delta of the published implementation, on a machine of this class."""

PARTS: Final = {"0.1": 1200, "4": 1000}
"""The paper's step is (e^eps0 - 1)/parts."""


def algorithm7(law: Law, n: int, step: float) -> float:
    """Round every atom up to a multiple of ``step``, transform, power, sum: one side, no error bound."""
    places = [math.ceil(to_float(value) / step) for value in law.values]
    origin = min(places)
    mass = np.zeros(max(places) - origin + 1)
    for place, weight in zip(places, law.weights, strict=True):
        mass[place - origin] += to_float(weight)
    size = n * (len(mass) - 1) + 1
    length = fft.next_fast_len(size, real=True)
    total = fft.irfft(fft.rfft(mass, length) ** n, length)[:size]
    first = max(0, -n * origin)  # below it the sum is not positive
    return float(step * (np.arange(first, size) + n * origin) @ total[first:]) / n


def _forward(eps0: str, n: int) -> Law:
    source = ten_ary(eps0)
    (law,) = laws(source.bounds[0], Exp(level(source, n)), "forward", None)
    return law


def at_the_papers_step() -> tuple[str, float, float]:
    """The table, the least ratio at n = 10^4, and the time of Algorithm 7 at eps0 = 4, n = 10^4."""
    rows, ratios, slow = [], [], 0.0
    for eps0, parts in PARTS.items():
        for n, published in PUBLISHED.items():
            law, step = _forward(eps0, n), math.expm1(float(eps0)) / parts
            slow = seconds(partial(algorithm7, law, n, step), 3)
            excess = algorithm7(law, n, step) / float(evaluate_law(law, n, rtol=1e-8).midpoint) - 1
            fine, wide = (seconds(partial(evaluate_law, law, n, rtol=rtol)) for rtol in (1e-6, 1e-2))
            counts = slow <= 1.5 * published
            if n == 10**4 and counts:
                ratios.append(slow / fine)
            figures = (
                duration(slow),
                f"{excess:+.1e}",
                "yes" if counts else "no",
                duration(fine),
                f"{slow / fine:.0f}",
            )
            rows.append((eps0, power(n), *figures, duration(wide), f"{slow / wide:.0f}"))
    head = ("eps0", "n", "Algorithm 7", "its excess", "counts", "auto, 1e-6", "ratio", "auto, 1e-2", "ratio")
    return table(head, rows), min(ratios, default=0.0), slow


def at_equal_width(n: int = 10**3, width: float = 1e-2) -> tuple[str, float]:
    """Algorithm 7 at a fraction of the paper's step at which its excess is at most ``width``; the least ratio."""
    rows, ratios = [], []
    for eps0, parts in PARTS.items():
        law, step = _forward(eps0, n), math.expm1(float(eps0)) / parts
        truth = float(evaluate_law(law, n, rtol=1e-8).midpoint)
        fraction, excess = 1, math.inf
        while excess > width:
            if excess < math.inf:  # nearly proportional to the step
                fraction = math.ceil(1.05 * fraction * excess / width)
            value, slow = timed(partial(algorithm7, law, n, step / fraction))
            excess = value / truth - 1
        auto = seconds(partial(evaluate_law, law, n, rtol=width))
        ratios.append(slow / auto)
        shown = (duration(slow), duration(auto), f"{slow / auto:.0f}")
        rows.append((eps0, f"the paper's / {fraction}", f"{excess:+.1e}", *shown))
    return table(("eps0", "step", "its excess", "Algorithm 7", "auto, 1e-2", "ratio"), rows), min(ratios)


def thirty_points() -> float:
    """Time of an amplification curve from n = 10^3 to 10^6 at eps0 = 1."""
    users = [round(x) for x in spaced(10**3, 10**6, 30, geometric=True)]
    return seconds(partial(amplification_curve, ten_ary("1"), delta=MILLIONTH, users=users, rtol=1e-4), 3)


def section() -> Section:
    printed, ratio, point = at_the_papers_step()
    equal, least = at_equal_width()
    curve = thirty_points()
    text = f"""## Against Algorithm 7 of the paper

`benchmarks/algorithm7.py` is the printed algorithm, one-sided and without an error bound, at the paper's step
((e^eps0 - 1)/1200 at eps0 = 0.1, (e^eps0 - 1)/1000 at eps0 = 4). It counts if it takes at most 1.5 times the published
implementation (0.75 s at n = 10^3, 8.2 s at n = 10^4). `auto` returns both sides, at the relative width in the heading.

{printed}

At equal width, n = 10^3: the paper's step divided until the excess is at most 1e-2.

{equal}

A curve eps(n) of 30 points from n = 10^3 to 10^6, relative width 1e-4, takes {duration(curve)}; Algorithm 7 takes
{duration(point)} for one point at n = 10^4, eps0 = 4."""
    goals = (
        Goal(
            "`auto` at width 1e-6, n = 10^4, at least 100 times faster than Algorithm 7", f"{ratio:.0f}", ratio >= 100
        ),
        Goal(
            "`auto` compared with Algorithm 7 at equal width 1e-2, n = 10^3",
            f"at least {least:.0f} times faster",
            least > 1,
        ),
        Goal(
            "a 30-point curve eps(n) in less time than one point of Algorithm 7 at n = 10^4",
            f"{duration(curve)}, {duration(point)}",
            curve < point,
        ),
    )
    return Section(text, goals)
