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

Beyond the last node evaluated :mod:`symshuffle.engines.densities.beyond` bounds the integrand on stretches under a
coarse rule, and from some height on at all heights.

A law with a transform in closed form (:class:`symshuffle.channels.continuous_law.ContinuousLaw`) needs no rule:
the sum is then one of balls at whatever arithmetic, and a bound at all heights comes with it; on stretches
:math:`|M(c+it)|\le|M(c+it_0)|+|t-t_0|\,E[(G-\mu)^2e^{cG}]^{1/2}M(c)^{1/2}`.

Evidence. *Proved*, in balls: aliases, the stretches and heights beyond the last node, the error of the Gauss rule, and
with ``arithmetic=BALL`` the sum over the nodes too. *Proved under an assumption*, the sum in doubles: that additions,
products and quotients of doubles are rounded to nearest, and that NumPy's exponential of an imaginary number is off by
at most four units in the last place in either part, and so are its absolute values and real powers. Sums and powers are
formed here, in an order that is known: no promise of BLAS, of ``ndarray.sum`` or of a library power is needed for them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TypeAlias, final

import flint
import numpy as np

from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic
from symshuffle.base.doubles import UNIT, Array, Complexes, integer_power
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, as_width, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousLaw
from symshuffle.engines.densities import gauss
from symshuffle.engines.densities.beyond import aliases, cell_shifts, coarse, far, height_for, over
from symshuffle.engines.densities.bromwich_plan import MOST_NODES, BromwichPlan, bits_enough, last_node, plan_for
from symshuffle.engines.densities.exponential_sums import exponential_sums

_Values: TypeAlias = Callable[[flint.arb, flint.arb, int], list[flint.acb]]


