"""Appendix C: the finite-n bound from the common component, against brute force, in both orders of the pair."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.vecmean._margin import order_margin
from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.accountants.questions.solve import delta
from symshuffle.base.choices import Direction, members
from symshuffle.base.numbers import Exp
from symshuffle.channels.law import Law
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
    identity,
    serving,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.vectors.privacy.accounting import pair_delta
from symshuffle.vectors.privacy.pairs import FinitePair, worst_pair
from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian

Row = tuple[Fraction, ...]


def _finite_n_bound(n: Any, gamma: Any, y: Any, x: Any, s: Any) -> tuple[Any, Any, str, Any]:
    """The bound as printed, at n users and blanket mass gamma, with (62) at scalar output y and input x.

    A factor, the number of trials of the blanket count, whose messages are drawn, an exponent.
    """
    return 1 / (n * gamma), n, "blanket", y * x / s**2 - x**2 / (2 * s**2)


def _expected_positive(law: Sequence[tuple[Fraction, Fraction]], count: int) -> Fraction:
    """Expectation of the positive part of a sum of independent copies, by enumeration."""
    total = Fraction(0)
    for drawn in itertools.product(law, repeat=count):
        total += math.prod((w for _, w in drawn), start=Fraction(1)) * max(sum(v for v, _ in drawn), Fraction(0))
    return total


def _stated(
    statement: Statement, n: int, rows: dict[str, Row], gamma: Fraction, pair: tuple[Row, Row], ratio: Fraction
) -> Fraction:
    """The statement's number for a finite channel, by enumeration."""
    factor, trials, drawn, _ = statement(n, gamma, *map(Fraction, (1, 1, 1)))
    reference = rows["blanket"] if drawn == "blanket" else pair[0]
    law = [((p - ratio * q) / b, w) for p, q, b, w in zip(*pair, rows["blanket"], reference, strict=True)]
    chances = (math.comb(trials, m) * gamma**m * (1 - gamma) ** (trials - m) for m in range(trials + 1))
    terms = (chance * _expected_positive(law, m) for m, chance in enumerate(chances))
    return Fraction(factor) * sum(terms, start=Fraction(0))


def _profile(rows: dict[str, Row], n: int, ratio: Fraction) -> Fraction:
    """The privacy profile under zero-out adjacency by brute force over all datasets and both orders."""
    outputs = len(rows["blanket"])
    symbols = dict(rows.items())

    def output(dataset: tuple[str, ...]) -> dict[tuple[int, ...], Fraction]:
        law: dict[tuple[int, ...], Fraction] = defaultdict(Fraction)
        for sent in itertools.product(range(outputs), repeat=n):
            chance = math.prod((symbols[user][y] for user, y in zip(dataset, sent, strict=True)), start=Fraction(1))
            law[tuple(sorted(sent))] += chance
        return law

    worst = Fraction(0)
    inputs = [name for name in rows if name != "blanket"]
    for others in itertools.combinations_with_replacement(rows, n - 1):
        null = output(("blanket", *others))
        for x in inputs:
            other = output((x, *others))
            for p, q in ((other, null), (null, other)):
                worst = max(worst, sum((max(p[h] - ratio * q[h], Fraction(0)) for h in p), start=Fraction(0)))
    return worst


def _channel(rng: np.random.Generator, inputs: int, outputs: int) -> tuple[dict[str, Row], Fraction]:
    """A random channel whose null symbol has the law of the largest blanket, and the mass of that."""
    raw = rng.integers(1, 9, size=(inputs, outputs))
    rows = [tuple(Fraction(int(v), int(row.sum())) for v in row) for row in raw]
    least = tuple(min(column) for column in zip(*rows, strict=True))
    gamma = sum(least, start=Fraction(0))
    named: dict[str, Row] = {"blanket": tuple(v / gamma for v in least)}
    return named | {f"x{k}": row for k, row in enumerate(rows)}, gamma


