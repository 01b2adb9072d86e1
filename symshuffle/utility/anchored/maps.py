r"""Projective maps and fibers: the experiment seen from a composition of the population.

Seen from a composition :math:`w`, a message with template :math:`u` is the vector of ratios :math:`r=u/(w\cdot u)`, of
:math:`w\cdot r=1`. The paper writes the same in a gauge ``V``, an orthonormal basis of the plane of contrasts, as
:math:`z=x/(1+\langle b_w,x\rangle)` with :math:`x=V^Tu`, :math:`z=V^Tr`, :math:`b_w=V^Tw`; the ratio form needs none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import final

from symshuffle.base.errors import InputError
from symshuffle.channels.geometry.linear import Matrix, Vector, dot, second_moment
from symshuffle.utility.anchored.law import AnchoredLaw, PointLaw, check_composition, read_template


def project(u: Sequence[Fraction], composition: Sequence[Fraction]) -> Vector:
    r"""Ratio vector of a template at a composition.

    It is :math:`r=u/(w\cdot u)`, the map :math:`T_w` of the paper.

    Parameters
    ----------
    u : sequence of Fraction
        A template: k entries of at least 0 and sum k.
    composition : sequence of Fraction
        Probability vector ``w`` of length k.

    Returns
    -------
    tuple of Fraction
        The vector r, with :math:`w\cdot r=1`.

    Raises
    ------
    InputError
        If ``u`` is no template, the composition is no probability vector, or :math:`w\cdot u=0`: the output then has
        probability 0 in the population.

    Notes
    -----
    anchored, Definition 3.1 and Proposition 3.2.

    Examples
    --------
    >>> project([Fraction(3, 2), Fraction(1, 2)], [Fraction(1), Fraction(0)])
    (Fraction(1, 1), Fraction(1, 3))
    """
    u = read_template(u)
    w = check_composition(composition, len(u))
    mass = dot(w, u)
    if mass == 0:
        raise InputError("template", tuple(map(str, u)), "a template with w.u > 0 (this one is outside the domain)")
    return tuple(entry / mass for entry in u)


def unproject(r: Sequence[Fraction], composition: Sequence[Fraction]) -> Vector:
    r"""The template with ratio vector ``r``, the map :math:`S_w=T_w^{-1}` of the paper."""
    w = check_composition(composition, len(r))
    check_ratio(r, w)
    total = sum(r)
    return tuple(entry * len(r) / total for entry in r)


def check_ratio(r: Sequence[Fraction], w: Vector) -> None:
    """Refuse a vector that no template is projected to from composition ``w``."""
    if len(r) != len(w):
        raise InputError("ratio", f"{len(r)} entries", f"{len(w)}, one per input")
    if min(r) < 0:
        raise InputError("ratio", tuple(map(str, r)), f"entries of at least 0 (smallest {min(r)})")
    if dot(w, r) != 1:
        raise InputError("ratio", f"w.r = {dot(w, r)}", f"w.r = 1 (off by {dot(w, r) - 1})")


@final
@dataclass(frozen=True, slots=True)
class Fiber:
    r"""The law of the ratio vector of one user's message under a composition (anchored, Definition 3.3, Remark 3.5).

    - ``ratios``: law of :math:`r=(dW_i/dW_w)_i` under :math:`W_w`.
    - ``lost``: mass :math:`\mu\{w\cdot u=0\}` of the anchored law where the composition sees nothing.
    """

    composition: Vector
    ratios: PointLaw
    lost: Fraction = Fraction(0)

    def __post_init__(self) -> None:
        w = check_composition(self.composition, len(self.composition))
        for r in self.ratios.points:
            check_ratio(r, w)
        if self.lost < 0 or (self.interior and self.lost):
            raise InputError("lost", self.lost, "0 at an interior composition, and at least 0 at a boundary one")

    @property
    def interior(self) -> bool:
        """Whether every input has positive weight."""
        return min(self.composition) > 0

    @property
    def mean(self) -> Vector:
        r"""The mean of :math:`Vz=r-\frac1k\sum_ir_i`: zero at interior compositions, not always at boundary ones."""
        mean = self.ratios.mean
        centre = sum(mean, start=Fraction(0)) / len(mean)
        return tuple(entry - centre for entry in mean)

    def second_moment(self) -> Matrix:
        """The matrix :math:`E[zz^T]` without a gauge: at interior compositions the Fisher information of a message.

        >>> from symshuffle.channels.channel import Channel
        >>> law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
        >>> fiber(law, [Fraction(1, 4), Fraction(3, 4)]).second_moment()[0]
        (Fraction(4, 15), Fraction(-4, 15))
        """
        return self._moment(tuple(Fraction(0) for _ in self.composition))

    def covariance(self) -> Matrix:
        """The covariance of :math:`Vz`: the second moment less the mean, which may differ from 0 at the boundary.

        >>> from symshuffle.channels.channel import Channel
        >>> law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4", 0], ["1/4", "3/4", 0], [0, "1/2", "1/2"]]))
        >>> seen = fiber(law, [Fraction(1, 2), Fraction(1, 2), Fraction(0)])
        >>> seen.mean[0], seen.second_moment()[0][0], seen.covariance()[0][0]
        (Fraction(1, 6), Fraction(17, 36), Fraction(4, 9))
        """
        return self._moment(self.mean)

    def _moment(self, around: Vector) -> Matrix:
        k = len(self.composition)
        points = []
        for r in self.ratios.points:
            centre = sum(r, start=Fraction(0)) / k
            points.append(tuple(entry - centre - shift for entry, shift in zip(r, around, strict=True)))
        return second_moment(points, self.ratios.weights)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>({', '.join(map(str, r))})</td><td>{weight}</td></tr>" for r, weight in self.ratios.atoms()
        )
        seen = f"seen from ({', '.join(map(str, self.composition))})" + (f", {self.lost} lost" if self.lost else "")
        return f"<table><caption>{seen}</caption><tr><th>ratios</th><th>mass</th></tr>{rows}</table>"


def fiber(law: AnchoredLaw, composition: Sequence[Fraction]) -> Fiber:
    """Fiber of a law at a composition: the law of the ratio vectors of one message.

    Parameters
    ----------
    law : AnchoredLaw
        The channel.
    composition : sequence of Fraction
        Probability vector ``w`` of length k.

    Returns
    -------
    Fiber
        Law of the ratio vectors under the mixture of the rows by ``w``.

    Raises
    ------
    InputError
        If the composition is no probability vector of length k.

    Notes
    -----
    anchored, Definition 3.3 and Remark 3.5.

    Examples
    --------
    >>> from symshuffle import Channel
    >>> law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> half = [Fraction(1, 2), Fraction(1, 2)]
    >>> law_from_fiber(fiber(law, half)) == law
    True
    """
    w = check_composition(composition, law.num_inputs)
    lost = sum((weight for u, weight in law.template.atoms() if dot(w, u) == 0), start=Fraction(0))
    seen = law.mixture(w)
    return Fiber(w, PointLaw.from_atoms((project(u, w), weight) for u, weight in seen.atoms()), lost)


def transport(source: Fiber, composition: Sequence[Fraction]) -> Fiber:
    r"""Fiber at another composition, computed from the fiber at an interior one.

    The weight of :math:`r` is multiplied by :math:`w'\cdot r`, and :math:`r` becomes :math:`r/(w'\cdot r)`.

    Parameters
    ----------
    source : Fiber
        At a composition without zero entries.
    composition : sequence of Fraction
        Probability vector ``w'`` of length k; entries may be zero.

    Returns
    -------
    Fiber
        The fiber of the same law at ``w'``.

    Raises
    ------
    InputError
        If the source is a boundary fiber: it does not determine the law.

    Notes
    -----
    anchored, Proposition 3.4 (ii).

    Examples
    --------
    >>> from symshuffle import Channel
    >>> law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> half, edge = [Fraction(1, 2), Fraction(1, 2)], [Fraction(1), Fraction(0)]
    >>> transport(fiber(law, half), edge) == fiber(law, edge)
    True
    """
    _require_interior(source)
    w = check_composition(composition, len(source.composition))
    atoms: list[tuple[Vector, Fraction]] = []
    lost = Fraction(0)
    for r, weight in source.ratios.atoms():
        seen = dot(w, r)
        if seen:
            atoms.append((tuple(entry / seen for entry in r), weight * seen))
        else:
            lost += weight * sum(r) / len(r)  # mass under the row average: dWbar/dW_w = mean of r
    return Fiber(w, PointLaw.from_atoms(atoms), lost)


def law_from_fiber(source: Fiber) -> AnchoredLaw:
    """Anchored law with a given fiber at an interior composition.

    There is only one such law.

    Parameters
    ----------
    source : Fiber
        At a composition without zero entries.

    Returns
    -------
    AnchoredLaw
        The law.

    Raises
    ------
    InputError
        At a boundary composition, where many laws share a fiber, or if the mean of the fiber is not zero.

    Notes
    -----
    anchored, Theorem 3.6.
    """
    _require_interior(source)
    for i, deviation in enumerate(source.mean):
        if deviation:
            raise InputError("fiber", f"mean {deviation} in coordinate {i}", "mean zero: no channel has this fiber")
    w = source.composition
    return AnchoredLaw.from_atoms((unproject(r, w), weight * sum(r) / len(r)) for r, weight in source.ratios.atoms())


def completions(source: Fiber) -> tuple[AnchoredLaw, AnchoredLaw]:
    """Laws with a given fiber that have the smallest and the largest trace.

    A fiber determines the law on the templates of positive weight under the composition, hence the mass and the mean of
    the rest. The rest concentrated at its mean gives the smallest trace, the rest spread over the vertices of the face
    of templates that vanish at every input of positive weight the largest.

    Parameters
    ----------
    source : Fiber
        The fiber, at any composition.

    Returns
    -------
    smallest, largest : AnchoredLaw
        The law of smallest and that of largest trace; they agree exactly if the fiber fixes the law.

    Raises
    ------
    InputError
        If no law has this fiber.

    Notes
    -----
    anchored, Remark 3.5 and Theorem 3.6.
    """
    w = source.composition
    k = len(w)
    seen = [(unproject(r, w), weight * sum(r, start=Fraction(0)) / k) for r, weight in source.ratios.atoms()]
    moment = [1 - sum((weight * u[i] for u, weight in seen), start=Fraction(0)) for i in range(k)]
    for i, rest in enumerate(moment):
        if rest < 0 or (rest and w[i]):
            raise InputError("fiber", f"first moment {1 - rest} in coordinate {i}", "a fiber that some law has")
    lost = sum(moment, start=Fraction(0)) / k
    if lost != source.lost:
        raise InputError("lost", source.lost, f"{lost}, which the fiber fixes")
    gathered = [(tuple(entry / lost for entry in moment), lost)] if lost else []
    vertices = [(tuple(Fraction(k * (i == j)) for j in range(k)), rest / k) for i, rest in enumerate(moment) if rest]
    return AnchoredLaw.from_atoms([*seen, *gathered]), AnchoredLaw.from_atoms([*seen, *vertices])


def _require_interior(source: Fiber) -> None:
    if not source.interior:
        missing = [i for i, entry in enumerate(source.composition) if entry == 0]
        raise InputError(
            "composition", f"weight 0 at inputs {missing}", "positive weights: a boundary fiber need not fix the law"
        )
