"""Optimal LDP channels: decision problems, certified trade-offs, information measures, parametric formulas."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
