from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import Claim, Control, Correction, Statement
from symshuffle.ledger.claims.parts import Erratum


def squares(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for n in range(1, 9):
        yield compare(Fraction(n * n), statement(n), at=f"n={n}")


def drawn(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for n in rng.integers(1, 10**9, size=5).tolist():
        yield compare(sum((n, n)), statement(n), at=f"n={n}")


def nothing(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield from ()


def defined(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield decide(statement(2), claimed="2 is even", at="2", symbolic=True)


def claim(name: str, **changes: Any) -> Claim:
    """A claim that holds, or what the changes make of it."""
    facts: dict[str, Any] = {
        "id": f"symshuffle.{name}",
        "kind": "statement",
        "title": f"the claim {name}",
        "text": "$n^2$ is $n n$",
        "source": "symshuffle, tests",
        "assumptions": (),
        "scope": "n up to 8",
        "grade": "exact-cases",
        "printed": lambda n: Fraction(n) ** 2,
        "check": squares,
        "controls": (Control("one off", lambda n: n * n + 1),),
        "expected": "holds",
    }
    if changes.get("expected") == "refuted":
        facts["grade"] = "refuted"
        facts["erratum"] = Erratum("hypothesis", "granted", "a factor is missing", quote="n")
    return Claim(**{**facts, **changes})


def draw(directory: Path) -> list[Path]:
    file = directory / "fig-1.txt"
    file.write_text("drawn")
    return [file]


CLAIMS = (
    claim("true", assumptions=("$n$ is a natural number",)),
    claim(
        "drawn",
        printed=lambda n: n,
        check=drawn,
        controls=(Control("three times", lambda n: 3 * n),),
        expected="refuted",
        corrected=Correction("$n + n$ is $2 n$", lambda n: 2 * n, "exact-cases"),
    ),
    claim(
        "markup",
        title="<script>alert(1)</script> & [bold]co[/bold]",
        text='<img src=x onerror="alert(1)"> where $a<b$ & [red]c[/red]',
        scope="[x] <b>",
    ),
)
REPRODUCE = {"symshuffle.fig-1": draw, "symshuffle.fig-0": lambda directory: []}
