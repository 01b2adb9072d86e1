"""The search for a worse background, part by part: grids, hats and cells by SciPy, values by brute force, refusals."""

import itertools
import math
from dataclasses import replace
from fractions import Fraction as F

import numpy as np
import pytest
from scipy import integrate
from scipy.stats import norm

from symshuffle.errors import CertificateError, InputError
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors import conjecture
from symshuffle.vectors.conjecture import WorstBackground, worst_background_on_the_line

SIGMA, EPS = F(1), F(1, 2)
ALPHA = math.exp(0.5)


@pytest.fixture
def small():
    """Two users on a coarse grid of 33 points."""
    search = conjecture._Search(2, SIGMA, EPS, reverse=False)
    search.points = 33
    return search


def divergence(a, b, *, reverse=False):
    """D(a, b) for two users by a fine trapezoid rule, from the definition."""
    z = np.linspace(-9, 9, 601)
    one, null, other = (np.exp(u * z - u * u / 2) for u in (a, 0, b))
    u = null - ALPHA * one if reverse else one - ALPHA * null
    product = np.outer(u, other)
    weights = norm.pdf(z) * (z[1] - z[0])
    return float(weights @ np.maximum(product + product.T, 0) @ weights) / 2


def test_hats_have_their_masses_under_the_normal_law():
    width, weights, tail = conjecture._grid(F(1), 17)
    assert width == 1.0  # from -8 to 8
    nodes = np.linspace(-8, 8, 17)
    assert weights == pytest.approx(
        [integrate.quad(lambda z, at=at: max(1 - abs(z - at), 0) * norm.pdf(z), at - 1, at + 1, points=[at])[0]
         if -8 < at < 8 else
         integrate.quad(lambda z, at=at: max(1 - abs(z - at), 0) * norm.pdf(z), max(at - 1, -8), min(at + 1, 8))[0]
         for at in nodes], rel=1e-8)  # fmt: skip
    assert weights.sum() == pytest.approx(norm.cdf(8) - norm.cdf(-8), rel=1e-14)
    assert tail == pytest.approx(2 * norm.sf(7), rel=1e-9) and tail >= 2 * norm.sf(7)


def test_likelihoods_and_cells_on_the_grid():
    nodes = np.linspace(-8, 8, 17)
    assert conjecture._likelihoods(F(3, 4), F(1), 17) == pytest.approx(np.exp(0.75 * nodes - 0.75**2 / 2))
    assert conjecture._cells(F(3, 4), F(1), 17) == pytest.approx(np.diff(norm.cdf(nodes - 0.75)), abs=1e-15)
    assert len(conjecture._cells(F(3, 4), F(1), 17)) == 16


def test_products_are_symmetrised_over_all_orders():
    rng = np.random.default_rng(4)
    u, v, w, weights = (rng.standard_normal(4) for _ in range(4))
    weights = abs(weights)
    two = sum(
        weights[i] * weights[j] * max((u[i] * v[j] + u[j] * v[i]) / 2, 0)
        for i, j in itertools.product(range(4), repeat=2)
    )
    assert conjecture._positive_part(u, [v], weights) == pytest.approx(two)
    three = 0
    for at in itertools.product(range(4), repeat=3):
        total = sum(u[at[i]] * v[at[j]] * w[at[k]] for i, j, k in itertools.permutations(range(3))) / 6
        three += math.prod(weights[i] for i in at) * max(total, 0)
    assert conjecture._positive_part(u, [v, w], weights) == pytest.approx(three)


@pytest.mark.parametrize("reverse", [False, True])
def test_both_ends_of_a_value_are_near_the_definition(reverse):
    search = conjecture._Search(2, SIGMA, EPS, reverse=reverse)
    for a, b in ((F(1), F(-1)), (F(1, 2), F(1, 3))):
        true = divergence(float(a), float(b), reverse=reverse)
        low, high = search.merged((a, b)), search.value((a, b))
        assert low <= true * (1 + 1e-6) and true <= high * (1 + 1e-6)
        assert high - low < 0.004 * true + 1e-3


