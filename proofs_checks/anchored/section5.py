"""Section 5: moment matrices, Fisher information and the pairwise budget."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._estimation import fisher_information
from proofs_checks._gauges import Gauge, helmert
from proofs_checks.anchored import _cases as cases
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.linear import Matrix, Vector, dot, product, transpose
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import Claim, Control, Statement, for_all
from symshuffle.ledger.claims.parts import Clause
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.frontiers.orbit import symmetrize

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


def points(law: AnchoredLaw, gauge: Gauge) -> list[tuple[Vector, Fraction]]:
    """The atoms of a law in a gauge."""
    return [(gauge.point(u), weight) for u, weight in law.template.atoms()]


def trace_of(matrix: Matrix) -> Fraction:
    """Sum of the diagonal."""
    return sum((row[i] for i, row in enumerate(matrix)), start=ZERO)


def moment_matrices(atoms: Atoms, vertices: Matrix) -> tuple[Matrix, list[Matrix]]:
    """The covariance, and the second moment under every row, in a gauge."""
    sigma = _sum([_scale(_outer(x), weight) for x, weight in atoms])
    rows = [_sum([_scale(_outer(x), weight * (1 + dot(a, x))) for x, weight in atoms]) for a in vertices]
    return sigma, rows


def _check_moments(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 8 random laws in two gauges: stated moment matrices, lifted to templates, against the library's; exact.

    Covariance, its trace, and the second moment under every row.
    """
    for trial in range(8):
        law = AnchoredLaw.from_channel(cases.channel(rng, 4, 3 + trial % 3, zeros=0.1))
        for name, gauge in zip("AB", cases.gauges(), strict=True):
            sigma, rows = statement(points(law, gauge), gauge.rows)
            lift, back = gauge.rows, transpose(gauge.rows)
            where = f"law {trial}, gauge {name}"
            yield compare(law.covariance(), product(product(lift, sigma), back), at=f"{where}: covariance")
            yield compare(law.trace(), trace_of(sigma), at=f"{where}: trace")
            for i, row in enumerate(rows):
                yield compare(law.row_second_moment(i), product(product(lift, row), back), at=f"{where}: row {i}")


def _information(n: Any) -> tuple[Any, Any]:
    """The scale of the local coordinate t in w(t) = 1/k + V t, and the factor of the covariance at t = 0."""
    return 1, n


