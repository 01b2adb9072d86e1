"""What is exported of one round: ranges of its arguments at both ends, what is passed on, which files are refused."""

import json
import sys
import types
from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, PrivacyLoss, Unsupported, privacy_loss
from symshuffle.accountants import privacy_loss as module
from symshuffle.accountants.dominating import LatticeLaw
from symshuffle.accountants.one_round import OneRound

BINARY = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
LAW = LatticeLaw(Fraction(1, 4), -2, (0.25, 0.25, 0.25, 0.125, 0.0), Fraction(1, 8))


def test_the_profile_of_a_law_by_hand():
    """Beyond 1/4 nothing but 1/8 is left; at 0 a mass of 1/8 at a loss of 1/4 has 1 - exp(-1/4) more."""
    found = PrivacyLoss(LAW, {"users": 3})
    zero, quarter, half = found.deltas()
    assert zero == pytest.approx(0.125 + 0.125 * 0.22119921692859512, rel=1e-15)
    assert (quarter, half) == (0.125, 0.125)
    told = found.to_dict()
    assert {name: told[name] for name in ("users", "step", "first", "infinity_mass", "masses")} == {
        "users": 3, "step": 0.25, "first": -2, "infinity_mass": 0.125, "masses": [0.25, 0.25, 0.25, 0.125, 0.0]
    }  # fmt: skip
    assert told["deltas"] == found.deltas() and told["format"] == module.FORMAT


def test_a_file_is_read_as_it_is_written(tmp_path):
    file = tmp_path / "law.json"
    PrivacyLoss(LAW, {"users": 3}).write(file)
    assert PrivacyLoss.read(file) == PrivacyLoss(LAW, {"users": 3})


@pytest.mark.parametrize(
    "law",
    [
        LatticeLaw(Fraction(1, 4), 0, (0.5, 0.375), Fraction(1, 8)),  # it may begin at 0, and sum to 1 exactly
        LatticeLaw(Fraction(1, 4), -1, (0.5, 0.375), Fraction(1, 8)),
    ],
)
def test_laws_that_just_do(tmp_path, law):
    file = tmp_path / "law.json"
    PrivacyLoss(law, {}).write(file)
    assert PrivacyLoss.read(file).law == law


@pytest.mark.parametrize(
    "law",
    [
        LatticeLaw(Fraction(1, 4), -1, (0.5, 0.375 - 2**-40), Fraction(1, 8)),
        LatticeLaw(Fraction(1, 4), 1, (0.5, 0.375), Fraction(1, 8)),
    ],
)
def test_laws_that_just_do_not(tmp_path, law):
    """A sum below 1, and losses that are all above 0: written by hand, with the deltas that they have."""
    found = PrivacyLoss(law, {})
    told = {"format": module.FORMAT, "step": 0.25, "first": law.first, "infinity_mass": 0.125, "masses": law.masses}
    file = tmp_path / "law.json"
    file.write_text(json.dumps(told | {"deltas": found.deltas()}), encoding="utf-8")
    with pytest.raises(InputError, match="masses of sum at least 1"):
        PrivacyLoss.read(file)


@pytest.mark.parametrize("text", ["[]", "{}", '{"format": "other"}', "not json"])
def test_files_of_another_kind(tmp_path, text):
    file = tmp_path / "law.json"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match="file"):
        PrivacyLoss.read(file)


def test_what_the_other_library_is_given(monkeypatch):
    """Every mass by the number of its step, as a pessimistic estimate; the library itself is not needed."""

    def create_pmf(masses, step, infinity, *, pessimistic_estimate):
        return masses, step, infinity, pessimistic_estimate

    pld = types.ModuleType("dp_accounting.pld")
    pld.pld_pmf = types.SimpleNamespace(create_pmf=create_pmf)
    pld.privacy_loss_distribution = types.SimpleNamespace(PrivacyLossDistribution=lambda pmf: pmf)
    monkeypatch.setitem(sys.modules, "dp_accounting", types.ModuleType("dp_accounting"))
    monkeypatch.setitem(sys.modules, "dp_accounting.pld", pld)
    masses = {-2: 0.25, -1: 0.25, 0: 0.25, 1: 0.125, 2: 0.0}
    assert PrivacyLoss(LAW, {}).to_dp_accounting() == (masses, 0.25, 0.125, True)


def test_ranges():
    for wrong in (0, 1, "-1/10"):
        with pytest.raises(InputError, match="beyond"):
            privacy_loss(BINARY, n=2, beyond=wrong)
    for wrong in (0, "-1/10"):
        with pytest.raises(InputError, match="step"):
            privacy_loss(BINARY, n=2, step=wrong)
    with pytest.raises(InputError, match="n = 0"):
        privacy_loss(BINARY, n=0)
    with pytest.raises(Unsupported, match="rigour exact"):
        privacy_loss(BINARY, n=2, rigour="exact")


@pytest.fixture
def told(monkeypatch):
    """The last level is 2; what the lattice is asked for is kept."""
    asked = []

    def profiles(self, step, beyond, width):
        asked.append((step, beyond, width))
        return ("above", "below")

    monkeypatch.setattr(OneRound, "last_level", lambda self, beyond: Fraction(2))
    monkeypatch.setattr(OneRound, "scale", lambda self: 0.25)
    monkeypatch.setattr(OneRound, "profiles", profiles)
    monkeypatch.setattr(module, "law_above", lambda profile: profile)
    return asked


def test_the_profile_from_above_is_what_is_exported(told):
    found = privacy_loss(BINARY, n=2, step="1/8", beyond="1e-9", rel=0.125)
    assert found.law == "above"
    assert told == [(Fraction(1, 8), Fraction(1, 10**9), 0.125)]
    assert (found.about["users"], found.about["rigour"], found.about["neighbours"]["users"]) == (2, "float64", 2)
    assert privacy_loss(BINARY, n=2, step="1/8", rigour="ball").about["rigour"] == "ball"
    assert told[-1] == (Fraction(1, 8), Fraction(1, 10**15), 1e-4)
    privacy_loss(BINARY, n=2)
    assert told[-1][0] == Fraction(64e-4)  # 20 to 40 steps within 0.25


def test_how_many_levels_there_may_be(told):
    """Twenty thousand of them up to level 2."""
    privacy_loss(BINARY, n=2, step=Fraction(1, 8192))
    assert told[-1][0] == Fraction(1, 8192)
    with pytest.raises(InputError, match=r"step = .*: expected at least 0\.0001, or .* levels"):
        privacy_loss(BINARY, n=2, step=Fraction(1, 16384))
