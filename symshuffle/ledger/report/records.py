"""A run of the ledger as JSON."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from symshuffle.base.artifacts import write_atomically
from symshuffle.ledger.claims.errata import Erratum
from symshuffle.ledger.claims.outcomes import Outcome


def record(outcome: Outcome) -> dict[str, Any]:
    """The outcome as the JSON object of ``symshuffle verify --json``."""
    corrected = outcome.corrected
    return {
        "id": outcome.id,
        "paper": outcome.paper,
        "kind": outcome.kind.value,
        "title": outcome.title,
        "verdict": outcome.verdict.value,
        "grade": outcome.grade.value if outcome.grade else None,
        "scope": outcome.scope,
        "obligations": [str(obligation) for obligation in outcome.obligations],
        "clauses": [
            {
                "of": clause.of,
                "verdict": clause.verdict.value,
                "comparisons": {means.value: count for means, count in clause.means},
            }
            for clause in outcome.clauses
        ],
        "unchecked": {one.id: one.role.value for one in outcome.unchecked},
        "comparisons": {means.value: count for means, count in outcome.means},
        "controls": outcome.controls,
        "controls_rejected": outcome.controls_rejected,
        "symbolic_rejection": outcome.symbolic_rejection,
        "seconds": round(outcome.seconds, 3),
        "printed": outcome.printed,
        "counterexample": outcome.counterexample,
        "corrected": None
        if corrected is None
        else {
            "statement": corrected.statement,
            "verdict": corrected.verdict.value,
            "grade": corrected.grade.value if corrected.grade else None,
        },
    }


def judged(erratum: Erratum | None) -> dict[str, Any] | None:
    """An erratum as JSON."""
    if erratum is None:
        return None
    standing = erratum.standing.value if erratum.standing else None
    return {
        "severity": erratum.severity.value,
        "standing": standing,
        "because": erratum.because,
        "quote": erratum.quote or None,
        "same_as": erratum.same_as or None,
    }


def to_json(content: Any) -> str:
    """JSON text of plain data; a number that JSON cannot write is an error, never ``NaN``."""
    return json.dumps(content, ensure_ascii=False, indent=2, allow_nan=False) + "\n"


def write_json(outcomes: Sequence[Outcome], path: Path, *, argument: str = "file") -> None:
    """Write the list of :func:`record` objects, atomically."""
    write_atomically(path, to_json([record(outcome) for outcome in outcomes]), argument=argument)
