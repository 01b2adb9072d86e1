"""Appendices A to C: van Trees, binary randomized response, and extreme points of moment sets."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from math import comb
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._estimation import cosine_prior, prior_information
from proofs_checks._templates import extreme_templates, subset_template
from proofs_checks.anchored import _cases as cases
from symshuffle.base.errors import InputError
from symshuffle.base.lp import LinearProgram
from symshuffle.channels.geometry.linear import Vector, rank, row_dependence
from symshuffle.channels.geometry.linprog import solve
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import augmented_randomized_response, krr, rr
from symshuffle.mechanisms.symbolic import LAM, evaluate
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.lower_bounds import van_trees_bound
from symshuffle.utility.frontiers.contamination import ratio_law
from symshuffle.utility.frontiers.convex_order import endpoint_law
from symshuffle.utility.frontiers.orbit import decompose, mix_laws, orbit_law, symmetrize

ZERO: Final = Fraction(0)


def _van_trees(information: Any, prior: Any, dimension: Any) -> Any:
    """The lower bound on the Bayes risk."""
    return sp.sympify(dimension) ** 2 / (information + prior)


def _van_trees_for_all(statement: Statement) -> Iterator[Comparison]:
    """An arbitrary estimator h, model p and prior w in one coordinate t, others held fixed; then all coordinates."""
    t, h = sp.symbols("t h", real=True)
    p, w = sp.Function("p")(t), sp.Function("w")(t)
    score = sp.diff(p * w, t) / (p * w)
    # The integral of the derivative of (h - t) p w vanishes with w at the ends: so E (h - t) score = 1.
    parts = sp.simplify(sp.diff((h - t) * p * w, t) - ((h - t) * score - 1) * p * w)
    yield decide(parts == 0, at="any model, prior and estimator: integration by parts", claimed="0", symbolic=True)
    # Of the square of the score the mixed term has mean 0: over observations p' adds up to the derivative of 1.
    of_model, of_prior = sp.diff(p, t) / p, sp.diff(w, t) / w
    mixed = sp.simplify((score**2 - of_model**2 - of_prior**2) * p * w - 2 * sp.diff(p, t) * sp.diff(w, t))
    at = "any model and prior: the information of both adds up"
    yield decide(mixed == 0, at=at, claimed="I + J", symbolic=True)
    # All m coordinates: the inner product of error and score has mean m. E|error - a score|^2 >= 0 at a = m/(I + J).
    m, information, prior, risk = sp.symbols("m I J R", positive=True)
    a = m / (information + prior)
    square = risk - 2 * a * m + a**2 * (information + prior)
    bound = statement(information, prior, m)
    yield identity(risk - square, bound, at="any dimension: the risk exceeds this by a mean of squares")


def _bayes_risk(lam: Fraction, n: int) -> Fraction:
    """Bayes risk of binary randomized response under the prior 30 t^2 (1-t)^2 on [0, 1], exactly."""
    t = sp.Symbol("t")
    prior = 30 * t**2 * (1 - t) ** 2
    high = (1 + (sp.Rational(str(lam)) - 1) * t) / (1 + sp.Rational(str(lam)))
    risk = sp.integrate(sp.expand(t**2 * prior), (t, 0, 1))
    for count in range(n + 1):
        weight = sp.expand(comb(n, count) * high**count * (1 - high) ** (n - count) * prior)
        mass, first = (sp.integrate(sp.expand(weight * t**power), (t, 0, 1)) for power in (0, 1))
        risk -= first**2 / mass
    return Fraction(str(risk))


def _mean_information(lam: Fraction, n: int) -> Any:
    """Expected Fisher information of n messages under that prior, in closed form."""
    t = sp.Symbol("t")
    ratio = sp.Rational(str(lam))
    p = (1 + (ratio - 1) * t) / (1 + ratio)
    integrand = sp.apart(sp.cancel(30 * t**2 * (1 - t) ** 2 * sp.diff(p, t) ** 2 / (p * (1 - p))), t)
    primitive = sum(sp.integrate(term, t) for term in sp.Add.make_args(integrand))
    primitive = primitive.replace(sp.log, lambda argument: sp.log(argument**2) / 2)  # the logarithm of the modulus
    return n * (primitive.subs(t, 1) - primitive.subs(t, 0))


def _check_van_trees(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For any model, prior and dimension: the risk less the stated bound is a mean of squares; symbolic.

    Then the information of two priors, equality in the Gaussian case and the library's bound (symbolic), and exact
    Bayes risks of binary response at n = 1, 4, 6 above the stated bound (balls). A prior that does not vanish at the
    ends is refused.
    """
    yield from _van_trees_for_all(statement)
    t, r = sp.symbols("t r", positive=True)
    yield identity(prior_information(cosine_prior(t, r), t, -r, r), sp.pi**2 / r**2, at="every r: cosine prior")
    beta = prior_information(30 * t**2 * (1 - t) ** 2, t, 0, 1)
    yield identity(beta, 40, at="Beta(3, 3)")
    noise, width, n = sp.symbols("sigma tau n", positive=True)
    attained = 1 / (n / noise**2 + 1 / width**2)
    yield identity(statement(n / noise**2, 1 / width**2, 1), attained, at="Gaussian location and prior: equality")
    several = sp.Symbol("i", positive=True)
    yield identity(
        statement(3 * several, 3 * several, 3),
        3 * statement(several, several, 1),
        at="three equal coordinates: three times one",
    )
    yield identity(van_trees_bound(n, width, dimension=4), statement(n, width, 4), at="the library's bound")
    for lam, users in ((Fraction(3), 1), (Fraction(3), 4), (Fraction(9), 6)):
        bound = evaluate(statement(_mean_information(lam, users), beta, 1))
        yield compare(_bayes_risk(lam, users), bound, ">=", at=f"binary response, lam={lam}, n={users}, Beta(3, 3)")
    yield decide(_flat_prior_refused(), at="uniform prior", claimed="refused: it does not vanish on the boundary")


