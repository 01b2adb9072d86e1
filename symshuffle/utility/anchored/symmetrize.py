"""Averaging a channel over relabellings of its inputs.

The averaged mechanism publishes a random relabelling of the inputs and runs the channel on the relabelled data. On
templates it permutes coordinates, so the average over all relabellings is a mixture of orbit laws.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.geometry.groups import SymmetryGroup, symmetric_group
from symshuffle.utility.anchored.law import AnchoredLaw, arrangements


def symmetrize(law: AnchoredLaw, group: SymmetryGroup | None = None) -> AnchoredLaw:
    """Average of a law over a group of permutations of the inputs.

    Parameters
    ----------
    law : AnchoredLaw
        A law on templates of k inputs.
    group : SymmetryGroup, optional
        A group on k inputs; default: all permutations.

    Returns
    -------
    AnchoredLaw
        The average, invariant under the group.

    Raises
    ------
    InputError
        If the group acts on another number of inputs.
    Unsupported
        For a group of more than 50,000 permutations.

    Notes
    -----
    anchored, Definition 6.1. The full average is computed orbit by orbit, without the ``k!`` permutations.

    Examples
    --------
    >>> from symshuffle import Channel
    >>> law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/2", "1/2"]]))
    >>> law.trace(), symmetrize(law).trace()
    (Fraction(2, 15), Fraction(2, 15))
    """
    if group is None:
        return AnchoredLaw.from_atoms(
            (point, weight / len(points))
            for u, weight in law.template.atoms()
            for points in (arrangements(u),)
            for point in points
        )
    _check_inputs(group, law.num_inputs)
    elements = group.listed()
    share = Fraction(1, len(elements))
    return AnchoredLaw.from_atoms(
        (point, weight * share) for g in elements for point, weight in _relabelled(law, g).template.atoms()
    )


def symmetrize_channel(channel: Channel, group: SymmetryGroup | None = None) -> Channel:
    """The mechanism form: publish a uniform element of the group, then run the channel on the relabelled input."""
    chosen = symmetric_group(channel.num_inputs) if group is None else group
    _check_inputs(chosen, channel.num_inputs)
    elements = chosen.listed()
    return direct_sum([channel.restrict(g) for g in elements], [Fraction(1, len(elements))] * len(elements))


def is_exchangeable(law: AnchoredLaw) -> bool:
    """Whether every permutation of the inputs leaves the law as it is."""
    return all(_relabelled(law, g) == law for g in symmetric_group(law.num_inputs).generators)


def _check_inputs(group: SymmetryGroup, k: int) -> None:
    if group.m != k:
        raise InputError("group", f"permutations of {group.m} inputs", f"permutations of 0..{k - 1}")


def _relabelled(law: AnchoredLaw, g: Sequence[int]) -> AnchoredLaw:
    return AnchoredLaw.from_atoms((tuple(u[i] for i in g), weight) for u, weight in law.template.atoms())
