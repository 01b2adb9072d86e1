"""Slips in the proof of Proposition 3.7 (Appendix A.4) whose conclusions stand."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

import flint
import numpy as np
import sympy as sp

from proofs_checks._errata import finding
from symshuffle.base.numbers import Ball, to_arb, working_precision
from symshuffle.ledger.claims.comparisons import Comparison, compare
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
from symshuffle.vectors.randomizers.gaussian import upper_normal

BITS: Final = 192


def _constant(cosine: Any, size: Any) -> Any:
    """Step 2: the error of an unbiased estimator does not depend on the input; here less that at the angle pi/2."""
    return 0 * cosine * size


def _wave(cosine: Any, size: Any) -> Any:
    """The error above that at the angle pi/2, for ``cosine`` of the input's angle."""
    third = 4 * cosine**3 - 3 * cosine  # cosine of three times the angle
    return size * (cosine - third / 3)


def _check_wave(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The plane, half circles, open angle, p and K: mean and error of Y/m + K cos(2 phi) e_1, integrated; symbolic.

    Its error less that at the angle pi/2 against the stated one.
    """
    # The plane, cap = half circle around the angle psi, p = (1 + t)/2: Y/m + K cos(2 phi) e_1, unbiased for every psi.
    phi, psi, c = sp.symbols("phi psi c", real=True)
    t, size = sp.symbols("t K", positive=True)
    near = (phi, psi - sp.pi / 2, psi + sp.pi / 2)
    far = (phi, psi + sp.pi / 2, psi + 3 * sp.pi / 2)

    def mean(value: Any) -> Any:
        inside, outside = (sp.integrate(value, limits) for limits in (near, far))
        whole = sp.expand(sp.expand_trig(((1 + t) * inside + (1 - t) * outside) / (2 * sp.pi)))
        return sp.expand(whole.subs(sp.sin(psi) ** 2, 1 - sp.cos(psi) ** 2))

    m = 2 * t / sp.pi
    yield identity(mean(sp.cos(phi)).subs(sp.cos(psi), c), m * c, at="every input: mean of Y")
    yield identity(mean(sp.cos(2 * phi)), 0, at="every input: the wave has mean 0")
    # |f - v|^2 - |Y/m - v|^2 = K^2 cos(2 phi)^2 + 2 K cos(2 phi) (cos(phi)/m - cos(psi)).
    crossed = (2 * size * mean(sp.cos(2 * phi) * sp.cos(phi)) / m).subs(sp.cos(psi), c)
    yield identity(crossed - crossed.subs(c, 0), statement(c, size), at="every input, p and K: error above that")
    yield identity(mean(sp.cos(2 * phi) ** 2), sp.Rational(1, 2), at="every input: the square pays the same")


def _within_a_tenth(height: Fraction, d: int) -> bool:
    """For all heights: C(theta, d) is within a tenth of the normal C(theta sqrt(d)) at d >= 100."""
    return True


_FAR: Final = {100: 5, 400: 1600, 1600: 10**13}
"""What the quotient exceeds at theta = 1/2."""


def _check_heights(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three dimensions, three heights in balls: C(theta, d) over the normal constant, within a tenth where so stated.

    Where not, it is above 11/10; nowhere is C below C(0, d).
    """
    for d, root in ((100, 10), (400, 20), (1600, 40)):
        for height in (Fraction(1), Fraction(-2), Fraction(root, 2)):
            theta = height / root
            with working_precision(BITS):
                tau = to_arb(height)
                q, density = upper_normal(tau), (-tau * tau / 2).exp() / (2 * flint.arb.pi()).sqrt()
                normal = Ball.from_arb(q * (1 - q) / density**2, BITS)
            ratio: Any = privunit_constant(theta, d, bits=BITS) / normal
            where = f"d = {d}, theta = {theta}"
            close = statement(height, d)
            yield compare(ratio, Fraction(11, 10), "<=" if close else ">", at=f"{where}: over the normal constant")
            if not close:
                far = compare(ratio, _FAR[d], ">", at=f"{where}: over the normal constant")
                yield from serving("far heights", [far])
            if close:
                yield compare(ratio, Fraction(9, 10), ">=", at=f"{where}: over the normal constant")
            lowest = privunit_constant(Fraction(0), d, bits=BITS)
            yield compare(privunit_constant(theta, d, bits=BITS), lowest, ">=", at=f"{where}: not below C(0, d)")


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-error-not-constant",
        kind="statement",
        title="is the error of an unbiased estimator the same at every input of the sphere?",
        text=(
            Clause(
                "said",
                "Appendix A.4, Step 2 (ii): by symmetry the error of an unbiased estimator is constant over the "
                "inputs.",
            ),
            Clause(
                "instance",
                r"The mechanism is symmetric, the estimator need not be: in the plane at $\theta=0$, with inputs "
                r"of angle $\psi$, $Y/m+K\cos(2\varphi)e_1$ is unbiased and its error varies.",
            ),
            Clause(
                "harmless",
                "(Harmless: what follows needs only that the mean over rotations is at most the largest.)",
                "quoted",
            ),
        ),
        source="vecmean, Appendix A.4, Step 2 (ii)",
        assumptions=(),
        scope="every input, p and K",
        grade="refuted",
        printed=_constant,
        check=_check_wave,
        controls=(Control("a wave without its third harmonic", lambda cosine, size: size * cosine),),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "granted",
            "A slip in a proof: the mechanism is symmetric, the estimator need not be; nothing that follows needs it.",
            quote="constant over w ... by the same symmetry",
        ),
        corrected=Correction(
            text=r"There it exceeds that at $\psi=\pi/2$ by $K(\cos\psi-\frac13\cos3\psi)$; averaged over rotations it "
            r"is constant.",
            statement=_wave,
            grade="proved",
        ),
        obligations=for_all("cosine", "size", clause=("said", "instance")),
    ),
    finding(
        "vecmean-heights-of-caps",
        "for which heights the normal limit of PrivUnit's constant holds",
        (
            Clause(
                "said",
                r"Step 6 has $C(\theta_d,d)\to C(\tau)$ along $\theta_d\sqrt d\to\tau$. That is for bounded "
                r"$\theta\sqrt d$.",
                "quoted",
            ),
            Clause(
                "instance",
                r"At $\theta=1/2$ the quotient $C(\theta,d)/C(\theta\sqrt d)$ is above 5, 1600, $10^{13}$ at "
                "$d=100,400,1600$.",
            ),
            Clause(
                "conclusion",
                r"Its conclusion about all heights needs no limit in $\theta$: for every $d\ge3$ and every "
                r"height $C(\theta,d)\ge C(0,d)$, and $C(0,d)\to\pi/2$ (claim vecmean.prop-3.7).",
                "quoted",
            ),
        ),
        lambda height, d: abs(height) <= 2,
        _within_a_tenth,
        source="vecmean, Appendix A.4, Step 6",
        assumptions=("to a tenth from d = 100 on",),
        scope="three dimensions and three heights in balls",
        check=_check_heights,
        controls=(Control("nowhere", lambda height, d: False),),
        obligations=(*for_all("height", "d", clause="instance"), *by_cases("far heights", clause="instance")),
    ),
)
