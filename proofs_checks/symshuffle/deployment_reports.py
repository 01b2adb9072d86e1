"""Messages of a deployment: several reports, memoised reports, and counts below a threshold."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.symshuffle._deployment_laws import (
    CHANNELS,
    GRID,
    ORDERS,
    View,
    datasets,
    divergence_of,
    image,
    message_histogram,
    seen_apart,
)
from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    serving,
)

# -- symshuffle.reports


def _one_batch(rows: Sequence[Sequence[Sequence[Any]]]) -> dict[Any, Fraction]:
    """The histogram of all reports of all users."""
    return message_histogram([row for reports in rows for row in reports])


def _separate(rows: Sequence[Sequence[Sequence[Any]]]) -> dict[Any, Fraction]:
    """The histograms of all first reports, of all second ones, ..."""
    return seen_apart(*(message_histogram(batch) for batch in zip(*rows, strict=True)))


def _sums(key: Sequence[Sequence[int]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*key, strict=True)))


def _with_reports(channel: Channel, reports: int) -> Iterator[tuple[Any, Any, str]]:
    """Rows of all reports of two users, one of whom differs: every report may be about an input of its own."""
    inputs = range(channel.num_inputs)
    swaps = itertools.product(itertools.permutations(inputs, 2), repeat=reports)
    for swap, rest in itertools.product(swaps, itertools.product(inputs, repeat=reports)):
        first, second = zip(*swap, strict=True)
        both: Any = [[[channel.rows[x] for x in held] for held in (own, rest)] for own in (first, second)]
        yield both[0], both[1], f"reports about {first} and {second}, the other user's about {rest}"


def _check_reports(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three channels, three orders, two users, two reports each: all inputs of all reports, laws in rationals.

    The histogram of one batch is the sum of those of the stated batches; its divergence is at most theirs. The largest
    one is the library's answer for one batch, and at most the library's bound for two periods.
    """
    for label, channel in CHANNELS:
        worst = dict.fromkeys(ORDERS, Fraction(0))
        for first, second, words in _with_reports(channel, 2):
            joint, apart = ([made(rows) for rows in (first, second)] for made in (_one_batch, statement))
            exact = [image(law, _sums) == whole for law, whole in zip(apart, joint, strict=True)]
            same = compare(Fraction(sum(exact)), Fraction(2), at=f"{label}, {words}: the sum of both batches")
            yield from serving("histograms", [same])
            for order in ORDERS:
                value = divergence_of(joint, order)
                worst[order] = max(worst[order], value)
                at = f"{label}, exp(eps)={order}, {words}"
                yield from serving("datasets", [compare(value, divergence_of(apart, order), "<=", at=at)])
        for order in ORDERS[:2]:
            at = f"{label}, exp(eps)={order}"
            answer = delta(channel, n=2, reports=2, exp_eps=order).bracket
            yield compare(answer.exact, worst[order], at=f"{at}: the library's answer for one batch")
            bound = delta(channel, n=2, periods=2, exp_eps=order).bracket.upper
            yield compare(bound, worst[order], ">=", at=f"{at}: the library's bound for two periods")


