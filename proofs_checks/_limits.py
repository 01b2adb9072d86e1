r"""Gaussian and compound Poisson limits of a canonical pair, with a proved error at every n.

Halving a Wasserstein distance bounds the error of a hinge, since it differs from half an absolute value by a linear
function and both laws have mean 0. The normal law errs by :math:`E|g-1|^3/(2\chi^2n)` (constant 1: L. Goldstein, 2010).
A Poisson number of informative messages, of mean :math:`p=\Pr[g\ne1]` each, errs by :math:`\frac12pE|g-1|`.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import flint

from symshuffle.accountants.deployment.group import check_n
from symshuffle.base.choices import Direction, SafeEnd, Under, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import read_target
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    Verdict,
    enclose,
    equal,
    is_exact,
    to_arb,
    upper_end,
    working_precision,
)
from symshuffle.base.results import AnswerMethods, Bracket
from symshuffle.utility.likelihood.extremes import hinge
from symshuffle.utility.likelihood.law import LikelihoodRatio

BERRY_ESSEEN: Final = Fraction(4748, 10000)
"""An admissible constant for independent, identically distributed summands (I. Shevtsova, 2011)."""

LARGEST_ATOMS: Final = 400_000
"""Places of the average beyond which its law is not written out."""

MOST_TERMS: Final = 400_000
"""Vectors of Poisson counts beyond which the sum is refused."""


def average_atoms(ratio: LikelihoodRatio, n: int, *, under: Under = "P") -> tuple[tuple[Fraction, Fraction], ...]:
    """The atoms of ``L_n`` in rising order with their exact probabilities, as the power of an integer polynomial."""
    n = check_n(n)
    under = choice(Under, under, "under")
    if not ratio.exact:
        raise Unsupported("the law of the average is written out over the rationals: give lam as a rational number")
    values: list[Any] = list(ratio.values)
    weights: list[Any] = list(ratio.weights)
    unit = math.lcm(*(value.denominator for value in values))
    scale = math.lcm(*(weight.denominator for weight in weights))
    places = [int((value - values[0]) * unit) for value in values]
    step = math.gcd(*places) or 1
    size = n * (places[-1] // step) + 1
    if size > LARGEST_ATOMS:
        raise Unsupported(f"L_n lives on {size} places (limit {LARGEST_ATOMS}): use a bound, or fewer users")
    coefficients = [0] * (places[-1] // step + 1)
    for place, weight in zip(places, weights, strict=True):
        coefficients[place // step] += int(weight * scale)
    power, total = flint.fmpz_poly(coefficients) ** n, scale**n
    found = []
    for j in range(size):
        mass = int(power[j])
        if mass:
            value = values[0] + Fraction(step * j, unit * n)
            found.append((value, Fraction(mass, total) * (value if under == "Q" else 1)))
    return tuple(found)


def kolmogorov_distance(ratio: LikelihoodRatio, n: int, *, under: Under = "P") -> Ball:
    r"""The distance :math:`\sup_t|\Pr[T\le t]-\Phi(t)|` of the score from the standard normal law, enclosed."""
    variance = _variance(ratio)
    atoms = average_atoms(ratio, n, under=under)
    best = Fraction(0), Fraction(0)
    with working_precision(DEFAULT_BITS + 16):
        mu = (to_arb(variance) / n).sqrt()
        below = flint.arb(0)
        for value, mass in atoms:
            gauss = normal_cdf(to_arb(value - 1) / mu)
            above = below + to_arb(mass)
            for gap in (abs(below - gauss), abs(above - gauss)):
                ball = Ball.from_arb(gap, DEFAULT_BITS)
                best = max(best[0], ball.lower), max(best[1], ball.upper)
            below = above
    return Ball(best[0], best[1], DEFAULT_BITS)


def berry_esseen_bound(ratio: LikelihoodRatio, n: int, *, under: Under = "P") -> Ball:
    r"""Bound :math:`C\,E|g-1|^3/(v^{3/2}\sqrt n)` on the distance, :math:`\mu/2` more under Q (Theorem 6.2)."""
    under = choice(Under, under, "under")
    variance, n = _variance(ratio), check_n(n)
    with working_precision(DEFAULT_BITS + 16):
        v = to_arb(variance)
        bound = to_arb(BERRY_ESSEEN) * to_arb(ratio.third_absolute_moment) / (v * (v * n).sqrt())
        if under == "Q":
            bound += (v / n).sqrt() / 2
        return Ball.from_arb(bound, DEFAULT_BITS)


def normal_cdf(t: flint.arb) -> flint.arb:
    """The standard normal distribution function at the working precision."""
    return (-t / flint.arb(2).sqrt()).erfc() / 2


def normal_hinge(mu: flint.arb, kink: flint.arb) -> flint.arb:
    r"""The number :math:`E(\mu Z-c)_+=\mu\varphi(c/\mu)-c\,\Phi(-c/\mu)`."""
    t = kink / mu
    density = (-t * t / 2).exp() / (2 * flint.arb.pi()).sqrt()
    return mu * density - kink * normal_cdf(-t)


def gaussian_profile(mu: Number, *, exp_eps: object = None, eps: object = None, bits: int = DEFAULT_BITS) -> Ball:
    r"""Curve :math:`\Phi(-\varepsilon/\mu+\mu/2)-e^\varepsilon\Phi(-\varepsilon/\mu-\mu/2)` of a Gaussian pair."""
    target = read_target(eps=eps, exp_eps=exp_eps)
    if isinstance(mu, float) or not enclose(mu).lower > 0:
        raise InputError("mu", mu, "a rational or ball above 0")
    with working_precision(bits + 32):
        order, scale = to_arb(target), to_arb(mu)
        level = order.log()
        value = normal_cdf(-level / scale + scale / 2) - order * normal_cdf(-level / scale - scale / 2)
        return Ball.from_arb(value, bits)


@dataclass(frozen=True, slots=True, repr=False)
class LimitProfile(AnswerMethods):
    """A privacy curve at one level, by an approximation ``limit`` that is at most ``error`` away from it."""

    safe: ClassVar[SafeEnd] = "upper"
    bracket: Bracket
    limit: Ball
    error: Ball
    n: int
    direction: Direction

    @property
    def about(self) -> str:
        """Statement that the number belongs to."""
        return f"{self.direction} delta of a canonical pair of {self.n} users"


@final
@dataclass(frozen=True, slots=True, repr=False)
class NormalProfile(LimitProfile):
    """The same from ``limit = scale * E(mu Z - kink)_+`` and the curve of the Gaussian pair of parameter ``mu``."""

    gaussian: Ball
    gaussian_error: Ball


def _within(limit: Ball, error: Ball) -> tuple[Fraction, Fraction]:
    return max(Fraction(0), limit.lower - error.upper), limit.upper + error.upper


def normal_profile(
    ratio: LikelihoodRatio, n: int, *, direction: Direction, exp_eps: object = None, eps: object = None
) -> NormalProfile:
    r"""The profile of the canonical pair from three moments of its ratio, with a certified error of order :math:`1/n`.

    The error of ``limit`` is :math:`s\,E|g-1|^3/(2\chi^2n)`, with :math:`s=1` forward and :math:`e^\varepsilon`
    reverse; that of the Gaussian curve has :math:`\frac s2\sqrt{e^{\mu^2}-1-\mu^2}` more, half the mean distance of
    :math:`e^{\mu Z-\mu^2/2}` from :math:`1+\mu Z`.
    """
    factor, bend = hinge(direction, exp_eps=exp_eps, eps=eps)
    variance = _variance(ratio)
    half = ratio.third_absolute_moment / (variance * Fraction(2 * check_n(n)))
    with working_precision(DEFAULT_BITS + 32):
        scale, kink = to_arb(factor), to_arb(bend)
        mu = (to_arb(variance) / n).sqrt()
        limit = Ball.from_arb(scale * normal_hinge(mu, kink), DEFAULT_BITS)
        square = mu * mu
        # e^x - 1 - x by its expm1, so that small mu lose no digits
        curvature = (square.expm1() - square).nonnegative_part().sqrt() / 2
        gaussian = gaussian_profile(Ball.from_arb(mu, DEFAULT_BITS + 32), exp_eps=exp_eps, eps=eps)
        error, wider = (Ball.from_arb(scale * (to_arb(half) + more), DEFAULT_BITS) for more in (0, curvature))
    lows, highs = zip(_within(limit, error), _within(gaussian, wider), strict=True)
    evaluation = "normal approximation, Wasserstein bound with constant 1"
    bracket = Bracket(max(lows), min(highs), "ball", "normal", evaluation)
    return NormalProfile(bracket, limit, error, n, choice(Direction, direction, "direction"), gaussian, wider)


def scaled_level(ratio: LikelihoodRatio, n: int, t: Fraction) -> Fraction:
    r"""The level :math:`\varepsilon=t\mu` within 1e-30, where :math:`\delta/\mu` tends to :func:`scaled_limit`."""
    if t < 0:
        raise InputError("t", t, "a rational of at least 0")
    with working_precision(160):
        return Ball.from_arb(to_arb(t) * (to_arb(_variance(ratio)) / check_n(n)).sqrt(), 160).midpoint


def scaled_limit(t: Fraction) -> Ball:
    r"""The number :math:`E(Z-t)_+=\varphi(t)-t\,\Phi(-t)`."""
    with working_precision(DEFAULT_BITS + 16):
        return Ball.from_arb(normal_hinge(flint.arb(1), to_arb(t)), DEFAULT_BITS)


def _variance(ratio: LikelihoodRatio) -> Any:
    variance = ratio.chi_square
    if not enclose(variance).lower > 0:
        raise InputError("ratio", ratio, "a law that is not the point mass at 1 (chi-square above 0)")
    return variance


def _poisson_hinge(terms: Sequence[tuple[Any, Any]], kink: Any, bits: int) -> Ball:
    """Enclosure of ``E(S - kink)_+`` for a sum ``S`` of jumps times independent Poisson counts, from (jump, rate)."""
    jumps, rates = [jump for jump, _ in terms], [rate for _, rate in terms]
    most = [_last_count(upper_end(rate), bits) for rate in rates]
    size = math.prod(m + 1 for m in most)
    if size > MOST_TERMS:
        raise Unsupported(f"{size} vectors of Poisson counts (limit {MOST_TERMS}): use normal_profile")
    with working_precision(bits + 32):
        steps, means, level = [to_arb(j) for j in jumps], [to_arb(r) for r in rates], to_arb(kink)
        masses = [_poisson_masses(mean, m) for mean, m in zip(means, most, strict=True)]
        total = flint.arb(0)
        exact = is_exact((*jumps, kink))
        over = math.lcm(*(term.denominator for term in (*jumps, kink))) if exact else 1
        whole = [int(jump * over) for jump in (*jumps, kink)] if exact else []
        for counts in itertools.product(*(range(m + 1) for m in most)):
            if exact:
                above = sum(map(operator.mul, counts, whole), start=-whole[-1])
                if above <= 0:
                    continue
                excess = flint.arb(flint.fmpq(above, over))
            else:
                excess = sum(map(operator.mul, counts, steps), start=-level)
            mass = math.prod((table[count] for count, table in zip(counts, masses, strict=True)), start=flint.arb(1))
            total += mass * excess.nonnegative_part()
        # Vectors with a count beyond the last one contribute at most the positive jumps there.
        left = flint.arb(0)
        for i, (mean, last) in enumerate(zip(means, most, strict=True)):
            for j, (jump, rate) in enumerate(zip(jumps, means, strict=True)):
                if upper_end(jump) > 0:
                    left += to_arb(jump) * rate * _poisson_tail(mean, last - 1 if i == j else last)
        return Ball.from_arb(total + flint.arb(0).union(left), bits)


def poisson_profile(
    ratio: LikelihoodRatio, n: int, *, direction: Direction, exp_eps: object = None, eps: object = None
) -> LimitProfile:
    """The profile as ``scale * E(S - n kink)_+ / n`` of a compound Poisson ``S``: good at few informative messages."""
    n = check_n(n)
    way = choice(Direction, direction, "direction")
    factor, bend = hinge(way, exp_eps=exp_eps, eps=eps)
    sign = 1 if way == "forward" else -1
    terms = [(sign * (v - 1), w * n) for v, w in ratio.atoms() if equal(v, 1) is not Verdict.TRUE]
    value = _poisson_hinge(terms, bend * n, DEFAULT_BITS + 16)
    with working_precision(DEFAULT_BITS + 16):
        scale = to_arb(factor)
        limit = Ball.from_arb(scale * value.arb() / n, DEFAULT_BITS)
        error = Ball.from_arb(scale * to_arb(ratio.active * ratio.wasserstein_to_one / 2), DEFAULT_BITS)
    evaluation = "compound Poisson approximation, a Poisson number of informative messages"
    return LimitProfile(Bracket(*_within(limit, error), "ball", "poisson", evaluation), limit, error, n, way)


def _last_count(rate: Fraction, bits: int) -> int:
    """A count beyond which a Poisson variable of this mean has less than about ``2^-bits``."""
    mean, last = float(rate), 2
    while last <= mean or mean - last + last * math.log(last / mean) < 0.7 * bits:
        last += max(1, last // 16)
    return last


def _poisson_masses(mean: flint.arb, last: int) -> list[flint.arb]:
    masses = [(-mean).exp()]
    for count in range(1, last + 1):
        masses.append(masses[-1] * mean / count)
    return masses


def _poisson_tail(mean: flint.arb, last: int) -> flint.arb:
    """The probability of more than ``last``: at most the first term left out over one minus the ratio of terms."""
    first = (-mean + mean.log() * (last + 1) - flint.arb(last + 2).lgamma()).exp()
    ratio = mean / (last + 2)
    return first / (1 - ratio)
