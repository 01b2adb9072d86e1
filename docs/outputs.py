"""Run the programs that pages show, and write the output of each below it."""

import contextlib
import io
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

from symshuffle.cli import main

ROOT = Path(__file__).parents[1]
SHOWING = (
    "README.md",
    "docs/how-to-choose.md",
    "docs/deployment.md",
    "docs/folk-formulas.md",
    "docs/coming-from.md",
    "docs/after-shuffling.md",
    "docs/calls.md",
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
    """What a command prints, and what it says beside that; in this process, so that nothing is loaded twice."""
    program, *arguments = shlex.split(command)
    assert program == "symshuffle"
    printed, said = io.StringIO(), io.StringIO()
    with contextlib.chdir(ROOT), contextlib.redirect_stdout(printed), contextlib.redirect_stderr(said), _columns():
        main(arguments)
    return printed.getvalue() + said.getvalue()


@contextlib.contextmanager
def _columns() -> Iterator[None]:
    before = os.environ.get("COLUMNS")
    os.environ["COLUMNS"] = str(WIDTH)
    try:
        yield
    finally:
        del os.environ["COLUMNS"]
        os.environ |= {} if before is None else {"COLUMNS": before}


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
