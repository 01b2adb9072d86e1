r"""Whether opposite background is worst for Gaussian messages: a certified search over all inputs on the line.

A user holds x or nothing, the other n - 1 hold :math:`b_2,\dots,b_n`, all in [-1, 1], and every message carries noise
:math:`N(0,\sigma_0^2)`. The conjecture of Chua et al. says that x = 1 and all others at -1 is worst. In units of
:math:`\sigma_0`, with :math:`E_u(z)=e^{uz-u^2/2}` and inputs in :math:`[-1/\sigma_0,1/\sigma_0]`,

.. math:: D(a,b)=E_{Z\sim N(0,I)}\Bigl[\Bigl(\frac1{n!}\sum_\pi(E_a-e^\varepsilon)(Z_{\pi1})
          \prod_{i\ge2}E_{b_i}(Z_{\pi i})\Bigr)_+\Bigr].

*One value, from above.* The integrand is convex in the vector :math:`(E_a,E_{b_2},\dots)(z_i)` for each i. Between
two points of a grid of width h every entry lies below its chord by at most a factor :math:`1+\kappa`,
:math:`\kappa=(u^2h^2/8)e^{uh}`, hence within :math:`\kappa/2` of the chord over :math:`1+\kappa/2`, relatively. On the
chord, convexity moves the mass to the two grid points (hat functions). So the sum over the grid, over
:math:`(1+\kappa/2)^n`, is at least D up to :math:`(1+e^\varepsilon)((1+\kappa/2)^n-1)` and tails.

*A box of inputs.* D is a supremum over events, so moving inputs changes it by at most total variations:
:math:`|a-a'|/\sqrt{2\pi}` (times :math:`e^\varepsilon` in the other order), and
:math:`\lVert R_a-e^\varepsilon R_0\rVert_1|b_i-b_i'|/\sqrt{2\pi}` with
:math:`\lVert R_a-e^\varepsilon R_0\rVert_1=2D_{e^\varepsilon}(R_a\Vert R_0)+e^\varepsilon-1`. Boxes are halved until
none exceeds the conjectured value by more than the tolerance.
"""

from __future__ import annotations

import heapq
import itertools
import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

import flint

from symshuffle.base.choices import SafeEnd
from symshuffle.base.errors import CertificateError, InputError, NotDecided
from symshuffle.base.numbers import (
    Ball,
    as_integer,
    format_decimal,
    parse_inside,
    parse_rational,
    to_arb,
    working_precision,
)
from symshuffle.base.results import AnswerMethods, Bracket, check_claim, outward
from symshuffle.vectors.randomizers.gaussian import gaussian_profile, upper_normal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector: TypeAlias = NDArray[np.float64]

_Box: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
"""Ranges of a and of the others' positions, in units of sigma0."""


_WINDOW: Final = 7
"""Half length of the grid, beyond the largest input."""

