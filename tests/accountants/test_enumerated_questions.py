"""All questions about several reports of few users enumerate them as ``delta`` does, and say what was used."""

from concurrent.futures import ThreadPoolExecutor
from fractions import Fraction

import pytest

from symshuffle import Unsupported, delta, epsilon, profile, smallest_n
from symshuffle.accountants import amplification_curve

RR = [["3/4", "1/4"], ["1/4", "3/4"]]
FEW = {"reports": 2, "direction": "forward"}


def test_a_curve_has_the_values_of_single_answers():
    levels = [0, "0.1", "1/2"]
    with ThreadPoolExecutor(1) as pool:
        for executor in (None, pool):
            found = profile(RR, n=3, eps=levels, **FEW, executor=executor)
            single = [delta(RR, n=3, eps=level, **FEW) for level in levels]
            assert [point.y for point in found.points] == [one.bracket for one in single]
            assert found.neighbours == single[0].neighbours
    several = profile(RR, n=200, eps=["0.1"], reports=2, rtol=0.1)
    assert several.points[0].y.engine != "enumeration"


def test_a_curve_of_given_datasets_has_the_values_of_single_answers():
    found = profile(RR, datasets=([0, 0], [0, 1]), eps=[0, "0.1"])
    assert [point.y for point in found.points] == [
        delta(RR, datasets=([0, 0], [0, 1]), eps=level).bracket for level in (0, "0.1")
    ]


def test_eps_along_users_has_the_values_of_single_answers():
    found = amplification_curve(RR, delta="1/10", users=[2, 4], **FEW)
    assert [point.y for point in found.points] == [
        epsilon(RR, n=n, delta="1/10", arithmetic="float64", **FEW).bracket for n in (2, 4)
    ]


@pytest.mark.parametrize("colluding", [None, 2, "10%"])
@pytest.mark.parametrize(
    ("level", "goal"), [({"eps": "1/2"}, "1/10"), ({"exp_eps": "3/2"}, "1/8"), ({"eps": 2}, "0.5")]
)
def test_the_fewest_users_are_those_of_single_answers(colluding, level, goal):
    found = smallest_n(RR, **level, delta=goal, colluding=colluding, **FEW)
    n, least = int(found.safe_end), {None: 1, 2: 3, "10%": 2}[colluding]

    def single(n):
        return delta(RR, n=n, **level, colluding=colluding, **FEW).bracket

    assert (
        single(n) == found.delta_at_ends[0]
        and found.delta_at_ends[0].upper <= Fraction(goal)
        and found.neighbours.users is None
    )
    assert found.bracket.lower == (n - 1 if n > least else 0)
    assert n == least or single(n - 1).lower > Fraction(goal)


def test_a_logarithm_is_not_exact():
    exact = {"arithmetic": "exact", "reports": 2}
    with pytest.raises(Unsupported, match="arithmetic='ball'"):
        epsilon(RR, n=2, delta="1/10", **exact)
    for question in (
        {"n": 2, "delta": "9/10", **exact},
        {"datasets": ([0], [0]), "delta": "1/10", "arithmetic": "exact"},
    ):
        assert epsilon(RR, **question).bracket.exact == 0
