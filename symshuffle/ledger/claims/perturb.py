"""Transcribed statements made wrong by small changes, and whether the checks of their claims reject them.

A change is made in the syntax tree of the statement, which is compiled again in the namespace of its module, or to its
arguments or its value as a whole. Controls are wrong statements that the author of a check thought of; these are drawn.
"""

from __future__ import annotations

import inspect
import itertools
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import partial, wraps
from pathlib import Path
from typing import Any, Final, final

from symshuffle.base.numbers import DEFAULT_BITS, Verdict, working_precision
from symshuffle.ledger.claims.edits import CHANGES, EXTREMES, Perturbation, bare, changed_sources
from symshuffle.ledger.claims.model import Check, Claim, Statement, parameters
from symshuffle.ledger.claims.obligations import beyond, changed_entries
from symshuffle.ledger.claims.run import seeded

FATES: Final = ("rejected", "accepted", "undecided", "stopped", "error")
"""What a check makes of a perturbed statement: accepted where no comparison is false."""


def subject(claim: Claim) -> tuple[Statement, Check] | None:
    """The true statement of a claim, its correction where the printed one is false, and its check; None without."""
    if claim.kind == "no-content":
        return None
    if claim.expected != "refuted":
        return claim.printed, claim.check
    return None if claim.corrected is None else (claim.corrected.statement, claim.corrected.check or claim.check)


def findings(
    claim: Claim,
    *,
    seed: int | str = 0,
    each: int = 1,
    kinds: Iterable[str] = tuple(CHANGES),
    seconds: float = 60,
) -> tuple[dict[str, Any], ...]:
    """What the check of a claim makes of perturbations of its true statement.

    Parameters
    ----------
    claim : Claim
        The claim. Its correction is perturbed where the printed statement is false.
    seed : int or str
        Which perturbations are drawn depends on it, the id of the claim and the kind.
    each : int
        How many perturbations of each kind are drawn at most; at least 1.
    kinds : iterable of str
        Kinds of perturbations, of ``CHANGES``.
    seconds : float
        After so long no further comparison of a perturbation is made.

    Returns
    -------
    tuple of dict
        One per perturbation that applies: one of an argument that is never a number does not. ``fate`` is one of
        ``FATES``; ``file`` and ``line`` say where the statement is changed, ``comparisons`` how many were made, the
        first false one included, ``calls`` how often the statement was asked for, ``differed`` how often it differs.
    """
    found = subject(claim)
    if found is None:
        return ()
    statement, check = found
    by_kind: dict[str, list[Perturbation]] = {}
    for one in perturbations(statement):
        by_kind.setdefault(one[0], []).append(one)
    judged = []
    for kind in kinds:
        draw = random.Random(f"{seed} {claim.id} {kind}")
        options, left = by_kind.get(kind, []), each
        for one in draw.sample(options, len(options)):
            result = _judged(claim, statement, check, one, seconds) if left else None
            left -= result is not None
            judged += [result] if result else []
    return tuple(judged)


@final
class _Untouched(Exception):
    """A change of the arguments that does not apply to those of a call."""


def _judged(
    claim: Claim, statement: Statement, check: Check, one: Perturbation, seconds: float
) -> dict[str, Any] | None:
    """Run the check on a perturbed statement; None where the change applies to no call."""
    kind, line, change, perturbed = one
    calls, touched, differed = 0, 0, 0

    def watched(*args: Any, **options: Any) -> Any:
        nonlocal calls, touched, differed
        calls += 1
        try:
            value = perturbed(*args, **options)
        except _Untouched:
            return statement(*args, **options)
        touched += 1
        differed += not _alike(value, statement(*args, **options))
        return value

    fates: Counter[Verdict] = Counter()
    fate, evidence, end = "accepted", "", time.monotonic() + seconds
    with working_precision(DEFAULT_BITS):
        try:
            for comparison in check(watched, seeded(claim.id)):
                fates[comparison.verdict] += 1
                if comparison.verdict is Verdict.FALSE:
                    fate, evidence = "rejected", str(comparison)
                    break
                if time.monotonic() > end:
                    fate, evidence = "stopped", f"after {seconds:g} s"
                    break
        except Exception as error:  # as in a run: what a check raises is no rejection
            fate, evidence = "error", " ".join(f"{type(error).__name__}: {error}".split())
    if not touched and fate != "error":
        return None
    if fate == "accepted" and fates[Verdict.UNDECIDED]:
        fate = "undecided"
    return {
        "claim": claim.id,
        "kind": kind,
        "file": _file(statement),
        "line": line,
        "change": change,
        "fate": fate,
        "comparisons": fates.total(),
        "calls": calls,
        "differed": differed,
        "evidence": evidence,
    }


