"""Ends that are rounded outward: each is taken on its own side, with balls of a few bits beside exact numbers."""

from dataclasses import replace
from fractions import Fraction as F

import pytest
import sympy as sp

from symshuffle import Ball, Bracket, CertificateError, Channel, Exp, Group, InputError, delta, randomizer
from symshuffle.base.choices import Criterion, members
from symshuffle.base.numbers import enclose
from symshuffle.channels.geometry.groups import trivial_group
from symshuffle.design.information.formulas import rational_program
from symshuffle.design.information.measures import chi_square_measure
from symshuffle.design.parametric.homotopy import piece_around, piecewise_optimum
from symshuffle.design.parametric.program import between, program_of_problem
from symshuffle.utility.frontiers.certificate import DualCertificate, _at_most
from symshuffle.utility.frontiers.orbit import subset_orbit
from tests.fewbits import few_bits, just_above, just_below
from tests.soundness.false_certificates import WIDE
from tests.soundness.false_designs import ORDERED
from tests.soundness.false_frontiers import FREE, frontier
from tests.soundness.test_certificates import PROBLEMS

CAPS = [Exp(F(1, 2)), Exp(F(1)), Exp(F(7, 3)), Exp(F(1, 10))]
BITS = pytest.mark.parametrize("bits", [6, 20, _at_most.__kwdefaults__["bits"]])


@BITS
@pytest.mark.parametrize("cap", CAPS, ids=str)
def test_a_law_is_verified_up_to_its_cap_and_not_beyond(cap, bits):
    """A law of one orbit, whose ratio is next to the cap: closer than balls of these bits can tell."""

    def law(ratio):
        orbits = (subset_orbit(5, 1, ratio),)
        return replace(frontier(), trace=WIDE, orbits=orbits, certificate=FREE, lam_cap=cap, budget=F(100))

    with few_bits(bits):
        with pytest.raises(CertificateError) as caught:
            law(just_above(cap, bits)).verify()
        assert caught.value.place == "orbits[0].levels"
        law(enclose(cap, bits).lower).verify()


@BITS
@pytest.mark.parametrize("cap", CAPS, ids=str)
def test_a_line_up_to_a_ratio_covers_no_larger_cap(cap, bits):
    def line(ratio):
        free = DualCertificate(5, F(0), F(1000), ratio)
        return replace(frontier(), trace=WIDE, certificate=free, lam_cap=cap, orbits=(subset_orbit(5, 1, F(1)),))

    with few_bits(bits):
        with pytest.raises(CertificateError) as caught:
            line(just_below(cap, bits)).verify()
        assert caught.value.place == "certificate.lam_cap"
        line(enclose(cap, bits).upper).verify()


def by_one_user(ratio, group):
    """The bound for a group on 3-ary response of ratio 3 and one user, where H is ``(3 - x)/5``."""
    return sum((ratio**j for j in range(group)), start=F(0)) * (3 - ratio) / 5


KRR = randomizer("krr").at(k=3, lam=3)


@pytest.mark.parametrize("group", [2, 3])
def test_a_root_is_rounded_down(group):
    """The bound of a group is that at a ratio of at most the root: it falls beyond 9/4, and is below 1."""
    above = 0
    for step in range(60):
        target = (F(5, 2) + F(step, 130)) ** group + F(1, 97)
        low, high = F(1), F(3)
        while high - low > F(1, 2**120):
            middle = (low + high) / 2
            low, high = (middle, high) if middle**group <= target else (low, middle)
        found = delta(KRR, n=group, min_batch_size=1, group_size=group, exp_eps=target).bracket
        assert by_one_user(high, group) <= found.upper < by_one_user(high, group) + F(1, 10**12)
        above += F(float(target) ** (1 / group)) ** group > target
    assert above > 5  # roots in doubles that are too large


@pytest.mark.parametrize("bits", [4, 12, 128])
@pytest.mark.parametrize("group", [2, 3])
def test_what_is_revealed_of_a_group_is_rounded_outward(group, bits):
    """An output that reveals the input, with probability 1/1000 whatever the level: once for each of the group."""
    revealing = randomizer("erasure").at(k=3, p="999/1000")
    for eps in (F(1, 2), F(1), F(5)):
        with few_bits(bits):
            found = delta(revealing, n=group, min_batch_size=1, group_size=group, eps=eps).bracket
        assert found.lower <= F(group, 1000) <= found.upper


def test_what_is_revealed_for_certain_is_at_its_upper_end():
    """Rows whose two last outputs reveal, each with a probability that is only known between 1/10 and 1/4."""
    p = Ball(F(1, 10), F(1, 4))
    source = Channel.from_rows([[F(1, 2), F(1, 8), F(3, 8) - p, p, 0], [F(1, 8), F(1, 2), F(3, 8) - p, 0, p]])
    for n in (1, 2):
        truth = delta(
            source.from_rows([["1/2", "1/8", "1/8", "1/4", 0], ["1/8", "1/2", "1/8", 0, "1/4"]]), n=n, exp_eps=3
        )
        assert delta(source, n=n, exp_eps=3).bracket.upper >= truth.bracket.lower


@pytest.mark.parametrize("bits", [8, 128])
def test_the_level_of_a_group_is_rounded_up(bits):
    """To a multiple of 1e-12 that is above the local budget: a smaller one has a smaller bound."""
    other = Group(randomizer("krr").at(k=3, lam=2), 2)
    below = Group(randomizer("krr").at(k=3, lam=enclose(Exp(F(1)), 128).lower), 3)
    truth = delta([below, other], exp_eps=F(3, 2), arithmetic="exact").bracket.lower
    with few_bits(bits):
        group = Group(randomizer("krr").at(k=3, eps0=1), 3)
        assert delta([group, other], exp_eps=F(3, 2), arithmetic="exact").bracket.upper > truth


def several_bases():
    """Programs with a formula that one basis proves on the left, and another one on the right."""
    for name in ("weights", "prior"):
        problem = PROBLEMS[name]
        yield program_of_problem(problem, trivial_group(problem.num_inputs), criterion="minimax")
    for criterion in members(Criterion):
        yield program_of_problem(ORDERED, trivial_group(3), criterion=criterion)
    measure = chi_square_measure((F(3, 7), F(5, 14), F(3, 14)), (F(2, 7), F(1, 7), F(4, 7)))
    yield rational_program(measure, measure.symmetry())


def test_a_piece_around_a_level_is_the_piece_of_the_whole_formula():
    joined = 0
    for program in several_bases():
        for piece in piecewise_optimum(program).pieces:
            joined += len(piece.bases) > 1
            for basis in piece.bases:
                found = piece_around(program, between(basis.lower, basis.upper))
                assert (found.lower, found.upper) == (piece.lower, piece.upper)
                assert sp.simplify(found.value - piece.value) == 0
                found.verify()
    assert joined


def test_a_risk_of_a_wide_trace_has_the_risks_of_both_its_ends():
    def risk(low, high):
        trace = Bracket(F(low), F(high), "ball", "given", "")
        return replace(frontier(), trace=trace).risk_constant("fixed")

    wide = risk("1/4", "1/2")
    assert (wide.lower, wide.upper) == (risk("1/2", "1/2").lower, risk("1/4", "1/4").upper)
    assert wide.lower < wide.upper
    with pytest.raises(InputError):
        risk(0, "1/2")
