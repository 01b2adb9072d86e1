"""Whom a bound covers, as data: what is printed about a bound is printed from here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final, Literal, TypeAlias, final

Question: TypeAlias = Literal["forward", "reverse", "both"]
"""``forward`` is D(M(X0) || M(X1)), ``reverse`` the other, ``both`` the larger of the two."""

OPTIMAL: Final = "decomposition, Theorems 4 to 7, 12 and 13"
"""Why an optimal decomposition bounds every pair of datasets that it speaks about."""

_DIVERGENCE: Final = {
    "forward": "D(M(X0) || M(X1))",
    "reverse": "D(M(X1) || M(X0))",
    "both": "the larger of D(M(X0) || M(X1)) and D(M(X1) || M(X0))",
}


@final
class Adjacency(StrEnum):
    """In what two neighbouring datasets of n users differ.

    ``REPLACE_ONE``: the input of one user is another one. ``ZERO_OUT``: the input of one user is replaced by a null
    symbol, whose output law is given.
    """

    REPLACE_ONE = "replace-one"
    ZERO_OUT = "zero-out"

    @property
    def words(self) -> str:
        """In what all neighbours differ."""
        return {
            Adjacency.REPLACE_ONE: "differ in the input of one user",
            Adjacency.ZERO_OUT: "differ in one user, whose input is replaced by the null symbol",
        }[self]


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
    """

    pairs: str
    every: bool
    adjacency: Adjacency
    question: Question
    users: int | None
    theorem: str
    first: str = ""

    @property
    def covered(self) -> str:
        """The pairs of datasets, in words."""
        users = f"{'n' if self.users is None else f'n = {self.users}'} users"
        first = f", {self.first}" if self.first and self.question != "both" else ""
        if self.every:
            return f"all pairs of datasets of {users} that {self.adjacency.words}{first}"
        return (
            f"those pairs of datasets of {users} only that {self.adjacency.words}, who changes between {self.pairs}"
            f"{first} (users who change otherwise are not covered)"
        )

    @property
    def compared(self) -> str:
        """Which divergence of which datasets, and by which theorem."""
        place = f" at {self.pairs}" if self.every else ""
        return (
            f"{_DIVERGENCE[self.question]} at order exp(eps) for {self.covered}, by the optimal decomposition{place} "
            f"({self.theorem})"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "adjacency": self.adjacency.value,
            "direction": self.question,
            "pairs": self.pairs,
            "every_pair": self.every,
            "users": self.users,
            "theorem": self.theorem,
        }
