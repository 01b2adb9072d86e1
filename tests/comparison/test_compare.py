"""Rows against explicit channels, eps against the front door, and where local and central budgets disagree."""

import itertools
import math
import re
from fractions import Fraction as F

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from symshuffle import compare, delta, epsilon, randomizer
from symshuffle.accountants.questions.adversary import worst_of_all
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Exp
from symshuffle.design import Comparison
from symshuffle.design.comparison.families import family, names
from symshuffle.design.comparison.proposals import loss_of, moment
from symshuffle.design.comparison.table import draw
from symshuffle.mechanisms.registry import MECHANISMS, thinned
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import worst_canonical_risk
from symshuffle.utility.frontiers.caps import matched_ratio, optimal_subset_sizes
from symshuffle.utility.frontiers.equivariant import matched_risk
from symshuffle.utility.frontiers.frontier import trace_frontier
from tests.shown import as_html
from tests.slices import some


@pytest.fixture(scope="module")
def at_budget():
    return compare(6, n=12, budget="1/4")


@pytest.fixture(scope="module")
def at_level():
    return compare(4, n=8, eps0="1", delta="1/100", mechanisms=["krr", "subset-selection", "oue", "half-block"])


def rebuilt(row, k, **budget):
    one = family(row.name, k)
    chosen = {name: value for name, value in row.parameters if name != str(one.size)}
    return one.at(**budget, **chosen)


def test_every_mechanism_of_the_registry_has_a_row_or_a_reason(at_budget):
    told = {row.name for row in at_budget.rows} | {name for name, _ in at_budget.absent}
    assert told == set(names()) >= set(MECHANISMS)
    assert all(reason for _, reason in at_budget.absent)


def test_rows_at_a_budget_against_explicit_channels(at_budget):
    for row in at_budget.rows:
        if row.risk is None:
            assert row.reason
            continue
        if row.name == "hadamard":
            continue  # 6 of 7 inputs
        root = F(math.exp(row.eps0.upper / 2)).limit_denominator(10**12)  # a square, for RAPPOR
        law = AnchoredLaw.from_channel(rebuilt(row, 6, lam=root * root).channel())
        budget = law.pairwise_budget()
        assert abs(float(budget) - 0.25) < 1e-7
        assert row.chi_square.upper <= F(1, 4)
        assert float(row.trace.midpoint) == pytest.approx(float(law.trace()), rel=1e-7)
        risk, _ = worst_canonical_risk(law, n=12, population="fixed")
        assert float(row.risk.midpoint) == pytest.approx(float(risk), rel=1e-7)
        iid, _ = worst_canonical_risk(law, n=12, population="iid")
        assert float(row.iid_risk.midpoint) == pytest.approx(float(iid), rel=1e-7)


def test_no_row_beats_the_certified_frontier_and_one_attains_it(at_budget):
    best = trace_frontier(6, F(1, 4)).risk_constant("fixed").scaled(F(1, 12))
    risks = [row.risk.upper for row in at_budget.rows if row.risk is not None]
    assert risks == sorted(risks)
    assert min(risks) >= best.lower
    assert float(min(risks)) == pytest.approx(float(best.upper), rel=1e-6)


def test_a_budget_with_a_rational_ratio_is_matched_exactly():
    found = compare(10, n=100, budget="3/22", mechanisms=["krr"]).row("krr")
    assert found.chi_square.exact == F(3, 22)
    assert found.risk.exact == matched_risk(10, 1, F(3, 22), n=100).exact
    assert matched_ratio(10, 1, F(3, 22)).exact == 2


def test_eps_is_that_of_the_front_door(at_level):
    for row in at_level.rows:
        fixed = rebuilt(row, 4, eps0=1)
        expected = epsilon(fixed, n=8, delta="1/100", rtol=1e-4, attained=True)
        assert row.epsilon.lower <= expected.bracket.upper
        assert expected.bracket.lower <= row.epsilon.upper
        assert row.epsilon.upper <= expected.bracket.upper * F(1001, 1000)
        assert float(row.attained.lower) == pytest.approx(float(expected.attained.lower), rel=1e-3)
        assert row.attained.lower <= row.epsilon.upper


def test_the_best_subset_under_a_local_level_is_the_known_one():
    found = compare(12, n=5, eps0="1", mechanisms=["subset-selection"]).row("subset-selection")
    assert dict(found.parameters)["s"] in optimal_subset_sizes(12, Exp(F(1)))


