"""Whether the comparisons of a check are what its claim owes.

A parameter of the transcribed statement is ``for all`` unless the claim lists it otherwise. *Proved* needs a symbolic
comparison that falls when the statement is made false for large values of it; *certified* needs that it stood for a
symbol. A clause in words (``for_all("channels")``), or a parameter that only stands for objects without numbers, needs
comparisons that name it. A comparison names only what the claim lists, and a *proved* claim lists something.
"""

from __future__ import annotations

import inspect
import numbers
from collections.abc import Callable, Hashable, Iterator, Mapping, Set
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final, TypeAlias, final

import flint
import numpy as np

from symshuffle.base.numbers import Ball, Exp, Verdict
from symshuffle.ledger.claims.comparisons import Means
from symshuffle.ledger.claims.model import Check, Claim, Correction, Grade, Kind, Quantifier, Statement, parameters

_Values: TypeAlias = Mapping[str, Any]

THRESHOLD: Final = 10**6
"""Where a statement made false begins to be so: beyond the sizes that any check of the ledger reaches."""


@final
@dataclass(slots=True)
class Record:
    """The arguments with which a statement was called, by parameter.

    - ``arguments``: the arguments of every call, for somebody who takes them out again; None if nobody does.
    """

    numeric: set[str] = field(default_factory=set)
    symbolic: set[str] = field(default_factory=set)
    calls: int = 0
    arguments: list[_Values] | None = None

    @property
    def parameters(self) -> tuple[str, ...]:
        """Every parameter that a quantity was passed for, in alphabetical order."""
        return tuple(sorted(self.numeric | self.symbolic))


def recording(statement: Statement, arguments: list[_Values] | None = None) -> tuple[Statement, Record]:
    """The same statement, and where the arguments of its calls are recorded."""
    names, record = named_arguments(statement), Record(arguments=arguments)

    def watched(*args: Any, **options: Any) -> Any:
        record.calls += 1
        named = names(args, options)
        if record.arguments is not None:
            record.arguments.append(named)
        for name, value in named.items():
            if _symbols(value):
                record.symbolic.add(name)
            elif _quantity(value):
                record.numeric.add(name)
        return statement(*args, **options)

    return watched, record


def beyond(
    statement: Statement, parameter: str, sign: int, *, threshold: int | None = THRESHOLD, also_integers: bool = False
) -> Statement:
    """The statement, off by ``sign`` where the given parameter is a symbol that exceeds a threshold.

    Without a threshold it is off by the symbol itself, which is easier to compute with.

    - ``also_integers``: whether it is off for integers beyond the threshold as well.
    """
    names = named_arguments(statement)

    def wrong(*args: Any, **options: Any) -> Any:
        value = statement(*args, **options)
        argument = names(args, options).get(parameter)
        if also_integers and threshold is not None and isinstance(argument, int) and argument > threshold:
            return _off(value, sign)
        return _off(value, sign * _excess(argument, threshold)) if _symbols(argument) else value

    return wrong


@final
@dataclass(frozen=True, slots=True)
class WrongRuns:
    """Runs of checks on wrong statements: many clauses ask about the same one, which is read twice at most.

    - ``generator``: makes the random numbers of a run.
    - ``fell``: by run, the clauses for which a symbolic comparison was not true, as far as the run was read.
    - ``ended``: what ended a run that was read to its end: an exception, or nothing.
    """

    generator: Callable[[], np.random.Generator]
    fell: dict[Hashable, set[str]] = field(default_factory=dict)
    ended: dict[Hashable, Exception | None] = field(default_factory=dict)

    def rejects(self, run: Hashable, check: Check, statement: Statement, serving: str | None) -> bool:
        """Whether a symbolic comparison, made for the given clause if there is one, is not true.

        What the check raises is raised, unless such a comparison came before.
        """
        again, fell = run in self.fell, self.fell.setdefault(run, set())
        if run in self.ended or (again and _among(fell, serving)):
            if not _among(fell, serving) and (error := self.ended[run]) is not None:
                raise error
            return _among(fell, serving)
        try:
            for comparison in check(statement, self.generator()):
                if comparison.verdict is not Verdict.TRUE and comparison.means is Means.SYMBOLIC:
                    fell.add(comparison.serves)
                    if not again and _among(fell, serving):
                        return True
            self.ended[run] = None
        except Exception as error:
            self.ended[run] = error
        return self.rejects(run, check, statement, serving)


