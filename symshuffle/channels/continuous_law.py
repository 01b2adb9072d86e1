r"""Laws of G of mechanisms with a continuum of outputs: a density is all that is needed.

A pair of inputs is compared along one real coordinate u of the output (a sufficient statistic). On finitely many
:class:`Stretch` es of the line four functions say everything: a base density, and the densities of the two laws
and of the reference measure :math:`A_2` relative to it. They are analytic where the formulas hold, and are
evaluated on complex balls; nothing else is asked of a mechanism. The reference measure has some mass
:math:`\gamma\le1`; with the rest of the probability a message is not a blanket message, and G is 0.

*Tails are cut with an exact certificate.* Let G' be G where u lies in a window and 0 elsewhere. Since
:math:`x\mapsto x_+` is monotone and 1-Lipschitz,

.. math:: -e^{\varepsilon}R_1(\text{outside})\;\le\;\tfrac1n E\Bigl[\bigl(\sum G_i\bigr)_+\Bigr]
   -\tfrac1n E\Bigl[\bigl(\sum G'_i\bigr)_+\Bigr]\;\le\;R_0(\text{outside}),

without a union bound and without a factor n: what lies outside are two masses of the pair itself. This is what lets an
upper tail without moment generating function (a log-normal one) into an engine that needs one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar, Final, Literal, TypeAlias, final

import flint

from symshuffle.base import cost
from symshuffle.base.crossings import first_integer
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Real, to_arb, working_precision

Function: TypeAlias = Callable[[flint.acb], flint.acb]
"""A function that is analytic near a stretch and real on it, evaluated on complex balls."""

_INTEGRAL: Final = 7_000
"""Terms of a contour in doubles that take as long as an integral: cost only."""

_SIGN_BITS: Final = 128
"""Precision at which signs of G and its mean for one user are taken: cost only."""


_WIDEST: Final = 400
"""Half length of a window beyond which a tail is given up."""


@final
@dataclass(frozen=True, slots=True)
class Scaled:
    """A function times a number that is made for the working precision: masses are computed without the number."""

    function: Function
    number: Callable[[], flint.arb]

    def __call__(self, u: flint.acb) -> flint.acb:
        """The value at a point."""
        return self.function(u) * self.number()


@final
@dataclass(frozen=True, slots=True)
class ExponentialOf:
    """The exponential of a function; to divide by it is to multiply by another one, which widens balls far less."""

    exponent: Function

    def __call__(self, u: flint.acb) -> flint.acb:
        """The value at a point."""
        return self.exponent(u).exp()

    def inverse(self, u: flint.acb) -> flint.acb:
        """One over the value at a point."""
        return (-self.exponent(u)).exp()


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the line on which the same formulas hold.

    - ``low``, ``high``: its ends; None for no end.
    - ``first``, ``second``, ``reference``: densities of the two laws and of the reference measure, relative to the
      base.
    - ``since``: half length of the window from which on the stretch is a part of it.
    """

    low: Fraction | None
    high: Fraction | None
    base: Function
    first: Function
    second: Function
    reference: Function
    since: Fraction = Fraction(0)


@final
@dataclass(frozen=True, slots=True)
class Piece:
    """A part of the law of G: the value at a coordinate u between two ends, and the density there."""

    low: Fraction
    high: Fraction
    value: Function
    density: Function

    def integral(self, function: Function) -> flint.acb:
        """The integral of a function against the density, at the working precision."""
        return _integral(lambda u: function(u) * self.density(u), self.low, self.high)


TransformBound: TypeAlias = Callable[[flint.arb, flint.arb], flint.arb]
"""From c and a height above 0 to a bound on the modulus of a transform at ``c + it`` for every ``|t| >= height``."""

PairTransform: TypeAlias = Callable[[flint.arb], tuple[Function, TransformBound]]
"""From a level to the transform of the pieces of a law in closed form, and a bound on it."""


