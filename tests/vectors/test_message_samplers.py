"""Messages of vectors: each sampler's mean and spread by its definition, lengths at their limits, shapes."""

from fractions import Fraction as F

import numpy as np
import pytest
from scipy import stats

from symshuffle import InputError
from symshuffle.vectors import BlanketMixedGaussian, ClippedLinear, LocalGaussian, LocalLaplace, PrivUnit, SphereLinear
from symshuffle.vectors.randomizers import sampling
from symshuffle.vectors.randomizers.sampling import check_vectors, estimate, round_to_sphere, sample, shrinkage
from symshuffle.vectors.randomizers.sphere import clipped_numbers

USERS = 5_000


def rng(seed=0):
    return np.random.default_rng(seed)


def fits(drawn, law):
    """Kolmogorov's test: one sample in ten thousand would fail."""
    return stats.kstest(drawn, law, method="asymp").pvalue > 1e-4


def repeated(x):
    return np.tile(np.asarray(x, dtype=float), (USERS, 1))


X = np.array([0.6, 0.0, 0.8])


@pytest.mark.parametrize(
    "mechanism",
    [
        BlanketMixedGaussian("0.6", "0.5", 1, 3),
        SphereLinear("0.9", 3),
        PrivUnit("0.8", "0.3", 3),
        PrivUnit("0.8", "-0.4", 3),
        PrivUnit("0.8", 0, 3),
        ClippedLinear("0.2", 3, 2),
        LocalGaussian("0.5", 3),
    ],
    ids=str,
)
def test_the_mean_message_is_the_shrunken_input(mechanism):
    """Each coordinate of a message is below 1 in mean square: four deviations of the mean are below 0.06."""
    messages = sample(mechanism, repeated(X), rng())
    assert messages.shape == (USERS, 3)
    assert messages.mean(axis=0) == pytest.approx(float(shrinkage(mechanism)) * X, abs=0.06)
    assert estimate(mechanism, messages) == pytest.approx(messages / float(shrinkage(mechanism)))


@pytest.mark.parametrize("theta", ["0.3", "-0.4", "0"])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_heights_of_privunit(theta, d):
    """The cap has probability p; within it and within the rest the height has the law of a uniform point."""
    mechanism = PrivUnit("0.7", theta, d)
    x = np.zeros(d)
    x[0] = 1
    messages = sample(mechanism, repeated(x), rng(1))
    assert np.linalg.norm(messages, axis=1) == pytest.approx(np.ones(USERS))
    t, cut = messages[:, 0], float(F(theta))
    assert (t >= cut).mean() == pytest.approx(0.7, abs=0.035)
    half = (d - 1) / 2
    law = stats.beta(half, half, loc=-1, scale=2)
    inside, outside = t[t >= cut], t[t < cut]
    assert fits((law.cdf(inside) - law.cdf(cut)) / law.sf(cut), "uniform")
    assert fits(law.cdf(outside) / law.cdf(cut), "uniform")


@pytest.mark.parametrize(("clip", "d"), [("0.2", 3), ("-0.5", 3), ("0", 2)])
def test_heights_of_the_clipped_density(clip, d):
    mechanism = ClippedLinear(clip, d, 2)
    gamma, slope, _ = map(float, clipped_numbers(mechanism))
    x = np.zeros(d)
    x[0] = 1
    t = sample(mechanism, repeated(x), rng(2))[:, 0]
    half, t0 = (d - 1) / 2, float(F(clip))
    law = stats.beta(half, half, loc=-1, scale=2)
    grid = np.linspace(-1, 1, 20_001)
    middle = (grid[1:] + grid[:-1]) / 2
    mass = np.diff(law.cdf(grid)) * (gamma + slope * np.maximum(middle - t0, 0))
    assert mass.sum() == pytest.approx(1, abs=1e-6)
    cdf = np.concatenate([[0], np.cumsum(mass)])
    assert fits(np.interp(t, grid, cdf), "uniform")


def test_heights_of_the_linear_density():
    """On the sphere of dimension 3, at an input of length 1/2: 1 + 0.45 t over uniform heights."""
    t = sample(SphereLinear("0.9", 3), repeated([0.5, 0, 0]), rng(3))[:, 0]
    cdf = (t + 1) / 2 + 0.45 * (t**2 - 1) / 4
    assert fits(cdf, "uniform")


