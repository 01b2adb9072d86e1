"""Signal and budget of a mechanism in closed form, read off its definition.

An output class (:mod:`symshuffle.mechanisms.model`) has one template up to rearrangement: state probabilities divided
by their average. Signal, budget and mass are finite sums over its states, with all parameters symbolic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import TypeAlias

import sympy as sp

from symshuffle.base.errors import Unsupported
from symshuffle.base.numbers import Verdict
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass
from symshuffle.mechanisms.symbolic import nonnegative, normal_form

TemplateClass: TypeAlias = "tuple[sp.Expr, tuple[tuple[sp.Expr, sp.Expr], ...]]"
"""Mass of an output class, and its template: numbers of coordinates with their values."""


def template_classes(mechanism: Mechanism) -> tuple[TemplateClass, ...]:
    """The template law of a mechanism, class by class."""
    found = (template_class(output_class, mechanism) for output_class in mechanism.classes)
    return tuple(one for one in found if one[0] != 0)


def template_class(output_class: OutputClass, mechanism: Mechanism) -> TemplateClass:
    """The templates of one class of a mechanism; mass 0 where none of its outputs occurs."""
    if not _one_template(output_class, mechanism.inputs):
        raise Unsupported(
            f"the outputs {output_class.name} of {mechanism.name} are not rearrangements of one template: use "
            "AnchoredLaw.from_channel(...), or estimation.votes"
        )
    average = sum(state.count * state.probability for state in output_class.states) / mechanism.inputs
    mass = normal_form(output_class.size * average)
    if mass == 0:
        return mass, ()
    return mass, tuple((state.count, normal_form(state.probability / average)) for state in output_class.states)


def _one_template(output_class: OutputClass, inputs: sp.Expr) -> bool:
    """Whether every output shows each state at the same number of inputs: that number has no variance."""
    if output_class.number is None or output_class.pair_counts is None:
        return True
    together = {first: count for first, second, count in output_class.pair_counts if first == second}
    return all(
        normal_form(
            together.get(i, sp.Integer(0)) * inputs * (inputs - 1) - output_class.size * state.count * (state.count - 1)
        )
        == 0
        for i, state in enumerate(output_class.states)
    )


def levels_signal(levels: Sequence[tuple[sp.Expr, sp.Expr]]) -> sp.Expr:
    r"""The signal :math:`S=\sum_i(u_i-1)^2` of a template given by its levels."""
    return normal_form(sum(count * (value - 1) ** 2 for count, value in levels))


def levels_budget(levels: Sequence[tuple[sp.Expr, sp.Expr]], inputs: sp.Expr) -> sp.Expr:
    r"""The budget :math:`B=(QR-k^2)/(k(k-1))` of a template given by its levels; infinite if a level is zero."""
    if any(value == 0 for _, value in levels):
        return sp.oo
    squares = sum(count * value**2 for count, value in levels)
    reciprocals = sum(count / value for count, value in levels)
    return normal_form((squares * reciprocals - inputs**2) / (inputs * (inputs - 1)))


def trace(mechanism: Mechanism) -> sp.Expr:
    r"""Trace of the covariance of a mechanism, in closed form.

    It is :math:`\operatorname{tr}\Sigma=E\sum_i(u_i-1)^2`.

    Parameters
    ----------
    mechanism : Mechanism
        With any of its parameters open.

    Returns
    -------
    sympy.Expr
        In the open parameters.

    Raises
    ------
    Unsupported
        If the templates of a class are not rearrangements of one.

    Notes
    -----
    anchored, Lemma 7.1 (i).

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> trace(randomizer("rr"))
    (2*lambda**2 - 4*lambda + 2)/(lambda**2 + 2*lambda + 1)
    """
    return normal_form(sum(mass * levels_signal(levels) for mass, levels in template_classes(mechanism)))


def pairwise_budget(mechanism: Mechanism) -> sp.Expr:
    r"""Chi-square divergence of two rows, common to all pairs of inputs.

    It is :math:`\chi^2(W_i\Vert W_j)` in closed form.

    Parameters
    ----------
    mechanism : Mechanism
        With any of its parameters open.

    Returns
    -------
    sympy.Expr
        In the open parameters.

    Raises
    ------
    Unsupported
        If the mechanism distinguishes pairs of inputs: the average over pairs is then not the largest.

    Notes
    -----
    anchored, Lemma 7.1 (iii).

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> pairwise_budget(randomizer("rr"))
    (lambda**2 - 2*lambda + 1)/lambda
    """
    if any(output_class.pair_counts is not None for output_class in mechanism.classes):
        raise Unsupported(
            f"{mechanism.name} treats pairs of inputs differently: use AnchoredLaw.from_channel(...).pairwise_budget()"
        )
    classes = template_classes(mechanism)
    return normal_form(sum(mass * levels_budget(levels, mechanism.inputs) for mass, levels in classes))


def chi_square_sum(pairs: Iterable[tuple[sp.Expr, sp.Expr]]) -> sp.Expr:
    """Chi-square divergence of two rows from the pairs of their entries; ``oo`` if infinite."""
    total = sp.Integer(0)
    for first, second in pairs:
        if second != 0:
            total += (first - second) ** 2 / second
        elif first != 0:
            return sp.oo
    return total


@cache
def largest_pairwise_budget(mechanism: Mechanism) -> sp.Expr:
    r"""The divergence :math:`\chi_*=\max_{i\ne j}\chi^2(W_i\Vert W_j)` with parameters open (alphabets, Section 2).

    Where classes of pairs are told apart by a parameter ``d``, it is affine in ``d``, largest at an end of the range.
    """
    if mechanism.pair.listed:
        raise Unsupported(f"{mechanism.name} lists its pairs: use AnchoredLaw.from_channel(...).pairwise_budget()")
    total = chi_square_sum(
        (count * first, count * second)
        for output_class in mechanism.classes
        for (first, second), count in output_class.shown(mechanism.inputs, (0, 1))
    )
    if total is sp.oo:
        return sp.oo
    found = normal_form(total)
    told = mechanism.pair.by
    if told is None:
        return found
    (parameter,) = (p for p in mechanism.parameters if p.symbol == told)
    rising = nonnegative(sp.diff(found, told), mechanism.chart)
    if normal_form(sp.diff(found, told, 2)) != 0 or rising is Verdict.UNDECIDED or parameter.upper is None:
        raise Unsupported(f"which pair of inputs of {mechanism.name} is worst is not decided")
    return normal_form(found.subs(told, parameter.upper if rising is Verdict.TRUE else parameter.lower))
