"""The ways in which two inputs of a tree can differ: which leaves see them differ, and how."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

from symshuffle.base.errors import Unsupported
from symshuffle.decompositions.composition.tree import Composition, Part
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.model import Mechanism

Pattern: TypeAlias = "bool | int | tuple[Any, ...]"
"""Which leaves of a tree see the two inputs differ: a truth value for a leaf, a tuple of patterns for a tree.

For a leaf that does not treat all pairs of inputs alike a number stands for the class of pairs in which they differ.
"""


LARGEST_PATTERNS: Final = 4096
"""Ways to differ beyond which a composition is refused."""


def patterns(part: Part) -> list[Pattern]:
    """All ways in which two different inputs can differ, up to the order of equal parts."""
    if not isinstance(part, Composition):
        return _classes(part)
    if part.operator == "parallel":
        ways = [[*patterns(p)] for p in part.parts]
        _require_few(part, math.prod(map(len, ways)))
        return list(itertools.product(*ways))
    # Which of several equal parts differ does not matter, only how many: one choice for each multiset.
    places: dict[Part, list[int]] = {}
    for place, p in enumerate(part.parts):
        places.setdefault(p, []).append(place)
    choices = [([*patterns(p), _nowhere(p)], len(alike)) for p, alike in places.items()]
    _require_few(part, math.prod(math.comb(len(ways) + m - 1, m) for ways, m in choices))
    found: list[Pattern] = []
    for chosen in itertools.product(*(itertools.combinations_with_replacement(*several) for several in choices)):
        assigned = zip(itertools.chain(*places.values()), itertools.chain(*chosen), strict=True)
        pattern = tuple(way for _, way in sorted(assigned, key=lambda pair: pair[0]))
        differing = sum(map(differs, pattern))
        if differing != 0 and part.distance in (None, differing):
            found.append(pattern)
    return found


def _classes(leaf: Mechanism | Laplace) -> list[Pattern]:
    """The ways in which two inputs of a leaf can differ."""
    if isinstance(leaf, Laplace) or leaf.pair.by is None:
        return [True]
    return [int(one.pair.value) for one in leaf.pair_classes() if one.pair.value is not None]


def is_real(part: Part, pattern: Pattern) -> bool:
    """Whether two inputs can differ as a pattern says.

    Parts of a parallel composition share their input. Where several of them can differ in more than one way, their
    patterns are combined freely, which covers more than there is; real are those in which equal parts differ alike.
    """
    if not isinstance(part, Composition) or not isinstance(pattern, tuple):
        return True
    if not all(map(is_real, part.parts, pattern)):
        return False
    several = [(p, way) for p, way in zip(part.parts, pattern, strict=True) if len(patterns(p)) > 1]
    return part.operator == "joint" or len(set(several)) <= 1


def _require_few(part: Composition, count: int) -> None:
    if count > LARGEST_PATTERNS:
        raise Unsupported(
            f"{part.name} has {count} ways to differ (limit {LARGEST_PATTERNS}): compose fewer different parts"
        )


def _nowhere(part: Part) -> Pattern:
    """The pattern of two inputs that are equal."""
    return tuple(_nowhere(p) for p in part.parts) if isinstance(part, Composition) else False


def differs(pattern: Pattern) -> bool:
    """Whether some leaf sees the two inputs differ."""
    return any(differs(p) for p in pattern) if isinstance(pattern, tuple) else bool(pattern)


def named_classes(part: Part, pattern: Pattern) -> Iterator[str]:
    """In words, in which classes of pairs the two inputs of those leaves are that do not treat all pairs alike."""
    if isinstance(part, Composition) and isinstance(pattern, tuple):
        for p, way in zip(part.parts, pattern, strict=True):
            yield from named_classes(p, way)
    elif isinstance(part, Mechanism) and differs(pattern):
        chosen = at_class(part, pattern)
        if chosen.pair.value is not None:
            yield f"{part.name}: {chosen.pair}"


def at_class(leaf: Mechanism, pattern: Pattern) -> Mechanism:
    """A leaf at the class of pairs that a pattern names; equal inputs are a pair of no class."""
    if isinstance(pattern, bool) or leaf.pair.by is None:
        return leaf
    return leaf.at(**{str(leaf.pair.by): pattern})
