"""Sweeps: interrupted and resumed equals uninterrupted, failed points are rows, and refusals are one line."""

# No public door reads a grid alone, so that one private name is called.
import csv
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import time
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import symshuffle
from symshuffle import Channel, Deployment, Group
from symshuffle.base.errors import CertificateError, InputError, SolverFailure, Unsupported
from symshuffle.base.executors import mapped, processes
from symshuffle.base.sweeps import IDENTITY, TABLE, tabulate
from symshuffle.cli import main
from symshuffle.cli.sweep import _read, answer
from tests.shell import refused
from tests.shell import run as command_line
from tests.shown import as_html

ROOT = Path(__file__).parent.parent

SPEC = """
command = "delta"
columns = ["lower", "upper", "engine"]
[grid]
mechanism = ["krr", "nosuch"]
param.k = 10
eps0 = [0.5, 2]
n = { from = 1000, to = 1_000_000, points = 12, geometric = true }
eps = [0, 0.05]
"""

LOGGED = """
import sys, time
from symshuffle.base.sweeps import tabulate

def slow(x, y):
    with open(sys.argv[2], "a") as log:
        log.write(f"{x} {y}\\n")
    time.sleep(0.02)
    if x == y:
        raise ValueError("equal")
    return {"sum": x + y, "quotient": x / y} if x % 2 else {"sum": x + y}

print(repr(tabulate(slow, {"x": range(6), "y": range(1, 6)}, out=sys.argv[1])))
"""


def power(base, exponent):
    """A function that travels."""
    return {"power": base**exponent, "wide": base} if exponent != 2 else base**exponent


def plus_one(x):
    """Another one."""
    if x == 3:
        raise InputError("x", x, "anything but 3")
    return x + 1


def dies(x):
    """A worker that does not come back."""
    os._exit(3)


def table(folder):
    with (folder / TABLE).open(newline="") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


def run(*command, **options):
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=partial(signal.signal, signal.SIGINT, signal.SIG_DFL),  # noqa: PLW1509  # ignored in the background
        **options,
    )


