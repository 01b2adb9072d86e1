"""Which outputs make a channel not LDP: named up to five, and more of them said to be there."""

from fractions import Fraction

import pytest

from symshuffle import Channel
from symshuffle.accountants.reduction import reduction
from symshuffle.choices import Adjacency


def revealing(outputs):
    """The first input sends its share of so many outputs that no other sends, and the last output with the rest."""
    share = Fraction(1, 2 * outputs)
    return Channel.from_rows([[share] * outputs + [Fraction(1, 2)], [0] * outputs + [1], [0] * outputs + [1]])


@pytest.mark.parametrize(
    ("outputs", "named"),
    [(1, "0"), (4, "0, 1, 2, 3"), (5, "0, 1, 2, 3, 4"), (6, "0, 1, 2, 3, 4, ..."), (9, "0, 1, 2, 3, 4, ...")],
)
def test_five_outputs_are_named_and_no_sixth(outputs, named):
    for adjacency in (Adjacency.REPLACE_ONE, Adjacency.ZERO_OUT):
        found = reduction(revealing(outputs), adjacency=adjacency)
        assert (
            f"(not LDP for any budget: possible at some inputs only, and counted as singular mass: outputs {named})"
            in found.pairs
        )
