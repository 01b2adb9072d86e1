"""Users with budgets of their own: the mean of bounds over how many draw from the common blanket."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from symshuffle import Group
from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import law_divergence
from symshuffle.decompositions.model import ReductionPair
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import Claim, Clause, Control, Statement, for_all

# -- symshuffle.unequal-budgets


def _over_clones(gammas: Sequence[Fraction], values: Sequence[Any]) -> Any:
    """The mean of values at 1, 2, ... messages over how many of some users draw from the common blanket."""
    masses = [Fraction(1)]
    for gamma in gammas:
        masses = [(1 - gamma) * b + gamma * a for a, b in itertools.pairwise([Fraction(0), *masses, Fraction(0)])]
    return sum(mass * value for mass, value in zip(masses, values, strict=True))


def _randomized_response(k: int, lam: Fraction) -> Channel:
    total = lam + k - 1
    return Channel.from_rows([[(lam if x == y else 1) / total for y in range(k)] for x in range(k)])


def _unlike_law(channels: Sequence[Channel], dataset: Sequence[int]) -> dict[Any, Any]:
    """The law of the shuffled messages of users who each run a channel of their own."""
    law: dict[Any, Any] = {}
    for sent in itertools.product(range(channels[0].num_outputs), repeat=len(dataset)):
        mass: Any = math.prod(
            (c.rows[x][y] for c, x, y in zip(channels, dataset, sent, strict=True)), start=Fraction(1)
        )
        key = tuple(sorted(sent))
        law[key] = law.get(key, Fraction(0)) + mass
    return law


def _unlike_worst(channels: Sequence[Channel], place: int, order: Fraction) -> Any:
    """The largest divergence where one user differs, over all datasets and changes."""
    inputs = range(channels[0].num_inputs)
    found = []
    for dataset in itertools.product(inputs, repeat=len(channels)):
        first = _unlike_law(channels, dataset)
        for x in set(inputs) - {dataset[place]}:
            second = _unlike_law(channels, (*dataset[:place], x, *dataset[place + 1 :]))
            found.append(law_divergence(first, second, order))
    return max(found)


def _among_draws(channel: Channel, k: int, m: int, order: Fraction) -> Any:
    """The bound of one message of a channel among m - 1 uniform ones; all pairs of inputs are alike."""
    pair = ReductionPair(channel.rows[0], channel.rows[1], tuple(Fraction(1, k) for _ in range(k)))
    return Exact().bracket(pair.gparv(order, direction="forward"), m).exact


def _check_unequal(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Randomized response of six mixtures of budgets, two orders: the worst divergence where any one user differs.

    Over all datasets, in rationals, it is at most the stated mean of bounds; the library's bound is the largest of
    these means. With equal budgets it is the ordinary bound.
    """
    texts = ((2, ("2", "3")), (2, ("2", "5")), (3, ("2", "5")), (2, ("2", "3", "5")), (2, ("3/2", "4", "4")))
    levels = [(k, [Fraction(lam) for lam in lams]) for k, lams in (*texts, (3, ("2", "4", "4")))]
    for (k, lams), order in itertools.product(levels, (Fraction(6, 5), Fraction(2))):
        channels = [_randomized_response(k, lam) for lam in lams]
        bounds = []
        for place, channel in enumerate(channels):
            gammas = [Fraction(k) / (lam + k - 1) for i, lam in enumerate(lams) if i != place]
            values = [_among_draws(channel, k, m, order) for m in range(1, len(lams) + 1)]
            bounds.append(statement(gammas, values))
            at = f"k={k}, exp(eps0)={', '.join(map(str, lams))}, exp(eps)={order}, user {place} differs"
            yield compare(_unlike_worst(channels, place, order), bounds[-1], "<=", at=at)
        library = delta([Group(channel, 1) for channel in channels], exp_eps=order, arithmetic="exact").bracket
        yield compare(
            library.exact, max(bounds), at=f"k={k}, {', '.join(map(str, lams))}, exp(eps)={order}: the library's bound"
        )
    same = _randomized_response(3, Fraction(3))
    alike = statement([Fraction(3, 5)] * 3, [_among_draws(same, 3, m, Fraction(6, 5)) for m in range(1, 5)])
    yield compare(alike, delta(same, n=4, exp_eps=Fraction(6, 5), arithmetic="exact").bracket.exact, at="budgets alike")


CLAIMS: Final = (
    Claim(
        id="symshuffle.unequal-budgets",
        kind="statement",
        title="users of unequal budgets hide each other by blankets of one law",
        text=(
            Clause(
                "setting",
                r"Let user $i$ run $W_i$ with blanket $\gamma_i\omega$, one $\omega$ for all, as $k$-ary "
                "randomized response of any budgets has.",
                "definition",
            ),
            Clause(
                "bound",
                r"Where user $j$ differs, the divergence is at most $E\,H_j(N+1)$, $N$ a sum of independent "
                r"coins $\gamma_i,i\ne j$, $H_j(m)$ the bound of one message of $W_j$ among $m-1$ draws from "
                r"$\omega$.",
            ),
        ),
        source="symshuffle.accountants.deployment.several",
        assumptions=("who has which budget is public, and does not depend on the inputs",),
        scope="randomized response on 2 and 3 inputs, six mixtures of 2 or 3 budgets, two orders, all datasets",
        grade="exact-cases",
        printed=_over_clones,
        check=_check_unequal,
        controls=(
            Control("one percent more blanket", lambda g, v: _over_clones([x * Fraction(101, 100) for x in g], v)),
            Control("every blanket the largest", lambda g, v: _over_clones([max(g)] * len(g), v)),
            Control("one draw more", lambda g, v: _over_clones(g, [*v[1:], v[-1]])),
        ),
        expected="holds",
        obligations=for_all("gammas", "values", clause="bound"),
    ),
)
