r"""The Gaussian side of the dichotomy: distances at every n, and the profile on the scale where it is not trivial.

The score :math:`T=(L_n-1)/\mu`, :math:`\mu=\sqrt{\chi^2/n}`, is a normalised sum of n bounded variables. Its distance
to the standard normal law is computed exactly (:func:`kolmogorov_distance`) and bounded (:func:`berry_esseen_bound`).

For the profile, Kolmogorov distance is the wrong tool: the profile is itself of order :math:`\mu`. A hinge differs from
half an absolute value by a linear function and both laws have mean 0, so

.. math:: \Big|E(L_n-1-c)_+-\mu\,E(Z-c/\mu)_+\Big|\le\tfrac12W_1(L_n-1,\mu Z)\le\frac{E|g-1|^3}{2\chi^2n}
   \le\frac{\lambda-1}{2n},

by the Wasserstein bound with constant 1 (L. Goldstein, *Ann. Probab.* 38, 2010). At :math:`\varepsilon=t\mu` the
profile is of size :math:`\mu`, so the relative error is of order :math:`(n\chi^2)^{-1/2}`: Gaussian exactly as far as
:math:`n\chi^2\to\infty`. Where it stays bounded, :mod:`symshuffle.utility.likelihood.poisson` has the limit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, final

import flint

from symshuffle.accountants.bounds.evaluate import check_n
from symshuffle.base.choices import Direction, Rigour, Under, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Number, enclose, to_arb, working_precision
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd
from symshuffle.utility.likelihood.certificates import Hinge
from symshuffle.utility.likelihood.law import LikelihoodRatio

BERRY_ESSEEN: Final = Fraction(4748, 10000)
"""An admissible constant for independent, identically distributed summands (I. Shevtsova, 2011)."""

LARGEST_ATOMS: Final = 400_000
"""Places of the average beyond which its law is not written out."""


def average_atoms(
    ratio: LikelihoodRatio, n: int, *, under: Under | str = Under.P
) -> tuple[tuple[Fraction, Fraction], ...]:
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
            found.append((value, Fraction(mass, total) * (value if under is Under.Q else 1)))
    return tuple(found)


def kolmogorov_distance(
    ratio: LikelihoodRatio, n: int, *, under: Under | str = Under.P, bits: int = DEFAULT_BITS
) -> Ball:
    r"""The distance :math:`\sup_t|\Pr[T\le t]-\Phi(t)|` of the score from the standard normal law, enclosed.

    A distribution function of atoms is farthest from a continuous one at an atom, from the left or the right; both
    one-sided limits are taken at every atom, with exact probabilities.
    """
    variance = _variance(ratio)
    atoms = average_atoms(ratio, n, under=under)
    best = Fraction(0), Fraction(0)
    with working_precision(bits + 16):
        mu = (to_arb(variance) / n).sqrt()
        below = flint.arb(0)
        for value, mass in atoms:
            gauss = normal_cdf(to_arb(value - 1) / mu)
            above = below + to_arb(mass)
            for gap in (abs(below - gauss), abs(above - gauss)):
                ball = Ball.from_arb(gap, bits)
                best = max(best[0], ball.lower), max(best[1], ball.upper)
            below = above
    return Ball(best[0], best[1], bits)


def berry_esseen_bound(
    ratio: LikelihoodRatio,
    n: int,
    *,
    under: Under | str = Under.P,
    constant: Fraction = BERRY_ESSEEN,
    bits: int = DEFAULT_BITS,
) -> Ball:
    r"""An upper bound on :func:`kolmogorov_distance`: :math:`C\,E|g-1|^3/(v^{3/2}\sqrt n)`, under Q plus :math:`\mu/2`.

    Under Q the probability of no event differs from that under P by more than the total variation
    :math:`\frac12E|L_n-1|\le\mu/2`. Both terms are at most those of alphabets, Theorem 6.2 (iii), which follow with
    :math:`E|g-1|^3\le(\lambda-1)v`.
    """
    under = choice(Under, under, "under")
    variance, n = _variance(ratio), check_n(n)
    with working_precision(bits + 16):
        v = to_arb(variance)
        bound = to_arb(constant) * to_arb(ratio.third_absolute_moment) / (v * (v * n).sqrt())
        if under is Under.Q:
            bound += (v / n).sqrt() / 2
        return Ball.from_arb(bound, bits)


def wasserstein_bound(ratio: LikelihoodRatio, n: int) -> Any:
    r"""A bound on :math:`W_1(L_n-1,\mu Z)`: :math:`E|g-1|^3/(v n)`, with constant 1; rational for a rational law."""
    return ratio.third_absolute_moment / (_variance(ratio) * Fraction(check_n(n)))


def normal_cdf(t: flint.arb) -> flint.arb:
    """The standard normal distribution function at the working precision."""
    return (-t / flint.arb(2).sqrt()).erfc() / 2


def normal_hinge(mu: flint.arb, kink: flint.arb) -> flint.arb:
    r"""The number :math:`E(\mu Z-c)_+=\mu\varphi(c/\mu)-c\,\Phi(-c/\mu)`."""
    t = kink / mu
    density = (-t * t / 2).exp() / (2 * flint.arb.pi()).sqrt()
    return mu * density - kink * normal_cdf(-t)


def gaussian_profile(mu: Number, *, exp_eps: object = None, eps: object = None, bits: int = DEFAULT_BITS) -> Ball:
    r"""The privacy curve of :math:`N(\mu,1)` against :math:`N(0,1)`, the same in both directions.

    .. math:: \Phi(-\varepsilon/\mu+\mu/2)-e^\varepsilon\Phi(-\varepsilon/\mu-\mu/2).

    alphabets, Section 2.
    """
    from symshuffle.base.levels import read_target

    target = read_target(eps=eps, exp_eps=exp_eps)
    if isinstance(mu, float) or not enclose(mu).lower > 0:
        raise InputError("mu", mu, "a rational or ball above 0")
    with working_precision(bits + 32):
        order, scale = to_arb(target), to_arb(mu)
        level = order.log()
        value = normal_cdf(-level / scale + scale / 2) - order * normal_cdf(-level / scale - scale / 2)
        return Ball.from_arb(value, bits)


@final
@dataclass(frozen=True, slots=True, repr=False)
class NormalProfile(AnswerMethods):
    """A privacy curve at one level, by its normal approximation with a proved error.

    - ``limit``: the approximation, ``scale * E(mu Z - kink)_+``.
    - ``gaussian``: the curve of the Gaussian pair of parameter ``mu`` at the same level.
    - ``error``: at least the distance of the curve from ``limit``.
    - ``gaussian_error``: at least the distance of the curve from ``gaussian``.
    """

    safe: ClassVar[SafeEnd] = SafeEnd.UPPER
    limit: Ball
    gaussian: Ball
    error: Ball
    gaussian_error: Ball
    n: int
    direction: Direction

    @property
    def bracket(self) -> Bracket:
        """Around the curve itself: what both approximations leave possible."""
        low = max(
            Fraction(0),
            self.limit.lower - self.error.upper,
            self.gaussian.lower - self.gaussian_error.upper,
        )
        high = min(self.limit.upper + self.error.upper, self.gaussian.upper + self.gaussian_error.upper)
        how = "normal approximation, Wasserstein bound with constant 1"
        return Bracket(low, high, Rigour.BALL, "normal", how)

    @property
    def about(self) -> str:
        """Statement that the number belongs to."""
        return f"{self.direction} delta of a canonical pair of {self.n} users"


def normal_profile(
    ratio: LikelihoodRatio,
    n: int,
    *,
    direction: Direction | str,
    exp_eps: object = None,
    eps: object = None,
    bits: int = DEFAULT_BITS,
) -> NormalProfile:
    r"""The profile of the canonical pair from three moments of its ratio, with a certified error.

    The error of ``limit`` is :math:`s\,E|g-1|^3/(2\chi^2n)`, with :math:`s=1` forward and :math:`e^\varepsilon`
    reverse; that of the Gaussian curve has :math:`\frac s2\sqrt{e^{\mu^2}-1-\mu^2}` more, half the mean distance of
    :math:`e^{\mu Z-\mu^2/2}` from :math:`1+\mu Z`. Both are of order :math:`1/n`, at every level.
    """
    hinge = Hinge.of(direction, exp_eps=exp_eps, eps=eps)
    half = wasserstein_bound(ratio, n) / 2
    variance = _variance(ratio)
    with working_precision(bits + 32):
        scale, kink = to_arb(hinge.scale), to_arb(hinge.kink)
        mu = (to_arb(variance) / n).sqrt()
        limit = Ball.from_arb(scale * normal_hinge(mu, kink), bits)
        square = mu * mu
        # e^x - 1 - x by its expm1, so that small mu lose no digits
        curvature = (square.expm1() - square).nonnegative_part().sqrt() / 2
        error = scale * to_arb(half)
        gaussian = gaussian_profile(Ball.from_arb(mu, bits + 32), exp_eps=exp_eps, eps=eps, bits=bits)
        return NormalProfile(
            limit,
            gaussian,
            Ball.from_arb(error, bits),
            Ball.from_arb(error + scale * curvature, bits),
            n,
            choice(Direction, direction, "direction"),
        )


def scaled_level(ratio: LikelihoodRatio, n: int, t: Fraction) -> Fraction:
    r"""The level :math:`\varepsilon=t\mu`, as a rational within 1e-30 of it, where the limit is not trivial.

    There :math:`\delta/\mu` tends to :func:`scaled_limit` as :math:`n\chi^2` grows.
    """
    if t < 0:
        raise InputError("t", t, "a rational of at least 0")
    with working_precision(160):
        return Ball.from_arb(to_arb(t) * (to_arb(_variance(ratio)) / check_n(n)).sqrt(), 160).midpoint


def scaled_limit(t: Fraction, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""The number :math:`E(Z-t)_+=\varphi(t)-t\,\Phi(-t)`."""
    with working_precision(bits + 16):
        return Ball.from_arb(normal_hinge(flint.arb(1), to_arb(t)), bits)


def _variance(ratio: LikelihoodRatio) -> Any:
    variance = ratio.chi_square
    if not enclose(variance).lower > 0:
        raise InputError("ratio", ratio, "a law that is not the point mass at 1 (chi-square above 0)")
    return variance
