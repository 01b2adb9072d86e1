r"""What one user leaks against a constant population, in any divergence, with the envelope of the ratio cap beside it.

For the contamination pair (:mod:`symshuffle.utility.frontiers.contamination`) every f-divergence is
:math:`Ef(\bar L_n)`, the mean of a convex function of the average of ``n`` likelihood ratios, so that the two-point
law of a ratio cap is the worst for all of them at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

from symshuffle.base.choices import Direction, Divergence, choice
from symshuffle.base.errors import InputError, Unsupported, listed
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import (
    Ball,
    Exp,
    Number,
    Real,
    Verdict,
    as_integer,
    enclose,
    equal,
    less,
    parse_constant,
    parse_rational,
    to_arb,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel, check_channel
from symshuffle.channels.law import Law
from symshuffle.utility.frontiers.contamination import (
    EVERY_CHANNEL,
    LARGEST_EXACT_ENVELOPE,
    Contamination,
    Leakage,
    binary_envelope,
    exact_bracket,
    ratio_law,
    shuffled_leakage,
)
from symshuffle.utility.frontiers.convex_order import average_law, exact_atoms

_LARGEST_SUM: Final = 100_000
"""Users beyond which the sum over the binomial counts is not taken."""

_BITS: Final = 256

Weighted: TypeAlias = "Sequence[tuple[Any, Any]]"
"""Values of the average and their probabilities."""


def _named(name: object, argument: str, order: Fraction | int | None) -> tuple[Divergence, Fraction | None]:
    found = choice(Divergence, name, argument)
    if found != "renyi":
        if order is not None:
            raise InputError("order", order, f"no order: {found} has none")
        return found, None
    power = None if order is None else parse_rational(order, "order")
    if power is None or power <= 1:
        raise InputError("order", order, "a rational order above 1, for the Rényi divergence")
    return found, power


def _generator(name: Divergence, order: Fraction | None, direction: Direction) -> Callable[[Any], Any]:
    """The convex function, on ``arb``, whose mean it is; for Rényi that of the power."""
    backwards = direction == "reverse"
    match name:
        case "chi-square":
            return (lambda t: (t - 1) * (t - 1) / t) if backwards else (lambda t: (t - 1) * (t - 1))
        case "kl":
            return (lambda t: -t.log()) if backwards else (lambda t: t if t.is_zero() else t * t.log())
        case "squared-hellinger":
            return lambda t: 1 + t - 2 * t.sqrt()
        case "renyi" if order is not None:
            power = 1 - order if backwards else order
            return lambda t: t ** to_arb(power)
        case _:
            return lambda t: (t - 1).max(0 * t)


def _mean(
    name: Divergence, order: Fraction | None, direction: Direction, atoms: Weighted, alone: Any = Fraction(0)
) -> Bracket:
    """The divergence of a pair whose average likelihood ratio has these atoms; ``alone`` is added to the mean."""
    function = _generator(name, order, direction)
    with working_precision(_BITS):
        total = sum((to_arb(weight) * function(to_arb(value)) for value, weight in atoms), to_arb(alone))
        if order is not None:
            total = total.log() / to_arb(order - 1)
        ball = Ball.from_arb(total, _BITS)
    lower = max(ball.lower, Fraction(0))
    evaluation = f"mean of a convex function over {len(atoms)} values of the average, {_BITS} bits"
    return Bracket(lower, max(lower, ball.upper), "ball", "enumeration", evaluation)


@takes_eps0()
def convex_envelope(
    n: int,
    *,
    lam: Real,
    function: Divergence | Callable[[Fraction], Fraction],
    order: Fraction | int | None = None,
    direction: Direction = "forward",
) -> Leakage:
    r"""The largest f-divergence of the contamination pair over all channels of ratio cap ``lam``: :math:`Ef(\bar K_n)`.

    - ``function``: A name ("total-variation", "chi-square", "kl", "squared-hellinger", "renyi"), or, at a rational
      ``lam``, a convex ``f`` with ``f(1) = 0`` from rationals to rationals; convexity is checked where it is used.
    - ``order``: order of the Rényi divergence, above 1.
    - ``direction``: which divergence, for a name; a callable already says it.
    - returned: exact for a callable, and for chi-square at a rational level; otherwise a ball.

    >>> convex_envelope(4, lam=Fraction(3), function="chi-square").bracket.exact
    Fraction(1, 3)

    anchored, Theorem 4.9 (i).
    """
    way = choice(Direction, direction, "direction")
    experiment = Contamination(n, way)
    if not isinstance(lam, Fraction | int | Exp) or less(lam, 1) is Verdict.TRUE:
        raise InputError("lam", lam, "a Fraction or an Exp of at least 1")
    if callable(function):
        if order is not None:
            raise InputError("order", order, "none with a callable: only the Rényi divergence has an order")
        return Leakage(_of_callable(n, lam, function), experiment, EVERY_CHANNEL)
    name, power = _named(function, "function", order)
    if name == "hockey-stick":
        raise InputError("function", name, "another divergence (binary_envelope has the hockey-stick one)")
    if name == "total-variation":
        return binary_envelope(experiment, lam=lam, gamma=Fraction(1))
    if name == "chi-square" and way == "forward":
        ratio: Any = enclose(lam, _BITS) if isinstance(lam, Exp) else Fraction(lam)
        return Leakage(_variance((ratio - 1) * (ratio - 1) / ratio, n), experiment, EVERY_CHANNEL)
    if n > _LARGEST_SUM:
        raise Unsupported(f"n = {n}: the sum over {n + 1} counts is taken up to n = {_LARGEST_SUM}")
    return Leakage(_mean(name, power, way, _binomial_atoms(n, lam)), experiment, EVERY_CHANNEL)


def _variance(single: Number, n: int) -> Bracket:
    """The chi-square divergence of the shuffled pair: the variance of the average of ``n`` likelihood ratios."""
    evaluation = "variance of the average likelihood ratio, that of one divided by n"
    if isinstance(single, Ball):
        return Bracket(max(single.lower / n, Fraction(0)), single.upper / n, "ball", "closed form", evaluation)
    return exact_bracket(Fraction(single) / n, evaluation)


def _binomial_atoms(n: int, lam: Real) -> Weighted:
    """The values of the average of the two-point law and their probabilities, in balls."""
    with working_precision(_BITS):
        ratio = to_arb(lam)
        share, step = 1 / (1 + ratio), (ratio - 1 / ratio) / n
        weight, atoms = (1 - share) ** n, []
        for count in range(n + 1):
            atoms.append((Ball.from_arb(1 / ratio + count * step, _BITS), Ball.from_arb(weight, _BITS)))
            weight = weight * (n - count) / (count + 1) / ratio
    return atoms


def _of_callable(n: int, lam: Real, function: Callable[[Fraction], Fraction]) -> Bracket:
    if isinstance(lam, Exp):
        raise InputError("lam", lam, "a rational level for a callable on rationals (or a divergence by its name)")
    if n > LARGEST_EXACT_ENVELOPE:
        raise Unsupported(f"n = {n}: the rational sum is taken up to n = {LARGEST_EXACT_ENVELOPE}")
    if function(Fraction(1)) != 0:
        raise InputError("function", f"f(1) = {function(Fraction(1))}", "f(1) = 0")
    step = (lam - Fraction(1) / lam) / n
    values = [Fraction(function(Fraction(1) / lam + count * step)) for count in range(n + 1)]
    if any(a + c < 2 * b for a, b, c in zip(values, values[1:], values[2:], strict=False)):
        raise InputError("function", "a function that is not convex", "a convex function on [1/lam, lam]")
    share = Fraction(1) / (1 + lam)
    exact = sum(
        (math.comb(n, c) * share**c * (1 - share) ** (n - c) * value for c, value in enumerate(values)),
        start=Fraction(0),
    )
    return exact_bracket(exact, "finite binomial sum")


def leakage(
    channel: Channel,
    i: int,
    j: int,
    *,
    n: int,
    eps: object = None,
    gamma: object = None,
    divergence: Divergence = "hockey-stick",
    order: Fraction | int | None = None,
    direction: Direction = "forward",
    rtol: object = 1e-6,
) -> Leakage:
    """Divergence of the shuffled messages of one user against a constant population.

    One user holds ``i`` in the first dataset and ``j`` in the second; all others hold ``j``.

    Parameters
    ----------
    channel : Channel
        The local randomizer, over the rationals or in balls.
    i, j : int
        Inputs; one user holds ``i``, all others ``j``.
    n : int
        Number of users, at least 1.
    eps, gamma : object, optional
        For the hockey-stick divergence: its order as ``eps`` in nats (a rational), or as ``gamma = exp(eps)`` (rational
        or ``Exp``); exactly one of the two.
    divergence : Divergence or str
        "hockey-stick", "total-variation", "chi-square", "kl", "squared-hellinger" or "renyi".
    order : Fraction, optional
        Order of the Rényi divergence, above 1.
    direction : Direction or str
        ``FORWARD``: of the dataset with ``i`` from the constant one.
    rtol : number or text
        Relative width to aim at, where an engine computes the value.

    Returns
    -------
    Leakage
        The divergence as a bracket, and the largest value of any channel of the same ratio cap where it is known.

    Raises
    ------
    InputError
        If a divergence is infinite, because one of the two inputs has an output that the other does not have.
    Unsupported
        Where neither an engine nor a closed form applies: other divergences than hockey-stick, total variation and
        chi-square list the values of the average, up to 200 000 of them, of a rational channel.

    Notes
    -----
    anchored, Proposition 4.1 and Theorem 4.9.

    Examples
    --------
    >>> W = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> found = leakage(W, 0, 1, n=4, divergence="chi-square")
    >>> found.bracket.exact, found.envelope.bracket.exact
    (Fraction(1, 3), Fraction(1, 3))
    """
    check_channel(channel)
    name, power = _named(divergence, "divergence", order)
    way = choice(Direction, direction, "direction")
    experiment = Contamination(n, way)
    i, j = (as_integer(x, name, 0, channel.num_inputs - 1) for name, x in (("i", i), ("j", j)))
    ratio = ratio_law(channel, i, j)
    cap = channel.ratio_cap()
    if name in ("hockey-stick", "total-variation"):
        target = _order(name, eps, gamma)
        bracket = shuffled_leakage(ratio, experiment, gamma=target, rtol=rtol).bracket
        known = isinstance(cap, Fraction) and less(target, 1) is not Verdict.TRUE
        worst = binary_envelope(experiment, lam=cap, gamma=target) if known else None
        meaning = f"{name} divergence of order {target}"
        return Leakage(bracket, experiment, meaning, (i, j), name, worst)
    if eps is not None or gamma is not None:
        raise InputError("eps, gamma", listed(eps, gamma), f"neither, for the {name} divergence")
    bracket = _convex(ratio, name, power, experiment)
    at_cap = isinstance(cap, Fraction)
    worst = convex_envelope(n, lam=cap, function=name, order=power, direction=way) if at_cap else None
    meaning = f"{name} divergence" + ("" if power is None else f" of order {power}")
    return Leakage(bracket, experiment, meaning, (i, j), name, worst)


def _order(name: Divergence, eps: object, gamma: object) -> Real:
    if name == "total-variation":
        if eps is not None or gamma is not None:
            raise InputError("eps, gamma", listed(eps, gamma), "neither, for total variation")
        return Fraction(1)
    if (eps is None) == (gamma is None):
        raise InputError("eps, gamma", listed(eps, gamma), "exactly one of the two")
    read = parse_constant(gamma if eps is None else eps, "gamma" if eps is None else "eps")
    if eps is not None and isinstance(read, Fraction):
        return Fraction(1) if read == 0 else Exp(read)
    if eps is None and isinstance(read, Fraction | Exp):
        return read
    raise InputError("eps" if gamma is None else "gamma", read, "a rational number" + (" or an Exp" if gamma else ""))


def _convex(ratio: Law, name: Divergence, order: Fraction | None, experiment: Contamination) -> Bracket:
    """Another divergence than the hockey-stick one, from the law of the average."""
    if forward := experiment.direction == "forward":
        one, other, missing = "i", "j", equal(ratio.singular, 0) is not Verdict.TRUE
    else:
        one, other, missing = "j", "i", any(equal(value, 0) is not Verdict.FALSE for value in ratio.values)
    if missing and name != "squared-hellinger":
        what = f"an output of {one} that {other} does not have"
        raise InputError("channel", what, "two inputs with the same outputs: infinite")
    if name == "chi-square" and forward:
        second: Any = sum((w * (v - 1) * (v - 1) for v, w in ratio.atoms()), start=Fraction(0))
        return _variance(second, experiment.n)
    # A message that only i sends costs what f does per mass at infinity: 1, or nothing for KL and Rényi backwards.
    counted = name in ("chi-square", "squared-hellinger")
    alone = ratio.singular if counted else Fraction(0)
    seen = Law.from_atoms(ratio.atoms())
    return _mean(name, order, experiment.direction, exact_atoms(average_law(seen, experiment.n)), alone)
