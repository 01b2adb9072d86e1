"""What the ledger once said wrongly, or only by halves: each sentence against its own reproducer."""

from fractions import Fraction

from symshuffle import randomizer
from symshuffle.base import Verdict
from symshuffle.channels import shuffled_divergence, worst_shuffled_divergence
from symshuffle.ledger import load
from symshuffle.ledger.claims.run import seeded


def compared(claim, statement=None):
    """Every comparison that the check of a claim makes of a statement; by default of the printed one."""
    return list(claim.check(statement or claim.printed, seeded(claim.id)))


def test_one_constant_background_of_half_block_beats_all_distinct_ones():
    channel = randomizer("half-block").channel(lam=3, k=4)
    heights = [shuffled_divergence(channel, (0, x), (2, x), Fraction(6, 5)) for x in range(4)]
    assert max(heights[1], heights[3]) == Fraction(43, 160)
    assert worst_shuffled_divergence(channel, (0, 2), 2, Fraction(6, 5)) == (Fraction(27, 80), (0,))


def test_every_pair_class_of_half_block_is_looked_at():
    claim = load().claim("decomposition.sec-7")
    found = [c for c in compared(claim) if "half-block" in c.at and "pair (0, 2)" in c.at]
    assert any(c.verdict is Verdict.FALSE for c in found)
    assert "throughout" not in claim.corrected.text


def test_the_printed_tail_fails_where_hoeffding_does_not_reach():
    claim = load().claim("decomposition.sec-5.2-errors")
    lam, exp_eps = Fraction(67, 50), Fraction(653, 500)
    a, b = exp_eps - 1, (lam - 1) * (exp_eps + 1)
    assert 2 * a < b**2 < 4 * a
    (found,) = [c for c in compared(claim) if "(c)" in c.at and "n=60" in c.at and "l=17/100" in c.at]
    assert found.verdict is Verdict.FALSE
    assert "no violation is known" not in claim.words


def test_channels_of_equal_covariance_share_the_estimator():
    claim = load().claim("anchored.rem-5.4")
    assert any("equal covariance" in c.at for c in compared(claim))


def test_the_gaussian_remark_is_also_read_without_a_fixed_law():
    claim = load().claim("anchored.scope-1.4")
    assert any("varies with n" in c.at and c.verdict is Verdict.FALSE for c in compared(claim))
