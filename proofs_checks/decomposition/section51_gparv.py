"""Section 5.1: the amplification variable G and the divergence as a positive part of its sum."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    PAIR,
    Excess,
    atoms,
    distribution,
    height,
    key_identity,
    labelled_channels,
    named_channels,
    one_over,
    open_height,
    open_rows,
    same_law,
)
from symshuffle.channels.law import collected
from symshuffle.decompositions.clones import standard_clone_pair
from symshuffle.decompositions.model import ReductionPair, primary_decomposition
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import augmented_randomized_response, krr
from symshuffle.mechanisms.symbolic import EXP_EPS

LDP = (
    ("rr", {"lam": 3}),
    ("krr", {"lam": 3, "k": 4}),
    ("subset-selection", {"lam": 2, "k": 4, "s": 2}),
    ("half-block", {"lam": 3, "k": 4}),
)
NOT_LDP = (("erasure", {"k": 3, "p": "1/3"}), ("identity", {"k": 3}))

Atoms = Sequence[tuple[Any, Any]]


# -- decomposition.thm-12, with Appendix C


def ratios(a0: Any, a1: Any, a2: Any, exp_eps: Any) -> list[tuple[Any, Any]]:
    """The atoms (A_0 - exp(eps) A_1)/A_2, with their masses under A_2."""
    return [((a - exp_eps * b) / c, c) for a, b, c in zip(a0, a1, a2, strict=True) if c]


def _identity_of_sums(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """What one cell adds to the sum, at open masses, counts and n: the ratio of weights against the statement's terms.

    Symbolic, and so is the whole divergence for n = 1 and 2. Then eleven pairs of laws, both directions, three orders,
    n <= 4: histograms against sequences of atoms and the library's engine, in rationals.
    """
    yield from key_identity(statement)
    rows, x = open_rows()
    others, first, second = (row[:2] for row in rows)
    for n in (1, 2):
        computed = open_height(first, second, others, x, n, residual=False)
        at = f"two cells with open masses, any exp(eps), n={n}"
        yield identity(computed, height(statement(first, second, others, n, x)), at=at)
    pairs = [
        (f"A0, A1, A2 = {laws}", ReductionPair(*laws))
        for laws in (tuple(distribution(rng, 3, zeros=1 / 6 if i < 2 else 0.0) for i in range(3)) for _ in range(8))
    ]
    pairs += [("standard clone, lam=2", standard_clone_pair(Fraction(2)))]
    pairs += [(label, primary_decomposition(w, PAIR).reduction_pair()) for label, w in named_channels(*LDP[:2])]
    yield from _sums(statement, pairs)


def _sums(statement: Statement, pairs: list[tuple[str, ReductionPair]]) -> Iterator[Comparison]:
    """The divergence of a pair's histograms against the stated sum over sequences, and against the library's engine."""
    for label, pair in pairs:
        for n in (1, 2, 3, 4) if len(pair.a2) < 4 else (1, 2):
            for exp_eps in (Fraction(1), Fraction(6, 5), Fraction(2)):
                for direction, (i, j) in DIRECTIONS:
                    laws = (pair.a0, pair.a1)
                    claimed = height(statement(laws[i], laws[j], pair.a2, n, exp_eps))
                    computed = pair.divergence(n, exp_eps, direction=direction)
                    at = f"{label}, n={n}, exp(eps)={exp_eps}, {direction}"
                    yield compare(computed, claimed, at=at)
                    engine = Exact().bracket(pair.gparv(exp_eps, direction=direction), n).exact
                    yield compare(engine, computed, at=f"library engine, {at}")


def _not_dominated(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The same for channels whose pair sends outputs of blanket mass 0."""
    labelled = named_channels(*NOT_LDP)
    yield from _sums(statement, [(label, primary_decomposition(w, PAIR).reduction_pair()) for label, w in labelled])


def _mean_excess(a0: Any, a1: Any, a2: Any, n: Any, exp_eps: Any) -> Excess:
    """The sum as printed: E[G_1 + ... + G_n]_+ over n."""
    return one_over(n), n, ratios(a0, a1, a2, exp_eps), Fraction(0)


def _without_idle(a0: Any, a1: Any, a2: Any, n: Any, exp_eps: Any) -> Excess:
    """The same after dropping the cells that neither A0 nor A1 charges."""
    kept = [j for j, (a, b) in enumerate(zip(a0, a1, strict=True)) if a or b]
    first, second, others = ([law[j] for j in kept] for law in (a0, a1, a2))
    return _mean_excess(first, second, others, n, exp_eps)


