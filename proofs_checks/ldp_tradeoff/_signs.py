"""Signs of rational functions on a region, by their coefficients: a proof that checks of this paper share."""

from __future__ import annotations

from collections.abc import Sequence

import sympy as sp

from symshuffle.base.numbers import Verdict


def nonnegative_by_coefficients(
    expression: sp.Expr, region: dict[sp.Symbol, sp.Expr], positive: Sequence[sp.Symbol]
) -> Verdict:
    """Whether a rational function is non-negative on a region, the image of positive parameters.

    It is decided where, after the substitution, numerator and denominator have coefficients of one sign each: equal
    signs are a proof, opposite ones a refutation, and mixed coefficients settle nothing.
    """
    numerator, denominator = sp.fraction(sp.together(sp.sympify(expression).subs(region)))
    signs = []
    for part in (sp.expand(numerator), sp.expand(denominator)):
        if part == 0:
            return Verdict.TRUE
        found = {sp.sign(c) for c in sp.Poly(part, *positive).coeffs()}
        if len(found) != 1:
            return Verdict.UNDECIDED
        signs.append(found.pop())
    return Verdict.of(bool(signs[0] == signs[1]))
