"""Section 3.2: optimising a risk over the weights of maximal channels."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._cones import maximal_weights, non_extreme_output
from proofs_checks.ldp_tradeoff._minimax_risk import minimax_risk
from proofs_checks.ldp_tradeoff._properties import Property, examine
from proofs_checks.ldp_tradeoff._rows import layers, linear_in_weights, mixture_not_below
from symshuffle.base.choices import Criterion, members
from symshuffle.base.numbers import maximum
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.extremal import MaximalPolytope, staircase_matrix
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information import measures
from symshuffle.design.information.maximum import maximise
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
    serving,
)
from symshuffle.ledger.claims.parts import Erratum

UNATTAINED: Final = Erratum(
    "hypothesis",
    "granted",
    "Infimum for minimum, or lower semicontinuity, which every risk of the paper has.",
    quote="inf R*(Q) = min R*(Q_ex^(c)) (22)",
)

EXCESS: Final = sp.Symbol("w", positive=True)
"""What lam exceeds 1 by."""


def _optimisation(lam: Fraction) -> tuple[bool, Fraction]:
    """Equation (22): an infimum over LDP channels at a level is a minimum over the polytope at that level."""
    return True, lam


def escaping_risk(channel: Channel) -> Fraction:
    """A risk with DPI whose infimum over LDP channels at lam = 3 is approached but not attained.

    It is 0 off the LDP channels, 1 on LDP channels that are not maximal, and on a maximal one the weight of the subset
    {0}, or 1 where that is zero. Whatever a maximal channel dominates is equivalent to it or not maximal, so DPI holds.
    """
    if not channel.is_ldp(cases.LAM):
        return Fraction(0)
    if non_extreme_output(channel, cases.LAM) is not None:
        return Fraction(1)
    return maximal_weights(channel, cases.LAM).get(1) or Fraction(1)


def approaching(steps: int) -> list[Channel]:
    """Maximal channels on three inputs with a weight of {0} that halves at every step."""
    polytope = MaximalPolytope(3, cases.LAM)
    found = []
    for step in range(steps):
        t = Fraction(1, 2**step)
        weights = {**dict.fromkeys((1, 2, 4), t / 5), **dict.fromkeys((3, 5, 6), (1 - t) / 7)}
        found.append(polytope.channel({subset: weight for subset, weight in weights.items() if weight}))
    return found


def _draw_near_maximal(rng: np.random.Generator) -> Channel:
    """A random private channel, a maximal one, or any."""
    polytope = MaximalPolytope(3, cases.LAM)
    kind = int(rng.integers(3))
    if kind == 0:
        return cases.capped_channel(rng, 3, 2, cases.LAM)
    if kind == 1:
        return polytope.channel(cases.weights(rng, 3, cases.LAM))
    return next(cases.channels(rng, 1, 3))


def optimum_over_weights(level: Any, lam: Any) -> Iterator[Comparison]:
    """The infimum over LDP channels at ``lam`` is that over the weights at ``level``, for any risk with DPI.

    Every LDP channel is below one made of two-level rows, whose risk is no larger; these are LDP. The weights form a
    closed set, and a bounded one: the sum of c_y times an entry of at least 1 is 1. A risk that is lower semicontinuous
    has a minimum on it, and a concave one has it at one of the finitely many vertices.
    """
    yield from layers(level, lam)
    c, excess, rest = sp.symbols("c e r", nonnegative=True)
    bounded = sp.expand(c * (1 + excess) + rest - c).is_nonnegative  # 1, the column sum, minus one weight
    yield decide(bounded is True, at="each weight is at most 1", claimed="bounded", symbolic=True)
    low, gap = sp.Symbol("v", real=True), sp.Symbol("g", nonnegative=True)
    share = 1 / (1 + sp.Symbol("o", positive=True))
    lower = mixture_not_below(low, (low, low + gap), share, sp.Symbol("b", nonnegative=True))
    yield decide(lower, at="a concave risk between two points is not below both", claimed="yes", symbolic=True)


def _check_corrected_optimisation(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every lam and any risk with DPI: two-level rows at the stated level suffice; no minimum; symbolic.

    Then all cases of :func:`_check_optimisation`.
    """
    lam = 1 + sp.Symbol("w", positive=True)
    attained, level = statement(lam)
    yield from serving("risks", optimum_over_weights(level, lam))
    yield compare(attained, False, at="no minimum is promised")
    yield from _check_optimisation(statement, rng)


