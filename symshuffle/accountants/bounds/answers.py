"""The answer to a question about a deployment: a bracket, what it covers, and the value that real datasets reach."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from symshuffle.accountants.deployment.neighbours import ASSUMED, NOT_COVERED, Neighbours
from symshuffle.base.choices import EVALUATED, Question, SafeEnd
from symshuffle.base.errors import optional
from symshuffle.base.levels import words_of_target
from symshuffle.base.numbers import Real, exact_text, format_decimal
from symshuffle.base.results import (
    MOST_DIGITS,
    AnswerMethods,
    Bracket,
    FirstLines,
    at_target,
    outward,
    safe_decimal,
    safe_number,
)

if TYPE_CHECKING:
    from symshuffle.accountants.deployment.model import Deployment

Quantity: TypeAlias = Literal["delta", "epsilon", "Rényi divergence", "eps0", "n"]


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
    alone = " (one user differs; no pair that differs in more was evaluated)" if neighbours.steps > 1 else ""
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
@dataclass(frozen=True, slots=True, repr=False)
class Answer(AnswerMethods):
    """Certified answer to a question about a deployment, with the datasets covered.

    ``float`` returns the upper end, rounded up.

    Parameters
    ----------
    quantity : {"delta", "epsilon", "Rényi divergence", "eps0", "n"}
        What is bounded or searched for.
    bracket : Bracket
        Around the decomposition bound (eps and the Rényi divergence in nats), whose upper end bounds the shuffled
        messages; or around the eps0 or n at which the bound on delta meets the target.
    neighbours : Neighbours
        The pairs of datasets to which the bound applies.
    exp_eps, delta, order
        Target: the ratio exp(eps), the probability, or the Rényi order; None where it is not given.
    attained : Attained or None
        A real neighbouring pair, where one was evaluated.
    attained_missing : str
        Reason why none was evaluated although it was asked for; else empty.
    rounds : tuple of (int, int or None)
        For several batches of messages: how many are alike, and their number of users; else empty.
    simpler : tuple of (str, Fraction)
        Bounds of simpler compositions of these, by name.
    simpler_missing : str
        Reason why there are none; else empty.
    every_matrix : Fraction or None
        Where a rounded matrix was read and normalised: the same bound for every matrix that rounds to it. None if
        nothing can be said about all of these, or the matrix was taken as it is written.
    delta_at_ends : tuple of Bracket
        For eps0 and n: the bound on delta at the end where it meets the target, and at the other end; else empty.
    deployment : Deployment or None
        What was asked about; None for laws that were derived before. Answers are compared without it.
    """

    quantity: Quantity
    bracket: Bracket
    neighbours: Neighbours
    exp_eps: Real | None = None
    delta: Fraction | None = None
    order: Fraction | None = None
    attained: Attained | None = None
    attained_missing: str = ""
    rounds: tuple[tuple[int, int | None], ...] = ()
    simpler: tuple[tuple[str, Fraction], ...] = ()
    simpler_missing: str = ""
    every_matrix: Fraction | None = None
    delta_at_ends: tuple[Bracket, ...] = ()
    deployment: Deployment | None = field(default=None, compare=False)  # reductions are equal to themselves only

    @property
    def direction(self) -> Question:
        """Divergence that is bounded: one direction, or the larger of the two."""
        return self.neighbours.question

    @property
    def safe(self) -> SafeEnd:
        """End that is guaranteed: the lower one of a local budget, the upper one of everything else."""
        return "lower" if self.quantity == "eps0" else "upper"

    @property
    def target(self) -> str:
        """The target, in words."""
        if self.order is not None:
            return f"order = {_written(self.order)}"
        return words_of_target(exp_eps=self.exp_eps, delta=self.delta)

    @property
    def lines(self) -> FirstLines:
        """First lines of the answer; the first line shows the number and the target."""
        if self.delta_at_ends:
            up = self.quantity != "eps0"
            end = safe_decimal(self.bracket.lower, self.bracket.upper, up=up)
            number = f">= {end} (upper end, rounded up)" if up else f"<= {end} (lower end, rounded down)"
        else:
            number = safe_number(self.bracket, "upper")
        return self.neighbours.lines(self.quantity, at_target(number, self.target), EVALUATED[self.bracket.arithmetic])

    @property
    def n(self) -> int:
        """Number of users, the differing one included."""
        assert self.neighbours.users is not None
        return self.neighbours.users

    @property
    def about(self) -> str:
        """Experiment and theorem to which the bound applies, in words."""
        if self.delta_at_ends:
            return self._about_inverse()
        if self.quantity == "Rényi divergence":
            return about_renyi(self.neighbours, self.order)
        about = about_delta(self.neighbours)
        if self.quantity == "epsilon":
            about = about_epsilon(self.neighbours, at_zero=self.bracket.upper == 0)
        if self.neighbours.rounding is None:
            return about
        if self.every_matrix is None:
            return f"{about}; of every matrix that rounds to the one read, nothing can be said about {self.quantity}"
        bound = format_decimal(self.every_matrix, digits=9, up=True)
        every = f"{about}; for every matrix that rounds to the one read, the bound on {self.quantity} is {bound}"
        return f"{every} (claim symshuffle.rounded-matrix)"

    def _about_inverse(self) -> str:
        exceeds = self.delta is not None and self.delta_at_ends[1].lower > self.delta
        compared, together = self.neighbours.compared, self.neighbours.together
        if self.quantity == "eps0":
            exceeded = "exceeds delta" if exceeds else "is not told from delta"
            return (
                f"at eps0 = lower, the safe end, delta bounds {compared}; at eps0 = upper this bound {exceeded}; "
                f"between the ends it is assumed to rise with eps0{together}"
            )
        exceeded = "; at n = lower it exceeds delta" if exceeds else ""
        why = "this bound never rises with n (S_n/n is a reverse martingale)"
        if self.neighbours.enumerated:
            why = "it never rises with n, as the messages of one more user depend on nothing else"
        return f"from n = upper on, the safe end, delta bounds {compared}: {why}{exceeded}{together}"

    @property
    def gap(self) -> Fraction | None:
        """1 - attained / bound, in [0, 1]; None if no real pair was evaluated."""
        if self.attained is None:
            return None
        return 1 - self.attained.lower / self.bracket.upper if self.bracket.upper else Fraction(0)

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: both ends, rounded outward, how they are known, and the datasets they cover."""
        found: dict[str, Any] = dict(self.bracket.decimals())
        known = {
            "safe": self.safe,
            "arithmetic": self.bracket.arithmetic,
            "engine": self.bracket.engine,
            "evaluation": self.evaluation,
            **self.neighbours.keys(self.about),
        }
        if self.delta_at_ends:
            at = self.delta_at_ends[0].decimals()
            return found | {"delta_at_safe": {"lower": at["lower"], "upper": at["upper"]}} | known
        if self.order is not None:
            found = {"order": str(self.order)} | found
        else:
            exact = self.bracket.exact
            found["exact"] = None if exact is None else exact_text(exact)
        wide, attained = self.bracket.relative_width, self.attained
        found |= {
            "relative_width": None if wide is None else float(wide),
            "aimed": self.bracket.aimed,
            **known,
            "attained_lower": None if attained is None else format_decimal(attained.lower, up=False),
            "attained_by": None if attained is None else attained_by(attained, self.neighbours),
            "attained_missing": self.attained_missing or None,
            "gap": None if self.gap is None else format_decimal(self.gap, digits=6, up=True),
        }
        if self.rounds:
            found |= {
                "rounds": sum(times for times, _ in self.rounds),
                "parts": [{"rounds": times, "n": n} for times, n in self.rounds],
                "assumed": ASSUMED,
                "not_covered": NOT_COVERED,
                "simpler": {name: format_decimal(value, up=True) for name, value in self.simpler},
                "simpler_missing": self.simpler_missing or None,
            }
        if self.neighbours.rounding is not None:
            found["every_matrix"] = None if self.every_matrix is None else format_decimal(self.every_matrix, up=True)
        return found

    def __str__(self) -> str:
        return str(self.bracket)

    def __repr__(self) -> str:
        order = "" if self.order is None else f" of order {self.order}"
        users = "" if self.neighbours.users is None else f", n = {self.n}"
        return f"<{self.quantity}{order} {self.bracket}{users}, {self.neighbours.adjacency}>"

    def _repr_html_(self) -> str:
        return self.lines.to_html(*attained_rows(self.attained, self.neighbours, self.attained_missing))


def _written(order: Fraction) -> str:
    """An order as a decimal where it is one of at most 17 digits, else as a fraction."""
    decimal = format_decimal(order, up=True)
    return decimal if Fraction(decimal) == order else str(order)


def about_delta(neighbours: Neighbours) -> str:
    """What a bracket around delta says."""
    if neighbours.enumerated:
        return f"encloses {neighbours.compared}"
    return (
        f"upper bounds {neighbours.compared}; lower is the other side of this bound, not a lower bound on the "
        f"divergence{neighbours.together}"
    )


def about_renyi(neighbours: Neighbours, order: object) -> str:
    """What a bracket around a Rényi divergence says."""
    kind = f"of Rényi order {order} in nats (both directions of the profile enter)"
    return (
        f"upper bounds {neighbours.compared_by(kind)}; lower is the other side of this bound, not a lower "
        f"bound on the divergence{neighbours.together}"
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
