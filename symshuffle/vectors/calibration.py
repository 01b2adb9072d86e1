"""Parameters of smallest error that meet a guarantee at a finite number of users.

The search is by uncertified values of the bound, a fraction of the cost of a bracket: nothing that is reported depends
on them. The last parameter is then moved until a bracket certifies the target, and that bracket is the certificate.
What other parameters could gain is bounded by :mod:`symshuffle.vectors.floor`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from typing import Any, Final, final

import flint
import numpy as np
import numpy.typing as npt

from symshuffle.accountants.evaluate import check_n
from symshuffle.choices import Blanket, choice
from symshuffle.continuous_law import ContinuousPair
from symshuffle.engines.bromwich_plan import ceiling, estimate
from symshuffle.errors import CertificateError, InputError, NotDecided, Unsupported
from symshuffle.mechanisms.parameters import read_target
from symshuffle.numbers import Real, as_integer, enclose, parse_rational, to_float, working_precision
from symshuffle.results import AnswerMethods, Bracket, Rigour, SafeEnd, outward
from symshuffle.vectors.accounting import VectorBound, vector_delta
from symshuffle.vectors.floor import Floor, Target
from symshuffle.vectors.gaussian import calibrate_gaussian
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear
from symshuffle.vectors.pairs import Adjacency, FinitePair, Pair, worst_pair
from symshuffle.vectors.risk import err1
from symshuffle.vectors.shaped_families import DIGITS, Calibrated, family_by_name
from symshuffle.vectors.staircase import floor_of

_HALF: Final = 8
"""Half length of the window of the search; what is certified has its own."""

_NODES: Final = 10
_PANEL: Final = 1.0
_SETTLED: Final = 1e-8
_LARGEST: Final = 1e200
_TRIES: Final = 16

Array = npt.NDArray[np.float64]

_FREE: Final[dict[type, tuple[str, ...]]] = {
    BlanketMixedGaussian: ("gamma", "sigma0"),
    SphereLinear: ("c",),
    LocalGaussian: ("sigma0",),
    PrivUnit: ("p", "theta"),
    ClippedLinear: ("clip", "chi"),
}
"""The parameters that are searched, of the families that have a floor."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Calibration(AnswerMethods):
    """A randomizer that meets a target, and what a trusted curator would reach.

    Parameters
    ----------
    parameters : BlanketMixedGaussian, SphereLinear, PrivUnit, ClippedLinear or LocalGaussian
        The mechanism, its parameters exact decimals.
    bracket : Bracket
        Around the root of its exact worst-case mean squared error of the mean, per coordinate.
    gaussian_rmse : float
        The same of the central Gaussian mechanism that meets the target under the same adjacency.
    certificate : VectorBound
        The bound on delta at the parameters, in both orders.
    users : int
        Number of users.
    exp_eps : Real
        Level of the target.
    goal : Fraction
        Target delta.
    adjacency : {"zero-out", "replace-one"}
        In what neighbours differ.
    about : str
        What is certain and what is searched.
    blanket : {"mechanism", "largest"}
        The blanket of the bound.
    floor : Floor, optional
        What no parameters of the family can beat, where that is known.
    """

    parameters: Calibrated
    bracket: Bracket
    gaussian_rmse: float
    certificate: VectorBound
    users: int
    exp_eps: Real
    goal: Fraction
    adjacency: Adjacency
    about: str
    blanket: Blanket = Blanket.MECHANISM
    floor: Floor | None = None

    @property
    def gap(self) -> float | None:
        """The share of the error that other parameters of the family could save at most; None if that is not known."""
        return None if self.floor is None else outward(1 - self.floor.rmse / self.bracket.upper, up=True)

    @property
    def safe(self) -> SafeEnd:
        """The upper end: the error of the mechanism shown."""
        return SafeEnd.UPPER

    @property
    def rmse(self) -> float:
        """The error, rounded up."""
        return float(self)

    def verify(self) -> None:
        """Compute the bound on delta, the error and the floor again, from the parameters alone.

        Raises
        ------
        CertificateError
            If the target is not met in balls, the error is another one, or the floor does not hold.
        """
        try:
            again = vector_delta(
                self.parameters,
                n=self.users,
                exp_eps=self.exp_eps,
                adjacency=self.adjacency,
                blanket=self.blanket,
                rigour=Rigour.BALL,
                rel=1e-7,
                lower=False,
            )
        except (Unsupported, NotDecided) as reason:
            raise CertificateError("certificate", str(reason)) from reason
        if again.bracket.upper > self.goal:
            raise CertificateError("certificate", f"delta is {again.bracket}, above {float(self.goal):.6g}")
        if again.bracket.upper < self.certificate.bracket.lower or again.bracket.lower > self.certificate.bracket.upper:
            raise CertificateError("certificate", f"delta is {again.bracket}, not {self.certificate.bracket}")
        proved = _error(self.parameters, self.users)
        if not self.bracket.lower <= proved.lower or not proved.upper <= self.bracket.upper:
            raise CertificateError("rmse", f"{proved} is proved, {self.bracket} is claimed")
        if self.floor is not None:
            if not all(_same_family(point, self.parameters) for point in self.floor.points):
                raise CertificateError("floor.points", f"not all are {self.parameters} with other parameters")
            self.floor.verify(Target(self.users, self.exp_eps, self.goal, self.adjacency, self.blanket))

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        names = type(self.parameters).__dataclass_fields__
        found = {name: getattr(self.parameters, name) for name in names}
        return {
            "about": self.about,
            "blanket": self.blanket.value,
            "parameters": {name: value if isinstance(value, int) else _decimal(value) for name, value in found.items()},
            "rmse": self.rmse,
            "gaussian_rmse": self.gaussian_rmse,
            "certificate": self.certificate.to_dict() | self._excluded(),
        }

    def _excluded(self) -> dict[str, Any]:
        if self.floor is None:
            return {"rmse_floor": None, "gap": None}
        return {
            "rmse_floor": outward(self.floor.rmse, up=False),
            "gap": self.gap,
            "floor_about": f"the accountant's bound with the {self.blanket} blanket, not real datasets",
            "excluded": [
                {name: _decimal(getattr(point, name)) for name in _FREE[type(point)]} for point in self.floor.points
            ],
        }