def _flat_prior_refused() -> bool:
    """Whether the library refuses a prior that does not vanish at the ends."""
    t = sp.Symbol("t", positive=True)
    try:
        prior_information(sp.Integer(1), t, 0, 1)
    except InputError:
        return True
    return False


def _binary(lam: Any) -> tuple[Any, Any, list[tuple[Any, Any]]]:
    """Trace, budget, and the law of the ratio of row 1 to row 2 under row 2."""
    return 2 * ((lam - 1) / (lam + 1)) ** 2, (lam - 1) ** 2 / lam, [(lam, 1 / (1 + lam)), (1 / lam, lam / (1 + lam))]


def _check_binary(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every lam: trace, budget, ratios and masses of the symbolic mechanism against the stated ones; symbolic.

    At two rational lam the atoms of the library's ratio law are those of its endpoint law.
    """
    from symshuffle.utility.estimation.moments import pairwise_budget, trace

    signal, budget, atoms = statement(LAM)
    yield identity(trace(rr()), signal, at="every lam: trace")
    yield identity(pairwise_budget(rr()), budget, at="every lam: budget")
    rows = rr().symbolic_rows()
    for y, (ratio, weight) in enumerate(atoms):
        yield identity(rows[0][y] / rows[1][y], ratio, at=f"every lam, output {y}: ratio")
        yield identity(rows[1][y], weight, at=f"every lam, output {y}: mass")
    for lam in (Fraction(3), Fraction(7, 2)):
        ours = ratio_law(rr().at(lam=lam).channel(), 0, 1)
        yield decide(
            sorted(ours.atoms()) == sorted(endpoint_law(lam).atoms()), at=f"lam={lam}", claimed="the endpoint law"
        )


def _support_bound(moments: int) -> int:
    """The most points that an extreme member of a moment set has."""
    return moments + 1


def _vertices(points: Sequence[Vector], target: Vector) -> list[dict[int, Fraction]]:
    """The basic solutions of the moment set on finitely many points, by enumeration: weights of the points they use."""
    found = []
    for size in range(1, len(target) + 3):
        for support in itertools.combinations(range(len(points)), size):
            columns = [(Fraction(1), *points[i]) for i in support]
            if rank(columns) != size:
                continue
            augmented = [*columns, (Fraction(-1), *(-entry for entry in target))]
            relation = row_dependence(augmented)
            if relation is not None and relation[-1] and all(c / relation[-1] > 0 for c in relation[:-1]):
                found.append({i: c / relation[-1] for i, c in zip(support, relation, strict=False)})
    return found


def _splits(points: Any, rank_of_rows: Any) -> Any:
    """How many directions weights on that many points can move in, with the mass and all moments kept."""
    return points - rank_of_rows


def _both_ways() -> bool:
    """Whether positive weights can move both ways along a direction in which mass and moments do not change.

    A set of positive mass that is cut into pieces has their masses as weights and their mean vectors as points, so a
    law with more than m + 1 points, or with infinitely many, has so many pieces.
    """
    weight, size = sp.symbols("w d", positive=True)
    step = weight / size  # the smallest ratio; for another piece the weight is larger by some g
    gap = sp.Symbol("g", nonnegative=True)
    kept = all(sp.expand(weight + gap * size + sign * step * size).is_nonnegative for sign in (1, -1))
    moment, change = sp.Symbol("c", real=True), sp.Integer(0)
    same = all(sp.expand(moment + sign * step * change - moment) == 0 for sign in (1, -1))
    halves = sp.expand((weight + step * size) / 2 + (weight - step * size) / 2 - weight)
    return kept and same and halves == 0


def _support_for_all(statement: Statement) -> Iterator[Comparison]:
    """With the mass there are m + 1 equations; more points leave a direction, and independent ones leave none."""
    m, more = sp.symbols("m e", integer=True, positive=True)
    fewer = sp.Symbol("f", integer=True, nonnegative=True)
    bound = statement(m)
    free = _splits(bound + more, m + 1)  # at least so many directions: the rank is at most the number of equations
    splits = _both_ways() and sp.expand(free).is_positive is True
    yield decide(splits, at="every m: more points than the bound split", claimed="not extreme", symbolic=True)
    free = _splits(bound - fewer, bound - fewer)  # independent columns: two laws on the points with one mean are equal
    yield decide(free == 0, at="every m: independent points do not", claimed="extreme", symbolic=True)
    yield identity(bound, m + 1, at="every m: as many points as equations can be independent")


def _check_support(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For m moments: points beyond the stated bound leave a direction to split in, independent ones none; symbolic.

    Then 6 sets of 8 random points in the plane: all basic solutions by enumeration and optimal supports of exact linear
    programs are no larger than stated, and the bound is attained.
    """
    yield from _support_for_all(statement)
    largest = 0
    for trial in range(6):
        points = [tuple(map(Fraction, cases.integers(rng, 2, -4, 4))) for _ in range(8)]
        weights = cases.distribution(rng, 8)
        target = tuple(sum((w * p[c] for w, p in zip(weights, points, strict=True)), start=ZERO) for c in range(2))
        supports = _vertices(points, target)
        largest = max(largest, *map(len, supports))
        yield compare(
            max(map(len, supports)), statement(2), "<=", at=f"8 points in the plane, case {trial}: largest support"
        )
        for objective in range(3):  # every linear functional is largest at one of these vertices
            costs = [Fraction(v) for v in cases.integers(rng, 8, -9, 9)]
            rows: list[tuple[list[Fraction], str, Fraction]] = [([Fraction(1)] * 8, "==", Fraction(1))]
            rows.extend(([p[c] for p in points], "==", target[c]) for c in range(2))
            solution = solve(LinearProgram.from_rows(costs, rows))
            support = tuple(i for i, v in enumerate(solution.primal()) if v)
            at = f"case {trial}, objective {objective}"
            least = min(sum((w * costs[i] for i, w in vertex.items()), ZERO) for vertex in supports)
            yield compare(solution.value.upper, least, at=f"{at}: least value at a basic solution", solution=solution)
            yield compare(len(support), statement(2), "<=", at=f"{at}: optimal support")
    yield compare(largest, statement(2), at="the bound is attained")


def _extreme(atoms: Any, dimension: Any) -> Any:
    """Whether a law is extreme, from the number of its atoms and the affine dimension of their points, plus one."""
    return sp.Eq(atoms, dimension)


def _of_law(statement: Statement, law: AnchoredLaw) -> bool:
    """The stated verdict on a law, from the number of its atoms and their affine dimension plus one."""
    span = rank([(Fraction(1), *u[1:]) for u in law.templates])
    return bool(statement(sp.Integer(len(law.templates)), sp.Integer(span)))


def _extreme_for_all(statement: Statement) -> Iterator[Comparison]:
    """Theorem C.1 with the k - 1 coordinates as moments: weights that keep mass and mean move in atoms - rank ways."""
    span, more = sp.symbols("r e", integer=True, positive=True)
    for name, atoms in (("independent", span), ("dependent", span + more)):
        moves = _splits(atoms, span)
        extreme = sp.Eq(moves, 0) if _both_ways() else sp.true
        claimed = statement(atoms, span)
        at = f"{name} points, any number of atoms and inputs"
        yield decide(extreme == claimed, at=at, claimed=str(claimed), symbolic=True)
    inputs = sp.Symbol("k", integer=True, positive=True)
    yield identity(_support_bound(inputs - 1), inputs, at="every k: at most k atoms")


def _check_extreme(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any number of atoms: weights cannot move exactly if the law is stated to be extreme; symbolic.

    Then 10 laws are decomposed and added up again in exact rationals, and all extreme laws on 14 templates are
    enumerated.
    """
    yield from _extreme_for_all(statement)
    mechanisms = {
        "4-ary response": krr().at(k=4, lam=3),
        "augmented, p=1/2": augmented_randomized_response().at(k=4, lam=3, p="1/2"),
        "augmented, p=1": augmented_randomized_response().at(k=4, lam=3, p=1),
    }
    laws = {name: AnchoredLaw.from_channel(mechanism.channel()) for name, mechanism in mechanisms.items()}
    laws["2-subsets of 4"] = orbit_law(subset_template(4, 2, Fraction(3)))
    for trial in range(6):
        laws[f"random channel {trial}"] = AnchoredLaw.from_channel(cases.channel(rng, 3, 2 + trial % 4))
    for name, law in laws.items():
        parts = decompose(law)
        single = len(parts) == 1
        yield compare(single, _of_law(statement, law), at=f"{name}: no proper decomposition")
        again = mix_laws([part for _, part in parts], [share for share, _ in parts]) == law
        small = all(part.is_extreme() and len(part.templates) <= law.num_inputs for _, part in parts)
        yield compare((again, small), (True, True), at=f"{name}: {len(parts)} extreme parts add up")
    yield from _all_extreme_laws(statement)


def _all_extreme_laws(statement: Statement) -> Iterator[Comparison]:
    """All extreme laws on the 14 two-level templates of 4 inputs at ratio 3: counted, and split by size."""
    templates = extreme_templates(4, Fraction(3))
    supports = _vertices([u[1:] for u in templates], (Fraction(1),) * 3)
    sizes = [sum(len(s) == size for s in supports) for size in (2, 3, 4)]
    yield compare((len(supports), sizes), (41, [7, 12, 22]), at="k=4, lam=3: extreme laws on extreme templates")
    spread = symmetrize(AnchoredLaw.from_channel(cases.EXAMPLE))
    yield compare(spread.is_extreme(), _of_law(statement, spread), at="the symmetrised example")


CLAIMS: Final = (
    Claim(
        id="anchored.lem-A.1",
        kind="statement",
        title="coordinatewise van Trees bound",
        text=(
            r"$E|\hat\theta-\theta|^2\ge\frac{m^2}{E_\pi\operatorname{tr}I+J(\pi)}$ for a prior that vanishes on the "
            r"faces of its box."
        ),
        source="anchored, Lemma A.1",
        assumptions=("regular model", "prior continuously differentiable, zero on the faces"),
        scope=(
            "any model, prior, estimator, dimension; information of two priors, equality in the Gaussian case; exact "
            "Bayes risks of binary response at n = 1, 4, 6"
        ),
        grade="proved",
        printed=_van_trees,
        check=_check_van_trees,
        controls=(
            Control("m in place of m^2", lambda information, prior, m: m / (information + prior)),
            Control("without the prior information", lambda information, prior, m: m**2 / information),
        ),
        expected="holds",
        obligations=for_all("information", "prior", "dimension"),
    ),
    Claim(
        id="anchored.app-B",
        kind="statement",
        title="binary randomized response has the endpoint law",
        text=(
            Clause("ratio", r"The ratio of its rows under row 2 is $\kappa$."),
            Clause(
                "trace and budget",
                r"Its trace is $2(\frac{\lambda-1}{\lambda+1})^2$ and its budget $(\lambda-1)^2/\lambda$.",
            ),
        ),
        source="anchored, Appendix B",
        assumptions=(r"$\lambda\ge1$",),
        scope="every lam",
        grade="proved",
        printed=_binary,
        check=_check_binary,
        controls=(
            Control(
                "the ratio under row 1",
                lambda lam: (*_binary(lam)[:2], [(lam, lam / (1 + lam)), (1 / lam, 1 / (1 + lam))]),
            ),
        ),
        expected="holds",
        obligations=for_all("lam", clause=("ratio", "trace and budget")),
    ),
    Claim(
        id="anchored.thm-C.1",
        kind="statement",
        title="extreme points of linear moment sets",
        text=(
            Clause("few points", "An extreme probability with $m$ prescribed moments has at most $m+1$ points."),
            Clause("converse", "$(1,g(s_j))$ independent makes one."),
        ),
        source="anchored, Theorem C.1",
        assumptions=("$g$ measurable and integrable",),
        scope="every m, pieces of any law; 6 sets of 8 points, 2 moments: all basic solutions",
        grade="proved",
        printed=_support_bound,
        check=_check_support,
        controls=(Control("m points", lambda moments: moments), Control("m + 2 points", lambda moments: moments + 2)),
        expected="holds",
        obligations=for_all("moments", clause=("few points", "converse")),
    ),
    Claim(
        id="anchored.cor-C.2",
        kind="statement",
        title="extreme anchored laws",
        text=(
            Clause("extreme", "A law is extreme exactly if its support is finite and affinely independent."),
            Clause("atoms", "So it has at most $k$ atoms."),
        ),
        source="anchored, Corollary C.2",
        assumptions=(),
        scope="every k, any number of atoms; 10 laws decomposed; all 41 extreme laws on 14 templates of 4 inputs",
        grade="proved",
        printed=_extreme,
        check=_check_extreme,
        controls=(
            Control("one dependent atom does no harm", lambda atoms, span: sp.Le(atoms, span + 1)),
            Control("every law is extreme", lambda atoms, span: sp.true),
        ),
        expected="holds",
        obligations=for_all("atoms", "dimension", clause=("extreme", "atoms")),
    ),
)
