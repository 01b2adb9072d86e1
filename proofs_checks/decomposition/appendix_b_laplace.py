"""Appendix B and Example 4.3: the Laplace mechanism."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import never_negative
from symshuffle.base.numbers import Ball, Verdict, lower_end
from symshuffle.channels.channel import Channel, direct_sum
from symshuffle.channels.law import Law
from symshuffle.decompositions.model import simplified_decomposition
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.continuous import Laplace

_S = sp.Symbol("s", positive=True)  # the budget eps0
_X = sp.Symbol("x", positive=True)  # exp(eps)
_R = sp.Symbol("r", positive=True)  # a likelihood ratio strictly between 1 and exp(eps0)
_Y = sp.Symbol("y", real=True)


def _mass_below(density: sp.Expr, start: sp.Expr, end: sp.Expr) -> sp.Expr:
    return sp.integrate(density, (_Y, start, end))


# -- decomposition.appendix-B


def _law_of_the_blanket(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Open eps0 and eps: integrals of the smaller density against the stated gamma, distribution function and atom.

    Symbolic; the atom at the lower end of the outputs, the other being its mirror image. Then the library's discretised
    law at two budgets: its mass up to four edges from 1 - x on against the stated function, within 1e-30.
    """
    zero, one = (_S / 2 * sp.exp(-_S * sp.Abs(_Y - end)) for end in (0, 1))
    left, right = _S / 2 * sp.exp(_S * (_Y - 1)), _S / 2 * sp.exp(-_S * _Y)
    gamma = sp.simplify(_mass_below(left, -sp.oo, sp.Rational(1, 2)) + _mass_below(right, sp.Rational(1, 2), sp.oo))
    yield identity(gamma, statement("gamma", _S), at="similarity, by integrating the smaller density")
    yield identity((zero / one).subs(_Y, 0), sp.exp(_S), at="largest ratio of the densities, reached for all y <= 0")
    # For 0 < y < 1/2 the ratio R(0)/inf is exp(s(1-2y)) = r at y = (1 - log(r)/s)/2; L <= gamma (r - x) above it.
    point = (1 - sp.log(_R) / _S) / 2
    above = (1 - _mass_below(left / gamma, -sp.oo, point)).subs(
        sp.exp(_S / 2 - sp.log(_R) / 2), sp.exp(_S / 2) / sp.sqrt(_R)
    )
    yield identity(
        sp.simplify(above),
        statement("upper cdf", _S, _X, _R - _X),
        at="distribution function of L/gamma between 1-x and E-x",
    )
    # For 1/2 < y < 1 the ratio R(1)/inf is r at y = (1 + log(r)/s)/2, and L <= gamma (1 - x r) above it.
    point = (1 + sp.log(_R) / _S) / 2
    below = _mass_below(right / gamma, point, sp.oo)
    yield identity(
        sp.simplify(below), statement("lower cdf", _S, _X, 1 - _X * _R), at="distribution function of L/gamma below 1-x"
    )
    yield identity(
        sp.simplify(_mass_below(left / gamma, -sp.oo, 0)),
        statement("end atom", _S),
        at="atom at either end of the support",
    )
    yield from _library_law(statement)


def _library_law(statement: Statement) -> Iterator[Comparison]:
    """The cells of the library's own law against the distribution function at the edges of the cells."""
    for lam, exp_eps in ((Fraction(16), Fraction(6, 5)), (Fraction(81), Fraction(3))):
        cells = 4
        law = Laplace(lam, cells=cells).law(exp_eps, side="lower", bits=256)
        gamma = 1 / sp.sqrt(sp.Integer(lam.numerator))
        for j in range(cells):
            ratio = sp.Integer(lam.numerator) ** sp.Rational(j, cells)
            edge = sp.nsimplify(ratio) - sp.Rational(exp_eps.numerator, exp_eps.denominator)
            mass = _mass_at_most(law, edge)
            s = sp.log(sp.Integer(lam.numerator))
            printed = statement("upper cdf", s, sp.Rational(exp_eps.numerator, exp_eps.denominator), edge)
            yield decide(
                _close(mass, gamma * printed), claimed=str(printed), at=f"law of G, lam = {lam}, edge of cell {j}"
            )


