"""Section 10: mixtures of k-ary responses with null symbols, their budget, signal and risk."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._templates import critical_ratio
from proofs_checks.alphabets._cases import ROOT
from proofs_checks.alphabets._equivariant import response_mixture
from symshuffle.base.results import passes
from symshuffle.channels.channel import Channel
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
from symshuffle.mechanisms.finite import K, S, augmented_randomized_response
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import enumerated_risk, output_votes
from symshuffle.utility.frontiers.formulas import subset_budget, subset_slope, subset_trace, tangent_slope
from symshuffle.utility.frontiers.frontier import threshold_budget, trace_frontier

SIGNAL: Final = sp.Symbol("A", positive=True)

_ONE: Final = Fraction(1)

MIXTURES: Final = (
    (3, ((Fraction(1, 2), Fraction(2)), (Fraction(1, 4), Fraction(5))), (Fraction(1, 4),)),
    (3, ((Fraction(1, 3), Fraction(3, 2)), (Fraction(1, 3), _ONE)), (Fraction(1, 6), Fraction(1, 6))),
    (3, ((_ONE, Fraction(4)),), ()),
    (4, ((Fraction(2, 5), Fraction(3)),), (Fraction(3, 5),)),
)
"""Inputs, blocks (weight, ratio) and null masses; a block of ratio 1 says nothing."""


def _augmented(k: int, share: Fraction, ratio: Fraction) -> tuple[tuple[Fraction, ...], ...]:
    """Rows of k-ary response with probability ``share``, otherwise one null symbol."""
    total = ratio + k - 1
    return tuple((*(share * (ratio if x == y else 1) / total for y in range(k)), 1 - share) for x in range(k))


def _check_augmented(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three triples (k, share, C): the stated rows add up to 1 and have the library's law of templates.

    Exact rationals; the library's mechanism is compared with a mixture of one block and one null symbol as well.
    """
    for k, share, ratio in (
        (3, Fraction(1, 2), Fraction(2)),
        (4, Fraction(1), Fraction(3)),
        (5, Fraction(0), _ONE * 2),
    ):
        rows = statement(k, share, ratio)
        where = f"k={k}, share={share}, C={ratio}"
        yield compare(tuple(sum(row) for row in rows), (_ONE,) * k, at=f"{where}: row sums")
        built = augmented_randomized_response().at(k=k, p=share, lam=ratio).channel()
        if all(sum(row) == 1 for row in rows):
            same = AnchoredLaw.from_channel(Channel(rows)) == AnchoredLaw.from_channel(built)
            yield decide(same, at=where, claimed="the library's mechanism")
            mixed = AnchoredLaw.from_channel(response_mixture(k, ((share, ratio),), (1 - share,)))
            yield decide(mixed == AnchoredLaw.from_channel(built), at=where, claimed="one block and one null symbol")


def _mixtures(k: Any, ratio: Any, root: Any, signal: Any) -> dict[str, Any]:
    """Budget and signal of a block, the optimum, in k, C and the root of k - 1, and n times the risk by signal."""
    cubic = ratio**3 + (2 * k - 1) * ratio**2 + (k + 1) * ratio + k - 1
    top = 2 * (k - 1) ** 2 + (k - 1) * (k + 2) * ratio - (3 * k - 2) * ratio**3 - 2 * ratio**4
    return {
        "chi": (ratio - 1) ** 2 * (ratio + 1) / (ratio * (ratio + k - 1)),
        "alpha": ((ratio - 1) / (ratio + k - 1)) ** 2,
        "best ratio": root,
        "threshold": (1 - 1 / root) ** 2,
        "slope": 1 / (1 + root) ** 2,
        "tangent": 2 * k * ratio**2 / ((ratio + k - 1) * cubic),
        "curvature": 2 * k * ratio * top / ((ratio + k - 1) ** 2 * cubic**2),
        "risk": (k - 1) / k * (1 / signal - 1),
    }


