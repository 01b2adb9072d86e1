"""Symmetries of problems: detection, refusal, and the reduced program against the full one."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle.design import DecisionProblem, bayes_tradeoff, minimax_tradeoff, smoothed_point_masses
from symshuffle.design.reduced import orbit_tradeoff
from symshuffle.design.symmetries import check_symmetry, detect_symmetry
from symshuffle.errors import InputError, Unsupported
from symshuffle.geometry.symmetry import cyclic_group, product_of_symmetric_groups, symmetric_group, trivial_group

LAM = Fraction(3)


def ring(m: int) -> DecisionProblem:
    """Estimate a position on a circle from a blurred reading, at the loss of the distance along the circle."""
    blur = [Fraction(max(m - 2 * min(x, m - x), 0) + 1) for x in range(m)]
    model = [[blur[(x - t) % m] / sum(blur) for x in range(m)] for t in range(m)]
    loss = [[Fraction(min((a - t) % m, (t - a) % m)) for a in range(m)] for t in range(m)]
    return DecisionProblem.of(model, loss, [Fraction(1, m)] * m)


@pytest.mark.parametrize("m", [4, 5, 6])
def test_detected_group_gives_the_full_optimum(m):
    problem = ring(m)
    group = detect_symmetry(problem)
    assert group.order() == 2 * m
    design = orbit_tradeoff(problem, LAM, group)
    assert design.value.exact == bayes_tradeoff(problem, LAM).value.exact
    assert problem.bayes_risk(design.channel())[0] == design.value.exact
    worst = orbit_tradeoff(problem, LAM, detect_symmetry(problem, minimax=True), minimax=True)
    assert worst.value.exact == minimax_tradeoff(problem, LAM).value.exact
    json.dumps(design.to_json())


def test_exchangeable_inputs_are_blocks():
    problem = smoothed_point_masses(5, 1).with_prior([Fraction(1, 4)] * 2 + [Fraction(1, 6)] * 3)
    group = detect_symmetry(problem)
    assert group.blocks == ((0, 1), (2, 3, 4))
    assert orbit_tradeoff(problem, LAM, group).value.exact == bayes_tradeoff(problem, LAM).value.exact
    lopsided = DecisionProblem.of([["1/2", "1/3", "1/6"], ["1/6", "1/2", "1/3"]], [[0, 1], [2, 0]], ["1/3", "2/3"])
    assert detect_symmetry(lopsided).order() == 1


def test_larger_programs():
    assert orbit_tradeoff(ring(12), LAM, cyclic_group(12)).num_orbits == 350
    problem = smoothed_point_masses(60, 1).with_prior([Fraction(1, 90)] * 30 + [Fraction(2, 90)] * 30)
    design = orbit_tradeoff(problem, Fraction(20), product_of_symmetric_groups([range(30), range(30, 60)]))
    assert design.num_orbits == 31 * 31 - 2
    assert design.value.exact is not None
    assert float(design.value.exact) == pytest.approx(design.proposed, abs=1e-9)
    with pytest.raises(Unsupported, match="outputs"):
        big = smoothed_point_masses(16, 1)
        reduced = orbit_tradeoff(big, LAM, symmetric_group(16))
        replace(reduced, weights=((replace(reduced.weights[0][0], size=5000), Fraction(1)),)).channel()


def test_a_spoilt_bound_is_rejected():
    design = orbit_tradeoff(ring(5), LAM, cyclic_group(5))
    with pytest.raises(InputError, match="bound"):
        replace(design, bound=tuple(u * 2 for u in design.bound)).verify()
    with pytest.raises(InputError, match="weights"):
        replace(design, weights=tuple((o, w * 2) for o, w in design.weights)).verify()


def test_groups_that_do_not_act_are_refused():
    problem = ring(5)
    with pytest.raises(InputError, match=r"generators\[0\] = \[1, 0, 2, 3, 4\].*action"):
        check_symmetry(problem, symmetric_group(5))
    with pytest.raises(InputError, match="parameter"):
        check_symmetry(problem, symmetric_group(5), minimax=True)
    with pytest.raises(InputError, match="acts on 4 inputs"):
        check_symmetry(problem, cyclic_group(4))
    with pytest.raises(Unsupported, match="transitive on parameters"):
        orbit_tradeoff(problem, LAM, trivial_group(5), minimax=True)
