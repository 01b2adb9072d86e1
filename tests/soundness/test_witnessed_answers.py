"""Where a witness shows an answer, the door gives one: refusals that were false, and answers that are none."""

from fractions import Fraction as F
from math import log

import pytest
import sympy as sp

from symshuffle import Channel, InputError, Unsupported, delta, largest_eps0, randomizer, renyi, tradeoff
from symshuffle.mechanisms import Mechanism
from symshuffle.mechanisms.symbolic import LAM, Parameter

ONE_SIDED = Channel.from_rows([["1", "0"], ["1/4", "3/4"]])
"""Its second row alone can send the second message: one order of the pair has a finite ratio, 4, the other none."""


@pytest.mark.parametrize("goal", ["1e-9", "1e-12"])
def test_a_tiny_budget_is_found_and_nobody_is_asked_at_zero(goal):
    asked = []

    def built(eps0):
        asked.append(eps0)
        return randomizer("krr").at(k=3, eps0=eps0)

    level = {"n": 1000, "exp_eps": 1}
    found = largest_eps0(built, delta=goal, **level).bracket
    assert min(asked) > 0
    assert found == largest_eps0(randomizer("krr").at(k=3), delta=goal, **level).bracket
    lower, upper = (
        delta(randomizer("krr").at(k=3, eps0=end), rtol=1e-9, **level).bracket for end in (found.lower, found.upper)
    )
    assert lower.upper <= F(goal) < upper.lower


@pytest.mark.parametrize("alpha", [1, "3/2", 2, 50])
@pytest.mark.parametrize("n", [1, 3])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
def test_a_renyi_divergence_of_one_direction_is_finite_where_it_is(alpha, n, direction):
    """All hold 0 against one 1: the single message pattern of the former has (1/4) of it in the latter."""
    channel = ONE_SIDED if direction == "forward" else Channel(ONE_SIDED.rows[::-1])
    found = renyi(channel, n=n, order=alpha, direction=direction).bracket
    assert float(found.lower) <= log(4) * (1 + 1e-15)
    assert log(4) <= float(found.upper) <= log(4) * 1.004
    for infinite in ("both", "reverse" if direction == "forward" else "forward"):
        with pytest.raises(Unsupported, match="infinite"):
            renyi(channel, n=n, order=alpha, direction=infinite)


def test_a_renyi_divergence_between_reveals_is_that_of_the_rows():
    first, second = (F(1, 2), F(1, 3), F(1, 6), F(0)), (F(1, 8), F(1, 4), F(1, 8), F(1, 2))
    truth = log(sum(p**3 / q**2 for p, q in zip(first, second, strict=True))) / 2
    found = renyi(Channel((first, second)), n=1, order=3, direction="forward").bracket
    assert float(found.lower) <= truth <= float(found.upper) <= truth * 1.01


def test_real_datasets_do_not_cost_a_bound_of_large_order():
    source = randomizer("krr").at(k=4, eps0=1)
    found = renyi(source, n=100, order=10_000, attained=True)
    assert found.bracket == renyi(source, n=100, order=10_000).bracket
    assert found.attained.lower <= found.bracket.upper


def test_a_root_of_any_parameter_is_a_probability():
    a = sp.Symbol("a", positive=True)
    own = sp.sqrt(a) / (1 + sp.sqrt(a))
    given = {"parameters": (Parameter(a, sp.Integer(1), None, False, "a square"),)}
    level = {"n": 3, "exp_eps": "6/5"}
    truth = delta(randomizer("rr").at(lam=2), **level, arithmetic="exact").bracket
    states = {"value": {"own": (1, own), "other": (1, 1 - own)}}
    assert (
        delta(Mechanism.from_matrix("root", [[own, 1 - own], [1 - own, own]], **given).at(a=4), **level).bracket
        == truth
    )
    assert delta(Mechanism.symmetric("root", 2, states, **given).at(a=4), **level).bracket == truth


@pytest.mark.parametrize(("name", "revealed"), [("identity", F(1)), ("erasure", F(2, 3))])
def test_the_tradeoff_remembers_what_is_revealed(name, revealed):
    sized = randomizer(name).at(k=2, **({"p": "1/3"} if name == "erasure" else {}))
    for point in tradeoff(sized, n=3, type_i=[0, "1e-9", "1/10"], num_levels=5).points:
        truth = max(1 - revealed - point.x, F(0))
        assert point.y.lower <= truth <= point.y.upper <= truth + F(1, 10**6)


K = sp.Symbol("k", integer=True, positive=True)
HITS = sp.binomial(K - 1, 2) * LAM + sp.binomial(K - 1, 3)
HALF = sp.binomial(K, K / 2) * (LAM + 1) / 2


def of_states(inputs, **states):
    return Mechanism.symmetric("own", inputs, {"value": states})


def test_sizes_at_which_there_is_no_mechanism_are_refused():
    hits = of_states(K, hit=(3, LAM / HITS), miss=(K - 3, 1 / HITS))
    halves = of_states(K, hit=(K / 2, LAM / HALF), miss=(K / 2, 1 / HALF))
    for refused, sizes in ((hits, (2,)), (halves, (3, 5))):
        for size in sizes:
            with pytest.raises(InputError, match=f"at k = {size}: expected a whole number of inputs"):
                refused.at(k=size)
    with pytest.raises(InputError, match="3/2"):
        of_states(3, hit=(sp.Rational(3, 2), LAM / HALF.subs(K, 3)), miss=(sp.Rational(3, 2), 1 / HALF.subs(K, 3)))
    truth = delta(randomizer("subset-selection").at(k=4, s=2, lam=3), n=3, exp_eps=2).bracket
    assert delta(halves.at(k=4, lam=3), n=3, exp_eps=2).bracket == truth


def test_probabilities_that_sum_to_one_elsewhere_are_refused_where_they_do_not():
    away = 1 / (sp.Abs(K - 5) + 5)  # 1/k from 5 on
    with pytest.raises(InputError, match="sum"):
        of_states(K, one=(1, away)).at(k=3)
