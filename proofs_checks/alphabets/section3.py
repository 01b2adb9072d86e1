"""Section 3: likelihood ratio of a histogram, compression to level sets, and the law that is left."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._extremes import half_block_channel
from proofs_checks.alphabets import _cases as cases
from symshuffle.base.choices import Direction, members
from symshuffle.base.results import passes
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import law_divergence
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
from symshuffle.utility.likelihood.law import LikelihoodRatio, Quotient, likelihood_quotient

ORDERS: Final = (Fraction(1), Fraction(6, 5), Fraction(3, 2))


def _term(n: Any, count: Any, ratio: Any) -> Any:
    """What the messages of one kind add to the likelihood ratio of a histogram."""
    return count * ratio / n


def _total(statement: Statement, n: Any, counts: Any, ratios: Any) -> Any:
    """Likelihood ratio of a histogram: the sum of its terms."""
    return sum(statement(n, c, g) for c, g in zip(counts, ratios, strict=True))


def _check_ratio(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open n and count, the other outputs as one factor: quotient of two multinomial masses, a summand; symbolic.

    Twelve random channels, n = 1, 2, 4: both histogram laws enumerated over Q, their quotients against the sum of the
    stated terms.
    """
    n, count = sp.symbols("n h", positive=True, integer=True)
    a, b, others = sp.symbols("a b o", positive=True)
    # Q(h) is a sum over the message y of the differing user. Both multinomials contain the other kinds of messages as
    # one factor o, the product of a^h/h! over them: any number of kinds.
    constant = sp.factorial(n) / sp.factorial(count) * a**count * others
    sent = b * sp.factorial(n - 1) / sp.factorial(count - 1) * a ** (count - 1) * others
    ratio = sp.gammasimp(sent / constant)
    yield identity(ratio, statement(n, count, b / a), at="every n, histogram and number of outputs: one summand")
    yield identity(statement(n, 0, b / a), 0, at="every n: outputs that nobody sent add nothing")
    for trial in range(12):
        channel = cases.channel(rng, 2, 3 + trial % 3)
        g = [b / a for a, b in zip(*channel.rows, strict=True)]
        for n in (1, 2, 4):
            constant, contaminated = cases.pair_laws(channel, n)
            for h, mass in constant.items():
                found = contaminated[h] / mass
                yield compare(found, _total(statement, n, h, g), at=f"channel {trial}, n={n}, histogram {h}")


