"""Section 7.2: augmented randomized response and the trace cap."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._templates import subset_template
from proofs_checks.anchored import _cases as cases
from symshuffle.base.choices import Population
from symshuffle.base.lp import LinearProgram
from symshuffle.base.results import passes
from symshuffle.channels.geometry.linear import Vector
from symshuffle.channels.geometry.linprog import solve
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import Claim, Control, Statement, for_all
from symshuffle.ledger.claims.parts import Clause
from symshuffle.mechanisms.finite import K, P, S, augmented_randomized_response
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.utility.anchored.law import AnchoredLaw, template_budget, template_signal
from symshuffle.utility.estimation.canonical import enumerated_risk, isotropic_risk, worst_canonical_risk
from symshuffle.utility.estimation.moments import pairwise_budget, trace
from symshuffle.utility.frontiers.formulas import subset_slope
from symshuffle.utility.frontiers.frontier import slope_constant, threshold_budget, trace_frontier
from symshuffle.utility.frontiers.orbit import orbit_law

ZERO: Final = Fraction(0)


def _augmented(k: int, p: Fraction, lam: Fraction) -> list[tuple[Vector, Fraction]]:
    """Templates and masses: the centre with 1 - p, and z_i = k(lam-1)/(lam+k-1) a_i with p/k each."""
    shift = k * (lam - 1) / (lam + k - 1)
    atoms = [((Fraction(1),) * k, 1 - p)]
    for i in range(k):
        vertex = tuple(Fraction(int(i == j)) - Fraction(1, k) for j in range(k))
        atoms.append((tuple(1 + shift * entry for entry in vertex), p / k))
    return atoms


AUGMENTED: Final = (
    (5, Fraction(1, 2), Fraction(2)),
    (6, Fraction(1, 3), Fraction(5)),
    (10, Fraction(3, 4), Fraction(3)),
    (4, Fraction(1), Fraction(3)),
)


def _check_augmented(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For four choices of k, p, lam: atoms of the mechanism's law against the stated ones; exact rationals.

    Also its ratio cap, and that it is extreme only at p = 1.
    """
    for k, p, lam in AUGMENTED:
        channel = augmented_randomized_response().at(k=k, p=p, lam=lam).channel()
        atoms = statement(k, p, lam)
        law = AnchoredLaw.from_channel(channel)
        where = f"k={k}, p={p}, lam={lam}"
        expected = sorted((u, weight) for u, weight in atoms if weight)
        yield decide(list(law.template.atoms()) == expected, at=where, claimed="the printed atoms")
        yield compare(law.ratio_cap(), lam, at=f"{where}: ratio cap")
        yield compare(law.is_extreme(), p == 1, at=f"{where}: extreme only without the null output")


def _augmented_moments(k: Any, p: Any, lam: Any) -> tuple[Any, Any, Any]:
    """Trace, budget, and threshold budget."""
    signal = p * k * (k - 1) * (lam - 1) ** 2 / (lam + k - 1) ** 2
    budget = p * (lam - 1) ** 2 * (lam + 1) / (lam * (lam + k - 1))
    return signal, budget, (1 - 1 / sp.sqrt(k - 1)) ** 2


