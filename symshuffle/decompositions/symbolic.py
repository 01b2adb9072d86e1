r"""The simplified optimal decomposition in closed form, derived from a mechanism by counting output classes.

For a class of outputs and an ordered pair of its states the mechanism says how many outputs show that pair of states
and with which probabilities; the blanket of such an output is the smallest probability among the states that occur
in it. That gives one triple (a, b, c) per class and pair of states, and proportional triples are merged. Nothing is
looked up: change the definition of the mechanism and the formula follows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, final

import sympy as sp

from symshuffle.base.choices import Direction, Others, choice
from symshuffle.base.errors import InputError, NotDecided, Unsupported, check_kind
from symshuffle.base.numbers import Ball, Real, lower_end, upper_end
from symshuffle.base.results import FirstLines
from symshuffle.channels.law import Law
from symshuffle.decompositions.calculated import Cell, calculated_cell, calculated_law
from symshuffle.decompositions.cells import HELD, counted_law
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.decompositions.counting import count_cells
from symshuffle.decompositions.model import Decomposition, first_lines
from symshuffle.mechanisms.display import factored, latex, text
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import is_named
from symshuffle.mechanisms.symbolic import (
    EXP_EPS,
    LAM,
    constant_of,
    evaluate,
    large_limit,
    normal_form,
    value_of,
    written,
)
from symshuffle.mechanisms.tables import array, columns


@final
@dataclass(frozen=True, slots=True)
class SymbolicDecomposition:
    """Decomposition with weights that are expressions in open parameters.

    Parameters
    ----------
    mechanism : Mechanism
        What was decomposed.
    cells : tuple of Cell
        The shared components.
    beta : sympy.Expr
        Weight of the left-over.
    """

    mechanism: Mechanism
    cells: tuple[Cell, ...]
    beta: sp.Expr

    @property
    def gamma(self) -> sp.Expr:
        """Total variation similarity ``1 - beta``."""
        return normal_form(1 - self.beta)

    @property
    def lines(self) -> FirstLines:
        """First lines of the decomposition: similarity, mechanism, pair of inputs, evidence."""
        mechanism = self.mechanism
        ranges = "; ".join(f"{one.name}: {one.range}" for one in mechanism.parameters)
        return first_lines(text(self.gamma), repr(mechanism), str(mechanism.pair), ranges)

    def map(self, function: Callable[[sp.Expr], sp.Expr]) -> SymbolicDecomposition:
        """Decomposition with a function applied to every weight."""
        return replace(self, cells=tuple(cell.map(function) for cell in self.cells), beta=function(self.beta))

    def check_sums(self) -> dict[str, sp.Expr]:
        """Sums of the weights and E[G] + exp(eps), each 1 (the last one only if no cell lies outside the blanket)."""
        return {
            "a": normal_form(sum(cell.a for cell in self.cells)),
            "b": normal_form(sum(cell.b for cell in self.cells)),
            "c + beta": normal_form(sum((cell.c for cell in self.cells), start=self.beta)),
            "E[G] + exp(eps)": normal_form(sum(value * weight for value, weight in self.gparv()) + EXP_EPS),
        }

    def gparv(self, *, direction: Direction = "forward") -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        """Law of G as (value, probability) pairs, in ``x = exp(eps)`` and the open parameters.

        The left-over is the atom 0. Cells that the blanket does not charge are no atoms: see :meth:`singular`.
        """
        direction = choice(Direction, direction, "direction")
        slacks = self.mechanism.chart
        atoms: dict[sp.Expr, sp.Expr] = {}
        for raw, weight in self._atoms(direction):
            value = factored(raw, slacks)
            atoms[value] = atoms.get(value, sp.Integer(0)) + weight
        return tuple((value, factored(normal_form(weight), slacks)) for value, weight in atoms.items())

    def _atoms(self, direction: Direction) -> Iterator[tuple[sp.Expr, sp.Expr]]:
        """Atoms as they come, without any algebra on them."""
        for cell in self.cells:
            if cell.ratios is not None:
                first, second = cell.ratios if direction == "forward" else cell.ratios[::-1]
                yield first - EXP_EPS * second, cell.c
        if self.beta != 0:
            yield sp.Integer(0), self.beta

    def singular(self, *, direction: Direction = "forward") -> sp.Expr:
        """Mass that a histogram reveals for certain. It is the sum of (a - x b)_+ over the cells without blanket."""
        direction = choice(Direction, direction, "direction")
        pairs = ((cell.a, cell.b) if direction == "forward" else (cell.b, cell.a) for cell in self.cells if cell.c == 0)
        return sp.Add(*(a if b == 0 else sp.Max(0, a - EXP_EPS * b) for a, b in pairs if a != 0))

    def numeric(self, *, bits: int | None = None) -> Decomposition:
        """Decomposition in numbers: exact where all weights are rational, in balls of ``bits`` bits otherwise."""
        return Decomposition(
            tuple(evaluate_atom(cell.a, bits) for cell in self.cells),
            tuple(evaluate_atom(cell.b, bits) for cell in self.cells),
            tuple(evaluate_atom(cell.c, bits) for cell in self.cells),
            evaluate_atom(self.beta, bits),
        )

    def law(self, exp_eps: Real, *, direction: Direction = "forward", bits: int | None = None) -> Law:
        """Law of G at a target ratio ``exp(eps)``: exact where all is rational, in balls of ``bits`` bits otherwise.

        Differences such as ``lam - exp(eps)`` are taken before they are evaluated, so that they vanish exactly when
        the two levels agree, and lose no digits when they nearly do.
        """
        direction = choice(Direction, direction, "direction")
        at = {EXP_EPS: constant_of(exp_eps, "exp_eps")}
        atoms = [(value.subs(at), weight) for value, weight in self._atoms(direction)]
        return Law.from_atoms(
            [(evaluate_atom(value, bits), evaluate_atom(weight, bits)) for value, weight in atoms],
            evaluate_atom(self.singular(direction=direction).subs(at), bits),
        )

    def __str__(self) -> str:
        cells = [(f"Q{j}", text(c.a), text(c.b), text(c.c)) for j, c in enumerate(self.cells, start=1)]
        weights = columns(("", "a", "b", "c"), [*cells, ("left-over", "0", "0", text(self.beta))])
        atoms = [(text(value), text(weight)) for value, weight in self.gparv()]
        singular = [("singular", text(self.singular()))] if self.singular() != 0 else []
        return f"{weights}\n\n{columns(('G, with x = exp(eps)', 'probability'), [*atoms, *singular])}"

    def __repr__(self) -> str:
        return f"<decomposition of {self.mechanism!r}: {len(self.cells)} components, beta = {text(self.beta)}>"

    def latex(self) -> str:
        """The decomposition as a LaTeX table, one line per component."""
        return array(
            ("", "a", "b", "c"),
            [
                *((f"Q_{{{j}}}", *map(latex, (c.a, c.b, c.c))) for j, c in enumerate(self.cells, start=1)),
                (r"\text{left-over}", "0", "0", latex(self.beta)),
            ],
        )

    def gparv_latex(self, *, direction: Direction = "forward") -> str:
        """Law of G as a LaTeX table in x = exp(eps): a line per atom, and one for the singular mass."""
        direction = choice(Direction, direction, "direction")
        atoms = [(latex(value), latex(weight)) for value, weight in self.gparv(direction=direction)]
        singular = self.singular(direction=direction)
        lines = [*atoms, (r"\text{singular}", latex(singular))] if singular != 0 else atoms
        return array(("G", r"\text{probability}"), lines)

    def _repr_latex_(self) -> str:
        return f"$\\displaystyle {self.latex()}$"


def evaluate_atom(expression: sp.Expr, bits: int | None) -> Any:
    """An atom or a weight in numbers. Rationals stay exact: whether a cell has a blanket is no matter of precision."""
    value = evaluate(expression, bits=bits)
    if not isinstance(value, Ball):
        return value
    # Algebra decides a ball around zero (at D = 2 no string of RAPPOR has both bits of a pair set), then more bits do.
    if value.lower <= 0 <= value.upper:
        if normal_form(expression) == 0:
            return Fraction(0)
        for finer in (2**10, 2**12, 2**14) if bits is None else ():
            value = evaluate(expression, bits=finer)
            if not lower_end(value) <= 0 <= upper_end(value):
                break
    return lower_end(value) if lower_end(value) == upper_end(value) else value


def optimal_decomposition(mechanism: Mechanism, *, limits: bool = True) -> SymbolicDecomposition:
    """Simplified optimal decomposition of a mechanism, in its open parameters.

    The derivation runs once, with all parameters open, and values are put into its result: no algebra is ever done on
    a thousand-digit number. The values are put in first only where the general form does not exist.

    Parameters
    ----------
    mechanism : Mechanism
        With any of its parameters open; that includes one that distinguishes pairs of inputs.
    limits : bool
        Whether to take the limit of parameters that default to infinity; otherwise they stay symbols.

    Returns
    -------
    SymbolicDecomposition
        The weights of the shared components and of the left-over, as SymPy expressions.

    Raises
    ------
    InputError
        If the mechanism has several pairs of inputs, listed by number, and none of them was chosen.
    Unsupported
        If the blanket of some output, or whether a state occurs at all, depends on the open parameters.

    Notes
    -----
    decomposition, Theorem 7; for k-ary randomized response, Example 4.1.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> optimal_decomposition(randomizer("krr")).gamma
    k/(k + lambda - 1)
    """
    return counted_decomposition(mechanism, limits=limits)


def counted_decomposition(
    mechanism: Mechanism, *, differs: bool = True, others: Others = "blanket", limits: bool = True
) -> SymbolicDecomposition:
    """The decomposition of two inputs of a mechanism over what stands in for the other users.

    - ``others``: the blanket of all inputs, an upper bound whatever the others hold, or the input that all of them
      hold, exact and without left-over. For a pair of equal inputs ``third`` is a different one, the others are the
      common one.
    """
    check_kind(mechanism, Mechanism, "mechanism", "a mechanism, as mechanism('krr')")
    others = choice(Others, others, "others")
    mechanism = mechanism.with_defaults()
    if not mechanism.pair.chosen:
        listed = ", ".join(map(str, mechanism.pair.listed[:3]))
        raise InputError("pair", f"all of {listed}, ...", f"one pair, as {mechanism.name}.comparing(0, 1)")
    held, general = HELD[others], mechanism.general or mechanism
    roles = (0, 1, *held) if differs else (0, 0, *(max(input_ - 1, 0) for input_ in held))
    growing = tuple(parameter.symbol for parameter in mechanism.parameters if limits and parameter.has_limit)
    try:
        (cells, beta), known = _far_out(general, roles, growing), dict(mechanism.fixed)
    except Unsupported:
        if any(number.is_number for c in mechanism.classes for number in c.size.atoms(sp.binomial)):
            raise  # numbers of subsets too long to be written out: without a general form there is no other way
        (cells, beta), known = _far_out(mechanism, roles, growing), {}
    return _at_values(mechanism, cells, beta, known)


@cache
def _far_out(
    mechanism: Mechanism, roles: tuple[int, ...], growing: tuple[sp.Symbol, ...]
) -> tuple[tuple[Cell, ...], sp.Expr]:
    """The cells of some roles and the left-over, in the limit of some parameters."""
    (cells, beta), slacks = count_cells(mechanism, roles), mechanism.chart

    @cache
    def limit(expression: sp.Expr) -> sp.Expr:
        for symbol in growing:
            expression = factored(large_limit(expression, symbol, slacks), slacks)
        return expression

    return tuple(cell.map(limit) for cell in cells), limit(beta)


def lines_of(cells: Iterable[Cell], beta: sp.Expr | None) -> list[list[Any]]:
    """Cells as lines of texts (a, b, c, ratios), those of :func:`calculated_cell`; a left-over comes last."""
    lines: list[list[Any]] = [
        [*map(written, (c.a, c.b, c.c)), None if c.ratios is None else [*map(written, c.ratios)]] for c in cells
    ]
    return lines if beta is None else [*lines, ["0", "0", written(beta), ["0", "0"]]]


def quick_law(
    mechanism: Mechanism,
    exp_eps: Real,
    *,
    others: Others = "blanket",
    direction: Direction = "forward",
    bits: int | None = None,
) -> Law:
    """The law of G of a mechanism with all parameters fixed, from its general form: no algebra at these values."""
    values = {str(symbol) if symbol != LAM else "lam": value_of(value) for symbol, value in mechanism.fixed}
    if any(value is None for value in values.values()):
        raise NotDecided(f"{mechanism.name} cannot be evaluated: some values are no real constants")
    growing = tuple(parameter.symbol for parameter in mechanism.parameters if parameter.has_limit)
    known, general = {name: value for name, value in values.items() if value is not None}, mechanism.general
    if is_named(general or mechanism):
        lam = known.pop("lam", None)
        form = ClosedForm(mechanism.name, tuple((name, str(value)) for name, value in known.items()), lam)
        return counted_law(form, exp_eps, direction, others, bits=bits)
    cells = _calculated(general or mechanism, others, growing)
    return calculated_law(cells, known, exp_eps, direction, bits=bits)


@lru_cache(maxsize=256)
def _calculated(mechanism: Mechanism, others: Others, growing: tuple[sp.Symbol, ...]) -> tuple[Cell, ...]:
    """The general form as functions of the parameters."""
    try:
        cells, beta = _far_out(mechanism, (0, 1, *HELD[others]), growing)
        return tuple(calculated_cell(*line) for line in lines_of(cells, beta if others == "blanket" else None))
    except (InputError, Unsupported, SyntaxError, ValueError, RecursionError) as reason:
        raise NotDecided(f"{mechanism.name} could not be decomposed for all parameters numerically: {reason}") from None


def _at_values(
    mechanism: Mechanism, cells: Iterable[Cell], beta: sp.Expr, known: dict[sp.Symbol, sp.Expr]
) -> SymbolicDecomposition:
    """Values put into a general form; cells that have no weight then are left out."""
    fixed = [cell.map(lambda weight: weight.subs(known)) for cell in cells]
    told = tuple(cell for cell in fixed if not cell.a == cell.b == cell.c == 0)
    return SymbolicDecomposition(mechanism, told, beta.subs(known))