def _changed(**changes: Any) -> Statement:
    """The statement with some of its parts replaced."""
    return lambda k, ratio, root, signal: {
        **_mixtures(k, ratio, root, signal),
        **{name.replace("_", " "): change(k, ratio, root, signal) for name, change in changes.items()},
    }


def _check_blocks(said: dict[str, Any]) -> Iterator[Comparison]:
    """Parts (i) and (ii) for any blocks and users: a block of open weight, and all blocks by their signal A."""
    weight = sp.Symbol("zeta", positive=True)
    hit, miss = (weight * odds / (LAM + K - 1) for odds in (LAM, 1))
    spent = (miss - hit) ** 2 / hit + (hit - miss) ** 2 / miss  # outputs a and b; the others are equal at a and b
    beta = (LAM - 1) / (LAM + K - 1)
    # A user with input x sees (r, y), votes beta_r (e_y - 1/k)/A, and is at y with (hit - miss) e_x + miss: the mean
    # vote is the sum of (hit - miss) beta_r/A times e_x - 1/k, and its square the sum of total beta_r^2 (1 - 1/k)/A^2.
    found = (
        identity(spent, weight * said["chi"], at="any block, any two inputs: budget"),
        identity((hit - miss) * beta, weight * said["alpha"], at="any block: its part of A, in the mean vote"),
        identity(
            (hit + (K - 1) * miss) * beta**2, weight * said["alpha"], at="any block: its part of A, in the square"
        ),
    )
    yield from serving("blocks", found)
    variance = SIGNAL * (1 - 1 / K) / SIGNAL**2 - (1 - 1 / K)  # less the squared length of e_x - 1/k
    yield from serving("users", [identity(variance, said["risk"], at="any blocks, every user: squared error")])