_ROUNDING: Final = 1e-12
"""Above what doubles lose: every term is known to a few units in the last place, and they sum to less than 3."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class WorstBackground(AnswerMethods):
    """How far any background can be above a conjectured one.

    ``float`` returns the upper end, rounded up.

    - ``sigma0``, ``eps``: standard deviation of the noise, and level in nats.
    - ``bracket``: the largest divergence over all inputs in [-1, 1]: below by the opposite background, above by the
      boxes.
    """

    n: int
    sigma0: Fraction
    eps: Fraction
    reverse: bool
    bracket: Bracket
    conjectured: Bracket
    others: Fraction
    boxes: int
    counterexample: tuple[Fraction, ...] | None = None

    @property
    def about(self) -> str:
        """What the number is."""
        order = "(null symbol, x)" if self.reverse else "(x, null symbol)"
        return (
            f"largest divergence at eps = {self.eps} of n = {self.n} shuffled messages x + N(0, {self.sigma0}^2), in "
            f"the order {order}, over all inputs in [-1, 1] of all users"
        )

    @property
    def safe(self) -> SafeEnd:
        """A leakage is overstated safely."""
        return "upper"

    @property
    def excess(self) -> Fraction:
        """The most by which a background can exceed the conjectured one, relatively."""
        return self.bracket.upper / self.conjectured.lower - 1

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return AnswerMethods.to_dict(self) | {
            "conjectured": self.conjectured.decimals(),
            "others": str(self.others),
            "excess": float(self.excess),
            "boxes": self.boxes,
            "counterexample": None if self.counterexample is None else [str(x) for x in self.counterexample],
        }

    def verify(self) -> None:
        """Search again from the problem alone."""
        search = _Search(self.n, self.sigma0, self.eps, self.reverse)
        again = search.constant(self.others)
        check_claim(self.conjectured, again, "conjectured")
        if self.counterexample is None:
            if self.bracket.lower > again.lower:
                raise CertificateError("bracket.lower", "above what the conjectured background certainly attains")
            if search.below(self.bracket.upper)[1] is not None:
                raise CertificateError("bracket.upper", f"a box stays above {float(self.bracket.upper):.9g}")
            return
        if not all(-1 <= x <= 1 for x in self.counterexample) or len(self.counterexample) != self.n:
            raise CertificateError("counterexample", f"{self.n} inputs in [-1, 1] are needed")
        attained = Fraction(search.merged(tuple(x / self.sigma0 for x in self.counterexample)))
        shown = format_decimal(attained, digits=9, up=False)
        if attained <= again.upper:
            raise CertificateError("counterexample", f"attains {shown}, not above the conjectured one")
        if attained < self.bracket.lower:
            raise CertificateError("bracket.lower", f"above what the counterexample attains, {shown}")
        if self.bracket.upper < 1:
            raise CertificateError("bracket.upper", "below 1, the bound where a counterexample was found")


def worst_background_on_the_line(
    *, n: int, sigma0: object, eps: object, tolerance: object = "1/100", reverse: bool = False, others: object = -1
) -> WorstBackground:
    """Bound on the divergence over all inputs of 2 or 3 users in dimension 1.

    The bound is the value of the conjectured worst background, where all other users hold -1, up to a tolerance.

    Parameters
    ----------
    n : int
        Number of users, 2 or 3.
    sigma0 : object
        Standard deviation of the noise, a rational of at least 1/2.
    eps : object
        Level in nats, a rational of at least 0.
    tolerance : object
        Relative excess of the bound over the conjectured value that is allowed, in (0, 1).
    reverse : bool
        Whether the null symbol comes first.
    others : object
        Input of all other users in the background that is tested, a rational in [-1, 1]; -1 in the conjecture.

    Returns
    -------
    WorstBackground
        The bound as a bracket, the conjectured value, and the counterexample if one was found.

    Raises
    ------
    InputError
        If an argument is out of range.
    NotDecided
        If the tolerance is not met by the largest number of boxes: there may be a counterexample, or the grid is too
        coarse for the tolerance.

    Notes
    -----
    vecmean, Section 4.3, on Conjecture 3.2 of Chua et al. (2024). Dimension 1.
    """
    n = as_integer(n, "n", 2, 3)
    scale, level = parse_rational(sigma0, "sigma0"), parse_rational(eps, "eps")
    share = parse_rational(tolerance, "tolerance")
    if scale < Fraction(1, 2):
        raise InputError("sigma0", scale, "a number >= 1/2")
    if level < 0:
        raise InputError("eps", level, "a number >= 0")
    if not 0 < share < 1:
        raise InputError("tolerance", share, "a number in (0, 1)")
    place = parse_inside(others, "others", "[-1, 1]")
    search = _Search(n, scale, level, reverse)
    conjectured = search.constant(place)
    aim = conjectured.lower * (1 + share)
    boxes, stuck = search.below(aim)
    if stuck is not None:
        attained = Fraction(search.merged(stuck))
        if attained <= conjectured.upper:
            raise NotDecided(f"a box of inputs stays above {float(aim):.6g}: a coarser tolerance may decide")
        bracket = Bracket(attained, Fraction(1), "ball", "boxes", "a background that exceeds the conjectured one")
        inputs = tuple(x * scale for x in stuck)
        return WorstBackground(n, scale, level, reverse, bracket, conjectured, place, boxes, inputs)
    evaluation = f"{boxes} boxes of inputs, grid sums with a proved excess"
    return WorstBackground(
        n,
        scale,
        level,
        reverse,
        Bracket(conjectured.lower, aim, "ball", "boxes", evaluation),
        conjectured,
        place,
        boxes,
    )


@final
class _Search:
    """Branch and bound over boxes of inputs for one setting."""

    def __init__(self, n: int, sigma0: Fraction, eps: Fraction, reverse: bool, *, steepest: float = 0.39895) -> None:
        # steepest: above 1/sqrt(2 pi), the total variation of two unit normals per distance of their means
        self.n, self.reverse = n, reverse
        self.radius = 1 / sigma0
        with working_precision(64):
            self.alpha = outward(_upper(to_arb(eps).exp()), up=True)
        profile = gaussian_profile(sigma0, eps=eps).upper
        norm = 2 * outward(profile, up=True) + self.alpha - 1
        self.slopes = (steepest * (self.alpha if reverse else 1.0), *(steepest * norm for _ in range(n - 1)))
        self.points = 641 if n == 2 else 121

    def constant(self, others: Fraction) -> Bracket:
        """One user at 1 or absent, all others at one place: outputs merged below, the grid sum above."""
        inputs = (self.radius, *((others * self.radius,) * (self.n - 1)))
        evaluation = "outputs merged to cells (data processing) and a grid sum with a proved excess"
        return Bracket(Fraction(self.merged(inputs)), Fraction(self.value(inputs)), "ball", "boxes", evaluation)

    def below(self, aim: Fraction, *, most: int = 200_000) -> tuple[int, tuple[Fraction, ...] | None]:
        """Number of boxes that were bounded, and inputs at which the bound stays above the aim; None if nowhere.

        - ``most``: boxes after which the search ends.
        """
        r, goal = self.radius, outward(aim, up=False)
        start: _Box = ((Fraction(0), r), *(((-r, r),) * (self.n - 1)))
        heap: list[tuple[float, int, _Box]] = [(-math.inf, 0, start)]
        ticket = itertools.count(1)
        seen = 0
        while heap:
            bound, _, box = heapq.heappop(heap)
            if -bound <= goal:
                break
            if seen >= most:
                return seen, _middle(box)
            for part in self._halves(box):
                seen += 1
                value, slack = self.value(_middle(part)), self._slack(part)
                if value > goal and slack < 0.02 * (value - goal):
                    return seen, _middle(part)
                if value + slack > goal:
                    heapq.heappush(heap, (-(value + slack), next(ticket), part))
        return seen, None

    def _slack(self, box: _Box) -> float:
        return sum(
            slope * outward((high - low) / 2, up=True) for slope, (low, high) in zip(self.slopes, box, strict=True)
        ) * (1 + 1e-12)

    def _halves(self, box: _Box) -> list[_Box]:
        """The box cut across the side that costs most; backgrounds that differ by order are looked at once."""
        costs = [slope * float(high - low) for slope, (low, high) in zip(self.slopes, box, strict=True)]
        side = costs.index(max(costs))
        low, high = box[side]
        middle = (low + high) / 2
        parts = [(*box[:side], cut, *box[side + 1 :]) for cut in ((low, middle), (middle, high))]
        return [part for part in parts if self.n == 2 or part[1][0] <= part[2][1]]

    def value(self, inputs: tuple[Fraction, ...]) -> float:
        """A double that is at least the divergence at one choice of inputs, in units of sigma0."""
        h, weights, tail = _grid(self.radius, self.points)
        first, *others = (_likelihoods(x, self.radius, self.points) for x in inputs)
        difference = self._difference(first, 1)
        total = _positive_part(difference, others, weights)
        size = float(self.radius)
        kappa = size * size * h * h / 8 * math.exp(size * h) * (1 + 1e-12)
        centred = (1 + kappa / 2) ** self.n
        excess = (1 + self.alpha) * (centred - 1 + self.n * tail)
        return total / centred + excess * (1 + 1e-12) + _ROUNDING * (1 + self.alpha)

    def merged(self, inputs: tuple[Fraction, ...]) -> float:
        """A double that is at most the divergence: that of the messages' cells."""
        import numpy as np

        first, *others = (_cells(x, self.radius, self.points) for x in inputs)
        difference = self._difference(first, _cells(Fraction(0), self.radius, self.points))
        total = _positive_part(difference, others, np.ones(len(first)))
        return total - _ROUNDING * (1 + self.alpha)

    def _difference(self, first: Any, null: Any) -> Any:
        """What x contributes less exp(eps) times what the null symbol does, in the order asked for."""
        return null - self.alpha * first if self.reverse else first - self.alpha * null


