"""Claims of a ledger, run here or in several processes, and what was found of them.

One comparison that is false refutes a statement; one that is undecided, with none false, leaves it undecided. A check
that compares nothing is undecided, and the run fails. An exception in a check is a fault of the run and never rejects a
control, not even an :class:`~symshuffle.base.errors.InputError`: a misspelt argument would raise the same. A grade is
reported only where the comparisons carry it, and all that is owed is (:mod:`~symshuffle.ledger.claims.obligations`).
"""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, TypeAlias, final

import numpy as np

from symshuffle.base.choices import members
from symshuffle.base.errors import InputError, check_progress
from symshuffle.base.executors import MOST_JOBS, processes
from symshuffle.base.numbers import DEFAULT_BITS, Verdict, as_integer, working_precision
from symshuffle.ledger.claims.comparisons import Comparison, Means
from symshuffle.ledger.claims.model import Check, Claim, ClaimVerdict, Control, Correction, Grade, Kind, Statement
from symshuffle.ledger.claims.obligations import recording, unmet
from symshuffle.ledger.claims.outcomes import Outcome, PartOutcome
from symshuffle.ledger.claims.registry import Ledger, load

if TYPE_CHECKING:
    from symshuffle.ledger.claims.certify import Witnesses

_Counts: TypeAlias = Counter[tuple[Means, Verdict]]


@final
@dataclass(frozen=True, slots=True)
class _Tally:
    """The comparisons of one statement, counted by the clause that they serve."""

    by_clause: Mapping[str, _Counts]
    refutation: Comparison | None = None
    fault: str | None = None

    def count(self, kind: Means | Verdict) -> int:
        """Comparisons that were decided so, or with this outcome."""
        return sum(count for found in self.by_clause.values() for key, count in found.items() if kind in key)

    @property
    def served(self) -> dict[str, frozenset[Means]]:
        return {of: frozenset(means for means, _ in found) for of, found in self.by_clause.items()}

    def clauses(self, claim: Claim) -> tuple[PartOutcome, ...]:
        """The verdict of each part that comparisons were made for, the statement as transcribed first."""
        order = {"": "the statement"} | {one.of: str(one) for one in claim.obligations}
        return tuple(_clause(of, self.by_clause[part]) for part, of in order.items() if part in self.by_clause)

    @property
    def refuted_symbolically(self) -> bool:
        return any(("symbolic", Verdict.FALSE) in found for found in self.by_clause.values())

    def verdict(self, kind: Kind) -> ClaimVerdict:
        if self.count(Verdict.FALSE):
            return "refuted"
        if self.fault is not None or self.count(Verdict.UNDECIDED):
            return "undecided"
        if kind == "no-content":
            return "no-content"
        if not self.by_clause:
            return "undecided"
        return "definition" if kind == "definition" else "holds"

    def objection(self, grade: Grade | None) -> str | None:
        """Why these comparisons do not carry a grade; None if they do."""
        doubles = self.count("float")
        if grade is None or grade == "refuted":
            return "every comparison is true, but no grade for that is declared"
        if grade != "sampled" and doubles:
            return f"graded {grade}, but {doubles} comparisons are in floating point"
        if grade == "proved" and not self.count("symbolic"):
            return "graded proved, but no comparison is symbolic"
        return None

    def __str__(self) -> str:
        means = ", ".join(f"{self.count(one)} {one}" for one in members(Means) if self.count(one))
        others = (one for one in (Verdict.FALSE, Verdict.UNDECIDED) if self.count(one))
        exceptions = ", ".join(f"{self.count(one)} {one.value}" for one in others)
        return "; ".join(filter(None, (means, exceptions))) or "no comparison"


