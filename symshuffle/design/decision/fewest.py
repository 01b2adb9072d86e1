r"""The same optimum with as few outputs as possible: block designs among the optimal channels.

The optimal channels form a face of the maximal polytope: the weights on those subsets whose reduced cost is zero
under an optimal bound. A symmetric problem has a large face. Subset selection publishes all :math:`\binom mk` subsets,
but any balanced family of them, a block design for instance, is as good.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint
import numpy as np

from symshuffle.base.errors import InputError, NotDecided, SolverFailure, Unsupported
from symshuffle.base.solvers import milp
from symshuffle.channels.channel import Channel
from symshuffle.design.decision.problems import DecisionProblem
from symshuffle.geometry.extremal import MaximalPolytope, check_inputs, check_lam, proper_subsets

_LARGEST: Final = 12
_EXHAUSTED: Final = 60_000
_SECONDS: Final = 30.0


@final
@dataclass(frozen=True, slots=True)
class SmallDesign:
    """A channel of the face with few outputs.

    Parameters
    ----------
    weights : dict of int to Fraction
        Its point of the maximal polytope.
    candidates : int
        Number of subsets it was chosen from.
    proved_fewest : bool
        Whether all smaller families were tried over the rationals and failed; otherwise minimality is the word of
        the integer programming solver.
    """

    weights: dict[int, Fraction]
    candidates: int
    proved_fewest: bool

    def channel(self, m: int, lam: Fraction) -> Channel:
        """The channel itself."""
        return MaximalPolytope(m, lam).channel(self.weights)


def optimal_face(problem: DecisionProblem, lam: Fraction, bound: Sequence[Fraction]) -> list[int]:
    """The subsets on which every optimal Bayes channel puts all its weight.

    Parameters
    ----------
    problem : DecisionProblem
        With a prior, and at most 12 inputs.
    lam : Fraction
        Level.
    bound : sequence of Fraction
        The bound of an optimality certificate at this level.

    Raises
    ------
    InputError
        If the bound fails at some subset.
    """
    m = problem.num_inputs
    if m > _LARGEST:
        raise Unsupported(
            f"m = {m}: {2**m - 2} subsets would be visited; at most {_LARGEST} inputs, or give the subsets"
        )
    costs = problem.posterior_costs(problem.required_prior())
    gaps = [[h - u for h, u in zip(row, bound, strict=True)] for row in costs]
    totals = [sum(row, start=Fraction(0)) for row in gaps]
    face = []
    for subset in proper_subsets(m):
        inside = [x for x in range(m) if subset >> x & 1]
        slack = min(
            total + (lam - 1) * sum((row[x] for x in inside), start=Fraction(0))
            for total, row in zip(totals, gaps, strict=True)
        )
        if slack < 0:
            raise InputError("bound", f"slack {slack} at subset {inside}", "a bound that holds for every subset")
        if slack == 0:
            face.append(subset)
    return face


def fewest_outputs(subsets: Sequence[int], m: int, lam: Fraction | int) -> SmallDesign:
    """A channel with as few outputs as possible whose outputs are among the given subsets.

    Raises
    ------
    SolverFailure
        If no channel uses only these subsets, or the integer program runs out of its 30 seconds.

    Examples
    --------
    >>> pairs = [y for y in proper_subsets(4) if y.bit_count() == 2]
    >>> small = fewest_outputs(pairs, 4, 3)
    >>> len(small.weights), small.proved_fewest
    (2, True)
    """
    from scipy.optimize import Bounds, LinearConstraint

    level, size = check_lam(lam), len(subsets)
    # Balanced weights d: the total over the subsets that contain an input is 1; d is at most 1.
    incidence = np.array([[subset >> x & 1 for subset in subsets] for x in range(check_inputs(m))], dtype=float)
    found = milp(
        np.r_[np.zeros(size), np.ones(size)],
        constraints=[
            LinearConstraint(np.c_[incidence, np.zeros((m, size))], 1, 1),
            LinearConstraint(np.c_[np.eye(size), -np.eye(size)], -np.inf, 0),
        ],
        bounds=Bounds(0, 1),
        integrality=np.r_[np.zeros(size), np.ones(size)],
        options={"time_limit": _SECONDS},
    )
    if found.status != 0:
        raise SolverFailure("HiGHS", str(found.message), f"the smallest balanced family among {size} subsets")
    support = [subsets[j] for j in range(size) if found.x[size + j] > 0.5]
    balance = _balance(support, m)
    if balance is None:
        raise NotDecided("the family that was proposed is not balanced over the rationals")
    fewer = sum(math.comb(size, r) for r in range(2, len(balance)))
    proved = fewer <= _EXHAUSTED and not any(
        _balance(family, m) for r in range(2, len(balance)) for family in itertools.combinations(subsets, r)
    )
    scale = level - 1 + sum(balance.values())
    return SmallDesign({subset: d / scale for subset, d in balance.items()}, size, proved)


def _balance(family: Sequence[int], m: int) -> dict[int, Fraction] | None:
    """Positive weights with total 1 over the members that contain ``x``, for every ``x``; None if there are none.

    Only families with independent incidence vectors are decided; a smallest balanced family has them.
    """
    rows = [[subset >> x & 1 for subset in family] + [1] for x in range(m)]
    reduced, rank = flint.fmpq_mat(rows).rref()
    width = len(family)
    if rank != width or any(reduced[i, i] != 1 for i in range(width)):
        return None
    if any(reduced[i, width] != 0 for i in range(width, m)):
        return None
    weights = [Fraction(int(reduced[i, width].p), int(reduced[i, width].q)) for i in range(width)]
    return dict(zip(family, weights, strict=True)) if min(weights) > 0 else None
