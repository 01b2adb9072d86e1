"""Audits of pipelines hold a claim to the upper end of what is certified; ends of shares are probabilities."""

from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle import Channel, InputError
from symshuffle.base.results import Bracket
from symshuffle.collect import audit_shuffled
from symshuffle.collect.audit import shuffled
from symshuffle.collect.audit.shares import Power, confidence_ends

BINARY = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
LEAKY = Channel.from_rows([["9/10", "1/10"], ["1/10", "9/10"]])


def everything(n, runs):
    """What an audit says before and after it runs, and how few runs are refused."""
    audit = audit_shuffled(BINARY, n=n, runs=runs)
    place = audit.place_test
    known = [event.delta for event in audit.events]
    kept = np.tile([0] + [1] * (n - 1), (runs, 1))
    findings = audit.judge(kept, 1 - kept).findings
    judged = [(one, one.refuted) for one in findings]
    return known, place and place.certified.upper, judged, audit.power(LEAKY), audit.caught, audit.beside[2]


def fewest_runs(n):
    """The number of runs that a refusal asks for."""
    with pytest.raises(InputError) as caught:
        audit_shuffled(BINARY, n=n, runs=1)
    return caught.value.expected


@pytest.mark.parametrize("n, runs", [(1, 200), (3, 300)])
def test_a_claim_is_its_upper_end(monkeypatch, n, runs):
    """Lower ends that are worth nothing change nothing that an audit tests, says or refuses."""
    sound, fewest = everything(n, runs), fewest_runs(n)
    exact = shuffled.delta

    def unsure(*asked, **named):
        found = exact(*asked, **named)
        upper = found.bracket.upper
        return type("Found", (), {"bracket": Bracket(F(0), upper, found.bracket.arithmetic, "given", "")})

    monkeypatch.setattr(shuffled, "delta", unsure)
    assert everything(n, runs) == sound
    assert fewest_runs(n) == fewest


def test_a_block_that_is_kept_holds_the_differing_user_at_most_for_certain():
    """Blocks of one user: the message of the differing one is among the first ones of any number, and of all."""
    audit = audit_shuffled(BINARY, n=3, runs=300)
    rows, found = np.array([[0.9, 0.1], [0.1, 0.9]]), []
    for test in audit.best_tests:
        made = test.datasets
        shares = made.shares(test.block, rows[[made.a, made.b, made.c]])(float(test.ratio), 1.0)
        found.append(Power(float(test.ratio), float(test.certified.upper), float(audit.level)).at(300, *shares))
    assert audit.power(LEAKY, block=1) == pytest.approx(max(found), abs=1e-12)


def test_ends_of_shares_are_probabilities():
    for runs in (1, 2, 9, 1000):
        for count in {0, 1, runs - 1, runs}:
            for level in ("1e-100", "1e-20", "0.3", "0.999"):
                low, up = confidence_ends(count, runs, level)
                assert 0 <= low <= up <= 1 or level == "0.999"
                assert 0 <= low <= 1 and 0 <= up <= 1


def test_a_forecast_is_a_probability():
    for runs in (1, 3, 2000):
        for p0 in (0.5, 0.9, 1.0):
            for p1 in (0.0, 0.1):
                for ratio in (1.0, 3.0):
                    assert 0 <= Power(ratio, 0.0, 0.01).at(runs, p0, p1) <= 1
