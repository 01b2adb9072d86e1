"""Appendix A.4: linear estimators for cap sampling, and the limit of its constant."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np

from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
    in_the_limit,
    serving,
)
from symshuffle.vectors.error.compare import privunit_constant
from symshuffle.vectors.error.minimal_risk import minimal_unbiased_risk
from symshuffle.vectors.randomizers.gaussian import upper_normal
from symshuffle.vectors.randomizers.mechanisms import PrivUnit
from symshuffle.vectors.randomizers.sphere import cap_numbers

BITS: Final = 192


def _linear(m: Any, spread: Any) -> Any:
    """Mean error over uniform inputs of an unbiased estimator at mean square distance ``spread`` from Y/m."""
    return 1 / (m * m) - 1 + spread


def _check_symmetrised(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Any unbiased estimator, output by output: mean error over inputs by its distance from Y/m; symbolic.

    As printed too: what averaging over two rotations gains, and that an equivariant estimate is along the output.
    """
    import sympy as sp

    m, t, f1, f2 = sp.symbols("m t f1 f2", real=True)
    across = sp.Symbol("w", real=True)
    # Inputs uniform on the sphere: outputs are uniform, as the density depends on <u, v> alone. Given the output u, an
    # input t u + w and its mirror image t u - w are equally likely: the mean of <f(u), v> is t f1, and m f1 over all t.
    mirrored = (f1 * t + f2 * across + f1 * t - f2 * across) / 2
    found = [identity(mirrored, f1 * t, at="every output: mean product of an estimate with the input")]
    # So E |f - v|^2 at an output, f1 along and f2 across it. Unbiased: E <f, v> = 1, so f1 - 1/m has mean 0 over the
    # outputs, and the mean of this is that of the statement, which is affine in the spread (below).
    error = f1**2 + f2**2 - 2 * m * f1 + 1
    centred = (2 / m - 2 * m) * (f1 - 1 / m)
    at = "every output, d and cap: error up to a term of mean 0 for every unbiased estimator"
    found += [identity(error - centred, statement(m, (f1 - 1 / m) ** 2 + f2**2), at=at)]
    yield from serving("estimators", found)
    s = sp.Symbol("s", positive=True)
    yield identity(error.subs({f1: 1 / m, f2: 0}), statement(m, sp.Integer(0)), at="Y/m, every output")
    yield identity(statement(m, s) - statement(m, 0), s, at="every estimator: what it pays beyond Y/m")
    # As printed, by rotations, two for all: an average over them stays unbiased and its error is no larger.
    w, a, b, phi = sp.symbols("w a b phi", real=True)
    turn = sp.Matrix([[sp.cos(phi), -sp.sin(phi)], [sp.sin(phi), sp.cos(phi)]])
    back = (turn.T * turn * sp.Matrix([f1, f2])).applyfunc(sp.simplify)
    yield identity(back[0], f1, at="every rotation: turned, estimated without bias, turned back")
    jensen = w * a**2 + (1 - w) * b**2 - (w * a + (1 - w) * b) ** 2
    yield identity(jensen, w * (1 - w) * (a - b) ** 2, at="every two rotations: what their average gains")
    # Equivariant under the reflection that fixes u: f2 = -f2, so the estimate is along the output.
    yield identity(sp.solve(sp.Eq(f2, -f2), f2)[0], 0, at="every output: an equivariant estimate is a multiple of it")
    yield from _symmetric_cases(statement)


def _symmetric_cases(statement: Statement) -> Iterator[Comparison]:
    """A channel with the symmetry of the square, by a certified program; the plane at theta = 0, in balls."""
    # A finite picture: the messages and inputs are the corners of a regular 4-gon, with the symmetry of the square. The
    # least worst error over all unbiased estimators is that of the linear one.
    square = [
        (Fraction(1), Fraction(0)),
        (Fraction(0), Fraction(1)),
        (Fraction(-1), Fraction(0)),
        (Fraction(0), Fraction(-1)),
    ]
    from symshuffle.channels.channel import Channel

    a = Fraction(2, 5)
    circulant = tuple(
        tuple((a, Fraction(1, 4), Fraction(1, 10), Fraction(1, 4))[(j - i) % 4] for j in range(4)) for i in range(4)
    )
    least = minimal_unbiased_risk(Channel(circulant), square).bracket
    m = a - Fraction(1, 10)
    yield compare(least.lower, statement(m, 0), at="the square: least error is that of Y/m")
    yield compare(least.upper, statement(m, 0), at="the square: least error is that of Y/m")
    # The plane at theta = 0: the added term has mean 0 at every input; its mean square over inputs is what it pays.
    mechanism = PrivUnit(Fraction(3, 5), Fraction(0), 2)
    shrinkage = cap_numbers(mechanism, bits=BITS).shrinkage
    for added in (Fraction(0), Fraction(1, 2), Fraction(2)):
        total = statement(shrinkage, added * added / 2)
        paid = _plane_error(mechanism, added)
        gap: Any = total - paid
        yield compare(gap * gap, Fraction(1, 10**30), "<=", at=f"the plane, K = {added}: average error over inputs")


