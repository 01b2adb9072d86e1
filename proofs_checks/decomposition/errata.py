"""Slips in the prose that no numbered statement of the ledger carries."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks._errata import finding
from proofs_checks.decomposition._cases import PAIR, named_channels
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.clones import standard_clone_pair
from symshuffle.decompositions.model import simplified_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    by_cases,
    for_all,
    serving,
)
from symshuffle.ledger.claims.parts import Erratum

CHANNELS: Final = (("rr", {"lam": 3}), ("krr", {"lam": 3, "k": 3}), ("half-block", {"lam": 3, "k": 4}))


def _strictly(blanket: Any, clone: Any) -> bool:
    """Section 1.2: the bound of the blanket is strictly below that of the clone, for any specific randomizer."""
    return bool(blanket < clone)


def _check_tighter(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three mechanisms at lam = 3, n <= 3, three orders: the blanket's bound and the clone's, compared as stated.

    In rationals. They are equal for one user of binary response, which the printed statement does not survive; the last
    case is strict.
    """
    for cap in (Fraction(3, 2), Fraction(3), Fraction(7)):
        ((label, binary),) = named_channels(("rr", {"lam": cap}))
        sides = simplified_decomposition(binary, PAIR).reduction_pair(), standard_clone_pair(cap)
        for side, name in zip(sides, ("blanket", "clone"), strict=True):
            for exp_eps in (Fraction(1), (1 + cap) / 2):
                value = (cap - exp_eps) / (cap + 1)
                at = f"{name}, {label}, exp(eps)={exp_eps}"
                yield compare(side.divergence(1, exp_eps), value, at=f"{at}: one user, the value of the text")
            for n, exp_eps in itertools.product((1, 2, 3), (cap, cap + 1)):
                yield compare(side.divergence(n, exp_eps), Fraction(0), at=f"{name}, {label}, n={n}: eps >= eps0")
    for name, channel in named_channels(*CHANNELS):
        pair, clone = simplified_decomposition(channel, PAIR).reduction_pair(), standard_clone_pair(Fraction(3))
        for n in (1, 2, 3):
            for exp_eps in (Fraction(1), Fraction(3, 2), Fraction(2)):
                bounds = [one.divergence(n, exp_eps) for one in (pair, clone)]
                at = f"{name} at lam = 3, n={n}, exp(eps)={exp_eps}: {bounds[0]} and {bounds[1]}"
                yield decide(statement(*bounds), at=at, claimed="tighter")
    ((name, channel),) = named_channels(CHANNELS[-1])
    pair, clone = simplified_decomposition(channel, PAIR).reduction_pair(), standard_clone_pair(Fraction(3))
    strict = pair.divergence(3, Fraction(2)), clone.divergence(3, Fraction(2))
    yield compare(*strict, "<", at=f"{name} at lam = 3, n=3, exp(eps)=2: strictly")


SMALL: Final = (
    ("blh", {"lam": 3, "D": 2}),
    ("blh", {"lam": 3, "D": 3}),
    ("rappor", {"lam": 4, "D": 2}),
    ("rappor", {"lam": 4, "D": 3}),
    ("oue", {"lam": 3, "D": 3}),
    ("krr", {"lam": 3, "k": 2}),
    ("krr", {"lam": 3, "k": 3}),
)
COUNTS: Final = {"blh": (4, 5), "rappor": (4, 5), "oue": (5,), "krr": (3, 4)}
"""Components of positive weight, in the order of ``SMALL``."""


def _five(components: int) -> bool:
    """Appendix A: simplified optimal decompositions have exactly five components, the left-over included."""
    return components == 5


