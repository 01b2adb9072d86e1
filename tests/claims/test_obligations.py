"""What is proved for all n falls when the statement is made false beyond what was enumerated."""

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp
from fake_ledger.first import claim

from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Control,
    Obligation,
    Statement,
    attained,
    by_cases,
    for_all,
    identity,
    in_the_limit,
    serving,
)
from symshuffle.ledger.claims.obligations import beyond, falls, recording, rejections
from symshuffle.ledger.claims.run import run_claim, seeded

THRESHOLD = 10**6

N, LAM = sp.symbols("n lambda", positive=True)


def triangular(n: Any) -> Any:
    return n * (n + 1) / 2 if isinstance(n, sp.Expr) else Fraction(n * (n + 1), 2)


def enumerated(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield identity((N + 1) ** 2 - N**2, 2 * N + 1, at="a symbolic comparison of something else")
    for n in range(1, 5):
        yield identity(sp.Integer(sum(range(n + 1))), statement(sp.Integer(n)), at=f"n={n}")


def substituted(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Calls the statement with a symbol, and then looks at small sizes only."""
    for n in range(1, 5):
        yield identity(sp.Integer(sum(range(n + 1))), sp.sympify(statement(N)).subs(N, n), at=f"n={n}")


def stepped(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield identity(statement(N) + N + 1, statement(N + 1), at="from n to n + 1")
    yield compare(Fraction(1), Fraction(statement(1)), at="n=1")


def proved(check: Any, **changes: Any) -> Claim:
    wrong = Control("one more", lambda n: triangular(n) + n)
    return claim("a", **{"grade": "proved", "printed": triangular, "check": check, "controls": (wrong,), **changes})


@pytest.mark.parametrize(
    ("check", "message"),
    [
        (enumerated, "graded proved, but n only takes the values that are enumerated"),
        (substituted, "no symbolic comparison falls when the statement is made false for large n"),
    ],
)
def test_right_for_small_n_and_nonsense_beyond_is_not_proved(check: Any, message: str) -> None:
    outcome = run_claim(proved(check))
    assert outcome.grade is None
    assert any(message in fault for fault in outcome.faults)
    assert run_claim(proved(check, grade="exact-cases")).agrees_with_record


def test_an_induction_step_that_receives_the_statement_proves_it() -> None:
    outcome = run_claim(proved(stepped, obligations=for_all("n")))
    assert outcome.faults == ()
    assert (outcome.grade, outcome.means) == ("proved", (("symbolic", 1), ("exact", 1)))


def test_a_value_that_breaks_the_arithmetic_is_no_rejection() -> None:
    def brittle(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        sp.Poly(sp.sympify(statement(N)), N).degree()  # raises for a step function, and compares nothing
        yield decide(True, at="every n", claimed="yes", symbolic=True)

    assert not falls(brittle, triangular, "n", rejections(lambda: seeded("a")))


def test_an_upper_bound_falls_when_it_is_lowered() -> None:
    def bounded(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        gap = statement(N) - N**2 / 2
        yield decide(sp.simplify(gap - N / 2) == 0 or gap.subs(N, 10**9) > 0, at="large n", claimed=">", symbolic=True)

    assert not falls(bounded, lambda n: n**2, "n", rejections(lambda: seeded("a")))  # sees values only
    assert beyond(triangular, "n", -1, threshold=THRESHOLD)(sp.Integer(4)) == 10
    assert beyond(triangular, "n", -1, threshold=THRESHOLD)(N).subs(N, 10**7) == triangular(10**7) - 1


@pytest.mark.parametrize(
    ("printed", "call", "numeric", "symbolic"),
    [
        (lambda n, flag, name: 0, (3, True, "forward"), {"n"}, set()),
        (lambda n, lam: 0, (N, Fraction(1, 2)), {"lam"}, {"n"}),
        (lambda rows: 0, (((LAM, 1), (1, LAM)),), set(), {"rows"}),
        (max, (1, 2), {"0", "1"}, set()),
    ],
)
def test_parameters_are_recorded(printed: Statement, call: Any, numeric: set[str], symbolic: set[str]) -> None:
    watched, record = recording(printed)
    watched(*call)
    assert record == dict.fromkeys(numeric, False) | dict.fromkeys(symbolic, True)


# -- a false universal statement: of all channels, 3-ary response has the largest chi-square


def chi_square_of_3rr(lam: Any) -> Any:
    return (lam - 1) ** 2 * (lam + 1) / (lam * (lam + 2))


def of_3rr(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    p, q = LAM / (LAM + 2), 1 / (LAM + 2)
    yield identity((p - q) ** 2 / q + (q - p) ** 2 / p, statement(LAM), at="3-ary response, every lam")


LARGEST = claim(
    "largest",
    text="the largest chi-square over all channels is that of 3-RR",
    grade="proved",
    printed=chi_square_of_3rr,
    check=of_3rr,
    controls=(Control("one percent more", lambda lam: chi_square_of_3rr(lam) * sp.Rational(101, 100)),),
)


def labelled(*clauses: str, symbolic: bool = True) -> Any:
    def check(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        for clause in clauses:
            yield from serving(clause, of_3rr(statement, rng))
        yield from serving("channels", [decide(True, at="some channels", claimed="<=", symbolic=symbolic)])

    return check


UNIVERSAL: tuple[Obligation, ...] = (*for_all("lam", "channels"), *attained("3-RR"))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({}, "the claim does not list what it owes"),
        ({"obligations": UNIVERSAL}, "nothing serves 'for all channels'"),
        ({"obligations": UNIVERSAL, "check": labelled("3-RR", symbolic=False)}, "no symbolic comparison serves 'chan"),
        ({"obligations": UNIVERSAL, "check": labelled("3-RR")}, "what serves 'channels' does not depend on the state"),
        ({"obligations": for_all("lam"), "check": labelled()}, "serves 'channels', which the claim does not list"),
        ({"obligations": in_the_limit("n")}, "nothing serves 'limit n'"),
    ],
)
def test_a_false_universal_statement_is_not_proved_by_its_instance(changes: Any, message: str) -> None:
    outcome = run_claim(replace(LARGEST, **changes))
    assert outcome.grade is None
    assert any(message in fault for fault in outcome.faults), outcome.faults


def test_clauses_that_the_statement_feeds_are_met() -> None:
    met = run_claim(replace(LARGEST, obligations=(*for_all("lam"), *attained("3-RR")), check=of_3rr))
    assert met.faults == ("nothing serves 'attained 3-RR'",)
    outcome = run_claim(
        replace(
            LARGEST,
            obligations=(*for_all("lam", "3-RR"), *by_cases("order")),
            check=lambda s, r: (c for clause in ("3-RR", "order") for c in serving(clause, of_3rr(s, r))),
        )
    )
    assert outcome.faults == ()
    assert outcome.grade == "proved"


def test_finitely_many_certificates_do_not_certify_a_general_statement() -> None:
    outcome = run_claim(claim("a", grade="certified"))
    assert outcome.faults == ("graded certified, on finitely many values of n",)
    assert run_claim(claim("a", grade="certified", obligations=by_cases("n"))).grade == "certified"


def test_a_wrong_statement_is_run_twice_at_most_for_all_its_clauses():
    started = []

    def check(statement, _):
        started.append(statement)
        for clause, claimed in (("first", 1), ("second", N), ("third", 1)):
            yield from serving(clause, [identity(statement(N), claimed, at="every n")])
        raise ValueError

    rejects = rejections(lambda: seeded("a"))
    assert rejects("raised", check, lambda n: n, "first") and rejects("raised", check, lambda n: n, None)
    assert rejects("raised", check, lambda n: n, "third") and len(started) == 2
    for clause in ("second", "no such"):
        with pytest.raises(ValueError):
            rejects("raised", check, lambda n: n, clause)
    assert len(started) == 2
    assert rejects("another", check, lambda n: 1, "second") and len(started) == 3
