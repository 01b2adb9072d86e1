"""Section 7: the two poles, and every decay between them."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._extremes import dilute, half_block_channel
from proofs_checks.alphabets import _cases as cases
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Verdict, less
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.shuffled import law_divergence
from symshuffle.decompositions.symbolic import counted_decomposition
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
from symshuffle.mechanisms.finite import K, half_block
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.utility.likelihood import families
from symshuffle.utility.likelihood.extremes import endpoint_ratio, largest_chi_square
from symshuffle.utility.likelihood.law import LikelihoodRatio, likelihood_quotient


def _grr(k: Any, lam: Any) -> tuple[dict[Any, Any], Any]:
    """Ratio law and chi-square of k-ary randomized response, for every pair of inputs."""
    total = lam + k - 1
    return {1 / lam: lam / total, lam: 1 / total, 1: (k - 2) / total}, (lam - 1) ** 2 * (lam + 1) / (lam * total)


def _check_grr(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open k and lam: masses, chi-square, mean 1 and limit, against the law that the library derives; symbolic.

    k = 2 to 5 over Q: law and chi-square of all pairs, forward curve of n = 1, 3 by enumeration; chi-square at k =
    10^9.
    """
    atoms, chi = statement(K, LAM)
    derived = dict(families.GRR.atoms)
    for ratio in (LAM, 1 / LAM, sp.Integer(1)):
        yield identity(derived[ratio], atoms[ratio], at=f"every k, lam: mass at {ratio}")
    yield identity(families.GRR.chi_square, chi, at="every k, lam: chi-square")
    yield identity(sum(r * w for r, w in atoms.items()), 1, at="every k, lam: mean 1")
    yield identity(sp.limit(K * chi, K, sp.oo), (LAM - 1) ** 2 * (LAM + 1) / LAM, at="k to infinity: k chi-square")
    yield decide(sp.limit(chi, K, sp.oo) == 0, at="k to infinity", claimed="diluting", symbolic=True)
    for k in (2, 3, 4, 5):
        for lam in (Fraction(3, 2), Fraction(3)):
            channel = mechanism("krr").at(k=k, lam=lam).channel()
            atoms, chi = statement(Fraction(k), lam)
            claimed = LikelihoodRatio.from_atoms(atoms.items())
            pairs = [(a, b) for a in range(k) for b in range(k) if a != b]
            for a, b in pairs:
                quotient = likelihood_quotient(channel, a, b)
                quotient.verify()
                yield compare(quotient.law, claimed, at=f"k={k}, lam={lam}, pair ({a}, {b})")
                yield compare(quotient.law.chi_square, chi, at=f"k={k}, lam={lam}, pair ({a}, {b}): chi-square")
            for n in (1, 3):
                constant, contaminated = cases.pair_laws(channel.restrict((0, 1)), n)
                found = claimed.profile(n, exp_eps="6/5", direction="forward", arithmetic="exact").exact
                direct = law_divergence(contaminated, constant, Fraction(6, 5))
                yield compare(found, direct, at=f"k={k}, lam={lam}, n={n}: curve by enumeration")
    found = LikelihoodRatio.of_mechanism(mechanism("krr").at(k=10**9, lam=3)).chi_square
    yield compare(found, statement(Fraction(10**9), Fraction(3))[1], at="k = 10^9, lam = 3")


def _half_block(lam: Any) -> Any:
    return (lam - 1) ** 2 / lam


