r"""The worst privacy curve at a given number of users, chi-square and ratio cap, as a linear program over laws.

Over the laws of a variable with mean 0, variance :math:`\chi^2/n` and values in :math:`[-A,B]`, the largest mean of a
hinge has as its dual the cheapest quadratic above the hinge. cvxpy proposes a law on a grid and a quadratic; the
quadratic is lifted in rationals above the hinge, and the masses of three atoms are solved in rationals.
"""

from __future__ import annotations

import bisect
import itertools
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, TypeAlias, final

from symshuffle.accountants.deployment.group import check_n
from symshuffle.base.choices import Direction, SafeEnd, choice
from symshuffle.base.errors import CertificateError, InputError, NotDecided, SolverFailure
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import brief, parse_rational
from symshuffle.base.results import AnswerMethods, Bracket, check_claim, well_formed
from symshuffle.base.solvers import cvxpy, highs_optimum
from symshuffle.utility.likelihood.extremes import (
    check_attainable,
    endpoint_ratio,
    hinge,
    hinge_range,
    largest_chi_square,
)

_DIGITS: Final = 10**9
"""Proposed masses below this are taken for zero."""

_APART: Final = Fraction(1, 10**4)
"""Distance of grid points, in standard deviations, below which a solver in doubles cannot tell them apart."""


_LARGEST_CAP: Final = 10**300

_Atoms: TypeAlias = tuple[tuple[Fraction, Fraction], ...]
"""Values of a variable and their probabilities."""


Quadratic: TypeAlias = tuple[Fraction, Fraction, Fraction]
"""Coefficients of ``alpha + beta u + gamma u^2``."""


def expectation(quadratic: Quadratic, variance: Fraction) -> Fraction:
    """The mean of a quadratic under every law of mean 0 and this variance."""
    return quadratic[0] + quadratic[2] * variance


def margin(quadratic: Quadratic, kink: Fraction, below: Fraction, above: Fraction) -> Fraction:
    """The smallest distance above ``(u - kink)_+`` on ``[-below, above]``, exactly; negative if it dips."""
    alpha, beta, gamma = quadratic
    bend = min(max(kink, -below), above)
    return min(_smallest(alpha, beta, gamma, -below, bend), _smallest(alpha + kink, beta - 1, gamma, bend, above))


def _dips(quadratic: Quadratic, below: Fraction, above: Fraction) -> tuple[Fraction, ...]:
    """Where the distance above each branch of the hinge is smallest, rounded, if inside the range."""
    _, beta, gamma = quadratic
    if gamma <= 0:
        return ()
    lowest = (-slope / (2 * gamma) for slope in (beta, beta - 1))
    return tuple(u for u in (u.limit_denominator(_DIGITS) for u in lowest) if -below <= u <= above)


@final
@dataclass(frozen=True, slots=True, repr=False)
class WorstCurve(AnswerMethods):
    """The largest hinge over laws of given variance and range: ``majorant`` proves the upper, ``law`` the lower end.

    ``float`` returns the upper end, rounded up.
    """

    safe: ClassVar[SafeEnd] = "upper"
    chi_square: Fraction
    n: int
    lam: Fraction
    exp_eps: Fraction
    direction: Direction
    majorant: Quadratic
    law: _Atoms
    bracket: Bracket
    attained: Bracket

    @property
    def about(self) -> str:
        """What the number speaks about."""
        return (
            f"largest {self.direction} delta over canonical pairs of {self.n} users with chi-square {self.chi_square} "
            f"and ratio cap {self.lam}, at exp(eps) = {self.exp_eps}; an upper bound where n > 1"
        )

    @well_formed()
    def verify(self) -> None:
        """Check both ends from the question alone, in rational arithmetic."""
        bend, variance, (below, above) = _question(self.chi_square, self.n, self.lam, self.exp_eps, self.direction)
        excess = margin(self.majorant, bend[1], below, above)
        if excess < 0:
            raise CertificateError("majorant", f"it dips {brief(-excess)} below the hinge")
        for value, mass in self.law:
            if mass < 0 or not -below <= value <= above:
                raise CertificateError("law", f"mass {mass} at {value}, on [{-below}, {above}]")
        moments = [sum((w * v**power for v, w in self.law), start=Fraction(0)) for power in range(3)]
        if moments != [1, 0, variance]:
            raise CertificateError("law", f"moments {', '.join(map(brief, moments))}, not 1, 0, {variance}")
        check_claim(self.bracket, _ends(bend, variance, self.majorant, self.law, "law and majorant"), "value")


