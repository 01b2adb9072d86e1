"""Sections 2.1 to 2.3: blankets, shuffled messages, divergences and zero-out neighbours."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean import _cases as cases
from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import hockey_stick, shuffled_law, worst_shuffled_divergence
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
    identity,
    serving,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.vectors.randomizers.mechanisms import FiniteRandomizer

NEAR: Final = 1 + Fraction(1, 10**9)


def _largest_mass(channel: Channel) -> Fraction:
    rows: Any = channel.rows
    return sum((min(column) for column in zip(*rows, strict=True)), Fraction(0))


def _accepted(channel: Channel, gamma: Fraction, blanket: Sequence[Fraction]) -> bool:
    try:
        FiniteRandomizer(channel, tuple(blanket), gamma, tuple(blanket))
    except InputError:
        return False
    return True


def _check_blanket(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """40 random channels over Q: the stated mass is the library's; 1e-9 more is refused; residual laws."""
    for trial in range(40):
        channel = cases.channel(rng, 2 + trial % 3, 2 + trial % 4)
        found = FiniteRandomizer.from_channel(channel)
        law: Any = found.blanket
        mass = statement(channel)
        where = f"random channel {trial}"
        yield compare(found.gamma, mass, at=where)
        yield decide(_accepted(channel, mass, law), at=where, claimed="this mass is a blanket's")
        yield decide(not _accepted(channel, mass * NEAR, law), at=where, claimed="a mass 1e-9 larger is not")
        for x, residual in enumerate(found.residuals() or ()):
            yield compare(sum(residual, Fraction(0)), Fraction(1), at=f"{where}, residual law of input {x}")


def _permuted(channel: Channel, dataset: Sequence[int], orders: Sequence[tuple[int, ...]]) -> dict[Any, Fraction]:
    """Law of the published sequence where the order is one of those given, each as likely as the others."""
    rows: Any = channel.rows
    law: dict[Any, Fraction] = {}
    for outputs in itertools.product(range(channel.num_outputs), repeat=len(dataset)):
        mass = math.prod((rows[x][y] for x, y in zip(dataset, outputs, strict=True)), start=Fraction(1))
        for order in orders:
            seen = tuple(outputs[i] for i in order)
            law[seen] = law.get(seen, Fraction(0)) + mass / len(orders)
    return law


def _uniform_order(n: int) -> list[tuple[int, ...]]:
    return list(itertools.permutations(range(n)))


