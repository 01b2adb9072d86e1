"""The front door and its inverses against sums over all datasets of a few users, and closed forms of one user."""

import math
from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, Unsupported, delta, epsilon, rounds, solve_eps0, solve_n
from symshuffle.accountants import inverses, solve
from symshuffle.accountants.evaluate import Request
from symshuffle.accountants.gaussian_profile import log_profile
from symshuffle.accountants.search import Crossing
from symshuffle.choices import Rigour
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.numbers import Exp
from symshuffle.results import Bracket, SafeEnd
from symshuffle.shuffled import shuffled_divergence

BINARY = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
SKEW = Channel.from_rows([["1/2", "1/2"], ["1/5", "4/5"]])
X = Fraction(5, 4)


def bracket(low, high=None):
    return Bracket(Fraction(low), Fraction(low if high is None else high), Rigour.EXACT, "told", "known")


def real(channel, other, n, x, order=(0, 1)):
    first, second = ((held, *(other,) * (n - 1)) for held in order)
    return shuffled_divergence(channel, first, second, x)


def worst(channel, n, x):
    """Over constant backgrounds, in both orders."""
    return max((real(channel, other, n, x, order), other) for other in (0, 1) for order in ((0, 1), (1, 0)))


def test_as_many_messages_as_are_sent_at_least():
    """The datasets are those of three users, whoever else there is."""
    found = delta(SKEW, n=9, exp_eps=X, rigour="exact", attain=True, min_users=3)
    assert found.attained.lower == worst(SKEW, 3, X)[0]
    assert " x 2)" in found.attained.datasets
    assert found.bracket.exact == delta(SKEW, n=3, exp_eps=X, rigour="exact").bracket.exact
    level = epsilon(SKEW, n=9, delta="0.1", attain=True, min_users=3)
    assert " x 2)" in level.attained.datasets


@pytest.mark.parametrize("channel", [BINARY, SKEW])
def test_the_level_that_a_real_pair_certainly_needs(channel):
    """At the number given the worst of real pairs is above the target, a little beyond it is not."""
    target = Fraction(1, 10)
    found = epsilon(channel, n=2, delta=target, attain=True, rel=1e-5)
    level = float(found.attained.lower)
    assert worst(channel, 2, Fraction(math.exp(level * (1 - 1e-9))))[0] > target
    assert worst(channel, 2, Fraction(math.exp(level * (1 + 3e-5))))[0] < target
    assert found.attained.lower <= found.bracket.upper
    assert found.bracket.relative_width <= Fraction(1, 10**5)
    assert epsilon(channel, n=2, delta=target).attained is None
    assert found.bracket.how.startswith("root search on delta(eps); at the upper end: ")


def test_one_user_by_hand():
    """(2 - x)/3 = 1/5 at x = 7/5, and 1/3 at x = 1, where the answer is 0."""
    found = epsilon(BINARY, n=1, delta="1/5")
    assert found.bracket.lower <= Fraction(math.log(1.4)) * (1 + Fraction(1, 10**12))
    assert Fraction(math.log(1.4)) * (1 - Fraction(1, 10**12)) <= found.bracket.upper
    zero = epsilon(BINARY, n=1, delta="1/3", rigour="ball").bracket
    assert (zero.lower, zero.upper) == (0, 0)


@pytest.mark.parametrize(("whom", "width"), [({}, 1e-6), ({"dropout": "1/4"}, 1e-3), ({"group": 2}, 1e-6)])
def test_the_width_that_is_aimed_at(monkeypatch, whom, width):
    asked = []

    def bound(reduced, n, order, request):
        asked.append(request.rel)
        return bracket("0.1")

    def smallest(reduced, n, target, request, near):
        asked.append(request.rel)
        return Crossing(Fraction(1), Fraction(2), bracket("0.1"), bracket("0.2"))

    monkeypatch.setattr(solve, "bound_at", bound)
    monkeypatch.setattr(solve, "smallest_eps", smallest)
    delta(BINARY, n=3, eps=1, **whom)
    delta(BINARY, n=3, eps=1, rel=0.3, **whom)
    found = epsilon(BINARY, n=3, delta="0.1", **whom)
    epsilon(BINARY, n=3, delta="0.1", rel=0.3, **whom)
    assert asked == [width, 0.3, width, 0.3]
    assert (found.bracket.lower, found.bracket.upper, found.bracket.engine) == (1, 2, "told")


def test_where_a_search_for_eps_starts(monkeypatch):
    asked = []

    def smallest(reduced, n, target, request, near):
        asked.append(near)
        return Crossing(Fraction(1), Fraction(2), bracket("0.1"), bracket("0.2"))

    monkeypatch.setattr(solve, "smallest_eps", smallest)
    monkeypatch.setattr(solve, "first_guess", lambda *_: "guessed")
    epsilon(BINARY, n=3, delta="0.1")
    epsilon(BINARY, n=3, delta="0.1", near="1/7")
    assert asked == ["guessed", Fraction(1, 7)]


