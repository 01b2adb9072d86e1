"""What a design program would cost, decided before it is built; a refusal names the form that is smaller."""

from __future__ import annotations

from typing import Final

from symshuffle.base.choices import Criterion, Method
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
    return problem.num_inputs**3 * problem.num_actions


def check_program(problem: DecisionProblem, method: Method, *, criterion: Criterion) -> None:
    """Refuse a program that is too large, or would run for minutes."""
    m, actions = problem.num_inputs, problem.num_actions
    if method is Method.COMPACT:
        if m * actions > COMPACT_VARIABLES:
            raise Unsupported(
                f"the compact program has {m * actions} variables (m = {m}, {actions} actions), "
                f"at most {COMPACT_VARIABLES}; use {_ORBIT_FORM}"
            )
        return
    if method is Method.COLUMNS:
        refused = _too_slow(f"column generation at m = {m} with {actions} actions", column_work(problem))
    elif m > POLYTOPE_LIMIT:
        columns = f"{2**m - 2}" if m <= 64 else f"2**{m} - 2"
        refused = f"the program over all subsets has {columns} columns at m = {m}, at most {2**POLYTOPE_LIMIT - 2}"
    elif criterion is Criterion.MINIMAX and (variables := (2**m - 2) * actions) > POLYTOPE_VARIABLES:
        refused = (
            f"the minimax program over all subsets has {variables} variables at m = {m} with {actions} actions, "
            f"at most {POLYTOPE_VARIABLES}"
        )
    else:
        return
    if refused:
        raise Unsupported(f"{refused}; use {_COMPACT_FORM} or {_ORBIT_FORM}")


def _too_slow(what: str, work: int) -> str:
    """Why so much column generation is refused; empty where it is not."""
    seconds, most = work * _SECONDS_PER_WORK, COLUMN_WORK * _SECONDS_PER_WORK
    return f"{what} would take about {seconds:.0f} s or more, at most {most:.0f} s" if work > COLUMN_WORK else ""


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
    return bool(group.generators) and len(group.input_orbits()) ** 3 * problem.num_actions <= COLUMN_WORK


def check_orbits(inputs: int, actions: int, group: SymmetryGroup) -> None:
    """Refuse a program over orbits that is reduced too little to end within minutes."""
    left = f"the group leaves {inputs} orbits of inputs and {actions} of actions (m = {group.m})"
    if refused := _too_slow(f"{left}: the program over orbits", inputs**3 * actions):
        raise Unsupported(f"{refused}; give a larger group, or use {_COMPACT_FORM} without a group")


def check_formula(group: SymmetryGroup) -> None:
    """Refuse to derive a formula over too many orbits."""
    count = group.subset_orbit_count()
    if count.number > FORMULA_ORBITS:
        raise Unsupported(
            f"a formula at m = {group.m} would decide signs for {count} orbits of subsets, at most "
            f"{FORMULA_ORBITS}; ask for the value at one level, or for a problem with more symmetry"
        )
