"""Decompositions as functions of their parameters: numbers go in, a law of G comes out, and no algebra is done.

Weights and ratios are texts of sums, products, powers and roots, read once. What is rational is calculated with
rationals; the rest with balls or, where doubles will do, with :class:`~symshuffle.base.numbers.spans.Span`. Both
enclose. A number that may be 0 is no atom and no weight here: whether it is 0, algebra has to say.
"""

from __future__ import annotations

import ast
import math
import operator
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple, TypeAlias

import flint

from symshuffle.base.choices import Direction
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import (
    Ball,
    Exp,
    Real,
    Verdict,
    less,
    lower_end,
    positive_part,
    to_arb,
    usual_bits,
    working_precision,
)
from symshuffle.base.numbers.spans import Span
from symshuffle.channels.law import Law

_LONGEST_POWER: Final = 10_000
"""Exponents beyond which a rational power is left to balls."""

LARGEST_COMPARED: Final = 1000
"""Exponents up to which closed forms are compared as polynomials."""

Entry: TypeAlias = "Fraction | flint.arb | Span"
Calculated: TypeAlias = "Callable[[Mapping[str, Any]], Any]"
"""From the parameters by name to a number of their kind."""

_Pair: TypeAlias = "tuple[Calculated, Calculated]"
Decided: TypeAlias = "Fraction | Ball"


class Cell(NamedTuple):
    """One component of a decomposition, in numbers, functions of parameters, or expressions.

    - ``a``, ``b``, ``c``: its weight in both rows of the pair and in the blanket.
    - ``ratios``: the likelihood ratios ``(a/c, b/c)``; None for a cell that the blanket does not charge. Of a named
      randomizer the exponents of the ratio cap in them, None for a ratio of 0.
    - ``null``: the ratio of a null symbol to the blanket, which stands in for the second row; None without one.
    """

    a: Any
    b: Any
    c: Any
    ratios: tuple[Any, Any] | None
    null: Any = None

    def map(self, function: Callable[[Any], Any]) -> Cell:
        """The cell with a function applied to everything in it."""
        ratios = None if self.ratios is None else (function(self.ratios[0]), function(self.ratios[1]))
        return Cell(function(self.a), function(self.b), function(self.c), ratios)


def calculated_cell(a: str, b: str, c: str, ratios: Sequence[str] | None) -> Cell:
    """The cell of the texts of its weights and ratios."""
    known = None if ratios is None else (calculated(ratios[0]), calculated(ratios[1]))
    return Cell(calculated(a), calculated(b), calculated(c), known)


def calculated_law(
    cells: Sequence[Cell],
    values: Mapping[str, Real],
    exp_eps: Real,
    way: Direction,
    *,
    bits: int | None = None,
    doubles: bool = False,
) -> Law:
    """Law of G at a target ratio: exact where rational, otherwise balls."""
    cells = tuple(cells)
    if _symmetric(cells):
        way = "forward"
    try:
        return _law(cells, tuple(values.items()), exp_eps, way, bits or usual_bits(exp_eps, *values.values()), doubles)
    except (KeyError, ZeroDivisionError) as reason:  # a parameter left open, or a form that does not hold at its value
        raise NotDecided(f"the closed form cannot be evaluated at these values: {reason!r}") from None


@lru_cache
def _symmetric(cells: tuple[Cell, ...]) -> bool:
    """Whether the two rows exchanged are the same cells again, so that both directions have one law."""
    exchanged = (Cell(one.b, one.a, one.c, one.ratios and one.ratios[::-1]) for one in cells)
    return Counter(cells) == Counter(exchanged)


