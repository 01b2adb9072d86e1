"""Audits of clients: exact false alarms and power for small runs, honest clients, broken ones, wrong input."""

from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle import Channel, InputError, Unsupported, randomizer
from symshuffle.base.choices import members
from symshuffle.collect import Program, audit_local, claim, named_claim
from symshuffle.collect.audit.verdicts import Outcome
from symshuffle.collect.messages import lines, pack
from symshuffle.collect.scheme import uniform
from tests.audit.systems import pairs_of_counts, seeded
from tests.collect.cases import PARAMETERS, law_of, small

BINARY = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
TERNARY = randomizer("krr").at(k=3, lam=2).channel()


def outcomes(audit, rows):
    """Exact probabilities of the outcomes if the client has these rows, and of each event alone."""
    found, events = dict.fromkeys(members(Outcome), F(0)), [F(0)] * len(audit.events)
    cells = F(0)
    for counts, mass in pairs_of_counts(audit.runs, rows):
        verdict = audit.judge(np.array(counts))
        found[verdict.outcome] += mass
        cells += mass * bool(verdict.cells)
        for i, one in enumerate(verdict.findings):
            events[i] += mass * one.refuted
    return found, events, cells


def test_an_honest_client_is_accused_with_at_most_half_of_the_error_each():
    audit = audit_local(BINARY, runs=16, confidence="1/2")
    found, events, cells = outcomes(audit, BINARY.rows)
    assert 0 < found["refuted"] <= F(1, 4)
    assert 0 < cells <= F(1, 4)
    assert all(event <= 2 * audit.level for event in events)


def test_all_ends_together_have_the_error():
    """Two ends of each event and two of each cell: half of the error each."""
    audit = audit_local(TERNARY, runs=100, confidence="0.9")
    assert len(audit.events) == 6
    assert 2 * len(audit.events) * audit.level == 2 * 9 * audit.cell_level == F(1, 20)


def test_frequencies_without_ends_would_accuse_honest_clients():
    """Near miss: the same comparison with frequencies in place of confidence ends."""
    runs = 16
    wrong = sum(mass for ((a, _), (b, _)), mass in pairs_of_counts(runs, BINARY.rows) if a > 3 * b)
    assert wrong > F(1, 4)


def test_power_is_what_is_forecast():
    audit = audit_local(BINARY, runs=16, confidence="1/2")
    for own in (F(9, 10), F(97, 100)):
        broken = Channel.from_rows([[own, 1 - own], [1 - own, own]])
        found, events, _ = outcomes(audit, broken.rows)
        assert abs(audit.power(broken) - float(max(events))) < 1e-9
        assert found["refuted"] >= max(events)


def test_a_client_with_more_noise_is_another_channel_but_no_leak():
    audit = audit_local(BINARY, runs=2000)
    found = audit.judge(np.array([[1000, 1000], [1000, 1000]]))
    assert found.outcome == "other-channel"
    assert "input 0, message 0: 1000 of 2000" in found.cells[0]
    assert "more noise is no leak, less noise may be one" in found.about


@pytest.mark.parametrize("name", PARAMETERS)
def test_claims_of_collect_are_the_law_of_its_messages(name):
    plan = small(name)
    said = claim(plan)
    for x, row in enumerate(said.channel.rows):
        assert dict(zip(said.messages, row, strict=True)) == dict(law_of(plan, str(x)))


@pytest.mark.parametrize("name", PARAMETERS)
def test_clients_of_collect_pass(name):
    plan = small(name)
    found = audit_local(plan, runs=500).run(seeded(plan, 1))
    assert found.outcome == "not-refuted"
    assert found.about.startswith("not refuted by 500 runs of each of 4 inputs, which would have caught eps0 >= ")
    assert "no proof of privacy" in found.about


