"""Extreme budgets, users and targets: an answer or a refusal of one line, inside the domain, monotone, and inverse."""

import random
from collections.abc import Callable
from contextlib import contextmanager
from fractions import Fraction as F
from typing import Any

import pytest

from symshuffle import (
    Channel,
    Deployment,
    Group,
    SymshuffleError,
    any_ldp,
    delta,
    epsilon,
    largest_eps0,
    randomizer,
    renyi,
    smallest_n,
    tradeoff,
)
from symshuffle.accountants.bounds import brackets
from symshuffle.accountants.rounds import one_round
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import LARGEST_LEVEL
from symshuffle.vectors.means.rows import array_rows, survey
from symshuffle.vectors.randomizers.gaussian import calibrate_gaussian

BUDGETS = ("1e-400", "1e-320", "1e-100", "1e-8", "0.1", "1", "4", "12", "22", "40", "200", "710", "1500", "5000")
USERS = (1, 2, 3, 10, 1000, 10**6, 10**9, 10**12, 10**15)
FEW = (1, 2, 3, 10, 1000)
ORDINARY = (F(1, 10), F(1), F(4))
"""Budgets that are asked about for any number of users: at the others one value may take an engine a minute."""
TARGETS = ("1e-1000", "1e-450", "1e-320", "1e-100", "1e-12", "1e-6", "0.1", "0.9", str(1 - F(1, 10**12)))
SMALLEST = F(1, 10**1000)
LEVELS = ("0", "1e-400", "1e-30", "1e-6", "0.01", "0.5", "3", "20", "100", "800", "5000")
NAMED = (
    ("rr", {}),
    ("krr", {"k": 3}),
    ("krr", {"k": 100}),
    ("oue", {"D": 10}),
    ("subset-selection", {"k": 10, "s": 4}),
    ("blh", {}),
    ("hadamard", {"D": 8}),
    ("any-ldp", {}),
)


def geometric(ratio: F, size: int) -> list[list[F]]:
    """Rows of a truncated geometric mechanism."""
    rows = [[ratio ** abs(i - j) for j in range(size)] for i in range(size)]
    return [[entry / sum(row) for entry in row] for row in rows]


ROWS = {
    "flat": [[F(1, 3), F(2, 3)], [F(1, 2), F(1, 2)]],
    "revealing": [[F(1, 2), F(1, 2), F(0)], [F(1, 4), F(1, 4), F(1, 2)]],
    "nearly equal": [[F(1, 2), F(1, 2)], [F(1, 2) + F(1, 10**40), F(1, 2) - F(1, 10**40)]],
    "nearly certain": [[1 - F(1, 10**30), F(1, 10**30)], [F(1, 10**30), 1 - F(1, 10**30)]],
    "geometric": geometric(F(1, 100), 3),
}
"""Channels given by rows."""


class Drawn:
    """A drawn question: a source by budget, users, and whom the bound covers."""

    def __init__(self, seed: int | str) -> None:
        self.chance = random.Random(f"extreme {seed}")
        self.name, self.values = self.chance.choice([*NAMED, *((name, None) for name in ROWS)])
        self.budget = self.chance.choice(BUDGETS)
        self.n = self.chance.choice(USERS if self.values and F(self.budget) in ORDINARY else FEW)
        kinds: list[dict[str, Any]] = [{}, {}, {}, {"min_batch_size": min(2, self.n)}, {"group_size": min(2, self.n)}]
        if self.values is not None:
            kinds.append({"adjacency": "zero-out"})
        else:
            kinds.append({"null": [F(1, len(ROWS[self.name][0]))] * len(ROWS[self.name][0])})
        if self.n <= 1000:
            kinds.append({"dropout": self.chance.choice(("1/3", "1e-6", "0.99"))})
        self.whom = self.chance.choice(kinds)

    def __str__(self) -> str:
        return f"{self.name} {self.values} eps0={self.budget} n={self.n} {self.whom}"

    def source(self, budget: str | None = None) -> Any:
        """What every user runs."""
        if self.values is None:
            return Channel.from_rows(ROWS[self.name])
        if self.name == "any-ldp":
            return any_ldp(eps0=budget or self.budget)
        return randomizer(self.name).at(eps0=budget or self.budget, **self.values)

    def level(self) -> F:
        """A level, often next to the local budget."""
        if self.values is None or self.chance.random() < 0.5:
            return F(self.chance.choice(LEVELS))
        share = self.chance.choice((F(1, 2), F(99, 100), 1 - F(1, 10**9), F(1)))
        return F(self.budget) * share


