r"""The clone decompositions: standard, stronger and four-point.

They are special cases of the general clone and never beat the privacy blanket (decomposition, Theorem 6). The standard
clone is the generic bound of the literature, the same for all eps0-LDP mechanisms; claims of the ledger know a better
one. The three-cell pair of the stronger clone at any smaller clone probability is an object of study only: it is *not*
an upper bound, and every name that leads to it says so.

All functions are rational in ``lam = exp(eps0)``, the ratio cap, above 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_cap, takes_eps0
from symshuffle.base.numbers import Number, Verdict, as_integer, exact_sum, less, minimum, parse_rational, positive_part
from symshuffle.channels.channel import Channel, check_channel
from symshuffle.decompositions.model import Decomposition, ReductionPair, read_pair


def require_ldp(channel: Channel, lam: Number | int) -> None:
    """Refuse a ratio cap below that of a channel."""
    check_channel(channel)
    if channel.is_ldp(lam) is not Verdict.TRUE:
        raise InputError("lam", lam, f"at least the ratio cap of the channel, {channel.ratio_cap()}")


@takes_eps0(as_ball=True)
def intuitive_clone_pair(lam: Number) -> ReductionPair:
    r"""Reduction pair of the standard clone in its first form: user 1 sends 0 or 1 for certain.

    :math:`A_0=\delta_0`, :math:`A_1=\delta_1`, :math:`A_2=(\tfrac1{2\lambda},\tfrac1{2\lambda},1-\tfrac1\lambda)`.

    decomposition, Definition 5.
    """
    value = read_cap(lam)
    one, zero = Fraction(1), Fraction(0)
    return ReductionPair((one, zero, zero), (zero, one, zero), (1 / (2 * value), 1 / (2 * value), 1 - 1 / value))


@takes_eps0(as_ball=True)
def standard_clone_pair(lam: Number) -> ReductionPair:
    r"""Reduction pair of the standard clone: a bound for every eps0-LDP mechanism.

    :math:`A_0=(\tfrac\lambda{\lambda+1},\tfrac1{\lambda+1},0)`, :math:`A_1` with the first two swapped,
    :math:`A_2` as in :func:`intuitive_clone_pair`.

    decomposition, Theorem 1.
    """
    value = read_cap(lam)
    high, low, zero = value / (value + 1), 1 / (value + 1), Fraction(0)
    return ReductionPair((high, low, zero), (low, high, zero), (1 / (2 * value), 1 / (2 * value), 1 - 1 / value))


@final
@dataclass(frozen=True, slots=True)
class StrongerClone:
    r"""A stronger-clone decomposition of a channel at a pair of inputs.

    .. math::

        R(x_1^0)=\lambda pQ_0+pQ_1+(1-p-\lambda p)Q,\quad R(x_1^1)=pQ_0+\lambda pQ_1+(1-p-\lambda p)Q,\quad
        R(x_i)=pQ_0+pQ_1+(1-2p)Q_i .

    - ``lam``: ratio cap ``exp(eps0)``.
    - ``p_min``, ``p_max``: all probabilities for which such a decomposition exists form the interval ``[p_min,
      p_max]``.
    - ``first``, ``second``, ``rest``: the measures :math:`pQ_0`, :math:`pQ_1` and :math:`(1-p-\lambda p)Q`, by
      output.

    decomposition, Theorem 3. The interval in closed form is ours.
    """

    lam: Number
    p: Number
    p_min: Number
    p_max: Number
    first: tuple[Number, ...]
    second: tuple[Number, ...]
    rest: tuple[Number, ...]

    def four_point(self, channel: Channel) -> Decomposition:
        r"""The corrected, four-point decomposition of the whole channel: user 1 keeps its left-over apart.

        The weight of :math:`Q` in the shared part is the largest that every input of the channel allows.

        decomposition, Section 3.3, last display.
        """
        lam, p = self.lam, self.p
        parts: list[tuple[Any, Any]] = [(p, self.first), (p, self.second)]
        own = 1 - p - lam * p
        room: list[Any] = [b - u - v for b, u, v in zip(channel.blanket(), self.first, self.second, strict=True)]
        if any(less(mass, 0) is Verdict.TRUE for mass in room):
            raise InputError("channel", "a row without the clones", "rows that all contain p Q0 + p Q1")
        shares = [r / (m / own) for r, m in zip(room, self.rest, strict=True) if less(0, m) is Verdict.TRUE]
        q = minimum(shares) if shares else Fraction(0)
        weights = ((lam * p, p), (p, lam * p), (p, p))
        kept: list[tuple[Any, Any, Any, Any]] = [
            (a, b, c, tuple(mass / weight for mass in measure))
            for (weight, measure), a, b, c in zip(parts, *weights, strict=True)
            if less(0, weight) is Verdict.TRUE
        ]
        if shares:
            kept.append((own, own, q, tuple(mass / own for mass in self.rest)))
        a, b, c, components = (tuple(column) for column in zip(*kept, strict=True))
        return Decomposition(a, b, c, 1 - exact_sum(c), components)


@takes_eps0(as_ball=True)
def stronger_clone(
    channel: Channel,
    pair: tuple[int, int],
    *,
    lam: Number | None = None,
    others: Sequence[int] | None = None,
    position: object = 0,
) -> StrongerClone:
    r"""Stronger-clone decomposition, with the interval of all clone probabilities.

    Subtracting the first two equations shows :math:`pQ_0-pQ_1=(R_0-R_1)/(\lambda-1)`. So both are the positive and the
    negative part :math:`d_\pm` of that, plus one common measure :math:`t\ge0`, and the two remaining conditions bound
    :math:`t` output by output: :math:`(\lambda+1)t\le R_0-\lambda d_+-d_-` and :math:`2t\le\min_iR(x_i)-d_+-d_-`.

    Parameters
    ----------
    channel : Channel
        An eps0-LDP local randomizer.
    pair : tuple of int
        Input of the differing user in the first and in the second dataset.
    lam : Number, optional
        Ratio cap ``exp(eps0)``, above 1; default: that of the channel.
    others : sequence of int, optional
        Inputs of the other users; default: any input of the channel.
    position : number or text
        Where ``p`` lies in ``[p_min, p_max]``, from 0 to 1.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    StrongerClone
        The decomposition at the clone probability ``p`` that ``position`` selects, with ``p_min`` and ``p_max``.

    Raises
    ------
    InputError
        If ``lam`` is not above 1, the channel is not log(lam)-LDP, or ``position`` is outside [0, 1].

    Notes
    -----
    decomposition, Theorem 3.

    Examples
    --------
    >>> found = stronger_clone(Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]]), (0, 1))
    >>> found.p_min, found.p_max
    (Fraction(1, 3), Fraction(1, 3))
    """
    check_channel(channel)
    value = read_cap(channel.ratio_cap() if lam is None else lam)
    require_ldp(channel, value)
    share, pair = parse_rational(position, "position"), read_pair(channel, pair)
    if not 0 <= share <= 1:
        raise InputError("position", position, "a number from 0 to 1")
    last = channel.num_inputs - 1
    held = range(last + 1) if others is None else [as_integer(x, "others", 0, last) for x in others]
    rows: Sequence[Sequence[Any]] = [channel.rows[x] for x in held]
    first: Sequence[Any] = channel.rows[pair[0]]
    second: Sequence[Any] = channel.rows[pair[1]]
    floor = [minimum(column) for column in zip(*rows, strict=True)]
    excess = [positive_part(a - b) / (value - 1) for a, b in zip(first, second, strict=True)]
    defect = [positive_part(b - a) / (value - 1) for a, b in zip(first, second, strict=True)]
    room = [
        minimum([(a - value * u - v) / (value + 1), (f - u - v) / 2])
        for a, f, u, v in zip(first, floor, excess, defect, strict=True)
    ]
    clone0 = tuple(u + share * t for u, t in zip(excess, room, strict=True))
    clone1 = tuple(v + share * t for v, t in zip(defect, room, strict=True))
    rest = tuple(a - value * u - v for a, u, v in zip(first, clone0, clone1, strict=True))
    p_min = exact_sum(excess)
    return StrongerClone(value, exact_sum(clone0), p_min, p_min + exact_sum(room), clone0, clone1, rest)