def _clause(of: str, found: _Counts) -> PartOutcome:
    seen = {verdict for _, verdict in found}
    verdict: ClaimVerdict = "undecided" if Verdict.UNDECIDED in seen else "holds"
    counted = ((one, sum(count for (means, _), count in found.items() if means == one)) for one in members(Means))
    means = tuple((one, count) for one, count in counted if count)
    evidence = ", ".join(f"{count} {one}" for one, count in means)
    return PartOutcome(of, "refuted" if Verdict.FALSE in seen else verdict, evidence, means)


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
        seen, seen_corrected = _witnesses() if certified else (None, None)
        printed, passed = recording(claim.printed, seen.calls if seen else None)
        tally = _tally(claim.check, printed, claim.id, seen=seen)
        verdict = tally.verdict(claim.kind)
        corrected: PartOutcome | None = None
        wrong: str | None = None
        owed: tuple[str, ...] = ()
        if verdict == "refuted" and claim.corrected is not None:
            corrected, wrong, owed = _correct(claim, claim.corrected, seen_corrected)
        grade, weak = _grade(claim, verdict, tally)
        if grade is not None and verdict != "refuted":
            owed = tuple(unmet(claim, claim, passed, tally.served, lambda: seeded(claim.id)))
        proved = "proved" in (claim.grade, claim.corrected.grade if claim.corrected is not None else None)
        told, rejections = tally.refuted_symbolically, []
        for control in claim.controls:
            # A proved claim needs one control that a symbolic comparison rejects; any comparison may reject the others.
            until = frozenset(("symbolic",) if proved and not told else members(Means))
            perturbed = _tally(control.check or claim.check, control.statement, claim.id, until=until)
            told = told or perturbed.refuted_symbolically
            rejections.append(_not_rejected(control, perturbed))
    faults = [tally.fault, weak, wrong, *owed, *rejections]
    if proved and not told:
        faults.append("graded proved, but no symbolic comparison rejects a control or the printed statement")
    if not tally.by_clause and tally.fault is None and claim.kind != "no-content":
        faults.append("vacuous: the check compared nothing")
    if not claim.controls and claim.kind != "no-content":
        faults.append("no negative control")
    found = tuple(fault for fault in faults if fault is not None)
    grade = None if owed and verdict != "refuted" else grade
    content = None
    if seen is not None and not found:
        from symshuffle.ledger.claims.certify import certificate

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


def _witnesses() -> tuple[Witnesses, Witnesses]:
    from symshuffle.ledger.claims.certify import Witnesses

    return Witnesses(), Witnesses()


def counterexample(claim: Claim) -> Comparison | None:
    """The first comparison of its check that refutes the printed statement; None where it holds."""
    with working_precision(DEFAULT_BITS):
        return _tally(claim.check, claim.printed, claim.id, until=frozenset(members(Means))).refutation


def outcome_of(
    claim: Claim,
    verdict: ClaimVerdict,
    faults: tuple[str, ...],
    evidence: str,
    tally: _Tally | None = None,
    **found: Any,
) -> Outcome:
    """The outcome of a claim; what is not given was not found."""
    tally = tally or _Tally({})
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
        true=tally.count(Verdict.TRUE),
        undecided=tally.count(Verdict.UNDECIDED),
        false=tally.count(Verdict.FALSE),
        means=tuple((one, tally.count(one)) for one in members(Means) if tally.count(one)),
        obligations=claim.obligations,
        clauses=tally.clauses(claim),
        unchecked=tuple(one for one in claim.clauses if one.role != "checked"),
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
    by_clause: dict[str, _Counts] = {}
    refutation, fault = None, None
    try:
        for comparison in check(statement, seeded(claim_id)):
            if seen is not None:
                seen.add(comparison)
            by_clause.setdefault(comparison.serves, Counter())[comparison.means, comparison.verdict] += 1
            if comparison.verdict is Verdict.FALSE:
                refutation = refutation or replace(comparison, values=None, solution=None)
                if comparison.means in until:
                    break
    except Exception as error:  # the ledger reports what a check raised; hiding it would pass for a verdict
        fault = " ".join(f"the check raised {type(error).__name__}: {error}".split())
    return _Tally(by_clause, refutation, fault)


def _grade(claim: Claim, verdict: ClaimVerdict, tally: _Tally) -> tuple[Grade | None, str | None]:
    if verdict == "refuted":
        return "refuted", None
    if verdict == "undecided":
        return None, None
    if verdict == "no-content":
        return None, None if claim.grade is None else "a grade is declared for an entry without content"
    objection = tally.objection(claim.grade)
    return (claim.grade if objection is None else None), objection


