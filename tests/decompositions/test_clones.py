"""The clone decompositions are decompositions, refuse what they must, and p has exactly the range that they report."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import optimize

from proofs_checks.decomposition._clones import (
    generic_pair,
    intuitive_clone,
    standard_clone,
    unsound_stronger_clone_pair,
)
from symshuffle import Channel, InputError
from symshuffle.base import enclose
from symshuffle.channels import shuffled_divergence
from symshuffle.decompositions.clones import standard_clone_pair, stronger_clone
from symshuffle.decompositions.model import primary_decomposition
from symshuffle.mechanisms import rr

CHANNEL = Channel.from_rows(
    [["1/5", "1/10", "2/5", "3/10"], ["1/10", "1/5", "2/5", "3/10"], ["1/10", "1/10", "1/5", "3/5"]]
)
PAIR = (0, 1)


@pytest.mark.parametrize("lam", [None, Fraction(3)])
@pytest.mark.parametrize("clone", [intuitive_clone, standard_clone])
def test_clones_decompose_the_channel(clone, lam):
    assert clone(CHANNEL, PAIR, lam).violations(CHANNEL, PAIR) == []


def test_a_clone_made_for_one_background_is_refused_for_the_channel():
    own = stronger_clone(CHANNEL, PAIR, others=(0, 1), position=Fraction(1))
    with pytest.raises(InputError, match="channel = a row without the clones"):
        own.four_point(CHANNEL)


def test_equal_rows_need_no_clones():
    clone = stronger_clone(CHANNEL, (0, 0), lam=Fraction(2))
    assert clone.p == 0
    assert clone.four_point(CHANNEL).violations(CHANNEL, (0, 0)) == []


def test_the_unsound_pair_is_exceeded():
    clone = stronger_clone(CHANNEL, PAIR)
    truth = shuffled_divergence(CHANNEL, (0, 2), (1, 2), Fraction(3, 2))
    assert truth == Fraction(1, 50)
    assert unsound_stronger_clone_pair(clone.lam, clone.p).divergence(2, Fraction(3, 2)) == Fraction(1, 100)
    assert clone.four_point(CHANNEL).reduction_pair().divergence(2, Fraction(3, 2)) >= truth


def test_the_generic_pair_is_the_blanket_of_binary_randomized_response():
    blanket = primary_decomposition(rr().channel(lam=3), PAIR).reduction_pair()
    assert generic_pair(Fraction(3)) == blanket
    assert unsound_stronger_clone_pair(Fraction(3), Fraction(1, 4)) == blanket
    for n in (1, 2, 3):
        assert blanket.divergence(n, 2) <= standard_clone_pair(Fraction(3)).divergence(n, 2)


def test_clones_in_balls_enclose_the_exact_pair():
    ball = standard_clone_pair(enclose(Fraction(3)))
    exact = standard_clone_pair(Fraction(3))
    for enclosed, value in zip((*ball.a0[:2], *ball.a2), (*exact.a0[:2], *exact.a2), strict=True):
        assert enclosed.lower <= value <= enclosed.upper


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: standard_clone_pair(Fraction(1)), "lam = 1: expected a ratio cap"),
        (lambda: stronger_clone(CHANNEL, PAIR, position=Fraction(2)), "position = 2"),
    ],
)
def test_refusals_name_the_argument_and_its_range(call, message):
    with pytest.raises(InputError, match=message):
        call()


def random_channel(rng, inputs, outputs, lam):
    """Rows within a factor lam of each other, most of them strictly."""
    rows = []
    for _ in range(inputs):
        row = [Fraction(int(w), 60) for w in rng.integers(60, 60 * lam + 1, outputs)]
        rows.append([w / sum(row) for w in row])
    return Channel.from_rows(rows)


@pytest.mark.parametrize("seed", range(6))
def test_clone_probabilities_reach_from_the_least_to_the_most(seed):
    """The ends are those of a linear program over Q0 and Q1, solved in doubles; in between the clones decompose."""
    rng = np.random.default_rng(seed)
    channel = random_channel(rng, 3, 4, 2)
    lam = channel.ratio_cap() * Fraction(11, 10)
    found = [stronger_clone(channel, PAIR, lam=lam, position=Fraction(j, 2)) for j in range(3)]
    rows, value = np.array([[float(x) for x in row] for row in channel.rows]), float(lam)
    eye = np.eye(4)
    upper = np.vstack([np.hstack([value * eye, eye]), *(np.hstack([eye, eye]) for _ in rows)])
    total = np.array([[1.0] * 4 + [-1.0] * 4])
    same = np.hstack([(value - 1) * eye, -(value - 1) * eye])
    for sign, end in ((1, found[0].p_min), (-1, found[0].p_max)):
        best = optimize.linprog(
            sign * np.r_[np.ones(4), np.zeros(4)],
            A_ub=upper,
            b_ub=np.concatenate([rows[0], *rows]),
            A_eq=np.vstack([same, total]),
            b_eq=np.r_[rows[0] - rows[1], 0.0],
        )
        assert best.status == 0
        assert math.isclose(sign * best.fun, float(end), rel_tol=1e-7, abs_tol=1e-9)
    for clone in found:
        assert clone.four_point(channel).violations(channel, PAIR) == []
    assert [clone.p for clone in found] == [found[0].p_min, (found[0].p_min + found[0].p_max) / 2, found[0].p_max]
