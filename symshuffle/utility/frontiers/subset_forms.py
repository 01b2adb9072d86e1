r"""Closed forms of subset selection in the number of inputs, the size and the ratio cap, derived by SymPy.

All of them come from the definition of subset selection. Numbers are read off the texts that :func:`texts` writes into
the file of closed forms (:func:`symshuffle.utility.frontiers.caps.number_of`), without SymPy.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import sympy as sp

from symshuffle.base.numbers import Number, Real
from symshuffle.mechanisms.finite import K, S, subset_selection
from symshuffle.mechanisms.symbolic import LAM, constant_of, evaluate, normal_form, sign_factor, written
from symshuffle.utility.estimation.moments import pairwise_budget, trace

NEIGHBOUR_CHART: Final = {
    LAM: 1 + sp.Symbol("t0", nonnegative=True),
    S: 1 + sp.Symbol("t1", nonnegative=True),
    K: 3 + sp.Symbol("t1", nonnegative=True) + sp.Symbol("t2", nonnegative=True),
}
"""The range ``lam >= 1``, ``1 <= s <= k - 2`` in which ``s`` and ``s + 1`` are both subset sizes."""


BUDGET: Final = sp.Symbol("C", positive=True)
"""The budget in closed forms."""


def _readable(expression: sp.Expr) -> sp.Expr:
    """The expression factored, with the number ``k - s`` of low coordinates written as such."""
    low = sp.Symbol("l", positive=True)
    return sp.factor(normal_form(expression).subs(K, S + low)).subs(low, K - S)


@cache
def subset_trace() -> sp.Expr:
    """Trace of subset selection as an expression in ``k``, ``s`` and ``lambda``.

    Returns
    -------
    sympy.Expr
        For subsets of size ``s`` of ``k`` inputs at the ratio cap ``lambda``.

    Notes
    -----
    anchored, Theorem 9.3.

    Examples
    --------
    >>> subset_trace().subs({K: 2, S: 1, LAM: 3})
    1/2
    """
    return _readable(trace(subset_selection()))


@cache
def subset_budget() -> sp.Expr:
    """The pairwise chi-square divergence of subset selection in ``k``, ``s``, ``lambda``."""
    return _readable(pairwise_budget(subset_selection()))


@cache
def subset_slope() -> sp.Expr:
    """Trace per unit of budget of subset selection in ``k``, ``s``, ``lambda``."""
    return _readable(subset_trace() / subset_budget())


@cache
def tie_polynomial() -> sp.Expr:
    r"""A polynomial with the sign of :math:`T_k(s;\lambda)-T_k(s+1;\lambda)` for every :math:`\lambda>1`."""
    return sign_factor(subset_trace() - subset_trace().subs(S, S + 1), NEIGHBOUR_CHART)


@cache
def tie_form() -> sp.Expr:
    """The ratio cap at which subset sizes ``s`` and ``s + 1`` have the same trace, in ``k`` and ``s``."""
    square = sp.Symbol("q", positive=True)
    (root,) = sp.solve(tie_polynomial().subs(LAM, sp.sqrt(square)), square)
    return sp.sqrt(_readable(root))


@cache
def tangent_slope() -> sp.Expr:
    r"""The slope :math:`dS/dB` of the singleton curve, in ``k`` and ``lambda``."""
    signal, budget = subset_trace().subs(S, 1), subset_budget().subs(S, 1)
    return sp.factor(normal_form(sp.diff(signal, LAM) / sp.diff(budget, LAM)))


@cache
def budget_equation() -> sp.Expr:
    """Polynomial in ``lambda`` for the ratio cap at which k-ary response has budget C.

    Its root above 1 is the ratio at which the pairwise chi-square divergence of k-ary randomized response is ``C``.

    Returns
    -------
    sympy.Expr
        In ``lambda``, ``k`` and ``C``.

    Examples
    --------
    >>> budget_equation()
    lambda**3 + lambda**2*(-C - 1) + lambda*(-C*k + C - 1) + 1
    """
    numerator = sp.fraction(normal_form(subset_budget().subs(S, 1) - BUDGET))[0]
    return sp.collect(sp.expand(numerator), LAM)


def at(expression: sp.Expr, *, k: int, lam: Real, s: int | None = None, bits: int | None = None) -> Number:
    """Evaluate a closed form in ``k``, ``s``, ``lambda``: a fraction where it is rational, otherwise a ball."""
    values = {K: sp.Integer(k), LAM: constant_of(lam)}
    if s is not None:
        values[S] = sp.Integer(s)
    return evaluate(expression.xreplace(values), bits=bits)


def _at_optimum(expression: sp.Expr) -> sp.Expr:
    """A closed form of subset selection at one high coordinate and the ratio sqrt(k - 1)."""
    root = sp.Symbol("t", positive=True)  # t = sqrt(k - 1), so that everything is rational in t
    return sp.factor(expression.subs(S, 1).subs(LAM, root).subs(K, root**2 + 1)).subs(root, sp.sqrt(K - 1))


@cache
def slope_form() -> sp.Expr:
    """Largest ratio of signal to budget of any template, in ``k``."""
    return _at_optimum(subset_slope())


@cache
def threshold_form() -> sp.Expr:
    """Budget of the optimal template that singles out one input, in ``k``."""
    return _at_optimum(subset_budget())


def texts() -> dict[str, str | list[str]]:
    """What the file of closed forms keeps: each form as text, and the lines of LaTeX that commands show."""
    singleton = subset_trace().subs(S, 1)
    return {
        "trace": written(subset_trace()),
        "budget": written(subset_budget()),
        "tie": written(tie_polynomial()),
        "tie ratio": f"sqrt({written(tie_form() ** 2)})",  # one root, which is exact where it is rational
        "tangent": written(tangent_slope()),
        "slope constant": written(slope_form()),
        "threshold budget": written(threshold_form()),
        "frontier latex": [
            rf"\kappa_k = {sp.latex(slope_form())}",
            rf"B_* = {sp.latex(threshold_form())}",
            r"F_k(C) = \kappa_k C \quad (C \le B_*)",
            rf"F_k(C) = {sp.latex(singleton)}, \quad {sp.latex(budget_equation())} = 0 \quad (C \ge B_*)",
        ],
        "size latex": [rf"T_k(s;\lambda) = {sp.latex(subset_trace())}", rf"\lambda_s = {sp.latex(tie_form())}"],
    }
