r"""Permutation-equivariant channels, orbit by orbit: signal, budget, slope, and the best risk under a budget.

Under the group of all permutations the outputs fall into orbits, and an orbit is one template up to rearrangement
(:class:`symshuffle.utility.frontiers.orbit.Orbit`). Signal and budget add up over orbits, and the projected inverse
estimator of the paper is the canonical estimator (:mod:`symshuffle.utility.estimation.canonical`): with trace :math:`T`
its *signal coefficient* is :math:`A=T/(k(k-1))` and its exact fixed-composition risk :math:`\frac{k-1}{kn}(\frac1A-1)`.

The closed forms below are derived from templates given by levels, so they hold for every ``k``; nothing is fitted.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from functools import cache
from typing import Final

import sympy as sp

from symshuffle.base.choices import Population, Rigour, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.mechanisms.finite import K, S, krr
from symshuffle.mechanisms.symbolic import constant_of, evaluate, normal_form
from symshuffle.utility.anchored.law import AnchoredLaw, check_template, template_budget, template_signal
from symshuffle.utility.anchored.mixtures import mix_laws, orbit_law
from symshuffle.utility.estimation.canonical import check_users, isotropic_risk
from symshuffle.utility.estimation.moments import levels_budget, levels_signal
from symshuffle.utility.frontiers.caps import at, check_cap, check_inputs, subset_trace
from symshuffle.utility.frontiers.frontier import LARGEST_CAPPED, ratio_of_budget, trace_frontier
from symshuffle.utility.frontiers.orbit import Orbit, subset_orbit
from symshuffle.utility.frontiers.orbits import LARGEST_LAW, Frontier
from symshuffle.utility.frontiers.subset_family import check_budget, check_size, largest_budget

SPREAD: Final = sp.Symbol("sigma", positive=True)
r"""Standard deviation of the coordinates of a template: :math:`\sigma^2=V/k-1` for square sum ``V``."""

ALPHA: Final = sp.Symbol("alpha", positive=True)
BETA: Final = sp.Symbol("beta", positive=True)

_ULP: Final = Fraction(1, 1 << 80)


def orbit_slope(u: Sequence[Fraction]) -> Fraction:
    r"""Signal coefficient per budget of one template, :math:`(V-k)/(VH-k^2)`.

    Here :math:`V=\sum_iu_i^2` and :math:`H=\sum_i1/u_i`.

    Examples
    --------
    >>> orbit_slope([Fraction(5, 3), *[Fraction(5, 6)] * 4])  # the best of five inputs: ratio 2, slope 1/(1 + 2)^2
    Fraction(1, 9)

    alphabets, Proposition 11.1 (iii).
    """
    check_template(u)
    signal, budget = template_signal(u), template_budget(u)
    if signal == 0 or not isinstance(budget, Fraction):
        raise InputError("template", tuple(map(str, u)), "a template other than 1 with positive coordinates")
    return signal / (len(u) * (len(u) - 1)) / budget


def orbit_mixture(orbits: Sequence[Orbit]) -> AnchoredLaw:
    """The law of an equivariant channel given by its orbits: run an orbit with its weight and publish which."""
    k = sum(count for count, _ in orbits[0].levels) if orbits else 0
    if k > LARGEST_LAW:
        raise Unsupported(f"k = {k}: laws are written out up to k = {LARGEST_LAW}; `Orbit` has signal and budget")
    return mix_laws([orbit_law(orbit.template()) for orbit in orbits], [orbit.weight for orbit in orbits])


def response_mixture(k: int, blocks: Sequence[tuple[Fraction, Fraction]], nulls: Sequence[Fraction] = ()) -> Channel:
    """Disjoint copies of k-ary randomized response beside null symbols.

    - ``k``: number of inputs, at least 2.
    - ``blocks``: each copy is run with its weight, at ratio ``C >= 1``.
    - ``nulls``: probabilities of symbols that say nothing; all weights sum to 1.

    alphabets, Theorem 10.2; one block and one null symbol make Definition 10.1.
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
    r"""Slope of the template proportional to :math:`(\alpha,\beta,1,\dots,1)`, in ``k``, ``alpha``, ``beta``.

    alphabets, Remark 11.4; derived from the three levels.
    """
    total = ALPHA + BETA + K - 2
    levels = ((sp.Integer(1), K * ALPHA / total), (sp.Integer(1), K * BETA / total), (K - 2, K / total))
    return sp.factor(normal_form(levels_signal(levels) / (K * (K - 1)) / levels_budget(levels, K)))


