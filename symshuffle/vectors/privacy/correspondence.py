r"""The shuffled profile, the central Gaussian one, and the templates that both tend to.

Templates of a privacy profile by one index, and the central Gaussian profile they imitate.

With :math:`a=\chi\varepsilon\sqrt n` the leading template is :math:`f=\varphi(a)/(a^2\chi\sqrt n)`; it is the first
term of :math:`g=(\varphi(a)-a\bar\Phi(a))/(\chi\sqrt n)`, which has the same limit and is far closer at any n.

The shuffled profile beside the central Gaussian one and the templates that both tend to.

At equal index :math:`\chi` the paper compares the shuffled profile with the central Gaussian mechanism of
:math:`\sigma=\chi` through the template :math:`f_{n,\varepsilon}(\chi)`, which both approach slowly; its Mills
refinement g has the same limit and is close at any n (:mod:`symshuffle.vectors.privacy.correspondence`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Literal, final

import flint

from symshuffle.base.choices import Side
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import DEFAULT_BITS, Ball, Exp, Number, as_integer, parse_inside, to_arb, working_precision
from symshuffle.base.results import Bracket
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.privacy.accounting import larger_order
from symshuffle.vectors.privacy.pairs import real_pair, worst_pair
from symshuffle.vectors.randomizers.gaussian import upper_normal
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, PrivUnit, SphereLinear


def normal_density(a: flint.arb) -> flint.arb:
    """Density of the standard normal law, at the working precision."""
    return (-a * a / 2).exp() / (2 * flint.arb.pi()).sqrt()


def profile_template(
    chi: Number, eps: Number, n: int, *, order: Literal["leading", "mills"] = "mills", bits: int = DEFAULT_BITS
) -> Ball:
    """A template of the shuffled profile at (eps, n) for one index.

    - ``chi``: an index, above 0.
    - ``eps``: level in nats, above 0.
    - ``order``: the template f of the paper, or g with the whole tail ratio.

    vecmean, Lemma 2.6: a template is an asymptotic value, no bound at any n.
    """
    if order not in ("leading", "mills"):
        raise InputError("order", order, "leading or mills")
    with working_precision(4 * bits):
        index, level = to_arb(chi), to_arb(eps)
        if not (index > 0 and level > 0):
            raise InputError("eps" if index > 0 else "chi", eps if index > 0 else chi, "a number > 0")
        root = flint.arb(n).sqrt()
        a = index * level * root
        density = normal_density(a)
        shape = density / (a * a) if order == "leading" else density - a * upper_normal(a)
        return Ball.from_arb(shape / (index * root), bits)


def central_profile(sigma: Number, eps: Number, n: int, *, bits: int = DEFAULT_BITS) -> Ball:
    r"""The exact profile of the central Gaussian mechanism at sensitivity 1/n.

    .. math:: \delta(\varepsilon)=\bar\Phi(a-b)-e^\varepsilon\bar\Phi(a+b),\quad a=\varepsilon\sigma\sqrt n,\;
              b=\frac1{2\sigma\sqrt n}.

    vecmean, equations (8) and (9).

    Examples
    --------
    >>> round(float(central_profile(1, 0, 1)), 12)
    0.382924922548
    """
    guard = 4 * bits + 4 * int(n).bit_length()
    with working_precision(guard):
        scale = to_arb(sigma) * flint.arb(n).sqrt()
        a, b = to_arb(eps) * scale, 1 / (2 * scale)
        return Ball.from_arb(upper_normal(a - b) - to_arb(eps).exp() * upper_normal(a + b), bits)


_REL: Final = 1e-8
"""Relative width of the brackets, which are true at any."""


@final
@dataclass(frozen=True, slots=True)
class Correspondence:
    r"""Profiles and templates at one number of users.

    - ``eps``: level in nats.
    - ``attained``: what a real pair of datasets attains, in its larger order: below the profile.
    """

    n: int
    eps: Fraction
    leading: Ball
    mills: Ball
    mills_upper: Ball
    central: Ball
    shuffled: Bracket
    attained: Bracket

    @property
    def upper_constant(self) -> Fraction:
        r"""A certified c with :math:`\delta\le c\,f(\chi_{lo})`: one plus the o(1) of Lemma 2.6 is at most this."""
        return self.shuffled.upper / self.leading.lower

    @property
    def lower_constant(self) -> Fraction:
        r"""A certified c with :math:`\delta\ge c\,g(\chi_{up})`."""
        return self.attained.lower / self.mills_upper.upper

    @property
    def mills_constant(self) -> Fraction:
        r"""A certified c with :math:`\delta\le c\,g(\chi_{lo})`: far closer to 1 at any n."""
        return self.shuffled.upper / self.mills.lower

    @property
    def to_central(self) -> Fraction:
        """A certified bound on the shuffled profile over the central one."""
        return self.shuffled.upper / self.central.lower

    def to_dict(self) -> dict[str, Any]:
        """The row as plain data."""
        return {
            "n": self.n,
            "eps": str(self.eps),
            "f": str(self.leading),
            "g": str(self.mills),
            "g_upper_index": str(self.mills_upper),
            "central": str(self.central),
            "shuffled": self.shuffled.decimals(),
            "attained": self.attained.decimals(),
            "constants": {
                "upper_f": float(self.upper_constant),
                "upper_g": float(self.mills_constant),
                "lower_g": float(self.lower_constant),
                "upper_central": float(self.to_central),
            },
        }


def correspondence(
    mechanism: BlanketMixedGaussian | SphereLinear | PrivUnit, users: Iterable[int], *, growth: object = 1
) -> tuple[Correspondence, ...]:
    r"""Exact and asymptotic profiles along a falling sequence of levels eps.

    The levels are :math:`\varepsilon_n=\sqrt{c\log n/n}/\chi_{lo}`, with zero-out adjacency. There
    :math:`a^2=(\chi\varepsilon\sqrt n)^2=c\log n`, so delta falls like :math:`n^{-(1+c)/2}`.

    Parameters
    ----------
    mechanism : BlanketMixedGaussian, SphereLinear or PrivUnit
        What every user runs.
    users : iterable of int
        Numbers of users, each at least 3.
    growth : object
        The constant c, a rational above 0.

    Returns
    -------
    tuple of Correspondence
        One per number of users: eps in nats, the bound on delta, and the asymptotic templates.

    Raises
    ------
    InputError
        If a number of users or the constant is out of range.

    Notes
    -----
    vecmean, Lemma 2.6 and Proposition 3.2.

    Examples
    --------
    >>> (row,) = correspondence(BlanketMixedGaussian("0.95", "4.6"), [1000])
    >>> round(float(row.mills_constant), 4), round(float(row.upper_constant), 2)
    (1.0886, 0.8)
    """
    rate = parse_inside(growth, "growth", "(0, inf)")
    lower, upper = (_index(mechanism, side) for side in ("lower", "upper"))
    rows = []
    for n in [as_integer(n, "users", 3) for n in users]:
        eps = _level(lower, n, rate)
        real = real_pair(mechanism, adjacency="zero-out")
        bound, attained = (
            larger_order(pair, n, Exp(eps), rtol=_REL)
            for pair in (worst_pair(mechanism, adjacency="zero-out", exp_eps=Exp(eps)), real)
        )
        rows.append(
            Correspondence(
                n=n,
                eps=eps,
                leading=profile_template(lower, eps, n, order="leading"),
                mills=profile_template(lower, eps, n),
                mills_upper=profile_template(upper, eps, n),
                central=central_profile(lower, eps, n),
                shuffled=bound,
                attained=attained,
            )
        )
    return tuple(rows)


def _index(mechanism: BlanketMixedGaussian | SphereLinear | PrivUnit, side: Side) -> Number:
    found: Any = shuffle_index(mechanism, side)
    with working_precision(160):
        return Ball.from_arb(1 / to_arb(found.inverse_square).sqrt(), 128)


def _level(chi: Number, n: int, rate: Fraction) -> Fraction:
    """The level of the sequence to nine digits, so that it is a short rational."""
    with working_precision(128):
        value = float((to_arb(rate) * flint.arb(n).log() / n).sqrt() / to_arb(chi))
    return Fraction(f"{value:.8e}")
