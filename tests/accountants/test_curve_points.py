"""Curves: their arguments and widths, the points as they are told, and trade-offs of one user by hand."""

import math
from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, Unsupported, amplification_curve, delta_curve, rounds, tradeoff_curve
from symshuffle.accountants import curves, tradeoff_function
from symshuffle.accountants.curves import Curve, CurvePoint, _extrapolated, along_users, spaced
from symshuffle.accountants.neighbours import Neighbours
from symshuffle.choices import CurveKind, Rigour
from symshuffle.numbers import Exp
from symshuffle.results import Bracket, SafeEnd

BINARY = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
"""Of one user: delta at the ratio x is (2 - x)/3, up to x = 2."""
WHOM = Neighbours("p", True, "replace-one", "both", 3, "t")


def bracket(low, high=None, rigour=Rigour.EXACT, engine="told"):
    return Bracket(Fraction(low), Fraction(low if high is None else high), rigour, engine, f"how {low}")


def test_arguments_at_equal_distances():
    assert spaced("1", "3", 5) == (1, Fraction(3, 2), 2, Fraction(5, 2), 3)
    assert spaced("-1", "1", 2) == (-1, 1)
    assert len(spaced("0", "1", 10_000)) == 10_000
    for points in (1, 10_001):
        with pytest.raises(InputError, match="points"):
            spaced("0", "1", points)
    for ends in (("1", "1"), ("2", "1")):
        with pytest.raises(InputError, match="expected from < to"):
            spaced(*ends, 3)


def test_arguments_at_equal_ratios():
    """Four digits between the ends, which are kept; what falls on an end or on a neighbour is left out."""
    assert spaced("1", "10000", 5, geometric=True) == (1, 10, 100, 1000, 10_000)
    assert spaced("1", "7", 3, geometric=True) == (1, Fraction("2.646"), 7)
    assert spaced("1/3", "3", 2, geometric=True) == (Fraction(1, 3), 3)
    assert spaced("1", "10.004", 3, geometric=True) == (1, Fraction("3.163"), Fraction("10.004"))
    assert spaced("0.99996", "4", 3, geometric=True) == (Fraction("0.99996"), 2, 4)
    assert spaced("1", "1.00001", 5, geometric=True) == (1, Fraction("1.00001"))
    assert spaced("1", "1.001", 9, geometric=True) == (1, Fraction("1.001"))
    for low in ("0", "-1"):
        with pytest.raises(InputError, match=r"from = .*: expected a number > 0"):
            spaced(low, "1", 3, geometric=True)


@pytest.mark.parametrize(
    ("source", "whom", "widths"),
    [(BINARY, {}, (1e-6, 1e-4)), (BINARY, {"dropout": "1/4"}, (1e-3, 1e-3)), (rounds(BINARY, 2), {}, (1e-2, 1e-3))],
)
def test_the_width_that_is_aimed_at(monkeypatch, source, whom, widths):
    asked = []

    def told(asked_about, n, what, request, *near):
        asked.append(request.rel)
        return bracket("0.1")

    monkeypatch.setattr(curves, "bound_of", told)
    monkeypatch.setattr(curves, "smallest_of", told)
    delta_curve(source, n=3, levels=["1"], **whom)
    amplification_curve(source, delta="0.1", users=[3], **whom)
    delta_curve(source, n=3, levels=["1"], rel=0.3, **whom)
    amplification_curve(source, delta="0.1", users=[3], rel=0.4, **whom)
    assert asked == [*widths, 0.3, 0.4]


def test_a_profile_of_one_user_by_hand():
    told = []
    found = delta_curve(
        BINARY, n=1, levels=["0", "0.5", "1"], rigour="ball", progress=lambda known, all_: told.append((known, all_))
    )
    for point, eps in zip(found.points, (0, Fraction(1, 2), 1), strict=True):
        assert point.x == eps
        assert float(point.y.upper) == pytest.approx(max((2 - math.exp(eps)) / 3, 0), abs=1e-15)
    assert (found.kind, found.x, found.y, found.safe) == (CurveKind.DELTA_EPS, "eps", "delta", SafeEnd.UPPER)
    assert told == [(1, 3), (2, 3), (3, 3)]
    with pytest.raises(InputError, match="levels"):
        delta_curve(BINARY, n=1, levels=[])


def test_one_user_may_be_less_by_hand():
    """(2 - x)/3 = 1/5 at x = 7/5; of two users less is needed."""
    told = []
    found = amplification_curve(
        BINARY, delta="1/5", users=[1, 2], rel=1e-5, progress=lambda known, all_: told.append((known, all_))
    )
    first, second = found.points
    assert (first.x, second.x) == (1, 2)
    assert first.y.lower <= Fraction(math.log(1.4)) <= first.y.upper
    assert second.y.upper < first.y.lower
    assert (found.kind, found.x, found.y) == (CurveKind.EPS_N, "n", "eps")
    assert told == [(1, 2), (2, 2)]
    with pytest.raises(InputError, match="users"):
        amplification_curve(BINARY, delta="1/5", users=[])
    with pytest.raises(InputError, match="n = 0"):
        amplification_curve(BINARY, delta="1/5", users=[0])


