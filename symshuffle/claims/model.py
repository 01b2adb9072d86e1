"""A claim as data, and a check as a function from a statement to comparisons.

The printed statement of a paper is transcribed once, as the callable ``printed`` of its claim. The check does not
know it: it receives *a* statement and yields comparisons of what the library computes with what that statement
says. The same check therefore runs on the printed statement, on the corrected one where the printed one falls,
and on each negative control, a perturbed statement that it has to reject.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from symshuffle.choices import replace_choice
from symshuffle.claims.errata import Erratum, Severity
from symshuffle.errors import InputError
from symshuffle.numbers import Ball, Verdict, equal, less

if TYPE_CHECKING:
    import numpy as np

    from symshuffle.geometry.linprog import Solution

Statement: TypeAlias = Callable[..., Any]
"""A transcribed statement: from the quantities it speaks about to what it says of them."""


@final
class Kind(StrEnum):
    """What a catalogue entry is."""

    STATEMENT = "statement"
    DEFINITION = "definition"
    TABLE = "table"
    NO_CONTENT = "no-content"


@final
class ClaimVerdict(StrEnum):
    """What the ledger says of a claim."""

    HOLDS = "holds"
    REFUTED = "refuted"
    UNDECIDED = "undecided"
    DEFINITION = "definition"
    NO_CONTENT = "no-content"


@final
class Grade(StrEnum):
    """Strength of the evidence behind a verdict.

    ``PROVED``: a symbolic identity or a decision procedure, for all parameters. ``CERTIFIED``: exact rational or
    ball arithmetic, optimality certificates. ``EXACT_CASES``: exact, on finitely many cases. ``SAMPLED``: floating
    point or random cases. ``REFUTED``: a counterexample.
    """

    PROVED = "proved"
    CERTIFIED = "certified"
    EXACT_CASES = "exact-cases"
    SAMPLED = "sampled"
    REFUTED = "refuted"


@final
class Means(StrEnum):
    """How one comparison was decided."""

    SYMBOLIC = "symbolic"
    EXACT = "exact"
    BALL = "ball"
    FLOAT = "float"


@final
class Quantifier(StrEnum):
    """How a statement speaks about a quantity.

    ``FOR_ALL``: of every value, also those that no check will ever see. ``ATTAINED``: that there is one. ``CASES``: of
    finitely many, and these are all that there are (two directions, the entries of a table); a range that was merely
    sampled is not one. ``LIMIT``: of what happens as it grows.
    """

    FOR_ALL = "for all"
    ATTAINED = "attained"
    CASES = "cases"
    LIMIT = "limit"


@final
@dataclass(frozen=True, slots=True)
class Obligation:
    """A part of a statement that its check owes an argument.

    Parameters
    ----------
    quantifier : Quantifier
        How the statement speaks about the quantity.
    of : str
        A parameter of the transcribed statement, or a clause in words, such as ``"channels"``. A comparison that is
        made for a clause names it (:func:`serving`).
    """

    quantifier: Quantifier
    of: str

    def __post_init__(self) -> None:
        replace_choice(Quantifier, self, "quantifier")

    def __str__(self) -> str:
        return f"{self.quantifier.value} {self.of}"


def for_all(*quantities: str) -> tuple[Obligation, ...]:
    """The statement holds for every value of these."""
    return tuple(Obligation(Quantifier.FOR_ALL, of) for of in quantities)


def attained(*clauses: str) -> tuple[Obligation, ...]:
    """There is something for which these hold."""
    return tuple(Obligation(Quantifier.ATTAINED, of) for of in clauses)


def by_cases(*quantities: str) -> tuple[Obligation, ...]:
    """These take finitely many values, and the check looks at all of them."""
    return tuple(Obligation(Quantifier.CASES, of) for of in quantities)


def in_the_limit(*quantities: str) -> tuple[Obligation, ...]:
    """The statement is about what happens as these grow."""
    return tuple(Obligation(Quantifier.LIMIT, of) for of in quantities)


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """One instance of a claim: computed, claimed, and how the two should relate.

    Parameters
    ----------
    computed, claimed : object
        Two values obtained independently of each other, as text for the report.
    relation : str
        One of ``==``, ``<=``, ``>=``, ``<``, ``>``.
    verdict : Verdict
        Whether the relation holds.
    means : Means
        How that was decided.
    at : str
        The instance, for example ``"k=3, lam=2, n=4"``.
    serves : str
        The clause of the claim that it is made for; empty where that is the whole statement.
    values : tuple or None
        The two values themselves, where they were compared exactly or as balls.
    solution : Solution or None
        The linear program whose optimum the computed value is, up to its sign.
    """

    computed: str
    claimed: str
    relation: str
    verdict: Verdict
    means: Means
    at: str
    serves: str = ""
    values: tuple[Any, Any] | None = field(default=None, compare=False, repr=False)
    solution: Solution | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        replace_choice(Means, self, "means")
        if not isinstance(self.verdict, Verdict):
            raise InputError("verdict", self.verdict, "a Verdict")

    @property
    def is_question(self) -> bool:
        """Whether the claim is one in words, or yes or no, and not a value that could be compared."""
        answers = {verdict.value for verdict in Verdict}
        return bool({self.computed, self.claimed} & answers) or _WORDS.search(self.claimed) is not None

    def __str__(self) -> str:
        if self.is_question:
            return f"at {self.at}: {self.computed}, where the statement says: {self.claimed} ({self.means.value})"
        stated = self.claimed if self.claimed.startswith(("<", ">")) else f"{self.relation} {self.claimed}"
        relation = f"{self.computed} {stated}"
        return f"at {self.at}: {relation} is {self.verdict.value} ({self.means.value})"


_WORDS: Final = re.compile(r"[a-z]{2,} [a-z]+")

Check: TypeAlias = "Callable[[Statement, np.random.Generator], Iterator[Comparison]]"
"""Yields the comparisons of a statement with the library; randomness only from the generator it is given."""

_RELATIONS: Final[dict[str, Callable[[Any, Any], Verdict]]] = {
    "==": equal,
    "<": less,
    ">": lambda x, y: less(y, x),
    "<=": lambda x, y: ~less(y, x),
    ">=": lambda x, y: ~less(x, y),
}


def compare(
    computed: Any,
    claimed: Any,
    relation: str = "==",
    *,
    at: str,
    slack: float | None = None,
    solution: Solution | None = None,
    found: str = "",
) -> Comparison:
    """Compare two numbers, or (for ``==``) any two values with a decidable equality.

    Fractions, integers and other plain values are compared exactly, balls by :mod:`symshuffle.numbers`. Doubles
    need a stated ``slack``, an absolute tolerance, and make the comparison a floating-point one. Where the computed
    value is the optimum of a linear program, or its negative, its ``solution`` goes into the certificate of the claim.
    Where the computed value is an answer, yes or no, ``found`` gives the numbers behind it, for the report.

    Raises
    ------
    InputError
        If a double is compared without a slack, the relation is unknown, or the solution is not that of the value.
    """
    if relation not in _RELATIONS:
        raise InputError("relation", relation, "one of " + ", ".join(_RELATIONS))
    numeric = (int, Fraction, Ball, float)
    if slack is not None:
        means, verdict = Means.FLOAT, Verdict.of(_within(float(computed), float(claimed), relation, slack))
    elif isinstance(computed, float) or isinstance(claimed, float):
        raise InputError("slack", slack, "an absolute tolerance when a double is compared")
    elif isinstance(computed, numeric) and isinstance(claimed, numeric):
        means = Means.BALL if isinstance(computed, Ball) or isinstance(claimed, Ball) else Means.EXACT
        verdict = _RELATIONS[relation](computed, claimed)
    elif relation == "==":
        means, verdict = Means.EXACT, Verdict.of(bool(computed == claimed))
    else:
        raise InputError("relation", relation, f"== for values of type {type(computed).__name__}")
    if solution is not None and computed not in (solution.value.exact, -solution.value.upper):
        raise InputError("solution", solution.value, f"one with the optimum {computed}, or its negative")
    values = None if means is Means.FLOAT else (computed, claimed)
    return Comparison(
        found or _shorten(computed), _shorten(claimed), relation, verdict, means, at, values=values, solution=solution
    )


def _within(computed: float, claimed: float, relation: str, slack: float) -> bool:
    difference = computed - claimed
    match relation:
        case "==":
            return abs(difference) <= slack
        case "<" | "<=":
            return difference <= slack
        case _:
            return difference >= -slack


def identity(computed: Any, claimed: Any, *, at: str) -> Comparison:
    """Compare two SymPy expressions as functions of their symbols.

    The verdict is true only if the difference reduces to zero by a rational normal form (after rewriting
    binomials as gamma functions); false only if an exact rational evaluation tells the two apart.
    """
    from symshuffle.mechanisms.symbolic import same_function

    return Comparison(_shorten(computed), _shorten(claimed), "==", same_function(computed, claimed), Means.SYMBOLIC, at)


def decide(truth: bool | Verdict, *, at: str, claimed: str, computed: str = "", symbolic: bool = False) -> Comparison:
    """Record a question that an exact or symbolic decision procedure has answered.

    Raises
    ------
    InputError
        If the answer is neither true nor false nor a :class:`~symshuffle.numbers.Verdict`: a text, a number or a
        collection is not one, however true Python finds it.
    """
    if not isinstance(truth, bool | Verdict):
        raise InputError("truth", truth, "True, False or a Verdict")
    verdict = truth if isinstance(truth, Verdict) else Verdict.of(truth)
    means = Means.SYMBOLIC if symbolic else Means.EXACT
    return Comparison(computed or verdict.value, claimed, "==", verdict, means, at)


def serving(clause: str, comparisons: Iterable[Comparison]) -> Iterator[Comparison]:
    """The same comparisons, made for a clause of the claim."""
    return (replace(comparison, serves=clause) for comparison in comparisons)


def _shorten(value: object, limit: int = 200) -> str:
    text = _plain(value)
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _plain(value: object) -> str:
    """A value as a reader writes it: rationals as p/q inside of containers too, truths in lower case."""
    match value:
        case bool():
            return str(value).lower()
        case tuple() | list():
            return f"({', '.join(map(_plain, value))})"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_plain, value)))}}}"
        case dict():
            return f"{{{', '.join(f'{_plain(key)}: {_plain(entry)}' for key, entry in value.items())}}}"
        case _:
            return str(value)


@final
@dataclass(frozen=True, slots=True)
class Control:
    """A perturbed statement that the check of its claim must reject.

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
    """What should have been printed.

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
@dataclass(frozen=True, slots=True)
class Claim:
    """One entry of the ledger.

    Parameters
    ----------
    id : str
        Permanent name, ``<paper>.<entry>``.
    kind : Kind
        What the entry is.
    title : str
        A few words.
    text : str
        The statement in our words, LaTeX between dollar signs.
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
        How much a refutation matters, and whether the authors would grant it: of every claim on record as refuted. One
        of severity ``wording`` may stand beside a statement that holds: a slip around it.
    obligations : tuple of Obligation
        What the check owes an argument for. Parameters of the transcribed statement that are not listed count as
        ``for all``.
    """

    id: str
    kind: Kind
    title: str
    text: str
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
        if (self.grade is Grade.REFUTED) is not (self.expected is ClaimVerdict.REFUTED):
            expected = "refuted exactly for the claims on record as refuted"
            raise InputError("grade", self.grade.value if self.grade else None, f"{expected}, unlike {self.id}")
        severity = None if self.erratum is None else self.erratum.severity
        if self.expected is ClaimVerdict.REFUTED:
            if severity is None:
                raise InputError("erratum", None, f"how much the refutation matters, unlike {self.id}")
        elif severity not in {None, Severity.WORDING}:
            raise InputError("erratum", severity.value, f"a slip (wording) beside a statement that holds: {self.id}")

    @property
    def paper(self) -> str:
        """Key of the paper."""
        return self.id.partition(".")[0]
