"""Section 11: orbits of equivariant channels, their templates and additive invariants."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._estimation import fisher_information
from symshuffle.channels.channel import Channel
from symshuffle.channels.geometry.linear import Vector
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity, serving
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    for_all,
)
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.canonical import enumerated_risk, template_votes
from symshuffle.utility.estimation.moments import levels_budget, levels_signal
from symshuffle.utility.frontiers.certificate import orbit_mixture
from symshuffle.utility.frontiers.orbit import Orbit

MIXTURES: Final[tuple[tuple[Orbit, ...], ...]] = (
    (Orbit(Fraction(1), ((1, Fraction(3, 2)), (2, Fraction(3, 4)))),),
    (
        Orbit(Fraction(2, 3), ((1, Fraction(15, 8)), (1, Fraction(3, 4)), (1, Fraction(3, 8)))),
        Orbit(Fraction(1, 3), ((3, Fraction(1)),)),
    ),
    (
        Orbit(Fraction(1, 2), ((2, Fraction(15, 11)), (1, Fraction(3, 11)))),
        Orbit(Fraction(1, 4), ((1, Fraction(2)), (2, Fraction(1, 2)))),
        Orbit(Fraction(1, 4), ((3, Fraction(1)),)),
    ),
    (Orbit(Fraction(1), ((2, Fraction(3, 2)), (2, Fraction(1, 2)))),),
)
"""Templates with repeated coordinates, two orbits, and null symbols."""


def _orbit_atoms(k: int, orbits: Sequence[Orbit]) -> dict[Vector, Fraction]:
    """The templates of all outputs with their row-average masses: every labelled permutation counts once."""
    atoms: dict[Vector, Fraction] = {}
    for orbit in orbits:
        for point in itertools.permutations(orbit.template()):
            atoms[point] = atoms.get(point, Fraction(0)) + orbit.weight / math.factorial(k)
    return atoms


def _without_duplicates(k: int, orbits: Sequence[Orbit]) -> dict[Vector, Fraction]:
    """As if a template with repeated entries had k! different arrangements."""
    return {u: orbit.weight / math.factorial(k) for orbit in orbits for u in itertools.permutations(orbit.template())}


def _check_templates(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Four mixtures of orbits at k = 3, 4: rows of the stated atoms add up to 1 and have the library's law; over Q.

    Exchanging two neighbouring inputs leaves the law of templates as it is.
    """
    for j, orbits in enumerate(MIXTURES):
        k = len(orbits[0].template())
        atoms = statement(k, orbits)
        rows = tuple(tuple(u[x] * mass for u, mass in atoms.items()) for x in range(k))
        yield compare(sum(rows[0], start=Fraction(0)), Fraction(1), at=f"mixture {j}: row sum")
        if sum(rows[0]) == 1:
            law = AnchoredLaw.from_channel(Channel(rows))
            yield decide(law == orbit_mixture(orbits), at=f"mixture {j}", claimed="the orbits' law")
            for x, y in itertools.pairwise(range(k)):
                swap = [y if i == x else x if i == y else i for i in range(k)]
                same = AnchoredLaw.from_channel(Channel(rows).restrict(swap)) == law
                yield decide(same, at=f"mixture {j}", claimed="equivariant")


def _invariants(k: Any, square_sum: Any, reciprocals: Any) -> tuple[Any, Any, Any, Any]:
    """Signal coefficient, budget, n times the risk, and slope of one orbit."""
    signal = (square_sum - k) / (k * (k - 1))
    budget = (square_sum * reciprocals - k**2) / (k * (k - 1))
    return signal, budget, (k - 1) / k * (1 / signal - 1), (square_sum - k) / (square_sum * reciprocals - k**2)


