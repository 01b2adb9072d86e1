r"""Compositions of mechanisms, as trees whose decompositions follow from those of the leaves.

- ``joint``: each coordinate of the input goes through a mechanism of its own; decompositions multiply
  (decomposition, Theorem 9).
- ``parallel``: one of several mechanisms is drawn and named with its output; decompositions mix (Theorem 11).
- ``subsample``: parallel with the constant mechanism (Example 4.4).
- ``hamming``: a joint composition whose neighbouring inputs differ in exactly so many coordinates (Section 8).

Components are keyed by their likelihood ratios, so that equal ratios merge as they arise and an m-fold joint
composition stays polynomial in m (:mod:`symshuffle.decompositions.tables`). All leaves share one total budget: under
``joint`` each of m parts gets the m-th root of ``lam``.

A Laplace leaf has a continuum of ratios. It enters as finitely many components from one side in convex order
(:mod:`symshuffle.decompositions.laplace`), or, where nothing but mixtures stands above it, as it is
(:func:`~symshuffle.decompositions.composition.laws.mixed_law`).
"""

from symshuffle.decompositions.composition.laws import (
    LARGEST_PRODUCTS,
    check_size,
    common_backgrounds,
    components,
    composed_law,
    decomposition,
    is_mixture,
    mixed_law,
)
from symshuffle.decompositions.composition.operators import hamming, joint, parallel, subsample
from symshuffle.decompositions.composition.tree import (
    Composed,
    Composition,
    Part,
    has_budget,
    leaves,
    open_parameters,
    written,
)
from symshuffle.decompositions.composition.ways import LARGEST_PATTERNS, Pattern, is_real, named_classes, patterns

__all__ = [
    "LARGEST_PATTERNS",
    "LARGEST_PRODUCTS",
    "Composed",
    "Composition",
    "Part",
    "Pattern",
    "check_size",
    "common_backgrounds",
    "components",
    "composed_law",
    "decomposition",
    "hamming",
    "has_budget",
    "is_mixture",
    "is_real",
    "joint",
    "leaves",
    "mixed_law",
    "named_classes",
    "open_parameters",
    "parallel",
    "patterns",
    "subsample",
    "written",
]
