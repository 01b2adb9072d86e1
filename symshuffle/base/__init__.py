"""What everything stands on: numbers, results, errors, files, linear programs. Nothing here is about privacy."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
