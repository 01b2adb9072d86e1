r"""The blanket-mixed Gaussian of least error at a lower index: the exact optimum in balls, and its expansion.

At index :math:`\chi` and informative share :math:`A=1-\gamma` the error is

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
from typing import TYPE_CHECKING, Any, final

import flint

from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import CertificateError, NotDecided
from symshuffle.base.numbers import DEFAULT_BITS, Ball, as_integer, parse_inside, to_arb, working_precision
from symshuffle.base.results import Bracket, check_claim
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian

if TYPE_CHECKING:
    import sympy as sp

_NARROWEST = Fraction(1, 10**300)
"""Relative widths below this are not checked."""

_MOST_CELLS = 20_000
"""Cells after which the search for the minimiser gives up."""


@final
@dataclass(frozen=True, slots=True)
class OptimalMixedGaussian:
    r"""The best parameters of a blanket-mixed Gaussian at a lower index.

    - ``share``: the minimiser :math:`A=1-\gamma` of the error; it is unique.
    - ``mechanism``: rational parameters beside the optimum, with the noise rounded up so that the index is at least
      ``chi``.
    """

    chi: Fraction
    share: Ball
    bracket: Bracket
    mechanism: BlanketMixedGaussian

    @property
    def about(self) -> str:
        """What the number is."""
        return f"least error of a mixed Gaussian of lower index {self.chi} in dimension {self.mechanism.dimension}"

    @property
    def evaluation(self) -> str:
        """How it is known."""
        return self.bracket.evaluation

    def verify(self) -> None:
        """Search again, from the index and the dimension alone."""
        widths = (self.bracket.width / self.bracket.upper, self.share.upper - self.share.lower)
        if not all(width >= _NARROWEST for width in widths):
            raise CertificateError("bracket", "narrower than any search here proves")
        bits = max(DEFAULT_BITS, *(64 + round(-math.log2(width)) for width in widths))  # as narrow as what is claimed
        share, least = _minimise(self.chi, self.mechanism.dimension, bits)
        check_claim(self.bracket, _bracket(least), "bracket")
        if not self.share.lower <= share.lower or not share.upper <= self.share.upper:
            raise CertificateError("share", f"{self.share!s} is claimed, {share} is proved")

    def to_dict(self) -> dict[str, Any]:
        """The optimum as plain data."""
        return {
            "chi": str(self.chi),
            "dimension": self.mechanism.dimension,
            "gamma": str(self.mechanism.gamma),
            "sigma0": str(self.mechanism.sigma0),
            "share": str(self.share),
            "err1": self.bracket.decimals(),
        }


def bmg_error(share: Any, chi: Any, dimension: Any) -> sp.Expr:
    r"""The error F at informative share A and index chi, as an expression (vecmean, Section 4.2)."""
    import sympy as sp

    u = (1 - share) / (share**2 * chi**2)
    return dimension / (share**2 * sp.log(1 + u)) + (1 - share) / share


def bmg_optimal(chi: object, dimension: int, *, bits: int = DEFAULT_BITS) -> OptimalMixedGaussian:
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
    return OptimalMixedGaussian(index, share, _bracket(least), mechanism)


def _bracket(least: Ball) -> Bracket:
    evaluation = "unique minimiser isolated by cells and convexity"
    return Bracket(least.lower, least.upper, Arithmetic.BALL, "cells", evaluation)


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
    start: Fraction, end: Fraction, best: flint.arb, chi: flint.arb, dimension: int
) -> Iterator[tuple[Fraction, Fraction]]:
    stack, seen = [(start, end)], 0
    finest = min(start, 1 - end) / 2**8
    while stack:
        low, high = stack.pop()
        seen += 1
        if seen > _MOST_CELLS:
            raise NotDecided(f"{_MOST_CELLS} cells do not isolate the minimiser")
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
