"""Decision problems, their risks, certificates and reduced data: two inputs by hand, the rest by the definitions."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest

from symshuffle.channel import Channel
from symshuffle.design.decision.certificate import (
    TradeoffCertificate,
    check_around,
    check_bound,
    worst_columns,
)
from symshuffle.design.decision.channel_risk import minimax_risk
from symshuffle.design.decision.exact_programs import exact_compact, restricted_program
from symshuffle.design.decision.invariant import InvariantProblem
from symshuffle.design.decision.optimal_channel import action_rows
from symshuffle.design.decision.problems import DecisionProblem, smoothed_point_masses
from symshuffle.errors import CertificateError, InputError
from symshuffle.geometry.groups import SymmetryGroup, symmetric_group, trivial_group
from symshuffle.lp import Sense
from symshuffle.numbers import Exp
from symshuffle.results import Rigour

F = Fraction
PROBLEM = DecisionProblem.of(
    [["1/2", "1/3", "1/6"], ["1/5", "1/5", "3/5"]], [[0, 2, "1/2"], [3, -1, "1/4"]], ["1/4", "3/4"]
)
CHANNEL = Channel.from_rows([["1/2", "1/2"], ["1/3", "2/3"], ["1/4", "3/4"]])


def cost(problem: DecisionProblem, prior, a: int, x: int) -> Fraction:
    return sum(p * problem.loss[t][a] * problem.model[t][x] for t, p in enumerate(prior))


def test_posterior_costs_by_their_definition():
    prior = PROBLEM.required_prior()
    expected = tuple(tuple(cost(PROBLEM, prior, a, x) for x in range(3)) for a in range(3))
    assert PROBLEM.posterior_costs(prior) == expected
    assert PROBLEM.posterior_costs(prior, actions=[2, 0]) == (expected[2], expected[0])
    assert PROBLEM.posterior_costs(prior, actions=[]) == ()
    assert (PROBLEM.num_parameters, PROBLEM.num_inputs, PROBLEM.num_actions) == (2, 3, 3)


def test_risks_of_a_rule_by_their_definition():
    rule = ((F(1, 3), F(2, 3), F(0)), (F(0), F(1, 4), F(3, 4)))
    expected = tuple(
        sum(
            PROBLEM.model[t][x] * CHANNEL.rows[x][y] * rule[y][a] * PROBLEM.loss[t][a]
            for x, y, a in itertools.product(range(3), range(2), range(3))
        )
        for t in range(2)
    )
    assert PROBLEM.risk(CHANNEL, rule) == expected
    actions = [[sum(CHANNEL.rows[x][y] * rule[y][a] for y in range(2)) for x in range(3)] for a in range(3)]
    assert PROBLEM.action_risks(actions) == expected
    for wrong in (rule[:1], ((F(1), F(0)), (F(1), F(0))), ((F(1), F(0), F(1)), rule[1])):
        with pytest.raises(InputError, match="rule"):
            PROBLEM.risk(CHANNEL, wrong)
    with pytest.raises(InputError, match="channel"):
        PROBLEM.risk(CHANNEL.restrict([0, 1]), rule)


def test_the_bayes_risk_is_the_least_of_all_rules():
    prior = PROBLEM.required_prior()
    risks = {}
    for rule in itertools.product(range(3), repeat=2):
        each = PROBLEM.risk(CHANNEL, [[F(int(a == chosen)) for a in range(3)] for chosen in rule])
        risks[rule] = sum(p * r for p, r in zip(prior, each, strict=True))
    best = min(risks.values())
    value, rule = PROBLEM.bayes_risk(CHANNEL)
    assert (value, risks[rule]) == (best, best)


def test_probabilities_of_subsets():
    assert PROBLEM.subset_probabilities([0b011, 0b100]) == ((F(5, 6), F(2, 5)), (F(1, 6), F(3, 5)))


def test_the_minimax_risk_of_a_channel_by_a_search_over_priors():
    """The largest Bayes risk over priors of two parameters: concave, so a fine grid is within its slope of it."""
    found = minimax_risk(PROBLEM, CHANNEL)
    found.verify()
    value = found.value.exact
    assert max(PROBLEM.risk(CHANNEL, found.rule)) == value
    assert PROBLEM.with_prior(found.prior).bayes_risk(CHANNEL)[0] == value
    grid = max(PROBLEM.with_prior((F(i, 200), F(200 - i, 200))).bayes_risk(CHANNEL)[0] for i in range(201))
    assert 0 <= value - grid <= F(3, 200)
    assert found.bracket is found.value
    assert sum(found.prior) == 1


def test_smoothed_point_masses_by_hand():
    found = smoothed_point_masses(3, F(1, 2))
    assert found.model[0] == (F(2, 3), F(1, 6), F(1, 6))
    assert found.model[2] == (F(1, 6), F(1, 6), F(2, 3))
    assert found.loss == ((0, 1, 1), (1, 0, 1), (1, 1, 0))
    assert found.prior == (F(1, 3),) * 3
    assert smoothed_point_masses(2, 0).model == ((F(1, 2),) * 2,) * 2
    assert smoothed_point_masses(2, 1).model == ((1, 0), (0, 1))
    for m, gamma in ((1, F(1, 2)), (3, F(-1, 10)), (3, F(11, 10))):
        with pytest.raises(InputError, match=r"m = 1|gamma"):
            smoothed_point_masses(m, gamma)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"model": ()}, "model"),
        ({"loss": ((),)}, "loss"),
        ({"model": ((F(1),), (F(1),))}, "1 inputs"),
        ({"loss": ((F(0), F(1)),)}, "loss = 1 rows"),
        ({"loss": ((F(0), F(1)), (F(1),))}, r"loss\[1\] = 1 entries"),
        ({"model": ((F(1, 2), F(1, 2)), (F(1), F(1, 10)))}, r"model\[1\] = sum 11/10.*off by 1/10"),
        ({"model": ((F(3, 2), F(-1, 2)), (F(1), F(0)))}, r"model\[0\]\[1\] = -1/2"),
        ({"prior": (F(1),)}, "prior = 1 entries"),
        ({"prior": (F(1, 2), F(1, 3))}, "prior = sum 5/6"),
        ({"loss": ((F(0), F(1)), (F(0), F(10**15 + 1)))}, r"loss\[1\]\[1\] = about 1e15"),
        ({"loss": ((F(0), F(1)), (F(-(10**15)) - F(1, 2), F(1)))}, r"loss\[1\]\[0\] = about 1e15"),
        ({"model": ((0.5, 0.5), (F(1), F(0)))}, r"model\[0\]\[0\]"),
    ],
)
def test_problems_that_are_none(change, message):
    good = {"model": ((F(1, 2), F(1, 2)), (F(1), F(0))), "loss": ((F(0), F(1)), (F(1), F(0))), "prior": None}
    assert DecisionProblem(**good).prior is None
    with pytest.raises(InputError, match=message):
        DecisionProblem(**{**good, **change})


def test_the_largest_losses_and_missing_priors():
    problem = DecisionProblem.of([[1, 0], [0, 1]], [[10**15, 0], [-(10**15), 0.5]])
    assert problem.loss[1][1] == F(1, 2)
    with pytest.raises(InputError, match="prior = None"):
        problem.required_prior()
    with pytest.raises(InputError, match=r"loss\[1\]\[0\]"):
        DecisionProblem.of([[1, 0], [0, 1]], [[0, 0], [None, 0]])
    with pytest.raises(InputError, match=r"prior\[0\]"):
        DecisionProblem.of([[1, 0], [0, 1]], [[0, 0], [0, 0]], ["x", 1])


LAM = F(3)


@pytest.mark.parametrize("bound", [("1/10", "1/5", "1/10"), (0, 0, 0), (1, 1, "-1/3"), ("-1", "-1/7", "0")])
def test_the_worst_column_is_the_worst_of_all_columns(bound):
    u, costs = [F(v) for v in bound], PROBLEM.posterior_costs(PROBLEM.prior)
    for row, (slack, inside) in zip(costs, worst_columns(costs, u, LAM), strict=True):
        values = {
            v: sum(e * (h - b) for e, h, b in zip(v, row, u, strict=True))
            for v in itertools.product((1, LAM), repeat=3)
        }
        assert slack == min(values.values())
        assert values[tuple(LAM if x in inside else 1 for x in range(3))] == slack
        assert inside == [x for x in range(3) if row[x] < u[x]]


def test_a_bound_may_touch_but_not_fail():
    costs = ((F(1, 4), F(1, 2)), (F(1), F(1)))
    # At action 0 with u = (1/2, 1/2): gaps -1/4, 0, so that 3 * (-1/4) < 0; with (1/4, 1/2) the slack is 0.
    check_bound(costs, (F(1, 4), F(1, 2)), LAM)
    with pytest.raises(CertificateError, match="at action 0 by -3/4"):
        check_bound(costs, (F(1, 2), F(1, 2)), LAM)
    # 3 * (1/4 - 1/3) + (1/2 - 1/4) = 0: just so; a little more fails.
    check_bound(costs, (F(1, 3), F(1, 4)), LAM)
    with pytest.raises(CertificateError):
        check_bound(costs, (F(1, 3), F(1, 4) + F(1, 10**9)), LAM)


def test_levels_around_a_level():
    assert check_around(F(3), [F(3)], "here") is Rigour.EXACT
    level = Exp(F(1))
    assert check_around(level, [F(28, 10), F(27, 10)], "here") is Rigour.BALL
    for levels in ([F(3), F(3)], [], [F(4)]):
        with pytest.raises(CertificateError, match="here"):
            check_around(F(3), levels, "here")
    for levels in ([F(27, 10), F(28, 10)], [F(28, 10), F(29, 10)], [F(26, 10), F(27, 10)], [F(28, 10)]):
        with pytest.raises(CertificateError, match="one above and one below"):
            check_around(level, levels, "here")


GUESS = smoothed_point_masses(2, 1)
"""Binary guessing: randomized response errs with probability 1/(lam + 1) = 1/4 at lam = 3."""
PROOF = TradeoffCertificate(
    LAM, (F(1, 2), F(1, 2)), ((F(3, 4), F(1, 4)), (F(1, 4), F(3, 4))), (F(1, 8), F(1, 8)), "bayes"
)


def certificate(**changes):
    from dataclasses import replace

    from symshuffle.choices import Criterion

    return replace(PROOF, **{"criterion": Criterion.BAYES, **changes})


def test_a_certificate_by_hand():
    """h - u = (-1/8, 3/8): 3 * (-1/8) + 3/8 = 0, so that the bound 1/4 is what randomized response attains."""
    bracket = certificate().prove(GUESS)
    assert (bracket.lower, bracket.upper) == (F(1, 4), F(1, 4))
    loose = certificate(bound=(F(1, 16), F(1, 8))).prove(GUESS)
    assert (loose.lower, loose.upper, loose.rigour) == (F(3, 16), F(1, 4), Rigour.EXACT)
    assert "gap" in loose.how and "gap" not in bracket.how
    assert TradeoffCertificate.from_json(certificate().to_json()) == certificate()


def test_average_and_worst_risk():
    """A skew channel errs with 1/2 at the first parameter and 1/6 at the second: 1/3 on average, 1/2 at worst."""
    from symshuffle.choices import Criterion

    rows = ((F(1, 2), F(1, 6)), (F(1, 2), F(5, 6)))
    assert certificate(rows=rows).prove(GUESS).upper == F(1, 3)
    assert certificate(rows=rows, criterion=Criterion.MINIMAX).prove(GUESS).upper == F(1, 2)


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"lam": F(1)}, "lam"),
        ({"criterion": "bayes"}, "criterion"),
        ({"prior": (F(1, 4), F(3, 4))}, "prior"),
        ({"rows": ((F(3, 4), F(1, 4)),)}, "rows"),
        ({"rows": ((F(4, 5), F(1, 5)), (F(1, 5), F(4, 5)))}, r"rows\[0\]"),
        ({"rows": ((F(3, 4), F(1, 4)), (F(1, 4), F(2, 4)))}, "rows"),
        ({"rows": ((F(3, 2), F(3, 2)), (F(-1, 2), F(-1, 2)))}, r"rows\[1\]"),
        ({"bound": (F(1, 8),)}, "bound"),
        ({"bound": (F(1, 8), F(1, 8) + F(1, 10**9))}, "bound"),
    ],
)
def test_certificates_that_are_none(changes, place):
    certificate(lam=F(301, 100)).verify  # builds
    with pytest.raises(CertificateError, match=place):
        certificate(**changes).verify(GUESS)


@pytest.mark.parametrize("prior", [(F(1),), (F(3, 2), F(-1, 2)), (F(1, 2), F(1, 3))])
def test_least_favourable_priors_are_distributions(prior):
    from symshuffle.choices import Criterion

    with pytest.raises(CertificateError, match="prior"):
        certificate(prior=prior, criterion=Criterion.MINIMAX).verify(GUESS)


def test_the_restricted_program_by_its_definition():
    """Of the columns ({0}, 1) and ({0, 2}, 2): their entries 1 or 3, and the cost of answering with the action."""
    columns, prior = [(0b001, 1), (0b101, 2)], PROBLEM.prior
    vectors = [(3, 1, 1), (3, 1, 3)]
    bayes = restricted_program(PROBLEM, LAM, columns, criterion="bayes")
    assert bayes.columns == tuple(tuple(enumerate(v)) for v in vectors)
    assert bayes.costs == tuple(
        sum(cost(PROBLEM, prior, a, x) * v[x] for x in range(3)) for (_, a), v in zip(columns, vectors, strict=True)
    )
    assert (bayes.senses, bayes.rhs, bayes.free) == ((Sense.EQ,) * 3, (1,) * 3, frozenset())
    worst = restricted_program(PROBLEM, LAM, columns, criterion="minimax")
    for (_, a), v, entries in zip(columns, vectors, worst.columns, strict=False):
        seen = [sum(PROBLEM.model[t][x] * v[x] for x in range(3)) for t in range(2)]
        assert dict(entries) == dict(enumerate(v)) | {3 + t: PROBLEM.loss[t][a] * p for t, p in enumerate(seen)}
    assert worst.columns[2] == ((3, -1), (4, -1))
    assert (worst.costs, worst.free) == ((0, 0, 1), frozenset({2}))
    assert (worst.senses, worst.rhs) == ((Sense.EQ,) * 3 + (Sense.LE,) * 2, (1, 1, 1, 0, 0))


@pytest.mark.parametrize(("criterion", "prior"), [("bayes", (F(1, 4), F(3, 4))), ("minimax", None)])
def test_the_compact_program_proves_its_own_optimum(criterion, prior):
    from symshuffle.choices import Criterion

    problem = PROBLEM if prior else DecisionProblem(PROBLEM.model, PROBLEM.loss)
    rows, bound, found = exact_compact(problem, LAM, criterion=criterion)
    proof = TradeoffCertificate(LAM, found, rows, bound, Criterion(criterion))
    bracket = proof.prove(problem)
    assert bracket.lower == bracket.upper
    assert prior is None or found == prior


def test_rows_of_actions():
    rows = action_rows(PROBLEM, [(0b001, 1, F(1, 5)), (0b110, 1, F(1, 7)), (0b100, 0, F(2))], LAM)
    assert rows == (
        (2, 2, 6),
        (F(3, 5) + F(1, 7), F(1, 5) + F(3, 7), F(1, 5) + F(3, 7)),
        (0, 0, 0),
    )


SWAP = SymmetryGroup(3, ((1, 0, 2),))
PAIRED = DecisionProblem.of(
    [["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]],
    [[0, 1, 1], [1, 0, 1], [2, 2, 0]],
    ["1/4", "1/4", "1/2"],
)


def test_reduced_data_by_hand():
    """Inputs, parameters and actions 0 and 1 are exchanged together, 2 stays alone."""
    bayes = InvariantProblem.of(PAIRED, SWAP, criterion="bayes")
    assert (bayes.inputs, bayes.parameters, bayes.actions) == (((0, 1), (2,)), (), (0, 2))
    assert bayes.num_rows == 2
    assert bayes.prior(()) == PAIRED.prior
    costs = PAIRED.posterior_costs(PAIRED.prior)
    assert bayes.prices == ((costs[0], costs[2]),)
    assert bayes.costs([F(2)]) == [[2 * h for h in costs[0]], [2 * h for h in costs[2]]]
    assert bayes.shares(0b101) == (F(1, 2), F(1))
    assert bayes.risks(0b101, 1, LAM) == (3 * costs[2][0] + costs[2][1] + 3 * costs[2][2],)
    program = bayes.program([(0b101, 1), (0b010, 0)], LAM)
    assert program.columns == (((0, 2), (1, 3)), ((0, 2), (1, 1)))
    assert program.costs == (bayes.risks(0b101, 1, LAM)[0], bayes.risks(0b010, 0, LAM)[0])
    assert (program.rhs, program.free) == ((1, 1), frozenset())


def test_reduced_data_of_the_worst_case():
    worst = InvariantProblem.of(PAIRED, SWAP, criterion="minimax")
    assert worst.parameters == ((0, 1), (2,))
    assert worst.num_rows == 4
    assert worst.prior([F(1, 3), F(2, 3)]) == (F(1, 6), F(1, 6), F(2, 3))
    prices = [PAIRED.posterior_costs(p) for p in ((F(1, 2), F(1, 2), F(0)), (F(0), F(0), F(1)))]
    assert worst.prices == tuple((p[0], p[2]) for p in prices)
    mixed = worst.costs([F(1, 3), F(2, 3)])
    assert mixed[0] == [F(1, 3) * p + F(2, 3) * q for p, q in zip(prices[0][0], prices[1][0], strict=True)]
    risks = worst.risks(0b001, 0, LAM)
    assert risks == tuple(3 * p[0][0] + p[0][1] + p[0][2] for p in prices)
    program = worst.program([(0b001, 0)], LAM)
    assert program.columns == (((0, 2), (1, 1), (2, risks[0]), (3, risks[1])), ((2, -1), (3, -1)))
    assert (program.costs, program.free, program.rhs) == ((0, 1), frozenset({1}), (1, 1, 0, 0))
    assert program.senses == (Sense.EQ, Sense.EQ, Sense.LE, Sense.LE)


def test_one_orbit_of_parameters_has_the_uniform_prior():
    found = InvariantProblem.of(smoothed_point_masses(3, F(1, 2)).with_prior((F(1), F(0), F(0))), symmetric_group(3),
                                criterion="minimax")  # fmt: skip
    assert found.parameters == ()
    assert found.problem.prior == (F(1, 3),) * 3
    assert found.actions == (0,)
    alone = InvariantProblem.of(PAIRED, trivial_group(3), criterion="minimax")
    assert alone.parameters == ((0,), (1,), (2,))
    assert alone.actions == (0, 1, 2)


def test_answers_of_channels_are_checked_on_both_sides():
    """The worst risk of the rule, not the least one; a prior that is none; a claim that is off."""
    from dataclasses import replace

    found = minimax_risk(PROBLEM, CHANNEL)
    poor = ((F(1), F(0), F(0)),) * 2  # always action 0: risks 0 and 3
    with pytest.raises(CertificateError, match="value"):
        replace(found, rule=poor).verify()
    with pytest.raises(CertificateError, match="value"):
        replace(found, prior=(F(1), F(0))).verify()
    with pytest.raises(CertificateError, match="rule"):
        replace(found, rule=poor[:1]).verify()
    with pytest.raises(CertificateError, match="prior"):
        replace(found, prior=(F(1), F(1))).verify()
    from symshuffle.results import SafeEnd

    assert found.safe is SafeEnd.UPPER
    # A risk may be negative: the variable that bounds all risks has no sign.
    gains = DecisionProblem(PROBLEM.model, tuple(tuple(v - 5 for v in row) for row in PROBLEM.loss))
    assert minimax_risk(gains, CHANNEL).value.exact == found.value.exact - 5