def asked(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """The bracket of an answer, or None for a refusal of the library, which has one line."""
    try:
        return function(*args, **options).bracket
    except (InputError, Unsupported) as refusal:
        assert "\n" not in str(refusal)
        return None


def check_inverse(seed: int) -> None:
    """Where delta answers, epsilon answers at the delta that was found, and agrees with the level."""
    drawn = Drawn(seed)
    eps = drawn.level()
    value = asked(delta, drawn.source(), n=drawn.n, eps=eps, **drawn.whom)
    if value is None or not SMALLEST < value.upper < 1:
        return
    found = epsilon(drawn.source(), n=drawn.n, delta=value.upper, **drawn.whom).bracket
    assert 0 <= found.lower <= eps, drawn
    rtol = F(1, 500) if "dropout" in drawn.whom else F(1, 10**5)
    assert found.aimed is not None or found.upper <= eps * (1 + rtol), drawn
    assert found.upper <= LARGEST_LEVEL


def check_order(seed: int) -> None:
    """Delta does not increase in eps or n, and eps does not increase in delta or n, within their brackets."""
    drawn = Drawn(seed)
    first, second = sorted((drawn.level(), drawn.level()))
    source, whom = drawn.source(), drawn.whom
    more = drawn.chance.choice([n for n in (USERS if drawn.n > 1000 else FEW) if n >= drawn.n])
    fine = asked(delta, source, n=drawn.n, eps=first, **whom)
    for harder in (
        asked(delta, source, n=drawn.n, eps=second, **whom),
        asked(delta, source, n=more if "dropout" not in whom else min(more, 1000), eps=first, **whom),
    ):
        check_at_most(harder, fine, drawn)
    low, high = sorted((drawn.chance.choice(TARGETS), drawn.chance.choice(TARGETS)), key=F)
    easy = asked(epsilon, source, n=drawn.n, delta=low, **whom)
    check_at_most(asked(epsilon, source, n=drawn.n, delta=high, **whom), easy, drawn)
    if "dropout" not in whom:
        check_at_most(asked(epsilon, source, n=more, delta=low, **whom), easy, drawn)


def check_at_most(smaller: Any, larger: Any, drawn: Drawn) -> None:
    """Of two brackets the first may be that of a number at most the other; both end where they say."""
    if smaller is None or larger is None:
        return
    assert smaller.lower <= larger.upper, drawn
    if smaller.aimed is None and larger.aimed is None:
        width = F(1, 250) if "dropout" in drawn.whom else F(1, 10**5)
        assert smaller.upper <= larger.upper * (1 + width), drawn


@pytest.mark.parametrize("seed", range(40))
def test_epsilon_answers_where_delta_does(seed):
    check_inverse(seed)


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(40, 1000))
def test_epsilon_answers_where_delta_does_in_full(seed):
    check_inverse(seed)


@pytest.mark.parametrize("seed", range(25))
def test_brackets_are_in_order_of_eps_delta_and_n(seed):
    check_order(seed)


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(25, 800))
def test_brackets_are_in_order_of_eps_delta_and_n_in_full(seed):
    check_order(seed)


def test_levels_far_below_doubles_are_evaluated_with_enough_bits():
    """A law whose values are about 1e-320 has a bracket as narrow as one whose values are about 1."""
    source = randomizer("krr", k=3, eps0="1e-320")
    one, many = (delta(source, n=n, eps="1e-321", adjacency="zero-out").bracket for n in (3, 1000))
    assert one.aimed is None
    assert many.aimed is None
    assert many.upper < one.lower


