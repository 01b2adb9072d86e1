"""Statements of our own: where the indices are attained, fresh null laws, gains of the largest blanket, shrinkage."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import numpy as np

from proofs_checks.vecmean._errors import best_shrinkage
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.channels.channel import Channel
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
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.error.optimal import best_density, bmg_optimal
from symshuffle.vectors.error.risk import affine_risk
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    FiniteRandomizer,
    LocalGaussian,
    LocalLaplace,
    SphereLinear,
)
from symshuffle.vectors.randomizers.sphere import clipped_numbers

TINY: Final = Fraction(1, 10**25)
HUNDREDTH: Final = Fraction(1, 100)


def _slopes(gamma: Any, v: Any) -> tuple[Any, Any]:
    """For f(v) = 1/(gamma + (1-gamma) v): minus v f', and v^2 f''."""
    rest = 1 - gamma
    return rest * v / (gamma + rest * v) ** 2, 2 * rest**2 * v**2 / (gamma + rest * v) ** 3


def _check_antipodal(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every gamma and v: slopes of f(v) = 1/(gamma + (1-gamma) v), integration by parts for any h, signs; symbolic.

    So the variance rises with length and falls with the inner product. The library's index at two (gamma, sigma0)
    against recorded digits, a regression.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    gamma, v, s, tau, z, w, x = sp.symbols("gamma v s tau z w x", positive=True)
    f = 1 / (gamma + (1 - gamma) * v)
    fall, bend = statement(gamma, v)
    unit = {gamma: s / (1 + s)}
    yield identity(-v * sp.diff(f, v), fall, at="every v: slope in c")
    yield identity(v**2 * sp.diff(f, v, 2), bend, at="every v: slope in tau, up to the factor tau")
    yield decide(nonnegative(bend, unit), at="every gamma, v", claimed="J rises in tau", symbolic=True)
    # In tau: d/dtau E h(v) = tau E[v^2 h''(v)] for v = exp(c + tau Z - tau^2/2) and any h, by parts in Z: h1 and h2
    # stand for h'(v) and h''(v).
    h1, h2 = sp.symbols("h1 h2", real=True)
    u = sp.exp(tau * z - tau**2 / 2)
    moved = h1 * sp.diff(u, tau) - tau * u**2 * h2
    part = (h1 + u * h2) * sp.diff(u, z) - z * u * h1  # derivative in z of v h'(v) phi(z), over phi(z)
    yield identity(sp.simplify(moved + part), 0, at="every h: by parts in Z")
    # In c: with E[v h(v)] = E[h(e^(tau^2) v)], the slope is negative where e^(r^2 + c) (gamma + A e^c w)^2 is at least
    # (gamma + A e^(2c) w)^2. Both factors help for -r^2 <= c <= 0; for 0 < c = log x <= r^2, e^(r^2 + c) >= x^2.
    low = gamma + (1 - gamma) * x * w - (gamma + (1 - gamma) * x**2 * w)
    yield decide(nonnegative(low, {**unit, x: 1 / (1 + tau)}), at="c <= 0", claimed="falls in c", symbolic=True)
    high = x * (gamma + (1 - gamma) * x * w) - (gamma + (1 - gamma) * x**2 * w)
    yield decide(nonnegative(high, {**unit, x: 1 + tau}), at="0 < c <= r^2", claimed="falls in c", symbolic=True)
    for name, sigma0, value in (("0.95", "4.6", "90.795102218430364"), ("0.1", "0.7", "0.14431042831718707")):
        found: Any = shuffle_index(BlanketMixedGaussian(Fraction(name), Fraction(sigma0)), "upper").bracket
        gap = abs(found.midpoint / Fraction(value) - 1)
        yield compare(gap, Fraction(1, 10**14), "<=", at=f"gamma = {name}, sigma0 = {sigma0}: recorded digits")


def _laplace(u: Any, v: Any) -> Any:
    """Variance of the privacy variable at x1 = log u under the reference input -log v, at scale 1."""
    return (1 - 1 / u) ** 2 * (2 * u * v + 1 / v**2) / 3


def _check_laplace(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every x1 >= 0 >= x, u = e^x1, v = e^-x: the variance, integrated piece by piece, against the stated; symbolic.

    It rises in u and v by sign, and exceeds that of a reference on the side of x1. The library's index at scale 5, in
    balls.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    u, v, s, t, y = sp.symbols("u v s t y", positive=True)
    # Substitute y = log of the variable: pieces of the line where all three densities are exponentials.
    powers = (
        # (from, to) in e^y, then e^(...) factors of R_x1, R_0 and 1/R_x at scale 1, times 2 and 1/2.
        (sp.Integer(0), 1 / v, y / u, y, 1 / (y * v)),
        (1 / v, sp.Integer(1), y / u, y, y * v),
        (sp.Integer(1), u, y / u, 1 / y, y * v),
        (u, sp.oo, u / y, 1 / y, y * v),
    )
    total = sum(sp.integrate(sp.expand((a - b) ** 2 * c / (2 * y)), (y, low, high)) for low, high, a, b, c in powers)
    yield identity(sp.simplify(total), statement(u, v), at="every x1 >= 0 >= x: the integral, piece by piece")
    grown = {u: 1 + s, v: 1 + t}
    for name, slope in (("x1", sp.diff(statement(u, v), u)), ("-x", sp.diff(statement(u, v), v))):
        yield decide(nonnegative(slope, grown), at=f"x1, -x >= 0: rises in {name}", claimed="rises", symbolic=True)
    # A reference on the same side is no worse: for x = log w between 0 and x1, or beyond it.
    w = sp.Symbol("w", positive=True)
    inside = (
        (sp.Integer(0), sp.Integer(1), y / u, y, w / y),
        (sp.Integer(1), w, y / u, 1 / y, w / y),
        (w, u, y / u, 1 / y, y / w),
        (u, sp.oo, u / y, 1 / y, y / w),
    )
    beyond = (
        (sp.Integer(0), sp.Integer(1), y / u, y, w / y),
        (sp.Integer(1), u, y / u, 1 / y, w / y),
        (u, w, u / y, 1 / y, w / y),
        (w, sp.oo, u / y, 1 / y, y / w),
    )
    for where, pieces, chart in (
        ("0 <= x <= x1", inside, {u: (1 + s) * (1 + t), w: 1 + t}),
        ("x1 <= x", beyond, {u: 1 + s, w: (1 + s) * (1 + t)}),
    ):
        same = sum(sp.integrate(sp.expand((a - b) ** 2 * c / (2 * y)), (y, lo, hi)) for lo, hi, a, b, c in pieces)
        opposite = nonnegative(statement(u, w) - same, chart)
        yield decide(opposite, at=f"{where}: the opposite reference is worse", claimed="worse", symbolic=True)
    with working_precision(192):
        import flint

        e = (flint.arb(1) / 5).exp()
        ours = to_arb(shuffle_index(LocalLaplace(Fraction(5)), "upper", bits=192).inverse_square)
        gap = Ball.from_arb(abs(ours - statement(e, e)), 192)
    yield compare(gap, TINY, "<=", at="scale 5: the library's index")


def _fresh(found: FiniteRandomizer, kernel: Channel) -> FiniteRandomizer:
    """After processing the null law stays what it was, processed."""
    return found.postprocess(kernel)


def _check_fresh(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """80 random channels and kernels over Q: no index is lower after processing as stated, by inverse squares."""
    from proofs_checks.vecmean import _cases as cases

    for trial in range(80):
        found = FiniteRandomizer.from_channel(cases.channel(rng, 2, 3))
        after = statement(found, cases.kernel(rng, 3, 2))
        yield compare(
            after.inverse_square_upper(), found.inverse_square_upper(), "<=", at=f"random channel {trial}, upper"
        )
        yield compare(
            after.inverse_square_lower(), found.inverse_square_lower(), "<=", at=f"random channel {trial}, lower"
        )


def _renewed(found: FiniteRandomizer, kernel: Channel) -> FiniteRandomizer:
    """After processing, null law and blanket are taken anew."""
    return FiniteRandomizer.from_channel(found.channel.push_forward(kernel))


def _gain(mechanism: BlanketMixedGaussian) -> tuple[Fraction, tuple[Fraction, ...]]:
    """How much the largest blanket raises the lower index, at least; in dimension 1 the index with either, rounded."""
    if mechanism.dimension == 1:
        return Fraction(16, 10), (Fraction(8861, 100), Fraction(9021, 100))
    return Fraction(6, 10), ()


def _check_gain(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """BMG(0.95, 4.6), d = 1 and 30: brackets of the lower index with either blanket, gain against the stated least.

    In dimension 1 both indices to the stated digits; with the largest blanket it is below the upper one. The plain
    Gaussian at sigma0 = 1000 and a linear density besides.
    """
    for d in (1, 30):
        mechanism = BlanketMixedGaussian(Fraction(19, 20), Fraction(23, 5), Fraction(1), d)
        own = shuffle_index(mechanism, "lower").bracket
        largest = shuffle_index(mechanism, "lower", blanket="largest").bracket
        upper = shuffle_index(mechanism, "upper").bracket
        least, rounded = statement(mechanism)
        yield compare(largest.lower - own.upper, least, ">=", at=f"d = {d}: gain of the largest blanket")
        for name, index, said in zip(("own", "largest"), (own, largest), rounded, strict=False):
            yield compare(index.upper, said + HUNDREDTH / 2, "<=", at=f"d = {d}: lower index, {name} blanket")
            yield compare(index.lower, said - HUNDREDTH / 2, ">=", at=f"d = {d}: lower index, {name} blanket")
        yield compare(largest.upper, upper.lower, "<", at=f"d = {d}: still below the upper index")
    plain = shuffle_index(LocalGaussian(Fraction(1000), 1), "lower", blanket="largest").bracket
    ratio = Fraction(10**6) / plain.lower**2 - 1
    # m_1 = E|Z|^3 = 2 sqrt(2/pi) = 1.5957...: the pure Gaussian's excess is m_1/chi to first order.
    yield compare(
        ratio * plain.lower, Fraction(15970, 10**4), "<=", at="no mixing, sigma0 = 1000, d = 1: excess times chi"
    )
    linear = shuffle_index(SphereLinear(Fraction(1, 2), 3), "lower").bracket
    yield compare(linear.upper, Fraction(24495, 10**4), "<=", at="linear density, c = 1/2, d = 3: the root of 6")


def _shrunk(error: Any) -> tuple[Any, Any]:
    """Best factor and least error where the unbiased error, largest at unit inputs, is ``error``."""
    return 1 / (1 + error), error / (1 + error)


def _check_shrunk(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open error and factor: stationary point, value, the square that another factor costs, order kept; symbolic.

    Four (chi, d, n): shrunk risks of the best mixture and of the clipped density above the stated central one.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import positive

    error, factor = sp.symbols("E f", positive=True)
    total = factor**2 * error + (1 - factor) ** 2
    best, least = statement(error)
    yield identity(sp.diff(total, factor).subs(factor, best), 0, at="every error: stationary")
    yield identity(sp.simplify(total.subs(factor, best)), least, at="every error: value")
    square = (1 + error) * (factor - best) ** 2
    yield identity(total - least, square, at="every error and factor: what another factor costs")
    yield decide(positive(sp.diff(least, error), {}), at="every error", claimed="order is kept", symbolic=True)
    for chi, d, n in ((3, 2, 10), (10, 10, 1000), (100, 3, 10**6), (2, 5, 10**4)):
        where = f"chi = {chi}, d = {d}, n = {n}"
        central = statement(Fraction(d * chi**2, n))[1]
        yield compare(best_shrinkage(Fraction(d * chi**2), Fraction(0), n=n).risk, central, at=f"{where}: central")
        mixed = best_shrinkage(*affine_risk(bmg_optimal(chi, d).mechanism)[:2], n=n).risk
        yield compare(mixed, central, ">", at=f"{where}: mixed Gaussian")
        shrinkage: Any = clipped_numbers(best_density(chi, d).mechanism)[2]
        second_moment: Any = 1 / (shrinkage * shrinkage)
        clipped = best_shrinkage(second_moment, Fraction(-1), n=n).risk
        yield compare(clipped, central, ">", at=f"{where}: clipped density")


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-bmg-upper-index",
        kind="statement",
        title="where the upper index of the mixed Gaussian is attained",
        text=(
            Clause(
                "attained",
                r"$\sup_{x_1,x}Var_{R_x}\ell_0$ over the ball of radius r is attained at $x=-x_1$, $|x_1|=r$, "
                r"for every $\gamma$, $\sigma_0$ and dimension.",
            ),
            Clause("one integral", "So it is one integral on the line."),
        ),
        source="our own; vecmean, Section 4.3 leaves it to a grid",
        assumptions=(),
        scope=(
            "both slopes for all parameters; integration by parts for every h; the inequalities; two indices against "
            "recorded digits, a regression"
        ),
        grade="proved",
        printed=_slopes,
        check=_check_antipodal,
        controls=(
            Control("slope in c without v", lambda g, v: (_slopes(g, v)[0] / v, _slopes(g, v)[1])),
            Control(
                "second derivative 1 % off", lambda g, v: (_slopes(g, v)[0], _slopes(g, v)[1] * Fraction(101, 100))
            ),
        ),
        expected="holds",
        obligations=for_all("gamma", "v", clause=("attained", "one integral")),
    ),
    Claim(
        id="symshuffle.vecmean-laplace-upper-index",
        kind="statement",
        title="upper index of Laplace noise on [-1, 1]",
        text=(
            Clause("value", r"$\chi_{up}^{-2}=\frac13(1-e^{-\beta})^2(2e^{2\beta}+e^{-2\beta})$ at scale $1/\beta$."),
            Clause("attained", "It is attained at $x_1=1$, $x=-1$."),
        ),
        source="our own",
        assumptions=(),
        scope="the variance for all pairs on opposite sides, its monotonicity, and both cases on one side",
        grade="proved",
        printed=_laplace,
        check=_check_laplace,
        controls=(
            Control(
                "1 % more of the first term",
                lambda u, v: (1 - 1 / u) ** 2 * (Fraction(202, 100) * u * v + 1 / v**2) / 3,
            ),
        ),
        expected="holds",
        obligations=for_all("u", "v", clause=("value", "attained")),
    ),
    Claim(
        id="symshuffle.vecmean-fresh-null-law",
        kind="statement",
        title="the null law has to be carried along",
        text=(
            Clause("carried", "Processing lowers no index if null law and blanket are pushed forward."),
            Clause("anew", "It may if the null law is taken anew as the largest blanket of the processed channel."),
        ),
        source="our own; on vecmean, Lemma A.3 with the convention of Section 2.3",
        assumptions=(),
        scope="80 random channels and kernels; the control is the convention applied anew",
        grade="exact-cases",
        printed=_fresh,
        check=_check_fresh,
        controls=(Control("null law taken anew", _renewed),),
        expected="holds",
        obligations=for_all("found", "kernel", clause=("carried", "anew")),
    ),
    Claim(
        id="symshuffle.vecmean-largest-blanket",
        kind="statement",
        title="what the largest blanket gains",
        text=(
            Clause("line", "BMG(0.95, 4.6): the lower index rises from 88.61 to 90.21 in dimension 1."),
            Clause("thirty", "It rises by over 0.6 in dimension 30."),
        ),
        source="our own; the catalogue's first item beyond the paper",
        assumptions=(),
        scope="certified in dimensions 1 and 30; the pure Gaussian at sigma0 = 1000",
        grade="certified",
        printed=_gain,
        check=_check_gain,
        controls=(
            Control("a gain of 1.7", lambda mechanism: (Fraction(17, 10), _gain(mechanism)[1])),
            Control(
                "last digits 1 off",
                lambda mechanism: (_gain(mechanism)[0], tuple(v + HUNDREDTH for v in _gain(mechanism)[1])),
            ),
        ),
        expected="holds",
        obligations=by_cases("mechanism", clause=("line", "thirty")),
    ),
    Claim(
        id="symshuffle.vecmean-shrinkage",
        kind="statement",
        title="shrunk estimators against the equally shrunk central Gaussian",
        text=(
            Clause(
                "factor",
                "If the unbiased error E is largest at unit inputs, the best factor is 1/(1+E), its error E/(1+E).",
            ),
            Clause(
                "order",
                "Shrinking keeps the order of mechanisms, so none passes the equally shrunk central Gaussian by it.",
            ),
        ),
        source="our own; vecmean, Section 6 asks about biased estimators",
        assumptions=("one factor for all messages; the worst case over the ball",),
        scope="every E; four cases at equal index; there the clipped density, worst at 0, stays above too",
        grade="proved",
        printed=_shrunk,
        check=_check_shrunk,
        controls=(Control("factor 1 % larger", lambda e: (Fraction(101, 100) / (1 + e), e / (1 + e))),),
        expected="holds",
        obligations=for_all("error", clause=("factor", "order")),
    ),
)
