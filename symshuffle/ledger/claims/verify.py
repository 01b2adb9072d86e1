"""The claims of a ledger, run here or in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import TypeAlias

from symshuffle.base.errors import InputError, check_progress
from symshuffle.base.executors import MOST_JOBS, processes
from symshuffle.base.numbers import as_integer
from symshuffle.ledger.claims.model import Claim, ClaimVerdict
from symshuffle.ledger.claims.outcomes import Outcome
from symshuffle.ledger.claims.registry import Ledger, load
from symshuffle.ledger.claims.run import outcome_of, run_claim

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
        return outcome_of(claim, ClaimVerdict.UNDECIDED, (fault,), fault)
