"""A call in a process and a folder of its own, and what is wrong with what it does."""

import contextlib
import hashlib
import importlib
import json
import os
import pkgutil
import random
import re
import resource
import shlex
import shutil
import signal
import sys
import tempfile
import time
import traceback
from itertools import pairwise
from pathlib import Path

import symshuffle
from symshuffle import cli
from symshuffle.collect import plan_survey
from tests.frozen import doors
from tests.fuzz.draw import NAMES, head, is_switch, options

ROOT = Path(__file__).parents[2]
SECONDS = 20
"""CPU time that a call may take."""
WALL = 6 * SECONDS
MEMORY = 6 * 2**30
ANSWERS = {"audit": (0, 1, 3), "verify": (0, 1), "report": (0, 1), "check": (0, 1), "doctor": (0, 1)}
"""Exit statuses that are answers, where these are not 0 alone."""
PARSER = (*doors.OF_THE_PARSER, "Missing", "Got unexpected", "No such")
PROOF = symshuffle.prove(symshuffle.delta(symshuffle.randomizer("krr").at(k=3, lam=3), n=4, exp_eps="6/5")).content
FILES = {
    "users.toml": '[[group]]\nrandomizer = "krr"\nparameters = { k = 3, lam = "3/2" }\ncount = 9\n'
    '[[group]]\nrandomizer = "krr"\nparameters = { k = 3, lam = 2 }\ncount = 5\n',
    "plan.toml": 'periods = 2\n[[group]]\nrandomizer = "krr"\nparameters = { k = 4, eps0 = 1 }\ncount = 1000\n'
    '[[later_periods]]\n[[later_periods.group]]\nrandomizer = "krr"\n'
    'parameters = { k = 3, lam = "3/2" }\ncount = 2000\n',
    "values.csv": "value\n" + "0\n1\n2\n" * 30,
    "others.csv": "value\n" + "0\n0\n1\n2\n" * 20,
    "named.csv": "user,value\n" + "".join(f"u{i},{i % 3}\n" for i in range(90)),
    "labels.txt": "never\nsometimes\noften\n",
    "header.csv": "yes,no\n0.25,0.75\n0.4,0.6\n",
    "percent.csv": "99%,1%\n0.25,0.75\n0.4,0.6\n",
    "empty.csv": "",
    "bytes.csv": b"\xff\xfe1,2\n\x00",
    "doubles.csv": "0.1,0.9\n0.30000000000000004,0.7\n",
    "proof.json": json.dumps(PROOF),
    "said.json": json.dumps(PROOF["statement"]),
    "plan.json": json.dumps(plan_survey(3, n=90, eps=1, delta="1/10", mechanism="krr").to_dict()),
}


def preload():
    """Import what a call may need before forking, so that no child process imports it again."""
    for one in pkgutil.walk_packages(symshuffle.__path__, "symshuffle."):
        if not one.name.endswith("__main__"):
            importlib.import_module(one.name)
    for name in ("cvxpy", "matplotlib.pyplot", "scipy.optimize"):
        importlib.import_module(name)


