"""Mixed Gaussian parameters of smallest error that meet a guarantee at a finite number of users."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.evaluate import check_n
from symshuffle.errors import InputError, Unsupported
from symshuffle.mechanisms.parameters import read_target
from symshuffle.numbers import Real, parse_rational
from symshuffle.results import Rigour
from symshuffle.vectors.accounting import VectorBound, pair_delta, vector_delta
from symshuffle.vectors.gaussian import calibrate_gaussian
from symshuffle.vectors.mechanisms import BlanketMixedGaussian
from symshuffle.vectors.pairs import Adjacency, worst_pair

_GOLDEN: Final = (math.sqrt(5) - 1) / 2
_STEPS: Final = 11
_DIGITS: Final = 10
"""Decimal digits of the parameters returned."""

_LARGEST: Final = 1e4


@final
@dataclass(frozen=True, slots=True)
class Calibration:
    """A blanket-mixed Gaussian that meets a target, and what a trusted curator would reach.

    Parameters
    ----------
    parameters : BlanketMixedGaussian
        The mechanism, its parameters exact decimals.
    rmse : float
        Root of its exact worst-case mean squared error over nd, per coordinate.
    gaussian_rmse : float
        The same of the central Gaussian mechanism that meets the target under the same adjacency.
    certificate : VectorBound
        The bound on delta at the parameters, in both orders.
    about : str
        What is certain and what is searched.
    """

    parameters: BlanketMixedGaussian
    rmse: float
    gaussian_rmse: float
    certificate: VectorBound
    about: str

    def __float__(self) -> float:
        return self.rmse

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data."""
        return {
            "about": self.about,
            "parameters": {"gamma": str(self.parameters.gamma), "sigma0": str(self.parameters.sigma0)},
            "rmse": self.rmse,
            "gaussian_rmse": self.gaussian_rmse,
            "certificate": self.certificate.to_dict(),
        }


def calibrate_mixed_gaussian(
    *,
    n: int,
    dimension: int,
    delta: object,
    eps: object = None,
    exp_eps: object = None,
    adjacency: Adjacency = "zero-out",
) -> Calibration:
    """The blanket-mixed Gaussian of smallest exact worst-case error whose shuffled messages are (eps, delta)-private.

    At fixed gamma the bound falls as sigma0 grows (convex order), and the error rises: the smallest sigma0 that
    meets the target is searched, and over gamma a golden-section search runs. That the target is met at the parameters
    returned is certified; that no other gamma does better is the search's word.

    Raises
    ------
    InputError
        If delta is not in (0, 1).
    Unsupported
        If no sigma0 up to 10^4 meets the target.
    """
    n = check_n(n)
    order, goal = read_target(eps=eps, exp_eps=exp_eps), parse_rational(delta, "delta")
    if not 0 < goal < 1:
        raise InputError("delta", delta, "a number in (0, 1)")
    if not isinstance(dimension, int) or dimension < 1:
        raise InputError("dimension", dimension, "an integer of at least 1")
    sensitivity = 1 if adjacency == "zero-out" else 2
    noise = float(calibrate_gaussian(exp_eps=order, delta=goal).upper) * sensitivity / n
    found: dict[float, tuple[float, float]] = {}

    def error(x: float) -> float:
        """Squared error over d of the mechanism at ``1 - gamma = exp(x)``, its noise as small as the target allows."""
        if x not in found:
            gamma = 1 - math.exp(x)
            # The noise that has the index of the central mechanism is where the search starts.
            guess = math.log1p(gamma / (math.exp(2 * x) * noise**2 * n)) ** -0.5
            try:
                scale = _smallest_noise(gamma, n, order, float(goal), adjacency, 1.02 * guess)
            except Unsupported:  # too heavy a tail for the engine
                found[x] = (math.inf, math.nan)
            else:
                found[x] = (scale**2 / math.exp(2 * x) + gamma / math.exp(x) / dimension, scale)
        return found[x][0]

    centre = -2 / 3 * math.log(max(noise * math.sqrt(n), 2.0))
    low, high = centre - 1.5, min(centre + 1.5, -0.02)
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    for _ in range(_STEPS):
        if error(left) < error(right):
            high, right = right, left
            left = high - _GOLDEN * (high - low)
        else:
            low, left = left, right
            right = low + _GOLDEN * (high - low)
    best = min(found, key=lambda x: found[x][0])
    if not math.isfinite(found[best][0]):
        raise Unsupported(f"no gamma was found at which the engine certifies delta = {float(goal):.3g}")
    gamma = Fraction(round((1 - math.exp(best)) * 10**_DIGITS), 10**_DIGITS)
    scale = Fraction(math.ceil(found[best][1] * (1 + 1e-9) * 10**_DIGITS), 10**_DIGITS)
    for _ in range(40):
        mechanism = BlanketMixedGaussian(gamma, scale, Fraction(1), dimension)
        certificate = vector_delta(mechanism, n=n, exp_eps=order, adjacency=adjacency, lower=False)
        if certificate.bracket.upper <= goal:
            break
        scale += scale / 10**6
    else:
        raise Unsupported(f"the bound does not meet delta = {float(goal):.3g} next to sigma0 = {float(scale):.6g}")
    rest = 1 - gamma
    rmse = math.sqrt(float((scale**2 / rest**2 + gamma / rest / dimension) / n))
    about = (
        f"n = {n}, d = {dimension}, {adjacency} adjacency; rmse: root of the worst-case squared error per "
        f"coordinate; the target is "
        "certainly met at these parameters, gamma is the end of a golden-section search"
    )
    return Calibration(mechanism, rmse, noise, certificate, about)


def _smallest_noise(gamma: float, n: int, order: Real, goal: float, adjacency: Adjacency, guess: float) -> float:
    """About the smallest sigma0 that meets the target at a gamma: secants on the logarithms of both."""
    mass = Fraction(round(gamma * 10**_DIGITS), 10**_DIGITS)

    def excess(x: float) -> float:
        scale = Fraction(round(math.exp(x) * 10**_DIGITS), 10**_DIGITS)
        pair = worst_pair(BlanketMixedGaussian(mass, scale), adjacency=adjacency)
        value = pair_delta(pair, n, order, rigour=Rigour.FLOAT64, rel=1e-5).upper
        return math.log(float(value)) - math.log(goal)

    x = math.log(max(guess, 0.3))
    step = 0.05
    y = excess(x)
    other = x + (step if y > 0 else -step)
    value = excess(other)
    for _ in range(40):
        if abs(value) < 1e-6 or other == x or value == y:
            break
        move = max(-0.5, min(0.5, -value * (other - x) / (value - y)))
        x, y = other, value
        other += move
        if math.exp(other) > _LARGEST:
            raise Unsupported(f"no sigma0 up to {_LARGEST:.0f} meets the target at gamma = {gamma:.4g}")
        value = excess(other)
    return math.exp(other)
