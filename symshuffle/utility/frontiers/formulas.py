r"""What a mechanism says and hides at all levels: moments, risks and envelopes as formulas in the parameters left open.

Envelopes are those of the contamination pair (:mod:`symshuffle.utility.frontiers.contamination`) at the ratio cap of
the mechanism, with ``lam``, the number of users and the order of the divergence as symbols.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, final

import sympy as sp

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.mechanisms.display import factored, latex
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import expression_of, normal_form
from symshuffle.utility.estimation.moments import TemplateClass
from symshuffle.utility.estimation.symbolic_law import SymbolicLaw

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


FORMULAS: Final[Mapping[str, str]] = {
    "trace": "trace",
    "budget": "largest chi-square of two rows",
    "ratio_cap": "largest likelihood ratio",
    "iid_risk": "worst i.i.d. risk",
    "fixed_risk": "worst fixed-composition risk",
    "chi_square": "chi-square leakage, worst pair",
    "chi_square_envelope": "its envelope",
    "hockey_stick_envelope": "hockey-stick envelope",
}
"""Names of the formulas, and what each is."""


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
