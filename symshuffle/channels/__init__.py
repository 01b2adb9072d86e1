"""Channels and laws of G as data, their cones, orders and symmetries, divergences by enumeration. No mechanism."""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