def _check_unequal_reports(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """One user sends two reports, the other one: what is left of the stated second batch is one user alone."""
    channel, order = CHANNELS[0][1], Fraction(2)
    for pair, held in itertools.product(itertools.permutations(range(2), 2), range(2)):
        other = channel.rows[held]
        joint = [message_histogram([channel.rows[x], channel.rows[x], other]) for x in pair]
        equal = [statement([[channel.rows[x]] * 2, [other] * 2]) for x in pair]
        found, claimed = divergence_of(joint, order), divergence_of(equal, order)
        yield compare(found, claimed, "<=", at=f"inputs {pair}, the other user holds {held} and reports once")


# -- symshuffle.memoised-reports


def _same_again(law: View, periods: int) -> dict[Any, Fraction]:
    """The histogram of the first period in all of them."""
    return {(key,) * periods: mass for key, mass in law.items()}


def _check_memoised(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three channels, three orders, 2 and 3 users, all datasets: the stated view of three periods, in rationals.

    Messages drawn once and sent in each period have the divergence of the stated view and of one period. A second
    randomisation of the kept messages, drawn anew in every period, has at most that, enumerated. So has the library.
    """
    flip = {0: (Fraction(2, 3), Fraction(1, 3)), 1: (Fraction(1, 3), Fraction(2, 3))}
    for (label, channel), order, users in itertools.product(CHANNELS, ORDERS, (2, 3)):
        for pair, others in datasets(channel, users):
            at = f"{label}, exp(eps)={order}, n={users}, inputs {pair}, others {others}"
            once = shuffled_divergence(channel, (pair[0], *others), (pair[1], *others), order)
            kept, views = [], []
            for x in pair:
                sent = _kept(channel, (x, *others))
                kept.append(image(sent, lambda messages, k=channel.num_outputs: _counts(messages, k, 3)))
                views.append(statement(message_histogram([channel.rows[x] for x in (x, *others)]), 3))
            found = divergence_of(kept, order)
            yield from serving("datasets", [compare(found, once, at=f"{at}: three periods and one")])
            yield from serving("datasets", [compare(found, divergence_of(views, order), at=f"{at}: as stated")])
            if channel.num_outputs == 2 and users == 2:
                again = [_flipped(_kept(channel, (x, *others)), flip) for x in pair]
                value = divergence_of(again, order)
                yield from serving(
                    "second stages",
                    [compare(value, divergence_of(views, order), "<=", at=f"{at}: flipped anew twice")],
                )
        bound = delta(channel, n=users, exp_eps=order).bracket
        kept_bound = delta(channel, n=users, exp_eps=order, memoised=True, periods=30).bracket
        yield compare(kept_bound.upper, bound.upper, at=f"{label}, exp(eps)={order}, n={users}: the library's bound")


def _kept(channel: Channel, held: Sequence[int]) -> dict[Any, Fraction]:
    """The law of the messages of all users, in their order."""
    return {
        sent: math.prod((channel.rows[x][y] for x, y in zip(held, sent, strict=True)), start=Fraction(1))  # type: ignore[misc]
        for sent in itertools.product(range(channel.num_outputs), repeat=len(held))
    }


def _counts(messages: Sequence[int], outputs: int, periods: int) -> Any:
    return (tuple(messages.count(y) for y in range(outputs)),) * periods


def _flipped(kept: View, flip: Mapping[int, tuple[Fraction, Fraction]]) -> dict[Any, Fraction]:
    """Two histograms of kept bits, each bit flipped anew for each of them."""
    law: dict[Any, Fraction] = {}
    for sent, mass in kept.items():
        once = message_histogram([flip[y] for y in sent])
        for key, chance in seen_apart(once, once).items():
            law[key] = law.get(key, Fraction(0)) + mass * chance
    return law


def _check_fresh_senders(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The other user sends in the first of two periods only: the difference of both histograms is his message."""
    channel, order = CHANNELS[0][1], Fraction(1)
    for pair, held in itertools.product(itertools.permutations(range(2), 2), range(2)):
        views = []
        for x in pair:
            sent = _kept(channel, (x, held))
            views.append(image(sent, lambda m: (_counts(m, 2, 1), _counts(m[:1], 2, 1))))
        claimed = [statement(message_histogram([channel.rows[x], channel.rows[held]]), 2) for x in pair]
        found = divergence_of(views, order)
        yield compare(found, divergence_of(claimed, order), "<=", at=f"inputs {pair}, the other user holds {held}")


# -- symshuffle.threshold


def _published(law: View, threshold: int) -> dict[Any, Fraction]:
    """Counts below a threshold replaced by 0."""
    return image(law, lambda counts: tuple(c if c >= threshold else 0 for c in counts))


def _check_threshold(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three channels, three orders, 2 and 3 users, thresholds 2 and 3, all datasets: laws in rationals.

    What is published as stated has at most the divergence of all counts. The library's bound is the one without.
    """
    for (label, channel), users, threshold in itertools.product(CHANNELS, (2, 3), (2, 3)):
        for (pair, others), order in itertools.product(datasets(channel, users), ORDERS):
            laws = [message_histogram([channel.rows[x] for x in (y, *others)]) for y in pair]
            found = divergence_of([statement(law, threshold) for law in laws], order)
            at = f"{label}, exp(eps)={order}, n={users}, below {threshold}, inputs {pair}, others {others}"
            yield compare(found, divergence_of(laws, order), "<=", at=at)
        for order in ORDERS:
            found, plain = (
                delta(channel, n=users, exp_eps=order, threshold=t).bracket.upper for t in (threshold, None)
            )
            yield compare(found, plain, at=f"{label}, exp(eps)={order}, n={users}: the library's bound")


def _by_inputs(law: View, threshold: int) -> dict[Any, Fraction]:
    """No post-processing: the threshold depends on the inputs, as it does on which message is expected more often."""
    first, *others = (sum(counts[y] * mass for counts, mass in law.items()) for y in range(len(next(iter(law)))))
    return _published(law, threshold if first > others[0] else 1)


def _by_expectation(law: View, threshold: int) -> dict[Any, Fraction]:
    """No post-processing: counts below the threshold are replaced by what is expected at the inputs."""
    means = [sum(counts[y] * mass for counts, mass in law.items()) for y in range(len(next(iter(law))))]
    return image(law, lambda counts: tuple(c if c >= threshold else m for c, m in zip(counts, means, strict=True)))


CLAIMS: Final = (
    Claim(
        id="symshuffle.reports",
        kind="statement",
        title="one batch of all reports is a function of separate batches",
        text=(
            Clause(
                "function",
                "Let every user send $r$ reports, drawn independently. The histogram of one batch of all reports is "
                "the sum of the histograms of $r$ batches with one report of every user each.",
            ),
            Clause("bound", "So its divergence is at most that of the $r$ batches together, which bounds it."),
        ),
        source="symshuffle.accountants.deployment.experiment",
        assumptions=("every user sends the same number of reports", "reports are drawn independently"),
        scope="three channels, three orders, 2 users, 2 reports, all inputs of all reports, enumerated in rationals",
        grade="exact-cases",
        printed=_separate,
        check=_check_reports,
        controls=(
            Control("the first batch alone", lambda rows: seen_apart(message_histogram([user[0] for user in rows]))),
            Control(
                "the second reports of the first user left out",
                lambda rows: seen_apart(
                    message_histogram([user[0] for user in rows]), message_histogram([user[1] for user in rows[1:]])
                ),
            ),
            Control("users with different numbers of reports", _separate, check=_check_unequal_reports),
        ),
        expected="holds",
        obligations=(*for_all("histograms", clause="function"), *for_all("datasets", clause="bound")),
    ),
    Claim(
        id="symshuffle.memoised-reports",
        kind="statement",
        title="messages drawn once and sent in every period are one period",
        text=(
            Clause(
                "constant",
                "Let every user draw a message once and send it in each of $T$ periods, in which the same users "
                "take part and nothing else is drawn. All periods have the divergence of the first.",
            ),
            Clause(
                "two stages",
                "A second randomisation of the kept messages, anew in every period, has at most the divergence of the "
                "kept messages of one period.",
            ),
        ),
        source="symshuffle.accountants.deployment.experiment",
        assumptions=("the same users hold the same inputs in all periods", "no fresh dummies, no dropout in a period"),
        scope=f"{GRID}; three periods; two periods of flipped bits for 2 users",
        grade="exact-cases",
        printed=_same_again,
        check=_check_memoised,
        controls=(
            Control("fresh messages in every period", lambda law, periods: seen_apart(*[law] * (periods + 1))),
            Control("nothing is seen", lambda law, periods: {(): Fraction(1)}),
            Control("another user drops out of the second period", _same_again, check=_check_fresh_senders),
        ),
        expected="holds",
        obligations=(*for_all("datasets", clause="constant"), *for_all("second stages", clause="two stages")),
    ),
    Claim(
        id="symshuffle.threshold",
        kind="statement",
        title="counts below a threshold that are not published",
        text="Histograms in which every count below $K$ is replaced by 0 have at most the divergence of all counts.",
        source="symshuffle.accountants.deployment.experiment",
        assumptions=("the threshold does not depend on messages",),
        scope=f"{GRID}; thresholds 2 and 3",
        grade="exact-cases",
        printed=_published,
        check=_check_threshold,
        controls=(
            Control("a threshold that depends on the inputs", _by_inputs),
            Control("counts below it replaced by expected ones", _by_expectation),
        ),
        expected="holds",
        obligations=for_all("law", "threshold"),
    ),
)
