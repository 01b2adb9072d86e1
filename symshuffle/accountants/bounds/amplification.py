"""Answer for delta or eps: the bound, the covered datasets, the rounds, and the value that real datasets reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, final

from symshuffle.accountants.deployment.neighbours import ASSUMED, NOT_COVERED, AboutNeighbours, Neighbours
from symshuffle.base.errors import optional
from symshuffle.base.numbers import exact_text, format_decimal
from symshuffle.base.results import (
    MOST_DIGITS,
    AnswerMethods,
    Bracket,
    FirstLines,
    SafeEnd,
    at_target,
    outward,
    safe_decimal,
    safe_number,
)


@final
@dataclass(frozen=True, slots=True)
class Attained:
    """Lower bound that a real pair of neighbouring datasets certainly reaches.

    ``float`` returns it, rounded down.

    Parameters
    ----------
    lower : Fraction
        The pair's own delta (eps, Rényi divergence) is at least this number, in that direction, among those asked for,
        in which it is largest.
    datasets : str
        The two datasets.
    """

    lower: Fraction
    datasets: str

    def __float__(self) -> float:
        return outward(self.lower, up=False)


def attained_by(found: Attained, neighbours: Neighbours) -> str:
    """The two datasets, and for groups that they differ in one user all the same."""
    alone = " (one user differs; no pair that differs in more was evaluated)" if neighbours.group_size > 1 else ""
    return found.datasets + alone


def attained_rows(found: Attained | None, neighbours: Neighbours, missing: str = "") -> list[tuple[str, str]]:
    """The row of a table that shows what real datasets reach, or why that is missing; none if it was not asked for."""
    if found is None:
        return [("attained", f"missing: {missing}")] if missing else []
    reached = format_decimal(found.lower, digits=MOST_DIGITS, up=False)
    return [("attained", f">= {reached} by {attained_by(found, neighbours)}")]


NO_REAL_PAIR: Final = "no real pair of datasets is known for this source"


def largest_attained(compute: Callable[[], Attained | None]) -> tuple[Attained | None, str]:
    """Return what real datasets attain, which never refuses an answer, and the reason where it is missing."""
    found, missing = optional(compute)
    return found, missing or ("" if found is not None else NO_REAL_PAIR)


@final
@dataclass(frozen=True, slots=True)
class SeveralRounds:
    """What an answer about several rounds says beside its bracket."""

    times: int
    parts: tuple[tuple[int, int | None], ...]
    simpler: tuple[tuple[str, Fraction], ...] = ()
    simpler_missing: str = ""

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "rounds": self.times,
            "parts": [{"rounds": times, "n": n} for times, n in self.parts],
            "assumed": ASSUMED,
            "not_covered": NOT_COVERED,
            "simpler": {name: format_decimal(value, up=True) for name, value in self.simpler},
            "simpler_missing": self.simpler_missing or None,
        }


class BoundMethods(AboutNeighbours, AnswerMethods):
    """What bounds say beside their number, for dataclasses that say ``attained`` and ``rounds`` too. It has no data."""

    __slots__ = ()

    @property
    def safe(self) -> SafeEnd:
        """The upper end: it bounds the shuffled experiment."""
        return SafeEnd.UPPER

    def _keys(self: Any) -> dict[str, Any]:
        """How the number is known, the datasets it covers, and what real ones reach: keys of ``to_dict``."""
        wide, attained = self.bracket.relative_width, self.attained
        return {
            "relative_width": None if wide is None else float(wide),
            "aimed": self.bracket.aimed,
            "safe": self.safe.value,
            "rigour": self.bracket.rigour.value,
            "engine": self.bracket.engine,
            "how": self.how,
            **self.neighbours.keys(self.about),
            "attained_lower": None if attained is None else format_decimal(attained.lower, up=False),
            "attained_by": None if attained is None else attained_by(attained, self.neighbours),
            "attained_missing": self.attained_missing or None,
        }

    def __str__(self: Any) -> str:
        return str(self.bracket)

    def _repr_html_(self: Any) -> str:
        found: str = self.lines.to_html(*attained_rows(self.attained, self.neighbours, self.attained_missing))
        return found


@final
@dataclass(frozen=True, slots=True, repr=False)
class Amplification(BoundMethods):
    """Bound on delta or eps after shuffling, and the datasets it covers.

    ``float`` returns the upper end, rounded up.

    Parameters
    ----------
    quantity : {"delta", "epsilon"}
        What is bounded.
    bracket : Bracket
        Around the decomposition bound on delta (or on eps in nats); its upper end bounds the shuffled experiment.
    neighbours : Neighbours
        The pairs of datasets to which the bound applies.
    attained : Attained or None
        A real neighbouring pair, where one was evaluated.
    attained_missing : str
        Reason why none was evaluated although it was asked for; else empty.
    rounds : Composition or None
        For several rounds: how many; ``neighbours`` then says what is covered in each of them.
    every_matrix : Fraction or None
        Where a rounded matrix was read and normalised: the same bound for every matrix that rounds to it. None if
        nothing can be said about all of these, or the matrix was taken as it is written.
    target : str
        What was asked for, in words: the level of a delta, the delta of an epsilon.
    """

    quantity: Literal["delta", "epsilon"]
    bracket: Bracket
    neighbours: Neighbours
    attained: Attained | None = None
    rounds: SeveralRounds | None = None
    every_matrix: Fraction | None = None
    target: str = ""
    attained_missing: str = ""

    @property
    def quantity_name(self) -> str:
        """What is bounded, in a word."""
        return self.quantity

    @property
    def lines(self) -> FirstLines:
        """First lines of the answer; the first line shows the number and the target."""
        number = at_target(safe_number(self.bracket, self.safe), self.target)
        return self.neighbours.lines(self.quantity, number, self.bracket.rigour.words)

    @property
    def n(self) -> int:
        """Number of users, the differing one included."""
        assert self.neighbours.users is not None
        return self.neighbours.users

    @property
    def about(self) -> str:
        """Experiment and theorem to which the bound applies, in words."""
        at_zero = self.bracket.upper == 0
        about = about_delta(self.neighbours)
        if self.quantity == "epsilon":
            about = about_epsilon(self.neighbours, at_zero=at_zero)
        if self.neighbours.rounding is None:
            return about
        if self.every_matrix is None:
            return f"{about}; of every matrix that rounds to the one read, nothing can be said about {self.quantity}"
        bound = format_decimal(self.every_matrix, digits=9, up=True)
        every = f"{about}; for every matrix that rounds to the one read, the bound on {self.quantity} is {bound}"
        return f"{every} (claim symshuffle.rounded-matrix)"

    @property
    def gap(self) -> Fraction | None:
        """1 - attained / bound, in [0, 1]; None if no real pair was evaluated."""
        if self.attained is None:
            return None
        return 1 - self.attained.lower / self.bracket.upper if self.bracket.upper else Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: both ends, rounded outward, and the datasets they cover."""
        exact, gap = self.bracket.exact, self.gap
        every = None if self.every_matrix is None else format_decimal(self.every_matrix, up=True)
        return {
            **self.bracket.decimals(),
            "exact": None if exact is None else exact_text(exact),
            **self._keys(),
            "gap": None if gap is None else format_decimal(gap, digits=6, up=True),
            **({} if self.rounds is None else self.rounds.to_dict()),
            **({} if self.neighbours.rounding is None else {"every_matrix": every}),
        }

    def __repr__(self) -> str:
        return f"<{self.quantity} {self.bracket}, n = {self.n}, {self.neighbours.adjacency.value}>"