def test_noise_has_its_spread():
    mixed = sample(BlanketMixedGaussian("0.6", "0.01", 1, 1), repeated([1.0]), rng(4))[:, 0]
    assert (mixed < 0.5).mean() == pytest.approx(0.6, abs=0.035)
    assert mixed[mixed < 0.5].std() == pytest.approx(0.01, rel=0.08)
    assert mixed[mixed > 0.5].mean() == pytest.approx(1, abs=0.002)
    laplace = sample(LocalLaplace("0.3"), repeated([0.5]), rng(5))[:, 0]
    assert fits(laplace, stats.laplace(0.5, 0.3).cdf)
    gauss = sample(LocalGaussian("0.3"), repeated([0.5]), rng(6))[:, 0]
    assert fits(gauss, stats.norm(0.5, 0.3).cdf)


def test_rounding_to_the_sphere_keeps_the_mean():
    x = repeated([0.3, 0.0, -0.4])
    found = round_to_sphere(x, rng(8))
    assert np.linalg.norm(found, axis=1) == pytest.approx(np.ones(USERS))
    assert found.mean(axis=0) == pytest.approx([0.3, 0, -0.4], abs=0.035)
    assert abs(found @ [0.6, 0, -0.8]) == pytest.approx(np.ones(USERS))
    none = round_to_sphere(np.zeros((USERS, 3)), rng(8))
    assert np.linalg.norm(none, axis=1) == pytest.approx(np.ones(USERS)) and abs(none.mean(axis=0)).max() < 0.06
    unit = repeated([0.0, 1.0])
    assert (round_to_sphere(unit, rng(8)) == unit).all()


@pytest.mark.parametrize(
    ("mechanism", "length", "taken"),
    [
        (PrivUnit("0.8", 0, 2), 1 + 9e-10, True),
        (PrivUnit("0.8", 0, 2), 1 - 9e-10, True),
        (PrivUnit("0.8", 0, 2), 1 + 2e-9, False),
        (PrivUnit("0.8", 0, 2), 1 - 2e-9, False),
        (ClippedLinear(0, 2, 1), 0.99, False),
        (SphereLinear("0.8", 2), 1 + 9e-10, True),
        (SphereLinear("0.8", 2), 1 + 2e-9, False),
        (SphereLinear("0.8", 2), 0.1, True),
        (BlanketMixedGaussian("0.5", 1, "0.5", 2), 0.5 + 9e-10, True),
        (BlanketMixedGaussian("0.5", 1, "0.5", 2), 0.5 + 2e-9, False),
        (LocalGaussian(1, 2), 1 + 2e-9, False),
    ],
)
def test_lengths_at_their_limits(mechanism, length, taken):
    x = np.array([[length, 0.0]] * 2)
    if taken:
        assert (check_vectors(mechanism, x) == x).all()
    else:
        with pytest.raises(InputError, match=r"vectors\[0\] = length"):
            check_vectors(mechanism, x)


def test_what_is_no_vector_is_named():
    mechanism = SphereLinear("0.5", 2)
    for wrong, match in (
        (np.zeros(2), "shape"),
        (np.zeros((3, 3)), "shape"),
        (np.array([[0, 0], [np.nan, 0]]), r"vectors\[1\] = \[nan, 0.0\]"),
        (np.array([[0, 0], [0, 0], [1, 1]]), r"vectors\[2\] = length 1.41421"),
    ):
        with pytest.raises(InputError, match=match):
            check_vectors(mechanism, wrong)
    with pytest.raises(InputError, match=r"vectors\[0\] = not finite"):
        check_vectors(SphereLinear("0.5", 5), np.full((1, 5), np.inf))
    with pytest.raises(InputError, match="rng"):
        sample(mechanism, np.zeros((1, 2)), 7)
    with pytest.raises(InputError, match="p = 1/2"):
        estimate(PrivUnit("0.5", 0, 3), np.zeros((1, 3)))
    assert sampling.LENGTH_SLACK == 1e-9
