"""A claim as data, and a check as a function from a statement to comparisons.

The printed statement is transcribed once, as ``printed``. A check does not know it: it receives *a* statement, and so
runs on the printed one, on its correction and on each control, which it has to reject. Whoever writes claims imports
from here, comparisons (:mod:`symshuffle.ledger.claims.comparisons`) included.
"""

from __future__ import annotations

import html
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, final

from symshuffle.base.choices import replace_choice
from symshuffle.base.errors import InputError
from symshuffle.ledger.claims.comparisons import Comparison as Comparison  # noqa: PLC0414
from symshuffle.ledger.claims.comparisons import compare as compare  # noqa: PLC0414
from symshuffle.ledger.claims.comparisons import decide as decide  # noqa: PLC0414
from symshuffle.ledger.claims.comparisons import identity as identity  # noqa: PLC0414
from symshuffle.ledger.claims.comparisons import serving as serving  # noqa: PLC0414
from symshuffle.ledger.claims.parts import Clause as Clause  # noqa: PLC0414  # with those below, handed on
from symshuffle.ledger.claims.parts import Erratum, check_clauses

if TYPE_CHECKING:
    import numpy as np

Statement: TypeAlias = Callable[..., Any]
"""A transcribed statement: from the quantities it speaks about to what it says of them."""


Kind: TypeAlias = Literal["statement", "definition", "table", "no-content"]
"""Kind of a catalogue entry."""


ClaimVerdict: TypeAlias = Literal["holds", "refuted", "undecided", "definition", "no-content"]
"""Verdict of the ledger on a claim."""


Grade: TypeAlias = Literal["proved", "certified", "exact-cases", "sampled", "refuted"]
"""Strength of the evidence behind a verdict.

``"proved"``: a symbolic identity or a decision procedure, for all parameters. ``"certified"``: exact rational or ball
arithmetic, optimality certificates. ``"exact-cases"``: exact, on finitely many cases. ``"sampled"``: floating point or
random cases. ``"refuted"``: a counterexample.
"""


@final
@dataclass(frozen=True, slots=True)
class Obligation:
    """A part of a statement that its check owes an argument.

    - ``quantifier``: How the statement speaks about a quantity. ``for all``: of every value, also those that no check
      will ever see. ``attained``: that there is one. ``cases``: of finitely many, and these are all that there are (two
      directions, the entries of a table); a range that was merely sampled is not one. ``limit``: of what happens as it
      grows.
    - ``of``: A parameter of the transcribed statement, or a clause in words, such as ``"channels"``. A comparison
      that is made for a clause names it (:func:`symshuffle.ledger.claims.comparisons.serving`).
    - ``clauses``: ids of the clauses of the text that it is about; none stands for the only one.
    """

    quantifier: str
    of: str
    clauses: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.quantifier} {self.of}"


def for_all(*quantities: str, clause: str | tuple[str, ...] = ()) -> tuple[Obligation, ...]:
    """Obligation to show the statement for every value of the named quantities.

    Parameters
    ----------
    *quantities : str
        Names of the quantities.
    clause : str or tuple of str
        Ids of the clauses of the text that they are about, where it has several.

    Returns
    -------
    tuple of Obligation
        One per quantity, for ``Claim.obligations``.

    Examples
    --------
    >>> [str(one) for one in for_all("n", "k")]
    ['for all n', 'for all k']
    """
    return _owed("for all", quantities, clause)


def attained(*quantities: str, clause: str | tuple[str, ...] = ()) -> tuple[Obligation, ...]:
    """Obligation to show objects for which the named clauses hold.

    Parameters
    ----------
    *quantities : str
        What is attained, in words.
    clause : str or tuple of str
        Ids of the clauses of the text that they are about, where it has several.

    Returns
    -------
    tuple of Obligation
        One per quantity, for ``Claim.obligations``.
    """
    return _owed("attained", quantities, clause)


def by_cases(*quantities: str, clause: str | tuple[str, ...] = ()) -> tuple[Obligation, ...]:
    """Obligation to check every value of quantities with finitely many values.

    Parameters
    ----------
    *quantities : str
        Names of the quantities.
    clause : str or tuple of str
        Ids of the clauses of the text that they are about, where it has several.

    Returns
    -------
    tuple of Obligation
        One per quantity, for ``Claim.obligations``.
    """
    return _owed("cases", quantities, clause)


def in_the_limit(*quantities: str, clause: str | tuple[str, ...] = ()) -> tuple[Obligation, ...]:
    """Obligation to show the statement in the limit of growing quantities.

    Parameters
    ----------
    *quantities : str
        Names of the quantities that grow.
    clause : str or tuple of str
        Ids of the clauses of the text that they are about, where it has several.

    Returns
    -------
    tuple of Obligation
        One per quantity, for ``Claim.obligations``.
    """
    return _owed("limit", quantities, clause)


def _owed(quantifier: str, of: tuple[str, ...], clause: str | tuple[str, ...]) -> tuple[Obligation, ...]:
    named = (clause,) if isinstance(clause, str) else clause
    return tuple(Obligation(quantifier, one, named) for one in of)


def parameters(statement: Statement) -> tuple[str, ...]:
    """Names of the parameters of a transcribed statement, in their order."""
    try:
        return tuple(inspect.signature(statement).parameters)
    except ValueError:  # functions that are built in may have no signature
        return ("arguments",)


