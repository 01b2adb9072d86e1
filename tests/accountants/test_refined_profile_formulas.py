"""Rényi divergences from profiles: one user by the definition, every sum over rounds, and who is refused."""

import math
from dataclasses import replace
from fractions import Fraction

import flint
import pytest

from symshuffle import Bracket, Channel, InputError, Rigour, Unsupported, renyi
from symshuffle.accountants import refined_profile
from symshuffle.accountants import renyi as door
from symshuffle.accountants.amplification import Attained, Composition
from symshuffle.accountants.covered import PairClass, Reduction
from symshuffle.accountants.evaluate import Request
from symshuffle.accountants.orders import Stretch
from symshuffle.accountants.plan import rounds
from symshuffle.accountants.reduction import reduction
from symshuffle.accountants.refined_profile import RefinedProfile
from symshuffle.accountants.renyi import RenyiBound
from symshuffle.choices import Direction, Question
from symshuffle.law import Law

F = Fraction
RR = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
SKEW = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/8", "5/8"]])
SAME = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
REVEALS = Channel.from_rows([["1/4", "0", "3/4"], ["0", "1/4", "3/4"]])
REQUEST = Request.of(rel=1e-3)


def of_rows(one, other, alpha):
    """The definition of the Rényi divergence."""
    return math.log(sum(p * (p / q) ** (alpha - 1) for p, q in zip(one, other, strict=True))) / (alpha - 1)


def profile(source=RR, request=REQUEST):
    return RefinedProfile.of(reduction(source), 1, request)


def test_a_profile_is_asked_for_fifty_times_as_narrow():
    for rel, expected in ((1e-3, 2e-5), (1e-11, 1e-12), (0.5, 1e-2)):
        asked = Request.of("forward", rigour="ball", rel=rel, bits=99)
        found = profile(request=asked).request
        assert (found.direction, found.rigour, found.bits) == (Question.BOTH, Rigour.BALL, 99)
        assert found.rel == pytest.approx(expected)
    assert profile(SAME) is None


def test_the_profile_ends_where_the_largest_ratio_is():
    """Ratios 3 of randomized response, and 5/2 of the other channel; at most a fiftieth of the level beyond."""
    for source, most in ((RR, 3.0), (SKEW, 2.5)):
        assert math.log(most) <= math.log(profile(source).last) <= math.log(most) * 1.021 + 1e-6
    near = Channel.from_rows([["201/400", "199/400"], ["199/400", "201/400"]])
    assert math.log(201 / 199) <= math.log(profile(near).last) <= 0.01021


def test_what_never_ends_is_refused_with_its_reason():
    with pytest.raises(Unsupported, match="infinite: some messages reveal"):
        profile(REVEALS)
    positive = Law((F(-1), F(1)), (F(1, 2), F(1, 2)))
    endless = Reduction((PairClass("some", lambda *_: positive),))
    with pytest.raises(Unsupported, match=r"no level up to .* is known"):
        RefinedProfile.of(endless, 1, REQUEST)


def test_values_of_both_directions_are_the_definition():
    found = profile(SKEW)
    one, other = SKEW.rows
    for x in (F(1), F(3, 2), F(2), F(9, 4)):
        values = found.values(x)
        for bracket, (a, b) in zip(values, ((one, other), (other, one)), strict=True):
            truth = sum(max(p - x * q, F(0)) for p, q in zip(a, b, strict=True))
            assert bracket.lower <= truth <= bracket.upper <= truth * F(1.0001) + F(1, 10**12)
    assert set(found.known) == {F(1), F(3, 2), F(2), F(9, 4)}


def test_equal_directions_are_evaluated_once_and_known_ones_never(monkeypatch):
    asked = []
    exact = refined_profile.bound_at

    def at(source, n, x, request):
        asked.append((x, request.direction))
        return exact(source, n, x, request)

    symmetric, skew = profile(), profile(SKEW)
    monkeypatch.setattr(refined_profile, "bound_at", at)
    assert symmetric.values(F(2)) == symmetric.values(F(2)) and asked == [(F(2), Question.FORWARD)]
    assert symmetric.values(F(2))[0] == symmetric.values(F(2))[1]
    del asked[:]
    skew.values(F(2))
    assert asked == [(F(2), Question.FORWARD), (F(2), Question.REVERSE)]
    del asked[:]
    for x in (symmetric.last, symmetric.last + 1):
        assert [(b.lower, b.upper, b.rigour) for b in symmetric.values(x)] == [(0, 0, Rigour.BALL)] * 2
    assert asked == []
    symmetric.values(symmetric.last - F(1, 10**9))
    assert len(asked) == 1


