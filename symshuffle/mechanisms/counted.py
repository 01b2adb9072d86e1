"""A mechanism's counts against its outputs, listed at the smallest admissible sizes.

Closed forms come from counts, explicit matrices from the listed outputs. A class whose counts are wrong, or that is
taken for pair-homogeneous and is not, would give a bound on nothing.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import TYPE_CHECKING, Final

import sympy as sp

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Verdict
from symshuffle.mechanisms.given import placed
from symshuffle.mechanisms.members import arrangements_of
from symshuffle.mechanisms.symbolic import LAM, Parameter, normal_form, same_function

if TYPE_CHECKING:
    from symshuffle.mechanisms.outputs import OutputClass
    from symshuffle.mechanisms.pairs import Pairs

SIZES: Final = 3
"""Values that are tried of each integer parameter."""

MOST_ADDED: Final = 10_000
"""Inputs up to which numbers of outputs are written out to add their probabilities."""

MOST_LOOKS: Final = 500_000
"""Outputs times tuples of inputs that are looked at of one class and size."""


_KEPT: Final = 64
"""Definitions that are known to be right, and are not checked again."""

_CHECKED: Final = ContextVar("checked", default=False)


@contextmanager
def definition_on_file() -> Iterator[None]:
    """What is defined inside is not checked: for mechanisms of this library, each of which a test checks."""
    token = _CHECKED.set(True)
    try:
        yield
    finally:
        _CHECKED.reset(token)


def check_definition(
    classes: tuple[OutputClass, ...], inputs: sp.Expr, parameters: tuple[Parameter, ...], pair: Pairs
) -> None:
    """Refuse what is no mechanism: its counts, its probabilities, and both at the pair that it speaks about."""
    if not _CHECKED.get():
        _check_definition(classes, inputs, parameters, pair)


@lru_cache(_KEPT)
def _check_definition(
    classes: tuple[OutputClass, ...], inputs: sp.Expr, parameters: tuple[Parameter, ...], pair: Pairs
) -> None:
    for output_class in classes:
        count = sum(state.count for state in output_class.states)
        if same_function(count, inputs) is not Verdict.TRUE:
            raise InputError(f"counts of class {output_class.name}", count, f"state counts of sum {inputs}")
    check_sizes(classes, inputs, {})
    mean = total_probability(classes, inputs)
    if same_function(mean, 1) is not Verdict.TRUE:
        raise InputError("probabilities", f"sum {mean}", "a sum of 1 at every input")
    if pair.listed:
        return  # pairs are counted from the outputs themselves
    if any(output_class.pair_counts is not None for output_class in classes):
        shown = [found for output_class in classes for found in output_class.shown(inputs, (0, 1))]
        for place, which in enumerate(("first", "second")):
            there = normal_form(sum(count * probabilities[place] for probabilities, count in shown))
            if same_function(there, 1) is not Verdict.TRUE:
                raise InputError("pair_counts", f"sum {there} at the {which} input of the pair", "a sum of 1")
    check_counts(classes, inputs, parameters, pair)


def total_probability(classes: Sequence[OutputClass], inputs: sp.Expr) -> sp.Expr:
    """Sum of the probabilities of all outputs, averaged over the inputs."""
    return normal_form(
        sum(one.size * state.count * state.probability / inputs for one in classes for state in one.states)
    )


def check_counts(classes: Sequence[OutputClass], inputs: sp.Expr, parameters: Sequence[Parameter], pair: Pairs) -> None:
    """Compare the counts of every class with its outputs."""
    points = [(known, sp.sympify(inputs.subs(known))) for known in _points(parameters, pair)]
    sized = [(known, int(size)) for known, size in points if size.is_Integer and size >= 2]
    for output_class in classes:
        seen = [_seen(pair, output_class, known, size) for known, size in sized]
        if seen and not any(seen):
            raise Unsupported(
                f"the outputs of class {output_class.name} are too many to be compared with its counts, which are "
                f"therefore not believed (limit {MOST_LOOKS} outputs times pairs of inputs): leave a size open"
            )


def check_sizes(classes: Sequence[OutputClass], inputs: sp.Expr, known: Mapping[sp.Symbol, sp.Expr]) -> None:
    """Refuse sizes at which there is no mechanism, although its counts and probabilities are those of one elsewhere."""
    values = dict(known)
    sizes = ", ".join(f"{symbol} = {value}" for symbol, value in values.items() if symbol != LAM) or "any level"
    for output_class in classes:
        for state in output_class.states:
            count = placed(sp.sympify(state.count), values)
            # Of outputs that are listed one by one the count is a mean.
            if output_class.members is None and count.is_number and not (count.is_Integer and count >= 0):
                raise InputError(
                    f"count of {output_class.name}, {state.name}",
                    f"{count} at {sizes}",
                    "a whole number of inputs, at least 0",
                )
    number = placed(sp.sympify(inputs), values)
    if not number.is_Integer or number > MOST_ADDED:
        return
    rational = values.get(LAM, LAM).is_Rational
    levels = [values[LAM]] if rational else [sp.Integer(2), sp.Rational(17, 7)]  # one may be a pole
    totals = [_total(classes, {**values, LAM: level}) for level in levels]
    if all(total is not None and total != number for total in totals):
        raise InputError("probabilities", f"sum {totals[0] / number} at {sizes}", "a sum of 1 at every input")


def _total(classes: Sequence[OutputClass], values: dict[sp.Symbol, sp.Expr]) -> sp.Expr | None:
    """The sum of all probabilities over all inputs; None if a symbol is left."""
    terms = [c.size * s.count * s.probability for c in classes for s in c.states]
    total = sp.Add(*(placed(sp.sympify(term), values) for term in terms))
    return None if total.free_symbols else normal_form(total) if total.is_finite else sp.nan


def _points(parameters: Sequence[Parameter], pair: Pairs) -> Iterator[dict[sp.Symbol, sp.Expr]]:
    """All parameters at the smallest admissible sizes, but for the one that tells classes of pairs apart."""
    points: list[dict[sp.Symbol, sp.Expr]] = [{}]
    for parameter in parameters:
        if parameter.symbol != pair.by:
            points = [{**known, parameter.symbol: value} for known in points for value in _values(parameter, known)]
    yield from points


def _values(parameter: Parameter, known: Mapping[sp.Symbol, sp.Expr]) -> list[sp.Expr]:
    """A few integers; for a number one point inside its range, where roots of ``lam`` are rational."""
    if parameter.integer:
        return [sp.Integer(value) for value in parameter.smallest(SIZES, known)]
    lower = parameter.lower.subs(dict(known))
    return [lower + 3 if parameter.upper is None else (2 * lower + parameter.upper.subs(dict(known))) / 3]


def _seen(pair: Pairs, output_class: OutputClass, known: Mapping[sp.Symbol, sp.Expr], inputs: int) -> bool:
    """Compare one class at one size; whether it was small enough."""
    at = output_class.substituted(lambda expression: sp.sympify(expression).subs(dict(known)))
    if at.size == 0 or (at.members is None and not all(s.count.is_Integer and s.count >= 0 for s in at.states)):
        return True
    place = ", ".join(f"{symbol} = {value}" for symbol, value in known.items()) or "the given size"
    if at.members is None and at.pair_counts is None:
        arrangements = arrangements_of([int(state.count) for state in at.states])
        if normal_form(at.size - arrangements) != 0:
            raise InputError(
                f"size of class {at.name}",
                f"{at.size} at {place}",
                f"{arrangements}, the ways to distribute its states over the inputs, or members that list the outputs",
            )
        return True
    number = at.size if at.number is None else at.number
    if number * math.perm(inputs, 2) > MOST_LOOKS:
        return False
    integers = {str(symbol): int(value) for symbol, value in known.items() if value.is_Integer}
    outputs = [(states, sp.sympify(weight).subs(dict(known))) for states, weight in at.outputs(integers)]
    needed = {i for i, state in enumerate(at.states) if state.count != 0}
    for states, _ in outputs:
        if len(states) != inputs or not needed <= set(states):
            raise InputError(f"members of class {at.name}", states, f"{inputs} states, each of the class among them")
    for size in (1, 2, 3):
        if number * math.perm(inputs, size) <= MOST_LOOKS:
            for chosen in itertools.permutations(range(inputs), size):
                _compare(pair, at, integers, chosen, outputs, place)
    return True


def _compare(
    pair: Pairs,
    at: OutputClass,
    integers: Mapping[str, int],
    chosen: tuple[int, ...],
    outputs: Sequence[tuple[tuple[int, ...], sp.Expr]],
    place: str,
) -> None:
    expected = at.counts(sp.Integer(len(outputs[0][0])), len(chosen)) if outputs else None
    if expected is None:
        return
    special: dict[sp.Symbol, sp.Expr] = {}
    if pair.by is not None and pair.class_of is not None:
        # One input is in some pair of every class; two are in the class that they are in.
        other = chosen[1] if len(chosen) > 1 else (chosen[0] + 1) % len(outputs[0][0])
        special[pair.by] = sp.Integer(pair.class_of(integers, chosen[0], other))
    found: dict[tuple[int, ...], sp.Expr] = {}
    for states, weight in outputs:
        shown = tuple(states[x] for x in chosen)
        found[shown] = found.get(shown, sp.Integer(0)) + weight
    counted: dict[tuple[int, ...], sp.Expr] = {}
    for shown, count in expected:
        counted[shown] = counted.get(shown, sp.Integer(0)) + count
    for shown in found.keys() | counted.keys():
        listed, claimed = found.get(shown, sp.Integer(0)), counted.get(shown, sp.Integer(0)).subs(special)
        if listed != claimed and normal_form(listed - claimed) != 0:
            words = ", ".join(at.states[i].name for i in shown)
            raise InputError(
                f"members of class {at.name}",
                f"{listed} outputs with inputs {', '.join(map(str, chosen))} in states {words} at {place}",
                f"{claimed}, as the class counts them (a class that is not pair-homogeneous lists its pair_counts)",
            )
