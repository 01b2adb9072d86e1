r"""How much a channel can say under a budget: the frontier of trace against pairwise chi-square divergence.

It is the concave envelope of the curve :math:`\lambda\mapsto(B(\lambda),S(\lambda))` of the *singletons*, templates
with one high coordinate: up to the threshold budget a line, attained by augmented randomized response at ratio
:math:`\sqrt{k-1}` (anchored, Theorems 7.5 and 7.9), beyond it the curve itself (claim
``symshuffle.anchored-frontier``). Under a cap on all ratios subset templates at the cap compete with singletons.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, overload

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Number, Real, enclose, parse_rational
from symshuffle.base.results import Bracket
from symshuffle.utility.frontiers.caps import check_cap, check_inputs, matched_ratio, number_of
from symshuffle.utility.frontiers.certificate import DualCertificate, Frontier
from symshuffle.utility.frontiers.contamination import exact_bracket
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, subset_orbit

if TYPE_CHECKING:
    import sympy as sp

_BITS: Final = 80
"""Binary digits of the rational ratios that stand in for irrational optima."""

LARGEST_CAPPED: Final = 1000
"""Inputs beyond which the joint problem with a ratio cap is refused: its certificate has one polynomial per input."""


@overload
def slope_constant() -> sp.Expr: ...
@overload
def slope_constant(k: int, *, bits: int | None = None) -> Number: ...
def slope_constant(k: int | None = None, *, bits: int | None = None) -> Any:
    r"""Largest ratio of signal to budget of any template.

    It is :math:`\kappa_k=k(k-1)/(1+\sqrt{k-1})^2`.

    Parameters
    ----------
    k : int, optional
        Number of inputs; without it the result is an expression in ``k``.
    bits : int, optional
        Precision of the ball where the number is not rational.

    Returns
    -------
    sympy.Expr, Fraction or Ball
        An expression without ``k``; with ``k`` a fraction where the number is rational, and otherwise a ball.

    Raises
    ------
    InputError
        If ``k`` is no integer of at least 2.

    Notes
    -----
    anchored, Lemma 7.2.

    Examples
    --------
    >>> slope_constant(5)
    Fraction(20, 9)
    """
    if k is None:
        from symshuffle.utility.frontiers.formulas import slope_form

        return slope_form()
    return number_of("slope constant", k=check_inputs(k), bits=bits)


@overload
def threshold_budget() -> sp.Expr: ...
@overload
def threshold_budget(k: int, *, bits: int | None = None) -> Number: ...
def threshold_budget(k: int | None = None, *, bits: int | None = None) -> Any:
    r"""Budget of the optimal template that singles out one input.

    It is :math:`B_*=(1-1/\sqrt{k-1})^2`.

    Parameters
    ----------
    k : int, optional
        Number of inputs; without it the result is an expression in ``k``.
    bits : int, optional
        Precision of the ball where the number is not rational.

    Returns
    -------
    sympy.Expr, Fraction or Ball
        An expression without ``k``; with ``k`` a fraction where the number is rational, and otherwise a ball.

    Raises
    ------
    InputError
        If ``k`` is no integer of at least 2.

    Notes
    -----
    anchored, Lemma 7.4.

    Examples
    --------
    >>> threshold_budget(10)
    Fraction(4, 9)
    """
    if k is None:
        from symshuffle.utility.frontiers.formulas import threshold_form

        return threshold_form()
    return number_of("threshold budget", k=check_inputs(k), bits=bits)


def trace_frontier(k: int, budget: object, *, lam_cap: object = None) -> Frontier:
    """Largest trace under a pairwise budget and an optional ratio cap, certified.

    Parameters
    ----------
    k : int
        Number of inputs, at least 2.
    budget : number, text or inf
        Cap ``C >= 0`` on every pairwise chi-square divergence.
    lam_cap : number, text, Exp or inf, optional
        Cap ``exp(eps0) > 1`` on every likelihood ratio; none if it is infinite.

    Returns
    -------
    Frontier
        ``trace.lower`` is attained by ``orbits``, ``trace.upper`` is proved by ``certificate``; they differ by less
        than 1e-20 of the trace, and agree where the optimal law is rational.

    Raises
    ------
    InputError
        If ``k``, the budget or the cap is out of range.

    Notes
    -----
    anchored, Theorems 7.5 and 7.9; the high-budget branch and the joint problem are ours.

    Examples
    --------
    >>> trace_frontier(5, Fraction(1, 8)).trace.exact
    Fraction(5, 18)
    """
    k = check_inputs(k)
    spent: Any = math.inf if budget == math.inf else parse_rational(budget, "budget")
    if spent < 0:
        raise InputError("budget", budget, "a rational of at least 0, or inf")
    if lam_cap is not None and lam_cap != math.inf:
        return _capped(k, spent, check_cap(lam_cap, "lam_cap"))
    if spent == math.inf:
        identity = Orbit(Fraction(1), ((1, Fraction(k)), (k - 1, Fraction(0))))
        top = exact_bracket(identity.signal, "the identity channel: the largest signal of any template")
        return Frontier(k, spent, top, (identity,), DualCertificate(k, Fraction(0), identity.signal))
    return _uncapped(k, Fraction(spent))


def _below_threshold(k: int, budget: Fraction) -> bool:
    """Whether ``C <= (1 - 1/sqrt(m))^2``, ``m = k - 1``, decided without the root."""
    m = k - 1
    # C <= 1 + 1/m - 2/sqrt(m)  <=>  4/m <= (1 + 1/m - C)^2 with 1 + 1/m - C >= 0; besides C < 1
    slack = 1 + Fraction(1, m) - budget
    return budget < 1 and slack >= 0 and slack * slack * m >= 4


def _number(form: str, k: int, lam: Fraction) -> Fraction:
    """A closed form of the singleton curve at a rational ratio."""
    return Fraction(number_of(form, k=k, s=1, lam=lam))  # type: ignore[arg-type]  # rational at a rational ratio


def _root_bounds(k: int) -> tuple[Fraction, Fraction]:
    """Rationals around sqrt(k - 1), equal if it is one of them."""
    scaled = (k - 1) << (2 * _BITS)
    root = math.isqrt(scaled)
    return Fraction(root, 1 << _BITS), Fraction(root + (root * root != scaled), 1 << _BITS)


def _between(lower: Fraction, upper: Fraction, engine: str, evaluation: str) -> Bracket:
    """A trace between rational ends: exact where they agree, and otherwise enclosed."""
    return Bracket(lower, upper, "exact" if lower == upper else "ball", engine, evaluation)


def _uncapped(k: int, budget: Fraction) -> Frontier:
    if _below_threshold(k, budget):
        floor, lam = _root_bounds(k)  # at a ratio rounded up the template's budget is at least the threshold
        share = budget / _number("budget", k, lam) if budget else Fraction(0)
        lower = share * _number("trace", k, lam)
        certificate = DualCertificate(k, Fraction(k * (k - 1)) / (1 + floor) ** 2, Fraction(0))
        evaluation = f"slope constant times budget; augmented randomized response at ratio sqrt({k - 1})"
    else:
        share, lam = Fraction(1), matched_ratio(k, 1, budget).lower
        lower, eta = _number("trace", k, lam), _number("tangent", k, lam)
        certificate = DualCertificate(k, eta, lower - eta * _number("budget", k, lam))
        evaluation = "k-ary randomized response at the ratio of this budget; tangent of the singleton curve"
    mixture = centre_orbit(k, 1 - share), subset_orbit(k, 1, lam, share)
    orbits = tuple(orbit for orbit in mixture if orbit.weight)
    return Frontier(
        k, budget, _between(lower, certificate.bound(budget), "closed form", evaluation), orbits, certificate
    )


def _capped(k: int, budget: Fraction | float, lam_cap: Real) -> Frontier:
    """The joint problem: mixtures of the centre, singletons up to the cap, and subset templates at the cap."""
    if k > LARGEST_CAPPED:
        raise Unsupported(
            f"k = {k}: the joint problem is solved up to k = {LARGEST_CAPPED}; without a cap, or with the cap alone "
            "(symshuffle.utility.frontiers.caps), the closed forms have no limit"
        )
    if isinstance(lam_cap, Fraction):
        inner = outer = lam_cap
    else:
        ball = enclose(lam_cap, _BITS + 16)
        inner, outer = ball.lower, ball.upper
    free = trace_frontier(k, budget)
    if all(orbit.ratio <= inner for orbit in free.orbits):
        return replace(free, lam_cap=lam_cap)  # the cap does not bind
    corners = [centre_orbit(k), *(subset_orbit(k, s, inner) for s in range(1, k // 2 + 2) if s < k)]
    ratios = [_root_bounds(k)[1]]
    if budget != math.inf and budget > 0:
        ratios.append(matched_ratio(k, 1, Fraction(budget)).lower)
    candidates = [*corners, *(subset_orbit(k, 1, lam) for lam in ratios if 1 < lam < inner)]
    mixture, eta, value = _best_mixture(candidates, budget)
    while True:
        # The best singleton for this slope may improve the mixture: the chord meets the curve in a tangent.
        tangent = _tangent_ratio(k, eta, inner)
        grown = [*candidates, subset_orbit(k, 1, tangent)] if tangent is not None else candidates
        better, slope, improved = _best_mixture(grown, budget)
        if improved - value <= value / (1 << _BITS):
            break
        candidates, mixture, eta, value = grown, better, slope, improved
    certificate = _line_above(k, eta, candidates, outer)
    evaluation = f"mixture of {len(mixture)} orbit laws; a line above all templates of ratio at most {lam_cap}"
    upper = max(certificate.bound(budget), value)
    trace = _between(value, upper, "planar hull", evaluation)
    return Frontier(k, budget, trace, mixture, certificate, lam_cap)


def _tangent_ratio(k: int, eta: Fraction, cap: Fraction) -> Fraction | None:
    """The ratio in [sqrt(k - 1), cap] where the singleton curve has slope ``eta``; None if there is none."""
    low, high = _root_bounds(k)[1], cap
    if low >= high or not _number("tangent", k, high) < eta < _number("tangent", k, low):
        return None
    while high - low > Fraction(1, 1 << _BITS):
        middle = Fraction(round((low + high) / 2 * (1 << (_BITS + 4))), 1 << (_BITS + 4))
        if _number("tangent", k, middle) > eta:
            low = middle
        else:
            high = middle
    return low


def _best_mixture(orbits: Sequence[Orbit], budget: Fraction | float) -> tuple[tuple[Orbit, ...], Fraction, Fraction]:
    """The best mixture of at most two orbits within the budget, the slope of the hull there, and its trace."""
    points = [(Fraction(orbit.budget), orbit.signal, orbit) for orbit in orbits]
    alone = max((point for point in points if point[0] <= budget), key=lambda point: point[1])
    best: tuple[tuple[Orbit, ...], Fraction, Fraction] = ((alone[2],), Fraction(0), alone[1])
    for b0, s0, first in points:
        for b1, s1, second in points:
            if not (b0 <= budget < b1 and s0 < s1):
                continue
            share = (Fraction(budget) - b0) / (b1 - b0)
            value = s0 + share * (s1 - s0)
            slope = (s1 - s0) / (b1 - b0)
            if value > best[2] or (value == best[2] and slope > best[1]):  # at a corner: the steepest line to the right
                pair = Orbit(1 - share, first.levels), Orbit(share, second.levels)
                best = (tuple(orbit for orbit in pair if orbit.weight), slope, value)
    return best


def _line_above(k: int, eta: Fraction, orbits: Sequence[Orbit], cap: Fraction) -> DualCertificate:
    """The lowest valid line of this slope, up to a slack that doubles until the certificate holds."""
    height = max(orbit.signal - eta * Fraction(orbit.budget) for orbit in orbits)
    slack = Fraction(0)
    while True:
        certificate = DualCertificate(k, eta, height + slack, cap)
        if certificate.holds():
            return certificate
        slack = 2 * slack if slack else max(height, Fraction(1)) / (1 << (2 * _BITS))
