"""Mechanisms for vectors of the unit ball: how well they hide (indices) and how well they estimate (risks)."""

from symshuffle.base.kinds import attach
from symshuffle.vectors.privacy import accounting as _accounting  # noqa: F401  # registers how they come to the front doors

__getattr__, __dir__, __all__ = attach(__name__, __file__)
