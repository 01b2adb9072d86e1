"""Ratio laws, quotients and families by hand: every moment, every refusal, and what a quotient has to prove."""

import dataclasses
import itertools
from fractions import Fraction as F

import pytest
import sympy as sp

from symshuffle import CertificateError, Channel, InputError, Rigour, Unsupported, mechanism
from symshuffle.likelihood import families
from symshuffle.likelihood.families import ChannelFamily
from symshuffle.likelihood.law import (
    LikelihoodRatio,
    abs_number,
    check_share,
    exact_sum,
    require_common_support,
)
from symshuffle.likelihood.quotient import Quotient, likelihood_quotient
from symshuffle.mechanisms.finite import K
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Ball, enclose

SKEWED = LikelihoodRatio((F(1, 2), F(1), F(2)), (F(1, 3), F(1, 2), F(1, 6)))
FOUR = Channel.from_rows([["1/6", "1/3", "1/4", "1/4"], ["1/12", "1/6", "1/2", "1/4"], ["1/4", "1/4", "1/4", "1/4"]])


def test_moments_by_hand():
    """Deviations -1/2, 0, 1: 1/12 + 1/6, 1/24 + 1/6, 1/6 + 1/6, and the mass beside 1."""
    assert SKEWED.chi_square == F(1, 4)
    assert SKEWED.third_absolute_moment == F(5, 24)
    assert SKEWED.wasserstein_to_one == F(1, 3)
    assert SKEWED.active == F(1, 2)
    assert SKEWED.exact and SKEWED.law.atoms() == SKEWED.atoms()


@pytest.mark.parametrize(
    ("values", "cap"), [(("1/2", "3/2"), 2), (("1/2", "4"), 4), (("1",), 1), (("1/5", "1", "2"), 5)]
)
def test_the_cap_is_the_larger_of_the_largest_ratio_and_the_inverse_of_the_smallest(values, cap):
    ratios = tuple(map(F, values))
    if len(ratios) == 1:
        weights = (F(1),)
    else:
        high, low = ratios[-1], ratios[0]
        middle = F(1, 2) if len(ratios) == 3 else F(0)
        rest = 1 - middle
        top = rest * (1 - low) / (high - low)
        weights = (rest - top, *([middle] if middle else []), top)
    assert LikelihoodRatio(ratios, weights).cap == cap


def test_reversal_and_dilution_by_hand():
    assert SKEWED.reverse().atoms() == ((F(1, 2), F(1, 3)), (F(1), F(1, 2)), (F(2), F(1, 6)))
    three = LikelihoodRatio((F(1, 2), F(3)), (F(4, 5), F(1, 5)))
    assert three.reverse().atoms() == ((F(1, 3), F(3, 5)), (F(2), F(2, 5)))
    assert SKEWED.dilute(F(1, 2)).atoms() == ((F(1, 2), F(1, 6)), (F(1), F(3, 4)), (F(2), F(1, 12)))
    assert SKEWED.dilute(F(0)).atoms() == ((F(1), F(1)),)
    assert SKEWED.dilute(F(1)) == SKEWED


def test_laws_of_channels_are_of_the_second_input_against_the_first():
    assert LikelihoodRatio.of(FOUR, 0, 1).atoms() == ((F(1, 2), F(1, 2)), (F(1), F(1, 4)), (F(2), F(1, 4)))
    assert LikelihoodRatio.of(FOUR, 1, 0).atoms() == ((F(1, 2), F(1, 2)), (F(1), F(1, 4)), (F(2), F(1, 4)))
    assert LikelihoodRatio.of(FOUR, 0, 2).atoms() == ((F(3, 4), F(1, 3)), (F(1), F(1, 2)), (F(3, 2), F(1, 6)))
    for a, b in ((0, 3), (-1, 0)):
        with pytest.raises(InputError):
            LikelihoodRatio.of(FOUR, a, b)


