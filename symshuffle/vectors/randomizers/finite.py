"""A finite channel together with its null law and its blanket, and its two shuffle indices in rationals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Number, Verdict, brief, equal, less, maximum
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.model import privacy_blanket


@final
@dataclass(frozen=True, slots=True)
class FiniteRandomizer:
    r"""A channel, the law of a zeroed-out user, and a common part of all its rows.

    The indices depend on all three; none is implied by the others.

    - ``bot``: law :math:`R_\bot` of the message of a user whose record was removed.
    - ``gamma``: blanket mass, in (0, 1].
    - ``blanket``: law :math:`R_{BG}` with :math:`\gamma R_{BG}\le R_x` for every input.

    vecmean, Definitions 2.1 and 2.5.

    Examples
    --------
    >>> response = FiniteRandomizer.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    >>> response.gamma, response.inverse_square_lower(), response.inverse_square_upper()
    (Fraction(1, 2), Fraction(1, 2), Fraction(1, 3))
    """

    channel: Channel
    bot: tuple[Number, ...]
    gamma: Number
    blanket: tuple[Number, ...]

    def __post_init__(self) -> None:
        for name, law in (("bot", self.bot), ("blanket", self.blanket)):
            if len(law) != self.channel.num_outputs:
                raise InputError(name, f"{len(law)} masses", f"{self.channel.num_outputs}, one per output")
            Channel((law,))
        if less(0, self.gamma) is not Verdict.TRUE or less(1, self.gamma) is Verdict.TRUE:
            raise InputError("gamma", self.gamma, "a blanket mass in (0, 1]")
        gamma: Any = self.gamma
        for x, row in enumerate(self.channel.rows):
            for y, (entry, mass) in enumerate(zip(row, self.blanket, strict=True)):
                if less(entry, gamma * mass) is Verdict.TRUE:
                    expected = f"at most {brief(entry)}, the probability of output {y} at input {x}"
                    raise InputError(f"gamma * blanket[{y}]", brief(gamma * mass), expected)

    @classmethod
    def from_channel(cls, channel: Channel, *, bot: Sequence[Number] | None = None) -> FiniteRandomizer:
        """The channel with its largest blanket; the null law is the blanket's unless another one is given."""
        common = privacy_blanket(channel)
        if common.omega is None:
            raise InputError("channel", "rows without a common part", "a channel with a blanket of positive mass")
        return cls(channel, common.omega if bot is None else tuple(bot), common.gamma, common.omega)

    def with_largest_blanket(self) -> FiniteRandomizer:
        """The same channel and null law, seen against the largest blanket: its lower index is never smaller."""
        return FiniteRandomizer.from_channel(self.channel, bot=self.bot)

    def postprocess(self, kernel: Channel) -> FiniteRandomizer:
        """The randomizer followed by a kernel, with null law and blanket pushed forward (vecmean, Lemma A.3)."""
        bot, blanket = Channel((self.bot, self.blanket)).push_forward(kernel).rows
        return FiniteRandomizer(self.channel.push_forward(kernel), bot, self.gamma, blanket)

    def residuals(self) -> tuple[tuple[Number, ...], ...] | None:
        r"""The laws :math:`Q_x=(R_x-\gamma R_{BG})/(1-\gamma)`; None at mass 1."""
        gamma: Any = self.gamma
        if equal(gamma, 1):
            return None
        rows: tuple[Any, ...] = self.channel.rows
        return tuple(
            tuple((a - gamma * b) / (1 - gamma) for a, b in zip(row, self.blanket, strict=True)) for row in rows
        )

    def privacy_variance(self, x: int, reference: Sequence[Number]) -> Any:
        r"""Variance of :math:`\ell_0(Y;x,\bot,R)` under a reference law R, that is :math:`\sum(R_x-R_\bot)^2/R`.

        Infinite where the reference misses an output that tells the two apart.
        """
        terms: list[Any] = []
        rows: tuple[Any, ...] = self.channel.rows
        for a, b, mass in zip(rows[x], self.bot, reference, strict=True):
            if equal(a, b) is Verdict.TRUE:
                continue
            if equal(mass, 0) is Verdict.TRUE:
                return float("inf")
            terms.append((a - b) * (a - b) / mass)
        return sum(terms, start=Fraction(0))

    def inverse_square_lower(self) -> Any:
        r""":math:`1/\chi_{lo}^2=\max_x\frac1\gamma\sum_y(R_x-R_\bot)^2/R_{BG}`."""
        gamma: Any = self.gamma
        return maximum(self.privacy_variance(x, self.blanket) for x in range(self.channel.num_inputs)) / gamma

    def inverse_square_upper(self) -> Any:
        r""":math:`1/\chi_{up}^2=\max_{x_1,x}\sum_y(R_{x_1}-R_\bot)^2/R_x`."""
        inputs = range(self.channel.num_inputs)
        return maximum(self.privacy_variance(x1, self.channel.rows[x]) for x1 in inputs for x in inputs)
