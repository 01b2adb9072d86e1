"""Every answer that is a probability has both ends in [0, 1]; a bracket is clipped where bounds are made."""

from fractions import Fraction as F

import pytest

import symshuffle
from symshuffle import Channel, Group, randomizer
from symshuffle.accountants.bounds import brackets
from symshuffle.accountants.questions import adversary
from symshuffle.accountants.questions.tradeoff_function import tradeoff
from symshuffle.base.levels import as_probability
from symshuffle.base.results import Bracket
from tests.shell import answer, run

LOUD = (
    randomizer("krr").at(k=3, eps0=5000),
    randomizer("krr").at(k=3, lam=2),
    randomizer("subset-selection").at(k=5, s=2, eps0=40),
    randomizer("rappor").at(D=4, eps0=60),
)
CHANNELS = [Channel.from_rows([[p, 1 - p], [1 - p, p]]) for p in (F(3, 5), F(999, 1000))]


def is_probability(found):
    return 0 <= found.lower <= found.upper <= 1


@pytest.mark.parametrize(("low", "high"), [("-1/9", "10/9"), ("-3", "-1"), ("2", "3"), ("1/3", "1/2")])
def test_clipped_bracket_holds_the_same_probabilities(low, high):
    found = as_probability(Bracket(F(low), F(high), "ball", "none", ""))
    assert is_probability(found)
    for value in (F(0), F(1, 9), F(2, 5), F(1)):
        assert not F(low) <= value <= F(high) or found.contains(value)


@pytest.mark.parametrize("source", range(len(LOUD)))
@pytest.mark.parametrize("n", [1, 10, pytest.param(300, marks=pytest.mark.conformance)])
def test_delta_is_a_probability(source, n):
    for eps in (0, 2, 39):
        for arithmetic in ("float64", "ball"):
            for more in ({}, {"group_size": min(n, 3)}, {"direction": "forward"}):
                bound = symshuffle.delta(LOUD[source], n=n, eps=eps, arithmetic=arithmetic, rtol=0.1, **more)
                assert is_probability(bound.bracket), (eps, arithmetic, more)


def test_whatever_a_bracket_is_before_a_bound_is_a_probability(monkeypatch, capsys):
    """A fault injected below: no front function prints what is no probability."""
    evaluate = brackets.evaluate

    def too_wide(*asked):
        found = evaluate(*asked)
        return Bracket(found.lower - F(1, 2), found.upper + F(3, 2), found.arithmetic, found.engine, found.evaluation)

    monkeypatch.setattr(brackets, "evaluate", too_wide)
    krr = LOUD[1]
    users = [Group(channel, 3) for channel in CHANNELS]
    found = [
        symshuffle.delta(krr, n=4, eps=0).bracket,
        symshuffle.delta(krr, n=4, eps=0, dropout="1/2").bracket,
        symshuffle.delta(users, eps=0).bracket,
        adversary.worst_of_two_types(krr.channel(), 4, F(6, 5)).bracket,
        *(point.y for point in symshuffle.profile(krr, n=4, eps=[0, 1]).points),
    ]
    assert all(map(is_probability, found))
    told = answer(capsys, "delta", "krr", "-p", "k=3", "--lam", 2, "--n", 4, "--exp-eps", 2)
    assert 0 <= float(told["lower"]) <= float(told["upper"]) <= 1


def test_curves_and_rounds_are_probabilities():
    for source in LOUD[1:3]:
        points = tradeoff(source, n=10, type_i=[0, F(1, 2), 1]).points
        assert all(is_probability(point.y) for point in points)
        assert is_probability(symshuffle.delta(source, n=10, periods=2, eps=1, rtol=0.3).bracket)


def test_command_prints_no_delta_above_one(capsys):
    asked = ("delta", "krr", "-p", "k=3", "--eps0", 5000, "--n", 10, "--exp-eps", 2)
    assert answer(capsys, *asked)["upper"] == "1"
    assert run(capsys, *asked)[1].startswith("delta     <= 1 ")
