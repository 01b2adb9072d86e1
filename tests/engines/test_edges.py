"""Edge cases that every engine answers the same way, and the failures of other tools as regression tests of ours."""

from fractions import Fraction

import pytest

from proofs_checks._divergences import total_variation
from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.accountants.questions import solve
from symshuffle.base.errors import SymshuffleError, Unsupported
from symshuffle.base.numbers import Ball, Exp, enclose
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.channels.shuffled import hockey_stick
from symshuffle.decompositions.model import simplified_decomposition
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.engines.confirm import recompute
from symshuffle.engines.contours.ball import BallContour
from symshuffle.engines.contours.contour import Contour
from symshuffle.engines.counting.counts import Counts
from symshuffle.engines.counting.exact import Exact
from symshuffle.engines.registry import engine_classes
from symshuffle.engines.transforms.fft import FFT
from symshuffle.mechanisms.registry import mechanism

ENGINES = [kind.with_tolerance(1e-6, 128) for _, kind in engine_classes()]
DIRECTIONS = ["forward", "reverse"]
STEP = "a law whose G is never positive: answer its singular mass, lower == upper, at every n (CONTRIBUTING, An engine)"


def law_of(name, order, direction="forward", **parameters):
    return optimal_decomposition(mechanism(name).at(**parameters)).law(order, direction=direction)


@pytest.mark.parametrize("engine", ENGINES, ids=lambda engine: type(engine).__name__)
@pytest.mark.parametrize("direction", DIRECTIONS)
class TestEveryEngine:
    @pytest.mark.parametrize("n", [3, 10**12])
    @pytest.mark.parametrize("order", [Fraction(6, 5), Exp(Fraction(1, 5))], ids=str)
    def test_singular_mass_of_erasure(self, engine, direction, order, n):
        """The finite part alone is 0, and a ball around it would blur a number that is known exactly."""
        law = law_of("erasure", order, direction, k=10, p="1/3")
        assert engine.refusal(law, n) is None, STEP
        bracket = engine.bracket(law, n)
        assert bracket.lower == bracket.upper == Fraction(2, 3), STEP

    def test_an_empty_blanket_amplifies_nothing(self, engine, direction):
        law = law_of("identity", Fraction(6, 5), direction, k=3)
        for n in (1, 7):
            assert engine.bracket(law, n).lower == engine.bracket(law, n).upper == 1

    def test_a_constant_mechanism_is_private(self, engine, direction):
        for order in (Fraction(1), Fraction(6, 5)):
            assert engine.bracket(law_of("constant", order, direction, k=3), 4).upper == 0

    def test_one_user_has_the_hockey_stick(self, engine, direction):
        channel = mechanism("krr").at(k=3, lam=4).channel()
        x, y = (0, 1) if direction == "forward" else (1, 0)
        for order in (Fraction(1), Fraction(6, 5)):
            bracket = engine.bracket(law_of("krr", order, direction, k=3, lam=4), 1)
            assert bracket.contains(hockey_stick(channel.rows[x], channel.rows[y], order))

    def test_order_one_is_total_variation(self, engine, direction):
        """eps = 0: NaN or ZeroDivisionError in other tools."""
        pair = optimal_decomposition(mechanism("krr").at(k=3, lam=4)).numeric().reduction_pair()
        laws = [
            [law[h] if h in law else Fraction(0) for h in sorted(pair.histogram_laws(4)[0])]
            for law in pair.histogram_laws(4)
        ]
        bracket = engine.bracket(law_of("krr", Fraction(1), direction, k=3, lam=4), 4)
        assert bracket.contains(total_variation(*laws))

    @pytest.mark.parametrize("order", [Fraction(4), Fraction(5)])
    def test_at_and_above_the_local_level_nothing_is_left(self, engine, direction, order):
        """eps >= eps0: ZeroDivisionError in other tools."""
        assert engine.bracket(law_of("krr", order, direction, k=3, lam=4), 5).upper == 0


