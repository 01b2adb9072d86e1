"""Measures of channels, their columns, sums of logarithms and rational formulas, each against its definition."""

from __future__ import annotations

import math
from fractions import Fraction

import flint
import pytest
import sympy as sp

from symshuffle.channel import Channel
from symshuffle.design.information import log_sums, measures
from symshuffle.design.information.columns import (
    check_exchangeable,
    check_homogeneous,
    column_of,
    columns_up_to,
    enclosed,
)
from symshuffle.design.information.maximum import maximise, renyi_divergence
from symshuffle.design.information.measures import Measure
from symshuffle.design.information.rational import rational_program
from symshuffle.design.information.vertices import Reduced, _raised, enclosed_maximum
from symshuffle.errors import InputError, NotDecided, Unsupported
from symshuffle.geometry.groups import SymmetryGroup, symmetric_group
from symshuffle.lp import Sense
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Exp, to_arb, working_precision

F = Fraction
P, Q = [F(1, 2), F(1, 3), F(1, 6)], [F(1, 4), F(1, 4), F(1, 2)]
CHANNEL = Channel.from_rows([["1/2", "1/2", 0], ["1/4", "3/4", 0], ["1/5", "4/5", 0]])
OUT = [[sum(p * CHANNEL.rows[x][y] for x, p in enumerate(law)) for y in range(2)] for law in (P, Q)]


def test_rational_measures_of_a_channel():
    """Both output laws by hand, the divergences by their sums; the null output adds nothing."""
    p, q = OUT
    assert measures.total_variation_measure(P, Q).of(CHANNEL) == sum(abs(a - b) for a, b in zip(p, q, strict=True)) / 2
    for gamma in (F(0), F(1, 2), F(6, 5)):
        expected = sum(max(a - gamma * b, F(0)) for a, b in zip(p, q, strict=True))
        assert measures.hockey_stick_measure(P, Q, gamma).of(CHANNEL) == expected
    assert measures.chi_square_measure(P, Q).of(CHANNEL) == sum((a - b) ** 2 / b for a, b in zip(p, q, strict=True))
    slope = [F(1), F(-1, 2), F(-1, 2)]
    moved = [sum(s * CHANNEL.rows[x][y] for x, s in enumerate(slope)) for y in range(2)]
    assert measures.fisher_information(P, slope).of(CHANNEL) == sum(d**2 / a for d, a in zip(moved, p, strict=True))


def test_irrational_measures_of_a_channel():
    p, q = ([float(v) for v in law] for law in OUT)
    pairs = list(zip(p, q, strict=True))
    expected = {
        measures.kullback_leibler(P, Q): sum(a * math.log(a / b) for a, b in pairs),
        measures.renyi_power(P, Q, F(3)): sum(a**3 * b**-2 for a, b in pairs),
        measures.renyi_power(P, Q, F(3, 2)): sum(a**1.5 * b**-0.5 for a, b in pairs),
        measures.f_divergence(P, Q, lambda t: (t - 1) ** 2): sum((a - b) ** 2 / b for a, b in pairs),
        measures.mutual_information(P): sum(
            float(P[x]) * float(w) * math.log(float(w) / p[y])
            for x, row in enumerate(CHANNEL.rows) for y, w in enumerate(row) if w
        ),
    }  # fmt: skip
    for measure, value in expected.items():
        ball = measure.of(CHANNEL)
        assert float(ball.midpoint) == pytest.approx(value, rel=1e-13)
        assert ball.upper - ball.lower < F(1, 10**35)


