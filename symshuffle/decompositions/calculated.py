"""Decompositions as functions of their parameters: numbers go in, a law of G comes out, and no algebra is done.

Weights and ratios are texts of sums, products, powers and roots, read once. What is rational is calculated with
rationals, the rest with balls. A number that may be 0 is no atom and no weight here: whether it is 0, algebra has to
say.
"""

from __future__ import annotations

import ast
import math
import operator
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from fractions import Fraction
from functools import cache, lru_cache
from types import CodeType, FunctionType
from typing import Any, Final, NamedTuple, TypeAlias

import flint

from symshuffle.base.choices import Direction
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Exp,
    Real,
    Verdict,
    from_flint,
    less,
    lower_end,
    positive_part,
    to_arb,
    usual_bits,
    working_precision,
)
from symshuffle.channels.law import Law

LONGEST_POWER: Final = 10_000
"""Exponents beyond which a rational power is left to balls."""

LARGEST_COMPARED: Final = 1000
"""Exponents up to which closed forms are compared as polynomials."""

Entry: TypeAlias = "flint.fmpq | flint.arb"
"""A rational or a ball, in python-flint's arithmetic, which mixes both."""

Calculated: TypeAlias = "Callable[[Mapping[str, Entry]], Entry]"
"""From the parameters by name to a number."""

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
) -> Law:
    """Law of G at a target ratio: exact where rational, otherwise balls."""
    cells = tuple(cells)
    if _symmetric(cells):
        way = "forward"
    try:
        return _law(cells, tuple(values.items()), exp_eps, way, bits or usual_bits(exp_eps, *values.values()))
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
) -> Law:
    """Kept for a moment: the other direction is asked for next."""
    with working_precision(precision + 32):
        x, at_cap = entry_of(exp_eps), dict(known).get("lam") == exp_eps
        atoms: list[tuple[Decided, Decided]] = []
        singular: Decided = Fraction(0)
        for charge, functions, seen in _numbers(cells, known, way, precision):
            (value,) = decided([_difference(functions, seen, x, at_cap=at_cap and charge is not None)], precision)
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
) -> list[tuple[Decided | None, _Pair, tuple[Entry, Entry]]]:
    """For each cell its weight in the blanket, None where that is 0, and ratios or weights: the same at all levels."""
    numbers = {name: entry_of(value) for name, value in known}
    found: list[tuple[Decided | None, _Pair, tuple[Entry, Entry]]] = []
    for a, b, c, ratios, _ in cells:
        charge = c(numbers)
        none = ratios is None or charge == 0
        one, other = (a, b) if ratios is None or none else ratios
        pair = (one, other) if way == "forward" else (other, one)
        seen = pair[0](numbers), pair[1](numbers)
        found.append((None if none else decided([charge], precision)[0], pair, seen))
    return found


def _difference(functions: _Pair, seen: tuple[Entry, Entry], x: Entry, *, at_cap: bool) -> Entry:
    """The value of G where two likelihood ratios are seen; ``at_cap``, where x is the local ratio cap."""
    if functions[0] is functions[1]:  # no difference of two enclosures: it vanishes at exp(eps) = 1
        return seen[0] * (1 - x)
    if at_cap and functions in ((calculated("lam"), calculated("1")), (calculated("1"), calculated("1/lam"))):
        return flint.fmpq(0)
    return excess(seen[0], x, seen[1])


def excess(first: Entry, x: Entry, second: Entry) -> Entry:
    """``first - x second``, which is the first number itself where the second one is 0."""
    return first if second == 0 else first - x * second


def entry_of(value: Real | int) -> Entry:
    """A real constant as a number of python-flint: a rational, or a ball of the current precision."""
    return to_arb(value) if isinstance(value, Exp) else flint.fmpq(*value.as_integer_ratio())


def spreads(atoms: Sequence[tuple[Any, Any]]) -> bool:
    """Whether a signed measure of total mass and mean 0 certainly has no negative integral of (v - t)_+."""
    # The integral has its kinks at the atoms; below all of them it is 0, as total mass and mean are.
    for i, (at, _) in enumerate(atoms):
        others = [*atoms[:i], *atoms[i + 1 :]]
        total = sum(weight * positive_part(value - at) for value, weight in others)
        if any(less(value, at) is not Verdict.FALSE for value, _ in others) and less(total, 0) is not Verdict.FALSE:
            return False
    return True


