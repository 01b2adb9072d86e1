"""One law, one bracket: whom the choice asks, what is taken of several answers, and what is added to an answer.

Engines are told what to say, so that every rule of the choice is seen by itself.
"""

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import flint
import numpy as np
import pytest

from symshuffle.accountants import evaluate as module
from symshuffle.accountants.evaluate import (
    Request,
    check_n,
    choose_engine,
    evaluate,
    evaluate_law,
    evaluate_mixed,
)
from symshuffle.choices import Question, Rigour
from symshuffle.engines.contour import Contour
from symshuffle.engines.exact import Exact
from symshuffle.errors import InputError, Unsupported
from symshuffle.law import Law
from symshuffle.mixed_law import MixedLaw, Segment
from symshuffle.numbers import Ball, working_precision
from symshuffle.results import Bracket

TENTH = Fraction(1, 10)
LAW = Law((Fraction(2), Fraction(-1)), (Fraction(1, 4), Fraction(3, 4)), Fraction(1, 8))
"""H(1) = 1/8 + 2/4, and H(2) = 1/8 + (4/16 + 6/16 * 1)/2: two atoms, by hand."""


@dataclass(frozen=True)
class Told:
    """An engine that says what it was told, or refuses."""

    low: Fraction | None
    high: Fraction = Fraction(1)
    rigour: Rigour = Rigour.FLOAT64
    name: str = "told"
    least: ClassVar[Rigour] = Rigour.FLOAT64
    continuous: ClassVar[bool] = False

    @classmethod
    def aiming(cls, rel, bits): ...

    @classmethod
    def offered(cls, law, rigour, rel): ...

    @classmethod
    def trials(cls, law): ...

    def refusal(self, law, n):
        return None

    def bracket(self, law, n):
        if self.low is None:
            raise Unsupported(f"{self.name} refuses")
        return Bracket(self.low, self.high, self.rigour, self.name, "so it was told")


class Continuous(Told):
    continuous: ClassVar[bool] = True


@pytest.fixture
def offer(monkeypatch):
    def of(*engines):
        monkeypatch.setattr(module, "offers", lambda *_, **__: iter(engines))

    return of


def near(value, away):
    """A ball around a rational."""
    return Ball(value - away, value + away, 128)


def test_the_number_of_users():
    assert (check_n(1), check_n(10**15)) == (1, 10**15)
    for wrong in (0, 10**15 + 1):
        with pytest.raises(InputError, match=f"n = {wrong}: expected an integer from 1 to 10"):
            check_n(wrong)


def test_the_range_of_a_request():
    for good in (1e-300, 0.999, TENTH):
        assert Request(rel=good).rel == good
    for wrong in (0, 1, 0.0, 1.0, -1e-9, float("nan"), "0.1"):
        with pytest.raises(InputError, match=r"rel = .*a relative width in"):
            Request(rel=wrong)
    assert type(Request(bits=np.int64(2)).bits) is int
    assert (Request(bits=2).bits, Request(bits=100_000).bits) == (2, 100_000)
    for wrong in (1, 100_001):
        with pytest.raises(InputError, match="bits"):
            Request(bits=wrong)
    assert Request(engine=Contour()).engine == Contour()
    for wrong in (Contour, "contour"):
        with pytest.raises(InputError, match=r"engine = .*or None"):
            Request(engine=wrong)
    assert Request.of("both", None, None).rigour is None
    assert Request.of("reverse", None, "ball", 0.5, 53) == Request(Question.REVERSE, None, Rigour.BALL, 0.5, 53)


def test_when_doubles_do():
    assert Request().doubles_do
    for more in ({"rigour": Rigour.BALL}, {"rigour": None}, {"engine": Contour()}, {"bits": 53}):
        assert not Request(**more).doubles_do


def test_two_users_by_hand():
    for n, expected in ((1, Fraction(1, 8) + Fraction(1, 2)), (2, Fraction(1, 8) + Fraction(10, 32))):
        assert evaluate(LAW, n, Request(rigour=Rigour.EXACT)).exact == expected
        assert evaluate_law(LAW, n, rigour="exact").exact == expected
    named = evaluate_law(LAW, 2, engine=Told(TENTH, TENTH), rigour=None)
    assert (named.engine, named.upper) == ("told", TENTH)
    wide = evaluate_law(LAW, 2, engine=Told(Fraction(0), TENTH), rel=0.25)
    assert wide.aimed == 0.25
    with pytest.raises(InputError, match="n = 0"):
        evaluate(LAW, 0, Request())


