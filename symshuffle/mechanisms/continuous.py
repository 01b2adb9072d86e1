r"""Mechanisms with a continuum of outputs, approached from two sides by finite ones.

The Laplace mechanism on {0, 1} has, at the pair (0, 1), likelihood ratios that depend on the output only through
:math:`u=\varepsilon_0|1-2y|\in[0,\varepsilon_0]`, and everything about the law of u is elementary. Cut the range of u
into cells. Merging the outputs of a cell is post-processing, which lowers every divergence; moving the mass of a cell
to its two ends, its mean kept, raises the law of G in convex order, and with it :math:`E[(\sum G_i)_+]`. The two laws
that result are finite, and the truth lies between their values; the gap is of second order in the width of a cell.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, final

import flint

from symshuffle.errors import InputError
from symshuffle.law import Law
from symshuffle.numbers import DEFAULT_BITS, Ball, Real, Verdict, less, to_arb, working_precision

LARGEST_CELLS: Final = 20_000
"""Cells beyond which a law is refused."""

Side = Literal["lower", "upper"]
"""Whether a finite law lies below or above the true one in convex order."""


@final
@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise of scale ``1/eps0`` on a bit, or on the unit interval at its two ends.

    Parameters
    ----------
    lam : Real
        Ratio cap ``exp(eps0)``, above 1.
    domain : {"binary", "unit"}
        The inputs {0, 1}, or [0, 1]. The blanket is the same: no input between 0 and 1 makes an output rarer than the
        farther end does.
    cells : int
        Number of cells into which the continuous part is cut.

    Notes
    -----
    decomposition, Appendix B.
    """

    lam: Real
    domain: Literal["binary", "unit"] = "binary"
    cells: int = 200

    def __post_init__(self) -> None:
        if less(1, self.lam) is not Verdict.TRUE:
            raise InputError("lam", self.lam, "a number > 1")
        if self.domain not in ("binary", "unit"):
            raise InputError("domain", self.domain, "binary or unit")
        if not isinstance(self.cells, int) or not 1 <= self.cells <= LARGEST_CELLS:
            raise InputError("cells", self.cells, f"an integer from 1 to {LARGEST_CELLS}")

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "laplace"

    @property
    def pair(self) -> str:
        """Which pair of inputs a decomposition compares."""
        if self.domain == "binary":
            return "the two inputs 0 and 1"
        return "the inputs 0 and 1 only: which pair in [0, 1] is worst is open (decomposition, Section 8)"

    def law(self, exp_eps: Real, *, side: Side, direction: str = "forward", bits: int | None = None) -> Law:
        r"""Law of :math:`G=(R(0)-e^{\varepsilon}R(1))/\inf_xR(x)`, from one side. By symmetry both directions agree.

        Parameters
        ----------
        exp_eps : Real
            Target ratio ``exp(eps)``.
        side : {"lower", "upper"}
            From which side.
        direction : {"forward", "reverse"}
            Has no effect on the law.
        bits : int, optional
            Precision of the balls.
        """
        precision = bits or DEFAULT_BITS
        if less(exp_eps, self.lam) is Verdict.FALSE:
            return Law((Fraction(0),), (Fraction(1),))
        with working_precision(precision + 16):
            x, lam = to_arb(exp_eps), to_arb(self.lam)
            root = lam.sqrt()
            atoms = [(lam - x, 1 / (2 * lam)), (1 - x * lam, 1 / (2 * lam))]
            for ratio, mass in self._continuous(side, lam.log(), flint.arb(0)):
                half = mass / (4 * root)
                atoms += [(ratio - x, half), (1 - x * ratio, half)]
            atoms.append((flint.arb(0), 1 - 1 / root))
            return _law(atoms, precision)

    def background(self, exp_eps: Real, *, direction: str = "forward", bits: int | None = None) -> Law:
        """Law of G where all others hold the second input, from below: a real pair of datasets."""
        precision = bits or DEFAULT_BITS
        with working_precision(precision + 16):
            x, lam = to_arb(exp_eps), to_arb(self.lam)
            span = lam.log()
            masses = [(lam, 1 / (2 * lam)), (1 / lam, flint.arb(1) / 2)]
            masses += [(r, m / (4 * lam.sqrt())) for r, m in self._continuous("lower", span, -span)]
            values = ((r - x if direction == "forward" else 1 - x * r, m) for r, m in masses)
            return _law(list(values), precision)

    def _continuous(self, side: Side, span: Any, start: Any) -> Iterator[tuple[Any, Any]]:
        r"""Ratios and masses of the measure :math:`e^{-u/2}du` on [start, span], cell by cell, the ratio being e^u."""
        width = (span - start) / self.cells
        for j in range(self.cells):
            low, high = start + j * width, start + (j + 1) * width
            mass = 2 * ((-low / 2).exp() - (-high / 2).exp())
            # Under exp(-u/2) du the mean of exp(u) over a cell is exp of its midpoint, exactly.
            mean = ((low + high) / 2).exp()
            if side == "lower":
                yield mean, mass
            else:
                share = (mean - low.exp()) / (high.exp() - low.exp())
                yield low.exp(), mass * (1 - share)
                yield high.exp(), mass * share


def _law(atoms: list[tuple[Any, Any]], bits: int) -> Law:
    exact = [(Ball.from_arb(value, bits), Ball.from_arb(weight, bits)) for value, weight in atoms]
    return Law(tuple(Fraction(0) if v.lower == v.upper == 0 else v for v, _ in exact), tuple(w for _, w in exact))
