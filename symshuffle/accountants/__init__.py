"""Engines that compute (1/n) E[(G_1 + ... + G_n)_+] from the law of G, and the front door that chooses one.

An engine knows a :class:`~symshuffle.channels.law.Law` and nothing else; engines do not know each other.
"""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
