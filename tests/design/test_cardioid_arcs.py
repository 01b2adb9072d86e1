"""Cardioid designs against a search through all subsets and all directions, in doubles and in the field of cosines."""

from __future__ import annotations

import cmath
import math
from fractions import Fraction

import pytest

from symshuffle.design.named import cardioid_formula
from symshuffle.design.named.cardioid import cardioid_program, cosine, cosine_field, grid_suffices
from symshuffle.design.named.cardioid_formula import cardioid_design, cardioid_tie
from symshuffle.errors import InputError, Unsupported
from symshuffle.numbers import Exp
from symshuffle.results import Rigour


def by_subsets(m: int, gamma: float, lam: float) -> tuple[float, set[int]]:
    """The smallest risk, and the sizes that attain it: the best action points along the sum of the readings."""
    points = [cmath.exp(2j * math.pi * x / m) for x in range(m)]
    best: dict[int, float] = {}
    for subset in range(1, (1 << m) - 1):
        inside = [points[x] for x in range(m) if subset >> x & 1]
        s = len(inside)
        best[s] = max(best.get(s, 0.0), (lam - 1) * abs(sum(inside)) / (s * lam + m - s))
    top = max(best.values())
    return 1 - gamma / 2 * top, {s for s, gain in best.items() if gain > top - 1e-12}


@pytest.mark.parametrize("m", [3, 4, 5, 6, 7, 8])
@pytest.mark.parametrize("lam", [Fraction(11, 10), Fraction(3), Fraction(17), Fraction(18), Fraction(90)])
def test_the_design_is_the_best_of_all_subsets(m, lam):
    found = cardioid_design(m, Fraction(2, 3), lam)
    risk, sizes = by_subsets(m, 2 / 3, float(lam))
    assert float(found.bracket.lower) == pytest.approx(risk, abs=1e-13)
    assert set(found.sizes) == sizes
    assert (found.m, found.gamma, found.lam) == (m, Fraction(2, 3), lam)
    assert found.bracket.aimed is None
    assert found.bracket.rigour is Rigour.BALL
    assert found.to_dict()["sizes"] == list(found.sizes)


@pytest.mark.parametrize("rel", [1e-3, 1e-30, 1e-60, 1e-120, 1e-250])
def test_every_width_that_is_asked_for_is_met_around_the_value(rel):
    """For three readings a single one earns 1, so that the risk is rational: 1 - gamma/2 (lam - 1)/(lam + 2)."""
    value = 1 - Fraction(1, 2) * Fraction(2, 5)
    bracket = cardioid_design(3, 1, 3, rel=rel).bracket
    assert bracket.lower <= value <= bracket.upper
    assert bracket.upper - bracket.lower <= Fraction(rel) * bracket.upper
    assert bracket.aimed is None


def test_an_exponential_level_has_the_design_of_a_rational_one_beside_it():
    found = cardioid_design(5, 1, Exp(Fraction(2)))
    near, sizes = by_subsets(5, 1, math.exp(2))
    assert float(found.bracket.upper) == pytest.approx(near, abs=1e-13)
    assert set(found.sizes) == sizes
    assert found.lam == Exp(Fraction(2))


def test_ties_by_hand():
    """Arcs of 6 earn 1, sqrt 3, 2, ...; of 4 earn 1, sqrt 2, 1: insert them into the definition."""
    r3, r2 = math.sqrt(3), math.sqrt(2)
    assert float(cardioid_tie(6, 1).midpoint) == pytest.approx((5 * r3 - 4) / (2 - r3), rel=1e-14)
    assert float(cardioid_tie(6, 2).midpoint) == pytest.approx((8 - 3 * r3) / (3 * r3 - 4), rel=1e-14)
    assert float(cardioid_tie(4, 1).midpoint) == pytest.approx((3 * r2 - 2) / (2 - r2), rel=1e-14)
    assert float(cardioid_tie(4, 2).midpoint) == pytest.approx((2 - r2) / (3 * r2 - 2), rel=1e-14)
    assert cardioid_tie(3, 1).lower <= 1 <= cardioid_tie(3, 1).upper


@pytest.mark.parametrize(("m", "s"), [(6, 1), (6, 2), (7, 1), (9, 3)])
def test_beside_a_tie_one_length_wins(m, s):
    tie = cardioid_tie(m, s).midpoint
    assert cardioid_design(m, 1, tie + Fraction(1, 10**9)).sizes == (s,)
    assert cardioid_design(m, 1, tie - Fraction(1, 10**9)).sizes == (s + 1,)


@pytest.mark.parametrize("m", [3, 5, 7])
def test_arcs_that_earn_the_same_tie_at_no_privacy_loss_only(m):
    """Complements earn the same, so the two masses have to agree: s lam + m - s = (s+1) lam + m - s - 1 at lam = 1."""
    s = m // 2
    assert cardioid_formula._is_tie(m, s, Fraction(1))
    assert not cardioid_formula._is_tie(m, s, Fraction(2))
    assert not cardioid_formula._is_tie(m, s, Fraction(1, 2))
    assert cardioid_formula._compare(m, s, Fraction(11, 10)) == 1


