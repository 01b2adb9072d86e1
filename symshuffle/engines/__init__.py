"""Engines: they see the law of G and nothing else, and each returns a bracket around its divergence."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