@takes_eps0()
def worst_curve(
    chi_square: object, n: int, *, lam: object, exp_eps: object, direction: Direction = "forward"
) -> WorstCurve:
    """Largest divergence over channels of given chi-square divergence and ratio cap.

    Parameters
    ----------
    chi_square : rational
        Chi-square divergence of the two rows, from 0 to ``(lam - 1)^2 / lam``.
    n : int
        Number of users, at least 1.
    lam : rational
        Ratio cap ``exp(eps0)``, above 1.
    exp_eps : rational
        Order ``exp(eps)`` of the hockey-stick divergence, at least 1.
    direction : {"forward", "reverse"}
        Which divergence.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    WorstCurve
        The bound as a bracket with its certificate, and the value attained by a channel.

    Raises
    ------
    InputError
        If an argument is out of range; the message gives the attainable range of the chi-square divergence.

    Examples
    --------
    >>> found = worst_curve("4/3", 1, lam=3, exp_eps=2)
    >>> found.verify()
    >>> found.bracket.lower, float(found.bracket.width) < 1e-6, float(found.attained.upper)
    (Fraction(1, 4), True, 0.25)
    """
    budget, order = parse_rational(chi_square, "chi_square"), parse_rational(exp_eps, "exp_eps")
    cap = parse_rational(lam, "lam")
    if not 1 < cap <= _LARGEST_CAP:
        raise InputError("lam", lam, "a rational number > 1 and at most 1e300")
    n, way = check_n(n), choice(Direction, direction, "direction")
    check_attainable(budget, cap)
    bend, variance, (below, above) = _question(budget, n, cap, order, way)
    kink = bend[1]
    share = budget / largest_chi_square(cap)
    attained = endpoint_ratio(cap).dilute(share).profile(n, exp_eps=order, direction=way)
    if kink >= above:
        trivial = (Fraction(0), Fraction(0), Fraction(0))
        law: _Atoms = ((Fraction(0), Fraction(1)),)
        if variance:
            high = variance / below
            law = ((-below, high / (high + below)), (high, below / (high + below)))
        zero = _ends(bend, variance, trivial, law, "the hinge is beyond the range, or nothing varies")
        return WorstCurve(budget, n, cap, order, way, trivial, law, zero, attained)
    law, candidates, points = _refined(kink, variance, below, above)
    lifts = (max(Fraction(0), -margin(m, kink, below, above)) for m in candidates)
    lifted = ((m[0] + lift, m[1], m[2]) for m, lift in zip(candidates, lifts, strict=True))
    majorant = min(lifted, key=lambda m: expectation(m, variance))
    evaluation = f"multipliers lifted to a quadratic majorant in rationals; law on {points} points, solved in rationals"
    bracket = _ends(bend, variance, majorant, law, evaluation)
    return WorstCurve(budget, n, cap, order, way, majorant, law, bracket, attained)


def _refined(
    kink: Any,
    variance: Fraction,
    below: Fraction,
    above: Fraction,
    *,
    rounds: int = 12,
    fine: Fraction = Fraction(1, 10**6),
) -> tuple[_Atoms, tuple[Quadratic, Quadratic], int]:
    """The best law on a grid, two quadratics that hardly dip below the hinge, and the number of points of the grid.

    - ``rounds``: times that the points where a quadratic dips below the hinge are added to the grid.
    - ``fine``: lift relative to the bound at which the grid is fine enough.
    """
    grid = _grid(kink, variance, below, above)
    for _ in range(rounds):
        masses, proposed = _proposal(grid, kink, variance)
        law, vertex = _best_law(grid, masses, kink, variance)
        candidates = (proposed, vertex)
        dips = [u for m in candidates for u in _dips(m, below, above)]
        finer = _spread(grid, dips, Fraction(float(variance) ** 0.5) * _APART, below, above)
        lift = -min(margin(m, kink, below, above) for m in candidates)
        if len(finer) == len(grid) or lift <= fine * expectation(vertex, variance):
            break
        grid = finer
    return law, candidates, len(grid)


def _ends(bend: tuple[Any, Any], variance: Fraction, majorant: Quadratic, law: _Atoms, evaluation: str) -> Bracket:
    """The mean of the hinge under the law, and that of the majorant."""
    scale, kink = bend
    upper = scale * expectation(majorant, variance)
    lower = scale * sum((w * max(v - kink, Fraction(0)) for v, w in law), start=Fraction(0))
    return Bracket(lower, upper, "exact", "lp", evaluation)


def _question(
    budget: Fraction,
    n: int,
    cap: Fraction,
    order: Fraction,
    direction: Direction,
    *,
    least: Fraction = Fraction(1, 10**300),
) -> tuple[tuple[Any, Any], Fraction, tuple[Fraction, Fraction]]:
    if 0 < budget / n < least:
        raise InputError("chi_square", budget, f"0, or at least 1e-300 for each of the {n} users")
    # without variance every law is the point mass at 0, and nothing else of the range is left
    reach = hinge_range(direction, cap) if budget else (Fraction(0), Fraction(0))
    return hinge(direction, exp_eps=order), budget / n, reach


