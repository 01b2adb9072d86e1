"""Statements of our own: the dimensions in which one mechanism becomes better than another at one lower index."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from typing import Final

import numpy as np

from symshuffle.base.numbers import Ball
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import Claim, Clause, Control, Statement, by_cases
from symshuffle.vectors.error.compare import contenders, privunit_error, sphere_linear_error

_ORDER: Final = {
    (10, "Gaussian", "linear density"): 8,
    (10, "mixed Gaussian", "Gaussian"): 12,
    (10, "PrivUnit", "linear density"): 30,
    (100, "Gaussian", "linear density"): 30,
    (100, "mixed Gaussian", "Gaussian"): 50,
    (100, "PrivUnit", "linear density"): 2167,
}


def _first(chi: int, then: str, first: str) -> int:
    """The dimension in which ``then`` becomes better than ``first``."""
    return _ORDER[chi, then, first]


@cache
def _errors(chi: int, d: int, then: str) -> dict[str, Ball]:
    """Errors of the contenders at an index in a dimension."""
    if then == "PrivUnit":
        index = Fraction(chi)
        return {"PrivUnit": privunit_error(index, d), "linear density": sphere_linear_error(index, d)}
    return {name: Ball(error.lower, error.upper) for name, error in contenders(chi, d).items()}


def _check_order(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Six crossings, each at the stated dimension and the one before: which of two mechanisms errs less, in balls.

    The clipped density, where it contends, is better than both.
    """
    for chi, then, first in _ORDER:
        here = statement(chi, then, first)
        for d, relation in ((here - 1, ">"), (here, "<")):
            errors = _errors(chi, d, then)
            yield compare(errors[then], errors[first], relation, at=f"chi = {chi}, d = {d}: {then} against {first}")
            best = errors.get("clipped linear density")
            if best is not None:
                yield compare(best, errors[then], "<", at=f"chi = {chi}, d = {d}: clipped density against {then}")


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-takeover-order",
        kind="statement",
        title="the dimensions at which the other mechanisms take over",
        text=(
            Clause(
                "ten",
                "At index 10 the Gaussian (largest blanket) passes the linear density in dimension 8, the mixed "
                "Gaussian (own blanket) passes the Gaussian in 12, PrivUnit passes the linear density in 30.",
            ),
            Clause("hundred", "At index 100 these dimensions are 30, 50 and 2167."),
            Clause("clipped", "At the first two the clipped density is better than all."),
        ),
        source="our own; the catalogue's eighth item beyond the paper",
        assumptions=("inputs of the ball",),
        scope="two indices, three crossings each, the two dimensions of each crossing, in balls",
        grade="certified",
        printed=_first,
        check=_check_order,
        controls=(Control("one dimension later", lambda *a: _first(*a) + 1),),
        expected="holds",
        obligations=by_cases("chi", clause=("ten", "hundred", "clipped")),
    ),
)
