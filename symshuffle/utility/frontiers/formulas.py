r"""Formulas in open parameters: of subset selection, and of what any mechanism says and hides.

Closed forms of subset selection in the number of inputs, the size and the ratio cap, derived by SymPy.

All of them come from the definition of subset selection. Numbers are read off the texts that :func:`texts` writes into
the file of closed forms (:func:`symshuffle.utility.frontiers.caps.number_of`), without SymPy.

What a mechanism says and hides at all levels: moments, risks and envelopes as formulas in the parameters left open.

Envelopes are those of the contamination pair (:mod:`symshuffle.utility.frontiers.contamination`) at the ratio cap of
the mechanism, with ``lam``, the number of users and the order of the divergence as symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, Final, final

import sympy as sp

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Number, Real
from symshuffle.mechanisms.display import factored, latex
from symshuffle.mechanisms.finite import K, S, subset_selection
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, constant_of, evaluate, expression_of, normal_form, sign_factor, written
from symshuffle.utility.estimation.moments import TemplateClass, pairwise_budget, trace
from symshuffle.utility.estimation.symbolic_law import SymbolicLaw
from symshuffle.utility.frontiers.filed_laws import FORMULAS

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


USERS: Final = sp.Symbol("n", integer=True, positive=True)
EPS: Final = sp.Symbol("eps", nonnegative=True)
_EXP_EPS: Final = sp.exp(EPS)
_COUNT: Final = sp.Symbol("c", integer=True, nonnegative=True)


def chi_square_envelope(cap: Any, n: Any = USERS) -> sp.Expr:
    """The largest chi-square divergence :math:`(L-1)^2/(Ln)` of the contamination pair at a ratio cap ``L``."""
    ratio, users = _at_least_one(cap, "cap"), _at_least_one(n, "n", integer=True)
    return sp.oo if ratio is sp.oo else (ratio - 1) ** 2 / (ratio * users)


def hockey_stick_envelope(cap: Any, n: Any = USERS, *, gamma: Any = _EXP_EPS) -> sp.Expr:
    r"""The largest hockey-stick divergence of the contamination pair at a ratio cap, as a finite sum over counts.

    .. math:: \frac1{(1+L)^n}\sum_{c=0}^n\binom ncL^{n-c}\Bigl(\frac{cL+(n-c)/L}n-\gamma\Bigr)_+
    """
    ratio, users = _at_least_one(cap, "cap"), _at_least_one(n, "n", integer=True)
    order = _at_least_one(gamma, "gamma")
    if ratio is sp.oo:
        return sp.Integer(1)
    excess = (_COUNT * ratio + (users - _COUNT) / ratio) / users - order
    summand = sp.binomial(users, _COUNT) * ratio ** (users - _COUNT) * sp.Max(0, excess)
    return sp.Sum(summand, (_COUNT, 0, users)) / (1 + ratio) ** users


@final
@dataclass(frozen=True, slots=True)
class LawFormulas:
    """What is known of the law of a mechanism as formulas."""

    mechanism: Mechanism
    templates: tuple[TemplateClass, ...]
    formulas: Mapping[str, sp.Expr]
    refused: Mapping[str, str]

    def to_dict(self) -> dict[str, Any]:
        """Every formula as text that SymPy reads again; what there is not, as None with the reason beside it."""
        law = [
            {"mass": str(mass), "levels": [{"value": str(u), "coordinates": str(m)} for m, u in levels]}
            for mass, levels in self.templates
        ]
        shown = {name: str(self.formulas[name]) if name in self.formulas else None for name in FORMULAS}
        return {"law": law, **shown, "refused": dict(self.refused)}

    def _repr_latex_(self) -> str:
        lines = (rf"\text{{{FORMULAS[name]}}} &= {latex(value)}" for name, value in self.formulas.items())
        return "$\\displaystyle \\begin{aligned}" + r" \\ ".join(lines) + "\\end{aligned}$"


def law_formulas(mechanism: Mechanism, *, n: Any = USERS, gamma: Any = _EXP_EPS) -> LawFormulas:
    r"""Trace, budget, ratio cap, risks and leakage as formulas in open parameters.

    Risks are expected squared errors of the canonical estimator, at the worst composition; leakage is that of one user
    against a constant population, in the forward direction.

    Parameters
    ----------
    mechanism : Mechanism
        With any of its parameters open.
    n : sympy.Expr or int
        Number of users.
    gamma : sympy.Expr, int or Fraction
        Order :math:`e^\varepsilon\ge1` of the hockey-stick envelope.

    Returns
    -------
    LawFormulas
        The formulas by name, and for every formula that was refused the reason.

    Raises
    ------
    InputError
        If there is no such number of users, or the order is a number below 1.

    Notes
    -----
    anchored, Lemma 7.1, Propositions 4.1 and 5.7, Theorems 4.9 and 6.2.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = law_formulas(randomizer("krr"))
    >>> found.formulas["iid_risk"]
    (k - 1)*(k + lambda - 1)**2/(k*n*(lambda - 1)**2)
    >>> sorted(law_formulas(randomizer("rappor")).refused)
    ['fixed_risk', 'iid_risk', 'trace']
    """
    law, users = SymbolicLaw(mechanism), _at_least_one(n, "n", integer=True)
    order = _at_least_one(gamma, "gamma")

    def shown(value: sp.Expr) -> sp.Expr:
        return value if value is sp.oo else factored(normal_form(value), mechanism.chart)

    wanted: dict[str, Callable[[], sp.Expr]] = {
        "trace": law.trace,
        "budget": law.pairwise_budget,
        "ratio_cap": law.ratio_cap,
        "iid_risk": lambda: shown(law.risk_constant("iid") / users),
        "fixed_risk": lambda: shown(law.risk_constant("fixed") / users),
        "chi_square": lambda: shown(law.pairwise_budget() / users),
        "chi_square_envelope": lambda: shown(chi_square_envelope(law.ratio_cap(), users)),
        "hockey_stick_envelope": lambda: hockey_stick_envelope(law.ratio_cap(), users, gamma=order),
    }
    formulas, refused = {}, {}
    for name, find in wanted.items():
        try:
            formulas[name] = find()
        except (InputError, Unsupported) as error:
            refused[name] = str(error)
    return LawFormulas(mechanism, tuple(law.tabulated()), formulas, refused)


def _at_least_one(value: Any, name: str, *, integer: bool = False) -> sp.Expr:
    found = value if value is sp.oo and not integer else expression_of(value, name)
    wrong = found.is_number and not (found.is_extended_real and found >= 1)
    if wrong or (integer and found.is_integer is False):
        raise InputError(name, value, "an integer of at least 1" if integer else "a number of at least 1")
    return found
