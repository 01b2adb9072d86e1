"""The front door for several rounds: what it answers, what it covers, what it refuses."""

import json
import math
from fractions import Fraction
from functools import cache

import mpmath
import pytest

from symshuffle import Deployment, Group, delta, epsilon, largest_eps0, profile, randomizer, smallest_n, tradeoff
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.rounds.composition_bounds import advanced_epsilon, advanced_slack, basic_epsilon
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian

USERS = 10_000
TARGET = "1e-6"
WIDTH = 4e-3


@cache
def weekly():
    return reduction(randomizer("krr").at(k=4, eps0=1))


@cache
def month():
    return epsilon(weekly(), n=USERS, periods=30, delta=TARGET, attained=True, rtol=WIDTH)


def test_thirty_rounds_are_far_below_basic_composition_and_the_bracket_is_narrow():
    found = month()
    basic, advanced = (float(value) for _, value in found.simpler)
    assert float(found.bracket.upper) < 0.25 < min(basic, advanced)
    assert float(found.bracket.relative_width) <= WIDTH
    assert found.bracket.engine == "rounds"


def test_the_real_pair_is_below_the_bound_and_close_to_it():
    """The constant background with a third input nearly attains the bound of k-RR, in all rounds at once."""
    found = month()
    assert found.attained.lower <= found.bracket.upper
    assert found.attained.lower == pytest.approx(float(found.bracket.lower), rel=1e-4)
    assert "2 x 9999" in found.attained.datasets
    assert "in every round" in found.attained.datasets


def test_it_says_what_is_covered_and_what_is_not():
    told = json.loads(json.dumps(month().to_dict()))
    assert told["rounds"] == 30
    assert told["parts"] == [{"rounds": 30, "n": USERS}]
    for words in ("fresh randomness", "may depend on earlier messages", "sent again", "30 rounds"):
        assert words in told["meaning"]
    assert set(told["simpler"]) == {"basic", "advanced"}


def test_delta_at_the_epsilon_found_is_the_target():
    found = delta(weekly(), n=USERS, periods=30, eps=month().bracket.upper, rtol=5e-2)
    assert found.bracket.lower <= Fraction(TARGET)
    assert float(found.bracket.upper) <= 1.1e-6


def test_one_round_is_the_one_round_answer():
    one = Deployment(weekly())
    assert epsilon(one, n=USERS, delta=TARGET) == epsilon(weekly(), n=USERS, delta=TARGET)
    assert delta(one, n=USERS, eps="0.03") == delta(weekly(), n=USERS, eps="0.03")
    assert epsilon(one, n=USERS, delta=TARGET).rounds == ()


def test_two_halves_are_the_whole_in_any_order():
    whole = month().bracket
    halves = epsilon(
        [Deployment(weekly(), periods=20), Deployment(weekly(), periods=10)], n=USERS, delta=TARGET, rtol=WIDTH
    ).bracket
    other = epsilon(
        [Deployment(weekly(), periods=10), Deployment(weekly(), periods=20)], n=USERS, delta=TARGET, rtol=WIDTH
    ).bracket
    assert float(halves.upper) == pytest.approx(float(whole.upper), rel=1e-9)
    assert float(other.lower) == pytest.approx(float(whole.lower), rel=1e-9)


def test_rounds_may_differ_in_mechanism_and_users():
    small = randomizer("krr").at(k=4, eps0="1/2")
    mixed = epsilon(
        [Deployment(Group(weekly(), USERS), periods=5), Deployment(Group(small, 2 * USERS), periods=5)],
        n=None,
        delta=TARGET,
        rtol=2e-2,
    )
    all_of_one = epsilon(weekly(), n=USERS, periods=10, delta=TARGET, rtol=2e-2)
    five = epsilon(weekly(), n=USERS, periods=5, delta=TARGET, rtol=2e-2)
    assert five.bracket.lower < mixed.bracket.lower
    assert mixed.bracket.upper < all_of_one.bracket.upper
    assert mixed.rounds == ((5, USERS), (5, 2 * USERS))


