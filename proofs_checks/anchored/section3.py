"""Section 3: projective maps, fibers and their transport between compositions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._gauges import range_radius_squared
from proofs_checks.anchored import _cases as cases
from symshuffle.base.errors import InputError
from symshuffle.channels.geometry.linear import Vector, dot
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import Claim, Control, Statement, by_cases, for_all
from symshuffle.ledger.claims.parts import Clause
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored.law import AnchoredLaw, PointLaw
from symshuffle.utility.anchored.maps import fiber, project, transport, unproject

K4: Final = 4
ZERO: Final = Fraction(0)


def _scaled(vector: Sequence[Any], factor: Any) -> tuple[Any, ...]:
    return tuple(entry * factor for entry in vector)


def _inner(left: Sequence[Any], right: Sequence[Any]) -> Any:
    return sum(a * b for a, b in zip(left, right, strict=True))


def _forward(x: Sequence[Any], b: Sequence[Any]) -> tuple[Any, ...]:
    """The projective map."""
    return _scaled(x, 1 / (1 + _inner(b, x)))


def backward(z: Sequence[Any], b: Sequence[Any]) -> tuple[Any, ...]:
    """Its inverse."""
    return _scaled(z, 1 / (1 - _inner(b, z)))


def _maps() -> tuple[Any, Any]:
    return _forward, backward


def random_cases(rng: np.random.Generator, count: int) -> Iterator[tuple[str, AnchoredLaw, Vector]]:
    """Laws of four inputs, each with a composition: interior ones, and some on the boundary."""
    for trial in range(count):
        law = AnchoredLaw.from_channel(cases.channel(rng, K4, 2 + trial % 4, zeros=0.2))
        yield f"law {trial}", law, cases.distribution(rng, K4, zeros=0.3 if trial % 2 else 0.0)


def _check_domains(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 20 random laws and compositions: image and preimage of templates against the stated maps; exact rationals.

    A template to which the composition gives no mass is refused: two of them, as random laws have none.
    """
    forward, backward = statement()
    gauge = cases.gauges()[0]
    for where, law, w in random_cases(rng, 20):
        b = gauge.point(w)
        for u in law.templates:
            x = gauge.point(u)
            if 1 + dot(b, x) > 0:
                z = gauge.point(project(u, w))
                back = gauge.point(unproject(project(u, w), w))
                yield from serving("images", [compare(z, forward(x, b), at=f"{where}, image of {tuple(map(str, u))}")])
                yield from serving("preimages", [compare(back, backward(z, b), at=f"{where}, back")])
            else:
                yield from serving("templates without mass", [_refused(u, w, where)])
    half = Fraction(1, 2)
    for u in ((ZERO, ZERO, Fraction(4), ZERO), (ZERO, ZERO, Fraction(1), Fraction(3))):
        yield from serving("templates without mass", [_refused(u, (half, half, ZERO, ZERO), "two inputs at 0")])


def _refused(u: Vector, w: Vector, where: str) -> Comparison:
    return decide(_outside(u, w), at=f"{where}: {tuple(map(str, u))}", claimed="refused: outside the domain")


def _outside(u: Vector, w: Vector) -> bool:
    """Whether the library refuses to project this template."""
    try:
        project(u, w)
    except InputError:
        return True
    return False


def _bijection(s: Any, a: Any) -> tuple[Any, Any, Any]:
    """With s = <b,x> and a = <a_i,x>: 1 + <a_i - b, T(x)>, 1 - <b, T(x)>, and the factor of the inverse."""
    return (1 + a) / (1 + s), 1 / (1 + s), lambda t: 1 / (1 - t)


