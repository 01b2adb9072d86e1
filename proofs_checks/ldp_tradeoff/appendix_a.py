"""Appendix A: polyhedral cones, extreme rays, active constraints."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from symshuffle.claims.model import Claim, ClaimVerdict, Comparison, Control, Grade, Kind, Statement, compare, decide
from symshuffle.geometry.cones import PolyhedralCone, rank
from symshuffle.geometry.extremal import LDPCone
from symshuffle.geometry.linprog import solve
from symshuffle.lp import LinearProgram

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
    for trial in range(10):
        cone = _random_cone(rng, 3)
        for vector in (*cone.extreme_rays(), (Fraction(1),) * 3):
            yield compare(cone.active(vector), statement(cone.rows, vector), at=f"random cone {trial}")


def _generated(cone: PolyhedralCone, rays: Sequence[Vector], vector: Vector) -> bool:
    """Proposition A.3: a vector of a pointed cone is a conic combination of its extreme directions."""
    return bool(rays) and _conic(rays, vector) >= 0


def _conic(rays: Sequence[Vector], vector: Vector) -> int:
    """The number of rays in some exact conic combination of a vector; -1 if there is none."""
    costs = [Fraction(0)] * len(rays) + [Fraction(1)] * (2 * len(vector))
    rows = []
    for i, v in enumerate(vector):
        slack = [Fraction(int(j == i)) for j in range(len(vector))]
        rows.append(([*(ray[i] for ray in rays), *slack, *(-s for s in slack)], "==", v))
    solution = solve(LinearProgram.from_rows(costs, rows))
    return len(solution.certificate.primal) if solution.value.exact == 0 else -1


def _check_finite(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(12):
        cone = _random_cone(rng, 3 + trial % 2)
        rays = cone.extreme_rays()
        for vector in _integer_vectors(rng, cone.ambient_dimension, 30):
            if any(vector):
                yield compare(
                    cone.contains(vector), statement(cone, rays, vector), at=f"random cone {trial}, certified program"
                )
    ldp = LDPCone(4, Fraction(5, 2)).polyhedral()
    yield compare(len(ldp.extreme_rays()), 14, at="LDP cone on 4 inputs: finitely many rays")


def _kernel_criterion(dimension: int, active_rank: int) -> bool:
    """Proposition A.5: the kernel of the active constraints is a line."""
    return dimension - active_rank == 1


def _check_kernel(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    for trial in range(12):
        cone = _random_cone(rng, 3 + trial % 2)
        rays = cone.extreme_rays()
        vectors = [*rays, *(tuple(a + b for a, b in zip(rays[0], ray, strict=True)) for ray in rays[1:4])]
        for vector in vectors:
            tight = [cone.rows[i] for i in cone.active(vector)]
            # Independent of kernels: on an extreme ray exactly if no other rays combine to the vector.
            others = [ray for ray in rays if rank([ray, vector]) > 1]
            alone = _conic(others, vector) < 0
            claimed = statement(cone.ambient_dimension, rank(tight))
            yield compare(alone, claimed, at=f"random cone {trial}: not a combination of other rays")


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.def-A.1",
        kind=Kind.DEFINITION,
        title="cones cut out by finitely many inequalities",
        text=r"$\mathcal K(T)=\{v: Tv\ge0\}$; trivial if $\{0\}$, pointed if it contains no line.",
        source="ldp_tradeoff, Definition A.1",
        assumptions=(),
        scope="20 random rational cones, 120 vectors; a half-plane",
        grade=Grade.EXACT_CASES,
        printed=_in_cone,
        check=_check_cone,
        controls=(Control("inequalities reversed", lambda rows, vector: _in_cone(rows, tuple(-v for v in vector))),),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="ldp_tradeoff.def-A.2",
        kind=Kind.DEFINITION,
        title="rays that cannot be split",
        text=(
            r"$\mathcal R(v)$ is extreme if $u+w\in\mathcal R(v)$ "
            r"with $u,w\in\mathcal K$ forces $u,w\in\mathcal R(v)$."
        ),
        source="ldp_tradeoff, Definition A.2",
        assumptions=("pointed cones",),
        scope="all extreme rays of 8 random cones with random splittings; sums of two rays",
        grade=Grade.EXACT_CASES,
        printed=_splits,
        check=_check_extreme,
        controls=(
            Control(
                "one part on the ray is enough to fail",
                lambda cone, v, a, b: not (cone.contains(a) and cone.contains(b)),
            ),
            Control("any splitting is harmless", lambda cone, v, a, b: True),
        ),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="ldp_tradeoff.def-A.4",
        kind=Kind.DEFINITION,
        title="constraints tight at a vector",
        text=r"$t_y$ is active at $v$ if $\langle t_y,v\rangle=0$; $T^{(v)}$ stacks the active rows.",
        source="ldp_tradeoff, Definition A.4",
        assumptions=(),
        scope="10 random cones at their extreme rays and at the all-ones vector",
        grade=Grade.EXACT_CASES,
        printed=_active,
        check=_check_active,
        controls=(
            Control(
                "slack constraints are active",
                lambda rows, vector: tuple(i for i in range(len(rows)) if i not in _active(rows, vector)),
            ),
        ),
        expected=ClaimVerdict.DEFINITION,
    ),
    Claim(
        id="ldp_tradeoff.prop-A.3",
        kind=Kind.STATEMENT,
        title="pointed cones are spanned by finitely many rays",
        text=r"A pointed non-trivial polyhedral cone has finitely many extreme rays and is their conic hull.",
        source="ldp_tradeoff, Proposition A.3",
        assumptions=("pointed, non-trivial, polyhedral",),
        scope="12 random cones in dimension 3 and 4: membership against certified conic combinations of the rays",
        grade=Grade.EXACT_CASES,
        printed=_generated,
        check=_check_finite,
        controls=(Control("all but one ray suffice", lambda cone, rays, v: _generated(cone, rays[1:], v)),),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="ldp_tradeoff.prop-A.5",
        kind=Kind.STATEMENT,
        title="a direction is extreme when its tight constraints leave a line",
        text=r"$v\ne0$ is extreme exactly if $\ker T^{(v)}=\mathrm{span}\{v\}$.",
        source="ldp_tradeoff, Proposition A.5",
        assumptions=("pointed, non-trivial, polyhedral",),
        scope="12 random cones: rays and sums of rays, against certified programs over the other rays",
        grade=Grade.EXACT_CASES,
        printed=_kernel_criterion,
        check=_check_kernel,
        controls=(Control("one active constraint is enough", lambda dimension, active: active >= 1),),
        expected=ClaimVerdict.HOLDS,
    ),
)
