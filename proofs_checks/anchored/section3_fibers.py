"""Section 3: what a fiber says about its law: mass lost at the boundary, and which fibers occur."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.anchored import _cases as cases
from proofs_checks.anchored.section3 import K4, backward, random_cases
from symshuffle.base.errors import InputError
from symshuffle.channels.geometry.linear import Vector, dot
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import Claim, Control, Statement, for_all
from symshuffle.ledger.claims.parts import Clause
from symshuffle.utility.anchored.law import AnchoredLaw, PointLaw
from symshuffle.utility.anchored.maps import Fiber, completions, fiber, law_from_fiber

ZERO: Final = Fraction(0)


def _boundary(lost_atoms: Sequence[tuple[Any, Any]], size: Any) -> tuple[Any, bool]:
    """The mean of a boundary fiber from the unseen part of the law, and whether the fiber fixes the law."""
    coordinates = len(lost_atoms[0][0]) if lost_atoms else size
    mean = tuple(-sum((weight * x[i] for x, weight in lost_atoms), start=ZERO) for i in range(coordinates))
    return mean, not lost_atoms


def _boundary_corrected(lost_atoms: Sequence[tuple[Any, Any]], size: Any) -> tuple[Any, bool]:
    """As printed, but one unseen template at a vertex, of squared length k(k-1), is fixed as well."""
    beyond: list[Any] = [(size + 1) * size - dot(x, x) for x, _ in lost_atoms]
    at_vertex = [sp.expand(gap) == 0 if isinstance(gap, sp.Expr) else gap == 0 for gap in beyond]
    return _boundary(lost_atoms, size)[0], not lost_atoms or at_vertex == [True]


def _any_boundary(statement: Statement) -> Iterator[Comparison]:
    """Every law, by one coordinate: the mean and the mass of what a fiber cannot see, and which laws have this fiber.

    What is unseen has coordinates at zero weights only: one of them and the sum of the others are t and k - t. To put
    it on the vertices keeps its mass and mean, and adds 2t(k - t) to the trace: another law, unless t is 0 or k. A law
    whose mean is a vertex is at that vertex: no coordinate exceeds k.
    """
    size, seen, lost, b, t, rest = sp.symbols("m v w b t u", positive=True)
    x = sp.Symbol("x", real=True)
    ((mean,), _) = statement([((x,), lost)], size)
    visible = -lost * x / seen  # the law has mean zero
    fiber_mean = seen * (1 + b * visible) * (visible / (1 + b * visible))
    yield from serving("mean", [identity(fiber_mean, mean, at="every law: mean of the fiber")])
    ((unseen_mean,), _) = statement([((-1 / b,), lost)], size)  # unseen: 1 + <b, x> is 0
    yield from serving("mass", [identity(b * unseen_mean, lost, at="every law: the mean gives the mass")])
    k = t + rest
    spread = (t / k) * k**2 + (rest / k) * k**2 - (t**2 + rest**2)
    kept = (t / k) * k
    length = sp.sqrt(t**2 + rest**2 - k)
    inside = [
        identity(kept, t, at="on the vertices: the same mean"),
        identity(spread, 2 * t * rest, at="on the vertices: a larger trace"),
        decide(not statement([((length,), lost)], k - 1)[1], at="inside a face", claimed="not fixed", symbolic=True),
        decide(
            bool(statement([((sp.sqrt(size**2 + size),), lost)], size)[1]), at="vertex", claimed="fixed", symbolic=True
        ),
        decide(bool(statement([], 1)[1]), at="nothing is lost", claimed="fixed"),
    ]
    yield from serving("completions", inside)


def _check_boundary(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every law; then laws at boundary compositions: mean of the fiber, and whether it fixes the law, as stated.

    The mean is compared with that of the unseen atoms; the law is fixed if the least and the largest completion of the
    fiber are equal.
    """
    yield from _any_boundary(statement)
    gauge = cases.gauges()[0]
    for where, law, w in _boundary_cases(rng):
        source = fiber(law, w)
        unseen = [(gauge.point(u), weight) for u, weight in law.template.atoms() if dot(w, u) == 0]
        claimed_mean, determined = statement(unseen, K4 - 1)
        mean = gauge.point(source.ratios.mean)
        yield compare(mean, claimed_mean, at=where)
        yield compare(dot(gauge.point(w), mean), source.lost, at=f"{where}: lost mass")
        least, most = completions(source)
        both = all(fiber(other, w) == source for other in (least, most))
        yield decide(
            both and least.trace() <= law.trace() <= most.trace(), at=where, claimed="completions bound the law"
        )
        found = f"laws of traces {least.trace()} and {most.trace()} have this fiber"
        yield compare(least == most, determined, at=f"{where}: weights {tuple(map(str, w))} fix the law", found=found)
    source = fiber(AnchoredLaw.from_channel(cases.WITH_ZERO), (Fraction(1), ZERO, ZERO))
    yield compare(source.lost, Fraction(1, 3), at="the 3-input example with a zero")


def _boundary_cases(rng: np.random.Generator) -> Iterator[tuple[str, AnchoredLaw, Vector]]:
    """The identity channel and random laws, at compositions with a zero."""
    half, quarter = Fraction(1, 2), Fraction(1, 4)
    identity_law = AnchoredLaw.from_atoms(
        (tuple(Fraction(4 * (i == j)) for j in range(K4)), quarter) for i in range(K4)
    )
    yield "identity channel", identity_law, (half, quarter, quarter, ZERO)
    yield "identity channel", identity_law, (half, half, ZERO, ZERO)
    yield from ((where, law, w) for where, law, w in random_cases(rng, 60) if not min(w))


