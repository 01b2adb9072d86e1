"""The sentences of a certificate, composed from its data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any

from symshuffle.ledger.recheck.values import spoken


def comparison_reads(comparison: Mapping[str, Any]) -> str:
    """The sentence of a comparison."""
    calls = " ".join(
        f"statement({', '.join(f'{name}={spoken(value)}' for name, value in call.items())})"
        for call in comparison["inputs"]
    )
    return (
        f"{comparison['serves']} at {comparison['at']} ({calls or 'statement not called'}): "
        f"{spoken(comparison['computed'])} {comparison['relation']} {spoken(comparison['claimed'])} "
        f"is {comparison['verdict']}"
    ).strip()


def program_reads(program: Mapping[str, Any]) -> str:
    """The sentence of a linear program."""
    rows: list[list[str]] = [[] for _ in program["rhs"]]
    for j, column in enumerate(program["columns"]):
        for i, entry in column:
            rows[i].append(f"{entry} x{j}")
    subject = "; ".join(
        f"{' + '.join(row) or '0'} {sense} {bound}"
        for row, sense, bound in zip(rows, program["senses"], program["rhs"], strict=True)
    )
    costs = " + ".join(f"{cost} x{j}" for j, cost in enumerate(program["costs"]))
    free = ", ".join(f"x{j}" for j in program["free"])
    attained = ", ".join(f"x{j} = {value}" for j, value in program["primal"])
    return (
        f"minimise {costs} subject to {subject}, free: {free or 'none'}; the optimum {program['optimum']}, taken with "
        f"sign {program['sign']}, is attained at {attained or 'zero'}, with multipliers {', '.join(program['dual'])}"
    )


def part_reads(part: Mapping[str, Any]) -> str:
    """The sentence of the printed or the corrected statement."""
    found = Counter(comparison["verdict"] for comparison in part["comparisons"])
    here = ", ".join(f"{found[verdict]} {verdict}" for verdict in ("true", "false", "undecided") if found[verdict])
    beside = ", ".join(f"{count} {name}" for name, count in part["beside"].items())
    return (
        f"{part['of']}: {part['statement']}: {part['verdict']}; compared here: {here or 'nothing'}; compared by the "
        f"check without exact values: {beside or 'nothing'}"
    )


def file_reads(content: Mapping[str, Any]) -> str:
    """The sentence of the whole file."""
    versions = ", ".join(f"{name} {text}" for name, text in content["versions"].items())
    return (
        f"{content['claim']}, {content['title']} ({content['source']}): {content['verdict']}, "
        f"{content['grade'] or 'no grade'}, {len(content['parts'])} statements; {content['scope']}; "
        f"made with {versions}"
    )
