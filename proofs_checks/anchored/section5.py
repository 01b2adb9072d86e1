"""Section 5: moment matrices, the canonical estimator, and its exact risks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from symshuffle.anchored import AnchoredLaw, Gauge, helmert, symmetrize
from symshuffle.anchored.law import exact_columns
from symshuffle.anchored.linear import Matrix, Vector, dot, inverse, product, transpose
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
    identity,
)
from symshuffle.estimation.canonical import (
    Population,
    canonical_estimator,
    canonical_risk,
    enumerated_risk,
    fisher_information,
    inverse_trace,
    simulated_risk,
    worst_canonical_risk,
)

ZERO: Final = Fraction(0)
Atoms = Sequence[tuple[Vector, Fraction]]


def _outer(x: Vector) -> Matrix:
    return tuple(tuple(a * b for b in x) for a in x)


def _sum(matrices: Sequence[Matrix]) -> Matrix:
    return tuple(
        tuple(sum((m[i][j] for m in matrices), start=ZERO) for j in range(len(matrices[0])))
        for i in range(len(matrices[0]))
    )


def _scale(matrix: Matrix, factor: Fraction) -> Matrix:
    return tuple(tuple(entry * factor for entry in row) for row in matrix)


def _points(law: AnchoredLaw, gauge: Gauge) -> list[tuple[Vector, Fraction]]:
    return [(gauge.point(u), weight) for u, weight in law.template.atoms()]


def _trace(matrix: Matrix) -> Fraction:
    return sum((row[i] for i, row in enumerate(matrix)), start=ZERO)


def _moment_matrices(atoms: Atoms, vertices: Matrix) -> tuple[Matrix, list[Matrix]]:
    """The covariance, and the second moment under every row, in a gauge."""
    sigma = _sum([_scale(_outer(x), weight) for x, weight in atoms])
    rows = [_sum([_scale(_outer(x), weight * (1 + dot(a, x))) for x, weight in atoms]) for a in vertices]
    return sigma, rows


def _check_moments(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(8):
        law = AnchoredLaw.from_channel(cases.channel(rng, 4, 3 + trial % 3, zeros=0.1))
        for name, gauge in zip("AB", cases.gauges(), strict=True):
            sigma, rows = statement(_points(law, gauge), gauge.rows)
            lift, back = gauge.rows, transpose(gauge.rows)
            where = f"law {trial}, gauge {name}"
            yield compare(law.covariance(), product(product(lift, sigma), back), at=f"{where}: covariance")
            yield compare(law.trace(), _trace(sigma), at=f"{where}: trace")
            for i, row in enumerate(rows):
                yield compare(law.row_second_moment(i), product(product(lift, row), back), at=f"{where}: row {i}")


def _information(size: int) -> tuple[Any, Any]:
    """The composition at local coordinate t, and what multiplies the covariance in the information at t = 0."""
    gauge = helmert(size)
    return (lambda t: sp.ones(size, 1) / size + gauge * t), sp.Symbol("n", positive=True)


def _check_information(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    mass, first, second, s1, s2 = sp.symbols("m x1 x2 t1 t2", real=True)
    p = mass * (1 + s1 * first + s2 * second)  # one output in two of the coordinates, the others at 0
    entry = (sp.diff(p, s1) * sp.diff(p, s2) / p).subs({s1: 0, s2: 0})
    yield identity(entry, mass * first * second, at="every channel: one output's share of an entry")
    n = sp.Symbol("n", positive=True)
    gauge = helmert(3)
    composition, factor = statement(3)
    t = sp.Matrix(sp.symbols("t1:3"))
    for trial in range(3):
        channel = cases.channel(rng, 3, 4)
        law = AnchoredLaw.from_channel(channel)
        w = composition(t)
        probabilities = [
            sum(w[i] * sp.Rational(str(c)) for i, c in enumerate(column)) for column in exact_columns(channel)
        ]
        covariance = gauge.T * sp.Matrix(law.covariance()) * gauge
        for a in range(2):
            for b in range(a, 2):
                total = sum(sp.diff(p, t[a]) * sp.diff(p, t[b]) / p for p in probabilities)
                found = n * total.subs(dict.fromkeys(t, 0))
                yield identity(found, factor * covariance[a, b], at=f"channel {trial}, entry {a}{b}, at uniform")
        w0 = cases.distribution(rng, 3)
        direct = fisher_information(law, w0, n=5)
        for a in range(3):
            rows = [tuple(c - sum(column, start=ZERO) / 3 for c in column) for column in exact_columns(channel)]
            masses = [dot(w0, column) for column in exact_columns(channel)]
            claimed = 5 * sum((row[a] ** 2 / mass for row, mass in zip(rows, masses, strict=True)), start=ZERO)
            yield compare(direct[a][a], claimed, at=f"channel {trial}, composition {tuple(map(str, w0))}, entry {a}")


def _singular(law: AnchoredLaw) -> Any:
    """The risk at a singular covariance."""
    return math.inf


def _check_singular(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(10):
        k = 3 + trial % 2
        law = AnchoredLaw.from_channel(cases.channel(rng, k, 2))
        uniform = (Fraction(1, k),) * k
        found = canonical_risk(law, uniform, n=k, population=Population.IID)
        yield decide(
            found == statement(law), at=f"{k} inputs, 2 outputs", claimed=str(statement(law)), computed=str(found)
        )
        yield decide(inverse_trace(law) == math.inf, at=f"{k} inputs, 2 outputs", claimed="infinite inverse trace")


def _same_estimator(channel: Channel) -> bool:
    """Whether the estimator can ignore the channel."""
    return False


def _check_dependence(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    flat = Channel(tuple(tuple((entry + Fraction(1, 3)) / 2 for entry in row) for row in cases.EXAMPLE.rows))
    truth = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    votes = [canonical_estimator(AnchoredLaw.from_channel(channel)).votes(channel) for channel in (cases.EXAMPLE, flat)]
    yield compare(votes[0] == votes[1], statement(flat), at="the example and its dilution by one half: equal votes")
    mixed = [dot(truth, column) for column in exact_columns(flat)]
    for which, name in ((1, "its own estimator"), (0, "the other one")):
        means = tuple(Fraction(1, 3) + dot(mixed, vote) for vote in zip(*votes[which], strict=True))
        yield compare(means == truth, which == 1 or statement(flat), at=f"the dilution with {name}: unbiased")


def _fixed_risk(sigma: Matrix, rows: list[Matrix], w: Vector, n: int) -> Fraction:
    """The risk when exactly n w_i users hold i."""
    inverted = inverse(sigma)
    assert inverted is not None
    sizes = [_trace(product(product(inverted, m), inverted)) for m in rows]
    return (dot(w, sizes) - (1 - Fraction(1, len(w)))) / n


def _iid_risk(sigma: Matrix, rows: list[Matrix], w: Vector, n: int) -> Fraction:
    """The risk when users draw from w."""
    return _fixed_risk(sigma, rows, w, n) + (1 - dot(w, w)) / n


def _no_cross(sigma: Matrix, rows: list[Matrix], w: Vector, n: int) -> Fraction:
    """As if every row had the second moment of the average."""
    return _fixed_risk(sigma, [sigma] * len(rows), w, n)


def _check_risk(population: Population, statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    gauge = cases.gauges()[1]
    for trial in range(8):
        channel = cases.channel(rng, 4, 4, zeros=0.1)
        law, n = AnchoredLaw.from_channel(channel), 1 + trial % 3
        if inverse_trace(law) == math.inf:
            continue
        held = [int(v) for v in rng.multinomial(n, [0.25] * 4)]
        w = tuple(Fraction(v, n) for v in held) if population is Population.FIXED else cases.distribution(rng, 4)
        brute, mean = enumerated_risk(channel, w, n=n, population=population)
        where = f"channel {trial}, n={n}, w={tuple(map(str, w))}"
        atoms = _points(law, gauge)
        yield compare(brute, statement(*_moment_matrices(atoms, gauge.rows), w, n), at=f"{where}: by enumeration")
        yield compare(canonical_risk(law, w, n=n, population=population), brute, at=f"{where}: closed form")
        yield compare(mean, w, at=f"{where}: unbiased")
        worst, argument = worst_canonical_risk(law, n=n, population=population)
        others = [cases.distribution(rng, 4, zeros=0.3) for _ in range(5)]
        grid = [_vertex(i) for i in range(4)] if population is Population.FIXED else others
        for other in grid:
            value = canonical_risk(law, other, n=n, population=population)
            yield compare(value, worst, "<=", at=f"{where}: worst composition {tuple(map(str, argument))}")


def _vertex(i: int) -> Vector:
    return tuple(Fraction(int(i == j)) for j in range(4))


def _check_fixed(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield from _check_risk(Population.FIXED, statement, rng)
    law = AnchoredLaw.from_channel(cases.EXAMPLE)
    risks = [
        canonical_risk(law, [Fraction(i == j) for j in range(3)], n=1, population=Population.FIXED) for i in range(3)
    ]
    mean = sum((Fraction(risk) for risk in risks), start=ZERO) / 3
    yield compare(mean, inverse_trace(law) - Fraction(2, 3), at="the example: average over constant populations")


def _check_iid(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    yield from _check_risk(Population.IID, statement, rng)
    law = AnchoredLaw.from_channel(cases.EXAMPLE)
    value, argument = worst_canonical_risk(law, n=1, population=Population.IID)
    yield compare(
        (value, argument), (Fraction(53361, 5000), (ZERO, Fraction(31, 100), Fraction(69, 100))), at="the example"
    )
    even = symmetrize(law)
    value, argument = worst_canonical_risk(even, n=1, population=Population.IID)
    yield compare(
        (value, argument), (4 / even.trace(), (Fraction(1, 3),) * 3), at="the example, symmetrised: worst at uniform"
    )
    truth = (Fraction(1, 2), Fraction(1, 4), Fraction(1, 4))
    estimate, error = simulated_risk(cases.EXAMPLE, truth, n=40, population=Population.IID, rng=rng)
    exact = canonical_risk(law, truth, n=40, population=Population.IID)
    yield decide(
        abs(estimate - float(exact)) < 5 * error, at="n=40, 10^4 seeded runs", claimed="within 5 standard errors"
    )


def _vanishing(function: Any, atoms: Atoms) -> Vector:
    """The moment of f(x) x under an exchangeable law, for a symmetric f."""
    return (ZERO,) * 3


SYMMETRIC: Final[dict[str, Callable[[Vector], Fraction]]] = {
    "sum of squares": lambda u: dot(u, u),
    "sum of cubes": lambda u: sum((entry**3 for entry in u), start=ZERO),
    "largest times smallest": lambda u: max(u) * min(u),
}


def _check_vanishing(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    k, total = sp.symbols("k s", integer=True, positive=True)
    # A coordinate of the average of all rearrangements of u: each value sits there (k-1)! of k! times.
    average = sp.factorial(k - 1) * total / sp.factorial(k)
    yield identity(average.subs(total, k) - 1, 0, at="every k: rearrangements of a template average to the centre")
    gauge = cases.gauges()[0]
    for trial in range(6):
        law = symmetrize(AnchoredLaw.from_channel(cases.channel(rng, 4, 2, zeros=0.2)))
        for name, f in SYMMETRIC.items():
            moment = tuple(
                sum((weight * f(u) * gauge.point(u)[c] for u, weight in law.template.atoms()), start=ZERO)
                for c in range(3)
            )
            yield compare(moment, statement(f, _points(law, gauge)), at=f"law {trial}, {name}")


def _check_not_symmetric(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    gauge = cases.gauges()[0]
    law = symmetrize(AnchoredLaw.from_channel(cases.channel(rng, 4, 2)))
    moment = tuple(
        sum((weight * u[0] * gauge.point(u)[c] for u, weight in law.template.atoms()), start=ZERO) for c in range(3)
    )
    yield compare(moment, statement(None, _points(law, gauge)), at="f = first coordinate, not symmetric")


def _budget(u: Vector, i: int, j: int) -> Any:
    """The integrand of the divergence of row i from row j at a template."""
    if u[j] == 0:
        return ZERO if u[i] == 0 else math.inf
    return (u[i] - u[j]) ** 2 / u[j]


def _check_budget(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(12):
        channel = cases.WITH_ZERO if trial == 0 else cases.channel(rng, 3, 4, zeros=0.15)
        law = AnchoredLaw.from_channel(channel)
        values = []
        for i in range(3):
            for j in range(3):
                if i != j:
                    claimed = sum(weight * statement(u, i, j) for u, weight in law.template.atoms())
                    values.append(claimed)
                    yield decide(
                        _chi_square(channel, i, j) == claimed,
                        at=f"channel {trial}, rows {i} to {j}",
                        claimed=str(claimed),
                    )
        yield decide(law.pairwise_budget() == max(values), at=f"channel {trial}", claimed=f"budget {max(values)}")


def _chi_square(channel: Channel, i: int, j: int) -> Any:
    """From the rows themselves."""
    from symshuffle.divergences import chi_square

    return chi_square(channel.rows[i], channel.rows[j])


CLAIMS: Final = (
    Claim(
        id="anchored.def-5.1",
        kind=Kind.DEFINITION,
        title="moment matrices",
        text=r"$\Sigma=\int xx^T\,d\mu$ and $M_i=\int xx^T(1+\langle a_i,x\rangle)\,d\mu$.",
        source="anchored, Definition 5.1",
        assumptions=(),
        scope="8 random laws with 4 inputs in two rational gauges, against template coordinates",
        grade=Grade.EXACT_CASES,
        printed=_moment_matrices,
        check=_check_moments,
        controls=(
            Control(
                "row moments without the tilt",
                lambda atoms, vertices: (
                    _moment_matrices(atoms, vertices)[0],
                    [_moment_matrices(atoms, vertices)[0]] * 4,
                ),
            ),
            Control(
                "covariance as a sum over rows",
                lambda atoms, vertices: (
                    _sum(_moment_matrices(atoms, vertices)[1]),
                    _moment_matrices(atoms, vertices)[1],
                ),
            ),
        ),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="anchored.prop-5.2",
        kind=Kind.STATEMENT,
        title="Fisher information at the uniform composition",
        text=r"At $w(t)=\frac1k1+Vt$ the information of $n$ messages about $t$ at $t=0$ is $n\Sigma$.",
        source="anchored, Proposition 5.2",
        assumptions=("i.i.d. users",),
        scope="entry by entry for every channel; 3 random channels differentiated in SymPy; other compositions in Q",
        grade=Grade.PROVED,
        printed=_information,
        check=_check_information,
        controls=(
            Control("information of one message", lambda size: (_information(size)[0], sp.Integer(1))),
            Control(
                "a local coordinate of twice the scale",
                lambda size: ((lambda t: sp.ones(size, 1) / size + 2 * helmert(size) * t), _information(size)[1]),
            ),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.conv-5.3",
        kind=Kind.DEFINITION,
        title="the risk at a singular covariance",
        text=r"If $\Sigma$ is singular the canonical risks are $+\infty$.",
        source="anchored, Convention 5.3",
        assumptions=(),
        scope="10 random channels with fewer outputs than inputs",
        grade=Grade.EXACT_CASES,
        printed=_singular,
        check=_check_singular,
        controls=(Control("the value of the pseudo-inverse", lambda law: 1 / law.trace()),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="anchored.rem-5.4",
        kind=Kind.STATEMENT,
        title="the estimator needs to know the channel",
        text=r"The canonical estimator depends on $\mu$ through $\Sigma$: used on another channel it is biased.",
        source="anchored, Remark 5.4",
        assumptions=(),
        scope="one channel and its dilution by one half",
        grade=Grade.EXACT_CASES,
        printed=_same_estimator,
        check=_check_dependence,
        controls=(Control("one estimator for both", lambda channel: True),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.prop-5.5",
        kind=Kind.STATEMENT,
        title="fixed-composition risk",
        text=(
            r"$E\hat w=w$ and $R_{\rm "
            r"fix}(w)=\frac1n[\sum_iw_i\operatorname{tr}(\Sigma^{-1}M_i\Sigma^{-1})-(1-\frac1k)]$, affine in $w$."
        ),
        source="anchored, Proposition 5.5",
        assumptions=(r"$\Sigma$ invertible, $nw$ integer",),
        scope="8 random channels, 4 inputs and 4 outputs, n <= 3, all histograms; vertices are worst",
        grade=Grade.EXACT_CASES,
        printed=_fixed_risk,
        check=_check_fixed,
        controls=(
            Control(
                "subtracting 1", lambda sigma, rows, w, n: _fixed_risk(sigma, rows, w, n) - Fraction(1, len(w) * n)
            ),
            Control("without the third moments", _no_cross),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.lem-5.6",
        kind=Kind.STATEMENT,
        title="symmetric moments of an exchangeable law vanish",
        text=r"For exchangeable $\mu$ and permutation-invariant $f$: $\int f(x)\,x\,d\mu=0$.",
        source="anchored, Lemma 5.6",
        assumptions=("$f$ integrable",),
        scope="rearrangements of a template for every k; 6 symmetrised laws, 3 functions",
        grade=Grade.PROVED,
        printed=_vanishing,
        check=_check_vanishing,
        controls=(Control("a function that is not symmetric", _vanishing, _check_not_symmetric),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.prop-5.7",
        kind=Kind.STATEMENT,
        title="i.i.d. risk",
        text=(
            r"$R_{\rm iid}(w)=\frac1n[\sum_iw_i\operatorname{tr}(\Sigma^{-1}M_i\Sigma^{-1})-|w|^2+\frac1k]$; for "
            r"exchangeable $\mu$ it is largest at uniform $w$."
        ),
        source="anchored, Proposition 5.7",
        assumptions=(r"$\Sigma$ invertible",),
        scope="8 random channels, n <= 3, all histograms; worst compositions; one seeded simulation",
        grade=Grade.EXACT_CASES,
        printed=_iid_risk,
        check=_check_iid,
        controls=(
            Control("the fixed-composition risk", _fixed_risk),
            Control(
                "the variance of the empirical composition added twice",
                lambda sigma, rows, w, n: _iid_risk(sigma, rows, w, n) + (1 - dot(w, w)) / n,
            ),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="anchored.def-5.8",
        kind=Kind.DEFINITION,
        title="the canonical pairwise budget",
        text=(
            r"$\max_{i\ne j}\int\frac{\langle a_i-a_j,x\rangle^2}{1+\langle a_j,x\rangle}d\mu=\max_{i\ne "
            r"j}\chi^2(W_i\Vert W_j)$, with $0/0=0$ and $t/0=\infty$."
        ),
        source="anchored, Definition 5.8",
        assumptions=(),
        scope="12 channels, some with zeros, against the rows",
        grade=Grade.EXACT_CASES,
        printed=_budget,
        check=_check_budget,
        controls=(
            Control(
                "denominator (u_i + u_j)/2",
                lambda u, i, j: 2 * (u[i] - u[j]) ** 2 / (u[i] + u[j]) if u[i] + u[j] else ZERO,
            ),
            Control("the transposed pair", lambda u, i, j: _budget(u, j, i)),
        ),
        expected=ClaimVerdict.DEFINITION,
    ),
)
