"""Section 6: privacy at a fixed number of users from the chi-square alone."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._extremes import chi_square_certificate, quarter_bound, two_moment_bound
from proofs_checks.alphabets import _cases as cases
from symshuffle.base.choices import Direction, members
from symshuffle.base.numbers import upper_end
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
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.likelihood.extremes import endpoint_ratio, largest_chi_square
from symshuffle.utility.likelihood.law import LikelihoodRatio

WAYS: Final = tuple(members(Direction))
FORMS: Final = ("quarter", "two-moment", "range")
ORDERS: Final = (Fraction(21, 20), Fraction(6, 5), Fraction(3, 2), Fraction(5, 2))


def _certificates(v: Any, n: Any, order: Any) -> tuple[Any, Any]:
    """Upper bounds on D(Q || P) and D(P || Q) at exp(eps) = order."""
    return v / (n * (order - 1)), order**2 * v / (n * (order - 1))


def _majorants() -> Iterator[Comparison]:
    """The quadratics above the hinge: what the bounds are made of, for every value of the likelihood ratio."""
    u, c, r, variance = sp.symbols("u c r v", positive=True)
    touching = (u - c + r) ** 2 / (4 * r) - (u - c)  # above the kink; below it a square is at least 0
    yield identity(touching, (u - c - r) ** 2 / (4 * r), at="every u: (u - c + r)^2 / (4 r) is above the hinge")
    mean = (variance + (r - c) ** 2) / (4 * r)  # its mean, u having mean 0 and variance v
    yield identity(mean.subs(r, sp.sqrt(variance + c**2)), two_moment_bound(variance, c), at="every v, c: best r")
    yield identity(mean.subs(r, c), quarter_bound(variance, c), at="every v, c: r = c gives v / (4c)")


def _check_certificates(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any law of variance v, open n and eps: the stated bounds are at least what quadratics above the hinge prove.

    Symbolic, by sign. Over Q: both curves of 24 random laws, n = 1, 2, 7, four levels, below the stated bounds and
    three forms of the library's; laws that touch a quadratic; k-ary response falls like 1/k.
    """
    v, n, kink = sp.symbols("v n c", positive=True)
    yield from _majorants()
    order = 1 + kink
    forward, reverse = statement(v, n, order)
    quarter = quarter_bound(v / n, kink), order * quarter_bound(v / n, 1 - 1 / order)
    for claimed, proved, way in ((forward, quarter[0], "forward"), (reverse, quarter[1], "reverse")):
        found = decide(
            nonnegative(claimed - proved, {}),
            at=f"every law of this variance, every n, eps > 0, {way}",
            claimed="at least what the quadratic proves",
            symbolic=True,
        )
        yield from serving("laws", [found])
    for lam, ratio in cases.ratios(rng, 24):
        for users in (1, 2, 7):
            for level in ORDERS:
                for index, way in enumerate(WAYS):
                    curve = ratio.profile(users, exp_eps=level, direction=way, arithmetic="exact").exact
                    at = f"random law, lam={lam}, n={users}, exp(eps)={level}, {way}"
                    yield compare(curve, statement(ratio.chi_square, users, level)[index], "<=", at=at)
                    for form in FORMS:
                        ours = chi_square_certificate(
                            ratio.chi_square,
                            users,
                            exp_eps=level,
                            direction=way,
                            form=form,
                            lam=lam,
                        )
                        yield compare(curve, ours, "<=", at=f"{at}: {form}")
    for level in ORDERS:  # two atoms that touch the quadratic: v / (4c) is attained for one user
        kink_ = level - 1
        touching = LikelihoodRatio.from_atoms([(1 + 2 * kink_, Fraction(1, 5)), (1 - kink_ / 2, Fraction(4, 5))])
        curve = touching.profile(1, exp_eps=level, direction="forward", arithmetic="exact").exact
        best = chi_square_certificate(touching.chi_square, 1, exp_eps=level, direction="forward", form="two-moment")
        yield compare(curve, best, "<=", at=f"touching law, exp(eps)={level}")
        yield compare(
            curve, statement(touching.chi_square, 1, level)[0], "<=", at=f"touching law, exp(eps)={level}: stated"
        )
    grr = mechanism("krr").at(lam=3)
    values = [
        LikelihoodRatio.of_mechanism(grr.at(k=10**power)).profile(10, exp_eps="6/5", arithmetic="exact").upper
        for power in (2, 4, 6)
    ]
    yield decide(values[0] > 50 * values[1] > 2500 * values[2], at="k-ary, lam=3, n=10", claimed="falls like 1/k")


def _sharp(v: Any, n: Any, order: Any) -> tuple[Any, Any]:
    """A quarter of both bounds."""
    both = _certificates(v, n, order)
    return both[0] / 4, both[1] / 4


def _two_sided(eta: Any, n: Any, order: Any) -> Any:
    """The bound on both curves from a budget eta for all pairs."""
    return order**2 * eta / (n * (order - 1))


