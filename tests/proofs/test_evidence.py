"""docs/evidence.md names what is only sampled, and the stronger attempt; a weaker grade cannot slip in unsaid."""

import re
from pathlib import Path

from symshuffle.ledger.claims.registry import catalogue, load

PAGE = (Path(__file__).parents[2] / "docs" / "evidence.md").read_text(encoding="utf-8")


def rows(heading: str) -> dict[str, list[str]]:
    """The table below a heading: the ids of the first column, and the other columns."""
    _, _, rest = PAGE.partition(heading)
    found: dict[str, list[str]] = {}
    for line in rest.partition("\n## ")[0].splitlines():
        if line.startswith("| `"):
            names, *others = (cell.strip() for cell in line.strip("|").split(" | "))
            paper = ""
            for name in re.findall(r"`([^`]+)`", names):
                paper = name.partition(".")[0] if name.partition(".")[0] in PREFIXES else paper
                found[name if name.startswith(f"{paper}.") else f"{paper}.{name}"] = others
    return found


UNTRIED = {"symshuffle.vecmean-correspondence"}
"""Sampled although nobody tried more: an open debt, to which nothing may be added."""

PREFIXES = {claim.paper for claim in load().claims}


def grade(claim):
    """The grade that counts: of the correction, where there is one."""
    return claim.grade if claim.corrected is None else claim.corrected.grade


def test_what_is_sampled_is_named_with_the_stronger_attempt() -> None:
    sampled = {claim.id for claim in load().claims if grade(claim) == "sampled"}
    named = rows("# Evidence\n")
    assert set(named) == sampled
    for name, (what, attempt) in named.items():
        assert len(what) > 20, name
        assert len(attempt) > 20, f"{name}: which stronger attempt failed, and why"
    untried = {name for name, (_, attempt) in named.items() if attempt.startswith("not tried")}
    assert untried <= UNTRIED, "try the stronger grade first, and say on the page why it failed"


def test_statements_of_the_papers_that_stay_at_cases_are_named() -> None:
    named = rows("## Statements that stay at finitely many cases")
    cases = {
        claim.id
        for claim in load().claims
        if claim.id in catalogue() and claim.kind == "statement" and grade(claim) == "exact-cases"
    }
    listed = set(named) | {name for name in cases if any(fits(name, one) for one in named)}
    assert cases - listed == set()


def fits(name: str, pattern: str) -> bool:
    return "*" in pattern and re.fullmatch(pattern.replace(".", r"\.").replace("*", ".*"), name) is not None