def test_a_central_match_meets_its_target_and_hardly_more():
    found = compare(4, n=60, eps="1/2", delta="1/1000", mechanisms=["krr", "oue"])
    for row in found.rows:
        level = row.eps0.upper
        met = delta(rebuilt(row, 4, eps0=F(str(float(row.eps0.lower))[:10])), n=60, eps="1/2")
        assert met.bracket.upper <= F(1, 1000)
        beyond = delta(rebuilt(row, 4, eps0=F(level) * F(1001, 1000)), n=60, eps="1/2")
        assert beyond.bracket.lower > F(1, 1000)
        assert row.epsilon.upper <= F(1, 2)


def test_local_and_central_budgets_prefer_different_mechanisms():
    """Exact, k = 5: at a chi-square budget the null symbol wins; after shuffling it loses, by bound and by datasets."""
    null = randomizer("aug-rr").at(k=5, lam=2, p=F(1, 2))
    plain = randomizer("krr").at(k=5, lam=F(3331, 2000))
    laws = [AnchoredLaw.from_channel(one.channel()) for one in (null, plain)]
    budgets = [law.pairwise_budget() for law in laws]
    risks = [worst_canonical_risk(law, n=3, population="fixed")[0] for law in laws]
    assert budgets[0] == F(1, 8) < budgets[1]  # the null symbol spends less
    assert risks[0] < risks[1]  # and is more accurate
    for n in (2, 3):
        bounds = [delta(one, n=n, exp_eps="13/10", arithmetic="exact").bracket.exact for one in (null, plain)]
        pairs = [worst_of_all(one.channel(), n, F(13, 10)).bracket.exact for one in (null, plain)]
        assert bounds[0] > bounds[1]  # but is less private after shuffling
        assert pairs[0] > pairs[1]
        assert all(pair <= bound for pair, bound in zip(pairs, bounds, strict=True))


def test_at_a_local_level_large_subsets_win_and_at_a_central_target_small_ones():
    chosen = ["krr", "subset-selection"]
    local = compare(20, n=1000, eps0="1", mechanisms=chosen)
    central = compare(20, n=1000, eps="1/2", delta="1e-6", mechanisms=chosen)
    size = dict(local.row("subset-selection").parameters)["s"]
    assert size > 1
    assert local.rows[0].name == "subset-selection"
    assert dict(central.row("subset-selection").parameters)["s"] < size


def test_without_delta_privacy_is_null_and_said(at_budget):
    assert all(row.epsilon is None and row.attained is None for row in at_budget.rows)
    assert "no delta was given" in at_budget.about
    assert at_budget.to_dict()["rows"][0]["epsilon"] is None


def test_a_risk_above_the_answer_uniform_is_marked():
    few = compare(4, n=2, eps0="1/2", mechanisms=["krr"]).row("krr")
    many = compare(4, n=2000, eps0="1/2", mechanisms=["krr"]).row("krr")
    assert few.worse_than_uniform
    assert few.risk.lower > F(3, 4)
    assert few.cells()["risk"].endswith("!")
    assert not many.worse_than_uniform


def test_risks_are_above_the_lower_bounds(at_budget):
    for row in at_budget.rows:
        for _, ratio in row.over_bounds:
            assert ratio.upper >= 1


def test_bits_of_a_message(at_budget):
    assert at_budget.row("krr").bits == 3
    assert at_budget.row("oue").bits == 6
    assert at_budget.row("constant").bits == 0


def test_a_thinned_mechanism_scales_trace_and_budget():
    one, base = family("thinned oue", 3), randomizer("oue").at(D=3, lam=4)
    thin = AnchoredLaw.from_channel(one.at(lam=4, p=F(1, 3)).channel())
    whole = AnchoredLaw.from_channel(base.channel())
    assert thin.trace() == whole.trace() / 3
    assert thin.pairwise_budget() == whole.pairwise_budget() / 3
    values = {"p": 1 / 3}
    assert moment(one, "chi square")(4.0, values) == pytest.approx(float(thin.pairwise_budget()))
    risk, _ = worst_canonical_risk(thin, n=1, population="fixed")
    assert loss_of(one)(4.0, values) == pytest.approx(float(risk))


