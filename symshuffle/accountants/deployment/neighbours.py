"""Whom a bound covers, as data: what is printed about a bound is printed from here."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from operator import attrgetter, itemgetter
from typing import Any, Final, final

from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.accountants.deployment.group import EVERYBODY, Group, assumed_of
from symshuffle.base.choices import Question, Relation
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Rounding, counted, format_decimal
from symshuffle.base.results import FirstLines

ASSUMED: Final = "every round has fresh randomness and fresh messages, which cannot be linked to those of another round"
"""What the composition of rounds takes for granted."""

NOT_COVERED: Final = (
    "reports that are kept and sent again, a fixed number of participants drawn per round, participation that depends "
    "on the value, a number of rounds chosen on the way because budget is left"
)
"""What no bound on several rounds speaks about."""

OPTIMAL: Final = "decomposition, Theorems 4 to 7, 12 and 13"
"""Why an optimal decomposition bounds every pair of datasets that it speaks about."""

ENUMERATED: Final = "enumeration of the histograms of all messages, which are what a reader sees"
"""Why an enumeration is no bound but the divergence itself."""

_DIVERGENCE: Final = {
    "forward": "D(M(X0) || M(X1))",
    "reverse": "D(M(X1) || M(X0))",
    "both": "the larger of D(M(X0) || M(X1)) and D(M(X1) || M(X0))",
}


@final
@dataclass(frozen=True, slots=True)
class Neighbours:
    """Pairs of datasets to which a bound applies.

    Parameters
    ----------
    pairs : str
        Pairs of inputs between which the differing user may change.
    every : bool
        Whether these are all pairs that the adjacency allows. If not, no other pair is covered.
    adjacency : Relation
        In what neighbouring datasets differ.
    question : {"forward", "reverse", "both"}
        Which divergence.
    users : int or None
        Number of users, the differing one included; None where the bound holds for any number n.
    theorem : str
        Why the bound holds for them.
    first : str
        Which of the two inputs X0 holds, where that matters to a single direction; else empty.
    group : Group
        Which users send a message.
    steps : int
        In how many users datasets differ at most.
    budget : str
        How the parts of a composition share the local budget; empty where each has all of it.
    rounds : tuple of (int, Neighbours)
        For several rounds: how many are alike, and what the bound on one of them covers; the other fields then say what
        holds in all rounds, and ``users`` is the smallest number of users in a round.
    rounding : Rounding or None
        Where a rounded matrix was read and normalised: how far the matrices that round to it may be from it. The bound
        is on the normalised one.
    assumed : tuple of (Assumption, str)
        What is assumed beside what the other fields say, each with a detail or an empty text.
    notes : tuple of str
        What else is to be said, a clause each.
    datasets : bool
        Whether these are two given datasets, which ``pairs`` names; nothing else is covered.
    num_messages : int
        Messages of every user in a period, which are shuffled together; ``rounds`` has a round for each of them.
    """

    pairs: str
    every: bool
    adjacency: Relation
    question: Question
    users: int | None
    theorem: str
    first: str = ""
    group: Group = EVERYBODY
    steps: int = 1
    budget: str = ""
    rounds: tuple[tuple[int, Neighbours], ...] = ()
    rounding: Rounding | None = None
    assumed: tuple[tuple[Assumption, str], ...] = ()
    notes: tuple[str, ...] = ()
    datasets: bool = False
    num_messages: int = 1

    @classmethod
    def joined(cls, parts: Sequence[tuple[int, Neighbours]]) -> Neighbours:
        """Pairs that a bound on several rounds together covers: in each those of the bound on that round.

        - ``parts``: how many rounds are alike, and what the bound on one of them covers.
        """
        times: dict[Neighbours, int] = {}
        for many, one in parts:
            times[one] = times.get(one, 0) + many
        adjacencies = {one.adjacency: None for one in times}
        if len(adjacencies) > 1:
            raise InputError("adjacency", ", ".join(adjacencies), "the same in all rounds")
        first, *others = times
        rounds = tuple((many, one) for one, many in times.items())
        if not others:
            return replace(first, rounds=rounds)
        known = [one.users for one in times if one.users is not None]
        return replace(
            first,
            pairs=" and ".join(dict.fromkeys(one.pairs for one in times)),
            every=all(one.every for one in times),
            users=min(known, default=None),
            theorem="; ".join(dict.fromkeys(one.theorem for one in times)),
            group=first.group if len({one.group for one in times}) == 1 else EVERYBODY,
            budget=first.budget if len({one.budget for one in times}) == 1 else "",
            rounding=max((one.rounding for one in times if one.rounding), key=lambda one: one.row, default=None),
            assumed=tuple(dict.fromkeys(added for one in times for added in one.assumed)),
            notes=tuple(dict.fromkeys(note for one in times for note in one.notes)),
            rounds=rounds,
        )

    @property
    def protects(self) -> str:
        """Who may change what: the second line of an answer."""
        if self.datasets:
            return f"nobody else: two given datasets of {self._of_users} are compared, {self.pairs}"
        group, apart = self.steps, self._rounds_apart if self.rounds else ""
        users = "n users" if self.users is None else f"{self.users:,} user{'' if self.users == 1 else 's'}"
        some = "any one" if group == 1 else f"any {group} together"
        if Assumption.COLLUDING in dict(self.assumptions):
            known = self.users is not None and self.group.colluding
            honest = f"the {self.group.honest(self.users or 1):,}" if known else "those"
            some = f"{some} of {honest} of {users} who do not collude"
        elif apart:
            some = "any one user" if group == 1 else f"any {group} users together"
        else:
            some = f"any one of {users}" if group == 1 else f"any {group} of {users} together"
        value = "their value" if group == 1 else "their values"
        does = f"may change {value}"
        if self.adjacency == "zero-out":
            does = f"may have {value} replaced by the null symbol"
        if not self.rounds:
            return f"{some} {does}{self._several_messages if self.num_messages > 1 else ''}"
        times, unit = sum(self._periods.values()), self._unit
        where = f" in each of {counted(times, unit)} together" if times > 1 else f" in 1 {unit}"
        return f"{some} {does}{where}{self._several_messages}{f': {apart}' if apart else ''}"

    @property
    def _periods(self) -> dict[Neighbours, int]:
        """How many periods are alike, by what the bound on one round of them covers."""
        return {one: many // one.num_messages for many, one in self.rounds}

    @property
    def _unit(self) -> str:
        """A period by the name that answers use: a round where every user sends one message in each."""
        return "period" if any(one.num_messages > 1 for one in (self, *self._periods)) else "round"

    @property
    def _several_messages(self) -> str:
        """How many messages every user sends in a period, where that is the same in all and not one; else empty."""
        numbers = {one.num_messages for one in self._periods} or {self.num_messages}
        return f", with {max(numbers)} messages of every user in a period" if min(numbers) > 1 == len(numbers) else ""

    @property
    def assumptions(self) -> tuple[tuple[Assumption, str], ...]:
        """All that has to be true, and all that changes what the number means, each with a detail or an empty text."""
        parts = list(map(itemgetter(1), self.rounds)) or [self]
        found = [(Assumption.HONEST, ""), (Assumption.FRESH, ""), (Assumption.UNLINKABLE, ""), *self.assumed]
        if self.assumed and all(Assumption.MEMOISED in dict(one.assumed) for one in parts):
            found.remove((Assumption.FRESH, ""))
        if self.adjacency == "zero-out":
            found.append((Assumption.NULL_SYMBOL, self.pairs))
        groups = list(map(attrgetter("group"), parts))
        if {*groups} != {EVERYBODY}:
            found += assumed_of(groups)
        if self.rounds:
            found.append((Assumption.FIXED_ROUNDS, ""))
        if self.rounding is not None:
            far = format_decimal(self.rounding.entry, digits=3, up=True)
            found.append((Assumption.NORMALISED, f"the matrices that round to the one read differ by at most {far}"))
        if (budgets := set(map(attrgetter("budget"), parts))) != {""}:
            found.append((Assumption.SHARED_BUDGET, self.budget if budgets == {self.budget} else "as named above"))
        if not self.every:
            named = "as named above" if self._rounds_apart or self.datasets else f"between {self.pairs}"
            found.append((Assumption.SOME_PAIRS, named))
        if self.question != "both":
            first = f", {self.first}" if self.first else ""
            found.append((Assumption.ONE_DIRECTION, f"{_DIVERGENCE[self.question]}{first}"))
        return tuple(found)

    def lines(self, name: str, number: str, evaluated: str) -> FirstLines:
        """The first lines of an answer about these datasets; ``evaluated`` says how its number was."""
        assumed, claims = [], dict[str, None]()
        for named, detail in self.assumptions:
            assumed.append(f"{named}: {detail}" if detail else str(named))
        for _, one in self.rounds or ((1, self),):
            if one.group != EVERYBODY:
                claims |= dict.fromkeys(one.group.claims)
        if self.steps > 1:
            claims = {"claim symshuffle.group-privacy": None} | claims
        kind = "an identity" if self.theorem == ENUMERATED else "a theorem"
        sure = f"{kind} ({'; '.join((self.theorem, *claims))}), evaluated {evaluated}"
        return FirstLines(name, number, protects=self.protects, assumes="; ".join(assumed), sure=sure)

    @property
    def covered(self) -> str:
        """The pairs of datasets, in words."""
        if self.datasets:
            return f"the datasets {self.pairs} of {self._of_users} only"
        first = f", {self.first}" if self.first and self.question != "both" else ""
        group = self.steps
        differ = self._differ
        changes = "who changes" if group == 1 else "each of whom changes"
        apart = self._rounds_apart
        if apart and self.every:
            return f"all pairs of datasets that {differ}, {apart}"
        if apart:
            return (
                f"those pairs of datasets only that {differ}, {changes}, {apart} (users who change otherwise in some "
                "round are not covered)"
            )
        if self.every:
            return f"all pairs of datasets of {self._of_users} that {differ}{first}"
        return (
            f"those pairs of datasets of {self._of_users} only that {differ}, {changes} between {self.pairs}"
            f"{first} (users who change otherwise are not covered)"
        )

    @property
    def _differ(self) -> str:
        """How neighbouring datasets differ, in words."""
        group, removed = self.steps, self.adjacency == "zero-out"
        if group == 1:
            return "differ in " + (
                "one user, whose input is replaced by the null symbol" if removed else "the input of one user"
            )
        if removed:
            return f"differ in at most {group} users, whose inputs are replaced by the null symbol"
        return f"differ in the inputs of at most {group} users"

    @property
    def _of_users(self) -> str:
        return "n users" if self.users is None else f"n = {counted(self.users, 'user')}"

    @property
    def _rounds_apart(self) -> str:
        """What is covered in which rounds, where that is not the same in all; else empty."""
        apart: dict[str, int] = {}
        for one, times in self._periods.items():
            here = f"of {one._of_users}"
            if self._unit == "period" and not self._several_messages:
                here += f" with {counted(one.num_messages, 'message')} each"
            if not self.every:
                here += f" between {_any_pair(one.adjacency) if one.every else one.pairs}"
            if one.group != self.group:
                here += f", where {one.group.supposed or 'all of them send'}"
            if one.budget != self.budget:
                here += f", with {one.budget or 'no budget to share'}"
            apart[here] = apart.get(here, 0) + times
        if len(apart) < 2:
            return ""
        return " and ".join(f"in {counted(times, self._unit)} {words}" for words, times in apart.items())

    @property
    def hidden(self) -> Fraction:
        """Total variation, at most, between all messages of a normalised matrix and of one that rounds to it."""
        parts = self.rounds or ((1, self),)
        return sum(
            (times * (one.users or 0) * one.rounding.row for times, one in parts if one.rounding is not None),
            start=Fraction(0),
        )

    @property
    def compared(self) -> str:
        """Divergence, datasets, assumptions and theorem of the bound, in words."""
        return self.compared_by("at order exp(eps)")

    def compared_by(self, order: str) -> str:
        """Words of :attr:`compared` for a divergence of another kind or order."""
        place = f" at {self.pairs}" if self.every else ""
        group, supposed = self.steps, self.group.supposed
        chain = ""
        if group > 1:
            steps = f"{group} neighbours at an order up to exp(eps/{group})"
            chain = f"a chain of {steps} (claim symshuffle.group-privacy) and "
        evaluation = f"{chain}the optimal decomposition{place} ({self.theorem})"
        return (
            f"{_DIVERGENCE[self.question]} {order} for {self.covered}, by "
            f"{self.theorem if self.enumerated else evaluation}{f', where {supposed}' if supposed else ''}"
            f"{f', with {self.budget}' if self.budget else ''}"
            f"{f', of {self.rounding}' if self.rounding is not None else ''}"
            f"{''.join(f'; {note}' for note in self.notes)}"
        )

    @property
    def enumerated(self) -> bool:
        """Whether the answer is the largest divergence itself, and no bound on it."""
        return self.theorem == ENUMERATED

    @property
    def together(self) -> str:
        """Additional sentence for several rounds together; empty if there are no rounds."""
        if not self.rounds:
            return ""
        times, unit = sum(self._periods.values()), self._unit
        part = "round" if unit == "round" else "message"  # of a period every message is bounded as a round
        if self.adjacency == "zero-out":
            changes = f"the input that is replaced may be a different one in every {part}"
        elif self.every:
            changes = f"the user who differs may change between a different pair of inputs in every {part}"
        else:
            changes = f"in every {part} the user who differs changes as named above, in either order"
        return (
            f"; M sends the messages of all {counted(times, unit)} together{self._several_messages}, a list fixed "
            f"before the first; inputs may change from {part} to {part} and may depend on earlier messages, and "
            f"{changes}; assumed: {ASSUMED}; not covered: {NOT_COVERED}"
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form of all fields but ``first``."""
        return {
            "adjacency": self.adjacency,
            "direction": self.question,
            "pairs": self.pairs,
            "every_pair": self.every,
            "users": self.users,
            "theorem": self.theorem,
            **self.group.to_dict(),
            **({"group_size": self.steps} if self.steps > 1 else {}),
            **({"reports": self.num_messages} if self.num_messages > 1 else {}),
            **({"budget": self.budget} if self.budget else {}),
            **({"notes": list(self.notes)} if self.notes else {}),
            **({"matrix": str(self.rounding)} if self.rounding is not None else {}),
            **({"rounds": [{"times": n, **one.to_dict()} for one, n in self._periods.items()]} if self.rounds else {}),
        }

    def keys(self, meaning: str) -> dict[str, Any]:
        """The four JSON keys of every answer that describe the datasets it covers."""
        return {
            "direction": self.question,
            "adjacency": self.adjacency,
            "neighbours": self.to_dict(),
            "meaning": meaning,
        }


def _any_pair(adjacency: Relation) -> str:
    """Inputs between which any user may change, in words."""
    return "any input and the null symbol" if adjacency == "zero-out" else "any two inputs"