def sum_over_inputs(expression: Any, names: Sequence[Any], powers: dict[int, Any]) -> Any:
    """An expression in coordinates v, w of a template, summed over all inputs for each: products of power sums.

    Any number of inputs: a monomial v^a w^b sums to the product of the sums of the a-th and of the b-th powers.
    """
    total: Any = sp.Integer(0)
    for term in sp.Add.make_args(sp.expand(expression)):
        rest = term
        for name in names:
            power = int(sp.degree(sp.numer(term), name) - sp.degree(sp.denom(term), name))
            rest = rest / name**power * powers[power]
        total += rest
    return total


def _check_every_template(statement: Statement) -> Iterator[Comparison]:
    """Any template by its sums k, V, H: budget, signal, slope and risk as sums over inputs; symbolic."""
    size, squares, reciprocals = sp.symbols("k V H", positive=True)
    v, w = sp.symbols("v w", positive=True)
    powers = {-1: reciprocals, 0: size, 1: size, 2: squares}  # the coordinates sum to k
    signal, budget, risk, slope = statement(size, squares, reciprocals)
    pairs = size * (size - 1)
    seen = sum_over_inputs((v - w) ** 2 / w, (v, w), powers)  # a pair of one coordinate with itself adds 0
    spread = sum_over_inputs((v - 1) ** 2, (v,), powers)
    gain = spread / pairs
    error = (spread - (size * gain) ** 2 * (1 - 1 / size)) / (size * gain) ** 2
    for name, ours, claimed in (
        ("budget", seen / pairs, budget),
        ("signal", gain, signal),
        ("slope", spread / seen, slope),
        ("n times the risk", error, risk),
    ):
        yield identity(ours, claimed, at=f"every k, every template, summed over inputs: {name}")


