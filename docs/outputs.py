"""Run the programs that pages show, and write the output of each below it."""

import contextlib
import io
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
SHOWING = (
    "README.md",
    "docs/how-to-choose.md",
    "docs/deployment.md",
    "docs/folk-formulas.md",
    "docs/coming-from.md",
    "docs/after-shuffling.md",
)
PAGES = tuple(ROOT / name for name in SHOWING)
WIDTH = 88

_PYTHON = re.compile(r"```python\n(.*?)```\n\n```text\n(.*?)```", flags=re.DOTALL)
_CONSOLE = re.compile(r"```console\n\$ ([^\n]*)\n(.*?)```", flags=re.DOTALL)


def blocks(text: str) -> Iterator[tuple[str, str, str]]:
    """Each shown program with its kind (python or console) and its shown output."""
    yield from (("python", *match.groups()) for match in _PYTHON.finditer(text))
    yield from (("console", *match.groups()) for match in _CONSOLE.finditer(text))


def output(kind: str, program: str) -> str:
    """What a program prints, without trailing blanks."""
    printed = _python(program) if kind == "python" else _console(program)
    return "".join(f"{line.rstrip()}\n" for line in printed.strip("\n").splitlines())


def _python(code: str) -> str:
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(code, "page", "exec"), {})
    return printed.getvalue()


def _console(command: str) -> str:
    program, *arguments = shlex.split(command)
    words = [sys.executable, "-m", program, *arguments]
    environment = {**os.environ, "COLUMNS": str(WIDTH)}
    done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, env=environment, check=False)
    return done.stdout + done.stderr


def to_twelve(text: str) -> list[str]:
    """The words of a text, numbers of more than twelve digits cut there: how lines break depends on their lengths."""
    return re.sub(r"(\b0\.0*[1-9]\d{11}|\b[1-9]\.\d{11})\d+", r"\1", text).split()


def refresh(text: str) -> str:
    """The page with every output written anew."""
    text = _PYTHON.sub(lambda m: f"```python\n{m[1]}```\n\n```text\n{output('python', m[1])}```", text)
    return _CONSOLE.sub(lambda m: f"```console\n$ {m[1]}\n{output('console', m[1])}```", text)


if __name__ == "__main__":
    for page in PAGES:
        page.write_text(refresh(page.read_text(encoding="utf-8")), encoding="utf-8")
