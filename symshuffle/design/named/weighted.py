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

from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.errors import InputError
from symshuffle.geometry.extremal import check_lam


def weighted_guessing_problem(prior: Sequence[Fraction]) -> DecisionProblem:
    """Guess a value that is read without noise, under a prior."""
    m = len(prior)
    one_hot = tuple(tuple(Fraction(int(x == t)) for x in range(m)) for t in range(m))
    return DecisionProblem(one_hot, tuple(tuple(1 - v for v in row) for row in one_hot), tuple(prior))


def weighted_guessing_risk(prior: Sequence[Fraction], lam: Fraction | int) -> tuple[Fraction, int]:
    """The optimal risk, and the number ``j`` of values between which randomized response is run.

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
    """The levels above 1 at which the number of values grows, ascending; values of prior mass zero never enter."""
    ordered, masses = sorted(prior, reverse=True), _leading_masses(prior)
    levels = [masses[j] / ordered[j + 1] - j for j in range(len(ordered) - 1) if ordered[j + 1]]
    return sorted({level for level in levels if level > 1})


def _leading_masses(prior: Sequence[Fraction]) -> list[Fraction]:
    if len(prior) < 2 or sum(prior) != 1 or min(prior) < 0:
        raise InputError("prior", [str(p) for p in prior], "at least 2 probabilities that sum to 1")
    ordered = sorted(prior, reverse=True)
    return [sum(ordered[: j + 1], start=Fraction(0)) for j in range(len(ordered))]