def test_the_nodes_of_a_direction_go_on_below_1_with_the_other_one():
    found = profile(SKEW)
    for x in (F(1), F(2)):
        found.values(x)
    one, other = SKEW.rows
    for direction, (a, b) in ((Direction.FORWARD, (one, other)), (Direction.REVERSE, (other, one))):
        nodes = found.nodes(direction)
        assert [node.x for node in nodes] == [F(1, 2), F(1), F(2)]
        for node in nodes:
            truth = sum(max(p - node.x * q, F(0)) for p, q in zip(a, b, strict=True))
            assert node.low <= truth <= node.high <= truth + F(1, 10**4)


def test_values_at_all_kinks_leave_nothing_open():
    """The profile of randomized response is a line from 1/3 to 3: D_2 = log(9/4 + 1/12)."""
    found = profile(request=Request.of(rel=1e-9))
    for x in (F(1), F(2), F(3), found.last):
        found.values(x)
    low, high = found.ends(F(2), Direction.FORWARD)
    assert float(low) * (1 - 1e-12) <= math.log(7 / 3) <= float(high) * (1 + 1e-12)
    assert float(high) < math.log(7 / 3) * 1.02
    assert found.lower_at([F(2)], F(2), Direction.FORWARD) == low
    assert found.lower_at([F(5, 2)], F(2), Direction.FORWARD) >= low * (1 - F(1, 10**12))


@pytest.mark.parametrize("source", [RR, SKEW])
@pytest.mark.parametrize("direction", ["forward", "reverse", "both"])
def test_narrowing_reaches_the_width_around_the_definition(source, direction):
    request = Request.of(direction, rel=1e-2)
    found = profile(source, request).narrowed(F(2), request)
    both = [of_rows(*([float(p) for p in row] for row in rows), 2) for rows in (source.rows, source.rows[::-1])]
    truth = max(both[:1] if direction == "forward" else both[1:] if direction == "reverse" else both)
    assert float(found.lower) <= truth <= float(found.upper)
    assert found.width <= F(1e-2) * found.upper and found.aimed is None
    assert found.rigour is Rigour.FLOAT64 and found.engine == "profile"


def test_narrowing_ends_at_its_limit_of_values_and_says_so(monkeypatch):
    request = Request.of(rel=1e-6, rigour="ball")
    monkeypatch.setattr(refined_profile, "_MOST_NODES", 8)
    shape = profile(SKEW, request)
    found = shape.narrowed(F(2), request)
    assert found.aimed == 1e-6 and found.rigour is Rigour.BALL
    assert found.width > F(1e-6) * found.upper
    assert 4 < len(shape.known) < 40 and f"integral over {len(shape.known)} orders" in found.how


def test_the_relative_entropy_is_order_1():
    request = Request.of(rel=1e-2)
    found = profile(RR, request).narrowed(F(1), request)
    assert float(found.lower) <= math.log(3) / 2 <= float(found.upper)


def test_shares_of_what_keeps_the_ends_apart():
    def stretch(low, high):
        return Stretch(flint.arb(low), flint.arb(high))

    assert refined_profile._shares([stretch(1, 2), stretch(0, 3), stretch(5, 5)]) == [0.25, 0.75, 0.0]
    assert refined_profile._shares([stretch(1, 1), stretch(2, 2)]) == [0.0, 0.0]
    assert refined_profile._shares([stretch(1, 0.5), stretch(0, 1.5)]) == [0.0, 1.5]


@pytest.mark.parametrize("eps", [0.0, 1e-9, 0.3, 0.999, 1.0, 5.0, 700.0])
def test_orders_are_short_and_their_logarithms_near(eps):
    """Seven digits of what is above 1, or of the whole."""
    x = refined_profile._order(eps)
    assert refined_profile._logarithm(x) == pytest.approx(eps, rel=1e-6, abs=0)
    digits = x - 1 if eps < 1 else x
    assert len(str(digits.numerator).rstrip("0")) <= 14 and (eps or x == 1)


@pytest.mark.parametrize("x", [F(1), 1 + F(1, 10**12), F(3, 2), F(2), F(10**400)])
def test_logarithms_of_orders(x):
    truth = float(flint.arb(flint.fmpq(x.numerator, x.denominator)).log()) if x > F(11, 10) else float(x - 1)
    assert refined_profile._logarithm(x) == pytest.approx(truth, rel=1e-11)


