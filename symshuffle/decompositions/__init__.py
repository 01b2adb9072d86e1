"""Decompositions of a channel at a pair of inputs, their reduction pairs, and the law of G."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
