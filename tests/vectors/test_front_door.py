"""Vector mechanisms at the front doors: delta, epsilon, curves, the fewest users, and the command line."""

from fractions import Fraction

import pytest

from symshuffle import delta, epsilon, profile, randomizer, smallest_n
from symshuffle.accountants import amplification_curve
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.channels.channel import Channel
from symshuffle.vectors import BlanketMixedGaussian, LocalGaussian, PrivUnit, SphereLinear
from tests.shell import answer, refused, run
from tests.slices import some

MIXED = BlanketMixedGaussian("0.95", "4.6")
FORWARD, REVERSE = Fraction("2.379135330145171e-5"), Fraction("2.320416974609794e-5")
SHOWN = "delta bmg -p gamma=0.95 -p sigma0=4.6 --adjacency zero-out --n 1000 --eps 0.0004"


def inside(ends, value):
    return Fraction(ends["lower"]) <= value <= Fraction(ends["upper"])


def test_orders_beside_fewer_messages_are_those_of_so_many_users(capsys):
    """Both orders are asked of the messages there are at least, as the answer above them is."""
    fewer = answer(capsys, *f"{SHOWN} --blanket mechanism --min-batch-size 800".split())
    alone = answer(capsys, *(SHOWN.replace("1000", "800") + " --blanket mechanism").split())
    assert fewer["orders"] == alone["orders"] and fewer["upper"] == alone["upper"]
    assert "orders" not in answer(capsys, *f"{SHOWN} --blanket mechanism --group-size 2".split())


def test_both_orders_and_both_blankets_are_shown(capsys):
    own = answer(capsys, *f"{SHOWN} --blanket mechanism --confirm".split())
    assert inside(own["orders"]["forward"], FORWARD) and inside(own["orders"]["reverse"], REVERSE)
    assert inside(own, FORWARD) and own["adjacency"] == "zero-out"
    assert own["confirmed"]["inside"] and own["confirmed"]["digits"] >= 12
    assert Fraction(own["attained_lower"]) < Fraction(own["lower"])
    largest = answer(capsys, *f"{SHOWN} --blanket largest".split())
    assert Fraction(largest["upper"]) < Fraction(own["lower"])
    assert own["blankets"] == largest["blankets"] and set(own["blankets"]) == {"mechanism", "largest"}
    assert largest["orders"] == largest["blankets"]["largest"]


SOURCES = (MIXED, LocalGaussian(4), SphereLinear("1/4", 5), SphereLinear("1/4", 1), PrivUnit("0.7", "0.1", 10))


@pytest.mark.parametrize(
    ("source", "adjacency"), some([(one, way) for one in SOURCES for way in ("zero-out", "replace-one")], 5)
)
def test_every_mechanism_under_both_adjacencies(source, adjacency):
    found = delta(source, n=400, eps="0.002", adjacency=adjacency, attained=True, rtol=1e-4)
    assert found.neighbours.adjacency == adjacency
    assert 0 < found.attained.lower < found.bracket.upper
    assert found.neighbours.every


def test_the_default_is_replace_one_and_it_is_said():
    bound = delta(MIXED, n=1000, eps="0.001")
    assert bound.neighbours.adjacency == "replace-one" and "replace-one" in repr(bound)


def test_the_inverses_agree_with_delta():
    given = {"adjacency": "zero-out"}
    eps = epsilon(MIXED, n=10**4, delta="1e-5", rtol=1e-3, **given).bracket
    assert eps.contains(Fraction("0.00010935581711961"))
    curve = profile(MIXED, n=10**4, eps=[eps.lower, eps.upper], rtol=1e-4, **given)
    assert curve.points[0].y.upper > Fraction("1e-5") >= curve.points[1].y.upper
    two_points = PrivUnit("0.7", 0, 10)  # a sign in every dimension: finite, and quick
    users = smallest_n(two_points, eps="0.1", delta="1e-3", **given)
    assert users.neighbours.adjacency == "zero-out"
    points = amplification_curve(two_points, delta="1e-3", users=[int(users.safe_end)], rtol=1e-3, **given).points
    assert points[0].y.lower <= Fraction(1, 10)


@pytest.mark.parametrize("source", [randomizer("krr").at(k=4, lam="5/2"), randomizer("half-block").at(k=8, lam=3)])
def test_the_null_symbol_of_a_finite_mechanism_has_the_law_of_the_blanket(source):
    counted, listed = (
        delta(s, n=4, exp_eps="21/20", adjacency="zero-out", arithmetic="exact").bracket.exact
        for s in (source, source.channel())
    )
    assert counted == listed
    replaced = delta(source, n=4, exp_eps="21/20", arithmetic="exact").bracket.exact
    assert counted < replaced


def test_the_null_symbol_may_be_given():
    flip = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    given = reduction(flip, null=["1/2", "1/2"])
    derived = reduction(flip, adjacency="zero-out")
    assert given.laws(Fraction(1), "both", None) == derived.laws(Fraction(1), "both", None)


def test_what_has_no_such_adjacency_is_refused():
    flip = Channel.from_rows([["1", "0"], ["0", "1"]])
    with pytest.raises(InputError, match="null"):
        delta(flip, n=3, eps=1, adjacency="zero-out")
    with pytest.raises(InputError, match="adjacency"):
        delta(reduction(MIXED, adjacency="zero-out"), n=30, eps=1, adjacency="replace-one")
    with pytest.raises(InputError, match="blanket"):
        delta(reduction(MIXED), n=30, eps=1, blanket="largest")
    with pytest.raises(InputError, match="adjacency"):
        reduction(flip, null=["1/2", "1/2"], adjacency="replace-one")
    with pytest.raises(Unsupported, match="density"):
        delta(MIXED, n=30, eps=1, arithmetic="exact")
    with pytest.raises(Unsupported, match="no blanket of its own"):
        delta(LocalGaussian(4), n=30, eps=1, blanket="mechanism")


