"""Whether the comparisons of a check are what its claim owes.

A statement about every n, every channel or a limit is not *proved* by a symbolic identity about something else. The
rules, for each thing that a claim speaks about:

- a parameter of the transcribed statement is ``for all`` unless the claim lists it otherwise. *Proved* needs a symbolic
  comparison that falls when the statement is made false for large values of it
  (:mod:`symshuffle.ledger.claims.beyond`); *certified* needs that it stood for a symbol, because finitely many
  certificates do not certify a general statement;
- a clause in words (``for_all("channels")``) needs comparisons that name it. *Proved* needs a symbolic one, where the
  clause is ``for all`` or a ``limit``, and it has to fall with the statement or under a control;
- a parameter that only ever stands for an object without numbers (a function, a flag) is such a clause where something
  is *proved*; below that, the comparisons of the statement as a whole are its;
- a comparison names only what the claim lists, and a *proved* claim lists something.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Set
from typing import Final

import numpy as np

from symshuffle.ledger.claims.beyond import Record, falls, rejects
from symshuffle.ledger.claims.comparisons import Means
from symshuffle.ledger.claims.model import Claim, Correction, Grade, Kind, Quantifier, parameters

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
        yield from _unproved(claim, holds, record, general, generator)
        for clause, quantifier in clauses.items():
            if quantifier in GENERAL and clause in served:
                yield from _unproved_clause(claim, holds, record, clause, served[clause], generator)


def _unproved(
    claim: Claim,
    holds: Claim | Correction,
    record: Record,
    general: list[str],
    generator: Callable[[], np.random.Generator],
) -> Iterator[str]:
    check, statement = holds.check or claim.check, _statement(holds)
    for name in general:
        if name not in record.symbolic:
            yield f"graded proved, but {name} only takes the values that are enumerated"
        elif not falls(check, statement, name, generator):
            yield f"graded proved, but no symbolic comparison falls when the statement is made false for large {name}"


def _unproved_clause(
    claim: Claim,
    holds: Claim | Correction,
    record: Record,
    clause: str,
    means: Set[Means],
    generator: Callable[[], np.random.Generator],
) -> Iterator[str]:
    if Means.SYMBOLIC not in means:
        yield f"graded proved, but no symbolic comparison serves {clause!r}"
        return
    check, statement = holds.check or claim.check, _statement(holds)
    if any(falls(check, statement, name, generator, serving=clause) for name in sorted(record.symbolic)):
        return
    for control in claim.controls:
        try:
            if rejects((control.check or check)(control.statement, generator()), serving=clause):
                return
        except Exception:  # the runner reports it where it judges the control itself
            continue
    yield f"graded proved, but what serves {clause!r} does not depend on the statement"


def _statement(holds: Claim | Correction) -> Callable[..., object]:
    return holds.printed if isinstance(holds, Claim) else holds.statement
