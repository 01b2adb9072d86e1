"""Commands run in this process, as a shell would see them."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from symshuffle.cli import main

ROOT = Path(__file__).parents[1]


def run(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of a command."""
    capsys.readouterr()
    status = main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return status, captured.out, captured.err


def answer(capsys: pytest.CaptureFixture[str], *arguments: object) -> Any:
    """What a command prints with ``--json``; it succeeds and prints nothing else."""
    status, out, err = run(capsys, *arguments, "--json")
    assert (status, err) == (0, "")
    return json.loads(out)


def refused(capsys: pytest.CaptureFixture[str], *arguments: object, status: int = 2) -> str:
    """The line of a refusal: its exit status, nothing on standard output, one short line that is no traceback."""
    found, out, err = run(capsys, *arguments)
    assert (found, out) == (status, "")
    assert err.startswith("symshuffle: ") and err.endswith("\n") and err.count("\n") == 1 and len(err) < 600
    return err


def script(name: str) -> ModuleType:
    """A script of the folder of pages, as a module."""
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
