"""Brackets for vectors: reference values, both orders, an independent witness, and error terms that matter."""

import math
from dataclasses import replace
from fractions import Fraction

import flint
import pytest
from scipy import integrate

from proofs_checks.vecmean._margin import order_margin
from symshuffle import Ball, Exp, InputError, NotDecided, Unsupported, delta
from symshuffle.accountants.bounds.evaluate import Method, evaluate, evaluate_law
from symshuffle.base.choices import Direction, members
from symshuffle.base.numbers import lower_end
from symshuffle.channels.continuous_law import ContinuousPair, LevelledPair, Stretch
from symshuffle.engines.densities import engine as densities
from symshuffle.engines.densities import gauss
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, PrivUnit, SphereLinear
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.confirmation import confirm_pair
from symshuffle.vectors.privacy.pairs import FinitePair, real_pair, worst_pair
from tests.vectors.witnesses import confirm_mixed_gaussian

MIXED = BlanketMixedGaussian("0.95", "4.6")
EPS = Exp(Fraction(4, 10000))
FORWARD = Fraction("2.379135330145171598564562564e-5")
REVERSE = Fraction("2.320416974609793891579048096e-5")


@pytest.mark.parametrize(("arithmetic", "width"), [("float64", 1e-8), ("ball", 1e-12)])
def test_both_orders_contain_the_reference(arithmetic, width):
    asked = {"n": 1000, "eps": "0.0004", "arithmetic": arithmetic, "rtol": width, "adjacency": "zero-out"}
    bound = delta(MIXED, **asked, attained=True)
    forward, reverse = (delta(MIXED, **asked, direction=order).bracket for order in members(Direction))
    assert forward.contains(FORWARD) and reverse.contains(REVERSE) and bound.bracket == forward
    assert max(forward.relative_width, reverse.relative_width) < width
    assert abs(float(bound.attained.lower) / 2.19779608783281e-5 - 1) < max(2 * width, 1e-13)
    assert bound.attained.lower < bound.bracket.lower
    assert Fraction(float(bound)) >= bound.bracket.upper


def test_a_heavy_upper_tail_is_taken_from_the_left():
    pair = worst_pair(BlanketMixedGaussian("0.4", "0.8"), adjacency="zero-out")
    found = pair_delta(pair, 1000, Exp(Fraction(1, 10)), rtol=1e-6)
    assert "c = -" in found.evaluation
    digits, agree = confirm_mixed_gaussian(BlanketMixedGaussian("0.4", "0.8"), n=1000, eps=Fraction(1, 10), digits=12)
    assert agree >= 8
    assert abs(float(found.midpoint) / float(digits) - 1) < 1e-7


@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_an_independent_witness_agrees(direction):
    digits, agree = confirm_mixed_gaussian(MIXED, n=1000, eps=Fraction(4, 10000), direction=direction, digits=14)
    assert agree >= 12
    assert abs(float(digits) / float(FORWARD if direction == "forward" else REVERSE) - 1) < 1e-12


def test_the_largest_blanket_is_worst_at_the_end():
    largest = delta(MIXED, n=1000, eps="0.0004", blanket="largest", adjacency="zero-out", attained=True)
    assert largest.attained.lower < largest.bracket.lower
    assert "worst: proved" in largest.about


def test_a_shorter_input_is_less_exposed():
    values = [
        pair_delta(worst_pair(replace(MIXED, norm=Fraction(r)), adjacency="zero-out"), 1000, EPS, rtol=1e-6)
        for r in ("0.5", "0.8", "1")
    ]
    assert values[0].upper < values[1].lower and values[1].upper < values[2].lower
    assert abs(float(values[1].midpoint) / 1.04258e-5 - 1) < 1e-5


def test_replacing_is_worse_than_removing_and_symmetric():
    removed, replaced = (
        delta(MIXED, n=1000, eps="0.001", adjacency=a, attained=True) for a in ("zero-out", "replace-one")
    )
    assert replaced.bracket.lower > removed.bracket.upper
    forward, reverse = (delta(MIXED, n=1000, eps="0.001", direction=order).bracket for order in members(Direction))
    assert reverse == forward
    assert replaced.attained.lower < replaced.bracket.lower


