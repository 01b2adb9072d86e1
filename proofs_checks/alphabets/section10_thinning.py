"""Section 10: what thinning a k-ary response gains over retuning it, in general and at seven instances."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks._templates import critical_ratio
from proofs_checks.alphabets._cases import ROOT
from proofs_checks.alphabets._equivariant import risk_constant
from symshuffle.base.numbers import Exp, Real, lower_end, upper_end
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, evaluate
from symshuffle.utility.frontiers.equivariant import matched_risk, optimal_equivariant_risk, thinning_gain
from symshuffle.utility.frontiers.formulas import at, subset_budget
from symshuffle.utility.frontiers.frontier import threshold_budget


def _gain(k: Any, ratio: Any, root: Any) -> dict[str, Any]:
    """At B = chi_k(C): n times both risks, their ratio, and its limit at B = 0."""
    budget = (ratio - 1) ** 2 * (ratio + 1) / (ratio * (ratio + k - 1))
    best = (1 + root) ** 2
    tuned = (ratio + 1) * (ratio + k - 1) / ratio
    return {
        "optimal": (k - 1) / k * (best / budget - 1),
        "calibrated": (k - 1) * (2 * ratio + k - 2) / (ratio - 1) ** 2,
        "ratio": (tuned - budget) / (best - budget),
        "limit": 2 * k / best,
    }


def _gain_limit(k: Any, ratio: Any, root: Any) -> dict[str, Any]:
    return {**_gain(k, ratio, root), "limit": 2 * (k - 1) / (1 + root) ** 2}


def _gain_larger(k: Any, ratio: Any, root: Any) -> dict[str, Any]:
    said = _gain(k, ratio, root)
    return {**said, "ratio": said["ratio"] * 101 / 100}


def _check_gain(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open k = r^2 + 1 and C: both risks at the budget of C, their ratio and its limit at budget 0; symbolic.

    From the library's budget; the excess of the calibrated risk is (C - r)^2/C up to a positive factor. Four (k, C):
    the library's optimum over Q, its calibrated risk and gain in brackets.
    """
    size = ROOT**2 + 1
    said = statement(size, LAM, ROOT)
    spent = subset_budget().subs(S, 1).subs(K, size)
    cap = ROOT**2 * size * spent / (1 + ROOT) ** 2  # trace of augmented response at this budget
    yield identity(ROOT**4 / cap - ROOT**2 / size, said["optimal"], at="every k, C: smallest risk")
    yield identity(risk_constant().subs(S, 1).subs(K, size), said["calibrated"], at="every k, C: calibrated response")
    yield identity(said["calibrated"] / said["optimal"], said["ratio"], at="every k, C: ratio")
    excess = said["calibrated"] - said["optimal"]
    yield identity(excess * size / ROOT**2 * spent, (LAM - ROOT) ** 2 / LAM, at="every k, C: excess is a square")
    yield identity(said["ratio"].subs(LAM, 1), said["limit"], at="every k: limit at budget 0")
    for k, r, c in (
        (5, 2, Fraction(3, 2)),
        (10, 3, Fraction(2)),
        (101, 10, Fraction(4)),
        (10**8 + 1, 10**4, Fraction(9)),
    ):
        claimed = statement(Fraction(k), c, Fraction(r))
        budget = lower_end(at(subset_budget(), k=k, s=1, lam=c))
        best, _frontier = optimal_equivariant_risk(k, budget, n=1, population="fixed")
        yield compare(best.exact, claimed["optimal"], at=f"k={k}, C={c}: the library's optimum")
        tuned = matched_risk(k, 1, budget, n=1)
        yield decide(tuned.contains(claimed["calibrated"]), at=f"k={k}, C={c}", claimed=str(claimed["calibrated"]))
        yield decide(thinning_gain(k, budget).contains(claimed["ratio"]), at=f"k={k}, C={c}", claimed="ratio")


