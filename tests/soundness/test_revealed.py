"""Mechanisms of which some or all messages reveal the input for certain, through every door that bounds something.

A door answers with what is revealed in its answer, or refuses in one line; a failed certificate of our own, an error of
a library, or a Gaussian of distance 0 is none of the two.
"""

import itertools
import math
from fractions import Fraction as F

import pytest

import symshuffle as s
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.cli import main
from symshuffle.utility.frontiers.leakage import leakage

ALL = s.Channel.from_rows([[0, 1], [1, 0]])
SOME = s.Channel.from_rows([["1/2", "1/2", 0], ["1/2", 0, "1/2"], ["1/2", "1/4", "1/4"]])
REVEALING = {
    "identity": (s.randomizer("identity").at(k=2), F(1)),
    "permutation": (ALL, F(1)),
    "erasure": (s.randomizer("erasure").at(k=3, p="1/4"), F(3, 4)),
    "some": (SOME, F(1, 2)),
}
"""What a message reveals for certain of the worst pair, at any level."""


@pytest.mark.parametrize("name", REVEALING)
def test_what_is_revealed_is_in_every_bound(name):
    source, left = REVEALING[name]
    assert s.delta(source, n=3, eps=1).bracket.upper >= left
    assert s.privacy_loss_distribution(source, n=3).law.infinity >= left
    twice = 1 - (1 - left) ** 2
    for arithmetic in ("float64", "ball"):
        assert (
            s.delta(s.Deployment(s.Group(source, 2), periods=2), n=None, eps=1, arithmetic=arithmetic).bracket.upper
            >= twice
        )
    other = s.Deployment(s.Group(s.randomizer("rr").at(lam=3), 3), periods=2)
    assert s.delta([s.Deployment(s.Group(source, 2)), other], n=None, eps=1).bracket.upper >= left
    with pytest.raises(Unsupported, match=r"reveal|infinite|no eps"):
        s.epsilon([s.Deployment(s.Group(source, 2)), other], n=None, delta=left / 2)
    with pytest.raises(Unsupported, match="infinite"):
        s.renyi(source, n=3, order=2)


@pytest.mark.parametrize("name", REVEALING)
def test_nothing_of_it_resembles_gaussians(name):
    source, _ = REVEALING[name]
    for asked, n in ((source, 10), (s.Deployment(s.Group(source, 10), periods=2), None)):
        with pytest.raises(Unsupported, match="reveal for certain"):
            s.gaussian_limit(asked, n=n)


def test_gaussians_remain_where_nothing_is_revealed():
    assert s.gaussian_limit(s.randomizer("constant").at(k=3), n=10).mu == 0
    assert s.gaussian_limit(s.randomizer("rr").at(lam=3), n=4).mu > 0


@pytest.mark.parametrize(
    "command", ["gdp {} --n 3", "renyi {} --n 3 --order 2", "epsilon {} --n 3 --delta 1/10", "decompose laplace"]
)
def test_commands_refuse_in_one_line(capsys, command):
    assert main(command.format("identity -p k=2").split()) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.count("\n") == 1


def test_a_distribution_of_losses_that_are_all_infinite(tmp_path):
    path = tmp_path / "identity.json"
    assert main(["pld", "identity", "-p", "k=2", "--n", "3", "--out", str(path)]) == 0
    found = s.accountants.PrivacyLossDistribution.read(path)
    assert found.law.infinity == 1
    assert not any(found.law.masses)
    assert set(found.deltas()) == {1.0}


def masses(rows):
    """The law of the histogram of one message per row, by enumeration."""
    law = {}
    for drawn in itertools.product(range(len(rows[0])), repeat=len(rows)):
        seen = tuple(sorted(drawn))
        law[seen] = law.get(seen, 0) + math.prod(row[y] for row, y in zip(rows, drawn, strict=True))
    return law


OUTSIDE = [
    [["2/5", "3/5"], ["1", "0"]],
    [["0", "1"], ["1/2", "1/2"]],
    [["1/11", "6/11", "4/11"], ["1/3", "5/9", "1/9"], ["3/5", "2/5", "0"]],
]
TERMS = {
    "chi-square": lambda p, q: (p - q) ** 2 / q if q else math.inf if p else 0,
    "kl": lambda p, q: 0 if not p else p * math.log(p / q) if q else math.inf,
    "squared-hellinger": lambda p, q: (math.sqrt(p) - math.sqrt(q)) ** 2,
    "renyi": lambda p, q: 0 if not p else p**1.5 / q**0.5 if q else math.inf,
}


@pytest.mark.parametrize("rows", OUTSIDE)
@pytest.mark.parametrize("name", TERMS)
def test_divergences_of_rows_with_other_outputs(rows, name):
    """Finite ones are computed, whichever of the two rows has a zero; infinite ones are refused."""
    channel = s.Channel.from_rows(rows)
    number = [[float(F(entry)) for entry in row] for row in rows]
    for (i, j), n, direction in itertools.product(
        itertools.permutations(range(len(rows)), 2), (1, 3), ("forward", "reverse")
    ):
        pair = masses([number[i]] + [number[j]] * (n - 1)), masses([number[j]] * n)
        p, q = pair if direction == "forward" else pair[::-1]
        truth = sum(TERMS[name](p.get(y, 0), q.get(y, 0)) for y in p | q)
        order = {"order": F(3, 2)} if name == "renyi" else {}
        if truth == math.inf:
            with pytest.raises(InputError, match="infinite"):
                leakage(channel, i, j, n=n, divergence=name, direction=direction, **order)
            continue
        truth = math.log(truth) / 0.5 if name == "renyi" else truth
        found = leakage(channel, i, j, n=n, divergence=name, direction=direction, **order).bracket
        assert float(found.lower) - 1e-12 <= truth <= float(found.upper) + 1e-12
        assert found.upper - found.lower < F(1, 10**12)
