from fractions import Fraction

import pytest

from proofs_checks._convex_order import convex_order, moments_from_average
from symshuffle import InputError, Law, Unsupported
from symshuffle.base.choices import Direction, members
from symshuffle.utility import Contamination
from symshuffle.utility.frontiers.convex_order import average_law, endpoint_law, rigidity_gap, stop_loss

F = Fraction
INNER = Law.from_atoms([(F(2), F("1/5")), (F(1), F("2/5")), (F("1/2"), F("2/5"))])


def test_a_failing_order_names_a_threshold():
    order = convex_order(endpoint_law(F(3)), INNER)
    assert not order.holds
    assert stop_loss(endpoint_law(F(3)), order.threshold) > stop_loss(INNER, order.threshold)


def test_different_means_are_never_ordered():
    assert not convex_order(INNER, Law.from_atoms([(F(0), F("1/2")), (F(4), F("1/2"))])).holds


def test_rigidity_gap_vanishes_for_the_endpoint_law_only():
    for direction in members(Direction):
        assert rigidity_gap(endpoint_law(F(3)), Contamination(3, direction), lam=F(3))[0] == 0
        assert rigidity_gap(INNER, Contamination(3, direction), lam=F(3))[0] > 0
    assert rigidity_gap(INNER, Contamination(3), lam=F(3)) == (F("613/4000"), 1)


def test_large_averages_are_refused():
    with pytest.raises(Unsupported, match="engine"):
        average_law(INNER, 10_000)


def test_laws_must_be_rational():
    with pytest.raises(InputError):
        stop_loss(Law((1.0,), (1.0,)), F(1))


def test_averages_need_somebody():
    for call in (lambda: average_law(INNER, 0), lambda: moments_from_average([F(1)], 0)):
        with pytest.raises(InputError):
            call()
