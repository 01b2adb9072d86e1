"""Frequencies from users: plan, randomize, estimate. Which mechanism is best is asked of ``design``."""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
