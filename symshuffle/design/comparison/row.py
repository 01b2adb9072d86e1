"""A row of a comparison: one mechanism at the match, with what it costs and what it says."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.accountants.bounds.answers import Attained
from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.base.choices import Arithmetic
from symshuffle.base.numbers import Ball, Number, exact_text, format_decimal, lower_end, upper_end
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.search import Parameters

MARK: Final = "!"
"""Marks a risk above that of the answer ``uniform``."""

INFINITE: Final = "infinite"


def bracket_of(value: Number, evaluation: str) -> Bracket:
    """An exact number, or a ball, as a bracket."""
    arithmetic = Arithmetic.BALL if isinstance(value, Ball) else Arithmetic.EXACT
    return Bracket(lower_end(value), upper_end(value), arithmetic, "closed form", evaluation)


@final
@dataclass(frozen=True, slots=True)
class Row:
    """A mechanism at the match.

    - ``name``, ``title``: as in the registry; ``thinned`` before it where a null symbol was added.
    - ``parameters``: the free parameters, as chosen; the size last where it is not k.
    - ``eps0``: local level: the logarithm of the largest likelihood ratio.
    - ``risk``: exact squared error for a fixed composition, the same at every one, so that the worst and the uniform
      agree; None where it is infinite.
    - ``bitwise_risk``: risk of debiasing every bit by itself, which is what is usually run on strings of bits.
    - ``worse_than_uniform``: whether the risk is certainly above 1 - 1/k, which the answer ``uniform`` never exceeds.
    - ``privacy``: whom eps covers, or why there is none.
    - ``over_bounds``: risk of i.i.d. users over lower bounds on it, by name: at least 1 where the bound holds for
      this estimator.
    - ``bits``: bits of a message: they name its output, or of local hashing a function and a value, as a plan does.
    - ``floor``: no choice of the free parameters at this match certainly has a risk below it; None where none is
      known.
    - ``loss``: the error by which rows are sorted; None where it is infinite.
    - ``neighbours``: the pairs of datasets that ``epsilon`` covers.
    """

    name: str
    title: str
    parameters: Parameters
    eps0: Bracket
    chi_square: Bracket | None = None
    trace: Bracket | None = None
    risk: Bracket | None = None
    iid_risk: Bracket | None = None
    variance: Bracket | None = None
    estimator: str = ""
    bitwise_risk: Bracket | None = None
    reason: str = ""
    worse_than_uniform: bool = False
    epsilon: Bracket | None = None
    attained: Attained | None = None
    privacy: str = "no delta was given"
    over_bounds: tuple[tuple[str, Bracket], ...] = ()
    bits: int = 0
    floor: Fraction | None = None
    choice: str = "no free parameters"
    loss: Bracket | None = None
    worst: str = ""
    neighbours: Neighbours | None = None
    excess: str = ""
    rounding: str = ""

    @property
    def order(self) -> tuple[bool, Fraction, bool, Fraction]:
        """Smaller loss first; ties by eps, then what has none."""
        risk, eps = self.loss, self.epsilon
        return (
            risk is None,
            Fraction(0) if risk is None else risk.upper,
            eps is None,
            Fraction(0) if eps is None else eps.upper,
        )

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready; null where there is no number, and ``risk`` is the text ``infinite`` where it is."""
        infinite = INFINITE if self.risk is None else None
        return {
            "mechanism": self.name,
            "title": self.title,
            "parameters": {name: value if isinstance(value, int) else str(value) for name, value in self.parameters},
            "eps0": _ends(self.eps0),
            "epsilon": _ends(self.epsilon),
            "attained_lower": None if self.attained is None else format_decimal(self.attained.lower, up=False),
            "attained_by": None if self.attained is None else self.attained.datasets,
            "privacy": self.privacy,
            "chi_square": _ends(self.chi_square),
            "trace": _ends(self.trace),
            "risk": infinite or _ends(self.risk),
            "uniform_risk": infinite or _ends(self.risk),
            "iid_risk": infinite or _ends(self.iid_risk),
            "largest_coordinate_variance": infinite or _ends(self.variance),
            "estimator": self.estimator or None,
            "bitwise_risk": _ends(self.bitwise_risk),
            "reason": self.reason or None,
            "worse_than_uniform": self.worse_than_uniform,
            "iid_risk_over": {name: _ends(ratio) for name, ratio in self.over_bounds},
            "bits_per_message": self.bits,
            "risk_floor": None if self.floor is None else format_decimal(self.floor, up=False),
            "choice": self.choice,
            "loss": infinite or _ends(self.loss),
            "loss_worst_at": self.worst or None,
            "excess": self.excess or None,
            "matrix": self.rounding or None,
        }

    @property
    def over_any(self) -> tuple[Bracket, ...]:
        """Risk over the lower bounds that hold for every estimator, biased ones included."""
        return tuple(ratio for name, ratio in self.over_bounds if name != BOUNDS[0])

    def cells(self) -> dict[str, str]:
        """The row as short texts: upper ends, and what is attained rounded down."""
        values = ", ".join(f"{name}={_brief(value)}" for name, value in self.parameters)
        return {
            "mechanism": f"{self.name} {values}".strip(),
            "eps0": _short(self.eps0),
            "eps": _short(self.epsilon),
            "attained": "" if self.attained is None else format_decimal(self.attained.lower, digits=4, up=False),
            "chi2": _short(self.chi_square),
            "trace": _short(self.trace),
            "risk": (_short(self.risk) if self.risk else INFINITE) + (f" {MARK}" if self.worse_than_uniform else ""),
            "variance": _short(self.variance) if self.variance else INFINITE,
            "loss": "" if self.loss in (None, self.risk, self.variance) else _short(self.loss),
            "risk/bound": _short(min(self.over_any, key=lambda ratio: ratio.upper, default=None)),
            "bits": str(self.bits),
        }


BOUNDS: Final = ("near-vertex", "two-regime", "sharp cube", "corner van Trees", "trace van Trees")
"""Lower bounds that a risk is divided by."""


def _ends(bracket: Bracket | None) -> dict[str, Any] | None:
    if bracket is None:
        return None
    exact = bracket.exact
    return {
        "lower": format_decimal(bracket.lower, up=False),
        "upper": format_decimal(bracket.upper, up=True),
        "exact": None if exact is None or len(exact_text(exact)) > 200 else exact_text(exact),
        "arithmetic": bracket.arithmetic.value,
    }


def _short(bracket: Bracket | None) -> str:
    return "" if bracket is None else format_decimal(bracket.upper, digits=4, up=True)


def _brief(value: int | Fraction) -> str:
    return str(value) if isinstance(value, int) or value.denominator < 1000 else f"{float(value):.4g}"
