"""Permutation-equivariant channels, orbit by orbit: signal, budget, slope, and the best risk under a budget.

Under all permutations an orbit of outputs is one template up to rearrangement, and signal and budget add up over
orbits; with trace :math:`T` the *signal coefficient* is :math:`A=T/(k(k-1))`. Subset selection of size ``s`` has its
smallest risk at a budget at ``s = 1``: the derivative in real ``s`` follows by implicit differentiation, and its sign
from the signs of coefficients in :math:`C=1+c`, :math:`s=1+u`, :math:`k=2+u+w`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

import sympy as sp

from symshuffle.base.choices import Population, choice
from symshuffle.base.crossings import first_integer
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, format_decimal, lower_end
from symshuffle.base.results import Bracket
from symshuffle.utility.estimation.canonical import isotropic_risk
from symshuffle.utility.frontiers.caps import (
    check_budget,
    check_cap,
    check_inputs,
    check_size,
    matched_ratio,
    number_of,
)
from symshuffle.utility.frontiers.certificate import Frontier
from symshuffle.utility.frontiers.frontier import trace_frontier

SPREAD: Final = sp.Symbol("sigma", positive=True)
r"""Standard deviation of the coordinates of a template: :math:`\sigma^2=V/k-1` for square sum ``V``."""

ALPHA: Final = sp.Symbol("alpha", positive=True)
BETA: Final = sp.Symbol("beta", positive=True)


def optimal_equivariant_risk(
    k: int, budget: Fraction, *, n: int, population: Population, lam_cap: Fraction | None = None
) -> tuple[Bracket, Frontier]:
    r"""Smallest worst-case canonical risk of all channels under a pairwise budget.

    Up to the threshold :math:`(1-1/\sqrt{k-1})^2` it is that of augmented randomized response at ratio
    :math:`\sqrt{k-1}`, beyond it that of k-ary response.

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
    >>> optimal_equivariant_risk(5, Fraction(1, 8), n=1, population="fixed")[0].exact
    Fraction(284, 5)
    """
    population = choice(Population, population, "population")
    k = check_inputs(k, 3)
    n = as_integer(n, "n", 1)
    target = check_budget(budget)
    if lam_cap is not None:
        reach, s = largest_budget(k, lam_cap)
        if target > reach:
            most = format_decimal(lower_end(reach), digits=7, up=False)
            allowed = f"a number in (0, {most}], what size {s} of {k} spends at the ratio cap {lam_cap}"
            raise InputError("budget", budget, allowed)
    found = trace_frontier(k, target, lam_cap=lam_cap)
    return found.risk_constant(population).scaled(Fraction(1, n)), found


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
    k = check_inputs(k, 3)
    best, _ = optimal_equivariant_risk(k, budget, n=1, population="fixed")
    tuned = matched_risk(k, 1, budget, n=1)
    evaluation = "two exact risks at the same budget"
    lower = max(tuned.lower / best.upper, Fraction(1))  # the optimum is no worse than one of its competitors
    return Bracket(lower, max(tuned.upper / best.lower, lower), "exact", "closed form", evaluation)


def matched_risk(k: int, s: int, budget: Fraction, *, n: int, population: Population = "fixed") -> Bracket:
    r"""Risk :math:`\frac{k-1}{kn}(1/A-1)` of size ``s`` at a pairwise budget, in a bracket (Theorem 12.1)."""
    population = choice(Population, population, "population")
    n, (k, s) = as_integer(n, "n", 1), check_size(k, s)
    ratio = matched_ratio(k, s, budget)
    ends = [
        Fraction(isotropic_risk(k, number_of("trace", k=k, s=s, lam=lam), population=population)) / n
        for lam in (ratio.upper, ratio.lower)
    ]
    evaluation = f"subsets of size {s}, at two rational ratios around the matched one"
    return Bracket(ends[0], ends[1], "exact", "closed form", evaluation)


def largest_budget(k: int, lam: Fraction) -> tuple[Fraction, int]:
    r"""The largest pairwise budget of an equivariant channel of ratio at most ``lam``, and the subset size of it.

    A template's budget is convex in it, so it is largest at a subset template at the cap; :math:`\chi_{k,s}(\lambda)`
    increases in ``s`` as long as :math:`\lambda s^2\le(k-s)^2` (claim ``symshuffle.alphabets-largest-budget``).
    """
    k = check_inputs(k)
    cap: Any = check_cap(lam)
    low = first_integer(lambda s: cap * s**2 > (k - s) ** 2, 1, k) - 1  # the largest s with <=, or 1
    spent: Any = {s: number_of("budget", k=k, s=s, lam=Fraction(cap)) for s in (low, min(low + 1, k - 1))}
    return max((value, s) for s, value in spent.items())
