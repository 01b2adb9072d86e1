"""Vectors on the command line: the answer with both orders and blankets, calibrate."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any

import typer

from symshuffle.base.choices import Blanket, Direction
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import format_decimal
from symshuffle.cli import arguments, vector_mechanisms
from symshuffle.cli.shown import print_rows

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symshuffle.accountants.bounds.amplification import Amplification
    from symshuffle.base.choices import Rigour
    from symshuffle.base.numbers import Real
    from symshuffle.engines.confirm import Confirmation

app = typer.Typer()


def is_vector(found: object) -> bool:
    """Whether a source is a mechanism of vectors."""
    from symshuffle.accountants.covering.any_ldp import AnyLdp
    from symshuffle.accountants.covering.reduced import Reducible

    return isinstance(found, Reducible) and not isinstance(found, AnyLdp)


def beside(
    asked: Any, bound: Amplification, target: Real, level: Rigour | None, rel: float, blanket: str | None
) -> dict[str, Any]:
    """Of a mechanism of vectors: both orders of the pair, and the same for each blanket, or why there is none.

    - ``asked``: what every user runs; of any that is no mechanism of vectors there is nothing to say, nor with
      dropout, where each order costs as much as the answer, nor of groups, whose chain takes both.
    """
    who = bound.neighbours.participation
    if not is_vector(asked) or who.dropout or who.group > 1:
        return {}
    from symshuffle.accountants.covering.reduction import reduction
    from symshuffle.accountants.questions.solve import delta
    from symshuffle.vectors.privacy.reduction import usual_blanket

    def order(direction: Direction, kind: Blanket) -> dict[str, str]:
        found = delta(
            asked,
            n=bound.n,
            exp_eps=target,
            direction=direction,
            rigour=level,
            rel=rel,
            adjacency=bound.neighbours.adjacency,
            blanket=kind,
            min_users=who.min_users,
        )
        return found.bracket.decimals()

    found: dict[str, Any] = {}
    known: dict[str, dict[str, dict[str, str]]] = {}
    chosen = blanket or usual_blanket(asked).value
    for kind in Blanket:
        if bound.bracket.aimed is not None and kind.value != chosen:
            found[kind.value] = {"refused": f"left out, as the width is out of reach; ask for --blanket {kind}"}
            continue
        try:
            pair = reduction(asked, adjacency=bound.neighbours.adjacency, blanket=kind).pairs
            if pair not in known:  # of messages on the sphere, both blankets are the uniform one
                known[pair] = {way.value: order(way, kind) for way in Direction}
            found[kind.value] = known[pair]
        except Unsupported as reason:
            found[kind.value] = {"refused": str(reason)}
    echoed = vector_mechanisms.echoed(asked)
    return {"parameters": echoed, "blanket": chosen, "orders": found[chosen], "blankets": found}


@app.command()
def calibrate(
    mech: arguments.Mech,
    n: arguments.UsersOption,
    delta: Annotated[str, typer.Option("--delta", help="Target delta in (0, 1).")],
    d: Annotated[str, typer.Option("--d", help="Dimension of the vectors.")],
    eps: Annotated[str | None, typer.Option("--eps", help="Target eps >= 0 in nats.")] = None,
    exp_eps: Annotated[str | None, typer.Option("--exp-eps", help="Target ratio exp(eps) >= 1.")] = None,
    adjacency: Annotated[str, typer.Option("--adjacency", help="replace-one or zero-out.")] = "replace-one",
    blanket: Annotated[str | None, typer.Option("--blanket", help="mechanism or largest.")] = None,
    gap: Annotated[
        str,
        typer.Option("--gap", help="How far below the rmse a certified floor may lie, in (0, 1); none leaves it out."),
    ] = "0.01",
    param: Annotated[
        list[str] | None, typer.Option("-p", "--param", help="gamma, theta or clip, fixed instead of searched: clip=0.")
    ] = None,
    explain: arguments.Explain = False,
    as_json: arguments.Json = False,
) -> None:
    """Parameters of smallest exact worst-case error that make n shuffled messages (eps, delta)-private."""
    from symshuffle.vectors.calibration.search import calibrate as calibrated

    found = calibrated(
        mech,
        n=arguments.users(n),
        dimension=vector_mechanisms.dimension(d),
        delta=delta,
        eps=eps,
        exp_eps=exp_eps,
        adjacency=adjacency,
        blanket=blanket,
        gap=None if gap == "none" else gap,
        fixed=arguments.assignments(param),
    )
    if as_json:
        asked: dict[str, Any] = {
            "n": arguments.users(n),
            "d": vector_mechanisms.dimension(d),
            "delta": delta,
            "eps": eps,
            "exp_eps": exp_eps,
        }
        if param:
            asked["fixed"] = arguments.assignments(param)
        inputs = {"mechanism": mech, "adjacency": adjacency, "blanket": blanket, **asked}
        typer.echo(json.dumps({**found.to_dict(), "inputs": inputs}, indent=2))
        return
    rows = [(name, str(value)) for name, value in found.to_dict()["parameters"].items()]
    if explain:
        rows.append(("rmse", f"{found.rmse:.9g}"))
        if found.floor is not None:
            told = f"{float(found.floor.rmse):.9g}, excluded below at {len(found.floor.points)} points"
            rows.append(("no rmse below", told))
        rows.append(("gaussian_rmse", f"{found.gaussian_rmse:.9g}, of a trusted curator's Gaussian noise"))
        rows.append(("delta <=", found.certificate.bracket.decimals(12)["upper"]))
        rows.append(("about", found.about))
    print_rows([*found.lines.rows, *rows])


def table_rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The orders by blanket as rows of a table."""
    told = ", ".join(f"{name} = {value}" for name, value in found.get("parameters", {}).items())
    shown = [("parameters", told)] if told else []
    for blanket, orders in found.get("blankets", {}).items():
        text = "; ".join(
            value if name == "refused" else f"{name} <= {float(value['upper']):.9g}" for name, value in orders.items()
        )
        shown.append((f"blanket {blanket}", text))
    return shown


def confirmed(asked: Any, bound: Amplification, target: Real, blanket: str | None) -> Confirmation:
    """The larger order by quadrature that shares nothing with the engines."""
    from symshuffle.base.numbers import Exp
    from symshuffle.engines.confirm import Confirmation
    from symshuffle.vectors.privacy.confirmation import confirm_pair

    if bound.direction != "both" or not isinstance(target, Exp | Fraction):
        raise Unsupported("--confirm of a mechanism of vectors takes both directions and a rational eps or exp(eps)")
    adjacency = bound.neighbours.adjacency.value
    value, digits = confirm_pair(asked, n=bound.n, exp_eps=target, adjacency=adjacency, blanket=blanket)
    error = format_decimal(abs(Fraction(value)) / 10**digits, digits=3, up=True)
    return Confirmation(value, digits, error, "mpmath: Gauss's rule in the coordinate, a line to the left of 0, twice")


__all__ = ["app", "beside", "confirmed", "is_vector", "table_rows"]
