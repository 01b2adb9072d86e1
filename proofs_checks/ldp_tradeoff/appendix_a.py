"""Appendix A: polyhedral cones, extreme rays, active constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.ldp_tradeoff._cones import PolyhedralCone
from symshuffle.base.lp import LinearProgram
from symshuffle.channels.geometry.extremal import cone_inequalities
from symshuffle.channels.geometry.linear import rank
from symshuffle.channels.geometry.linprog import Solution, solve
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    serving,
)

Vector = tuple[Fraction, ...]


def _random_cone(rng: np.random.Generator, dimension: int) -> PolyhedralCone:
    """A random pointed cone with interior: every constraint holds at the all-ones vector, coordinates are signed."""
    rows = []
    for _ in range(dimension + 1):
        row = [Fraction(int(v)) for v in rng.integers(-3, 5, size=dimension)]
        row[0] += max(Fraction(0), 1 - sum(row))
        rows.append(tuple(row))
    rows += [tuple(Fraction(int(i == j)) for j in range(dimension)) for i in range(dimension)]
    return PolyhedralCone(tuple(rows))


def _integer_vectors(rng: np.random.Generator, dimension: int, count: int) -> list[Vector]:
    return [tuple(Fraction(int(v)) for v in rng.integers(-2, 4, size=dimension)) for _ in range(count)]


def _in_cone(rows: Sequence[Vector], vector: Vector) -> bool:
    """Equation (31)."""
    return all(sum((t * v for t, v in zip(row, vector, strict=True)), Fraction(0)) >= 0 for row in rows)


def _check_cone(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 20 random cones and 120 vectors: membership by the library against the stated inequalities; exact.

    A half-plane contains a line, so that it is not pointed.
    """
    for trial in range(20):
        cone = _random_cone(rng, 3)
        for vector in _integer_vectors(rng, 3, 6):
            yield compare(cone.contains(vector), statement(cone.rows, vector), at=f"random cone {trial}")
    line = PolyhedralCone(((Fraction(1), Fraction(0)),))
    both = statement(line.rows, (Fraction(0), Fraction(1))) and statement(line.rows, (Fraction(0), Fraction(-1)))
    yield compare(not line.is_pointed(), both, at="a half-plane contains a line: not pointed")


def _splits(cone: PolyhedralCone, vector: Vector, first: Vector, second: Vector) -> bool:
    """Equation (32) for one decomposition: two vectors of the cone whose sum is on the ray lie on it themselves."""
    if not (cone.contains(first) and cone.contains(second)):
        return True
    return rank([vector, first]) <= 1 and rank([vector, second]) <= 1


