"""Section 4.5: joint composition, several reports of one user."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import (
    PAIR,
    atoms,
    couples,
    law_of,
    named_channels,
    never_negative,
    same_law,
    shown,
    weights_of,
)
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.decompositions.model import (
    Decomposition,
    merge_proportional,
    primary_decomposition,
    simplified_decomposition,
)
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.ledger.claims.parts import Erratum
from symshuffle.mechanisms.finite import krr
from symshuffle.mechanisms.symbolic import LAM

EXP_EPS_VALUES = (Fraction(1), Fraction(6, 5), Fraction(3))


def _joint_pair(second: Channel) -> tuple[int, int]:
    """The inputs (0, 0) and (1, 1) of a product, as rows of the tensor product."""
    return 0, second.num_inputs + 1


def _cells(decomposition: Decomposition) -> set[Any]:
    return set(zip(decomposition.a, decomposition.b, decomposition.c, strict=True))


# -- decomposition.thm-8


def _sum_of_budgets(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Two LDP inequalities with open slack multiplied: the stated ratio covers the product, by signs.

    It is attained where both are equalities. Then the ratio cap of the product of six couples of channels against the
    stated one, and the ratios of two and three equal reports, which have to be powers of lam; in rationals.
    """
    u, v, s, t = sp.symbols("u v s t", nonnegative=True)
    w, more = sp.symbols("w more", positive=True)
    caps = 1 + w, 1 + w + more
    # lam_i R_i(x')(y) = R_i(x)(y) + slack
    joint_row = (u + s) / caps[0] * (v + t) / caps[1]
    slack = statement(*caps) * joint_row - u * v
    yield never_negative(sp.expand(sp.cancel(slack)), at="product of two LDP inequalities, any budgets")
    attained = u * v / joint_row.subs({s: 0, t: 0})
    yield identity(attained, statement(*caps), at="attained where both inequalities are equalities")
    for label, first, second in couples(rng):
        claimed = statement(first.ratio_cap(), second.ratio_cap())
        yield compare(first.tensor(second).ratio_cap(), claimed, at=label)
    for label, channel in named_channels(("rr", {"lam": 2}), ("krr", {"lam": 3, "k": 3})):
        lam: Any = channel.ratio_cap()
        joint, reports = channel, 1
        while reports < 3:
            joint, reports = joint.tensor(channel), reports + 1
            found = {r for x in range(joint.num_inputs) for r in joint.likelihood_ratios(x, 0)}
            allowed = {lam**i for i in range(-reports, reports + 1)}
            yield compare(
                found - allowed, set(), at=f"{reports} times {label}: ratios are powers lam^i, |i| <= {reports}"
            )


THM_8 = Claim(
    id="decomposition.thm-8",
    kind="statement",
    title="independent reports add their local budgets",
    text=(
        Clause(
            "sum",
            r"If $R_i$ is $\varepsilon_i$-LDP, the joint mechanism $(R_1(x_1),\dots,R_m(x_m))$ is "
            r"$\sum_i\varepsilon_i$-LDP.",
        ),
        Clause("extreme", r"For $m$ equal extreme mechanisms all ratios are $e^{i\varepsilon}$ with $|i|\le m$."),
    ),
    source="decomposition, Theorem 8",
    assumptions=("all tuples of inputs are neighbours",),
    scope="all budgets; attained by six couples of channels; three reports of two mechanisms",
    grade="proved",
    printed=lambda first, second: first * second,
    check=_sum_of_budgets,
    controls=(Control("the largest budget", max),),
    expected="holds",
    obligations=for_all("first", "second", clause=("sum", "extreme")),
)


# -- decomposition.thm-9


