"""Section 2: divergences, privacy, the shuffle model; Property 1 of Section 3.1."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks._divergences import total_variation
from proofs_checks.decomposition._cases import (
    channels,
    distribution,
    named_channels,
    never_negative,
    plus,
)
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import hockey_stick, shuffled_divergence, shuffled_law
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)

ORDERS = (Fraction(1), Fraction(11, 10), Fraction(2), Fraction(1, 3))


# -- decomposition.def-1


def _events(p: Any, q: Any, alpha: Fraction) -> Fraction:
    """Largest excess P(S) - alpha Q(S) over all events S."""
    subsets = itertools.product((0, 1), repeat=len(p))
    return max(sum((b * (x - alpha * y) for b, x, y in zip(s, p, q, strict=True)), Fraction(0)) for s in subsets)


def _hockey_stick(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The value at one point, on either side of the kink and in both directions: open masses and order, symbolic.

    Then twelve random pairs on five points: the statement against the largest excess over all 32 events and against the
    library's divergence, in rationals; the library's total variation against half the l1 distance.
    """
    s, p, alpha = sp.symbols("s p alpha", positive=True)
    for sign, part in ((1, s), (-1, sp.Integer(0))):
        where = f"one point with P - alpha Q {'>=' if sign > 0 else '<='} 0, any masses and order"
        yield identity(statement([p], [(p - sign * s) / alpha], alpha), part, at=where)
        reverse = alpha * p + sign * s  # so that Q - alpha P = sign s
        swapped = reverse - alpha * p + alpha * statement([p], [reverse], 1 / alpha)
        yield identity(swapped, statement([reverse], [p], alpha), at=f"{where}; both directions")
    for _ in range(12):
        p_, q_ = (distribution(rng, 5, zeros=1 / 6) for _ in range(2))
        for order in ORDERS:
            at = f"P={_row(p_)}, Q={_row(q_)}, alpha={order}"
            yield compare(_events(p_, q_, order), statement(p_, q_, order), at=f"{at}, all events")
            yield compare(hockey_stick(p_, q_, order), statement(p_, q_, order), at=at)
        half_l1 = sum((abs(a - b) for a, b in zip(p_, q_, strict=True)), Fraction(0)) / 2
        yield compare(total_variation(p_, q_), half_l1, at=f"P={_row(p_)}, Q={_row(q_)}, total variation")


def _positive_parts(p: Any, q: Any, alpha: Any) -> Any:
    """The divergence as defined."""
    return sum((plus(x - alpha * y) for x, y in zip(p, q, strict=True)), Fraction(0))


def _row(masses: Any) -> str:
    return "(" + " ".join(map(str, masses)) + ")"


DEF_1 = Claim(
    id="decomposition.def-1",
    kind="definition",
    title="hockey-stick divergence and indistinguishability",
    text=(
        Clause("divergence", r"$D_\alpha(P\Vert Q)=\sum_y\max\{0,P(y)-\alpha Q(y)\}$."),
        Clause(
            "events",
            r"It is the largest excess $P(S)-\alpha Q(S)$ over all events, so that a pair is "
            r"$(\varepsilon,\delta)$-indistinguishable exactly if both directions of order $e^\varepsilon$ "
            r"are at most $\delta$; and $D_\alpha(Q\Vert P)=1-\alpha+\alpha D_{1/\alpha}(P\Vert Q)$.",
        ),
    ),
    source="decomposition, Definition 1",
    assumptions=("finitely many outputs",),
    scope="pointwise identity for all masses and orders; all events of random pairs on five points",
    grade="proved",
    printed=_positive_parts,
    check=_hockey_stick,
    controls=(
        Control(
            "absolute value in place of the positive part",
            lambda p, q, alpha: sum((abs(x - alpha * y) for x, y in zip(p, q, strict=True)), Fraction(0)) / 2,
        ),
        Control(
            "order on the wrong argument",
            lambda p, q, alpha: sum((plus(alpha * x - y) for x, y in zip(p, q, strict=True)), Fraction(0)),
        ),
    ),
    expected="definition",
    obligations=for_all("p", "q", "alpha", clause=("divergence", "events")),
)


# -- decomposition.def-2-4