@pytest.mark.parametrize(
    ("said", "does", "runs"),
    [
        # Unary encoding that keeps each bit with odds exp(eps0), in place of exp(eps0/2).
        (small("rappor", k=3, root=F(3)), small("rappor", k=3, root=F(9)), 258),
        # lam = exp(1) rounded up to 3.
        (small("krr", k=3, root=F("2.718281828")), small("krr", k=3, root=F(3)), 20_960),
    ],
)
def test_broken_clients_are_caught_at_the_predicted_number_of_runs(said, does, runs):
    """The number is the least at which the best event alone refutes with probability 0.99."""
    audit, broken = audit_local(said, runs=runs), claim(does).channel
    assert audit.power(broken) >= 0.99 > replace(audit, runs=runs * 97 // 100).power(broken)
    assert audit.judge(counts(does, runs)).outcome == "refuted"
    assert audit.judge(counts(said, runs)).outcome == "not-refuted"


def counts(plan, runs, seed=7):
    """Messages of seeded runs of each input."""
    said, draw = claim(plan), uniform(np.random.default_rng(seed).bytes)
    found = np.zeros((plan.k, len(said.messages)), dtype=int)
    for x in range(plan.k):
        sent = pack(plan.scheme, plan.scheme.sample(np.full(runs, x), draw))
        for text in b"".join(lines(plan.scheme, sent)).decode().split():
            found[x, said.columns[text]] += 1
    return found


def test_a_client_that_always_says_the_same_is_tested_like_any_other():
    found = audit_local(BINARY, runs=200).run(lambda x: 0)
    assert found.outcome == "other-channel"
    assert found.hint.endswith("seeded?")
    assert audit_local(BINARY, runs=200).run(seeded(small("krr", k=2), 3)).hint == ""


def test_claims_with_irrational_rows_are_tested_at_their_ends():
    audit = audit_local(randomizer("krr").at(k=3, eps0=1), runs=400)
    assert audit.events[0].claimed == "(1, 0)-DP"
    low, high = map(F, audit.beside[0].rpartition("between ")[2].split(" and "))
    assert 1 - F(1, 10**11) < low < 1 < high < 1 + F(1, 10**11)
    assert len(audit.pairs[0][2]) == 1


@pytest.mark.parametrize(("name", "given"), [("krr", {"k": 3}), ("subset-selection", {"k": 4, "s": 2})])
def test_words_of_collect_change_no_channel(name, given):
    mine = named_claim(name, {key: str(value) for key, value in given.items()}, lam=9).channel
    theirs = randomizer(name).at(lam=9, **given).channel()
    assert sorted(mine.columns()) == sorted(theirs.columns())


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: audit_local(BINARY, runs=5), "runs = 5: expected at least"),
        (lambda: audit_local(BINARY, runs=10**8), "runs = 100000000: expected an integer from 1 to 25000000"),
        (lambda: audit_local(BINARY, runs=100, confidence=1), "confidence = 1"),
        (lambda: audit_local(3, runs=100), "claim = int"),
        (lambda: audit_local(Channel.from_rows([["1", "0"], ["0", "1"]]), runs=100), "ratio cap inf"),
        (lambda: audit_local(Channel.from_rows([["1/2", "1/2"]] * 2), runs=100), "ratio cap 1"),
        (lambda: audit_local(BINARY, runs=100).run(lambda x: "yes"), "message 1 (input 0) = 'yes'"),
        (lambda: audit_local(BINARY, runs=100).judge(np.ones((2, 2), dtype=int)), "counts = shape (2, 2)"),
        (lambda: Program("'"), "command = '"),
        (lambda: Program("a", per_process=0), "per_process = 0"),
        (lambda: Program("a", timeout=0), "timeout = 0"),
        (lambda: named_claim("krr", {"k": "3"}), "lam is missing"),
        (lambda: named_claim("krr", {"k": "3", "s": "3"}, lam=2), "s = 3: expected a parameter of krr: k"),
        (lambda: named_claim("subset-selection", {"k": "3"}, lam=2), "s is missing"),
    ],
)  # fmt: skip
def test_wrong_input_is_refused_in_one_line(call, message):
    with pytest.raises(InputError) as refused:
        call()
    assert message in str(refused.value)
    assert "\n" not in str(refused.value)


def test_claims_that_cannot_be_counted_say_so():
    with pytest.raises(Unsupported, match="too many messages"):
        claim(small("oue", k=30))
