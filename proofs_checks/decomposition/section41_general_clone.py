"""Section 4.1: the general clone, its reduction pair and Algorithm 3."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._algorithms import (
    general_clone_map,
    push_forward,
)
from proofs_checks.decomposition._cases import (
    DIRECTIONS,
    PAIR,
    STUDY,
    channels,
    one_more_user,
    pointwise,
    polynomials,
    random_decomposition,
    same_law,
    same_polynomial,
    shown,
    targets,
    weights_of,
)
from proofs_checks.decomposition._clones import intuitive_clone, standard_clone
from symshuffle.channels.shuffled import (
    Tally,
    histogram_law,
    shuffled_law,
    worst_shuffled_divergence,
)
from symshuffle.decompositions.clones import stronger_clone
from symshuffle.decompositions.model import Decomposition, ReductionPair, primary_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
    identity,
)

# -- decomposition.def-7


def _conditions(decomposition: Decomposition, rows: Any, pair: tuple[int, int], covered: Any) -> bool:
    """The three conditions, the third one for the inputs that are to be covered."""

    def mixture(weights: Any, y: int) -> Any:
        return sum((w * q[y] for w, q in zip(weights, decomposition.components, strict=True)), Fraction(0))

    outputs = range(len(rows[0]))
    return (
        all(mixture(decomposition.a, y) == rows[pair[0]][y] for y in outputs)
        and all(mixture(decomposition.b, y) == rows[pair[1]][y] for y in outputs)
        and all(mixture(decomposition.c, y) <= rows[x][y] for x in covered for y in outputs)
    )


def _validity(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Nine candidates for each of seven channels: the library finds no violation exactly where the statement holds.

    Six are named clones and random decompositions, which are valid; of the others one covers the inputs of the pair
    only, and two have a row of the pair in the wrong place. In rationals.
    """
    for channel in [STUDY, *channels(rng, 6, ((3, 3), (4, 2)))]:
        pair_only = channel.restrict(PAIR)
        candidates = [
            primary_decomposition(channel, PAIR),
            standard_clone(channel, PAIR),
            intuitive_clone(channel, PAIR),
            stronger_clone(channel, PAIR).four_point(channel),
            random_decomposition(rng, channel),
            random_decomposition(rng, channel, tight=True),
            primary_decomposition(pair_only, PAIR),
            primary_decomposition(channel, PAIR[::-1]),
            pointwise(channel.rows[0], channel.rows[0], channel.blanket()),
        ]
        for i, decomposition in enumerate(candidates):
            valid = decomposition.violations(channel, PAIR) == []
            yield compare(valid, statement(decomposition, channel.rows, PAIR), at=f"candidate {i} for {shown(channel)}")


DEF_7 = Claim(
    id="decomposition.def-7",
    kind="definition",
    title="mixtures over shared components with a residual",
    text=(
        Clause(
            "rows",
            r"$R(x_1^0)=\sum_ja_jQ^j$, $R(x_1^1)=\sum_jb_jQ^j$ and, for every input that another user may "
            r"hold, $R(x)=\sum_jc_jQ^j+\beta Q_x$.",
        ),
        Clause("weights", "All weights are at least 0, those of each row sum to 1, and $Q_x$ depends on $x$ only."),
    ),
    source="decomposition, Definition 7 with Remarks 1 and 2",
    assumptions=("the third condition is read for all inputs of the channel, as the proof of Theorem 6 needs it",),
    scope="nine candidates for each of seven channels: two of them invalid for all, one for four of the channels",
    grade="exact-cases",
    printed=lambda decomposition, rows, pair: _conditions(decomposition, rows, pair, range(len(rows))),
    check=_validity,
    controls=(
        Control("left-overs of the pair only", lambda d, rows, pair: _conditions(d, rows, pair, pair)),
        Control(
            "rows of the pair not matched", lambda d, rows, pair: _conditions(d, rows, pair[::-1], range(len(rows)))
        ),
    ),
    expected="definition",
    obligations=for_all("decomposition", "rows", "pair", clause=("rows", "weights")),
)


# -- decomposition.def-8


