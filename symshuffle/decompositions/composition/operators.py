"""How mechanisms are put together: one function for each operator of a composition."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from symshuffle.base.choices import Operator
from symshuffle.base.errors import InputError, check_list
from symshuffle.base.numbers import as_number
from symshuffle.decompositions.composition.tree import Composition, Part
from symshuffle.mechanisms.finite import constant


def joint(*parts: Part) -> Composition:
    """Composition that runs one mechanism on each coordinate of the input.

    The parts share one total budget: of m parts each has eps0/m.

    Parameters
    ----------
    *parts : Mechanism, Laplace or Composition
        At least one, every parameter fixed except ``lam``.

    Returns
    -------
    Composition
        With an open budget, which :meth:`symshuffle.decompositions.composition.tree.Composition.at` fixes.

    Raises
    ------
    InputError
        If there are no parts, a Laplace part has a fixed budget, or a part is given by its matrix.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> joint(mechanism("krr").at(k=4), mechanism("krr").at(k=2)).operator
    <Operator.JOINT: 'joint'>
    """
    return Composition(Operator.JOINT, parts)


def parallel(parts: Sequence[Part], weights: Sequence[Fraction]) -> Composition:
    """Composition that runs part ``i`` with probability ``weights[i]``, publicly.

    Every part has the whole budget, and the output names the part that was run.

    Parameters
    ----------
    parts : sequence of Mechanism, Laplace or Composition
        At least one, all with the same number of inputs, every parameter fixed except ``lam``.
    weights : sequence of Fraction
        One probability per part, of sum 1.

    Returns
    -------
    Composition
        With an open budget, which :meth:`symshuffle.decompositions.composition.tree.Composition.at` fixes.

    Raises
    ------
    InputError
        If there are no parts, the weights are not one probability per part with sum 1, the parts differ in their number
        of inputs, or a part is given by its matrix.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> parts = mechanism("krr").at(k=4), mechanism("subset-selection").at(k=4, s=2)
    >>> parallel(parts, [Fraction(1, 4), Fraction(3, 4)]).weights
    (Fraction(1, 4), Fraction(3, 4))
    """
    check_list(parts, "parts", "a list of mechanisms or compositions")
    check_list(weights, "weights", "a list of probabilities, one per part")
    return Composition(Operator.PARALLEL, tuple(parts), tuple(weights))


def subsample(part: Part, probability: Fraction) -> Composition:
    """Poisson subsampling: each user takes part with a given probability.

    A user who does not take part sends a constant.

    Parameters
    ----------
    part : Mechanism, Laplace or Composition
        What a user who takes part runs, every parameter fixed except ``lam``.
    probability : Fraction
        Probability of taking part, in [0, 1].

    Returns
    -------
    Composition
        The parallel composition of the part and the constant mechanism.

    Raises
    ------
    InputError
        If the probability is outside [0, 1].

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> subsample(mechanism("krr").at(k=4), Fraction(1, 10)).weights
    (Fraction(1, 10), Fraction(9, 10))
    """
    share = as_number(probability, "probability")
    if not isinstance(share, Fraction) or not 0 <= share <= 1:
        raise InputError("probability", probability, "a number in [0, 1]")
    return parallel((part, constant().with_defaults()), (share, 1 - share))


def hamming(composition: Part, distance: int) -> Composition:
    """Joint composition whose neighbours differ in exactly ``distance`` coordinates.

    Parameters
    ----------
    composition : Composition
        A joint composition of m parts.
    distance : int
        Number of coordinates in which neighbouring inputs differ, from 1 to m.

    Returns
    -------
    Composition
        The same parts with this distance.

    Raises
    ------
    InputError
        If ``composition`` is not a joint composition, or ``distance`` is out of range.

    Examples
    --------
    >>> from symshuffle import mechanism
    >>> hamming(joint(*[mechanism("krr").at(k=4)] * 3), 1).distance
    1
    """
    if not isinstance(composition, Composition) or composition.operator != "joint":
        raise InputError("hamming", getattr(composition, "name", composition), "a joint composition")
    return Composition(Operator.JOINT, composition.parts, distance=distance)
