r"""Guessing one of ``m`` values that are not equally likely: the optimum for every prior and every level.

A reading is the parameter itself, the loss is 0 or 1, the prior :math:`\pi_1 \ge \dots \ge \pi_m` is arbitrary. With
:math:`P_j = \pi_1 + \dots + \pi_j` the optimal risk over all LDP channels is

.. math:: 1 - \max_{1 \le j \le m} \frac{\lambda P_j}{\lambda + j - 1},

attained by randomized response between the ``j`` likeliest values, the others merged into one of them. The size grows
from ``j`` to ``j + 1`` at the level :math:`\lambda_j = P_j/\pi_{j+1} - (j-1)`, and these levels increase with ``j``.

The lower bound is the vector :math:`v_x = (\lambda\pi_x - V)_+/(\lambda-1)` with ``V`` the maximum: it satisfies
:math:`\sum_x v_x = V` and :math:`V + (\lambda-1)\sum_{x\in y} v_x \ge \pi_a S_{y,a}` for every subset and guess.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symshuffle.base.errors import InputError
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.geometry.extremal import check_lam


def weighted_guessing_problem(prior: Sequence[Fraction]) -> DecisionProblem:
    """Problem of guessing a value that is read without noise, under a prior.

    Parameters
    ----------
    prior : sequence of Fraction
        One probability per value, of sum 1; at least 2 values.

    Returns
    -------
    DecisionProblem
        With 0-1 loss.

    Raises
    ------
    InputError
        If the prior is no distribution on at least 2 values.

    Examples
    --------
    >>> weighted_guessing_problem([Fraction(2, 3), Fraction(1, 3)]).prior
    (Fraction(2, 3), Fraction(1, 3))
    """
    m = len(prior)
    one_hot = tuple(tuple(Fraction(int(x == t)) for x in range(m)) for t in range(m))
    return DecisionProblem(one_hot, tuple(tuple(1 - v for v in row) for row in one_hot), tuple(prior))


def weighted_guessing_risk(prior: Sequence[Fraction], lam: Fraction | int) -> tuple[Fraction, int]:
    """Smallest risk of guessing a value under a prior, and the number of values used.

    Parameters
    ----------
    prior : sequence of Fraction
        One probability per value, of sum 1.
    lam : Fraction or int
        ``exp(eps0)``, a rational above 1.

    Returns
    -------
    risk : Fraction
        The optimal probability of a wrong guess.
    j : int
        Randomized response among the ``j`` most likely values attains it.

    Raises
    ------
    InputError
        If the level is not above 1, or the prior is no distribution on at least 2 values.

    Examples
    --------
    >>> weighted_guessing_risk([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)], 2)
    (Fraction(4, 9), 2)
    """
    level = check_lam(lam)
    masses = _leading_masses(prior)
    gains = [level * mass / (level + j) for j, mass in enumerate(masses)]
    best = max(gains)
    return 1 - best, gains.index(best) + 1


def weighted_guessing_breakpoints(prior: Sequence[Fraction]) -> list[Fraction]:
    """Levels ``lam`` above 1 at which the optimal number of guessed values grows.

    Parameters
    ----------
    prior : sequence of Fraction
        One probability per value, of sum 1.

    Returns
    -------
    list of Fraction
        In ascending order. Values of prior mass zero never enter.

    Raises
    ------
    InputError
        If the prior is no distribution on at least 2 values.

    Examples
    --------
    >>> weighted_guessing_breakpoints([Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)])
    [Fraction(3, 2), Fraction(4, 1)]
    """
    ordered, masses = sorted(prior, reverse=True), _leading_masses(prior)
    levels = [masses[j] / ordered[j + 1] - j for j in range(len(ordered) - 1) if ordered[j + 1]]
    return sorted({level for level in levels if level > 1})


def _leading_masses(prior: Sequence[Fraction]) -> list[Fraction]:
    if len(prior) < 2 or sum(prior) != 1 or min(prior) < 0:
        raise InputError("prior", [str(p) for p in prior], "at least 2 probabilities that sum to 1")
    ordered = sorted(prior, reverse=True)
    return [sum(ordered[: j + 1], start=Fraction(0)) for j in range(len(ordered))]
