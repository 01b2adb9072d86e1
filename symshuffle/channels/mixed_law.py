r"""Laws of G with atoms and a continuous part, whose moment generating function is known with a certified error.

The continuous part consists of segments :math:`a+be^u` with density :math:`we^{-u/2}` on :math:`[0,\ell]`, the form in
which two-sided exponential noise enters. With :math:`r=e^u` the share of a segment in the moment generating function is

.. math:: M(s)=we^{sa}\int_1^{\Lambda}e^{sbr}r^{-3/2}dr
   =we^{sa}\sqrt p\,\bigl(\Gamma(-\tfrac12,p)-\Gamma(-\tfrac12,p\Lambda)\bigr),\qquad p=-sb,\;\Lambda=e^{\ell},

which complementary error functions give, since
:math:`\sqrt p\,\Gamma(-\tfrac12,p)=2e^{-p}-2\sqrt{\pi p}\operatorname{erfc}\sqrt p`.

*Near* the real line Gauss's rule turns a segment into atoms of positive weight. The error of the rule of order m on
:math:`[-1,1]` is at most :math:`8V\rho^{-2m}/(1-\rho^{-2})` for an integrand bounded by V on the ellipse with foci -1
and 1 and sum of semi-axes :math:`\rho`: its Chebyshev coefficients are at most :math:`2V\rho^{-k}`; those of order
below 2m and the odd ones cost nothing, the others at most :math:`|\int T_k|+\sum w_j|T_k(x_j)|\le4` each.

*Far* from it the closed form takes over; and integration by parts bounds the whole share by
:math:`2w\max(e^{c(a+b)},e^{c(a+b\Lambda)})/|tb|` at :math:`s=c+it`, which ends the search for places where it could
matter. On the real line, where an upper bound is enough, a finite law above in convex order gives one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, lru_cache
from typing import Any, ClassVar, Final, Literal, TypeAlias, final

import flint

from symshuffle.base.choices import Side, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    Verdict,
    equal,
    is_enclosed,
    less,
    lower_end,
    to_arb,
    upper_end,
    working_precision,
)
from symshuffle.channels.law import Law, check_atoms, collected

_ORDERS: Final = (16, 24, 32, 48, 64, 96, 128, 192)
"""SegmentNumbers of Gauss nodes to choose from."""


SegmentNumbers: TypeAlias = tuple[flint.arb, flint.arb, flint.arb, flint.arb]
"""Of a segment: the constant a, the slope b, the weight w and the length of the range of u."""


@final
@dataclass(frozen=True, slots=True)
class Segment:
    r"""A part of the law of G: the value :math:`a+be^u` with density :math:`we^{-u/2}` for u in :math:`[0,\ell]`.

    - ``constant``, ``slope``: the numbers a and b, b not 0.
    - ``weight``: the number w, positive.
    - ``span``: the length of the range of u, positive.
    """

    constant: Number
    slope: Number
    weight: Number
    span: Number

    def __post_init__(self) -> None:
        for name, number in (("weight", self.weight), ("span", self.span)):
            if less(0, number) is not Verdict.TRUE:
                raise InputError(name, number, "a positive number")
        if equal(self.slope, 0) is Verdict.TRUE:
            raise InputError("slope", self.slope, "a number other than 0 (an atom has no segment)")

    @property
    def numbers(self) -> SegmentNumbers:
        """The numbers a, b, w and the length of the range, at the working precision."""
        return to_arb(self.constant), to_arb(self.slope), to_arb(self.weight), to_arb(self.span)

    def ends(self, bits: int = DEFAULT_BITS) -> tuple[Ball, Ball]:
        """The values of G at both ends."""
        with working_precision(bits + 16):
            a, b, _, span = self.numbers
            return Ball.from_arb(a + b, bits), Ball.from_arb(a + b * span.exp(), bits)

    def finite(self, side: Side, cells: int, bits: int) -> Iterator[tuple[Number, Number]]:
        r"""Atoms from one side in convex order, by cutting the range of u into cells.

        Merging a cell into its mean lowers the law, moving its mass to the two ends with the mean kept raises it; the
        gap is of second order in the width of a cell.
        """
        with working_precision(bits + 16):
            a, b, w, span = self.numbers
            for j in range(cells):
                low, high = span * j / cells, span * (j + 1) / cells
                mass = 2 * w * ((-low / 2).exp() - (-high / 2).exp())
                # Under exp(-u/2) du the mean of exp(u) over a cell is exp of its midpoint, exactly.
                mean, ends = ((low + high) / 2).exp(), (low.exp(), high.exp())
                share = (mean - ends[0]) / (ends[1] - ends[0])
                merged = [(mean, mass)]
                spread = [(ends[0], mass * (1 - share)), (ends[1], mass * share)]
                for ratio, part in merged if side == "lower" else spread:
                    yield Ball.from_arb(a + b * ratio, bits), Ball.from_arb(part, bits)

    def nodes(self, order: int, bits: int) -> Iterator[tuple[Number, Number]]:
        """The segment as the atoms of a Gauss rule; see :func:`quadrature_error`."""
        with working_precision(bits + 16):
            a, b, w, span = self.numbers
            half = span / 2
            for root, weight in gauss(order, bits + 16):
                u = half * (1 + root)
                yield Ball.from_arb(a + b * u.exp(), bits), Ball.from_arb(w * half * weight * (-u / 2).exp(), bits)

    def moments(self, bits: int) -> tuple[Ball, Ball, Ball]:
        """Its mass, and its shares in the expectations of G and of the positive part of G."""
        bits = max([bits, *(x.bits for x in (self.constant, self.slope, self.span) if isinstance(x, Ball))])
        with working_precision(bits + 16):
            a, b, w, span = self.numbers
            end = span.exp()

            def between(low: Any, high: Any) -> Any:
                """The integral of a + b r against the density r^(-3/2), from one ratio to another."""
                return 2 * w * (a * (1 / low.sqrt() - 1 / high.sqrt()) + b * (high.sqrt() - low.sqrt()))

            one = flint.arb(1)
            root = (-a / b).max(one).min(end)
            positive = between(root, end) if b > 0 else between(one, root)
            mass = 2 * w * (1 - 1 / end.sqrt())
            return tuple(Ball.from_arb(x, bits) for x in (mass, between(one, end), positive.max(flint.arb(0))))  # type: ignore[return-value]  # three


@cache
def gauss(order: int, bits: int) -> tuple[tuple[flint.arb, flint.arb], ...]:
    """Nodes and weights of Gauss's rule on [-1, 1]."""
    with working_precision(bits):
        return tuple(flint.arb.legendre_p_root(order, k, weight=True) for k in range(order))


