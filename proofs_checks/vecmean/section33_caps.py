"""Section 3.3 with Appendix A.4: PrivUnit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Correction,
    Statement,
    by_cases,
    for_all,
    identity,
    serving,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.vectors.error.compare import privunit_constant
from symshuffle.vectors.error.indices import shuffle_index
from symshuffle.vectors.error.risk import err1
from symshuffle.vectors.randomizers.mechanisms import PrivUnit
from symshuffle.vectors.randomizers.sphere import cap_numbers

BITS: Final = 192
TINY: Final = Fraction(1, 10**25)
EXAMPLES: Final = tuple(
    PrivUnit(Fraction(p), Fraction(theta), d)
    for p, theta, d in (
        ("3/5", "0", 2),
        ("7/10", "1/4", 3),
        ("3/10", "-2/5", 5),
        ("1/5", "9/10", 4),
        ("3/5", "1/10", 50),
    )
)


def _every_estimator(q: Any, alpha: Any, d: Any, added: Any) -> Any:
    """Limit of the error over d chi^2; ``added`` is the mean square distance from Y/m, over d chi^2."""
    return q / ((1 - q) * d * alpha * alpha)


def _least_estimator(q: Any, alpha: Any, d: Any, added: Any) -> Any:
    """The limit with what an estimator pays for its distance from Y/m."""
    return _every_estimator(q, alpha, d, added) + added


def _check_constant(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every cap, d and unbiased estimator: limit, plane, heights, dimensions, by the four parts below; symbolic.

    Five d in balls: C(0, d) in closed form and below three other heights, where C is even.
    """
    yield from _to_the_limit(statement)
    yield from _in_the_plane(statement)
    yield from _lowest_height(statement)
    yield from _every_dimension(statement)
    for d in (2, 3, 10, 100, 10_000):
        lowest = privunit_constant(Fraction(0), d, bits=BITS)
        with working_precision(BITS):
            half = flint.arb(d) / 2
            closed = flint.arb.pi() / d * ((half + flint.arb(1) / 2).gamma() * half.rgamma()) ** 2
            gap = Ball.from_arb(abs(closed - to_arb(lowest)), BITS)
        yield compare(gap, TINY, "<=", at=f"d = {d}: C(0, d) in closed form")
        for theta in (Fraction(1, 100), Fraction(1, 3), Fraction(9, 10)):
            yield compare(
                privunit_constant(theta, d, bits=BITS), lowest, ">", at=f"d = {d}, theta = {theta}: above C(0, d)"
            )
            even: Any = privunit_constant(theta, d, bits=BITS) / privunit_constant(-theta, d, bits=BITS) - 1
            yield compare(even * even, TINY, "<=", at=f"d = {d}, theta = {theta}: C is even")


def _to_the_limit(statement: Statement) -> Iterator[Comparison]:
    """Any unbiased estimator, on average over inputs, where the advantage tends to 0 from either side."""
    import sympy as sp

    q, alpha, d, added = sp.symbols("q alpha d a", positive=True)
    delta = sp.Symbol("Delta", real=True)
    m, found = alpha * delta / q, []
    for side, gamma in (("+", 1 - delta / q), ("-", 1 + delta / (1 - q))):
        scale = d * gamma * q * (1 - q) / delta**2  # d chi_lo^2, equation (35)
        ratio = (1 / m**2 - 1) / scale + added  # claim vecmean.A.4-step2
        limit = sp.limit(sp.cancel(sp.together(ratio)), delta, 0, side)
        at = f"every cap, d and estimator, Delta to 0{side}: error over d chi^2"
        found += [identity(limit, statement(q, alpha, d, added), at=at)]
    yield from serving("estimators", found)


