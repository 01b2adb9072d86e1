"""False pieces of rational formulas in the level."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import sympy as sp

from symshuffle.channels.geometry.groups import trivial_group
from symshuffle.design import smoothed_point_masses
from symshuffle.design.parametric.homotopy import derive
from tests.soundness.false_certificates import false
from tests.soundness.false_designs import ORDERED


@cache
def formula() -> Any:
    """A true one, of two pieces."""
    return derive(ORDERED, trivial_group(3), criterion="minimax")


def _basis(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    def check() -> None:
        first, *rest = formula().bases
        replace(formula(), bases=(replace(first, **changes(first)), *rest)).verify()

    false(f"basis: {name}", f"bases[0].{place}", check)


_basis("weights doubled", "weights", lambda b: {"weights": tuple((c, 2 * w) for c, w in b.weights)})
_basis("no such column", "weights", lambda b: {"weights": ((replace(b.weights[0][0], subset=99), sp.Integer(1)),)})
_basis("a bound that is no function of lambda", "bound", lambda b: {"bound": (sp.Symbol("x"), *b.bound[1:])})
_basis("bound halved", "bound", lambda b: {"bound": tuple(u / 2 for u in b.bound)})
_basis("bound doubled", "bound", lambda b: {"bound": tuple(2 * u for u in b.bound)})
_basis("a multiplier missing", "bound", lambda b: {"bound": (b.bound[0], b.bound[1] + b.bound[2])})
_basis("a multiplier moved", "bound", lambda b: {"bound": (b.bound[0] + 5, b.bound[1] - 5, *b.bound[2:])})
_basis("prior doubled", "prior", lambda b: {"prior": tuple(2 * p for p in b.prior)})
_basis("a prior missing", "prior", lambda b: {"prior": (b.prior[0], b.prior[1] + b.prior[2])})
_basis("a negative prior", "prior", lambda b: {"prior": (sp.Integer(2), sp.Integer(-1), sp.Integer(0))})
_basis("a higher risk", "value", lambda b: {"value": b.value / 2, "bound": tuple(u / 2 for u in b.bound)})


def _formula(name: str, place: str, changes: Callable[[Any], dict[str, Any]]) -> None:
    false(f"formula: {name}", place, lambda: replace(formula(), **changes(formula())).verify())


_formula("far into the next interval", "bases[0].bound", lambda f: _stretched(f.bases, 50))
_formula("into the next interval", "bases[0].bound", lambda f: _stretched(f.bases, sp.Rational(301, 100)))
_formula(
    "the neighbour's formula", "bases[0].bound", lambda f: {"bases": (replace(f.bases[0], value=f.bases[-1].value),)}
)
_formula("before the bases", "bases", lambda f: {"bases": f.bases[1:]})
_formula("a gap", "bases", lambda f: {"bases": (f.bases[0], replace(f.bases[-1], lower=sp.Integer(100)))})
_formula("nothing at large levels", "bases", lambda f: {"bases": f.bases[:1]})
_formula("below the bases of a piece", "bases", lambda f: {"bases": f.pieces[1].bases, "lower": sp.Integer(2)})
_formula("beyond the bases of a piece", "bases", lambda f: {"bases": f.pieces[0].bases, "upper": sp.Integer(50)})


def _stretched(bases: Any, upper: Any) -> dict[str, Any]:
    assert bases[0].upper == 3
    return {"bases": (replace(bases[0], upper=sp.sympify(upper)), *bases[1:])}


@cache
def bayes_formula() -> Any:
    """A true one, for a prior."""
    return derive(smoothed_point_masses(3, 1), trivial_group(3))


def _bayes_value() -> None:
    (basis,) = bayes_formula().bases
    low = replace(basis, value=basis.value / 2, bound=tuple(u / 2 for u in basis.bound))
    replace(bayes_formula(), bases=(low,)).verify()


false("basis: another cost", "bases[0].value", _bayes_value)
