"""Section 10, open question 2: users who send two messages, and what of the paper carries over to them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._symmetry import symmetrize_channel
from proofs_checks.anchored import _cases as cases
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linear import Vector, dot
from symshuffle.channels.shuffled import chi_square, histogram_law, law_divergence
from symshuffle.ledger.claims.comparisons import Comparison, compare, identity
from symshuffle.ledger.claims.model import Claim, Clause, Control, Statement, for_all
from symshuffle.mechanisms.finite import krr, rr, subset_selection
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import estimated_composition, output_votes, vote_sizes
from symshuffle.utility.frontiers.caps import optimal_subset_sizes
from symshuffle.utility.frontiers.convex_order import certify_envelope
from symshuffle.utility.frontiers.frontier import trace_frontier

ZERO: Final = Fraction(0)


def _two_messages(chi: Any) -> Any:
    """The budget of sending two independent messages, from that of one."""
    return (1 + chi) ** 2 - 1


def _check_messages(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 8 random channels: budget of the product channel against that stated for two messages; exact rationals.

    Two pairs of rows each, and the symmetrised channel, whose budget is no larger. Two messages of 3-ary response have
    less trace than the certified frontier of one message at the same budget.
    """
    for trial in range(8):
        channel = cases.channel(rng, 3, 2 + trial % 2)
        law, double = AnchoredLaw.from_channel(channel), AnchoredLaw.from_channel(_twice(channel))
        even = symmetrize_channel(channel)
        even_law = AnchoredLaw.from_channel(even)
        twice = AnchoredLaw.from_channel(_twice(_merged(even)))
        for i, j in ((0, 1), (2, 0)):
            claimed = statement(Fraction(law.pairwise_divergence(i, j)))
            yield compare(double.pairwise_divergence(i, j), claimed, at=f"channel {trial}, rows {i}, {j}: two messages")
        yield compare(
            twice.pairwise_budget(), statement(Fraction(even_law.pairwise_budget())), at=f"channel {trial}, symmetrised"
        )
        yield compare(
            Fraction(twice.pairwise_budget()),
            Fraction(double.pairwise_budget()),
            "<=",
            at=f"channel {trial}: symmetrising does not raise the budget of two messages",
        )

    for lam in (Fraction(2), Fraction(3)):
        one = krr().at(k=3, lam=lam).channel()
        spent = statement(Fraction(AnchoredLaw.from_channel(one).pairwise_budget()))
        signal = AnchoredLaw.from_channel(_twice(one)).trace()
        best = trace_frontier(3, spent).trace.lower
        yield compare(
            signal, best, "<", at=f"3-ary response twice, lam={lam}: less than one message of the same budget can say"
        )


def _twice(channel: Channel) -> Channel:
    """Two independent messages about one input."""
    k = channel.num_inputs
    return channel.tensor(channel).restrict([x * k + x for x in range(k)])


def _merged(channel: Channel) -> Channel:
    """The channel with proportional outputs merged."""
    return AnchoredLaw.from_channel(channel).to_channel()


def _shuffled(channel: Channel, dataset: tuple[int, ...]) -> dict[tuple[int, ...], Any]:
    """The law of all messages of a population in which everybody sends two, by enumeration."""
    return histogram_law([channel.rows[x] for x in dataset for _ in range(2)])


def _contaminated(channel: Channel, n: int) -> tuple[dict[tuple[int, ...], Any], dict[tuple[int, ...], Any]]:
    """The two sides of the contamination pair of inputs 0 and 1."""
    return _shuffled(channel, (0, *(1,) * (n - 1))), _shuffled(channel, (1,) * n)


def _spent(channel: Channel, n: int) -> Fraction:
    """The chi-square divergence of the contamination pair."""
    first, second = _contaminated(channel, n)
    support = sorted(first.keys() | second.keys())
    return Fraction(chi_square([first.get(h, ZERO) for h in support], [second.get(h, ZERO) for h in support]))


def _shuffled_budget(chi: Any, n: Any) -> Any:
    """The chi-square divergence of the shuffled contamination pair, from that of one message."""
    return 2 * chi / n + chi**2 / (n * (2 * n - 1))


