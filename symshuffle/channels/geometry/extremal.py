r"""The cone of LDP likelihood vectors, its extreme rays, and the polytope of maximal channels.

Notation: ``m`` inputs, ``lam`` = :math:`e^{\varepsilon_0} > 1`. A *column* of a channel is the vector of the
probabilities of one output, by input. A subset of the inputs is a bit mask: bit ``x`` is set where ``x`` belongs.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import as_integer, parse_rational
from symshuffle.channels.channel import Channel, check_channel, exact_columns
from symshuffle.channels.geometry import balanced

MAX_ENUMERATION = 5
"""Largest number of inputs for which the vertices of the polytope are listed (1291 of them) and not streamed."""


def check_inputs(m: int) -> int:
    """Refuse fewer than two inputs: there is nothing to hide, and no non-empty proper subset."""
    return as_integer(m, "m", 2)


def check_lam(lam: Fraction | int) -> Fraction:
    """Read a privacy level that is a rational above 1."""
    read = parse_rational(lam, "lam")
    if not read > 1:
        raise InputError("lam", lam, "a rational above 1 (eps0 > 0)")
    return read


def proper_subsets(m: int) -> range:
    """All non-empty proper subsets of ``m`` inputs, as bit masks."""
    return range(1, (1 << check_inputs(m)) - 1)


def members(subset: int) -> tuple[int, ...]:
    """The inputs in a subset, ascending."""
    return tuple(x for x in range(subset.bit_length()) if subset >> x & 1)


def mask(inputs: Iterable[int]) -> int:
    """The bit mask of some inputs."""
    return sum(1 << x for x in set(inputs))


def staircase_row(subset: int, m: int, lam: Any) -> tuple[Any, ...]:
    """The likelihood vector that is ``lam`` on the subset and 1 elsewhere."""
    one = lam / lam if not isinstance(lam, Fraction) else Fraction(1)
    return tuple(lam if subset >> x & 1 else one for x in range(m))


def staircase_matrix(m: int, lam: Fraction | int) -> tuple[tuple[Fraction, ...], ...]:
    """Matrix whose row ``y`` is ``lam`` on the subset ``y`` and 1 elsewhere.

    Parameters
    ----------
    m : int
        Number of inputs, at least 2.
    lam : Fraction or int
        ``exp(eps0)``, a rational above 1.

    Returns
    -------
    tuple of tuple of Fraction
        Shape ``(2**m - 2, m)``, subsets in the order of their bit masks.

    Raises
    ------
    InputError
        If ``m`` or ``lam`` is out of range.

    Notes
    -----
    ldp_tradeoff, equation (19).

    Examples
    --------
    >>> [[int(entry) for entry in row] for row in staircase_matrix(2, 3)]
    [[3, 1], [1, 3]]
    """
    m, level = check_inputs(m), check_lam(lam)
    return tuple(staircase_row(subset, m, level) for subset in proper_subsets(m))


def cone_inequalities(m: int, lam: Fraction | int) -> tuple[tuple[Fraction, ...], ...]:
    r"""The inequalities of the cone of columns of LDP channels, :math:`v_{x'} \le \lambda v_x` and :math:`v \ge 0`.

    Each is a row ``t`` with ``t . v >= 0``: one per ordered pair, then one per sign (ldp_tradeoff, Lemma B.2).
    """
    m, level, rows = check_inputs(m), check_lam(lam), []
    for z, other in itertools.permutations(range(m), 2):
        row = [Fraction(0)] * m
        row[z], row[other] = level, Fraction(-1)
        rows.append(tuple(row))
    signs = [tuple(Fraction(int(x == z)) for x in range(m)) for z in range(m)]
    return tuple(rows + signs)


def in_cone(vector: Sequence[Fraction], lam: Fraction | int) -> bool:
    """Whether a vector is a possible column of an LDP channel."""
    return min(vector) >= 0 and max(vector) <= check_lam(lam) * min(vector)


def staircase_weights(vector: Sequence[Fraction], lam: Fraction | int) -> dict[int, Fraction]:
    """The weights of at most ``m + 1`` staircase vectors, by subset, of which a vector of the cone is the sum."""
    m, level = check_inputs(len(vector)), check_lam(lam)
    if not in_cone(vector, level):
        raise InputError("vector", [str(v) for v in vector], f"a vector of the LDP cone at lam = {level}")
    low = min(vector)
    weights: dict[int, Fraction] = defaultdict(Fraction)
    if low == 0:
        return weights
    # vector = sum of (weight of a super-level set) * (its staircase vector) + rest * (all ones)
    levels = sorted(set(vector))
    rest = low
    for below, above in itertools.pairwise(levels):
        weight = (above - below) / (level - 1)
        weights[mask(x for x, v in enumerate(vector) if v >= above)] += weight
        rest -= weight
    if rest > 0:
        top = mask(x for x, v in enumerate(vector) if v == levels[-1])
        half = top if len(levels) > 1 else 1
        for subset in (half, (1 << m) - 1 - half):
            weights[subset] += rest / (1 + level)
    return {subset: weight for subset, weight in weights.items() if weight}


@final
@dataclass(frozen=True, slots=True)
class MaximalPolytope:
    r"""Polytope of the maximal eps0-LDP channels, as weights on subsets of the inputs.

    A point is a vector :math:`c \ge 0` with :math:`\sum_y c_y S_y = 1`, where :math:`S_y` is ``lam`` on the subset
    ``y`` and 1 elsewhere. The points are the maximal eps0-LDP channels up to equivalence (ldp_tradeoff, Theorem 3.10).
    The substitution :math:`d = c(\lambda-1)/(1-\sum c)` turns the equations into :math:`\sum_{y \ni x} d_y = 1`, which
    does not contain ``lam``: the vertices are the minimal balanced collections of subsets, whatever the privacy level.

    Parameters
    ----------
    m : int
        Number of inputs, at least 2.
    lam : Fraction
        ``exp(eps0)``, a rational above 1.

    Raises
    ------
    InputError
        If ``m`` or ``lam`` is out of range.

    Examples
    --------
    >>> polytope = MaximalPolytope(3, Fraction(3))
    >>> polytope.dimension, len(polytope.vertices())
    (3, 5)
    """

    m: int
    lam: Fraction

    def __post_init__(self) -> None:
        object.__setattr__(self, "m", check_inputs(self.m))
        object.__setattr__(self, "lam", check_lam(self.lam))

    @property
    def dimension(self) -> int:
        """Dimension ``2**m - 2 - m``: the staircase matrix has rank ``m``."""
        return (1 << self.m) - 2 - self.m

    def contains(self, weights: Mapping[int, Fraction]) -> bool:
        """Whether the weights are non-negative, on proper subsets, and give a channel."""
        subsets = proper_subsets(self.m)
        if any(subset not in subsets or weight < 0 for subset, weight in weights.items()):
            return False
        total = sum(weights.values(), start=Fraction(0))
        return all(
            total + (self.lam - 1) * sum((w for y, w in weights.items() if y >> x & 1), start=Fraction(0)) == 1
            for x in range(self.m)
        )

    def channel(self, weights: Mapping[int, Fraction]) -> Channel:
        """Extremal channel with the given weights; its outputs are the subsets of positive weight, ascending."""
        if not self.contains(weights):
            raise InputError("weights", {y: str(w) for y, w in weights.items()}, "a point of the maximal polytope")
        support = sorted(subset for subset, weight in weights.items() if weight)
        return Channel(
            tuple(tuple(weights[y] * (self.lam if y >> x & 1 else 1) for y in support) for x in range(self.m))
        )

    def vertices(self) -> tuple[dict[int, Fraction], ...]:
        """All vertices, exactly: 41 at m = 4, 1291 at m = 5; beyond it :meth:`each_vertex` streams them."""
        if self.m > MAX_ENUMERATION:
            balanced.check_players(self.m)
            raise Unsupported(
                f"m = {self.m}: 200213 vertices are streamed by each_vertex() and not listed; vertex_orbits() has one "
                f"of each kind; or use a linear program (optimal)"
            )
        return tuple(map(self.weights, balanced.minimal_balanced_collections(self.m)))

    def each_vertex(self) -> Iterator[dict[int, Fraction]]:
        """Vertices one by one, small supports first, for ``m <= 6``, where the first one takes two seconds.

        >>> polytope = MaximalPolytope(3, Fraction(3))
        >>> {members(subset): str(weight) for subset, weight in next(polytope.each_vertex()).items()}
        {(0, 1): '1/4', (2,): '1/4'}
        """
        return map(self.weights, balanced.each_balanced_collection(self.m))

    def vertex_orbits(self) -> tuple[tuple[dict[int, Fraction], int], ...]:
        """One vertex of each orbit under renaming the inputs, and the size of the orbit, for ``m <= 6``.

        >>> orbits = MaximalPolytope(6, Fraction(3)).vertex_orbits()
        >>> len(orbits), sum(size for _, size in orbits)
        (582, 200213)
        """
        return tuple((self.weights(dict(weights)), size) for weights, size in balanced.balanced_orbits(self.m))

    def weights(self, balance: Mapping[int, Fraction]) -> dict[int, Fraction]:
        r"""Point :math:`c=d/(\lambda-1+\sum d)` of the polytope that belongs to a balanced collection."""
        scale = self.lam - 1 + sum(balance.values())
        return {subset: d / scale for subset, d in balance.items()}


def _total(parts: Iterable[Mapping[int, Fraction]]) -> dict[int, Fraction]:
    weights: dict[int, Fraction] = defaultdict(Fraction)
    for part in parts:
        for subset, weight in part.items():
            weights[subset] += weight
    return dict(weights)


def dominating_extremal(channel: Channel, lam: Fraction | int) -> tuple[dict[int, Fraction], Channel]:
    """Maximal LDP channel that dominates a given one, and the kernel between them.

    Parameters
    ----------
    channel : Channel
        A channel over the rationals with m inputs, log(lam)-LDP.
    lam : Fraction or int
        ``exp(eps0)``, a rational above 1.

    Returns
    -------
    weights : dict of int to Fraction
        A point of the maximal polytope: weights of subsets, as bit masks.
    kernel : Channel
        With ``MaximalPolytope(m, lam).channel(weights).push_forward(kernel) == channel``.

    Raises
    ------
    InputError
        If ``lam`` is not above 1, or the channel is not log(lam)-LDP; the message names the output.

    Examples
    --------
    >>> weights, kernel = dominating_extremal(Channel.from_rows([["5/8", "3/8"], ["3/8", "5/8"]]), 3)
    >>> weights
    {1: Fraction(1, 4), 2: Fraction(1, 4)}
    >>> print(kernel)
    3/4  1/4
    1/4  3/4
    """
    check_channel(channel)
    level, parts = check_lam(lam), []
    check_inputs(channel.num_inputs)
    for y, column in enumerate(exact_columns(channel)):
        if not in_cone(column, level):
            raise InputError("channel", f"output {y}", f"likelihood ratios of at most lam = {lam}")
        parts.append(staircase_weights(column, level))
    weights = _total(parts)
    rows = (tuple(part.get(subset, Fraction(0)) / weights[subset] for part in parts) for subset in sorted(weights))
    return weights, Channel(tuple(rows))
