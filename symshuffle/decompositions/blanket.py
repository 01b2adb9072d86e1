"""The privacy blanket of a channel, and the optimal decompositions that are equivalent to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.errors import InputError, check_kind, check_list
from symshuffle.base.numbers import FLOAT_SUM_SLACK, Number, Verdict, as_integer, equal
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.model import Decomposition


@final
@dataclass(frozen=True, slots=True)
class PrivacyBlanket:
    r"""The common part of all rows of a channel.

    - ``gamma``: total variation similarity :math:`\gamma=\sum_y\inf_x W_x(y)`, in [0, 1].
    - ``omega``: blanket distribution :math:`\inf_x W_x/\gamma`; None where gamma = 0.
    - ``left_overs``: distributions :math:`(W_x-\gamma\omega)/(1-\gamma)`, by input; None where gamma = 1.

    decomposition, Section 3.2.
    """

    gamma: Number
    omega: tuple[Number, ...] | None
    left_overs: tuple[tuple[Number, ...], ...] | None


def privacy_blanket(channel: Channel) -> PrivacyBlanket:
    """Privacy blanket of a channel: the common part of its rows.

    Parameters
    ----------
    channel : Channel
        The local randomizer.

    Returns
    -------
    PrivacyBlanket
        The similarity gamma in [0, 1], the blanket distribution (None where gamma = 0), and the left-over distribution
        of each input (None where gamma = 1).

    Notes
    -----
    decomposition, Section 3.2.

    Examples
    --------
    >>> privacy_blanket(Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])).gamma
    Fraction(2, 3)
    """
    check_kind(channel, Channel, "channel", "a channel, as Channel.from_rows(...)")
    floor: tuple[Any, ...] = channel.blanket()
    gamma = sum(floor, start=Fraction(0))
    omega = None if equal(gamma, 0) else tuple(mass / gamma for mass in floor)
    rest = 1 - gamma
    if isinstance(rest, float) and abs(rest) <= FLOAT_SUM_SLACK:
        rest = 0.0  # rounding: a division by it would make up left-overs
    left_overs = (
        None
        if equal(rest, 0)
        else tuple(tuple((entry - mass) / rest for entry, mass in zip(row, floor, strict=True)) for row in channel.rows)
    )
    return PrivacyBlanket(gamma, omega, left_overs)


def _check_pair(channel: Channel, pair: tuple[int, int]) -> None:
    check_kind(channel, Channel, "channel", "a channel, as Channel.from_rows(...)")
    check_list(pair, "pair", "two inputs")
    if len(pair) != 2:
        raise InputError("pair", pair, "two inputs")
    for which, x in zip(("first", "second"), pair, strict=True):
        as_integer(x, f"{which} of pair", 0, channel.num_inputs - 1)


def primary_decomposition(channel: Channel, pair: tuple[int, int]) -> Decomposition:
    r"""The primary optimal decomposition: one component per output.

    :math:`a_y=W_{x_1^0}(y)`, :math:`b_y=W_{x_1^1}(y)`, :math:`c_y=\inf_x W_x(y)`; the infimum runs over *all* inputs
    of the channel, since any of them may be in the background (decomposition, Theorem 5).
    """
    _check_pair(channel, pair)
    floor = channel.blanket()
    outputs = range(channel.num_outputs)
    points = tuple(tuple(Fraction(int(y == z)) for z in outputs) for y in outputs)
    beta: Any = 1 - sum(floor, start=Fraction(0))
    if isinstance(beta, float) and abs(beta) <= FLOAT_SUM_SLACK:
        beta = 0.0  # the rounding of a blanket that is the whole channel; it may even be negative
    return Decomposition(channel.rows[pair[0]], channel.rows[pair[1]], floor, beta, points)


def simplified_decomposition(channel: Channel, pair: tuple[int, int]) -> Decomposition:
    """Simplified optimal decomposition of a channel at a pair of inputs.

    Outputs with equal ratios ``a : b : c`` are merged, where a and b are the probabilities at the two inputs, and c the
    smallest one over all inputs. Ratios are compared as points of the projective plane, so outputs that some input
    never sends are merged like all others; outputs of weight zero in all three laws are dropped.

    Parameters
    ----------
    channel : Channel
        The local randomizer.
    pair : tuple of int
        Input of the differing user in the first and in the second dataset.

    Returns
    -------
    Decomposition
        With one component per distinct ratio.

    Raises
    ------
    InputError
        If the pair is not two inputs of the channel.

    Notes
    -----
    decomposition, Theorem 7.

    Examples
    --------
    >>> response = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/4", "1/4", "1/2"]])
    >>> found = simplified_decomposition(response, (0, 1))
    >>> found.a, found.beta
    ((Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)), Fraction(1, 4))
    """
    return merge_proportional(primary_decomposition(channel, pair))


def merge_proportional(decomposition: Decomposition) -> Decomposition:
    """Merge the components of a decomposition whose weights ``(a, b, c)`` are proportional."""
    groups: list[list[int]] = []
    triples: list[tuple[Any, Any, Any]] = list(zip(decomposition.a, decomposition.b, decomposition.c, strict=True))
    for j, triple in enumerate(triples):
        if all(equal(weight, 0) is Verdict.TRUE for weight in triple):
            continue
        for group in groups:
            if _proportional(triples[group[0]], triple):
                group.append(j)
                break
        else:
            groups.append([j])

    def total(weights: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(sum((weights[j] for j in group), start=Fraction(0)) for group in groups)

    components = (
        tuple(_merged_component(decomposition, triples, group) for group in groups) if decomposition.components else ()
    )
    return Decomposition(
        total(decomposition.a), total(decomposition.b), total(decomposition.c), decomposition.beta, components
    )


def _proportional(u: Sequence[Any], v: Sequence[Any]) -> bool:
    minors = (u[i] * v[j] - u[j] * v[i] for i, j in ((0, 1), (0, 2), (1, 2)))
    return all(equal(minor, 0) is Verdict.TRUE for minor in minors)


def _merged_component(
    decomposition: Decomposition, triples: Sequence[tuple[Any, Any, Any]], group: Sequence[int]
) -> tuple[Any, ...]:
    """The mixture of the components of a group, weighted by their share, which all three weights agree on."""
    shares = [sum(triples[j], start=Fraction(0)) for j in group]
    whole = sum(shares, start=Fraction(0))
    return tuple(
        sum(
            (share / whole * decomposition.components[j][y] for share, j in zip(shares, group, strict=True)),
            start=Fraction(0),
        )
        for y in range(len(decomposition.components[0]))
    )
