"""Envelopes, lines above templates and priced responses: two-input cases by hand, small populations by enumeration."""

import dataclasses
import itertools
import math
from fractions import Fraction as F

import flint
import pytest

from symshuffle import CertificateError, Channel, Exp, InputError, Unsupported
from symshuffle.frontiers import envelope, orbits
from symshuffle.frontiers.envelope import (
    Contamination,
    binary_envelope,
    binary_kernel,
    certify_envelope,
    endpoint_law,
    ratio_law,
    shuffled_leakage,
)
from symshuffle.frontiers.orbits import DualCertificate
from symshuffle.frontiers.private_response import PricedResponse, canonical_delta, plain_response, response_ratios
from symshuffle.results import Bracket, Rigour

PAIR = Channel.from_rows([["2/3", "1/3", "0"], ["1/4", "1/2", "1/4"]])


def mean_of_the_average(law, n, function):
    """The mean of a function of the average ratio of n messages."""
    total = F(0)
    for drawn in itertools.product(law, repeat=n):
        total += math.prod((w for _, w in drawn), start=F(1)) * function(sum(v for v, _ in drawn) / n)
    return total


ENDS = ((F(3), F(1, 4)), (F(1, 3), F(3, 4)))


@pytest.mark.parametrize("n", [1, 2, 4])
@pytest.mark.parametrize("gamma", [F(1), F(3, 2), F(5, 3), F(29, 10)])
@pytest.mark.parametrize("way", ["forward", "reverse"])
def test_the_envelope_is_the_mean_under_the_ends(n, gamma, way):
    """By enumeration; in balls as well, also where an average of the ends is exactly the order (5/3 at two users)."""
    function = (lambda x: max(x - gamma, 0)) if way == "forward" else (lambda x: max(1 - gamma * x, 0))
    value = mean_of_the_average(ENDS, n, function)
    experiment = Contamination(n, way)
    assert binary_envelope(experiment, lam=F(3), gamma=gamma).bracket.exact == value
    ball = envelope._envelope_ball(experiment, F(3), gamma, 128)
    assert ball.lower <= value <= ball.upper and ball.upper - ball.lower < F(1, 2**100)


def test_where_the_envelope_is_no_sum(monkeypatch):
    one = Contamination(2)
    assert binary_envelope(one, lam=math.inf, gamma=F(5)).bracket.exact == 1
    for gamma in (F(3), F(4), math.inf):
        assert binary_envelope(one, lam=F(3), gamma=gamma).bracket.exact == 0
    assert binary_envelope(one, lam=F(3), gamma=3 - F(1, 10**9)).bracket.lower > 0
    assert binary_envelope(one, lam=F(1), gamma=F(1)).bracket.exact == 0
    for lam, gamma, named in ((F(1, 2), F(1), "lam"), (F(3), F(1, 2), "gamma"), (3.0, F(1), "lam")):
        with pytest.raises(InputError, match=f"^{named} = "):
            binary_envelope(one, lam=lam, gamma=gamma)
    with pytest.raises(InputError, match=r"^gamma = "):
        binary_envelope(one, lam=math.inf, gamma=math.inf)
    monkeypatch.setattr(envelope, "LARGEST_EXACT", 2)
    assert binary_envelope(one, lam=F(3), gamma=F(1)).bracket.rigour is Rigour.EXACT
    found = binary_envelope(Contamination(3), lam=F(3), gamma=F(1)).bracket
    assert found.rigour is Rigour.BALL
    value = mean_of_the_average(ENDS, 3, lambda x: max(x - 1, 0))
    assert found.lower <= value <= found.upper <= value * (1 + F(1, 10**17))


@pytest.mark.parametrize("t", range(-1, 6))
def test_binomial_tails_by_summation(t):
    p = F(1, 3)
    value = sum((math.comb(4, j) * p**j * (1 - p) ** (4 - j) for j in range(max(t, 0), 5)), F(0))
    assert float(envelope._tail(4, t, flint.arb(1) / 3).mid()) == pytest.approx(float(value), abs=1e-14)


def test_laws_of_ratios_by_hand():
    """Row 0 against row 1: 8/3 with 1/4, 2/3 with 1/2, 0 with 1/4; the other way round 1/4 is singular."""
    assert dict(ratio_law(PAIR, 0, 1).atoms()) == {F(8, 3): F(1, 4), F(2, 3): F(1, 2), F(0): F(1, 4)}
    other = ratio_law(PAIR, 1, 0)
    assert dict(other.atoms()) == {F(3, 8): F(2, 3), F(3, 2): F(1, 3)} and other.singular == F(1, 4)
    for i, j in ((2, 0), (0, 2), (-1, 0)):
        with pytest.raises(InputError, match=r"^[ij] = "):
            ratio_law(PAIR, i, j)
    assert dict(endpoint_law(F(3)).atoms()) == dict(ENDS)
    assert endpoint_law(F(1)).atoms() == ((1, 1),)
    for lam in (F(1, 2), math.inf):
        with pytest.raises(InputError, match=r"^lam = "):
            endpoint_law(lam)


