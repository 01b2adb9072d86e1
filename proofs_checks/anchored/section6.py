"""Section 6: averaging over relabellings of the inputs."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._symmetry import symmetrize_channel
from proofs_checks._templates import is_exchangeable
from proofs_checks.anchored import _cases as cases
from symshuffle.channels.geometry.groups import SymmetryGroup, cyclic_group
from symshuffle.channels.geometry.linear import Matrix, Vector
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import Claim, Control, Statement, for_all
from symshuffle.ledger.claims.parts import Clause
from symshuffle.mechanisms.finite import krr
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import enumerated_risk, worst_canonical_risk
from symshuffle.utility.frontiers.orbit import symmetrize

ZERO: Final = Fraction(0)


def _average(law: AnchoredLaw) -> AnchoredLaw:
    """The average over all permutations, one by one."""
    group = list(itertools.permutations(range(law.num_inputs)))
    return AnchoredLaw.from_atoms(
        (tuple(u[g[i]] for i in range(len(u))), weight / len(group))
        for g in group
        for u, weight in law.template.atoms()
    )


def _check_average(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 8 random channels: the library's symmetrised law and mechanism against the stated average; exact.

    The stated one is over all permutations one by one; it is exchangeable, and averaging again changes nothing.
    """
    for trial in range(8):
        channel = cases.channel(rng, 3 + trial % 2, 3, zeros=0.2)
        law = AnchoredLaw.from_channel(channel)
        even = symmetrize(law)
        yield compare(even, statement(law), at=f"law {trial}: average over all permutations")
        yield compare(
            AnchoredLaw.from_channel(symmetrize_channel(channel)), statement(law), at=f"law {trial}: as a mechanism"
        )
        yield compare(
            (is_exchangeable(statement(law)), symmetrize(even)), (True, even), at=f"law {trial}: a projection"
        )


def _rotations(law: AnchoredLaw) -> AnchoredLaw:
    return symmetrize(law, cyclic_group(law.num_inputs))


def _isotropic(k: Any, tau: Any) -> Any:
    """The worst fixed-composition risk of one user, from the trace."""
    return (k - 1) ** 2 / tau - (k - 1) / k


def _symmetrised(k: Any, tau: Any, total: Any) -> tuple[Any, Any, Any, Any]:
    """Budget, worst fixed-composition risk of one user, and covariance on and off the diagonal after symmetrisation.

    From the number of inputs, the trace, and the sum of all pairwise divergences.
    """
    step = tau / (k - 1)
    return total / (k * (k - 1)), _isotropic(k, tau), step * (1 - 1 / k), -step / k


def _of_law(statement: Statement, law: AnchoredLaw) -> tuple[Any, Any, Matrix]:
    """The same for a law: budget, risk (infinite where nothing is learnt) and covariance."""
    k = law.num_inputs
    pairs = [law.pairwise_divergence(i, j) for i, j in itertools.permutations(range(k), 2)]
    tau = law.trace()
    budget, risk, on, off = statement(Fraction(k), tau or Fraction(1), sum(pairs))
    if not tau:
        on, off, risk = ZERO, ZERO, math.inf
    return budget, risk, tuple(tuple(on if i == j else off for j in range(k)) for i in range(k))