def _hidden_among_blankets(statement: Statement) -> Iterator[Comparison]:
    """The bound for every channel, background and n; what is told of the others' messages can only raise a divergence.

    Whoever did not send a blanket message is told apart. The others hide user 1, and their multiset is compared
    histogram by histogram: one output and the sum of all others stand for any number of outputs.
    """
    n, m, h, g, y, x, s = sp.symbols("n m h gamma y x s", positive=True)
    factor, trials, _, _ = statement(n, g, y, x, s)
    # How many of n - 1 others sent a blanket message: one more user, then one, then none.
    sent, first = (sp.binomial(n - 1 + k, m) * g**m * (1 - g) ** (n - 1 + k - m) for k in (1, 0))
    lower = sp.binomial(n - 1, m - 1) * g ** (m - 1) * (1 - g) ** (n - m)
    step = [mass / first for mass in (sent, (1 - g) * first + g * lower)]
    found = [identity(*step, at="every n: a user more sends a blanket message, or does not")]
    # A histogram with h copies of an output of mass w in the blanket, r in user 1's row, and m + 1 - h others of mass v
    # together: user 1 sent that output and m others the rest.
    w, r, v = sp.symbols("w r v", positive=True)
    one = first * r * sp.factorial(m) / (sp.factorial(h - 1) * sp.factorial(m + 1 - h)) * w ** (h - 1)
    # The same part of the bound: m + 1 of the trials, any histogram of m + 1 blanket messages, h values r/w of the sum.
    count = sp.binomial(trials, m + 1) * g ** (m + 1) * (1 - g) ** (trials - m - 1)
    all_sent = sp.factorial(m + 1) / (sp.factorial(h) * sp.factorial(m + 1 - h)) * w**h
    part = factor * count * all_sent * h * r / w
    scale = one * v ** (m + 1 - h)
    found += [identity(part * v ** (m + 1 - h) / scale, 1, at="every histogram: what an output of user 1 adds")]
    yield from serving("channels", found)


def _with(said: tuple[Any, ...], place: int, value: Any) -> tuple[Any, ...]:
    """The bound with one of its parts replaced."""
    return (*said[:place], value, *said[place + 1 :])


