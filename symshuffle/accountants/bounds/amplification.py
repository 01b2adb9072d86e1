"""Answer for delta or eps: the bound, the covered datasets, the rounds, and the value that real datasets reach."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal, final

from symshuffle.accountants.covering.neighbours import ASSUMED, NOT_COVERED, AboutNeighbours, Neighbours
from symshuffle.base.numbers import exact_text, format_decimal
from symshuffle.base.results import MOST_DIGITS, AnswerMethods, Bracket, FirstLines, SafeEnd, at_target, safe_number


@final
@dataclass(frozen=True, slots=True)
class Attained:
    """Lower bound that a real pair of neighbouring datasets certainly reaches.

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


def attained_by(found: Attained, neighbours: Neighbours) -> str:
    """The two datasets, and for groups that they differ in one user all the same."""
    alone = (
        " (one user differs; no pair that differs in more was evaluated)" if neighbours.participation.group > 1 else ""
    )
    return found.datasets + alone


def attained_rows(found: Attained | None, neighbours: Neighbours) -> list[tuple[str, str]]:
    """The row of a table that shows what real datasets reach, if any were evaluated."""
    if found is None:
        return []
    reached = format_decimal(found.lower, digits=MOST_DIGITS, up=False)
    return [("attained", f">= {reached} by {attained_by(found, neighbours)}")]


@final
@dataclass(frozen=True, slots=True)
class SeveralRounds:
    """What an answer about several rounds says beside its bracket."""

    times: int
    parts: tuple[tuple[int, int | None], ...]
    simpler: tuple[tuple[str, Fraction], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready."""
        return {
            "rounds": self.times,
            "parts": [{"rounds": times, "n": n} for times, n in self.parts],
            "assumed": ASSUMED,
            "not_covered": NOT_COVERED,
            "simpler": {name: format_decimal(value, up=True) for name, value in self.simpler},
        }


@final
@dataclass(frozen=True, slots=True, repr=False)
class Amplification(AboutNeighbours, AnswerMethods):
    """Bound on delta or eps after shuffling, and the datasets it covers.

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
        if self.quantity == "delta":
            return about_delta(self.neighbours) + self._of_every_matrix
        return about_epsilon(self.neighbours, at_zero=self.bracket.upper == 0) + self._of_every_matrix

    @property
    def _of_every_matrix(self) -> str:
        """What holds for every matrix that rounds to the one read, in words; empty where none was normalised."""
        if self.neighbours.rounding is None:
            return ""
        if self.every_matrix is None:
            return f"; of every matrix that rounds to the one read, nothing can be said about {self.quantity}"
        bound = format_decimal(self.every_matrix, digits=9, up=True)
        every = f"; for every matrix that rounds to the one read, the bound on {self.quantity} is {bound}"
        return f"{every} (claim symshuffle.rounded-matrix)"

    @property
    def safe(self) -> SafeEnd:
        """The upper end: it bounds the shuffled experiment."""
        return SafeEnd.UPPER

    @property
    def gap(self) -> Fraction | None:
        """1 - attained / bound, in [0, 1]; None if no real pair was evaluated."""
        if self.attained is None:
            return None
        return 1 - self.attained.lower / self.bracket.upper if self.bracket.upper else Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: both ends, rounded outward, and the datasets they cover."""
        exact, wide, attained, gap = self.bracket.exact, self.bracket.relative_width, self.attained, self.gap
        return {
            **self.bracket.decimals(),
            "exact": None if exact is None else exact_text(exact),
            "relative_width": None if wide is None else float(wide),
            "aimed": self.bracket.aimed,
            "safe": self.safe.value,
            "rigour": self.bracket.rigour.value,
            "engine": self.bracket.engine,
            "how": self.how,
            **self.neighbours.keys(self.about),
            "attained_lower": None if attained is None else format_decimal(attained.lower, up=False),
            "attained_by": None if attained is None else attained_by(attained, self.neighbours),
            "gap": None if gap is None else format_decimal(gap, digits=6, up=True),
            **({} if self.rounds is None else self.rounds.to_dict()),
            **({} if self.neighbours.rounding is None else {"every_matrix": self._every_matrix()}),
        }

    def _every_matrix(self) -> str | None:
        return None if self.every_matrix is None else format_decimal(self.every_matrix, up=True)

    def __str__(self) -> str:
        return str(self.bracket)

    def __repr__(self) -> str:
        return f"<{self.quantity} {self.bracket}, n = {self.n}, {self.neighbours.adjacency.value}>"

    def _repr_html_(self) -> str:
        return self.lines.to_html(*attained_rows(self.attained, self.neighbours))


def about_delta(neighbours: Neighbours) -> str:
    """What a bracket around delta says."""
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
    return f"at eps = upper, delta bounds {neighbours.compared}; {below}{neighbours.together}"
