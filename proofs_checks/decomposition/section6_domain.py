"""Section 6: lower-bound laws that do not depend on the size of the domain."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
import sympy as sp

from proofs_checks.decomposition._cases import PAIR, atoms, same_law
from proofs_checks.decomposition.appendix_a_tables import explicit
from symshuffle.channels.law import Law
from symshuffle.decompositions.model import ReductionPair, simplified_decomposition
from symshuffle.ledger.claims.comparisons import Comparison, decide
from symshuffle.ledger.claims.model import Claim, Control, Statement, for_all, identity

# -- decomposition.sec-6-D-independence


def _open_law(inputs: Sequence[int], size: int) -> dict[Any, Any]:
    """Law of the two ratios for open bits: the own bit is 1 with probability h, any other with probability l.

    All three mechanisms are of this kind; in local hashing the bit of an input tells whether its hash was reported.
    """
    own, other = sp.symbols("h l", positive=True)

    def mass(x: int, bits: tuple[int, ...]) -> Any:
        chances = (own if i == x else other for i in range(size))
        return sp.Mul(*(chance if bit else 1 - chance for chance, bit in zip(chances, bits, strict=True)))

    law: dict[Any, Any] = {}
    for bits in itertools.product((0, 1), repeat=size):
        first, second, background = (mass(x, bits) for x in inputs)
        ratios = first / background, second / background
        law[ratios] = law.get(ratios, sp.Integer(0)) + background
    return law


def _one_input_more(statement: Statement) -> Iterator[Comparison]:
    """Every D of at least 3: one input more is one bit more, of the same chance under all three inputs; symbolic."""
    size = 3 + sp.Symbol("m", integer=True, nonnegative=True)
    first, second, background, chance = sp.symbols("p q r l", positive=True)
    for name, before, after in zip(("x_1^0", "x_1^1", "x_2"), statement(size), statement(size + 1), strict=True):
        yield identity(after, before, at=f"every D: {name} stays with one input more")
        apart = sp.sympify(size - after).is_positive is True
        yield decide(apart, at=f"every D: the new input and {name}", claimed="different inputs", symbolic=True)
    for bit in (chance, 1 - chance):
        for mass in (first, second):
            yield identity(mass * bit / (background * bit), mass / background, at="every output: a ratio, one bit more")
    masses = background * chance + background * (1 - chance)
    yield identity(masses, background, at="every output: mass of its ratios, over both values of the bit")


def _forgotten(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every D, by one input more; open bits at the stated inputs: law of both ratios for D = 4 and 5 against D = 3.

    Mass by mass, symbolic. Then the explicit channels of BLH, RAPPOR and OUE at lam = 4 and two orders: laws of G for D
    = 3, 4, 5 against each other and against the open law; in rationals.
    """
    yield from _one_input_more(statement)
    smallest = _open_law(statement(3), 3)
    for size in (4, 5):
        law = _open_law(statement(size), size)
        for ratios in {*smallest, *law}:
            masses = (one.get(ratios, sp.Integer(0)) for one in (law, smallest))
            yield identity(*masses, at=f"mass at the ratios {ratios}, open probabilities, D={size} against D=3")
    lam, t = Fraction(4), Fraction(2)
    bits = {
        "BLH": (lam / (lam + 1), Fraction(1, 2)),
        "RAPPOR": (t / (t + 1), 1 / (t + 1)),
        "OUE": (Fraction(1, 2), 1 / (lam + 1)),
    }
    for name, chances in bits.items():
        open_bits = dict(zip(sp.symbols("h l", positive=True), map(sp.Rational, chances), strict=True))
        for exp_eps in (Fraction(5, 4), Fraction(3)):
            laws = {}
            for size in (3, 4, 5):
                channel = explicit(name, Fraction(4), size)
                x0, x1, x2 = (channel.rows[x] for x in statement(size))
                laws[size] = atoms(ReductionPair(x0, x1, x2).gparv(exp_eps))
            for size in (4, 5):
                at = f"{name}, lam=4, exp(eps)={exp_eps}, D={size} against D=3"
                yield same_law(laws[size], laws[3], at=at)
            known = [
                (Fraction(str((first - exp_eps * second).subs(open_bits))), Fraction(str(mass.subs(open_bits))))
                for (first, second), mass in _open_law((0, 1, 2), 3).items()
            ]
            yield same_law(laws[3], atoms(Law.from_atoms(known)), at=f"{name} by its bits, exp(eps)={exp_eps}")


def _blanket_laws(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """The same question for the law of the upper bound."""
    for name, size in itertools.product(("BLH", "RAPPOR", "OUE"), statement()):
        laws = [
            atoms(simplified_decomposition(explicit(name, Fraction(4), d), PAIR).reduction_pair().gparv(Fraction(5, 4)))
            for d in (3, size)
        ]
        yield same_law(laws[1], laws[0], at=f"{name}, upper bound, D={size} against D=3")


SEC_6_D_INDEPENDENCE = Claim(
    id="decomposition.sec-6-D-independence",
    kind="statement",
    title="lower-bound laws that forget the domain size",
    text=r"For $D\ge3$ and distinct $x_1^0,x_1^1,x_2$ the lower-bound variable $G$ of BLH, RAPPOR and OUE does not "
    r"depend on $D$.",
    source="decomposition, Section 6, experimental setup",
    assumptions=("three distinct inputs",),
    scope="every D and chance of a bit, by one input more; open bits at D = 3, 4, 5; explicit channels at lam = 4",
    grade="proved",
    printed=lambda size: (0, 1, 2),
    check=_forgotten,
    controls=(
        Control("background x_1^1 from D = 4 on", lambda size: (0, 1, 2 if size == 3 else 1)),
        Control("the upper-bound law forgets D as well", lambda: (4, 5), _blanket_laws),
    ),
    expected="holds",
    obligations=for_all("size"),
)

CLAIMS: tuple[Claim, ...] = (SEC_6_D_INDEPENDENCE,)
