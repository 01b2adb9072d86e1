"""What a run found about a claim, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, final

from symshuffle.ledger.claims.comparisons import Comparison, Means
from symshuffle.ledger.claims.model import ClaimVerdict, Grade, Kind, Obligation
from symshuffle.ledger.claims.parts import Clause


@final
@dataclass(frozen=True, slots=True)
class PartOutcome:
    """What a run found about one part of a statement, or about the corrected statement of a refuted claim.

    - ``of``: the obligation, ``"the statement"`` for the comparisons that name no part, or the corrected statement.
    - ``verdict``: ``HOLDS``, ``REFUTED`` or ``UNDECIDED``, by its own comparisons.
    - ``grade``: of a corrected statement that holds.
    - ``evidence``: the comparisons in a few words.
    """

    of: str
    verdict: ClaimVerdict
    evidence: str
    means: tuple[tuple[Means, int], ...] = ()
    grade: Grade | None = None


@final
@dataclass(frozen=True, slots=True)
class Outcome:
    """Result of checking one claim.

    Parameters
    ----------
    id, paper, title, source, scope, assumptions
        As in the claim.
    kind : Kind
        What the entry is.
    verdict, recorded : ClaimVerdict
        What was found, and what the ledger has on record.
    grade : Grade or None
        Strength of the evidence; None where the claim is undecided, has no content, or its evidence is too weak
        for the grade it declares.
    evidence : str
        The comparisons in a few words, with the faults if there are any.
    true, undecided, false : int
        Comparisons of the printed statement by outcome.
    means : tuple of (Means, int)
        The same comparisons by how they were decided.
    obligations : tuple of Obligation
        What has to be proved for the claim.
    clauses : tuple of PartOutcome
        The verdict of the statement as transcribed, for the values of its parameters, and of each clause in words.
    unchecked : tuple of Clause
        Clauses of the text that are quoted or definitions: no comparison is about them.
    controls, controls_rejected : int
        Numbers of perturbed statements, and of those that the check rejects.
    symbolic_rejection : bool or None
        Whether a symbolic comparison rejects one of them, or the printed statement: the proof is then about the
        statement itself. None where neither the claim nor its correction is declared proved.
    seconds : float
        Wall-clock time.
    printed : str
        The statement, in our words.
    refutation : Comparison or None
        The first comparison that refutes it; a check that goes from small instances to large ones makes it minimal.
    corrected : PartOutcome or None
        The corrected statement, for a refuted claim.
    faults : tuple of str
        What is wrong with the check or its controls; empty in a sound run.
    certificate : mapping or None
        Content of a certificate file (:mod:`symshuffle.ledger.claims.certify`); None unless asked for, or if the run
        has faults, or no comparison could be written exactly.
    """

    id: str
    paper: str
    kind: Kind
    title: str
    source: str
    verdict: ClaimVerdict
    recorded: ClaimVerdict
    grade: Grade | None
    scope: str
    assumptions: tuple[str, ...]
    evidence: str
    true: int
    undecided: int
    false: int
    means: tuple[tuple[Means, int], ...]
    obligations: tuple[Obligation, ...]
    clauses: tuple[PartOutcome, ...]
    unchecked: tuple[Clause, ...]
    controls: int
    controls_rejected: int
    symbolic_rejection: bool | None
    seconds: float
    printed: str
    refutation: Comparison | None
    corrected: PartOutcome | None
    faults: tuple[str, ...]
    certificate: Mapping[str, Any] | None = None

    @property
    def agrees_with_record(self) -> bool:
        """Whether the run has no faults, rejects all controls and finds the known verdict."""
        return not self.faults and self.verdict == self.recorded

    @property
    def counterexample(self) -> str | None:
        """Refuting comparison as one line of text."""
        return None if self.refutation is None else str(self.refutation)
