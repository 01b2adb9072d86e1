"""Least numbers of messages, dropout and groups against the experiment itself, and against their simple bounds."""

import itertools
import math
from fractions import Fraction

import pytest

from symshuffle import (
    Channel,
    Deployment,
    Group,
    InputError,
    delta,
    epsilon,
    gaussian_limit,
    largest_eps0,
    privacy_loss_distribution,
    profile,
    randomizer,
    smallest_n,
    tradeoff,
)
from symshuffle.accountants import amplification_curve
from symshuffle.accountants.bounds.brackets import bound_at, ratio_of
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.groups import group_factor
from symshuffle.accountants.deployment.message_counts import partial_cdf
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.rounds.dominating import law_above, law_below
from symshuffle.accountants.rounds.one_round import OneRound
from symshuffle.base.results import Bracket
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.cli import main
from tests.oracles.means import mean_over_dropouts
from tests.shell import refused

KRR = randomizer("krr").at(k=3, lam=3)
X = Fraction(6, 5)


def test_the_factor_of_a_group_is_a_sum_of_powers():
    for n, root in itertools.product((2, 3), (Fraction(1), Fraction(6, 5), Fraction(3, 2))):
        bound = delta(KRR, n=n, group_size=2, exp_eps=root**2, arithmetic="exact").bracket
        assert bound.exact == (1 + root) * delta(KRR, n=n, exp_eps=root, arithmetic="exact").bracket.exact
    assert group_factor(3, Fraction(2)) == 7 and group_factor(1, X) == 1


def test_an_irrational_root_is_rounded_down():
    bound = delta(KRR, n=3, group_size=2, exp_eps=2).bracket
    by_level = delta(KRR, n=3, group_size=2, eps=Fraction(math.log(2))).bracket
    assert by_level.lower * (1 - Fraction(1, 10**6)) <= bound.upper
    worst = max(
        shuffled_divergence(KRR.channel(), (*a, 2), (*b, 2), 2)
        for a, b in itertools.product(itertools.product(range(3), repeat=2), repeat=2)
    )
    assert worst <= bound.upper


@pytest.mark.parametrize("q", ["1/10", "1/2", "9/10"])
def test_dropout_at_few_users_is_the_mean(q):
    q = Fraction(q)
    found = delta(KRR, n=3, dropout=q, exp_eps=X, arithmetic="exact").bracket
    values = [delta(KRR, n=m, exp_eps=X, arithmetic="exact").bracket.exact for m in (1, 2, 3)]
    assert found.exact == sum(math.comb(2, m) * (1 - q) ** m * q ** (2 - m) * value for m, value in enumerate(values))
    rounded = delta(KRR, n=3, dropout=q, exp_eps=X).bracket
    assert rounded.lower <= found.exact <= rounded.upper and rounded.width <= Fraction(1, 1000) * rounded.upper


def falling(m, width):
    """A falling bound with an end of its own on each side."""
    value = Fraction(math.exp(-m / 40))
    return Bracket(value * (1 - Fraction(width) / 4), value, "float64", "test", "exp")


@pytest.mark.parametrize(("users", "q", "rtol"), [(60, "1/3", 1e-3), (2000, "1/10", 1e-2), (50, "1/1000", 1e-6)])
def test_the_mean_lies_in_the_bracket(users, q, rtol):
    q = Fraction(q)
    found = mean_over_dropouts(falling, users, q, rtol)
    # Closed form of the mean of exp(-M/40), to doubles.
    true = math.exp(-1 / 40) * (float(q) + (1 - float(q)) * math.exp(-1 / 40)) ** (users - 1)
    assert found.lower <= true * (1 + 1e-7) and found.upper >= true * (1 - 1e-7)
    assert found.aimed is None and found.width <= Fraction(rtol) * found.upper
    exactly = [partial_cdf(users, q, exact=True)(m) for m in range(users + 1)] if users <= 200 else []
    for m, (low, _) in enumerate(exactly):
        under, over = partial_cdf(users, q)(m)
        assert under <= low <= over and (m in (0, users) or 0 < over - under < Fraction(1, 2**60) or over < 1e-30)


@pytest.mark.parametrize(("n", "q", "eps"), [(1000, "0.5", "0.15"), (300, "0.1", "0.3")])
def test_dropout_is_never_worse_than_any_single_number(n, q, eps):
    found = delta(KRR, n=n, dropout=q, eps=eps).bracket
    below = partial_cdf(n, Fraction(q))
    for m in range(1, n + 1, 40):
        simple = delta(KRR, n=m, eps=eps).bracket.upper + below(m - 1)[1]
        assert found.upper <= simple * (1 + Fraction(1, 1000))
    assert delta(KRR, n=n, eps=eps).bracket.lower <= found.upper