def _check_finite_n_bound(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every channel, background, histogram and n by `_hidden_among_blankets`; (62) as a log density ratio; symbolic.

    Six random channels, n = 1 to 3, over Q: the stated bound, enumerated, is the library's H(n) in both orders and at
    least the profile over all datasets by brute force.
    """
    y, x, s, g, n = sp.symbols("y x s gamma n", positive=True)
    density = -((y - x) ** 2) / (2 * s**2) + y**2 / (2 * s**2)
    yield identity(density, statement(n, g, y, x, s)[3], at="logarithm of the density ratio in (62)")
    yield from _hidden_among_blankets(statement)
    for trial in range(6):
        rows, gamma = _channel(rng, 2, 2 + trial % 2)
        users, ratio = 1 + trial % 3, Fraction(10 + trial % 3, 10)
        bounds = []
        for name in (row for row in rows if row != "blanket"):
            for pair in ((rows[name], rows["blanket"]), (rows["blanket"], rows[name])):
                bounds.append(_stated(statement, users, rows, gamma, pair, ratio))
                law = Law.from_atoms(
                    [(Fraction(0), 1 - gamma)]
                    + [
                        ((p - ratio * q) / (gamma * b), gamma * b)
                        for p, q, b in zip(*pair, rows["blanket"], strict=True)
                    ]
                )
                value = Exact().bracket(law, users).exact
                assert value is not None
                yield compare(value, bounds[-1], at=f"channel {trial}, n={users}: H(n) of the library")
        yield compare(_profile(rows, users, ratio), max(bounds), "<=", at=f"channel {trial}, n={users}: brute force")


def _reference_values(n: int, gamma: str, sigma0: str, eps: str) -> tuple[Fraction, Fraction]:
    """The bound in both orders: recorded digits, which other contours reproduced; the check encloses them afresh."""
    return _REFERENCE[(n, gamma, sigma0, eps)]


_REFERENCE: Final = {
    (1000, "0.95", "4.6", "0.0004"): (
        Fraction("2.379135330145171598564562564e-5"),
        Fraction("2.320416974609793891579048096e-5"),
    ),
}


def _check_reference(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """One instance, both orders: certified brackets contain the recorded digits, and (x, null) has the larger bound."""
    for n, gamma, sigma0, eps in _REFERENCE:
        mechanism = BlanketMixedGaussian(Fraction(gamma), Fraction(sigma0))
        said = statement(n, gamma, sigma0, eps)
        asked: Any = {"n": n, "eps": eps, "arithmetic": "ball", "rtol": 1e-12, "adjacency": "zero-out"}
        found = {order: delta(mechanism, direction=order, **asked).bracket for order in members(Direction)}
        for (name, bracket), value in zip(found.items(), said, strict=True):
            yield compare(bracket.lower, value, "<=", at=f"n={n}, {name}: lower end")
            yield compare(bracket.upper, value, ">=", at=f"n={n}, {name}: upper end")
        yield compare(found["reverse"].upper, said[0], "<", at=f"n={n}: (x, null) has the larger bound")


def _order_rule(third: Fraction, second: Fraction, spread: Fraction) -> Any:
    """Sign of what decides the order: third cumulant against three times variance times difference of variances."""
    return third - 3 * second * spread


def _check_order_rule(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four two-output pairs with the largest blanket, n = 1000: the larger bound is in the order that the sign names.

    Brackets in balls, where they are apart; the stated sign against the margin by integrals, too.
    """
    n = 1000
    for p, t in itertools.product(
        (Fraction(1, 10), Fraction(3, 10), Fraction(7, 10), Fraction(9, 10)), (Fraction(1, 10),)
    ):
        base, first = (p, 1 - p), (p * (1 + t), 1 - p * (1 + t))
        least = tuple(min(a, b) for a, b in zip(base, first, strict=True))
        third = sum(((a - b) ** 3 / w**2 for a, b, w in zip(first, base, least, strict=True)), start=Fraction(0))
        second = sum(((a - b) ** 2 / w for a, b, w in zip(first, base, least, strict=True)), start=Fraction(0))
        spread = sum(((a * a - b * b) / w for a, b, w in zip(first, base, least, strict=True)), start=Fraction(0))
        margin = statement(third, second, spread)
        pair = FinitePair(first, base, least, "")
        yield compare(order_margin(pair).midpoint > 0, margin > 0, at=f"p={p}, t={t}: the margin by integrals")
        ratio = 1 + Fraction(round(1000 * math.sqrt(second / n)), 1000)
        forward, reverse = (evaluate_law(x.law(ratio), n, arithmetic="ball", rtol=1e-3) for x in (pair, pair.reverse))
        if forward.lower > reverse.upper or reverse.lower > forward.upper:
            yield compare(forward.lower > reverse.upper, margin > 0, at=f"p={p}, t={t}, n={n}, exp(eps)={ratio}")


def _kept(small: Any, large: Any) -> Any:
    """Given an output of the larger blanket, the chance that a message with it is one of the smaller blanket."""
    return small / large


def _check_largest(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Any two blankets, output by output: the larger one's variable is a conditional mean of the smaller's; symbolic.

    What is kept is a probability, by sign. Two mixed Gaussians in balls: strictly smaller.
    """
    small, more, p, q, alpha = sp.symbols("s m p q alpha", positive=True)
    large = small + more
    share = statement(small, large)
    # Couple the two: the message of the larger blanket is kept, or replaced by 0. The mean of what is left is the
    # variable of the larger blanket, at every output: the smaller one's is more spread out, and H(n) rises with that.
    value = (p - alpha * q) / small
    yield identity(share * value, (p - alpha * q) / large, at="every output, either order: conditional mean")
    yield identity(large * share, small, at="every output: mass of what is kept")
    yield decide(nonnegative(1 - share, {}), at="every output", claimed="a probability", symbolic=True)
    for gamma, sigma0, n, eps in (("0.95", "4.6", 1000, "0.0004"), ("0.9", "4", 300, "0.002")):
        mechanism = BlanketMixedGaussian(Fraction(gamma), Fraction(sigma0))
        own, least = (worst_pair(mechanism, blanket=b, adjacency="zero-out") for b in ("mechanism", "largest"))
        order = Exp(Fraction(eps))
        values = [pair_delta(p, n, order, arithmetic="ball", rtol=1e-8) for p in (least, own)]
        at = f"gamma={gamma}, sigma0={sigma0}, n={n}: strictly below, against its own"
        yield compare(values[0].upper, values[1].lower, "<", at=at)


CLAIMS: Final = (
    Claim(
        id="vecmean.eq-C.1",
        kind="statement",
        title="finite-n profile bound from the common component",
        text=(
            Clause(
                "bound",
                r"With $M_0\sim\mathrm{Bin}(n,\gamma)$ and $Y_i$ from the blanket, "
                r"$\delta(\varepsilon)\le\frac1{n\gamma}E[(\sum_{i\le M_0}\ell_\varepsilon(Y_i))_+]$.",
            ),
            Clause(
                "mixed Gaussian",
                r"For the mixed Gaussian $\ell_\varepsilon=\gamma+(1-\gamma)e^{\langle "
                r"y,x\rangle/\sigma_0^2-|x|^2/2\sigma_0^2}-e^\varepsilon$.",
            ),
        ),
        source="vecmean, Appendix C and equation (62)",
        assumptions=(
            "zero-out adjacency, the null symbol has the blanket's law",
            "the larger of both orders of the pair; (62) is printed for one order, privacy asks for both",
            "data processing and joint convexity of the divergence (Definition 2.3)",
        ),
        scope=(
            "(62); every channel, background, histogram and n, one output of user 1 at a time; six random channels, "
            "n <= 3, all datasets with null symbols, both orders; equal to the library's H(n)"
        ),
        grade="proved",
        printed=_finite_n_bound,
        check=_check_finite_n_bound,
        controls=(
            Control("M0 ~ Bin(n - 1, gamma)", lambda n, *a: _with(_finite_n_bound(n, *a), 1, n - 1)),
            Control(
                "1/n for 1/(n gamma)",
                lambda n, *a: _with(_finite_n_bound(n, *a), 0, 1 / n if not isinstance(n, int) else Fraction(1, n)),
            ),
            Control("Y from R_x", lambda *a: _with(_finite_n_bound(*a), 2, "input")),
            Control(
                "(62) without the norm",
                lambda n, g, y, x, s: _with(_finite_n_bound(n, g, y, x, s), 3, y * x / s**2),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("n", "channels", clause="bound"),
            *for_all("gamma", clause=("bound", "mixed Gaussian")),
            *for_all("y", "x", "s", clause="mixed Gaussian"),
        ),
    ),
    Claim(
        id="symshuffle.vecmean-finite-n-values",
        kind="statement",
        title="the bound of the mixed Gaussian in both orders, bracketed in balls",
        text=(
            Clause(
                "forward",
                r"At $\gamma=0.95$, $\sigma_0=4.6$, $n=1000$, $\varepsilon=4\cdot10^{-4}$ the bound is "
                r"2.379135330145171598...e-5 for $(x,\bot)$.",
            ),
            Clause("reverse", r"It is 2.320416974609793891...e-5 for $(\bot,x)$."),
        ),
        source="own; vecmean, Appendix C",
        assumptions=(),
        scope="one instance, relative width 1e-12 and below; the digits are recorded ones, a regression",
        grade="certified",
        printed=_reference_values,
        check=_check_reference,
        controls=(
            Control("orders exchanged", lambda *a: _reference_values(*a)[::-1]),
            Control(
                "a part in 1e13 off", lambda *a: tuple(v * (1 + Fraction(1, 10**13)) for v in _reference_values(*a))
            ),
        ),
        expected="holds",
        obligations=by_cases("n", clause=("forward", "reverse")),
    ),
    Claim(
        id="symshuffle.vecmean-order-criterion",
        kind="statement",
        title="which order of the pair has the larger bound",
        text=(
            r"With $L_k=A_k/A_2$, $D=L_0-L_1$: at small $\varepsilon$ and large n the order (0, 1) has the larger "
            r"bound iff "
            r"$E[D^3]>3\operatorname{Var}(D)(\operatorname{Var}L_0-\operatorname{Var}L_1)$."
        ),
        source="own; from Edgeworth's expansion (vecmean, Appendix C leaves the order open)",
        assumptions=("asymptotic, by a formal expansion; next to equality, at finite n, either order may win",),
        scope="four two-output pairs with the largest blanket, n = 1000, brackets in balls",
        grade="exact-cases",
        printed=_order_rule,
        check=_check_order_rule,
        controls=(
            Control("the other order", lambda third, second, spread: 3 * second * spread - third),
            Control("skewness forgotten", lambda third, second, spread: -3 * second * spread + 0 * third),
        ),
        expected="holds",
    ),
    Claim(
        id="symshuffle.vecmean-largest-blanket-bound",
        kind="statement",
        title="the largest blanket gives a smaller bound",
        text=(
            Clause(
                "no larger",
                r"If $\gamma'R'_{BG}\ge\gamma R_{BG}$ at every output, the bound of Appendix C with the former "
                r"is no larger, for every channel, n, $\varepsilon$ and either order.",
            ),
            Clause("smaller", r"For the mixed Gaussian and $\inf_{|x|\le1}R_x$ in dimension 1 it is smaller."),
        ),
        source="own; vecmean, Definition 2.1 allows any blanket",
        assumptions=("Jensen's inequality for the positive part",),
        scope="every pair of blankets, output by output; two instances in balls, strictly",
        grade="proved",
        printed=_kept,
        check=_check_largest,
        controls=(
            Control("1 % more is kept", lambda small, large: small / large * sp.Rational(101, 100)),
            Control("the larger in the smaller", lambda small, large: large / small),
        ),
        expected="holds",
        obligations=for_all("small", "large", clause=("no larger", "smaller")),
    ),
)