def check_doors(seed: int) -> None:
    """Every inverse answers, or refuses as the library does."""
    drawn = Drawn(f"door {seed}")
    chance, whom = drawn.chance, {k: v for k, v in drawn.whom.items() if k not in ("min_batch_size", "group_size")}
    goal, eps = chance.choice(TARGETS), drawn.level()
    opened = any_ldp() if drawn.name == "any-ldp" else randomizer("krr").at(k=3)
    few = min(drawn.n, 1000)
    group = {"group_size": min(2, drawn.n)}
    questions = (
        lambda: smallest_n(drawn.source(), delta=goal, eps=eps, **whom).bracket,
        lambda: largest_eps0(opened, n=drawn.n, delta=goal, eps=eps).bracket,
        lambda: delta(drawn.source(), n=drawn.n, eps=eps, **group).bracket,
        lambda: epsilon(drawn.source(), n=drawn.n, delta=goal, **group).bracket,
        lambda: epsilon(drawn.source(), n=few, periods=3, delta=goal, **whom).bracket,
        lambda: renyi(drawn.source(), n=few, order=2).bracket,
        lambda: tradeoff(drawn.source(), n=few, type_i=[0, "1/2", 1], num_levels=5, **whom).points[1].y,
        lambda: (
            epsilon(
                [Group(Channel.from_rows(ROWS["nearly certain"]), 1), Group(mirrored(F(3, 5)), 2)], delta=goal
            ).bracket
        ),
        lambda: calibrate_gaussian(delta=goal, eps=eps),
    )
    bracket = chance.choice(questions)
    try:
        found = bracket()
    except (InputError, Unsupported) as refusal:
        assert "\n" not in str(refusal)
    else:
        assert found.lower <= found.upper, drawn


def mirrored(p: F) -> Channel:
    """Binary randomized response of one probability."""
    return Channel.from_rows([[p, 1 - p], [1 - p, p]])


@pytest.mark.parametrize("seed", range(12))
def test_inverses_answer_or_refuse(seed):
    check_doors(seed)


@pytest.mark.conformance
@pytest.mark.parametrize("seed", range(12, 600))
def test_inverses_answer_or_refuse_in_full(seed):
    check_doors(seed)


@contextmanager
def levels_seen(monkeypatch):
    """The levels that searches ask bounds about."""
    seen: list[F] = []
    plain = brackets.ratio_of

    def ratio_of(eps: F) -> Any:
        seen.append(eps)
        return plain(eps)

    for module in (brackets, one_round):
        monkeypatch.setattr(module, "ratio_of", ratio_of)
    yield seen


@pytest.mark.parametrize(("budget", "n"), [("1e-400", 10), ("1", 1000), ("40", 1000), ("5000", 1)])
def test_searches_stay_inside_the_domain(budget, n, monkeypatch):
    """No level above 5000, no budget above it, and no number of users above 10^15 is looked at."""
    source = randomizer("krr").at(k=3, eps0=budget)
    with levels_seen(monkeypatch) as seen:
        for goal in ("1e-450", "1e-6", "0.9"):
            for near in (None, 5000):
                asked(epsilon, source, n=n, delta=goal, near=near)
        asked(epsilon, source, n=min(n, 10), delta="0.1", dropout="1/2")
        if F(budget) <= 40:  # of several rounds a lattice of larger budgets takes minutes
            asked(epsilon, Deployment(source, periods=2), n=min(n, 10), delta="0.1")
    assert seen
    assert max(seen) <= LARGEST_LEVEL
    assert min(seen) >= 0
    budgets: list[F] = []

    def made(eps0: F) -> Any:
        budgets.append(eps0)
        return randomizer("rr").at(eps0=eps0)

    for goal in ("1e-450", "0.4"):
        asked(largest_eps0, made, n=min(n, 1000), delta=goal, eps=F(budget))
    assert min(budgets) > 0
    assert max(budgets) <= LARGEST_LEVEL


@pytest.mark.parametrize(
    ("source", "n", "end"),
    [
        (any_ldp(eps0=40), 1000, F(40)),
        (any_ldp(eps0=700), 1000, F(700)),
        (any_ldp(eps0=22), 1, F(22)),
        (randomizer("olh").at(g=4, D=100, eps0=300), 2, F(300)),
        (randomizer("krr").at(k=3, eps0="1e-320"), 10, F(1, 10**320)),
    ],
)
def test_a_nearly_deterministic_channel_has_an_epsilon_below_its_budget(source, n, end):
    goal = "1e-6" if end > 1 else "1e-450"
    found = epsilon(source, n=n, delta=goal).bracket
    assert found.aimed is None
    assert end * (1 - F(1, 10**5)) <= found.lower <= found.upper <= end


