"""Votes against the channel itself: means and variances of every coordinate, by enumeration of outputs."""

import itertools
from fractions import Fraction as F

import pytest

from symshuffle import InputError, Unsupported, mechanism
from symshuffle.estimation import votes
from symshuffle.estimation.votes import VoteNoise, bitwise_votes, canonical_votes, is_alike, vote_balls
from symshuffle.mechanisms.finite import K
from symshuffle.mechanisms.symbolic import LAM


def by_definition(rows, share=F(1)):
    """Trace and variances of the vote 1/K + (K - 1)/T (u_i - 1), which is unbiased, under W_i and W_j.

    With a share below 1 the other messages say nothing: their template is 1.
    """
    k = len(rows)
    columns = [[share * x for x in column] for column in zip(*rows, strict=True)] + [[1 - share] * k]
    seen = [(column, sum(column) / k) for column in columns if any(column)]
    templates = [([x / mass for x in column], mass) for column, mass in seen]
    trace = sum(mass * sum((x - 1) ** 2 for x in u) for u, mass in templates)
    vote = [F(1, k) + (k - 1) / trace * (u[0] - 1) for u, _ in templates]
    own, absent = ([column[x] for column, _ in seen] for x in (0, 1))
    assert sum(v * p for v, p in zip(vote, own, strict=True)) == 1
    assert sum(v * p for v, p in zip(vote, absent, strict=True)) == 0
    return (
        trace,
        sum(v * v * p for v, p in zip(vote, own, strict=True)) - 1,
        sum(v * v * p for v, p in zip(vote, absent, strict=True)),
    )


def strings(size, own, other):
    """Rows of independent bits: the own bit is 1 with one probability, all others with another."""
    words = list(itertools.product((0, 1), repeat=size))
    rows = []
    for x in range(size):
        row = []
        for word in words:
            mass = F(1)
            for y, bit in enumerate(word):
                chance = own if x == y else other
                mass *= chance if bit else 1 - chance
            row.append(mass)
        rows.append(row)
    return rows


NOISE = VoteNoise(F(3), F(1), 4, "by hand")


def test_risks_of_votes_by_hand():
    """(3 + 3 * 1)/2, the same with 1 - 1/4 more, and the larger variance over 2."""
    assert NOISE.risk(2) == 3
    assert NOISE.iid_risk(2) == F(27, 8)
    assert NOISE.coordinate_variance(2) == F(3, 2)
    assert VoteNoise(F(1), F(3), 4, "by hand").coordinate_variance(3) == 1
    for call in (NOISE.risk, NOISE.iid_risk, NOISE.coordinate_variance):
        with pytest.raises(InputError, match=r"^n = 0"):
            call(0)


@pytest.mark.parametrize(
    ("name", "values"),
    [("krr", {"k": 3}), ("oue", {"D": 3})],
)
def test_canonical_votes_are_those_of_the_channel(name, values):
    one = mechanism(name).at(lam=4, **values)
    found = canonical_votes(one)
    assert (found.trace, found.own, found.absent) == by_definition(one.channel().rows)
    assert found.inputs == one.inputs and found.estimator == "canonical unbiased"


def test_fewer_inputs_in_use():
    one = mechanism("krr").at(k=4, lam=3)
    full, part = canonical_votes(one), canonical_votes(one, inputs=2)
    assert (part.own, part.absent, part.inputs) == (full.own, full.absent, 2)
    assert part.estimator == "canonical unbiased of 4 inputs, 2 of them in use"
    assert canonical_votes(one, inputs=4) == full
    for inputs in (1, 5):
        with pytest.raises(InputError, match=r"^inputs = "):
            canonical_votes(one, inputs=inputs)


def test_who_has_no_common_votes():
    half = mechanism("half-block").at(k=4, lam=3)
    assert not is_alike(half) and is_alike(mechanism("krr"))
    with pytest.raises(Unsupported, match="pairs of inputs differently"):
        canonical_votes(half)
    with pytest.raises(Unsupported, match="says nothing"):
        canonical_votes(mechanism("constant").at(k=3))
    with pytest.raises(InputError, match="open"):
        canonical_votes(mechanism("krr").at(k=3))
    assert bitwise_votes(half) is None and bitwise_votes(mechanism("krr").at(k=3, lam=2)) is None


@pytest.mark.parametrize("share", [F(1), F(1, 3)])
def test_votes_in_balls_and_diluted(share):
    rows = mechanism("krr").at(k=3, lam=4).channel().rows
    found = vote_balls(mechanism("krr"), {K: 3, LAM: F(4)}, share=share, size=3, inputs=3, bits=100)
    trace, own, absent = by_definition(rows, share)
    for ball, value in ((found.trace, trace), (found.own, own), (found.absent, absent)):
        assert ball.lower <= value <= ball.upper and ball.upper - ball.lower < F(1, 2**85)


@pytest.mark.parametrize(
    ("size", "own", "other"), [(3, F(1, 2), F(1, 5)), (2, F(3, 4), F(1, 4)), (4, F(2, 3), F(1, 7))]
)
def test_sums_over_strings_are_the_enumeration(size, own, other, monkeypatch):
    """In rationals, and in balls beyond the length up to which these are taken."""
    trace, first, second = by_definition(strings(size, own, other))
    hit, miss = own / other, (1 - own) / (1 - other)

    def scaled(sums):
        scale = (F(size - 1) / trace) ** 2
        return sums[0], scale * sums[1] - F(size - 1, size) ** 2, scale * sums[2] - F(1, size**2)

    assert scaled(votes._string_sums(size, hit, miss, other, 64)) == (trace, first, second)
    monkeypatch.setattr(votes, "_LONGEST_EXACT", size)
    assert isinstance(votes._string_sums(size, hit, miss, other, 64)[0], F)
    monkeypatch.setattr(votes, "_LONGEST_EXACT", size - 1)
    for ball, value in zip(scaled(votes._string_sums(size, hit, miss, other, 64)), (trace, first, second), strict=True):
        assert ball.lower <= value <= ball.upper and ball.upper - ball.lower < F(1, 2**50)
    monkeypatch.setattr(votes, "LARGEST_STRING", size)
    votes._string_sums(size, hit, miss, other, 64)
    monkeypatch.setattr(votes, "LARGEST_STRING", size - 1)
    with pytest.raises(Unsupported, match=f"{size} bits"):
        votes._string_sums(size, hit, miss, other, 64)


def test_bitwise_votes_by_hand():
    """OUE at lam = 4: own bit 1/2, others 1/5; 1/4 and 4/25 over (3/10)^2."""
    found = bitwise_votes(mechanism("oue").at(D=3, lam=4))
    assert (found.own, found.absent, found.inputs) == (F(25, 9), F(16, 9), 3)
    assert found.trace is None and found.estimator == "bitwise unbiased"
