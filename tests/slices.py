"""A seeded slice of the rows of a product, each of which shows the same: `make conformance` runs the others."""

import random
from collections.abc import Iterable
from typing import Any

import pytest


def some(rows: Iterable[Any], count: int) -> list[Any]:
    """All rows; those beyond the slice are marked."""
    whole = list(rows)
    kept = random.Random(20261121).sample(range(len(whole)), count)
    return [row if i in kept else marked(row) for i, row in enumerate(whole)]


def marked(row: Any) -> Any:
    return pytest.param(*(row if isinstance(row, tuple) else (row,)), marks=pytest.mark.conformance)
