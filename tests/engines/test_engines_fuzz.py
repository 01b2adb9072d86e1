"""No bracket excludes the truth: random laws, against their exact rational value."""

import itertools
import math
from fractions import Fraction

import hypothesis
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshuffle import Law, Unsupported
from symshuffle.engines import FFT, BallContour, Contour, Exact, recompute
from symshuffle.engines.densities.doubling import Atoms, positive_part
from symshuffle.engines.registry import engine_classes
from symshuffle.testing import laws
from tests.oracles import enumerate_ball

USERS = st.integers(1, 12)


def truth(law: Law, n: int) -> Fraction:
    """The sum over count vectors in rationals: neither lattice nor ball."""
    return Exact(largest_power=0).bracket(law, n).exact


def check(law: Law, n: int) -> None:
    exact = truth(law, n)
    assert Exact().bracket(law, n).exact == exact
    powers = Exact(largest_power=50_000_000, largest_count=0)
    assert powers.refusal(law, n) is not None or powers.bracket(law, n).exact == exact
    assert enumerate_ball(law, n).lower <= exact <= enumerate_ball(law, n).upper
    check_brackets(law, n, exact)
    value = recompute(law, n, digits=30).exactly
    assert abs(value - exact) <= exact * Fraction(1, 10**29)


def check_brackets(law: Law, n: int, exact: Fraction) -> None:
    for _, kind in engine_classes():
        for engine in kind.trials(law):
            if engine.refusal(law, n) is None:
                try:
                    bracket = engine.bracket(law, n)
                except Unsupported:  # trials are limited to a second
                    continue
                assert bracket.contains(exact), (engine, str(bracket), float(exact))


@given(laws(max_atoms=4), USERS)
@hypothesis.settings(max_examples=60)
def test_no_engine_excludes_the_truth(law, n):
    check(law, n)


@pytest.mark.conformance
@given(laws(max_atoms=4), USERS)
@hypothesis.settings(max_examples=2_000)
def test_no_engine_excludes_the_truth_at_length(law, n):
    check(law, n)


@pytest.mark.conformance
@given(laws(max_atoms=4), st.integers(13, 300))
@hypothesis.settings(max_examples=500)
def test_no_engine_excludes_the_sum_over_the_lattice(law, n):
    """Beyond enumeration the truth is the power of an integer polynomial."""
    engine = Exact(largest_power=50_000_000, largest_count=0)
    if engine.refusal(law, n) is None:
        check_brackets(law, n, engine.bracket(law, n).exact)


@given(laws(max_atoms=4, singular=False), USERS)
@hypothesis.settings(max_examples=60)
def test_scaling_the_law_scales_the_value(law, n):
    doubled = Law(tuple(3 * value for value in law.values), law.weights)
    assert truth(doubled, n) == 3 * truth(law, n)


@given(laws(max_atoms=4, singular=False), st.integers(1, 6))
@hypothesis.settings(max_examples=60)
def test_value_falls_with_users(law, n):
    """S_n / n is a reverse martingale, so E[(S_n / n)_+] falls in n; a bracket must not rise above it."""
    assert truth(law, n + 1) <= truth(law, n)


# Laws found by hand, each of which broke an engine once.


def test_mass_far_below_one_on_the_saddle():
    """M(c) is about 1e-15: log1p(M - 1) lost it, and the bracket sat 28 % below the truth."""
    rare = Fraction(1, 10**15)
    check(Law((Fraction(-100), Fraction(1)), (1 - rare, rare)), 10)


def test_one_atom():
    for value in (Fraction(1), Fraction(0), Fraction(-1), Fraction(10**6, 7)):
        check(Law((value,), (Fraction(1),)), 3)


def test_one_atom_in_doubles():
    assert FFT().bracket(Law((1.0,), (1.0,)), 3).contains(Fraction(1))
    assert Contour().bracket(Law((1.0,), (1.0,)), 3).contains(Fraction(1))


