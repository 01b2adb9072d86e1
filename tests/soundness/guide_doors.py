"""Doors through which guides are reached, what is true there, and bad versions of every guide.

Every truth comes by another road than the answer: from the exact engine, which no listed guide leads, from a bisection
of its values, from a closed form, or from a minimum in plain doubles.
"""

import math
import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np

import symshuffle
from symshuffle.accountants import inverses, search
from symshuffle.accountants.curves import along_users
from symshuffle.accountants.dominating import Profile, law_above, law_below
from symshuffle.accountants.losses import Losses, delta_of, epsilon_of
from symshuffle.accountants.period import Period
from symshuffle.accountants.rounds import Tilted
from symshuffle.choices import Side
from symshuffle.design.decision.tradeoff import bayes_tradeoff
from symshuffle.design.named.weighted import weighted_guessing_problem, weighted_guessing_risk
from symshuffle.engines import bromwich_plan
from symshuffle.engines.ball import BallContour
from symshuffle.engines.bromwich import Bromwich
from symshuffle.engines.contour import Contour
from symshuffle.engines.counts import Counts
from symshuffle.engines.exact import Exact
from symshuffle.engines.fft import FFT
from symshuffle.numbers import Exp
from symshuffle.results import Bracket, Rigour
from symshuffle.vectors.mechanisms import BlanketMixedGaussian
from symshuffle.vectors.optimal import bmg_optimal
from symshuffle.vectors.pairs import worst_pair

KRR = symshuffle.mechanism("krr").at(k=3, lam=3)
OFF_LATTICE = Fraction(1, 5)  # as eps: exp(eps) is irrational, and G has no lattice
N, LEVEL, TARGET = 8, Fraction(6, 5), Fraction(1, 50)
PRIOR = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]
Change = Callable[[Any, random.Random], Callable[..., Any]]


def exactly(n, **level):
    return symshuffle.delta(KRR, n=n, engine=Exact(), rigour=None, **level).bracket


@cache
def value():
    found = exactly(N, exp_eps=LEVEL)
    return found.lower, found.upper


@cache
def value_off_lattice():
    found = exactly(N, eps=OFF_LATTICE)
    return found.lower, found.upper


@cache
def crossing():
    """Bisection of exact values, to 1e-3."""
    low, high = Fraction(0), Fraction(2)
    while high - low > Fraction(1, 1000):
        middle = (low + high) / 2
        low, high = (middle, high) if exactly(N, eps=middle).lower > TARGET else (low, middle)
    return low, high


@cache
def fewest():
    n = next(n for n in range(1, 60) if exactly(n, exp_eps=LEVEL).upper <= TARGET)
    return Fraction(n - 1), Fraction(n)


@cache
def least_error():
    """F of bmg_optimal on a grid in doubles: the minimum to a few digits."""
    a = np.linspace(1e-4, 1 - 1e-4, 200_001)
    found = float(((1 / (a**2 * np.log1p((1 - a) / (a * 100) ** 2))) + (1 - a) / a).min())
    return Fraction(found * (1 - 1e-6)), Fraction(found * (1 + 1e-6))


def risk():
    return (weighted_guessing_risk(PRIOR, 3)[0],) * 2


def by(engine, **level):
    level = level or {"exp_eps": LEVEL}
    return lambda: symshuffle.delta(KRR, n=N, engine=engine, rigour=None, rel=1e-1, **level).bracket


@cache
def crossing_of_two():
    """Of two users, where the profile is nearly 0: bisection of exact values."""
    low, high = Fraction(1), Fraction(11, 10)
    while high - low > Fraction(1, 10_000):
        middle = (low + high) / 2
        low, high = (middle, high) if exactly(2, eps=middle).lower > Fraction(1, 100) else (low, middle)
    return low, high


@cache
def budget():
    """The largest eps0 of randomized response: bisection over rational ratios of exact values."""
    low, high = Fraction(3, 2), Fraction(2)
    while high - low > Fraction(1, 300):
        middle = (low + high) / 2
        at = symshuffle.delta(
            symshuffle.mechanism("rr").at(lam=middle), n=N, exp_eps=LEVEL, engine=Exact(), rigour=None
        )
        low, high = (middle, high) if at.bracket.upper <= TARGET else (low, middle)
    return Fraction(math.log(low)) * (1 - TINY), Fraction(math.log(high)) * (1 + TINY)


TINY = Fraction(1, 10**12)
MU, STEP = Fraction(1, 2), Fraction(1, 20)


