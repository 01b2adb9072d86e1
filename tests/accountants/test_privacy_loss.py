"""The exported distribution of one round: above the truth everywhere, whole in its file, refused where it is not."""

# No public door gives a profile that is wrong on purpose: two private names are replaced.
import importlib.util
import json
from fractions import Fraction

import pytest

from symshuffle import Bracket, InputError, Unsupported, delta, privacy_loss_distribution, randomizer
from symshuffle.accountants import PrivacyLossDistribution
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.rounds import one_round
from symshuffle.accountants.rounds import privacy_loss_distribution as module
from symshuffle.accountants.rounds.dominating import Profile, law_above
from symshuffle.cli import main
from symshuffle.cli.arguments import LAW_BITS
from tests.exported import BINARY, CASES, ONE_SIDED, violations
from tests.shell import answer, refused
from tests.shown import as_html

COARSE = {"step": "0.125", "beyond": "1e-6"}
COMMAND = ("pld", "krr", "-p", "k=4", "--eps0", "1", "--n", "1000", "--step", "0.004")


@pytest.mark.parametrize(("channel", "n"), CASES)
def test_above_all_neighbours_at_the_levels_between_them_and_below_0(channel, n):
    assert not violations(privacy_loss_distribution(channel, n=n, **COARSE).law, channel, n)


def test_lower_ends_are_not_above(monkeypatch):
    def lowered(known):
        ends = tuple((low * Fraction(99, 100),) * 2 for low, _ in known.forward)
        return law_above(Profile(known.step, ends, ends))

    monkeypatch.setattr(module, "law_above", lowered)
    assert violations(privacy_loss_distribution(BINARY, n=2, **COARSE).law, BINARY, 2)


def test_a_wide_bracket_is_read_at_its_upper_end(monkeypatch):
    """Brackets of relative width 1 %: the export is above as before, and from their lower ends it would not be."""
    exact = one_round.OneRound._delta

    def wide(self, eps, width, question):
        found = exact(self, eps, width, question)
        return Bracket(found.lower * Fraction(99, 100), found.upper, found.arithmetic, found.engine, found.evaluation)

    monkeypatch.setattr(one_round.OneRound, "_delta", wide)
    assert not violations(privacy_loss_distribution(BINARY, n=2, **COARSE).law, BINARY, 2)
    monkeypatch.setattr(Profile, "_nodes", lambda self, end, nodes=Profile._nodes: nodes(self, 0))
    assert violations(privacy_loss_distribution(BINARY, n=2, **COARSE).law, BINARY, 2)


def test_one_order_is_not_enough(monkeypatch):
    both = one_round.OneRound._delta
    monkeypatch.setattr(one_round.OneRound, "_delta", lambda self, eps, width, _: both(self, eps, width, "forward"))
    assert violations(privacy_loss_distribution(ONE_SIDED, n=2, **COARSE).law, ONE_SIDED, 2)


def test_the_deltas_are_the_profile_rounded_up_and_hardly_above_the_bound():
    found = privacy_loss_distribution(randomizer("krr").at(k=4, eps0=1), n=1000, step="0.002")
    deltas = found.deltas()
    for i in (0, 10, 40, len(deltas) - 1):
        bound = delta(randomizer("krr").at(k=4, eps0=1), n=1000, eps=i * found.law.step).bracket
        assert bound.lower <= deltas[i] <= 1.001 * bound.upper + 1e-15
    assert deltas[-1] == float(found.law.infinity) <= 1e-15


def test_the_step_is_a_double_and_suits_the_round():
    found = privacy_loss_distribution(randomizer("krr").at(k=4, eps0=1), n=1000)
    assert found.law.step == 16 * Fraction(1e-4)
    scale = one_round.OneRound(reduction(randomizer("krr").at(k=4, eps0=1)), 1000, 1, Method()).scale()
    assert 20 <= scale / found.law.step < 40


def test_what_is_written_is_read(tmp_path):
    found = privacy_loss_distribution(ONE_SIDED, n=3, **COARSE)
    found.save(tmp_path / "round.json")
    assert PrivacyLossDistribution.read(tmp_path / "round.json") == found
    told = json.loads((tmp_path / "round.json").read_text())
    assert told["users"] == 3
    assert told["neighbours"]["every_pair"]
    assert "both orders" in told["proved"]
    assert "small delta" in told["not_proved"]
    assert "fresh randomness" in told["meaning"]
    assert told["arithmetic"] == "float64"
    assert told["versions"].keys() >= {"symshuffle", "python"}


