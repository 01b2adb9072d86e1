"""Choices between named possibilities: one enumeration per notion, one reader for all.

Members are text, so that ``"forward"`` and ``Direction.FORWARD`` are the same to a caller; at a public door anything
that is no member's value is refused.
"""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import TypeVar, final

from symshuffle.base.errors import InputError

E = TypeVar("E", bound=StrEnum)


@final
class Direction(StrEnum):
    """Direction of a divergence: ``D(M(X0) || M(X1))`` or ``D(M(X1) || M(X0))``."""

    FORWARD = "forward"
    REVERSE = "reverse"


@final
class Question(StrEnum):
    """Divergence that is bounded: one direction, or the larger of the two."""

    FORWARD = "forward"
    REVERSE = "reverse"
    BOTH = "both"

    @property
    def directions(self) -> tuple[Direction, ...]:
        """Directions to evaluate."""
        return tuple(Direction) if self is Question.BOTH else (Direction(self.value),)


@final
class Arithmetic(StrEnum):
    """Level of trust in the two ends of a bracket.

    ``EXACT``: a rational number. ``BALL``: both ends are theorems, by ball arithmetic. ``FLOAT64``: both ends are
    computed in double precision with a stated error allowance.
    """

    EXACT = "exact"
    BALL = "ball"
    FLOAT64 = "float64"

    @property
    def strength(self) -> int:
        """Rank of the level; the strongest level has the highest rank."""
        return ("float64", "ball", "exact").index(self.value)

    @property
    def words(self) -> str:
        """How a number of that level was evaluated, in words."""
        return {
            "exact": "in rational numbers",
            "ball": "in ball arithmetic, which encloses every rounding",
            "float64": "in float64 under a stated model of rounding",
        }[self.value]

    @staticmethod
    def weakest(levels: Iterable[Arithmetic]) -> Arithmetic:
        """Weakest of at least one level: the arithmetic of a result made of several parts."""
        return min(levels, key=lambda level: level.strength)


@final
class Relation(StrEnum):
    """Relation between neighbouring datasets of n users.

    ``REPLACE_ONE``: the input of one user is another one. ``ZERO_OUT``: the input of one user is replaced by a null
    symbol, whose output law is given.
    """

    REPLACE_ONE = "replace-one"
    ZERO_OUT = "zero-out"

    @property
    def words(self) -> str:
        """Relation between neighbours, in words."""
        if self is Relation.ZERO_OUT:
            return "differ in one user, whose input is replaced by the null symbol"
        return "differ in the input of one user"

    @property
    def any_pair(self) -> str:
        """Inputs between which any user may change, in words."""
        return "any input and the null symbol" if self is Relation.ZERO_OUT else "any two inputs"

    def of_group(self, group: int) -> str:
        """Relation between datasets that differ in at most ``group`` users, in words."""
        if self is Relation.ZERO_OUT:
            return f"differ in at most {group} users, whose inputs are replaced by the null symbol"
        return f"differ in the inputs of at most {group} users"


@final
class Blanket(StrEnum):
    """Law that replaces the messages of the other users in a bound.

    ``MECHANISM``: the law of the null symbol, with the mass that it has in every message. ``LARGEST``: the infimum of
    the laws of all inputs; for finite mechanisms it is the only choice.
    """

    MECHANISM = "mechanism"
    LARGEST = "largest"


@final
class Criterion(StrEnum):
    """Risk that is minimised: the average over a prior, or the worst case."""

    BAYES = "bayes"
    MINIMAX = "minimax"

    @property
    def word(self) -> str:
        """The risk in a sentence."""
        return "worst-case" if self is Criterion.MINIMAX else "Bayes"


@final
class ProgramForm(StrEnum):
    """Form of the linear program that proposes the optimal channel.

    ``POLYTOPE``: over all ``2**m - 2`` extremal columns. ``COMPACT``: one output per action, polynomial size.
    ``COLUMNS``: column generation, exact throughout.
    """

    POLYTOPE = "polytope"
    COMPACT = "compact"
    COLUMNS = "columns"


@final
class Population(StrEnum):
    """How the inputs of n users arise from a composition.

    ``FIXED``: exactly n times each entry of the composition hold that input. ``IID``: each user draws an input
    independently.
    """

    FIXED = "fixed"
    IID = "iid"


