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


def _basis(name: str, place: str, changes: Callable[[Any], dict[str, Any]], which: int = 0) -> None:
    def check() -> None:
        found = formula()
        basis = found.pieces[which].bases[0]
        bases = (replace(basis, **changes(basis)), *found.pieces[which].bases[1:])
        piece = replace(found.pieces[which], bases=bases)
        pieces = (*found.pieces[:which], piece, *found.pieces[which + 1 :])
        replace(found, pieces=pieces).verify()

    false(f"basis: {name}", f"pieces[{which}].bases[0].{place}", check)


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


def _pieces(name: str, place: str, changes: Callable[[Any], tuple[Any, ...]]) -> None:
    false(f"formula: {name}", place, lambda: replace(formula(), pieces=changes(formula().pieces)).verify())


_pieces("far into the next interval", "pieces[0].bases[0].bound", lambda p: (_stretched(p[0], 50), p[1]))
_pieces("into the next interval", "pieces[0].bases[0].bound", lambda p: (_stretched(p[0], sp.Rational(301, 100)), p[1]))
_pieces("the neighbour's formula", "pieces[0].bases", lambda p: (replace(p[0], value=p[1].value), p[1]))
_pieces("beyond the bases", "pieces[0].bases", lambda p: (replace(p[0], upper=sp.Integer(50)), p[1]))
_pieces("before the bases", "pieces[1].bases", lambda p: (p[0], replace(p[1], lower=sp.Integer(1))))
_pieces("a gap", "pieces", lambda p: (p[0], replace(p[1], lower=sp.Integer(100))))
_pieces("nothing at large levels", "pieces", lambda p: p[:1])


def _stretched(piece: Any, upper: Any) -> Any:
    assert piece.upper == 3
    end = sp.sympify(upper)
    return replace(piece, bases=tuple(replace(basis, upper=end) for basis in piece.bases), upper=end)


@cache
def bayes_formula() -> Any:
    """A true one, for a prior."""
    return derive(smoothed_point_masses(3, 1), trivial_group(3))


def _bayes_value() -> None:
    (piece,) = bayes_formula().pieces
    basis = piece.bases[0]
    low = replace(basis, value=basis.value / 2, bound=tuple(u / 2 for u in basis.bound))
    replace(bayes_formula(), pieces=(replace(piece, value=low.value, bases=(low,)),)).verify()


false("basis: another cost", "pieces[0].bases[0].value", _bayes_value)