def scale(among, told, factor):
    """One mass changed: the largest of some."""
    k = told["masses"].index(max(among))
    told["masses"][k] *= factor


@pytest.mark.parametrize(
    "change",
    [
        lambda told: scale(told["masses"][: -told["first"]], told, 1 - 1e-9),
        lambda told: scale(told["masses"][-told["first"] + 1 :], told, 1 + 1e-9),
        lambda told: scale(told["masses"], told, -1),
        lambda told: told.update(infinity_mass=0.5),
        lambda told: told.update(step=2 * told["step"]),
        lambda told: told.update(first=3),
        lambda told: told.update(format="another"),
        lambda told: told.pop("masses"),
    ],
)
def test_a_file_with_other_numbers_is_refused(tmp_path, change):
    file = tmp_path / "round.json"
    privacy_loss_distribution(ONE_SIDED, n=3, **COARSE).save(file)
    told = json.loads(file.read_text())
    change(told)
    file.write_text(json.dumps(told))
    with pytest.raises(InputError):
        PrivacyLossDistribution.read(file)


def test_a_file_that_is_none_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"missing\.json: expected a readable file"):
        PrivacyLossDistribution.read(tmp_path / "missing.json")


@pytest.mark.parametrize(
    ("asked", "named"),
    [
        ({"beyond": 0}, "beyond"),
        ({"beyond": "2"}, "beyond"),
        ({"step": "-0.1"}, "step"),
        ({"step": "1e-7"}, "step"),
        ({"n": 0}, "n"),
    ],
)
def test_wrong_input_is_named(asked, named):
    with pytest.raises(InputError, match=named):
        privacy_loss_distribution(BINARY, **{"n": 3, **asked})


def test_exact_rigour_is_refused():
    with pytest.raises(Unsupported, match="ball"):
        privacy_loss_distribution(BINARY, n=3, arithmetic="exact")


def test_balls(tmp_path):
    found = privacy_loss_distribution(BINARY, n=3, arithmetic="ball", **COARSE)
    assert found.about["arithmetic"] == "ball"
    assert not violations(found.law, BINARY, 3)


@pytest.mark.skipif(importlib.util.find_spec("dp_accounting") is not None, reason="the peer is installed")
def test_without_the_peer_one_line_says_what_to_install():
    with pytest.raises(Unsupported, match="pip install"):
        privacy_loss_distribution(BINARY, n=2, **COARSE).to_dp_accounting()


def test_command(capsys, tmp_path):
    file = tmp_path / "round.json"
    assert main([*COMMAND, "--out", str(file), "--explain"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "written" in text
    assert "not proved" in text
    assert answer(capsys, *COMMAND, "--out", str(file)) == json.loads(file.read_text())
    found = PrivacyLossDistribution.read(file)
    assert len(repr(found)) < 100 and found.about["meaning"].split("||")[0] in as_html(found)
    assert found.about["inputs"]["mechanism"] == "krr"
    assert (
        found.law
        == privacy_loss_distribution(randomizer("krr").at(k=4, eps0=1), n=1000, step="0.004", bits=LAW_BITS).law
    )


@pytest.mark.parametrize(
    ("more", "named"),
    [
        (("--beyond", "0"), "beyond"),
        (("--step", "x"), "step"),
        (("--arithmetic", "exact"), "exact"),
        (("--rtol", "2"), "rtol"),
    ],
)
def test_command_refuses_in_one_line(capsys, tmp_path, more, named):
    assert main([*COMMAND, "--out", str(tmp_path / "round.json"), *more]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert len(err.splitlines()) == 1
    assert named in err
    assert not list(tmp_path.iterdir())


def test_the_command_looks_at_the_place_before_it_works(capsys, tmp_path):
    assert "--out" in refused(capsys, *COMMAND, "--out", str(tmp_path))


def test_a_folder_that_is_not_there_is_refused_before_the_work(tmp_path, capsys):
    file = tmp_path / "new" / "round.json"
    curve = ["profile", "rr", "--eps0", "1", "--n", "10", "--to", "0.5", "--points", "2"]
    for asked, option in ((COMMAND, "--out"), (curve, "--csv")):
        said = refused(capsys, *asked, option, str(file))
        assert option in said and len(said.splitlines()) == 1 and not list(tmp_path.iterdir())