# The front door.


def part(low, high):
    return Bracket(F(low), F(high), Rigour.BALL, "profile", "h")


def test_rounds_add_up_with_how_often_they_occur():
    request = Request.of(rel=1e-1)
    found = door._together([(part(1, 2), 3), (part(F(1, 2), 5), 2)], request)
    assert (found.lower, found.upper, found.aimed) == (4, 16, 1e-1)
    assert found.how == "sum over 5 rounds; 3 rounds: h; 2 rounds: h"
    one = door._together([(part(9, 10), 1)], replace(request, rel=0.1))
    assert (one.how, one.aimed, one.rigour) == ("h", None, Rigour.FLOAT64)
    assert door._together([(part(8, 10), 1)], request).aimed == 0.1
    assert door._together([(part(9, 10), 4)], request).how == "sum over 4 rounds; h"
    assert door._together([(part(9, 10), 1)], Request.of(rigour=None, rel=0.5)).rigour is Rigour.FLOAT64


@pytest.mark.parametrize("alpha", [1, "10000"])
def test_orders_from_1_to_10000_and_what_tells_nothing(alpha):
    found = renyi(SAME, n=5, alpha=alpha)
    assert (found.alpha, found.bracket.lower, found.bracket.upper) == (F(alpha), 0, 0)
    assert found.neighbours.users == 5 and found.attained is None and found.rounds is None
    assert renyi(rounds(SAME, 2), n=5, alpha=alpha).rounds == Composition(2, ((2, 5),))


@pytest.mark.parametrize("alpha", ["0.99", "10000.1", 0, -2])
def test_other_orders_are_refused(alpha):
    with pytest.raises(InputError, match=r"alpha.*an order in \[1, 10000\]"):
        renyi(SAME, n=5, alpha=alpha)


def test_groups_dropout_directions_of_rounds_and_exact_answers_are_refused():
    for options, said in (
        ({"group": 2}, "group 2"),
        ({"dropout": "1/4"}, "dropout 1/4"),
        ({"rigour": "exact"}, "exact"),
    ):
        with pytest.raises(Unsupported, match=said):
            renyi(SAME, n=5, alpha=2, **options)
    with pytest.raises(InputError, match=r"direction.*both, with rounds"):
        renyi(rounds(SAME, 2), n=5, alpha=2, direction="forward")
    assert renyi(rounds(SAME, 1), n=5, alpha=2, direction="forward").bracket.upper == 0
    assert renyi(SAME, n=5, alpha=2, min_users=3, dropout=None, group=1).bracket.upper == 0
    assert renyi(SAME, n=5, alpha=2, dropout=0).bracket.upper == 0


def test_the_best_of_the_real_pairs_is_reported():
    """One user: the two rows themselves, forward, are the only pair, and the bound is theirs."""
    found = renyi(SKEW, n=1, alpha=2, rel=2e-2, direction="forward", attain=True)
    truth = of_rows(*([float(p) for p in row] for row in SKEW.rows), 2)
    assert found.attained is not None
    assert truth * 0.97 <= float(found.attained.lower) <= truth * (1 + 1e-12)
    assert "x 0" in found.attained.datasets
    assert renyi(SKEW, n=1, alpha=2, rel=2e-2).attained is None


def test_the_answer_as_json():
    bracket = Bracket(F(1, 4), F(1, 2), Rigour.FLOAT64, "profile", "how", 1e-3)
    near = renyi(SAME, n=7, alpha=2).neighbours
    answer = RenyiBound(F(5, 2), bracket, near, Attained(F(1, 3), "these"), Composition(3, ((3, 7),)))
    found = answer.to_dict()
    assert (found["alpha"], float(found["lower"]), float(found["upper"])) == ("5/2", 0.25, 0.5)
    assert (found["relative_width"], found["aimed"], found["safe"]) == (0.5, 1e-3, "upper")
    assert (found["rigour"], found["engine"], found["attained_by"], found["rounds"]) == (
        "float64",
        "profile",
        "these",
        3,
    )
    assert F(found["attained_lower"]) < F(1, 3) < F(found["attained_lower"]) + F(1, 10**15)
    bare = replace(answer, attained=None, rounds=None, bracket=Bracket(F(0), F(0), Rigour.BALL, "p", "h")).to_dict()
    assert [bare[key] for key in ("attained_lower", "attained_by", "relative_width", "aimed")] == [None] * 4
    assert "rounds" not in bare and answer.safe.value == "upper"