@cache
def two_level_template() -> tuple[sp.Expr, sp.Expr]:
    r"""The two values of a template of spread :math:`\sigma` whose ``s`` high coordinates are equal, as the low ones.

    .. math:: a=1+\sigma\sqrt{(k-s)/s},\qquad b=1-\sigma\sqrt{s/(k-s)},

    the solution of :math:`sa+(k-s)b=k`, :math:`sa^2+(k-s)b^2=k(1+\sigma^2)`, :math:`a>b` (alphabets, Lemma 11.2).
    """
    step = SPREAD * sp.sqrt((K - S) / S)
    return 1 + step, 1 - step * S / (K - S)


@cache
def two_level_reciprocals() -> sp.Expr:
    r"""The sum of reciprocals :math:`F_s=s/a+(k-s)/b` of :func:`two_level_template`, in ``k``, ``s``, ``sigma``.

    It is :math:`k(1+\sigma t)/(1+\sigma t-\sigma^2)` with the skewness :math:`t=\sqrt{(k-s)/s}-\sqrt{s/(k-s)}`, which
    decreases in ``s``; and it decreases in ``t``: one high coordinate is best at every square sum.
    """
    high, low = two_level_template()
    return S / high + (K - S) / low


def smallest_reciprocal_sum(k: int, square_sum: Fraction, s: int = 1, *, bits: int | None = None) -> Fraction | Ball:
    r"""The sum of reciprocals of the template with ``s`` equal high coordinates, sum ``k`` and this square sum.

    At ``s = 1`` it is the smallest of all templates (claim ``symshuffle.alphabets-frontier``).

    - ``k``: number of inputs, at least 3.
    - ``square_sum``: :math:`V` in ``(k, k s_0)``, with :math:`s_0=k/s`: beyond it the low coordinates are not
      positive.
    - ``s``: number of high coordinates, from 1 to ``k - 1``.

    alphabets, Lemma 11.2.
    """
    k = check_inputs(k, 3)
    k, s = check_size(k, s)
    value = Fraction(square_sum)
    if not k < value < Fraction(k * k, s):
        raise InputError("square_sum", square_sum, f"a number in ({k}, {Fraction(k * k, s)}), for {s} high coordinates")
    spread = sp.sqrt(constant_of(value / k - 1))
    found = evaluate(two_level_reciprocals().subs({K: sp.Integer(k), S: sp.Integer(s), SPREAD: spread}), bits=bits)
    if isinstance(found, float):
        raise InputError("square_sum", square_sum, "an exact number")
    return found