@final
@dataclass(frozen=True, slots=True)
class ContinuousLaw:
    """A law of G: 0 with some probability, and pieces with densities.

    - ``missing``: ``(below, above)``: how far H(n) of the law that was meant may lie below and above H(n) of this
      one.
    - ``transform``, ``transform_bound``: that of the pieces, where it is known in closed form, and a bound on it.
    """

    pieces: tuple[Piece, ...]
    zero: Ball
    missing: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))
    transform: Function | None = None
    transform_bound: TransformBound | None = None

    def __post_init__(self) -> None:
        if not self.pieces or any(piece.low >= piece.high for piece in self.pieces):
            raise InputError("pieces", len(self.pieces), "at least one, each with low < high")
        if self.zero.upper < 0:
            raise InputError("zero", self.zero, "a probability (the pieces have mass above 1)")
        # What stands beside the pieces may be that of others: their masses at least agree.
        if self.transform is not None and not self.transform(flint.acb(0)).real.overlaps(1 - to_arb(self.zero)):
            raise InputError("transform", self.transform, "that of the pieces (their masses differ)")

    @property
    def positive_mean(self) -> flint.arb:
        """``E[G_+]``, certified, at the working precision."""
        parts = (_positive_mean(piece.value, piece.density, piece.low, piece.high) for piece in self.pieces)
        return sum(parts, start=flint.arb(0))

    @property
    def mirrored(self) -> ContinuousLaw:
        """The law of -G, with nothing said of what is missing."""
        pieces = (Piece(p.low, p.high, _negative(p.value), p.density) for p in self.pieces)
        at, bound = self.transform, self.transform_bound
        if at is None or bound is None:
            return ContinuousLaw(tuple(pieces), self.zero)
        ends: TransformBound = lambda c, height: bound(-c, height)  # noqa: E731
        return ContinuousLaw(tuple(pieces), self.zero, transform=lambda s: at(-s), transform_bound=ends)


@final
@dataclass(frozen=True, slots=True)
class ContinuousPair:
    """Two laws of the output and a reference measure, along one coordinate.

    - ``stretches``: the line, in order; or several lines, one for each class of outputs that the coordinate does not
      tell apart.
    - ``symmetric``: whether a reflection of the coordinate exchanges the two laws and keeps the reference, so that G
      has the same law in both orders.
    """

    stretches: tuple[Stretch, ...]
    about: str
    symmetric: bool = False
    transforms: tuple[PairTransform, PairTransform] | None = None

    @property
    def reverse(self) -> ContinuousPair:
        """The pair in the other order; the same one where it is symmetric, so that its bound is computed once."""
        if self.symmetric:
            return self
        stretches = (replace(s, first=s.second, second=s.first) for s in self.stretches)
        transforms = None if self.transforms is None else (self.transforms[1], self.transforms[0])
        return ContinuousPair(tuple(stretches), self.about, transforms=transforms)

    def thinning(self, share: Fraction) -> ContinuousPair:
        """The same two laws with a reference measure ``share`` times as large: others send with that probability."""
        stretches = (replace(s, reference=_times(s.reference, share)) for s in self.stretches)
        one, other = self.transforms or (None, None)
        transforms = None if one is None or other is None else (_thinnings(one, share), _thinnings(other, share))
        return replace(self, stretches=tuple(stretches), transforms=transforms)

    def law(self, exp_eps: Real, *, tail: Fraction, bits: int = 128) -> ContinuousLaw:
        """The law of G on a window outside of which the pair has a total mass of at most ``tail``."""
        windows = list(_windows(self.stretches))
        with working_precision(bits):
            ratio = to_arb(exp_eps)

            def inside(index: int, part: str) -> flint.arb:
                masses = (_mass(s.base, getattr(s, part), a, b, bits) for s, a, b in windows[index])
                return sum(masses, start=flint.arb(0))

            def left_out(index: int) -> tuple[bool, list[flint.arb]]:
                """Whether little enough is outside of a window, and both masses outside."""
                beyond = [(1 - inside(index, part)).upper() for part in ("first", "second")]
                return bool(beyond[0] + ratio * beyond[1] < to_arb(tail)), beyond

            last = _first_wide_enough(lambda index: left_out(index)[0], len(windows))
            if last is None:
                raise Unsupported(f"no window of half length {_WIDEST} leaves less than {float(tail):.1e} outside")
            outside = left_out(last)[1]
            above, below = (max(Ball.from_arb(x, bits).upper, Fraction(0)) for x in (outside[0], ratio * outside[1]))
            zero = Ball.from_arb(1 - inside(last, "reference"), bits)
            window = windows[last]
            pieces = tuple(Piece(a, b, _amplification(s, ratio), _product(s.base, s.reference)) for s, a, b in window)
            known = (None, None) if self.transforms is None else self.transforms[0](ratio)
        return ContinuousLaw(pieces, zero, (below, above), *known)


