"""What an inverse of a bound answers: both ends, which of them is safe, and delta there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from symshuffle.accountants.covering.neighbours import AboutNeighbours, Neighbours
from symshuffle.base.choices import replace_choice
from symshuffle.base.results import AnswerMethods, Bracket, FirstLines, SafeEnd, at_target, safe_decimal


@final
@dataclass(frozen=True, slots=True, repr=False)
class Inverse(AboutNeighbours, AnswerMethods):
    """Bracket around the parameter value at which a bound on delta meets a target.

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

    def __post_init__(self) -> None:
        replace_choice(SafeEnd, self, "safe")

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