def _mass_at_most(law: Law, edge: sp.Expr) -> Ball:
    """Mass of the atoms at or below an edge, the residual atom 0 left out."""
    bound = Fraction(str(sp.N(edge, 60))) + Fraction(1, 10**40)
    total = Ball(Fraction(0), Fraction(0), 256)
    residual = max((w for v, w in law.atoms() if v == Fraction(0)), default=Fraction(0), key=lower_end)
    for value, weight in law.atoms():
        if weight is not residual and lower_end(value) <= bound:
            total = total + weight
    return total


def _close(mass: Ball, printed: sp.Expr) -> Verdict:
    """Whether the midpoint of a ball is within 1e-30 of a number."""
    gap = abs(mass.midpoint - Fraction(str(sp.N(printed, 60))))
    return Verdict.of(gap < Fraction(1, 10**30))


def _printed_laplace(what: str, s: Any, x: Any = None, t: Any = None) -> Any:
    """Quantities of Appendix B; ``t`` is L/gamma."""
    match what:
        case "gamma":
            return sp.exp(-s / 2)
        case "end atom":
            return sp.exp(-s / 2) / 2
        case "lower cdf":
            return sp.sqrt(x / (1 - t)) / 2
        case _:
            return 1 - 1 / sp.sqrt(t + x) / 2


APPENDIX_B = Claim(
    id="decomposition.appendix-B",
    kind="statement",
    title="the amplification variable of Laplace noise on a bit",
    text=(
        Clause("blanket", r"For $R(x)=x+\mathrm{Lap}(1/\varepsilon_0)$ on $\{0,1\}$: $\gamma=e^{-\varepsilon_0/2}$."),
        Clause(
            "distribution",
            r"$L/\gamma$ has the distribution function $\frac12\sqrt{e^\varepsilon/(1-t)}$ for "
            r"$1-e^{\varepsilon_0+\varepsilon}\le t<1-e^\varepsilon$ and $1-\frac12(t+e^\varepsilon)^{-1/2}$ "
            r"for $1-e^\varepsilon\le t<e^{\varepsilon_0}-e^\varepsilon$.",
        ),
        Clause("atoms", r"It has an atom of mass $\frac12e^{-\varepsilon_0/2}$ at either end."),
    ),
    source="decomposition, Appendix B",
    assumptions=("eps0 > 0", "0 <= eps <= eps0"),
    scope="all eps0 and eps, by integrating the densities; the library's cells at their edges",
    grade="proved",
    printed=_printed_laplace,
    check=_law_of_the_blanket,
    controls=(
        Control(
            "the roles of 0 and 1 exchanged",
            lambda what, s, x=None, t=None: (
                1 - _printed_laplace(what, s, x, t) if what.endswith("cdf") else _printed_laplace(what, s, x, t)
            ),
        ),
        Control(
            "gamma = exp(-eps0)",
            lambda what, s, x=None, t=None: sp.exp(-s) if what == "gamma" else _printed_laplace(what, s, x, t),
        ),
    ),
    expected="holds",
    obligations=for_all("s", "x", "t", clause=("blanket", "distribution", "atoms")),
)


# -- decomposition.ex-4.3


def _cut_laplace(lam_root: int, pieces: int) -> Channel:
    """Laplace on a bit with outputs merged into cells whose probabilities are rational: lam = lam_root**(2 pieces)."""
    powers = [Fraction(lam_root) ** j for j in range(pieces + 1)]
    root = powers[-1]
    cells = [(powers[j], powers[j + 1]) for j in range(pieces)]
    near = [(high - low) / (2 * root) for low, high in cells]
    far = [(1 / low - 1 / high) / (2 * root) for low, high in cells]
    end_near, end_far = Fraction(1, 2), 1 / (2 * root * root)
    zero = [end_near, *near[::-1], *far, end_far]
    one = [end_far, *far[::-1], *near, end_near]
    return Channel((tuple(zero), tuple(one)))


