"""The normal form of a rational function in roots of ``lam``."""

from __future__ import annotations

import math

import sympy as sp

from symshuffle.mechanisms.symbolic.constants import LAM


def normal_form(expression: sp.Expr) -> sp.Expr:
    """A rational function in lowest terms, with ratios of factorials and binomials resolved where that is possible.

    Roots of ``lam`` count as variables: the form is rational in the finest root that occurs.
    """
    expression = sp.sympify(expression)
    if expression.has(sp.binomial, sp.factorial, sp.gamma, sp.FallingFactorial, sp.RisingFactorial):
        expression = sp.gammasimp(expression.rewrite(sp.gamma))
    order = root_order(expression)
    if order == 1:
        return sp.cancel(sp.together(expression))
    root = sp.Dummy("t", positive=True)
    return sp.cancel(sp.together(expression.subs(LAM, root**order))).subs(root, LAM ** sp.Rational(1, order))


def root_order(expression: sp.Expr) -> int:
    """The smallest q for which the expression contains only powers of ``lam**(1/q)``."""
    powers = (power.exp for power in expression.atoms(sp.Pow) if power.base == LAM)
    return math.lcm(1, *(int(exponent.q) for exponent in powers if exponent.is_Rational))
