"""Entries of the catalogue that state nothing that could be computed, or whose text is lost."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np

from symshuffle.ledger.claims.comparisons import Comparison
from symshuffle.ledger.claims.model import Claim, Statement


def _nothing() -> None:
    """No quantitative sentence."""


def _check_nothing(_: Statement, __: np.random.Generator) -> Iterator[Comparison]:
    """No comparison: the entry of the paper states nothing that could be computed."""
    yield from ()


CLAIMS: Final = (
    Claim(
        id="alphabets.tab-1",
        kind="no-content",
        title="overview table of the introduction",
        text="A table that separates this paper's objects from earlier work; it states no quantity.",
        source="alphabets, Section 1",
        assumptions=(),
        scope="nothing to check",
        grade=None,
        printed=_nothing,
        check=_check_nothing,
        controls=(),
        expected="no-content",
    ),
    Claim(
        id="alphabets.rem-4.4",
        kind="no-content",
        title="a remark without text",
        text="The text at hand has only the heading of the remark.",
        source="alphabets, Remark 4.4",
        assumptions=(),
        scope="nothing to check",
        grade=None,
        printed=_nothing,
        check=_check_nothing,
        controls=(),
        expected="no-content",
    ),
    Claim(
        id="alphabets.ex-10.4",
        kind="no-content",
        title="an example without numbers",
        text="Two numerical instances; no number of them is legible.",
        source="alphabets, Example 10.4",
        assumptions=(),
        scope="nothing to check; symshuffle.alphabets-thinning-instances has seven instances of ours",
        grade=None,
        printed=_nothing,
        check=_check_nothing,
        controls=(),
        expected="no-content",
    ),
    Claim(
        id="alphabets.rem-10.6",
        kind="no-content",
        title="scope of Section 10",
        text="Which channels Theorem 10.2 speaks about, and that the frontier above the threshold is open.",
        source="alphabets, Remark 10.6",
        assumptions=(),
        scope="nothing to check; symshuffle.alphabets-frontier answers the open question",
        grade=None,
        printed=_nothing,
        check=_check_nothing,
        controls=(),
        expected="no-content",
    ),
)
