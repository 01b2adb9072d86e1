"""Senders of a deployment: colluding users, and dummies that send messages of no user."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.symshuffle._deployment_laws import (
    CHANNELS,
    GRID,
    ORDERS,
    datasets,
    divergence_of,
    message_histogram,
)
from symshuffle.accountants.deployment.group import Group
from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import worst_shuffled_divergence
from symshuffle.decompositions.model import ReductionPair, privacy_blanket
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    attained,
    for_all,
    serving,
)

# -- symshuffle.colluding-users


def _worst_of(channel: Channel, users: int, colluding: int, order: Any) -> Any:
    """The largest divergence of the honest users alone."""
    pairs = itertools.permutations(range(channel.num_inputs), 2)
    return max(worst_shuffled_divergence(channel, pair, users - colluding, order)[0] for pair in pairs)


def _known(channel: Channel, held: Sequence[int], colluding: int) -> dict[Any, Fraction]:
    """The histogram of all messages beside those of the last users, one by one."""
    rows = [channel.rows[x] for x in held]
    honest = len(held) - colluding
    law: dict[Any, Fraction] = {}
    outputs = range(channel.num_outputs)
    for (counts, mass), sent in itertools.product(
        message_histogram(rows[:honest]).items(), itertools.product(outputs, repeat=colluding)
    ):
        chance: Any = math.prod((row[y] for row, y in zip(rows[honest:], sent, strict=True)), start=mass)
        if chance:
            law[tuple(c + sent.count(y) for y, c in enumerate(counts)), sent] = chance
    return law


def _check_colluding(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three channels, three orders, 2 and 3 users, all numbers of colluding ones, all datasets: laws in rationals.

    All messages beside those of colluding users have at most, and for some datasets exactly, the stated divergence. The
    library's bound is that of as many honest users. A share is rounded up.
    """
    cases = ((2, 1), (3, 1), (3, 2))
    for (label, channel), order, (users, colluding) in itertools.product(CHANNELS, ORDERS, cases):
        at = f"{label}, exp(eps)={order}, {colluding} of {users} collude"
        claimed, found = statement(channel, users, colluding, order), []
        for pair, others in datasets(channel, users):
            laws = [_known(channel, (x, *others), colluding) for x in pair]
            found.append(divergence_of(laws, order))
            yield from serving(
                "datasets", [compare(found[-1], claimed, "<=", at=f"{at}, inputs {pair}, others {others}")]
            )
        yield from serving("largest", [compare(max(found), claimed, at=at)])
        few = delta(channel, n=users - colluding, exp_eps=order, arithmetic="exact").bracket.exact
        for given in (colluding, Fraction(colluding, users) - Fraction(1, 100)):
            bound = delta(channel, n=users, colluding=given, exp_eps=order, arithmetic="exact").bracket
            yield compare(bound.exact, few, at=f"{at}, given as {given}: the library's bound")
            yield from serving(
                "datasets", [compare(bound.exact, claimed, ">=", at=f"{at}: the library's bound covers")]
            )


# -- symshuffle.dummies


def _among(channel: Channel, pair: tuple[int, int], order: Fraction, masses: Sequence[Any], dummies: int) -> Any:
    """The mean of H over the number of the others who draw from the blanket distribution, and the dummies."""
    omega = privacy_blanket(channel).omega
    assert omega is not None
    law = ReductionPair(channel.rows[pair[0]], channel.rows[pair[1]], omega).gparv(order, direction="forward")
    values = (Exact().bracket(law, m + dummies).exact for m in range(1, len(masses) + 1))
    return sum(mass * value for mass, value in zip(masses, values, strict=True) if value is not None)


def _coins(chance: Fraction, count: int) -> list[Fraction]:
    return [math.comb(count, i) * chance**i * (1 - chance) ** (count - i) for i in range(count + 1)]


def _divergence_with(channel: Channel, pair: tuple[int, int], others: Any, law: Any, dummies: int, order: Any) -> Any:
    laws = [message_histogram([*(channel.rows[x] for x in (y, *others)), *[law] * dummies]) for y in pair]
    return divergence_of(laws, order)


_WITH_BLANKETS: Final = CHANNELS[:2]


