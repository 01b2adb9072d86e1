r"""Subset selection in problems that every permutation leaves alone: risks by counting, and the bound for all ``m``.

Everything here is symbolic in ``m``, ``k``, ``gamma`` and ``lam``: classes of subsets are counted by binomials, nothing
is enumerated.
"""

from __future__ import annotations

from typing import Any

import sympy as sp


def subset_weight(m: Any, k: Any, lam: Any) -> Any:
    """The probability scale of one ``k``-subset, so that the rows of subset selection sum to 1, by counting.

    An input lies in ``C(m-1, k-1)`` of the subsets and outside ``C(m-1, k)`` of them.
    """
    return 1 / (lam * sp.binomial(m - 1, k - 1) + sp.binomial(m - 1, k))


def guessing_risk(m: Any, k: Any, gamma: Any, lam: Any) -> Any:
    r"""The risk, at every parameter, of subset selection and a uniform guess in the published subset.

    The problem is guessing :math:`\theta` from :math:`P(x|\theta) = (1-\gamma)/m + \gamma 1[x = \theta]`. Subsets fall
    into classes by whether they contain ``theta`` and the input ``x``; each class is counted.
    """
    w = subset_weight(m, k, lam)
    wrong_inside = 1 - sp.Integer(1) / k
    at_theta = lam * sp.binomial(m - 1, k - 1) * wrong_inside + sp.binomial(m - 1, k)
    elsewhere = (
        lam * sp.binomial(m - 2, k - 2) * wrong_inside  # contains both
        + sp.binomial(m - 2, k - 1) * wrong_inside  # contains theta only
        + lam * sp.binomial(m - 2, k - 1)  # contains x only
        + sp.binomial(m - 2, k)  # contains neither
    )
    off_diagonal = (1 - gamma) / m
    return w * ((off_diagonal + gamma) * at_theta + (m - 1) * off_diagonal * elsewhere)


def guessing_bound_slacks(m: Any, gamma: Any, lam: Any, optimum: Any) -> tuple[Any, Any, Any]:
    r"""What it takes for ``optimum`` to bound every LDP channel from below, by the vector ``optimum / m``.

    The cost of guessing ``a`` under the uniform prior is :math:`h_{a,x} = (1 - P(x|a))/m`. Returned are the gap
    :math:`h - u` at ``x = a``, the gap elsewhere, and the smallest value over columns of the LDP cone, provided that
    the first gap is at most zero and the second at least zero.
    """
    bound = optimum / m
    inside = (1 - (1 - gamma) / m - gamma) / m - bound
    outside = (1 - (1 - gamma) / m) / m - bound
    return inside, outside, lam * inside + (m - 1) * outside
