"""The two routes of the confirmation: against each other, against exact values, and inside certified brackets."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Ball, Exp
from symshuffle.channels.law import Law
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.engines.confirm import confirm, confirm_laplace, sums
from symshuffle.engines.confirm.inversion import _kernel
from symshuffle.engines.confirm.laplace import laplace_transform, one_user
from symshuffle.engines.confirm.survey import LineSurvey, TiltedLine, _Limits, _merged, _tail, survey
from symshuffle.engines.confirm.transform import Smooth, _spacing, context_for, saddle, transform
from symshuffle.engines.contours.ball import BallContour
from symshuffle.engines.counting.exact import Exact
from symshuffle.mechanisms.registry import mechanism

HALF = Fraction(1, 2)


def law_of(name, order, **parameters):
    return optimal_decomposition(mechanism(name).at(**parameters)).law(order, bits=256)


def agree(one, other):
    return abs(one.exactly - other.exactly) <= Fraction(one.error) + Fraction(other.error)


@pytest.mark.parametrize(
    ("law", "n", "least"),
    [
        (law_of("rr", Fraction(6, 5), lam=3), 20, 50),
        (law_of("krr", Fraction(6, 5), k=10, lam=3), 20, 50),
        (law_of("oue", Fraction(2), lam=3), 15, 50),
        (law_of("krr", Exp(Fraction(1, 50)), k=10, eps0=1), 500, 6),
    ],
    ids=["rr lattice", "krr lattice", "oue lattice", "krr line"],
)
def test_both_routes_agree(law, n, least):
    sums = confirm(law, n, route="sums")
    inverted = confirm(law, n, route="inversion", least=least)
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
    found, exact = confirm(law, n, route="sums"), Exact().bracket(law, n).exact
    assert found.digits == 50
    assert abs(found.exactly - exact) <= Fraction(found.error)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("digits", [1, 2, 4])
def test_what_a_sum_leaves_out_is_in_its_error(seed, digits, monkeypatch):
    """No public door asks for a window so narrow that what is left out shows: the guard digits are taken away."""
    monkeypatch.setattr(sums, "_GUARD", -digits)
    rng = np.random.default_rng(100 + seed)
    law, n = drawn_law(rng, 3), 60
    read = transform(law, n, digits=digits)
    value, error = sums.by_sums(read, n, digits=digits)
    exact = Exact().bracket(law, n).exact
    gap = abs(read.context.mpf(exact.numerator) / exact.denominator - value)
    assert gap <= error
    assert gap > error / 10**9  # the bound is about what is left out, not about rounding


def test_ten_thousand_users_of_krr_have_fifty_digits_by_a_sum():
    order = Exp(Fraction(1, 50))
    law = law_of("krr", order, k=10, eps0=1)
    found = confirm(law, 10_000)
    assert found.digits == 50 and "sum over the counts" in found.route
    assert found.inside(BallContour(rel=1e-10).bracket(law, 10_000))


@pytest.mark.parametrize("n", [2, 7, 40])
def test_a_lattice_with_an_offset_has_the_exact_value(n):
    """No multiple of the spacing 3/7 is a value; the values of the sum depend on n."""
    law = Law(tuple(map(Fraction, ("5/7", "2/7", "-4/7"))), tuple(map(Fraction, ("1/5", "3/10", "1/2"))))
    exact = Exact().bracket(law, n).exact
    found = confirm(law, n, route="inversion")
    assert found.digits == 50
    assert abs(found.exactly - exact) <= Fraction(found.error)
    assert "one period of the lattice" in found.route


def test_two_irrational_atoms_are_a_lattice():
    both = law_of("rr", Exp(Fraction(1, 50)), eps0=1)
    law = Law((both.values[0], both.values[-1]), (HALF, HALF))
    sums, inverted = (confirm(law, 500, route=route) for route in ("sums", "inversion"))
    assert sums.digits == inverted.digits == 50
    assert agree(sums, inverted)


@pytest.mark.parametrize(
    ("name", "parameters", "n"),
    [("rr", {}, 10**12), ("krr", {"k": 10}, 10**9), ("blh", {}, 10**12), ("krr", {"k": 10}, 10**12)],
)
def test_inside_certified_brackets_and_outside_of_a_perturbed_law(name, parameters, n):
    order = Exp(Fraction(3, round(n**0.5)))
    law = law_of(name, order, eps0=1, **parameters)
    bracket = BallContour(rel=1e-10).bracket(law, n)
    assert confirm(law, n, least=11).inside(bracket)
    top = max(range(len(law.values)), key=lambda i: float(law.values[i]))
    nudged = tuple(v * (1 + Fraction(1, 10**9)) if i == top else v for i, v in enumerate(law.values))
    assert not confirm(replace(law, values=nudged), n, least=11).inside(bracket)


def test_nearly_a_lattice_has_peaks_far_out():
    """Values 1, 0, -1.02: every multiple of 2 pi is nearly a period; without the peaks the digits are wrong."""
    near = Law((Fraction(1), Fraction(0), Fraction(-51, 50)), (Fraction(1, 4), HALF, Fraction(1, 4)))
    n = 100
    read = transform(near, n, digits=12)
    line = TiltedLine.at(read, saddle(read.nodes(), n), n)
    found = survey(line, n, digits=12, period=float(read.context.pi / read.lattice))
    for j in range(1, 6):
        assert any(a < 2 * np.pi * j < b for a, b in found.windows[1:])
    sums, inverted = (confirm(near, n, digits=12, route=route) for route in ("sums", "inversion"))
    assert agree(sums, inverted)


def test_bounds_over_boxes_hold():
    read = transform(law_of("oue", Exp(Fraction(1, 50)), eps0=1), 1000, digits=16)
    line = TiltedLine.at(read, saddle(read.nodes(), 1000), 1000)
    centres = np.linspace(0.5, 300, 700)
    bounds = line.bounds(centres, 0.05)
    for shift in np.linspace(-0.05, 0.05, 9):
        values = np.abs(np.exp(1j * np.multiply.outer(centres + shift, line.values)) @ line.weights) ** 2
        assert (values <= bounds + 1e-12).all()


def test_one_user_of_laplace_noise_has_the_hockey_stick():
    found = confirm_laplace(Exp(Fraction(1)), Exp(Fraction(1, 50)), 1)
    assert float(found.exactly) == pytest.approx(1 - np.exp((0.02 - 1) / 2), rel=1e-14)


@pytest.mark.parametrize(("n", "eps"), [(1000, "1/50"), (10**9, "1/100000")])
def test_laplace_noise_lies_between_finite_laws(n, eps):
    from symshuffle.mechanisms.continuous import Laplace

    source, order = Laplace(lam=Exp(Fraction(1)), cells=20), Exp(Fraction(eps))
    found = confirm_laplace(source.lam, order, n)
    low, high = (BallContour(rel=1e-8).bracket(source.law(order, side=side), n) for side in ("lower", "upper"))
    assert low.lower < found.exactly < high.upper
    assert found.digits >= 12


def test_laplace_noise_above_its_level_is_private():
    assert confirm_laplace(Fraction(2), Fraction(3), 10).value == "0"


def test_digits_far_below_the_range_of_doubles():
    """A lattice law whose value is near 1e-400."""
    law = Law((Fraction(1), Fraction(-1)), (Fraction(1, 10), Fraction(9, 10)))
    sums, inverted = (confirm(law, 1800, route=route) for route in ("sums", "inversion"))
    assert sums.exactly < Fraction(1, 10**350)
    assert agree(sums, inverted)


def test_refusals():
    law = law_of("rr", Exp(Fraction(1, 100)), eps0=1)
    with pytest.raises(Unsupported, match="a sum over counts at n = 1000000000000"):
        confirm(law, 10**12, route="sums")
    with pytest.raises(Unsupported, match="digits can be had at a reasonable cost, fewer than 40"):
        confirm(law_of("rr", Exp(Fraction(1, 10**6)), eps0=1), 10**12, least=40)
    wide = replace(
        law,
        values=tuple(Ball(v, v + Fraction(1, 10**6), 64) for v in (Fraction(1), Fraction(-1))),
        weights=(HALF, HALF),
    )
    with pytest.raises(Unsupported, match="fewer than 6 confirm nothing"):
        confirm(wide, 1000)
    zero = Law((Ball(Fraction(-1, 10**30), Fraction(1, 10**30)), Fraction(-1)), (HALF, HALF))
    with pytest.raises((InputError, Unsupported)):
        confirm(zero, 3)
    with pytest.raises(InputError, match="probabilities of sum 1"):
        confirm(Law((Fraction(1),), (HALF,)), 3)


THREE = Law(tuple(map(Fraction, ("3/2", "0", "-5/4"))), tuple(map(Fraction, ("1/5", "3/10", "1/2"))))


@pytest.mark.parametrize(
    ("values", "radius", "spacing"),
    [
        (("-1/2", "0", "1"), 0, "1/2"),
        (("-5/4", "0", "3/2"), 0, "1/4"),
        (("1/3", "4/3", "2"), 0, "1/3"),
        (("2", "5"), 0, "3"),
        (("7",), 0, None),
        (("0", "1/3", "1"), Fraction(1, 10**30), "1/3"),
        (("0", "333333333/1000000000", "1"), Fraction(1, 10**30), None),
        (("0", "3333333333/10000000000", "1"), Fraction(1, 10**11), "1/3"),
        (("0", "3333333333/10000000000", "1"), Fraction(1, 10**12), None),
    ],
)
def test_the_spacing_of_a_lattice(values, radius, spacing):
    found = _spacing([Fraction(v) for v in values], Fraction(radius))
    assert found == (None if spacing is None else Fraction(spacing))


@pytest.mark.parametrize(("n", "offset"), [(1, "1/4"), (2, "1/4"), (7, "1/4")])
def test_a_law_is_read_with_its_lattice(n, offset):
    read = transform(THREE, n, digits=30)
    assert [(str(v), str(w)) for v, w in read.atoms] == [("1.5", "0.2"), ("0.0", "0.3"), ("-1.25", "0.5")]
    assert read.lattice == 0.25 and read.offset == float(Fraction(offset)) and read.singular == 0
    assert read.context.dps == 30 + 20 + 2 * {1: 1, 2: 1, 7: 1}[n]
    assert context_for(1000, 5).dps == 5 + 20 + 8 and context_for(99, 5).dps == 5 + 20 + 4
    coarse = transform(Law((Fraction(5), Fraction(-2)), (HALF, HALF)), n, digits=30)
    assert (coarse.lattice == 7 and coarse.offset == (5 * n) % 7) or 7


def test_equal_values_are_one_atom_and_balls_are_blurred():
    twice = Law((Fraction(1), Fraction(1), Fraction(-2)), (Fraction(1, 4), Fraction(1, 4), HALF))
    assert [(float(v), float(w)) for v, w in transform(twice, 3, digits=9).atoms] == [(1, 0.5), (-2, 0.5)]
    blurred = Law(
        (Ball(Fraction(99, 100), Fraction(101, 100)), Fraction(-2)), (Ball(Fraction(3, 10), Fraction(1, 2)), HALF)
    )
    read = transform(blurred, 3, digits=9)
    assert read.blur == (0.01, 0.25) and read.noise(3, 2.0) == pytest.approx(3 * (2 * 0.01 + 0.25))
    for values in ((Fraction(10**301), Fraction(-1)), (Fraction(1, 10**301), Fraction(-1))):
        with pytest.raises(Unsupported, match="within the range of doubles"):
            transform(Law(values, (HALF, HALF)), 3, digits=9)


@pytest.mark.parametrize("n", [1, 5, 10**6])
def test_the_saddle_is_where_the_tilted_sum_has_mean_two_over_c(n):
    read = transform(THREE, n, digits=20)
    c = saddle(read.nodes(), n)

    def pull(x):
        tilted = [(float(v), float(w) * math.exp(x * (float(v) - 1.5))) for v, w in read.atoms]
        return n * x * sum(v * q for v, q in tilted) / sum(q for _, q in tilted)

    assert pull(c / 1.002) < 2 <= pull(c)
    with pytest.raises(InputError, match="never positive"):
        saddle([(read.context.mpf(0), read.context.mpf(1))], n)


@pytest.mark.parametrize("s", [0.3, 2.0])
def test_the_kernel_of_a_lattice_is_its_sum(s):
    for n in (1, 3):
        read = transform(THREE, n, digits=20)
        direct = math.fsum(0.25 * (0.25 + j / 4) * math.exp(-s * (0.25 + j / 4)) for j in range(2000))
        assert float(_kernel(read, read.context.mpf(s))) == pytest.approx(direct, rel=1e-12)
    wide = transform(Law((Fraction(5), Fraction(-2)), (HALF, HALF)), 3, digits=20)  # offset 1, spacing 7
    direct = math.fsum(7 * (1 + 7 * j) * math.exp(-s * (1 + 7 * j)) for j in range(100))
    assert wide.offset == 1 and float(_kernel(wide, wide.context.mpf(s))) == pytest.approx(direct, rel=1e-12)
    line = replace(read, lattice=None)
    assert float(_kernel(line, read.context.mpf(s))) == pytest.approx(1 / s**2)


def test_a_smooth_part_is_what_it_says():
    """Density 2y and value 3y + 1 on (0, 1/2): moments by nodes; turns and variation by hand."""
    context = context_for(10, 20)
    part = Smooth(
        context.mpf(0), context.mpf(1) / 2, lambda y: 2 * y, lambda y: 3 * y + 1, lambda y: context.mpf(3) + 0 * y
    )
    for panels, degree in ((1, 3), (4, 2)):
        nodes = part.nodes(context, panels=panels, degree=degree)
        assert len(nodes) == panels * 3 * 2 ** (degree - 1)
        assert float(sum(w for _, w in nodes)) == pytest.approx(0.25, rel=1e-12)
        assert float(sum(w * v * v for v, w in nodes)) == pytest.approx(0.25 + 0.5 + 9 / 32, rel=1e-12)
    assert [part.turns(t) for t in (0.0, 2.6, 2.7, 8.1, -8.1)] == [1, 1, 2, 4, 4]
    # amplitude 2y exp(2(3y + 1))/3 rises from 0 to exp(5)/3: its variation is that, twice, and a tenth more
    assert part.variation(context, 2.0) == pytest.approx(1.1 * 2 * math.exp(5) / 3, rel=1e-9)


def test_a_line_is_the_tilted_law():
    read, c, n = transform(THREE, 9, digits=20), 0.7, 9
    line = TiltedLine.at(read, c, n)
    weights = np.array([0.2, 0.3, 0.5]) * np.exp(c * np.array([1.5, 0.0, -1.25]))
    weights /= weights.sum()
    mean = weights @ np.array([1.5, 0.0, -1.25])
    assert line.weights == pytest.approx(weights, rel=1e-13)
    assert line.values == pytest.approx(np.array([1.5, 0.0, -1.25]) - mean, rel=1e-13)
    assert (line.c, line.atoms, line.variation) == (c, 3, 0.0)
    assert line.width == pytest.approx(1 / math.sqrt(n * (weights @ line.values**2)), rel=1e-13)
    found = LineSurvey([(0.0, 1.0), (3.0, 3.5)], end=8.0)
    assert found.length == 1.5 and line.effort(found) == pytest.approx(1.5 / line.width)
    smooth = replace(line, atoms=2)
    assert smooth.effort(found) == pytest.approx(1.5 / line.width * (1 + 8 * 2.75 / 8))


def test_limits_of_a_stretch_and_windows_that_touch():
    line = TiltedLine.at(transform(THREE, 9, digits=20), 0.7, 9)
    first = _Limits.of(line, 0.0, 4.0, 1e-9, 0.0)
    assert first.kernel == 1 and first.relevant == pytest.approx(math.log(1e-9 / 32))
    assert first.sizeable == pytest.approx(math.log(0.02 * line.width / 4))
    far = _Limits.of(line, 7.0, 9.0, 1e-9, 5.0)
    assert far.kernel == pytest.approx(0.01) and far.relevant == pytest.approx(math.log(1e-9 / 2 / 0.01 / 8))
    assert far.sizeable == pytest.approx(math.log(0.05)) and _Limits.of(line, 0.5, 1.0, 1e-9, 5.0).kernel == 1
    assert _merged([(2.0, 3.0), (0.0, 1.0), (1.0, 1.5)], 1.0) == [(0.0, 1.5), (2.0, 3.0)]
    assert _merged([(0.0, 1.0), (1.0 + 5e-10, 2.0)], 1.0) == [(0.0, 2.0)]
    assert _merged([(0.0, 1.0), (1.0 + 5e-9, 2.0)], 1.0) == [(0.0, 1.0), (1.0 + 5e-9, 2.0)]


def test_what_lies_beyond_the_end():
    """Four times the mass on every window of that length, with 1/t^2 summed; less where continuous parts fade."""
    line = TiltedLine.at(transform(THREE, 9, digits=20), 0.7, 9)
    found = LineSurvey(mass=3.0, end=14.0)
    expected = 4 * sum(1 / j**2 for j in range(1, 200_000)) * 3 * (0.7 / 14) ** 2
    assert _tail(line, 9, found, lattice=False) == pytest.approx(expected, rel=1e-5)
    assert _tail(line, 9, found, lattice=True) == pytest.approx(expected * math.pi**2 / 4, rel=1e-5)
    fading = replace(line, atoms=1, variation=0.14)
    share = fading.weights[0] + 0.01
    assert _tail(fading, 9, found, lattice=False) == pytest.approx(0.49 / 14 * share**9, rel=1e-12)
    assert _tail(replace(fading, variation=14.0), 9, found, lattice=False) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("x", ["1", "3/2", "29/10"])
def test_the_transform_of_laplace_noise_is_the_mean_over_outputs(x):
    """The mass of each part, the mean of G (1 - x) and E[G_+] of one user, in closed form."""
    order = Fraction(x)
    read = laplace_transform(Fraction(3), order, 5, digits=20)
    nodes = read.nodes(panels=4)
    assert read.singular == 0 and read.lattice is None and read.noise(5, 1.0) == 0
    assert float(sum(w for _, w in nodes)) == pytest.approx(1, rel=1e-14)
    assert float(sum(v * w for v, w in nodes)) == pytest.approx(float(1 - order), abs=1e-14)
    squares = (float(order) ** 2 + 1) * (2 * math.sqrt(3) + 1 / 3) / 3 - 2 * float(order) * (2 / math.sqrt(3) - 1 / 3)
    assert float(sum(v * v * w for v, w in nodes)) == pytest.approx(squares * math.sqrt(3), rel=1e-13)
    assert [float(v) for v, _ in read.atoms] == [float(3 - order), 0, float(1 - 3 * order)]
    assert [float(w) for _, w in read.atoms] == pytest.approx([1 / 6, 1 - 1 / math.sqrt(3), 1 / 6])
    # of one user: 1 - Phi-like tails of the two exponentials, where f0 = x f1 is at y = (1 - log x/log 3)/2
    y = (1 - math.log(order) / math.log(3)) / 2
    expected = 1 - 3**-y / 2 - float(order) * 3 ** (y - 1) / 2
    assert float(one_user(read)) == pytest.approx(expected, rel=1e-13)
    for part in read.smooth:
        for place in (0.1, 0.3) if part.lower == 0 else (0.6, 0.9):
            step = read.context.mpf(1) / 10**9
            slope = (part.value(place + step) - part.value(place - step)) / (2 * step)
            assert float(part.slope(place)) == pytest.approx(float(slope), rel=1e-12)


def test_singular_mass_is_read_and_added_once():
    law = Law((Fraction(1), Fraction(-1)), (HALF, HALF), Fraction(1, 8))
    assert transform(law, 3, digits=9).singular == 0.125
    for route in ("sums", "inversion"):
        assert confirm(law, 1, route=route, digits=20).exactly == HALF + Fraction(1, 8)