Check: TypeAlias = "Callable[[Statement, np.random.Generator], Iterator[Comparison]]"
"""Yields the comparisons of a statement with the library; randomness only from the generator it is given."""


@final
@dataclass(frozen=True, slots=True)
class Control:
    """Perturbed statement that the check of its claim must reject.

    Parameters
    ----------
    name : str
        The perturbation in a few words.
    statement : Statement
        The wrong statement, with the signature of the printed one.
    check : Check, optional
        A check of its own, where the perturbation is not one of the formula but of its assumptions.
    """

    name: str
    statement: Statement
    check: Check | None = None


@final
@dataclass(frozen=True, slots=True)
class Correction:
    """Corrected form of a statement that is wrong as printed.

    Parameters
    ----------
    text : str
        The corrected statement, in our words.
    statement : Statement
        Its transcription, with the signature of the printed one.
    grade : Grade
        Strength of the evidence for it.
    check : Check, optional
        A check of its own, where the correction narrows the assumptions.
    """

    text: str
    statement: Statement
    grade: Grade
    check: Check | None = None

    def __post_init__(self) -> None:
        replace_choice(Grade, self, "grade")


@final
@dataclass(frozen=True, slots=True, repr=False)
class Claim:
    """Statement of a paper with its check, its controls and the expected verdict.

    Parameters
    ----------
    id : str
        Permanent name, ``<paper>.<entry>``.
    kind : Kind
        What the entry is.
    title : str
        A few words.
    text : str or tuple of Clause
        The statement in our words, LaTeX between dollar signs; its clauses, where it has several. An obligation names
        each of these, unless it is quoted or a definition.
    source : str
        Where the paper makes it, e.g. ``"decomposition, Theorem 12"``.
    assumptions : tuple of str
        What the statement supposes.
    scope : str
        What the check covers, in a few words.
    grade : Grade or None
        Strength of the evidence for the verdict on record: ``REFUTED`` exactly where that is a refutation (the grade
        of what is true instead is that of the correction), None where there is nothing to check.
    printed : Statement
        The statement as printed, transcribed here and nowhere else.
    check : Check
        The comparisons that decide it.
    controls : tuple of Control
        Perturbed statements; each must be rejected.
    expected : ClaimVerdict
        The verdict recorded in the ledger; a run that finds another one fails.
    corrected : Correction or None
        For a statement that is wrong as printed.
    erratum : Erratum or None
        How much a refutation matters, and whether the authors would agree; required for a claim on record as refuted. A
        claim that holds may have one of severity ``wording``, for a slip near the statement.
    obligations : tuple of Obligation
        What the check has to show. Parameters of the transcribed statement that are not listed count as
        ``for all``, and a claim that lists nothing owes its only clause for all of them.

    Raises
    ------
    InputError
        If the grade, the expected verdict and the erratum do not agree, or no obligation names a clause that is to
        be checked.
    """

    id: str
    kind: Kind
    title: str
    text: str | tuple[Clause, ...]
    source: str
    assumptions: tuple[str, ...]
    scope: str
    grade: Grade | None
    printed: Statement
    check: Check
    controls: tuple[Control, ...]
    expected: ClaimVerdict
    corrected: Correction | None = None
    erratum: Erratum | None = None
    obligations: tuple[Obligation, ...] = ()

    def __post_init__(self) -> None:
        replace_choice(Kind, self, "kind")
        replace_choice(ClaimVerdict, self, "expected")
        if self.grade is not None:
            replace_choice(Grade, self, "grade")
        if (self.grade == "refuted") is not (self.expected == "refuted"):
            expected = "refuted exactly for the claims on record as refuted"
            raise InputError("grade", self.grade, f"{expected}, unlike {self.id}")
        severity = None if self.erratum is None else self.erratum.severity
        if self.expected == "refuted":
            if severity is None:
                raise InputError("erratum", None, f"how much the refutation matters, unlike {self.id}")
        elif severity not in {None, "wording"}:
            raise InputError("erratum", severity, f"a slip (wording) beside a statement that holds: {self.id}")
        if self.kind != "no-content":
            check_clauses(self.id, self.clauses, [obligation.clauses for obligation in self.owed])

    def __repr__(self) -> str:
        grade = "open" if self.grade is None else self.grade
        return f"<claim {self.id} ({grade}): {self.title}>"

    def _repr_html_(self) -> str:
        rows = (
            ("claim", self.id),
            ("title", self.title),
            ("statement", self.words),
            ("grade", "open" if self.grade is None else self.grade),
            ("recorded", self.expected),
        )
        body = "".join(f"<tr><th>{name}</th><td>{html.escape(text)}</td></tr>" for name, text in rows)
        return f"<table>{body}</table>"

    @property
    def clauses(self) -> tuple[Clause, ...]:
        """The clauses of the text; one, if it is not divided."""
        return (Clause("statement", self.text),) if isinstance(self.text, str) else tuple(self.text)

    @property
    def owed(self) -> tuple[Obligation, ...]:
        """The obligations; where none is listed, for all parameters of the transcribed statement."""
        return self.obligations or for_all(*parameters(self.printed))

    @property
    def words(self) -> str:
        """The text as a whole; of several clauses each after its id."""
        several = len(self.clauses) > 1
        return " ".join(f"({one.id}) {one.text}" if several else one.text for one in self.clauses)

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.id.partition(".")[0]
