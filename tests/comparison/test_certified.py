"""What excludes other parameters, against brute force over all of them, and where it must not exclude anything."""

# No public door takes a wrong guess: the private names that guess are replaced.
from dataclasses import replace
from fractions import Fraction as F

import pytest

from symshuffle import Channel, compare, delta
from symshuffle.base.numbers import upper_end
from symshuffle.design.comparison import branch_and_bound
from symshuffle.design.comparison.branch_and_bound import Rivals
from symshuffle.design.comparison.families import family
from symshuffle.design.comparison.matching import matched, read_match
from symshuffle.design.comparison.monotonicity import DegradationOrder, risk_falls
from symshuffle.utility import AnchoredLaw
from symshuffle.utility.estimation.votes import canonical_votes, named_votes
from tests.slices import some

BUDGET = {"budget": "1/4"}
LEVEL = {"eps0": "3/2"}
CENTRAL = {"eps": "1", "delta": "1/1000"}


def read(**given):
    return read_match(**{name: given.get(name) for name in ("budget", "eps0", "eps", "delta")})


def matched_risk(name, k, n, given, values):
    one = family(name, k)
    at = matched(one, values, read(**given), n=n, rtol=1e-5)[0].mechanism
    return upper_end(canonical_votes(at, inputs=k, bits=120).risk(n))


INTEGERS = (("olh", "g", range(2, 16)), ("subset-selection", "s", (1, 2, 3)))


@pytest.mark.parametrize(
    ("name", "integer", "values", "given"),
    some([(*one, given) for one in INTEGERS for given in (BUDGET, LEVEL, CENTRAL)], 3),
)
def test_the_best_integer_is_that_of_brute_force(name, integer, values, given):
    row = compare(4, n=40, mechanisms=[name], **given).rows[0]
    found = {value: matched_risk(name, 4, 40, given, ((integer, value),)) for value in values}
    best = min(found, key=found.get)
    assert dict(row.parameters)[integer] == best or best == max(values)
    assert float(row.risk.upper) <= float(min(found.values())) * (1 + 1e-3)
    assert row.choice.startswith(("certified", "proved"))


FAR_FROM_THE_LIMIT = (
    (
        "aug-rr",
        50,
        30,
        {"eps": "0.3", "delta": "0.05"},
        [(("p", F(p)),) for p in ("1", "0.9", "0.3", "0.06", "0.0505")],
    ),
    ("olh", 14, 39, {"eps": "2.6", "delta": "7e-5"}, [(("g", g),) for g in (24, 36, 44, 45, 46, 47, 48, 64)]),
)


@pytest.mark.parametrize(("name", "k", "n", "given", "others"), FAR_FROM_THE_LIMIT)
def test_few_users_have_the_best_choice_of_brute_force(name, k, n, given, others):
    row = compare(k, n=n, mechanisms=[name], **given).rows[0]
    risks = [matched_risk(name, k, n, given, values) for values in others]
    assert row.floor is not None and row.floor <= min(risks)
    assert row.risk.upper <= min(risks) * (1 + F(1, 1000))


@pytest.mark.parametrize(("k", "n", "eps", "delta"), [(14, 39, "2.6", "7e-5"), (8, 18_000, "1", "1e-8")])
def test_variants_far_from_the_limit_are_next_to_the_best_integer(k, n, eps, delta):
    found = compare(k, n=n, eps=eps, delta=delta, mechanisms=["olh"], variants=3)
    integers = sorted(dict(row.parameters)["g"] for row in found.rows)
    assert len(set(integers)) == 3 and integers[2] - integers[0] <= 4


