"""Mechanisms of vectors on the command line: parameters read and echoed, both orders and blankets, confirmation."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from symshuffle.base.choices import Blanket, Direction, members
from symshuffle.base.errors import Unsupported, optional
from symshuffle.base.numbers import Exp, as_integer, format_decimal, parse_rational
from symshuffle.configuration.randomizers import PARAMETERS, description

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symshuffle.accountants.bounds.answers import Answer
    from symshuffle.base.choices import Arithmetic
    from symshuffle.base.numbers import Real
    from symshuffle.engines.confirm import Confirmation

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


def dimension(text: str) -> int:
    """A dimension, checked."""
    from symshuffle.vectors.randomizers.mechanisms import LARGEST_DIMENSION

    return as_integer(text, "d", 1, LARGEST_DIMENSION)


def is_vector(found: object) -> bool:
    """Whether a source is a mechanism of vectors."""
    from symshuffle.accountants.deployment.any_ldp import AnyLdp
    from symshuffle.accountants.deployment.reduced import Reducible

    return isinstance(found, Reducible) and not isinstance(found, AnyLdp)


def beside(
    asked: Any, bound: Answer, target: Real, level: Arithmetic | None, rtol: float, blanket: Blanket | None
) -> dict[str, Any]:
    """Of a mechanism of vectors: both orders of the pair, and the same for each blanket, or why there is none.

    - ``asked``: what every user runs; of any that is no mechanism of vectors there is nothing to say, nor where
      users drop out, so that each order costs as much as the answer, nor of groups, whose chain takes both.
    """
    covered = bound.neighbours
    if not is_vector(asked) or covered.group.sending < 1 or covered.steps > 1:
        return {}
    from symshuffle.accountants.deployment.reduction import reduction
    from symshuffle.accountants.questions.solve import delta
    from symshuffle.vectors.privacy.accounting import usual_blanket

    def order(direction: Direction, kind: Blanket) -> dict[str, str]:
        found = delta(
            asked,
            n=bound.n,
            exp_eps=target,
            direction=direction,
            arithmetic=level,
            rtol=rtol,
            adjacency=bound.neighbours.adjacency,
            blanket=kind,
            **covered.group.to_dict(),
        )
        return found.bracket.decimals()

    found: dict[str, Any] = {}
    known: dict[str, dict[str, dict[str, str]]] = {}
    chosen = blanket or usual_blanket(asked)
    for kind in members(Blanket):
        if bound.bracket.aimed is not None and kind != chosen:
            found[kind] = {"refused": f"left out, as the width is out of reach; ask for --blanket {kind}"}
            continue

        def both_orders(kind: Blanket = kind) -> dict[str, dict[str, str]]:
            pair = reduction(asked, adjacency=bound.neighbours.adjacency, blanket=kind).pairs
            if pair not in known:  # of messages on the sphere, both blankets are the uniform one
                known[pair] = {way: order(way, kind) for way in members(Direction)}
            return known[pair]

        orders, missing = optional(both_orders)
        found[kind] = {"refused": missing} if orders is None else orders
    return {"parameters": description(asked), "blanket": chosen, "orders": found[chosen], "blankets": found}


def table_rows(found: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The orders by blanket as rows of a table."""
    told = ", ".join(f"{name} = {value}" for name, value in found.get("parameters", {}).items())
    shown = [("parameters", told)] if told else []
    if "orders_missing" in found:
        shown.append(("orders", f"missing: {found['orders_missing']}"))
    for blanket, orders in found.get("blankets", {}).items():
        text = "; ".join(
            value if name == "refused" else f"{name} <= {_shortened(value['upper'])}" for name, value in orders.items()
        )
        shown.append((f"blanket {blanket}", text))
    return shown


def _shortened(upper: str) -> str:
    """An upper end in nine digits, rounded up: no double stands between, whose range may end before."""
    return format_decimal(parse_rational(upper, "upper"), digits=9, up=True)


def confirmed(asked: Any, bound: Answer, target: Real, blanket: Blanket | None) -> Confirmation:
    """The larger order by quadrature that shares nothing with the engines."""
    from symshuffle.engines.confirm import Confirmation
    from symshuffle.vectors.privacy.confirmation import confirm_pair

    if bound.direction != "both" or not isinstance(target, Exp | Fraction):
        raise Unsupported("--confirm of a mechanism of vectors takes both directions and a rational eps or exp(eps)")
    adjacency = bound.neighbours.adjacency
    value, digits = confirm_pair(asked, n=bound.n, exp_eps=target, adjacency=adjacency, blanket=blanket)
    error = format_decimal(abs(Fraction(value)) / 10**digits, digits=3, up=True)
    return Confirmation(value, digits, error, "mpmath: Gauss's rule in the coordinate, a line to the left of 0, twice")
