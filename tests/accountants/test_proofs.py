"""Files that carry the proof of an upper bound, and the checker that needs nothing but Python."""

import copy
import json
import random
import shutil
import subprocess
import sys
from fractions import Fraction as F
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from symshuffle import Channel, Exp, Unsupported, delta, epsilon, prove, randomizer
from symshuffle.cli import app
from symshuffle.ledger.recheck import bound

SOURCE = Path(bound.__file__)
ONE_PART_IN_A_THOUSAND = F(1001, 1000)


def alone(folder: Path, *files: str) -> subprocess.CompletedProcess[str]:
    """The checker, copied out, run by a Python that sees no package."""
    shutil.copy(SOURCE, folder / "copy.py")
    command = [sys.executable, "-I", "-S", "copy.py", *files]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


def signed(content: dict[str, Any], **facts: Any) -> dict[str, Any]:
    changed = content | {"statement": content["statement"] | facts}
    return changed | {"digest": bound.digest(changed)}


def proved(content: dict[str, Any], *expected: Any) -> bool:
    try:
        return bool(bound.check(content, *expected))
    except bound.CertificateError:
        return False


def test_the_checker_is_short_and_imports_the_standard_library_only() -> None:
    lines = SOURCE.read_text().splitlines()
    assert len(lines) <= 400
    assert max(map(len, lines)) <= 120
    imported = {line.split()[1].partition(".")[0] for line in lines if line.startswith(("import ", "from "))}
    assert imported <= sys.stdlib_module_names


LEANING = Channel.from_rows([["99/100", "1/100"], ["1/2", "1/2"]])
"""A channel of which one order of the two inputs has half the divergence of the other."""

UNLIKE = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], ["1/8", "1/8", "3/4"]])


@pytest.mark.parametrize(
    ("channel", "n", "fields"),
    [
        (LEANING, 1, {"pairs": "0-1"}),
        (Channel(LEANING.rows[::-1]), 1, {"pairs": "0-1"}),
        (LEANING, 3, {"graph": "0-1"}),
        (UNLIKE, 5, {"graph": "0-2,1-2"}),
        (UNLIKE, 5, {"pairs": "0-1", "min_batch_size": 3}),
        (UNLIKE, 5, {"pairs": "1-2", "group_size": 2}),
    ],
)
def test_a_proof_covers_both_orders_of_the_pairs_that_an_answer_covers(
    channel: Channel, n: int, fields: dict[str, Any]
) -> None:
    answer = delta(channel, n=n, exp_eps="3/2", **fields)
    content = json.loads(prove(answer).text)
    assert proved(content)
    stated = content["statement"]
    assert sorted(stated["pairs"]) == sorted(pair[::-1] for pair in stated["pairs"])
    assert answer.bracket.lower <= F(stated["delta"]) <= answer.bracket.upper + F(1, 10**6)


def test_the_command_writes_a_file_that_python_alone_proves(tmp_path: Path) -> None:
    file = tmp_path / "bound.json"
    asked = ["epsilon", "krr", "-p", "k=50", "--eps0", "2", "--n", "200000", "--delta", "1e-8", "--proof", str(file)]
    assert CliRunner().invoke(app, asked).exit_code == 0
    statement = json.loads(file.read_text())["statement"]
    upper = epsilon(randomizer("krr").at(k=50, eps0=2), n=200_000, delta="1e-8").bracket.upper
    assert upper <= F(statement["exp_eps"][4:-1]) <= upper * ONE_PART_IN_A_THOUSAND
    found = alone(tmp_path, "bound.json")
    assert found.returncode == 0
    assert found.stdout.startswith("PROVED: delta <= 1/100000000 at exp(eps) = exp(")
    (tmp_path / "statement.json").write_text(json.dumps(statement))
    assert alone(tmp_path, "bound.json", "statement.json").returncode == 0
    (tmp_path / "statement.json").write_text(json.dumps(statement | {"users": 100_000}))
    assert alone(tmp_path, "bound.json", "statement.json").returncode == 1
    assert CliRunner().invoke(app, ["check", str(file)]).output.startswith("PROVED")
    refused = CliRunner().invoke(app, ["check", str(file), "--expect", str(tmp_path / "statement.json")])
    assert refused.exit_code == 1
    assert "NOT PROVED: statement" in refused.output
    file.write_text(json.dumps(signed(json.loads(file.read_text()), delta="999/100000000000")))
    assert "NOT PROVED" in alone(tmp_path, "bound.json").stderr  # an upper end that is 0.1 % too low


