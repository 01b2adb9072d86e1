"""The best channel after shuffling: which measures are convex in the law of the template, and which are not."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._errata import finding
from proofs_checks.symshuffle._orbits import exact_bound
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.channels.shuffled import worst_shuffled_divergence
from symshuffle.design.shuffled.search import blanket_law
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, orbit_mechanism, subset_orbit, symmetrize

F = Fraction
SOURCE: Final = "symshuffle.design.shuffled.search"


def _response(weight: Fraction) -> tuple[Orbit, ...]:
    """3-ary response of ratio 3 that is sent with this probability, and a null output otherwise."""
    parts = ((subset_orbit(3, 1, F(3), weight), weight), (centre_orbit(3, 1 - weight), 1 - weight))
    return tuple(orbit for orbit, share in parts if share)


def _share(n: Any, j: Any, t: Any) -> Any:
    """Weight in H(n) at the mixture (1 - t, t) of the bound in which j users have the second law."""
    ways = math.comb(n, j) if isinstance(n, int) else sp.binomial(n, j)
    return ways * t**j * (1 - t) ** (n - j)


def _chord(n: Any, j: Any, t: Any) -> Any:
    """The weights if H(n) were linear in the law."""
    return t * j / n if j != 0 else 1 - t


def _told(laws: Sequence[Law], n: int, j: int) -> Fraction:
    """E(G_1 + ... + G_n)_+ / n with j terms of the second law, by all sequences of atoms."""
    atoms = [[(F(str(x)), F(str(mass))) for x, mass in law.atoms()] for law in laws]
    total = F(0)
    for drawn in itertools.product(*[atoms[0]] * (n - j), *[atoms[1]] * j):
        gain = max(F(0), sum((x for x, _ in drawn), start=F(0)))
        total += gain * math.prod((mass for _, mass in drawn), start=F(1))
    return total / n


def _check_polynomial(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every n, j, t, symbolic: the weights for one user, and what one more user does to them (induction).

    Then two laws at n = 2, 3, 4 and three mixtures, exact: H(n) from the weights. A thinned 3-ary response at eps = 0:
    H(2) and H(3) at the even mixture are above the mean of both ends.
    """
    n, j = sp.symbols("n j", positive=True, integer=True)
    t = sp.Symbol("t", positive=True)
    yield identity(statement(1, 0, t), 1 - t, at="one user, every t: the first law")
    yield identity(statement(1, 1, t), t, at="one user, every t: the second law")
    before = (1 - t) * statement(n - 1, j, t), t * statement(n - 1, j - 1, t)
    yield identity(sum(before) / statement(n, j, t), 1, at="every n, j, t: one more user")
    ends = ((subset_orbit(3, 1, F(3)),), (subset_orbit(3, 2, F(2)),))
    for users, order, weight in itertools.product((2, 3, 4), (F(1), F(6, 5)), (F(1, 4), F(2, 3))):
        laws = [blanket_law(orbits, order) for orbits in ends]
        parts = [statement(users, i, weight) * _told(laws, users, i) for i in range(users + 1)]
        mixed = subset_orbit(3, 1, F(3), 1 - weight), subset_orbit(3, 2, F(2), weight)
        at = f"k=3, n={users}, exp(eps)={order}, t={weight}: H(n) from the weights"
        yield compare(sum(parts, start=F(0)), exact_bound(mixed, users, order), at=at)
    known = {2: (F(8, 25), F(9, 50)), 3: (F(34, 125), F(41, 250))}
    for users, (end, middle) in known.items():
        found = exact_bound(_response(F(1)), users, F(1)), exact_bound(_response(F(1, 2)), users, F(1))
        shown = [compare(found, (end, middle), at=f"k=3, n={users}: H(n) of all and of half, none is 0")]
        shown.append(compare(middle, end / 2, ">", at=f"k=3, n={users}: the even mixture, and the mean"))
        yield from serving("bend", shown)


