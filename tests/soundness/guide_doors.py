"""Doors through which guides and constants that only tune are reached, and what is true there.

Every truth comes by another road than the answer: from the exact engine, which no listed guide leads, from a bisection
of its values, from a closed form, or from a minimum in plain doubles.
"""

import math
from fractions import Fraction
from functools import cache

import numpy as np

import symshuffle
from proofs_checks._divergences import renyi_divergence
from symshuffle import Bracket, Exp
from symshuffle.accountants.bounds import gaussian_limit, search
from symshuffle.accountants.questions import inverses
from symshuffle.accountants.questions.curves import along_users
from symshuffle.accountants.rounds.dominating import Profile, law_above, law_below
from symshuffle.accountants.rounds.lattice_sums import Tilted
from symshuffle.accountants.rounds.losses import Losses, delta_of, epsilon_of
from symshuffle.accountants.rounds.period import Period
from symshuffle.decompositions import ReductionPair
from symshuffle.design import weighted_guessing_problem, weighted_guessing_risk
from symshuffle.design.decision.tradeoff import smallest_risk
from symshuffle.design.information.maximum import maximise
from symshuffle.design.information.measures import mutual_information
from symshuffle.engines import FFT, BallContour, Contour, Counts, Exact, Sparse
from symshuffle.engines.densities.bromwich import bromwich_bracket
from symshuffle.vectors import BlanketMixedGaussian
from symshuffle.vectors.error.optimal import bmg_optimal
from symshuffle.vectors.privacy.pairs import worst_pair
from tests.soundness.guide_doors_of_jumps import DOORS_OF_JUMPS
from tests.soundness.guide_doors_of_vectors import DOORS_OF_VECTORS

KRR = symshuffle.randomizer("krr").at(k=3, lam=3)
OFF_LATTICE = Fraction(1, 5)  # as eps: exp(eps) is irrational, and G has no lattice
N, LEVEL, TARGET = 8, Fraction(6, 5), Fraction(1, 50)
PRIOR = [Fraction(1, 2), Fraction(1, 3), Fraction(1, 6)]


def exactly(n, **level):
    return symshuffle.delta(KRR, n=n, engine=Exact(), arithmetic=None, **level).bracket


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
    return lambda: symshuffle.delta(KRR, n=N, engine=engine, arithmetic=None, rtol=1e-1, **level).bracket


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
            symshuffle.randomizer("rr").at(lam=middle), n=N, exp_eps=LEVEL, engine=Exact(), arithmetic=None
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
    return Losses(((law_above(rounds), 2),), "upper"), Losses(((law_below(rounds), 2),), "lower")


def over_two_rounds(read, *given):
    above, below = two_rounds()
    *given, method = given
    return Bracket(read(below, *given, method), read(above, *given, method), "ball", "two rounds", "by hand")


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
    at = gaussian_limit.mills_guess(value()[1], TARGET)

    def profile(x, width):
        return exactly(N, eps=x)

    found = search.smallest_meeting(profile, TARGET, 1e-2, at)
    return Bracket(found.above.x, found.meets.x, "exact", "search", "by hand")


def from_fewer_users():
    def smallest(n, near):
        found = search.smallest_meeting(lambda x, width: exactly(n, eps=x), TARGET, 1e-2, near)
        return Bracket(found.above.x, found.meets.x, "exact", "search", "by hand")

    return along_users(smallest, (2, 4, 6, N))[-1].y


def by_program(method):
    return lambda: smallest_risk(weighted_guessing_problem(PRIOR), 3, method=method).value


def soundly(answer, arithmetic):
    """What a door says at another arithmetic, with nothing changed."""

    @cache
    def found():
        bracket = answer(arithmetic)
        return bracket.lower, bracket.upper

    return found


@cache
def two_users():
    """The same with a mass of 0.9 and noise of 4, from the catalogue."""
    found = Fraction("0.00374801731398906099641705593")
    return found * (1 - TINY), found * (1 + TINY)


def of_density_at(n):
    source = BlanketMixedGaussian("0.9", "4")
    return symshuffle.delta(source, n=n, eps="1/100", adjacency="zero-out", rtol=1e-2, direction="forward").bracket


