"""Near 1, far beyond it, and with data of very different sizes: designs answer, exactly or in narrow balls."""

import random
from fractions import Fraction
from pathlib import Path

import pytest

from symshuffle import Exp, Problem
from symshuffle.design import detect_symmetry, read_problem, smoothed_point_masses
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information.formulas import logarithmic_piece
from symshuffle.design.information.maximum import maximise
from symshuffle.design.information.measures import chi_square_measure, f_divergence, kullback_leibler
from symshuffle.mechanisms import LAM
from symshuffle.mechanisms.symbolic import constant_of, evaluate
from symshuffle.utility import trace_frontier
from symshuffle.utility.frontiers.certificate import DualCertificate
from tests.shell import answer

F = Fraction
PROBLEMS = Path(__file__).parents[2] / "examples" / "problems"
DECISIONS = ("direction_on_a_ring", "guess_one_of_four", "rating_on_five_steps", "triage_with_unequal_losses")
NEAR = (Exp(F(1, 1000)), 1 + F(1, 10**9), 1 + F(1, 10**12))


def _problem(name):
    return read_problem(PROBLEMS / f"{name}.json").problem()


def _settled(design, level):
    """Checked, and exact at a rational level."""
    design.verify()
    if isinstance(level, Exp):
        assert design.value.arithmetic == "ball"
        assert design.value.relative_width < F(1, 10**20)
    else:
        assert design.value.exact is not None
    return design.value


@pytest.mark.parametrize("name", DECISIONS)
def test_every_example_is_decided_near_one(name):
    problem = _problem(name)
    for level in NEAR:
        minimax = _settled(smallest_risk(problem, level, criterion="minimax"), level)
        bayes = _settled(smallest_risk(problem, level), level)
        assert bayes.lower <= minimax.upper


@pytest.mark.parametrize("k", [3, 6])
def test_closed_form_near_one(k):
    """Guessing one of k values: the best channel is k-ary response, of risk (k - 1)/(lam + k - 1)."""
    for lam in (1 + F(1, 10**9), 1 + F(1, 10**30), F(10**30)):
        expected = F(k - 1) / (lam + k - 1)
        problem = smoothed_point_masses(k, F(1))
        assert smallest_risk(problem, lam).value.exact == expected
        assert smallest_risk(problem, lam, criterion="minimax").value.exact == expected


def test_far_from_one_and_with_large_losses():
    for level in (Exp(F(25)), Exp(F(40))):
        _settled(smallest_risk(_problem("rating_on_five_steps"), level, criterion="minimax"), level)
    small = _problem("guess_one_of_four")
    for size in (10**9, 10**15):
        loss = tuple(tuple(size * entry for entry in row) for row in small.loss)
        large = Problem(small.model, loss, small.prior)
        found = _settled(smallest_risk(large, 3, criterion="minimax"), 3).exact
        assert found == size * smallest_risk(small, 3, criterion="minimax").value.exact


def test_mutual_information_near_one_agrees_with_its_formula(capsys):
    path = str(PROBLEMS / "survey_information.json")
    found = answer(capsys, "design", "mutual-information", path, "--lam", "1001/1000")
    assert found["lower"].startswith("1.24875")
    assert found["upper"].startswith("1.24875")


def _pairs(count):
    source = random.Random(1)
    for _ in range(count):
        size = source.randint(3, 6)
        rows = [[F(source.randint(1, 9)) for _ in range(size)] for _ in range(2)]
        yield tuple([entry / sum(row) for entry in row] for row in rows)


def test_brackets_of_divergences_are_narrow_at_every_level():
    for p, q in _pairs(3):
        for level in (Exp(F(1, 10_000)), F(3, 2), F(3), F(10)):
            hellinger = f_divergence(p, q, lambda t: 1 + t - 2 * t.sqrt(), name="squared Hellinger distance")
            for measure in (hellinger, kullback_leibler(p, q), chi_square_measure(p, q)):
                design = maximise(measure, level)
                design.verify()
                assert design.value.relative_width < F(1, 10**20)


def test_the_command_takes_large_budgets(capsys):
    path = str(PROBLEMS / "guess_one_of_four.json")
    assert answer(capsys, "design", "minimax", path, "--eps0", "30")["lower"].startswith("0.375")


def test_equal_rows_of_a_model_have_the_trivial_group():
    row, other = (F(1, 3), F(2, 3)), (F(2, 3), F(1, 3))
    losses = ((F(0), F(1)), (F(0), F(2)), (F(1), F(0)))
    problem = Problem((row, row, other), losses)
    group = detect_symmetry(problem, criterion="minimax")
    assert group.generators == ()
    plain = smallest_risk(problem, 3, criterion="minimax").value.exact
    assert smallest_risk(problem, 3, group=group, criterion="minimax").value.exact == plain


def test_a_design_that_misses_its_width_says_so():
    problem = smoothed_point_masses(5, F(1))
    loose = smallest_risk(problem, Exp(F(1)), rtol=1e-6)
    assert loose.value.aimed is None
    tight = smallest_risk(problem, Exp(F(1)), rtol=1e-40)
    assert tight.value.relative_width <= F(1, 10**40)
    assert tight.value.aimed is None
    large = smallest_risk(smoothed_point_masses(130, F(1)), 3, method="compact", rtol=1e-30)
    assert large.value.aimed == 1e-30
    assert large.value.relative_width > F(1, 10**30)


@pytest.mark.parametrize(
    ("lower", "upper"), [(F(1, 10**9), F(2, 10**9)), (F(1, 10**12), F(1, 2)), (F(1, 10**15), F(1, 10**14))]
)
def test_logarithmic_formulas_reach_next_to_one(lower, upper):
    p, q = (F(1, 2), F(1, 3), F(1, 6)), (F(1, 6), F(1, 3), F(1, 2))
    measure = kullback_leibler(p, q)
    piece = logarithmic_piece(measure, 1 + lower, (1 + lower, 1 + upper))
    piece.verify()
    assert piece.lower == 1 + lower < piece.upper
    for level in (piece.lower, piece.upper):
        design = maximise(measure, level)
        value = evaluate(piece.value.subs(LAM, constant_of(level)), bits=400)
        assert design.value.lower <= value.upper
        assert value.lower <= design.value.upper


@pytest.mark.parametrize("level", [Exp(F(1, 10_000)), 1 + F(1, 10**9), 1 + F(1, 10**15)])
def test_frontiers_near_one_are_narrow(level):
    for k in (3, 10):
        for budget in (F(1, 10**20), F(1, 10)):
            frontier = trace_frontier(k, budget, lam_cap=level)
            frontier.verify()
            assert frontier.trace.relative_width < F(1, 10**16)
            line = frontier.certificate
            steeper = DualCertificate(k, line.eta * F(99, 100), line.intercept * F(99, 100), line.lam_cap)
            assert not steeper.holds()
