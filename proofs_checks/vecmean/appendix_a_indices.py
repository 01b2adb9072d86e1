"""Appendices A.2 and A.3: post-processing, and what the indices say of profiles and of errors."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean import _cases as cases
from proofs_checks.vecmean._templates import leading_template
from symshuffle.channels.channel import Channel
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    serving,
)
from symshuffle.vectors.error.minimal_risk import (
    minimal_unbiased_risk,
)
from symshuffle.vectors.randomizers.mechanisms import FiniteRandomizer


def _merged(p: Any, q: Any, k: Any, h: Any) -> Any:
    """Mass of a new output, to which two old ones of masses p, q are sent with probabilities k, h; for every law."""
    return k * p + h * q


def _pushed(found: FiniteRandomizer, kernel: Any, merged: Statement) -> FiniteRandomizer:
    """Rows, null law and blanket followed by a kernel, two outputs at a time."""

    def after(law: Any) -> tuple[Any, ...]:
        masses = []
        for z in range(kernel.num_outputs):
            mass = Fraction(0)
            for entry, row in zip(law, kernel.rows, strict=True):
                mass = merged(mass, entry, Fraction(1), row[z])
            masses.append(mass)
        return tuple(masses)

    rows = tuple(after(row) for row in found.channel.rows)
    return FiniteRandomizer(Channel(rows), after(found.bot), found.gamma, after(found.blanket))


def _check_processing(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Two outputs merged with open probabilities: the privacy variance loses a square; kernels by such steps; symbolic.

    60 random randomizers and kernels over Q: stated merges are the library's, and no inverse square of an index rises,
    nor with the largest blanket before and after.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    p, q, u, v, r, s, k, h = sp.symbols("p q u v r s k h", positive=True)
    # The new variable is the conditional mean, and the variance loses a square; a kernel is such merges, one after
    # another, and its probabilities add up to 1 at each old output.
    new = (statement(p, q, k, h) - statement(u, v, k, h)) ** 2 / statement(r, s, k, h)
    kept = k * (p - u) ** 2 / r + h * (q - v) ** 2 / s
    lost = k * h * ((p - u) * s - (q - v) * r) ** 2 / (r * s * (k * r + h * s))
    at = "every kernel, two outputs at a time: what the variance loses"
    yield from serving("randomizers", [identity(kept - new, lost, at=at)])
    # Any row is the least one, (r, s), and something more at either output: so is what it is merged to.
    more, rest = sp.symbols("x y", nonnegative=True)
    above = sp.expand(statement(r + more, s + rest, k, h) - statement(r, s, k, h))
    at = "every kernel: the least row after is at least the least row before, merged"
    least = decide(nonnegative(above, {}), at=at, claimed="no smaller", symbolic=True)
    yield from serving("largest blankets", [least])
    for trial in range(60):
        found, kernel = cases.randomizer(rng, 2 + trial % 2, 3), cases.kernel(rng, 3, 2 + trial % 2)
        after, where = _pushed(found, kernel, statement), f"random randomizer {trial}"
        yield decide(after == found.postprocess(kernel), at=where, claimed="the library's")
        yield from _no_lower(after, found, where)
        largest = found.with_largest_blanket()
        again = _pushed(largest, cases.kernel(rng, 3, 2), statement).with_largest_blanket()
        yield compare(
            again.inverse_square_lower(),
            largest.inverse_square_lower(),
            "<=",
            at=f"{where}, largest blankets on both sides",
        )


def _no_lower(after: FiniteRandomizer, before: FiniteRandomizer, where: str) -> Iterator[Comparison]:
    """Neither index is lower after: inverse squares, exactly."""
    yield compare(after.inverse_square_upper(), before.inverse_square_upper(), "<=", at=f"{where}, upper index")
    yield compare(after.inverse_square_lower(), before.inverse_square_lower(), "<=", at=f"{where}, lower index")


def _refreshed(found: FiniteRandomizer, kernel: Any) -> FiniteRandomizer:
    """The convention that the null law is the blanket of the processed channel, applied anew after processing."""
    return FiniteRandomizer.from_channel(found.channel.push_forward(kernel))


def _check_refreshed(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """60 random randomizers and kernels over Q: no index is lower, by the stated way to process."""
    for trial in range(60):
        found, kernel = cases.randomizer(rng, 2 + trial % 2, 3), cases.kernel(rng, 3, 2 + trial % 2)
        yield from _no_lower(statement(found, kernel), found, f"random randomizer {trial}")


def _exponent(chi: Any, other: Any) -> Any:
    """Rate at which log f(chi)/f(other) moves with eps^2 n, in (18) and in the lower bound."""
    return (other**2 - chi**2) / 2


def _check_bookkeeping(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open chi, eta, eps, n: the log of a quotient of templates moves at the stated rate, beyond chi eta; symbolic."""
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    chi, eta, eps, n = sp.symbols("chi eta epsilon n", positive=True)
    for first, second, sign in ((chi + eta, chi, -1), (chi, chi + eta, 1)):
        logs = [sp.expand_log(sp.log(leading_template(c, eps, n)), force=True) for c in (first, second)]
        rate = statement(first, second)
        rest = sp.expand(logs[0] - logs[1] - rate * eps**2 * n)
        yield identity(sp.simplify(rest - 3 * sp.log(second) + 3 * sp.log(first)), 0, at="every n: log of the ratio")
        far = nonnegative(sign * rate - chi * eta, {})
        yield decide(far, at="every eta > 0", claimed="rate beyond chi eta: to 0 or infinity", symbolic=True)


