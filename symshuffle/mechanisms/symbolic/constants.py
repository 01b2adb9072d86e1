"""Constants and expressions of SymPy, and the two doors through which they become numbers.

Neither door goes through a double: SymPy's default printer writes ``Rational(1, 3)`` as the Python expression ``1/3``,
and a ball made from that excludes the truth.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import lru_cache, reduce
from typing import Any, ClassVar, Final, final

import flint
import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import (
    Ball,
    Exp,
    Number,
    Real,
    as_precision,
    parse_constant,
    usual_bits,
    working_precision,
)

LAM: Final = sp.Symbol("lambda", positive=True)
"""The local ratio cap ``lam = exp(eps0) > 1`` in every mechanism."""


EXP_EPS: Final = sp.Symbol("x", positive=True)
"""The target ratio ``exp(eps) >= 1`` in every law of G."""


@final
class Exponential(sp.NumberSymbol):  # type: ignore[misc]  # SymPy ships no types
    """The number ``exp(q)`` for a rational q, opaque to algebra.

    SymPy's own ``exp(7/5)`` is to its polynomials the seventh power of a generator ``exp(1/5)``, and a budget such as
    3.14159 a polynomial of degree 314159. Here every such number is one generator. Evaluation brings ``exp`` back, so
    relations such as ``exp(1/2)**2 == exp(1)`` are not lost.
    """

    __slots__ = ("exponent",)
    is_real = True
    is_positive = True
    is_irrational = True
    is_algebraic = False
    is_transcendental = True
    _known: ClassVar[dict[sp.Rational, Exponential]] = {}

    def __new__(cls, exponent: sp.Rational) -> Exponential:
        """One object per exponent, so that equal numbers cancel."""
        if exponent not in cls._known:
            new = sp.NumberSymbol.__new__(cls)
            new.exponent = exponent
            cls._known[exponent] = new
        return cls._known[exponent]

    def __getnewargs__(self) -> tuple[sp.Rational]:
        return (self.exponent,)

    def _hashable_content(self) -> tuple[sp.Rational]:
        return (self.exponent,)

    def _as_mpf_val(self, prec: int) -> Any:
        return sp.exp(self.exponent)._eval_evalf(prec)._mpf_

    def _sympystr(self, printer: Any) -> str:
        return f"exp({self.exponent})"

    def _latex(self, printer: Any) -> str:
        return f"e^{{{sp.latex(self.exponent)}}}"


def constant_of(value: Real | int, argument: str = "value") -> sp.Expr:
    """The SymPy constant equal to a real constant."""
    constant = parse_constant(value, argument)
    if isinstance(constant, Exp):
        return Exponential(sp.Rational(constant.exponent.numerator, constant.exponent.denominator))
    return sp.Rational(constant.numerator, constant.denominator)


def value_of(constant: sp.Expr) -> Real | None:
    """The real constant of which :func:`constant_of` makes this one; None for any other expression."""
    if isinstance(constant, Exponential):
        return Exp(Fraction(int(constant.exponent.p), int(constant.exponent.q)))
    return Fraction(int(constant.p), int(constant.q)) if constant.is_Rational else None


def written(expression: sp.Expr) -> str:
    """An expression as the text of Python, where ``lambda`` is no name: there it is called ``lam``."""
    return str(expression.xreplace({LAM: sp.Symbol("lam", positive=True)}))


def rebuilt(expression: sp.Expr) -> sp.Expr:
    """The expression as it comes back from a pickle: made again from its parts, until that changes nothing.

    SymPy writes a factor ``(1/2)**D`` as ``2**(-D)`` when a product is made again; the two do not compare equal.

    Examples
    --------
    >>> D = sp.Symbol("D", positive=True)
    >>> rebuilt(1 - sp.Rational(1, 2) ** D) == 1 - 2 ** (-D)
    True
    """
    if not expression.args:
        return expression
    again = expression.func(*map(rebuilt, expression.args))
    return again if again == expression else rebuilt(again)


def expression_of(entry: object, argument: str) -> sp.Expr:
    """Read an expression: SymPy's own, a number, or the text of one; text never reaches SymPy's parser."""
    if isinstance(entry, sp.Expr) and not entry.has(sp.Float):
        return entry
    try:
        return constant_of(entry, argument)  # type: ignore[arg-type]  # read there
    except InputError:
        expected = "an expression of SymPy without doubles, or a number such as 2/3"
        raise InputError(argument, entry, expected) from None


def evaluate(expression: sp.Expr, *, bits: int | None = None) -> Number:
    """The value of a constant expression: a ``Fraction`` if it is rational, otherwise a ball.

    - ``bits``: precision of the ball; also forces a ball for rational values. Default: exact where possible.
    """
    bits = None if bits is None else as_precision(bits)
    if isinstance(expression, sp.Expr) and expression.has(sp.Float):
        raise InputError("expression", expression, "an expression of SymPy without doubles, an exact number")
    expression = expression_of(expression, "expression")
    if expression.free_symbols:
        left = ", ".join(sorted(map(str, expression.free_symbols)))
        raise InputError(left, None, "values of all parameters that are left open")
    if expression.is_Rational:
        exact = Fraction(int(expression.p), int(expression.q))
        return exact if bits is None else Ball(exact, exact, bits)
    expression = expression.xreplace(
        {constant: sp.exp(constant.exponent) for constant in expression.atoms(Exponential)}
    )
    if expression.is_Rational:  # the exponentials cancelled
        return evaluate(expression, bits=bits)
    exponents = (power.args[0] for power in expression.atoms(sp.exp))
    precision = bits or usual_bits(*(Exp(Fraction(int(r.p), int(r.q))) for r in exponents if r.is_Rational))
    with working_precision(precision + 32):
        return Ball.from_arb(fold(expression, {}), precision)


def _power(base: flint.arb, exponent: flint.arb) -> flint.arb:
    return base**exponent


_FUNCTIONS: Final[Mapping[Any, Callable[..., flint.arb]]] = {
    sp.Add: lambda *terms: reduce(lambda x, y: x + y, terms),
    sp.Mul: lambda *factors: reduce(lambda x, y: x * y, factors),
    sp.Pow: _power,
    sp.exp: lambda x: x.exp(),
    sp.log: lambda x: x.log(),
    sp.Min: lambda *terms: reduce(lambda x, y: x.min(y), terms),
    sp.Max: lambda *terms: reduce(lambda x, y: x.max(y), terms),
    sp.factorial: lambda x: (x + 1).gamma(),
    sp.gamma: lambda x: x.gamma(),
    sp.binomial: lambda n, k: ((n + 1).lgamma() - (k + 1).lgamma() - (n - k + 1).lgamma()).exp(),
}


def fold(expression: sp.Expr, point: Mapping[sp.Symbol, sp.Expr]) -> flint.arb:
    """Evaluate an expression bottom-up in ball arithmetic at the current working precision.

    A function of one's own says by its ``in_balls`` what it is of balls.

    - ``point``: the exact values of its symbols.
    """
    if expression in point:
        return fold(point[expression], {})
    if expression.is_Rational:
        return flint.arb(flint.fmpq(int(expression.p), int(expression.q)))
    if expression is sp.E:
        return flint.arb.const_e()
    if expression is sp.pi:
        return flint.arb.pi()
    if isinstance(expression, sp.CRootOf) and expression.is_real:
        near = sp.Rational(1, 1 << flint.ctx.prec)
        middle = expression.eval_rational(near, near)  # off by less than that
        around = flint.arb(flint.fmpq(int(middle.p), int(middle.q)))
        return around + flint.arb(0, flint.arb(2) ** -flint.ctx.prec)
    if isinstance(expression, Exponential):
        return fold(sp.exp(expression.exponent), {})
    in_balls = _FUNCTIONS.get(expression.func) or getattr(expression.func, "in_balls", None)
    if in_balls is None:
        expected = "sums, products, powers, exp, log, min, max, gamma, binomial, real roots of polynomials"
        raise InputError("expression", expression, expected)
    return in_balls(*(fold(part, point) for part in expression.args))


@lru_cache(maxsize=4096)  # the same differences are asked about again and again
def normal_form(expression: sp.Expr) -> sp.Expr:
    """A rational function in lowest terms, with ratios of factorials and binomials resolved where that is possible.

    Roots of ``lam`` count as variables: the form is rational in the finest root that occurs.
    """
    expression = sp.sympify(expression)
    if expression.has(sp.binomial, sp.factorial, sp.gamma, sp.FallingFactorial, sp.RisingFactorial):
        expression = sp.gammasimp(expression.rewrite(sp.gamma))
    order = root_order(expression)
    if order == 1:
        return sp.cancel(sp.together(expression))
    root = sp.Dummy("t", positive=True)
    return sp.cancel(sp.together(expression.subs(LAM, root**order))).subs(root, LAM ** sp.Rational(1, order))


def root_order(expression: sp.Expr) -> int:
    """The smallest q for which the expression contains only powers of ``lam**(1/q)``."""
    powers = (power.exp for power in expression.atoms(sp.Pow) if power.base == LAM)
    return math.lcm(1, *(int(exponent.q) for exponent in powers if exponent.is_Rational))