def optimal_equivariant_risk(
    k: int, budget: Fraction, *, n: int, population: Population | str, lam_cap: Fraction | None = None
) -> tuple[Bracket, Frontier]:
    r"""Smallest worst-case canonical risk of all channels under a pairwise budget.

    Up to the threshold :math:`(1-1/\sqrt{k-1})^2` it is
    :math:`\frac{k-1}{kn}\big((1+\sqrt{k-1})^2/B-1\big)` (fixed composition), attained by augmented randomized response
    at ratio :math:`\sqrt{k-1}`; beyond it that of k-ary response, which the paper leaves open.

    Parameters
    ----------
    k : int
        Number of inputs, at least 3 and up to 10^15.
    budget : Fraction
        Cap ``B > 0`` on every pairwise chi-square divergence.
    n : int
        Number of users, at least 1.
    population : Population
        Fixed composition (the paper) or i.i.d.
    lam_cap : Fraction, optional
        Additional cap on all likelihood ratios; a budget that no template under the cap has is refused.

    Returns
    -------
    risk : Bracket
        The smallest risk.
    frontier : Frontier
        The largest trace under the budget, with the law that attains it and its certificate.

    Raises
    ------
    InputError
        If an argument is out of range, or no template under the ratio cap has the budget.

    Notes
    -----
    alphabets, Theorems 10.2 and 11.3; anchored, Theorem 7.6.

    Examples
    --------
    >>> optimal_equivariant_risk(5, Fraction(1, 8), n=1, population=Population.FIXED)[0].exact
    Fraction(284, 5)
    """
    population = choice(Population, population, "population")
    k = check_inputs(k, 3)
    n = check_users(n)
    target = check_budget(budget)
    if lam_cap is not None:
        reach, s = largest_budget(k, lam_cap)
        if target > reach:
            allowed = f"a number in (0, {float(reach):.6g}], what size {s} of {k} spends at the ratio cap {lam_cap}"
            raise InputError("budget", budget, allowed)
    found = trace_frontier(k, target, lam_cap=lam_cap)
    return found.risk_constant(population).scaled(Fraction(1, n)), found


def capped_vertices(k: int, lam: Fraction) -> tuple[tuple[int, Fraction, Fraction], ...]:
    r"""The corners of the frontier under a small ratio cap: sizes at the cap, with budget and signal coefficient.

    For :math:`\lambda\le\sqrt{k-1}` the frontier is piecewise linear, from the origin through these points, and flat
    after the last one: every other template at the cap lies below the chords.

    - ``lam``: ratio cap, above 1 and at most :math:`\sqrt{k-1}`; beyond it part of the frontier is a curve.

    Examples
    --------
    >>> [s for s, _, _ in capped_vertices(10, Fraction(2))]
    [1, 2, 3]

    Claim ``symshuffle.alphabets-capped-vertices``; certificates at each budget come from
    :func:`symshuffle.utility.frontiers.frontier.trace_frontier`.
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


def calibrated_risk(k: int, budget: Fraction, *, n: int, population: Population | str) -> Bracket:
    r"""The canonical risk of k-ary randomized response calibrated to a pairwise budget, :math:`\chi_k(C_B)=B`.

    alphabets, Corollary 10.3. The ratio is bracketed by rationals; the risk decreases in it.
    """
    population = choice(Population, population, "population")
    k = check_inputs(k)
    n = check_users(n)
    low = ratio_of_budget(k, check_budget(budget))
    ends = []
    for ratio in (low + _ULP, low):
        trace = at(subset_trace(), k=k, s=1, lam=ratio)
        ends.append(Fraction(isotropic_risk(k, trace, population=population)) / n)
    how = "k-ary response at the ratio of the budget, between two rational ratios"
    return Bracket(ends[0], ends[1], Rigour.EXACT, "closed form", how)


def thinning_gain(k: int, budget: Fraction) -> Bracket:
    r"""Risk of calibrated k-ary response divided by the smallest risk at its budget.

    The composition is fixed. The ratio is at least 1; it tends to :math:`2k/(1+\sqrt{k-1})^2` as the budget falls, and
    is 1 from the threshold on.

    Parameters
    ----------
    k : int
        Number of inputs, at least 3.
    budget : Fraction
        Cap ``B > 0`` on every pairwise chi-square divergence.

    Returns
    -------
    Bracket
        Around the ratio.

    Raises
    ------
    InputError
        If ``k`` or the budget is out of range.

    Notes
    -----
    alphabets, Corollary 10.3.

    Examples
    --------
    >>> round(float(thinning_gain(10, Fraction(3, 22)).midpoint), 6)  # k = 10, C = 2
    1.031519
    """
    best, _ = optimal_equivariant_risk(k, budget, n=1, population=Population.FIXED)
    tuned = calibrated_risk(k, budget, n=1, population=Population.FIXED)
    how = "two exact risks at the same budget"
    lower = max(tuned.lower / best.upper, Fraction(1))  # the optimum is no worse than one of its competitors
    return Bracket(lower, max(tuned.upper / best.lower, lower), Rigour.EXACT, "closed form", how)
