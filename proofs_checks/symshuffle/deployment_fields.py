"""Fields of a deployment: colluding users, reports, memoised reports, thresholds, dummies."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np

from symshuffle.accountants.deployment.group import Group
from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import law_divergence, shuffled_divergence, worst_shuffled_divergence
from symshuffle.decompositions.model import ReductionPair, privacy_blanket
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    ClaimVerdict,
    Clause,
    Control,
    Grade,
    Kind,
    Role,
    Statement,
    attained,
    for_all,
    serving,
)

View: TypeAlias = "Mapping[Any, Fraction]"
"""Law of all that a reader sees."""

CHANNELS: Final[tuple[tuple[str, Channel], ...]] = (
    ("2-RR, lam=3", Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])),
    ("three inputs, unlike", Channel.from_rows([["1/2", "1/2"], ["2/3", "1/3"], ["1/8", "7/8"]])),
    ("erasure of 1/3", Channel.from_rows([["2/3", 0, "1/3"], [0, "2/3", "1/3"]])),
)
ORDERS: Final = (Fraction(6, 5), Fraction(2), Fraction(4))


def _messages(rows: Sequence[Sequence[Any]]) -> dict[Any, Fraction]:
    """The law of the histogram of independent messages, by the list of all of them."""
    law: dict[Any, Fraction] = {}
    outputs = range(len(rows[0]))
    for sent in itertools.product(outputs, repeat=len(rows)):
        mass = math.prod((row[y] for row, y in zip(rows, sent, strict=True)), start=Fraction(1))
        if mass:
            key = tuple(sent.count(y) for y in outputs)
            law[key] = law.get(key, Fraction(0)) + mass
    return law


def _image(law: View, function: Any) -> dict[Any, Fraction]:
    found: dict[Any, Fraction] = {}
    for key, mass in law.items():
        found[function(key)] = found.get(function(key), Fraction(0)) + mass
    return found


def _together(*laws: View) -> dict[Any, Fraction]:
    """Independent histograms, each seen apart."""
    return {
        tuple(key for key, _ in each): math.prod((mass for _, mass in each), start=Fraction(1))
        for each in itertools.product(*(law.items() for law in laws))
    }


def _between(laws: Sequence[View], order: Fraction) -> Any:
    """The divergence of two laws."""
    first, second = laws
    return law_divergence(first, second, order)


def _datasets(channel: Channel, users: int) -> Iterator[tuple[tuple[int, int], tuple[int, ...]]]:
    """The two inputs of the user who differs, and those of the others."""
    inputs = range(channel.num_inputs)
    yield from itertools.product(itertools.permutations(inputs, 2), itertools.product(inputs, repeat=users - 1))


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
        _messages(rows[:honest]).items(), itertools.product(outputs, repeat=colluding)
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
        for pair, others in _datasets(channel, users):
            laws = [_known(channel, (x, *others), colluding) for x in pair]
            found.append(_between(laws, order))
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


# -- symshuffle.reports


def _one_batch(rows: Sequence[Sequence[Sequence[Any]]]) -> dict[Any, Fraction]:
    """The histogram of all reports of all users."""
    return _messages([row for reports in rows for row in reports])


def _separate(rows: Sequence[Sequence[Sequence[Any]]]) -> dict[Any, Fraction]:
    """The histograms of all first reports, of all second ones, ..."""
    return _together(*(_messages(batch) for batch in zip(*rows, strict=True)))


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
            exact = [_image(law, _sums) == whole for law, whole in zip(apart, joint, strict=True)]
            same = compare(Fraction(sum(exact)), Fraction(2), at=f"{label}, {words}: the sum of both batches")
            yield from serving("histograms", [same])
            for order in ORDERS:
                value = _between(joint, order)
                worst[order] = max(worst[order], value)
                at = f"{label}, exp(eps)={order}, {words}"
                yield from serving("datasets", [compare(value, _between(apart, order), "<=", at=at)])
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
        joint = [_messages([channel.rows[x], channel.rows[x], other]) for x in pair]
        equal = [statement([[channel.rows[x]] * 2, [other] * 2]) for x in pair]
        found, claimed = _between(joint, order), _between(equal, order)
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
        for pair, others in _datasets(channel, users):
            at = f"{label}, exp(eps)={order}, n={users}, inputs {pair}, others {others}"
            once = shuffled_divergence(channel, (pair[0], *others), (pair[1], *others), order)
            kept, views = [], []
            for x in pair:
                sent = _kept(channel, (x, *others))
                kept.append(_image(sent, lambda messages, k=channel.num_outputs: _counts(messages, k, 3)))
                views.append(statement(_messages([channel.rows[x] for x in (x, *others)]), 3))
            found = _between(kept, order)
            yield from serving("datasets", [compare(found, once, at=f"{at}: three periods and one")])
            yield from serving("datasets", [compare(found, _between(views, order), at=f"{at}: as stated")])
            if channel.num_outputs == 2 and users == 2:
                again = [_flipped(_kept(channel, (x, *others)), flip) for x in pair]
                value = _between(again, order)
                yield from serving(
                    "second stages",
                    [compare(value, _between(views, order), "<=", at=f"{at}: flipped anew twice")],
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
        once = _messages([flip[y] for y in sent])
        for key, chance in _together(once, once).items():
            law[key] = law.get(key, Fraction(0)) + mass * chance
    return law


def _check_fresh_senders(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The other user sends in the first of two periods only: the difference of both histograms is his message."""
    channel, order = CHANNELS[0][1], Fraction(1)
    for pair, held in itertools.product(itertools.permutations(range(2), 2), range(2)):
        views = []
        for x in pair:
            sent = _kept(channel, (x, held))
            views.append(_image(sent, lambda m: (_counts(m, 2, 1), _counts(m[:1], 2, 1))))
        claimed = [statement(_messages([channel.rows[x], channel.rows[held]]), 2) for x in pair]
        found = _between(views, order)
        yield compare(found, _between(claimed, order), "<=", at=f"inputs {pair}, the other user holds {held}")