def test_faces(at_level):
    assert isinstance(at_level, Comparison)
    assert "<table>" in as_html(at_level)
    assert "half-block" in repr(list(at_level.remarks()))
    assert at_level.to_csv().count("\n") == len(at_level.rows) + 1
    assert not any(mark in at_level.to_csv() for mark in "{}[]")
    assert at_level.table().row_count == len(at_level.rows)
    answer = at_level.to_dict()
    assert answer["rows"][-1]["risk"] == "infinite"
    assert answer["rows"][0]["privacy"].startswith("at eps = upper")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"k": 10**7, "budget": 1}, "k = 10000000"),
        ({"k": 4}, "exactly one"),
        ({"k": 4, "budget": 1, "eps0": 1}, "exactly one"),
        ({"k": 4, "budget": 0}, "a number > 0"),
        ({"k": 4, "budget": "-1"}, "a number > 0"),
        ({"k": 4, "eps0": 100}, r"\(0, 64\]"),
        ({"k": 4, "eps": "1/2"}, "delta"),
        ({"k": 4, "eps": "1/2", "delta": 2}, r"\(0, 1\)"),
        ({"k": 4, "eps": 0, "delta": "1/2"}, "eps = 0"),
        ({"k": 4, "budget": 1, "mechanisms": ["krrr"]}, "did you mean krr"),
        ({"k": 3, "budget": 1, "mechanisms": ["half-block"]}, "an even integer"),
        ({"k": 3, "budget": 1, "mechanisms": ["rr"]}, "number of inputs of rr"),
        ({"k": 3, "budget": 10**60, "mechanisms": ["krr"]}, "attainable"),
    ],
)
def test_wrong_input(arguments, message):
    with pytest.raises(InputError, match=message):
        compare(arguments.pop("k"), n=10, **arguments)


def test_what_cannot_be_thinned():
    with pytest.raises(Unsupported, match="not thinned"):
        family("thinned half-block", 4)
    with pytest.raises(Unsupported, match="not thinned"):
        thinned("aug-rr")


@pytest.mark.parametrize("options", some([{"eps0": 1}, {"budget": "3/10"}, {"eps0": 1, "loss": "max"}], 1))
def test_no_label_of_the_picture_lies_on_another(options):
    figure = draw(compare(4, n=1000, delta="1e-6", **options))
    FigureCanvasAgg(figure).draw()
    shown = [text for axis in figure.axes for text in axis.texts]
    for axis in figure.axes:
        low, high = axis.get_xlim()  # ticks beyond are not drawn
        shown += [label for label in axis.get_xticklabels() if low <= label.get_position()[0] <= high]
    shown += [text for legend in figure.legends for text in legend.get_texts()]
    boxes = [text.get_window_extent() for text in shown]
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    named = {name for text in figure.legends[0].get_texts() for name in re.findall(r"[a-z][a-z-]+", text.get_text())}
    assert {"krr", "oue", "rappor"} <= named


def test_rows_that_are_alike_are_named():
    """The same matrix but for a message that nobody sends; the same profile; and a near miss with neither."""
    names = ["krr", "subset-selection", "aug-rr", "blh", "olh", "hadamard"]
    found = compare(4, n=100, eps0=1, delta="1e-3", mechanisms=names, loss="absent")
    assert found.alike == (
        "krr, subset-selection s=1 and aug-rr p=1 are the same mechanism, up to the names of messages",
    )
    found = compare(4, n=100, eps0=1, delta="1e-3", mechanisms=names, loss="max")
    assert found.alike == (
        "krr and aug-rr p=1 are the same mechanism, up to the names of messages",
        "blh and olh g=2 have the same bound: the same law of G at every eps",
    )
    assert [one for one in found.remarks() if one in found.alike] == list(found.alike) == found.to_dict()["alike"]
    krr, subsets, augmented = (
        {column for column in randomizer(name).at(k=3, lam=2, **more).channel().columns() if any(column)}
        for name, more in (("krr", {}), ("subset-selection", {"s": 1}), ("aug-rr", {"p": 1}))
    )
    assert krr == subsets == augmented
    exact = {
        name: [delta(randomizer(name).at(D=3 if name != "hadamard" else 4, lam=2, **more), n=2, exp_eps=x,
                     arithmetic="exact").bracket.exact for x in (F(1), F(6, 5), F(3, 2))]
        for name, more in (("blh", {}), ("olh", {"g": 2}), ("hadamard", {}))
    }  # fmt: skip
    assert exact["blh"] == exact["olh"] != exact["hadamard"]
    solved = compare(4, n=1000, eps="0.1", delta="1e-6", mechanisms=["krr", "subset-selection"])
    assert len(solved.alike) == 1 and "krr and subset-selection s=1 are the same" in solved.alike[0]
