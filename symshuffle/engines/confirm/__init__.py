"""A second opinion in mpmath on any H(n), by routes that share nothing with the engines but the law."""

from symshuffle.base.choices import Route
from symshuffle.engines.confirm.front import Confirmation, recompute, recompute_laplace

__all__ = ["Confirmation", "Route", "recompute", "recompute_laplace"]
