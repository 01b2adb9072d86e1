"""Several rounds at one door: how lattices are chosen, what is put together of them, and what is said beside it.

Rounds and lattices are told what to say where only the putting together is asked about.
"""

import itertools
import math
from dataclasses import dataclass, field
from fractions import Fraction

import pytest

from symshuffle import Channel, InputError, Unsupported, delta, epsilon, rounds
from symshuffle.accountants import over_rounds as module
from symshuffle.accountants.composition_bounds import advanced_epsilon, advanced_slack
from symshuffle.accountants.dominating import LatticeLaw
from symshuffle.accountants.evaluate import Request
from symshuffle.accountants.losses import Losses
from symshuffle.accountants.one_round import OneRound
from symshuffle.accountants.over_rounds import Deployment
from symshuffle.accountants.period import Period
from symshuffle.accountants.reduction import reduction
from symshuffle.accountants.rounds import Tilted
from symshuffle.choices import Rigour, Side
from symshuffle.numbers import Exp
from symshuffle.results import Bracket
from symshuffle.shuffled import shuffled_law

BINARY = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
SKEW = Channel.from_rows([["1/2", "1/2"], ["1/5", "4/5"]])
MILLIONTH = Fraction(1, 10**6)


@dataclass
class Part:
    """A round that is told its scale and its values."""

    times: int
    size: float
    value: Fraction = Fraction(0)
    usual_width: float = 1e-3
    asked: list = field(default_factory=list)

    def scale(self):
        return self.size

    def values(self, eps, width):
        self.asked.append((eps, width))
        return (Bracket(self.value / 2, self.value, Rigour.FLOAT64, "told", ""),) * 2

    def profiles(self, step, beyond, width):
        self.asked.append((step, beyond, width))
        return "above", "below"


@dataclass(frozen=True)
class Told:
    above: Fraction
    below: Fraction
    levels: int = 1
    step: Fraction = Fraction(1)


def test_scales_add_up_in_squares():
    both = Deployment((Part(3, 0.1), Part(2, 0.2), Part(5, 0.0)), False)
    assert both.scale == pytest.approx(math.sqrt(3 * 0.01 + 2 * 0.04), rel=1e-15)
    assert both.times == 10
    assert [part.times for part in both.telling] == [3, 2]


def test_the_sum_is_taken_at_the_rigour_of_the_values():
    losses = Losses(((LatticeLaw(Fraction(1, 4), -1, (0.25, 0.5, 0.25), Fraction(0)), 2),), Side.UPPER)
    assert isinstance(Deployment((), False).sum(losses, 1.0), Tilted)
    assert isinstance(Deployment((), True).sum(losses, 1.0), Period)


@pytest.mark.parametrize(
    ("step", "width"), [("1/10", 1 / 120), ("1/100", 1e-4 / 0.04 / 30), ("1/10000", 1e-8 / 0.04 / 30), ("1e-6", 1e-9)]
)
def test_values_are_as_fine_as_the_lattice_lets_them_be(step, width):
    """A thirtieth of the square of step over the least scale, between 1e-9 and 1e-3."""
    parts = Part(3, 0.2), Part(2, 0.5)
    found = Deployment(parts, False).profiles(parts, Fraction(step), MILLIONTH)
    assert found == [(("above", "below"), 3), (("above", "below"), 2)]
    for part in parts:
        ((asked, beyond, fine),) = part.asked
        assert (asked, beyond) == (Fraction(step), MILLIONTH)
        assert fine == pytest.approx(min(max(width, 1e-9), 1e-3), rel=1e-12)


def test_the_first_step():
    """A quarter of the scale of one of four rounds, in two digits, halved until the width lets it be."""
    four = Deployment((Part(4, 0.2),), False)
    assert four.first_step(0.8) == Fraction("0.05")
    assert Deployment((Part(4, 0.2345),), False).first_step(0.8) == Fraction("0.059")
    for width in (0.05, 1e-2, 1e-4):
        most = 0.2 * math.sqrt(width / 0.8)
        assert four.first_step(width) <= most < 2 * four.first_step(width) or four.first_step(width) == Fraction("0.05")
        assert math.log2(Fraction("0.05") / four.first_step(width)).is_integer()
    assert four.first_step(0.0499) == Fraction("0.025") and four.first_step(0.0501) == Fraction("0.05")
    assert four.first_step(0.0125 * 0.81) == Fraction("0.0125")


