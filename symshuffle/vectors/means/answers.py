"""What an estimated mean answers: the mechanisms that meet a target, the estimate, and how far off it was."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeAlias, final

from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.base.choices import EVALUATED, SafeEnd
from symshuffle.base.results import AnswerMethods, Bracket, FirstLines, at_target, safe_number
from symshuffle.vectors.calibration.search import FREE
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    PrivUnit,
    SphereLinear,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float64]

Certifiable: TypeAlias = BlanketMixedGaussian | SphereLinear | PrivUnit | ClippedLinear


@final
@dataclass(frozen=True, slots=True)
class CalibratedMechanism:
    """A mechanism that meets a target.

    - ``mechanism``: with its parameters, exact decimals.
    - ``rmse``: root of its exact worst-case mean squared error over nd: per coordinate.
    """

    name: str
    mechanism: Certifiable
    rmse: Bracket
    delta: Bracket

    @property
    def parameters(self) -> dict[str, Fraction]:
        """The parameters by name."""
        return {name: getattr(self.mechanism, name) for name in FREE[type(self.mechanism)]}

    def to_dict(self) -> dict[str, Any]:
        """The candidate as plain data."""
        return {
            "mechanism": self.name,
            "parameters": {name: str(value) for name, value in self.parameters.items()},
            "rmse": self.rmse.decimals(),
            "delta": self.delta.decimals(),
        }


@final
@dataclass(frozen=True, slots=True, repr=False, eq=False)
class PrivateMean(AnswerMethods):
    r"""A mean estimated from simulated shuffled messages, and how far off it was and may be.

    ``float`` returns the upper end of the error, rounded up.

    All errors are roots of squared errors per coordinate: :math:`|\hat\mu-\mu|/\sqrt d` and its mean square.

    - ``mean``: the true mean, which the analyzer does not see.
    - ``bracket``: the exact worst-case error over all data of the unit ball: ``chosen.rmse``.
    - ``expected``: the exact root mean square of the error on this very data.
    - ``refused``: mechanisms that could not be certified, and why.
    - ``neighbours``: the pairs of datasets that cannot be told apart.
    - ``hint``: how to reduce the error of vectors without negative, or without positive, coordinates; None for others.
    """

    estimate: Vectors
    mean: Vectors
    chosen: CalibratedMechanism
    bracket: Bracket
    expected: float
    measured: float
    central: float
    n: int
    candidates: tuple[CalibratedMechanism, ...]
    refused: tuple[tuple[str, str], ...]
    about: str
    neighbours: Neighbours
    target: str = ""
    hint: str | None = None

    @property
    def lines(self) -> FirstLines:
        """First lines of the answer: error and delta, protected users, assumptions, evidence."""
        delta = at_target(safe_number(self.chosen.delta, "upper"), self.target)
        number = f"{safe_number(self.bracket, self.safe)}; delta {delta}"
        return self.neighbours.lines("rmse", number, EVALUATED[self.chosen.delta.arithmetic])

    @property
    def dimension(self) -> int:
        """Length of the vectors."""
        return len(self.mean)

    @property
    def safe(self) -> SafeEnd:
        """An error is overstated safely."""
        return "upper"

    def to_dict(self) -> dict[str, Any]:
        """The answer as plain data, the estimate included."""
        return AnswerMethods.to_dict(self) | {
            "n": self.n,
            "dimension": self.dimension,
            "measured_rmse": self.measured,
            "expected_rmse": self.expected,
            "worst_case_rmse": self.bracket.decimals(),
            "central_gaussian_rmse": self.central,
            "chosen": self.chosen.to_dict(),
            "candidates": [candidate.to_dict() for candidate in self.candidates],
            "refused": dict(self.refused),
            "hint": self.hint,
            "estimate": self.estimate.tolist(),
        }
