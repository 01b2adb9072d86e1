"""The checks of the ledger, one package per paper and one module per section, in paper order.

Each module defines ``CLAIMS``, a tuple of :class:`symshuffle.ledger.claims.model.Claim`, and may define ``REPRODUCE``,
a mapping from ids of figures and tables to functions that draw them. A module whose name begins with an underscore is
shared by its sections and declares nothing.
"""
