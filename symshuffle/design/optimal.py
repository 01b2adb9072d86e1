"""The best local randomizer for a problem, whatever the problem and the constraint are."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any, TypeAlias

from symshuffle.base.choices import Criterion, ProgramForm, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import read_budget
from symshuffle.channels.geometry.groups import SymmetryGroup
from symshuffle.design.decision.certificate import REL
from symshuffle.design.decision.designs import Design
from symshuffle.design.decision.problems import Problem
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information.maximum import MeasureDesign, maximise
from symshuffle.design.information.measures import Measure
from symshuffle.design.parametric.homotopy import derive
from symshuffle.design.parametric.program import ParametricProgram, PiecewiseOptimum
from symshuffle.design.shuffled.best import best_shuffled
from symshuffle.design.shuffled.model import ShuffledDesign

Optimum: TypeAlias = Design | MeasureDesign | PiecewiseOptimum | ShuffledDesign
"""Answers to :func:`optimal`."""


def optimal(
    problem: Problem | Measure | ParametricProgram | int,
    *,
    eps0: object = None,
    lam: object = None,
    criterion: Criterion = "bayes",
    group: SymmetryGroup | None = None,
    method: ProgramForm | None = None,
    rtol: float = REL,
    **target: Any,
) -> Optimum:
    """Optimal value of a problem over local randomizers, with a certificate.

    Parameters
    ----------
    problem : Problem, ParametricProgram, Measure or int
        A statistical decision problem, or a program with coefficients in lam, whose risk is minimised; a measure of
        information, which is maximised; or a number k of categories, whose histogram is estimated from shuffled
        messages under a central target.
    eps0, lam : number, text or Exp, optional
        Local budget in nats, or its exponential. Without either, the value of a decision problem is derived as a
        formula that holds for every budget.
    criterion : {"bayes", "minimax"}
        Risk of a decision problem that is minimised.
    group : SymmetryGroup, optional
        Symmetries of the problem, by which the linear program is reduced; they are checked.
    method : {"polytope", "compact", "columns"}, optional
        Linear program of a decision problem at a budget, where no group is given. By default column generation up to
        12 inputs, and the compact program beyond.
    rtol : float
        Relative width to aim at, where the value is not exact: at an irrational budget, for a measure with logarithms,
        and for large programs.
    **target
        For k categories: the arguments of a central target (``n``, ``eps`` or ``exp_eps``, ``delta``), the largest
        likelihood ratio ``lam_cap``, ``loss`` and ``progress``, as in
        :func:`symshuffle.design.shuffled.best.best_shuffled`: the search may take a minute, and says how far it is.

    Returns
    -------
    Design, MeasureDesign, PiecewiseOptimum or ShuffledDesign
        The optimum; the last is the best of a local search, with a proved upper end where ``lam_cap`` is given.

    Raises
    ------
    InputError
        If an argument is out of its range, or does not belong to this kind of problem.
    Unsupported
        If a central target is given for a decision problem or a measure.

    Examples
    --------
    >>> optimal(Problem.guessing(4), lam=3).value.exact
    Fraction(1, 2)
    >>> optimal(Problem.guessing(3)).expression()
    2/(lambda + 2)
    """
    budget = read_budget(eps0=eps0, lam=lam)
    criterion = choice(Criterion, criterion, "criterion")
    if isinstance(problem, int) and not isinstance(problem, bool):
        local = {"eps0": eps0, "lam": lam, "group": group, "method": method}
        _check_central(local | {"criterion": None if criterion == "bayes" else criterion}, target)
        return best_shuffled(problem, **target)
    if not isinstance(problem, Problem | Measure | ParametricProgram):
        raise InputError("problem", type(problem).__name__, "a decision problem, a measure, or a number of categories")
    if target:
        raise Unsupported(
            f"{', '.join(target)}: a central target is supported for histograms of categories only; give eps0 instead"
        )
    if isinstance(problem, Measure):
        if budget is None:
            raise InputError("eps0", None, "a local budget in nats, for a measure of information")
        return maximise(problem, budget, group=group, rtol=rtol)
    if budget is None:
        return derive(problem, group, criterion=criterion)
    if isinstance(problem, ParametricProgram):
        raise InputError("eps0", budget, "none for a program with coefficients in lam: its optimum is a formula")
    return smallest_risk(problem, budget, criterion=criterion, group=group, method=method, rtol=rtol)


def _check_central(local: Mapping[str, object], target: Mapping[str, object]) -> None:
    """Refuse arguments of a local budget beside a central target, and a central target that is not whole."""
    for name, value in local.items():
        if value is not None:
            raise InputError(name, value, "none for a central target; lam_cap bounds the likelihood ratios")
    for name in target.keys() - inspect.signature(best_shuffled).parameters.keys():
        raise InputError(name, target[name], "an argument of a central target: n, eps or exp_eps, delta, lam_cap")
    for name in ("n", "delta"):
        if target.get(name) is None:
            raise InputError(name, None, "a value: a number of categories goes with a central target")
