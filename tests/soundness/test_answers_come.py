"""Everything either answers or is refused in one line, soon; and what is printed is printed at once.

Each case runs in a process of its own; what hangs is ended.
"""

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import numpy as np
import pytest

from symshuffle import delta, randomizer
from symshuffle.engines import FFT, Contour, Sparse

SECONDS = 300.0
"""An end to what hangs, also on a machine that is busy."""


def started(*arguments, **options):
    """A Python process with the package; its output is text."""
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True} | options
    return subprocess.Popen([sys.executable, *arguments], preexec_fn=interruptible, **options)  # noqa: PLW1509  # no threads here


def interruptible():
    """Jobs in the background of a shell ignore interrupts, and so would what they start."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def ended(*arguments, seconds=SECONDS, **options):
    """Exit code, output and errors of a process that has to end in time."""
    process = started(*arguments, **options)
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        pytest.fail(f"no answer after {seconds} s: {arguments}")
    return process.returncode, out, err


def command(*words, **options):
    return ended("-m", "symshuffle", *words, **options)


def answers(code, **options):
    """What a program prints that has to end well."""
    status, out, err = ended("-c", textwrap.dedent(code), **options)
    assert status == 0, err
    return out.strip()


def test_the_command_line_answers():
    """What is attained, a width beyond doubles, very many users, and some of them dropping out: in one process."""
    krr = "krr -p k=10 --eps0 1 --eps 0.1 --n "
    commands = [
        "rr --eps0 50 --eps 49.99999999 --n 1000000000",
        *(krr + rest for rest in ("1000 --rtol 1e-30", "100000000", "1000000000000")),
        *(krr.replace("10", "5") + f"{n} --dropout 0.1" for n in (10**8, 10**12)),
    ]
    code = f"""
    import contextlib, io
    from symshuffle.cli import main
    for words in {commands}:
        said = io.StringIO()
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(said):
            status = main(["delta", *words.split()])
        print(status in (0, 2, 3) and len(said.getvalue().splitlines()) <= 1)
    """
    assert answers(code).split() == ["True"] * 6


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_ends_verification():
    process = started("-m", "symshuffle", "verify", "decomposition", "--jobs", "2", start_new_session=True)
    workers, late = Path(f"/proc/{process.pid}/task/{process.pid}/children"), time.monotonic() + 6
    while time.monotonic() < late and not (workers.exists() and len(workers.read_text().split()) >= 2):
        time.sleep(0.1)
    time.sleep(1)  # both are at work
    os.killpg(process.pid, signal.SIGINT)
    try:
        process.communicate(timeout=8)  # a fraction of a second on an idle machine; other tests run beside this one
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        pytest.fail("still running long after Ctrl-C")
    assert process.returncode == 130


@pytest.mark.parametrize("engine", [Contour(), FFT(rtol=1e-3), Sparse(), None], ids=str)
def test_strict_floating_point_errors_of_numpy_change_nothing(engine):
    krr = randomizer("krr").at(k=10, eps0=1)

    def ends():
        try:
            return [delta(krr, n=n, eps="0.1", engine=engine).bracket for n in (100, 10_000)]
        except ValueError as refusal:
            return str(refusal)

    before = ends()
    with np.errstate(all="raise"):
        assert ends() == before


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is full")
def test_a_full_disk_is_not_a_difference_in_the_ledger():
    with open("/dev/full", "w") as full:
        status, _, err = command("verify", "decomposition.def-1", stdout=full)
    assert status not in (0, 1) and len(err.strip().splitlines()) <= 2 and "Traceback" not in err


def test_an_ascii_locale_is_not_a_difference_in_the_ledger():
    environment = os.environ | {
        "PYTHONUTF8": "0",
        "LC_ALL": "C",
        "PYTHONIOENCODING": "ascii",
        "PYTHONCOERCECLOCALE": "0",
    }
    code = """
    from symshuffle.cli import main
    for words in ("verify decomposition.def-1", "show decomposition.thm-12", "claims decomposition"):
        assert main(words.split()) == 0
    """
    assert answers(code, env=environment)


@pytest.mark.parametrize("suffix", ["channel", "problem"])
def test_deeply_nested_files_are_refused_in_one_line(tmp_path, suffix):
    file = tmp_path / "deep.json"
    file.write_text("[" * 200_000 + "]" * 200_000)
    words = (
        ("delta", str(file), "--eps", "0.1", "--n", "10")
        if suffix == "channel"
        else ("design", "bayes", str(file), "--lam", "2")
    )
    status, _, err = command(*words)
    assert status == 2 and len(err.strip().splitlines()) == 1, err
