"""Section 6: rounds of the central mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.vectors.error.risk import central_error


def _rounds(sigma: Any, rounds: Any) -> Any:
    """Squared noise of every one of the rounds that together are to be one run at noise sigma."""
    return rounds * sigma**2


def _check_rounds(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open sigma, n, T: parameter and error of T rounds at the stated noise, summed up, are those of one; symbolic.

    Three cases of the library's error over Q, where the noise of a round is rational.
    """
    import sympy as sp

    sigma, n, rounds = sp.symbols("sigma n T", positive=True)
    noise = statement(sigma, rounds)
    # A round shifts the mean by 1/n at noise s/sqrt(n): squared parameter (1/n)^2/(s^2/n), and these add; errors of the
    # rounds are independent, so their average has a T-th of one.
    together = rounds * (1 / n) ** 2 / (noise / n)
    yield identity(together, (1 / n) ** 2 / (sigma**2 / n), at="every T: the parameter of one run")
    yield identity(noise / n / rounds, sigma**2 / n, at="every T: the error of one run")
    for root in (1, 2, 7):
        squared = statement(Fraction(2), Fraction(root**2))
        every = central_error(Fraction(2 * root), 3, 10)
        once = central_error(Fraction(2), 3, 10)
        at = f"sigma = 2, d = 3, n = 10, T = {root**2}"
        yield compare(Fraction(2 * root) ** 2, squared, at=f"{at}: noise of a round")
        yield compare(every / root**2, once, at=f"{at}: error of the average")


CLAIMS: Final = (
    Claim(
        id="vecmean.sec-6-gdp",
        kind="statement",
        title="rounds of the central mechanism",
        text=(
            Clause(
                "parameter",
                r"T rounds of $GM(\sqrt T\sigma)$, averaged, have the parameter of one run of $GM(\sigma)$.",
            ),
            Clause("error", r"They have the error of one run of $GM(\sigma)$."),
        ),
        source="vecmean, Section 6",
        assumptions=("squared parameters add",),
        scope="every sigma, n, T",
        grade="proved",
        printed=_rounds,
        check=_check_rounds,
        controls=(
            Control("noise T sigma", lambda s, r: r**2 * s**2),
            Control("1 % more", lambda s, r: _rounds(s, r) * Fraction(101, 100)),
        ),
        expected="holds",
        obligations=for_all("sigma", "rounds", clause=("parameter", "error")),
    ),
)
