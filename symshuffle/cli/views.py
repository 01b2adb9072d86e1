"""Privacy in other terms than (eps, delta): renyi, gdp."""

from __future__ import annotations

from typing import Annotated

import typer

from symshuffle.base.choices import Question, Rigour
from symshuffle.cli.arguments import LAW_BITS, Explain, Json, QuestionOption
from symshuffle.cli.rounds import Asked, with_asked
from symshuffle.cli.shown import known, print_answer, width

app = typer.Typer()


@app.command(
    epilog="The upper end bounds the true divergence of every pair of neighbouring datasets. The lower end is the "
    "other side of the same bound. The value that real datasets are known to reach is reported as attained."
)
@with_asked()
def renyi(
    asked: Asked,
    alpha: Annotated[str, typer.Option("--alpha", help="Order, from 1 (relative entropy) to 10,000.")],
    direction: QuestionOption = Question.BOTH,
    rel: Annotated[float, typer.Option(help="Relative width of the bracket to aim at, in (0, 1).")] = 1e-3,
    rigour: Annotated[
        Rigour, typer.Option("--rigour", help="What every value of the profile must be: float64 or ball.")
    ] = Rigour.FLOAT64,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Bound the Rényi divergence of shuffled messages, from their profile; divergences of rounds add up."""
    from symshuffle.accountants.renyi import front as view

    subject = asked.subject(alpha=alpha)
    found = view.renyi(
        subject.reduced,
        n=subject.users,
        alpha=alpha,
        direction=direction,
        rigour=rigour,
        rel=rel,
        bits=LAW_BITS,
        attain=True,
    )
    ends = found.bracket.decimals(9)
    rows = [("upper end", ends["upper"]), ("lower end of the bound", ends["lower"])]
    if found.attained is not None:
        numbers = found.to_dict()
        rows.append(("attained", f"{numbers['attained_lower']} by {numbers['attained_by']}"))
    rows += [*width(found.bracket), *known(found), ("meaning", found.about)]
    print_answer(found, rows, explain=explain, inputs=subject.inputs, as_json=as_json)


@app.command()
@with_asked()
def gdp(
    asked: Asked,
    direction: QuestionOption = Question.BOTH,
    explain: Explain = False,
    as_json: Json = False,
) -> None:
    """Approximate shuffled messages of many users by a Gaussian mechanism; this is not a guarantee."""
    from symshuffle.accountants.questions.gaussian_limit import limit_of

    subject = asked.subject()
    found = limit_of(subject.reduced, subject.users, direction)
    rows = [
        ("certified", "no"),
        ("meaning", found.about),
        ("what holds", "symshuffle curve --kind f-dp, with the same options, draws both"),
    ]
    print_answer(found, rows, explain=explain, inputs=subject.inputs, as_json=as_json)