def _check_two_sided(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any law of chi-square eta, open n and eps: the bound is at least what the quadratics prove both ways; symbolic.

    Over Q: curves of k-ary response and diluted half-blocks at k = 2, 10, 10^6, n = 1, 5, four levels, and of a steep
    law in reverse.
    """
    eta, n, kink = sp.symbols("eta n c", positive=True)
    order = 1 + kink
    yield from _majorants()
    claimed = statement(eta, n, order)
    for proved, way in (
        (quarter_bound(eta / n, kink), "forward"),
        (order * quarter_bound(eta / n, 1 - 1 / order), "reverse"),
    ):
        found = decide(
            nonnegative(claimed - proved, {}), at=f"every law, eta, n, eps > 0, {way}", claimed="covered", symbolic=True
        )
        yield from serving("laws", [found])
    for k in (2, 10, 10**6):
        for name, law in (
            ("k-ary", LikelihoodRatio.of_mechanism(mechanism("krr").at(k=k, lam=3))),
            ("diluted half-block", endpoint_ratio(Fraction(3)).dilute(Fraction(1, k))),
        ):
            budget = law.chi_square
            for users in (1, 5):
                for level in ORDERS:
                    curve = law.profile(users, exp_eps=level, arithmetic="exact").exact
                    at = f"{name}, k={k}, n={users}, exp(eps)={level}"
                    yield compare(curve, statement(budget, users, level), "<=", at=at)
                    both = (
                        chi_square_certificate(budget, users, exp_eps=level, direction=direction)
                        for direction in members(Direction)
                    )
                    yield compare(curve, max(both, key=upper_end), "<=", at=f"{at}: ours")
    # One user, budget of the reverse worst case: ratios 1 and small, where a smaller constant would fail.
    steep = LikelihoodRatio.from_atoms([(Fraction(1, 5), Fraction(1, 10)), (Fraction(49, 45), Fraction(9, 10))])
    for level in (Fraction(3, 2), Fraction(5, 3)):
        curve = steep.profile(1, exp_eps=level, direction="reverse", arithmetic="exact").exact
        yield compare(curve, statement(steep.chi_square, 1, level), "<=", at=f"a steep law, exp(eps)={level}")
    yield compare(largest_chi_square(Fraction(1)), Fraction(0), at="lam = 1: nothing leaks")


CLAIMS: Final = (
    Claim(
        id="alphabets.thm-6.2v",
        kind="statement",
        title="hockey-stick certificates at every n",
        text=(
            Clause(
                "bounds",
                r"$\delta_{Q\|P}(\varepsilon)\le\frac{v}{n(e^\varepsilon-1)}$ and "
                r"$\delta_{P\|Q}(\varepsilon)\le\frac{e^{2\varepsilon}v}{n(e^\varepsilon-1)}$.",
            ),
            Clause("factor", "Both are four times larger than they need be."),
        ),
        source="alphabets, Theorem 6.2 (v); displays reconstructed",
        assumptions=(r"$\varepsilon>0$", r"$v=\chi^2_{ab}$ finite"),
        scope="every v, n, eps symbolically by quadratics above the hinge; 24 random laws, n = 1, 2, 7, exactly",
        grade="proved",
        printed=_certificates,
        check=_check_certificates,
        controls=(
            Control(
                "forward a quarter less 1 %",
                lambda v, n, order: (99 * v / (400 * n * (order - 1)), _sharp(v, n, order)[1]),
            ),
            Control(
                "a quarter, reverse without exp(2 eps)",
                lambda v, n, order: (v / (n * (order - 1)), v / (4 * n * (order - 1))),
            ),
            Control(
                "a quarter less 1 %", lambda v, n, order: tuple(b * Fraction(99, 100) for b in _sharp(v, n, order))
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("v", "n", "order", clause="bounds"),
            *for_all("laws", clause=("bounds", "factor")),
        ),
    ),
    Claim(
        id="alphabets.cor-6.6",
        kind="statement",
        title="certificate for a prescribed decay",
        text=(
            Clause(
                "certificate",
                r"$\chi_*\le\eta$ bounds both curves by $\frac{e^{2\varepsilon}\eta}{n(e^\varepsilon-1)}$.",
            ),
            Clause("whom", "This is shown for canonical pairs only.", "definition"),
        ),
        source="alphabets, Corollary 6.6; display reconstructed",
        assumptions=(r"$\varepsilon>0$", "one user against a constant background"),
        scope="every eta, n, eps symbolically; k-ary response and diluted half-blocks for k = 2, 10, 10^6",
        grade="proved",
        printed=_two_sided,
        check=_check_two_sided,
        controls=(
            Control("a quarter less 1 %", lambda eta, n, order: _two_sided(eta, n, order) * Fraction(99, 400)),
            Control("the forward bound, a quarter", lambda eta, n, order: eta / (4 * n * (order - 1))),
        ),
        expected="holds",
        obligations=for_all("eta", "n", "order", "laws", clause="certificate"),
    ),
)