def _check_information(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For one output in two coordinates, any n: derivatives at uniform against the stated multiple; symbolic.

    Then 3 random channels differentiated in SymPy against the library's covariance, and the diagonal of its information
    at another composition in exact rationals.
    """
    mass, first, second, s1, s2 = sp.symbols("m x1 x2 t1 t2", real=True)
    n = sp.Symbol("n", positive=True)
    scale, factor = statement(n)
    p = mass * (1 + scale * (s1 * first + s2 * second))  # one output in two of the coordinates, the others at 0
    entry = n * (sp.diff(p, s1) * sp.diff(p, s2) / p).subs({s1: 0, s2: 0})
    yield identity(entry, factor * mass * first * second, at="every n, channel: one output's share of an entry")
    gauge = helmert(3)
    t = sp.Matrix(sp.symbols("t1:3"))
    for trial in range(3):
        channel = cases.channel(rng, 3, 4)
        law = AnchoredLaw.from_channel(channel)
        w = sp.ones(3, 1) / 3 + scale * gauge * t
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


def _vanishing(k: Any) -> Any:
    """Each coordinate of the moment of f(x) x under an exchangeable law with k inputs, for a symmetric f."""
    return 0 * k


SYMMETRIC: Final[dict[str, Callable[[Vector], Fraction]]] = {
    "sum of squares": lambda u: dot(u, u),
    "sum of cubes": lambda u: sum((entry**3 for entry in u), start=ZERO),
    "largest times smallest": lambda u: max(u) * min(u),
}


def _check_vanishing(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k and template: a symmetric function times the average of all rearrangements, as stated; symbolic.

    Again for three inputs one by one, and for 6 symmetrised laws and three functions in exact rationals.
    """
    k, total, value = sp.symbols("k s f", integer=True, positive=True)
    # A coordinate of the average of all rearrangements of u: each value sits there (k-1)! of k! times, and f is the
    # same at all of them.
    average = sp.factorial(k - 1) * total / sp.factorial(k)
    moment = value * (average.subs(total, k) - 1)
    yield identity(moment, statement(k), at="every k: f times the average of all rearrangements of a template")
    yield from _open_template(statement, lambda u, value: value)
    gauge = cases.gauges()[0]
    for trial in range(6):
        law = symmetrize(AnchoredLaw.from_channel(cases.channel(rng, 4, 2, zeros=0.2)))
        for name, f in SYMMETRIC.items():
            for c in range(3):
                found = sum((weight * f(u) * gauge.point(u)[c] for u, weight in law.template.atoms()), start=ZERO)
                yield compare(found, statement(4), at=f"law {trial}, {name}, coordinate {c}")


def _open_template(statement: Statement, function: Callable[[Any, Any], Any]) -> Iterator[Comparison]:
    """All rearrangements of an open template of three inputs; the function sees one of them and a constant."""
    a, b, value = sp.symbols("a b f")
    orders = list(itertools.permutations((a, b, 3 - a - b)))
    for i in range(3):
        moment = sum(function(u, value) * (u[i] - 1) for u in orders) / len(orders)
        yield identity(moment, statement(3), at=f"k=3: any template, coordinate {i}")


def _check_not_symmetric(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The first coordinate in place of a symmetric function: its moment against the stated one.

    Three inputs with an open template (symbolic), and a symmetrised law of 4 inputs (exact).
    """
    yield from _open_template(statement, lambda u, value: u[0])
    gauge = cases.gauges()[0]
    law = symmetrize(AnchoredLaw.from_channel(cases.channel(rng, 4, 2)))
    for c in range(3):
        found = sum((weight * u[0] * gauge.point(u)[c] for u, weight in law.template.atoms()), start=ZERO)
        yield compare(found, statement(4), at=f"f = first coordinate, not symmetric, coordinate {c}")


def _budget(u: Vector, i: int, j: int) -> Any:
    """The integrand of the divergence of row i from row j at a template."""
    if u[j] == 0:
        return ZERO if u[i] == 0 else math.inf
    return (u[i] - u[j]) ** 2 / u[j]


def _check_budget(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 12 channels, zeros among them: divergence of every two rows against the stated integral; exact.

    The library's budget is the largest of them, infinite where a row lacks an output of another.
    """
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
    from symshuffle.channels.shuffled import chi_square

    return chi_square(channel.rows[i], channel.rows[j])


CLAIMS: Final = (
    Claim(
        id="anchored.def-5.1",
        kind="definition",
        title="moment matrices",
        text=(
            Clause("covariance", r"$\Sigma=\int xx^T\,d\mu$."),
            Clause("tilted", r"$M_i=\int xx^T(1+\langle a_i,x\rangle)\,d\mu$."),
        ),
        source="anchored, Definition 5.1",
        assumptions=(),
        scope="8 random laws with 4 inputs in two rational gauges, against template coordinates",
        grade="exact-cases",
        printed=moment_matrices,
        check=_check_moments,
        controls=(
            Control(
                "row moments without the tilt",
                lambda atoms, vertices: (
                    moment_matrices(atoms, vertices)[0],
                    [moment_matrices(atoms, vertices)[0]] * 4,
                ),
            ),
            Control(
                "covariance as a sum over rows",
                lambda atoms, vertices: (
                    _sum(moment_matrices(atoms, vertices)[1]),
                    moment_matrices(atoms, vertices)[1],
                ),
            ),
        ),
        expected="definition",
        obligations=for_all("atoms", "vertices", clause=("covariance", "tilted")),
    ),
    Claim(
        id="anchored.prop-5.2",
        kind="statement",
        title="Fisher information at the uniform composition",
        text=r"At $w(t)=\frac1k1+Vt$ the information of $n$ messages about $t$ at $t=0$ is $n\Sigma$.",
        source="anchored, Proposition 5.2",
        assumptions=("i.i.d. users",),
        scope="entry by entry for every channel; 3 random channels differentiated in SymPy; other compositions in Q",
        grade="proved",
        printed=_information,
        check=_check_information,
        controls=(
            Control("information of n - 1 messages", lambda n: (1, n - 1)),
            Control("a local coordinate of 1.01 times the scale", lambda n: (sp.Rational(101, 100), n)),
        ),
        expected="holds",
        obligations=for_all("n"),
    ),
    Claim(
        id="anchored.lem-5.6",
        kind="statement",
        title="symmetric moments of an exchangeable law vanish",
        text=r"For exchangeable $\mu$ and permutation-invariant $f$: $\int f(x)\,x\,d\mu=0$.",
        source="anchored, Lemma 5.6",
        assumptions=("$f$ integrable",),
        scope="rearrangements of a template for every k; 6 symmetrised laws, 3 functions",
        grade="proved",
        printed=_vanishing,
        check=_check_vanishing,
        controls=(
            Control("a function that is not symmetric", _vanishing, _check_not_symmetric),
            Control("a rest that falls with k", lambda k: Fraction(1, 100) / k),
        ),
        expected="holds",
        obligations=for_all("k"),
    ),
    Claim(
        id="anchored.def-5.8",
        kind="definition",
        title="the canonical pairwise budget",
        text=(
            Clause(
                "budget",
                r"$\max_{i\ne j}\int\frac{\langle a_i-a_j,x\rangle^2}{1+\langle a_j,x\rangle}d\mu=\max_{i\ne "
                r"j}\chi^2(W_i\Vert W_j)$.",
            ),
            Clause("conventions", r"Here $0/0=0$ and $t/0=\infty$."),
        ),
        source="anchored, Definition 5.8",
        assumptions=(),
        scope="12 channels, some with zeros, against the rows",
        grade="exact-cases",
        printed=_budget,
        check=_check_budget,
        controls=(
            Control(
                "denominator (u_i + u_j)/2",
                lambda u, i, j: 2 * (u[i] - u[j]) ** 2 / (u[i] + u[j]) if u[i] + u[j] else ZERO,
            ),
            Control("the transposed pair", lambda u, i, j: _budget(u, j, i)),
        ),
        expected="definition",
        obligations=for_all("u", "i", "j", clause=("budget", "conventions")),
    ),
)
