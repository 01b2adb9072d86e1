import json

import pytest

from symshuffle.cli import main

EXAMPLE = "3/5,1/5,1/5\n1/4,1/2,1/4\n1/6,1/3,1/2\n"


@pytest.fixture
def channel(tmp_path):
    path = tmp_path / "W.csv"
    path.write_text(EXAMPLE)
    return str(path)


def test_numbers_of_a_channel(channel, capsys):
    assert main(["law", "--file", channel, "--n", "2", "--eps", "0", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["trace"] == "21786/35929"
    assert found["budget"] == "34/25"
    assert found["ratio_cap"] == "18/5"
    assert found["extreme"] is True
    assert found["fixed_risk"]["exact"] == "131/25"
    pair = next(one for one in found["leakage"] if (one["i"], one["j"]) == (0, 2))
    assert pair["exact"] == "13/36"
    assert pair["envelope"]["exact"] == "234/529"
    assert len(found["leakage"]) == 6


def test_tables(channel, capsys):
    assert main(["law", "--file", channel, "--eps", "0.1"]) == 0
    shown = capsys.readouterr().out
    for word in ("templates", "trace", "18/5", "extreme", "envelope"):
        assert word in shown
    assert main(["law", "--file", channel]) == 0
    assert "envelope" not in capsys.readouterr().out


def test_infinite_values(tmp_path, capsys):
    path = tmp_path / "erased.csv"
    path.write_text("1/2,1/2,0\n1/2,0,1/2\n1/2,1/4,1/4\n")
    assert main(["law", "--file", str(path), "--eps", "1", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["iid_risk"] is None
    assert found["ratio_cap"] == "inf"
    assert all(one["envelope"] is None for one in found["leakage"])
    assert main(["law", "--file", str(path), "--eps", "1"]) == 0
    assert "infinite" in capsys.readouterr().out


@pytest.mark.parametrize(("extra", "named"), [(("--n", "0"), "--n"), (("--eps", "-1"), "--eps")])
def test_refusals(channel, capsys, extra, named):
    assert main(["law", "--file", channel, *extra]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert named in captured.err
