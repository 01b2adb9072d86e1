"""Reductions of what is listed: a channel's rows, compared pair by pair, with or without a null symbol."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Final

from symshuffle.accountants.covering.reduced import Datasets, LawFamily, PairClass, Reduction
from symshuffle.base.choices import Adjacency, Direction
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import (
    Number,
    Real,
    enclose,
    is_enclosed,
    maximum,
    minimum,
    sums_to_one,
    to_float,
    usual_bits,
)
from symshuffle.channels.channel import Channel, Rounding
from symshuffle.channels.law import Law
from symshuffle.decompositions.model import Decomposition, ReductionPair, simplified_decomposition

_MOST_INPUTS: Final = 8
"""Inputs of an explicit channel up to which all of its constant backgrounds are tried."""


def numeric(source: Decomposition | ReductionPair) -> LawFamily:
    """The laws of a decomposition or a pair in numbers."""
    pair = source.reduction_pair() if isinstance(source, Decomposition) else source
    enclosed = is_enclosed((*pair.a0, *pair.a1, *pair.a2))

    def family(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
        if not enclosed:  # doubles multiply with doubles only
            return pair.gparv(to_float(exp_eps), direction=direction)
        target = exp_eps if isinstance(exp_eps, Fraction) else enclose(exp_eps, bits or usual_bits(exp_eps))
        return pair.gparv(target, direction=direction)

    return family


def of_channel(channel: Channel) -> Reduction:
    """Every pair of inputs of a channel."""
    inputs = range(channel.num_inputs)
    if len(inputs) < 2:
        raise InputError("channel", f"{len(inputs)} input", "at least 2 inputs: neighbours differ in one")
    # Pairs times inputs grow too fast for large channels, whose bound is then given alone.
    others = inputs if len(inputs) <= _MOST_INPUTS else ()
    classes = tuple(
        PairClass(
            f"inputs {x} and {y}",
            numeric(simplified_decomposition(channel, (x, y))),
            datasets=tuple(
                Datasets(_constant((x, y), other), numeric(_real(channel, (x, y), other))) for other in others
            ),
        )
        for x, y in itertools.combinations(inputs, 2)
    )
    return Reduction(
        classes,
        True,
        pairs=f"the worst of all pairs of inputs{_revealed(channel)}",
        first="X0 holding the input with the smaller number",
        rounding=channel.rounding,
    )


def against_null(channel: Channel, law: tuple[Number, ...], *, of_blanket: bool = False) -> Reduction:
    """Every input against the null symbol, which becomes one more row: others may hold it as well."""
    if len(law) != channel.num_outputs:
        raise InputError("null", f"{len(law)} masses", f"{channel.num_outputs}, one per output")
    if not sums_to_one(law):
        raise InputError("null", ", ".join(map(str, law)), "probabilities of sum 1")
    whole = Channel((*channel.rows, law))
    said = "that of the blanket" if of_blanket else _written(law)
    symbol = channel.num_inputs
    names = [*map(str, range(symbol)), "null"]
    others = range(symbol + 1) if symbol < _MOST_INPUTS else ()
    classes = tuple(
        PairClass(
            f"input {x} and the null symbol",
            numeric(simplified_decomposition(whole, (x, symbol))),
            datasets=tuple(
                Datasets(_constant((x, symbol), other, names), numeric(_real(whole, (x, symbol), other)))
                for other in others
            ),
        )
        for x in range(symbol)
    )
    return Reduction(
        classes,
        True,
        Adjacency.ZERO_OUT,
        pairs=f"the worst of all inputs against the null symbol, whose law is {said}{_revealed(whole)}",
        first="X0 holding the input",
        rounding=_of_null(channel.rounding, of_blanket=of_blanket),
    )


def _of_null(rounding: Rounding | None, *, of_blanket: bool) -> Rounding | None:
    """Rounding of a channel with a null symbol; the law of its blanket may change by any amount with the matrix."""
    return replace(rounding, row=Fraction(1)) if rounding is not None and of_blanket else rounding


def _written(law: tuple[Number, ...]) -> str:
    more = ", ..." if len(law) > _MOST_INPUTS else ""
    return f"({', '.join(map(str, law[:_MOST_INPUTS]))}{more})"


def _revealed(channel: Channel) -> str:
    """Which outputs make a channel not LDP, in words: what they reveal for certain is the singular mass of its laws."""
    outputs = [y for y, column in enumerate(channel.columns()) if minimum(column) == 0 and maximum(column) != 0]
    if not outputs:
        return ""
    some = ", ".join(map(str, outputs[:5])) + (", ..." if len(outputs) > 5 else "")
    return f" (not LDP for any budget: possible at some inputs only, and counted as singular mass: outputs {some})"


def _real(channel: Channel, pair: tuple[int, int], other: int) -> Decomposition:
    """The exact decomposition of a pair over the background in which all other users hold ``other``."""
    first, second, held = (channel.rows[x] for x in (*pair, other))
    return Decomposition(first, second, held, Fraction(0))


def _constant(pair: tuple[int, int], other: int, names: Sequence[str] | None = None) -> Callable[[int], str]:
    first, second, held = (str(x) if names is None else names[x] for x in (*pair, other))
    return lambda n: f"X0 = ({first}, {held} x {n - 1}), X1 = ({second}, {held} x {n - 1})"
