"""Edits of frontiers, designs and reductions that `python -m tests.mutants` drew, each with what notices it now."""

from __future__ import annotations

import itertools
from dataclasses import replace
from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import Channel, Exp, InputError, Rigour, mechanism
from symshuffle.accountants import curves, search
from symshuffle.accountants.reduction import reduction
from symshuffle.accountants.search import Point
from symshuffle.accountants.tradeoff_function import tradeoff_curve
from symshuffle.choices import Criterion
from symshuffle.decompositions import composition
from symshuffle.decompositions.counting import ROLES, Cell
from symshuffle.decompositions.expression import parse
from symshuffle.decompositions.rising import slope_in
from symshuffle.decompositions.symbolic import SymbolicDecomposition
from symshuffle.decompositions.tables import root
from symshuffle.design import smoothed_point_masses
from symshuffle.design.decision.exact_programs import exact_compact
from symshuffle.design.information import log_sums
from symshuffle.design.named.symmetric import guessing_risk
from symshuffle.estimation import corner
from symshuffle.frontiers.caps import sign_at
from symshuffle.frontiers.equivariant import orbit_slope
from symshuffle.frontiers.frontier import _number, _root_bounds, _tangent_ratio, tangent_slope
from symshuffle.frontiers.subset_family import REAL_SIZES, check_size
from symshuffle.geometry.extremal import mask, members
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import enclose
from symshuffle.results import Bracket

F = Fraction


def test_others_may_hold_the_null_symbol_and_every_input():
    channel = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    reduced = reduction(channel, null=["1/3", "1/3", "1/3"])
    assert [len(pair.datasets) for pair in reduced.classes] == [3, 3]


@pytest.mark.parametrize("roles", ROLES.values())
def test_roles_name_as_many_inputs_as_there_are(roles):
    assert set(roles) == set(range(len(set(roles))))


@pytest.mark.parametrize("inputs", [(), (0,), (1, 3), (0, 2, 5)])
def test_members_of_a_subset(inputs):
    assert members(mask(inputs)) == inputs


@pytest.mark.parametrize(("m", "lam"), [(3, F(2)), (4, F(3))])
def test_the_compact_program_solves_the_minimax_problem(m, lam):
    problem = smoothed_point_masses(m, F(1, 5))
    rows, _, prior = exact_compact(problem, lam, criterion=Criterion.MINIMAX)
    risks = [
        sum(problem.loss[t][a] * sum(p * r for p, r in zip(model, row, strict=True)) for a, row in enumerate(rows))
        for t, model in enumerate(problem.model)
    ]
    least = min(F(str(guessing_risk(m, k, sp.Rational(1, 5), sp.Rational(str(lam))))) for k in range(1, m))
    assert max(risks) == least
    assert all(sum(row[x] for row in rows) == 1 for x in range(m))
    assert sum(prior) == 1
    assert min(prior) >= 0


def test_a_tangent_of_the_singleton_curve_where_its_slope_is_passed():
    for k, cap in itertools.product((3, 5), (F(5), F(100))):
        steep, flat = (_number(tangent_slope(), k, x) for x in (_root_bounds(k)[1], cap))
        slope = (steep + flat) / 2
        found = _tangent_ratio(k, slope, cap)
        assert found is not None
        assert abs(_number(tangent_slope(), k, found) - slope) < F(1, 10**20)
        assert _tangent_ratio(k, steep * 2, cap) is None
        assert _tangent_ratio(k, flat / 2, cap) is None


@pytest.mark.parametrize("template", [(F(2), F(1), F(0)), (F(1),) * 3])
def test_no_slope_without_signal_or_with_an_infinite_budget(template):
    with pytest.raises(InputError, match="positive coordinates"):
        orbit_slope(template)


@pytest.mark.parametrize("off", [1, -1])
def test_signs_at_irrational_caps_however_close(off):
    near = enclose(Exp(F(1)), 600).midpoint + F(off, 10**150)
    assert sign_at(LAM - sp.Rational(near.numerator, near.denominator), Exp(F(1))) == -off


def test_roots_of_a_budget_in_exponents():
    assert root(Exp(F(3)), 2) == Exp(F(3, 2))
    assert root(F(8), 3) == 2


