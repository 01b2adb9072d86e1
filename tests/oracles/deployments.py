"""Everything that a reader of a deployment sees, by enumeration in rationals; nothing of the library is used."""

import itertools
import math
import random
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction as F
from typing import Any

Row = tuple[F, ...]
View = dict[Any, F]


@dataclass(frozen=True)
class World:
    """A deployment of few users, each a field by its name.

    - ``rows``: of each user who may send, what she runs, a row per input; the null symbol is the last row where there
      is one (``null``).
    - ``dummies``: distributions of the messages of no user.
    - ``later``: what is sent in one further period, by the same users.
    - ``varying``: whether the reports of a user in a period are about inputs of their own.
    """

    rows: tuple[tuple[Row, ...], ...]
    min_batch_size: int | None = None
    dropout: tuple[F, ...] | None = None
    colluding: int = 0
    may_collude: tuple[int, ...] | None = None
    null: bool = False
    group_size: int = 1
    pairs: tuple[tuple[int, int], ...] | None = None
    datasets: tuple[tuple[int, ...], tuple[int, ...]] | None = None
    reports: int = 1
    periods: int = 1
    memoised: bool = False
    threshold: int = 0
    dummies: tuple[Row, ...] = ()
    varying: bool = False
    later: "World | None" = None

    @property
    def n(self) -> int:
        return len(self.rows)

    def view(self, held: tuple[tuple[int, ...], ...], senders: set[int], known: set[int], certain: set[int]) -> View:
        """The law of all that the reader sees: counts of each period, and the messages of users who collude.

        - ``held``: inputs of each user, one per report; ``certain``: users who do not drop out.
        """
        outputs = range(len(self.rows[0][0]))
        law: View = {((0,) * len(outputs), ()): F(1)}

        def send(law: View, row: Row, *, known: bool) -> View:
            grown: View = {}
            for (counts, seen), mass in law.items():
                for y in outputs:
                    if row[y]:
                        key = ((*counts[:y], counts[y] + 1, *counts[y + 1 :]), (*seen, y) if known else seen)
                        grown[key] = grown.get(key, F(0)) + mass * row[y]
            return grown

        for i in sorted(senders):
            sent = law
            for x in held[i][: self.reports]:
                sent = send(sent, self.rows[i][x], known=i in known)
            gone = F(0) if i in certain or self.dropout is None else self.dropout[i]
            mixed = {key: (1 - gone) * mass for key, mass in sent.items()}
            if gone:
                for key, mass in law.items():
                    mixed[key] = mixed.get(key, F(0)) + gone * mass
            law = mixed
        for row in self.dummies:
            law = send(law, row, known=False)
        published: View = {}
        for (counts, seen), mass in law.items():
            key = (tuple(c if c >= self.threshold else 0 for c in counts), seen)
            published[key] = published.get(key, F(0)) + mass
        if self.later is not None:
            more = self.later.view(held, senders, known, certain)
            once = published.items()
            return {(one, other): p * q for (one, p), (other, q) in itertools.product(once, more.items())}
        if self.memoised:
            return {(key,) * self.periods: mass for key, mass in published.items()}
        return {
            tuple(key for key, _ in each): math.prod((mass for _, mass in each), start=F(1))
            for each in itertools.product(published.items(), repeat=self.periods)
        }

    def neighbours(self) -> Iterator[tuple[set[int], Any, Any]]:
        """Users who differ, and the inputs of all users in either dataset."""
        if self.datasets is not None:
            yield set(), *(tuple((x,) for x in held) for held in self.datasets)
            return
        inputs = range(len(self.rows[0]))
        last = inputs[-1]
        changes = list(itertools.permutations(inputs, 2))
        if self.null:
            changes = [(x, last) for x in inputs[:-1]]
        elif self.pairs is not None:
            changes = [change for x, y in self.pairs for change in ((x, y), (y, x))]
        holds = [(x,) * self.reports for x in inputs]
        swaps = [((x,) * self.reports, (y,) * self.reports) for x, y in changes]
        if self.varying:
            holds = list(itertools.product(inputs, repeat=self.reports))
            swaps = [tuple(zip(*each, strict=True)) for each in itertools.product(changes, repeat=self.reports)]
        for differing in itertools.combinations(range(self.n), self.group_size):
            others = [i for i in range(self.n) if i not in differing]
            for rest in itertools.product(holds, repeat=len(others)):
                for swap in itertools.product(swaps, repeat=self.group_size):
                    both: list[dict[int, Any]] = [dict(zip(others, rest, strict=True)) for _ in range(2)]
                    for i, (x, y) in zip(differing, swap, strict=True):
                        both[0][i], both[1][i] = x, y
                    yield set(differing), *(tuple(one[i] for i in range(self.n)) for one in both)

    def divergences(self, levels: tuple[F, ...], direction: str = "both") -> list[F]:
        """The largest divergence over all neighbours, senders and colluders, at each level."""
        worst, views, users = [F(0)] * len(levels), {}, range(self.n)
        sizes = range(self.n if self.min_batch_size is None else self.min_batch_size, self.n + 1)
        ways = {"forward": (1,), "reverse": (-1,), "both": (1, -1)}[direction]
        for differing, *datasets in self.neighbours():
            free = [i for i in users if i not in differing and (self.may_collude is None or i in self.may_collude)]
            for size, known in itertools.product(sizes, itertools.combinations(free, min(self.colluding, len(free)))):
                for senders in itertools.combinations(users, size):
                    keys = [(held, senders, known, tuple(differing)) for held in datasets]
                    for key in keys:
                        if key not in views:
                            views[key] = self.view(key[0], set(senders), set(known), differing)
                    for way in ways:
                        p, q = (views[key] for key in keys[::way])
                        for i, x in enumerate(levels):
                            worst[i] = max(worst[i], hockey_stick(p, q, x))
        return worst


def hockey_stick(p: View, q: View, x: F) -> F:
    return sum((max(mass - x * q.get(key, F(0)), F(0)) for key, mass in p.items()), start=F(0))


def blanket(rows: tuple[Row, ...]) -> Row:
    """The normalised minimum of rows."""
    least = [min(column) for column in zip(*rows, strict=True)]
    return tuple(p / sum(least) for p in least)


def mixed(rows: tuple[Row, ...], law: Row, share: F) -> tuple[Row, ...]:
    """Rows mixed with a law; with that of their blanket, whose distribution they keep."""
    return tuple(tuple((1 - share) * p + share * q for p, q in zip(row, law, strict=True)) for row in rows)


def drawn_rows(rng: random.Random, inputs: int, outputs: int, budget: F) -> tuple[Row, ...]:
    """Rational rows of weights between 1 and a budget."""
    rows = []
    for _ in range(inputs):
        weights = [1 + (budget - 1) * F(rng.randint(0, 4), 4) for _ in range(outputs)]
        rows.append(tuple(weight / sum(weights) for weight in weights))
    return tuple(rows)


def randomized_response(inputs: int, budget: F) -> tuple[Row, ...]:
    total = budget + inputs - 1
    return tuple(tuple((budget if x == y else F(1)) / total for y in range(inputs)) for x in range(inputs))
