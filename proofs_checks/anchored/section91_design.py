"""Section 9.1, continued: designs under the raw cap."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._templates import block_design_law, is_exchangeable, subset_template
from proofs_checks.anchored import _cases as cases
from proofs_checks.anchored.section8 import within_rate
from symshuffle.base.choices import Population, members
from symshuffle.base.numbers import Ball, Exp, less
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linear import Vector
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    attained,
    for_all,
    in_the_limit,
)
from symshuffle.mechanisms.finite import subset_selection
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import enumerated_risk, worst_canonical_risk
from symshuffle.utility.estimation.lower_bounds import minimax_sandwich
from symshuffle.utility.frontiers.caps import optimal_subset_sizes, raw_cap_risk_constant, raw_cap_trace
from symshuffle.utility.frontiers.orbit import mix_laws, orbit_law

ZERO: Final = Fraction(0)


FANO: Final = ((0, 1, 2), (0, 3, 4), (0, 5, 6), (1, 3, 5), (1, 4, 6), (2, 3, 6), (2, 4, 5))
"""The lines of the projective plane of order 2: every two points are on exactly one line."""


def _slacks(u: Sequence[Any], lam: Any) -> list[Any]:
    """What every pair of coordinates of a template leaves of the cap, in the order of pairs: none may be negative."""
    return [lam * u[j] - u[i] for i in range(len(u)) for j in range(len(u)) if i != j]


def _half(u: Sequence[Any], lam: Any) -> list[Any]:
    return [lam * u[j] - u[i] for i in range(len(u)) for j in range(i + 1, len(u))]


def _check_capped(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For any output and pair of inputs: the cap on its entries is a multiple of the stated slack; symbolic.

    Then 40 random channels with a null output added: privacy exactly where no slack is negative; at lam = 1 the
    constant template; exact rationals.
    """
    # An output of average mass q > 0 has the entries q u_i; all pairs of inputs are alike, so two stand for any number.
    q, first, second, lam = sp.symbols("q u_i u_j lambda", positive=True)
    entries = (q * first, q * second)
    slacks = statement((first, second), lam)
    yield compare(len(slacks), 2, at="both orders of a pair")
    for (one, other), slack in zip((entries, entries[::-1]), slacks, strict=False):
        yield identity(lam * other - one, q * slack, at="every k, lam, output: the cap on two rows and on the template")
    for trial in range(40):
        level = Fraction(2 + trial % 4)
        channel = cases.capped_channel(rng, 3, 3, level) if trial % 3 else cases.channel(rng, 3, 3, zeros=0.1)
        padded = Channel(tuple((*row, ZERO) for row in channel.rows))  # a null output must not matter
        law = AnchoredLaw.from_channel(padded)
        claimed = all(slack >= 0 for u in law.templates for slack in statement(u, level))
        at = f"channel {trial}, lam={level}, cap {channel.ratio_cap()}"
        yield compare(bool(padded.is_ldp(level)), claimed, at=at)
    flat = Channel(((Fraction(1, 2),) * 2,) * 3)
    tight = all(slack == 0 for slack in statement(AnchoredLaw.from_channel(flat).templates[0], Fraction(1)))
    yield compare(tight, True, at="lam=1: only the template 1")


def _subset_channel(k: int, s: int, lam: Fraction) -> list[tuple[Vector, Fraction]]:
    """Templates and masses of the s-subset mechanism, subset by subset."""
    from itertools import combinations

    total = s * lam + k - s
    subsets = list(combinations(range(k), s))
    return [(tuple(k * (lam if i in a else 1) / total for i in range(k)), Fraction(1, len(subsets))) for a in subsets]