def _positive_part(u: Vector, others: list[Vector], weights: Vector) -> float:
    """The weighted sum of the positive part of the symmetrised product of a function with those of the others."""
    import numpy as np

    if len(others) == 1:
        product = np.outer(u, others[0])
        return float(weights @ np.maximum(product + product.T, 0) @ weights) / 2
    return _triples(u, others[0], others[1], weights)


def _triples(u: Vector, v: Vector, w: Vector, weights: Vector) -> float:
    import numpy as np

    vw, uw, uv = (np.outer(x, y) + np.outer(y, x) for x, y in ((v, w), (u, w), (u, v)))
    cubes = weights**3 * np.maximum(6 * u * v * w, 0) / 4
    slices = [float(cubes.sum())]
    for i, weight in enumerate(weights):  # triples whose smallest index is i, three times; halves where it is met again
        later = weights[i:].copy()
        later[0] /= 2
        here = np.maximum(u[i] * vw[i:, i:] + v[i] * uw[i:, i:] + w[i] * uv[i:, i:], 0)
        slices.append(3 * weight * float(later @ here @ later))
    return math.fsum(slices) / 6


def _upper(value: flint.arb) -> Fraction:
    return Ball.from_arb(value).upper


def _middle(box: _Box) -> tuple[Fraction, ...]:
    return tuple((low + high) / 2 for low, high in box)