def calibrate(
    name: str,
    *,
    n: int,
    dimension: int,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
    blanket: Blanket | str | None = None,
    gap: object = "1/100",
) -> Calibration:
    """The mechanism of a family with the smallest exact worst-case error whose messages are (eps, delta)-private.

    Parameters
    ----------
    name : {"bmg", "sphere-linear", "privunit", "clipped-linear", "gaussian"}
        The family: (gamma, sigma0), c, (p, theta), (clip, chi), sigma0.
    n : int
        Number of users.
    dimension : int
        Length of the vectors.
    delta : number or text
        Target, in (0, 1).
    eps, exp_eps : number, text or Exp
        Level.
    adjacency : {"replace-one", "zero-out"}
        In what neighbours differ.
    blanket : {"mechanism", "largest"}, optional
        The blanket of the bound; that of the null symbol where it has any mass, otherwise the largest.
    gap : number or text, optional
        How far the certified floor under the error may lie below it, relatively, in (0, 1); None leaves it out.

    Raises
    ------
    InputError
        If an argument is out of range.
    Unsupported
        If nothing was found that meets the target.

    Notes
    -----
    At a fixed shape (gamma; theta; clip) the bound is monotone in the other parameter (convex order), and so is the
    error. That the target is met by the mechanism returned is certified. That no other parameters do better by more
    than :attr:`Calibration.gap` is certified of this bound and blanket: the messages may be more private than it says.
    Where no floor was found within sixteen times ``gap``, it is None, and the shape is the search's word.
    """
    n = check_n(n)
    order, goal = read_target(eps=eps, exp_eps=exp_eps), parse_rational(delta, "delta")
    if not 0 < goal < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    dimension = as_integer(dimension, "dimension", 1)
    near = choice(Adjacency, adjacency, "adjacency")
    sensitivity = 1 if near is Adjacency.ZERO_OUT else 2
    noise = float(calibrate_gaussian(exp_eps=order, delta=goal).upper) * sensitivity / n
    family = family_by_name(name, n, dimension, noise)
    share = None if gap is None else parse_rational(gap, "gap")
    if share is not None and not 0 < share < 1:
        raise InputError("gap", gap, "a number in (0, 1), or none")
    usual = Blanket.LARGEST if name == "gaussian" else Blanket.MECHANISM
    kind = usual if blanket is None else choice(Blanket, blanket, "blanket")

    def excess(shape: float, strength: float) -> float:
        pair = worst_pair(family.make(shape, strength), adjacency=near, blanket=kind, exp_eps=order)
        return math.log(_roughly(pair, n, order)) - math.log(goal)

    shift = 0.0  # of the strength found from the one to start from, at the shape seen last

    @cache
    def strongest(shape: float) -> float:
        nonlocal shift
        found = _root(lambda s: excess(shape, s), family.start(shape) + shift)
        shift = found - family.start(shape)
        return found

    def error(shape: float) -> float:
        try:
            return to_float(err1(family.make(shape, strongest(shape))))
        except (Unsupported, NotDecided, InputError, ArithmeticError, ValueError):  # no such mechanism, or no value
            return math.inf

    shape = _lowest(error, *family.shapes)
    if not math.isfinite(error(shape)):
        raise Unsupported(f"no {name} was found that meets delta = {float(goal):.3g} at n = {n}")
    strength = strongest(shape)
    for k in range(_TRIES):
        mechanism = family.make(shape, strength - 3e-8 * 4**k)
        certificate = vector_delta(
            mechanism,
            n=n,
            exp_eps=order,
            adjacency=near,
            blanket=kind,
            rel=1e-8,
            lower=False,
        )
        if certificate.bracket.upper <= goal:
            break
    else:
        raise Unsupported(f"the bound does not meet delta = {float(goal):.3g} next to the parameters found")
    about = (
        f"{name}, n = {n}, d = {dimension}, {near} adjacency, {kind} blanket; rmse: root of the worst-case squared "
        f"error of the mean per coordinate; the target is certainly met at these parameters"
    )
    floor = None
    if share is not None:
        floor = floor_of(mechanism, Target(n, order, goal, near, kind), share)
    found = Calibration(mechanism, _error(mechanism, n), noise, certificate, n, order, goal, near, about, kind, floor)
    if found.gap is not None:
        rest = f"no others of this family that meet it by this bound save more than a share {found.gap:.2g} of the rmse"
        return replace(found, about=f"{about}, and {rest}")
    if family.shapes[0] < family.shapes[1]:
        return replace(found, about=f"{about}, the shape is the end of a search over it")
    return found