def _alike(value: Any, other: Any) -> bool:
    try:
        return bool(value == other)
    except Exception:  # arrays and functions have no one answer
        return False


def _file(statement: Statement) -> str:
    """The file of a statement, from the folder that its package lies in."""
    module = inspect.getmodule(bare(statement))
    path = Path(getattr(module, "__file__", None) or "")
    return "/".join(path.parts[-len(module.__name__.split(".")) :]) if module is not None and path.parts else ""


def perturbations(statement: Statement, *, large: int = 50) -> Iterator[Perturbation]:
    """All perturbations of a statement, in the order of its source and then of its parameters.

    A function of C has no source: only its arguments and its value are changed.

    - ``large``: beyond this value of a parameter a statement of the kind *beyond* is false.
    """
    yield from changed_sources(statement)
    code = getattr(bare(statement), "__code__", None)
    line = code.co_firstlineno if code else 0
    for percent in (101, 99):
        scaled = partial(_scaled, by=Fraction(percent, 100))
        yield "constant", line, f"value * {percent}/100", _after(statement, scaled)
    for by in (1, -1):
        yield "shift", line, f"value {by:+d}", _after(statement, partial(_moved, by=by))
    yield "sign", line, "- value", _after(statement, _negated)
    if statement in EXTREMES:
        return
    names = parameters(statement)
    for name in names:
        known = _before(statement, partial(_counts, name=name))
        for by in (1, -1):
            yield "shift", line, f"{name} {by:+d}", _before(statement, partial(_shift, name=name, by=by))
            wrong = beyond(known, name, by, threshold=large, also_integers=True)
            yield "beyond", line, f"value {by:+d} where {name} > {large}", wrong
    for first, second in itertools.combinations(names, 2):
        swapped = _before(statement, partial(_swap, first=first, second=second))
        yield "roles", line, f"{first} and {second} exchanged", swapped


def _before(statement: Statement, change: Callable[[dict[str, Any]], None]) -> Statement:
    """The statement of changed arguments."""

    @wraps(statement)
    def changed(*args: Any, **options: Any) -> Any:
        bound = inspect.signature(statement).bind(*args, **options)
        change(bound.arguments)
        return statement(*bound.args, **bound.kwargs)

    return changed


def _shift(named: dict[str, Any], name: str, by: int) -> None:
    _counts(named, name)
    named[name] += by


def _counts(named: dict[str, Any], name: str) -> None:
    """Refuse an argument that is neither an integer nor a symbol: a probability is never large."""
    value = named.get(name)
    if isinstance(value, bool) or not (isinstance(value, int) or getattr(value, "free_symbols", None)):
        raise _Untouched


def _swap(named: dict[str, Any], first: str, second: str) -> None:
    if first not in named or second not in named or type(named[first]) is not type(named[second]):
        raise _Untouched
    named[first], named[second] = named[second], named[first]


def _after(statement: Statement, change: Callable[[Any], Any]) -> Statement:
    """The statement with a changed value."""

    def changed(*args: Any, **options: Any) -> Any:
        value = statement(*args, **options)
        new = changed_entries(value, change)
        if _alike(new, value):
            raise _Untouched
        return new

    return changed


def _scaled(value: Any, by: Fraction) -> Any:
    if isinstance(value, bool | Verdict):
        return value
    return value * (float(by) if isinstance(value, float) else by)


def _moved(value: Any, by: int) -> Any:
    return value if isinstance(value, bool | Verdict) else value + by


def _negated(value: Any) -> Any:
    match value:
        case bool():
            return not value
        case Verdict():
            return ~value
        case _:
            return -value
