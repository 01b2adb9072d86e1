"""Exchangeable laws of one template by the values of its coordinates, and templates under a ratio cap.

Orbits are written by how many coordinates have which value, so that they exist at every number of inputs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

from symshuffle.base.errors import CertificateError, InputError, Unsupported
from symshuffle.base.numbers import as_integer
from symshuffle.geometry.linear import Vector
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import constant_of
from symshuffle.utility.anchored.law import AnchoredLaw, check_template
from symshuffle.utility.anchored.mixtures import arrangements
from symshuffle.utility.frontiers.caps import check_cap, check_inputs


@final
@dataclass(frozen=True, slots=True)
class Orbit:
    """The exchangeable law of one template with its share of a mixture.

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
    r"""The orbit of the template proportional to :math:`(\alpha_1,\dots,\alpha_j,1,\dots,1)`, at most ``k`` ratios > 0.

    Its outputs are the ordered ``j``-tuples of different inputs (alphabets, Remark 11.4: the pairs).

    >>> tuple_orbit(4, [Fraction(3), Fraction(2)]).levels
    ((1, Fraction(12, 7)), (1, Fraction(8, 7)), (2, Fraction(4, 7)))
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
    r"""The mechanism whose template law is a mixture of orbit laws (anchored, Definition 7.7).

    An orbit of weight :math:`\omega` with ``N`` rearrangements of a template :math:`u` gives ``N`` outputs; an input in
    a coordinate of value :math:`v` sends each of them with probability :math:`v\omega/N`.

    >>> orbit_mechanism([subset_orbit(3, 1, Fraction(4))]).channel().rows[0]
    (Fraction(2, 3), Fraction(1, 6), Fraction(1, 6))
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


LARGEST_VERTEX_INPUTS: Final = 16
"""Inputs beyond which the 2^k - 2 vertices are not listed (their k - 1 orbits always are)."""


def subset_template(k: int, s: int, lam: Fraction) -> Vector:
    r"""The template with ``s`` coordinates :math:`k\lambda/(s\lambda+k-s)` and the others lower by :math:`\lambda`."""
    k = check_inputs(k)
    s = as_integer(s, "s", 1, k - 1)
    if lam <= 0:
        raise InputError("lam", lam, "a ratio > 0")
    low = k / (s * Fraction(lam) + k - s)
    return (low * lam,) * s + (low,) * (k - s)


def extreme_templates(k: int, lam: Fraction) -> tuple[Vector, ...]:
    """The two-level templates of ratio ``lam``: vertices of all of ratio at most ``lam`` (anchored, Lemma 9.2)."""
    k = check_inputs(k)
    check_cap(lam)
    if k > LARGEST_VERTEX_INPUTS:
        raise Unsupported(
            f"k = {k} has 2^k - 2 extreme templates (limit k = {LARGEST_VERTEX_INPUTS}); "
            f"they form k - 1 orbits, of subset_template(k, s, lam) for s = 1..k-1"
        )
    return tuple(sorted(u for s in range(1, k) for u in arrangements(subset_template(k, s, lam))))


def split_template(u: Sequence[Fraction], lam: Fraction) -> tuple[Fraction, Vector, Vector] | None:
    """Why a template of ratio at most ``lam`` is no vertex: two others and a weight; None at a vertex."""
    check_template(u)
    low, high = min(u), max(u)
    if high > lam * low:
        raise InputError("template", tuple(map(str, u)), f"ratios of at most {lam} (largest: {high} to {low})")
    if high < lam * low:  # room everywhere: move the first coordinate either way
        step, moved = (lam * low - high) / (2 * (1 + lam)), 0
    else:
        middle = [i for i, entry in enumerate(u) if low < entry < high]
        if not middle:
            return None
        moved = middle[0]
        step = min(u[moved] - low, high - u[moved])
    up, down = (tuple(entry + sign * step * (i == moved) for i, entry in enumerate(u)) for sign in (1, -1))
    first, second = (tuple(entry * len(u) / sum(v) for entry in v) for v in (up, down))
    return sum(up) / (2 * Fraction(len(u))), first, second


def block_design_law(blocks: Sequence[Sequence[int]], k: int, lam: Fraction) -> AnchoredLaw:
    """The law uniform on the two-level templates whose high coordinates are the blocks of a design.

    A 2-design gives the same covariance and the same canonical risks as subset selection, from fewer outputs.
    """
    k = check_inputs(k)
    check_cap(lam)
    sizes = {len(set(block)) for block in blocks}
    if len(sizes) != 1 or not sizes <= set(range(1, k)):
        raise InputError("blocks", f"sizes {sorted(sizes)}", f"blocks of one size in [1, {k - 1}]")
    (s,) = sizes
    low = k / (s * lam + k - s)
    share = Fraction(1, len(blocks))
    return AnchoredLaw.from_atoms(
        (tuple(low * lam if i in set(block) else low for i in range(k)), share) for block in blocks
    )