def of_gaussians(eps, mu):
    """The profile of two Gaussians in closed form, in doubles that are good to twelve digits here."""
    a, b = eps / mu - mu / 2, eps / mu + mu / 2
    return (math.erfc(a / math.sqrt(2)) - math.exp(eps) * math.erfc(b / math.sqrt(2))) / 2


@cache
def two_rounds():
    """The losses of two Gaussian rounds, above and below."""
    profile = [Fraction(of_gaussians(float(i * STEP), float(MU))) for i in range(90)]
    known = tuple((value * (1 - TINY), value * (1 + TINY)) for value in profile)
    rounds = Profile(STEP, known, known)
    return Losses(((law_above(rounds), 2),), Side.UPPER), Losses(((law_below(rounds), 2),), Side.LOWER)


def over_two_rounds(read, *given):
    above, below = two_rounds()
    *given, method = given
    return Bracket(read(below, *given, method), read(above, *given, method), Rigour.BALL, "two rounds", "by hand")


@cache
def epsilon_of_two_rounds():
    low, high = 0.0, 6.0
    while high - low > 1e-9:
        middle = (low + high) / 2
        low, high = (middle, high) if of_gaussians(middle, math.sqrt(0.5)) > 1e-3 else (low, middle)
    return Fraction(low), Fraction(high)


def delta_of_two_rounds():
    found = Fraction(of_gaussians(1.0, math.sqrt(0.5)))
    return found * (1 - TINY), found * (1 + TINY)


@cache
def density():
    """A blanket-mixed Gaussian under zero-out, and what the catalogue says of it at 1000 users."""
    pair = worst_pair(BlanketMixedGaussian("0.95", "4.6"), adjacency="zero-out")
    return pair.law(Exp(Fraction(4, 10000)), tail=Fraction(1, 10**20), bits=128)


def of_density():
    found = Fraction("2.379135330145171598564562564e-5")
    return found * (1 - TINY), found * (1 + TINY)


def from_a_guess():
    """A search that begins where the Gaussian limit says."""
    at = search.mills_guess(value()[1], TARGET)

    def profile(x, width):
        return exactly(N, eps=x)

    found = search.smallest_meeting(profile, TARGET, 1e-2, at)
    return Bracket(found.above, found.meets, Rigour.EXACT, "search", "by hand")


def from_fewer_users():
    def smallest(n, near):
        found = search.smallest_meeting(lambda x, width: exactly(n, eps=x), TARGET, 1e-2, near)
        return Bracket(found.above, found.meets, Rigour.EXACT, "search", "by hand")

    return along_users(smallest, (2, 4, 6, N))[-1].y


def by_program(method):
    return lambda: bayes_tradeoff(weighted_guessing_problem(PRIOR), 3, method=method).value


DOORS = {
    "contour": (by(Contour(rel=1e-2)), value),
    "smoothed": (by(Contour(rel=1e-1), eps=OFF_LATTICE), value_off_lattice),
    "ball": (by(BallContour(rel=1e-1), eps=OFF_LATTICE), value_off_lattice),
    "counts": (by(Counts(rel=1e-2)), value),
    "epsilon": (lambda: symshuffle.epsilon(KRR, n=N, delta=TARGET, rel=1e-2).bracket, crossing),
    "confirmed": (lambda: symshuffle.epsilon(KRR, n=N, delta=TARGET, rel=1e-2, rigour="ball").bracket, crossing),
    "users": (lambda: symshuffle.solve_n(KRR, exp_eps=LEVEL, delta=TARGET).bracket, fewest),
    "risk": (lambda: bayes_tradeoff(weighted_guessing_problem(PRIOR), 3).value, risk),
    "error": (lambda: bmg_optimal(100, 1).bracket, least_error),
    "top": (lambda: symshuffle.epsilon(KRR, n=2, delta="1/100", rel=1e-2).bracket, crossing_of_two),
    "budget": (
        lambda: inverses.solve_eps0(symshuffle.mechanism("rr"), n=N, exp_eps=LEVEL, delta=TARGET, rel=1e-2).bracket,
        budget,
    ),
    "guess": (from_a_guess, crossing),
    "fewer": (from_fewer_users, crossing),
    "rounds": (lambda: over_two_rounds(epsilon_of, Fraction(1, 1000), Tilted.at), epsilon_of_two_rounds),
    "sum": (lambda: over_two_rounds(delta_of, Fraction(1), Tilted.at), delta_of_two_rounds),
    "period": (lambda: over_two_rounds(delta_of, Fraction(1), Period.at), delta_of_two_rounds),
    "fft": (by(FFT(), eps=OFF_LATTICE), value_off_lattice),
    "density": (lambda: Bromwich(1e-3).bracket(density(), 1000), of_density),
    "polytope": (by_program("polytope"), risk),
    "compact": (by_program("compact"), risk),
    "columns": (by_program("columns"), risk),
}


