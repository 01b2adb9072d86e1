"""Optimal privacy-utility trade-offs: the smallest Bayes or minimax risk over all LDP channels, with a certificate.

Several linear programs describe the same optimum. Each proposes columns (a subset of the inputs and an action);
a restricted program over those columns is then solved over the rationals, columns that its multipliers still
violate are priced in, and the result carries a certificate that does not depend on how it was found.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from typing import Final

import numpy as np

from symshuffle.base.choices import Criterion, Method, Rigour, choice
from symshuffle.base.errors import InputError, NotDecided, SolverFailure, check_kind
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import Exp, enclose
from symshuffle.base.results import Bracket
from symshuffle.design.decision import programs, sizes
from symshuffle.design.decision.certificate import TradeoffCertificate, violated_columns
from symshuffle.design.decision.exact_programs import exact_compact, restricted_program
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.optimal_channel import Design, action_rows
from symshuffle.design.decision.problems import DecisionProblem, SubsetAction
from symshuffle.design.widths import REL, narrowed
from symshuffle.geometry.extremal import LDPCone, check_lam
from symshuffle.geometry.groups import trivial_group
from symshuffle.geometry.linprog import solve

_EXACT_ROWS: Final = 120
"""Largest number of rows for which the rational re-solve is attempted by default."""

_FEW_INPUTS: Final = 12

_MAX_ROUNDS: Final = 6
"""Rounds of exact column generation before the compact program is solved over the rationals instead."""

_MOST_ROUNDS: Final = 24
"""Rounds after which the last channel and its multipliers, lowered to a valid bound, make a bracket."""

_LEVEL_BITS: Final = (100, 200, 400, 800)
"""Widths of the rational enclosure of exp(eps0), in bits, until the bracket is narrow enough."""


_SEEN: Final = 1 + Fraction(1, 1000)
"""The lowest level at which columns are proposed in doubles."""

_PATIENT: Final = 2.0
"""Seconds that pivots of the compact program may take below that level; otherwise columns are generated on."""


@takes_eps0()
def bayes_tradeoff(
    problem: DecisionProblem,
    lam: Fraction | int | Exp,
    *,
    method: Method | str | None = None,
    rel: float = REL,
) -> Design:
    r"""Smallest Bayes risk over all eps0-LDP channels, with an optimal channel.

    .. math:: \mathrm{PUT}_B = \inf_{Q\ \varepsilon_0\text{-LDP}}\ \sum_y \min_a \sum_x h_{a,x}\, Q_x(y)

    Parameters
    ----------
    problem : DecisionProblem
        With a prior.
    lam : Fraction, int or Exp
        ``exp(eps0)``, above 1: a rational, or ``Exp(eps0)``.
    method : Method, optional
        Which program proposes the optimum; the certificate does not depend on it. By default column generation up to
        12 inputs, and the compact program beyond.
    rel : float
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
        If the level is not above 1, or the problem has no prior.
    Unsupported
        If the program is too large; the message names the reduced form.

    Notes
    -----
    ldp_tradeoff, equations (7) and (22), Remark 3.11.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> bayes_tradeoff(smoothed_point_masses(4, 1), 2).value.exact
    Fraction(3, 5)
    """
    method = None if method is None else choice(Method, method, "method")
    check_kind(problem, DecisionProblem, "problem", _A_PROBLEM)
    problem.required_prior()
    return _tradeoff(problem, lam, Criterion.BAYES, method, rel)


@takes_eps0()
def minimax_tradeoff(
    problem: DecisionProblem,
    lam: Fraction | int | Exp,
    *,
    method: Method | str | None = None,
    rel: float = REL,
) -> Design:
    """Smallest worst-case risk over all eps0-LDP channels and decision rules.

    The worst case is over the parameters of the problem. The prior of the problem, if any, plays no role.

    Parameters
    ----------
    problem : DecisionProblem
        The problem; a prior is not needed.
    lam, eps0, method, rel
        As in :func:`~symshuffle.bayes_tradeoff`.

    Returns
    -------
    Design
        The risk as a bracket, a channel that attains its upper end, and the certificates; their prior is a least
        favourable one.

    Raises
    ------
    InputError
        If the level is not above 1.
    Unsupported
        If the program is too large; the message names the reduced form.

    Examples
    --------
    >>> from symshuffle.design import smoothed_point_masses
    >>> minimax_tradeoff(smoothed_point_masses(4, 1), 2).value.exact
    Fraction(3, 5)
    """
    method = None if method is None else choice(Method, method, "method")
    check_kind(problem, DecisionProblem, "problem", _A_PROBLEM)
    return _tradeoff(problem, lam, Criterion.MINIMAX, method, rel)


_A_PROBLEM: Final = "a decision problem, as DecisionProblem(model, loss, prior)"
_LARGEST_LAM: Final = 10**300


def _tradeoff(
    problem: DecisionProblem,
    lam: Fraction | int | Exp,
    criterion: Criterion,
    method: Method | None,
    rel: float,
) -> Design:
    if method is None:
        few = problem.num_inputs <= _FEW_INPUTS and sizes.column_work(problem) <= sizes.COLUMN_WORK
        method = Method.COLUMNS if few else Method.COMPACT
    if not isinstance(lam, Exp):
        level = check_lam(lam)
        if level > _LARGEST_LAM:
            raise InputError("lam", level, "a ratio of at most 1e300")
        return narrowed(lambda _: _at_rational(problem, level, criterion, method), rel, (0,))
    if lam.exponent <= 0:
        raise InputError("eps0", lam.exponent, "a number above 0")
    return narrowed(lambda bits: _around(problem, lam, criterion, method, bits), rel, _LEVEL_BITS)


def _around(problem: DecisionProblem, lam: Exp, criterion: Criterion, method: Method, bits: int) -> Design:
    """Certificates at two rational levels around an irrational one."""
    ball = enclose(lam, bits)
    above, below = ball.upper, max(ball.lower, Fraction(1) + Fraction(1, 1 << bits))
    stricter = _at_rational(problem, below, criterion, method)
    if stricter.value.exact is None:
        looser = _at_rational(problem, above, criterion, method)
    else:
        looser = _certify(
            problem, above, criterion, {(y, a) for y, a, _ in stricter.weights}, method, stricter.proposed
        )
    how = f"certificates at two rational levels around exp({lam.exponent}), {bits} bits; the risk decreases in lam"
    value = Bracket(looser.value.lower, stricter.value.upper, Rigour.BALL, "lp", how)
    certificates = (*looser.certificates, *stricter.certificates)
    return Design(problem, criterion, method, value, stricter.weights, certificates, stricter.proposed, lam)


def _at_rational(
    problem: DecisionProblem,
    lam: Fraction,
    criterion: Criterion,
    method: Method,
) -> Design:
    if method is Method.POLYTOPE:
        sizes.check_polytope(problem, criterion=criterion)
    elif method is Method.COMPACT:
        sizes.check_compact(problem)
    else:
        sizes.check_columns(problem)
    propose = {Method.POLYTOPE: programs.polytope, Method.COMPACT: programs.compact, Method.COLUMNS: _generated}
    large = method is Method.COMPACT and problem.num_inputs > _EXACT_ROWS
    # Next to 1 an optimal basis does not depend on the level, and further away the solver can tell columns apart.
    seen = lam if large else max(lam, _SEEN)
    try:
        proposal = propose[method](problem, seen, criterion=criterion)
    except SolverFailure:
        if large:
            raise
        return _certify(problem, lam, criterion, set(), method, None)
    if large:
        return _weak_duality(problem, lam, criterion, proposal, method)
    return _certify(problem, lam, criterion, set(proposal.columns), method, proposal.value if seen == lam else None)


def _generated(problem: DecisionProblem, lam: Fraction, *, criterion: Criterion) -> programs.Suggestion:
    """Column generation without symmetry, with the columns around a degenerate optimum."""
    reduced = InvariantProblem.of(problem, trivial_group(problem.num_inputs), criterion=criterion)
    found = programs.generate(reduced, lam)
    prior = found.prior if found.prior is not None else np.array([float(p) for p in reduced.prior(())])
    assert found.bound is not None  # column generation always ends with multipliers
    return replace(found, columns=found.columns | programs.columns_near(problem, prior, found.bound, lam))


def _certify(
    problem: DecisionProblem,
    lam: Fraction,
    criterion: Criterion,
    columns: set[SubsetAction],
    method: Method,
    proposed: float | None,
) -> Design:
    """Column generation over the rationals, from the proposed columns to an optimum with a certificate.

    Where it does not settle and the compact program is too large to solve over the rationals, the result is a bracket
    by weak duality, and its certificate says so.
    """
    columns = columns | _starting_columns(problem)
    for attempt in range(_MOST_ROUNDS):
        if attempt == _MAX_ROUNDS and (
            lam >= _SEEN or sizes.pivoting_seconds(problem, criterion=criterion) <= _PATIENT
        ):
            if sizes.exact_compact_seconds(problem, criterion=criterion) > sizes.EXACT_SECONDS:
                return _weak_duality(
                    problem, lam, criterion, programs.compact(problem, lam, criterion=criterion), method
                )
            # A degenerate optimum leaves the multipliers of the restricted program free; the compact one pins them
            # down. Where it is not solved, as for many inputs near 1, columns are generated on.
            with suppress(NotDecided, SolverFailure):
                rows, bound, prior = exact_compact(problem, lam, criterion=criterion)
                weights = _columns_of(rows, lam)
                break
        ordered = sorted(columns)
        solution = solve(restricted_program(problem, lam, ordered, criterion=criterion))
        dual = solution.certificate.dual
        bound = dual[: problem.num_inputs]
        prior = (
            tuple(-y for y in dual[problem.num_inputs :])
            if criterion is Criterion.MINIMAX
            else problem.required_prior()
        )
        weights = tuple((*ordered[j], value) for j, value in solution.certificate.primal if j < len(ordered))
        rows = action_rows(problem, weights, lam)
        violated = set(violated_columns(problem.posterior_costs(prior), bound, lam)) - columns
        if not violated:
            break
        columns |= violated
    else:
        bound = programs.lowered(problem.posterior_costs(prior), bound, lam)
    certificate = TradeoffCertificate(lam, prior, rows, bound, criterion)
    value = certificate.prove(problem)
    return Design(problem, criterion, method, value, weights, (certificate,), proposed, lam)


def _columns_of(rows: Sequence[Sequence[Fraction]], lam: Fraction) -> tuple[tuple[int, int, Fraction], ...]:
    """The staircase columns of which a channel with one output per action is made."""
    cone = LDPCone(len(rows[0]), lam)
    weights = {(subset, a): weight for a, row in enumerate(rows) for subset, weight in cone.decompose(row).items()}
    return tuple((subset, a, weight) for (subset, a), weight in sorted(weights.items()))


def _starting_columns(problem: DecisionProblem) -> set[SubsetAction]:
    """The singletons with an action each, so that the restricted program has a feasible point."""
    prior = problem.prior or (Fraction(1, problem.num_parameters),) * problem.num_parameters
    costs = problem.posterior_costs(prior)
    best = [min(range(problem.num_actions), key=lambda a: costs[a][x]) for x in range(problem.num_inputs)]
    return {(1 << x, a) for x, a in enumerate(best)}


def _weak_duality(
    problem: DecisionProblem, lam: Fraction, criterion: Criterion, proposal: programs.Suggestion, method: Method
) -> Design:
    """Round a floating-point pair to a feasible rational one; the bracket has a gap, and says so."""
    if proposal.rows is None or proposal.bound is None:
        raise NotDecided("the floating-point program returned no vectors to round")
    rows = programs.repaired_rows(proposal.rows, lam)
    prior = problem.required_prior() if criterion is Criterion.BAYES else programs.repaired_prior(proposal.prior)
    bound = programs.repaired_bound(problem.posterior_costs(prior), proposal.bound, lam)
    certificate = TradeoffCertificate(lam, prior, rows, bound, criterion)
    value = certificate.prove(problem)
    return Design(problem, criterion, method, value, _columns_of(rows, lam), (certificate,), proposal.value, lam)
