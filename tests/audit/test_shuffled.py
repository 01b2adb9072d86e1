"""Audits of pipelines: events against enumeration, exact false alarms, honest and broken shufflers."""

import itertools
import math
from fractions import Fraction as F
from functools import cache

import numpy as np
import pytest

from symshuffle import Channel, InputError, Unsupported, randomizer
from symshuffle.channels.shuffled import law_divergence, shuffled_law
from symshuffle.collect import audit_shuffled, claim
from symshuffle.collect.audit.attained import ConstantDatasets, blocks, candidates, occurs
from symshuffle.collect.audit.shares import Power
from symshuffle.collect.audit.verdicts import Event, cell_outside
from tests.audit.systems import binomial, pipeline
from tests.collect.cases import PARAMETERS, small
from tests.slices import some

BINARY = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
TERNARY = randomizer("krr").at(k=3, lam=4).channel()
SKEW = Channel.from_rows([["1/2", "1/3", "1/6"], ["1/4", "1/4", "1/2"], ["1/3", "1/3", "1/3"]])


def floats(channel):
    return np.array([[float(entry) for entry in row] for row in channel.rows])


@pytest.mark.parametrize("channel", [BINARY, TERNARY, SKEW])
@pytest.mark.parametrize("ratio", [F(1), F(6, 5)])
def test_events_are_those_of_the_likelihood_ratio(channel, ratio):
    """The event by scores has the probabilities, and the divergence, of all histograms one by one."""
    n = 4
    for made in candidates(floats(channel), n):
        laws = [shuffled_law(channel, [x] + [made.c] * (n - 1)) for x in (made.a, made.b)]
        inside = {h for h in laws[0] if laws[0][h] > ratio * laws[1].get(h, 0)}
        exact = [sum(law[h] for h in inside if h in law) for law in laws]
        shares = made.shares(n)(float(ratio))
        assert np.allclose(shares, [float(p) for p in exact], atol=1e-12)
        assert exact[0] - ratio * exact[1] == law_divergence(*laws, ratio)
        scores = made.scores(float(ratio))
        for h in laws[0]:
            messages = np.repeat(np.arange(channel.num_outputs), h)[None]
            assert bool(occurs(scores, messages)[0]) is (h in inside)


def law_of_outputs(channel, data, block):
    """Exact law of the messages in their order, blocks shuffled one by one."""
    law = {}
    parts = [range(i, min(i + block, len(data))) for i in range(0, len(data), block)]
    orders = [sum(order, ()) for order in itertools.product(*(itertools.permutations(part) for part in parts))]
    for messages in itertools.product(range(channel.num_outputs), repeat=len(data)):
        mass = math.prod(channel.rows[x][y] for x, y in zip(data, messages, strict=True)) / len(orders)
        for order in orders:
            seen = tuple(messages[i] for i in order)
            law[seen] = law.get(seen, 0) + mass
    return law


@pytest.mark.parametrize("block", [1, 2, 3, 4])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_first_messages_of_blocks_have_the_forecast_probabilities(block, size):
    n = 4
    made = ConstantDatasets(0, 1, 2, n, floats(TERNARY))
    forecast = made.shares(size)(1.2, min(1.0, size / block))
    scores = made.scores(1.2)
    for x, share in zip((0, 1), forecast, strict=True):
        law = law_of_outputs(TERNARY, (x, 2, 2, 2), block)
        exact = sum(mass for seen, mass in law.items() if occurs(scores, np.array([seen[:size]]))[0])
        assert abs(float(exact) - share) < 1e-12


