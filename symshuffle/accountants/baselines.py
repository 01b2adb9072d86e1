r"""Closed-form amplification bounds of the literature, as baselines: looser than the engines, and free.

All of them bound :math:`E[\sum_{i\le m}L_i]_+` for the blanket variable :math:`L=\gamma G` of m users, and average over
the Bin(n, gamma) users who take the blanket (decomposition, Lemma 3). Results are balls; nothing is clipped.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, final

import flint

from symshuffle.decompositions.model import Decomposition
from symshuffle.errors import InputError
from symshuffle.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    Verdict,
    equal,
    less,
    maximum,
    minimum,
    to_arb,
    working_precision,
)

GUARD: Final = 64
"""Extra bits, so that powers with large exponents stay narrow."""


@final
@dataclass(frozen=True, slots=True)
class BlanketVariable:
    r"""What the baselines know of the blanket variable :math:`L=(R(x)(W)-e^\varepsilon R(x')(W))/\omega(W)`.

    Parameters
    ----------
    gamma : Number
        Weight of the blanket, in (0, 1].
    drift : Number
        :math:`-E[L]=e^\varepsilon-1`, above 0.
    smallest, largest : Number
        Range of L.
    second_moment : Number
        :math:`E[L^2]`.

    Notes
    -----
    decomposition, Definition 9.
    """

    gamma: Number
    drift: Number
    smallest: Number
    largest: Number
    second_moment: Number

    @classmethod
    def of(cls, decomposition: Decomposition, exp_eps: Number) -> BlanketVariable:
        """Read the variable off an optimal decomposition.

        Raises
        ------
        InputError
            If ``exp_eps <= 1``, the blanket is empty, or a component lies outside it.
        """
        if less(1, exp_eps) is not Verdict.TRUE:
            raise InputError("exp_eps", exp_eps, "a target ratio above 1")
        gamma: Any = decomposition.gamma
        x: Any = exp_eps
        values, second = [], gamma * 0
        weights: list[tuple[Any, Any, Any]] = list(zip(decomposition.a, decomposition.b, decomposition.c, strict=True))
        for a, b, c in weights:
            if equal(c, 0) is not Verdict.FALSE:
                raise InputError("decomposition", f"a component of blanket weight {c}", "components inside the blanket")
            value = gamma * (a - x * b) / c
            values.append(value)
            second = second + value * value * c / gamma
        return cls(gamma, x - 1, minimum(values), maximum(values), second)


def _check_users(n: int) -> None:
    if n < 1:
        raise InputError("n", n, "at least 1 user")


def blanket_hoeffding(variable: BlanketVariable, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""The blanket bound by Hoeffding's inequality.

    .. math:: \delta\le\frac{b^2}{4a\gamma n}\bigl(1-\gamma(1-e^{-2a^2/b^2})\bigr)^n,

    with drift a and range b of L.

    Parameters
    ----------
    variable : BlanketVariable
        The blanket variable at the target ratio.
    n : int
        Number of users.
    bits : int
        Precision of the ball.

    Notes
    -----
    decomposition, Section 6 (Balle et al., CRYPTO 2019).
    """
    _check_users(n)
    with working_precision(bits + GUARD):
        gamma, drift = to_arb(variable.gamma), to_arb(variable.drift)
        width = to_arb(variable.largest) - to_arb(variable.smallest)
        decay = 1 - gamma * (1 - (-2 * drift * drift / (width * width)).exp())
        return Ball.from_arb(width * width / (4 * drift * gamma * n) * decay ** flint.arb(n), bits)


def blanket_bennett(variable: BlanketVariable, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""The blanket bound by Bennett's inequality.

    .. math:: \delta\le\frac1{s\gamma n}\bigl((1-\gamma+\gamma e^{-\kappa})^n-(1-\gamma)^n\bigr),\quad
        s=\tfrac1{b_+}\log(1+\tfrac{ab_+}c),\quad \kappa=\tfrac c{b_+^2}\varphi(\tfrac{ab_+}c),

    with drift a, largest value :math:`b_+`, second moment c and :math:`\varphi(u)=(1+u)\log(1+u)-u`.

    Parameters
    ----------
    variable : BlanketVariable
        The blanket variable at the target ratio; its largest value has to be positive.
    n : int
        Number of users.
    bits : int
        Precision of the ball.

    Raises
    ------
    InputError
        If L is never positive (the bound is 0 then).

    Notes
    -----
    decomposition, Section 6 (Balle et al., CRYPTO 2019).
    """
    _check_users(n)
    if less(0, variable.largest) is not Verdict.TRUE:
        raise InputError("variable", f"largest value {variable.largest}", "a blanket variable that can be positive")
    with working_precision(bits + GUARD):
        gamma, top, second = (to_arb(v) for v in (variable.gamma, variable.largest, variable.second_moment))
        ratio = to_arb(variable.drift) * top / second
        logarithm = (1 + ratio).log()
        kappa = second / (top * top) * ((1 + ratio) * logarithm - ratio)
        active = (1 - gamma + gamma * (-kappa).exp()) ** flint.arb(n)
        return Ball.from_arb(top / logarithm / (gamma * n) * (active - (1 - gamma) ** flint.arb(n)), bits)