SYMMETRIC = {
    "mixed": (MIXED, "mechanism"),
    "largest": (MIXED, "largest"),
    "classes": (BlanketMixedGaussian("0.5", 3, 1, 4), "largest"),
    "sphere": (SphereLinear("0.3", 5), "mechanism"),
    "clipped": (ClippedLinear("-1/4", 10, 3), "mechanism"),
}


@pytest.mark.parametrize("mechanism, blanket", SYMMETRIC.values(), ids=SYMMETRIC)
def test_a_pair_that_says_it_is_symmetric_is(mechanism, blanket):
    """A moment of G in both orders, by integrals: those of zero-out and of real datasets differ."""

    def moment(pair):
        return gauss.expectation(pair.law(Fraction(11, 10), tail=Fraction(1, 10**9)), flint.arb(1) / 16)

    def same(pair):
        one, back = moment(pair), moment(replace(pair, symmetric=False).reverse)
        return one.overlaps(back) and one.rad() < 1e-9

    pair = worst_pair(mechanism, adjacency="replace-one", blanket=blanket)
    assert pair.symmetric and pair.reverse is pair and same(pair)
    for other in (
        worst_pair(mechanism, blanket=blanket, adjacency="zero-out"),
        real_pair(mechanism, adjacency="replace-one"),
    ):
        assert not other.symmetric and not same(other)


def test_one_dimension_is_two_points():
    pair = worst_pair(SphereLinear(Fraction(1, 2), 1), adjacency="zero-out")
    exact = evaluate_law(pair.law(Fraction(1)), 3, arithmetic=None)
    assert exact.lower > 0
    same = worst_pair(
        PrivUnit(Fraction(3, 4), 0, 5), adjacency="zero-out"
    )  # a half sphere is a sign in every dimension
    assert abs(evaluate_law(same.law(Fraction(1)), 3).midpoint - exact.midpoint) < Fraction(1, 10**9)


@pytest.mark.parametrize(("theta", "p"), [("-1/2", "0.9"), ("0", "3/4"), ("0.3", "0.8"), ("0.6", "1/100")])
def test_against_the_null_symbol_a_message_is_in_the_cap_or_not(theta, p):
    """The share of the sphere by quadrature, the bound by a sum over counts."""
    mechanism, n, ratio = PrivUnit(p, theta, 4), 6, 1.1
    pair = worst_pair(mechanism, adjacency="zero-out")
    assert len(pair.reference) == 2
    height = float(mechanism.theta)
    cap = integrate.quad(lambda t: (1 - t * t) ** 0.5, height, 1)[0] / (math.pi / 2)
    inside, outside = float(mechanism.p) / cap, (1 - float(mechanism.p)) / (1 - cap)
    least = min(inside, outside)
    for one, sign in ((pair, 1), (pair.reverse, -1)):
        gain = [(r - ratio if sign > 0 else 1 - ratio * r) / least for r in (inside, outside)]
        chances = (least * cap, least * (1 - cap), 1 - least)
        total = sum(
            math.factorial(n) / math.prod(map(math.factorial, counts))
            * math.prod(w**k for w, k in zip(chances, counts, strict=True))
            * max(gain[0] * counts[0] + gain[1] * counts[1], 0.0)
            for counts in ((i, j, n - i - j) for i in range(n + 1) for j in range(n + 1 - i))
        )  # fmt: skip
        assert float(pair_delta(one, n, Fraction(11, 10)).midpoint) == pytest.approx(total / n, rel=1e-9)


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
def test_others_that_hold_an_input_leave_nothing_beside_their_law(adjacency):
    """An atom whose mass is a ball around 0 would keep sums over counts away."""
    mechanism = PrivUnit("0.8", "0.3", 16)
    for pair in (real_pair(mechanism, adjacency=adjacency), real_pair(mechanism, adjacency=adjacency).reverse):
        law = pair.law(Exp(Fraction(1, 10)))
        assert pair.whole and len(law.values) == 3 and min(map(lower_end, law.weights)) > 0
    assert not worst_pair(mechanism, adjacency=adjacency).whole
    half = (Fraction(1, 2),) * 2
    with pytest.raises(InputError, match="masses of sum 1"):
        FinitePair(half, half, (Fraction(1, 4),) * 2, "", whole=True)