@pytest.mark.parametrize("given", [BUDGET, CENTRAL], ids=str)
@pytest.mark.parametrize("name", ["aug-rr", "thinned oue"])
def test_no_share_of_brute_force_is_below_the_floor(name, given):
    found = compare(3, n=40, mechanisms=[name.removeprefix("thinned "), name], **given)
    rows = [row for row in found.rows if row.name == name]
    floor = rows[0].floor if rows else found.rows[0].risk.upper * F(99, 100)
    assert floor is not None
    if not rows:
        assert "certified" in dict(found.absent)[name]
    for share in (F(1, 10), F(3, 10), F(1, 2), F(7, 10), F(9, 10), F(19, 20)):
        try:
            risk = matched_risk(name, 3, 40, given, (("p", share),))
        except ValueError:  # no level spends so much at this share
            continue
        assert risk >= floor


def rivals(name, k, n, given, goal):
    one = family(name, k)
    return Rivals(one, read(**given), n, goal)


@pytest.mark.parametrize("given", [BUDGET, LEVEL, CENTRAL], ids=str)
def test_whoever_has_less_risk_is_left(given):
    """With a goal above its risk an integer must not be excluded, by itself or in a box."""
    risk = matched_risk("olh", 4, 40, given, (("g", 4),))
    search = rivals("olh", 4, 40, given, risk * F(1001, 1000))
    for box in (((4, 4), None), ((3, 9), None), ((2, 4), None), ((4, None), None), ((2, None), None)):
        assert not search.excludes(box)
    beaten = replace(search, goal=risk * F(999, 1000))
    assert beaten.excludes(((4, 4), None))


@pytest.mark.parametrize("given", [BUDGET, LEVEL, CENTRAL], ids=str)
def test_a_wrong_guess_of_the_level_excludes_nobody(monkeypatch, given):
    """Doubles only propose the level at which the risk is that of the goal: balls check that it is."""
    risk = matched_risk("olh", 4, 40, given, (("g", 4),))
    search, box = rivals("olh", 4, 40, given, risk * F(1001, 1000)), ((4, 4), None)
    root = Rivals._root
    monkeypatch.setattr(Rivals, "_root", lambda self, values, aim: 1.2 * root(self, values, aim))
    order = DegradationOrder(search.family)
    assert search._level(box, order) == search._level(((4, None), None), order)  # that of the input or nothing is left
    assert not search.excludes(box)


def test_a_wrong_guess_of_delta_leaves_the_winner(monkeypatch):
    """The Gaussian limit says which bounds are worth asking for: exaggerated either way it changes no answer."""
    row, likely = compare(4, n=40, mechanisms=["olh"], **CENTRAL).rows[0], Rivals._likely
    for off in (-60.0, -1.0, 3.0):
        monkeypatch.setattr(Rivals, "_likely", lambda *given, off=off: likely(*given) + off)
        again = compare(4, n=40, mechanisms=["olh"], **CENTRAL).rows[0]
        assert (again.parameters, again.risk) == (row.parameters, row.risk)


def test_a_wide_bound_excludes_by_its_lower_end_only(monkeypatch):
    """Wide brackets are looked at first: one that holds the target excludes nobody."""
    risk = matched_risk("olh", 4, 40, CENTRAL, (("g", 4),))
    search, honest, asked = rivals("olh", 4, 40, CENTRAL, risk * F(1001, 1000)), branch_and_bound.delta, []

    def wide(*source, **evaluation):
        asked.append(evaluation["direction"])
        found = honest(*source, **evaluation)
        ends = replace(found.bracket, lower=found.bracket.lower / 2, upper=2 * found.bracket.upper)
        return replace(found, bracket=ends)

    monkeypatch.setattr(branch_and_bound, "delta", wide)
    assert not search.excludes(((4, 4), None))
    assert set(asked) == {"forward", "both"}


@pytest.mark.parametrize("given", [CENTRAL], ids=str)
def test_an_inequality_the_wrong_way_round_excludes_the_winner(monkeypatch, given):
    """What excludes is an upper bound of the excluded side: fed with the other end, the search loses the best."""
    risk = matched_risk("olh", 4, 40, given, (("g", 4),))
    search, honest = rivals("olh", 4, 40, given, risk * F(1001, 1000)), branch_and_bound.delta
    assert (("g", 4),) in search.left()

    def reversed_ends(*source, **evaluation):
        found = honest(*source, **evaluation)
        return replace(found, bracket=replace(found.bracket, lower=F(1), upper=F(1)))  # an upper bound of delta

    monkeypatch.setattr(branch_and_bound, "delta", reversed_ends)
    assert (("g", 4),) not in search.left()