@pytest.mark.parametrize("n", [1, 2, 3])
@pytest.mark.parametrize("gamma", [F(0), F(1), F(3, 2)])
def test_leakage_of_a_pair_by_enumeration(n, gamma):
    law = ratio_law(PAIR, 0, 1).atoms()
    forward = shuffled_leakage(ratio_law(PAIR, 0, 1), Contamination(n), gamma=gamma).bracket.exact
    assert forward == mean_of_the_average(law, n, lambda x: max(x - gamma, 0))
    reverse = shuffled_leakage(ratio_law(PAIR, 0, 1), Contamination(n, "reverse"), gamma=gamma).bracket.exact
    assert reverse == mean_of_the_average(law, n, lambda x: max(1 - gamma * x, 0))
    with pytest.raises(InputError, match=r"^gamma = "):
        shuffled_leakage(ratio_law(PAIR, 0, 1), Contamination(n), gamma=F(-1, 10**9))


@pytest.mark.parametrize(
    ("first", "second", "found"),
    [
        ((1, 0, 0), (0, 0, 0), (3, "forward")),
        ((2, 2, 2), (2, 1, 2), (3, "reverse")),
        ((1,), (0,), (1, "forward")),
        ((0, 0), (0, 0), None),
        ((1, 1, 0), (0, 0, 0), None),
        ((1, 0, 2), (0, 0, 2), None),
    ],
)
def test_which_datasets_are_covered(first, second, found):
    if found is None:
        with pytest.raises(Unsupported, match="constant population"):
            Contamination.of(first, second)
    else:
        assert Contamination.of(first, second) == Contamination(*found)
    for pair in (((0, 0), (0,)), ((), ())):
        with pytest.raises(InputError, match=r"^datasets"):
            Contamination.of(*pair)


def test_the_kernel_of_two_rows_by_hand():
    """lam = 3: first (3a - b)/2, second (3b - a)/2; a ratio of exactly 3 leaves a zero."""
    rows = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    assert binary_kernel(rows, 0, 1, lam=F(3)).rows == ((1, 0), (0, 1))
    assert binary_kernel(rows, 0, 1, lam=F(4)).rows == ((F(11, 12), F(1, 12)), (F(1, 12), F(11, 12)))
    assert certify_envelope(rows, 1, 0, lam=F(5)).num_inputs == 2
    skew = Channel.from_rows([["1/2", "1/2"], ["1/4", "3/4"]])
    for i, j in ((0, 1), (1, 0)):
        with pytest.raises(InputError, match="output 0"):
            binary_kernel(skew, i, j, lam=F(2) - F(1, 10**9))
        assert binary_kernel(skew, i, j, lam=F(2)).num_outputs == 2
    with pytest.raises(InputError, match=r"^lam = "):
        binary_kernel(Channel.from_rows([["1/2", "1/2"]] * 2), 0, 1, lam=F(1))


def test_lines_above_the_templates_of_two_inputs():
    """Templates (1 + x, 1 - x): S = 2y and B = 4y/(1 - y) with y = x^2.

    At slope 1/8 S - B/8 is largest at y = 1/2, where it is 1/2; under a cap of 3 (y at most 1/4) it is 1/3; at slope
    1/2 the line through 0 touches there.
    """
    tiny = F(1, 10**9)
    for line in (
        DualCertificate(2, F(1, 8), F(1, 2)),
        DualCertificate(2, F(1, 8), F(1, 3), F(3)),
        DualCertificate(2, F(1, 2), F(0)),
        DualCertificate(2, F(0), F(1, 2), F(3)),
    ):
        line.verify()
        lower = dataclasses.replace(line, intercept=line.intercept - tiny)
        with pytest.raises(CertificateError, match="at curves"):
            lower.verify()
        assert line.holds() and not lower.holds()
    with pytest.raises(CertificateError, match="at curves"):
        DualCertificate(2, F(1, 2) - tiny, F(0)).verify()
    for line, place in (
        (DualCertificate(1, F(1), F(1)), "k"),
        (DualCertificate(2, F(-1), F(9)), "eta"),
        (DualCertificate(2, F(1), F(1), F(1)), "lam_cap"),
    ):
        with pytest.raises(CertificateError, match=f"at {place}"):
            line.verify()
    line = DualCertificate(2, F(1, 8), F(1, 2))
    assert line.bound(F(4)) == 1 and line.proves(F(4), F(1)) and not line.proves(F(4), 1 - tiny)
    assert DualCertificate(2, F(0), F(2)).bound(math.inf) == 2


