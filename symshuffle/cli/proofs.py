"""The option --proof, which writes a file that proves the upper end of an answer; and how `check` reads it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.cli.covering import CoveringOptions

Proof = Annotated[
    Path | None,
    typer.Option(
        "--proof",
        metavar="FILE",
        help="Write a file that proves the upper end; `symshuffle check FILE`, or bound.py alone, checks it.",
    ),
]


def write_proof(file: Path | None, source: Any, covering: CoveringOptions, **question: Any) -> None:
    """Write the proof of an answer where one is asked for, and say on standard error what was proved.

    The question is that of :func:`symshuffle.prove` if it names a level, otherwise that of ``prove_epsilon``.
    """
    if file is None:
        return
    from symshuffle.accountants.questions.proof import prove, prove_epsilon
    from symshuffle.ledger.recheck import bound

    check_destination(file, argument="--proof")
    door = prove if question.keys() & {"eps", "exp_eps"} else prove_epsilon
    content = door(source, **question, **covering.whom)
    write_atomically(file, json.dumps(content, indent=1) + "\n", argument="--proof")
    typer.echo(f"{file} proves {bound.check(content)}", err=True)


_BOUND: Final = "symshuffle bound "
"""How the format of a proof file begins."""

_MALFORMED: Final = (ArithmeticError, LookupError, TypeError, ValueError)


def is_proof(file: Path) -> bool:
    """Whether a file is one that --proof wrote, by its format."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(content, dict) and str(content.get("format")).startswith(_BOUND)


def check_proof(file: Path, expected: Path | None, *, as_json: bool) -> bool:
    """Check a proof file, print what it proves or where it fails, and say whether it proves its statement."""
    from symshuffle.ledger.recheck import bound
    from symshuffle.ledger.recheck.checker import read

    statement = None if expected is None else read(expected, argument="--expect")
    content = read(file)
    try:
        said, failed = bound.check(content, statement), None
    except _MALFORMED as error:
        failed = [str(part) for part in error.args] or [type(error).__name__]
        said = ": ".join(failed)
    if as_json:
        answer = {"file": str(file), "proved": failed is None, "statement": content.get("statement"), "failed": failed}
        typer.echo(json.dumps(answer, indent=2))
    else:
        typer.echo(f"{'NOT PROVED' if failed else 'PROVED'}: {said}")
    return failed is None