def test_a_share_with_less_risk_is_left():
    """A hundred inputs, where thinning to a fiftieth gains a fifth."""
    budget = {"budget": "1/60"}
    risk = matched_risk("aug-rr", 100, 100, budget, (("p", F(1, 50)),))
    search = rivals("aug-rr", 100, 100, budget, risk * F(51, 50))
    for shares in ((F(1, 60), F(1, 40)), (F(0), F(1)), (F(1, 50), F(1, 50))):
        assert not search.excludes((None, shares))
    ((name, share),) = search.left()[0]
    assert name == "p"
    assert matched_risk("aug-rr", 100, 100, budget, (("p", share),)) < risk * F(103, 100)
    assert replace(search, goal=risk * F(9, 10)).left() == ()


def test_a_second_minimum_is_found():
    """Thirty users, delta = 1/20: to tell the truth with a probability of about delta is best, and far from p = 1."""
    row = compare(50, n=30, eps="3/10", delta="1/20", mechanisms=["aug-rr"]).row("aug-rr")
    assert F(1, 25) < dict(row.parameters)["p"] < F(3, 50)
    assert row.risk.upper < matched_risk("aug-rr", 50, 30, {"eps": "3/10", "delta": "1/20"}, (("p", F(1)),)) * F(4, 5)
    assert row.choice.startswith("certified")


def test_goals_that_are_met_leave_integers():
    risk = matched_risk("subset-selection", 6, 40, CENTRAL, (("s", 2),))
    search = rivals("subset-selection", 6, 40, CENTRAL, risk * F(1001, 1000))
    assert (("s", 2),) in search.left()
    assert (("s", 2),) not in search.left(frozenset({2}))


def bits(g, rho):
    """Own bit and other bits of local hashing, at the ratio cap 1 + rho g."""
    lam = 1 + rho * g
    return lam / (lam + g - 1), 1 / F(g)


@pytest.mark.parametrize("rho", [F(1, 10), F(1), F(7)])
@pytest.mark.parametrize(("few", "many"), [(2, 3), (4, 9), (5, 50)])
def test_fewer_hash_values_at_the_same_rho_are_made_bit_by_bit(few, many, rho):
    """The stochastic map of a bit exists, and so trace, chi-square and delta are ordered."""
    for smaller, larger in ((rho, rho), (rho, 2 * rho)):
        (a, b), (own, other) = bits(few, smaller), bits(many, larger)
        keep = (a * (1 - other) - b * (1 - own)) / (own - other)  # of a one
        make = (b * own - a * other) / (own - other)  # of a zero
        assert own * keep + (1 - own) * make == a
        assert other * keep + (1 - other) * make == b
        assert 0 <= keep <= 1
        assert 0 <= make <= 1
    weak, strong = (family("olh", 3).at(lam=1 + rho * g, g=g) for g in (few, many))
    laws = [AnchoredLaw.from_channel(one.channel()) for one in (weak, strong)]
    assert laws[0].trace() <= laws[1].trace()
    assert laws[0].pairwise_budget() <= laws[1].pairwise_budget()
    bounds = [delta(one, n=3, exp_eps="11/10", arithmetic="exact").bracket.exact for one in (weak, strong)]
    assert bounds[0] <= bounds[1]


