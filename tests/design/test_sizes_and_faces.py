"""What is too large, told on both sides of each limit; optimal faces, balanced families, vertices and properties."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest

from symshuffle.channel import Channel, direct_sum
from symshuffle.choices import Criterion
from symshuffle.design import DecisionProblem, smoothed_point_masses
from symshuffle.design.decision import properties, sizes
from symshuffle.design.decision.fewest import _balance, fewest_outputs, optimal_face
from symshuffle.design.decision.properties import Property, examine, mix_channels, random_channel
from symshuffle.design.decision.vertices import minimise_concave
from symshuffle.errors import InputError, SolverFailure, Unsupported
from symshuffle.geometry.groups import cyclic_group, symmetric_group, trivial_group
from symshuffle.numbers import Ball

F = Fraction
LAM = F(3)
SMALL = DecisionProblem.of([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]], [[0, 1, 1, 2], [1, 0, 1, 2]], ["1/2", "1/2"])
"""Three inputs, two parameters, four actions."""


def passes(check, *arguments, **named) -> bool:
    try:
        check(*arguments, **named)
    except Unsupported:
        return False
    return True


@pytest.mark.parametrize(
    ("limit", "size", "check"),
    [
        ("POLYTOPE_LIMIT", 3, lambda: sizes.check_polytope(SMALL, criterion="bayes")),
        # (2^3 - 2) subsets times 4 actions
        ("POLYTOPE_VARIABLES", 24, lambda: sizes.check_polytope(SMALL, criterion="minimax")),
        # 3^3 times 4
        ("COLUMN_WORK", 108, lambda: sizes.check_columns(SMALL)),
        ("COMPACT_VARIABLES", 12, lambda: sizes.check_compact(SMALL)),
        # 2^3 orbits of inputs cubed, 5 of actions
        ("COLUMN_WORK", 40, lambda: sizes.check_orbits(2, 5, cyclic_group(4))),
        # subsets of 4 places under rotation: 1 + 2 + 1
        ("FORMULA_ORBITS", 4, lambda: sizes.check_formula(cyclic_group(4))),
    ],
)
def test_a_limit_is_the_largest_size_that_passes(monkeypatch, limit, size, check):
    monkeypatch.setattr(sizes, limit, size)
    assert passes(check)
    monkeypatch.setattr(sizes, limit, size - 1)
    assert not passes(check)


def test_estimates_by_hand(monkeypatch):
    """The compact program has 3 sums and 3 * 4 caps, and 2 risks for the worst case: 15 and 17 rows."""
    monkeypatch.setattr(sizes, "_SECONDS_PER_SQUARED_ROW", {Criterion.BAYES: 2.0, Criterion.MINIMAX: 3.0})
    monkeypatch.setattr(sizes, "_SECONDS_PER_CUBED_ROW", 5.0)
    assert sizes.exact_compact_seconds(SMALL, criterion="bayes") == 2 * 15**2
    assert sizes.exact_compact_seconds(SMALL, criterion="minimax") == 3 * 17**2
    assert sizes.pivoting_seconds(SMALL, criterion="bayes") == 5 * 15**3
    assert sizes.pivoting_seconds(SMALL, criterion="minimax") == 5 * 17**3
    assert sizes.column_work(SMALL) == 27 * 4


def test_what_is_worth_reducing(monkeypatch):
    assert sizes.worth_reducing(SMALL, symmetric_group(3))
    assert not sizes.worth_reducing(SMALL, trivial_group(3))
    monkeypatch.setattr(sizes, "COLUMN_WORK", 4)  # one orbit of inputs, four actions
    assert sizes.worth_reducing(SMALL, symmetric_group(3))
    monkeypatch.setattr(sizes, "COLUMN_WORK", 3)
    assert not sizes.worth_reducing(SMALL, symmetric_group(3))


def test_the_face_holds_the_subsets_of_slack_zero():
    """Guessing one of 3 at lam = 3: risk 2/(lam + 2) = 2/5; slack of the bound 2/15 each, subset by subset."""
    problem = smoothed_point_masses(3, 1)
    costs = problem.posterior_costs(problem.prior)
    bound = [F(2, 15)] * 3
    slack = {
        subset: min(sum((LAM if subset >> x & 1 else 1) * (row[x] - bound[x]) for x in range(3)) for row in costs)
        for subset in range(1, 7)
    }
    assert optimal_face(problem, LAM, bound) == [s for s, value in slack.items() if value == 0] == [1, 2, 4]
    assert optimal_face(problem, LAM, [F(1, 8)] * 3) == []
    with pytest.raises(InputError, match=r"slack .* at subset \[0\]"):
        optimal_face(problem, LAM, [F(2, 15), F(2, 15), F(2, 15) + F(1, 10**6)])
    with pytest.raises(Unsupported, match="m = 13"):
        optimal_face(smoothed_point_masses(13, 1), LAM, bound)


def test_balanced_families_by_hand():
    assert _balance([0b011, 0b101, 0b110], 3) == dict.fromkeys((0b011, 0b101, 0b110), F(1, 2))
    assert _balance([0b001, 0b110], 3) == {0b001: 1, 0b110: 1}
    assert _balance([0b011, 0b110, 0b101, 0b001], 3) is None  # four vectors in three dimensions depend
    assert _balance([0b001, 0b010], 3) is None  # the input 2 is in none
    assert _balance([0b001, 0b011, 0b111], 3) is None  # weights 0, 0, 1: not all positive
    assert _balance([0b011, 0b101], 3) is None  # input 0 would have twice the total of the others
    # Weights -1 at {0} and 1 at the other two would balance: a negative weight is none.
    assert _balance([0b001, 0b011, 0b101], 3) is None


def test_the_fewest_outputs_by_hand(monkeypatch):
    """Of all subsets of 3 two complements suffice, each with total mass: d = 1, scale lam - 1 + 2 = 4."""
    found = fewest_outputs(range(1, 7), 3, LAM)
    assert len(found.weights) == 2
    assert found.proved_fewest
    assert found.candidates == 6
    assert set(found.weights.values()) == {F(1, 4)}
    assert found.channel(3, LAM).ratio_cap() == 3
    pairs = fewest_outputs([0b011, 0b101, 0b110], 3, 2)
    # d = 1/2 each and the scale 2 - 1 + 3/2 = 5/2.
    assert pairs.weights == dict.fromkeys((0b011, 0b101, 0b110), F(1, 5))
    assert pairs.proved_fewest
    from symshuffle.design.decision import fewest

    # Three families of two subsets are smaller: with 2 allowed nothing is proved, with 3 it is.
    monkeypatch.setattr(fewest, "_EXHAUSTED", 3)
    assert fewest_outputs([0b011, 0b101, 0b110], 3, 2).proved_fewest
    monkeypatch.setattr(fewest, "_EXHAUSTED", 2)
    assert not fewest_outputs([0b011, 0b101, 0b110], 3, 2).proved_fewest
    with pytest.raises(SolverFailure):
        fewest_outputs([0b011, 0b101], 3, 2)
    with pytest.raises(InputError, match="lam"):
        fewest_outputs([1, 2], 2, 1)


def test_the_smallest_vertex_is_the_smallest_of_all_draws():
    """A squared Bayes risk is concave no more, but its root is: the best vertex beats mixtures of vertices."""
    problem = smoothed_point_masses(3, F(1, 2))

    def risk(channel: Channel) -> Fraction:
        return problem.bayes_risk(channel)[0]

    seen: list[int] = []
    value, channel = minimise_concave(risk, 3, LAM, progress=seen.append)
    assert seen == list(range(len(seen)))
    assert len(seen) > 3
    assert risk(channel) == value
    # Guessing from a mixture of 1/2 point mass: subset of one at lam = 3 is right with 1/6 + 1/2 * 3/5.
    assert value == 1 - (F(1, 6) + F(1, 2) * F(3, 5))
    assert minimise_concave(risk, 3, LAM, group=symmetric_group(3))[0] == value
    with pytest.raises(InputError, match="group = acts on 4 inputs"):
        minimise_concave(risk, 3, LAM, group=symmetric_group(4))


def test_mixtures_forget_which_channel_was_run():
    first, second = Channel.from_rows([["1/2", "1/2"], [1, 0]]), Channel.from_rows([["1/4", "3/4"], [0, 1]])
    mixed = mix_channels([first, second], (F(1, 3), F(2, 3)))
    assert mixed.rows == ((F(1, 3), F(2, 3)), (F(1, 3), F(2, 3)))
    with pytest.raises(InputError, match="channels"):
        mix_channels([first, Channel.from_rows([[1], [1]])], (F(1, 2), F(1, 2)))


def test_random_channels_are_channels_with_zeros_now_and_then():
    rng = np.random.default_rng(1)
    drawn = [random_channel(rng, 4, 3) for _ in range(20)]
    assert {(c.num_inputs, c.num_outputs) for c in drawn} == {(4, 3)}
    entries = [e for c in drawn for row in c.rows for e in row]
    assert min(entries) == 0
    assert max(e.denominator for e in entries) <= 19
    assert len(set(entries)) > 30


A = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
B = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])


def first_comparison(functional, which, monkeypatch, channels=(A, B), **named):
    """The comparison of these channels in turn, drawn once with the weight 3/8."""
    source = iter(channels)
    monkeypatch.setattr(properties, "random_channel", lambda rng, inputs, outputs: Channel.from_rows([[1], [1]]))

    class Rng:
        def integers(self, low, high=None, size=None):
            return 3 if high == 8 else 0

    return properties._instance(functional, Property(which), lambda _: next(source), Rng(), named.get("group"))


def corner(channel: Channel) -> Fraction:
    return channel.rows[0][0]


def test_both_sides_of_every_property(monkeypatch):
    """The functional is the probability of output 0 at input 0: 3/4 and 1/2."""
    weights = (F(3, 8), F(5, 8))
    average = weights[0] * F(3, 4) + weights[1] * F(1, 2)
    channels, used, left, right, relation = first_comparison(corner, Property.DPI, monkeypatch)
    assert (used, left, right, relation) == ((), F(3, 4), 1, "<=")
    assert channels == (A, Channel.from_rows([[1], [1]]))
    channels, used, left, right, relation = first_comparison(corner, Property.CONCAVE, monkeypatch)
    assert (used, left, right, relation) == (weights, average, average, "<=")
    assert channels == (A, B, mix_channels([A, B], weights))
    channels, used, left, right, relation = first_comparison(corner, Property.ADDITIVE, monkeypatch)
    assert (used, left, right, relation) == (weights, F(3, 8) * F(3, 4), average, "==")
    assert channels == (A, B, direct_sum([A, B], weights))
    for order in ((A, B), (B, A)):
        _, used, left, right, relation = first_comparison(corner, Property.QUASI_CONVEX, monkeypatch, order)
        assert (left, right, relation) == (F(3, 8) * corner(order[0]), F(3, 4), "<=")
    found = first_comparison(corner, Property.INVARIANT, monkeypatch, group=symmetric_group(2))
    assert found[2:] == (F(1, 4), F(3, 4), "==")
    still = first_comparison(corner, Property.INVARIANT, monkeypatch, group=trivial_group(2))
    assert still[2:] == (F(3, 4), F(3, 4), "==")


@pytest.mark.parametrize(("value", "which", "violated"), [
    (lambda c: F(c.num_outputs), Property.DPI, True),
    (lambda c: F(-c.num_outputs), Property.DPI, False),
    (lambda c: F(1), Property.DPI, False),
    (lambda c: F(1), Property.ADDITIVE, False),
    (lambda c: F(c.num_outputs), Property.ADDITIVE, True),
    (lambda c: F(-c.num_outputs), Property.ADDITIVE, True),
])  # fmt: skip
def test_a_relation_fails_when_it_is_strictly_violated(value, which, violated):
    """Sums have 6 outputs, parts 3, what is processed 2: R <= 3 fails for ties no more than for smaller values."""
    report = examine(value, which, num_inputs=3, rng=np.random.default_rng(0), trials=3)
    assert (report.counterexample is not None) == violated
    assert (report.decided, report.trials) == (1 if violated else 3, 3)


def test_comparisons_of_balls_that_meet_are_not_counted():
    wide = Ball(F(0), F(1))
    report = examine(lambda c: wide, Property.DPI, num_inputs=2, rng=np.random.default_rng(0), trials=4)
    assert (report.decided, report.trials, report.counterexample) == (0, 4, None)
    with pytest.raises(InputError, match="group"):
        examine(lambda c: wide, Property.INVARIANT, num_inputs=2, rng=np.random.default_rng(0))
    assert examine(corner, Property.DPI, num_inputs=2, rng=np.random.default_rng(0)).trials == 200


def test_every_subset_is_looked_at_once():
    """Six staircase columns of three inputs; the vertices of their polytope are the bases that are feasible."""
    from symshuffle.geometry.extremal import MaximalPolytope

    channels = [MaximalPolytope(3, LAM).channel(w) for w in MaximalPolytope(3, LAM).each_vertex()]
    seen: list[Channel] = []
    minimise_concave(lambda c: seen.append(c) or F(0), 3, LAM)
    assert seen == channels
    assert len(set(itertools.chain(seen))) == len(seen)
