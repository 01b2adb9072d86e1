r"""The FFT accountant: sums of rounded copies of G by discrete Fourier transforms, with every error accounted for.

Without a step given, both sides come from a tilted law in a window (:mod:`symshuffle.engines.transforms.tilted`):
errors are relative to H, and cost grows with the standard deviation of the sum and not with its range.

With a step ``l`` it is Algorithm 7 of the paper `decomposition`: the atoms of G are moved to a lattice of step ``l``,
up for an upper bound and down for a lower bound; the n-fold convolution is the n-th power of the discrete Fourier
transform; the bound is the sum over the positive lattice points. The transform is long enough for the full range of
the sum, so nothing wraps, and the floating-point allowance is subtracted below and added above. It is absolute: values
of H below about 1e-13 drown in it, and the bracket says so by its width.

Evidence. *Proved*: the order of both roundings to the lattice, the window (Chernoff); with a step, that nothing wraps.
*Proved under the assumption* that NumPy's ``exp``, ``sin`` and ``cos`` are off by at most four units in the last place
and that ``ndarray.sum`` adds pairwise: the evaluation of the characteristic function (a constant that grows with the
number of atoms), its n-th power, and the sum over the window. *Heuristic*: eight round-offs per binary stage of NumPy's
transform, in the 2-norm (textbook bounds for its radices 2 to 5 are below that; NumPy promises none). From a few users
on it is not the largest term.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar, final

import numpy as np
import numpy.typing as npt

from symshuffle.base.choices import Arithmetic
from symshuffle.base.crossings import smooth_integer
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import format_decimal, lower_end, to_float, upper_end
from symshuffle.base.results import Bracket
from symshuffle.channels.law import Law
from symshuffle.engines.registry import Engine
from symshuffle.engines.transforms.tilted import SMALLEST, Window, contracted, convolve, dilated, integral


@final
@dataclass(frozen=True, slots=True)
class FFT(Engine):
    """Engine that transforms a law rounded to a lattice, with a stated error.

    Parameters
    ----------
    step : Fraction, optional
        Lattice step ``l`` of Algorithm 7 as printed. Default: the tilted law, on steps chosen to fit the atoms.
    largest : int
        Limit on the length of a transform.
    rtol : float
        Relative width to aim at, where no step is given: transforms grow until it is reached or ``largest`` is.

    Raises
    ------
    InputError
        If ``step`` is not a positive rational, or ``rtol`` is not in (0, 1).
    """

    name: ClassVar[str] = "fft"
    least: ClassVar[Arithmetic] = "float64"

    step: Fraction | None = None
    largest: int = 2**22
    rtol: float = 1e-6

    def __post_init__(self) -> None:
        Engine.__post_init__(self)
        if self.step is not None and self.step <= 0:
            raise InputError("step", self.step, "a positive rational")

    @classmethod
    def with_tolerance(cls, rtol: float, bits: int) -> FFT:
        """Engine with its default settings; ``rtol`` and ``bits`` have no effect."""
        return cls()

    @classmethod
    def trials(cls, law: Law) -> tuple[FFT, ...]:
        """Settings under which a bracket takes about a second, for tests."""
        most = min(2**18, 2**21 // len(law.values))
        spread = max(map(upper_end, law.values)) - min(map(lower_end, law.values))
        step = (law.lattice or spread or Fraction(1)) * Fraction(355, 226) / 7
        return cls(rtol=1e-2, largest=most), cls(largest=2**9), cls(step=step, largest=most)

    def refusal(self, law: Law, n: int) -> str | None:
        """Why this engine cannot answer, or None if it can."""
        if self.step is not None:
            points = _length(law, n, self.step)
            return None if points <= self.largest else f"step {self.step} needs {points} points, above {self.largest}"
        if _settled(law) is not None:
            return None
        try:
            window = Window.choose(law, n, self.largest)
        except Unsupported as reason:
            return str(reason)
        return None if window is not None else f"n = {n} needs more than {self.largest} lattice points"

    def bracket(self, law: Law, n: int) -> Bracket:
        """Bracket around H(n), with roundings of the law and a floating-point allowance."""
        reason = self.refusal(law, n)
        if reason is not None:
            raise Unsupported(f"engine fft at n = {n}: {reason}; use engine contour")
        settled = _settled(law)
        if settled is not None:
            low, high, evaluation = settled
        elif self.step is not None:
            low, high, evaluation = _algorithm_7(law, n, self.step)
        else:
            low, high, evaluation = self._tilted(law, n)
        # H is never below E[G] nor 0, and never above H(1): bounds in their own right, not repairs of this one.
        low = max(low, law.floor) + lower_end(law.singular)
        high = min(high + upper_end(law.singular), law.ceiling)
        return Bracket(low, high, "float64", self.name, evaluation)

    def _tilted(self, law: Law, n: int, *, first: int = 2**12, growth: int = 8) -> tuple[Fraction, Fraction, str]:
        """Transforms of growing length, until they are good enough; both ends are those of the last.

        - ``first``: length of the first transform.
        - ``growth``: how much longer each next one is.
        """
        points = min(first, self.largest)
        while True:
            window = Window.choose(law, n, points)
            if window is not None:
                low = window.side(contracted(law, window), n, "lower")
                high = window.side(dilated(law, window), n, "upper")
                low = (low or Fraction(0)) / n
                high = max(map(upper_end, law.values)) if high is None else high / n
                if high - low <= Fraction(self.rtol) * high or points == self.largest:
                    spacing = format_decimal(window.step, digits=2, up=True)
                    evaluation = (
                        f"law tilted by {window.tilt:.4g}, step {spacing}, transforms of {window.length} points"
                    )
                    return low, high, evaluation
            if points >= self.largest:
                raise Unsupported(f"engine fft at n = {n}: no window of {points} points; use engine contour")
            points = min(max(growth, 2) * points, self.largest)


def _settled(law: Law) -> tuple[Fraction, Fraction, str] | None:
    """Both sides of the finite part of H(n) where no transform is needed."""
    most = max(map(upper_end, law.values))
    if law.never_positive:
        return Fraction(0), Fraction(0), "G is never positive"
    if len(law.values) == 1:
        return max(lower_end(law.values[0]), Fraction(0)), most, "G is constant"
    if most < SMALLEST:
        return Fraction(0), most, f"G is never above {SMALLEST}"
    return None


def _algorithm_7(law: Law, n: int, step: Fraction) -> tuple[Fraction, Fraction, str]:
    """Both sides of the finite part of H(n), atoms rounded down and up to multiples of a step."""
    least, most = (np.array([to_float(end(weight)) for weight in law.weights]) for end in (lower_end, upper_end))
    below, low_error = _positive_part([math.floor(lower_end(v) / step) for v in law.values], least, n)
    above, high_error = _positive_part([math.ceil(upper_end(v) / step) for v in law.values], most, n)
    spacing, allowance = (format_decimal(x, digits=2, up=True) for x in (step, step * Fraction(high_error) / n))
    evaluation = (
        f"Algorithm 7, step {spacing}, transform of {_length(law, n, step)} points, no wrap-around, "
        f"floating-point allowance {allowance}"
    )
    low, high = (step * Fraction(x) / n for x in (below - low_error, above + high_error))
    return low, high, evaluation


def _length(law: Law, n: int, step: Fraction, *, most: int = 2**40) -> int:
    """A transform length that holds the sum of n rounded copies without wrap-around, whichever way they are rounded.

    - ``most``: points that no memory holds; rounding refuses such a length up.
    """
    low, high = law.support
    points = n * (math.ceil(upper_end(high) / step) - math.floor(lower_end(low) / step)) + 1
    return points if points > most else smooth_integer(points)


def _positive_part(places: Sequence[int], weights: npt.NDArray[np.float64], n: int) -> tuple[float, float]:
    """The sum of positive part over n copies in lattice units, and a bound on its floating-point error."""
    origin, span = min(places), max(places) - min(places)
    length = smooth_integer(n * span + 1)
    folded = convolve([place - origin for place in places], weights, n, length)
    return integral(*folded, np.maximum(n * origin + np.arange(length, dtype=np.float64), 0.0))
