"""The command check: what a file of ours says, decided again as far as the file itself allows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any, Final, TypeAlias

import typer
from rich.console import Console, RenderableType
from rich.table import Table

from symshuffle.base.choices import Blanket
from symshuffle.base.documents import open_text, read_text
from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import format_decimal, parse_rational
from symshuffle.channels.channel_file import read_channel
from symshuffle.cli import arguments
from symshuffle.cli.options import Header, Json, matrix_words
from symshuffle.configuration.randomizers import matrix_sizes
from symshuffle.ledger.recheck import bound, checker

app = typer.Typer()

_CODES: Final = (
    "Exit code 0: as claimed, proved, accepted or consistent, or nothing was claimed. 1: a level or a blanket is not "
    "as claimed, a proof does not prove its bound, a certificate is rejected, a plan or a privacy loss has a wrong "
    "value. 2: wrong input, as a row that does not sum to 1, or a file of no known kind."
)

_PROOF: Final = "symshuffle bound "
_LOSS: Final = "symshuffle privacy loss "
_TRACE: Final = "symshuffle trace bound "
"""How the formats of proofs, of privacy losses and of bounds on a trace begin."""

_OTHERS: Final = "a proof, a trace bound, a certificate, a plan or a privacy loss"

_SHOWN: Final = 5
"""Places that are written out; --json has all."""


Checked: TypeAlias = tuple[bool, dict[str, Any], RenderableType]
"""What was found in one file: whether it is as it says, JSON, and what is shown."""


@app.command(epilog=_CODES)
def check(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[FILE]...",
            help="Channels, proofs and trace bounds (--proof), certificates (--certificates), plans, exports of pld.",
            show_default=False,
        ),
    ] = None,
    header: Header = None,
    eps0: Annotated[str | None, typer.Option("--eps0", help="Claimed local level in nats.")] = None,
    lam: Annotated[str | None, typer.Option("--lam", help="Claimed ratio cap exp(eps0).")] = None,
    blanket_mass: Annotated[
        str | None, typer.Option("--blanket-mass", help="Claimed weight of the blanket, exactly.")
    ] = None,
    blanket: Annotated[
        str | None, typer.Option("--blanket", help="Claimed least probability of every output, comma-separated.")
    ] = None,
    expect: Annotated[
        Path | None,
        typer.Option("--expect", metavar="FILE", help="Statement, in JSON, that a proof has to prove."),
    ] = None,
    as_json: Json = False,
) -> None:
    """Check a file: a channel, a proof, a trace bound, a certificate, a plan or a privacy loss.

    The kind of a file is recognised by its content. A proof is checked by bound.py, which also runs without symshuffle.
    A trace bound, of design shuffled, is checked in rationals and balls, without any search.
    For a certificate, every exact comparison and every dual vector is checked again. A plan is
    certified again. For a privacy loss, only the agreement of the parts of the file is checked.
    """
    paths = files or []
    if not paths:
        raise InputError("FILE", None, f"a channel (CSV or JSON), {_OTHERS}")
    given = {"eps0": eps0, "lam": lam, "blanket_mass": blanket_mass, "blanket": blanket}
    claimed = {name: value for name, value in given.items() if value is not None}
    kinds = [kind_of(path) for path in paths]
    needed = dict.fromkeys(claimed, "channel")
    needed |= ({} if expect is None else {"expect": "proof"}) | ({} if header is None else {"header": "channel"})
    for name, kind in needed.items():
        if kind not in kinds:
            value = {"expect": expect, "header": header, **claimed}[name]
            raise InputError(f"--{name.replace('_', '-')}", value, f"a {kind} among the files to go with it")
    read = [_check(path, kind, expect, header, claimed) for path, kind in zip(paths, kinds, strict=True)]
    rejected = sum(not accepted for accepted, _, _ in read)
    if as_json:
        answers = [{"file": str(path), **answer} for path, (_, answer, _) in zip(paths, read, strict=True)]
        typer.echo(json.dumps(answers if len(paths) > 1 else answers[0], ensure_ascii=False, indent=2))
        raise typer.Exit(1 if rejected else 0)
    console = Console(highlight=False)
    for path, kind, (_, _, shown) in zip(paths, kinds, read, strict=True):
        if kind == "channel" and len(paths) > 1:
            console.print(str(path), soft_wrap=True)
        console.print(shown, soft_wrap=kind != "channel", markup=False)
    if len(paths) > 1:
        typer.echo(f"{len(paths)} files: {len(paths) - rejected} as they say, {rejected} not")
    raise typer.Exit(1 if rejected else 0)


def kind_of(path: Path) -> str:
    """Kind of a file: ``proof``, ``trace bound``, ``certificate``, ``plan``, ``privacy loss`` or ``channel``."""
    if path.suffix.lower() != ".json":
        try:
            with open_text(path) as stream:
                start = stream.read().lstrip()[:1]
        except (OSError, UnicodeDecodeError):
            return "channel"  # whose reader says what is wrong
        if start != "{":
            return "plan" if path.suffix.lower() == ".toml" else "channel"
    content = checker.read(path)
    form = str(content.get("format")) if isinstance(content, dict) else ""
    if form.startswith(_PROOF):
        return "proof"
    if not isinstance(content, dict) or "rows" in content:
        return "channel"
    if form.startswith(_LOSS):
        return "privacy loss"
    if form.startswith(_TRACE):
        return "trace bound"
    if str(content.get("kind")).startswith("symshuffle") or {"certificate", "estimator"} & content.keys():
        return "plan"
    if "claim" in content:
        return "certificate"
    raise InputError("FILE", path, f"a channel (a list of rows), {_OTHERS}")


def _check(path: Path, kind: str, expect: Path | None, header: bool | None, claimed: dict[str, Any]) -> Checked:
    match kind:
        case "channel":
            return _check_channel(path, header, **claimed)
        case "proof":
            return _check_proof(path, expect)
        case "trace bound":
            return _check_trace(path)
        case "certificate":
            return _check_certificate(path)
        case "plan":
            return _check_plan(path)
        case _:
            return _check_loss(path)


def _check_proof(path: Path, expect: Path | None) -> Checked:
    content = checker.read(path)
    expected = [] if expect is None else [checker.read(expect, argument="--expect")]
    answer = {"proved": True, "statement": content.get("statement"), "failed": None}
    try:
        return (True, answer, f"PROVED: {bound.check(content, *expected)}")
    except bound.CertificateError as error:
        failed = [str(part) for part in error.args]
        return (False, {**answer, "proved": False, "failed": failed}, f"NOT PROVED: {': '.join(failed)}")


def _check_trace(path: Path) -> Checked:
    from symshuffle.design.shuffled.minorant import TraceBound

    try:
        found = TraceBound.from_dict(checker.read(path))
        found.verify()
    except CertificateError as error:
        answer = {"proved": False, "place": error.place, "what": error.what}
        return (False, answer, f"NOT PROVED: {path}: {error}")
    return (True, {"proved": True, "statement": found.about}, f"PROVED: {found.about}")


def _check_certificate(path: Path) -> Checked:
    try:
        checked = checker.recheck(checker.read(path))
    except CertificateError as error:
        return (False, {"accepted": False, "place": error.place, "what": error.what}, f"REJECTED: {path}: {error}")
    graded = f", {checked['grade']}" if checked["grade"] else ""
    programs = f", {checked['programs']} linear programs" if checked["programs"] else ""
    said = f"{checked['verdict']}{graded}; {checked['comparisons']} comparisons decided again{programs}"
    return (True, {"accepted": True, **checked}, f"ACCEPTED: {checked['claim']}: {said}")


def _check_plan(path: Path) -> Checked:
    from symshuffle.collect.plan_file import LARGEST_PLAN, placed

    name, text = str(path), read_text(path, "FILE", LARGEST_PLAN)[1]
    try:
        plan = arguments.plan(path)
        held = plan.guarantee()
    except InputError as error:
        return _inconsistent(placed(error, name, text) if error.argument.startswith("plan: ") else error, name)
    known = "certified again" if held.bound is not None else "not certified"
    said = f"the digest is that of the content; the level is {known}; chosen, not checked: labels, loss"
    return (
        True,
        {"consistent": True, "plan": {"mechanism": plan.name, "k": plan.k, **held.to_dict()}, "checked": said},
        f"CONSISTENT: plan {plan.digest[:16]}, {plan.name} with k = {plan.k}: {held.sentence}; {said}",
    )


def _inconsistent(error: InputError, name: str) -> Checked:
    """The finding that a value of a file is wrong; a file that is none of its kind is refused."""
    place = error.argument.removeprefix(name)
    if not error.argument.startswith(name):
        raise error
    answer = {"consistent": False, "place": place.lstrip(":, "), "value": error.value, "expected": error.expected}
    return (False, answer, f"NOT CONSISTENT: {error}")


def _check_loss(path: Path) -> Checked:
    from symshuffle.accountants.rounds.privacy_loss_distribution import PrivacyLossDistribution

    try:
        loss = PrivacyLossDistribution.read(path)
    except InputError as error:
        return _inconsistent(error, str(path))
    said = "its profile is that of its masses; that they dominate the round is not computed again"
    return (
        True,
        {"consistent": True, "about": loss.about, "checked": said},
        f"CONSISTENT: privacy loss of one round, {len(loss.law.masses)} masses; {said}",
    )


def _check_channel(
    path: Path,
    header: bool | None,
    *,
    eps0: str | None = None,
    lam: str | None = None,
    blanket_mass: str | None = None,
    blanket: Blanket | None = None,
) -> Checked:
    """A channel in a file beside what is claimed of it: its local level and its blanket."""
    from symshuffle.decompositions.stated import check_blanket, check_level

    claimed = read_budget(eps0=eps0, lam=lam)
    mass = None if blanket_mass is None else parse_rational(blanket_mass, "--blanket-mass")
    masses = None if blanket is None else [parse_rational(part, "--blanket") for part in blanket.split(",")]
    channel = read_channel(path, header=header)
    level = check_level(channel, claimed)
    common = check_blanket(channel, mass=mass, masses=masses)
    verdicts = [verdict for verdict in (level.as_claimed, common.as_claimed) if verdict is not None]
    answer = {
        **matrix_sizes(channel),
        **({} if channel.rounding is None else {"matrix": str(channel.rounding)}),
        "as_claimed": all(verdicts) if verdicts else None,
        "level": level.to_dict(),
        "blanket": common.to_dict(),
    }
    table = Table.grid(padding=(0, 2))
    own = level.eps0
    shown = "infinite: not LDP for any budget" if own is None else format_decimal(own.upper, digits=9, up=True)
    table.add_row("eps0 <=", shown)
    table.add_row("file", f"{path}: {matrix_words(answer)}")
    table.add_row("largest ratio", str(level.largest))
    if level.every_matrix is not None:
        least, most = level.every_matrix
        low = format_decimal(least, digits=9, up=False)
        ends = f"{low} or more" if most is None else f"from {low} to {format_decimal(most, digits=9, up=True)}"
        table.add_row("matrix", str(channel.rounding))
        table.add_row("largest ratio, any such", ends)
    if level.claimed is not None:
        table.add_row("claimed level", f"exp(eps0) <= {level.claimed}: {'yes' if level.as_claimed else 'NO'}")
        for place in level.above[:_SHOWN]:
            table.add_row("", str(place))
        if len(level.above) > _SHOWN:
            table.add_row("", f"and at {len(level.above) - _SHOWN} more outputs")
    table.add_row("blanket mass", f"{common.mass} ({format_decimal(common.mass, digits=9, up=False)})")
    if common.as_claimed is not None:
        harm = "no more than there is: bounds made with it hold" if common.safe else "more than there is: UNSAFE"
        table.add_row("claimed blanket", "yes" if common.as_claimed else f"NO, {harm}")
        for y in common.differs[:_SHOWN]:
            table.add_row("", f"output {y}: {common.masses[y]}, not {(common.claimed_masses or ())[y]}")
        if len(common.differs) > _SHOWN:
            table.add_row("", f"and {len(common.differs) - _SHOWN} more outputs")
    return (all(verdicts), answer, table)