@final
@dataclass(frozen=True, slots=True)
class LevelledPair:
    """A pair at a level: its law of G before any tail is cut, which depends on the number of users.

    - ``others``: pairs at levels whose H(n) bounds the same divergence; the smallest of all is the bound.
    - ``single``: a pair whose H(1) at this level bounds the same divergence for every number of users.
    """

    kind: ClassVar[Literal["densities"]] = "densities"

    pair: ContinuousPair
    exp_eps: Real
    others: tuple[LevelledPair, ...] = ()
    single: ContinuousPair | None = None

    @property
    def never_positive(self) -> bool:
        """Whether balls show that G is at most 0 wherever a message may lie; they do not on an endless line."""
        with working_precision(_SIGN_BITS):
            ratio = to_arb(self.exp_eps)
            return all(
                s.low is not None and s.high is not None and _at_most_zero(_excess(s, ratio), s.low, s.high)
                for s in self.pair.stretches
            )

    def thinning(self, share: Fraction) -> LevelledPair:
        """The pair where others send with a probability only, as of a finite law; one user alone certainly does."""
        others = tuple(one.thinning(share) for one in self.others)
        return replace(self, pair=_thin(self.pair, share), others=others)

    @property
    def ceiling(self) -> Fraction | None:
        """A number that H(n) is not above, whatever n: it never rises, and this is its value for one user."""
        alone = self.alone()
        return None if alone is None else alone.upper

    @property
    def of_single(self) -> LevelledPair | None:
        """The pair ``single`` at the same level; None where there is none."""
        return None if self.single is None else LevelledPair(self.single, self.exp_eps)

    def alone(self) -> Ball | None:
        """H(1) = E[G_+], with what may be beyond a window; None if none holds all but ``_BEYOND`` of the first law."""
        return _of_one(self.pair, self.exp_eps)


@lru_cache(maxsize=64)
def _thin(pair: ContinuousPair, share: Fraction) -> ContinuousPair:
    """A thinning, kept: what is integrated of it is known by its functions."""
    return pair.thinning(share)


def _times(function: Function, share: Fraction) -> Function:
    if isinstance(function, ExponentialOf):
        return ExponentialOf(lambda u: function.exponent(u) + to_arb(share).log())
    return Scaled(function, lambda: to_arb(share))


def _thinnings(made: PairTransform, share: Fraction) -> PairTransform:
    """The transforms of G over ``share``, times ``share``."""

    def thin(ratio: flint.arb) -> tuple[Function, TransformBound]:
        at, most = made(ratio)

        def bound(c: flint.arb, height: flint.arb) -> flint.arb:
            part = to_arb(share)
            return part * most(c / part, height / part)

        return (lambda s: to_arb(share) * at(s / to_arb(share))), bound

    return thin


@lru_cache(maxsize=16)
def _of_one(pair: ContinuousPair, exp_eps: Real, *, outside_mass: Fraction = Fraction(1, 10**33)) -> Ball | None:
    """The same, kept for a moment: brackets of several widths ask for it.

    - ``outside_mass``: what the first law may have outside of a window.
    """
    windows, whole = (
        list(_windows(pair.stretches)),
        all(s.low is not None and s.high is not None for s in pair.stretches),
    )
    with working_precision(_SIGN_BITS):

        def outside(index: int) -> flint.arb:
            masses = (_mass(s.base, s.first, a, b, _SIGN_BITS) for s, a, b in windows[index])
            return flint.arb(0) if whole else (1 - sum(masses, flint.arb(0))).upper().max(flint.arb(0))

        last = _first_wide_enough(lambda index: bool(outside(index) < to_arb(outside_mass)), len(windows))
        if last is None:
            return None
        ratio = to_arb(exp_eps)
        parts = (_positive_mean(_excess(s, ratio), s.base, a, b) for s, a, b in windows[last])
        return Ball.from_arb(sum(parts, flint.arb(0).union(outside(last))), _SIGN_BITS)


def _first_wide_enough(enough: Callable[[int], bool], count: int, *, leap: int = 8) -> int | None:
    """The first of some windows, each inside the next, that is wide enough; None if none is.

    One that will do is reached in leaps, and then narrowed down to.

    - ``leap``: number of the window that is looked at first.
    """
    first, last = 0, min(leap, count - 1)
    while not enough(last):
        if last == count - 1:
            return None
        first, last = last + 1, min(2 * last + 1, count - 1)
    return first_integer(enough, first - 1, last)


def _excess(stretch: Stretch, ratio: flint.arb) -> Function:
    """The sign of G: what the first density has more than the ratio times the second."""
    return lambda u: stretch.first(u) - ratio * stretch.second(u)


