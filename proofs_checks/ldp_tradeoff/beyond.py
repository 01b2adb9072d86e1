"""Formulas that the paper does not have, derived by the parametric optimum; and figures computed from the library."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff import _figures as figures
from proofs_checks.ldp_tradeoff._named import candidate_risks
from proofs_checks.ldp_tradeoff._signs import nonnegative_by_coefficients
from symshuffle.channels.geometry.groups import SymmetryGroup, dihedral_group, trivial_group
from symshuffle.design.decision.problems import Problem
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.named import weighted_guessing_problem, weighted_guessing_risk
from symshuffle.design.parametric.homotopy import derive
from symshuffle.design.parametric.program import PiecewiseOptimum
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    serving,
)
from symshuffle.mechanisms.symbolic import LAM, vanishes

Pieces = list[tuple[Any, Any]]
"""Formulas with the level up to which each holds; the last one up to infinity."""


def _compare_pieces(found: PiecewiseOptimum, claimed: Pieces, at: str) -> Iterator[Comparison]:
    """The derived formula is a theorem for all lam > 1; it has to be the claimed one, end points included."""
    yield compare(len(found.pieces), len(claimed), at=f"{at}: number of formulas on (1, oo)")
    previous: Any = sp.Integer(1)
    for piece, (value, upper) in zip(found.pieces, claimed, strict=False):
        yield identity(piece.value, value, at=f"{at}: formula above {previous}, {piece.conditions} signs decided")
        same = upper is piece.upper or sp.simplify(upper - piece.upper) == 0
        yield decide(same, at=f"{at}: it holds up to", claimed=str(upper), computed=str(piece.upper), symbolic=True)
        previous = piece.upper


def _weighted(j: Any, mass: Any, lam: Any) -> Any:
    """Gain of randomized response between the j likeliest values of total prior mass ``mass``."""
    return lam * mass / (lam + j - 1)


def _check_weighted(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any j, prior and lam: the dual vector of the stated gain adds up and has the right signs; symbolic.

    The signs are those of the gains of j - 1 and j + 1 less that of j. Then 24 certified optima and the library in
    exact rationals, and one prior derived for all lam.
    """
    lam, j, mass, p, v = sp.symbols("lambda j P p v", positive=True)
    gain = statement(j, mass, lam)
    # The dual vector makes V + (lam - 1) v_a >= lam p_a tight at the j likeliest values, and is zero elsewhere.
    (entry,) = sp.solve(gain + (lam - 1) * v - lam * p, v)
    total = j * entry.subs(p, mass / j)  # an entry is linear in its prior, so their sum only depends on the mass
    yield identity(sp.diff(entry, p, 2), 0, at="an entry of the dual vector is linear in its prior")
    yield identity(total, gain, at="the entries of the dual vector add up to V")
    before = statement(j - 1, mass - p, lam)
    yield identity(
        gain - before, (lam * p - gain) / (lam + j - 2), at="v_j >= 0 exactly if the gain of j exceeds j - 1's"
    )
    after = statement(j + 1, mass + p, lam)
    yield identity(
        after - gain, (lam * p - gain) / (lam + j), at="lam p <= V for the rest exactly if j + 1 gains no more"
    )
    yield identity(statement(1, mass, lam), mass, at="gain of one value: its prior, which bounds every p_a")
    for trial in range(8):
        prior = cases.distribution(rng, 3 + trial % 4)
        ordered = sorted(prior, reverse=True)
        for level in cases.LEVELS:
            gains = [statement(i, sum(ordered[:i], Fraction(0)), level) for i in range(1, len(prior) + 1)]
            optimum = smallest_risk(weighted_guessing_problem(prior), level).value.exact
            yield compare(
                optimum, 1 - max(gains), at=f"certified optimum, {len(prior)} values, lam={level}, case {trial}"
            )
            yield compare(weighted_guessing_risk(prior, level)[0], 1 - max(gains), at=f"library, case {trial}")
    thirds = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
    printed = [(1 - statement(sp.Integer(i), sum(map(sp.Rational, ("1/2", "1/3", "1/6")[:i])), LAM)) for i in (1, 2, 3)]
    uppers = [sp.Rational(3, 2), sp.Integer(4), sp.oo]
    derived = derive(weighted_guessing_problem(thirds), trivial_group(3))
    yield from _compare_pieces(derived, list(zip(printed, uppers, strict=True)), "prior 1/2, 1/3, 1/6")


