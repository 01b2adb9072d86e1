r"""The law of G of a mixture of orbits, and the largest ratio at which a mixture meets a central target.

For the template :math:`u` of an output and the pair of inputs 0, 1 the certified bound is
:math:`H(n)=\frac1nE(G_1+\dots+G_n)_+` with :math:`G=(u_0-e^\varepsilon u_1)/\min u`, which has mass :math:`\min u`; the
rest of the mass is at 0. The law of G is linear in the law of the template, so a mixture of orbits mixes these laws.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from math import inf
from typing import Any, Final

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.base.choices import Rigour
from symshuffle.base.crossings import first_integer
from symshuffle.base.numbers import Number
from symshuffle.channels.law import Law
from symshuffle.utility.frontiers.orbit import Orbit

STEP: Final = 1 << 16
"""Ratios are multiples of 1/STEP."""

LARGEST_RATIO: Final = 1 << 40
"""Ratios are searched up to this number."""

_WIDTH: Final = 1e-4


def blanket_law(orbits: Sequence[Orbit], exp_eps: Number) -> Law:
    r"""Law of G of a mixture of orbits, for every pair of different inputs.

    - ``orbits``: A mixture: weights that sum to 1, templates of one number of inputs.
    - ``exp_eps``: the target ratio :math:`e^\varepsilon`, at least 1: a fraction or a ball.
    - returned: without a singular part; mass :math:`1-E\min u` of it is at 0.

    Examples
    --------
    >>> from symshuffle.utility.frontiers.orbit import subset_orbit
    >>> law = blanket_law([subset_orbit(3, 1, Fraction(2))], Fraction(1))
    >>> sorted((str(value), str(weight)) for value, weight in law.atoms())
    [('-1', '1/4'), ('0', '1/2'), ('1', '1/4')]
    """
    return Law.from_atoms(_atoms(orbits, exp_eps))


def _atoms(orbits: Sequence[Orbit], exp_eps: Any) -> Iterator[tuple[Any, Fraction]]:
    rest = Fraction(1)
    for orbit in orbits:
        low = min(value for _, value in orbit.levels)
        if low == 0:
            continue  # such outputs are outside the blanket; no search meets them at a finite ratio
        k = sum(count for count, _ in orbit.levels)
        rest -= orbit.weight * low
        for i, (count, high) in enumerate(orbit.levels):
            for j, (others, value) in enumerate(orbit.levels):
                pairs = count * (others - (i == j))
                if pairs:
                    yield high / low - exp_eps * (value / low), orbit.weight * low * Fraction(pairs, k * (k - 1))
    yield Fraction(0), rest


def certified_delta(orbits: Sequence[Orbit], *, n: int, exp_eps: Number, rel: float = _WIDTH) -> Fraction:
    """Upper end of the certified delta H(n) of a mixture of orbits, in doubles with error bounds."""
    return evaluate_law(blanket_law(orbits, exp_eps), n, rigour=Rigour.FLOAT64, rel=rel).upper


def largest_ratio(
    made: Callable[[Fraction], Sequence[Orbit]], *, n: int, exp_eps: Number, delta: Fraction, cap: Fraction | None
) -> Fraction:
    r"""Largest ratio, a multiple of 1/STEP, at which a family of mixtures meets the target; 1 if none above 1 does.

    - ``n``, ``exp_eps``, ``delta``: the target: users, ratio :math:`e^\varepsilon` and delta.
    """

    def meets(ratio: Fraction) -> bool:
        return certified_delta(made(ratio), n=n, exp_eps=exp_eps) <= delta

    if cap is not None and meets(cap):
        return cap
    top = LARGEST_RATIO if cap is None else cap
    excess = 1  # of the ratio, in steps; doubled until it is too large
    while 1 + Fraction(excess, STEP) < top and meets(1 + Fraction(excess, STEP)):
        excess *= 4
    first = first_integer(
        lambda steps: 1 + Fraction(steps, STEP) >= top or not meets(1 + Fraction(steps, STEP)), excess // 4, excess
    )
    return 1 + Fraction(first - 1, STEP) if first else Fraction(1)


def ratio_of(orbits: Sequence[Orbit]) -> Fraction | float:
    """Largest likelihood ratio of a mixture of orbits; infinite if a level is 0."""
    return max((orbit.ratio for orbit in orbits), default=inf)


def trace_of(orbits: Sequence[Orbit]) -> Fraction:
    """Trace of a mixture of orbits."""
    return sum((orbit.weight * orbit.signal for orbit in orbits), start=Fraction(0))
