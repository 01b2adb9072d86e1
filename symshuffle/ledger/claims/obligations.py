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
from dataclasses import fields, is_dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final, TypeAlias

import flint
import numpy as np

from symshuffle.base.numbers import Ball, Exp, Verdict
from symshuffle.ledger.claims.comparisons import Means
from symshuffle.ledger.claims.model import Check, Claim, Correction, Statement, parameters

_Rejects: TypeAlias = Callable[[Hashable, Check, Statement, str | None], bool]


def recording(
    statement: Statement, arguments: list[Mapping[str, Any]] | None = None
) -> tuple[Statement, dict[str, bool]]:
    """The same statement, and the parameters for which its calls pass a quantity: whether it ever is a symbol.

    - ``arguments``: receives the arguments of every call, for somebody who takes them out again.
    """
    names, symbolic = named_arguments(statement), dict[str, bool]()

    def watched(*args: Any, **options: Any) -> Any:
        named = names(args, options)
        if arguments is not None:
            arguments.append(named)
        for name, value in named.items():
            if _symbols(value):
                symbolic[name] = True
            elif _quantity(value):
                symbolic.setdefault(name, False)
        return statement(*args, **options)

    return watched, symbolic


def beyond(
    statement: Statement, parameter: str, sign: int, *, threshold: int | None, also_integers: bool = False
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


def rejections(generator: Callable[[], np.random.Generator]) -> _Rejects:
    """Whether a run of a check rejects a wrong statement; many clauses ask about the same run, read twice at most.

    The function takes the run by a name, its check and statement, and a clause or None. It returns whether a symbolic
    comparison, made for this clause if there is one, is not true. What the check raises is raised, unless such a
    comparison came before.

    - ``generator``: makes the random numbers of a run.
    """
    found: dict[Hashable, set[str]] = {}  # by run, the clauses that fell as far as the run was read
    ended: dict[Hashable, Exception | None] = {}  # what ended a run that was read to its end

    def among(fell: Set[str], serving: str | None) -> bool:
        return bool(fell) if serving is None else serving in fell

    def rejects(run: Hashable, check: Check, statement: Statement, serving: str | None) -> bool:
        again, fell = run in found, found.setdefault(run, set())
        if run not in ended and not (again and among(fell, serving)):
            try:
                for comparison in check(statement, generator()):
                    if comparison.verdict is not Verdict.TRUE and comparison.means == "symbolic":
                        fell.add(comparison.serves)
                        if not again and among(fell, serving):
                            return True
                ended[run] = None
            except Exception as error:
                ended[run] = error
        if not among(fell, serving) and (raised := ended[run]) is not None:
            raise raised
        return among(fell, serving)

    return rejects


def falls(
    check: Check,
    statement: Statement,
    parameter: str,
    rejects: _Rejects,
    *,
    serving: str | None = None,
    threshold: int = 10**6,
) -> bool:
    """Whether a symbolic comparison stops being true once the statement is false for large values of a parameter.

    The value is raised, then lowered: an upper bound that is raised remains one. What raises an exception decides
    nothing; where the wrong value cannot be taken apart by a check, one that is off for every value of the symbol is
    tried in its place.

    - ``rejects``: of :func:`rejections`.
    - ``threshold``: where the value begins to be false, beyond the sizes that any check of the ledger reaches.
    """
    for least in (threshold, None):
        broken = False
        for sign in (1, -1):
            wrong = beyond(statement, parameter, sign, threshold=least)
            try:
                if rejects((parameter, least, sign), check, wrong, serving):
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

    class _Beyond(sp.Function):  # type: ignore[misc]
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

    return _Beyond


_GENERAL: Final = ("for all", "limit")
"""What no number of cases settles."""


def unmet(
    claim: Claim,
    holds: Claim | Correction,
    passed: Mapping[str, bool],
    served: Mapping[str, Set[Means]],
    generator: Callable[[], np.random.Generator],
) -> Iterator[str]:
    """What a claim owes and its check does not deliver, a line each.

    - ``passed``: parameters for which the check passed a quantity, and whether it ever was a symbol.
    - ``served``: how the comparisons that name a clause were decided; under the empty text those that name none.
    """
    quantified = {obligation.of: obligation.quantifier for obligation in claim.obligations}
    for clause in sorted(served.keys() - quantified.keys() - {""}):
        yield f"a comparison serves {clause!r}, which the claim does not list"
    clauses = {of: quantifier for of, quantifier in quantified.items() if of not in passed}
    # A parameter that stands for a function or a flag, not for a quantity, is one of the whole statement's.
    objects = frozenset() if holds.grade == "proved" else frozenset(parameters(claim.printed))
    for clause, quantifier in clauses.items():
        if clause not in served and clause not in objects:
            yield f"nothing serves '{quantifier} {clause}'"
    general = [name for name in sorted(passed) if quantified.get(name, "for all") in _GENERAL]
    if holds.grade == "certified" and claim.kind == "statement":
        for name in general:
            if not passed[name]:
                yield f"graded certified, on finitely many values of {name}"
    if holds.grade == "proved":
        owed = [one for one, quantifier in clauses.items() if quantifier in _GENERAL and one in served]
        yield from _unproved(claim, holds, passed, general, {clause: served[clause] for clause in owed}, generator)


def _unproved(
    claim: Claim,
    holds: Claim | Correction,
    passed: Mapping[str, bool],
    general: list[str],
    served: Mapping[str, Set[Means]],
    generator: Callable[[], np.random.Generator],
) -> Iterator[str]:
    """What is not proved of parameters and of clauses in words, a line each."""
    if not claim.obligations:
        yield "graded proved, but the claim does not list what it owes"
    rejects, check = rejections(generator), holds.check or claim.check
    statement = holds.printed if isinstance(holds, Claim) else holds.statement
    for name in general:
        if not passed[name]:
            yield f"graded proved, but {name} only takes the values that are enumerated"
        elif not falls(check, statement, name, rejects):
            yield f"graded proved, but no symbolic comparison falls when the statement is made false for large {name}"
    symbols = sorted(name for name in passed if passed[name])
    for clause, means in served.items():
        if "symbolic" not in means:
            yield f"graded proved, but no symbolic comparison serves {clause!r}"
        elif not _falls_with_any(claim, check, statement, symbols, rejects, clause):
            yield f"graded proved, but what serves {clause!r} does not depend on the statement"


def _falls_with_any(
    claim: Claim, check: Check, statement: Statement, symbols: list[str], rejects: _Rejects, clause: str
) -> bool:
    """Whether what serves a clause falls with the statement, false for large values of a symbol, or with a control."""
    if any(falls(check, statement, name, rejects, serving=clause) for name in symbols):
        return True
    for number, control in enumerate(claim.controls):
        try:
            if rejects(number, control.check or check, control.statement, clause):
                return True
        except Exception:  # the runner reports it where it judges the control itself
            continue
    return False
