"""Work that takes long says so: every command of the table, on a terminal, and nothing to pipes."""

import io
import time

import pytest

from symshuffle import cli
from symshuffle.cli import FAMILIES, progress


class Terminal(io.StringIO):
    def __init__(self, terminal):
        super().__init__()
        self.terminal = terminal

    def isatty(self):
        return self.terminal


def test_one_line_after_a_while(monkeypatch):
    for terminal, seconds, lines in [(True, 0.01, 1), (False, 0.01, 0), (True, 5.0, 0)]:
        screen = Terminal(terminal)
        monkeypatch.setattr("sys.stderr", screen)
        with progress.after_a_while("at work", seconds):
            time.sleep(0.1)
        assert screen.getvalue().count("\n") == lines


def test_a_bar_says_it_instead(monkeypatch):
    screen = Terminal(True)
    monkeypatch.setattr("sys.stderr", screen)
    with progress.after_a_while("at work", 0.05):
        progress.progress()
        time.sleep(0.15)
    assert "at work" not in screen.getvalue()


SLOW = {
    "verify": ["verify", "decomposition"],
    "claims": ["claims"],
    "errata": ["errata"],
    "show": ["show", "decomposition.thm-12"],
    "perturb": ["perturb", "decomposition"],
    "reproduce": ["reproduce", "--all"],
    "doctor": ["doctor"],
    "delta": ["delta", "krr", "-p", "k=1000", "--eps0", "1", "--n", "2000", "--eps", "0.05", "--rtol", "1e-12"],
    "epsilon": ["epsilon", "krr", "-p", "k=100", "--eps0", "4", "--n", "1000000000", "--delta", "1e-30"],
    "decompose": ["decompose", "half-block"],
    "mechanisms": ["mechanisms"],
    "example": ["example"],
    "largest-eps0": ["largest-eps0", "rr", "--n", "1000000", "--eps", "0.1", "--delta", "1e-9"],
    "smallest-n": ["smallest-n", "rr", "--eps0", "1", "--eps", "0.001", "--delta", "1e-9"],
    "profile": ["profile", "krr", "-p", "k=100", "--eps0", "1", "--n", "10000"],
    "amplification-curve": ["amplification-curve", "krr", "-p", "k=9", "--eps0", "1", "--delta", "1e-9", "--to", "1e9"],
    "tradeoff": ["tradeoff", "krr", "-p", "k=1000", "--eps0", "1", "--n", "2000"],
    "renyi": ["renyi", "krr", "-p", "k=1000", "--eps0", "1", "--n", "2000", "--order", "2"],
    "gdp": ["gdp", "krr", "-p", "k=1000", "--eps0", "1", "--n", "2000"],
    "design": ["design", "minimax"],
    "frontier": ["frontier", "--k", "30"],
    "subset-size": ["subset-size", "--k", "1000"],
    "law": ["law", "krr"],
    "worst-datasets": ["worst-datasets", "krr"],
    "compare": ["compare"],
    "pld": ["pld", "krr", "-p", "k=50", "--n", "1000000"],
    "calibrate": ["calibrate", "clipped-gaussian"],
    "mean": ["mean"],
    "report": ["report"],
    "cite": ["cite", "decomposition.thm-12"],
    "sweep": ["sweep", "spec.toml", "--out", "out"],
    "collect": ["collect", "plan", "--k", "50", "--n", "200000", "--eps", "1", "--delta", "1e-8", "--out", "plan.json"],
    "audit": ["audit", "local", "--program", "client", "--claim", "krr", "-p", "k=4", "--lam", "3", "--runs", "100000"],
    "check": ["check", "matrix.csv"],
}
"""Every command, with the kind of request for which it takes long."""


def test_the_table_holds_every_command():
    commands = {name for family, names in FAMILIES.items() for name in (names or (family,))}
    assert set(SLOW) == commands


@pytest.mark.parametrize("command", SLOW)
def test_every_command_is_watched(command, monkeypatch):
    """Whatever it is asked, its work is done under the watch: a command that takes long is seen to."""
    told = []
    screen = Terminal(True)

    class Slow:
        def __call__(self, **given):
            assert given["args"] == SLOW[command]
            time.sleep(0.15)

    monkeypatch.setattr(cli, "application", lambda families, **_: Slow())
    monkeypatch.setattr(cli, "after_a_while", lambda what: told.append(what) or progress.after_a_while(what, 0.02))
    monkeypatch.setattr("sys.stderr", screen)
    assert cli.main(SLOW[command]) == 0
    assert told == [f"symshuffle {command}: at work, Ctrl-C to stop"]
    assert screen.getvalue() == f"{told[0]} ...\n"
