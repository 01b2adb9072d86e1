r"""An independent confirmation of brackets for the mixed Gaussian, by mpmath: it shares nothing with the engines.

No law of G, no Gauss rule, no tail cut, no tilt: Bromwich's integral runs to the *left* of 0, where the log-normal
tail has a transform, along the whole normal density, by a trapezoid rule in the normal variable and another along
the line,

.. math:: E[S_+]=E[S_-]+n\gamma(1-e^{\varepsilon})

(the other way round for the other order), and the sum is repeated on a second line with other steps: digits on
which both agree are reported.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Any, Literal

from symshuffle.vectors.mechanisms import BlanketMixedGaussian


def confirm_mixed_gaussian(
    mechanism: BlanketMixedGaussian,
    *,
    n: int,
    eps: Fraction,
    direction: Literal["forward", "reverse"] = "forward",
    digits: int = 20,
) -> tuple[str, int]:
    """The bound of Appendix C for (x, null) or (null, x), and the number of digits on which two lines agree.

    A numerical witness, not a certificate. ``n`` should be at least about 10, or the integrand falls slowly.
    """
    from mpmath import mp

    with mp.workdps(digits + 15):
        values = [_bound(mechanism, n, eps, direction, digits, factor) for factor in (mp.mpf(1), mp.mpf("1.37"))]
        gap = abs(values[0] - values[1])
        agree = digits if gap == 0 else min(digits, int(-mp.log10(gap / abs(values[0]))))
        return str(mp.nstr(values[0], max(agree, 1))), agree


def _bound(mechanism: BlanketMixedGaussian, n: int, eps: Fraction, direction: str, digits: int, factor: Any) -> Any:
    from mpmath import mp

    gamma, rest = (mp.mpf(q.numerator) / q.denominator for q in (mechanism.gamma, 1 - mechanism.gamma))
    shift = (
        mp.mpf(mechanism.norm.numerator)
        / mechanism.norm.denominator
        * mechanism.sigma0.denominator
        / mechanism.sigma0.numerator
    )
    ratio = mp.exp(mp.mpf(eps.numerator) / eps.denominator)
    # Nodes of the trapezoid rule in z, fine enough for the highest point of the line.
    width = mp.sqrt(2 * mp.log(10) * (digits + 12)) + 1
    count = 90 + 12 * digits
    h = 2 * width / count
    nodes, weights = [], []
    for k in range(count + 1):
        z = -width + h * k
        grown = gamma + rest * mp.exp(shift * z - shift**2 / 2)
        nodes.append(grown - ratio if direction == "forward" else ratio * grown - 1)
        weights.append(h * mp.exp(-z * z / 2) / mp.sqrt(2 * mp.pi))
    spread = rest * mp.sqrt(mp.exp(shift**2) - 1) * mp.sqrt(n * gamma)
    c = factor * 2 / spread
    step = 2 * mp.pi * c / (mp.mpf("2.4") * (digits + 6)) * factor**-1
    total, k = mp.mpf(0), 0
    # E[T_-] of T with terms bounded below: forward T = S, reverse T = -S, and S_+ = T_-.
    while True:
        s = mp.mpc(c, step * k)
        transform = (
            1 - gamma + gamma * sum((w * mp.exp(-s * v) for v, w in zip(nodes, weights, strict=True)), mp.mpf(0))
        )
        term = (transform**n / s**2).real
        total += term / 2 if k == 0 else term
        if k > 3 and abs(transform**n / s**2) * (k + 1) < abs(total) * mp.mpf(10) ** (-digits - 3):
            break
        k += 1
    left = total * step / mp.pi
    if direction == "reverse":
        return left / (n * gamma)
    return (left + n * gamma * (1 - ratio)) / (n * gamma)