def stopped(process, folder, rows, sent):
    """Send a signal once the table has some rows; how many it had then."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline and process.poll() is None:
        if (folder / TABLE).exists() and (folder / TABLE).read_bytes().count(b"\n") > rows:
            break
        time.sleep(0.002)
    assert process.poll() is None, process.communicate()
    process.send_signal(sent)
    process.communicate(timeout=60)
    return (folder / TABLE).read_text().count("\n") - 1


def test_a_killed_sweep_of_a_function_resumes_and_computes_nothing_twice(tmp_path):
    script, log = tmp_path / "script.py", tmp_path / "log"
    script.write_text(LOGGED)
    there = stopped(run(script, tmp_path / "killed", log), tmp_path / "killed", 5, signal.SIGKILL)
    assert 5 <= there < 30
    done = run(script, tmp_path / "killed", log)
    assert done.communicate(timeout=60)[0] == f"<Table of 30 points, 5 failed, {there} resumed>\n"
    computed = log.read_text().splitlines()
    assert len(set(computed)) == 30 and len(computed) <= 31  # at most the one at hand
    assert run(script, tmp_path / "whole", tmp_path / "log2").communicate(timeout=60)[1] == ""
    assert table(tmp_path / "killed") == table(tmp_path / "whole")
    assert {row["reason"] for row in table(tmp_path / "whole")} == {"", "ValueError: equal"}


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_a_command_that_was_interrupted_then_killed_resumes(tmp_path):
    spec, out = tmp_path / "spec.toml", tmp_path / "stopped"
    spec.write_text(SPEC)
    command = ("-m", "symshuffle", "sweep", spec, "--json")
    process = run(*command, "--out", out, "--jobs", "2")
    first = stopped(process, out, 3, signal.SIGINT)
    assert process.returncode == 130 and 3 <= first < 96
    process = run(*command, "--out", out, "--jobs", "1")
    second = stopped(process, out, first + 3, signal.SIGKILL)
    assert first + 3 <= second < 96
    last, err = run(*command, "--out", out, "--jobs", "1").communicate(timeout=120)
    assert err == "" and json.loads(last)["resumed"] == second and json.loads(last)["failed"] == 48
    whole = tabulate(partial(answer, "delta", ["lower", "upper", "engine"]), _read(spec)[2], out=tmp_path / "whole")
    assert table(out) == table(tmp_path / "whole") and len(whole.rows) == 96
    row = whole.rows[3]
    krr = symshuffle.randomizer("krr").at(k=row["param.k"], eps0=str(row["eps0"]))
    direct = symshuffle.delta(krr, n=row["n"], eps=str(row["eps"])).bracket
    assert float(direct.lower) == pytest.approx(row["lower"], rel=1e-5) and row["lower"] <= float(direct.upper)


def test_a_line_that_was_not_finished_is_computed_again(tmp_path):
    grid = {"base": [2, 3], "exponent": [2, 3]}
    whole = tabulate(power, grid, out=tmp_path / "a")
    tabulate(power, grid, out=tmp_path / "b")
    path = tmp_path / "b" / TABLE
    path.write_text(path.read_text()[:-5])
    again = tabulate(power, grid, out=tmp_path / "b")
    assert again.resumed == 3 and table(tmp_path / "a") == table(tmp_path / "b")
    assert [row["power"] for row in whole.rows] == [None, 8, None, 27]
    assert [row["value"] for row in again.to_rows()] == [4, None, 9, None]


def test_the_executor_does_not_matter(tmp_path):
    grid = [{"base": base, "exponent": exponent} for base in range(4) for exponent in range(4)]

    def told(found):
        return [{k: v for k, v in row.items() if k != "seconds"} for row in found.rows]

    seen = []
    here = tabulate(power, grid, progress=lambda *counts: seen.append(counts))
    assert seen == [(i, 16, 0) for i in range(17)]
    with ThreadPoolExecutor(3) as threads, pytest.raises(InputError, match="threads share their precision"):
        tabulate(power, grid, executor=threads)
    with processes(2) as pool:
        assert told(tabulate(power, grid, executor=pool, out=tmp_path)) == told(here)
        assert mapped(plus_one, [1, 2], pool) == [2, 3]
        with pytest.raises(InputError, match="x = 3: expected anything but 3"):
            mapped(plus_one, [1, 3], pool)


def test_what_an_executor_cannot_send_is_refused_before_anything_is_written(tmp_path):
    with processes(2) as pool:
        with pytest.raises(
            InputError, match=r"executor = ProcessPoolExecutor: expected work that it can send"
        ) as error:
            tabulate(lambda x: x, {"x": [1]}, executor=pool, out=tmp_path / "out")
        assert "\n" not in str(error.value) and not (tmp_path / "out").exists()
        with pytest.raises(InputError, match="executor = ProcessPoolExecutor"):
            tabulate(power, {"base": [lambda: 1], "exponent": [1]}, executor=pool)
        with pytest.raises(InputError, match="executor = ProcessPoolExecutor"):
            mapped(lambda x: x, [1], pool)
    for wrong in (3, ProcessPoolExecutor, "dask"):
        with pytest.raises(InputError, match=r"executor = .*: expected an executor of concurrent\.futures"):
            tabulate(power, {"base": [1], "exponent": [1]}, executor=wrong)


class Fussy(Executor):
    """An executor of somebody else's, which pickles late."""

    def submit(self, function, /, *args, **kwargs):
        future = Future()
        try:
            future.set_result(pickle.loads(pickle.dumps(function))(*pickle.loads(pickle.dumps(args))))
        except Exception as error:
            future.set_exception(error)
        return future


def test_what_another_executor_cannot_send_is_one_line_too(tmp_path):
    with pytest.raises(InputError, match="executor = Fussy: expected work that it can send"):
        tabulate(lambda x: x, {"x": [1, 2]}, executor=Fussy(), out=tmp_path)
    with pytest.raises(InputError, match="executor = Fussy"):
        mapped(lambda x: x, [1], Fussy())
    assert mapped(plus_one, [1], Fussy()) == [2]


def test_a_worker_that_dies_leaves_what_is_finished(tmp_path):
    with processes(1) as pool, pytest.raises(SolverFailure, match="a worker died"):
        tabulate(dies, {"x": [1, 2]}, executor=pool, out=tmp_path / "a")
    assert (tmp_path / "a" / TABLE).read_text() == "point,x,reason,seconds\n"


