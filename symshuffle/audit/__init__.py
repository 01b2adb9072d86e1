"""Programs of others against what they claim: events fixed before the runs. What is claimed is certified elsewhere."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
