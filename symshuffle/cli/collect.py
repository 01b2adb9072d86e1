"""The commands collect plan, randomize and estimate: from values of users to a private histogram."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import named_fields
from symshuffle.base.artifacts import write_atomically
from symshuffle.base.choices import LOSSES, Loss, members
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, counted, format_decimal, target_decimal, upper_end
from symshuffle.cli import arguments
from symshuffle.cli.deployments import NONE_GIVEN, FieldOptions
from symshuffle.cli.options import (
    PLAIN,
    LossOption,
    Proof,
    Show,
    SurveyEps,
    TargetDelta,
    UsersOption,
    check_proof,
    command,
    write_proof,
)
from symshuffle.cli.progress import progress

if TYPE_CHECKING:
    from symshuffle.collect.plan import SurveyPlan

app = typer.Typer(help="A private survey: plan it, randomize the values of users, estimate their histogram.")

PlanFile = Annotated[Path, typer.Argument(metavar="PLAN", help="File that `collect plan` wrote.")]

_ORDERS: Final = ("sorted", "random")


@command(app, without=named_fields("absent", "survey"))
def plan(
    n: UsersOption,
    eps: SurveyEps,
    delta: TargetDelta,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Plan to write (.toml, or .json); a new file.")],
    k: Annotated[str | None, typer.Option("--k", help="Number of categories; default that of the labels.")] = None,
    mechanism: Annotated[
        str | None, typer.Option("--mechanism", help="Mechanism to run; default the one with the smallest loss.")
    ] = None,
    loss: LossOption = "l2",
    labels: Annotated[
        Path | None, typer.Option("--labels", metavar="FILE", help="Names of the categories, one in each line.")
    ] = None,
    proof: Proof = None,
    show: Show = PLAIN,
    fields: FieldOptions = NONE_GIVEN,
) -> None:
    """Choose a mechanism with rational parameters for a survey, and certify eps at exactly these."""
    from symshuffle.accountants.deployment.model import UNSAID
    from symshuffle.accountants.questions.solve import epsilon
    from symshuffle.collect.files import check_new, read_labels
    from symshuffle.collect.search import plan_survey

    check_new(out, "--out")
    if proof is not None:
        check_proof(proof)
    names = () if labels is None else read_labels(labels)
    if k is None and not names:
        raise InputError("--k", None, "the number of categories, or --labels")
    users, given = check_n(n), fields.given
    if proof is not None and UNSAID.with_(**given).batches > 1:
        raise InputError("--proof", proof, "none with several batches of messages: a proof file is about one")
    with progress() as display:
        task = display.add_task("", total=None)
        found = plan_survey(
            len(names) if k is None else as_integer(k, "--k", 2),
            n=users,
            eps=eps,
            delta=delta,
            mechanism=mechanism,
            loss=loss,
            labels=names,
            progress=lambda done, of, name: display.update(task, completed=done, total=of, description=name),
            **given,
        )
    if proof is not None:  # first: a plan without the proof that was asked for is not written
        asked = found.deployment.with_randomizers(lambda _: found.scheme.mechanism())
        write_proof(proof, epsilon(asked, delta=found.delta))
    write_atomically(out, found.text(out), argument="--out")
    for notice in found.notices:
        typer.echo(f"{out}: {notice}", err=True)
    more = {"compared": list(found.table), "expected": _expected(found), "bound": _bound(found)}
    if show.data(found.to_dict() | more):
        return
    console = Console(highlight=False, soft_wrap=True)
    show.rows(found.lines.rows)
    console.print(_compared(found))
    console.print(_described(found, explain=show.explain))
    console.print(f"written: {out}")


@command(app)
def randomize(
    plan: PlanFile,
    values: Annotated[
        Path, typer.Option("--values", metavar="FILE", help="CSV (with a header) or Parquet, a row per user.")
    ],
    column: Annotated[str, typer.Option("--column", help="Column with the categories.")],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Messages to write (.csv or .parquet); a new file.")
    ],
    identity: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="Column that names users; a repeat is refused.")
    ] = None,
    order: Annotated[str, typer.Option("--order", help="Order of the messages: sorted or random.")] = "sorted",
    counts: Annotated[
        bool, typer.Option("--counts", help="Write the histogram of messages only, which is all that eps covers.")
    ] = False,
    exact_ids: Annotated[
        bool,
        typer.Option(
            "--exact-ids",
            help="Treat identities as different users also if only case, blanks, invisible characters "
            "or the notation of a number differ.",
        ),
    ] = False,
    discard_draft: Annotated[
        bool,
        typer.Option("--discard-draft", help="Remove the draft of a killed run; states that nobody has read it."),
    ] = False,
) -> None:
    """Randomize the value of each user exactly, and write the messages in an order that says nothing."""
    from symshuffle.collect import files
    from symshuffle.collect.messages import arranged, randomized, shuffled
    from symshuffle.collect.scheme import uniform

    if order not in _ORDERS:
        raise InputError("--order", order, "one of " + ", ".join(_ORDERS))
    if exact_ids and identity is None:
        raise InputError("--id", None, "a column of identities, to which --exact-ids applies")
    files.check_new(out, "--out", files.DRAWN_ANEW)
    known = arguments.plan(plan)
    files.check_drafts(out, known, discard=discard_draft)
    users = files.read_values(values, known, column, identity, exact_ids=exact_ids)
    known.check_messages(len(users), max(len(users), known.n), "--values")
    held = known.guarantee()  # refuse a level that is not confirmed before any message is drawn
    draw = uniform()
    packed = randomized(known.scheme, users, draw)
    packed = arranged(packed) if order == "sorted" else shuffled(packed, draw)
    files.write_messages(out, known, packed, order, counts=counts)
    console = Console(highlight=False, soft_wrap=True)
    console.print(
        f"{counted(len(users), 'message')} of {known.name}, {'counted' if counts else order}; plan {known.digest[:16]}"
    )
    console.print(held.sentence)
    if len(users) > known.n:
        console.print(
            f"more than the n = {known.n} users of the plan: `estimate` reads them with --users {len(users)}, "
            "which states that each row is another user"
        )
    console.print(f"written: {out}")


@command(app)
def estimate(
    plan: PlanFile,
    out: Annotated[Path, typer.Option("--out", metavar="FILE", help="Histogram to write (CSV); a new file.")],
    messages: Annotated[
        Path | None, typer.Argument(metavar="[MESSAGES]", help="File that `collect randomize` wrote.")
    ] = None,
    confidence: Annotated[str, typer.Option("--confidence", help="Guaranteed coverage, in (0, 1).")] = "0.95",
    users: Annotated[
        str | None,
        typer.Option("--users", help="Users who sent MESSAGES, one each, if more than the n of the plan."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option("--plot", metavar="FILE", help="Draw the histogram: .png, .svg or .pdf.")
    ] = None,
    simulated: Annotated[
        bool,
        typer.Option("--simulate", help="Simulate all three steps instead of reading MESSAGES, and show the truth."),
    ] = False,
    seed: Annotated[str | None, typer.Option("--seed", help="Seed of the simulation; drawn if absent.")] = None,
    values: Annotated[
        Path | None, typer.Option("--values", metavar="FILE", help="Users to simulate; default shares 1, 1/2, 1/3, ...")
    ] = None,
    column: Annotated[str | None, typer.Option("--column", help="Column of --values with the categories.")] = None,
    show: Show = PLAIN,
) -> None:
    """Estimate the histogram of the users, with exact confidence intervals."""
    import secrets

    from symshuffle.collect.estimate import drawn, read_confidence
    from symshuffle.collect.files import check_new, read_messages, read_values
    from symshuffle.collect.guarantee import LARGEST_USERS
    from symshuffle.collect.plan import simulate
    from symshuffle.design.comparison.table import check_picture

    level = read_confidence(confidence)
    check_new(out, "--out")
    if plot is not None:
        check_new(plot, "--plot")
        check_picture(plot.suffix)
    if simulated is (messages is not None):
        raise InputError("MESSAGES", messages, "a file of messages, or --simulate without one")
    if users is not None and simulated:
        raise InputError("--users", users, "MESSAGES to go with it")
    for option, given in (("--seed", seed), ("--values", values), ("--column", column)):
        if given is not None and not simulated:
            raise InputError(option, given, "--simulate to go with it")
    if (values is None) is not (column is None):
        raise InputError("--column", column, "a column of --values")
    known = arguments.plan(plan)
    if messages is None:
        held = None if values is None or column is None else read_values(values, known, column)
        found = simulate(known, seed=secrets.randbits(64) if seed is None else seed, values=held, confidence=level)
    else:
        sent = None if users is None else as_integer(users, "--users", 1, LARGEST_USERS)
        tally, n = read_messages(messages, known, sent)
        found = known.histogram(tally, n, level, users=sent)
    write_atomically(out, found.to_csv(), argument="--out")
    if plot is not None:
        write_atomically(plot, drawn(found, plot.suffix), argument="--plot")
    if show.data(found.to_dict()):
        return
    console = Console(highlight=False, soft_wrap=True)
    show.rows(found.lines.rows)
    console.print(found.table())
    if show.explain:
        show.rows([("meaning", found.about)])
    console.print(f"written: {', '.join(str(path) for path in (out, plot) if path is not None)}")


def _compared(found: SurveyPlan) -> Table:
    from rich.box import SIMPLE_HEAD

    table = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
    for head in ("mechanism", "ratio", *(loss for loss in members(Loss)), "bits"):
        table.add_column(head, justify="left" if head == "mechanism" else "right")
    for row in found.table:
        named = " ".join((row["mechanism"], *(f"{name}={value}" for name, value in row["parameters"].items())))
        table.add_row(named, row["ratio"], *(row[loss] for loss in members(Loss)), str(row["bits_per_message"]))
    return table


def _expected(found: SurveyPlan) -> dict[str, str]:
    """Expected errors of the estimated shares, rounded up."""
    return {kind: format_decimal(upper_end(found.expected(kind)), digits=7, up=True) for kind in members(Loss)}


def _bound(found: SurveyPlan) -> dict[str, str]:
    """Certified bound on delta at the eps of a plan, and how it is known."""
    from symshuffle.collect.guarantee import rounded_up

    bound = found.bound
    assert bound is not None
    return {
        "delta_at_eps": rounded_up(bound.bracket.upper),
        "arithmetic": bound.bracket.arithmetic,
        "engine": bound.bracket.engine,
        "meaning": bound.about,
    }


def _deviation(variance: Fraction, places: int = 10) -> str:
    """Square root of a variance, rounded up."""
    root = math.isqrt(math.ceil(variance * 100**places) - 1) + 1
    return format_decimal(Fraction(root, 10**places), digits=4, up=True)


def _described(found: SurveyPlan, *, explain: bool) -> Table:
    from symshuffle.collect.guarantee import rounded_up

    made, shown = found.scheme, Table.grid(padding=(0, 2))
    parameters = "".join(f", {name} = {value}" for name, value in found.parameters.items())
    root = "root of the ratio" if found.root != made.ratio else "ratio"
    expected = _expected(found)
    deviations = [_deviation(Fraction(expected[kind]) * found.n**2) for kind in ("max", "absent")]
    bound = _bound(found)
    assert found.certified_eps is not None
    shown.add_row("mechanism", f"{found.name}, k = {found.k}{parameters}, {root} {found.root}")
    if found.rounds > 1:
        shown.add_row("rounds", f"{found.rounds}, which have eps and delta together; the loss is that of one")
    shown.add_row("certified", f"delta <= {bound['delta_at_eps']} at eps = {target_decimal(found.eps, up=True)}")
    shown.add_row("", f"eps <= {rounded_up(found.certified_eps)} at delta = {target_decimal(found.delta, up=True)}")
    shown.add_row("arithmetic", f"{bound['arithmetic']}, engine {bound['engine']}")
    shown.add_row("loss", f"{LOSSES[found.loss]}: {expected[found.loss]} (shares, {counted(found.n, 'user')})")
    shown.add_row("per category", f"standard error at most {deviations[0]} users; {deviations[1]} if nobody holds it")
    shown.add_row("message", counted(made.bits, "bit"))
    if explain:
        shown.add_row("meaning", bound["meaning"])
    shown.add_row("digest", found.digest)
    return shown
