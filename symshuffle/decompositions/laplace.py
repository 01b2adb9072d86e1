r"""Components of a Laplace leaf in a composition: finitely many, below or above in convex order.

The range of :math:`u=\log r` is cut into m cells. All ratios are rational powers of ``lam``, so that products of leaves
merge exactly and a joint composition stays polynomial in the number of coordinates.

*Why the sides carry over.* Let every leaf i of a tree have the law :math:`\mu_i` of its ratios
:math:`(r_0,r_1)=(A_0,A_1)/A_2` under :math:`A_2`. Under ``joint`` the ratios of the tree are products, so that
:math:`G=\prod_i r_0^{(i)}-e^{\varepsilon}\prod_i r_1^{(i)}` is linear in the pair of each leaf when the others are
held. On the residual of the blanket G is 0 whatever happens, and the pair of a leaf there may be taken as (0, 0), a
component that no side changes. Replacing :math:`\mu_i` by a law :math:`\nu_i\ge_{cx}\mu_i` therefore replaces, given
all else, G by a linear image of a larger law: :math:`E f(G)` rises for each convex f, also after averaging over all
else. ``parallel`` draws a leaf, and a mixture of laws above a law is above the mixture. So both sides hold for G, and
with it for :math:`E[(G_1+\dots+G_n)_+]`, the sum being linear in each :math:`G_i`. The singular mass has no part in
it: the blanket of a Laplace leaf charges all of its outputs.
"""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache

import sympy as sp

from symshuffle.base.choices import Others, Side, choice
from symshuffle.decompositions.counting import Cell
from symshuffle.mechanisms.symbolic import LAM


@cache
def laplace_cells(
    cells: int, side: Side | str, others: Others | str, *, differs: bool
) -> tuple[tuple[Cell, ...], sp.Expr]:
    r"""The components and the left-over of Laplace noise on a bit, in ``lam``.

    - ``cells``: cells of the range of u, which is :math:`[0,\varepsilon_0]` for the blanket, else twice as long.
    - ``side``: on which side in convex order.
    """
    side = choice(Side, side, "side")
    others = choice(Others, others, "others")
    one, half = sp.Integer(1), sp.Rational(1, 2)
    if others == "blanket":
        rising = [(LAM, 1 / (2 * LAM)), *_cut(Fraction(0), Fraction(1), cells, side, 1 / (4 * sp.sqrt(LAM)))]
        pairs = [*((r, one, c) for r, c in rising), *((one, r, c) for r, c in rising)]
        beta = 1 - LAM**-half
    else:
        if not differs:
            return (Cell(one, one, one, (one, one)),), sp.Integer(0)
        rising = [
            (LAM, 1 / (2 * LAM)),
            (1 / LAM, half),
            *_cut(Fraction(-1), Fraction(1), cells, side, 1 / (4 * sp.sqrt(LAM))),
        ]
        pairs = [(r, one, c) if others == "second" else (one, r, c) for r, c in rising]
        beta = sp.Integer(0)
    ratios = [(r0, r1 if differs else r0, c) for r0, r1, c in pairs]
    return tuple(Cell(r0 * c, r1 * c, c, (r0, r1)) for r0, r1, c in ratios), beta


def _cut(
    start: Fraction, stop: Fraction, cells: int, side: Side, density: sp.Expr
) -> Iterator[tuple[sp.Expr, sp.Expr]]:
    """Ratios ``lam**t`` and weights of a measure ``density * exp(-u/2) du`` for ``u = t log(lam)``, t in a range."""
    step = (stop - start) / cells
    grow = LAM ** _exact(step / 2)
    for j in range(cells):
        low = start + j * step
        mass = 2 * density * LAM ** _exact(-low / 2) * (1 - 1 / grow)
        if side == "lower":  # the mean of exp(u) over a cell is exp of its midpoint
            yield LAM ** _exact(low + step / 2), mass
        else:
            yield LAM ** _exact(low), mass * grow / (1 + grow)
            yield LAM ** _exact(low + step), mass / (1 + grow)


def _exact(number: Fraction) -> sp.Rational:
    return sp.Rational(number.numerator, number.denominator)
