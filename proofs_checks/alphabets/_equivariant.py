"""Equivariant channels of the claims: vertices under a cap, mixtures of responses, slopes of orbits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import sympy as sp

from proofs_checks._templates import REAL_SIZES, signal_and_budget
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Verdict
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.mechanisms.finite import K, S, krr, subset_selection
from symshuffle.mechanisms.symbolic import LAM, constant_of, evaluate, normal_form, sign_factor
from symshuffle.utility.estimation.moments import levels_budget, levels_signal
from symshuffle.utility.frontiers.caps import (
    check_cap,
    check_inputs,
    check_size,
)
from symshuffle.utility.frontiers.equivariant import ALPHA, BETA, SPREAD
from symshuffle.utility.frontiers.formulas import subset_budget, subset_trace
from symshuffle.utility.frontiers.frontier import LARGEST_CAPPED
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, subset_orbit


def orbit_slope(u: Sequence[Fraction]) -> Fraction:
    """Signal coefficient per budget of one template (alphabets, Proposition 11.1 (iii))."""
    signal, budget = signal_and_budget(u)
    return signal / (len(u) * (len(u) - 1)) / budget


def response_mixture(k: int, blocks: Sequence[tuple[Fraction, Fraction]], nulls: Sequence[Fraction] = ()) -> Channel:
    """Disjoint copies of k-ary randomized response beside null symbols (alphabets, Theorem 10.2).

    - ``blocks``: each copy is run with its weight, at ratio ``C >= 1``.
    - ``nulls``: probabilities of symbols that say nothing; all weights sum to 1.
    """
    k = check_inputs(k)
    for i, (weight, ratio) in enumerate(blocks):
        if weight < 0 or ratio < 1:
            raise InputError(f"blocks[{i}]", f"({weight}, {ratio})", "a weight of at least 0 and a ratio of at least 1")
    for i, mass in enumerate(nulls):
        if mass < 0:
            raise InputError(f"nulls[{i}]", mass, "a probability of at least 0")
    null = Channel(((Fraction(1),),) * k)
    flat = Channel(((Fraction(1, k),) * k,) * k)
    copies = [krr().at(k=k, lam=ratio).channel() if ratio > 1 else flat for _, ratio in blocks]
    parts = [*copies, *[null] * len(nulls)]
    return direct_sum(parts, [*(weight for weight, _ in blocks), *nulls])


@cache
def ordered_pair_slope() -> sp.Expr:
    r"""Slope of the template proportional to :math:`(\alpha,\beta,1,\dots,1)` (alphabets, Remark 11.4)."""
    total = ALPHA + BETA + K - 2
    levels = ((sp.Integer(1), K * ALPHA / total), (sp.Integer(1), K * BETA / total), (K - 2, K / total))
    return sp.factor(normal_form(levels_signal(levels) / (K * (K - 1)) / levels_budget(levels, K)))


@cache
def two_level_template() -> tuple[sp.Expr, sp.Expr]:
    r"""Values :math:`1+\sigma\sqrt{(k-s)/s}` and :math:`1-\sigma\sqrt{s/(k-s)}` at spread ``sigma`` (Lemma 11.2)."""
    step = SPREAD * sp.sqrt((K - S) / S)
    return 1 + step, 1 - step * S / (K - S)


@cache
def two_level_reciprocals() -> sp.Expr:
    """The sum of reciprocals :math:`F_s=s/a+(k-s)/b` of :func:`two_level_template`, in ``k``, ``s``, ``sigma``."""
    high, low = two_level_template()
    return S / high + (K - S) / low


def smallest_reciprocal_sum(k: int, square_sum: Fraction, s: int = 1) -> Fraction | Ball:
    """The sum of reciprocals of the template with ``s`` equal high coordinates, sum ``k`` and this square sum.

    - ``square_sum``: in ``(k, k*k/s)``; beyond it the low coordinates are not positive.

    At ``s = 1`` it is the smallest of all templates (alphabets, Lemma 11.2; claim ``symshuffle.alphabets-frontier``).
    """
    k = check_inputs(k, 3)
    k, s = check_size(k, s)
    value = Fraction(square_sum)
    if not k < value < Fraction(k * k, s):
        raise InputError("square_sum", square_sum, f"a number in ({k}, {Fraction(k * k, s)}), for {s} high coordinates")
    spread = sp.sqrt(constant_of(value / k - 1))
    found = evaluate(two_level_reciprocals().subs({K: sp.Integer(k), S: sp.Integer(s), SPREAD: spread}))
    if isinstance(found, float):
        raise InputError("square_sum", square_sum, "an exact number")
    return found


def capped_vertices(k: int, lam: Fraction) -> tuple[tuple[int, Fraction, Fraction], ...]:
    r"""Corners (size, budget, signal coefficient) of the frontier under a cap of at most :math:`\sqrt{k-1}`.

    There it is piecewise linear, and flat after the last one (claim ``symshuffle.alphabets-capped-vertices``).
    """
    k = check_inputs(k, 3)
    check_cap(lam)
    if k > LARGEST_CAPPED:
        raise Unsupported(f"k = {k}: the corners are listed up to k = {LARGEST_CAPPED}; largest_budget has no limit")
    if lam * lam > k - 1:
        raise InputError(
            "lam", lam, f"a ratio in (1, sqrt({k - 1})], where the frontier under the cap has corners only"
        )
    origin = (0, Fraction(0), Fraction(0))
    points = [origin]
    for s in range(1, k):
        orbit = subset_orbit(k, s, Fraction(lam))
        points.append((s, Fraction(orbit.budget), orbit.signal / (k * (k - 1))))
    hull: list[tuple[int, Fraction, Fraction]] = []
    for point in sorted(points, key=lambda p: (p[1], p[2])):
        while len(hull) > 1 and _turn(hull[-2], hull[-1], point) >= 0:
            hull.pop()
        hull.append(point)
    highest = max(range(len(hull)), key=lambda i: hull[i][2])
    return tuple(hull[1 : highest + 1])


def _turn(
    a: tuple[int, Fraction, Fraction], b: tuple[int, Fraction, Fraction], c: tuple[int, Fraction, Fraction]
) -> Fraction:
    """Above 0 where the path turns left at ``b``."""
    return (b[1] - a[1]) * (c[2] - a[2]) - (c[1] - a[1]) * (b[2] - a[2])


@cache
def risk_constant() -> sp.Expr:
    r"""``n`` times the fixed-composition risk of subset selection, :math:`\frac{k-1}k(1/A_{k,s}(C)-1)`, in k, s, C."""
    return normal_form((K - 1) ** 2 / subset_trace() - (K - 1) / K)


@cache
def ratio_derivative() -> sp.Expr:
    r"""How the matched ratio moves with the size: :math:`dC_s/ds=-\partial_s\chi/\partial_C\chi`, in k, s, C."""
    return sp.factor(normal_form(-sp.diff(subset_budget(), S) / sp.diff(subset_budget(), LAM)))


@cache
def risk_derivative() -> sp.Expr:
    r"""``n`` times the derivative of the matched-budget risk in real ``s``, at :math:`C=C_s`: the chain rule."""
    whole = sp.diff(risk_constant(), S) + sp.diff(risk_constant(), LAM) * ratio_derivative()
    return sp.factor(normal_form(whole))


def is_positive(expression: sp.Expr) -> Verdict:
    """Whether a rational function in k, s, C is positive for all reals ``C > 1``, ``1 < s < k - 1``: a proof."""
    rest = sign_factor(expression, REAL_SIZES)
    return Verdict.of(rest == 1) if rest.is_Integer else Verdict.UNDECIDED


@cache
def inclusion_probabilities() -> tuple[sp.Expr, sp.Expr]:
    """Probabilities that the reported subset holds the input, and another given one (alphabets, Section 12)."""
    (subsets,) = subset_selection().classes
    states = {state.name: state for state in subsets.states}
    hit, miss = states["hit"], states["miss"]
    holding, missing = subsets.size * S / K, subsets.size * (K - S) / K
    other = holding * (S - 1) / (K - 1) * hit.probability + missing * S / (K - 1) * miss.probability
    return sp.factor(normal_form(holding * hit.probability)), sp.factor(normal_form(other))


def thinned_subset_selection(k: int, s: int, lam: Fraction, share: Fraction) -> tuple[Orbit, ...]:
    """Orbits of subset selection with this share of the mass and a null symbol (alphabets, Remark 12.2)."""
    k, s = check_size(k, s)
    check_cap(lam)
    if not 0 < share <= 1:
        raise InputError("share", share, "a number in (0, 1]")
    whole = subset_orbit(k, s, Fraction(lam), Fraction(share))
    return (whole,) if share == 1 else (centre_orbit(k, 1 - Fraction(share)), whole)
