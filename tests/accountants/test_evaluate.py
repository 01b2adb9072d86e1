"""What may be asked, which engine answers, and what is said where less was reached."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle import Ball, Channel, Exp, InputError, Law, delta, epsilon, profile, randomizer
from symshuffle.accountants.bounds.chernoff import without_engine
from symshuffle.accountants.bounds.evaluate import Method, evaluate
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.numbers import enclose
from symshuffle.engines import Contour, Exact

KRR = randomizer("krr").at(k=10, eps0=1)


def test_a_curve_has_a_point():
    with pytest.raises(InputError, match="eps"):
        profile(KRR, n=5, eps=[])


def test_what_doubles_do_not_resolve_is_answered_in_balls():
    fine = delta(KRR, n=10**9, eps="0.00003", rtol=1e-11, arithmetic="float64").bracket
    assert "in balls" in fine.evaluation
    assert fine.relative_width <= 1e-11
    usual = delta(KRR, n=10**9, eps="0.00003", arithmetic="float64").bracket
    assert "in balls" not in usual.evaluation
    assert usual.lower <= fine.lower <= fine.upper <= usual.upper


def test_a_width_that_was_not_reached_is_said():
    law = randomizer("krr").at(k=10, eps0=1)
    wide = delta(law, n=1000, eps="0.05", engine=Contour(rtol=1e-2), rtol=1e-12).bracket
    assert wide.aimed == 1e-12
    assert "where 1.0e-12 was aimed at" in wide.evaluation


def test_few_users_in_balls_are_summed_over_counts():
    found = delta(KRR, n=60, eps="0.1", arithmetic="ball").bracket
    assert found.engine == "counts"
    exact = delta(KRR, n=60, eps="0.1", arithmetic="ball", engine=Exact()).bracket
    assert found.lower <= exact.lower <= exact.upper <= found.upper
    assert exact.relative_width < Fraction(1, 10**20)


def test_the_gap_is_a_share_of_the_bound():
    found = delta(KRR, n=1000, eps="0.05", attained=True)
    assert found.gap == 1 - found.attained.lower / found.bracket.upper
    assert 0 <= found.gap < Fraction(1, 100)
    assert delta(KRR, n=1000, eps="0.05").gap is None
    assert delta(KRR, n=1000, eps=1, attained=True).gap == 0


@pytest.mark.parametrize(
    ("name", "values", "eps0", "n", "first_is_largest"),
    [
        ("krr", {"k": 10}, 4, 20, False),
        ("krr", {"k": 10}, 1, 1000, True),
        ("subset-selection", {"k": 10, "s": 8}, 4, 1000, False),
        ("half-block", {"k": 6}, 1, 20, True),
    ],
)
def test_what_is_attained_is_the_most_of_all_real_pairs(name, values, eps0, n, first_is_largest):
    """A pair is passed over only where its delta meets the target at the eps of another: the largest one is left."""
    source = randomizer(name).at(eps0=eps0, **values)
    each = [epsilon(real, n=n, delta="1e-3", rtol=1e-5).bracket for _, real in reduction(source).real_pairs(n)]
    assert (each[0].lower == max(one.lower for one in each)) is first_is_largest
    attained = epsilon(source, n=n, delta="1e-3", rtol=1e-5, attained=True).attained
    assert max(one.lower for one in each) * Fraction(99999, 100000) <= attained.lower <= max(one.upper for one in each)


def test_a_bracket_far_from_the_number_it_is_compared_with_is_narrow_enough():
    """Where H(n) is 0 but for sums that cancel a pass leaves it wide: who compares is not made to wait for more."""
    values, rare = (Fraction(-3), Fraction(0), Fraction(10**4)), Fraction(1, 10**7)
    law = Law(values, (Fraction(1, 2), Fraction(1, 2) - rare, rare))
    asked = Method(engine=Contour(rtol=1e-9), rtol=1e-9)
    fine = evaluate(law, 20, asked)
    near = evaluate(law, 20, replace(asked, goal=fine.lower * 2))
    far = evaluate(law, 20, replace(asked, engine=replace(asked.engine, goal=fine.lower * 10**6)))
    assert (near.lower, near.upper) == (fine.lower, fine.upper)
    assert far.lower <= fine.lower <= fine.upper <= far.upper <= fine.lower * 10**6
    assert far.width > fine.width


@pytest.mark.parametrize("delta", [Fraction(1, 5), Fraction(11, 100)])
def test_a_ratio_of_ten_million_is_searched(delta):
    """Two Gaussians as far apart as these inputs are beyond the doubles, and the search begins elsewhere."""
    rare = Fraction(5, 10**8)
    channel = Channel(((Fraction(1, 2), Fraction(2, 5), Fraction(1, 10)), (rare, 1 - rare, Fraction(0))))
    found, truth = epsilon(channel, n=1, delta=delta).bracket, math.log((Fraction(3, 5) - delta) / rare)
    assert float(found.lower) * (1 - 1e-15) <= truth <= float(found.upper) * (1 + 1e-15) and found.relative_width < 1e-5


def test_a_bound_that_hardly_falls_with_eps_is_searched():
    source, target = randomizer("aug-rr").at(k=50, p="501/10000", eps0="10.335"), Fraction("0.05")
    found = epsilon(source, n=30, delta=target, rtol=1e-4, attained=True)
    below, above = (
        delta(source, n=30, eps=end, arithmetic="ball", rtol=1e-10).bracket
        for end in (found.bracket.lower, found.bracket.upper)
    )
    assert above.upper <= target < below.lower < target * (1 + Fraction(1, 10**6))
    assert found.bracket.width <= found.bracket.upper / 10**4
    assert found.attained.lower == found.bracket.lower  # all of this bound is attained


HALF, UNIT, TINY = Fraction(1, 2), enclose(Exp(Fraction(1, 3)), 200), Fraction(1, 2**500)
WAYS = {
    "units": (Law((-UNIT, 2 * UNIT), (HALF, HALF)), 5, evaluate),
    "larger units": (Law((-TINY, TINY), (HALF, HALF)), 5, evaluate),
    "next to nothing": (Law((Fraction(-1), HALF), (HALF, HALF)), 10**9, evaluate),
    "no engine": (Law((Fraction(-1), HALF), (HALF, HALF)), 50, lambda law, n, _: without_engine(law, n, "")),
}


@pytest.mark.parametrize("way", WAYS)
def test_what_is_revealed_is_at_its_own_ends(way):
    law, n, value = WAYS[way]
    ends = Fraction(1, 8), Fraction(1, 4)
    found = value(replace(law, singular=Ball(*ends)), n, Method())
    low, high = (value(replace(law, singular=end), n, Method()) for end in ends)
    assert found.lower <= low.lower and high.upper <= found.upper