@pytest.mark.parametrize("power", [3000, 5000])
def test_values_next_to_nothing_are_covered_and_zero_stays_zero(power):
    def tiny(m, width):
        value = Fraction(1, 2**power)
        return Bracket(value, value, "float64", "test", "tiny")

    def nothing(m, width):
        return Bracket(Fraction(0), Fraction(0), "float64", "test", "zero")

    found = mean_over_dropouts(tiny, 10**6, Fraction(1, 10), 1e-3)
    assert found.lower <= Fraction(1, 2**power) <= found.upper <= Fraction(1, 2 ** (min(power, 4000) - 1))
    assert mean_over_dropouts(nothing, 1000, Fraction(0), 1e-3).upper == 0


def test_tails_are_charged():
    """A bound of 1 below the mean: what is left of it is the tail."""

    def step(m, width):
        high = Fraction(m < 50)
        return Bracket(high, high, "float64", "test", "step")

    found = mean_over_dropouts(step, 100, Fraction(1, 10), 1e-9)
    exact = partial_cdf(100, Fraction(1, 10), exact=True)(49)[0]
    assert found.lower <= exact <= found.upper and found.width < Fraction(1, 10**6) * exact


def test_epsilon_meets_its_target_and_says_what_it_supposes():
    who = {"n": 40, "dropout": "0.25", "group_size": 2}
    found = epsilon(KRR, **who, delta="1e-2", rtol=1e-2)
    assert delta(KRR, **who, eps=found.bracket.upper, rtol=1e-4).bracket.lower <= Fraction("1e-2")
    assert delta(KRR, **who, eps=found.bracket.lower * Fraction(99, 100), rtol=1e-4).bracket.lower > Fraction("1e-2")
    assert "differ in the inputs of at most 2 users" in found.about
    assert "drops out independently with probability 1/4" in found.about
    assert found.safe == "upper" and found.to_dict()["neighbours"]["dropout"] == "1/4"
    least = epsilon(KRR, n=1000, min_batch_size=700, delta="1e-6")
    assert abs(least.bracket.upper / epsilon(KRR, n=700, delta="1e-6").bracket.upper - 1) < 1e-5
    assert "n = 1000 users" in least.about and "at least 700 of them send" in least.about
    assert "symshuffle.more-users" in least.about
    plain = delta(KRR, n=100, eps="0.1")
    assert delta(KRR, n=100, eps="0.1", group_size=1).bracket == plain.bracket and "send a message" not in plain.about


SMALL = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])


@pytest.mark.parametrize("who", [{"min_batch_size": 20}, {"dropout": "1/5", "group_size": 2}])
def test_curves_and_inverses_ask_the_same_experiment(who):
    """No door knows of a population: each gives what delta and epsilon of the same population give."""
    curve = profile(KRR, n=30, eps=["0.2", "0.5"], **who)
    for point in curve.points:
        alone = delta(KRR, n=30, eps=point.x, **who).bracket
        assert point.y.lower <= alone.upper and alone.lower <= point.y.upper
    assert curve.neighbours == delta(KRR, n=30, eps="0.1", **who).neighbours
    budget = largest_eps0(randomizer("krr").at(k=3), n=30, eps="0.5", delta="1e-2", **who)
    for eps0, meets in ((budget.bracket.lower, True), (budget.bracket.upper, False)):
        value = delta(randomizer("krr").at(k=3, eps0=eps0), n=30, eps="0.5", rtol=1e-5, **who).bracket
        assert (value.upper <= Fraction("1e-2")) is meets
    if "min_batch_size" in who:
        return
    users = smallest_n(KRR, eps="1", delta="1e-2", **who)
    for n, meets in ((users.bracket.upper, True), (users.bracket.lower, False)):
        value = delta(KRR, n=int(n), eps="1", rtol=1e-5, **who).bracket
        assert (value.upper <= Fraction("1e-2")) is meets
    eps = amplification_curve(KRR, delta="1e-2", users=[10, 20], rtol=1e-2, **who)
    for point in eps.points:
        alone = epsilon(KRR, n=int(point.x), delta="1e-2", rtol=1e-2, **who).bracket
        assert point.y.lower <= alone.upper and alone.lower <= point.y.upper


def test_a_trade_off_and_a_loss_distribution_with_fewer_messages():
    asked = {"type_i": ["0.1", "0.5"], "num_levels": 10}
    assert tradeoff(KRR, n=100, min_batch_size=60, **asked).points == tradeoff(KRR, n=60, **asked).points
    with pytest.raises(InputError, match="group_size = 2: expected 1 in a trade-off function"):
        tradeoff(KRR, n=100, group_size=2, **asked)
    loss = privacy_loss_distribution(KRR, n=100, dropout="1/5", step="0.1", beyond="1e-3")
    for level, value in enumerate(loss.deltas()[:6]):
        assert value >= float(delta(KRR, n=100, dropout="1/5", eps=Fraction(level, 10)).bracket.lower)
    assert loss.about["neighbours"]["dropout"] == "1/5" and "drops out independently" in loss.about["meaning"]


