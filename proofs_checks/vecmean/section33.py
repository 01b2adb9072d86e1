"""Section 3.3 with Appendix A.5: randomized response, and frames."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np

from proofs_checks.vecmean import _cases as cases
from symshuffle.base.numbers import Ball, to_arb
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
from symshuffle.vectors.error.compare import kashin_coefficients
from symshuffle.vectors.error.minimal_risk import minimal_unbiased_risk

BITS: Final = 192


def _response(chi: Any) -> tuple[Any, Any]:
    """Advantage t and error of randomized response at a lower index, with the error's expansion to second order."""
    import sympy as sp

    root = sp.sqrt(1 + 4 * chi**2)
    return (root - 1) / (2 * chi**2), chi**2 + chi - sp.Rational(1, 2)


def _check_response(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open chi, with the root r of 1 + 4 chi^2: equation of t, exact error, next term of its expansion; symbolic.

    RR(3/5), RR(99/100): the certified least error is that of Y/t and chi_up^2; the stated t at the lower index.
    """
    import sympy as sp

    r = sp.Symbol("r", positive=True)  # the root 1 + 4 chi^2 = r^2, r > 1
    chi = sp.Symbol("chi", positive=True)
    t, leading = statement(chi)
    squared = (r**2 - 1) / 4
    written = t.subs(chi, sp.sqrt(squared)).subs(sp.sqrt(1 + 4 * squared), r)
    written = sp.simplify(written)
    yield identity(squared * written**2 + written - 1, 0, at="every chi: chi^2 t^2 + t = 1")
    error = sp.simplify(1 / written**2 - 1)
    yield identity(error, squared - sp.Rational(1, 2) + r / 2, at="every chi: exact error")
    # chi < r/2 < chi + 1/(8 chi), so the error exceeds chi^2 + chi - 1/2 by at most 1/(8 chi).
    series = sp.series(chi**2 - sp.Rational(1, 2) + sp.sqrt(1 + 4 * chi**2) / 2 - leading, chi, sp.oo, 2).removeO()
    yield identity(sp.expand(series), 1 / (8 * chi), at="chi to infinity: the next term")
    for p in (Fraction(3, 5), Fraction(99, 100)):
        found = cases.response(p)
        share = 2 * p - 1
        least = minimal_unbiased_risk(found.channel, [[1], [-1]]).bracket
        yield compare(least.upper, 1 / share**2 - 1, at=f"RR({p}): the only unbiased estimator")
        yield compare(found.inverse_square_upper() * least.upper, Fraction(1), at=f"RR({p}): error = chi_up^2")
        square = 1 / found.inverse_square_lower()
        advantage = t.subs(chi, sp.sqrt(sp.Rational(square.numerator, square.denominator)))
        yield identity(
            sp.simplify(advantage), sp.Rational(share.numerator, share.denominator), at=f"RR({p}): t by (37)"
        )


def _distortion(d: Any) -> tuple[Any, Any]:
    """The least distortion that any tight frame has, and one that some frame of 2d vectors does not exceed."""
    import sympy as sp

    return sp.Integer(1), 96 / sp.pi


def _check_frames(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every frame and vector by `_at_least_one`, some frame in every dimension by `_some_frame`; symbolic.

    Four frames of Hadamard rows, coefficients made exact: K^2 is at least the stated least, by a dual point, and at
    most the stated constant.
    """
    yield from _at_least_one(statement)
    yield from _some_frame(statement)
    least, enough = (to_arb(Ball.from_arb(_as_arb(part), BITS)) for part in statement(4))
    for trial in range(4):
        d, size = 4 + 2 * trial, 16
        frame = [[Fraction(entry, 4) for entry in row] for row in _hadamard(size)[:d]]
        # The first vector has coefficients of one size: there K = 1.
        x = (
            [Fraction(int(v)) for v in rng.integers(1, 9, size=d)]
            if trial
            else [Fraction(int(i == 0)) for i in range(d)]
        )
        found, _ = kashin_coefficients(np.array(frame, dtype=float), np.array(x, dtype=float))
        near = [Fraction(float(v)) for v in found]
        # Made exact: what is missing of x is added by the frame itself.
        missing = [x[i] - sum(frame[i][j] * near[j] for j in range(size)) for i in range(d)]
        z = [near[j] + sum(frame[i][j] * missing[i] for i in range(d)) for j in range(size)]
        length = sum((v * v for v in x), Fraction(0))
        above = size * max(abs(v) for v in z) ** 2 / length
        # A dual point: |z|_inf |U^T w|_1 >= <w, x>, at w = x.
        spread = sum((abs(sum((frame[i][j] * x[i] for i in range(d)), Fraction(0))) for j in range(size)), Fraction(0))
        below = size * length * length / (spread * spread) / length
        where = f"{d} of {size} Hadamard rows"
        yield compare(below, Ball.from_arb(least * least, BITS), ">=", at=f"{where}: square of K, from below")
        yield compare(above, Ball.from_arb(least * least, BITS), ">=", at=f"{where}: square of K, by the program")
        yield compare(above, Ball.from_arb(enough * enough, BITS), "<=", at=f"{where}: square of K, by the program")


def _as_arb(value: Any) -> flint.arb:
    """A symbolic number as a ball."""
    import sympy as sp

    from symshuffle.mechanisms.symbolic import evaluate

    return to_arb(evaluate(sp.sympify(value)))


def _hadamard(size: int) -> list[list[int]]:
    """The Hadamard matrix of Sylvester."""
    return [[(-1) ** (i & j).bit_count() for j in range(size)] for i in range(size)]


def _at_least_one(statement: Statement) -> Iterator[Comparison]:
    """Coefficients of size at most s: N s^2 exceeds |x|^2 by non-negative parts, two coefficients for all."""
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    d, s, k, h, rest = sp.symbols("d s k h r", positive=True)
    least = statement(d)[0]
    # |z|^2 = |U^T U z|^2 + rest = |x|^2 + rest, as U U^T = I; z = (s/(1+k), s/(1+h)) up to signs.
    squared = (s / (1 + k)) ** 2 + (s / (1 + h)) ** 2 - rest
    room = 2 * s**2 - least**2 * squared
    found = [decide(nonnegative(room, {}), at="every frame and vector", claimed="K^2 is at least that", symbolic=True)]
    yield from serving("frames", found)


def _some_frame(statement: Statement) -> Iterator[Comparison]:
    """The volume argument: some d-dimensional subspace of 2d dimensions has |y|_1 >= r sqrt(2d) |y|_2, r = 1/K.

    By duality the coefficients of a frame with that row space have distortion at most 1/r.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    d, t, c, v = sp.symbols("d t c v", positive=True)
    enough = statement(d)[1]
    r = 1 / enough
    # Points of the sphere within r of one where |y|_1 = r sqrt(N) have |y|_1 <= 2 r sqrt(N), by Cauchy and Schwarz, and
    # hold (1 + 2/r)^(-d) of the sphere, as balls of radius r/2 around separated points fit into one of radius 1 + r/2;
    # that is at least (r/3)^d for r <= 1.
    small = nonnegative(1 / (1 + 2 / t) - t / 3, {t: 1 / (1 + c)})
    yield decide(small, at="every r <= 1", claimed="the cap holds (r/3)^d", symbolic=True)
    # (r/3)^d (2r)^(-2d) is at most the mean of (sqrt(N)/|y|_1)^N over the sphere, which is the quotient of volumes
    # (sqrt(N) B_1)/B_2, for some subspace: at most (8/pi)^d, by induction on d.
    quotient = (2 * d) ** d * 4**d * sp.factorial(d) / (sp.factorial(2 * d) * sp.pi**d)
    step = quotient.subs(d, d + 1) / quotient / (1 + 1 / d) ** d
    written = sp.simplify(sp.powsimp(sp.gammasimp(sp.expand_func(step.rewrite(sp.gamma))), force=True))
    yield identity(written, 4 * (d + 1) / (sp.pi * (2 * d + 1)), at="every d: one step, over (1 + 1/d)^d < 3")
    yield identity(quotient.subs(d, 1), 4 / sp.pi, at="d = 1: the quotient of volumes")
    grows = nonnegative(8 / sp.pi - 3 * written.subs(d, 1 + v), {})
    yield decide(grows, at="every d: the step is at most 8/pi", claimed="covered", symbolic=True)
    found = [identity((r / 3) / (2 * r) ** 2, 8 / sp.pi, at="every d: the d-th root of both sides, at r = 1/K")]
    yield from serving("dimensions", found)


CLAIMS: Final = (
    Claim(
        id="vecmean.prop-3.8",
        kind="statement",
        title="randomized response on the line",
        text=(
            Clause("parameter", r"$t=(\sqrt{1+4\chi_{lo}^2}-1)/(2\chi_{lo}^2)$."),
            Clause("lower", r"$Err_1=1/t^2-1=\chi_{lo}^2+\chi_{lo}+O(1)$."),
            Clause("upper", r"$Err_1=\chi_{up}^2$."),
        ),
        source="vecmean, Proposition 3.8 and equation (37)",
        assumptions=("inputs 1 and -1, $p>1/2$",),
        scope="every chi; two values of p, where the only unbiased estimator is certified",
        grade="proved",
        printed=_response,
        check=_check_response,
        controls=(
            Control("t 1 % larger", lambda chi: (_response(chi)[0] * Fraction(101, 100), _response(chi)[1])),
            Control("linear term less 1 %", lambda chi: (_response(chi)[0], _response(chi)[1] - chi / 100)),
        ),
        expected="holds",
        obligations=for_all("chi", clause=("parameter", "lower", "upper")),
    ),
    Claim(
        id="vecmean.rem-3.9",
        kind="statement",
        title="frames spread a vector at a constant cost",
        text=(
            Clause("cost", r"$x=Uz$ with $|z|_\infty\le K|x|/\sqrt N$ and $K\ge1$, for every tight frame and vector."),
            Clause(
                "order",
                r"K is of order 1: in every dimension some frame of $2d$ vectors has $K\le96/\pi$ for all vectors.",
            ),
        ),
        source="vecmean, Remark 3.9; Kashin's theorem by volumes (Szarek)",
        assumptions=(
            "tight frames, $UU^T=I$",
            "duality of linear programs; polar coordinates; a uniform subspace of a uniform rotation",
        ),
        scope="every frame, vector and dimension; coefficients of four Hadamard frames, made exact",
        grade="proved",
        printed=_distortion,
        check=_check_frames,
        controls=(
            Control("K at least 1.01", lambda d: (_distortion(d)[0] * Fraction(101, 100), _distortion(d)[1])),
            Control("some frame 1 % better", lambda d: (_distortion(d)[0], _distortion(d)[1] * Fraction(99, 100))),
        ),
        expected="holds",
        obligations=(
            *for_all("d", clause=("cost", "order")),
            *for_all("frames", clause="cost"),
            *for_all("dimensions", clause="order"),
        ),
    ),
)
