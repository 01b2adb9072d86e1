"""A composition with its total budget: what can be asked about. Light, so that asking loads no SymPy by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

if TYPE_CHECKING:
    from symshuffle.decompositions.composition import Composition
    from symshuffle.numbers import Real


@final
@dataclass(frozen=True, slots=True)
class Composed:
    """A composition with its total budget; ``Composition.at`` makes one from ``eps0`` or ``lam``.

    Parameters
    ----------
    composition : Composition
        The tree, every parameter of its leaves fixed except ``lam``.
    lam : Real or None
        Total ratio cap; None where no leaf has a budget.
    """

    composition: Composition
    lam: Real | None
