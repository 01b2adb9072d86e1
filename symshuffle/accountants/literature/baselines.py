r"""Closed-form amplification bounds of the literature, as baselines: looser than the engines, and free.

The blanket bounds estimate :math:`E[\sum_{i\le m}L_i]_+` for the blanket variable :math:`L=\gamma G` of m users, and
average over the Bin(n, gamma) users who take the blanket (decomposition, Lemma 3). The published forms grow without
bound as eps falls to 0: the smaller of each and of the bound that keeps the term it drops there is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.accountants.deployment.group import check_n
from symshuffle.base.choices import Arithmetic
from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_target, takes_eps0
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Number,
    Real,
    Verdict,
    as_integer,
    as_number,
    enclose,
    equal,
    is_exact,
    less,
    maximum,
    minimum,
    parse_constant,
    to_arb,
    upper_end,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.decompositions.clones import standard_clone_pair
from symshuffle.decompositions.model import Decomposition
from symshuffle.engines.registry import Engine

GUARD: Final = 64
"""Extra bits, so that powers with large exponents stay narrow."""


@final
@dataclass(frozen=True, slots=True)
class BlanketVariable:
    r"""Weight, range and moments of the blanket variable, as published bounds use them.

    The variable is :math:`L=(R(x)(W)-e^\varepsilon R(x')(W))/\omega(W)`, W drawn from the blanket.

    Parameters
    ----------
    gamma : Number
        Weight of the blanket, in (0, 1].
    drift : Number
        :math:`-E[L]=e^\varepsilon-1`, at least 0.
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
            If ``exp_eps < 1``, the blanket is empty, or a component lies outside it.
        """
        exp_eps = as_number(exp_eps, "exp_eps")
        if less(exp_eps, 1) is Verdict.TRUE:
            raise InputError("exp_eps", exp_eps, "a target ratio of at least 1")
        gamma: Any = decomposition.gamma
        x: Any = exp_eps
        weights: list[tuple[Any, Any, Any]] = list(zip(decomposition.a, decomposition.b, decomposition.c, strict=True))
        terms = {}
        for a, b, c in dict.fromkeys(weights):  # most components of a large domain have equal weights
            if equal(c, 0) is not Verdict.FALSE:
                raise InputError("decomposition", f"a component of blanket weight {c}", "components inside the blanket")
            value = gamma * (a - x * b) / c
            terms[a, b, c] = value, value * value * c / gamma
        second = sum((terms[weight][1] for weight in weights), start=gamma * 0)
        values = [value for value, _ in terms.values()]
        return cls(gamma, x - 1, minimum(values), maximum(values), second)

    @classmethod
    @takes_eps0()
    def laplace(cls, lam: Real, exp_eps: Real, *, bits: int = DEFAULT_BITS) -> BlanketVariable:
        r"""The variable of Laplace noise on a bit, in closed form.

        :math:`\gamma=\lambda^{-1/2}` and, with :math:`x=e^\varepsilon`,

        .. math:: E[L^2]=\tfrac13(x^2+1)\bigl(2\lambda^{1/2}+\lambda^{-1}\bigr)
            -2x\bigl(2\lambda^{-1/2}-\lambda^{-1}\bigr).

        Parameters
        ----------
        lam : Real
            Ratio cap ``exp(eps0)``, above 1.
        exp_eps : Real
            Target ratio ``exp(eps)``, at least 1.
        bits : int
            Precision of the balls.

        Raises
        ------
        InputError
            If ``lam <= 1`` or ``exp_eps < 1``.

        Notes
        -----
        decomposition, Appendix B: the second moment of the distribution function given there.
        """
        if less(1, lam) is not Verdict.TRUE:
            raise InputError("lam", lam, "a ratio cap exp(eps0) above 1")
        exp_eps = parse_constant(exp_eps, "exp_eps")
        if less(exp_eps, 1) is Verdict.TRUE:
            raise InputError("exp_eps", exp_eps, "a target ratio of at least 1")
        bits = as_integer(bits, "bits", 2)
        with working_precision(bits + GUARD):
            cap, x = to_arb(lam), to_arb(exp_eps)
            gamma = 1 / cap.sqrt()
            second = (x * x + 1) * (2 / gamma + 1 / cap) / 3 - 2 * x * (2 * gamma - 1 / cap)
            parts = (gamma, x - 1, gamma * (1 - cap * x), gamma * (cap - x), second)
            return cls(*(Ball.from_arb(part, bits + GUARD) for part in parts))

    @property
    def never_positive(self) -> bool:
        """Whether L is certainly at most 0, so that the bound is exactly 0 (``eps >= eps0``)."""
        return less(0, self.largest) is Verdict.FALSE


def blanket_hoeffding(variable: BlanketVariable, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""Upper bound on delta by the blanket and Hoeffding's inequality.

    .. math:: \delta\le\frac{D^n}{\gamma n}\,\min\Bigl(\frac{b^2}{4a},\;
        b\sqrt{\tfrac{\pi\gamma n}{8}\,e^{-2a^2/b^2}/D}\Bigr),\qquad D=1-\gamma(1-e^{-2a^2/b^2}),

    with drift a and range b of L; 0 where L is never positive. The tail of m users beyond t is at most
    :math:`e^{-2(ma+t)^2/(mb^2)}`. The published form is the first: it integrates that without the term in
    :math:`t^2`. The second drops the term in :math:`at` instead, which is all there is at eps = 0, and averages the
    square root of m by Jensen's inequality.

    Parameters
    ----------
    variable : BlanketVariable
        The blanket variable at the target ratio.
    n : int
        Number of users.
    bits : int
        Precision of the ball.

    Returns
    -------
    Ball
        Upper bound on delta, as an interval of that precision.

    Notes
    -----
    decomposition, Section 6 (Balle et al., CRYPTO 2019).
    """
    n = check_n(n)
    bits = as_integer(bits, "bits", 2)
    if variable.never_positive:
        return Ball(Fraction(0), Fraction(0), bits)
    with working_precision(bits + GUARD):
        gamma, drift = to_arb(variable.gamma), to_arb(variable.drift)
        width = to_arb(variable.largest) - to_arb(variable.smallest)
        shrink = (-2 * drift * drift / (width * width)).exp()
        active = 1 - gamma * (1 - shrink)
        prefactor = width * (flint.arb.pi() * gamma * n * shrink / (8 * active)).sqrt()
        if drift > 0:
            prefactor = prefactor.min(width * width / (4 * drift))
        return Ball.from_arb(prefactor / (gamma * n) * active ** flint.arb(n), bits)


