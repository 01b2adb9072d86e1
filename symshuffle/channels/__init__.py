"""Channels and laws of G as data, their cones, orders and symmetries, divergences by enumeration. No mechanism."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
