r"""Mechanisms with a continuum of outputs.

The Laplace mechanism on {0, 1} has, at the pair (0, 1), likelihood ratios that depend on the output only through
:math:`u=\varepsilon_0|1-2y|\in[0,\varepsilon_0]`, and everything about the law of u is elementary: G has three atoms
and two segments (:mod:`symshuffle.channels.mixed_law`), which the contour engines take as they are.

The other engines see it between two finite laws. Cut the range of u into cells. Merging the outputs of a cell is
post-processing, which lowers every divergence; moving the mass of a cell to its two ends, its mean kept, raises the law
of G in convex order, and with it :math:`E[(\sum G_i)_+]`. The truth lies between the values of the two; the gap is of
second order in the width of a cell.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.base.choices import Direction, Domain, Side, choice, replace_choice
from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import (
    Ball,
    Exp,
    Real,
    Verdict,
    as_integer,
    as_precision,
    less,
    parse_constant,
    to_arb,
    usual_bits,
    working_precision,
)
from symshuffle.channels.law import Law
from symshuffle.channels.mixed_law import MixedLaw, Segment

LARGEST_CELLS: Final = 20_000
"""Cells beyond which a law is refused."""


@final
@dataclass(frozen=True, slots=True)
class Laplace:
    """Laplace noise of scale ``1/eps0`` on a bit or on the unit interval.

    Parameters
    ----------
    lam : Real or None
        Ratio cap ``exp(eps0)``, above 1; None leaves the budget open, for a leaf of a composition.
    domain : {"binary", "unit"}
        The inputs {0, 1}, or [0, 1]. The blanket is the same: no input between 0 and 1 makes an output rarer than the
        farther end does.
    cells : int
        Number of cells into which the continuous part is cut where a finite law is needed.

    Notes
    -----
    decomposition, Appendix B.
    """

    lam: Real | None = None
    domain: Domain = "binary"
    cells: int = 200

    def __post_init__(self) -> None:
        if self.lam is not None:
            object.__setattr__(self, "lam", parse_constant(self.lam, "lam"))
            if less(1, self.budget) is not Verdict.TRUE:
                raise InputError("lam", self.lam, "a number > 1")
        replace_choice(Domain, self, "domain")
        object.__setattr__(self, "cells", as_integer(self.cells, "cells", 1, LARGEST_CELLS))

    def at(
        self, *, eps0: object = None, lam: object = None, domain: Domain | None = None, cells: int | None = None
    ) -> Laplace:
        """Laplace noise with its budget fixed, and other parameters if named.

        The budget is given as ``eps0`` or ``lam = exp(eps0)``.
        """
        budget = read_budget(eps0=eps0, lam=lam)
        return Laplace(
            self.lam if budget is None else budget,
            self.domain if domain is None else domain,
            self.cells if cells is None else cells,
        )

    @property
    def name(self) -> str:
        """Name on the command line."""
        return "laplace"

    @property
    def budget(self) -> Real:
        """The ratio cap.

        Raises
        ------
        InputError
            If it was left open.
        """
        if self.lam is None:
            raise InputError("lam", None, "a ratio cap > 1: Laplace(lam)")
        return self.lam

    @property
    def pair(self) -> str:
        """Which pair of inputs a decomposition compares."""
        if self.domain == "binary":
            return "the two inputs 0 and 1"
        return "the inputs 0 and 1 only: which pair in [0, 1] is worst is open (decomposition, Section 8)"

    @property
    def every_pair(self) -> bool:
        """Whether a decomposition covers all pairs of inputs."""
        return self.domain == "binary"

    def mixed_law(self, exp_eps: Real, *, direction: Direction = "forward", bits: int | None = None) -> MixedLaw:
        r"""Law of G of the two ends of the interval against the blanket.

        It is the law of :math:`G=(R(0)-e^{\varepsilon}R(1))/\inf_xR(x)`. By symmetry both directions agree.

        Parameters
        ----------
        exp_eps : Real
            Target ratio ``exp(eps)``; from ``lam`` on G is never positive, and is given as 0.
        direction : {"forward", "reverse"}
            Has no effect on the law.
        bits : int, optional
            Precision of the balls.
        """
        exp_eps, direction = parse_constant(exp_eps, "exp_eps"), choice(Direction, direction, "direction")
        precision = usual_bits(exp_eps, self.budget) if bits is None else as_precision(bits)
        if less(exp_eps, self.budget) is Verdict.FALSE:
            return MixedLaw((Fraction(0),), (Fraction(1),), ())
        with working_precision(precision + 16):
            x, lam = to_arb(exp_eps), to_arb(self.budget)
            root, one = lam.sqrt(), flint.arb(1)
            atoms = [(lam - x, 1 / (2 * lam)), (1 - x * lam, 1 / (2 * lam)), (Fraction(0), 1 - 1 / root)]
            segments = [(-x, one, 1 / (4 * root), lam.log()), (one, -x, 1 / (4 * root), lam.log())]
            return _balls(atoms, segments, precision)

    def law(self, exp_eps: Real, *, side: Side, direction: Direction = "forward", bits: int | None = None) -> Law:
        """Finite law on one side of :meth:`mixed_law` in convex order.

        Each segment has ``cells`` cells.
        """
        side = choice(Side, side, "side")
        exp_eps = parse_constant(exp_eps, "exp_eps")
        law = self.mixed_law(exp_eps, direction=direction, bits=bits)
        return law.finite(side, self.cells, usual_bits(exp_eps, self.budget) if bits is None else as_precision(bits))

    def mixed_background(self, exp_eps: Real, *, direction: Direction = "forward", bits: int | None = None) -> MixedLaw:
        """Law of G of a real pair of datasets: all others hold the second input.

        The ratio runs from 1/lam to lam.
        """
        exp_eps, direction = parse_constant(exp_eps, "exp_eps"), choice(Direction, direction, "direction")
        precision = usual_bits(exp_eps, self.budget) if bits is None else as_precision(bits)
        with working_precision(precision + 16):
            x, lam = to_arb(exp_eps), to_arb(self.budget)
            a, b = (-x, flint.arb(1)) if direction == "forward" else (flint.arb(1), -x)
            atoms = [(a + b * lam, 1 / (2 * lam)), (a + b / lam, flint.arb(1) / 2)]
            return _balls(atoms, [(a, b / lam, flint.arb(1) / 4, 2 * lam.log())], precision)

    def mixed_null_law(self, exp_eps: Real, *, direction: Direction = "forward", bits: int | None = None) -> MixedLaw:
        r"""Law of G of an end of the interval against the null symbol.

        The null symbol has the law of the input 1/2.

        That law is the blanket's, of mass :math:`\lambda^{-1/2}`. The worst input is an end: noise with a log-concave
        density separates two inputs the more the farther they are apart, at every level.

        Parameters
        ----------
        exp_eps : Real
            Target ratio ``exp(eps)``; from ``sqrt(lam)`` on G is never positive, and is given as 0.
        direction : {"forward", "reverse"}
            Forward: the first dataset holds the input.
        bits : int, optional
            Precision of the balls.
        """
        exp_eps, direction = parse_constant(exp_eps, "exp_eps"), choice(Direction, direction, "direction")
        precision = usual_bits(exp_eps, self.budget) if bits is None else as_precision(bits)
        square = Exp(2 * exp_eps.exponent) if isinstance(exp_eps, Exp) else exp_eps * exp_eps
        if less(square, self.budget) is Verdict.FALSE:
            return MixedLaw((Fraction(0),), (Fraction(1),), ())
        with working_precision(precision + 16):
            x, lam = to_arb(exp_eps), to_arb(self.budget)
            root = lam.sqrt()
            a, b = (-x * root, flint.arb(1)) if direction == "forward" else (root, -x)
            atoms = [(a + b * lam, 1 / (2 * lam)), (a + b, 1 / (2 * root)), (Fraction(0), 1 - 1 / root)]
            return _balls(atoms, [(a, b, 1 / (4 * root), lam.log())], precision)

    def mixed_null_background(
        self, exp_eps: Real, *, direction: Direction = "forward", bits: int | None = None
    ) -> MixedLaw:
        """Law of G of a real pair against the null symbol: all others hold the other end."""
        exp_eps, direction = parse_constant(exp_eps, "exp_eps"), choice(Direction, direction, "direction")
        precision = usual_bits(exp_eps, self.budget) if bits is None else as_precision(bits)
        with working_precision(precision + 16):
            x, lam = to_arb(exp_eps), to_arb(self.budget)
            root, one = lam.sqrt(), flint.arb(1)
            a, b = (-x * root, one) if direction == "forward" else (root, -x)
            both = a + b  # of the ratios 1 and sqrt(lam) in the middle of the interval
            atoms = [(a + b * lam, 1 / (2 * lam)), (both / lam, one / 2)]
            segments = [(a, b, 1 / (4 * root), lam.log()), (flint.arb(0), both / lam, one / 4, lam.log())]
            return _balls(atoms, segments, precision)

    def background(self, exp_eps: Real, *, direction: Direction = "forward", bits: int | None = None) -> Law:
        """A finite law below :meth:`mixed_background` in convex order, of ``cells`` cells."""
        exp_eps = parse_constant(exp_eps, "exp_eps")
        law = self.mixed_background(exp_eps, direction=direction, bits=bits)
        return law.finite("lower", self.cells, usual_bits(exp_eps, self.budget) if bits is None else as_precision(bits))


def _balls(atoms: list[tuple[Any, Any]], segments: list[tuple[Any, Any, Any, Any]], bits: int) -> MixedLaw:
    def ball(number: Any) -> Any:
        return number if isinstance(number, Fraction) else Ball.from_arb(number, bits)

    values, weights = zip(*((ball(value), ball(weight)) for value, weight in atoms), strict=True)
    return MixedLaw(values, weights, tuple(Segment(*map(ball, segment)) for segment in segments))