def test_the_sizes_that_formulas_assume_are_those_between_1_and_k_less_1():
    values = {sp.Symbol(name, nonnegative=True): value for name, value in (("c", F(1, 3)), ("u", 4), ("w", 2))}
    lam, s, k = (REAL_SIZES[symbol].subs(values) for symbol in (LAM, S, K))
    assert lam > 1
    assert 1 < s < k - 1
    least = {symbol: value.subs(dict.fromkeys(values, 0)) for symbol, value in REAL_SIZES.items()}
    assert least == {LAM: 1, S: 1, K: 2}
    for size in (0, 5):
        with pytest.raises(InputError):
            check_size(5, size)
    check_size(5, 4)


def test_a_rational_part_beside_logarithms_counts_once():
    """1 - log(2) is positive, 0.6 - log(2) and log(2) - 0.8 are not; twice the rational part would be, or not."""

    def condition(*parts):
        return dict(zip((None, (0, F(2))), map(log_sums.RING.from_sympy, map(sp.Integer, parts)), strict=True))

    for rational, log, positive in [(F(1), F(-1), True), (F(3, 5), F(-1), False), (F(-3, 5), F(1), True)]:
        scaled = [int(5 * x) for x in (rational, log)]
        assert log_sums.positive_between([condition(*scaled)], 64)(F(3), F(3)) == positive


@pytest.mark.parametrize("k", [2.5, F(5, 2), True, 1, "x"])
def test_the_number_of_inputs_of_a_corner_is_an_integer(k):
    with pytest.raises(InputError, match="at least 2"):
        corner._check(k, F(1), 10)


def test_names_of_classes_are_found_inside_of_compositions():
    part = parse("joint(joint(half-block(k=4,d=1),rr),rr)")
    nested = [way for way in composition.patterns(part) if isinstance(way[0], tuple) and way[0][0]]
    assert nested
    assert all(any("half" in name for name in composition.named_classes(part, way)) for way in nested)


def test_weights_that_grow_at_rate_1_are_part_of_the_slope():
    d, zero, quarter = sp.Symbol("d"), sp.Integer(0), sp.Rational(1, 4)
    cells = Cell.of(2 * d, zero, d), Cell.of(quarter - 2 * d, quarter - 2 * d, quarter - 2 * d), Cell.of(zero, 2 * d, d)
    slope = slope_in(SymbolicDecomposition(mechanism("krr"), cells, 3 * quarter), d)
    assert slope is not None
    assert [rate for _, rate in slope.atoms] == [1, -2, 1]


@pytest.mark.parametrize("finest", [0, 2, 40])
def test_steps_away_from_an_undecided_integer_are_integers(finest):
    """A value that cannot be told from the goal within ``finest`` of the crossing at 1000."""
    asked = []

    def value(x, width):
        asked.append(x)
        wide = F(1, 2) if abs(x - 1000) <= finest else F(0)
        return Bracket(F(1000 - x) - wide * 10**6, F(1000 - x) + wide * 10**6 + F(1, 4), Rigour.BALL, "", "")

    found = search.narrow_integers(value, F(1, 2), 1e-3, Point(F(0), value(F(0), 1)), Point(F(4096), value(F(4096), 1)))
    assert all(x.denominator == 1 for x in asked)
    assert found.above < 1000 <= found.meets + finest
    assert found.meets - found.above <= max(1, 4 * finest + 4)


def test_a_curve_is_as_rigorous_as_its_weakest_point(monkeypatch):
    plain, seen = curves.bound_of, []

    def mixed(*given, **named):
        found = plain(*given, **named)
        seen.append(found)
        return replace(found, rigour=Rigour.FLOAT64) if len(seen) == 2 else found

    monkeypatch.setattr(curves, "bound_of", mixed)
    curve = tradeoff_curve(mechanism("rr").at(eps0=1), n=5, alphas=["1/10"], levels=4, rigour=Rigour.BALL)
    assert all(point.y.rigour is Rigour.FLOAT64 for point in curve.points)


def test_the_first_of_many_pair_classes_has_real_datasets():
    """Of more than four the others are given by their bound alone."""
    classes = reduction(mechanism("half-block").at(k=12, lam=3)).classes
    assert len(classes) > 4
    assert [bool(one.datasets) for one in classes] == [True] + [False] * (len(classes) - 1)