def test_lines_above_the_templates_of_three_inputs_under_a_cap():
    """At slope 0 the largest signal under a cap of 4: one high coordinate (2, 1/2, 1/2), 3/2, or two, 2/3."""
    DualCertificate(3, F(0), F(3, 2), F(4)).verify()
    with pytest.raises(CertificateError, match="at curves"):
        DualCertificate(3, F(0), F(3, 2) - F(1, 10**9), F(4)).verify()


def test_ratios_against_caps():
    third = F(1, 10**9)
    assert orbits._at_most(F(3), F(3)) and not orbits._at_most(F(3), F(3) - third)
    assert orbits._at_most(F(9), None) and orbits._at_most(None, None)
    assert not orbits._at_most(None, F(3)) and not orbits._at_most(math.inf, F(3))
    assert orbits._at_most(Exp(F(1)), F(2719, 1000)) and not orbits._at_most(Exp(F(1)), F(2718, 1000))
    assert orbits._at_most(F(2718, 1000), Exp(F(1))) and not orbits._at_most(F(2719, 1000), Exp(F(1)))


def test_priced_responses_by_hand():
    """k = 3, ratio 4, share 1/2: 4/6, 1/6 at share 1, so 1/3, 1/12 and the rest at ratio 1."""
    law = response_ratios(3, F(4), F(1, 2))
    assert dict(law.atoms()) == {F(1, 4): F(1, 3), F(4): F(1, 12), F(1): F(7, 12)}
    ask = {"lam": F(4), "share": F(1, 2), "gamma": F(3, 2), "rigour": "exact"}
    for n in (1, 2):
        forward = mean_of_the_average(law.atoms(), n, lambda x: max(x - F(3, 2), 0))
        reverse = mean_of_the_average(law.atoms(), n, lambda x: max(1 - F(3, 2) * x, 0))
        assert canonical_delta(3, n, **ask).exact == max(forward, reverse)
    delta = canonical_delta(3, 2, **ask).exact
    good = PricedResponse(3, 2, F(3, 2), delta, F(4), F(1, 2), Bracket(delta, delta, Rigour.BALL, "x", "by hand"))
    good.verify()
    assert good.signal == F(1, 8) and good.budget == F(15, 16)
    assert good.risk("iid") == F(16, 3) / 2 and good.risk("fixed") == (F(16, 3) - F(2, 3)) / 2
    tiny = F(1, 10**4)
    for change, place in (
        ({"target": delta - F(1, 10**12)}, "delta"),
        ({"bracket": dataclasses.replace(good.bracket, lower=delta - tiny, upper=delta - tiny / 2)}, "bracket"),
        ({"bracket": dataclasses.replace(good.bracket, lower=delta + tiny, upper=delta + tiny)}, "bracket"),
    ):
        with pytest.raises(CertificateError, match=f"at {place}"):
            dataclasses.replace(good, **change).verify()


def test_what_is_no_response_and_no_target():
    for share in (F(0), F(-1), 1 + F(1, 10**9)):
        with pytest.raises(InputError, match=r"^share = "):
            canonical_delta(3, 2, lam=F(2), share=share, gamma=F(1))
    canonical_delta(3, 1, lam=F(2), share=F(1), gamma=F(1))
    for gamma, delta, named in (
        (F(99, 100), F(1, 2), "gamma"),
        (1.5, F(1, 2), "gamma"),
        (F(1), F(0), "delta"),
        (F(1), F(1), "delta"),
        (F(1), 0.5, "delta"),
    ):
        with pytest.raises(InputError, match=f"^{named} = "):
            plain_response(3, 2, gamma=gamma, delta=delta)


def test_the_largest_ratio_of_one_user_by_hand():
    """One user at order 1: delta is (lam - 1)/(lam + 2), at most 1/4 up to lam = 2; steps of 1/256."""
    found = plain_response(3, 1, gamma=F(1), delta=F(1, 4))
    assert found.lam in (F(2), F(2) - F(1, 256)) and found.share == 1
    found = plain_response(3, 1, gamma=F(1), delta=F(2501, 10000))
    assert found.lam == 2 and found.target == F(2501, 10000)


def test_leakage_at_an_irrational_order():
    """One user at order e against 8/3, 2/3, 0: nothing; reverse (1 - 2e/3)_+ = 0 and 1/4 at ratio 0."""
    ratio = ratio_law(PAIR, 0, 1)
    assert shuffled_leakage(ratio, Contamination(1), gamma=Exp(F(1))).bracket.upper < F(1, 10**20)
    found = shuffled_leakage(ratio, Contamination(1), gamma=Exp(F(1, 2))).bracket
    assert float(found.upper) == pytest.approx((8 / 3 - math.exp(0.5)) / 4, rel=1e-6)
    assert found.rigour is Rigour.BALL
    reverse = shuffled_leakage(ratio, Contamination(1, "reverse"), gamma=Exp(F(1))).bracket
    assert float(reverse.upper) == pytest.approx(1 / 4, rel=1e-6)
