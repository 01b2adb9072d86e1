"""Laws that are not on the side of a profile that they are said to be on, each refused by one condition alone."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction as F
from functools import cache

from symshuffle.accountants.rounds.dominating import LatticeLaw, Profile, check_above, check_below, law_above, law_below
from symshuffle.vectors.randomizers.gaussian import gaussian_profile
from tests.soundness.false_certificates import false

STEP, LEVELS = F(1, 10), 30


@cache
def profile() -> Profile:
    """Of two Gaussians at distance 1/2, known to 40 digits, in the same way in both orders."""
    values = []
    for i in range(LEVELS + 1):
        ball = gaussian_profile(F(2), eps=i * STEP)
        values.append((ball.lower, ball.upper))
    return Profile(STEP, tuple(values), tuple(values))


@cache
def above() -> LatticeLaw:
    """A true one."""
    return law_above(profile())


@cache
def below() -> LatticeLaw:
    """A true one."""
    return law_below(profile())


Change = Callable[[LatticeLaw], LatticeLaw]


def _above(name: str, place: str, change: Change) -> None:
    false(f"law above: {name}", place, lambda: check_above(change(above()), profile()))


def _below(name: str, place: str, change: Change) -> None:
    false(f"law below: {name}", place, lambda: check_below(change(below()), profile()))


def _moved(at: int, to: int, mass: float) -> Change:
    """Some mass at one loss taken to another: nothing is lost in total."""

    def change(law: LatticeLaw) -> LatticeLaw:
        masses = list(law.masses)
        masses[at] -= mass
        masses[to] += mass
        return replace(law, masses=tuple(masses))

    return change


for _add in (_above, _below):
    _add("twice the step", "lattice", lambda law: replace(law, step=2 * law.step))
    _add("another first loss", "lattice", lambda law: replace(law, first=law.first + 1))
    _add("a loss more", "lattice", lambda law: replace(law, masses=(*law.masses, 0.0)))

_above("a mass too small", "total", lambda law: replace(law, masses=(law.masses[0] * 0.99, *law.masses[1:])))
_above("mass moved to a smaller loss", "kinks[0]", _moved(LEVELS + 5, LEVELS + 4, 1e-3))


def _less_at_infinity(law: LatticeLaw) -> LatticeLaw:
    """A little of it, made up for at the last loss, so that nothing falls before that."""
    less = law.infinity / 1000
    return replace(law, infinity=law.infinity - less, masses=(*law.masses[:-1], law.masses[-1] + 40 * float(less)))


_above("less at infinity", "infinity", _less_at_infinity)
_above(
    "all of it below level 0",
    "infinity",
    lambda law: LatticeLaw(law.step, law.first, (2.0, *(0.0,) * (2 * LEVELS)), F(1)),
)

_below("a mass too large", "total", lambda law: replace(law, masses=(law.masses[0] + 1e-3, *law.masses[1:])))
_below("something at infinity", "infinity", lambda law: replace(law, infinity=F(1, 10**30)))
_below("mass moved to a larger loss", "points[0]", _moved(LEVELS + 3, LEVELS + 6, 1e-3))
_below(
    "made for more that is revealed",
    "points[0]",
    lambda _: law_below(replace(profile(), revealed=(F(0), F(1, 10**12)))),
)
false(
    "law above: of values that rise",
    "hull",
    lambda: law_above(Profile(STEP, ((F(1), F(1)),) * 3, ((F(1), F(1)), (F(1, 2), F(1, 2)), (F(1, 5), F(1, 5))))),
)
