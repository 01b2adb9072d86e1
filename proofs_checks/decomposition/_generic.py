r"""Why binary randomized response has the largest blanket bound of all mechanisms with its budget.

Let :math:`\varepsilon\le\varepsilon_0`; beyond that all bounds are 0. Let G be the blanket variable of an
:math:`\varepsilon_0`-LDP mechanism and G* that of binary randomized response, with atoms :math:`\lambda-x` and
:math:`1-\lambda x`, :math:`\frac1{\lambda+1}` each, and 0 (:math:`x=e^\varepsilon`). Then G is below G* in convex
order, :math:`E(G-t)_+\le E(G^*-t)_+` for all t:

- The means are equal, and no atom lies outside :math:`[1-\lambda x,\lambda-x]`.
- For :math:`0\le t\le\lambda-x`, write the rows of the pair as :math:`R_0=\lambda u+v`, :math:`R_1=u+\lambda v`
  (Lemma 1) and the blanket as :math:`c=R_0/\lambda+s`. At each output :math:`R_0-xR_1-tc\le u(\lambda-x-t)`, and
  :math:`\sum u=\frac1{\lambda+1}`.
- For :math:`1-\lambda x\le t\le0` the same for :math:`E(t-G)_+`, as the means are equal: with
  :math:`c=R_1/\lambda+s` at each output :math:`tc+xR_1-R_0\le v(\lambda x-1+t)`, and :math:`\sum v=\frac1{\lambda+1}`.

Convex order survives independent sums and the positive part. So the bound of G* is generic, for every n.

The variable of the standard clone is above G* in the same order. Its upper atom has mass :math:`\frac1{2\lambda}` and
alone gives :math:`\frac{\lambda-x}{\lambda+1}-\frac t{2\lambda}` at :math:`t\ge0`, which is no less than
:math:`\frac{\lambda-x-t}{\lambda+1}`; the lower atom does the same for :math:`E(t-G)_+` at :math:`t\le0`, and the
means are equal.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import sympy as sp

from proofs_checks.decomposition._cases import never_negative
from symshuffle.channels.law import Law
from symshuffle.ledger.claims.comparisons import Comparison
from symshuffle.ledger.claims.model import identity
from symshuffle.mechanisms.symbolic import LAM


def stop_loss(law: Law, level: Fraction) -> Fraction:
    """E(G - level)_+ of a law with rational atoms."""
    atoms: Any = law.atoms()
    return sum((max(Fraction(0), value - level) * mass for value, mass in atoms), Fraction(0))


def dominance_steps(weight: Any) -> Iterator[Comparison]:
    """The algebra of the proof, for all rows, budgets, levels and exp(eps).

    ``weight`` is the clone probability of the pair that is said to be generic, as a function of ``LAM``.
    """
    u, v, s, t, w, a = sp.symbols("u v s t w a", nonnegative=True)
    lam, x = 1 + w, 1 + a
    first, second = lam * u + v, u + lam * v
    slack = u * (lam - x - t) - (first - x * second - t * (first / lam + s))
    yield never_negative(sp.cancel(slack), at="E(G-t)_+ output by output, t >= 0, any rows and blanket")
    # Below 0 by E(t - G)_+, at t = -r; the target is at most the ratio cap.
    cap, r = x + w, sp.Symbol("r", nonnegative=True)
    first, second = cap * u + v, u + cap * v
    slack = v * (cap * x - 1 - r) - (x * second - first - r * (second / cap + s))
    yield never_negative(sp.cancel(slack), at="E(t-G)_+ output by output, t <= 0, any rows and blanket")
    heads, tails = sp.symbols("U V")
    (shares,) = sp.solve([LAM * heads + tails - 1, heads + LAM * tails - 1], (heads, tails), dict=True)
    yield identity(shares[heads], weight, at="total of u, any pair of rows: mass of the upper atom of G*")
    yield identity(shares[tails], weight, at="total of v, any pair of rows: mass of the lower atom of G*")
    y = sp.Symbol("x", positive=True)
    yield identity(weight * ((LAM - y) + (1 - LAM * y)), 1 - y, at="mean of G*, that of every G")
    low, high = (1 + lam * s) / (1 + s), (1 + lam * t) / (1 + t)  # any two ratios from 1 to lam
    yield never_negative(low - x * high - (1 - lam * x), at="no atom of G below 1 - lam x")
    yield from _standard_clone_above(weight)


def _standard_clone_above(weight: Any) -> Iterator[Comparison]:
    """Either atom of the standard clone alone covers the stop-loss transform of G*, by signs; the means are equal."""
    t, w = sp.symbols("t w", nonnegative=True)
    x = sp.Symbol("x", positive=True)
    share = 1 / (2 * LAM)  # mass of each of its atoms
    upper, lower = (LAM - x) / (LAM + 1), (LAM * x - 1) / (LAM + 1)  # mass times distance from 0
    for side, moment, reach in (("t >= 0", upper, LAM - x), ("t <= 0", lower, LAM * x - 1)):
        excess = (moment - t * share) - weight * (reach - t)
        yield never_negative(sp.cancel(excess).subs(LAM, 1 + w), at=f"the standard clone above G*, {side}, any x")
    yield identity(upper - lower, 1 - x, at="mean of the standard clone's G")
