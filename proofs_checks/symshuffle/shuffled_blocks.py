"""Block designs in place of all subsets: the same certified bound, and real pairs that may differ."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._errata import finding
from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.design.shuffled.model import BlockDesign
from symshuffle.design.shuffled.search import blanket_law
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import (
    Claim,
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
    serving,
)
from symshuffle.mechanisms.registry import mechanism
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.frontiers.orbit import subset_orbit

F = Fraction


SOURCE: Final = "symshuffle.design.shuffled"


def _blocks_of(points: Any, size: Any, lam: Any) -> tuple[Any, Any, Any, Any]:
    """Trace, and mass of the blanket on blocks that hold both inputs of a pair, the first alone, and neither."""
    total = size * lam + points - size
    signal = points * (lam - 1) ** 2 * size * (points - size) / total**2
    share = total * (points - 1)
    return (
        signal,
        size * (size - 1) / share,
        size * (points - size) / share,
        (points - size) * (points - size - 1) / share,
    )


def _smaller_blocks(points: Any, size: Any, lam: Any) -> tuple[Any, Any, Any, Any]:
    return _blocks_of(points, size - 1, lam)


def _apart(points: Any, size: Any, lam: Any) -> tuple[Any, Any, Any, Any]:
    """As if a pair of points were drawn with replacement."""
    return _blocks_of(points, size, lam)[0], *(
        mass * (points - 1) / points for mass in _blocks_of(points, size, lam)[1:]
    )


def _law_of(masses: Sequence[Fraction], lam: Fraction, exp_eps: Fraction) -> tuple[tuple[Fraction, Fraction], ...]:
    """Atoms of G from the masses of both, one and neither."""
    both, one, neither = masses
    gains = (lam - exp_eps * lam, both), (lam - exp_eps, one), (1 - exp_eps * lam, one), (1 - exp_eps, neither)
    return tuple(sorted((*gains, (F(0), 1 - both - 2 * one - neither))))


def _law_by_hand(channel: Channel, first: int, second: int) -> tuple[tuple[Fraction, Fraction], ...]:
    """Atoms of G of a pair, from the matrix."""
    masses: dict[Fraction, Fraction] = {}
    for column in exact_columns(channel):
        low = min(column)
        value = (column[first] - F(6, 5) * column[second]) / low
        masses[value] = masses.get(value, F(0)) + low
    rest = 1 - sum(masses.values(), start=F(0))
    masses[F(0)] = masses.get(F(0), F(0)) + rest
    return tuple(sorted(item for item in masses.items() if item[1]))


def _check_blocks(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every 2-design, by its parameters, symbolic: r blocks hold a point and d a pair of points, b blocks in all.

    Blocks and points are counted twice, d (k - 1) = r (s - 1) and b s = k r: the shares of blocks that hold both, one
    or none of a pair are those of all subsets, counted by binomials. Then hyperplanes of four projective spaces: the
    law of G from the matrix for every pair of points, and the trace. Intervals on a circle cover every point equally
    often but are no 2-design: their laws of G differ between pairs.
    """
    k, s, lam, pairs = sp.symbols("k s lam d", positive=True)
    trace, *masses = statement(k, s, lam)
    least = k / (s * lam + k - s)
    held = pairs * (k - 1) / (s - 1)
    blocks = k * held / s
    for where, mass, number in zip(
        ("both", "one", "neither"), masses, (pairs, held - pairs, blocks - 2 * held + pairs), strict=True
    ):
        yield identity(least * number / blocks, mass, at=f"every 2-design: blocks that hold {where} of a pair")
    signal = s * (lam * least - 1) ** 2 + (k - s) * (least - 1) ** 2
    yield identity(signal, trace, at="every k, s, lam: the trace of a block's template")
    for where, mass, taken in zip(("both", "one", "neither"), masses, (2, 1, 0), strict=True):
        share = (sp.binomial(k - 2, s - taken) / sp.binomial(k, s)).rewrite(sp.gamma)
        yield identity(least * sp.gammasimp(share), mass, at=f"every k, s: all subsets that hold {where} of a pair")
    for q, dimension in ((2, 2), (3, 2), (2, 3), (5, 2)):
        design = BlockDesign(q, dimension)
        channel = BlockDesign(q, dimension, F(3)).channel()
        signal, *shares = statement(F(design.points), F(design.size), F(3))
        at = f"{design.points} points, blocks of {design.size}"
        yield compare(AnchoredLaw.from_channel(channel).trace(), signal, at=f"{at}: trace")
        law = _law_of(shares, F(3), F(6, 5))
        laws = {_law_by_hand(channel, *pair) for pair in itertools.permutations(range(design.points), 2)}
        yield compare(laws, {law}, at=f"{at}: law of G, every pair")
        subsets = blanket_law((subset_orbit(design.points, design.size, F(3)),), F(6, 5))
        yield compare(tuple(sorted(subsets.atoms())), law, at=f"{at}: law of G of all subsets, in the library")
    low = F(1, 3 * 3 + 4)
    circle = Channel(tuple(tuple(low * 3 if (x - y) % 7 < 3 else low for y in range(7)) for x in range(7)))
    laws = {_law_by_hand(circle, *pair) for pair in itertools.permutations(range(7), 2)}
    shown = decide(len(laws) > 1, at="intervals of 3 of 7 points", claimed="several laws of G")
    yield from serving("intervals", [shown])


