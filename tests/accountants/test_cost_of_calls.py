"""What calls cost, in values of engines and comparisons, and that cheap roads say what the dear ones say."""

import time
from fractions import Fraction as F

import pytest

from symshuffle import (
    Channel,
    Deployment,
    Unsupported,
    delta,
    epsilon,
    largest_eps0,
    privacy_loss_distribution,
    profile,
    randomizer,
    renyi,
    smallest_n,
)
from symshuffle.accountants import amplification_curve
from symshuffle.accountants.bounds import brackets
from symshuffle.accountants.deployment import listed
from symshuffle.accountants.rounds import one_round, over_rounds
from symshuffle.base import cost
from symshuffle.decompositions import model
from symshuffle.engines import Contour
from symshuffle.vectors import BlanketMixedGaussian, LocalGaussian

KRR = randomizer("krr").at(k=4, eps0=1)


def counting(monkeypatch, place, name):
    """Count the calls of a function of a module."""
    calls, plain = [], getattr(place, name)

    def counted(*args, **kwargs):
        calls.append(args)
        return plain(*args, **kwargs)

    monkeypatch.setattr(place, name, counted)
    return calls


def test_dropout_is_one_value(monkeypatch):
    calls = counting(monkeypatch, brackets, "evaluate")
    assert delta(KRR, n=10_000, dropout="1/10", eps="0.05").bracket.width < F(1, 10**10)
    assert len(calls) <= 4


def test_rounds_with_dropout_take_as_many_values_as_without(monkeypatch):
    calls = counting(monkeypatch, brackets, "evaluate")
    plain = epsilon(KRR, n=900, delta="1e-6", periods=2).bracket
    alone = len(calls)
    dropping = epsilon(KRR, n=1000, delta="1e-6", periods=2, dropout="1/10").bracket
    assert len(calls) - alone <= 1.3 * alone
    assert plain.upper * F(99, 100) < dropping.upper < plain.upper * F(101, 100)


@pytest.mark.parametrize("source", [LocalGaussian(2), randomizer("laplace").at(eps0=1)], ids=["gaussian", "laplace"])
def test_dropout_of_densities_is_the_mean(source):
    q, eps = F(1, 4), F(1, 5)
    one, two = (delta(source, n=n, eps=eps, rtol=1e-4).bracket for n in (1, 2))
    found = delta(source, n=2, dropout=q, eps=eps, rtol=1e-4).bracket
    assert found.lower <= q * one.upper + (1 - q) * two.upper
    assert found.upper >= q * one.lower + (1 - q) * two.lower
    assert found.upper <= (q * one.upper + (1 - q) * two.upper) * F(1001, 1000)


def test_losses_of_a_flat_profile_take_few_values(monkeypatch):
    calls = counting(monkeypatch, one_round, "bound_at")
    extreme = randomizer("blh", lam="1e400")
    found = privacy_loss_distribution(extreme, n=100, step="0.05", beyond="1e-6", rtol=1e-3, arithmetic="ball")
    deltas = found.deltas()
    assert len(deltas) > 18_000 and len(calls) < 1_000
    for i in [0, 1, 5_000, *range(17_900, len(deltas) - 1, 40)]:  # flat up to 900, then down to 0 at 921
        bracket = delta(extreme, n=100, eps=i * F(found.law.step), arithmetic="ball", rtol=1e-6).bracket
        assert bracket.lower <= deltas[i] <= float(bracket.upper) * 1.003


def test_one_pair_of_a_mechanism_whose_pairs_are_alike_needs_no_matrix(monkeypatch):
    oue = randomizer("oue").at(D=4, eps0=2)
    by_matrix = delta(Channel(oue.channel().rows), n=50, eps="0.3", pairs=[(0, 1)]).bracket
    monkeypatch.setattr(listed, "of_channel", None)
    found, every = delta(oue, n=50, eps="0.3", pairs=[(0, 1)]), delta(oue, n=50, eps="0.3")
    assert found.bracket == every.bracket
    assert found.bracket.lower <= by_matrix.upper and by_matrix.lower <= found.bracket.upper
    assert "inputs 0 and 1" in found.about


def test_outputs_alike_are_found_without_comparing_all(monkeypatch):
    channel = randomizer("oue").at(D=6, eps0=2).channel()
    calls = counting(monkeypatch, model, "_proportional")
    model.simplified_weights(channel.rows[0], channel.rows[1], channel.blanket())
    assert len(calls) <= channel.num_outputs**2 / 8


def test_a_width_out_of_reach_costs_little_and_says_so(monkeypatch):
    calls = counting(monkeypatch, brackets, "evaluate")
    found = delta(Deployment(KRR, periods=2), n=1000, eps="0.2", rtol=1e-15).bracket
    assert found.aimed == 1e-15 and found.width < F(1, 100) * found.upper
    assert len(calls) < 2000


