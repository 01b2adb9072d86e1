"""The bound of a reduction at one level: which laws are evaluated how finely, and which end is taken from where."""

import math
from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle import Bracket, Channel, InputError, Rigour, Unsupported
from symshuffle.accountants import bounds
from symshuffle.accountants.bounds import (
    bound_at,
    bounds_nothing_from,
    first_guess,
    limit_variance,
    ratio_of,
    reached_at,
    reveals,
    smallest_eps,
)
from symshuffle.accountants.covered import Datasets, PairClass, Reduction
from symshuffle.accountants.evaluate import Request, evaluate
from symshuffle.accountants.participation import EVERYBODY, Participation
from symshuffle.accountants.reduction import reduction
from symshuffle.choices import Direction
from symshuffle.law import Law
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.numbers import Exp
from symshuffle.shuffled import shuffled_divergence

F = Fraction
X = F(6, 5)
RR = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
REVEALS = Channel.from_rows([["1/4", "0", "3/4"], ["0", "1/4", "3/4"]])
LAWS = [Law((F(-1), F(1, k)), (F(1, 2), F(1, 2))) for k in range(1, 6)]
EXACT = Request.of(rigour="exact")


def given(low, high, engine="none", aimed=None):
    return Bracket(F(low), F(high), Rigour.FLOAT64, engine, "given", aimed)


def always(law):
    return lambda exp_eps, direction, bits: law


@pytest.fixture
def looks(monkeypatch):
    """Every evaluation, with the width asked for; the value of the k-th law is 1/k, as wide as asked."""
    seen = []

    def value(law, n, request):
        seen.append((law, request.rel))
        top = law.values[1]
        return given(top * (1 - F(request.rel) / 2), top * (1 + F(request.rel) / 2), str(top))

    monkeypatch.setattr(bounds, "evaluate", value)
    return seen


def test_the_largest_of_some_numbers_from_both_sides():
    above = [given(1, 4, "one"), given(2, 3, "two")]
    assert bounds._largest(above) == given(2, 4, "one")
    assert bounds._largest(above, [given(F(1, 2), 9), given(F(3, 4), 1)]) == given(F(3, 4), 4, "one")
    assert bounds._largest([given(1, 4, "one", 1e-6)]).aimed == 1e-6


def test_a_wide_look_tells_which_of_many_laws_are_worth_a_fine_one(looks):
    found = bounds._of_finite([*LAWS[:3], LAWS[0]], 5, Request.of(rel=1e-6))
    assert looks == [(law, 1e-2) for law in LAWS[:3]] + [(LAWS[0], 1e-6)]
    assert len(found) == 1 and found[0].engine == "1"


def test_few_laws_and_wide_or_named_questions_have_no_first_look(looks):
    assert len(bounds._of_finite(LAWS[:2], 5, Request.of(rel=1e-6))) == 2
    assert len(bounds._of_finite(LAWS[:3], 5, Request.of(rel=1e-2))) == 3
    assert len(bounds._of_finite(LAWS[:3], 5, EXACT)) == 3
    assert [rel for _, rel in looks] == [1e-6] * 2 + [1e-2] * 3 + [1e-6] * 3
    del looks[:]
    bounds._of_finite(LAWS[:3], 5, Request.of(rel=9e-3))
    assert [rel for _, rel in looks] == [1e-2] * 3 + [9e-3]


def test_laws_that_touch_the_leading_one_stay(monkeypatch):
    """Brackets [1, 2], [0, 1] and [0, 1 - 1/100]: the second may be the largest, the third may not."""
    ends = dict(zip(LAWS, [(1, 2), (0, 1), (0, F(99, 100))], strict=False))
    seen = []
    monkeypatch.setattr(bounds, "evaluate", lambda law, n, request: seen.append(law) or given(*ends[law]))
    assert len(bounds._of_finite(LAWS[:3], 5, Request.of(rel=1e-6))) == 2
    assert seen == [*LAWS[:3], *LAWS[:2]]


def test_both_sides_are_evaluated_by_tens_until_their_distance_shows(looks):
    """Above 1, below 1/2: the first width is enough; above and below alike, the width asked for is reached."""
    apart = Reduction((PairClass("some", always(LAWS[0]), inner=always(LAWS[1])),))
    found = bound_at(apart, 5, X, Request.of(rel=1e-6))
    assert {rel for _, rel in looks} == {1e-3}
    assert (found.lower, found.upper) == (F(1, 2) * (1 - F(1e-3) / 2), 1 + F(1e-3) / 2)
    del looks[:]
    alike = Reduction((PairClass("some", always(LAWS[0]), inner=always(LAWS[0])),))
    assert bound_at(alike, 5, X, Request.of(rel=2e-6)).width < F(2.1e-6)
    assert [rel for _, rel in looks][::2] == pytest.approx([1e-3, 1e-4, 1e-5, 2e-6])
    del looks[:]
    bound_at(alike, 5, X, Request.of(rel=0.1))
    assert {rel for _, rel in looks} == {0.1}


