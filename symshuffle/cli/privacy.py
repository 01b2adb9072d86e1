"""Commands about one mechanism: delta, epsilon, decompose, mechanisms, example."""

from __future__ import annotations

import json
from collections.abc import Mapping
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.errors import InputError
from symshuffle.numbers import parse_rational

if TYPE_CHECKING:
    from symshuffle.accountants.confirm import Confirmation
    from symshuffle.accountants.reduction import Reduction
    from symshuffle.accountants.solve import Amplification, Engine
    from symshuffle.mechanisms.model import Mechanism
    from symshuffle.numbers import Real
    from symshuffle.results import Rigour

app = typer.Typer()

CONFIRMED_DIGITS: Final = 50
_LAW_BITS: Final = 256


class EngineName(StrEnum):
    """Names of the engines on the command line."""

    AUTO = "auto"
    EXACT = "exact"
    FFT = "fft"
    CONTOUR = "contour"


class DirectionName(StrEnum):
    """Names of the directions on the command line."""

    FORWARD = "forward"
    REVERSE = "reverse"
    BOTH = "both"


class RigourName(StrEnum):
    """Names of the levels of rigour on the command line."""

    FLOAT64 = "float64"
    BALL = "ball"
    EXACT = "exact"


Mech = Annotated[str, typer.Argument(metavar="MECH", help="Name of a mechanism (see `symshuffle mechanisms`).")]
Eps0 = Annotated[str | None, typer.Option("--eps0", help="Local budget eps0 > 0 in nats.")]
Lam = Annotated[str | None, typer.Option("--lam", help="Local ratio cap exp(eps0) > 1; rationals stay exact.")]
Users = Annotated[str, typer.Option("--n", help="Number of users, the differing one included.")]
Params = Annotated[list[str] | None, typer.Option("-p", "--param", help="Parameter of the mechanism, as k=10.")]
Direction = Annotated[
    DirectionName,
    typer.Option(help="forward is D(M(X0)||M(X1)), X0 holding the first named input; both takes the larger."),
]
EngineOption = Annotated[EngineName, typer.Option("--engine", help="Engine; auto picks the cheapest that will do.")]
Rel = Annotated[float, typer.Option(help="Relative width of the bracket to aim at, in (0, 1).")]
RigourOption = Annotated[
    RigourName | None, typer.Option("--rigour", help="What the result must be; default float64, or the engine's own.")
]
Confirm = Annotated[bool, typer.Option("--confirm", help="Recompute at 50 digits in mpmath by another route.")]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]

_BOUND_HELP: Final = (
    "The upper end bounds the true shuffled divergence of every pair of neighbouring datasets. The lower end is only "
    "the other side of that decomposition bound; what real datasets are known to reach is reported as attained."
)


