"""A decomposition as the texts that are shown: derived by algebra, or kept with the closed forms on file."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from symshuffle.decompositions.closed_forms import table

if TYPE_CHECKING:
    from symshuffle.mechanisms.model import Mechanism


@final
@dataclass(frozen=True, slots=True)
class ShownDecomposition:
    """The optimal decomposition of a mechanism in its open parameters, as texts.

    - ``beta``, ``gamma``, ``singular``: left-over, similarity, and singular mass; "0" where there is none.
    """

    name: str
    title: str
    pair: str
    inputs: dict[str, str]
    lines: list[list[str]]
    cells: list[list[str]]
    beta: str
    gamma: str
    singular: str
    law: list[list[str]]
    latex: str

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready answer."""
        return {
            "mechanism": self.name,
            "cells": [dict(zip("abc", cell, strict=True)) for cell in self.cells],
            "beta": self.beta,
            "gamma": self.gamma,
            "gparv": [{"value": value, "probability": mass} for value, mass in self.law],
            "singular": self.singular,
            "pair": self.pair,
            "inputs": self.inputs,
        }


def shown_decomposition(mechanism: Mechanism) -> ShownDecomposition:
    """The texts of a mechanism, derived."""
    from symshuffle.decompositions.symbolic import optimal_decomposition
    from symshuffle.mechanisms.display import text

    found = optimal_decomposition(mechanism, limits=False)
    return ShownDecomposition(
        mechanism.name,
        mechanism.title,
        str(mechanism.pair),
        {name: str(value) for name, value in mechanism.values},
        [[*map(str, row)] for row in found.lines.rows],
        [[text(c.a), text(c.b), text(c.c)] for c in found.cells],
        text(found.beta),
        text(found.gamma),
        text(found.singular()),
        [[text(value), text(mass)] for value, mass in found.gparv()],
        found.latex(),
    )


def shown_on_file(name: str) -> ShownDecomposition | None:
    """The texts of a named mechanism with all parameters open; None where they are not kept."""
    kept = table().get(name, {}).get("shown")
    return None if kept is None else ShownDecomposition(**kept)