def furnish(folder):
    """Write the files that calls read."""
    shutil.copytree(ROOT / "examples", folder / "examples")
    for name, content in (doors.FILES | FILES).items():
        (folder / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    for name in ("folder.csv", "tmp"):
        (folder / name).mkdir()


def contents(folder):
    """The files of a folder with digests of their contents."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes() if path.is_file() else b"").hexdigest()
        for path in sorted(folder.rglob("*"))
    }


def unsound(found):
    """Return the fault of a bracket: ends out of order, or a delta outside [0, 1]; empty if there is none."""
    bracket = getattr(found, "bracket", found)
    if not isinstance(bracket, symshuffle.Bracket):
        return ""
    if not bracket.lower <= bracket.upper:
        return f"NOT SOUND: {bracket.lower} > {bracket.upper}"
    if getattr(found, "quantity", "") == "delta" and not 0 <= bracket.lower <= bracket.upper <= 1:
        return f"NOT SOUND: no probability, {bracket}"
    return ""


def ask(text, as_shell):
    """Run a call and exit from this process: status 0 for an answer, 2 for a refusal, 70 for an exception."""
    status = 70
    try:
        if text.startswith("symshuffle "):
            words = shlex.split(text)[1:]
            if as_shell:
                os.execv(sys.executable, [sys.executable, "-m", "symshuffle", *words])
            status = cli.main(words)
        else:
            found = eval(text, dict(NAMES))  # noqa: S307  # a line of the grammar
            sys.stdout.write(unsound(found) or repr(found)[:300])
            status = 0
    except symshuffle.SymshuffleError as error:
        sys.stderr.write(f"symshuffle: {error}\n")
        status = 2
    except TypeError as error:  # Python's error for an unknown keyword argument
        unknown = re.fullmatch(r"([\w.]+)\(\) got an unexpected keyword argument '(\w+)'", str(error))
        if unknown and unknown[1].removesuffix(".__init__").split(".")[-1] in text:
            sys.stderr.write(f"symshuffle: {unknown[2]} = given: expected an argument of {unknown[1]}\n")
            status = 2
        else:
            traceback.print_exc()
    except AttributeError as error:  # what the line itself asks of an answer, which another argument made another
        if traceback.extract_tb(error.__traceback__)[-1].filename == "<string>":
            sys.stderr.write(f"symshuffle: {error.name} = given: expected an attribute of {type(error.obj).__name__}\n")
            status = 2
        else:
            traceback.print_exc()
    except BaseException:
        traceback.print_exc()
    finally:
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(status)


class Running:
    """A call that runs in a forked process."""

    def __init__(self, text):
        self.text, self.began = text, time.monotonic()
        self.place = Path(tempfile.mkdtemp(prefix="symshuffle-fuzz-"))
        self.folder = self.place / "here"
        self.folder.mkdir()
        furnish(self.folder)
        self.before = contents(self.folder)
        sys.stdout.flush()
        sys.stderr.flush()
        self.process = os.fork()
        if self.process == 0:
            self._become()

    def _become(self):
        os.setsid()
        os.chdir(self.folder)
        os.environ |= {"TMPDIR": str(self.folder / "tmp"), "PYTHONPATH": str(ROOT), "COLUMNS": "200"}
        os.environ["PATH"] = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        tempfile.tempdir = None
        new = os.O_WRONLY | os.O_CREAT
        for name, number, mode in (("/dev/null", 0, os.O_RDONLY), ("out", 1, new), ("err", 2, new)):
            os.dup2(os.open(self.place / name, mode, 0o600), number)
        sys.stdout, sys.stderr = (open(number, "w", encoding="utf-8", closefd=False) for number in (1, 2))  # noqa: SIM115
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        ask(self.text, as_shell=random.Random(self.text).random() < 1 / 12)

    def result(self):
        """Return the outcome of the call once its process has ended; None before."""
        ended, code, used = os.wait4(self.process, os.WNOHANG)
        late = time.monotonic() - self.began > WALL
        if not ended and not late:
            return None
        with contextlib.suppress(ProcessLookupError, PermissionError):  # kills the processes that the call started
            os.killpg(self.process, signal.SIGKILL)
        if not ended:
            _, code, used = os.wait4(self.process, 0)
        out, err = ((self.place / name).read_text(encoding="utf-8", errors="replace") for name in ("out", "err"))
        after, written = contents(self.folder), json_file(self.text, self.folder)
        changed = sorted(name for name in {*self.before, *after} if self.before.get(name) != after.get(name))
        shutil.rmtree(self.place, ignore_errors=True)
        status = os.waitstatus_to_exitcode(code)
        if late or status in (-signal.SIGXCPU, -signal.SIGKILL):
            kind, wrong = "offence", f"no answer within {SECONDS} s"
        else:
            kind, wrong = judged(self.text, status, out if written is None else written, err, changed)
        seconds = round(used.ru_utime + used.ru_stime, 2)
        said = err[-1500:] if "Traceback" in err else f"{out[:200]} {err[:600]}"
        return {"call": self.text, "class": kind, "wrong": wrong, "status": status, "seconds": seconds, "said": said}


def json_file(text, folder):
    """The text of the file that ``--json`` names, where the command takes one; None where it prints."""
    words = shlex.split(text)[1:] if text.startswith("symshuffle ") else []
    takes = words and head(words) and any("--json" in one.opts and not is_switch(one) for one in options(words))
    names = [after for word, after in pairwise(words) if word == "--json" and after != "-"] if takes else []
    file = folder / names[-1] if names and names[-1] else None
    return file.read_text(encoding="utf-8", errors="replace") if file is not None and file.is_file() else None


def judged(text, status, out, err, changed):
    """Return the class of an outcome (answer, refusal or offence) and its fault, empty if there is none."""
    words = shlex.split(text)[1:] if text.startswith("symshuffle ") else []
    if status < 0 or status == 70 or "Traceback (most recent call last)" in err:
        return "offence", f"exception: {(err.strip().splitlines() or [str(status)])[-1][:200]}"
    if status in ANSWERS.get((words or [""])[0], (0,)) and not err.startswith("symshuffle: "):
        wrong = wrong_answer(words, out) or unnamed(words, changed)
        return ("offence" if wrong else "answer"), wrong
    wrong = ""
    if not err.startswith("symshuffle: ") or err.strip().count("\n") or len(err) > 5000:
        wrong = "a refusal that is not one line"
    elif words and status not in (2, 3):
        wrong = f"exit status {status}"
    elif changed:
        wrong = f"files are left: {changed}"
    elif words and out.strip() and status == 2:
        wrong = "a refusal with output"
    named = re.search(r"( = .*| missing): expected ", err) or err.removeprefix("symshuffle: ").startswith(PARSER)
    return ("offence" if wrong else "refusal" if named else "refusal in a sentence"), wrong


def unnamed(words, changed):
    """Return the fault of files that an answer writes and no word of the call names; empty if there are none."""
    tops = {Path(word).parts[0] for word in (*words, "site", "out") if word}
    left = [name for name in changed if Path(name).parts[0] not in tops]
    return f"files are left: {left}" if left else ""


def wrong_answer(words, out):
    """Return the fault in the output of an answer; empty if there is none."""
    if "NOT SOUND" in out:
        return out.strip()
    if re.search(r"(?<![\w-])nan(?![\w-])", out, re.IGNORECASE) and "nan" not in " ".join(words).lower():
        return "nan is printed"
    if "--json" in words:
        try:
            json.loads(out)
        except ValueError:
            return "no JSON"
    return ""


def run(texts, jobs, heard):
    """Run at most ``jobs`` calls at a time; pass index and outcome of each to ``heard`` when it ends."""
    waiting, running = list(enumerate(texts)), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            place, text = waiting.pop(0)
            running[place] = Running(text)
        for place, one in list(running.items()):
            if (found := one.result()) is not None:
                del running[place]
                heard(place, found)
        time.sleep(0.005)
