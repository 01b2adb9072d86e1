"""Section 2: simplex data, templates, and a channel as one law."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.geometry.linear import Vector, dot
from symshuffle.ledger.claims.model import (
    Claim,
    ClaimVerdict,
    Clause,
    Comparison,
    Control,
    Grade,
    Kind,
    Role,
    Statement,
    compare,
    decide,
    for_all,
    identity,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored import AnchoredLaw, Gauge, PointLaw, helmert

Density: Any = Callable[[int, Vector], Fraction]


def _simplex_data(k: int) -> tuple[Callable[[sp.Matrix, sp.Matrix], sp.Expr], Callable[[sp.Matrix], sp.Expr]]:
    """Left sides of the inequalities (row a_i, point x) of P, and the sum that templates have."""
    return (lambda a, x: 1 + (a * x)[0]), (lambda u: sum(u) - k)


def _check_simplex_data(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For k = 2 to 6 in the Helmert gauge: the stated constraints at the points of the templates k e_j; symbolic.

    Constraint i is k at vertex i, and 0 at every other one. The stated sum is that of the template 1 + V x of every
    point x, and of no template times another factor.
    """
    for k in range(2, 7):
        gauge = helmert(k)
        inequality, excess = statement(k)
        for j in range(k):
            vertex = k * gauge.row(j).T  # the template k e_j in this gauge
            for i in range(k):
                value = sp.simplify(inequality(gauge.row(i), vertex))
                yield identity(value, k if i == j else 0, at=f"k={k}, constraint {i} at vertex {j}")
        x = sp.Matrix(sp.symbols(f"x1:{k}"))
        factor = sp.Symbol("f")
        template = sp.ones(k, 1) + gauge * x
        yield identity(excess(template), 0, at=f"k={k}: sum of the template of any point")
        yield identity(excess(factor * template), k * (factor - 1), at=f"k={k}: and of a multiple of it")


def _affine_identification(k: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any], Any]:
    """Template entry i by entry i of V x, squared length by the sum of squares of the template, largest length."""
    return (lambda entry: 1 + entry), (lambda squares: squares - k), k * (k - 1)


def _wrong_beyond_six(k: Any) -> tuple[Callable[[Any], Any], Callable[[Any], Any], Any]:
    """The identification with a template map that is off for k > 6."""
    _, squared, largest = _affine_identification(k)
    return (lambda entry: 1 + entry + sp.Heaviside(sp.sympify(k) - 7, 1)), squared, largest


