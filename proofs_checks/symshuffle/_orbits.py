"""What the claims about the best channel after shuffling ask of a mixture of orbits."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.design.shuffled.search import blanket_law
from symshuffle.utility.frontiers.orbit import Orbit


def exact_bound(orbits: Sequence[Orbit], n: int, exp_eps: Fraction) -> Fraction:
    """The certified bound H(n), exact."""
    found = evaluate_law(blanket_law(orbits, exp_eps), n, arithmetic="exact").exact
    assert found is not None
    return found
