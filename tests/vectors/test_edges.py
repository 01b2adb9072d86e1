"""Commands on vectors at the edge of what numbers can be: an answer, or one line that names the argument."""

import json
import math
from fractions import Fraction as F

import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from symshuffle import InputError, Unsupported, delta
from symshuffle.base.choices import STRENGTH
from symshuffle.cli import main
from symshuffle.vectors import BlanketMixedGaussian, SphereLinear, calibrate, private_mean
from symshuffle.vectors.privacy.gaussian_blanket import rounding_radius

EXTREMES = ("1e308", "1e-400", "0", "-1", "1/3", "nan", "inf", "x", "")
CALIBRATE = {"--n": "20", "--d": "2", "--eps": "1", "--delta": "1e-3", "--adjacency": "zero-out", "--gap": "none"}


def lines(capsys):
    return [line for line in capsys.readouterr().err.splitlines() if line.strip()]


@pytest.mark.parametrize("argument", ["--n", "--d", "--eps", "--delta", "--gap", "--adjacency", "--blanket"])
@pytest.mark.parametrize("text", EXTREMES)
def test_calibrate_answers_or_names_the_argument(argument, text, capsys):
    given = CALIBRATE | {argument: text}
    if (argument, text) in (("--gap", "1e-400"), ("--gap", "1/3")):
        given["--n"] = "1"  # a floor at one user is a closed form
    status = main(["calibrate", "sphere-linear", *(part for pair in given.items() for part in pair), "--json"])
    if status:
        (line,) = lines(capsys)
        assert status == 2 and line.startswith(f"symshuffle: {argument} = "), line
    else:
        found = json.loads(capsys.readouterr().out)
        assert F(found["certificate"]["upper"]) <= F(given["--delta"])


@pytest.mark.parametrize("text", EXTREMES)
@pytest.mark.parametrize("argument", ["eps", "delta"])
def test_mean_answers_or_names_the_argument(argument, text, tmp_path, capsys):
    data = tmp_path / "rows.csv"
    data.write_text("0.5,0.5\n" * 20)
    given = {"eps": "1", "delta": "1e-3"} | {argument: text}
    asked = ["--eps", given["eps"], "--delta", given["delta"], "--mechanism", "sphere-linear", "--seed", "1"]
    status = main(["mean", str(data), *asked, "--json"])
    if status:
        (line,) = lines(capsys)
        assert status == 2 and line.startswith(f"symshuffle: --{argument} = "), line
    else:
        assert json.loads(capsys.readouterr().out)["chosen"]["mechanism"] == "sphere-linear"


def test_a_mean_needs_a_level_above_0():
    with pytest.raises(InputError, match=r"eps = 0: expected a number > 0"):
        private_mean([[0.5, 0.5]] * 10, eps=0, delta="1e-3")


@pytest.mark.parametrize(
    "asked",
    [
        ("sphere-linear", "c=1/2"),
        ("privunit", "p=3/4", "theta=0"),
        ("clipped-linear", "clip=0", "chi=1"),
        ("bmg", "gamma=1/2", "sigma0=1"),
    ],
)
@pytest.mark.parametrize("dimension", ["1e308", "0", "-3", "3/2"])
def test_a_dimension_out_of_range_is_refused_by_name(asked, dimension, capsys):
    name, *given = asked
    params = [part for value in (*given, f"d={dimension}") for part in ("-p", value)]
    assert main(["delta", name, *params, "--n", "10", "--eps", "1"]) == 2
    (line,) = lines(capsys)
    assert line.startswith(("symshuffle: d = ", "symshuffle: --d = ", "symshuffle: dimension = ")) and len(line) < 500


def test_why_a_family_has_no_bound_is_said():
    with pytest.raises(Unsupported, match="no blanket of its own; use blanket='largest'"):
        calibrate("gaussian", n=100, dimension=2, eps=1, delta="1e-5", blanket="mechanism")


def sums_of_bits(c, n, ratio):
    """H(n) of randomized response against the null symbol, by enumeration over the counts of blanket messages."""
    up, down = ((1 + c) / 2 - ratio / 2, (1 - c) / 2 - ratio / 2)
    low = (1 - c) / 2  # mass of either point in the blanket
    total = F(0)
    for a in range(n + 1):
        for b in range(n - a + 1):
            chance = math.comb(n, a) * math.comb(n - a, b) * low ** (a + b) * c ** (n - a - b)
            total += chance * max((a * up + b * down) / low, F(0))
    return total / n


