r"""The optimum of a design program as a formula in ``lam``, proved on intervals with exact end points.

Every coefficient of a program over staircase columns is an affine function of ``lam``. So a basis that is optimal at
one level gives weights, multipliers and value as rational functions of ``lam``; it stays optimal as long as finitely
many polynomials, its weights and its reduced costs, keep their sign. Their real roots above 1 are isolated exactly, so
the interval is a theorem. Walking over the end points gives the optimum on :math:`(1, \infty)`.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.base.choices import Criterion, choice
from symshuffle.base.errors import NotDecided
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.linprog import full_bases
from symshuffle.design.decision.invariant import detect_symmetry
from symshuffle.design.decision.problems import Problem
from symshuffle.design.parametric.program import (
    OptimalBasis,
    ParametricProgram,
    PiecewiseOptimum,
    between,
    program_of_problem,
)
from symshuffle.design.parametric.signs import interval_of_signs


def piecewise_optimum(program: ParametricProgram) -> PiecewiseOptimum:
    """Derive the optimum for all levels above 1, with a proof on every interval."""
    bases: list[OptimalBasis] = []
    _cover(program, sp.Integer(1), sp.oo, bases)
    bases.sort(key=lambda basis: basis.lower)
    for before, basis in itertools.pairwise(bases):
        if basis.lower > before.upper:
            raise NotDecided(f"no piece found between {before.upper} and {basis.lower}")
    return PiecewiseOptimum(tuple(bases), program)


def _cover(
    program: ParametricProgram, lower: sp.Expr, upper: sp.Expr, bases: list[OptimalBasis], *, most: int = 200
) -> None:
    """Fill an open interval of levels with optimal bases; recursion ends because there are finitely many of them."""
    if len(bases) > most:
        raise NotDecided(f"more than {most} pieces; restrict the levels")
    basis = basis_at(program, between(lower, upper))
    bases.append(basis)
    if basis.lower > lower:
        _cover(program, lower, basis.lower, bases)
    if basis.upper < upper:
        _cover(program, basis.upper, upper, bases)


def basis_at(program: ParametricProgram, lam: Fraction) -> OptimalBasis:
    """A basis that is optimal at a level, on the largest interval around it on which it stays optimal."""
    for basis in full_bases(program.at(lam)):
        # The largest price has no sign; it has to be basic, or its reduced cost would be one more equation.
        usable = program.largest is None or program.largest in basis
        found = _vectors_of_basis(program, basis, lam) if usable else None
        if found is not None:
            return found
    raise NotDecided(f"no basis proposed at lam = {lam} is certified to be optimal there")


def _vectors_of_basis(program: ParametricProgram, basis: Sequence[int], lam: Fraction) -> OptimalBasis | None:
    """The formula of a basis and the interval of its optimality; None where it is not optimal at the level."""
    ring, domain = program.ring, program.domain
    rows, inputs = program.num_rows, len(program.row_sizes)
    field = ring.get_field()
    matrix = DomainMatrix([[program.coefficients[j][i] for j in basis] for i in range(rows)], (rows, rows), ring)
    weights, det = matrix.solve_den(DomainMatrix([[ring(b)] for b in program.rhs], (rows, 1), ring))
    duals, dual_det = matrix.transpose().solve_den(DomainMatrix([[program.costs[j]] for j in basis], (rows, 1), ring))
    masses = {j: weights[k, 0].element for k, j in enumerate(basis)}
    multipliers = [duals[i, 0].element for i in range(rows)]
    conditions = [mass * det for j, mass in masses.items() if j != program.largest]
    for j, (cost, coefficients) in enumerate(zip(program.costs, program.coefficients, strict=True)):
        if j not in masses:
            reduced = cost * dual_det - sum((c * u for c, u in zip(coefficients, multipliers, strict=True)), ring.zero)
            conditions.append(reduced * dual_det)
    interval = interval_of_signs(conditions, lam, domain)
    if interval is None:
        return None

    def quotient(top: Any, bottom: Any) -> sp.Expr:
        return sp.factor(field.to_sympy(field(top) / field(bottom)))

    value = quotient(sum((program.costs[j] * w for j, w in masses.items()), ring.zero), det)
    used = ((program.columns[j], w) for j, w in masses.items() if w and j < len(program.columns))
    shown = tuple((c, quotient(w * program.polynomial(c.scale), det * c.copies)) for c, w in used)
    bound = tuple(quotient(u, dual_det) for u in multipliers)
    prior = tuple(-u for u in bound[inputs:])
    return OptimalBasis(*interval, value, shown, bound[:inputs], prior, len(conditions))


def piece_around(program: ParametricProgram, lam: Fraction) -> PiecewiseOptimum:
    """The formula at a level on the largest interval on which it is optimal, through several bases where needed."""
    bases = [basis_at(program, lam)]
    while (upper := bases[-1].upper) < sp.oo:
        beyond = basis_at(program, between(upper, upper * (1 + sp.Rational(1, 10**6))))
        if beyond.value != bases[0].value or not beyond.lower <= upper < beyond.upper:
            break
        bases.append(beyond)
    while (lower := bases[0].lower) > 1:
        below = basis_at(program, between(lower - (lower - 1) / 10**6, lower))
        if below.value != bases[0].value or not below.lower < lower <= below.upper:
            break
        bases.insert(0, below)
    return PiecewiseOptimum(tuple(bases), program, bases[0].lower, bases[-1].upper)


def derive(
    source: Problem | ParametricProgram,
    group: SymmetryGroup | None = None,
    *,
    criterion: Criterion = "bayes",
) -> PiecewiseOptimum:
    """Optimal Bayes or minimax risk as a proved piecewise formula in the level.

    The formula holds for every level ``lam = exp(eps0)`` above 1.

    Parameters
    ----------
    source : Problem or ParametricProgram
        A rational problem, or a program that was built from costs.
    group : SymmetryGroup, optional
        Symmetries of the problem; detected by default.
    criterion : Criterion or str
        ``"bayes"``, or ``"minimax"`` for the worst case over parameters; for a problem.

    Returns
    -------
    PiecewiseOptimum
        Adjacent pieces that cover all levels above 1, each with its proof.

    Raises
    ------
    InputError
        If the criterion is unknown, the problem has no prior for the Bayes risk, or the group does not act on the
        problem.
    NotDecided
        If the search finds no proved piece around some level, or too many pieces.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> from symshuffle.channels.geometry.groups import symmetric_group
    >>> derive(smoothed_point_masses(3, 1), symmetric_group(3)).expression()
    2/(lambda + 2)
    """
    criterion = choice(Criterion, criterion, "criterion")
    if isinstance(source, Problem):
        group = group or detect_symmetry(source, criterion=criterion)
        return piecewise_optimum(program_of_problem(source, group, criterion=criterion))
    return piecewise_optimum(source)
