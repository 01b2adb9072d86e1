"""Section 1: the model, the gauge, and the remark on Gaussian limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._gauges import helmert, range_radius_squared
from proofs_checks.anchored import _cases as cases
from symshuffle.base.numbers import Verdict, brief
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.geometry.linear import dot
from symshuffle.channels.shuffled import hockey_stick, shuffled_law
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Control,
    Correction,
    Statement,
    by_cases,
    for_all,
    in_the_limit,
)
from symshuffle.ledger.claims.parts import Clause, Erratum
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.anchored.maps import fiber


def _word(counts: Sequence[Any], first: int, own: Sequence[Any], other: Sequence[Any]) -> tuple[Any, Any]:
    """Probabilities of a word by its counts of outputs, where a uniformly placed user has row ``own``, or nobody has.

    All others have the row ``other``; ``first`` is the first letter, which does not matter.
    """
    total: Any = sum(counts)
    placed = sum(count * own[y] * _others(counts, y, other) for y, count in enumerate(counts) if count != 0) / total
    return placed, math.prod(p**count for p, count in zip(other, counts, strict=True))


def _others(counts: Sequence[Any], left_out: int, row: Sequence[Any]) -> Any:
    """Probability of the letters of a word but one, each from the row."""
    return math.prod(p ** (count - int(y == left_out)) for y, (p, count) in enumerate(zip(row, counts, strict=True)))


def _fixed_slot(counts: Sequence[Any], first: int, own: Sequence[Any], other: Sequence[Any]) -> tuple[Any, Any]:
    """As :func:`_word`, with the differing user in the first place."""
    return own[first] * _others(counts, first, other), _word(counts, first, own, other)[1]


def _histogram(counts: Sequence[Any], own: Sequence[Any], other: Sequence[Any]) -> Any:
    """Probability of the counts of one draw of ``own`` and all others of ``other``."""
    total: Any = 0
    for y, chance in enumerate(own):
        rest = [count - int(y == z) for z, count in enumerate(counts)]
        orders = sp.factorial(sum(counts) - 1) / math.prod(map(sp.factorial, rest))
        total += chance * orders * _others(counts, y, other)
    return total


def _any_word(statement: Statement) -> Iterator[Comparison]:
    """Two outputs with open rows and counts: a histogram has the probability of its words, which are alike.

    Further outputs add the same factors to both sides, and a summand each. So the sum over the words of a histogram of
    the positive part of P - gamma Q is the number of words times that of one word.
    """
    counts = sp.symbols("h1 h2", integer=True, positive=True)
    own, other = sp.symbols("q1 q2", positive=True), sp.symbols("p1 p2", positive=True)
    words = sp.factorial(sum(counts)) / math.prod(map(sp.factorial, counts))
    for first in (0, 1):
        placed, nobody = statement(counts, first, own, other)
        for name, word, row in (("somebody", placed, own), ("nobody", nobody, other)):
            scale = words * math.prod(p**count for p, count in zip(other, counts, strict=True))
            counted = _histogram(counts, row, other)
            at = f"{name} holds i, word that begins with output {first}: any n and rows"
            yield identity(words * word / scale, counted / scale, at=at)


def _check_model(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every n and channel, word by word; then 8 random channels, n <= 4: the divergence of the library's histograms.

    Against that of the stated words, each of which is enumerated; hockey-stick divergences in both directions, in exact
    rationals.
    """
    yield from _any_word(statement)
    for trial in range(8):
        channel = cases.channel(rng, 2 + trial % 2, 3, zeros=0.15)
        n, gamma = 1 + trial % 4, Fraction(int(rng.integers(2, 14)), 6)
        outputs, (own, other) = range(channel.num_outputs), channel.rows[:2]
        words = itertools.product(outputs, repeat=n)
        p, q = zip(*(statement([w.count(y) for y in outputs], w[0], own, other) for w in words), strict=True)
        first, second = (shuffled_law(channel, (x, *[1] * (n - 1))) for x in (0, 1))
        cells = sorted(set(first) | set(second))
        ours = [[law.get(cell, Fraction(0)) for cell in cells] for law in (first, second)]
        for name, direction in (("forward", 1), ("reverse", -1)):
            value = hockey_stick(ours[::direction][0], ours[::direction][1], gamma)
            claimed = hockey_stick((p, q)[::direction][0], (p, q)[::direction][1], gamma)
            yield compare(value, claimed, at=f"channel {trial}, n={n}, {gamma}, {name}")


def _gauge(k: Any) -> tuple[Any, Any, Any]:
    """Inner products of two different vertices and of one with itself, and the squared edge."""
    return -sp.Integer(1) / k, 1 - sp.Integer(1) / k, sp.Integer(2)