def _bounded(target: Any, null: Any, variance: Any) -> tuple[Any, Any]:
    """Mean product of estimate and privacy variable, from the means of the estimate; the least variance by it."""
    return target - null, (target - null) ** 2 / variance


def _check_steps(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any outcomes, one more at a time, of open masses and values: mean product (27), Cauchy and Schwarz; symbolic.

    20 random randomizers over Q with the estimator of least risk: mean product, variance against the stated bound,
    privacy variance against the index.
    """
    import sympy as sp

    a, b, c, r = sp.symbols("a b c r", positive=True)
    e, v, t, base, product = sp.symbols("e v t n P", real=True)
    w = sp.Symbol("w", positive=True)
    # An outcome of probability a at x1, b at bot and c at the reference, estimate e: what it adds to the mean product
    # under the reference, against what it adds to the means t at x1 and n at bot.
    added = statement(t + a * e, base + b * e, w)[0] - statement(t, base, w)[0]
    steps = [
        identity(statement(sp.Integer(0), sp.Integer(0), w)[0], 0, at="no outcome: (27)"),
        identity(sp.expand(c * e * ((a - b) / c)), sp.expand(added), at="every further outcome: (27)"),
    ]
    # Centred estimate e and privacy variable v at mass r: the variance grows by r e^2, its bound by a square less.
    after = statement(product + r * e * v, sp.Integer(0), w + r * v**2)[1]
    gain = r * e**2 - r * (e * w - v * product) ** 2 / (w * (w + r * v**2))
    steps += [
        identity(statement(r * e * v, sp.Integer(0), r * v**2)[1], r * e**2, at="one outcome: (28), equality"),
        identity(after, statement(product, sp.Integer(0), w)[1] + gain, at="every further outcome: (28)"),
    ]
    yield from serving("outcomes", steps)
    for trial in range(20):
        found = cases.randomizer(rng, 2, 4)
        rows: Any = found.channel.rows
        single = minimal_unbiased_risk(found.channel, [[1], [-1]])
        values: Any = [row[0] for row in single.estimator]
        null: Any = sum((b * e for b, e in zip(found.bot, values, strict=True)), Fraction(0))
        for x1, target in enumerate((1, -1)):
            for ref in range(2):
                privacy = [(a - b) / c for a, b, c in zip(rows[x1], found.bot, rows[ref], strict=True)]
                product = sum((c * e * v for c, e, v in zip(rows[ref], values, privacy, strict=True)), Fraction(0))
                said = statement(target, null, found.privacy_variance(x1, rows[ref]))
                yield compare(product, said[0], at=f"trial {trial}: (27) with the mean at bot as it is")
                mean = sum((c * e for c, e in zip(rows[ref], values, strict=True)), Fraction(0))
                spread = sum((c * (e - mean) ** 2 for c, e in zip(rows[ref], values, strict=True)), Fraction(0))
                yield compare(spread, said[1], ">=", at=f"trial {trial}: (28)")
                bound = found.inverse_square_upper()
                yield compare(found.privacy_variance(x1, rows[ref]), bound, "<=", at=f"trial {trial}: (29)")


CLAIMS: Final = (
    Claim(
        id="vecmean.lem-A.3",
        kind="statement",
        title="post-processing does not lower an index",
        text=(
            Clause(
                "pushed",
                r"$\chi_{up}(K\circ R)\ge\chi_{up}(R)$ and $\chi_{lo}(K\circ R)\ge\chi_{lo}(R)$, null law and blanket "
                "pushed forward.",
            ),
            Clause(
                "largest",
                r"The lower index also with the largest blanket on both sides: $\min_x(K\circ R_x)$ is at least "
                r"$K\min_xR_x$, so $\chi_{lo}^{-2}=\sup\int(R_x-R_\bot)^2/\min_xR_x$ is no larger after.",
            ),
        ),
        source="vecmean, Lemma A.3",
        assumptions=(r"$R'_\bot=K\circ R_\bot$, as printed; see symshuffle.vecmean-fresh-null-law",),
        scope=(
            "every law and reference, kernels on finitely many outputs by two at a time; 60 random randomizers and "
            "kernels, three readings of the blanket"
        ),
        grade="proved",
        printed=_merged,
        check=_check_processing,
        controls=(
            Control("null law taken anew from the processed channel", _refreshed, check=_check_refreshed),
            Control("1 % more mass", lambda p, q, k, h: _merged(p, q, k, h) * Fraction(101, 100)),
        ),
        expected="holds",
        obligations=(
            *for_all("p", "q", "k", "h", clause=("pushed", "largest")),
            *for_all("randomizers", clause="pushed"),
            *for_all("largest blankets", clause="largest"),
        ),
    ),
    Claim(
        id="vecmean.eq-14-26",
        kind="statement",
        title="steps behind the index reduction",
        text=r"$\log f(\chi_1)/f(\chi_2)=3\log(\chi_2/\chi_1)-\frac12(\chi_1^2-\chi_2^2)\varepsilon^2n$.",
        source="vecmean, equations (14) to (26)",
        assumptions=(),
        scope="the ratios of (18) and (24) for all arguments, and the sign of their rate",
        grade="proved",
        printed=_exponent,
        check=_check_bookkeeping,
        controls=(Control("without the half", lambda a, b: 2 * _exponent(a, b)),),
        expected="holds",
        obligations=for_all("chi", "other"),
    ),
    Claim(
        id="vecmean.eq-27-30",
        kind="statement",
        title="steps behind the lower bound",
        text=(
            Clause("inner product", r"$E_{R_x}[\hat x\ell_0]=x_1-x_1'$."),
            Clause("variance", r"$Var\,\varphi(\hat x)\ge\varphi(x_1-x_1')^2/Var\,\ell_0$."),
        ),
        source="vecmean, equations (27) to (30)",
        assumptions=(),
        scope="(27), (28) for any outcomes, one more at a time; 20 random randomizers, the estimator of least risk",
        grade="proved",
        printed=_bounded,
        check=_check_steps,
        controls=(
            Control("1 % more", lambda t, n, v: (_bounded(t, n, v)[0], _bounded(t, n, v)[1] * Fraction(101, 100))),
            Control("means added", lambda t, n, v: _bounded(t, -n, v)),
            Control("without the mean at bot", lambda t, n, v: _bounded(t, 0 * n, v)),
        ),
        expected="holds",
        obligations=for_all("target", "null", "variance", "outcomes", clause=("inner product", "variance")),
    ),
)
