"""The optimal mixed Gaussian: F and its derivatives by mpmath, the search's cells, and certificates that are false."""

import itertools
from dataclasses import replace
from fractions import Fraction as F

import flint
import mpmath
import pytest
import sympy as sp

from symshuffle.errors import CertificateError, InputError, NotDecided
from symshuffle.numbers import Ball, to_arb, working_precision
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors import optimal
from symshuffle.vectors.indices import shuffle_index
from symshuffle.vectors.optimal import bmg_error, bmg_optimal
from symshuffle.vectors.risk import err1


def error(a, chi, d):
    """F as it is defined."""
    a = mpmath.mpf(a)
    return d / (a**2 * mpmath.log1p((1 - a) / (a * chi) ** 2)) + (1 - a) / a


def mid(ball):
    return float(ball.mid())


@pytest.mark.parametrize("u", [0.01, 0.7, 5.0])
def test_u_over_log_and_two_derivatives(u):
    with working_precision(160):
        found = optimal._gregory_at(flint.arb(u))
    for order, value in enumerate(found):
        assert mid(value) == pytest.approx(float(mpmath.diff(lambda x: x / mpmath.log1p(x), u, order)), rel=1e-8)


def test_on_a_ball_each_lies_between_its_ends():
    """G rises, G' falls, G'' rises: the ball of each is that of the two ends, and no wider."""
    with working_precision(160):
        ball = flint.arb(2).union(flint.arb(1))
        found = optimal._gregory(ball)
        ends = [optimal._gregory_at(flint.arb(end)) for end in (1, 2)]
        for value, one, other in zip(found, *ends, strict=True):
            assert value.contains(one) and value.contains(other)
            assert mid(value.upper() - value.lower()) < 1.0001 * abs(mid(one - other))


@pytest.mark.parametrize(("a", "chi", "d"), [(0.05, 30, 1), (0.3, 4, 7), (0.8, 1.5, 2)])
def test_the_error_and_two_derivatives(a, chi, d):
    with working_precision(160):
        found = optimal._error(flint.arb(a), flint.arb(chi), d)
    for order, value in enumerate(found):
        expected = float(mpmath.diff(lambda x: error(x, chi, d), a, order))
        assert mid(value) == pytest.approx(expected, rel=1e-6)
    symbolic = bmg_error(sp.Float(a, 30), chi, d)
    assert float(symbolic) == pytest.approx(float(error(a, chi, d)))


def test_the_error_on_a_ball_holds_all_of_its_values():
    with working_precision(160):
        found = optimal._error(flint.arb(0.2).union(flint.arb(0.21)), flint.arb(5), 3)
        for a in (0.2, 0.204, 0.21):
            for order, value in enumerate(found):
                assert value.lower() <= float(mpmath.diff(lambda x: error(x, 5, 3), a, order)) * (1 + 1e-9)
                assert value.upper() >= float(mpmath.diff(lambda x: error(x, 5, 3), a, order)) * (1 - 1e-9)


@pytest.mark.parametrize(("chi", "d"), [("30", 1), ("5", 40)])
def test_the_minimiser_is_where_the_slope_vanishes(chi, d):
    found = bmg_optimal(chi, d)
    c = mpmath.mpf(chi)
    start = float(found.share.midpoint)
    root = mpmath.findroot(lambda a: mpmath.diff(lambda x: error(x, c, d), a), start)
    assert start == pytest.approx(float(root), rel=1e-9)
    least = error(mpmath.mpf(found.share.midpoint.numerator) / found.share.midpoint.denominator, c, d)
    assert float(found.bracket.lower) == pytest.approx(float(least), rel=1e-12)
    assert found.bracket.relative_width < 1e-12 and found.share.upper - found.share.lower < F(1, 10**20)
    assert found.bracket.lower <= found.bracket.upper
    for beside in (0.99, 1.01):
        assert error(start * beside, c, d) > least


def test_the_rational_mechanism_has_at_least_the_index_and_nearly_the_error():
    found = bmg_optimal(30, 2)
    mechanism = found.mechanism
    assert abs(1 - mechanism.gamma - found.share.midpoint) < F(1, 10**12)
    assert (mechanism.norm, mechanism.dimension, found.chi) == (1, 2, 30)
    index = shuffle_index(mechanism, "lower", bits=200).bracket
    # The noise is rounded up to 15 decimals: by less than one of them.
    assert index.lower >= 30 and index.upper < F(30) + F(1, 10**12)
    assert float(err1(mechanism)) == pytest.approx(float(found.bracket.upper), rel=1e-12)
    assert (mechanism.sigma0 * 10**15).denominator == 1
    assert err1(mechanism) >= found.bracket.lower


