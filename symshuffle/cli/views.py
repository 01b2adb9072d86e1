"""Other questions about privacy: Rényi divergences, Gaussian limits, privacy losses, unequal users, worst datasets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import named_fields
from symshuffle.base.artifacts import check_destination, write_atomically
from symshuffle.base.choices import Arithmetic
from symshuffle.base.executors import workers
from symshuffle.base.levels import read_target
from symshuffle.base.numbers import counted, exact_text, format_decimal
from symshuffle.cli import arguments
from symshuffle.cli.arguments import LAW_BITS
from symshuffle.cli.deployments import NONE_GIVEN, Asked, FieldOptions
from symshuffle.cli.options import (
    PLAIN,
    Eps0,
    FewJobs,
    Header,
    Lam,
    LevelOptions,
    Mech,
    Params,
    QuestionOption,
    Rel,
    Show,
    UsersOption,
    command,
    file_rows,
    known,
    width,
)
from symshuffle.cli.progress import progress

app = typer.Typer()


@command(
    app,
    epilog="The upper end bounds the true divergence of every pair of neighbouring datasets. The lower end is the "
    "other side of the same bound. The value that real datasets are known to reach is reported as attained.",
)
def renyi(
    asked: Asked,
    order: Annotated[str, typer.Option("--order", help="Order, from 1 (relative entropy) to 10,000.")],
    direction: QuestionOption = "both",
    rtol: Rel = 1e-3,
    arithmetic: Annotated[
        Arithmetic, typer.Option("--arithmetic", help="Arithmetic of every value of the profile: float64 or ball.")
    ] = "float64",
    show: Show = PLAIN,
) -> None:
    """Bound the Rényi divergence of shuffled messages, from their profile; divergences of rounds add up."""
    from symshuffle.accountants.renyi import front as view

    subject = asked.subject(order=order)
    found = view.renyi(
        subject.experiment,
        order=order,
        direction=direction,
        arithmetic=arithmetic,
        rtol=rtol,
        bits=LAW_BITS,
        attained=show.full,
    )
    ends = found.bracket.decimals(9)
    rows = [("upper end", ends["upper"]), ("lower end of the bound", ends["lower"])]
    if found.attained_missing:
        rows.append(("attained", f"missing: {found.attained_missing}"))
    if found.attained is not None:
        numbers = found.to_dict()
        rows.append(("attained", f"{numbers['attained_lower']} by {numbers['attained_by']}"))
    show.answer(found, [*rows, *width(found.bracket), *known(found), ("meaning", found.about)], subject.inputs)


@command(app)
def gdp(asked: Asked, direction: QuestionOption = "both", show: Show = PLAIN) -> None:
    """Approximate shuffled messages of many users by a Gaussian mechanism; this is not a guarantee."""
    from symshuffle.accountants.questions.tradeoff_function import limit_of

    subject = asked.subject()
    found = limit_of(subject.experiment, direction)
    rows = [
        ("certified", "no"),
        ("meaning", found.about),
        ("what holds", "symshuffle tradeoff, with the same options, draws both"),
    ]
    show.answer(found, rows, subject.inputs)


@command(app)
def pld(
    mech: Mech,
    n: UsersOption,
    out: Annotated[Path, typer.Option("--out", help="Write the distribution to this JSON file.")],
    eps0: Eps0 = None,
    lam: Lam = None,
    param: Params = None,
    header: Header = None,
    step: Annotated[
        str | None,
        typer.Option(help="Distance of the losses in nats; default 1e-4 times a power of 2 that suits the round."),
    ] = None,
    beyond: Annotated[str, typer.Option(help="Mass that may be put at an infinite loss, in (0, 1).")] = "1e-15",
    rtol: Rel = 1e-4,
    arithmetic: Annotated[Arithmetic, typer.Option(help="Arithmetic of every value: float64 or ball.")] = "float64",
    show: Show = PLAIN,
    fields: FieldOptions = NONE_GIVEN,
) -> None:
    """Write the privacy-loss distribution of one round, on the safe side, for other accountants."""
    from symshuffle.accountants.rounds.privacy_loss_distribution import FORMAT, privacy_loss_distribution

    check_destination(out, argument="--out", beginning=json.dumps({"format": FORMAT}, indent=1).encode())
    one, users = arguments.named_randomizer(mech, eps0, lam, param, header), check_n(n)
    asked = one.quickest(fields.null)
    found = privacy_loss_distribution(
        asked, n=users, step=step, beyond=beyond, arithmetic=arithmetic, rtol=rtol, bits=LAW_BITS, **fields.given
    )
    inputs = arguments.echoed(one, asked, n=users, step=step, beyond=beyond) | fields.values
    answer = found.to_dict() | {"inputs": inputs}
    write_atomically(out, json.dumps(answer, indent=1) + "\n", argument="--out")
    if not show.data(answer):
        told = (
            (name.replace("_", " "), found.about[name]) for name in ("arithmetic", "meaning", "proved", "not_proved")
        )
        rows = [*found.lines.rows, *file_rows(inputs), ("written", str(out))]
        show.rows(rows, [("first loss", str(found.law.first)), *told])


@command(app, name="worst-datasets", without=named_fields("absent", "worst"))
def worst_datasets(
    asked: Asked,
    target: LevelOptions,
    rtol: Rel = 1e-6,
    jobs: FewJobs = "1",
    show: Show = PLAIN,
) -> None:
    """Search for the worst real neighbouring datasets, and say how far below the bound they stay."""
    from symshuffle.accountants.deployment.subjects import smallest_batch
    from symshuffle.accountants.questions import adversary, solve

    order, subject = read_target(**target.given), asked.subject(**target.given)
    users = smallest_batch(subject.deployment, "worst")
    with progress() as display, workers(arguments.jobs(jobs)) as executor:
        task = display.add_task("backgrounds", total=None)
        found = adversary.worst_datasets(
            subject.deployment,
            exp_eps=order,
            rtol=rtol,
            progress=lambda done, of: display.update(task, completed=done, total=of),
            executor=executor,
        )
    answered = solve.delta(subject.experiment, exp_eps=order, rtol=rtol)
    bound, neighbours = answered.bracket, answered.neighbours
    inputs = subject.inputs
    answer = {
        "attained_lower": format_decimal(found.bracket.lower, up=False),
        "attained_by": found.datasets,
        "exact": None if found.bracket.exact is None else exact_text(found.bracket.exact),
        "arithmetic": found.bracket.arithmetic,
        "searched": found.searched,
        "space": found.space,
        "upper": format_decimal(bound.upper, up=True),
        "gap": format_decimal(adversary.gap(found, bound), digits=6, up=True),
        "adjacency": neighbours.adjacency,
        "neighbours": neighbours.to_dict(),
        "meaning": (
            f"attained_lower is a lower bound on {found.divergence} for two datasets of n = "
            f"{counted(users, 'user')}; upper bounds {neighbours.compared}"
        ),
        "inputs": inputs,
    }
    rows = [
        ("attained", f"{answer['attained_lower']} by {found.datasets}"),
        ("searched", f"{found.searched}: {found.space}"),
        ("bound", f"{answer['upper']}; the datasets stay below it by a share of {answer['gap']}"),
        ("meaning", str(answer["meaning"])),
    ]
    if not show.data(answer):
        show.rows([*found.lines.rows, *file_rows(inputs)], rows)