def test_a_coarse_grid_needs_its_excess(small):
    """With 33 points the sum over the grid over (1 + k/2)^2 is off by up to (1 + alpha)((1 + k/2)^2 - 1 + 2 tail)."""
    inputs = (F(1), F(-1))
    h, weights, tail = conjecture._grid(F(1), 33)
    assert (h, small.radius) == (0.5, 1)
    kappa = h * h / 8 * math.exp(h)
    centred = (1 + kappa / 2) ** 2
    nodes = np.linspace(-8, 8, 33)
    one, other = np.exp(nodes - 0.5), np.exp(-nodes - 0.5)
    product = np.outer(one - ALPHA, other)
    total = weights @ np.maximum(product + product.T, 0) @ weights / 2
    excess = (1 + ALPHA) * (centred - 1 + 2 * tail)
    found = small.value(inputs)
    assert found == pytest.approx(total / centred + excess, rel=1e-10)
    assert found >= divergence(1, -1) and small.merged(inputs) <= divergence(1, -1)
    # Twice the length of inputs: the curvature is four times as large, at twice the exponent.
    wide = conjecture._Search(3, F(1, 2), EPS, reverse=False)
    wide.points = 37  # from -9 to 9 by halves
    kappa = 4 * 0.25 / 8 * math.exp(1)
    _, weights, tail = conjecture._grid(F(2), 37)
    flat = wide.value((F(0), F(0), F(0)))
    assert flat == pytest.approx((1 + ALPHA) * ((1 + kappa / 2) ** 3 - 1 + 3 * tail), rel=1e-9)


def test_what_doubles_lose_is_on_the_safe_side(small):
    """Where x is the null symbol both ends are 0 up to the allowance, (1 + alpha) 1e-12 on either side."""
    low = small.merged((F(0), F(0)))
    assert low == pytest.approx(-1e-12 * (1 + ALPHA), rel=1e-3)


def test_moving_inputs_costs_their_total_variations(small):
    """|da| / sqrt(2 pi), times alpha in the other order; the others by twice the divergence plus alpha - 1."""
    profile = norm.sf(0.5 - 0.5) - ALPHA * norm.sf(0.5 + 0.5)
    size = 2 * profile + ALPHA - 1
    steep = 1 / math.sqrt(2 * math.pi)
    assert pytest.approx(steep, rel=1e-4) == conjecture.STEEPEST and steep < conjecture.STEEPEST
    assert small.slopes == pytest.approx((steep, steep * size), rel=1e-4)
    assert small.slopes[0] > steep and small.slopes[1] > steep * size
    back = conjecture._Search(3, SIGMA, EPS, reverse=True)
    assert back.slopes == pytest.approx((steep * ALPHA, steep * size, steep * size), rel=1e-4)
    assert (small.points, conjecture._Search(2, SIGMA, EPS, reverse=False).points, back.points) == (33, 641, 121)
    box = ((F(0), F(1, 2)), (F(-1), F(1)))
    assert small._slack(box) == pytest.approx(small.slopes[0] / 4 + small.slopes[1])
    assert small._slack(box) >= small.slopes[0] / 4 + small.slopes[1]
    assert conjecture._middle(box) == (F(1, 4), F(0))


def test_boxes_are_halved_across_the_side_that_costs_most(small):
    assert small._halves(((F(0), F(1)), (F(0), F(1, 8)))) == [
        ((F(0), F(1, 2)), (F(0), F(1, 8))),
        ((F(1, 2), F(1)), (F(0), F(1, 8))),
    ]
    assert small._halves(((F(0), F(1, 100)), (F(-1), F(1)))) == [
        ((F(0), F(1, 100)), (F(-1), F(0))),
        ((F(0), F(1, 100)), (F(0), F(1))),
    ]
    three = conjecture._Search(3, SIGMA, EPS, reverse=False)
    tiny = (F(0), F(1, 1000))
    # Of two others one is to the left of the other: what is wholly in the other order is left out.
    assert three._halves((tiny, (F(-1), F(1)), (F(-1), F(-1, 2)))) == [(tiny, (F(-1), F(0)), (F(-1), F(-1, 2)))]
    assert len(three._halves((tiny, (F(-1), F(1)), (F(-1), F(0))))) == 2


def test_boxes_end_below_the_aim_or_name_inputs_above_it(small):
    top = small.value((F(1), F(-1)))
    boxes, stuck = small.below(F(top * 1.15))
    assert stuck is None and boxes > 2
    fewer, none = small.below(F(2))
    assert none is None and fewer < boxes
    _, inputs = small.below(F(top * 0.3))
    assert inputs is not None and small.value(inputs) > top * 0.3


def test_the_number_of_boxes_is_limited(small, monkeypatch):
    monkeypatch.setattr(conjecture, "MOST_BOXES", 6)
    seen, stuck = small.below(F(small.value((F(1), F(-1))) * 1.01))
    assert seen == 6 and stuck is not None