def _terms(t: Any, a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    """Share of an output that is sent t times as often, and how it bends as its likelihood moves from c along d."""
    return t * (a - b) ** 2 / c, 2 * t * (a - b) ** 2 * d**2 / c**3


def _squared(t: Any, a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    return t * _terms(t, a, b, c, d)[0], _terms(t, a, b, c, d)[1]


def _straight(t: Any, a: Any, b: Any, c: Any, d: Any) -> tuple[Any, Any]:
    return _terms(t, a, b, c, d)[0], 0 * d


def _check_moments(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every output, symbolic: its share in the sum of (p - q)^2/r in a mixture, and the second derivative in r.

    Then random laws with four inputs, in rationals: the pairwise divergences of a mixture.
    """
    t, a, b, c = sp.symbols("t a b c", positive=True)
    d, s = sp.symbols("d s", real=True)
    share, bend = statement(t, a, b, c, d)
    yield identity((t * a - t * b) ** 2 / (t * c), share, at="every output: its share in a mixture of channels")
    moved = sp.diff(statement(t, a, b, c + s * d, d)[0], s, 2).subs(s, 0)
    yield identity(moved, bend, at="every output and direction: second derivative in the background")
    least = sp.simplify(bend / (a - b) ** 2 / d**2)
    sign = nonnegative(sp.factor(least), {})
    yield decide(sign and least != 0, at="every output", claimed="it bends upwards", symbolic=True)
    for trial in range(4):
        weight, drawn = F(int(rng.integers(1, 6)), 6), rng.integers(1, 9, size=(2, 4, 3)).tolist()
        first, second = (tuple(tuple(F(v, sum(row)) for v in row) for row in one) for one in drawn)
        mixed = tuple(
            (*(weight * v for v in one), *((1 - weight) * v for v in other))
            for one, other in zip(first, second, strict=True)
        )
        parts = map(Channel, (first, second, mixed))
        budgets = [AnchoredLaw.from_channel(one).pairwise_divergence(0, 1) for one in parts]
        yield compare(budgets[2], weight * budgets[0] + (1 - weight) * budgets[1], at=f"channel {trial}: a mixture")


ROWS: Final = ((3, 8, 2, 7), (3, 8, 7, 2), (6, 4, 5, 5))


def _above(mixture: Fraction, mean: Fraction) -> bool:
    return mixture > mean


def _convex(mixture: Fraction, mean: Fraction) -> bool:
    return mixture <= mean


def _worst(channel: Channel, n: int) -> Fraction:
    pairs = itertools.permutations(range(channel.num_inputs), 2)
    return max(Fraction(worst_shuffled_divergence(channel, pair, n, F(1))[0]) for pair in pairs)


def _check_pairs(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three inputs, eps = 0, all pairs and backgrounds: a thinned response against its two parts, exact.

    Then the channel of ``symshuffle.shuffled-symmetrised`` before and after a random public relabelling, n = 2 and 3.
    """
    for n, value, end in ((2, F(9, 50), F(8, 25)), (3, F(41, 250), F(34, 125))):
        whole, half = (_worst(orbit_mechanism(_response(weight)).channel(), n) for weight in (F(1), F(1, 2)))
        yield from serving("values", [compare((whole, half), (end, value), at=f"k=3, n={n}: worst real pairs")])
        yield decide(statement(half, whole / 2), at=f"k=3, n={n}", claimed="the even mixture against the mean")
    before = Channel(tuple(tuple(F(v, 20) for v in row) for row in ROWS))
    after = symmetrize(AnchoredLaw.from_channel(before)).to_channel()
    for n, values in ((2, (F(9, 40), F(257, 1200))), (3, (F(81, 400), F(6263, 36000)))):
        found = _worst(before, n), _worst(after, n)
        yield from serving("relabelled", [compare(found, values, at=f"k=3, n={n}: before and after relabelling")])


CLAIMS: Final = (
    Claim(
        id="symshuffle.shuffled-polynomial",
        kind="statement",
        title="the certified bound is a polynomial in the law of the template, and not convex",
        text=(
            Clause(
                "polynomial",
                r"At the mixture $(1-t)\mu+t\nu$ of two exchangeable laws $H(n)=\sum_j\binom njt^j(1-t)^{n-j}h_j$, "
                r"with $h_j$ the bound in which $j$ of the $n$ independent terms have the law of $G$ under $\nu$.",
            ),
            Clause(
                "not convex",
                r"At $k=3$, $\varepsilon=0$ 3-ary response of ratio 3 has $H(2)=8/25$ and a null output has 0, but "
                r"their even mixture has $9/50>4/25$; at $n=3$ it has $41/250>17/125$.",
            ),
        ),
        source=SOURCE,
        assumptions=("exchangeable channels", "templates without zeros"),
        scope="every n, j, t by induction over users; two laws at n = 2, 3, 4; one instance that is not convex",
        grade="proved",
        printed=_share,
        check=_check_polynomial,
        controls=(
            Control("linear", _chord),
            Control("one user less", lambda n, j, t: _share(n - 1, j, t)),
        ),
        expected="holds",
        obligations=(*for_all("n", "j", "t", clause="polynomial"), *by_cases("bend", clause="not convex")),
    ),
    Claim(
        id="symshuffle.shuffled-convex-moments",
        kind="statement",
        title="the pairwise chi-square, and the moment of true pairs for many users, are convex in the law",
        text=(
            Clause(
                "linear",
                r"$E[(u_0-u_1)^2/(w\cdot u)]$ is linear in the law of the template for every background $w$, so the "
                "largest over pairs and backgrounds is convex in it: the pairwise chi-square is one of them, and "
                r"with $\min u$ for $w\cdot u$ it is the moment of the certified bound.",
            ),
            Clause("background", "It is convex in $w$, so that it is largest where all other users hold one input."),
            Clause(
                "relabelling",
                r"A public random relabelling does not raise it: for the chi-square this is `anchored.thm-6.2`.",
                "quoted",
            ),
        ),
        source="proofs_checks.symshuffle._shuffled_limits",
        assumptions=(r"$w\cdot u>0$",),
        scope="every output with its likelihoods under the pair and the background; mixtures of four random channels",
        grade="proved",
        printed=_terms,
        check=_check_moments,
        controls=(Control("quadratic in the law", _squared), Control("straight in the background", _straight)),
        expected="holds",
        obligations=(
            *for_all("t", clause="linear"),
            *for_all("a", "b", "c", clause=("linear", "background")),
            *for_all("d", clause="background"),
        ),
    ),
    finding(
        "shuffled-pairs-not-convex",
        "for finitely many users the worst real pair is not convex in the law of the template",
        (
            Clause(
                "mixture",
                r"At $k=3$, $\varepsilon=0$, $n=2$ the worst real pair of 3-ary response of ratio 3 has $8/25$ and "
                r"that of a null output 0, but that of their even mixture $9/50>4/25$.",
            ),
            Clause(
                "relabelled",
                "A random public relabelling of the channel of `symshuffle.shuffled-symmetrised` lowers its worst real "
                r"pair, from $9/40$ to $257/1200$ at $n=2$ and from $81/400$ to $6263/36000$ at $n=3$, where it raises "
                "the certified bound at $n=2$.",
            ),
            Clause("open", "Whether a relabelling can raise the worst real pair is open.", "quoted"),
        ),
        _above,
        _convex,
        source=SOURCE,
        assumptions=("k = 3", "eps = 0", "n = 2 and 3"),
        scope="two channels, all pairs and backgrounds enumerated",
        check=_check_pairs,
        controls=(Control("never", lambda mixture, mean: False),),
        obligations=(
            *for_all("mixture", "mean", clause="mixture"),
            *by_cases("values", clause="mixture"),
            *by_cases("relabelled", clause="relabelled"),
        ),
    ),
)
