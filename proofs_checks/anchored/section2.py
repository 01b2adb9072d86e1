"""Section 2: simplex data, templates, and a channel as one law."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._gauges import helmert
from proofs_checks.anchored import _cases as cases
from symshuffle.base.errors import InputError
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.geometry.linear import Vector, dot
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import Claim, Control, Statement, by_cases, for_all
from symshuffle.ledger.claims.parts import Clause
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw, PointLaw


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


def _representation(column: Sequence[Any], k: Any, i: int) -> tuple[tuple[Any, ...], Any, Any]:
    """What an output becomes: a template, the mass there, and the density of row i. Entries may be sums of several."""
    average = sum(column) / k
    template = tuple(entry / average for entry in column)
    return template, average, template[i]


def _every_channel(statement: Statement) -> Iterator[Comparison]:
    """Any number of inputs and outputs, open entries: one input, another one, and the rest of an output; symbolic.

    An output has the probabilities p, q and, over all other inputs, r. A second output stands for all others.
    """
    p, q, rest, k, share, weight, x, m = sp.symbols("p q r k s w x m", positive=True)
    (first, second, *_), mass, density = statement((p, q, rest), k, 0)
    yield identity(density * mass, p, at="every output: density of a row, times the mass")
    gauged = (1 + first - x / k).subs(x, k)  # <a_i, V^T u> = u_i - s/k in every gauge, with s = k
    yield identity(gauged * mass, p, at="every output: 1 + <a_i, x>, times the mass")
    mixed = weight * first + (1 - weight) * second
    yield identity(mixed * mass, weight * p + (1 - weight) * q, at="every output, two inputs: the mixture of rows")
    yield identity(sum(statement((p, q, rest), k, 0)[0]), k, at="every output: the template has the sum k")
    # All outputs: row 0 has p here and 1 - p elsewhere, the others q and k - 1 - q: masses and mean template.
    here, there = statement((p, q), k, 0), statement((1 - p, k - 1 - q), k, 0)
    yield identity(here[1] + there[1], 1, at="every channel: masses sum to 1")
    yield identity(here[1] * here[0][0] + there[1] * there[0][0], 1, at="every channel: mean template, entry 0")
    # From a law: its channel has the columns mass times template, whose law is the same.
    (again, *_), back, _ = statement((x * m, (k - x) * m), k, 0)
    yield identity(again, x, at="every law: template of the column that it gives")
    yield identity(back, m, at="every law: mass of the column that it gives")
    # Columns of one template, here s times another, are merged, and split again by one kernel for all rows.
    split = statement((share * p, share * q, share * rest), k, 0)
    yield identity(split[0][0], first, at="every two outputs of one template: where they go")
    yield identity(split[1] / (split[1] + mass) * (share * p + p), share * p, at="and back, by their averages")


def _check_representation(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any channel, output by output: law, rows, mixtures, law to channel to law, and the kernels; symbolic.

    For 16 random channels in two gauges: law, rows and mixture against the stated atoms and densities; exact. Also the
    mean, law to channel to law, and a row-independent kernel that splits the smallest channel into the given one.
    """
    yield from serving("channels", _every_channel(statement))
    for trial in range(16):
        channel = cases.channel(rng, 4, 2 + trial % 5, zeros=0.25)
        composition = cases.distribution(rng, 4)
        law = AnchoredLaw.from_channel(channel)
        columns = [column for column in exact_columns(channel) if any(column)]
        stated = [[statement(column, 4, i) for i in range(4)] for column in columns]
        for name, gauge in zip("AB", cases.gauges(), strict=True):
            where = f"random channel {trial}, gauge {name}"
            atoms = [(gauge.point(rows[0][0]), rows[0][1]) for rows in stated]
            printed = PointLaw.from_atoms(atoms) if _sums_to_one(atoms) else None
            ours = PointLaw.from_atoms((gauge.point(u), weight) for u, weight in law.template.atoms())
            yield decide(
                printed == ours, at=where, claimed="the same law of points", computed=f"{len(ours.points)} points"
            )
            yield compare(ours.mean, (Fraction(0),) * 3, at=f"{where}, mean")
            points = [gauge.point(u) for u in law.templates]
            densities = [[1 + dot(gauge.rows[i], x) for x in points] for i in range(4)]
            for i, row in enumerate(law.to_channel().rows):
                claimed = tuple(d * weight for d, weight in zip(densities[i], law.weights, strict=True))
                yield compare(row, claimed, at=f"{where}, row {i} by its point")
        seen = dict(law.mixture(composition).atoms())
        for i in range(4):
            for rows, column in zip(stated, columns, strict=True):
                _, mass, density = rows[i]
                yield compare(density * mass, column[i], at=f"random channel {trial}, row {i}: density times mass")
        tilted: dict[Vector, Fraction] = {}
        for rows in stated:
            value = sum((c * rows[i][2] for i, c in enumerate(composition)), start=Fraction(0)) * rows[0][1]
            tilted[rows[0][0]] = tilted.get(rows[0][0], Fraction(0)) + value
        at = f"random channel {trial}, one-user mixture"
        yield compare({u: w for u, w in tilted.items() if w}, {u: w for u, w in seen.items() if w}, at=at)
        again = AnchoredLaw.from_channel(law.to_channel())
        yield compare(again, law, at=f"random channel {trial}, law to channel to law")
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
        kind="definition",
        title="the simplex polytope and its vertices",
        text=(
            Clause("polytope", r"$P=\{x:1+\langle a_i,x\rangle\ge0\ \forall i\}$ with $a_i=V^Te_i$."),
            Clause("vertices", "Its vertices are the points of the templates $ke_j$."),
        ),
        source="anchored, Definition 2.1",
        assumptions=("$k\\ge2$, $V^TV=I$, $V^T1=0$",),
        scope="constraints at the k vertices, sum of the template of any point; symbolic Helmert gauge, k = 2..6",
        grade="exact-cases",
        printed=_simplex_data,
        check=_check_simplex_data,
        controls=(
            Control("the constraint without its 1", lambda k: ((lambda a, x: (a * x)[0]), _simplex_data(k)[1])),
            Control("templates of sum k + 1", lambda k: (_simplex_data(k)[0], lambda u: sum(u) - k - 1)),
            Control("templates of sum 7, whatever k is", lambda k: (_simplex_data(k)[0], lambda u: sum(u) - 7)),
        ),
        expected="definition",
        obligations=for_all("k", clause=("polytope", "vertices")),
    ),
    Claim(
        id="anchored.lem-2.2",
        kind="statement",
        title="templates and points of the polytope are affinely the same",
        text=(
            Clause("map", r"$x\mapsto1+Vx$ maps $P$ onto the template simplex with inverse $u\mapsto V^Tu$."),
            Clause("length", r"$|x|^2=\sum_iu_i^2-k\le k(k-1)$."),
        ),
        source="anchored, Lemma 2.2",
        assumptions=("$k\\ge2$",),
        scope="every k from $VV^T=I-11^T/k$; again entry by entry in the Helmert gauge, k = 2..6",
        grade="proved",
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
        expected="holds",
        obligations=for_all("k", clause=("map", "length")),
    ),
    Claim(
        id="anchored.def-2.3",
        kind="definition",
        title="anchored laws have mean zero",
        text=(
            Clause("mean", r"A probability on $P$ with $\int x\,d\mu=0$."),
            Clause("templates", r"In templates, $E\,u=(1,\dots,1)$."),
        ),
        source="anchored, Definition 2.3",
        assumptions=(),
        scope="12 random channels, and 12 laws whose mean is off, refused with the amount",
        grade="exact-cases",
        printed=_anchored_law,
        check=_check_anchored_law,
        controls=(Control("templates of sum 1", lambda k: (Fraction(1, k),) * k),),
        expected="definition",
        obligations=for_all("k", clause=("mean", "templates")),
    ),
    Claim(
        id="anchored.def-2.4",
        kind="definition",
        title="conditionally identical refinements",
        text=(
            Clause(
                "equivalent",
                "Two channels are equivalent if row-independent kernels turn each into the other.",
                "definition",
            ),
            Clause("split", "Splitting an output is the example: it leaves the templates and the law."),
        ),
        source="anchored, Definition 2.4",
        assumptions=(),
        scope="any two rows, entry and share; 10 random splits leave the law as it is",
        grade="proved",
        printed=_split,
        check=_check_refinement,
        controls=(
            Control(
                "a split that depends on the input",
                lambda entry, share, row: (entry * share / (row + 1), entry - entry * share / (row + 1)),
            ),
            Control("a part that keeps the whole", lambda entry, share, row: (entry, entry * (1 - share))),
        ),
        expected="definition",
        obligations=for_all("entry", "share", "row", clause="split"),
    ),
    Claim(
        id="anchored.thm-2.5",
        kind="statement",
        title="exact affine representation",
        text=(
            Clause(
                "law",
                r"With $\bar W=\frac1k\sum_iW_i$, the law $\mu$ of $x(Y)=\sum_i\frac{W_i}{\bar W}(Y)\,a_i$, "
                r"$Y\sim\bar W$, has mean zero.",
            ),
            Clause("rows", r"$W_i=(1+\langle a_i,x\rangle)\mu$ is the channel up to refinement."),
            Clause("mixtures", r"$\sum_iw_iW_i=(1+\langle b_w,x\rangle)\mu$."),
            Clause("every law", r"Every finite $\mu$ comes from its own channel."),
        ),
        source="anchored, Theorem 2.5",
        assumptions=("finitely many outputs",),
        scope=(
            "every channel and law, output by output with open entries; 16 random rational channels (4 inputs, null "
            "outputs), two rational gauges, kernels, round trips"
        ),
        grade="proved",
        printed=_representation,
        check=_check_representation,
        controls=(
            Control(
                "atoms weighted by row 0 instead of the average",
                lambda column, k, i: (
                    _representation(column, k, i)[0],
                    column[0],
                    _representation(column, k, i)[2],
                ),
            ),
            Control(
                "the sum of the rows in place of their average",
                lambda column, k, i: _representation(column, 1, i),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("column", "k", clause=("law", "rows")),
            *by_cases("i", clause="rows"),
            *for_all("channels", clause=("mixtures", "every law")),
        ),
    ),
)
