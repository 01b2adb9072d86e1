r"""The sum of many independent losses on one lattice, by its transform over one period: in balls.

The profile of the sum is an inverse Laplace transform (:math:`1/(s(s+1))` is the transform of :math:`(1-e^{-y})_+`),

.. math:: \delta(\varepsilon)-P_\infty=\frac1{2\pi i}\int_{c-i\infty}^{c+i\infty}
   \frac{\prod_tM_t(s)\,e^{-s\varepsilon}}{s(s+1)}\,ds .

At a level of the lattice, :math:`\varepsilon=j\ell`, everything but the kernel has period :math:`2\pi i/\ell`, and the
kernels add up to one,

.. math:: \sum_m\frac1{(s+2\pi im/\ell)(s+1+2\pi im/\ell)}
   =\frac{(\ell/2)\sinh(\ell/2)}{\sinh(\ell s/2)\,\sinh(\ell(s+1)/2)} .

The mean over N points of the period differs from the integral by aliases: values of the tilted kernel
:math:`e^{-cy}(1-e^{-y})_+` a multiple of :math:`N\ell` away. None is negative, so the mean is an upper value as it is;
for a lower one all of them are taken off, those of sums beyond half a period by Chernoff's inequality.

With many rounds the transform is negligible on all of the period but a neighbourhood of the real axis. Points beyond it
are bounded, not evaluated. Over a stretch of half width r around u the tilted transform of one loss L is at most
:math:`|\varphi(u)|+r\,\sigma` in size, where :math:`\sigma` is the standard deviation of L under the tilt. The kernel
is largest on the real axis.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, final

import flint

from symshuffle.accountants.rounds.dominating import LatticeLaw
from symshuffle.accountants.rounds.losses import Losses
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Ball, to_arb, working_precision

_BITS: Final = 160
_SILENT: Final = 45.0
"""Exponent of the aliases."""

_NEGLIGIBLE: Final = 45.0
"""Exponent of the sum over points that are bounded."""

_MOST_POINTS: Final = 2**19
"""Points to evaluate beyond which a sum is refused."""

_STRETCH_BITS: Final = 64
"""Precision of a bound on a stretch."""


@final
@dataclass(frozen=True, slots=True)
class Period:
    """One period of the transform of a sum of losses."""

    losses: Losses
    tilt: float
    points: int
    terms: tuple[flint.acb, ...]
    silent: flint.arb

    @classmethod
    def at(cls, losses: Losses, tilt: float) -> Period:
        """The transform on a line."""
        step = float(losses.step)
        _, _, curve = losses.cumulant(tilt)
        reach = max(_SILENT / tilt, math.sqrt(2 * _SILENT * curve) * 1.1)
        points = 2 * math.ceil(2 * reach / step / 2) + 16
        quiet = _NEGLIGIBLE + math.log(points)
        loud = _loud(losses, tilt, points, quiet)
        if loud > _MOST_POINTS:
            raise Unsupported(f"arithmetic = ball: expected float64; the sum takes {loud} points, above {_MOST_POINTS}")
        with working_precision(_BITS):
            h, c = to_arb(losses.step), flint.arb(tilt)
            terms, most = [], (-flint.arb(quiet)).exp()
            for k in range(loud):
                s = flint.acb(c, 2 * flint.arb.pi() * k / (h * points))
                terms.append((h / 2).sinh() / ((h * s / 2).sinh() * (h * (s + 1) / 2).sinh()) / 2)
            most *= terms[0].real
            for law, times in losses.parts:
                most *= sum(_tilted(law, tilt), start=flint.arb(0)) ** times
                for k, value in enumerate(_transform(law, tilt, points, loud)):
                    terms[k] *= value**times
        return cls(losses, tilt, points, tuple(terms), most * (points + 1 - 2 * loud))

    def value(self, level: int) -> Fraction:
        """The profile at ``level * step``, on the side asked for."""
        up = self.losses.side == "upper"
        with working_precision(_BITS):
            h, c, n = to_arb(self.losses.step), flint.arb(self.tilt), self.points
            total = flint.arb(0)
            for k, term in enumerate(self.terms):
                share = (term * _turn(-2 * k * level, n)).real
                total += share if k in (0, n // 2) else 2 * share
            lead = (-c * h * level).exp()
            found = lead * (total + self.silent.union(-self.silent)) / n
            if not up:
                found -= lead * self._aliases(level)
            ball = Ball.from_arb(found, _BITS)
        return self.losses.revealed + (ball.upper if up else max(ball.lower, Fraction(0)))

    def _aliases(self, level: int) -> flint.arb:
        """What all aliases come to at most, before the factor ``exp(-c eps)``."""
        h, c = to_arb(self.losses.step), flint.arb(self.tilt)
        half = h * self.points / 2
        fall = (-2 * c * half).exp()
        near, later = (-c * half).exp() / (1 - fall), fall / (1 - fall)
        if half < 1:  # 1 - exp(-y) is at most y too: where losses are tiny, so are the values at the aliases
            near *= half * (1 + fall) / (1 - fall)
            later *= 2 * half * (2 - fall) / (1 - fall)
        kernel = 1 / (c * flint.arb(1).exp()) + later
        outside = flint.arb(0)
        for sign in (1, -1):
            by = self.losses.chernoff(self.tilt, float(self.losses.step) * (level + sign * self.points / 2), sign)
            place = h * level + sign * half
            outside += (self._log_moment(self.tilt + sign * by) - sign * flint.arb(by) * place).exp()
        return self._log_moment(self.tilt).exp() * near + outside * kernel

    def _log_moment(self, c: float) -> flint.arb:
        return sum(
            (times * sum(_tilted(law, c), start=flint.arb(0)).log() for law, times in self.losses.parts),
            start=flint.arb(0),
        )


def _tilted(law: LatticeLaw, tilt: float) -> list[flint.arb]:
    h, c = to_arb(law.step), flint.arb(tilt)
    return [flint.arb(mass) * (c * h * (law.first + k)).exp() for k, mass in enumerate(law.masses)]


def _loud(losses: Losses, tilt: float, points: int, quiet: float) -> int:
    """The number of points behind which the transform is at most ``exp(-quiet)`` times that at the real point."""
    # A power of a turn loses a bit at every second step.
    with working_precision(_STRETCH_BITS + max(len(law.masses) for law, _ in losses.parts)):
        turn = 2 * flint.arb.pi() / points
        parts = []
        for law, times in losses.parts:
            grown = _tilted(law, tilt)
            total = sum(grown, start=flint.arb(0))
            centre = (sum((k * g for k, g in enumerate(grown)), start=flint.arb(0)) / total).mid()
            square = sum((g * (k - centre) ** 2 for k, g in enumerate(grown)), start=flint.arb(0)) / total
            parts.append((flint.acb_poly([g / total for g in grown]), times, square.upper().sqrt()))

        def silent(first: int, last: int) -> bool:
            middle = (first + last) // 2
            radius = turn * max(last - middle, middle - first)
            size = flint.arb(0)
            for law, times, deviation in parts:
                one = law((turn * middle * flint.acb(0, 1)).exp()).abs_upper() + radius * deviation
                size += times * one.log()
            return bool(size < -quiet)

        last, length = points // 2, max(points // 4, 1)
        while last > 0:
            if silent(max(last - length + 1, 1), last):
                last -= min(length, last)
                length *= 2
            elif length == 1:
                break
            else:
                length = max(length // 4, 1)
        return last + 1


def _turn(k: int, n: int) -> flint.acb:
    """``exp(pi i k / n)``, the angle being exact."""
    sine, cosine = flint.arb.sin_cos_pi_fmpq(flint.fmpq(k % (2 * n), n))
    return flint.acb(cosine, sine)


def _transform(law: LatticeLaw, tilt: float, points: int, count: int) -> list[flint.acb]:
    """The transform of the tilted masses at the first points of the upper half, as many as are asked for.

    As one product of polynomials (Bluestein): powers of one turn would lose a bit at every second step, because a
    product of complex balls is a rectangle around a turned one.
    """
    atoms = len(law.masses)
    left = flint.acb_poly([mass * _turn(i * i, points) for i, mass in enumerate(_tilted(law, tilt))])
    right = flint.acb_poly([_turn(-m * m, points) for m in range(1 - atoms, count)])
    product = left * right
    return [product[k + atoms - 1] * _turn(k * k + 2 * k * law.first, points) for k in range(count)]
