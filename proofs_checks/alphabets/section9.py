"""Section 9: averaging over all relabellings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._symmetry import symmetrize_channel
from proofs_checks._templates import is_exchangeable
from proofs_checks.alphabets._equivariant import response_mixture
from proofs_checks.anchored import _cases as cases
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.groups import cyclic_group
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
from symshuffle.mechanisms.finite import K
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import inverse_trace
from symshuffle.utility.frontiers.orbit import symmetrize


def _averaged(channel: Channel) -> dict[tuple[int, tuple[int, ...], int], Fraction]:
    """Probability of output (permutation, y) at each input: entries of the relabelled rows over k!."""
    k, columns = channel.num_inputs, exact_columns(channel)
    return {
        (x, sigma, y): columns[y][sigma[x]] / math.factorial(k)
        for sigma in itertools.permutations(range(k))
        for x in range(k)
        for y in range(channel.num_outputs)
    }


def _unpublished(channel: Channel) -> dict[tuple[int, tuple[int, ...], int], Fraction]:
    """As if the permutation were not published: the same row mean for all inputs."""
    k, columns = channel.num_inputs, exact_columns(channel)
    return {key: sum(columns[key[2]], start=Fraction(0)) / k / math.factorial(k) for key in _averaged(channel)}


def _check_averaged(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Four random channels, k = 2 to 4, over Q: stated entries against the library's; three permutations."""
    for k, outputs in ((2, 3), (3, 2), (3, 4), (4, 2)):
        channel = cases.channel(rng, k, outputs)
        entries = statement(channel)
        built = symmetrize_channel(channel)
        labels = list(itertools.product(itertools.permutations(range(k)), range(outputs)))
        rows = tuple(tuple(entries[x, sigma, y] for sigma, y in labels) for x in range(k))
        yield compare(rows, built.rows, at=f"k={k}, {outputs} outputs: the library")
        for pi in itertools.islice(itertools.permutations(range(k)), 1, 4):
            moved = all(
                entries[pi[x], tuple(sigma[pi.index(i)] for i in range(k)), y] == entries[x, sigma, y]
                for x in range(k)
                for sigma, y in labels
            )
            yield decide(moved, at=f"k={k}, permutation {pi}", claimed="equivariant")


def _symmetrised(k: Any, budgets: Any, trace: Any) -> tuple[Any, Any]:
    """Pairwise divergence and inverse trace at uniform after averaging, from those before."""
    return sum(budgets, start=Fraction(0)) / (k * (k - 1)), (k - 1) ** 2 / trace