def test_the_law_of_a_mechanism_is_that_of_its_channel():
    krr = mechanism("krr").at(k=4, lam=3)
    assert LikelihoodRatio.of_mechanism(krr) == LikelihoodRatio.of(krr.channel(), 0, 1)
    for hidden in (mechanism("erasure").at(k=3, p=F(1, 2)), mechanism("identity").at(k=3)):
        with pytest.raises(InputError, match=r"^mechanism = "):
            LikelihoodRatio.of_mechanism(hidden)


@pytest.mark.parametrize("order", [F(1), F(6, 5)])
def test_the_curve_of_one_user_is_the_mean_of_the_hinge(order):
    """Forward E(L - e)_+, reverse E(1 - eL)_+; both is the larger."""
    for low, high in ((F(1, 2), F(3)), (F(1, 3), F(2))):
        law = LikelihoodRatio((low, high), ((high - 1) / (high - low), (1 - low) / (high - low)))
        forward = sum(w * max(v - order, 0) for v, w in law.atoms())
        reverse = sum(w * max(1 - order * v, 0) for v, w in law.atoms())
        ask = {"exp_eps": order, "rigour": Rigour.EXACT}
        assert law.profile(1, direction="forward", **ask).exact == forward
        assert law.profile(1, direction="reverse", **ask).exact == reverse
        assert law.profile(1, **ask).exact == max(forward, reverse)
        assert order == 1 or forward != reverse


def test_the_curve_of_two_users_is_the_mean_over_pairs():
    total = F(0)
    for (v, w), (x, y) in itertools.product(SKEWED.atoms(), repeat=2):
        total += w * y * max((v + x) / 2 - F(6, 5), 0)
    assert SKEWED.profile(2, exp_eps="6/5", direction="forward", rigour=Rigour.EXACT).exact == total


@pytest.mark.parametrize(
    ("values", "weights", "named"),
    [
        ((), (), "atoms"),
        ((F(1),), (F(1, 2), F(1, 2)), "atoms"),
        ((1.0,), (F(1),), "atoms"),
        ((F(1),), (1.0,), "atoms"),
        ((F(0), F(2)), (F(1, 2), F(1, 2)), "values"),
        ((F(-1), F(3)), (F(1, 2), F(1, 2)), "values"),
        ((F(1), F(2)), (F(1), F(0)), "weights"),
        ((F(1), F(1, 2)), (F(1), F(1, 10**9)), "weights"),
        ((F(1) + F(1, 10**9),), (F(1),), "mean"),
    ],
)
def test_what_is_no_ratio_law(values, weights, named):
    with pytest.raises(InputError, match=f"^{named} = "):
        LikelihoodRatio(values, weights)
    assert LikelihoodRatio((F(1),), (F(1),)).chi_square == 0
    assert LikelihoodRatio((Ball(F(1, 2), F(3, 2)),), (F(1),)).active == 1  # it may not be 1


def test_sums_of_any_length_and_of_balls():
    for size in range(9):
        terms = [F(1, j + 1) * (-1) ** j for j in range(size)]
        assert exact_sum(terms) == sum(terms, F(0))
    found = exact_sum([F(1, 2), Ball(F(1), F(2))])
    assert found.lower <= F(3, 2) and found.upper >= F(5, 2) and float(found.upper - found.lower) < 1.001


@pytest.mark.parametrize(
    ("low", "high", "least", "most"), [(-2, 1, 0, 2), (-1, 3, 0, 3), (1, 3, 1, 3), (-3, -1, 1, 3), (0, 2, 0, 2)]
)
def test_absolute_values_of_balls(low, high, least, most):
    found = abs_number(Ball(F(low), F(high)))
    assert abs(found.lower - least) < F(1, 2**60) and abs(found.upper - most) < F(1, 2**60)
    assert found.lower <= least and found.upper >= most
    assert abs_number(F(low)) == abs(low)


