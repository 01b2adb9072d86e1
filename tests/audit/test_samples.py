"""Bare claims: an event learned on one half and tested on the other, with its exact error for few runs."""

import itertools
from fractions import Fraction as F

import pytest

from symshuffle.base.errors import InputError
from symshuffle.collect import Outcome, audit_pair, audit_samples
from tests.audit.systems import binomial, pipeline, seeded
from tests.collect.cases import small
from tests.slices import some


def halves(learned, tested, size):
    """Rows of messages 0 and 1 with so many zeros in the half that learns, and in the other one."""
    first = ["0"] * learned + ["1"] * (size - learned)
    second = ["0"] * tested + ["1"] * (size - tested)
    return [row for pair in zip(first, second, strict=True) for row in pair]


@pytest.mark.parametrize(("p", "q", "exp_eps"), some([(F(3, 4), F(1, 4), 3), (F(1, 2), F(1, 2), 1)], 1))
def test_the_error_for_few_runs_is_exact_and_at_most_what_is_said(p, q, exp_eps):
    size, confidence = 3, "1/10"
    laws = binomial(size, p), binomial(size, q)
    wrong = F(0)
    for a, b, c, d in itertools.product(range(size + 1), repeat=4):
        found = audit_samples(halves(a, b, size), halves(c, d, size), exp_eps=exp_eps, confidence=confidence)
        wrong += laws[0][a] * laws[0][b] * laws[1][c] * laws[1][d] * (found.outcome is Outcome.REFUTED)
    assert 0 < wrong <= 1 - F(confidence)


def test_the_event_depends_on_the_held_out_half_alone():
    learned, found = ["0"] * 30 + ["1"] * 10, []
    for tested in (["0"] * 40, ["1"] * 40):
        rows = [row for pair in zip(learned, tested, strict=True) for row in pair]
        found.append(audit_samples(rows, ["1"] * 80, confidence="0.9").worst)
    assert found[0].event == found[1].event
    assert [one.hits for one in found] == [(40, 0), (0, 0)]
    assert [one.runs for one in found] == [(40, 40)] * 2


def test_a_leak_is_found_in_either_direction_and_bounded():
    plan = small("krr", k=4, root=F(9))
    rows = [[(client(x),) for _ in range(2000)] for x, client in (("0", seeded(plan, 1)), ("1", seeded(plan, 2)))]
    for pair in (rows, rows[::-1]):
        found = audit_samples(*pair, eps=1)
        assert found.outcome is Outcome.REFUTED
        assert 1.4 < found.worst.eps < 2.1973
        assert audit_samples(*pair, exp_eps=9).outcome is Outcome.NOT_REFUTED
    bound = audit_samples(*rows)
    assert bound.outcome is Outcome.NOT_REFUTED
    assert bound.about.endswith("nothing is claimed")
    assert 1.4 < bound.worst.eps < 2.1973
    assert bound.lines.assumes == "independent runs" and "nothing was claimed" in bound.lines.number


def test_runs_of_many_messages_are_told_apart_by_their_scores():
    plan = small("krr", k=3, root=F(40))
    data = [("0", *["2"] * 7), ("1", *["2"] * 7)]
    audit = audit_pair(*data, runs=400, eps="1/2", delta="1/100")
    assert audit.run(pipeline(plan, 1)).outcome is Outcome.REFUTED
    assert audit.run(pipeline(small("krr", k=3, root=F(2)), 1)).outcome is Outcome.NOT_REFUTED
    assert "nothing refutes with fewer than" in audit.price


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: audit_samples([0], [1]), "first = 1 rows: expected at least 2"),
        (lambda: audit_samples("00", [1]), "first = 00: expected a list of rows"),
        (lambda: audit_samples([0] * 10, [1] * 10, eps=1, delta="1e-6"), "runs = 5: expected at least"),
        (lambda: audit_samples([0] * 99, [1] * 99, eps=-1), "eps = -1"),
        (lambda: audit_samples([0] * 99, [1] * 99, eps=1, delta=1), "delta = 1: expected a number in [0, 1)"),
        (lambda: audit_pair("a", "a", runs=100, eps=1), "second = a: expected another input than a"),
        (lambda: audit_pair("a", "b", runs=100), "eps = None"),
        (lambda: audit_pair(("0", "1"), ("1", "0"), runs=100, eps=1), "datasets = 2 users differ: expected neighbours"),
        (lambda: audit_pair(("0", "1"), ("1",), runs=100, eps=1), "datasets = 2 and 1 users"),
        (lambda: audit_pair("a", "b", runs=100, eps=40), "runs = 50: expected a claim that"),
    ],
)
def test_wrong_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refused:
        call()
    assert message in str(refused.value)
