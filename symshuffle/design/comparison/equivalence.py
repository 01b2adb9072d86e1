"""Which rows of a comparison are one mechanism under several names, and which have the same bound.

Two mechanisms are the same, up to the names of messages, if messages that depend on the input in the same way have the
same probabilities, as functions of ``lam``. They have the same bound if their laws of G agree as functions of ``lam``
and the ratio. Both are decided by computer algebra, at rows of about the same level; what it cannot
prove equal is not said.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from types import MappingProxyType
from typing import Any

from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.results import Bracket
from symshuffle.decompositions.cells import quotient_cells
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.decompositions.quotient_texts import OpenQuotient
from symshuffle.decompositions.quotients import as_quotient, quotient_of
from symshuffle.design.comparison.families import Family, family
from symshuffle.design.comparison.rows import Row
from symshuffle.mechanisms.names import THINNED

_Law = frozenset[tuple[object, ...]]


def equal_mechanisms(
    k: int, rows: Sequence[Row], own: Mapping[str, Any] = MappingProxyType({}), *, largest: int = 64
) -> Iterator[str]:
    """Sentences that name the rows that are the same mechanism, and those that have the same bound only.

    ``own`` are the sources that a user brought, by the names of their rows.

    - ``largest``: inputs up to which laws are compared: powers in them have so many factors.
    """
    if k > largest:
        return
    same = list(_groups(k, own, [row for row in rows if row.risk is not None], templates_of))
    for group in same:
        yield f"{_named(group)} are the same mechanism, up to the names of messages"
    first = [row for row in rows if not any(row in group[1:] for group in same)]
    private = [row for row in first if row.epsilon is not None and row.epsilon.upper]
    for group in _groups(k, own, private, law_of_g, sketch=_law_at_four):
        yield f"{_named(group)} have the same bound: the same law of G at every eps"


def _groups(
    k: int,
    own: Mapping[str, Any],
    rows: Sequence[Row],
    law: Callable[[Family, Mapping[str, Any]], _Law | None],
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


def _of(
    k: int, own: Mapping[str, Any], row: Row, law: Callable[[Family, Mapping[str, Any]], _Law | None]
) -> _Law | None:
    try:
        if row.name in own:
            from symshuffle.design.comparison.user_mechanisms import templates_of_own  # it loads algebra

            return templates_of_own(own[row.name]) if law is templates_of else None
        return law(*_chosen(k, row))
    except (InputError, Unsupported, NotDecided, ZeroDivisionError):
        return None


def _chosen(k: int, row: Row) -> tuple[Family, dict[str, Any]]:
    """The family of a row, and its free parameters."""
    one = family(row.name, k)
    return one, {name: value for name, value in row.parameters if name != one.size}


def _close(one: Row, other: Row) -> bool:
    """Whether the levels and the bounds of two rows may be equal."""
    return _meet(one.eps0, other.eps0) and (
        one.epsilon is None or other.epsilon is None or _meet(one.epsilon, other.epsilon)
    )


def _meet(one: Bracket, other: Bracket, *, apart: Fraction = Fraction(1, 1000)) -> bool:
    return one.lower * (1 - apart) <= other.upper and other.lower * (1 - apart) <= one.upper


def templates_of(one: Family, values: Mapping[str, Any]) -> _Law | None:
    """How messages depend on the input, and how likely each kind is; None where not all arrangements are messages."""
    classes = one.form["row"]["templates"]
    if classes is None:
        return None
    share = Fraction(values["p"]) if one.thin else Fraction(1)
    known = {**one.sized, **{name: value for name, value in values.items() if not (one.thin and name == "p")}}
    found: dict[tuple[object, ...], OpenQuotient] = {}

    def add(levels: list[tuple[OpenQuotient, OpenQuotient]], mass: OpenQuotient) -> None:
        template = tuple(sorted(levels, key=str))
        if mass:
            found[template] = mass + found.get(template, 0)

    for mass, levels in classes:
        place = [(quotient_of(level, known), quotient_of(count, known)) for level, count in levels]
        add([pair for pair in place if pair[1]], quotient_of(mass, known) * rational(share))
    if share != 1:  # the null symbol, whose mass is summed over all inputs as the others' are
        size = Fraction(one.all_inputs)
        add([(rational(1 / size), rational(size))], rational((1 - share) * size))
    return frozenset(found.items())


def rational(value: Fraction | int) -> OpenQuotient:
    """A constant quotient."""
    return as_quotient(value)


def _law_at_four(k: int, row: Row) -> object:
    """The law of G at one local level and one ratio: laws that differ there are not the same."""
    try:
        one, chosen = _chosen(k, row)
        law = reduction(one.source(lam=4, **chosen)).laws(Fraction(6, 5), "forward", None)[0]
    except (InputError, Unsupported, NotDecided):
        return row.name
    masses: dict[Any, Any] = {}
    for value, mass in law.atoms():
        masses[value] = masses.get(value, 0) + mass
    return frozenset([*masses.items(), ("singular", law.singular)])


def law_of_g(one: Family, values: Mapping[str, Any]) -> _Law | None:
    """Likelihood ratios of both inputs against the blanket, with their masses; None where pairs of inputs differ."""
    thin = one.thin and values["p"] != 1
    if not one.alike:
        return None
    name = THINNED + one.base if thin else one.base
    known = {**one.sized, **{name: value for name, value in values.items() if thin or not (one.thin and name == "p")}}
    asked = ClosedForm(name, tuple((key, str(value)) for key, value in known.items()), None)
    masses: dict[tuple[OpenQuotient, OpenQuotient], OpenQuotient] = {}
    for a, b, c, *_ in quotient_cells(asked):
        first, second, charge = map(as_quotient, (a, b, c))
        if not charge:
            if first or second:
                return None
            continue
        place = first / charge, second / charge
        masses[place] = charge + masses.get(place, 0)
    return frozenset(masses.items())


def _named(rows: Sequence[Row]) -> str:
    *names, last = (row.cells()["mechanism"] for row in rows)
    return f"{', '.join(names)} and {last}"
