"""Randomizers of one vector in the unit ball, by their parameters.

Each is written here once; indices, risks, samplers and accountants take these objects. Every number is an exact
rational, read as it is written (``0.95`` means nineteen twentieths).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

from symshuffle.accountants.deployment.reduced import Reducible
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, parse_rational

LARGEST_DIMENSION: Final = 10**12
"""Most coordinates of a vector: in more of them the shares of a sphere are told from 0 at no usual precision."""


def _number(mechanism: object, name: str, *, above: int, below: int | None = None, closed: bool = False) -> None:
    """Read the field ``name`` as a rational in (above, below), or (above, below] if closed, and store it."""
    value = parse_rational(getattr(mechanism, name), name)
    inside = value > above and (below is None or value < below or (closed and value == below))
    if not inside:
        interval = f"a number > {above}" if below is None else f"a number in ({above}, {below}{']' if closed else ')'}"
        raise InputError(name, value, interval)
    object.__setattr__(mechanism, name, value)


def _dimension(mechanism: object, least: int) -> None:
    """Read the field ``dimension`` as an integer in its range, and store it."""
    given = getattr(mechanism, "dimension")  # noqa: B009  # of any of the classes below
    read = as_integer(given, "dimension", least, LARGEST_DIMENSION)
    object.__setattr__(mechanism, "dimension", read)


@final
@dataclass(frozen=True, slots=True)
class BlanketMixedGaussian(Reducible):
    r"""Gaussian noise around the input or, with probability gamma, around 0.

    The law at :math:`x` is :math:`\gamma N(0,\sigma_0^2I)+(1-\gamma)N(x,\sigma_0^2I)`; that of the null symbol is
    :math:`N(0,\sigma_0^2I)`.

    Parameters
    ----------
    gamma : Fraction
        Probability of a message that does not depend on the input, in (0, 1).
    sigma0 : Fraction
        Standard deviation of the noise in each coordinate, above 0.
    norm : Fraction
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
    norm: Fraction = Fraction(1)
    dimension: int = 1

    def __post_init__(self) -> None:
        _number(self, "gamma", above=0, below=1)
        _number(self, "sigma0", above=0)
        _number(self, "norm", above=0, below=1, closed=True)
        _dimension(self, 1)


@final
@dataclass(frozen=True, slots=True)
class PrivUnit(Reducible):
    r"""Uniform point of a cap around the input with probability p, else of the rest.

    The cap is :math:`\{u:\langle u,v\rangle\ge\theta\}` on the unit sphere, for the input v. The law of the null symbol
    is uniform on the sphere.

    Parameters
    ----------
    p : Fraction
        Probability of the cap, in (0, 1).
    theta : Fraction
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

    def __post_init__(self) -> None:
        _number(self, "p", above=0, below=1)
        _number(self, "theta", above=-1, below=1)
        _dimension(self, 2)


@final
@dataclass(frozen=True, slots=True)
class SphereLinear(Reducible):
    r"""Point of the sphere with a density linear in its inner product with the input.

    The density is :math:`1+c\langle u,x\rangle` against the uniform law. The law of the null symbol is uniform; in
    dimension 1 this is randomized response with :math:`p=(1+c)/2`.

    Parameters
    ----------
    c : Fraction
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

    def __post_init__(self) -> None:
        _number(self, "c", above=0, below=1)
        _dimension(self, 1)


@final
@dataclass(frozen=True, slots=True)
class ClippedLinear(Reducible):
    r"""Point of the sphere with a density linear above a height and constant below it.

    The density at u is :math:`h(\langle u,v\rangle)` with :math:`h(t)=\gamma+\beta(t-t_0)_+`, for the input v. The law
    of the null symbol is uniform on the sphere. Mass 1 and the index determine :math:`\gamma` and :math:`\beta`
    (:func:`symshuffle.vectors.randomizers.clipped.clipped_numbers`).

    Parameters
    ----------
    clip : Fraction
        Height t0 in (-1, 1) below which the density is constant.
    dimension : int
        Length of the vectors, at least 2; inputs are unit vectors.
    chi : Fraction
        Lower index that the mechanism has exactly, above 0.

    Raises
    ------
    InputError
        If a parameter is out of range.
    """

    clip: Fraction
    dimension: int
    chi: Fraction

    def __post_init__(self) -> None:
        _number(self, "clip", above=-1, below=1)
        _number(self, "chi", above=0)
        _dimension(self, 2)  # in dimension 1 there is SphereLinear


@final
@dataclass(frozen=True, slots=True)
class LocalGaussian(Reducible):
    r"""Gaussian noise added to every input vector.

    The law at x is :math:`N(x,\sigma_0^2I)`; that of the null symbol is :math:`N(0,\sigma_0^2I)`.

    Parameters
    ----------
    sigma0 : Fraction
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
    dimension: int = 1

    def __post_init__(self) -> None:
        _number(self, "sigma0", above=0)
        _dimension(self, 1)


@final
@dataclass(frozen=True, slots=True)
class LocalLaplace:
    """Laplace noise added to every input in [-1, 1].

    The density at y is :math:`e^{-|y-x|/b}/(2b)`. The law of the null symbol is that of the input 0; the largest
    blanket has the same law.

    Parameters
    ----------
    scale : Fraction
        Scale b of the noise, above 0.

    Raises
    ------
    InputError
        If the scale is out of range.
    """

    scale: Fraction

    def __post_init__(self) -> None:
        _number(self, "scale", above=0)

    @property
    def dimension(self) -> int:
        """Length of the vectors: 1."""
        return 1


@final
@dataclass(frozen=True, slots=True)
class CentralGaussian:
    r"""Mean of n vectors plus Gaussian noise, released by a trusted curator.

    The noise is :math:`(\sigma/\sqrt n)N(0,I)`.

    Parameters
    ----------
    sigma : Fraction
        Standard deviation of the noise in each coordinate times the square root of n, above 0.
    dimension : int
        Length d of the vectors; inputs are vectors of the unit ball.

    Raises
    ------
    InputError
        If a parameter is out of range.

    Notes
    -----
    vecmean, equation (1).
    """

    sigma: Fraction
    dimension: int

    def __post_init__(self) -> None:
        _number(self, "sigma", above=0)
        _dimension(self, 1)


VectorMechanism: TypeAlias = (
    BlanketMixedGaussian | PrivUnit | SphereLinear | ClippedLinear | LocalGaussian | LocalLaplace
)
"""A randomizer of one vector (the central mechanism sees all of them)."""