def _among(fell: Set[str], serving: str | None) -> bool:
    return bool(fell) if serving is None else serving in fell


def falls(
    check: Check,
    statement: Statement,
    parameter: str,
    runs: WrongRuns,
    *,
    serving: str | None = None,
) -> bool:
    """Whether a symbolic comparison stops being true once the statement is false for large values of a parameter.

    The value is raised, then lowered: an upper bound that is raised remains one. What raises an exception decides
    nothing; where the wrong value cannot be taken apart by a check, one that is off for every value of the symbol is
    tried in its place.
    """
    for threshold in (THRESHOLD, None):
        broken = False
        for sign in (1, -1):
            wrong = beyond(statement, parameter, sign, threshold=threshold)
            try:
                if runs.rejects((parameter, threshold, sign), check, wrong, serving):
                    return True
            except Exception:  # the wrong value broke the arithmetic of the check, which is not a rejection
                broken = True
        if not broken:
            return False
    return False


def named_arguments(statement: Statement) -> Callable[[tuple[Any, ...], Mapping[str, Any]], dict[str, Any]]:
    """How to name the arguments of a call: by the parameters of the statement."""
    try:
        signature = inspect.signature(statement)
    except ValueError:  # a function of C, such as max, does not name its parameters
        return lambda args, options: {**{str(i): value for i, value in enumerate(args)}, **options}

    def named(args: tuple[Any, ...], options: Mapping[str, Any]) -> dict[str, Any]:
        return dict(signature.bind(*args, **options).arguments)

    return named


def _parts(value: Any) -> Iterator[Any]:
    """What a container or a record holds; nothing for anything else."""
    match value:
        case str() | bytes() | type():
            return
        case dict():
            yield from value.keys()
            yield from value.values()
        case list() | tuple() | Set() | np.ndarray():
            yield from value
        case _ if is_dataclass(value):
            yield from (getattr(value, entry.name) for entry in fields(value))


def _symbols(value: Any) -> frozenset[Any]:
    """SymPy symbols in a value, or generators of the polynomial ring of a generic one."""
    if (free := getattr(value, "free_symbols", None)) is not None:
        return frozenset(free)
    if hasattr(value, "ring") and not isinstance(value, numbers.Number):
        return frozenset() if value.is_ground else frozenset([value])
    return frozenset().union(*map(_symbols, _parts(value)))


def _quantity(value: Any) -> bool:
    """Whether a value is, or holds, a number that a statement can be about; flags and names are not."""
    if isinstance(value, bool | str):
        return False
    if isinstance(value, numbers.Number | Ball | Exp) or getattr(value, "is_number", False) or hasattr(value, "ring"):
        return True
    return any(map(_quantity, _parts(value)))


def _excess(argument: Any, threshold: int | None) -> Any:
    """By how much a statement is made wrong at an argument that holds symbols."""
    import sympy as sp

    if not isinstance(argument, sp.Expr):
        free = [symbol for symbol in _symbols(argument) if isinstance(symbol, sp.Symbol)]
        argument = sum(sorted(free, key=str), sp.Integer(0)) if free else sp.Integer(1)
    return argument if threshold is None or not argument.free_symbols else _step()(argument - threshold)


def changed_entries(value: Any, change: Callable[[Any], Any]) -> Any:
    """A value with every number and every truth in it changed; of a set there is nothing left."""
    import sympy as sp

    if hasattr(value, "ring"):  # an element of a polynomial ring, which is a dict as well
        return change(value)
    match value:
        case bool() | Verdict() | Ball() | sp.Expr() | numbers.Number() | sp.logic.boolalg.Boolean():
            return change(value)
        case sp.MatrixBase():
            return value.applyfunc(lambda entry: changed_entries(entry, change))
        case dict():
            return {key: changed_entries(entry, change) for key, entry in value.items()}
        case list() | tuple():
            return type(value)(changed_entries(entry, change) for entry in value)
        case Set():
            return frozenset()
        case _ if callable(value):
            return lambda *args, **options: changed_entries(value(*args, **options), change)
        case _:
            return value


