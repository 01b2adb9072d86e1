r"""What no parameters of a family can beat: a certified floor under the error that meets a target.

A floor speaks of the accountant's bound with the blanket of the target, not of the shuffled messages themselves: what
it excludes may be more private than this bound says.

Three families have two parameters, both of which make the bound fall and the error rise: the blanket-mixed Gaussian
(:math:`\gamma,\sigma_0`; claim ``symshuffle.vecmean-mixed-gaussian-order``), PrivUnit (:math:`\gamma` and the share of
the cap; ``symshuffle.vecmean-cap-order``) and the clipped linear density (:math:`\gamma`, and the clip downwards;
``symshuffle.vecmean-ramp-order``). A message that may be replaced by a fresh blanket message has a larger
:math:`\gamma`, and whoever reads can add blanket messages. So parameters that certainly miss the target exclude all
that say more in both. Points that rise in :math:`\gamma` while the other parameter turns to where messages say more
leave a staircase: what is not excluded has, at one of its corners, no larger error.

That a point misses the target is read off a mechanism that says less: of each message only the cell in which it falls
(:mod:`symshuffle.vectors.calibration.cells`). This is a finite law, milliseconds where the density takes a second, and
it still bites where the density has a tail too long for any rule. Against the largest blanket the same orders hold: the
least density of a processed message is at least what the processing makes of the least density before it.

Families with one parameter need one point: a linear density of smaller slope is one of larger slope whose message may
be replaced by a uniform one, and a Gaussian of more noise is one of less noise with some added
(``symshuffle.vecmean-one-parameter-order``).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, TypeAlias, final

import flint
import numpy as np

from symshuffle.base.choices import Blanket, Relation, replace_choice
from symshuffle.base.errors import CertificateError, NotDecided, Unsupported
from symshuffle.base.numbers import (
    Ball,
    Number,
    Real,
    enclose,
    format_decimal,
    lower_end,
    shortest,
    to_arb,
    working_precision,
)
from symshuffle.base.numbers import positive_part as positive
from symshuffle.channels.continuous_law import ContinuousPair, LevelledPair
from symshuffle.channels.law import Law
from symshuffle.engines.densities.doubling import Atoms, positive_part
from symshuffle.engines.densities.engine import at_most
from symshuffle.vectors.calibration.cells import cells_of, error_of, share, spread
from symshuffle.vectors.error.risk import err1
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import FinitePair, Pair, worst_pair
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)

Bounded: TypeAlias = BlanketMixedGaussian | SphereLinear | LocalGaussian | PrivUnit | ClippedLinear


@final
@dataclass(frozen=True, slots=True)
class Target:
    """What a bound on delta is compared with."""

    n: int
    exp_eps: Real
    goal: Fraction
    adjacency: Relation
    blanket: Blanket

    def __post_init__(self) -> None:
        replace_choice(Relation, self, "adjacency")
        replace_choice(Blanket, self, "blanket")


def check_floor(points: Sequence[Bounded], rmse: Fraction, target: Target) -> None:
    r"""Refuse a lower bound on the error of every mechanism of a family that meets a target by its bound.

    - ``points``: each certainly misses the target. Of a family with two parameters gamma rises, sigma0 falls or the
      height of the cap or clip rises; the first of clipped densities may be a linear one. Of other families there is
      one.
    - ``rmse``: root of the least error at the corners between them, per user and coordinate.
    """
    if not points:
        raise CertificateError("floor.points", "none is given")
    try:
        least = least_rmse(points, target.n)
    except (Unsupported, NotDecided) as reason:
        raise CertificateError("floor.points", str(reason)) from reason
    if rmse > least:
        claimed, left = (format_decimal(one, digits=9, up=up) for one, up in ((rmse, True), (least, False)))
        raise CertificateError("floor.rmse", f"{claimed} is claimed, {left} is left")
    for k, point in enumerate(points):
        try:
            missed = misses(point, target)
        except (Unsupported, NotDecided) as reason:
            raise CertificateError(f"floor.points[{k}]", str(reason)) from reason
        if not missed:
            raise CertificateError(f"floor.points[{k}]", f"{point} may meet delta = {shortest(target.goal)}")


def misses(
    mechanism: Bounded,
    target: Target,
    *,
    rtol: float = 1e-3,
    fine: float = 1e-6,
    max_users: tuple[int, int] = (100, 12),
    large: Fraction = Fraction(1, 1000),
    near: Fraction = Fraction(9, 10),
    bins: int = 2000,
) -> bool:
    """Whether the bound on delta of a mechanism is certainly above a target, in one order of the pair.

    - ``rtol``, ``fine``: relative widths at which cells are told from it, and the point of a family with one parameter.
    - ``max_users``: up to which laws in doubles are added, where the target is above ``large`` and otherwise; from a
      share ``near`` of it on in ``bins`` too.
    """
    if isinstance(mechanism, LocalGaussian) and misses_alone(mechanism, target):
        return True
    if isinstance(mechanism, SphereLinear) or (isinstance(mechanism, LocalGaussian) and mechanism.dimension == 1):
        pair: Pair = worst_pair(mechanism, adjacency=target.adjacency, blanket=target.blanket, exp_eps=target.exp_eps)
    else:
        pair = cells_of(mechanism, target.adjacency, target.blanket)
    # of opposite inputs both orders have one law, but for the two cells of large caps
    mirrored = target.adjacency == "replace-one" and not isinstance(mechanism, PrivUnit)
    for one in (pair,) if mirrored else (pair, pair.reverse):
        if isinstance(one, ContinuousPair) and _excluded(one, target):
            continue
        if isinstance(one, FinitePair) and target.n <= max_users[target.goal <= large]:
            law = one.law(target.exp_eps, bits=192)
            known = at_least(law, target.n)
            if near * target.goal < known <= target.goal:
                known = at_least(law, target.n, bins=bins)
            if known > target.goal:
                return True
            continue  # an engine would spend seconds on about the same number
        try:
            width = rtol if isinstance(pair, FinitePair) else fine
            if pair_delta(one, target.n, target.exp_eps, rtol=width).lower > target.goal:
                return True
        except (Unsupported, NotDecided):
            continue
    return False


def _excluded(pair: ContinuousPair, target: Target) -> bool:
    """Whether a cheap upper bound on one order is already at most the target."""
    return at_most(LevelledPair(pair, target.exp_eps), target.n, near=target.goal)[0] <= target.goal


def at_least(law: Law, n: int, *, bins: int = 500) -> Fraction:
    """A number that H(n) of a finite law is at least, within about a thousandth where users are few.

    Smaller values of G, smaller weights, and sums merged into their means all make H(n) smaller. What doubles round is
    taken off.
    """
    down = sorted((_rounded_down(value), max(_rounded_down(weight), 0.0)) for value, weight in law.atoms())
    atoms = Atoms(np.array([v for v, _ in down]), np.array([w for _, w in down]), 0.0, 0.0)
    with np.errstate(over="ignore", invalid="ignore"):
        found, lost = positive_part(atoms, n, bins, spread=False)
    if not math.isfinite(found - lost):
        return Fraction(0)
    return max((Fraction(found) - Fraction(lost)) / n, Fraction(0)) + lower_end(law.singular)


def _rounded_down(number: Number) -> float:
    return math.nextafter(float(lower_end(number)), -math.inf)


def misses_alone(mechanism: Bounded, target: Target) -> bool:
    r"""Whether the term in which no other message is one of the blanket is above a target, by a closed form.

    With m the mass of the blanket, the other terms of the sum are all 0 with probability :math:`(1-m)^{n-1}`, so that
    :math:`H(n)\ge(1-m)^{n-1}H(1)`.
    """
    pair, x = cells_of(mechanism, target.adjacency, target.blanket), enclose(target.exp_eps, 192)
    none: Any = Ball.from_arb(flint.arb(0))
    still: Any = 1 - sum(pair.reference, start=none)
    for one in (pair, pair.reverse):
        alone: Any = sum((positive(p - x * q) for p, q in zip(one.first, one.second, strict=True)), start=none)
        with working_precision(192):
            found = Ball.from_arb(to_arb(still) ** (target.n - 1) * to_arb(alone), 128)
        if found.lower > target.goal:
            return True
    return False


def least_error(points: Sequence[Bounded]) -> Fraction:
    """The least error of one user that no point excludes."""
    one = points[0]
    for k, point in enumerate(points):
        if _family(point) != _family(points[-1]) and not (k == 0 and _begins(one, points[-1])):
            raise CertificateError(f"floor.points[{k}]", f"{point} is of another family than {points[-1]}")
    if isinstance(one, LocalGaussian) or (isinstance(one, SphereLinear) and len(points) == 1):
        if len(points) != 1:
            raise CertificateError("floor.points", f"{len(points)} points where one is meant")
        return enclose(err1(one), 128).lower
    with working_precision(128):
        shares, spreads = [share(point) for point in points], [spread(point) for point in points]
        turn = -1 if isinstance(one, BlanketMixedGaussian) else 1
        for k, (before, after) in enumerate(pairwise(zip(shares, spreads, strict=True))):
            if not before[0] < after[0]:
                raise CertificateError(f"floor.points[{k + 1}]", "gamma does not certainly rise")
            if not turn * before[1] < turn * after[1]:
                raise CertificateError(f"floor.points[{k + 1}]", "the other parameter does not turn to less noise")
        error = error_of(one)
        corners = list(zip([flint.arb(0), *shares], [*spreads, None], strict=True))
        if spreads[0] == -1:  # a linear density: no clip is below it
            corners = corners[1:]
        return min(Ball.from_arb(error(gamma, at), 128).lower for gamma, at in corners)


def _family(point: Bounded) -> tuple[type, int, Fraction]:
    """What all points of a floor have in common."""
    return type(point), point.dimension, point.norm if isinstance(point, BlanketMixedGaussian) else Fraction(1)


def _begins(first: Bounded, last: Bounded) -> bool:
    """Whether a linear density stands for the clipped one of the least clip."""
    return isinstance(first, SphereLinear) and isinstance(last, ClippedLinear) and first.dimension == last.dimension


def least_rmse(points: Sequence[Bounded], n: int) -> Fraction:
    """The root of the least error of n users' mean that no point excludes, per coordinate, rounded down."""
    return root(least_error(points) / (n * points[0].dimension))


def root(value: Fraction) -> Fraction:
    """The root, rounded down."""
    return Fraction(math.isqrt(math.floor(value * 4**60)), 2**60)
