"""Section 2: local privacy of a finite channel, the canonical pair, its chi-square and its privacy curves."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np
import sympy as sp

from proofs_checks._divergences import total_variation
from proofs_checks._limits import gaussian_profile
from proofs_checks.alphabets import _cases as cases
from symshuffle.base.choices import Direction, members
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, Verdict, to_arb, working_precision
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import law_divergence
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
from symshuffle.utility.likelihood.law import LikelihoodRatio, require_common_support

ZERO: Final = Fraction(0)


def _is_local(rows: Any, lam: Any) -> bool:
    """Every entry is at most lam times every entry of its column."""
    return all(a <= lam * b for column in zip(*rows, strict=True) for a, b in itertools.permutations(column, 2))


def _check_local(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Twelve random channels at, just above and just below their ratio cap: the library against the definition.

    Exact rationals; a zero beside a positive entry is not private, an output impossible at all inputs does no harm.
    """
    for trial in range(12):
        channel = cases.channel(rng, 2 + trial % 3, 3)
        cap = Fraction(channel.ratio_cap())  # type: ignore[arg-type]  # exact and of full support
        for factor in (Fraction(1), 1 + Fraction(1, 10**12), 1 - Fraction(1, 10**12)):
            found = channel.is_ldp(cap * factor) is Verdict.TRUE
            yield compare(statement(channel.rows, cap * factor), found, at=f"channel {trial}, {factor} of its cap")
    zero = Channel.from_rows([["1/2", "1/2", "0"], ["1/2", "0", "1/2"]])
    yield compare(statement(zero.rows, Fraction(10**9)), False, at="a zero beside a positive entry")
    null = Channel.from_rows([["1/2", "1/2", "0"], ["1/4", "3/4", "0"]])
    yield compare(statement(null.rows, Fraction(2)), True, at="an impossible output")


def _floor(mass: Any, lam: Any) -> Any:
    """Least probability that an output has at every input, where it has the given one at some input."""
    return mass / lam


