"""Perturbed statements: honest checks reject every kind, weak ones are listed, and draws depend on the seed alone."""

import json
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
import sympy as sp

from symshuffle.cli import main
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.edits import CHANGES
from symshuffle.ledger.claims.model import Claim, Correction, Statement
from symshuffle.ledger.claims.perturb import findings, perturbations
from tests.claims.fake_ledger.first import claim

MANY = 100
SIZES = (1, 2, 3, 49, 50, 51, 60)


def stated(n: Any, k: Any) -> Any:
    """Counts that are larger than others: 3 of them."""
    least = min(n, k)
    less, more = (1 if n < k else 0), n * 2 - k
    return (least + less * 10, more + 7)


def honest(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for n in SIZES:
        for k in SIZES:
            values = ((n if n < k else k) + (10 if n < k else 0), n + n - k + 7)
            yield compare(values, statement(n, k), at=f"n={n}, k={k}")


def weak(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield decide(len(statement(3, 3)) == 2, at="n=k=3", claimed="two numbers")


def fates(found: tuple[dict[str, Any], ...]) -> dict[str, str]:
    return {f"{one['kind']}: {one['change']}": one["fate"] for one in found}


def of(check: Any, printed: Statement = stated, **changes: Any) -> Claim:
    return claim("perturbed", printed=printed, check=check, controls=(), **changes)


EXPECTED = {
    "constant: value * 101/100",
    "constant: 7 -> _fraction_(707, 100)",
    "min-max: min -> max",
    "strictness: n < k -> n <= k",
    "sign: n * 2 - k -> n * 2 + k",
    "sign: - value",
    "shift: 10 -> 11",
    "shift: n +1",
    "shift: k -1",
    "shift: value +1",
    "beyond: value +1 where n > 50",
    "beyond: value -1 where k > 50",
    "roles: n and k exchanged",
    "roles: (less, more) -> (more, less)",
    "roles: (least + less * 10, more + 7) -> (more + 7, least + less * 10)",
}


def test_an_honest_check_rejects_every_kind() -> None:
    found = fates(findings(of(honest), each=MANY))
    assert found.keys() >= EXPECTED
    assert {one.partition(":")[0] for one in found} == set(CHANGES)
    assert set(found.values()) <= {"rejected", "error"}
    assert {found[one] for one in EXPECTED} == {"rejected"}


def test_lines_are_those_of_the_source() -> None:
    (found,) = (one for one in findings(of(honest), each=MANY) if one["change"] == "min -> max")
    first = stated.__code__.co_firstlineno
    assert found["line"] == first + 2
    assert found["file"] == "tests/claims/test_perturb.py"


def test_a_weak_check_is_listed() -> None:
    found = findings(of(weak), each=MANY)
    assert {one["fate"] for one in found} == {"accepted"}
    assert {one["kind"] for one in found} == set(CHANGES)
    seen = {one["change"]: one["differed"] for one in found}
    assert seen["value * 101/100"] == 1
    assert seen["n < k -> n <= k"] == 1
    assert seen["value +1 where n > 50"] == 0  # the check makes no call with n > 50


def test_a_check_of_small_values_accepts_what_is_false_beyond() -> None:
    def small(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        for n in range(1, 50):
            yield compare(Fraction(n * n), statement(n), at=f"n={n}")

    found = fates(findings(of(small, lambda n: Fraction(n) ** 2), each=MANY))
    accepted = {one for one, fate in found.items() if fate == "accepted"}
    assert accepted == {"beyond: value +1 where n > 50", "beyond: value -1 where n > 50"}


def test_symbols_are_perturbed_beyond_as_well() -> None:
    n = sp.Symbol("n", positive=True)

    def symbolic(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        yield identity(n * n + n, statement(n), at="every n")

    found = fates(findings(of(symbolic, lambda n: n * (n + 1)), each=MANY))
    assert found["beyond: value +1 where n > 50"] in {"rejected", "undecided"}
    assert "accepted" not in found.values()


def test_a_correction_is_perturbed_where_the_print_is_false() -> None:
    def doubled(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        yield compare(6, statement(3), at="n=3")

    corrected = Correction("$2 n$", lambda n: 2 * n, "exact-cases")
    refuted = of(doubled, lambda n: n, expected="refuted", corrected=corrected)
    changes = {one["change"] for one in findings(refuted, each=MANY)}
    assert "2 -> 3" in changes
    assert findings(of(doubled, lambda n: n, expected="refuted"), each=MANY) == ()


def test_closures_partial_functions_and_functions_of_c() -> None:
    factor = 5

    def closed(n: Any) -> Any:
        return factor * n + 1

    assert {change for _, _, change, _ in perturbations(closed)} >= {"factor * n + 1 -> factor * n - 1", "n +1"}
    (less,) = (made for _, _, change, made in perturbations(closed) if change == "factor * n + 1 -> factor * n - 1")
    assert less(2) == 9
    (least,) = (made for kind, _, _, made in perturbations(max) if kind == "min-max")
    assert least is min


def test_errors_are_no_rejections() -> None:
    def divides(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
        yield compare(Fraction(1), statement(1), at="n=1")

    found = fates(findings(of(divides, lambda n: Fraction(1, n)), each=MANY))
    assert found["shift: n -1"] == "error"


def test_draws_depend_on_the_seed_alone() -> None:
    def drawn(seed: int) -> list[str]:
        return [one["change"] for one in findings(of(weak), seed=seed)]

    assert drawn(1) == drawn(1)
    assert len({tuple(drawn(seed)) for seed in range(5)}) > 1
    assert len(drawn(1)) == len(CHANGES)


@pytest.mark.parametrize("jobs", ["1", "2"])
def test_the_command_lists_what_is_accepted(jobs: str, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["perturb", "symshuffle.true", "symshuffle.drawn", "--ledger", "tests.claims.fake_ledger"]
    assert main([*asked, "--each", "50", "--jobs", jobs, "--json", "-"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["claim"] for row in rows} == {"symshuffle.true", "symshuffle.drawn"}
    small = [row["change"] for row in rows if row["claim"] == "symshuffle.true" and row["fate"] == "accepted"]
    assert sorted(small) == ["value +1 where n > 50", "value -1 where n > 50"]
    assert main([*asked, "--kind", "sign", "--jobs", "1"]) == 0
    assert "sign" in capsys.readouterr().out
    assert main([*asked, "--kind", "colour"]) == 2
    assert main([*asked, "--each", "0"]) == 2