def _in_the_plane(statement: Statement) -> Iterator[Comparison]:
    """The counterexample: theta = 0, d = 2, and Y/m + K cos(2 phi) e_1."""
    import sympy as sp

    phi, psi = sp.symbols("phi psi", real=True)
    wave = sp.cos(2 * phi)
    for start in (psi - sp.pi / 2, psi + sp.pi / 2):
        half = sp.simplify(sp.integrate(wave, (phi, start, start + sp.pi)))
        yield identity(half, 0, at="every input: the wave has mean 0 on the cap and on the rest")
    square = sp.integrate(wave**2, (phi, 0, 2 * sp.pi)) / (2 * sp.pi)
    yield identity(square, sp.Rational(1, 2), at="its mean square; over d chi^2 it is K^2/4 at K = K chi")
    for k in (3, 5):
        t = Fraction(1, 10**k)
        mechanism = PrivUnit((1 + t) / 2, Fraction(0), 2)
        index: Any = shuffle_index(mechanism, "lower").inverse_square
        base: Any = err1(mechanism, on_sphere=True)
        alpha = cap_numbers(mechanism, bits=BITS).alpha
        for added in (Fraction(0), Fraction(1, 2), Fraction(1)):
            # The error is 1/m^2 - 1 + K^2/2 + K (cos(psi) - cos(3 psi)/3) at the input of angle psi,
            # by the harmonics 1 and 3 of sgn(cos); the largest is at psi = pi/4.
            with working_precision(BITS):
                chi = 1 / to_arb(index).sqrt()
                extra = to_arb(added) ** 2 * chi**2 / 2 + to_arb(added) * chi * 2 * flint.arb(2).sqrt() / 3
                ratio = Ball.from_arb((to_arb(base) + extra) / (2 * chi**2), BITS)
            gap: Any = ratio - statement(Fraction(1, 2), alpha, 2, added * added / 4)
            yield compare(gap, 3 * t, "<=", at=f"d = 2, t = 1e-{k}, K = {added} chi: error over d chi^2")
            yield compare(gap, -3 * t, ">=", at=f"d = 2, t = 1e-{k}, K = {added} chi: error over d chi^2")


