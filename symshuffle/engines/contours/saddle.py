r"""The tilted law of G and the constants of a contour: saddle point, smoothing width, step and length.

With :math:`M(s)=E e^{sG}` and any :math:`c>0`,

.. math:: E[S_+]=\frac1{2\pi i}\int_{\Re s=c} M(s)^n s^{-2}\,ds .

This module only chooses constants: good ones make a narrow bracket. That the bracket holds is shown by the engine, for
whatever constants it is given.

Evidence: constants are choices and need none. What rounding does to the cumulant function and to the
tilted weights (:meth:`Tilt.at`) is *proved under the assumption* of
:mod:`symshuffle.engines.contours.contour`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, NamedTuple, final

import numpy as np

from symshuffle.base.doubles import Array
from symshuffle.base.errors import Unsupported
from symshuffle.base.results import Bracket, is_far
from symshuffle.channels.law import Law

QUIET: Final = 46.0
"""Exponent below which a term counts as negligible when constants are chosen: exp(-46) is about 1e-20."""

_LARGEST_EXPONENT: Final = 600.0
"""Exponent that doubles hold with room for sums."""


_GRID: Final = np.linspace(0.0, 1.0, 33)
"""Places on a logarithmic scale at which a slope is looked for, first over all slopes, then between two of them."""


_SMALLEST_WEIGHT: Final = 1e-300
"""Below it a double loses digits."""


class TiltedLaw(NamedTuple):
    """The law of G under a tilt s.

    - ``cumulant``: ``log E exp(s G)``; ``noise``: what round-off does to it, as :meth:`Tilt.at` has it.
    - ``weights``: probabilities of the atoms, with their mean and variance; ``weight_noise``: bounds on their relative
      errors before they are scaled to sum 1, in unit round-offs.
    """

    cumulant: float
    noise: float
    weights: Array
    weight_noise: Array
    mean: float
    variance: float


@final
@dataclass(frozen=True, slots=True)
class Tilt:
    """The cumulant function of G on the real line, in doubles, stable for tiny arguments.

    - ``values``, ``weights``: atoms of G and their probabilities, shape ``(m,)``.
    """

    values: Array
    weights: Array

    def at(self, s: float) -> TiltedLaw:
        """The law of G under the tilt ``s``; no number where an exponent is beyond doubles: no contour is then chosen.

        The cumulant is off by at most 12 unit round-offs times its ``noise``, beside those of itself: an exponent
        ``s g`` is off by two relative round-offs (of g, of the product), its ``expm1`` by eight, a weight and each
        product by one; ``fsum`` rounds once, however many atoms there are. That ``x exp(x)`` is at most
        ``|expm1(x)| (1 + |x|)`` carries the first through the exponential.
        """
        with np.errstate(over="ignore", invalid="ignore"):  # beyond doubles the variance is infinite
            exponent = s * self.values
            if not np.isfinite(exponent).all():
                exponent = np.full_like(exponent, math.nan)
            largest = float(exponent.max())
            # Exponents are moved only where they do not fit, since moving them rounds.
            shift = 0.0 if 0 <= largest < _LARGEST_EXPONENT else largest
            raw = self.weights * np.exp(exponent - shift)
            total = math.fsum(raw)
            weights = raw / total
            mean = float(weights @ self.values)
            variance = float(weights @ (self.values - mean) ** 2)
            weight_noise = 12 + 2 * np.abs(exponent) + (np.abs(exponent - shift) if shift else 0.0)
            grown = np.expm1(exponent)
            growth = math.fsum(self.weights * grown) if largest < _LARGEST_EXPONENT else math.inf
        if -0.5 < growth < math.inf:
            noise = float(self.weights @ (np.abs(grown) * (1 + np.abs(exponent)))) / (1 + growth)
            return TiltedLaw(math.log1p(growth), noise, weights, weight_noise, mean, variance)
        # Growth next to -1 would lose digits; there the terms are summed as they are.
        cumulant = shift + math.log(total)
        noise = float(weights @ (2 + np.abs(exponent))) + abs(cumulant) + abs(shift)
        return TiltedLaw(cumulant, noise, weights, weight_noise, mean, variance)

    def slopes(self, s: Array) -> Array:
        """Means of G under several tilts."""
        exponent = np.multiply.outer(s, self.values)
        raw = self.weights * np.exp(exponent - exponent.max(axis=1, keepdims=True))
        means: Array = raw @ self.values / raw.sum(axis=1)
        return means


@final
@dataclass(frozen=True, slots=True)
class ContourPlan:
    """Constants of a contour integral.

    - ``tau``: standard deviation of the Gaussian smoothing; 0 on a lattice, which needs none.
    """

    c: float
    step: float
    nodes: int
    tau: float
    lattice: Fraction | None = None
    radius: float = 0.0

    @property
    def end(self) -> float:
        """Imaginary part of the last node."""
        return self.step * self.nodes


def tilt(law: Law) -> Tilt:
    """The cumulant function of a law, in doubles."""
    try:
        values, weights = map(np.array, law.doubles)
    except OverflowError:
        raise Unsupported("an atom of G is beyond the range of doubles; use engine exact, at small n") from None
    if float(weights.min()) < _SMALLEST_WEIGHT:
        raise Unsupported("an atom of G has a weight below the range of doubles; use engine exact, at small n")
    return Tilt(values, weights)


def describe(plan: ContourPlan) -> str:
    """The smoothing or the lattice of a plan, in words."""
    return f"smoothing tau = {plan.tau:.4g}" if plan.lattice is None else f"one period of the lattice {plan.lattice}"


def too_many(engine: str, what: str) -> Unsupported:
    """Refusal of a width that would cost too much; it names the argument to change."""
    return Unsupported(f"rtol: engine {engine} would need {what}; ask for a larger one")


def saddle_point(
    tilt: Tilt,
    n: int,
    lattice: Fraction | None = None,
    *,
    gaussian: bool = False,
    steepest: float = 40.0,
    atol: float = 1e-6,
    period: int = 8,
) -> float:
    """Minimiser over ``c > 0`` of the integrand at the crossing of the real line, a convex function of c.

    That is ``n K(c) - 2 log c``, on a lattice of spacing g, of steeper kernel, ``n K(c) - 2 log sinh(c g/2)``.

    - ``gaussian``: whether to begin where a Gaussian has it, which is quicker and settles within the same accuracy.
    - ``steepest``: largest c g/2 on a lattice of spacing g, where sinh has long been an exponential.
    - ``atol``: absolute accuracy in log c: any line gives a true bracket.
    - ``period``: number of Newton steps after which one halves the bracket.
    """
    if float(tilt.values.max()) <= 0:
        raise Unsupported("the contour needs a positive atom of G; without one the value is 0")
    half = 0.0 if lattice is None else float(lattice) / 2
    largest = 800.0 / float(tilt.values.max()) * math.exp(5)
    if half:  # beyond it the kernel only falls as fast as the integrand may grow
        largest = min(largest, steepest / half)
    low, high = -math.log(1e3 * n * float(np.abs(tilt.values).max())), math.log(largest)
    # Newton's steps in log c, halving where they leave the bracket or find no slope, and now and then where they creep:
    # an excess that falls towards 0 at infinity draws them there in steps of about one length.
    place, turn = (low + high) / 2, 0
    untilted = tilt.at(0.0)
    if gaussian and (variance := untilted.variance) > 0:
        mean = untilted.mean
        guess = (math.sqrt(mean * mean + 8 * variance / n) - mean) / (2 * variance)
        place = min(max(math.log(guess), low), high) if 0 < guess < math.inf else place
    while high - low > atol:
        turn += 1
        c = math.exp(place)
        tilted = tilt.at(c)
        excess = n * tilted.mean * c - (2 * c * half / math.tanh(c * half) if half else 2.0)
        low, high = (low, place) if excess > 0 else (place, high)
        rate = n * c * (tilted.mean + c * tilted.variance)
        step = excess / rate if rate > 0 else math.inf
        if abs(step) < atol / 2:
            return math.exp(place - step)
        place = place - step if turn % period and low < place - step < high else (low + high) / 2
    return math.exp((low + high) / 2)


def is_spread_out(tilt: Tilt, n: int, *, deviations: float = 10.0) -> bool:
    """Whether many values of S are near 0, so that one pass is as narrow as its constants are chosen for.

    - ``deviations``: standard deviations of S, in largest atoms.
    """
    spread = math.sqrt(n * max(tilt.at(0.0).variance, 0.0))
    return spread > deviations * float(np.abs(tilt.values).max())


def refine(
    attempt: Callable[[float], tuple[Bracket, float]],
    rtol: float,
    *,
    most: int,
    spread: bool = False,
    goal: Fraction | None = None,
    finest: float = 1e-10,
    first: float = 1e-5,
    uninformative: int = 2,
    short_step: float = 8.0,
    long_step: float = 30.0,
) -> Bracket:
    """Passes with finer and finer constants, until the bracket is as narrow as asked or no pass is worth its cost.

    - ``attempt``: from a width to choose constants for to a bracket and the number of evaluations it took; infinity
      where no finer constants would narrow it.
    - ``rtol``: relative width asked for.
    - ``finest``: width that constants are chosen for, if need be, however wide a bracket will do.
    - ``first``: width that constants are first chosen for, where the gap may be far below it.
    - ``uninformative``: passes that say nothing of H(n), after which a number that it is compared with is left
      undecided.
    - ``short_step``: factor by which widths fall at most from one pass to the next where S is spread out.
    - ``long_step``: the same elsewhere.
    """
    bracket: Bracket | None = None
    empty = 0
    # The gap is often far below what the constants were chosen for, because few values of S are near 0: the cheapest
    # constants come first. Where S is 0 with positive probability it is above, being of first order in the smoothing.
    # Where values of S are spread out a pass misses its width by little if at all.
    aim, longest = (rtol, short_step) if spread else (max(rtol, first), long_step)
    while aim > max(min(rtol * rtol, finest), 1e-16):
        before = bracket
        try:
            bracket, evaluated = attempt(aim)
        except Unsupported:
            if bracket is not None:
                break
            if not spread:
                raise
            return refine(attempt, rtol, most=most, goal=goal)
        width = bracket.upper - bracket.lower
        if width <= Fraction(rtol) * bracket.upper or evaluated > most or is_far(bracket, goal):
            break
        if spread and before is not None and 10 * width > 9 * before.width:  # nearly all of both is rounding
            return min(bracket, before, key=lambda one: one.width)
        empty += bracket.lower <= 0 and bracket.upper > 1
        if goal is not None and empty == uninformative:
            break
        missed = float(width / bracket.upper) / rtol
        aim /= min(max(2 * missed, 2.0), longest)
    assert bracket is not None  # there is a first width
    return bracket


def choose(tilt: Tilt, n: int, *, rtol: float, lattice: Fraction | None = None, quick: bool = False) -> ContourPlan:
    """Constants whose bracket is about ``rtol`` in (0, 1) wide, relative to its value, when the law of S is spread out.

    A lattice is used if one period of it is shorter than the smoothed line would be.

    - ``quick``: whether they are looked for from a Gaussian on, in longer steps; both make true brackets.
    """
    c = saddle_point(tilt, n, gaussian=quick)
    # The gap of the two sides is about (tau c)^2 for a spread-out sum; half of it leaves room for the other errors.
    tau = math.sqrt(rtol / 2) / c
    if not tau > 0:  # c is infinite, or no number
        raise Unsupported("the tilt of G is beyond the range of doubles; use engine exact, at small n")
    quiet = QUIET - math.log(rtol)
    length = math.sqrt(2 * quiet) / tau
    # The lattice of atoms with many large denominators may be below the smallest double.
    on_lattice = lattice is not None and float(lattice) > 0 and math.pi / float(lattice) <= length
    if on_lattice:
        c, tau = saddle_point(tilt, n, lattice, gaussian=quick), 0.0
    reach = _reach(tilt, n, c, tau, quiet, steepest=4.0 if quick else 1.25)
    if on_lattice and lattice is not None:
        half = math.ceil(reach / float(lattice) / 2)
        return ContourPlan(c, math.pi / float(lattice) / half, half, 0.0, lattice)
    step = 2 * math.pi / reach
    return ContourPlan(c, step, math.ceil(length / step), tau, radius=_radius(tilt, n, c, tau, rtol))


def _radius(tilt: Tilt, n: int, c: float, tau: float, rtol: float, *, margin: float = 3.0) -> float:
    """About the r with the largest ``P(|G| <= r)^n (tau/sqrt(2 pi) - n r/2)``; 0 where that is far below the width.

    - ``margin``: exponent by which what is added next to 0 has to come near the width aimed at.
    """
    order = np.argsort(np.abs(tilt.values))
    sizes = np.abs(tilt.values)[order]
    left = tau / math.sqrt(2 * math.pi) - n * sizes / 2
    if not left[0] > 0:
        return 0.0
    worth = n * np.log(np.cumsum(tilt.weights[order])) + np.log(np.maximum(left, _SMALLEST_WEIGHT))
    tilted = tilt.at(c)
    spread = n * max(tilted.variance, 0.0) + tau * tau + 2 / c**2
    value = n * tilted.cumulant + (tau * c) ** 2 / 2 - 2 * math.log(c) - math.log(2 * math.pi * spread) / 2
    best = int(worth.argmax())
    return float(sizes[best]) * (1 + 1e-12) if worth[best] > value + math.log(rtol) - margin else 0.0


def _reach(tilt: Tilt, n: int, c: float, tau: float, quiet: float, *, steepest: float, longest: float = 1e300) -> float:
    """The period X of the aliases for which their bound is negligible, found in steps of at most some factor.

    - ``longest``: distance beyond which aliases are not pushed.
    """
    tilted = tilt.at(c)
    spread = math.sqrt(n * max(tilted.variance, 0.0))
    centre = abs(n * tilted.mean + tau * tau * c)
    reach = max(2 * quiet / c, 2 * (centre + math.sqrt(2 * quiet) * math.hypot(spread, tau)))
    if not reach <= longest:  # infinite, or no number
        raise Unsupported("the squares of atoms of G are beyond the range of doubles; use engine exact, at small n")
    while (exponent := _tail_exponent(tilt, n, c, tau, reach / 2)) < quiet:
        reach *= min(max((quiet / exponent) ** 0.75, 1.25), steepest) if exponent > 0 else 1.25
        if reach > longest:
            raise Unsupported("the tilted sum has tails too long for a contour; use engine exact or sparse")
    return reach


def _tail_exponent(tilt: Tilt, n: int, c: float, tau: float, distance: float) -> float:
    """The weaker of the Chernoff exponents of both tails of the tilted, smoothed sum at a distance from 0."""
    one, other = tail_slopes(tilt, n, c, tau, distance)
    right = max(tail_exponent(tilt, n, c, tau, distance, one), tail_exponent(tilt, n, c, tau, distance, other))
    left = max(tail_exponent(tilt, n, c, tau, distance, -one), tail_exponent(tilt, n, c, tau, distance, -other))
    return min(right, left)


def tail_slopes(tilt: Tilt, n: int, c: float, tau: float, distance: float) -> list[float]:
    """Slopes that nearly optimise Chernoff's bound at a distance from 0, one for either tail: on a grid, twice.

    Fractions of the Gaussian slope do not do: one long jump among many short ones asks for a far smaller one.
    """
    slopes = []
    for sign in (1, -1):
        largest = _steepest(tilt, c, sign)
        low, high = min(1 / distance, largest), largest
        for _ in range(2):  # the bound is flat around its best slope
            grid = low * (high / low) ** _GRID
            s = c + sign * grid
            before = int(np.count_nonzero(sign * (n * tilt.slopes(s) + tau * tau * s) < distance))
            low, high = float(grid[max(before - 1, 0)]), float(grid[min(before, len(grid) - 1)])
        slopes.append(low)
    return slopes


def _steepest(tilt: Tilt, c: float, sign: float) -> float:
    """The largest slope of Chernoff's bound towards one side: beyond it an atom outgrows the range of doubles."""
    low, high = float(tilt.values.min()), float(tilt.values.max())
    return _LARGEST_EXPONENT / high if sign > 0 else c + _LARGEST_EXPONENT / (-low if low < 0 else high)


def tail_exponent(tilt: Tilt, n: int, c: float, tau: float, distance: float, theta: float) -> float:
    """``-log`` of the Chernoff bound on ``Q(sign(theta) Y > distance)`` for the tilted, smoothed sum Y."""
    if abs(theta) > 1.01 * _steepest(tilt, c, theta):
        return -math.inf
    growth = n * (tilt.at(c + theta).cumulant - tilt.at(c).cumulant) + ((c + theta) ** 2 - c * c) * tau * tau / 2
    return abs(theta) * distance - growth