def test_rounds_in_which_not_all_send():
    every = {"delta": "1e-2", "rtol": 5e-2}
    daily = Deployment(SMALL, periods=2)
    least = epsilon(daily, n=10, min_batch_size=6, **every)
    assert least.bracket == epsilon(daily, n=6, **every).bracket and "at least 6 of them" in least.about
    some = epsilon(daily, n=10, dropout="2/5", **every).bracket
    assert epsilon(daily, n=10, **every).bracket.lower < some.upper
    assert some.lower < epsilon(daily, n=4, **every).bracket.upper
    with pytest.raises(InputError, match="group_size = 2: expected 1 with several batches"):
        epsilon(daily, n=10, group_size=2, **every)
    with pytest.raises(InputError, match="min_batch_size = 11: expected an integer from 1 to 10"):
        epsilon(daily, n=10, min_batch_size=11, **every)


def test_laws_of_rounds_with_dropout_are_on_both_sides_of_the_mean():
    """The witness takes by itself every number of messages that is not next to impossible."""
    q, n, step = Fraction(1, 5), 120, Fraction(1, 100)
    covering = reduction(SMALL, dropout=q)
    known = OneRound(covering, n, 1, Method()).profile(step, Fraction(1, 10**6), 1e-2)
    upper, lower = law_above(known), law_below(known)
    each = reduction(SMALL)
    coins = {m: math.comb(n - 1, m - 1) * (1 - q) ** (m - 1) * q ** (n - m) for m in range(1, n + 1)}
    coins = {m: p for m, p in coins.items() if p > 1e-9}
    for eps in (Fraction(0), Fraction(1, 200), Fraction(1, 20)):
        order = ratio_of(eps)
        mean = sum(float(p) * float(bound_at(each, m, order, Method(rtol=1e-6)).upper) for m, p in coins.items())
        assert _profile(lower, eps) <= mean * (1 + 1e-5)
        assert _profile(upper, eps) >= mean * (1 - 1e-5)
        assert _profile(lower, eps) > 0.5 * _profile(upper, eps) > 0


def _profile(law, eps):
    """The hockey-stick divergence of a law on a lattice."""
    losses = (float(law.step) * (law.first + k) for k in range(len(law.masses)))
    finite = sum(p * max(-math.expm1(float(eps) - loss), 0.0) for p, loss in zip(law.masses, losses, strict=True))
    return float(law.infinity) + finite


def test_a_lattice_that_is_there_serves_a_question_after_it():
    """The same answer within its width, whichever question came first."""
    plan = Deployment(randomizer("krr").at(k=4, eps0=1), periods=3)
    first = delta(plan, n=1001, eps="0.05").bracket
    tail = delta(plan, n=1001, eps="0.2").bracket
    again = delta(plan, n=1002, eps="0.2").bracket, delta(plan, n=1002, eps="0.05").bracket
    for one, other in ((tail, again[0]), (first, again[1])):
        assert one.width <= Fraction(1, 100) * one.upper and other.width <= Fraction(1, 100) * other.upper
        assert abs(one.upper / other.upper - 1) < Fraction(1, 20)
        assert other.aimed is None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dropout": 1}, r"dropout = 1: expected a number in \[0, 1\)"),
        ({"dropout": "-0.1"}, "dropout = -0.1"),
        ({"dropout": "nan"}, "dropout = nan: expected a number"),
        ({"min_batch_size": 11}, "min_batch_size = 11: expected an integer from 1 to 10"),
        ({"min_batch_size": 2.5}, "min_batch_size = 2.5: expected an integer of at least 1"),
        ({"group_size": 11}, "group_size = 11: expected an integer from 1 to 10"),
        ({"group_size": 0}, "group_size = 0: expected an integer of at least 1"),
        ({"min_batch_size": 3, "dropout": "0.1"}, "min_batch_size, dropout = 3, 0.1: expected one of the two"),
    ],
)
def test_populations_that_are_none(options, said):
    with pytest.raises(InputError, match=said):
        delta(KRR, n=10, eps="0.1", **options)


def test_what_cannot_be_answered_is_refused():
    with pytest.raises(InputError, match="both, for a group"):
        delta(KRR, n=10, group_size=2, eps="0.1", direction="forward")
    for question in (
        lambda: smallest_n(KRR, eps="0.1", delta="1e-3", min_batch_size=5),
        lambda: amplification_curve(KRR, users=[10], delta="1e-3", min_batch_size=5),
    ):
        with pytest.raises(InputError, match="min_batch_size = 5: expected none where the number of users is asked"):
            question()
    few = reduction(KRR, min_batch_size=5)
    assert delta(few, n=10, eps="0.1").bracket == delta(KRR, n=5, eps="0.1").bracket
    with pytest.raises(InputError, match="that of the reduction"):
        delta(few, n=10, eps="0.1", min_batch_size=6)
    assert Group(min_batch_size="200,000").min_batch_size == 200_000