def test_a_table_behind_a_byte_order_mark_is_resumed(tmp_path):
    grid = {"base": [2, 3], "exponent": [1, 2]}
    rows = tabulate(power, grid, out=tmp_path).to_rows()
    (tmp_path / TABLE).write_bytes(b"\xef\xbb\xbf" + (tmp_path / TABLE).read_bytes())
    again = tabulate(power, grid, out=tmp_path)
    assert again.resumed == 4 and again.to_rows() == rows


def test_a_folder_written_before_the_modules_moved_is_resumed(tmp_path):
    folder = tmp_path / "old"
    shutil.copytree(ROOT / "tests" / "golden" / "sweep_before_the_rooms", folder)
    assert ".frontiers.caps.optimal_subset_sizes" in (folder / "sweep.json").read_text()
    grid = {"k": [3, 10], "lam": [Fraction(2), Fraction(3)]}
    assert tabulate(symshuffle.utility.optimal_subset_sizes, grid, out=folder).resumed == 4
    with pytest.raises(InputError, match="this holds another one"):
        tabulate(symshuffle.utility.binary_envelope, grid, out=folder)
    tabulate(symshuffle.utility.optimal_subset_sizes, grid, out=tmp_path / "new")
    assert '"symshuffle.utility.optimal_subset_sizes"' in (tmp_path / "new" / "sweep.json").read_text()


def test_a_folder_of_something_else_is_refused(tmp_path):
    grid = {"base": [2], "exponent": [2]}
    tabulate(power, grid, out=tmp_path / "a")
    before = (tmp_path / "a" / TABLE).read_text()
    for function, other in (
        (power, {"base": [3], "exponent": [2]}),
        (divmod, grid),
        (partial(power, 2), {"exponent": [2]}),
    ):
        with pytest.raises(
            InputError, match=r"this holds another one, 1 point of .*power over base, exponent"
        ) as error:
            tabulate(function, other, out=tmp_path / "a")
        assert "\n" not in str(error.value)
    assert (tmp_path / "a" / TABLE).read_text() == before
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "thesis.tex").write_text("")
    with pytest.raises(InputError, match="this holds other files"):
        tabulate(power, grid, out=tmp_path / "b")
    (tmp_path / "a" / IDENTITY).write_text("{")
    with pytest.raises(InputError, match=r"sweep\.json: expected JSON"):
        tabulate(power, grid, out=tmp_path / "a")


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ("x{}", ", line 3, column point = x: expected an integer"),
        ("1,2,3", ", line 3 = another number of values"),
        ("1{},9", ", line 3 = another number of values"),
    ],
)
def test_a_damaged_row_of_a_table_is_named_by_line(row, said, tmp_path):
    grid = {"base": [2], "exponent": [2, 3]}
    tabulate(power, grid, out=tmp_path)
    lines = (tmp_path / TABLE).read_text().splitlines()
    (tmp_path / TABLE).write_text("\n".join([*lines[:2], row.format(lines[2][1:])]) + "\n")
    with pytest.raises(InputError) as refusal:
        tabulate(power, grid, out=tmp_path)
    assert str(refusal.value).startswith(f"{tmp_path / TABLE}{said}")


@pytest.mark.skipif(sys.platform == "win32", reason="locks of POSIX")
def test_two_processes_do_not_share_a_folder(tmp_path):
    with pytest.raises(InputError, match="no other process is sweeping"):
        tabulate(power, {"base": [1], "exponent": [1, 2]}, out=tmp_path, progress=lambda *_: _again(tmp_path))


def _again(folder):
    tabulate(power, {"base": [1], "exponent": [1, 2]}, out=folder)


@pytest.mark.parametrize(
    "grid",
    [{}, [], {"x": []}, {"point": [1]}, [{"seconds": 1}], [3], {"x": [object()]}, {"x": range(2000), "y": range(2000)}],
)
def test_grids_that_are_none(grid):
    with pytest.raises(InputError, match="grid = "):
        tabulate(power, grid)


def test_a_result_has_a_row_and_nothing_else_does():
    found = tabulate(lambda x: {1: Fraction(1, 3), 2: {"a": {"b": [1]}}, 3: object()}[x], {"x": [1, 2, 3]}).rows
    assert found[0]["value"] == "1/3" and found[1]["a.b"] == "[1]" and found[2]["reason"].startswith("result = object")
    krr = symshuffle.randomizer("krr").at(k=3, lam=2)
    row = tabulate(symshuffle.delta, [{"subject": krr, "n": 5, "exp_eps": Fraction(6, 5)}]).rows[0]
    assert row["reason"] is None and row["engine"] and row["result.n" if "result.n" in row else "n"] == 5