@lru_cache(maxsize=8)
def _grid(radius: Fraction, points: int) -> tuple[float, Vector, float]:
    """Width, weights of the hat functions under N(0, 1), and what any one message has outside the grid."""
    import numpy as np

    end = _WINDOW + radius
    width = 2 * end / (points - 1)
    with working_precision(128):
        nodes = [to_arb(-end + k * width) for k in range(points)]
        primitive = [z * (1 - upper_normal(z)) + (-z * z / 2).exp() / (2 * flint.arb.pi()).sqrt() for z in nodes]
        inside = [1 - upper_normal(z) for z in nodes]
        h = to_arb(width)
        weights = []
        for k in range(points):
            left = inside[k] - (primitive[k] - primitive[k - 1]) / h if k else flint.arb(0)
            right = (primitive[k + 1] - primitive[k]) / h - inside[k] if k + 1 < points else flint.arb(0)
            weights.append(outward(_upper(left + right), up=True))
        tail = outward(_upper(2 * upper_normal(flint.arb(_WINDOW))), up=True)
    return outward(width, up=True), np.array(weights), tail


@lru_cache(maxsize=4096)
def _likelihoods(x: Fraction, radius: Fraction, points: int) -> Vector:
    """The function E_x on the grid, to the nearest double."""
    import numpy as np

    end = _WINDOW + radius
    width = 2 * end / (points - 1)
    with working_precision(80):
        u, start, step = to_arb(x), to_arb(-end), to_arb(width)
        values = [float((u * (start + k * step) - u * u / 2).exp().mid()) for k in range(points)]
    return np.array(values)


@lru_cache(maxsize=64)
def _cells(x: Fraction, radius: Fraction, points: int) -> Vector:
    """The masses of N(x, 1) between points of the grid, to the nearest double; what lies beyond is merged nowhere."""
    import numpy as np

    end = _WINDOW + radius
    width = 2 * end / (points - 1)
    with working_precision(128):
        tails = [upper_normal(to_arb(-end + k * width - x)) for k in range(points)]
        return np.array([float((left - right).mid()) for left, right in itertools.pairwise(tails)])