@pytest.mark.parametrize("rho", [F(1, 10), F(3)])
def test_the_limit_of_many_hash_values(rho):
    """The input or nothing: no finite number of hash values at the same rho is more accurate."""
    shown, k = rho / (1 + rho), 3
    rows = [[shown if x == y else F(0) for y in range(k)] + [1 - shown] for x in range(k)]
    limit = AnchoredLaw.from_channel(Channel.from_rows(rows)).trace()
    assert limit == shown * k * (k - 1)
    channels = [family("olh", k).at(lam=1 + rho * g, g=g).channel() for g in (2, 30, 3000)]
    near = [AnchoredLaw.from_channel(channel).trace() for channel in channels]
    assert near == sorted(near)
    assert near[-1] < limit
    assert float(near[-1]) == pytest.approx(float(limit), rel=3e-2)


def test_balls_of_votes_hold_the_exact_values():
    one = family("thinned olh", 5)
    exact = canonical_votes(one.at(lam=F(9, 2), g=3, p=F(1, 3)))
    values = {"lam": F(9, 2), "g": 3, "D": 5}
    balls = named_votes("olh", values, share=F(1, 3), size=5, inputs=5, bits=100, balls=True)
    for name in ("own", "absent", "trace"):
        ball, value = getattr(balls, name), getattr(exact, name)
        assert ball.lower <= value <= ball.upper
        assert float(ball.upper - ball.lower) < 1e-20


def test_variants_are_the_next_best_integers():
    found = compare(8, n=100, eps0="1", mechanisms=["subset-selection", "krr"], variants=3)
    sizes = [dict(row.parameters)["s"] for row in found.rows if row.name == "subset-selection"]
    assert sizes == [2, 3, 1]
    assert found.row("subset-selection").parameters == (("s", 2),)


def test_rows_of_one_mechanism_are_in_the_order_of_risk_and_eps():
    found = compare(5, n=60, eps0="7/10", delta="1/100", mechanisms=["subset-selection"], variants=4)
    keys = [(row.risk.upper, row.epsilon.upper) for row in found.rows]
    assert len(keys) == 4
    assert keys == sorted(keys)


def test_less_noise_is_less_risk_where_some_inputs_are_unused():
    """Hadamard of 31 inputs, 20 in use: decided from the derivative, and seen at levels and shares."""
    one = family("thinned hadamard", 20)
    assert (one.all_inputs, one.inputs) == (31, 20)
    assert risk_falls(one)
    for p in (F(1, 3), F(1)):
        risks = [canonical_votes(one.at(lam=lam, p=p), inputs=20).risk(1) for lam in (F(3, 2), F(2), F(9))]
        assert risks == sorted(risks, reverse=True)
    found = compare(20, n=1000, budget="1/10", mechanisms=["hadamard", "thinned hadamard"])
    assert "certified" in dict(found.absent)["thinned hadamard"]


@pytest.mark.parametrize("by_truth", [True, False])
def test_corners_of_thinned_hashing_are_ordered(by_truth):
    """At either level the best corner has the larger trace and budget, the worst one the smaller ones."""
    order, box = DegradationOrder(family("thinned olh", 3), by_truth), ((2, 6), (F(1, 2), F(4, 5)))
    for level in (F(1, 10), F(3, 10)):

        def law(point, level=level):
            values = dict(order.parameters(point))
            return AnchoredLaw.from_channel(order.family.at(lam=1 + order.excess(point, level), **values).channel())

        best, worst = law(order.best(box)), law(order.worst(box))
        for g, p in ((2, F(1, 2)), (6, F(4, 5)), (4, F(3, 5)), (2, F(4, 5)), (6, F(1, 2))):
            between = law((g, p))
            assert worst.trace() <= between.trace() <= best.trace()
            assert worst.pairwise_budget() <= between.pairwise_budget() <= best.pairwise_budget()


def test_levels_and_ratio_caps_of_hashing_belong_together():
    for by_truth in (True, False):
        order = DegradationOrder(family("thinned olh", 5), by_truth)
        point = (7, F(2, 3))
        assert order.excess(point, order.level(point, F(5, 2))) == F(5, 2)
    assert DegradationOrder(family("thinned olh", 5)).excess((7, F(1, 3)), F(1, 3)) is None
