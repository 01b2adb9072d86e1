"""A calibration whose search ends before its target says so."""

import math
import re
from fractions import Fraction as F

import numpy as np
import pytest

from symshuffle.vectors import calibrate
from tests.shell import answer, run


def test_a_search_that_ends_before_its_target_names_the_parameter():
    found = calibrate("sphere-linear", n=2_000_000, dimension=1, delta="1e-9", eps=1)
    assert found.certificate.bracket.upper < F(1, 10**90)
    assert found.parameters.c > F(998, 1000)
    assert "c ends at 0.999" in found.limit
    assert found.to_dict()["limit"] == found.limit


@pytest.mark.parametrize(("name", "dimension", "n"), [("sphere-linear", 3, 20_000), ("bmg", 3, 20_000)])
def test_a_target_that_is_reached_has_no_limit(name, dimension, n):
    found = calibrate(name, n=n, dimension=dimension, delta="1e-9", eps=1, gap=None)
    assert found.limit is None
    assert found.certificate.bracket.upper > F(9, 10**10)


def test_numbers_on_one_side_of_zero_get_a_hint_that_halves_the_error():
    from symshuffle.vectors import private_mean

    half = np.linspace(0, 1, 500)[:, None]

    def mean(data):
        return private_mean(data, eps=1, delta="1e-5", mechanism="sphere-linear", rng=np.random.default_rng(1))

    plain, other = mean(half), mean(-half)
    assert "2x - 1" in plain.hint and "2x + 1" in other.hint
    mapped = mean(2 * half - 1)
    assert mapped.hint is None
    assert abs((mapped.mean[0] + 1) / 2 - plain.mean[0]) < 1e-12
    assert float(mapped) / 2 < 0.51 * float(plain)


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("d", [2, 3, 10])
def test_vectors_without_coordinates_of_a_sign_get_a_hint_that_reduces_the_error(d, sign):
    """What the hint says is done: mapped vectors are in the unit ball, and the certified error is as much smaller."""
    from symshuffle.vectors import private_mean

    drawn = np.random.default_rng(d).dirichlet(np.ones(d), 300) ** np.linspace(0.3, 1, 300)[:, None]
    drawn /= np.maximum(np.linalg.norm(drawn, axis=1), 1)[:, None]
    data = sign * np.concatenate([drawn, np.eye(d), np.zeros((1, d)), np.full((1, d), 1 / math.sqrt(d))])

    def mean(vectors):
        fixed = {"theta": "0"}
        seed = np.random.default_rng(1)
        return private_mean(vectors, eps=1, delta="1e-3", mechanism="privunit", fixed=fixed, rng=seed)

    plain = mean(data)
    shift, part = re.search(r"send \(x ([-+] 1/\d+)\)/r .* has ([0-9.]+) % of the error$", plain.hint).groups()
    centre, radius = -F(shift.replace(" ", "")), math.sqrt(1 - 1 / d)
    mapped = (data - float(centre)) / radius
    lengths = np.linalg.norm(mapped, axis=1)
    assert 1 - 1e-12 < lengths.max() < 1 + 1e-12, "and no smaller ball holds them"
    assert radius <= float(part) / 100 < radius + 1e-3
    moved = mean(np.clip(mapped, -1, 1))
    assert moved.hint is None
    assert np.allclose(radius * moved.mean + float(centre), plain.mean, atol=1e-12)
    assert radius * float(moved) <= float(part) / 100 * float(plain)


def test_there_is_no_hint_where_it_would_save_less_than_a_percent():
    from symshuffle.vectors.means.private import _range_hint

    assert _range_hint(50, 0.0, 1.0) and not _range_hint(51, 0.0, 1.0)
    assert not _range_hint(3, -0.1, 0.1) and not _range_hint(3, 0.0, 0.0)


def test_limits_and_hints_are_printed_where_json_has_them(capsys, tmp_path):
    """Without --explain as well."""
    file = tmp_path / "x.csv"
    file.write_text("0.1\n0.4\n" * 100)
    lines = [
        (
            "limit",
            (
                "calibrate",
                "sphere-linear",
                "--n",
                "2000000",
                "--d",
                "1",
                "--eps",
                "1",
                "--delta",
                "1e-9",
                "--gap",
                "none",
            ),
        ),
        (
            "hint",
            ("mean", file, "--mechanism", "sphere-linear", "--eps", "1", "--delta", "1/10", "--seed", "1"),
        ),
    ]
    for name, words in lines:
        said = answer(capsys, *words)[name]
        status, out, _ = run(capsys, *words)
        assert status == 0 and said and " ".join(said.split()) in " ".join(out.split())
