"""Channels and laws of G as data, and divergences of them by enumeration. No mechanism, no engine."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
