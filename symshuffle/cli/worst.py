"""The command worst-background: which neighbouring datasets come closest to a bound."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated

import typer

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.executors import workers
from symshuffle.base.numbers import counted, exact_text, format_decimal
from symshuffle.cli import arguments
from symshuffle.cli.arguments import Eps0, Explain, FewJobs, File, Json, Lam, Mech, Params, Rel, UsersOption
from symshuffle.cli.progress import progress
from symshuffle.cli.shown import print_rows

if TYPE_CHECKING:
    from symshuffle.accountants.questions.adversary import WorstCase
    from symshuffle.base.numbers import Real
    from symshuffle.channels.channel import Channel
    from symshuffle.decompositions.composition import Composed
    from symshuffle.mechanisms.continuous import Laplace
    from symshuffle.mechanisms.model import Mechanism

app = typer.Typer()


@app.command("worst-background")
def worst_background(
    mech: Mech,
    n: UsersOption,
    eps0: Eps0 = None,
    lam: Lam = None,
    eps: Annotated[str | None, typer.Option("--eps", help="Target eps >= 0 in nats.")] = None,
    exp_eps: Annotated[str | None, typer.Option("--exp-eps", help="Target ratio exp(eps) >= 1.")] = None,
    param: Params = None,
    file: File = None,
    rel: Rel = 1e-6,
    jobs: FewJobs = "1",
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Search for the worst real neighbouring datasets, and say how far below the bound they stay."""
    from symshuffle.accountants.covering.reduced import Reducible
    from symshuffle.accountants.covering.reduction import reduction
    from symshuffle.accountants.questions import adversary, solve
    from symshuffle.base.levels import read_target

    target = read_target(eps=eps, exp_eps=exp_eps)
    asked = arguments.source_or_channel(mech, eps0, lam, param, file)
    if isinstance(asked, Reducible):
        raise InputError("mechanism", mech, "a mechanism of finitely many inputs, or laplace")
    users = arguments.users(n)
    found = _searched(asked, users, target, rel, arguments.jobs(jobs))
    reduced = reduction(asked)
    answered = solve.delta(reduced, n=users, exp_eps=target, rel=rel)
    bound, neighbours = answered.bracket, answered.neighbours
    missing = adversary.gap(found, bound)
    answer = {
        "attained_lower": format_decimal(found.bracket.lower, up=False),
        "attained_by": found.datasets,
        "exact": None if found.bracket.exact is None else exact_text(found.bracket.exact),
        "rigour": found.bracket.rigour.value,
        "searched": found.searched,
        "space": found.space,
        "upper": format_decimal(bound.upper, up=True),
        "gap": format_decimal(missing, digits=6, up=True),
        "adjacency": neighbours.adjacency.value,
        "neighbours": neighbours.to_dict(),
        "meaning": (
            f"attained_lower is a lower bound on {found.divergence} for two datasets of n = "
            f"{counted(users, 'user')}; upper bounds {neighbours.compared}"
        ),
        "inputs": arguments.echoed(asked, eps0, lam, file=file, n=users, eps=eps, exp_eps=exp_eps),
    }
    if as_json:
        typer.echo(json.dumps(answer, indent=2))
        return
    rows = [
        ("attained", f"{answer['attained_lower']} by {found.datasets}"),
        ("searched", f"{found.searched}: {found.space}"),
        ("bound", f"{answer['upper']}; the datasets stay below it by a share of {answer['gap']}"),
        ("meaning", str(answer["meaning"])),
    ]
    print_rows([*found.lines.rows, *(rows if explain else ())])


def _searched(
    asked: Mechanism | Laplace | Composed | Channel, users: int, target: Real, rel: float, jobs: int
) -> WorstCase:
    """The widest search that is within reach: all datasets, two types of the others, or one."""
    from symshuffle.accountants.covering.reduction import reduction
    from symshuffle.accountants.questions import adversary
    from symshuffle.mechanisms.model import Mechanism

    try:
        channel = _matrix(asked, users)
        if channel is not None:
            with progress() as display, workers(jobs) as executor:
                task = display.add_task("backgrounds", total=None)
                return adversary.worst_background(
                    channel,
                    users,
                    target,
                    rel=rel,
                    pairs=asked.input_pairs() if isinstance(asked, Mechanism) and not asked.every_pair else None,
                    progress=lambda done, of: display.update(task, completed=done, total=of),
                    executor=executor,
                )
    except Unsupported:
        if not reduction(asked).datasets:
            raise
    return adversary.worst_constant(reduction(asked), users, target, rel=rel)


def _matrix(asked: Mechanism | Laplace | Composed | Channel, users: int) -> Channel | None:
    """The explicit channel, or None for a continuum of outputs or in the limit of many."""
    from symshuffle.accountants.questions.adversary import count_families
    from symshuffle.channels.channel import Channel
    from symshuffle.decompositions.composition import Composed
    from symshuffle.mechanisms.model import Mechanism

    match asked:
        case Channel():
            return asked
        case Composed():
            return asked.composition.channel(asked.lam)
        case Mechanism() if not any(parameter.has_limit for parameter in asked.parameters):
            count_families(int(asked.inputs), asked.num_outputs, users)  # refuses before a huge matrix is built
            return asked.channel()
    return None