def _correct(
    claim: Claim, correction: Correction, seen: Witnesses | None
) -> tuple[PartOutcome, str | None, tuple[str, ...]]:
    """What became of the correction, the fault of its verdict or grade, and what it owes."""
    statement, passed = recording(correction.statement, seen.calls if seen else None)
    tally = _tally(correction.check or claim.check, statement, claim.id, seen=seen)
    grade: Grade | None = None
    verdict, fault, faults = tally.verdict("statement"), None, tuple[str, ...]()
    if verdict != "holds":
        fault = f"the corrected statement is {verdict}: {tally.refutation or tally.fault or tally}"
        grade = "refuted" if verdict == "refuted" else None
    elif (objection := tally.objection(correction.grade)) is not None:
        fault = f"the corrected statement: {objection}"
    else:
        owed = unmet(claim, correction, passed, tally.served, lambda: seeded(claim.id))
        faults = tuple(f"the corrected statement: {one}" for one in owed)
        grade = None if faults else correction.grade
    return PartOutcome(correction.text, verdict, str(tally), grade=grade), fault, faults


def _not_rejected(control: Control, tally: _Tally) -> str | None:
    """Why a control was not rejected; None if it was."""
    if tally.fault is not None:
        return f"control {control.name!r}: {tally.fault}"
    return f"control {control.name!r} was not rejected ({tally})" if tally.refutation is None else None


_Progress: TypeAlias = Callable[[Outcome], object]
"""Called with each outcome as it is found, in no particular order."""


def silent(outcome: Outcome) -> None:
    """Show nothing."""


def verify_claims(
    ledger: Ledger | None = None,
    claims: Sequence[Claim] | None = None,
    *,
    jobs: int = 1,
    certified: bool = False,
    progress: _Progress | None = silent,
) -> tuple[Outcome, ...]:
    """Outcomes of claims in the order given, run in parallel if asked.

    Everything but the seconds is the same for every number of jobs: each claim starts from its own seed and the
    same precision. Workers are started afresh and receive the id of a claim; they find the claim itself in their own
    copy of the ledger, because a check defined inside a function does not travel between processes.

    Parameters
    ----------
    ledger : Ledger, optional
        Where the claims come from; by default all papers, as :func:`symshuffle.ledger.claims.registry.load` reads them.
    claims : sequence of Claim, optional
        Some of its claims; by default all.
    jobs : int
        Number of processes, from 1 to 256; with 1, the claims run in this one.
    certified : bool
        Whether outcomes are to hold certificates.
    progress : callable
        Called with every outcome as it is found.

    Returns
    -------
    tuple of Outcome
        One per claim.

    Raises
    ------
    InputError
        If ``jobs`` is no integer of that range, or what is given is no ledger or no claim.
    """
    jobs = as_integer(jobs, "jobs", 1, MOST_JOBS)
    ledger = load() if ledger is None else ledger
    asked: object = ledger  # callers are not type-checked
    if not isinstance(asked, Ledger):
        raise InputError("ledger", asked, "a ledger, as symshuffle.ledger.load() reads it")
    check_progress(progress, 1)
    chosen = ledger.claims if claims is None else _claims(claims)
    here = jobs == 1 or len(chosen) < 2
    alone = (run_claim(claim, certified=certified) for claim in chosen)
    found = alone if here else _run_in_pool(ledger, chosen, jobs, certified)
    outcomes: dict[str, Outcome] = {}
    for outcome in found:
        outcomes[outcome.id] = outcome
        if progress is not None:
            progress(outcome)
    return tuple(outcomes[claim.id] for claim in chosen)


def _claims(given: object) -> tuple[Claim, ...]:
    found = tuple(given) if isinstance(given, Sequence) else (given,)
    for place, claim in enumerate(found):
        if not isinstance(claim, Claim):
            raise InputError(f"claims[{place}]", claim, "a claim, as those of ledger.select([ID])")
    return found


def _run_in_pool(ledger: Ledger, claims: Sequence[Claim], jobs: int, certified: bool) -> Iterator[Outcome]:
    last = len(ledger.costliest)
    place = {claim_id: index for index, claim_id in enumerate(ledger.costliest)}
    queued = sorted(claims, key=lambda claim: place.get(claim.id, last))
    with processes(min(jobs, len(claims))) as pool:
        submitted = {pool.submit(_run_by_id, ledger.package, claim.id, certified): claim for claim in queued}
        for future in as_completed(submitted):
            yield _result(future, submitted[future])


def _run_by_id(package: str, claim_id: str, certified: bool) -> Outcome:
    return run_claim(load(package).claim(claim_id), certified=certified)


def _result(future: Future[Outcome], claim: Claim) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        fault = "a worker process died while this claim was running or waiting"
        return outcome_of(claim, "undecided", (fault,), fault)
