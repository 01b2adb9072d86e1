"""Section 8: lower bounds on estimation from the pairwise budget over a cube of compositions."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._divergences import kl_divergence, total_variation
from proofs_checks._estimation import cube_bound, decoding_bound
from proofs_checks._minimax import Minimax, minimax_risk
from proofs_checks.alphabets.section8_vertex import example_channels
from proofs_checks.anchored import _cases as cases
from symshuffle.channels.channel import exact_columns
from symshuffle.channels.geometry.linear import dot
from symshuffle.channels.shuffled import chi_square, histogram_law
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.mechanisms.finite import K, krr
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.lower_bounds import two_regime_bound

_CHI, _N, _H, _R = sp.symbols("chi n h r", positive=True)


@cache
def _minimax(k: int, lam: int, n: int) -> Minimax:
    return minimax_risk(krr().at(k=k, lam=lam).channel(), n=n, population="iid")


def _cube_lemma(m: Any, alpha: Any) -> Any:
    return m * (1 - alpha) / 2


def _check_cube_lemma(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any edge: its errors add up to 1 - TV. Every m by the step of one direction more, (1 - alpha)/2; symbolic.

    Independent bits attain the bound. 40 random families over Q, m <= 3: loss of the best decoder against the bound.
    """
    p, q, m, a, b = sp.symbols("p q m a b", positive=True)
    # For p >= q the smaller is (p + q - |p - q|)/2: the errors of the best test add up to 1 - TV.
    yield identity((p + q - (p - q)) / 2, q, at="every pair of probabilities")
    # m independent symmetric bits, each wrong with probability p < 1/2: alpha = 1 - 2p, and m p errors are attained.
    yield identity(statement(m, 1 - 2 * p), m * p, at="every m: attained by independent bits")
    # On an edge the bit is wrong with mean probability at least (1 - alpha)/2; the loss is the sum over the m
    # directions of the mean over parallel edges.
    # On two events, the better test right with probability a and 1 - b at the ends, a > b: distance a - b.
    alpha, wrong = a - b, ((1 - a) + b) / 2
    more = statement(m + 1, alpha) - statement(m, alpha)
    at = "every m: one direction more costs the mean error of the best test on its edges"
    yield from serving("families", [identity(more, wrong, at=at), identity(statement(0, q), 0, at="no bit")])
    yield identity(decoding_bound(3, q), statement(3, q), at="m = 3: the library")
    for trial in range(40):
        size = 1 + trial % 3
        laws = {tau: cases.distribution(rng, 4, zeros=0.2) for tau in itertools.product((0, 1), repeat=size)}
        edges = [(tau, (*tau[:j], 1, *tau[j + 1 :])) for tau in laws for j in range(size) if tau[j] == 0]
        alpha = max(total_variation(laws[a], laws[b]) for a, b in edges)
        errors = Fraction(0)
        for j in range(size):
            halves = [
                [sum((law[y] for tau, law in laws.items() if tau[j] == bit), start=Fraction(0)) for y in range(4)]
                for bit in (0, 1)
            ]
            errors += sum((min(a, b) for a, b in zip(*halves, strict=True)), start=Fraction(0)) / 2**size
        yield compare(errors, statement(size, alpha), ">=", at=f"family {trial}, m={size}: the best decoder")


def _assouad(k: Any, chi: Any, n: Any, h: Any, root: Any) -> dict[str, Any]:
    """With root = sqrt(n chi): bounds on chi-square of a message, on KL, TV and the risk, and that at the best h."""
    return {
        "chi": 2 * h**2 * chi,
        "kl": 2 * n * h**2 * chi,
        "tv": h * root,
        "risk": (k - 1) * h**2 / 8 * (1 - h * root),
        "best": (k - 1) / (64 * n * chi),
        "side": 1 / (2 * (k - 1)),
    }


def _weaker_distance(k: Any, chi: Any, n: Any, h: Any, root: Any) -> dict[str, Any]:
    said = _assouad(k, chi, n, h, root)
    return {**said, "tv": said["tv"] * Fraction(99, 100)}


def _larger_risk(k: Any, chi: Any, n: Any, h: Any, root: Any) -> dict[str, Any]:
    said = _assouad(k, chi, n, h, root)
    return {**said, "risk": said["risk"] * Fraction(101, 100), "best": said["best"] * Fraction(101, 100)}


def _wider_cube(k: Any, chi: Any, n: Any, h: Any, root: Any) -> dict[str, Any]:
    return {**_assouad(k, chi, n, h, root), "side": 2 / (3 * (k - 1))}


