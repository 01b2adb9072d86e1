from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import flint
import numpy as np
import pytest
import sympy as sp
from fake_ledger.first import claim, defined, nothing

from symshuffle import Ball, InputError
from symshuffle.base import Verdict
from symshuffle.base.choices import members
from symshuffle.ledger import Claim, Erratum, load, run_claim, verify_claims
from symshuffle.ledger.claims.comparisons import Comparison, Means, compare, decide
from symshuffle.ledger.claims.model import (
    Check,
    ClaimVerdict,
    Control,
    Correction,
    Grade,
    Statement,
    attained,
    by_cases,
    for_all,
    identity,
    serving,
)
from symshuffle.ledger.claims.parts import Severity
from symshuffle.ledger.claims.run import seeded


def test_true_statement_holds() -> None:
    outcome = run_claim(claim("a"))
    assert (outcome.verdict, outcome.grade) == ("holds", "exact-cases")
    assert (outcome.true, outcome.undecided, outcome.false) == (8, 0, 0)
    assert (outcome.controls, outcome.controls_rejected) == (1, 1)
    assert outcome.evidence == "8 exact"
    assert outcome.agrees_with_record and outcome.faults == ()
    assert (outcome.counterexample, outcome.corrected) == (None, None)


def test_vacuous_check_fails_even_if_undecided_is_on_record() -> None:
    for expected in members(ClaimVerdict):
        outcome = run_claim(claim("a", check=nothing, expected=expected))
        assert outcome.verdict == "undecided"
        assert outcome.grade is None
        assert not outcome.agrees_with_record
        assert "vacuous" in outcome.evidence


