"""Randomizers of one vector in the unit ball, by their parameters, and finite ones with null law and blanket.

Randomizers of one vector in the unit ball, by their parameters.

Each is written here once; indices, risks, samplers and accountants take these objects. Every number is an exact
rational, read as it is written (``0.95`` means nineteen twentieths).

A finite channel together with its null law and its blanket, and its two shuffle indices in rationals.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

from symshuffle.accountants.deployment.reduced import Reducible
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Number, Verdict, as_integer, brief, equal, less, maximum, parse_inside
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.model import privacy_blanket

LARGEST_DIMENSION: Final = 10**12
"""Largest dimension: in larger ones the shares of a sphere are not distinguished from 0 at usual precisions."""


def _read(mechanism: object, dimension: object, least: int, **numbers: tuple[object, str]) -> None:
    """Store numbers of given intervals as rationals, and a number of coordinates of at least ``least``."""
    for name, (value, interval) in numbers.items():
        object.__setattr__(mechanism, name, parse_inside(value, name, interval))
    object.__setattr__(mechanism, "dimension", as_integer(dimension, "dimension", least, LARGEST_DIMENSION))


@final
@dataclass(frozen=True, slots=True, init=False)
class BlanketMixedGaussian(Reducible):
    r"""Gaussian noise around the input or, with probability gamma, around 0.

    The law at :math:`x` is :math:`\gamma N(0,\sigma_0^2I)+(1-\gamma)N(x,\sigma_0^2I)`; that of the null symbol is
    :math:`N(0,\sigma_0^2I)`.

    Parameters
    ----------
    gamma : number or text
        Probability of a message that does not depend on the input, in (0, 1).
    sigma0 : number or text
        Standard deviation of the noise in each coordinate, above 0.
    norm : number or text
        Largest length of an input, in (0, 1].
    dimension : int
        Length d of the vectors.

    Raises
    ------
    InputError
        If a parameter is out of range. The paper's printed range includes gamma = 1, at which the estimator divides by
        zero.

    Notes
    -----
    vecmean, Algorithm 1.

    Examples
    --------
    >>> BlanketMixedGaussian("0.95", "4.6").gamma
    Fraction(19, 20)
    """

    gamma: Fraction
    sigma0: Fraction
    norm: Fraction
    dimension: int

    def __init__(self, gamma: object, sigma0: object, norm: object = 1, dimension: object = 1) -> None:
        _read(self, dimension, 1, gamma=(gamma, "(0, 1)"), sigma0=(sigma0, "(0, inf)"), norm=(norm, "(0, 1]"))


@final
@dataclass(frozen=True, slots=True, init=False)
class PrivUnit(Reducible):
    r"""Uniform point of a cap around the input with probability p, else of the rest.

    The cap is :math:`\{u:\langle u,v\rangle\ge\theta\}` on the unit sphere, for the input v. The law of the null symbol
    is uniform on the sphere.

    Parameters
    ----------
    p : number or text
        Probability of the cap, in (0, 1).
    theta : number or text
        Height of the cap, in (-1, 1).
    dimension : int
        Length d of the vectors, at least 2; inputs are unit vectors.

    Raises
    ------
    InputError
        If a parameter is out of range. At theta = 1 or -1, inside the printed range, the cap or the rest has measure
        zero and there is no density; at p = 0 or 1 there is no blanket.

    Notes
    -----
    vecmean, Definition A.5.
    """

    p: Fraction
    theta: Fraction
    dimension: int

    def __init__(self, p: object, theta: object, dimension: object) -> None:
        _read(self, dimension, 2, p=(p, "(0, 1)"), theta=(theta, "(-1, 1)"))


@final
@dataclass(frozen=True, slots=True, init=False)
class SphereLinear(Reducible):
    r"""Point of the sphere with a density linear in its inner product with the input.

    The density is :math:`1+c\langle u,x\rangle` against the uniform law. The law of the null symbol is uniform; in
    dimension 1 this is randomized response with :math:`p=(1+c)/2`.

    Parameters
    ----------
    c : number or text
        Slope, in (0, 1).
    dimension : int
        Length d of the vectors; inputs are vectors of the unit ball.

    Raises
    ------
    InputError
        If a parameter is out of range; at c = 1 there is no blanket.
    """

    c: Fraction
    dimension: int

    def __init__(self, c: object, dimension: object) -> None:
        _read(self, dimension, 1, c=(c, "(0, 1)"))


@final
@dataclass(frozen=True, slots=True, init=False)
class ClippedLinear(Reducible):
    r"""Point of the sphere with a density linear above a height and constant below it.

    The density at u is :math:`h(\langle u,v\rangle)` with :math:`h(t)=\gamma+\beta(t-t_0)_+`, for the input v. The law
    of the null symbol is uniform on the sphere. Mass 1 and the index determine :math:`\gamma` and :math:`\beta`
    (:func:`symshuffle.vectors.randomizers.sphere.clipped_numbers`).

    Parameters
    ----------
    clip : number or text
        Height t0 in (-1, 1) below which the density is constant.
    dimension : int
        Length of the vectors, at least 2; inputs are unit vectors.
    chi : number or text
        Lower index that the mechanism has exactly, above 0.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    clip: Fraction
    dimension: int
    chi: Fraction

    def __init__(self, clip: object, dimension: object, chi: object) -> None:
        # In dimension 1 there is SphereLinear.
        _read(self, dimension, 2, clip=(clip, "(-1, 1)"), chi=(chi, "(0, inf)"))


@final
@dataclass(frozen=True, slots=True, init=False)
class LocalGaussian(Reducible):
    r"""Gaussian noise added to every input vector.

    The law at x is :math:`N(x,\sigma_0^2I)`; that of the null symbol is :math:`N(0,\sigma_0^2I)`.

    Parameters
    ----------
    sigma0 : number or text
        Standard deviation of the noise in each coordinate, above 0.
    dimension : int
        Length d of the vectors; inputs are vectors of the unit ball.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    vecmean, Section 4.3.
    """

    sigma0: Fraction
    dimension: int

    def __init__(self, sigma0: object, dimension: object = 1) -> None:
        _read(self, dimension, 1, sigma0=(sigma0, "(0, inf)"))


@final
@dataclass(frozen=True, slots=True, init=False)
class LocalLaplace:
    """Laplace noise added to every input in [-1, 1].

    The density at y is :math:`e^{-|y-x|/b}/(2b)`. The law of the null symbol is that of the input 0; the largest
    blanket has the same law.

    Parameters
    ----------
    scale : number or text
        Scale b of the noise, above 0.

    Raises
    ------
    InputError
        If the scale is out of range.
    """

    scale: Fraction

    def __init__(self, scale: object) -> None:
        object.__setattr__(self, "scale", parse_inside(scale, "scale", "(0, inf)"))

    @property
    def dimension(self) -> int:
        """Length of the vectors: 1."""
        return 1


VectorMechanism: TypeAlias = (
    BlanketMixedGaussian | PrivUnit | SphereLinear | ClippedLinear | LocalGaussian | LocalLaplace
)
"""A randomizer of one vector."""


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
