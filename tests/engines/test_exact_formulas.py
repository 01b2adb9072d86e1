"""The three roads of the exact engine against all n-tuples of atoms, and where each of them ends."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction as F

import flint
import pytest

from symshuffle.engines import exact
from symshuffle.engines.exact import Exact, enumerate_ball
from symshuffle.errors import Unsupported
from symshuffle.law import Law
from symshuffle.numbers import Ball, working_precision
from symshuffle.results import Rigour

THIRDS = Law((F(2, 3), F(-1), F(0)), (F(1, 4), F(1, 2), F(1, 4)), F(1, 7))
RISING = Law((F(5, 2), F(1, 2)), (F(2, 5), F(3, 5)))
NEVER = (F(-1), F(0))


def by_tuples(law, n):
    """H(n) over all ways to draw n atoms."""
    total = F(0)
    for drawn in itertools.product(law.atoms(), repeat=n):
        total += math.prod((w for _, w in drawn), start=F(1)) * max(sum(v for v, _ in drawn), F(0))
    return total / n + law.singular


@pytest.mark.parametrize("law", [THIRDS, RISING])
@pytest.mark.parametrize("n", [1, 2, 3, 5])
def test_every_road_is_the_sum_over_all_tuples(law, n):
    truth = by_tuples(law, n)
    lattice, counted = Exact().bracket(law, n), Exact(largest_power=0).bracket(law, n)
    assert (lattice.lower, lattice.upper, lattice.rigour) == (truth, truth, Rigour.EXACT)
    assert (counted.lower, counted.upper, counted.rigour) == (truth, truth, Rigour.EXACT)
    assert "polynomial" in lattice.how and "rationals" in counted.how
    balls = Law(tuple(Ball(v, v) for v in law.values), tuple(Ball(w, w) for w in law.weights), law.singular)
    found = Exact().bracket(balls, n)
    assert found.rigour is Rigour.BALL and found.lower <= truth <= found.upper and found.width < F(1, 10**30)
    seen = enumerate_ball(law, n, bits=100)
    assert seen.lower <= truth <= seen.upper and seen.upper - seen.lower < F(1, 2**90)


def test_the_lattice_of_a_law():
    """In units of 1/6: -6, 0 and 4 are even, so that the step is 2; weights over 4."""
    lattice = exact._Lattice.of(Law((F(2, 3), F(-1), F(0)), (F(1, 4), F(1, 2), F(1, 4))))
    assert (lattice.unit, lattice.scale) == (3, 4)  # values 2, -3, 0 over 3
    assert (lattice.origin, lattice.step, lattice.places, lattice.masses) == (-3, 1, (5, 0, 3), (1, 2, 1))
    coarse = exact._Lattice.of(Law((F(5, 2), F(1, 2), F(-7, 2)), (F(1, 2), F(1, 3), F(1, 6))))
    assert (coarse.unit, coarse.origin, coarse.step, coarse.places) == (2, -7, 4, (3, 2, 0))
    assert (coarse.scale, coarse.masses, coarse.span) == (6, (3, 2, 1), 3)
    assert exact._Lattice.of(Law((F(3),), (F(1),))).step == 1
    assert coarse.size(5) == 5 * (5 * 3 + 1) * 3  # 6 has three bits
    assert exact._Lattice.of(Law((F(3),), (F(1),))).size(4) == 4


@pytest.mark.parametrize("values", [(F(-3), F(2)), (F(1), F(3)), (F(-5), F(-1)), (F(-4), F(4))])
def test_the_positive_part_counts_from_the_first_place_above_zero(values):
    law = Law(values, (F(1, 3), F(2, 3)))
    for n in (1, 2, 3):
        assert exact._Lattice.of(law).positive_part(n) == n * by_tuples(law, n)


def test_the_rational_road_ends_where_its_power_is_too_long():
    size = exact._Lattice.of(THIRDS).size(4)
    assert "polynomial" in Exact(largest_power=size).bracket(THIRDS, 4).how
    assert "count vectors" in Exact(largest_power=size - 1).bracket(THIRDS, 4).how
    assert Exact(largest_power=size, largest_count=0).refusal(THIRDS, 4) is None
    assert Exact(largest_power=size - 1, largest_count=0).refusal(THIRDS, 4) is not None


def test_the_road_over_counts_ends_where_they_are_too_many(monkeypatch):
    """15 ways to write 4 as a sum of 3 counts."""
    assert Exact(largest_power=0, largest_count=15).refusal(THIRDS, 4) is None
    assert Exact(largest_power=0, largest_count=14).refusal(THIRDS, 4) is not None
    monkeypatch.setattr(exact, "_MOST_COUNTS", 12)
    assert Exact(largest_power=0).refusal(THIRDS, 4) is not None
    monkeypatch.setattr(exact, "_MOST_COUNTS", 13)
    assert Exact(largest_power=0).refusal(THIRDS, 4) is None
    with pytest.raises(Unsupported, match="engine exact at n = 4"):
        Exact(largest_power=0, largest_count=14).bracket(THIRDS, 4)


def test_a_law_of_doubles_is_refused():
    assert Exact().refusal(Law((1.0, -1.0), (0.5, 0.5)), 2) is not None


@pytest.mark.parametrize(("singular", "rigour"), [(F(1, 7), Rigour.EXACT), (Ball(F(1, 8), F(1, 7)), Rigour.BALL)])
def test_what_is_never_positive_is_its_singular_part(singular, rigour):
    found = Exact(largest_power=0, largest_count=0).bracket(Law(NEVER, (F(1, 2), F(1, 2)), singular), 10**9)
    ends = (singular, singular) if isinstance(singular, F) else (F(1, 8), F(1, 7))
    assert (found.lower, found.upper, found.rigour) == (*ends, rigour)


def test_balls_around_zero_have_no_lower_end_below_it():
    around = Ball(F(-1, 10), F(1, 10))
    found = Exact().bracket(Law((around, F(-1)), (F(1, 2), F(1, 2))), 1)
    assert found.lower == 0 and F(1, 20) <= found.upper < F(51, 1000)


def test_offers_are_limited_to_what_is_cheap():
    balls = Law((Ball(F(1), F(1)), F(-1)), (F(1, 2), F(1, 2)))
    assert Exact.offered(THIRDS, Rigour.EXACT, 1e-3) == Exact() and Exact.offered(balls, Rigour.EXACT, 1e-3) is None
    in_balls, quick = (Exact.offered(THIRDS, rigour, 1e-3) for rigour in (Rigour.BALL, None))
    assert in_balls.largest_power == quick.largest_power < Exact().largest_power
    assert quick.largest_count < in_balls.largest_count < Exact().largest_count
    assert Exact.offered(THIRDS, Rigour.FLOAT64, 1e-3) == quick
    assert Exact.aiming(1e-3, 77).bits == 77 and Exact().name == "exact"


def test_counts_and_their_numbers():
    for total, parts in ((0, 1), (0, 3), (4, 1), (5, 3), (3, 4)):
        found = list(exact._compositions(total, parts))
        expected = [c for c in itertools.product(range(total + 1), repeat=parts) if sum(c) == total]
        assert sorted(found) == sorted(expected)
    for counts in ((), (3,), (2, 0, 1), (4, 3, 2, 1)):
        factorials = math.prod(math.factorial(c) for c in counts)
        assert exact._multinomial(counts) == math.factorial(sum(counts)) // factorials
    with working_precision(64):
        assert [int(p.unique_fmpz()) for p in exact._powers(flint.arb(3), 4)] == [1, 3, 9, 27, 81]


def test_sums_over_counts_are_priced_by_their_bits():
    """21 vectors of 5 users, each of 5 times the bits of the common denominator; a price that is met is no refusal."""
    fine = Law((F(1), F(-1, 10007), F(-1, 3)), (F(1, 4), F(1, 4), F(1, 2)))
    price = 21 * 5 * 3
    assert Exact(largest_power=0, largest_sum=price).refusal(fine, 5) is None
    assert "numbers of 15 bits" in Exact(largest_power=0, largest_sum=price - 1).refusal(fine, 5)
    two = Law((F(1, 2), F(-10001, 20003)), (F(1, 2), F(1, 2)))
    cheap = Exact.offered(two, Rigour.BALL, 1e-12)
    assert cheap.refusal(two, 20_000) is None and cheap.refusal(two, 10**5) is not None
    enclosed = Law((Ball(F(1), F(1)), F(-1)), (F(1, 2), F(1, 2)))
    assert Exact(largest_sum=30).refusal(enclosed, 5) is None  # 6 vectors of 5 users
    assert "numbers of 5 bits" in Exact(largest_sum=29).refusal(enclosed, 5)