def _product(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The infimum of a product for open probabilities, by signs; the stated left-over weight for two open ones.

    Then six couples of channels in rationals: the primary decomposition of the product has the stated weights, the
    product of simplified ones has its law of G at three orders and, once equal ratios are merged, its cells. The
    left-over of one joint mechanism against the normalised formula.
    """
    u, v, s, t = sp.symbols("u v s t", nonnegative=True)
    yield never_negative(sp.expand((u + s) * (v + t) - u * v), at="infimum of a product of probabilities")
    beta1, beta2 = sp.symbols("beta1 beta2")
    rest = statement(((), (), (), beta1), ((), (), (), beta2))[3]
    yield identity(rest, 1 - (1 - beta1) * (1 - beta2), at="left-over weight, any two decompositions")
    for label, first, second in couples(rng):
        joint, pair = first.tensor(second), _joint_pair(second)
        parts = [weights_of(primary_decomposition(channel, PAIR)) for channel in (first, second)]
        claimed = statement(*parts)
        yield compare(weights_of(primary_decomposition(joint, pair)), claimed, at=f"primary, {label}")
        cells = [weights_of(simplified_decomposition(channel, PAIR)) for channel in (first, second)]
        simplified = statement(*cells)
        for exp_eps in EXP_EPS_VALUES:
            best = primary_decomposition(joint, pair).reduction_pair()
            law = atoms(best.gparv(exp_eps))
            yield same_law(law, law_of(simplified, exp_eps), at=f"law of G, exp(eps)={exp_eps}, {label}")
        a, b, c, beta = simplified
        merged = merge_proportional(Decomposition(a, b, c, beta))
        found = simplified_decomposition(joint, pair)
        yield compare(_cells(found), _cells(merged), at=f"after merging equal ratios (Remark 4), {label}")
    yield from _left_over(_normalised_left_over, rng)


def _left_over(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The left-over of the joint mechanism from the parts of both."""
    ((_, first),) = named_channels(("rr", {"lam": 2}))
    second = Channel.from_rows([["1/2", "1/3", "1/6"], ["1/6", "1/3", "1/2"]])
    one, two = (primary_decomposition(channel, PAIR) for channel in (first, second))
    joint = primary_decomposition(first.tensor(second), _joint_pair(second))
    for x, y in itertools.product(range(2), repeat=2):
        own = (one.left_over(first.rows[x]), two.left_over(second.rows[y]))
        computed = joint.left_over(first.tensor(second).rows[2 * x + y])
        claimed = statement(one.beta, two.beta, one.c, two.c, *own)
        yield compare(
            computed, tuple(claimed), at=f"left-over of input ({x}, {y}) of {shown(first)} and {shown(second)}"
        )


def _displayed_left_over(beta1: Any, beta2: Any, c: Any, f: Any, q: Any, t: Any) -> list[Any]:
    """The left-over as the proof displays it, of mass beta1 + beta2 - beta1 beta2."""
    return [
        beta1 * q[i] * f[j] + beta2 * c[i] * t[j] + beta1 * beta2 * q[i] * t[j]
        for i, j in itertools.product(range(len(c)), range(len(f)))
    ]


def _normalised_left_over(beta1: Any, beta2: Any, c: Any, f: Any, q: Any, t: Any) -> list[Any]:
    """The same as a distribution."""
    weight = beta1 + beta2 - beta1 * beta2
    return [mass / weight for mass in _displayed_left_over(beta1, beta2, c, f, q, t)]


def _cartesian(first: Any, second: Any) -> tuple[Any, Any, Any, Any]:
    """The products of all weights of two decompositions, and the left-over weight."""
    products = (tuple(u * v for u, v in itertools.product(p, q)) for p, q in zip(first[:3], second[:3], strict=True))
    a, b, c = products
    return a, b, c, first[3] + second[3] - first[3] * second[3]


def _not_multiplicative(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Law of G of a joint mechanism against what a statement makes of the laws of its parts."""
    ((_, channel),) = named_channels(("krr", {"lam": 3, "k": 3}))
    part = simplified_decomposition(channel, PAIR).reduction_pair().gparv(Fraction(6, 5))
    joint = primary_decomposition(channel.tensor(channel), _joint_pair(channel)).reduction_pair().gparv(Fraction(6, 5))
    combined = Law.from_atoms((statement(g, h), p * q) for (g, p), (h, q) in itertools.product(part.atoms(), repeat=2))
    yield same_law(atoms(joint), atoms(combined), at="two reports of krr, k=3, lam=3, exp(eps)=6/5")


THM_9 = Claim(
    id="decomposition.thm-9",
    kind="statement",
    title="blanket mixture of several reports is a product",
    text=(
        Clause(
            "product",
            r"The Cartesian product $\{a_id_j\},\{b_ie_j\},\{c_if_j\}$ of the primary (or simplified) "
            "optimal decompositions is an optimal decomposition of the joint mechanism, with left-over "
            r"weight $\beta_1+\beta_2-\beta_1\beta_2$.",
        ),
        Clause(
            "merged",
            "Products of simplified ones may merge further, with the same law of $G$. (The left-over that "
            "the proof displays lacks the division by that weight.)",
        ),
    ),
    source="decomposition, Theorem 9 with Remarks 4 and 5",
    assumptions=(),
    scope="infimum of a product for all probabilities; six couples of channels",
    grade="proved",
    printed=_cartesian,
    check=_product,
    controls=(
        Control(
            "left-over weight beta1 + beta2",
            lambda first, second: (*_cartesian(first, second)[:3], first[3] + second[3]),
        ),
        Control("the law of G1 G2", lambda g, h: g * h, _not_multiplicative),
        Control("the law of G1 + G2", lambda g, h: g + h, _not_multiplicative),
        Control("left-over as displayed, not divided by its weight", _displayed_left_over, _left_over),
    ),
    expected="holds",
    erratum=Erratum(
        "wording",
        "granted",
        "A left-over in the proof is not divided by its weight; the theorem holds as printed.",
        quote="the left-over of the proof",
    ),
    obligations=for_all("first", "second", clause=("product", "merged")),
)


# -- decomposition.ex-4.2


def _two_reports(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Products of the cells that the library derives for k-RR at half the budget, against the stated rows: any lam, k.

    Shared weight and total by identity. Then explicit products for three (lam, k): cells after merging, and ratio cap,
    in rationals.
    """
    k = krr().inputs
    t = sp.sqrt(LAM)
    whole = optimal_decomposition(krr())
    one = [[sp.sympify(getattr(cell, name)).subs(LAM, t) for cell in whole.cells] for name in "abc"]
    rows = statement(t, k)
    for name, weights, claimed in zip("abc", one, rows, strict=True):
        for i, j in itertools.product(range(3), repeat=2):
            matching = _position(whole, i), _position(whole, j)
            at = f"{name} of cell ({i}, {j}), any lam and k"
            yield identity(weights[i] * weights[j], claimed[matching[0]] * claimed[matching[1]], at=at)
    gamma = whole.gamma.subs(LAM, t)
    yield identity(sum(rows[2][:3]) ** 2, gamma**2, at="shared weight is gamma squared, gamma = kp")
    yield identity(sum(rows[2]), 1, at="row of another user, one coordinate")
    for lam, k_ in ((Fraction(4), 2), (Fraction(4), 3), (Fraction(9), 3)):
        half = Fraction(math.isqrt(int(lam)))
        channel = krr().channel(lam=half, k=k_)
        joint = simplified_decomposition(channel.tensor(channel), _joint_pair(channel))
        a, b, c = (
            tuple(u * v for u, v in itertools.product(weights[:3], repeat=2))
            for weights in statement(half, Fraction(k_))
        )
        claimed_ = merge_proportional(Decomposition(a, b, c, 1 - sum(c, Fraction(0))))
        at = f"explicit channel, k={k_}, lam={lam}"
        yield compare(
            set(zip(joint.a, joint.b, joint.c, strict=True)),
            set(zip(claimed_.a, claimed_.b, claimed_.c, strict=True)),
            at=at,
        )
        yield compare(channel.tensor(channel).ratio_cap(), lam, at=f"total budget, {at}")


def _position(whole: Any, i: int) -> int:
    """Where the printed row lists the cell i of the derived decomposition: own symbol, other symbol, the rest."""
    return [(LAM, 1), (1, LAM), (1, 1)].index(whole.cells[i].ratios)


def _half_budget_rows(t: Any, k: Any) -> tuple[Any, Any, Any]:
    """The weights of one of both reports."""
    p = 1 / (t + k - 1)
    q = (k - 2) / (t + k - 1)
    return (t * p, p, q), (p, t * p, q), (p, p, q, 1 - 2 * p - q)


EX_4_2 = Claim(
    id="decomposition.ex-4.2",
    kind="statement",
    title="two k-ary reports at half budget",
    text=(
        Clause(
            "product",
            r"With $t=e^{\varepsilon_0/2}$, $p=\frac1{t+k-1}$, $q=\frac{k-2}{t+k-1}$, the optimal "
            "decomposition of two k-RR reports is the product of $(tp,p,q)$ with itself, of $(p,tp,q)$ with "
            "itself, and of $(p,p,q,1-2p-q)$ with itself.",
        ),
        Clause("shared", "The shared weight is $(kp)^2$."),
    ),
    source="decomposition, Example 4.2",
    assumptions=("k >= 2", "the decomposition of several reports is the product (Theorem 9)"),
    scope="all lam and k; explicit channels at k = 2, 3",
    grade="proved",
    printed=_half_budget_rows,
    check=_two_reports,
    controls=(
        Control("full budget in each report", lambda t, k: _half_budget_rows(t * t, k)),
        Control("q = (k - 1) p", lambda t, k: _half_budget_rows(t, k + 1)),
    ),
    expected="holds",
    obligations=for_all("t", "k", clause=("product", "shared")),
)


CLAIMS: tuple[Claim, ...] = (THM_8, THM_9, EX_4_2)
