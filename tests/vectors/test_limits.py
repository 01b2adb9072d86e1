"""A calibration whose search ends before its target says so."""

from fractions import Fraction as F

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