@lru_cache(maxsize=4)
def _law(
    cells: tuple[Cell, ...],
    known: tuple[tuple[str, Real], ...],
    exp_eps: Real,
    way: Direction,
    precision: int,
    doubles: bool,
) -> Law:
    """Kept for a moment: the other direction is asked for next."""
    with working_precision(precision + 32):
        x: Entry = (Span.around if doubles else to_arb)(exp_eps) if isinstance(exp_eps, Exp) else exp_eps
        at_cap = dict(known).get("lam") == exp_eps
        atoms: list[tuple[Decided, Decided]] = []
        singular: Decided = Fraction(0)
        for charge, functions, seen in _numbers(cells, known, way, precision, doubles):
            value = decided(_difference(functions, seen, x, at_cap=at_cap and charge is not None), precision)
            if charge is not None:
                atoms.append((value, charge))
            elif lower_end(value) > 0:
                singular += value
        return Law.from_atoms(sorted(atoms, key=lambda atom: lower_end(atom[0])), singular)


@lru_cache(maxsize=8)
def _numbers(
    cells: tuple[Cell, ...],
    known: tuple[tuple[str, Real], ...],
    way: Direction,
    precision: int,
    doubles: bool,
) -> list[tuple[Decided | None, _Pair, tuple[Entry, Entry]]]:
    """For each cell its weight in the blanket, None where that is 0, and ratios or weights: the same at all levels."""
    entry = Span.around if doubles else to_arb
    numbers: dict[str, Entry] = {name: entry(value) if isinstance(value, Exp) else value for name, value in known}
    found: list[tuple[Decided | None, _Pair, tuple[Entry, Entry]]] = []
    for a, b, c, ratios, _ in cells:
        charge = c(numbers)
        none = ratios is None or (isinstance(charge, Fraction) and charge == 0)
        one, other = (a, b) if ratios is None or none else ratios
        pair = (one, other) if way == "forward" else (other, one)
        seen = pair[0](numbers), pair[1](numbers)
        found.append((None if none else decided(charge, precision), pair, seen))
    return found


def _difference(functions: _Pair, seen: tuple[Entry, Entry], x: Entry, *, at_cap: bool) -> Entry:
    """The value of G where two likelihood ratios are seen; ``at_cap``, where x is the local ratio cap."""
    if functions[0] is functions[1]:  # no difference of two enclosures: it vanishes at exp(eps) = 1
        return times(seen[0], less_by(Fraction(1), x))
    if at_cap and functions in ((calculated("lam"), calculated("1")), (calculated("1"), calculated("1/lam"))):
        return Fraction(0)
    return less_by(seen[0], times(x, seen[1]))


