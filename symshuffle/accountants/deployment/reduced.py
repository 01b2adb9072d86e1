"""What a source becomes before engines see it: classes of pairs of inputs, the laws behind them, whom they cover."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from fractions import Fraction
from functools import lru_cache, singledispatch
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from symshuffle.accountants.deployment.adjacency import Adjacency, check_steps
from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.accountants.deployment.group import EVERYBODY, Group
from symshuffle.accountants.deployment.neighbours import OPTIMAL, Neighbours
from symshuffle.base.choices import DIRECTIONS, Direction, Question, Relation
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import Real, Rounding
from symshuffle.channels.law import Law
from symshuffle.mechanisms.names import source_name

if TYPE_CHECKING:
    from symshuffle.channels.continuous_law import LevelledPair
    from symshuffle.channels.mixed_law import MixedLaw

_LAWS_KEPT: Final = 128
"""Laws of G that are kept, by the family and the level that they were made of."""

_MEAN_WIDTH: Final = 1e-3
"""Relative width to aim at where a bound is a mean over numbers of messages: every halving costs values of it."""

LawFamily: TypeAlias = Callable[[Real, Direction, int | None], Law]
"""From target ratio, direction and bits to a law of G."""

MixedFamily: TypeAlias = "Callable[[Real, Direction, int | None], MixedLaw | LevelledPair]"
"""The same where the law has a continuous part."""

Spreads: TypeAlias = Callable[[Real, Direction, int | None], bool]
"""From target ratio, direction and bits to whether one law is certainly the largest of some in convex order."""


@lru_cache(maxsize=_LAWS_KEPT)
def _thinnings(family: Callable[..., Any], share: Fraction) -> Callable[..., Any]:
    """Laws of a family where each other user sends with the probability ``share``: means over how many do.

    Kept, as laws are kept by their family.
    """
    return lambda exp_eps, direction, bits: family(exp_eps, direction, bits).thinning(share)


def first_decided(quick: LawFamily, algebra: Callable[[], LawFamily]) -> LawFamily:
    """The laws by numbers; where these do not settle what algebra would, those by algebra, which is made only then."""

    def law(exp_eps: Real, direction: Direction, bits: int | None) -> Law:
        with suppress(NotDecided):
            return quick(exp_eps, direction, bits)
        return algebra()(exp_eps, direction, bits)

    return law


class Reducible:
    """A source that brings its reduction along: its family registers it with :func:`own_reduction`. It has no data."""

    __slots__ = ()


@singledispatch
def own_reduction(source: Reducible, adjacency: Adjacency) -> Reduction:
    """The laws that bound the shuffled divergence of a source, as the family of the source registered it."""
    raise Unsupported(f"{source_name(source)}: no bound after shuffling is known")


@final
@dataclass(frozen=True, slots=True)
class PairClass:
    """Pairs of inputs that are treated alike, with the laws that bound what separates their datasets.

    - ``upper``: A law whose value bounds the shuffled divergence; None where ``mixed`` alone is known.
    - ``inner``: where the bound itself is approached from two sides, a law on the other side of it.
    - ``mixed``: where ``upper`` approaches a law with a continuous part: that law, for the engines that take it.
    - ``datasets``: returns real neighbouring datasets of these pairs, each as a class of its own.
    - ``describe``: of two real datasets, from a number of users to their words. ``upper`` is then the law of their
      exact divergence, or, where ``mixed`` is, a law below it in convex order or None.
    """

    pairs: str
    upper: LawFamily | None
    inner: LawFamily | None = None
    mixed: MixedFamily | None = None
    datasets: Callable[[], tuple[PairClass, ...]] = tuple
    describe: Callable[[int], str] | None = None

    @classmethod
    def real(cls, describe: Callable[[int], str], law: LawFamily | None, mixed: MixedFamily | None = None) -> PairClass:
        """Return two real neighbouring datasets by the law of their divergence."""
        return cls("two given datasets", law, mixed=mixed, describe=describe)


@final
@dataclass(frozen=True, slots=True)
class Reduction:
    """Everything about a source that the engines need, derived once, and whom it covers.

    - ``first``: which input of a pair X0 holds, where a class is not the same in both orders; else empty.
    - ``spreads``: where given and true, the law of the first class is above all others in convex order.
    - ``symmetric``: whether all bounds are known to have the same laws in both directions.
    - ``group``: which users send, without their randomizer and number; ``steps``: in how many neighbours differ, each
      a step of a chain.
    - ``cases``: where several groups, or dummies, hide each other: the laws for a user of each group, of which the
      bound is the largest. ``classes`` are then those of all cases.
    - ``sharing``: of a case, the groups with the mass of the blanket distribution in each, whose messages hide the user
      as often as they are drawn from it; ``place``: to which of them the user belongs; ``dummies``: number of draws
      from it for certain.
    - ``n``, ``times``: number of users of a batch, those who collude included, or None where it is open; how many
      batches are alike. ``num_messages``: messages of every user in a period, for each of which a batch
      is counted.
    - ``notes``: what else is to be said about the bound, a clause each.
    - ``real``: whether the laws are those of one real pair of datasets.
    - ``bounds``, ``inner``, ``mixed``: families of laws, by class, for who sends: finite ones whose divergences are
      upper bounds; finite ones whose divergences are lower bounds, none where only upper bounds are known; those with a
      continuous part.
    """

    classes: tuple[PairClass, ...]
    every: bool = False
    adjacency: Relation = "replace-one"
    pairs: str = ""
    theorem: str = OPTIMAL
    first: str = ""
    spreads: Spreads | None = None
    symmetric: bool = False
    group: Group = EVERYBODY
    steps: int = 1
    budget: str = ""
    rounding: Rounding | None = None
    real: bool = False
    assumed: tuple[tuple[Assumption, str], ...] = ()
    cases: tuple[Reduction, ...] = ()
    notes: tuple[str, ...] = ()
    sharing: tuple[tuple[Group, Fraction], ...] = ()
    place: int = 0
    dummies: int = 0
    n: int | None = None
    times: int = 1
    num_messages: int = 1
    bounds: tuple[LawFamily, ...] = field(init=False, repr=False, compare=False)
    inner: tuple[LawFamily, ...] = field(init=False, repr=False, compare=False)
    mixed: tuple[MixedFamily, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.classes:
            raise InputError("classes", "none", "at least one class of pairs of inputs")
        random = self.group.dropout and not self.cases  # of several groups each case has its own laws
        for name, kind in (("bounds", "upper"), ("inner", "inner"), ("mixed", "mixed")):
            known = tuple(filter(None, map(attrgetter(kind), self.classes)))
            sent = tuple(_thinnings(one, self.group.sending) for one in known) if random else known
            object.__setattr__(self, name, sent)

    def neighbours(self, question: Question, users: int | None) -> Neighbours:
        """Whom a bound by these laws covers; ``users`` is None where any number is meant."""
        self.check(users)
        return Neighbours(
            self.pairs or self.classes[0].pairs,
            self.every,
            self.adjacency,
            question,
            users,
            self.theorem,
            self.first,
            self.group,
            self.steps,
            self.budget,
            rounding=self.rounding,
            assumed=self.assumed,
            notes=self.notes,
            num_messages=self.num_messages,
        )

    def check(self, users: int | None) -> None:
        """Compare who sends, and in how many users neighbours differ, with a number of users; None where it is open."""
        if self.group != EVERYBODY:
            self.group.check(users)
        if users is not None and self.steps > 1:
            check_steps(self.steps, users)

    @property
    def users(self) -> int:
        """Number of users of a batch; refused where it is open."""
        if self.n is None:
            raise InputError("n", None, "a number of users")
        return self.n

    def coins(self, n: int) -> tuple[tuple[int, Fraction], ...]:
        """Numbers of other users, and the probability with which a message of each is drawn from the blanket.

        - ``n``: number of users of the one group, or of all groups, whose numbers are then known.
        """
        found: dict[Fraction, int] = {}
        for place, (group, mass) in enumerate(self.sharing):
            users = group.messages(n if group.count is None else group.count) - (place == self.place)
            chance = mass * group.sending
            found[chance] = found.get(chance, 0) + users
        return tuple((users, chance) for chance, users in found.items() if users)

    @property
    def of_all_users(self) -> bool:
        """Whether all users send, none colludes, and neighbours differ in one."""
        return self.group.everybody and self.steps == 1 and not self.cases

    def width(self, usual: float) -> float:
        """Relative width to aim at where none is asked for."""
        return max(usual, _MEAN_WIDTH) if self.cases else usual

    @property
    def datasets(self) -> tuple[PairClass, ...]:
        """All real neighbouring datasets."""
        return tuple(found for one in self.classes for found in one.datasets())

    def real_pairs(self, n: int) -> list[tuple[str, Reduction]]:
        """All real neighbouring datasets in words, of as many users as certainly send, each with its own laws."""
        users = self.group.messages(n)
        return [
            (one.describe(users), Reduction((one,), adjacency=self.adjacency, group=self.group, real=True))
            for one in self.datasets
            if one.describe is not None
        ]

    def same_both_ways(self, exp_eps: Real, bits: int | None) -> bool:
        """Whether both directions have the same laws, those with a continuous part where there are some."""

        def found(question: Question) -> list[Law | MixedLaw | LevelledPair]:
            if self.mixed:
                return [law for family in self.mixed for law in mixed_laws(family, exp_eps, question, bits)]
            return list(self.laws(exp_eps, question, bits))

        return found("forward") == found("reverse")

    def laws(self, exp_eps: Real, question: Question, bits: int | None) -> list[Law]:
        """The laws whose largest value is the bound, each once, those left out that another one dominates."""
        found: list[Law] = []
        asked: Question = "forward" if self.symmetric else question
        for ways in (asked,) if self.spreads is None else DIRECTIONS[asked]:
            one_is_enough = self.spreads is not None and self.spreads(exp_eps, ways, bits)  # type: ignore[arg-type]
            for family in self.bounds[:1] if one_is_enough else self.bounds:
                found += laws(family, exp_eps, ways, bits)
        return distinct(found)


@lru_cache(maxsize=_LAWS_KEPT)
def laws(family: LawFamily, exp_eps: Real, question: Question, bits: int | None) -> tuple[Law, ...]:
    """The laws of a family in the directions asked for; one, where both directions agree.

    Kept, because curves over n and both ends of a bracket ask for the same laws again.
    """
    found = []
    for direction in DIRECTIONS[question]:
        found.append(_sorted(family(exp_eps, direction, bits)))
    return tuple(distinct(found))


def distinct(found: Sequence[Law]) -> list[Law]:
    """Some laws without repetition; one object is compared once, as comparisons of long laws cost much."""
    several = list(dict(zip(map(id, found), found, strict=True)).values())
    return several if len(several) < 2 else list(dict.fromkeys(several))


def mixed_laws(
    family: MixedFamily, exp_eps: Real, question: Question, bits: int | None
) -> list[MixedLaw | LevelledPair]:
    """The same for laws with a continuous part."""
    return list(dict.fromkeys(family(exp_eps, direction, bits) for direction in DIRECTIONS[question]))


def _sorted(law: Law) -> Law:
    """Atoms in rising order, so that equal laws compare equal whichever way they were found."""
    (values, _), (weights, _) = law.ends
    order = sorted(range(len(values)), key=list(zip(values, weights, strict=True)).__getitem__)
    if order == list(range(len(values))):
        return law
    return Law(tuple(law.values[i] for i in order), tuple(law.weights[i] for i in order), law.singular)
