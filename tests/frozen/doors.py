"""Asking a request at the top-level names of symshuffle or on its command line."""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import signal
import tempfile
from fractions import Fraction
from pathlib import Path

import symshuffle
from symshuffle.cli import main
from tests.frozen.answers import frozen, frozen_claim, plain
from tests.frozen.spelling import request_today
from tests.public import BELOW, PUBLIC

ROOT = Path(__file__).parents[2]
ARGUMENT = re.compile(r"([^\s=]+(?:, [^\s=]+)*) (?:=|(?:is|are) missing:) ")
OPTION = re.compile(r"--?\w[\w-]*")
OF_THE_PARSER = ("No such option", "Invalid value", "Missing option", "Option")
FILES = {
    "two.csv": "1/3,2/3\n3/5,2/5\n",
    "three.csv": "1/2,1/4,1/4\n1/5,3/5,1/5\n1/4,1/4,1/2\n",
    "x.csv": "0.1,0.2\n0.3,-0.1\n" * 1000,
    "users.toml": '[[users]]\ncount = 9\nparams = { k = 3 }\nlam = "3/2"\n[[users]]\nparams = { k = 3 }\nlam = 2\n',
    "sweep.toml": 'command = "delta"\n[grid]\nmechanism = "krr"\nparam.k = 3\neps0 = [1, 2]\neps = 1\nn = 100\n',
    "plan.toml": '[[rounds]]\nmechanism = "krr"\nparams = { k = 4 }\neps0 = 1\nn = 1000\ntimes = 2\nreports = "fresh"\n'
    '[[rounds]]\nmechanism = "krr"\nparams = { k = 3 }\nlam = "3/2"\nn = 2000\nreports = "fresh"\n',
}
"""Files that commands read, beside the examples, in the folder where they run."""


class TooLong(BaseException):
    """A request takes more CPU than it may; no handler of the library stops it."""


def answer(request, seconds):
    """What is kept of the answer to a request, or ``{"over": seconds}`` where it takes more CPU than that."""

    late = False

    def stop(*_):
        nonlocal late
        late = True
        raise TooLong

    before = signal.signal(signal.SIGVTALRM, stop)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds, 1)  # again, where a callback swallows it
    try:
        found = _asked(request)
        return {"over": seconds} if late else found  # a library in C may have made another error of it
    except (TooLong, MemoryError):
        return {"over": seconds}
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        signal.signal(signal.SIGVTALRM, before)


def _asked(request):
    request = request_today(request)
    kind, _, rest = request.partition(" ")
    try:
        if kind == "claim":
            status, out, err = _command(["verify", rest, "--jobs", "1", "--json", "-"])
        elif kind == "symshuffle":
            status, out, err = _command(shlex.split(rest))
        else:
            names = {name: value for name, value in {**PUBLIC, **BELOW}.items() if name in request}
            found = eval(request, {"F": Fraction, **names})  # noqa: S307  # a line of our own grammar
    except (symshuffle.SymshuffleError, ValueError) as error:
        return {"refused": type(error).__name__} | _argument(" ".join(str(error).split()))
    except MemoryError:
        raise
    except Exception as error:  # a traceback for the user: its repair is a change that needs a line
        return {"crash": type(error).__name__}
    if kind not in ("claim", "symshuffle"):
        return {"answer": frozen(plain(found))}
    if status > 1:
        return {"exit": status} | _argument(" ".join(err.split()).rpartition("symshuffle: ")[2])
    return {"exit": status} | (
        frozen_claim(json.loads(out)[0]) if kind == "claim" else {"answer": frozen(json.loads(out))}
    )


def _command(words):
    """Exit code, output and errors of one command, in a folder that holds the files and the examples."""
    out, err, here = io.StringIO(), io.StringIO(), Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        shutil.copytree(ROOT / "examples", Path(folder) / "examples")
        for name, text in FILES.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        os.chdir(folder)
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = main(words)
        finally:
            os.chdir(here)
    return status, out.getvalue(), err.getvalue()


def _argument(line):
    """What the line of a refusal names before its first equals sign, or the parser's option; else nothing."""
    found = ARGUMENT.match(line) or (OPTION.search(line) if line.startswith(OF_THE_PARSER) else None)
    return {"argument": found[1] if found.re is ARGUMENT else found[0]} if found else {}
