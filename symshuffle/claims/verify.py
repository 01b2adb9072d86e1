"""The claims of a ledger, run here or in several processes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Final, TypeAlias

from symshuffle.claims.model import Claim, ClaimVerdict
from symshuffle.claims.outcomes import Outcome
from symshuffle.claims.registry import Ledger, load
from symshuffle.claims.run import outcome_of, run
from symshuffle.executors import MOST_JOBS, processes
from symshuffle.numbers import as_integer

Progress: TypeAlias = Callable[[Outcome], object]
"""Called with each outcome as it is found, in no particular order."""


def silent(outcome: Outcome) -> None:
    """Show nothing."""


def verify(
    ledger: Ledger | None = None,
    claims: Sequence[Claim] | None = None,
    *,
    jobs: int = 1,
    certified: bool = False,
    progress: Progress = silent,
) -> tuple[Outcome, ...]:
    """Run claims, in parallel if asked, and return their outcomes in the order given.

    Everything but the seconds is the same for every number of jobs: each claim starts from its own seed and the
    same precision. Workers are started afresh and receive the id of a claim; they find the claim itself in their own
    copy of the ledger, because a check defined inside a function does not travel between processes.

    Parameters
    ----------
    ledger : Ledger, optional
        Where the claims come from; by default all papers, as :func:`symshuffle.claims.registry.load` reads them.
    claims : sequence of Claim, optional
        Some of its claims; by default all.
    jobs : int
        Number of processes, from 1 to 256; with 1, the claims run in this one.
    certified : bool
        Whether outcomes are to hold certificates.
    progress : callable
        Called with every outcome as it is found.

    Raises
    ------
    InputError
        If ``jobs`` is no integer of that range.
    """
    jobs = as_integer(jobs, "jobs", 1, MOST_JOBS)
    ledger = load() if ledger is None else ledger
    chosen = ledger.claims if claims is None else tuple(claims)
    here = jobs == 1 or len(chosen) < 2
    found = _run_here(chosen, certified) if here else _run_in_pool(ledger, chosen, jobs, certified)
    outcomes: dict[str, Outcome] = {}
    for outcome in found:
        outcomes[outcome.id] = outcome
        progress(outcome)
    return tuple(outcomes[claim.id] for claim in chosen)


verify_claims: Final = verify
"""The name at the top level, where ``verify`` alone says too little; ``symshuffle.verify`` stays."""


def _run_here(claims: Sequence[Claim], certified: bool) -> Iterator[Outcome]:
    return (run(claim, certified=certified) for claim in claims)


def _run_in_pool(ledger: Ledger, claims: Sequence[Claim], jobs: int, certified: bool) -> Iterator[Outcome]:
    with processes(min(jobs, len(claims))) as pool:
        submitted = {pool.submit(_run_by_id, ledger.package, claim.id, certified): claim for claim in claims}
        for future in as_completed(submitted):
            yield _result(future, submitted[future])


def _run_by_id(package: str, claim_id: str, certified: bool) -> Outcome:
    return run(load(package).claim(claim_id), certified=certified)


def _result(future: Future[Outcome], claim: Claim) -> Outcome:
    try:
        return future.result()
    except BrokenProcessPool:
        fault = "a worker process died while this claim was running or waiting"
        return outcome_of(claim, ClaimVerdict.UNDECIDED, faults=(fault,), evidence=fault)
