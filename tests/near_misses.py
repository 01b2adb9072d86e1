"""Near misses of every claim: its statement off by one per cent, or turned round, given to its own check.

The controls that a claim lists say what else might have been printed. This is the same for all of them: each number
that a statement returns is multiplied by 101/100, then by 99/100 (an upper bound that is raised remains one), an
integer is one off, a truth is negated, a set loses a member, a law has some mass elsewhere, what is infinite is finite.
One of the two has to be rejected.

    python -m tests.near_misses [PATTERN ...]        # the claims whose check notices neither; exit status 1 if any

Statements that return something else (a channel, a text) are not tried, and are
listed as such.
"""

import fnmatch
import itertools
import math
import sys
from collections.abc import Callable, Iterator, Set
from fractions import Fraction
from functools import partial
from numbers import Real
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.base.numbers import DEFAULT_BITS, Ball, Verdict, working_precision
from symshuffle.ledger.claims.model import Claim, Statement
from symshuffle.ledger.claims.registry import load
from symshuffle.ledger.claims.run import seeded

SHARE: Final = Fraction(1, 100)


class Untouched(Exception):
    """A value in which nothing was found that could be changed."""


def off(value: Any, sign: int) -> Any:
    """The value a little wrong.

    Raises
    ------
    Untouched
        If it is of a kind that has no near miss here.
    """
    match value:
        case bool() | np.bool_() | sp.logic.boolalg.BooleanAtom():
            return not value
        case Verdict():
            return {Verdict.TRUE: Verdict.FALSE, Verdict.FALSE: Verdict.TRUE}[value]
        case _ if hasattr(value, "ring") and not isinstance(value, Real):  # an element of a polynomial ring
            return value + sign
        case sp.MatrixBase():
            return value.applyfunc(lambda entry: off(entry, sign))
        case int() | sp.Integer():
            return value + sign if abs(value) < 50 else value * (1 + sign * SHARE)
        case sp.Expr():
            return value * (1 + sign * sp.Rational(1, 100))
        case sp.logic.boolalg.Boolean():  # a symbol is one too, and was met above
            return sp.Not(value)
        case float() | np.floating() if math.isinf(value):
            return math.copysign(sys.float_info.max, value)
        case float() | np.floating():
            return value * (1 + sign / 100)
        case Fraction() | Ball():
            return value * (1 + sign * SHARE)
        case Real():
            return value * (1 + sign / 100)
        case tuple() | list():
            entries, changed = [], False
            for entry in value:
                try:
                    entries.append(off(entry, sign))
                    changed = True
                except Untouched:
                    entries.append(entry)
            if not changed:
                raise Untouched
            return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)
        case dict() if _is_law(value):
            return _moved(value, sign)
        case dict():
            return dict(zip(value, off(list(value.values()), sign), strict=True))
        case Set() if value:
            return type(value)(sorted(value, key=repr)[1:])  # type: ignore[call-arg]
        case _ if callable(value):
            return lambda *args, **options: off(value(*args, **options), sign)
        case _:
            raise Untouched


def _is_law(masses: dict[Any, Any]) -> bool:
    exact = len(masses) > 1 and all(isinstance(mass, Fraction) for mass in masses.values())
    return exact and sum(masses.values()) == 1


def _moved(masses: dict[Any, Fraction], sign: int) -> dict[Any, Fraction]:
    """One per cent of the largest mass elsewhere, so that it remains a law."""
    ordered = sorted(masses, key=lambda place: (masses[place], repr(place)))
    largest, other = ordered[-1], ordered[0 if sign > 0 else -2]
    taken = masses[largest] * SHARE
    return {**masses, largest: masses[largest] - taken, other: masses[other] + taken}


def _last(value: Any, sign: int) -> Any:
    """The last of several values a little wrong, the others as they are."""
    if not isinstance(value, tuple | list) or len(value) < 2:
        raise Untouched
    for i in range(len(value) - 1, -1, -1):
        try:
            changed = off(value[i], sign)
        except Untouched:
            continue
        entries = [*value[:i], changed, *value[i + 1 :]]
        return type(value)(*entries) if hasattr(value, "_fields") else type(value)(entries)
    raise Untouched


def _wrong(statement: Statement, edit: Callable[[Any, int], Any], sign: int, tried: list[bool]) -> Statement:
    def wrong(*args: Any, **options: Any) -> Any:
        value = statement(*args, **options)
        try:
            changed = edit(value, sign)
        except Untouched:
            return value
        tried.append(True)
        return changed

    return wrong


OWN: Final[dict[str, Callable[[Statement], Statement]]] = {
    # A key that groups outputs is as good multiplied by a constant; this one tells outputs in one proportion apart.
    "decomposition.thm-7": lambda statement: lambda a, b, c: (*statement(a, b, c)[:2], statement(a, b, c)[2] + a / 100)
}
"""Near misses of statements whose value means something else than a number."""


def noticed(claim: Claim) -> bool | None:
    """Whether the check rejects one of the near misses of what holds; None where no value could be changed.

    What raises an exception rejects nothing.
    """
    corrected = claim.corrected
    statement = claim.printed if corrected is None else corrected.statement
    check = claim.check if corrected is None or corrected.check is None else corrected.check
    tried: list[bool] = []
    if claim.id in OWN:
        with working_precision(DEFAULT_BITS):
            found = check(OWN[claim.id](statement), seeded(claim.id))
            return any(comparison.verdict is Verdict.FALSE for comparison in found)
    for edit, sign in itertools.product((off, _last), (1, -1)):
        with working_precision(DEFAULT_BITS):
            try:
                found = check(_wrong(statement, edit, sign, tried), seeded(claim.id))
                if any(comparison.verdict is Verdict.FALSE for comparison in found):
                    return True
            except Exception:  # a misfit of kinds says nothing about the check
                continue
    return False if tried else None


def claims(*patterns: str) -> Iterator[Claim]:
    """The claims with content whose ids match."""
    for claim in load().claims:
        if claim.kind != "no-content" and any(fnmatch.fnmatch(claim.id, p) for p in patterns or ("*",)):
            yield claim


def main(patterns: list[str]) -> int:
    """Print what is not noticed."""
    show = partial(print, flush=True)
    counted = {True: 0, False: 0, None: 0}
    for claim in claims(*patterns):
        found = noticed(claim)
        counted[found] += 1
        if found is not True:
            show(f"{claim.id}: {'not noticed' if found is False else 'no value to change'}")
    show(f"{counted[True]} noticed, {counted[False]} not, {counted[None]} without a value to change")
    return counted[False]


if __name__ == "__main__":
    sys.exit(bool(main(sys.argv[1:])))
