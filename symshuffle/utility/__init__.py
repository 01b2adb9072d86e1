"""What an analyst learns from shuffled messages. How private they are is asked of ``accountants``."""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
