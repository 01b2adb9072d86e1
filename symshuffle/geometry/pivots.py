"""The simplex method over the rationals, for programs whose data are finer than the tolerance of a solver in doubles.

Every comparison is exact, so no scale matters: the method ends at an optimal basis from wherever it starts. It is for
what HiGHS leaves open; a feasible basis of HiGHS saves most pivots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, final

import flint

from symshuffle.base.errors import NotDecided, SolverFailure
from symshuffle.base.lp import Certificate, LinearProgram, Sense
from symshuffle.geometry.linear import from_fmpq, to_fmpq

LARGEST_ENTRIES: Final = 2_000_000
"""Rows times columns beyond which a program is not solved by pivots over the rationals."""

LARGEST_ROWS: Final = 200

_MOST_PIVOTS: Final = 5_000

_PATIENCE: Final = 30
"""Degenerate pivots in a row after which Bland's rule takes over: it cannot cycle."""

_NONE: Final = flint.fmpq(0)


def few_enough(program: LinearProgram) -> bool:
    """Whether a program is small enough for pivots over the rationals."""
    return (
        program.num_rows <= LARGEST_ROWS
        and program.num_rows * (program.num_variables + 2 * program.num_rows) <= LARGEST_ENTRIES
    )


def optimal_vectors(program: LinearProgram, start: Sequence[int] = ()) -> tuple[Certificate, tuple[int, ...]]:
    """Optimal primal and dual vectors of a rational program, and the variables of its final basis.

    - ``start``: one variable per row, where a feasible basis is known: variables, then ``num_variables + i`` for the
      slack of row ``i``. Anything else is ignored.

    >>> tiny = Fraction(1, 10**40)
    >>> program = LinearProgram.from_rows([1, 1 + tiny], [([1, 1], "==", 1)])
    >>> optimal_vectors(program, [1])[0].primal
    ((0, Fraction(1, 1)),)
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
            columns[variables + i, i] = {Sense.LE: 1, Sense.GE: -1, Sense.EQ: 0}[sense]
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

    def minimise(self, costs: Sequence[Any]) -> list[Any]:
        """Pivot until no variable improves the point; the multipliers of the last basis."""
        rows, still = self.program.num_rows, 0
        for _ in range(_MOST_PIVOTS):
            weights = flint.fmpq_mat(1, rows, [costs[j] for j in self.basis]) * self.inverse
            priced = self.columns * weights.transpose()
            entering = self._entering([costs[j] - priced[j, 0] for j in range(self.real)], first=still > _PATIENCE)
            if entering is None:
                return [weights[0, i] for i in range(rows)]
            j, sign = entering
            step = self._enter(j, sign)
            still = 0 if step else still + 1
        raise NotDecided(f"no optimal basis of {self.program.describe()} after {_MOST_PIVOTS} pivots")

    def _entering(self, reduced: Sequence[Any], *, first: bool) -> tuple[int, int] | None:
        """A variable whose growth (sign 1) or, if it is free, whose fall (-1) lowers the cost."""
        known, best = set(self.basis), None
        for j, cost in enumerate(reduced):
            slack_of_equation = (
                j >= self.program.num_variables and self.program.senses[j - self.program.num_variables] is Sense.EQ
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
