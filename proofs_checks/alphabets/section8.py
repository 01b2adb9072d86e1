"""Section 8: lower bounds on estimation from the pairwise budget."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from symshuffle.anchored import AnchoredLaw
from symshuffle.anchored.law import exact_columns
from symshuffle.anchored.linear import Vector, dot, rank
from symshuffle.channel import Channel
from symshuffle.claims.model import (
    Claim,
    ClaimVerdict,
    Comparison,
    Control,
    Grade,
    Kind,
    Statement,
    compare,
    decide,
    for_all,
    identity,
    serving,
)
from symshuffle.divergences import chi_square, kl_divergence, total_variation
from symshuffle.estimation.canonical import Population, fisher_information
from symshuffle.estimation.corner import (
    cramer_rao_trace,
    cube_bound,
    decoding_bound,
    near_vertex_bound,
    two_regime_bound,
)
from symshuffle.estimation.minimax import Minimax, minimax_risk
from symshuffle.frontiers.caps import subset_budget
from symshuffle.mechanisms.finite import K, S, half_block, krr
from symshuffle.mechanisms.symbolic import LAM, nonnegative
from symshuffle.shuffled import histogram_law

_CHI, _SHARE, _N, _H, _R = sp.symbols("chi theta n h r", positive=True)


def _near(k: int, share: Fraction, a: int = 0) -> Vector:
    """A composition with this share at ``a`` and the rest spread evenly."""
    return tuple(share if x == a else (1 - share) / (k - 1) for x in range(k))


@cache
def _channels() -> tuple[Channel, ...]:
    """Three named channels and three random ones."""
    rng = np.random.default_rng(811)
    named = [krr().at(k=3, lam=4).channel(), krr().at(k=4, lam=2).channel(), cases.EXAMPLE]
    return (*named, *(cases.channel(rng, 3, 4) for _ in range(3)))


@cache
def _minimax(k: int, lam: int, n: int) -> Minimax:
    return minimax_risk(krr().at(k=k, lam=lam).channel(), n=n, population=Population.IID)


def _identifiable(rows: int, found: int) -> bool:
    """Positive definite on contrasts, from the number of rows and their rank."""
    return found == rows


def _check_identifiable(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """24 random channels and 3 half-blocks: is the Cramer-Rao trace finite, against the stated condition on the rank.

    Exact rationals; the information, recomputed from the rows and projected, is the library's.
    """
    chosen = [cases.channel(rng, 3 + i % 2, 2 + i % 4) for i in range(24)]
    chosen += [half_block().at(k=k, lam=3).channel() for k in (2, 4, 6)]
    for i, channel in enumerate(chosen):
        k = channel.num_inputs
        law, columns = AnchoredLaw.from_channel(channel), exact_columns(channel)
        w = cases.distribution(rng, k)
        definite = cramer_rao_trace(law, w, n=1) < math.inf
        yield decide(definite == statement(k, rank(columns)), at=f"channel {i}, k={k}", claimed="definite")
        # From the rows themselves: J = sum_y W(y) W(y)^T / m(y), projected.
        mixture = [dot(w, column) for column in columns]
        raw = [
            [sum((c[x] * c[y] / m for c, m in zip(columns, mixture, strict=True)), start=Fraction(0)) for y in range(k)]
            for x in range(k)
        ]
        means = [sum(row, start=Fraction(0)) / k for row in raw]
        whole = sum(means, start=Fraction(0)) / k
        centred = tuple(tuple(raw[x][y] - means[x] - means[y] + whole for y in range(k)) for x in range(k))
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
    for i, channel in enumerate(_channels()):
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
    for i, channel in enumerate(_channels()):
        law = AnchoredLaw.from_channel(channel)
        chi, k = Fraction(law.pairwise_budget()), channel.num_inputs
        for rho in (Fraction(1, 100), Fraction(1, 2)):
            claimed = statement(Fraction(k), rho, chi, 7)
            worst = max(cramer_rao_trace(law, _near(k, 1 - rho, a), n=7) for a in range(k))
            yield compare(worst, claimed, ">=", at=f"channel {i}, rho={rho}, n=7")
            yield compare(near_vertex_bound(k, chi, rho=rho, n=7), claimed, at=f"channel {i}, rho={rho}: the library")


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
    for i, channel in enumerate(_channels()[:4]):
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
        id="alphabets.def-8.0",
        kind=Kind.DEFINITION,
        title="Fisher information on contrasts",
        text=(
            r"$I_n=n\Pi J_\theta\Pi$, $J_\theta=\sum_yw(y)w(y)^T/m_\theta(y)$; positive definite on contrasts exactly "
            r"if the rows are linearly independent."
        ),
        source="alphabets, Section 8",
        assumptions=("interior compositions",),
        scope="27 channels at k = 2..6, singular ones among them; information recomputed from the rows",
        grade=Grade.EXACT_CASES,
        printed=_identifiable,
        check=_check_identifiable,
        controls=(Control("rank k - 1 suffices", lambda rows, found: found >= rows - 1),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="alphabets.thm-8.1",
        kind=Kind.STATEMENT,
        title="near-vertex Cramer-Rao bound",
        text=r"Locally unbiased at $\theta$: $E|\hat\theta-\theta|^2\ge\theta_a(k-1)/(n\chi_*)$ for every input $a$.",
        source="alphabets, Theorem 8.1",
        assumptions=("independent rows, $0<\\theta_a<1$; the Cramer-Rao inequality",),
        scope="every k, share, n by the chain of the proof; six channels at three compositions and all inputs",
        grade=Grade.PROVED,
        printed=_vertex_bound,
        check=_check_vertex,
        controls=(
            Control("1/theta_a for theta_a", lambda k, share, chi, n: (k - 1) / (share * n * chi)),
            Control("k for k - 1", lambda k, share, chi, n: share * k / (n * chi)),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "share", "chi", "n"),
    ),
    Claim(
        id="alphabets.cor-8.2",
        kind=Kind.STATEMENT,
        title="locally unbiased minimax bound",
        text=r"$\sup_\theta E|\hat\theta-\theta|^2\ge(1-\rho)(k-1)/(n\chi_*)$ for every $\rho\in(0,1)$.",
        source="alphabets, Corollary 8.2",
        assumptions=("independent rows; locally unbiased estimators",),
        scope="every k, rho, n; six channels at two shares",
        grade=Grade.PROVED,
        printed=_minimax_vertex,
        check=_check_minimax_vertex,
        controls=(Control("without 1 - rho", lambda k, rho, chi, n: (k - 1) / (n * chi)),),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "rho", "chi", "n"),
    ),
    Claim(
        id="alphabets.lem-8.3",
        kind=Kind.STATEMENT,
        title="Assouad cube lemma",
        text=(
            r"If laws at the ends of every edge differ by at most $\alpha$ in total variation, every decoder has mean "
            r"Hamming loss at least $m(1-\alpha)/2$. (The proof takes the larger error on an edge, which cannot be "
            r"averaged; the mean of both errors obeys the same bound, and can.)"
        ),
        source="alphabets, Lemma 8.3",
        assumptions=(),
        scope="the edge for all laws, attained for every m; the best decoder of 40 random families, m <= 3",
        grade=Grade.PROVED,
        printed=_cube_lemma,
        check=_check_cube_lemma,
        controls=(
            Control("alpha squared", lambda m, alpha: m * (1 - alpha**2) / 2),
            Control("one per cent more", lambda m, alpha: _cube_lemma(m, alpha) * 101 / 100),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("m", "alpha", "families"),
    ),
    Claim(
        id="alphabets.thm-8.4",
        kind=Kind.STATEMENT,
        title="Assouad bound for all estimators",
        text=(
            r"For $0<h\le\frac1{2(k-1)}$: $\sup_\theta E|\hat\theta-\theta|^2\ge\frac{(k-1)h^2}8(1-h\sqrt{n\chi_*})$, "
            r"hence $\frac{k-1}{64n\chi_*}$ once $n\chi_*\ge(k-1)^2$."
        ),
        source="alphabets, Theorem 8.4",
        assumptions=("$\\chi_*>0$; Pinsker's inequality and data processing",),
        scope=(
            "every k, n, h by the chain of the proof, every channel output by output; every corner and "
            "direction of four channels, the other bits equal, exact histogram laws; "
            "below the exact minimax risk at three (k, n)"
        ),
        grade=Grade.PROVED,
        printed=_assouad,
        check=_check_assouad,
        controls=(
            Control("the distance less 1 %", _weaker_distance),
            Control("1 % more risk", _larger_risk),
            Control("sides up to 2/(3(k-1))", _wider_cube),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "chi", "n", "h", "root", "channels"),
    ),
    Claim(
        id="alphabets.cor-8.5",
        kind=Kind.STATEMENT,
        title="two-regime lower bound",
        text=r"$\sup_\theta E|\hat\theta-\theta|^2\ge\frac1{64}\min\{\frac{k-1}{n\chi_*},\frac1{k-1}\}$.",
        source="alphabets, Corollary 8.5",
        assumptions=("$\\chi_*>0$",),
        scope="every k and n; 16 instances of the library; below the exact minimax risk at three (k, n)",
        grade=Grade.PROVED,
        printed=_two_regimes,
        check=_check_two_regimes,
        controls=(
            Control("the larger term", lambda k, s: (_two_regimes(k, s)[1], _two_regimes(k, s)[0], (k - 1) ** 2)),
            Control("terms meet at k - 1", lambda k, s: (*_two_regimes(k, s)[:2], k - 1)),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "strength"),
    ),
)