@final
class Others(StrEnum):
    """Input that the other users are assumed to hold in a decomposition.

    ``BLANKET``: the privacy blanket, which covers any inputs. Else the first or second input of the pair, or a third.
    """

    BLANKET = "blanket"
    THIRD = "third"
    SECOND = "second"
    FIRST = "first"


@final
class Side(StrEnum):
    """Side of a bound: lower or upper."""

    LOWER = "lower"
    UPPER = "upper"


@final
class CertificateForm(StrEnum):
    """Data of a likelihood ratio from which its privacy curve is bounded.

    In the order given, each bound is at most the one before.
    """

    ELEMENTARY = "elementary"
    QUARTER = "quarter"
    TWO_MOMENT = "two-moment"
    RANGE = "range"


@final
class Under(StrEnum):
    """Law of a canonical pair: P, where all users hold the same input, or Q.

    Under ``Q`` one user holds another input.
    """

    P = "P"
    Q = "Q"


@final
class Operator(StrEnum):
    """How a composition combines its parts.

    ``JOINT``: one part per coordinate of the input. ``PARALLEL``: one part is drawn, and the output names it.
    """

    JOINT = "joint"
    PARALLEL = "parallel"


@final
class Domain(StrEnum):
    """Inputs of Laplace noise: the two ends of the unit interval, or all of it."""

    BINARY = "binary"
    UNIT = "unit"


@final
class Route(StrEnum):
    """Method of recomputing a value at high precision.

    ``SUMS``: sums over counts of atoms. ``INVERSION``: inversion of the moment generating function. ``AUTO`` chooses by
    cost.
    """

    AUTO = "auto"
    SUMS = "sums"
    INVERSION = "inversion"


@final
class CurveKind(StrEnum):
    """Kind of a curve: which quantity is a function of which.

    ``DELTA_EPS``: delta of eps. ``EPS_N``: eps of the number of users. ``F_DP``: type II error of type I error.
    """

    DELTA_EPS = "delta-eps"
    EPS_N = "eps-n"
    F_DP = "f-dp"


@final
class Divergence(StrEnum):
    """Divergence by which two laws of the shuffled output are compared."""

    HOCKEY_STICK = "hockey-stick"
    TOTAL_VARIATION = "total-variation"
    CHI_SQUARE = "chi-square"
    KL = "kl"
    SQUARED_HELLINGER = "squared-hellinger"
    RENYI = "renyi"


@final
class MatchKind(StrEnum):
    """Budget that compared mechanisms have in common.

    ``CHI_SQUARE``: the largest pairwise chi-square divergence. ``EPS0``: the local level. ``EPS_DELTA``: the central
    target.
    """

    CHI_SQUARE = "chi-square"
    EPS0 = "eps0"
    EPS_DELTA = "eps-delta"


@final
class Loss(StrEnum):
    """Error of a histogram by which mechanisms are ranked.

    Estimates are shares of the users. ``L2``: expected sum of squared errors. ``MAX``: largest expected squared error
    of one coordinate, over all compositions. ``ABSENT``: expected squared error of a category that nobody holds.
    ``TEST``: sum of the standard errors of a category that all users hold and of one that nobody holds.
    """

    L2 = "l2"
    MAX = "max"
    ABSENT = "absent"
    TEST = "test"

    @property
    def words(self) -> str:
        """The loss in words."""
        return {
            "l2": "expected sum of squared errors",
            "max": "largest expected squared error of one category",
            "absent": "expected squared error of a category that nobody holds",
            "test": "standard error of a category held by all users plus that of one held by nobody",
        }[self.value]


@final
class Larger(StrEnum):
    """Order of a pair with the larger profile on a range of levels.

    ``FORWARD`` and ``REVERSE``: at least as large on the whole range. ``EQUAL``: both are equal. ``CROSSING``: each is
    larger somewhere. ``UNDECIDED``: not settled on the whole range.
    """

    FORWARD = "forward"
    REVERSE = "reverse"
    EQUAL = "equal"
    CROSSING = "crossing"
    UNDECIDED = "undecided"


def choice(kind: type[E], value: object, argument: str) -> E:
    """The member that a caller means, given itself or by its text."""
    if isinstance(value, str):
        try:
            return kind(value)
        except ValueError:
            pass
    raise InputError(argument, value, "one of " + ", ".join(kind))


def replace_choice(kind: type[E], instance: object, argument: str) -> None:
    """Read a field of a frozen dataclass under construction."""
    object.__setattr__(instance, argument, choice(kind, getattr(instance, argument), argument))
