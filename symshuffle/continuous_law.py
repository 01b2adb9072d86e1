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
from typing import Any, Final, TypeAlias, final

import flint

from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import Ball, Real, to_arb, working_precision

Function: TypeAlias = Callable[[flint.acb], flint.acb]
"""A function that is analytic near a stretch and real on it, evaluated on complex balls."""

_SIGN_BITS: Final = 128
_HALVINGS: Final = 12
"""Precision, and how finely an interval is divided, to show that G is nowhere positive."""

_BEYOND: Final = Fraction(1, 10**33)
"""What the first law may have outside of a window on which one user's value is bounded."""

_WIDEST: Final = 400
"""Half length of a window beyond which a tail is given up."""


@final
@dataclass(frozen=True, slots=True)
class Stretch:
    """A part of the line on which the same formulas hold.

    Parameters
    ----------
    low, high : Fraction or None
        Its ends; None for no end.
    base : callable
        Density of the coordinate under some measure.
    first, second, reference : callable
        Densities of the two laws and of the reference measure, relative to the base.
    since : Fraction
        Half length of the window from which on the stretch is a part of it.
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
    """A part of the law of G: the value at a coordinate u between two ends, and the density there.

    Parameters
    ----------
    low, high : Fraction
        Ends of the range of u.
    value, density : callable
        G as a function of u, and the density of u under the reference measure.
    """

    low: Fraction
    high: Fraction
    value: Function
    density: Function

    def integral(self, function: Function) -> flint.acb:
        """The integral of a function against the density, at the working precision."""
        return _integral(lambda u: function(u) * self.density(u), self.low, self.high)


@final
@dataclass(frozen=True, slots=True)
class ContinuousLaw:
    """A law of G: 0 with some probability, and pieces with densities.

    Parameters
    ----------
    pieces : tuple of Piece
        The continuous part, bounded.
    zero : Ball
        The probability that G is 0.
    missing : tuple of Fraction
        ``(below, above)``: how far H(n) of the law that was meant may lie below and above H(n) of this one.

    Raises
    ------
    InputError
        If there is no piece, a piece is empty or the mass at 0 is certainly negative.
    """

    pieces: tuple[Piece, ...]
    zero: Ball
    missing: tuple[Fraction, Fraction] = (Fraction(0), Fraction(0))

    def __post_init__(self) -> None:
        if not self.pieces or any(piece.low >= piece.high for piece in self.pieces):
            raise InputError("pieces", len(self.pieces), "at least one, each with low < high")
        if self.zero.upper < 0:
            raise InputError("zero", self.zero, "a probability (the pieces have mass above 1)")

    @property
    def mirrored(self) -> ContinuousLaw:
        """The law of -G, with nothing said of what is missing."""
        pieces = (Piece(p.low, p.high, _negative(p.value), p.density) for p in self.pieces)
        return ContinuousLaw(tuple(pieces), self.zero)


@final
@dataclass(frozen=True, slots=True)
class ContinuousPair:
    """Two laws of the output and a reference measure, along one coordinate.

    Parameters
    ----------
    stretches : tuple of Stretch
        The line, in order; or several lines, one for each class of outputs that the coordinate does not tell apart.
    about : str
        Which inputs, which adjacency, which blanket.
    symmetric : bool
        Whether a reflection of the coordinate exchanges the two laws and keeps the reference, so that G has the same
        law in both orders.
    """

    stretches: tuple[Stretch, ...]
    about: str
    symmetric: bool = False

    @property
    def reverse(self) -> ContinuousPair:
        """The pair in the other order; the same one where it is symmetric, so that its bound is computed once."""
        if self.symmetric:
            return self
        stretches = (replace(s, first=s.second, second=s.first) for s in self.stretches)
        return ContinuousPair(tuple(stretches), self.about)

    def law(self, exp_eps: Real, *, tail: Fraction, bits: int = 128) -> ContinuousLaw:
        """The law of G on a window outside of which the pair has a total mass of at most ``tail``.

        Raises
        ------
        Unsupported
            If no window does, or the masses are not known that well at this precision.
        """
        windows = _windows(self.stretches)
        with working_precision(bits):
            ratio = to_arb(exp_eps)
            masses: tuple[flint.arb, ...] = ()
            for window in windows:
                masses = tuple(
                    sum((_integral(_product(s.base, part(s)), a, b).real for s, a, b in window), start=flint.arb(0))
                    for part in (_first, _second, _reference)
                )
                outside = [(1 - mass).upper() for mass in masses[:2]]
                if outside[0] + ratio * outside[1] < to_arb(tail):
                    break
            else:
                raise Unsupported(f"no window of half length {_WIDEST} leaves less than {float(tail):.1e} outside")
            above, below = (max(Ball.from_arb(x, bits).upper, Fraction(0)) for x in (outside[0], ratio * outside[1]))
            zero = Ball.from_arb(1 - masses[2], bits)
            pieces = tuple(Piece(a, b, _amplification(s, ratio), _product(s.base, s.reference)) for s, a, b in window)
        return ContinuousLaw(pieces, zero, (below, above))


@final
@dataclass(frozen=True, slots=True)
class LevelledPair:
    """A pair at a level: its law of G before any tail is cut, which depends on the number of users.

    Parameters
    ----------
    pair : ContinuousPair
        The two laws and the reference measure.
    exp_eps : Real
        Target ratio.
    """

    pair: ContinuousPair
    exp_eps: Real

    @property
    def never_positive(self) -> bool:
        """Whether G is certainly at most 0 wherever a message may lie, so that H(n) is 0 for every n.

        Shown by balls that cover the stretches; False where they do not show it, as on a line without ends.
        """
        with working_precision(_SIGN_BITS):
            ratio = to_arb(self.exp_eps)
            return all(
                s.low is not None and s.high is not None and _at_most_zero(_excess(s, ratio), s.low, s.high)
                for s in self.pair.stretches
            )

    @property
    def ceiling(self) -> Fraction | None:
        """A number that H(n) is not above, whatever n: at least its value E[G_+] for one user, as H(n) never rises.

        Beyond a window the first law's whole mass is added; None where no window holds all but ``_BEYOND`` of it.
        """
        with working_precision(_SIGN_BITS):
            ratio = to_arb(self.exp_eps)
            for window in _windows(self.pair.stretches):
                inside = sum((_integral(_product(s.base, s.first), a, b).real for s, a, b in window), flint.arb(0))
                whole = all(s.low is not None and s.high is not None for s in self.pair.stretches)
                outside = flint.arb(0) if whole else (1 - inside).upper().max(flint.arb(0))
                if outside < to_arb(_BEYOND):
                    parts = (_positive_part(_excess(s, ratio), s.base, a, b) for s, a, b in window)
                    return Ball.from_arb(sum(parts, outside), _SIGN_BITS).upper
        return None


def _excess(stretch: Stretch, ratio: flint.arb) -> Function:
    """The sign of G: what the first density has more than the ratio times the second."""
    return lambda u: stretch.first(u) - ratio * stretch.second(u)


def _at_most_zero(function: Function, low: Fraction, high: Fraction, halvings: int = _HALVINGS) -> bool:
    """Whether a function is certainly at most 0 on an interval: as a whole, or on both halves."""
    if not function(flint.acb(to_arb((low + high) / 2))).real <= 0:
        return False
    if function(flint.acb(to_arb(low).union(to_arb(high)))).real <= 0:
        return True
    middle = (low + high) / 2
    return halvings > 0 and all(
        _at_most_zero(function, *half, halvings - 1) for half in ((low, middle), (middle, high))
    )


def _positive_part(function: Function, base: Function, low: Fraction, high: Fraction, halvings: int = _HALVINGS) -> Any:
    """An upper bound on the integral of the positive part of a function against a density."""
    reach = function(flint.acb(to_arb(low).union(to_arb(high)))).real
    if reach <= 0:
        return flint.arb(0)
    if reach >= 0:
        return _integral(_product(base, function), low, high).real.upper()
    if not halvings:
        return (_integral(base, low, high).real * reach).upper()
    middle = (low + high) / 2
    return sum(_positive_part(function, base, *half, halvings - 1) for half in ((low, middle), (middle, high)))


def _negative(f: Function) -> Function:
    return lambda u: -f(u)


def _first(stretch: Stretch) -> Function:
    return stretch.first


def _second(stretch: Stretch) -> Function:
    return stretch.second


def _reference(stretch: Stretch) -> Function:
    return stretch.reference


def _product(f: Function, g: Function) -> Function:
    return lambda u: f(u) * g(u)


def _amplification(stretch: Stretch, ratio: flint.arb) -> Function:
    """G as a function of the coordinate."""
    return lambda u: (stretch.first(u) - ratio * stretch.second(u)) / stretch.reference(u)


def _windows(stretches: tuple[Stretch, ...]) -> Iterator[list[tuple[Stretch, Fraction, Fraction]]]:
    """Wider and wider windows, each as stretches with their ends in it."""
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
        half += Fraction(1, 2) if half < 20 else half / 4


def _integral(function: Function, low: Fraction, high: Fraction) -> flint.acb:
    """A certified integral: adaptive Gauss rules with bounds on ellipses, by Arb."""
    return flint.acb.integral(lambda u, _: function(u), flint.acb(to_arb(low)), flint.acb(to_arb(high)))
