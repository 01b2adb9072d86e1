r"""Laws on given templates: the extreme ones, and the best one for an objective that is linear in the law.

Every utility of a channel that sums over its outputs is linear in the law of templates: :math:`\sum_j\mu_jf(u_j)` for
any function ``f`` of the template, such as its signal, its budget, or the gain of a decision rule. On given templates
the best law is a linear program with one row per input.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.choices import Rigour
from symshuffle.base.errors import CertificateError, InputError, SolverFailure, Unsupported
from symshuffle.base.lp import LinearProgram, Sense
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd, check_claim, well_formed
from symshuffle.geometry.linprog import solve
from symshuffle.utility.anchored.law import AnchoredLaw, check_template
from symshuffle.utility.anchored.linear import Vector, dot, inverse, rank, transpose

LARGEST_SEARCH: Final = 200_000
"""Sets of templates beyond which the extreme laws are not listed."""


def extreme_laws(templates: Sequence[Sequence[Fraction]]) -> Iterator[AnchoredLaw]:
    """All extreme laws on given templates: those on affinely independent ones, each with its only weights.

    Raises
    ------
    Unsupported
        If more than 200 000 sets of templates would be tried: ask for the best law for an objective.

    Examples
    --------
    >>> points = [(Fraction(a), Fraction(2 - a)) for a in (0, 1, 2)]
    >>> [len(law.templates) for law in extreme_laws(points)]
    [1, 2]

    Notes
    -----
    anchored, Theorem C.1 and Corollary C.2.
    """
    known = _checked(templates)
    k = len(known[0])
    count = sum(math.comb(len(known), size) for size in range(1, k + 1))
    if count > LARGEST_SEARCH:
        raise Unsupported(f"{count} sets of at most {k} of {len(known)} templates (limit {LARGEST_SEARCH}): best_law")
    for size in range(1, k + 1):
        for chosen in itertools.combinations(known, size):
            weights = _only_weights(chosen)
            if weights is not None:
                yield AnchoredLaw.from_atoms(zip(chosen, weights, strict=True))


def _checked(templates: Sequence[Sequence[Fraction]]) -> list[Vector]:
    found: list[Vector] = []
    for u in templates:
        point = tuple(Fraction(entry) for entry in u)
        check_template(point)
        if found and len(point) != len(found[0]):
            raise InputError("templates", f"{len(point)} entries", f"{len(found[0])}, as the first one")
        found.append(point)
    if not found:
        raise InputError("templates", "none", "at least one template")
    return list(dict.fromkeys(found))


def _only_weights(chosen: Sequence[Vector]) -> Vector | None:
    """The positive weights with mean 1 on independent templates, if there are any."""
    if rank(chosen) < len(chosen):
        return None
    gram = inverse([[dot(u, v) for v in chosen] for u in chosen])
    assert gram is not None  # independent templates have a regular Gram matrix
    sums = [sum(u, start=Fraction(0)) for u in chosen]
    weights = tuple(dot(row, sums) for row in gram)
    hit = all(dot(weights, column) == 1 for column in transpose(chosen))
    return weights if hit and min(weights) > 0 else None


@final
@dataclass(frozen=True, slots=True, repr=False)
class BestLaw(AnswerMethods):
    r"""The best law on given templates for an objective: a :class:`~symshuffle.base.results.Certified` answer.

    Parameters
    ----------
    templates : tuple of Vector
        Where the law may live.
    gains : tuple of Fraction
        What mass on each of them is worth.
    law : AnchoredLaw
        The best law; it is extreme.
    prices : tuple of Fraction
        A vector :math:`z` with :math:`g_j\le z\cdot u_j` at every template; no law is worth more than the sum of it.
    value : Bracket
        The optimum.
    """

    templates: tuple[Vector, ...]
    gains: tuple[Fraction, ...]
    law: AnchoredLaw
    prices: tuple[Fraction, ...]
    value: Bracket

    @property
    def bracket(self) -> Bracket:
        """The optimum."""
        return self.value

    @property
    def about(self) -> str:
        """What the number is the largest of."""
        return f"largest mean of an objective over all laws on {len(self.templates)} templates"

    @property
    def safe(self) -> SafeEnd:
        """The lower end: the law shown attains it."""
        return SafeEnd.LOWER

    @well_formed()
    def verify(self) -> None:
        """Check the law and the prices against templates and gains.

        Raises
        ------
        CertificateError
            At ``law`` (a template that was not given), ``prices`` (a template worth more than its price) or ``value``.
        """
        worth = dict(zip(self.templates, self.gains, strict=True))
        for u in self.law.templates:
            if u not in worth:
                raise CertificateError("law", f"{tuple(map(str, u))} is none of the templates")
        for u, gain in worth.items():
            if gain > dot(self.prices, u):
                raise CertificateError("prices", f"the template {tuple(map(str, u))} is worth {gain}")
        attained = sum((weight * worth[u] for u, weight in self.law.template.atoms()), start=Fraction(0))
        bound = sum(self.prices, start=Fraction(0))
        check_claim(self.value, Bracket(attained, bound, Rigour.EXACT, "lp", "law and prices"), "value")

    def to_dict(self) -> dict[str, Any]:
        """The answer with its law and its prices; rationals are strings."""
        law = [{"template": [str(a) for a in u], "weight": str(w)} for u, w in self.law.template.atoms()]
        return AnswerMethods.to_dict(self) | {"law": law, "prices": [str(z) for z in self.prices]}


def best_law(templates: Sequence[Sequence[Fraction]], objective: Callable[[Vector], Fraction]) -> BestLaw:
    r"""The law on given templates with the largest mean of an objective.

    Parameters
    ----------
    templates : sequence of sequence of Fraction
        Where the law may live, such as :func:`symshuffle.utility.frontiers.caps.extreme_templates`.
    objective : callable
        From a template to what mass on it is worth, such as :func:`symshuffle.utility.anchored.template_signal`.

    Raises
    ------
    InputError
        If no law lives on the templates: 1 is not in their convex hull.

    Examples
    --------
    >>> from symshuffle.utility.anchored import template_signal
    >>> from symshuffle.utility.frontiers.caps import extreme_templates, raw_cap_trace
    >>> best_law(extreme_templates(4, Fraction(3)), template_signal).value.exact == raw_cap_trace(4, Fraction(3))
    True
    """
    known = _checked(templates)
    k = len(known[0])
    gains = tuple(Fraction(objective(u)) for u in known)
    columns = tuple(tuple((i, entry) for i, entry in enumerate(u) if entry) for u in known)
    program = LinearProgram(tuple(-g for g in gains), columns, (Sense.EQ,) * k, (Fraction(1),) * k)
    try:
        solution = solve(program)
    except SolverFailure:
        raise InputError("templates", f"{len(known)} templates", "templates with 1 in their convex hull") from None
    law = AnchoredLaw.from_atoms((known[j], weight) for j, weight in solution.certificate.primal)
    value = Bracket(-solution.value.upper, -solution.value.lower, Rigour.EXACT, "lp", solution.value.how)
    return BestLaw(tuple(known), gains, law, tuple(-y for y in solution.certificate.dual), value)
