"""Runs claims and says what was found.

One comparison that is false refutes a statement; one that is undecided, with none false, leaves it undecided. A check
that compares nothing is undecided, and the run fails. An exception in a check is a fault of the run and never rejects a
control, not even an :class:`~symshuffle.base.errors.InputError`: a misspelt argument would raise the same. A grade is
reported only where the comparisons carry it, and all that is owed is (:mod:`~symshuffle.ledger.claims.obligations`).
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, final

import numpy as np

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import DEFAULT_BITS, Verdict, working_precision
from symshuffle.ledger.claims.certify import Witnesses, certificate
from symshuffle.ledger.claims.comparisons import Comparison, Means
from symshuffle.ledger.claims.model import Check, Claim, ClaimVerdict, Control, Correction, Grade, Kind, Statement
from symshuffle.ledger.claims.obligations import recording, unmet
from symshuffle.ledger.claims.outcomes import Corrected, Outcome, PartOutcome
from symshuffle.ledger.claims.parts import Role


@final
@dataclass(frozen=True, slots=True)
class _Tally:
    """The comparisons of one statement, counted."""

    outcomes: Counter[Verdict]
    means: Counter[Means]
    by_clause: Mapping[str, Counter[tuple[Means, Verdict]]]
    refuted_by: frozenset[Means]
    refutation: Comparison | None
    fault: str | None

    @property
    def total(self) -> int:
        return self.outcomes.total()

    @property
    def served(self) -> dict[str, frozenset[Means]]:
        return {of: frozenset(means for means, _ in found) for of, found in self.by_clause.items()}

    def clauses(self, claim: Claim) -> tuple[PartOutcome, ...]:
        """The verdict of each part that comparisons were made for, the statement as transcribed first."""
        order = {"": "the statement"} | {one.of: str(one) for one in claim.obligations}
        return tuple(_clause(of, self.by_clause[part]) for part, of in order.items() if part in self.by_clause)

    @property
    def refuted_symbolically(self) -> bool:
        return Means.SYMBOLIC in self.refuted_by

    def verdict(self, kind: Kind) -> ClaimVerdict:
        if self.outcomes[Verdict.FALSE]:
            return ClaimVerdict.REFUTED
        if kind is Kind.NO_CONTENT and self.fault is None and not self.outcomes[Verdict.UNDECIDED]:
            return ClaimVerdict.NO_CONTENT
        if self.fault is not None or self.outcomes[Verdict.UNDECIDED] or not self.total:
            return ClaimVerdict.UNDECIDED
        return ClaimVerdict.DEFINITION if kind is Kind.DEFINITION else ClaimVerdict.HOLDS

    def objection(self, grade: Grade | None) -> str | None:
        """Why these comparisons do not carry a grade; None if they do."""
        doubles, symbolic = self.means[Means.FLOAT], self.means[Means.SYMBOLIC]
        match grade:
            case None | Grade.REFUTED:
                return "every comparison is true, but no grade for that is declared"
            case Grade.SAMPLED:
                return None
            case _ if doubles:
                return f"graded {grade.value}, but {doubles} comparisons are in floating point"
            case Grade.PROVED if not symbolic:
                return "graded proved, but no comparison is symbolic"
            case _:
                return None

    def __str__(self) -> str:
        if not self.total:
            return "no comparison"
        counted = ", ".join(f"{self.means[means]} {means.value}" for means in Means if self.means[means])
        exceptions = ", ".join(
            f"{self.outcomes[verdict]} {verdict.value}"
            for verdict in (Verdict.FALSE, Verdict.UNDECIDED)
            if self.outcomes[verdict]
        )
        return f"{counted}; {exceptions}" if exceptions else counted


def _clause(of: str, found: Counter[tuple[Means, Verdict]]) -> PartOutcome:
    verdict = ClaimVerdict.HOLDS
    for bad, worse in ((Verdict.UNDECIDED, ClaimVerdict.UNDECIDED), (Verdict.FALSE, ClaimVerdict.REFUTED)):
        verdict = worse if any(judged is bad for _, judged in found) else verdict
    means: Counter[Means] = Counter()
    for (one, _), count in found.items():
        means[one] += count
    return PartOutcome(of, verdict, tuple((one, means[one]) for one in Means if means[one]))


def seeded(claim_id: str) -> np.random.Generator:
    """A new random generator that depends on the id of a claim and on nothing else."""
    return np.random.default_rng(int.from_bytes(hashlib.sha256(claim_id.encode()).digest()))


def run_claim(claim: Claim, *, certified: bool = False) -> Outcome:
    """Outcome of one claim: its statement, its controls and its correction.

    The correction is checked only if the printed statement falls.

    Parameters
    ----------
    claim : Claim
        The claim.
    certified : bool
        Whether the outcome is to hold the content of a certificate file.

    Returns
    -------
    Outcome
        Verdict, grade, counts of comparisons and every fault found; a failing check is a fault, not an exception.

    Raises
    ------
    InputError
        If it is no claim.
    """
    if not isinstance(claim, Claim):
        raise InputError("claim", claim, "a claim, as one of symshuffle.ledger.load().claims")
    start = time.perf_counter()
    # Ball precision is global to the process: no claim may inherit what another one left behind.
    with working_precision(DEFAULT_BITS):
        seen, seen_corrected = (Witnesses(), Witnesses()) if certified else (None, None)
        printed, record = recording(claim.printed, seen.calls if seen else None)
        tally = _tally(claim.check, printed, claim.id, seen=seen)
        verdict = tally.verdict(claim.kind)
        corrected: Corrected | None = None
        wrong: str | None = None
        owed: tuple[str, ...] = ()
        if verdict is ClaimVerdict.REFUTED and claim.corrected is not None:
            corrected, wrong, owed = _correct(claim, claim.corrected, seen_corrected)
        grade, weak = _grade(claim, verdict, tally)
        if grade is not None and verdict is not ClaimVerdict.REFUTED:
            owed = tuple(unmet(claim, claim, record, tally.served, lambda: seeded(claim.id)))
        proved = Grade.PROVED in (claim.grade, claim.corrected.grade if claim.corrected is not None else None)
        told, rejections = tally.refuted_symbolically, []
        for control in claim.controls:
            # Once one false comparison is symbolic, the first one of any kind will do for the other controls.
            until = frozenset({Means.SYMBOLIC} if proved and not told else Means)
            perturbed = _tally(control.check or claim.check, control.statement, claim.id, until=until)
            told = told or perturbed.refuted_symbolically
            rejections.append(_not_rejected(control, perturbed))
    faults = [tally.fault, weak, wrong, *owed, *rejections]
    if proved and not told:
        faults.append("graded proved, but no symbolic comparison rejects a control or the printed statement")
    if not tally.total and tally.fault is None and claim.kind is not Kind.NO_CONTENT:
        faults.append("vacuous: the check compared nothing")
    if not claim.controls and claim.kind is not Kind.NO_CONTENT:
        faults.append("no negative control")
    found = tuple(fault for fault in faults if fault is not None)
    grade = None if owed and verdict is not ClaimVerdict.REFUTED else grade
    content = None
    if seen is not None and not found:
        content = certificate(claim, verdict, grade, seen, seen_corrected if corrected else None)
    return outcome_of(
        claim,
        verdict,
        found,
        "; ".join((str(tally), *found)),
        tally,
        grade=grade,
        controls_rejected=rejections.count(None),
        symbolic_rejection=told if proved else None,
        seconds=time.perf_counter() - start,
        corrected=corrected,
        certificate=content,
    )


def counterexample(claim: Claim) -> Comparison | None:
    """The first comparison of its check that refutes the printed statement; None where it holds."""
    with working_precision(DEFAULT_BITS):
        return _tally(claim.check, claim.printed, claim.id, until=frozenset(Means)).refutation


def outcome_of(
    claim: Claim,
    verdict: ClaimVerdict,
    faults: tuple[str, ...],
    evidence: str,
    tally: _Tally | None = None,
    **found: Any,
) -> Outcome:
    """The outcome of a claim; what is not given was not found."""
    tally = tally or _Tally(Counter(), Counter(), {}, frozenset(), None, None)
    nothing = dict.fromkeys(("grade", "symbolic_rejection", "corrected", "certificate"))
    return Outcome(
        id=claim.id,
        paper=claim.paper,
        kind=claim.kind,
        title=claim.title,
        source=claim.source,
        verdict=verdict,
        recorded=claim.expected,
        scope=claim.scope,
        assumptions=claim.assumptions,
        evidence=evidence,
        true=tally.outcomes[Verdict.TRUE],
        undecided=tally.outcomes[Verdict.UNDECIDED],
        false=tally.outcomes[Verdict.FALSE],
        means=tuple((one, tally.means[one]) for one in Means if tally.means[one]),
        obligations=claim.obligations,
        clauses=tally.clauses(claim),
        unchecked=tuple(one for one in claim.clauses if one.role is not Role.CHECKED),
        controls=len(claim.controls),
        printed=claim.words,
        refutation=tally.refutation,
        faults=faults,
        **{"controls_rejected": 0, "seconds": 0.0, **nothing, **found},
    )


def _tally(
    check: Check,
    statement: Statement,
    claim_id: str,
    *,
    until: frozenset[Means] = frozenset(),
    seen: Witnesses | None = None,
) -> _Tally:
    """Run a check, to its end or until a comparison that was decided by certain means is false."""
    outcomes: Counter[Verdict] = Counter()
    means: Counter[Means] = Counter()
    by_clause: dict[str, Counter[tuple[Means, Verdict]]] = {}
    refuted_by: set[Means] = set()
    refutation, fault = None, None
    try:
        for comparison in check(statement, seeded(claim_id)):
            if seen is not None:
                seen.add(comparison)
            outcomes[comparison.verdict] += 1
            means[comparison.means] += 1
            by_clause.setdefault(comparison.serves, Counter())[comparison.means, comparison.verdict] += 1
            if comparison.verdict is Verdict.FALSE:
                refutation = refutation or replace(comparison, values=None, solution=None)
                refuted_by.add(comparison.means)
                if comparison.means in until:
                    break
    except Exception as error:  # the ledger reports what a check raised; hiding it would pass for a verdict
        fault = " ".join(f"the check raised {type(error).__name__}: {error}".split())
    return _Tally(outcomes, means, by_clause, frozenset(refuted_by), refutation, fault)


def _grade(claim: Claim, verdict: ClaimVerdict, tally: _Tally) -> tuple[Grade | None, str | None]:
    match verdict:
        case ClaimVerdict.REFUTED:
            return Grade.REFUTED, None
        case ClaimVerdict.UNDECIDED:
            return None, None
        case ClaimVerdict.NO_CONTENT:
            return None, None if claim.grade is None else "a grade is declared for an entry without content"
        case _:
            objection = tally.objection(claim.grade)
            return (claim.grade if objection is None else None), objection


def _correct(
    claim: Claim, correction: Correction, seen: Witnesses | None
) -> tuple[Corrected, str | None, tuple[str, ...]]:
    statement, record = recording(correction.statement, seen.calls if seen else None)
    tally = _tally(correction.check or claim.check, statement, claim.id, seen=seen)
    verdict = tally.verdict(Kind.STATEMENT)
    if verdict is not ClaimVerdict.HOLDS:
        where = tally.refutation or tally.fault or str(tally)
        fault = f"the corrected statement is {verdict.value}: {where}"
        grade = Grade.REFUTED if verdict is ClaimVerdict.REFUTED else None
        return Corrected(correction.text, verdict, grade, str(tally)), fault, ()
    objection = tally.objection(correction.grade)
    if objection is not None:
        return Corrected(correction.text, verdict, None, str(tally)), f"the corrected statement: {objection}", ()
    owed = unmet(claim, correction, record, tally.served, lambda: seeded(claim.id))
    faults = tuple(f"the corrected statement: {fault}" for fault in owed)
    return Corrected(correction.text, verdict, None if faults else correction.grade, str(tally)), None, faults


def _not_rejected(control: Control, tally: _Tally) -> str | None:
    """Why a control was not rejected; None if it was."""
    if tally.fault is not None:
        return f"control {control.name!r}: {tally.fault}"
    return f"control {control.name!r} was not rejected ({tally})" if tally.refutation is None else None
