import io
import json
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fake_ledger.first import claim
from rich.console import Console

from symshuffle import report
from symshuffle.claims.registry import load
from symshuffle.claims.run import Outcome, run, verify

KEYS = """
id paper kind title verdict grade scope obligations comparisons controls controls_rejected symbolic_rejection seconds
printed counterexample corrected
"""


@pytest.fixture(scope="module")
def outcomes() -> tuple[Outcome, ...]:
    return verify(load("fake_ledger"))


@pytest.fixture(scope="module")
def wrong() -> Outcome:
    return run(claim("wrong", printed=lambda n: n))


class Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.text: list[str] = []
        self.attributes: set[str] = set()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_data(self, data: str) -> None:
        self.text.append(data)


def test_page_escapes_what_claims_say(outcomes: tuple[Outcome, ...]) -> None:
    page = Page()
    page.feed(report.to_html(outcomes))
    assert not {"script", "img", "link", "iframe"} & set(page.tags)
    assert page.attributes <= {"lang", "charset", "name", "content", "href", "id", "class"}
    text = "".join(page.text)
    assert "<script>alert(1)</script> & [bold]co[/bold]" in text
    assert '<img src=x onerror="alert(1)"> where a<b & [red]c[/red]' in text


def test_page_tells_the_whole_story_of_a_refuted_claim(outcomes: tuple[Outcome, ...], wrong: Outcome) -> None:
    text = report.to_html((*outcomes, wrong))
    assert "Counterexample" in text and "Corrected" in text
    assert '<span class="math">n + n</span> is <span class="math">2 n</span>' in text
    assert "holds, exact-cases" in text
    assert "refuted (recorded: holds)" in text
    assert "http" not in text


def test_page_is_the_same_each_time(outcomes: tuple[Outcome, ...]) -> None:
    assert report.to_html(outcomes) == report.to_html(outcomes)


def test_page_and_record_say_what_a_proof_is_about(outcomes: tuple[Outcome, ...]) -> None:
    by_id = {outcome.id: outcome for outcome in outcomes}
    proved, true = by_id["symshuffle.definition"], by_id["symshuffle.true"]
    assert "1 of 1 rejected; a symbolic comparison tells the statement from a wrong one" in report.to_html((proved,))
    assert "by instances only" in report.to_html((replace(proved, symbolic_rejection=False),))
    assert "<dd>1 of 1 rejected</dd>" in report.to_html((true,))
    assert [report.record(outcome)["symbolic_rejection"] for outcome in (proved, true)] == [True, None]


def test_table_does_not_read_markup(outcomes: tuple[Outcome, ...], wrong: Outcome) -> None:
    stream = io.StringIO()
    Console(file=stream, width=160).print(report.outcome_table((*outcomes, wrong)))
    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["claim", "verdict", "grade", "evidence", "seconds"]
    assert lines[1].split()[:4] == ["symshuffle.true", "holds", "exact-cases", "8"]
    assert "refuted (recorded: holds)" in lines[-1]


def test_summary(outcomes: tuple[Outcome, ...], wrong: Outcome) -> None:
    assert report.summary(outcomes) == (
        "5 claims: 2 holds, 1 refuted, 1 definition, 1 no-content; 4 of 4 controls rejected; all as recorded"
    )
    assert report.summary((wrong,)) == "1 claims: 1 refuted; 1 of 1 controls rejected; 1 NOT as recorded"
    assert report.discrepancies(outcomes) == []
    assert report.discrepancies((wrong,)) == [
        "symshuffle.wrong: refuted (recorded: holds); at n=2: 4 == 2 is false (exact)"
    ]


def test_records_have_the_keys_of_the_contract(outcomes: tuple[Outcome, ...], tmp_path: Path) -> None:
    report.write_json(outcomes, tmp_path / "deep" / "verify.json")
    records = json.loads((tmp_path / "deep" / "verify.json").read_text(encoding="utf-8"))
    assert [record["id"] for record in records] == [outcome.id for outcome in outcomes]
    assert all(list(record) == KEYS.split() for record in records)
    true, drawn, *_, empty = records
    assert true["corrected"] is None and true["counterexample"] is None and true["controls"] == 1
    assert drawn["corrected"] == {
        "statement": "$n + n$ is $2 n$",
        "verdict": "holds",
        "grade": "exact-cases",
    }
    assert (drawn["verdict"], drawn["grade"]) == ("refuted", "refuted")
    assert (empty["verdict"], empty["grade"], empty["controls"]) == ("no-content", None, 0)


def test_no_json_of_what_json_cannot_say() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        report.to_json({"x": float("nan")})
