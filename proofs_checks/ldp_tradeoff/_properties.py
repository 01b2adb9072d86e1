r"""Random search for violations of the properties that the design theory asks of a risk.

A functional maps a rational channel to a number, exact or a ball; both sides of a property are compared exactly. The
result is a counterexample, or "none found in N cases"; it is never a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any, TypeAlias, final

import numpy as np

from proofs_checks._symmetry import act_on_channel
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import Ball, Verdict, less
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.geometry.groups import SymmetryGroup

Functional: TypeAlias = "Callable[[Channel], Fraction | Ball]"


@final
class Property(StrEnum):
    r"""A property of a risk :math:`R` (ldp_tradeoff, Definitions 3.3 and 3.5).

    ``DPI``: post-processing does not lower it. ``ADDITIVE``: on direct sums it is the weighted sum.
    ``QUASI_CONVEX``: on direct sums it is at most the largest. ``CONCAVE``: on mixtures over common outputs it is at
    least the weighted sum.
    ``INVARIANT``: a group acting on inputs leaves it alone.
    """

    DPI = "data processing inequality"
    ADDITIVE = "direct-sum additivity"
    QUASI_CONVEX = "direct-sum quasi-convexity"
    CONCAVE = "concavity"
    INVARIANT = "invariance"


@final
@dataclass(frozen=True, slots=True)
class Counterexample:
    """Channels that violate a property: the parts, the channel made from them last, and the weights of the parts."""

    channels: tuple[Channel, ...]
    weights: tuple[Fraction, ...]


@final
@dataclass(frozen=True, slots=True)
class Report:
    """Number of comparisons that were decided and drawn, and the first violation, if any."""

    decided: int
    trials: int
    counterexample: Counterexample | None


def examine(
    functional: Functional,
    which: Property,
    *,
    num_inputs: int,
    rng: np.random.Generator,
    trials: int,
    group: SymmetryGroup | None = None,
    draw: Callable[[np.random.Generator], Channel] | None = None,
) -> Report:
    """Search for a violation among random channels, or among those that ``draw`` makes; invariance needs a group."""
    source = draw or (lambda generator: random_channel(generator, num_inputs, 3))
    decided = 0
    for _ in range(trials):
        found, left, right, relation = _instance(functional, which, source, rng, group)
        try:
            fails = bool(less(right, left)) if relation == "<=" else bool(less(left, right) | less(right, left))
        except NotDecided:
            continue
        decided += 1
        if fails:
            return Report(decided, trials, found)
    return Report(decided, trials, None)


def _instance(
    functional: Functional,
    which: Property,
    source: Callable[[np.random.Generator], Channel],
    rng: np.random.Generator,
    group: SymmetryGroup | None,
) -> tuple[Counterexample, Any, Any, str]:
    """Channels with their weights, and the two sides of one comparison."""
    first = source(rng)
    if which is Property.DPI:
        processed = first.push_forward(random_channel(rng, first.num_outputs, 2))
        return Counterexample((first, processed), ()), functional(first), functional(processed), "<="
    if which is Property.INVARIANT:
        assert group is not None
        generator = group.generators[int(rng.integers(len(group.generators)))] if group.generators else range(group.m)
        moved = act_on_channel(generator, first)
        return Counterexample((first, moved), ()), functional(moved), functional(first), "=="
    second = source(rng)
    weight = Fraction(int(rng.integers(1, 8)), 8)
    weights = (weight, 1 - weight)
    values = (functional(first), functional(second))
    average = weights[0] * values[0] + weights[1] * values[1]
    if which is Property.CONCAVE:
        mixture = mix_channels([first, second], weights)
        return Counterexample((first, second, mixture), weights), average, functional(mixture), "<="
    total = direct_sum([first, second], weights)
    found = Counterexample((first, second, total), weights)
    if which is Property.ADDITIVE:
        return found, functional(total), average, "=="
    largest = values[1] if less(values[0], values[1]) is Verdict.TRUE else values[0]
    return found, functional(total), largest, "<="


def mix_channels(channels: Sequence[Channel], weights: Sequence[Fraction]) -> Channel:
    """Mixture of channels with the same outputs: channel ``i`` runs with probability ``weights[i]``, unannounced."""
    if len({channel.num_outputs for channel in channels}) != 1:
        raise InputError("channels", [c.num_outputs for c in channels], "channels with one common number of outputs")
    total = direct_sum(channels, weights)
    outputs = channels[0].num_outputs
    return total.merge([[y + i * outputs for i in range(len(channels))] for y in range(outputs)])


def random_channel(rng: np.random.Generator, inputs: int, outputs: int) -> Channel:
    """Random rational channel with small denominators, an entry of which is zero now and then."""
    rows = []
    for _ in range(inputs):
        draws = [int(v) for v in rng.integers(0, 7, size=outputs)]
        draws[int(rng.integers(outputs))] += 1
        rows.append(tuple(Fraction(v, sum(draws)) for v in draws))
    return Channel(tuple(rows))
