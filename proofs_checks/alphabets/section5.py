"""Section 5: the half-block channel, whose opposite inputs leak as much as two inputs can, on every even alphabet."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from math import comb
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._extremes import half_block_channel
from proofs_checks.alphabets import _cases as cases
from symshuffle.base.choices import Direction, members
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Exp
from symshuffle.channels.channel import exact_columns
from symshuffle.channels.geometry.linear import rank
from symshuffle.channels.shuffled import law_divergence
from symshuffle.decompositions.symbolic import counted_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.mechanisms.finite import K, half_block
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.utility.frontiers.contamination import Contamination, binary_envelope
from symshuffle.utility.likelihood import families
from symshuffle.utility.likelihood.extremes import largest_chi_square
from symshuffle.utility.likelihood.law import LikelihoodRatio

DISTANCE: Final = sp.Symbol("d", integer=True, positive=True)


def _entries(k: Any, lam: Any) -> tuple[Any, Any]:
    """Probability of an output in the half of the input, and of one outside."""
    return 2 * lam / (k * (lam + 1)), 2 / (k * (lam + 1))


def _rows(statement: Statement, k: int, lam: Fraction) -> tuple[tuple[Fraction, ...], ...]:
    """All rows with the stated entries, each half shifted by its input."""
    high, low = statement(k, lam)
    return tuple(tuple(high if (y - x) % k < k // 2 else low for y in range(k)) for x in range(k))


def _check_definition(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open k, lam and distance: stated entries add up to 1 and are the library's, with its ratio law; symbolic.

    Matrices at k = 2 to 8 over Q: rows, rank k/2 + 1, chi-square of the pairs (0, b). Odd k is refused.
    """
    high, low = statement(K, LAM)
    yield identity(K / 2 * (high + low), 1, at="every k, lam: rows sum to 1")
    yield identity(high / low, LAM, at="every k, lam: ratio of the two entries")
    (points,) = half_block().classes
    yield identity(points.states[0].probability, high, at="every k, lam: the library's mechanism, inside")
    atoms = {
        cell.ratios[0]: cell.c for cell in counted_decomposition(half_block(), others="second").cells if cell.ratios
    }
    share = 2 * DISTANCE / K
    yield identity(atoms[sp.Integer(1)], 1 - share, at="every k, distance: neutral mass")
    yield identity(atoms[LAM], share / (1 + LAM), at="every k, distance: mass at lam")
    chi = sum((r - 1) ** 2 * w for r, w in atoms.items())
    # d outputs are in the half of one input only, d in that of the other only.
    apart = DISTANCE * (high - low) ** 2 * (1 / low + 1 / high)
    yield identity(chi, apart, at="every k, distance: chi-square")
    for k in (2, 4, 6, 8):
        for lam in (Fraction(3), Fraction(3, 2)):
            channel = half_block_channel(k, lam)
            said = _rows(statement, k, lam)
            yield compare(set(channel.rows), set(said), at=f"k={k}, lam={lam}: rows")
            yield compare(rank(exact_columns(channel)), k // 2 + 1, at=f"k={k}, lam={lam}: rank")
            for b in range(1, k):
                found = LikelihoodRatio.of(channel, 0, b).chi_square
                direct = sum((v - u) ** 2 / u for u, v in zip(said[0], said[b], strict=True))
                yield compare(found, direct, at=f"k={k}, lam={lam}, pair (0, {b})")
                far = Fraction(2 * min(b, k - b), k) * largest_chi_square(lam)
                yield compare(far, direct, at=f"k={k}, lam={lam}, pair (0, {b}): by the distance")
    for k in (3, 5, 7):
        try:
            half_block_channel(k, Fraction(2))
            refused = False
        except InputError as error:
            refused = error.argument == "k"
        yield decide(refused, at=f"k={k}", claimed="an odd alphabet is refused")


def _opposite(lam: Any, n: Any, count: Any) -> tuple[Any, Any, Any]:
    """Likelihood ratio of N_+ = count, success probability of N_+ under P, chi-square."""
    return 1 / lam + (lam - 1 / lam) * count / n, 1 / (1 + lam), (lam - 1) ** 2 / lam


def _check_opposite(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Opposite inputs, open lam, n and count: both ratios and masses, likelihood ratio, chi-square; symbolic.

    k = 2 to 8, n = 1, 2, 4: both curves by enumeration over Q against binomial sums of the stated terms. k = 10^9, n =
    2000: contour and incomplete beta functions meet, in balls; a smaller distance leaks less.
    """
    n, count = sp.symbols("n N", positive=True, integer=True)
    claimed = statement(LAM, n, count)
    atoms = dict(families.HALF_BLOCK.atoms)
    yield compare(set(atoms), {LAM, 1 / LAM}, at="every k: two ratios")
    yield identity(atoms[LAM], claimed[1], at="every k: mass of the half of the other input")
    mean = (count * LAM + (n - count) / LAM) / n  # Lemma 3.1 on the two level sets
    yield identity(mean, claimed[0], at="every k, n: likelihood ratio of the count")
    yield identity(sum((r - 1) ** 2 * w for r, w in atoms.items()), claimed[2], at="every k: chi-square")
    half = sp.Symbol("h", positive=True)
    yield identity(
        claimed[2].subs(LAM, half**2) / n, ((half - 1 / half) ** 2) / n, at="every k, n: square of the scale"
    )
    for lam in (Fraction(3), Fraction(3, 2)):
        for k in (2, 4, 6, 8):
            channel = half_block_channel(k, lam)
            yield compare(channel.ratio_cap(), lam, at=f"k={k}, lam={lam}: local level")
            for users in (1, 2, 4):
                if k == 8 and users == 4 and lam != 3:
                    continue
                constant, contaminated = cases.pair_laws(channel.restrict((0, k // 2)), users)
                for order in (Fraction(1), Fraction(6, 5), Fraction(2)):
                    terms = [statement(lam, users, c) for c in range(users + 1)]
                    masses = [comb(users, c) * p**c * (1 - p) ** (users - c) for c, (_, p, _) in enumerate(terms)]
                    forward = sum(m * max(t[0] - order, Fraction(0)) for m, t in zip(masses, terms, strict=True))
                    reverse = sum(m * max(1 - order * t[0], Fraction(0)) for m, t in zip(masses, terms, strict=True))
                    at = f"k={k}, lam={lam}, n={users}, exp(eps)={order}"
                    yield compare(law_divergence(contaminated, constant, order), forward, at=f"{at}, forward")
                    yield compare(law_divergence(constant, contaminated, order), reverse, at=f"{at}, reverse")
    near = LikelihoodRatio.of(half_block_channel(8, Fraction(3)), 0, 3)
    opposite = LikelihoodRatio.of(half_block_channel(8, Fraction(3)), 0, 4)
    for users in (1, 5):
        pair = [
            r.profile(users, exp_eps="6/5", direction="forward", arithmetic="exact").exact for r in (near, opposite)
        ]
        yield decide(pair[0] < pair[1], at=f"k=8, n={users}", claimed="distance 3 leaks less than distance 4")  # type: ignore[operator]
    law = LikelihoodRatio.of_mechanism(mechanism("half-block").at(k=10**9, d=5 * 10**8, eps0=1))
    yield compare(len(law.values), 2, at="k = 10^9, eps0 = 1: two atoms, in balls")
    for direction in members(Direction):
        shown = law.profile(2000, eps="1/100", direction=direction, arithmetic="ball")
        binary = binary_envelope(
            Contamination(2000, direction), lam=Exp(Fraction(1)), gamma=Exp(Fraction(1, 100))
        ).bracket
        meet = shown.lower <= binary.upper and binary.lower <= shown.upper
        at = f"k = 10^9, eps0 = 1, n = 2000, {direction}"
        yield decide(meet, at=at, claimed="contour of the law and incomplete beta functions of binary response meet")


def _interior(k: Any, lam: Any) -> tuple[Any, Any]:
    """Smallest entry, and largest over smallest."""
    return 2 / (k * (lam + 1)), lam


def _check_interior(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open k and lam: smallest entry and spread of a row, mass of the unlikely half for large k; symbolic.

    Three matrices over Q.
    """
    smallest, spread = statement(K, LAM)
    (points,) = half_block().classes
    inside, outside = (state.probability for state in points.states)
    yield identity(outside, smallest, at="every k, lam: smallest entry")
    yield identity(inside / outside, spread, at="every k, lam: largest over smallest")
    blocks = K / 2 * outside
    yield identity(blocks, statement(K, LAM)[0] * K / 2, at="every k, lam: mass of the unlikely half, not vanishing")
    yield identity(sp.limit(blocks, K, sp.oo), 1 / (1 + LAM), at="k to infinity: mass of the unlikely half")
    for k in (2, 6, 10):
        entries: list[Any] = [entry for row in half_block_channel(k, Fraction(3)).rows for entry in row]
        yield compare(
            (min(entries), max(entries) / min(entries)), statement(Fraction(k), Fraction(3)), at=f"k={k}, lam=3"
        )


CLAIMS: Final = (
    Claim(
        id="alphabets.def-5.1",
        kind="definition",
        title="half-block channel",
        text=(
            Clause(
                "entries",
                r"$W_x(y)=\frac{2\lambda}{k(\lambda+1)}$ on $\{x,\dots,x+k/2-1\}$ mod $k$, else "
                r"$\frac2{k(\lambda+1)}$.",
            ),
            Clause(
                "ratios",
                r"At cyclic distance $d$ the ratio law is $(1-\frac{2d}k)\delta_1$ plus $\frac{2d}k$ times the "
                "endpoint law.",
            ),
        ),
        source="alphabets, Definition 5.1",
        assumptions=("k even",),
        scope="every k, lam, distance symbolically; matrices, ranks and the pairs (0, b) for k = 2..8; odd k refused",
        grade="proved",
        printed=_entries,
        check=_check_definition,
        controls=(
            Control("lam - 1 in place of lam + 1", lambda k, lam: (2 * lam / (k * (lam - 1)), 2 / (k * (lam - 1)))),
            Control("entries exchanged", lambda k, lam: _entries(k, lam)[::-1]),
        ),
        expected="definition",
        obligations=for_all("k", "lam", clause=("entries", "ratios")),
    ),
    Claim(
        id="alphabets.thm-5.2",
        kind="statement",
        title="an obstruction on every even alphabet",
        text=(
            Clause("scale", r"Local level $\lambda$, scale $\mu_n=(\lambda-1)/\sqrt{\lambda n}$."),
            Clause(
                "two ratios",
                r"Opposite inputs: two ratios, $N_+\sim\mathrm{Bin}(n,1/(1+\lambda))$, "
                r"$L_n=\frac1\lambda+(\lambda-\frac1\lambda)\frac{N_+}n$.",
            ),
            Clause("chi-square", r"$\chi^2=(\lambda-1)^2/\lambda$."),
            Clause("curve", "So the curve is that of binary randomized response for every $k$ and $n$."),
        ),
        source="alphabets, Theorem 5.2",
        assumptions=("k even",),
        scope="every k, lam, n symbolically (law, ratio, chi-square); both directions by enumeration for k "
        "= 2..8, n <= 4; "
        "balls at n = 2000 for k = 10^9",
        grade="proved",
        printed=_opposite,
        check=_check_opposite,
        controls=(
            Control(
                "success probability lam/(1 + lam)",
                lambda lam, n, c: (_opposite(lam, n, c)[0], lam / (1 + lam), (lam - 1) ** 2 / lam),
            ),
            Control(
                "slope lam - 1", lambda lam, n, c: (1 / lam + (lam - 1) * c / n, 1 / (1 + lam), (lam - 1) ** 2 / lam)
            ),
        ),
        expected="holds",
        obligations=for_all("lam", "n", "count", clause=("scale", "two ratios", "chi-square", "curve")),
    ),
    Claim(
        id="alphabets.rem-5.3",
        kind="statement",
        title="the obstruction is interior",
        text=(
            Clause(
                "support",
                r"All rows have full support, smallest entry $2/(k(\lambda+1))$, largest over smallest "
                r"$\lambda$.",
            ),
            Clause("blocks", "No block of outputs has vanishing mass."),
        ),
        source="alphabets, Remark 5.3",
        assumptions=("k even",),
        scope="every k, lam symbolically; three matrices",
        grade="proved",
        printed=_interior,
        check=_check_interior,
        controls=(
            Control("smallest entry 1/(k (lam + 1))", lambda k, lam: (1 / (k * (lam + 1)), lam)),
            Control("spread lam^2", lambda k, lam: (2 / (k * (lam + 1)), lam**2)),
        ),
        expected="holds",
        obligations=for_all("k", "lam", clause=("support", "blocks")),
    ),
)