@cache
def calculated(text: str) -> Calculated:
    """The function that a text denotes: sums, products, powers and roots; rational where all of it is."""
    names = names_in(text)
    found = compiled(text, names, flint.fmpq, lambda value: power(value, flint.fmpq(1, 2)), power)
    return lambda numbers: found(*[numbers[name] for name in names])


def number_at(text: str, values: Mapping[str, Real], bits: int = DEFAULT_BITS) -> Any:
    """The number that a text denotes at some values: exact where it is rational, otherwise a ball of ``bits`` bits."""
    if text.isdecimal():
        return Fraction(text)
    if isinstance(known := values.get(text), Fraction):
        return known
    with working_precision(bits + 32):
        return from_flint([calculated(text)({name: entry_of(value) for name, value in values.items()})], bits)[0]


def names_in(text: str) -> list[str]:
    """The names in a text, sorted."""
    return sorted({node.id for node in ast.walk(ast.parse(text, mode="eval")) if isinstance(node, ast.Name)} - {"sqrt"})


def compiled(
    text: str,
    names: Sequence[str],
    whole: Callable[[int], Any],
    root: Callable[[Any], Any],
    to_power: Callable[[Any, Any], Any] = operator.pow,
) -> Callable[..., Any]:
    """The function that a text denotes, for numbers of one kind.

    - ``text``: sums, products, powers and roots of names and integers.
    - ``whole``: the number of that kind that an integer is, so that a quotient of two integers is of that kind.
    """
    for node in ast.walk(ast.parse(text, mode="eval").body):
        if not (_is_root(node) if isinstance(node, ast.Call) else isinstance(node, _READ)):
            raise InputError("closed form", text, "sums, products, powers and roots")
    arguments = ast.arguments([], [ast.arg(name) for name in names], None, [], [], None, [])
    body = _Named().visit(ast.parse(text, mode="eval").body)
    tree = ast.fix_missing_locations(ast.Expression(ast.Lambda(arguments, body)))
    numbers = {n.value for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Constant) and isinstance(n.value, int)}
    known = {f"_{i}": whole(i) for i in numbers}
    (code,) = (part for part in compile(tree, "<closed form>", "eval").co_consts if isinstance(part, CodeType))
    return FunctionType(code, {**known, "sqrt": root, "_power": to_power})


class _Named(ast.NodeTransformer):
    """Integers by names, but for exponents; powers of other exponents by a function."""

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if not isinstance(node.op, ast.Pow):
            return ast.BinOp(self.visit(node.left), node.op, self.visit(node.right))
        if isinstance(node.right, ast.Constant):
            return ast.BinOp(self.visit(node.left), node.op, node.right)
        return ast.Call(ast.Name("_power", ast.Load()), [self.visit(node.left), self.visit(node.right)], [])

    def visit_Constant(self, node: ast.Constant) -> ast.Name:
        return ast.Name(f"_{node.value!r}", ast.Load())


_READ: Final = (
    *(ast.Constant, ast.Name, ast.Load, ast.UnaryOp, ast.USub),
    *(ast.BinOp, ast.Add, ast.Sub, ast.Mult, ast.Div, ast.Pow),
)


def _is_root(node: ast.Call) -> bool:
    return isinstance(node.func, ast.Name) and node.func.id == "sqrt" and len(node.args) == 1 and not node.keywords


def power(base: Entry, exponent: Entry | int) -> Entry:
    """A power: exact where it is rational."""
    exponent = flint.fmpq(exponent) if isinstance(exponent, int) else exponent
    if isinstance(base, flint.fmpq) and isinstance(exponent, flint.fmpq) and abs(exponent) <= LONGEST_POWER:
        if exponent.q == 1:
            return base ** int(exponent.p)
        if exponent.q == 2 and base >= 0:
            root = flint.fmpq(math.isqrt(int(base.p)), math.isqrt(int(base.q)))
            if root * root == base:
                return root ** int(exponent.p)
    return flint.arb(base) ** flint.arb(exponent)


def decided(values: Iterable[Entry | int], bits: int) -> list[Decided]:
    """Numbers as a law has them: certainly not 0, unless they are rational."""
    found = from_flint(values, bits)
    for place, ball in enumerate(found):
        if not isinstance(ball, Ball):
            continue
        if ball.lower == ball.upper:
            found[place] = ball.lower
        elif ball.lower <= 0 <= ball.upper:
            raise NotDecided(f"whether {ball} is 0")
    return found
