"""Section 8: lower bounds on estimation from the pairwise budget next to a vertex."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._estimation import cramer_rao_trace, fisher_information
from proofs_checks.anchored import _cases as cases
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.linear import Vector, dot, rank
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import K, S, half_block, krr
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.lower_bounds import near_vertex_bound
from symshuffle.utility.frontiers.formulas import subset_budget

_CHI, _SHARE, _N = sp.symbols("chi theta n", positive=True)


def _near(k: int, share: Fraction, a: int = 0) -> Vector:
    """A composition with this share at ``a`` and the rest spread evenly."""
    return tuple(share if x == a else (1 - share) / (k - 1) for x in range(k))


@cache
def example_channels() -> tuple[Channel, ...]:
    """Three named channels and three random ones."""
    rng = np.random.default_rng(811)
    named = [krr().at(k=3, lam=4).channel(), krr().at(k=4, lam=2).channel(), cases.EXAMPLE]
    return (*named, *(cases.channel(rng, 3, 4) for _ in range(3)))


def _without_information(rows: Any, found: Any) -> Any:
    """Dimension of the contrasts that J takes to 0, from the number of rows and their rank."""
    return rows - found


def _check_identifiable(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every channel: what J takes to 0 are the relations between rows, and they are contrasts; symbolic.

    24 random channels and 3 half-blocks, exact rationals: dimension of the kernel of the projected information,
    recomputed from the rows, against the stated one; the information is the library's; its trace is finite where the
    stated dimension is 0.
    """
    # One output has probability x of input a, y of all others together and m of the mixture; another has the rest.
    x, y, mixture = sp.symbols("x y m", positive=True)
    v, rest = sp.symbols("v r", real=True)
    form = (v * v * x * x + 2 * v * rest * x * y + rest * rest * y * y) / mixture
    yield identity(form, (v * x + rest * y) ** 2 / mixture, at="every output: its part of v^T J v is a square over m")
    every_output = (v * x + rest * y) + (v * (1 - x) + rest * (1 - y))
    yield identity(every_output, v + rest, at="every relation between rows sums to 0: it is a contrast")
    # So J has the kernel of the transposed matrix of rows, of dimension k less its rank.
    rank_found = sp.Symbol("r", positive=True)
    yield identity(K - rank_found, statement(K, rank_found), at="every k and rank: dimension of the relations")
    chosen = [cases.channel(rng, 3 + i % 2, 2 + i % 4) for i in range(24)]
    chosen += [half_block().at(k=k, lam=3).channel() for k in (2, 4, 6)]
    for i, channel in enumerate(chosen):
        k = channel.num_inputs
        law, columns = AnchoredLaw.from_channel(channel), exact_columns(channel)
        w = cases.distribution(rng, k)
        claimed = statement(k, rank(columns))
        definite = cramer_rao_trace(law, w, n=1) < math.inf
        yield decide(definite == (claimed == 0), at=f"channel {i}, k={k}", claimed="definite")
        # From the rows themselves: J = sum_y W(y) W(y)^T / m(y), projected.
        mixed = [dot(w, column) for column in columns]
        raw = [
            [sum((c[a] * c[b] / m for c, m in zip(columns, mixed, strict=True)), start=Fraction(0)) for b in range(k)]
            for a in range(k)
        ]
        means = [sum(row, start=Fraction(0)) / k for row in raw]
        whole = sum(means, start=Fraction(0)) / k
        centred = tuple(tuple(raw[a][b] - means[a] - means[b] + whole for b in range(k)) for a in range(k))
        yield compare(k - 1 - rank(centred), claimed, at=f"channel {i}, k={k}: contrasts without information")
        yield compare(fisher_information(law, w), centred, at=f"channel {i}: information from the rows")


def _vertex_bound(k: Any, share: Any, chi: Any, n: Any) -> Any:
    """The bound where one input has the share."""
    return share * (k - 1) / (n * chi)