def _check_compression(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open n and counts: terms of one ratio make the term of a block; step: one output more in a block; symbolic.

    So are merging of multinomials, the backward kernel, and the law given the block counts, the same under P and Q.
    Eleven channels with and without ties, n = 1, 2, 4, by `_same_experiment`; close ratios stay apart.
    """
    n = sp.Symbol("n", positive=True, integer=True)
    h, c = sp.symbols("h c", nonnegative=True, integer=True)
    w, v, o, r, t = sp.symbols("w v o r t", positive=True)
    # One output more in a block: by induction blocks of any size, and one block after the other.
    joined = statement(n, c, r) + statement(n, h, r)
    yield identity(joined, statement(n, c + h, r), at="every n: summands of one ratio make one of the block count")
    yield identity(statement(n, h, r), h * r / n, at="every n: the summand of Lemma 3.1")
    generating = (w * t + v * t + o) ** n
    yield identity(generating, ((w + v) * t + o) ** n, at="every n: one output more in a block: still multinomial")
    kernel = w / (w + v)
    yield identity((w + v) * kernel * r, w * r, at="every law: the backward kernel rebuilds row b, as it does row a")
    # P(h), P(c): probabilities of a histogram and of its block counts. As Q = L P with one L on all histograms of the
    # same counts, Q(c) = L(c) P(c), and both laws are the same given the counts.
    fine, coarse, rest = sp.symbols("P_h P_c L", positive=True)
    ratio = rest + statement(n, c, r)
    conditional = (rest + c * r / n) * fine / (ratio * coarse)
    at = "every n: law of a histogram given its block counts, under Q and under P"
    yield from serving("histograms", [identity(conditional, fine / coarse, at=at)])
    channels = [cases.channel(rng, 2, 3) for _ in range(4)] + [cases.tied_channel(rng, 3) for _ in range(5)]
    channels.append(Channel.from_rows([["1/3", "2/3"], ["1/3", "2/3"]]))
    near = Fraction(1, 10**9)
    channels.append(Channel(((near, near, 1 - 2 * near), (2 * near, (2 + near) * near, 1 - 4 * near - near * near))))
    for trial, channel in enumerate(channels):
        quotient = likelihood_quotient(channel, 0, 1)
        quotient.verify()
        yield from _same_experiment(statement, quotient, channel, trial)
    yield compare(len(likelihood_quotient(channels[-1], 0, 1).blocks), 3, at="ratios 2 and 2 + 1e-9 stay apart")
    yield compare(len(likelihood_quotient(channels[-2], 0, 1).blocks), 1, at="equal rows: one block")


def _check_false_quotient(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The certificate of a quotient of which one ratio is 1 % too large: its blocks do not rebuild the rows."""
    for trial in range(3):
        quotient = likelihood_quotient(cases.channel(rng, 2, 3), 0, 1)
        false = replace(quotient, ratios=(quotient.ratios[0] * Fraction(101, 100), *quotient.ratios[1:]))
        yield decide(passes(false.verify), at=f"case {trial}", claimed="the quotient is sufficient")


def _same_experiment(statement: Statement, quotient: Quotient, channel: Channel, trial: int) -> Iterator[Comparison]:
    """A channel and its quotient, n = 1, 2, 4, enumerated over Q: ratios, laws given the blocks, curves."""
    for n in (1, 2, 4):
        constant, contaminated = cases.pair_laws(channel, n)
        merged, merged_other = cases.pair_laws(quotient.channel, n)
        pushed: dict[Any, list[Fraction]] = {}
        for h, mass in constant.items():
            counts = quotient.push(h)
            both = pushed.setdefault(counts, [Fraction(0), Fraction(0)])
            both[0] += mass
            both[1] += contaminated[h]
            at = f"channel {trial}, n={n}, histogram {h}"
            ratio = _total(statement, n, counts, quotient.ratios)
            yield compare(contaminated[h] / mass, ratio, at=f"{at}: ratio by blocks")
            yield compare(
                mass * merged_other[counts], contaminated[h] * merged[counts], at=f"{at}: same law given its blocks"
            )
        yield compare(
            {counts: tuple(both) for counts, both in pushed.items()},
            {counts: (merged[counts], merged_other[counts]) for counts in merged},
            at=f"channel {trial}, n={n}: block counts are multinomial, under both",
        )
        for order in ORDERS:
            laws = ((contaminated, constant), (constant, contaminated))
            for way, (first, second) in zip(members(Direction), laws, strict=True):
                direct = law_divergence(first, second, order)
                found = quotient.law.profile(n, exp_eps=order, direction=way, arithmetic="exact").exact
                yield compare(found, direct, at=f"channel {trial}, n={n}, exp(eps)={order}, {way}")


def _rounded(ratio: Any) -> Any:
    """A ratio rounded to tenths."""
    return Fraction(round(10 * ratio), 10) if isinstance(ratio, Fraction) else ratio


def _reversed(value: Any, weight: Any) -> tuple[Any, Any]:
    """An atom of the reversed pair: reweighed by the ratio, then inverted."""
    return 1 / value, value * weight


def _check_invariant(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """An output of open masses: its ratio and weight under the reversed pair; symbolic.

    Over Q: eight reversed pairs and split outputs; half-blocks of k = 2 to 8 against binary response, ratio law and
    both curves; two laws of one chi-square with different curves.
    """
    a, b = sp.symbols("a b", positive=True)  # masses of one output
    ratio, weight = statement(b / a, a)
    yield identity(ratio, a / b, at="every output: ratio of the reversed pair")
    yield identity(weight, b, at="every output: its probability under the other row")
    for trial in range(8):
        channel = cases.channel(rng, 2, 4)
        law = LikelihoodRatio.of(channel, 0, 1)
        claimed = LikelihoodRatio.from_atoms(statement(v, w) for v, w in law.atoms())
        yield compare(LikelihoodRatio.of(channel, 1, 0), claimed, at=f"channel {trial}: reversed pair")
        shares = (Fraction(1, 4), Fraction(3, 4))
        split = Channel(tuple(tuple(s * x for x in row for s in shares) for row in channel.rows))
        yield compare(LikelihoodRatio.of(split, 0, 1), law, at=f"channel {trial}: every output split")
    lam, first = Fraction(3), LikelihoodRatio.of(cases.BRR, 0, 1)
    for k in (2, 4, 6, 8):
        channel = half_block_channel(k, lam)
        yield compare(LikelihoodRatio.of(channel, 0, k // 2), first, at=f"half-block, k={k}")
        for n in (1, 2, 3):
            constant, contaminated = cases.pair_laws(channel.restrict((0, k // 2)), n)
            for order in ORDERS:
                found = law_divergence(contaminated, constant, order), law_divergence(constant, contaminated, order)
                small = cases.pair_laws(cases.BRR, n)
                binary = law_divergence(small[1], small[0], order), law_divergence(small[0], small[1], order)
                yield compare(found, binary, at=f"half-block, k={k}, n={n}, exp(eps)={order}: as two inputs")
    # The chi-square alone is no complete invariant: two laws of chi-square 1/4, of different third moments.
    low = LikelihoodRatio.from_atoms([(Fraction(1, 2), Fraction(1, 2)), (Fraction(3, 2), Fraction(1, 2))])
    skew = LikelihoodRatio.from_atoms([(Fraction(3, 4), Fraction(4, 5)), (Fraction(2), Fraction(1, 5))])
    yield compare(low.chi_square, skew.chi_square, at="two laws: one chi-square")
    curves = [x.profile(3, exp_eps="6/5", direction="forward", arithmetic="exact").exact for x in (low, skew)]
    yield decide(curves[0] != curves[1], at="two laws: different curves", claimed="the law decides, not its variance")


CLAIMS: Final = (
    Claim(
        id="alphabets.lem-3.1",
        kind="statement",
        title="likelihood ratio of a histogram",
        text=r"$L_n(h)=\frac{dQ}{dP}(h)=\frac1n\sum_yh_yg_{ab}(y)$.",
        source="alphabets, Lemma 3.1",
        assumptions=("finite ratios", "a histogram of positive probability"),
        scope="every n, histogram and number of outputs, summand by summand; 12 channels, n = 1, 2, 4 by enumeration",
        grade="proved",
        printed=_term,
        check=_check_ratio,
        controls=(
            Control("a quotient with one ratio 1 % off", _term, _check_false_quotient),
            Control("divided by n + 1", lambda n, count, ratio: _term(n + 1, count, ratio)),
            Control("inverse ratios", lambda n, count, ratio: _term(n, count, 1 / ratio)),
            Control(
                "right at n = 1, 2 and 4",
                lambda n, count, ratio: _term(n, count, ratio) + (n - 1) * (n - 2) * (n - 4) * count,
            ),
        ),
        expected="holds",
        obligations=for_all("n", "count", "ratio"),
    ),
    Claim(
        id="alphabets.thm-3.2",
        kind="statement",
        title="compression to level sets of the ratio",
        text=(
            Clause("counts", "Block counts are multinomial $(n,(q_r))$ under $P$."),
            Clause("ratio", r"$L_n=\frac1n\sum_rrN_r$."),
            Clause("rebuilt", "The backward kernel rebuilds both histogram laws: the experiments are equivalent."),
        ),
        source="alphabets, Theorem 3.2",
        assumptions=("finite ratios",),
        scope="every n and blocks of any size, one output after the other; law given the counts; 11 channels with and "
        "without ties, n = 1, 2, 4: all histograms and both directed curves, kernel rebuilt exactly",
        grade="proved",
        printed=_term,
        check=_check_compression,
        controls=(
            Control("counts one per cent too heavy", lambda n, c, r: _term(n, c * Fraction(101, 100), r)),
            Control("ratios rounded to tenths", lambda n, c, r: _term(n, c, _rounded(r))),
        ),
        expected="holds",
        obligations=(
            *for_all("n", "count", clause=("counts", "ratio")),
            *for_all("ratio", clause="ratio"),
            *for_all("histograms", clause="rebuilt"),
        ),
    ),
    Claim(
        id="alphabets.cor-3.3",
        kind="statement",
        title="the ratio law is the invariant",
        text=(
            Clause("only the law", r"The canonical experiment depends on $(W,a,b)$ through $\nu_{ab}$ only."),
            Clause("reversed", r"$\nu_{ba}$ is the image of $x\,\nu_{ab}(dx)$ under $x\mapsto1/x$."),
            Clause("alphabet", "The size of the alphabet is no invariant."),
        ),
        source="alphabets, Corollary 3.3",
        assumptions=(
            "finite ratios",
            "Theorem 3.2: block counts are the experiment",
        ),
        scope="reversal for every output symbolically; half-blocks of 2, 4, 6, 8 and split outputs by enumeration",
        grade="proved",
        printed=_reversed,
        check=_check_invariant,
        controls=(
            Control("not reweighed", lambda value, weight: (1 / value, weight)),
            Control("reweighed by the square", lambda value, weight: (1 / value, value**2 * weight)),
        ),
        expected="holds",
        obligations=for_all("value", "weight", clause=("reversed", "only the law", "alphabet")),
    ),
)
