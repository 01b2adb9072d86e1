"""The series of the plain Gaussian's index against the closed form, its own inverse, and the index at a noise."""

from fractions import Fraction as F
from math import factorial

import pytest

from symshuffle.base.errors import InputError
from symshuffle.vectors import gaussian_index_series, gaussian_noise_series


def times(p, q):
    """The product of two series to the length of the first."""
    return [sum((p[j] * q[m - j] for j in range(m + 1)), start=F(0)) for m in range(len(p))]


def test_the_index_is_the_inverse_of_the_variance():
    """V(a) chi^2 = 1 with V(a) = exp(4a) - 2 exp(2a) + exp(a), coefficient by coefficient."""
    order = 15
    variance = [F(4**m - 2 * 2**m + 1, factorial(m)) for m in range(1, order + 2)]
    index = [F(1), *gaussian_index_series(order)]
    assert times(variance, index) == [1] + [0] * order


def test_one_series_undoes_the_other():
    """The noise s = X + d0 + d1/X + ... put into chi^2 = s + c0 + c1/s + ... gives X again."""
    order = 9
    noise = [F(1), *gaussian_noise_series(order)]  # times X, in powers of 1/X
    inverse = [F(1)]  # of the noise, times X
    for m in range(1, order + 1):
        inverse.append(-sum((noise[j] * inverse[m - j] for j in range(1, m + 1)), start=F(0)))
    found, power = list(noise), [F(1)] + [F(0)] * order  # powers of 1/s: (inverse / X)^m, shifted by m
    for m, c in enumerate(gaussian_index_series(order)):
        for i in range(m + 1, order + 1):
            found[i] += c * power[i - m - 1]
        power = times(power, inverse)
    assert found == [1] + [0] * order


@pytest.mark.parametrize("series", [gaussian_index_series, gaussian_noise_series])
@pytest.mark.parametrize("order", [0, 101, -1, 2.5, True, "many"])
def test_a_wrong_order_is_named(series, order):
    with pytest.raises(InputError, match="order = "):
        series(order)