def _grid(
    kink: Fraction,
    variance: Fraction,
    below: Fraction,
    above: Fraction,
    *,
    even_points: int = 160,
    near_points: int = 60,
) -> list[Fraction]:
    """Points on the range, dense where two atoms around the kink would lie; the best places themselves, rounded."""
    radius = Fraction(float(variance + kink * kink) ** 0.5).limit_denominator(_DIGITS)
    size = Fraction(float(variance) ** 0.5)
    best = [-below, above, kink - radius, kink + radius, variance / below, -variance / above]
    near = [kink + 3 * radius * Fraction(j, near_points) for j in range(-near_points, near_points + 1)]
    even = [-below + (below + above) * Fraction(j, even_points) for j in range(even_points + 1)]
    return _spread([], [*best, *even, *near], size * _APART, below, above)


def _spread(
    grid: list[Fraction], more: Iterable[Fraction], apart: Fraction, below: Fraction, above: Fraction
) -> list[Fraction]:
    """The grid with those further points of the range that are not too close to others for a solver in doubles."""
    kept = sorted(grid)
    for u in more:
        place = bisect.bisect_left(kept, u)
        if -below <= u <= above and all(abs(v - u) > apart for v in kept[max(place - 1, 0) : place + 1]):
            kept.insert(place, u)
    return kept


def _proposal(grid: list[Fraction], kink: Fraction, variance: Fraction) -> tuple[list[float], Quadratic]:
    """The program over laws on the grid, in cvxpy: the masses, and the multipliers of the moments as a quadratic."""
    import numpy as np

    cp: Any = cvxpy()
    size = float(variance) ** 0.5  # in units of the standard deviation, all coefficients are of one size
    points = np.array([float(u) for u in grid]) / size
    masses = cp.Variable(len(grid), nonneg=True)
    moments = np.vander(points, 3, increasing=True).T @ masses == np.array([1.0, 0.0, 1.0])
    hinge = np.maximum(points - float(kink) / size, 0)
    highs_optimum(cp.Problem(cp.Minimize(-hinge @ masses), [moments]), "the largest hinge over laws on a grid")
    if moments.dual_value is None or masses.value is None:
        raise SolverFailure("HiGHS", "no multipliers", "the largest hinge over laws on a grid")
    # Multipliers are not rounded: far from 0 the square would magnify it.
    alpha, beta, gamma = (Fraction(float(value)) for value in moments.dual_value)
    scale = Fraction(size)
    return [float(mass) for mass in masses.value], (alpha * scale, beta, gamma / scale)


def _best_law(
    grid: list[Fraction], masses: list[float], kink: Fraction, variance: Fraction, *, negligible: float = 1e-7
) -> tuple[_Atoms, Quadratic]:
    """The best exact law on three grid points near the proposed ones, and the quadratic through the hinge there."""
    near = {j + step for j, mass in enumerate(masses) if mass > negligible for step in (-1, 0, 1)} | {0, len(grid) - 1}
    chosen = [grid[j] for j in sorted(near) if 0 <= j < len(grid)]
    best: tuple[Fraction, _Atoms] | None = None
    for x, y, z in itertools.combinations(chosen, 3):
        # E (U - y)(U - z) is v + y z, and only the atom x contributes to it; so for the others.
        weights = (
            (variance + y * z) / ((x - y) * (x - z)),
            (variance + x * z) / ((y - x) * (y - z)),
            (variance + x * y) / ((z - x) * (z - y)),
        )
        if min(weights) >= 0:
            value = sum((w * max(u - kink, Fraction(0)) for u, w in zip((x, y, z), weights, strict=True)), Fraction(0))
            if best is None or value > best[0]:
                best = value, tuple(zip((x, y, z), weights, strict=True))
    if best is None:
        raise NotDecided("no three of the proposed atoms carry a law of this variance; the grid is too coarse")
    _, law = best
    (x, _), (y, _), (z, _) = law
    heights = [max(u - kink, Fraction(0)) for u in (x, y, z)]
    first = (heights[1] - heights[0]) / (y - x)
    gamma = ((heights[2] - heights[1]) / (z - y) - first) / (z - x)
    beta = first - gamma * (x + y)
    quadratic = heights[0] - x * (beta + gamma * x), beta, gamma
    return tuple((u, w) for u, w in law if w), quadratic


def _smallest(c0: Fraction, c1: Fraction, c2: Fraction, left: Fraction, right: Fraction) -> Fraction:
    """The minimum of a quadratic on an interval."""
    ends = [c0 + u * (c1 + u * c2) for u in (left, right)]
    if c2 > 0 and left < -c1 / (2 * c2) < right:
        ends.append(c0 - c1 * c1 / (4 * c2))
    return min(ends)