def test_balls_and_doubles_meet():
    source = Deployment([["2/3", "1/3"], ["1/3", "2/3"]], periods=3)
    balls, doubles = (epsilon(source, n=10, delta="1e-2", rtol=0.2, arithmetic=r).bracket for r in ("ball", "float64"))
    assert balls.arithmetic == "ball"
    assert float(balls.upper) == pytest.approx(float(doubles.upper), rel=1e-2)
    assert float(balls.lower) == pytest.approx(float(doubles.lower), rel=1e-2)


def test_an_asymmetric_source_is_covered_in_both_orders():
    """Rounds may mix the orders: the profile that is used is the larger of both."""
    channel = [["1/2", "1/2"], ["1/5", "4/5"]]
    both = delta(channel, n=3, periods=2, exp_eps="5/2", rtol=2e-2).bracket
    for direction in ("forward", "reverse"):
        with pytest.raises(InputError, match="direction"):
            delta(channel, n=3, periods=2, exp_eps="5/2", direction=direction)
    one = max(delta(channel, n=3, exp_eps="5/2", direction=d).bracket.lower for d in ("forward", "reverse"))
    assert both.lower > one


def test_what_is_revealed_adds_up_over_rounds_and_is_refused_with_its_number():
    erasure = [["1/3", "0", "2/3"], ["0", "1/3", "2/3"]]
    with pytest.raises(Unsupported, match=r"0\.703703 is left, revealed for certain"):
        epsilon(erasure, n=2, periods=3, delta="0.7")
    found = delta(erasure, n=2, periods=3, eps=2).bracket
    assert float(found.lower) == pytest.approx(19 / 27, rel=1e-9)
    assert float(found.upper) == pytest.approx(19 / 27, rel=1e-9)


def test_a_mechanism_that_is_not_local_is_composed_too():
    """The blanket-mixed Gaussian has no finite local level: mass at infinity on the lattice is what is cut off."""
    bmg = BlanketMixedGaussian(Fraction("0.95"), Fraction("4.6"))
    source = reduction(bmg, adjacency="zero-out")
    one = epsilon(source, n=1000, delta="1e-6", rtol=1e-2)
    three = epsilon(source, n=1000, periods=3, delta="1e-6", rtol=0.3)
    assert one.bracket.upper < three.bracket.lower < three.bracket.upper < 3 * one.bracket.upper


def test_inverses_come_back_to_the_source():
    eps = month().bracket.upper
    budget = largest_eps0(randomizer("krr").at(k=4), n=USERS, periods=30, delta=TARGET, eps=eps, rtol=1e-2)
    assert budget.bracket.lower <= 1 <= budget.bracket.upper * Fraction(1001, 1000)
    assert float(budget.bracket.relative_width) <= 1e-2
    users = smallest_n(weekly(), periods=30, delta=TARGET, eps=eps)
    assert users.bracket.lower <= USERS <= users.bracket.upper * Fraction(1001, 1000)
    assert float(users.bracket.relative_width) <= 1.5e-2
    assert "30 rounds" in budget.about
    assert "30 rounds" in users.about


