"""Which rows of a comparison are one mechanism under several names, and which have the same bound.

Two mechanisms are the same, up to the names of messages, if messages that depend on the input in the same way have the
same probabilities, as functions of ``lam``. They have the same bound if their laws of G agree as functions of ``lam``
and the ratio. Both are decided by computer algebra, at rows of about the same level; what it cannot
prove equal is not said.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any, Final

import sympy as sp

from symshuffle.accountants.covering.reduction import reduction
from symshuffle.base.choices import Question
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.results import Bracket
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.design.comparison.families import family
from symshuffle.design.comparison.row import Row
from symshuffle.mechanisms.model import Mechanism

_LARGEST_INPUTS: Final = 64
"""Inputs up to which laws are compared: powers in them have so many factors."""

_MATCHED: Final = Fraction(1, 1000)
"""Relative distance within which levels count as one: those of a central target are solved for, each by itself."""

_Law = frozenset[tuple[object, ...]]


def alike(k: int, rows: Sequence[Row], own: Mapping[str, Mechanism] = MappingProxyType({})) -> Iterator[str]:
    """Sentences that name the rows that are the same mechanism, and those that have the same bound only."""
    if k > _LARGEST_INPUTS:
        return
    same = list(_groups(k, own, [row for row in rows if row.risk is not None], _templates))
    for group in same:
        yield f"{_named(group)} are the same mechanism, up to the names of messages"
    first = [row for row in rows if not any(row in group[1:] for group in same)]
    private = [row for row in first if row.epsilon is not None and row.epsilon.upper]
    for group in _groups(k, own, private, _law_of_g, sketch=_law_at_four):
        yield f"{_named(group)} have the same bound: the same law of G at every eps"


def _groups(
    k: int,
    own: Mapping[str, Mechanism],
    rows: Sequence[Row],
    law: Callable[[Mechanism], _Law | None],
    sketch: Callable[[int, Row], object] = lambda k, row: None,
) -> Iterator[list[Row]]:
    """Rows with equal laws, among those whose numbers, or some values of whose laws, do not tell them apart."""
    near = [[row, *(other for other in rows if other is not row and _close(row, other))] for row in rows]
    drawn = {id(row): None if row.name in own else sketch(k, row) for row, *others in near if others}

    def may_be_one(row: Row, other: Row) -> bool:
        one, two = drawn[id(row)], drawn[id(other)]
        return one is None or two is None or one == two

    near = [[row, *(other for other in others if may_be_one(row, other))] for row, *others in near]
    laws = {id(group[0]): _of(k, own, group[0], law) for group in near if len(group) > 1}
    left = [row for row in rows if laws.get(id(row)) is not None]
    while left:
        first = left[0]
        group = [row for row in left if laws[id(row)] == laws[id(first)] and (row is first or _close(row, first))]
        left = [row for row in left if not any(row is one for one in group)]
        if len(group) > 1:
            yield group


def _of(k: int, own: Mapping[str, Mechanism], row: Row, law: Callable[[Mechanism], _Law | None]) -> _Law | None:
    try:
        if row.name in own:
            return law(own[row.name])
        one = family(row.name, k)
        chosen = {name: value for name, value in row.parameters if name != str(one.size)}
        return law(one.at(**chosen))
    except (InputError, Unsupported, NotDecided):
        return None


def _close(one: Row, other: Row) -> bool:
    """Whether the levels and the bounds of two rows may be equal."""
    return _meet(one.eps0, other.eps0) and (
        one.epsilon is None or other.epsilon is None or _meet(one.epsilon, other.epsilon)
    )


def _meet(one: Bracket, other: Bracket) -> bool:
    return one.lower * (1 - _MATCHED) <= other.upper and other.lower * (1 - _MATCHED) <= one.upper


def _templates(mechanism: Mechanism) -> _Law | None:
    """How messages depend on the input, and how likely each kind is; None where not all arrangements are messages."""
    found: dict[tuple[object, ...], sp.Expr] = {}
    for one in mechanism.classes:
        total = _simple(sum((state.count * state.probability for state in one.states), start=sp.Integer(0)))
        if total == 0:
            continue
        if one.members is not None or one.pair_counts is not None:
            return None
        levels = ((_simple(state.probability / total), _simple(state.count)) for state in one.states)
        template = tuple(sorted(levels, key=str))
        found[template] = found.get(template, sp.Integer(0)) + total * one.size
    return frozenset((template, _simple(mass)) for template, mass in found.items())


def _law_at_four(k: int, row: Row) -> object:
    """The law of G at one local level and one ratio: laws that differ there are not the same."""
    try:
        one = family(row.name, k)
        chosen = {name: value for name, value in row.parameters if name != str(one.size)}
        law = reduction(one.source(lam=4, **chosen)).laws(Fraction(6, 5), Question.FORWARD, None)[0]
    except (InputError, Unsupported, NotDecided):
        return row.name
    masses: dict[Any, Any] = {}
    for value, mass in law.atoms():
        masses[value] = masses.get(value, 0) + mass
    return frozenset([*masses.items(), ("singular", law.singular)])


def _law_of_g(mechanism: Mechanism) -> _Law | None:
    found = optimal_decomposition(mechanism, limits=False)
    masses: dict[sp.Expr, sp.Expr] = {}
    for value, mass in itertools.chain(found.gparv()):
        place = _simple(value)
        masses[place] = masses.get(place, sp.Integer(0)) + mass
    return frozenset([*((value, _simple(mass)) for value, mass in masses.items()), ("singular", found.singular())])


def _simple(value: sp.Expr) -> sp.Expr:
    return sp.cancel(sp.together(sp.sympify(value)))


def _named(rows: Sequence[Row]) -> str:
    *names, last = (row.cells()["mechanism"] for row in rows)
    return f"{', '.join(names)} and {last}"
