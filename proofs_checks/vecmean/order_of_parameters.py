"""A statement of our own: larger parameters of a blanket-mixed Gaussian are processing, and cost accuracy."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

import numpy as np
import sympy as sp

from symshuffle.ledger.claims.comparisons import Comparison, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.vectors.error.risk import mixed_gaussian_risk


def _processing(gamma: Any, sigma: Any, more: Any, noise: Any) -> tuple[Any, ...]:
    """How a message with (gamma, sigma) becomes one with (more, noise), both at least as large.

    The chance that it is replaced by a fresh message of the null symbol, the variance that is added to it otherwise,
    and the chance that one of the other users' blanket messages at (more, noise) is taken for one at (gamma, sigma),
    against the blanket of the null symbol.
    """
    return 1 - (1 - more) / (1 - gamma), noise**2 - sigma**2, gamma / more


def _less_noise(gamma: Any, sigma: Any, more: Any, noise: Any) -> tuple[Any, ...]:
    replaced, added, kept = _processing(gamma, sigma, more, noise)
    return replaced, added * sp.Rational(99, 100), kept


def _check(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Transforms agree, the chances are chances, and the slopes of the risk are positive.

    A law N(0, s^2) has the transform exp(-s^2 q), where q is half the square of the argument; ``phase`` is the
    transform of the input.
    """
    gamma, sigma, more, noise, q, z, d = sp.symbols("gamma sigma more noise q z d", positive=True)
    phase = sp.Symbol("phase")
    replaced, added, kept = statement(gamma, sigma, more, noise)

    def transform(share: Any, spread: Any, signal: Any) -> Any:
        return (share + (1 - share) * signal) * sp.exp(-(spread**2) * q)

    def processed(signal: Any) -> Any:
        fresh = replaced * sp.exp(-(noise**2) * q)
        return (1 - replaced) * transform(gamma, sigma, signal) * sp.exp(-added * q) + fresh

    for at, signal in (("an input", phase), ("the null symbol", sp.Integer(1))):
        found = processed(signal) * sp.exp(noise**2 * q)
        yield identity(found, more + (1 - more) * signal, at=f"transform of {at}, processed")
    yield identity(
        sp.expand(1 - more + more * (1 - kept + kept * z)), 1 - gamma + gamma * z, at="one user's blanket messages"
    )
    # gamma = u/(1 + u), more = (u + v)/(1 + u + v), noise^2 = sigma^2 + w
    u, v, w = sp.symbols("u v w", positive=True)
    ranges = {gamma: u / (1 + u), more: (u + v) / (1 + u + v), noise: sp.sqrt(sigma**2 + w)}
    # The largest blanket, gamma N + (1 - gamma) I with I of mass at most 1, whose processed form is below the infimum
    # of what is processed: what the step makes of it lies below the largest blanket at (more, noise).
    mass = u / (1 + u) + 1 / (1 + u) / (1 + sp.Symbol("s", positive=True))
    null, rest = more - (1 - replaced) * gamma - replaced * mass, (1 - more) - (1 - replaced) * (1 - gamma)
    yield identity(sp.cancel(rest), 0, at="the infimum's share, largest blanket")
    inside = sp.factor(null.subs(ranges))
    yield decide(
        nonnegative(inside, {}), at="the null symbol's share, largest blanket", claimed="at least 0", symbolic=True
    )
    for name, value in (
        ("chance of a fresh message", replaced),
        ("its complement", 1 - replaced),
        ("variance added", added),
        ("chance of a blanket message", kept),
        ("its complement", 1 - kept),
    ):
        inside = sp.factor(sp.simplify(value.subs(ranges)))
        yield decide(nonnegative(inside, {}), at=name, claimed="at least 0", symbolic=True)
    risk = sum(mixed_gaussian_risk(gamma, sigma, d))
    for symbol in (gamma, sigma):
        slope = sp.factor(sp.simplify(sp.diff(risk, symbol).subs(gamma, u / (1 + u))))
        yield decide(nonnegative(slope, {}), at=f"slope of the risk in {symbol}", claimed="at least 0", symbolic=True)


CLAIMS: Final = (
    Claim(
        id="symshuffle.vecmean-mixed-gaussian-order",
        kind="statement",
        title="larger parameters of a blanket-mixed Gaussian only lose",
        text=(
            Clause(
                "message",
                r"Let $\gamma\le\gamma'$ and $\sigma_0\le\sigma_0'$. A message of BMG$(\gamma',\sigma_0')$ is "
                r"one of BMG$(\gamma,\sigma_0)$, of every input and of the null symbol, after noise of variance "
                r"$\sigma_0'^2-\sigma_0^2$ or, with probability $1-\frac{1-\gamma'}{1-\gamma}$, replaced by a "
                "fresh message of the null symbol.",
            ),
            Clause("thinned", r"Bin$(n-1,\gamma)$ is Bin$(n-1,\gamma')$ thinned."),
            Clause(
                "bound",
                "So the bound with the mechanism's own blanket falls in both parameters, at every n, level, "
                "adjacency, order.",
            ),
            Clause(
                "largest blanket",
                r"So does that with the largest blanket $\inf_xR_x$, as what the step makes of it is below the "
                r"largest blanket at $(\gamma',\sigma_0')$.",
            ),
            Clause("risk", "The risk rises."),
        ),
        source="our own; vecmean, Algorithm 1 and Appendix C",
        assumptions=(
            "the bound is the divergence of one message among Bin(n - 1, gamma) messages of the blanket, shuffled",
            "data processing; a kernel makes of an infimum of laws no more than the infimum of what it makes of each",
            "whoever reads can add messages of a blanket, so that the bound falls where the blanket grows",
        ),
        scope="every gamma, sigma0, dimension",
        grade="proved",
        printed=_processing,
        check=_check,
        controls=(
            Control("1 % less noise added", _less_noise),
            Control("the smaller from the larger", lambda g, s, m, w: _processing(m, w, g, s)),
            Control("blanket messages thinned the other way", lambda *a: (*_processing(*a)[:2], a[2] / a[0])),
        ),
        expected="holds",
        obligations=for_all(
            "gamma", "sigma", "more", "noise", clause=("message", "thinned", "bound", "largest blanket", "risk")
        ),
    ),
)