def _histograms(total: int, cells: int) -> Iterator[Tally]:
    for counts in itertools.product(range(total + 1), repeat=cells):
        if sum(counts) == total:
            yield counts


def _multinomial(a: Any, b: Any, c: Any, beta: Any, n: Any, h: Any, *, draws: Any = None) -> tuple[Any, Any]:
    """Mass of a histogram under both laws: one draw of A_b, and n - 1 of A_2."""
    shared, others = (*c, beta), n - 1 if draws is None else draws
    masses = []
    for own in ((*a, Fraction(0)), (*b, Fraction(0))):
        total: Any = Fraction(0)
        for j, weight in enumerate(own):
            rest = [count - int(i == j) for i, count in enumerate(h)]
            if rest[j] == -1:
                continue
            ways = _factorial(others)
            for count in rest:
                ways = ways / _factorial(count)
            total += weight * math.prod((p**count for p, count in zip(shared, rest, strict=True)), start=ways)
        masses.append(total)
    return masses[0], masses[1]


def _factorial(count: Any) -> Any:
    return sp.factorial(count) if isinstance(count, sp.Basic) else Fraction(math.factorial(count))


def _laws(statement: Statement, a: Any, b: Any, c: Any, beta: Any, n: int) -> list[dict[Tally, Any]]:
    """Both stated laws, as tables of all histograms of n users."""
    laws: list[dict[Tally, Any]] = [{}, {}]
    for h in _histograms(n, len(c) + 1):
        for law, mass in zip(laws, statement(a, b, c, beta, n, h), strict=True):
            law[h] = mass
    return laws


def _one_more_draw(statement: Statement) -> Iterator[Comparison]:
    """Induction on n at any histogram: the last user is in one of the cells, and the others make the rest.

    Two cells and that of the left-overs, any weights and counts. More cells would only add factors that cancel.
    """
    a, b, beta = sp.symbols("a b beta", positive=True)
    c = sp.symbols("c1 c2", positive=True)
    h = sp.symbols("h1 h2 h3", integer=True, positive=True)
    users = sum(h)

    def masses(n: Any, counts: Any) -> Any:
        return statement((a, 1 - a), (b, 1 - b), c, beta, n, counts)

    smaller = [tuple(count - int(i == j) for i, count in enumerate(h)) for j in range(3)]
    for law in (0, 1):
        before = sum(p * masses(users - 1, rest)[law] for p, rest in zip((*c, beta), smaller, strict=True))
        yield identity(before, masses(users, h)[law], at=f"one more user, law {law}, any n, histogram and weights")
        for j, own in enumerate(((a, 1 - a, 0), (b, 1 - b, 0))[law]):
            alone = tuple(sp.Integer(int(i == j)) for i in range(3))
            yield identity(masses(sp.Integer(1), alone)[law], own, at=f"one user, law {law}, in cell {j}")


def _generated(statement: Statement) -> Iterator[Comparison]:
    """Stated masses for n <= 3 against the product of the users' generating functions, open weights of two cells."""
    a, b, c1, c2, u, v, w = polynomials("a b c1 c2 u v w")
    rest = 1 - c1 - c2
    for n in (1, 2, 3):
        for law, own in zip(_laws(statement, (a, 1 - a), (b, 1 - b), (c1, c2), rest, n), (a, b), strict=True):
            generating = sum((mass * u ** h[0] * v ** h[1] * w ** h[2] for h, mass in law.items()), 0 * u)
            users = (own * u + (1 - own) * v) * (c1 * u + c2 * v + rest * w) ** (n - 1)
            yield same_polynomial(generating, users, at=f"generating function, n={n}, any weights")