def _check_five(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Seven mechanisms of two or three inputs: components of positive weight, the left-over included, counted."""
    counts: dict[str, list[int]] = {}
    for name, channel in named_channels(*SMALL):
        parts = simplified_decomposition(channel, PAIR)
        count = sum(1 for weight in parts.c if weight) + bool(parts.beta)
        counts.setdefault(name.partition(",")[0], []).append(count)
        yield decide(statement(count), at=f"{name}: {count} components of positive weight", claimed="as many")
    for name, found in counts.items():
        same = [compare(tuple(found), COUNTS[name], at=f"{name}: components of positive weight")]
        yield from serving("k-RR" if name == "krr" else "two inputs", same)


def _printed_levels(distances: int) -> int:
    """Section 8: how many pairs are listed for the joint composition of three mechanisms, one per Hamming distance."""
    return 4


def _check_levels(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two to four reports of binary response: how many laws of G the pairs of inputs have, against the stated number.

    All inputs against 0, by the library's decomposition of the joint mechanism, in rationals. The list, typed from the
    paper, has one input for each law at four reports.
    """
    ((_label, single),) = named_channels(("rr", {"lam": 2}))
    joint = single
    for reports in (2, 3, 4):
        joint = joint.tensor(single)
        laws = {x: _law_of_pair(joint, x) for x in range(1, joint.num_inputs)}
        yield compare(len(set(laws.values())), statement(reports), at=f"{reports} reports: laws of G of all pairs")
    listed = [laws[int(pair, 2)] for pair in ("1111", "0111", "0011", "0001")]  # against 0000
    yield compare(set(listed), set(laws.values()), at="the list: every law of four reports")
    yield compare(len(set(listed)), len(listed), at="the list: each law once")


def _law_of_pair(channel: Channel, x: int) -> frozenset[Any]:
    """The atoms of G for the inputs 0 and x."""
    return frozenset(simplified_decomposition(channel, (0, x)).reduction_pair().gparv(Fraction(6, 5)).atoms())


CLAIMS: Final = (
    Claim(
        id="symshuffle.blanket-strictly-tighter",
        kind="statement",
        title="is the bound of the blanket strictly tighter than the clone's?",
        text=(
            Clause(
                "said",
                "Section 1.2: for any specific local randomizer the bound of the blanket is strictly tighter "
                "than that of the clone.",
            ),
            Clause("instead", "Theorem 6 shows that it is at least as tight, and no more is true."),
            Clause(
                "instance",
                "For one user and binary randomized response both are "
                r"$\frac{e^{\varepsilon_0}-e^\varepsilon}{e^{\varepsilon_0}+1}$, at $e^{\varepsilon_0}=3$ and "
                r"$\varepsilon=0$ one half; for $\varepsilon\ge\varepsilon_0$ both are 0.",
            ),
        ),
        source="decomposition, Section 1.2",
        assumptions=(r"$\varepsilon_0$-LDP randomizers",),
        scope="three mechanisms at lam = 3, n <= 3, three values of exp(eps)",
        grade="refuted",
        printed=_strictly,
        check=_check_tighter,
        controls=(
            Control("at least one percent tighter", lambda blanket, clone: blanket <= clone * Fraction(99, 100)),
        ),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "granted",
            "The word strictly; Theorem 6 says at least as tight, and that is proved.",
            quote="For any specific local randomizer ... strictly tighter than that obtained via the clone",
        ),
        corrected=Correction(
            text="The bound of the blanket is at most that of the clone (Theorem 6).",
            statement=lambda blanket, clone: bool(blanket <= clone),
            grade="exact-cases",
        ),
        obligations=for_all("blanket", "clone", clause=("said", "instead", "instance")),
    ),
    finding(
        "exactly-five-components",
        "how many components the simplified decompositions have",
        (
            Clause(
                "at most five",
                "The simplified optimal decompositions of the randomizers of Table 2 have at most five "
                "components of positive weight (five are possible, Section 4.4).",
            ),
            Clause("k-RR", "k-RR has q = 0 for every k, so four, and three at k = 2."),
            Clause(
                "two inputs",
                "Binary local hashing and RAPPOR have q = 0 at D = 2, so four; with three inputs they have five.",
            ),
        ),
        lambda components: components <= 5,
        _five,
        source="decomposition, Appendix A, before A.1",
        assumptions=("a component is one of positive weight",),
        scope="seven mechanisms of two or three inputs",
        check=_check_five,
        controls=(Control("exactly four", lambda components: components == 4),),
        obligations=(
            *for_all("components", clause="at most five"),
            *by_cases("k-RR", clause="k-RR"),
            *by_cases("two inputs", clause="two inputs"),
        ),
    ),
    Claim(
        id="symshuffle.joint-of-four",
        kind="statement",
        title="the pairs of a joint composition that have to be looked at",
        text=(
            Clause(
                "said",
                "Section 8 lists four pairs of four coordinates for the joint composition of three "
                r"$\varepsilon_0/4$-DP k-RR mechanisms.",
            ),
            Clause(
                "three",
                r"Three have three coordinates, three Hamming distances, and a budget of $\frac34\varepsilon_0$; "
                "four are meant. (A slip of one word.)",
            ),
        ),
        source="decomposition, Section 8",
        assumptions=(),
        scope="all pairs of two, three and four binary reports; the list as printed",
        grade="refuted",
        printed=_printed_levels,
        check=_check_levels,
        controls=(Control("one pair fewer than coordinates", lambda distances: distances - 1),),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "granted",
            "A slip of one word, three for four, in an example.",
            quote="in the joint composition of three",
        ),
        corrected=Correction(
            text="The joint composition of m mechanisms has m such pairs; the list is that of four.",
            statement=lambda distances: distances,
            grade="exact-cases",
        ),
        obligations=for_all("distances", clause=("said", "three")),
    ),
)
