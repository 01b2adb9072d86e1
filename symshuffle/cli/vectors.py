"""Vectors on the command line: mechanisms by their parameters, the answer with both orders and blankets, calibrate."""

from __future__ import annotations

import json
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.choices import Blanket, Direction
from symshuffle.cli import arguments
from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import format_decimal, parse_rational, ungrouped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symshuffle.accountants.confirm import Confirmation
    from symshuffle.accountants.solve import Amplification
    from symshuffle.numbers import Real
    from symshuffle.results import Rigour
    from symshuffle.vectors.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear

app = typer.Typer()

PARAMETERS: Final[dict[str, dict[str, str]]] = {
    "bmg": {
        "gamma": "probability of noise around 0; a number in (0, 1)",
        "sigma0": "standard deviation of the noise; a number > 0",
        "norm": "largest length of an input; a number in (0, 1] (default 1)",
        "d": "dimension; an integer >= 1 (default 1)",
    },
    "privunit": {
        "p": "probability of the cap; a number in (0, 1), or derived from eps0",
        "theta": "height of the cap; a number in (-1, 1)",
        "d": "dimension; an integer >= 2",
    },
    "sphere-linear": {
        "c": "slope of the density; a number in (0, 1), or derived from eps0",
        "d": "dimension; an integer >= 1 (default 1)",
    },
    "clipped-linear": {
        "clip": "height below which the density is constant; a number in (-1, 1)",
        "chi": "lower index, which determines the slope; a number > 0",
        "d": "dimension; an integer >= 2",
    },
    "gaussian": {
        "sigma0": "standard deviation of the noise; a number > 0",
        "d": "dimension; an integer >= 1 (default 1)",
    },
}
"""Mechanisms of vectors of the unit ball with their parameters."""

_TITLES: Final = {
    "bmg": ("blanket-mixed Gaussian", "vecmean, Algorithm 1"),
    "privunit": ("PrivUnit, cap of the sphere", "vecmean, Definition A.5"),
    "sphere-linear": ("linear density on the sphere", "vecmean, Appendix B"),
    "clipped-linear": ("linear density on the sphere, clipped from below", "beyond vecmean"),
    "gaussian": ("Gaussian noise on every message", "vecmean, Section 4.3"),
}


def rows() -> list[dict[str, Any]]:
    """The mechanisms as `symshuffle mechanisms` lists them."""
    return [
        {"name": name, "title": _TITLES[name][0], "parameters": parameters, "source": _TITLES[name][1]}
        for name, parameters in PARAMETERS.items()
    ]


def mechanism(
    name: str, eps0: str | None, lam: str | None, param: list[str] | None
) -> BlanketMixedGaussian | LocalGaussian | PrivUnit | SphereLinear | ClippedLinear:
    """A mechanism of vectors with the parameters of the command line.

    Raises
    ------
    InputError
        If a parameter is unknown, missing, out of range or given twice, or a budget is given where there is none.
    """
    from symshuffle.mechanisms.parameters import read_budget
    from symshuffle.vectors.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit, SphereLinear
    from symshuffle.vectors.sphere import privunit_at, sphere_linear_at

    known, values = PARAMETERS[name], arguments.assignments(param)
    for key in values.keys() - known.keys():
        raise InputError(key, values[key], f"a parameter of {name}: {', '.join(known)}")
    derived = {"privunit": "p", "sphere-linear": "c"}.get(name)
    if derived is None and (eps0 is not None or lam is not None):
        raise InputError("--eps0" if lam is None else "--lam", eps0 or lam, f"no budget: {name} has none")
    budget = read_budget(eps0=eps0, lam=lam)
    if budget is not None and derived in values:
        raise InputError(str(derived), values[str(derived)], "no value where --eps0 or --lam is given: it follows")
    optional = (
        {"norm"}
        | ({"d"} if name not in ("privunit", "clipped-linear") else set())
        | ({derived} if budget is not None else set())
    )
    for key in known:
        if key not in values and key not in optional:
            raise InputError(key, None, f"{known[key].split('; ')[1]}, given by -p {key}=")
    d = _dimension(values.get("d", "1"))
    read = {key: parse_rational(value, key) for key, value in values.items() if key != "d"}
    match name:
        case "bmg":
            return BlanketMixedGaussian(read["gamma"], read["sigma0"], read.get("norm", Fraction(1)), d)
        case "gaussian":
            return LocalGaussian(read["sigma0"], d)
        case "clipped-linear":
            return ClippedLinear(read["clip"], d, read["chi"])
        case "privunit":
            if budget is not None:
                return privunit_at(budget, read["theta"], d)
            return PrivUnit(read["p"], read["theta"], d)
        case _:
            return SphereLinear(read["c"], d) if budget is None else sphere_linear_at(budget, d)


def _dimension(text: str) -> int:
    number = parse_rational(ungrouped(text), "d")
    if number.denominator != 1 or number < 1:
        raise InputError("d", text, "an integer of at least 1")
    return int(number)