def test_shares_are_closed():
    for share in (F(0), F(1), 0, 1, enclose(F(1, 2))):
        check_share("eta", share)
    for share in (F(-1, 10**9), 1 + F(1, 10**9), 0.5):
        with pytest.raises(InputError, match=r"^eta = "):
            check_share("eta", share)


def test_supports_that_are_common_or_not_or_unknown():
    require_common_support(Channel.from_rows([["1", "0"], ["1", "0"]]))
    with pytest.raises(InputError, match="output 1"):
        require_common_support(Channel.from_rows([["1", "0"], ["1/2", "1/2"]]))
    unknown = Ball(F(-1, 10), F(1, 10))
    with pytest.raises(InputError, match=r"output 0 .*certainly"):
        require_common_support(Channel(((unknown, 1 - unknown),) * 2))


def test_a_quotient_by_hand_with_an_output_that_nobody_sends():
    channel = Channel.from_rows([["1/6", "0", "1/3", "1/4", "1/4"], ["1/12", "0", "1/6", "1/2", "1/4"]])
    found = likelihood_quotient(channel, 0, 1)
    found.verify()
    assert found.blocks == ((0, 2), (4,), (3,)) and found.ratios == (F(1, 2), F(1), F(2))
    assert found.masses == (F(1, 2), F(1, 4), F(1, 4))
    assert found.channel.rows == ((F(1, 2), F(1, 4), F(1, 4)), (F(1, 4), F(1, 4), F(1, 2)))
    assert list(found.kernel()) == [((0, F(1, 3)), (2, F(2, 3))), ((4, F(1)),), ((3, F(1)),)]
    assert found.push((1, 0, 20, 300, 4000)) == (21, 4000, 300)
    assert found.law.atoms() == ((F(1, 2), F(1, 2)), (F(1), F(1, 4)), (F(2), F(1, 4)))
    assert likelihood_quotient(channel, 1, 0).ratios == (F(1, 2), F(1), F(2))
    assert likelihood_quotient(FOUR, 2, 0).rows == (FOUR.rows[2], FOUR.rows[0])
    for a, b in ((0, 3), (3, 0), (-1, 0)):
        with pytest.raises(InputError):
            likelihood_quotient(FOUR, a, b)


GOOD = Quotient(((F(1, 2), F(1, 2)), (F(1, 4), F(3, 4))), ((0,), (1,)), (F(1, 2), F(3, 2)))


@pytest.mark.parametrize(
    ("change", "place"),
    [
        ({"blocks": ((0,), (1,), ())}, "ratios"),
        ({"blocks": ((0,), (1, 1))}, "blocks"),
        ({"blocks": ((0,),), "ratios": (F(1, 2),)}, "blocks"),
        ({"ratios": (F(1, 2), F(3, 2), F(2))}, "ratios"),
        ({"ratios": (F(1, 2),)}, "ratios"),
        ({"ratios": (F(1, 2), F(1, 2))}, "ratios"),
        ({"ratios": (F(1, 2), F(3, 2) + F(1, 10**9))}, r"outputs\[1\]"),
        ({"ratios": (F(1, 3), F(3, 2))}, r"outputs\[0\]"),
        ({"blocks": ((0,), (1,), ()), "ratios": (F(1, 2), F(3, 2), F(2))}, r"kernel\[2\]"),
        ({"rows": ((F(1, 2), F(-1, 2), F(1)), (F(1, 4), F(-1, 4), F(3, 2))), "blocks": ((0, 1), (2,))}, "kernel|cert"),
        (
            {
                "rows": ((F(-1, 4), F(3, 4), F(1, 2)), (F(-1, 8), F(3, 8), F(3, 4))),
                "blocks": ((0, 1), (2,)),
            },
            r"kernel\[0\]",
        ),
    ],
)
def test_each_condition_of_a_quotient(change, place):
    GOOD.verify()
    with pytest.raises(CertificateError, match=place):
        dataclasses.replace(GOOD, **change).verify()


