"""Decompositions of a channel at a pair of inputs, their reduction pairs, and the law of G."""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
