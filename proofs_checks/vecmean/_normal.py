r"""The bound at n users between two constants times its Gaussian limit, with explicit constants, for every n.

Let S be the sum of n independent copies of G and :math:`M(\lambda)=Ee^{\lambda G}`. For any :math:`\lambda\ge0`, with
mean m, variance :math:`\sigma^2` and third absolute central moment :math:`\beta` under the tilted law
:math:`e^{\lambda G}/M(\lambda)`,

.. math:: H(n)=\tfrac1nE[S_+]=\frac{M(\lambda)^n}n\,\tilde E[\psi(S)],\qquad \psi(s)=s_+e^{-\lambda s}.

The function :math:`\psi` is 1-Lipschitz, because :math:`\psi'=(1-\lambda s)e^{-\lambda s}\in[-e^{-2},1]`. A sum of n
i.i.d. terms is within :math:`\beta/\sigma^2` of the normal law N of its mean and variance in Wasserstein's metric
(Goldstein, Ann. Probab. 38 (2010), Theorem 1.1: constant 1; quoted). Hence

.. math:: \Bigl|H(n)-\frac{M(\lambda)^n}n\,E\psi(N)\Bigr|\le\frac{M(\lambda)^n}n\,\frac\beta{\sigma^2},
   \qquad E\psi(N)=e^{-\lambda nm+\lambda^2\tau^2/2}\bigl(\tau\varphi(b)-\tau b\bar\Phi(b)\bigr),

with :math:`\tau=\sigma\sqrt n` and :math:`b=\lambda\tau-nm/\tau`. Near the saddle point, m = 0, this is
:math:`g=\tau(\varphi(b)-b\bar\Phi(b))` up to the tilt, and the error relative to it is of order :math:`b^2/\sqrt n`: it
tends to 0 wherever :math:`\varepsilon_n=O(\sqrt{\log n/n})`. Without the tilt it does only while
:math:`b^2\le\theta\log n` with :math:`\theta<1`.

*Lemma 2.6 of vecmean.* Let all moments of :math:`G_\varepsilon` be bounded, for small :math:`\varepsilon` and over all
pairs of inputs, and let :math:`v=\operatorname{Var}G_0=\chi^{-2}>0`.

- *Truncation.* With :math:`\min(G,T)` in place of G, :math:`T=n^{1/8}`, H(n) falls by at most
  :math:`E(G-T)_+\le E|G|^kT^{1-k}` for any k: by less than every power of n, while f is at least some power of n.
- *Moments.* At :math:`\lambda=\chi^2\varepsilon`, :math:`\lambda T\to0`, so that Taylor's remainders are those of
  moments. With :math:`t=\chi\varepsilon\sqrt n`: :math:`n\log M=-t^2/2+O(t^3/\sqrt n)`,
  :math:`n\lambda m=O(t^3/\sqrt n)`, :math:`\sigma^2=v(1+O(t/\sqrt n))`, and :math:`t^3/\sqrt n\to0`.
- *Limit.* Hence :math:`H(n)=f_{n,\varepsilon}(\chi)(1+o(1))` where :math:`t\to\infty`, uniformly over pairs with v
  above a constant. Pairs with :math:`v\le v_{max}/(1+\eta)` are below :math:`M(\lambda)^n/(en\lambda)` at the
  :math:`\lambda` of the largest v, which is of smaller order than f there.
- *Both sides.* The upper bound of the lemma is the maximum over pairs of inputs against the blanket; the lower one that
  over pairs of datasets whose other users all hold one input, whose divergence H(n) is.

The condition (3) of Assumption B.1 is not needed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.base.numbers import Ball, Real, as_integer, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.channels.continuous_law import ContinuousLaw
from symshuffle.channels.law import Law
from symshuffle.vectors.privacy.pairs import FinitePair, Pair
from symshuffle.vectors.randomizers.gaussian import upper_normal

_TAIL: Final = Fraction(1, 10**30)
_NEWTON: Final = 6
"""Mass beyond a window; steps towards the saddle point, which only make the bracket narrow."""


@final
@dataclass(frozen=True, slots=True)
class TiltedLaw:
    """The law of G under a tilt.

    - ``log_mass``: logarithm of ``E exp(lam G)``.
    - ``mean``, ``variance``, ``third``: mean, variance and an upper bound on the third absolute central moment of the
      tilted law.
    """

    log_mass: flint.arb
    mean: flint.arb
    variance: flint.arb
    third: flint.arb


def normal_bracket(pair: Pair, n: int, exp_eps: Real, *, bits: int = 160) -> Bracket:
    """H(n) of one pair in one order, by the normal law with an explicit error: relative, of order 1/sqrt(n).

    - ``exp_eps``: target ratio, at least 1.

    Certified for every n, and of use where n is beyond all engines: it costs the same for all. The module has the
    proof, and what it quotes.

    Examples
    --------
    >>> from symshuffle.vectors.randomizers.mechanisms import SphereLinear
    >>> from symshuffle.vectors.privacy.pairs import worst_pair
    >>> pair = worst_pair(SphereLinear("1/2", 1), adjacency="zero-out")
    >>> found = normal_bracket(pair, 10**12, Fraction(1000001, 1000000))
    >>> f"{float(found.lower):.5e} {float(found.upper):.5e}"
    '2.51269e-08 2.51276e-08'
    """
    n = as_integer(n, "n", 1)  # of any size: there is nothing to enumerate
    bits += 2 * n.bit_length()
    with working_precision(bits):
        law = pair.law(exp_eps, bits=bits) if isinstance(pair, FinitePair) else pair.law(exp_eps, tail=_TAIL, bits=bits)
        missing = law.missing if isinstance(law, ContinuousLaw) else (Fraction(0), Fraction(0))
        lam = _saddle(law)
        tilted = tilt(law, lam)
        main, error = terms(to_arb(lam), n, tilted.log_mass, tilted.mean, tilted.variance, tilted.third)
        value = Ball.from_arb(main + flint.arb(0, 1) * error, bits)
    return Bracket(
        max(value.lower - missing[0], Fraction(0)),
        value.upper + missing[1],
        "ball",
        "normal",
        f"tilt {float(lam):.6g}, normal law within beta / sigma^2 in Wasserstein's metric (Goldstein, quoted)",
    )


def terms(slope: Any, n: Any, log_mass: Any, mean: Any, variance: Any, third: Any) -> tuple[flint.arb, flint.arb]:
    """The value for a normal sum under a tilt, and the error, at the working precision."""
    spread = (variance * n).sqrt()
    b = slope * spread - mean * n / spread
    density = (-b * b / 2).exp() / (2 * flint.arb.pi()).sqrt()
    hinge = spread * (density - b * upper_normal(b))
    front = (log_mass * n).exp() / n
    return front * (-slope * mean * n + slope * slope * variance * n / 2).exp() * hinge, front * third / variance


def tilt(law: Law | ContinuousLaw, lam: Fraction) -> TiltedLaw:
    """Moments under the tilt, by sums or certified integrals; the third by those of order 2 and 4."""
    slope = to_arb(lam)
    mass = _mean(law, lambda g: (slope * g).exp())
    mean = _mean(law, lambda g: g * (slope * g).exp()) / mass
    variance = _mean(law, lambda g: (g - mean) ** 2 * (slope * g).exp()) / mass
    fourth = _mean(law, lambda g: (g - mean) ** 4 * (slope * g).exp()) / mass
    return TiltedLaw(mass.log(), mean, variance, (variance * fourth).sqrt())


def _saddle(law: Law | ContinuousLaw) -> Fraction:
    """A tilt that nearly centres the sum, at least 0; any tilt gives a true bracket."""
    lam = Fraction(0)
    for _ in range(_NEWTON):
        found = tilt(law, lam)
        step = -float(found.mean.mid()) / float(found.variance.mid())
        lam = max(lam + Fraction(f"{step:.9e}"), Fraction(0))
        if abs(step) < 1e-7 * float(lam):
            break
    return lam


def _mean(law: Law | ContinuousLaw, function: Callable[[Any], Any]) -> flint.arb:
    """The expectation of an entire function of G."""
    if isinstance(law, ContinuousLaw):
        parts = (piece.integral(lambda u, p=piece: function(p.value(u))).real for piece in law.pieces)  # type: ignore[misc]
        return sum(parts, start=to_arb(law.zero) * function(flint.acb(0)).real)
    atoms: Any = zip(law.values, law.weights, strict=True)
    return sum((to_arb(w) * function(to_arb(g)) for g, w in atoms), start=flint.arb(0))
