"""The clauses of a statement: each is named by an obligation, or is quoted or a definition."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from fake_ledger.first import claim

from symshuffle import InputError
from symshuffle.ledger import run_claim
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import Clause, Control, Obligation, Statement, by_cases, for_all, serving
from symshuffle.ledger.claims.parts import Role
from symshuffle.ledger.report.records import clause_lines, record

TWO = (Clause("i", "$n^2$ is $n n$."), Clause("ii", "$0^2$ is 0."))


def test_a_text_is_one_clause_that_every_obligation_is_about() -> None:
    whole = claim("a", obligations=for_all("n"))
    assert [one.id for one in whole.clauses] == ["statement"] and whole.words == whole.text


def test_clauses_are_joined_with_their_ids() -> None:
    parted = claim("a", text=TWO, obligations=(*for_all("n", clause="i"), *by_cases("zero", clause="ii")))
    assert parted.words == "(i) $n^2$ is $n n$. (ii) $0^2$ is 0."


def test_one_obligation_may_be_about_several() -> None:
    assert claim("a", text=TWO, obligations=for_all("n", clause=("i", "ii"))).clauses == TWO


@pytest.mark.parametrize(
    ("text", "obligations", "words"),
    [
        (TWO, for_all("n", clause="i"), r"text = symshuffle.a \(ii\): expected a clause that an obligation names"),
        (TWO, (), "obligations = symshuffle.a: expected obligations that name the clauses"),
        ((Clause("i", "x is a name.", "definition"),), for_all("n"), r"text = symshuffle.a \(i\)"),
        (TWO, for_all("n"), "obligations = symshuffle.a: expected obligations that name the clauses"),
        (TWO, for_all("n", clause=("i", "ii", "iii")), "obligations = iii: expected a clause of symshuffle.a"),
        ("one", for_all("n", clause="i"), "obligations = i: expected a clause of symshuffle.a, one of statement"),
        ((TWO[0], TWO[0]), for_all("n", clause="i"), "text = symshuffle.a: expected clauses with different ids"),
        (
            (TWO[0], Clause("ii", "x is a name.", "definition")),
            for_all("n", clause=("i", "ii")),
            r"text = symshuffle.a \(ii\)",
        ),
    ],
)
def test_a_clause_that_nothing_is_about_is_refused(text: Any, obligations: tuple[Obligation, ...], words: str) -> None:
    with pytest.raises(InputError, match=f"^{words}"):
        claim("a", text=text, obligations=obligations)


def test_a_single_clause_is_owed_for_every_parameter_or_what_is_listed() -> None:
    assert claim("a").owed == for_all("n")
    assert claim("a", obligations=by_cases("n")).owed == by_cases("n")
    with pytest.raises(InputError, match=r"^text = symshuffle.a \(statement\): expected a clause that an obligation"):
        claim("a", printed=lambda: 4)


@pytest.mark.parametrize("role", ["quoted", "definition"])
def test_what_is_quoted_or_a_definition_needs_none(role: Role) -> None:
    other = Clause("ii", "Strassen's theorem.", role)
    assert claim("a", text=(TWO[0], other), obligations=for_all("n", clause="i")).clauses[1].role == role


def test_a_clause_has_a_name() -> None:
    with pytest.raises(InputError, match="a name that is not empty"):
        Clause(" ", "x is y")


def both(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield compare(4, statement(2), at="n=2")
    yield from serving("zero", [compare(0, statement(0), at="n=0")])


def test_a_clause_that_no_comparison_serves_fails() -> None:
    owed = (*for_all("n", clause="i"), *by_cases("zero", clause="ii"))
    control = (Control("one off", lambda n: n * n + 1),)
    assert run_claim(claim("a", text=TWO, obligations=owed, check=both, controls=control)).faults == ()
    assert run_claim(claim("a", text=TWO, obligations=owed)).faults == ("nothing serves 'cases zero'",)


def test_a_run_says_what_is_not_checked() -> None:
    text = (TWO[0], Clause("ii", "Strassen's theorem.", "quoted"))
    found = run_claim(claim("a", text=text, obligations=for_all("n", clause="i")))
    assert [one.id for one in found.unchecked] == ["ii"]
    assert clause_lines(found)[-1] == "clause ii: quoted, not checked here"
    assert record(found)["unchecked"] == {"ii": "quoted"}
