"""Least numbers of messages, dropout and groups against the experiment itself, and against their simple bounds."""

import itertools
import math
from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, Unsupported, mechanism
from symshuffle import delta as delta_of_all
from symshuffle import epsilon as epsilon_of_all
from symshuffle.accountants.dropout import mean_over_dropouts, partial_cdf
from symshuffle.accountants.participation import (
    Population,
    delta,
    epsilon,
    group_factor,
)
from symshuffle.cli import main
from symshuffle.results import Bracket, Rigour, SafeEnd
from symshuffle.shuffled import shuffled_divergence

KRR = mechanism("krr").at(k=3, lam=3)
X = Fraction(6, 5)


def test_a_group_of_two_is_covered_and_the_factor_is_a_sum_of_powers():
    channel = KRR.channel()
    for n, x in itertools.product((2, 3), (Fraction(1), Fraction(36, 25), Fraction(9, 4))):
        bound = delta(KRR, Population(n, group=2), exp_eps=x, rigour="exact").bracket
        assert (
            bound.exact
            == (1 + math.isqrt(x.numerator) / Fraction(math.isqrt(x.denominator)))
            * (
                delta_of_all(
                    KRR, n=n, exp_eps=Fraction(math.isqrt(x.numerator), math.isqrt(x.denominator)), rigour="exact"
                )
            ).bracket.exact
        )
        for others in itertools.combinations_with_replacement(range(3), n - 2):
            for first, second in itertools.product(itertools.product(range(3), repeat=2), repeat=2):
                assert shuffled_divergence(channel, (*first, *others), (*second, *others), x) <= bound.exact
    assert group_factor(3, Fraction(2)) == 7 and group_factor(1, X) == 1


def test_an_irrational_root_is_rounded_down():
    bound = delta(KRR, Population(3, group=2), exp_eps=2).bracket
    by_level = delta(KRR, Population(3, group=2), eps=Fraction(math.log(2))).bracket
    assert by_level.lower * (1 - Fraction(1, 10**6)) <= bound.upper
    worst = max(
        shuffled_divergence(KRR.channel(), (*a, 2), (*b, 2), 2)
        for a, b in itertools.product(itertools.product(range(3), repeat=2), repeat=2)
    )
    assert worst <= bound.upper


@pytest.mark.parametrize("q", ["1/10", "1/2", "9/10"])
def test_dropout_at_few_users_is_the_mean_and_covers_the_experiment(q):
    q = Fraction(q)
    found = delta(KRR, Population(3, dropout=q), exp_eps=X, rigour="exact").bracket
    values = [delta_of_all(KRR, n=m, exp_eps=X, rigour="exact").bracket.exact for m in (1, 2, 3)]
    assert found.exact == sum(math.comb(2, m) * (1 - q) ** m * q ** (2 - m) * value for m, value in enumerate(values))
    dropping = Channel(
        (
            *((*row, Fraction(0)) for row in KRR.channel().rows),
            *((*((1 - q) * p for p in row), q) for row in KRR.channel().rows),
        )
    )
    for others in itertools.combinations_with_replacement(range(3, 6), 2):
        assert shuffled_divergence(dropping, (0, *others), (1, *others), X) <= found.exact
    rounded = delta(KRR, Population(3, dropout=q), exp_eps=X).bracket
    assert rounded.lower <= found.exact <= rounded.upper and rounded.width <= Fraction(1, 1000) * rounded.upper


def falling(m, width):
    """A falling bound with an end of its own on each side."""
    value = Fraction(math.exp(-m / 40))
    return Bracket(value * (1 - Fraction(width) / 4), value, Rigour.FLOAT64, "test", "exp")


@pytest.mark.parametrize(("users", "q", "rel"), [(200, "1/3", 1e-3), (2000, "1/10", 1e-2), (50, "1/1000", 1e-6)])
def test_the_mean_lies_in_the_bracket(users, q, rel):
    q = Fraction(q)
    found = mean_over_dropouts(falling, users, q, rel)
    # Closed form of the mean of exp(-M/40), to doubles.
    true = math.exp(-1 / 40) * (float(q) + (1 - float(q)) * math.exp(-1 / 40)) ** (users - 1)
    assert found.lower <= true * (1 + 1e-7) and found.upper >= true * (1 - 1e-7)
    assert found.aimed is None and found.width <= Fraction(rel) * found.upper
    exactly = [partial_cdf(users, q, exact=True)(m) for m in range(users + 1)] if users <= 200 else []
    for m, (low, _) in enumerate(exactly):
        under, over = partial_cdf(users, q)(m)
        assert under <= low <= over and (m in (0, users) or 0 < over - under < Fraction(1, 2**60) or over < 1e-30)


