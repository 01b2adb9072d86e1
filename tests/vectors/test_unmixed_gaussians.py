"""The Gaussian without a blanket of its own beyond the line: narrow brackets, against finite laws and other lines."""

from dataclasses import replace
from fractions import Fraction

from symshuffle import Exp, delta
from symshuffle.engines.densities import bromwich_plan
from symshuffle.engines.densities.doubling import two_sided
from symshuffle.vectors import LocalGaussian
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import worst_pair

F = Fraction


def bound(noise, dimension, n, eps, **given):
    pair = worst_pair(LocalGaussian(noise, dimension), blanket="largest", exp_eps=Exp(F(eps)))
    return pair, pair_delta(pair, n, Exp(F(eps)), **given)


def test_brackets_are_narrow_in_many_dimensions():
    _, found = bound("4.6", 1000, 10**6, "0.0015")
    assert found.aimed is None and 0 < found.relative_width < 1e-8


def test_they_lie_between_the_values_of_two_finite_laws():
    """Cells of every class of lengths: one law below in convex order and one above."""
    pair, found = bound(5, 30, 200, "0.1")
    law = pair.law(Exp(F("0.1")), tail=F(1, 10**14))
    cells = two_sided(law, 200, cells=400)
    assert cells.lower < found.lower and found.upper < cells.upper
    assert found.relative_width < 1e-6
    assert cells.upper < cells.lower * F(3, 2)


def test_another_line_and_balls_say_the_same(monkeypatch):
    asked = delta(LocalGaussian(3, 10), n=10**4, eps="0.0224", attained=True)
    assert asked.attained.lower < asked.bracket.lower  # of a real pair
    _, sure = bound(3, 10, 10**4, "0.0224", arithmetic="ball", rtol=1e-12)
    plain = bromwich_plan.choose

    def moved(*given):
        plan = plain(*given)
        return replace(plan, c=0.8 * plan.c, step=0.7 * plan.step)

    monkeypatch.setattr(bromwich_plan, "choose", moved)
    _, other = bound(3, 10, 10**4, "0.0224")
    assert sure.arithmetic == "ball" and sure.relative_width < 1e-12
    for one in (asked.bracket, other):
        assert one.lower < sure.lower and sure.upper < one.upper


def test_more_noise_and_fewer_coordinates_reveal_less():
    values = [bound(noise, d, 10**5, "0.0071")[1] for noise, d in (("3.2", 2), (3, 2), (3, 100))]
    assert all(one.aimed is None and one.relative_width < 1e-8 for one in values)
    assert values[0].upper < values[1].lower and values[1].upper < values[2].lower
