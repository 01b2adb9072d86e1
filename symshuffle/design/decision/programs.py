"""The programs that propose optimal columns in doubles, solved by HiGHS, and what each would cost, before it is built.

Nothing computed here is a result: the columns go to a rational re-solve, and the vectors of the compact program are
rounded to feasible rational ones before they bound anything. A refusal names the form that is smaller.
"""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from symshuffle.base.choices import Criterion, ProgramForm
from symshuffle.base.doubles import Array
from symshuffle.base.errors import SolverFailure, Unsupported
from symshuffle.base.solvers import cvxpy, highs_optimum, linprog
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.channels.geometry.linprog import proposed
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.problems import Problem

COLUMN_WORK: Final = 10**7
"""Largest ``m**3`` times actions for column generation."""


_ORBIT_FORM: Final = "the orbit form (optimal with a group)"
_COMPACT_FORM: Final = "the compact form (Method.COMPACT, the default beyond 12 inputs)"


def column_work(problem: Problem) -> int:
    """What column generation costs grow with."""
    return problem.num_inputs**3 * problem.num_actions


def check_program(
    problem: Problem,
    method: ProgramForm,
    *,
    criterion: Criterion,
    most_inputs: int = 18,
    most_variables: int = 1 << 20,
    most_compact: int = 200_000,
) -> None:
    """Refuse a program that is too large, or would run for minutes.

    - ``most_inputs``: largest number of inputs for the program over all subsets (262 142 columns).
    - ``most_variables``: for the minimax criterion that program has a variable for every subset and action.
    - ``most_compact``: largest number of inputs times actions for the program with one output per action.
    """
    m, actions = problem.num_inputs, problem.num_actions
    if method == "compact":
        if m * actions > most_compact:
            raise Unsupported(
                f"the compact program has {m * actions} variables (m = {m}, {actions} actions), "
                f"at most {most_compact}; use {_ORBIT_FORM}"
            )
        return
    if method == "columns":
        refused = _too_slow(f"column generation at m = {m} with {actions} actions", column_work(problem))
    elif m > most_inputs:
        columns = f"{2**m - 2}" if m <= 64 else f"2**{m} - 2"
        refused = f"the program over all subsets has {columns} columns at m = {m}, at most {2**most_inputs - 2}"
    elif criterion == "minimax" and (variables := (2**m - 2) * actions) > most_variables:
        refused = (
            f"the minimax program over all subsets has {variables} variables at m = {m} with {actions} actions, "
            f"at most {most_variables}"
        )
    else:
        return
    if refused:
        raise Unsupported(f"{refused}; use {_COMPACT_FORM} or {_ORBIT_FORM}")


def _too_slow(what: str, work: int, *, per_work: float = 1.2e-5) -> str:
    """Why so much column generation is refused; empty where it is not.

    - ``per_work``: measured for the Bayes criterion at m = 30 and 40 on one core; the rational re-solve dominates.
    """
    seconds, most = work * per_work, COLUMN_WORK * per_work
    return f"{what} would take about {seconds:.0f} s or more, at most {most:.0f} s" if work > COLUMN_WORK else ""


def exact_compact_seconds(
    problem: Problem, *, criterion: Criterion, bayes: float = 2e-7, minimax: float = 2.5e-6
) -> float:
    """An estimate of how long the program with one output per action takes over the rationals.

    - ``bayes``, ``minimax``: seconds per squared row, measured on degenerate problems of 1200 to 7300 rows.
    """
    return (minimax if criterion == "minimax" else bayes) * _compact_rows(problem, criterion) ** 2


def pivoting_seconds(problem: Problem, *, criterion: Criterion, unit: float = 8e-06) -> float:
    """The same where a solver in doubles sees nothing and all pivots are over the rationals."""
    return unit * _compact_rows(problem, criterion) ** 3


def _compact_rows(problem: Problem, criterion: Criterion) -> int:
    risks = problem.num_parameters if criterion == "minimax" else 0
    return problem.num_inputs * (problem.num_actions + 1) + risks


def worth_reducing(problem: Problem, group: SymmetryGroup) -> bool:
    """Whether a group leaves a program over orbits that is small enough to be preferred to the unreduced ones."""
    return bool(group.generators) and len(group.input_orbits()) ** 3 * problem.num_actions <= COLUMN_WORK


def check_orbits(inputs: int, actions: int, group: SymmetryGroup) -> None:
    """Refuse a program over orbits that is reduced too little to end within minutes."""
    left = f"the group leaves {inputs} orbits of inputs and {actions} of actions (m = {group.m})"
    if refused := _too_slow(f"{left}: the program over orbits", inputs**3 * actions):
        raise Unsupported(f"{refused}; give a larger group, or use {_COMPACT_FORM} without a group")


