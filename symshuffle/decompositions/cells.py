r"""Cells of a named randomizer counted from its definition, and laws of G from them: no algebra is done.

Weights are rationals and balls. A likelihood ratio is a power of the ratio cap; that it differs by exp(eps) from
another is decided on the exponents, and where a null symbol is compared on quotients of polynomials in the root of the
ratio cap.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from operator import methodcaller
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import flint

from symshuffle.base.choices import Direction, Others
from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Exp,
    Number,
    Real,
    as_precision,
    both_ends,
    from_flint,
    lower_end,
    usual_bits,
    working_precision,
)
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.decompositions.calculated import (
    LONGEST_POWER,
    Cell,
    Entry,
    calculated,
    decided,
    entry_of,
    excess,
    power,
    spreads,
)
from symshuffle.mechanisms.definitions import UNBOUNDED, Classes, classes_of
from symshuffle.mechanisms.members import Alike, BitStrings, arrangements_of
from symshuffle.mechanisms.names import THINNED
from symshuffle.mechanisms.outputs import OutputClass

if TYPE_CHECKING:
    from symshuffle.decompositions.quotient_texts import OpenQuotient

NamedForm: TypeAlias = Any
"""A :class:`~symshuffle.decompositions.closed_forms.ClosedForm`, whose module imports this one."""

LONGEST_POLYNOMIAL: Final = 8
"""Bits of a string up to which the value at a null symbol is a quotient of polynomials, which has as many terms."""


HELD: Final[Mapping[Others, tuple[int, ...]]] = {"blanket": (), "first": (0,), "second": (1,), "third": (2,)}
"""By background the input that all others hold, where 0 and 1 are the two compared."""


def counted_cells(classes: Classes, inputs: Any, others: Others) -> tuple[Cell, ...]:
    """The cells of two inputs over the blanket, the left-over last, or over the input that all others hold.

    Raises
    ------
    NotDecided
        If some class does not count three inputs, and so many are asked about.
    """
    roles, found, rest = (0, 1, *HELD[others]), dict[Any, list[Any]](), 1
    for one in classes:
        counted = one.counts(inputs, max(roles) + 1)
        if counted is None:
            raise NotDecided(f"class {one.name} does not count the states of {max(roles) + 1} inputs")
        for states, count in counted:
            shown = [one.states[states[role]] for role in roles] + [one.states[-1]] * (len(roles) == 2)
            weights = [state.probability and count * state.probability for state in shown]
            (first, second, charge), powers = [state.power for state in shown], None
            if charge is not None:
                powers = None if first is None else first - charge, None if second is None else second - charge
            sums = found.setdefault(powers or (first, second, None), [0, 0, 0])
            sums[:] = map(operator.add, sums, weights)
    cells = []
    for powers, (a, b, c) in found.items():
        cells.append(Cell(a, b, c, None if len(powers) > 2 else powers))
        rest = rest - c
    return (*cells, Cell(0, 0, rest, (None, None))) if others == "blanket" else tuple(cells)


def against_null(cells: Sequence[Cell], second: bool) -> tuple[Cell, ...]:
    """Cells over the blanket of one input, the second or the first, and a null symbol with the law of the blanket."""
    *charged, left = cells
    each = flint.fmpq(1) / (1 - left.c)
    rows = [(cell.b if second else cell.a, cell) for cell in charged]
    return (
        *(Cell(a, c.c * each, c.c, c.ratios and (c.ratios[second], None), c.ratios and each) for a, c in rows),
        left,
    )


def classes_at(form: NamedForm, lam: Any) -> tuple[Classes, Any]:
    """Classes of outputs and number of inputs, in numbers of python-flint and quotients.

    - ``lam``: the ratio cap, a number or a quotient; None without one.
    """
    long = not form.limits and form.numbers.get("D", 0) > LONGEST_POWER
    # Powers of rationals would have millions of digits there.
    values: dict[str, Any] = {}
    for name, value in form.numbers.items():
        number = int(value) if name in ("D", "m") else entry_of(value)
        values[name] = flint.arb(number) if long and name not in ("D", "m") else number
    if form.limits:
        values["D"] = UNBOUNDED
    if lam is not None:
        values["lam"] = lam
    if isinstance(lam, Fraction | Exp):
        values["lam"] = flint.arb(entry_of(lam)) if long else entry_of(lam)
        if form.name.removeprefix(THINNED) == "rappor":
            values["root"] = power(values["lam"], flint.fmpq(1, 2))
    return classes_of(form.name, values)


def quotient_cells(form: NamedForm, others: Others = "blanket", null: bool | None = None) -> tuple[Cell, ...]:
    """The cells as quotients in the root of the ratio cap: the same at all budgets.

    - ``null``: None for two inputs, otherwise whether the second of them is compared with a null symbol.
    """
    return _quotient_cells(replace(form, lam=None), others, null)


@lru_cache(maxsize=256)
def _quotient_cells(form: NamedForm, others: Others, null: bool | None) -> tuple[Cell, ...]:
    from symshuffle.decompositions.quotients import quotient_of

    cells = counted_cells(*classes_at(form, quotient_of("lam", {}) if form.has_budget else None), others)
    return cells if null is None else against_null(cells, null)


@lru_cache(maxsize=8)
def _numbers(form: NamedForm, others: Others, null: bool | None, precision: int) -> list[tuple[Cell, Any]]:
    """The cells in numbers, and ratios of a null symbol as quotients, where these are known: the same at all levels."""
    cells = counted_cells(*classes_at(form, form.lam), others)
    if null is not None:
        cells = against_null(cells, null)
    charges = decided([cell.c for cell in cells], precision)
    cells = tuple([cell._replace(c=charge) for cell, charge in zip(cells, charges, strict=True)])
    if null is None or form.numbers.get("D", 0) > LONGEST_POLYNOMIAL:
        return list(zip(cells, [None] * len(cells), strict=True))
    return list(zip(cells, [cell.null for cell in quotient_cells(form, others, null)], strict=True))


def quotient_at(value: OpenQuotient | Entry | int, lam: Real | None) -> Entry:
    """A quotient at a ratio cap: rational where it is known to be."""
    return calculated(str(value).replace("lambda", "lam"))({} if lam is None else {"lam": entry_of(lam)})


def counted_law(
    form: NamedForm,
    exp_eps: Real,
    way: Direction,
    others: Others = "blanket",
    null: bool | None = None,
    *,
    bits: int | None = None,
) -> Law:
    """Law of G at a target ratio: exact where rational, otherwise balls of ``bits`` bits.

    - ``null``: None for two inputs, otherwise whether the second of them is compared with a null symbol.

    Raises
    ------
    NotDecided
        If numbers do not settle whether a value or a weight is 0, or three inputs are not counted.
    """
    if null is None and others in ("blanket", "third"):
        way = "forward"  # the two rows exchanged are the same cells
    lam = () if form.lam is None else (form.lam,)
    try:
        return _law(form, exp_eps, way, others, null, bits or usual_bits(exp_eps, *lam))
    except (KeyError, ZeroDivisionError) as reason:  # a parameter left open, or two inputs where three are asked about
        raise NotDecided(f"the cells cannot be evaluated at these values: {reason!r}") from None


def rises_with(parameter: str, form: NamedForm, exp_eps: Real, way: Direction, bits: int | None) -> bool:
    """Whether the law of G over the blanket certainly rises in convex order with an integer in which it is affine."""
    lam = form.lam
    precision = bits or usual_bits(exp_eps, *(() if lam is None else (lam,)))
    places = [replace(form, values=(*form.values, (parameter, str(d)))) for d in (0, 1)]
    before, after = map(quotient_cells, places)
    with working_precision(precision + 32):
        rates = [quotient_at(two.c - one.c, lam) for one, two in zip(before, after, strict=True)]
        cap = lam, None if lam is None else entry_of(lam)
        values = [_value(cap, cell, None, (exp_eps, entry_of(exp_eps)), way) for cell in after]
        return spreads(list(zip(decided(values, precision), decided(rates, precision), strict=True)))


def counted_channel(form: NamedForm, bits: int | None) -> Channel:
    """Explicit channel: exact where probabilities are rational and no bits are given, otherwise in balls."""
    precision = DEFAULT_BITS if bits is None else as_precision(bits)
    with working_precision(precision + 32):

        def number(value: Any) -> Number:
            (entry,) = from_flint([value], precision)
            return Ball(entry, entry, precision) if isinstance(entry, Fraction) and bits is not None else entry

        return Channel(tuple(zip(*_columns(form, form.lam, number), strict=True)))


def quotient_rows(form: NamedForm) -> list[tuple[OpenQuotient, ...]]:
    """The rows of the channel as functions of the ratio cap."""
    from symshuffle.decompositions.quotients import as_quotient, quotient_of

    return list(zip(*_columns(form, None if form.lam is None else quotient_of("lam", {}), as_quotient), strict=True))


def _columns(form: NamedForm, cap: Any, shown: Callable[[Any], Any]) -> Iterator[tuple[Any, ...]]:
    """For each output its probabilities at all inputs."""
    integers = {name: int(value) for name, value in form.numbers.items() if value.denominator == 1}
    classes, _ = classes_at(form, cap)
    for one in classes:
        share: Any = 1
        if one.members is None:
            share = flint.fmpq(1, arrangements_of([int(state.count) for state in one.states])) * one.size
        elif not isinstance(one.members, BitStrings | Alike):
            share = 1 if one.number is None else flint.fmpq(1) / one.number * one.size
        parts = [state.probability * share for state in one.states]
        for states, weight in one.outputs(integers):
            entries = [shown(part if isinstance(weight, int) else part * weight) for part in parts]
            yield tuple(entries[i] for i in states)


def outputs_of(form: NamedForm) -> int:
    """Number of outputs."""
    return sum(int(_outputs(one)) for one in _classes_at_four(form))


def knows_three(form: NamedForm) -> bool:
    """Whether every class of outputs counts the states of three inputs."""
    return all(map(methodcaller("knows", 3), _classes_at_four(form)))


@lru_cache(maxsize=16)
def _classes_at_four(form: NamedForm) -> Classes:
    """The classes at a budget at which roots are rational: their structure is the same at all."""
    return classes_at(form, None if form.lam is None else Fraction(4))[0]


def _outputs(one: OutputClass) -> Any:
    if one.members is None:
        return arrangements_of([int(state.count) for state in one.states])
    return one.size if one.number is None else one.number


@lru_cache(maxsize=4)
def _law(
    form: NamedForm,
    exp_eps: Real,
    way: Direction,
    others: Others,
    null: bool | None,
    precision: int,
) -> Law:
    """Kept for a moment: the other direction is asked for next."""
    with working_precision(precision + 32):
        level, cap = (exp_eps, entry_of(exp_eps)), (form.lam, None if form.lam is None else entry_of(form.lam))
        cells, values = _numbers(form, others, null, precision), list[Entry]()
        for cell, quotient in cells:
            if cell.ratios is None or cell.c == 0:
                first, second = (cell.a, cell.b) if way == "forward" else (cell.b, cell.a)
                values.append(excess(first, level[1], second))
            else:
                values.append(_value(cap, cell, quotient, level, way))
        atoms, singular = list[tuple[Any, Any]](), Fraction(0)
        for (cell, _), value in zip(cells, decided(values, precision), strict=True):
            if cell.ratios is not None and cell.c != 0:
                atoms.append((value, cell.c))
            elif lower_end(value) > 0:
                singular = singular + value
        lowest, _ = both_ends([value for value, _ in atoms])
        rising = sorted(zip(lowest, range(len(atoms)), strict=True))
        return Law.from_atoms([atoms[place] for _, place in rising], singular)


def _value(
    cap: tuple[Real | None, Entry | None], cell: Cell, null: Any, level: tuple[Real, Entry], way: Direction
) -> Entry:
    """The value of G at a cell: decided where it vanishes, and only then, as far as exponents say.

    - ``cap``, ``level``: the ratio cap and the target ratio, each also as a number of python-flint.
    """
    assert cell.ratios is not None
    forward, (lam, base), (exp_eps, x) = way == "forward", cap, level
    one, other = cell.ratios
    if cell.null is None:
        one, other = (one, other) if forward else (other, one)
        if one == other:  # no difference of two enclosures: it vanishes at exp(eps) = 1
            return _likelihood(base, one) * (1 - x)
        if one is not None and other is not None and _is_power(exp_eps, lam, one - other):
            return flint.fmpq(0)
        return excess(_likelihood(base, one), x, _likelihood(base, other))
    seen = _likelihood(base, one), cell.null
    if null is not None and one is not None:
        from symshuffle.decompositions.quotients import as_quotient, level_between, quotient_of

        pair = quotient_of("lam", {}) ** one, as_quotient(null)
        above, below = pair if forward else pair[::-1]
        if level_between(above, below, Fraction(1) if lam is None else lam, exp_eps):
            return flint.fmpq(0)
    seen = seen if forward else seen[::-1]
    return excess(seen[0], x, seen[1])


def _likelihood(cap: Entry | None, exponent: int | None) -> Entry:
    if exponent is None or cap is None or exponent == 0:
        return flint.fmpq(int(exponent is not None))
    return power(cap, exponent)


def _is_power(exp_eps: Real, lam: Real | None, exponent: int) -> bool:
    """Whether a level is a power of the ratio cap; of rationals arithmetic tells."""
    return isinstance(lam, Exp) and isinstance(exp_eps, Exp) and lam.exponent * exponent == exp_eps.exponent
