"""A run of randomize that is killed leaves nothing that others can read, and nothing that the next run overlooks."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from symshuffle.base import artifacts
from symshuffle.collect.files import write_messages
from tests.collect.cases import small
from tests.shell import refused, run
from tests.words import words

RANDOMIZE = words("collect randomize plan.json --values values.csv --column answer --out messages.csv")
ESTIMATE = words("collect estimate plan.json messages.csv --out histogram.csv")
CALLS = ("open", "fdopen", "fsync", "link")
USERS = 300


@pytest.fixture
def survey(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plan = small("krr", n=USERS, min_batch_size=USERS)
    Path("plan.json").write_text(plan.to_json())
    Path("values.csv").write_text("answer\n" + "0\n1\n2\n" * (USERS // 3))
    return plan


class Killer:
    """Kills this process before or after one of the system calls of a writer."""

    def __init__(self, moment):
        self.left = moment

    def pass_by(self):
        self.left -= 1
        if self.left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def wrapped(self, call):
        def made(*arguments, **named):
            self.pass_by()
            found = call(*arguments, **named)
            self.pass_by()
            return found

        return made


def killed_at(moment, command):
    """Whether a process that runs a command was killed at a moment; False if it ended before."""
    child = os.fork()
    if child == 0:
        status = 1
        try:
            import symshuffle.collect.files as files
            import symshuffle.collect.messages as messages

            killer = Killer(moment)
            for name in CALLS:
                setattr(artifacts.os, name, killer.wrapped(getattr(os, name)))
            for name in ("unlink", "chmod"):
                setattr(Path, name, killer.wrapped(getattr(Path, name)))

            def blocks(scheme, packed, lines=messages.lines):
                for i in range(0, len(packed), 60):
                    killer.pass_by()
                    yield from lines(scheme, packed[i : i + 60])

            files.lines = blocks
            os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
            from symshuffle.cli import main

            status = main(list(command))
        finally:
            os._exit(status)
    _, ended = os.waitpid(child, 0)
    if not os.WIFSIGNALED(ended):
        assert os.WEXITSTATUS(ended) == 0
        return False
    return os.WTERMSIG(ended) == signal.SIGKILL


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
def test_the_writer_is_killed_at_every_moment(capsys, survey):
    moment, seen = 0, []
    while killed_at(moment, RANDOMIZE):
        out, drafts = Path("messages.csv"), list(Path().glob(".*"))
        assert len(drafts) <= 1
        if drafts:
            assert drafts[0].stat().st_mode & 0o077 == 0
        if out.exists():  # the file is complete
            assert len(out.read_text().splitlines()) == USERS + 2
            assert run(capsys, *ESTIMATE)[0] == 0
            Path("histogram.csv").unlink()
            assert "spend the budget twice" in refused(capsys, *RANDOMIZE, "--discard-draft")
            out.unlink()
        if drafts:
            held = drafts[0].read_bytes()
            for name in ("messages.csv", "others.csv"):
                assert str(drafts[0]) in refused(capsys, *RANDOMIZE[:-1], name)
            assert drafts[0].read_bytes() == held and not out.exists()
        assert run(capsys, *RANDOMIZE, *["--discard-draft"] * bool(drafts))[0] == 0
        assert not list(Path().glob(".*"))
        out.unlink()
        seen.append(bool(drafts))
        moment += 1
    assert len(seen) >= 10 and sum(seen) >= 8
    assert Path("messages.csv").stat().st_mode & 0o777 == 0o666 & ~artifacts._umask()


def test_a_process_that_is_killed_while_it_writes(capsys, survey):
    """SIGKILL from another process, while the writer waits in the middle of its messages."""
    code = (
        "import sys, time, symshuffle.collect.files as files\n"
        "def waiting(scheme, packed):\n    yield b'0\\n' * 10000\n    open('ready', 'w').close()\n    time.sleep(60)\n"
        "files.lines = waiting\nfrom symshuffle.cli import main\nmain(sys.argv[1:])\n"
    )
    process = subprocess.Popen([sys.executable, "-c", code, *RANDOMIZE])
    while not Path("ready").exists():
        time.sleep(0.05)
        assert process.poll() is None
    (draft,) = Path().glob(".*.draft")
    assert not artifacts.is_abandoned(draft) and draft.stat().st_mode & 0o077 == 0
    process.kill()
    process.wait()
    assert artifacts.is_abandoned(draft)
    error = refused(capsys, *RANDOMIZE)
    assert str(draft) in error and "--discard-draft" in error and draft.exists()
    assert run(capsys, *RANDOMIZE, "--discard-draft")[0] == 0 and not draft.exists()
    assert json.loads(Path("messages.csv").read_text().splitlines()[0][1:])["plan"] == survey.digest


def test_a_run_that_goes_on_is_no_draft_that_was_left(capsys, survey):
    """A second run of the plan answers while the first still writes, and leaves the draft of the first."""
    draft = Path(f".other.csv.{survey.digest[:16]}.1.draft")
    with artifacts.published_once(Path("other.csv"), draft, argument="--out") as stream:
        stream.write(b"half")
        stream.flush()
        assert run(capsys, *RANDOMIZE)[0] == 0 and draft.exists()
    assert Path("other.csv").read_bytes() == b"half" and not draft.exists()


def test_a_writer_that_fails_leaves_nothing(survey, monkeypatch):
    def broken(scheme, packed):
        yield b"0\n"
        raise RuntimeError

    monkeypatch.setattr("symshuffle.collect.files.lines", broken)
    with pytest.raises(RuntimeError):
        write_messages(Path("messages.csv"), survey, None, "sorted", counts=False)
    assert not Path("messages.csv").exists() and not list(Path().glob(".*"))
