"""Bad versions of every guide, and the doors through which it is reached."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from symshuffle.engines.densities import bromwich_plan
from tests.soundness.guide_changes_of_vectors import BAD_OF_VECTORS
from tests.soundness.guide_doors import N
from tests.soundness.guides_of_jumps import BAD_OF_JUMPS

Change = Callable[[Any, random.Random], Callable[..., Any]]


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
E, H, S, W, A, G, L, P, B, T, R = (
    "symshuffle.engines.",
    "symshuffle.accountants.bounds.gaussian_profile.",
    "symshuffle.engines.contours.saddle.",
    "symshuffle.engines.counting.count_windows.",
    "symshuffle.accountants.bounds.search.",
    "symshuffle.accountants.bounds.guided.",
    "symshuffle.accountants.rounds.losses.Losses.",
    "symshuffle.design.decision.programs.",
    "symshuffle.engines.densities.bromwich_plan.",
    "symshuffle.engines.transforms.tilted.",
    "symshuffle.accountants.renyi.refined_profile.",
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


def halved(old, draw):
    """Each stretch as two halves, however few there are."""

    def found(starts, stops):
        middle = (starts + stops) // 2
        return np.concatenate([starts, middle]), np.concatenate([middle, stops])

    return found


def other_columns(found, draw):
    """Columns that have nothing to do with the problem."""
    return {(subset, draw.randrange(3)) for subset in draw.sample(range(1, 7), 3)}


def other_proposal(found, draw):
    return replace(found, columns=frozenset(other_columns(found, draw)), value=found.value + draw.uniform(-1, 1))


def at_random(draw):
    """Three orders more, wherever they are, in place of those that part the ends most."""

    def refine(profile, *given):
        for _ in range(3):
            profile.values(1 + Fraction(draw.randrange(1, 99), 20))

    return refine


def first_orders(count) -> Change:
    """Some orders at random to begin with, 1 among them."""

    def change(old, draw):
        def first(profile, alpha, direction):
            for x in (Fraction(1), *(1 + Fraction(draw.randrange(1, 99), 50) for _ in range(count - 1))):
                profile.values(x)

        return first

    return change


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
    "symshuffle.accountants.questions.inverses._budget_guide": ("budget", (stuck(None), *3 * (changed(astray),))),
    "symshuffle.accountants.questions.inverses._users_guide": ("users", (stuck(None), *3 * (changed(astray),))),
    "symshuffle.accountants.questions.curves._extrapolated": ("fewer", (stuck(None), *GUESSES[:2])),
    L + "guess": ("rounds", (stuck((0.0, 1.0)), stuck((5.0, 8.0)), stuck((1.5, 0.1)))),
    L + "tilt": ("sum", (scaled(0.3), scaled(1), stuck(1.0))),
    L + "chernoff": ("period", (scaled(0.5), scaled(1), stuck(1.0))),
    T + "_best_tilt": ("fft", (scaled(0.5), scaled(1))),
    T + "_chernoff": ("fft", 3 * (changed(sloped),)),
    T + "_steps": ("fft", (stuck(50), stuck(777), changed(lambda found, draw: found // 2))),
    E + "densities.bromwich_plan.last_node": (
        "density",
        tuple(changed(lambda found, draw, s=s: found // s) for s in (2, 10)),
    ),
    E + "densities.gauss.price": ("density", (stuck(0.0), stuck(50.0))),
    E + "contours.loud._split": ("contour smoothed", (halved,)),
    E + "contours.loud._stride": ("contour smoothed", (stuck(1), stuck(1000))),
    "symshuffle.accountants.bounds.brackets._resolved": ("epsilon confirmed", (stuck(True), stuck(False))),
    H + "log_profile": ("users", (scaled(0.3), changed(lambda found, draw: found + draw.uniform(-3, 3)))),
    H + "distance": ("users budget", (scaled(0.3), changed(lambda found, draw: found + draw.uniform(-3, 3)))),
    H + "level": ("epsilon", (scaled(1), stuck(0.01), stuck(20.0))),
    H + "rising_root": ("users top", (changed(lambda found, draw: found + draw.uniform(-1, 1)), stuck(0.0))),
    "symshuffle.accountants.rounds.over_rounds.Deployment.first_step": (
        "deployment",
        (stuck(Fraction(1, 5)), stuck(Fraction(1, 50))),
    ),
    "symshuffle.accountants.rounds.over_rounds._gaussian": (
        "deployment",
        (stuck(Fraction(1, 10**6)), stuck(Fraction(1, 3))),
    ),
    R + "RefinedProfile._first": ("renyi", tuple(map(first_orders, (1, 2, 3, 40)))),
    R + "RefinedProfile._refine": ("renyi", (stuck(None), lambda old, draw: at_random(draw))),
    R + "_shares": ("renyi", (changed(lambda found, draw: [draw.random() for _ in found]),)),
    "symshuffle.design.information.vertices._float_basis": (
        "information",
        (stuck([]), stuck([0]), stuck([0, 1, 2]), changed(lambda found, draw: found[::-1]), stuck([2, 5, 4])),
    ),
    B + "rough": ("density", (stuck(ROUGH),)),
    B + "BromwichPlan.tolerance": ("density", (scaled(2), stuck(1e-3), stuck(1e-30))),
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
    "symshuffle.engines.densities.bromwich_line._worth": ("density", (stuck(True), stuck(False))),
    "symshuffle.engines.densities.gauss._ranked": (
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
    "symshuffle.vectors.error.optimal._guess": ("error", (stuck(Fraction(1, 2)), stuck(Fraction(1, 10**6)))),
    **BAD_OF_VECTORS,
    **BAD_OF_JUMPS,
}
"""The doors through which each guide is reached, and its bad versions."""