def test_atoms_of_very_different_size():
    law = Law(
        (Fraction(10**17), Fraction(-(10**17)), Fraction(0)), (Fraction(1, 10**17),) * 2 + (1 - Fraction(2, 10**17),)
    )
    for n in (1, 4):
        check(law, n)


def test_values_below_the_smallest_double():
    """Never 0.0 for a positive number: log10 stays finite and right."""
    rare = Fraction(1, 10**40)
    law = Law((Fraction(1), Fraction(-1)), (rare, 1 - rare))
    exact = truth(law, 12)
    assert Contour().bracket(law, 12).contains(exact)  # in doubles, the lower side is lost on so steep a lattice
    tilted = FFT().bracket(law, 12)
    assert tilted.relative_width < 1e-6
    for bracket in (Exact().bracket(law, 12), BallContour(rtol=1e-6).bracket(law, 12), tilted):
        assert bracket.contains(exact)
        assert math.isfinite(float(bracket.decimals()["log10_upper"]))
        assert math.isfinite(float(bracket.decimals()["log10_lower"]))
        assert float(bracket.decimals()["log10_upper"]) < -240


def test_an_atom_that_is_positive_but_rounds_to_zero():
    tiny = Fraction(1, 10**400)
    law = Law((tiny, Fraction(-1)), (Fraction(1, 2), Fraction(1, 2)))
    assert Contour().bracket(law, 2).contains(truth(law, 2))


LEFT = Atoms(np.array([-1.0, 0.25, 2.0]), np.array([0.5, 0.25, 0.25]), 1e-15, 2e-15)
RIGHT = Atoms(np.array([-2.0, 0.5, 1.0, 5.0]), np.array([0.25, 0.25, 0.375, 0.125]), 3e-15, 4e-15)


def hinge(atoms, t):
    return float(atoms.weights @ np.maximum(atoms.values - t, 0))


@pytest.mark.parametrize("bins", [3, 5, 64])
def test_a_binned_sum_is_between_its_merged_and_its_spread_law(bins):
    """Mass and mean are kept by both; merging lowers, and spreading raises, the mean of every hinge."""
    values, weights = np.add.outer(LEFT.values, RIGHT.values).ravel(), np.outer(LEFT.weights, RIGHT.weights).ravel()
    merged, spread = (LEFT.plus(RIGHT, bins, spread=one) for one in (False, True))
    for found in (merged, spread):
        assert found.weights.sum() == pytest.approx(1, abs=1e-14) and np.all(found.weights > 0)
        assert found.weights @ found.values == pytest.approx(weights @ values, abs=1e-13)
        assert np.all(np.diff(found.values) > 0)
        assert found.share >= LEFT.share + RIGHT.share and found.shift >= LEFT.shift + RIGHT.shift
    gaps = []
    for t in np.linspace(-4, 8, 49):
        exact = float(weights @ np.maximum(values - t, 0))
        assert hinge(merged, t) <= exact + 1e-13 and exact <= hinge(spread, t) + 1e-13
        gaps.append(hinge(spread, t) - hinge(merged, t))
    assert max(gaps) < (4 if bins < 10 else 0.08)
    assert spread.values[0] == -3.0 and spread.values[-1] == 7.0


@pytest.mark.parametrize("n", [1, 2, 3, 5, 6, 7])
@pytest.mark.parametrize("spread", [False, True])
def test_doubling_adds_up_as_many_copies_as_asked(n, spread):
    """With values on a lattice and a bin for each the sum is exact up to its merging, at every n."""
    exact = 0.0
    for picked in itertools.product(range(3), repeat=n):
        exact += math.prod(LEFT.weights[i] for i in picked) * max(sum(LEFT.values[i] for i in picked), 0)
    found, _ = positive_part(LEFT, n, 4000, spread=spread)
    assert found == pytest.approx(exact, rel=1e-4)
    assert found >= exact - 1e-13 if spread else found <= exact + 1e-13
