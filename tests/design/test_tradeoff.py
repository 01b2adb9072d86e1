"""Optimal trade-offs by several linear programs, their certificates, and what is refused."""

import json
import random
from dataclasses import replace
from fractions import Fraction
from functools import partial

import numpy as np
import pytest

from proofs_checks.ldp_tradeoff._minimax_risk import minimax_risk
from symshuffle import Exp, InputError, Problem, SolverFailure, Unsupported
from symshuffle.base.choices import Criterion, ProgramForm, members
from symshuffle.channels import MaximalPolytope
from symshuffle.channels.geometry.linprog import proposed
from symshuffle.design import TradeoffCertificate, smoothed_point_masses
from symshuffle.design.decision import programs
from symshuffle.design.decision.tradeoff import smallest_risk

BOTH = (smallest_risk, partial(smallest_risk, criterion="minimax"))


def random_problem(seed: int, *, m: int, parameters: int, actions: int) -> Problem:
    rng = random.Random(seed)

    def distribution(size: int) -> list[Fraction]:
        weights = [rng.randint(1, 20) for _ in range(size)]
        return [Fraction(w, sum(weights)) for w in weights]

    loss = [[Fraction(rng.randint(0, 5)) for _ in range(actions)] for _ in range(parameters)]
    return Problem.of([distribution(m) for _ in range(parameters)], loss, distribution(parameters))


def informative_problem(seed: int, *, m: int, parameters: int) -> Problem:
    rng = random.Random(seed)
    model = []
    for _ in range(parameters):
        weights = [rng.randint(1, 9) + 60 * (rng.random() < 0.25) for _ in range(m)]
        model.append([Fraction(w, sum(weights)) for w in weights])
    loss = [[0 if a == t else rng.randint(6, 9) for a in range(parameters)] for t in range(parameters)]
    return Problem.of(model, loss, [Fraction(1, parameters)] * parameters)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("tradeoff", BOTH)
def test_three_programs_and_the_vertices_agree(seed, tradeoff):
    problem = random_problem(seed, m=4 + seed % 2, parameters=4, actions=3)
    lam = Fraction(7, 2)
    designs = [tradeoff(problem, lam, method=method) for method in members(ProgramForm)]
    values = {design.value.exact for design in designs}
    assert len(values) == 1
    value = values.pop()
    for design in designs:
        assert design.proposed == pytest.approx(float(value), abs=1e-7)
        assert design.channel().is_ldp(lam)
    if tradeoff is smallest_risk:
        assert problem.bayes_risk(designs[0].channel())[0] == value
        vertices = MaximalPolytope(problem.num_inputs, lam).vertices()
        polytope = MaximalPolytope(problem.num_inputs, lam)
        assert min(problem.bayes_risk(polytope.channel(v))[0] for v in vertices) == value
    else:
        assert minimax_risk(problem, designs[0].channel()).value.lower == value
        prior = designs[0].least_favourable_prior
        assert smallest_risk(problem.with_prior(prior), lam).value.exact == value


def test_certificate_travels_as_json():
    problem = smoothed_point_masses(4, 1)
    design = smallest_risk(problem, 2, criterion="minimax")
    certificate = TradeoffCertificate.from_json(json.loads(json.dumps(design.certificates[0].to_json())))
    assert certificate == design.certificates[0]
    assert certificate.prove(problem).exact == Fraction(3, 5)


def test_larger_programs():
    problem = informative_problem(7, m=40, parameters=5)
    values = [tradeoff(problem, 3, method="compact").value.exact for tradeoff in BOTH]
    assert None not in values
    assert smallest_risk(problem, 3, method="columns", criterion="minimax").value.exact == values[1]
    wide = informative_problem(8, m=150, parameters=5)
    design = smallest_risk(wide, 3, method="compact")
    assert design.value.exact is None
    assert 0 < design.value.width < Fraction(1, 10**7)


def test_refusals():
    problem = smoothed_point_masses(3, 1)
    with pytest.raises(InputError, match="lam"):
        smallest_risk(problem, 1)
    with pytest.raises(InputError, match="eps0"):
        smallest_risk(problem, Exp(Fraction(-1)))
    with pytest.raises(InputError, match="prior"):
        smallest_risk(replace(problem, prior=None), 2)
    with pytest.raises(Unsupported, match=r"1048574 columns.*compact form.*orbit form"):
        smallest_risk(smoothed_point_masses(20, 1), 2, method="polytope")


def test_what_is_beyond_scale_is_refused_before_it_starts():
    flat = Problem.of([["1/200"] * 200] * 2, [[0, 1], [1, 0]], ["1/2", "1/2"])
    with pytest.raises(
        Unsupported, match=r"column generation at m = 200 with 2 actions .* 192 s.*compact form.*orbit form"
    ):
        smallest_risk(flat, 2, method="columns")
    with pytest.raises(Unsupported, match=r"minimax program .* 1179612 variables at m = 16 with 18 actions"):
        many = Problem.of([["1/16"] * 16] * 2, [[1] * 18] * 2)
        smallest_risk(many, 2, method="polytope", criterion="minimax")
    with pytest.raises(Unsupported, match=r"compact program has 200200 variables .*orbit form"):
        wide = Problem.of([["1/200"] * 200] * 2, [[1] * 1001] * 2, ["1/2", "1/2"])
        smallest_risk(wide, 2)


@pytest.mark.parametrize("criterion", members(Criterion))
@pytest.mark.parametrize("shift", [-7, 0, 4])
def test_the_program_over_all_subsets_against_the_compact_one_that_cvxpy_writes(criterion, shift):
    problem = random_problem(11, m=6, parameters=4, actions=3)
    loss = [[value + shift for value in row] for row in problem.loss]
    moved = Problem.of(problem.model, loss, problem.prior)
    columns, whole = programs.polytope(moved, Fraction(5, 2), criterion=criterion)
    _, small = programs.compact(moved, Fraction(5, 2), criterion=criterion)
    assert whole == pytest.approx(small, abs=1e-7)
    assert all(0 < subset < 63 and 0 <= action < 3 for subset, action in columns)


def test_a_dense_program_without_a_point_is_a_failure():
    one = np.ones((2, 1))
    with pytest.raises(SolverFailure, match="Infeasible"):
        proposed(np.ones(2), one, np.array([-1.0]), equations=1, description="nothing")
    value, point = proposed(np.array([-1.0, 2.0]), one, np.array([3.0]), equations=0, description="one inequality")
    assert (value, *point) == (-3, 3, 0)
