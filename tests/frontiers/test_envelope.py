import math
from fractions import Fraction

import pytest

from symshuffle import Channel, Exp, InputError, Unsupported
from symshuffle.base.choices import Direction, members
from symshuffle.channels import shuffled_divergence
from symshuffle.mechanisms import krr, rr
from symshuffle.utility import (
    Contamination,
    binary_envelope,
    certify_envelope,
    endpoint_law,
    ratio_law,
    shuffled_leakage,
)
from symshuffle.utility.frontiers.leakage import convex_envelope

F = Fraction
EXAMPLE = Channel.from_rows([["3/5", "1/5", "1/5"], ["1/4", "1/2", "1/4"], ["1/6", "1/3", "1/2"]])


@pytest.mark.parametrize("n", [1, 2, 3, 5])
@pytest.mark.parametrize("gamma", [F(1), F("6/5"), F("3/2"), F("5/2")])
def test_envelope_is_binary_response_by_enumeration(n, gamma):
    channel = rr().at(lam=3).channel()
    data = (0, *[1] * (n - 1)), (1,) * n
    for direction, (first, second) in zip(members(Direction), (data, data[::-1]), strict=True):
        found = binary_envelope(Contamination(n, direction), lam=F(3), gamma=gamma).bracket.exact
        assert found == shuffled_divergence(channel, first, second, gamma)


@pytest.mark.parametrize("gamma", [F(1), F("6/5"), F("5/3"), F("27/10")])
@pytest.mark.parametrize("direction", list(members(Direction)))
def test_balls_at_an_irrational_level_lie_between_exact_values(gamma, direction):
    low, mid, high = (
        binary_envelope(Contamination(40, direction), lam=lam, gamma=gamma).bracket
        for lam in (F("2.7182818284"), Exp(F(1)), F("2.7182818285"))
    )
    assert mid.arithmetic == "ball"
    assert low.exact < mid.lower <= mid.upper < high.exact


def test_large_populations_are_enclosed():
    bracket = binary_envelope(Contamination(10**6, "reverse"), lam=Exp(F(1)), gamma=F("101/100")).bracket
    assert bracket.arithmetic == "ball"
    assert bracket.relative_width < F("1e-17")
    assert F("9.7301e-26") < bracket.lower < F("9.7302e-26")


def test_singular_mass_is_not_forgotten():
    channel = Channel.from_rows([["1/3", "2/3", "0"], ["0", "2/3", "1/3"]])
    for n in (1, 3):
        value = shuffled_leakage(ratio_law(channel, 0, 1), Contamination(n), gamma=F("6/5")).bracket.exact
        assert value == shuffled_divergence(channel, (0, *[1] * (n - 1)), (1,) * n, F("6/5"))


def test_kernel_certifies_the_envelope_for_a_row_pair():
    kernel = certify_envelope(EXAMPLE, 0, 2, lam=F("18/5"))
    assert kernel.num_inputs == 2
    assert krr().at(k=4, lam=3).channel().restrict((1, 2)) == rr().at(lam=3).channel().push_forward(
        certify_envelope(krr().at(k=4, lam=3).channel(), 1, 2, lam=F(3))
    )
    with pytest.raises(InputError, match="cap that output"):
        certify_envelope(EXAMPLE, 0, 2, lam=F("3"))


def test_other_datasets_are_refused():
    assert Contamination.of((0, 1, 1), (1, 1, 1)) == Contamination(3)
    assert Contamination.of((2, 2), (2, 0)) == Contamination(2, "reverse")
    with pytest.raises(Unsupported, match="constant population"):
        Contamination.of((0, 0, 1), (1, 0, 1))
    with pytest.raises(Unsupported):
        Contamination.of((0, 0, 1), (1, 1, 1))


@pytest.mark.parametrize(
    "call",
    [
        lambda: Contamination(0),
        lambda: binary_envelope(Contamination(3), lam=F("1/2"), gamma=F(1)),
        lambda: binary_envelope(Contamination(3), lam=F(2), gamma=F("1/2")),
        lambda: ratio_law(EXAMPLE, 0, 3),
        lambda: shuffled_leakage(ratio_law(EXAMPLE, 0, 1), Contamination(2), gamma=-1),
        lambda: endpoint_law(F("1/2")),
        lambda: endpoint_law(math.inf),
        lambda: binary_envelope(Contamination(3), lam=math.nan, gamma=F(1)),
        lambda: binary_envelope(Contamination(3), lam=math.inf, gamma=math.inf),
    ],
)
def test_out_of_range(call):
    with pytest.raises(InputError):
        call()


def test_convex_divergences_have_an_envelope():
    assert convex_envelope(4, lam=F(3), function=lambda t: (t - 1) ** 2).bracket.exact == F(
        "1/3"
    )  # (lam - 1)^2/(lam n)
    assert convex_envelope(5, lam=F(1), function=lambda t: (t - 1) ** 2).bracket.exact == 0
    forward = convex_envelope(3, lam=F(2), function=lambda t: max(t - F("5/4"), F(0))).bracket.exact
    assert forward == binary_envelope(Contamination(3), lam=F(2), gamma=F("5/4")).bracket.exact
    with pytest.raises(InputError, match="convex"):
        convex_envelope(3, lam=F(2), function=lambda t: -((t - 1) ** 2))
    with pytest.raises(InputError, match=r"f\(1\)"):
        convex_envelope(3, lam=F(2), function=lambda t: t)


def test_any_number_of_users_through_the_engines():
    ratio = ratio_law(EXAMPLE, 0, 2)
    found = shuffled_leakage(ratio, Contamination(10_000), gamma=F("101/100"), arithmetic="float64").bracket
    envelope = binary_envelope(Contamination(10_000), lam=F("18/5"), gamma=F("101/100")).bracket
    assert 0 < found.lower <= found.upper < envelope.lower


@pytest.mark.parametrize("direction", list(members(Direction)))
def test_limits_of_the_local_budget(direction):
    experiment = Contamination(3, direction)
    assert binary_envelope(experiment, lam=F(1), gamma=F(1)).bracket.exact == 0
    assert binary_envelope(experiment, lam=F(2), gamma=math.inf).bracket.exact == 0
    assert binary_envelope(experiment, lam=math.inf, gamma=F(5)).bracket.exact == 1
    near = binary_envelope(experiment, lam=F(10**9), gamma=F(5)).bracket.lower
    assert 1 - F(1, 10**7) < near < 1