def _check_symmetrised(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open k: the share of permutations that send a pair to another, the mean of a form with trace T; symbolic.

    Both inequalities: a mean over the pairs; any number of eigenvalues, one more at a time. Nine random channels at
    k = 2 to 4 and an equivariant one by `_compare_symmetrised`, where the inequalities are checked too.
    """
    chi, trace = sp.symbols("chi T", positive=True)
    divergence, risk = statement(K, [chi], trace)
    # (sigma(a), sigma(b)) is a uniform ordered pair; each comes from (k-2)! of the k! permutations.
    yield identity(sp.factorial(K - 2) / sp.factorial(K) * chi, divergence, at="every k: weight of one pair")
    # A form with row sums 0 and trace T averages to T/k on the diagonal and -T/(k(k-1)) off it, which is T/(k-1) Pi.
    yield identity(trace / (K - 1) * (1 - 1 / K), trace / K, at="every k: diagonal of the mean information")
    yield identity(-trace / (K - 1) / K, -trace / (K * (K - 1)), at="every k: off the diagonal")
    yield identity((K - 1) / (trace / (K - 1)), risk, at="every k: trace of its inverse")
    yield identity(K * (K - 1) * divergence, chi, at="every k: the weights of the pairs add up to 1, so at most chi_*")
    yield from serving("spectrum", _spectrum(statement, chi))
    for trial in range(9):
        k = 2 + trial % 3
        channel = cases.channel(rng, k, 4 + trial % 2)
        yield from _compare_symmetrised(statement, channel, f"channel {trial}, k={k}")
    mixture = response_mixture(4, ((Fraction(1, 2), Fraction(3)),), (Fraction(1, 2),))
    law = AnchoredLaw.from_channel(mixture)
    yield decide(symmetrize(law) == law, at="an equivariant channel", claimed="unchanged")
    yield from _compare_symmetrised(statement, mixture, "an equivariant channel")


def _spectrum(statement: Statement, chi: Any) -> Iterator[Comparison]:
    """(k-1)^2 over the trace is at most the trace of the inverse: for one eigenvalue, and for one more than m."""
    trace, more, m = sp.symbols("T x m", positive=True)

    def said(eigenvalues: Any, total: Any) -> Any:
        return statement(eigenvalues + 1, [chi], total)[1]  # k - 1 eigenvalues on contrasts

    yield identity(said(sp.Integer(1), more), 1 / more, at="one eigenvalue: equality")
    loss = said(m, trace) + 1 / more - said(m + 1, trace + more)
    square = (m * more - trace) ** 2 / (more * trace * (trace + more))
    yield identity(loss, square, at="every m, every eigenvalue more: the right side gains as much and a square")


def _compare_symmetrised(statement: Statement, channel: Channel, where: str) -> Iterator[Comparison]:
    """One channel averaged over all relabellings, over Q: all pairs, information at uniform, inverse trace."""
    law = AnchoredLaw.from_channel(channel)
    k = law.num_inputs
    pairs = list(itertools.permutations(range(k), 2))
    budgets = [law.pairwise_divergence(i, j) for i, j in pairs]
    averaged = AnchoredLaw.from_channel(symmetrize_channel(channel))
    divergence, risk = statement(k, budgets, law.trace())
    for i, j in pairs:
        yield compare(averaged.pairwise_divergence(i, j), divergence, at=f"{where}, pair {i}, {j}")
    yield compare(divergence, max(budgets), "<=", at=f"{where}: within the budget")
    share = law.trace() / (k - 1)
    isotropic = tuple(tuple(share * (int(x == y) - Fraction(1, k)) for y in range(k)) for x in range(k))
    yield compare(averaged.covariance(), isotropic, at=f"{where}: information at uniform")
    yield compare(inverse_trace(averaged), risk, at=f"{where}: inverse trace after averaging")
    yield compare(risk, inverse_trace(law), "<=", at=f"{where}: no larger than before")
    yield decide(is_exchangeable(averaged), at=where, claimed="exchangeable")


def _check_cyclic(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The same comparisons with rotations only, which do not make the information isotropic."""
    channel = cases.channel(rng, 4, 5)
    law = AnchoredLaw.from_channel(channel)
    rotated = AnchoredLaw.from_channel(symmetrize_channel(channel, cyclic_group(4)))
    budgets = [law.pairwise_divergence(i, j) for i, j in itertools.permutations(range(4), 2)]
    divergence, risk = statement(4, budgets, law.trace())
    yield compare(rotated.pairwise_divergence(0, 1), divergence, at="rotations: one pair")
    yield compare(inverse_trace(rotated), risk, at="rotations: inverse trace")


CLAIMS: Final = (
    Claim(
        id="alphabets.def-9.0",
        kind="definition",
        title="randomised symmetrisation",
        text=(
            Clause("channel", r"$\bar W_x(\sigma,y)=\frac1{k!}W_{\sigma(x)}(y)$."),
            Clause("equivariant", r"It is equivariant under $\pi\cdot(\sigma,y)=(\sigma\pi^{-1},y)$."),
        ),
        source="alphabets, Section 9",
        assumptions=(),
        scope="four random channels, k = 2..4, entry by entry; three permutations each",
        grade="exact-cases",
        printed=_averaged,
        check=_check_averaged,
        controls=(Control("the permutation kept secret", _unpublished),),
        expected="definition",
        obligations=for_all("channel", clause=("channel", "equivariant")),
    ),
    Claim(
        id="alphabets.thm-9.1",
        kind="statement",
        title="symmetrisation",
        text=(
            Clause("budget", r"$\chi_{ab}(\bar W)=\frac1{k(k-1)}\sum_{i\ne j}\chi_{ij}(W)\le\chi_*(W)$."),
            Clause(
                "trace",
                r"At the uniform composition $\operatorname{tr}J(\bar "
                r"W)^{-1}=(k-1)^2/\operatorname{tr}J(W)\le\operatorname{tr}J(W)^{-1}$.",
            ),
        ),
        source="alphabets, Theorem 9.1",
        assumptions=("independent rows for the second part",),
        scope=(
            "every k: the weight of a pair and the mean information; the inequality of both traces for every spectrum; "
            "nine random channels at k = 2..4 with all pairs, explicit k!-fold outputs; an equivariant channel"
        ),
        grade="proved",
        printed=_symmetrised,
        check=_check_symmetrised,
        controls=(
            Control("averaged over k^2 pairs", lambda k, b, t: (sum(b, start=Fraction(0)) / k**2, (k - 1) ** 2 / t)),
            Control("rotations suffice", _symmetrised, _check_cyclic),
            Control("k(k-1) for (k-1)^2", lambda k, b, t: (_symmetrised(k, b, t)[0], k * (k - 1) / t)),
        ),
        expected="holds",
        obligations=(
            *for_all("k", clause=("budget", "trace")),
            *for_all("budgets", clause="budget"),
            *for_all("trace", "spectrum", clause="trace"),
        ),
    ),
)
