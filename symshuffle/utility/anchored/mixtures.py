"""Mixtures of laws: convex combinations, extreme parts, orbits of a template, averages over relabellings of inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Final

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.geometry.groups import SymmetryGroup, symmetric_group
from symshuffle.geometry.linear import Vector, row_dependence
from symshuffle.utility.anchored.law import AnchoredLaw, PointLaw, check_template

LARGEST_ORBIT: Final = 100_000
"""Rearrangements of one template beyond which an orbit is not written out."""


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


def arrangements(u: Sequence[Fraction]) -> tuple[Vector, ...]:
    """The distinct rearrangements of a vector, in lexicographic order."""
    values = sorted(set(u))
    size = math.factorial(len(u))
    for value in values:
        size //= math.factorial(tuple(u).count(value))
    if size > LARGEST_ORBIT:
        raise Unsupported(
            f"{len(u)} entries with {len(values)} values have {size} rearrangements (limit {LARGEST_ORBIT}): "
            "work with one template per orbit (symshuffle.utility.frontiers.orbits)"
        )

    def extend(left: tuple[int, ...]) -> Iterable[Vector]:
        if not any(left):
            yield ()
            return
        for i, value in enumerate(values):
            if left[i]:
                rest = (*left[:i], left[i] - 1, *left[i + 1 :])
                yield from ((value, *tail) for tail in extend(rest))

    return tuple(extend(tuple(tuple(u).count(value) for value in values)))


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


def is_exchangeable(law: AnchoredLaw) -> bool:
    """Whether every permutation of the inputs leaves the law as it is."""
    return all(_relabelled(law, g) == law for g in symmetric_group(law.num_inputs).generators)


def _check_inputs(group: SymmetryGroup, k: int) -> None:
    if group.m != k:
        raise InputError("group", f"permutations of {group.m} inputs", f"permutations of 0..{k - 1}")


def _relabelled(law: AnchoredLaw, g: Sequence[int]) -> AnchoredLaw:
    return AnchoredLaw.from_atoms((tuple(u[i] for i in g), weight) for u, weight in law.template.atoms())
