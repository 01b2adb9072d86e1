"""Averaging a channel over relabellings of its inputs.

The averaged mechanism publishes a random relabelling of the inputs and runs the channel on the relabelled data. On
templates it permutes coordinates, so the average over all relabellings is a mixture of orbit laws.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final, TypeAlias

from symshuffle.anchored.law import AnchoredLaw, arrangements
from symshuffle.channel import Channel, direct_sum
from symshuffle.errors import InputError, Unsupported

Permutation: TypeAlias = tuple[int, ...]
"""Position ``i`` holds the image of input ``i``."""

LARGEST_GROUP: Final = 50_000
"""Permutations beyond which a group is not listed."""


def symmetric_group(k: int) -> tuple[Permutation, ...]:
    """All permutations of ``k`` inputs.

    Raises
    ------
    Unsupported
        For more than 8 inputs: :func:`symmetrize` averages over all permutations without listing them.
    """
    if math.factorial(k) > LARGEST_GROUP:
        raise Unsupported(
            f"k = {k}: the {k}! permutations are not listed (limit {LARGEST_GROUP}); symmetrize(law) does without, and "
            "a 2-transitive subgroup has the same covariance"
        )
    return tuple(itertools.permutations(range(k)))


def cyclic_group(k: int) -> tuple[Permutation, ...]:
    """All rotations of ``k`` inputs."""
    return tuple(tuple((i + shift) % k for i in range(k)) for shift in range(k))


def generate_group(generators: Iterable[Sequence[int]]) -> tuple[Permutation, ...]:
    """The group that some permutations generate, in lexicographic order."""
    steps = [tuple(generator) for generator in generators]
    if not steps:
        raise InputError("generators", "none", "at least one permutation")
    for step in steps:
        if sorted(step) != list(range(len(steps[0]))):
            raise InputError("generator", step, f"a permutation of 0..{len(steps[0]) - 1}")
    found = {tuple(range(len(steps[0])))}
    fresh = list(found)
    while fresh:
        fresh = [g for g in {tuple(step[i] for i in h) for h in fresh for step in steps} if g not in found]
        found.update(fresh)
        if len(found) > LARGEST_GROUP:
            raise Unsupported(f"the generators make more than {LARGEST_GROUP} permutations, which are not listed")
    return tuple(sorted(found))


def is_two_transitive(group: Sequence[Permutation]) -> bool:
    """Whether every ordered pair of distinct inputs can be moved to every other one."""
    k = len(group[0])
    return len({(g[0], g[1]) for g in group}) == k * (k - 1)


def _check_group(group: Sequence[Permutation], k: int) -> None:
    """Refuse what is no non-empty list of permutations of ``k`` inputs."""
    if not group:
        raise InputError("group", "no permutations", f"permutations of 0..{k - 1}")
    for step in group:
        if sorted(step) != list(range(k)):
            raise InputError("group", step, f"permutations of 0..{k - 1}")


def symmetrize(law: AnchoredLaw, group: Sequence[Permutation] | None = None) -> AnchoredLaw:
    """The average of a law over a group of permutations of the inputs; by default over all of them.

    Notes
    -----
    anchored, Definition 6.1. The full average is computed orbit by orbit, without the ``k!`` permutations.
    """
    if group is None:
        return AnchoredLaw.from_atoms(
            (point, weight / len(points))
            for u, weight in law.template.atoms()
            for points in (arrangements(u),)
            for point in points
        )
    _check_group(group, law.num_inputs)
    share = Fraction(1, len(group))
    return AnchoredLaw.from_atoms(
        (tuple(u[g[i]] for i in range(law.num_inputs)), weight * share)
        for u, weight in law.template.atoms()
        for g in group
    )


def symmetrize_channel(channel: Channel, group: Sequence[Permutation] | None = None) -> Channel:
    """The mechanism form: publish a uniform element of the group, then run the channel on the relabelled input."""
    chosen = symmetric_group(channel.num_inputs) if group is None else group
    _check_group(chosen, channel.num_inputs)
    return direct_sum([channel.restrict(g) for g in chosen], [Fraction(1, len(chosen))] * len(chosen))


def is_exchangeable(law: AnchoredLaw) -> bool:
    """Whether every permutation of the inputs leaves the law as it is."""
    k = law.num_inputs
    swap = (1, 0, *range(2, k))
    rotation = (*range(1, k), 0)
    return all(symmetrize(law, (g,)) == law for g in (swap, rotation))
