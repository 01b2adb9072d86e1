r"""A channel as one probability measure: the law of its likelihood-ratio template.

Output ``y`` of a channel with ``k`` inputs has the *template* :math:`u(y)=W_\cdot(y)/\bar W(y)`, a point of
:math:`\{u\ge0,\ \sum_iu_i=k\}`. The law under :math:`\bar W` has mean :math:`(1,\dots,1)`, and is the channel up to
splitting and merging outputs that no row distinguishes. No gauge is needed: everything stays rational.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, parse_rationals
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.linear import Matrix, Vector, dot, rank, second_moment


@final
@dataclass(frozen=True, slots=True)
class PointLaw:
    """A finitely supported probability on Q^k: points in lexicographic order, positive weights of sum 1."""

    points: tuple[Vector, ...]
    weights: tuple[Fraction, ...]

    def __post_init__(self) -> None:
        if not self.points or len(self.points) != len(self.weights):
            raise InputError("atoms", f"{len(self.points)} points, {len(self.weights)} weights", "as many, at least 1")
        for j, (point, weight) in enumerate(zip(self.points, self.weights, strict=True)):
            if len(point) != len(self.points[0]):
                raise InputError(f"points[{j}]", f"{len(point)} coordinates", f"{len(self.points[0])}, as in points[0]")
            for value in (weight, *point):
                if not isinstance(value, Fraction):
                    raise InputError(f"atoms[{j}]", value, "rational numbers (a double has no exact template)")
            if weight <= 0:
                raise InputError(f"weights[{j}]", weight, "a positive probability")
            if j and point <= self.points[j - 1]:
                raise InputError(f"points[{j}]", point, "distinct points in lexicographic order (use from_atoms)")
        total = sum(self.weights, start=Fraction(0))
        if total != 1:
            raise InputError("weights", f"sum {total}", f"probabilities that sum to 1 (off by {total - 1})")

    @classmethod
    def from_atoms(cls, atoms: Iterable[tuple[Sequence[Fraction], Fraction]]) -> PointLaw:
        """Collect (point, weight) pairs: weights of equal points add up, weight 0 disappears."""
        collected: dict[Vector, Fraction] = {}
        for point, weight in atoms:
            key = tuple(point)
            collected[key] = collected.get(key, Fraction(0)) + weight
        ordered = sorted((point, weight) for point, weight in collected.items() if weight != 0)
        return cls(tuple(point for point, _ in ordered), tuple(weight for _, weight in ordered))

    def atoms(self) -> tuple[tuple[Vector, Fraction], ...]:
        """Pairs (point, weight)."""
        return tuple(zip(self.points, self.weights, strict=True))

    @property
    def mean(self) -> Vector:
        """Expectation, by coordinate."""
        return tuple(dot(self.weights, coordinate) for coordinate in zip(*self.points, strict=True))


@final
@dataclass(frozen=True, slots=True)
class AnchoredLaw:
    r"""Probability on templates with mean (1, ..., 1), which determines a channel.

    Two laws are equal (``==``) exactly if their channels are equivalent, because the form is canonical.

    Parameters
    ----------
    template : PointLaw
        The law of the template :math:`u`; points of :math:`\{u\ge0,\sum_iu_i=k\}` for ``k`` inputs, ``k >= 2``.

    Raises
    ------
    InputError
        If a point is no template, or the mean is not 1 in every coordinate (the message says by how much).

    Notes
    -----
    anchored, Definition 2.3 and Theorem 2.5.

    Examples
    --------
    >>> law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> law.trace(), law.pairwise_budget()
    (Fraction(1, 2), Fraction(4, 3))
    """

    template: PointLaw

    def __post_init__(self) -> None:
        k = self.num_inputs
        if k < 2:
            raise InputError("inputs", k, "at least 2: one input has nothing to be compared with")
        for u in self.templates:
            check_template(u)
        for i, mean in enumerate(self.template.mean):
            if mean != 1:
                raise InputError("templates", f"mean {mean} in coordinate {i}", f"mean 1 (off by {mean - 1})")

    @classmethod
    def from_atoms(cls, atoms: Iterable[tuple[Sequence[Fraction], Fraction]]) -> AnchoredLaw:
        """The law with these (template, weight) pairs; equal templates are merged."""
        return cls(PointLaw.from_atoms(atoms))

    @classmethod
    def from_channel(cls, channel: Channel) -> AnchoredLaw:
        """Law of the templates of an exact channel; outputs of probability zero are dropped."""
        atoms = []
        for column in exact_columns(channel, "rational entries; EnclosedLaw takes balls"):
            average = sum(column, start=Fraction(0)) / channel.num_inputs
            if average:
                atoms.append((tuple(entry / average for entry in column), average))
        return cls.from_atoms(atoms)

    def to_channel(self) -> Channel:
        r"""Smallest channel with this law: output ``j`` has :math:`W_x(j)=u^{(j)}_x\,\mu(j)`."""
        return Channel(
            tuple(tuple(u[x] * weight for u, weight in self.template.atoms()) for x in range(self.num_inputs))
        )

    @property
    def num_inputs(self) -> int:
        """Number ``k`` of inputs."""
        return len(self.template.points[0])

    @property
    def templates(self) -> tuple[Vector, ...]:
        """Templates, the atoms of the law."""
        return self.template.points

    @property
    def weights(self) -> tuple[Fraction, ...]:
        r"""Masses of the templates under the row average :math:`\bar W`."""
        return self.template.weights

    def mixture(self, composition: Sequence[Fraction]) -> PointLaw:
        """Law of the template of one message if inputs are drawn from ``composition`` (anchored, Theorem 2.5 (iv))."""
        w = check_composition(composition, self.num_inputs)
        return PointLaw.from_atoms((u, weight * dot(w, u)) for u, weight in self.template.atoms())

    def covariance(self) -> Matrix:
        """Covariance matrix :math:`C=E[(u-1)(u-1)^T]` of the template under the row average."""
        return second_moment(self._deviations, self.weights)

    def row_second_moment(self, x: int) -> Matrix:
        """Second moments :math:`E_{W_x}[(u-1)(u-1)^T]` of the template around 1, under one row."""
        x = as_integer(x, "x", 0, self.num_inputs - 1)
        return second_moment(self._deviations, [weight * u[x] for u, weight in self.template.atoms()])

    @property
    def _deviations(self) -> tuple[Vector, ...]:
        return tuple(tuple(entry - 1 for entry in u) for u in self.templates)

    def trace(self) -> Fraction:
        r"""Trace of the covariance, :math:`\operatorname{tr}\Sigma=E\sum_i(u_i-1)^2`."""
        return sum((weight * template_signal(u) for u, weight in self.template.atoms()), start=Fraction(0))

    def pairwise_divergence(self, i: int, j: int) -> Fraction | float:
        r"""Divergence :math:`\chi^2(W_i\Vert W_j)`; ``inf`` where row ``j`` lacks an output of row ``i``."""
        i, j = (as_integer(x, name, 0, self.num_inputs - 1) for name, x in (("i", i), ("j", j)))
        total = Fraction(0)
        for u, weight in self.template.atoms():
            if u[j]:
                total += weight * (u[i] - u[j]) ** 2 / u[j]
            elif u[i]:
                return math.inf
        return total

    def pairwise_budget(self) -> Fraction | float:
        r"""The budget :math:`\max_{i\ne j}\chi^2(W_i\Vert W_j)` (anchored, Definition 5.8)."""
        inputs = range(self.num_inputs)
        return max(self.pairwise_divergence(i, j) for i in inputs for j in inputs if i != j)

    def ratio_cap(self) -> Fraction | float:
        """Largest ratio of two coordinates of a template: the smallest ``lam`` at which the channel is log(lam)-LDP."""
        return max(max(u) / min(u) if min(u) else math.inf for u in self.templates)

    def is_extreme(self) -> bool:
        """Whether the law is no mixture of two other laws: its templates are affinely independent (Corollary C.2)."""
        return rank(self.templates) == len(self.templates)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>({', '.join(map(str, u))})</td><td>{weight}</td></tr>" for u, weight in self.template.atoms()
        )
        return f"<table><tr><th>template</th><th>mass</th></tr>{rows}</table>"


def check_template(u: Sequence[Fraction]) -> None:
    """Refuse a vector that is no template: negative somewhere, or not of sum ``len(u)``."""
    if min(u) < 0:
        raise InputError("template", tuple(map(str, u)), f"entries of at least 0 (smallest {min(u)})")
    if sum(u) != len(u):
        raise InputError("template", f"sum {sum(u)}", f"sum {len(u)}, the number of inputs")


def read_template(u: object) -> Vector:
    """A template as fractions, refused if it is none."""
    read = parse_rationals(u, "template")
    if not read:
        raise InputError("template", "no entries", "one entry for each input")
    check_template(read)
    return read


def check_composition(composition: Sequence[Fraction], num_inputs: int) -> Vector:
    """The composition as fractions, refused if it is no point of the probability simplex."""
    w = parse_rationals(composition, "composition")
    if len(w) != num_inputs:
        raise InputError("composition", f"{len(w)} entries", f"{num_inputs}, one per input")
    if min(w) < 0 or sum(w) != 1:
        raise InputError("composition", tuple(map(str, w)), f"entries of at least 0 and sum 1 (sum {sum(w)})")
    return w


def template_signal(u: Sequence[Fraction]) -> Fraction:
    r"""Squared distance of a template from the all-ones vector.

    It is :math:`\sum_i(u_i-1)^2`.

    Parameters
    ----------
    u : sequence of Fraction
        A template: k entries of at least 0.

    Returns
    -------
    Fraction
        The squared distance.

    Notes
    -----
    anchored, Lemma 7.1.

    Examples
    --------
    >>> template_signal([Fraction(3, 2), Fraction(1, 2)])
    Fraction(1, 2)
    """
    return sum(((entry - 1) ** 2 for entry in parse_rationals(u, "template")), start=Fraction(0))


def template_budget(u: Sequence[Fraction]) -> Fraction | float:
    r"""Average chi-square divergence over ordered pairs of coordinates of a template.

    It is :math:`(QR-k^2)/(k(k-1))` with :math:`Q=\sum_iu_i^2` and :math:`R=\sum_i1/u_i`.

    Parameters
    ----------
    u : sequence of Fraction
        A template: k entries of at least 0.

    Returns
    -------
    Fraction or float
        ``inf`` if a coordinate is zero.

    Notes
    -----
    anchored, Lemma 7.1.

    Examples
    --------
    >>> template_budget([Fraction(3, 2), Fraction(1, 2)])
    Fraction(4, 3)
    """
    read = parse_rationals(u, "template")
    if min(read) == 0:
        return math.inf
    k = len(read)
    reciprocals = sum((1 / entry for entry in read), start=Fraction(0))
    return (dot(read, read) * reciprocals - k * k) / (k * (k - 1))
