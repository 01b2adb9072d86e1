"""The option --proof, which writes a file that proves the upper end of an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

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
    rounding = getattr(source, "rounding", None)
    of = "" if rounding is None else f"; it is about {rounding}"
    typer.echo(f"{file} proves {bound.check(content)}{of}", err=True)
