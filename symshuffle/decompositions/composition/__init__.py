r"""Compositions of mechanisms, as trees whose decompositions follow from those of the leaves.

- ``joint``: each coordinate of the input goes through a mechanism of its own; decompositions multiply
  (decomposition, Theorem 9). All leaves share one total budget: each of m parts gets the m-th root of ``lam``.
- ``parallel``: one of several mechanisms is drawn and named with its output; decompositions mix (Theorem 11).
- ``subsample``: parallel with the constant mechanism (Example 4.4).
- ``hamming``: a joint composition whose neighbouring inputs differ in exactly so many coordinates (Section 8).
"""

from symshuffle.decompositions.composition.laws import check_size as check_size
from symshuffle.decompositions.composition.laws import common_backgrounds as common_backgrounds
from symshuffle.decompositions.composition.laws import composed_law as composed_law
from symshuffle.decompositions.composition.laws import decomposition as decomposition
from symshuffle.decompositions.composition.laws import is_mixture as is_mixture
from symshuffle.decompositions.composition.laws import mixed_law as mixed_law
from symshuffle.decompositions.composition.operators import hamming as hamming
from symshuffle.decompositions.composition.operators import joint as joint
from symshuffle.decompositions.composition.operators import parallel as parallel
from symshuffle.decompositions.composition.operators import subsample as subsample
from symshuffle.decompositions.composition.tree import Composed as Composed
from symshuffle.decompositions.composition.tree import Composition as Composition
from symshuffle.decompositions.composition.tree import Part as Part
from symshuffle.decompositions.composition.tree import Pattern as Pattern
from symshuffle.decompositions.composition.tree import has_budget as has_budget
from symshuffle.decompositions.composition.tree import is_real as is_real
from symshuffle.decompositions.composition.tree import leaves as leaves
from symshuffle.decompositions.composition.tree import named_classes as named_classes
from symshuffle.decompositions.composition.tree import open_parameters as open_parameters
from symshuffle.decompositions.composition.tree import patterns as patterns
from symshuffle.decompositions.composition.tree import rounding_of as rounding_of
from symshuffle.decompositions.composition.tree import written as written
