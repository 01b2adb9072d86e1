r"""Laws of G with a long upper tail: sums are split by how many of their terms are jumps.

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
- *One*, in a bin: a line of its own (:class:`JumpLine`); or, likewise, between 0 and
  :math:`\Phi(\theta)/(e\theta)`.
- *Two or more.* :math:`S_+\le\sum_iG_i^+`, and each i has the same share, so that
  :math:`\tfrac1nE[S_+;\ge2]\le E[G_1^+;\ge2]`. If :math:`G_1` is a jump, one of the n - 1 others is one; if not, two
  are. With p the mass of the jumps, a union bound over which ones gives

  .. math:: \tfrac1nE[S_+;\ge2]\le(n-1)\,p\cdot p\,(\sup G)_++\binom{n-1}2p^2\,E[G^+;\text{no jump}],\qquad
     E[G^+;\text{no jump}]\le\frac{M_0(\theta)}{e\theta}.

Evidence: *proved*, in balls, for every threshold, bin, slope :math:`\theta>0`, line, step, last node and height: those
are choices, most of them made in :mod:`symshuffle.engines.densities.jump_plan`. What
:mod:`symshuffle.engines.densities.bromwich` assumes of doubles is assumed of the sums without a jump alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import final

import flint
import numpy as np

from symshuffle.base.choices import Arithmetic
from symshuffle.base.doubles import Array
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.contours import saddle
from symshuffle.engines.densities import bromwich_plan, gauss, jump_plan
from symshuffle.engines.densities.beyond import aliases, cell_shifts, coarse, far, height_for, on_line, over
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.engines.densities.bromwich_plan import BromwichPlan, atoms_of
from symshuffle.engines.densities.exponential_sums import exponential_sums
from symshuffle.engines.densities.jump_plan import ERROR_SHARE


@final
@dataclass(frozen=True, slots=True)
class JumpLine:
    r"""The transform of sums with exactly one jump on its line, relative to ``scale``, which is Phi(c) by the rules.

    With :math:`M_0` the transform of G without its jumps and J that of some jumps (both of masses below 1),

    .. math:: \Phi(s)=M_0(s)^{n-1}J(s),\qquad
       g(x)=E\bigl[(x+G_1+\dots+G_n)_+;\ G_1\text{ one of these jumps, no other term a jump}\bigr]
           =\frac1{2\pi i}\int_{\Re s=c}\frac{e^{sx}\Phi(s)}{s^2}\,ds ,

    and g(0) is wanted. By Poisson's formula the trapezoid sum of step :math:`h=2\pi/X` is
    :math:`\sum_me^{-cmX}g(mX)`, so that it is g(0) plus aliases, none of which is negative:

    - *m > 0*: :math:`x\mapsto x_+` is 1-Lipschitz, so :math:`g(mX)\le g(0)+mX\,\Phi(0)`, and with
      :math:`q=e^{-cX}` all of them are at most :math:`g(0)\frac q{1-q}+X\Phi(0)\frac q{(1-q)^2}`;
    - *m < 0*: :math:`x_+\le e^{\theta x}/(e\theta)` gives :math:`g(-|m|X)\le e^{-\theta|m|X}\Phi(\theta)/(e\theta)`,
      and with :math:`r=e^{-(\theta-c)X}`, :math:`\theta>c`, all of them are at most
      :math:`\frac r{1-r}\Phi(\theta)/(e\theta)`.

    *The Gauss rules.* Both transforms are known as sums :math:`\hat M,\hat J` that err by at most
    :math:`a\,\hat M(c)` and :math:`b\,\hat J(c)` at c + it up to the last node; all is kept relative to
    :math:`\hat\Phi=\hat M(c)^{n-1}\hat J(c)`, which is *not* :math:`\Phi(c)`: what bounds a share of
    :math:`\Phi(c)` is multiplied by :math:`\Phi(c)/\hat\Phi`.

    *Nodes that are not evaluated*, up to the height from which all is bounded at once, lie on stretches of middle
    :math:`t_0` and half length :math:`\delta`. With :math:`\hat w` the weights of the rule relative to
    :math:`\hat M(c)`, which sum to 1, :math:`|\frac d{dt}e^{-i\mu t}\hat M(c+it)|/\hat M(c)\le\sum\hat w|G-\mu|
    \le(\sum\hat w(G-\mu)^2)^{1/2}=\sigma`, hence

    .. math:: \frac{|M_0(c+it)|}{\hat M(c)}\le\min\Bigl(1,\;\frac{|\hat M(c+it_0)|}{\hat M(c)}+\delta\sigma\Bigr)+a,
       \qquad\frac{|J(c+it)|}{\hat J(c)}\le1+b .

    *From that height on* :func:`symshuffle.engines.densities.beyond.far` bounds both factors, and
    :math:`\sum_{j>N}h/(jh)^2\le1/(Nh)`.

    - ``tilted``: weights of the rules at c, relative to ``totals``.
    - ``zero``: the mass at 0, relative to the first total.
    - ``scale``: the number that all others are relative to.
    - ``far``: bound on the modulus of Phi from ``height`` on.
    - ``cover``: A coarse rule of the first law, for what is beyond; None where the fine one serves.
    """

    calm: ContinuousLaw
    jump: ContinuousLaw
    n: int
    plan: BromwichPlan
    c: flint.arb
    step: flint.arb
    rules: tuple[gauss.QuadratureRule, gauss.QuadratureRule]
    tilted: tuple[tuple[flint.arb, ...], tuple[flint.arb, ...]]
    totals: tuple[flint.arb, flint.arb]
    zero: flint.arb
    scale: flint.arb
    far: flint.arb
    height: float
    nodes: int
    cover: gauss.QuadratureRule | None = None

    @classmethod
    def of(cls, calm: ContinuousLaw, jump: ContinuousLaw, n: int, plan: BromwichPlan) -> JumpLine:
        """The line of a plan."""
        c = to_arb(Fraction(plan.c))
        step = to_arb(Fraction(plan.step))
        atom = to_arb(calm.zero).max(flint.arb(0))
        sizes = gauss.roughly(calm, c), gauss.roughly(jump, c)
        share, height = _height(calm, jump, n, plan, sizes)
        tolerance = plan.small * plan.c / 10
        end = math.ceil(height / plan.step)
        top = math.nextafter(float((step * end).upper()), math.inf)  # the last node may be beyond the height
        fine, about = float(sizes[0].mid()) * tolerance / n, float(sizes[0].mid())
        cover = coarse(calm, c, n=n, size=about, tolerance=fine, top=top)
        rule, seen = None, cover
        if seen is None:
            rule = gauss.rule(calm, c, height=top, tolerance=fine)
            seen = on_line(calm, c, rule).over(to_arb(Fraction(about)))
        nodes = min(_last(seen, n, plan, end), end)
        reach = min(top, math.nextafter(float((step * nodes).upper()), math.inf))
        rules = (
            rule or gauss.rule(calm, c, height=reach, tolerance=fine),
            gauss.rule(jump, c, height=reach, tolerance=float(sizes[1].mid()) * tolerance),
        )
        grown = [[w * (c * v).exp() for v, w in zip(r.values, r.weights, strict=True)] for r in rules]
        totals = sum(grown[0], start=atom), sum(grown[1], start=flint.arb(0))
        tilted = tuple(g / totals[0] for g in grown[0]), tuple(g / totals[1] for g in grown[1])
        scale = totals[0] ** (n - 1) * totals[1]
        far = (share * (sizes[0] / totals[0]) ** (n - 1) * (sizes[1] / totals[1])).upper()
        if cover is not None:
            cover = cover.over(totals[0] / to_arb(Fraction(about)))
        return cls(
            calm, jump, n, plan, c, step, rules, tilted, totals, atom / totals[0], scale, far, height, nodes, cover
        )

    @property
    def errors(self) -> tuple[flint.arb, flint.arb]:
        """Of the rules, relative to their sums."""
        one, other = ((r.error / total).upper() for r, total in zip(self.rules, self.totals, strict=True))
        return flint.arb(one), flint.arb(other)

    @property
    def end(self) -> int:
        """The first node at the height from which all is bounded at once, or after it."""
        return math.ceil(self.height / self.plan.step)

    def bounds(self) -> tuple[flint.arb, flint.arb]:
        """A lower and an upper bound on g(0)."""
        value, rest = self.value(), self.rest()
        upper = value + rest
        return (value - rest - self.aliases(upper)) * self.scale, upper * self.scale

    def value(self, *, max_terms: int = 200_000_000) -> flint.arb:
        """The sum over the nodes, times step/pi: balls carry the errors of the rules.

        - ``max_terms``: nodes of a line times nodes of the rules.
        """
        count = self.nodes + 1
        if count * sum(map(len, self.tilted)) > max_terms:
            raise Unsupported(f"sums with a jump take {count} nodes of many terms; ask for a larger rtol")
        with working_precision(
            min(flint.ctx.prec, bromwich_plan.bits_enough(self.n, c=self.plan.c, small=self.plan.small))
        ):
            offs = [flint.acb(flint.arb(0, e), flint.arb(0, e)) for e in self.errors]
            rows = [
                exponential_sums(r.values, w, self.step, count) for r, w in zip(self.rules, self.tilted, strict=True)
            ]
            total = flint.arb(0)
            for index, (calm, jump) in enumerate(zip(*rows, strict=True)):
                s = flint.acb(self.c, self.step * index)
                part = ((self.zero + calm + offs[0]) ** (self.n - 1) * (jump + offs[1]) / (s * s)).real
                total += part / 2 if index == 0 else part
            return total * self.step / flint.arb.pi()

    def rest(self) -> flint.arb:
        """A bound on the sum over all later nodes, times step/pi."""
        last = max(self.nodes, self.end)
        beyond = self.far / (flint.arb.pi() * self.step * last)
        return self._stretches(self.nodes + 1, last) * self.step / flint.arb.pi() + beyond

    def _stretches(self, start: int, last: int, *, bits: int = 64) -> flint.arb:
        """A bound on the sum over the nodes from ``start`` to ``last``, stretch by stretch.

        - ``bits``: precision of the bounds.
        """
        if start > last:
            return flint.arb(0)
        with working_precision(bits):
            seen, c, power = self.seen(), self.c, self.n - 1
            spread, other = seen.spread, 1 + self.errors[1]

            def bound(middle: flint.acb, radius: flint.arb, left: flint.arb) -> flint.arb:
                size = (abs(middle) + radius * spread).upper().min(flint.arb(1)) + seen.error
                return flint.arb((size**power * other / (c**2 + left**2)).upper())

            terms, small = max(len(seen.values), 1), self.plan.small
            return over(seen.along, bound, step=self.step, start=start, last=last, allowed=small, terms=terms)

    def seen(self) -> gauss.QuadratureRule:
        """What bounds the calm factor on stretches: a coarse rule, or the fine one."""
        if self.cover is not None:
            return self.cover
        return gauss.QuadratureRule(self.rules[0].values, self.tilted[0], self.zero, self.errors[0])

    def aliases(self, value: flint.arb) -> flint.arb:
        """A bound on the aliases, relative to ``scale``; ``value`` bounds g(0), relative to it, from above."""
        theta = to_arb(Fraction(self.plan.slope))
        still, steep = (self._whole(slope) / self.scale for slope in (flint.arb(0), theta))
        return aliases(value, c=self.c, theta=theta, step=self.step, still=still, steep=steep)

    def _whole(self, slope: flint.arb) -> flint.arb:
        """Phi at a real argument, by certified integrals."""
        return gauss.roughly(self.calm, slope) ** (self.n - 1) * gauss.roughly(self.jump, slope)


def _last(seen: gauss.QuadratureRule, n: int, plan: BromwichPlan, end: int) -> int:
    """The last node worth evaluating, at most ``end``: a choice."""
    (values, weights), zero = seen.in_doubles, float(seen.zero.mid())

    def size(t: Array) -> Array:
        found: Array = np.abs(zero + np.exp(1j * np.outer(t, values)) @ weights) ** (n - 1)
        return found

    return bromwich_plan.quiet_from(size, step=plan.step, c=plan.c, small=plan.small, end=end)


def _height(
    calm: ContinuousLaw, jump: ContinuousLaw, n: int, plan: BromwichPlan, sizes: tuple[flint.arb, flint.arb]
) -> tuple[flint.arb, float]:
    """A bound on |Phi|, relative to the true Phi(c), from a height on from which the rest is small enough."""
    c, atom = to_arb(Fraction(plan.c)), to_arb(calm.zero).max(flint.arb(0))
    known = cell_shifts(calm, c), cell_shifts(jump, c)

    def seen(height: float) -> flint.arb | None:
        enough = flint.arb.pi() * to_arb(Fraction(height))
        still = ((atom + far(known[0], sizes[0] - atom, height)) / sizes[0]).upper().min(flint.arb(1))
        bound = flint.arb(still) ** (n - 1)
        if not bound / enough < plan.small:
            bound *= (far(known[1], sizes[1], height) / sizes[1]).upper().min(flint.arb(1))
        return flint.arb(bound.upper()) if bound / enough < plan.small else None

    return height_for(plan.far, n, seen)


def bracket(
    law: ContinuousLaw,
    cut: tuple[ContinuousLaw, tuple[Piece, ...]],
    n: int,
    *,
    arithmetic: Arithmetic,
    error: float,
    bits: int,
) -> Bracket:
    """H(n) of the law that was meant, from its part without jumps and its jumps."""
    calm, jumps = cut
    base = _without(calm, n, arithmetic=arithmetic, error=error, bits=bits)
    lower, upper = base.lower, base.upper
    terms = 0
    with working_precision(bits + max(n.bit_length(), 8)):
        for pieces in jump_plan.bins(calm, jumps, n, error):
            low, high = _one_jump(calm, pieces, n, error=ERROR_SHARE * error)
            lower += max(Ball.from_arb(low, bits).lower, Fraction(0))
            upper += Ball.from_arb(high, bits).upper
            terms += 1
        upper += Ball.from_arb(_several(calm, jumps, n), bits).upper
    below, above = law.missing
    known: Arithmetic = "float64" if base.arithmetic == "float64" else "ball"
    evaluation = (
        f"sums by their number of jumps, {terms} bins of jumps in balls; without a jump: {base.evaluation}; "
        f"tails cut at {float(below + above):.1e}"
    )
    return Bracket(max(lower - below, Fraction(0)), upper + above, known, "bromwich", evaluation)


def _without(
    calm: ContinuousLaw,
    n: int,
    *,
    arithmetic: Arithmetic,
    error: float,
    bits: int,
    least_share: Fraction = Fraction(1, 10**200),
) -> Bracket:
    """What sums without a jump add to H(n).

    - ``least_share``: what is asked for, over Chernoff's bound, below which no line is tried.
    """
    tilt = bromwich_plan.rough(calm)
    positive = float(tilt.values.max()) > 0
    c = saddle.saddle_point(tilt, n) if positive else 1.0 / float(np.abs(tilt.values).max())
    with working_precision(bits):
        slope = to_arb(Fraction(c))
        size = gauss.roughly(calm, slope) ** n / (flint.arb(1).exp() * slope * n)
        most = Ball.from_arb(size, bits).upper
    if most < Fraction(ERROR_SHARE * error):
        return Bracket(Fraction(0), most, "ball", "none", "next to nothing (Chernoff's bound)")
    share = Fraction(error) / most
    if share < least_share:
        raise Unsupported("sums without a jump exceed what is asked for by more digits than any line resolves")
    rtol = min(0.5, float(share))
    return bromwich_bracket(replace(calm, missing=(Fraction(0), Fraction(0))), n, rtol, arithmetic, bits=bits)


def _one_jump(calm: ContinuousLaw, pieces: tuple[Piece, ...], n: int, *, error: float) -> tuple[flint.arb, flint.arb]:
    """Bounds on what sums with one jump, in one bin, add to H(n)."""
    jump = _alone(pieces)
    plan = jump_plan.jump_plan_for(atoms_of(calm.pieces, calm.zero), atoms_of(pieces), n, error)
    c = to_arb(Fraction(plan.c))
    size = gauss.roughly(calm, c) ** (n - 1) * gauss.roughly(jump, c)
    most = (size / (flint.arb(1).exp() * c)).upper()
    if most < to_arb(Fraction(error)):
        return flint.arb(0), flint.arb(most)
    return JumpLine.of(calm, jump, n, plan).bounds()


def _several(calm: ContinuousLaw, jumps: tuple[Piece, ...], n: int) -> flint.arb:
    """A bound on what sums of two jumps or more add to H(n)."""
    mass = gauss.roughly(_alone(jumps), flint.arb(0)).upper()
    top = flint.arb(0)
    for piece in jumps:
        top = top.max(gauss.range_of(piece)[1])
    atoms = atoms_of(calm.pieces, calm.zero)
    slopes = np.geomspace(1e-3, 1e3, 60) / max(float(np.abs(atoms[0]).max()), 1.0)
    slope = to_arb(Fraction(float(slopes[int(np.argmin(jump_plan.logs(atoms, slopes) - np.log(slopes)))])))
    mean = gauss.roughly(calm, slope) / (flint.arb(1).exp() * slope)
    found = (n - 1) * mass**2 * top + math.comb(n - 1, 2) * mass**2 * mean
    return flint.arb(found.upper())


def _alone(pieces: tuple[Piece, ...]) -> ContinuousLaw:
    """Jumps as a law whose mass is theirs."""
    return ContinuousLaw(pieces, Ball.from_arb(flint.arb(0)))