def calibrate_mixed_gaussian(
    *,
    n: int,
    dimension: int,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    adjacency: Adjacency | str = Adjacency.REPLACE_ONE,
) -> Calibration:
    """:func:`calibrate` for the blanket-mixed Gaussian."""
    return calibrate("bmg", n=n, dimension=dimension, delta=delta, eps=eps, exp_eps=exp_eps, adjacency=adjacency)


def _same_family(point: Calibrated, found: Calibrated) -> bool:
    """Whether two mechanisms differ in what is searched only; a linear density is a clipped one without a clip."""
    if isinstance(point, SphereLinear) and isinstance(found, ClippedLinear):
        return point.dimension == found.dimension
    return type(point) is type(found) and all(
        getattr(point, name) == getattr(found, name)
        for name in type(found).__dataclass_fields__
        if name not in _FREE[type(found)]
    )


def _decimal(value: Fraction) -> str:
    """A decimal that was read from one, written back."""
    text = f"{float(value):.{DIGITS + 3}g}"
    return text if Fraction(text) == value else str(value)


def _roughly(pair: Pair, n: int, order: Real) -> float:
    """About H(n) of a pair in its worse order: no bracket, a matter of milliseconds."""
    if isinstance(pair, FinitePair):
        densities = np.array([[to_float(p / r), to_float(q / r), to_float(r)] for p, q, r in _charged(pair)]).T
    else:
        densities = _at_nodes(pair)
    p, q, weight = densities
    ratio, rest = to_float(order), max(1 - float(weight.sum()), 0.0)
    weights = np.append(weight, rest)
    orders = [np.append(g, 0.0) for g in (p - ratio * q, q - ratio * p)]
    most = [ceiling(values, weights, n) for values in orders]
    larger = most.index(max(most))
    found = estimate(orders[larger], weights, n)
    # The other order is often far below, and its transform falls slowly there.
    return found if most[1 - larger] <= found else max(found, estimate(orders[1 - larger], weights, n))


