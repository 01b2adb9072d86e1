r"""Laws of G with a long upper tail: sums are told apart by how many of their terms are jumps.

Where a tail as long as that of a log-normal law decides, one large value of G in place of many middling ones, no line
serves the whole transform: :math:`M(c)^n` exceeds the value by more than doubles, or any patience, resolve. So the
pieces of the law are cut where G passes a threshold: what is above are the *jumps*. The events of no jump, of exactly
one and of at least two are disjoint, so that

.. math:: H(n)=\tfrac1nE[S_+]=\tfrac1nE[S_+;\text{none}]+\sum_{B}E[S_+;G_1\in B,\text{ no other}]
   +\tfrac1nE[S_+;\ge2],

by symmetry (any of the n terms may be the jump), over bins B that together hold all jumps.

- *None.* :mod:`symshuffle.engines.densities.bromwich` of the law without its jumps, whose mass is below 1; or, where
  that is less than what is asked for, anything between 0 and :math:`M_0(\theta)^n/(e\theta n)`, as
  :math:`x_+\le e^{\theta x}/(e\theta)`.
- *One*, in a bin: :mod:`symshuffle.engines.densities.jump_line`; or, likewise, between 0 and
  :math:`\Phi(\theta)/(e\theta)`.
- *Two or more.* :math:`S_+\le\sum_iG_i^+`, and each i has the same share, so that
  :math:`\tfrac1nE[S_+;\ge2]\le E[G_1^+;\ge2]`. If :math:`G_1` is a jump, one of the n - 1 others is one; if not, two
  are. With p the mass of the jumps, a union bound over which ones gives

  .. math:: \tfrac1nE[S_+;\ge2]\le(n-1)\,p\cdot p\,(\sup G)_++\binom{n-1}2p^2\,E[G^+;\text{no jump}],\qquad
     E[G^+;\text{no jump}]\le\frac{M_0(\theta)}{e\theta}.

Evidence: *proved*, in balls, for every threshold, bin and slope :math:`\theta>0`: those are choices, made in
:mod:`symshuffle.engines.densities.jump_plan`. What :mod:`symshuffle.engines.densities.bromwich` assumes of doubles is
assumed of the sums without a jump alone.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final

import flint
import numpy as np

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.contours import saddle
from symshuffle.engines.densities import bromwich_plan, gauss, jump_plan
from symshuffle.engines.densities.bromwich import Bromwich
from symshuffle.engines.densities.jump_line import JumpLine
from symshuffle.engines.densities.jump_plan import ERROR_SHARE, Split

_LEAST_SHARE: Final = Fraction(1, 10**200)
"""What is asked for, over Chernoff's bound on sums without a jump, below which no line is tried."""


def bracket(law: ContinuousLaw, cut: Split, n: int, *, rigour: Rigour, error: float, bits: int) -> Bracket:
    """H(n) of the law that was meant, jumps told apart.

    - ``n``: number of users, at least 1.
    - ``error``: the error to aim at, of H(n), above 0.
    """
    base = _without(cut.calm, n, rigour=rigour, error=error, bits=bits)
    lower, upper = base.lower, base.upper
    terms = 0
    with working_precision(bits + max(n.bit_length(), 8)):
        for pieces in jump_plan.bins(cut, n, error):
            low, high = _one_jump(cut.calm, pieces, n, error=ERROR_SHARE * error)
            lower += max(Ball.from_arb(low, bits).lower, Fraction(0))
            upper += Ball.from_arb(high, bits).upper
            terms += 1
        upper += Ball.from_arb(_several(cut, n), bits).upper
    below, above = law.missing
    known = Rigour.FLOAT64 if base.rigour is Rigour.FLOAT64 else Rigour.BALL
    how = (
        f"sums by their number of jumps, {terms} bins of jumps in balls; without a jump: {base.how}; "
        f"tails cut at {float(below + above):.1e}"
    )
    return Bracket(max(lower - below, Fraction(0)), upper + above, known, "bromwich", how)


def _without(calm: ContinuousLaw, n: int, *, rigour: Rigour, error: float, bits: int) -> Bracket:
    """What sums without a jump add to H(n)."""
    tilt = bromwich_plan.rough(calm)
    positive = float(tilt.values.max()) > 0
    c = saddle.saddle_point(tilt, n) if positive else 1.0 / float(np.abs(tilt.values).max())
    with working_precision(bits):
        slope = to_arb(Fraction(c))
        size = gauss.roughly(calm, slope) ** n / (flint.arb(1).exp() * slope * n)
        most = Ball.from_arb(size, bits).upper
    if most < Fraction(ERROR_SHARE * error):
        return Bracket(Fraction(0), most, Rigour.BALL, "none", "next to nothing (Chernoff's bound)")
    share = Fraction(error) / most
    if share < _LEAST_SHARE:
        raise Unsupported("sums without a jump exceed what is asked for by more digits than any line resolves")
    rel = min(0.5, float(share))
    return Bromwich(rel, rigour, bits=bits).bracket(replace(calm, missing=(Fraction(0), Fraction(0))), n)


def _one_jump(calm: ContinuousLaw, pieces: tuple[Piece, ...], n: int, *, error: float) -> tuple[flint.arb, flint.arb]:
    """Bounds on what sums with one jump, in one bin, add to H(n)."""
    jump = _alone(pieces)
    plan = jump_plan.plan_for(jump_plan.atoms_of(calm.pieces, calm.zero), jump_plan.atoms_of(pieces), n, error)
    c = to_arb(Fraction(plan.c))
    size = gauss.roughly(calm, c) ** (n - 1) * gauss.roughly(jump, c)
    most = (size / (flint.arb(1).exp() * c)).upper()
    if most < to_arb(Fraction(error)):
        return flint.arb(0), flint.arb(most)
    return JumpLine.of(calm, jump, n, plan).bounds()


def _several(cut: Split, n: int) -> flint.arb:
    """A bound on what sums of two jumps or more add to H(n)."""
    mass = gauss.roughly(_alone(cut.jumps), flint.arb(0)).upper()
    top = flint.arb(0)
    for piece in cut.jumps:
        top = top.max(gauss.range_of(piece)[1])
    atoms = jump_plan.atoms_of(cut.calm.pieces, cut.calm.zero)
    slopes = np.geomspace(1e-3, 1e3, 60) / max(float(np.abs(atoms[0]).max()), 1.0)
    slope = to_arb(Fraction(float(slopes[int(np.argmin(jump_plan.logs(atoms, slopes) - np.log(slopes)))])))
    calm = gauss.roughly(cut.calm, slope) / (flint.arb(1).exp() * slope)
    found = (n - 1) * mass**2 * top + math.comb(n - 1, 2) * mass**2 * calm
    return flint.arb(found.upper())


def _alone(pieces: tuple[Piece, ...]) -> ContinuousLaw:
    """Jumps as a law whose mass is theirs."""
    return ContinuousLaw(pieces, Ball.from_arb(flint.arb(0)))


__all__ = ["bracket"]
