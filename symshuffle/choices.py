"""Choices between named possibilities: one enumeration per notion, one reader for all.

Members are text, so that ``"forward"`` and ``Direction.FORWARD`` are the same to a caller; at a public door anything
that is no member's value is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar, final

from symshuffle.errors import InputError

E = TypeVar("E", bound=StrEnum)


@final
class Direction(StrEnum):
    """Which divergence of an ordered pair: ``D(M(X0) || M(X1))``, or the one back."""

    FORWARD = "forward"
    REVERSE = "reverse"


@final
class Question(StrEnum):
    """Which divergence is asked for: one direction, or the larger of the two."""

    FORWARD = "forward"
    REVERSE = "reverse"
    BOTH = "both"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """The directions to evaluate."""
        return tuple(Direction) if self is Question.BOTH else (Direction(self.value),)


@final
class Rigour(StrEnum):
    """How far a bracket can be trusted.

    ``EXACT``: a rational number. ``BALL``: both ends are theorems, by ball arithmetic. ``FLOAT64``: both ends are
    computed in double precision with a stated error allowance.
    """

    EXACT = "exact"
    BALL = "ball"
    FLOAT64 = "float64"

    @property
    def strength(self) -> int:
        """Order of the levels, the strongest highest."""
        return ("float64", "ball", "exact").index(self.value)

    @staticmethod
    def weakest(levels: Iterable[Rigour]) -> Rigour:
        """That of a result made of parts; there is at least one part."""
        return min(levels, key=lambda level: level.strength)


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
        if self is Adjacency.ZERO_OUT:
            return "differ in one user, whose input is replaced by the null symbol"
        return "differ in the input of one user"

    @property
    def any_pair(self) -> str:
        """The inputs between which any user may change."""
        return "any input and the null symbol" if self is Adjacency.ZERO_OUT else "any two inputs"

    def of_group(self, group: int) -> str:
        """In what datasets differ that so many users, at least 2, tell apart."""
        if self is Adjacency.ZERO_OUT:
            return f"differ in at most {group} users, whose inputs are replaced by the null symbol"
        return f"differ in the inputs of at most {group} users"


@final
class Blanket(StrEnum):
    """What stands in for the messages of the others in a bound.

    ``MECHANISM``: the law of the null symbol, with the mass that it has in every message. ``LARGEST``: the infimum of
    the laws of all inputs; of finite mechanisms it is the only one.
    """

    MECHANISM = "mechanism"
    LARGEST = "largest"


@final
class Criterion(StrEnum):
    """Which risk is minimised: the average over a prior, or the worst."""

    BAYES = "bayes"
    MINIMAX = "minimax"

    @property
    def word(self) -> str:
        """The risk in a sentence."""
        return "worst-case" if self is Criterion.MINIMAX else "Bayes"


@final
class Method(StrEnum):
    """Which linear program proposes the optimal channel.

    ``POLYTOPE``: over all ``2**m - 2`` extremal columns. ``COMPACT``: one output per action, polynomial size.
    ``COLUMNS``: column generation, exact throughout.
    """

    POLYTOPE = "polytope"
    COMPACT = "compact"
    COLUMNS = "columns"


@final
class Population(StrEnum):
    """How the users' inputs arise from a composition: exactly so many hold each, or each user draws."""

    FIXED = "fixed"
    IID = "iid"


@final
class Others(StrEnum):
    """What the other users are taken to hold: the blanket, which bounds them all, or one input each.

    ``FIRST`` and ``SECOND`` are the two inputs of the pair, ``THIRD`` is any other.
    """

    BLANKET = "blanket"
    THIRD = "third"
    SECOND = "second"
    FIRST = "first"


@final
class Side(StrEnum):
    """From which side something approaches what it stands for."""

    LOWER = "lower"
    UPPER = "upper"


@final
class CertificateForm(StrEnum):
    """From which data of a likelihood ratio its privacy curve is bounded: each bound is at most the one before."""

    ELEMENTARY = "elementary"
    QUARTER = "quarter"
    TWO_MOMENT = "two-moment"
    RANGE = "range"


@final
class Under(StrEnum):
    """Under which law of a canonical pair: P, in which all users hold the same, or Q, in which one differs."""

    P = "P"
    Q = "Q"


@final
class Operator(StrEnum):
    """How a composition combines its parts: one coordinate each, or one of them drawn and named."""

    JOINT = "joint"
    PARALLEL = "parallel"


@final
class Domain(StrEnum):
    """The inputs of Laplace noise: the two ends of the unit interval, or all of it."""

    BINARY = "binary"
    UNIT = "unit"


@final
class Route(StrEnum):
    """How a confirmation is computed.

    ``SUMS``: over counts of atoms. ``INVERSION``: of the moment generating function. ``AUTO`` chooses by cost.
    """

    AUTO = "auto"
    SUMS = "sums"
    INVERSION = "inversion"


@final
class CurveKind(StrEnum):
    """What is a function of what: delta of eps, eps of the number of users, or type II error of type I error."""

    DELTA_EPS = "delta-eps"
    EPS_N = "eps-n"
    F_DP = "f-dp"


@final
class Divergence(StrEnum):
    """How two laws of the shuffled output are compared."""

    HOCKEY_STICK = "hockey-stick"
    TOTAL_VARIATION = "total-variation"
    CHI_SQUARE = "chi-square"
    KL = "kl"
    SQUARED_HELLINGER = "squared-hellinger"
    RENYI = "renyi"


@final
class MatchKind(StrEnum):
    """What mechanisms that are compared have in common.

    ``CHI_SQUARE``: the largest pairwise chi-square divergence. ``EPS0``: the local level. ``EPS_DELTA``: the central
    target.
    """

    CHI_SQUARE = "chi-square"
    EPS0 = "eps0"
    EPS_DELTA = "eps-delta"


@final
class Larger(StrEnum):
    """Which order of a pair has the larger profile on a range of levels.

    ``FORWARD`` and ``REVERSE``: at least as large on all of it. ``CROSSING``: either one somewhere. ``UNDECIDED``: not
    settled on all of it.
    """

    FORWARD = "forward"
    REVERSE = "reverse"
    EQUAL = "equal"
    CROSSING = "crossing"
    UNDECIDED = "undecided"


def choice(kind: type[E], value: object, argument: str) -> E:
    """The member that a caller means, given itself or by its text.

    Raises
    ------
    InputError
        If it is neither.

    Examples
    --------
    >>> choice(Direction, "reverse", "direction")
    <Direction.REVERSE: 'reverse'>
    """
    if isinstance(value, str):
        try:
            return kind(value)
        except ValueError:
            pass
    raise InputError(argument, value, "one of " + ", ".join(kind))


def replace_choice(kind: type[E], instance: object, argument: str) -> None:
    """Read a field of a frozen dataclass under construction.

    Raises
    ------
    InputError
        As :func:`choice`.
    """
    object.__setattr__(instance, argument, choice(kind, getattr(instance, argument), argument))