def _realised(atoms: Sequence[tuple[Vector, Fraction]], b: Vector) -> list[tuple[Vector, Fraction]]:
    """The law that a mean-zero fiber comes from, in a gauge."""
    return [(backward(z, b), weight * (1 - dot(b, z))) for z, weight in atoms]


def _unweighted(atoms: Sequence[tuple[Vector, Fraction]], b: Vector) -> list[tuple[Vector, Fraction]]:
    return [(backward(z, b), weight) for z, weight in atoms]


def _check_realised(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For one coordinate of any fiber: the stated law has its mean and gives its weights back; symbolic.

    Then 20 random mean-zero fibers: the library's law against the stated one, and its fiber again; a fiber of another
    mean is refused; exact rationals.
    """
    b, z, mass = sp.symbols("b z m", positive=True)
    (((point,), weight),) = statement([((z,), mass)], (b,))
    yield identity(mass * z, weight * point, at="every fiber: the mean of the law is the mean of the fiber")
    yield identity(mass, weight * (1 + b * point), at="every fiber: the tilted law has the fiber's weights")
    gauge = cases.gauges()[0]
    for trial in range(20):
        w = cases.distribution(rng, K4)
        source = _random_fiber(rng, w)
        law = law_from_fiber(source)
        claimed = statement([(gauge.point(r), weight) for r, weight in source.ratios.atoms()], gauge.point(w))
        ours = [(gauge.point(u), weight) for u, weight in law.template.atoms()]
        yield decide(sorted(claimed) == sorted(ours), at=f"random fiber {trial}", claimed="the printed law")
        yield compare(fiber(law, w), source, at=f"random fiber {trial}: fiber of the law")
        shifted = PointLaw.from_atoms([(source.ratios.points[0], Fraction(1))])
        if any(Fiber(w, shifted).mean):
            yield decide(_unrealisable(Fiber(w, shifted)), at=f"mean not zero, {trial}", claimed="refused")


def _random_fiber(rng: np.random.Generator, w: Vector) -> Fiber:
    """Random points of the range, completed to mean zero by its vertices."""
    points = []
    for _ in range(3):
        v = cases.distribution(rng, K4)
        points.append(tuple(a / b for a, b in zip(v, w, strict=True)))  # sum_i v_i e_i/w_i, so w.r = 1
    masses = cases.distribution(rng, 3)
    share = min(1 / max(r[i] for r in points) for i in range(K4)) / 2
    atoms: list[tuple[Vector, Fraction]] = [(r, share * mass) for r, mass in zip(points, masses, strict=True)]
    for i in range(K4):  # the vertex e_i/w_i with the weight that makes coordinate i of the mean 1
        missing = 1 - sum((mass * r[i] for r, mass in atoms[:3]), start=ZERO)
        vertex = tuple(1 / w[i] if i == j else ZERO for j in range(K4))
        atoms.append((vertex, missing * w[i]))
    return Fiber(w, PointLaw.from_atoms(atoms))


def _unrealisable(source: Fiber) -> bool:
    """Whether the library refuses to find a law for this fiber."""
    try:
        law_from_fiber(source)
    except InputError:
        return True
    return False


CLAIMS: Final = (
    Claim(
        id="anchored.rem-3.5",
        kind="statement",
        title="boundary fibers can lose mass",
        text=(
            Clause("lost mean", r"$\int z\,d\eta_w=-\int_{P\setminus P_w}x\,d\mu$."),
            Clause("visible", "The fiber fixes the mass and the mean of what it cannot see."),
            Clause(
                "determined",
                r"It fixes $\mu$ if that mass is 0, as the remark says; otherwise it does so only if the mass "
                "sits in one vertex $ke_i$, which it must when a single weight is zero.",
            ),
        ),
        source="anchored, Remark 3.5",
        assumptions=("$w$ on the boundary",),
        scope=(
            "every law and number of zero weights, by one coordinate and the sum of the others; the identity channel "
            "at two boundary compositions, the boundary cases among 60 random laws; extreme completions"
        ),
        grade="proved",
        printed=_boundary_corrected,
        check=_check_boundary,
        controls=(
            Control("only where no mass is lost", _boundary),
            Control(
                "mean zero also at the boundary",
                lambda atoms, size: (
                    tuple(0 * x for x in _boundary(atoms, size)[0]),
                    _boundary_corrected(atoms, size)[1],
                ),
            ),
            Control("the fiber always fixes the law", lambda atoms, size: (_boundary(atoms, size)[0], True)),
        ),
        expected="holds",
        obligations=(
            *for_all("lost_atoms", "size", clause=("lost mean", "visible", "determined")),
            *for_all("mean", clause="lost mean"),
            *for_all("mass", clause="visible"),
            *for_all("completions", clause="determined"),
        ),
    ),
    Claim(
        id="anchored.thm-3.6",
        kind="statement",
        title="which fibers occur",
        text=(
            Clause("exists", r"Every mean-zero probability $\eta$ on $Q_w$ is the fiber of exactly one law."),
            Clause("image", r"It is the image of $(1-\langle b_w,z\rangle)\eta$ under $S_w$."),
        ),
        source="anchored, Theorem 3.6",
        assumptions=("$w$ interior",),
        scope=(
            "mean and weights for every fiber (with the bijection of anchored.prop-3.2); 20 random fibers, others "
            "refused"
        ),
        grade="proved",
        printed=_realised,
        check=_check_realised,
        controls=(
            Control("without the weight", _unweighted),
            Control(
                "the weight with a plus sign",
                lambda atoms, b: [
                    (x, w * (1 + dot(b, z)) / (1 - dot(b, z)))
                    for (x, w), (z, _) in zip(_realised(atoms, b), atoms, strict=True)
                ],
            ),
        ),
        expected="holds",
        obligations=for_all("atoms", "b", clause=("exists", "image")),
    ),
)