def _lowest_height(statement: Statement) -> Iterator[Comparison]:
    """C is even in theta and rises for theta > 0, in every dimension of at least 3: the infimum is C(0, d).

    e stands for the mean of T on the cap, times the mass 1 - q of the cap; q has the density f as its derivative.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    q, e, d, t, u, rho, k, slack = sp.symbols("q e d theta u rho k s", positive=True)
    edge = (1 - t**2) ** ((d - 1) / 2) / (d - 1)
    falls = sp.powsimp(sp.simplify(sp.diff(edge, t) / (1 - t**2) ** ((d - 3) / 2)))
    found = [identity(falls, -t, at="every d: e has the derivative -theta f")]
    constant = statement(q, e / (1 - q), d, 0)
    other = statement(1 - q, e / q, d, 0)
    found += [identity(constant, other, at="every d: C at -theta, where q and 1 - q are exchanged")]
    f = e * (d - 1) / (1 - t**2)
    slope = (sp.diff(constant, q) - t * sp.diff(constant, e)) * f / constant
    # (d-1)/(1-theta^2) (r(-theta) - r(theta)), r(theta) = e/(1-q) - theta the mean residual life of T.
    residual = (e / q + t) - (e / (1 - q) - t)
    found += [identity(slope, (d - 1) / (1 - t**2) * residual, at="every d, theta: slope of log C")]
    yield from serving("heights", found)
    bend = -sp.diff(k / 2 * sp.log(1 - t**2), t, 2)
    concave = nonnegative(sp.simplify(bend), {t: slack / (1 + slack)})
    yield decide(concave, at="every d = 3 + k", claimed="the density of T is log-concave", symbolic=True)
    # f(s + x)/f(s) <= f(theta + x)/f(theta) = rho for s >= theta; so Pr[T >= theta + x]/Pr[T >= theta], whose slope has
    # the sign of Pr[T >= theta + x] f(theta) - Pr[T >= theta] f(theta + x), falls, and so does its integral r.
    shrinks = nonnegative(u * rho - u * rho / (1 + k), {})
    yield decide(shrinks, at="every pair of heights", claimed="the mean residual life falls", symbolic=True)


def _every_dimension(statement: Statement) -> Iterator[Comparison]:
    """C(0, d) between (pi/2)(1 - 1/d) and pi/2: each is C(0, d) over a quotient that is at least 1, or at most 1."""
    import sympy as sp

    z = sp.Symbol("z", positive=True)
    d, x, half = 2 * z + 1, z + sp.Rational(1, 2), sp.Rational(1, 2)

    def lowest(d: Any) -> Any:
        density = sp.gamma(d / 2) / (sp.sqrt(sp.pi) * sp.gamma((d - 1) / 2))
        return statement(half, 2 * density / (d - 1), d, 0)

    above = sp.gamma(x + half) ** 2 / (sp.gamma(x) * sp.gamma(x + 1))
    below = sp.gamma(x + half) * sp.gamma(x - half) / sp.gamma(x) ** 2
    found = [
        identity(sp.gammasimp(lowest(d) / above), sp.pi / 2, at="every d: the quotient is at most 1"),
        identity(sp.gammasimp(lowest(d) / below), sp.pi / 2 * (1 - 1 / d), at="every d: the quotient is at least 1"),
        identity(
            sp.gammasimp(sp.expand_func(lowest(d + 2) / lowest(d))),
            1 + 1 / (d * (d + 2)),
            at="every d: two dimensions more, more",
        ),
    ]
    yield from serving("dimensions", found)


def _numbers(p: Any, q: Any, alpha: Any) -> dict[str, Any]:
    """What the proof derives from p, the mass q outside the cap and the mean height alpha of the cap."""
    delta = p + q - 1
    high, low = p / (1 - q), (1 - p) / q
    m = alpha * delta / q
    return {
        "beta": -(1 - q) * alpha / q,
        "m": m,
        "err1": 1 / m**2 - 1,
        "variance": delta**2 / (q * (1 - q)),
        "high": high,
        "low": low,
        "constant": lambda gamma, chi2: q / (1 - q) * chi2 / (gamma * alpha**2) - 1,
    }


def _check_numbers(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open p, q, alpha: mean height, mass, message, error, variance and constant against the stated ones; symbolic.

    Five mechanisms in balls: the library's message, error and index.
    """
    import sympy as sp

    p, q, alpha, gamma = sp.symbols("p q alpha gamma", positive=True)
    said = statement(p, q, alpha)
    high, low = p / (1 - q), (1 - p) / q
    yield identity((1 - q) * alpha + q * said["beta"], 0, at="the mean of T is 0")
    yield identity((1 - q) * high + q * low, 1, at="unit mass")
    yield identity(p * alpha + (1 - p) * said["beta"], said["m"], at="mean of the message")
    yield identity(1 / said["m"] ** 2 - 2 + 1, said["err1"], at="error of Y/m on the sphere")
    yield identity(
        (1 - q) * (high - 1) ** 2 + q * (low - 1) ** 2, said["variance"], at="variance against the uniform law"
    )
    yield identity(said["constant"](gamma, gamma / said["variance"]), said["err1"], at="error by the lower index")
    for mechanism in EXAMPLES:
        found = cap_numbers(mechanism, bits=BITS)
        said = statement(_Lazy(mechanism.p), _Lazy(found.q), _Lazy(found.alpha))
        where = f"p = {mechanism.p}, theta = {mechanism.theta}, d = {mechanism.dimension}"
        for name, ours in (("m", found.shrinkage), ("err1", err1(mechanism, on_sphere=True, bits=BITS))):
            gap: Any = ours - said[name].value
            square: Any = gap * gap
            yield compare(square, TINY, "<=", at=f"{where}: {name}")
        index: Any = shuffle_index(mechanism, "lower", bits=BITS).inverse_square
        gap = index * found.gamma - said["variance"].value
        yield compare(gap * gap, TINY, "<=", at=f"{where}: variance of the index")


