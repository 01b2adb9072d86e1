r"""A linear program over the rationals, and a certificate that a reader can check without a solver.

The program is

.. math:: \min_x \; c^\top x \quad\text{subject to}\quad A_i x \;\{=,\ge,\le\}\; b_i,\qquad x_j \ge 0 \;(j \notin F).

A certificate is a pair of vectors. If ``x`` is feasible and ``y`` satisfies the dual constraints
(:math:`c_j - y^\top A_j \ge 0`, equality for the free variables in ``F``, and :math:`y_i \ge 0` at ``>=``,
:math:`y_i \le 0` at ``<=``), then :math:`y^\top b \le \text{optimum} \le c^\top x`. Both conditions are finite sums
and comparisons of rationals; nothing in this module knows how the two vectors were found.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.numbers import check_rational
from symshuffle.base.results import Bracket, well_formed

SparseColumn: TypeAlias = "tuple[tuple[int, Fraction], ...]"
"""The non-zero entries of one column, as pairs (row, value)."""


SENSES: Final = ("==", ">=", "<=")
"""How a row may relate to its right-hand side."""


@final
@dataclass(frozen=True, slots=True)
class LinearProgram:
    """A rational linear program in minimisation form, stored by columns.

    - ``columns``: one per variable: its entries in the rows.
    - ``free``: variables without a sign constraint; the others are non-negative.
    """

    costs: tuple[Fraction, ...]
    columns: tuple[SparseColumn, ...]
    senses: tuple[str, ...]
    rhs: tuple[Fraction, ...]
    free: frozenset[int] = frozenset()

    def __post_init__(self) -> None:
        if len(self.columns) != len(self.costs):
            raise InputError("columns", f"{len(self.columns)} columns", f"{len(self.costs)}, one per cost")
        if len(self.rhs) != len(self.senses):
            raise InputError("rhs", f"{len(self.rhs)} entries", f"{len(self.senses)}, one per row")
        for i, sense in enumerate(self.senses):
            if sense not in SENSES:
                raise InputError(f"senses[{i}]", sense, f"one of {', '.join(SENSES)}")
        for j, column in enumerate(self.columns):
            for i, _ in column:
                if not 0 <= i < len(self.rhs):
                    raise InputError(f"columns[{j}]", f"row {i}", f"a row in 0..{len(self.rhs) - 1}")
        if any(not 0 <= j < len(self.costs) for j in self.free):
            raise InputError("free", sorted(self.free), f"variables in 0..{len(self.costs) - 1}")

    @classmethod
    def from_rows(
        cls,
        costs: Sequence[Fraction | int],
        rows: Iterable[tuple[Sequence[Fraction | int], str, Fraction | int]],
        *,
        free: Iterable[int] = (),
    ) -> LinearProgram:
        """Build a program from dense rows ``(coefficients, "==" | ">=" | "<=", right-hand side)``."""
        for j, cost in enumerate(costs):
            check_rational(cost, f"costs[{j}]")
        columns: list[list[tuple[int, Fraction]]] = [[] for _ in costs]
        senses, rhs = [], []
        for i, (coefficients, sense, bound) in enumerate(rows):
            if len(coefficients) != len(costs):
                raise InputError(f"rows[{i}]", f"{len(coefficients)} coefficients", f"{len(costs)}, one per variable")
            for j, value in enumerate(coefficients):
                check_rational(value, f"rows[{i}][{j}]")
                if value:
                    columns[j].append((i, Fraction(value)))
            check_rational(bound, f"rows[{i}], right-hand side")
            senses.append(sense)
            rhs.append(Fraction(bound))
        return cls(
            tuple(Fraction(cost) for cost in costs),
            tuple(tuple(column) for column in columns),
            tuple(senses),
            tuple(rhs),
            frozenset(free),
        )

    @property
    def num_variables(self) -> int:
        """Number of variables."""
        return len(self.costs)

    @property
    def num_rows(self) -> int:
        """Number of constraints, not counting signs."""
        return len(self.rhs)

    def describe(self) -> str:
        """The size in a few words, for messages."""
        return f"a linear program with {self.num_variables} variables and {self.num_rows} rows"


@final
@dataclass(frozen=True, slots=True)
class Certificate:
    """A primal and a dual vector of a :class:`LinearProgram`."""

    primal: tuple[tuple[int, Fraction], ...]
    dual: tuple[Fraction, ...]

    @well_formed()
    def verify(self, program: LinearProgram) -> None:
        """Check both vectors in rational arithmetic."""
        _check_primal(self.primal, program)
        _check_dual(self.dual, program)

    def prove(self, program: LinearProgram) -> Bracket:
        """Check both vectors, and return the bracket that they prove: from the dual to the primal value."""
        self.verify(program)
        upper = sum((program.costs[j] * value for j, value in self.primal), start=Fraction(0))
        lower = sum((y * b for y, b in zip(self.dual, program.rhs, strict=True)), start=Fraction(0))
        evaluation = f"primal and dual vectors checked in rational arithmetic on {program.describe()}"
        return Bracket(lower, upper, "exact", "lp", evaluation)

    def to_json(self) -> dict[str, Any]:
        """A form that ``json.dumps`` accepts; rationals are strings."""
        return {
            "primal": [[j, str(value)] for j, value in self.primal],
            "dual": [str(value) for value in self.dual],
        }


def _check_primal(primal: Sequence[tuple[int, Fraction]], program: LinearProgram) -> None:
    activity = [Fraction(0)] * program.num_rows
    seen: set[int] = set()
    for j, value in primal:
        if not 0 <= j < program.num_variables:
            raise CertificateError(f"primal[{j}]", f"there are {program.num_variables} variables")
        if j in seen:
            raise CertificateError(f"primal[{j}]", "the variable is named twice")
        if not isinstance(value, Fraction | int):
            raise CertificateError(f"primal[{j}]", f"{value!r} is no rational")
        if value < 0 and j not in program.free:
            raise CertificateError(f"primal[{j}]", f"{value} < 0")
        seen.add(j)
        for i, entry in program.columns[j]:
            activity[i] += entry * value
    for i, (sense, total, bound) in enumerate(zip(program.senses, activity, program.rhs, strict=True)):
        holds = {"==": total == bound, ">=": total >= bound, "<=": total <= bound}[sense]
        if not holds:
            raise CertificateError(f"rows[{i}]", f"{total} {sense} {bound} is false")


def _check_dual(dual: Sequence[Fraction], program: LinearProgram) -> None:
    if len(dual) != program.num_rows:
        raise CertificateError("dual", f"{len(dual)} multipliers for {program.num_rows} rows")
    for i, (sense, y) in enumerate(zip(program.senses, dual, strict=True)):
        if not isinstance(y, Fraction | int):
            raise CertificateError(f"dual[{i}]", f"{y!r} is no rational")
        if sense == ">=" and y < 0:
            raise CertificateError(f"dual[{i}]", f"{y} < 0 at a >= row")
        if sense == "<=" and y > 0:
            raise CertificateError(f"dual[{i}]", f"{y} > 0 at a <= row")
    # One common denominator turns the reduced costs into sums of few products.
    scale = math.lcm(*(y.denominator for y in dual)) if dual else 1
    scaled = [y.numerator * (scale // y.denominator) for y in dual]
    for j, (cost, column) in enumerate(zip(program.costs, program.columns, strict=True)):
        reduced = cost * scale - sum(entry * scaled[i] for i, entry in column)
        if reduced < 0:
            raise CertificateError(f"reduced_costs[{j}]", f"{reduced / scale} < 0")
        if reduced != 0 and j in program.free:
            raise CertificateError(f"reduced_costs[{j}]", f"{reduced / scale} != 0 at a free variable")