@pytest.mark.parametrize(("n", "q", "eps"), [(1000, "0.5", "0.15"), (300, "0.1", "0.3")])
def test_dropout_is_never_worse_than_any_single_number(n, q, eps):
    found = delta(KRR, Population(n, dropout=q), eps=eps).bracket
    below = partial_cdf(n, Fraction(q))
    for m in range(1, n + 1, 40):
        simple = delta_of_all(KRR, n=m, eps=eps).bracket.upper + below(m - 1)[1]
        assert found.upper <= simple * (1 + Fraction(1, 1000))
    assert delta_of_all(KRR, n=n, eps=eps).bracket.lower <= found.upper


@pytest.mark.parametrize("power", [3000, 5000])
def test_values_next_to_nothing_are_covered_and_zero_stays_zero(power):
    def tiny(m, width):
        value = Fraction(1, 2**power)
        return Bracket(value, value, Rigour.FLOAT64, "test", "tiny")

    def nothing(m, width):
        return Bracket(Fraction(0), Fraction(0), Rigour.FLOAT64, "test", "zero")

    found = mean_over_dropouts(tiny, 10**6, Fraction(1, 10), 1e-3)
    assert found.lower <= Fraction(1, 2**power) <= found.upper <= Fraction(1, 2 ** (min(power, 4000) - 1))
    assert mean_over_dropouts(nothing, 1000, Fraction(0), 1e-3).upper == 0


def test_tails_are_charged():
    """A bound of 1 below the mean: what is left of it is the tail."""

    def step(m, width):
        high = Fraction(m < 50)
        return Bracket(high, high, Rigour.FLOAT64, "test", "step")

    found = mean_over_dropouts(step, 100, Fraction(1, 10), 1e-9)
    exact = partial_cdf(100, Fraction(1, 10), exact=True)(49)[0]
    assert found.lower <= exact <= found.upper and found.width < Fraction(1, 10**6) * exact


def test_epsilon_meets_its_target_and_says_what_it_supposes():
    who = Population(1000, dropout="0.25", group=2)
    found = epsilon(KRR, who, delta="1e-6")
    assert delta(KRR, who, eps=found.bracket.upper, rel=1e-4).bracket.lower <= Fraction("1e-6")
    assert delta(KRR, who, eps=found.bracket.lower * Fraction(99, 100), rel=1e-4).bracket.lower > Fraction("1e-6")
    assert "differ in at most 2 users" in found.about and "drops out independently with probability 1/4" in found.about
    assert found.safe is SafeEnd.UPPER and found.to_dict()["dropout"] == "1/4"
    least = epsilon(KRR, Population(1000, min_users=700), delta="1e-6", rel=1e-6)
    assert abs(least.bracket.upper / epsilon_of_all(KRR, n=700, delta="1e-6").bracket.upper - 1) < 1e-5
    assert "at least 700 of 1000 users send" in least.about and "symshuffle.more-users" in least.about
    alone = delta(KRR, Population(100), eps="0.1", rel=1e-6)
    assert alone.bracket == delta_of_all(KRR, n=100, eps="0.1").bracket


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"dropout": 1}, r"dropout = 1: expected a probability in \[0, 1\)"),
        ({"dropout": "-0.1"}, "dropout = -0.1"),
        ({"min_users": 11}, "min_users = 11: expected an integer from 1 to 10"),
        ({"group": 11}, "group = 11: expected an integer from 1 to 10"),
        ({"min_users": 3, "dropout": "0.1"}, "min_users, dropout = 3, 0.1: expected one of the two"),
    ],
)
def test_populations_that_are_none(options, said):
    with pytest.raises(InputError, match=said):
        Population(10, **options)


def test_what_cannot_be_answered_is_refused():
    with pytest.raises(InputError, match="both, for a group"):
        delta(KRR, Population(10, group=2), eps="0.1", direction="forward")
    with pytest.raises(Unsupported, match="at most 300 users"):
        delta(KRR, Population(301, dropout="0.1"), exp_eps=X, rigour="exact")


def test_the_command_line(capsys):
    asked = ["delta", "krr", "-p", "k=3", "--lam", "3", "--exp-eps", "36/25", "--n", "3", "--rigour", "exact"]
    assert main([*asked, "--group", "2", "--json"]) == 0
    shown = capsys.readouterr().out
    exact = delta(KRR, Population(3, group=2), exp_eps="36/25", rigour="exact").bracket.exact
    assert f'"exact": "{exact}"' in shown
    assert (
        main(["epsilon", "krr", "-p", "k=3", "--eps0", "1", "--n", "500", "--delta", "1e-5", "--min-users", "400"]) == 0
    )
    assert "at least 400 of 500 users" in " ".join(capsys.readouterr().out.split())
    for wrong, said in (
        (["--dropout", "1"], "--dropout = 1: expected a probability in [0, 1)"),
        (["--min-users", "4"], "--min-users = 4: expected an integer from 1 to 3"),
        (["--min-users", "2", "--dropout", "0"], "--min-users, --dropout = 2, 0: expected one of the two, not both"),
        (["--group", "2", "--confirm"], "--confirm recomputes"),
    ):
        assert main([*asked, *wrong]) == 2
        assert said in capsys.readouterr().err