@pytest.mark.parametrize("n", [1, 5, 10**12])
@pytest.mark.parametrize("exponent", ["1", "1/3", "3.14159265"])
@pytest.mark.parametrize("name", ["rr", "krr", "aug-rr"])
def test_equal_irrational_levels_give_exactly_zero(name, exponent, n):
    parameters = {"rr": {}, "krr": {"k": 5}, "aug-rr": {"k": 5, "p": "1/2"}}[name]
    found = solve.delta(
        mechanism(name).at(eps0=exponent, **parameters),
        n=n,
        exp_eps=Exp(Fraction(exponent)),
        arithmetic="exact",
    )
    assert found.bracket.exact == 0


def test_a_zero_ball_is_not_taken_for_zero():
    """Without the closed form eps = eps0 is a ball around 0: the upper end stays above 0."""
    law = Law((enclose(Exp(Fraction(1))) - enclose(Exp(Fraction(1))), Fraction(-1)), (Fraction(1, 2), Fraction(1, 2)))
    assert not law.never_positive
    assert Exact().bracket(law, 3).upper > 0
    assert Contour().bracket(law, 3).upper > 0


@pytest.mark.parametrize("n", [10**6, 10**9, 10**12, 10**15])
def test_users_without_number(n):
    """n = 1e7 never ends in other tools."""
    found = solve.delta(mechanism("krr").at(k=10, eps0=1), n=n, exp_eps=Exp(Fraction(1, n)))
    assert 0 < found.bracket.lower <= found.bracket.upper < 1


@pytest.mark.parametrize(
    "target", [Fraction(1, 10**6), Fraction(1, 10**40), Fraction(1, 10**300), Fraction(1, 10**1000)]
)
def test_tiny_targets_have_an_inverse(target):
    """A target below 1e-11 gives `f(a) and f(b) must have different signs` in other tools."""
    krr = mechanism("krr").at(k=10, eps0=1)
    found = solve.epsilon(krr, n=100_000, delta=target, rtol=1e-4).bracket
    assert found.relative_width <= Fraction(1, 10**4)
    above, below = (solve.delta(krr, n=100_000, exp_eps=Exp(eps)).bracket for eps in (found.upper, found.lower))
    assert above.upper <= target
    assert below.upper > target


def test_an_inverse_that_grows_with_the_local_level():
    """Standard-clone numerics return eps = 0.0039 at few users, where the true delta is 0.36."""
    found = solve.epsilon(mechanism("rr").at(lam=4), n=1, delta=Fraction(1, 1000)).bracket
    assert found.upper > Fraction(138, 100)


@pytest.mark.parametrize("eps0", [40, 1000])
@pytest.mark.parametrize("n", [4, 1000])
def test_huge_budgets_are_answered_or_refused(eps0, n):
    """eps0 = 40 or 1000 overflows in other tools."""
    try:
        found = solve.delta(mechanism("krr").at(k=10, eps0=eps0), n=n, exp_eps=Exp(Fraction(1)))
    except Unsupported as refusal:
        assert n == 1000 and str(refusal)
    else:
        assert Fraction(999, 1000) < found.bracket.lower <= found.bracket.upper < Fraction(1001, 1000)


def test_budgets_with_many_digits_do_not_become_polynomials():
    """exp(3.14159265) was a polynomial of degree 314159265 in exp(1/10^8)."""
    at = {
        eps0: solve.delta(mechanism("krr").at(k=10, eps0=eps0), n=6, exp_eps=Fraction(6, 5))
        for eps0 in ("3.14159265", "3.14159266")
    }
    low, high = (found.bracket for found in at.values())
    assert low.lower < high.upper
    assert high.upper - low.lower < Fraction(1, 10**7)


def test_singular_mass_that_vanishes_at_a_finite_level():
    """The histogram reveals (a - x b)_+, which is 0 from x = 2 on: a finite eps exists."""
    channel = Channel.from_rows([["1/2", "1/2"], ["1/4", "3/4"], [0, 1]])
    source = simplified_decomposition(channel, (0, 1))
    found = solve.epsilon(source, n=3, delta=Fraction(1, 100)).bracket
    exact = Exp(found.upper)  # delta(x) = (2 - x)/4 meets 1/100 at x = 1.96
    assert enclose(exact).lower >= Fraction(196, 100) - Fraction(1, 10**9)
    assert enclose(Exp(found.lower)).upper <= Fraction(196, 100) + Fraction(1, 10**9)


