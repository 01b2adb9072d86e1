r"""Shuffle indices of randomizers: how much one message says, in the two senses that bound the shuffled profile.

.. math:: \chi_{lo}^{-2}=\sup_{x}\frac1\gamma\mathrm{Var}_{R_{BG}}\frac{R_x-R_\bot}{R_{BG}},\qquad
          \chi_{up}^{-2}=\sup_{x_1,x}\mathrm{Var}_{R_x}\frac{R_{x_1}-R_\bot}{R_x}.

The lower index depends on the blanket that is looked at, the upper one does not. Every supremum is proved: by a formula
that is monotone in the input (claims ``symshuffle.vecmean-linear-upper-index``, ``-laplace-upper-index``), by an affine
function of one overlap (``-caps-upper-index``), by the argument of
:mod:`symshuffle.vectors.randomizers.gaussian` (``-bmg-upper-index``, ``-largest-blanket-index``), or covered
at every angle (:mod:`symshuffle.vectors.randomizers.sphere`).
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.base.choices import Blanket, Side, choice
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Number, as_integer, less, maximum, to_arb, working_precision
from symshuffle.base.results import Bracket, outward
from symshuffle.mechanisms.names import source_name
from symshuffle.vectors.randomizers.gaussian import largest_blanket_variance, upper_variance
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    FiniteRandomizer,
    LocalGaussian,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
    VectorMechanism,
)
from symshuffle.vectors.randomizers.sphere import cap_complement, cap_numbers, clipped_numbers, largest_mean

_TERMS: Final = 24
"""Polynomials by which the variance of a clipped density is known at every angle."""


@final
@dataclass(frozen=True, slots=True)
class ShuffleIndex:
    r"""A shuffle index with how it is known.

    ``float`` returns the lower end of a lower index, rounded down, and refuses an upper index.

    - ``inverse_square``: the variance :math:`1/\chi^2`: rational where it is, otherwise a ball.
    - ``bracket``: the index :math:`\chi` itself.
    """

    inverse_square: Number
    bracket: Bracket
    side: Side
    about: str
    evaluation: str

    def __float__(self) -> float:
        if self.side == "upper":
            raise Unsupported(
                "neither end of an upper index is safe for every use: take .bracket.lower or .bracket.upper"
            )
        return outward(self.bracket.lower, up=False)

    def to_dict(self) -> dict[str, Any]:
        """The index as plain data."""
        return {
            "side": self.side,
            "chi": self.bracket.decimals(),
            "inverse_square": str(self.inverse_square),
            "arithmetic": self.bracket.arithmetic,
            "about": self.about,
            "evaluation": self.evaluation,
        }

    def __repr__(self) -> str:
        return f"ShuffleIndex({self.side}, {self.bracket})"

    def _repr_html_(self) -> str:
        name = r"\chi_{\mathrm{lo}}" if self.side == "lower" else r"\chi_{\mathrm{up}}"
        ends = self.bracket.decimals(12)
        return f"<p>$${name}\\in[{ends['lower']},\\,{ends['upper']}]$$</p><p>{self.about}; {self.evaluation}</p>"


def shuffle_index(
    mechanism: VectorMechanism | FiniteRandomizer,
    side: Side,
    *,
    blanket: Blanket = "mechanism",
    bits: int = DEFAULT_BITS,
) -> ShuffleIndex:
    r"""Lower or upper shuffle index of a randomizer.

    Parameters
    ----------
    mechanism : VectorMechanism or FiniteRandomizer
        The randomizer, with its null law.
    side : {"lower", "upper"}
        Which index.
    blanket : Blanket
        What a lower index is measured against; an upper index does not depend on it.
    bits : int
        Working precision of balls.

    Returns
    -------
    ShuffleIndex
        The index as a bracket, the variance :math:`1/\chi^2`, and how they are known.

    Raises
    ------
    InputError
        If PrivUnit ignores its input, so that the index is infinite.
    Unsupported
        For the Gaussian randomizer's own blanket: it has none but the largest.

    Notes
    -----
    vecmean, Definition 2.5.

    Examples
    --------
    >>> shuffle_index(BlanketMixedGaussian("0.95", "4.6"), "lower")
    ShuffleIndex(lower, [88.61318456, 88.61318457] (ball, index))
    """
    side, blanket = choice(Side, side, "side"), choice(Blanket, blanket, "blanket")
    bits = as_integer(bits, "bits", 2)
    with working_precision(bits + 32):
        variance, where = _variance(mechanism, side, blanket)
        if isinstance(variance, flint.arb):
            variance = Ball.from_arb(variance, bits)
    about = f"{mechanism if not isinstance(mechanism, FiniteRandomizer) else 'finite channel'}, zero-out adjacency"
    if side == "lower":
        about += f", {blanket} blanket"
    return ShuffleIndex(variance, _index(variance, bits, where), side, about, where)


def _index(variance: Number, bits: int, evaluation: str) -> Bracket:
    if not less(0, variance):
        raise InputError("mechanism", "no input changes its law", "a mechanism that depends on its input")
    with working_precision(bits + 32):
        chi = Ball.from_arb(1 / to_arb(variance).sqrt(), bits)
    return Bracket(chi.lower, chi.upper, "ball", "index", evaluation)


def _variance(mechanism: Any, side: Side, blanket: Blanket) -> tuple[Any, str]:
    """The number 1/chi^2 as a rational or an ``arb``, and how it is known."""
    match mechanism:
        case FiniteRandomizer():
            if side == "upper":
                return mechanism.inverse_square_upper(), "sum over outputs, largest over all inputs"
            seen = mechanism if blanket == "mechanism" else mechanism.with_largest_blanket()
            return seen.inverse_square_lower(), "sum over outputs, largest over all inputs"
        case BlanketMixedGaussian():
            return _mixed_gaussian(mechanism, side, blanket)
        case LocalGaussian():
            return _gaussian(mechanism, side, blanket)
        case PrivUnit():
            return _privunit(mechanism, side), "closed form in the mass of the cap; affine in the overlap of two caps"
        case SphereLinear():
            return _sphere_linear(
                mechanism, side
            ), "closed form; worst at |x| = 1, and opposite to or along the reference"
        case ClippedLinear():
            if side == "lower":
                return 1 / mechanism.chi**2, "a parameter of the mechanism; |x| = 1"
            return _clipped_linear(mechanism), f"{_TERMS} zonal terms and a remainder, every angle of two unit inputs"
        case LocalLaplace():
            beta = 1 / to_arb(mechanism.scale)
            if side == "upper":
                return (1 - (-beta).exp()) ** 2 * (
                    2 * (2 * beta).exp() + (-2 * beta).exp()
                ) / 3, "closed form; x1=1, x=-1"
            own = (2 * beta.exp() + (-2 * beta).exp()) / 3 - 1
            return beta.exp() * own, "closed form; |x| = 1"
        case _:
            raise InputError("mechanism", source_name(mechanism), "a randomizer of vectors or a finite one")


def _mixed_gaussian(mechanism: BlanketMixedGaussian, side: Side, blanket: Blanket) -> tuple[flint.arb, str]:
    gamma, b = to_arb(mechanism.gamma), to_arb(mechanism.norm) / to_arb(mechanism.sigma0)
    squared = (1 - gamma) ** 2
    if side == "upper":
        return squared * upper_variance(gamma, b), "integral on the line; worst at antipodal inputs of full length"
    if blanket == "mechanism":
        return squared * (b * b).expm1() / gamma, "closed form; worst at full length"
    return squared * largest_blanket_variance(gamma, b, mechanism.dimension), "integral over the length; full length"


def _gaussian(mechanism: LocalGaussian, side: Side, blanket: Blanket) -> tuple[flint.arb, str]:
    b = 1 / to_arb(mechanism.sigma0)
    if side == "upper":
        return upper_variance(flint.arb(0), b), "closed form; worst at antipodal unit inputs"
    if blanket == "mechanism":
        raise Unsupported("the Gaussian randomizer has no blanket of its own; use blanket='largest'")
    return largest_blanket_variance(flint.arb(0), b, mechanism.dimension), "integral over the length; |x| = 1"


def _clipped_linear(mechanism: ClippedLinear) -> flint.arb:
    """Shorter inputs are mixtures of unit ones, and the variance is convex in both laws."""
    gamma, slope, _ = map(to_arb, clipped_numbers(mechanism, bits=flint.ctx.prec))
    clip = to_arb(mechanism.clip)

    def line(t: flint.acb) -> flint.acb:
        return gamma + slope * (t - clip)

    square = (lambda t: t * 0 + (gamma - 1) ** 2, lambda t: (line(t) - 1) ** 2)
    inverse = (lambda t: t * 0 + 1 / gamma, lambda t: 1 / line(t))
    return largest_mean(square, inverse, mechanism.clip, mechanism.dimension, _TERMS)


def _privunit(mechanism: PrivUnit, side: Side) -> flint.arb:
    bits = flint.ctx.prec
    numbers = cap_numbers(mechanism, bits=bits)
    q, advantage = to_arb(numbers.q), to_arb(numbers.advantage)
    if mechanism.p == Fraction(1, 2) and mechanism.theta == 0:
        raise InputError("p", mechanism.p, "a probability other than that of the cap, 1/2")
    if advantage.contains(0):
        raise NotDecided(f"whether PrivUnit ignores its input at p = {mechanism.p} is not decided at {bits} bits")
    outside = cap_complement(-to_arb(mechanism.theta), mechanism.dimension)
    if side == "lower":
        return advantage**2 / (to_arb(numbers.gamma) * q * outside)
    high, low = to_arb(numbers.high), to_arb(numbers.low)

    def at_overlap(common: flint.arb) -> flint.arb:
        only = outside - common
        above, below = (high - 1) ** 2, (low - 1) ** 2
        return above * (common / high + only / low) + below * (only / high + (1 - outside - only) / low)

    # Two caps of one size meet in at most one of them and in at least what both together exceed the sphere by; both
    # happen (equal and opposite directions), and the variance is affine in between.
    same = Ball.from_arb(at_overlap(outside), bits)
    opposite = at_overlap(outside - q if mechanism.theta < 0 else flint.arb(0))
    return to_arb(maximum([same, Ball.from_arb(opposite, bits)]))


def _sphere_linear(mechanism: SphereLinear, side: Side) -> Fraction | flint.arb:
    c, d = mechanism.c, mechanism.dimension
    if side == "lower":
        return c * c / (d * (1 - c))
    if d == 1:
        return c * c / (1 - c * c)
    half = flint.arb(1) / 2
    return to_arb(c * c).hypgeom_2f1(flint.arb(1), half, d * half) - 1
