"""Formulas in lam derived from a basis: exact breakpoints, known closed forms, certified programs as witnesses."""

import math
from fractions import Fraction

import pytest
import sympy as sp

from proofs_checks.ldp_tradeoff._named import grid_suffices
from proofs_checks.ldp_tradeoff._signs import nonnegative_by_coefficients
from symshuffle import InputError, Problem
from symshuffle.base import Verdict
from symshuffle.base.choices import Criterion, members
from symshuffle.channels.geometry.groups import SymmetryGroup, dihedral_group, symmetric_group, trivial_group
from symshuffle.design import named, smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.named import (
    cardioid_program,
    cosine_field,
    weighted_guessing_breakpoints,
    weighted_guessing_problem,
    weighted_guessing_risk,
)
from symshuffle.design.parametric.homotopy import basis_at, derive
from symshuffle.design.parametric.program import program_of_problem
from symshuffle.mechanisms import LAM

PRIOR = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]


def ordered_categories(m: int) -> Problem:
    return Problem.of(
        [[int(x == t) for x in range(m)] for t in range(m)],
        [[abs(t - a) for a in range(m)] for t in range(m)],
        [Fraction(1, m)] * m,
    )


@pytest.mark.parametrize("m", range(3, 9))
def test_guessing_is_rediscovered(m):
    gamma = Fraction(1, 2)
    found = derive(smoothed_point_masses(m, gamma), symmetric_group(m))
    assert len(found.pieces) == 1
    closed = 1 - (1 - sp.Rational(1, 2)) / m - LAM / (2 * (LAM + m - 1))
    assert sp.simplify(found.expression() - closed) == 0


@pytest.mark.parametrize("m", [3, 4, 5, 6])
def test_cardioid_is_rediscovered(m):
    assert grid_suffices(m)
    found = derive(cardioid_program(m, Fraction(1)))
    sizes = [piece.bases[0].weights[0][0].subset.bit_count() for piece in found.pieces]
    assert sizes == list(range(len(sizes), 0, -1))
    for piece, k in zip(found.pieces, sizes, strict=True):
        closed = 1 - (LAM - 1) * sp.sin(sp.pi * k / m) / (2 * sp.sin(sp.pi / m) * (k * LAM + m - k))
        assert abs(sp.N((piece.value - closed).subs(LAM, sp.Rational(17, 5)), 30)) < 1e-25
    for k, level in zip(sizes[1:], found.breakpoints, strict=True):
        s, t = sp.sin(sp.pi * k / m), sp.sin(sp.pi * (k + 1) / m)
        assert abs(sp.N(level - (1 + m * (t - s) / ((k + 1) * s - k * t)), 30)) < 1e-25


def test_weighted_guessing_has_exact_breakpoints():
    found = derive(weighted_guessing_problem(PRIOR), trivial_group(3))
    assert list(found.breakpoints) == weighted_guessing_breakpoints(PRIOR)
    assert weighted_guessing_breakpoints(PRIOR) == [Fraction(3, 2), 4]
    for level in (Fraction(6, 5), Fraction(2), Fraction(9)):
        expected, size = weighted_guessing_risk(PRIOR, level)
        piece = found.at(level)
        assert piece.value.subs(LAM, sp.Rational(level.numerator, level.denominator)) == expected
        assert smallest_risk(weighted_guessing_problem(PRIOR), level).value.exact == expected
        assert found.pieces[size - 1].at(level) == piece


@pytest.mark.parametrize("m", [3, 4, 5])
def test_ordered_categories(m):
    problem = ordered_categories(m)
    found = derive(problem, SymmetryGroup(m, (tuple(reversed(range(m))),)))
    expected = {3: [2], 4: [2 + sp.sqrt(5)], 5: [sp.Rational(3, 2), (7 + sp.sqrt(65)) / 2]}[m]
    assert [sp.simplify(a - b) for a, b in zip(found.breakpoints, expected, strict=True)] == [0] * len(expected)
    for level in (Fraction(5, 4), Fraction(3), Fraction(20)):
        value = found.at(level).value.subs(LAM, sp.Rational(level.numerator, level.denominator))
        assert smallest_risk(problem, level).value.exact == Fraction(int(value.p), int(value.q))
    assert [piece.upper for piece in found.pieces[:-1]] == [piece.lower for piece in found.pieces[1:]]