def test_a_mass_that_no_level_hides_is_said():
    with pytest.raises(Unsupported, match=r"delta is about 0\.666667 at eps = 5000"):
        solve.epsilon(mechanism("erasure").at(k=3, p="1/3"), n=3, delta=Fraction(1, 100))


def test_half_block_is_worst_at_opposite_inputs():
    """As its definition says: the closed form at d = k/2 is the worst of all pairs of the channel."""
    half = mechanism("half-block").at(k=6, lam=3)
    for n in (1, 2, 4):
        worst = solve.delta(half.channel(), n=n, exp_eps=Fraction(3, 2), arithmetic="exact").bracket.exact
        assert solve.delta(half, n=n, exp_eps=Fraction(3, 2), arithmetic="exact").bracket.exact == worst


@pytest.mark.parametrize(
    "call",
    [
        lambda: recompute(law_of("rr", Exp(Fraction(1, 100)), eps0=1), 10**12, route="sums"),
        lambda: Exact().bracket(law_of("krr", Fraction(6, 5), k=10, lam=3), 10**9),
        lambda: FFT().bracket(law_of("krr", Exp(Fraction(1, 10)), k=10, eps0=1), 10**9),
        lambda: FFT().bracket(law_of("krr", Fraction(6, 5), k=10, lam=3), 10**13),
        lambda: FFT(step=Fraction(1, 10**9)).bracket(law_of("krr", Fraction(6, 5), k=10, lam=3), 100),
        lambda: solve.delta(mechanism("krr").at(k=10, lam=3), n=10**6, exp_eps=Fraction(6, 5), arithmetic="exact"),
    ],
)
def test_explosive_sizes_are_refused_before_they_start(call):
    with pytest.raises(SymshuffleError):
        call()


@pytest.mark.parametrize("order", [Fraction(11, 10), Exp(Fraction(1, 10))], ids=str)
def test_channels_in_doubles_and_in_balls(order):
    """The same channel in three kinds of numbers; doubles never meet balls."""
    rows = (("1/2", "3/10", "1/5"), ("1/5", "1/2", "3/10"), ("3/10", "1/5", "1/2"))
    exact = Channel.from_rows(rows)
    doubles = Channel(tuple(tuple(map(float, row)) for row in exact.rows))
    balls = Channel(tuple(tuple(map(enclose, row)) for row in exact.rows))
    found = [solve.delta(channel, n=6, exp_eps=order, rtol=1e-3).bracket for channel in (exact, doubles, balls)]
    for bracket in found:
        assert float(bracket.midpoint) == pytest.approx(float(found[0].midpoint), rel=1e-3)
    assert solve.epsilon(doubles, n=6, delta=Fraction(1, 100), rtol=1e-3).bracket.upper > 0


@pytest.mark.parametrize("engine", [Contour(rtol=1e-4, largest=10**6), BallContour(rtol=1e-4, largest=10**5)])
def test_a_long_jump_that_the_tilt_has_made_rare(engine):
    """The slope of Chernoff's bound, sought among fractions of the Gaussian one, asked for 2.5e8 nodes here."""
    krr = mechanism("krr").at(k=3, eps0=12)
    found = solve.delta(krr, n=10**6, eps=3, engine=engine, arithmetic=None, rtol=1e-4).bracket
    assert found.relative_width < Fraction(1, 10**4)
    assert found.contains(Fraction("0.002145463555"))


