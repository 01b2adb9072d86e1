"""Blanket, primary and simplified decomposition of channels, and their reduction pairs."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshuffle import Channel, InputError
from symshuffle.channels import worst_shuffled_divergence
from symshuffle.decompositions import privacy_blanket, simplified_decomposition
from symshuffle.decompositions.model import Decomposition, ReductionPair, primary_decomposition
from symshuffle.testing import channels, ratios

SMALL = channels(max_inputs=3, max_outputs=3)
HALF = Fraction(1, 2)


@given(channels())
def test_blanket(channel):
    blanket = privacy_blanket(channel)
    assert blanket.gamma == sum(min(column) for column in channel.columns())
    assert (blanket.omega is None) == (blanket.gamma == 0)
    assert (blanket.left_overs is None) == (blanket.gamma == 1)
    for x, row in enumerate(channel.rows):
        common = blanket.omega or (0,) * channel.num_outputs
        rest = blanket.left_overs[x] if blanket.left_overs else (0,) * channel.num_outputs
        assert all(
            entry == blanket.gamma * shared + (1 - blanket.gamma) * own
            for entry, shared, own in zip(row, common, rest, strict=True)
        )


@given(channels())
def test_decompositions_are_decompositions(channel):
    for decompose in (primary_decomposition, simplified_decomposition):
        assert decompose(channel, (0, 1)).violations(channel, (0, 1)) == []


@given(channels(), ratios(), st.integers(1, 3))
def test_merging_loses_nothing(channel, order, n):
    """Primary and simplified decomposition bound the same number, in both directions."""
    primary, simplified = (
        d(channel, (0, 1)).reduction_pair() for d in (primary_decomposition, simplified_decomposition)
    )
    assert len(simplified.a0) <= len(primary.a0)
    for direction in ("forward", "reverse"):
        assert primary.divergence(n, order, direction=direction) == simplified.divergence(n, order, direction=direction)


@given(SMALL, ratios(), st.integers(1, 3))
def test_the_bound_is_a_bound(channel, order, n):
    """No background of any neighbouring pair exceeds the decomposition bound."""
    worst, _ = worst_shuffled_divergence(channel, (0, 1), n, order)
    assert worst <= simplified_decomposition(channel, (0, 1)).reduction_pair().divergence(n, order)


@given(channels(), ratios())
def test_components_of_the_simplified_form_have_distinct_ratios(channel, _):
    found = simplified_decomposition(channel, (0, 1))
    cells = list(zip(found.a, found.b, found.c, strict=True))
    for i, u in enumerate(cells):
        for v in cells[:i]:
            assert any(u[s] * v[t] != u[t] * v[s] for s in range(3) for t in range(3))


@pytest.mark.parametrize(
    "rows",
    [
        [[0.1, 0.2, 0.7], [0.1, 0.2, 0.7]],
        [[0.30000000000000004, 0.7], [0.30000000000000004, 0.7]],
        [[0.1] * 10, [0.1] * 10],
    ],
)
def test_constant_channels_in_doubles_leave_nothing_over(rows):
    """The rounding of a sum is no left-over, and a negative one is no error."""
    channel = Channel.from_rows(rows)
    assert simplified_decomposition(channel, (0, 1)).beta == 0
    assert privacy_blanket(channel).left_overs is None


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: primary_decomposition(Channel.from_rows([[1], [1]]), (0, 2)), "second of pair = 2"),
        (lambda: ReductionPair((HALF,), (Fraction(1),), (Fraction(1),)), "a0 = sum 1/2"),
        (lambda: ReductionPair((Fraction(1),), (HALF, HALF), (Fraction(1),)), "a1 = 2 masses"),
        (lambda: ReductionPair((Fraction(2), Fraction(-1)), (HALF, HALF), (HALF, HALF)), "a0 = -1"),
        (lambda: Decomposition((Fraction(1),), (Fraction(1),), (HALF,), Fraction(0)), "c and beta = sum 1/2"),
        (lambda: Decomposition((Fraction(1),), (), (), Fraction(0)), "as many of each"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(InputError, match=message):
        call()


def pair():
    return ReductionPair((HALF, HALF), (Fraction(1, 4), Fraction(3, 4)), (HALF, HALF))


def test_what_is_no_decomposition_is_said():
    channel = Channel.from_rows([["1/2", "1/2"], ["1/4", "3/4"], [0, 1]])
    found = simplified_decomposition(channel.restrict((0, 1)), (0, 1)).violations(channel, (0, 1))
    assert found == ["left-over of input 2 is negative at output 0"]