def test_points_of_one_process_tell_each_other_where_to_look(monkeypatch):
    asked = []

    def told(asked_about, n, target, request, near):
        asked.append((n, near is None))
        return bracket(0, Fraction(1, n))

    monkeypatch.setattr(curves, "smallest_of", told)
    amplification_curve(BINARY, delta="1/5", users=[4, 9])
    assert asked == [(4, True), (9, False)]


def points(function, *users):
    return [CurvePoint(Fraction(n), bracket(0, Fraction(function(n)))) for n in users]


def test_where_the_next_point_is_looked_for():
    """Exact for a power -1/2 of n from one point, any power from two, any parabola of logarithms from three."""
    assert _extrapolated([], 5) is None
    assert _extrapolated(points(lambda n: 0, 3), 5) is None
    for function, users in (
        (lambda n: 3 * n**-0.5, (10,)),
        (lambda n: 3 * n**-0.7, (10, 30)),
        (lambda n: math.exp(0.3 * math.log(n) ** 2 - 2 * math.log(n)), (10, 30, 50)),
    ):
        assert float(_extrapolated(points(function, *users), 70)) == pytest.approx(function(70), rel=1e-12)
        far = points(lambda n: 5.0, 2) if len(users) == 3 else []
        assert float(_extrapolated([*far, *points(function, *users)], 70)) == pytest.approx(function(70), rel=1e-12)


def test_every_point_tells_where_to_look_next():
    asked = []

    def smallest(n, near):
        asked.append((n, near))
        return bracket(0, Fraction(1, n))

    found = along_users(smallest, [4, 9])
    assert [point.x for point in found] == [4, 9]
    assert asked[0] == (4, None) and asked[1][0] == 9
    assert float(asked[1][1]) == pytest.approx(1 / 4 * math.sqrt(4 / 9), rel=1e-12)


def test_a_curve_as_it_is_told():
    ends = bracket("1/3", "1/2", Rigour.BALL, "a"), bracket("1/4", "1/4", Rigour.EXACT, "b")
    found = Curve("eps-n", "n", "eps", tuple(map(CurvePoint, (Fraction(1), Fraction(2, 3)), ends)), WHOM, "about it")
    assert (found.kind, found.rigour, found.how, found.safe) == (CurveKind.EPS_N, Rigour.BALL, "how 1/4", "upper")
    assert found.rows()[1]["n"] == "0.66666666666666666"
    assert found.rows()[0] == {"n": "1", **ends[0].decimals(), "engine": "a"}
    one, two = found.to_rows()
    assert Fraction(two["n"]) < Fraction(2, 3) < Fraction(math.nextafter(two["n"], 1))
    assert Fraction(one["lower"]) < Fraction(1, 3) and one["upper"] == 0.5
    assert (one["safe"], one["rigour"], two["rigour"], two["engine"]) == ("upper", "ball", "exact", "b")
    told = found.to_dict()
    assert {name: told[name] for name in ("kind", "x", "y", "safe", "rigour", "how", "meaning", "adjacency")} == {
        "kind": "eps-n", "x": "n", "y": "eps", "safe": "upper", "rigour": "ball", "how": "how 1/4",
        "meaning": "about it", "adjacency": "replace-one",
    }  # fmt: skip
    assert told["points"] == found.rows()
    with pytest.raises(Unsupported, match="a curve of 2 points is no number"):
        float(found)
    assert Curve("f-dp", "alpha", "beta", found.points, WHOM, "").safe is SafeEnd.LOWER
    with pytest.raises(InputError, match="kind"):
        Curve("other", "n", "eps", found.points, WHOM, "")


# Trade-offs.


@pytest.fixture
def levels(monkeypatch):
    def of(*ratios):
        monkeypatch.setattr(tradeoff_function, "_orders", lambda *_: iter(map(Fraction, ratios)))

    return of


ALPHAS = [Fraction(i, 12) for i in range(13)]


def truth(alpha):
    """The test of one bit that is told truly with probability 2/3: from (0, 1) by (1/3, 1/3) to (1, 0)."""
    return 1 - 2 * alpha if alpha <= Fraction(1, 3) else (1 - alpha) / 2


def test_a_trade_off_by_hand(levels):
    """At x = 2 delta is 0, and the two lines of that level are all of it; the other side meets it there."""
    levels(1, "3/2", 2)
    found = tradeoff_curve(BINARY, n=1, alphas=ALPHAS, rigour="exact")
    for alpha, point in zip(ALPHAS, found.points, strict=True):
        assert (point.x, point.y.lower, point.y.upper) == (alpha, truth(alpha), truth(alpha))
        assert point.y.rigour is Rigour.EXACT
        assert "envelope of 3 levels" in point.y.how
    assert (found.kind, found.safe, found.x, found.y) == (CurveKind.F_DP, SafeEnd.LOWER, "alpha", "beta")


