"""What the benchmarks measure are the right quantities: each agrees with the library. Nothing here looks at a clock."""

import math
from fractions import Fraction

import numpy as np
import pytest

from benchmarks import certified, growth, run, vectors
from benchmarks.algorithm7 import algorithm7
from benchmarks.clone import LAM, clone_delta, smallest_level
from benchmarks.measure import Goal, table, ten_ary
from benchmarks.peers import binary_histograms, binary_pair
from symshuffle import Exp, delta, randomizer
from symshuffle.accountants import evaluate_law, standard_clone
from symshuffle.accountants.deployment.reduced import laws
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.engines import FFT
from symshuffle.mechanisms import MECHANISMS
from tests.slices import some


@pytest.mark.parametrize("eps0", ["0.1", "4"])
def test_algorithm_7_rounds_up_by_at_most_a_step(eps0):
    step = math.expm1(float(eps0)) / 1000
    (law,) = laws(ten_ary(eps0).bounds[0], Exp(Fraction("0.01")), "forward", None)
    truth = evaluate_law(law, 50, rtol=1e-8)
    assert truth.lower <= algorithm7(law, 50, step) <= truth.upper + Fraction(step)


def test_algorithm_7_on_its_own_lattice_is_exact():
    krr = randomizer("krr").at(k=10, lam=4)
    (law,) = laws(reduction(krr).bounds[0], Fraction(2), "forward", None)
    assert algorithm7(law, 20, 1.0) == pytest.approx(float(evaluate_law(law, 20, arithmetic="exact").exact), rel=1e-12)


def test_algorithm_7_is_the_upper_end_of_the_fft_engine_at_the_same_step():
    (law,) = laws(ten_ary("1").bounds[0], Exp(Fraction("0.1")), "forward", None)
    bracket = FFT(step=Fraction(1, 64)).bracket(law, 30)
    assert algorithm7(law, 30, 1 / 64) == pytest.approx(float(bracket.upper), rel=1e-9)


@pytest.mark.parametrize(("n", "eps"), [(1, 0.5), (2, 0.0), (50, 0.3), (1000, 0.18)])
def test_clone_numerics_agree_with_the_clone_of_the_library(n, eps):
    bracket = standard_clone(LAM, exp_eps=Fraction(math.exp(eps)), n=n)
    assert clone_delta(float(LAM), eps, n) == pytest.approx(float(bracket.midpoint), rel=1e-6)


def test_clone_numerics_neglect_upwards():
    coarse, fine = (clone_delta(float(LAM), 0.18, 1000, neglected=tail) for tail in (1e-8, 1e-20))
    assert fine < coarse < fine + 1e-7


def test_a_level_is_on_the_safe_side():
    found = smallest_level(lambda eps: math.exp(-eps), 20.0)
    assert math.log(1e6) <= found <= math.log(1e6) * (1 + 2e-6)


@pytest.mark.parametrize("n", [1, 40])
def test_the_histograms_of_the_binary_pair_have_its_divergence(n):
    first, second = binary_histograms(n)
    value = float(np.maximum(first - math.exp(0.05) * second, 0).sum())
    bracket = delta(binary_pair(), n=n, exp_eps=Fraction(math.exp(0.05)), direction="forward").bracket
    assert value == pytest.approx(float(bracket.midpoint), rel=1e-9)


def test_every_named_mechanism_with_a_density_has_a_certified_row():
    names = {text.replace("(", ",").split(",")[0] for text, _ in certified.sources(1)}
    assert names >= set(MECHANISMS) - {"identity", "erasure", "constant"}
    assert "laplace" in names


def test_a_goal_that_is_missed_is_loud():
    assert Goal("", "", True).verdict == "reached"
    assert Goal("", "", False).verdict == "**not reached**"
    assert table(("a", "b"), [("1", "2")]) == "| a | b |\n|---|---|\n| 1 | 2 |"


def test_the_committed_page_judges_every_goal():
    page = run.PAGE.read_text(encoding="utf-8")
    first = page.split("\n\n")[2].splitlines()[2:]
    assert len(first) >= 7
    assert {row.rsplit("|", 2)[1].strip() for row in first} <= {"reached", "**not reached**"}


@pytest.mark.parametrize("case", some(vectors.CASES, 4), ids=lambda case: case.name)
def test_levels_of_vectors_leave_a_delta_that_is_worth_a_bracket(case):
    assert vectors.level(case, 1000) == case.eps
    assert 31 * vectors.level(case, 10**6) < case.eps < 32 * vectors.level(case, 10**6)
    found = delta(case.mechanism, n=1000, eps=case.eps, blanket=case.blanket, rtol=0.1)
    assert Fraction(1, 10**30) < found.bracket.lower <= found.bracket.upper < Fraction(1, 2)


def test_slopes_are_exponents_of_powers():
    places = [10.0, 30.0, 1000.0]
    assert growth.slope(places, [7 * x**1.5 for x in places]) == pytest.approx(1.5)
    assert growth.slope(places, [4.0] * 3) == pytest.approx(0.0)


def test_the_picture_of_growth_is_small():
    points = {s.name: [(x, 0.01 * (i + 1), 80.0 + i) for i, x in enumerate(s.values)] for s in growth.SERIES}
    assert len(growth.drawn(points)) < 60_000
