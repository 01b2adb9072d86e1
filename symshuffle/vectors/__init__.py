"""Mechanisms for vectors of the unit ball: how well they hide (indices) and how well they estimate (risks)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from symshuffle.vectors import reduction as _reduction  # noqa: F401  # registers how they come to the front doors
from symshuffle.vectors.mechanisms import (
    BlanketMixedGaussian,
    CentralGaussian,
    ClippedLinear,
    LocalGaussian,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
    VectorMechanism,
)

if TYPE_CHECKING:
    from symshuffle.vectors.means import private_mean

__all__ = [
    "BlanketMixedGaussian",
    "CentralGaussian",
    "ClippedLinear",
    "LocalGaussian",
    "LocalLaplace",
    "PrivUnit",
    "SphereLinear",
    "VectorMechanism",
    "private_mean",
]


def __getattr__(name: str) -> Any:
    """Accounting and engines load with the first use of :func:`private_mean`."""
    if name != "private_mean":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from symshuffle.vectors.means import private_mean

    return private_mean