def _charged(pair: FinitePair) -> list[tuple[Any, Any, Any]]:
    return [row for row in zip(pair.first, pair.second, pair.reference, strict=True) if to_float(row[2]) > 0]


def _at_nodes(pair: ContinuousPair) -> Array:
    """Both likelihood ratios against the blanket, and its mass, at the nodes of Gauss's rules: shape ``(3, m)``."""
    rows: list[tuple[float, float, float]] = []
    node, mass = np.polynomial.legendre.leggauss(_NODES)
    with working_precision(64):
        for s in pair.stretches:
            low, high = float(-_HALF if s.low is None else s.low), float(_HALF if s.high is None else s.high)
            count = max(1, math.ceil((high - low) / _PANEL))
            width = (high - low) / count
            for k in range(count):
                for x, w in zip(node, mass, strict=True):
                    u = flint.acb(low + width * (k + (1 + x) / 2))
                    p, q, r, base = (float(f(u).real.mid()) for f in (s.first, s.second, s.reference, s.base))
                    if r * base > 0:
                        rows.append((p / r, q / r, r * base * w * width / 2))
    return np.array(rows).T


def _root(function: Callable[[float], float], start: float) -> float:
    """Where a rising function crosses zero, by secants."""
    x, step = start, 0.01
    y = function(x)
    other = x - math.copysign(step, y)
    value = function(other)
    for _ in range(30):
        if abs(value) < _SETTLED or other == x or value == y:
            return other
        move = max(-0.7, min(0.7, -value * (other - x) / (value - y)))
        x, y, other = other, value, other + move
        if abs(value) < 1e-4:  # two secants more would only confirm it
            return other
        value = function(other)
    raise Unsupported("the search for a strength did not settle")


def _lowest(function: Callable[[float], float], low: float, high: float) -> float:
    """The lowest place that Brent's search finds."""
    from scipy.optimize import minimize_scalar

    if low == high:
        return low
    seen: dict[float, float] = {}

    def at(x: float) -> float:
        seen[x] = min(function(x), _LARGEST)
        return math.log(seen[x])

    minimize_scalar(at, bounds=(low, high), method="bounded", options={"xatol": 2e-3})
    return min(seen, key=lambda x: seen[x])


def _error(mechanism: Calibrated, n: int) -> Bracket:
    """The root of the worst-case squared error of the mean, per coordinate."""
    single: Any = err1(mechanism)
    value = enclose(single / (n * mechanism.dimension), 128)
    low = Fraction(math.isqrt(math.floor(value.lower * 4**60)), 2**60)
    high = Fraction(math.isqrt(math.ceil(value.upper * 4**60)) + 1, 2**60)
    return Bracket(low, high, Rigour.BALL, "closed form", "exact risk of the unbiased estimator")


__all__ = ["Calibration", "calibrate", "calibrate_mixed_gaussian"]
