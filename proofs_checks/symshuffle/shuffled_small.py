"""The best channel after shuffling where few users or a small delta leave nothing to search."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks.symshuffle._orbits import exact_bound
from proofs_checks.symshuffle._shuffled_limits import chain_templates, one_user_line, one_user_loss
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored.law import template_signal
from symshuffle.utility.frontiers.orbit import subset_orbit

F = Fraction


SOURCE: Final = "symshuffle.design.shuffled"


def _line(k: int, exp_eps: Fraction, loss: Fraction) -> Fraction:
    """Largest trace at a loss, for one user: from the best trace at ratio exp(eps) to that of the identity."""
    start = _raw_cap(k, exp_eps)
    return start + loss * (k * (k - 1) - start)


def _raw_cap(k: int, lam: Fraction) -> Fraction:
    return max(subset_orbit(k, s, lam).signal for s in range(1, k))


def _lower_line(k: int, exp_eps: Fraction, loss: Fraction) -> Fraction:
    return _raw_cap(k, exp_eps) * (1 - loss) + loss * (k - 1) ** 2


def _check_one_user(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every vertex for k <= 7 and six ratios: the trace is at most the stated line, which two of them attain.

    On a cell where the order of u_i and exp(eps) u_j is fixed the loss is linear and the trace convex, so a line above
    all vertices is above all templates. Random templates in rationals as well.
    """
    for k in range(2, 8):
        for order in (F(1), F(11, 10), F(3, 2), F(2), F(3), F(10)):
            at = f"k={k}, exp(eps)={order}"
            touching = 0
            above = True
            for u in chain_templates(k, order):
                loss, trace = one_user_loss(u, order), template_signal(u)
                above &= trace <= statement(k, order, loss)
                touching += trace == statement(k, order, loss)
            yield decide(above, at=at, claimed="no vertex is above the line")
            yield decide(touching >= 2, at=at, claimed="the line is attained at both ends")
            yield compare(one_user_line(k, order, F(1, 7)), statement(k, order, F(1, 7)), at=f"{at}: in the library")
            for _ in range(4):
                raw = [int(v) for v in rng.integers(0, 30, size=k)]
                raw[0] += 1
                u = tuple(F(v * k, sum(raw)) for v in raw)
                limit = statement(k, order, one_user_loss(u, order))
                yield compare(template_signal(u), limit, "<=", at=f"{at}: a template")
    for k, lam, order in ((3, F(4), F(2)), (4, F(3), F(3, 2))):
        orbits = (subset_orbit(k, 1, lam),)
        own = one_user_loss(orbits[0].template(), order)
        yield compare(exact_bound(orbits, 1, order), own, at=f"k={k}: the loss is the certified bound at n=1")


def _largest_gain(k: Any, s: Any, lam: Any, exp_eps: Any) -> tuple[Any, Any]:
    """Largest value of G of subset selection, and its mass."""
    return lam - exp_eps, s * (k - s) / ((k - 1) * (s * lam + k - s))


def _smaller_share(k: Any, s: Any, lam: Any, exp_eps: Any) -> tuple[Any, Any]:
    return lam - exp_eps, s * (k - s) / (k * (s * lam + k - s))


def _other_way(k: Any, s: Any, lam: Any, exp_eps: Any) -> tuple[Any, Any]:
    return exp_eps - lam, _largest_gain(k, s, lam, exp_eps)[1]


