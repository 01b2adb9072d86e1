"""What a design program would cost, decided before it is built; a refusal names the form that is smaller."""

from __future__ import annotations

from typing import Final

from symshuffle.base.choices import Criterion
from symshuffle.base.errors import Unsupported
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.geometry.groups import SymmetryGroup

POLYTOPE_LIMIT: Final = 18
"""Largest number of inputs for the program over all subsets (262 142 columns)."""

POLYTOPE_VARIABLES: Final = 1 << 20
"""For the minimax criterion that program has a variable for every subset and action."""

COLUMN_WORK: Final = 10**7
"""Largest ``m**3`` times actions for column generation."""

_SECONDS_PER_WORK: Final = 1.2e-5
"""Measured for the Bayes criterion at m = 30 and 40 on one core; the rational re-solve dominates."""

COMPACT_VARIABLES: Final = 200_000
"""Largest number of inputs times actions for the program with one output per action."""

EXACT_SECONDS: Final = 30.0
"""Longest estimate at which the compact program is solved over the rationals, after column generation gave up."""

_SECONDS_PER_SQUARED_ROW: Final = {Criterion.BAYES: 2e-7, Criterion.MINIMAX: 2.5e-6}
"""Measured on degenerate problems of 1200 to 7300 rows, for the Bayes and the minimax criterion."""

_SECONDS_PER_CUBED_ROW: Final = 8e-6
"""Measured for the minimax criterion at lam = 1 + 1e-9, 134 and 170 rows: about eight pivots per row."""

FORMULA_ORBITS: Final = 300
"""Most orbits of subsets for a formula: every one of them gives sign conditions on polynomials."""

_ORBIT_FORM: Final = "the orbit form (orbit_tradeoff, --symmetry auto)"
_COMPACT_FORM: Final = "the compact form (Method.COMPACT, the default beyond 12 inputs)"


def column_work(problem: DecisionProblem) -> int:
    """What column generation costs grow with."""
    return _orbit_work(problem.num_inputs, problem.num_actions)


def check_polytope(problem: DecisionProblem, *, criterion: Criterion) -> None:
    """Refuse a program over all subsets that is too large."""
    minimax = criterion is Criterion.MINIMAX
    m = problem.num_inputs
    columns = f"{2**m - 2}" if m <= 64 else f"2**{m} - 2"
    if m > POLYTOPE_LIMIT:
        raise Unsupported(
            f"the program over all subsets has {columns} columns at m = {m}, at most {2**POLYTOPE_LIMIT - 2}; "
            f"use {_COMPACT_FORM} or {_ORBIT_FORM}"
        )
    if minimax and (variables := (2**m - 2) * problem.num_actions) > POLYTOPE_VARIABLES:
        raise Unsupported(
            f"the minimax program over all subsets has {variables} variables at m = {m} with {problem.num_actions} "
            f"actions, at most {POLYTOPE_VARIABLES}; use {_COMPACT_FORM} or {_ORBIT_FORM}"
        )


def check_columns(problem: DecisionProblem) -> None:
    """Refuse column generation that would run for minutes."""
    work = column_work(problem)
    if work > COLUMN_WORK:
        raise Unsupported(
            f"column generation at m = {problem.num_inputs} with {problem.num_actions} actions would take about "
            f"{work * _SECONDS_PER_WORK:.0f} s or more, at most {COLUMN_WORK * _SECONDS_PER_WORK:.0f} s; "
            f"use {_COMPACT_FORM} or {_ORBIT_FORM}"
        )


def check_compact(problem: DecisionProblem) -> None:
    """Refuse a program with one output per action that is too large."""
    variables = problem.num_inputs * problem.num_actions
    if variables > COMPACT_VARIABLES:
        raise Unsupported(
            f"the compact program has {variables} variables (m = {problem.num_inputs}, {problem.num_actions} actions), "
            f"at most {COMPACT_VARIABLES}; use {_ORBIT_FORM}"
        )


def exact_compact_seconds(problem: DecisionProblem, *, criterion: Criterion) -> float:
    """An estimate of how long the program with one output per action takes over the rationals."""
    return _SECONDS_PER_SQUARED_ROW[criterion] * _compact_rows(problem, criterion) ** 2


def pivoting_seconds(problem: DecisionProblem, *, criterion: Criterion) -> float:
    """The same where a solver in doubles sees nothing and all pivots are over the rationals."""
    return _SECONDS_PER_CUBED_ROW * _compact_rows(problem, criterion) ** 3


def _compact_rows(problem: DecisionProblem, criterion: Criterion) -> int:
    risks = problem.num_parameters if criterion is Criterion.MINIMAX else 0
    return problem.num_inputs * (problem.num_actions + 1) + risks


def worth_reducing(problem: DecisionProblem, group: SymmetryGroup) -> bool:
    """Whether a group leaves a program over orbits that is small enough to be preferred to the unreduced ones."""
    return bool(group.generators) and _orbit_work(len(group.input_orbits()), problem.num_actions) <= COLUMN_WORK


def check_orbits(inputs: int, actions: int, group: SymmetryGroup) -> None:
    """Refuse a program over orbits that is reduced too little to end within minutes."""
    work = _orbit_work(inputs, actions)
    if work > COLUMN_WORK:
        raise Unsupported(
            f"the group leaves {inputs} orbits of inputs and {actions} of actions (m = {group.m}): the program over "
            f"orbits would take about {work * _SECONDS_PER_WORK:.0f} s or more, at most "
            f"{COLUMN_WORK * _SECONDS_PER_WORK:.0f} s; give a larger group, or use {_COMPACT_FORM} without a group"
        )


def _orbit_work(inputs: int, actions: int) -> int:
    return inputs**3 * actions


def check_formula(group: SymmetryGroup) -> None:
    """Refuse to derive a formula over too many orbits."""
    count = group.subset_orbit_count()
    if count.number > FORMULA_ORBITS:
        raise Unsupported(
            f"a formula at m = {group.m} would decide signs for {count} orbits of subsets, at most "
            f"{FORMULA_ORBITS}; ask for the value at one level, or for a problem with more symmetry"
        )
