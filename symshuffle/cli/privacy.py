"""Commands about one mechanism: delta, epsilon, decompose, mechanisms, example."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.choices import DIRECTIONS, Blanket
from symshuffle.base.errors import InputError, Unsupported, optional
from symshuffle.base.levels import read_target
from symshuffle.base.numbers import Exp, format_decimal, natural_log, parse_rational
from symshuffle.cli import arguments, vectors
from symshuffle.cli.arguments import LAW_BITS, Confirm, EngineOption
from symshuffle.cli.deployments import Asked, DescribedDeployment, RelOrUsual
from symshuffle.cli.options import (
    PLAIN,
    Header,
    Json,
    LevelOptions,
    NamedEps0,
    NamedLam,
    NamedMech,
    OptionalDelta,
    Params,
    Proof,
    QuestionOption,
    RigourOption,
    Show,
    check_proof,
    command,
    file_rows,
    known,
    width,
    write_proof,
)
from symshuffle.configuration.randomizers import matrix_sizes

if TYPE_CHECKING:
    from symshuffle.accountants.bounds.answers import Answer
    from symshuffle.accountants.deployment.reduced import Reduction
    from symshuffle.accountants.deployment.reduction import Source
    from symshuffle.base.choices import Route
    from symshuffle.base.numbers import Real
    from symshuffle.engines.confirm import Confirmation

app = typer.Typer()

_BOUND_HELP: Final = (
    "The upper end bounds the true shuffled divergence of every pair of neighbouring datasets. The lower end is only "
    "the other side of the same decomposition bound. The value that real datasets are known to reach is reported as "
    "attained."
)


@command(app, epilog=_BOUND_HELP)
def delta(
    asked: Asked,
    target: LevelOptions,
    direction: QuestionOption = "both",
    engine: EngineOption = "auto",
    rtol: RelOrUsual = None,
    arithmetic: RigourOption = None,
    confirm: Confirm = False,
    proof: Proof = None,
    show: Show = PLAIN,
) -> None:
    """Bound delta of a shuffled mechanism at a target eps."""
    from symshuffle.accountants.questions import solve

    if proof is not None:
        check_proof(proof)
    given = target.given if any(target.given.values()) else {"eps": None, "exp_eps": None} | asked.target_level
    subject, order = asked.subject(**given), read_target(**given)
    if proof is not None:
        from symshuffle.accountants.questions.proof import check_provable

        check_provable(subject.deployment, order, direction)
    wide = solve.USUAL_WIDTH if rtol is None else rtol
    chosen, level = arguments.engine_and_rigour(engine, wide, arithmetic)
    with asked.placed():
        bound = solve.delta(
            subject.deployment,
            exp_eps=order,
            direction=direction,
            engine=chosen,
            arithmetic=level,
            rtol=rtol,
            bits=LAW_BITS,
            attained=show.full,
        )
    if proof is not None:
        write_proof(proof, bound)
    blanket = asked.fields.blanket
    confirmed = _optional_confirmation(asked, subject, bound, order) if confirm else (None, "")
    inside = confirmed[0] and confirmed[0].inside(bound.bracket)
    one = not bound.rounds
    orders: tuple[dict[str, Any] | None, str] = ({}, "")
    if one and show.full:
        orders = optional(lambda: vectors.beside(subject.source, bound, order, level, wide, blanket))
    beside = orders[0] if orders[0] is not None else {"orders_missing": orders[1]}
    _show(bound, confirmed, inside, subject, show, beside)


@command(app, epilog=_BOUND_HELP)
def epsilon(
    asked: Asked,
    delta: OptionalDelta = None,
    direction: QuestionOption = "both",
    engine: EngineOption = "auto",
    rtol: RelOrUsual = None,
    arithmetic: RigourOption = None,
    confirm: Confirm = False,
    proof: Proof = None,
    show: Show = PLAIN,
) -> None:
    """Smallest eps for which a shuffled mechanism is (eps, delta)-private, on the safe side."""
    from symshuffle.accountants.questions import solve

    if proof is not None:
        check_proof(proof)
    delta = asked.target.get("delta") if delta is None else delta
    if delta is None:
        raise InputError("--delta", None, "a target delta in (0, 1)")
    subject = asked.subject(delta=delta)
    if proof is not None:
        from symshuffle.accountants.questions.proof import check_provable

        check_provable(subject.deployment, way=direction)
    chosen, level = arguments.engine_and_rigour(engine, solve.USUAL_WIDTH if rtol is None else rtol, arithmetic)
    with asked.placed():
        bound = solve.epsilon(
            subject.deployment,
            delta=delta,
            direction=direction,
            engine=chosen,
            arithmetic=level,
            rtol=rtol,
            bits=LAW_BITS,
            attained=show.full,
        )
    if proof is not None:
        write_proof(proof, bound)
    confirmed: tuple[Confirmation | None, str] = (None, "")
    inside: bool | None = None
    if confirm:
        top = bound.bracket.upper
        confirmed = _optional_confirmation(asked, subject, bound, Exp(top) if top else Fraction(1))
        # The confirmed number is delta at the upper end of eps, which is safe if it meets the target.
        target = parse_rational(delta, "delta")
        inside = confirmed[0] and confirmed[0].exactly <= target + Fraction(confirmed[0].error)
    _show(bound, confirmed, inside, subject, show, {})


_DECOMPOSED: Final = (
    (
        "components",
        "A message of the first input has the law a, one of the second input the law b: both are mixtures of the "
        "components Q1, Q2, ... with these weights. The blanket c is the common part of all inputs. The "
        "left-over is the part of the other users' messages that depends on their inputs; the bound reveals it.",
    ),
    (
        "law of G",
        "The bound on delta at eps is E[(G1 + ... + Gn)+]/n for n independent draws of G, the likelihood ratio a/c "
        "minus exp(eps) times b/c at a component that is drawn from the blanket; 0 at the left-over.",
    ),
)
"""What the tables of a decomposition mean."""


@command(app)
def decompose(
    mech: NamedMech,
    eps0: NamedEps0 = None,
    lam: NamedLam = None,
    param: Params = None,
    header: Header = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX only.")] = False,
    show: Show = PLAIN,
) -> None:
    """Derive the optimal decomposition of a mechanism and its law of G, in the parameters left open.

    Of a matrix, the pair compared is inputs 0 and 1, or those named by -p first= and -p second=.
    """
    from symshuffle.decompositions.shown import shown_at, shown_decomposition

    one, read = arguments.named_randomizer(mech, eps0, lam, param, header), dict[str, Any]()
    if one.file is not None:
        channel = replace(one, parameters={}).source()
        found, read = shown_decomposition(arguments.explicit(channel, one.parameters)), matrix_sizes(channel)
    else:
        at = one.values()
        # Forms in powers with an open exponent, where all is open, are written as SymPy factors them.
        plain = at is not None and (at.arguments or not any(p.limit or p.default for p in at.left))
        found = shown_at(at) if at is not None and plain else shown_decomposition(one.mechanism())
    if latex and not show.as_json:
        typer.echo(found.latex)
        return
    if show.data(found.to_dict() | ({"channel": {"file": str(one.file), **read}} if read else {})):
        return
    show.rows([*((head, line) for head, line in found.lines), *file_rows({"file": one.file, **read})], _DECOMPOSED)
    console = Console()
    table = Table(title=f"{found.title}: simplified optimal decomposition", title_justify="left")
    for column in ("component", "a (first input)", "b (second input)", "c (blanket)"):
        table.add_column(column)
    for j, cell in enumerate(found.cells, start=1):
        table.add_row(f"Q{j}", *cell)
    table.add_row("left-over", "0", "0", found.beta)
    console.print(table)
    values = Table("value", "probability", title="law of G, with x = exp(eps)", title_justify="left")
    for atom in found.law:
        values.add_row(*atom)
    console.print(values)
    if found.singular != "0":
        console.print(f"singular mass: {found.singular}")


@app.command()
def mechanisms(as_json: Json = False) -> None:
    """List the mechanisms, their parameters and where they are defined."""
    from symshuffle.decompositions.closed_forms import ClosedForm
    from symshuffle.decompositions.closed_forms import table as on_file
    from symshuffle.mechanisms.continuous import LARGEST_CELLS

    cap = "local ratio cap exp(eps0); a number > 1"
    noise = {
        "lam": cap,
        "domain": "binary or unit (default binary)",
        "cells": f"pieces of the continuous part; an integer in [1, {LARGEST_CELLS}] (default 200)",
    }
    found = []
    for name, row in ((name, form["row"]) for name, form in on_file().items() if not form["thinned"]):
        own = {one.name: f"{one.meaning}; {one.range({})}" for one in ClosedForm(name, (), None).parameters}
        found.append((name, row["title"], own, row["source"]))
    found.append(("laplace", "Laplace noise", noise, "decomposition, Appendix B"))
    found.append(("any-ldp", "any randomizer of a local budget", {"lam": cap}, "claim symshuffle.generic-bound"))
    columns = ("name", "title", "parameters", "source")
    rows: list[dict[str, Any]] = [dict(zip(columns, row, strict=True)) for row in found] + vectors.rows()
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table(*columns)
    for row in rows:
        parameters = "\n".join(f"{name}: {meaning}" for name, meaning in row["parameters"].items())
        table.add_row(row["name"], row["title"], parameters, row["source"])
    Console().print(table)


@app.command()
def example() -> None:
    """Work one example: k-ary randomized response, from its definition to a confirmed bracket."""
    from symshuffle.accountants.deployment.reduction import reduction
    from symshuffle.accountants.questions import solve
    from symshuffle.base.numbers import Exp
    from symshuffle.decompositions.closed_forms import closed_form

    console = Console(highlight=False)
    decompose("krr")
    users, eps = 10_000, Fraction(1, 50)
    at = closed_form("krr", {"k": "10"}, eps0=1)
    assert at is not None
    reduced = reduction(at)
    bound = solve.delta(reduced, n=users, exp_eps=Exp(eps), bits=LAW_BITS, attained=True)
    console.print(f"\nk = 10, eps0 = 1, n = {users}, eps = {float(eps)}:")
    console.print(f"  delta in {bound.bracket}")
    console.print(f"  {bound.bracket.evaluation}")
    if bound.attained is not None:
        least = format_decimal(bound.attained.lower, digits=9, up=False)
        console.print(f"  attained: {least} by {bound.attained.datasets}")
    with console.status("recomputing at 50 digits"):
        confirmed = _confirmed(at, reduced, bound, Exp(eps), route="sums")
    console.print(f"  confirmed: {confirmed.value}\n  by {confirmed.route}")
    verdict = "inside" if confirmed.inside(bound.bracket) else "OUTSIDE"
    console.print(f"  the confirmed value lies {verdict} the bracket")


def _optional_confirmation(
    asked: Asked, subject: DescribedDeployment, bound: Answer, target: Real
) -> tuple[Confirmation | None, str]:
    """A second opinion, or None and the reason why there is none: it never refuses the answer."""

    def confirmation() -> Confirmation:
        asked.check_confirmable(subject)
        reduced = subject.experiment.parts[0]
        return _confirmed(subject.source, reduced, bound, target, blanket=asked.fields.blanket)

    return optional(confirmation)


def _confirmed(
    asked: Source,
    reduced: Reduction,
    bound: Answer,
    target: Real,
    *,
    route: Route = "auto",
    blanket: Blanket | None = None,
    digits: int = 50,
) -> Confirmation:
    """The largest of the laws behind a bound, of its adjacency and directions; Laplace noise from its densities."""
    from symshuffle.engines.confirm import recompute, recompute_laplace
    from symshuffle.mechanisms.continuous import Laplace

    if isinstance(asked, Laplace) and asked.lam is not None:
        near, ways = reduced.adjacency, DIRECTIONS[bound.direction]
        asymmetric = near == "zero-out"  # with replace-one, both directions have one value
        return _largest(
            recompute_laplace(asked.lam, target, bound.n, adjacency=near, direction=way)
            for way in (ways if asymmetric else ways[:1])
        )
    if vectors.is_vector(asked):
        return vectors.confirmed(asked, bound, target, blanket)
    if reduced.inner:
        raise Unsupported(
            "--confirm does not support a composition that contains laplace: its law is known between two finite laws; "
            "laplace by itself is supported"
        )
    return _largest(
        recompute(law, bound.n, digits=digits, route=route) for law in reduced.laws(target, bound.direction, LAW_BITS)
    )


def _largest(found: Iterable[Confirmation]) -> Confirmation:
    return max(found, key=lambda confirmation: confirmation.exactly)


def _show(
    bound: Answer,
    confirmation: tuple[Confirmation | None, str],
    inside: bool | None,
    subject: DescribedDeployment,
    show: Show,
    beside: Mapping[str, Any],
) -> None:
    """Print an answer, and leave with an error where the second opinion contradicts it: one of the two is wrong.

    - ``beside``: what is known of both orders and blankets, where that was looked at.
    """
    told, asked, more = None, list[tuple[str, str]](), dict[str, Any]()
    confirmed, missing = confirmation
    if missing:
        asked.append(("confirmed", f"missing: {missing}"))
    if confirmed is not None:
        told = {name: getattr(confirmed, name) for name in ("value", "digits", "error", "route")}
        told["inside"] = inside
        place = {"delta": "the bracket", "epsilon": "the target delta, at the upper end of eps"}[bound.quantity]
        verdict = f"{'inside' if inside else 'OUTSIDE'} {place}; error about {confirmed.error}"
        asked.append(("confirmed", f"{confirmed.value}\n{verdict}\nby {confirmed.route}"))
    explanation = list[tuple[str, str]]()
    if show.as_json:
        more = {**beside, "confirmed": told, "confirmed_missing": missing or None, **subject.described}
    elif show.explain:
        effects = subject.deployment.effects(enumerated=bound.neighbours.enumerated)
        explanation = [*_explained(bound, beside), *effects]
    inputs = subject.inputs if show.as_json or subject.matrices else {}
    show.answer(bound, explanation, inputs, asked=asked, beside=more)
    if inside is False:
        raise typer.Exit(1)


def _explained(bound: Answer, beside: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Everything that an answer says beside its first lines."""
    exact, attained, wide = bound.bracket.exact, bound.attained, bound.bracket.relative_width
    # As many digits as it takes to tell the ends apart.
    ends = bound.bracket.decimals(max(12, 3 - math.floor(natural_log(wide) / math.log(10))) if wide else 12)
    rows = [
        (f"{bound.quantity} <=", ends["upper"] if exact is None else f"{exact} = {ends['upper']}"),
        ("lower end of the bound", ends["lower"]),
    ]
    if bound.neighbours.rounding is not None:
        every = bound.every_matrix
        shown = "nothing can be said" if every is None else format_decimal(every, digits=12, up=True)
        rows.append(("any matrix so rounded <=", shown))
    if bound.attained_missing:
        rows.append(("attained", f"missing: {bound.attained_missing}"))
    if attained is not None:
        numbers = bound.to_dict()
        rows.append(("attained", f"{numbers['attained_lower']} by {numbers['attained_by']}"))
        rows.append(("gap", f"{numbers['gap']}, the share of the bound that these datasets do not reach"))
    rows += [*width(bound.bracket), *vectors.table_rows(beside), *known(bound)]
    for name, value in bound.simpler:
        rows.append((f"{name} composition", format_decimal(value, digits=9, up=True)))
    if bound.simpler_missing:
        rows.append(("simpler composition", f"missing: {bound.simpler_missing}"))
    return [*rows, ("meaning", bound.about)]
