r"""Both power series between the noise of the plain Gaussian randomizer and its shuffle index.

With :math:`a=1/\sigma_0^2` the inverse square of the upper index is :math:`V(a)=e^{4a}-2e^{2a}+e^a`, so that all
coefficients are rational and follow from those of :math:`V(a)/a`.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from symshuffle.base.numbers import as_integer

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