def _check_symmetrised(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k, trace and sum of divergences: budget, covariance and risk after averaging, as stated; symbolic.

    By counting permutations and solving for what commutes with them; risks do not grow as tr S tr S^-1 >= m^2, by pairs
    of eigenvalues. Then 16 channels, an enumeration at n = 2 and a smaller group, in exact rationals.
    """
    k, tau, total, a, b, left, right = sp.symbols("k tau D a b l r", positive=True)
    budget, risk, on, off = statement(k, tau, total)
    # (k - 2)! of k! permutations move a given ordered pair to another given one.
    moved = sp.gammasimp((sp.factorial(k - 2) / sp.factorial(k)).rewrite(sp.gamma))
    yield identity(moved * total, budget, at="every k: budget, any divergences")
    fixed = sp.solve([a + k * b, k * a + k * b - tau], [a, b])  # a I + b 11^T with rows of sum 0 and trace tau
    yield identity(fixed[a] + fixed[b], on, at="every k: diagonal of a covariance that commutes with permutations")
    yield identity(fixed[b], off, at="every k: the other entries")
    yield identity(left / right + right / left - 2, (left - right) ** 2 / (left * right), at="eigenvalues two by two")
    m = sp.Symbol("m", integer=True, positive=True)
    yield identity(m + 2 * sp.binomial(m, 2), m**2, at="every m: pairs of eigenvalues, so tr S tr S^-1 >= m^2")
    # The risk: a vote is A(u - 1) with A the inverse covariance, rows average u - 1 to C e_i, and to C second moments.
    first, second = sp.symbols("u1 u2", positive=True)
    yield identity(
        first * (second - 1), (first - 1) * (second - 1) + (second - 1), at="every channel: the mean vote under a row"
    )
    vote = (1 - 1 / k) ** 2 + (k - 1) / k**2
    yield identity(vote, 1 - 1 / k, at="every k: squared length of the mean vote")
    size = tau / (tau / (k - 1)) ** 2  # every row has trace tau by exchangeability: their average is the covariance
    yield identity(size - vote, risk, at="every k: risk of one user, from a covariance tau/(k-1) I")
    for trial in range(16):
        channel = cases.EXAMPLE if trial == 0 else cases.channel(rng, 2 + trial % 3, 3, zeros=0.1)
        law = AnchoredLaw.from_channel(channel)
        even = symmetrize(law)
        budget, risk, covariance = _of_law(statement, law)
        where = f"channel {trial}, {law.num_inputs} inputs"
        yield decide(even.pairwise_budget() == budget, at=where, claimed=f"budget {budget}")
        yield decide(budget <= law.pairwise_budget(), at=where, claimed="the budget does not grow")
        yield compare(even.covariance(), covariance, at=f"{where}: covariance")
        if law.trace():
            found, _ = worst_canonical_risk(even, n=1, population="fixed")
            yield compare(found, risk, at=f"{where}: worst risk")
            before, _ = worst_canonical_risk(law, n=1, population="fixed")
            yield decide(found <= before, at=where, claimed="the worst risk does not grow")
    channel = symmetrize_channel(cases.channel(rng, 3, 2))
    law = AnchoredLaw.from_channel(channel)
    for dataset in ((2, 0, 0), (1, 1, 0)):
        w = tuple(Fraction(v, 2) for v in dataset)
        value, _ = enumerated_risk(channel, w, n=2, population="fixed")
        yield compare(value, _of_law(statement, law)[1] / 2, at=f"n=2, composition {dataset}, by enumeration")
    # Fewer relabellings suffice if they move every ordered pair to every other one; rotations of 4 inputs do not.
    affine = SymmetryGroup(5, ((1, 2, 3, 4, 0), (0, 2, 4, 1, 3)))  # x -> ax + b modulo 5
    law = AnchoredLaw.from_channel(cases.channel(rng, 5, 3))
    yield compare((affine.order(), affine.is_two_transitive()), (20, True), at="20 affine maps of 5 inputs")
    averaged = symmetrize(law, affine).covariance()
    yield compare(averaged, _of_law(statement, law)[2], at="averaged over 20 of 120 permutations")


def _iid_worst(k: Any, tau: Any) -> Any:
    """Largest i.i.d. risk of one user after symmetrisation, from the trace, which is the same before."""
    return (k - 1) ** 2 / tau


def _check_iid_worst(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k and trace: the risk after symmetrising is largest at uniform, and the stated one; symbolic.

    It is no larger than before, by pairs of eigenvalues. Then 15 channels and an enumeration at n = 1, 2, 4, in exact
    rationals.
    """
    k, tau, square, left, right = sp.symbols("k tau Q l r", positive=True)
    claimed = statement(k, tau)
    # Proposition 5.7 at a covariance tau/(k - 1) I, whose rows all have its trace: largest where Q is, at Q = 1/k.
    size = tau / (tau / (k - 1)) ** 2
    risk = size - (square - 1 / k)
    yield identity(risk.subs(square, 1 / k), claimed, at="every k and trace: risk at uniform")
    yield identity(claimed - risk, square - 1 / k, at="every k, trace and composition: below it elsewhere, Q >= 1/k")
    # Before: at uniform the rows average to the covariance, so the risk there is tr S^-1, and tr S tr S^-1 >= (k-1)^2.
    yield identity(left / right + right / left - 2, (left - right) ** 2 / (left * right), at="eigenvalues two by two")
    pairs = sp.expand_func((k - 1) + 2 * (k - 1) * (k - 2) / 2)
    yield identity(pairs / tau, claimed, at="every k: k - 1 eigenvalues with themselves and all pairs, over the trace")
    for trial in range(16):
        inputs = 2 + trial % 3
        channel = cases.EXAMPLE if trial == 0 else cases.channel(rng, inputs, 2 + trial % 2)
        law = AnchoredLaw.from_channel(channel)
        if not law.trace():
            continue
        found, where_worst = worst_canonical_risk(symmetrize(law), n=1, population="iid")
        before, _ = worst_canonical_risk(law, n=1, population="iid")
        value = statement(Fraction(law.num_inputs), law.trace())
        yield decide(found == value, at=f"channel {trial}", claimed=f"{value}", computed=str(found))
        yield decide(found <= before, at=f"channel {trial}", claimed="the worst risk does not grow")
        yield compare(
            where_worst, (Fraction(1, law.num_inputs),) * law.num_inputs, at=f"channel {trial}: worst at uniform"
        )
    mechanism = krr().at(k=3, lam=2).channel()
    trace = AnchoredLaw.from_channel(mechanism).trace()
    uniform: Vector = (Fraction(1, 3),) * 3
    for n in (1, 2, 4):
        value, _ = enumerated_risk(mechanism, uniform, n=n, population="iid")
        yield compare(n * value, statement(Fraction(3), trace), at=f"3-ary response, n={n}, by enumeration")


CLAIMS: Final = (
    Claim(
        id="anchored.def-6.1",
        kind="definition",
        title="symmetrisation",
        text=(
            Clause("average", r"$\mu^{\rm sym}=\frac1{k!}\sum_\sigma(R_\sigma)_\#\mu$, $R_\sigma=V^T\Pi_\sigma V$."),
            Clause("relabelling", "This is a public random relabelling of the inputs."),
        ),
        source="anchored, Definition 6.1",
        assumptions=(),
        scope="8 random channels, 3 and 4 inputs: orbits, permutations one by one, and the mechanism",
        grade="exact-cases",
        printed=_average,
        check=_check_average,
        controls=(Control("rotations only", _rotations),),
        expected="definition",
        obligations=for_all("law", clause=("average", "relabelling")),
    ),
    Claim(
        id="anchored.thm-6.2",
        kind="statement",
        title="symmetrisation never hurts",
        text=(
            Clause("budget", "The budget becomes the average of the pairwise divergences."),
            Clause("covariance", r"$\Sigma$ becomes $\frac{\operatorname{tr}\Sigma}{k-1}I$."),
            Clause(
                "risk",
                "The worst fixed-composition risk becomes "
                r"$\frac1n[\frac{(k-1)^2}{\operatorname{tr}\Sigma}-\frac{k-1}k]$.",
            ),
            Clause("growth", "Neither grows."),
        ),
        source="anchored, Theorem 6.2",
        assumptions=(),
        scope=(
            "averaging, covariance, risk and the mean inequality for every k; 16 channels, enumeration at n = 2, a "
            "2-transitive group"
        ),
        grade="proved",
        printed=_symmetrised,
        check=_check_symmetrised,
        controls=(
            Control("averaged over k^2 pairs", lambda k, tau, d: (d / k**2, *_symmetrised(k, tau, d)[1:])),
            Control(
                "(k-1)/k replaced by 1",
                lambda k, tau, d: (
                    _symmetrised(k, tau, d)[0],
                    _symmetrised(k, tau, d)[1] - 1 / k,
                    *_symmetrised(k, tau, d)[2:],
                ),
            ),
            Control(
                "covariance tau/k on contrasts",
                lambda k, tau, d: (*_symmetrised(k, tau, d)[:2], tau / k * (1 - 1 / k), -tau / k / k),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("k", clause=("budget", "covariance", "risk", "growth")),
            *for_all("tau", clause=("covariance", "risk", "growth")),
            *for_all("total", clause=("budget", "growth")),
        ),
    ),
    Claim(
        id="anchored.cor-6.3",
        kind="statement",
        title="symmetrisation and the i.i.d. risk",
        text=(
            Clause("value", r"$\sup_wR_{\rm iid}(\mu^{\rm sym})=\frac{(k-1)^2}{n\operatorname{tr}\Sigma}$."),
            Clause("lower", r"$\sup_wR_{\rm iid}(\mu^{\rm sym})\le\sup_wR_{\rm iid}(\mu)$."),
        ),
        source="anchored, Corollary 6.3",
        assumptions=(r"$\operatorname{tr}\Sigma>0$ ($+\infty$ otherwise)",),
        scope="every k, trace and composition; 15 channels, enumeration at n = 1, 2, 4",
        grade="proved",
        printed=_iid_worst,
        check=_check_iid_worst,
        controls=(Control("(k-1)k in place of (k-1)^2", lambda k, tau: (k - 1) * k / tau),),
        expected="holds",
        obligations=for_all("k", "tau", clause=("value", "lower")),
    ),
)