def _check_half_block(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open k, lam and distance: chi-square from the library's pair counts is 2d/k of the stated largest; symbolic.

    k = 2 to 8 over Q: the largest over the pairs (0, b), attained by the opposite one.
    """
    yield identity(families.HALF_BLOCK.chi_square, statement(LAM), at="every even k, lam")
    yield identity(largest_chi_square(LAM), statement(LAM), at="every lam: no pair of a local channel has more")
    yield identity(families.HALF_BLOCK.limit_chi_square, statement(LAM), at="k to infinity: persistent")
    atoms = {
        cell.ratios[0]: cell.c for cell in counted_decomposition(half_block(), others="second").cells if cell.ratios
    }
    found = sum((r - 1) ** 2 * w for r, w in atoms.items())  # at cyclic distance d <= k/2
    share = 2 * sp.Symbol("d", integer=True, positive=True) / K
    pairs = identity(found, share * statement(LAM), at="every k, lam and pair: the share 2d/k <= 1 of the largest")
    yield from serving("pairs", [pairs])
    for k in (2, 4, 6, 8):
        channel = half_block_channel(k, Fraction(3))
        chi = [LikelihoodRatio.of(channel, 0, b).chi_square for b in range(1, k)]
        yield compare(max(chi), statement(Fraction(3)), at=f"k={k}, lam=3: largest over pairs")
        yield compare(chi.index(max(chi)) + 1, k // 2, at=f"k={k}, lam=3: attained by the opposite pair")


def _diluted(eta: Any, lam: Any) -> tuple[dict[Any, Any], Any]:
    """Ratio law and chi-square of the opposite pair of the diluted half-block channel."""
    return (
        {1: 1 - eta, lam: eta / (1 + lam), 1 / lam: eta * lam / (1 + lam)},
        eta * (lam - 1) ** 2 / lam,
    )


def _check_diluted(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open eta and lam: law and chi-square against the library's diluted family; symbolic.

    k = 4, 6 and four eta over Q: law from the matrix, local level, sum with a null symbol, largest pair, full support,
    curves of n = 1, 3 by enumeration. A share outside [0, 1] is refused.
    """
    eta = sp.Symbol("eta", positive=True)
    atoms, chi = statement(eta, LAM)
    family = families.HALF_BLOCK.diluted(eta)
    for ratio, weight in family.atoms:
        yield identity(weight, atoms[ratio], at=f"every k, eta, lam: mass at {ratio}")
    yield identity(family.chi_square, chi, at="every k, eta, lam: chi-square")
    for k in (4, 6):
        for share in (Fraction(0), Fraction(1, 1000), Fraction(1, 3), Fraction(1)):
            lam = Fraction(3)
            block = half_block_channel(k, lam)
            channel = dilute(block, share)
            atoms, chi = statement(share, lam)
            law = LikelihoodRatio.of(channel, 0, k // 2)
            yield compare(law, LikelihoodRatio.from_atoms(atoms.items()), at=f"k={k}, eta={share}: law from the matrix")
            yield compare(law, endpoint_ratio(lam).dilute(share), at=f"k={k}, eta={share}: law diluted")
            yield decide(channel.is_ldp(lam), at=f"k={k}, eta={share}", claimed="local level lam")
            parts = direct_sum([block, Channel(((Fraction(1),),) * k)], [share, 1 - share]).without_null_outputs()[0]
            yield compare(channel, parts, at=f"k={k}, eta={share}: eta W + (1 - eta) null")
            every = [LikelihoodRatio.of(channel, 0, b).chi_square for b in range(1, k)]
            yield compare(max(every), chi, at=f"k={k}, eta={share}: largest over pairs")
            yield compare(
                all(less(0, entry) is Verdict.TRUE for row in channel.rows for entry in row),
                True,
                at=f"k={k}, eta={share}: full support",
            )
            for n in (1, 3):
                constant, contaminated = cases.pair_laws(channel.restrict((0, k // 2)), n)
                found = LikelihoodRatio.from_atoms(atoms.items()).profile(n, exp_eps="6/5", arithmetic="exact").exact
                both = (
                    law_divergence(contaminated, constant, Fraction(6, 5)),
                    law_divergence(constant, contaminated, Fraction(6, 5)),
                )
                yield compare(found, max(both), at=f"k={k}, eta={share}, n={n}: curve by enumeration")
    for wrong in (Fraction(-1, 10), Fraction(11, 10)):
        try:
            dilute(half_block_channel(4, Fraction(2)), wrong)
            refused = False
        except InputError as error:
            refused = error.argument == "eta"
        yield decide(refused, at=f"eta={wrong}", claimed="refused")


def _perturbed_grr(change: Any) -> Statement:
    """The law as it is, the chi-square changed."""

    def statement(k: Any, lam: Any) -> tuple[dict[Any, Any], Any]:
        atoms, chi = _grr(k, lam)
        return atoms, change(chi, k, lam)

    return statement


CLAIMS: Final = (
    Claim(
        id="alphabets.prop-7.1",
        kind="statement",
        title="k-ary randomized response dilutes",
        text=(
            Clause(
                "law",
                r"$\nu=\frac{\lambda}{\lambda+k-1}\delta_{1/\lambda}+\frac1{\lambda+k-1}\delta_\lambda"
                r"+\frac{k-2}{\lambda+k-1}\delta_1$ for every pair.",
            ),
            Clause("chi-square", r"$\chi^2=\frac{(\lambda-1)^2(\lambda+1)}{\lambda(\lambda+k-1)}\to0$."),
        ),
        source="alphabets, Proposition 7.1",
        assumptions=("k >= 2",),
        scope="every k and lam symbolically; all pairs for k = 2..5; k = 10^9",
        grade="proved",
        printed=_grr,
        check=_check_grr,
        controls=(
            Control("without the factor lam + 1", _perturbed_grr(lambda chi, k, lam: chi / (lam + 1))),
            Control("lam + k in the denominator", _perturbed_grr(lambda chi, k, lam: chi * (lam + k - 1) / (lam + k))),
        ),
        expected="holds",
        obligations=for_all("k", "lam", clause=("law", "chi-square")),
    ),
    Claim(
        id="alphabets.prop-7.2",
        kind="statement",
        title="half-block persists",
        text=(
            Clause("value", r"For every even k, $\chi_*=(\lambda-1)^2/\lambda$."),
            Clause("attained", "It is attained by opposite inputs."),
        ),
        source="alphabets, Proposition 7.2",
        assumptions=("k even",),
        scope="every k and lam symbolically; the pairs (0, b) for k = 2..8",
        grade="proved",
        printed=_half_block,
        check=_check_half_block,
        controls=(
            Control("lam + 1 in the denominator", lambda lam: (lam - 1) ** 2 / (lam + 1)),
            Control("1 % smaller", lambda lam: _half_block(lam) * Fraction(99, 100)),
        ),
        expected="holds",
        obligations=for_all("lam", "pairs", clause=("value", "attained")),
    ),
    Claim(
        id="alphabets.cor-7.3",
        kind="statement",
        title="every dilution profile is realised",
        text=(
            Clause(
                "law",
                r"With probability $\eta$ half-block, else one common symbol: "
                r"$\nu=(1-\eta)\delta_1+\eta\,\nu_{\rm end}$.",
            ),
            Clause("chi-square", r"$\chi_*=\eta(\lambda-1)^2/\lambda$."),
            Clause("support", "The support is full and the local level the same."),
        ),
        source="alphabets, Corollary 7.3",
        assumptions=("k even", r"$0\le\eta\le1$"),
        scope="every k, eta, lam symbolically; matrices for k = 4, 6 and eta = 0, 1/1000, 1/3, 1 with the "
        "pairs (0, b), and curves",
        grade="proved",
        printed=_diluted,
        check=_check_diluted,
        controls=(
            Control(
                "chi-square times eta squared", lambda eta, lam: (_diluted(eta, lam)[0], _diluted(eta, lam)[1] * eta)
            ),
            Control("law of eta squared", lambda eta, lam: (_diluted(eta**2, lam)[0], _diluted(eta, lam)[1])),
        ),
        expected="holds",
        obligations=for_all("eta", "lam", clause=("law", "chi-square", "support")),
    ),
)
