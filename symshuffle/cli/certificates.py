"""The command that checks certificate files again; it loads neither the ledger nor any solver or computer algebra."""

from __future__ import annotations

import json as json_text
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer

from symshuffle.base.errors import CertificateError
from symshuffle.ledger.recheck.checker import read, recheck

app = typer.Typer()


@app.command("check-certificate")
def check_certificate(
    files: Annotated[list[str], typer.Argument(metavar="FILE...", help="What verify --certificates wrote.")],
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")] = False,
) -> None:
    """Check certificates again: every exact comparison, and the dual vectors of linear programs.

    Exit code 0 if all of them pass, 1 if one does not; then the place where it fails is named.
    """
    found: list[dict[str, Any]] = []
    rejected = 0
    for file in files:
        try:
            checked = recheck(read(Path(file)))
        except CertificateError as error:
            rejected += 1
            found.append({"file": file, "accepted": False, "place": error.place, "what": error.what})
            line = f"REJECTED  {file}: {error}"
        else:
            found.append({"file": file, "accepted": True, **asdict(checked)})
            line = str(checked)
        if not json:
            typer.echo(line)
    if json:
        typer.echo(json_text.dumps(found, ensure_ascii=False, indent=2))
    else:
        typer.echo(f"{len(files)} certificates: {len(files) - rejected} accepted, {rejected} rejected")
    raise typer.Exit(1 if rejected else 0)
