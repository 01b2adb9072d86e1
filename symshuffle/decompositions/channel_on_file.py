"""The explicit channel of a named mechanism as derived data: its entries need no algebra.

The file of closed forms has the classes of outputs of each mechanism: the states of the inputs with counts and
probabilities, and how the outputs are listed (:mod:`symshuffle.mechanisms.members`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

from symshuffle.base.numbers import DEFAULT_BITS, Ball, Exp, Number, Real, as_precision, to_arb, working_precision
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.calculated import calculated, times
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
    columns: list[tuple[Number, ...]] = []

    def number(value: Any) -> Number:
        if isinstance(value, Fraction):
            return value if bits is None else Ball(value, value, precision)
        return Ball.from_arb(value, precision)

    with working_precision(precision + 32):
        known = {name: to_arb(value) if isinstance(value, Exp) else value for name, value in values.items()}
        for one in classes:
            parts = [calculated(text)(known) for _, text in one["states"]]
            alike = [number(part) for part in parts]
            for states, weight in _listed(one, values, known):
                entries = alike if weight == 1 else [number(times(weight, part)) for part in parts]
                columns.append(tuple(entries[i] for i in states))
    return Channel(tuple(zip(*columns, strict=True)))


def _listed(one: Mapping[str, Any], values: Mapping[str, Real], known: Mapping[str, Any]) -> Listed:
    """The outputs of a class, each with a weight."""
    kind = one["members"]
    if kind is None:
        counts = _counts(one, values)
        share = Fraction(1, arrangements_of(counts))
        return ((states, share) for states in arrangements(counts))
    of = None if one["of"] is None else calculated(one["of"])(known)
    return LISTED[kind][0](of)(_integers(values))


def _counts(one: Mapping[str, Any], values: Mapping[str, Real]) -> list[int]:
    return [int(calculated(text)(values)) for text, _ in one["states"]]


def _integers(values: Mapping[str, Real]) -> dict[str, int]:
    return {
        name: int(value) for name, value in values.items() if isinstance(value, Fraction) and value.denominator == 1
    }
