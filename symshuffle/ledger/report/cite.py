"""How to cite a statement of the ledger, and this tool."""

from __future__ import annotations

import re

from symshuffle.base.artifacts import installed
from symshuffle.ledger.claims.papers import Paper
from symshuffle.ledger.report.entries import LedgerEntry


def bibtex(entry: LedgerEntry, paper: Paper | None) -> str:
    """BibTeX of the paper with the number of the statement, if a paper makes it, and of the tool with its verdict."""
    found = f"claim {entry.id}: {entry.verdict}"
    if entry.claim is not None and entry.grade != "none":
        found += f", {'corrected statement ' if entry.verdict == 'refuted' else ''}{entry.grade}"
    tool = _item(
        "symshuffle",
        title="{symshuffle}: symbolic and certified numerics for shuffle and local differential privacy",
        author="{The symshuffle developers}",
        note=f"Version {installed('symshuffle')}; {_latex(found)}",
    )
    if paper is None:
        return tool
    where = entry.source.partition(", ")[2] or entry.title
    item = _item(
        f"{paper.authors[0].partition(',')[0].lower()}{paper.year}{paper.key.replace('_', '')}",
        title=f"{{{_latex(paper.title)}}}",
        author=_latex(" and ".join(paper.authors)),
        year=str(paper.year),
        eprint=paper.arxiv,
        archiveprefix="arXiv",
        note=_latex(where[0].upper() + where[1:]),
    )
    return f"{item}\n{tool}"


def _item(key: str, **fields: str) -> str:
    lines = "".join(f"  {name:<13} = {{{value}}},\n" for name, value in fields.items())
    return f"@misc{{{key},\n{lines}}}\n"


def _latex(text: str) -> str:
    """A text in which the signs that LaTeX reserves stand for themselves; formulas stay."""
    pieces = re.split(r"(\$[^$]+\$)", text)
    return "".join(piece if i % 2 else re.sub(r"([_&%#])", r"\\\1", piece) for i, piece in enumerate(pieces))