def about_delta(neighbours: Neighbours) -> str:
    """What a bracket around delta says."""
    if neighbours.enumerated:
        return f"encloses {neighbours.compared}"
    return (
        f"upper bounds {neighbours.compared}; lower is the other side of this bound, not a lower bound on the "
        f"divergence{neighbours.together}"
    )


def about_epsilon(neighbours: Neighbours, *, at_zero: bool = False) -> str:
    """What a bracket around eps says; ``at_zero``, where both of its ends are 0."""
    below = (
        "the bound meets delta at eps = 0 already"
        if at_zero
        else "at every eps below lower this bound exceeds delta (the true epsilon may still be smaller)"
    )
    if neighbours.enumerated and not at_zero:
        below = "at every eps below lower this divergence exceeds delta"
    return f"at eps = upper, delta bounds {neighbours.compared}; {below}{neighbours.together}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Inverse(AboutNeighbours, AnswerMethods):
    """Bracket around the parameter value at which a bound on delta meets a target.

    ``float`` returns the safe end, rounded outwards: the lower one of a budget, the upper one of a number of users.

    Parameters
    ----------
    bracket : Bracket
        Around the exact inverse of the bound: a number of users, or a local budget eps0 in nats.
    safe : {"lower", "upper"}
        The end at which the bound certainly meets the target; ``safe_end`` is that number.
    delta : Bracket
        The bound on delta at the safe end.
    neighbours : Neighbours
        The pairs of datasets to which the bound applies.
    about : str
        To which experiment the bound applies, which end is safe, and what is assumed between the ends.
    target : str
        The eps and delta that are met, in words.
    """

    bracket: Bracket
    safe: SafeEnd
    delta: Bracket
    neighbours: Neighbours
    about: str
    target: str = ""

    @property
    def quantity_name(self) -> str:
        """What is looked for: eps0, whose lower end is safe, or n, whose upper end is."""
        return "eps0" if self.safe is SafeEnd.LOWER else "n"

    @property
    def lines(self) -> FirstLines:
        """First lines of the answer; the target is met from the safe end on."""
        up = self.safe is SafeEnd.UPPER
        end = safe_decimal(self.bracket.lower, self.bracket.upper, up=up)
        number = f">= {end} (upper end, rounded up)" if up else f"<= {end} (lower end, rounded down)"
        number = at_target(number, self.target)
        return self.neighbours.lines(self.quantity_name, number, self.bracket.rigour.words)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: both ends, the safe one, delta there, and the datasets covered."""
        at = self.delta.decimals()
        return {
            **self.bracket.decimals(),
            "safe": self.safe.value,
            "delta_at_safe": {"lower": at["lower"], "upper": at["upper"]},
            "rigour": self.bracket.rigour.value,
            "engine": self.bracket.engine,
            "how": self.how,
            **self.neighbours.keys(self.about),
        }

    def __str__(self) -> str:
        return str(self.bracket)
