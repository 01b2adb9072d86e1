r"""Every input of a Gaussian under zero-out, against its largest blanket: a certified cover by finitely many pairs.

Let :math:`b_v=\inf_{|z|\le v}R_z` and F(x, v) the bound for an input of length x against the null symbol with that
blanket, in either order. The kernel K that sends y to :math:`\rho y` plus noise of covariance
:math:`\sigma_0^2(1-\rho^2)I` leaves :math:`R_\bot` alone and turns :math:`R_z` into :math:`R_{\rho z}` for every z at
once, mixed or not. Hence :math:`Kb_w\le\inf_{|z|\le w}KR_z=b_{\rho w}`, and by data processing, and because a larger
blanket has a smaller bound,

.. math:: F(x,v)\le F(\ell,\,v\,\ell/k)\qquad(0<k\le x\le\ell),

in every dimension, for every level, n and order. Cells [k, l] down to a length whose messages alone tell as little as
asked for cover all inputs. As cells get short the first tends to F at the end of the ball: the cover is as close as one
likes to it, and no proof that the end is worst is needed. Of the monotonicity that proves the worst pair under
replacement nothing is left here: against the null symbol the set of gain may be an interval and a half line.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.accountants.evaluate import Request, check_n, evaluate
from symshuffle.choices import Rigour
from symshuffle.continuous_law import LevelledPair
from symshuffle.errors import CertificateError, InputError
from symshuffle.levels import read_target
from symshuffle.numbers import Ball, Real, parse_rational, to_arb, working_precision
from symshuffle.results import AnswerMethods, Bracket, SafeEnd
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, LocalGaussian
from symshuffle.vectors.pairs import short_input
from symshuffle.vectors.templates import upper_normal

Cell = tuple[Fraction, Fraction]

_STEPS: Final = tuple(map(Fraction, ("1.02", "1.05", "1.1", "1.25", "1.5", "2")))
_WIDTH: Final = 1e-5
_BITS: Final = 160


@final
@dataclass(frozen=True, slots=True, repr=False)
class InputCover(AnswerMethods):
    """A bound on delta for every input of a ball, and the cells that it is made of.

    Parameters
    ----------
    mechanism : BlanketMixedGaussian or LocalGaussian
        What every user runs.
    n : int
        Number of users.
    exp_eps : Real
        Target ratio.
    cells : tuple of (Fraction, Fraction)
        Lengths of inputs, from the end of the ball inwards.
    short : Fraction
        Inputs up to this length are bounded by one message of theirs.
    bracket : Bracket
        From what the end of the ball has to what no input exceeds.
    """

    mechanism: BlanketMixedGaussian | LocalGaussian
    n: int
    exp_eps: Real
    cells: tuple[Cell, ...]
    short: Fraction
    bracket: Bracket

    @property
    def about(self) -> str:
        """What the number speaks about."""
        return (
            f"upper bound on delta of n = {self.n} shuffled messages, zero-out adjacency: every input of the ball, "
            f"{len(self.cells)} cells of lengths, blanket inf over the ball of R_x"
        )

    @property
    def safe(self) -> SafeEnd:
        """The upper end."""
        return SafeEnd.UPPER

    def verify(self) -> None:
        """Check that the cells cover the ball, and evaluate each of them again.

        Raises
        ------
        CertificateError
            If a length is left out, or a cell exceeds the upper end.
        """
        ends = [_end(self.mechanism), *(low for low, _ in self.cells)]
        if [high for _, high in self.cells] != ends[:-1]:
            raise CertificateError("cells", "they leave lengths out")
        if self.short != ends[-1]:
            raise CertificateError("short", "not where the cells end")
        for i, (low, high) in enumerate(self.cells):
            if not 0 < low < high:
                raise CertificateError(f"cells[{i}]", "not an interval of lengths above 0")
        if alone(self.mechanism, self.short, self.exp_eps).upper > self.bracket.upper:
            raise CertificateError("short", "one message of such an input exceeds the upper end")
        for i, (low, high) in enumerate(self.cells):
            if of_cell(self.mechanism, self.n, self.exp_eps, low, high) > self.bracket.upper:
                raise CertificateError(f"cells[{i}]", "its pair exceeds the upper end")


def every_input(
    mechanism: BlanketMixedGaussian | LocalGaussian,
    *,
    n: int,
    eps: object = None,
    exp_eps: object = None,
    slack: object = Fraction(1, 100),
) -> InputCover:
    """A bound on delta for every input against the null symbol, with the largest blanket.

    Parameters
    ----------
    mechanism : BlanketMixedGaussian or LocalGaussian
        What every user runs.
    n : int
        Number of users.
    eps, exp_eps : number, text or Exp
        Target level.
    slack : number
        Share of the length by which the first cell is shorter than the ball, in (0, 1): how near the cover comes to
        the end of the ball, at the price of more cells.

    Raises
    ------
    InputError
        If an argument is out of range.
    Unsupported
        If an engine cannot bracket one of the pairs.
    """
    n, order = check_n(n), read_target(eps=eps, exp_eps=exp_eps)
    share = parse_rational(slack, "slack")
    if not 0 < share < 1:
        raise InputError("slack", slack, "a share in (0, 1)")
    end = _end(mechanism)
    cells: list[Cell] = [(end * (1 - share), end)]
    most = of_cell(mechanism, n, order, *cells[0])
    target = max(most, Fraction(1, 10**300))
    step = 3
    while alone(mechanism, cells[-1][0], order).upper > target:
        # Shorter inputs have more room: one step more than the last cell, and fewer where that is too many.
        for k in range(min(step + 1, len(_STEPS) - 1), -1, -1):
            cell = Fraction(f"{float(cells[-1][0] / _STEPS[k]):.6e}"), cells[-1][0]
            value, step = of_cell(mechanism, n, order, *cell), k
            if value <= target:
                break
        most = max(most, value)
        cells.append(cell)
    tip = short_input(mechanism, length=end, reach=end)
    lower = max(_value(pair, n, order).lower for pair in (tip, tip.reverse))
    how = f"{len(cells)} cells of lengths, each below one pair by a contraction"
    bracket = Bracket(min(lower, most), most, Rigour.FLOAT64, "cover", how)
    return InputCover(mechanism, n, order, tuple(cells), cells[-1][0], bracket)


def of_cell(mechanism: BlanketMixedGaussian | LocalGaussian, n: int, order: Real, low: Fraction, high: Fraction) -> Any:
    """What no input with a length in the cell exceeds, in either order."""
    pair = short_input(mechanism, length=high, reach=_end(mechanism) * high / low)
    return max(_value(one, n, order).upper for one in (pair, pair.reverse))


def alone(mechanism: BlanketMixedGaussian | LocalGaussian, length: Fraction, order: Real) -> Ball:
    """The divergence of one message of an input of that length, in its worse order, which n messages never exceed.

    A mixture with the null law is below the pair that it is made of.
    """
    with working_precision(_BITS):
        ratio, shift = to_arb(order), to_arb(length / mechanism.sigma0)
        a = ratio.log() / shift
        found = upper_normal(a - shift / 2) - ratio * upper_normal(a + shift / 2)
        return Ball.from_arb(found.max(flint.arb(0)), _BITS)


def _value(pair: Any, n: int, order: Real) -> Bracket:
    return evaluate(LevelledPair(pair, order), n, Request.of(rel=_WIDTH))


def _end(mechanism: BlanketMixedGaussian | LocalGaussian) -> Fraction:
    return mechanism.norm if isinstance(mechanism, BlanketMixedGaussian) else Fraction(1)