def test_levels_that_miss_the_corner_leave_a_bracket(levels):
    """At x = 1 and 3/2 alone the lines are 2/3 - a, 5/6 - 3a/2 and (5/6 - a)/(3/2): below the truth inside."""
    levels(1, "3/2")
    found = tradeoff_curve(BINARY, n=1, alphas=ALPHAS, rigour="exact")
    for alpha, point in zip(ALPHAS, found.points, strict=True):
        lines = [Fraction(2, 3) - alpha, Fraction(5, 6) - Fraction(3, 2) * alpha]
        lines.append((Fraction(5, 6) - alpha) / Fraction(3, 2))
        assert point.y.lower == max(0, *lines)
        assert point.y.lower <= truth(alpha) <= point.y.upper <= 1 - alpha


def test_levels_are_evaluated_from_the_last_to_the_first(levels, monkeypatch):
    levels(1, "3/2", 2)
    asked = []

    def told(source, covering, n, request, order):
        asked.append((order, request.rel, request.direction))
        return bracket(max((2 - order) / 3, 0), rigour=Rigour.BALL if order == 2 else Rigour.FLOAT64)

    monkeypatch.setattr(tradeoff_function, "at_order", told)
    found = tradeoff_curve(BINARY, n=1, alphas=["1/4"])
    assert [order for order, _, _ in asked] == [2, Fraction(3, 2), 1]
    assert {(rel, way) for _, rel, way in asked} == {(1e-6, "both")}
    assert found.points[0].y.rigour is Rigour.FLOAT64  # that of the weakest level
    assert (found.points[0].y.engine, found.points[0].y.how) == (
        "told",
        "envelope of 3 levels of the profile; at the last: how 0",
    )
    tradeoff_curve(rounds(BINARY, 2), n=1, alphas=["1/4"])
    assert asked[-1][1] == 1e-2


def test_no_test_is_worse_than_guessing(levels, monkeypatch):
    """A lower end of delta may be below 0; what levels between could add is still at most 1 - alpha."""
    levels(1, "3/2", 2)
    monkeypatch.setattr(tradeoff_function, "at_order", lambda *_: bracket("-1/10", "1/10"))
    (point,) = tradeoff_curve(BINARY, n=1, alphas=["1/4"]).points
    assert (point.y.lower, point.y.upper) == (1 - Fraction(1, 10) - Fraction(1, 4), Fraction(3, 4))


def test_where_the_levels_of_a_trade_off_are(monkeypatch):
    """From 1 to exp(top), equally spaced in the level; where mass is revealed for certain the last one is 10."""
    asked = []

    def told(asked_about, n, target, request):
        asked.append((target, request.rel))
        return bracket(1, 2)

    monkeypatch.setattr(tradeoff_function, "smallest_of", told)
    found = list(tradeoff_function._orders(None, 3, 5))
    assert asked == [(Fraction(1, 10**9), 1e-2)]
    assert found[0] == 1
    assert [math.log(x) for x in found] == pytest.approx([0, 0.5, 1, 1.5, 2], rel=1e-11)
    monkeypatch.setattr(tradeoff_function, "smallest_of", lambda *_: bracket(0))
    assert list(tradeoff_function._orders(None, 3, 5)) == [1]

    def refused(*_):
        raise Unsupported("revealed")

    monkeypatch.setattr(tradeoff_function, "smallest_of", refused)
    assert [math.log(x) for x in tradeoff_function._orders(None, 3, 3)] == pytest.approx([0, 5, 10], rel=1e-11)


def test_how_many_levels_a_trade_off_has(monkeypatch):
    asked = []

    def told(asked_about, n, levels):
        asked.append((n, levels))
        return iter([Fraction(1), Fraction(2)])

    monkeypatch.setattr(tradeoff_function, "_orders", told)
    tradeoff_curve(BINARY, n=1, alphas=["1/4"])
    tradeoff_curve(BINARY, n=2, alphas=["1/4"], levels=2)
    assert asked == [(1, 60), (2, 2)]


def test_what_a_trade_off_does_not_take():
    for alpha in ("-1/100", "101/100"):
        with pytest.raises(InputError, match="alpha"):
            tradeoff_curve(BINARY, n=1, alphas=["1/2", alpha])
    with pytest.raises(InputError, match="alphas"):
        tradeoff_curve(BINARY, n=1, alphas=[])
    with pytest.raises(InputError, match="levels"):
        tradeoff_curve(BINARY, n=1, alphas=["1/2"], levels=1)
    with pytest.raises(Unsupported, match="group 2"):
        tradeoff_curve(BINARY, n=3, alphas=["1/2"], group=2)
    ends = tradeoff_curve(BINARY, n=1, alphas=[0, 1], levels=2)
    assert [point.x for point in ends.points] == [0, 1] and ends.points[1].y.upper == 0


def test_an_exponential_level_is_read_as_one():
    found = delta_curve(BINARY, n=1, levels=[Fraction(1, 3)], rigour="ball")
    assert found.points[0].x == Fraction(1, 3)
    assert Exp(Fraction(1, 3)).exponent == Fraction(1, 3)
    assert float(found.points[0].y.lower) == pytest.approx((2 - math.exp(1 / 3)) / 3, rel=1e-12)
