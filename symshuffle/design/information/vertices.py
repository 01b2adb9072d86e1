"""The linear program behind the largest value of a measure: columns, an optimal vertex, a vector above them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import flint
import numpy as np

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.lp import Certificate, LinearProgram, Sense
from symshuffle.base.numbers import Ball, to_arb
from symshuffle.base.results import Bracket
from symshuffle.base.solvers import linprog
from symshuffle.channels.geometry.extremal import staircase_row
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.linear import Vector, dot
from symshuffle.channels.geometry.linprog import certificate_of_basis, few_enough, optimal_vectors
from symshuffle.channels.geometry.subset_orbits import SubsetOrbit
from symshuffle.design.decision.invariant import spread_over
from symshuffle.design.information.measures import Column, Measure, columns_up_to


@final
@dataclass(frozen=True, slots=True)
class Reduced:
    """The linear program under a group: one column per orbit of subsets, one row per orbit (``blocks``) of inputs.

    A variable is the total weight of an orbit of subsets; without a group every orbit is a single subset or input.

    - ``rows``: by orbit of subsets, what one unit of its total weight adds to an input of each orbit of inputs.
    """

    m: int
    lam: Fraction
    blocks: tuple[tuple[int, ...], ...]
    orbits: list[SubsetOrbit]
    columns: list[Vector]
    rows: list[Vector]

    @classmethod
    def of(cls, measure: Measure, lam: Fraction, group: SymmetryGroup | None) -> Reduced:
        """The columns that compete for a measure."""
        m = measure.num_inputs
        blocks, orbits = columns_up_to(m, group)
        columns = [staircase_row(o.representative, m, lam) for o in orbits]
        rows = [tuple(o.column_sum(i, lam) / o.size for i in range(len(blocks))) for o in orbits]
        return cls(m, lam, blocks, orbits, columns, rows)

    def program(self, gains: Sequence[Fraction]) -> LinearProgram:
        """Maximise the gains (minimise their negatives) with the probabilities of every input summing to 1."""
        entries = tuple(tuple(enumerate(row)) for row in self.rows)
        count = len(self.blocks)
        return LinearProgram(tuple(-gain for gain in gains), entries, (Sense.EQ,) * count, (Fraction(1),) * count)

    def spread(self, dual: Sequence[Fraction]) -> Vector:
        """The vector u over the inputs: the negated multiplier of an orbit, shared equally by its inputs."""
        return spread_over(self.blocks, [-y for y in dual], self.m)

    def weigh(self, primal: Sequence[tuple[int, Fraction]]) -> dict[int, Fraction]:
        """The weight of every subset of an orbit, by its representative."""
        return {self.orbits[j].representative: mass / self.orbits[j].size for j, mass in primal}


def enclosed_maximum(measure: Measure, reduced: Reduced, bits: int) -> tuple[Certificate, Vector, Bracket]:
    """An optimal vertex, a vector above every column, and the bracket between their values.

    The program is solved over the rationals at the midpoints of the balls. Its vertex is feasible whatever the true
    gains are, so that its value is a lower end; its dual vector is raised until it is certainly above every column.
    """
    gains = [measure.column_ball(column) for column in reduced.columns]
    strange = next((o.representative for o, v in zip(reduced.orbits, gains, strict=True) if not v.is_finite()), None)
    if strange is not None:
        raise InputError("measure", measure.name, f"a finite value on the staircase column of subset {strange}")
    flat = measure.column_ball((Fraction(1),) * reduced.m)
    flat = flat if flat.is_finite() else flint.arb(0)
    program = reduced.program([Ball.from_arb(gain, bits).midpoint for gain in gains])
    basis = _float_basis(reduced.rows, [gain - flat for gain in gains], flat, reduced.lam)
    found = (
        optimal_vectors(program, basis)[0]
        if few_enough(program)  # for pivots over the rationals
        else certificate_of_basis(program, basis, range(program.num_rows))
    )
    if found is None or any(value < 0 for _, value in found.primal):
        raise NotDecided(f"the basis proposed for {measure.name} is not feasible over the rationals")
    attained = sum((to_arb(mass) * gains[j] for j, mass in found.primal), start=flint.arb(0))
    bound = reduced.spread(found.dual)
    limits = (to_arb(dot(bound, column)) for column in reduced.columns)
    excess = (Ball.from_arb(gain - limit).upper for gain, limit in zip(gains, limits, strict=True))
    # Raising every entry of u by s raises u . S_y by at least s * m, since no entry of a column is below 1.
    raised = max(Fraction(0), *excess) / len(bound)
    bound = tuple(u + raised for u in bound)
    lower = Ball.from_arb(attained, bits).lower
    how = f"an exact vertex with its value as a ball; a vector that dominates all {len(gains)} kinds of columns"
    value = Bracket(lower, max(lower, sum(bound, start=Fraction(0))), Rigour.BALL, "lp", how)
    return found, bound, value


def _float_basis(columns: Sequence[Column], gains: Sequence[Any], flat: Any, lam: Fraction) -> list[int]:
    """A full basis around the support of a floating-point optimum; empty where the solver has none.

    Columns are ``1 + (lam - 1) g``. With the common value ``K`` of the sums of ``c g`` as a variable, the rows
    ``c . g = K`` and ``sum(c) + (lam - 1) K = 1`` say the same, and no two of them become parallel as ``lam`` goes
    to 1. Gains are what columns are worth beyond the constant column, which is worth ``flat``.
    """
    step = lam - 1
    inside = np.array([[float((v - 1) / step) for v in column] for column in columns])
    m = inside.shape[1]
    matrix = np.c_[inside, np.ones(len(columns))]
    scale = max((abs(float(gain)) for gain in gains), default=0.0) or 1.0
    worth = np.array([float(gain) / scale for gain in gains])
    common = np.r_[-np.ones(m), float(step)]
    found = linprog(
        np.r_[-worth, float(flat * to_arb(step)) / scale],
        A_eq=np.c_[matrix.T, common],
        b_eq=np.r_[np.zeros(m), 1.0],
        method="highs-ds",
    )
    if found.status != 0:
        return []
    reduced = matrix @ -found.eqlin.marginals - worth
    order = sorted(range(len(columns)), key=lambda j: (found.x[j] <= 1e-11, abs(reduced[j]), j))
    basis: list[int] = []
    for j in order:
        if np.linalg.matrix_rank(np.vstack([common, matrix[[*basis, j]]]), tol=1e-9) == len(basis) + 2:
            basis.append(j)
        if len(basis) == m:
            break
    return basis
