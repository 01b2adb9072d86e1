"""What a mechanism is made of, as a caller writes it: the rows of a matrix, the states of its outputs, values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

import sympy as sp

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Verdict
from symshuffle.mechanisms.outputs import OutputClass, State, all_arrangements
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
