r"""Bromwich's integral for laws with a density: no smoothing, so that the width does not depend on the number of nodes.

With M the moment generating function of G and :math:`p_0` the probability of :math:`G=0`,

.. math:: E[S_+]=\frac1{2\pi i}\int_{\Re s=c}\frac{M(s)^n-p_0^n}{s^2}\,ds,\qquad S=G_1+\dots+G_n,

since sums whose terms are all 0 add nothing. A density makes the integrand fall quickly, and the trapezoid rule of step
:math:`2\pi/X` errs by the aliases :math:`\sum_{m\ne0}e^{-cmX}E[(S+mX)_+;\text{not all }0]` alone. They are not
negative, so that the sum is an upper bound as it stands; the lower side subtracts

- for m > 0: :math:`e^{-cmX}(E[S_+]+mX)`;
- for m < 0: :math:`e^{c|m|X}E[(S-|m|X)_+]\le e^{-(\theta-c)|m|X}M(\theta)^n/(e\theta)` with any :math:`\theta>c`.

*Few terms.* A sum in which only one term is not 0 has a transform that falls no faster than that of G. Where that
counts such sums are taken out: the same identity holds on the event of at least two terms that are not 0,

.. math:: E[S_+]=n\,p_0^{n-1}E[G_+]+\frac1{2\pi i}\int_{\Re s=c}\frac{M(s)^n-p_0^n-n\,p_0^{n-1}(M(s)-p_0)}{s^2}\,ds,

with the first term by a certified integral; the aliases are those of that event, no larger than those of all.

Beyond the last node evaluated a coarse rule (:mod:`symshuffle.engines.densities.covers`) bounds the integrand on
stretches, and from some height on the bound of :func:`symshuffle.engines.densities.heights.far` holds at all heights.

A law with a transform in closed form (:class:`symshuffle.channels.continuous_law.PieceTransform`) needs no rule:
the sum is then one of balls at whatever rigour, and a bound at all heights comes with it; on stretches
:math:`|M(c+it)|\le|M(c+it_0)|+|t-t_0|\,E[(G-\mu)^2e^{cG}]^{1/2}M(c)^{1/2}`.

Evidence. *Proved*, in balls: aliases, the stretches and heights beyond the last node, the error of the Gauss rule, and
with ``rigour=BALL`` the sum over the nodes too. *Proved under an assumption*, the sum in doubles: that additions,
products and quotients of doubles are rounded to nearest, and that NumPy's exponential of an imaginary number is off by
at most four units in the last place in either part, and so are its absolute values and real powers. Sums and powers are
formed here, in an order that is known: no promise of BLAS, of ``ndarray.sum`` or of a library power is needed for them.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import final

import flint

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousLaw
from symshuffle.engines.densities import gauss
from symshuffle.engines.densities.bromwich_line import BromwichLine
from symshuffle.engines.densities.bromwich_plan import bits_enough, plan_for


@final
@dataclass(frozen=True, slots=True)
class Bromwich:
    """Bromwich's integral, in balls or with the sum in doubles.

    Parameters
    ----------
    rel : float
        Relative width to aim at, in (0, 1).
    rigour : {Rigour.BALL, Rigour.FLOAT64}
        Whether the sum over nodes is done in balls or in doubles with a running bound on its rounding errors.
    bits : int
        Working precision of the balls.
    whole : bool
        Whether the masses of the law are known to have the sum 1: it is not computed again then.
    """

    rel: float = 1e-12
    rigour: Rigour = Rigour.BALL
    bits: int = 160
    whole: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.rel < 1:
            raise InputError("rel", self.rel, "a relative width in (0, 1)")
        if self.rigour is Rigour.EXACT:
            raise InputError("rigour", self.rigour.value, "ball or float64: a density has no exact sums")

    @property
    def name(self) -> str:
        """Name of the engine."""
        return "bromwich"

    def bracket(self, law: ContinuousLaw, n: int) -> Bracket:
        """A bracket around H(n) of the law that was meant: what was cut off its tails is added to both ends.

        Raises
        ------
        Unsupported
            If the width asked for takes too many nodes.
        NotDecided
            If a bound could not be evaluated at this precision.
        """
        with working_precision(self.bits + max(n.bit_length(), 8)):
            plan, seen = plan_for(law, n, self.rel)
            # Balls cost as little where the transform is known; otherwise doubles, where they resolve the width.
            doubles = self.rigour is Rigour.FLOAT64 and plan.in_doubles and seen.transform is None
            line = BromwichLine.of(seen, n, plan, doubles=doubles)
            total, allowance = line.sum_in_doubles() if doubles else line.sum_in_balls()
            rest = line.rest() + allowance
            weight = line.step / flint.arb.pi()
            upper = total * weight + rest + line.alone
            lower = total * weight - rest - line.aliases(total * weight + rest) + line.alone
            scale = line.log_scale.exp() / n
            high, low = Ball.from_arb(upper * scale).upper, Ball.from_arb(lower * scale).lower
            if seen is not law:
                with working_precision(min(flint.ctx.prec, bits_enough(n, c=1.0, small=plan.small / plan.size))):
                    others = flint.arb(1) if self.whole else gauss.expectation(law, flint.arb(0)) ** (n - 1)
                    mean = Ball.from_arb(gauss.expectation(law, flint.arb(0), 1) * others, self.bits)
                low, high = low + mean.lower, high + mean.upper
        below, above = law.missing
        how = (
            f"Bromwich integral at c = {plan.c if seen is law else -plan.c:.4g}, {line.nodes + 1} nodes of step "
            f"{plan.step:.4g}, {line.transform}, tails cut at {float(below + above):.1e}"
        )
        known = Rigour.FLOAT64 if doubles else Rigour.BALL
        return Bracket(max(low - below, Fraction(0)), high + above, known, self.name, how)
