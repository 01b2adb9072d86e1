"""The engines of the accountant: every bracket holds the number that it is a bracket of."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from symshuffle.channels.law import Law
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.engines.contours.ball import BallContour
from symshuffle.engines.contours.contour import Contour
from symshuffle.engines.counting.exact import Exact
from symshuffle.engines.transforms.fft import FFT
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import Claim, Control, Statement
from symshuffle.mechanisms.registry import mechanism

_ENGINES: Final[tuple[tuple[str, Any], ...]] = (
    ("exact", Exact()),
    ("fft", FFT()),
    ("fft off the lattice", FFT(step=Fraction(10, 37))),
    ("contour", Contour()),
    ("contour in balls", BallContour(rtol=1e-6)),
)


def _laws() -> Iterator[tuple[str, Law]]:
    """Laws of 3-ary response and of erasure at three orders, both directions; and one with a rare atom."""
    for order in (Fraction(1), Fraction(6, 5), Fraction(5, 2)):
        for direction in ("forward", "reverse"):
            krr = optimal_decomposition(mechanism("krr").at(k=3, lam=3))
            yield f"3-RR, lam=3, exp(eps)={order}, {direction}", krr.law(order, direction=direction)
            erasure = optimal_decomposition(mechanism("erasure").at(k=3, p="1/3"))
            yield f"erasure, p=1/3, exp(eps)={order}, {direction}", erasure.law(order, direction=direction)
    rare = Fraction(1, 10**15)
    yield "a rare atom", Law((Fraction(-100), Fraction(1)), (1 - rare, rare))


def _sum_of_positive_parts(law: Law, n: int) -> Any:
    """H(n), by adding one user after the other: sums of G to their probabilities."""
    sums: dict[Any, Any] = {Fraction(0): Fraction(1)}
    for _ in range(n):
        grown: dict[Any, Any] = {}
        for total, mass in sums.items():
            for value, weight in law.atoms():
                grown[total + value] = grown.get(total + value, Fraction(0)) + mass * weight
        sums = grown
    return law.singular + sum((max(s, Fraction(0)) * mass for s, mass in sums.items()), start=Fraction(0)) / n


def _brackets(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Thirteen laws, n = 1, 4, 12, five engines: both ends of the bracket around the stated value, in rationals.

    The exact engine returns a rational number, and positive ends have finite logarithms.
    """
    for label, law in _laws():
        for n in (1, 4, 12):
            claimed = statement(law, n)
            for name, engine in _ENGINES:
                bracket = engine.bracket(law, n)
                at = f"{label}, n={n}, engine {name}"
                yield compare(bracket.lower, claimed, "<=", at=f"lower end, {at}")
                yield compare(bracket.upper, claimed, ">=", at=f"upper end, {at}")
                if name == "exact":
                    yield decide(bracket.exact is not None, at=at, claimed="a rational number")
                ends = bracket.decimals()
                finite = claimed == 0 or math.isfinite(float(ends["log10_upper"]))
                yield decide(finite, at=at, claimed="a positive number has a finite logarithm")


CLAIMS: tuple[Claim, ...] = (
    Claim(
        id="symshuffle.engines",
        kind="statement",
        title="brackets of the engines",
        text=r"Every engine brackets $s+\frac1nE[(G_1+\dots+G_n)_+]$, on and off the lattice of $G$, with singular "
        r"mass, and where $E e^{cG}$ is far below 1.",
        source="symshuffle.accountants",
        assumptions=("rational laws with few atoms",),
        scope="13 laws, n = 1, 4, 12, five engines, against the convolution of the law with itself in rationals",
        grade="exact-cases",
        printed=_sum_of_positive_parts,
        check=_brackets,
        controls=(
            Control("a millionth more", lambda law, n: _sum_of_positive_parts(law, n) * (1 + Fraction(1, 10**6))),
            Control("singular mass forgotten", lambda law, n: _sum_of_positive_parts(law, n) - law.singular),
            Control("one user more", lambda law, n: _sum_of_positive_parts(law, n + 1)),
        ),
        expected="holds",
    ),
)
