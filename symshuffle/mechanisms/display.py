"""How expressions are written for people: factored, each factor with the sign it has, positive terms first."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, final

import sympy as sp
from sympy.printing.latex import LatexPrinter
from sympy.printing.str import StrPrinter

from symshuffle.base.numbers import Verdict
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.mechanisms.tables import array

if TYPE_CHECKING:
    from symshuffle.mechanisms.outputs import OutputClass

_MINUS: Final = sp.Integer(-1)


def factored(expression: sp.Expr, slacks: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The factored form in which no factor is negative on the range that a chart describes, where that is decidable.

    SymPy factors ``s*(k - s)`` as ``-s*(-k + s)``: correct, and hard to read as a probability. A sign that remains
    goes into the first factor whose own sign depends on the symbols. Roots of symbols count as symbols.

    Examples
    --------
    >>> k, s = sp.symbols("k s", positive=True)
    >>> t = sp.Symbol("t", nonnegative=True)
    >>> factored(-s * (s - k), {k: s + t})
    s*(k - s)
    >>> factored(k / (1 + 2 * sp.sqrt(s) + s), {})
    k/(sqrt(s) + 1)**2
    """
    roots = _roots(expression)
    powers = {symbol: root**degree for symbol, (root, degree) in roots.items()}
    ranges = {symbol: slack for symbol, slack in slacks.items() if symbol not in roots}
    ranges |= {
        root: 1 + sp.Dummy(nonnegative=True)
        for symbol, (root, _) in roots.items()
        if nonnegative(symbol - 1, slacks) is Verdict.TRUE
    }
    signed = _with_signs(sp.factor(expression.subs(powers)), ranges)
    return signed.subs({root: sp.root(symbol, degree) for symbol, (root, degree) in roots.items()})


def _roots(expression: sp.Expr) -> dict[sp.Symbol, tuple[sp.Symbol, int]]:
    """For each symbol under a root, a symbol that stands for the root, and its degree."""
    degrees: dict[sp.Symbol, int] = {}
    for power in expression.atoms(sp.Pow):
        if power.base.is_Symbol and power.exp.is_Rational and power.exp.q > 1:
            degrees[power.base] = math.lcm(degrees.get(power.base, 1), int(power.exp.q))
    return {symbol: (sp.Dummy(f"{symbol}_root", positive=True), degree) for symbol, degree in degrees.items()}


def _with_signs(product: sp.Expr, slacks: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    factors = list(sp.Mul.make_args(product))
    negative = False
    undecided: int | None = None
    for i, factor in enumerate(factors):
        base, exponent = factor.as_base_exp()
        if factor == _MINUS:
            factors[i], negative = sp.Integer(1), not negative
        elif base.is_Add and not base.is_positive and exponent.is_Integer and exponent % 2:
            if not base.free_symbols <= slacks.keys():
                undecided = i if undecided is None else undecided
            elif base.free_symbols and nonnegative(base, slacks) is Verdict.FALSE:
                factors[i], negative = sp.Pow(-base, exponent), not negative
    if negative and undecided is not None:
        base, exponent = factors[undecided].as_base_exp()
        factors[undecided], negative = sp.Pow(-base, exponent), False
    return sp.Mul(*([_MINUS] if negative else []), *factors)


def _ordered(terms: Sequence[Any]) -> list[Any]:
    """Positive terms first, so that a sum does not open with a minus sign."""
    return sorted(terms, key=lambda term: bool(term.could_extract_minus_sign()))


@final
class _Text(StrPrinter):  # type: ignore[misc]  # SymPy ships no types
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return _ordered(super()._as_ordered_terms(expr, order=order))


@final
class _Latex(LatexPrinter):  # type: ignore[misc]  # SymPy ships no types
    def _as_ordered_terms(self, expr: Any, order: Any = None) -> list[Any]:
        return _ordered(super()._as_ordered_terms(expr, order=order))


def text(expression: sp.Expr) -> str:
    """An expression as Python text.

    Examples
    --------
    >>> text(1 - sp.Symbol("lambda") * sp.Symbol("x"))
    '1 - lambda*x'
    """
    return str(_Text().doprint(expression))


def latex(expression: sp.Expr) -> str:
    r"""An expression as LaTeX.

    Examples
    --------
    >>> latex(1 - sp.Symbol("lambda") * sp.Symbol("x"))
    '1 - \\lambda x'
    """
    return str(_Latex().doprint(expression))


def class_table(classes: Sequence[OutputClass]) -> str:
    """LaTeX of the output classes of a mechanism, one line for each of their states."""
    lines = [
        (rf"\text{{{c.name}}}", latex(c.size), rf"\text{{{s.name}}}", latex(s.count), latex(s.probability))
        for c in classes
        for s in c.states
    ]
    head = (rf"\text{{{word}}}" for word in ("class", "outputs", "state", "inputs", "probability"))
    return f"$\\displaystyle {array(tuple(head), lines)}$"
