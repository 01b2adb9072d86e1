"""Instances and comparisons that the sections of this paper share."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import Any, TypeAlias

import numpy as np
import sympy as sp
from sympy.polys.rings import ring

from proofs_checks._strategies import channels as channels
from proofs_checks._strategies import distribution as distribution
from proofs_checks._strategies import labelled_channels as labelled_channels
from proofs_checks._strategies import shown as shown
from symshuffle.base.choices import Direction
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.channels.shuffled import histogram_law
from symshuffle.decompositions.model import Decomposition
from symshuffle.ledger.claims.comparisons import Comparison, decide
from symshuffle.ledger.claims.model import identity
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import nonnegative

PAIR = (0, 1)
"""The pair of inputs of the differing user in every instance."""

REVEALING = Channel.from_rows([["1/2", "1/8", "3/8"], ["1/8", "3/4", "1/8"], ["1/2", "1/2", 0]])
"""Not LDP: the third input never sends the last output, and the pair differs there as well as on the other two."""

STUDY = Channel.from_rows(
    [["1/5", "1/10", "2/5", "3/10"], ["1/10", "1/5", "2/5", "3/10"], ["1/10", "1/10", "1/5", "3/5"]]
)
"""A channel whose third input tells what the pair has in common apart from what the others have."""

DIRECTIONS: tuple[tuple[Direction, tuple[int, int]], ...] = (("forward", PAIR), ("reverse", PAIR[::-1]))
"""Both directions of a divergence, as pairs of inputs."""


def named_channels(*parameters: tuple[str, dict[str, Any]]) -> list[tuple[str, Channel]]:
    """Explicit channels of named mechanisms, each with a label."""
    labelled = []
    for name, values in parameters:
        label = ", ".join((name, *(f"{key}={value}" for key, value in values.items())))
        labelled.append((label, mechanism(name).channel(**values)))
    return labelled


def pointwise(a: Sequence[Any], b: Sequence[Any], c: Sequence[Any]) -> Decomposition:
    """A decomposition over the outputs themselves."""
    points = tuple(tuple(Fraction(int(y == z)) for z in range(len(a))) for y in range(len(a)))
    return Decomposition(tuple(a), tuple(b), tuple(c), 1 - sum(c, Fraction(0)), points)


def random_decomposition(rng: np.random.Generator, channel: Channel, *, tight: bool = False) -> Decomposition:
    """A general-clone decomposition over both rows of the pair and all outputs, its weights random.

    With ``tight`` the shared part is as large as its direction allows; it still falls short of the blanket.
    """
    rows: Any = channel.rows
    outputs = range(channel.num_outputs)
    components = (rows[0], rows[1], *(tuple(Fraction(int(y == z)) for z in outputs) for y in outputs))
    whole, split = distribution(rng, 3), distribution(rng, 3)
    shares = [Fraction(share) for share in rng.integers(0, 4, size=len(components)).tolist()]
    shares[0] += 1
    shared = [sum((c * q[y] for c, q in zip(shares, components, strict=True)), Fraction(0)) for y in outputs]
    floor: Any = channel.blanket()
    most = min(b / s for b, s in zip(floor, shared, strict=True) if s)
    c = tuple(share * most * (1 if tight else distribution(rng, 2)[0]) for share in shares)
    # The first row as a mixture of itself, and of its outputs; the same for the second row.
    a = (1 - whole[0], Fraction(0), *(whole[0] * mass for mass in rows[0]))
    b = (Fraction(0), 1 - split[0], *(split[0] * mass for mass in rows[1]))
    return Decomposition(a, b, c, 1 - sum(c, Fraction(0)), components)


def targets(cap: Any) -> list[Fraction]:
    """Target ratios exp(eps): 1, two between 1 and the ratio cap, and the cap itself."""
    lam = Fraction(cap)
    return [Fraction(1), 1 + (lam - 1) / 5, 1 + (lam - 1) * Fraction(3, 5), lam]


def plus(value: Any) -> Any:
    """Positive part of a rational, or of an expression whose terms have the same sign."""
    return sp.Max(0, sp.expand(value)) if isinstance(value, sp.Basic) else max(Fraction(0), value)


def one_over(n: Any) -> Any:
    """The reciprocal of a number or of an expression."""
    return 1 / n if isinstance(n, sp.Basic) else Fraction(1, n)


def binomial_mass(n: int, k: int, p: Any) -> Any:
    """Probability that a Bin(n, p) variable is k."""
    if isinstance(n, sp.Basic) or isinstance(k, sp.Basic):
        chance = sp.sympify(p)  # a Fraction to the power of a symbol would become a double
        return sp.binomial(n, k) * chance**k * (1 - chance) ** (n - k)
    return math.comb(n, k) * p**k * (1 - p) ** (n - k)


def charged(law: Mapping[Any, Any]) -> dict[Any, Any]:
    """A law without its points of mass zero."""
    return {point: mass for point, mass in law.items() if mass != 0}


def same_law(computed: Mapping[Any, Any], claimed: Mapping[Any, Any], *, at: str, symbolic: bool = False) -> Comparison:
    """Compare two exact laws point by point; masses in a polynomial ring have a normal form of their own."""
    left, right = charged(computed), charged(claimed)
    differing = next((p for p in [*left, *right] if left.get(p, 0) != right.get(p, 0)), None)
    point = f"({', '.join(map(str, differing))})" if isinstance(differing, tuple) else differing
    shown = [
        f"{len(law)} points" if differing is None else f"mass {law.get(differing, 0)} at {point}"
        for law in (left, right)
    ]
    return decide(differing is None, at=at, computed=shown[0], claimed=shown[1], symbolic=symbolic)


def atoms(law: Law) -> dict[Any, Any]:
    """The atoms of a law of G, by value."""
    return dict(law.atoms())


def polynomials(names: str) -> tuple[Any, ...]:
    """Indeterminates over the rationals: generic parameters, whose polynomials are equal only if identical."""
    return tuple(ring(names, sp.QQ)[1:])


def same_polynomial(computed: Any, claimed: Any, *, at: str) -> Comparison:
    """Compare two polynomials in generic parameters."""
    return decide(computed == claimed, at=at, computed=str(computed), claimed=str(claimed), symbolic=True)


def never_negative(expression: sp.Expr, *, at: str) -> Comparison:
    """Decide that an expression in non-negative symbols is at least 0, by the signs of its coefficients."""
    return decide(nonnegative(expression, {}), at=at, computed=str(expression), claimed=">= 0", symbolic=True)


def one_more_user() -> Comparison:
    r"""The step from n to n + 1 users in the simulations by Algorithms 1 to 3, for every n.

    Write s for the generating function of what a user shares, b q for that of the left-over of a user, and e_m for the
    elementary symmetric functions of the q. An algorithm turns the term with m left-overs into s^(N-m) b^m e_m; summed
    over m this has to be the product of s + b q over all N users. One more factor has to raise e_m to e_m + q e_(m-1).
    """
    s, b, q = sp.symbols("s b q", positive=True)
    e = sp.Function("e")
    size, m = sp.symbols("N m", integer=True, positive=True)
    one_without = s * s ** (size - m) * b**m * e(m)
    one_with = b * q * s ** (size - m + 1) * b ** (m - 1) * e(m - 1)
    coefficient = sp.powsimp(sp.expand((one_without + one_with) / (s ** (size + 1 - m) * b**m)))
    return identity(coefficient, e(m) + q * e(m - 1), at="one more user, any number of users and left-overs")


def one_more_coin(mass: Callable[[Any, Any, Any], Any]) -> Comparison:
    """The step from n to n + 1 users of whom each tosses a coin, for a stated mass of m successes and every n."""
    n, m = sp.symbols("n m", integer=True, positive=True)
    gamma = sp.Symbol("gamma", positive=True)
    before = (1 - gamma) * mass(n, m, gamma) + gamma * mass(n, m - 1, gamma)
    return identity(before, mass(n + 1, m, gamma), at="one more coin, any number of users and any gamma")


def sole_coin(mass: Callable[[Any, Any, Any], Any]) -> Iterator[Comparison]:
    """Where that induction starts: one user."""
    gamma = sp.Symbol("gamma", positive=True)
    for successes, chance in ((0, 1 - gamma), (1, gamma)):
        yield identity(mass(sp.Integer(1), sp.Integer(successes), gamma), chance, at=f"one coin, {successes} successes")


def couples(rng: np.random.Generator) -> list[tuple[str, Channel, Channel]]:
    """Pairs of channels with equally many inputs, each with a label."""
    subsets = ("subset-selection", {"lam": 2, "k": 3, "s": 2})
    named = named_channels(("rr", {"lam": 2}), ("krr", {"lam": 3, "k": 3}), subsets)
    labelled = [
        (f"{first} and {second}", one, two)
        for (first, one), (second, two) in itertools.combinations_with_replacement(named, 2)
        if one.num_inputs == two.num_inputs
    ]
    drawn = [list(channels(rng, 2, ((inputs, 2), (inputs, 3)))) for inputs in (2, 3)]
    return labelled + [(f"{shown(one)} and {shown(two)}", one, two) for one, two in drawn]


def weights_of(decomposition: Decomposition) -> tuple[Any, Any, Any, Any]:
    """The weights a, b, c and beta."""
    return decomposition.a, decomposition.b, decomposition.c, decomposition.beta


def law_of(weights: tuple[Any, Any, Any, Any], exp_eps: Fraction) -> dict[Any, Any]:
    """Atoms of G for a decomposition given by its weights."""
    a, b, c, beta = weights
    return atoms(Decomposition(tuple(a), tuple(b), tuple(c), beta).reduction_pair().gparv(exp_eps))


Excess: TypeAlias = tuple[Any, Any, list[tuple[Any, Any]], Any]
"""A bound ``share E[G_1 + ... + G_copies]_+ + outside``: share, copies, atoms of G by cell, outside."""


def height(claimed: Excess) -> Any:
    """The value of such a bound, over all sequences of atoms."""
    share, copies, law, outside = claimed
    total: Any = Fraction(0)
    for sequence in itertools.product(law, repeat=copies):
        value = sum((g for g, _ in sequence), Fraction(0))
        total += plus(value) * math.prod((mass for _, mass in sequence), start=Fraction(1))
    return share * total + outside


def key_identity(statement: Callable[..., Excess], *, residual: bool = False) -> Iterator[Comparison]:
    """One draw of A_b beside n - 1 draws of A_2, relative to n draws of A_2: the identity behind Theorem 12.

    For any number n of draws, of which any h lie in one of two cells with open masses. What a cell contributes to
    (P_0 - x P_1)/P_2 at a histogram is compared with what a statement says that it adds to the sum. The other cells
    have the same factors in all weights, so that their number does not matter.
    """
    n, h = sp.symbols("n h", integer=True, positive=True)
    rows, x = open_rows()
    others, first, second = (row[:2] for row in rows)
    share, copies, law, outside = statement(first, second, others, n, x)
    yield identity(copies, n, at="number of copies, any n")
    yield identity(outside, 0, at="nothing outside, any n")
    yield identity(len(law), 3 if residual else 2, at="atoms, any n")
    for cell, (a, b, c) in enumerate(zip(first, second, others, strict=True)):
        value, mass = law[cell]
        with_own = (a - x * b) * c ** (h - 1) * sp.factorial(n - 1) / sp.factorial(h - 1)
        without = c**h * sp.factorial(n) / sp.factorial(h)
        yield identity(with_own / without, share * h * value, at=f"cell {cell}, any count and number of users")
        yield identity(mass, c, at=f"mass of cell {cell}, any number of users")
    if residual:
        value, mass = law[-1]
        yield identity(value, 0, at="users without blanket add nothing, any n")
        yield identity(mass, 1 - sum(others), at="their mass, any n")


def open_rows() -> tuple[tuple[tuple[Any, ...], ...], Any]:
    r"""Three rows on three outputs with open entries, and :math:`x=e^\varepsilon>1`.

    The smallest row comes first and never sends the last output. The pair, rows 1 and 2, has :math:`R_1-xR_2` above 0
    at the first output, below 0 at the second, and above 0 at the last. All signs that occur for two users are decided.
    """
    c1, c2, excess, p, q, r, t, h, s = sp.symbols("c1 c2 w p q r t h s", positive=True)
    x = 1 + excess
    second = (c2 + p, c2 + p + t)
    deficit = sp.expand(x * second[1] - second[0])
    first = (sp.expand(x * (c1 + q) + c1 * (deficit / c2 + h)), c1 + q)
    last = (sp.expand(x * r + s), r)
    zero = sp.Integer(0)
    return ((c1, c2, zero), *((first[i], second[i], last[i]) for i in (0, 1))), x


def open_columns() -> tuple[tuple[Any, ...], ...]:
    """Two outputs of three inputs, by output, with open entries; the smallest is that of another input each time.

    Two inputs stand for any number, the third for any other one. Nothing here says that rows sum to one.
    """
    low, more = sp.symbols("c1 c2", positive=True), sp.symbols("p q r s", positive=True)
    return (
        (low[0], low[0] + more[0], low[0] + more[1]),
        (low[1] + more[2], low[1], low[1] + more[3]),
    )


def open_height(
    first: Sequence[Any], second: Sequence[Any], others: Sequence[Any], exp_eps: Any, n: int, *, residual: bool
) -> Any:
    """Divergence of the histograms of a draw from either law and n - 1 draws of a third one, by enumeration.

    With a residual the third law has what is missing to total mass 1 in a cell of its own.
    """
    rest = sp.Symbol("rest", positive=True)
    laws = [histogram_law([(*own, sp.Integer(0)), *[(*others, rest)] * (n - 1)]) for own in (first, second)]
    points = {*laws[0], *laws[1]}
    height = sum((plus(laws[0].get(h, 0) - exp_eps * laws[1].get(h, 0)) for h in points), sp.Integer(0))
    return height.subs(rest, 1 - sum(others) if residual else 0)


def outside_identity() -> Comparison:
    """A message that the others never send: whose histograms carry its own probability, for any number of users."""
    inside, own, others, mark, n = sp.symbols("inside own others z n", positive=True)
    generating = (inside + own * mark) * others ** (n - 1)
    marked = sp.diff(generating, mark).subs(others, 1)
    return identity(marked, own, at="mass of all histograms with a given message outside the support, any n")
