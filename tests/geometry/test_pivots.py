"""The rational simplex method against HiGHS with certificates, on programs of every form and of every scale."""

import random
from fractions import Fraction

import pytest

from symshuffle.base.errors import NotDecided, SolverFailure
from symshuffle.base.lp import LinearProgram
from symshuffle.channels.geometry import linprog
from symshuffle.channels.geometry.linprog import optimal_vectors, solve

F = Fraction
SENSES = ("==", ">=", "<=")


def _random_program(source, scale=1):
    """Feasible by construction (a known point), bounded by a box, with free variables, redundant and scaled rows."""
    variables, rows = source.randint(2, 6), source.randint(1, 4)
    free = tuple(j for j in range(variables) if source.random() < 0.2)
    point = [F(source.randint(-3, 3) if j in free else source.choice((0, 0, 1, 2))) for j in range(variables)]
    written = []
    for _ in range(rows):
        entries = [source.randint(-3, 3) * (scale if source.random() < 0.5 else 1) for _ in range(variables)]
        value, sense = sum(a * x for a, x in zip(entries, point, strict=True)), source.choice(SENSES)
        slack = {"==": 0, ">=": -source.randint(0, 2), "<=": source.randint(0, 2)}[sense]
        written.append((entries, sense, value + slack))
    written.append(written[0])
    for j in range(variables):
        unit = [F(int(i == j)) for i in range(variables)]
        written.append((unit, "<=", F(5)))
        if j in free:
            written.append((unit, ">=", F(-5)))
    costs = [F(source.randint(-4, 4)) for _ in range(variables)]
    return LinearProgram.from_rows(costs, written, free=free)


def test_agrees_with_the_solver():
    source = random.Random(7)
    for _ in range(60):
        program = _random_program(source)
        certificate, _ = optimal_vectors(program)
        assert certificate.prove(program).exact == solve(program).value.exact


@pytest.mark.parametrize("scale", [F(1, 10**18), 10**18])
def test_no_scale_matters(scale):
    source = random.Random(8)
    for _ in range(30):
        program = _random_program(source, scale)
        certificate, basis = optimal_vectors(program)
        value = certificate.prove(program).exact
        assert value is not None
        assert solve(program).value.exact == value
        assert set(dict(certificate.primal)) <= set(basis)


def test_a_start_that_is_no_feasible_basis_is_ignored():
    program = LinearProgram.from_rows([1, 2, 3], [([1, 1, 0], "==", 1), ([0, 1, 1], "==", 1)])
    expected = optimal_vectors(program)[0].prove(program).exact
    for start in ((0, 1), (1, 2), (0, 2), (0, 0), (0,), (0, 99), (3, 4), (-1, 0)):
        assert optimal_vectors(program, start)[0].prove(program).exact == expected == 2


def test_programs_without_an_optimum_are_named():
    with pytest.raises(SolverFailure, match="infeasible"):
        optimal_vectors(LinearProgram.from_rows([1], [([1], "<=", -1)]))
    with pytest.raises(SolverFailure, match="unbounded"):
        optimal_vectors(LinearProgram.from_rows([-1], [([1], ">=", 1)]))
    with pytest.raises(SolverFailure, match="unbounded"):
        optimal_vectors(LinearProgram.from_rows([1], [([1], "<=", 1)], free=[0]))
    with pytest.raises(SolverFailure, match="infeasible"):
        solve(LinearProgram.from_rows([1], [([1], "==", 1), ([1], "==", 1 + F(1, 10**30))]))


def test_a_cycling_example_ends():
    """Beale's example cycles under the rule of the most negative reduced cost; Bland's rule ends it."""
    rows = [
        ([F(1, 4), -60, F(-1, 25), 9, 1, 0, 0], "==", 0),
        ([F(1, 2), -90, F(-1, 50), 3, 0, 1, 0], "==", 0),
        ([0, 0, 1, 0, 0, 0, 1], "==", 1),
    ]
    program = LinearProgram.from_rows([F(-3, 4), 150, F(-1, 50), 6, 0, 0, 0], rows)
    certificate, _ = optimal_vectors(program, (4, 5, 6))
    assert certificate.prove(program).exact == F(-1, 20)


def test_large_programs_and_long_searches_are_refused(monkeypatch):
    wide = LinearProgram.from_rows([1] * 3, [([1, 1, 1], "==", 1)])
    monkeypatch.setitem(linprog.few_enough.__kwdefaults__, "max_entries", 2)
    with pytest.raises(NotDecided, match="too large"):
        optimal_vectors(wide)
    monkeypatch.setitem(linprog.few_enough.__kwdefaults__, "max_entries", 1000)
    monkeypatch.setitem(linprog._Pivots.minimise.__kwdefaults__, "max_pivots", 0)
    with pytest.raises(NotDecided, match="pivots"):
        optimal_vectors(wide)