INSTANCES: Final[tuple[tuple[int, Real, tuple[str, ...]], ...]] = (
    (10, Fraction(2), ("0.136363636363636", "0.306818181818182", "104.7", "108", "1.03151862464183")),
    (
        10,
        Exp(Fraction(1)),
        ("0.34464555220329", "0.775452492457403", "40.8820566896686", "40.9583005841098", "1.00186497208347"),
    ),
    (
        100,
        Fraction(2),
        ("0.0148514851485149", "0.0183557105828498", "7991.52725115055", "10098", "1.26358825824515"),
    ),
    (
        100,
        Exp(Fraction(1)),
        ("0.0397043052541328", "0.0490725828999577", "2988.62914822463", "3468.33057261094", "1.16050884890528"),
    ),
    (100, Fraction(5), ("0.184615384615385", "0.228175602322195", "641.972402629685", "668.25", "1.04093259657685")),
    (
        1000,
        Exp(Fraction(1)),
        ("0.00403172606999964", "0.00429948142990333", "263447.134666158", "339520.979911452", "1.28876322887966"),
    ),
    (50, Fraction(3), ("0.102564102564103", "0.13960113960114", "610.54", "661.5", "1.08346709470305")),
)
"""Inputs, ratio, and what is said of them: budget, share, both risks times n, their ratio."""


def _instance(index: int) -> tuple[Fraction, ...]:
    """The recorded digits of an instance: budget, share, both risks times n, ratio."""
    return tuple(Fraction(text) for text in INSTANCES[index][2])


def example_row(k: int, ratio: Real) -> tuple[Any, ...]:
    """Budget, share on k-ary response, smallest and calibrated risk times n, and their ratio."""
    budget: Any = at(subset_budget(), k=k, s=1, lam=ratio)
    threshold: Any = evaluate(threshold_budget().subs(K, k))
    share: Any = budget / threshold
    slope: Any = evaluate((critical_ratio().subs({S: 1, K: k}) + 1) ** 2)
    best: Any = Fraction(k - 1, k) * (slope / budget - 1)
    tuned: Any = at(risk_constant(), k=k, s=1, lam=ratio)
    return budget, share, best, tuned, tuned / best


def _check_instances(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Seven pairs (k, C): the five numbers of `example_row` within a relative 1e-13 of the digits stated.

    In fractions, and in balls where C is irrational.
    """
    names = ("budget", "share", "n times the smallest risk", "n times the calibrated risk", "ratio")
    for index, (k, ratio, _printed) in enumerate(INSTANCES):
        for name, computed, claimed in zip(names, example_row(k, ratio), statement(index), strict=True):
            slack = claimed / 10**13
            where = f"k={k}, C={ratio}: {name}"
            yield compare(lower_end(computed), claimed + slack, "<=", at=f"{where}, from above")
            yield compare(upper_end(computed), claimed - slack, ">=", at=f"{where}, from below")


CLAIMS: Final = (
    Claim(
        id="alphabets.cor-10.3",
        kind="statement",
        title="thinning against retuning",
        text=(
            Clause("budget", r"The budget $B=\chi_k(C)$ is below $B_{thr}$."),
            Clause(
                "risks",
                r"There the best risk is $\frac{k-1}k((1+\sqrt{k-1})^2/B-1)$, that of calibrated response "
                r"$\frac{(k-1)(2C+k-2)}{(C-1)^2}$.",
            ),
            Clause("ratio", r"Their ratio is above 1, tending to $2k/(1+\sqrt{k-1})^2$."),
        ),
        source="alphabets, Corollary 10.3",
        assumptions=(r"$k\ge3$, $1<C<\sqrt{k-1}$",),
        scope="every k and C: the excess is (C - sqrt(k-1))^2/C up to a positive factor; k up to 10^8",
        grade="proved",
        printed=_gain,
        check=_check_gain,
        controls=(Control("limit with k - 1", _gain_limit), Control("ratio one per cent larger", _gain_larger)),
        expected="holds",
        obligations=for_all("k", "ratio", "root", clause=("budget", "risks", "ratio")),
    ),
    Claim(
        id="symshuffle.alphabets-thinning-instances",
        kind="statement",
        title="what thinning gains at seven pairs (k, C)",
        text="Budget, share of users, both risks and their ratio at seven pairs (k, C) of ours.",
        source="our own; the numbers of alphabets, Example 10.4, are not legible",
        assumptions=(),
        scope="seven instances to 13 recorded digits (a regression), in fractions and balls",
        grade="certified",
        printed=_instance,
        check=_check_instances,
        controls=(
            Control("last digits", lambda index: tuple(v * (1 + Fraction(1, 10**10)) for v in _instance(index))),
        ),
        expected="holds",
        obligations=by_cases("index"),
    ),
)