def _check_gauge(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every k: inner products of the Helmert vertices, telescoping series, against the stated ones; symbolic.

    Again for k = 2 to 6 from the matrix: products with vertex 0, and the sum of the vertices.
    """
    j, size = sp.symbols("j k", integer=True, positive=True)
    other, same, edge = statement(size)
    # Vertex i of the Helmert simplex has entries 1/sqrt((c+1)(c+2)) in columns c >= i, minus (c+1) of it at c = i - 1.
    # Shared columns of two vertices sum the same telescoping series.
    column = sp.Symbol("c", integer=True, nonnegative=True)
    term = 1 / ((column + 1) * (column + 2))
    primitive = -1 / (column + 1)
    yield identity(primitive.subs(column, column + 1) - primitive, term, at="every column: telescoping")
    tail = primitive.subs(column, size - 1) - primitive.subs(column, j)
    yield identity(tail + j**2 * term.subs(column, j - 1), same, at="every k: length of vertex j")
    yield identity(tail - j * term.subs(column, j - 1), other, at="every k: vertices i < j")
    yield identity(2 * same - 2 * other, edge, at="every k: squared edge")
    for k in range(2, 7):
        gauge = helmert(k)
        gram = sp.simplify(gauge * gauge.T)
        for a in range(k):
            yield identity(gram[a, 0], statement(sp.Integer(k))[1 if a == 0 else 0], at=f"k={k}, vertices {a} and 0")
        yield identity(sum(gauge[a, 0] for a in range(k)), 0, at=f"k={k}, vertices sum to 0")


def _centre(k: Any, square: Any, lifted: Any) -> tuple[Any, Any]:
    """Squared length of the centred coordinate, and an entry of the composition from that of V b_w."""
    return square - sp.Integer(1) / k, sp.Integer(1) / k + lifted


def _check_centre(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k: squared length of the centred coordinate, and an entry recovered, against the stated ones; symbolic.

    Then 8 random compositions in two rational gauges: both, and the coordinate as the sum over the vertices, in exact
    rationals.
    """
    size, square, total, entry = sp.symbols("k Q s w", positive=True)
    # V V^T = I - 11^T/k, so |V^T w|^2 = w^T (I - 11^T/k) w, and V V^T w has the entries w_i - s/k.
    length, _ = statement(size, square, entry)
    yield from serving("length", [identity((square - total**2 / size).subs(total, 1), length, at="every k")])
    _, recovered = statement(size, square, (entry - total / size).subs(total, 1))
    yield from serving("entries", [identity(entry, recovered, at="every k and entry: recovered")])
    for trial in range(8):
        w = cases.distribution(rng, 4, zeros=0.2)
        for gauge in cases.gauges():
            b = gauge.point(w)
            four, norm = sp.Integer(4), sp.Rational(str(dot(w, w)))
            yield compare(dot(b, b), Fraction(str(statement(four, norm, 0)[0])), at=f"case {trial}")
            lifted = [Fraction(str(statement(four, norm, sp.Rational(str(one)))[1])) for one in gauge.lift(b)]
            yield compare(tuple(lifted), w, at=f"case {trial}, recovered")
            corners = [gauge.point([Fraction(int(i == j)) for j in range(4)]) for i in range(4)]
            summed = tuple(dot(w, [corner[j] for corner in corners]) for j in range(3))
            yield compare(tuple(b), summed, at=f"case {trial}: sum over the vertices")


def _always_gaussian(fixed: bool) -> bool:
    """Whether sums of interior fiber variables have Gaussian limits only, where the law is fixed or not."""
    return True


def _check_gaussian(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """A fixed law, and one that reports with probability 1/n: whether sums tend to a Gaussian, as stated.

    The fixed law by two symbolic limits and, for binary response, by its distance to the Gaussian under the
    Berry-Esseen bound (floats); the other by the mass of its atom at the centre, between 1/4 and 3/8 for n <= 1000
    (exact).
    """
    law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    w = (Fraction(1, 3), Fraction(2, 3))
    yield _bounded(law, w, "binary response")
    yield from _limit(statement)
    seen = fiber(law, w)
    values = [float(_contrast(r)[0]) for r in seen.ratios.points]
    masses = [float(weight) for weight in seen.ratios.weights]
    variance = sum(m * v * v for v, m in zip(values, masses, strict=True))
    third = sum(m * abs(v) ** 3 for v, m in zip(values, masses, strict=True))
    for n in (10, 100, 1000, 10_000):
        distance = _two_point_distance(values, masses, variance, n)
        bound = 0.4748 * third / (variance**1.5 * n**0.5)  # Berry-Esseen; it falls to 0
        near = compare(distance, bound, "<=", at=f"fixed law, n={n}", slack=1e-12)
        yield decide((near.verdict is Verdict.TRUE) is statement(True), at=near.at, claimed="near the Gaussian")
        yield near
    yield from _rare_reports(statement, w)


def _second_order() -> bool:
    """Whether the mean of exp(s Z) is within (B s)^3 exp(B s)/6 of 1 + v s^2/2, Z centred, of variance v, |Z| <= B.

    Any law will do: coefficient by coefficient, 1/j! is at most 1/(6 (j - 3)!) for j >= 3.
    """
    i = sp.Symbol("i", nonnegative=True)
    return sp.expand((i + 3) * (i + 2) * (i + 1) - 6).is_nonnegative is True


def _normal_limit() -> bool:
    """Whether n-th powers between 1 + a/n - c/n^(3/2) and 1 + a/n + c/n^(3/2) tend to exp(a).

    These are the generating functions of the sums over the root of n, with a = v s^2/2, at every argument s.
    """
    a, c, h = sp.symbols("a c h", positive=True)  # h = n^(-1/2)
    return [sp.limit(sp.log(1 + a * h**2 + sign * c * h**3) / h**2, h, 0, "+") for sign in (1, -1)] == [a, a]


def _check_fixed_law(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For any fixed law: generating functions of sums tend to that of a Gaussian, as stated; symbolic.

    Binary response has a bounded fiber, and a law that reports with probability 1/n keeps its atom, in exact rationals.
    """
    law = AnchoredLaw.from_channel(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))
    w = (Fraction(1, 3), Fraction(2, 3))
    yield _bounded(law, w, "binary response")
    yield from _limit(statement)
    yield from _rare_reports(statement, w)


def _limit(statement: Statement) -> Iterator[Comparison]:
    """Any fixed law: two orders with a bounded rest, and the limit of n-th powers, against the statement; symbolic."""
    for clause, holds, at in (
        ("laws", _second_order(), "every fixed law and interior composition: two orders and a bounded rest"),
        ("n", _normal_limit(), "generating functions of the sums, at every argument, from both sides"),
    ):
        found = decide(holds is statement(True), at=at, claimed="those of a Gaussian", symbolic=True)
        yield from serving(clause, [found])


def _rare_reports(statement: Statement, w: tuple[Fraction, ...]) -> Iterator[Comparison]:
    """The law of a channel that reports with probability 1/n: all n fiber variables vanish with mass (1 - 1/n)^n.

    A law with an atom of mass m is at Kolmogorov distance at least m/2 from every Gaussian, and this atom is neither
    all of the sum nor nothing: its mass rises from 1/4 to 1/e.
    """
    report, silence = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]), Channel.from_rows([[1], [1]])
    for n in (2, 10, 100, 1000):
        law = AnchoredLaw.from_channel(direct_sum([report, silence], [Fraction(1, n), 1 - Fraction(1, n)]))
        yield _bounded(law, w, f"reports with probability 1/{n}")
        seen = fiber(law, w).ratios
        silent = sum((m for r, m in zip(seen.points, seen.weights, strict=True) if not any(_contrast(r))), Fraction(0))
        yield compare(silent, 1 - Fraction(1, n), at=f"n={n}: mass of the centre")
        gaussian = not Fraction(1, 4) <= silent**n <= Fraction(3, 8)
        found = f"an atom of mass {brief(silent**n)}, neither 0 nor 1"
        yield compare(gaussian, statement(False), at=f"the law varies with n={n}: Gaussian in the limit", found=found)


def _bounded(law: AnchoredLaw, w: tuple[Fraction, ...], at: str) -> Comparison:
    """The longest vector of a fiber against the radius of its range, in exact rationals."""
    radius = range_radius_squared(w)
    largest = max(dot(z, z) for z in (_contrast(r) for r in fiber(law, w).ratios.points))
    return compare(largest, radius if radius is not None else Fraction(-1), "<=", at=f"the fiber is bounded, {at}")


def _contrast(r: Sequence[Fraction]) -> tuple[Fraction, ...]:
    """A vector less its mean."""
    centre = sum(r, start=Fraction(0)) / len(r)
    return tuple(entry - centre for entry in r)


def _two_point_distance(values: Sequence[float], masses: Sequence[float], variance: float, n: int) -> float:
    """Kolmogorov distance of the normalised sum of n copies of a two-point law to the standard Gaussian."""
    from scipy.stats import binom, norm

    (low, high), step = sorted(values), abs(values[1] - values[0])
    p = masses[values.index(high)]
    counts = np.arange(n + 1)
    grid = (n * low + counts * step) / (variance * n) ** 0.5
    gaussian, upper = norm.cdf(grid), binom.cdf(counts, n, p)
    lower = np.concatenate(([0.0], upper[:-1]))
    return float(max(np.abs(upper - gaussian).max(), np.abs(lower - gaussian).max()))


CLAIMS: Final = (
    Claim(
        id="anchored.eq-1.1",
        kind="statement",
        title="the shuffled contamination pair",
        text=(
            Clause("pair", "One uniformly placed user holds i, all others j.", "definition"),
            Clause("divergence", "Ordered messages and their histograms give the same divergence."),
        ),
        source="anchored, equation (1.1)",
        assumptions=("finitely many outputs",),
        scope="every n, row and count of two outputs, word by word; 8 random channels with zeros, n <= 4, both "
        "directions",
        grade="proved",
        printed=_word,
        check=_check_model,
        controls=(Control("the differing user in a fixed place", _fixed_slot),),
        expected="holds",
        obligations=(*for_all("counts", "own", "other", clause="divergence"), *by_cases("first", clause="divergence")),
    ),
    Claim(
        id="anchored.eq-1.2",
        kind="statement",
        title="vertices of the regular simplex",
        text=(
            Clause("sum", r"$a_i=V^Te_i$: $\sum_ia_i=0$."),
            Clause("products", r"$\langle a_i,a_j\rangle=\delta_{ij}-\frac1k$."),
            Clause("distances", "$|a_i-a_j|^2=2$."),
        ),
        source="anchored, equation (1.2)",
        assumptions=("$V^TV=I$, $V^T1=0$",),
        scope="Helmert gauge: every k by telescoping; products with vertex 0 and the sum of vertices for k = 2..6",
        grade="proved",
        printed=_gauge,
        check=_check_gauge,
        controls=(
            Control("vertices of length one", lambda k: (-1 / (k - 1), sp.Integer(1), 2 + 2 / (k - 1))),
            Control("inner product 1/k", lambda k: (1 / sp.sympify(k), 1 - 1 / sp.sympify(k), sp.Integer(2))),
        ),
        expected="holds",
        obligations=for_all("k", clause=("sum", "products", "distances")),
    ),
    Claim(
        id="anchored.eq-1.3",
        kind="statement",
        title="the centred coordinate of a composition",
        text=(
            Clause("coordinate", r"$b_w=V^Tw=\sum_iw_ia_i$.", "definition"),
            Clause("recovered", r"$w=\frac1k1+Vb_w$."),
            Clause("length", r"$|b_w|^2=|w|^2-\frac1k$."),
        ),
        source="anchored, equation (1.3)",
        assumptions=("$w$ a probability vector",),
        scope="every k; 8 compositions in two rational gauges",
        grade="proved",
        printed=_centre,
        check=_check_centre,
        controls=(
            Control("length without the centring", lambda k, square, lifted: (square, _centre(k, square, lifted)[1])),
            Control("recovered without the centre", lambda k, square, lifted: (_centre(k, square, lifted)[0], lifted)),
        ),
        expected="holds",
        obligations=(
            *for_all("k", clause=("recovered", "length")),
            *for_all("square", "length", clause="length"),
            *for_all("lifted", "entries", clause="recovered"),
        ),
    ),
    Claim(
        id="anchored.scope-1.4",
        kind="statement",
        title="Gaussian limits at interior compositions",
        text=(
            Clause(
                "said",
                "Interior fibers are bounded, so any asymptotic theory based on them only is necessarily Gaussian.",
            ),
            Clause(
                "instead",
                "Bounded they are; but the paper does not fix the law, and lets it vary with $n$ in Sections 8 "
                "and 9. If a channel reports with probability $1/n$, the sum of its $n$ fiber variables is "
                "compound Poisson in the limit: it keeps an atom of mass $e^{-1}$.",
            ),
        ),
        source="anchored, Introduction (scope and limitation) and Section 10",
        assumptions=("an interior composition", "$n\\to\\infty$"),
        scope="boundedness and the atom exactly, n <= 1000; binary response under the Berry-Esseen bound, n <= 10^4",
        grade="refuted",
        printed=_always_gaussian,
        check=_check_gaussian,
        controls=(
            Control("Gaussian only where the law varies", lambda fixed: not fixed),
            Control("never Gaussian", lambda fixed: False),
        ),
        expected="refuted",
        erratum=Erratum(
            "hypothesis",
            "reading",
            "A law that does not change with n is probably meant; the sentence does not say so, and later "
            "sections let it change.",
            quote="is necessarily Gaussian there",
        ),
        corrected=Correction(
            "For a law that does not depend on $n$, normalised sums of independent fiber variables at an interior "
            "composition have Gaussian limits only.",
            lambda fixed: fixed,
            "proved",
            _check_fixed_law,
        ),
        obligations=(
            *for_all("laws", clause="said"),
            *in_the_limit("n", clause="instead"),
        ),
    ),
)
