"""How much a statement that is false as printed matters, and whether its authors would call it an error."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, final

from symshuffle.base.choices import replace_choice
from symshuffle.base.errors import InputError


@final
class Severity(StrEnum):
    """What has to change in a refuted statement, the most serious first.

    ``RESULT``: something that a reader would use changes: a formula of a table, or what an analysis or an experiment
    is said to show. ``HYPOTHESIS``: the statement stands once a constant, a range or an assumption is repaired.
    ``WORDING``: a slip, a word too strong, or a step of a proof that is easily mended; nothing rests on it.
    ``QUESTION``: nothing was printed as a fact; a question or a conjecture, of the paper or ours, is answered no.
    """

    RESULT = "result"
    HYPOTHESIS = "hypothesis"
    WORDING = "wording"
    QUESTION = "question"


@final
class Standing(StrEnum):
    """Whether the authors of a refuted statement would agree that it is wrong.

    ``GRANTED``: read as it is written, the statement has a counterexample. ``READING``: under some reading, often the
    intended one, nothing is wrong.
    """

    GRANTED = "granted"
    READING = "reading"


MEANINGS: Final[Mapping[Severity | Standing, str]] = {
    Severity.RESULT: "A result changes",
    Severity.HYPOTHESIS: "A constant or a hypothesis changes",
    Severity.WORDING: "A slip, or wording",
    Severity.QUESTION: "A question or a conjecture, answered no",
    Standing.GRANTED: "the authors would grant it",
    Standing.READING: "a matter of reading",
}
"""Each severity and standing in the words of the faces."""


@final
@dataclass(frozen=True, slots=True)
class Erratum:
    """Severity of a refuted statement, and whether its authors would agree.

    Parameters
    ----------
    severity : Severity
        What has to change.
    standing : Standing or None
        Whether its authors would agree; None exactly for a question, which is not an error.
    because : str
        The reason for both in one sentence, with any argument in favour of the authors.
    quote : str
        A few words of the sentence that is accused, as printed; of a formula, which one it is.
    same_as : str
        Id of the claim whose erratum is the same mistake; errata counts it there.

    Raises
    ------
    InputError
        If the standing is missing, or given for a question, or no reason is given.
    """

    severity: Severity
    standing: Standing | None
    because: str
    quote: str = ""
    same_as: str = ""

    def __post_init__(self) -> None:
        replace_choice(Severity, self, "severity")
        if self.standing is not None:
            replace_choice(Standing, self, "standing")
        if (self.standing is None) is not (self.severity is Severity.QUESTION):
            raise InputError("standing", self.standing, "None exactly where the severity is 'question'")
        if not self.because.strip():
            raise InputError("because", self.because, "a reason in words")
