"""Who counts as a user: more of them, dropout, groups, several messages of each."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.accountants.deployment.groups import group_factor
from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.channels.shuffled import (
    Tally,
    law_divergence,
    shuffled_divergence,
    shuffled_law,
    worst_shuffled_divergence,
)
from symshuffle.decompositions.model import simplified_decomposition
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    serving,
)

CHANNELS: Final[tuple[tuple[str, Channel], ...]] = (
    ("2-RR, lam=3", Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])),
    ("3-RR, lam=3", Channel.from_rows([["3/5", "1/5", "1/5"], ["1/5", "3/5", "1/5"], ["1/5", "1/5", "3/5"]])),
    ("three inputs, unlike", Channel.from_rows([["1/2", "1/2"], ["2/3", "1/3"], ["1/8", "7/8"]])),
    ("erasure of 1/3", Channel.from_rows([["2/3", 0, "1/3"], [0, "2/3", "1/3"]])),
)

ORDERS: Final = (Fraction(1), Fraction(6, 5), Fraction(2))


def _pairs(channel: Channel) -> Iterator[tuple[int, int]]:
    return itertools.permutations(range(channel.num_inputs), 2)


def _worst(channel: Channel, n: int, order: Fraction) -> Any:
    """The largest divergence of any two neighbouring datasets, by enumeration."""
    return max(worst_shuffled_divergence(channel, pair, n, order)[0] for pair in _pairs(channel))


# -- symshuffle.more-users


def _growth(n: Any) -> Any:
    """How much one more user can raise the expected positive part of the sum, as a factor."""
    return (n + 1) / n if isinstance(n, sp.Basic) else Fraction(n + 1, n)


def _subadditive(at: str) -> Iterator[Comparison]:
    """(u + v)_+ is at most u_+ + v_+: by the signs of two reals and of their sum, up to their order."""
    a, b = sp.symbols("a b", nonnegative=True)
    for first, second in ((a, b), (a + b, -b), (b, -(a + b)), (-a, -b)):
        left_over = sp.expand(_positive(first) + _positive(second) - _positive(first + second))
        known = bool(left_over.is_nonnegative)
        yield decide(known, at=f"{at}, of {first} and {second}", computed=str(left_over), claimed=">= 0", symbolic=True)


def _positive(value: sp.Expr) -> sp.Expr:
    """The positive part of a sum whose terms are of one sign."""
    value = sp.expand(value)
    return value if value.is_nonnegative else sp.Integer(0)


def _laws() -> Iterator[tuple[str, Law]]:
    """Laws of G of four channels at three orders, and two by hand."""
    for label, channel in CHANNELS:
        for order in ORDERS:
            pair = simplified_decomposition(channel, (0, 1)).reduction_pair()
            yield f"{label}, exp(eps)={order}", pair.gparv(order, direction="forward")
    yield "one atom", Law((Fraction(2),), (Fraction(1),))
    yield "symmetric", Law((Fraction(-1), Fraction(1)), (Fraction(1, 2), Fraction(1, 2)))


def _check_growth(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Exchangeable terms, any law and n: a sum of n + 1 as a mean of sums that leave one out, and (u + v)_+ by signs.

    The first has the stated factor, by identity. Then fourteen laws, up to 6 users: exact positive parts of one more
    user are at most the factor times those before, and equal for one atom.
    """
    n = sp.Symbol("n", integer=True, positive=True)
    total = sp.Symbol("S", real=True)
    # S is the stated factor times the mean of the n + 1 sums S - G_i, each with the law of a sum of n; then (u + v)_+.
    mean = ((n + 1) * total - total) / (n + 1)
    yield from serving("laws", [identity(statement(n) * mean, total, at="any law: from the sums that leave one out")])
    yield from _subadditive("positive parts of sums")
    yield identity(statement(n) * n / (n + 1), 1, at="H(n + 1) over H(n), any n")
    for label, law in _laws():
        bounds = [Exact().bracket(law, m).exact for m in range(1, 7)]
        sums = [m * (value - law.singular) for m, value in enumerate(bounds, start=1) if value is not None]
        for m, (before, after) in enumerate(itertools.pairwise(sums), start=1):
            relation = "==" if label == "one atom" else "<="
            yield compare(after, statement(m) * before, relation, at=f"{label}, {m} and {m + 1} users")


