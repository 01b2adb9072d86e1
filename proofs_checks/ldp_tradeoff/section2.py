"""Section 2: stacking channels, local privacy, risks, and symmetries of decision problems."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, TypeAlias

import numpy as np
import sympy as sp

from proofs_checks._symmetry import OrbitPolytope, act_on_channel
from proofs_checks.ldp_tradeoff import _cases as cases
from proofs_checks.ldp_tradeoff._minimax_risk import minimax_risk
from proofs_checks.ldp_tradeoff._properties import mix_channels, random_channel
from symshuffle.base.errors import InputError
from symshuffle.base.results import passes
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.geometry.extremal import MaximalPolytope
from symshuffle.channels.geometry.groups import cyclic_group
from symshuffle.design.decision.invariant import mover
from symshuffle.design.decision.problems import Problem, smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)

Columns = list[tuple[Any, ...]]


def _stacked(parts: Sequence[Sequence[Sequence[Any]]], weights: Sequence[Any]) -> Columns:
    """The rows of the stacked matrix, in the paper's orientation: one row per output; parts as lists of their rows."""
    return [tuple(p * v for v in row) for p, part in zip(weights, parts, strict=True) for row in part]


def _stacking_for_all(statement: Statement) -> Iterator[Comparison]:
    """One input stands for any, an output and the sum of all others for any part; more parts by stacking in steps."""
    a, b, c, p, q = sp.symbols("a b c p q", positive=True)
    first, second, third = [[(v,), (1 - v,)] for v in (a, b, c)]
    two = statement([first, second], [p, 1 - p])
    yield identity(sum(row[0] for row in two), 1, at="two parts of any sizes: the sum over outputs")
    yield compare(len(two), 4, at="two parts: all outputs")
    inner = statement([second, third], [q, 1 - q])
    outer = statement([first, inner], [p, 1 - p])
    at_once = statement([first, second, third], [p, (1 - p) * q, (1 - p) * (1 - q)])
    for number, (one, other) in enumerate(zip(outer, at_once, strict=True)):
        yield identity(one[0], other[0], at=f"stacking in two steps, output {number}, any parts and weights")
    expected = [p * a, p * (1 - a), (1 - p) * b, (1 - p) * (1 - b)]
    for number, (one, value) in enumerate(zip(two, expected, strict=True)):
        yield identity(one[0], value, at=f"equation (1), output {number}")