def test_a_new_mechanism_needs_a_density_only():
    """A uniform coordinate with linear ratio: the engine agrees with the sphere in dimension 3."""

    def one(u):
        return u * 0 + 1

    c = Fraction(1, 4)
    slope = flint.arb(1) / 4
    stretch = Stretch(
        Fraction(-1), Fraction(1), lambda u: one(u) / 2, lambda u: 1 + slope * u, one, lambda u: one(u) * (1 - slope)
    )
    found = pair_delta(ContinuousPair((stretch,), "uniform"), 500, Exp(Fraction(1, 100)))
    known = pair_delta(worst_pair(SphereLinear(c, 3), adjacency="zero-out"), 500, Exp(Fraction(1, 100)))
    assert found.lower <= known.upper and known.lower <= found.upper


def test_which_order_is_larger():
    rest, w = 0.05, math.exp(1 / 4.6**2)
    margin = order_margin(worst_pair(MIXED, adjacency="zero-out"))
    third, second = rest**3 * (w - 1) ** 2 * (w + 2) / 0.95**2, rest**2 * (w - 1) / 0.95
    assert float(margin) == pytest.approx(third - 3 * second * second, rel=1e-9)


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("mechanism", [SphereLinear("0.05", 64), ClippedLinear("0.05", 16, "100")])
def test_beyond_every_ratio_delta_is_zero(mechanism, adjacency):
    """The ratios of both orders are below exp(0.2), so that nobody learns anything at that level, and less below."""
    for n in (1, 2000):
        found = delta(mechanism, n=n, eps="0.2", adjacency=adjacency, attained=True)
        assert (found.bracket.lower, found.bracket.upper, found.attained.lower) == (0, 0, 0)
    assert delta(mechanism, n=2000, eps="0.001", adjacency=adjacency).bracket.lower > 0


def test_zero_of_a_density_is_not_claimed_next_to_a_ratio():
    """1 + 0.05 is the largest ratio to the null symbol: just below it delta is positive, just above it is 0."""
    pair = worst_pair(SphereLinear("0.05", 64), adjacency="zero-out")
    assert LevelledPair(pair, Fraction(105001, 100000)).never_positive
    assert not LevelledPair(pair, Fraction(104999, 100000)).never_positive


def test_next_to_nothing_is_an_answer():
    """From the null symbol to x the largest ratio is 1/0.95, just above exp(0.05): with d = 64 hardly ever seen."""
    asked = {"n": 2000, "eps": "0.05", "adjacency": "zero-out"}
    forward, reverse = (
        delta(SphereLinear("0.05", 64), **asked, direction=order).bracket for order in members(Direction)
    )
    assert forward.upper == 0 and 0 <= reverse.lower <= reverse.upper < Fraction(1, 10**30)
    assert reverse.aimed is not None


def test_the_ceiling_is_the_value_for_one_user():
    level = LevelledPair(worst_pair(SphereLinear("0.5", 4), adjacency="zero-out"), Fraction(6, 5))
    one = evaluate(level, 1, Method())
    assert one.lower <= level.ceiling <= one.upper + Fraction(1, 10**6)
    endless = LevelledPair(worst_pair(MIXED, adjacency="zero-out"), Fraction(21, 20))
    # One user's value on a line without ends, by the error function: G > 0 beyond the logarithm of the level.
    v = 1 / 4.6
    start = (math.log((1.05 - 0.95) / 0.05) + v * v / 2) / v
    upper = [math.erfc(x / math.sqrt(2)) / 2 for x in (start - v, start)]
    value = 0.05 * upper[0] - (1.05 - 0.95) * upper[1]
    assert value <= float(endless.ceiling) <= value * 1.01


def test_next_to_nothing_is_bounded_at_once():
    """Where one user's value, or Chernoff's bound, is below 1e-30 that is the answer, and it says so."""
    for n, eps in ((10, "1"), (30, "0.9")):
        found = pair_delta(worst_pair(MIXED, adjacency="zero-out"), n, Exp(Fraction(eps)), rtol=1e-6)
        assert 0 < found.upper < Fraction(1, 10**30) and found.aimed == 1e-6
    for source, n, eps in ((MIXED, 300, "0.01"), (SphereLinear("0.5", 4), 400, "0.1")):
        level = LevelledPair(worst_pair(source, adjacency="zero-out"), Exp(Fraction(eps)))
        bound, road = densities.at_most(level, n)
        truth = pair_delta(level.pair, n, level.exp_eps)
        assert "Chernoff" in road and truth.upper <= bound <= 100 * truth.upper + Fraction(1, 10**32)