def spreads(atoms: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a signed measure of total mass and mean 0 certainly has no negative integral of (v - t)_+."""
    for i, (at, _) in enumerate(atoms):  # at every kink; below all others the integral is 0, because the mean is
        others = [*atoms[:i], *atoms[i + 1 :]]
        total = sum(weight * positive_part(value - at) for value, weight in others)
        if any(less(value, at) is not Verdict.FALSE for value, _ in others) and less(total, 0) is not Verdict.FALSE:
            return False
    return True


@cache
def calculated(text: str) -> Calculated:
    """The function that a text denotes: sums, products, powers and roots; rational where all of it is."""
    return _compiled(ast.parse(text, mode="eval").body)


def number_at(text: str, values: Mapping[str, Real], bits: int) -> Fraction | Ball:
    """The number that a text denotes at some values: exact where it is rational, otherwise a ball of ``bits`` bits."""
    with working_precision(bits + 32):
        known = {name: to_arb(value) if isinstance(value, Exp) else value for name, value in values.items()}
        found = calculated(text)(known)
        return found if isinstance(found, Fraction) else Ball.from_arb(found, bits)


def compiled(
    text: str, names: Sequence[str], whole: Callable[[int], Any], root: Callable[[Any], Any]
) -> Callable[..., Any]:
    """The function that a text denotes, for many values of numbers of one kind: faster than :func:`calculated`.

    - ``text``: sums, products, powers and roots of names and integers.
    - ``whole``: the number of that kind that an integer is, so that a quotient of two integers is of that kind.
    """
    calculated(text)  # refuses whatever is no such text
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    body = _Named().visit(ast.parse(text, mode="eval").body)
    tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, body)))
    numbers = {n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and isinstance(n.value, int)}
    known = {f"_{i}": whole(i) for i in numbers}
    (code,) = (part for part in compile(tree, "<closed form>", "eval").co_consts if isinstance(part, CodeType))
    return FunctionType(code, {**known, "sqrt": root})


class _Named(ast.NodeTransformer):
    """Integers by names, but for exponents."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.BinOp:
        whole = isinstance(node.op, ast.Pow) and isinstance(node.right, ast.Constant)
        right = node.right if whole else self.visit(node.right)
        return ast.BinOp(self.visit(node.left), node.op, right)

    def visit_Constant(self, node: ast.Constant) -> ast.Name:
        return ast.Name(f"_{node.value!r}", ast.Load())


def _compiled(node: ast.expr) -> Calculated:
    match node:
        case ast.Constant(value=int(value)):
            constant = Fraction(value)
            return lambda numbers: constant
        case ast.Name(id=name):
            return lambda numbers: numbers[name]
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            inner = _compiled(operand)
            return lambda numbers: -inner(numbers)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _OPERATIONS:
            combine, one, other = _OPERATIONS[type(op)], _compiled(left), _compiled(right)
            return lambda numbers: combine(one(numbers), other(numbers))
        case ast.Call(func=ast.Name(id="sqrt"), args=[argument]):
            inner, half = _compiled(argument), Fraction(1, 2)
            return lambda numbers: power(inner(numbers), half)
    raise InputError("closed form", ast.unparse(node), "sums, products, powers and roots")


def combined(x: Entry, y: Entry, operation: Callable[[Any, Any], Any]) -> Entry:
    """Exact of two rationals; of spans where one is a span, else of balls."""
    if not (isinstance(x, Fraction) and isinstance(y, Fraction)):
        read = _span if isinstance(x, Span) or isinstance(y, Span) else _arb
        x, y = read(x), read(y)
    found: Entry = operation(x, y)
    return found


def less_by(x: Entry, y: Entry) -> Entry:
    """The difference of two numbers."""
    return combined(x, y, operator.sub)


def times(x: Entry, y: Entry) -> Entry:
    """The product of two numbers; exactly 0 if one of them is."""
    return Fraction(0) if x == 0 or y == 0 else combined(x, y, operator.mul)


def power(base: Entry, exponent: Entry) -> Entry:
    """A power: exact where it is rational."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and abs(exponent) <= _LONGEST_POWER:
        if exponent.denominator == 1:
            return base**exponent.numerator
        if exponent.denominator == 2 and base >= 0:
            root = Fraction(math.isqrt(base.numerator), math.isqrt(base.denominator))
            if root * root == base:
                return root**exponent.numerator
    if isinstance(base, Span):
        if not isinstance(exponent, Fraction):
            raise NotDecided("a power with an irrational exponent is not evaluated in doubles")
        return base.power(exponent)
    return _arb(base) ** _arb(exponent)


_OPERATIONS: Final[Mapping[type[ast.operator], Callable[[Entry, Entry], Entry]]] = {
    ast.Add: lambda x, y: combined(x, y, operator.add),
    ast.Sub: less_by,
    ast.Mult: times,
    ast.Div: lambda x, y: combined(x, y, operator.truediv),
    ast.Pow: power,
}


def _span(value: Entry) -> Span:
    # A root that is not rational was calculated as a ball.
    return Span.around(value) if isinstance(value, Fraction | Span) else Span.within(Ball.from_arb(value))


def _arb(value: Entry) -> flint.arb:
    if isinstance(value, Span):
        return value.ball().arb()
    return to_arb(value) if isinstance(value, Fraction) else value


def decided(value: Entry, bits: int) -> Decided:
    """The number, as a law has it: certainly not 0, unless it is rational."""
    if isinstance(value, Fraction):
        return value
    ball = value.ball() if isinstance(value, Span) else Ball.from_arb(value, bits)
    if ball.lower == 0 == ball.upper:
        return Fraction(0)
    if ball.lower <= 0 <= ball.upper:
        raise NotDecided(f"whether {ball} is 0 is not decided")
    return ball.lower if ball.lower == ball.upper else ball