def test_an_honest_pipeline_is_accused_with_at_most_half_of_the_error_each():
    """Exact probability of each accusation; together they are at most half of the error, for events and for cells."""
    n, runs, confidence = 4, 14, F(1, 2)
    audit = audit_shuffled(TERNARY, n=n, runs=runs, confidence=confidence)
    made = audit.best_tests[0].datasets
    laws = [law_of_outputs(TERNARY, (x, *[made.c] * (n - 1)), n) for x in (made.a, made.b)]
    accused = []
    for test, event in zip(audit.best_tests, audit.events, strict=True):
        scores = test.datasets.scores(float(test.ratio))
        p, q = (
            sum(mass for seen, mass in law.items() if occurs(scores, np.array([seen[: test.block]]))[0]) for law in laws
        )
        assert p <= test.ratio * q + test.certified.upper
        first, second = binomial(runs, p), binomial(runs, q)
        accused.append(
            sum(
                first[c] * second[d]
                for c, d in itertools.product(range(runs + 1), repeat=2)
                if event.counted((c, d), (runs, runs), audit.level).refuted
            )
        )
        assert accused[-1] <= 2 * audit.level
    test = audit.place_test
    scores, at = test.datasets.scores(float(test.ratio)), Event("", "", "", test.ratio, test.certified.upper)
    for place in range(n):
        p, q = (sum(mass for seen, mass in law.items() if occurs(scores, np.array([[seen[place]]]))[0]) for law in laws)
        first, second = binomial(runs, p), binomial(runs, q)
        accused.append(
            sum(
                first[c] * second[d]
                for c, d in itertools.product(range(runs + 1), repeat=2)
                if at.counted((c, d), (runs, runs), audit.place_level).refuted
            )
        )
        assert 0 < accused[-1] <= 2 * audit.place_level
    assert 0 < sum(accused) <= (1 - confidence) / 2
    cells = F(0)
    level = (1 - confidence) / (8 * n * 3)
    for law, place, y in itertools.product(laws, range(n), range(3)):
        p = sum(mass for seen, mass in law.items() if seen[place] == y)
        x = made.a if law is laws[0] else made.b
        assert p == (TERNARY.rows[x][y] + (n - 1) * TERNARY.rows[made.c][y]) / n
        cells += sum(
            mass for c, mass in enumerate(binomial(runs, p)) if cell_outside(p, c, runs, level)
        )  # fmt: skip
    assert 0 < cells <= (1 - confidence) / 2


def test_all_ends_together_have_the_error():
    """Two ends of each event and two of each cell: half of the error each."""
    audit = audit_shuffled(BINARY, n=4, runs=60, confidence="0.9")
    found = audit.run(lambda data: data)
    assert len(found.findings) == len(audit.events) + 1 == 4  # of the events at places, the worst
    assert found.checked == 2 * 4 * 2
    assert 2 * (len(audit.events) * audit.level + audit.n * audit.place_level) == F(1, 20)
    assert 2 * found.checked * audit.cell_level == F(1, 20)


def drawn_outputs(audit, seed, place=None):
    """Messages of krr for both datasets, shuffled; or all but those of the first user, who stays at one place."""
    rng, found = np.random.default_rng(seed), []
    rows = floats(audit.claim.channel)
    for data in audit.datasets:
        sent = np.array([rng.choice(len(rows), audit.runs, p=rows[audit.claim.inputs.index(x)]) for x in data]).T
        if place is None:
            found.append(rng.permuted(sent, axis=1))
        else:
            others = rng.permuted(sent[:, 1:], axis=1)
            found.append(np.insert(others, place, sent[:, 0], axis=1))
    return found


@pytest.mark.parametrize("place", range(12))
def test_a_user_at_a_fixed_place_is_refuted(place):
    """krr with k = 4, lam = 3, n = 12: (1.0986, 0) is true where (0.137, 0.081) is claimed."""
    audit = audit_of_places()
    assert "fixed place" in audit.caught
    found = audit.judge(*drawn_outputs(audit, 7, place))
    assert found.outcome == "refuted" and found.worst.eps > 0.5
    last = found.findings[-1]
    assert last.refuted and f"at place {place + 1} " in last.words


@cache
def audit_of_places(runs=3000):
    return audit_shuffled(small("krr", root=F(3)), n=12, runs=runs)


