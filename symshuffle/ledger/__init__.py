"""Every numbered statement of the five papers, what was checked of it, and how strongly. No formula."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