@pytest.mark.parametrize("m", [3, 4, 5])
def test_minimax_formulas(m):
    problem = ordered_categories(m)
    found = derive(problem, criterion="minimax")
    group = SymmetryGroup(m, (tuple(reversed(range(m))),))
    reduced = program_of_problem(problem, group, criterion="minimax")
    assert len(reduced.parameter_sizes) == (m + 1) // 2
    expected = {3: [], 4: [1 + sp.sqrt(2)], 5: [2 + sp.sqrt(3), (5 + sp.sqrt(17)) / 2]}[m]
    assert [sp.simplify(a - b) for a, b in zip(found.breakpoints, expected, strict=True)] == [0] * len(expected)
    for level in (Fraction(5, 4), Fraction(3), Fraction(4), Fraction(20)):
        piece = found.at(level)
        at = sp.Rational(level.numerator, level.denominator)
        value = piece.value.subs(LAM, at)
        assert smallest_risk(problem, level, criterion="minimax").value.exact == Fraction(int(value.p), int(value.q))
        # The least favourable prior, spread over its orbits, makes the Bayes optimum as large.
        sizes = [2] * (m // 2) + [1] * (m % 2)
        shares = [Fraction(str(p.subs(LAM, at))) / size for p, size in zip(piece.prior, sizes, strict=True)]
        prior = [shares[min(t, m - 1 - t)] for t in range(m)]
        assert smallest_risk(problem.with_prior(prior), level).value.exact == Fraction(int(value.p), int(value.q))


@pytest.mark.parametrize("criterion", members(Criterion))
def test_a_representative_subset_is_paired_with_every_action(criterion):
    # On a ring all actions are images of one, but the best action at a representative need not be that one.
    m = 5
    model = [
        [Fraction(int(x == t), 2) + Fraction(int((x - t) % m in (1, m - 1)), 4) for x in range(m)] for t in range(m)
    ]
    loss = [[min((t - a) % m, (a - t) % m) for a in range(m)] for t in range(m)]
    problem = Problem.of(model, loss, [Fraction(1, m)] * m)
    found = derive(problem, dihedral_group(m), criterion=criterion)
    for level in (Fraction(3, 2), Fraction(3), Fraction(20)):
        value = found.at(level).value.subs(LAM, sp.Rational(level.numerator, level.denominator))
        assert smallest_risk(problem, level, criterion=criterion).value.exact == Fraction(int(value.p), int(value.q))


def test_minimax_with_and_without_symmetry():
    problem = ordered_categories(4)
    assert (
        derive(problem, criterion="minimax").expression()
        == derive(problem, trivial_group(4), criterion="minimax").expression()
    )
    single = derive(smoothed_point_masses(4, 1), criterion="minimax")
    assert single.expression() == derive(smoothed_point_masses(4, 1)).expression()


def test_detected_symmetry_and_no_symmetry_agree():
    problem = ordered_categories(4)
    assert derive(problem).expression() == derive(problem, trivial_group(4)).expression()


def test_weights_and_bound_prove_the_value():
    problem = ordered_categories(4)
    program = program_of_problem(problem, trivial_group(4), criterion="bayes")
    piece = basis_at(program, Fraction(3))
    for x in range(4):
        total = sum(w * (LAM if column.subset >> x & 1 else 1) for column, w in piece.weights)
        assert sp.simplify(total - 1) == 0
    assert sp.simplify(sum(piece.bound) - piece.value) == 0


def test_region_certificates():
    s, t = sp.symbols("s t", positive=True)
    p = sp.Symbol("p")
    assert nonnegative_by_coefficients(LAM * p - 1, {LAM: 1 + s, p: 1 + t}, (s, t))
    region = {LAM: 1 + s, p: 1 + t}
    assert nonnegative_by_coefficients(1 - LAM * p, region, (s, t)) is Verdict.FALSE
    assert nonnegative_by_coefficients(LAM - p, region, (s, t)) is Verdict.UNDECIDED


def test_refusals():
    with pytest.raises(InputError, match="gamma"):
        cardioid_program(4, Fraction(0))
    with pytest.raises(InputError, match="lam"):
        derive(weighted_guessing_problem(PRIOR), trivial_group(3)).at(Fraction(1, 2))
    with pytest.raises(InputError, match="symmetry"):
        derive(weighted_guessing_problem(PRIOR), symmetric_group(3))


@pytest.mark.parametrize("m", [3, 4, 5])
def test_an_action_of_the_cardioid_is_a_direction(m, monkeypatch):
    """Action a is the direction pi a/m, reading x the direction 2 pi x/m; what is lost is one less a cosine."""
    seen = []
    monkeypatch.setattr(named, "program_of_costs", lambda costs, *_: seen.append(costs))
    cardioid_program(m, Fraction(1, 2))
    field = cosine_field(m)
    for a, row in enumerate(seen[0]):
        for x, cost in enumerate(row):
            found = float(field.to_sympy(cost).evalf())
            assert math.isclose(found, (1 - math.cos(math.pi * (2 * x - a) / m) / 4) / m, rel_tol=1e-12)