@pytest.mark.parametrize("wide", [None, 0.25])
def test_several_rounds_have_widths_of_their_own(monkeypatch, wide):
    asked = []
    for name in ("delta", "epsilon"):
        monkeypatch.setattr(f"symshuffle.accountants.over_rounds.{name}", lambda *a, **k: asked.append((a[2].rel, k)))
    delta(rounds(BINARY, 2), n=3, eps=1, rel=wide, attain=True)
    epsilon(rounds(BINARY, 2), n=3, delta="0.1", rel=wide)
    assert asked == [(wide or 1e-2, {"attain": True}), (wide or 1e-3, {"attain": False})]


# The largest budget: binary response of one user has delta = (lam - x)/(lam + 1).


def response(eps0):
    lam = Fraction(math.exp(eps0)).limit_denominator(10**15)
    return Channel.from_rows([[lam / (lam + 1), 1 / (lam + 1)], [1 / (lam + 1), lam / (lam + 1)]])


@pytest.mark.parametrize(("target", "x"), [("1/10", "5/4"), ("1e-3", "1"), ("1/2", "3"), ("1e-3", "20")])
@pytest.mark.parametrize("rigour", ["float64", "ball"])
def test_the_largest_budget_of_one_user(target, x, rigour):
    truth = math.log((Fraction(target) + Fraction(x)) / (1 - Fraction(target)))
    found = solve_eps0(response, n=1, delta=target, exp_eps=x, rigour=rigour)
    assert found.bracket.lower <= truth * (1 + 1e-12) and truth * (1 - 1e-12) <= found.bracket.upper
    assert found.bracket.relative_width <= Fraction(1, 10**6)
    assert found.delta.upper <= Fraction(target) and found.delta.upper > Fraction(target) * Fraction(99, 100)
    assert (found.safe, found.bracket.rigour) == (SafeEnd.LOWER, rigour)
    assert found.bracket.engine == found.delta.engine
    coarse = solve_eps0(response, n=1, delta=target, exp_eps=x, rel=0.1).bracket
    assert coarse.lower <= truth * (1 + 1e-12) and truth * (1 - 1e-12) <= coarse.upper
    assert coarse.relative_width <= Fraction(1, 10)


def test_the_json_of_an_inverse():
    found = solve_eps0(response, n=1, delta="1/10", exp_eps="5/4")
    told = found.to_dict()
    assert told["safe"] == "lower" and told["lower"] == found.bracket.decimals()["lower"]
    assert told["delta_at_safe"] == {name: found.delta.decimals()[name] for name in ("lower", "upper")}
    assert (told["rigour"], told["engine"], told["meaning"]) == ("float64", found.bracket.engine, found.about)
    assert "assumed to rise with eps0" in found.about


def test_no_budget_and_every_budget():
    flat = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    with pytest.raises(Unsupported, match="every local budget up to"):
        solve_eps0(lambda eps0: flat, n=1, delta="1/10", eps=1)
    with pytest.raises(Unsupported, match="no budget down to"):
        solve_eps0(lambda eps0: BINARY, n=1, delta="1/10", exp_eps="5/4")
    for wrong in (0, 1):
        with pytest.raises(InputError, match="delta"):
            solve_eps0(response, n=1, delta=wrong, eps=1)
    with pytest.raises(InputError, match="n = 0"):
        solve_eps0(response, n=0, delta="1/10", eps=1)


def test_the_fewest_users_by_trying_all():
    values = [delta(SKEW, n=n, exp_eps=X, rigour="exact").bracket.exact for n in range(1, 9)]
    for goal, fewest in ((values[3], 4), (values[3] - Fraction(1, 10**12), 5), (values[0], 1)):
        found = solve_n(SKEW, exp_eps=X, delta=goal)
        assert (found.bracket.upper, found.bracket.lower) == (fewest, max(fewest - 1, 1))
        assert (found.safe, found.delta.upper <= goal) == (SafeEnd.UPPER, True)
        assert ("at n = lower it exceeds delta" in found.about) is (fewest > 1)
    with pytest.raises(InputError, match="n = 5: expected none in any round"):
        solve_n([rounds(SKEW, 1), rounds(SKEW, 2, n=5)], exp_eps=X, delta="0.1")
    one = solve_n(rounds(SKEW, 1), exp_eps=X, delta=values[3]).bracket
    assert one.upper == 4