def ordered_categories(m: int) -> Problem:
    """Estimate a category on an ordered scale, read without noise, at absolute loss and uniform prior."""
    one_hot = tuple(tuple(Fraction(int(x == t)) for x in range(m)) for t in range(m))
    loss = tuple(tuple(Fraction(abs(a - t)) for a in range(m)) for t in range(m))
    return Problem(one_hot, loss, (Fraction(1, m),) * m)


def _ordered(m: int) -> Pieces:
    """Optimal absolute error on m = 3, 4, 5 ordered categories."""
    lam = LAM
    return {
        3: [(sp.Rational(2, 3), sp.Integer(2)), (sp.Rational(8, 3) / (lam + 2), sp.oo)],
        4: [((lam + 3) / (2 * (lam + 1)), 2 + sp.sqrt(5)), (5 / (lam + 3), sp.oo)],
        5: [
            (sp.Rational(6, 5), sp.Rational(3, 2)),
            (2 * (lam + 9) / (5 * (lam + 2)), (7 + sp.sqrt(65)) / 2),
            (8 / (lam + 4), sp.oo),
        ],
    }[m]


def _check_ordered(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For m = 3, 4, 5: the optimum derived for all lam > 1 has the stated formulas and end points; symbolic."""
    for m in (3, 4, 5):
        mirror = SymmetryGroup(m, (tuple(reversed(range(m))),))
        yield from _compare_pieces(derive(ordered_categories(m), mirror), statement(m), f"{m} ordered categories")


def _circle(m: int) -> Pieces:
    """Optimal distance on a ring of m positions, readings blurred by one step: runs of three, then single readings."""
    lam = LAM
    return {
        5: [((5 * lam + 7) / (2 * (3 * lam + 2)), sp.Integer(3)), ((lam + 11) / (2 * (lam + 4)), sp.oo)],
        6: [((5 * lam + 13) / (6 * (lam + 1)), sp.Integer(7)), ((lam + 17) / (2 * (lam + 5)), sp.oo)],
        8: [((5 * lam + 27) / (2 * (3 * lam + 5)), sp.Integer(17)), ((lam + 31) / (2 * (lam + 7)), sp.oo)],
    }[m]


def _check_circle(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For rings of 5, 6, 8: the optimum derived for all lam > 1 has the stated formulas and end points; symbolic."""
    for m in (5, 6, 8):
        yield from _compare_pieces(derive(cases.ring(m), dihedral_group(m)), statement(m), f"ring of {m}")


def _blurred(lam: Any, blur: Any) -> tuple[Any, Any, Any]:
    """Ring of five: risk of runs of three, risk of single readings, and the level at which they change places."""
    runs = (6 + (lam - 1) * (2 * blur + 2)) / (3 * lam + 2)
    singles = (6 + 2 * blur * (lam - 1)) / (lam + 4)
    return runs, singles, (2 - 2 * blur) / (1 - 2 * blur)


def _check_blurred(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every lam and blur: on its side of the stated level no subset and action beats the stated risk; symbolic.

    Signs of coefficients, after a substitution that runs through the region; some subset attains the risk. The optimum
    derived at b = 1/4 has the same formulas.
    """
    lam, blur = LAM, sp.Symbol("b", positive=True)
    beta, s = sp.symbols("beta s", positive=True)
    runs, singles, level = statement(lam, blur)
    risks = list(candidate_risks(5, blur, lam))
    # b = beta/(2(1 + beta)) runs through (0, 1/2); lam - 1 is the threshold minus 1, divided or multiplied by 1 + s.
    at = beta / (2 * (1 + beta))
    excess = (level - 1).subs(blur, at)
    for name, value, reach in (("below", runs, excess / (1 + s)), ("above", singles, excess * (1 + s))):
        region = {lam: 1 + reach, blur: at}
        attained = any(vanishes(risk - value) for _, _, risk in risks)
        yield decide(attained, at=f"{name} the threshold: a subset attains the formula", claimed="yes", symbolic=True)
        for subset, action, risk in risks:
            yield decide(
                nonnegative_by_coefficients(risk - value, region, (beta, s)),
                at=f"{name} the threshold, subset {subset:05b}, action {action}: no better, for all lam and b",
                claimed=">= 0",
                symbolic=True,
            )
    yield identity(runs.subs(lam, level), singles.subs(lam, level), at="both agree at the threshold, all b")
    found = derive(cases.ring(5), dihedral_group(5))
    quarter = [expression.subs(blur, sp.Rational(1, 4)) for expression in (runs, singles, level)]
    yield from _compare_pieces(found, [(quarter[0], quarter[2]), (quarter[1], sp.oo)], "b = 1/4")


ASYMMETRIC: Final = Problem.of(
    [["2/3", "1/6", "1/6"], ["1/6", "2/3", "1/6"], ["1/6", "1/6", "2/3"]],
    [[0, 1, 3], [2, 0, 1], [1, 2, 0]],
    ["1/3"] * 3,
)
"""Three noisy values with a loss that depends on which one is taken for which."""


def _asymmetric() -> Pieces:
    """Optimal risk of that problem."""
    lam = LAM
    return [
        (2 * (lam + 2) / (3 * (lam + 1)), 3 + sp.sqrt(10)),
        (5 * (lam + 5) / (9 * (lam + 2)), sp.oo),
    ]


def _check_asymmetric(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The optimum derived for all lam > 1 has the stated formulas and end point; symbolic, all signs decided."""
    found = derive(ASYMMETRIC, trivial_group(3))
    yield from serving("lam", _compare_pieces(found, statement(), "asymmetric losses"))


def _shifted(pieces: Pieces) -> Pieces:
    """The same formulas with the first end point moved."""
    return [(pieces[0][0], pieces[0][1] + sp.Rational(1, 100)), *pieces[1:]]


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="symshuffle.weighted-guessing",
        kind="statement",
        title="guessing under any prior: best loss in closed form",
        text=(
            Clause(
                "risk",
                r"Guessing a value read without noise under a prior $\pi_1\ge\dots\ge\pi_m$: the optimal risk "
                r"over LDP channels is $1-\max_j\lambda P_j/(\lambda+j-1)$, $P_j=\pi_1+\dots+\pi_j$.",
            ),
            Clause("breakpoints", r"The best $j$ grows at $\lambda=P_j/\pi_{j+1}-(j-1)$."),
        ),
        source="symshuffle; not in the papers",
        assumptions=("0-1 loss", "lam > 1"),
        scope="dual vector symbolic in lam, j, the prior; 24 certified optima; one prior derived for all lam",
        grade="proved",
        printed=_weighted,
        check=_check_weighted,
        controls=(
            Control("denominator lam + j", lambda j, mass, lam: lam * mass / (lam + j)),
            Control("no merging", lambda j, mass, lam: lam * mass / (lam + j - 1) * (1 if j == 1 else mass)),
        ),
        expected="holds",
        obligations=for_all("j", "mass", "lam", clause=("risk", "breakpoints")),
    ),
    Claim(
        id="symshuffle.ordered-categories",
        kind="statement",
        title="ordered categories at absolute loss: formulas and exact breakpoints",
        text=(
            Clause(
                "three", r"Uniform prior, no noise. Three categories: $2/3$ up to $\lambda=2$, then $8/(3(\lambda+2))$."
            ),
            Clause("four", r"Four categories: $(\lambda+3)/(2(\lambda+1))$ up to $2+\sqrt5$, then $5/(\lambda+3)$."),
            Clause("five", "Five categories have three formulas."),
        ),
        source="symshuffle; not in the papers",
        assumptions=("lam > 1",),
        scope="all lam > 1 for m = 3, 4, 5: every sign condition of every basis decided exactly",
        grade="exact-cases",
        printed=_ordered,
        check=_check_ordered,
        controls=(Control("a breakpoint moved by 1/100", lambda m: _shifted(_ordered(m))),),
        expected="holds",
        obligations=for_all("m", clause=("three", "four", "five")),
    ),
    Claim(
        id="symshuffle.ring-distance",
        kind="statement",
        title="distance on a ring: formulas and exact breakpoints",
        text=(
            Clause(
                "problem",
                "A position on a ring of $m$, read with probability $1/2$, or a neighbour; loss the distance.",
                "definition",
            ),
            Clause(
                "optimal",
                r"Runs of three readings are optimal up to $\lambda=3,7,17$ for $m=5,6,8$, single readings "
                "above.",
            ),
        ),
        source="symshuffle; not in the papers",
        assumptions=("uniform prior", "lam > 1"),
        scope="all lam > 1 for m = 5, 6, 8 over orbits of the dihedral group",
        grade="exact-cases",
        printed=_circle,
        check=_check_circle,
        controls=(Control("a breakpoint moved by 1/100", lambda m: _shifted(_circle(m))),),
        expected="holds",
        obligations=for_all("m", clause="optimal"),
    ),
    Claim(
        id="symshuffle.ring-blur",
        kind="statement",
        title="distance on a ring of five: formula in the level and the blur",
        text=(
            Clause(
                "runs",
                "With probability $b<1/2$ of reading each neighbour, runs of three readings are optimal up to "
                r"$\lambda=(2-2b)/(1-2b)$ with risk $(6+(\lambda-1)(2b+2))/(3\lambda+2)$.",
            ),
            Clause("single", r"Single readings above with risk $(6+2b(\lambda-1))/(\lambda+4)$."),
        ),
        source="symshuffle; not in the papers",
        assumptions=("uniform prior", "0 < b < 1/2", "lam > 1"),
        scope="all lam and b: every subset and action compared by signs of coefficients; b = 1/4 derived separately",
        grade="proved",
        printed=_blurred,
        check=_check_blurred,
        controls=(
            Control(
                "the threshold one percent higher",
                lambda lam, b: (*_blurred(lam, b)[:2], _blurred(lam, b)[2] * sp.Rational(101, 100)),
            ),
            Control(
                "runs of two", lambda lam, b: ((6 + (lam - 1) * (2 * b + 1)) / (2 * lam + 3), *_blurred(lam, b)[1:])
            ),
        ),
        expected="holds",
        obligations=for_all("lam", "blur", clause=("runs", "single")),
    ),
    Claim(
        id="symshuffle.asymmetric-losses",
        kind="statement",
        title="three noisy values with asymmetric losses: formula and exact breakpoint",
        text=(
            Clause("below", r"The optimum is $2(\lambda+2)/(3(\lambda+1))$ up to $\lambda=3+\sqrt{10}$."),
            Clause("above", r"Then it is $5(\lambda+5)/(9(\lambda+2))$."),
        ),
        source="symshuffle; not in the papers",
        assumptions=("lam > 1",),
        scope="all lam > 1, no symmetry: every sign condition of every basis decided exactly",
        grade="proved",
        printed=_asymmetric,
        check=_check_asymmetric,
        controls=(Control("the breakpoint moved by 1/100", lambda: _shifted(_asymmetric())),),
        expected="holds",
        obligations=for_all("lam", clause=("below", "above")),
    ),
)


def _reproduce(name: str) -> Any:
    def draw(directory: Path) -> Sequence[Path]:
        return figures.DRAWINGS[name](directory)

    return draw


REPRODUCE: Final = {name: _reproduce(name) for name in figures.DRAWINGS}
