"""Optimal LDP channels: decision problems, certified trade-offs, information measures, parametric formulas."""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
