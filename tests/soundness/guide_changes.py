"""Bad versions of what guides: results stuck, scaled, cut short, or drawn."""

import random
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from symshuffle.engines.densities import bromwich_plan
from tests.soundness.guide_doors import N

Change = Callable[[Any, random.Random], Callable[..., Any]]


def scaled(power):
    """The value times a random factor, or its inverse, up to ten to a power."""
    return lambda old, draw: (
        lambda *given, **named: old(*given, **named) * type(old(*given, **named))(10 ** draw.uniform(-power, power))
    )


def stuck(found) -> Change:
    return lambda old, draw: lambda *given, **named: found


def each(*found) -> tuple[Change, ...]:
    return tuple(map(stuck, found))


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
    columns, value, *vectors = found
    return frozenset(other_columns(columns, draw)), value + draw.uniform(-1, 1), *vectors


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


def another_level(found, draw):
    return [Fraction(draw.randrange(1000, 1050), 1000)]


def shifted(most) -> Change:
    return changed(lambda found, draw: found + draw.uniform(-most, most))


def replanned(plan, draw: random.Random):
    """Another line, period and slope, the slope beyond its line."""
    c = plan.c * 10 ** draw.uniform(-0.3, 0.3)
    step = plan.step / 10 ** draw.uniform(-0.5, 0.3)
    return replace(plan, c=c, step=step, slope=c * draw.uniform(1.01, 3), small=plan.small * draw.uniform(0.1, 10))


def other_atoms(found, draw: random.Random):
    values, weights = found
    return values * draw.uniform(0.5, 2), weights * np.array([draw.uniform(0.1, 2) for _ in weights])


def line_moved(found, draw: random.Random):
    return found[0] * 10 ** draw.uniform(-0.3, 0.3), found[1] + draw.uniform(-3, 3)


def rerouted(path, draw: random.Random):
    """A path that leaves the line elsewhere, in runs of four cells as the ends allow."""
    runs = [draw.randrange(4) for _ in path[::4]]
    return [runs[k // 4] if draw.random() < 0.9 else shift for k, shift in enumerate(path)]


def corner_moved(found, draw: random.Random):
    return None if found is None else max(Fraction(-9, 10), min(Fraction(9, 10), found + Fraction(draw.gauss(0, 0.1))))


def share_moved(found, draw: random.Random):
    return None if found is None else found * draw.uniform(0.5, 2)
