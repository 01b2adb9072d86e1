"""A statement of our own: every input of a Gaussian under zero-out, by cells of lengths and one kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.ledger.claims.comparisons import Comparison, decide
from symshuffle.ledger.claims.model import Claim, Control, Statement, for_all, identity
from symshuffle.mechanisms.symbolic import nonnegative


def _cell(rho: Any, z: Any, end: Any, low: Any, high: Any) -> tuple[Any, Any, Any]:
    """What a contraction by rho makes of the mean z, the noise it needs, and the reach of the blanket of a cell."""
    return rho * z, 1 - rho**2, end * high / low


def _check(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every contraction and mean by cumulants, every length in a cell by sign; symbolic."""
    rho, z, end, low, high, more = sp.symbols("rho z v k l a", positive=True)
    u = sp.Symbol("u", real=True)
    mean, noise, reach = statement(rho, z, end, low, high)
    # log E exp(u (rho Y + N)) for Y of mean z and variance 1; z = 0 is the null symbol.
    moved = u * rho * z + u**2 * rho**2 / 2 + u**2 * noise / 2
    yield identity(
        sp.expand(moved), sp.expand(u * mean + u**2 / 2), at="every input: its law is that of the shorter one"
    )
    back = statement((low + more) / high, reach, end, low, high)[0]
    room = sp.cancel(back - end)
    yield identity(room, end * more / low, at="length k + a: how far the blanket's reach exceeds the ball")
    yield decide(nonnegative(room, {}), at="every length in the cell", claimed="a smaller blanket", symbolic=True)


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-inputs-cover",
        kind="statement",
        title="cells of lengths cover all inputs under zero-out",
        text=(
            r"For the mixed and the unmixed Gaussian with $b_v=\inf_{|z|\le v}R_z$, the bound F(x, v) for an input of "
            r"length x against the null symbol obeys $F(x,v)\le F(l,vl/k)$ for $k\le x\le l$: in every dimension, both "
            r"orders, every level and n."
        ),
        source="own; vecmean, Appendix C takes |x| = 1",
        assumptions=(
            "data processing; a larger blanket has a smaller bound (symshuffle.vecmean-largest-blanket-bound)",
            "the mean of an infimum is at most the infimum of means",
        ),
        scope="every contraction, mean, cell and length; brackets: tests/vectors/test_cover.py",
        grade="proved",
        printed=_cell,
        check=_check,
        controls=(
            Control("1 % less reach", lambda *given: (*_cell(*given)[:2], _cell(*given)[2] * sp.Rational(99, 100))),
            Control(
                "1 % more noise",
                lambda *given: (_cell(*given)[0], _cell(*given)[1] * sp.Rational(101, 100), _cell(*given)[2]),
            ),
            Control("cell the other way round", lambda r, z, v, k, top: _cell(r, z, v, top, k)),
        ),
        expected="holds",
        obligations=for_all("rho", "z", "end", "low", "high"),
    ),
)