class _Lazy:
    """A ball or rational with integer powers, so that one formula serves symbols and balls."""

    def __init__(self, value: Any) -> None:
        self.value = value

    @staticmethod
    def _of(other: Any) -> Any:
        return other.value if isinstance(other, _Lazy) else Fraction(other)

    def __add__(self, other: Any) -> _Lazy:
        return _Lazy(self.value + self._of(other))

    __radd__ = __add__

    def __sub__(self, other: Any) -> _Lazy:
        return _Lazy(self.value - self._of(other))

    def __rsub__(self, other: Any) -> _Lazy:
        return _Lazy(self._of(other) - self.value)

    def __mul__(self, other: Any) -> _Lazy:
        return _Lazy(self.value * self._of(other))

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> _Lazy:
        return _Lazy(self.value / self._of(other))

    def __rtruediv__(self, other: Any) -> _Lazy:
        return _Lazy(self._of(other) / self.value)

    def __neg__(self) -> _Lazy:
        return _Lazy(-self.value)

    def __pow__(self, power: int) -> _Lazy:
        return _Lazy(math.prod([self.value] * power))


def _closed_range() -> tuple[list[Fraction], list[Fraction]]:
    """Probabilities, and heights that the printed range contains: its ends and its middle."""
    return [Fraction(1, 10), Fraction(1, 2)], [Fraction(-1), Fraction(0), Fraction(1)]


def _open_range() -> tuple[list[Fraction], list[Fraction]]:
    """A range without the ends."""
    return [Fraction(1, 10**6), Fraction(1, 2), 1 - Fraction(1, 10**6)], [
        Fraction(-99, 100),
        Fraction(0),
        Fraction(99, 100),
    ]


