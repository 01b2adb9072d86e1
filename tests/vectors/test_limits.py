"""A calibration whose search ends before its target says so."""

from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle.vectors import calibrate


def test_a_search_that_ends_before_its_target_names_the_parameter():
    found = calibrate("sphere-linear", n=2_000_000, dimension=1, delta="1e-9", eps=1)
    assert found.certificate.bracket.upper < F(1, 10**90)
    assert found.parameters.c > F(998, 1000)
    assert "c ends at 0.999" in found.limit
    assert found.to_dict()["limit"] == found.limit


@pytest.mark.parametrize(("name", "dimension", "n"), [("sphere-linear", 3, 20_000), ("bmg", 3, 20_000)])
def test_a_target_that_is_reached_has_no_limit(name, dimension, n):
    found = calibrate(name, n=n, dimension=dimension, delta="1e-9", eps=1, gap=None)
    assert found.limit is None
    assert found.certificate.bracket.upper > F(9, 10**10)


def test_numbers_on_one_side_of_zero_get_a_hint_that_halves_the_error():
    from symshuffle.vectors import private_mean

    half = np.linspace(0, 1, 500)[:, None]

    def mean(data):
        return private_mean(data, eps=1, delta="1e-5", mechanism="sphere-linear", rng=np.random.default_rng(1))

    plain, other = mean(half), mean(-half)
    assert "2x - 1" in plain.hint and "2x + 1" in other.hint
    mapped = mean(2 * half - 1)
    assert mapped.hint is None
    assert abs((mapped.mean[0] + 1) / 2 - plain.mean[0]) < 1e-12
    assert float(mapped) / 2 < 0.51 * float(plain)
