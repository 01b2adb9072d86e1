"""Mixtures of laws, averages over relabellings of the inputs, and the exchangeable laws of one template.

An :class:`Orbit` says how many coordinates of a template have which value, so that it exists at every number of inputs.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, final

from symshuffle.base.errors import CertificateError, InputError, Unsupported
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.linear import Vector, row_dependence
from symshuffle.utility.anchored.law import AnchoredLaw, PointLaw, check_template

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism


def mix_laws(laws: Sequence[AnchoredLaw], coefficients: Sequence[Fraction]) -> AnchoredLaw:
    """The convex combination of laws: run channel ``i`` with probability ``coefficients[i]`` and publish ``i``."""
    if len(laws) != len(coefficients) or not laws:
        raise InputError("coefficients", f"{len(coefficients)} numbers", f"one per law, of which there are {len(laws)}")
    if min(coefficients) < 0 or sum(coefficients) != 1:
        raise InputError(
            "coefficients",
            tuple(map(str, coefficients)),
            f"numbers of at least 0 and sum 1 (sum {sum(coefficients)})",
        )
    return AnchoredLaw.from_atoms(
        (u, c * weight) for law, c in zip(laws, coefficients, strict=True) for u, weight in law.template.atoms()
    )


def decompose(law: AnchoredLaw) -> tuple[tuple[Fraction, AnchoredLaw], ...]:
    """Mixture of extreme laws, each with at most ``k`` templates, that equals a law.

    Parameters
    ----------
    law : AnchoredLaw
        A law on templates of k inputs.

    Returns
    -------
    tuple of (Fraction, AnchoredLaw)
        Coefficients of sum 1 and extreme laws; at most as many as the law has atoms.

    Notes
    -----
    Each step finds an extreme law on part of the support and subtracts as much of it as fits, which removes an atom.
    anchored, Theorem C.1 and Corollary C.2.

    Examples
    --------
    >>> levels = [(Fraction(a, 40), 1 + Fraction(a, 80), 2 - Fraction(3 * a, 80)) for a in range(1, 26)]
    >>> law = mix_laws([orbit_law(u) for u in levels], [Fraction(1, 25)] * 25)
    >>> parts = decompose(law)
    >>> len(law.templates), len(parts), max(len(part.templates) for _, part in parts)
    (147, 145, 3)
    """
    parts: list[tuple[Fraction, AnchoredLaw]] = []
    left, rest = Fraction(1), law
    while not rest.is_extreme():
        part = _extreme_part(rest)
        mass = dict(rest.template.atoms())
        share = min(mass[u] / weight for u, weight in part.template.atoms())
        parts.append((left * share, part))
        taken = dict(part.template.atoms())
        rest = AnchoredLaw.from_atoms(
            (u, (weight - share * taken.get(u, Fraction(0))) / (1 - share)) for u, weight in mass.items()
        )
        left *= 1 - share
    parts.append((left, rest))
    return tuple(parts)


def _extreme_part(law: AnchoredLaw) -> AnchoredLaw:
    """An extreme law on part of the support: walk along affine dependences until none is left."""
    waiting = list(law.template.atoms())
    atoms: list[tuple[Vector, Fraction]] = []
    while True:
        # Among k + 1 templates there is always a dependence: more are not looked at, so many atoms stay affordable.
        while waiting and len(atoms) <= law.num_inputs:
            atoms.append(waiting.pop())
        relation = row_dependence([u for u, _ in atoms])
        if relation is None:
            return AnchoredLaw.from_atoms(atoms)
        # All templates have the same sum, so the relation sums to 0 and has a positive entry.
        step = min(weight / c for (_, weight), c in zip(atoms, relation, strict=True) if c > 0)
        atoms = [(u, weight - step * c) for (u, weight), c in zip(atoms, relation, strict=True) if weight != step * c]


def orbit_law(u: Sequence[Fraction]) -> AnchoredLaw:
    """The exchangeable law that is uniform on all rearrangements of one template (anchored, Definition 7.7)."""
    check_template(u)
    points = arrangements(u)
    return AnchoredLaw(PointLaw(points, (Fraction(1, len(points)),) * len(points)))


def arrangements(u: Sequence[Fraction], *, largest: int = 100_000) -> tuple[Vector, ...]:
    """The distinct rearrangements of a vector, in lexicographic order.

    - ``largest``: rearrangements beyond which an orbit is not written out.
    """
    values = sorted(set(u))
    size = math.factorial(len(u))
    for value in values:
        size //= math.factorial(tuple(u).count(value))
    if size > largest:
        raise Unsupported(
            f"{len(u)} entries with {len(values)} values have {size} rearrangements (limit {largest}): "
            "work with one template per orbit (symshuffle.utility.frontiers.certificate)"
        )
    return tuple(_rearranged(sorted(u)))


def _rearranged(ascending: list[Fraction]) -> Iterator[Vector]:
    """The distinct rearrangements of a list in ascending order, each the next one in lexicographic order."""
    now = list(ascending)
    while True:
        yield tuple(now)
        falls = [i for i in range(len(now) - 1) if now[i] < now[i + 1]]
        if not falls:
            return
        i = falls[-1]
        j = max(j for j in range(i + 1, len(now)) if now[j] > now[i])
        now[i], now[j] = now[j], now[i]
        now[i + 1 :] = reversed(now[i + 1 :])


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
        return mix_laws([orbit_law(u) for u in law.templates], law.weights)
    if group.m != law.num_inputs:
        raise InputError("group", f"permutations of {group.m} inputs", f"permutations of 0..{law.num_inputs - 1}")
    elements = group.listed()
    return mix_laws([_relabelled(law, g) for g in elements], [Fraction(1, len(elements))] * len(elements))


def _relabelled(law: AnchoredLaw, g: Sequence[int]) -> AnchoredLaw:
    return AnchoredLaw.from_atoms((tuple(u[i] for i in g), weight) for u, weight in law.template.atoms())


@final
@dataclass(frozen=True, slots=True)
class Orbit:
    """The exchangeable law of one template with its share of a mixture; ``levels`` are (coordinates, value)."""

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
    r"""Orbit of the template proportional to :math:`(\alpha_1,\dots,\alpha_j,1,\dots)` (alphabets, Remark 11.4)."""
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
    """
    from symshuffle.mechanisms.model import Mechanism
    from symshuffle.mechanisms.symbolic import constant_of

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
