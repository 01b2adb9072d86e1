"""Appendix B: the conditions of regularity."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean import _cases as cases
from symshuffle.ledger.claims.comparisons import Comparison, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
    identity,
    serving,
)


def _moments(k: Any, t: Any) -> Any:
    """k-th moment of the lognormal factor with E[E] = 1 at t = 1/sigma0^2."""
    import sympy as sp

    return sp.exp(sp.Integer(k) * (k - 1) * t / 2)


def _check_regularity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Moments 1 to 4 of the mixed Gaussian's factor by integration, open t, against the stated ones; symbolic.

    20 random channels over Q: the privacy variance is positive unless the law is the null law.
    """
    import sympy as sp

    t = sp.Symbol("t", positive=True)
    y = sp.Symbol("y", real=True)
    for k in range(1, 5):
        inside = sp.exp(k * (sp.sqrt(t) * y - t / 2) - y**2 / 2) / sp.sqrt(2 * sp.pi)
        ours = sp.integrate(sp.expand_power_exp(inside), (y, -sp.oo, sp.oo))
        yield identity(
            sp.simplify(ours / statement(k, t)), 1, at=f"moment {k} of the mixed Gaussian's factor is finite"
        )
    for trial in range(20):
        found = cases.randomizer(rng, 2, 3)
        rows: Any = found.channel.rows
        for reference in (found.blanket, *rows):
            spread: Any = found.privacy_variance(0, reference)
            positive = spread > 0 or rows[0] == found.bot
            shown = decide(positive, at=f"random channel {trial}", claimed="variance positive")
            yield from serving("channels", [shown])


CLAIMS: Final = (
    Claim(
        id="vecmean.ass-B.1",
        kind="definition",
        title="moment and regularity conditions",
        text=(
            Clause("moments", r"All moments of $\ell_\varepsilon$ are finite."),
            Clause("variances", r"The variances of $\ell_\varepsilon$ are positive."),
            Clause("regular", r"$\ell$ is bounded or has a density.", "definition"),
        ),
        source="vecmean, Assumption B.1",
        assumptions=(),
        scope="moments 1 to 4 of the mixed Gaussian's factor; 20 random channels of full support, where (Bound) holds",
        grade="exact-cases",
        printed=_moments,
        check=_check_regularity,
        controls=(Control("exponent k^2 t / 2", lambda k, t: _moments(k, t) * _moments(2, t)),),
        expected="definition",
        obligations=(*for_all("k", "t", clause="moments"), *by_cases("channels", clause="variances")),
    ),
)