def _check_support(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any two inputs, open probability and level: the floor is the definition with equality, and positive; symbolic.

    All patterns of zeros of an output at 2, 3, 4 inputs: the floor at every entry, a finite ratio cap and acceptance by
    the library are the same.
    """
    mass, lam = sp.symbols("p lam", positive=True)
    floor = statement(mass, lam)
    # Local privacy at any two inputs is mass <= lam * other, so other is at least the floor, which may be attained.
    at = "any two inputs, every finite level"
    yield from serving("inputs", [identity(lam * floor, mass, at=f"{at}: the definition, with equality")])
    yield decide(bool(floor.is_positive), at=at, claimed="at one input positive, so at all", symbolic=True)
    # Whether a column of k entries can be below lam times itself depends on which entries vanish, not on their size.
    for k in (2, 3, 4):
        for pattern in itertools.product((0, 1), repeat=k):
            column = tuple(Fraction(entry, 2 * k) for entry in pattern)
            rest = tuple(1 - entry for entry in column)
            channel = Channel(tuple(zip(column, rest, strict=True)))
            local = channel.ratio_cap() != float("inf")
            above = all(entry >= statement(max(column), Fraction(10**9)) for entry in column)
            yield compare(above, local, at=f"zeros {pattern}: zero everywhere or nowhere")
            try:
                require_common_support(channel)
                accepted = True
            except InputError as error:
                accepted = False
                yield compare(error.argument, "output 0", at=f"zeros {pattern}: the error names the output")
            yield compare(accepted, local, at=f"zeros {pattern}: the library accepts exactly finite levels")


def _chi(a: Any, b: Any) -> Any:
    """The chi-square of row b from row a, by entries."""
    return sum((y - x) ** 2 / x for x, y in zip(a, b, strict=True))


def _canonical(a: Any, b: Any) -> tuple[Any, Any]:
    """Chi-square, and what multiplies which row in D(Q || P): row b belongs to Q."""
    return _chi(a, b), "Q"


def _check_canonical(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Three open outputs: second moment of the ratio less 1 against the stated chi-square; symbolic.

    Twelve random channels, n = 1, 2, 4, over Q: chi-square, and the engine's curves (both directions, three levels,
    total variation at 0) against enumeration. Three Gaussian curves in balls against quadrature; equal rows have curve
    0.
    """
    p, q, u, v = sp.symbols("p q u v", positive=True)
    a, b = (p, q, 1 - p - q), (u, v, 1 - u - v)
    second = sum(y**2 / x for x, y in zip(a, b, strict=True)) - 1
    yield identity(second, statement(a, b)[0], at="three outputs: E g^2 - 1")
    for trial in range(12):
        channel = cases.channel(rng, 2, 3 + trial % 2)
        ratio = LikelihoodRatio.of(channel, 0, 1)
        yield compare(ratio.chi_square, statement(*channel.rows)[0], at=f"channel {trial}: variance of the ratio")
        for n in (1, 2, 4):
            constant, contaminated = cases.pair_laws(channel, n)
            for order in (Fraction(1), Fraction(6, 5), Fraction(2)):
                laws = ((contaminated, constant), (constant, contaminated))
                for way, (first, second_law) in zip(members(Direction), laws, strict=True):
                    # Forward is D(Q || P), and the contaminated law is Q where row b is said to belong to Q.
                    pair = (first, second_law) if statement(*channel.rows)[1] == "Q" else (second_law, first)
                    direct = law_divergence(*pair, order)
                    shown = f"channel {trial}, n={n}, exp(eps)={order}, {way}"
                    found = ratio.profile(n, exp_eps=order, direction=way, arithmetic="exact").exact
                    yield compare(found, direct, at=f"{shown}: engine against enumeration")
            histograms = sorted(constant)
            distance = total_variation([contaminated[h] for h in histograms], [constant[h] for h in histograms])
            for way in members(Direction):
                found = ratio.profile(n, exp_eps=1, direction=way, arithmetic="exact").exact
                yield compare(found, distance, at=f"channel {trial}, n={n}, eps=0, {way}: total variation")
    for mu, eps in ((Fraction(1, 2), Fraction(1, 4)), (Fraction(2), Fraction(1)), (Fraction(1), Fraction(0))):
        closed = gaussian_profile(mu, eps=eps)
        yield decide(
            _together(closed, _gaussian_by_quadrature(mu, eps)),
            at=f"mu={mu}, eps={eps}",
            claimed="closed form and quadrature within 1e-20",
        )
    still = LikelihoodRatio.of(Channel.from_rows([["1/3", "2/3"], ["1/3", "2/3"]]), 0, 1)
    row = (Fraction(1, 3), Fraction(2, 3))
    for level in (Fraction(0), Fraction(1)):
        yield compare(still.profile(5, eps=level).upper, statement(row, row)[0], at="equal rows")


def _together(left: Ball, right: Ball) -> bool:
    """Whether two balls lie within 1e-20 of each other."""
    return max(left.upper, right.upper) - min(left.lower, right.lower) < Fraction(1, 10**20)


def _gaussian_by_quadrature(mu: Fraction, eps: Fraction) -> Ball:
    """E (exp(mu Z - mu^2/2) - exp(eps))_+ by integration in balls; beyond 40 deviations less than 1e-60 is left."""
    with working_precision(128):
        m, level = flint.acb(to_arb(mu)), flint.acb(to_arb(eps).exp())
        start = to_arb(eps) / to_arb(mu) + to_arb(mu) / 2

        def density(z: flint.acb, _: bool) -> flint.acb:
            gauss = (-z * z / 2).exp() / flint.acb(2 * flint.arb.pi()).sqrt()
            return ((m * z - m * m / 2).exp() - level) * gauss

        value = flint.acb.integral(density, flint.acb(start), flint.acb(start + 40)).real
        return Ball.from_arb(value + flint.arb(0).union(to_arb(Fraction(1, 10**60))), 128)


CLAIMS: Final = (
    Claim(
        id="alphabets.def-2.1",
        kind="definition",
        title="local privacy of a channel",
        text=(
            Clause("ratio", r"$W_x(y)\le e^{\varepsilon_0}W_{x'}(y)$ for all inputs and outputs."),
            Clause("conventions", r"$0/0=1$, $c/0=\infty$."),
        ),
        source="alphabets, Definition 2.1",
        assumptions=("finitely many outputs",),
        scope="14 rational channels at, just above and just below their ratio cap",
        grade="exact-cases",
        printed=_is_local,
        check=_check_local,
        controls=(
            Control("1e-9 of slack", lambda rows, lam: _is_local(rows, lam * (1 + Fraction(1, 10**9)))),
            Control("strict", lambda rows, lam: _is_local(rows, lam * (1 - Fraction(1, 10**13)))),
        ),
        expected="definition",
        obligations=for_all("rows", "lam", clause=("ratio", "conventions")),
    ),
    Claim(
        id="alphabets.lem-2.2",
        kind="statement",
        title="common support",
        text=(
            Clause(
                "all or none", r"If $\varepsilon_0<\infty$, every output has probability 0 at all inputs or at none."
            ),
            Clause("at least", r"Where it has p at one, it has at least $p/\lambda$ at all."),
        ),
        source="alphabets, Lemma 2.2",
        assumptions=(),
        scope="any two inputs, every probability and level; all zero patterns of one output at 2, 3, 4 inputs",
        grade="proved",
        printed=_floor,
        check=_check_support,
        controls=(
            Control("no floor", lambda mass, lam: 0 * mass),
            Control("1 % higher", lambda mass, lam: _floor(mass, lam) * Fraction(101, 100)),
        ),
        expected="holds",
        obligations=(
            *for_all("mass", "lam", clause="at least"),
            *for_all("inputs", clause="all or none"),
        ),
    ),
    Claim(
        id="alphabets.def-2.3",
        kind="definition",
        title="canonical pair, chi-square, privacy curves",
        text=(
            Clause("chi-square", r"$\chi^2_{ab}=\sum_y(W_b-W_a)^2/W_a=E_{W_a}(g-1)^2=E_{W_a}g^2-1$."),
            Clause(
                "curves",
                r"$\delta_{Q\|P}(\varepsilon)=E_P(L-e^\varepsilon)_+$, "
                r"$\delta_{P\|Q}(\varepsilon)=E_P(1-e^\varepsilon L)_+$.",
            ),
            Clause("at 0", "Both are the total variation at 0."),
        ),
        source="alphabets, Section 2",
        assumptions=("finite ratios",),
        scope="three outputs symbolically; 12 rational channels, n = 1, 2, 4; the Gaussian curve by "
        "quadrature in balls",
        grade="certified",
        printed=_canonical,
        check=_check_canonical,
        controls=(
            Control("chi-square of the reversed pair", lambda a, b: _canonical(b, a)),
            Control("1 % too large", lambda a, b: (_chi(a, b) * Fraction(101, 100), "Q")),
            Control("row b belongs to P", lambda a, b: (_chi(a, b), "P")),
        ),
        expected="definition",
        obligations=for_all("a", "b", clause=("chi-square", "curves", "at 0")),
    ),
)
