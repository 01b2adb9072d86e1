"""Clones of the claims: mixtures of two points, the generic pair, and a pair that bounds nothing."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_cap, takes_eps0
from symshuffle.base.numbers import Number, Verdict, as_number, less, maximum
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.clones import intuitive_clone_pair, require_ldp, standard_clone_pair
from symshuffle.decompositions.model import Decomposition, ReductionPair
from symshuffle.decompositions.symbolic import SymbolicDecomposition
from symshuffle.mechanisms.symbolic import LAM


@takes_eps0(as_ball=True)
def generic_pair(lam: Number) -> ReductionPair:
    r"""The best generic reduction pair: the blanket of binary randomized response, a bound for every LDP mechanism.

    :math:`A_0=(\tfrac\lambda{\lambda+1},\tfrac1{\lambda+1},0)`, :math:`A_1` with the first two swapped,
    :math:`A_2=(\tfrac1{\lambda+1},\tfrac1{\lambda+1},\tfrac{\lambda-1}{\lambda+1})`: the clone probability
    :math:`\tfrac1{2\lambda}` of the standard clone rises to :math:`\tfrac1{\lambda+1}`.

    This is the generic bound of decomposition, equation (1), which the paper leaves open. It holds, because the
    variable G of this pair dominates in convex order that of the blanket of every eps0-LDP mechanism (claim
    ``symshuffle.generic-bound`` of the ledger).
    """
    value = read_cap(lam)
    high, low, zero = value / (value + 1), 1 / (value + 1), Fraction(0)
    return ReductionPair((high, low, zero), (low, high, zero), (low, low, (value - 1) / (value + 1)))


@takes_eps0(as_ball=True)
def two_point_mixture(first: Sequence[Number], second: Sequence[Number], lam: Number) -> tuple[Any, Any]:
    r"""The two extreme distributions that a pair of :math:`\varepsilon_0`-close distributions mixes.

    :math:`Q_0=(\lambda R_0-R_1)/(\lambda-1)` and :math:`Q_1=(\lambda R_1-R_0)/(\lambda-1)`, so that
    :math:`R_0=(\lambda Q_0+Q_1)/(\lambda+1)` and :math:`R_1=(Q_0+\lambda Q_1)/(\lambda+1)`.

    - ``first``, ``second``: :math:`R_0` and :math:`R_1` on the same outputs.

    decomposition, Lemma 1.
    """
    value = read_cap(lam)
    pairs: list[tuple[Any, Any]] = list(zip(first, second, strict=True))
    q0 = tuple((value * a - b) / (value - 1) for a, b in pairs)
    q1 = tuple((value * b - a) / (value - 1) for a, b in pairs)
    for mass in (*q0, *q1):
        if less(mass, 0) is Verdict.TRUE:
            raise InputError("lam", lam, "a bound on all likelihood ratios of the two distributions")
    return q0, q1


@takes_eps0(as_ball=True)
def intuitive_clone(channel: Channel, pair: tuple[int, int], lam: Number | None = None) -> Decomposition:
    r"""The standard clone in its first form: :math:`R(x)=\frac{R(x_1^0)+R(x_1^1)}{2\lambda}+(1-\frac1\lambda)\,LO(x)`.

    decomposition, Section 3.1.
    """
    value = read_cap(channel.ratio_cap() if lam is None else lam)
    require_ldp(channel, value)
    return _three_cells(intuitive_clone_pair(value), (channel.rows[pair[0]], channel.rows[pair[1]]))


@takes_eps0(as_ball=True)
def standard_clone(channel: Channel, pair: tuple[int, int], lam: Number | None = None) -> Decomposition:
    """The standard clone over the two extreme distributions of the pair; arguments as in :func:`intuitive_clone`.

    Notes
    -----
    decomposition, Section 3.1, display before Theorem 1.
    """
    value = read_cap(channel.ratio_cap() if lam is None else lam)
    require_ldp(channel, value)
    mixture = two_point_mixture(channel.rows[pair[0]], channel.rows[pair[1]], value)
    return _three_cells(standard_clone_pair(value), mixture)


def _three_cells(pair: ReductionPair, components: tuple[Any, Any]) -> Decomposition:
    return Decomposition(pair.a0[:2], pair.a1[:2], pair.a2[:2], pair.a2[2], components)


@takes_eps0(as_ball=True)
def unsound_stronger_clone_pair(lam: Number, p: Number) -> ReductionPair:
    r"""The three-cell pair :math:`(P_0(\varepsilon_0,p),P_1(\varepsilon_0,p))`, which bounds nothing: for study only.

    It pools the left-over of user 1 with those of all others, and no post-processing can tell them apart again. A
    channel with ratio cap 2 and n = 2 users already exceeds it (claim ``decomposition.eq-1`` of the ledger).

    - ``p``: clone probability, in ``[0, 1/(lam + 1)]``: beyond that the pair does not exist.

    decomposition, Section 3.3.
    """
    value = read_cap(lam)
    clone: Any = as_number(p, "p")
    if less(clone, 0) is Verdict.TRUE or less(1 / (value + 1), clone) is Verdict.TRUE:
        raise InputError("p", p, f"a clone probability from 0 to 1/(lam + 1) = {1 / (value + 1)}")
    own = maximum([Fraction(0), 1 - clone - value * clone])
    laws = (value * clone, clone, own), (clone, value * clone, own), (clone, clone, 1 - 2 * clone)
    return ReductionPair(*laws, unsound=True)


def is_standard(decomposition: SymbolicDecomposition) -> bool:
    """Whether all ratios of the cells are 1 or lam: the extreme property of decomposition, Section 4.4."""
    ratios = [ratio for cell in decomposition.cells for ratio in cell.ratios or (None,)]
    return all(ratio in (1, LAM) for ratio in ratios)
