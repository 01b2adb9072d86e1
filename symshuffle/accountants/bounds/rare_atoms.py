r"""Laws of G beyond the range of doubles: the rare atoms apart, and the others in units of their size.

Let p be the total weight of the rare atoms, :math:`p_r` that of the value :math:`v_r`, and C the law of the others.
From above, a rare atom below another value is moved up to it, which lowers no sum; let U be the law of all that is left
but the rare atoms above every other value, the largest ones. A draw of G can be made of a draw of U, which one of these
replaces with probability :math:`p_r`, and :math:`(x+y)_+\le x_++y_+` gives

.. math:: E\Big[\tfrac1n\Big(\sum_{i\le n}G_i\Big)_+\Big]\le H_U(n)+\sum_{r\text{ largest}}p_rE[(v_r-U)_+].

From below it is enough to look at no rare atom or one among n draws, where Jensen's inequality serves for the others:

.. math:: E\Big[\tfrac1n\Big(\sum_{i\le n}G_i\Big)_+\Big]\ge
   (1-p)^{n-1}\Big[(1-p)H_C(n)+\sum_rp_r\big(v_r+(n-1)E[C]\big)_+\Big].
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from symshuffle.base.choices import weakest_arithmetic
from symshuffle.base.numbers import exact_sum, lower_end, upper_end
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law

_RARE: Final = (Fraction(1, 1 << 128), Fraction(1, 1 << 960))
"""Weights below which an atom is rare: the first leaves n p small for every n; doubles lose digits below the second."""

_FAR_FROM_ONE: Final = 512
"""Power of 2 beyond which, up or down, values leave the range in which doubles square them."""


def beyond_doubles(law: Law) -> bool:
    """Whether a weight is too small for doubles, or a value too large or small for their squares."""
    sizes = [max(abs(lower_end(value)), abs(upper_end(value))) for value in law.values]
    largest = max(sizes)
    power = largest.numerator.bit_length() - largest.denominator.bit_length()
    return abs(power) >= _FAR_FROM_ONE or any(upper_end(weight) < _RARE[-1] for weight in law.weights)


def without_rare_atoms(law: Law, n: int, rtol: float, answer: Callable[[Law], Bracket | None]) -> Bracket | None:
    """Bracket around H(n) from that of the law without its rare atoms, in units of its largest value.

    None where no atom is rare and no value far from 1, or where ``answer`` has no bracket. A bracket wider than
    ``rtol`` has ``aimed`` set.
    """
    if not law.enclosed:
        return None
    best, before = None, -1
    for least in _RARE:
        rare: list[tuple[Any, Any]] = [atom for atom in law.atoms() if upper_end(atom[1]) < least]
        if len(rare) == before or len(rare) == len(law.values):
            continue
        before = len(rare)
        others = [atom for atom in law.atoms() if upper_end(atom[1]) >= least]
        found = _apart(law, rare, others, n, rtol, answer)
        if found is not None and (best is None or found.width < best.width):
            best = found
        if best is not None and best.aimed is None:
            break
    return best


def _apart(
    law: Law,
    rare: list[tuple[Any, Any]],
    others: list[tuple[Any, Any]],
    n: int,
    rtol: float,
    answer: Callable[[Law], Bracket | None],
) -> Bracket | None:
    """Bracket with some atoms apart; None where there are none, and the others need no other unit."""
    largest = max(abs(end) for value, _ in others for end in (lower_end(value), upper_end(value)))
    power = largest.numerator.bit_length() - largest.denominator.bit_length()
    if not rare and abs(power) < _FAR_FROM_ONE:
        return None
    unit = Fraction(2) ** power
    moved, largest_ones = list(others), []
    for value, weight in rare:
        above = [i for i, (v, _) in enumerate(others) if lower_end(v) >= upper_end(value)]
        if above:
            nearest = min(above, key=lambda i: upper_end(others[i][0]))
            moved[nearest] = moved[nearest][0], moved[nearest][1] + weight
        else:
            largest_ones.append((value, weight))
    common, raised = _in_unit(others, unit), _in_unit(moved, unit)
    low = answer(common)
    high = low if not rare else answer(raised)
    if low is None or high is None:
        return None
    share = sum((upper_end(weight) for _, weight in rare), start=Fraction(0))
    mean = (n - 1) * lower_end(common.mean) * unit
    alone = sum((lower_end(w) * max(lower_end(v) + mean, Fraction(0)) for v, w in rare), start=Fraction(0))
    replaced = Fraction(0)
    for value, weight in largest_ones:
        steps = ((upper_end(value) - lower_end(v) * unit, upper_end(w)) for v, w in raised.atoms())
        replaced += upper_end(weight) * sum((max(step, Fraction(0)) * w for step, w in steps), start=Fraction(0))
    kept = max(1 - (n - 1) * share, Fraction(0))  # at most (1 - p)^(n - 1)
    lower = kept * ((1 - share) * max(low.lower, Fraction(0)) * unit + alone) + lower_end(law.singular)
    upper = high.upper * unit + replaced + upper_end(law.singular)
    evaluation = f"{len(rare)} rare atoms apart, the others in units of 2^{power}: {high.evaluation}"
    arithmetic = weakest_arithmetic((low.arithmetic, high.arithmetic, "ball"))
    close = upper - lower <= Fraction(rtol) * upper
    return replace(
        high, lower=lower, upper=upper, arithmetic=arithmetic, evaluation=evaluation, aimed=None if close else rtol
    )


def _in_unit(atoms: list[tuple[Any, Any]], unit: Fraction) -> Law:
    """The law of some of the atoms, in another unit."""
    total = exact_sum(weight for _, weight in atoms)
    return Law.from_atoms((value / unit, weight / total) for value, weight in atoms)