def _check_augmented_moments(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every k, p, lam: trace and budget of the symbolic mechanism, and the threshold, as stated; symbolic.

    Budget and slope at the optimal ratio; four channels in exact rationals.
    """
    mechanism = augmented_randomized_response()
    signal, budget, threshold = statement(K, P, LAM)
    yield identity(trace(mechanism), signal, at="every k, p, lam: trace")
    yield identity(pairwise_budget(mechanism), budget, at="every k, p, lam: budget")
    root = sp.Symbol("t", positive=True)
    at_best = {K: root**2 + 1, LAM: root}
    yield identity(budget.subs(at_best), P * threshold.subs(K, root**2 + 1), at="every k: budget at the optimal ratio")
    yield identity(
        threshold_budget().subs(K, root**2 + 1), threshold.subs(K, root**2 + 1), at="every k: the library's threshold"
    )
    yield identity(
        (signal / budget).subs(at_best), slope_constant().subs(K, root**2 + 1), at="every k: slope at the optimal ratio"
    )
    for k, p, lam in AUGMENTED:
        law = AnchoredLaw.from_channel(mechanism.at(k=k, p=p, lam=lam).channel())
        yield compare(
            (law.trace(), law.pairwise_budget()), statement(Fraction(k), p, lam)[:2], at=f"k={k}, p={p}, lam={lam}"
        )


def _trace_cap(root: Any) -> Any:
    """The constant in front of the budget, at k = root^2 + 1."""
    return _over((root**2 + 1) * root**2, (1 + root) ** 2)


def _over(top: Any, bottom: Any) -> Any:
    """A quotient: of fractions, or of expressions."""
    return top / bottom if isinstance(top, sp.Expr) else Fraction(top) / Fraction(bottom)


def _check_trace_cap(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k and p: augmented response attains the stated cap; its singletons have equal weights; symbolic.

    The inequality is Lemma 7.2 in the mean; here 30 random channels, verified frontiers at k = 5 and 10 and, at k = 5,
    linear programs in which the weights cannot be others; exact rationals.
    """
    root, low, high, first, second = sp.symbols("t l h w1 w2", positive=True)
    at_best = {K: root**2 + 1, LAM: root}
    cap = statement(root)
    # Pointwise by anchored.lem-7.2, hence in the mean; here that augmented response attains it.
    yield identity(
        trace(augmented_randomized_response()).subs(at_best), cap * _spent().subs(at_best), at="every k, p: attained"
    )
    yield identity(
        slope_constant().subs(sp.sqrt(K - 1), root).subs(K, root**2 + 1), cap, at="every k: the library's constant"
    )
    # Mean one: coordinates j and j' of the mixture of singletons differ by (h - l)(w_j - w_j').
    mixed = (high * first + low * second) - (low * first + high * second)
    yield identity(mixed, (high - low) * (first - second), at="every k: equal weights on the singletons")
    for trial in range(30):
        law = AnchoredLaw.from_channel(cases.channel(rng, 5, 2 + trial % 6))
        yield compare(
            law.trace(), statement(2) * Fraction(law.pairwise_budget()), "<=", at=f"random channel {trial}, k=5"
        )
    for k, root in ((5, 2), (10, 3)):
        threshold = (1 - Fraction(1, root)) ** 2
        for share in (Fraction(1, 4), Fraction(1)):
            budget = share * threshold
            found = trace_frontier(k, budget)
            yield decide(passes(found.verify), at=f"k={k}, C={budget}", claimed="law and line check over Q")
            yield decide(
                found.trace.exact == statement(root) * budget,
                at=f"k={k}, C={budget}",
                claimed=str(statement(root) * budget),
                computed=str(found.trace.exact),
            )
            mechanism = augmented_randomized_response().at(k=k, p=share, lam=root).channel()
            if k == 5:
                yield compare(
                    found.law(), AnchoredLaw.from_channel(mechanism), at=f"k={k}, C={budget}: the optimal law"
                )
        above = trace_frontier(k, 2 * threshold).trace.upper
        yield compare(above, statement(root) * 2 * threshold, "<", at=f"k={k}: not attained above the threshold")
    yield from _unique_optimum(statement)


def _spent() -> sp.Expr:
    """Budget of augmented randomized response."""
    return pairwise_budget(augmented_randomized_response())


def _unique_optimum(statement: Statement) -> Iterator[Comparison]:
    """At k = 5, C = 1/8: no other weights on the centre and the permuted singletons are optimal."""
    u = subset_template(5, 1, Fraction(2))
    points = [(Fraction(1),) * 5, *orbit_law(u).templates]
    for j in range(len(points)):
        for sign in (1, -1):
            costs = [Fraction(sign * (i == j)) for i in range(len(points))]
            rows: list[tuple[list[Fraction], str, Fraction]] = [
                ([p[c] for p in points], "==", Fraction(1)) for c in range(5)
            ]
            rows.append(([template_signal(p) for p in points], "==", statement(2) / 8))
            solution = solve(LinearProgram.from_rows(costs, rows))
            expected = Fraction(1, 2) if j == 0 else Fraction(1, 10)
            at = f"k=5, C=1/8, weight {j}, {'least' if sign > 0 else 'most'}"
            yield compare(solution.value.upper, sign * expected, at=at, solution=solution)


def _finite_optimum(root: Any, budget: Any) -> tuple[Any, Any]:
    """Users times the smallest worst-case canonical risk, i.i.d. and fixed composition, k = root^2 + 1."""
    k = root**2 + 1
    iid = _over((k - 1) * (1 + root) ** 2, k * budget)
    return iid, iid - _over(k - 1, k)


def _only_optimum(statement: Statement) -> Iterator[Comparison]:
    """What a template falls short of the trace that an optimal risk needs, per unit of budget.

    Below the threshold an optimal law has none of it, so that it lives on the centre and on singletons of ratio t.
    """
    root, spent = sp.symbols("t C", positive=True)
    slope = subset_slope().subs({K: root**2 + 1, S: 1})
    square = root**2 * (root**2 + 1) / ((LAM + 1) * (LAM + root**2) * (root + 1) ** 2)
    for population, constant in zip(("iid", "fixed"), statement(root, spent), strict=True):
        offset = 0 if population == "iid" else root**2 / (root**2 + 1)
        needed = root**4 / (constant + offset)
        yield identity(
            needed / spent - slope,
            (LAM - root) ** 2 * square,
            at=f"every k, C, {population}: only optimal law, singletons of ratio lam fall short unless lam = t",
        )
    iid, _ = statement(2, Fraction(1, 8))
    orbits: list[Vector] = [(Fraction(1),) * 5]
    orbits += [subset_template(5, s, lam) for s in (1, 2, 3, 4) for lam in map(Fraction, ("3/2", "2", "3"))]
    rows: list[tuple[list[Fraction], str, Fraction]] = [
        ([Fraction(1)] * len(orbits), "==", Fraction(1)),
        ([Fraction(template_budget(u)) for u in orbits], "<=", Fraction(1, 8)),
        ([template_signal(u) for u in orbits], ">=", 16 / iid),
    ]
    for j, u in enumerate(orbits):
        solution = solve(LinearProgram.from_rows([Fraction(-(i == j)) for i in range(len(orbits))], rows))
        share = Fraction(1, 2) if u in (orbits[0], subset_template(5, 1, Fraction(2))) else ZERO
        at = f"k=5, C=1/8: only optimal law, largest weight of orbit {j}"
        yield compare(-solution.value.upper, share, at=at, solution=solution)


def _check_finite(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k and C: the stated risks from the trace cap, and what other singletons fall short of it; symbolic.

    Then k = 5, C = 1/8: enumeration for n <= 3, the library, diluted random channels, and the largest weights of 13
    orbits by linear programs; exact rationals.
    """
    root, spent = sp.symbols("t C", positive=True)
    size = root**2 + 1
    for population, constant in zip(("iid", "fixed"), statement(root, spent), strict=True):
        cap = _trace_cap(root) * spent
        risk = (size - 1) ** 2 / cap - (0 if population == "iid" else (size - 1) / size)
        yield identity(risk, constant, at=f"every k, C: {population}, from the trace cap")
    yield from serving("only optimal law", _only_optimum(statement))
    budget = Fraction(1, 8)
    iid, fixed = statement(2, budget)
    channel = augmented_randomized_response().at(k=5, p=Fraction(1, 2), lam=2).channel()
    uniform = (Fraction(1, 5),) * 5
    skew = tuple(map(Fraction, ("1/2", "1/4", "1/8", "1/16", "1/16")))
    bias = sum((entry**2 for entry in skew), start=ZERO) - Fraction(1, 5)
    for n in (1, 2, 3):
        found, _ = enumerated_risk(channel, uniform, n=n, population="iid")
        yield compare(n * found, iid, at=f"k=5, C=1/8, n={n}: i.i.d. at uniform, by enumeration")
        found, mean = enumerated_risk(channel, skew, n=n, population="iid")
        yield compare((n * found, mean), (iid - bias, skew), at=f"n={n}: i.i.d. at a skew composition")
    for held in ((3, 0, 0, 0, 0), (1, 1, 1, 0, 0), (2, 1, 0, 0, 0)):
        w = tuple(Fraction(v, 3) for v in held)
        found, _ = enumerated_risk(channel, w, n=3, population="fixed")
        yield compare(3 * found, fixed, at=f"n=3, fixed composition {held}, by enumeration")
    constants: dict[Population, Fraction] = {"iid": iid, "fixed": fixed}
    optimum = trace_frontier(5, budget)
    for population, claimed in constants.items():
        yield decide(
            optimum.risk_constant(population).exact == claimed,
            at=f"k=5, C=1/8, {population}: the library",
            claimed=str(claimed),
        )
    for trial in range(12):
        law = AnchoredLaw.from_channel(cases.channel(rng, 5, 6))
        spent = Fraction(law.pairwise_budget())
        if spent <= Fraction(1, 4):
            continue
        diluted = AnchoredLaw.from_atoms(
            [((Fraction(1),) * 5, 1 - budget / spent), *((u, w * budget / spent) for u, w in law.template.atoms())]
        )
        for population, claimed in constants.items():
            worst, _ = worst_canonical_risk(diluted, n=1, population=population)
            yield decide(
                worst > claimed,
                at=f"random channel {trial} diluted to C=1/8, {population}",
                claimed=f"> {claimed}",
            )


CLAIMS: Final = (
    Claim(
        id="anchored.def-7.3",
        kind="definition",
        title="augmented randomized response",
        text=(
            Clause("law", r"$\mu_{p,\lambda}=(1-p)\delta_0+\frac pk\sum_i\delta_{z_i}$."),
            Clause("atoms", r"$z_i=\frac{k(\lambda-1)}{\lambda+k-1}a_i$."),
        ),
        source="anchored, Definition 7.3",
        assumptions=(r"$0\le p\le1$, $\lambda>1$",),
        scope="4 parameter choices, p = 1 among them, against the mechanism",
        grade="exact-cases",
        printed=_augmented,
        check=_check_augmented,
        controls=(Control("points without the factor k", lambda k, p, lam: _augmented(k, p, 1 + (lam - 1) / k)),),
        expected="definition",
        obligations=for_all("k", "p", "lam", clause=("law", "atoms")),
    ),
    Claim(
        id="anchored.lem-7.4",
        kind="statement",
        title="trace and budget of augmented randomized response",
        text=(
            Clause(
                "every ratio",
                r"$\operatorname{tr}\Sigma=\frac{pk(k-1)(\lambda-1)^2}{(\lambda+k-1)^2}$, budget "
                r"$\frac{p(\lambda-1)^2(\lambda+1)}{\lambda(\lambda+k-1)}$.",
            ),
            Clause(
                "best ratio", r"At $\lambda=\sqrt{k-1}$ the slope is $\kappa_k$ and the budget $p(1-1/\sqrt{k-1})^2$."
            ),
        ),
        source="anchored, Lemma 7.4",
        assumptions=(r"$0\le p\le1$, $\lambda>1$",),
        scope="every k, p, lam; 4 channels",
        grade="proved",
        printed=_augmented_moments,
        check=_check_augmented_moments,
        controls=(
            Control("threshold 1 - 1/(k-1)", lambda k, p, lam: (*_augmented_moments(k, p, lam)[:2], 1 - 1 / (k - 1))),
            Control(
                "budget with lambda - 1 for lambda + 1",
                lambda k, p, lam: (
                    _augmented_moments(k, p, lam)[0],
                    p * (lam - 1) ** 3 / (lam * (lam + k - 1)),
                    _augmented_moments(k, p, lam)[2],
                ),
            ),
        ),
        expected="holds",
        obligations=for_all("k", "p", "lam", clause=("every ratio", "best ratio")),
    ),
    Claim(
        id="anchored.thm-7.5",
        kind="statement",
        title="exact trace cap",
        text=(
            Clause("inequality", r"$\operatorname{tr}\Sigma\le\kappa_k\,\chi$ for every law of budget $\chi$."),
            Clause(
                "attained",
                r"Up to $B_*$ it is attained by augmented response at $\lambda=\sqrt{k-1}$, $p=C/B_*$, and by no "
                "other law.",
            ),
        ),
        source="anchored, Theorem 7.5",
        assumptions=(r"$k\ge3$",),
        scope=(
            "attainment and equal weights for every k, the inequality by anchored.lem-7.2; k = 5 and 10 with "
            "certificates; uniqueness by linear programs at k = 5 only, for every k it is in anchored.thm-7.6"
        ),
        grade="proved",
        printed=_trace_cap,
        check=_check_trace_cap,
        controls=(
            Control("a constant smaller by 1e-9", lambda root: _trace_cap(root) * (1 - _over(1, 10**9))),
            Control("the crude constant k(k-1)", lambda root: (root**2 + 1) * root**2),
        ),
        expected="holds",
        obligations=for_all("root", clause=("inequality", "attained")),
    ),
    Claim(
        id="anchored.thm-7.6",
        kind="statement",
        title="least worst-case risk of the canonical estimator, at every number of users",
        text=(
            Clause(
                "risks",
                r"For $0<C\le B_*$ the smallest worst-case canonical risk is $\frac{(k-1)(1+\sqrt{k-1})^2}{nkC}$ "
                r"(i.i.d.), less $\frac{k-1}{nk}$ (fixed composition).",
            ),
            Clause(
                "attained",
                r"Both are attained by augmented randomized response with $\lambda=\sqrt{k-1}$, $p=C/B_*$, which "
                "is the only optimal law.",
            ),
        ),
        source="anchored, Theorem 7.6",
        assumptions=(
            r"$k\ge3$",
            "singletons have the smallest shortfall among all templates (claim anchored.lem-7.2)",
            "symmetrisation (claim anchored.thm-6.2)",
        ),
        scope=(
            "every k and C from the trace cap, the shortfall of every singleton included; k = 5, C = 1/8: enumeration "
            "for n <= 3, diluted random channels, weights of 13 orbits"
        ),
        grade="proved",
        printed=_finite_optimum,
        check=_check_finite,
        controls=(
            Control("the two constants exchanged", lambda root, budget: _finite_optimum(root, budget)[::-1]),
            Control(
                "ratio 3 instead of the root of k - 1",
                lambda root, budget: tuple(
                    isotropic_risk(5, Fraction(str(subset_slope().subs({K: 5, S: 1, LAM: 3}))) * budget, population=p)
                    for p in ("iid", "fixed")
                ),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("root", "budget", clause=("risks", "attained")),
            *for_all("only optimal law", clause="attained"),
        ),
    ),
)
