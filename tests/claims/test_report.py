import io
import json
from pathlib import Path

import pytest
from fake_ledger.first import claim
from rich.console import Console

from symshuffle.ledger import Outcome, load, run_claim, verify_claims
from symshuffle.ledger.report.records import discrepancies, outcome_table, summary, to_json, write_json

KEYS = """
id paper kind title verdict grade scope obligations clauses unchecked comparisons controls controls_rejected
symbolic_rejection seconds printed counterexample corrected
"""


@pytest.fixture(scope="module")
def outcomes() -> tuple[Outcome, ...]:
    return verify_claims(load("fake_ledger"))


@pytest.fixture(scope="module")
def wrong() -> Outcome:
    return run_claim(claim("wrong", printed=lambda n: n))


def test_table_does_not_read_markup(outcomes: tuple[Outcome, ...], wrong: Outcome) -> None:
    stream = io.StringIO()
    Console(file=stream, width=160).print(outcome_table((*outcomes, wrong)))
    lines = stream.getvalue().splitlines()
    assert lines[0].split() == ["claim", "verdict", "grade", "evidence", "seconds"]
    assert lines[1].split()[:4] == ["symshuffle.true", "holds", "exact-cases", "8"]
    assert "refuted (recorded: holds)" in lines[-1]


def test_summary(outcomes: tuple[Outcome, ...], wrong: Outcome) -> None:
    assert summary(outcomes) == (
        "5 claims: 2 holds, 1 refuted, 1 definition, 1 no-content; 4 of 4 controls rejected; all as recorded"
    )
    assert summary((wrong,)) == "1 claims: 1 refuted; 1 of 1 controls rejected; 1 NOT as recorded"
    assert discrepancies(outcomes) == []
    assert discrepancies((wrong,)) == ["symshuffle.wrong: refuted (recorded: holds); at n=2: 4 == 2 is false (exact)"]


def test_records_have_the_keys_of_the_contract(outcomes: tuple[Outcome, ...], tmp_path: Path) -> None:
    write_json(outcomes, tmp_path / "deep" / "verify.json")
    records = json.loads((tmp_path / "deep" / "verify.json").read_text(encoding="utf-8"))
    assert [record["id"] for record in records] == [outcome.id for outcome in outcomes]
    assert all(list(record) == KEYS.split() for record in records)
    true, drawn, *_, empty = records
    assert true["corrected"] is None and true["counterexample"] is None and true["controls"] == 1
    assert drawn["corrected"] == {"statement": "$n + n$ is $2 n$", "verdict": "holds", "grade": "exact-cases"}
    assert (drawn["verdict"], drawn["grade"]) == ("refuted", "refuted")
    assert (empty["verdict"], empty["grade"], empty["controls"]) == ("no-content", None, 0)


def test_no_json_of_what_json_cannot_say() -> None:
    with pytest.raises(ValueError, match="not JSON compliant"):
        to_json({"x": float("nan")})