@pytest.mark.parametrize("n", [1, 2, 7])
def test_rational_bits_are_exact(n):
    c, ratio = F(2, 5), F(6, 5)
    found = delta(SphereLinear(c, 1), n=n, exp_eps=ratio, adjacency="zero-out", arithmetic="exact", direction="forward")
    assert found.bracket.exact == sums_of_bits(c, n, ratio)


@pytest.mark.parametrize("arithmetic", ["float64", "ball"])
def test_one_user_is_a_closed_form(arithmetic):
    """Replace-one, gamma = 1/2: with one user both orders are the divergence of N(1, 1) and N(-1, 1), mixed."""
    found = delta(BlanketMixedGaussian("1/2", 1), n=1, exp_eps=F(3, 2), arithmetic=arithmetic, rtol=1e-12).bracket

    def excess(u):
        return (norm.pdf(u) + norm.pdf(u - 1) - 1.5 * (norm.pdf(u) + norm.pdf(u + 1))) / 2

    at = brentq(excess, -3, 9, xtol=1e-14)  # it is positive from there on
    true = (norm.sf(at) + norm.sf(at - 1) - 1.5 * (norm.sf(at) + norm.sf(at + 1))) / 2
    assert float(found.lower) - 1e-14 <= true <= float(found.upper) + 1e-14
    assert found.width < F(1, 10**12) and STRENGTH[found.arithmetic] >= STRENGTH[arithmetic]


@pytest.mark.parametrize("adjacency", ["zero-out", "replace-one"])
@pytest.mark.parametrize("n", [2, 5])
def test_few_users_are_as_narrow_as_asked(n, adjacency):
    asked = {"n": n, "eps": "1/2", "adjacency": adjacency}
    coarse, fine = (delta(BlanketMixedGaussian("1/2", 1), rtol=rtol, **asked).bracket for rtol in (1e-2, 1e-4))
    assert coarse.aimed is fine.aimed is None
    assert coarse.width <= F(coarse.upper) / 100 and fine.width <= F(fine.upper) / 10**4
    assert coarse.lower <= fine.upper and fine.lower <= coarse.upper


def test_a_radius_of_rounding_is_never_negative():
    for ratio, reach, gamma, name in (
        (F(1, 2), F(1), F(0), "exp_eps"),
        (F(2), F(0), F(0), "reach"),
        (F(2), F(1), F(1), "gamma"),
    ):
        with pytest.raises(InputError, match=name):
            rounding_radius(ratio, reach=reach, gamma=gamma)
    assert rounding_radius(F(1), reach=F(1)) > 0


@pytest.mark.parametrize("arithmetic", ["float64", "ball"])
@pytest.mark.parametrize("n", [3, 5])
def test_few_users_are_no_looser_where_less_width_is_asked_for(n, arithmetic):
    """Of a pair with a long tail, in balls as in doubles: a narrower bracket lies within a wider one."""
    source = BlanketMixedGaussian("0.95", "4.6")
    asked = {"n": n, "eps": "1/100", "adjacency": "zero-out", "arithmetic": arithmetic}
    wide, narrow = (delta(source, rtol=rtol, **asked).bracket for rtol in (1e-1, 1e-3))
    assert wide.lower <= narrow.lower <= narrow.upper <= wide.upper
    assert narrow.width <= narrow.upper / 1000
    assert str(narrow.arithmetic) == arithmetic


def test_a_delta_that_no_search_reaches_is_refused_before_it(capsys):
    pair = ["bmg", "-p", "gamma=0.95", "-p", "sigma0=4.6", "--adjacency", "zero-out"]
    assert main(["epsilon", *pair, "--n", "1000", "--delta", "1e-400"]) == 2
    (line,) = lines(capsys)
    assert line.startswith("symshuffle: --delta = 1e-400: expected at least 1e-100 for n = 1000")
    # nothing is revealed: the closed form of one user ends at what no window holds
    assert main(["epsilon", *pair, "--n", "1", "--delta", "1e-400"]) == 2
    (line,) = lines(capsys)
    assert line.startswith(
        "symshuffle: no eps up to 5000 is certified to have delta <= 1e-400: at 5000 it is at most 2.2"
    )