def _check_shuffled(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Eight random channels and datasets of 2 or 3 users, over Q: law of sequences under the stated orders."""
    for trial in range(8):
        n = 2 + trial % 2
        channel = cases.channel(rng, 3, 2 + trial % 2)
        dataset = [int(x) for x in rng.integers(0, 3, size=n)]
        sequences = _permuted(channel, dataset, statement(n))
        for histogram, mass in shuffled_law(channel, dataset).items():
            ways = math.factorial(n)
            for count in histogram:
                ways //= math.factorial(count)
            one = tuple(itertools.chain(*([y] * count for y, count in enumerate(histogram))))
            for seen in set(itertools.permutations(one)):
                yield compare(mass / ways, sequences[seen], at=f"trial {trial}, dataset {dataset}, sequence {seen}")


def _stick(p: Sequence[Fraction], q: Sequence[Fraction], alpha: Fraction) -> Fraction:
    """The largest gain of an event."""
    events = itertools.product((0, 1), repeat=len(p))
    return max(sum(((a - alpha * b) * e for a, b, e in zip(p, q, event, strict=True)), Fraction(0)) for event in events)


def _check_stick(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """20 random pairs over Q: the library's divergence against the stated; a random kernel does not raise it."""
    for trial in range(20):
        p, q = (cases.distribution(rng, 2 + trial % 4) for _ in range(2))
        alpha = 1 + Fraction(int(rng.integers(0, 8)), 8)
        value = hockey_stick(p, q, alpha)
        yield compare(value, statement(p, q, alpha), at=f"random pair {trial}, alpha = {alpha}")
        merged = Channel((p, q)).push_forward(cases.kernel(rng, len(p), 2)).rows
        yield compare(hockey_stick(merged[0], merged[1], alpha), value, "<=", at=f"random pair {trial}, processed")


def _profile(channel: Channel, n: int, alpha: Fraction) -> Fraction:
    """The profile over neighbours in either order; the last row of the channel is the null law."""
    bot = channel.num_inputs - 1
    worst = Fraction(0)
    for others in itertools.product(range(bot + 1), repeat=n - 1):
        for x in range(bot):
            laws = [shuffled_law(channel, (own, *others)) for own in (x, bot)]
            for first, second in (laws, laws[::-1]):
                gain = sum(max(mass - alpha * second.get(h, 0), Fraction(0)) for h, mass in first.items())
                worst = max(worst, Fraction(gain))
    return worst


def _one_order(channel: Channel, n: int, alpha: Fraction) -> Fraction:
    """The profile with the neighbours in one order only."""
    bot = channel.num_inputs - 1
    return max(Fraction(worst_shuffled_divergence(channel, (x, bot), n, alpha)[0]) for x in range(bot))


def _check_profile(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Six random channels with null law, and RR(3/4), n <= 3, over Q: worst divergences against the profile."""
    for trial in range(6):
        found = FiniteRandomizer.from_channel(cases.channel(rng, 2, 2 + trial % 2))
        channel, n = Channel((*found.channel.rows, found.bot)), 2 + trial % 2
        bot = channel.num_inputs - 1
        alpha = Fraction(5, 4)
        pairs = [pair for x in range(bot) for pair in ((x, bot), (bot, x))]
        ours = max(Fraction(worst_shuffled_divergence(channel, pair, n, alpha)[0]) for pair in pairs)
        yield compare(ours, statement(channel, n, alpha), at=f"random channel {trial}, n = {n}")
    response = cases.response(Fraction(3, 4))
    with_bot = Channel((*response.channel.rows, response.bot))
    for n, value in ((1, "1/4"), (2, "3/16"), (3, "5/32")):
        yield compare(Fraction(value), statement(with_bot, n, Fraction(1)), at=f"RR(3/4), n = {n}, alpha = 1")


def _twice(alpha: Any, delta: Any) -> tuple[Any, Any]:
    """Order and mass at which replace-one neighbours are covered, for alpha = exp(eps)."""
    return alpha**2, 2 * delta


def _check_conversion(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open alpha, delta: the stated order and mass cover the event where both steps are tight, by sign; symbolic.

    So they do on any event, by the sum of both steps. One channel and 12 random ones at alpha = 2, over Q.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    alpha, delta, p, q, s, t = sp.symbols("alpha delta p q s t", positive=True)
    order, mass = statement(alpha, delta)
    # Attained: an event of probabilities q, s = alpha q + delta, p = alpha s + delta under x', bot, x.
    step = alpha * q + delta
    attained = sp.expand(alpha * step + delta - order * q)
    less = sp.factor(mass - attained)
    shown = f"the bound less the gain is {less}, at alpha = 2, delta = 1: {less.subs({alpha: 2, delta: 1})}"
    covered = nonnegative(mass - attained, {alpha: 1 + t})
    yield decide(covered, at="every alpha >= 1", claimed=">= 0", computed=shown, symbolic=True)
    # Enough: (p - alpha^2 q) is (p - alpha s) plus alpha (s - alpha q), outcome by outcome.
    yield identity(p - alpha**2 * q, (p - alpha * s) + alpha * (s - alpha * q), at="every outcome: the two steps")
    # Each step gains at most delta, on every event; a larger order gains the less.
    steps = sp.expand(mass - (delta + alpha * delta) + (order - alpha**2) * q)
    enough = decide(
        nonnegative(steps, {alpha: 1 + t}), at="every event: sum of both steps", claimed="covered", symbolic=True
    )
    yield from serving("events", [enough])
    tight = FiniteRandomizer.from_channel(
        Channel.from_rows([["1/2", "1/2"], ["1/20", "19/20"]]), bot=(Fraction(1, 5), Fraction(4, 5))
    )
    for where, found in [("RR-like counterexample", tight)] + [
        (f"random channel {trial}", FiniteRandomizer.from_channel(cases.channel(rng, 2, 3))) for trial in range(12)
    ]:
        rows, null = found.channel.rows, found.bot
        steps = [hockey_stick(*pair, Fraction(2)) for row in rows for pair in ((row, null), (null, row))]
        wide, allowed = statement(Fraction(2), max(steps))
        for first, second in (rows, rows[::-1]):
            yield compare(hockey_stick(first, second, wide), allowed, "<=", at=f"{where}, alpha = 2, n = 1")


CLAIMS: Final = (
    Claim(
        id="vecmean.def-2.1",
        kind="definition",
        title="local channel with a common component",
        text=(
            Clause("channel", r"$R_x=\gamma R_{BG}+(1-\gamma)Q_x$ with laws $Q_x$."),
            Clause("largest mass", r"The largest mass is $\sum_y\min_xR_x(y)$."),
        ),
        source="vecmean, Definition 2.1",
        assumptions=("finitely many outputs",),
        scope="40 random rational channels: accepted at the mass, refused 1e-9 above it, residual laws of sum 1",
        grade="exact-cases",
        printed=_largest_mass,
        check=_check_blanket,
        controls=(Control("mass too large by 1e-9", lambda channel: _largest_mass(channel) * NEAR),),
        expected="definition",
        obligations=for_all("channel", clause=("channel", "largest mass")),
    ),
    Claim(
        id="vecmean.def-2.2",
        kind="definition",
        title="one shuffled message per user",
        text=(
            Clause("order", "The messages are published in uniformly random order."),
            Clause("histogram", "Equivalently, their histogram is published."),
        ),
        source="vecmean, Definition 2.2",
        assumptions=(),
        scope="8 random channels and datasets of 2 and 3 users, sequence by sequence",
        grade="exact-cases",
        printed=_uniform_order,
        check=_check_shuffled,
        controls=(
            Control(
                "all cyclic shifts but one", lambda n: [tuple((i + j) % n for i in range(n)) for j in range(n - 1)]
            ),
            Control("all orders but one", lambda n: _uniform_order(n)[1:]),
        ),
        expected="definition",
        obligations=for_all("n", clause=("order", "histogram")),
    ),
    Claim(
        id="vecmean.def-2.3",
        kind="definition",
        title="hockey-stick divergence",
        text=(
            Clause("divergence", r"$D_\alpha(P\|Q)=\int(p-\alpha q)_+$."),
            Clause("event", "It is the largest gain of an event."),
            Clause("processing", "Processing lowers it."),
        ),
        source="vecmean, Definition 2.3",
        assumptions=(r"$\alpha\ge1$",),
        scope="20 random pairs against all events; data processing under random kernels",
        grade="exact-cases",
        printed=_stick,
        check=_check_stick,
        controls=(Control("alpha larger by 1 %", lambda p, q, alpha: _stick(p, q, alpha * Fraction(101, 100))),),
        expected="definition",
        obligations=for_all("p", "q", "alpha", clause=("divergence", "event", "processing")),
    ),
    Claim(
        id="vecmean.def-2.4",
        kind="definition",
        title="privacy profile over ordered neighbours",
        text=r"$\delta_M(\varepsilon)$ is the largest $D_{e^\varepsilon}$ over neighbouring datasets, in both orders.",
        source="vecmean, Definition 2.4",
        assumptions=(),
        scope="6 random channels with null law, n = 2 and 3; RR(3/4) at n = 1, 2, 3",
        grade="exact-cases",
        printed=_profile,
        check=_check_profile,
        controls=(Control("one order of the pair only", _one_order),),
        expected="definition",
    ),
    Claim(
        id="vecmean.sec-2.3-adj",
        kind="statement",
        title="from zero-out to replace-one neighbours",
        text=(
            r"$(\varepsilon,\delta)$-DP for zero-out neighbours implies $(2\varepsilon,2\delta)$-DP for replace-one "
            "neighbours."
        ),
        source="vecmean, Section 2.3",
        assumptions=(),
        scope="the extremal event for every alpha and delta; one channel with its null law inside a blanket; 12 random",
        grade="refuted",
        printed=_twice,
        check=_check_conversion,
        controls=(
            Control("1 % below the corrected mass", lambda a, d: (a**2, (1 + a) * d * Fraction(99, 100))),
            Control("order alpha instead of its square", lambda a, d: (a, (1 + a) * d)),
        ),
        expected="refuted",
        erratum=Erratum(
            "hypothesis",
            "granted",
            "The order doubles, and the mass of one step is multiplied by the order of the other; pure privacy "
            "is not affected.",
            quote="then it is (2 eps, 2 delta)-DP under the replace-one",
        ),
        corrected=Correction(
            text=(
                r"It implies $(2\varepsilon,(1+e^\varepsilon)\delta)$-DP, and no smaller mass will do. Counterexample: "
                r"$R_x=(1/2,1/2)$, $R_\bot=(1/5,4/5)$, $R_{x'}=(1/20,19/20)$ is $(\log2,1/10)$-DP for zero-out "
                r"neighbours, and $D_4(R_x\|R_{x'})=3/10$."
            ),
            statement=lambda alpha, delta: (alpha**2, (1 + alpha) * delta),
            grade="proved",
        ),
        obligations=for_all("alpha", "delta", "events"),
    ),
)
