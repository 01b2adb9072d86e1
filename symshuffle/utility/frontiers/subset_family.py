r"""Subset selection at a given pairwise budget: which subset size, and why it is 1.

At budget ``B`` the size ``s`` runs at the ratio :math:`C_s` with :math:`\chi_{k,s}(C_s)=B`. The derivative of the risk
in real ``s`` follows from the definition of the mechanism by implicit differentiation, and its sign, for all admissible
parameters at once, from the signs of coefficients in :math:`C=1+c`, :math:`s=1+u`, :math:`k=2+u+w`.
"""

from __future__ import annotations

from fractions import Fraction
from functools import cache
from typing import Any, Final

import flint
import sympy as sp

from symshuffle.base.choices import Population, Rigour, choice
from symshuffle.base.crossings import first_integer
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Real, Verdict, as_integer, less
from symshuffle.base.results import Bracket
from symshuffle.mechanisms.finite import K, S, subset_selection
from symshuffle.mechanisms.symbolic import LAM, normal_form
from symshuffle.utility.estimation.canonical import check_users, isotropic_risk
from symshuffle.utility.frontiers.caps import at, check_cap, check_inputs, sign_factor, subset_budget, subset_trace
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, subset_orbit

_BITS: Final = 80
"""Binary digits after the point of a calibrated ratio."""

REAL_SIZES: Final = {
    LAM: 1 + sp.Symbol("c", nonnegative=True),
    S: 1 + sp.Symbol("u", nonnegative=True),
    K: 2 + sp.Symbol("u", nonnegative=True) + sp.Symbol("w", nonnegative=True),
}
"""The admissible reals: ``C >= 1``, ``1 <= s <= k - 1``."""


def check_size(k: int, s: int) -> tuple[int, int]:
    """Read a number of inputs and the size of a proper, non-empty subset of them."""
    k = check_inputs(k)
    return k, as_integer(s, "s", 1, k - 1)


def check_budget(budget: Fraction | int) -> Fraction:
    """A budget as a fraction, refused unless it is above 0 and finite."""
    if isinstance(budget, bool) or not isinstance(budget, Fraction | int) or budget <= 0:
        raise InputError("budget", budget, "a rational number > 0 (0 allows only channels that say nothing)")
    return Fraction(budget)


@cache
def _budget_terms() -> tuple[sp.Expr, sp.Expr]:
    numerator, denominator = sp.fraction(normal_form(subset_budget()))
    return numerator, denominator


def matched_ratio(k: int, s: int, budget: Fraction, *, lam_cap: Real | None = None) -> Bracket:
    r"""Ratio cap at which subset selection of size ``s`` has a given pairwise budget.

    It is the :math:`C_s>1` with :math:`\chi_{k,s}(C_s)=B`.

    Parameters
    ----------
    k, s : int
        Number of inputs and size of the subsets, ``1 <= s <= k - 1``.
    budget : Fraction
        ``B > 0``; without a cap every such budget is attained, because :math:`\chi_{k,s}` grows from 0 without bound.
    lam_cap : Fraction or Exp, optional
        Largest ratio allowed.

    Returns
    -------
    Bracket
        Of width ``2**-80``; of width 0 where the ratio is a multiple of that.

    Raises
    ------
    InputError
        If ``k``, ``s`` or the budget is out of range, or the budget is not attained under the cap; the message gives
        the attainable range.

    Notes
    -----
    alphabets, Theorem 12.1.

    Examples
    --------
    >>> matched_ratio(10, 1, Fraction(3, 22)).exact
    Fraction(2, 1)
    """
    k, s = check_size(k, s)
    target = check_budget(budget)
    if lam_cap is not None:
        top = at(subset_budget(), k=k, s=s, lam=check_cap(lam_cap, "lam_cap"))
        if less(top, target) is Verdict.TRUE:
            raise InputError(
                "budget",
                budget,
                f"a number in (0, {float(top):.6g}], the range of size {s} of {k} up to ratio {lam_cap}",
            )
    terms = (sp.Poly(part.subs({K: k, S: s}), LAM).all_coeffs()[::-1] for part in _budget_terms())
    spent, unit = (flint.fmpq_poly([flint.fmpq(int(c.p), int(c.q)) for c in part]) for part in terms)
    excess = spent - flint.fmpq(target.numerator, target.denominator) * unit

    def beyond(scaled: int) -> bool:
        return bool(excess(flint.fmpq(scaled, 1 << _BITS)) > 0)

    low, high = 1 << _BITS, 2 << _BITS
    while not beyond(high):
        low, high = high, 2 * high
    high = first_integer(beyond, low, high)
    exact = excess(flint.fmpq(high - 1, 1 << _BITS)) == 0
    lower, upper = Fraction(high - 1, 1 << _BITS), Fraction(high - exact, 1 << _BITS)
    return Bracket(lower, upper, Rigour.EXACT, "bisection", f"signs of the budget equation of size {s} over Q")


def matched_risk(
    k: int, s: int, budget: Fraction, *, n: int, population: Population | str = Population.FIXED
) -> Bracket:
    r"""The exact canonical risk of subsets of size ``s`` at a pairwise budget, :math:`\frac{k-1}{kn}(1/A-1)`.

    It increases in ``s`` (alphabets, Theorem 12.1); two rational ratios around :math:`C_s` bracket it.
    """
    population = choice(Population, population, "population")
    n = check_users(n)
    ratio = matched_ratio(k, s, budget)
    ends = [
        Fraction(isotropic_risk(k, at(subset_trace(), k=k, s=s, lam=lam), population=population)) / n
        for lam in (ratio.upper, ratio.lower)
    ]
    how = f"subsets of size {s}, at two rational ratios around the matched one"
    return Bracket(ends[0], ends[1], Rigour.EXACT, "closed form", how)


def largest_budget(k: int, lam: Fraction) -> tuple[Fraction, int]:
    r"""The largest pairwise budget of an equivariant channel of ratio at most ``lam``, and the subset size of it.

    A template's budget is convex in it, so it is largest at a subset template at the cap; :math:`\chi_{k,s}(\lambda)`
    increases in ``s`` as long as :math:`\lambda s^2\le(k-s)^2` (claim ``symshuffle.alphabets-largest-budget``).
    """
    k = check_inputs(k)
    check_cap(lam)
    low = first_integer(lambda s: lam * s**2 > (k - s) ** 2, 1, k) - 1  # the largest s with <=, or 1
    spent: Any = {s: at(subset_budget(), k=k, s=s, lam=Fraction(lam)) for s in (low, min(low + 1, k - 1))}
    return max((value, s) for s, value in spent.items())


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


def has_one_sign(expression: sp.Expr, sign: int = 1) -> Verdict:
    """Whether a rational function in k, s, C has this sign for all reals ``C > 1``, ``1 < s < k - 1``: a proof."""
    rest = sign_factor(expression, REAL_SIZES)
    return Verdict.of(rest == sign) if rest.is_Integer else Verdict.UNDECIDED


@cache
def inclusion_probabilities() -> tuple[sp.Expr, sp.Expr]:
    """Probabilities that the reported subset holds the input, and another given one (alphabets, Section 12).

    Of the subsets ``s/k`` contain the input; of those a share ``(s-1)/(k-1)`` contain a given other input, and of the
    rest a share ``s/(k-1)``.
    """
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
