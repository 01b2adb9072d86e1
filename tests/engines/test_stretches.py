"""Sums over nodes that are not evaluated, by stretches: against the nodes themselves."""

import flint
import pytest

from symshuffle.base.errors import Unsupported
from symshuffle.engines.densities import stretches

STEP = flint.arb("0.1")


def taken(start, last, allowed, *, terms=1, seen=None):
    """The bound on the sum of 1/t^2 at t = 0.1 j, whose largest value on a stretch is at its lower end."""

    def values(first, distance, count):
        heights = [first + distance * k for k in range(count)]
        if seen is not None:
            seen.append([float(t.mid()) for t in heights])
        return [flint.acb(t) for t in heights]

    def bound(middle, radius, left):
        assert abs(middle.real - radius - left) < flint.arb("1e-9")  # a stretch begins at its lower end
        return 1 / left**2

    return float(stretches.over(values, bound, step=STEP, start=start, last=last, allowed=allowed, terms=terms))


def nodes(start, last):
    return sum(1 / (0.1 * j) ** 2 for j in range(start, last + 1))


@pytest.mark.parametrize(("start", "last"), [(1, 1), (3, 7), (1, 48), (5, 1000), (7, 12_345)])
def test_the_bound_is_above_the_sum_over_the_nodes(start, last):
    truth = nodes(start, last)
    loose, fine = taken(start, last, 1e9), taken(start, last, 0.0)
    assert truth <= loose * (1 + 1e-12)
    assert loose < 1.2 * truth
    assert fine == pytest.approx(truth, rel=1e-9)  # each node for itself


def test_no_node_counts_nothing():
    assert taken(5, 4, 1.0) == 0


def test_runs_double_and_stretches_are_made_finer_where_they_were_too_long():
    seen = []
    taken(1000, 2999, 0.0, seen=seen)
    counts = [len(heights) for heights in seen]
    assert counts == 2 * [48, 167, 500, 1000]
    assert seen[3] == pytest.approx([0.1 * j for j in range(1000, 2000)])
    assert seen[7] == pytest.approx([0.1 * j for j in range(2000, 3000)])
    seen.clear()
    taken(1000, 2999, 1e9, seen=seen)
    assert [len(heights) for heights in seen] == [48, 48]


def test_what_is_allowed_is_shared_by_the_nodes():
    """Of runs of 1000 nodes each gets half of it: 48 stretches of the first are too much, those of the second not."""
    first = sum(min(21, 2000 - j) / (0.1 * j) ** 2 for j in range(1000, 2000, 21)) * 0.1
    seen = []
    taken(1000, 2999, 2 * first * 0.999, seen=seen)
    assert [len(heights) for heights in seen] == [48, 167, 48]


def test_too_many_values_are_refused(monkeypatch):
    """Two runs of 48 stretches, at one term each or at two."""
    monkeypatch.setattr(stretches, "_MOST", 96)
    assert taken(1000, 2999, 1e9) > 0
    with pytest.raises(Unsupported, match="over 96 stretches"):
        taken(1000, 2999, 1e9, terms=2)
    monkeypatch.setattr(stretches, "_MOST", 95)
    with pytest.raises(Unsupported, match="over 96 stretches"):
        taken(1000, 2999, 1e9)
