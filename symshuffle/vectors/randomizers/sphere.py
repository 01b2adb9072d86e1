r"""Projections of a uniform point of the sphere: partial moments of :math:`T=\langle U,e\rangle`; PrivUnit's numbers.

T has density :math:`c_d(1-t^2)^{(d-3)/2}` on [-1, 1] with :math:`c_d=\Gamma(d/2)/(\sqrt\pi\,\Gamma((d-1)/2))`, so
:math:`(1+T)/2` is a beta variable with both parameters :math:`(d-1)/2`. Everything here follows from its distribution
function and two primitives: :math:`-(1-t^2)^{(d-1)/2}/(d-1)` of t times the density, and :math:`t(1-t^2)^{(d-1)/2}`
of :math:`1-dt^2` times the density.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import flint

from symshuffle.base.errors import InputError, NotDecided
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Real, Verdict, less, minimum, to_arb, working_precision
from symshuffle.vectors.randomizers.mechanisms import PrivUnit, SphereLinear


def density_constant(dimension: int) -> flint.arb:
    """The constant c_d of the density of T, at the working precision."""
    half = flint.arb(dimension) / 2
    return half.gamma() / (flint.arb.pi().sqrt() * (half - flint.arb(1) / 2).gamma())


def cap_complement(theta: flint.arb, dimension: int) -> flint.arb:
    """Probability that T < theta, by the beta law of (1 + T)/2."""
    half = (flint.arb(dimension) - 1) / 2
    return ((1 + theta) / 2).beta_lower(half, half, regularized=True)


def partial_moments(theta: flint.arb, dimension: int) -> tuple[flint.arb, flint.arb, flint.arb]:
    r"""The numbers :math:`E[T^j;T<\theta]` for j = 0, 1, 2."""
    mass = cap_complement(theta, dimension)
    edge = density_constant(dimension) * (1 - theta * theta) ** ((flint.arb(dimension) - 1) / 2)
    return mass, -edge / (dimension - 1), (mass - theta * edge) / dimension


@final
@dataclass(frozen=True, slots=True)
class CapNumbers:
    r"""What PrivUnit's indices and risk are made of.

    - ``alpha``: mean height of the cap, :math:`E[T\mid T\ge\theta]`.
    - ``shrinkage``: the number m with :math:`E[Y]=mv`.
    - ``advantage``: :math:`\Delta=p+q-1`, zero where the mechanism ignores its input.
    - ``high``, ``low``: density on the cap, :math:`p/(1-q)`, and on the rest, :math:`(1-p)/q`.

    vecmean, Appendix A.4.
    """

    q: Ball
    alpha: Ball
    shrinkage: Ball
    advantage: Ball
    high: Ball
    low: Ball

    @property
    def gamma(self) -> Ball:
        """Mass of the uniform blanket, which is the largest one."""
        common: Ball = minimum([self.high, self.low])
        return common


def cap_numbers(mechanism: PrivUnit, *, bits: int = DEFAULT_BITS) -> CapNumbers:
    """PrivUnit's numbers in balls."""
    with working_precision(bits + 32):
        p, theta, d = to_arb(mechanism.p), to_arb(mechanism.theta), mechanism.dimension
        q, below, _ = partial_moments(theta, d)
        outside = cap_complement(-theta, d)  # 1 - q without cancellation
        alpha = -below / outside
        numbers = (q, alpha, alpha * (p - outside) / q, p - outside, p / outside, (1 - p) / q)
        if not all(number.is_finite() for number in numbers):
            raise NotDecided(f"the cap at theta = {mechanism.theta} in dimension {d} is too small at {bits} bits")
        return CapNumbers(*(Ball.from_arb(number, bits) for number in numbers))


def cap_numbers_float(mechanism: PrivUnit) -> tuple[float, float, float]:
    """The triple (q, alpha, m) in doubles, by SciPy, from the beta law of :math:`1-T^2`: the second witness."""
    import math

    from scipy.special import betainc, betaln

    p, theta, d = float(mechanism.p), float(mechanism.theta), mechanism.dimension
    tail = 0.5 * float(betainc((d - 1) / 2, 0.5, 1 - theta * theta))
    outside = tail if theta >= 0 else 1 - tail
    q = 1 - tail if theta >= 0 else tail

    edge = math.exp((d - 1) / 2 * math.log1p(-theta * theta) - float(betaln((d - 1) / 2, 0.5))) / (d - 1)
    alpha = edge / outside
    return q, alpha, alpha * (p - outside) / q


def epsilon0(mechanism: PrivUnit | SphereLinear, *, bits: int = DEFAULT_BITS) -> Ball:
    """Local privacy level in nats: the logarithm of the largest ratio of two densities."""
    with working_precision(bits + 32):
        if isinstance(mechanism, SphereLinear):
            c = to_arb(mechanism.c)
            return Ball.from_arb(((1 + c) / (1 - c)).log(), bits)
        numbers = cap_numbers(mechanism, bits=bits + 32)
        ratio = (to_arb(numbers.high) / to_arb(numbers.low)).log()
        return Ball.from_arb(abs(ratio), bits)


@takes_eps0()
def privunit_at(lam: Real, theta: object, dimension: int, *, bits: int = 64) -> PrivUnit:
    r"""PrivUnit with a cap of height theta at the local level :math:`\log\lambda`.

    - ``lam``: ratio cap :math:`e^{\varepsilon_0}`, above 1.
    - ``dimension``: length of the vectors.
    - ``bits``: the probability p of the cap is irrational in general: it is rounded down at this many bits, so that
      the mechanism is never less private than asked.
    """
    if less(1, lam) is not Verdict.TRUE:
        raise InputError("lam", lam, "a number > 1")
    probe = PrivUnit(Fraction(1, 2), theta, dimension)  # type: ignore[arg-type]  # read by the mechanism
    with working_precision(bits + 64):
        height = to_arb(probe.theta)
        q, outside = cap_complement(height, dimension), cap_complement(-height, dimension)
        weight = outside * to_arb(lam)
        p = _round_down(weight / (q + weight), bits)
        if not to_arb(p) > outside:
            raise InputError("lam", lam, f"a larger number: at {bits} bits the mechanism would ignore its input")
    return PrivUnit(p, probe.theta, dimension)


@takes_eps0()
def sphere_linear_at(lam: Real, dimension: int, *, bits: int = 64) -> SphereLinear:
    r"""The linear density of local level :math:`\log\lambda`: slope :math:`(\lambda-1)/(\lambda+1)`, rounded down."""
    if less(1, lam) is not Verdict.TRUE:
        raise InputError("lam", lam, "a number > 1")
    with working_precision(bits + 64):
        cap = to_arb(lam)
        return SphereLinear(_round_down((cap - 1) / (cap + 1), bits), dimension)


def _round_down(value: flint.arb, bits: int) -> Fraction:
    """A rational of the given number of binary places, just below a number of (0, 1)."""
    lower: Any = Ball.from_arb(value, bits + 64).lower
    return Fraction((lower.numerator << bits) // lower.denominator, 1 << bits)
