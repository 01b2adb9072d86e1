"""Local randomizers, each written once, symbolically in ``lam = exp(eps0)``."""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