def echoed(found: Any) -> dict[str, Any]:
    """The parameters as they were understood, and the local budget where there is one."""
    from symshuffle.vectors.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit
    from symshuffle.vectors.sphere import epsilon0

    given: dict[str, Any] = {}
    for field in type(found).__dataclass_fields__:
        value = getattr(found, field)
        given["d" if field == "dimension" else field] = value if isinstance(value, int) else str(value)
    match found:
        case BlanketMixedGaussian():
            return {"mechanism": "bmg", **given}
        case LocalGaussian():
            return {"mechanism": "gaussian", **given}
        case ClippedLinear():
            return {"mechanism": "clipped-linear", **given}
    level = epsilon0(found)
    name = "privunit" if isinstance(found, PrivUnit) else "sphere-linear"
    return {"mechanism": name, **given, "eps0": format_decimal(level.upper, digits=12, up=True)}


def is_vector(found: object) -> bool:
    """Whether a source is a mechanism of vectors."""
    from symshuffle.accountants.covered import Reducible

    return isinstance(found, Reducible)


def beside(
    asked: Any, bound: Amplification, target: Real, level: Rigour | None, rel: float, blanket: str | None
) -> dict[str, Any]:
    """Of a mechanism of vectors: both orders of the pair, and the same for each blanket, or why there is none.

    Parameters
    ----------
    asked : mechanism
        What every user runs; of any that is no mechanism of vectors there is nothing to say.
    bound : Amplification
        The answer, for its adjacency and its number of users.
    target : Real
        The level.
    level, rel, blanket
        As asked for.
    """
    if not is_vector(asked):
        return {}
    from symshuffle.accountants.solve import delta
    from symshuffle.vectors.reduction import usual_blanket

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
        )
        return found.bracket.decimals()

    found: dict[str, Any] = {}
    chosen = blanket or usual_blanket(asked).value
    for kind in Blanket:
        if bound.bracket.aimed is not None and kind.value != chosen:
            found[kind.value] = {"refused": f"left out, as the width is out of reach; ask for --blanket {kind}"}
            continue
        try:
            found[kind.value] = {way.value: order(way, kind) for way in Direction}
        except Unsupported as reason:
            found[kind.value] = {"refused": str(reason)}
    return {"parameters": echoed(asked), "blanket": chosen, "orders": found[chosen], "blankets": found}


@app.command()
def calibrate(
    mech: arguments.Mech,
    n: arguments.Users,
    delta: Annotated[str, typer.Option("--delta", help="Target delta in (0, 1).")],
    d: Annotated[str, typer.Option("--d", help="Dimension of the vectors.")],
    eps: Annotated[str | None, typer.Option("--eps", help="Target eps >= 0 in nats.")] = None,
    exp_eps: Annotated[str | None, typer.Option("--exp-eps", help="Target ratio exp(eps) >= 1.")] = None,
    adjacency: Annotated[str, typer.Option("--adjacency", help="replace-one or zero-out.")] = "replace-one",
    blanket: Annotated[str | None, typer.Option("--blanket", help="mechanism or largest.")] = None,
    as_json: arguments.Json = False,
) -> None:
    """Parameters of smallest exact worst-case error that make n shuffled messages (eps, delta)-private."""
    from symshuffle.vectors.calibration import calibrate as calibrated

    found = calibrated(
        mech,
        n=arguments.users(n),
        dimension=_dimension(d),
        delta=delta,
        eps=eps,
        exp_eps=exp_eps,
        adjacency=adjacency,
        blanket=blanket,
    )
    if as_json:
        asked = {"n": arguments.users(n), "d": _dimension(d), "delta": delta, "eps": eps, "exp_eps": exp_eps}
        inputs = {"mechanism": mech, "adjacency": adjacency, "blanket": blanket, **asked}
        typer.echo(json.dumps({**found.to_dict(), "inputs": inputs}, indent=2))
        return
    shown = Table.grid(padding=(0, 2))
    for name, value in found.to_dict()["parameters"].items():
        shown.add_row(name, str(value))
    shown.add_row("rmse", f"{found.rmse:.9g}")
    shown.add_row("gaussian_rmse", f"{found.gaussian_rmse:.9g}, of a trusted curator's Gaussian noise")
    shown.add_row("delta <=", found.certificate.bracket.decimals(12)["upper"])
    shown.add_row("about", found.about)
    Console(highlight=False).print(shown)


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
    """The larger order by quadrature that shares nothing with the engines.

    Raises
    ------
    Unsupported
        If there is no independent road for this mechanism or so few users.
    """
    from symshuffle.accountants.confirm import Confirmation
    from symshuffle.numbers import Exp
    from symshuffle.vectors.confirmation import confirm_pair

    if bound.direction != "both" or not isinstance(target, Exp | Fraction):
        raise Unsupported("--confirm of a mechanism of vectors takes both directions and a rational eps or exp(eps)")
    adjacency = bound.neighbours.adjacency.value
    value, digits = confirm_pair(asked, n=bound.n, exp_eps=target, adjacency=adjacency, blanket=blanket)
    error = format_decimal(abs(Fraction(value)) / 10**digits, digits=3, up=True)
    return Confirmation(value, digits, error, "mpmath: Gauss's rule in the coordinate, a line to the left of 0, twice")


__all__ = ["PARAMETERS", "app", "beside", "confirmed", "echoed", "is_vector", "mechanism", "rows", "table_rows"]