def _check_small_delta(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every k, s, ratio and level, symbolic: the largest of the values of G, its mass, and that no other is positive.

    So p^n v <= H(n) <= p v for a largest value v >= 0 of mass p: all n terms are v with probability p^n, and (a + b)_+
    is at most a_+ + b_+. For every template the largest value is that at its ratio. Then subsets of every size, k <= 5,
    n <= 4, exact: both bounds on H(n), and 0 exactly up to exp(eps).
    """
    k, s, v, m = sp.symbols("k s v m", positive=True)
    w, x, y, z = sp.symbols("w x y z", nonnegative=True)
    lam, order = 1 + v, 1 + w
    value, mass = statement(k, s, lam, order)
    least = k / (s * lam + k - s)  # of a template with s levels lam least and k - s levels least
    yield identity(
        value, (lam * least - order * least) / least, at="every k, s: G where the first input is inside alone"
    )
    yield identity(mass, least * s * (k - s) / (k * (k - 1)), at="every k, s: its mass, by ordered pairs")
    others = {"both": lam - order * lam, "neither": 1 - order, "the second alone": 1 - order * lam}
    for where, other in others.items():
        below = nonnegative(sp.expand(value - other), {}) and nonnegative(sp.expand(-other), {})
        yield decide(
            below, at=f"every ratio and level: {where} inside", claimed="no larger, and not positive", symbolic=True
        )
    top = statement(k, s, (m + x + z) / m, order)[0]
    slack = (z + order * y) / m
    yield identity(
        top - ((m + x) - order * (m + y)) / m, slack, at="every template: no pair is above its ratio's value"
    )
    for inputs, n, level in itertools.product((2, 3, 5), (1, 2, 4), (F(1), F(6, 5), F(2))):
        for size in range(1, inputs):
            for ratio in (level - F(1, 20), level, level + F(1, 1000), level + 1):
                if ratio > 1:
                    bound = exact_bound((subset_orbit(inputs, size, ratio),), n, level)
                    gain, share = statement(inputs, size, ratio, level)
                    at = f"k={inputs}, s={size}, n={n}, exp(eps)={level}, lam={ratio}"
                    yield decide((bound == 0) is (gain <= 0), at=at, claimed="bound 0 or not")
                    yield compare(share**n * max(gain, F(0)), bound, "<=", at=f"{at}: from below")
                    yield compare(bound, share * max(gain, F(0)), "<=", at=f"{at}: from above")


CLAIMS: Final = (
    Claim(
        id="symshuffle.shuffled-one-user",
        kind="statement",
        title="for one user the best trace is a line in delta, for up to seven inputs",
        text=(
            Clause(
                "line",
                r"For $n=1$ the largest trace of an exchangeable channel with certified bound at most $\delta$ "
                r"is $(1-\delta)T_k(e^\varepsilon)+\delta k(k-1)$, with $T_k(\lambda)$ the largest trace at the "
                r"ratio cap $\lambda$: the best subset selection of ratio $e^\varepsilon$, or with probability "
                r"$\delta$ the true value.",
            ),
            Clause("decided", "Decided for k up to 7 at six levels; open for all k and levels.", "quoted"),
        ),
        source=f"{SOURCE}.one_user",
        assumptions=("exchangeable channels", "k = 2..7", "exp(eps) in {1, 11/10, 3/2, 2, 3, 10}"),
        scope="all vertices of the cells on which the loss is linear, k <= 7, six levels",
        grade="exact-cases",
        printed=_line,
        check=_check_one_user,
        controls=(Control("the identity with (k-1)^2", _lower_line),),
        expected="holds",
        obligations=for_all("k", "exp_eps", "loss", clause="line"),
    ),
    Claim(
        id="symshuffle.shuffled-small-delta",
        kind="statement",
        title="for a fixed number of users and delta to 0 the ratio cap exp(eps) is what remains",
        text=(
            Clause(
                "largest",
                r"The largest value of $G$ of subset selection is $\lambda-e^\varepsilon$, of mass "
                r"$p=s(k-s)/((k-1)(s\lambda+k-s))$, and no other one is positive.",
            ),
            Clause(
                "falls",
                r"So for $\lambda\ge e^\varepsilon$, at every $n$, "
                r"$p^n(\lambda-e^\varepsilon)\le H(n)\le p(\lambda-e^\varepsilon)$: $H(n)$ is 0 exactly if the ratio "
                r"is at most $e^\varepsilon$, and it falls to 0 with the excess of the ratio.",
            ),
            Clause(
                "cap",
                r"The largest value for a template of any kind is that at its ratio, so at $\delta=0$ the problem is "
                "the largest trace at a ratio cap.",
            ),
        ),
        source=SOURCE,
        assumptions=("subset selection of ratio above 1", "for the cap: templates without zeros"),
        scope="every k, s, ratio and level, symbolic; both bounds on H(n), exact, for k <= 5, n <= 4",
        grade="proved",
        printed=_largest_gain,
        check=_check_small_delta,
        controls=(Control("k for k - 1 in the mass", _smaller_share), Control("the other sign", _other_way)),
        expected="holds",
        obligations=(
            *for_all("k", "s", clause=("largest", "falls")),
            *for_all("lam", "exp_eps", clause=("largest", "falls", "cap")),
        ),
    ),
)