@final
@dataclass(frozen=True, slots=True)
class MixedLaw:
    """A law of G with atoms, segments, and the singular mass beside it."""

    kind: ClassVar[Literal["segments"]] = "segments"

    values: tuple[Number, ...]
    weights: tuple[Number, ...]
    segments: tuple[Segment, ...]
    singular: Number = Fraction(0)

    def __post_init__(self) -> None:
        check_atoms(self.values, self.weights, self.singular)
        parts = (x for s in self.segments for x in (s.constant, s.slope, s.weight, s.span))
        if not is_enclosed((*self.values, *self.weights, self.singular, *parts)):
            raise InputError("law", "doubles", "rationals and balls")
        total: Any = sum((*self.weights, *(s.moments(DEFAULT_BITS)[0] for s in self.segments)), start=Fraction(0))
        if equal(total, 1) is Verdict.FALSE:
            raise InputError("weights", f"sum {total}", "probabilities of sum 1, those of the segments included")

    @classmethod
    def mixture(cls, parts: Iterable[tuple[Fraction, MixedLaw]]) -> MixedLaw:
        """The law that is one of some laws with the given probabilities."""
        drawn = [(share, law) for share, law in parts if share != 0]
        values, weights = collected((v, share * w) for share, law in drawn for v, w in law.atoms())
        segments = (replace(s, weight=share * s.weight) for share, law in drawn for s in law.segments)
        singular: Any = sum((share * law.singular for share, law in drawn), start=Fraction(0))
        return cls(values, weights, tuple(segments), singular)

    def thinning(self, share: Fraction) -> MixedLaw:
        """The law of G over ``share`` with that probability, of 0 otherwise: as of a finite law."""
        some = ((value / share, share * weight) for value, weight in self.atoms())
        values, weights = collected([(Fraction(0), 1 - share), *some])
        segments = (
            replace(s, constant=s.constant / share, slope=s.slope / share, weight=s.weight * share)
            for s in self.segments
        )
        return MixedLaw(values, weights, tuple(segments), self.singular)

    @property
    def never_positive(self) -> bool:
        """Whether G is certainly at most 0."""
        return all(less(0, value) is Verdict.FALSE for value in self.values) and all(
            upper_end(end) <= 0 for segment in self.segments for end in segment.ends()
        )

    @property
    def enclosed(self) -> bool:
        """Whether all numbers are rational or balls: always."""
        return True

    @property
    def lattice(self) -> None:
        """No lattice holds a segment."""
        return None

    @property
    def mean(self) -> Any:
        """Expectation of G."""
        atoms: Any = sum((v * w for v, w in self.atoms()), start=Fraction(0))
        return sum((segment.moments(DEFAULT_BITS)[1] for segment in self.segments), start=atoms)

    @property
    def floor(self) -> Fraction:
        """What H(n) is not below, whatever n, beyond its singular part: 0, and E[G]."""
        return max(lower_end(self.mean), Fraction(0))

    def positive_mean(self, bits: int = DEFAULT_BITS) -> Any:
        """Expectation of the positive part of G, in closed form: with the singular mass, H(1)."""
        atoms: Any = sum((v * w for v, w in self.atoms() if less(v, 0) is not Verdict.TRUE), start=Fraction(0))
        return sum((segment.moments(bits)[2] for segment in self.segments), start=atoms)

    @property
    def ceiling(self) -> Fraction:
        """A bound on H(n) for every n: H(1), as for a finite law."""
        return upper_end(self.positive_mean() + self.singular)

    def atoms(self) -> tuple[tuple[Any, Any], ...]:
        """Pairs (value, weight) of the atoms."""
        return tuple(zip(self.values, self.weights, strict=True))

    def finite(self, side: Side, cells: int, bits: int = DEFAULT_BITS) -> Law:
        """A finite law on one side of this one in convex order; see :meth:`Segment.finite`."""
        side = choice(Side, side, "side")
        return self._with(atom for segment in self.segments for atom in segment.finite(side, cells, bits))

    def near(self, order: int, bits: int = DEFAULT_BITS) -> Law:
        """The atoms together with Gauss nodes in place of the segments: the same law as far as its transform tells."""
        return self._with(atom for segment in self.segments for atom in segment.nodes(order, bits))

    def rule(self, c: float, *, end: float, tolerance: float) -> tuple[int, float]:
        """An order of the Gauss rule, and how far up the line at c its error is below a tolerance, relative to M(c).

        The rule should reach to where integration by parts leaves the segments a third of their mass, so that all
        beyond can be bounded at once; it stops earlier where that would take too many nodes, or at ``end``.
        """
        with working_precision(64):
            line = flint.arb(c)
            segments = [segment.numbers for segment in self.segments]
            rough = [(line * v).exp() * w for v, w in _rough_nodes(self)]
            left = sum(rough[len(self.values) :], start=flint.arb(0))
            decay = sum((segment_decay(one, line) for one in segments), start=flint.arb(0))
            height, allowed = min(end, float((3 * decay / left).mid())), tolerance * sum(rough, start=flint.arb(0))
            for _ in range(60):
                top = flint.arb(height)
                for order in _ORDERS:
                    if sum((quadrature_error(one, order, line, top) for one in segments), start=flint.arb(0)) < allowed:
                        return order, height
                height /= 2
        raise Unsupported(f"{_ORDERS[-1]} Gauss nodes leave an error above {tolerance:.1e} on the line at {c:.4g}")

    def _with(self, more: Iterator[tuple[Number, Number]]) -> Law:
        values, weights = zip(*self.atoms(), *more, strict=True)
        return Law(values, weights, self.singular)