def _triples_matter(fano: Fraction, subsets: Fraction) -> bool:
    return fano != subsets


def _triples_do_not(fano: Fraction, subsets: Fraction) -> bool:
    return fano == subsets


def _check_triples(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The Fano plane and all 3-subsets of 7 inputs at ratio 3, eps = 0, n = 2: real pairs with a third input."""
    fano = BlockDesign(2, 2, F(3)).channel()
    subsets = mechanism("subset-selection").at(k=7, s=3, lam=3).channel()
    blocks = [set(block) for block in BlockDesign(2, 2).blocks()]
    for third in (2, 3):
        found = [shuffled_divergence(one, first=(0, third), second=(1, third), gamma=F(1)) for one in (fano, subsets)]
        line = {0, 1, third} in blocks
        at = f"n=2, third input {third}, {'on' if line else 'off'} the line of the pair"
        yield decide(statement(*found), at=at, claimed="whether they agree", computed=f"{found[0]}, {found[1]}")
        values = {True: F(44, 169), False: F(40, 169)}[line], F(1036, 4225)
        yield from serving("values", [compare(tuple(found), values, at=at)])
    both = [delta(one, n=2, exp_eps=F(1), arithmetic="exact").bracket.exact for one in (fano, subsets)]
    yield compare(both[0], both[1], at="n=2: the certified bounds agree")


CLAIMS: Final = (
    Claim(
        id="symshuffle.shuffled-blocks",
        kind="statement",
        title="blocks of a 2-design have the trace and the law of G of all subsets of their size",
        text=(
            Clause(
                "designs",
                "A channel that names a block of a 2-design has the trace, and for every pair of inputs the law "
                "of $G$, of subset selection with all subsets of the size of a block: only pairs of inputs and "
                "the minimum enter.",
            ),
            Clause("spaces", "Hyperplanes of a projective space over a finite field are a 2-design.", "quoted"),
            Clause("points only", "A design that covers points, but not pairs, equally often may have several laws."),
        ),
        source=f"{SOURCE}.blocks",
        assumptions=("2-designs",),
        scope="every 2-design by its parameters; four projective spaces, every pair, from the matrix; a circle",
        grade="proved",
        printed=_blocks_of,
        check=_check_blocks,
        controls=(Control("blocks one smaller", _smaller_blocks), Control("pairs with replacement", _apart)),
        expected="holds",
        obligations=(
            *for_all("points", "size", "lam", clause="designs"),
            *by_cases("intervals", clause="points only"),
        ),
    ),
    finding(
        "shuffled-blocks-triples",
        "real pairs tell a block design from all subsets of its size",
        (
            Clause(
                "pairs",
                r"At $n=2$, $\varepsilon=0$ and ratio 3 the Fano plane has 44/169 or 40/169 where the other user "
                "holds a third input on or off the line of the pair; all 3-subsets have 1036/4225 in both "
                "cases.",
            ),
            Clause("certified", "The certified bounds agree."),
        ),
        _triples_matter,
        _triples_do_not,
        source=f"{SOURCE}.blocks",
        assumptions=("k = 7", "n = 2"),
        scope="two datasets, exact",
        check=_check_triples,
        controls=(Control("more for the design", lambda fano, subsets: fano > subsets),),
        obligations=(*for_all("fano", "subsets", clause=("pairs", "certified")), *by_cases("values", clause="pairs")),
    ),
)