def blanket_bennett(variable: BlanketVariable, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""Upper bound on delta by the blanket and Bennett's inequality.

    .. math:: \delta\le\min\Bigl(\frac{(1-\gamma+\gamma e^{-\kappa})^n-(1-\gamma)^n}{s\gamma n},\;
        \tfrac12\bigl(\sqrt{a^2+v}-a\bigr)\Bigr),\quad
        s=\tfrac1{b_+}\log(1+\tfrac{ab_+}c),\quad \kappa=\tfrac c{b_+^2}\varphi(\tfrac{ab_+}c),

    with drift a, largest value :math:`b_+`, second moment c, :math:`\varphi(u)=(1+u)\log(1+u)-u` and
    :math:`v=(c-a^2)/(\gamma n)`; 0 where L is never positive. The first form is the published one. The second is
    :math:`E[S]_+=\frac12(E|S|+E[S])` with :math:`E|S|\le\sqrt{E[S^2]}`, concave in the number of users in the blanket.

    Parameters
    ----------
    variable : BlanketVariable
        The blanket variable at the target ratio.
    n : int
        Number of users.
    bits : int
        Precision of the ball.

    Returns
    -------
    Ball
        Upper bound on delta, as an interval of that precision.

    Notes
    -----
    decomposition, Section 6 (Balle et al., CRYPTO 2019).
    """
    n = check_n(n)
    bits = as_integer(bits, "bits", 2)
    if variable.never_positive:
        return Ball(Fraction(0), Fraction(0), bits)
    with working_precision(bits + GUARD):
        gamma, drift, second = (to_arb(x) for x in (variable.gamma, variable.drift, variable.second_moment))
        spread = (second - drift * drift) / (gamma * n)
        moments = spread / (2 * ((drift * drift + spread).sqrt() + drift))  # the difference of roots, without one
        if not drift > 0:
            return Ball.from_arb(moments, bits)
        # Any number that L does not exceed will do: here one so far from 0 that phi, of second order, keeps its digits.
        top = to_arb(upper_end(variable.largest)).max(second / drift * flint.arb(2) ** -(GUARD // 2))
        ratio = drift * top / second
        logarithm = (1 + ratio).log()
        kappa = second / (top * top) * ((1 + ratio) * logarithm - ratio)
        active = (1 - gamma + gamma * (-kappa).exp()) ** flint.arb(n)
        published = top / logarithm / (gamma * n) * (active - (1 - gamma) ** flint.arb(n))
        return Ball.from_arb(published.min(moments), bits)


@takes_eps0(as_ball=True)
def standard_clone(
    lam: Number,
    *,
    exp_eps: Real,
    n: int,
    engine: Engine | None = None,
    arithmetic: Arithmetic | None = "float64",
    rtol: float = 1e-6,
) -> Bracket:
    """Bracket on the delta of the standard clone, for any mechanism of a budget.

    It is the divergence of the pair to which the standard clone reduces.

    Parameters
    ----------
    lam : Number
        Ratio cap ``exp(eps0)``, above 1.
    exp_eps : number, text or Exp
        Target ratio ``exp(eps)``, at least 1.
    n : int
        Number of users.
    eps0 : Real, optional
        The local budget in nats, in place of ``lam``.
    engine : Engine, optional
        As in :func:`symshuffle.delta`; so are the next two.
    arithmetic : Arithmetic, str or None
        Level of trust asked for.
    rtol : float
        Relative width to aim at, in (0, 1).

    Returns
    -------
    Bracket
        Bracket on that divergence.

    Raises
    ------
    InputError
        If the ratio cap is not above 1, or the target ratio is below 1.

    Notes
    -----
    decomposition, Theorem 1. Both directions agree.
    """
    given: Any = (lam, read_target(exp_eps=exp_eps))
    cap, x = given if is_exact(given) else (enclose(value, DEFAULT_BITS + GUARD) for value in given)
    return evaluate_law(standard_clone_pair(cap).gparv(x), n, engine=engine, arithmetic=arithmetic, rtol=rtol)