@pytest.fixture
def lattices(monkeypatch):
    """The lattices that are told: by step, what is above and below; and what was asked for."""

    def of(function):
        asked = []

        def lattice(self, step, beyond):
            asked.append((step, beyond))
            return function(step)

        monkeypatch.setattr(Deployment, "lattice", lattice)
        return asked

    return of


def four():
    return Deployment((Part(4, 0.2),), False)


def narrowed(beyond="1e-9", width=0.01, sensitivity=1.0):
    return four().narrowed(lambda value: value, Fraction(beyond), width, sensitivity)


def test_steps_are_halved_until_the_ends_are_as_close_as_asked(lattices):
    """Ends a hundredth of the upper one apart will do."""
    first = four().first_step(0.01)
    found = lattices(lambda step: Told(Fraction(1), 1 - Fraction(1, 25) * step / first))
    answer = narrowed()
    assert [step for step, _ in found] == [first, first / 2, first / 4]
    assert (answer.low, answer.high, answer.beyond) == (Fraction(99, 100), 1, Fraction(1, 10**9))


def test_a_sensitive_answer_starts_finer(lattices):
    found = lattices(lambda step: Told(Fraction(1), Fraction(1)))
    narrowed(sensitivity=64.0)
    narrowed()
    assert [step for step, _ in found] == [four().first_step(0.01 / 64), four().first_step(0.01)]
    assert found[0][0] < found[1][0]


@pytest.mark.parametrize(("beyond", "rounded"), [("1e-9", "1e-9"), ("9.9e-9", "1e-9"), ("1.1e-300", "1e-300")])
def test_what_is_left_out_is_a_power_of_ten(lattices, beyond, rounded):
    """So that questions about one plan share their lattices."""
    found = lattices(lambda step: Told(Fraction(1), Fraction(1)))
    assert narrowed(beyond).beyond == found[0][1] == Fraction(rounded)


def test_what_is_no_more_than_the_mass_left_out_is_not_narrowed(lattices):
    """Four times the mass in each of four rounds."""
    found = lattices(lambda step: Told(Fraction(16, 10**9), Fraction(0)))
    narrowed()
    assert len(found) == 1
    more = lattices(lambda step: Told(Fraction(17, 10**9), Fraction(0), 3001 if len(more) > 2 else 3000))
    narrowed()
    assert len(more) == 3  # then lattices have too many levels


def test_lattices_that_are_known_are_read_first(lattices):
    """The finest that reaches as far; one that leaves out more is of no use."""
    asked = lattices(lambda step: Told(Fraction(1), Fraction(1)))
    known = {
        (Fraction(1, 2), Fraction(1, 10**9)): Told(Fraction(3), Fraction(2)),
        (Fraction(1, 4), Fraction(1, 10**12)): Told(Fraction(100), Fraction(99)),
        (Fraction(1, 8), Fraction(1, 10**8)): Told(Fraction(5), Fraction(5)),
    }
    plan = Deployment((Part(4, 0.2),), False, known)
    found = plan.narrowed(lambda value: value, Fraction(1, 10**9), 0.01, 1.0)
    assert (found.low, found.high, found.beyond, asked) == (99, 100, Fraction(1, 10**12), [])
    fine = plan.narrowed(lambda value: value, Fraction(1, 10**9), 0.0099, 1.0)
    assert (fine.high, len(asked)) == (1, 1)


def test_a_lattice_is_made_once():
    plan = Deployment((OneRound(reduction(BINARY), 3, 2, Request()),), False)
    one = plan.lattice(Fraction(1, 4), Fraction(1, 1000))
    assert plan.lattice(Fraction(1, 4), Fraction(1, 1000)) is one
    assert plan.lattices == {(Fraction(1, 4), Fraction(1, 1000)): one}
    assert (one.step, one.above.side, one.below.side) == (Fraction(1, 4), Side.UPPER, Side.LOWER)
    assert [times for _, times in one.above.parts] == [2]
    assert one.levels == (len(one.above.parts[0][0].masses) + 1) // 2