# -- symshuffle.threshold


def _published(law: View, threshold: int) -> dict[Any, Fraction]:
    """Counts below a threshold replaced by 0."""
    return _image(law, lambda counts: tuple(c if c >= threshold else 0 for c in counts))


def _check_threshold(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three channels, three orders, 2 and 3 users, thresholds 2 and 3, all datasets: laws in rationals.

    What is published as stated has at most the divergence of all counts. The library's bound is the one without.
    """
    for (label, channel), users, threshold in itertools.product(CHANNELS, (2, 3), (2, 3)):
        for (pair, others), order in itertools.product(_datasets(channel, users), ORDERS):
            laws = [_messages([channel.rows[x] for x in (y, *others)]) for y in pair]
            found = _between([statement(law, threshold) for law in laws], order)
            at = f"{label}, exp(eps)={order}, n={users}, below {threshold}, inputs {pair}, others {others}"
            yield compare(found, _between(laws, order), "<=", at=at)
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
    return _image(law, lambda counts: tuple(c if c >= threshold else m for c, m in zip(counts, means, strict=True)))


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
    laws = [_messages([*(channel.rows[x] for x in (y, *others)), *[law] * dummies]) for y in pair]
    return _between(laws, order)


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
            for pair, others in _datasets(channel, users):
                found = _divergence_with(channel, pair, others, law, dummies, order)
                relation = "==" if users == 1 else "<="
                yield compare(found, means[pair], relation, at=f"{at}, inputs {pair}, others {others}")
            groups = [Group(channel, users), Group.of_dummies(dummies)]
            bound = delta(groups, exp_eps=order, arithmetic="exact").bracket.exact
            yield compare(bound, max(means.values()), ">=", at=f"{at}: the library's bound")


_GRID: Final = "three channels, three orders, 2 and 3 users, all datasets, enumerated in rationals"

CLAIMS: Final = (
    Claim(
        id="symshuffle.colluding-users",
        kind=Kind.STATEMENT,
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
        scope=f"{_GRID}; every number of colluding users that leaves an honest one",
        grade=Grade.EXACT_CASES,
        printed=_worst_of,
        check=_check_colluding,
        controls=(
            Control("one colluding user less", lambda channel, n, c, x: _worst_of(channel, n, c - 1, x)),
            Control("one percent less", lambda *at: _worst_of(*at) * Fraction(99, 100)),
            Control("one percent more", lambda *at: _worst_of(*at) * Fraction(101, 100)),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=(
            *for_all("datasets", clause="bound"),
            *attained("largest", clause="attained"),
        ),
    ),
    Claim(
        id="symshuffle.reports",
        kind=Kind.STATEMENT,
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
        grade=Grade.EXACT_CASES,
        printed=_separate,
        check=_check_reports,
        controls=(
            Control("the first batch alone", lambda rows: _together(_messages([user[0] for user in rows]))),
            Control(
                "the second reports of the first user left out",
                lambda rows: _together(
                    _messages([user[0] for user in rows]), _messages([user[1] for user in rows[1:]])
                ),
            ),
            Control("users with different numbers of reports", _separate, check=_check_unequal_reports),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=(*for_all("histograms", clause="function"), *for_all("datasets", clause="bound")),
    ),
    Claim(
        id="symshuffle.memoised-reports",
        kind=Kind.STATEMENT,
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
        scope=f"{_GRID}; three periods; two periods of flipped bits for 2 users",
        grade=Grade.EXACT_CASES,
        printed=_same_again,
        check=_check_memoised,
        controls=(
            Control("fresh messages in every period", lambda law, periods: _together(*[law] * (periods + 1))),
            Control("nothing is seen", lambda law, periods: {(): Fraction(1)}),
            Control("another user drops out of the second period", _same_again, check=_check_fresh_senders),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=(*for_all("datasets", clause="constant"), *for_all("second stages", clause="two stages")),
    ),
    Claim(
        id="symshuffle.threshold",
        kind=Kind.STATEMENT,
        title="counts below a threshold that are not published",
        text="Histograms in which every count below $K$ is replaced by 0 have at most the divergence of all counts.",
        source="symshuffle.accountants.deployment.experiment",
        assumptions=("the threshold does not depend on messages",),
        scope=f"{_GRID}; thresholds 2 and 3",
        grade=Grade.EXACT_CASES,
        printed=_published,
        check=_check_threshold,
        controls=(
            Control("a threshold that depends on the inputs", _by_inputs),
            Control("counts below it replaced by expected ones", _by_expectation),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("law", "threshold"),
    ),
    Claim(
        id="symshuffle.dummies",
        kind=Kind.STATEMENT,
        title="messages of no user drawn from the blanket distribution",
        text=(
            Clause(
                "setting",
                r"Let users run $W$ with blanket $\gamma\omega$, and let $d$ messages of no user be drawn from "
                r"$\omega$, shuffled with the others.",
                Role.DEFINITION,
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
        grade=Grade.EXACT_CASES,
        printed=_among,
        check=_check_dummies,
        controls=(
            Control("one dummy more", lambda channel, pair, x, masses, d: _among(channel, pair, x, masses, d + 1)),
            Control("no dummies", lambda channel, pair, x, masses, d: _among(channel, pair, x, masses, 0)),
            Control("dummies of another distribution", _among, check=_check_other_dummies),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("channel", "pair", "order", "masses", "dummies", clause="bound"),
    ),
)