@final
@dataclass(frozen=True, slots=True)
class BromwichLine:
    """The integrand on the line at c; ``M(c)^n`` by the Gauss rule is taken out as ``exp(log_scale)``.

    It is the transform of sums of at least ``least`` terms that are not 0 (1 or 2); ``alone`` is what the others add.
    """

    law: ContinuousLaw
    n: int
    plan: BromwichPlan
    c: flint.arb
    step: flint.arb
    rule: gauss.QuadratureRule
    tilted: tuple[flint.arb, ...]
    zero: flint.arb
    total: flint.arb
    log_scale: flint.arb
    error: flint.arb
    beyond: tuple[flint.arb, float]
    nodes: int
    least: int
    alone: flint.arb
    cover: gauss.QuadratureRule | None = None

    @classmethod
    def of(
        cls, law: ContinuousLaw, n: int, plan: BromwichPlan, *, doubles: bool = False, max_terms: int = 4_000_000
    ) -> BromwichLine:
        """The line of this plan, with as many nodes as its width takes.

        - ``max_terms``: nodes of the line times nodes of the rule that doubles take rather than a bound on an interval
          of the line.
        """
        c = to_arb(Fraction(plan.c))
        step = to_arb(Fraction(plan.step))
        atom = to_arb(law.zero).max(flint.arb(0))
        size = _moment(law, c, n)
        least = 2 if _worth(n, atom / size, plan) else 1
        beyond, height = _height(law, n, plan, c, size, atom, least)
        last = math.ceil(height / plan.step)
        rule, cover, nodes = gauss.QuadratureRule((), (), flint.arb(0), flint.arb(0)), None, last
        if law.transform is None:
            top = max(height, math.nextafter(plan.step * last, math.inf))  # the last node may be beyond the height
            fine = plan.tolerance(float(size.mid()), n)
            cover = coarse(law, c, n=n, size=float(size.mid()), tolerance=fine, top=top)
            if cover is not None:
                nodes = min(last_node(*cover.in_doubles, float(cover.zero.mid()), n, plan, height, least), last)
                top = min(top, math.nextafter(plan.step * nodes, math.inf))
            rule = gauss.rule(law, c, height=top, tolerance=fine)
        grown = [w * (c * v).exp() for v, w in zip(rule.values, rule.weights, strict=True)]
        total = sum(grown, start=atom) if law.transform is None else size
        tilted = tuple(g / total for g in grown)
        error = (rule.error / total).upper()
        log_scale, zero = n * total.log(), atom / total
        alone = n * zero ** (n - 1) * law.positive_mean / total if least > 1 else flint.arb(0)
        if cover is not None:
            cover = cover.over(total / to_arb(Fraction(float(size.mid()))))
        elif law.transform is None and not (doubles and last * len(rule.values) < max_terms):
            nodes = last_node(
                gauss.middles(rule.values), gauss.middles(tilted), float(zero.mid()), n, plan, height, least
            )
            nodes = min(nodes, last)
        if nodes > MOST_NODES:
            raise Unsupported(f"the integrand has not fallen after {MOST_NODES} nodes; ask for a larger rtol")
        scales = zero, total, log_scale, error
        return cls(law, n, plan, c, step, rule, tilted, *scales, (beyond, height), nodes, least, alone, cover)

    @property
    def single(self) -> flint.arb:
        """What the share of the pieces is multiplied with where sums of one term are taken out."""
        return self.n * self.zero ** (self.n - 1) if self.least > 1 else flint.arb(0)

    @property
    def transform(self) -> str:
        """Where the transform comes from, in words."""
        known = self.law.transform is not None
        return "transform in closed form" if known else f"{len(self.rule.values)} Gauss nodes"

    def ratios(self, count: int) -> list[flint.acb]:
        """:meth:`ratio` at the nodes before the one of this number."""
        if self.law.transform is not None:
            return [self.ratio(self.step * index) for index in range(count)]
        off = flint.acb(flint.arb(0, self.error), flint.arb(0, self.error))
        return [self.zero + wave + off for wave in exponential_sums(self.rule.values, self.tilted, self.step, count)]

    def ratio(self, t: flint.arb) -> flint.acb:
        """``M(c + it)/M(c)``, M(c) being the sum of the rule."""
        if self.law.transform is not None:
            return self.law.transform(flint.acb(self.c, t)) / self.total + self.zero
        return replace(self, step=t).ratios(2)[1]

    def sum_in_balls(self, *, max_terms: int = 2_000_000_000) -> tuple[flint.arb, flint.arb]:
        """The sum over nodes before the factor step/pi, and no allowance: the balls carry it.

        - ``max_terms``: nodes of the line times nodes of the rule, beyond which the sum is refused.
        """
        if self.nodes * len(self.tilted) > max_terms:
            cost = f"{self.nodes} nodes of {len(self.tilted)} terms are above the limit of {max_terms} terms"
            raise Unsupported(
                f"engine bromwich in balls at n = {self.n}: {cost}; ask for a larger rtol, or for doubles"
            )
        # What is cut off the tails takes many bits to tell from 0; a sum of numbers up to 1 takes few.
        with working_precision(min(flint.ctx.prec, bits_enough(self.n, c=self.plan.c, small=self.plan.small))):
            still, single = self.zero**self.n, self.single
            total = flint.arb(0)
            for index, ratio in enumerate(self.ratios(self.nodes + 1)):
                s = flint.acb(self.c, self.step * index)
                part = ((ratio**self.n - still - single * (ratio - self.zero)) / (s * s)).real
                total += part / 2 if index == 0 else part
            return total, flint.arb(0)

    def sum_in_doubles(self, *, max_terms: int = 2**20, tiny: float = 1e-290) -> tuple[flint.arb, flint.arb]:
        """The sum over nodes in doubles, and an allowance for rounding and for the error of the rule.

        - ``max_terms``: terms that are in memory at once.
        - ``tiny``: more than all underflows of a power together.
        """
        values, weights = gauss.middles(self.rule.values), gauss.middles(self.tilted)
        cost.add(2 * self.nodes * len(values))
        zero, n, plan = float(self.zero.mid()), self.n, self.plan
        drift = float(weights @ np.abs(values))
        known = self.zero**n
        still = float(known.mid())
        spoilt_still = float(abs(known - to_arb(Fraction(still))).upper()) + tiny
        single = float(self.single.mid())
        spoilt_single = float(abs(self.single - to_arb(Fraction(single))).upper()) + (tiny if single else 0.0)
        per_sum = 12 + math.ceil(math.log2(len(values) + 1))
        # Balls may be wider than a rounding: a law may be given so.
        wide = float(_off((self.zero, *self.tilted), (zero, *weights)).sum()) + float(self.error.upper())
        turned = float((weights + wide) @ _off(self.rule.values, values))
        sums: list[float] = []
        noise = 0.0
        block = min(512, max(1, max_terms // max(len(values), 1)))
        for first in range(0, self.nodes + 1, block):
            index = np.arange(first, min(first + block, self.nodes + 1))
            t = plan.step * index
            waves: Complexes = np.exp(1j * np.outer(values, t))
            share = _halved(waves * weights[:, None])
            ratio = zero + share
            error = UNIT * (4 * t * drift + per_sum) + wide + t * turned
            power = integer_power(ratio, n) - single * share
            # Re(z/s^2) in real numbers: |Re z (c^2 - t^2)| + |Im z 2ct| is at most |z||s|^2.
            length = plan.c * plan.c + t * t
            real = (power.real - still) * ((plan.c - t) * (plan.c + t)) + power.imag * (2 * plan.c * t)
            sums.extend(real / (length * length) * np.where(index == 0, 0.5, 1.0))
            size = (np.abs(ratio) + error) * (1 + 32 * UNIT)
            whole = size**n
            lone = np.abs(share) + error
            spoilt = n * error * size ** (n - 1) + 4 * n * UNIT * whole + 16 * UNIT * (whole + still) + spoilt_still
            spoilt += single * (error + 16 * UNIT * lone) + spoilt_single * lone
            noise += float((spoilt / length).sum())
        total = math.fsum(sums)
        # The step of the plan is a double; the product t is rounded, and so are the values: 3 round-offs of the drift.
        allowance = to_arb(Fraction(1.01 * noise + 4 * UNIT * abs(total)))
        return to_arb(Fraction(total)), allowance * self.step / flint.arb.pi()

    def rest(self) -> flint.arb:
        """Bound on the sum over all nodes after the last one evaluated, with the factor step/pi."""
        bound, height = self.beyond
        last = max(self.nodes, math.floor(height / self.plan.step))
        weight = self.step / flint.arb.pi()
        total = weight * self._stretches(self.nodes + 1, last)
        reached = self.step * max(last, 1)
        share = (bound / self.total).upper()
        power = _several(self.n, self.least, self.zero, share)
        return total + power / (flint.arb.pi() * reached)

    def _stretches(self, start: int, last: int, *, bits: int = 64) -> flint.arb:
        """Bound on the sum over the nodes from ``start`` to ``last``, stretch by stretch.

        - ``bits``: precision of the bounds.
        """
        if start > last:
            return flint.arb(0)
        with working_precision(bits):
            most = 1 + self.error  # of M(c), which may be more than the sum of the rule
            still, single, c = self.zero**self.n, self.single, self.c
            values, spread, error = self.seen()

            def bound(middle: flint.acb, radius: flint.arb, left: flint.arb) -> flint.arb:
                reach = radius * spread + error
                size = (abs(middle) + reach).upper().min(most)
                moved = (abs(middle - self.zero) + reach).upper()
                direct = size**self.n + still + single * moved
                part: flint.arb = direct.min(_several(self.n, self.least, self.zero, moved)).upper() / (c**2 + left**2)
                return flint.arb(part.upper())

            terms = max(len(self.tilted if self.cover is None else self.cover.values), 1)
            return over(values, bound, step=self.step, start=start, last=last, allowed=self.plan.small, terms=terms)

    def seen(self) -> tuple[_Values, flint.arb, flint.arb]:
        """What knows the transform beyond the last node, how fast that moves with the height, and its error."""
        if self.law.transform is None:
            cover = self.cover or gauss.QuadratureRule(self.rule.values, self.tilted, self.zero, self.error)
            return cover.along, cover.spread, cover.error
        mean = (gauss.expectation(self.law, self.c, 1) / self.total).mid()
        spread = (gauss.expectation(self.law, self.c, 2, mean) / self.total).upper().sqrt()

        def along(first: flint.arb, distance: flint.arb, count: int) -> list[flint.acb]:
            return [self.ratio(first + distance * index) for index in range(count)]

        return along, flint.arb(spread), flint.arb(0)

    def aliases(self, value: flint.arb) -> flint.arb:
        """Bound on the aliases, relative to ``exp(log_scale)``; ``value`` bounds the sum itself."""
        theta = to_arb(Fraction(self.plan.slope))
        steep = (self.n * _moment(self.law, theta, self.n).log() - self.log_scale).exp()
        still = (-self.log_scale).exp()
        return aliases(value, c=self.c, theta=theta, step=self.step, still=still, steep=steep)


def _moment(law: ContinuousLaw, slope: flint.arb, n: int) -> flint.arb:
    """``E exp(slope G)``, of which the n-th power is a bound."""
    if law.transform is None:
        return gauss.roughly(law, slope, power=n)
    return to_arb(law.zero) + law.transform(flint.acb(slope)).real


def _worth(n: int, zero: flint.arb, plan: BromwichPlan) -> bool:
    """Whether to take sums of one term out: a choice, where they are not negligible by their probability alone."""
    return n > 1 and bool(n * zero ** (n - 1) > plan.small)


def _several(n: int, least: int, zero: flint.arb, share: flint.arb) -> flint.arb:
    r"""Bound on the terms of :math:`(p+z)^n` of degree at least 1 or 2 in z, for p up to ``zero``, |z| up to ``share``.

    :math:`\binom nk\le\binom nj\binom{n-j}{k-j}` makes it :math:`\binom nj|z|^j(p+|z|)^{n-j}`.
    """
    return math.comb(n, least) * share**least * (zero + share) ** (n - least)


def _halved(terms: Complexes) -> Complexes:
    """The sum along the first axis, half to half: each term goes through as many additions as m has binary digits."""
    while len(terms) > 1:
        half = len(terms) // 2
        left = terms[2 * half :]
        terms = terms[:half] + terms[half : 2 * half]
        terms = np.concatenate([terms, left]) if len(left) else terms
    total: Complexes = terms[0] if len(terms) else np.zeros(terms.shape[1:], dtype=np.complex128)
    return total


def _off(numbers: tuple[flint.arb, ...], doubles: Iterable[float]) -> Array:
    """Bounds on how far balls reach from their doubles, each a little larger."""
    parts = (abs(x - to_arb(Fraction(float(y)))).upper() for x, y in zip(numbers, doubles, strict=True))
    return np.array([float(part) for part in parts]) * (1 + 2.0**-30)


def _height(
    law: ContinuousLaw, n: int, plan: BromwichPlan, c: flint.arb, size: flint.arb, atom: flint.arb, least: int
) -> tuple[flint.arb, float]:
    """The bound on the share of the pieces from a height on from which the rest is small enough, and that height."""
    bound_at = law.transform_bound
    known = cell_shifts(law, c) if bound_at is None else ()

    def seen(height: float) -> flint.arb | None:
        top = to_arb(Fraction(height))
        bound = far(known, size - atom, height) if bound_at is None else bound_at(c, top).upper()
        rest = _several(n, least, atom / size, bound / size) / (flint.arb.pi() * top)
        return flint.arb(bound) if rest < plan.small else None

    return height_for(plan.far, n, seen)


def bromwich_bracket(
    law: ContinuousLaw,
    n: int,
    rtol: float = 1e-12,
    arithmetic: Arithmetic = "ball",
    *,
    bits: int = 160,
    whole: bool = False,
    max_terms: int = 20_000_000,
) -> Bracket:
    """A bracket around H(n) of the law that was meant: what was cut off its tails is added to both ends.

    - ``arithmetic``: balls, or doubles for the sum.
    - ``whole``: whether the masses of the law are known to have the sum 1: it is not computed again then.
    - ``max_terms``: nodes of the line times nodes of the rule beyond which balls are quicker: there a node of the rule
      is one for many of the line.
    """
    rtol = as_width(rtol)
    if arithmetic == "exact":
        raise InputError("arithmetic", arithmetic, "ball or float64: a density has no exact sums")
    with working_precision(bits + max(n.bit_length(), 8)):
        plan, seen = plan_for(law, n, rtol)
        # Balls cost as little where the transform is known; otherwise doubles, where they resolve the width.
        doubles = arithmetic == "float64" and plan.in_doubles and seen.transform is None
        line = BromwichLine.of(seen, n, plan, doubles=doubles)
        doubles = doubles and line.nodes * len(line.tilted) <= max_terms
        beyond = line.rest()  # before the sum, which is dear: some lines are refused here
        total, allowance = line.sum_in_doubles() if doubles else line.sum_in_balls()
        rest = beyond + allowance
        weight = line.step / flint.arb.pi()
        upper = total * weight + rest + line.alone
        lower = total * weight - rest - line.aliases(total * weight + rest) + line.alone
        scale = line.log_scale.exp() / n
        high, low = Ball.from_arb(upper * scale).upper, Ball.from_arb(lower * scale).lower
        if seen is not law:
            with working_precision(min(flint.ctx.prec, bits_enough(n, c=1.0, small=plan.small / plan.size))):
                others = flint.arb(1) if whole else gauss.expectation(law, flint.arb(0)) ** (n - 1)
                mean = Ball.from_arb(gauss.expectation(law, flint.arb(0), 1) * others, bits)
            low, high = low + mean.lower, high + mean.upper
    below, above = law.missing
    evaluation = (
        f"Bromwich integral at c = {plan.c if seen is law else -plan.c:.4g}, {line.nodes + 1} nodes of step "
        f"{plan.step:.4g}, {line.transform}, tails cut at {float(below + above):.1e}"
    )
    known: Arithmetic = "float64" if doubles else "ball"
    return Bracket(max(low - below, Fraction(0)), high + above, known, "bromwich", evaluation)
