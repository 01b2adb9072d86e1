"""Signs of polynomials over fields, their changes, intervals, and programs in lam: against roots known by hand."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
import sympy as sp

from symshuffle.design import smoothed_point_masses
from symshuffle.design.named.weighted import weighted_guessing_problem
from symshuffle.design.parametric import signs, walk
from symshuffle.design.parametric.program import (
    ParametricColumn,
    ParametricProgram,
    bayes_program,
    minimax_program,
    program_of_costs,
)
from symshuffle.design.parametric.signs import (
    enclosure,
    interval_of_signs,
    nearby,
    nonnegative_by_coefficients,
    sign_changes,
    sign_in_field,
)
from symshuffle.errors import CertificateError, InputError, NotDecided
from symshuffle.geometry.groups import cyclic_group, symmetric_group, trivial_group
from symshuffle.lp import Sense
from symshuffle.mechanisms.symbolic import LAM
from symshuffle.numbers import Verdict

F = Fraction
QQ = sp.QQ
ROOT2 = sp.QQ.algebraic_field(sp.sqrt(2))


def over(domain, text: str):
    return domain[LAM].from_sympy(sp.expand(sp.sympify(text, {"x": LAM})))


def test_signs_of_field_elements():
    for domain in (QQ, ROOT2):
        assert [sign_in_field(domain(v), domain) for v in (-3, 0, 5)] == [-1, 0, 1]
    near = ROOT2.from_sympy(sp.sqrt(2) - sp.Rational("1.41421356237309504880168872420969807856967"))
    assert sign_in_field(near, ROOT2) == 1
    assert sign_in_field(-near, ROOT2) == -1
    assert sign_in_field(ROOT2.from_sympy(sp.sqrt(2)) ** 2 - ROOT2(2), ROOT2) == 0


def test_signs_that_balls_do_not_settle(monkeypatch):
    monkeypatch.setattr(signs, "_SIGN_BITS", (16,))
    with pytest.raises(NotDecided, match="16 bits"):
        sign_in_field(ROOT2.from_sympy(sp.sqrt(2) - sp.Rational("1.4142135623730950488016887242096980785696")), ROOT2)


def test_numbers_near_field_elements():
    assert nearby(QQ(3, 7), QQ) == F(3, 7)
    element = ROOT2.from_sympy(3 - 2 * sp.sqrt(2))
    ball = enclosure(element, ROOT2, bits=100)
    assert (3 - ball.upper) ** 2 < 8 < (3 - ball.lower) ** 2
    assert ball.upper - ball.lower < F(1, 2**90)
    assert abs(float(nearby(element, ROOT2)) - (3 - 2 * math.sqrt(2))) < 1e-15
    exact = enclosure(QQ(3, 4), QQ)
    assert exact.lower == exact.upper == F(3, 4)


@pytest.mark.parametrize(
    ("text", "roots"),
    [
        ("(x - 2)*(x - 3)", [2, 3]),
        ("(x - 2)**2*(x - 3)", [3]),
        ("(x - 2)**3", [2]),
        ("(x - 1)*(x + 5)", []),
        ("x**2 - 3", [sp.sqrt(3)]),
        ("-(x**2 - 3)*(x - 7)**2", [sp.sqrt(3)]),
        ("x**2 + 1", []),
        ("7", []),
        ("(x - 1/2)*(x - 5/4)", [sp.Rational(5, 4)]),
    ],
)
def test_where_a_polynomial_changes_its_sign(text, roots):
    assert sign_changes(over(QQ, text), QQ) == roots


def test_changes_over_a_field():
    """x - sqrt 2 changes there; its conjugate x + sqrt 2 does not above 1; 3 - 2 sqrt 2 is below 1."""
    assert sign_changes(over(ROOT2, "x - sqrt(2)"), ROOT2) == [sp.sqrt(2)]
    assert sign_changes(over(ROOT2, "x + sqrt(2)"), ROOT2) == []
    assert sign_changes(over(ROOT2, "(x - 3 + 2*sqrt(2))*(x - 3)"), ROOT2) == [3]
    # The norm of x - 3 - 2 sqrt 2 has the roots 3 +- 2 sqrt 2, of which only 5.83 is one of the polynomial.
    (root,) = sign_changes(over(ROOT2, "x - 3 - 2*sqrt(2)"), ROOT2)
    assert float(root) == pytest.approx(3 + 2 * math.sqrt(2))


@pytest.mark.parametrize("domain", [QQ, ROOT2])
def test_intervals_of_signs(domain):
    rising, falling = over(domain, "x - 2"), over(domain, "5 - x")
    assert interval_of_signs([rising, falling], F(3), domain) == (2, 5)
    assert interval_of_signs([rising], F(3), domain) == (2, sp.oo)
    assert interval_of_signs([falling], F(3), domain) == (1, 5)
    assert interval_of_signs([rising], F(2), domain) == (2, sp.oo)
    assert interval_of_signs([rising], F(19, 10), domain) is None
    assert interval_of_signs([falling], F(51, 10), domain) is None
    assert interval_of_signs([over(domain, "x"), over(domain, "x - 1")], F(3), domain) == (1, sp.oo)
    between = over(domain, "(x - 2)*(x - 3)*(x - 6)*(x - 7)")
    assert interval_of_signs([between, over(domain, "(x - 4)**2")], F(5), domain) == (3, 6)
    # A falling linear factor times a positive one: the leading coefficient is negative.
    assert interval_of_signs([over(domain, "-2*(x - 5)*(x + 3)")], F(3), domain) == (1, 5)


def test_the_nearest_roots_of_several_conditions():
    """Over a field only those that may bind next to the level: of roots 2, 3 below and 6, 7 above 5 the inner ones."""
    polynomials = [over(ROOT2, f"x - {r}") for r in (2, 3)] + [over(ROOT2, f"{r} - x") for r in (6, 7)]
    kept = signs._nearest(polynomials, F(5), ROOT2)
    assert kept == [polynomials[1], polynomials[2]]
    assert signs._nearest([over(ROOT2, "x - 5")], F(5), ROOT2) == [over(ROOT2, "x - 5")]
    assert interval_of_signs(polynomials, F(5), ROOT2) == (3, 6)
    assert signs._nearest([over(ROOT2, "(x**2 + 1)*(x - 3)")], F(5), ROOT2) != []
    assert signs._nearest([over(ROOT2, "x**2 + 1")], F(5), ROOT2) == []


def test_points_between_roots():
    roots = [sp.sqrt(3), sp.Integer(2), sp.Integer(5)]
    points = signs._separators(roots)
    assert 1 < points[0] < roots[0] < points[1] < roots[1] < points[2] < roots[2] < points[3]
    close = [sp.Integer(2), 2 + sp.Rational(1, 10**12)]
    assert close[0] < signs._separators(close)[1] < close[1]
    with pytest.raises(NotDecided):
        signs._separators([sp.Integer(2), 2 + sp.Rational(1, 10**90)])


def test_signs_by_coefficients():
    s, t = sp.symbols("s t", positive=True)
    x, y = sp.symbols("x y")
    region = {x: 1 + s, y: 1 / (1 + t)}

    def decided(text: str):
        return nonnegative_by_coefficients(sp.sympify(text, {"x": x, "y": y}), region, (s, t))

    assert decided("x - y") is Verdict.TRUE
    assert decided("y - x") is Verdict.FALSE
    assert decided("0*x") is Verdict.TRUE
    assert decided("x + y - 2") is Verdict.UNDECIDED  # s - t / (1 + t)
    assert decided("(x - 1)/(y - 1)") is Verdict.FALSE
    assert decided("(1 - x)/(y - 1)") is Verdict.TRUE


def test_a_program_by_hand():
    """Two inputs apart: column {0} costs 2 + 3 lam, entries lam and 1; column {1} half price at twice the scale."""
    columns = (
        ParametricColumn(1, 0, 1, ((QQ(2), QQ(3)),), (F(1), F(0))),
        ParametricColumn(2, 1, 1, ((QQ(1), QQ(1)),), (F(0), F(1)), (QQ(0), QQ(2))),
    )
    program = ParametricProgram(columns, (1, 1))
    assert program.costs == (over(QQ, "2 + 3*x"), over(QQ, "1 + x"))
    assert program.coefficients == ((over(QQ, "x"), over(QQ, "1")), (over(QQ, "2*x"), over(QQ, "2*x**2")))
    assert (program.num_rows, program.rhs, program.largest) == (2, (1, 1), None)
    rational = program.at(F(3))
    assert rational.costs == (11, 4)
    assert rational.columns == (((0, 3), (1, 1)), ((0, 6), (1, 18)))
    assert (rational.senses, rational.rhs, rational.free) == ((Sense.EQ,) * 2, (1, 1), frozenset())
    assert program.polynomial([QQ(5), QQ(0), QQ(-1)]) == over(QQ, "5 - x**2")


def test_a_minimax_program_by_hand():
    """One orbit of inputs, two of parameters: a slack each, and the largest price last, in both rows with -1."""
    column = ParametricColumn(1, 0, 2, ((QQ(1), QQ(2)), (QQ(3), QQ(0))), (F(1, 2),))
    program = ParametricProgram((column,), (2,), QQ, (1, 1))
    assert (program.num_rows, program.rhs, program.largest) == (3, (1, 0, 0), 3)
    assert program.costs == tuple(over(QQ, v) for v in ("0", "0", "0", "1"))
    assert program.coefficients == tuple(
        tuple(over(QQ, v) for v in row)
        for row in (("1/2 + x/2", "1 + 2*x", "3"), ("0", "1", "0"), ("0", "0", "1"), ("0", "-1", "-1"))
    )
    assert program.at(F(2)).free == frozenset({3})
    assert program.at(F(2)).columns[2] == ((2, 1),)


def test_dominated_actions_are_left_out():
    """Costs (1, 1), (0, 3), (2, 2): the last is above the first everywhere; at {0} the second beats the first."""
    program = program_of_costs([[QQ(1), QQ(1)], [QQ(0), QQ(3)], [QQ(2), QQ(2)]], trivial_group(2))
    kept = {(c.subset, c.action): c.prices[0] for c in program.columns}
    # {0}: (outside, inside) = (1, 1), (3, 0); {1}: (1, 1), (0, 3).
    assert kept == {(1, 0): (1, 1), (1, 1): (3, 0), (2, 0): (1, 1), (2, 1): (0, 3)}
    later = program_of_costs([[QQ(2), QQ(2)], [QQ(1), QQ(1)]], trivial_group(2))
    assert {(c.subset, c.action) for c in later.columns} == {(1, 1), (2, 1)}
    twins = program_of_costs([[QQ(1), QQ(1)], [QQ(1), QQ(1)]], trivial_group(2))
    assert {(c.subset, c.action) for c in twins.columns} == {(1, 0), (2, 0)}
    orbits = program_of_costs([[QQ(1), QQ(1), QQ(1)]], cyclic_group(3))
    assert [(c.copies, c.shares) for c in orbits.columns] == [(3, (F(1, 3),)), (3, (F(2, 3),))]
    assert orbits.row_sizes == (3,)


def test_programs_of_problems():
    problem = weighted_guessing_problem([F(1, 2), F(1, 3), F(1, 6)])
    bayes, worst = bayes_program(problem, trivial_group(3)), minimax_program(problem, trivial_group(3))
    assert (bayes.parameter_sizes, worst.parameter_sizes) == ((), (1, 1, 1))
    prices = {c.action: c.prices for c in worst.columns if c.subset == 1}
    # Guess 0 from {0}: right at parameter 0, a price 1 at the parameter 1 whose reading 1 lies outside.
    assert prices[0] == ((0, 0), (1, 0), (1, 0))
    assert prices[1] == ((0, 1), (0, 0), (1, 0))
    one = minimax_program(smoothed_point_masses(3, 1), symmetric_group(3))
    assert one.parameter_sizes == ()


def test_the_walk_over_levels_by_hand():
    """Weighted guessing at (1/2, 1/3, 1/6): the risk 1 - lam P_j / (lam + j - 1) with breaks at 3/2 and 4."""
    found = walk.derive(weighted_guessing_problem([F(1, 2), F(1, 3), F(1, 6)]), trivial_group(3))
    assert found.breakpoints == (sp.Rational(3, 2), 4)
    values = [sp.Rational(1, 2), 1 - 5 * LAM / (6 * (LAM + 1)), 1 - LAM / (LAM + 2)]
    assert [sp.simplify(p.value - v) for p, v in zip(found.pieces, values, strict=True)] == [0, 0, 0]
    assert [(p.lower, p.upper) for p in found.pieces] == [(1, sp.Rational(3, 2)), (sp.Rational(3, 2), 4), (4, sp.oo)]
    assert found.at(F(3, 2)) is found.pieces[0] and found.at(F(151, 100)) is found.pieces[1]
    assert found.at(5) is found.pieces[2]
    for lam in (1, F(1, 2)):
        with pytest.raises(InputError, match="lam"):
            found.at(lam)
    for lam in (F(11, 10), F(2), F(9)):
        piece = found.at(lam)
        basis = piece.basis(lam)
        assert basis.lower <= sp.Rational(str(lam)) <= basis.upper
        assert sum(basis.bound) - basis.value == 0 or sp.simplify(sum(basis.bound) - basis.value) == 0
    with pytest.raises(InputError, match="lam"):
        found.pieces[1].basis(5)
    expression = found.expression()
    for lam in (F(5, 4), F(2), F(9)):
        level = sp.Rational(str(lam))
        assert expression.subs(LAM, level) == found.at(lam).value.subs(LAM, level)
    low, high = found.breakpoints_eps0()
    assert low.lower <= F(math.log(1.5)) + F(1, 10**15) and abs(float(high.midpoint) - math.log(4)) < 1e-15
    assert found.pieces[0].conditions == sum(b.conditions for b in found.pieces[0].bases)
    around = walk.piece_around(found.program, F(2))
    assert (around.lower, around.upper) == (sp.Rational(3, 2), 4)
    # A basis holds at both of its ends, and what is proved has to begin at 1 and to have no gap.
    assert found.pieces[0].basis(F(3, 2)) is found.pieces[0].bases[-1]
    assert found.pieces[2].basis(4) is found.pieces[2].bases[0]
    found.verify()
    for pieces in (found.pieces[1:], found.pieces[:2], (found.pieces[0], found.pieces[2])):
        with pytest.raises(CertificateError, match="nothing is proved"):
            walk.PiecewiseOptimum(pieces, found.program).verify()
    assert walk.PiecewiseOptimum(found.pieces[:1], found.program).expression() == sp.Rational(1, 2)


def test_levels_between_levels():
    assert 2 < walk._between(sp.Integer(2), sp.Integer(3)) < 3
    assert walk._between(sp.sqrt(2), sp.sqrt(2) + sp.Rational(1, 1000)) > 1
    assert walk._between(sp.Integer(4), sp.oo) > 4
    assert math.sqrt(2) < walk._between(sp.sqrt(2), sp.Rational(3, 2)) < 1.5