def _pair_laws(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The stated mass of a histogram by induction on n: one user, and one more, at open weights and counts.

    Generating functions for n <= 3 as equal polynomials. Then four channels with two decompositions each, n <= 4: the
    library's laws against the stated masses, and their total; in rationals.
    """
    yield from _one_more_draw(statement)
    yield from _generated(statement)
    for channel in channels(rng, 4, ((3, 3), (3, 2))):
        for decomposition in (primary_decomposition(channel, PAIR), standard_clone(channel, PAIR)):
            for n in (1, 2, 3, 4):
                claimed = _laws(statement, *weights_of(decomposition), n)
                for computed, law in zip(decomposition.reduction_pair().histogram_laws(n), claimed, strict=True):
                    yield same_law(computed, law, at=f"n={n}, {decomposition}")
                    masses: Any = computed.values()
                    yield compare(sum(masses, Fraction(0)), 1, at=f"total mass, n={n}, {decomposition}")


DEF_8 = Claim(
    id="decomposition.def-8",
    kind="definition",
    title="histogram pair of a general mixture",
    text=(
        Clause("components", r"$A_0=(a,0)$, $A_1=(b,0)$, $A_2=(c,\beta)$.", "definition"),
        Clause(
            "law",
            "$P_b^{GC}$ is the law of the histogram of one draw of $A_b$ and $n-1$ independent draws of $A_2$.",
        ),
    ),
    source="decomposition, Definition 8",
    assumptions=(),
    scope="mass of any histogram by induction on n, for all weights; generating functions for n <= 3, enumeration for "
    "n <= 4",
    grade="proved",
    printed=_multinomial,
    check=_pair_laws,
    obligations=for_all("a", "b", "c", "beta", "n", "h", clause="law"),
    controls=(
        Control("n draws of A2", lambda a, b, c, beta, n, h: _multinomial(a, b, c, beta, n, h, draws=n)),
        Control("rows of the pair exchanged", lambda a, b, c, beta, n, h: _multinomial(b, a, c, beta, n, h)),
    ),
    expected="definition",
)


# -- decomposition.thm-4, with Algorithm 3


def _algorithm_3(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The image of a mixture's pair under a kernel, against the shuffled messages it is to simulate.

    One message that carries a generating function, two components with open weights, n <= 4: equal polynomials. Then
    three random decompositions with three backgrounds each, in rationals.
    """
    # One message that carries a whole generating function: the identity then holds for any number of outputs.
    a, c1, c2, q1, q2, *left = polynomials("a c1 c2 q1 q2 l2 l3 l4")
    for n in (1, 2, 3, 4):
        left_overs = [[q] for q in left[: n - 1]]
        users: list[Any] = [(a, 1 - a, Fraction(0)), *[(c1, c2, 1 - c1 - c2)] * (n - 1)]
        image = push_forward(histogram_law(users), statement([[q1], [q2]], left_overs))
        shared = c1 * q1 + c2 * q2
        target = math.prod((shared + (1 - c1 - c2) * q for q in left[: n - 1]), start=a * q1 + (1 - a) * q2)
        yield same_polynomial(image[n,], target, at=f"n={n}, generic decomposition with two components, any outputs")
    for channel in channels(rng, 3, ((3, 2), (3, 3))):
        decomposition = random_decomposition(rng, channel)
        for background in ((2,), (0, 2), (2, 2)):
            rests = [decomposition.left_over(channel.rows[x]) for x in background]
            kernel = statement(decomposition.components, rests)
            laws = decomposition.reduction_pair().histogram_laws(len(background) + 1)
            for x, law in zip(PAIR, laws, strict=True):
                messages = shuffled_law(channel, (x, *background))
                yield same_law(
                    push_forward(law, kernel), messages, at=f"dataset {(x, *background)} of {shown(channel)}"
                )


def _fixed_subset(components: Sequence[Any], left_overs: Sequence[Any]) -> Any:
    """Algorithm 3 if the left-overs always came from the first users."""

    def kernel(histogram: Tally) -> Mapping[Tally, Any]:
        *counts, rest = histogram
        shared = [q for count, q in zip(counts, components, strict=True) for _ in range(count)]
        return histogram_law([*shared, *left_overs[:rest]])

    return kernel


def _one_user(statement: Statement) -> Iterator[Comparison]:
    """What the algorithm makes of one user's draw: its row, for the differing user and for any other one."""
    a, b, beta, rest = sp.symbols("a b beta l", positive=True)
    c, q = sp.symbols("c1 c2", positive=True), sp.symbols("q1 q2", positive=True)
    laws = statement((a, 1 - a), (b, 1 - b), c, beta)
    rows = (a * q[0] + (1 - a) * q[1], b * q[0] + (1 - b) * q[1], c[0] * q[0] + c[1] * q[1] + beta * rest)
    for name, law, row in zip(("first row", "second row", "another user's"), laws, rows, strict=True):
        made = sum(mass * sent for mass, sent in zip(law, (*q, rest), strict=True))
        yield identity(row, made, at=f"{name}: one user, any weights, components and left-over")


def _general(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """One user's draw from the stated laws gives that user's row: two components, open weights, symbolic.

    Which users send left-overs: the algebra of one more user; Algorithm 3 for n <= 4 as equal polynomials. Then five
    channels with three decompositions each: the divergence over all backgrounds, n <= 3, both directions, is at most
    that of the stated pair; in rationals.
    """
    yield from _one_user(statement)
    yield one_more_user()
    yield from _algorithm_3(general_clone_map, rng)
    for channel in [STUDY, *channels(rng, 4, ((3, 3), (3, 2), (4, 2)))]:
        decompositions = (
            stronger_clone(channel, PAIR).four_point(channel),
            random_decomposition(rng, channel),
            random_decomposition(rng, channel, tight=True),
        )
        for i, decomposition in enumerate(decompositions):
            for n in (1, 2, 3) if channel.num_outputs < 4 else (1, 2):
                pair = ReductionPair(*statement(*weights_of(decomposition)))
                library = decomposition.reduction_pair()
                for one, other in zip((pair.a0, pair.a1, pair.a2), (library.a0, library.a1, library.a2), strict=True):
                    yield compare(other, one, at=f"the library's pair, decomposition {i} of {shown(channel)}")
                for exp_eps in targets(channel.ratio_cap())[:3]:
                    for direction, inputs in DIRECTIONS:
                        truth, background = worst_shuffled_divergence(channel, inputs, n, exp_eps)
                        bound = pair.divergence(n, exp_eps, direction=direction)
                        where = f"background {background} of {shown(channel)}"
                        at = f"decomposition {i}, n={n}, exp(eps)={exp_eps}, {direction}, {where}"
                        yield compare(truth, bound, "<=", at=at)


def _pair_weights(a: Any, b: Any, c: Any, beta: Any) -> tuple[Any, Any, Any]:
    """A_0, A_1 and A_2 by cell, the left-over last."""
    return (*a, Fraction(0)), (*b, Fraction(0)), (*c, beta)


def _pooled(a: Any, b: Any, c: Any, beta: Any) -> tuple[Any, Any, Any]:
    """The laws if the last component is not told apart from the left-overs."""
    return (*a, Fraction(0)), (*b, Fraction(0)), (*c[:-1], Fraction(0), c[-1] + beta)


THM_4 = Claim(
    id="decomposition.thm-4",
    kind="statement",
    title="every general mixture bounds the shuffled divergence",
    text=(
        Clause(
            "bound",
            r"For a general-clone decomposition, $D_{e^\varepsilon}(M_S(X^0)\Vert M_S(X^1))\le "
            r"D_{e^\varepsilon}(P_0^{GC}\Vert P_1^{GC})$.",
        ),
        Clause(
            "simulation",
            "Algorithm 3, which draws $n_j$ samples of $Q^j$ and one sample of the left-over of each user "
            "of a random $n_{k+1}$-subset, maps the pair to the shuffled messages.",
        ),
    ),
    source="decomposition, Theorem 4 and Algorithm 3",
    assumptions=("eps >= 0", "the left-overs exist for all inputs of the background"),
    scope="one user's draw for any weights, and the choice of left-overs for any number of users by induction; "
    "Algorithm 3 with two components for n <= 4; all backgrounds of five channels",
    grade="proved",
    printed=_pair_weights,
    check=_general,
    obligations=for_all("a", "b", "c", "beta", clause=("bound", "simulation")),
    controls=(
        Control("last component pooled with the left-overs", _pooled),
        Control("a fixed subset of users gives the left-overs", _fixed_subset, _algorithm_3),
    ),
    expected="holds",
)


CLAIMS: tuple[Claim, ...] = (DEF_7, DEF_8, THM_4)
