"""Laws of a mechanism of one's own, in which it is compared with families: derived by algebra."""

from __future__ import annotations

from collections.abc import Iterable

import sympy as sp

from symshuffle.decompositions.quotients import CapQuotient, quotient_of
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import normal_form, written


def templates_of_own(source: object) -> frozenset[tuple[object, ...]] | None:
    """As the laws of families in :mod:`symshuffle.design.comparison.alike`: of a mechanism, with ``lam`` open."""
    if not isinstance(source, Mechanism):
        return None
    found = []
    for one in source.classes:
        total = sum((state.count * state.probability for state in one.states), start=sp.Integer(0))
        if normal_form(total) == 0:
            continue
        if one.members is not None or one.pair_counts is not None:
            return None
        levels = ((_quotient(state.probability / total), _quotient(state.count)) for state in one.states)
        found.append((tuple(sorted(levels, key=str)), _quotient(total * one.size)))
    return _collected(found)


def _collected(atoms: Iterable[tuple[tuple[object, ...], CapQuotient]]) -> frozenset[tuple[object, ...]]:
    masses: dict[tuple[object, ...], CapQuotient] = {}
    for place, mass in atoms:
        masses[place] = masses.get(place, CapQuotient([0])) + mass
    return frozenset(masses.items())


def _quotient(expression: sp.Expr) -> CapQuotient:
    return quotient_of(written(normal_form(expression)), {})
