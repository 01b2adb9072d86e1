"""Slips in the prose that no numbered statement of the ledger carries."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import PAIR, named_channels
from symshuffle.claims.errata import Erratum, Severity, Standing
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
    """Three mechanisms at lam = 3, n <= 3, three orders: the blanket's bound and the clone's, compared as stated.

    In rationals. They are equal for one user of binary response, which the printed statement does not survive; the last
    case is strict.
    """
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


SMALL: Final = (
    ("blh", {"lam": 3, "D": 2}),
    ("blh", {"lam": 3, "D": 3}),
    ("rappor", {"lam": 4, "D": 2}),
    ("rappor", {"lam": 4, "D": 3}),
    ("oue", {"lam": 3, "D": 3}),
    ("krr", {"lam": 3, "k": 2}),
    ("krr", {"lam": 3, "k": 3}),
)


def _five(components: int) -> bool:
    """Appendix A: simplified optimal decompositions have exactly five components, the left-over included."""
    return components == 5


def _check_five(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Seven mechanisms of two or three inputs: components of positive weight, the left-over included, counted."""
    for name, channel in named_channels(*SMALL):
        found = simplified_decomposition(channel, PAIR)
        count = sum(1 for weight in found.c if weight) + bool(found.beta)
        yield decide(statement(count), at=f"{name}: {count} components of positive weight", claimed="as many")


def _printed_levels(distances: int) -> int:
    """Section 8: how many pairs are listed for the joint composition of three mechanisms, one per Hamming distance."""
    return 4


def _check_levels(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The number of pairs that the paper lists for four coordinates, and of distances of three, against the stated one.

    The list is typed from the paper: one word of an example is at stake, no computation.
    """
    listed = ("1111", "0111", "0011", "0001")  # against 0000
    yield compare(len(listed), statement(len(listed[0])), at="pairs for four coordinates")
    yield compare(len({pair.count("1") for pair in listed}), len(listed), at="one for every distance")
    yield compare(3, statement(3), at="three coordinates have the distances 1, 2 and 3")


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
        erratum=Erratum(
            Severity.WORDING,
            Standing.GRANTED,
            "The word strictly; Theorem 6 says at least as tight, and that is proved.",
        ),
        corrected=Correction(
            text="The bound of the blanket is at most that of the clone (Theorem 6).",
            statement=lambda blanket, clone: bool(blanket <= clone),
            grade=Grade.EXACT_CASES,
        ),
    ),
    Claim(
        id="symshuffle.exactly-five-components",
        kind=Kind.STATEMENT,
        title="how many components the simplified decompositions have",
        text=(
            "Appendix A: the simplified optimal decompositions of the randomizers of Table 2 consist of exactly five "
            "components. Five are possible (Section 4.4); k-RR has q = 0 for every k, so four, and three at k = 2; "
            "binary local hashing and RAPPOR have q = 0 at D = 2."
        ),
        source="decomposition, Appendix A, before A.1",
        assumptions=("a component is one of positive weight",),
        scope="seven mechanisms of two or three inputs",
        grade=Grade.REFUTED,
        printed=_five,
        check=_check_five,
        controls=(Control("exactly four", lambda components: components == 4),),
        expected=ClaimVerdict.REFUTED,
        erratum=Erratum(
            Severity.WORDING,
            Standing.READING,
            "Five if components of weight zero are counted.",
        ),
        corrected=Correction(
            text="They consist of at most five components.",
            statement=lambda components: components <= 5,
            grade=Grade.EXACT_CASES,
        ),
    ),
    Claim(
        id="symshuffle.joint-of-four",
        kind=Kind.STATEMENT,
        title="the pairs of a joint composition that have to be looked at",
        text=(
            r"Section 8 lists four pairs of four coordinates for the joint composition of three $\varepsilon_0/4$-DP "
            r"k-RR mechanisms. Three have three coordinates, three Hamming distances, and a budget of "
            r"$\frac34\varepsilon_0$; four are meant. (A slip of one word.)"
        ),
        source="decomposition, Section 8",
        assumptions=(),
        scope="the list as printed",
        grade=Grade.REFUTED,
        printed=_printed_levels,
        check=_check_levels,
        controls=(Control("one pair fewer than coordinates", lambda distances: distances - 1),),
        expected=ClaimVerdict.REFUTED,
        erratum=Erratum(
            Severity.WORDING,
            Standing.GRANTED,
            "A slip of one word, three for four, in an example.",
        ),
        corrected=Correction(
            text="The joint composition of m mechanisms has m such pairs; the list is that of four.",
            statement=lambda distances: distances,
            grade=Grade.EXACT_CASES,
        ),
    ),
)
