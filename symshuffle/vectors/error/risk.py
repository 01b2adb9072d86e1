r"""Exact squared errors of the unbiased estimators, and series of the index of Gaussian noise.

Exact squared errors of the unbiased estimators, the lower bound by the upper index, and shrinkage.

With the estimate ``message / m`` every mechanism here has, at an input of squared length s, the error ``a + b s`` for
two numbers a and b. So the worst case is at s = 0 or at the largest s.

Both power series between the noise of the plain Gaussian randomizer and its shuffle index.

With :math:`a=1/\sigma_0^2` the inverse square of the upper index is :math:`V(a)=e^{4a}-2e^{2a}+e^a`, so that all
coefficients are rational and follow from those of :math:`V(a)/a`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Final

from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    as_integer,
    maximum,
    parse_inside,
    to_arb,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.randomizers.mechanisms import (
    LARGEST_DIMENSION,
    BlanketMixedGaussian,
    ClippedLinear,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
    VectorMechanism,
)
from symshuffle.vectors.randomizers.sphere import cap_numbers, clipped_numbers


def mixed_gaussian_risk(gamma: Any, sigma0: Any, dimension: Any) -> tuple[Any, Any]:
    r"""The pair :math:`d\sigma_0^2/(1-\gamma)^2`, :math:`\gamma/(1-\gamma)` of the mixed Gaussian.

    In numbers or in symbols (vecmean, equation (38)).
    """
    rest = 1 - gamma
    return dimension * (sigma0 / rest) ** 2, gamma / rest


def affine_risk(mechanism: VectorMechanism, *, bits: int = DEFAULT_BITS) -> tuple[Number, Number, Fraction]:
    r"""The triple (a, b, s) with :math:`E|\hat x-x|^2=a+b|x|^2` for :math:`|x|^2\le s`.

    For PrivUnit and the clipped density the input is first rounded to the sphere where it is shorter than 1
    (:func:`~symshuffle.vectors.randomizers.sampling.round_to_sphere`).
    """
    one, d = Fraction(1), mechanism.dimension
    match mechanism:
        case BlanketMixedGaussian():
            return *mixed_gaussian_risk(mechanism.gamma, mechanism.sigma0, d), mechanism.norm**2
        case SphereLinear():
            return (d / mechanism.c) ** 2, -one, one
        case PrivUnit():
            m: Any = cap_numbers(mechanism, bits=bits).shrinkage
            return 1 / (m * m), -one, one
        case ClippedLinear():
            mean: Any = clipped_numbers(mechanism, bits=bits)[2]
            return 1 / (mean * mean), -one, one
        case LocalLaplace():
            return 2 * mechanism.scale**2, Fraction(0), one
        case _:
            return d * mechanism.sigma0**2, Fraction(0), one


def err1(mechanism: VectorMechanism, *, on_sphere: bool = False, bits: int = DEFAULT_BITS) -> Number:
    """Worst-case squared error of one user's estimate.

    Parameters
    ----------
    mechanism : VectorMechanism
        The randomizer, with its unbiased estimator.
    on_sphere : bool
        Whether inputs are known to have full length, as PrivUnit's are by definition; default: any vector of the ball.
    bits : int
        Working precision where the error is not rational, at least 2.

    Returns
    -------
    Number
        A fraction where the error is rational, and otherwise a ball.

    Raises
    ------
    InputError
        If ``bits`` is no integer of at least 2.

    Notes
    -----
    vecmean, equations (3), (33), (38) and (56).

    Examples
    --------
    >>> err1(BlanketMixedGaussian("0.95", "4.6"))
    Fraction(8483, 1)
    """
    parts: tuple[Any, ...] = affine_risk(mechanism, bits=as_integer(bits, "bits", 2))
    at_edge: Any = parts[0] + parts[1] * parts[2]
    worst: Number = at_edge if on_sphere else maximum([parts[0], at_edge])
    return worst


def central_error(sigma: object, dimension: int, n: int) -> Fraction:
    r"""Mean squared error of a mean that a curator releases with Gaussian noise.

    It is :math:`d\sigma^2/n`: the noise is :math:`(\sigma/\sqrt n)N(0,I)`.

    Parameters
    ----------
    sigma : number or text
        Standard deviation of the noise in each coordinate times the square root of n, above 0.
    dimension : int
        Length d of the vectors, at least 1.
    n : int
        Number of users, at least 1.

    Returns
    -------
    Fraction
        The error, exactly.

    Raises
    ------
    InputError
        If an argument is out of range.

    Notes
    -----
    vecmean, equations (1) and (3).

    Examples
    --------
    >>> central_error(2, 3, 10)
    Fraction(6, 5)
    """
    scale = parse_inside(sigma, "sigma", "(0, inf)")
    return as_integer(dimension, "dimension", 1, LARGEST_DIMENSION) * scale**2 / as_integer(n, "n", 1)


def errn(mechanism: VectorMechanism, n: int, *, bits: int = DEFAULT_BITS) -> Number:
    """Worst-case squared error of the mean of n estimates.

    It is 1/n of one user's error.

    Parameters
    ----------
    mechanism : VectorMechanism
        The randomizer.
    n : int
        Number of users, at least 1.
    bits : int
        Working precision where the error is not rational, at least 2.

    Returns
    -------
    Number
        A fraction where the error is rational, and otherwise a ball.

    Raises
    ------
    InputError
        If ``n`` or ``bits`` is out of range.

    Notes
    -----
    vecmean, equations (2) and (3).

    Examples
    --------
    >>> errn(BlanketMixedGaussian("0.95", "4.6"), 1000)
    Fraction(8483, 1000)
    """
    n, bits = as_integer(n, "n", 1), as_integer(bits, "bits", 2)
    single: Any = err1(mechanism, bits=bits)
    mean: Number = single / n
    return mean


def hcr_bound(mechanism: VectorMechanism, *, bits: int = DEFAULT_BITS) -> Bracket:
    r"""Lower bound on the squared error of every unbiased estimator.

    It is :math:`d\chi_{up}^2`, dimension times squared upper index.

    Parameters
    ----------
    mechanism : VectorMechanism
        The randomizer.
    bits : int
        Working precision, at least 2.

    Returns
    -------
    Bracket
        Around the bound.

    Raises
    ------
    InputError
        If the upper index is infinite, or ``bits`` is out of range.

    Notes
    -----
    vecmean, Theorem 3.5.

    Examples
    --------
    >>> round(float(hcr_bound(BlanketMixedGaussian("0.95", "4.6")).lower), 1)
    8243.8
    """
    bits = as_integer(bits, "bits", 2)
    index = shuffle_index(mechanism, "upper", bits=bits)
    with working_precision(bits):
        bound = Ball.from_arb(mechanism.dimension / to_arb(index.inverse_square), bits)
    return Bracket(
        bound.lower, bound.upper, "ball", "index", f"dimension times squared upper index: {index.evaluation}"
    )


_LARGEST_ORDER: Final = 100
"""Number of coefficients up to which a series is computed; the time grows with its cube."""


def gaussian_index_series(order: int) -> tuple[Fraction, ...]:
    r"""Series of the squared index of the plain Gaussian randomizer in its noise.

    They are :math:`c_0,c_1,\dots` of :math:`\chi^2=s+c_0+c_1/s+c_2/s^2+\dots` with :math:`s=\sigma_0^2`.

    Parameters
    ----------
    order : int
        Number of coefficients, from 1 to 100.

    Returns
    -------
    tuple of Fraction
        ``order`` coefficients. The series converges for large ``s``; nothing is said about its remainder.

    Raises
    ------
    InputError
        If ``order`` is out of range.

    Examples
    --------
    >>> [str(c) for c in gaussian_index_series(3)]
    ['-9/2', '145/12', '-27']

    Notes
    -----
    vecmean, equation (60).
    """
    order = as_integer(order, "order", 1, _LARGEST_ORDER)
    return tuple(_power(-1, order + 1)[1:])


def gaussian_noise_series(order: int) -> tuple[Fraction, ...]:
    r"""Series of the noise of the plain Gaussian randomizer in its squared index.

    They are :math:`d_0,d_1,\dots` of :math:`\sigma_0^2=X+d_0+d_1/X+d_2/X^2+\dots` with :math:`X=\chi^2`.

    Parameters
    ----------
    order : int
        Number of coefficients, from 1 to 100.

    Returns
    -------
    tuple of Fraction
        ``order`` coefficients. The series converges for large ``X``; nothing is said about its remainder.

    Raises
    ------
    InputError
        If ``order`` is out of range.

    Examples
    --------
    >>> [str(d) for d in gaussian_noise_series(3)]
    ['9/2', '-145/12', '651/8']

    Notes
    -----
    vecmean, equation (61). By Lagrange's inversion the coefficient of :math:`y^m` in :math:`1/a(y)`, where
    :math:`V(a(y))=y`, is :math:`-\frac1m[a^{m+1}](V/a)^{-m}`.
    """
    order = as_integer(order, "order", 1, _LARGEST_ORDER)
    return (-_power(-1, 2)[1], *(-_power(-m, m + 2)[m + 1] / m for m in range(1, order)))


def _power(exponent: int, terms: int) -> list[Fraction]:
    """The first coefficients of a power of V(a)/a, by Miller's recurrence."""
    variance, factorial = [], 1
    for m in range(1, terms + 1):
        factorial *= m
        variance.append(Fraction(4**m - 2 * 2**m + 1, factorial))
    found = [Fraction(1)]
    for m in range(1, terms):
        products = ((exponent * j - (m - j)) * variance[j] * found[m - j] for j in range(1, m + 1))
        found.append(sum(products, start=Fraction(0)) / m)
    return found