def _check_stacking(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any parts and weights: sums over outputs, stacking in two steps, and equation (1), as stated; symbolic.

    Then 12 triples of random channels: the library's stack against the stated rows, in exact rationals.
    """
    yield from _stacking_for_all(statement)
    for trial, (a, b, c) in enumerate(zip(*(cases.channels(rng, 12, 3) for _ in range(3)), strict=True)):
        p = cases.distribution(rng, 3)
        total = direct_sum([a, b, c], p)
        claimed = statement([a.columns(), b.columns(), c.columns()], p)
        yield compare(list(total.columns()), claimed, at=f"three random channels, case {trial}")
        inner = direct_sum([a, b], [p[0] / (p[0] + p[1]), p[1] / (p[0] + p[1])])
        yield compare(direct_sum([inner, c], [p[0] + p[1], p[2]]), total, at=f"stacking in two steps, case {trial}")
        yield compare(sum(total.rows[0]), Fraction(1), at=f"row sums, case {trial}")


def _ldp(columns: Sequence[Sequence[Any]], lam: Fraction) -> bool:
    """Inequality (2): lam Q[y, x] - Q[y, x'] >= 0 for every output and every pair of inputs."""
    return all(lam * v - w >= 0 for column in columns for v in column for w in column)


def _check_ldp(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 60 random channels: the library's test of privacy against the stated inequalities, in exact rationals.

    So also at a ratio of exactly lam, and a thousandth above or below it, in every pair of inputs. Private channels
    stay so when post-processed, stacked or mixed; a zero beside a positive entry is not private.
    """
    verdicts = set()
    for lam, (high, low) in itertools.product(cases.LEVELS, itertools.permutations(range(3), 2)):
        for off in map(Fraction, ("999/1000", "1", "1001/1000")):
            top = {high: lam * off / 100, low: Fraction(1, 100)}
            middle = (lam * off + 1) / 200
            rows = [[top.get(x, middle), 1 - top.get(x, middle)] for x in range(3)]
            channel = Channel.from_rows(rows)
            where = f"lam={lam}, ratio of inputs {high} and {low} {off} of it"
            yield compare(bool(channel.is_ldp(lam)), statement(channel.columns(), lam), at=where)
    for trial, channel in enumerate(cases.channels(rng, 60, 3)):
        lam = cases.LEVELS[trial % 3]
        claimed = statement(channel.columns(), lam)
        verdicts.add(claimed)
        yield compare(bool(channel.is_ldp(lam)), claimed, at=f"random channel {trial}, lam={lam}")
    for trial in range(12):
        lam = cases.LEVELS[trial % 3]
        first, second = (cases.capped_channel(rng, 3, 2, lam) for _ in range(2))
        kernel = random_channel(rng, 3, 3)
        half = (Fraction(1, 2), Fraction(1, 2))
        for name, made in (
            ("itself", first),
            ("post-processed", first.push_forward(kernel)),
            ("stacked", direct_sum([first, second], half)),
            ("mixed", mix_channels([first, second], half)),
        ):
            yield decide(statement(made.columns(), lam), at=f"{name}, case {trial}, lam={lam}", claimed="LDP")
    barely = Channel.from_rows([["1/2", "1/2", 0], ["1/4", "1/4", "1/2"]])
    yield decide(
        not statement(barely.columns(), Fraction(10**9)), at="a zero beside a positive entry", claimed="not LDP"
    )


Matrix: TypeAlias = Sequence[Sequence[Any]]


def _risk(model: Matrix, loss: Matrix, columns: Matrix, rule: Matrix) -> tuple[Any, ...]:
    """Equation (3), term by term; the channel by its outputs."""
    return tuple(
        sum(
            seen * column[x] * losses[a] * answers[a]
            for x, seen in enumerate(law)
            for column, answers in zip(columns, rule, strict=True)
            for a in range(len(losses))
        )
        for law, losses in zip(model, loss, strict=True)
    )


def _stage_by_stage(statement: Statement) -> Iterator[Comparison]:
    """The mean loss of the experiment itself, one draw after the other: an input, its output, the answer to that.

    One input, output and answer stand for any, and one for the sum of all others, with open probabilities and losses.
    """
    parameter, other, low, high, first, second = sp.symbols("p r c d u v", positive=True)
    losses = [sp.symbols("l0 l1"), sp.symbols("h0 h1")]
    model = [(parameter, 1 - parameter), (other, 1 - other)]
    columns = [(low, high), (1 - low, 1 - high)]
    rule = [(first, 1 - first), (second, 1 - second)]
    claimed = statement(model, losses, columns, rule)
    for number, (law, loss) in enumerate(zip(model, losses, strict=True)):
        answered = [sum(chance * value for chance, value in zip(answers, loss, strict=True)) for answers in rule]
        behind = [sum(column[x] * value for column, value in zip(columns, answered, strict=True)) for x in (0, 1)]
        mean = sum(chance * value for chance, value in zip(law, behind, strict=True))
        yield identity(mean, claimed[number], at=f"parameter {number}: mean over the answer, the output, the input")


def _check_risk(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any model, loss, channel and rule; then 20 random ones: the library's risks against the stated sum."""
    yield from _stage_by_stage(statement)
    for trial, channel in enumerate(cases.channels(rng, 20, 3)):
        problem = cases.problem(rng, m=3)
        rule = [cases.distribution(rng, 3) for _ in range(channel.num_outputs)]
        claimed = statement(problem.model, problem.loss, channel.columns(), rule)
        yield compare(problem.risk(channel, rule), claimed, at=f"random problem {trial}")


def _average_and_worst(prior: Sequence[Any], risks: Sequence[Any]) -> tuple[Any, Any]:
    """Equations (4) and (5) for one rule."""
    worst = sp.Max(*risks) if any(isinstance(risk, sp.Expr) for risk in risks) else max(risks)
    return sum(p * r for p, r in zip(prior, risks, strict=True)), worst


def _best_rules(statement: Statement) -> Iterator[Comparison]:
    """Two parameters with open risks: averages and worst cases as stated, and which rules are best.

    At an output one answer has the smaller average cost, the other that and some more: a rule that takes the second
    with probability d costs d times the excess more, so that the best rules take a cheapest answer at each output. No
    average exceeds the worst case, and where all risks are equal both agree: what is best then is so for both.
    """
    share, more, chance = sp.symbols("p e d", positive=True)
    prior, (first, second) = (share, 1 - share), sp.symbols("r s", real=True)
    average, worst = statement(prior, (first + more, first))
    yield identity(share * (first + more) + (1 - share) * first, average, at="average over any prior of two")
    yield identity(first + more, worst, at="worst case of two")
    other = (statement(prior, (first, second))[0] + more - share * first) / (1 - share)
    dear = (first, other)  # the risks of the answer whose average is larger by e
    mixed = [(1 - chance) * a + chance * b for a, b in zip((first, second), dear, strict=True)]
    best, taken = (statement(prior, risks)[0] for risks in ((first, second), mixed))
    kept = share * first + (1 - share) * second
    found = [identity(best, kept, at="the cheaper answer"), identity(taken - kept, chance * more, at="any mixture")]
    yield from serving("rules", found)


def _check_optima(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any prior, risks and rules; then 15 random problems: Bayes and minimax risks, in exact rationals.

    The Bayes risk against all deterministic rules, the minimax risk against its rule, by the stated average and worst
    case. A prior whose Bayes risk is the minimax value shows that no rule does better.
    """
    yield from _best_rules(statement)
    for trial in range(15):
        problem, channel = cases.problem(rng, m=3), random_channel(rng, 3, 3)
        averages = []
        for actions in itertools.product(range(3), repeat=3):
            rule = [[Fraction(int(a == chosen)) for a in range(3)] for chosen in actions]
            averages.append(statement(problem.required_prior(), problem.risk(channel, rule))[0])
        yield compare(
            problem.bayes_risk(channel)[0], min(averages), at=f"best of all deterministic rules, case {trial}"
        )
        if trial % 3 == 0:  # a parameter that nobody can get wrong: then risks are not all equal
            problem = replace(problem, loss=(*problem.loss[:2], (Fraction(0),) * 3))
        found = minimax_risk(problem, channel)
        value, prior = found.value.lower, found.prior
        yield compare(
            value, statement(prior, problem.risk(channel, found.rule))[1], at=f"worst case of its rule, case {trial}"
        )
        # A prior whose Bayes risk is the value shows that no rule has a smaller worst case.
        yield compare(
            problem.with_prior(prior).bayes_risk(channel)[0], value, at=f"least favourable prior, case {trial}"
        )


def _level(lam: Fraction) -> Fraction:
    """Equation (7) takes the infimum over channels of exactly the level asked for."""
    return lam


def _check_tradeoff(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For 8 random problems: the certified optimum against all vertices at the stated level; exact rationals.

    Random private channels are no better, the minimax optimum is that of its channel, and a higher level has no larger
    optimum.
    """
    for trial in range(8):
        m, lam = 3 + trial % 2, cases.LEVELS[trial % 3]
        problem = cases.problem(rng, m=m)
        family = MaximalPolytope(m, statement(lam))
        best = min(problem.bayes_risk(family.channel(vertex))[0] for vertex in family.vertices())
        value = smallest_risk(problem, lam).value.exact
        yield compare(value, best, at=f"certified optimum against all vertices, case {trial}, lam={lam}")
        random = cases.capped_channel(rng, m, 3, lam)
        yield compare(problem.bayes_risk(random)[0], value, ">=", at=f"a random LDP channel, case {trial}")
        worst = smallest_risk(problem, lam, criterion="minimax")
        yield compare(
            minimax_risk(problem, worst.channel()).value.lower, worst.value.exact, at=f"minimax attained, case {trial}"
        )
        yield compare(
            minimax_risk(problem, random).value.lower, worst.value.exact, ">=", at=f"minimax, random channel {trial}"
        )
        looser = smallest_risk(problem, lam + 1).value.exact
        yield compare(looser, value, "<=", at=f"no larger at a higher level, case {trial}")


def _check_forged_design(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """An optimum with the multipliers of a value one percent larger."""
    for trial in range(3):
        problem = cases.problem(rng, m=3)
        for found in (smallest_risk(problem, Fraction(2)), smallest_risk(problem, Fraction(2), criterion="minimax")):
            (certificate,) = found.certificates
            raised = replace(certificate, bound=tuple(u * Fraction(101, 100) for u in certificate.bound))
            forged = replace(found, certificates=(raised,))
            yield decide(passes(forged.verify), at=f"case {trial}, {found.criterion}", claimed="certified optimum")


def _invariant(problem: Problem, g: Sequence[int], t: Sequence[int], a: Sequence[int]) -> bool:
    """Model and loss invariance of Definition 2.2 for one element acting on inputs, parameters and actions."""
    ranges = (range(problem.num_parameters), range(problem.num_inputs), range(problem.num_actions))
    return all(problem.model[t[p]][g[x]] == problem.model[p][x] for p in ranges[0] for x in ranges[1]) and all(
        problem.loss[t[p]][a[b]] == problem.loss[p][b] for p in ranges[0] for b in ranges[2]
    )


def _check_invariance(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every permutation of the inputs of three problems: the library finds an action exactly where one is stated.

    The stated conditions are asked of all actions on parameters and answers.
    """
    skewed = Problem.of([["1/2", "1/3", "1/6"], ["1/3", "1/2", "1/6"], ["1/6"] * 2 + ["2/3"]], [[0, 1, 1]] * 3)
    for name, problem in (("ring of 4", cases.ring(4)), ("guessing", smoothed_point_masses(3, 1)), ("skewed", skewed)):
        permutations = list(itertools.permutations(range(problem.num_inputs)))
        images = mover(problem, criterion="minimax")
        for g in permutations:
            claimed = any(statement(problem, g, t, a) for t in permutations for a in permutations)
            try:
                images(g, "g")
                found = True
            except InputError:
                found = False
            yield compare(found, claimed, at=f"{name}, g={g}")


def _acted(g: Sequence[int], channel: Channel, sigma: Sequence[int]) -> list[list[Any]]:
    """Equation (9): entry (y, x) of the result is entry (sigma^-1 y, g^-1 x) of the channel."""
    g_back, s_back = [list(p).index for p in (g, sigma)]
    return [[channel.rows[g_back(x)][s_back(y)] for y in range(channel.num_outputs)] for x in range(channel.num_inputs)]


def _check_action(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For all pairs in Sym(3): the library's action on a channel against the stated one, and (gh)Q = g(hQ); exact.

    Orbit channels of the rotations of 4 inputs are fixed by the stated action.
    """
    channel = cases.capped_channel(rng, 3, 2, cases.LAM)
    group = list(itertools.permutations(range(3)))
    for g, h in itertools.product(group, repeat=2):
        composed = tuple(g[h[x]] for x in range(3))
        once = act_on_channel(composed, channel, composed)
        yield compare([list(row) for row in once.rows], statement(composed, channel, composed), at=f"g={composed}")
        inner = Channel.from_rows(statement(h, channel, h))
        yield compare(statement(g, inner, g), [list(row) for row in once.rows], at=f"(gh)Q = g(hQ), g={g}, h={h}")
    polytope = OrbitPolytope(cyclic_group(4), cases.LAM)
    for orbit in polytope.orbits:
        subsets = sorted(polytope.group.orbit_of(orbit.representative))
        invariant = MaximalPolytope(4, cases.LAM).channel(dict.fromkeys(subsets, polytope.single_orbit_weight(orbit)))
        step = polytope.group.generators[0]
        moved = tuple(subsets.index(polytope.group.act(step, y)) for y in subsets)
        rows = [list(row) for row in invariant.rows]
        yield compare(statement(step, invariant, moved), rows, at=f"orbit channel of {subsets[0]} is invariant")


CLAIMS: Final[tuple[Claim, ...]] = (
    Claim(
        id="ldp_tradeoff.eq-1",
        kind="statement",
        title="stacking channels",
        text=(
            Clause("stack", r"$\bigoplus_j p_jQ^{(j)}$ stacks the scaled matrices."),
            Clause("channel", "It is a channel."),
            Clause("associative", "Stacking is associative."),
        ),
        source="ldp_tradeoff, equation (1)",
        assumptions=("the weights are a distribution",),
        scope="any parts and weights, one more part at a time; 12 triples of random rational channels",
        grade="proved",
        printed=_stacked,
        check=_check_stacking,
        controls=(
            Control("weights forgotten", lambda parts, weights: _stacked(parts, [Fraction(1)] * len(parts))),
            Control("parts in the wrong order", lambda parts, weights: _stacked(parts[::-1], weights[::-1])),
        ),
        expected="holds",
        obligations=for_all("parts", "weights", clause=("stack", "channel", "associative")),
    ),
    Claim(
        id="ldp_tradeoff.def-2.1",
        kind="definition",
        title="local privacy, column convention",
        text=r"$Q$ is $\epsilon$-LDP if $\lambda Q_{y,x} \ge Q_{y,x'}$ for all outputs and pairs of inputs.",
        source="ldp_tradeoff, Definition 2.1",
        assumptions=("lam > 1",),
        scope="60 random channels; ratios a thousandth off the cap; closure under post-processing, stacking and mixing",
        grade="exact-cases",
        printed=_ldp,
        check=_check_ldp,
        controls=(
            Control(
                "only neighbouring inputs in one order",
                lambda q, lam: all(lam * v >= w for c in q for v, w in itertools.pairwise(c)),
            ),
            Control("a ratio one percent larger", lambda q, lam: _ldp(q, lam * Fraction(101, 100))),
            Control("a ratio one percent smaller", lambda q, lam: _ldp(q, lam * Fraction(99, 100))),
            Control("an additive budget", lambda q, lam: all(v + lam >= w for c in q for v in c for w in c)),
        ),
        expected="definition",
    ),
    Claim(
        id="ldp_tradeoff.eq-3",
        kind="statement",
        title="expected loss of a rule behind a channel",
        text=r"$R(\theta,Q,D)=\sum_{x,y}P(x|\theta)Q_{y,x}\sum_a \ell(\theta,a)D(a|y)$.",
        source="ldp_tradeoff, equation (3)",
        assumptions=("finitely many parameters and actions",),
        scope="the experiment draw by draw, for any model, loss, channel and rule; 20 random rational problems",
        grade="proved",
        printed=_risk,
        check=_check_risk,
        controls=(
            Control(
                "the loss of the next action",
                lambda model, loss, columns, rule: _risk(model, loss, columns, [(*row[1:], row[0]) for row in rule]),
            ),
        ),
        expected="holds",
        obligations=for_all("model", "loss", "columns", "rule"),
    ),
    Claim(
        id="ldp_tradeoff.eq-4-6",
        kind="statement",
        title="best average and best worst-case loss of a channel",
        text=(
            Clause("Bayes", "The Bayes risk averages over the prior."),
            Clause("worst case", r"The worst-case risk is the supremum over $\theta$."),
            Clause("rules", "The optima of both are over decision rules."),
        ),
        source="ldp_tradeoff, equations (4)-(6)",
        assumptions=("finitely many parameters and actions",),
        scope="averages, worst cases and mixtures of answers for any prior and risks; 15 random problems: all 27 "
        "deterministic rules; minimax programs certified, least favourable priors",
        grade="proved",
        printed=_average_and_worst,
        check=_check_optima,
        controls=(
            Control("best case instead of worst", lambda p, risks: (_average_and_worst(p, risks)[0], risks[-1])),
            Control("uniform average", lambda p, risks: (sum(risks) / len(risks), _average_and_worst(p, risks)[1])),
        ),
        expected="holds",
        obligations=(
            *for_all("prior", clause="Bayes"),
            *for_all("risks", clause=("Bayes", "worst case")),
            *for_all("rules", clause="rules"),
        ),
    ),
    Claim(
        id="ldp_tradeoff.eq-7",
        kind="statement",
        title="best loss over all locally private channels",
        text=r"$\mathrm{PUT}_B$ and $\mathrm{PUT}_M$ are the infima of the optimal risks over $\epsilon$-LDP channels.",
        source="ldp_tradeoff, equation (7)",
        assumptions=("finitely many parameters and actions", "lam > 1"),
        scope=(
            "8 random problems: optimum with a bound for every LDP channel, all vertices, random channels, monotonicity"
        ),
        grade="exact-cases",
        printed=_level,
        check=_check_tradeoff,
        controls=(
            Control("a ratio one percent larger", lambda lam: lam * Fraction(101, 100)),
            Control("multipliers one percent larger", _level, _check_forged_design),
        ),
        expected="holds",
    ),
    Claim(
        id="ldp_tradeoff.def-2.2",
        kind="definition",
        title="decision problems with a symmetry group",
        text=(
            Clause("law", r"$P(gx|g\theta)=P(x|\theta)$."),
            Clause("loss", r"$\ell(g\theta,ga)=\ell(\theta,a)$ for all $g$."),
        ),
        source="ldp_tradeoff, Definition 2.2",
        assumptions=("parameters with different models",),
        scope="every permutation of the inputs of three problems, against all actions on parameters and answers",
        grade="exact-cases",
        printed=_invariant,
        check=_check_invariance,
        controls=(Control("parameters stay put", lambda p, g, t, a: _invariant(p, g, range(len(t)), a)),),
        expected="definition",
        obligations=for_all("problem", "g", "t", "a", clause=("law", "loss")),
    ),
    Claim(
        id="ldp_tradeoff.def-2.3",
        kind="definition",
        title="group acting on channels; invariant channels",
        text=(
            Clause("action", r"$(g\circ_\sigma Q)_{y,x}=Q_{\sigma_{g^{-1}}(y),g^{-1}x}$."),
            Clause("invariant", "$Q$ is invariant if all $g$ fix it."),
        ),
        source="ldp_tradeoff, Definition 2.3",
        assumptions=("a finite group",),
        scope=(
            "all pairs of elements of Sym(3) acting on inputs and outputs; orbit channels of the rotations of 4 inputs"
        ),
        grade="exact-cases",
        printed=_acted,
        check=_check_action,
        controls=(
            Control(
                "no inverse on the outputs",
                lambda g, q, s: _acted(g, q, tuple(list(s).index(y) for y in range(len(s)))),
            ),
        ),
        expected="definition",
        obligations=for_all("g", "channel", "sigma", clause=("action", "invariant")),
    ),
)
