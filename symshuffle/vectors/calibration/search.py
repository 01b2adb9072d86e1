"""Parameters of smallest error that meet a guarantee at a finite number of users.

The search (:mod:`symshuffle.vectors.calibration.smallest_error`) is by uncertified values of the bound; a bracket of
the bound at what it finds is the certificate. What other parameters could gain is bounded by
:mod:`symshuffle.vectors.calibration.floor`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.bounds.answers import Answer
from symshuffle.accountants.deployment.experiment import experiment_of
from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import UNSAID
from symshuffle.accountants.deployment.subjects import smallest_batch, with_fields
from symshuffle.accountants.questions import solve
from symshuffle.base.choices import EVALUATED, Blanket, Relation, SafeEnd, choice
from symshuffle.base.errors import CertificateError, InputError, NotDecided, Unsupported
from symshuffle.base.levels import read_delta, read_target
from symshuffle.base.numbers import Real, as_integer, enclose, format_decimal, parse_rational, shortest
from symshuffle.base.results import (
    AnswerMethods,
    Bracket,
    FirstLines,
    at_target,
    check_claim,
    outward,
    safe_number,
)
from symshuffle.mechanisms.names import mechanism_name
from symshuffle.vectors.calibration.families import SHAPES, Calibrated, family_by_name
from symshuffle.vectors.calibration.floor import Bounded, Target, check_floor
from symshuffle.vectors.calibration.smallest_error import estimated_error, found_for
from symshuffle.vectors.calibration.staircase import floor_of
from symshuffle.vectors.error.risk import err1
from symshuffle.vectors.privacy.accounting import larger_between, one_user_bound
from symshuffle.vectors.randomizers.gaussian import calibrate_gaussian
from symshuffle.vectors.randomizers.mechanisms import (
    LARGEST_DIMENSION,
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)

FREE: Final[dict[type, tuple[str, ...]]] = {
    BlanketMixedGaussian: ("gamma", "sigma0"),
    SphereLinear: ("c",),
    LocalGaussian: ("sigma0",),
    PrivUnit: ("p", "theta"),
    ClippedLinear: ("clip", "chi"),
}
"""The parameters that are searched, of the families that have a floor."""

_STRENGTH: Final[dict[type, str]] = {
    BlanketMixedGaussian: "sigma0",
    SphereLinear: "c",
    LocalGaussian: "sigma0",
    PrivUnit: "p",
    ClippedLinear: "chi",
}
"""Which of them is raised until the target is met."""

_UNUSED: Final = 100
"""Factor below the target from which on a search has ended before the target; a search to the target is far nearer."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Calibration(AnswerMethods):
    """A randomizer that meets a target, and what a trusted curator would reach.

    ``float`` returns the upper end of the error, rounded up.

    - ``parameters``: the mechanism, its parameters exact decimals.
    - ``bracket``: around the root of its exact worst-case mean squared error of the mean, per coordinate.
    - ``excluded``, ``rmse_floor``: the points of a floor under the error and what they leave; None without a floor.
    """

    parameters: Calibrated
    bracket: Bracket
    gaussian_rmse: float
    certificate: Answer
    users: int
    exp_eps: Real
    goal: Fraction
    adjacency: Relation
    about: str
    blanket: Blanket = "mechanism"
    excluded: tuple[Bounded, ...] = ()
    rmse_floor: Fraction | None = None

    @property
    def gap(self) -> float | None:
        """The share of the error that other parameters of the family could save at most; None if that is not known."""
        return None if self.rmse_floor is None else outward(1 - self.rmse_floor / self.bracket.upper, up=True)

    @property
    def limit(self) -> str | None:
        """Which parameter ended the search at its limit, so that most of delta is unused; None if none did."""
        if self.certificate.bracket.upper > self.goal / _UNUSED:
            return None
        name = _STRENGTH[type(self.parameters)]
        value = _decimal(getattr(self.parameters, name))
        return f"the search of {name} ends at {value}: delta is below the target by a factor of {_UNUSED} or more"

    @property
    def lines(self) -> FirstLines:
        """First lines of the calibration: error and delta, protected users, assumptions, evidence."""
        delta = at_target(safe_number(self.certificate.bracket, "upper"), self.certificate.target)
        number = f"{safe_number(self.bracket, self.safe)}; delta {delta}"
        return self.certificate.neighbours.lines("rmse", number, EVALUATED[self.certificate.bracket.arithmetic])

    @property
    def safe(self) -> SafeEnd:
        """The upper end: the error of the mechanism shown."""
        return "upper"

    @property
    def rmse(self) -> float:
        """The error, rounded up."""
        return float(self)

    def verify(self) -> None:
        """Compute the bound on delta, the error and the floor again, from the parameters alone."""
        try:
            again = self._again()
        except (Unsupported, NotDecided) as reason:
            raise CertificateError("certificate", str(reason)) from reason
        if again.upper > self.goal:
            raise CertificateError("certificate", f"delta is {again}, above {shortest(self.goal)}")
        if again.upper < self.certificate.bracket.lower or again.lower > self.certificate.bracket.upper:
            raise CertificateError("certificate", f"delta is {again}, not {self.certificate.bracket}")
        check_claim(self.bracket, _error(self.parameters, self.users), "rmse")
        if self.rmse_floor is not None:
            if not all(_same_family(point, self.parameters) for point in self.excluded):
                raise CertificateError("floor.points", f"not all are {self.parameters} with other parameters")
            target = Target(self.users, self.exp_eps, self.goal, self.adjacency, self.blanket)
            check_floor(self.excluded, self.rmse_floor, target)

    def _again(self) -> Bracket:
        """Delta at the parameters, in balls."""
        asked: dict[str, Any] = {"exp_eps": self.exp_eps, "adjacency": self.adjacency, "arithmetic": "ball"}
        try:
            return solve.delta(self.parameters, n=self.users, blanket=self.blanket, rtol=1e-7, **asked).bracket
        except Unsupported:
            alone = one_user_bound(self.parameters, self.goal, **asked)
            if alone is not None:
                return alone
            if not isinstance(self.parameters, ClippedLinear):
                raise
            return larger_between(self.parameters, self.users, rtol=1e-4, **asked)

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        names = type(self.parameters).__dataclass_fields__
        found = {name: getattr(self.parameters, name) for name in names}
        return {
            "about": self.about,
            "blanket": self.blanket,
            "limit": self.limit,
            "parameters": {name: value if isinstance(value, int) else _decimal(value) for name, value in found.items()},
            "rmse": self.rmse,
            "gaussian_rmse": self.gaussian_rmse,
            "certificate": self.certificate.to_dict() | self._excluded(),
        }

    def _excluded(self) -> dict[str, Any]:
        if self.rmse_floor is None:
            return {"rmse_floor": None, "gap": None}
        return {
            "rmse_floor": outward(self.rmse_floor, up=False),
            "gap": self.gap,
            "floor_about": f"the accountant's bound with the {self.blanket} blanket, not real datasets",
            "excluded": [
                {name: _decimal(getattr(point, name)) for name in FREE[type(point)]} for point in self.excluded
            ],
        }


