"""Section 4.4: the simplified optimal decomposition, the extreme property, k-ary randomized response; Algorithm 6."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._algorithms import blanket_laws, blanket_to_simplified, push_forward
from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    PAIR,
    atoms,
    channels,
    distribution,
    named_channels,
    same_law,
    shown,
)
from proofs_checks.decomposition._clones import is_standard
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.calculated import Cell
from symshuffle.decompositions.model import Decomposition, primary_decomposition, simplified_decomposition
from symshuffle.decompositions.symbolic import optimal_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)
from symshuffle.mechanisms.finite import krr, subset_selection
from symshuffle.mechanisms.symbolic import LAM

RARE = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"], [0, 0, 1]])
"""The third input never sends the two outputs that tell the pair apart."""

STAIRCASE = Channel.from_rows([["4/7", "2/7", "1/7"], ["1/7", "4/7", "2/7"], ["2/7", "1/7", "4/7"]])
"""Three levels of probability: not extreme."""


# -- decomposition.thm-7, with Algorithm 6


def _split(channel: Channel, rng: np.random.Generator) -> Channel:
    """Every output split in two, in a random proportion that all inputs share."""
    width = 2 * channel.num_outputs
    shares = [distribution(rng, 2) for _ in range(channel.num_outputs)]
    kernel = [
        [share if z == 2 * y + i else Fraction(0) for z in range(width) for i, share in [(z % 2, shares[y][z % 2])]]
        for y in range(channel.num_outputs)
    ]
    return channel.push_forward(Channel.from_rows(kernel))


def _groups(statement: Statement, decomposition: Decomposition) -> list[list[int]]:
    """The outputs by equal stated key, those without any weight left out."""
    keyed: dict[Any, list[int]] = {}
    weights = zip(decomposition.a, decomposition.b, decomposition.c, strict=True)
    for y, triple in enumerate(weights):
        if any(triple):
            keyed.setdefault(statement(*triple), []).append(y)
    return list(keyed.values())


def _merging(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Two outputs with open weights: the stated key is equal for proportional weights, and differs otherwise.

    Merging keeps the value of G, symbolic. Then ten channels, LDP or not, grouped by the stated key: see ``_merged``.
    """
    a, b, c, t, x = sp.symbols("a b c t x", positive=True)
    merged = statement(a + t * a, b + t * b, c + t * c)
    yield decide(
        all(sp.cancel(left - right) == 0 for left, right in zip(merged, statement(a, b, c), strict=True)),
        at="two outputs with proportional weights",
        claimed="one group",
        symbolic=True,
    )
    apart = sp.Symbol("h", positive=True)
    pairs = (
        ((a, b, c), (a, b + apart, c), "the second weight"),
        ((a, b, c), (a, b, c + apart), "the third weight"),
        ((a, b, 0), (a, b + apart, 0), "the second weight, at an infimum of 0"),
    )
    for one, other, where in pairs:
        keys = statement(*one), statement(*other)
        yield decide(
            any(sp.cancel(left - right) != 0 for left, right in zip(*keys, strict=True) if left != right),
            at=f"two outputs that differ in {where}",
            claimed="two groups",
            symbolic=True,
        )
    value = ((a + t * a) - x * (b + t * b)) / (c + t * c)
    yield identity(value, (a - x * b) / c, at="value of G on merged outputs, any weights and x = exp(eps)")
    labelled = named_channels(
        ("krr", {"lam": 3, "k": 4}),
        ("subset-selection", {"lam": 2, "k": 4, "s": 2}),
        ("half-block", {"lam": 3, "k": 4}),
        ("erasure", {"k": 3, "p": "1/3"}),
        ("identity", {"k": 3}),
    )
    labelled += [(shown(w), w) for w in (_split(w, rng) for w in channels(rng, 4, ((3, 2), (3, 3))))]
    for label, channel in [*labelled, ("two outputs that one input never sends", RARE)]:
        yield from _merged(statement, label, channel)