@pytest.mark.parametrize("make", [
    measures.kullback_leibler,
    measures.chi_square_measure,
    lambda p, q: measures.hockey_stick_measure(p, q, F(1)),
    lambda p, q: measures.renyi_power(p, q, F(2)),
])  # fmt: skip
def test_laws_that_are_none(make):
    half = [F(1, 2), F(1, 2)]
    make([F(1), F(0)], half)
    for p, q, name in (
        ([F(1, 2), F(1, 3)], half, "P0"), (half, [F(3, 2), F(-1, 2)], "P1"), (half, [F(1), F(0), F(0)], "3 entries"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=name):
            make(p, q)


def test_orders_and_generators_that_are_none():
    for alpha in (F(1), F(1, 2)):
        with pytest.raises(InputError, match="alpha"):
            measures.renyi_power(P, Q, alpha)
    with pytest.raises(InputError, match="gamma"):
        measures.hockey_stick_measure(P, Q, F(-1, 10))
    with pytest.raises(InputError, match="derivative"):
        measures.fisher_information(P, [F(1), F(0), F(0)])
    with pytest.raises(InputError, match="generator"):
        measures.f_divergence(P, Q, lambda t: t)
    with pytest.raises(InputError, match="generator"):
        measures.f_divergence(P, Q, lambda t: 0.0)
    with pytest.raises(InputError, match="2 inputs"):
        measures.kullback_leibler(P, Q).of(CHANNEL.restrict([0, 1]))
    strange = measures.f_divergence(P, Q, lambda t: (t - 1) * (t - 0.99).log())
    with pytest.raises(NotDecided, match="no finite number"):
        strange.of(CHANNEL)  # one of the two ratios is below 0.99


def test_symmetries_are_inputs_with_equal_data():
    p, q = [F(1, 4), F(1, 4), F(1, 2)], [F(1, 3), F(1, 3), F(1, 3)]
    assert measures.chi_square_measure(p, q).symmetry().blocks == ((0, 1), (2,))
    assert measures.mutual_information(q).symmetry().blocks == ((0, 1, 2),)
    assert measures.total_variation_measure(P, Q).symmetry().order() == 1
    unknown = Measure("own", 3, lambda v: F(0), lambda v: flint.arb(0))
    assert unknown.symmetry().order() == 1
    swap = SymmetryGroup(3, ((1, 0, 2),))
    check_exchangeable(measures.chi_square_measure(p, q), swap)
    with pytest.raises(InputError, match=r"generators\[0\] = \[0, 2, 1\].*inputs 1, 2"):
        check_exchangeable(measures.chi_square_measure(p, q), SymmetryGroup(3, ((0, 2, 1),)))
    for measure, group in ((unknown, swap), (measures.chi_square_measure(p, q), symmetric_group(4))):
        with pytest.raises(InputError, match="group"):
            check_exchangeable(measure, group)


def test_columns_and_their_values():
    assert column_of(0b101, 3, F(4)) == (4, 1, 4)
    blocks, singles = columns_up_to(3, None)
    assert blocks == ((0,), (1,), (2,))
    assert [(o.representative, o.size, o.incidences) for o in singles][4] == (5, 1, (1, 0, 1))
    assert len(singles) == 6
    blocks, orbits = columns_up_to(3, symmetric_group(3))
    assert blocks == ((0, 1, 2),)
    assert sorted(o.size for o in orbits) == [3, 3]
    point = enclosed(measures.chi_square_measure(P, Q), (F(4), F(1), F(1)), 64)
    # v.(P - Q) = 3/4 and v.Q = 7/4
    assert point.lower == point.upper == F(9, 28)
    ball = enclosed(measures.kullback_leibler(P, Q), (F(4), F(1), F(1)), 64)
    assert float(ball.midpoint) == pytest.approx(2.5 * math.log(2.5 / 1.75), rel=1e-15)


def test_homogeneity_is_asked_for():
    check_homogeneous(measures.kullback_leibler(P, Q))
    check_homogeneous(measures.chi_square_measure(P, Q))
    for offset in (F(1), F(-1, 1000)):
        shifted = Measure("own", 3, lambda v, o=offset: sum(v) + o, lambda v: flint.arb(0))
        with pytest.raises(InputError, match="phi"):
            check_homogeneous(shifted)
        balls = Measure("own", 3, None, lambda v, o=offset: sum(v) + to_arb(o))
        with pytest.raises(InputError, match="phi"):
            check_homogeneous(balls)
    with pytest.raises(InputError, match="phi"):
        check_homogeneous(Measure("own", 3, lambda v: F(1), lambda v: flint.arb(1)))


def test_the_reduced_program_by_hand():
    """Three exchangeable inputs at lam = 4: singles hold an input in 1 of 3, 1 + 3/3 = 2 per unit; pairs in 2 of 3."""
    measure = measures.mutual_information([F(1, 3)] * 3)
    reduced = Reduced.of(measure, F(4), symmetric_group(3))
    shares = {o.representative.bit_count(): row for o, row in zip(reduced.orbits, reduced.rows, strict=True)}
    assert shares == {1: (2,), 2: (3,)}
    program = reduced.program([F(5), F(7)])
    assert program.costs == (-5, -7)
    assert (program.senses, program.rhs) == ((Sense.EQ,), (1,))
    assert reduced.spread([F(-6)]) == (2, 2, 2)
    assert reduced.weigh([(0, F(1, 2))]) == {reduced.orbits[0].representative: F(1, 6)}


def test_a_raised_vector_is_above_every_column():
    """Excess over the column (3, 1) is 1/2: raised by 1/2 over 2 entries; a vector above all stays."""
    columns = [(F(3), F(1)), (F(1), F(3))]
    gains = [flint.arb(4.5), flint.arb(4)]
    assert _raised((F(1), F(1)), gains, columns) == (F(5, 4), F(5, 4))
    assert _raised((F(2), F(2)), gains, columns) == (F(2), F(2))


def test_a_value_that_is_not_finite_is_named():
    with working_precision(160):
        pole = Measure("own", 3, None, lambda v: 1 / (v[0] - v[0]))
        with pytest.raises(InputError, match="subset 1"):
            enclosed_maximum(pole, Reduced.of(pole, F(2), None), 160)


@pytest.mark.parametrize("lam", [F(2), F(5), Exp(F(1))])
def test_the_largest_divergences_of_two_inputs(lam):
    """Two inputs have one extremal channel, randomized response: P = (3/4, 1/4) against the uniform law."""
    level = float(lam) if isinstance(lam, F) else math.e
    high = (3 * level + 1) / (4 * (level + 1))
    p, q = [F(3, 4), F(1, 4)], [F(1, 2), F(1, 2)]
    tv = maximise(measures.total_variation_measure(p, q), lam).value
    assert float(tv.upper) == pytest.approx(high - 0.5, rel=1e-12)
    kl = maximise(measures.kullback_leibler(p, q), lam).value
    assert kl.lower < kl.upper < kl.lower + F(1, 10**15)  # two ends of balls, never one point
    entropy = high * math.log(2 * high) + (1 - high) * math.log(2 - 2 * high)
    assert float(kl.lower) == pytest.approx(entropy, rel=1e-12)
    power = maximise(measures.renyi_power(p, q, F(3)), lam)
    value = math.log(4 * (high**3 + (1 - high) ** 3)) / 2
    divergence = renyi_divergence(power, F(3))
    assert float(divergence.lower) == pytest.approx(value, rel=1e-12)
    assert divergence.lower < divergence.upper < divergence.lower + F(1, 10**15)


def poly(text: str):
    return log_sums.RING.from_sympy(sp.sympify(text, {"x": LAM}))


def test_logarithms_fall_into_primes_and_monic_linear_forms():
    """log((6x + 3) / (x/2 + 4)) = log 6 + log(x + 1/2) + log 2 - log(x + 8), with 6 = 2 * 3."""
    total = log_sums.log_sum([(poly("x"), poly("6*x + 3"), poly("x/2 + 4"))])
    x = poly("x")
    assert total == {(0, F(2)): 2 * x, (0, F(3)): x, (1, F(1, 2)): x, (1, F(8)): -x}
    assert log_sums.log_sum([(x, poly("4"), poly("2")), (-x, poly("6"), poly("3"))]) == {}
    with working_precision(100):
        value = log_sums.evaluate_sum(total, flint.arb(3))
    assert float(value) == pytest.approx(3 * math.log(21 / 5.5), rel=1e-14)


def test_terms_of_a_column():
    """Of relative entropy at the subset {0}: v.P = 1/2 x + 1/2 and v.Q = 1/4 x + 3/4."""
    (term,) = log_sums.column_terms(measures.kullback_leibler(P, Q).logs, 1)
    assert term == (poly("x/2 + 1/2"), poly("x/2 + 1/2"), poly("x/4 + 3/4"))
    assert log_sums.column_terms(measures.kullback_leibler(P, P).logs, 1) == ()
    # Equal inputs inside a subset have one logarithm together: (1/3 + 1/3) x log(x / (2x/3 + 1/3)).
    merged = log_sums.column_terms(measures.mutual_information([F(1, 3)] * 3).logs, 3)
    assert (poly("2*x/3"), poly("x"), poly("2*x/3 + 1/3")) in merged
    assert len(merged) == 2


def test_factors_of_the_distance_from_one_are_divided_out():
    x = poly("x")
    total = {None: poly("(x - 1)**3 * x"), (0, F(2)): poly("(x - 1)**2 * (x + 1)")}
    assert log_sums.away_from_one(total) == {None: poly("(x - 1)*x"), (0, F(2)): poly("x + 1")}
    assert log_sums.away_from_one({None: x}) == {None: x}
    merged = {None: x}
    log_sums.add_to(merged, {None: x, (0, F(2)): x}, -log_sums.RING.one)
    assert merged == {(0, F(2)): -x}


def test_positivity_on_intervals():
    """2 log x - (x - 1) is positive up to its root 3.51286..., and x^2 - 4 beyond 2."""
    two = log_sums.RING.one * 2
    first = {(1, F(0)): two, None: poly("1 - x")}
    holds = log_sums.positive_between([first], 160)
    assert holds(F(2), F(3)) and holds(F(3), F(3)) and holds(F(351, 100), F(3512, 1000))
    assert not holds(F(3), F(36, 10)) and not holds(F(4), F(5))
    both = log_sums.positive_between([first, {None: poly("x**2 - 4")}], 160)
    assert both(F(21, 10), F(3)) and not both(F(19, 10), F(3))
    constant = log_sums.positive_between([{(0, F(3)): poly("x"), (0, F(2)): poly("-2*x")}], 160)
    assert not constant(F(2), F(3))  # log 3 < 2 log 2
    assert log_sums.positive_between([{(0, F(5)): poly("x"), (0, F(2)): poly("-2*x")}], 160)(F(2), F(3))


def test_series_of_a_logarithm():
    """log(3 + 2 t) = log 3 + 2t/3 - (2t/3)^2/2 + ...: in the value itself, as slope 1 about 3/2 is used."""
    series = log_sums._log_series(1, flint.arb(1.5))
    for k in range(1, 9):
        assert float(series[k]) == pytest.approx((-1) ** (k + 1) / (k * 1.5**k), rel=1e-13)
    assert float(series[0]) == pytest.approx(math.log(1.5), rel=1e-14)
    flat = log_sums._log_series(0, flint.arb(3))
    assert flat.degree() == 0 and float(flat[0]) == pytest.approx(math.log(3), rel=1e-14)


def test_how_far_a_certificate_reaches():
    """Conditions that hold below 7: the end is found to 2^-34 of the level from either side, and never passed."""
    below = lambda first, last: max(first, last) < 7  # noqa: E731
    end = log_sums.reach(below, F(2), F(100))
    assert F(7) - 7 * F(1, 1 << 30) < end < 7
    assert log_sums.reach(below, F(2), F(5)) == 5
    assert log_sums.reach(below, F(5), F(2)) == 2
    above = lambda first, last: min(first, last) > 3  # noqa: E731
    assert 3 < log_sums.reach(above, F(5), F(2)) < F(3) + F(1, 1 << 28)
    assert log_sums.covered(lambda a, b: b - a <= F(1, 8) and b < 7, F(2), F(3))
    assert not log_sums.covered(lambda a, b: b - a <= F(1, 8) and not a <= F(5, 2) <= b, F(2), F(3))
    assert not log_sums.covered(lambda a, b: False, F(2), F(2))


def test_widths_next_to_one():
    """4 (lam - 1) below 4/3, the level beyond; a distance of 1/4 is halved three times to come below 1/20."""
    assert (log_sums.unit_at(F(5)), log_sums.unit_at(F(4, 3)), log_sums.unit_at(F(11, 10))) == (5, F(4, 3), F(2, 5))
    assert log_sums._halvings(F(5, 4)) == log_sums._halvings(F(7)) == 0
    for lam in (F(21, 20), F(9, 8), 1 + F(1, 1000), 1 + F(1, 1 << 20)):
        k = log_sums._halvings(lam)
        assert F(1, 4) / 2**k < lam - 1 <= F(1, 2) / 2**k
        assert log_sums.bits_at(lam) == 160 + 4 * k
        near = log_sums.short_level(lam + F(1, 3**60))
        assert abs(near - lam) <= F(1, 1 << (48 + k))
        assert near.denominator <= 1 << (48 + k)


@pytest.mark.parametrize("measure", [
    measures.hockey_stick_measure(P, Q, F(6, 5)), measures.chi_square_measure(P, Q),
    measures.fisher_information(P, [F(1), F(-1, 2), F(-1, 2)]),
], ids=lambda m: m.name)  # fmt: skip
def test_programs_of_rational_measures_have_the_values_of_their_columns(measure):
    """At lam = 5 cost over scale is minus the measure on the column, entry over scale is 1 or 5."""
    program, lam = rational_program(measure, measure.symmetry()), F(5)
    best: dict[int, Fraction] = {}
    for column, cost, entries in zip(program.columns, program.costs, program.coefficients, strict=True):
        scale = F(str(program.polynomial(column.scale).evaluate(0, sp.QQ(5))))
        assert scale > 0
        price = F(str(cost.evaluate(0, sp.QQ(5)))) / scale
        best[column.subset] = min(price, best.get(column.subset, price))
        seen = [F(str(e.evaluate(0, sp.QQ(5)))) / scale for e in entries]
        assert seen == list(column_of(column.subset, 3, lam))
    assert best == {y: -measure.rational(column_of(y, 3, lam)) for y in range(1, 7)}


def test_null_columns_and_measures_without_a_formula():
    """Where v.P1 vanishes the quotient is 0: no input of {0, 1} has mass under P1 = (0, 0, 1) but all entries are."""
    dead = measures._quotient("own", [F(0)] * 3, [F(0)] * 3)
    for column in rational_program(dead, dead.symmetry()).columns:
        assert (column.prices, column.scale) == (((0, 0, 0),), (1, 0))
    with pytest.raises(Unsupported, match="relative entropy"):
        rational_program(measures.kullback_leibler(P, Q), measures.kullback_leibler(P, Q).symmetry())
    assert measures.chi_square_measure(P, Q).rational((F(0),) * 3) == 0