def test_few_users_against_classes_of_lengths():
    wide = replace(MIXED, dimension=1000)
    own = pair_delta(worst_pair(wide, adjacency="zero-out"), 10, Exp(Fraction(1, 100)), rtol=1e-6)
    largest = pair_delta(
        worst_pair(wide, blanket="largest", adjacency="zero-out"), 10, Exp(Fraction(1, 100)), rtol=1e-6
    )
    assert 0 < largest.lower < own.upper < 1e-5
    assert largest.upper < own.lower * Fraction(101, 100)


def test_the_clipped_density_in_many_dimensions_has_a_narrow_bracket():
    """Where the likelihood is steep cells are halved: without that the upper end of this one was 0.24."""
    level = Exp(Fraction("0.00678"))
    found = pair_delta(worst_pair(ClippedLinear("0.1", 100, 14), adjacency="zero-out"), 1000, level, rtol=1e-6)
    assert float(found.upper) == pytest.approx(1.587829e-06, rel=1e-5)
    assert found.upper <= found.lower * (1 + Fraction(1, 10**6))


@pytest.mark.parametrize(
    ("one", "n", "eps", "blanket"),
    [
        (MIXED, 1000, "0.0004", "largest"),
        (SphereLinear("1/2", 3), 100, "0.1", None),
        (ClippedLinear("0.1", 3, 1), 1000, "0.05", None),
    ],
)
def test_bounds_of_densities_are_confirmed_by_a_quadrature(one, n, eps, blanket):
    found = delta(one, n=n, eps=eps, blanket=blanket, adjacency="zero-out")
    asked = {"exp_eps": Exp(Fraction(eps)), "blanket": blanket, "adjacency": "zero-out"}
    digits, agree = confirm_pair(one, n=n, digits=8, **asked)
    assert agree >= 5
    assert float(digits) == pytest.approx(float(found.bracket.upper), rel=10.0 ** (1 - agree))
    assert float(confirm_pair(one, n=n + n // 10, digits=8, **asked)[0]) < float(found.bracket.lower)


def test_the_largest_blanket_is_confirmed_in_dimension_1_only():
    with pytest.raises(Unsupported, match="dimension 1 only"):
        confirm_pair(
            replace(MIXED, dimension=2),
            n=1000,
            exp_eps=Exp(Fraction(4, 10_000)),
            blanket="largest",
            adjacency="zero-out",
        )


@pytest.mark.parametrize("n", [1, 2, 50])
def test_what_the_blanket_never_sends_is_revealed(n):
    half = Fraction(1, 2)
    pair = FinitePair(
        (half, half), (Fraction(1), Fraction(0)), (half, Fraction(0)), "half of the messages are revealed"
    )
    assert pair_delta(pair, n, Fraction(1)).contains(half)  # the class that hides has p < q
    assert pair_delta(pair.reverse, 1, Fraction(1)).contains(half)
    unsure = FinitePair(pair.first, pair.second, (half, Ball(Fraction(-1, 10**9), Fraction(1, 10**9), 64)), "")
    with pytest.raises(NotDecided, match="whether the blanket has mass"):
        pair_delta(unsure, n, Fraction(1))


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ("first", (Fraction(1, 2), Fraction(1, 3))),
        ("second", (Fraction(3, 4), Fraction(1, 2))),
        ("second", (Fraction(1),)),
        ("first", (Fraction(3, 2), Fraction(-1, 2))),
        ("first", (0.5, 0.5)),
        ("reference", (Fraction(3, 4), Fraction(1, 2))),
        ("reference", [Fraction(1, 4), Fraction(1, 4)]),
    ],
)
def test_a_finite_pair_is_of_two_laws_and_part_of_one(place, wrong):
    half = (Fraction(1, 2), Fraction(1, 2))
    with pytest.raises(InputError) as refused:
        replace(FinitePair(half, half, half, ""), **{place: wrong})
    assert refused.value.argument == place