@lru_cache(maxsize=16)
def _rough_nodes(law: MixedLaw) -> tuple[tuple[flint.arb, flint.arb], ...]:
    """Values and weights of a law with few Gauss nodes for its segments."""
    with working_precision(64):
        nodes = (node for segment in law.segments for node in segment.nodes(_ORDERS[1], 64))
        return tuple((to_arb(v), to_arb(w)) for v, w in (*law.atoms(), *nodes))  # sum 1 up to the error of the rule


def segment_transform(numbers: SegmentNumbers, s: flint.acb) -> flint.acb:
    """The moment generating function of a segment at a point off the real line, by complementary error functions."""
    a, b, w, span = numbers
    p, last = -s * b, span.exp()
    start, stop = (
        (-p * r).exp() / r.sqrt() - (flint.arb.pi() * p).sqrt() * (p * r).sqrt().erfc() for r in (flint.arb(1), last)
    )
    return 2 * w * (s * a).exp() * (start - stop)


def segment_decay(numbers: SegmentNumbers, c: flint.arb) -> flint.arb:
    """A constant C with ``|M(c + it)| <= C/|t|`` for a segment: integration by parts, twice the larger end."""
    a, b, w, span = numbers
    low, high = ((c * (a + b * ratio)).exp() for ratio in (flint.arb(1), span.exp()))
    return 2 * w * low.max(high) / abs(b)


def quadrature_error(
    numbers: SegmentNumbers,
    order: int,
    c: flint.arb,
    height: flint.arb,
    *,
    sizes: tuple[float, ...] = (1.2, 1.5, 2.0, 3.0, 4.0, 6.0, 9.0, 14.0),
) -> flint.arb:
    """A bound on the error of the Gauss rule of a segment at every ``c + it`` with ``|t| <= height``.

    - ``sizes``: sums of semi-axes to choose from.
    """
    a, b, w, span = numbers
    best: flint.arb | None = None
    for size in sizes:
        rho = flint.arb(size)
        wide, tall = (rho + 1 / rho) / 2, (rho - 1 / rho) / 2
        # On the ellipse |Im u| <= angle, so Re(s b e^u) <= |b| e^(Re u) (c cos(Im u) + height sin(angle)).
        angle = span * tall / 2
        upright = angle < flint.arb.pi() / 2
        turn = height * (angle.sin() if upright else 1) + (abs(c) if b > 0 or not upright else 0)
        growth = abs(b) * (span * (1 + wide) / 2).exp() * turn
        most = (c * a + growth + span * (wide - 1) / 4).exp()
        error = 4 * w * span * most * rho ** (-2 * order) / (1 - rho**-2)
        best = error if best is None or error.upper() < best.upper() else best
    assert best is not None
    return flint.arb(best.upper())
