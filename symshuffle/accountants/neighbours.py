"""Whom a bound covers, as data: what is printed about a bound is printed from here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, Protocol, final

from symshuffle.accountants.participation import EVERYBODY, Participation
from symshuffle.choices import Adjacency as Adjacency  # noqa: PLC0414  # its name here stays
from symshuffle.choices import Blanket as Blanket  # noqa: PLC0414  # stands here by its subject
from symshuffle.choices import Question as Question  # noqa: PLC0414  # its name here stays
from symshuffle.choices import replace_choice

OPTIMAL: Final = "decomposition, Theorems 4 to 7, 12 and 13"
"""Why an optimal decomposition bounds every pair of datasets that it speaks about."""

_DIVERGENCE: Final = {
    "forward": "D(M(X0) || M(X1))",
    "reverse": "D(M(X1) || M(X0))",
    "both": "the larger of D(M(X0) || M(X1)) and D(M(X1) || M(X0))",
}


@final
@dataclass(frozen=True, slots=True)
class Neighbours:
    """The pairs of datasets that a bound speaks about.

    Parameters
    ----------
    pairs : str
        Pairs of inputs between which the differing user may change.
    every : bool
        Whether these are all pairs that the adjacency allows. If not, nobody else is covered.
    adjacency : Adjacency
        In what neighbouring datasets differ.
    question : {"forward", "reverse", "both"}
        Which divergence.
    users : int or None
        Number of users, the differing one included; None where any number n is meant.
    theorem : str
        Why the bound holds for them.
    first : str
        Which of the two inputs X0 holds, where that matters to a single direction; else empty.
    participation : Participation
        Who of the users sends a message, and in how many of them datasets differ.
    """

    pairs: str
    every: bool
    adjacency: Adjacency
    question: Question
    users: int | None
    theorem: str
    first: str = ""
    participation: Participation = EVERYBODY

    def __post_init__(self) -> None:
        replace_choice(Adjacency, self, "adjacency")
        replace_choice(Question, self, "question")

    @property
    def covered(self) -> str:
        """The pairs of datasets, in words."""
        users = f"{'n' if self.users is None else f'n = {self.users}'} users"
        first = f", {self.first}" if self.first and self.question != "both" else ""
        group = self.participation.group
        differ = self.adjacency.words if group == 1 else self.adjacency.of_group(group)
        if self.every:
            return f"all pairs of datasets of {users} that {differ}{first}"
        changes = "who changes" if group == 1 else "each of whom changes"
        return (
            f"those pairs of datasets of {users} only that {differ}, {changes} between {self.pairs}"
            f"{first} (users who change otherwise are not covered)"
        )

    @property
    def compared(self) -> str:
        """Which divergence of which datasets, what is supposed of who sends, and by which theorem."""
        return self.compared_by("at order exp(eps)")

    def compared_by(self, order: str) -> str:
        """The same of a divergence of another kind or order, in words."""
        place = f" at {self.pairs}" if self.every else ""
        group, supposed = self.participation.group, self.participation.supposed
        chain = ""
        if group > 1:
            chain = f"a chain of {group} neighbours at order exp(eps/{group}) (claim symshuffle.group-privacy) and "
        return (
            f"{_DIVERGENCE[self.question]} {order} for {self.covered}, by {chain}the optimal "
            f"decomposition{place} ({self.theorem}){f', where {supposed}' if supposed else ''}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: adjacency, direction, pairs of inputs, users, theorem and who sends."""
        return {
            "adjacency": self.adjacency.value,
            "direction": self.question,
            "pairs": self.pairs,
            "every_pair": self.every,
            "users": self.users,
            "theorem": self.theorem,
            **self.participation.to_dict(),
        }

    def keys(self, meaning: str) -> dict[str, Any]:
        """The four keys with which the JSON of every answer says whom it covers."""
        return {
            "direction": self.question.value,
            "adjacency": self.adjacency.value,
            "neighbours": self.to_dict(),
            "meaning": meaning,
        }


class _Speaking(Protocol):
    @property
    def neighbours(self) -> Neighbours: ...

    @property
    def about(self) -> str: ...


class AboutNeighbours:
    """What answers about neighbouring datasets share: for dataclasses that say ``neighbours`` and ``about``.

    It has no data, so that frozen dataclasses with slots may derive from it.
    """

    __slots__ = ()

    @property
    def direction(self: _Speaking) -> Question:
        """Which divergence."""
        return self.neighbours.question

    @property
    def meaning(self: _Speaking) -> str:
        """The same as :attr:`about`."""
        return self.about
