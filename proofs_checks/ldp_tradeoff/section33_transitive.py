"""Section 3.3, continued: transitive groups, where one orbit is a channel, and subset selection."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.ldp_tradeoff import _cases as cases
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
from symshuffle.design import bayes_tradeoff, smoothed_point_masses
from symshuffle.design.information import measures
from symshuffle.design.information.maximum import maximise
from symshuffle.design.named import uniform
from symshuffle.design.named.symmetric import subset_weight
from symshuffle.geometry.extremal import MaximalPolytope
from symshuffle.geometry.groups import (
    cyclic_group,
    dihedral_group,
    symmetric_group,
)
from symshuffle.geometry.symmetry import OrbitPolytope
from symshuffle.numbers import Exp


def _single_orbit_weight(m: Any, size: Any, k: Any, lam: Any) -> Any:
    """Equation (28)."""
    return m / (size * (k * lam + m - k))


def _check_transitive(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    m, size, k, lam = sp.symbols("m N k lambda", positive=True)
    # Double counting: m r = N k. One unit of weight contributes lam r + N - r to every input.
    inside = size * k / m
    yield identity(
        1 / (lam * inside + size - inside), statement(m, size, k, lam), at="weight of one orbit, all m, N, k, lam"
    )
    for name, group in (("Z_4", cyclic_group(4)), ("D_5", dihedral_group(5)), ("Z_6", cyclic_group(6))):
        polytope = OrbitPolytope(group, cases.LAM)
        problem = cases.ring(group.m)
        family, risks = MaximalPolytope(group.m, cases.LAM), []
        for orbit in polytope.orbits:
            weight = statement(Fraction(group.m), orbit.size, orbit.representative.bit_count(), cases.LAM)
            subsets = {y: Fraction(weight) for y in group.orbit_of(orbit.representative)}
            yield decide(
                family.contains(subsets), at=f"{name}: orbit of {orbit.representative} is a channel", claimed="yes"
            )
            if family.contains(subsets):
                risks.append(problem.bayes_risk(family.channel(subsets))[0])
        best = bayes_tradeoff(problem, cases.LAM).value.exact
        yield compare(min(risks, default=None), best, at=f"{name}: best single orbit against all LDP channels")


def _selection_weight(m: Any, k: Any, lam: Any) -> Any:
    """Equation (30)."""
    return m / (sp.binomial(m, k) * (k * lam + m - k))


def _check_selection(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    m, k, lam = sp.symbols("m k lambda", positive=True)
    yield identity(subset_weight(m, k, lam), statement(m, k, lam), at="weight by counting subsets, all m, k, lam")
    yield from _best_size(statement)
    for inputs in (3, 4, 5, 6):
        orbits = list(symmetric_group(inputs).subset_orbits())
        expected = sorted((size, math.comb(inputs, size)) for size in range(1, inputs))
        found = sorted((orbit.representative.bit_count(), orbit.size) for orbit in orbits)
        yield compare(found, expected, at=f"orbits of Sym({inputs}) are the sizes")
        polytope = OrbitPolytope(symmetric_group(inputs), cases.LAM)
        for orbit in polytope.orbits:
            claimed = statement(sp.Integer(inputs), sp.Integer(orbit.representative.bit_count()), sp.Integer(3))
            weight = polytope.single_orbit_weight(orbit)
            yield compare(weight, Fraction(int(claimed.p), int(claimed.q)), at=f"m={inputs}, size {orbit.size}")


def _best_size(statement: Statement) -> Iterator[Comparison]:
    """Invariant risks: the best subset selection, with the stated weight, against the certified optimum."""
    for inputs in (3, 4):
        family, problem = MaximalPolytope(inputs, cases.LAM), smoothed_point_masses(inputs, Fraction(3, 4))
        risks = []
        for size in range(1, inputs):
            claimed = statement(sp.Integer(inputs), sp.Integer(size), sp.Integer(3))
            weight = Fraction(int(claimed.p), int(claimed.q))
            subsets = {y: weight for y in range(1, 2**inputs - 1) if y.bit_count() == size}
            if family.contains(subsets):
                risks.append(problem.bayes_risk(family.channel(subsets))[0])
        best = bayes_tradeoff(problem, cases.LAM).value.exact
        yield compare(min(risks, default=None), best, at=f"m={inputs}: an optimal channel is a subset selection")


def _information_sizes(m: int, eps0: Fraction) -> set[int]:
    """Remark 3.19: the maximum is attained by subset selection of some size."""
    return set(range(1, m))


def _check_information(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    m, k, lam = sp.symbols("m k lambda", positive=True)
    total = k * lam + m - k
    # Every subset has output probability K w / m, with w its weight; C(m, k) of them; ratios lam m / K and m / K.
    counted = (k * lam * (sp.log(lam) + sp.log(m) - sp.log(total)) + (m - k) * (sp.log(m) - sp.log(total))) / total
    formula = sp.log(lam) * k * lam / total - (sp.log(total) - sp.log(m))
    yield identity(sp.simplify(sp.expand(counted - formula)), 0, at="information of subset selection, all m, k, lam")
    for inputs in (2, 3, 4, 5, 6):
        for eps0 in (Fraction(1, 10), Fraction(1), Fraction(5, 2), Fraction(5)):
            sizes = statement(inputs, eps0)
            best = max(
                (uniform.uniform_information(inputs, size, eps0) for size in sizes), key=lambda ball: ball.midpoint
            )
            found = maximise(measures.mutual_information([Fraction(1, inputs)] * inputs), Exp(eps0)).value
            gap = abs(found.midpoint - best.midpoint)
            yield compare(
                gap, Fraction(1, 10**20), "<=", at=f"certified maximum against its best size, m={inputs}, eps0={eps0}"
            )


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.cor-3.17",
        kind=Kind.STATEMENT,
        title="transitive symmetry: one orbit is optimal",
        text=(
            r"For a transitive group one orbit with $w_O=m/(|O|(k\lambda+m-k))$ "
            r"is optimal for concave invariant risks."
        ),
        source="ldp_tradeoff, Corollary 3.17",
        assumptions=("a finite group, transitive on inputs", "DPI, DS-QCVX, CCV and invariance"),
        scope="weight symbolic in m, |O|, k, lam; three rings: best single orbit equals the certified optimum",
        grade=Grade.EXACT_CASES,
        printed=_single_orbit_weight,
        check=_check_transitive,
        controls=(
            Control("the order of the group instead of the orbit", lambda m, size, k, lam: m / (m * (k * lam + m - k))),
            Control("levels exchanged", lambda m, size, k, lam: m / (size * (k + (m - k) * lam))),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="ldp_tradeoff.rem-3.18",
        kind=Kind.STATEMENT,
        title="full symmetry leads to subset selection",
        text=(
            r"For a $\mathrm{Sym}(m)$-invariant risk the optimal channel is a subset selection: the orbits are the "
            r"$k$-subsets and $w_O=m/(\binom mk(k\lambda+m-k))$."
        ),
        source="ldp_tradeoff, Remark 3.18, equation (30)",
        assumptions=("Corollary 3.17",),
        scope="weight for all m, k, lam; orbits and weights for m = 3..6; optimality in one problem each for m = 3, 4",
        grade=Grade.EXACT_CASES,
        printed=_selection_weight,
        check=_check_selection,
        controls=(
            Control("the binomial of m - 1", lambda m, k, lam: m / (sp.binomial(m - 1, k) * (k * lam + m - k))),
            Control("levels exchanged", lambda m, k, lam: m / (sp.binomial(m, k) * (k + (m - k) * lam))),
        ),
        expected=ClaimVerdict.HOLDS,
    ),
    Claim(
        id="ldp_tradeoff.rem-3.19",
        kind=Kind.STATEMENT,
        title="largest mutual information of a uniform input",
        text=r"For a uniform input, $I(X;Y)$ over $\epsilon$-LDP channels is largest for a subset selection mechanism.",
        source="ldp_tradeoff, Remark 3.19",
        assumptions=("uniform input",),
        scope="m = 2..6 at four budgets: certified maximum within 1e-20 of the best size; value symbolic in m, k, lam",
        grade=Grade.EXACT_CASES,
        printed=_information_sizes,
        check=_check_information,
        controls=(Control("size m/(lam+1), rounded", lambda m, eps0: {max(1, round(m / (math.exp(eps0) + 1)))}),),
        expected=ClaimVerdict.HOLDS,
    ),
)