def _merged(statement: Statement, label: str, channel: Channel) -> Iterator[Comparison]:
    """A channel's outputs merged by the stated key, n <= 3: the same divergences and laws of G, both directions.

    Algorithm 6 maps the blanket experiment to the merged pair; the library's simplified decomposition has the same
    weights and gives the rows; in rationals.
    """
    primary = primary_decomposition(channel, PAIR)
    groups = _groups(statement, primary)
    simplified = simplified_decomposition(channel, PAIR)
    a, b, c = (
        tuple(sum((weights[y] for y in group), Fraction(0)) for group in groups)
        for weights in (list[Any](primary.a), list[Any](primary.b), list[Any](primary.c))
    )
    merged = Decomposition(a, b, c, primary.beta)
    for n in (1, 2, 3) if channel.num_outputs < 6 else (1, 2):
        for exp_eps in (Fraction(1), Fraction(6, 5), Fraction(2)):
            for direction, _ in DIRECTIONS:
                at = f"n={n}, exp(eps)={exp_eps}, {direction}, {label}"
                before = primary.reduction_pair().divergence(n, exp_eps, direction=direction)
                after = merged.reduction_pair().divergence(n, exp_eps, direction=direction)
                yield compare(after, before, at=f"divergence, {at}")
                laws_of_g = [d.reduction_pair().gparv(exp_eps, direction=direction) for d in (primary, merged)]
                yield same_law(atoms(laws_of_g[0]), atoms(laws_of_g[1]), at=f"law of G, {at}")
        kernel = blanket_to_simplified(groups, n)
        laws = merged.reduction_pair().histogram_laws(n)
        for law, target in zip(blanket_laws(channel, PAIR, n), laws, strict=True):
            yield same_law(push_forward(law, kernel), target, at=f"Algorithm 6, n={n}, {label}")
    yield compare(len(simplified.c), len(groups), at=f"number of components, {label}")
    yield compare(
        set(zip(simplified.a, simplified.b, simplified.c, strict=True)),
        set(zip(a, b, c, strict=True)),
        at=f"weights, {label}",
    )
    yield compare(simplified.violations(channel, PAIR), [], at=f"the mixtures are the rows, {label}")


def _ratio(x: Any, infimum: Any) -> Any:
    """A ratio in the extended reals; 0/0 stays what it is."""
    if infimum == 0:
        return math.inf if x else "0/0"
    return x / infimum


def _proportion(a: Any, b: Any, c: Any) -> tuple[Any, Any, Any]:
    """The ratio a : b : c, scaled to sum 1."""
    total = a + b + c
    return a / total, b / total, c / total


THM_7 = Claim(
    id="decomposition.thm-7",
    kind="statement",
    title="merging outputs by ratio pair keeps optimality",
    text=(
        Clause(
            "equivalent",
            "Merging all outputs whose weights in the primary decomposition have the same ratio $a:b:c$, "
            r"with $a=R(x_1^0)(y)$, $b=R(x_1^1)(y)$, $c=\inf_xR(x)(y)$, gives a decomposition that is "
            "equivalent to the blanket; the merged weights are the sums.",
        ),
        Clause("rule", "That is the rule in the sentence before the theorem and in Remark 4.", "definition"),
        Clause(
            "infinite ratios",
            "The theorem writes it as two ratios $r_0=a/c$, $r_1=b/c$, which are not defined where the "
            r"infimum is 0 (possible without LDP): read as $\infty$ they would merge all outputs that some "
            "input never sends but the pair does, and lose what tells the pair apart.",
        ),
    ),
    source="decomposition, Section 4.4: Theorem 7 with the sentence before it, Algorithm 6, Remarks 3 and 4",
    assumptions=("where inf R = 0, the ratios r_0 and r_1 stand for the ratio a : b : c",),
    scope="value and weight of merged atoms for all weights; ten channels, LDP or not, both directions, n <= 3",
    grade="proved",
    printed=_proportion,
    check=_merging,
    controls=(
        Control("ratios to an infimum of 0 read as infinity", lambda a, b, c: (_ratio(a, c), _ratio(b, c))),
        Control("outputs merged by the first ratio alone", lambda a, b, c: (_ratio(a, c),)),
        Control("outputs merged by the ratio of the pair", lambda a, b, c: (_ratio(a, b),)),
    ),
    expected="holds",
    obligations=for_all("a", "b", "c", clause=("equivalent", "infinite ratios")),
)


# -- decomposition.extreme