@pytest.mark.parametrize(
    ("singular", "rigour"), [(Fraction(1, 8), Rigour.EXACT), (near(Fraction(1, 8), Fraction(1, 2**40)), Rigour.BALL)]
)
def test_a_law_that_is_never_positive_is_its_singular_mass(singular, rigour):
    """Atoms at 0 and below add nothing; an engine that would say otherwise is not asked."""
    law = Law((Fraction(0), Fraction(-1)), (Fraction(1, 4), Fraction(3, 4)), singular)
    found = evaluate(law, 5, Request(engine=Told(Fraction(1)), rigour=None))
    ends = (Fraction(1, 8),) * 2 if rigour is Rigour.EXACT else (singular.lower, singular.upper)
    assert (found.lower, found.upper, found.rigour, found.engine) == (*ends, rigour, "none")
    if rigour is Rigour.BALL:
        with pytest.raises(Unsupported, match="at rigour ball, not exact"):
            evaluate(law, 5, Request(rigour=Rigour.EXACT))


def test_one_user_says_more_than_an_engine_that_says_little(offer):
    ceiling = Fraction(1, 8) + Fraction(1, 2)
    offer(Told(Fraction(0), Fraction(1)))
    assert evaluate(LAW, 3, Request()).upper == ceiling
    offer(Told(Fraction(0), ceiling - TENTH))
    assert evaluate(LAW, 3, Request()).upper == ceiling - TENTH


def test_the_first_answer_that_is_narrow_enough_is_taken(offer):
    """At relative width 1/4 of the upper end an answer still does; beyond it the next one is asked."""
    law = Law((Fraction(4),), (Fraction(1),))
    request = Request(rel=0.25)
    just, wide, narrow = Told(Fraction(3), Fraction(4)), Told(Fraction(2), Fraction(4)), Told(Fraction(4), Fraction(4))
    offer(just, narrow)
    assert (evaluate(law, 1, request).lower, evaluate(law, 1, request).aimed) == (3, None)
    offer(wide, Told(None), just)
    assert (evaluate(law, 1, request).lower, evaluate(law, 1, request).aimed) == (3, None)


def test_of_wide_answers_the_narrowest_is_taken_and_says_so(offer):
    law = Law((Fraction(4),), (Fraction(1),))
    widths = [Told(Fraction(1), Fraction(4), name="a"), Told(Fraction(2), Fraction(4), name="b")]
    for order in (widths, widths[::-1], [*widths, Told(None)], [Told(Fraction(2), Fraction(4), name="c"), *widths]):
        offer(*order)
        found = evaluate(law, 1, Request(rel=0.25))
        first = next(one for one in order if one.low == 2)
        assert (found.engine, found.lower, found.aimed) == (first.name, 2, 0.25)
        assert "relative width 5.0e-01 where 2.5e-01 was aimed at" in found.how


def test_the_reason_of_the_last_refusal_is_given(offer):
    law = Law((Fraction(4),), (Fraction(1),))
    offer(Told(None, name="first"), Told(None, name="last"))
    with pytest.raises(Unsupported, match="last refuses"):
        evaluate(law, 1, Request())
    with pytest.raises(Unsupported, match="named refuses"):
        evaluate(law, 1, Request(engine=Told(None, name="named")))


def test_nobody_offers(offer):
    offer()
    rational, balls = LAW, Law((near(Fraction(1), Fraction(1, 2**50)),), (Fraction(1),))
    with pytest.raises(Unsupported, match="rigour exact needs rational lam"):
        evaluate(balls, 2, Request(rigour=Rigour.EXACT))
    with pytest.raises(Unsupported, match="no engine answers at n = 2"):
        evaluate(rational, 2, Request(rigour=Rigour.BALL))
    with pytest.raises(Unsupported, match="no engine answers at n = 2"):
        evaluate(balls, 2, Request(rigour=None))


def test_exact_numbers_beyond_the_reach_of_enumeration_are_refused_with_the_reason():
    with pytest.raises(Unsupported, match=r"rigour exact at n = 1000000: .*use --rigour ball"):
        evaluate(LAW, 10**6, Request(rigour=Rigour.EXACT))


def test_the_engine_that_is_asked_first():
    assert isinstance(choose_engine(LAW, 3, "exact", 1e-6), Exact)
    balls = Law((near(Fraction(3, 7), Fraction(1, 2**50)),), (Fraction(1),))
    assert choose_engine(balls, 10**9, "float64", 1e-6).refusal(balls, 10**9) is None
    assert choose_engine(MIXED, 1000, "float64", 1e-6).continuous
    with pytest.raises(Unsupported, match="rational"):
        choose_engine(balls, 3, "exact", 1e-6)