@pytest.mark.parametrize("n", [1, 3, 1000])
def test_a_geometric_channel_has_an_epsilon(n):
    found = epsilon(Channel.from_rows(geometric(F(1, 100), 8)), n=n, delta="1e-6").bracket
    assert found.width <= found.upper / 10**5


def test_a_target_met_exactly_at_zero_is_met_at_zero():
    krr = randomizer("krr").at(k=3, lam=2)
    exact = delta(krr, n=3, eps=0, dropout="1/3", arithmetic="exact").bracket.exact
    found = epsilon(krr, n=3, delta=exact, dropout="1/3").bracket
    assert found.lower == found.upper == 0
    assert epsilon(krr, n=3, delta=exact * F(999, 1000), dropout="1/3").bracket.lower > 0


def test_a_group_has_any_ratio():
    krr = randomizer("krr").at(k=3, lam=3)
    for group, ratio in ((2, 10**400), (3, 10**300), (2, 1 + F(1, 10**300)), (3, F(27, 8))):
        found = delta(krr, n=10, exp_eps=ratio, group_size=group).bracket
        alone = delta(krr, n=10, exp_eps=ratio).bracket
        assert alone.lower <= found.upper <= 1


def test_a_trade_off_curve_has_levels_beyond_doubles():
    found = tradeoff(randomizer("krr").at(k=3, eps0=710), n=10, type_i=[0, "1/2", 1])
    lower = [point.y.lower for point in found.points]
    assert lower[0] > 1 - F(1, 10**8)
    assert 0 < lower[1] < F(1, 10**300)
    assert lower[2] == 0


def test_refusals_name_the_target_that_was_given():
    for question in (
        lambda: smallest_n(any_ldp(eps0=40), delta="1e-450", eps="0.1"),
        lambda: largest_eps0(randomizer("krr").at(k=3), n=10, delta="1e-450", eps=5000),
        lambda: epsilon(randomizer("erasure").at(k=3, p="9/10"), n=10, delta="1e-450"),
    ):
        with pytest.raises(SymshuffleError, match="1e-450"):
            question()


@pytest.mark.parametrize("row", [[1e308, 0.0], [1e308, 1e308], [1.7e308] * 4])
def test_a_vector_beyond_doubles_is_too_long(row):
    with pytest.raises(InputError):
        survey(array_rows([row]))


@pytest.mark.parametrize("budget", ["1e-140", "1e-160", "1e-200", "1e-310"])
@pytest.mark.parametrize("n", [100, 10**9])
def test_bounds_at_hardly_any_budget_are_proportional_to_it(budget, n):
    """Squares of the atoms of G are no doubles there; at eps = 0 the bound is a multiple of eps0, to first order."""
    found = delta(randomizer("krr").at(k=3, eps0=budget), n=n, eps="1e-401").bracket
    plain = delta(randomizer("krr").at(k=3, eps0="1e-20"), n=n, eps=0).bracket
    scale = F(budget) / F("1e-20")
    near = 1 + F(1, 10**4)
    assert found.lower <= plain.upper * scale * near and plain.lower * scale <= found.upper * near


def test_a_target_that_hardly_any_budget_meets_has_a_largest_one():
    found = largest_eps0(randomizer("krr").at(k=3), n=10**9, eps="1e-401", delta="1e-170").bracket
    assert 0 < found.lower <= found.upper < F(1, 10**160)


@pytest.mark.filterwarnings("error")
def test_a_delta_far_below_doubles_at_a_budget_below_them_is_no_traceback():
    tiny = randomizer("oue").at(D=10, eps0="1e-320")
    for level in ("1e-1000", "1e-450"):
        assert asked(epsilon, tiny, n=1000, delta=level, adjacency="zero-out") is not None


@pytest.mark.parametrize("eps0", ["100", "120"])
def test_the_error_of_a_quadrature_refuses_no_law_of_a_long_segment(eps0):
    """Weights of a Gauss rule add up to one as nearly as the rule integrates, not as nearly as balls tell."""
    found = delta(randomizer("laplace").at(eps0=eps0), n=10, eps="0.1", adjacency="zero-out").bracket
    assert F(999, 1000) < found.lower <= found.upper <= 1