# The simpler theorems.


def test_basic_composition_has_equal_shares_of_the_level():
    parts = Part(3, 0.1, Fraction(1, 100)), Part(2, 0.1, Fraction(1, 50), usual_width=1e-2)
    (name, basic), (other, _) = module._simpler_deltas(Deployment(parts, False), Fraction(1))
    assert (name, basic, other) == ("basic", Fraction(3, 100) + Fraction(2, 50), "advanced")
    assert parts[0].asked[0] == (Fraction(1, 5), 1e-3) and parts[1].asked[0] == (Fraction(1, 5), 1e-2)
    sure = Deployment((Part(3, 0.1, Fraction(1, 2)),), False)
    assert dict(module._simpler_deltas(sure, Fraction(1))) == {"basic": 1, "advanced": 1}


@pytest.mark.parametrize("eps", [Fraction(1, 10), Fraction(1), Fraction(3)])
def test_advanced_composition_has_the_best_of_seven_shares(eps):
    """Where rounds leave nothing what remains is the slack: shares are halves, quarters, ... of eps over sqrt(16)."""
    plan = Deployment((Part(16, 0.1),), False)
    shares = [eps / 4 / 2**k for k in range(1, 8)]
    slacks = [advanced_slack([(share, 16)], eps) for share in shares]
    found = dict(module._simpler_deltas(plan, eps))
    assert found == {"basic": 0, "advanced": min(slacks)}
    left = Fraction(1, 10**4)
    more = Deployment((Part(16, 0.1, left),), False)
    assert dict(module._simpler_deltas(more, eps)) == {"basic": 16 * left, "advanced": min(slacks) + 16 * left}


def test_no_share_is_below_0():
    plan = Deployment((Part(2, 0.1, Fraction(1, 10)),), False)
    assert dict(module._simpler_deltas(plan, Fraction(0))) == {"basic": Fraction(1, 5), "advanced": 1}


# Answers.


def told(low, high):
    lattice = Told(Fraction(0), Fraction(0), 7, Fraction(1, 8))
    return module._Found(Fraction(low), Fraction(high), lattice, MILLIONTH)


@pytest.mark.parametrize(
    ("low", "high", "simpler", "ends", "best"),
    [
        ("0.9", "1", ("2", "3"), ("0.9", "1"), None),
        ("0.9", "1", ("1", "3"), ("0.9", "1"), None),
        ("0.9", "1", ("0.95", "3"), ("0.9", "0.95"), "basic"),
        ("0.9", "1", ("0.95", "0.93"), ("0.9", "0.93"), "advanced"),
        ("0.9", "1", ("0.8", "3"), ("0.8", "0.8"), "basic"),
    ],
)
@pytest.mark.parametrize("balls", [True, False])
def test_the_least_of_all_theorems_is_the_answer(low, high, simpler, ends, best, balls):
    plan = Deployment((OneRound(reduction(BINARY), 9, 2, Request()), OneRound(reduction(SKEW), 5, 3, Request())), balls)
    named = tuple(zip(("basic", "advanced"), map(Fraction, simpler), strict=True))
    found = module._answer("delta", plan, told(low, high), named, None, 0.05)
    assert (found.bracket.lower, found.bracket.upper) == tuple(map(Fraction, ends))
    assert found.bracket.how.startswith(f"{best} composition of one-round values; " if best else "laws on 7 levels")
    assert found.bracket.rigour is (Rigour.BALL if balls else Rigour.FLOAT64)
    assert ("in balls" in found.bracket.how) is balls
    assert found.bracket.aimed == (0.05 if found.bracket.width > Fraction(0.05) * found.bracket.upper else None)
    assert found.n == 5  # so many at least
    assert (found.rounds.times, found.rounds.parts, found.rounds.simpler) == (5, ((2, 9), (3, 5)), named)


