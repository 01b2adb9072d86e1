r"""Lower bounds on frequency estimation from the pairwise budget alone, near a corner of the simplex.

Where input ``a`` has the share :math:`\theta_a`, every message has probability at least :math:`\theta_aW_a`, so that
information and divergences along the edges from ``a`` are at most :math:`\chi_*/\theta_a`. From it follow Cramer-Rao,
a hypercube of side ``h`` (alphabets, Section 8) with a sharper form, and van Trees with a cosine prior on the cube.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final

import flint

from symshuffle.base.crossings import halved, least_between
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import (
    Ball,
    Number,
    Verdict,
    as_integer,
    less,
    to_arb,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.geometry.linear import inverse
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import check_users, fisher_information
from symshuffle.utility.estimation.lower_bounds import ball_bracket, van_trees_bound

_BITS: Final = 128


def cramer_rao_trace(law: AnchoredLaw, composition: Sequence[Fraction], *, n: int) -> Fraction | float:
    """Trace of the inverse Fisher information of ``n`` messages on contrasts; ``inf`` where singular (Section 8)."""
    share = Fraction(1, law.num_inputs)
    information = fisher_information(law, composition, n=n)
    inverted = inverse([[entry + share for entry in row] for row in information])
    if inverted is None:
        return math.inf
    return sum((row[i] - share for i, row in enumerate(inverted)), start=Fraction(0))


def near_vertex_bound(k: int, budget: Number, *, rho: Fraction, n: int) -> Any:
    r"""Bound :math:`(1-\rho)(k-1)/(n\chi_*)` on locally unbiased estimators at a share ``1 - rho`` (Theorem 8.1)."""
    k, n = _check(k, budget, n)
    if not 0 < rho < 1:
        raise InputError("rho", rho, "a share in (0, 1)")
    return (1 - Fraction(rho)) * (k - 1) / (n * budget)


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
    k, n = _check(k, budget, n)
    if not 0 < h <= Fraction(1, 2 * (k - 1)):
        raise InputError(
            "h", h, f"a side in (0, {Fraction(1, 2 * (k - 1))}], so that the corner keeps half of the mass"
        )
    with working_precision(_BITS):
        side = to_arb(Fraction(h))
        value = side**2 * (k - 1) / 8 * (1 - side * (n * to_arb(budget)).sqrt())
    return ball_bracket(value, f"cube of side {float(h):.3g}, Pinsker")


def two_regime_bound(k: int, budget: Number, *, n: int) -> Any:
    r"""Bound :math:`\min\{\frac{k-1}{n\chi_*},\frac1{k-1}\}/64` on every estimator (alphabets, Corollary 8.5)."""
    k, n = _check(k, budget, n)
    few, many = Fraction(1, 64 * (k - 1)), (k - 1) / (64 * n * budget)
    return few if less(few, many) is Verdict.TRUE else many


def sharp_cube_bound(k: int, budget: Number, *, n: int, h: Fraction | None = None) -> Bracket:
    r"""Bound :math:`\frac{(k-1)h^2}4\big(1+\frac{h^2\chi_*}{1-(k-1)h}\big)^{-n}` on every estimator.

    The mean risk on an edge is the posterior variance
    :math:`\frac{h^2}2\sum\frac{pq}{p+q}\ge\frac{h^2}4\big(\sum\sqrt{pq}\big)^2`, and
    :math:`-2\log\sum\sqrt{pq}\le KL\le\log(1+\chi^2)` adds up over users.

    - ``h``: side, in ``(0, 1/(k-1))``; by default the best one, found in doubles: every side gives a valid bound.
    """
    k, n = _check(k, budget, n)
    m, chi = k - 1, float(budget)

    def value(side: float) -> float:
        return 2 * math.log(side) - n * math.log1p(side * side * chi / (1 - m * side))

    chosen = _best_side(m, value) if h is None else _check_side(h, m)
    with working_precision(_BITS):
        side = to_arb(chosen)
        divergence = side**2 * to_arb(budget) / (1 - m * side)
        bound = side**2 * m / 4 * (-n * (1 + divergence).log()).exp()
    return ball_bracket(bound, f"cube of side {float(chosen):.3g}, Hellinger affinity of an edge")


def corner_van_trees(k: int, budget: Number, *, n: int, h: Fraction | None = None) -> Bracket:
    r"""Bound :math:`(k-1)/(\frac{n\chi_*}{1-(k-1)h}+\frac{4\pi^2}{h^2})`, with cosine priors on ``(0, h)``."""
    k, n = _check(k, budget, n)
    m, chi = k - 1, float(budget)

    def value(side: float) -> float:
        return -(n * chi / (1 - m * side) + 4 * math.pi**2 / side**2)

    chosen = _best_side(m, value) if h is None else _check_side(h, m)
    with working_precision(_BITS):
        side = to_arb(chosen)
        information = Ball.from_arb(m * n * to_arb(budget) / (1 - m * side), _BITS)
        prior = Ball.from_arb(m * 4 * flint.arb.pi() ** 2 / side**2, _BITS)
        bound = to_arb(van_trees_bound(information, prior, dimension=m))
    return ball_bracket(bound, f"van Trees, cosine priors on a cube of side {float(chosen):.3g} at a corner")


def best_cube_side(k: int, budget: Number, *, n: int) -> Ball:
    """The side at which :func:`sharp_cube_bound` is largest, enclosed by bisection over the rationals."""
    k, n = _check(k, budget, n)
    if not isinstance(budget, Fraction | int):
        raise InputError("budget", budget, "a rational number, so that signs are decided")

    def falls(side: Fraction) -> bool:
        return bool(cube_slope(k - 1, Fraction(budget), n, side) <= 0)

    return Ball(*halved(falls, Fraction(0), Fraction(1, k - 1), settled=60), 60)


def cube_slope(m: Any, chi: Any, n: Any, h: Any) -> Any:
    """The sign of the derivative of :func:`sharp_cube_bound` in its side, with ``m = k - 1``; takes symbols."""
    rest = 1 - m * h
    return 2 * rest**2 + 2 * chi * h**2 * rest - n * chi * h**2 * (1 + rest)


def _best_side(m: int, value: Callable[[float], float]) -> Fraction:
    """A good side below 1/m, as a rational: unimodal in log h, by golden section."""
    side = least_between(lambda t: -value(math.exp(t)), math.log(1e-12 / m), math.log((1 - 1e-9) / m), steps=200)
    return Fraction(math.exp(side)).limit_denominator(10**9 * m * m) or Fraction(1, 2 * m)


def _check_side(h: Fraction, m: int) -> Fraction:
    if not 0 < h < Fraction(1, m):
        raise InputError("h", h, f"a side in (0, {Fraction(1, m)}), so that the corner keeps some mass")
    return Fraction(h)


def _check(k: int, budget: Number, n: int) -> tuple[int, int]:
    k, n = as_integer(k, "k", 2), check_users(n)
    if isinstance(budget, float) or less(0, budget) is not Verdict.TRUE:
        raise InputError(
            "budget", budget, "an exact number > 0 (budget 0 needs no bound, because nothing can be learned)"
        )
    return k, n