def _check_extreme(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For all extreme rays of 8 random cones: random splittings are none in the stated sense; exact rationals.

    A sum of two extreme rays splits into them.
    """
    for trial in range(8):
        cone = _random_cone(rng, 3)
        for ray in cone.extreme_rays():
            for part in _integer_vectors(rng, 3, 12):
                shrunk = tuple(v / 7 for v in part)
                rest = tuple(a - b for a, b in zip(ray, shrunk, strict=True))
                yield decide(
                    statement(cone, ray, shrunk, rest), at=f"an extreme ray of cone {trial}", claimed="no split"
                )
        rays = cone.extreme_rays()
        middle = tuple(a + b for a, b in zip(rays[0], rays[1], strict=True))
        yield decide(
            not statement(cone, middle, rays[0], rays[1]), at=f"between two rays of cone {trial}", claimed="splits"
        )


def _active(rows: Sequence[Vector], vector: Vector) -> tuple[int, ...]:
    """Definition A.4."""
    products = [sum((t * v for t, v in zip(row, vector, strict=True)), Fraction(0)) for row in rows]
    return tuple(i for i, product in enumerate(products) if product == 0)


def _check_active(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 10 random cones at their extreme rays and at the all-ones vector: the library's active rows as stated."""
    for trial in range(10):
        cone = _random_cone(rng, 3)
        for vector in (*cone.extreme_rays(), (Fraction(1),) * 3):
            yield compare(cone.active(vector), statement(cone.rows, vector), at=f"random cone {trial}")


def _spanned() -> tuple[bool, int]:
    """Proposition A.3: whether a pointed cone has finitely many extreme rays, and how many of them it can spare."""
    return True, 0


def _gap(rays: Sequence[Vector], vector: Vector) -> Solution:
    """The program for the least total distance, by coordinates, of a conic combination of rays to a vector."""
    costs = [Fraction(0)] * len(rays) + [Fraction(1)] * (2 * len(vector))
    rows = []
    for i, v in enumerate(vector):
        slack = [Fraction(int(j == i)) for j in range(len(vector))]
        rows.append(([*(ray[i] for ray in rays), *slack, *(-s for s in slack)], "==", v))
    return solve(LinearProgram.from_rows(costs, rows))


def _rows_along(reach: Any) -> Iterator[tuple[str, Any, Any]]:
    """The rows of a cone along a direction u from a vector v: kind, value at v, slope.

    At an active row both are 0. Among the rows that fall, ``reach`` is the smallest ratio of value to size of slope;
    every other one has a ratio larger by some g >= 0.
    """
    slope, gap, value = sp.symbols("d g s", positive=True)
    yield "active", sp.Integer(0), sp.Integer(0)
    yield "met first", reach * slope, -slope
    yield "falling, met later", (reach + gap) * slope, -slope
    yield "rising", value, slope


def _reaches_the_boundary(reach: Any) -> bool:
    """Whether v + reach u is in the cone, its active rows are those of v and one more, on which u is not 0."""
    ends = {kind: sp.expand(value + reach * slope) for kind, value, slope in _rows_along(reach)}
    slopes = {kind: slope for kind, _, slope in _rows_along(reach)}
    return (
        all(end.is_nonnegative for end in ends.values())
        and ends["active"] == 0 == ends["met first"]
        and slopes["met first"].is_nonzero is True
    )


def _descends() -> bool:
    """Whether v is a mixture of two vectors of the cone with smaller kernels, if its kernel is more than its line.

    Let u be in the kernel of the active rows, off the line of v. The sum f of all rows is positive at every non-zero
    vector of a pointed cone (if all rows are 0 there, the cone contains a line). At w = u - f(u)/f(v) v it is 0, so
    neither w nor -w is in the cone: some row falls in each direction, and both ways end at the boundary.
    """
    f_u, v, u = sp.symbols("f_u v u", real=True)
    f_v, ahead, behind = sp.symbols("f_v a b", positive=True)
    level = sp.cancel(f_u - f_u / f_v * f_v)
    weights = behind / (ahead + behind), ahead / (ahead + behind)
    mixture = weights[0] * (v + ahead * u) + weights[1] * (v - behind * u)
    between = sp.cancel(mixture - v) == 0 and sp.cancel(sum(weights)) == 1 and all(w.is_positive for w in weights)
    return level == 0 and between and _reaches_the_boundary(ahead)


def _known_by_active_rows(kernel: int) -> bool:
    """Whether two vectors with one active set are multiples of each other, where its kernel has that dimension.

    Each of them is in the kernel; coordinates are along a basis of it.
    """
    first, second = (sp.Matrix(sp.symbols(f"{name}1:{kernel + 1}", positive=True)) for name in "vw")
    return all(minor == 0 for minor in (first * second.T - second * first.T))


def _indispensable() -> bool:
    """Whether an extreme direction v is no conic combination of vectors off its line.

    By the definition of an extreme ray every summand c w of v = c w + ... is some a v. Coordinates are along v and w,
    which are independent: such a summand is 0, and zeros add up to 0.
    """
    c, a = sp.symbols("c a", real=True)
    v, w = sp.Matrix([1, 0]), sp.Matrix([0, 1])
    summands = sp.linsolve([*(c * w - a * v)], [c, a])
    return bool(summands == sp.FiniteSet((0, 0)) and sp.zeros(2, 1) != v)


def _check_finite(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any pointed cone: active rows tell a ray, and each vector is a mixture from smaller kernels; symbolic.

    By induction on the dimension of the kernel, row by row, against the stated answers. Then 12 random cones: a vector
    is inside exactly if a certified program combines the rays to it.
    """
    finite, spare = statement()
    # By Proposition A.5 the kernel is a line; with two dimensions one active set would have infinitely many rays.
    known = _known_by_active_rows(1) and not _known_by_active_rows(2)
    at = "an extreme ray is known by its active rows: no more rays than sets of rows"
    yield from serving("finitely many", [decide(known is finite, at=at, claimed=str(finite), symbolic=True)])
    # Kernels shrink by a dimension at each step; at dimension one Proposition A.5 says extreme.
    needless = 0 if _descends() and _indispensable() else -1
    at = "an arbitrary vector by induction on its kernel; no extreme ray is a combination of others"
    yield from serving("conic hull", [decide(needless == spare, at=at, claimed=f"{spare} to spare", symbolic=True)])
    for trial in range(12):
        cone = _random_cone(rng, 3 + trial % 2)
        rays = cone.extreme_rays()
        kept = rays[: len(rays) - spare]
        for vector in _integer_vectors(rng, cone.ambient_dimension, 30):
            if any(vector):
                gap, within = _gap(kept, vector), cone.contains(vector)
                at = (
                    f"random cone {trial}, certified program: distance of {'an inner' if within else 'an outer'} vector"
                )
                yield compare(gap.value.upper, Fraction(0), "==" if within else ">", at=at, solution=gap)
    ldp = PolyhedralCone(cone_inequalities(4, Fraction(5, 2)))
    yield compare(len(ldp.extreme_rays()), 14, at="LDP cone on 4 inputs: finitely many rays")


def _kernel_criterion(kernel: Any) -> Any:
    """Proposition A.5: extreme exactly if the kernel of the active constraints has dimension one."""
    return sp.Eq(kernel, 1)


def _another_direction_splits() -> bool:
    """Whether v is half of v + t u and half of v - t u, both in the cone, for u in the kernel and off the line of v.

    t is the smaller of the two ways to the boundary, or any number where no row falls; a shorter way stays inside.
    """
    t, rest = sp.symbols("t r", positive=True)
    v, u = sp.symbols("v u", real=True)
    inside = all(
        sp.expand(value + t * slope).is_nonnegative for reach in (t, t + rest) for _, value, slope in _rows_along(reach)
    )
    halves = sp.expand((v + t * u) / 2 + (v - t * u) / 2 - v)
    independent = sp.Matrix([[1, 0], [1, t]]).det()  # v and v + t u, in the basis v, u
    return inside and halves == 0 and independent.is_nonzero is True


def _line_does_not_split() -> bool:
    """Whether u + w = c v with u and w in the cone puts both on the ray of v, where the kernel is the line of v.

    At an active row two non-negative numbers add up to 0. So u is in the kernel, u = a v; a row that is not active
    (there is one, or the cone would contain -v) has a value s > 0 at v and a s >= 0 at u, so a is not negative.
    """
    p, q = sp.Symbol("p", positive=True), sp.Symbol("q", nonnegative=True)
    both_vanish = (p + q).is_positive is True  # if one of two terms were positive, so would be their sum
    s, a = sp.Symbol("s", positive=True), sp.Symbol("a", negative=True)
    return both_vanish and (a * s).is_negative is True


def _check_kernel(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For a kernel of dimension 1, and of any larger one: whether the vector splits, against the stated; symbolic.

    Both directions, row by row. Then 12 random cones: a vector is extreme exactly if a certified program finds no
    combination of other rays.
    """
    more = sp.Symbol("e", integer=True, positive=True)
    splits = sp.true if _another_direction_splits() else sp.false
    claimed = sp.Not(statement(1 + more))
    yield decide(splits == claimed, at="kernel of any dimension 1 + e, any row", claimed=f"{claimed}", symbolic=True)
    claimed = statement(sp.Integer(1))
    whole = sp.true if _line_does_not_split() else sp.false
    yield decide(whole == claimed, at="kernel of dimension 1, any row", claimed=f"{claimed}", symbolic=True)
    for trial in range(12):
        cone = _random_cone(rng, 3 + trial % 2)
        rays = cone.extreme_rays()
        vectors = [*rays, *(tuple(a + b for a, b in zip(rays[0], ray, strict=True)) for ray in rays[1:4])]
        for vector in vectors:
            tight = [cone.rows[i] for i in cone.active(vector)]
            # Independent of kernels: on an extreme ray exactly if no other rays combine to the vector.
            others = [ray for ray in rays if rank([ray, vector]) > 1]
            gap, alone = _gap(others, vector), bool(statement(sp.Integer(cone.ambient_dimension - rank(tight))))
            at = f"random cone {trial}: distance from the combinations of other rays"
            yield compare(gap.value.upper, Fraction(0), ">" if alone else "==", at=at, solution=gap)


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.def-A.1",
        kind="definition",
        title="cones cut out by finitely many inequalities",
        text=(
            Clause("cone", r"$\mathcal K(T)=\{v: Tv\ge0\}$."),
            Clause("trivial", r"It is trivial if it is $\{0\}$."),
            Clause("pointed", "It is pointed if it contains no line."),
        ),
        source="ldp_tradeoff, Definition A.1",
        assumptions=(),
        scope="20 random rational cones, 120 vectors; a half-plane",
        grade="exact-cases",
        printed=_in_cone,
        check=_check_cone,
        controls=(Control("inequalities reversed", lambda rows, vector: _in_cone(rows, tuple(-v for v in vector))),),
        expected="definition",
        obligations=for_all("rows", "vector", clause=("cone", "trivial", "pointed")),
    ),
    Claim(
        id="ldp_tradeoff.def-A.2",
        kind="definition",
        title="rays that cannot be split",
        text=(
            r"$\mathcal R(v)$ is extreme if $u+w\in\mathcal R(v)$ "
            r"with $u,w\in\mathcal K$ forces $u,w\in\mathcal R(v)$."
        ),
        source="ldp_tradeoff, Definition A.2",
        assumptions=("pointed cones",),
        scope="all extreme rays of 8 random cones with random splittings; sums of two rays",
        grade="exact-cases",
        printed=_splits,
        check=_check_extreme,
        controls=(
            Control(
                "one part on the ray is enough to fail",
                lambda cone, v, a, b: not (cone.contains(a) and cone.contains(b)),
            ),
            Control("any splitting is harmless", lambda cone, v, a, b: True),
        ),
        expected="definition",
    ),
    Claim(
        id="ldp_tradeoff.def-A.4",
        kind="definition",
        title="constraints tight at a vector",
        text=(
            Clause("active", r"$t_y$ is active at $v$ if $\langle t_y,v\rangle=0$."),
            Clause("stacked", "$T^{(v)}$ stacks the active rows."),
        ),
        source="ldp_tradeoff, Definition A.4",
        assumptions=(),
        scope="10 random cones at their extreme rays and at the all-ones vector",
        grade="exact-cases",
        printed=_active,
        check=_check_active,
        controls=(
            Control(
                "slack constraints are active",
                lambda rows, vector: tuple(i for i in range(len(rows)) if i not in _active(rows, vector)),
            ),
        ),
        expected="definition",
        obligations=for_all("rows", "vector", clause=("active", "stacked")),
    ),
    Claim(
        id="ldp_tradeoff.prop-A.3",
        kind="statement",
        title="pointed cones are spanned by finitely many rays",
        text=(
            Clause("finitely many", "A pointed non-trivial polyhedral cone has finitely many extreme rays."),
            Clause("conic hull", "It is their conic hull."),
        ),
        source="ldp_tradeoff, Proposition A.3",
        assumptions=("pointed, non-trivial, polyhedral",),
        scope="any cone: descent along the kernel of any vector, row by row; 12 random cones by certified programs",
        grade="proved",
        printed=_spanned,
        check=_check_finite,
        controls=(
            Control("all but one ray suffice", lambda: (True, 1)),
            Control("infinitely many rays", lambda: (False, 0)),
        ),
        expected="holds",
        obligations=(
            *for_all("finitely many", clause="finitely many"),
            *for_all("conic hull", clause="conic hull"),
        ),
    ),
    Claim(
        id="ldp_tradeoff.prop-A.5",
        kind="statement",
        title="a direction is extreme when its tight constraints leave a line",
        text=r"$v\ne0$ is extreme exactly if $\ker T^{(v)}=\mathrm{span}\{v\}$.",
        source="ldp_tradeoff, Proposition A.5",
        assumptions=("pointed, non-trivial, polyhedral",),
        scope="any cone, both directions, row by row; 12 random cones against certified programs over other rays",
        grade="proved",
        printed=_kernel_criterion,
        check=_check_kernel,
        controls=(
            Control("a kernel of dimension at most two", lambda kernel: sp.Le(kernel, 2)),
            Control("never extreme", lambda kernel: sp.false),
        ),
        expected="holds",
        obligations=for_all("kernel"),
    ),
)
