"""The exchangeable law of one template, in short, and the mechanism of a mixture of such laws.

Both are written by how many coordinates have which value, so that they exist at every number of inputs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from symshuffle.base.errors import CertificateError, InputError
from symshuffle.geometry.linear import Vector
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import constant_of


@final
@dataclass(frozen=True, slots=True)
class Orbit:
    """The exchangeable law of one template, in short, with its share of a mixture.

    - ``levels``: how many coordinates of the template have which value; the counts sum to the number of inputs.
    """

    weight: Fraction
    levels: tuple[tuple[int, Fraction], ...]

    @property
    def signal(self) -> Fraction:
        """Trace of the orbit law."""
        return sum((count * (value - 1) ** 2 for count, value in self.levels), start=Fraction(0))

    @property
    def budget(self) -> Fraction | float:
        """Pairwise chi-square divergence of the orbit law; infinite if a level is 0."""
        if any(value == 0 for _, value in self.levels):
            return math.inf
        k = sum(count for count, _ in self.levels)
        squares = sum((count * value**2 for count, value in self.levels), start=Fraction(0))
        reciprocals = sum((count / value for count, value in self.levels), start=Fraction(0))
        return (squares * reciprocals - k * k) / (k * (k - 1))

    @property
    def ratio(self) -> Fraction | float:
        """Largest ratio of two levels."""
        values = [value for _, value in self.levels]
        return max(values) / min(values) if min(values) else math.inf

    def template(self) -> Vector:
        """One template of the orbit, highest level first."""
        return tuple(value for count, value in sorted(self.levels, key=lambda level: -level[1]) for _ in range(count))


def subset_orbit(k: int, s: int, lam: Fraction, weight: Fraction = Fraction(1)) -> Orbit:
    """The orbit of the template with ``s`` coordinates ``lam`` times as high as the others."""
    low = k / (s * lam + k - s)
    return Orbit(weight, ((s, lam * low), (k - s, low)))


def tuple_orbit(k: int, values: Sequence[Fraction], weight: Fraction = Fraction(1)) -> Orbit:
    r"""The orbit of the template proportional to :math:`(\alpha_1,\dots,\alpha_j,1,\dots,1)`.

    Its outputs are the ordered ``j``-tuples of different inputs.

    - ``k``: number of inputs, at least 2.
    - ``values``: one to ``k`` ratios, each > 0.

    Examples
    --------
    >>> tuple_orbit(4, [Fraction(3), Fraction(2)]).levels
    ((1, Fraction(12, 7)), (1, Fraction(8, 7)), (2, Fraction(4, 7)))
    >>> tuple_orbit(5, [Fraction(2)]) == subset_orbit(5, 1, Fraction(2))
    True

    alphabets, Remark 11.4: at ``j = 2`` the ordered pairs.
    """
    if not 1 <= len(values) <= k:
        raise InputError("values", f"{len(values)} ratios", f"1 to {k} of them, one per input")
    for value in values:
        if not value > 0:
            raise InputError("values", value, "ratios > 0")
    whole = [*map(Fraction, values), *[Fraction(1)] * (k - len(values))]
    scale = k / sum(whole, start=Fraction(0))
    counts = Counter(whole)
    return Orbit(weight, tuple((counts[value], value * scale) for value in sorted(counts, reverse=True)))


def centre_orbit(k: int, weight: Fraction = Fraction(1)) -> Orbit:
    """The orbit of the template 1: an output that says nothing."""
    return Orbit(weight, ((k, Fraction(1)),))


def check_orbit(orbit: Orbit, k: int) -> None:
    """Refuse what is no orbit of a template of ``k`` inputs with a positive weight."""
    if not isinstance(orbit.weight, Fraction) or orbit.weight <= 0:
        raise CertificateError("weight", f"{orbit.weight} is no positive rational")
    for count, value in orbit.levels:
        if not isinstance(count, int) or count < 1:
            raise CertificateError("levels", f"{count} is no number of coordinates, an integer of at least 1")
        if not isinstance(value, Fraction) or value < 0:
            raise CertificateError("levels", f"{value} is no rational of at least 0")
    if (coordinates := sum(count for count, _ in orbit.levels)) != k:
        raise CertificateError("levels", f"{coordinates} coordinates for {k} inputs")
    if (total := sum(count * value for count, value in orbit.levels)) != k:
        raise CertificateError("levels", f"the coordinates of a template sum to {k}, not to {total}")


def orbit_mechanism(orbits: Sequence[Orbit]) -> Mechanism:
    r"""The mechanism whose template law is a mixture of orbit laws.

    An orbit of weight :math:`\omega` with ``N`` rearrangements of a template :math:`u` gives ``N`` outputs; an input in
    a coordinate of value :math:`v` sends each of them with probability :math:`v\omega/N`.

    Examples
    --------
    >>> orbit_mechanism([subset_orbit(3, 1, Fraction(4))]).channel().rows[0]
    (Fraction(2, 3), Fraction(1, 6), Fraction(1, 6))

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
