r"""The best density :math:`h(\langle u,x\rangle)` on the sphere at a given lower index: linear, clipped from below.

Among all mechanisms that send a point u of the sphere with density :math:`h(\langle u,v\rangle)` at a unit input v, the
estimate u/m with :math:`m=E[Th(T)]` is unbiased and has error :math:`1/m^2-1`. With the blanket of mass
:math:`\gamma\le\inf h`, the demand :math:`\chi_{lo}\ge\chi` reads :math:`E[(h-1)^2]\le\gamma/\chi^2`. Written in
:math:`(h,\gamma)` this is a convex program: a linear objective, a quadratic constraint with a linear right side. Its
conditions of optimality (claim ``symshuffle.vecmean-clipped-linear``) give

.. math:: h(t)=\max\bigl(\gamma,\;1-\tfrac1{2\chi^2}+\beta t\bigr),\qquad
          E\bigl[(\gamma-1+\tfrac1{2\chi^2}-\beta T)_+\bigr]=\frac1{2\chi^2},\qquad m=\frac{1+\gamma}{2\beta\chi^2}.

Without the clip it is :class:`~symshuffle.vectors.randomizers.mechanisms.SphereLinear`. The clip is what removes the
cost :math:`\sqrt d/\chi` of the linear density in high dimension.

Vectors of the ball are rounded to the sphere first, which mixes two laws and so raises no index.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

import flint

from symshuffle.base.choices import Arithmetic
from symshuffle.base.crossings import halved
from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import DEFAULT_BITS, Ball, to_arb, working_precision
from symshuffle.base.results import Bracket, check_claim, outward
from symshuffle.vectors.randomizers.mechanisms import ClippedLinear
from symshuffle.vectors.randomizers.sphere import partial_moments


@final
@dataclass(frozen=True, slots=True)
class ClippedNumbers:
    r"""What a clipped linear density is made of: :math:`h(t)=\gamma+\beta(t-t_0)_+`.

    - ``slope``: the slope :math:`\beta`.
    """

    gamma: Ball
    slope: Ball
    shrinkage: Ball


def clipped_numbers(mechanism: ClippedLinear, *, bits: int = DEFAULT_BITS) -> ClippedNumbers:
    r"""The density of a clipped mechanism in balls.

    With :math:`e_j=E[((T-t_0)_+)^j]` the unit mass gives :math:`\gamma=1-\beta e_1`, and the index
    :math:`\beta^2(e_2-e_1^2)=\gamma/\chi^2`: a quadratic equation for the slope.
    """
    with working_precision(bits + 32):
        first, second, cross = ramp_moments(to_arb(mechanism.clip), mechanism.dimension)
        spread = (second - first * first) * to_arb(mechanism.chi) ** 2
        slope = 2 / (first + (first * first + 4 * spread).sqrt())
        return ClippedNumbers(*(Ball.from_arb(v, bits) for v in (1 - slope * first, slope, slope * cross)))


def ramp_moments(clip: flint.arb, dimension: int) -> tuple[flint.arb, flint.arb, flint.arb]:
    r"""The numbers :math:`E(T-t_0)_+`, :math:`E((T-t_0)_+)^2` and :math:`E[T(T-t_0)_+]`."""
    mass, mean, square = partial_moments(-clip, dimension)  # of -T below -t0
    mean = -mean
    return mean - clip * mass, square - 2 * clip * mean + clip * clip * mass, square - clip * mean


@final
@dataclass(frozen=True, slots=True)
class BestDensity:
    r"""The least error over all densities :math:`h(\langle u,v\rangle)` at a lower index, certified from both sides.

    ``float`` returns the upper end, rounded up.

    - ``bracket``: the least error :math:`1/m^2-1` at unit inputs.
    """

    mechanism: ClippedLinear
    bracket: Bracket

    @property
    def about(self) -> str:
        """What the number is."""
        return f"least error of densities h(<u, v>) at unit inputs, lower index at least {self.mechanism.chi}"

    @property
    def evaluation(self) -> str:
        """How it is known."""
        return self.bracket.evaluation

    @property
    def excess(self) -> float:
        r"""How far the error is above :math:`d\chi^2`, relatively: what the central Gaussian does not pay."""
        floor = self.mechanism.dimension * self.mechanism.chi**2
        return float(self.bracket.upper / floor - 1)

    def verify(self) -> None:
        """Check both ends from the mechanism alone: its own error above, a dual point below."""
        upper, lower = _ends(self.mechanism, DEFAULT_BITS)
        check_claim(self.bracket, Bracket(lower, upper, Arithmetic.BALL, "duality", self.evaluation), "bracket")

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        mechanism = self.mechanism
        return {
            "dimension": mechanism.dimension,
            "chi": str(mechanism.chi),
            "clip": str(mechanism.clip),
            "err1": self.bracket.decimals(),
            "excess": self.excess,
        }

    def __float__(self) -> float:
        return outward(self.bracket.upper, up=True)


def best_density(chi: object, dimension: int, *, bits: int = DEFAULT_BITS) -> BestDensity:
    r"""The least error of densities :math:`h(\langle u,v\rangle)` with lower index at least ``chi``.

    - ``chi``: the index, above 0, read as a rational.
    - ``dimension``: length of the vectors, at least 2.

    Examples
    --------
    >>> found = best_density(100, 100)
    >>> found.verify()
    >>> round(found.excess, 4)
    0.0253
    """
    start = ClippedLinear(Fraction(0), dimension, chi)  # type: ignore[arg-type]  # reads and checks the numbers
    with working_precision(bits + 32):
        clip = _stationary_clip(start.chi, dimension, bits)
    mechanism = ClippedLinear(clip, dimension, start.chi)
    upper, lower = _ends(mechanism, bits)
    return BestDensity(
        mechanism, Bracket(lower, upper, Arithmetic.BALL, "duality", "clipped linear density and dual point")
    )


def _stationary_clip(chi: Fraction, dimension: int, bits: int) -> Fraction:
    r"""The height where the optimal slope and clip meet, by bisection.

    The loss at the clip is :math:`\beta E(t_0-T)_+`; it has to be :math:`1/(2\chi^2)`.
    """

    def met(clip: Fraction) -> bool:
        numbers = clipped_numbers(ClippedLinear(clip, dimension, chi), bits=bits)
        loss = to_arb(numbers.slope) * ramp_moments(-to_arb(clip), dimension)[0]
        return not loss * 2 * to_arb(chi) ** 2 < 1

    low, high = halved(met, Fraction(-1), Fraction(1), settled=bits)
    return (low + high) / 2


def _ends(mechanism: ClippedLinear, bits: int) -> tuple[Fraction, Fraction]:
    r"""An upper and a lower bound of the least error.

    For multipliers :math:`\mu`, :math:`\nu>0` and :math:`\eta\ge0` every admissible (h, gamma) has
    :math:`m\le E[Tg+\mu g-\nu g^2+\eta(g+1-\gamma)]+\nu\gamma/\chi^2` with g = h - 1. The maximum over g is pointwise.
    With :math:`2\nu=1/\beta` and :math:`\eta=2\nu(-k-b-\beta t)_+` it is attained at the clipped line, and what is left
    is affine in gamma in [0, 1].
    """
    with working_precision(bits + 32):
        numbers = clipped_numbers(mechanism, bits=bits + 32)
        m, slope, gamma = to_arb(numbers.shrinkage), to_arb(numbers.slope), to_arb(numbers.gamma)
        if not m > 0:
            raise NotDecided("the mean message is not told from 0 at this precision")
        t0, budget = to_arb(mechanism.clip), 1 / to_arb(mechanism.chi) ** 2
        loss = slope * ramp_moments(-t0, mechanism.dimension)[0]  # E(-k - b - beta T)_+
        # g = max(-k, beta t + b) with k = 1 - gamma, b = -k - beta t0; it has mean 0 and mean square gamma/chi^2.
        # E[T g + mu g - nu g^2 + eta g] with (T + mu + eta) = 2 nu g is nu E[g^2]; eta = 2 nu (clip amount).
        nu = 1 / (2 * slope)
        quadratic = nu * gamma * budget
        rest = [2 * nu * loss * (1 - other) + nu * other * budget for other in (flint.arb(0), flint.arb(1))]
        most = quadratic + rest[0].max(rest[1])
        return Ball.from_arb(1 / (m * m) - 1, bits).upper, Ball.from_arb(1 / (most * most) - 1, bits).lower