def _check_invariants(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Any template by its sums k, V, H, and templates of three open levels: budget, signal, risk, slope; symbolic.

    Sums over pairs of inputs and the library's formulas against the statement. Four mixtures over Q: all pairs,
    covariance, information at uniform, enumerated risks of two users, votes.
    """
    yield from serving("templates", _check_every_template(statement))
    counts = sp.symbols("c1:4", positive=True)
    values = sp.symbols("v1:4", positive=True)
    total = sum(c * v for c, v in zip(counts, values, strict=True))
    k = sum(counts)
    scaled = [k * v / total for v in values]
    squares = sum(c * v**2 for c, v in zip(counts, scaled, strict=True))
    reciprocals = sum(c / v for c, v in zip(counts, scaled, strict=True))
    signal, budget, risk, slope = statement(k, squares, reciprocals)
    where = "every k, every template of three levels"
    # A pair of inputs sees a uniform ordered pair of coordinates; a pair within one level contributes 0.
    pairs = sum(
        c * d * (v - w) ** 2 / w
        for c, v in zip(counts, scaled, strict=True)
        for d, w in zip(counts, scaled, strict=True)
    )
    yield identity(pairs / (k * (k - 1)), budget, at=f"{where}: budget as a mean over ordered pairs")
    levels = tuple(zip(counts, scaled, strict=True))
    yield identity(levels_budget(levels, k), budget, at=f"{where}: the library's budget")
    yield identity(levels_signal(levels) / (k * (k - 1)), signal, at=f"{where}: signal")
    yield identity(signal / budget, slope, at=f"{where}: slope")
    # One message: E|s - 1|^2 = k(k-1)A, its mean kA(e_x - 1/k) has length^2 (kA)^2 (1 - 1/k); divide by (kA)^2.
    spread = k * (k - 1) * signal
    yield identity(
        (spread - (k * signal) ** 2 * (1 - 1 / k)) / (k * signal) ** 2, risk, at=f"{where}: n times the risk"
    )
    for j, orbits in enumerate(MIXTURES):
        size = len(orbits[0].template())
        parts = [
            (orbit.weight, statement(Fraction(size), sum(v * v for v in u), sum(1 / v for v in u)))
            for orbit in orbits
            for u in (orbit.template(),)
            if len(set(u)) > 1
        ]
        coefficient = sum((weight * found[0] for weight, found in parts), start=Fraction(0))
        spent = sum((weight * found[1] for weight, found in parts), start=Fraction(0))
        law = orbit_mixture(orbits)
        for x, y in itertools.permutations(range(size), 2):
            yield compare(law.pairwise_divergence(x, y), spent, at=f"mixture {j}, pair {x}, {y}")
        centred = [[(int(x == y) - Fraction(1, size)) * size * coefficient for y in range(size)] for x in range(size)]
        yield compare(law.covariance(), tuple(map(tuple, centred)), at=f"mixture {j}: covariance")
        uniform = (Fraction(1, size),) * size
        yield compare(fisher_information(law, uniform), law.covariance(), at=f"mixture {j}: information at uniform")
        channel = law.to_channel()
        claimed = Fraction(size - 1, size) * (1 / coefficient - 1)
        for held in ((2, *(0,) * (size - 1)), (1, 1, *(0,) * (size - 2))):
            w = tuple(Fraction(v, 2) for v in held)
            found, mean = enumerated_risk(channel, w, n=2, population="fixed")
            yield compare((2 * found, mean), (claimed, w), at=f"mixture {j}, composition {held}, by enumeration")
        u = law.templates[-1]
        vote = tuple((entry - 1) / (size * coefficient) for entry in u)
        yield compare(template_votes(law, [u])[0], vote, at=f"mixture {j}: the estimator")


CLAIMS: Final = (
    Claim(
        id="alphabets.def-11.0",
        kind="definition",
        title="orbits of an equivariant channel and their templates",
        text=(
            Clause("weight", r"An orbit $O$ of outputs has the weight $\omega_O=\sum_{y\in O}m(y)$."),
            Clause("template", r"It has a template $z_x=W_x(y)/m(y)$, $\sum_xz_x=k$."),
            Clause("others", "Its other outputs carry the permutations of $z$, each labelled one once."),
        ),
        source="alphabets, Section 11",
        assumptions=("finite output set with an action of all permutations",),
        scope="four mixtures of orbits at k = 3 and 4, with repeated coordinates and null symbols",
        grade="exact-cases",
        printed=_orbit_atoms,
        check=_check_templates,
        controls=(Control("duplicates not merged", _without_duplicates),),
        expected="definition",
        obligations=for_all("k", "orbits", clause=("weight", "template", "others")),
    ),
    Claim(
        id="alphabets.prop-11.1",
        kind="statement",
        title="additive invariants and the projected estimator",
        text=(
            Clause(
                "budget and signal",
                r"$\chi=\sum_O\omega_O\frac{V_OH_O-k^2}{k(k-1)}$ for every pair, "
                r"$A=\sum_O\omega_O\frac{V_O-k}{k(k-1)}$.",
            ),
            Clause(
                "estimator",
                r"$\frac1k1+\frac1{nkA}\sum_i(s(Y_i)-1)$ is unbiased with risk $\frac{k-1}{kn}(\frac1A-1)$ at "
                "every composition.",
            ),
            Clause("slope", r"Slope $\frac{V-k}{VH-k^2}$."),
        ),
        source="alphabets, Proposition 11.1",
        assumptions=("positive templates, $A>0$",),
        scope=(
            "every k and every template, by power sums; three levels in the library; four mixtures, covariance and "
            "enumerated risks"
        ),
        grade="proved",
        printed=_invariants,
        check=_check_invariants,
        controls=(
            Control(
                "signal over k^2",
                lambda k, v, h: ((v - k) / k**2, *_invariants(k, v, h)[1:]),
            ),
            Control(
                "risk of the i.i.d. model",
                lambda k, v, h: (*_invariants(k, v, h)[:2], (k - 1) ** 2 / (v - k), _invariants(k, v, h)[3]),
            ),
        ),
        expected="holds",
        obligations=(
            *for_all("k", "templates", clause=("budget and signal", "estimator", "slope")),
            *for_all("square_sum", "reciprocals", clause=("budget and signal", "slope")),
        ),
    ),
)