def laplace(arithmetic):
    return symshuffle.delta(
        symshuffle.randomizer("laplace").at(lam=3), n=50, eps="1/5", rtol=1e-3, arithmetic=arithmetic
    ).bracket


def deployed(arithmetic):
    return symshuffle.delta(KRR, n=N, periods=2, eps="3/5", arithmetic=arithmetic, rtol=1e-2).bracket


SKEW = (Fraction(9, 10), Fraction(1, 10)), (Fraction(1, 2), Fraction(1, 2))


@cache
def renyi_of_rows():
    """One user of a pair without a blanket of its own: the divergence of the rows, by its definition."""
    found = renyi_divergence(*SKEW, 3)
    return found.lower, found.upper


def information():
    """Of three equally likely inputs by subsets of one size, the best one: the sum of p log(p/q) by hand."""
    size = max(s * 3 * math.log(3) / (s * 3 + 3 - s) - math.log((s * 3 + 3 - s) / 3) for s in (1, 2))
    return Fraction(size) * (1 - TINY), Fraction(size) * (1 + TINY)


DOORS = {
    "information": (lambda: maximise(mutual_information([Fraction(1, 3)] * 3), 3).value, information),
    "renyi": (
        lambda: symshuffle.renyi(ReductionPair(*SKEW, SKEW[1]), n=1, order=3, direction="forward", rtol=1e-2).bracket,
        renyi_of_rows,
    ),
    "contour": (by(Contour(rtol=1e-2)), value),
    "smoothed": (by(Contour(rtol=1e-1), eps=OFF_LATTICE), value_off_lattice),
    "ball": (by(BallContour(rtol=1e-1), eps=OFF_LATTICE), value_off_lattice),
    "counts": (by(Counts(rtol=1e-2)), value),
    "epsilon": (lambda: symshuffle.epsilon(KRR, n=N, delta=TARGET, rtol=1e-2).bracket, crossing),
    "confirmed": (lambda: symshuffle.epsilon(KRR, n=N, delta=TARGET, rtol=1e-2, arithmetic="ball").bracket, crossing),
    "users": (lambda: symshuffle.smallest_n(KRR, exp_eps=LEVEL, delta=TARGET).bracket, fewest),
    "risk": (lambda: smallest_risk(weighted_guessing_problem(PRIOR), 3).value, risk),
    "error": (lambda: bmg_optimal(100, 1).bracket, least_error),
    "top": (lambda: symshuffle.epsilon(KRR, n=2, delta="1/100", rtol=1e-2).bracket, crossing_of_two),
    "budget": (
        lambda: inverses.largest_eps0(symshuffle.randomizer("rr"), n=N, exp_eps=LEVEL, delta=TARGET, rtol=1e-2).bracket,
        budget,
    ),
    "guess": (from_a_guess, crossing),
    "fewer": (from_fewer_users, crossing),
    "rounds": (lambda: over_two_rounds(epsilon_of, Fraction(1, 1000), Tilted.at), epsilon_of_two_rounds),
    "sum": (lambda: over_two_rounds(delta_of, Fraction(1), Tilted.at), delta_of_two_rounds),
    "period": (lambda: over_two_rounds(delta_of, Fraction(1), Period.at), delta_of_two_rounds),
    "laplace": (lambda: laplace("float64"), soundly(laplace, "ball")),
    "laplace_in_balls": (lambda: laplace("ball"), soundly(laplace, "float64")),
    "sparse": (by(Sparse(rtol=1e-2)), value),
    "few": (lambda: of_density_at(2), two_users),
    "deployment": (lambda: deployed("float64"), soundly(deployed, "ball")),
    "fft": (by(FFT(), eps=OFF_LATTICE), value_off_lattice),
    "density": (lambda: bromwich_bracket(density(), 1000, 1e-3), of_density),
    "polytope": (by_program("polytope"), risk),
    "compact": (by_program("compact"), risk),
    "columns": (by_program("columns"), risk),
    **DOORS_OF_VECTORS,
    **DOORS_OF_JUMPS,
}