def _privacy(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Five mechanisms and six random channels: the library's test of local privacy against the statement's.

    At ratios below, at and above the ratio cap. Then, for 2 and 3 users, the divergence of randomly permuted messages
    against that of histograms and against the library, in rationals.
    """
    labelled = named_channels(
        ("rr", {"lam": 3}),
        ("krr", {"lam": 3, "k": 4}),
        ("subset-selection", {"lam": 3, "k": 4, "s": 2}),
        ("half-block", {"lam": 3, "k": 4}),
        ("erasure", {"k": 3, "p": "1/3"}),
    )
    labelled += [(f"random channel {i}", w) for i, w in enumerate(channels(rng, 6, ((2, 3), (3, 4))))]
    for label, channel in labelled:
        cap: Any = channel.ratio_cap()
        tried = [Fraction(1), Fraction(29, 10), Fraction(3), Fraction(10**6)]
        tried += [] if cap == math.inf else [cap, cap * Fraction(199, 200)]
        for lam in tried:
            yield compare(bool(channel.is_ldp(lam)), statement(channel.rows, lam), at=f"{label}, exp(eps)={lam}")
    yield from _shuffler(shuffled_law, rng)


def _permuted(channel: Channel, dataset: tuple[int, ...]) -> dict[tuple[int, ...], Fraction]:
    """Law of the message sequence behind a uniformly random permutation, straight from the definition."""
    rows: Any = channel.rows
    law: dict[tuple[int, ...], Fraction] = {}
    share = Fraction(1, math.factorial(len(dataset)))
    for order in itertools.permutations(dataset):
        for messages in itertools.product(range(channel.num_outputs), repeat=len(dataset)):
            mass = math.prod((rows[x][y] for x, y in zip(order, messages, strict=True)), start=share)
            law[messages] = law.get(messages, Fraction(0)) + mass
    return law


def _divergence(first: Mapping[Any, Any], second: Mapping[Any, Any], order: Fraction) -> Fraction:
    points = {*first, *second}
    return sum((max(Fraction(0), first.get(p, 0) - order * second.get(p, 0)) for p in points), Fraction(0))


def _shuffler(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For three channels and 2 or 3 users: permuted messages, by enumeration, against the law that a statement gives.

    The divergences at two orders have to agree with each other and with the library's, in rationals.
    """
    for channel in channels(rng, 3, ((3, 2), (3, 3))):
        for background in ((2,), (0, 2)):
            first, second = (0, *background), (1, *background)
            for exp_eps in (Fraction(1), Fraction(6, 5)):
                permuted = _divergence(_permuted(channel, first), _permuted(channel, second), exp_eps)
                claimed = _divergence(statement(channel, first), statement(channel, second), exp_eps)
                at = f"{first} against {second}, exp(eps)={exp_eps}"
                yield compare(permuted, claimed, at=f"{at}, permuted messages")
                yield compare(shuffled_divergence(channel, first, second, exp_eps), permuted, at=at)


DEF_2_4 = Claim(
    id="decomposition.def-2-4",
    kind="definition",
    title="central, local and shuffled privacy",
    text=(
        Clause(
            "local",
            r"A channel is $\varepsilon_0$-LDP if every two rows are $(\varepsilon_0,0)$-indistinguishable; "
            r"equivalently $\max_xR(x)(y)\le e^{\varepsilon_0}\min_xR(x)(y)$ for every output.",
        ),
        Clause(
            "shuffled",
            "Shuffle privacy compares the messages of two neighbouring datasets behind a uniformly random permutation.",
        ),
        Clause("histograms", "Their histograms carry the same divergences."),
    ),
    source="decomposition, Definitions 2, 3 and 4",
    assumptions=("finitely many outputs",),
    scope="local privacy at delta = 0: five mechanisms, random channels; permuted messages of 2 and 3 users",
    grade="exact-cases",
    printed=lambda rows, lam: all(hockey_stick(p, q, lam) == 0 for p, q in itertools.permutations(rows, 2)),
    check=_privacy,
    controls=(
        Control(
            "some pair of rows instead of every pair",
            lambda rows, lam: any(hockey_stick(p, q, lam) == 0 for p, q in itertools.permutations(rows, 2)),
        ),
        Control(
            "messages in the order of the users",
            lambda channel, dataset: {
                y: math.prod((channel.rows[x][m] for x, m in zip(dataset, y, strict=True)), start=Fraction(1))
                for y in itertools.product(range(channel.num_outputs), repeat=len(dataset))
            },
            _shuffler,
        ),
        Control(
            "a ratio one percent larger is allowed",
            lambda rows, lam: all(
                hockey_stick(p, q, lam * Fraction(101, 100)) == 0 for p, q in itertools.permutations(rows, 2)
            ),
        ),
    ),
    expected="definition",
    obligations=for_all("rows", "lam", clause=("local", "shuffled", "histograms")),
)


# -- decomposition.prop-1


def _processed(statement: Statement, rng: np.random.Generator, *, same_map: bool = True) -> Iterator[Comparison]:
    """Sixty random pairs and stochastic maps: the divergence of the images is at most the statement's of the pair.

    It is the same where the outputs are only relabelled. With ``same_map=False`` the second law goes through another
    map.
    """
    for _ in range(60):
        inputs, outputs = (int(size) for size in rng.integers(2, 6, size=2))
        p, q = (distribution(rng, inputs, zeros=1 / 6) for _ in range(2))
        kernel = [distribution(rng, outputs, zeros=1 / 6) for _ in range(inputs)]
        other = kernel if same_map else kernel[::-1]
        image = [
            [sum((m * row[y] for m, row in zip(law, rows, strict=True)), Fraction(0)) for y in range(outputs)]
            for law, rows in ((p, kernel), (q, other))
        ]
        for order in ORDERS:
            at = f"P={_row(p)}, Q={_row(q)}, alpha={order}"
            yield compare(hockey_stick(image[0], image[1], order), statement(p, q, order), "<=", at=at)
    p, q = (distribution(rng, 4) for _ in range(2))
    relabelled = [(*law[1:], law[0]) for law in (p, q)]
    for order in ORDERS:
        yield compare(
            hockey_stick(relabelled[0], relabelled[1], order),
            statement(p, q, order),
            at=f"relabelled outputs, alpha={order}",
        )


def _post_processing(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Two points with open masses that a map sends to one: the positive part of the sum against the sum of the parts.

    All six orders of signs of the two terms, decided by the signs of coefficients; common weights factor out by
    identity. A map with many points and outputs repeats this step. Then sixty random maps in rationals.
    """
    s, r, f, g = sp.symbols("s r f g", nonnegative=True)
    q0, q1, alpha = sp.symbols("q0 q1 alpha", nonnegative=True)
    # Signs of two terms and of their sum; the larger one is written as the smaller one plus r.
    for u, v in ((s, r), (s + r, -s), (s, -s - r), (-s, s + r), (-s - r, s), (-s, -r)):
        before = statement([alpha * q0 + u, alpha * q1 + v], [q0, q1], alpha)
        excess = f * before - f * plus(u + v)
        yield never_negative(sp.expand(excess), at=f"two points with P - alpha Q = {u}, {v} and a common weight f >= 0")
        point = [alpha * q0 + u], [q0]
        sent = ([f * mass for mass in law] for law in point)
        yield identity(statement(*sent, alpha), f * statement(*point, alpha), at=f"weight f >= 0 on the term {u}")
        # A point with mass for two outputs, of which they take the weights f and g.
        apart = ([share * law[0] for share in (f, g)] for law in point)
        whole = ([(f + g) * law[0]] for law in point)
        yield identity(statement(*apart, alpha), statement(*whole, alpha), at=f"two outputs share the term {u}")
    yield from _processed(statement, rng)


PROP_1 = Claim(
    id="decomposition.prop-1",
    kind="statement",
    title="post-processing cannot raise the divergence",
    text=r"$D_\alpha(f(P)\Vert f(Q))\le D_\alpha(P\Vert Q)$ for every stochastic map $f$ and every order $\alpha\ge0$.",
    source="decomposition, Property 1, Section 3.1",
    assumptions=("finitely many outputs",),
    scope="subadditivity of the positive part for all values and weights, by signs; 60 random maps",
    grade="proved",
    printed=_positive_parts,
    check=_post_processing,
    controls=(
        Control(
            "the divergence less 1 % suffices", lambda p, q, alpha: Fraction(99, 100) * _positive_parts(p, q, alpha)
        ),
        Control(
            "another map for the second law",
            _positive_parts,
            lambda statement, rng: _processed(statement, rng, same_map=False),
        ),
    ),
    expected="holds",
    obligations=for_all("p", "q", "alpha"),
)

CLAIMS: tuple[Claim, ...] = (DEF_1, DEF_2_4, PROP_1)