def test_a_width_that_is_just_reached_is_not_told():
    plan = Deployment((OneRound(reduction(BINARY), 9, 2, Request()),), False)
    named = (("basic", Fraction(9)), ("advanced", Fraction(9)))
    for low, aimed in (("0.75", None), ("0.7499", 0.25)):
        assert module._answer("epsilon", plan, told(low, "1"), named, None, 0.25).bracket.aimed == aimed


def test_rounds_that_tell_nothing():
    flat = Channel.from_rows([["1/2", "1/2"], ["1/2", "1/2"]])
    for found in (delta(rounds(flat, 3), n=4, eps=1), epsilon(rounds(flat, 3), n=4, delta="1e-3")):
        assert (found.bracket.lower, found.bracket.upper, found.bracket.engine, found.n) == (0, 0, "rounds", 4)
        assert (found.rounds.times, found.rounds.simpler, found.attained) == (3, (), None)


def test_the_level_of_a_ratio_is_rounded_down():
    assert module._logarithm(Exp(Fraction(3, 7))) == Fraction(3, 7)
    assert module._logarithm(Fraction(1)) == 0
    for ratio in (Fraction(3, 2), Fraction(1) + Fraction(1, 10**20), Fraction(1000)):
        found = module._logarithm(ratio)
        import mpmath

        with mpmath.workdps(80):
            exact = mpmath.log(mpmath.mpf(ratio.numerator) / ratio.denominator)
            away = exact - mpmath.mpf(found.numerator) / found.denominator
            assert 0 <= away < mpmath.mpf(2) ** -180


def test_about_a_hundredth_of_the_delta_of_a_gaussian():
    """exp(-a^2/2) with a = eps/mu - mu/2 is what its tail is below; no more than 1 before the mean."""
    assert module._gaussian(0.5, 1.0) == pytest.approx(math.exp(-(1.75**2) / 2) / 100, rel=1e-12)
    assert module._gaussian(2.0, 1.0) == module._gaussian(2.0, 2.0) == Fraction(1, 100)


def test_questions_that_rounds_do_not_take():
    two = rounds(BINARY, 2)
    for direction in ("forward", "reverse"):
        with pytest.raises(InputError, match=f"direction = {direction}: expected both"):
            epsilon(two, n=3, delta="0.1", direction=direction)
    with pytest.raises(Unsupported, match="rigour exact"):
        delta(two, n=3, eps=1, rigour="exact")
    with pytest.raises(Unsupported, match="group 2: said of one round"):
        delta(two, n=3, eps=1, group=2)
    with pytest.raises(InputError, match="min_users"):
        delta(two, n=3, eps=1, min_users=4)
    assert epsilon(rounds(BINARY, 1), n=3, delta="0.1", group=2).rounds is None


def test_the_target_is_shared_among_the_rounds(monkeypatch):
    """A two-thousandth of delta is left out in all rounds together; basic has equal shares, advanced half of them."""
    asked, smallest = [], []

    def told_ends(self, read, beyond, width, sensitivity):
        asked.append((beyond, width, sensitivity))
        return told("0.1", "0.11")

    def eps_of(self, target):
        smallest.append(target)
        return Fraction(1, 100) if target == Fraction(1, 50) else Fraction(2, 100)

    monkeypatch.setattr(Deployment, "narrowed", told_ends)
    monkeypatch.setattr(OneRound, "smallest", eps_of)
    found = epsilon(rounds(BINARY, 5), n=3, delta="0.1", rel=0.2)
    assert asked == [(Fraction(1, 10) / 5 / 2000, 0.2, 1.0)]
    assert smallest == [Fraction(1, 50), Fraction(1, 100)]
    expected = advanced_epsilon([(Fraction(2, 100), 5)], Fraction(1, 20))
    assert found.rounds.simpler == (("basic", Fraction(5, 100)), ("advanced", expected))
    assert found.bracket.upper == Fraction(5, 100)


