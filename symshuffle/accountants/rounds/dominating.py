r"""From two-sided values of a privacy profile to laws of a loss on a lattice, with a profile above or below all of it.

Write :math:`x=e^\varepsilon` and let :math:`h(x)` be the hockey-stick divergence of order x of some pair, or the
supremum over many pairs: it is convex and falling, :math:`h(0)=1`, :math:`h(x)\ge1-x`. A measure of masses
:math:`p_i\ge0` at losses :math:`i\,\ell` with a mass :math:`p_\infty` at infinity has the profile

.. math:: f(x)=p_\infty+\sum_i p_i\,(1-x\,e^{-i\ell})_+ ,

which is linear between the points :math:`x_i=e^{i\ell}`. Finitely many comparisons settle how f and h compare:

*above* if :math:`f(0)\ge1`, and f is at least an upper value of h at every kink and behind the last one (h is below
its own chords, and these are below the chords of f);

*below* if f is at most g at every :math:`x_i` and wherever g has a cusp, where g is the larger of the two neighbouring
chords of h, extended (h is above its chords outside of them; f and both chords are linear in between).

Levels below 1 are the other order of the pair: :math:`D_x(P\Vert Q)=1-x+x\,D_{1/x}(Q\Vert P)`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, TypeAlias, final

import flint
import numpy as np
import numpy.typing as npt

from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.numbers import to_arb, working_precision
from symshuffle.base.results import Bracket, outward

Ends: TypeAlias = "tuple[Fraction, Fraction]"
"""A number between two rationals."""

_Point: TypeAlias = "tuple[flint.arb, flint.arb]"
"""A place x and a value there."""

_BITS: Final = 320
_SPARE_BITS: Final = 120
"""Precision of the hull at least, and beyond what second differences lose: the digits of the tails twice."""

_MOVED: Final = (0.0, 2.0**-40)
"""Shares of the masses of a law below that are given up: where the middles of its lines end above their chords."""


@final
@dataclass(frozen=True, slots=True)
class Profile:
    """What is known of a privacy profile at the levels 0, step, 2 step, ...

    - ``step``: distance of the levels eps, in nats.
    - ``forward``, ``reverse``: lower and upper values of ``D(P || Q)`` and of ``D(Q || P)``, as many of both, at
      least 2.
    """

    step: Fraction
    forward: tuple[Ends, ...]
    reverse: tuple[Ends, ...]
    revealed: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    def __post_init__(self) -> None:
        if self.step <= 0:
            raise InputError("step", self.step, "a positive rational")
        if len(self.forward) != len(self.reverse) or len(self.forward) < 2:
            raise InputError("profile", f"{len(self.forward)}, {len(self.reverse)} levels", "as many, at least 2")
        for low, high in (*self.forward, *self.reverse):
            if not 0 <= low <= high <= 1:
                raise InputError("profile", f"[{float(low)}, {float(high)}]", "values in [0, 1], lower <= upper")

    @classmethod
    def of(
        cls,
        step: Fraction,
        forward: Sequence[Bracket],
        reverse: Sequence[Bracket],
        revealed: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0)),
    ) -> Profile:
        """From brackets, which may reach beyond what a probability can be, in doubles rounded outward."""
        one, other = ([(found.lower, found.upper) for found in order] for order in (forward, reverse))
        return cls.of_ends(step, one, other, revealed)

    @classmethod
    def of_ends(
        cls, step: Fraction, forward: Sequence[Ends], reverse: Sequence[Ends], revealed: tuple[Fraction, Fraction]
    ) -> Profile:
        """The same from both ends of every value."""
        one, other = (Fraction(outward(value, up=False)) for value in revealed)
        ahead, behind = (
            tuple((max(low, min(least, high)), high) for low, high in map(_ends, order))  # none is below what is kept
            for order, least in ((forward, one), (reverse, other))
        )
        return cls(step, ahead, behind, (one, other))

    @property
    def swapped(self) -> Profile:
        """The other order of the pair."""
        return Profile(self.step, self.reverse, self.forward, self.revealed[::-1])

    @property
    def last(self) -> int:
        """The number of the last level."""
        return len(self.forward) - 1

    @property
    def precision(self) -> int:
        """Bits for the hull: places and values differ by about the step, second differences by its square."""
        step = 4 * max(0, math.ceil(1 / self.step).bit_length() - 32)
        tail = min(self.forward[-1][1], self.reverse[-1][1])
        return max(_BITS, 2 * math.ceil(1 / tail).bit_length() + _SPARE_BITS if tail else 0) + step

    def _nodes(self, end: int) -> list[_Point]:
        """Points :math:`(x_i, h(x_i))` from -last to last, by one end of every value."""
        ratio, nodes = to_arb(self.step), []
        for i in range(-self.last, self.last + 1):
            x = (ratio * i).exp()
            value = to_arb(self.forward[i][end]) if i >= 0 else 1 - x + x * to_arb(self.reverse[-i][end])
            nodes.append((x, value))
        return nodes


@final
@dataclass(frozen=True, slots=True)
class LatticeLaw:
    """Masses of a loss at multiples of a step, and at infinity; their sum may miss 1 by what was rounded.

    - ``step``: distance of the losses, in nats.
    - ``first``: the smallest loss is ``first * step``.
    - ``masses``: non-negative masses at ``(first + k) * step``, taken as they are: doubles are rationals.
    """

    step: Fraction
    first: int
    masses: tuple[float, ...]
    infinity: Fraction

    def __post_init__(self) -> None:
        if not self.masses or not all(0 <= mass <= 2 for mass in self.masses) or not 0 <= self.infinity <= 1:
            raise InputError("masses", len(self.masses), "masses of at least 0, of sum about 1")

    @property
    def array(self) -> npt.NDArray[np.float64]:
        """The finite masses."""
        return np.array(self.masses)

    def profile_at_nodes(self) -> tuple[flint.arb, list[flint.arb]]:
        """The total mass, f(0), and f at each of its own losses, in balls at the working precision."""
        ratio = to_arb(self.step)
        mass = moment = flint.arb(0)
        total, values = to_arb(self.infinity), []
        for k in reversed(range(len(self.masses))):
            x = (ratio * (self.first + k)).exp()
            values.append(to_arb(self.infinity) + mass - x * moment)
            p = flint.arb(self.masses[k])
            mass, moment = mass + p, moment + p / x
        return total + mass, values[::-1]


def law_above(profile: Profile) -> LatticeLaw:
    """A law whose profile is above every convex function within the values: their greatest convex minorant."""
    with working_precision(profile.precision):
        nodes = [(flint.arb(0), flint.arb(1)), *profile._nodes(1)]
        kept = [0]
        for j in range(1, len(nodes)):  # Andrew's chain; what is not certainly convex is left out
            while len(kept) > 1 and not _slope(nodes[kept[-2]], nodes[kept[-1]]) < _slope(nodes[kept[-1]], nodes[j]):
                kept.pop()
            kept.append(j)
        while len(kept) > 2 and not _slope(nodes[kept[-2]], nodes[kept[-1]]) < 0:
            kept.pop()
        slopes = [_slope(nodes[a], nodes[b]) for a, b in itertools.pairwise(kept)]
        masses = [0.0] * (2 * profile.last + 1)
        for place, before, after in zip(kept[1:], slopes, [*slopes[1:], flint.arb(0)], strict=True):
            masses[place - 1] = _rounded(nodes[place][0] * (after - before), up=True)
        infinity = profile.forward[kept[-1] - 1 - profile.last][1] if kept[-1] > profile.last else None
        if infinity is None:
            raise CertificateError("hull", "the profile does not fall behind level 0")
        if infinity == 1:  # all is revealed: what the chords still differ by is rounding
            masses = [0.0] * len(masses)
        law = LatticeLaw(profile.step, -profile.last, tuple(masses), infinity)
    check_above(law, profile)
    return law


def check_above(law: LatticeLaw, profile: Profile) -> None:
    """Certify that the profile of a law is above every convex function within the values of ``profile``."""
    _check_lattice(law, profile)
    with working_precision(profile.precision):
        total, values = law.profile_at_nodes()
        if not total >= 1:
            raise CertificateError("total", f"f(0) = {total.str(20)} is not at least 1")
        nodes = profile._nodes(1)
        kinks = [k for k, mass in enumerate(law.masses) if mass > 0]
        for k in kinks[:-1]:  # at the last one f is the mass at infinity
            if not values[k] >= nodes[k][1]:
                raise CertificateError(f"kinks[{k}]", "f is not above the value there")
        if not kinks:  # f is constant and equals f(0), which is at least 1
            return
        last = kinks[-1] - profile.last
        if last < 0 or law.infinity < profile.forward[last][1]:
            raise CertificateError("infinity", "f falls below the last value behind the last kink")


def _check_lattice(law: LatticeLaw, profile: Profile) -> None:
    if law.step != profile.step or law.first != -profile.last or len(law.masses) != 2 * profile.last + 1:
        raise CertificateError("lattice", "the law and the profile are on different lattices")


def law_below(profile: Profile) -> LatticeLaw:
    """A law whose profile is below every convex function within the values: a chain of lines under their chords.

    Each line is the steepest from where the last one ended that stays below; what is left behind the last level moves
    down to it, with its mass under P.
    """
    with working_precision(profile.precision):
        nodes = profile._nodes(0)
        infinity, masses = profile.revealed[0], [0.0] * len(nodes)
        hull = _lower_hull(_constraints(profile, infinity))
        slope = (to_arb(profile.revealed[1]) - 1).mid()
        w = (1 + slope * nodes[0][0]).mid()
        if not w > to_arb(infinity):  # too low for what is revealed: from where the chord begins, along it
            chord = _before_lattice(profile)
            if chord is None:
                infinity = max(Fraction(_rounded(w, up=False)), Fraction(0))
            else:
                w, slope = nodes[0][1].mid(), chord[1].mid()
        end = to_arb(infinity)
        ahead = 0
        for k, (x, _) in enumerate(nodes):
            steeper = None
            if k < len(nodes) - 1:
                while ahead < len(hull) - 1 and (
                    not hull[ahead][0] > x or _slope((x, w), hull[ahead + 1]) < _slope((x, w), hull[ahead])
                ):
                    ahead += 1
                steeper = _slope((x, w), hull[ahead]).mid().min(0)  # a profile falls
            if steeper is None or not w + steeper * (nodes[k + 1][0] - x) > end:
                masses[k] = max(_rounded(w - end - slope * x, up=False), 0.0)  # what is left, moved down to here
                break
            if steeper > slope:
                masses[k] = max(_rounded(x * (steeper - slope), up=False), 0.0)
                slope = steeper
            w = (
                w + slope * (nodes[k + 1][0] - x)
            ).mid()  # a choice, not an enclosure: radii would triple at every step
    for moved in _MOVED:
        law = LatticeLaw(profile.step, -profile.last, tuple(mass * (1 - moved) for mass in masses), infinity)
        with contextlib.suppress(CertificateError):
            check_below(law, profile)
            return law
    raise CertificateError("points", "no law is found below the profile")


def check_below(law: LatticeLaw, profile: Profile) -> None:
    """Certify that the profile of a law is below every convex function within the values of ``profile``."""
    _check_lattice(law, profile)
    with working_precision(profile.precision):
        total, _ = law.profile_at_nodes()
        if not total <= 1:
            raise CertificateError("total", f"f(0) = {total.str(20)} is above 1")
        if law.infinity > profile.revealed[0]:
            raise CertificateError("infinity", "more mass is at infinity than is known to be")
        points = _constraints(profile, law.infinity)
        values = _profile_at(law, [x for x, _ in points])
        for k, ((x, most), value) in enumerate(zip(points, values, strict=True)):
            if not value <= most:
                raise CertificateError(f"points[{k}]", f"f is not below the profile at x = {x.str(10)}")


def _profile_at(law: LatticeLaw, places: Sequence[flint.arb]) -> list[flint.arb]:
    """The profile of a law at rising places."""
    ratio, found = to_arb(law.step), []
    mass = moment = flint.arb(0)
    k = len(law.masses) - 1
    for x in reversed(places):
        while k >= 0:
            at = (ratio * (law.first + k)).exp()
            if at < x:
                break
            p = flint.arb(law.masses[k])  # at = x adds 0
            mass, moment, k = mass + p, moment + p / at, k - 1
        found.append(to_arb(law.infinity) + mass - x * moment)
    return found[::-1]


def _before_lattice(profile: Profile) -> tuple[_Point, flint.arb] | None:
    """Where the line from (0, 1) meets the first chord, extended, and the slope of this; None if not for certain.

    Between 0 and the first place of the lattice the profile is above both, and a law is linear.
    """
    (x, value), (y, beyond) = profile._nodes(0)[0], profile._nodes(1)[1]
    first, chord = to_arb(profile.revealed[1]) - 1, (beyond - value) / (y - x)
    chord = flint.arb(0) if chord > 0 else chord  # h falls
    if not (1 + first * x < value and value - chord * x < 1):
        return None
    place = (1 - value + chord * x) / (chord - first)
    return (place, 1 + first * place), chord


def _constraints(profile: Profile, infinity: Fraction) -> list[_Point]:
    """Points (x, v) at which a law's profile f, with kinks on the lattice, has to be at most v to be below g.

    v is the larger of g(x) and the mass at infinity: f is nowhere below that mass, and is constant from where it is
    equal to it.
    """
    low, high = profile._nodes(0), profile._nodes(1)
    origin, least = (flint.arb(0), flint.arb(1)), to_arb(profile.revealed[1]) - 1
    start = _before_lattice(profile)
    found = [] if start is None else [start[0]]
    for k, (x, value) in enumerate(low[:-1]):
        found.append((x, value))
        y, beyond = low[k + 1]
        left = _slope(high[k - 1] if k else origin, (x, value))
        right = _slope((y, beyond), high[k + 2]) if k + 2 < len(low) else flint.arb(0)
        right = flint.arb(0) if right > 0 else right  # h falls
        if left < right:
            v = (beyond - value + left * x - right * y) / (left - right)
            if not v <= x and not v >= y:
                cusps = [(v, value + left * (v - x))]
                if cusps[0][1] < 1 + least * v:  # two, with the line that no profile is below
                    ends = (left, x, value), (right, y, beyond)
                    places = [(1 - end + slope * z) / (slope - least) for slope, z, end in ends]
                    cusps = [(z, 1 + least * z) for z in places if not z <= x and not z >= y]
                found += cusps
        else:  # one of the two chords will do
            found.append((y, value + left * (y - x)))
    floor = to_arb(infinity)
    points = [(x, value if value > floor else floor) for x, value in (*found, low[-1])]
    if start is None:  # the radii of the balls can lift the chord above the line from (0, 1)
        x, value = points[0]
        points[0] = x, value.min(1 - x + x * to_arb(profile.revealed[1]))
    return points


def _ends(found: Ends) -> Ends:
    low, high = outward(found[0], up=False), outward(found[1], up=True)
    return Fraction(min(max(low, 0.0), 1.0)), Fraction(min(high, 1.0))


def _lower_hull(points: Sequence[_Point]) -> list[_Point]:
    hull: list[_Point] = []
    for point in points:
        while len(hull) > 1 and not _slope(hull[-2], hull[-1]) < _slope(hull[-1], point):
            hull.pop()
        hull.append(point)
    return hull


def _slope(one: _Point, other: _Point) -> flint.arb:
    return (other[1] - one[1]) / (other[0] - one[0])


def _rounded(value: flint.arb, *, up: bool) -> float:
    """A double beyond a ball on one side, by at least one unit in the last place."""
    return math.nextafter(float(value.upper() if up else value.lower()), math.inf if up else -math.inf)
