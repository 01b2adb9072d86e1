"""Sums of few terms that are not 0, taken out of Bromwich's integral, and transforms in closed form beside the rule."""

# No public door shows one term alone, so that private names are called and set here.
import itertools
import math
from dataclasses import replace
from fractions import Fraction as F

import flint
import pytest

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, Exp, working_precision
from symshuffle.channels.continuous_law import ContinuousLaw, Piece
from symshuffle.engines.densities import bromwich, bromwich_plan
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.vectors.privacy.pairs import worst_pair
from symshuffle.vectors.randomizers.mechanisms import SphereLinear

STEEP = SphereLinear("0.89826", 4)
FEW = 150


def law_of(mechanism, adjacency="replace-one", *, back=False, eps=1):
    pair = worst_pair(mechanism, adjacency=adjacency)
    return (pair.reverse if back else pair).law(Exp(F(eps)), tail=F(1, 10**30), bits=192)


@pytest.fixture(scope="module")
def steep():
    return law_of(STEEP)


def test_a_transform_of_other_pieces_is_refused():
    """As that of a smaller slope beside the blanket of a larger one, whose mass is smaller."""
    pair, other = (worst_pair(SphereLinear(c, 3), adjacency="zero-out") for c in ("1/4", "1/2"))
    stretch = replace(pair.stretches[0], reference=other.stretches[0].reference)
    with pytest.raises(InputError, match="transform"):
        replace(pair, stretches=(stretch,)).law(Exp(F(1)), tail=F(1, 10**30))
    assert replace(pair, stretches=(stretch,), transforms=None).law(Exp(F(1)), tail=F(1, 10**30)).transform is None


@pytest.mark.parametrize("dimension", [2, 3, 4, 9])
@pytest.mark.parametrize(("adjacency", "back"), [("replace-one", False), ("zero-out", False), ("zero-out", True)])
def test_the_closed_form_is_the_integral_of_the_pieces(dimension, adjacency, back):
    law = law_of(SphereLinear("0.4", dimension), adjacency, back=back)
    with working_precision(128):
        for s in (flint.acb("0.3"), flint.acb("0.2", "2.5"), flint.acb("0.1", "-17")):
            known = law.transform(s)
            taken = sum(
                (p.integral(lambda u, p=p, s=s: (s * p.value(u)).exp()) for p in law.pieces), start=flint.acb(0)
            )
            assert known.overlaps(taken) and known.rad() < 1e-30 and taken.rad() < 1e-25
            assert law.mirrored.transform(-s).overlaps(known)


def test_a_transform_is_known_to_the_precision_asked_for_at_all_heights(steep):
    """Where the series cancels too: by a quarter of the way to where it is no longer summed it is e^160 too large."""
    with working_precision(160):
        for height in (1, 3, 6, 9, 12, 40, 1000):
            assert steep.transform(flint.acb("0.1", height)).rad() < 2.0**-140


@pytest.mark.parametrize("dimension", [2, 3, 4, 9])
@pytest.mark.parametrize("side", [1, -1])
def test_the_bound_at_all_heights_is_above_the_transform_and_near_to_it(dimension, side):
    law = law_of(SphereLinear("0.7", dimension), "zero-out")
    c = flint.arb(side) / 4
    for height in (1, 5, 30):
        bound = law.transform_bound(c, flint.arb(height))
        above = [float(abs(law.transform(flint.acb(c, height * (1 + k / 50)))).mid()) for k in range(150)]
        assert max(above) < float(bound)
        assert height < 5 or float(bound) < 2 * max(above)
        assert law.mirrored.transform_bound(-c, flint.arb(height)).overlaps(bound)


def test_the_mean_of_the_positive_part_is_an_integral(steep):
    """G = g0 + g1 x on the sphere of dimension 4, where x has the density 2/pi sqrt(1 - x^2)."""
    gamma, e = 1 - 0.89826, math.e
    g0, g1 = (1 - e) / gamma, 0.89826 * (1 + e) / gamma
    x = -g0 / g1
    mass = (math.acos(x) - x * math.sqrt(1 - x * x)) / math.pi
    moment = 2 / (3 * math.pi) * (1 - x * x) ** 1.5
    with working_precision(128):
        found = steep.positive_mean
    assert float(found) == pytest.approx(gamma * (g0 * mass + g1 * moment), rel=1e-9)
    assert found.rad() < 1e-20


def test_a_positive_part_of_unknown_sign_is_between_nothing_and_all():
    def nothing(u):
        return u * 0 + flint.arb(0, 1e-3)

    law = ContinuousLaw((Piece(F(0), F(2), nothing, lambda u: u * 0 + 1),), Ball.from_arb(flint.arb(0)))
    found = law.positive_mean
    assert found.lower() <= 0 and 2e-3 <= float(found.upper()) < 2.1e-3