@app.command(epilog=_BOUND_HELP)
def delta(
    mech: Mech,
    n: Users,
    eps0: Eps0 = None,
    lam: Lam = None,
    eps: Annotated[str | None, typer.Option("--eps", help="Target eps >= 0 in nats.")] = None,
    exp_eps: Annotated[str | None, typer.Option("--exp-eps", help="Target ratio exp(eps) >= 1.")] = None,
    param: Params = None,
    direction: Direction = DirectionName.BOTH,
    engine: EngineOption = EngineName.AUTO,
    rel: Rel = 1e-6,
    rigour: RigourOption = None,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Bound delta of a shuffled mechanism at a target eps."""
    from symshuffle.accountants import solve
    from symshuffle.accountants.reduction import reduction
    from symshuffle.mechanisms.parameters import read_target

    target = read_target(eps=eps, exp_eps=exp_eps)
    mechanism = _mechanism(mech, eps0, lam, param)
    users = _users(n)
    chosen, level = _engine(engine, rel, rigour)
    reduced = reduction(mechanism)
    bound = solve.delta(
        reduced,
        n=users,
        exp_eps=target,
        direction=direction.value,
        engine=chosen,
        rigour=level,
        rel=rel,
        bits=_LAW_BITS,
        attain=True,
    )
    confirmed = _confirmed(reduced, bound, target) if confirm else None
    inputs = _inputs(mechanism, eps0, lam, n=users, eps=eps, exp_eps=exp_eps)
    _show("delta", bound, confirmed, inputs, as_json)


@app.command(epilog=_BOUND_HELP)
def epsilon(
    mech: Mech,
    n: Users,
    delta: Annotated[str, typer.Option("--delta", help="Target delta in (0, 1).")],
    eps0: Eps0 = None,
    lam: Lam = None,
    param: Params = None,
    direction: Direction = DirectionName.BOTH,
    engine: EngineOption = EngineName.AUTO,
    rel: Rel = 1e-6,
    rigour: RigourOption = None,
    confirm: Confirm = False,
    as_json: Json = False,
) -> None:
    """Smallest eps for which a shuffled mechanism is (eps, delta)-private, on the safe side."""
    from symshuffle.accountants import solve
    from symshuffle.accountants.reduction import reduction
    from symshuffle.numbers import Exp

    target = parse_rational(delta, "delta")
    mechanism = _mechanism(mech, eps0, lam, param)
    users = _users(n)
    chosen, level = _engine(engine, rel, rigour)
    reduced = reduction(mechanism)
    bound = solve.epsilon(
        reduced,
        n=users,
        delta=target,
        direction=direction.value,
        engine=chosen,
        rigour=level,
        rel=rel,
        bits=_LAW_BITS,
        attain=True,
    )
    at = Exp(bound.bracket.upper) if bound.bracket.upper else Fraction(1)
    confirmed = _confirmed(reduced, bound, at) if confirm else None
    inputs = _inputs(mechanism, eps0, lam, n=users, delta=delta)
    _show("epsilon", bound, confirmed, inputs, as_json)


@app.command()
def decompose(
    mech: Mech,
    eps0: Eps0 = None,
    lam: Lam = None,
    param: Params = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print LaTeX only.")] = False,
    as_json: Json = False,
) -> None:
    """Derive the optimal decomposition of a mechanism and its law of G, in the parameters left open."""
    from symshuffle.decompositions.symbolic import optimal_decomposition

    mechanism = _mechanism(mech, eps0, lam, param, complete=False)
    decomposition = optimal_decomposition(mechanism, limits=False)
    if latex:
        typer.echo(decomposition.latex())
        return
    cells = [{"a": str(c.a), "b": str(c.b), "c": str(c.c)} for c in decomposition.cells]
    law = [{"value": str(v), "probability": str(w)} for v, w in decomposition.gparv()]
    if as_json:
        answer = {
            "mechanism": mechanism.name,
            "cells": cells,
            "beta": str(decomposition.beta),
            "gamma": str(decomposition.gamma),
            "gparv": law,
            "singular": str(decomposition.singular()),
            "pair": mechanism.pair,
            "inputs": dict(_plain(mechanism)),
        }
        typer.echo(json.dumps(answer, indent=2))
        return
    console = Console()
    table = Table(title=f"{mechanism.title}: simplified optimal decomposition", title_justify="left")
    for column in ("component", "a (first input)", "b (second input)", "c (blanket)"):
        table.add_column(column)
    for j, cell in enumerate(cells, start=1):
        table.add_row(f"Q{j}", cell["a"], cell["b"], cell["c"])
    table.add_row("left-over", "0", "0", str(decomposition.beta))
    console.print(table)
    console.print(_law_table(law))
    if decomposition.singular() != 0:
        console.print(f"singular mass: {decomposition.singular()}")
    console.print(f"gamma = {decomposition.gamma}; pair: {mechanism.pair}", highlight=False)


@app.command()
def mechanisms(as_json: Json = False) -> None:
    """List the mechanisms, their parameters and where they are defined."""
    from symshuffle.mechanisms.registry import MECHANISMS

    rows = [
        {
            "name": name,
            "title": definition.title,
            "parameters": {p.name: f"{p.meaning}; {p.range}" for p in definition.parameters},
            "source": definition.source,
        }
        for name, definition in ((name, make()) for name, make in MECHANISMS.items())
    ]
    if as_json:
        typer.echo(json.dumps(rows, indent=2))
        return
    table = Table("name", "title", "parameters", "source")
    for row in rows:
        parameters: Mapping[str, str] = row["parameters"]  # type: ignore[assignment]
        table.add_row(
            str(row["name"]),
            str(row["title"]),
            "\n".join(f"{name}: {meaning}" for name, meaning in parameters.items()),
            str(row["source"]),
        )
    Console().print(table)


@app.command()
def example() -> None:
    """Work one example: k-ary randomized response, from its definition to a confirmed bracket."""
    from symshuffle.accountants import solve
    from symshuffle.accountants.reduction import reduction
    from symshuffle.mechanisms.registry import mechanism as named
    from symshuffle.numbers import Exp

    console = Console(highlight=False)
    decompose("krr")
    users, eps = 10_000, Fraction(1, 50)
    at = named("krr").at(k=10, eps0=1)
    reduced = reduction(at)
    bound = solve.delta(reduced, n=users, exp_eps=Exp(eps), bits=_LAW_BITS, attain=True)
    console.print(f"\nk = 10, eps0 = 1, n = {users}, eps = {float(eps)}:")
    console.print(f"  delta in {bound.bracket}")
    console.print(f"  {bound.bracket.how}")
    if bound.attained is not None:
        console.print(f"  attained: {float(bound.attained.lower):.9g} by {bound.attained.datasets}")
    with console.status("recomputing at 50 digits"):
        confirmed = _confirmed(reduced, bound, Exp(eps))
    console.print(f"  confirmed: {confirmed.value}\n  by {confirmed.route}")
    verdict = "inside" if bound.bracket.contains(confirmed.exactly) else "OUTSIDE"
    console.print(f"  the confirmed value lies {verdict} the bracket")


def _law_table(law: list[dict[str, str]]) -> Table:
    table = Table(title="law of G, with x = exp(eps)", title_justify="left")
    table.add_column("value")
    table.add_column("probability")
    for atom in law:
        table.add_row(atom["value"], atom["probability"])
    return table


def _mechanism(
    name: str, eps0: str | None, lam: str | None, param: list[str] | None, *, complete: bool = True
) -> Mechanism:
    """The mechanism with the parameters of the command line; complete unless open parameters are allowed."""
    from symshuffle.mechanisms.registry import mechanism

    values: dict[str, str] = {}
    for item in param or ():
        key, equals, value = item.partition("=")
        if not equals or not key or key in values or key in ("lam", "eps0"):
            raise InputError("-p", item, "NAME=VALUE, each name once, as k=10 (lam and eps0 have options of their own)")
        values[key] = value
    definition = mechanism(name)
    needs_budget = any(parameter.name == "lam" for parameter in definition.parameters)
    if not needs_budget and (eps0 is not None or lam is not None):
        raise InputError("--eps0" if lam is None else "--lam", eps0 or lam, f"no budget: {name} has none")
    fixed = definition.at(eps0=eps0, lam=lam, **values)
    if complete:
        fixed = fixed.with_defaults()
        for parameter in fixed.parameters:
            if parameter.has_limit:
                continue
            option = "--eps0 or --lam" if parameter.name == "lam" else f"-p {parameter.name}="
            raise InputError(parameter.name, None, f"{parameter.range}, given by {option}")
    return fixed


def _users(text: str) -> int:
    from symshuffle.accountants.solve import LARGEST_N, check_n

    try:
        number = parse_rational(text, "n")
        return check_n(int(number) if number.denominator == 1 else number)  # type: ignore[arg-type]  # refused there
    except InputError:  # in the user's own words
        raise InputError("n", text, f"an integer from 1 to {LARGEST_N}") from None


def _engine(name: EngineName, rel: float, rigour: RigourName | None) -> tuple[Engine | None, Rigour | None]:
    from symshuffle.accountants.ball import BallContour
    from symshuffle.accountants.contour import Contour
    from symshuffle.accountants.exact import Exact
    from symshuffle.accountants.fft import FFT
    from symshuffle.results import Rigour

    if not 0 < rel < 1:
        raise InputError("rel", rel, "a relative width in (0, 1)")
    engines: dict[EngineName, Engine | None] = {
        EngineName.AUTO: None,
        EngineName.EXACT: Exact(bits=_LAW_BITS),
        EngineName.FFT: FFT(),
        EngineName.CONTOUR: BallContour(rel=rel) if rigour is RigourName.BALL else Contour(rel=rel),
    }
    if rigour is None:
        return engines[name], None if name is EngineName.EXACT else Rigour.FLOAT64
    return engines[name], Rigour(rigour.value)


def _confirmed(reduced: Reduction, bound: Amplification, target: Real) -> Confirmation:
    """The largest of the laws behind a bound, recomputed in mpmath."""
    from symshuffle.accountants.confirm import confirm
    from symshuffle.accountants.reduction import laws

    found = [
        confirm(law, bound.n, digits=CONFIRMED_DIGITS)
        for family in reduced.bounds
        for law in laws(family, target, bound.direction, _LAW_BITS)
    ]
    return max(found, key=lambda confirmation: confirmation.exactly)


def _plain(mechanism: Mechanism) -> list[tuple[str, str]]:
    return [(name, str(value)) for name, value in mechanism.values]


def _inputs(mechanism: Mechanism, eps0: str | None, lam: str | None, **asked: Any) -> dict[str, Any]:
    """All parameters exactly as they were understood."""
    given: dict[str, Any] = {"mechanism": mechanism.name}
    given.update((name, value) for name, value in _plain(mechanism) if name != "lam")
    given.update((parameter.name, "limit") for parameter in mechanism.parameters)
    if eps0 is not None:
        given["eps0"] = str(parse_rational(eps0, "eps0"))
    if lam is not None:
        given["lam"] = str(parse_rational(lam, "lam"))
    for name, value in asked.items():
        if value is not None:
            given[name] = value if isinstance(value, int) else str(parse_rational(value, name))
    return given


def _show(
    what: str, bound: Amplification, confirmed: Confirmation | None, inputs: dict[str, Any], as_json: bool
) -> None:
    from symshuffle.accountants.solve import ADJACENCY
    from symshuffle.numbers import format_decimal

    exact = bound.bracket.exact
    attained = bound.attained
    lower = None if attained is None else format_decimal(attained.lower, up=False)
    if as_json:
        answer = {
            **bound.bracket.decimals(),
            "exact": None if exact is None else str(exact),
            "rigour": bound.bracket.rigour.value,
            "engine": bound.bracket.engine,
            "how": bound.bracket.how,
            "direction": bound.direction,
            "adjacency": ADJACENCY,
            "meaning": bound.meaning,
            "attained_lower": lower,
            "attained_by": None if attained is None else attained.datasets,
            "confirmed": None
            if confirmed is None
            else {"value": confirmed.value, "digits": confirmed.digits, "route": confirmed.route},
            "inputs": inputs,
        }
        typer.echo(json.dumps(answer, indent=2))
        return
    table = Table.grid(padding=(0, 2))
    ends = bound.bracket.decimals(12)
    table.add_row(f"{what} <=", ends["upper"] if exact is None else f"{exact} = {ends['upper']}")
    table.add_row("lower end of the bound", ends["lower"])
    if attained is not None:
        table.add_row("attained", f"{lower} by {attained.datasets}")
    if confirmed is not None:
        table.add_row("confirmed", f"{confirmed.value}\nby {confirmed.route}")
    table.add_row("rigour", f"{bound.bracket.rigour.value}, engine {bound.bracket.engine}: {bound.bracket.how}")
    table.add_row("adjacency", ADJACENCY)
    table.add_row("meaning", bound.meaning)
    Console(highlight=False).print(table)
