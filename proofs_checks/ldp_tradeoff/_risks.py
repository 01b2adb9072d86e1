"""Arguments about rules and risks for any numbers of parameters, inputs, outputs and actions.

Risks are the diagonal of model times channel times rule times loss: parameters, inputs, outputs, actions.
"""

from __future__ import annotations

import sympy as sp


def composed_rules() -> bool:
    """Whether a rule behind a post-processed channel has the risks of a rule behind the channel itself."""
    t, x, y, z, a = sp.symbols("t x y z a", integer=True, positive=True)
    model, channel, kernel = sp.MatrixSymbol("P", t, x), sp.MatrixSymbol("Q", x, y), sp.MatrixSymbol("W", y, z)
    rule, loss = sp.MatrixSymbol("D", z, a), sp.MatrixSymbol("L", a, t)
    behind, composed = model * (channel * kernel) * rule * loss, model * channel * (kernel * rule) * loss
    return bool(behind.doit() == composed.doit())


def stacked_rules() -> bool:
    """Whether the risks of a stack are the averages of those of its parts, each with its own part of the rule."""
    t, x, y, z, a = sp.symbols("t x y z a", integer=True, positive=True)
    p, q = sp.symbols("p q", positive=True)
    model, loss = sp.MatrixSymbol("P", t, x), sp.MatrixSymbol("L", a, t)
    first, second = sp.MatrixSymbol("Q", x, y), sp.MatrixSymbol("R", x, z)
    rules = sp.MatrixSymbol("D", y, a), sp.MatrixSymbol("E", z, a)
    stack = sp.BlockMatrix([[p * first, q * second]]) * sp.BlockMatrix([[rules[0]], [rules[1]]])
    total = (model * sp.block_collapse(stack) * loss).expand().doit()
    parts = (p * model * first * rules[0] * loss + q * model * second * rules[1] * loss).doit()
    return bool(total == parts)


def carried_rules() -> bool:
    """Whether the rule carried along by g behind the channel carried along has the same risks at moved parameters.

    T, X, S and A permute parameters, inputs, outputs and actions. Invariance of model and loss: P = T P X^-1 and
    L = A L T^-1 (actions in rows).
    """
    t, x, y, a = sp.symbols("t x y a", integer=True, positive=True)
    model, channel = sp.MatrixSymbol("P", t, x), sp.MatrixSymbol("Q", x, y)
    rule, loss = sp.MatrixSymbol("D", y, a), sp.MatrixSymbol("L", a, t)
    of_parameters, of_inputs = sp.MatrixSymbol("T", t, t), sp.MatrixSymbol("X", x, x)
    of_outputs, of_actions = sp.MatrixSymbol("S", y, y), sp.MatrixSymbol("A", a, a)
    moved_model, moved_loss = of_parameters * model * of_inputs.inv(), of_actions * loss * of_parameters.inv()
    carried, ruled = of_inputs * channel * of_outputs.inv(), of_outputs * rule * of_actions.inv()
    risks = moved_model * carried * ruled * moved_loss
    return bool(risks.doit() == (of_parameters * model * channel * rule * loss * of_parameters.inv()).doit())


def best_of_parts() -> tuple[bool, bool]:
    """Whether the best average of a stack is that of its parts, and its best worst case at most the larger of theirs.

    A rule for the stack is a rule for each part. Averages over the prior exceed the infima r and s by some e, f >= 0,
    and rules for the parts make these as small as one likes. Where the first part has the larger worst case r, the
    risks at a parameter are at most r in both parts.
    """
    e, f, below, other = sp.symbols("e f h i", nonnegative=True)
    odds = sp.Symbol("o", positive=True)
    p = 1 / (1 + odds)
    first, second = sp.symbols("r s", real=True)
    excess = sp.factor(p * (first + e) + (1 - p) * (second + f) - (p * first + (1 - p) * second))
    additive = excess.is_nonnegative is True and excess.subs({e: 0, f: 0}) == 0
    slack = sp.factor(first - (p * (first - below) + (1 - p) * (first - other)))
    return additive, slack.is_nonnegative is True