def _check_optimisation(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 6 random problems: optima over all private channels and over the polytope at the stated level; exact.

    Whether the infimum is a minimum, as stated, is decided by a risk whose values fall to 0 along a sequence and are
    never 0; its DPI is tested on 120 random cases.
    """
    for trial in range(6):
        problem, lam = cases.problem(rng, m=3 + trial % 2), cases.LEVELS[1 + trial % 2]
        _, level = statement(lam)
        for criterion in members(Criterion):
            over_polytope = smallest_risk(problem, level, criterion=criterion, method="polytope").value.exact
            over_all = smallest_risk(problem, lam, criterion=criterion, method="compact").value.exact
            yield compare(over_all, over_polytope, at=f"{criterion}, all LDP channels against the polytope, {trial}")
    report = examine(escaping_risk, Property.DPI, num_inputs=3, rng=rng, trials=120, draw=_draw_near_maximal)
    yield decide(report.counterexample is None, at="a risk with DPI: no violation in 120 cases", claimed="DPI")
    values = [escaping_risk(channel) for channel in approaching(30)]
    yield compare(
        values, [Fraction(1, 5 * 2**step) for step in range(30)], at="its values along a sequence of channels"
    )
    # Its values on LDP channels are positive weights or 1, so zero, the infimum, is not among them.
    attained, _ = statement(cases.LAM)
    found = f"its values {values[0]}, {values[1]}, {values[2]}, ... are positive"
    yield compare(False, attained, at="the infimum 0 of that risk is a minimum", found=found)


def _vertex_or_lp(criterion: str) -> bool:
    """Remark 3.11: whether looking at vertices only is enough for this criterion."""
    return criterion in {"Bayes", "f-divergence", "concave", "additive"}


def _corners_for_all(statement: Statement) -> Iterator[Comparison]:
    """A concave risk, one that may bend down, and one of homogeneous rows, between any two points; symbolic."""
    t, w = 1 / (1 + sp.Symbol("o", positive=True)), sp.Symbol("w", positive=True)
    c, other, i = sp.symbols("c c' i", nonnegative=True)
    row = 1 + w * i
    mixed = sp.expand((t * c + (1 - t) * other) * row - (t * c * row + (1 - t) * other * row))
    low, gap = sp.Symbol("v", real=True), sp.Symbol("g", nonnegative=True)
    # A risk between two points is the average of its values there plus a bend: upwards if it is concave, while a merely
    # quasi-convex one, such as a minimax risk, can go down.
    bend = sp.Symbol("b", positive=True)
    for criterion, by in (("concave", bend), ("minimax", -bend)):
        corner = mixed == 0 and mixture_not_below(low, (low, low + gap), t, by)
        at = f"channels mix as weights do; {criterion}: between two points not below both"
        vertices = decide(corner is statement(criterion), at=at, claimed=str(statement(criterion)), symbolic=True)
        yield from serving("concave", [vertices])
    # An additive extension F is homogeneous, F(c v) = c F(v), up to a constant that is the same for all channels.
    linear = linear_in_weights() and mixture_not_below(low, (low, low + gap), t, sp.Integer(0))
    at = "the sum of F over weighted rows is linear in the weights, and least at a vertex"
    yield from serving("additive", [decide(linear is statement("additive"), at=at, claimed="program", symbolic=True)])


def _check_vertices(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any concave or additive risk: between two points it is not below both, as stated; symbolic.

    Then 8 Bayes problems and two divergences over all vertices, in exact rationals; the minimax risk is best elsewhere.
    """
    yield from _corners_for_all(statement)
    gaps = []
    for trial in range(8):
        m, lam = 3 + trial % 2, Fraction(7, 3)
        problem, polytope = cases.problem(rng, m=m, parameters=3), MaximalPolytope(m, lam)
        channels = [polytope.channel(vertex) for vertex in polytope.vertices()]
        best = min(problem.bayes_risk(channel)[0] for channel in channels)
        optimum = smallest_risk(problem, lam, method="polytope")
        yield compare(optimum.value.exact == best, statement("Bayes"), at=f"Bayes optimum at a vertex, case {trial}")
        rows = staircase_matrix(m, lam)
        by_rows = sum((w * _row_risk(problem, rows[subset - 1]) for subset, _, w in optimum.weights), Fraction(0))
        yield compare(by_rows, optimum.value.exact, at=f"linear objective in the weights, case {trial}")
        if m == 3:
            worst = min(minimax_risk(problem, channel).value.lower for channel in channels)
            gaps.append(worst - smallest_risk(problem, lam, criterion="minimax").value.lower)
    polytope = MaximalPolytope(4, cases.LAM)
    for order in (Fraction(1), Fraction(5, 4)):
        divergence = measures.hockey_stick_measure(cases.P0, cases.P1, order)
        largest = maximum(divergence.of(polytope.channel(vertex)) for vertex in polytope.vertices())
        found = maximise(divergence, cases.LAM).value.exact
        yield compare(found == largest, statement("f-divergence"), at=f"largest divergence of order {order}")
    yield decide(all(gap >= 0 for gap in gaps), at="vertices never beat the minimax optimum", claimed="yes")
    yield compare(not any(gaps), statement("minimax"), at="minimax optimum at a vertex in all cases (not concave)")


def _row_risk(problem: Any, row: tuple[Fraction, ...]) -> Fraction:
    """What one output with this row adds to the Bayes risk."""
    costs = problem.posterior_costs(problem.required_prior())
    return min(sum((h * v for h, v in zip(line, row, strict=True)), Fraction(0)) for line in costs)


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.eq-22",
        kind="statement",
        title="optimising over the weight polytope",
        text=(
            r"For $R^*$ with DPI the infimum over LDP channels is "
            r"the minimum of $R^*(Q^{(c)}_{ex})$ over $\mathcal S$."
        ),
        source="ldp_tradeoff, equation (22)",
        assumptions=("DPI", "at least two inputs"),
        scope=(
            "an explicit risk whose infimum is not attained, its DPI argued in words and tested in 120 cases; optima "
            "of 6 random problems agree"
        ),
        grade="refuted",
        printed=_optimisation,
        check=_check_optimisation,
        controls=(
            Control("the polytope of a ratio one percent larger", lambda lam: (False, lam * Fraction(101, 100))),
            Control(
                "the same, for all risks",
                lambda lam: (False, lam * sp.Rational(101, 100)),
                lambda statement, rng: serving("risks", optimum_over_weights(statement(1 + EXCESS)[1], 1 + EXCESS)),
            ),
        ),
        expected="refuted",
        erratum=UNATTAINED,
        corrected=Correction(
            text=(
                r"The infimum over LDP channels is the infimum over $\mathcal S$; it is attained if "
                r"$R^*(Q^{(c)}_{ex})$ is lower semicontinuous in $c$, as Bayes and minimax risks are, or concave."
            ),
            statement=lambda lam: (False, lam),
            grade="proved",
            check=_check_corrected_optimisation,
        ),
        obligations=for_all("lam", "risks"),
    ),
    Claim(
        id="ldp_tradeoff.rem-3.11",
        kind="statement",
        title="optimum at corners, or by linear programming",
        text=(
            Clause("concave", r"A concave $R^*$ is optimised at a vertex of $\mathcal S$."),
            Clause("additive", "A direct-sum additive one is optimised by a linear program."),
        ),
        source="ldp_tradeoff, Remark 3.11",
        assumptions=("DPI, and concavity or an additive extension to unnormalised matrices",),
        scope="any concave or additive risk; 8 Bayes problems, 2 divergences by all vertices; minimax risk as contrast",
        grade="proved",
        printed=_vertex_or_lp,
        check=_check_vertices,
        controls=(
            Control(
                "vertices are enough for minimax too",
                lambda criterion: _vertex_or_lp(criterion) or criterion == "minimax",
            ),
            Control("vertices are enough for Bayes risks only", lambda criterion: criterion == "Bayes"),
        ),
        expected="holds",
        obligations=(*for_all("concave", clause="concave"), *for_all("additive", clause="additive")),
    ),
)
