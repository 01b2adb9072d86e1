"""Lines above and below a convex falling function, from values that are known to be between two ends."""

from fractions import Fraction as F

import flint
import mpmath
import numpy as np
import pytest

from symshuffle.accountants.bounds.chords import Node, height, line_above, line_through, lines_below, meetings
from symshuffle.accountants.renyi.orders import ORDER_BITS, divergence, stretches, whole_line
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import working_precision


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
                assert f(x) <= height(above, x)
                assert all(height(line, x) <= f(x) for line in below)
            met += sum(1 for _ in meetings(below, nodes[i].x, nodes[i + 1].x))
    assert met


def test_lines_are_tight_where_values_are_known():
    """The function of two lines with its corner between nodes is found again, from the lines before and after."""
    nodes = [Node(x, y, y) for x, y in ((F(0), F(6)), (F(1), F(4)), (F(3), F(1)), (F(4), F(1, 2)))]
    assert height(line_above(nodes, 1), F(2)) == F(5, 2)
    (corner,) = meetings(lines_below(nodes, 1), F(1), F(3))
    assert corner == F(7, 3) and {height(line, corner) for line in lines_below(nodes, 1)} == {F(4, 3)}


def test_meetings_are_inside_and_of_lines_that_are_not_parallel():
    lines = [line_through(F(0), F(0), F(1)), line_through(F(1), F(5), F(-1)), line_through(F(3), F(4), F(1))]
    assert list(meetings(lines, F(0), F(10))) == [F(3), F(5, 2)]
    assert list(meetings(lines, F(5, 2), F(10))) == [F(3)]
    assert list(meetings(lines, F(0), F(3))) == [F(5, 2)]


ATOMS = ((F(1, 2), F(1, 5)), (F(3, 4), F(2, 5)), (F(4, 3), F(3, 10)), (F(2), F(1, 10)))
"""Likelihood ratios of P to Q, and their masses under Q."""


def stick(atoms, x):
    return sum((max(r - x, F(0)) * q for r, q in atoms), start=F(0))


def of_ratios(alpha):
    """The divergence of order alpha by its definition."""
    with mpmath.workdps(50):
        a = mpmath.mpf(alpha.numerator) / alpha.denominator
        terms = [(mpmath.mpf(r.numerator) / r.denominator, mpmath.mpf(q.numerator) / q.denominator) for r, q in ATOMS]
        if alpha == 1:
            return sum(q * r * mpmath.log(r) for r, q in terms)
        return mpmath.log(sum(q * r**a for r, q in terms)) / (a - 1)


@pytest.mark.parametrize("alpha", [F(1), F(3, 2), F(2), F(9, 2), F(20)])
def test_the_integral_over_all_orders_is_the_divergence(alpha):
    """A profile of straight pieces with a node inside of each is known exactly, and so is the integral, both sides."""
    assert sum(q for _, q in ATOMS) == 1 == sum(r * q for r, q in ATOMS)
    orders = [F(1), F(7, 6), F(4, 3), F(5, 3), F(2), F(3), F(4)]
    forward = [Node(x, stick(ATOMS, x), stick(ATOMS, x)) for x in orders]
    back = [(1 / r, r * q) for r, q in ATOMS]
    reverse = [Node(x, stick(back, x), stick(back, x)) for x in orders]
    nodes = whole_line(forward, reverse)
    for node in nodes:
        assert max(abs(end - stick(ATOMS, node.x)) for end in node[1:]) < F(1, 10**15)
    found = stretches(nodes, alpha)
    assert len(found) == len(nodes) - 1
    with working_precision(ORDER_BITS):
        ends = (sum((one[side] for one in found), start=flint.arb(0)) for side in (0, 1))
    for end in ends:
        assert float(divergence(end, alpha)) == pytest.approx(float(of_ratios(alpha)), rel=1e-11)


def test_values_of_the_reverse_direction_are_turned_with_their_ends():
    """h(1/x) = 1 - (1 - D_x(Q || P))/x, the lower end from the lower one; ends are probabilities."""
    forward = [Node(F(1), F(1, 4), F(1, 2)), Node(F(2), F(-1, 8), F(9, 8))]
    reverse = [Node(F(1), F(0), F(1)), Node(F(2), F(1, 8), F(1, 4))]
    assert whole_line(forward, reverse) == [
        Node(F(1, 2), F(9, 16), F(5, 8)), Node(F(1), F(1, 4), F(1, 2)), Node(F(2), F(0), F(1))
    ]  # fmt: skip
    tiny = F(1, 10**295)
    kept = [Node(F(1), F(1, 3), F(1, 3)), Node(F(2), tiny / 7, tiny / 3)]
    last = whole_line(kept, kept)[-1]
    assert last == kept[1]
    assert whole_line(kept, kept)[1].low < F(1, 3) < whole_line(kept, kept)[1].high
    for one, other in (
        (kept[:1], kept[:1]), (kept, kept[:1]), (kept[::-1], kept[::-1]), ([kept[0]] * 2, [kept[0]] * 2),
        ([Node(F(3), *node[1:]) if node.x == 1 else Node(F(4), *node[1:]) for node in kept],) * 2,
    ):  # fmt: skip
        with pytest.raises(InputError, match="rising from 1"):
            whole_line(one, other)
