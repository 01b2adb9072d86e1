"""Tables as text and as LaTeX."""

from __future__ import annotations

from collections.abc import Sequence


def array(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A LaTeX array: a line of headings, a rule, the lines."""
    body = " \\\\\n".join(" & ".join(line) for line in lines)
    return f"\\begin{{array}}{{{'l' * len(head)}}}\n{' & '.join(head)} \\\\ \\hline\n{body}\n\\end{{array}}"


def columns(head: Sequence[str], lines: Sequence[Sequence[str]]) -> str:
    """A table in plain text: a line of headings and the lines, columns aligned."""
    table = [tuple(head), *map(tuple, lines)]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in table)
