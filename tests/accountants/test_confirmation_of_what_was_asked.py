"""A confirmation is of the pair, adjacency, null symbol, blanket and directions asked, or missing with a reason.

It shares no law with the bound of Laplace noise and of vectors, and lies inside the bracket: one of another adjacency,
which is larger or smaller by a factor, does not.
"""

import json
import time
from fractions import Fraction as F

import pytest

from symshuffle.accountants.questions import solve
from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Exp
from symshuffle.engines.confirm import recompute_laplace
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.vectors.privacy.confirmation import confirm_pair
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, LocalGaussian, SphereLinear
from tests.shell import run

FAMILIES = {
    "krr": ("krr", "-p", "k=4", "--eps0", "1"),
    "aug-rr": ("aug-rr", "-p", "k=3", "-p", "p=1/3", "--eps0", "1"),
    "laplace": ("laplace", "--eps0", "1"),
    "laplace-unit": ("laplace", "--eps0", "1", "-p", "domain=unit"),
    "channel": ("w.csv",),
    "bmg": ("bmg", "-p", "gamma=1/2", "-p", "sigma0=1"),
    "gaussian": ("gaussian", "-p", "sigma0=2"),
    "sphere-linear": ("sphere-linear", "-p", "c=0.3", "-p", "d=3"),
    "privunit": ("privunit", "-p", "p=2/3", "-p", "theta=0", "-p", "d=3"),
    "clipped-linear": ("clipped-linear", "-p", "clip=-0.2", "-p", "chi=3", "-p", "d=3"),
}
WHOM = {
    "replace-one": ("--adjacency", "replace-one"),
    "zero-out": ("--adjacency", "zero-out"),
    "null": ("--null", "1/4,1/4,1/2"),
    "largest": ("--adjacency", "zero-out", "--blanket", "largest"),
    "forward": ("--adjacency", "zero-out", "--direction", "forward"),
    "reverse": ("--adjacency", "zero-out", "--direction", "reverse"),
    "group": ("--group-size", "2"),
    "min-users": ("--min-batch-size", "300"),
}
QUESTIONS = {"delta": ("delta", "--eps", "1/20", "--rtol", "1e-4"), "epsilon": ("epsilon", "--delta", "1e-3")}


ORDINARY = (
    *(("laplace", whom) for whom in ("replace-one", "zero-out", "reverse")),
    *(("clipped-linear", whom) for whom in ("zero-out", "forward")),
    ("krr", "zero-out"), ("krr", "forward"), ("krr", "group"), ("channel", "null"), ("gaussian", "zero-out"),
)  # fmt: skip
CELLS = [
    pytest.param(family, whom, marks=[] if (family, whom) in ORDINARY else pytest.mark.conformance)
    for family in FAMILIES
    for whom in WHOM
]


@pytest.mark.parametrize(("family", "whom"), CELLS)
def test_confirmation_is_inside_or_missing(family, whom, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "w.csv").write_text("1/2,1/4,1/4\n1/4,1/2,1/4\n1/4,1/4,1/2\n")
    # Of each cell one of both questions, alternating, as a search costs more.
    place = list(FAMILIES).index(family) + list(WHOM).index(whom)
    question = QUESTIONS[("delta", "epsilon")[place % 2]]
    if family in ("bmg", "gaussian", "sphere-linear", "privunit", "clipped-linear"):
        question = QUESTIONS["delta"]
    line = (question[0], *FAMILIES[family], *question[1:], "--n", 1000, *WHOM[whom], "--confirm", "--json")
    status, out, err = run(capsys, *line)
    if status == 2 and (whom, family) != ("null", "channel"):
        assert "confirm" not in err  # the question itself has no answer: a null law or a blanket that does not fit
        return
    found = json.loads(out)
    assert status == 0, found.get("confirmed")
    if found["confirmed"] is None:
        assert found["confirmed_missing"]
    else:
        assert found["confirmed"]["inside"]
    finite = family in ("krr", "aug-rr", "laplace", "laplace-unit", "channel")
    assert (found["confirmed"] is not None) or not finite or whom in ("group", "min-users")


@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize(("lam", "eps"), [(F(5, 2), F(1, 10)), (Exp(F(3)), F(1, 2)), (F(5, 2), F(4, 5))])
@pytest.mark.parametrize("n", [1, 20_000])
def test_laplace_against_null_is_inside_the_bracket(lam, eps, n, direction):
    bound = solve.delta(Laplace(lam), n=n, eps=eps, adjacency="zero-out", direction=direction, rtol=1e-4)
    found = recompute_laplace(lam, Exp(eps), n, adjacency="zero-out", direction=direction)
    assert found.inside(bound.bracket)


def test_what_is_confirmed_of_two_adjacencies_differs():
    values = {
        near: recompute_laplace(Exp(F(2)), Exp(F(1, 10)), 1000, adjacency=near).exactly
        for near in ("replace-one", "zero-out")
    }
    assert values["zero-out"] < values["replace-one"] / 2


@pytest.mark.parametrize("near", ["replace-one", "zero-out"])
@pytest.mark.parametrize(
    "mechanism", [LocalGaussian(1), BlanketMixedGaussian("1/2", 1), SphereLinear("0.6", 4)], ids=repr
)
def test_a_quadrature_that_falls_too_slowly_is_left_at_once(mechanism, near):
    begun = time.process_time()
    for blanket in (None, "largest"):
        with pytest.raises(Unsupported, match="too slowly"):
            confirm_pair(mechanism, n=10, exp_eps=Exp(F(1, 2)), adjacency=near, blanket=blanket)
    assert time.process_time() - begun < 4