@with_fields
def calibrate(
    name: str,
    *,
    n: int,
    dimension: int,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    adjacency: Relation = "replace-one",
    blanket: Blanket | None = None,
    gap: object = "1/100",
    fixed: Mapping[str, object] | None = None,
    **fields: Any,
) -> Calibration:
    """Mechanism of a family with the smallest worst-case error at (eps, delta).

    The shuffled messages of n users are certified to be (eps, delta)-private.

    Parameters
    ----------
    name : {"bmg", "sphere-linear", "privunit", "clipped-linear", "gaussian"}
        The family: (gamma, sigma0), c, (p, theta), (clip, chi), sigma0.
    n : int
        Number of users, at least 1; privacy and error are those of the honest ones of the smallest batch.
    dimension : int
        Length of the vectors, at least 1.
    delta : number or text
        Target probability, in (0, 1).
    eps, exp_eps : number, text or Exp
        Level: eps in nats, or its exponential; one of the two.
    adjacency : {"replace-one", "zero-out"}
        In what neighbours differ.
    blanket : {"mechanism", "largest"}, optional
        The blanket of the bound; that of the null symbol where it has any mass, otherwise the largest.
    gap : number or text, optional
        How far the certified floor under the error may lie below it, relatively, in (0, 1); None leaves it out.
    fixed : mapping of str, optional
        A value of gamma, theta or clip, which then is not searched and has no floor.
    and the fields of a deployment
        Those that only change how many honest messages a batch has; another is refused, and the message names a
        question that supports it.

    Returns
    -------
    Calibration
        The mechanism, its error, the certificate of its privacy, and the floor.

    Raises
    ------
    InputError
        If an argument is out of range.
    Unsupported
        If nothing was found that meets the target, or is certified to.

    Notes
    -----
    At a fixed shape (gamma; theta; clip) the bound is monotone in the other parameter (convex order), and so is the
    error. It is certified that the mechanism returned meets the target. For this bound and blanket it is also certified
    that no other parameters do better by more than ``Calibration.gap``; the messages may be more private than
    the bound says. If no floor was found within sixteen times ``gap``, ``rmse_floor`` is None, and nothing certifies
    the shape that the search found.
    """
    near = choice(Relation, adjacency, "adjacency")
    covered = UNSAID.with_(n=check_n(n), adjacency=near, **fields)
    all_users, n = n, smallest_batch(covered, "vectors")
    order, goal = read_target(eps=eps, exp_eps=exp_eps), read_goal(delta)
    dimension = as_integer(dimension, "dimension", 1, LARGEST_DIMENSION)
    noise = central_noise(order, goal, near) / n
    name = mechanism_name(name)
    shape = _shape_of(name, fixed)
    family = family_by_name(name, n, dimension, noise, shape)
    if dimension == 1 and name in ("privunit", "clipped-linear"):
        raise Unsupported(f"{name} needs dimension 2 or more; in dimension 1 sphere-linear is randomized response")
    family.make(family.centre, family.start(family.centre))  # a value that is fixed is refused by its own name
    share = None if gap is None else parse_rational(gap, "gap")
    if share is not None and not 0 < share < 1:
        raise InputError("gap", gap, "a number in (0, 1), or none")
    usual: Blanket = "largest" if name == "gaussian" else "mechanism"
    kind = usual if blanket is None else choice(Blanket, blanket, "blanket")

    target = Target(n, order, goal, near, kind)
    try:
        mechanism, bound = found_for(family, target)
    except Unsupported as reason:
        raise Unsupported(f"{name}, n = {n}: {reason}") from reason
    covered = covered.with_(blanket=kind).with_randomizers(lambda _: mechanism)
    asked = experiment_of(covered)
    certificate = Answer("delta", bound, asked.neighbours("both"), exp_eps=order, deployment=covered)
    users = f"{n}" if n == all_users else f"{n} honest users of the smallest batch of {all_users}"
    about = (
        f"{name}, n = {users}, d = {dimension}, {near} adjacency, {kind} blanket; rmse: root of the worst-case squared "
        f"error of the mean per coordinate; the target is certainly met at these parameters"
    )
    excluded, least = floor_of(mechanism, target, share) if share is not None and shape is None else ((), None)
    found = Calibration(
        mechanism, _error(mechanism, n), noise, certificate, n, order, goal, near, about, kind, excluded, least
    )
    if found.gap is not None:
        gap = format_decimal(Fraction(found.gap), digits=2, up=True)
        rest = f"no others of this family that meet it by this bound save more than a share {gap} of the rmse"
        return replace(found, about=f"{about}, and {rest}")
    if family.shapes[0] < family.shapes[1]:
        return replace(found, about=f"{about}, the shape is the end of a search over it")
    return found


