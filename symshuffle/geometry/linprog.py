"""From a floating-point simplex basis to an exact optimum.

HiGHS proposes a basis, a set of columns; none of its numbers is used. python-flint solves for the vertex and the
multipliers of that basis over the rationals, and :mod:`symshuffle.base.lp` checks both. Where the basis is not exactly
optimal, other settings are tried, and then pivots over the rationals (:mod:`symshuffle.geometry.pivots`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import flint
import numpy as np

from symshuffle.base.doubles import Array
from symshuffle.base.errors import CertificateError, SolverFailure
from symshuffle.base.lp import Certificate, LinearProgram, Sense
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd, ValueMethods, check_claim, well_formed, within
from symshuffle.base.solvers import highspy, silent
from symshuffle.geometry.linear import from_fmpq, to_fmpq
from symshuffle.geometry.pivots import few_enough, optimal_vectors

_SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {"solver": "simplex"},
    {"solver": "simplex", "presolve": "off"},
    {
        "solver": "simplex",
        "presolve": "off",
        "primal_feasibility_tolerance": 1e-10,
        "dual_feasibility_tolerance": 1e-10,
    },
    {"solver": "simplex", "presolve": "off", "simplex_strategy": 4, "simplex_scale_strategy": 0},
)
"""Settings of HiGHS tried in turn, until one of the final bases is exactly optimal."""


_PERTURBATIONS: Final = ("1/1000", "1/20000", "1/400000")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Solution(ValueMethods):
    """A linear program solved and certified."""

    safe: ClassVar[SafeEnd] = SafeEnd.UPPER
    program: LinearProgram
    certificate: Certificate
    value: Bracket
    basis: tuple[int, ...]

    @property
    def about(self) -> str:
        """Which program it is the optimum of."""
        return f"minimum of {self.program.describe()}"

    @well_formed()
    def verify(self) -> None:
        """Check the certificate against the program."""
        with within("certificate"):
            proved = self.certificate.prove(self.program)
        check_claim(self.value, proved, "value")

    def to_dict(self) -> dict[str, Any]:
        """The answer with its certificate."""
        return AnswerMethods.to_dict(self) | {"certificate": self.certificate.to_json()}

    def primal(self) -> list[Fraction]:
        """The optimal point as a dense vector."""
        dense = [Fraction(0)] * self.program.num_variables
        for j, value in self.certificate.primal:
            dense[j] = value
        return dense


def solve(program: LinearProgram) -> Solution:
    """Solve a rational linear program to certified optimality."""
    start: list[int] = []
    for settings in _SETTINGS:
        try:
            columns, rows = _highs_basis(program, settings)
        except SolverFailure:
            if not few_enough(program):
                raise
            continue
        start = [*columns, *(program.num_variables + i for i in range(program.num_rows) if i not in set(rows))]
        certificate = certificate_of_basis(program, columns, rows)
        if certificate is None:
            continue
        try:
            bracket = certificate.prove(program)
        except CertificateError:
            continue
        if bracket.exact is not None:
            return Solution(program, certificate, bracket, tuple(columns))
    certificate, basis = optimal_vectors(program, start)
    return Solution(program, certificate, certificate.prove(program), basis)


def full_bases(program: LinearProgram) -> Iterator[list[int]]:
    """Candidates for an optimal basis of a program in equations, with as many columns as there are rows.

    At a degenerate vertex the solver may keep fewer columns; slightly different right-hand sides then make it name a
    full basis. Whether that basis is optimal for the true ones is for the caller to decide.
    """
    for scale in (0, *_PERTURBATIONS):
        # Scattered, so that no two rows stay tied.
        rhs = (
            b + Fraction(scale) * Fraction(1 + (271 * i**3 + 37 * i) % 1009, 1009) for i, b in enumerate(program.rhs)
        )
        basis = solve(replace(program, rhs=tuple(rhs))).basis
        if len(basis) == program.num_rows:
            yield list(basis)


def certificate_of_basis(
    program: LinearProgram, columns: Sequence[int], tight_rows: Sequence[int]
) -> Certificate | None:
    """The exact vectors of a basis, from its variables and the rows whose slack is not basic; None if singular."""
    if len(columns) != len(tight_rows):
        return None
    if not columns:
        return Certificate((), (Fraction(0),) * program.num_rows)
    position = {row: i for i, row in enumerate(tight_rows)}
    size = len(columns)
    matrix = flint.fmpq_mat(size, size)
    for k, j in enumerate(columns):
        for i, entry in program.columns[j]:
            if i in position:
                matrix[position[i], k] = to_fmpq(entry)
    try:
        point = matrix.solve(flint.fmpq_mat(size, 1, [to_fmpq(program.rhs[i]) for i in tight_rows]))
        multipliers = matrix.transpose().solve(flint.fmpq_mat(size, 1, [to_fmpq(program.costs[j]) for j in columns]))
    except ZeroDivisionError:
        return None
    dual = [Fraction(0)] * program.num_rows
    for i, row in enumerate(tight_rows):
        dual[row] = from_fmpq(multipliers[i, 0])
    primal = tuple((j, from_fmpq(point[k, 0])) for k, j in enumerate(columns) if point[k, 0] != 0)
    return Certificate(primal, tuple(dual))


def _highs_basis(program: LinearProgram, settings: dict[str, Any]) -> tuple[list[int], list[int]]:
    """The basic variables, and the rows whose slack is non-basic, of the basis where HiGHS stops."""
    basis = _solved(_highs_model(program), settings, program.describe()).getBasis()
    basic = highspy().HighsBasisStatus.kBasic
    columns = [j for j, state in enumerate(basis.col_status) if state == basic]
    rows = [i for i, state in enumerate(basis.row_status) if state != basic]
    return columns, rows


def proposed(costs: Array, columns: Array, rhs: Array, *, equations: int, description: str) -> tuple[float, Array]:
    """Value and point of a dense program in floating point, as HiGHS finds them: a proposal, and no result.

    - ``costs``, ``columns``: to be minimised over non-negative variables; the columns of the program, one per line.
    - ``equations``: so many rows are equations, the first ones; the others are at most their right-hand sides.

    >>> proposed(np.array([2.0, 3.0]), np.array([[1.0], [2.0]]), np.array([1.0]), equations=1, description="")
    (1.5, array([0. , 0.5]))
    """
    highs = highspy()
    infinity, (variables, rows) = highs.kHighsInf, columns.shape
    model = highs.HighsLp()
    model.num_col_, model.num_row_ = variables, rows
    model.col_cost_ = costs
    model.col_lower_, model.col_upper_ = np.zeros(variables), np.full(variables, infinity)
    model.row_lower_ = np.where(np.arange(rows) < equations, rhs, -infinity)
    model.row_upper_ = rhs
    model.a_matrix_.format_ = highs.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.arange(0, variables * rows + 1, rows, dtype=np.int32)
    model.a_matrix_.index_ = np.tile(np.arange(rows, dtype=np.int32), variables)
    model.a_matrix_.value_ = np.ascontiguousarray(columns).ravel()
    solver = _solved(model, {"presolve": "off"}, description)  # of a dense matrix there is nothing to remove
    return float(solver.getInfo().objective_function_value), np.array(solver.getSolution().col_value)


def _solved(model: Any, settings: dict[str, Any], description: str) -> Any:
    """HiGHS at an optimum of a model; anywhere else is an error."""
    with silent():
        solver = highspy().Highs()
        for name, value in {"output_flag": False, **settings}.items():
            solver.setOptionValue(name, value)
        solver.passModel(model)
        solver.run()
        status = solver.getModelStatus()
    if status != highspy().HighsModelStatus.kOptimal:
        raise SolverFailure("HiGHS", solver.modelStatusToString(status), description)
    return solver


def _highs_model(program: LinearProgram) -> Any:
    highs = highspy()
    infinity = highs.kHighsInf
    model = highs.HighsLp()
    model.num_col_, model.num_row_ = program.num_variables, program.num_rows
    model.col_cost_ = np.array([float(cost) for cost in program.costs])
    model.col_lower_ = np.array([-infinity if j in program.free else 0.0 for j in range(program.num_variables)])
    model.col_upper_ = np.full(program.num_variables, infinity)
    bounds = [float(bound) for bound in program.rhs]
    pairs = list(zip(program.senses, bounds, strict=True))
    model.row_lower_ = np.array([-infinity if sense is Sense.LE else bound for sense, bound in pairs])
    model.row_upper_ = np.array([infinity if sense is Sense.GE else bound for sense, bound in pairs])
    model.a_matrix_.format_ = highs.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.cumsum([0, *(len(column) for column in program.columns)]).astype(np.int32)
    model.a_matrix_.index_ = np.array([i for column in program.columns for i, _ in column], dtype=np.int32)
    model.a_matrix_.value_ = np.array([float(entry) for column in program.columns for _, entry in column])
    return model