def _check_mixtures(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k, C, r = sqrt(k-1) and signal: every stated number against the library's for subsets of size 1; symbolic.

    The curve is concave beyond C = r by signs of coefficients; any blocks and users by `_check_blocks`. Over Q: four
    mixtures with all pairs, votes and enumerated risks, and the certified frontier at k = 5 and 10.
    """
    size = ROOT**2 + 1
    said = statement(K, LAM, ROOT, SIGNAL)
    yield from _check_blocks(said)
    pairs = K * (K - 1)
    yield identity(subset_budget().subs(S, 1), said["chi"], at="every k, C: budget of a block")
    yield identity(subset_trace().subs(S, 1) / pairs, said["alpha"], at="every k, C: signal of a block")
    yield identity(critical_ratio().subs(S, 1).subs(K, size), said["best ratio"], at="every k: best ratio")
    yield identity(threshold_budget().subs(K, size), said["threshold"], at="every k: threshold")
    at_best = {K: size, LAM: said["best ratio"]}
    yield identity(subset_slope().subs(S, 1).subs(at_best) / pairs.subs(K, size), said["slope"], at="every k: slope")
    yield identity(tangent_slope() / pairs, said["tangent"], at="every k, C: slope of the curve")
    yield identity(sp.diff(said["tangent"], LAM), said["curvature"], at="every k, C: its derivative")
    root, slack = sp.symbols("q t", nonnegative=True)  # r = 1 + q, C = r + t
    beyond = {K: (1 + root) ** 2 + 1, LAM: 1 + root + slack}
    yield decide(
        nonnegative(-said["curvature"], beyond),
        at="every k, C >= sqrt(k-1)",
        claimed="the curve is concave",
        symbolic=True,
    )
    yield identity(
        said["tangent"].subs(at_best), said["slope"], at="every k: there the line from the origin is tangent"
    )
    for k, blocks, nulls in MIXTURES:
        spent = sum((w * statement(k, c, _ONE * 2, _ONE)["chi"] for w, c in blocks), start=Fraction(0))
        signal = sum((w * statement(k, c, _ONE * 2, _ONE)["alpha"] for w, c in blocks), start=Fraction(0))
        channel = response_mixture(k, blocks, nulls)
        law = AnchoredLaw.from_channel(channel)
        for x, y in itertools.permutations(range(k), 2):
            yield compare(law.pairwise_divergence(x, y), spent, at=f"k={k}, blocks {len(blocks)}, pair {x}, {y}")
        votes = output_votes(channel, law)
        for place, (_weight, c) in enumerate(blocks):
            beta = (c - 1) / (c + k - 1)
            own = tuple(beta / signal * (int(x == 0) - Fraction(1, k)) for x in range(k))
            yield compare(votes[place * k], own, at=f"k={k}, block {place}: vote")
        claimed = statement(Fraction(k), _ONE * 2, _ONE * 2, signal)["risk"]
        n = 3 if k == 3 and len(blocks) == 1 else 2
        for held in itertools.combinations_with_replacement(range(k), n):
            w = tuple(Fraction(held.count(x), n) for x in range(k))
            found, mean = enumerated_risk(channel, w, n=n, population="fixed")
            yield compare((n * found, mean), (claimed, w), at=f"k={k}, composition {held}, by enumeration")
    for k, root_of in ((5, Fraction(2)), (10, Fraction(3))):
        said = statement(Fraction(k), Fraction(2), root_of, _ONE)
        for share in (Fraction(1, 3), _ONE):
            budget = share * said["threshold"]
            best = trace_frontier(k, budget)
            yield compare(best.trace.exact, k * (k - 1) * said["slope"] * budget, at=f"k={k}, B={budget}: best signal")
            yield decide(passes(best.verify), at=f"k={k}, B={budget}", claimed="law and line check over Q")
        high = statement(Fraction(k), Fraction(7), root_of, _ONE)
        best = trace_frontier(k, high["chi"])
        yield compare(best.trace.exact, k * (k - 1) * high["alpha"], at=f"k={k}, C=7: calibrated response is best")


def _added(mass: Any) -> tuple[Any, Any, Any]:
    """What a null symbol adds to total mass, budget and signal."""
    return mass, 0 * mass, 0 * mass


def _check_split(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """An open symbol, where all inputs agree on it: what it adds to mass, budget and signal; symbolic.

    Two parts of open masses add up to one symbol. Three splittings at k = 4 over Q: mass and budget against the sum of
    the stated parts, and one law of templates.
    """
    u, v = sp.symbols("u v", positive=True)
    here, there, size = sp.symbols("g h k", positive=True)
    # A symbol with probability g at one input and h at the k - 1 others: mean probability, part of chi-square at two
    # inputs, mean times the square sum of the template about 1. It is null where h = g.
    mean = (here + (size - 1) * there) / size
    budget = (there - here) ** 2 / here
    signal = mean * ((here / mean - 1) ** 2 + (size - 1) * (there / mean - 1) ** 2)
    for found, said, what in zip((mean, budget, signal), statement(here), ("mass", "budget", "signal"), strict=True):
        yield identity(found.subs(there, here), said, at=f"every null symbol: {what}")
    alone = all(sp.solve(sp.numer(sp.factor(part)), there) == [here] for part in (budget, signal))
    yield decide(alone, at="h = g", claimed="no other symbol adds 0 to budget or signal", symbolic=True)
    parts = [sum(two) for two in zip(statement(u), statement(v), strict=True)]
    same = [identity(a, b, at="two parts add up to one") for a, b in zip(parts, statement(u + v), strict=True)]
    yield from serving("splittings", same)
    block = ((Fraction(1, 2), Fraction(3)),)
    whole = AnchoredLaw.from_channel(response_mixture(4, block, (Fraction(1, 2),)))
    for shares in ((Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)), (Fraction(1, 10),) * 10, (_ONE, Fraction(0))):
        law = AnchoredLaw.from_channel(response_mixture(4, block, tuple(share / 2 for share in shares)))
        where = f"k=4, split in {len(shares)}"
        added = [sum(found, start=Fraction(0)) for found in zip(*(statement(s / 2) for s in shares), strict=True)]
        yield compare(added[0], Fraction(1, 2), at=f"{where}: mass")
        yield compare(law.pairwise_divergence(0, 1) - whole.pairwise_divergence(0, 1), added[1], at=f"{where}: budget")
        yield decide(law == whole, at=where, claimed="the same law of templates, hence budget and risk")


CLAIMS: Final = (
    Claim(
        id="alphabets.def-10.1",
        kind="definition",
        title="augmented k-ary randomized response",
        text=(
            Clause("mixture", r"With probability $\zeta$ k-ary response at ratio $C$."),
            Clause("symbol", r"Otherwise the symbol $\bot$."),
        ),
        source="alphabets, Definition 10.1",
        assumptions=(r"$0\le\zeta\le1$, $C>1$",),
        scope="three channels, shares 0 and 1 among them",
        grade="exact-cases",
        printed=_augmented,
        check=_check_augmented,
        controls=(Control("normalised by C + k", lambda k, p, c: _augmented(k + 1, p, c)[:k]),),
        expected="definition",
        obligations=for_all("k", "share", "ratio", clause=("mixture", "symbol")),
    ),
    Claim(
        id="alphabets.thm-10.2",
        kind="statement",
        title="mixtures of k-ary responses and null symbols",
        text=(
            Clause("i", r"Budget $\sum\zeta_r\chi_k(C_r)$ and signal $A=\sum\zeta_r\alpha_k(C_r)$."),
            Clause("ii", r"Risk $\frac{k-1}{kn}(\frac1A-1)$ of an unbiased estimator of sum 1, at every composition."),
            Clause(
                "iii",
                r"$A^*(B)=B/(1+\sqrt{k-1})^2$ up to $(1-1/\sqrt{k-1})^2$, attained by augmented response at "
                r"$C=\sqrt{k-1}$, then $\alpha_k(C_B)$.",
            ),
        ),
        source="alphabets, Theorem 10.2",
        assumptions=(r"$k\ge3$",),
        scope=(
            "both curves, tangent and concavity for every k and C, budget and risk for any blocks and users; four "
            "mixtures with all pairs, votes, and enumerated "
            "risks at all compositions; certificates at k = 5 and 10"
        ),
        grade="proved",
        printed=_mixtures,
        check=_check_mixtures,
        controls=(
            Control("best ratio k - 1", _changed(best_ratio=lambda k, ratio, root, signal: root**2)),
            Control("threshold with k for k - 1", _changed(threshold=lambda k, *_: (1 - 1 / sp.sqrt(k)) ** 2)),
            Control("risk slope 1 % higher", _changed(slope=lambda k, c, root, signal: 101 / (1 + root) ** 2 / 100)),
            Control(
                "risk with 1 in place of 1/k", _changed(risk=lambda k, c, root, signal: (k - 1) * (1 / signal - 1))
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("k", clause=("i", "ii", "iii")),
            *for_all("ratio", clause=("i", "iii")),
            *for_all("blocks", clause="i"),
            *for_all("signal", "users", clause="ii"),
            *for_all("root", clause="iii"),
        ),
    ),
    Claim(
        id="alphabets.rem-10.5",
        kind="statement",
        title="null refinements",
        text=(
            Clause("mass", "Only the total mass of the null symbols matters for budget and risk."),
            Clause("additive", "Each adds its mass, and 0 to both."),
        ),
        source="alphabets, Remark 10.5",
        assumptions=("budget and signal are sums over symbols (Theorem 10.2)",),
        scope="every null symbol, two parts for many; k = 4, three splittings: equal laws of templates",
        grade="proved",
        printed=_added,
        check=_check_split,
        controls=(
            Control("a budget of its mass squared", lambda mass: (mass, mass**2, 0 * mass)),
            Control("1 % of mass lost", lambda mass: (mass * Fraction(99, 100), 0 * mass, 0 * mass)),
        ),
        expected="holds",
        obligations=for_all("mass", "splittings", clause=("mass", "additive")),
    ),
)