GIVEN = {"n": 2, "sigma0": 1, "eps": "1/2"}


@pytest.mark.parametrize(
    ("wrong", "name"),
    [
        ({"n": 1}, "n"),
        ({"n": 4}, "n"),
        ({"sigma0": "499/1000"}, "sigma0"),
        ({"eps": "-1/1000"}, "eps"),
        ({"tolerance": 0}, "tolerance"),
        ({"tolerance": 1}, "tolerance"),
        ({"others": "-1001/1000"}, "others"),
        ({"others": "1001/1000"}, "others"),
    ],
)
def test_what_is_out_of_range(wrong, name):
    with pytest.raises(InputError, match=f"^{name} "):
        worst_background_on_the_line(**GIVEN | wrong)


@pytest.fixture
def quick(monkeypatch):
    """A search that answers at once: between 1/5 and 1/4 at the conjectured inputs, all boxes below the aim."""
    seen = []

    def below(self, aim):
        seen.append(aim)
        return 7, None

    ends = Bracket(F(1, 5), F(1, 4), Rigour.BALL, "boxes", "test")
    monkeypatch.setattr(conjecture._Search, "constant", lambda self, others: ends)
    monkeypatch.setattr(conjecture._Search, "below", below)
    return seen


@pytest.mark.parametrize("given", [{}, {"sigma0": "1/2"}, {"eps": 0}, {"others": 1}, {"others": -1}, {"n": 3}])
def test_ends_of_ranges_are_taken(quick, given):
    found = worst_background_on_the_line(**GIVEN | {"tolerance": "1/10"} | given)
    assert quick == [F(1, 5) * F(11, 10)] and found.boxes == 7
    assert (found.bracket.lower, found.bracket.upper) == (F(1, 5), F(11, 50)) and found.excess == F(1, 10)
    told = found.to_dict()
    assert told["boxes"] == 7 and told["excess"] == pytest.approx(0.1) and told["counterexample"] is None
    assert told["others"] == str(given.get("others", -1)) and told["conjectured"] == found.conjectured.decimals()
    found.verify()


def test_false_answers_fall(quick, monkeypatch):
    found = worst_background_on_the_line(**GIVEN)

    def ends(low, high):
        return Bracket(low, high, Rigour.BALL, "boxes", "test")

    for false, place in (
        (replace(found, conjectured=ends(F(21, 100), F(1, 4))), "conjectured"),
        (replace(found, conjectured=ends(F(1, 5), F(24, 100))), "conjectured"),
        (replace(found, bracket=ends(F(201, 1000), F(1, 4))), "bracket.lower"),
    ):
        with pytest.raises(CertificateError, match=place):
            false.verify()
    monkeypatch.setattr(conjecture._Search, "below", lambda self, aim: (3, (F(1), F(1))))
    with pytest.raises(CertificateError, match=r"bracket.upper"):
        found.verify()
    monkeypatch.setattr(conjecture._Search, "merged", lambda self, inputs: 0.5 if inputs == (1, F(1, 2)) else 0.25)

    def example(*inputs, lower=F(1, 2), upper=F(1)):
        given = (2, SIGMA, EPS, False, ends(lower, upper), found.conjectured, F(-1), 3, inputs)
        return WorstBackground(*given)

    example(F(1), F(1, 2)).verify()
    for false in (
        example(F(1), F(1, 3)),  # attains 1/4, no more than the conjectured one
        example(F(1), F(1, 2), lower=F(51, 100)),
        example(F(1), F(1, 2), upper=F(99, 100)),
        example(F(1), F(1, 2), F(1, 2)),
        example(
            F(1),
        ),
        example(F(1), F(-3, 2)),
        example(F(3, 2), F(1, 2)),
    ):
        with pytest.raises(CertificateError, match="counterexample"):
            false.verify()


def test_inputs_are_told_in_their_own_units(quick, monkeypatch):
    """The search runs in units of the noise: inputs (1/4, -1/4) there are (1/2, -1/2) at sigma0 = 2."""
    monkeypatch.setattr(conjecture._Search, "below", lambda self, aim: (3, (F(1, 4), F(-1, 4))))
    monkeypatch.setattr(conjecture._Search, "merged", lambda self, inputs: 0.375)
    found = worst_background_on_the_line(n=2, sigma0=2, eps="1/2")
    assert found.counterexample == (F(1, 2), F(-1, 2)) and found.to_dict()["counterexample"] == ["1/2", "-1/2"]
    assert (found.bracket.lower, found.bracket.upper) == (F(3, 8), 1)
    found.verify()