def estimated_rmse(name: str, target: Target, dimension: int, noise: float) -> float:
    """About the least error of a family at a target, without any claim; infinite where the search finds none."""
    if dimension == 1 and name in ("privunit", "clipped-linear"):
        return math.inf
    return math.sqrt(estimated_error(family_by_name(name, target.n, dimension, noise), target) / target.n / dimension)


def central_noise(order: Real, goal: Fraction, adjacency: Relation) -> float:
    """Noise of a trusted curator's Gaussian mechanism on the sum."""
    return float(calibrate_gaussian(exp_eps=order, delta=goal).upper) * (1 if adjacency == "zero-out" else 2)


def read_goal(delta: object, *, least: Fraction = Fraction(1, 10**100)) -> Fraction:
    """A target delta as a rational.

    - ``least``: least target delta of a calibration.
    """
    goal = read_delta(delta)
    if goal < least:
        raise InputError("delta", delta, f"at least {shortest(least)}: the search for parameters is in doubles")
    return goal


def _shape_of(name: str, fixed: Mapping[str, object] | None) -> Fraction | None:
    """The shape, where it is given."""
    known = SHAPES.get(name)
    for key, value in (fixed or {}).items():
        if key != known:
            may = "no value" if known is None else f"only {known}"
            raise InputError(key, value, f"{may}: the rest of {name} follows from the target")
        return parse_rational(value, key)
    return None


def _same_family(point: Calibrated, found: Calibrated) -> bool:
    """Whether two mechanisms differ in what is searched only; a linear density is a clipped one without a clip."""
    if isinstance(point, SphereLinear) and isinstance(found, ClippedLinear):
        return point.dimension == found.dimension
    return type(point) is type(found) and all(
        getattr(point, name) == getattr(found, name)
        for name in type(found).__dataclass_fields__
        if name not in FREE[type(found)]
    )


def _decimal(value: Fraction, *, digits: int = 15) -> str:
    """A decimal that was read from one, written back."""
    text = f"{float(value):.{digits}g}"
    return text if Fraction(text) == value else str(value)


def _error(mechanism: Calibrated, n: int) -> Bracket:
    """The root of the worst-case squared error of the mean, per coordinate."""
    single: Any = err1(mechanism)
    value = enclose(single / (n * mechanism.dimension), 128)
    low = Fraction(math.isqrt(math.floor(value.lower * 4**60)), 2**60)
    high = Fraction(math.isqrt(math.ceil(value.upper * 4**60)) + 1, 2**60)
    return Bracket(low, high, "ball", "closed form", "exact risk of the unbiased estimator")