def test_more_than_was_asked_for_is_relabelled_and_less_is_refused():
    for delivered in Rigour:
        for asked in Rigour:
            request = Request(engine=Told(TENTH, TENTH, rigour=delivered), rigour=asked)
            if delivered.strength < asked.strength:
                with pytest.raises(Unsupported, match=f"told answers at rigour {delivered.value}, not {asked.value}"):
                    evaluate(LAW, 1, request)
            else:
                assert evaluate(LAW, 1, request).rigour is asked
        kept = evaluate(LAW, 1, Request(engine=Told(TENTH, TENTH, rigour=delivered), rigour=None))
        assert kept.rigour is delivered


# A lattice that balls do not show.

UNIT, AWAY = Fraction(1, 3), Fraction(1, 2**70)


def hidden(away=AWAY, singular=Fraction(1, 16)):
    """Atoms in balls about 2/3 and -1/3, of weights 1/4 and 3/4: in units of 1/3 that is ``LAW``."""
    return Law((near(2 * UNIT, away), near(-UNIT, away)), (Fraction(1, 4), Fraction(3, 4)), singular)


def test_units_are_taken_where_balls_lie_about_them():
    """H(2) is 5/16 of a unit by hand; the radius of a ball goes to both ends, and the singular mass is added."""
    found = evaluate(hidden(), 2, Request(rel=1e-6))
    middle = Fraction(5, 16) * UNIT + Fraction(1, 16)
    assert (found.lower, found.upper) == (middle - AWAY, middle + AWAY)
    assert (found.rigour, found.engine) == (Rigour.FLOAT64, "exact")
    assert "in units of 0.3333" in found.how
    assert evaluate(hidden(), 2, Request(rigour=Rigour.BALL)).rigour is Rigour.BALL
    assert evaluate(hidden(), 2, Request(rigour=None)).rigour is Rigour.BALL  # balls are no rationals
    wide = near(Fraction(1, 16), Fraction(1, 2**30))
    ends = evaluate(hidden(singular=wide), 2, Request(rel=1e-6))
    assert (ends.lower, ends.upper) == (middle - AWAY - Fraction(1, 2**30), middle + AWAY + Fraction(1, 2**30))


def test_doubles_in_units_stay_doubles():
    told = Told(Fraction(5, 16), Fraction(5, 16))
    assert evaluate(hidden(), 2, Request(engine=told, rigour=None)).rigour is Rigour.FLOAT64
    with pytest.raises(Unsupported, match="not ball"):
        evaluate(hidden(), 2, Request(engine=told, rigour=Rigour.BALL))


def test_what_units_neglect_has_to_be_an_eighth_of_the_width():
    """The multiples answer 1/8, so the error may be up to ``rel / 8`` of 1/24; else the balls are asked."""
    value, told = Fraction(1, 8), Told(Fraction(1, 8), Fraction(1, 8))
    limit = 8 * AWAY / (value * UNIT)
    for share, units in ((Fraction(101, 100), True), (Fraction(99, 100), False)):
        found = evaluate(hidden(singular=Fraction(0)), 2, Request(engine=told, rel=float(limit * share)))
        assert ("in units" in found.how) is units
        assert found.upper == (value * UNIT + AWAY if units else value)
    tiny = evaluate(hidden(singular=Fraction(0)), 2, Request(engine=Told(Fraction(0), value), rel=1e-6))
    assert (tiny.lower, tiny.aimed) == (0, 1e-6)  # never below 0, and what was aimed at is kept


def test_rational_answers_take_no_units():
    with pytest.raises(Unsupported, match="rational"):
        evaluate(hidden(), 2, Request(rigour=Rigour.EXACT))


# Laws with a continuous part.

with working_precision(300):
    SPAN = Ball.from_arb(flint.arb(4).log(), 300)
QUARTER = Segment(Fraction(-2), Fraction(1), Fraction(1, 4), SPAN)
"""G = -2 + r, the density of r in [1, 4] being r^(-3/2)/4: its mass is 1/4, that of r > 2 gives
1/4 * [2 sqrt(r) + 4/sqrt(r)] from 2 to 4 = (6 - 4 sqrt 2)/4."""
MIXED = MixedLaw((Fraction(-1),), (Fraction(3, 4),), (QUARTER,), Fraction(1, 8))
ONE_USER = 1 / 8 + (6 - 4 * 2**0.5) / 4