def test_the_end_of_a_profile_is_found_at_any_width(monkeypatch):
    """Arguments of few digits tell no two apart that are closer than these: a search among them would not end."""
    calls = counting(monkeypatch, brackets, "_all_zero")
    found = epsilon(randomizer("krr").at(k=3, lam="3/2"), n=2, delta="1e-5", rtol="1e-30").bracket
    assert 0 < found.width <= F(1, 10**29) * found.upper
    assert len(calls) < 400


LAPLACE = randomizer("laplace").at(eps0=1)
ASKED = {
    "delta": lambda: delta(KRR, n=1000, eps="0.1"),
    "epsilon": lambda: epsilon(KRR, n=1000, delta="1e-6"),
    "rare values": lambda: epsilon(randomizer("rappor").at(D=4, eps0=20), n=10**4, delta="1e-6"),
    "group": lambda: epsilon(KRR, n=1000, delta="1e-6", group_size=2, rtol=1e-2),
    "dropout": lambda: epsilon(KRR, n=1000, delta="1e-6", dropout="1/10", rtol=1e-2),
    "periods": lambda: epsilon(KRR, n=1000, delta="1e-6", periods=2),
    "users": lambda: smallest_n(KRR, eps="0.1", delta="1e-6"),
    "budget": lambda: largest_eps0(randomizer("krr", k=4), n=1000, eps="0.1", delta="1e-6"),
    "renyi": lambda: renyi(KRR, n=1000, order=2, rtol=0.1),
    "laplace": lambda: delta(LAPLACE, n=1000, eps="0.1", rtol=1e-3),
    "profile": lambda: profile(KRR, n=1000, eps=["0.1", "0.2"]).points[1].y,
    "curve": lambda: amplification_curve(KRR, delta="1e-6", users=[100, 1000]).points[1].y,
    "gaussian": lambda: delta(LocalGaussian(2), n=100, eps="0.2", rtol=1e-3),
    "engine": lambda: epsilon(KRR, n=1000, delta="1e-6", engine=Contour()),
}


def of(asked):
    """The bracket of an answer."""
    found = asked()
    return getattr(found, "bracket", found)


@pytest.mark.parametrize("share", [0, 60])
@pytest.mark.parametrize("asked", ASKED.values(), ids=ASKED)
def test_where_no_work_is_left_the_answer_is_wider_and_true(asked, share, monkeypatch):
    known = of(asked)
    spent = counting(monkeypatch, cost, "add")
    of(asked)
    whole = sum(terms for (terms,) in spent)
    spent.clear()
    monkeypatch.setattr(cost, "MOST", int(whole * share / 100))
    try:
        found = of(asked)
    except Unsupported as refusal:
        assert asked is ASKED["engine"] and "leave the choice to auto" in str(refusal)
        return
    assert found.lower <= known.upper and known.lower <= found.upper
    assert found.aimed is not None or found.width <= known.width * 2
    assert sum(terms for (terms,) in spent) <= 2 * whole + 2 * 10**7


@pytest.mark.parametrize(
    "asked",
    [
        lambda: epsilon(randomizer("rappor").at(D=4, eps0=40), n=10**9, delta="1e-6"),
        lambda: epsilon(randomizer("laplace").at(eps0=12), n=100, delta="1e-3"),
        lambda: delta(LAPLACE, n=5, eps=1, reports=2),
        lambda: delta(LocalGaussian(2), n=60, eps="9/4", adjacency="zero-out", blanket="largest", rtol=1e-4),
    ],
    ids=["rare values", "both sides", "reports", "cells"],
)
def test_what_takes_too_long_ends_with_what_is_known(asked, monkeypatch):
    """A fiftieth of the work that a question may take: what is spent beyond it are values that take next to none."""
    most = cost.MOST // 50
    monkeypatch.setattr(cost, "MOST", most)
    spent = counting(monkeypatch, cost, "add")
    found = asked().bracket
    assert found.aimed is not None and found.upper > 0
    assert sum(terms for (terms,) in spent) <= 10 * most


@pytest.mark.parametrize("periods", [2, 100])
def test_values_that_do_not_fall_have_no_finer_lattice(periods, monkeypatch):
    """Where no work is left, every level has the value for one user: halving the step for ever would tell nothing."""
    monkeypatch.setattr(cost, "MOST", 0)
    lattices = counting(monkeypatch, over_rounds.AllRounds, "lattice")
    found = delta(BlanketMixedGaussian(gamma="1/4", sigma0=1), n=3, eps="0.1", periods=periods).bracket
    assert found.aimed is not None and 0 < found.upper <= 1
    assert len(lattices) <= 4


def test_powers_of_a_million_bits_are_not_taken_in_rationals():
    begun = time.process_time()
    long = delta(randomizer("olh", g=1000, D=10**6, lam=3), n=1000, eps="0.05").bracket
    assert time.process_time() - begun < 5
    limit = delta(randomizer("olh", g=1000, lam=3), n=1000, eps="0.05").bracket
    assert abs(long.upper - limit.upper) <= limit.upper / 10**6
