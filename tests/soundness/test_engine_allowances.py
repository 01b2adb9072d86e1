"""What the float engines allow for: their brackets hold where an allowance is all that keeps them true."""

from fractions import Fraction

import pytest

from symshuffle import Ball, Channel, Law, delta
from symshuffle.accountants import evaluate_law
from symshuffle.engines import FFT, Contour, Exact

HUGE = 10**12
STUCK = Law(
    (Fraction(0), Fraction(1), Fraction(-205000001, 10**7), Fraction(201001, 10**7)),
    (
        1 - (Fraction(3) + 99 + Fraction(3, 11) + Fraction(1, 5)) / HUGE,
        Fraction(3, HUGE),
        (99 + Fraction(3, 11)) / HUGE,
        Fraction(1, 5 * HUGE),
    ),
)
STUCK_VALUE = Fraction("2.312624715026455e-55")
"""Of STUCK at HUGE users, all digits, by the contour in balls of relative width 1e-11 (15 s)."""


@pytest.mark.parametrize(("n", "j"), [(5 * 10**9, 100), (10**12, 101)])
def test_nearly_all_copies_at_zero(n, j):
    """The lower end came out above the upper one: crash "bracket: expected lower <= upper"."""
    p, q = Fraction(3, n), Fraction(j, n) + Fraction(1, 7 * n)
    x = Fraction(7, 10) + Fraction(41, 20) * q * n + Fraction(1, 10**7)
    channel = Channel.from_rows([[Fraction(3, 10), Fraction(7, 10), 0], [p, 1 - p, 0], [p, q, 1 - p - q]])
    found = delta(channel, n=n, exp_eps=x, direction="forward").bracket
    assert 0 < found.lower <= found.upper


def test_a_law_whose_mass_is_nearly_all_at_zero():
    """The upper end was 7e-10 (relative) below the value in balls."""
    found = evaluate_law(STUCK, HUGE)
    assert found.lower <= STUCK_VALUE * (1 + Fraction(1, 10**14))
    assert found.upper >= STUCK_VALUE * (1 - Fraction(1, 10**14))


WIDE = Ball(Fraction(9, 10), Fraction(11, 10))
HALF = Ball(Fraction(4, 10), Fraction(6, 10))


ATOM = Law((WIDE, Fraction(-1)), (Fraction(1, 2),) * 2)
WEIGHT = Law((Fraction(1), Fraction(-1)), (HALF, HALF))
WITHIN = {
    ATOM: [Law((v, Fraction(-1)), (Fraction(1, 2),) * 2) for v in (WIDE.lower, WIDE.upper)],
    WEIGHT: [Law((Fraction(1), Fraction(-1)), (w, 1 - w)) for w in (HALF.lower, HALF.upper)],
}


@pytest.mark.parametrize(
    ("engine", "law"),
    [
        pytest.param(Contour(), ATOM),
        pytest.param(Contour(), WEIGHT),
        pytest.param(FFT(largest=2**14), ATOM),
        pytest.param(FFT(step=Fraction(1, 10)), ATOM),
        pytest.param(FFT(step=Fraction(1, 10)), WEIGHT),
    ],
)
def test_wide_balls_give_wide_brackets(engine, law):
    """Every law within the balls has its value in the bracket."""
    for n in (1, 2, 7, 40):
        found = engine.bracket(law, n)
        for inner in WITHIN[law]:
            assert found.contains(Exact().bracket(inner, n).exact)
