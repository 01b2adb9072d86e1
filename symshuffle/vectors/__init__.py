"""Mechanisms for vectors of the unit ball: how well they hide (indices) and how well they estimate (risks)."""

from __future__ import annotations

from symshuffle.vectors.mechanisms import (
    BlanketMixedGaussian,
    CentralGaussian,
    LocalGaussian,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
    VectorMechanism,
)

__all__ = [
    "BlanketMixedGaussian",
    "CentralGaussian",
    "LocalGaussian",
    "LocalLaplace",
    "PrivUnit",
    "SphereLinear",
    "VectorMechanism",
]
