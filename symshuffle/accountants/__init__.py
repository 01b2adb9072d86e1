"""Engines that compute (1/n) E[(G_1 + ... + G_n)_+] from the law of G, and the front door that chooses one.

An engine knows a :class:`~symshuffle.channels.law.Law` and nothing else; engines do not know each other.
"""

import lazy_loader

__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
