"""A run of the ledger in a terminal: a table, a summary in one line, and what is not as recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from symshuffle.ledger.claims.model import ClaimVerdict
from symshuffle.ledger.claims.outcomes import Outcome

_STYLES: Final[dict[ClaimVerdict, str]] = {
    ClaimVerdict.HOLDS: "green",
    ClaimVerdict.REFUTED: "magenta",
    ClaimVerdict.UNDECIDED: "yellow",
    ClaimVerdict.DEFINITION: "cyan",
    ClaimVerdict.NO_CONTENT: "dim",
}


def outcome_table(outcomes: Sequence[Outcome]) -> Table:
    """The outcomes as a table: claim, verdict, grade, evidence, seconds."""
    table = Table("claim", "verdict", "grade", "evidence", box=None, pad_edge=False, header_style="bold")
    table.add_column("seconds", justify="right", no_wrap=True)
    table.columns[0].overflow = "fold"
    for outcome in outcomes:
        style = _STYLES[outcome.verdict] if outcome.agrees_with_record else "bold red"
        table.add_row(
            Text(outcome.id),
            Text(_verdict(outcome), style=style),
            Text(outcome.grade.value if outcome.grade else "-"),
            Text(outcome.evidence),
            Text(f"{outcome.seconds:.2f}"),
        )
    return table


def clause_lines(outcome: Outcome) -> list[str]:
    """One line for each part of a claim: what it is, its verdict, how it was decided, or why it was not."""
    found = [f"{clause.of}: {clause.verdict.value} ({clause.evidence})" for clause in outcome.clauses]
    return found + [f"clause {one.id}: {one.role.value}, not checked here" for one in outcome.unchecked]


def _verdict(outcome: Outcome) -> str:
    found = outcome.verdict.value
    return found if outcome.verdict is outcome.recorded else f"{found} (recorded: {outcome.recorded.value})"


def summary(outcomes: Sequence[Outcome]) -> str:
    """One line: how many claims came out how, the controls, and whether all of it is as recorded."""
    verdicts = Counter(outcome.verdict for outcome in outcomes)
    counts = ", ".join(f"{verdicts[verdict]} {verdict.value}" for verdict in ClaimVerdict if verdicts[verdict])
    controls = sum(outcome.controls for outcome in outcomes)
    rejected = sum(outcome.controls_rejected for outcome in outcomes)
    astray = sum(not outcome.agrees_with_record for outcome in outcomes)
    record = f"{astray} NOT as recorded" if astray else "all as recorded"
    counted = f"{len(outcomes)} claims: {counts}" if outcomes else "0 claims"
    return f"{counted}; {rejected} of {controls} controls rejected; {record}"


def discrepancies(outcomes: Sequence[Outcome]) -> list[str]:
    """One line for each outcome that is not as recorded, saying why."""
    return [
        f"{outcome.id}: {'; '.join((_verdict(outcome), *outcome.faults, *filter(None, [outcome.counterexample])))}"
        for outcome in outcomes
        if not outcome.agrees_with_record
    ]