def mixed(*verdicts: Verdict) -> Any:
    def check(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        for verdict in verdicts:
            yield decide(verdict, claimed="it", at="here")

    return check


def test_one_undecided_comparison_leaves_the_claim_undecided() -> None:
    ball = Ball(Fraction(0), Fraction(2))

    def overlapping(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        yield compare(Fraction(1), Fraction(1), at="1")
        yield compare(ball, statement(0), at="ball")

    undecided = claim(
        "a",
        check=overlapping,
        printed=lambda n: Fraction(1),
        controls=(Control("outside", lambda n: Fraction(3)),),
        expected="undecided",
    )
    outcome = run_claim(undecided)
    assert (outcome.verdict, outcome.grade) == ("undecided", None)
    assert outcome.evidence == "1 exact, 1 ball; 1 undecided"
    assert outcome.agrees_with_record
    assert not run_claim(replace(undecided, expected="holds")).agrees_with_record


def test_a_false_comparison_outweighs_undecided_ones() -> None:
    outcome = run_claim(claim("a", check=mixed(Verdict.UNDECIDED, Verdict.FALSE, Verdict.TRUE)))
    assert (outcome.verdict, outcome.grade) == ("refuted", "refuted")
    assert (outcome.true, outcome.undecided, outcome.false) == (1, 1, 1)


REFUTED = claim(
    "a",
    printed=lambda n: n,
    expected="refuted",
    corrected=Correction("squared", lambda n: n * n, "exact-cases"),
)


def test_refutation_shows_the_first_counterexample_and_runs_the_correction() -> None:
    outcome = run_claim(REFUTED)
    assert outcome.verdict == "refuted"
    assert outcome.counterexample == "at n=2: 4 == 2 is false (exact)"
    assert outcome.corrected is not None
    assert (outcome.corrected.verdict, outcome.corrected.grade) == ("holds", "exact-cases")
    assert outcome.agrees_with_record


@pytest.mark.parametrize(
    ("correction", "message"),
    [
        (Correction("cubed", lambda n: n**3, "certified"), "at n=2: 4 == 8"),
        (Correction("squared", lambda n: n * n, "proved"), "no comparison is symbolic"),
        (Correction("squared", lambda n: n * n, "certified", check=nothing), "no comparison"),
        (Correction("broken", lambda n: 1 / 0, "certified"), "ZeroDivisionError"),
    ],
)
def test_a_correction_that_fails_fails_the_run(correction: Correction, message: str) -> None:
    outcome = run_claim(replace(REFUTED, corrected=correction))
    assert outcome.verdict == "refuted"
    assert not outcome.agrees_with_record
    assert message in outcome.evidence


def test_control_that_is_not_rejected_fails_the_run() -> None:
    outcome = run_claim(claim("a", controls=(Control("same", lambda n: n * n), Control("other", lambda n: 0))))
    assert (outcome.controls, outcome.controls_rejected) == (2, 1)
    assert outcome.verdict == "holds"
    assert not outcome.agrees_with_record
    assert "control 'same' was not rejected" in outcome.evidence


def refuse(n: int) -> Fraction:
    raise InputError("n", n, "something else")


@pytest.mark.parametrize("statement", [refuse, lambda n: 1 / 0])
def test_exception_does_not_reject_a_control(statement: Statement) -> None:
    outcome = run_claim(claim("a", controls=(Control("raises", statement),)))
    assert outcome.controls_rejected == 0
    assert not outcome.agrees_with_record
    assert "control 'raises': the check raised" in outcome.evidence


def test_undecided_control_is_not_rejected() -> None:
    control = Control("vague", lambda n: n, check=mixed(Verdict.UNDECIDED, Verdict.TRUE))
    assert run_claim(claim("a", controls=(control,))).controls_rejected == 0


def test_control_may_bring_a_check_of_its_own() -> None:
    control = Control("own", lambda n: n * n, check=mixed(Verdict.FALSE))
    assert run_claim(claim("a", controls=(control,))).agrees_with_record


def told_apart(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield compare(4, statement(2), at="n=2")
    n = sp.Symbol("n")
    yield identity(n * n, statement(n), at="every n")


def beside_the_point(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield compare(4, statement(2), at="n=2")
    n = sp.Symbol("n")
    yield identity((n + 1) ** 2, n**2 + 2 * n + 1, at="every n, whatever is stated")


WRONG = (Control("cubed", lambda n: n**3), Control("one more", lambda n: n * n + 1))


@pytest.mark.parametrize(("check", "found"), [(told_apart, True), (beside_the_point, False)])
def test_a_symbolic_comparison_may_be_about_something_else(check: Check, found: bool) -> None:
    proved = claim("a", grade="proved", check=check, printed=lambda n: n * n, controls=WRONG, obligations=for_all("n"))
    outcome = run_claim(proved)
    assert (outcome.agrees_with_record, outcome.controls_rejected, outcome.symbolic_rejection) == (found, 2, found)
    assert any("no symbolic comparison rejects" in fault for fault in outcome.faults) is not found
    assert run_claim(replace(proved, grade="exact-cases")).symbolic_rejection is None


def test_a_refutation_by_a_symbolic_comparison_counts_for_a_proved_correction() -> None:
    squared = Correction("squared", lambda n: n * n, "proved")
    one = (Control("one", lambda n: 1),)
    owed = for_all("n")
    outcome = run_claim(replace(REFUTED, check=told_apart, corrected=squared, controls=one, obligations=owed))
    assert outcome.agrees_with_record and outcome.symbolic_rejection


@pytest.mark.parametrize(
    ("grade", "expected"),
    [("refuted", "holds"), (None, "refuted"), ("proved", "refuted")],
)
def test_refuted_is_the_grade_of_refuted_claims(grade: Grade | None, expected: ClaimVerdict) -> None:
    with pytest.raises(InputError, match="refuted exactly for the claims on record as refuted"):
        claim("a", grade=grade, expected=expected)


def test_a_refutation_says_how_much_it_matters() -> None:
    """A refuted claim without an erratum does not construct; beside a statement that holds only a slip may stand."""
    slip = Erratum("wording", "reading", "one word")
    with pytest.raises(
        InputError, match=r"erratum is missing: expected how much the refutation matters, unlike symshuffle.a"
    ):
        claim("a", expected="refuted", erratum=None)
    assert claim("a", erratum=slip).erratum is slip
    for severity in set(members(Severity)) - {"wording"}:
        standing = None if severity == "question" else "granted"
        with pytest.raises(InputError, match="beside a statement that holds"):
            claim("a", erratum=Erratum(severity, standing, "a reason"))


@pytest.mark.parametrize(
    ("severity", "standing", "because", "words"),
    [
        ("result", None, "a reason", "standing"),
        ("question", "granted", "a reason", "standing"),
        ("result", "granted", " ", "because"),
        ("grave", "granted", "a reason", "severity"),
        ("result", "perhaps", "a reason", "standing"),
    ],
)
def test_errata_are_judged_whole(severity: Any, standing: Any, because: str, words: str) -> None:
    with pytest.raises(InputError, match=f"^{words} (= |is missing)"):
        Erratum(severity, standing, because)


@pytest.mark.parametrize("answer", ["", "false", "yes", 1, 0, None, (), [False], Fraction(1), np.bool_(True), sp.true])
def test_what_is_no_verdict_decides_nothing(answer: Any) -> None:
    with pytest.raises(InputError, match="expected True, False or a Verdict"):
        decide(answer, at="here", claimed="something")


def test_verdicts_decide() -> None:
    for answer, verdict in ((True, Verdict.TRUE), (False, Verdict.FALSE), *((one, one) for one in Verdict)):
        assert decide(answer, at="here", claimed="something").verdict is verdict


def test_controls_are_obligatory() -> None:
    outcome = run_claim(claim("a", controls=()))
    assert not outcome.agrees_with_record
    assert "no negative control" in outcome.evidence


def test_exception_in_a_check_is_never_hidden() -> None:
    def breaks(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        yield compare(1, 1, at="start")
        raise RuntimeError("lost\nthe thread")

    for expected in ("holds", "undecided"):
        outcome = run_claim(claim("a", check=breaks, expected=expected))
        assert (outcome.verdict, outcome.grade) == ("undecided", None)
        assert "RuntimeError: lost the thread" in outcome.evidence
        assert not outcome.agrees_with_record


def stated(*means: Means) -> Any:
    def check(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        for one in means:
            yield Comparison("1", "1", "==", Verdict.of(statement(1) == 1), one, "1")

    return check


@pytest.mark.parametrize(
    ("grade", "means", "message"),
    [
        ("proved", ("exact", "ball"), "no comparison is symbolic"),
        ("proved", ("symbolic", "float"), "floating point"),
        ("certified", ("exact", "float"), "floating point"),
        ("exact-cases", ("float",), "floating point"),
        ("refuted", ("exact",), "no grade"),
        (None, ("exact",), "no grade"),
    ],
)
def test_evidence_weaker_than_the_grade_fails(grade: Grade | None, means: tuple[Means, ...], message: str) -> None:
    recorded = "refuted" if grade == "refuted" else "holds"
    outcome = run_claim(claim("a", grade=grade, check=stated(*means), expected=recorded))
    assert outcome.verdict == "holds"
    assert outcome.grade is None
    assert not outcome.agrees_with_record
    assert message in outcome.evidence


@pytest.mark.parametrize(
    ("grade", "means"),
    [
        ("proved", ("symbolic", "exact")),
        ("certified", ("exact", "ball")),
        ("exact-cases", ("exact",)),
        ("sampled", ("float", "exact")),
    ],
)
def test_evidence_that_carries_the_grade(grade: Grade, means: tuple[Means, ...]) -> None:
    outcome = run_claim(claim("a", grade=grade, check=stated(*means), obligations=by_cases("n")))
    assert outcome.grade == grade
    assert outcome.agrees_with_record


def test_definition() -> None:
    even = claim(
        "a",
        kind="definition",
        grade="proved",
        check=defined,
        printed=lambda n: n % 2 == 0,
        controls=(Control("odd", lambda n: n % 2 == 1),),
        expected="definition",
        obligations=by_cases("n"),
    )
    outcome = run_claim(even)
    assert (outcome.verdict, outcome.grade, outcome.agrees_with_record) == ("definition", "proved", True)
    assert run_claim(replace(even, printed=lambda n: False)).verdict == "refuted"


def test_no_content() -> None:
    empty = claim("a", kind="no-content", grade=None, check=nothing, controls=(), expected="no-content")
    outcome = run_claim(empty)
    assert (outcome.verdict, outcome.grade) == ("no-content", None)
    assert outcome.agrees_with_record
    assert not run_claim(replace(empty, grade="proved")).agrees_with_record


def test_every_run_of_a_claim_draws_the_same_numbers() -> None:
    seen: list[list[int]] = []

    def record(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        seen.append(rng.integers(10**9, size=4).tolist())
        yield compare(1, statement(1), at="1")

    run_claim(
        claim(
            "a",
            check=record,
            printed=lambda n: 2,
            controls=(Control("wrong", lambda n: 3),),
            corrected=Correction("one", lambda n: 1, "exact-cases"),
        )
    )
    assert len(seen) == 3
    assert seen[0] == seen[1] == seen[2] == seeded("symshuffle.a").integers(10**9, size=4).tolist()
    assert seeded("symshuffle.b").integers(10**9, size=4).tolist() != seen[0]


def test_precision_does_not_leak_from_one_claim_to_the_next() -> None:
    bits: list[int] = []

    def careless(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        bits.append(flint.ctx.prec)
        flint.ctx.prec = 999
        yield compare(1, statement(1), at="1")

    before = flint.ctx.prec
    for _ in range(2):
        run_claim(claim("a", check=careless))
    assert bits[0] == bits[2] == 128
    assert flint.ctx.prec == before


def test_outcomes_are_the_same_for_every_number_of_jobs() -> None:
    ledger = load("fake_ledger")
    assert [outcome.id for outcome in verify_claims(ledger)] == [claim.id for claim in ledger.claims]
    seen: list[str] = []
    parallel = verify_claims(ledger, jobs=3, progress=lambda outcome: seen.append(outcome.id))
    assert [replace(o, seconds=0.0) for o in parallel] == [replace(o, seconds=0.0) for o in verify_claims(ledger)]
    assert sorted(seen) == sorted(outcome.id for outcome in parallel)
    assert all(outcome.agrees_with_record for outcome in parallel)


def test_some_claims_come_back_in_the_order_asked() -> None:
    ledger = load("fake_ledger")
    chosen: list[Claim] = [ledger.claims[2], ledger.claims[0]]
    assert [outcome.id for outcome in verify_claims(ledger, chosen)] == [claim.id for claim in chosen]


def test_a_worker_that_dies_fails_its_claim() -> None:
    ledger = load("fake_deadly")
    outcomes = {outcome.id: outcome for outcome in verify_claims(ledger, jobs=2)}
    assert outcomes["symshuffle.dies"].verdict == "undecided"
    assert "worker process died" in outcomes["symshuffle.dies"].evidence
    assert not any(outcome.agrees_with_record for outcome in outcomes.values())


@pytest.mark.parametrize("jobs", [0, -1, 257])
def test_number_of_jobs_has_a_range(jobs: int) -> None:
    with pytest.raises(InputError, match=f"jobs = {jobs}: expected an integer from 1 to 256"):
        verify_claims(load("fake_ledger"), jobs=jobs)


def test_each_part_of_a_statement_has_a_verdict_of_its_own() -> None:
    def check(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
        yield compare(4, statement(2), at="n = 2")
        yield from serving("shape", [decide(True, at="every n", claimed="even", symbolic=True)])
        yield from serving("range", [compare(3, 4, at="n = 2"), compare(1, 1, at="n = 1")])

    found = run_claim(
        claim("parts", check=check, obligations=(*for_all("shape"), *attained("range", "unserved")))
    ).clauses
    assert [(one.of, one.verdict, one.evidence) for one in found] == [
        ("the statement", "holds", "1 exact"),
        ("for all shape", "holds", "1 symbolic"),
        ("attained range", "refuted", "2 exact"),
    ]
