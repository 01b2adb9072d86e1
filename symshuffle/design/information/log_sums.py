"""Sums of rational functions of ``lam`` times logarithms of linear ones: exact as data, positive by balls on intervals.

A sum is kept by logarithms of primes and of monic linear polynomials, which are independent over the rational
functions: one that vanishes identically is recognised as zero. That a sum is positive on an interval is shown by
Taylor's theorem in balls that cover it; towards ``lam = 1``, where terms cancel, precision grows with the distance.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import flint
import sympy as sp

from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.design.information.measures import LogTerm
from symshuffle.mechanisms.symbolic import LAM

Logarithm: TypeAlias = "tuple[int, Fraction] | None"
"""The logarithm of ``slope * lam + constant``; None stands for the factor 1."""

LogSum: TypeAlias = "dict[Logarithm, Any]"
"""Polynomials in ``lam`` by the logarithm that they multiply."""

_BITS: Final = 160

_TOLERANCE: Final = Fraction(1, 1 << 34)
"""Width, in units of :func:`unit_at`, at which the search for the end of an interval stops."""

_ORDER: Final = 8
"""Order of the Taylor expansions behind the certificates."""

RING: Final = sp.QQ[LAM]


def column_terms(logs: Iterable[LogTerm], subset: int) -> tuple[tuple[Any, Any, Any], ...]:
    """The value of one column, logarithms of the same ratio taken together."""
    merged: dict[tuple[Any, Any], Any] = {}
    lam = RING.gens[0]
    for term in logs:
        ends = (affine(form, subset) for form in (term.factor, term.top, term.bottom))
        factor, top, bottom = (RING(sp.QQ(*a.as_integer_ratio())) + lam * sp.QQ(*b.as_integer_ratio()) for a, b in ends)
        if factor and top != bottom:
            merged[top, bottom] = merged.get((top, bottom), RING.zero) + factor
    return tuple((factor, top, bottom) for (top, bottom), factor in merged.items())


def affine(form: Sequence[Fraction], subset: int) -> tuple[Fraction, Fraction]:
    """A linear form on the column of a subset, as constant and coefficient of ``lam``."""
    inside = sum((v for x, v in enumerate(form) if subset >> x & 1), start=Fraction(0))
    return sum(form, start=Fraction(0)) - inside, inside


def log_sum(terms: Iterable[tuple[Any, Any, Any]]) -> LogSum:
    """A sum of logarithms of ratios, by independent logarithms."""
    total: LogSum = {}
    for factor, top, bottom in terms:
        for sign, polynomial in ((1, top), (-1, bottom)):
            leading = polynomial.LC
            if polynomial.degree() > 0:
                shift = polynomial.coeff(1) / leading
                add_to(total, {(1, Fraction(int(shift.numerator), int(shift.denominator))): factor * sign}, RING.one)
            for part, direction in ((leading.numerator, sign), (leading.denominator, -sign)):
                for prime, power in sp.factorint(int(part)).items():
                    add_to(total, {(0, Fraction(int(prime))): factor * (direction * power)}, RING.one)
    return total


def add_to(total: LogSum, other: LogSum, scale: Any) -> None:
    """Add a multiple of another sum, in place; what cancels is left out."""
    for key, polynomial in other.items():
        changed = total.get(key, RING.zero) + polynomial * scale
        if changed:
            total[key] = changed
        else:
            total.pop(key, None)


def away_from_one(total: LogSum) -> LogSum:
    """A sum of logarithms divided by ``lam - 1`` as long as all its polynomials are divisible: its sign is the same."""
    factor = RING.gens[0] - RING.one
    while True:
        divided = {key: divmod(polynomial, factor) for key, polynomial in total.items()}
        if any(rest for _, rest in divided.values()):
            return total
        total = {key: quotient for key, (quotient, _) in divided.items()}


def evaluate_sum(total: LogSum, lam: flint.arb) -> flint.arb:
    """A sum of logarithms at a ball."""
    found = flint.arb(0)
    for key, polynomial in total.items():
        value = _polynomial(polynomial)(lam)
        found += value if key is None else value * (key[0] * lam + to_arb(key[1])).log()
    return found


def _polynomial(polynomial: Any) -> flint.arb_poly:
    lam = RING.gens[0]
    coefficients = [polynomial.coeff(lam**k if k else 1) for k in range(polynomial.degree() + 1)]
    return flint.arb_poly([to_arb(Fraction(int(c.numerator), int(c.denominator))) for c in coefficients])


def positive_between(conditions: Sequence[LogSum], bits: int) -> Callable[[Fraction, Fraction], bool]:
    r"""A test whether all conditions are certainly positive between two levels, by Taylor's theorem.

    On a ball ``B`` around ``c`` a function lies in :math:`\sum_{k<K} f_k(c)(B-c)^k + f_K(B)(B-c)^K` with its Taylor
    coefficients; reduced costs are differences of large terms, so that :math:`f(B)` alone would be far too wide.
    """
    with working_precision(bits):
        prepared = [[(key, _polynomial(p)) for key, p in condition.items()] for condition in conditions]
        constants = {key: to_arb(key[1]) for condition in conditions for key in condition if key}

    def coefficients(at: flint.arb) -> list[flint.arb_poly]:
        shift = flint.arb_poly([at, 1])
        logs: dict[Logarithm, flint.arb_poly] = {None: flint.arb_poly([1])}
        for key, constant in constants.items():  # Taylor coefficients of the logarithm of a linear function
            value = key[0] * at + constant
            powers = [-((-1 / value) ** k) / k for k in range(1, _ORDER + 1)] if key[0] else []
            logs[key] = flint.arb_poly([value.log(), *powers])
        return [sum((p(shift) * logs[key] for key, p in c), start=flint.arb_poly()) for c in prepared]

    def holds(first: Fraction, last: Fraction) -> bool:
        with working_precision(bits):
            lam = to_arb(first).union(to_arb(last))
            centre = lam.mid()
            away = lam - centre
            for inner, outer in zip(coefficients(centre), coefficients(lam), strict=True):
                taylor = flint.arb_poly([*(inner[k] for k in range(_ORDER)), outer[_ORDER]])
                if not taylor(away) > 0:
                    return False
            return True

    return holds


def reach(holds: Callable[[Fraction, Fraction], bool], start: Fraction, end: Fraction) -> Fraction:
    """How far towards the end the conditions are certified, without a gap from the start."""
    at, step = start, (end - start) / 8
    while at != end and abs(step) > _TOLERANCE * unit_at(at):
        unit = 1 << (48 + _halvings(at + step))
        goal = Fraction(round((at + step) * unit), unit)  # a short denominator, so that ends stay readable
        if abs(goal - start) > abs(end - start):
            goal = end
        at, step = (goal, 2 * step) if holds(at, goal) else (at, step / 4)
    return at


def covered(holds: Callable[[Fraction, Fraction], bool], low: Fraction, high: Fraction) -> bool:
    """Whether the conditions are certified on all of an interval, by halves down to the tolerance of the search."""
    whole = holds(low, high)
    if whole or high - low <= _TOLERANCE * unit_at(low) / 64:
        return whole
    middle = (low + high) / 2
    return covered(holds, low, middle) and covered(holds, middle, high)


def unit_at(level: Fraction) -> Fraction:
    """What widths at a level are compared with: the level, or, next to 1, four times its distance from 1."""
    return min(level, 4 * (level - 1))


def _halvings(level: Fraction) -> int:
    """How many times a distance of 1/4 is halved until it is below the distance of a level from 1; 0 beyond 5/4."""
    return max(0, math.ceil(1 / (4 * (level - 1))).bit_length()) if level < Fraction(5, 4) else 0


def bits_at(level: Fraction) -> int:
    """The precision in which conditions are examined: their terms may cancel to the fourth power of the distance."""
    return _BITS + 4 * _halvings(level)