def check_formula(group: SymmetryGroup, *, most: int = 300) -> None:
    """Refuse to derive a formula over too many orbits.

    - ``most``: orbits of subsets: every one of them gives sign conditions on polynomials.
    """
    count = group.subset_orbit_count()
    if count.number > most:
        raise Unsupported(
            f"a formula at m = {group.m} would decide signs for {count} orbits of subsets, at most "
            f"{most}; ask for the value at one level, or for a problem with more symmetry"
        )


_SUPPORT: Final = 1e-9
"""Weights above this are proposed as columns."""


Proposal: TypeAlias = tuple[frozenset[tuple[int, int]], float]
"""The columns that a floating-point program proposes, subset and action of each, and its value."""


def indicator_matrix(m: int) -> Array:
    """Shape ``(2**m - 2, m)``: 1 where the input belongs to the subset, subsets in the order of their bit masks."""
    subsets = np.arange(1, (1 << m) - 1)
    return (subsets[:, None] >> np.arange(m) & 1).astype(float)


def polytope(problem: Problem, lam: Fraction, *, criterion: Criterion) -> Proposal:
    """The program over all extremal columns: weights ``c >= 0`` with ``c @ S == 1``."""
    minimax = criterion == "minimax"
    m, actions, parameters = problem.num_inputs, problem.num_actions, problem.num_parameters
    staircase = 1 + (float(lam) - 1) * indicator_matrix(m)
    description = f"the program over {len(staircase)} extremal columns"
    if not minimax:
        options = staircase @ _floats(problem.posterior_costs(problem.required_prior())).T
        best = options.argmin(axis=1)
        value, weights = proposed(options.min(axis=1), staircase, np.ones(m), equations=m, description=description)
        support = np.flatnonzero(weights > _SUPPORT)
        return frozenset((int(y) + 1, int(best[y])) for y in support), value
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
    return frozenset((int(j) // actions + 1, int(j) % actions) for j in chosen), value


def compact(problem: Problem, lam: Fraction, *, criterion: Criterion) -> Proposal:
    """The program with one output per action, by the columns of its rows and those that are tight."""
    value, rows, bound, prior = compact_vectors(problem, lam, criterion=criterion)
    weights = prior if prior is not None else np.array([float(p) for p in problem.required_prior()])
    return frozenset(_levels(rows, float(lam)) | columns_near(problem, weights, bound, lam)), value


def compact_vectors(
    problem: Problem, lam: Fraction, *, criterion: Criterion, simplex_variables: int = 1000
) -> tuple[float, Array, Array, Array | None]:
    """Value, rows, bound and least favourable prior of the program with one output per action.

    Rows of the LDP cone, given by smallest entry and excess, add up to 1. There is a prior for the worst case only.

    - ``simplex_variables``: compact programs beyond this start from an interior point.
    """
    cp = cvxpy()
    m, actions = problem.num_inputs, problem.num_actions
    low = cp.Variable((actions, 1), nonneg=True) @ np.ones((1, m))
    excess = cp.Variable((actions, m), nonneg=True)
    rows = low + excess
    sums = cp.sum(rows, axis=0) == 1
    conditions, bounded = [sums, excess <= (float(lam) - 1) * low], None
    if criterion == "minimax":
        cost = cp.Variable()
        # risk_t = sum_a loss[t, a] (V P^T)[a, t]
        risks = cp.sum(cp.multiply(_floats(problem.loss).T, rows @ _floats(problem.model).T), axis=0)
        conditions.append(bounded := risks <= cost)
    else:
        cost = cp.sum(cp.multiply(_floats(problem.posterior_costs(problem.required_prior())), rows))
    model = cp.Problem(cp.Minimize(cost), conditions)
    # Measured at 20 actions and 400 inputs: interior point with crossover 2 s, simplex 6 s.
    options = {"solver": "ipm"} if m * actions > simplex_variables else {}
    value = highs_optimum(model, f"the program with one output per action, {actions} actions and {m} inputs", **options)
    found = np.asarray(rows.value)
    # cvxpy fixes the sign of multipliers by its own convention; sum(u) has to be the optimum of the Bayes program.
    bound = np.asarray(sums.dual_value, dtype=float)
    bound = bound if abs(bound.sum() - value) <= abs(-bound.sum() - value) else -bound
    prior = None if bounded is None else np.abs(np.asarray(bounded.dual_value, dtype=float))
    return value, found, bound, prior


def columns_near(problem: Problem, prior: Array, bound: Array, lam: Fraction) -> set[tuple[int, int]]:
    """The columns of reduced cost close to zero under a floating-point prior and bound."""
    return tight_columns((_floats(problem.loss) * prior[:, None]).T @ _floats(problem.model), bound, float(lam))


def _levels(rows: Array, lam: float) -> set[tuple[int, int]]:
    """The super-level sets of every row of a compact optimum: the columns that it is a mixture of."""
    columns = set()
    for a, row in enumerate(rows):
        if row.max() <= _SUPPORT:
            continue
        order = np.argsort(-row)
        drops = row[order][:-1] - row[order][1:]
        cuts = np.flatnonzero(drops > 1e-7 * max(lam - 1, 1e-3) * row.min())
        columns |= {(_mask(order[: cut + 1]), a) for cut in cuts}
        if not len(cuts):
            columns |= {(1, a), ((1 << len(row)) - 2, a)}
    return columns


def _mask(places: Iterable[Any]) -> int:
    return sum(1 << int(x) for x in places)


def tight_columns(costs: Array, bound: Array, lam: float) -> set[tuple[int, int]]:
    """The columns of reduced cost close to zero under floating-point multipliers, and their neighbours on the face.

    At a degenerate optimum the support does not determine the multipliers; these columns do. For an action, entries of
    ``costs - bound`` that vanish may be on either level: all on, all off, and each one switched alone.
    """
    columns = set()
    scale = 1e-7 * max(1.0, float(np.abs(costs).max()))
    for a, row in enumerate(costs):
        gaps = row - bound
        if gaps.sum() + (lam - 1) * np.minimum(gaps, 0).sum() > scale * len(bound):
            continue
        inside, open_ = _mask(np.flatnonzero(gaps < -scale)), np.flatnonzero(np.abs(gaps) <= scale)
        union = inside + _mask(open_)
        subsets = {inside, union, *(y for x in open_ for y in (inside + (1 << int(x)), union - (1 << int(x))))}
        columns |= {(subset, a) for subset in subsets if subset not in (0, (1 << len(bound)) - 1)}
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


def generate(
    reduced: InvariantProblem, lam: Fraction, *, rounds: int = 150, priced: float = 1e-9
) -> tuple[frozenset[tuple[int, int]], float, Array, Array | None]:
    """Columns, value, bound and least favourable prior of column generation in floating point over orbits of pairs.

    One subset per action is priced, until none enters. There is a prior for the worst case only.

    The columns of the proposal are pairs of a subset and a place in ``reduced.actions``. A round adds for every action
    the subset of largest gain, if it gains at all: the inputs at which the price is below the multiplier.

    - ``priced``: reduced costs below minus this enter the restricted program.
    """
    level, m = float(lam), reduced.group.m
    prices = np.array([_floats(matrix) for matrix in reduced.prices])  # by price list, action and input
    home = np.empty(m, dtype=int)  # the orbit of each input
    for i, orbit in enumerate(reduced.inputs):
        home[list(orbit)] = i
    sizes = np.bincount(home)
    pairs: dict[tuple[int, int], Array] = {}

    def add(inside: Array, place: int) -> None:
        """A pair with the mean of its column on every orbit of inputs, and its risks."""
        column = 1 + (level - 1) * inside
        means = np.bincount(home, column, len(sizes)) / sizes
        pairs.setdefault((_mask(np.flatnonzero(inside)), place), np.r_[means, prices[:, place] @ column])

    for orbit in reduced.inputs:  # singletons with every action: these pairs alone make a channel
        for place in range(len(reduced.actions)):
            add(np.eye(m)[orbit[0]], place)
    for _ in range(rounds):
        before = len(pairs)
        found, weights = _restricted(np.array(list(pairs.values())), len(sizes), largest=bool(reduced.parameters))
        bound = (found.eqlin.marginals / sizes)[home]
        gaps = np.tensordot(weights, prices, axes=1) - bound
        slack = gaps.sum(axis=1) + (level - 1) * np.minimum(gaps, 0).sum(axis=1)
        for place in map(int, np.flatnonzero(slack < -priced)):
            inside = gaps[place] < 0
            if not inside.all():
                add(inside.astype(float), place)
        if len(pairs) == before:
            break
    support = frozenset(pair for pair, mass in zip(pairs, found.x, strict=False) if mass > _SUPPORT)
    return support, float(found.fun), bound, weights if reduced.parameters else None


def _restricted(matrix: Array, rows: int, *, largest: bool, longest: float = 120.0) -> tuple[Any, Array]:
    """HiGHS's optimum over the pairs known, and weights of the price lists; the largest risk is one more variable."""
    count, (staircase, risks) = len(matrix), (matrix[:, :rows], matrix[:, rows:])
    # On degenerate restricted programs presolve sometimes does not return.
    options = {"presolve": False, "time_limit": longest}
    method: dict[str, Any] = {"b_eq": np.ones(rows), "method": "highs-ds", "options": options}
    if largest:
        found = linprog(
            np.r_[np.zeros(count), 1],
            A_eq=np.c_[staircase.T, np.zeros(rows)],
            A_ub=np.c_[risks.T, -np.ones(risks.shape[1])],
            b_ub=np.zeros(risks.shape[1]),
            bounds=[(0, None)] * count + [(None, None)],
            **method,
        )
    else:
        found = linprog(risks[:, 0], A_eq=staircase.T, **method)
    if found.status != 0:
        raise SolverFailure("HiGHS", str(found.message), f"a restricted program of {count} columns")
    return found, -found.ineqlin.marginals if largest else np.ones(1)


def _floats(rows: Any) -> Array:
    return np.array([[float(v) for v in row] for row in rows])