def test_laws_in_doubles_serve_where_doubles_do(looks):
    """The law in doubles is the second; it is taken unless more is asked for, or eps is 0, or a look was too wide."""
    found = Reduction((PairClass("some", always(LAWS[0]), doubles=always(LAWS[1])),))
    for order, request, expected in (
        (X, Request(), "1/2"),
        (F(1), Request(), "1"),
        (X, Request.of(bits=100), "1"),
        (X, Request.of(rigour="ball"), "1"),
    ):
        assert bound_at(found, 5, order, request).engine == expected
    assert bound_at(replace(found, classes=(PairClass("some", always(LAWS[0])),)), 5, X, Request()).engine == "1"


def test_a_bracket_that_missed_its_width_is_made_again_unless_no_double_tells_it_from_0(monkeypatch):
    found = Reduction((PairClass("some", always(LAWS[0]), doubles=always(LAWS[1])),))
    least = F(1, 1 << 1074)
    for high, expected in ((F(1), "1"), (least, "1"), (least / 2, "1/2")):
        monkeypatch.setattr(
            bounds, "evaluate", lambda law, n, request, high=high: given(0, high, str(law.values[1]), request.rel)
        )
        assert bound_at(found, 5, X, Request()).engine == expected


def test_the_bound_is_the_largest_over_classes_and_orders():
    """Three inputs by enumeration in rationals: every real pair is below, and one user reaches it."""
    channel = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]])
    values = [shuffled_divergence(channel, (a,), (b,), X) for a in range(3) for b in range(3) if a != b]
    assert bound_at(reduction(channel), 1, X, EXACT).exact == max(values)


def test_a_group_needs_both_orders():
    several = reduction(RR, group=2)
    with pytest.raises(InputError, match=r"direction.*both, for a group"):
        bound_at(several, 5, X, Request.of("forward"))
    assert bound_at(several, 5, F(4), EXACT).lower == 3 * bound_at(reduction(RR), 5, F(2), EXACT).lower
    assert bound_at(reduction(RR, min_users=3), 9, X, Request.of("forward")).upper > 0


def alone(law, who=EVERYBODY):
    """Two real datasets by themselves."""
    return Datasets(str, law).alone(Reduction((PairClass("some", law),), participation=who))


def test_what_real_datasets_reach_in_the_worst_direction():
    way = {Direction.FORWARD: LAWS[1], Direction.REVERSE: LAWS[0]}
    real = alone(lambda x, direction, bits: way[direction])
    values = [evaluate(law, 3, EXACT).lower for law in LAWS[:2]]
    assert values[0] > values[1]
    assert reached_at(real, 3, X, EXACT, approached=False) == values[0]
    assert reached_at(real, 3, X, Request.of("forward", rigour="exact"), approached=False) == values[1]
    some = alone(lambda x, direction, bits: way[direction], Participation(None, F(1, 4), 5))
    mean = sum(
        weight * evaluate(LAWS[0], m, EXACT).lower for m, weight in ((1, F(1, 16)), (2, F(6, 16)), (3, F(9, 16)))
    )
    assert reached_at(some, 3, X, EXACT, approached=False) == mean


def test_an_approached_law_of_datasets_is_looked_at_coarsely(looks):
    real = alone(always(LAWS[0]))
    reached_at(real, 3, X, Request(), approached=True)
    reached_at(real, 3, X, Request(), approached=False)
    reached_at(real, 3, X, Request.of(rel=0.1), approached=True)
    assert [rel for _, rel in looks] == [1e-3, 1e-6, 0.1]


def test_laws_with_a_density_are_left_where_finite_ones_do(monkeypatch):
    """Exact answers need finite laws; a refusal stands only where there are none."""
    asked = []

    def refuse(law, n, request):
        asked.append(law)
        raise Unsupported("no")

    monkeypatch.setattr(bounds, "evaluate", refuse)
    take = bounds._of_mixed
    assert take([always("mixed")], 3, X, EXACT, alone=False) == [] == asked
    assert take([always("mixed")], 3, X, Request(), alone=False) == [] and asked == ["mixed"]
    with pytest.raises(Unsupported, match="no"):
        take([always("mixed")], 3, X, Request(), alone=True)
    with pytest.raises(Unsupported, match="no"):
        take([always("mixed")], 3, X, EXACT, alone=True)
    monkeypatch.setattr(bounds, "evaluate", lambda law, n, request: given(0, 1, law))
    assert [one.engine for one in take([always("mixed"), always("k")], 3, X, Request(), alone=False)] == ["mixed", "k"]


