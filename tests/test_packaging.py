"""What `pip install .` gives, away from the checkout: the command, and the whole ledger."""

import os
import subprocess
import sys
import sysconfig
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The source distribution, and the wheel that is built from it."""
    out = tmp_path_factory.mktemp("dist")
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", out, ROOT)
    (sdist,), (wheel,) = out.glob("*.tar.gz"), out.glob("*.whl")
    return sdist, wheel


@pytest.fixture(scope="module")
def elsewhere(distributions, tmp_path_factory):
    """The wheel in a fresh environment that sees the dependencies installed here, but not this checkout."""
    place = tmp_path_factory.mktemp("elsewhere")
    venv.create(place / "venv", with_pip=False)
    (site,) = (place / "venv").glob("lib/python*/site-packages")
    pip = (sys.executable, "-m", "pip", "--python", place / "venv/bin/python", "--disable-pip-version-check")
    run(*pip, "install", "--quiet", "--no-deps", "--no-index", distributions[1], cwd=place)
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (site / "dependencies.pth").write_text("\n".join(sorted(paths)))
    return place


def run(*command, cwd=None):
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    environment = {**clean, "COLUMNS": "200"}
    words = [str(part) for part in command]
    done = subprocess.run(words, capture_output=True, text=True, cwd=cwd, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def installed(elsewhere, *arguments):
    return run(elsewhere / "venv" / "bin" / "symshuffle", *arguments, cwd=elsewhere)


def committed(*patterns):
    return {str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)}


def test_the_wheel_holds_every_module_and_the_data(distributions):
    with zipfile.ZipFile(distributions[1]) as wheel:
        held = set(wheel.namelist())
    expected = committed(
        "symshuffle/**/*.py",
        "proofs_checks/**/*.py",
        "symshuffle/py.typed",
        "symshuffle/**/*.tsv",
        "symshuffle/**/*.json",
        "symshuffle/**/*.toml",
        "symshuffle/ledger/report/templates/*",
    )
    assert expected <= held
    assert not {name for name in held if name.startswith(("tests/", "notebooks/", "docs/"))}


def test_the_source_distribution_holds_what_the_readme_links_to(distributions):
    with tarfile.open(distributions[0]) as archive:
        held = {name.partition("/")[2] for name in archive.getnames()}
    assert {"README.md", "LICENSE", "CITATION.cff", "Makefile", "tests/test_packaging.py"} <= held
    assert committed("docs/*.md", "notebooks/*.ipynb") <= held


def test_the_installed_package_is_not_the_checkout(elsewhere):
    code = "import symshuffle, proofs_checks; print(symshuffle.__file__, proofs_checks.__file__)"
    for path in run(elsewhere / "venv" / "bin" / "python", "-c", code, cwd=elsewhere).split():
        assert Path(path).is_relative_to(elsewhere)


def test_the_installed_ledger_is_the_same(elsewhere):
    here = run(sys.executable, "-m", "symshuffle", "claims", "decomposition", "--json", cwd=ROOT)
    assert installed(elsewhere, "claims", "decomposition", "--json") == here


def test_the_installed_command_verifies(elsewhere):
    assert "1 claims: 1 holds" in installed(elsewhere, "verify", "decomposition.ex-4.1", "--jobs", "1")
