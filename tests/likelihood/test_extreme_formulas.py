"""Extreme chi-squares: matrices written out by hand, chi-squares recomputed from rows, and what is refused."""

import math
from fractions import Fraction as F

import pytest
import sympy as sp

from symshuffle import Channel, Exp, InputError, Unsupported
from symshuffle.likelihood.extremes import (
    bhatia_davis_bound,
    check_attainable,
    dilute,
    endpoint_ratio,
    gaussian_scale,
    half_block_channel,
    identifiable_half_block,
    identifiable_obstruction,
    largest_chi_square,
    matrix_rank,
    mixing_loss,
    read_cap,
)
from symshuffle.numbers import Ball


def chi_square(row, base):
    return sum((x - y) ** 2 / y for x, y in zip(row, base, strict=True) if y)


@pytest.mark.parametrize(("low", "high", "mass"), [(F(-1), F(4), F(1, 3)), (F(0), F(1), F(1, 2)), (F(2), F(2), F(1))])
def test_the_largest_variance_is_that_of_the_end_points(low, high, mass):
    mean = mass * low + (1 - mass) * high
    variance = mass * low**2 + (1 - mass) * high**2 - mean**2
    assert bhatia_davis_bound(mean, low, high) == variance


def test_means_at_the_ends_are_allowed_and_beyond_them_not():
    assert bhatia_davis_bound(F(0), 0, 1) == bhatia_davis_bound(F(1), 0, 1) == 0
    for mean in (F(-1, 10**6), 1 + F(1, 10**6)):
        with pytest.raises(InputError, match=r"^mean"):
            bhatia_davis_bound(mean, 0, 1)
    m, u, v = sp.symbols("m u v")
    assert bhatia_davis_bound(m, u, v) == (v - m) * (m - u)


def test_the_largest_chi_square_is_that_of_binary_response():
    """Rows (1, lam)/(1 + lam) and (lam, 1)/(1 + lam); at lam = 1 nothing."""
    for lam in (F(1), F(2), F(7, 3)):
        row = (1 / (1 + lam), lam / (1 + lam))
        assert largest_chi_square(lam) == chi_square(row, row[::-1])
    for lam in (F(2), F(7, 3)):
        assert set(endpoint_ratio(lam).atoms()) == {(1 / lam, lam / (1 + lam)), (lam, 1 / (1 + lam))}
    assert float(largest_chi_square(Exp(F(1)))) == pytest.approx((math.e - 1) ** 2 / math.e, rel=1e-14)


def test_the_gaussian_parameter_is_the_root_of_the_variance():
    found = gaussian_scale(F(4, 3), 3)
    assert found.lower <= F(2, 3) <= found.upper and found.upper - found.lower < F(1, 2**100)
    assert float(gaussian_scale(F(2), 1)) == pytest.approx(math.sqrt(2), rel=1e-15)
    assert gaussian_scale(F(0), 1).lower <= 0 <= gaussian_scale(F(0), 1).upper
    with pytest.raises(InputError, match=r"^chi_square"):
        gaussian_scale(F(-1, 10**9), 1)
    with pytest.raises(InputError, match=r"^n "):
        gaussian_scale(F(1), 0)


def test_which_budgets_are_attainable():
    for chi in (F(0), F(4, 3)):
        check_attainable(chi, F(3))
    for chi in (F(-1, 10**9), F(4, 3) + F(1, 10**9), 0.5):
        with pytest.raises(InputError, match=r"^chi_square"):
            check_attainable(chi, F(3))


def test_caps_that_are_read():
    assert read_cap(1) == 1 and isinstance(read_cap(1), F)
    assert read_cap(F(1)) == 1
    assert isinstance(read_cap(Exp(F(1))), Ball)
    assert read_cap(sp.Symbol("lam")) == sp.Symbol("lam")
    for lam in (0, F(999, 1000), 2.0, Ball(F(1, 4), F(1, 2))):
        with pytest.raises(InputError, match=r"^lam"):
            read_cap(lam)


def test_diluted_rows():
    channel = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    assert dilute(channel, F(1, 3)).rows == ((F(1, 4), F(1, 12), F(2, 3)), (F(1, 12), F(1, 4), F(2, 3)))
    assert dilute(channel, F(1)).rows == channel.rows
    assert dilute(channel, F(0)).rows == ((F(1),), (F(1),))


def test_the_half_block_channel_of_four():
    """Input j hits the outputs j and j + 1 (cyclically) with weight 2 of 6, the others with 1; 0 is opposite to 2."""
    rows = half_block_channel(4, F(2)).rows
    assert sorted(rows[0]) == [F(1, 6), F(1, 6), F(1, 3), F(1, 3)]
    assert all(x * y == F(1, 18) for x, y in zip(rows[0], rows[2], strict=True))
    assert half_block_channel(2, F(3)).rows == ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4)))


def test_the_obstruction_of_two_and_four_by_hand():
    """High 3/8 and low 1/8 at k = 4, the mean 1/4, moves of (3/8 - 1/8)/2."""
    e, q, t = F(1, 8), F(1, 4), F(3, 8)
    assert identifiable_obstruction(4, F(3)).rows == ((e, e, t, t), (t, t, e, e), (t, e, q, q), (q, q, t, e))
    assert identifiable_obstruction(2, 3).rows == ((q, 3 * q), (3 * q, q))
    for k in (0, 3):
        with pytest.raises(InputError, match=r"^k = "):
            identifiable_obstruction(k, F(3))
    for lam in (F(1), 1.5):
        with pytest.raises(InputError, match=r"^lam = "):
            identifiable_obstruction(4, lam)
    assert matrix_rank(identifiable_obstruction(4, 1 + F(1, 100))) == 4


@pytest.mark.parametrize(("k", "lam", "tau"), [(4, F(3), F(1, 2)), (6, F(2), F(1, 3)), (2, F(5), F(1, 4))])
def test_what_mixing_in_response_costs(k, lam, tau):
    channel = identifiable_half_block(k, lam, tau)
    found = chi_square(channel.rows[0], channel.rows[k // 2])
    assert found == (lam - 1) ** 2 / lam - mixing_loss(k, lam, tau)
    assert matrix_rank(channel) == k
    assert channel.num_outputs == 2 * k
    assert sum(channel.rows[0][:k]) == 1 - tau


def test_ranks():
    assert matrix_rank(half_block_channel(6, F(2))) == 4  # k/2 + 1
    assert matrix_rank(Channel.from_rows([["1/2", "1/2"]] * 2)) == 1
    with pytest.raises(Unsupported, match="rationals"):
        matrix_rank(Channel.from_rows([[0.5, 0.5], [0.25, 0.75]]))
    with pytest.raises(InputError, match=r"^tau"):
        identifiable_half_block(4, F(2), F(-1, 9))
