r"""The worst pair of inputs of a randomizer of vectors, along the one coordinate that tells them apart.

Which pair is worst is proved, for every dimension and both orders, because the bound is an expectation of a convex
function of :math:`\sum_iG_i` with i.i.d. terms, and hence rises with G in convex order:

- *Blanket-mixed Gaussian, its own blanket.* :math:`E_x=\exp(\langle y,x\rangle/\sigma_0^2-|x|^2/2\sigma_0^2)` is a
  geometric Brownian martingale in :math:`|x|^2`: rising in convex order, so the longest x is worst. For two inputs, a
  contraction C and noise of covariance :math:`I-CC^T` turn N(w, I) into N(Cw, I) and leave N(0, I) alone: by data
  processing the longest inputs are worst at a given inner product r. At fixed lengths
  :math:`\frac{d}{dr}E f(aE_x-bE_{x'})=-\frac{ab}{\sigma_0^2}E[E_xE_{x'}f'']\le0` (Gaussian interpolation):
  opposite inputs.
- *Linear density on the sphere.* :math:`G=1-e^\varepsilon+c\langle u,w\rangle` up to the blanket mass, with w = x or
  :math:`w=x-e^\varepsilon x'`: a dilation by :math:`|w|`, largest at unit vectors, opposite ones for two inputs.
- *Any rising density h(<u, x>) on the sphere* (the clipped linear one). Shorter inputs are mixtures of unit ones, and
  the bound is convex in a law. For unit inputs :math:`f(h(a)-\alpha h(b))` is submodular in the two heights: of all
  couplings that of opposite inputs, which makes one height fall as the other rises, is largest.
- *Cap sampling.* The four joint values sum pairwise to the same, the extreme two being those of disagreement: the law
  rises in convex order as the caps share less, and opposite caps share least.

For the largest blanket, :math:`b=\inf_x R_x` over the ball, opposite inputs of full length are worst of all pairs, in
every dimension and both orders. On a sphere of outputs b does not change, and of all couplings of
:math:`\langle u,x\rangle` and :math:`\langle u,x'\rangle` the one that makes one fall as the other rises is largest:
inputs p and q with :math:`p\ge0\ge q` on a line. There the hinges
:math:`\int(R_p-\alpha R_q-kb)_+` rise with p and fall with q, for every :math:`\alpha>0` and every length across
(symshuffle.vecmean-worst-pair-largest-replace; :math:`k<0` is the other order, mirrored). For zero-out the longest
input is worst once b is rounded around 0, by how much depends on the level. From dimension 2 on b also depends on the
length across the line: it is bounded below on classes of it (:mod:`symshuffle.vectors.privacy.gaussian_blanket`).
Either way what is computed is above the bound with b itself and still bounds the divergence.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, Final, TypeAlias, final

import flint

from symshuffle.base.choices import Blanket, Relation, choice
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Real, Verdict, less, positive_part, to_arb, working_precision
from symshuffle.channels.continuous_law import ContinuousPair, Function, Stretch
from symshuffle.channels.law import Law
from symshuffle.vectors.privacy.gaussian_blanket import (
    largest_blanket_pair,
    pair_in_words,
)
from symshuffle.vectors.randomizers.coordinates import (
    constant,
    cosine,
    enclosed,
    linear_transform,
    normal,
    once,
    sine,
    sphere_constant,
    tilted,
)
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.randomizers.sphere import clipped_numbers

Randomizer: TypeAlias = "BlanketMixedGaussian | LocalGaussian | SphereLinear | PrivUnit | ClippedLinear"

ADJACENCIES: Final = ("zero-out", "replace-one")


@final
@dataclass(frozen=True, slots=True)
class FinitePair:
    """Two laws and a blanket that differ by finitely many likelihood ratios.

    - ``reference``: masses of the blanket, of sum at most 1.
    - ``whole``: whether the blanket is a law itself, of sum 1: balls do not show that nothing is left.
    """

    first: tuple[Any, ...]
    second: tuple[Any, ...]
    reference: tuple[Any, ...]
    about: str
    whole: bool = False

    def __post_init__(self) -> None:
        for name in ("first", "second", "reference"):
            masses = getattr(self, name)
            if not isinstance(masses, tuple) or len(masses) != len(self.reference):
                raise InputError(name, masses, "a tuple of masses, as many as the blanket has")
            for mass in masses:
                if type(mass) not in (int, Fraction, Ball) or less(mass, 0) is Verdict.TRUE:
                    raise InputError(name, mass, "rationals or balls of at least 0")
            total = sum(masses, start=Fraction(0))
            full = name != "reference" or self.whole
            if less(1, total) is Verdict.TRUE or (full and less(total, 1) is Verdict.TRUE):
                raise InputError(name, masses, "masses of sum 1, of the blanket at most 1")

    @property
    def reverse(self) -> FinitePair:
        """The pair in the other order."""
        return replace(self, first=self.second, second=self.first)

    def law(self, exp_eps: Real, *, bits: int = DEFAULT_BITS) -> Law:
        """The law of G: 0 where the message is not a blanket message; what the blanket never sends is singular mass."""
        x: Any = exp_eps
        if not isinstance(exp_eps, int | Fraction):
            with working_precision(bits):
                x = Ball.from_arb(to_arb(exp_eps), bits)
        atoms: list[tuple[Any, Any]] = []
        revealed: Any = Fraction(0)
        for p, q, r in zip(self.first, self.second, self.reference, strict=True):
            match less(0, r):
                case Verdict.TRUE:
                    atoms.append(((p - x * q) / r, r))
                case Verdict.FALSE if less(0, p - x * q) is not Verdict.FALSE:
                    revealed += positive_part(p - x * q)
                case Verdict.FALSE:
                    pass
                case _:
                    raise NotDecided("whether the blanket has mass at a message is not decided: increase bits")
        rest: Any = Fraction(0) if self.whole else 1 - sum((r for _, r in atoms), start=Fraction(0))
        return Law.from_atoms([(Fraction(0), rest), *atoms], revealed)


Pair: TypeAlias = ContinuousPair | FinitePair


def worst_pair(
    mechanism: Randomizer,
    *,
    adjacency: Relation = "replace-one",
    blanket: Blanket = "mechanism",
    exp_eps: Real | None = None,
) -> Pair:
    """The pair of inputs that no other exceeds, compared against a blanket.

    - ``blanket``: the law of the null symbol with its mass in every message, or the infimum over all inputs (which,
      for a density that is smallest at the same mass everywhere, is the same).
    - ``exp_eps``: the level up to which no other pair may exceed it. For zero-out against the largest blanket of a
      Gaussian it says how far that is rounded around 0 (:mod:`symshuffle.vectors.privacy.gaussian_blanket`);
      without it the blanket is as it is, and only the longest input is bounded. Everything else is the same at all
      levels.
    """
    adjacency, blanket = choice(Relation, adjacency, "adjacency"), choice(Blanket, blanket, "blanket")
    match mechanism:
        case BlanketMixedGaussian() if blanket == "mechanism":
            return _mixed_gaussian(mechanism, adjacency)
        case BlanketMixedGaussian():
            return largest_blanket_pair(mechanism, adjacency, exp_eps)
        case LocalGaussian() if blanket == "largest":
            return largest_blanket_pair(mechanism, adjacency, exp_eps)
        case LocalGaussian():
            raise Unsupported("the Gaussian randomizer has no blanket of its own; use blanket='largest'")
        case SphereLinear():
            return _sphere(mechanism, adjacency)
        case PrivUnit():
            return _caps(mechanism, adjacency)
        case ClippedLinear():
            return _clipped(mechanism, adjacency)


def real_pair(mechanism: Randomizer, *, adjacency: Relation = "replace-one") -> Pair:
    """A pair of datasets, x against the null symbol or against -x, in which all others hold -x: a lower bound.

    The divergence of the two shuffled outputs is exactly H(n) with the law of the others' messages as reference.
    """
    adjacency = choice(Relation, adjacency, "adjacency")
    away = "all others hold -x"
    match mechanism:
        case BlanketMixedGaussian() | LocalGaussian():
            name, gamma, norm = "Gaussian", Fraction(0), Fraction(1)
            if isinstance(mechanism, BlanketMixedGaussian):
                name, gamma, norm = "mixed Gaussian", mechanism.gamma, mechanism.norm
            toward, opposite = (tilted(gamma, s * norm / mechanism.sigma0) for s in (1, -1))
            other = opposite if adjacency == "replace-one" else constant(Fraction(1))
            stretch = Stretch(None, None, normal, toward, other, opposite)
            return ContinuousPair((stretch,), f"{name}, {pair_in_words(adjacency)}, {away}")
        case SphereLinear():
            return _sphere(mechanism, adjacency, homogeneous=True)
        case PrivUnit():
            return _caps(mechanism, adjacency, homogeneous=True)
        case ClippedLinear():
            return _clipped(mechanism, adjacency, homogeneous=True)


def _mixed_gaussian(mechanism: BlanketMixedGaussian, adjacency: Relation) -> ContinuousPair:
    v = mechanism.norm / mechanism.sigma0
    other = constant(Fraction(1)) if adjacency == "zero-out" else tilted(mechanism.gamma, -v)
    stretch = Stretch(None, None, normal, tilted(mechanism.gamma, v), other, constant(mechanism.gamma))
    about = f"{pair_in_words(adjacency)} (worst: proved for all norms, dimensions and angles), blanket N(0, sigma0^2 I)"
    symmetric = adjacency == "replace-one"
    return ContinuousPair((stretch,), f"{about} of mass {mechanism.gamma}", symmetric)


def _sphere(mechanism: SphereLinear, adjacency: Relation, *, homogeneous: bool = False) -> Pair:
    if mechanism.dimension == 1:
        return _two_points(mechanism.c, adjacency, homogeneous=homogeneous)
    return _on_sphere(mechanism, adjacency, homogeneous=homogeneous)


def _on_sphere(mechanism: SphereLinear, adjacency: Relation, *, homogeneous: bool) -> ContinuousPair:
    """Along the angle whose sine is the coordinate, where the uniform law has density prop. to cos^(d-2)."""
    c, d = mechanism.c, mechanism.dimension
    factor = sphere_constant(d)

    def base(angle: Any) -> Any:
        return cosine(angle) ** (d - 2) * factor()

    def toward(sign: int) -> Function:
        slope = enclosed(sign * c)
        return lambda angle: 1 + slope()[0] * sine(angle)

    def scaled(function: Function) -> Function:
        """As a function on [-1, 1], whose ends are rational."""
        return lambda u: function(u * (flint.arb.pi() / 2))

    other = constant(Fraction(1)) if adjacency == "zero-out" else scaled(toward(-1))
    reference = scaled(toward(-1)) if homogeneous else constant(1 - c)
    ends = Fraction(-1), Fraction(1)
    stretch = Stretch(*ends, lambda u: scaled(base)(u) * (flint.arb.pi() / 2), scaled(toward(1)), other, reference)
    rest = "all others hold -x" if homogeneous else f"uniform blanket of mass {1 - c}"
    symmetric = adjacency == "replace-one" and not homogeneous
    slopes = c, Fraction(0) if adjacency == "zero-out" else -c
    transforms = None if homogeneous else (linear_transform(d, slopes, 1 - c), linear_transform(d, slopes[::-1], 1 - c))
    return ContinuousPair((stretch,), f"{pair_in_words(adjacency)} (worst: proved), {rest}", symmetric, transforms)


def _clipped(mechanism: ClippedLinear, adjacency: Relation, *, homogeneous: bool = False) -> ContinuousPair:
    """Along the angle, on stretches between -pi/2, the heights at which either density is clipped, and pi/2."""
    d, clip = mechanism.dimension, mechanism.clip
    corners = sorted({clip} if adjacency == "zero-out" and not homogeneous else {clip, -clip})
    heights = [Fraction(-1), *corners, Fraction(1)]
    factor, height = sphere_constant(d), enclosed(clip)

    def gamma_and_slope() -> tuple[flint.arb, flint.arb]:
        gamma, slope, _ = map(to_arb, clipped_numbers(mechanism, bits=flint.ctx.prec + 32))
        return gamma, slope

    numbers = once(gamma_and_slope)

    def stretch(k: int) -> Stretch:
        low, high = heights[k], heights[k + 1]
        ends = once(lambda: (to_arb(low).asin(), to_arb(high).asin()))

        def angle(u: Any) -> Any:
            start, stop = ends()
            return (u - k) * (stop - start) + start

        def base(u: Any) -> Any:
            start, stop = ends()
            return cosine(angle(u)) ** (d - 2) * factor() * (stop - start)

        def density(sign: int) -> Function:
            clipped = (high if sign > 0 else -low) <= clip

            def function(u: Any) -> Any:
                gamma, slope = numbers()
                return u * 0 + gamma if clipped else (sign * sine(angle(u)) - height()[0]) * slope + gamma

            return function

        other = constant(Fraction(1)) if adjacency == "zero-out" else density(-1)
        reference: Function = density(-1) if homogeneous else (lambda u: u * 0 + numbers()[0])
        return Stretch(Fraction(k), Fraction(k + 1), base, density(1), other, reference)

    rest = "all others hold -x" if homogeneous else "uniform blanket"
    stretches = tuple(stretch(k) for k in range(len(heights) - 1))
    symmetric = adjacency == "replace-one" and not homogeneous
    return ContinuousPair(stretches, f"{pair_in_words(adjacency)} (worst: proved), {rest}", symmetric)


def _two_points(c: Fraction, adjacency: Relation, *, homogeneous: bool) -> FinitePair:
    """The sphere in dimension 1."""
    half = Fraction(1, 2)
    first, opposite = (half * (1 + c), half * (1 - c)), (half * (1 - c), half * (1 + c))
    other = (half, half) if adjacency == "zero-out" else opposite
    reference = opposite if homogeneous else (half * (1 - c), half * (1 - c))
    rest = "all others hold -x" if homogeneous else f"uniform blanket of mass {1 - c}"
    return FinitePair(first, other, reference, f"{pair_in_words(adjacency)}, {rest}")


def _caps(mechanism: PrivUnit, adjacency: Relation, *, homogeneous: bool = False) -> FinitePair:
    """Classes: in the cap of x alone, in the cap of -x alone, in both, in neither.

    Against the null symbol and the uniform blanket nothing tells more than whether a message is in the cap of x.
    """
    q = cap_complement(mechanism.theta, mechanism.dimension)
    inside, outside = mechanism.p / (1 - q), (1 - mechanism.p) / q
    alone: Any = 1 - q
    both: Any = Fraction(0)
    neither: Any = 2 * q - 1
    if mechanism.theta < 0:
        alone, both, neither = q, 1 - 2 * q, Fraction(0)
    sizes: tuple[Any, ...] = (alone, alone, both, neither)
    first = _masses(sizes, (inside, outside, inside, outside))
    opposite = _masses(sizes, (outside, inside, inside, outside))
    if adjacency == "zero-out" and not homogeneous:
        sizes, first = (1 - q, q), (mechanism.p, 1 - mechanism.p)
    other = sizes if adjacency == "zero-out" else opposite
    low = less(inside, outside)
    least = inside if low is Verdict.TRUE else outside
    reference = opposite if homogeneous else tuple(size * least for size in sizes)
    kept = [k for k, size in enumerate(sizes) if less(0, size) is not Verdict.FALSE]
    rest = "all others hold -x" if homogeneous else "uniform blanket"
    rows = [tuple(row[k] for k in kept) for row in (first, other, reference)]
    about = f"{pair_in_words(adjacency)} (worst: proved), {rest}"
    return FinitePair(rows[0], rows[1], rows[2], about, homogeneous)


def _masses(sizes: tuple[Any, ...], ratios: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(size * ratio for size, ratio in zip(sizes, ratios, strict=True))


def cap_complement(theta: Fraction, dimension: int) -> Any:
    """The share of the sphere below height theta, by an incomplete beta function; exactly 1/2 at theta = 0."""
    if theta == 0:
        return Fraction(1, 2)
    with working_precision(DEFAULT_BITS):
        tail = to_arb(1 - theta * theta).beta_lower(to_arb(Fraction(dimension - 1, 2)), to_arb(Fraction(1, 2)), 1) / 2
        return Ball.from_arb(1 - tail if theta > 0 else tail)