def _check_definition(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Stated probabilities and heights, d = 3: does the library find a density with a blanket; unit mass in balls."""
    probabilities, heights = statement()
    for p in probabilities:
        for theta in heights:
            at = f"p = {p}, theta = {theta}, d = 3"
            where = f"the cap holds {(1 - theta) / 2} of the sphere"  # d = 3: areas are proportional to heights
            found = decide(_has_density(p, theta), at=at, claimed="a density and a blanket", computed=where)
            yield from serving("ends of the ranges", [found])
    for mechanism in EXAMPLES[:3]:
        numbers = cap_numbers(mechanism)
        mass: Any = (1 - numbers.q) * numbers.high + numbers.q * numbers.low - 1
        at = f"unit mass at theta = {mechanism.theta}, d = {mechanism.dimension}"
        yield from serving("mechanisms", [compare(mass * mass, TINY, "<=", at=at)])


def _has_density(p: Fraction, theta: Fraction) -> bool:
    try:
        return cap_numbers(PrivUnit(p, theta, 3)).gamma.lower > 0
    except InputError:
        return False


CLAIMS: Final = (
    Claim(
        id="vecmean.prop-3.7",
        kind="statement",
        title="PrivUnit loses a constant factor",
        text=(
            Clause("error", r"For an unbiased estimator $Err_1=C(\theta,d)d\chi_{lo}^2(1+O(1/\chi_{lo}))$."),
            Clause("constant", r"$\liminf_d\inf_\theta C\ge\pi/2$."),
        ),
        source="vecmean, Proposition 3.7",
        assumptions=(
            "unit inputs, $d\\ge2$; the infimum over heights for $d\\ge3$",
            "mean error over inputs by claim vecmean.A.4-step2; the gamma function is log-convex",
        ),
        scope=(
            "the limit for every cap, d and unbiased estimator; the slope of C for every height and d >= 3, C(0, d) "
            "for every d; the plane at theta = 0 with three unbiased estimators, five d in balls"
        ),
        grade="refuted",
        printed=_every_estimator,
        check=_check_constant,
        controls=(
            Control("constant 1 % larger", lambda *a: _least_estimator(*a) * Fraction(101, 100)),
            Control("constant without d", lambda q, alpha, d, added: _least_estimator(q, alpha, d, added) * d),
        ),
        expected="refuted",
        erratum=Erratum(
            "hypothesis",
            "granted",
            "The estimator Y/m is probably meant, and for it the display holds; the text says an unbiased estimator.",
            quote="unbiased estimator",
        ),
        corrected=Correction(
            text=(
                r"The display holds for Y/m, the unbiased estimator of least error. One at mean square distance $s$ "
                r"from it (outputs uniform) has the mean error $1/m^2-1+s$ over inputs: in the plane at $\theta=0$, "
                r"$Y/m+K\cos(2\varphi)e_1$ with $K=\chi_{lo}$ adds 1/4 to the constant. For $d\ge3$ and $\theta$ in "
                r"the open interval $C(\theta,d)\ge C(0,d)=\frac\pi d(\Gamma(\frac{d+1}2)/\Gamma(\frac d2))^2$, "
                r"which lies between $\frac\pi2(1-\frac1d)$ and $\frac\pi2$: so the limit is $\pi/2$."
            ),
            statement=_least_estimator,
            grade="proved",
        ),
        obligations=(
            *for_all("q", "alpha", "d", clause=("constant", "error")),
            *for_all("added", "estimators", clause="error"),
            *for_all("heights", "dimensions", clause="constant"),
        ),
    ),
    Claim(
        id="vecmean.prop-3.7-exact",
        kind="statement",
        title="PrivUnit's exact numbers",
        text=(
            Clause("estimator", r"$\beta=-\frac{1-q}q\alpha$, $m=\alpha\Delta/q$."),
            Clause("error", "$Err_1=1/m^2-1$."),
            Clause("variance", r"$Var=\Delta^2/(q(1-q))$."),
            Clause("index", r"$\chi_{lo}^2=\gamma q(1-q)/\Delta^2$."),
        ),
        source="vecmean, Appendix A.4, equations (31) to (35)",
        assumptions=("the estimator Y/m",),
        scope="identities for all p, q, alpha; five mechanisms in balls",
        grade="proved",
        printed=_numbers,
        check=_check_numbers,
        controls=(
            Control("q and 1 - q exchanged in beta", lambda p, q, a: {**_numbers(p, q, a), "beta": -q * a / (1 - q)}),
            Control("m without the division by q", lambda p, q, a: {**_numbers(p, q, a), "m": a * (p + q - 1)}),
        ),
        expected="holds",
        obligations=for_all("p", "q", "alpha", clause=("estimator", "error", "variance", "index")),
    ),
    Claim(
        id="vecmean.def-A.5",
        kind="definition",
        title="the PrivUnit randomizer",
        text=(
            Clause("law", "Uniform on the cap with probability p, on its complement otherwise."),
            Clause("ranges", r"$p\in[0,1]$, $\theta\in[-1,1]$."),
        ),
        source="vecmean, Definition A.5",
        assumptions=(),
        scope="ends of the range in dimension 3; unit mass for three mechanisms",
        grade="refuted",
        printed=_closed_range,
        check=_check_definition,
        controls=(Control("theta = 1 allowed", lambda: ([Fraction(1, 2)], [Fraction(0), Fraction(1)])),),
        expected="refuted",
        erratum=Erratum(
            "hypothesis",
            "granted",
            "Only the two end points of the range have to go; they are degenerate and used nowhere.",
            quote="theta in [-1, 1]",
        ),
        corrected=Correction(
            text=(
                r"$\theta\in(-1,1)$: at $\theta=-1$ the complement is empty, and there is no uniform law on it; at "
                r"$\theta=1$ the cap is a point and has no density."
            ),
            statement=_open_range,
            grade="certified",
        ),
        obligations=(*by_cases("ends of the ranges", clause="ranges"), *by_cases("mechanisms", clause="law")),
    ),
)
