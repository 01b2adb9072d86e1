r"""Testers for the properties that the design theory asks of a risk: exact counterexamples, or nothing found.

A functional maps a rational channel to a number (exact, or a ball). A tester draws random rational channels and
compares both sides exactly. A report is a counterexample, or "none found in N of M"; it is never a proof.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, final

from symshuffle.base.choices import choice
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.numbers import Ball, Verdict, less
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.geometry.groups import SymmetryGroup
from symshuffle.geometry.symmetry import act_on_channel

if TYPE_CHECKING:
    import numpy as np

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
    """A violation, with everything needed to check it by hand.

    Parameters
    ----------
    channels : tuple of Channel
        The channels involved: the original and the processed one, or the parts and their combination last.
    weights : tuple of Fraction
        Probabilities of the parts, if there are any.
    left, right : Fraction or Ball
        The two sides of the relation that fails.
    relation : str
        The relation that should hold between them.
    """

    channels: tuple[Channel, ...]
    weights: tuple[Fraction, ...]
    left: Fraction | Ball
    right: Fraction | Ball
    relation: str


@final
@dataclass(frozen=True, slots=True)
class PropertyReport:
    """What a tester found.

    Parameters
    ----------
    which : Property
        The property tested.
    decided, trials : int
        Comparisons that were decided, and drawn.
    counterexample : Counterexample or None
        The first violation, if any.
    """

    which: Property
    decided: int
    trials: int
    counterexample: Counterexample | None

    def __str__(self) -> str:
        if self.counterexample is None:
            return f"{self.which.value}: none found in {self.decided} of {self.trials}"
        c = self.counterexample
        return f"{self.which.value}: violated, {c.left} {c.relation} {c.right} fails"


def examine(
    functional: Functional,
    which: Property | str,
    *,
    num_inputs: int,
    rng: np.random.Generator,
    trials: int = 200,
    group: SymmetryGroup | None = None,
    draw: Callable[[np.random.Generator], Channel] | None = None,
) -> PropertyReport:
    """Look for a violation of a property.

    Parameters
    ----------
    functional : callable
        The risk; for an information measure, its negative.
    which : Property
        What to test.
    num_inputs : int
        Number of inputs of the channels drawn.
    rng : numpy.random.Generator
        Source of the channels.
    trials : int
        How many comparisons to draw.
    group : SymmetryGroup, optional
        For ``Property.INVARIANT``.
    draw : callable, optional
        A source of channels of the caller's own, for example LDP ones; all its channels must have equally many outputs
        where concavity is tested.

    Raises
    ------
    InputError
        If invariance is tested without a group.
    """
    which = choice(Property, which, "which")
    if which is Property.INVARIANT and group is None:
        raise InputError("group", None, "a symmetry group, to test invariance")
    source = draw or (lambda generator: random_channel(generator, num_inputs, 3))
    decided = 0
    for _ in range(trials):
        channels, weights, left, right, relation = _instance(functional, which, source, rng, group)
        try:
            fails = bool(less(right, left)) if relation == "<=" else bool(less(left, right) | less(right, left))
        except NotDecided:
            continue
        decided += 1
        if fails:
            return PropertyReport(which, decided, trials, Counterexample(channels, weights, left, right, relation))
    return PropertyReport(which, decided, trials, None)


def _instance(
    functional: Functional,
    which: Property,
    source: Callable[[np.random.Generator], Channel],
    rng: np.random.Generator,
    group: SymmetryGroup | None,
) -> tuple[tuple[Channel, ...], tuple[Fraction, ...], Any, Any, str]:
    """Channels, weights and the two sides of one comparison."""
    first = source(rng)
    if which is Property.DPI:
        processed = first.push_forward(random_channel(rng, first.num_outputs, 2))
        return (first, processed), (), functional(first), functional(processed), "<="
    if which is Property.INVARIANT:
        assert group is not None  # checked by the caller
        generator = group.generators[int(rng.integers(len(group.generators)))] if group.generators else range(group.m)
        moved = act_on_channel(generator, first)
        return (first, moved), (), functional(moved), functional(first), "=="
    second = source(rng)
    weight = Fraction(int(rng.integers(1, 8)), 8)
    weights = (weight, 1 - weight)
    values = (functional(first), functional(second))
    average = weights[0] * values[0] + weights[1] * values[1]
    if which is Property.CONCAVE:
        mixture = mix_channels([first, second], weights)
        return (first, second, mixture), weights, average, functional(mixture), "<="
    total = direct_sum([first, second], weights)
    if which is Property.ADDITIVE:
        return (first, second, total), weights, functional(total), average, "=="
    largest = values[1] if less(values[0], values[1]) is Verdict.TRUE else values[0]
    return (first, second, total), weights, functional(total), largest, "<="


def mix_channels(channels: Sequence[Channel], weights: Sequence[Fraction]) -> Channel:
    """Run channel ``i`` with probability ``weights[i]`` without saying which; all have the same outputs."""
    if len({channel.num_outputs for channel in channels}) != 1:
        raise InputError("channels", [c.num_outputs for c in channels], "channels with one common number of outputs")
    total = direct_sum(channels, weights)
    outputs = channels[0].num_outputs
    return total.merge([[y + i * outputs for i in range(len(channels))] for y in range(outputs)])


def random_channel(rng: np.random.Generator, inputs: int, outputs: int) -> Channel:
    """A random rational channel with small denominators; an entry is zero now and then."""
    rows = []
    for _ in range(inputs):
        draws = [int(v) for v in rng.integers(0, 7, size=outputs)]
        draws[int(rng.integers(outputs))] += 1
        rows.append(tuple(Fraction(v, sum(draws)) for v in draws))
    return Channel(tuple(rows))