def test_honest_shufflers_are_not_refuted():
    """100 drawn with seeds, each refuted with probability at most 0.005: more than 4 with probability below 2e-4."""
    audit = audit_of_places(1000)
    found = [audit.judge(*drawn_outputs(audit, seed)).outcome for seed in range(100)]
    assert sum(outcome == "refuted" for outcome in found) <= 4
    assert sum(outcome == "not-refuted" for outcome in found) >= 94


def test_places_cost_little_power():
    """The level of events on many messages is three quarters of what it was: 5 % more runs refute as often."""
    audit = audit_of_places()
    test = audit.best_tests[0]
    at = float(test.ratio), float(test.certified.upper)
    needed = [Power(*at, level).runs(*test.shares, 0.9) for level in (float(audit.level), float(audit.level) * 4 / 3)]
    assert audit.level == (1 - audit.confidence) * F(3, 16) / len(audit.events)
    assert needed[1] <= needed[0] <= 1.05 * needed[1]


@pytest.mark.parametrize("name", some(PARAMETERS, 3))
def test_pipelines_of_collect_pass(name):
    plan = small(name)
    audit = audit_shuffled(plan, n=8, runs=200)
    found = audit.run(pipeline(plan, 5))
    assert found.outcome == "not-refuted", found.rows()


@pytest.mark.parametrize(
    ("does", "block", "runs"),
    [
        (small("krr", k=3, root=F(4)), 2, 335),  # a shuffler that keeps blocks of two users in order
        (small("krr", k=3, root=F(4)), 3, 865),  # and of three
        (small("krr", k=3, root=F(16)), None, 238),  # clients at twice the level
    ],
)
def test_broken_pipelines_are_caught_at_the_predicted_number_of_runs(does, block, runs):
    """The number is the least at which the best event alone refutes with probability 0.99."""
    said = small("krr", k=3, root=F(4))
    audit, broken = audit_shuffled(said, n=16, runs=runs), claim(does).channel
    assert 0.99 <= audit.power(broken, block=block) < 0.993
    assert audit.power(audit.claim.channel) < 1e-3
    assert audit.run(pipeline(does, 3, block)).outcome == "refuted"
    assert audit.run(pipeline(said, 3)).outcome == "not-refuted"


def test_sorted_messages_are_audited_as_a_histogram():
    plan = small("krr", k=3)
    audit = audit_shuffled(plan, n=8, runs=300, order="sorted")
    honest, broken = pipeline(plan, 1), pipeline(small("krr", k=3, root=F(50)), 1)
    assert len(audit.events) == 1
    assert audit.run(lambda data: sorted(honest(data))).outcome == "not-refuted"
    assert audit.run(lambda data: sorted(broken(data))).outcome == "refuted"
    with pytest.raises(InputError, match="order = sorted: expected messages in the order of the claim"):
        audit.run(honest)


def test_blocks_are_powers_of_two_below_all_users():
    assert [blocks(n) for n in (1, 2, 3, 8, 9)] == [(1,), (2, 1), (3, 2, 1), (8, 4, 2, 1), (9, 8, 4, 2, 1)]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: audit_shuffled(BINARY, n=0, runs=100), "n = 0"),
        (lambda: audit_shuffled(BINARY, n=8, runs=3), "runs = 3: expected at least"),
        (lambda: audit_shuffled(BINARY, n=8, runs=100, order="as sent"), "order = as sent"),
        (lambda: audit_shuffled(BINARY, n=3, runs=100).run(lambda data: "0,1"), "run 1 = 2 messages: expected 3"),
        (lambda: audit_shuffled(BINARY, n=3, runs=100).run(lambda data: "0,1,2"), "run 1 = '2': expected one of"),
        (
            lambda: audit_shuffled(BINARY, n=3, runs=100).judge(np.zeros((2, 3)), np.zeros((2, 3))),
            "first = shape (2, 3)",
        ),
    ],
)
def test_wrong_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refused:
        call()
    assert message in str(refused.value)


def test_too_many_histograms_are_refused():
    with pytest.raises(Unsupported, match="too many histograms"):
        audit_shuffled(TERNARY, n=90_000, runs=100)
