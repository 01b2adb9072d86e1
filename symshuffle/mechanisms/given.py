"""What a mechanism is made of, as a caller writes it: the rows of a matrix, the states of its outputs, values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace
from typing import Any, Final, final

import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Verdict
from symshuffle.mechanisms.outputs import OutputClass, State
from symshuffle.mechanisms.symbolic import LAM, Parameter, expression_of, normal_form, same_function

LAM_PARAMETER: Final = Parameter(LAM, sp.Integer(1), None, False, "local ratio cap exp(eps0)")

_MOST_CHOSEN_FROM: Final = 10_000
"""Inputs up to which a number of subsets is multiplied out; beyond, its digits fill pages."""


def read_matrix(rows: Sequence[Sequence[Any]]) -> list[list[sp.Expr]]:
    """The rows of a channel as expressions.

    - ``rows``: one row per input; entries are expressions of SymPy, exact numbers or their text.
    """
    matrix = [[expression_of(entry, f"rows[{x}][{y}]") for y, entry in enumerate(row)] for x, row in enumerate(rows)]
    for x, row in enumerate(matrix):
        if len(row) != len(matrix[0]):
            raise InputError(f"rows[{x}]", f"{len(row)} entries", f"{len(matrix[0])}, as in rows[0]")
        if same_function(sum(row), 1) is not Verdict.TRUE:
            raise InputError(f"rows[{x}]", f"sum {normal_form(sum(row))}", "probabilities of sum 1")
    if len(matrix) < 2:
        raise InputError("rows", f"{len(matrix)} rows", "at least 2: neighbours differ in one input")
    return matrix


def read_states(
    inputs: Any, classes: Mapping[str, Mapping[str, tuple[Any, Any]]], parameters: Sequence[Parameter]
) -> tuple[sp.Expr, tuple[OutputClass, ...], tuple[Parameter, ...]]:
    """The number of inputs, the output classes, and all parameters: those given, and those that the states imply.

    - ``parameters``: open parameters other than ``lam`` and the number of inputs.
    """
    number = expression_of(inputs, "inputs")
    described = tuple(
        all_arrangements(
            word,
            number,
            tuple(
                State(state, *(expression_of(part, f"{word}, {state}") for part in parts))
                for state, parts in states.items()
            ),
        )
        for word, states in classes.items()
    )
    known = [parameter.symbol for parameter in parameters]
    implied = [Parameter(number, sp.Integer(2), None, True, "number of inputs")] if number.is_Symbol else []
    used = {symbol for c in described for s in c.states for symbol in (s.count + s.probability).free_symbols}
    budget = [LAM_PARAMETER] if LAM in used else []
    given = (*budget, *(p for p in implied if p.symbol not in known), *parameters)
    check_symbols(used, given)
    return number, described, given


def check_symbols(used: Set[sp.Symbol], parameters: Sequence[Parameter]) -> None:
    """Refuse a symbol that is not a parameter."""
    for symbol in sorted(used - {parameter.symbol for parameter in parameters}, key=str):
        raise InputError("parameters", f"{symbol} missing", "a Parameter for every symbol")


def placed(expression: sp.Expr, known: dict[sp.Symbol, sp.Expr]) -> sp.Expr:
    """The expression at some values. A number of subsets too long to be written out stays a binomial."""
    choices = expression.atoms(sp.binomial)
    if not choices:
        return expression.xreplace(known)
    long = {}
    for choice in choices:
        inputs, chosen = (argument.subs(known) for argument in choice.args)
        if inputs.is_Integer and chosen.is_Integer and inputs > _MOST_CHOSEN_FROM and 1 < chosen < inputs - 1:
            long[choice] = sp.Dummy(), sp.binomial(inputs, chosen, evaluate=False)
    held = expression.xreplace({choice: dummy for choice, (dummy, _) in long.items()})
    return held.subs(known).xreplace(dict(long.values()))


@final
class Placed(Sequence[OutputClass]):
    """Output classes with every expression put at some values, made when one is looked at.

    A mechanism whose laws come from a general form is put at many values, at each of which nobody looks.
    """

    __slots__ = ("_classes", "_known", "_made")

    def __init__(self, classes: Sequence[OutputClass], known: tuple[tuple[sp.Symbol, sp.Expr], ...]) -> None:
        self._classes, self._known = classes, known
        self._made: tuple[OutputClass, ...] | None = None

    def _all(self) -> tuple[OutputClass, ...]:
        if self._made is None:
            known = dict(self._known)
            self._made = tuple(c.substituted(lambda e: placed(sp.sympify(e), known)) for c in self._classes)
        return self._made

    def __getitem__(self, place: Any) -> Any:
        return self._all()[place]

    def __len__(self) -> int:
        return len(self._classes)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Placed) and other._classes is self._classes and other._known == self._known:
            return True
        return isinstance(other, Placed | tuple) and self._all() == tuple(other)

    def __hash__(self) -> int:
        return hash(self._all())

    def __repr__(self) -> str:
        return repr(self._all())


def all_arrangements(name: str, inputs: sp.Expr, states: tuple[State, ...]) -> OutputClass:
    """The class that has one output for every way to distribute the states over the inputs.

    - ``states``: its states, whose counts sum to the number of inputs.
    """
    size, free = sp.Integer(1), inputs
    for state in states[:-1]:
        size, free = size * sp.binomial(free, state.count), free - state.count
    return OutputClass(name, size, states)


def each_output(c: OutputClass, inputs: sp.Expr, number: sp.Expr | None = None) -> OutputClass:
    """The class of a definition with the probabilities of one output, and numbers of outputs.

    - ``number``: among how many outputs probabilities are shared; None: the arrangements of the states.
    """
    whole = all_arrangements(c.name, inputs, c.states).size if number is None else number

    def shared(count: Any) -> sp.Expr:
        return sp.expand(count * whole)

    pairs = None if c.pair_counts is None else tuple((i, j, shared(count)) for i, j, count in c.pair_counts)
    states = tuple(replace(s, probability=s.probability / whole) for s in c.states)
    return replace(c, size=shared(c.size), states=states, pair_counts=pairs, number=None)


def explicit_output(y: int, column: Sequence[sp.Expr]) -> OutputClass:
    """One output as a class of its own; inputs with the same probability share a state. It counts no pair yet."""
    probabilities = list(dict.fromkeys(column))
    of_input = tuple(probabilities.index(entry) for entry in column)
    states = tuple(
        State(f"p{i}", sp.Integer(of_input.count(i)), probability) for i, probability in enumerate(probabilities)
    )
    return OutputClass(f"y{y}", sp.Integer(1), states, (), _Listed(of_input))


@final
@dataclass(frozen=True, slots=True)
class _Listed:
    """The one output of a class, by the states of all inputs."""

    states: tuple[int, ...]

    def __call__(self, values: Mapping[str, int]) -> list[tuple[tuple[int, ...], sp.Expr]]:
        return [(self.states, sp.Integer(1))]
