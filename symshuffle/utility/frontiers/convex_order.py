r"""Convex order of finite laws over Q with a witness either way, and how far a law is from saturating the envelope.

:math:`X\le_{cx}Y` is decided by equal means and :math:`E(X-t)_+\le E(Y-t)_+` at the atoms. Where it holds a martingale
coupling (Strassen) is returned; where it fails, a threshold is.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

from symshuffle.base.errors import CertificateError, InputError, Unsupported
from symshuffle.base.levels import takes_eps0
from symshuffle.base.numbers import Number, Verdict, as_integer, less, parse_rational
from symshuffle.channels.channel import Channel, check_channel, exact_columns
from symshuffle.channels.law import Law
from symshuffle.utility.frontiers.contamination import Contamination, binary_envelope, pair_of_rows


def exact_atoms(law: Law) -> tuple[tuple[Fraction, Fraction], ...]:
    """The atoms of a rational law without singular mass, in order."""
    atoms = tuple((v, w) for v, w in law.atoms() if isinstance(v, Fraction) and isinstance(w, Fraction))
    if len(atoms) != len(law.values) or law.singular != 0:
        raise InputError("law", "balls, doubles or singular mass", "rational atoms and no singular mass")
    return tuple(sorted(atoms))


def stop_loss(law: Law, threshold: Fraction) -> Fraction:
    """The number :math:`E(X-t)_+`."""
    return sum((w * (v - threshold) for v, w in exact_atoms(law) if v > threshold), start=Fraction(0))


def average_law(law: Law, n: int, *, largest: int = 200_000) -> Law:
    """The law of the average of ``n`` independent copies, written out.

    - ``largest``: count vectors beyond which the law is not written out.
    """
    n = as_integer(n, "n", 1)
    atoms = exact_atoms(law)
    size = math.comb(n + len(atoms) - 1, n)
    if size > largest:
        raise Unsupported(f"the average of {n} copies has up to {size} atoms (limit {largest}): use an engine")
    total: dict[Fraction, Fraction] = {Fraction(0): Fraction(1)}
    for _ in range(n):
        grown: dict[Fraction, Fraction] = {}
        for value, weight in total.items():
            for step, mass in atoms:
                grown[value + step] = grown.get(value + step, Fraction(0)) + weight * mass
        total = grown
    return Law.from_atoms((value / n, weight) for value, weight in total.items())


def profile_gap(ratio: Law, experiment: Contamination, *, lam: Fraction, gamma: Fraction) -> Fraction:
    """The envelope minus the divergence of a channel with this likelihood-ratio law, exactly; at least 0."""
    average = average_law(ratio, experiment.n)
    envelope = binary_envelope(experiment, lam=lam, gamma=gamma).bracket.exact
    if envelope is None:
        raise Unsupported(
            f"the gap is computed exactly, which is limited to a few thousand users; here n = {experiment.n}"
        )
    if experiment.direction == "forward":
        return envelope - stop_loss(average, gamma)
    return envelope - sum((w * (1 - gamma * v) for v, w in exact_atoms(average) if gamma * v < 1), start=Fraction(0))


def rigidity_gap(ratio: Law, experiment: Contamination, *, lam: Fraction) -> tuple[Fraction, Fraction]:
    r"""Largest gap between a channel's divergence and the envelope, over all orders.

    The gap is zero exactly for channels that merge to binary randomized response. Both profiles are
    piecewise linear in the order, so the kinks in :math:`[1,\lambda]` suffice.

    Parameters
    ----------
    ratio : Law
        Law of the channel's likelihood ratio (:func:`symshuffle.utility.ratio_law`), over the rationals.
    experiment : Contamination
        Number of users and direction.
    lam : Fraction
        Ratio cap ``exp(eps0)``, at least 1.

    Returns
    -------
    gap : Fraction
        Envelope minus divergence, at least 0.
    order : Fraction
        An order in :math:`[1,\lambda]` that attains the gap.

    Notes
    -----
    anchored, Theorem 4.10.

    Examples
    --------
    >>> rigidity_gap(endpoint_law(Fraction(3)), Contamination(2), lam=Fraction(3))[0]
    Fraction(0, 1)
    >>> rigidity_gap(endpoint_law(Fraction(2)), Contamination(2), lam=Fraction(3))
    (Fraction(35, 192), Fraction(5, 4))
    """
    lam = parse_rational(lam, "lam")
    kinks = [value for law in (ratio, endpoint_law(lam)) for value, _ in exact_atoms(average_law(law, experiment.n))]
    if experiment.direction == "reverse":
        kinks = [1 / value for value in kinks if value]
    orders = sorted({Fraction(1), *(gamma for gamma in kinks if 1 <= gamma <= lam)})
    return max((profile_gap(ratio, experiment, lam=lam, gamma=gamma), gamma) for gamma in orders)


@takes_eps0(as_ball=True)
def endpoint_law(lam: Number) -> Law:
    """Law with the two values ``lam`` and ``1/lam`` and mean 1.

    At ``lam = 1`` it is the point mass at 1.

    Parameters
    ----------
    lam : Number
        A finite number of at least 1.
    eps0 : number or text, optional
        Local budget in nats, above 0, in place of ``lam``; kept exact.

    Returns
    -------
    Law
        Of the likelihood ratio of binary randomized response: the weight of ``lam`` is ``1/(1 + lam)``.

    Raises
    ------
    InputError
        If ``lam`` is below 1 or not finite.

    Notes
    -----
    anchored, Definition 4.5.

    Examples
    --------
    >>> endpoint_law(Fraction(3)).mean
    Fraction(1, 1)
    """
    if less(lam, 1) is Verdict.TRUE or (isinstance(lam, float) and not math.isfinite(lam)):
        raise InputError("lam", lam, "a finite number of at least 1")
    ratio: Any = lam
    return Law.from_atoms([(ratio, 1 / (1 + ratio)), (1 / ratio, ratio / (1 + ratio))])


def certify_envelope(channel: Channel, i: int, j: int, *, lam: Fraction) -> Channel:
    """Kernel from binary randomized response to two rows of a channel, checked.

    Since local post-processing commutes with shuffling, no divergence of the pair can exceed that of randomized
    response.

    Parameters
    ----------
    channel : Channel
        A channel over the rationals.
    i, j : int
        Two inputs, each from 0 to k - 1.
    lam : Fraction
        Ratio cap ``exp(eps0)`` of the randomized response, above 1.

    Returns
    -------
    Channel
        With 2 inputs and the outputs of the channel: randomized response of ratio ``lam`` followed by the kernel is the
        channel on the inputs ``(i, j)``.

    Raises
    ------
    InputError
        If a likelihood ratio of the two rows is outside ``[1/lam, lam]``, or ``lam <= 1``.
    CertificateError
        At ``kernel`` if the kernel does not reproduce the rows.

    Notes
    -----
    anchored, Lemma 4.6 and Remark 4.7, in experiment form.

    Examples
    --------
    >>> response = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> print(certify_envelope(response, 0, 1, lam=Fraction(3)))
    5/6  1/6
    1/6  5/6
    """
    check_channel(channel)
    lam = parse_rational(lam, "lam")
    if lam <= 1:
        raise InputError("lam", lam, "a number > 1 (at lam = 1 the two rows agree)")
    pair = pair_of_rows(channel, i, j)
    columns = []
    for y, (a, b) in enumerate(exact_columns(pair)):
        if a > lam * b or b > lam * a:
            raise InputError("lam", lam, f"a cap that output {y} respects (its rows have {a} and {b})")
        columns.append(((lam * a - b) / (lam - 1), (lam * b - a) / (lam - 1)))
    kernel = Channel(tuple(zip(*columns, strict=True)))
    high, low = lam / (1 + lam), 1 / (1 + lam)
    if Channel(((high, low), (low, high))).push_forward(kernel) != pair:
        raise CertificateError("kernel", "randomized response followed by it is not the two rows")
    return kernel
