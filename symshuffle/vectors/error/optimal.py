r"""Least errors at a lower index: of all densities on the sphere, and of the blanket-mixed Gaussian.

*Densities.* Among all mechanisms that send a point u of the sphere with density :math:`h(\langle u,v\rangle)` at a unit
input v, the estimate u/m with :math:`m=E[Th(T)]` is unbiased and has error :math:`1/m^2-1`. With the blanket of mass
:math:`\gamma\le\inf h`, the demand :math:`\chi_{lo}\ge\chi` reads :math:`E[(h-1)^2]\le\gamma/\chi^2`. Written in
:math:`(h,\gamma)` this is a convex program: a linear objective, a quadratic constraint with a linear right side. Its
conditions of optimality (claim ``symshuffle.vecmean-clipped-linear``) give

.. math:: h(t)=\max\bigl(\gamma,\;1-\tfrac1{2\chi^2}+\beta t\bigr),\qquad
          E\bigl[(\gamma-1+\tfrac1{2\chi^2}-\beta T)_+\bigr]=\frac1{2\chi^2},\qquad m=\frac{1+\gamma}{2\beta\chi^2}.

Without the clip it is :class:`~symshuffle.vectors.randomizers.mechanisms.SphereLinear`. The clip is what removes the
cost :math:`\sqrt d/\chi` of the linear density in high dimension.

*Mixed Gaussian.* At index :math:`\chi` and informative share :math:`A=1-\gamma` the error is

.. math:: F(A)=\frac d{A^2\log\bigl(1+\frac{1-A}{A^2\chi^2}\bigr)}+\frac{1-A}A.

F is cut into cells: on most of them it is provably above a value it takes; what remains is one interval on which it is
convex, and there its derivative changes sign once. At the two ends F is above :math:`d\chi^2/(1-A)` and above
:math:`d/(a^2\log(1+1/(a^2\chi^2)))` for :math:`A\le a`, because :math:`\log(1+u)\le u` and
:math:`A^2\log(1+1/(A^2\chi^2))` rises.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, final

import flint

from symshuffle.base.choices import SafeEnd
from symshuffle.base.crossings import halved
from symshuffle.base.errors import CertificateError, NotDecided
from symshuffle.base.numbers import DEFAULT_BITS, Ball, as_integer, parse_inside, to_arb, working_precision
from symshuffle.base.results import AnswerMethods, Bracket, check_claim
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, ClippedLinear
from symshuffle.vectors.randomizers.sphere import clipped_numbers, ramp_moments

if TYPE_CHECKING:
    import sympy as sp

_NARROWEST = Fraction(1, 10**300)
"""Relative widths below this are not checked."""


@final
@dataclass(frozen=True, slots=True)
class LeastError(AnswerMethods):
    r"""The least error of a family at a lower index, certified from both sides.

    ``float`` returns the upper end, rounded up.

    - ``mechanism``: of densities :math:`h(\langle u,v\rangle)` at unit inputs a clipped linear one; of mixed Gaussians
      rational parameters beside the optimum, with the noise rounded up so that the index is at least ``chi``.
    - ``share``: the minimiser :math:`A=1-\gamma` of the error of a mixed Gaussian; it is unique.
    """

    safe: ClassVar[SafeEnd] = "upper"
    mechanism: Any  # BlanketMixedGaussian or ClippedLinear
    chi: Fraction
    bracket: Bracket
    share: Ball | None = None

    @property
    def about(self) -> str:
        """What the number is."""
        if isinstance(self.mechanism, ClippedLinear):
            return f"least error of densities h(<u, v>) at unit inputs, lower index at least {self.chi}"
        return f"least error of a mixed Gaussian of lower index {self.chi} in dimension {self.mechanism.dimension}"

    @property
    def excess(self) -> float:
        r"""How far the error is above :math:`d\chi^2`, relatively: what the central Gaussian does not pay."""
        return float(self.bracket.upper / (self.mechanism.dimension * self.chi**2) - 1)

    def verify(self) -> None:
        """Check both ends from the mechanism alone, or search again from the index and the dimension alone."""
        if isinstance(self.mechanism, ClippedLinear):
            check_claim(self.bracket, _density_ends(self.mechanism, DEFAULT_BITS), "bracket")
            return
        claimed = self.share or Ball(Fraction(0), Fraction(0))
        widths = (self.bracket.width / self.bracket.upper, claimed.upper - claimed.lower)
        if not all(width >= _NARROWEST for width in widths):
            raise CertificateError("bracket", "narrower than any search here proves")
        bits = max(DEFAULT_BITS, *(64 + round(-math.log2(width)) for width in widths))  # as narrow as what is claimed
        share, least = _minimise(self.chi, self.mechanism.dimension, bits)
        check_claim(self.bracket, _bracket(least), "bracket")
        if not claimed.lower <= share.lower or not share.upper <= claimed.upper:
            raise CertificateError("share", f"{claimed!s} is claimed, {share} is proved")

    def to_dict(self) -> dict[str, Any]:
        """The result as plain data."""
        names = [name for name in type(self.mechanism).__dataclass_fields__ if name != "dimension"]
        return {
            "dimension": self.mechanism.dimension,
            "chi": str(self.chi),
            "parameters": {name: str(getattr(self.mechanism, name)) for name in names},
            "share": None if self.share is None else str(self.share),
            "err1": self.bracket.decimals(),
            "excess": self.excess,
        }


def bmg_error(share: Any, chi: Any, dimension: Any) -> sp.Expr:
    r"""The error F at informative share A and index chi, as an expression (vecmean, Section 4.2)."""
    import sympy as sp

    u = (1 - share) / (share**2 * chi**2)
    return dimension / (share**2 * sp.log(1 + u)) + (1 - share) / share


def bmg_optimal(chi: object, dimension: int, *, bits: int = DEFAULT_BITS) -> LeastError:
    """The blanket-mixed Gaussian of least worst-case error with lower index at least ``chi``.

    - ``chi``: the index against the mechanism's own blanket, above 0, read as a rational.

    Examples
    --------
    >>> found = bmg_optimal(100, 1)
    >>> print(found.bracket)
    [10737.36889, 10737.3689] (ball, cells)
    """
    index = parse_inside(chi, "chi", "(0, inf)")
    dimension = as_integer(dimension, "dimension", 1)
    share, least = _minimise(index, dimension, bits)
    rational = share.midpoint.limit_denominator(10**12)
    with working_precision(bits + 32):
        a = to_arb(rational)
        sigma0 = 1 / (((1 - a) / (a * to_arb(index)) ** 2).log1p()).sqrt()
        rounded = Fraction(-((-Ball.from_arb(sigma0, bits).upper * 10**15) // 1), 10**15)
    mechanism = BlanketMixedGaussian(1 - rational, rounded, Fraction(1), dimension)
    return LeastError(mechanism, index, _bracket(least), share)


def _bracket(least: Ball) -> Bracket:
    evaluation = "unique minimiser isolated by cells and convexity"
    return Bracket(least.lower, least.upper, "ball", "cells", evaluation)


def _gregory(u: flint.arb) -> tuple[flint.arb, flint.arb, flint.arb]:
    r"""The function :math:`G(u)=u/\log(1+u)` and two derivatives, for u > 0.

    :math:`G(u)=\int_0^1(1+u)^sds`, so G rises, G' falls and G'' rises: on a ball each lies between its ends.
    """
    lower, upper = (_gregory_at(end) for end in (u.lower(), u.upper()))
    first, second, third = (one.union(other) for one, other in zip(lower, upper, strict=True))
    return first, second, third


def _gregory_at(u: flint.arb) -> tuple[flint.arb, flint.arb, flint.arb]:
    log, one = u.log1p(), 1 + u
    first = 1 / log - u / (one * log**2)
    second = -2 / (one * log**2) + u / (one**2 * log**2) + 2 * u / (one**2 * log**3)
    return u / log, first, second


def _error(share: flint.arb, chi: flint.arb, dimension: int) -> tuple[flint.arb, flint.arb, flint.arb]:
    r"""F and two derivatives on a ball: :math:`d\chi^2G(u)/(1-A)+(1-A)/A` with :math:`u=(1-A)/(A\chi)^2`."""
    a, rest, square = share, 1 - share, chi * chi
    # 1/A^2 - 1/A and its derivatives fall in A, and (6 - 2A)/A^4 does: ends again.
    value, first, second = _gregory(_falling(lambda x: (1 - x) / (x * chi) ** 2, a))
    slope = -_falling(lambda x: (2 - x) / (x**3 * square), a)
    bend = _falling(lambda x: (6 - 2 * x) / (x**4 * square), a)
    scale = dimension * square
    inner = first * slope / rest + value / rest**2
    curvature = (second * slope**2 + first * bend) / rest + 2 * first * slope / rest**2 + 2 * value / rest**3
    return scale * value / rest + rest / a, scale * inner - 1 / a**2, scale * curvature + 2 / a**3


def _falling(function: Callable[[flint.arb], flint.arb], ball: flint.arb) -> flint.arb:
    """The values of a falling function on a ball, from its two ends."""
    return function(ball.lower()).union(function(ball.upper()))


def _minimise(index: Fraction, dimension: int, bits: int) -> tuple[Ball, Ball]:
    with working_precision(bits + 32):
        chi = to_arb(index)
        guess = _guess(float(index), dimension)
        best = _error(to_arb(guess), chi, dimension)[0]
        low, high = _hull(guess, best, chi, dimension)
        for _ in range(2 * bits):
            middle = (low + high) / 2
            slope = _error(to_arb(middle), chi, dimension)[1]
            if slope < 0:
                low = middle
            elif slope > 0:
                high = middle
            else:
                break
        ball = Ball(low, high, bits)
        # F is convex around its minimum: the tangent at the middle bounds it from below.
        at, width = _error(to_arb((low + high) / 2), chi, dimension), to_arb((high - low) / 2)
        value = at[0] - (abs(at[1]) * width).union(0)
        return ball, Ball.from_arb(value, bits)


def _guess(chi: float, dimension: int) -> Fraction:
    from scipy.optimize import minimize_scalar

    def error(share: float) -> float:
        return dimension / (share**2 * math.log1p((1 - share) / (share * chi) ** 2)) + (1 - share) / share

    found = minimize_scalar(error, bounds=(1e-9, 1 - 1e-9), method="bounded", options={"xatol": 1e-12})
    return Fraction(float(found.x)).limit_denominator(10**12)


def _hull(guess: Fraction, best: flint.arb, chi: flint.arb, dimension: int) -> tuple[Fraction, Fraction]:
    """An interval that holds every minimiser and on which F is convex with a change of sign of its slope."""
    start, end = guess / 2, (1 + guess) / 2
    while not dimension / (to_arb(start) ** 2 * (1 / (to_arb(start) * chi) ** 2).log1p()) > best:
        start /= 2
    while not dimension * chi * chi / (1 - to_arb(end)) > best:
        end = (1 + end) / 2
    kept = sorted(_kept_cells(start, end, best, chi, dimension))
    touching = all(left[1] == right[0] for left, right in itertools.pairwise(kept))
    convex = all(_error(to_arb(low).union(to_arb(high)), chi, dimension)[2] > 0 for low, high in kept)
    if not (touching and convex):
        raise NotDecided("the cells that may hold the minimiser are not one interval of convexity")
    return kept[0][0], kept[-1][1]


def _kept_cells(
    start: Fraction, end: Fraction, best: flint.arb, chi: flint.arb, dimension: int, *, most: int = 20_000
) -> Iterator[tuple[Fraction, Fraction]]:
    stack, seen = [(start, end)], 0
    finest = min(start, 1 - end) / 2**8
    while stack:
        low, high = stack.pop()
        seen += 1
        if seen > most:
            raise NotDecided(f"the minimiser is not isolated with {most} cells")
        narrow = 4 * high <= 5 * low and 4 * (1 - low) <= 5 * (1 - high)  # wider balls lose their sign in a product
        if narrow:
            taylor = _error(to_arb(low).union(to_arb(high)), chi, dimension)
            if taylor[0] > best or taylor[1] > 0 or taylor[1] < 0:
                continue
        if narrow and high - low <= finest:
            yield low, high
        else:
            middle = (low + high) / 2
            stack += [(low, middle), (middle, high)]


def best_density(chi: object, dimension: int, *, bits: int = DEFAULT_BITS) -> LeastError:
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
    start = ClippedLinear(Fraction(0), dimension, chi)
    with working_precision(bits + 32):
        clip = _stationary_clip(start.chi, dimension, bits)
    mechanism = ClippedLinear(clip, dimension, start.chi)
    return LeastError(mechanism, start.chi, _density_ends(mechanism, bits))


def _stationary_clip(chi: Fraction, dimension: int, bits: int) -> Fraction:
    r"""The height where the optimal slope and clip meet, by bisection.

    The loss at the clip is :math:`\beta E(t_0-T)_+`; it has to be :math:`1/(2\chi^2)`.
    """

    def met(clip: Fraction) -> bool:
        _, slope, _ = clipped_numbers(ClippedLinear(clip, dimension, chi), bits=bits)
        loss = to_arb(slope) * ramp_moments(-to_arb(clip), dimension)[0]
        return not loss * 2 * to_arb(chi) ** 2 < 1

    low, high = halved(met, Fraction(-1), Fraction(1), settled=bits)
    return (low + high) / 2


def _density_ends(mechanism: ClippedLinear, bits: int) -> Bracket:
    r"""A bracket of the least error: that of the density itself above, a dual point below.

    For multipliers :math:`\mu`, :math:`\nu>0` and :math:`\eta\ge0` every admissible (h, gamma) has
    :math:`m\le E[Tg+\mu g-\nu g^2+\eta(g+1-\gamma)]+\nu\gamma/\chi^2` with g = h - 1. The maximum over g is pointwise.
    With :math:`2\nu=1/\beta` and :math:`\eta=2\nu(-k-b-\beta t)_+` it is attained at the clipped line, and what is left
    is affine in gamma in [0, 1].
    """
    with working_precision(bits + 32):
        gamma, slope, m = map(to_arb, clipped_numbers(mechanism, bits=bits + 32))
        if not m > 0:
            raise NotDecided("whether the mean message is 0 is not decided at this precision")
        t0, budget = to_arb(mechanism.clip), 1 / to_arb(mechanism.chi) ** 2
        loss = slope * ramp_moments(-t0, mechanism.dimension)[0]  # E(-k - b - beta T)_+
        # g = max(-k, beta t + b) with k = 1 - gamma, b = -k - beta t0; it has mean 0 and mean square gamma/chi^2.
        # E[T g + mu g - nu g^2 + eta g] with (T + mu + eta) = 2 nu g is nu E[g^2]; eta = 2 nu (clip amount).
        nu = 1 / (2 * slope)
        quadratic = nu * gamma * budget
        rest = [2 * nu * loss * (1 - other) + nu * other * budget for other in (flint.arb(0), flint.arb(1))]
        most = quadratic + rest[0].max(rest[1])
        upper, lower = Ball.from_arb(1 / (m * m) - 1, bits).upper, Ball.from_arb(1 / (most * most) - 1, bits).lower
    return Bracket(lower, upper, "ball", "duality", "clipped linear density and dual point")
