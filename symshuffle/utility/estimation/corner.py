r"""Lower bounds on frequency estimation from the pairwise budget alone, near a corner of the simplex.

Where input ``a`` has the share :math:`\theta_a`, every message has probability at least :math:`\theta_aW_a`, so that
information and divergences along the edges from ``a`` are at most :math:`\chi_*/\theta_a`. From it follow Cramer-Rao,
a hypercube of side ``h`` (alphabets, Section 8) with a sharper form, and van Trees with a cosine prior on the cube.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, Final

import flint

from symshuffle.base.crossings import least_between
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
from symshuffle.utility.estimation.lower_bounds import ball_bracket, van_trees_bound

_BITS: Final = 128


def near_vertex_bound(k: int, budget: Number, *, rho: Fraction, n: int) -> Any:
    r"""Bound :math:`(1-\rho)(k-1)/(n\chi_*)` on locally unbiased estimators at a share ``1 - rho`` (Theorem 8.1)."""
    k, n = check_problem(k, budget, n)
    if not 0 < rho < 1:
        raise InputError("rho", rho, "a share in (0, 1)")
    return (1 - Fraction(rho)) * (k - 1) / (n * budget)


def two_regime_bound(k: int, budget: Number, *, n: int) -> Any:
    r"""Bound :math:`\min\{\frac{k-1}{n\chi_*},\frac1{k-1}\}/64` on every estimator (alphabets, Corollary 8.5)."""
    k, n = check_problem(k, budget, n)
    few, many = Fraction(1, 64 * (k - 1)), (k - 1) / (64 * n * budget)
    return few if less(few, many) is Verdict.TRUE else many


def sharp_cube_bound(k: int, budget: Number, *, n: int, h: Fraction | None = None) -> Bracket:
    r"""Bound :math:`\frac{(k-1)h^2}4\big(1+\frac{h^2\chi_*}{1-(k-1)h}\big)^{-n}` on every estimator.

    The mean risk on an edge is the posterior variance
    :math:`\frac{h^2}2\sum\frac{pq}{p+q}\ge\frac{h^2}4\big(\sum\sqrt{pq}\big)^2`, and
    :math:`-2\log\sum\sqrt{pq}\le KL\le\log(1+\chi^2)` adds up over users.

    - ``h``: side, in ``(0, 1/(k-1))``; by default the best one, found in doubles: every side gives a valid bound.
    """
    k, n = check_problem(k, budget, n)
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
    k, n = check_problem(k, budget, n)
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


def _best_side(m: int, value: Callable[[float], float]) -> Fraction:
    """A good side below 1/m, as a rational: unimodal in log h, by golden section."""
    side = least_between(lambda t: -value(math.exp(t)), math.log(1e-12 / m), math.log((1 - 1e-9) / m), steps=200)
    return Fraction(math.exp(side)).limit_denominator(10**9 * m * m) or Fraction(1, 2 * m)


def _check_side(h: Fraction, m: int) -> Fraction:
    if not 0 < h < Fraction(1, m):
        raise InputError("h", h, f"a side in (0, {Fraction(1, m)}), so that the corner keeps some mass")
    return Fraction(h)


def check_problem(k: int, budget: Number, n: int) -> tuple[int, int]:
    """Numbers of inputs and users, checked; the budget is an exact number above 0."""
    k, n = as_integer(k, "k", 2), as_integer(n, "n", 1)
    if isinstance(budget, float) or less(0, budget) is not Verdict.TRUE:
        raise InputError(
            "budget", budget, "an exact number > 0 (budget 0 needs no bound, because nothing can be learned)"
        )
    return k, n
