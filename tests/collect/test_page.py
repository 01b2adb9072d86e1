"""The page on surveys: its commands run one after another, and print what the page shows."""

import math
import re
from pathlib import Path

from symshuffle.collect import Support
from tests.collect.cases import PARAMETERS, small
from tests.collect.test_coverage import CONFIDENCES, MOST, count_law, coverage
from tests.shell import run, script

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "surveys.md"
BLOCK = re.compile(r"```console\n\$ symshuffle (.*?)\n(.*?)```", flags=re.DOTALL)


def test_commands_print_what_the_page_shows(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "88")
    Path("answers.csv").write_text("user,answer\n" + "".join(f"u{i},{i % 5}\n" for i in range(2000)))
    to_twelve = script("outputs").to_twelve
    shown = BLOCK.findall(PAGE.read_text(encoding="utf-8"))
    assert len(shown) == 4
    for command, output in shown:
        status, out, _ = run(capsys, *command.split())
        assert status == 0 and to_twelve(out) == to_twelve(output)


def test_files_are_as_the_page_says(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    from symshuffle.collect.mechanisms import SCHEMES

    assert all(f"`{name}`" in text for name in SCHEMES)
    from symshuffle.collect.estimate import COLUMNS

    assert all(f"`{name}`" in text for name in COLUMNS[1:])


def test_the_table_of_coverage_is_exact():
    """Smallest coverage of an interval over all populations of 1 to 8 users, k = 4, rounded down."""
    text = PAGE.read_text(encoding="utf-8")
    for name in PARAMETERS:
        p, q = small(name).scheme.p, small(name).scheme.q
        least = []
        for confidence in CONFIDENCES:
            found = []
            for n in range(1, MOST + 1):
                ends = [Support(n, p, q).interval(c, 1 - confidence) for c in range(n + 1)]
                found += [coverage(count_law(n, m, p, q), ends, m) for m in range(n + 1)]
            assert min(found) >= confidence
            least.append(f"{math.floor(min(found) * 10000) / 10000:.4f}")
        assert f"| `{name}` | {p} | {q} | {' | '.join(least)} |" in text, (name, p, q, least)
