"""Section 5: the canonical estimator and its exact risks."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._simulation import simulated_errors
from proofs_checks.anchored import _cases as cases
from proofs_checks.anchored.section5 import moment_matrices, points, trace_of
from symshuffle.base.choices import Population
from symshuffle.channels.channel import Channel, direct_sum, exact_columns
from symshuffle.channels.geometry.linear import Matrix, Vector, dot, inverse, product
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.mechanisms.finite import subset_selection
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import (
    canonical_risk,
    enumerated_risk,
    inverse_trace,
    output_votes,
    template_votes,
    worst_canonical_risk,
)
from symshuffle.utility.frontiers.orbit import symmetrize

ZERO: Final = Fraction(0)
Atoms = Sequence[tuple[Vector, Fraction]]


def _singular(law: AnchoredLaw) -> Any:
    """The risk at a singular covariance."""
    return math.inf


def _check_singular(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 10 random channels with fewer outputs than inputs: the library's risk at uniform against the stated.

    Their inverse trace is infinite.
    """
    for trial in range(10):
        k = 3 + trial % 2
        law = AnchoredLaw.from_channel(cases.channel(rng, k, 2))
        uniform = (Fraction(1, k),) * k
        found = canonical_risk(law, uniform, n=k, population="iid")
        yield decide(
            found == statement(law), at=f"{k} inputs, 2 outputs", claimed=str(statement(law)), computed=str(found)
        )
        yield decide(inverse_trace(law) == math.inf, at=f"{k} inputs, 2 outputs", claimed="infinite inverse trace")


def _share_by_covariance(first: Any, second: Any) -> bool:
    """Whether two laws of these covariances have the same estimator, as a function of the templates of the messages."""
    return bool(first == second)


def _share_for_all(statement: Statement) -> Iterator[Comparison]:
    """The vote of a message x is T^-1 x, and its mean under row i of a law of covariance S is T^-1 S a_i.

    It is a_i for all rows, whose vertices span, exactly if T^-1 S = I; multiplied by T, that is S = T.
    """
    m = sp.Symbol("m", integer=True, positive=True)
    s, t, vertex = sp.MatrixSymbol("S", m, m), sp.MatrixSymbol("T", m, m), sp.MatrixSymbol("a", m, 1)
    own = (s.inv() * s * vertex).doit() == vertex
    at = "any channel: unbiased with the estimator of its covariance"
    yield decide(own is statement(s, s), at=at, claimed=str(statement(s, s)), symbolic=True)
    unbiased = sp.Identity(m)  # what T^-1 S would have to be
    forced = (t * (t.inv() * s)).doit() == s and (t * unbiased).doit() == t
    at = "any channel: unbiased with the estimator of T only if S = T, so not of another covariance"
    yield decide(forced is not statement(s, t), at=at, claimed=str(statement(s, t)), symbolic=True)


