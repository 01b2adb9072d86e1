"""Estimation in the claims: Fisher information, priors, bounds at corners of the simplex and over cubes."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, Final

from symshuffle.base.crossings import halved
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import (
    Ball,
    Number,
    as_integer,
    to_arb,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.geometry.linear import Matrix, dot, inverse, second_moment
from symshuffle.utility.anchored.law import AnchoredLaw, check_composition
from symshuffle.utility.estimation.canonical import canonical_risk
from symshuffle.utility.estimation.lower_bounds import ball_bracket, check_problem

_BITS: Final = 128


def cramer_rao_trace(law: AnchoredLaw, composition: Sequence[Fraction], *, n: int) -> Fraction | float:
    """Trace of the inverse Fisher information of ``n`` messages on contrasts; ``inf`` where singular (Section 8)."""
    share = Fraction(1, law.num_inputs)
    information = fisher_information(law, composition, n=n)
    inverted = inverse([[entry + share for entry in row] for row in information])
    if inverted is None:
        return math.inf
    return sum((row[i] - share for i, row in enumerate(inverted)), start=Fraction(0))


def decoding_bound(coordinates: int, alpha: Any) -> Any:
    r"""Expected Hamming errors, averaged over a cube, of every decoder: at least :math:`m(1-\alpha)/2`.

    ``alpha`` bounds the total variation between the laws at the ends of every edge (alphabets, Lemma 8.3). What is
    averaged is the mean error over both ends of an edge: the larger of the two, of which the printed proof speaks,
    could not be averaged.
    """
    if coordinates < 1:
        raise InputError("coordinates", coordinates, "an integer of at least 1")
    if isinstance(alpha, Fraction | int) and not 0 <= alpha <= 1:
        raise InputError("alpha", alpha, "a total variation in [0, 1]")
    return coordinates * (1 - alpha) / 2


def cube_bound(k: int, budget: Number, *, n: int, h: Fraction) -> Bracket:
    r"""Bound :math:`\frac{(k-1)h^2}8(1-h\sqrt{n\chi_*})` by a side ``h`` in ``(0, 1/(2(k-1))]`` (Theorem 8.4)."""
    k, n = check_problem(k, budget, n)
    if not 0 < h <= Fraction(1, 2 * (k - 1)):
        raise InputError(
            "h", h, f"a side in (0, {Fraction(1, 2 * (k - 1))}], so that the corner keeps half of the mass"
        )
    with working_precision(_BITS):
        side = to_arb(Fraction(h))
        value = side**2 * (k - 1) / 8 * (1 - side * (n * to_arb(budget)).sqrt())
    return ball_bracket(value, f"cube of side {float(h):.3g}, Pinsker")


def best_cube_side(k: int, budget: Number, *, n: int) -> Ball:
    """The side at which :func:`sharp_cube_bound` is largest, enclosed by bisection over the rationals."""
    k, n = check_problem(k, budget, n)
    if not isinstance(budget, Fraction | int):
        raise InputError("budget", budget, "a rational number, so that signs are decided")

    def falls(side: Fraction) -> bool:
        return bool(cube_slope(k - 1, Fraction(budget), n, side) <= 0)

    return Ball(*halved(falls, Fraction(0), Fraction(1, k - 1), settled=60), 60)


def cube_slope(m: Any, chi: Any, n: Any, h: Any) -> Any:
    """The sign of the derivative of :func:`sharp_cube_bound` in its side, with ``m = k - 1``; takes symbols."""
    rest = 1 - m * h
    return 2 * rest**2 + 2 * chi * h**2 * rest - n * chi * h**2 * (1 + rest)


def shrunken_iid_risk(law: AnchoredLaw, composition: Sequence[Fraction], *, n: int, factor: Fraction) -> Any:
    r"""The i.i.d. risk of :math:`\frac1k1+a(\hat w-\frac1k1)`: :math:`a^2R_{\rm iid}(w)+(1-a)^2|w-\frac1k1|^2`."""
    w = check_composition(composition, law.num_inputs)
    bias = dot(w, w) - Fraction(1, law.num_inputs)
    return factor**2 * canonical_risk(law, w, n=n, population="iid") + (1 - factor) ** 2 * bias


def fisher_information(law: AnchoredLaw, composition: Sequence[Fraction], *, n: int = 1) -> Matrix:
    r"""Fisher information :math:`n\,E[(u-1)(u-1)^T/(w\cdot u)]` about :math:`w`, on contrasts (Proposition 5.2)."""
    n = as_integer(n, "n", 1)
    w = check_composition(composition, law.num_inputs)
    seen = [dot(w, u) for u in law.templates]
    if not all(seen):
        raise InputError("composition", tuple(map(str, w)), "a composition under which every output can occur")
    weights = [n * weight / mass for weight, mass in zip(law.weights, seen, strict=True)]
    return second_moment([[entry - 1 for entry in u] for u in law.templates], weights)


def prior_information(density: Any, symbol: Any, lower: Any, upper: Any) -> Any:
    r"""The information :math:`\int_a^b\pi'^2/\pi` of a prior density on an interval, by SymPy."""
    import sympy as sp

    total = sp.simplify(sp.integrate(density, (symbol, lower, upper)))
    if total != 1:
        raise InputError("density", f"total mass {total}", "a probability density on the interval")
    for end in (lower, upper):
        height = sp.simplify(density.subs(symbol, end))
        if height != 0:
            raise InputError("density", f"{height} at {end}", "0 at both ends: otherwise the bound is false")
    integrand = sp.simplify(sp.diff(density, symbol) ** 2 / density)
    return sp.simplify(sp.integrate(integrand, (symbol, lower, upper)))


def cosine_prior(symbol: Any, radius: Any) -> Any:
    r"""The density :math:`\cos^2(\pi t/2r)/r` on :math:`[-r,r]`, of information :math:`\pi^2/r^2`, in SymPy."""
    import sympy as sp

    return sp.cos(sp.pi * symbol / (2 * radius)) ** 2 / radius
