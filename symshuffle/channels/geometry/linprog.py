"""From a floating-point simplex basis to an exact optimum.

HiGHS proposes a basis; none of its numbers is used. python-flint solves for the vertex and the multipliers of that
basis over the rationals, and :mod:`symshuffle.base.lp` checks both. Where the basis is not exactly optimal, other
settings are tried, and then pivots over the rationals, whose comparisons are exact: they end at an optimum.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import flint
import numpy as np

from symshuffle.base.choices import SafeEnd
from symshuffle.base.doubles import Array
from symshuffle.base.errors import CertificateError, NotDecided, SolverFailure
from symshuffle.base.lp import Certificate, LinearProgram
from symshuffle.base.results import AnswerMethods, Bracket, ValueMethods, check_claim, well_formed, within
from symshuffle.base.solvers import highspy, silent
from symshuffle.channels.geometry.linear import from_fmpq, to_fmpq

_NONE: Final = flint.fmpq(0)

_WHOLE: Final[dict[str, Any]] = {"solver": "simplex", "presolve": "off"}
_SETTINGS: Final[tuple[dict[str, Any], ...]] = (
    {"solver": "simplex"},
    _WHOLE,
    _WHOLE | {"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    _WHOLE | {"simplex_strategy": 4, "simplex_scale_strategy": 0},
)
"""Settings of HiGHS tried in turn, until one of the final bases is exactly optimal."""

_PERTURBATIONS: Final = ("1/1000", "1/20000", "1/400000")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Solution(ValueMethods):
    """A linear program solved and certified.

    ``float`` returns the upper end, rounded up.
    """

    safe: ClassVar[SafeEnd] = "upper"
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
    model.row_lower_ = np.array([-infinity if sense == "<=" else bound for sense, bound in pairs])
    model.row_upper_ = np.array([infinity if sense == ">=" else bound for sense, bound in pairs])
    model.a_matrix_.format_ = highs.MatrixFormat.kColwise
    model.a_matrix_.start_ = np.cumsum([0, *(len(column) for column in program.columns)]).astype(np.int32)
    model.a_matrix_.index_ = np.array([i for column in program.columns for i, _ in column], dtype=np.int32)
    model.a_matrix_.value_ = np.array([float(entry) for column in program.columns for _, entry in column])
    return model


def few_enough(program: LinearProgram, *, max_entries: int = 2_000_000, max_rows: int = 200) -> bool:
    """Whether a program is small enough for pivots over the rationals.

    - ``max_entries``: rows times columns.
    - ``max_rows``: number of rows.
    """
    return (
        program.num_rows <= max_rows
        and program.num_rows * (program.num_variables + 2 * program.num_rows) <= max_entries
    )


def optimal_vectors(program: LinearProgram, start: Sequence[int] = ()) -> tuple[Certificate, tuple[int, ...]]:
    """Optimal primal and dual vectors of a rational program, and the variables of its final basis.

    - ``start``: one variable per row, where a feasible basis is known: variables, then ``num_variables + i`` for the
      slack of row ``i``. Anything else is ignored.
    """
    if not few_enough(program):
        raise NotDecided(f"{program.describe()} is too large for pivots over the rationals")
    tableau = _Pivots.of(program)
    if not tableau.place(start):
        tableau.place_artificial()
        tableau.minimise(tableau.artificial_costs())
        if tableau.value(tableau.artificial_costs()) != 0:
            raise SolverFailure("the rational simplex method", "infeasible", program.describe())
        tableau.expel_artificial()
    dual = tableau.minimise(tableau.costs)
    primal = tuple(
        (j, from_fmpq(tableau.point[i, 0]))
        for i, j in enumerate(tableau.basis)
        if j < program.num_variables and tableau.point[i, 0] != 0
    )
    found = Certificate(tuple(sorted(primal)), tuple(from_fmpq(y) for y in dual))
    return found, tuple(j for j in tableau.basis if j < program.num_variables)


@final
@dataclass(slots=True, eq=False)
class _Pivots:
    """A basis with its inverse: variables of the program, then a slack and an artificial variable for every row."""

    program: LinearProgram
    columns: Any
    """Shape (variables, rows): the columns of all variables, as rows of a rational matrix."""
    costs: list[Any]
    rhs: Any
    real: int
    """Variables and slacks; artificial variables come after them."""
    basis: list[int]
    inverse: Any
    point: Any

    @classmethod
    def of(cls, program: LinearProgram) -> _Pivots:
        rows, variables = program.num_rows, program.num_variables
        real = variables + rows
        columns = flint.fmpq_mat(real + rows, rows)
        for j, column in enumerate(program.columns):
            for i, entry in column:
                columns[j, i] += to_fmpq(entry)
        for i, (sense, bound) in enumerate(zip(program.senses, program.rhs, strict=True)):
            columns[variables + i, i] = {"<=": 1, ">=": -1, "==": 0}[sense]
            columns[real + i, i] = 1 if bound >= 0 else -1
        costs = [to_fmpq(cost) for cost in program.costs] + [_NONE] * (2 * rows)
        rhs = flint.fmpq_mat(rows, 1, [to_fmpq(bound) for bound in program.rhs])
        return cls(program, columns, costs, rhs, real, [], None, None)

    def place(self, start: Sequence[int]) -> bool:
        """Take a basis, if it is one and its point is feasible."""
        rows = self.program.num_rows
        if len(start) != rows or len(set(start)) != rows or not all(0 <= j < self.real for j in start):
            return False
        matrix = flint.fmpq_mat(rows, rows, [self.columns[j, i] for i in range(rows) for j in start])
        try:
            inverse = matrix.inv()
        except ZeroDivisionError:
            return False
        point = inverse * self.rhs
        if any(point[i, 0] < 0 and j not in self.program.free for i, j in enumerate(start)):
            return False
        self.basis, self.inverse, self.point = list(start), inverse, point
        return True

    def place_artificial(self) -> None:
        """Start from the artificial variables, whose matrix is diagonal with entries 1 and -1."""
        rows = self.program.num_rows
        self.basis = [self.real + i for i in range(rows)]
        self.inverse = flint.fmpq_mat(rows, rows)
        for i in range(rows):
            self.inverse[i, i] = self.columns[self.real + i, i]
        self.point = self.inverse * self.rhs

    def artificial_costs(self) -> list[Any]:
        """Costs that count artificial variables only."""
        return [_NONE] * self.real + [flint.fmpq(1)] * self.program.num_rows

    def value(self, costs: Sequence[Any]) -> Any:
        """What the present point costs."""
        return sum((costs[j] * self.point[i, 0] for i, j in enumerate(self.basis)), _NONE)

    def minimise(self, costs: Sequence[Any], *, patience: int = 30, max_pivots: int = 5_000) -> list[Any]:
        """Pivot until no variable improves the point; the multipliers of the last basis.

        - ``max_pivots``: pivots after which the program is refused.
        """
        rows, still = self.program.num_rows, 0
        for _ in range(max_pivots):
            weights = flint.fmpq_mat(1, rows, [costs[j] for j in self.basis]) * self.inverse
            priced = self.columns * weights.transpose()
            entering = self._entering([costs[j] - priced[j, 0] for j in range(self.real)], first=still > patience)
            if entering is None:
                return [weights[0, i] for i in range(rows)]
            j, sign = entering
            step = self._enter(j, sign)
            still = 0 if step else still + 1
        raise NotDecided(f"no optimal basis of {self.program.describe()} after {max_pivots} pivots")

    def _entering(self, reduced: Sequence[Any], *, first: bool) -> tuple[int, int] | None:
        """A variable whose growth (sign 1) or, if it is free, whose fall (-1) lowers the cost."""
        known, best = set(self.basis), None
        for j, cost in enumerate(reduced):
            slack_of_equation = (
                j >= self.program.num_variables and self.program.senses[j - self.program.num_variables] == "=="
            )
            if cost == 0 or j in known or slack_of_equation or (cost > 0 and j not in self.program.free):
                continue
            if first:
                return j, (1 if cost < 0 else -1)
            if best is None or abs(cost) > abs(reduced[best[0]]):
                best = j, (1 if cost < 0 else -1)
        return best

    def _enter(self, j: int, sign: int) -> Any:
        """Let a variable into the basis, as far as all others stay feasible; how far it went."""
        direction = self._direction(j)
        leaving, limit = None, None
        for i, old in enumerate(self.basis):
            change = direction[i, 0] * sign
            if old in self.program.free or change == 0:
                continue
            # An artificial variable that is left at 0 may not grow either.
            blocked = old >= self.real and self.point[i, 0] == 0
            if change < 0 and not blocked:
                continue
            ratio = _NONE if blocked else self.point[i, 0] / change
            if limit is None or ratio < limit or (ratio == limit and old < self.basis[leaving or 0]):
                leaving, limit = i, ratio
        if leaving is None:
            raise SolverFailure("the rational simplex method", "unbounded", self.program.describe())
        self._exchange(leaving, j, direction)
        return limit

    def expel_artificial(self) -> None:
        """Exchange artificial variables at 0 for others; what stays belongs to a row that follows from the others."""
        for i, old in enumerate(list(self.basis)):
            if old < self.real:
                continue
            row = flint.fmpq_mat(1, self.program.num_rows, [self.inverse[i, r] for r in range(self.program.num_rows)])
            entries = self.columns * row.transpose()
            known = set(self.basis)
            j = next((j for j in range(self.real) if entries[j, 0] != 0 and j not in known), None)
            if j is not None:
                self._exchange(i, j, self._direction(j))

    def _direction(self, j: int) -> Any:
        rows = self.program.num_rows
        return self.inverse * flint.fmpq_mat(rows, 1, [self.columns[j, i] for i in range(rows)])

    def _exchange(self, leaving: int, j: int, direction: Any) -> None:
        """Update the inverse and the point by one row operation."""
        rows = self.program.num_rows
        pivot = direction[leaving, 0]
        row = flint.fmpq_mat(1, rows, [self.inverse[leaving, c] / pivot for c in range(rows)])
        moved = flint.fmpq_mat(rows, 1, [direction[i, 0] - (i == leaving) for i in range(rows)])
        step = self.point[leaving, 0] / pivot
        self.inverse = self.inverse - moved * row
        self.point = self.point - moved * step
        self.basis[leaving] = j