def test_a_delta_that_is_smaller_than_thought_is_looked_at_again(monkeypatch):
    """What is left out is a share of a guess; a guess above ten times the answer is squared until it is below."""
    asked = []
    answers = iter([Fraction(1, 10**6), Fraction(1, 10**9), Fraction(1, 10**9)])

    def told_ends(self, read, beyond, width, sensitivity):
        asked.append((beyond, sensitivity))
        high = next(answers)
        return told(high, high)

    monkeypatch.setattr(Deployment, "narrowed", told_ends)
    monkeypatch.setattr(module, "_simpler_deltas", lambda *_: (("basic", Fraction(1)), ("advanced", Fraction(1))))
    monkeypatch.setattr(module, "_gaussian", lambda *_: Fraction(1, 1000))
    found = delta(rounds(BINARY, 5), n=3, eps=1)
    scale = math.sqrt(5) * OneRound(reduction(BINARY), 3, 1, Request()).scale()
    assert [beyond * 10_000 for beyond, _ in asked] == [Fraction(1, 1000), MILLIONTH, Fraction(1, 10**12)]
    assert asked[0][1] == pytest.approx(max(1.0, scale**-2), rel=1e-9)
    assert found.bracket.upper == Fraction(1, 10**9)


def test_nothing_below_the_least_delta_is_looked_for(monkeypatch):
    """An upper end of 0 is looked at once more, with 10^-250 in mind."""
    asked = []

    def told_ends(self, read, beyond, width, sensitivity):
        asked.append(beyond)
        return told(0, 0)

    monkeypatch.setattr(Deployment, "narrowed", told_ends)
    monkeypatch.setattr(module, "_simpler_deltas", lambda *_: (("basic", Fraction(1)), ("advanced", Fraction(1))))
    found = delta(rounds(BINARY, 5), n=3, eps=1)
    assert asked[1:] == [Fraction(1, 10**250) / 10_000]
    assert found.bracket.upper == 0


def test_the_guess_of_delta_is_at_most_what_simpler_theorems_say(monkeypatch):
    asked = []

    def told_ends(self, read, beyond, width, sensitivity):
        asked.append(beyond * 10_000)
        return told("1e-3", "1e-3")

    monkeypatch.setattr(Deployment, "narrowed", told_ends)
    monkeypatch.setattr(module, "_gaussian", lambda *_: Fraction(1, 100))
    for values in (("1", "1"), ("1/200", "1"), ("1", "1/300")):
        named = tuple(zip(("basic", "advanced"), map(Fraction, values), strict=True))
        monkeypatch.setattr(module, "_simpler_deltas", lambda *_, named=named: named)
        delta(rounds(BINARY, 5), n=3, eps=1)
    assert asked == [Fraction(1, 100), Fraction(1, 200), Fraction(1, 300)]


# Real datasets, by enumeration.


def composed(channel, pair, other, n, times):
    """Both laws of all rounds of a pair over a constant background, one product after the other."""
    laws = [shuffled_law(channel, (x, *(other,) * (n - 1))) for x in pair]
    for picked in itertools.product(set(laws[0]) | set(laws[1]), repeat=times):
        yield tuple(math.prod(law.get(one, Fraction(0)) for one in picked) for law in laws)


@pytest.mark.parametrize("channel", [BINARY, SKEW])
def test_what_is_attained_is_what_a_real_pair_has(channel):
    """Two rounds of two users, input 0 in the background of both; the forward order has more, and a coarse lattice
    keeps three quarters of it (of the other order of the second channel it would keep less)."""
    x = Fraction(5, 4)
    found = delta(rounds(channel, 2), n=2, exp_eps=x, rel=0.3, attain=True)
    both = list(composed(channel, (0, 1), 0, 2, 2))
    real = sum(max(p - x * q, 0) for p, q in both)
    assert real > sum(max(q - x * p, 0) for p, q in both)
    assert Fraction(3, 4) * real <= found.attained.lower <= real <= found.bracket.upper
    assert found.attained.datasets == "X0 = (0, 0 x 1), X1 = (1, 0 x 1) in every round"


def test_parts_that_differ_are_named_one_by_one():
    found = delta([rounds(BINARY, 1, n=2), rounds(SKEW, 2, n=2)], n=None, exp_eps="5/4", rel=0.3, attain=True)
    assert found.attained.lower <= found.bracket.upper
    assert [text.rsplit(" in ", 1)[1] for text in found.attained.datasets.split("; ")] == ["1 round", "2 rounds"]
