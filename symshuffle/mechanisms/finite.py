"""Mechanisms with finitely many outputs whose inputs are exchangeable, or nearly so.

Every function returns a :class:`~symshuffle.mechanisms.model.Mechanism` with open parameters; fix them with ``.at``.
"""

from __future__ import annotations

from typing import Final

import sympy as sp

from symshuffle.mechanisms import definitions
from symshuffle.mechanisms.given import LAM_PARAMETER, each_output
from symshuffle.mechanisms.members import cyclic_distance
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass
from symshuffle.mechanisms.pairs import Pairs
from symshuffle.mechanisms.symbolic import EVEN, LAM, Parameter

K: Final = sp.Symbol("k", integer=True, positive=True)
S: Final = sp.Symbol("s", integer=True, positive=True)
P: Final = sp.Symbol("p", nonnegative=True)

_K_PARAMETER: Final = Parameter(K, sp.Integer(2), None, True, "number of inputs")
_ONE: Final = sp.Integer(1)


def _of_inputs(classes: definitions.Classes) -> tuple[OutputClass, ...]:
    """The classes of a definition at k inputs, each with the probabilities of one output."""
    return tuple(each_output(c, K) for c in classes)


def rr() -> Mechanism:
    """Binary randomized response, with lam open.

    The true bit is sent with probability lam/(lam + 1).

    Returns
    -------
    Mechanism
        With the parameter ``lam``, the ratio cap ``exp(eps0)``.

    Notes
    -----
    decomposition, Example 4.1 at k = 2.

    Examples
    --------
    >>> print(rr().at(lam=2).channel())
    2/3  1/3
    1/3  2/3
    """
    return Mechanism(
        "rr",
        "binary randomized response",
        sp.Integer(2),
        tuple(each_output(c, sp.Integer(2)) for c in definitions.rr(LAM)),
        (LAM_PARAMETER,),
        source="decomposition, Example 4.1 at k = 2",
    )


def krr() -> Mechanism:
    """k-ary randomized response, with lam and k open.

    The true input has lam times the probability of each of the k - 1 other symbols.

    Returns
    -------
    Mechanism
        With the parameters ``lam`` (the ratio cap ``exp(eps0)``) and ``k`` (the number of inputs).

    Notes
    -----
    decomposition, Example 4.1.

    Examples
    --------
    >>> print(krr().at(k=3, lam=2).channel())
    1/2  1/4  1/4
    1/4  1/2  1/4
    1/4  1/4  1/2
    """
    return Mechanism(
        "krr",
        "k-ary randomized response",
        K,
        _of_inputs(definitions.krr(LAM, K)),
        (LAM_PARAMETER, _K_PARAMETER),
        source="decomposition, Example 4.1",
    )


def subset_selection() -> Mechanism:
    """Subset selection: an s-subset of the inputs, lam times as likely if it contains the input."""
    return Mechanism(
        "subset-selection",
        "subset selection",
        K,
        _of_inputs(definitions.subset_selection(LAM, K, S)),
        (LAM_PARAMETER, _K_PARAMETER, Parameter(S, _ONE, K - 1, True, "size of the subset")),
        source="anchored, Section 9 (s-subset mechanism); ldp_tradeoff, Remark 3.18",
    )


def augmented_randomized_response() -> Mechanism:
    """k-ary randomized response with probability p, and otherwise a null symbol that says nothing."""
    return Mechanism(
        "aug-rr",
        "augmented randomized response",
        K,
        _of_inputs(definitions.augmented_randomized_response(LAM, K, P)),
        (LAM_PARAMETER, _K_PARAMETER, Parameter(P, sp.Integer(0), _ONE, False, "activation probability")),
        source="anchored, Definition 7.3",
    )


def half_block() -> Mechanism:
    """Half-block: a point of the cycle Z_k, lam times as likely on the half cycle that starts at the input.

    The inputs are exchangeable only under rotations and reflections, so the pair matters: for two inputs at cyclic
    distance d the outputs of equal state number k - 2d. With d left open bounds cover all pairs.
    """
    distance = sp.Symbol("d", integer=True, positive=True)
    return Mechanism(
        "half-block",
        "half-block cyclic channel",
        K,
        tuple(each_output(c, K, K) for c in definitions.half_block(LAM, K, distance)),
        (
            LAM_PARAMETER,
            Parameter(K, sp.Integer(2), None, True, "number of inputs, even", kind=EVEN),
            Parameter(distance, _ONE, K / 2, True, "cyclic distance of the two inputs compared (default: all)"),
        ),
        pair=Pairs("two inputs at cyclic distance {}", True, distance, cyclic_distance),
        source="alphabets, Definition 5.1",
    )


def truthful_response() -> Mechanism:
    """The input itself: no privacy, the blanket is empty."""
    return Mechanism(
        "identity",
        "identity",
        K,
        _of_inputs(definitions.identity(K)),
        (_K_PARAMETER,),
        source="edge case: A0 and A1 are singular to A2",
    )


def constant() -> Mechanism:
    """One output whatever the input: perfect privacy."""
    return Mechanism(
        "constant",
        "constant",
        K,
        _of_inputs(definitions.constant(K)),
        (Parameter(K, sp.Integer(2), None, True, "number of inputs", default=sp.Integer(2)),),
        source="edge case: G is constant",
    )


def erasure() -> Mechanism:
    """The input with probability 1 - p, and otherwise an erasure mark."""
    return Mechanism(
        "erasure",
        "erasure",
        K,
        _of_inputs(definitions.erasure(K, P)),
        (_K_PARAMETER, Parameter(P, sp.Integer(0), _ONE, False, "erasure probability")),
        source="edge case: A0 is not dominated by A2",
    )
