r"""The central Gaussian mechanism, and the integrals that the indices of Gaussian randomizers need.

The central Gaussian mechanism: its privacy profile, and its calibration.

The two integrals that the indices of Gaussian randomizers need, in balls, with every supremum proved.

Noise has unit variance here: inputs of length up to :math:`b=r/\sigma_0`, :math:`E_x(z)=e^{\langle
x,z\rangle-|x|^2/2}`, and a message at x has density :math:`\gamma+AE_x` against the standard normal law,
:math:`A=1-\gamma`.

**Upper index.** Let :math:`J(x_1,x)=E[(E_{x_1}-1)^2/(\gamma+AE_x)]`. A Gaussian change of measure makes it a function
of :math:`\rho=|x_1|`, :math:`\tau=|x|` and :math:`c=\langle x_1,x\rangle` alone. It rises in :math:`\rho` at fixed
:math:`(c,\tau)`; rises in :math:`\tau` at fixed :math:`(\rho,c)`, because :math:`1/(\gamma+Av)` is convex; and falls
in c. So the supremum is at :math:`x=-x_1`, :math:`|x_1|=b`: one integral on the line, the same in every dimension
(claim ``symshuffle.vecmean-bmg-upper-index``).

**Lower index against the largest blanket.** The least density over the ball is :math:`\gamma+Ae^{-b|z|-b^2/2}`; with
w its inverse, :math:`g(\rho)=E[(E_{\rho e}-1)^2w(|Z|)]=e^{\rho^2}W(2\rho)-2W(\rho)+W(0)`, :math:`W(\rho)=E\,w(|Z+\rho
e|)`. W rises because w does, and :math:`W'\le bA'W` with :math:`A'=1-\gamma w(0)`, so g rises on :math:`[A'b,b]`.
Below :math:`A'b`, either :math:`g\le(A'^2/\gamma)(e^{b^2}-1)\le g(b)` or finitely many cells, on each of which W is
taken at the two ends, show that g stays below g(b). For :math:`\gamma=0` W is convex, and g rises throughout.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any, Final

import flint

from symshuffle.accountants.bounds.search import smallest_meeting
from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.levels import LARGEST_LEVEL, read_target
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Exp,
    Number,
    Real,
    as_width,
    parse_inside,
    to_arb,
    working_precision,
)
from symshuffle.base.results import Bracket

_SCALE: Final = 1 << 24
"""Unit in which a noise multiplier is searched: the search was made for levels, which are smaller."""


def gaussian_profile(
    noise_multiplier: Number,
    *,
    eps: object = None,
    exp_eps: object = None,
    bits: int = DEFAULT_BITS,
    most: int = 1 << 16,
) -> Ball:
    r"""delta(eps) of Gaussian noise: :math:`\bar\Phi(a-b)-e^\varepsilon\bar\Phi(a+b)`, known to about ``bits`` bits.

    With s the noise multiplier (standard deviation over sensitivity), :math:`a=\varepsilon s` and
    :math:`b=1/(2s)`. The two terms agree in most digits where b is small, and both are tiny where a is large:
    precision is raised until the difference is known to a relative error of :math:`2^{-\text{bits}/2}`.

    - ``noise_multiplier``: positive; ``sigma * sqrt(n)`` for the mechanism of the paper under zero-out adjacency,
      half of that under replace-one.

    vecmean, Lemma A.1, equations (8) and (9).

    Examples
    --------
    >>> round(float(gaussian_profile(Fraction(1), eps=1)), 15)
    0.126936737506644

    - ``most``: largest precision in bits.
    """
    order = read_target(eps=eps, exp_eps=exp_eps)
    precision = 2 * bits
    while precision <= most:
        with working_precision(precision):
            value = _profile(to_arb(noise_multiplier), order)
            if value > 0 and value.rad() < value.mid() * flint.arb(2) ** (-bits // 2):
                return Ball.from_arb(value, bits)
        precision *= 2
    raise NotDecided(f"delta of Gaussian noise is below 2^-{most}, or the noise multiplier is enclosed too widely")


def _profile(s: flint.arb, order: Real) -> flint.arb:
    if not s > 0:
        raise InputError("noise_multiplier", s, "a positive number")
    ratio = to_arb(order)
    a, b = ratio.log() * s, 1 / (2 * s)
    root = flint.arb(2).sqrt()
    return (((a - b) / root).erfc() - ratio * ((a + b) / root).erfc()) / 2


def calibrate_gaussian(*, delta: object, eps: object = None, exp_eps: object = None, rtol: object = 1e-12) -> Bracket:
    """The smallest noise multiplier at which Gaussian noise is (eps, delta)-private; ``upper`` is the safe end.

    Examples
    --------
    >>> found = calibrate_gaussian(eps=1, delta="1e-5")
    >>> round(float(found.upper), 9)
    3.730631635
    """
    goal = parse_inside(delta, "delta", "(0, 1)")
    width = as_width(rtol)
    order = read_target(eps=eps, exp_eps=exp_eps)

    unit = Fraction(_SCALE if _is_met(order, goal) else 1 << math.ceil(1 / goal).bit_length())

    def bound(share: Fraction, _: float) -> Bracket:
        s = unit * share
        if s == 0:
            return Bracket(Fraction(1), Fraction(1), "ball", "closed form", "no noise")
        try:
            value = gaussian_profile(s, exp_eps=order)
        except NotDecided:
            value = _first_term(s, order)
        return Bracket(value.lower, value.upper, "ball", "closed form", "difference of two normal tails in balls")

    found = smallest_meeting(bound, goal, width, what="noise multiplier")
    return found.bracket("bisection on the profile, in balls", width).scaled(unit)


def _first_term(s: Fraction, order: Real) -> Ball:
    """Enclosure of delta by 0 and its first term, where the difference of both terms is too small to be known."""
    with working_precision(DEFAULT_BITS):
        level = to_arb(order.exponent) if isinstance(order, Exp) else to_arb(order - 1).log1p()
        excess = level * to_arb(s) - 1 / (2 * to_arb(s))
        return Ball(Fraction(0), Ball.from_arb((excess / flint.arb(2).sqrt()).erfc() / 2, DEFAULT_BITS).upper)


def _is_met(order: Real, goal: Fraction) -> bool:
    """True if the largest noise multiplier of the usual search meets the target; 1/goal always does.

    At level 0 delta is at most ``1 / (s sqrt(2 pi))`` for a noise multiplier s.
    """
    try:
        return gaussian_profile(Fraction(_SCALE * LARGEST_LEVEL), exp_eps=order).upper <= goal
    except NotDecided:  # far below every target
        return True


def upper_normal(z: flint.arb) -> flint.arb:
    """The upper tail of the standard normal law, at the working precision."""
    return (z / flint.arb(2).sqrt()).erfc() / 2


def _integral(integrand: Any, lower: flint.arb, upper: flint.arb) -> flint.arb:
    tolerance = flint.arb(2) ** (-flint.ctx.prec)
    value = flint.acb.integral(integrand, flint.acb(lower), flint.acb(upper), rel_tol=tolerance, abs_tol=tolerance)
    if not value.is_finite():
        raise NotDecided(f"an integral did not converge at {flint.ctx.prec} bits")
    return value.real


def _reach(shift: flint.arb) -> flint.arb:
    """A distance beyond which a normal tail is below the working precision: never below its shift."""
    return abs(shift) + flint.arb(_margin())


def _margin() -> int:
    """How far beyond its shift an integral goes, at least 0: what is further is bounded and joined."""
    return int((1.4 * flint.ctx.prec) ** 0.5) + 2


def upper_variance(gamma: flint.arb, b: flint.arb) -> flint.arb:
    r"""The supremum of J over the ball of radius b, without the factor :math:`A^2`; ``gamma`` may be 0."""
    if gamma == 0:
        a = b * b
        return (4 * a).exp() - 2 * (2 * a).exp() + a.exp()
    rest, half = 1 - gamma, b * b / 2

    def integrand(z: flint.acb, _: bool) -> flint.acb:
        toward, away = (b * z - half).exp(), (-b * z - half).exp()
        return (toward - 1) ** 2 / (gamma + rest * away) * (-z * z / 2).exp()

    reach = _reach(3 * b)
    body = _integral(integrand, -reach, reach) / (2 * flint.arb.pi()).sqrt()
    # Right of the reach (E - 1)^2 <= E^2, a normal shifted by 2b; left of it (E - 1)^2 <= 1; the weight is <= 1/gamma.
    tail = ((b * b).exp() * upper_normal(reach - 2 * b) + upper_normal(reach)) / gamma
    return body + tail.union(0)


def mean_weight(gamma: flint.arb, b: flint.arb, dimension: int, rho: flint.arb) -> flint.arb:
    r"""The number :math:`W(\rho)=E\,w(|Z+\rho e|)`, by the noncentral chi law of the length."""
    rest, half, d = 1 - gamma, b * b / 2, flint.arb(dimension)
    scale = 2 ** (1 - d / 2) * (d / 2).rgamma() * (-rho * rho / 2).exp()

    def integrand(length: flint.acb, _: bool) -> flint.acb:
        density = length ** (dimension - 1) * (-length * length / 2).exp()
        spread = (rho * rho * length * length / 4).hypgeom_0f1(flint.acb(d / 2))
        if gamma == 0:
            return density * spread * (b * length + half).exp()
        return density * spread / (gamma + rest * (-b * length - half).exp())

    reach = _reach(rho + (b if gamma == 0 else 0)) + d.sqrt()
    body = scale * _integral(integrand, flint.arb(0), reach)
    # Beyond the reach s = |Z| > start; there w <= 1/gamma, or w <= exp(b (s + rho) + b^2/2) and b s <= b s^2/start.
    start = reach - rho
    if gamma > 0:
        return body + (_chi_tail(d, start) / gamma).union(0)
    spare = 1 - 2 * b / start
    return body + ((b * rho + half).exp() * spare ** (-d / 2) * _chi_tail(d, start * spare.sqrt())).union(0)


def _chi_tail(d: flint.arb, start: flint.arb) -> flint.arb:
    return (start * start / 2).gamma_upper(d / 2, regularized=1)


def largest_blanket_variance(gamma: flint.arb, b: flint.arb, dimension: int) -> flint.arb:
    r"""The supremum of g over [0, b], without the factor :math:`A^2`; ``gamma`` may be 0."""

    def weight(rho: flint.arb) -> flint.arb:
        return mean_weight(gamma, b, dimension, rho)

    at_zero = weight(flint.arb(0))
    value = (b * b).exp() * weight(2 * b) - 2 * weight(b) + at_zero
    if gamma == 0:
        return value
    floor = gamma + (1 - gamma) * (-b * b / 2).exp()
    share = 1 - gamma / floor
    if not share * share * floor <= gamma:
        _cover(weight, at_zero, share * b, value)
    return value


def _cover(weight: Any, at_zero: flint.arb, end: flint.arb, value: flint.arb, *, most: int = 256) -> None:
    """Show that g < value on [0, end], cell by cell.

    - ``most``: cells after which the search below A'b gives up.
    """
    cells = 8
    while cells <= most:
        points = [end * i / cells for i in range(cells + 1)]
        low = [weight(rho) for rho in points]
        if all(
            (points[i + 1] ** 2).exp() * weight(2 * points[i + 1]) - 2 * low[i] + at_zero < value for i in range(cells)
        ):
            return
        cells *= 4
    raise NotDecided(f"which input is worst against the largest blanket is not decided with {cells // 4} cells")
