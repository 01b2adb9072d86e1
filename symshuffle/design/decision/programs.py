"""The floating-point programs that propose optimal columns, solved by HiGHS; the small ones are modelled in cvxpy.

Nothing computed here is a result: the columns go to a rational re-solve, and the vectors of the compact program are
rounded to feasible rational ones before they bound anything.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import numpy as np

from symshuffle.base.choices import Criterion
from symshuffle.base.doubles import Array
from symshuffle.base.errors import SolverFailure
from symshuffle.base.solvers import cvxpy, highs_optimum, linprog
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.geometry.linprog import proposed

_SUPPORT: Final = 1e-9
"""Weights above this are proposed as columns."""

_PRICED: Final = 1e-9
"""Reduced costs below minus this enter the restricted program."""

_MAX_ROUNDS: Final = 150

_SIMPLEX_VARIABLES: Final = 1000
"""Compact programs beyond this start from an interior point."""

_SIMPLEX: Final = {"presolve": False, "time_limit": 120.0}
"""Presolve off: on degenerate restricted programs it sometimes does not return."""


@final
@dataclass(frozen=True, slots=True)
class Suggestion:
    """What a floating-point program suggests."""

    columns: frozenset[tuple[int, int]]
    value: float
    rows: Array | None
    bound: Array | None
    prior: Array | None = None


def indicator_matrix(m: int) -> Array:
    """Shape ``(2**m - 2, m)``: 1 where the input belongs to the subset, subsets in the order of their bit masks."""
    subsets = np.arange(1, (1 << m) - 1)
    return (subsets[:, None] >> np.arange(m) & 1).astype(float)


def polytope(problem: DecisionProblem, lam: Fraction, *, criterion: Criterion) -> Suggestion:
    """The program over all extremal columns: weights ``c >= 0`` with ``c @ S == 1``."""
    minimax = criterion is Criterion.MINIMAX
    m, actions, parameters = problem.num_inputs, problem.num_actions, problem.num_parameters
    staircase = 1 + (float(lam) - 1) * indicator_matrix(m)
    description = f"the program over {len(staircase)} extremal columns"
    if not minimax:
        options = staircase @ _floats(problem.posterior_costs(problem.required_prior())).T
        best = options.argmin(axis=1)
        value, weights = proposed(options.min(axis=1), staircase, np.ones(m), equations=m, description=description)
        support = np.flatnonzero(weights > _SUPPORT)
        return Suggestion(frozenset((int(y) + 1, int(best[y])) for y in support), value, None, None)
    # One variable per subset and action, and the largest risk, positive and negative part.
    columns = np.empty((len(staircase), actions, m + parameters))
    columns[:, :, :m] = staircase[:, None, :]
    columns[:, :, m:] = (staircase @ _floats(problem.model).T)[:, None, :] * _floats(problem.loss).T[None]
    worst = np.r_[np.zeros(m), -np.ones(parameters)]
    value, weights = proposed(
        np.r_[np.zeros(len(staircase) * actions), 1, -1],
        np.vstack([columns.reshape(-1, m + parameters), worst, -worst]),
        np.r_[np.ones(m), np.zeros(parameters)],
        equations=m,
        description=description,
    )
    chosen = np.flatnonzero(weights[:-2] > _SUPPORT)
    return Suggestion(frozenset((int(j) // actions + 1, int(j) % actions) for j in chosen), value, None, None)


def compact(problem: DecisionProblem, lam: Fraction, *, criterion: Criterion) -> Suggestion:
    """The program with one output per action: rows ``V[a]`` in the LDP cone that add up to 1.

    A row is its smallest entry, a variable, plus an excess of at most ``lam - 1`` times that.
    """
    minimax = criterion is Criterion.MINIMAX
    cp = cvxpy()
    m, actions = problem.num_inputs, problem.num_actions
    low = cp.Variable((actions, 1), nonneg=True) @ np.ones((1, m))
    excess = cp.Variable((actions, m), nonneg=True)
    rows = low + excess
    sums = cp.sum(rows, axis=0) == 1
    box = [excess <= (float(lam) - 1) * low]
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
    # Measured at 20 actions and 400 inputs: interior point with crossover 2 s, simplex 6 s.
    options = {"solver": "ipm"} if m * actions > _SIMPLEX_VARIABLES else {}
    value = highs_optimum(model, f"the program with one output per action, {actions} actions and {m} inputs", **options)
    found = np.asarray(rows.value)
    # cvxpy fixes the sign of multipliers by its own convention; sum(u) has to be the optimum of the Bayes program.
    bound = np.asarray(sums.dual_value, dtype=float)
    bound = bound if abs(bound.sum() - value) <= abs(-bound.sum() - value) else -bound
    prior = None if bounded is None else np.abs(np.asarray(bounded.dual_value, dtype=float))
    weights = prior if minimax and prior is not None else np.array([float(p) for p in problem.required_prior()])
    tight = columns_near(problem, weights, bound, lam)
    return Suggestion(frozenset(_levels(found, float(lam)) | tight), value, found, bound, prior)


def columns_near(problem: DecisionProblem, prior: Array, bound: Array, lam: Fraction) -> set[tuple[int, int]]:
    """The columns of reduced cost close to zero under a floating-point prior and bound."""
    return tight_columns((_floats(problem.loss) * prior[:, None]).T @ _floats(problem.model), bound, float(lam))


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


def generate(reduced: InvariantProblem, lam: Fraction) -> Suggestion:
    """Column generation in floating point over orbits of pairs: one subset per action is priced, until none enters.

    The columns of the proposal are pairs of a subset and a place in ``reduced.actions``. A round solves the program
    restricted to the pairs known, and adds for every action the subset of largest gain at its multipliers, if it gains
    at all. For an action that subset is the set of inputs at which the price is below the bound.
    """
    restricted, full = _Restricted(reduced, float(lam)), (1 << reduced.group.m) - 1
    for _ in range(_MAX_ROUNDS):
        found = restricted.solve()
        before = len(restricted.pairs)
        gaps = np.tensordot(found.weights, restricted.prices, axes=1) - found.bound
        slack = gaps.sum(axis=1) + (restricted.level - 1) * np.minimum(gaps, 0).sum(axis=1)
        for place in map(int, np.flatnonzero(slack < -_PRICED)):
            inside = gaps[place] < 0
            subset = sum(1 << int(x) for x in np.flatnonzero(inside))
            if subset not in (0, full):
                restricted.add(subset, place, inside.astype(float))
        if len(restricted.pairs) == before:
            break
    support = frozenset(restricted.pairs[j] for j in np.flatnonzero(found.masses > _SUPPORT))
    return Suggestion(support, found.value, None, found.bound, found.weights if restricted.largest else None)


@final
@dataclass(frozen=True, slots=True)
class _Optimum:
    """Of a restricted program: its value, the masses of its pairs, weights of parameters, multipliers by input."""

    value: float
    masses: Array
    weights: Array
    bound: Array


@final
class _Restricted:
    """The program over the pairs known so far: one variable per pair, one row per orbit of inputs.

    To begin with, every orbit of inputs has a singleton for every action: these pairs alone make a channel.

    - ``level``: the ratio cap.
    - ``largest``: whether the largest risk over orbits of parameters is minimised, and not one risk.
    - ``prices``: shape ``(risks, actions, inputs)``.
    - ``pairs``: subset and place of the action, without repetition.
    """

    def __init__(self, reduced: InvariantProblem, level: float) -> None:
        self.level, self.largest = level, bool(reduced.parameters)
        self.prices = np.array([_floats(matrix) for matrix in reduced.prices])
        self.pairs: list[tuple[int, int]] = []
        self._known: set[tuple[int, int]] = set()
        self._entries: list[Array] = []
        self._home = np.empty(reduced.group.m, dtype=int)  # the orbit of each input
        for i, orbit in enumerate(reduced.inputs):
            self._home[list(orbit)] = i
        self._sizes = np.bincount(self._home)
        for orbit in reduced.inputs:
            for place in range(len(reduced.actions)):
                self.add(1 << orbit[0], place, np.eye(reduced.group.m)[orbit[0]])

    def add(self, subset: int, place: int, inside: Array) -> None:
        """A pair, unless it is known: the mean of its column on every orbit of inputs, and its risks."""
        if (subset, place) in self._known:
            return
        column = 1 + (self.level - 1) * inside
        means = np.bincount(self._home, column, len(self._sizes)) / self._sizes
        self._known.add((subset, place))
        self.pairs.append((subset, place))
        self._entries.append(np.r_[means, self.prices[:, place] @ column])

    def solve(self) -> _Optimum:
        """Its optimum by HiGHS."""
        matrix, rows, count = np.array(self._entries), len(self._sizes), len(self.pairs)
        staircase, risks = matrix[:, :rows], matrix[:, rows:]
        method: dict[str, Any] = {"method": "highs-ds", "options": _SIMPLEX}
        if self.largest:  # one more variable, the bound on all risks
            found = linprog(
                np.r_[np.zeros(count), 1],
                A_eq=np.c_[staircase.T, np.zeros(rows)],
                b_eq=np.ones(rows),
                A_ub=np.c_[risks.T, -np.ones(risks.shape[1])],
                b_ub=np.zeros(risks.shape[1]),
                bounds=[(0, None)] * count + [(None, None)],
                **method,
            )
        else:
            found = linprog(risks[:, 0], A_eq=staircase.T, b_eq=np.ones(rows), **method)
        if found.status != 0:
            raise SolverFailure("HiGHS", str(found.message), f"a restricted program of {count} columns")
        weights = -found.ineqlin.marginals if self.largest else np.ones(1)
        bound = (found.eqlin.marginals / self._sizes)[self._home]
        return _Optimum(float(found.fun), found.x[:count], weights, bound)


def _floats(rows: Any) -> Array:
    return np.array([[float(v) for v in row] for row in rows])