def _check_affine_identification(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every k: stated entries and squared length of V^T u, from V V^T = I - 11^T/k and sum k; symbolic.

    The largest length is the stated one, at k e_i, and an entry above k is none of a template. In the Helmert gauge,
    k = 2 to 6, stated template and length entry by entry.
    """
    size, entry, others, rest, gap = sp.symbols("k u q r g", nonnegative=True)
    lift, squared, largest = statement(size)
    # Every gauge has V V^T = I - 11^T/k, so <a_i, V^T u> = u_i - s/k and |V^T u|^2 = Q - s^2/k with s = u_i + rest.
    total = entry + rest
    sum_is_k = {rest: size - entry}
    yield identity(
        lift((entry - total / size).subs(sum_is_k)), entry, at="every k: entry i of the template of the point of u"
    )
    # Back again: V^T 1 = 0 and V^T V = I take the template 1 + V x to x, if the map adds the same to every entry.
    yield identity(lift(entry) - lift(rest), entry - rest, at="every k: difference of two entries, V x")
    squares = entry**2 + others
    yield identity(
        squared(squares), (squares - total**2 / size).subs(sum_is_k), at="every k: squared length of the point of u"
    )
    # Entries u_i of sum k have sum of squares k^2 - sum u_i (k - u_i), whose terms are not negative.
    yield decide(
        nonnegative((entry * (size - entry)).subs(size, entry + gap), {}),
        at="every k: every entry of the sum of u_i (k - u_i)",
        claimed="not negative",
        symbolic=True,
    )
    yield identity(squared(size * size - others), largest - others, at="every k: largest length less that sum")
    for k in range(2, 7):
        gauge = helmert(k)
        lift, squared, largest = statement(k)
        u = sp.Matrix(sp.symbols(f"u1:{k + 1}"))
        plane = {u[k - 1]: k - sum(u[:-1])}
        x = gauge.T * u
        back = ((gauge * x).applyfunc(lift) - u).subs(plane)
        for i in range(k):
            yield identity(back[i], 0, at=f"k={k}, coordinate {i} of the template of its point")
        length = squared(sum(value**2 for value in u))
        yield identity((x.T * x)[0].subs(plane), length.subs(plane), at=f"k={k}, squared length")
        vertex = dict(zip(u, [k] + [0] * (k - 1), strict=True))
        yield compare(Fraction(int((x.T * x)[0].subs(vertex))), Fraction(largest), at=f"k={k}, largest squared length")


def _anchored_law(k: int) -> Vector:
    """The mean of the template."""
    return (Fraction(1),) * k


def _check_anchored_law(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 12 random channels: the mean of the library's law against the stated one, in exact rationals.

    Two templates of other weights, whose mean is not the stated one, are refused as a law.
    """
    for trial in range(12):
        k = 2 + trial % 3
        law = AnchoredLaw.from_channel(cases.channel(rng, k, 4, zeros=0.2))
        yield compare(law.template.mean, statement(k), at=f"random channel {trial}, k={k}")
        first, second = law.templates[0], law.templates[-1]
        tilted = PointLaw.from_atoms(
            [(first, Fraction(1, 2) + Fraction(1, 10**9)), (second, Fraction(1, 2) - Fraction(1, 10**9))]
        )
        if tilted.mean != statement(k):
            yield decide(_refused(tilted), at=f"two templates of law {trial}, mean not 1", claimed="refused")


def _refused(points: PointLaw) -> bool:
    """Whether these points are refused as a law, with the amount by which their mean is off."""
    try:
        AnchoredLaw(points)
    except InputError as error:
        return "off by" in str(error)
    return False


def _split(entry: Any, share: Any, row: Any) -> tuple[Any, Any]:
    """What a row has of the two parts of an output, from what it has of the output."""
    return entry * share, entry * (1 - share)


def _refined(statement: Statement, channel: Channel, output: int, share: Fraction) -> Channel:
    """The channel with one output split as stated."""
    return Channel(
        tuple(
            (*row[:output], *statement(row[output], share, x), *row[output + 1 :]) for x, row in enumerate(channel.rows)
        )
    )


def _check_refinement(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any two rows, entry and share: the parts are made and put together by kernels that do not know the row; symbolic.

    The template of a part is that of the output. For 10 random channels with one output split as stated: the anchored
    law before and after; exact rationals.
    """
    p, q, share, i, j = sp.symbols("p q s i j", positive=True)
    for name, mine, other in zip(("first", "second"), statement(p, share, i), statement(q, share, j), strict=True):
        kernel = statement(1, share, i)[name == "second"]
        yield identity(mine, p * kernel, at=f"every row, entry, share: {name} part by a kernel")
        yield identity(kernel, statement(1, share, j)[name == "second"], at=f"every two rows: one kernel, {name} part")
        yield identity(mine * q, other * p, at=f"every two rows: ratio of their entries in the {name} part")
    yield identity(sum(statement(p, share, i)), p, at="every row, entry, share: both parts put together")
    for trial in range(10):
        channel = cases.channel(rng, 3, 3)
        law = AnchoredLaw.from_channel(channel)
        refined = _refined(statement, channel, trial % 3, Fraction(1, 2 + trial))
        yield compare(AnchoredLaw.from_channel(refined), law, at=f"random channel {trial}, output {trial % 3} split")


def _representation(channel: Channel, gauge: Gauge) -> tuple[list[tuple[Vector, Fraction]], Density]:
    """Atoms (point, mass) of the anchored law in a gauge, and the density of row i at a point."""
    k = channel.num_inputs
    atoms = []
    for column in exact_columns(channel):
        average = sum(column, start=Fraction(0)) / k
        if average:
            atoms.append((gauge.point([entry / average for entry in column]), average))
    return atoms, lambda i, x: 1 + dot(gauge.rows[i], x)


def _row_weighted(channel: Channel, gauge: Gauge) -> tuple[list[tuple[Vector, Fraction]], Density]:
    atoms, density = _representation(channel, gauge)
    kept = [column for column in exact_columns(channel) if any(column)]
    return [(x, column[0]) for (x, _), column in zip(atoms, kept, strict=True)], density


def _sum_of_rows(channel: Channel, gauge: Gauge) -> tuple[list[tuple[Vector, Fraction]], Density]:
    atoms, density = _representation(channel, gauge)
    return [(tuple(entry / channel.num_inputs for entry in x), weight) for x, weight in atoms], density


def _check_representation(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 16 random channels in two gauges: law, rows and mixture against the stated atoms and densities; exact.

    Also the mean, law to channel to law, and a row-independent kernel that splits the smallest channel into the given
    one. The density of a row is symbolic for every channel.
    """
    entry, total, size, mass = sp.symbols("u s k m", positive=True)
    # In every gauge <a_i, V^T u> = u_i - s/k with s = k; row i is then u_i times the average, that is, itself.
    yield identity(
        (1 + entry - total / size).subs(total, size) * mass, entry * mass, at="every channel: density of a row"
    )
    for trial in range(16):
        channel = cases.channel(rng, 4, 2 + trial % 5, zeros=0.25)
        composition = cases.distribution(rng, 4)
        law = AnchoredLaw.from_channel(channel)
        for name, gauge in zip("AB", cases.gauges(), strict=True):
            where = f"random channel {trial}, gauge {name}"
            atoms, density = statement(channel, gauge)
            printed = (
                PointLaw.from_atoms([(x, weight) for x, weight in atoms if weight]) if _sums_to_one(atoms) else None
            )
            ours = PointLaw.from_atoms((gauge.point(u), weight) for u, weight in law.template.atoms())
            yield decide(
                printed == ours, at=where, claimed="the same law of points", computed=f"{len(ours.points)} points"
            )
            yield compare(ours.mean, (Fraction(0),) * 3, at=f"{where}, mean")
            rows = law.to_channel().rows
            points = [gauge.point(u) for u in law.templates]
            for i in range(4):
                claimed = tuple(density(i, x) * weight for x, weight in zip(points, law.weights, strict=True))
                yield compare(rows[i], claimed, at=f"{where}, row {i}")
            tilted = tuple(
                sum((c * density(i, x) for i, c in enumerate(composition)), start=Fraction(0)) * weight
                for x, weight in zip(points, law.weights, strict=True)
            )
            seen = dict(law.mixture(composition).atoms())
            yield compare(
                tuple(seen.get(u, Fraction(0)) for u in law.templates), tilted, at=f"{where}, one-user mixture"
            )
        yield compare(
            AnchoredLaw.from_channel(law.to_channel()), law, at=f"random channel {trial}, law to channel to law"
        )
        yield decide(
            _refines(channel, law),
            at=f"random channel {trial}",
            claimed="a row-independent kernel splits the smallest channel into it",
        )


def _sums_to_one(atoms: list[tuple[Vector, Fraction]]) -> bool:
    return sum(weight for _, weight in atoms) == 1


def _refines(channel: Channel, law: AnchoredLaw) -> bool:
    """Whether splitting outputs of the smallest channel by :math:`K(y|x)=Wbar(y)/mu(x)` gives the channel back."""
    k = channel.num_inputs
    averages = [sum(column, start=Fraction(0)) / k for column in channel.columns()]
    of_output = [
        law.templates.index(tuple(entry / average for entry in column)) if average else 0
        for column, average in zip(channel.columns(), averages, strict=True)
    ]
    kernel = Channel(
        tuple(
            tuple(a / law.weights[j] if of_output[y] == j else Fraction(0) for y, a in enumerate(averages))
            for j in range(len(law.weights))
        )
    )
    return law.to_channel().push_forward(kernel) == channel


CLAIMS: Final = (
    Claim(
        id="anchored.def-2.1",
        kind=Kind.DEFINITION,
        title="the simplex polytope and its vertices",
        text=(
            r"$P=\{x:1+\langle a_i,x\rangle\ge0\ \forall i\}$ with $a_i=V^Te_i$; its vertices are the points of the "
            r"templates $ke_j$."
        ),
        source="anchored, Definition 2.1",
        assumptions=("$k\\ge2$, $V^TV=I$, $V^T1=0$",),
        scope="constraints at the k vertices, sum of the template of any point; symbolic Helmert gauge, k = 2..6",
        grade=Grade.EXACT_CASES,
        printed=_simplex_data,
        check=_check_simplex_data,
        controls=(
            Control("the constraint without its 1", lambda k: ((lambda a, x: (a * x)[0]), _simplex_data(k)[1])),
            Control("templates of sum k + 1", lambda k: (_simplex_data(k)[0], lambda u: sum(u) - k - 1)),
            Control("templates of sum 7, whatever k is", lambda k: (_simplex_data(k)[0], lambda u: sum(u) - 7)),
        ),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="anchored.lem-2.2",
        kind=Kind.STATEMENT,
        title="templates and points of the polytope are affinely the same",
        text=(
            r"$x\mapsto1+Vx$ maps $P$ onto the template simplex with inverse $u\mapsto V^Tu$; $|x|^2=\sum_iu_i^2-k\le "
            r"k(k-1)$."
        ),
        source="anchored, Lemma 2.2",
        assumptions=("$k\\ge2$",),
        scope="every k from $VV^T=I-11^T/k$; again entry by entry in the Helmert gauge, k = 2..6",
        grade=Grade.PROVED,
        printed=_affine_identification,
        check=_check_affine_identification,
        controls=(
            Control(
                "vertices scaled by the root of k",
                lambda k: (lambda entry: 1 + sp.sqrt(k) * entry, *_affine_identification(k)[1:]),
            ),
            Control("the template map one off for every k > 6", _wrong_beyond_six),
            Control("largest squared length k^2", lambda k: (*_affine_identification(k)[:2], k**2)),
            Control(
                "squared length without its k",
                lambda k: (_affine_identification(k)[0], lambda squares: squares, k * (k - 1)),
            ),
        ),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k"),
    ),
    Claim(
        id="anchored.def-2.3",
        kind=Kind.DEFINITION,
        title="anchored laws have mean zero",
        text=r"A probability on $P$ with $\int x\,d\mu=0$; in templates, $E\,u=(1,\dots,1)$.",
        source="anchored, Definition 2.3",
        assumptions=(),
        scope="12 random channels, and 12 laws whose mean is off, refused with the amount",
        grade=Grade.EXACT_CASES,
        printed=_anchored_law,
        check=_check_anchored_law,
        controls=(Control("templates of sum 1", lambda k: (Fraction(1, k),) * k),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="anchored.def-2.4",
        kind=Kind.DEFINITION,
        title="conditionally identical refinements",
        text=(
            Clause(
                "equivalent",
                "Two channels are equivalent if row-independent kernels turn each into the other.",
                Role.DEFINITION,
            ),
            Clause("split", "Splitting an output is the example: it leaves the templates and the law."),
        ),
        source="anchored, Definition 2.4",
        assumptions=(),
        scope="any two rows, entry and share; 10 random splits leave the law as it is",
        grade=Grade.PROVED,
        printed=_split,
        check=_check_refinement,
        controls=(
            Control(
                "a split that depends on the input",
                lambda entry, share, row: (entry * share / (row + 1), entry - entry * share / (row + 1)),
            ),
            Control("a part that keeps the whole", lambda entry, share, row: (entry, entry * (1 - share))),
        ),
        expected=ClaimVerdict.DEFINITION,
        obligations=for_all("entry", "share", "row", clause="split"),
    ),
    Claim(
        id="anchored.thm-2.5",
        kind=Kind.STATEMENT,
        title="exact affine representation",
        text=(
            r"With $\bar W=\frac1k\sum_iW_i$, the law $\mu$ of $x(Y)=\sum_i\frac{W_i}{\bar W}(Y)\,a_i$, $Y\sim\bar "
            r"W$, has mean zero; "
            r"$W_i=(1+\langle a_i,x\rangle)\mu$ is the channel up to refinement; $\sum_iw_iW_i=(1+\langle "
            r"b_w,x\rangle)\mu$; every finite $\mu$ comes from its own channel."
        ),
        source="anchored, Theorem 2.5",
        assumptions=("finitely many outputs",),
        scope=(
            "16 random rational channels (4 inputs, null outputs), two rational gauges, kernels, round trips; "
            "densities for every channel"
        ),
        grade=Grade.EXACT_CASES,
        printed=_representation,
        check=_check_representation,
        controls=(
            Control("atoms weighted by row 0 instead of the average", _row_weighted),
            Control("the sum of the rows in place of their average", _sum_of_rows),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
)
