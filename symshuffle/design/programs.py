"""The floating-point programs that propose optimal columns, modelled in cvxpy and solved by HiGHS.

Nothing computed here is a result: the columns go to a rational re-solve, and the vectors of the compact program are
rounded to feasible rational ones before they bound anything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np
import numpy.typing as npt

from symshuffle.design.problems import DecisionProblem
from symshuffle.errors import SolverFailure
from symshuffle.geometry.extremal import members

Array = npt.NDArray[np.float64]

_SUPPORT: Final = 1e-9
"""Weights above this are proposed as columns."""

_PRICED: Final = 1e-9
"""Reduced costs below minus this enter the restricted program."""

_MAX_ROUNDS: Final = 150

_SIMPLEX: Final = {"presolve": False, "time_limit": 120.0}
"""Presolve off: on degenerate restricted programs it sometimes does not return."""


@final
@dataclass(frozen=True, slots=True)
class Proposal:
    """What a floating-point program suggests.

    Parameters
    ----------
    columns : frozenset of (int, int)
        Pairs of a subset and an action.
    value : float
        Its optimum.
    rows, bound, prior : arrays or None
        For the compact program: probabilities by action and input, multipliers by input, prior.
    """

    columns: frozenset[tuple[int, int]]
    value: float
    rows: Array | None
    bound: Array | None
    prior: Array | None = None


def cvxpy() -> Any:
    """The modelling library, loaded on first use; it publishes most of its names without types."""
    import cvxpy as modelling

    return modelling


def run(problem: Any, description: str) -> float:
    """Solve a cvxpy problem with HiGHS; anything but an optimum is an error."""
    cp = cvxpy()
    try:
        problem.solve(solver=cp.HIGHS)
    except cp.error.SolverError as error:
        raise SolverFailure("HiGHS", str(error).splitlines()[0], description) from None
    if problem.status != cp.OPTIMAL:
        raise SolverFailure("HiGHS", problem.status, description)
    return float(problem.value)


def indicator_matrix(m: int) -> Array:
    """Shape ``(2**m - 2, m)``: 1 where the input belongs to the subset, subsets in the order of their bit masks."""
    subsets = np.arange(1, (1 << m) - 1)
    return (subsets[:, None] >> np.arange(m) & 1).astype(float)


def polytope(problem: DecisionProblem, lam: Fraction, *, minimax: bool) -> Proposal:
    """The program over all extremal columns: weights ``c >= 0`` with ``c @ S == 1``."""
    cp = cvxpy()
    staircase = 1 + (float(lam) - 1) * indicator_matrix(problem.num_inputs)
    description = f"the program over {len(staircase)} extremal columns"
    if minimax:
        weights = cp.Variable((len(staircase), problem.num_actions), nonneg=True)
        worst = cp.Variable()
        seen = staircase @ _floats(problem.model).T
        loss = _floats(problem.loss)
        risks = [cp.sum(cp.multiply(weights, np.outer(seen[:, t], loss[t]))) for t in range(problem.num_parameters)]
        model = cp.Problem(
            cp.Minimize(worst),
            [staircase.T @ cp.sum(weights, axis=1) == 1, *(risk <= worst for risk in risks)],
        )
        value = run(model, description)
        chosen = np.argwhere(np.asarray(weights.value) > _SUPPORT)
        return Proposal(frozenset((int(y) + 1, int(a)) for y, a in chosen), value, None, None)
    options = staircase @ _floats(problem.posterior_costs(problem.required_prior())).T
    single = cp.Variable(len(staircase), nonneg=True)
    model = cp.Problem(cp.Minimize(options.min(axis=1) @ single), [staircase.T @ single == 1])
    value = run(model, description)
    best = options.argmin(axis=1)
    support = np.flatnonzero(np.asarray(single.value) > _SUPPORT)
    return Proposal(frozenset((int(y) + 1, int(best[y])) for y in support), value, None, None)


def compact(problem: DecisionProblem, lam: Fraction, *, minimax: bool) -> Proposal:
    """The program with one output per action: rows ``V[a]`` in the LDP cone that add up to 1."""
    cp = cvxpy()
    m, actions = problem.num_inputs, problem.num_actions
    rows = cp.Variable((actions, m))
    low = cp.Variable((actions, 1), nonneg=True)
    sums = cp.sum(rows, axis=0) == 1
    box = [rows >= low @ np.ones((1, m)), rows <= float(lam) * (low @ np.ones((1, m)))]
    if minimax:
        worst = cp.Variable()
        model_matrix, loss = _floats(problem.model), _floats(problem.loss)
        # risk_t = sum_a loss[t, a] (V P^T)[a, t]
        risks = cp.sum(cp.multiply(loss.T, rows @ model_matrix.T), axis=0)
        bounded = risks <= worst
        model = cp.Problem(cp.Minimize(worst), [sums, *box, bounded])
    else:
        costs = _floats(problem.posterior_costs(problem.required_prior()))
        bounded = None
        model = cp.Problem(cp.Minimize(cp.sum(cp.multiply(costs, rows))), [sums, *box])
    value = run(model, f"the program with one output per action, {actions} actions and {m} inputs")
    found = np.asarray(rows.value)
    # cvxpy fixes the sign of multipliers by its own convention; sum(u) has to be the optimum of the Bayes program.
    bound = np.asarray(sums.dual_value, dtype=float)
    bound = bound if abs(bound.sum() - value) <= abs(-bound.sum() - value) else -bound
    prior = None if bounded is None else np.abs(np.asarray(bounded.dual_value, dtype=float))
    weights = prior if minimax and prior is not None else _vector(problem.required_prior())
    tight = tight_columns((_floats(problem.loss) * weights[:, None]).T @ _floats(problem.model), bound, float(lam))
    return Proposal(frozenset(_levels(found, float(lam)) | tight), value, found, bound, prior)


def _levels(rows: Array, lam: float) -> set[tuple[int, int]]:
    """The super-level sets of every row of a compact optimum: the columns that it is a mixture of."""
    columns = set()
    full = (1 << rows.shape[1]) - 1
    for a, row in enumerate(rows):
        low = row.min()
        if row.max() <= _SUPPORT:
            continue
        order = np.argsort(-row)
        heights = row[order]
        cuts = np.flatnonzero(heights[:-1] - heights[1:] > 1e-7 * max(lam - 1, 1e-3) * low)
        subset, start = 0, 0
        for cut in map(int, cuts):
            subset |= sum(1 << int(x) for x in order[start : cut + 1])
            start = cut + 1
            columns.add((subset, a))
        if not len(cuts):
            columns |= {(1, a), (full - 1, a)}
    return columns


def tight_columns(costs: Array, bound: Array, lam: float) -> set[tuple[int, int]]:
    """The columns of reduced cost close to zero under floating-point multipliers, and their neighbours on the face.

    At a degenerate optimum the support does not determine the multipliers; these columns do. For an action, entries of
    ``costs - bound`` that vanish may be on either level: all on, all off, and each one switched alone.
    """
    columns = set()
    full = (1 << len(bound)) - 1
    scale = 1e-7 * max(1.0, float(np.abs(costs).max()))
    for a, row in enumerate(costs):
        gaps = row - bound
        if gaps.sum() + (lam - 1) * np.minimum(gaps, 0).sum() > scale * len(bound):
            continue
        inside = sum(1 << int(x) for x in np.flatnonzero(gaps < -scale))
        open_ = [1 << int(x) for x in np.flatnonzero(np.abs(gaps) <= scale)]
        union = inside + sum(open_)
        subsets = {inside, union, *(inside + x for x in open_), *(union - x for x in open_)}
        columns |= {(subset, a) for subset in subsets if subset not in (0, full)}
    return columns


def repaired_rows(rows: Array, lam: Fraction) -> tuple[tuple[Fraction, ...], ...]:
    """A rational channel close to a floating-point one: exact sums, exact likelihood ratios.

    Every row is clipped into the cone; the whole is shrunk by a factor just below 1, and the missing mass, close to a
    multiple of the all-ones vector and therefore inside the cone, is given to the largest row.
    """
    exact = []
    for row in rows:
        low = max(Fraction(float(row.min())), Fraction(0))
        exact.append([min(max(Fraction(float(v)), low), lam * low) for v in row])
    sums = [sum(column) for column in zip(*exact, strict=True)]
    error = max(abs(1 - total) for total in sums)
    shrink = 1 - 4 * (error + Fraction(1, 1 << 60)) * (lam + 1) / (lam - 1)
    largest = max(range(len(exact)), key=lambda a: min(exact[a]))
    shrunk = [[v * shrink for v in row] for row in exact]
    for x, total in enumerate(sums):
        shrunk[largest][x] += 1 - shrink * total
    return tuple(tuple(row) for row in shrunk)


def repaired_prior(prior: Array | None) -> tuple[Fraction, ...]:
    """A rational distribution close to a floating-point one."""
    values = [max(Fraction(float(p)), Fraction(0)) for p in (prior if prior is not None else [])]
    total = sum(values)
    return tuple(p / total for p in values)


def repaired_bound(costs: Sequence[Sequence[Fraction]], bound: Array, lam: Fraction) -> tuple[Fraction, ...]:
    """A rational lower bound close to floating-point multipliers, lowered until it holds for every LDP channel."""
    from symshuffle.design.certificate import worst_columns

    exact = [Fraction(float(u)) for u in bound]
    deficit = max(Fraction(0), *(-slack for slack, _ in worst_columns(costs, exact, lam)))
    # Lowering every entry by s raises each row's slack by at least s * m.
    return tuple(u - deficit / len(exact) for u in exact)


def generate(problem: DecisionProblem, lam: Fraction, *, minimax: bool) -> Proposal:
    """Column generation in floating point: one subset per action is priced, until none enters."""
    from scipy.optimize import linprog

    m, level = problem.num_inputs, float(lam)
    model, loss = _floats(problem.model), _floats(problem.loss)
    prior = np.array([float(p) for p in problem.prior or (Fraction(1, problem.num_parameters),) * len(model)])
    columns = {(1 << x, a) for x in range(m) for a in range(problem.num_actions)}
    for _ in range(_MAX_ROUNDS):
        ordered = sorted(columns)
        inside = np.array([[subset >> x & 1 for x in range(m)] for subset, _ in ordered], dtype=float)
        staircase, chosen = 1 + (level - 1) * inside, np.array([a for _, a in ordered])
        risks = (staircase @ model.T) * loss.T[chosen]
        if minimax:
            found = linprog(
                np.r_[np.zeros(len(ordered)), 1],
                A_eq=np.c_[staircase.T, np.zeros(m)],
                b_eq=np.ones(m),
                A_ub=np.c_[risks.T, -np.ones(len(model))],
                b_ub=np.zeros(len(model)),
                bounds=[(0, None)] * len(ordered) + [(None, None)],
                method="highs-ds",
                options=_SIMPLEX,
            )
        else:
            found = linprog(risks @ prior, A_eq=staircase.T, b_eq=np.ones(m), method="highs-ds", options=_SIMPLEX)
        if found.status != 0:
            raise SolverFailure("HiGHS", str(found.message), f"a restricted program of {len(ordered)} columns")
        if minimax:
            prior = -found.ineqlin.marginals
        gaps = (loss * prior[:, None]).T @ model - found.eqlin.marginals
        slack = gaps.sum(axis=1) + (level - 1) * np.minimum(gaps, 0).sum(axis=1)
        priced = {
            (sum(1 << int(x) for x in np.flatnonzero(gaps[a] < 0)), int(a)) for a in np.flatnonzero(slack < -_PRICED)
        }
        full = (1 << m) - 1
        fresh = {(subset, a) for subset, a in priced if subset not in (0, full)} - columns
        if not fresh:
            break
        columns |= fresh
    support = {ordered[j] for j in np.flatnonzero(found.x[: len(ordered)] > _SUPPORT)}
    tight = tight_columns((loss * prior[:, None]).T @ model, found.eqlin.marginals, level)
    return Proposal(frozenset(support | tight), float(found.fun), None, None)


def _vector(values: Sequence[Fraction]) -> Array:
    return np.array([float(v) for v in values])


def _floats(rows: Any) -> Array:
    return np.array([[float(v) for v in row] for row in rows])


def describe_subset(subset: int) -> str:
    """A subset as text, for example ``{0,2}``."""
    return "{" + ",".join(str(x) for x in members(subset)) + "}"