def test_curves_speak_about_all_rounds():
    source = Deployment(weekly(), periods=30)
    curve = profile(source, n=USERS, eps=["0", "0.1", "0.2"], rtol=5e-2)
    values = [float(point.y.upper) for point in curve.points]
    assert values == sorted(values, reverse=True)
    assert "30 rounds" in curve.about
    errors = tradeoff(source, n=USERS, type_i=["0.25", "0.5"], num_levels=6, rtol=5e-2)
    single = tradeoff(weekly(), n=USERS, type_i=["0.25", "0.5"], num_levels=6, rtol=5e-2)
    assert all(a.y.lower < b.y.lower for a, b in zip(errors.points, single.points, strict=True))


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Deployment(weekly(), periods=0), "periods = 0: expected an integer from 1"),
        (lambda: Deployment(weekly(), periods=1.5), "periods = 1.5"),
        (lambda: Deployment(weekly(), periods=10**7), "periods = 10000000"),
        (lambda: epsilon([Deployment(weekly(), periods=10**6), Deployment(weekly())], n=9, delta=TARGET), "1000001"),
        (lambda: Deployment(weekly(), reports=1001, periods=1000), "periods = 1001000"),
        (lambda: epsilon(weekly(), n=None, periods=2, delta=TARGET), "n is missing"),
        (lambda: epsilon([Deployment(Group(weekly(), 5))] * 2, n=6, delta=TARGET), "n = 6: expected none"),
        (lambda: epsilon([Deployment(weekly())] * 2, n=6, periods=3, delta=TARGET), "periods = 3: expected none"),
        (lambda: epsilon([Deployment(weekly())] * 2, n=6, reports=2, delta=TARGET), "reports = 2: expected none"),
        (lambda: epsilon(weekly(), n=5, periods=2, delta=TARGET, arithmetic="exact"), "arithmetic exact"),
        (
            lambda: smallest_n(Deployment(Group(weekly(), 5), periods=2), delta=TARGET, eps=1),
            "n = 5: expected none",
        ),
    ],
)
def test_wrong_input_is_refused_in_one_line(make, message):
    with pytest.raises((InputError, Unsupported)) as refused:
        make()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_the_smallest_of_all_theorems_is_returned():
    """At a level that one round never passes, basic composition says 0 where a lattice only says little."""
    found = delta([["2/3", "1/3"], ["1/3", "2/3"]], n=2, periods=2, exp_eps=5, rtol=0.1)
    assert found.bracket.upper == 0


LEVELS = (
    ((Fraction(1, 2), 4),),
    ((Fraction(1, 10), 30), (Fraction(3, 2), 2)),
    ((Fraction(1, 1000), 7), (Fraction(0), 3)),
)


@pytest.mark.parametrize("levels", LEVELS)
@pytest.mark.parametrize("slack", [Fraction(1, 10**6), Fraction(1, 3), Fraction(99, 100)])
def test_the_advanced_theorem_in_other_arithmetic(levels, slack):
    with mpmath.workdps(50):
        known = [(mpmath.mpf(eps.numerator) / eps.denominator, times) for eps, times in levels]
        drift = sum(times * eps * (mpmath.exp(eps) - 1) / (mpmath.exp(eps) + 1) for eps, times in known)
        square = sum(times * eps**2 for eps, times in known)
        expected = drift + mpmath.sqrt(2 * mpmath.log(mpmath.mpf(slack.denominator) / slack.numerator) * square)
        found = advanced_epsilon(levels, slack)
        assert 0 <= found - Fraction(mpmath.nstr(expected, 45)) < Fraction(1, 10**30)
        room = Fraction(mpmath.nstr(drift, 45)) + Fraction(1, 7)
        expected = mpmath.exp(-mpmath.mpf(1) / 49 / (2 * square))
        assert abs(advanced_slack(levels, room) / Fraction(mpmath.nstr(expected, 45)) - 1) < Fraction(1, 10**20)


def test_where_the_advanced_theorem_says_nothing_the_basic_one_does():
    levels = [(Fraction(1, 4), 2), (Fraction(4), 1)]
    assert basic_epsilon(levels) == Fraction(9, 2)
    assert advanced_slack(levels, Fraction(1)) == 1
    assert advanced_slack(levels, Fraction(0)) == 1
    zeros = [(Fraction(0), 5)]
    assert basic_epsilon(zeros) == 0 and advanced_slack(zeros, Fraction(0)) == 0 == advanced_slack(zeros, Fraction(1))
    for slack in (Fraction(0), Fraction(1)):
        with pytest.raises(InputError, match="slack"):
            advanced_epsilon(levels, slack)


@pytest.mark.parametrize("n", [1, 3])
def test_few_users_whose_profile_ends_get_lattices_that_end_there(n):
    # A level beside the end would lose a step of it; one user twice has the losses -2, 0 and 2, with known masses.
    found = epsilon(randomizer("krr").at(k=3, eps0=1), n=n, periods=2, delta="1e-6")
    low, high = found.bracket.lower, found.bracket.upper
    assert high - low <= high / 10**5 and high < 2
    if n == 1:
        e = math.e
        kept = (e / (e + 2)) ** 2  # P(loss = 2); below 2 delta is kept (1 - exp(eps - 2)) near the end
        assert float(low) - 1e-9 <= 2 + math.log1p(-1e-6 / kept) <= float(high) + 1e-9
