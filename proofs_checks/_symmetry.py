r"""What a permutation group does to channels: the orbit polytope, invariant weights, symmetrised channels."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Final, final

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.geometry.extremal import check_lam
from symshuffle.channels.geometry.groups import SymmetryGroup, symmetric_group
from symshuffle.channels.geometry.linear import inverse
from symshuffle.channels.geometry.subset_orbits import SubsetOrbit

LARGEST_BASES: Final = 200_000
"""Bases beyond which the vertices of a symmetric polytope are not listed."""


@final
@dataclass(frozen=True)
class OrbitPolytope:
    r"""Weights on orbits of subsets with :math:`\sum_O w_O\, \tilde r_O = 1` (ldp_tradeoff, Definition 3.14)."""

    group: SymmetryGroup
    lam: Fraction

    def __post_init__(self) -> None:
        check_lam(self.lam)

    @cached_property
    def orbits(self) -> tuple[SubsetOrbit, ...]:
        """The orbits of subsets, in the order of the coordinates."""
        return tuple(self.group.subset_orbits())

    @property
    def dimension(self) -> int:
        """Number of orbits of subsets minus number of orbits of inputs."""
        return len(self.orbits) - len(self.group.input_orbits())

    def contains(self, weights: Mapping[int, Fraction]) -> bool:
        """Whether weights by orbit index are non-negative and satisfy the equations."""
        return all(w >= 0 for w in weights.values()) and all(
            sum((w * self.orbits[o].column_sum(i, self.lam) for o, w in weights.items()), start=Fraction(0)) == 1
            for i in range(len(self.group.input_orbits()))
        )

    def lift(self, weights: Mapping[int, Fraction]) -> dict[int, Fraction]:
        """The point of the maximal polytope: every subset gets the weight of its orbit."""
        return {y: w for o, w in weights.items() if w for y in self.group.orbit_of(self.orbits[o].representative)}

    def single_orbit_weight(self, orbit: SubsetOrbit) -> Fraction:
        r"""For a transitive group, the weight :math:`1/\tilde r` of one orbit alone (ldp_tradeoff, Corollary 3.17)."""
        if not self.group.is_transitive():
            raise InputError("group", f"{len(self.group.input_orbits())} orbits of inputs", "a transitive group")
        return 1 / orbit.column_sum(0, self.lam)

    def vertices(self) -> tuple[dict[int, Fraction], ...]:
        """All vertices: supports of at most as many orbits as there are orbits of inputs."""
        equations = len(self.group.input_orbits())
        bases = math.comb(len(self.orbits), equations)
        if bases > LARGEST_BASES:
            raise Unsupported(f"listing the vertices would visit {bases} bases; use a linear program instead")
        found: dict[tuple[tuple[int, Fraction], ...], None] = {}
        for basis in itertools.combinations(range(len(self.orbits)), equations):
            rows = [[self.orbits[o].column_sum(i, self.lam) for o in basis] for i in range(equations)]
            solved = inverse(rows)
            if solved is None:
                continue
            values = [sum(row, start=Fraction(0)) for row in solved]
            if min(values) >= 0:
                found.setdefault(tuple((o, v) for o, v in zip(basis, values, strict=True) if v))
        # Degenerate vertices appear once for every basis that describes them.
        return tuple(dict(vertex) for vertex in found)


def act_on_channel(permutation: Sequence[int], channel: Channel, outputs: Sequence[int] | None = None) -> Channel:
    r"""The channel :math:`Q_{g^{-1}x}(\sigma_g^{-1} y)`, permutations in image form (ldp_tradeoff, equation (9))."""
    outputs = range(channel.num_outputs) if outputs is None else outputs
    back_inputs, back_outputs = (sorted(range(len(g)), key=g.__getitem__) for g in (permutation, outputs))
    return Channel(
        tuple(
            tuple(channel.rows[back_inputs[x]][back_outputs[y]] for y in range(channel.num_outputs))
            for x in range(channel.num_inputs)
        )
    )


def average_weights(weights: Mapping[int, Fraction], group: SymmetryGroup) -> dict[int, Fraction]:
    """The average of a weight vector over the group: every orbit shares its total weight equally."""
    averaged: dict[int, Fraction] = {}
    for subset in weights:
        if subset not in averaged:
            orbit = group.orbit_of(subset)
            share = sum((weights.get(y, Fraction(0)) for y in orbit), start=Fraction(0)) / len(orbit)
            averaged.update(dict.fromkeys(orbit, share))
    return averaged


def symmetrize_channel(channel: Channel, group: SymmetryGroup | None = None) -> Channel:
    """Channel behind a random relabelling, which is published too (ldp_tradeoff, equation (46)); by default of all."""
    chosen = symmetric_group(channel.num_inputs) if group is None else group
    if chosen.m != channel.num_inputs:
        raise InputError("group", f"permutations of {chosen.m} inputs", f"permutations of 0..{channel.num_inputs - 1}")
    elements = chosen.listed()
    return direct_sum([channel.restrict(g) for g in elements], [Fraction(1, len(elements))] * len(elements))
