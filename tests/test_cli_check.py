"""The command check, fed files of every kind that the toolkit writes, as they are and changed."""

import json

import pytest

from symshuffle.cli import main
from tests.shell import answer, refused, run

WRITERS = {
    "proof.json": ("epsilon", "krr", "-p", "k=3", "--eps0", "1", "--n", "100", "--delta", "1e-3",
                   "--proof", "proof.json"),
    "plan.json": ("collect", "plan", "--k", "3", "--n", "100", "--eps", "1", "--delta", "1e-3", "--mechanism", "krr",
                  "--out", "plan.json"),
    "loss.json": ("pld", "krr", "-p", "k=3", "--eps0", "1", "--n", "50", "--out", "loss.json"),
    "trace.json": ("design", "shuffled", "--k", "3", "--n", "4", "--eps", "1/4", "--delta", "1/1000", "--lam-cap", "4",
                   "--proof", "trace.json"),
    "certs": ("verify", "decomposition.ex-4.1", "--certificates", "certs"),
}  # fmt: skip
SAID = {
    "W.csv": "largest ratio",
    "W.json": "largest ratio",
    "proof.json": "PROVED: ",
    "plan.json": "CONSISTENT: plan ",
    "trace.json": "PROVED: no exchangeable channel with 3 inputs",
    "loss.json": "CONSISTENT: privacy loss",
    "certs/decomposition.ex-4.1.json": "ACCEPTED: decomposition.ex-4.1: ",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("files")
    with pytest.MonkeyPatch.context() as here:
        here.chdir(made)
        for words in WRITERS.values():
            assert main(list(words)) == 0
        (made / "W.csv").write_text("1/3,2/3\n2/3,1/3\n")
        (made / "W.json").write_text('{"rows": [["1/3", "2/3"], ["2/3", "1/3"]]}')
        (made / "other.json").write_text('{"colour": 1}')
    return made


def test_every_kind_of_file_is_recognised(folder, monkeypatch, capsys):
    monkeypatch.chdir(folder)
    capsys.readouterr()
    for file, said in SAID.items():
        assert main(["check", file]) == 0
        assert said in capsys.readouterr().out
    answers = answer(capsys, "check", *SAID, "--lam", "2")
    assert [answer["file"] for answer in answers] == list(SAID)
    assert main(["check", "plan.json", "W.csv", "--lam", "3/2"]) == 1
    assert capsys.readouterr().out.endswith("2 files: 1 as they say, 1 not\n")


@pytest.mark.parametrize("file", [file for file in SAID if not file.startswith("W.")])
def test_a_changed_file_does_not_pass(folder, file, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    content = json.loads((folder / file).read_text())
    for name in [name for name in content if name not in ("format", "kind")]:
        for changed in ({**content, name: "changed"}, {key: kept for key, kept in content.items() if key != name}):
            (tmp_path / "changed.json").write_text(json.dumps(changed))
            status = main(["check", "changed.json"])
            said = capsys.readouterr()
            if file == "loss.json" and name not in ("step", "first", "infinity_mass", "masses", "deltas"):
                continue  # what is said about the round beside its numbers, which is taken at its word
            assert status in (1, 2) and "Traceback" not in said.err, (name, said)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["other.json"], "FILE = other.json: expected a channel"),
        (["nosuch.json"], "FILE = nosuch.json"),
        (["plan.json", "--lam", "2"], "--lam = 2: expected a channel among the files"),
        (["W.csv", "--expect", "plan.json"], "--expect = plan.json: expected a proof among the files"),
        ([], "FILE is missing"),
    ],
)
def test_wrong_files_are_one_line(folder, monkeypatch, capsys, words, said):
    monkeypatch.chdir(folder)
    shown = refused(capsys, "check", *words)
    assert said in shown


def test_a_file_that_is_no_privacy_loss_is_named_as_it_was_given(tmp_path, capsys):
    path = tmp_path / "loss.json"
    for content in ({"format": "symshuffle privacy loss 9"}, {"format": "symshuffle privacy loss 9", "masses": [1]}):
        path.write_text(json.dumps(content), encoding="utf-8")
        assert main(["check", str(path)]) == 2
        said = capsys.readouterr().err
        assert f"FILE = {path}" in said and "--file" not in said


def test_a_wrong_number_of_a_privacy_loss_is_a_finding_with_its_place(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    content = json.loads((folder / "loss.json").read_text())
    deltas = content["deltas"]
    for changed, place, expected in (
        ({"deltas": [*deltas[:3], deltas[3] / 2, *deltas[4:]]}, "deltas[3]", f"{deltas[3]}, which follows from masses"),
        ({"deltas": deltas[1:]}, "deltas", f"{len(deltas)}, as follows from masses"),
        ({"masses": [mass / 2 for mass in content["masses"]]}, "masses", "a sum, with infinity_mass, of at least 1"),
        ({"first": 1}, "first", "an integer of at most 0"),
    ):
        (tmp_path / "loss.json").write_text(json.dumps(content | changed))
        status, out, err = run(capsys, "check", "loss.json")
        assert (status, err) == (1, "")
        assert out.startswith(f"NOT CONSISTENT: loss.json: {place} = ") and out.endswith(f": expected {expected}\n")
        status, out, _ = run(capsys, "check", "loss.json", "--json")
        assert status == 1 and json.loads(out)["consistent"] is False


def test_what_is_no_file_of_any_kind_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    for name, text in (("plan.toml", "= 1"), ("plan.toml", "[other]\nx = 1\n"), ("loss.json", "{"), ("x.json", "{}")):
        (tmp_path / name).write_text(text)
        assert name in refused(capsys, "check", name)


@pytest.mark.parametrize("rows", ["1\n1\n", "0.5,0.5\n0.5,0.5\n0.5,0.5\n"])
def test_the_largest_ratio_of_equal_rows_is_that_of_two_inputs(rows, tmp_path, capsys):
    (tmp_path / "w.csv").write_text(rows)
    assert "inputs 0 and 1 at output 0: ratio 1" in run(capsys, "check", str(tmp_path / "w.csv"))[1]
    assert answer(capsys, "check", str(tmp_path / "w.csv"))["level"]["largest"]["pair"] == [0, 1]
