"""The least error of unbiased estimators: a channel solved by hand, certificates that are false, n users by hand."""

from dataclasses import replace
from fractions import Fraction as F

import pytest

from symshuffle.channel import Channel
from symshuffle.errors import CertificateError, InputError
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors import minimal_risk
from symshuffle.vectors.minimal_risk import (
    minimal_unbiased_risk,
    product_weights,
    shuffled_problem,
    weighted_minimum,
)

BIT = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
ENDS = ((F(1),), (F(-1),))


def test_the_only_unbiased_estimate_of_a_bit():
    """A square channel has one unbiased estimate: +-2, with the error 4 - 1 at either input and for any weights."""
    for weights in ((F(1, 2), F(1, 2)), (F(1, 5), F(4, 5))):
        least, estimator = weighted_minimum(BIT, ENDS, weights)
        assert estimator == ((F(2),), (F(-2),)) and least == 3


def test_a_free_output_is_used_where_weights_say():
    """Three outputs, one input pair: of x_0/2 + x_1/2 = 1 with masses m the least sum of m x^2 is by hand.

    Both inputs send output 2 with probability 1/2; by symmetry its estimate is 0, and the rest is 2 and -2: error 1.
    """
    erased = Channel.from_rows([["1/2", 0, "1/2"], [0, "1/2", "1/2"]])
    least, estimator = weighted_minimum(erased, ENDS, (F(1, 2), F(1, 2)))
    assert estimator == ((F(2),), (F(-2),), (F(0),)) and least == 1
    skew, moved = weighted_minimum(erased, ENDS, (F(1, 4), F(3, 4)))
    t = moved[2][0]
    assert moved[0][0] == 2 - t and moved[1][0] == -2 - t
    errors = ((2 - t) ** 2 / 2 + t**2 / 2 - 1, (2 + t) ** 2 / 2 + t**2 / 2 - 1)
    assert skew == errors[0] / 4 + 3 * errors[1] / 4
    # Its derivative -(2 - t)/4 + 3 (2 + t)/4 + t vanishes at t = -1/2.
    assert t == F(-1, 2) and minimal_risk._errors(erased, ENDS, moved) == list(errors)


def test_two_coordinates_are_added():
    targets = ((F(1), F(2)), (F(-1), F(0)))
    least, estimator = weighted_minimum(BIT, targets, (F(1, 2), F(1, 2)))
    assert estimator == ((F(2), F(3)), (F(-2), F(-1)))
    assert minimal_risk._errors(BIT, targets, estimator) == [F(3, 4) * 13 + F(1, 4) * 5 - 5, F(13, 4) + F(15, 4) - 1]
    assert least == 6


def test_systems_with_and_without_solutions():
    one = ((F(1), F(2)), (F(2), F(4)))
    found = minimal_risk._solve(one, ((F(3),), (F(6),)))
    assert found[0][0] + 2 * found[1][0] == 3
    assert minimal_risk._solve(one, ((F(3),), (F(7),))) is None
    assert minimal_risk._solve(((F(2),),), ((F(1), F(-3)),)) == ((F(1, 2), F(-3, 2)),)


def test_what_no_estimator_meets_is_refused():
    same = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    with pytest.raises(InputError, match="targets = not in the range"):
        weighted_minimum(same, ENDS, (F(1, 2), F(1, 2)))
    erased = Channel.from_rows([["1/2", 0, "1/2"], [0, "1/2", "1/2"]])
    with pytest.raises(InputError, match="positive probability"):
        weighted_minimum(erased, ENDS, (F(1), F(0)))
    for targets in ([[1]], [[1], [2], [3]], [[1], [1, 2]]):
        with pytest.raises(InputError, match="targets"):
            minimal_unbiased_risk(BIT, targets)


@pytest.fixture
def found():
    return minimal_unbiased_risk(BIT, ENDS)


def test_a_certificate_and_false_ones(found):
    assert found.bracket.exact == 3 and float(found) == 3 and found.bracket.rigour is Rigour.EXACT
    found.verify()

    def ends(low, high):
        return Bracket(F(low), F(high), Rigour.BALL, "cone program", "test")

    replace(found, bracket=ends(2, 4)).verify()
    for false, place in (
        (replace(found, weights=(F(1, 2), F(1, 3))), "weights"),
        (replace(found, weights=(F(3, 2), F(-1, 2))), "weights"),
        (replace(found, estimator=((F(2),), (F(-201, 100),))), "estimator"),
        (replace(found, bracket=ends(2, "2.999")), "bracket.upper"),
        (replace(found, bracket=ends("3.001", 4)), "bracket.lower"),
    ):
        with pytest.raises(CertificateError, match=place):
            false.verify()
    told = found.to_dict()
    assert told["estimator"] == [["2"], ["-2"]] and told["risk"] == found.bracket.decimals()
    assert sum(F(weight) for weight in told["weights"]) == 1
    third = replace(found, bracket=ends(0, F(1, 3)))
    assert F(float(third)) >= F(1, 3) and float(third) < 0.3333333333333335


def test_weights_that_are_not_uniform_are_proposed():
    """Inputs 1, -1 and 1/2 of a bit that is kept less often at 1: the uniform weights are not the best ones."""
    channel = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/5", "3/5", "1/5"], ["1/8", "1/8", "3/4"]])
    found = minimal_unbiased_risk(channel, [[1], [-1], [0]])
    assert found.bracket.relative_width < 1e-6
    assert sum(found.weights) == 1 and min(found.weights) >= 0


def test_the_problem_of_two_users_as_one_channel():
    """Datasets up to order 00, 01, 11; histograms of two messages; means 1, 0 and -1."""
    channel, means = shuffled_problem(BIT, ENDS, 2)
    assert means == ((F(1),), (F(0),), (F(-1),))
    rows = sorted(tuple(sorted(row)) for row in channel.rows)
    assert rows == sorted(
        [
            tuple(sorted((F(9, 16), F(6, 16), F(1, 16)))),
            tuple(sorted((F(3, 16), F(10, 16), F(3, 16)))),
            tuple(sorted((F(9, 16), F(6, 16), F(1, 16)))),
        ]
    )
    with pytest.raises(InputError, match="n"):
        shuffled_problem(BIT, ENDS, 0)


def test_the_size_of_the_problem_is_limited(monkeypatch):
    """Three histograms times three datasets."""
    monkeypatch.setattr(minimal_risk, "LARGEST_PROGRAM", 9)
    assert shuffled_problem(BIT, ENDS, 2)[0].num_inputs == 3
    monkeypatch.setattr(minimal_risk, "LARGEST_PROGRAM", 8)
    with pytest.raises(InputError, match="at most 8 histograms times datasets, not 9"):
        shuffled_problem(BIT, ENDS, 2)


def test_datasets_drawn_from_weights_are_multinomial():
    assert product_weights((F(1, 4), F(3, 4)), 2) == (F(1, 16), F(6, 16), F(9, 16))
    three = product_weights((F(1, 2), F(1, 3), F(1, 6)), 3)
    assert sum(three) == 1 and len(three) == 10
    assert three[0] == F(1, 8) and three[4] == 6 * F(1, 36)  # 000; one of each
