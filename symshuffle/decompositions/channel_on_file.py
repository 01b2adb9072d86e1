"""The explicit channel of a named mechanism as derived data: its entries need no algebra.

The file of closed forms has the classes of outputs of each mechanism: the states of the inputs with counts and
probabilities, and how the outputs are listed (:mod:`symshuffle.mechanisms.members`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from symshuffle.base.numbers import DEFAULT_BITS, Ball, Exp, Number, Real, as_precision, to_arb, working_precision
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.calculated import calculated, times
from symshuffle.decompositions.quotients import CapQuotient, quotient_of
from symshuffle.mechanisms.members import LISTED, Listed, arrangements, arrangements_of

LARGEST_LISTED: Final = 2000
"""Inputs beyond which outputs are not counted here."""


def outputs_on_file(classes: Sequence[Mapping[str, Any]], values: Mapping[str, Real]) -> int:
    """Number of outputs of some classes at the values of the parameters."""
    integers, total = _integers(values), 0
    for one in classes:
        kind = one["members"]
        total += arrangements_of(_counts(one, values)) if kind is None else LISTED[kind][1](integers)
    return total


def channel_on_file(classes: Sequence[Mapping[str, Any]], values: Mapping[str, Real], bits: int | None) -> Channel:
    """The channel of some classes: exact where probabilities are rational and no bits are given, otherwise in balls."""
    precision = DEFAULT_BITS if bits is None else as_precision(bits)

    def number(value: Any) -> Number:
        if isinstance(value, Fraction):
            return value if bits is None else Ball(value, value, precision)
        return Ball.from_arb(value, precision)

    with working_precision(precision + 32):
        known = {name: to_arb(value) if isinstance(value, Exp) else value for name, value in values.items()}
        columns = _columns(classes, values, lambda text: calculated(text)(known), times, number)
        return Channel(tuple(zip(*columns, strict=True)))


def rows_on_file(classes: Sequence[Mapping[str, Any]], values: Mapping[str, Real]) -> list[tuple[CapQuotient, ...]]:
    """The rows of the channel as functions of ``lam``; the other parameters have rational values."""
    known = {name: value for name, value in values.items() if isinstance(value, Fraction) and name != "lam"}
    columns = _columns(classes, values, lambda text: quotient_of(text, known), operator.mul, lambda entry: entry)
    return list(zip(*columns, strict=True))


def _columns(
    classes: Sequence[Mapping[str, Any]],
    values: Mapping[str, Real],
    read: Callable[[str], Any],
    product: Callable[[Any, Any], Any],
    shown: Callable[[Any], Any],
) -> Iterator[tuple[Any, ...]]:
    """For each output its probabilities at all inputs, calculated in the numbers that texts are read as."""
    for one in classes:
        parts = [read(text) for _, text in one["states"]]
        for states, weight in _listed(one, values, read):
            entries = [shown(part if weight == 1 else product(weight, part)) for part in parts]
            yield tuple(entries[i] for i in states)


def _listed(one: Mapping[str, Any], values: Mapping[str, Real], read: Callable[[str], Any]) -> Listed:
    """The outputs of a class, each with a weight."""
    kind = one["members"]
    if kind is None:
        counts = _counts(one, values)
        share = read(f"1/{arrangements_of(counts)}")
        return ((states, share) for states in arrangements(counts))
    return LISTED[kind][0](None if one["of"] is None else read(one["of"]))(_integers(values))


def _counts(one: Mapping[str, Any], values: Mapping[str, Real]) -> list[int]:
    return [int(calculated(text)(values)) for text, _ in one["states"]]


def _integers(values: Mapping[str, Real]) -> dict[str, int]:
    return {
        name: int(value) for name, value in values.items() if isinstance(value, Fraction) and value.denominator == 1
    }