def test_the_page_shows_what_its_commands_print(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (Path(__file__).parents[2] / "docs" / "check-our-number.md").read_text()
    command = next(line for line in page.splitlines() if line.startswith("symshuffle epsilon"))
    monkeypatch.chdir(tmp_path)
    written = CliRunner().invoke(app, command.split()[1:])
    assert written.exit_code == 0
    said = alone(tmp_path, "bound.json").stdout
    assert said.strip() in page
    assert said.replace("PROVED:", "bound.json proves").strip() in page


def drawn(rng: random.Random) -> tuple[Any, dict[str, Any]]:
    """A source and a question, as users might ask."""
    eps0, k = F(rng.randint(2, 30), 10), rng.randint(2, 12)
    size = rng.choice((None, 2, 3, 20))
    named = {
        "rr": {},
        "krr": {"k": k},
        "subset-selection": {"k": k, "s": rng.randint(1, k - 1)},
        "rappor": {} if size is None else {"D": size},
        "oue": {} if size is None else {"D": size},
        "half-block": {"k": 2 * rng.randint(1, 4)},
        "hadamard": {"D": 2 ** rng.randint(2, 3)},
        "aug-rr": {"k": k, "p": "1/2"},
    }
    name = rng.choice((*named, "channel", "channel"))
    asked: dict[str, Any] = {"n": rng.choice((1, 5, 20, 60, 200, 1000, 10**4, 10**6, 10**9))}
    if name == "channel":
        rows = [[rng.randint(1, 9) for _ in range(rng.randint(2, 4))]]
        rows += [[rng.randint(0 if rng.random() < 0.2 else 1, 9) or 1 for _ in rows[0]] for _ in range(2)]
        source: Any = Channel.from_rows([[F(x, sum(row)) for x in row] for row in rows])
    else:
        source = randomizer(name).at(eps0=eps0, **named[name])
    if rng.random() < 0.2:
        asked["adjacency"] = "zero-out"
        if size is None and name in ("rappor", "oue"):  # an open size has no bound there
            source = randomizer(name).at(eps0=eps0, D=20)
    if rng.random() < 0.2 and asked["n"] > 2:
        asked["group_size"] = 2
    if rng.random() < 0.2:
        asked["min_batch_size"] = max(1, asked["n"] // 2)
    with_delta = {**asked, "delta": F(1, 10 ** rng.randint(2, 10))}
    try:
        asked["exp_eps"] = Exp(epsilon(source, **with_delta).bracket.upper.limit_denominator(10**6))
    except Unsupported:
        asked["exp_eps"] = F(11, 10)
    if asked["exp_eps"] in (Exp(F(0)),):
        asked["exp_eps"] = F(1)
    return source, asked


def agrees(seed: int) -> bool:
    """Whether a drawn request was proved, and as near to the ball engine as promised; False where none is possible."""
    source, asked = drawn(random.Random(seed))
    try:
        content = prove(delta(source, **asked)).content
    except Unsupported as error:
        assert "no line of at most" in str(error) or "the bound is 0 there" in str(error)
        return False
    bracket = delta(source, arithmetic="ball", rtol=1e-9, **asked).bracket
    assert bracket.lower <= F(content["statement"]["delta"]) <= bracket.upper * ONE_PART_IN_A_THOUSAND + F(1, 10**70)
    assert proved(content)
    return True


def test_drawn_requests_agree_with_the_ball_engine() -> None:
    assert sum(agrees(seed) for seed in range(12)) >= 10


@pytest.mark.conformance
def test_many_drawn_requests_agree_with_the_ball_engine() -> None:
    assert sum(agrees(seed) for seed in range(1000, 1200)) >= 190


CASES = [
    (randomizer("krr").at(k=3, lam=3), {"n": 6, "exp_eps": F(6, 5)}),
    (randomizer("rr").at(lam=2), {"n": 60, "exp_eps": F(11, 10)}),
    (randomizer("subset-selection").at(k=4, s=2, lam=2), {"n": 8, "exp_eps": F(6, 5), "adjacency": "zero-out"}),
    (Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "1/2", "1/4"]]), {"n": 5, "exp_eps": F(6, 5)}),
]


@cache
def case(place: int) -> tuple[dict[str, Any], F]:
    """A file, and the exact bound."""
    source, asked = CASES[place]
    exact = delta(source, arithmetic="exact", **asked).bracket.exact
    assert exact is not None
    return prove(delta(source, **asked)).content, exact


