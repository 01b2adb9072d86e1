"""A decomposition as the texts that are shown: derived by algebra, or counted at some values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, final

from symshuffle.decompositions.cells import counted_cells
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.decompositions.model import first_lines
from symshuffle.decompositions.quotient_texts import OpenQuotient, QuotientTexts
from symshuffle.mechanisms.tables import array

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


def shown_at(asked: ClosedForm) -> ShownDecomposition:
    """The texts of a named mechanism at values of some of its parameters, counted.

    Components that have no weight at these values are left out.
    """
    name = asked.name
    reader = QuotientTexts(asked.numbers, asked.lam, root=name == "rappor")
    x, unit = reader.read("x"), reader.number(1)
    parameters = [parameter.name for parameter in asked.parameters]
    lines = counted_cells(reader.classes(name, parameters), reader.read(asked.form["inputs"]), "blanket")
    weights = [[unit * weight for weight in line[:3]] for line in lines]
    (_, _, beta), known = weights[-1], [i for i, cell in enumerate(weights[:-1]) if any(cell)]
    atoms: dict[OpenQuotient, OpenQuotient] = {}
    outside: list[str] = []
    for i in known:
        (a, b, c), powers = weights[i], lines[i].ratios
        if powers is not None:
            seen = [reader.number(0) if j is None else reader.read("lam") ** j if j else unit for j in powers]
            value = seen[0] - x * seen[1]
            atoms[value] = atoms[value] + c if value in atoms else c
        if not c and a:
            outside.append(f"Max(0, {a - x * b})" if b else str(a))
    if beta:
        atoms[reader.number(0)] = beta
    shown = [(f"Q_{{{j}}}", *(weight.latex() for weight in weights[i])) for j, i in enumerate(known, start=1)]
    return ShownDecomposition(
        name,
        asked.form["row"]["title"],
        asked.pairs,
        asked.arguments,
        [[*row] for row in first_lines(str(unit - beta), asked.title, asked.pairs, asked.ranges).rows],
        [[*map(str, weights[i])] for i in known],
        str(beta),
        str(unit - beta),
        " + ".join(outside) or "0",
        [[str(value), str(mass)] for value, mass in atoms.items()],
        array(("", "a", "b", "c"), [*shown, (r"\text{left-over}", "0", "0", beta.latex())]),
    )