def test_false_optima_fall_on_either_side():
    found = bmg_optimal(30, 2)
    found.verify()
    width = F(1, 1000)
    for bracket in (
        Bracket(found.bracket.upper + width, found.bracket.upper + 2 * width, Rigour.BALL, "cells", "x"),
        Bracket(found.bracket.lower - 2 * width, found.bracket.lower - width, Rigour.BALL, "cells", "x"),
    ):
        with pytest.raises(CertificateError, match="bracket"):
            replace(found, bracket=bracket).verify()
    for share in (
        Ball(found.share.upper + width, found.share.upper + 2 * width),
        Ball(found.share.lower - 2 * width, found.share.lower - width),
    ):
        with pytest.raises(CertificateError, match="share"):
            replace(found, share=share).verify()
    # Wider ones that hold the truth are no lie.
    replace(found, share=Ball(found.share.lower - width, found.share.upper + width)).verify()
    replace(
        found, bracket=Bracket(found.bracket.lower - 1, found.bracket.upper + 1, Rigour.BALL, "cells", "x")
    ).verify()
    told = found.to_dict()
    assert told["chi"] == "30" and told["dimension"] == 2 and told["err1"] == found.bracket.decimals()
    assert told["gamma"] == str(found.mechanism.gamma) and told["sigma0"] == str(found.mechanism.sigma0)
    assert told["share"] == str(found.share)


def test_the_hull_holds_the_minimiser_and_lets_the_rest_go():
    """Outside of the hull F is above its best known value; at its ends the slope has the two signs."""
    share = bmg_optimal(30, 1).share
    known = error(float(share.midpoint), 30, 1)
    with working_precision(160):
        chi = flint.arb(30)
        best = optimal._error(to_arb(F(1, 10)), chi, 1)[0]
        low, high = optimal._hull(F(1, 10), best, chi, 1)
        assert optimal._error(to_arb(low), chi, 1)[1] < 0 < optimal._error(to_arb(high), chi, 1)[1]
        for k in range(1, 100):
            a = k / 100
            if not low <= a <= high:
                assert error(a, 30, 1) > known
        cells = sorted(optimal._kept_cells(F(1, 20), F(1, 2), best, chi, 1))
        assert cells and all(b - a <= F(1, 20) / 2**8 for a, b in cells)
        assert all(left[1] == right[0] for left, right in itertools.pairwise(cells))
        assert cells[0][0] <= share.lower and share.upper <= cells[-1][1]


def test_cells_that_do_not_touch_or_are_not_convex_are_not_decided(monkeypatch):
    with working_precision(160):
        chi = flint.arb(30)
        best = optimal._error(to_arb(F(1, 10)), chi, 1)[0]
        monkeypatch.setattr(optimal, "_kept_cells", lambda *_: iter([(F(1, 10), F(11, 100)), (F(12, 100), F(13, 100))]))
        with pytest.raises(NotDecided):
            optimal._hull(F(1, 10), best, chi, 1)
        # On so wide a ball the sign of the second derivative is not known.
        monkeypatch.setattr(optimal, "_kept_cells", lambda *_: iter([(F(1, 1000), F(999, 1000))]))
        with pytest.raises(NotDecided):
            optimal._hull(F(1, 10), best, chi, 1)
        monkeypatch.setattr(
            optimal, "_kept_cells", lambda *_: iter([(F(10, 100), F(11, 100)), (F(11, 100), F(12, 100))])
        )
        assert optimal._hull(F(1, 10), best, chi, 1) == (F(1, 10), F(3, 25))


def test_too_many_cells_are_not_decided(monkeypatch):
    monkeypatch.setattr(optimal, "MOST_CELLS", 10)
    with pytest.raises(NotDecided, match="10 cells"):
        bmg_optimal(30, 1)


@pytest.mark.parametrize("wrong", [{"chi": 0}, {"chi": -1}, {"dimension": 0}])
def test_out_of_range(wrong):
    with pytest.raises(InputError):
        bmg_optimal(**{"chi": 30, "dimension": 1} | wrong)
