"""Choices between named possibilities: one alias of texts per notion, one reader for all.

A choice is the text itself, as in ``direction="forward"``; at a public door any other value is refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, get_args

from symshuffle.base.errors import InputError

if TYPE_CHECKING:
    from typing_extensions import TypeForm

T = TypeVar("T")

Direction: TypeAlias = Literal["forward", "reverse"]
"""Direction of a divergence: ``D(M(X0) || M(X1))`` or ``D(M(X1) || M(X0))``."""

Question: TypeAlias = Literal["forward", "reverse", "both"]
"""Divergence that is bounded: one direction, or the larger of the two."""

Arithmetic: TypeAlias = Literal["exact", "ball", "float64"]
"""Level of trust in the two ends of a bracket.

``"exact"``: a rational number. ``"ball"``: both ends are theorems, by ball arithmetic. ``"float64"``: both ends are
computed in double precision with a stated error allowance.
"""

Relation: TypeAlias = Literal["replace-one", "zero-out"]
"""Relation between neighbouring datasets of n users.

``"replace-one"``: the input of one user is another one. ``"zero-out"``: the input of one user is replaced by a null
symbol, whose output law is given.
"""

Blanket: TypeAlias = Literal["mechanism", "largest"]
"""Law that replaces the messages of the other users in a bound.

``"mechanism"``: the law of the null symbol, with the mass that it has in every message. ``"largest"``: the infimum of
the laws of all inputs; for finite mechanisms it is the only choice.
"""

Criterion: TypeAlias = Literal["bayes", "minimax"]
"""Risk that is minimised: the average over a prior, or the worst case."""

ProgramForm: TypeAlias = Literal["polytope", "compact", "columns"]
"""Form of the linear program that proposes the optimal channel.

``"polytope"``: over all ``2**m - 2`` extremal columns. ``"compact"``: one output per action, polynomial size.
``"columns"``: column generation, exact throughout.
"""

Population: TypeAlias = Literal["fixed", "iid"]
"""How the inputs of n users arise from a composition.

``"fixed"``: exactly n times each entry of the composition hold that input. ``"iid"``: each user draws an input
independently.
"""

Others: TypeAlias = Literal["blanket", "third", "second", "first"]
"""Input that the other users are assumed to hold in a decomposition.

``"blanket"``: the privacy blanket, which covers any inputs. Else the first or second input of the pair, or a third.
"""

Side: TypeAlias = Literal["lower", "upper"]
"""Side of a bound: lower or upper."""

CertificateForm: TypeAlias = Literal["elementary", "quarter", "two-moment", "range"]
"""Data of a likelihood ratio from which its privacy curve is bounded.

In the order given, each bound is at most the one before.
"""

Under: TypeAlias = Literal["P", "Q"]
"""Law of a canonical pair: P, where all users hold the same input, or Q.

Under ``"Q"`` one user holds another input.
"""

Operator: TypeAlias = Literal["joint", "parallel"]
"""How a composition combines its parts.

``"joint"``: one part per coordinate of the input. ``"parallel"``: one part is drawn, and the output names it.
"""

Domain: TypeAlias = Literal["binary", "unit"]
"""Inputs of Laplace noise: the two ends of the unit interval, or all of it."""

Route: TypeAlias = Literal["auto", "sums", "inversion"]
"""Method of recomputing a value at high precision.

``"sums"``: sums over counts of atoms. ``"inversion"``: inversion of the moment generating function. ``"auto"`` chooses
by cost.
"""

CurveKind: TypeAlias = Literal["delta-eps", "eps-n", "f-dp"]
"""Kind of a curve: which quantity is a function of which.

``"delta-eps"``: delta of eps. ``"eps-n"``: eps of the number of users. ``"f-dp"``: type II error of type I error.
"""

Divergence: TypeAlias = Literal["hockey-stick", "total-variation", "chi-square", "kl", "squared-hellinger", "renyi"]
"""Divergence by which two laws of the shuffled output are compared."""

MatchKind: TypeAlias = Literal["chi-square", "eps0", "eps-delta"]
"""Budget that compared mechanisms have in common.

``"chi-square"``: the largest pairwise chi-square divergence. ``"eps0"``: the local level. ``"eps-delta"``: the central
target.
"""

Loss: TypeAlias = Literal["l2", "max", "absent", "test"]
"""Error of a histogram by which mechanisms are ranked.

Estimates are shares of the users. ``"l2"``: expected sum of squared errors. ``"max"``: largest expected squared error
of one coordinate, over all compositions. ``"absent"``: expected squared error of a category that nobody holds.
``"test"``: sum of the standard errors of a category that all users hold and of one that nobody holds.
"""

Larger: TypeAlias = Literal["forward", "reverse", "equal", "crossing", "undecided"]
"""Order of a pair with the larger profile on a range of levels.

``"forward"`` and ``"reverse"``: at least as large on the whole range. ``"equal"``: both are equal. ``"crossing"``: each
is larger somewhere. ``"undecided"``: not settled on the whole range.
"""

SafeEnd: TypeAlias = Literal["lower", "upper", "neither"]
"""End of its bracket that an answer guarantees.

``"upper"`` for a leakage, and for a risk that a shown channel attains; ``"lower"`` for information that a shown channel
attains, and for a bound from below; ``"neither"`` where that depends on the use.
"""

EVALUATED: Final[Mapping[Arithmetic, str]] = {
    "exact": "in rational numbers",
    "ball": "in ball arithmetic, which encloses every rounding",
    "float64": "in float64 under a stated model of rounding",
}
"""How a number of each level was evaluated, in words."""

LOSSES: Final[Mapping[Loss, str]] = {
    "l2": "expected sum of squared errors",
    "max": "largest expected squared error of one category",
    "absent": "expected squared error of a category that nobody holds",
    "test": "standard error of a category held by all users plus that of one held by nobody",
}
"""The losses in words."""


DIRECTIONS: Final[Mapping[Question, tuple[Direction, ...]]] = {
    "forward": ("forward",),
    "reverse": ("reverse",),
    "both": ("forward", "reverse"),
}
"""Directions to evaluate for a question."""

STRENGTH: Final[Mapping[Arithmetic, int]] = {"float64": 0, "ball": 1, "exact": 2}
"""Rank of each level; the strongest level has the highest rank."""


def members(kind: TypeForm[T]) -> tuple[T, ...]:
    """The texts of a choice, in order; the members of an enumeration."""
    named: Any = kind
    return get_args(named) or tuple(named)


def choice(kind: TypeForm[T], value: object, argument: str) -> T:
    """The text that a caller means; any other value is refused with the texts allowed."""
    known = members(kind)
    if isinstance(value, str):
        for text in known:
            if text == value:
                return text
    raise InputError(argument, value, "one of " + ", ".join(map(str, known)))


def replace_choice(kind: TypeForm[Any], instance: object, argument: str) -> None:
    """Read a field of a frozen dataclass under construction."""
    object.__setattr__(instance, argument, choice(kind, getattr(instance, argument), argument))


def weakest_arithmetic(levels: Iterable[Arithmetic]) -> Arithmetic:
    """Weakest of at least one level: the arithmetic of a result made of several parts."""
    return min(levels, key=STRENGTH.__getitem__)
