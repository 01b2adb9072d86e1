"""Section 5.1: mean and range of the amplification variable."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    PAIR,
    labelled_channels,
    named_channels,
    never_negative,
    targets,
)
from proofs_checks.decomposition.section51_gparv import LDP, parv
from symshuffle.decompositions.model import primary_decomposition, privacy_blanket
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    for_all,
    identity,
)
from symshuffle.ledger.claims.parts import Erratum

# -- decomposition.prop-2, with Remark 6


def _range(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The stated mean and ends against all atoms of the blanket, its two ratios open between 1 and lam; by signs.

    Below and above eps0 apart: the upper end has to cover the residual atom 0 too. Then ten channels, six orders up to
    three times the ratio cap, both directions: mean and range of G, and Remark 6 for L; in rationals.
    """
    s, t, v, w = sp.symbols("s t v w", nonnegative=True)
    lam, x = 1 + w, 1 + v
    first, second = (1 + lam * s) / (1 + s), (1 + lam * t) / (1 + t)  # any two ratios from 1 to lam
    yield never_negative(lam - x - (first - x * second), at="atoms of the blanket: at most lam - x, any budget and x")
    yield never_negative(first - x * second - (1 - lam * x), at="atoms of the blanket: at least 1 - lam x")
    a, b, c, d = sp.symbols("a b c d")
    more, less = sp.symbols("r v", positive=True)
    for cap_, target, where in (
        (1 + less + more, 1 + less, "eps < eps0"),
        (1 + less, 1 + less + more, "eps > eps0"),
    ):
        mean, low, high = statement(cap_, target)
        # Two outputs of masses c and d under the blanket; the rest has the atom 0.
        atoms = ((c, (a - target * b) / c), (d, (1 - a - target * (1 - b)) / d), (1 - c - d, sp.Integer(0)))
        yield identity(sum(share * value for share, value in atoms), mean, at=f"E[G], {where}")
        yield never_negative(
            sp.cancel(low - (1 / cap_ - cap_ * target)), at=f"Remark 6: the earlier lower end, {where}"
        )
        if where == "eps < eps0":
            yield never_negative(sp.cancel(cap_ - target / cap_ - high), at="Remark 6: the earlier upper end")
        yield never_negative(high - (cap_ - target), at=f"upper end above the atoms of the blanket, {where}")
        yield never_negative(high, at=f"upper end above the residual atom, {where}")
        yield identity(low, 1 - cap_ * target, at=f"lower end, reached where the ratios are 1 and lam, {where}")
    labelled = named_channels(*LDP) + labelled_channels(rng, 6, ((3, 3), (4, 2)))
    for label, channel in labelled:
        cap: Any = channel.ratio_cap()
        for exp_eps in (*targets(cap), cap + Fraction(1, 2), 3 * cap):
            for direction, pair in DIRECTIONS:
                law = primary_decomposition(channel, PAIR).reduction_pair().gparv(exp_eps, direction=direction)
                mean, low, high = statement(cap, exp_eps)
                at = f"{label}, exp(eps0)={cap}, exp(eps)={exp_eps}, {direction}"
                yield compare(law.mean, mean, at=f"mean, {at}")
                yield compare(law.support[0], low, ">=", at=f"smallest atom, {at}")
                yield compare(law.support[1], high, "<=", at=f"largest atom, {at}")
                plain, _ = parv(channel.rows, pair, exp_eps)
                gamma: Any = privacy_blanket(channel).gamma
                values = [value for value, _ in plain]
                yield compare(min(values), gamma * (1 - cap * exp_eps), ">=", at=f"Remark 6, smallest L, {at}")
                yield compare(max(values), gamma * (cap - exp_eps), "<=", at=f"Remark 6, largest L, {at}")


PROP_2 = Claim(
    id="decomposition.prop-2",
    kind="statement",
    title="mean and range of the amplification variable",
    text=(
        Clause("mean", r"For an $\varepsilon_0$-LDP randomizer and any $\varepsilon\ge0$: $E[G]=1-e^\varepsilon$."),
        Clause("range", r"$1-e^{\varepsilon+\varepsilon_0}\le G\le e^{\varepsilon_0}-e^\varepsilon$."),
        Clause("L", r"Remark 6: $L$ lies in $\gamma$ times that interval."),
        Clause(
            "beyond",
            r"For $\varepsilon>\varepsilon_0$ the upper end is negative, while $G$ is 0 with probability "
            r"$1-\gamma$.",
        ),
    ),
    source="decomposition, Property 2 and Remark 6",
    assumptions=(),
    scope="atoms of the blanket for all ratios, budgets and eps; ten channels, eps up to eps0 + log 3",
    grade="refuted",
    printed=lambda lam, x: (1 - x, 1 - lam * x, lam - x),
    check=_range,
    controls=(
        Control("range of the earlier work, upper end lowered", lambda lam, x: (1 - x, 1 - lam * x, lam - lam * x)),
        Control("mean 1 - 1/exp(eps)", lambda lam, x: (1 - 1 / x, 1 - lam * x, max(Fraction(0), lam - x))),
    ),
    expected="refuted",
    erratum=Erratum(
        "hypothesis",
        "granted",
        "The range fails only for eps above eps0, where the bound it serves is 0 anyway.",
        quote="For any eps >= 0 ... G satisfies",
    ),
    obligations=for_all("lam", "x", clause=("mean", "range", "L", "beyond")),
    corrected=Correction(
        r"$1-e^{\varepsilon+\varepsilon_0}\le G\le\max\{0,e^{\varepsilon_0}-e^\varepsilon\}$, which is the printed "
        r"range for $\varepsilon\le\varepsilon_0$ (beyond, the bound is 0 anyway); mean and Remark 6 stand for every "
        r"$\varepsilon$.",
        lambda lam, x: (1 - x, 1 - lam * x, max(Fraction(0), lam - x)),
        "proved",
    ),
)

CLAIMS: tuple[Claim, ...] = (PROP_2,)