def scaled(power):
    """The value times a random factor, or its inverse, up to ten to a power."""
    return lambda old, draw: (
        lambda *given, **named: old(*given, **named) * type(old(*given, **named))(10 ** draw.uniform(-power, power))
    )


def stuck(found) -> Change:
    return lambda old, draw: lambda *given, **named: found


def changed(change) -> Change:
    """The value after a change that may draw."""
    return lambda old, draw: lambda *given, **named: change(old(*given, **named), draw)


def narrower(windows, draw):
    middle = [(low + high) // 2 for low, high in zip(windows.low, windows.high, strict=True)]
    return replace(windows, c=windows.c * 10 ** draw.uniform(-1, 1), low=middle, high=middle)


def elsewhere(windows, draw):
    """Windows that may miss the mean."""
    ends = [sorted(draw.choices(range(N + 1), k=2)) for _ in windows.low]
    return replace(windows, low=[low for low, _ in ends], high=[high for _, high in ends])


def shuffled_basis(found, draw):
    columns, rows = found
    return columns[: len(rows) - 1], rows[: len(rows) - 1]


def moved(found, draw):
    """Places to look at, moved by up to a tenth, and at a width as coarse as any."""
    return [(max(Fraction(1), round(x * Fraction(draw.uniform(0.9, 1.1)))), 1e-3) for x, _ in found]


def below_the_mean(first):
    """Of the likeliest atoms only counts far below the mean, of all others all counts."""
    return lambda old, draw: lambda n, share, quiet: (0, 0) if share * n > first else (0, n)


def above_the_mean(first):
    return lambda old, draw: lambda n, share, quiet: (n, n) if share * n > first else (0, n)


WILD = (scaled(0.5), scaled(2))
S, W, A, G, L, P, B, T = (
    "symshuffle.engines.saddle.",
    "symshuffle.engines.count_windows.",
    "symshuffle.accountants.search.",
    "symshuffle.accountants.guided.",
    "symshuffle.accountants.losses.Losses.",
    "symshuffle.design.decision.programs.",
    "symshuffle.engines.bromwich_plan.",
    "symshuffle.engines.tilted.",
)
ROUGH = bromwich_plan.saddle.Tilt(np.array([-0.01, 0.0, 0.02]), np.array([0.3, 0.4, 0.3]))
GUESSES = (stuck(Fraction(1, 3)), stuck(Fraction(10)), scaled(1))


def astray(found, draw):
    """The start and the slope of a guide, moved."""
    return replace(found, start=found.start * 10 ** draw.uniform(-1, 1), slope=found.slope * draw.uniform(0.3, 3))


def planned(**factors):
    """A plan whose constants are multiplied; its slope stays beyond its line."""

    def moved(plan, draw):
        changed = replace(plan, **{name: factor * getattr(plan, name) for name, factor in factors.items()})
        return replace(changed, slope=max(changed.slope, 1.2 * changed.c))

    return changed_plan(moved)


def changed_plan(moved) -> Change:
    return lambda old, draw: lambda *given, **named: moved(old(*given, **named), draw)


def other_columns(found, draw):
    """Columns that have nothing to do with the problem."""
    return {(subset, draw.randrange(3)) for subset in draw.sample(range(1, 7), 3)}


def other_proposal(found, draw):
    return replace(found, columns=frozenset(other_columns(found, draw)), value=found.value + draw.uniform(-1, 1))


def sloped(found, draw):
    """How far a window reaches and the slopes, moved."""
    (down, falling), (up, rising) = found
    return (down * draw.uniform(0.3, 2), falling * draw.uniform(0.3, 2)), (up * draw.uniform(0.3, 2), rising * 0.5)


BAD: dict[str, tuple[str, tuple[Change, ...]]] = {
    S + "saddle_point": ("contour smoothed ball", (*WILD, stuck(1.0))),
    S + "spread_out": ("contour smoothed", (stuck(True), stuck(False))),
    S + "widths": ("contour smoothed", (stuck([0.3]), stuck([0.3, 1e-9]))),
    S + "tail_slopes": ("contour smoothed ball", (stuck([0.05, 0.05]), stuck([1.0, 1.0]), stuck([50.0, 50.0]))),
    S + "_reach": ("contour smoothed ball", (scaled(0.5), stuck(1e-3), stuck(1e3))),
    S + "_tail_exponent": ("contour smoothed ball", (stuck(1e9), scaled(0.5))),
    W + "Windows.choose": ("counts", (changed(narrower), *4 * (changed(elsewhere),))),
    W + "_window": (
        "counts",
        (
            stuck((0, 0)),
            stuck((N, N)),
            stuck((0, N)),
            stuck((3, 5)),
            *map(below_the_mean, (1.2, 2, 3)),
            *map(above_the_mean, (1.2, 2, 3)),
        ),
    ),
    W + "_slope": ("counts", (stuck(0.0), scaled(1))),
    A + "_guess": ("plain", (scaled(0.05), stuck(Fraction(1, 3)))),
    A + "_candidates": ("plain", (stuck([Fraction(1, 3)]), changed(lambda old, draw: reversed([*old])))),
    A + "_fine_enough": ("confirmed", (stuck(1e-2), stuck(0.5))),
    G + "_next": ("users", (stuck([]), stuck([(Fraction(1), 1e-3)]), changed(moved))),
    G + "_predicted": ("users", (stuck(None), stuck((1.0, 0.0, 1e-3)), stuck((60.0, 1.0, 1e3)))),
    G + "interpolation": ("users", (stuck(lambda t: 0.0), stuck(lambda t: 1e3), stuck(lambda t: -t))),
    G + "_useful": ("users", (changed(lambda found, draw: found[:1]),)),
    G + "_inside": ("users", (stuck((0.0, 30.0)), stuck((1.0, 0.0)))),
    G + "_plain": ("blind", (stuck(None), stuck(Fraction(1)), stuck(Fraction(50)))),
    G + "_either_side": ("users", (stuck([Fraction(1)]), stuck([Fraction(5), Fraction(50)]))),
    G + "_finer": ("users", (stuck(1e-3), stuck(1e-13))),
    G + "_predicted_below": ("top", (stuck(None), stuck((1.0, 1e-9, 1.0)), stuck((1.09, 1.0, 1e3)))),
    G + "_rounded": ("users top", (changed(lambda found, draw: found + draw.randrange(3)), stuck(Fraction(1)))),
    G + "_clipped": ("users top", (stuck(1e-12), stuck(1e-3))),
    A + "mills_guess": ("guess", GUESSES),
    "symshuffle.accountants.inverses._budget_guide": ("budget", (stuck(None), *3 * (changed(astray),))),
    "symshuffle.accountants.inverses._users_guide": ("users", (stuck(None), *3 * (changed(astray),))),
    "symshuffle.accountants.curves._extrapolated": ("fewer", (stuck(None), *GUESSES[:2])),
    L + "guess": ("rounds", (stuck((0.0, 1.0)), stuck((5.0, 8.0)), stuck((1.5, 0.1)))),
    L + "tilt": ("sum", (scaled(0.3), scaled(1), stuck(1.0))),
    L + "chernoff": ("period", (scaled(0.5), scaled(1), stuck(1.0))),
    T + "_best_tilt": ("fft", (scaled(0.5), scaled(1))),
    T + "_chernoff": ("fft", 3 * (changed(sloped),)),
    T + "_steps": ("fft", (stuck(50), stuck(777), changed(lambda found, draw: found // 2))),
    B + "rough": ("density", (stuck(ROUGH),)),
    B + "choose": (
        "density",
        (
            planned(c=1.5),
            planned(c=0.7),
            planned(step=0.7),
            planned(step=1.4),
            planned(far=2),
            planned(slope=1.5),
            planned(small=100),
            planned(size=30),
        ),
    ),
    "symshuffle.engines.bromwich._worth": ("density", (stuck(True), stuck(False))),
    "symshuffle.engines.gauss._ranked": (
        "density",
        tuple(changed(lambda found, draw, s=s: found[s]) for s in (slice(None, None, -1), slice(1))),
    ),
    P + "polytope": ("polytope", 2 * (changed(other_proposal),)),
    P + "compact": ("compact", 2 * (changed(other_proposal),)),
    P + "generate": ("columns", 2 * (changed(other_proposal),)),
    P + "_levels": ("compact", (stuck(set()), changed(other_columns))),
    P + "columns_near": ("compact columns", (stuck(set()), changed(other_columns))),
    P + "tight_columns": ("compact columns", (stuck(set()), changed(other_columns))),
    "symshuffle.geometry.linprog._highs_basis": ("risk", (changed(shuffled_basis), stuck(([], [])), stuck(([0], [0])))),
    "symshuffle.vectors.optimal._guess": ("error", (stuck(Fraction(1, 2)), stuck(Fraction(1, 10**6)))),
}
"""The doors through which each guide is reached, and its bad versions."""
