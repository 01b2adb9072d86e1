"""What an analyst learns from shuffled messages. How private they are is asked of ``accountants``."""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