def _check_assouad(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k, n, h, chi: chi-square, KL, Pinsker, decoding bound, best h, each step against its stated value; symbolic.

    Chi-square of an edge for any channel, output by output, by sign. Four channels, n = 1, 4: exact histogram laws at
    edges whose other bits are equal. Three (k, n): a cube bound is below the certified minimax risk.
    """
    said = statement(K, _CHI, _R**2 / _CHI, _H, _R)
    largest = said["side"]
    corner = 1 - (K - 1) * largest
    yield identity(_H**2 * _CHI / corner, said["chi"], at="every k: at the largest side the corner keeps half")
    yield identity(_R**2 / _CHI * said["chi"], said["kl"], at="every n: KL adds up, and is at most chi-square")
    yield identity(said["kl"] / 2, said["tv"] ** 2, at="every n: Pinsker")
    yield identity(
        _H**2 / 4 * _cube_lemma(K - 1, said["tv"]), said["risk"], at="every k, n, h: a wrong bit costs h^2/4"
    )
    yield identity(said["risk"].subs(_H, 1 / (2 * _R)), said["best"], at="every k, n: at h = 1/(2 sqrt(n chi))")
    # One output at a time: its probabilities w at a and w + d at j, and w times theta_a = 1/2 + t plus something else
    # under the edge. Chi-squares are sums over outputs.
    w, rest, excess = sp.symbols("w o t", nonnegative=True)
    d = sp.Symbol("d", real=True)
    kept = statement(K, d**2 / w, _N, _H, _R)["chi"] - (_H * d) ** 2 / (w * (sp.Rational(1, 2) + excess) + rest)
    kept = sp.cancel(sp.together(kept) / d**2)
    where = "every output of every channel"
    yield from serving("channels", [decide(nonnegative(kept, {}), at=where, claimed="within", symbolic=True)])
    for i, channel in enumerate(example_channels()[:4]):
        law = AnchoredLaw.from_channel(channel)
        k, chi = channel.num_inputs, Fraction(law.pairwise_budget())
        h = statement(Fraction(k), chi, 1, Fraction(1), Fraction(1))["side"]
        for a in range(k):
            others = [j for j in range(k) if j != a]
            for j in others:
                for tau in ((0,) * (k - 1), (1,) * (k - 1)):
                    ends = []
                    for bit in (0, 1):
                        bits = dict(zip(others, tau, strict=True)) | {j: bit}
                        w = [h * bits.get(x, 0) for x in range(k)]
                        w[a] = 1 - sum(w)
                        ends.append(tuple(dot(w, column) for column in exact_columns(channel)))
                    where = f"channel {i}, corner {a}, edge {j}, bits {tau}"
                    yield compare(
                        chi_square(ends[1], ends[0]), statement(Fraction(k), chi, 1, h, h)["chi"], "<=", at=where
                    )
                    for n in (1, 4):
                        bounds = statement(Fraction(k), chi, n, h, 1)
                        laws = [histogram_law([end] * n) for end in ends]
                        support = sorted(set(laws[0]) | set(laws[1]))
                        p, q = ([found.get(y, Fraction(0)) for y in support] for found in laws)
                        distance = total_variation(p, q)
                        yield compare(distance**2, bounds["tv"] ** 2 * n * chi, "<=", at=f"{where}, n={n}: TV")
                        yield compare(kl_divergence(q, p), bounds["kl"], "<=", at=f"{where}, n={n}: KL")
    for k, lam, n in ((2, 4, 4), (3, 4, 1), (3, 4, 4)):
        chi = Fraction(AnchoredLaw.from_channel(krr().at(k=k, lam=lam).channel()).pairwise_budget())
        h = min(Fraction(1, 2 * (k - 1)), Fraction(1, 2 * (math.isqrt(math.ceil(n * chi)) + 1)))
        exact = _minimax(k, lam, n).bracket
        yield compare(cube_bound(k, chi, n=n, h=h).upper, exact.lower, "<=", at=f"k={k}, C={lam}, n={n}: exact minimax")


def _two_regimes(k: Any, strength: Any) -> tuple[Any, Any, Any]:
    """For few and for many users, strength = n chi; and where they meet."""
    return 1 / (64 * (k - 1)), (k - 1) / (64 * strength), (k - 1) ** 2


def _check_two_regimes(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k and n chi: the bound of Theorem 8.4 at both sides of the cube, and where they meet; symbolic.

    16 pairs (k, n chi) over Q: the library's value, at most that of a cube. Three (k, n): below the certified minimax
    risk of k-ary response.
    """
    few, many, meeting = statement(K, _R**2)
    risk = (K - 1) * _H**2 / 8 * (1 - _H * _R)
    # The side is the smaller of 1/(2(k-1)) and 1/(2r): then h r <= 1/2, and the risk is at least (k-1)h^2/16.
    yield identity(risk.subs(_H, 1 / (2 * _R)), many, at="every k, many users: h = 1/(2 sqrt(n chi))")
    yield identity(((K - 1) * _H**2 / 16).subs(_H, 1 / (2 * (K - 1))), few, at="every k, few users: h = 1/(2(k-1))")
    yield identity(many.subs(_R, sp.sqrt(meeting)), few, at="every k: where they meet")
    for k in (2, 3, 10, 1000):
        for strength in (Fraction(1, 10), Fraction((k - 1) ** 2), Fraction(9 * (k - 1) ** 2), Fraction(10**8)):
            first, second, switch = statement(Fraction(k), strength)
            claimed = second if strength >= switch else first
            found = two_regime_bound(k, strength / 100, n=100)
            yield compare(found, claimed, at=f"k={k}, n chi = {strength}: the library")
            root = Fraction(math.isqrt(math.ceil(strength)) + (math.isqrt(math.ceil(strength)) ** 2 < strength))
            h = min(Fraction(1, 2 * (k - 1)), 1 / (2 * root))
            cube = cube_bound(k, strength / 100, n=100, h=h).upper
            yield compare(claimed, cube, "<=", at=f"k={k}, n chi = {strength}: against a cube")
    for k, lam, n in ((2, 4, 4), (3, 4, 1), (3, 4, 4)):
        chi = Fraction(AnchoredLaw.from_channel(krr().at(k=k, lam=lam).channel()).pairwise_budget())
        first, second, _meeting = statement(Fraction(k), n * chi)
        yield compare(min(first, second), _minimax(k, lam, n).bracket.lower, "<=", at=f"k={k}, C={lam}, n={n}: minimax")


CLAIMS: Final = (
    Claim(
        id="alphabets.lem-8.3",
        kind="statement",
        title="Assouad cube lemma",
        text=(
            r"If laws at the ends of every edge differ by at most $\alpha$ in total variation, every decoder has mean "
            r"Hamming loss at least $m(1-\alpha)/2$."
        ),
        source="alphabets, Lemma 8.3",
        assumptions=(),
        scope="the edge for all laws, attained for every m; the best decoder of 40 random families, m <= 3",
        grade="proved",
        printed=_cube_lemma,
        check=_check_cube_lemma,
        controls=(
            Control("alpha squared", lambda m, alpha: m * (1 - alpha**2) / 2),
            Control("one per cent more", lambda m, alpha: _cube_lemma(m, alpha) * 101 / 100),
        ),
        expected="holds",
        obligations=for_all("m", "alpha", "families"),
        erratum=Erratum(
            "wording",
            "granted",
            "The proof averages the larger error of each edge, and a maximum cannot be averaged; the mean of both "
            "errors obeys the same bound, and the lemma stands.",
            quote="every decision rule has maximal error probability at least",
        ),
    ),
    Claim(
        id="alphabets.thm-8.4",
        kind="statement",
        title="Assouad bound for all estimators",
        text=(
            Clause(
                "bound",
                r"For $0<h\le\frac1{2(k-1)}$: $\sup_\theta "
                r"E|\hat\theta-\theta|^2\ge\frac{(k-1)h^2}8(1-h\sqrt{n\chi_*})$.",
            ),
            Clause("many users", r"Hence it is at least $\frac{k-1}{64n\chi_*}$ once $n\chi_*\ge(k-1)^2$."),
        ),
        source="alphabets, Theorem 8.4",
        assumptions=("$\\chi_*>0$; Pinsker's inequality and data processing",),
        scope=(
            "every k, n, h by the chain of the proof, every channel output by output; every corner and "
            "direction of four channels, the other bits equal, exact histogram laws; "
            "below the exact minimax risk at three (k, n)"
        ),
        grade="proved",
        printed=_assouad,
        check=_check_assouad,
        controls=(
            Control("the distance less 1 %", _weaker_distance),
            Control("1 % more risk", _larger_risk),
            Control("sides up to 2/(3(k-1))", _wider_cube),
        ),
        expected="holds",
        obligations=(
            *for_all("k", "chi", "n", "h", "root", clause=("bound", "many users")),
            *for_all("channels", clause="bound"),
        ),
    ),
    Claim(
        id="alphabets.cor-8.5",
        kind="statement",
        title="two-regime lower bound",
        text=r"$\sup_\theta E|\hat\theta-\theta|^2\ge\frac1{64}\min\{\frac{k-1}{n\chi_*},\frac1{k-1}\}$.",
        source="alphabets, Corollary 8.5",
        assumptions=("$\\chi_*>0$",),
        scope="every k and n; 16 instances of the library; below the exact minimax risk at three (k, n)",
        grade="proved",
        printed=_two_regimes,
        check=_check_two_regimes,
        controls=(
            Control("the larger term", lambda k, s: (_two_regimes(k, s)[1], _two_regimes(k, s)[0], (k - 1) ** 2)),
            Control("terms meet at k - 1", lambda k, s: (*_two_regimes(k, s)[:2], k - 1)),
        ),
        expected="holds",
        obligations=for_all("k", "strength"),
    ),
)
