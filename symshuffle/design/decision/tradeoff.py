"""Optimal privacy-utility trade-offs: the smallest Bayes or minimax risk over all LDP channels, with a certificate.

Several linear programs describe the same optimum. Each proposes columns (a subset of the inputs and an action); the
program over those columns is solved over the rationals, columns that its multipliers violate are priced in, and the
result carries a certificate that does not depend on how it was found.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import partial
from typing import Final

import numpy as np

from symshuffle.base.choices import Criterion, ProgramForm, choice
from symshuffle.base.errors import InputError, NotDecided, SolverFailure, check_kind
from symshuffle.base.levels import takes_eps0
from symshuffle.base.lp import LinearProgram
from symshuffle.base.numbers import Exp, Verdict, less
from symshuffle.base.results import Bracket
from symshuffle.channels.geometry.extremal import check_lam, staircase_weights
from symshuffle.channels.geometry.groups import SymmetryGroup, trivial_group
from symshuffle.channels.geometry.linear import Matrix, Vector
from symshuffle.channels.geometry.linprog import solve
from symshuffle.design.decision import programs
from symshuffle.design.decision.certificate import (
    LEVELS,
    REL,
    action_rows,
    check_bound,
    levels_around,
    lowered,
    narrowed,
)
from symshuffle.design.decision.designs import Design, TradeoffCertificate
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.problems import Problem, SubsetAction

_SEEN: Final = 1 + Fraction(1, 1000)
"""The lowest level at which columns are proposed in doubles."""


@takes_eps0()
def smallest_risk(
    problem: Problem,
    lam: Fraction | int | Exp,
    *,
    criterion: Criterion = "bayes",
    group: SymmetryGroup | None = None,
    method: ProgramForm | None = None,
    rtol: float = REL,
) -> Design:
    r"""Smallest Bayes or worst-case risk over all eps0-LDP channels and decision rules, with an optimal channel.

    .. math:: \mathrm{PUT}_B = \inf_{Q\ \varepsilon_0\text{-LDP}}\ \sum_y \min_a \sum_x h_{a,x}\, Q_x(y)

    Parameters
    ----------
    problem : Problem
        With a prior, unless the worst case over parameters is minimised.
    lam : number, text or Exp
        ``exp(eps0)``, above 1: a rational, or ``Exp(eps0)``.
    criterion : {"bayes", "minimax"}
        Which risk; of the worst case the certificates have a least favourable prior.
    group : SymmetryGroup, optional
        Symmetries of the problem, which are checked. The program then has one weight per orbit of pairs of a subset and
        an action. Subsets are priced, not listed: the size is that of the orbits of inputs and of parameters.
    method : {"columns", "compact", "polytope"}, optional
        Which program proposes the optimum without a group; the certificate does not depend on it. By default column
        generation up to 12 inputs, and the compact program beyond.
    rtol : float
        Relative width of the bracket at ``Exp(eps0)`` and of rounded optima of large programs; ``value.aimed`` says
        where it is missed. At a rational level the bracket is a point otherwise.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    Design
        The risk as a bracket, a channel that attains its upper end, and the certificates.

    Raises
    ------
    InputError
        If the level is not above 1, the problem has no prior for the Bayes risk, or the group does not act on it,
        naming the generator and the entry.
    Unsupported
        If the program is too large, or the group leaves too many orbits; the message names the smaller form.

    Notes
    -----
    ldp_tradeoff, equations (7), (22) and (27), Remarks 3.11 and 3.16.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> smallest_risk(smoothed_point_masses(4, 1), 2).value.exact
    Fraction(3, 5)
    >>> from symshuffle.channels.geometry.groups import symmetric_group
    >>> smallest_risk(smoothed_point_masses(50, 1), 50, group=symmetric_group(50)).value.exact
    Fraction(49, 99)
    """
    criterion = choice(Criterion, criterion, "criterion")
    method = None if method is None else choice(ProgramForm, method, "method")
    check_kind(problem, Problem, "problem", "a decision problem, as Problem(model, loss, prior)")
    if criterion == "bayes":
        problem.required_prior()
    lam = lam if isinstance(lam, Exp) else check_lam(lam)
    if less(lam, 10**300) is Verdict.FALSE:
        raise InputError("lam", lam, "a ratio below 1e300")
    if group is not None:
        over = partial(_over_orbits, problem, group, criterion)
        if isinstance(lam, Exp):
            return narrowed(lambda bits: _between(map(over, levels_around(lam, bits)), lam), rtol, LEVELS)
        return narrowed(lambda _: over(lam), rtol, (0,))
    form = method or _form(problem)
    if isinstance(lam, Exp):
        return narrowed(lambda bits: _around(problem, lam, criterion, form, bits), rtol, LEVELS)
    return narrowed(lambda _: _at_rational(problem, lam, criterion, form), rtol, (0,))


def _form(problem: Problem, *, few_inputs: int = 12) -> ProgramForm:
    """The program that is solved where none is named."""
    few = problem.num_inputs <= few_inputs and programs.column_work(problem) <= programs.COLUMN_WORK
    return "columns" if few else "compact"


def _around(problem: Problem, lam: Exp, criterion: Criterion, method: ProgramForm, bits: int) -> Design:
    """Certificates at two rational levels around an irrational one."""
    above, below = levels_around(lam, bits)
    stricter = _at_rational(problem, below, criterion, method)
    if stricter.value.exact is None:
        looser = _at_rational(problem, above, criterion, method)
    else:
        known = {(y, a) for y, a, _ in stricter.weights}
        looser = _certify(problem, above, criterion, known, method, stricter.proposed)
    return _between([looser, stricter], lam, f", {bits} bits")


def _between(ends: Iterable[Design], lam: Exp, said: str = "") -> Design:
    """The design at an irrational level, of those at rational ones above and below it."""
    above, below = ends
    evaluation = f"certificates at two rational levels around exp({lam.exponent}){said}; the risk decreases in lam"
    value = Bracket(above.value.lower, below.value.upper, "ball", below.value.engine, evaluation)
    return replace(below, value=value, certificates=(*above.certificates, *below.certificates), level=lam)


def _at_rational(
    problem: Problem, lam: Fraction, criterion: Criterion, method: ProgramForm, *, exact_rows: int = 120
) -> Design:
    programs.check_program(problem, method, criterion=criterion)
    if method == "compact" and problem.num_inputs > exact_rows:
        return _weak_duality(problem, lam, criterion, method)
    propose = {
        "polytope": programs.polytope,
        "compact": programs.compact,
        "columns": _generated,
    }
    # Next to 1 an optimal basis does not depend on the level, and further away the solver can tell columns apart.
    seen = max(lam, _SEEN)
    try:
        columns, value = propose[method](problem, seen, criterion=criterion)
    except SolverFailure:
        return _certify(problem, lam, criterion, set(), method, None)
    return _certify(problem, lam, criterion, set(columns), method, value if seen == lam else None)


def _generated(problem: Problem, lam: Fraction, *, criterion: Criterion) -> programs.Proposal:
    """Column generation without symmetry, with the columns around a degenerate optimum."""
    reduced = InvariantProblem.of(problem, trivial_group(problem.num_inputs), criterion=criterion)
    columns, value, bound, worst = programs.generate(reduced, lam)
    prior = worst if worst is not None else np.array([float(p) for p in reduced.prior(())])
    return columns | programs.columns_near(problem, prior, bound, lam), value


def _certify(
    problem: Problem,
    lam: Fraction,
    criterion: Criterion,
    columns: set[SubsetAction],
    method: ProgramForm,
    proposed: float | None,
    *,
    most: int = 24,
    rounds: int = 6,
    patient: float = 2.0,
    longest: float = 30.0,
) -> Design:
    """Certified optimum by column generation over the rationals, from proposed columns.

    - ``most``: number of rounds after which a bracket is made from the last channel and its multipliers, lowered so
      that they are feasible (weak duality).
    - ``rounds``: number of rounds after which the compact program is solved over the rationals instead.
    - ``patient``: seconds that the pivots of the compact program may take at small ``lam``; if they would take longer,
      column generation continues.
    - ``longest``: seconds that the compact program may take over the rationals, by an estimate.
    """
    reduced = InvariantProblem.of(problem, trivial_group(problem.num_inputs), criterion=criterion)
    columns = columns | _starting_columns(problem)
    for attempt in range(most):
        if attempt == rounds and (lam >= _SEEN or programs.pivoting_seconds(problem, criterion=criterion) <= patient):
            if programs.exact_compact_seconds(problem, criterion=criterion) > longest:
                return _weak_duality(problem, lam, criterion, method)
            # A degenerate optimum leaves the multipliers of the restricted program free; the compact one pins them
            # down. Where it is not solved, as for many inputs near 1, columns are generated on.
            with suppress(NotDecided, SolverFailure):
                rows, bound, prior = _exact_compact(problem, lam, criterion=criterion)
                weights = _columns_of(rows, lam)
                break
        masses, bound, prior, fresh = reduced.priced(sorted(columns), lam)
        weights = tuple((*pair, mass) for pair, mass in masses)
        rows = action_rows(problem, weights, lam)
        if not fresh:
            break
        columns.update(fresh)
    else:
        bound = lowered(problem.posterior_costs(prior), bound, lam)
    certificate = TradeoffCertificate(lam, prior, rows, bound, criterion)
    value = certificate.prove(problem)
    return Design(problem, criterion, method, value, weights, (certificate,), proposed, lam)


def _exact_compact(problem: Problem, lam: Fraction, *, criterion: Criterion) -> tuple[Matrix, Vector, Vector]:
    """The program with one output per action, over the rationals: its rows, multipliers and prior.

    Variables are the smallest entry ``t_a`` of every row and the excess of its entries, at most ``(lam - 1) t_a``.
    """
    minimax = criterion == "minimax"
    m, actions, parameters = problem.num_inputs, problem.num_actions, problem.num_parameters
    costs = None if minimax else problem.posterior_costs(problem.required_prior())
    one, zero, first_risk = Fraction(1), Fraction(0), m + actions * m
    columns, objective = [], []

    def add(a: int, inputs: Sequence[int], caps: Sequence[tuple[int, Fraction]]) -> None:
        """A variable that is a unit on some inputs, answered by an action."""
        priced = zero if costs is None else sum((costs[a][x] for x in inputs), start=zero)
        risks = []
        if minimax:
            shares = (sum((model[x] for x in inputs), start=zero) for model in problem.model)
            risks = [(first_risk + t, problem.loss[t][a] * share) for t, share in enumerate(shares)]
        columns.append((*((x, one) for x in inputs), *caps, *((t, risk) for t, risk in risks if risk)))
        objective.append(priced)

    for a in range(actions):
        add(a, range(m), [(m + a * m + x, 1 - lam) for x in range(m)])
        for x in range(m):
            add(a, [x], [(m + a * m + x, one)])
    worst = parameters if minimax else 0
    if minimax:
        columns.append(tuple((first_risk + t, -one) for t in range(parameters)))
        objective.append(one)
    senses, rhs = ("==",) * m + ("<=",) * (actions * m + worst), (one,) * m + (zero,) * (actions * m + worst)
    free = frozenset({len(columns) - 1}) if minimax else frozenset[int]()
    solution = solve(LinearProgram(tuple(objective), tuple(columns), senses, rhs, free))
    point, dual = solution.primal(), solution.certificate.dual
    parts = (point[a * (m + 1) : (a + 1) * (m + 1)] for a in range(actions))
    rows = tuple(tuple(low + z for z in excess) for low, *excess in parts)
    return rows, dual[:m], tuple(-y for y in dual[first_risk:]) if minimax else problem.required_prior()


def _columns_of(rows: Matrix, lam: Fraction) -> tuple[tuple[int, int, Fraction], ...]:
    """The staircase columns of which a channel with one output per action is made."""
    parts = (staircase_weights(row, lam) for row in rows)
    weights = {(subset, a): weight for a, part in enumerate(parts) for subset, weight in part.items()}
    return tuple((subset, a, weight) for (subset, a), weight in sorted(weights.items()))


def _starting_columns(problem: Problem) -> set[SubsetAction]:
    """The singletons with an action each, so that the restricted program has a feasible point."""
    prior = problem.prior or (Fraction(1, problem.num_parameters),) * problem.num_parameters
    costs = problem.posterior_costs(prior)
    best = [min(range(problem.num_actions), key=lambda a: costs[a][x]) for x in range(problem.num_inputs)]
    return {(1 << x, a) for x, a in enumerate(best)}


def _weak_duality(problem: Problem, lam: Fraction, criterion: Criterion, method: ProgramForm) -> Design:
    """Round a floating-point pair of the compact program to a rational one; the bracket has a gap, and says so."""
    proposed, channel, multipliers, worst = programs.compact_vectors(problem, lam, criterion=criterion)
    rows = programs.repaired_rows(channel, lam)
    prior = problem.required_prior() if criterion == "bayes" else programs.repaired_prior(worst)
    bound = lowered(problem.posterior_costs(prior), [Fraction(float(u)) for u in multipliers], lam)
    certificate = TradeoffCertificate(lam, prior, rows, bound, criterion)
    value = certificate.prove(problem)
    return Design(problem, criterion, method, value, _columns_of(rows, lam), (certificate,), proposed, lam)


def _over_orbits(problem: Problem, group: SymmetryGroup, criterion: Criterion, lam: Fraction) -> Design:
    """The optimum at a rational level over orbits of pairs of a subset and an action."""
    reduced = InvariantProblem.of(problem, group, criterion=criterion)
    programs.check_orbits(len(reduced.inputs), len(reduced.actions), group)
    # Singletons of all orbits of inputs make the program feasible.
    columns = {(1 << orbit[0], 0) for orbit in reduced.inputs}
    proposed = None
    with suppress(SolverFailure):
        support, proposed, *_ = programs.generate(reduced, lam)
        columns |= support
    fresh = pairs = sorted(columns)
    while fresh:
        masses, bound, prior, fresh = reduced.priced(pairs, lam)
        pairs = [*pairs, *fresh]
    orbits = ((group.subset_orbit(subset), place, mass) for (subset, place), mass in masses)
    weights = tuple((orbit, reduced.actions[place], mass / orbit.size) for orbit, place, mass in orbits)
    certificate = TradeoffCertificate(lam, prior, (), bound, criterion, group, weights)
    check_bound(problem.posterior_costs(prior), bound, lam)
    return Design(problem, criterion, None, certificate.of_orbits(reduced), weights, (certificate,), proposed, lam)