def test_dropout_and_rounds_are_looked_at_coarsely(monkeypatch):
    """Five thousandths where a value is made of many; three times that, at most a half, of delta."""
    seen = []

    def cross(search, bound, goal, rel, *, quick=None):
        seen.append((rel, quick is not None, bound(Fraction(2), 1e-9), bound(Fraction(2), 0.3)))
        return Crossing(Fraction(3), Fraction(2), bracket("0.1"), bracket("0.2"))

    monkeypatch.setattr(inverses, "cross", cross)
    monkeypatch.setattr(inverses, "bound_of", lambda asked, n, order, request: (request.rel, request.rigour))
    for ask, fine in (
        (lambda **more: solve_eps0(response, n=4, eps=1, delta="0.1", **more), 1e-6),
        (lambda **more: solve_n(BINARY, eps="0.1", delta="0.1", **more), 1e-10),
    ):
        found = ask()
        assert seen.pop() == (fine, False, (1e-9, Rigour.FLOAT64), (0.3, Rigour.FLOAT64))
        assert (found.bracket.lower, found.bracket.upper, found.delta) == (2, 3, bracket("0.1"))
        ask(rigour="ball")
        assert seen.pop() == (fine, True, (1e-9, Rigour.BALL), (0.3, Rigour.BALL))
        ask(dropout="1/4")
        rel, _, small, large = seen.pop()
        assert (rel, small[0], large[0]) == (5e-3, pytest.approx(1.5e-2), 0.3)
    solve_eps0(lambda eps0: rounds(response(eps0), 2), n=4, eps=1, delta="0.1")
    assert seen.pop()[0] == 5e-3
    solve_eps0(response, n=4, eps=1, delta="0.1", rel=0.2, dropout="1/4")
    assert seen.pop()[2][0] == 0.5


# What has a budget.


def test_what_is_run_at_a_budget():
    third = Fraction(1, 3)
    assert inverses._by_budget(response)(third) == response(third)
    assert inverses._by_budget(Laplace(Exp(Fraction(1)), cells=40))(third) == Laplace(Exp(third), cells=40)
    several = inverses._by_budget([rounds(response, 2, n=5), rounds(Laplace(None), 3)])(third)
    assert [(part.times, part.n, part.source) for part in several.parts] == [
        (2, 5, response(third)), (3, None, Laplace(Exp(third)))
    ]  # fmt: skip


# Where searches begin: two Gaussians that have the target.


@pytest.mark.parametrize(("eps", "goal"), [(0.1, 1e-6), (1.0, 1e-3)])
def test_the_users_that_are_guessed(eps, goal):
    guide = inverses._users_guide(0.7, Exp(Fraction(eps)), Fraction(goal))
    assert log_profile(eps, math.sqrt(0.7 / guide.start)) == pytest.approx(math.log(goal), rel=1e-9)
    assert (guide.falling, guide.whole, guide.most, guide.eps(9.0)) == (True, True, 10**15, eps)
    assert inverses._users_guide(1e-30, Exp(Fraction(eps)), Fraction(goal)).start == 1
    assert inverses._users_guide(1e30, Exp(Fraction(eps)), Fraction(goal)).start == 1e15
    for spread in (None, 0.0, -1.0):
        assert inverses._users_guide(spread, Exp(Fraction(eps)), Fraction(goal)) is None


@pytest.mark.parametrize("power", [2.0, 1.0, 3.0])
def test_the_budget_that_is_guessed(power):
    """Where a squared distance of ``0.002 b^power`` is that of the target, up to what a first guess may be off."""
    seen = []

    def at(budget):
        seen.append(budget)
        return 0.002 * float(budget) ** power

    guide = inverses._budget_guide(at, Exp(Fraction(1, 10)), Fraction(1, 10**4))
    mu = math.sqrt(0.002 * guide.start**power)
    assert log_profile(0.1, mu) == pytest.approx(math.log(1e-4), rel=0.05)
    assert len(seen) <= 6
    assert (guide.falling, guide.whole, guide.most, guide.eps(9.0)) == (False, False, 64, 0.1)
    assert inverses._budget_guide(lambda _: None, Exp(Fraction(1, 10)), Fraction(1, 10**4)) is None
    assert inverses._budget_guide(lambda _: 0.0, Exp(Fraction(1, 10)), Fraction(1, 10**4)) is None


def test_levels_as_doubles():
    assert inverses._exponent(Exp(Fraction(3, 7))) == 3 / 7
    assert inverses._exponent(Fraction(2)) == pytest.approx(math.log(2), rel=1e-15)


def test_a_request_about_one_value():
    asked = Request(rel=1e-2)
    for costly, width, rel in ((True, 1e-6, 3e-2), (True, 0.2, 0.2), (True, 0.9, 0.5), (False, 1e-6, 1e-6)):
        assert inverses._of_delta(asked, Rigour.BALL, width, costly=costly) == Request(rigour=Rigour.BALL, rel=rel)


def test_plain_searches_find_what_guided_ones_do(monkeypatch):
    """Without a guess of where two Gaussians have the target: from one user upwards, from the target level on."""
    monkeypatch.setattr(inverses, "_users_guide", lambda *_: None)
    monkeypatch.setattr(inverses, "_budget_guide", lambda *_: None)
    values = [delta(SKEW, n=n, exp_eps=X, rigour="exact").bracket.exact for n in range(1, 8)]
    for fewest in (1, 2, 6, 7):
        assert solve_n(SKEW, exp_eps=X, delta=values[fewest - 1]).bracket.upper == fewest
    for target, x in (("1/10", "5/4"), ("1e-3", "1"), ("1/2", "3")):
        truth = math.log((Fraction(target) + Fraction(x)) / (1 - Fraction(target)))
        found = solve_eps0(response, n=1, delta=target, exp_eps=x, rel=1e-3).bracket
        assert found.lower <= truth * (1 + 1e-12) and truth * (1 - 1e-12) <= found.upper