def _check_dependence(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For any two covariances: one estimator is unbiased for both exactly if they are equal, as stated; symbolic.

    Then a channel and its dilution, and two laws of equal covariance: whether the estimators agree, and whether mean
    votes recover the truth, in exact rationals.
    """
    yield from _share_for_all(statement)
    flat = Channel(tuple(tuple((entry + Fraction(1, 3)) / 2 for entry in row) for row in cases.EXAMPLE.rows))
    singles, pairs = (subset_selection().at(k=4, s=s, lam=3).channel() for s in (1, 2))
    share = AnchoredLaw.from_channel(pairs).trace() / AnchoredLaw.from_channel(singles).trace()
    silence = Channel(((Fraction(1),),) * 4)
    matched = direct_sum([singles, silence], [share, 1 - share])
    for at, one, other in (
        ("the example and its dilution by one half", cases.EXAMPLE, flat),
        ("two laws of equal covariance: pairs of 4 and diluted 4-ary response", pairs, matched),
    ):
        laws = [AnchoredLaw.from_channel(channel) for channel in (one, other)]
        k = one.num_inputs
        truth = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4), ZERO)[:k]
        units = [[Fraction(i == j) for j in range(k)] for i in range(k)]
        estimators = [template_votes(law, units) for law in laws]
        claimed = statement(*(law.covariance() for law in laws))
        yield compare(laws[0] == laws[1], False, at=f"{at}: different laws")
        yield compare(estimators[0] == estimators[1], claimed, at=f"{at}: one estimator")
        mixed = [dot(truth, column) for column in exact_columns(other)]
        for which, name in ((1, "its own estimator"), (0, "the one of the other")):
            votes = output_votes(other, laws[which])
            means = tuple(Fraction(1, k) + dot(mixed, vote) for vote in zip(*votes, strict=True))
            yield compare(means == truth, which == 1 or claimed, at=f"{at}: unbiased with {name}")


def _fixed_risk(size: Any, square: Any, n: Any, k: Any) -> Any:
    """The risk when exactly n w_i users hold i.

    ``size`` is the average of tr(Sigma^-1 M_i Sigma^-1) over the composition, ``square`` its squared length.
    """
    return (size - (1 - 1 / k)) / n


def _iid_risk(size: Any, square: Any, n: Any, k: Any) -> Any:
    """The risk when users draw from w."""
    return _fixed_risk(size, square, n, k) + (1 - square) / n


def _of_law(statement: Statement, moments: tuple[Matrix, list[Matrix]], w: Vector, n: int) -> Fraction:
    """A risk from the moment matrices in a gauge."""
    sigma, rows = moments
    inverted = inverse(sigma)
    assert inverted is not None
    sizes = [trace_of(product(product(inverted, m), inverted)) for m in rows]
    return Fraction(statement(dot(w, sizes), dot(w, w), Fraction(n), Fraction(len(w))))


def _risk_for_all(population: Population, statement: Statement) -> Iterator[Comparison]:
    """The risk of any channel whose covariance S is invertible, as algebra of S and of one vertex a = a_i.

    Under row i a message has mean S a (its law has density 1 + <a, x>, and x has mean 0 without it) and second moment
    M_i. The vote S^-1 x is summed over users and divided by n.
    """
    m = sp.Symbol("m", integer=True, positive=True)
    s, vertex = sp.MatrixSymbol("S", m, m), sp.MatrixSymbol("a", m, 1)
    mean = (s.inv() * (s * vertex)).doit()
    yield decide(mean == vertex, at="any channel: the mean vote under a row is its vertex", claimed="a", symbolic=True)
    centre = (s.inv() * (s * vertex) * (s * vertex).T * s.inv()).doit().subs(s.T, s).doit()
    outer = (vertex * vertex.T).doit()
    at = "any channel: what is subtracted from the second moment of a vote"
    yield decide(centre == outer, at=at, claimed="a a^T", symbolic=True)
    k, n, count, first, square = sp.symbols("k n N_i s_i Q", positive=True)
    length, apart = 1 - 1 / k, -1 / k  # <a_i, a_i> and <a_i, a_j>
    if population == "fixed":
        # N_i = n w_i independent users of row i have variance s_i - |a_i|^2 each, over n^2. Two rows; for more the
        # second stands for the average of all others.
        second = sp.Symbol("s_j", positive=True)
        total = (count * (first - length) + (n - count) * (second - length)) / n**2
        size = (count * first + (n - count) * second) / n
        yield identity(total, statement(size, square, n, k), at="n users of which N_i hold i")
    else:
        # One user has the mean vote b = sum of w_i a_i, and |b|^2 = Q |a|^2 + (1 - Q) <a_i, a_j>.
        size = sp.Symbol("s", positive=True)
        shift = sp.expand(square * length + (1 - square) * apart)
        yield identity((size - shift) / n, statement(size, square, n, k), at="n independent users")
        tau = sp.Symbol("tau", positive=True)
        # Exchangeable: S = tau/(k - 1) I, and every M_i has the trace tau of S, their average.
        moment, dimension = sp.MatrixSymbol("M", m, m), sp.Symbol("tr", positive=True)
        scaled = sp.trace((moment * ((k - 1) / tau) ** 2).doit()).doit()
        vote = scaled.subs(sp.trace(moment), dimension).subs(dimension, tau)
        at = "exchangeable: the risk at uniform, from the covariance tau/(k - 1) I"
        yield identity(statement(vote, 1 / k, n, k), (k - 1) ** 2 / (tau * n), at=at)
        away = statement(size, 1 / k, n, k) - statement(size, square, n, k)
        yield identity(away, (square - 1 / k) / n, at="exchangeable: what is lost away from uniform, Q >= 1/k")


def _check_risk(population: Population, statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any channel, k, n, w: the risk by algebra of moments against the stated one; symbolic.

    Then 8 random channels with 4 inputs, those with a singular covariance left out: the risk over all histograms, the
    library's closed form and its worst composition, in exact rationals.
    """
    yield from _risk_for_all(population, statement)
    gauge = cases.gauges()[1]
    for trial in range(8):
        channel = cases.channel(rng, 4, 4, zeros=0.1)
        law, n = AnchoredLaw.from_channel(channel), 1 + trial % 3
        if inverse_trace(law) == math.inf:
            continue
        held = [int(v) for v in rng.multinomial(n, [0.25] * 4)]
        w = tuple(Fraction(v, n) for v in held) if population == "fixed" else cases.distribution(rng, 4)
        brute, mean = enumerated_risk(channel, w, n=n, population=population)
        where = f"channel {trial}, n={n}, w={tuple(map(str, w))}"
        atoms = points(law, gauge)
        claimed = _of_law(statement, moment_matrices(atoms, gauge.rows), w, n)
        yield compare(brute, claimed, at=f"{where}: by enumeration")
        yield compare(canonical_risk(law, w, n=n, population=population), brute, at=f"{where}: closed form")
        yield compare(mean, w, at=f"{where}: unbiased")
        worst, argument = worst_canonical_risk(law, n=n, population=population)
        others = [cases.distribution(rng, 4, zeros=0.3) for _ in range(5)]
        grid = [_vertex(i) for i in range(4)] if population == "fixed" else others
        for other in grid:
            value = canonical_risk(law, other, n=n, population=population)
            yield compare(value, worst, "<=", at=f"{where}: worst composition {tuple(map(str, argument))}")


def _vertex(i: int) -> Vector:
    return tuple(Fraction(int(i == j)) for j in range(4))


def _check_fixed(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For fixed compositions: all of :func:`_check_risk`, and the example averaged over constant populations; exact."""
    yield from _check_risk("fixed", statement, rng)
    law = AnchoredLaw.from_channel(cases.EXAMPLE)
    risks = [canonical_risk(law, [Fraction(i == j) for j in range(3)], n=1, population="fixed") for i in range(3)]
    mean = sum((Fraction(risk) for risk in risks), start=ZERO) / 3
    yield compare(mean, inverse_trace(law) - Fraction(2, 3), at="the example: average over constant populations")


def _check_exchangeable(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For exchangeable laws the risk is that at uniform less the squared distance to it."""
    gauge = cases.gauges()[1]
    for s, lam in ((1, 2), (2, 3), (3, Fraction(5, 2))):
        channel = subset_selection().at(k=4, s=s, lam=lam).channel()
        law = AnchoredLaw.from_channel(channel)
        matrices = moment_matrices(points(law, gauge), gauge.rows)
        top = _of_law(statement, matrices, (Fraction(1, 4),) * 4, 1)
        yield compare(top, 9 / law.trace(), at=f"exchangeable, s={s}, lam={lam}: risk at uniform")
        for trial in range(4):
            w = cases.distribution(rng, 4, zeros=0.3)
            away = dot(w, w) - Fraction(1, 4)
            where = f"exchangeable, s={s}, lam={lam}, w={tuple(map(str, w))}"
            n = 1 + trial % 2
            brute, _ = enumerated_risk(channel, w, n=n, population="iid")
            yield compare(n * brute, top - away, at=f"{where}, n={n}: by enumeration")
            yield compare(_of_law(statement, matrices, w, n), brute, at=f"{where}, n={n}")
            yield compare(away > 0, w != (Fraction(1, 4),) * 4, at=f"{where}: below the risk at uniform elsewhere")


def _check_iid(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For independent users: all of :func:`_check_risk`, exchangeable laws, worst case of the example; exact.

    A seeded simulation at n = 40 is within 5 standard errors of the library's risk.
    """
    yield from _check_risk("iid", statement, rng)
    yield from _check_exchangeable(statement, rng)
    law = AnchoredLaw.from_channel(cases.EXAMPLE)
    value, argument = worst_canonical_risk(law, n=1, population="iid")
    yield compare(
        (value, argument), (Fraction(53361, 5000), (ZERO, Fraction(31, 100), Fraction(69, 100))), at="the example"
    )
    even = symmetrize(law)
    value, argument = worst_canonical_risk(even, n=1, population="iid")
    yield compare(
        (value, argument), (4 / even.trace(), (Fraction(1, 3),) * 3), at="the example, symmetrised: worst at uniform"
    )
    truth = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    runs = simulated_errors(cases.EXAMPLE, truth, n=40, population="iid", rng=rng, repetitions=10_000) ** 2
    estimate, error = float(runs.mean()), float(runs.std(ddof=1)) / 100
    exact = canonical_risk(law, truth, n=40, population="iid")
    yield decide(
        abs(estimate - float(exact)) < 5 * error, at="n=40, 10^4 seeded runs", claimed="within 5 standard errors"
    )


CLAIMS: Final = (
    Claim(
        id="anchored.conv-5.3",
        kind="definition",
        title="the risk at a singular covariance",
        text=r"If $\Sigma$ is singular the canonical risks are $+\infty$.",
        source="anchored, Convention 5.3",
        assumptions=(),
        scope="10 random channels with fewer outputs than inputs",
        grade="exact-cases",
        printed=_singular,
        check=_check_singular,
        controls=(Control("the value of the pseudo-inverse", lambda law: 1 / law.trace()),),
        expected="definition",
    ),
    Claim(
        id="anchored.rem-5.4",
        kind="statement",
        title="the estimator needs to know the covariance",
        text=(
            Clause(
                "shared",
                r"The canonical estimator depends on $\mu$ through $\Sigma$: two laws share it, as a function of "
                "the templates of the messages, exactly if their covariances are equal.",
            ),
            Clause("biased", "Used on a channel of another covariance it is biased."),
            Clause("unbiased", "On a different channel of the same covariance it is not."),
        ),
        source="anchored, Remark 5.4",
        assumptions=(r"$\Sigma$ invertible",),
        scope="any two covariances; a channel and its dilution by one half; two different laws of equal covariance",
        grade="proved",
        printed=_share_by_covariance,
        check=_check_dependence,
        controls=(
            Control("one estimator for all", lambda first, second: True),
            Control("no two laws share an estimator", lambda first, second: False),
        ),
        expected="holds",
        obligations=for_all("first", "second", clause=("shared", "biased", "unbiased")),
    ),
    Claim(
        id="anchored.prop-5.5",
        kind="statement",
        title="fixed-composition risk",
        text=(
            Clause(
                "risk",
                r"$E\hat w=w$ and $R_{\rm "
                r"fix}(w)=\frac1n[\sum_iw_i\operatorname{tr}(\Sigma^{-1}M_i\Sigma^{-1})-(1-\frac1k)]$, affine in "
                "$w$, so that a vertex is worst.",
            ),
            Clause(
                "vertices",
                r"Its mean over vertices is $\frac1n[\operatorname{tr}\Sigma^{-1}-(1-\frac1k)]$.",
            ),
        ),
        source="anchored, Proposition 5.5",
        assumptions=(r"$\Sigma$ invertible, $nw$ integer",),
        scope="any channel, k, n, w; 8 random channels of 4 inputs, n <= 3, all histograms; vertices are worst",
        grade="proved",
        printed=_fixed_risk,
        check=_check_fixed,
        controls=(
            Control("subtracting 1", lambda size, q, n, k: _fixed_risk(size, q, n, k) - 1 / (k * n)),
            Control("without the share of the uniform", lambda size, q, n, k: (size - 1) / n),
        ),
        expected="holds",
        obligations=for_all("size", "square", "n", "k", clause=("risk", "vertices")),
    ),
    Claim(
        id="anchored.prop-5.7",
        kind="statement",
        title="i.i.d. risk",
        text=(
            Clause(
                "risk",
                r"$R_{\rm iid}(w)=\frac1n[\sum_iw_i\operatorname{tr}(\Sigma^{-1}M_i\Sigma^{-1})-|w|^2+\frac1k]$.",
            ),
            Clause(
                "exchangeable",
                r"For exchangeable $\mu$ it is $\frac1n[\frac{(k-1)^2}{\operatorname{tr}\Sigma}-|w-\frac1k|^2]$, "
                "largest at uniform $w$.",
            ),
        ),
        source="anchored, Proposition 5.7",
        assumptions=(r"$\Sigma$ invertible",),
        scope="any channel, k, n, w; 8 random and 3 exchangeable channels, n <= 3, all histograms; a simulation",
        grade="proved",
        printed=_iid_risk,
        check=_check_iid,
        controls=(
            Control("the fixed-composition risk", _fixed_risk),
            Control(
                "the variance of the empirical composition over n + 1",
                lambda size, q, n, k: _fixed_risk(size, q, n, k) + (1 - q) / (n + 1),
            ),
        ),
        expected="holds",
        obligations=for_all("size", "square", "n", "k", clause=("risk", "exchangeable")),
    ),
)