def test_parquet_needs_pyarrow(tmp_path):
    pytest.importorskip
    found = tabulate(power, {"base": [2], "exponent": [2]})
    try:
        import pyarrow.parquet
    except ImportError:
        with pytest.raises(Unsupported, match=r"pyarrow, which is not installed"):
            found.to_parquet(tmp_path / "table.parquet")
    else:
        found.to_parquet(tmp_path / "table.parquet")
        assert pyarrow.parquet.read_table(tmp_path / "table.parquet").to_pylist() == found.to_rows()


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("command = 3", "spec.toml: command = 3: expected one of delta, epsilon"),
        ("x = 3", "spec.toml: x = 3: expected only the keys"),
        ("command = ", "SPEC = "),
        ("command = 'delta'", "spec.toml: grid is missing"),
        (
            "command = 'delta'\n[grid]\nepz = [1]",
            "spec.toml: grid.epz = [1]: expected only options of delta: mechanism, n, eps0",
        ),
        ("command = 'delta'\n[grid]\nn = []", "spec.toml: grid.n = []"),
        ("command = 'delta'\n[grid]\nn = [[1]]", "spec.toml: grid.n = [1]"),
        ("command = 'delta'\n[grid]\nn = {from = 1}", "spec.toml: grid.n = {'from': 1}"),
        ("command = 'delta'\ncolumns = 3\n[grid]\nn = 1", "spec.toml: columns = 3"),
        ("command = 'delta'\n[grid]\nn = 1\nparam = 3", "spec.toml: grid.param = 3"),
    ],
)
def test_wrong_specifications(tmp_path, capsys, spec, said):
    (tmp_path / "spec.toml").write_text(spec)
    shown = refused(capsys, "sweep", str(tmp_path / "spec.toml"), "--out", str(tmp_path / "out"))
    assert said in shown and not (tmp_path / "out").exists()


def test_a_folder_of_another_sweep_is_named_by_its_command(tmp_path, capsys):
    grid = "[grid]\nmechanism = 'krr'\nparam.k = 3\neps0 = 1\nn = 100\n"
    for command, rest in (("delta", "eps = 0.1"), ("epsilon", "delta = 0.01")):
        (tmp_path / f"{command}.toml").write_text(f"command = '{command}'\ncolumns = ['upper']\n{grid}{rest}")
    out = ("--out", str(tmp_path / "out"))
    assert command_line(capsys, "sweep", str(tmp_path / "delta.toml"), *out)[0] == 0
    shown = refused(capsys, "sweep", str(tmp_path / "epsilon.toml"), *out)
    assert "1 point of delta over eps, eps0, mechanism, n, param.k" in shown and "answer" not in shown


def test_no_header_of_a_grid_is_said_to_the_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.csv").write_text("0,1\n1/2,1/2\n1/4,3/4\n")
    (tmp_path / "d.toml").write_text("[[group]]\nrandomizer = 'krr'\nparameters = { k = 3, eps0 = 1 }\ncount = 9\n")
    for name, n, failed in (("w.csv", "n = 9", 0), ("d.toml", "", 2)):
        spec = f"command = 'delta'\n[grid]\nmechanism = '{name}'\neps = 1\nheader = [true, false]\n{n}\n"
        (tmp_path / "s.toml").write_text(spec)
        assert main(["sweep", "s.toml", "--out", f"out-{name}", "--jobs", "1", "--json"]) == 0
        rows = list(csv.DictReader((tmp_path / f"out-{name}" / "table.csv").open()))
        assert sum(not row["upper"] if "upper" in row else 1 for row in rows) == failed
        if not failed:
            assert len({row["upper"] for row in rows}) == 2