# -- symshuffle.dropout


def _mean(n: int, dropout: Fraction, values: Sequence[Any]) -> Any:
    """The mean of values at 1 to n messages, each of n - 1 users dropping out by itself."""
    return sum(
        math.comb(n - 1, m - 1) * (1 - dropout) ** (m - 1) * dropout ** (n - m) * value
        for m, value in enumerate(values, start=1)
    )


def _dropping(channel: Channel, dropout: Fraction) -> Channel:
    """Inputs that always send, then the same inputs dropping out; the last output is no message."""
    sending = [(*row, Fraction(0)) for row in channel.rows]
    leaving = [(*((1 - dropout) * p for p in row), dropout) for row in channel.rows]
    return Channel((*sending, *leaving))


def _check_dropout(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four channels, two orders, two rates, n = 2 and 3, all pairs: dropping out as an output of its own, enumerated.

    Where all others hold one input, the divergence is the stated mean; over every background it is at most that of the
    worst values, and that of the library's bound; this is at most the mean of bounds, each for the worst pair and order
    at its number of messages; in rationals. Of fourteen laws and up to 6 users, the value
    of the thinning is the stated mean.
    """
    for (label, channel), order, dropout, n in itertools.product(
        CHANNELS, (Fraction(6, 5), Fraction(2)), (Fraction(1, 10), Fraction(2, 3)), (2, 3)
    ):
        at = f"{label}, exp(eps)={order}, q={dropout}, n={n}"
        dropping, k = _dropping(channel, dropout), channel.num_inputs
        answer = delta(channel, n=n, dropout=dropout, exp_eps=order, arithmetic="exact").bracket.exact
        for pair in _pairs(channel):
            for held in range(k):  # the count of messages is that of the last output
                found = shuffled_divergence(
                    dropping, (pair[0], *[k + held] * (n - 1)), (pair[1], *[k + held] * (n - 1)), order
                )
                values = [
                    shuffled_divergence(channel, (pair[0], *[held] * (m - 1)), (pair[1], *[held] * (m - 1)), order)
                    for m in range(1, n + 1)
                ]
                yield compare(found, statement(n, dropout, values), at=f"{at}, inputs {pair}, others hold {held}")
            worst = [worst_shuffled_divergence(channel, pair, m, order)[0] for m in range(1, n + 1)]
            for others in itertools.combinations_with_replacement(range(k, 2 * k), n - 1):
                found = shuffled_divergence(dropping, (pair[0], *others), (pair[1], *others), order)
                yield compare(found, statement(n, dropout, worst), "<=", at=f"{at}, inputs {pair}, others {others}")
                yield compare(found, answer, "<=", at=f"{at}, inputs {pair}, others {others}, the library's bound")
        bounds = [delta(channel, n=m, exp_eps=order, arithmetic="exact").bracket.exact for m in range(1, n + 1)]
        yield compare(answer, statement(n, dropout, bounds), "<=", at=f"{at}, the library's bound")
    for (label, law), dropout in itertools.product(_laws(), (Fraction(1, 10), Fraction(2, 3))):
        values = [Exact().bracket(law, m).exact for m in range(1, 7)]
        for n in range(1, 7):
            thinned = Exact().bracket(law.thinning(1 - dropout), n).exact
            yield compare(thinned, statement(n, dropout, values[:n]), at=f"{label}, q={dropout}, {n} users")


# -- symshuffle.group-privacy


def _powers(group: Any, ratio: Any, t: Any = None, first: Any = None, second: Any = None) -> Any:
    """(exp(g eps) - 1)/(exp(eps) - 1); with t, the chord between two values of H."""
    if t is not None:
        return t * first + (1 - t) * second
    return group if ratio == 1 else (ratio**group - 1) / (ratio - 1)


def _convex(statement: Statement) -> Iterator[Comparison]:
    """H, a sum of positive parts of functions that are affine in the order, at mixtures of two orders."""
    u, v = sp.symbols("u v", real=True)
    t, p, q, c, y, z = sp.symbols("t p q c y z", positive=True)
    at = t * y + (1 - t) * z
    yield identity((u - v * y) + (p - q * y) / c, (u + p / c) - (v + q / c) * y, at="one more term of G_1 + ... + G_n")
    chord = statement(None, None, t, u - v * y, u - v * z)
    yield identity(u - v * at, chord, at="an affine function at a mixture of two orders, any slope")
    yield from _subadditive("positive parts of two ends of a chord")
    for value in (p, -p):
        scaled = sp.expand(_positive(t * value) - t * _positive(value))
        yield decide(
            scaled == 0, at=f"the positive part of {t * value}", computed=str(scaled), claimed="0", symbolic=True
        )
    height, slope = sp.symbols("h s", positive=True)
    before = (height - (1 - t) * (height - slope * (z - at))) / t  # H(y) where H(at) = h, H(z) <= h - s (z - at)
    yield identity(before, height + slope * (at - y), at="before a chord that falls by s per unit")
    yield identity(statement(None, None, t, before, height - slope * (z - at)), height, at="that chord at its mixture")


def _check_group(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """A chain of steps, any three laws, by identity and signs; the stated factor by induction on g, any exp(eps).

    A divergence falls with its order, by identity. The product of the stated factor and a line has a derivative whose
    coefficients change sign once, by identity for any g. An affine function of the order is on the stated chord, by
    identity, and positive parts are below it by signs, as are their sums with weights of at least 0. The library's
    factor for g up to 5. Then four channels, two orders, n = 2 and 3: all datasets that differ in two users have at
    most the stated multiple of the worst divergence of one, and at most the library's bound, which is nowhere larger;
    in rationals.
    """
    g = sp.Symbol("g", integer=True, positive=True)
    p, q, r, x, y = sp.symbols("p q r x y", positive=True)
    yield identity((p - x * q) + x * (q - y * r), p - x * y * r, at="the sum of two steps, any three laws")
    yield from _subadditive("positive parts of two steps")
    yield identity(statement(g + 1, x), 1 + x * statement(g, x), at="one more step, any g and exp(eps)")
    yield identity(statement(1, x), 1, at="one step")
    yield identity((p - y * q) - (p - (x + y) * q), x * q, at="a larger order, any two laws: less where q is positive")
    height, slope = sp.symbols("h s", positive=True)
    powers = (x**g - x) / (x - 1)  # x + ... + x^(g-1), each with the coefficient h - s, h being at least s x
    line = statement(g, x) * (height - slope * x)
    yield identity(line, height + (height - slope) * powers - slope * x**g, at="a chain by a line, any g and exp(eps)")
    yield from serving("mixtures", _convex(statement))
    for size in range(1, 6):
        yield identity(group_factor(size, x), statement(size, x), at=f"the library's factor, g={size}")
    for (label, channel), order, n in itertools.product(CHANNELS, (Fraction(6, 5), Fraction(3, 2)), (2, 3)):
        one = _worst(channel, n, order)
        bound = delta(channel, n=n, group_size=2, exp_eps=order**2).bracket
        alone = delta(channel, n=n, exp_eps=order, arithmetic="exact").bracket
        yield compare(bound.lower, statement(2, order) * alone.exact, "<=", at=f"{label}, n={n}: the library's bound")
        inputs = range(channel.num_inputs)
        for others in itertools.combinations_with_replacement(inputs, n - 2):
            for first, second in itertools.product(itertools.combinations_with_replacement(inputs, 2), repeat=2):
                found = shuffled_divergence(channel, (*first, *others), (*second, *others), order**2)
                at = f"{label}, exp(eps)={order}, n={n}: {first} and {second}, others {others}"
                yield compare(found, statement(2, order) * one, "<=", at=at)
                yield compare(found, bound.upper, "<=", at=f"{at}, the library's bound")


# -- symshuffle.several-messages


def _product(firsts: Sequence[Mapping[Tally, Any]], seconds: Sequence[Mapping[Tally, Any]], order: Any) -> Any:
    """The divergence of two products of laws, one factor per shuffler."""

    def joined(laws: Sequence[Mapping[Tally, Any]]) -> dict[Any, Any]:
        return {
            tuple(h for h, _ in parts): math.prod((p for _, p in parts), start=Fraction(1))
            for parts in itertools.product(*(law.items() for law in laws))
        }

    return law_divergence(joined(firsts), joined(seconds), order)


def _joint(channel: Channel, dataset: Sequence[int], *, common: bool) -> dict[Any, Any]:
    """Two messages of every user, drawn anew: histograms of two shufflers, or of one that all messages enter."""
    law: dict[Any, Any] = {}
    outputs = range(channel.num_outputs)
    messages = list(itertools.product(outputs, repeat=2))
    for sent in itertools.product(messages, repeat=len(dataset)):
        mass: Any = Fraction(1)
        for x, (y, z) in zip(dataset, sent, strict=True):
            mass *= channel.rows[x][y] * channel.rows[x][z]
        counts = [tuple(sum(pair[i] == y for pair in sent) for y in outputs) for i in (0, 1)]
        key: Any = tuple(map(sum, zip(*counts, strict=True))) if common else tuple(counts)
        law[key] = law.get(key, Fraction(0)) + mass
    return law


def _check_messages(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four channels, three orders, two users with two messages each: all datasets, laws enumerated in rationals.

    Two shufflers have the divergence of the stated product of rounds; a common shuffler has at most that.
    """
    for (label, channel), order in itertools.product(CHANNELS, ORDERS):
        for held, pair in itertools.product(range(channel.num_inputs), _pairs(channel)):
            datasets = [(x, held) for x in pair]
            once = [shuffled_law(channel, dataset) for dataset in datasets]
            rounds = statement([once[0]] * 2, [once[1]] * 2, order)
            at = f"{label}, exp(eps)={order}, {datasets[0]} and {datasets[1]}"
            for common, relation in ((False, "=="), (True, "<=")):
                first, second = (_joint(channel, dataset, common=common) for dataset in datasets)
                shufflers = "a common shuffler" if common else "two shufflers"
                yield compare(law_divergence(first, second, order), rounds, relation, at=f"{at}: {shufflers}")


CLAIMS: Final = (
    Claim(
        id="symshuffle.more-users",
        kind="statement",
        title="the bound never rises with the number of messages",
        text=(
            Clause("mean", r"$E(G_1+\dots+G_{n+1})_+\le\frac{n+1}n E(G_1+\dots+G_n)_+$ for every law of $G$."),
            Clause(
                "bound",
                r"So $H(n)=s+\frac1nE(G_1+\dots+G_n)_+$ never rises with $n$: what holds for n messages holds "
                "for more.",
            ),
        ),
        source="symshuffle.accountants.deployment.message_counts",
        assumptions=("messages beyond n come from users who follow the protocol",),
        scope="symbolic in n and for any law; fourteen exact laws up to 6 users",
        grade="proved",
        printed=_growth,
        check=_check_growth,
        controls=(
            Control("one percent less", lambda n: _growth(n) * Fraction(99, 100)),
            Control("the factor (n+2)/(n+1)", lambda n: _growth(n + 1)),
            Control("the factor falls, too", lambda n: 1 / _growth(n)),
        ),
        expected="holds",
        obligations=for_all("n", "laws", clause=("mean", "bound")),
    ),
    Claim(
        id="symshuffle.dropout",
        kind="statement",
        title="independent dropout with a public count is a binomial mean",
        text=(
            Clause(
                "one input",
                "Let each of the $n-1$ other users drop out independently with probability $q$, whatever the "
                r"inputs, the number of messages being seen. The divergence is $\sum_m P(M=m)D_m$, $M-1\sim$ "
                "Bin$(n-1,1-q)$, where all others hold one input.",
            ),
            Clause(
                "all datasets",
                "The divergence is at most that with the largest $D_m$ over all datasets of $m$ users otherwise.",
            ),
        ),
        source="symshuffle.channels.law",
        assumptions=("the differing user sends; where she may drop out as well, divergences are smaller",),
        scope="four channels, two orders, two rates, 2 and 3 users, all datasets; fourteen laws up to 6 users",
        grade="exact-cases",
        printed=_mean,
        check=_check_dropout,
        controls=(
            Control("sending and dropping swapped", lambda n, q, values: _mean(n, 1 - q, values)),
            Control("one percent more dropout", lambda n, q, values: _mean(n, q * Fraction(101, 100), values)),
            Control("the differing user alone forgotten", lambda n, q, values: _mean(n, q, [Fraction(0), *values[1:]])),
        ),
        expected="holds",
        obligations=for_all("n", "dropout", "values", clause=("one input", "all datasets")),
    ),
    Claim(
        id="symshuffle.group-privacy",
        kind="statement",
        title="groups of users by a chain of neighbours",
        text=(
            Clause(
                "chain",
                r"If $D_{e^\varepsilon}\le\delta$ for all neighbours, then "
                r"$D_{e^{g\varepsilon}}\le F\delta$, $F=(e^{g\varepsilon}-1)/(e^\varepsilon-1)$, for datasets that "
                "differ in $g$ users.",
            ),
            Clause(
                "smaller orders",
                r"$D$ falls with its order: the chain at a smaller $\varepsilon$ bounds $D_{e^{g\varepsilon}}$ too.",
            ),
            Clause(
                "convex",
                r"$H(y)=\frac1nE(\sum_i(a_i-yb_i)/c_i)_++\sum(a-yb)_+$ is convex: "
                r"$H(ty+(1-t)z)\le tH(y)+(1-t)H(z)$. If $H(z)\le H(b)-s(z-b)$, $z>b$, then "
                r"$H(y)\ge H(b)+s(b-y)$ for $y<b$.",
            ),
            Clause(
                "smallest",
                r"With $y=e^\varepsilon$, $F(y)(h-sy)$, $h\ge sy\ge0$, rises up to some $y$ at most, then falls.",
            ),
        ),
        source="symshuffle.accountants.deployment.groups",
        assumptions=("both directions",),
        scope="symbolic in g and exp(eps); g = 2 on four channels, 2 and 3 users, all datasets",
        grade="proved",
        printed=_powers,
        check=_check_group,
        controls=(
            Control("one percent less", lambda g, x, *ends: _powers(g, x, *ends) * (1 if ends else Fraction(99, 100))),
            Control("one step less", lambda g, x, *ends: _powers(*((None, None) if ends else (g - 1, x)), *ends)),
            Control("deltas only add", lambda g, x, *ends: _powers(g, x, *ends) if ends else g),
            Control(
                "a chord one percent lower",
                lambda g, x, *ends: _powers(g, x, *ends) * (Fraction(99, 100) if ends else 1),
            ),
            Control("ends exchanged", lambda g, x, *ends: _powers(g, x, *ends[:1], *ends[:0:-1])),
            Control("the lower end alone", lambda g, x, *ends: ends[2] if ends else _powers(g, x)),
        ),
        expected="holds",
        obligations=(
            *for_all("group", "ratio", clause=("chain", "smaller orders", "smallest")),
            *for_all("t", "first", "second", "mixtures", clause="convex"),
        ),
    ),
    Claim(
        id="symshuffle.several-messages",
        kind="statement",
        title="two messages of each user are two rounds",
        text=(
            Clause(
                "two shufflers",
                "Two independent messages of every user through two shufflers have the divergence of the "
                "product of two rounds on the same inputs.",
            ),
            Clause("common", "Through a common shuffler they have at most that, which is a post-processing."),
        ),
        source="symshuffle.accountants.deployment.message_counts",
        assumptions=("messages of a user are drawn independently given the input",),
        scope="four channels, three orders, 2 users, all datasets, two messages each",
        grade="exact-cases",
        printed=_product,
        check=_check_messages,
        controls=(
            Control("one round", lambda firsts, seconds, order: _product(firsts[:1], seconds[:1], order)),
            Control("three rounds", lambda a, b, order: _product([*a, a[0]], [*b, b[0]], order)),
            Control(
                "deltas add",
                lambda a, b, order: sum(law_divergence(p, q, order) for p, q in zip(a, b, strict=True)),
            ),
        ),
        expected="holds",
        obligations=for_all("firsts", "seconds", "order", clause=("two shufflers", "common")),
    ),
)
