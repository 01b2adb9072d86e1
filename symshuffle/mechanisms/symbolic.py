"""SymPy expressions as functions of parameters: equality, sign, and the two doors to numbers.

Expressions become numbers here and nowhere else. The exact door answers with a ``Fraction`` or says that the value
is irrational; the ball door answers with an enclosure. Neither ever goes through a double: SymPy's default printer
writes ``Rational(1, 3)`` as the Python expression ``1/3``, and a ball made from that excludes the truth.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from typing import Any, ClassVar, Final, final

import flint
import sympy as sp

from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import (
    DEFAULT_BITS,
    Ball,
    Exp,
    Number,
    Real,
    Verdict,
    as_number,
    less,
    parse_rational,
    working_precision,
)

LAM: Final = sp.Symbol("lambda", positive=True)
"""The local ratio cap ``lam = exp(eps0) > 1`` in every mechanism."""

EXP_EPS: Final = sp.Symbol("x", positive=True)
"""The target ratio ``exp(eps) >= 1`` in every law of G."""

LARGEST_PARAMETER: Final = 10**15
"""Integer parameters beyond this are refused: nothing in the package stays accurate there."""


_SEARCHED: Final = 10_000
"""Integers among which the smallest values of a parameter are looked for."""


@final
@dataclass(frozen=True, slots=True)
class IntegerKind:
    """A kind of integers that a parameter admits.

    Parameters
    ----------
    words : str
        What a value must be, as ``an even integer``.
    holds : callable
        Whether an integer is of the kind.
    """

    words: str
    holds: Callable[[int], bool]


def _is_even(value: int) -> bool:
    return value % 2 == 0


def _is_power_of_two(value: int) -> bool:
    return value > 0 and value.bit_count() == 1


def _is_prime(value: int) -> bool:
    return value > 1 and bool(flint.fmpz(value).is_prime())


EVEN: Final = IntegerKind("an even integer", _is_even)
POWER_OF_TWO: Final = IntegerKind("a power of 2, an integer", _is_power_of_two)
PRIME: Final = IntegerKind("a prime, an integer", _is_prime)


@final
@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of a mechanism with its range, which may depend on the parameters before it.

    Parameters
    ----------
    symbol : sympy.Symbol
        The symbol that stands for it; its name is the parameter's name.
    lower : sympy.Expr
        Smallest value.
    upper : sympy.Expr or None
        Largest value; None if there is none.
    integer : bool
        Whether only integers are allowed.
    meaning : str
        A few words.
    default : sympy.Expr or None
        Value where the user gives none; may depend on the parameters before it. Infinity stands for the limit, which
        is taken of the derived decomposition.
    kind : IntegerKind, optional
        What an integer value must be besides: :data:`EVEN`, :data:`POWER_OF_TWO`, :data:`PRIME`, or one of your own.
    """

    symbol: sp.Symbol
    lower: sp.Expr
    upper: sp.Expr | None
    integer: bool
    meaning: str
    default: sp.Expr | None = None
    kind: IntegerKind | None = None

    @property
    def name(self) -> str:
        """Name of the parameter, as on the command line."""
        return "lam" if self.symbol == LAM else str(self.symbol)

    @property
    def has_limit(self) -> bool:
        """Whether the parameter, left open, stands for its limit at infinity."""
        return self.default is not None and self.default == sp.oo

    @property
    def range(self) -> str:
        """The allowed range in words."""
        kind = self.kind.words if self.kind is not None else "an integer" if self.integer else "a number"
        return f"{kind} >= {self.lower}" if self.upper is None else f"{kind} in [{self.lower}, {self.upper}]"

    def read(self, value: object, known: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
        """The value as a SymPy constant, checked against the range; ``known`` holds the parameters before it."""
        real = value if isinstance(value, Exp) else parse_rational(value, self.name)
        if self.integer and not self._admits(real):
            raise InputError(self.name, value, self.range)
        constant = constant_of(real)
        for bound, outside in ((self.lower, less(real, _bound(self.lower, known))),) + (
            () if self.upper is None else ((self.upper, less(_bound(self.upper, known), real)),)
        ):
            if outside is Verdict.TRUE:
                limit = bound.subs(dict(known))
                detail = "" if limit == bound else f" (here {limit})"
                raise InputError(self.name, value, self.range + detail)
        return constant

    def smallest(self, number: int, known: Mapping[sp.Symbol, sp.Expr]) -> Iterator[int]:
        """The smallest values of an integer parameter, at most so many."""
        low = int(sp.ceiling(self.lower.subs(dict(known))))
        high = None if self.upper is None else int(sp.floor(self.upper.subs(dict(known))))
        window = itertools.count(low) if high is None else iter(range(low, high + 1))
        admitted = (value for value in itertools.islice(window, _SEARCHED) if self._admits(Fraction(value)))
        return itertools.islice(admitted, number)

    def _admits(self, real: Real) -> bool:
        if isinstance(real, Exp) or real.denominator != 1 or abs(real) > LARGEST_PARAMETER:
            return False
        return self.kind is None or self.kind.holds(real.numerator)


def _bound(expression: sp.Expr, known: Mapping[sp.Symbol, sp.Expr]) -> Number:
    return evaluate(expression.subs(dict(known)))


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


def constant_of(value: Real | int) -> sp.Expr:
    """The SymPy constant equal to a real constant."""
    if isinstance(value, Exp):
        return Exponential(sp.Rational(value.exponent.numerator, value.exponent.denominator))
    fraction = Fraction(value)
    return sp.Rational(fraction.numerator, fraction.denominator)


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
    """Read an expression: SymPy's own, an exact number, or the text of one; text never reaches SymPy's parser.

    Raises
    ------
    InputError
        If it is a double, a truth value or text that is no rational number.
    """
    if isinstance(entry, sp.Expr) and not entry.has(sp.Float):
        return entry
    if isinstance(entry, Exp):
        return constant_of(entry)
    number = None if isinstance(entry, sp.Expr) else as_number(entry, argument)
    if not isinstance(number, Fraction):
        raise InputError(argument, entry, "an expression of SymPy, or an exact number such as 2/3")
    return constant_of(number)


def evaluate(expression: sp.Expr, *, bits: int | None = None) -> Number:
    """The value of a constant expression: a ``Fraction`` if it is rational, otherwise a ball.

    Parameters
    ----------
    expression : sympy.Expr
        Free of symbols.
    bits : int, optional
        Precision of the ball; also forces a ball for rational values. Default: exact where possible.

    Raises
    ------
    InputError
        If a symbol is left, or the value is infinite.
    """
    expression = expression_of(expression, "expression")
    if expression.free_symbols:
        left = ", ".join(sorted(map(str, expression.free_symbols)))
        raise InputError("parameters", f"{left} left open", "a value for each")
    if expression.is_Rational:
        exact = Fraction(int(expression.p), int(expression.q))
        return exact if bits is None else Ball(exact, exact, bits)
    expression = expression.xreplace(
        {constant: sp.exp(constant.exponent) for constant in expression.atoms(Exponential)}
    )
    if expression.is_Rational:  # the exponentials cancelled
        return evaluate(expression, bits=bits)
    precision = bits or DEFAULT_BITS
    with working_precision(precision + 32):
        return Ball.from_arb(_fold(expression), precision)


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


def _fold(expression: sp.Expr) -> flint.arb:
    """Evaluate a constant expression bottom-up in ball arithmetic at the current working precision."""
    if expression.is_Rational:
        return flint.arb(flint.fmpq(int(expression.p), int(expression.q)))
    if expression is sp.E:
        return flint.arb.const_e()
    if expression is sp.pi:
        return flint.arb.pi()
    if expression.func not in _FUNCTIONS:
        raise InputError("expression", expression, "sums, products, powers, exp, log, min, max, gamma, binomial")
    return _FUNCTIONS[expression.func](*(_fold(argument) for argument in expression.args))


def normal_form(expression: sp.Expr) -> sp.Expr:
    """A rational function in lowest terms, with ratios of factorials and binomials resolved where that is possible.

    Roots of ``lam`` count as variables: the form is rational in the finest root that occurs.
    """
    expression = sp.sympify(expression)
    if expression.has(sp.binomial, sp.factorial, sp.gamma, sp.FallingFactorial, sp.RisingFactorial):
        expression = sp.gammasimp(expression.rewrite(sp.gamma))
    order = _root_order(expression)
    if order == 1:
        return sp.cancel(sp.together(expression))
    root = sp.Dummy("t", positive=True)
    return sp.cancel(sp.together(expression.subs(LAM, root**order))).subs(root, LAM ** sp.Rational(1, order))


def _root_order(expression: sp.Expr) -> int:
    """The smallest q for which the expression contains only powers of ``lam**(1/q)``."""
    powers = (power.exp for power in expression.atoms(sp.Pow) if power.base == LAM)
    return math.lcm(1, *(int(exponent.q) for exponent in powers if exponent.is_Rational))


def same_function(left: Any, right: Any) -> Verdict:
    """Whether two expressions agree as functions of their symbols.

    True only by a normal form, false only by an exact evaluation at a rational point; otherwise undecided.
    """
    difference = normal_form(sp.sympify(left) - sp.sympify(right))
    if difference == 0 or sp.simplify(difference) == 0:
        return Verdict.TRUE
    symbols = sorted(difference.free_symbols, key=str)
    # Both rising and falling points: binomial(k, s) is 0 at all points with k < s.
    for start, step in ((7, 3), (31, -3), (11, 3), (41, -3), (16, 3)):
        point = {symbol: sp.Integer(start + step * i) for i, symbol in enumerate(symbols)}
        value = difference.subs(point)
        if value.is_number and value.is_finite and value.is_Rational and value != 0:
            return Verdict.FALSE
        if value.is_number and value.is_finite and not value.is_Rational:
            ball = evaluate(value)
            if less(ball, 0) is Verdict.TRUE or less(0, ball) is Verdict.TRUE:
                return Verdict.FALSE
    return Verdict.UNDECIDED


def proportional(first: Sequence[sp.Expr], second: Sequence[sp.Expr]) -> bool:
    """Whether two vectors of expressions are proportional (all cross products agree)."""
    return all(
        normal_form(first[i] * second[j] - first[j] * second[i]) == 0
        for i in range(len(first))
        for j in range(i + 1, len(first))
    )


def large_limit(expression: sp.Expr, symbol: sp.Symbol, slacks: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The limit of an expression as an integer symbol grows, where it stands in exponents of bases of at least 1.

    Raises
    ------
    Unsupported
        If the base of such a power is not known to be at least 1.
    """
    reduced = sp.expand_power_base(normal_form(expression), force=True)
    large = sp.Dummy("large", positive=True)
    growing = {}
    for power in reduced.atoms(sp.Pow):
        if not power.exp.has(symbol):
            continue
        rate = power.exp.diff(symbol)
        if nonnegative(power.base - 1, slacks) is not Verdict.TRUE or not rate.is_number:
            raise Unsupported(f"the limit of {power} for large {symbol} is not decided: give the parameters values")
        growing[power] = power.base ** (power.exp - rate * symbol) * large**rate
    exponential = reduced.xreplace(growing)
    return normal_form(sp.limit(sp.limit(exponential, large, sp.oo), symbol, sp.oo))


def chart(parameters: Iterable[Parameter]) -> dict[sp.Symbol, sp.Expr]:
    """Write each open parameter by a slack that runs over the non-negative reals.

    A parameter with bounds ``[l, u]`` becomes ``(l + u t)/(1 + t)``, one with a lower bound only ``l + t``. A rational
    function whose numerator and denominator have non-negative coefficients in the slacks is then non-negative on the
    whole range: a proof by inspection.
    """
    written: dict[sp.Symbol, sp.Expr] = {}
    for i, parameter in enumerate(parameters):
        slack = sp.Symbol(f"t{i}", nonnegative=True)
        lower = parameter.lower.subs(written)
        if parameter.upper is None:
            written[parameter.symbol] = lower + slack
        else:
            written[parameter.symbol] = (lower + parameter.upper.subs(written) * slack) / (1 + slack)
    return written


def nonnegative(expression: sp.Expr, slacks: Mapping[sp.Symbol, sp.Expr]) -> Verdict:
    """Whether an expression is at least 0 on the whole range that a chart describes.

    ``TRUE`` and ``FALSE`` (negative everywhere) are proofs; ``UNDECIDED`` means that the signs of the coefficients
    do not settle it. Binomials that survive the normal form, and powers with a symbolic exponent, count as
    non-negative unknowns.
    """
    reduced = normal_form(expression)
    if reduced.is_number:
        return ~less(evaluate(reduced), 0)
    unknowns = reduced.atoms(sp.binomial, sp.gamma, sp.factorial, sp.exp)
    unknowns |= {power for power in reduced.atoms(sp.Pow) if power.exp.free_symbols}
    hidden = {atom: sp.Dummy(nonnegative=True) for atom in unknowns}
    written = reduced.xreplace(hidden).subs(_without_roots(reduced, slacks))
    numerator, denominator = sp.fraction(sp.cancel(sp.together(written)))
    signs = {_coefficient_sign(numerator), _coefficient_sign(denominator)}
    if None in signs:
        return Verdict.UNDECIDED
    return Verdict.TRUE if len(signs) == 1 or numerator == 0 else Verdict.FALSE


def _without_roots(expression: sp.Expr, slacks: Mapping[sp.Symbol, sp.Expr]) -> dict[sp.Symbol, sp.Expr]:
    """The chart with ``lam`` written as a power, so that its roots in the expression are polynomials."""
    return {**slacks, LAM: slacks[LAM] ** _root_order(expression)} if LAM in slacks else dict(slacks)


def positive(expression: sp.Expr, slacks: Mapping[sp.Symbol, sp.Expr]) -> Verdict:
    """Whether an expression is above 0 on the whole range: as :func:`nonnegative`, and not 0 at any of its corners.

    A corner has every slack at 0, or at infinity where that is the upper end of a bounded parameter.
    """
    weak = nonnegative(expression, slacks)
    if weak is not Verdict.TRUE:
        return weak
    written = sp.cancel(normal_form(expression).subs(slacks))
    bounded = {t for one in slacks.values() for t in sp.denom(sp.together(one)).free_symbols} & written.free_symbols
    corners = [written]
    for slack in sorted(bounded, key=str):
        corners = [end for corner in corners for end in (corner.subs(slack, 0), sp.limit(corner, slack, sp.oo))]
    corners = [corner.subs(dict.fromkeys(corner.free_symbols, 0)) for corner in corners]
    return Verdict.of(True) if all(corner.is_positive for corner in corners) else Verdict.UNDECIDED


def _coefficient_sign(polynomial: sp.Expr) -> int | None:
    """+1 or -1 if all coefficients of a polynomial have that sign (0 counts as +1), None if they are mixed."""
    symbols = sorted(polynomial.free_symbols, key=str)
    coefficients = sp.Poly(polynomial, *symbols).coeffs() if symbols else [polynomial]
    if any(not coefficient.is_real for coefficient in coefficients):
        return None
    if all(coefficient.is_nonnegative for coefficient in coefficients):
        return 1
    return -1 if all(coefficient.is_nonpositive for coefficient in coefficients) else None


def smallest(expressions: Sequence[sp.Expr], slacks: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The expression that is smallest on the whole range.

    Raises
    ------
    Unsupported
        If which one is smallest depends on the parameters, or cannot be decided.
    """
    for candidate in expressions:
        if all(nonnegative(other - candidate, slacks) is Verdict.TRUE for other in expressions):
            return candidate
    written = ", ".join(map(str, expressions))
    raise Unsupported(f"which of {written} is smallest depends on the open parameters: give them values with .at(...)")
