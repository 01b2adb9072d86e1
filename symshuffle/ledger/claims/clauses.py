"""The clauses of a statement: what the obligations of a claim name, and what is quoted or only defines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, final

from symshuffle.base.choices import replace_choice
from symshuffle.base.errors import InputError

WHOLE: Final = "statement"
"""Id of the only clause of a statement that is given as one text."""


@final
class Role(StrEnum):
    """Why a clause needs a check, or needs none.

    ``CHECKED``: comparisons decide it. ``QUOTED``: it is a result of other work, and is taken from there.
    ``DEFINITION``: it introduces a name, and says nothing that could be false.
    """

    CHECKED = "checked"
    QUOTED = "quoted"
    DEFINITION = "definition"


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
    role: Role = Role.CHECKED

    def __post_init__(self) -> None:
        replace_choice(Role, self, "role")
        if not self.id.strip():
            raise InputError("id", self.id, "a name that is not empty")


def as_clauses(text: str | Sequence[Clause]) -> tuple[Clause, ...]:
    """The clauses of a text; one, if it is not divided."""
    return (Clause(WHOLE, text),) if isinstance(text, str) else tuple(text)


def joined(clauses: Iterable[Clause]) -> str:
    """The clauses as one text, each after its id unless there is only one."""
    listed = tuple(clauses)
    return listed[0].text if len(listed) == 1 else " ".join(f"({one.id}) {one.text}" for one in listed)


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
        if (one.role is Role.CHECKED) is not any(one.id in names for names in named):
            expected = "a clause that an obligation names, or else one that is quoted or a definition"
            raise InputError("text", f"{claim} ({one.id})", expected)