def test_the_variance_at_level_0_is_the_largest():
    """Values 1/k and -1 at equal weights: (1 + 1/k)**2 / 4."""
    both = Reduction((PairClass("a", always(LAWS[1])), PairClass("b", always(LAWS[0]))))
    assert limit_variance(both, "both") == pytest.approx(1.0)
    assert limit_variance(replace(both, classes=both.classes[:1]), "forward") == pytest.approx(9 / 16)

    def none(*_):
        raise Unsupported("no law")

    assert limit_variance(Reduction((PairClass("a", none),)), "both") is None
    assert limit_variance(Reduction((PairClass("a", None, mixed=none),)), "both") is None
    assert reveals(Reduction((PairClass("a", none),)), "both") is False
    assert reveals(reduction(REVEALS), "both") and not reveals(reduction(RR), "both")


def test_where_the_gaussians_of_the_limit_have_a_target():
    """Of distance mu = sqrt(2/8): at the level found the profile of two Gaussians is the target, by erfc."""

    def profile(eps, mu):
        def tail(z):
            return math.erfc(z / math.sqrt(2)) / 2

        return tail(eps / mu - mu / 2) - math.exp(eps) * tail(eps / mu + mu / 2)

    eps = bounds._gaussian_level(reduction(RR), 8, F(1, 100), Request().direction)
    assert profile(eps, 0.5) == pytest.approx(0.01, rel=1e-3)
    chain = bounds._gaussian_level(reduction(RR, group=2), 8, F(1, 100), Request().direction)
    assert profile(chain / 2, 0.5) == pytest.approx(0.005, rel=1e-3)
    few = bounds._gaussian_level(reduction(RR, min_users=2), 8, F(1, 100), Request().direction)
    assert profile(few, 1.0) == pytest.approx(0.01, rel=1e-3)
    nothing = Reduction((PairClass("a", always(Law((F(0),), (F(1),)))),))
    assert bounds._gaussian_level(nothing, 8, F(1, 100), Request().direction) is None


def test_ratios_of_levels():
    assert ratio_of(F(0)) == 1 and isinstance(ratio_of(F(0)), Fraction)
    assert ratio_of(F(1, 2)) == Exp(F(1, 2))


def test_a_guess_is_for_densities_alone(monkeypatch):
    assert first_guess(reduction(RR), 8, F(1, 100), Request()) is None
    seen = []

    def at(source, n, order, request):
        seen.append((n, order, request.rel))
        return given(0, F(1, 5))

    monkeypatch.setattr(bounds, "bound_at", at)
    monkeypatch.setattr(bounds, "mills_guess", lambda at_zero, target: (at_zero, target))
    dense = Reduction((PairClass("a", None, mixed=always("m")),))
    assert first_guess(dense, 8, F(1, 100), Request()) == (F(1, 5), F(1, 100))
    assert seen == [(8, 1, 1e-2)]


def test_from_which_level_on_nothing_is_bounded():
    """Randomized response at 3/4 has likelihood ratios up to 3, and erasure reveals at any level."""
    request = Request()
    assert bounds_nothing_from(reduction(RR), F(3), request)
    assert not bounds_nothing_from(reduction(RR), F(299, 100), request)
    assert not bounds_nothing_from(reduction(REVEALS), F(10**6), request)
    falling = Law((F(-1),), (F(1),), F(1, 9))
    assert not bounds_nothing_from(Reduction((PairClass("a", always(falling)),)), F(9), request)
    assert bounds_nothing_from(Reduction((PairClass("a", always(replace(falling, singular=F(0)))),)), F(9), request)
    laplace = reduction(Laplace(F(3)))
    only = replace(laplace, classes=(PairClass("a", None, mixed=laplace.mixed[0]),))
    assert bounds_nothing_from(only, F(3), request) and not bounds_nothing_from(only, F(29, 10), request)
    assert not bounds_nothing_from(Reduction((PairClass("a", None),)), F(9), request)


@pytest.mark.parametrize("options", [{}, {"group": 2}])
def test_the_smallest_level_has_the_target_between_its_ends(options):
    source, target = reduction(RR, **options), F(1, 10)
    found = smallest_eps(source, 6, target, Request.of(rel=1e-4))
    exact = [bound_at(source, 6, Exp(eps), Request.of(rigour="ball")) for eps in (found.above, found.meets)]
    assert exact[0].upper > target >= exact[1].lower
    assert 0 < found.meets - found.above <= F(1.01e-4) * found.meets
    assert smallest_eps(source, 6, target, Request.of(rel=1e-4), near=F(3)).meets == pytest.approx(
        found.meets, rel=1e-3
    )


def test_a_target_above_all_of_a_local_bound_is_met_at_once():
    """One user has total variation 1/2."""
    assert smallest_eps(reduction(RR), 1, F(1, 2), Request()).meets == 0
    assert smallest_eps(reduction(RR), 1, F(499, 1000), Request()).meets > 0
