"""`import symshuffle` loads no heavy library; the names load on first use."""

import json
import subprocess
import sys

import pytest

import symshuffle

HEAVY = ("sympy", "cvxpy", "matplotlib", "scipy.stats", "scipy", "numpy", "highspy", "mpmath", "pydantic", "hypothesis")


def modules_after(statement):
    program = f"import sys, json\n{statement}\nprint(json.dumps(sorted(sys.modules)))"
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(json.loads(found.stdout))


def test_import_loads_nothing_heavy():
    assert not modules_after("import symshuffle") & set(HEAVY)


@pytest.mark.parametrize(
    "statement",
    [
        "from symshuffle import Channel, Law, hockey_stick, privacy_blanket, shuffled_divergence",
        "from symshuffle import Exact, FFT, Contour, BallContour, confirm",
        "import symshuffle.cli",
    ],
)
def test_numbers_channels_and_engines_need_no_algebra(statement):
    assert not modules_after(statement) & {"sympy", "cvxpy", "matplotlib", "scipy.stats", "hypothesis"}


def test_every_public_name_exists():
    for name in symshuffle.__all__:
        assert getattr(symshuffle, name) is not None
    assert set(symshuffle.__all__) <= set(dir(symshuffle))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        symshuffle.nonsense