def test_the_command_line(capsys):
    asked = ["delta", "krr", "-p", "k=3", "--lam", "3", "--exp-eps", "36/25", "--n", "3", "--arithmetic", "exact"]
    assert main([*asked, "--group-size", "2", "--json"]) == 0
    shown = capsys.readouterr().out
    exact = delta(KRR, n=3, group_size=2, exp_eps="36/25", arithmetic="exact").bracket.exact
    assert f'"exact": "{exact}"' in shown
    few = ["epsilon", "krr", "-p", "k=3", "--eps0", "1", "--n", "500", "--delta", "1e-5", "--min-batch-size", "400"]
    assert main(few) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert "any one of 500 users" in shown and "at least 400 send" in shown
    assert main([*few, "--explain"]) == 0
    assert "at least 400 of them send" in " ".join(capsys.readouterr().out.split())
    for wrong, said in (
        (["--dropout", "1"], "dropout = 1: expected a number in [0, 1)"),
        (["--min-batch-size", "4"], "--min-batch-size = 4: expected an integer from 1 to 3"),
        (["--min-batch-size", "2", "--dropout", "0"], "--min-batch-size, --dropout = 2, 0: expected one of the two"),
    ):
        assert said in refused(capsys, *asked, *wrong)


@pytest.mark.parametrize(("n", "dropout"), [(1, "1/10"), (3, "9/10"), (2, "999/1000")])
def test_hardly_anybody_sends(n, dropout):
    """The user who is asked about always sends: a bound exists, and no Gaussian is further than that of one message."""
    source = randomizer("rr").at(lam=3)
    found = epsilon(source, n=n, delta=Fraction(1, 5), dropout=dropout).bracket
    alone = epsilon(source, n=1, delta=Fraction(1, 5)).bracket
    assert 0 < found.upper <= alone.upper * (1 + Fraction(1, 100))
    mu = gaussian_limit(source, n=n, dropout=dropout).mu
    assert 0 < mu <= gaussian_limit(source, n=1).mu


def test_the_gaussian_of_a_dropout_is_that_of_the_mean_number_of_messages():
    source = randomizer("rr").at(lam=3)
    mean = gaussian_limit(source, n=1).mu ** 2 / gaussian_limit(source, n=101, dropout="1/2").mu ** 2
    assert mean == pytest.approx(51)


@pytest.mark.parametrize("door", [delta, largest_eps0])
def test_what_is_no_covering_is_refused_before_any_work(door):
    asked = {"n": 20, "exp_eps": 2} | ({} if door is delta else {"delta": "1e-2"})
    source = randomizer("subset-selection").at(k=10, s=3, **({"lam": 3} if door is delta else {}))
    for argument, value, expected in (("null", 3, "a list"), ("group_size", 10**16, "from 1 to 20")):
        with pytest.raises(InputError, match=f"^{argument} = {value}: expected .*{expected}"):
            door(source, **asked, **{argument: value})


@pytest.mark.parametrize("written", [1.0, "1.0", "1.000", Fraction(2), "100%"])
def test_all_users_as_a_share_and_one_user_are_not_confused(written):
    if written == Fraction(2):
        assert Group(KRR, 5, colluding=written).honest(5) == 3
        return
    with pytest.raises(InputError, match="colluding"):
        Group(KRR, 5, colluding=written)


@pytest.mark.parametrize("share", ["10%", "1/3", "1/2", "3/5", "2/3"])
def test_the_fewest_users_of_a_share_have_an_honest_one(share):
    group = Group(KRR, colluding=share)
    assert group.honest(group.fewest) == 1
    assert group.colluders(group.fewest - 1) == group.fewest - 1
    assert int(smallest_n(group, reports=2, eps=2, delta="9/10").safe_end) == group.fewest


def test_who_colludes_is_not_protected():
    found = delta(KRR, n=5, eps="1/2", colluding=2)
    assert "the 3 of 5 users who do not collude" in found.lines.protects
    assert "any one of 5 users may" in delta(KRR, n=5, eps="1/2").lines.protects
    groups = Deployment((Group(KRR, 5, colluding=2), Group(KRR, 4)))
    for several in (groups, groups.with_(periods=2)):
        lines = delta(several, eps="1/2", rtol=1e-2).lines
        assert "those of 9 users who do not collude" in lines.protects
        assert "fixed colluding users: in group 0, 2 users collude" in lines.assumes
    assert "any 2 together of the 3 of 5" in delta(KRR, n=5, eps="1/2", colluding=2, group_size=2).lines.protects