def test_quotients_in_balls_are_not_verified():
    ball = Ball(F(1, 2), F(1, 2))
    for change in ({"rows": ((ball, F(1, 2)), GOOD.rows[1])}, {"rows": (GOOD.rows[0], (ball, F(1, 2)))}):
        with pytest.raises(Unsupported, match="balls"):
            dataclasses.replace(GOOD, **change).verify()
    with pytest.raises(Unsupported, match="balls"):
        dataclasses.replace(GOOD, ratios=(ball, F(3, 2))).verify()


X = (K - 2) / K
TOY = ChannelFamily("toy", ((sp.Rational(1, 2), 1 / K), (sp.Integer(1), X), (sp.Rational(3, 2), 1 / K)), True)
LASTING = ChannelFamily("lasting", ((1 / LAM, LAM / (LAM + 1)), (LAM, 1 / (LAM + 1))))


def test_a_family_by_hand():
    assert TOY.chi_square == 1 / (2 * K)
    assert TOY.limit_chi_square == 0 and TOY.kind == "diluting"
    assert TOY.limit_atoms == ((1, 1),)
    assert TOY.size(4).atoms() == ((F(1, 2), F(1, 4)), (F(1), F(1, 2)), (F(3, 2), F(1, 4)))
    assert TOY.size(2).atoms() == ((F(1, 2), F(1, 2)), (F(3, 2), F(1, 2)))
    for k in (0, 1, 3, 4.0):
        with pytest.raises(InputError, match=r"^k = .* even integer"):
            TOY.size(k)
    with pytest.raises(InputError, match=r"^k = "):
        LASTING.at(lam=3).size(1)
    assert LASTING.at(lam=3).size(3).atoms() == ((F(1, 3), F(3, 4)), (F(3), F(1, 4)))
    assert sp.simplify(LASTING.chi_square - (LAM - 1) ** 2 / LAM) == 0 and LASTING.kind == "persistent"
    assert len(LASTING.limit_atoms) == 2
    assert LASTING.at(lam=3).chi_square == sp.Rational(4, 3)


def test_a_diluted_family_by_hand():
    """The point mass at 1 is added to what was there before; a share beyond 1 leaves a negative mass."""
    half = TOY.diluted(sp.Rational(1, 2))
    assert half.size(4).atoms() == ((F(1, 2), F(1, 8)), (F(1), F(3, 4)), (F(3, 2), F(1, 8)))
    assert half.even and half.kind == "diluting"
    assert LASTING.at(lam=3).diluted(1 / K).size(4).atoms() == ((F(1, 3), F(3, 16)), (F(1), F(3, 4)), (F(3), F(1, 16)))
    assert LASTING.at(lam=3).diluted(1).size(2) == LASTING.at(lam=3).size(2)
    with pytest.raises(InputError, match=r"^eta = a negative mass"):
        LASTING.at(lam=3).diluted(sp.Rational(11, 10)).size(2)


def test_families_that_are_not_decided():
    unknown = sp.Symbol("u")
    with pytest.raises(Unsupported, match="not decided"):
        ChannelFamily("unknown", ((unknown, sp.Rational(1, 2)), (2 - unknown, sp.Rational(1, 2)))).kind


def test_named_families_at_small_sizes():
    """k-ary response of four sends the own input with 1/2, each other one with 1/6; half-block has ratios 1/3 and 3."""
    assert families.GRR.at(lam=3).size(4).atoms() == ((F(1, 3), F(1, 2)), (F(1), F(1, 3)), (F(3), F(1, 6)))
    assert families.HALF_BLOCK.at(lam=3).size(4).atoms() == ((F(1, 3), F(3, 4)), (F(3), F(1, 4)))
    with pytest.raises(InputError, match=r"^lam = "):
        families.GRR.at(lam=None)
