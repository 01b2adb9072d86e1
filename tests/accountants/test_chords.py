"""Lines above and below a convex falling function, from values that are known to be between two ends."""

from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle.accountants.chords import Node, line_above, lines_below, meetings


def convex(rng):
    """A convex function that falls to 0: the largest of 0 and some falling lines."""
    lines = [(F(int(rng.integers(1, 40)), 10), F(int(rng.integers(1, 30)), 10)) for _ in range(4)]
    return lambda x: max(F(0), *(height - slope * (x - 1) for height, slope in lines))


def places(nodes, i):
    left, right = nodes[i].x, nodes[i + 1].x
    return [left + (right - left) * F(k, 16) for k in range(17)]


@pytest.mark.parametrize("which", ["lower end far", "upper end far", "both far"])
def test_lines_keep_their_side_where_values_are_hardly_known(which):
    """Each end alone is taken away from the function, so that a line through the wrong one would cross it."""
    rng = np.random.default_rng(7)
    met = 0
    for _ in range(60):
        f = convex(rng)
        xs = sorted({F(int(x), 10) for x in rng.integers(10, 60, size=6)})
        nodes = []
        for x in xs:
            down, up = (F(int(v), 20) if rng.random() < 0.5 else F(0) for v in rng.integers(0, 20, size=2))
            low = f(x) - (down if which != "upper end far" else 0)
            high = f(x) + (up if which != "lower end far" else 0)
            nodes.append(Node(x, low, high))
        for i in range(len(nodes) - 1):
            above, below = line_above(nodes, i), lines_below(nodes, i)
            for x in places(nodes, i):
                assert f(x) <= above.at(x)
                assert all(line.at(x) <= f(x) for line in below)
            met += sum(1 for _ in meetings(below, nodes[i].x, nodes[i + 1].x))
    assert met


def test_lines_are_tight_where_values_are_known():
    """The function of two lines with its corner between nodes is found again, from the lines before and after."""
    nodes = [Node(x, y, y) for x, y in ((F(0), F(6)), (F(1), F(4)), (F(3), F(1)), (F(4), F(1, 2)))]
    assert line_above(nodes, 1).at(F(2)) == F(5, 2)
    (corner,) = meetings(lines_below(nodes, 1), F(1), F(3))
    assert corner == F(7, 3) and {line.at(corner) for line in lines_below(nodes, 1)} == {F(4, 3)}
