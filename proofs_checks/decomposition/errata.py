"""Slips in the prose that no numbered statement of the ledger carries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import PAIR, named_channels
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Correction,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    identity,
)
from symshuffle.decompositions.blanket import simplified_decomposition
from symshuffle.decompositions.clones import standard_clone_pair

CHANNELS: Final = (("rr", {"lam": 3}), ("krr", {"lam": 3, "k": 3}), ("half-block", {"lam": 3, "k": 4}))


def _strictly(blanket: Any, clone: Any) -> bool:
    """Section 1.2: the bound of the blanket is strictly below that of the clone, for any specific randomizer."""
    return bool(blanket < clone)


def _check_tighter(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    lam, x = sp.symbols("lambda x", positive=True)
    # One user: binary response and the clone pair are one and the same pair.
    own = lam / (lam + 1) - x / (lam + 1)
    yield identity(own, (lam - x) / (lam + 1), at="one user, binary response, x <= lam: both divergences")
    for name, channel in named_channels(*CHANNELS):
        pair, clone = simplified_decomposition(channel, PAIR).reduction_pair(), standard_clone_pair(Fraction(3))
        for n in (1, 2, 3):
            for exp_eps in (Fraction(1), Fraction(3, 2), Fraction(2)):
                bounds = [one.divergence(n, exp_eps) for one in (pair, clone)]
                at = f"{name} at lam = 3, n={n}, exp(eps)={exp_eps}: {bounds[0]} and {bounds[1]}"
                yield decide(statement(*bounds), at=at, claimed="tighter")
    yield compare(bounds[0] < bounds[1], True, at="the last of these: strictly")


CLAIMS: Final = (
    Claim(
        id="symshuffle.blanket-strictly-tighter",
        kind=Kind.STATEMENT,
        title="is the bound of the blanket strictly tighter than the clone's?",
        text=(
            r"Section 1.2: for any specific local randomizer the bound of the blanket is strictly tighter than that of "
            r"the clone. Theorem 6 shows that it is at least as tight, and no more is true: for one user and binary "
            r"randomized response both are $\frac{e^{\varepsilon_0}-e^\varepsilon}{e^{\varepsilon_0}+1}$, at "
            r"$e^{\varepsilon_0}=3$ and $\varepsilon=0$ one half; for $\varepsilon\ge\varepsilon_0$ both are 0."
        ),
        source="decomposition, Section 1.2",
        assumptions=(r"$\varepsilon_0$-LDP randomizers",),
        scope="three mechanisms at lam = 3, n <= 3, three values of exp(eps)",
        grade=Grade.REFUTED,
        printed=_strictly,
        check=_check_tighter,
        controls=(
            Control("at least one percent tighter", lambda blanket, clone: blanket <= clone * Fraction(99, 100)),
        ),
        expected=ClaimVerdict.REFUTED,
        corrected=Correction(
            text="The bound of the blanket is at most that of the clone (Theorem 6).",
            statement=lambda blanket, clone: bool(blanket <= clone),
            grade=Grade.EXACT_CASES,
        ),
    ),
)
