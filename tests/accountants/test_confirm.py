"""The two routes of the confirmation: against each other, against exact values, and inside certified brackets."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symshuffle import Ball, Exp, InputError, Law, Unsupported, optimal_decomposition, randomizer
from symshuffle.engines import BallContour, Exact
from symshuffle.engines.confirm import recompute, recompute_laplace, sums
from symshuffle.engines.confirm.inversion import _TiltedLine, survey
from symshuffle.engines.confirm.transform import saddle, transform
from tests.slices import some

HALF = Fraction(1, 2)


def law_of(name, order, **parameters):
    return optimal_decomposition(randomizer(name).at(**parameters)).law(order, bits=256)


def agree(one, other):
    return abs(one.exactly - other.exactly) <= Fraction(one.error) + Fraction(other.error)


@pytest.mark.parametrize(
    ("law", "n", "least"),
    [
        (law_of("krr", Fraction(6, 5), k=10, lam=3), 20, 50),
        (law_of("oue", Fraction(2), lam=3), 15, 50),
        (law_of("krr", Exp(Fraction(1, 50)), k=10, eps0=1), 500, 6),
    ],
    ids=["krr lattice", "oue lattice", "krr line"],
)
def test_both_routes_agree(law, n, least):
    sums = recompute(law, n, route="sums")
    inverted = recompute(law, n, route="inversion", least=least)
    assert sums.digits == 50
    assert inverted.digits >= least
    assert agree(sums, inverted)


def drawn_law(rng, atoms):
    """Rational values and weights, the largest value positive."""
    values = {Fraction(int(rng.integers(-30, 31)), int(rng.integers(1, 8))) for _ in range(atoms)} | {Fraction(7, 3)}
    weights = [Fraction(int(rng.integers(1, 21))) for _ in values]
    return Law(tuple(sorted(values)), tuple(w / sum(weights) for w in weights))


@pytest.mark.parametrize("seed", range(24))
def test_sums_of_drawn_laws_have_the_exact_value(seed):
    rng = np.random.default_rng(seed)
    law, n = drawn_law(rng, 1 + seed % 5), int(rng.integers(1, 9 if seed % 5 > 2 else 60))
    found, exact = recompute(law, n, route="sums"), Exact().bracket(law, n).exact
    assert found.digits == 50
    assert abs(found.exactly - exact) <= Fraction(found.error)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("digits", [1, 2, 4])
def test_what_a_sum_leaves_out_is_in_its_error(seed, digits, monkeypatch):
    """No public door asks for a window so narrow that what is left out shows: the guard digits are taken away."""
    monkeypatch.setitem(sums._Window.of.__kwdefaults__, "guard", -digits)
    rng = np.random.default_rng(100 + seed)
    law, n = drawn_law(rng, 3), 60
    read = transform(law, n, digits=digits)
    value, error = sums.by_sums(read, n, digits=digits)
    exact = Exact().bracket(law, n).exact
    gap = abs(read.context.mpf(exact.numerator) / exact.denominator - value)
    assert gap <= error
    assert gap > error / 10**9  # the bound is about what is left out, not about rounding


def test_thousands_of_users_of_krr_have_fifty_digits_by_a_sum():
    order = Exp(Fraction(1, 50))
    law = law_of("krr", order, k=10, eps0=1)
    found = recompute(law, 3_000)
    assert found.digits == 50 and "sum over the counts" in found.route
    assert found.inside(BallContour(rtol=1e-10).bracket(law, 3_000))


@pytest.mark.parametrize("n", [2, 7, 40])
def test_a_lattice_with_an_offset_has_the_exact_value(n):
    """No multiple of the spacing 3/7 is a value; the values of the sum depend on n."""
    law = Law(tuple(map(Fraction, ("5/7", "2/7", "-4/7"))), tuple(map(Fraction, ("1/5", "3/10", "1/2"))))
    exact = Exact().bracket(law, n).exact
    found = recompute(law, n, route="inversion")
    assert found.digits == 50
    assert abs(found.exactly - exact) <= Fraction(found.error)
    assert "one period of the lattice" in found.route


def test_two_irrational_atoms_are_a_lattice():
    both = law_of("rr", Exp(Fraction(1, 50)), eps0=1)
    law = Law((both.values[0], both.values[-1]), (HALF, HALF))
    sums, inverted = (recompute(law, 100, route=route) for route in ("sums", "inversion"))
    assert sums.digits == inverted.digits == 50
    assert agree(sums, inverted)


@pytest.mark.parametrize(
    ("name", "parameters", "n"), [("rr", {}, 10**12), ("krr", {"k": 10}, 10**9), ("krr", {"k": 10}, 10**12)]
)
def test_inside_certified_brackets_and_outside_of_a_perturbed_law(name, parameters, n):
    order = Exp(Fraction(3, round(n**0.5)))
    law = law_of(name, order, eps0=1, **parameters)
    bracket = BallContour(rtol=1e-10).bracket(law, n)
    assert recompute(law, n, least=11).inside(bracket)
    top = max(range(len(law.values)), key=lambda i: float(law.values[i]))
    nudged = tuple(v * (1 + Fraction(1, 10**9)) if i == top else v for i, v in enumerate(law.values))
    assert not recompute(replace(law, values=nudged), n, least=11).inside(bracket)


def test_nearly_a_lattice_has_peaks_far_out():
    """Values 1, 0, -1.02: every multiple of 2 pi is nearly a period; without the peaks the digits are wrong."""
    near = Law((Fraction(1), Fraction(0), Fraction(-51, 50)), (Fraction(1, 4), HALF, Fraction(1, 4)))
    n = 100
    read = transform(near, n, digits=12)
    line = _TiltedLine.at(read, saddle(read.nodes(), n), n)
    found = survey(line, n, digits=12, period=float(read.context.pi / read.lattice))
    for j in range(1, 6):
        assert any(a < 2 * np.pi * j < b for a, b in found.windows[1:])
    sums, inverted = (recompute(near, n, digits=12, route=route) for route in ("sums", "inversion"))
    assert agree(sums, inverted)


def test_bounds_over_boxes_hold():
    read = transform(law_of("oue", Exp(Fraction(1, 50)), eps0=1), 1000, digits=16)
    line = _TiltedLine.at(read, saddle(read.nodes(), 1000), 1000)
    centres = np.linspace(0.5, 300, 700)
    bounds = line.bounds(centres, 0.05)
    for shift in np.linspace(-0.05, 0.05, 9):
        values = np.abs(np.exp(1j * np.multiply.outer(centres + shift, line.values)) @ line.weights) ** 2
        assert (values <= bounds + 1e-12).all()


def test_one_user_of_laplace_noise_has_the_hockey_stick():
    found = recompute_laplace(Exp(Fraction(1)), Exp(Fraction(1, 50)), 1)
    assert float(found.exactly) == pytest.approx(1 - np.exp((0.02 - 1) / 2), rel=1e-14)


@pytest.mark.parametrize(("n", "eps"), some([(1000, "1/50"), (10**9, "1/100000")], 1))
def test_laplace_noise_lies_between_finite_laws(n, eps):
    from symshuffle.mechanisms.continuous import Laplace

    source, order = Laplace(lam=Exp(Fraction(1)), cells=20), Exp(Fraction(eps))
    found = recompute_laplace(source.lam, order, n)
    low, high = (BallContour(rtol=1e-5).bracket(source.law(order, side=side), n) for side in ("lower", "upper"))
    assert low.lower < found.exactly < high.upper
    assert found.digits >= 12


def test_laplace_noise_above_its_level_is_private():
    assert recompute_laplace(Fraction(2), Fraction(3), 10).value == "0"


def test_digits_far_below_the_range_of_doubles():
    """A lattice law whose value is near 1e-400."""
    law = Law((Fraction(1), Fraction(-1)), (Fraction(1, 10), Fraction(9, 10)))
    sums, inverted = (recompute(law, 1800, route=route) for route in ("sums", "inversion"))
    assert sums.exactly < Fraction(1, 10**350)
    assert agree(sums, inverted)


def test_refusals():
    law = law_of("rr", Exp(Fraction(1, 100)), eps0=1)
    with pytest.raises(Unsupported, match="sum over counts has too many terms at n = 1000000000000"):
        recompute(law, 10**12, route="sums")
    with pytest.raises(Unsupported, match="digits can be had at a reasonable cost, fewer than 40"):
        recompute(law_of("rr", Exp(Fraction(1, 10**6)), eps0=1), 10**12, least=40)
    wide = replace(
        law,
        values=tuple(Ball(v, v + Fraction(1, 10**6), 64) for v in (Fraction(1), Fraction(-1))),
        weights=(HALF, HALF),
    )
    with pytest.raises(Unsupported, match="fewer than 6 confirm nothing"):
        recompute(wide, 1000)
    zero = Law((Ball(Fraction(-1, 10**30), Fraction(1, 10**30)), Fraction(-1)), (HALF, HALF))
    with pytest.raises((InputError, Unsupported)):
        recompute(zero, 3)
    with pytest.raises(InputError, match="probabilities of sum 1"):
        recompute(Law((Fraction(1),), (HALF,)), 3)


def test_singular_mass_is_read_and_added_once():
    law = Law((Fraction(1), Fraction(-1)), (HALF, HALF), Fraction(1, 8))
    assert transform(law, 3, digits=9).singular == 0.125
    for route in ("sums", "inversion"):
        assert recompute(law, 1, route=route, digits=20).exactly == HALF + Fraction(1, 8)