def test_sources_laws_results_and_errors_travel():
    from symshuffle.base.numbers import Exp
    from symshuffle.configuration.randomizers import NamedRandomizer

    krr = symshuffle.randomizer("krr").at(k=10, eps0=1)
    things = [
        krr,
        symshuffle.randomizer("krr"),
        NamedRandomizer("krr", {"k": "10"}, "1").quickest(),
        symshuffle.mechanisms.Laplace(3),
        NamedRandomizer("joint(krr(k=10),4)", {}, "1").quickest(),
        NamedRandomizer("bmg", {"gamma": "1/2", "sigma0": "1", "d": "3"}).quickest(),
        NamedRandomizer("privunit", {"d": "5", "theta": "1/2"}, "1").quickest(),
        NamedRandomizer("gaussian", {"sigma0": "1", "d": "3"}).quickest(),
        symshuffle.Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]]),
        symshuffle.optimal_decomposition(krr),
        symshuffle.optimal_decomposition(krr).law(Exp(Fraction(1, 3))),
        symshuffle.delta(krr, n=100, eps="0.1"),
        symshuffle.epsilon(krr, n=100, delta="1e-3", attained=True),
        symshuffle.profile(krr, n=100, eps=["0.1", "0.2"]),
        symshuffle.smallest_n(krr, eps="0.1", delta="1e-6"),
        symshuffle.compare(4, n=100, eps0=1, mechanisms=["krr"]),
    ]
    for thing in things:
        assert pickle.loads(pickle.dumps(thing)) == thing
    for error in (InputError("n", krr, "more"), SolverFailure("s", "bad", "p"), CertificateError("here", "no")):
        assert str(pickle.loads(pickle.dumps(error))) == str(error)


def test_a_notebook_shows_a_table_of_what_is_known(tmp_path):
    found = tabulate(lambda x: {"square": x * x, "nothing": None}, {"x": list(range(60))}, out=tmp_path / "grid")
    shown = as_html(found)
    assert shown.count("<tr>") == 51 and "and 10 more rows" in shown
    assert "<th>square</th>" in shown and "nothing" not in shown and "\n" not in repr(found)


@pytest.mark.parametrize("value", [b"\x01\x02", bytearray(b"\x01"), {1, 2}, frozenset({1})])
def test_bytes_and_sets_are_no_axis(value):
    found = symshuffle.sweep("delta", [["3/4", "1/4"], ["1/4", "3/4"]], n=3, eps=value)
    assert found.failed == len(found.rows) == 1


def test_a_sweep_of_another_content_is_another_sweep(tmp_path):
    """What prints alike, and a file that was written anew, are other points: old rows are not given for them."""
    one, other = [["3/4", "1/4"], ["1/4", "3/4"]], [["9/10", "1/10"], ["1/10", "9/10"]]
    table = tmp_path / "channel.csv"
    many = np.full((2, 1200), 1 / 1200)
    tilted = many.copy()
    tilted[0, 600:602] += np.array([1, -1]) / 4800

    def held(rows):
        table.write_text("\n".join(",".join(row) for row in rows) + "\n")
        (tmp_path / "deployment.toml").write_text('[[group]]\nrandomizer = "channel.csv"\ncount = 5\n')
        return str(tmp_path / "deployment.toml")

    def scaled(factor):
        return lambda n: factor * n

    pairs = [
        (lambda: (lambda n: n, {"n": [1, 2]}), lambda: (lambda n: 10 * n, {"n": [1, 2]})),
        (lambda: (scaled(1), {"n": [1, 2]}), lambda: (scaled(2), {"n": [1, 2]})),
        (lambda: (str, {"object": [held(one)]}), lambda: (str, {"object": [held(other)]})),
        (
            lambda: (repr, [{"obj": Deployment(Group(Channel.from_rows(one), 5))}]),
            lambda: (repr, [{"obj": Deployment(Group(Channel.from_rows(other), 5))}]),
        ),
        (lambda: (np.shape, [{"a": many}]), lambda: (np.shape, [{"a": tilted}])),
        (lambda: (partial(np.shape, a=many), [{"n": 1}]), lambda: (partial(np.shape, a=tilted), [{"n": 1}])),
    ]
    for i, (first, second) in enumerate(pairs):
        for asked in (first, first):  # the same again is resumed
            tabulate(*asked(), out=tmp_path / str(i))
        with pytest.raises(InputError, match="another one"):
            tabulate(*second(), out=tmp_path / str(i))


def test_a_function_without_a_module_is_refused_as_any_without_an_address():
    nameless = eval("lambda x: x", {})  # noqa: S307
    nameless.__module__ = None
    with pytest.raises(InputError, match="grid"):
        symshuffle.sweep("delta", nameless, n=[1, 100], eps="1")
