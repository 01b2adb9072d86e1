"""Edits of the vector mechanisms that `python -m tests.mutants` drew, each with what notices it now."""

from __future__ import annotations

import numpy as np
import pytest

from symshuffle import InputError
from symshuffle.vectors import confirmation
from symshuffle.vectors.correspondence import correspondence
from symshuffle.vectors.mechanisms import BlanketMixedGaussian, LocalGaussian, PrivUnit, SphereLinear
from symshuffle.vectors.sampling import sample_null


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("theta", ["1/4", "-1/4"])
def test_the_laws_of_the_second_witness_have_mass_1(adjacency, theta):
    for here, there in [
        [sum(row[side] * row[3] for row in confirmation._rows(PrivUnit("3/4", theta, 5), adjacency, None, 12, 1))
         for side in (0, 1)],
        *([sum(row[side] * row[3] for row in confirmation._rows(SphereLinear("1/2", d), adjacency, None, 12, 1))
           for side in (0, 1)] for d in (1, 2, 3)),
    ]:  # fmt: skip
        assert abs(here - 1) < 1e-9
        assert abs(there - 1) < 1e-9


@pytest.mark.parametrize("growth", [0, -1, "0"])
def test_the_rate_of_a_correspondence_is_positive(growth):
    with pytest.raises(InputError, match="growth"):
        correspondence(BlanketMixedGaussian("0.95", "4.6"), [1000], growth=growth)


@pytest.mark.parametrize("mechanism", [BlanketMixedGaussian("0.9", 3, dimension=4), LocalGaussian(3, dimension=4)])
def test_the_null_symbol_is_as_noisy_as_the_mechanism(mechanism):
    found = sample_null(mechanism, 4000, np.random.default_rng(5))
    assert found.shape == (4000, 4)
    assert abs(found.std() - 3) < 0.1
    assert abs(found.mean()) < 0.1


def test_the_second_witness_of_a_line_is_a_coin():
    """In dimension 1 the sphere is two points."""
    rows = confirmation._rows(SphereLinear("1/2", 1), "replace-one", None, 12, 1)
    assert [tuple(map(float, row)) for row in rows] == [(1.5, 0.5, 0.5, 0.5), (0.5, 1.5, 0.5, 0.5)]