def _check_subset(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For five choices of k, s, lam: atoms of the mechanism's law against the stated ones; exact rationals.

    It is the orbit law of its template.
    """
    for k, s, lam in ((4, 2, "3"), (5, 2, "3/2"), (6, 3, "7/3"), (4, 1, "2"), (5, 4, "3")):
        ratio = Fraction(lam)
        law = AnchoredLaw.from_channel(subset_selection().at(k=k, s=s, lam=ratio).channel())
        claimed = sorted((tuple(map(Fraction, u)), w) for u, w in statement(k, s, ratio))
        yield decide(list(law.template.atoms()) == claimed, at=f"k={k}, s={s}, lam={lam}", claimed="the printed law")
        yield compare(orbit_law(subset_template(k, s, ratio)), law, at=f"k={k}, s={s}, lam={lam}: its orbit")


def _design_risks(k: int, best: Any) -> tuple[Any, Any]:
    """Users times the smallest worst-case risk, i.i.d. and fixed composition, from the largest trace."""
    return (k - 1) ** 2 / best, (k - 1) ** 2 / best - (k - 1) / k


def _design_for_all(statement: Statement) -> Iterator[Comparison]:
    """Risks of an exchangeable law by its trace (Propositions 5.5 and 5.7); why only the largest trace is optimal."""
    k, tau, more, u, step = sp.symbols("k tau d u h", positive=True)
    iid, fixed = statement(k, tau)
    size = tau / (tau / (k - 1)) ** 2  # a covariance tau/(k - 1) I, rows of trace tau
    yield identity(size, iid, at="every k and trace: i.i.d., at uniform")
    yield identity(size - (1 - 1 / k), fixed, at="every k and trace: fixed composition, any vertex")
    for name, risk, larger in zip(("i.i.d.", "fixed"), (iid, fixed), statement(k, tau + more), strict=True):
        loss = sp.factor(risk - larger)
        falls = sp.fraction(loss.subs(k, 1 + u))
        strictly = all(sp.expand(part).is_positive for part in falls)
        at = f"{name}: a larger trace has a strictly smaller risk"
        yield from serving("converse", [decide(strictly, at=at, claimed="<", symbolic=True)])
    bend = sp.expand(((u + step) ** 2 + (u - step) ** 2) / 2 - u**2)
    at = "the trace is strictly convex in a template: only vertices (Lemma 9.2) are largest"
    yield decide(bend.is_positive is True, at=at, claimed="> 0", symbolic=True)


def _check_design(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """For every k and trace: both risks of an exchangeable law against the stated ones; symbolic.

    The converse: a larger trace has a smaller risk, and only vertices have the largest. Then three choices by
    enumeration, capped channels that are no better, other orbits, and a mixture at a tie, in exact rationals.
    """
    yield from _design_for_all(statement)
    for k, lam in ((4, Fraction(3, 2)), (3, Fraction(2)), (4, Fraction(4))):
        s = optimal_subset_sizes(k, lam)[0]
        channel = subset_selection().at(k=k, s=s, lam=lam).channel()
        best = max(statement_trace(k, t, lam) for t in range(1, k))
        iid, fixed = statement(Fraction(k), best)
        uniform = (Fraction(1, k),) * k
        where = f"k={k}, lam={lam}"
        for n in (1, 2):
            value, _ = enumerated_risk(channel, uniform, n=n, population="iid")
            yield compare(n * value, iid, at=f"{where}, n={n}: i.i.d. at uniform, by enumeration")
        held = tuple(Fraction(v, 2) for v in (1, 1, *(0,) * (k - 2)))
        value, _ = enumerated_risk(channel, held, n=2, population="fixed")
        yield compare(2 * value, fixed, at=f"{where}, n=2: fixed composition, by enumeration")
        for population, claimed in zip(members(Population), (fixed, iid), strict=True):
            library = raw_cap_risk_constant(k, lam, population=population)
            yield compare(library, claimed, at=f"{where}: the library, {population}")
            for trial in range(4):
                other = AnchoredLaw.from_channel(cases.capped_channel(rng, k, k + 1, lam))
                worst, _ = worst_canonical_risk(other, n=1, population=population)
                yield decide(
                    worst >= claimed, at=f"{where}: capped channel {trial}, {population}", claimed=f">= {claimed}"
                )
    yield from _converse(statement, rng)
    tied = mix_laws([orbit_law(subset_template(10, s, Fraction(6))) for s in (1, 2)], [Fraction(1, 3), Fraction(2, 3)])
    worst, _ = worst_canonical_risk(tied, n=1, population="iid")
    yield decide(
        worst == statement(Fraction(10), Fraction(10))[0],
        at="k=10, lam=6: a mixture of the two tied sizes",
        claimed="optimal too",
    )


def _converse(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Orbits of the best sizes attain the claimed risk, and no other orbit under the cap does."""
    for k, lam in ((3, Fraction(2)), (4, Fraction(4)), (7, Fraction(3, 2)), (10, Fraction(6))):
        best = max(statement_trace(k, s, lam) for s in range(1, k))
        claimed, sizes = statement(Fraction(k), best)[0], optimal_subset_sizes(k, lam)
        for s in range(1, k):
            risk = (k - 1) ** 2 / statement_trace(k, s, lam)
            yield compare(risk == claimed, s in sizes, at=f"converse, k={k}, lam={lam}: size {s} is optimal")
        for trial in range(6):
            levels = [1 + (lam - 1) * Fraction(v, 6) for v in cases.integers(rng, k, 0, 6)]
            levels[0] = 1 + (lam - 1) * Fraction(1 + trial % 5, 6)  # strictly between the two levels
            u = tuple(k * level / sum(levels) for level in levels)
            trace = sum((entry**2 for entry in u), start=ZERO) - k
            below = trace == 0 or (k - 1) ** 2 / trace > claimed
            yield compare(below, True, at=f"converse, k={k}, lam={lam}: orbit with three levels, case {trial}")


def statement_trace(k: int, s: int, lam: Fraction) -> Fraction:
    """Trace of the s-subset mechanism, from its templates one by one."""
    return orbit_law(subset_template(k, s, lam)).trace()


def _only_exchangeable(law: AnchoredLaw) -> bool:
    """Must an optimal law be exchangeable? The remark leaves room for others."""
    return is_exchangeable(law)


def _check_scope(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The Fano plane at k = 7, lam = 3/2: best trace, optimal risks, and exchangeable or not, as stated; exact."""
    lam = Fraction(3, 2)
    law = block_design_law(FANO, 7, lam)
    yield compare(optimal_subset_sizes(7, lam), (3,), at="k=7, lam=3/2: best size")
    yield compare(
        (law.trace(), len(law.weights)), (raw_cap_trace(7, lam), 7), at="Fano plane: best trace from 7 of 35 outputs"
    )
    for population in members(Population):
        risk = worst_canonical_risk(law, n=1, population=population)[0]
        yield decide(
            risk == raw_cap_risk_constant(7, lam, population=population),
            at=f"Fano plane, {population}",
            claimed="optimal worst-case risk",
        )
    yield compare(is_exchangeable(law), statement(law), at="Fano plane: exchangeable")


def _raw_cap_limit(k: Any) -> Any:
    """The limit of n T* times the minimax risk."""
    return (k - 1) ** 2


def _check_raw_cap_limit(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """For every k and n: canonical risk above and van Trees below, with a rate, at the stated limit; symbolic.

    Then k = 3 and 10 at fixed and falling budgets, n up to 1e18: certified sides of the stated value. At budgets eps
    near 0 the trace is near eps^2 floor(k^2/4)/k.
    """
    inputs = 1 + sp.Symbol("kappa", positive=True)
    yield from serving("n", within_rate(statement(inputs), inputs, sp.Integer(1)))  # the budget is the trace itself
    for k in (3, 10):
        for name, budgets in (("fixed", ["1"] * 4), ("falling", ["1/10", "1/100", "1/1000", "1/10000"])):
            previous = ZERO
            for step, eps in enumerate(budgets):
                n = 10 ** (6 + 4 * step)
                best = raw_cap_trace(k, Exp(Fraction(eps)))
                found = minimax_sandwich(k, best, n)
                where = f"k={k}, eps0={eps}, n=1e{6 + 4 * step}"
                yield decide(
                    less(n * best * found.lower.lower, statement(k)), at=where, claimed="lower side below the limit"
                )
                least = statement(k) * (1 - Fraction(1, 10**15))
                yield decide(
                    ~less(n * best * found.canonical.upper, least), at=where, claimed="upper side not below it"
                )
                yield compare(found.ratio, previous, ">", at=f"{where}: the sandwich narrows")
                previous = found.ratio
            yield compare(
                previous, Fraction(99, 100), ">", at=f"k={k}, {name} budget: lower over canonical at the last step"
            )
    for k in (3, 9, 20):
        best = raw_cap_trace(k, Exp(Fraction(1, 10**6)), bits=256)
        yield decide(
            _near(best * 10**12, Fraction((k * k) // 4, k), Fraction(1, 10**5)),
            at=f"k={k}, eps0=1e-6",
            claimed="T*/eps0^2 near floor(k^2/4)/k",
        )


def _near(value: Any, target: Fraction, relative: Fraction) -> bool:
    """Whether a value is within that relative distance of a target."""
    ball = value if isinstance(value, Ball) else Ball(value, value)
    return target * (1 - relative) <= ball.lower and ball.upper <= target * (1 + relative)


CLAIMS: Final = (
    Claim(
        id="anchored.prop-9.1",
        kind="statement",
        title="the raw cap in template coordinates",
        text=r"A channel is $\log\lambda$-LDP exactly if all its templates have $u_i\le\lambda u_j$ for all $i,j$.",
        source="anchored, Proposition 9.1",
        assumptions=("outputs of probability zero are dropped",),
        scope="every k, lam and output; 40 random channels with a null output added, some with zeros; lam = 1",
        grade="proved",
        printed=_slacks,
        check=_check_capped,
        controls=(
            Control("pairs i < j only", _half),
            Control("a cap one percent larger", lambda u, lam: _slacks(u, lam * Fraction(101, 100))),
        ),
        expected="holds",
        obligations=for_all("u", "lam"),
    ),
    Claim(
        id="anchored.def-9.subset",
        kind="definition",
        title="the s-subset mechanism",
        text=(
            Clause(
                "template",
                r"$u^{(s)}$ has $s$ coordinates $\frac{k\lambda}{s\lambda+k-s}$ and $k-s$ coordinates $\frac "
                r"k{s\lambda+k-s}$.",
            ),
            Clause("orbit", "The mechanism is its orbit law."),
        ),
        source="anchored, Section 9",
        assumptions=(r"$1\le s\le k-1$, $\lambda>1$",),
        scope="5 parameter choices, against the mechanism",
        grade="exact-cases",
        printed=_subset_channel,
        check=_check_subset,
        controls=(
            Control(
                "complementary subsets",
                lambda k, s, lam: _subset_channel(k, k - s, lam) if 2 * s != k else _subset_channel(k, 1, lam),
            ),
        ),
        expected="definition",
        obligations=for_all("k", "s", "lam", clause=("template", "orbit")),
    ),
    Claim(
        id="anchored.thm-9.4",
        kind="statement",
        title="exact canonical design under the raw cap",
        text=(
            Clause(
                "risks",
                r"The smallest worst-case canonical risk is $\frac{(k-1)^2}{nT^*}$ (i.i.d.) and "
                r"$\frac1n[\frac{(k-1)^2}{T^*}-\frac{k-1}k]$ (fixed), $T^*=\max_sT_k(s;\lambda)$, attained by "
                "mixtures of the maximising sizes.",
            ),
            Clause("converse", "Conversely, every exchangeable optimiser is one (converse)."),
        ),
        source="anchored, Theorem 9.4",
        assumptions=(r"$\lambda>1$",),
        scope=(
            "every k and trace, with Theorem 9.3; 3 choices of k and lam by enumeration, 4 capped channels each; a "
            "mixture at a tie; converse: all sizes and 6 other orbits at 4 choices"
        ),
        grade="proved",
        printed=_design_risks,
        check=_check_design,
        controls=(
            Control(
                "k(k-1) in place of (k-1)^2",
                lambda k, best: tuple(value * k / (k - 1) for value in _design_risks(k, best)),
            ),
            Control("the risks exchanged", lambda k, best: _design_risks(k, best)[::-1]),
            Control("risks that grow with the trace", lambda k, best: _design_risks(k, 1 / best)),
        ),
        expected="holds",
        obligations=(
            *for_all("k", "best", clause="risks"),
            *for_all("converse", clause="converse"),
        ),
    ),
    Claim(
        id="anchored.rem-9.5",
        kind="statement",
        title="optimisers need not be exchangeable",
        text=(
            Clause("classification", "The classification covers exchangeable optimisers.", "quoted"),
            Clause("others", "Others exist: a 2-design of optimal block size attains the same trace and risks."),
        ),
        source="anchored, Remark 9.5",
        assumptions=(),
        scope="the Fano plane at k = 7, lam = 3/2: 7 outputs in place of 35",
        grade="certified",
        printed=_only_exchangeable,
        check=_check_scope,
        controls=(Control("every optimiser is exchangeable", lambda law: True),),
        expected="holds",
        obligations=attained("law", clause="others"),
    ),
    Claim(
        id="anchored.cor-9.6",
        kind="statement",
        title="asymptotic minimax under a varying raw cap",
        text=(
            r"If $nT^*_n\to\infty$, then $nT^*_n$ times the minimax risk over $\varepsilon_n$-LDP channels and all "
            r"estimators tends to $(k-1)^2$."
        ),
        source="anchored, Corollary 9.6",
        assumptions=("$k$ fixed, i.i.d. users", "Theorem 9.3 and Lemma A.1"),
        scope=(
            "every k and n, within 1 - O((n T)^-1/2); k = 3 and 10, fixed and falling budgets, n up to 1e18: certified "
            "sides that close to 1 percent"
        ),
        grade="proved",
        printed=_raw_cap_limit,
        check=_check_raw_cap_limit,
        controls=(
            Control("the constant k(k-1)", lambda k: k * (k - 1)),
            Control("the constant (k-2)^2", lambda k: (k - 2) ** 2),
        ),
        expected="holds",
        obligations=(*for_all("k"), *in_the_limit("n")),
    ),
)
