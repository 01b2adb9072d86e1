"""Section 6: what the experiments are said to show, at settings of our own choice."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

import numpy as np

from proofs_checks.decomposition import _curves as curves
from symshuffle.accountants import solve
from symshuffle.accountants.baselines import blanket_bennett
from symshuffle.claims.model import Claim, ClaimVerdict, Comparison, Control, Grade, Kind, Statement, compare
from symshuffle.mechanisms.finite import krr
from symshuffle.results import Bracket, Rigour

TARGET = Fraction(1, 10**6)
BENNETT = (("1/10", "0.0054"), ("1", "0.098"))
"""Local budgets of 10-RR, with an eps at which Bennett's bound for 1000 users still misses the target."""

JOINT = ((1, 2, "1"), (2, 4, "0.5"))
"""Numbers of joint components at eps0 = 4, with an eps that the larger number meets and the smaller misses."""


def _at(text: str, eps0: str, eps: Fraction) -> Bracket:
    of = curves.source(text, Fraction(eps0))
    return solve.delta(of, n=curves.USERS, eps=eps, rigour=Rigour.BALL, rel=1e-3).bracket


def _experiments(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    gain, domain, order = statement()
    for eps0, text in BENNETT:
        eps = Fraction(text)
        bennett = curves.blanket(krr().at(k=10, eps0=Fraction(eps0)), blanket_bennett)(eps)
        yield compare(bennett, TARGET, ">", at=f"Bennett, 10-RR, eps0={eps0}, eps={eps}")
        better = _at("krr(k=10)", eps0, eps * (1 - gain))
        yield compare(better.upper, TARGET, "<=", at=f"optimal bound, eps smaller by {gain}, eps0={eps0}")
    small, limit = _at(f"rappor(D={domain})", "4", Fraction(1)), _at("rappor", "4", Fraction(1))
    yield compare(small.upper, limit.lower * Fraction(99, 100), ">=", at=f"RAPPOR, D={domain} against the limit")
    yield compare(small.lower, limit.upper * Fraction(101, 100), "<=", at=f"RAPPOR, D={domain} against the limit")
    for few, many, text in JOINT:
        pair = [_at(f"joint(krr(k=10),{m})" if m > 1 else "krr(k=10)", "4", Fraction(text)) for m in (few, many)]
        first, second = pair if order else pair[::-1]
        yield compare(first.lower, second.upper, ">", at=f"{few} and {many} joint components, eps={text}")


SEC_6_CLAIMS = Claim(
    id="decomposition.sec-6-claims",
    kind=Kind.STATEMENT,
    title="what the experiments are said to show",
    text=r"The optimal bound improves $\varepsilon$ by at least 10%; RAPPOR is indistinguishable from its limit for "
    r"$D\ge5$; at equal total budget amplification improves with the number of joint components. (That a parallel "
    r"curve lies between its parts is claim symshuffle.parallel-between; it is no rule.)",
    source="decomposition, Section 6",
    assumptions=("delta = 1e-6 where a target is meant; the paper does not state its n",),
    scope="n = 1000 only: 10-RR against Bennett at two budgets, RAPPOR at one point, 1, 2 and 4 joint 10-RR",
    grade=Grade.EXACT_CASES,
    printed=lambda: (Fraction(1, 10), 5, True),
    check=_experiments,
    controls=(
        Control("at least 40 percent", lambda: (Fraction(2, 5), 5, True)),
        Control("RAPPOR from D = 3 on", lambda: (Fraction(1, 10), 3, True)),
        Control("fewer components are better", lambda: (Fraction(1, 10), 5, False)),
    ),
    expected=ClaimVerdict.HOLDS,
)

CLAIMS: tuple[Claim, ...] = (SEC_6_CLAIMS,)