def _check_shuffled(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every budget and n: variance of the average over pairs of messages against the stated one; symbolic.

    Then 6 random channels at n = 1, 2, 3 by enumeration of histograms; at n = 2 symmetrising does not raise the
    divergence; exact rationals.
    """
    chi, n = sp.symbols("chi n", positive=True)
    # The likelihood ratio is the average of L_a L_b over pairs of messages; two pairs share two, one or no message.
    total = 2 * n
    pairs = total * (total - 1) / 2
    variance = ((1 + chi) ** 2 - 1 + 2 * (total - 2) * chi) / pairs
    yield identity(variance, statement(chi, n), at="every channel and n: variance of the average over pairs")
    yield identity(statement(chi, sp.Integer(1)), (1 + chi) ** 2 - 1, at="one user: the product channel")
    for trial in range(6):
        channel = cases.channel(rng, 3, 2 + trial % 2)
        one = AnchoredLaw.from_channel(channel)
        for users in (1, 2, 3):
            claimed = statement(Fraction(one.pairwise_divergence(0, 1)), users)
            yield compare(_spent(channel, users), claimed, at=f"channel {trial}, n={users}: by enumeration")
        pair = channel.restrict((0, 1))
        even = _merged(symmetrize_channel(pair))
        before = max(_spent(pair, 2), _spent(pair.restrict((1, 0)), 2))
        yield compare(_spent(even, 2), before, "<=", at=f"channel {trial}, n=2: symmetrising does not raise it")


def _binary_is_worst(lam: Fraction, users: int, gamma: Fraction, forward: bool) -> Fraction:
    """The divergence of binary response of this ratio, sent twice by everybody, by the number of ones received."""
    high, low = lam / (lam + 1), 1 / (lam + 1)
    kept = 2 * (users - 1)
    others = [math.comb(kept, i) * low**i * high ** (kept - i) for i in range(kept + 1)]
    one, zero = (
        [
            sum(
                math.comb(2, own) * p**own * (1 - p) ** (2 - own) * others[ones - own]
                for own in range(3)
                if 0 <= ones - own <= kept
            )
            for ones in range(kept + 3)
        ]
        for p in (high, low)
    )
    first, second = (one, zero) if forward else (zero, one)
    return sum((max(ZERO, p - gamma * q) for p, q in zip(first, second, strict=True)), ZERO)


def _higher_in_reverse(lam: Fraction, users: int, gamma: Fraction, forward: bool) -> Fraction:
    """One percent more in the reverse direction."""
    return _binary_is_worst(lam, users, gamma, forward) * (1 if forward else Fraction(101, 100))


def _higher_elsewhere(lam: Fraction, users: int, gamma: Fraction, forward: bool) -> Fraction:
    """One per cent more at every cap other than 3."""
    return _binary_is_worst(lam, users, gamma, forward) * (1 if lam == 3 else Fraction(101, 100))


def _one_message(lam: Fraction, users: int, gamma: Fraction, forward: bool) -> Fraction:
    """The envelope of users who send one message."""
    channel = rr().at(lam=lam).channel()
    first, second = (
        histogram_law([channel.rows[x] for x in data]) for data in ((0, *(1,) * (users - 1)), (1,) * users)
    )
    return Fraction(law_divergence(first, second, gamma) if forward else law_divergence(second, first, gamma))


def _check_binary(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any two rows under the cap: a kernel turns binary response into both, message by message; symbolic.

    Then 9 channels, n = 1, 2, three orders, both directions: the divergence of two messages each, by enumeration, is at
    most the stated envelope, and that of binary response equal to it; exact rationals.
    """
    a, b, lam = sp.symbols("a b lambda", positive=True)
    first, second = (lam * a - b) / (lam - 1), (lam * b - a) / (lam - 1)
    yield identity((lam * first + second) / (1 + lam), a, at="every channel: the kernel, message by message, row 0")
    yield identity((first + lam * second) / (1 + lam), b, at="every channel: the kernel, message by message, row 1")
    for trial, (cap, users) in enumerate(itertools.product((Fraction(3, 2), Fraction(2), Fraction(4)), (1, 2, 2))):
        channel = cases.capped_channel(rng, 2 + trial % 2, 2 + trial % 2, cap)
        certify_envelope(channel, 0, 1, lam=cap)
        sides = _contaminated(channel, users)
        for step, forward in itertools.product((0, 2, 5), (True, False)):
            gamma = 1 + (cap**2 - 1) * Fraction(step, 8)  # two messages of one user reach the ratio lam^2
            p, q = sides if forward else sides[::-1]
            value, worst = law_divergence(p, q, gamma), statement(cap, users, gamma, forward)
            where = f"lam={cap}, n={users}, order {gamma}, {'forward' if forward else 'reverse'}"
            yield compare(value, worst, "<=", at=f"channel {trial}, {where}")
    for cap, users in itertools.product((Fraction(3, 2), Fraction(2), Fraction(3), Fraction(4)), (1, 2, 3)):
        sides = _contaminated(rr().at(lam=cap).channel(), users)
        for step, forward in itertools.product((0, 2, 5), (True, False)):
            gamma = 1 + (cap**2 - 1) * Fraction(step, 8)
            p, q = sides if forward else sides[::-1]
            where = f"lam={cap}, n={users}, order {gamma}, {'forward' if forward else 'reverse'}"
            yield compare(
                law_divergence(p, q, gamma), statement(cap, users, gamma, forward), at=f"binary response, {where}"
            )


def _risk(sizes: Vector, w: Vector, n: int) -> Fraction:
    """The i.i.d. risk of the canonical estimator from two messages of every user."""
    noise = dot(w, sizes) - (1 - Fraction(1, len(w)))
    return noise / (2 * n) + (1 - dot(w, w)) / n


def _twice_as_many(sizes: Vector, w: Vector, n: int) -> Fraction:
    """As if the messages came from 2n users."""
    return (dot(w, sizes) - dot(w, w) + Fraction(1, len(w))) / (2 * n)


def _enumerated(channel: Channel, w: Vector, n: int) -> Fraction:
    """The same risk, over all populations and all histograms."""
    votes = output_votes(channel)
    risk = ZERO
    for dataset in itertools.product(range(len(w)), repeat=n):
        mass = Fraction(1)
        for x in dataset:
            mass *= w[x]
        for histogram, probability in _shuffled(channel, dataset).items():
            found = estimated_composition(votes, histogram)
            risk += mass * probability * sum((a - b) ** 2 for a, b in zip(found, w, strict=True))
    return risk


def _check_risk(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For up to 6 channels of 3 inputs, n = 1, 2: risk over all populations and histograms against the stated; exact.

    For two designs the subset size of smallest stated risk is the library's best size for one message.
    """
    for trial in range(6):
        channel = cases.EXAMPLE if trial == 0 else cases.channel(rng, 3, 3)
        law, w, n = AnchoredLaw.from_channel(channel), cases.distribution(rng, 3), 1 + trial % 2
        sizes = vote_sizes(law)
        if sizes is None:
            continue
        yield compare(_enumerated(channel, w, n), statement(sizes, w, n), at=f"channel {trial}, n={n}")
    uniform = (Fraction(1, 3),) * 3
    for lam in (Fraction(3, 2), Fraction(3)):  # the design problem under a cap on every message: the same size is best
        risks = {}
        for s in (1, 2):
            law = AnchoredLaw.from_channel(subset_selection().at(k=3, s=s, lam=lam).channel())
            if (found := vote_sizes(law)) is not None:
                risks[s] = statement(found, uniform, 2)
        best = tuple(s for s, risk in risks.items() if risk == min(risks.values()))
        yield compare(best, optimal_subset_sizes(3, lam), at=f"k=3, lam={lam}, n=2: subset size of smallest risk")


CLAIMS: Final = (
    Claim(
        id="symshuffle.anchored-open-2",
        kind="statement",
        title="two messages per user (open question 2)",
        text=(
            Clause("budget", r"Two independent messages have budget $(1+\chi)^2-1$ for every pair of inputs."),
            Clause("symmetrising", "Symmetrising the channel does not raise the largest."),
        ),
        source="ours; towards anchored, Section 10, question (2)",
        assumptions=("both messages through the same channel",),
        scope="8 random channels with 3 inputs; 3-ary response twice against the frontier of one message",
        grade="exact-cases",
        printed=_two_messages,
        check=_check_messages,
        controls=(
            Control("twice the budget of one", lambda chi: 2 * chi),
            Control("one percent more", lambda chi: _two_messages(chi) * Fraction(101, 100)),
        ),
        expected="holds",
        obligations=for_all("chi", clause=("budget", "symmetrising")),
    ),
    Claim(
        id="symshuffle.anchored-open-2-shuffled",
        kind="statement",
        title="two messages per user, shuffled: the chi-square budget",
        text=(
            Clause(
                "divergence",
                "If each of $n$ users sends two messages and all $2n$ are shuffled, the contamination pair has "
                r"chi-square divergence $\frac{2\chi}n+\frac{\chi^2}{n(2n-1)}$.",
            ),
            Clause("symmetrising", r"It grows with $\chi$, so symmetrising does not raise the largest."),
        ),
        source="ours; towards anchored, Section 10, question (2)",
        assumptions=("both messages independent, through the same channel", "one user against a constant population"),
        scope="the variance of an average over pairs, for every n; 6 channels, n = 1, 2, 3 by enumeration",
        grade="exact-cases",
        printed=_shuffled_budget,
        check=_check_shuffled,
        controls=(
            Control("one message of 2n users, twice", lambda chi, n: 2 * chi / n),
            Control("the budget of the product channel over n", lambda chi, n: ((1 + chi) ** 2 - 1) / n),
        ),
        expected="holds",
        obligations=for_all("chi", "n", clause=("divergence", "symmetrising")),
    ),
    Claim(
        id="symshuffle.anchored-open-2-envelope",
        kind="statement",
        title="two messages per user, shuffled: the binary envelope",
        text=(
            Clause("envelope", r"Under a cap $\lambda$ on every message, binary response sent twice leaks most."),
            Clause(
                "argument", "The kernel of anchored, Lemma 4.6 acts message by message, which commutes with shuffling."
            ),
        ),
        source="ours; towards anchored, Section 10, question (2)",
        assumptions=("both messages independent, through the same channel", "one user against a constant population"),
        scope=(
            "the kernel for every channel; 9 channels, n = 1, 2, three orders, both directions, all histograms of the "
            "2n messages; binary response at four caps, n = 1, 2, 3"
        ),
        grade="exact-cases",
        printed=_binary_is_worst,
        check=_check_binary,
        controls=(
            Control("the envelope of one message per user", _one_message),
            Control("one percent more in the reverse direction", _higher_in_reverse),
            Control("1 % more at every cap but one", _higher_elsewhere),
        ),
        expected="holds",
        obligations=for_all("lam", "users", "gamma", "forward", clause=("envelope", "argument")),
    ),
    Claim(
        id="symshuffle.anchored-open-2-risk",
        kind="statement",
        title="two messages per user, shuffled: the canonical risk",
        text=(
            Clause(
                "risk",
                r"The i.i.d. risk is $\frac1{2n}[\sum_iw_i\operatorname{tr}(\Sigma^{-1}M_i\Sigma^{-1})-1"
                r"+\frac1k]+\frac{1-|w|^2}n$: only the noise of the messages is halved.",
            ),
            Clause(
                "best size",
                "It falls with the trace, so the best subset size under a cap on every message is that of one message.",
            ),
        ),
        source="ours; towards anchored, Section 10, question (2)",
        assumptions=("both messages independent, through the same channel",),
        scope="6 channels with 3 inputs, n = 1, 2, all populations and histograms; two designs",
        grade="exact-cases",
        printed=_risk,
        check=_check_risk,
        controls=(Control("the risk of 2n users", _twice_as_many),),
        expected="holds",
        obligations=for_all("sizes", "w", "n", clause=("risk", "best size")),
    ),
)
