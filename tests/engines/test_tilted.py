"""The tilted Fourier transform: what is rounded is ordered, what is small stays accurate, and nothing wraps unseen."""

from fractions import Fraction

import hypothesis
import pytest
from hypothesis import given
from hypothesis import strategies as st

from symshuffle import Exp, Law, Unsupported, optimal_decomposition, randomizer
from symshuffle.engines import FFT, BallContour
from symshuffle.engines.transforms.tilted import Window, contracted, dilated
from symshuffle.testing import laws
from tests.slices import some


def krr(n, eps, **values):
    return optimal_decomposition(randomizer("krr").at(**values)).law(eps, bits=256)


def excess(atoms, level):
    return sum((weight * max(value - level, Fraction(0)) for value, weight in atoms), start=Fraction(0))


@given(laws(max_atoms=5, singular=False), st.fractions(Fraction(1, 50), 3, max_denominator=60))
@hypothesis.settings(max_examples=300)
def test_rounding_is_ordered(law, step):
    """E(G - t)_+ rises from the contraction to the law to the dilation, for every t: increasing convex order."""
    window = Window(1.0, min(law.values), step, 0, 1, (1.0, 1.0))
    lower, upper = (
        [(window.origin + step * j, mass) for j, mass in rounded(law, window).items()]
        for rounded in (contracted, dilated)
    )
    assert all(mass >= 0 for _, mass in lower + upper)
    for level, _ in (*lower, *upper, *law.atoms(), (min(law.values) - step, 0)):
        assert excess(lower, level) <= excess(law.atoms(), level) <= excess(upper, level)
    assert sum(value * mass for value, mass in upper) == law.mean


def test_the_mean_is_kept_where_atoms_lie_closer_than_a_step():
    """Merging with the neighbour alone does not do there, and a mean that is lost is lost n times."""
    law = krr(10**6, Exp(Fraction(1, 100)), k=10, eps0=4)
    window = Window.choose(law, 10**6, 2**20)
    places = contracted(law, window)
    mean = sum((window.origin + window.step * j) * mass for j, mass in places.items())
    assert abs(mean - law.mean.midpoint) < window.step / 10**6


@pytest.mark.parametrize(
    ("n", "eps"), some(((10, "0.9"), (1000, "0.08"), (1000, "0.4"), (10**5, "0.05"), (10**6, "0.002")), 2)
)
def test_agrees_with_the_contour_however_small_the_value(n, eps):
    law = krr(n, Exp(Fraction(eps)), k=10, eps0=1)
    found = FFT(largest=2**18).bracket(law, n)
    other = BallContour(rtol=float(found.relative_width) / 10).bracket(law, n)
    assert found.lower <= other.upper
    assert other.lower <= found.upper
    assert found.relative_width < Fraction(1, 10)


@pytest.mark.parametrize("n", [10**6, 10**9])
def test_lattices_are_followed_exactly(n):
    law = krr(n, Fraction(1), k=10, lam=3)
    found, other = FFT().bracket(law, n), BallContour(rtol=1e-8).bracket(law, n)
    assert found.contains(other.midpoint)
    assert found.relative_width < 1e-6 + 1e-13 * n
    assert not found.contains(other.midpoint * (1 + Fraction(1, 10**4)))


def test_one_user_bounds_every_number_of_users():
    """Where the window says nothing above, E[G_+] still does: no useless upper end."""
    law = krr(10**5, Exp(Fraction(1, 20)), k=3, eps0=12)
    assert FFT(largest=2**10).bracket(law, 1000).upper <= 1


def test_what_it_cannot_do_is_refused():
    with pytest.raises(Unsupported, match="more than 1024 lattice points"):
        FFT(largest=2**10).bracket(krr(10**6, Exp(Fraction(1, 100)), k=10, eps0=1), 10**6)
    with pytest.raises(Unsupported, match="below the range of doubles"):
        FFT().bracket(Law((Fraction(1), Fraction(-1)), (Fraction(1, 10**300), 1 - Fraction(1, 10**300))), 5)
