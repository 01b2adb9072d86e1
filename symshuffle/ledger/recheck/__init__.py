"""Certificate files of claims, checked again with little code: rationals, comparisons, and dual vectors.

Nothing here computes a privacy bound, and no solver and no computer algebra is imported. A file holds the two sides of
each comparison that a check made, exactly or as ends of balls; the relation between them is decided again, and where a
side is the optimum of a linear program, its primal and dual vectors are checked again (:mod:`symshuffle.base.lp`).

Everything that has a meaning is written twice: as data, and in the sentence that a person reads (``reads``). The
sentence is composed again from the data, so that a number, a relation or a count cannot be changed in one place. What
no file can show is that its numbers come from the library: for that, run the claim again and compare digests, which do
not depend on the time or on the number of processes.
"""