def _one_coordinate_at_a_time(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Densities at inputs of any distance up to 1 differ by at most exp(eps0), by signs, and by as much at distance 1.

    Then Laplace noise with outputs merged into rational cells, 2 and 3 coordinates that all differ: ratio cap against
    the stated budget, the law of G value by value and the bound at n = 3 against the stated one; in rationals. For open
    m: a value's mass over m coordinates.
    """
    m_, gap, inside, mass = sp.symbols("m g e c", nonnegative=True)
    # Inputs x <= x' of distance 1 - g; |y - x'| - |y - x| at an output below both, between them, above both.
    for place, difference in (("below", 1 - gap), ("between", 1 - gap - 2 * inside), ("above", -(1 - gap))):
        excess = (1 - difference).subs(gap, 1 / (1 + gap))
        yield never_negative(
            sp.cancel(excess), at=f"densities differ by the factor exp(eps0) at most: output {place} both"
        )
    zero, one = (_S / 2 * sp.exp(-_S * sp.Abs(_Y - end)) for end in (0, 1))
    ratio = ((zero / m_) / (one / m_)).subs(_Y, 0)
    yield identity(ratio, statement("budget", sp.exp(_S), m_), at="attained at distance 1, any number of coordinates")
    # Each coordinate is drawn with probability 1/m and has the value with the mass c (claim thm-11).
    i, number = sp.symbols("i m", integer=True, positive=True)
    union = sp.summation(mass / number, (i, 1, number)).subs(number, m_)
    yield identity(union, statement("bound", mass, m_), at="mass of a value of G over m coordinates that all differ")
    for pieces in (1, 2, 3):
        single = _cut_laplace(2, pieces)
        lam = Fraction(2) ** (2 * pieces)
        yield compare(single.ratio_cap(), lam, at=f"merged outputs, {pieces} cells a side: ratio cap is lam = {lam}")
        for m in (2, 3):
            parallel = direct_sum([single] * m, [Fraction(1, m)] * m)
            yield compare(parallel.ratio_cap(), statement("budget", lam, m), at=f"{m} coordinates, lam = {lam}")
            law = simplified_decomposition(parallel, (0, 1)).reduction_pair().gparv(Fraction(6, 5))
            alone = simplified_decomposition(single, (0, 1)).reduction_pair().gparv(Fraction(6, 5))
            yield compare(
                Exact().bracket(law, 3).lower,
                statement("bound", Exact().bracket(alone, 3).lower, m),
                at=f"bound of {m} coordinates that all differ, n = 3, lam = {lam}",
            )
            masses = {value: statement("bound", mass, m) for value, mass in alone.atoms()}
            yield compare(
                dict(law.atoms()), masses, at=f"law of G, {m} coordinates, lam = {lam}: every value, its mass"
            )


def _printed_parallel(what: str, value: Any, m: int) -> Any:
    """Budget and bound of the random coordinate are those of one coordinate."""
    return value


EX_4_3 = Claim(
    id="decomposition.ex-4.3",
    kind="statement",
    title="one Laplace coordinate of a vector",
    text=(
        Clause(
            "privacy",
            r"Reporting a uniformly drawn coordinate of $x\in[0,1]^m$ with Laplace noise of scale "
            r"$1/\varepsilon_0$ is $\varepsilon_0$-LDP.",
        ),
        Clause(
            "law",
            "Where all coordinates differ by 1 its law of $G$ is that of one coordinate.",
        ),
    ),
    source="decomposition, Example 4.3",
    assumptions=("uniform choice of the coordinate", "Theorems 10 and 11 (claims thm-10, thm-11)"),
    scope="density ratios and the mixture for all budgets and m; outputs merged into rational cells, m = 2, 3, n = 3",
    grade="proved",
    printed=_printed_parallel,
    check=_one_coordinate_at_a_time,
    controls=(
        Control("budget eps0/m", lambda what, value, m: value if what == "bound" else value / m),
        Control("bound divided by m", lambda what, value, m: value / m if what == "bound" else value),
        Control("the budget less 1 %", lambda what, value, m: value if what == "bound" else value * Fraction(99, 100)),
    ),
    expected="holds",
    obligations=(
        *for_all("value", clause="privacy"),
        *for_all("m", clause="law"),
    ),
)


CLAIMS: tuple[Claim, ...] = (EX_4_3, APPENDIX_B)
