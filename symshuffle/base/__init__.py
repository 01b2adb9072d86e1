"""What everything stands on: numbers, results, errors, files, linear programs. Nothing here is about privacy."""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
