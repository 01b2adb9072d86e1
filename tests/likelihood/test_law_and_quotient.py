"""Ratio laws and quotients: exact level sets, sufficiency that can fail, and errors that say where."""

from fractions import Fraction as F

import pytest

from symshuffle import Channel, InputError, randomizer
from symshuffle.base.numbers import exact_sum
from symshuffle.channels.shuffled import law_divergence, shuffled_law
from symshuffle.utility import GRR, HALF_BLOCK, LikelihoodRatio, likelihood_quotient, ratio_law, worst_curve
from symshuffle.utility.likelihood.extremes import endpoint_ratio
from symshuffle.utility.likelihood.law import require_common_support

TIED = Channel.from_rows([["1/6", "1/3", "1/4", "1/4"], ["1/12", "1/6", "1/2", "1/4"]])


def test_outputs_of_equal_ratio_are_one_block():
    quotient = likelihood_quotient(TIED, 0, 1)
    assert quotient.blocks == ((0, 1), (3,), (2,))
    assert quotient.ratios == (F(1, 2), F(1), F(2))
    quotient.verify()
    assert quotient.law == LikelihoodRatio.of(TIED, 0, 1)
    assert sorted(quotient.law.atoms()) == sorted(ratio_law(TIED, 1, 0).atoms())


def test_level_sets_are_never_rounded():
    tiny = F(1, 10**9)
    two = Channel(((tiny, tiny, 1 - 2 * tiny), (2 * tiny, (2 + tiny) * tiny, 1 - 4 * tiny - tiny * tiny)))
    assert len(likelihood_quotient(two, 0, 1).blocks) == 3
    with pytest.raises(InputError, match="doubles"):
        likelihood_quotient(Channel(((0.5, 0.5), (0.25, 0.75))), 0, 1)


def test_balls_stay_apart_and_mechanisms_merge_exactly():
    krr = randomizer("krr").at(k=5, eps0=1)
    assert len(likelihood_quotient(krr.channel(), 0, 1).blocks) == 5
    assert len(LikelihoodRatio.of_mechanism(krr).values) == 3


def test_different_support_names_the_output():
    channel = Channel.from_rows([["1/2", "1/2", "0"], ["1/2", "1/4", "1/4"]])
    for call in (
        lambda: likelihood_quotient(channel, 0, 1),
        lambda: LikelihoodRatio.of(channel, 0, 1),
        lambda: require_common_support(channel),
    ):
        with pytest.raises(InputError, match="output 2"):
            call()


def test_exact_sums():
    terms = [F(1, j) for j in range(1, 60)]
    assert exact_sum(terms) == sum(terms)
    assert exact_sum([]) == 0


@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_law_and_whole_histograms_agree(n):
    law = LikelihoodRatio.of(TIED, 0, 1)
    constant, other = shuffled_law(TIED, (0,) * n), shuffled_law(TIED, (1,) + (0,) * (n - 1))
    for order in (F(1), F(5, 4), F(7, 4)):
        both = {"forward": law_divergence(other, constant, order), "reverse": law_divergence(constant, other, order)}
        for way, value in both.items():
            assert law.profile(n, exp_eps=order, direction=way, arithmetic="exact").exact == value
        assert law.profile(n, exp_eps=order, arithmetic="exact").exact == max(both.values())


def test_large_populations_go_through_the_engines():
    law = LikelihoodRatio.of_mechanism(randomizer("krr").at(k=10**9, lam=3))
    assert 0 < law.profile(10**12, eps="1/10000000000").upper < 1e-4


def test_reversal_is_an_involution():
    law = LikelihoodRatio.of(TIED, 0, 1)
    assert law.reverse() == LikelihoodRatio.of(TIED, 1, 0)
    assert law.reverse().reverse() == law


@pytest.mark.parametrize(
    ("atoms", "named"),
    [
        ([(F(1, 2), F(1, 2)), (F(2), F(1, 2))], "mean"),
        ([(F(1), F(1, 2))], "weights"),
        ([(0.5, F(1, 2)), (1.5, F(1, 2))], "atoms"),
        ([(F(0), F(1, 2)), (F(2), F(1, 2))], "values"),
    ],
)
def test_what_is_no_ratio_law_is_refused(atoms, named):
    with pytest.raises(InputError, match=named):
        LikelihoodRatio.from_atoms(atoms)


@pytest.mark.parametrize("eta", [F(-1, 100), F(101, 100), 1.5])
def test_dilution_weights_outside_the_unit_interval_are_refused(eta):
    with pytest.raises(InputError, match="eta"):
        endpoint_ratio(F(2)).dilute(eta)


def test_families_refuse_what_their_channels_refuse():
    for call, said in (
        (lambda: HALF_BLOCK.at(lam=2).size(5), "^k = 5: expected an even integer"),
        (lambda: GRR.at(lam=2).diluted(2).size(4), r"^eta = .*\[0, 1\]"),
        (lambda: GRR.at(lam=1), "^lam = 1: expected .*> 1"),
    ):
        with pytest.raises(InputError, match=said):
            call()


def test_a_chi_square_below_the_range_of_doubles_is_refused_by_name():
    with pytest.raises(InputError, match="chi_square"):
        worst_curve("1e-400", 3, lam=8, exp_eps=1, direction="forward")
    assert worst_curve(0, 3, lam=8, exp_eps=1, direction="forward").bracket.upper == 0