def _check_vertex(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open k, share, chi, n: edges at an input bound the trace of the information; symbolic.

    The harmonic mean of its eigenvalues gives the bound. k-ary response at the vertex for every k and C. Over Q: the
    Cramer-Rao trace of six channels at three compositions against the bound of every input, and three values at a
    vertex.
    """
    # (e_j - e_a)^T J (e_j - e_a) = sum (W_j - W_a)^2/m <= chi_aj/theta_a, since m >= theta_a W_a; the k-1 of them sum
    # to at least tr(Pi J Pi): for v in T, sum_j (v_j - v_a)^2 = |v|^2 + k v_a^2 with sum_{j != a} v_j = -v_a.
    v, q, others = sp.symbols("v q o")
    summed = (q - 2 * v * others + (K - 1) * v**2).subs(others, -v)
    yield identity(summed, (q + v**2) + K * v**2, at="every k: edges at a against the identity on contrasts")
    x, y = sp.symbols("x y", positive=True)
    yield identity(
        (x + y) * (1 / x + 1 / y), 4 + (x - y) ** 2 / (x * y), at="every pair of eigenvalues: sum and harmonic sum"
    )
    trace = (K - 1) * _CHI / _SHARE
    yield identity((K - 1) ** 2 / trace / _N, statement(K, _SHARE, _CHI, _N), at="every k: harmonic mean")
    # At the vertex itself, k-ary response: sum of vote variances, over the bound.
    vertex = (K - 1) * (2 * LAM + K - 2) / (LAM - 1) ** 2
    ratio = (2 * LAM + K - 2) * (LAM + 1) / (LAM * (LAM + K - 1))
    claimed = statement(K, sp.Integer(1), subset_budget().subs(S, 1), sp.Integer(1))
    yield identity(vertex / claimed, ratio, at="every k, C: k-ary response at the vertex")
    for i, channel in enumerate(example_channels()):
        law = AnchoredLaw.from_channel(channel)
        chi, k = Fraction(law.pairwise_budget()), channel.num_inputs
        for w in (_near(k, Fraction(99, 100)), _near(k, Fraction(1, k)), cases.distribution(rng, k)):
            exact = cramer_rao_trace(law, w, n=3)
            for a in range(k):
                yield compare(exact, statement(Fraction(k), w[a], chi, 3), ">=", at=f"channel {i}, input {a}, {w}")
    for k, limit in ((3, Fraction(15, 8)), (5, Fraction(7, 4)), (8, Fraction(5, 3))):
        law = AnchoredLaw.from_channel(krr().at(k=k, lam=2).channel())
        exact = cramer_rao_trace(law, (Fraction(1), *(Fraction(0),) * (k - 1)), n=1)
        yield compare(
            Fraction(exact) / statement(Fraction(k), Fraction(1), Fraction(law.pairwise_budget()), 1),
            limit,
            at=f"k={k}, C=2, at the vertex",
        )


def _minimax_vertex(k: Any, rho: Any, chi: Any, n: Any) -> Any:
    return (1 - rho) * (k - 1) / (n * chi)


def _check_minimax_vertex(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k, rho, n: the bound of Theorem 8.1 at share 1 - rho; symbolic.

    Six channels at two rho, n = 7, over Q: the worst trace over inputs is at least the bound, which is the library's.
    """
    trace = (K - 1) * _CHI / (1 - _SHARE)
    yield identity((K - 1) ** 2 / trace / _N, statement(K, _SHARE, _CHI, _N), at="every k, rho, n")
    for i, channel in enumerate(example_channels()):
        law = AnchoredLaw.from_channel(channel)
        chi, k = Fraction(law.pairwise_budget()), channel.num_inputs
        for rho in (Fraction(1, 100), Fraction(1, 2)):
            claimed = statement(Fraction(k), rho, chi, 7)
            worst = max(cramer_rao_trace(law, _near(k, 1 - rho, a), n=7) for a in range(k))
            yield compare(worst, claimed, ">=", at=f"channel {i}, rho={rho}, n=7")
            yield compare(near_vertex_bound(k, chi, rho=rho, n=7), claimed, at=f"channel {i}, rho={rho}: the library")


CLAIMS: Final = (
    Claim(
        id="alphabets.def-8.0",
        kind="definition",
        title="Fisher information on contrasts",
        text=(
            Clause("information", r"$I_n=n\Pi J_\theta\Pi$, $J_\theta=\sum_yw(y)w(y)^T/m_\theta(y)$.", "definition"),
            Clause("definite", "It is positive definite on contrasts exactly if the rows are linearly independent."),
        ),
        source="alphabets, Section 8",
        assumptions=("interior compositions",),
        scope="every channel, output by output, one input against all others; 27 channels at k = 2..6 from the rows",
        grade="proved",
        printed=_without_information,
        check=_check_identifiable,
        controls=(Control("rank k - 1 suffices", lambda rows, found: rows - 1 - found),),
        expected="definition",
        obligations=for_all("rows", "found", clause="definite"),
    ),
    Claim(
        id="alphabets.thm-8.1",
        kind="statement",
        title="near-vertex Cramer-Rao bound",
        text=r"Locally unbiased at $\theta$: $E|\hat\theta-\theta|^2\ge\theta_a(k-1)/(n\chi_*)$ for every input $a$.",
        source="alphabets, Theorem 8.1",
        assumptions=("independent rows, $0<\\theta_a<1$; the Cramer-Rao inequality",),
        scope="every k, share, n by the chain of the proof; six channels at three compositions and all inputs",
        grade="proved",
        printed=_vertex_bound,
        check=_check_vertex,
        controls=(
            Control("1/theta_a for theta_a", lambda k, share, chi, n: (k - 1) / (share * n * chi)),
            Control("k for k - 1", lambda k, share, chi, n: share * k / (n * chi)),
        ),
        expected="holds",
        obligations=for_all("k", "share", "chi", "n"),
    ),
    Claim(
        id="alphabets.cor-8.2",
        kind="statement",
        title="locally unbiased minimax bound",
        text=r"$\sup_\theta E|\hat\theta-\theta|^2\ge(1-\rho)(k-1)/(n\chi_*)$ for every $\rho\in(0,1)$.",
        source="alphabets, Corollary 8.2",
        assumptions=("independent rows; locally unbiased estimators",),
        scope="every k, rho, n; six channels at two shares",
        grade="proved",
        printed=_minimax_vertex,
        check=_check_minimax_vertex,
        controls=(Control("without 1 - rho", lambda k, rho, chi, n: (k - 1) / (n * chi)),),
        expected="holds",
        obligations=for_all("k", "rho", "chi", "n"),
    ),
)
