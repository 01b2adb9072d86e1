"""The largest risk of the canonical estimator over all compositions, as an answer: exact, or enclosed in balls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, final

from symshuffle.base.choices import Population, Rigour, choice
from symshuffle.base.errors import InputError
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd
from symshuffle.geometry.linear import Vector, dot
from symshuffle.utility.anchored.enclosed import EnclosedLaw
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import check_users, project_on_simplex, vote_sizes


@final
@dataclass(frozen=True, slots=True, repr=False)
class WorstRisk(AnswerMethods):
    """The largest expected squared error of the canonical estimator; its safe end is the upper one.

    - ``bracket``: the risk: exact for a rational law, otherwise enclosed.
    """

    safe: ClassVar[SafeEnd] = SafeEnd.UPPER
    bracket: Bracket
    composition: Vector
    n: int
    population: Population

    @property
    def about(self) -> str:
        """Which risk it is."""
        how = "i.i.d. users" if self.population is Population.IID else "a fixed composition"
        return f"largest canonical risk over all compositions, n = {self.n}, {how}"

    def to_dict(self) -> dict[str, Any]:
        """The answer with the composition."""
        where = {"composition": [str(entry) for entry in self.composition], "population": self.population.value}
        return AnswerMethods.to_dict(self) | where | {"n": self.n}


def worst_risk(law: AnchoredLaw | EnclosedLaw, *, n: int, population: Population | str) -> WorstRisk:
    r"""The largest canonical risk of a law at any level.

    The definition is that of :func:`~symshuffle.utility.estimation.canonical.canonical_risk`.

    With :math:`s_i=E_{W_i}|c(u)|^2` the risk at :math:`w` increases with every :math:`s_i`, so the worst cases at the
    lower and at the upper ends of the balls enclose it.

    Examples
    --------
    >>> from symshuffle.utility.anchored import template_law
    >>> from symshuffle.mechanisms.finite import krr
    >>> law = template_law(krr().at(k=3, lam=Fraction(4)).channel())
    >>> worst_risk(law, n=10, population=Population.IID).bracket.exact
    Fraction(4, 15)

    anchored, Propositions 5.5 and 5.7.
    """
    population = choice(Population, population, "population")
    n = check_users(n)
    sizes = vote_sizes(law) if isinstance(law, AnchoredLaw) else law.vote_sizes()
    if sizes is None:
        raise InputError(
            "law", "a singular covariance", "rows that span all contrasts (the canonical risk is infinite)"
        )
    how = "affine in the composition" if population is Population.FIXED else "concave quadratic in the composition"
    exact = [size for size in sizes if isinstance(size, Fraction)]
    if len(exact) == len(sizes):
        value, w = _worst(exact, n, population)
        return WorstRisk(Bracket(value, value, Rigour.EXACT, "closed form", how), w, n, population)
    balls = [size for size in sizes if not isinstance(size, Fraction)]
    lower, _ = _worst([ball.lower for ball in balls], n, population)
    upper, _ = _worst([ball.upper for ball in balls], n, population)
    _, w = _worst([ball.midpoint for ball in balls], n, population)
    return WorstRisk(Bracket(lower, upper, Rigour.BALL, "closed form", how), w, n, population)


def _worst(sizes: Sequence[Fraction], n: int, population: Population) -> tuple[Fraction, Vector]:
    k = len(sizes)
    share = Fraction(1, k)
    if population is Population.FIXED:
        i = max(range(k), key=lambda x: sizes[x])
        return (sizes[i] - (1 - share)) / n, tuple(Fraction(int(x == i)) for x in range(k))
    w = project_on_simplex([size / 2 for size in sizes])
    return (dot(w, sizes) - dot(w, w) + share) / n, w
