"""Every numbered statement of the five papers, what was checked of it, and how strongly. No formula."""

from symshuffle.base.kinds import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)