THM_12 = Claim(
    id="decomposition.thm-12",
    kind="statement",
    title="divergence of a histogram pair as a positive part of a sum",
    text=r"For laws $A_0,A_1\ll A_2$, the histograms of one draw of $A_b$ and $n-1$ draws of $A_2$ have "
    r"$D_{e^\varepsilon}(P_0\Vert P_1)=\frac1n E[\sum_{i\le n}G_i]_+$ with independent copies of "
    r"$G=\frac{A_0(y)-e^\varepsilon A_1(y)}{A_2(y)}$, $y\sim A_2$.",
    source="decomposition, Theorem 12, Section 5.1 and Appendix C",
    assumptions=("A0 and A1 are absolutely continuous with respect to A2",),
    scope="what a cell adds, for any cell, count and n; histograms against sequences for eleven pairs, both "
    "directions, n <= 4",
    grade="proved",
    printed=_mean_excess,
    check=_identity_of_sums,
    obligations=for_all("a0", "a1", "a2", "n", "exp_eps"),
    controls=(
        Control(
            "1/(n + 1) instead of 1/n", lambda a0, a1, a2, n, x: (one_over(n + 1), *_mean_excess(a0, a1, a2, n, x)[1:])
        ),
        Control("cells that neither A0 nor A1 charges are dropped", _without_idle),
        Control("laws that A2 does not dominate", _mean_excess, _not_dominated),
    ),
    expected="holds",
)


# -- decomposition.def-9


def parv(rows: Any, pair: tuple[int, int], exp_eps: Any, *, rest: Any = None) -> tuple[Atoms, Atoms]:
    """Atoms of L and of G as defined from the blanket distribution."""
    floor = [min(column) for column in zip(*rows, strict=True)]
    gamma = sum(floor, Fraction(0))
    omega = [mass / gamma for mass in floor]
    x, y = (rows[i] for i in pair)
    plain = [((a - exp_eps * b) / w, w) for a, b, w in zip(x, y, omega, strict=True) if w]
    general = [(value / gamma, gamma * mass) for value, mass in plain]
    return plain, [*general, (Fraction(0), 1 - gamma if rest is None else rest)]


def _amplification(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Ten LDP channels, three orders, both directions: the library's law of G against the stated atoms, and both means.

    In rationals. The mean of G is 1 - exp(eps) for k-RR and augmented response in open parameters.
    """
    for mechanism in (krr(), augmented_randomized_response()):
        law = optimal_decomposition(mechanism).gparv()
        mean = sum(value * mass for value, mass in law)
        yield identity(mean, 1 - EXP_EPS, at=f"E[G] of {mechanism.name}, open parameters")
    labelled = named_channels(*LDP) + labelled_channels(rng, 6, ((3, 3), (4, 2)))
    for label, channel in labelled:
        for exp_eps in (Fraction(1), Fraction(6, 5), Fraction(5)):
            for direction, pair in DIRECTIONS:
                plain, general = statement(channel.rows, pair, exp_eps)
                computed = primary_decomposition(channel, PAIR).reduction_pair().gparv(exp_eps, direction=direction)
                claimed = dict(zip(*collected(general), strict=True))
                at = f"{label}, exp(eps)={exp_eps}, {direction}"
                yield same_law(atoms(computed), claimed, at=f"law of G, {at}")
                for name, law in (("L", plain), ("G", general)):
                    mean = sum((value * mass for value, mass in law), Fraction(0))
                    yield compare(mean, 1 - exp_eps, at=f"E[{name}], {at}")


DEF_9 = Claim(
    id="decomposition.def-9",
    kind="definition",
    title="amplification variable, plain and with the residual atom",
    text=(
        Clause("L", r"$L=\frac{R(x)(W)-e^\varepsilon R(x')(W)}{\omega(W)}$ with $W\sim\omega$."),
        Clause("G", r"$G=L/\gamma$ with probability $\gamma$ and 0 otherwise."),
        Clause("same variable", "$G$ is the variable of Theorem 12 for the primary decomposition."),
        Clause("mean", r"Both have mean $1-e^\varepsilon$."),
    ),
    source="decomposition, Definition 9",
    assumptions=("gamma > 0", "the blanket charges every output of the pair"),
    scope="mean for two mechanisms in open parameters; laws for ten channels, both directions",
    grade="exact-cases",
    printed=parv,
    check=_amplification,
    controls=(
        Control(
            "residual atom of weight gamma",
            lambda rows, pair, x: parv(rows, pair, x, rest=sum(min(c) for c in zip(*rows, strict=True))),
        ),
        Control("the pair exchanged", lambda rows, pair, x: parv(rows, pair[::-1], x)),
    ),
    expected="definition",
    obligations=for_all("rows", "pair", "exp_eps", clause=("L", "G", "same variable", "mean")),
)

CLAIMS: tuple[Claim, ...] = (THM_12, DEF_9)