def _plane_error(mechanism: PrivUnit, added: Fraction) -> Ball:
    """Average over 32 inputs of the squared error of Y/m + K cos(2 phi) e_1, by quadrature over each half circle.

    Harmonics of the error in the input are at most the third, so 32 equally spaced inputs average exactly.
    """
    numbers = cap_numbers(mechanism, bits=BITS)
    with working_precision(BITS):
        m, k, p, pi = to_arb(numbers.shrinkage), to_arb(added), to_arb(mechanism.p), flint.arb.pi()
        total = flint.arb(0)
        for i in range(32):
            angle = pi * i / 16

            def square(phi: flint.acb, _: bool) -> flint.acb:
                first = phi.cos() / m + k * (2 * phi).cos() - angle.cos()  # noqa: B023 -- used at once
                second = phi.sin() / m - angle.sin()  # noqa: B023
                return first * first + second * second

            near = flint.acb.integral(square, flint.acb(angle - pi / 2), flint.acb(angle + pi / 2)).real
            far = flint.acb.integral(square, flint.acb(angle + pi / 2), flint.acb(angle + 3 * pi / 2)).real
            total += (p * near + (1 - p) * far) / pi
        return Ball.from_arb(total / 32, BITS)


def _limit(phi: Any, lower: Any, upper: Any, tau: Any) -> tuple[Any, Any]:
    """Slope of log C(tau), and C(tau), from the normal density and both tails."""
    return phi / lower - phi / upper + 2 * tau, lower * upper / phi**2


