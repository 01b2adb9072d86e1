"""In what two neighbouring datasets of a deployment differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.base.choices import Blanket, Relation, choice, replace_choice
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, brief, read_law
from symshuffle.channels.channel import Channel

_MOST_DIFFERING: Final = 10**300
"""Larger groups are refused before their size is compared with the number of users."""

_MOST_INPUTS: Final = 10**6
"""Inputs that a pair may name."""

_MOST_PAIRS: Final = 10**5


@final
@dataclass(frozen=True, slots=True)
class Adjacency:
    """In what two neighbouring datasets differ.

    Parameters
    ----------
    relation : {"replace-one", "zero-out"}, optional
        Whether the input of one user is another one, or is replaced by a null symbol; default replace-one, or zero-out
        where ``null`` is given.
    null : sequence of number or text, optional
        For a channel: the output distribution of the null symbol (zero-out).
    blanket : {"mechanism", "largest"}, optional
        For vector mechanisms: the distribution that replaces the messages of the other users; default ``mechanism``
        where there is one.
    group_size : int
        Largest number of users in which neighbours differ; default 1. Above 1, both directions are bounded.
    pairs : sequence of (int, int), optional
        Pairs of inputs between which the differing user may change, each in both orders; default: all pairs. With a
        direction, the first dataset holds the first input of a pair.
    graph : sequence of (int, int), optional
        The same as the edges of a graph on the inputs. Not with ``pairs``.
    datasets : (sequence of int, sequence of int), optional
        Two given datasets, each with one input per user, whose exact divergence is asked for. Alone.

    Raises
    ------
    InputError
        If a field is out of its range, or two fields exclude each other.

    Examples
    --------
    >>> Adjacency(null=["1/2", "1/2"]).relation
    'zero-out'
    """

    relation: Relation | None = field(
        default=None,
        metadata={
            "keyword": "adjacency",
            "help": "Relation of neighbours: replace-one (default) or zero-out (a null symbol).",
            "effect": "the largest bound over the pairs of datasets that neighbours are",
            "nearest": "replace-one here; for zero-out, ask epsilon or delta",
            "absent": ("compare", "audit", "design"),
            "read": ("vectors", "plan"),
        },
    )
    null: Channel | None = field(
        default=None,
        metadata={
            "help": "For a matrix: output distribution of the null symbol, comma-separated; neighbours then replace "
            "one input by it.",
            "effect": "each input is compared with a user who holds the null symbol",
            "nearest": "none here; for a null symbol, ask epsilon or delta",
            "absent": ("compare", "audit", "design", "mean", "calibrate", "worst"),
            "read": ("sequence",),
        },
    )
    blanket: Blanket | None = field(
        default=None,
        metadata={
            "help": "Blanket of a vector mechanism: mechanism (the null symbol's law) or largest.",
            "effect": "the distribution that replaces the messages of the other users",
            "one_blanket": "none: this randomizer has one blanket, the largest",
            "nearest": "none here; for another blanket, ask epsilon or delta",
            "absent": ("compare", "audit", "design", "mean"),
            "read": ("plan",),
        },
    )
    group_size: int = field(
        default=1,
        metadata={
            "metavar": "G",
            "help": "Datasets may differ in the inputs of G users (default 1).",
            "effect": "a chain of so many neighbours, each at a smaller level",
            "nearest": "1 here; for several users together, ask epsilon or delta about the result",
            "absent": ("compare",),
            "read": ("plan",),
        },
    )
    pairs: tuple[tuple[int, int], ...] | None = field(
        default=None,
        metadata={
            "metavar": "X-Y,...",
            "help": "Pairs of inputs that are secret from each other, as 0-1,1-2; default: all pairs.",
            "effect": "the largest bound over these pairs of inputs; users who change otherwise are not covered",
            "nearest": "none here, where all pairs of inputs are compared; for some pairs, ask epsilon or delta",
            "absent": ("compare", "audit", "design", "mean", "calibrate", "survey"),
            "read": ("worst", "sequence"),
        },
    )
    graph: tuple[tuple[int, int], ...] | None = field(
        default=None,
        metadata={
            "metavar": "X-Y,...",
            "help": "Edges of a graph on the inputs, as 0-1,1-2: the ends of an edge are secret from each other.",
            "effect": "the largest bound over its edges; users who change otherwise are not covered",
            "nearest": "none here, where all pairs of inputs are compared; for a graph, ask epsilon or delta",
            "absent": ("compare", "audit", "design", "mean", "calibrate", "survey"),
            "read": ("worst", "sequence"),
        },
    )
    datasets: tuple[tuple[int, ...], tuple[int, ...]] | None = field(
        default=None,
        metadata={
            "nearest": "none here; for two given datasets, ask delta",
            "absent": ("compare", "survey"),
            "read": ("sequence",),
        },
    )

    if TYPE_CHECKING:

        def __init__(
            self,
            relation: Relation | None = None,
            null: object = None,
            blanket: Blanket | None = None,
            group_size: object = 1,
            pairs: object = None,
            graph: object = None,
            datasets: object = None,
        ) -> None: ...

    def __post_init__(self) -> None:
        if self.relation is not None:
            choice(Relation, self.relation, "adjacency")
            replace_choice(Relation, self, "relation")
        if self.blanket is not None:
            replace_choice(Blanket, self, "blanket")
        if self.null is not None:
            object.__setattr__(self, "null", read_null(self.null))
            if self.relation not in (None, "zero-out"):
                raise InputError("adjacency", self.relation, "zero-out, where the law of a null symbol is given")
            object.__setattr__(self, "relation", "zero-out")
        if type(self.group_size) is not int or self.group_size != 1:
            size = as_integer(self.group_size, "group_size", 1)  # the message for 0 does not mention the largest size
            object.__setattr__(self, "group_size", as_integer(size, "group_size", 1, _MOST_DIFFERING))
        for name in ("pairs", "graph"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, _read_pairs(getattr(self, name), name))
        if self.datasets is not None:
            object.__setattr__(self, "datasets", _read_datasets(self.datasets))
        if self.pairs or self.graph or self.datasets:
            self._check_together()

    def _check_together(self) -> None:
        given = [name for name in ("pairs", "graph", "datasets") if getattr(self, name) is not None]
        if len(given) > 1:
            raise InputError(", ".join(given), " and ".join(map(self.shown, given)), "one of them")
        if self.relation == "zero-out":
            expected = "none with adjacency zero-out, which compares inputs with a null symbol"
            raise InputError(given[0], self.shown(given[0]), expected)
        if self.datasets is not None and self.group_size > 1:
            raise InputError("group_size", self.group_size, "none with two given datasets, which say who differs")

    @property
    def steps(self) -> int:
        """In how many users neighbours differ, each a step of a chain."""
        return self.group_size

    @property
    def of_one_user(self) -> Adjacency:
        """The same, where neighbours differ in one user."""
        return replace(self, group_size=1)

    @property
    def words(self) -> list[str]:
        """The fields that are set, a few words each."""
        said = [str(one) for one in (self.relation,) if one is not None]
        for name in ("null", "blanket", "group_size", "pairs", "graph", "datasets"):
            if getattr(self, name) not in (None, 1):
                said.append(f"{name} {self.shown(name)}")
        return said

    def shown(self, name: str) -> str:
        """Return the value of a field that is set in words, of a long list the beginning."""
        value = getattr(self, name)
        if name == "null":
            return f"({_shown(map(brief, value.rows[0]))})"
        if name in ("pairs", "graph"):
            return _shown(f"{x}-{y}" for x, y in value)
        return " and ".join(map(dataset_words, value)) if name == "datasets" else str(value)

    @property
    def compared(self) -> tuple[tuple[int, int], ...] | None:
        """The pairs of inputs that are compared, where they are given; else None."""
        return self.graph if self.pairs is None else self.pairs

    @property
    def changes(self) -> tuple[tuple[int, int], ...] | None:
        """Both orders of each pair of inputs that is compared, where they are given; else None."""
        given = self.compared
        return None if given is None else tuple(dict.fromkeys(one for x, y in given for one in ((x, y), (y, x))))

    @property
    def compared_name(self) -> str:
        """Name of the field by which these pairs are given."""
        return "pairs" if self.graph is None else "graph"

    def check_inputs(self, inputs: int) -> None:
        """Refuse a pair that names an input beyond their number."""
        for x, y in self.compared or ():
            if max(x, y) >= inputs:
                raise InputError(self.compared_name, f"{x}-{y}", f"inputs from 0 to {inputs - 1}")


def check_steps(steps: int, users: int) -> None:
    """Refuse neighbours that differ in more users than there are."""
    as_integer(steps, "group_size", 1, users)


def check_one_user(steps: int, expected: str) -> None:
    """Refuse neighbours that differ in several users."""
    if steps > 1:
        raise InputError("group_size", steps, expected)


def dataset_words(inputs: Iterable[int]) -> str:
    """Return the inputs of a dataset in words, each with its number of users, as ``(0, 1 x 9)``."""
    counts = sorted(Counter(inputs).items())
    return f"({_shown(str(x) if count == 1 else f'{x} x {count}' for x, count in counts)})"


def _shown(parts: Iterable[str], *, most_shown: int = 8) -> str:
    """The first parts of a list.

    - ``most_shown``: parts of a list that are shown on one line.
    """
    found = list(parts)
    return ", ".join(found if len(found) <= most_shown else [*found[:most_shown], "..."])


USUAL: Final = Adjacency()
"""Neighbours differ in the input of one user, or as the randomizer has it."""


def read_null(null: object) -> Channel:
    """Return the distribution of a null symbol as a channel of one input; such a channel is returned unchanged."""
    if isinstance(null, Channel):
        if null.num_inputs != 1:
            raise InputError("null", f"a channel of {null.num_inputs} inputs", "one distribution")
        return null
    law, rounding = read_law(null, "null")
    return Channel((law,), rounding)


def as_list(given: Any) -> Any:
    """Return the entries of an array as lists; anything else as it is."""
    return given.tolist() if hasattr(given, "tolist") else given


def _read_pairs(given: object, name: str) -> tuple[tuple[int, int], ...]:
    """Pairs of different inputs, sorted, each once; text is ``0-1,1-2``.

    Edges of a graph have no first end: the smaller number stands first.
    """
    text = isinstance(given, str)
    form = "0-1,1-2" if text else "[[0, 1], [1, 2]]"
    expected = f"pairs of different inputs, by their numbers, from 0 to {_MOST_INPUTS}, as {form}"
    rows: Any = [part.split("-") for part in given.split(",")] if isinstance(given, str) else as_list(given)
    if isinstance(rows, str) or not isinstance(rows, Sequence) or not rows or len(rows) > _MOST_PAIRS:
        raise InputError(name, given, expected)
    found: dict[tuple[int, int], None] = {}
    for row in map(as_list, rows):
        refusal = InputError(name, given if text else row, expected)
        if isinstance(row, str) or not isinstance(row, Sequence) or len(row) != 2:
            raise refusal
        try:
            x, y = (as_integer(one, name, 0, _MOST_INPUTS) for one in row)
        except InputError:
            raise refusal from None
        if x == y:
            raise refusal
        found[(x, y) if name == "pairs" else (min(x, y), max(x, y))] = None
    return tuple(sorted(found))


def _read_datasets(given: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    given = as_list(given)
    expected = "two datasets of the same number of users, each a list of inputs, as ([0, 1], [1, 1])"
    if isinstance(given, str) or not isinstance(given, Sequence) or len(given) != 2:
        raise InputError("datasets", given, expected)
    both = []
    for one in map(as_list, given):
        if isinstance(one, str) or not isinstance(one, Sequence) or not one:
            raise InputError("datasets", one, expected)
        both.append(tuple(as_integer(x, "datasets", 0, _MOST_INPUTS) for x in one))
    if len(both[0]) != len(both[1]):
        raise InputError("datasets", f"{len(both[0])} and {len(both[1])} users", expected)
    return both[0], both[1]
