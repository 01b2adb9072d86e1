"""docs/errata-reading.md: 100 sentences of each paper, their first words, and the entries that they rest on."""

import re
from collections import Counter
from pathlib import Path

from symshuffle.ledger.claims.registry import load, papers

PAGE = (Path(__file__).parents[2] / "docs" / "errata-reading.md").read_text(encoding="utf-8")
CLAIMS = {claim.id: claim for claim in load().claims}


def rows(paper: str) -> list[list[str]]:
    _, _, rest = PAGE.partition(f"\n## {paper}\n")
    lines = rest.partition("\n## ")[0].splitlines()
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if re.match(r"\| \d+ \|", line)]


def test_a_hundred_sentences_of_each_paper_are_listed() -> None:
    for paper in papers():
        found = rows(paper)
        assert [int(row[0]) for row in found] == list(range(1, 101)), paper
        assert all(len(row) == 5 and row[1] and row[4].rstrip(" |") for row in found), paper
        assert all(1 <= len(row[2].split()) <= 5 for row in found), paper


def test_they_name_entries_of_the_ledger() -> None:
    for paper in papers():
        for row in rows(paper):
            named = re.findall(r"`([^`]+)`", row[3] + row[4])
            assert set(named) <= set(CLAIMS), row
            if row[4].startswith(("on record", "new")):
                assert CLAIMS[named[-1]].erratum is not None, row


def test_the_counts_are_those_of_the_lists() -> None:
    for paper in papers():
        (line,) = re.findall(rf"\| {paper} \| 100 of \d+ \|(.*)\|", PAGE)
        counts = [int(cell) for cell in line.split("|")]
        assert sum(counts) == 100
        starts = Counter(row[4].split(":")[0].rstrip(" |") for row in rows(paper))
        assert [starts[word] for word in ("step", "nothing to check", "loose", "on record", "new")] == [
            counts[place] for place in (1, 2, 4, 5, 6)
        ]