@pytest.mark.parametrize(("eps0", "n"), [(40, 5), (40, 1000), (100, 3), (12, 10)])
@pytest.mark.parametrize("engine", [Contour(rtol=1e-3, largest=10**5), FFT(largest=2**10)])
def test_a_named_engine_beyond_its_reach_says_at_most_one(engine, eps0, n):
    """A bracket of [0, 160] was true, and of no use: H(n) never exceeds H(1)."""
    krr = mechanism("krr").at(k=10, eps0=eps0)
    try:
        found = solve.delta(krr, n=n, eps=eps0 - 1, engine=engine).bracket
    except Unsupported as refusal:
        assert "\n" not in str(refusal)
    else:
        assert found.upper <= 1


def test_at_eps_zero_irrational_atoms_lie_on_a_lattice_that_balls_do_not_show():
    """Sums that cancel crowd at 0, and the contour alone reached 1e-3 there in seconds."""
    law = law_of("krr", Exp(Fraction(0)), k=10, eps0=1)
    e = enclose(Exp(Fraction(1)))
    multiples, unit, error = Law((e * -1, e * 0, e * 2), (Fraction(1, 3),) * 3).in_units()
    assert multiples.values == (-1, 0, 2)
    assert abs(unit - e.midpoint) <= error < Fraction(1, 10**30)
    for arithmetic in ("float64", "ball"):
        found = solve.delta(mechanism("krr").at(k=10, eps0=1), n=12, eps=0, arithmetic=arithmetic, rtol=1e-9).bracket
        truth = Exact(bits=256, largest_count=10**5).bracket(law, 12)
        assert found.lower <= truth.upper
        assert truth.lower <= found.upper
        assert found.relative_width < Fraction(1, 10**9)
    far = solve.delta(mechanism("krr").at(k=10, eps0=1), n=10**6, eps=0, arithmetic="ball", rtol=1e-9).bracket
    assert far.relative_width < Fraction(1, 10**9)
    assert Law((e, e * e), (Fraction(1, 2),) * 2).in_units() is None


@pytest.mark.parametrize("rtol", [1e-2, 1e-6])
def test_counts_reach_the_width_where_chernoffs_bound_is_far_above_the_sum(rtol):
    """Atoms of hardly any weight and huge value, as at large local budgets: windows grow until they hold the sum."""
    tiny = Fraction(1, 10**14)
    law = Law(
        (-Fraction(10**19), -Fraction(3 * 10**6), Fraction(0), Fraction(10**13)),
        (tiny, Fraction(1, 8), 1 - Fraction(1, 8) - 2 * tiny, tiny),
    )
    found, truth = Counts(rtol=rtol).bracket(law, 12), Exact().bracket(law, 12).exact
    assert found.lower <= truth <= found.upper
    assert found.width <= Fraction(rtol) * found.upper


def test_a_lattice_below_the_smallest_double():
    """Sixty atoms whose denominators are different primes: their common lattice is 0 as a double."""
    primes = [p for p in range(10**6, 10**6 + 1200) if all(p % q for q in range(2, 1001))][:60]
    law = Law.from_atoms(
        (Fraction(i, 7) - 4 + Fraction(1, p), Fraction(1, 60)) for i, p in zip(range(-20, 40), primes, strict=True)
    )
    assert 0 < law.lattice < Fraction(1, 10**330)
    ends = [evaluate_law(law, 1000, arithmetic=arithmetic, rtol=1e-3) for arithmetic in ("float64", "ball")]
    assert ends[0].lower <= ends[1].upper
    assert ends[1].lower <= ends[0].upper


@pytest.mark.parametrize("n", [3, 40, 1000])
def test_probabilities_that_are_hardly_known_have_a_wide_answer(n):
    low, high = Fraction("0.6"), Fraction("0.9")
    rows = [[Ball(low, high), Ball(1 - high, 1 - low)], [Ball(1 - high, 1 - low), Ball(low, high)]]
    found = solve.delta(Channel.from_rows(rows), n=n, exp_eps=Fraction(11, 10)).bracket
    inside = solve.delta([["3/4", "1/4"], ["1/4", "3/4"]], n=n, exp_eps=Fraction(11, 10)).bracket
    assert 0 <= found.lower <= inside.upper and inside.lower <= found.upper <= 1