def tampered(content: dict[str, Any], exact: F, rng: random.Random) -> dict[str, Any]:
    """The statement of the file but for its delta, and anything else changed."""
    changed = copy.deepcopy(content)
    number = exact * rng.choice(
        (F(0), F(1, 2), F(999, 1000), 1 - F(1, 10**9), F(1), 1 + F(1, 10**6), F(1001, 1000), F(2))
    )
    changed["statement"]["delta"] = f"{number.numerator}/{number.denominator}"
    assert number <= 1
    for line in changed["lines"]:
        for name in line:
            if rng.random() < 0.4:
                line[name] = max(1, line[name] * rng.randint(1, 12) // rng.randint(1, 12) + rng.randint(-9, 9))
        line["last"] = min(line["last"], 3000)
    if rng.random() < 0.2:
        changed["versions"]["numpy"] = "1.0"
    return signed(changed)


def never_too_small(count: int, seed: int) -> tuple[int, int]:
    """How many tampered files were accepted and refused; none is accepted whose delta is below the exact bound."""
    rng, found = random.Random(seed), [0, 0]
    for i in range(count):
        made, exact = case(1 if i % 20 == 0 else rng.choice((0, 2, 3)))
        content = tampered(made, exact, rng)
        accepted = proved(content)
        found[not accepted] += 1
        assert not accepted or F(content["statement"]["delta"]) >= exact
    return found[0], found[1]


def test_tampered_files_are_accepted_only_where_they_are_true() -> None:
    accepted, refused = never_too_small(60, 0)
    assert min(accepted, refused) > 5


@pytest.mark.conformance
def test_ten_thousand_tampered_files() -> None:
    accepted, refused = never_too_small(10_000, 1)
    assert min(accepted, refused) > 1000


def test_a_changed_statement_is_printed_as_changed() -> None:
    source, asked = CASES[0]
    content = prove(delta(source, **asked)).content
    said = content["statement"]
    for name, value in {"exp_eps": "2", "users": 7, "group": 2, "mechanism": {"name": "rr"}, "exp_eps0": "2"}.items():
        changed = signed(content, **{name: value, "delta": "1/1"})
        printed = bound.check(changed)
        assert str(value) in printed or value == {"name": "rr"}
        assert printed != bound.check(content)
        assert not proved(changed, said)


@pytest.mark.parametrize(
    ("source", "asked", "named"),
    [
        (randomizer("laplace").at(eps0=1), {}, "laplace"),
        (randomizer("krr").at(k=3, lam=2), {"dropout": "1/10"}, "dropout"),
        (randomizer("krr").at(k=3, lam=2), {"direction": "forward"}, "direction"),
        (randomizer("krr").at(k=3, eps0=1).channel(), {}, "rational"),
    ],
)
def test_what_has_no_proof_is_refused_by_name(source: Any, asked: dict[str, Any], named: str) -> None:
    with pytest.raises(Unsupported, match=named):
        prove(delta(source, n=100, eps="0.1", **asked)).content


def test_a_channel_of_doubles_is_proved_for_its_decimals() -> None:
    doubles, exact = Channel(((0.5, 0.5), (0.25, 0.75))), Channel.from_rows([["1/2", "1/2"], ["1/4", "3/4"]])
    assert prove(delta(doubles, n=100, eps="0.1")).content == prove(delta(exact, n=100, eps="0.1")).content


def test_rounds_are_refused_and_leave_no_file(tmp_path: Path) -> None:
    file = tmp_path / "bound.json"
    asked = ["delta", "rr", "--eps0", "1", "--n", "100", "--eps", "1", "--periods", "2", "--proof", str(file)]
    with pytest.raises(Unsupported, match="several batches of messages have no proof file"):
        CliRunner().invoke(app, asked, catch_exceptions=False)
    assert not file.exists()


def test_epsilon_of_few_users_is_proved_a_little_above() -> None:
    source = randomizer("krr").at(k=10, eps0=2)
    for n in (30, 100):
        upper = epsilon(source, n=n, delta="1e-4").bracket.upper
        said = prove(epsilon(source, n=n, delta="1e-4")).statement
        assert upper <= F(said["exp_eps"][4:-1]) <= upper * ONE_PART_IN_A_THOUSAND
        assert said["delta"] == "1/10000"