def _at_most_zero(function: Function, low: Fraction, high: Fraction, halvings: int = 12) -> bool:
    """Whether a function is certainly at most 0 on an interval: as a whole, or on both halves."""
    if not function(flint.acb(to_arb((low + high) / 2))).real <= 0:
        return False
    if function(flint.acb(to_arb(low).union(to_arb(high)))).real <= 0:
        return True
    middle = (low + high) / 2
    return halvings > 0 and all(
        _at_most_zero(function, *half, halvings - 1) for half in ((low, middle), (middle, high))
    )


def _positive_mean(
    function: Function, density: Function, low: Fraction, high: Fraction, *, halvings: int = 40, max_open: int = 1600
) -> flint.arb:
    """The integral of the positive part of a function against a density that is not negative.

    Runs on which the function is certainly positive are integrated as a whole; where its sign stays open, on cells that
    are halved as long as there are few of them, the integral is between 0 and the largest values times the length.

    - ``halvings``: how finely the interval is divided.
    - ``max_open``: cells of unknown sign that are not divided.
    """
    total = flint.arb(0)
    positive: list[tuple[Fraction, Fraction]] = []
    cells = [(low, high)]
    for depth in range(halvings + 1):
        unsure = []
        for start, stop in cells:
            reach = function(flint.acb(to_arb(start).union(to_arb(stop)))).real
            if reach >= 0:
                positive.append((start, stop))
            elif not reach <= 0:
                unsure.append((start, stop))
        if depth == halvings or len(unsure) > max_open:
            break
        cells = [half for a, b in unsure for half in ((a, (a + b) / 2), ((a + b) / 2, b))]
    for start, stop in unsure:
        cell = flint.acb(to_arb(start).union(to_arb(stop)))
        most = function(cell).real * density(cell).real * to_arb(stop - start)
        total += flint.arb(0).union(flint.arb(abs(most).upper()))
    for start, stop in _joined(positive):
        total += _integral(_product(function, density), start, stop).real
    return total


def _joined(cells: list[tuple[Fraction, Fraction]]) -> list[tuple[Fraction, Fraction]]:
    """Cells that touch made one, in order."""
    runs: list[tuple[Fraction, Fraction]] = []
    for start, stop in sorted(cells):
        if runs and runs[-1][1] == start:
            runs[-1] = runs[-1][0], stop
        else:
            runs.append((start, stop))
    return runs


def _negative(f: Function) -> Function:
    return lambda u: -f(u)


def _product(f: Function, g: Function) -> Function:
    return lambda u: f(u) * g(u)


def _amplification(stretch: Stretch, ratio: flint.arb) -> Function:
    """G as a function of the coordinate."""
    least = stretch.reference
    if isinstance(least, ExponentialOf):
        return lambda u: (stretch.first(u) - ratio * stretch.second(u)) * least.inverse(u)
    return lambda u: (stretch.first(u) - ratio * stretch.second(u)) / least(u)


def _windows(stretches: tuple[Stretch, ...], *, fine: int = 40) -> Iterator[list[tuple[Stretch, Fraction, Fraction]]]:
    """Wider and wider windows, each as stretches with their ends in it.

    - ``fine``: half length up to which windows are a quarter apart: a far end that nothing needs makes G long.
    """
    half = Fraction(4)
    while half <= _WIDEST:
        window = []
        for s in stretches:
            low, high = (-half if s.low is None else s.low), (half if s.high is None else s.high)
            if low < high and s.since <= half:
                window.append((s, low, high))
        yield window
        if all(s.low is not None and s.high is not None for s in stretches):
            return
        half += Fraction(1, 4) if half < fine else half / 4


@lru_cache(maxsize=4096)
def _mass(base: Function, relative: Function, low: Fraction, high: Fraction, bits: int) -> flint.arb:
    """The mass of a density on an interval: the same at every level, and a pair is asked about at many."""
    with working_precision(bits):
        if isinstance(base, Scaled):
            return _mass(base.function, relative, low, high, bits) * base.number()
        return _integral(_product(base, relative), low, high).real


def _integral(function: Function, low: Fraction, high: Fraction) -> flint.acb:
    """A certified integral: adaptive Gauss rules with bounds on ellipses, by Arb."""
    cost.add(_INTEGRAL)
    return flint.acb.integral(lambda u, _: function(u), flint.acb(to_arb(low)), flint.acb(to_arb(high)))