def _check_dummies(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two channels, three orders, 1 to 3 users, up to 2 dummies, all datasets: laws enumerated in rationals.

    The divergence with dummies from the blanket distribution is at most the stated mean; for one user it is equal to
    it. The library's bound is the largest of these means over pairs of inputs.
    """
    yield from _dummies_of(statement, None)


def _check_other_dummies(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The same where dummies always send the first output."""
    yield from _dummies_of(statement, 0)


def _dummies_of(statement: Statement, output: int | None) -> Iterator[Comparison]:
    for (label, channel), users, dummies in itertools.product(_WITH_BLANKETS, (1, 2, 3), (1, 2)):
        blanket = privacy_blanket(channel)
        omega, chance = blanket.omega, sum(map(Fraction, channel.blanket()), start=Fraction(0))  # type: ignore[arg-type]
        law = omega if output is None else [Fraction(int(y == output)) for y in range(channel.num_outputs)]
        for order in ORDERS:
            means = {
                pair: statement(channel, pair, order, _coins(chance, users - 1), dummies)
                for pair in itertools.permutations(range(channel.num_inputs), 2)
            }
            at = f"{label}, exp(eps)={order}, n={users}, {dummies} dummies"
            for pair, others in datasets(channel, users):
                found = _divergence_with(channel, pair, others, law, dummies, order)
                relation = "==" if users == 1 else "<="
                yield compare(found, means[pair], relation, at=f"{at}, inputs {pair}, others {others}")
            groups = [Group(channel, users), Group.of_dummies(dummies)]
            bound = delta(groups, exp_eps=order, arithmetic="exact").bracket.exact
            yield compare(bound, max(means.values()), ">=", at=f"{at}: the library's bound")


CLAIMS: Final = (
    Claim(
        id="symshuffle.colluding-users",
        kind="statement",
        title="users whose messages are known to the reader",
        text=(
            Clause(
                "bound",
                "Let the reader know the messages of $c$ of $n$ users, a set fixed beforehand without the differing "
                "user. The divergence of all messages beside these is at most the largest one of $n-c$ users.",
            ),
            Clause("attained", "Some datasets attain it: no smaller number holds for all."),
        ),
        source="symshuffle.accountants.deployment.group",
        assumptions=("who colludes does not depend on messages", "honest users keep their random bits secret"),
        scope=f"{GRID}; every number of colluding users that leaves an honest one",
        grade="exact-cases",
        printed=_worst_of,
        check=_check_colluding,
        controls=(
            Control("one colluding user less", lambda channel, n, c, x: _worst_of(channel, n, c - 1, x)),
            Control("one percent less", lambda *at: _worst_of(*at) * Fraction(99, 100)),
            Control("one percent more", lambda *at: _worst_of(*at) * Fraction(101, 100)),
        ),
        expected="holds",
        obligations=(
            *for_all("datasets", clause="bound"),
            *attained("largest", clause="attained"),
        ),
    ),
    Claim(
        id="symshuffle.dummies",
        kind="statement",
        title="messages of no user drawn from the blanket distribution",
        text=(
            Clause(
                "setting",
                r"Let users run $W$ with blanket $\gamma\omega$, and let $d$ messages of no user be drawn from "
                r"$\omega$, shuffled with the others.",
                "definition",
            ),
            Clause(
                "bound",
                r"The divergence is at most $E\,H(N+d+1)$, $N\sim$ Bin$(n-1,\gamma)$, $H(m)$ the bound of one message "
                r"among $m-1$ draws from $\omega$; it is equal for $n=1$.",
            ),
        ),
        source="symshuffle.accountants.deployment.several",
        assumptions=("whoever adds the messages is honest and draws them independently",),
        scope="two channels with a blanket, three orders, 1 to 3 users, 1 and 2 dummies, all datasets",
        grade="exact-cases",
        printed=_among,
        check=_check_dummies,
        controls=(
            Control("one dummy more", lambda channel, pair, x, masses, d: _among(channel, pair, x, masses, d + 1)),
            Control("no dummies", lambda channel, pair, x, masses, d: _among(channel, pair, x, masses, 0)),
            Control("dummies of another distribution", _among, check=_check_other_dummies),
        ),
        expected="holds",
        obligations=for_all("channel", "pair", "order", "masses", "dummies", clause="bound"),
    ),
)