def _off(value: Any, by: Any) -> Any:
    """A value made wrong: a number by so much, a truth by its opposite, what is made of them entry by entry."""
    import sympy as sp

    def wrong(entry: Any) -> Any:
        if hasattr(entry, "ring"):
            return entry + (-1 if sp.sympify(by).could_extract_minus_sign() else 1)
        match entry:
            case bool():
                return not entry
            case Verdict():
                return ~entry
            case Ball():
                return entry + by if isinstance(by, int) else entry
            case Fraction() | int() | float() if isinstance(by, int):
                return entry + by
            case sp.Expr() | numbers.Number():  # a symbol may stand for a truth as well
                return sp.sympify(entry) + by
            case _:
                return sp.Not(entry)

    return changed_entries(value, wrong)


@cache
def _step() -> Any:
    """The function that is 1 above 0 and 0 elsewhere, left alone where the sign is open."""
    import sympy as sp

    class Beyond(sp.Function):  # type: ignore[misc]
        nargs = 1
        is_real = True

        @classmethod
        def eval(cls, excess: Any) -> Any:
            return sp.Integer(int(bool(excess > 0))) if excess.is_number else None

        def fdiff(self, argindex: int = 1) -> Any:
            return sp.Integer(0)

        @staticmethod
        def in_balls(excess: flint.arb) -> flint.arb:
            return flint.arb(1 if excess > 0 else 0 if excess <= 0 else "nan")

    return Beyond


GENERAL: Final = frozenset({Quantifier.FOR_ALL, Quantifier.LIMIT})
"""What no number of cases settles."""


def unmet(
    claim: Claim,
    holds: Claim | Correction,
    record: Record,
    served: Mapping[str, Set[Means]],
    generator: Callable[[], np.random.Generator],
) -> Iterator[str]:
    """What a claim owes and its check does not deliver, a line each.

    - ``served``: how the comparisons that name a clause were decided; under the empty text those that name none.
    """
    quantified = {obligation.of: obligation.quantifier for obligation in claim.obligations}
    for clause in sorted(served.keys() - quantified.keys() - {""}):
        yield f"a comparison serves {clause!r}, which the claim does not list"
    clauses = {of: quantifier for of, quantifier in quantified.items() if of not in record.parameters}
    # A parameter that stands for a function or a flag, not for a quantity, is one of the whole statement's.
    objects = frozenset() if holds.grade is Grade.PROVED else frozenset(parameters(claim.printed))
    for clause, quantifier in clauses.items():
        if clause not in served and clause not in objects:
            yield f"nothing serves '{quantifier.value} {clause}'"
    general = [name for name in record.parameters if quantified.get(name, Quantifier.FOR_ALL) in GENERAL]
    if holds.grade is Grade.CERTIFIED and claim.kind is Kind.STATEMENT:
        for name in general:
            if name not in record.symbolic:
                yield f"graded certified, on finitely many values of {name}"
    if holds.grade is Grade.PROVED:
        if not claim.obligations:
            yield "graded proved, but the claim does not list what it owes"
        runs = WrongRuns(generator)
        yield from _unproved(claim, holds, record, general, runs)
        for clause, quantifier in clauses.items():
            if quantifier in GENERAL and clause in served:
                yield from _unproved_clause(claim, holds, record, clause, served[clause], runs)


def _unproved(
    claim: Claim,
    holds: Claim | Correction,
    record: Record,
    general: list[str],
    runs: WrongRuns,
) -> Iterator[str]:
    check, statement = holds.check or claim.check, _statement(holds)
    for name in general:
        if name not in record.symbolic:
            yield f"graded proved, but {name} only takes the values that are enumerated"
        elif not falls(check, statement, name, runs):
            yield f"graded proved, but no symbolic comparison falls when the statement is made false for large {name}"


def _unproved_clause(
    claim: Claim,
    holds: Claim | Correction,
    record: Record,
    clause: str,
    means: Set[Means],
    runs: WrongRuns,
) -> Iterator[str]:
    if Means.SYMBOLIC not in means:
        yield f"graded proved, but no symbolic comparison serves {clause!r}"
        return
    check, statement = holds.check or claim.check, _statement(holds)
    names = sorted(record.symbolic)
    if any(falls(check, statement, name, runs, serving=clause) for name in names):
        return
    for number, control in enumerate(claim.controls):
        try:
            if runs.rejects(number, control.check or check, control.statement, clause):
                return
        except Exception:  # the runner reports it where it judges the control itself
            continue
    yield f"graded proved, but what serves {clause!r} does not depend on the statement"


def _statement(holds: Claim | Correction) -> Callable[..., object]:
    return holds.printed if isinstance(holds, Claim) else holds.statement
