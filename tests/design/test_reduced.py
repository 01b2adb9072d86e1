"""Symmetries of problems: detection, refusal, and the reduced program against the full one."""

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from proofs_checks.ldp_tradeoff._minimax_risk import minimax_risk
from symshuffle import Exp, InputError, Problem, Unsupported
from symshuffle.base.choices import Criterion, ProgramForm, members
from symshuffle.channels.geometry.groups import (
    cyclic_group,
    product_of_symmetric_groups,
    symmetric_group,
    trivial_group,
)
from symshuffle.design.decision import programs
from symshuffle.design.decision.invariant import InvariantProblem, detect_symmetry
from symshuffle.design.decision.problems import smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk

LAM = Fraction(3)


def ring(m: int) -> Problem:
    """Estimate a position on a circle from a blurred reading, at the loss of the distance along the circle."""
    blur = [Fraction(max(m - 2 * min(x, m - x), 0) + 1) for x in range(m)]
    model = [[blur[(x - t) % m] / sum(blur) for x in range(m)] for t in range(m)]
    loss = [[Fraction(min((a - t) % m, (t - a) % m)) for a in range(m)] for t in range(m)]
    return Problem.of(model, loss, [Fraction(1, m)] * m)


@pytest.mark.parametrize("m", [4, 5, 6])
def test_detected_group_gives_the_full_optimum(m):
    problem = ring(m)
    group = detect_symmetry(problem)
    assert group.order() == 2 * m
    design = smallest_risk(problem, LAM, group=group)
    assert design.value.exact == smallest_risk(problem, LAM).value.exact
    assert problem.bayes_risk(design.channel())[0] == design.value.exact
    worst = smallest_risk(problem, LAM, group=detect_symmetry(problem, criterion="minimax"), criterion="minimax")
    assert worst.value.exact == smallest_risk(problem, LAM, criterion="minimax").value.exact
    json.dumps(design.to_dict())


def test_exchangeable_inputs_are_blocks():
    problem = smoothed_point_masses(5, 1).with_prior([Fraction(1, 4)] * 2 + [Fraction(1, 6)] * 3)
    group = detect_symmetry(problem)
    assert group.blocks == ((0, 1), (2, 3, 4))
    assert smallest_risk(problem, LAM, group=group).value.exact == smallest_risk(problem, LAM).value.exact
    lopsided = Problem.of([["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"]], [[0, 1], [2, 0]], ["1/3", "2/3"])
    assert detect_symmetry(lopsided).order() == 1


def test_larger_programs():
    assert (
        len(smallest_risk(ring(12), LAM, group=cyclic_group(12)).weights) < cyclic_group(12).subset_orbit_count().number
    )
    problem = smoothed_point_masses(60, 1).with_prior([Fraction(1, 90)] * 30 + [Fraction(2, 90)] * 30)
    blocks = product_of_symmetric_groups([range(30), range(30, 60)])
    design = smallest_risk(problem, Fraction(20), group=blocks)
    assert blocks.subset_orbit_count().number == 31 * 31 - 2
    assert design.value.exact is not None
    assert float(design.value.exact) == pytest.approx(design.proposed, abs=1e-9)
    with pytest.raises(Unsupported, match="outputs"):
        big = smoothed_point_masses(16, 1)
        reduced = smallest_risk(big, LAM, group=symmetric_group(16))
        only = reduced.weights[0][0]
        replace(reduced, weights=((replace(only, size=5000), 0, Fraction(1)),)).channel()


def test_groups_that_do_not_act_are_refused():
    problem = ring(5)
    with pytest.raises(InputError, match=r"generators\[0\] = \[1, 0, 2, 3, 4\].*action"):
        smallest_risk(problem, LAM, group=symmetric_group(5))
    with pytest.raises(InputError, match="parameter"):
        smallest_risk(problem, LAM, group=symmetric_group(5), criterion="minimax")
    with pytest.raises(InputError, match="acts on 4 inputs"):
        smallest_risk(problem, LAM, group=cyclic_group(4))
    with pytest.raises(Unsupported, match=r"leaves 100 orbits of inputs and 100 of actions .* compact form"):
        smallest_risk(smoothed_point_masses(100, 1), LAM, group=trivial_group(100))


def unequal_losses(m: int, first: int) -> Problem:
    """Guess one of m from a blurred reading; mistakes about the first ones cost three times as much."""
    loss = [[(3 if t < first else 1) * int(a != t) for a in range(m)] for t in range(m)]
    return Problem.of(smoothed_point_masses(m, Fraction(3, 4)).model, loss)


def ordered(m: int, power: int) -> Problem:
    """Ordered categories, read without noise, at a power of their distance."""
    return Problem.of(
        [[int(x == t) for x in range(m)] for t in range(m)], [[abs(t - a) ** power for a in range(m)] for t in range(m)]
    )


@pytest.mark.parametrize(
    ("problem", "orbits"),
    [(unequal_losses(4, 1), 2), (unequal_losses(5, 2), 2), (ordered(4, 1), 2), (ordered(5, 1), 3), (ordered(5, 2), 3)],
)
def test_minimax_over_orbits_of_parameters(problem, orbits):
    group = detect_symmetry(problem, criterion="minimax")
    assert len(InvariantProblem.of(problem, group, criterion="minimax").parameters) == orbits
    for lam in (Fraction(3, 2), LAM, Fraction(12)):
        design = smallest_risk(problem, lam, group=group, criterion="minimax")
        value = design.value.exact
        assert value is not None
        for method in members(ProgramForm):
            assert smallest_risk(problem, lam, method=method, criterion="minimax").value.exact == value
        design.verify()
        assert minimax_risk(problem, design.channel()).value.lower == value
        # The prior is constant on orbits and least favourable: no Bayes risk under it is smaller.
        prior = design.least_favourable_prior
        for block in InvariantProblem.of(problem, group, criterion="minimax").parameters:
            assert len({prior[t] for t in block}) == 1
        assert smallest_risk(problem.with_prior(prior), lam).value.exact == value
        assert (
            smallest_risk(problem, lam, group=trivial_group(problem.num_inputs), criterion="minimax").value.exact
            == value
        )


def test_minimax_over_orbits_at_an_exponential():
    problem = ordered(5, 1)
    found = smallest_risk(
        problem, Exp(Fraction(1)), group=detect_symmetry(problem, criterion="minimax"), criterion="minimax"
    )
    found.verify()
    value, designs = found.value, found.certificates
    plain = smallest_risk(problem, Exp(Fraction(1)), criterion="minimax").value
    assert max(value.lower, plain.lower) <= min(value.upper, plain.upper)
    assert value.width < Fraction(1, 10**25)
    assert len(designs) == 2


@pytest.mark.parametrize("criterion", members(Criterion))
def test_two_blocks_of_thirty(criterion):
    problem = unequal_losses(60, 30).with_prior([Fraction(1, 60)] * 60)
    group = product_of_symmetric_groups([range(30), range(30, 60)])
    assert detect_symmetry(problem, criterion=criterion) == group
    design = smallest_risk(problem, Fraction(20), group=group, criterion=criterion)
    assert design.value.exact is not None
    _, value = programs.compact(problem, Fraction(20), criterion=criterion)
    assert float(design.value.exact) == pytest.approx(value, abs=1e-7)
