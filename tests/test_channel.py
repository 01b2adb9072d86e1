"""Channels: what is refused, and what composition does to rows."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from scipy import sparse

from symshuffle import Ball, Channel, Exp, InputError, delta, randomizer
from symshuffle.base import Verdict, enclose
from symshuffle.channels import direct_sum
from symshuffle.testing import channels, distributions, ldp_channels

IDENTITY = Channel.from_rows([[1, 0], [0, 1]])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "at least one row"),
        ([[]], "at least one row"),
        ([[1], [1, 0]], r"rows\[1\] = 2 entries: expected 1, as in rows\[0\]"),
        ([["3/2", "-1/2"]], r"rows\[0\]\[1\] = -1/2: expected a probability of at least 0"),
        ([["1/2", "1/3"]], r"rows\[0\] = sum 5/6: expected probabilities that sum to 1 \(off by -1/6\)"),
        ([[0.5, 0.4]], r"rows\[0\] = sum 9/10: .*off by -1/10"),
        ([[float("nan"), 1.0]], "a finite number"),
        ([["x"]], r"rows\[0\]\[0\] = x"),
        ([[None]], "a number such as 3"),
    ],
)
def test_refusals(rows, message):
    with pytest.raises(InputError, match=message):
        Channel.from_rows(rows)


def test_arrays_are_read_by_their_decimals():
    channel = Channel.from_rows(np.array([[0.2, 0.8], [0.5, 0.5]]))
    assert channel.rows[0] == (Fraction(1, 5), Fraction(4, 5)) and channel.rounding is None
    doubles = Channel(((0.25, 0.75), (0.5, 0.5)))
    assert not doubles.exact
    assert doubles.ratio_cap() == 2.0
    assert doubles.epsilon() == math.log(2)


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csr_matrix, sparse.coo_array])
def test_sparse_arrays_are_matrices_at_every_door(form):
    rows = np.array([[0.0, 0.2, 0.8], [0.5, 0.5, 0.0]])
    assert Channel.from_rows(form(rows)) == Channel.from_rows(rows) == randomizer(form(rows))
    assert delta(form(rows), n=3, eps=1).bracket == delta(rows, n=3, eps=1).bracket


@given(ldp_channels(lam=Fraction(3)))
def test_the_strategy_keeps_its_promise(channel):
    assert channel.exact
    assert channel.is_ldp(3)
    assert channel.ratio_cap() <= 3


@given(channels())
def test_ratio_cap_is_the_largest_ratio(channel):
    ratios = [
        ratio
        for x in range(channel.num_inputs)
        for z in range(channel.num_inputs)
        for ratio in channel.likelihood_ratios(x, z)
        if ratio is not None
    ]
    assert channel.ratio_cap() == max(ratios)


@given(channels())
def test_null_outputs_are_dropped_and_reported(channel):
    kept, dropped = channel.without_null_outputs()
    assert len(dropped) + kept.num_outputs == channel.num_outputs
    assert all(any(column) for column in kept.columns())
    assert kept.ratio_cap() == channel.ratio_cap()


@given(channels(max_outputs=3), channels(max_outputs=3))
def test_composition(first, second):
    product = first.tensor(second)
    assert product.num_inputs == first.num_inputs * second.num_inputs
    assert product.rows[0][0] == first.rows[0][0] * second.rows[0][0]
    if first.num_inputs == second.num_inputs:
        mixed = direct_sum([first, second], [Fraction(1, 3), Fraction(2, 3)])
        assert mixed.num_outputs == first.num_outputs + second.num_outputs
        assert mixed.ratio_cap() == max(first.ratio_cap(), second.ratio_cap())
    merged = first.merge([list(range(first.num_outputs))])
    assert all(row == (1,) for row in merged.rows)


@given(channels(max_outputs=3), distributions(2))
def test_merging_is_a_deterministic_kernel(channel, _):
    groups = [[0], list(range(1, channel.num_outputs))] if channel.num_outputs > 1 else [[0]]
    kernel = Channel.from_rows([[int(y in group) for group in groups] for y in range(channel.num_outputs)])
    assert channel.merge(groups) == channel.push_forward(kernel)


def test_composition_refusals():
    with pytest.raises(InputError, match="one per output"):
        IDENTITY.push_forward(Channel.from_rows([[1], [1], [1]]))
    with pytest.raises(InputError, match="a partition"):
        IDENTITY.merge([[0], [0, 1]])
    with pytest.raises(InputError, match="one per channel"):
        direct_sum([IDENTITY], [Fraction(1, 2), Fraction(1, 2)])
    with pytest.raises(InputError, match="sum 1/2"):
        direct_sum([IDENTITY], [Fraction(1, 2)])
    with pytest.raises(InputError, match="common number of inputs"):
        direct_sum([IDENTITY, Channel.from_rows([[1]])], [Fraction(1, 2), Fraction(1, 2)])


def test_channels_that_are_not_private():
    assert IDENTITY.ratio_cap() == math.inf
    assert IDENTITY.epsilon() == math.inf
    for lam in (10**9, Exp(Fraction(50)), enclose(Fraction(7))):
        assert IDENTITY.is_ldp(lam) is Verdict.FALSE
    assert IDENTITY.likelihood_ratios(0, 1) == (math.inf, 0)
    assert Channel.from_rows([[1, 0], [1, 0]]).likelihood_ratios(0, 1) == (1, None)


def test_levels_beyond_doubles():
    tiny = Fraction(1, 10**600)
    channel = Channel(((tiny, 1 - tiny), (1 - tiny, tiny)))
    assert channel.epsilon() == pytest.approx(600 * math.log(10))


def test_balls():
    lam = enclose(Exp(Fraction(1)))
    hit, miss = lam / (lam + 1), 1 / (lam + 1)
    channel = Channel(((hit, miss), (miss, hit)))
    cap = channel.ratio_cap()
    assert isinstance(cap, Ball)
    assert cap.lower <= lam.upper and lam.lower <= cap.upper
    assert channel.is_ldp(3) is Verdict.TRUE
    assert channel.is_ldp(2) is Verdict.FALSE
    assert channel.is_ldp(Exp(Fraction(1))) is Verdict.UNDECIDED
    with pytest.raises(InputError, match="off by"):
        Channel(((hit, hit), (miss, hit)))


@given(channels())
def test_the_blanket_is_below_every_row(channel):
    floor = channel.blanket()
    assert all(mass <= entry for row in channel.rows for mass, entry in zip(floor, row, strict=True))
    assert all(mass in column for mass, column in zip(floor, channel.columns(), strict=True))


def test_a_long_sum_is_shortened_in_the_message():
    with pytest.raises(InputError) as caught:
        Channel.from_rows([[Fraction(1, 10**2000), 1], ["1/2", "1/2"]])
    assert str(caught.value) == "rows[0] = sum about 1: expected probabilities that sum to 1 (off by about 1e-2000)"
