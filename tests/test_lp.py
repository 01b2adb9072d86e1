"""The rational linear program and its certificate: what it accepts, what it rejects, and its JSON form."""

import json
from fractions import Fraction

import pytest

from symshuffle.base.errors import InputError, SolverFailure
from symshuffle.base.lp import Certificate, LinearProgram
from symshuffle.channels.geometry.linprog import certificate_of_basis, solve

KNAPSACK = LinearProgram.from_rows([-3, -2], [([1, 1], "<=", 4), ([1, 3], "<=", 6), ([1, 0], "<=", 3)])


def test_optimum_with_certificate():
    solution = solve(KNAPSACK)
    assert solution.value.exact == -11
    assert solution.primal() == [3, 1]
    told = json.loads(json.dumps(solution.certificate.to_json()))
    primal = tuple((j, Fraction(value)) for j, value in told["primal"])
    again = Certificate(primal, tuple(map(Fraction, told["dual"])))
    assert again == solution.certificate
    assert again.prove(KNAPSACK).exact == -11


def test_a_feasible_pair_with_a_gap_is_a_bracket():
    bracket = Certificate(((0, Fraction(1)),), (Fraction(-3), Fraction(0), Fraction(0))).prove(KNAPSACK)
    assert (bracket.lower, bracket.upper, bracket.exact) == (-12, -3, None)


def test_free_variables_and_equalities():
    # min t with t >= x - 1/3, t >= 1/3 - x, x free: 0 at x = 1/3
    program = LinearProgram.from_rows(
        [0, 1], [([-1, 1], ">=", Fraction(-1, 3)), ([1, 1], ">=", Fraction(1, 3))], free=[0, 1]
    )
    solution = solve(program)
    assert solution.value.exact == 0
    assert solution.primal()[0] == Fraction(1, 3)


def test_solver_status_is_an_error_not_a_number():
    with pytest.raises(SolverFailure, match=r"[Ii]nfeasible"):
        solve(LinearProgram.from_rows([1], [([1], "<=", -1)]))
    with pytest.raises(SolverFailure, match="nbounded"):
        solve(LinearProgram.from_rows([-1], [([1], ">=", 1)]))


def test_shapes_are_checked():
    with pytest.raises(InputError, match="columns"):
        LinearProgram((Fraction(1),), (), (), ())
    with pytest.raises(InputError, match="row 3"):
        LinearProgram((Fraction(1),), (((3, Fraction(1)),),), ("==",), (Fraction(1),))
    with pytest.raises(InputError, match=r"rows\[0\]"):
        LinearProgram.from_rows([1], [([1, 2], "==", 1)])


def test_singular_basis_is_no_certificate():
    program = LinearProgram.from_rows([1, 1], [([1, 1], "==", 1), ([2, 2], "==", 2)])
    assert certificate_of_basis(program, [0, 1], [0, 1]) is None


def test_sizes_and_sparse_columns_of_dense_rows():
    program = LinearProgram.from_rows([1, 2, 0], [([0, 5, 0], "<=", 4), ([1, 0, 0], ">=", 0)], free=[2])
    assert (program.num_variables, program.num_rows, program.free) == (3, 2, {2})
    assert program.columns == (((1, 1),), ((0, 5),), ())
    assert (program.senses, program.rhs) == (("<=", ">="), (4, 0))
    assert Certificate((), ()).prove(LinearProgram((), (), (), ())).exact == 0
