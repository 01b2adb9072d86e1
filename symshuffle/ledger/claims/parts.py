"""Parts of a claim as data: the clauses of its text, how a refutation is to be judged, and its picture."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, final

from symshuffle.base.choices import replace_choice
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import to_float

Role: TypeAlias = Literal["checked", "quoted", "definition"]
"""Why a clause needs a check, or needs none.

``"checked"``: comparisons decide it. ``"quoted"``: it is a result of other work, and is taken from there.
``"definition"``: it introduces a name, and says nothing that could be false.
"""


@final
@dataclass(frozen=True, slots=True)
class Clause:
    """A clause of a statement.

    Parameters
    ----------
    id : str
        Its name within the claim, such as ``"ii"``; obligations name it.
    text : str
        What it says, LaTeX between dollar signs.
    role : Role
        Whether comparisons decide it.

    Raises
    ------
    InputError
        If the id is empty.
    """

    id: str
    text: str
    role: Role = "checked"

    def __post_init__(self) -> None:
        replace_choice(Role, self, "role")
        if not self.id.strip():
            raise InputError("id", self.id, "a name that is not empty")


def check_clauses(claim: str, clauses: Sequence[Clause], named: Sequence[Sequence[str]]) -> None:
    """Refuse clauses that no obligation names, and names of clauses that are not there.

    - ``named``: for each obligation the clauses that it names; none stands for the only clause there is.
    """
    known = [one.id for one in clauses]
    if len(set(known)) < len(known):
        raise InputError("text", claim, "clauses with different ids")
    if len(clauses) == 1:
        named = [names or known for names in named]
    if missing := {name for names in named for name in names} - set(known):
        raise InputError("obligations", min(missing), f"a clause of {claim}, one of {', '.join(known)}")
    if not all(named):
        raise InputError("obligations", claim, "obligations that name the clauses that they are about")
    for one in clauses:
        if (one.role == "checked") is not any(one.id in names for names in named):
            expected = "a clause that an obligation names, or else one that is quoted or a definition"
            raise InputError("text", f"{claim} ({one.id})", expected)


Severity: TypeAlias = Literal["result", "hypothesis", "wording", "question"]
"""What has to change in a refuted statement, the most serious first.

``"result"``: something that a reader would use changes: a formula of a table, or what an analysis or an experiment is
said to show. ``"hypothesis"``: the statement stands once a constant, a range or an assumption is repaired.
``"wording"``: a slip, a word too strong, or a step of a proof that is easily mended; nothing rests on it.
``"question"``: nothing was printed as a fact; a question or a conjecture, of the paper or ours, is answered no.
"""


Standing: TypeAlias = Literal["granted", "reading"]
"""Whether the authors of a refuted statement would agree that it is wrong.

``"granted"``: read as it is written, the statement has a counterexample. ``"reading"``: under some reading, often the
intended one, nothing is wrong.
"""


MEANINGS: Final[Mapping[Severity | Standing, str]] = {
    "result": "A result changes",
    "hypothesis": "A constant or a hypothesis changes",
    "wording": "A slip, or wording",
    "question": "A question or a conjecture, answered no",
    "granted": "the authors would grant it",
    "reading": "a matter of reading",
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
        if (self.standing is None) is not (self.severity == "question"):
            raise InputError("standing", self.standing, "None exactly where the severity is 'question'")
        if not self.because.strip():
            raise InputError("because", self.because, "a reason in words")


PlottedCurve: TypeAlias = tuple[str, str, tuple[tuple[float, float], ...], bool]
"""Name of a curve, its role, its points in order, and whether they are joined by a line."""

CURVE_ROLES: Final = ("found", "printed", "corrected", "other")
"""What a curve stands for; curves of one role look alike on every page, but for other ones."""


def curve(name: str, role: str, points: Iterable[tuple[Any, Any]], *, joined: bool = True) -> PlottedCurve:
    """A curve of exact numbers or balls, rounded for a picture.

    - ``role``: one of ``CURVE_ROLES``.
    """
    if role not in CURVE_ROLES:
        raise InputError("role", role, "one of " + ", ".join(CURVE_ROLES))
    rounded = tuple((to_float(x), to_float(y)) for x, y in points)
    if not rounded:
        raise InputError("points", rounded, "at least one point")
    return name, role, rounded, joined


@final
@dataclass(frozen=True, slots=True)
class Picture:
    """What a claim looks like.

    - ``shows``: what there is to see, in a sentence: it is the text for those who do not see the picture.
    - ``curves``: at most six.
    - ``logarithmic``: whether the horizontal and the vertical axis are logarithmic.
    """

    shows: str
    x: str
    y: str
    curves: tuple[PlottedCurve, ...]
    logarithmic: tuple[bool, bool] = (False, False)

    def __post_init__(self) -> None:
        if not self.shows.strip():
            raise InputError("shows", self.shows, "a sentence that describes the picture")
        if not 1 <= len(self.curves) <= 6:
            raise InputError("curves", len(self.curves), "one to six curves")
        for axis, wanted in enumerate(self.logarithmic):
            if wanted and any(point[axis] <= 0 for _, _, points, _ in self.curves for point in points):
                raise InputError("logarithmic", self.logarithmic, "positive values only")


Plot: TypeAlias = Callable[[], Picture]
"""Computes the picture of a claim from the formulas of the library, within a few seconds."""
