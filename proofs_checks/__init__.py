"""The checks of the ledger, one package per paper and one module per section, in paper order.

Each module defines ``CLAIMS``, a tuple of :class:`symshuffle.ledger.claims.model.Claim`, and may define ``REPRODUCE``,
a mapping from ids of figures and tables to functions that draw them. A module whose name begins with an underscore is
shared by its sections and declares nothing.
"""

COSTLIEST = (
    "decomposition.sec-6-claims",
    "ldp_tradeoff.app-C.2",
    "decomposition.def-8",
    "vecmean.lem-A.3",
    "vecmean.prop-3.7",
    "symshuffle.vecmean-mixed-gaussian-order",
    "decomposition.table-3",
    "vecmean.prop-4.2",
    "alphabets.lem-11.2",
    "ldp_tradeoff.lem-B.4",
)
"""The claims that take longest, the longest first: where claims run in several processes, they start first."""
