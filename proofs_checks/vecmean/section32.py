"""Section 3.2: the reduction to one user."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean import _cases as cases
from proofs_checks.vecmean._templates import leading_template
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.channels.channel import Channel
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    in_the_limit,
    serving,
)
from symshuffle.vectors.error.minimal_risk import minimal_unbiased_risk
from symshuffle.vectors.error.optimal import bmg_optimal

BITS: Final = 192


def _common_part(difference: Any, gamma: Any, mass: Any) -> Any:
    """What an output adds to the lower index's variance over gamma, by its difference and its mass in the blanket."""
    return difference**2 / (gamma * mass)


def _check_problems(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every output of every law: its stated part of the lower index is at least that of the upper, by sign; symbolic.

    40 random randomizers over Q: the lower index by the stated parts, at least the upper (inverse squares).
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    d, b, q, t = sp.symbols("d b q t", positive=True)
    gamma = t / (1 + t)
    # The law at any input is gamma b + (1 - gamma) q there; both variances are sums over outputs.
    above = statement(d, gamma, b) - d**2 / (gamma * b + (1 - gamma) * q)
    found = [decide(nonnegative(above, {}), at="every output of every law", claimed="the upper's part", symbolic=True)]
    found += [identity(above.subs(q, 0), 0, at="every output: equal where nothing is added to the blanket")]
    yield from serving("randomizers", found)
    for trial in range(40):
        found_here = cases.randomizer(rng, 2 + trial % 2, 3)
        gamma, rows = found_here.gamma, found_here.channel.rows
        triples = [zip(row, found_here.bot, found_here.blanket, strict=True) for row in rows]
        lower = max(sum((statement(a - c, gamma, m) for a, c, m in row), start=Fraction(0)) for row in triples)
        where = f"random randomizer {trial}"
        yield compare(found_here.inverse_square_lower(), lower, at=f"{where}: lower index")
        yield compare(found_here.inverse_square_upper(), lower, "<=", at=f"{where}: feasible for (5), so for (6)")


def _ratio(first: Any, second: Any, eps: Any, n: Any) -> Any:
    """The template at the first index over that at the second."""
    import sympy as sp

    return (second / first) ** 3 * sp.exp(-(first**2 - second**2) / 2 * eps**2 * n)


def _check_reduction(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open chi, eta, eps, n: the library's quotient of templates is the stated; its log is affine in eps^2 n.

    Symbolic. The slope is beyond chi eta by sign: the quotient tends to 0, or to infinity.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    chi, eta, eps, n, x = sp.symbols("chi eta epsilon n x", positive=True)
    for first, second, name in ((chi + eta, chi, "chi + eta over chi"), (chi, chi + eta, "the other way")):
        ours = leading_template(first, eps, n) / leading_template(second, eps, n)
        yield identity(sp.simplify(ours / statement(first, second, eps, n)), 1, at=f"every n: {name}")
    # log of the ratio in x = eps^2 n is affine, of slope beyond chi eta either way: so it tends to 0, or to infinity.
    for first, second, sign in ((chi + eta, chi, -1), (chi, chi + eta, 1)):
        log = sp.expand_log(sp.log(statement(first, second, sp.sqrt(x / n), n)), force=True)
        slope = sp.diff(log, x)
        steep = nonnegative(sign * slope - chi * eta, {})
        found = [
            decide(steep, at="every chi, eta: as eps^2 n grows", claimed="to 0 or infinity", symbolic=True),
            identity(sp.diff(slope, x), 0, at="every chi, eta: affine in eps^2 n"),
        ]
        yield from serving("eps^2 n", found)


def _hcr(inverse_upper: Any, d: Any) -> Any:
    return d / inverse_upper


def _check_hcr(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any estimator, two outcomes for all: Cauchy and Schwarz as a square; any mean at bot, by sign; symbolic.

    Step: one coordinate more adds its bound. Random randomizers (25 on the line, up to 4 in the plane) and RR: the
    certified least error is at least the stated bound.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    # Any estimator, two outcomes for all: with reference masses r, q, centred estimates u, w and privacy variable g, h,
    # the product of the means of squares is at least the square of the mean product; so the variance of a coordinate is
    # at least that square over the variance of the privacy variable.
    r, q, u, w, g, h, v = sp.symbols("r q u w g h v", positive=True)
    privacy, product = r * g**2 + q * h**2, r * u * g + q * w * h
    room = r * u**2 + q * w**2 - product**2 * statement(privacy, 1)
    cauchy = identity(room * privacy, r * q * (u * h - w * g) ** 2, at="any two outcomes: one coordinate")
    yield from serving("estimators", [cauchy])
    # The mean product is x_1 less c = E_bot xhat; along axis j one of e_j, -e_j is at distance 1 + |c_j| from c.
    c, d = sp.symbols("c d", positive=True)
    away = (1 + c) ** 2 / v - statement(v, 1)
    yield from serving(
        "means at bot", [decide(nonnegative(away, {}), at="any mean at bot", claimed="at least 1/v", symbolic=True)]
    )
    step = statement(v, d + 1) - statement(v, d) - statement(v, 1)
    yield identity(step, 0, at="every d: one more coordinate adds the bound of one")
    yield identity(statement(v, 1), 1 / v, at="d = 1")
    for trial in range(25):
        found = cases.randomizer(rng, 2, 2 + trial % 4)
        least = minimal_unbiased_risk(found.channel, [[1], [-1]]).bracket.lower
        where = f"random randomizer {trial}, inputs 1 and -1, mean at bot free"
        yield compare(least, statement(found.inverse_square_upper(), 1), ">=", at=where)
    for trial in range(4):
        found = cases.randomizer(rng, 4, 5)
        targets = [[1, 0], [-1, 0], [0, 1], [0, -1]]
        if _spans(found.channel):
            least = minimal_unbiased_risk(found.channel, targets).bracket.lower
            yield compare(
                least, statement(found.inverse_square_upper(), 2), ">=", at=f"random {trial}, four unit inputs"
            )
    for p in (Fraction(3, 5), Fraction(9, 10)):
        found = cases.response(p)
        least = minimal_unbiased_risk(found.channel, [[1], [-1]]).bracket.lower
        yield compare(least, statement(found.inverse_square_upper(), 1), ">=", at=f"RR({p}), where it is an equality")


def _spans(channel: Channel) -> bool:
    """Whether the rows are linearly independent: every target has an unbiased estimator."""
    import sympy as sp

    return bool(
        sp.Matrix([[sp.Rational(str(entry)) for entry in row] for row in channel.rows]).rank() == channel.num_inputs
    )


def upper_bound(e: Any, d: Any) -> Any:
    """Error over d chi^2 at A = e, with an explicit remainder."""
    return 1 + Fraction(3, 2) * e + (1 / (1 - e) + (1 - e) / d) * e * e


def _check_achievable(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every e in (0, 1) and d: log(1+u) >= 2u/(2+u) by slopes, so the stated bound covers the error, by sign; symbolic.

    Nine (chi, d) in balls: the best mixture over d chi^2.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    e, d, u, t = sp.symbols("e d u t", positive=True)
    # log(1+u) >= 2u/(2+u): equal at 0, and the derivatives differ by a square.
    gap = sp.diff(sp.log(1 + u) - 2 * u / (2 + u), u)
    yield identity(gap, u**2 / ((1 + u) * (2 + u) ** 2), at="every u > 0: slope of log(1+u) - 2u/(2+u)")
    bound = (1 + e * (1 - e) / 2) / (1 - e) + e**2 * (1 - e) / d  # A = e, u = e - e^2, u/log(1+u) <= 1 + u/2
    claimed = sp.nsimplify(statement(e, d))
    yield decide(
        nonnegative(claimed - bound, {e: t / (1 + t)}),
        at="every e in (0,1), every d",
        claimed="at least that",
        symbolic=True,
    )
    for chi in (Fraction(3), Fraction(10), Fraction(1000)):
        for dim in (1, 10, 1000):
            found = bmg_optimal(chi, dim)
            with working_precision(BITS):
                ball = Ball.from_arb((-2 * to_arb(chi).log() / 3).exp(), BITS)
            ratio = found.bracket.upper / (dim * chi**2)
            yield compare(ratio, statement(ball, Fraction(dim)), "<=", at=f"chi = {chi}, d = {dim}: the best mixture")


CLAIMS: Final = (
    Claim(
        id="vecmean.eq-5-6",
        kind="statement",
        title="the two single-user problems",
        text=r"Feasible under $\chi_{lo}\ge\chi$ is feasible under $\chi_{up}\ge\chi$: $Err^*_{up}\le Err^*_{lo}$.",
        source="vecmean, equations (5) and (6)",
        assumptions=(),
        scope="every output of every randomizer with a blanket; 40 random randomizers with various blankets",
        grade="proved",
        printed=_common_part,
        check=_check_problems,
        controls=(
            Control("without the mass", lambda d, gamma, mass: d**2 / mass),
            Control("1 % less", lambda d, gamma, mass: _common_part(d, gamma, mass) * Fraction(99, 100)),
        ),
        expected="holds",
        obligations=for_all("difference", "gamma", "mass", "randomizers"),
    ),
    Claim(
        id="vecmean.lem-3.4",
        kind="statement",
        title="privacy constraints become index constraints",
        text=(
            Clause("given", "Given Lemmas 2.6 and A.2.", "quoted"),
            Clause("chain", r"$Err^*_{up}(\chi)\le Err^*_{DP}\le Err^*_{lo}(\chi+\eta)$."),
            Clause(
                "smaller",
                r"This is because $f(\chi+\eta)/f(\chi)\to0$ by (18) and $f(\chi)/f(\chi+\eta)\to\infty$ for all "
                r"$\chi,\eta>0$.",
            ),
        ),
        source="vecmean, Lemma 3.4",
        assumptions=("Lemma 2.6 (claim vecmean.lem-2.6)", "Lemma A.2"),
        scope="the implication: ratio of templates and its limits for all arguments; not what it rests on",
        grade="proved",
        printed=_ratio,
        check=_check_reduction,
        controls=(
            Control("power 2", lambda a, b, e, n: _ratio(a, b, e, n) * a / b),
            Control("no half in the exponent", lambda a, b, e, n: _ratio(a, b, e, n) ** 2),
        ),
        expected="holds",
        obligations=(
            *for_all("first", "second", "eps", "n", clause=("chain", "smaller")),
            *in_the_limit("eps^2 n", clause=("chain", "smaller")),
        ),
    ),
    Claim(
        id="vecmean.thm-3.5",
        kind="statement",
        title="the lower bound by the upper index",
        text=(
            Clause("bound", r"$Err_1\ge d\chi_{up}^2$ for every unbiased estimator."),
            Clause(
                "mean",
                r"The mean at $\bot$, which the proof sets to 0, may be anything: the sign of $e_j$ can be "
                "chosen against it (erratum symshuffle.vecmean-mean-without-datum).",
            ),
        ),
        source="vecmean, Theorem 3.5",
        assumptions=(r"$\pm e_j$ are inputs",),
        scope=(
            "every estimator, mean at bot and d, two outcomes for all; 29 random randomizers against the certified "
            "least risk; RR, where it is an equality"
        ),
        grade="proved",
        printed=_hcr,
        check=_check_hcr,
        controls=(Control("1e-9 more", lambda v, d: d / v * (1 + Fraction(1, 10**9))),),
        expected="holds",
        obligations=(
            *for_all("inverse_upper", "d", "estimators", clause="bound"),
            *for_all("means at bot", clause="mean"),
        ),
    ),
    Claim(
        id="vecmean.cor-3.6",
        kind="statement",
        title="what a lower index allows",
        text=r"$Err^*_{lo}(\chi)\le d\chi^2(1+\frac32\chi^{-2/3}+O(\chi^{-4/3}))$.",
        source="vecmean, Corollary 3.6",
        assumptions=(r"remainder made explicit: $(1/(1-e)+(1-e)/d)e^2$, $e=\chi^{-2/3}<1$",),
        scope="every chi > 1 and every d; the certified best mixture in 9 cases",
        grade="proved",
        printed=upper_bound,
        check=_check_achievable,
        controls=(
            Control("1 in place of 3/2", lambda e, d: upper_bound(e, d) - Fraction(1, 2) * e),
            Control("remainder 1 % short", lambda e, d: upper_bound(e, d) - Fraction(1, 100) * e * e),
        ),
        expected="holds",
        obligations=for_all("e", "d"),
    ),
)