def test_few_users_are_answered_in_doubles_and_say_how_wide():
    bound = delta(BlanketMixedGaussian("0.9", "4"), n=2, eps="0.01", adjacency="zero-out", rtol=1e-4)
    assert bound.bracket.contains(Fraction("0.00374801731398906099641705593"))
    assert bound.bracket.relative_width < 1e-4
    balls, doubles = (delta(MIXED, n=2, eps="0.01", arithmetic=arithmetic).bracket for arithmetic in ("ball", None))
    assert balls.arithmetic == "ball" and balls.relative_width < 1e-6
    assert balls.lower <= doubles.upper and doubles.lower <= balls.upper
    wide = delta(BlanketMixedGaussian("0.5", "1.5"), n=30, eps="0.3", adjacency="zero-out", rtol=1e-4)
    assert wide.bracket.relative_width < 1e-4


def test_a_wide_bracket_is_printed(capsys):
    _, out, _ = run(capsys, "delta", "bmg", "-p", "gamma=0.95", "-p", "sigma0=4.6", "--n", "10", "--eps", "1")
    told = " ".join(out.split())
    assert "relative width 1.0e+00, aimed at 1.0e-06" in told


@pytest.mark.parametrize("name", ["privunit -p theta=0.2", "sphere-linear"])
def test_a_budget_may_replace_a_parameter_and_is_printed(name, capsys):
    told = answer(capsys, *f"delta {name} -p d=4 --eps0 1 --n 300 --eps 0.05".split())
    assert Fraction(1) - Fraction(1, 10**9) < Fraction(told["parameters"]["eps0"]) <= 1
    assert "eps0" in run(capsys, *f"delta {name} -p d=4 --eps0 1 --n 300 --eps 0.05 --explain".split())[1]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("bmg -p gamma=1 -p sigma0=4", "gamma = 1"),
        ("bmg -p gamma=0 -p sigma0=4", "gamma = 0"),
        ("bmg -p gamma=0.5 -p sigma0=0", "sigma0 = 0"),
        ("bmg -p gamma=0.5 -p sigma0=1 -p norm=2", "norm = 2"),
        ("bmg -p gamma=0.5 -p sigma0=1 -p d=1/2", "d = 1/2"),
        ("bmg -p gamma=0.5 -p sigma0=1 -p k=2", "k = 2"),
        ("bmg -p sigma0=1", "gamma"),
        ("bmg -p gamma=0.5 -p sigma0=1 --eps0 1", "--eps0"),
        ("gaussian -p sigma0=1 --lam 2", "--lam"),
        ("gaussian -p sigma0=-1", "sigma0 = -1"),
        ("privunit -p p=0.7 -p theta=1 -p d=3", "theta = 1"),
        ("privunit -p p=0.7 -p theta=-1 -p d=3", "theta = -1"),
        ("privunit -p theta=0 -p p=0.7", "d"),
        ("privunit -p theta=0 -p p=0.7 -p d=3 --eps0 1", "p = 0.7"),
        ("sphere-linear -p c=1", "c = 1"),
        ("bmg -p gamma=0.5 -p sigma0=1 --adjacency add", "adjacency = add"),
        ("bmg -p gamma=0.5 -p sigma0=1 --blanket none", "blanket = none"),
        ("joint(krr(k=3),2) --eps0 1 --adjacency zero-out", "zero-out"),
        ("krr -p k=3 --eps0 1 --blanket mechanism", "blanket"),
    ],
)
def test_wrong_input_is_one_line(given, words, capsys):
    assert words in refused(capsys, "delta", *given.split(), "--n", "40", "--eps", "0.1")


def test_the_vector_mechanisms_are_listed(capsys):
    names = {row["name"] for row in answer(capsys, "mechanisms")}
    assert {"bmg", "privunit", "sphere-linear", "clipped-linear", "gaussian", "laplace"} <= names


def test_other_commands_take_them(capsys):
    asked = "smallest-n privunit -p p=0.7 -p theta=0 -p d=5 --eps 0.1 --delta 1e-3 --adjacency zero-out"
    told = answer(capsys, *asked.split())
    assert told["adjacency"] == "zero-out"
    text = "profile sphere-linear -p c=0.25 -p d=3 --n 500 --to 0.02 --points 3"
    assert len(answer(capsys, *f"{text} --adjacency zero-out".split())["points"]) == 3
    refused(capsys, "worst-datasets", "bmg", "-p", "gamma=0.95", "-p", "sigma0=4.6", "--n", "10", "--eps", "0.1")


@pytest.mark.parametrize(
    "text",
    [
        "delta privunit -p p=0.51 -p theta=0.1 -p d=100 --n 300 --eps 0.02",
        "delta sphere-linear -p c=0.5 --n 300 --eps 0.1",
    ],
)
def test_a_confirmation_of_few_ratios_looks_at_the_whole_line(text, capsys, monkeypatch):
    """The integrand comes back far from 0: two lines that both stop at its first fall agree on a wrong number."""
    told = answer(capsys, *f"{text} --confirm".split())
    assert told["confirmed"]["inside"] and told["confirmed"]["digits"] >= 9
    wrong = Fraction(told["upper"]) * Fraction(100_002, 100_000)
    monkeypatch.setattr(
        "symshuffle.vectors.privacy.confirmation.confirm_pair", lambda *_, **__: (f"{float(wrong):.14g}", 14)
    )
    status, out, _ = run(capsys, *text.split(), "--confirm")
    assert status == 1 and "OUTSIDE" in out
