"""The mechanism of a mixture of orbit laws: written by its states, so that it exists at every number of inputs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

from symshuffle.errors import InputError
from symshuffle.frontiers.orbits import Orbit
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import constant_of


def orbit_mechanism(orbits: Sequence[Orbit]) -> Mechanism:
    r"""The mechanism whose template law is a mixture of orbit laws.

    An orbit of weight :math:`\omega` with ``N`` rearrangements of a template :math:`u` gives ``N`` outputs; an input in
    a coordinate of value :math:`v` sends each of them with probability :math:`v\omega/N`.

    Raises
    ------
    InputError
        If there is no orbit, their numbers of inputs differ, or their weights do not sum to 1.

    Examples
    --------
    >>> from symshuffle.frontiers.orbits import subset_orbit
    >>> orbit_mechanism([subset_orbit(3, 1, Fraction(4))]).channel().rows[0]
    (Fraction(2, 3), Fraction(1, 6), Fraction(1, 6))

    Notes
    -----
    anchored, Definition 7.7.
    """
    sizes = {sum(count for count, _ in orbit.levels) for orbit in orbits}
    if len(sizes) != 1:
        raise InputError("orbits", f"inputs {sorted(sizes)}", "at least one orbit, all of one number of inputs")
    (k,) = sizes
    total = sum((orbit.weight for orbit in orbits), start=Fraction(0))
    if total != 1:
        raise InputError("orbits", f"weights of sum {total}", "weights of sum 1")
    classes = {}
    for i, orbit in enumerate(orbits):
        outputs, left = 1, k
        for count, _ in orbit.levels:
            outputs, left = outputs * math.comb(left, count), left - count
        classes[f"orbit {i}"] = {
            f"level {j}": (count, constant_of(value * orbit.weight / outputs))
            for j, (count, value) in enumerate(orbit.levels)
        }
    return Mechanism.symmetric("frontier", k, classes, title="mixture of orbit laws")