def _check_limit(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Open tau: the stated slope of log C against the derivative; symbolic. Its sign: by Mills' bound from 8 on.

    On (0, 8] by cells in balls, below 1/10 by an inequality. The limit: from a bracket at every d, for every tau.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import nonnegative

    tau = sp.Symbol("tau", positive=True)
    # By the chain rule, the normal density being the slope of its cdf and -tau times itself its own slope.
    cdf, density = sp.symbols("Phi phi", positive=True)
    constant = sp.log(cdf * (1 - cdf) / density**2)
    ours = sp.diff(constant, cdf) * density - sp.diff(constant, density) * tau * density
    slope, value = statement(density, cdf, 1 - cdf, tau)
    yield identity(ours, slope, at="every tau: slope of log C")
    yield identity(sp.exp(constant), value, at="every tau: C")
    cdf = (1 + sp.erf(tau / sp.sqrt(2))) / 2
    density = sp.exp(-(tau**2) / 2) / sp.sqrt(2 * sp.pi)
    yield identity(sp.diff(cdf, tau), density, at="every tau: slope of the normal cdf")
    yield identity(sp.diff(density, tau), -tau * density, at="every tau: slope of the normal density")
    # C is even, as both tails change places: below 0 the slope is minus that above.
    phi, low, high = sp.symbols("phi L U", positive=True)
    (slope, value), (turned, same) = statement(phi, low, high, tau), statement(phi, high, low, -tau)
    yield identity(same, value, at="every tau: C is even")
    yield identity(turned, -slope, at="every tau: the slope is odd")
    beyond = sp.Symbol("m", positive=True)
    # Mills: Q >= phi tau/(1 + tau^2). Any density and lower tail will do.
    far = statement(density, cdf, density * tau / (1 + tau**2), tau)[0] - density / cdf
    mills = nonnegative(sp.simplify(far).subs(tau, 8 + beyond), {})
    yield decide(mills, at="every tau >= 8", claimed="the slope is positive by Mills' bound", symbolic=True)
    with working_precision(BITS):
        # On cells of (0, 8]: phi/Phi falls, phi/Q and tau rise; beyond, phi/Q < tau + 1/tau (Mills), so 2 tau wins.
        steps = [flint.arb(i) / 400 for i in range(40, 3201)]
        signs = [
            bool(statement(_density(b), 1 - upper_normal(b), upper_normal(b), a)[0] > 0)
            for a, b in itertools.pairwise(steps)
        ]
        yield decide(all(signs), at="cells of [1/10, 8]", claimed="the slope is positive")
        # Below 1/10, h = Phi - 1/2 <= tau phi(0): the slope 2 tau - 2 phi h/(1/4 - h^2) is positive where
        # phi(0)^2 < 1/4 - h^2.
        height = sp.Symbol("h", positive=True)
        near = statement(phi, sp.Rational(1, 2) + height, sp.Rational(1, 2) - height, tau)[0]
        written = 2 * tau - 2 * phi * height / (sp.Rational(1, 4) - height**2)
        yield identity(near, written, at="every tau: slope by the distance of the tails from 1/2")
        peak, far = _density(flint.arb(0)), _density(flint.arb(0)) / 10
        yield decide(bool(peak**2 / (flint.arb(1) / 4 - far**2) < 1), at="(0, 1/10]", claimed="the slope is positive")
    half = sp.Rational(1, 2)
    yield identity(statement(1 / sp.sqrt(2 * sp.pi), half, half, 0)[1], sp.pi / 2, at="tau = 0")
    yield from serving("d", _check_every_dimension(statement))
    for height, d in itertools.product((Fraction(0), Fraction(1), Fraction(-3, 2)), (4, 50, 10**4)):
        # tau = height, theta = tau / sqrt(d) where that is rational; elsewhere another theta will do.
        theta = height / (100 if d == 10**4 else 4)
        least, most = _in_balls(theta, d)
        yield compare(privunit_constant(theta, d), least, ">=", at=f"theta = {theta}, d = {d}: lower end")
        yield compare(privunit_constant(theta, d), most, "<=", at=f"theta = {theta}, d = {d}: upper end")


def _bracket(tau: Any, d: Any, cdf: Callable[[Any], Any], pi: Any, root: Callable[[Any], Any]) -> tuple[Any, Any]:
    """Lower and upper end of C(tau / sqrt(d), d), for every d of at least 4."""
    widened, height = root((d - 1) / (d - 3)), tau * root((d - 3) / d)
    below, above = widened * cdf(height), widened * cdf(-height)
    edge = (1 - tau**2 / d) ** (d - 1) / (2 * pi) * d / (d - 1) ** 2  # its square, without the factor d - 2 or d - 1
    return (1 - below) * (1 - above) / (edge * (d - 1)), below * above / (edge * (d - 2))


def _check_every_dimension(statement: Statement) -> Iterator[Comparison]:
    """Every tau and d: the steps of the bracket, and that both ends tend to the stated constant; symbolic.

    With k = c_d / sqrt(d), the variable sqrt(d) T has the density k (1 - s^2/d)^((d-3)/2). The function Gamma is
    log-convex (quoted) and 1 - u is at most exp(-u).
    """
    import sympy as sp

    tau, x, k = sp.Symbol("tau", real=True), sp.Symbol("x", positive=True), sp.Symbol("k", positive=True)
    more = sp.Symbol("m", positive=True)
    d = 3 + more
    # Log-convexity: G(x + 1/2)^2 <= G(x) G(x + 1) and G(x)^2 <= G(x - 1/2) G(x + 1/2). The squared ratio of G(x + 1/2)
    # to G(x) is thus between x - 1/2 and x; at x = (d - 1)/2 it is pi d k^2.
    yield identity(sp.gamma(x + 1) / sp.gamma(x), x, at="every x: ratio of two Gammas")
    k_most, k_least = ((x - less) / (sp.pi * d) for less in (0, sp.Rational(1, 2)))
    # The tails, by exp(-s^2/d) in place of 1 - s^2/d.
    u = sp.Symbol("u", positive=True)
    rises = sp.integrate(1 - sp.exp(-x), (x, 0, u))
    yield identity(rises, sp.exp(-u) - (1 - u), at="every u: exp(-u) is 1 - u and an integral of what is positive")

    def cdf(height: Any) -> Any:
        return (1 + sp.erf(height / sp.sqrt(2))) / 2

    shrunk = sp.sqrt((d - 3) / d)
    density = sp.exp(-(tau**2) / d * (d - 3) / 2)
    tail = sp.sqrt(2 * sp.pi) / shrunk * cdf(tau * shrunk)
    yield identity(sp.diff(tail, tau), density, at="every tau, d: the larger density, integrated")
    widened = sp.sqrt((d - 1) / (2 * sp.pi * d)) * sp.sqrt(2 * sp.pi) / shrunk
    yield identity(widened**2, (d - 1) / (d - 3), at="every d: its mass")
    # The edge, E[Z; Z >= tau], has a primitive.
    edge = k * d / (d - 1) * (1 - tau**2 / d) ** ((d - 1) / 2)
    slope = -tau * k * (1 - tau**2 / d) ** ((d - 3) / 2)
    yield identity(sp.diff(edge, tau) / slope, 1, at="every tau, d: the mean beyond tau")
    least, most = _bracket(tau, d, cdf, sp.pi, sp.sqrt)
    below, above = widened * cdf(tau * shrunk), widened * cdf(-tau * shrunk)
    for name, end, tails, square in (
        ("most", least, (1 - below) * (1 - above), k_most),
        ("least", most, below * above, k_least),
    ):
        squared = (edge**2).subs(k, sp.sqrt(square.subs(x, (d - 1) / 2)))
        yield identity(tails / end, squared, at=f"every tau, d: tails over the end are the squared edge at {name}")
    claimed = statement(sp.exp(-(tau**2) / 2) / sp.sqrt(2 * sp.pi), cdf(tau), cdf(-tau), tau)[1]
    free = sp.Symbol("d", positive=True)
    for name, end in zip(("lower", "upper"), _bracket(tau, free, cdf, sp.pi, sp.sqrt), strict=True):
        yield identity(sp.limit(end, free, sp.oo), claimed, at=f"every tau: limit of the {name} end")


def _in_balls(theta: Fraction, d: int) -> tuple[Ball, Ball]:
    """The bracket at one height and dimension."""
    with working_precision(BITS):
        dimension = flint.arb(d)
        tau = to_arb(theta) * dimension.sqrt()
        ends = _bracket(tau, dimension, lambda b: 1 - upper_normal(b), flint.arb.pi(), lambda x: x.sqrt())
        return Ball.from_arb(ends[0], BITS), Ball.from_arb(ends[1], BITS)


def _density(x: flint.arb) -> flint.arb:
    """Standard normal density."""
    return (-x * x / 2).exp() / (2 * flint.arb.pi()).sqrt()


CLAIMS: Final = (
    Claim(
        id="vecmean.A.4-step2",
        kind="statement",
        title="linear estimators suffice for cap sampling",
        text=(
            Clause(
                "rotations",
                "Averaging over rotations keeps unbiasedness and does not raise the worst error; what is left is Y/m.",
            ),
            Clause(
                "error",
                "More precisely: an unbiased estimator $f$ has the mean error $1/m^2-1+E|f(U)-U/m|^2$ over "
                "uniform inputs, U uniform; so Y/m is the only one of least worst error.",
            ),
        ),
        source="vecmean, Appendix A.4, Step 2",
        assumptions=("unit inputs; the message has a density that depends on its product with the input alone",),
        scope=(
            "every estimator, dimension and cap, output by output; two rotations for all; a channel with the "
            "symmetry of the square, both sides; the plane at theta = 0, perturbed, in balls"
        ),
        grade="proved",
        printed=_linear,
        check=_check_symmetrised,
        controls=(
            Control("a perturbation that pays nothing", lambda m, spread: _linear(m, 0)),
            Control("1 % more", lambda m, spread: _linear(m, spread * Fraction(101, 100))),
        ),
        expected="holds",
        obligations=(
            *for_all("m", "spread", clause="error"),
            *for_all("estimators", clause=("rotations", "error")),
        ),
    ),
    Claim(
        id="vecmean.A.4-step6",
        kind="statement",
        title="high-dimensional limit of the cap constant",
        text=(
            Clause("minimum", r"$C(\tau)=\Phi Q/\varphi^2$ has its only minimum at 0, $\pi/2$."),
            Clause("limit", r"$C(\tau/\sqrt d,d)\to C(\tau)$ as $d\to\infty$."),
        ),
        source="vecmean, Appendix A.4, Step 6",
        assumptions=("Mills' bound beyond tau = 8", "quoted: the gamma function is log-convex"),
        scope="the slope for all tau, odd; its sign in cells on (0, 8], by Mills beyond; the limit in all d",
        grade="proved",
        printed=_limit,
        check=_check_limit,
        controls=(
            Control(
                "2.02 tau in place of 2 tau",
                lambda phi, lo, up, tau: (_limit(phi, lo, up, tau)[0] + Fraction(2, 100) * tau, lo * up / phi**2),
            ),
            Control(
                "twice the constant",
                lambda phi, lo, up, tau: (_limit(phi, lo, up, tau)[0], 2 * lo * up / phi**2),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("phi", "lower", "upper", "tau", clause="minimum"),
            *in_the_limit("d", clause="limit"),
        ),
    ),
)