def _extreme_property(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Ratios to the smallest probability, of those that are allowed, any lam > 1: the stated pairs are all.

    For k-RR and subset selection in open parameters the derived ratios are among them, with at most five components;
    then every ordered pair of inputs of six channels.
    """
    excess = sp.Symbol("w", positive=True)  # lam - 1
    possible = [r for r in (1 / LAM, sp.Integer(1), LAM) if not (r - 1).subs(LAM, 1 + excess).simplify().is_negative]
    pairs = set(itertools.product(possible, repeat=2))
    yield decide(
        pairs <= set(statement(LAM)),
        at="ratios to the smallest probability, any lam > 1",
        computed=str(sorted(pairs, key=str)),
        claimed="four pairs",
        symbolic=True,
    )
    for mechanism in (krr(), subset_selection()):
        whole = optimal_decomposition(mechanism)
        ratios = {cell.ratios for cell in whole.cells}
        at = f"{mechanism.name}, open parameters"
        yield decide(ratios <= set(statement(LAM)), at=at, computed=str(ratios), claimed="four pairs", symbolic=True)
        yield compare(len(whole.cells) + 1, 5, "<=", at=f"components of {at}")
        yield compare(is_standard(whole), True, at=f"the library's test, {at}")
    labelled = named_channels(
        ("krr", {"lam": 3, "k": 2}),
        ("krr", {"lam": 3, "k": 5}),
        ("subset-selection", {"lam": 2, "k": 4, "s": 2}),
        ("subset-selection", {"lam": 2, "k": 3, "s": 2}),
        ("half-block", {"lam": 3, "k": 6}),
        ("aug-rr", {"lam": 3, "k": 3, "p": "1/2"}),
    )
    yield from _ratio_pairs(statement, labelled)


def _ratio_pairs(statement: Statement, labelled: list[tuple[str, Channel]]) -> Iterator[Comparison]:
    """Every ordered pair of inputs: the simplified decomposition has stated ratios only, and at most 5 components."""
    for label, channel in labelled:
        cap: Any = channel.ratio_cap()
        allowed = set(statement(cap))
        for pair in itertools.permutations(range(channel.num_inputs), 2):
            whole = simplified_decomposition(channel, pair)
            weights: list[tuple[Any, Any, Any]] = list(zip(whole.a, whole.b, whole.c, strict=True))
            ratios = {(a / c, b / c) for a, b, c in weights}
            at = f"pair {pair} of {label}"
            yield decide(ratios <= allowed, at=at, computed=str(sorted(map(str, ratios))), claimed="allowed pairs")
            yield compare(len(whole.c) + 1, 5, "<=", at=f"components, {at}")


def _staircase(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """A channel with three levels of probability, which is not extreme."""
    yield from _ratio_pairs(statement, [("three levels", STAIRCASE)])


def _four_pairs(lam: Any) -> tuple[tuple[Any, Any], ...]:
    """The possible pairs of ratios to the smallest probability."""
    return ((1, 1), (lam, 1), (1, lam), (lam, lam))


EXTREME = Claim(
    id="decomposition.extreme",
    kind="statement",
    title="randomizers whose ratios are all 1/lam, 1 or lam",
    text=(
        Clause(
            "ratios",
            r"If all ratios $R(x)(y)/R(x')(y)$ are $e^{-\varepsilon_0}$, 1 or $e^{\varepsilon_0}$, then "
            "$(r_0,r_1)$ is one of "
            r"$(1,1),(e^{\varepsilon_0},1),(1,e^{\varepsilon_0}),(e^{\varepsilon_0},e^{\varepsilon_0})$.",
        ),
        Clause("five", "The simplified decomposition has at most five components, the left-over included."),
    ),
    source="decomposition, Section 4.4, after Remark 3",
    assumptions=("eps0 > 0",),
    scope="all budgets; k-RR and subset selection in open parameters; all pairs of six channels",
    grade="proved",
    printed=_four_pairs,
    check=_extreme_property,
    controls=(
        Control("no pair (lam, lam)", lambda lam: _four_pairs(lam)[:3]),
        Control("a channel with three levels", _four_pairs, _staircase),
    ),
    expected="holds",
    obligations=for_all("lam", clause=("ratios", "five")),
)


# -- decomposition.ex-4.1


def _example(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The decomposition of k-RR that the library derives by counting outputs, against the stated weights: any lam, k.

    Sums, cells by their ratios, left-over and gamma, symbolic. Then explicit channels for five k and two lam: cells and
    left-over, in rationals.
    """
    k = krr().inputs
    whole = optimal_decomposition(krr())
    cells, beta, gamma = statement(LAM, k)
    for i, name in enumerate("abc"):
        rest = beta if name == "c" else 0
        yield identity(sum(cell[i] for cell in cells) + rest, 1, at=f"weights {name}, any lam and k")
    derived = [(cell.a, cell.b, cell.c) for cell in whole.cells]
    yield compare(len(derived), len(cells), at="number of cells derived by counting outputs")
    for ratios in ((LAM, 1), (1, LAM), (1, 1)):
        mine = next(cell for cell in whole.cells if cell.ratios == ratios)
        printed = next(cell for cell in cells if _has_ratios(cell, ratios))
        for name, left, right in zip("abc", _triple(mine), printed, strict=True):
            yield identity(left, right, at=f"{name} of the cell with ratios {ratios}, any lam and k")
    yield identity(whole.beta, beta, at="left-over, any lam and k")
    yield identity(whole.gamma, gamma, at="gamma, any lam and k")
    for k_ in (2, 3, 4, 5, 8):
        for lam in (Fraction(3, 2), Fraction(4)):
            channel = krr().channel(lam=lam, k=k_)
            total = lam + k_ - 1
            lines = [[(lam - 1) / total * (x == y) + k_ / total / k_ for y in range(k_)] for x in range(k_)]
            yield compare(Channel.from_rows(lines), channel, at=f"k-RR as a mixture, k={k_}, lam={lam}")
            found = simplified_decomposition(channel, PAIR)
            claimed, rest, _ = statement(lam, Fraction(k_))
            kept = {cell for cell in claimed if any(cell)}
            yield compare(
                set(zip(found.a, found.b, found.c, strict=True)), kept, at=f"explicit channel, k={k_}, lam={lam}"
            )
            yield compare(found.beta, rest, at=f"left-over, k={k_}, lam={lam}")


def _triple(cell: Cell) -> tuple[Any, Any, Any]:
    return cell.a, cell.b, cell.c


def _has_ratios(cell: tuple[Any, Any, Any], ratios: tuple[Any, Any]) -> bool:
    a, b, c = cell
    return bool(sp.cancel(a - ratios[0] * c) == 0 and sp.cancel(b - ratios[1] * c) == 0)


def _k_rr(lam: Any, k: Any, *, further: int = 2) -> Any:
    """The three cells (a, b, c), the left-over and gamma; U is on k - ``further`` symbols."""
    p = 1 / (lam + k - 1)
    q = (k - further) * p
    return ((lam * p, p, p), (p, lam * p, p), (q, q, q)), (lam - 1) * p, k / (lam + k - 1)


EX_4_1 = Claim(
    id="decomposition.ex-4.1",
    kind="statement",
    title="blanket mixture of k-ary randomized response",
    text=(
        Clause(
            "rows",
            r"With $p=\frac1{e^{\varepsilon_0}+k-1}$ and $q=(k-2)p$: "
            r"$R(x_1^0)=e^{\varepsilon_0}p\,1_{x_1^0}+p\,1_{x_1^1}+qU$, $R(x_1^1)$ with the first two "
            r"exchanged, $R(x_i)=p\,1_{x_1^0}+p\,1_{x_1^1}+qU+(e^{\varepsilon_0}-1)p\,1_{x_i}$, $U$ uniform "
            "on the other symbols.",
        ),
        Clause("shared", r"$\gamma=\frac k{e^{\varepsilon_0}+k-1}$."),
    ),
    source="decomposition, Example 4.1",
    assumptions=("k >= 2 (at k = 2 the cell of U is empty and has weight 0)",),
    scope="all lam and k, derived by counting outputs; explicit channels for k = 2, 3, 4, 5, 8",
    grade="proved",
    printed=_k_rr,
    check=_example,
    controls=(
        Control("U on k - 1 symbols", lambda lam, k: _k_rr(lam, k, further=1)),
        Control("left-over of weight lam p", lambda lam, k: (_k_rr(lam, k)[0], lam / (lam + k - 1), k / (lam + k - 1))),
    ),
    expected="holds",
    obligations=for_all("lam", "k", clause=("rows", "shared")),
)

CLAIMS: tuple[Claim, ...] = (THM_7, EXTREME, EX_4_1)
