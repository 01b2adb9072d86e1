r"""Real neighbouring datasets whose shuffled divergence is one number of the same kind: constant backgrounds.

If all other users hold the same input :math:`x_2`, then :math:`D(M(X_0)\Vert M(X_1))` is exactly
:math:`\frac1n E[(\sum G_i)_+]` with :math:`A_2=R(x_2)` (decomposition, Theorem 14): no left-over, no loss. Every such
value is a lower bound on the privacy of the mechanism, attained by datasets that can be written down.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import final

import sympy as sp

from symshuffle.decompositions.symbolic import Cell, SymbolicDecomposition, merge_into, specialised
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass
from symshuffle.mechanisms.symbolic import normal_form, positive
from symshuffle.numbers import Verdict


@final
@dataclass(frozen=True, slots=True)
class ConstantBackground:
    """A pair of datasets that differ in one user while all others hold one and the same input.

    Parameters
    ----------
    others : str
        Which input the others hold: ``third`` (distinct from both), ``second`` or ``first`` of the pair.
    cells : SymbolicDecomposition
        The exact decomposition of the shuffled pair; it has no left-over.
    """

    others: str
    cells: SymbolicDecomposition

    def datasets(self, n: int) -> str:
        """The two datasets in words, for inputs called 0, 1, 2."""
        held = {"first": 0, "second": 1, "third": 2}[self.others]
        return f"X0 = (0, {held} x {n - 1}), X1 = (1, {held} x {n - 1}), inputs named 0, 1, 2"


def constant_backgrounds(mechanism: Mechanism) -> Iterator[ConstantBackground]:
    """The constant backgrounds that the mechanism's description reaches, the one expected to be worst first.

    A third input needs classes that can count the states of triples of inputs, and at least three inputs.
    """
    mechanism = mechanism.with_defaults()
    for others in ("third", "second", "first") if reaches(mechanism) else ("second", "first"):
        yield ConstantBackground(others, background_cells(mechanism, others))


def reaches(mechanism: Mechanism) -> bool:
    """Whether the mechanism has a third input and can count the states of triples of inputs."""
    known = all(c.size == 0 or c.triples(mechanism.inputs) is not None for c in mechanism.classes)
    return known and positive(mechanism.inputs - 2, mechanism.chart) is Verdict.TRUE


def background_cells(mechanism: Mechanism, others: str, *, differs: bool = True) -> SymbolicDecomposition:
    """The exact decomposition of a pair of inputs over a constant background.

    Parameters
    ----------
    mechanism : Mechanism
        With defaults put in.
    others : {"third", "second", "first"}
        Which input the other users hold. For a pair of equal inputs ``third`` is a different input and the other two
        are the common one.
    differs : bool
        Whether the two inputs of the pair differ.
    """
    return specialised(mechanism, lambda general: _derive(general, others, differs))


@cache
def _derive(mechanism: Mechanism, others: str, differs: bool) -> SymbolicDecomposition:
    cells: list[Cell] = []
    for output_class in mechanism.classes:
        for *weights, count in _outputs(output_class, mechanism.inputs, others, differs):
            if normal_form(count) != 0:
                merge_into(cells, Cell.of(*(normal_form(count * weight) for weight in weights)))
    return SymbolicDecomposition(mechanism, tuple(cells), sp.Integer(0))


def _outputs(
    output_class: OutputClass, inputs: sp.Expr, others: str, differs: bool
) -> Iterator[tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]]:
    """Probabilities at both inputs of the pair and at the background, with the number of outputs that show them."""
    if not differs:
        if others == "third":
            for first, third, count in output_class.pairs(inputs):
                yield first.probability, first.probability, third.probability, count
        else:
            for only, count in output_class.singles(inputs):
                yield only.probability, only.probability, only.probability, count
        return
    if others == "third":
        for first, second, third, count in output_class.triples(inputs) or ():
            yield first.probability, second.probability, third.probability, count
        return
    for first, second, count in output_class.pairs(inputs):
        held = first if others == "first" else second
        yield first.probability, second.probability, held.probability, count
