"""What the front door answers: a bound on delta or eps, whom it covers, in which rounds, what real datasets reach."""

from __future__ import annotations

import html
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, final

from symshuffle.accountants.neighbours import AboutNeighbours, Neighbours
from symshuffle.numbers import exact_text, format_decimal
from symshuffle.results import AnswerMethods, Bracket, SafeEnd

ASSUMED: Final = "every round has fresh randomness and fresh messages, which cannot be linked to those of another round"
"""What the composition of rounds takes for granted."""

NOT_COVERED: Final = (
    "reports that are kept and sent again, a fixed number of participants drawn per round, participation that depends "
    "on the value, a number of rounds chosen on the way because budget is left"
)
"""What it does not speak about."""


@final
@dataclass(frozen=True, slots=True)
class Attained:
    """What a real neighbouring pair certainly has.

    Parameters
    ----------
    lower : Fraction
        A number that the pair's own delta (or eps) is not below.
    datasets : str
        The two datasets.
    """

    lower: Fraction
    datasets: str


@final
@dataclass(frozen=True, slots=True)
class Composition:
    """What an answer about several rounds says beside its bracket.

    Parameters
    ----------
    times : int
        The number of rounds.
    parts : tuple of (int, int or None)
        Rounds that are alike: how many, and for how many users, where that is given.
    simpler : tuple of (str, Fraction)
        What other theorems of composition give for the same question.
    """

    times: int
    parts: tuple[tuple[int, int | None], ...]
    simpler: tuple[tuple[str, Fraction], ...] = ()

    @property
    def covered(self) -> str:
        """What is covered, assumed and left out, in words."""
        return (
            f"of the messages of all {self.times} rounds together, a list fixed before the first: the inputs may be "
            "others in every round, chosen even after earlier messages were seen, and the user who differs may change "
            f"between another pair of values in every round; assumed: {ASSUMED}; not covered: {NOT_COVERED}"
        )

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
    """An amplification bound and whom it covers.

    Parameters
    ----------
    quantity : {"delta", "epsilon"}
        What is bounded.
    bracket : Bracket
        Around the decomposition bound on delta (or on eps); its upper end bounds the shuffled experiment.
    neighbours : Neighbours
        The pairs of datasets that it speaks about.
    attained : Attained or None
        A real neighbouring pair, where one was evaluated.
    rounds : Composition or None
        Of several rounds: how many, what is covered; ``neighbours`` then speaks about each of them.
    """

    quantity: Literal["delta", "epsilon"]
    bracket: Bracket
    neighbours: Neighbours
    attained: Attained | None = None
    rounds: Composition | None = None

    @property
    def n(self) -> int:
        """Number of users, the differing one included."""
        assert self.neighbours.users is not None
        return self.neighbours.users

    @property
    def about(self) -> str:
        """Which experiment the bound speaks about, by which theorem."""
        text = (about_delta if self.quantity == "delta" else about_epsilon)(self.neighbours)
        return text if self.rounds is None else f"{text}; {self.rounds.covered}"

    @property
    def safe(self) -> SafeEnd:
        """The upper end: it bounds the shuffled experiment."""
        return SafeEnd.UPPER

    @property
    def gap(self) -> Fraction | None:
        """The share of the bound, in [0, 1], that no real pair evaluated here reaches; None if none was."""
        if self.attained is None:
            return None
        return 1 - self.attained.lower / self.bracket.upper if self.bracket.upper else Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: both ends as decimals rounded outward, how they are known, and whom they cover."""
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
            "attained_by": None if attained is None else attained.datasets,
            "gap": None if gap is None else format_decimal(gap, digits=6, up=True),
            **({} if self.rounds is None else self.rounds.to_dict()),
        }

    def __str__(self) -> str:
        return str(self.bracket)

    def __repr__(self) -> str:
        return f"<{self.quantity} {self.bracket}, n = {self.n}, {self.neighbours.adjacency.value}>"

    def _repr_html_(self) -> str:
        return f"{self.bracket._repr_html_()}<p>{html.escape(self.about)}</p>"


def about_delta(neighbours: Neighbours) -> str:
    """What a bracket around delta says."""
    return (
        f"upper bounds {neighbours.compared}; lower is the other side of this bound, not a lower bound on the "
        "divergence"
    )


def about_epsilon(neighbours: Neighbours) -> str:
    """What a bracket around eps says."""
    return (
        f"at eps = upper, delta bounds {neighbours.compared}; at eps = lower this bound exceeds delta, which the "
        "datasets themselves need not"
    )
