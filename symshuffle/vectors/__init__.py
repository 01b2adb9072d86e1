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
    from symshuffle.vectors.calibration import calibrate
    from symshuffle.vectors.compare import contenders, takeover
    from symshuffle.vectors.indices import shuffle_index
    from symshuffle.vectors.means import private_mean
    from symshuffle.vectors.risk import err1, errn, hcr_bound
    from symshuffle.vectors.sampling import estimate, sample

_FIRST_USE = {
    "calibrate": "calibration",
    "contenders": "compare",
    "err1": "risk",
    "errn": "risk",
    "estimate": "sampling",
    "hcr_bound": "risk",
    "private_mean": "means",
    "sample": "sampling",
    "shuffle_index": "indices",
    "takeover": "compare",
}
"""What loads with its first use, and the module that has it: accounting and engines are heavy."""

__all__ = [
    "BlanketMixedGaussian",
    "CentralGaussian",
    "ClippedLinear",
    "LocalGaussian",
    "LocalLaplace",
    "PrivUnit",
    "SphereLinear",
    "VectorMechanism",
    "calibrate",
    "contenders",
    "err1",
    "errn",
    "estimate",
    "hcr_bound",
    "private_mean",
    "sample",
    "shuffle_index",
    "takeover",
]


def __getattr__(name: str) -> Any:
    """Functions load with their first use."""
    if name not in _FIRST_USE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"{__name__}.{_FIRST_USE[name]}"), name)