@pytest.mark.parametrize("kept", [True, False])
def test_sums_of_one_term_are_needed(steep, monkeypatch, kept):
    """With the closed form and without, with sums of one term taken out and in, the brackets are of one number."""
    found = bromwich_bracket(steep, FEW, 1e-7)
    if kept:
        monkeypatch.setattr(bromwich, "_worth", lambda *_: False)
    else:
        monkeypatch.setattr(ContinuousLaw, "positive_mean", flint.arb(0))
    other = bromwich_bracket(steep, FEW, 1e-5)
    assert other.relative_width < 1e-5
    assert (found.lower <= other.upper and other.lower <= found.upper) == kept


def test_the_sum_without_single_terms_in_doubles_is_that_in_balls_within_its_allowance(steep):
    with working_precision(192):
        law = replace(steep, transform=None)
        plan, seen = bromwich_plan.plan_for(law, 20, 1e-3)
        line = replace(bromwich.BromwichLine.of(seen, 20, plan), error=flint.arb(0), nodes=40)
        assert line.least == 2 and line.single > 1
        total, allowance = line.sum_in_doubles()
        sure, nothing = line.sum_in_balls()
        weight = line.step / flint.arb.pi()
        assert nothing == 0 and abs(total - sure) * weight < allowance < abs(sure) * weight * 1e-8


@pytest.mark.parametrize(("n", "zero", "share"), [(2, 0.3, 0.7), (3, 0.5, 0.1), (150, 0.94, 0.01), (150, 0.9, 0.1)])
@pytest.mark.parametrize("least", [1, 2])
def test_the_bound_on_terms_of_some_degree(n, zero, share, least):
    """Against the terms themselves; it is attained by two users, and by one term that is next to nothing."""
    terms = sum(math.comb(n, k) * zero ** (n - k) * share**k for k in range(least, n + 1))
    bound = float(bromwich._several(n, least, flint.arb(zero), flint.arb(share)))
    assert terms <= bound * (1 + 1e-12)
    small = 1e-9
    near = float(bromwich._several(n, least, flint.arb(zero), flint.arb(small)))
    assert near == pytest.approx(math.comb(n, least) * zero ** (n - least) * small**least, rel=1e-5)


@pytest.mark.parametrize("dropped", ["bound", "nothing"])
def test_the_closed_bound_at_all_heights_is_needed(steep, monkeypatch, dropped):
    """From a height that is far too low on, with the nodes before it: only the bound keeps the bracket true."""
    sure = bromwich_bracket(steep, FEW, 1e-7)

    def low(law, n, plan, c, size, atom, least):
        bound = law.transform_bound(c, flint.arb(1))
        return (flint.arb(0) if dropped == "bound" else bound), 1.0

    monkeypatch.setattr(bromwich, "_height", low)
    found = bromwich_bracket(steep, FEW, 1e-7)
    assert (found.lower <= sure.upper and sure.lower <= found.upper) == (dropped == "nothing")


def test_stretches_without_sums_of_one_term_are_bounded(steep):
    """The bound on a stretch is above each of its nodes, whichever of its two forms is the smaller."""
    with working_precision(160):
        plan, seen = bromwich_plan.plan_for(steep, FEW, 1e-4)
        line = bromwich.BromwichLine.of(seen, FEW, plan)
        for first, last in itertools.pairwise((2, 3, 10, 40)):
            bound, truth = line._stretches(first, last), flint.arb(0)
            for index in range(first, last + 1):
                s = flint.acb(line.c, line.step * index)
                ratio = line.ratio(s.imag)
                share = ratio - line.zero
                truth += abs((ratio**FEW - line.zero**FEW - line.single * share) / s**2)
            assert truth < bound


def test_a_transform_on_a_ball_holds_its_values_there():
    """At the ends of wide arguments, where the middle alone is far off; at eps = 0 no other factor is wide."""
    law = law_of(STEEP, eps=0)
    with working_precision(128):
        for middle, radius in ((flint.arb(3), 0.01), (flint.arb(40), 0.05)):
            wide = law.transform(flint.acb(flint.arb("0.1"), middle + flint.arb(0, radius)))
            for end in (middle - radius, middle + radius):
                assert wide.contains(law.transform(flint.acb(flint.arb("0.1"), end)))


def test_an_error_of_the_share_counts_in_both_of_its_powers(steep):
    """Where both push one way a share that is off by e moves a node by e times ``n |r|^(n-1) + n p^(n-1)``."""
    off = flint.arb("1e-9")
    with working_precision(128):
        plan, seen = bromwich_plan.plan_for(replace(steep, transform=None), 20, 1e-3)
        line = replace(bromwich.BromwichLine.of(seen, 20, plan), error=flint.arb(0), nodes=20)
        more = replace(line, error=off).sum_in_doubles()[1] - line.sum_in_doubles()[1]
        least = flint.arb(0)
        for index in range(21):
            t = line.step * index
            least += (20 * abs(line.ratio(t)) ** 19 + line.single) / (line.c**2 + t**2)
        assert least * off * line.step / flint.arb.pi() < more