def test_one_user_of_a_continuous_law_in_closed_form():
    found = evaluate_mixed(MIXED, 1, rigour=None)
    assert (found.rigour, found.engine) == (Rigour.BALL, "none")
    assert float(found.upper) == pytest.approx(ONE_USER, rel=1e-13)
    assert found.width < Fraction(1, 2**100)
    assert evaluate(MIXED, 1, Request()).rigour is Rigour.FLOAT64
    named = Continuous(TENTH, TENTH)
    assert evaluate_mixed(MIXED, 1, engine=named).engine == "told"
    assert evaluate_mixed(MIXED, 1, engine=named).upper == TENTH
    assert evaluate_mixed(MIXED, 2, engine=Continuous(Fraction(0), TENTH), rel=0.25).aimed == 0.25


def test_engines_without_a_continuous_part_are_refused():
    with pytest.raises(Unsupported, match="engine told takes no law with a continuous part"):
        evaluate(MIXED, 2, Request(engine=Told(TENTH, TENTH)))


def test_an_answer_about_a_continuous_law_is_at_most_that_of_one_user(offer):
    for told, cut in ((Fraction(1), True), (TENTH, False)):
        offer(Continuous(Fraction(0), told))
        found = evaluate(MIXED, 2, Request())
        assert found.upper == (MIXED.ceiling if cut else told)


def test_next_to_nothing_is_an_answer_as_it_stands(offer):
    """Where no engine answers, the value of one user does if it is below 10^-30; not where an engine is named."""
    offer(Continuous(None))
    far = Segment(Fraction(-2), Fraction(1, 4), Fraction(1, 4), SPAN)  # G = -2 + r/4 is below 0
    for value, known in ((Fraction(1, 10**31), True), (Fraction(2, 10**30), False)):
        law = MixedLaw((value, Fraction(-1)), (Fraction(1, 2), Fraction(1, 4)), (far,))
        if known:
            for rigour in (Rigour.FLOAT64, None):
                found = evaluate(law, 2, Request(rigour=rigour, rel=0.125))
                assert (found.lower, found.aimed) == (0, 0.125)
                assert 0 <= found.upper - value / 2 < Fraction(1, 10**35)
                assert found.rigour is (rigour or Rigour.BALL)
            with pytest.raises(Unsupported, match="told refuses"):
                evaluate(law, 2, Request(engine=Continuous(None)))
        else:
            with pytest.raises(Unsupported, match="told refuses"):
                evaluate(law, 2, Request())


def test_a_caller_who_traps_underflow_is_left_alone():
    with np.errstate(all="raise"):
        with module._usual_floating_point():
            assert np.exp(-1000.0) * 1e-320 == 0
            assert np.geterr() == {"divide": "warn", "over": "warn", "under": "ignore", "invalid": "warn"}
        assert set(np.geterr().values()) == {"raise"}


# Pairs with densities have a road of their own.


def density(exp_eps):
    """The largest ratio to the null symbol is 1.05."""
    from symshuffle.continuous_law import LevelledPair
    from symshuffle.vectors.accounting import worst_pair
    from symshuffle.vectors.mechanisms import SphereLinear

    return LevelledPair(worst_pair(SphereLinear("0.05", 64), adjacency="zero-out"), Fraction(exp_eps))


def test_a_density_that_is_never_above_the_ratio_is_0():
    found = evaluate(density("1.06"), 5, Request(rigour=None))
    assert (found.lower, found.upper, found.rigour, found.engine) == (0, 0, Rigour.BALL, "none")
    assert evaluate(density("1.06"), 5, Request()).rigour is Rigour.FLOAT64
    with pytest.raises(Unsupported, match="not exact"):
        evaluate(density("1.06"), 5, Request(rigour=Rigour.EXACT))
    for level in ("1.06", "1.04"):
        with pytest.raises(Unsupported, match="engine told takes no law with a density"):
            evaluate(density(level), 5, Request(engine=Continuous(TENTH)))


@pytest.mark.parametrize(("asked", "passed"), [(None, "float64"), ("float64", "float64"), ("ball", "ball")])
def test_what_is_asked_of_a_density_is_passed_on(monkeypatch, asked, passed):
    law, got = density("1.04"), []

    def told(one, n, *, rigour, rel):
        got.append((one, n, rigour, rel))
        return Bracket(TENTH, TENTH, Rigour.BALL, "densities", "")

    monkeypatch.setattr("symshuffle.engines.densities.density_bracket", told)
    assert evaluate_mixed(law, 7, rigour=asked, rel=0.25).engine == "densities"
    assert got == [(law, 7, passed, 0.25)]