def _check_bijection(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any template and composition, by two inner products: the stated constraint, weight and inverse; symbolic.

    The ratios are bounded exactly at interior compositions.

    Then 12 random laws with 4 inputs there and back, the radius of the range at 4 interior compositions, and points
    that run away at a vertex; exact rationals.
    """
    s, a = sp.symbols("s a", positive=True)
    constraint, weight, inverse_factor = statement(s, a)
    image = 1 / (1 + s)  # T(x) = image * x
    yield identity(1 + a * image - s * image, constraint, at="every x, w, i: the constraints correspond")
    yield identity(1 - s * image, weight, at="every x, w: weight at the image")
    yield identity(image * inverse_factor(s * image), 1, at="every x, w: the inverse undoes the map")
    # The constraints at an image are the ratios u_i/(w u), with w u = w_i u_i + rest. At w_i = 0 the rest can vanish.
    share, entry, rest = sp.symbols("w u r", positive=True)
    ratio = constraint.subs({a: entry - 1, s: share * entry + rest - 1})
    at = "every interior w, i: 1/w_i less the ratio"
    yield decide(nonnegative(1 / share - ratio, {}), at=at, claimed=">= 0: the range is bounded", symbolic=True)
    away = sp.limit(constraint.subs({a: entry - 1, s: rest - 1}), rest, 0, "+")
    yield decide(bool(away == sp.oo), at="w_i = 0: the ratio as the rest vanishes", claimed="unbounded", symbolic=True)
    for where, law, w in random_cases(rng, 12):
        for u in law.templates:
            if dot(w, u):
                r = project(u, w)
                yield compare(unproject(r, w), u, at=f"{where}: back and forth")
                for i in range(K4):
                    claimed = statement(dot(w, u) - 1, u[i] - 1)[0]
                    yield compare(r[i], claimed, at=f"{where}: ratio {i}")
    for w in (cases.distribution(rng, K4) for _ in range(4)):
        vertices = [project(tuple(Fraction(K4 * (i == j)) for j in range(K4)), w) for i in range(K4)]
        bound = range_radius_squared(w)
        radii = [dot(c, c) for c in map(_contrast, vertices)]
        yield compare(max(radii), bound if bound is not None else ZERO, at="interior: radius of the range")
    edge = (Fraction(1), ZERO, ZERO, ZERO)
    for size in (10, 10**3, 10**6):
        u = (Fraction(1, size), K4 - Fraction(1, size), ZERO, ZERO)
        length = dot(_contrast(project(u, edge)), _contrast(project(u, edge)))
        yield compare(length, Fraction(size * size), ">=", at=f"boundary: a point at distance {size}")


def _contrast(r: Sequence[Fraction]) -> Vector:
    """A vector less its mean."""
    centre = sum(r, start=ZERO) / len(r)
    return tuple(entry - centre for entry in r)


def _fiber(atoms: Sequence[tuple[Vector, Fraction]], b: Vector) -> PointLaw:
    """The push-forward of the tilted law, in a gauge."""
    return PointLaw.from_atoms((_forward(x, b), weight * (1 + dot(b, x))) for x, weight in atoms if 1 + dot(b, x) > 0)


def _check_fiber(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 20 random laws, compositions and two gauges: the library's fiber against the stated push-forward; exact."""
    for where, law, w in random_cases(rng, 20):
        for gauge in cases.gauges():
            atoms = [(gauge.point(u), weight) for u, weight in law.template.atoms()]
            ours = PointLaw.from_atoms((gauge.point(r), weight) for r, weight in fiber(law, w).ratios.atoms())
            yield compare(ours, statement(atoms, gauge.point(w)), at=where)


def _fiber_elsewhere(atoms: Sequence[tuple[Vector, Fraction]], b: Vector) -> PointLaw:
    return PointLaw.from_atoms((x, weight * (1 + dot(b, x))) for x, weight in atoms if 1 + dot(b, x) > 0)


def _transported(atoms: Sequence[tuple[Vector, Fraction]], change: Vector) -> list[tuple[Vector, Fraction]]:
    """Weight and position after a change of base point by the given vector."""
    return [
        (_scaled(z, 1 / (1 + dot(change, z))), weight * (1 + dot(change, z)))
        for z, weight in atoms
        if 1 + dot(change, z) != 0
    ]


def _check_transport(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For one coordinate of any law: the stated transport takes the fiber at b to the fiber at c; symbolic.

    From the law itself it keeps the moment of every atom, and so the mean zero.

    Then 20 random laws, targets inside and on the boundary: the library's and the stated transport against the fiber at
    the target, the mean 0, and the bound of interior fibers; exact rationals.
    """
    x, b, c, mass = sp.symbols("x b c m", positive=True)
    atom = ((x / (1 + b * x),), mass * (1 + b * x))  # of the fiber at b, from an atom x of the law
    (((point,), weight),) = statement([atom], (c - b,))
    yield identity(x / (1 + c * x), point, at="every law: the transported point (one coordinate)")
    yield identity(mass * (1 + c * x), weight, at="every law: the transported weight")
    (((start,), share),) = statement([((x,), mass)], (b,))  # the law itself is the fiber at uniform, where b = 0
    yield identity(share * start, mass * x, at="every law: an atom of a fiber has the moment it has in the law")
    for where, law, target in random_cases(rng, 20):
        w = cases.distribution(rng, K4)
        source = fiber(law, w)
        yield compare(source.mean, (ZERO,) * K4, at=f"{where}: interior fibers have mean zero")
        bound = range_radius_squared(w)
        largest = max(dot(_contrast(r), _contrast(r)) for r in source.ratios.points)
        yield compare(largest, bound if bound is not None else ZERO, "<=", at=f"{where}: bounded")
        yield compare(transport(source, target), fiber(law, target), at=f"{where}: the library's transport")
        gauge = cases.gauges()[0]
        change = tuple(t - s for t, s in zip(gauge.point(target), gauge.point(w), strict=True))
        moved = statement([(gauge.point(r), weight) for r, weight in source.ratios.atoms()], change)
        claimed = sorted((point, weight) for point, weight in moved if weight)
        direct = fiber(law, target).ratios.atoms()
        ours = sorted((gauge.point(r), weight) for r, weight in direct)
        yield decide(ours == claimed, at=where, claimed="the printed transport is the fiber at the target")


CLAIMS: Final = (
    Claim(
        id="anchored.def-3.1",
        kind="definition",
        title="projective domains and maps",
        text=(
            Clause("map", r"$T_w(x)=x/(1+\langle b_w,x\rangle)$."),
            Clause("domain", "$T_w$ is defined where the denominator is positive."),
            Clause("inverse", r"$S_w(z)=z/(1-\langle b_w,z\rangle)$."),
        ),
        source="anchored, Definition 3.1",
        assumptions=("$w$ a probability vector, zeros allowed",),
        scope=(
            "templates of 20 random laws with 4 inputs, interior and boundary compositions, against $r=u/(w\\cdot u)$"
        ),
        grade="exact-cases",
        printed=_maps,
        check=_check_domains,
        controls=(
            Control("the inverse with a plus sign", lambda: (_forward, _forward)),
            Control("the map with a minus sign", lambda: (lambda x, b: _forward(x, _scaled(b, -1)), backward)),
        ),
        expected="definition",
        obligations=(
            *by_cases("images", clause="map"),
            *by_cases("templates without mass", clause="domain"),
            *by_cases("preimages", clause="inverse"),
        ),
    ),
    Claim(
        id="anchored.prop-3.2",
        kind="statement",
        title="the projective map is a bijection",
        text=(
            Clause(
                "constraint",
                r"$1+\langle a_i-b_w,T_wx\rangle=\frac{1+\langle a_i,x\rangle}{1+\langle b_w,x\rangle}$, "
                r"$1-\langle b_w,T_wx\rangle=\frac1{1+\langle b_w,x\rangle}$.",
            ),
            Clause("inverse", "$S_w=T_w^{-1}$."),
            Clause("range", "The range is bounded exactly at interior $w$."),
        ),
        source="anchored, Proposition 3.2",
        assumptions=("$w$ a probability vector",),
        scope="identities and bounded ratios for every k and w; 12 laws; radius of the range at 4 interior w",
        grade="proved",
        printed=_bijection,
        check=_check_bijection,
        controls=(
            Control("the inverse with a plus sign", lambda s, a: (*_bijection(s, a)[:2], lambda t: 1 / (1 + t))),
            Control("the constraint without its denominator", lambda s, a: (1 + a, *_bijection(s, a)[1:])),
        ),
        expected="holds",
        obligations=for_all("s", "a", clause=("constraint", "inverse", "range")),
    ),
    Claim(
        id="anchored.def-3.3",
        kind="definition",
        title="fibers",
        text=(
            Clause("fiber", r"$\eta_w$ is the push-forward of $(1+\langle b_w,x\rangle)\mu$ under $T_w$."),
            Clause("ratios", "It is the law of the ratios of all rows to the mixture."),
        ),
        source="anchored, Definition 3.3",
        assumptions=(),
        scope="20 random laws, two rational gauges, interior and boundary compositions",
        grade="exact-cases",
        printed=_fiber,
        check=_check_fiber,
        controls=(Control("the tilted law without the projection", _fiber_elsewhere),),
        expected="definition",
        obligations=for_all("atoms", "b", clause=("fiber", "ratios")),
    ),
    Claim(
        id="anchored.prop-3.4",
        kind="statement",
        title="interior fibers and their transport",
        text=(
            Clause("centred", "Interior fibers are bounded with mean zero."),
            Clause(
                "transport",
                r"$\eta_{w'}$ is the image of $(1+\langle b_{w'}-b_w,z\rangle)\eta_w$ under $z\mapsto "
                r"z/(1+\langle b_{w'}-b_w,z\rangle)$.",
            ),
        ),
        source="anchored, Proposition 3.4",
        assumptions=("$w$ interior, $w'$ arbitrary",),
        scope=(
            "change of base point and mean zero for every law, bounded by anchored.prop-3.2; 20 random laws, targets "
            "inside and on the boundary"
        ),
        grade="proved",
        printed=_transported,
        check=_check_transport,
        controls=(
            Control(
                "the opposite change of base point", lambda atoms, change: _transported(atoms, _scaled(change, -1))
            ),
            Control(
                "without the weight",
                lambda atoms, change: [
                    (z, w) for (z, _), (_, w) in zip(_transported(atoms, change), atoms, strict=False)
                ],
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("atoms", clause=("centred", "transport")),
            *for_all("change", clause="transport"),
        ),
    ),
)
