"""A mixture of orbits as the accountant takes it: every pair of inputs, and real datasets, in rationals."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import product

from symshuffle.accountants.deployment.reduced import Datasets, LawFamily, PairClass, Reduction
from symshuffle.base.choices import Others
from symshuffle.decompositions.calculated import CalculatedCell, calculated_law
from symshuffle.decompositions.closed_forms import constant_datasets
from symshuffle.mechanisms.members import ANY_TWO
from symshuffle.utility.frontiers.orbit import Orbit

_HELD = {Others.BLANKET: (), Others.FIRST: (0,), Others.SECOND: (1,), Others.THIRD: (2,)}


def orbit_reduction(orbits: Sequence[Orbit]) -> Reduction:
    """Reduction of a mixture of orbits, that of ``orbit_mechanism``: one class of pairs, all others alike."""
    k = sum(count for count, _ in orbits[0].levels)
    real = (Others.THIRD, Others.SECOND, Others.FIRST) if k > 2 else (Others.SECOND, Others.FIRST)

    def family(others: Others, *, doubles: bool = False) -> LawFamily:
        cells = tuple(_cells(orbits, k, others))
        return lambda x, way, bits: calculated_law(cells, {}, x, way, bits=bits, doubles=doubles)

    datasets = tuple(Datasets(partial(constant_datasets, others), family(others)) for others in real)
    only = PairClass(ANY_TWO, family(Others.BLANKET), datasets=datasets, doubles=family(Others.BLANKET, doubles=True))
    return Reduction((only,), True, pairs=ANY_TWO)


def _cells(orbits: Sequence[Orbit], k: int, others: Others) -> Iterator[CalculatedCell]:
    """Cells of inputs 0 and 1 over what the others hold; over the blanket the left-over comes last."""
    held, rest = _HELD[others], Fraction(1)
    roles = max((1, *held)) + 1
    for orbit in orbits:
        low = orbit.weight * min(value for _, value in orbit.levels)
        rest -= low
        for levels in product(range(len(orbit.levels)), repeat=roles):
            share = Fraction(_placements(orbit, levels), math.perm(k, roles))
            if share:
                a, b, *third = (share * orbit.weight * orbit.levels[level][1] for level in levels)
                c = (a, b, *third)[held[0]] if held else share * low
                yield CalculatedCell.of(str(a), str(b), str(c), (str(a / c), str(b / c)) if c else None)
    if not held:
        yield CalculatedCell.of("0", "0", str(rest), ("0", "0"))


def _placements(orbit: Orbit, levels: Sequence[int]) -> int:
    """Number of ways to choose different coordinates in some levels, one for each."""
    return math.prod(math.perm(count, levels.count(i)) for i, (count, _) in enumerate(orbit.levels))
