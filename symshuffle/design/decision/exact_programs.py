"""The design programs over the rationals: over some columns, and with one output per action."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symshuffle.base.choices import Criterion
from symshuffle.base.lp import LinearProgram, Sense
from symshuffle.design.decision.problems import DecisionProblem, SubsetAction
from symshuffle.geometry.linprog import solve


def restricted_program(
    problem: DecisionProblem, lam: Fraction, columns: Sequence[SubsetAction], *, criterion: Criterion
) -> LinearProgram:
    """The program over some columns: rows say that every input's probabilities sum to 1.

    For the minimax criterion a free variable is the worst risk, and one row per parameter bounds the risk by it.
    """
    minimax = criterion is Criterion.MINIMAX
    m = problem.num_inputs
    entries = []
    costs = []
    bayes = None if minimax else problem.posterior_costs(problem.required_prior())
    masses = problem.subset_probabilities([subset for subset, _ in columns]) if minimax else ((),) * len(columns)
    for (subset, a), mass in zip(columns, masses, strict=True):
        column = [lam if subset >> x & 1 else Fraction(1) for x in range(m)]
        rows = list(enumerate(column))
        if bayes is not None:
            costs.append(sum((h * v for h, v in zip(bayes[a], column, strict=True)), start=Fraction(0)))
        else:
            costs.append(Fraction(0))
            risks = (row[a] * (1 + (lam - 1) * p) for row, p in zip(problem.loss, mass, strict=True))
            rows += [(m + t, risk) for t, risk in enumerate(risks) if risk]
        entries.append(tuple(rows))
    senses, rhs = [Sense.EQ] * m, [Fraction(1)] * m
    free: frozenset[int] = frozenset()
    if minimax:
        free = frozenset({len(costs)})
        costs.append(Fraction(1))
        entries.append(tuple((m + t, Fraction(-1)) for t in range(problem.num_parameters)))
        senses += [Sense.LE] * problem.num_parameters
        rhs += [Fraction(0)] * problem.num_parameters
    return LinearProgram(tuple(costs), tuple(entries), tuple(senses), tuple(rhs), free)


def exact_compact(
    problem: DecisionProblem, lam: Fraction, *, criterion: Criterion
) -> tuple[tuple[tuple[Fraction, ...], ...], tuple[Fraction, ...], tuple[Fraction, ...]]:
    """The program with one output per action, over the rationals: its rows, multipliers and prior.

    Variables are the smallest entry ``t_a`` of every row and the excess ``z_ax`` of its entries, at most
    ``(lam - 1) t_a``. Excesses at either bound drop out of the system that is solved exactly.
    """
    minimax = criterion is Criterion.MINIMAX
    m, actions, parameters = problem.num_inputs, problem.num_actions, problem.num_parameters
    prior = (Fraction(1, parameters),) * parameters if minimax else problem.required_prior()
    costs = problem.posterior_costs(prior)
    one, first_cap = Fraction(1), m
    first_risk = m + actions * m

    def risks(a: int, inputs: Sequence[int]) -> list[tuple[int, Fraction]]:
        """What a unit on some inputs, answered by an action, adds to the risk rows of the minimax program."""
        if not minimax:
            return []
        added = [(t, problem.loss[t][a] * sum(model[x] for x in inputs)) for t, model in enumerate(problem.model)]
        return [(first_risk + t, value) for t, value in added if value]

    columns, objective = [], []
    for a in range(actions):
        everywhere = range(m)
        caps = [(first_cap + a * m + x, 1 - lam) for x in everywhere]
        columns.append((*((x, one) for x in everywhere), *caps, *risks(a, everywhere)))
        objective.append(Fraction(0) if minimax else sum(costs[a], start=Fraction(0)))
        for x in everywhere:
            columns.append(((x, one), (first_cap + a * m + x, one), *risks(a, [x])))
            objective.append(Fraction(0) if minimax else costs[a][x])
    senses = [Sense.EQ] * m + [Sense.LE] * (actions * m)
    rhs = [one] * m + [Fraction(0)] * (actions * m)
    free: frozenset[int] = frozenset()
    if minimax:
        free = frozenset({len(columns)})
        columns.append(tuple((first_risk + t, -one) for t in range(parameters)))
        objective.append(one)
        senses += [Sense.LE] * parameters
        rhs += [Fraction(0)] * parameters
    solution = solve(LinearProgram(tuple(objective), tuple(columns), tuple(senses), tuple(rhs), free))
    point = solution.primal()
    rows = []
    for a in range(actions):
        low, *excess = point[a * (m + 1) : (a + 1) * (m + 1)]
        rows.append(tuple(low + z for z in excess))
    dual = solution.certificate.dual
    found = tuple(-y for y in dual[first_risk:]) if minimax else prior
    return tuple(rows), dual[:m], found
