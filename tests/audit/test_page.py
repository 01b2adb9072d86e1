"""The page on audits: its commands and its program print what it shows, and its table is enumerated again."""

import itertools
import math
import re
import shlex
import sys
from fractions import Fraction as F
from pathlib import Path

from symshuffle import Channel
from symshuffle.cli import main
from symshuffle.collect import audit_local
from tests.audit.systems import binomial
from tests.shell import script

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "is-my-client-what-it-says.md"
STATUS = [0, 1, 1, 1, 1, 0]


def test_programs_print_what_the_page_shows(monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "88")
    page, status = script("outputs"), []
    for kind, program, shown in page.blocks(PAGE.read_text(encoding="utf-8")):
        if kind == "python":
            assert page.output(kind, program) == shown
            continue
        words = [word.replace("python ", f"{shlex.quote(sys.executable)} ") for word in shlex.split(program)]
        status.append(main(words[1:]))
        assert page.to_twelve(capsys.readouterr().out) == page.to_twelve(shown)
    assert status == STATUS


def channel(lam):
    own = F(lam, lam + 1)
    return Channel.from_rows([[own, 1 - own], [1 - own, own]])


def table_row(runs):
    """Exact probabilities of the outcomes, from the verdict on every pair of counts."""
    said, does = channel(3), channel(19)
    audit = audit_local(said, runs=runs, confidence="0.9")
    laws = [[binomial(runs, row[0]) for row in one.rows] for one in (said, does)]
    refuted, other, caught = F(0), F(0), F(0)
    for c, d in itertools.product(range(runs + 1), repeat=2):
        found = audit.judge([[c, runs - c], [d, runs - d]])
        honest, broken = (law[0][c] * law[1][d] for law in laws)
        refuted += honest * (found.outcome == "refuted")
        other += honest * bool(found.cells)
        caught += broken * (found.outcome == "refuted")
    assert max(refuted, other) <= F(1, 20)
    errors = [f"{math.ceil(error * 10**5) / 10**5:.5f}" for error in (refuted, other)]
    return f"| {runs} | {' | '.join(errors)} | {math.floor(caught * 10**4) / 10**4:.4f} | {audit.power(does):.4f} |"


def test_the_table_of_few_runs_is_exact():
    text = PAGE.read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \| [\d.]+ \|.*$", text, flags=re.MULTILINE)
    assert len(rows) == 2
    assert all(table_row(int(runs)) in text for runs in rows)
