"""Relative widths of answers about several batches of messages that are aimed at where none is asked for."""

from __future__ import annotations

from typing import Final

WIDTH_OF_EPS: Final = 1e-3
"""Of eps: a tenth of it takes three times as many levels."""

WIDTH_OF_DELTA: Final = 1e-2
"""Of delta, which moves by a few dozen times what eps moves."""
