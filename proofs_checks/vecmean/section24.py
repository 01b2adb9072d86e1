"""Section 2.4: the privacy variable and the two shuffle indices; Lemma 2.6 is in normal_limit."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean import _cases as cases
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.vectors.randomizers.mechanisms import FiniteRandomizer


def _privacy_variable(a: Any, b: Any, reference: Any, alpha: Any) -> Any:
    return (a - alpha * b) / reference


def _check_variable(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open masses and alpha: integrands of mean and variance; symbolic. Ten random channels over Q: variance."""
    import sympy as sp

    a, b, r, alpha = sp.symbols("a b r alpha", positive=True)
    # Integrated over outcomes, these are the mean 1 - alpha and, at alpha = 1, the second moment.
    yield identity(r * statement(a, b, r, alpha), a - alpha * b, at="every law: integrand of the mean")
    yield identity(r * statement(a, b, r, 1) ** 2, (a - b) ** 2 / r, at="every law: integrand of the variance")
    for trial in range(10):
        found = cases.randomizer(rng, 2, 3)
        rows: Any = found.channel.rows
        reference: Any = rows[1]
        values = [statement(x, y, z, Fraction(1)) for x, y, z in zip(rows[0], found.bot, reference, strict=True)]
        mean = sum((z * v for z, v in zip(reference, values, strict=True)), Fraction(0))
        square = sum((z * v * v for z, v in zip(reference, values, strict=True)), Fraction(0))
        yield compare(found.privacy_variance(0, reference), square - mean**2, at=f"random channel {trial}")


def _indices(found: FiniteRandomizer) -> tuple[Fraction, Fraction]:
    """The two inverse squares, each as the largest variance of the privacy variable at eps = 0."""
    rows: Any = found.channel.rows
    bot: Any = found.bot

    def variance(x: int, reference: Any) -> Fraction:
        values = [(a - b) / r for a, b, r in zip(rows[x], bot, reference, strict=True)]
        mean = sum((r * v for r, v in zip(reference, values, strict=True)), Fraction(0))
        return sum((r * (v - mean) ** 2 for r, v in zip(reference, values, strict=True)), Fraction(0))

    inputs = range(len(rows))
    gamma: Any = found.gamma
    lower = max(variance(x, found.blanket) for x in inputs) / gamma
    return lower, max(variance(x1, rows[x]) for x1 in inputs for x in inputs)


def _without_mass(found: FiniteRandomizer) -> tuple[Fraction, Fraction]:
    """The lower index without dividing by the blanket's mass."""
    gamma: Any = found.gamma
    return _indices(found)[0] * gamma, _indices(found)[1]


def _null_reference(found: FiniteRandomizer) -> tuple[Fraction, Fraction]:
    """The upper index with the null law as reference."""
    return _indices(found)[0], max(found.privacy_variance(x, found.bot) for x in range(found.channel.num_inputs))


def _check_indices(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Any blanket, by outcomes: chi_up >= chi_lo, by sign. 60 random randomizers and RR over Q: both indices."""
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    g, b, q, t = sp.symbols("g b q t", positive=True)
    gap = 1 / (g * b) - 1 / (g * b + (1 - g) * q)
    yield decide(
        nonnegative(gap, {g: t / (1 + t)}),
        at="every blanket, outcome by outcome",
        claimed="chi_up >= chi_lo",
        symbolic=True,
    )
    for trial in range(60):
        found = cases.randomizer(rng, 2 + trial % 3, 2 + trial % 3)
        lower, upper = statement(found)
        where = f"random randomizer {trial}"
        yield compare(found.inverse_square_lower(), lower, at=f"{where}, lower")
        yield compare(found.inverse_square_upper(), upper, at=f"{where}, upper")
        yield compare(upper, lower, "<=", at=f"{where}, chi_up >= chi_lo")
        yield compare(found.with_largest_blanket().inverse_square_lower(), lower, "<=", at=f"{where}, largest blanket")
    for p in (Fraction(3, 5), Fraction(9, 10)):
        lower, upper = statement(cases.response(p))
        share = 2 * p - 1
        yield compare(share**2 / (1 - share), lower, at=f"RR({p}), lower")
        yield compare(share**2 / (1 - share**2), upper, at=f"RR({p}), upper")


CLAIMS: Final = (
    Claim(
        id="vecmean.eq-leps",
        kind="statement",
        title="privacy variable against a reference law",
        text=(
            Clause(
                "mean",
                r"$\ell_\varepsilon=(R_x-e^\varepsilon R_{x'})/R_{ref}$ has mean $1-e^\varepsilon$ under "
                "$R_{ref}$.",
            ),
            Clause("variance", r"At $\varepsilon=0$ it has the variance $\int(R_x-R_{x'})^2/R_{ref}$."),
        ),
        source="vecmean, Section 2.4",
        assumptions=("the reference dominates both laws",),
        scope="integrands for every law; 10 random channels",
        grade="proved",
        printed=_privacy_variable,
        check=_check_variable,
        controls=(Control("alpha larger by 1 %", lambda a, b, r, alpha: (a - alpha * b * Fraction(101, 100)) / r),),
        expected="holds",
        obligations=for_all("a", "b", "reference", "alpha", clause=("mean", "variance")),
    ),
    Claim(
        id="vecmean.def-2.5",
        kind="definition",
        title="lower and upper shuffle index",
        text=(
            Clause(
                "indices",
                r"$\chi_{lo}^{-2}=\sup\frac1\gamma Var_{R_{BG}}\ell_0$, $\chi_{up}^{-2}=\sup Var_{R_x}\ell_0$.",
            ),
            Clause("order", r"For every valid blanket $\chi_{up}\ge\chi_{lo}$."),
        ),
        source="vecmean, Definition 2.5",
        assumptions=("finitely many outputs",),
        scope="60 random randomizers with various blankets; the order for every blanket; randomized response",
        grade="exact-cases",
        printed=_indices,
        check=_check_indices,
        controls=(
            Control("without the mass", _without_mass),
            Control("the null law as the only reference", _null_reference),
        ),
        expected="definition",
        obligations=for_all("found", clause=("indices", "order")),
    ),
)