def test_lengths_that_balls_do_not_part_are_refused_or_tie(monkeypatch):
    """With a made-up tie at 7 a level of 7 lies in every ball: only algebra may call it one."""
    import flint

    monkeypatch.setattr(cardioid_formula, "_tie", lambda m, s: flint.arb(7, 1e-3))
    with pytest.raises(cardioid_formula.NotDecided, match="lengths 1 and 2 of m = 6"):
        cardioid_formula._compare(6, 1, Fraction(7))
    with pytest.raises(cardioid_formula.NotDecided):
        cardioid_formula._compare(6, 1, Exp(Fraction(1945910149, 10**9)))
    monkeypatch.setattr(cardioid_formula, "_is_tie", lambda m, s, lam: s == 2)
    assert cardioid_formula._compare(6, 2, Fraction(7)) == 0
    assert cardioid_formula._compare(6, 2, Fraction(8)) == 1
    assert cardioid_formula._compare(6, 2, Fraction(6)) == -1


@pytest.mark.parametrize("tied", range(1, 6))
def test_bisection_finds_the_first_length_or_the_tie(monkeypatch, tied):
    """Lengths below a number are worse than the next one, lengths above better; at it they tie, or are better."""
    monkeypatch.setattr(cardioid_formula, "_compare", lambda m, s, lam: (s > tied) - (s < tied))
    assert cardioid_formula._best_sizes(7, Fraction(2)) == (tied, tied + 1)
    monkeypatch.setattr(cardioid_formula, "_compare", lambda m, s, lam: 1 if s >= tied else -1)
    assert cardioid_formula._best_sizes(7, Fraction(2)) == (tied,)
    monkeypatch.setattr(cardioid_formula, "_compare", lambda m, s, lam: -1)
    assert cardioid_formula._best_sizes(7, Fraction(2)) == (6,)


def test_who_is_refused_and_who_just_is_not():
    for gamma in (0, Fraction(11, 10), 0.5, -1):
        with pytest.raises(InputError, match=r"gamma = .*rational in \(0, 1\]"):
            cardioid_design(5, gamma, 3)
    for lam in (1, Fraction(1, 2), 1.5):
        with pytest.raises(InputError, match="lam"):
            cardioid_design(5, 1, lam)
    for m in (2, 10**15 + 1):
        with pytest.raises(InputError, match="m = "):
            cardioid_design(m, 1, 3)
        with pytest.raises(InputError, match="m = "):
            cardioid_tie(m, 1)
    for s in (0, 4):
        with pytest.raises(InputError, match="s = "):
            cardioid_tie(5, s)
    assert cardioid_tie(5, 3).upper < 1
    for rel in (0, 1):
        with pytest.raises(InputError, match="rel"):
            cardioid_design(5, 1, 3, rel=rel)
    assert cardioid_design(5, 1, 1 + Fraction(1, 10**9)).sizes == (2,)
    assert len(cardioid_design(10**15, 1, 3).sizes) == 1


def test_next_to_one_complements_are_told_apart_without_balls():
    """Their tie is 1 itself, which no ball of 2048 bits parts from 1 + 10^-700."""
    assert cardioid_design(5, 1, 1 + Fraction(1, 10**700)).sizes == (2,)


@pytest.mark.parametrize("m", [3, 4, 5, 6, 7])
def test_cosines_in_the_field_are_the_cosines(m):
    field = cosine_field(m)
    assert field.is_QQ is (m == 3)
    for j in range(-2 * m, 4 * m):
        value = complex(field.to_sympy(cosine(j, m, field)).evalf(20))
        assert value == pytest.approx(math.cos(math.pi * j / m), abs=1e-12)


@pytest.mark.parametrize("m", [3, 4, 5])
def test_the_program_has_the_optimum_of_all_subsets(m):
    """One orbit of inputs: the optimum is the smallest price over coefficient of a column."""
    gamma = Fraction(3, 4)
    program = cardioid_program(m, gamma)
    for lam in (2, 7, 40):
        rational = program.at(Fraction(lam))
        ratios = [float(c) / float(e[0][1]) for c, e in zip(rational.costs, rational.columns, strict=True)]
        assert min(ratios) == pytest.approx(by_subsets(m, 0.75, lam)[0], abs=1e-12)
    assert program.row_sizes == (m,)


def test_prices_are_the_costs_that_define_the_model():
    """A column of one high reading x answered by a costs (sum of h) + (lam - 1) h_a(x), all h by the definition."""
    m, gamma = 4, Fraction(1)
    program = cardioid_program(m, gamma)
    singles = [c for c in program.columns if c.subset.bit_count() == 1]
    assert singles
    for column in singles:
        action, place = column.action, column.subset.bit_length() - 1
        h = [(1 - 0.5 * math.cos(2 * math.pi * x / m - math.pi * action / m)) / m for x in range(m)]
        low, slope = (float(program.domain.to_sympy(v).evalf(20)) for v in column.prices[0])
        assert (low, slope) == pytest.approx((sum(h) - h[place], h[place]), abs=1e-12)


def test_the_program_refuses_what_it_must():
    with pytest.raises(InputError, match="m = 2"):
        cardioid_program(2, Fraction(1))
    with pytest.raises(Unsupported, match="m = 15"):
        cardioid_program(15, Fraction(1))
    for gamma in (Fraction(0), Fraction(101, 100)):
        with pytest.raises(InputError, match="gamma"):
            cardioid_program(3, gamma)
    assert cardioid_program(3, Fraction(1)).columns


@pytest.mark.parametrize("m", [3, 4, 5, 6])
def test_the_sum_of_the_best_subset_points_along_the_grid(m):
    assert grid_suffices(m)
