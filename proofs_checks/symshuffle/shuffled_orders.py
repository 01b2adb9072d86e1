"""The best channel after shuffling, in exact instances: what the certified bound, true pairs and the trace order."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Any, Final

import numpy as np
import sympy as sp

from proofs_checks._errata import finding
from symshuffle.accountants.bounds.evaluate import evaluate_law
from symshuffle.accountants.questions.solve import delta
from symshuffle.base.choices import Rigour
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.shuffled import shuffled_divergence, worst_shuffled_divergence
from symshuffle.design.shuffled.blocks import BlockDesign
from symshuffle.design.shuffled.laws import blanket_law, trace_of
from symshuffle.design.shuffled.model import BlockChannel
from symshuffle.design.shuffled.one_user import chain_templates, one_user_line, one_user_loss
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide, identity
from symshuffle.ledger.claims.model import (
    Claim,
    ClaimVerdict,
    Clause,
    Control,
    Grade,
    Kind,
    Role,
    Statement,
    by_cases,
    for_all,
    serving,
)
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import nonnegative
from symshuffle.utility.anchored import AnchoredLaw, symmetrize, template_signal
from symshuffle.utility.frontiers.convex_order import convex_order
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, orbit_mechanism, subset_orbit

F = Fraction
SOURCE: Final = "symshuffle.design.shuffled"


def _bound(orbits: Sequence[Orbit], n: int, exp_eps: Fraction) -> Fraction:
    found = evaluate_law(blanket_law(orbits, exp_eps), n, rigour=Rigour.EXACT).exact
    assert found is not None
    return found


def _enumerated(orbits: Sequence[Orbit], n: int, exp_eps: Fraction) -> Fraction:
    """The same bound by enumeration: all multisets of messages of the pair and of the blanket of the matrix."""
    channel = orbit_mechanism(orbits).channel()
    columns = exact_columns(channel)
    blanket = [min(column) for column in columns]
    rest = 1 - sum(blanket, start=F(0))
    shares = [*blanket, rest]
    gains = [*((c[0] - exp_eps * c[1]) / low for c, low in zip(columns, blanket, strict=True)), F(0)]
    total = F(0)
    for counts in _counts(n, len(shares)):
        chance = F(math.factorial(n))
        for share, count in zip(shares, counts, strict=True):
            chance *= share**count / math.factorial(count)
        total += chance * max(F(0), sum((g * c for g, c in zip(gains, counts, strict=True)), start=F(0)))
    return total / n


def _counts(n: int, kinds: int) -> Iterator[tuple[int, ...]]:
    if kinds == 1:
        yield (n,)
        return
    for first in range(n + 1):
        for others in _counts(n - first, kinds - 1):
            yield (first, *others)


RESPONSE: Final = (subset_orbit(10, 1, F(3, 2)),)
PAIRS: Final = (subset_orbit(10, 2, F(18, 13)),)
"""Equal traces: (lam - 1)/(lam + 9) = 1/21 and (mu - 1)/(mu + 4) = 1/14, for which s(k-s)/(k-1) = 16/9 is a square."""


def _pairs_lower(response: Fraction, pairs: Fraction) -> bool:
    return pairs < response


def _response_lower(response: Fraction, pairs: Fraction) -> bool:
    return response <= pairs


def _check_response(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Ten inputs, k-ary response and subsets of size 2 at one trace: both bounds, exact; some by enumeration too."""
    yield compare(trace_of(RESPONSE), trace_of(PAIRS), at="k=10: the traces")
    for n, order in ((1, F(5, 4)), (3, F(5, 4)), (3, F(11, 10)), (5, F(5, 4))):
        found = [_bound(orbits, n, order) for orbits in (RESPONSE, PAIRS)]
        at = f"k=10, n={n}, exp(eps)={order}"
        yield decide(statement(*found), at=at, claimed="the order of the bounds", computed=f"{found[0]}, {found[1]}")
        if n == 1:
            yield from serving("one user", [compare(tuple(found), (F(1, 42), F(1, 45)), at=at)])
    for orbits in (RESPONSE, PAIRS):
        yield compare(_bound(orbits, 1, F(5, 4)), _enumerated(orbits, 1, F(5, 4)), at="k=10, n=1: by enumeration")
    small = (subset_orbit(3, 1, F(2), F(1, 2)), centre_orbit(3, F(1, 2)))
    for n in (2, 3):
        yield compare(_bound(small, n, F(6, 5)), _enumerated(small, n, F(6, 5)), at=f"k=3, n={n}: by enumeration")


BINARY: Final = (subset_orbit(2, 1, F(2)),)
THINNED: Final = (subset_orbit(2, 1, F(5), F(1, 4)), centre_orbit(2, F(3, 4)))


def _incomparable(up: bool, down: bool) -> bool:
    return not up and not down


def _response_below(up: bool, down: bool) -> bool:
    return up and not down


def _check_order(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Binary response of ratio 2, and one of ratio 5 that is sent with probability 1/4: equal traces 2/9.

    Neither law of G is below the other in convex order, at two orders; the bound of the thinned response is smaller at
    n = 1, 2, and at n = 5 smaller at exp(eps) = 1 and larger at 6/5.
    """
    traces = [compare(trace_of(orbits), F(2, 9), at="k=2: the traces") for orbits in (BINARY, THINNED)]
    yield from serving("traces", traces)
    for order in (F(1), F(6, 5)):
        laws = [blanket_law(orbits, order) for orbits in (BINARY, THINNED)]
        yield compare(laws[0].mean, laws[1].mean, at=f"k=2, exp(eps)={order}: the means")
        found = convex_order(laws[0], laws[1]).holds, convex_order(laws[1], laws[0]).holds
        yield decide(statement(*found), at=f"k=2, exp(eps)={order}", claimed="which order holds", computed=str(found))
        for n in (1, 2, 5):
            bounds = [_bound(orbits, n, order) for orbits in (BINARY, THINNED)]
            relation = ">" if (n, order) == (5, F(6, 5)) else "<"
            at = f"k=2, n={n}, exp(eps)={order}: the bounds"
            yield from serving("bounds", [compare(bounds[1], bounds[0], relation, at=at)])


def _line(k: int, exp_eps: Fraction, loss: Fraction) -> Fraction:
    """Largest trace at a loss, for one user: from the best trace at ratio exp(eps) to that of the identity."""
    start = _raw_cap(k, exp_eps)
    return start + loss * (k * (k - 1) - start)


def _raw_cap(k: int, lam: Fraction) -> Fraction:
    return max(subset_orbit(k, s, lam).signal for s in range(1, k))


def _lower_line(k: int, exp_eps: Fraction, loss: Fraction) -> Fraction:
    return _raw_cap(k, exp_eps) * (1 - loss) + loss * (k - 1) ** 2


def _check_one_user(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """Every vertex for k <= 7 and six ratios: the trace is at most the stated line, which two of them attain.

    On a cell where the order of u_i and exp(eps) u_j is fixed the loss is linear and the trace convex, so a line above
    all vertices is above all templates. Random templates in rationals as well.
    """
    for k in range(2, 8):
        for order in (F(1), F(11, 10), F(3, 2), F(2), F(3), F(10)):
            at = f"k={k}, exp(eps)={order}"
            touching = 0
            above = True
            for u in chain_templates(k, order):
                loss, trace = one_user_loss(u, order), template_signal(u)
                above &= trace <= statement(k, order, loss)
                touching += trace == statement(k, order, loss)
            yield decide(above, at=at, claimed="no vertex is above the line")
            yield decide(touching >= 2, at=at, claimed="the line is attained at both ends")
            yield compare(one_user_line(k, order, F(1, 7)), statement(k, order, F(1, 7)), at=f"{at}: in the library")
            for _ in range(4):
                raw = [int(v) for v in rng.integers(0, 30, size=k)]
                raw[0] += 1
                u = tuple(F(v * k, sum(raw)) for v in raw)
                limit = statement(k, order, one_user_loss(u, order))
                yield compare(template_signal(u), limit, "<=", at=f"{at}: a template")
    for k, lam, order in ((3, F(4), F(2)), (4, F(3), F(3, 2))):
        orbits = (subset_orbit(k, 1, lam),)
        own = one_user_loss(orbits[0].template(), order)
        yield compare(_bound(orbits, 1, order), own, at=f"k={k}: the loss is the certified bound at n=1")


def _largest_gain(k: Any, s: Any, lam: Any, exp_eps: Any) -> tuple[Any, Any]:
    """Largest value of G of subset selection, and its mass."""
    return lam - exp_eps, s * (k - s) / ((k - 1) * (s * lam + k - s))


def _smaller_share(k: Any, s: Any, lam: Any, exp_eps: Any) -> tuple[Any, Any]:
    return lam - exp_eps, s * (k - s) / (k * (s * lam + k - s))


def _other_way(k: Any, s: Any, lam: Any, exp_eps: Any) -> tuple[Any, Any]:
    return exp_eps - lam, _largest_gain(k, s, lam, exp_eps)[1]


def _check_small_delta(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Every k, s, ratio and level, symbolic: the largest of the values of G, its mass, and that no other is positive.

    So p^n v <= H(n) <= p v for a largest value v >= 0 of mass p: all n terms are v with probability p^n, and (a + b)_+
    is at most a_+ + b_+. For every template the largest value is that at its ratio. Then subsets of every size, k <= 5,
    n <= 4, exact: both bounds on H(n), and 0 exactly up to exp(eps).
    """
    k, s, v, m = sp.symbols("k s v m", positive=True)
    w, x, y, z = sp.symbols("w x y z", nonnegative=True)
    lam, order = 1 + v, 1 + w
    value, mass = statement(k, s, lam, order)
    least = k / (s * lam + k - s)  # of a template with s levels lam least and k - s levels least
    yield identity(
        value, (lam * least - order * least) / least, at="every k, s: G where the first input is inside alone"
    )
    yield identity(mass, least * s * (k - s) / (k * (k - 1)), at="every k, s: its mass, by ordered pairs")
    others = {"both": lam - order * lam, "neither": 1 - order, "the second alone": 1 - order * lam}
    for where, other in others.items():
        below = nonnegative(sp.expand(value - other), {}) and nonnegative(sp.expand(-other), {})
        yield decide(
            below, at=f"every ratio and level: {where} inside", claimed="no larger, and not positive", symbolic=True
        )
    top = statement(k, s, (m + x + z) / m, order)[0]
    slack = (z + order * y) / m
    yield identity(
        top - ((m + x) - order * (m + y)) / m, slack, at="every template: no pair is above its ratio's value"
    )
    for inputs, n, level in itertools.product((2, 3, 5), (1, 2, 4), (F(1), F(6, 5), F(2))):
        for size in range(1, inputs):
            for ratio in (level - F(1, 20), level, level + F(1, 1000), level + 1):
                if ratio > 1:
                    bound = _bound((subset_orbit(inputs, size, ratio),), n, level)
                    gain, share = statement(inputs, size, ratio, level)
                    at = f"k={inputs}, s={size}, n={n}, exp(eps)={level}, lam={ratio}"
                    yield decide((bound == 0) is (gain <= 0), at=at, claimed="bound 0 or not")
                    yield compare(share**n * max(gain, F(0)), bound, "<=", at=f"{at}: from below")
                    yield compare(bound, share * max(gain, F(0)), "<=", at=f"{at}: from above")


ROWS: Final = ((3, 8, 2, 7), (3, 8, 7, 2), (6, 4, 5, 5))


def _raised(n: int) -> bool:
    return n == 2


def _never_raised(n: int) -> bool:
    return False


def _check_symmetrised(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Rows (3,8,2,7), (3,8,7,2), (6,4,5,5) over 20 at eps = 0: the bound before and after a random public relabelling.

    9/40 and 839/3600 at n = 2, where it rises; 3/10 and 17/60 at n = 1, where it falls: H(1) is convex in the law.
    """
    before = Channel(tuple(tuple(F(v, 20) for v in row) for row in ROWS))
    law = AnchoredLaw.from_channel(before)
    after = symmetrize(law).to_channel()
    yield compare(symmetrize(law).trace(), law.trace(), at="the traces")
    known = {1: (F(3, 10), F(17, 60)), 2: (F(9, 40), F(839, 3600))}
    for n, values in known.items():
        found = tuple(delta(one, n=n, exp_eps=F(1), rigour=Rigour.EXACT).bracket.upper for one in (before, after))
        yield compare(found, values, at=f"n={n}: both bounds")
        yield decide((found[1] > found[0]) is statement(n), at=f"n={n}", claimed="whether the bound rises")


COMPLEMENTS: Final = (subset_orbit(3, 2, F(3)),)
MIXED: Final = (subset_orbit(3, 1, F(3), F(1, 2)), subset_orbit(3, 2, F(2), F(1, 2)))


def _reversed(certified: bool, true: bool) -> bool:
    return certified is not true


def _same(certified: bool, true: bool) -> bool:
    return certified is true


def _check_rankings(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Three inputs, eps = 0: the certified bounds and the worst real pairs over all backgrounds of two channels, exact.

    At n = 2, 2-subsets of ratio 3 have 12/49 and 12/49, trace 24/49; half 3-ary response of ratio 3, half 2-subsets of
    ratio 2 have 1/4 and 6/25, trace 3/5.
    """
    traces = compare((trace_of(COMPLEMENTS), trace_of(MIXED)), (F(24, 49), F(3, 5)), at="k=3: the traces")
    yield from serving("values", [traces])
    known = {2: (F(12, 49), F(1, 4), F(12, 49), F(6, 25)), 3: (F(74, 343), F(27, 125), F(72, 343), F(103, 500))}
    for n, values in known.items():
        bounds = [_bound(orbits, n, F(1)) for orbits in (COMPLEMENTS, MIXED)]
        channels = [orbit_mechanism(orbits).channel() for orbits in (COMPLEMENTS, MIXED)]
        true = [worst_shuffled_divergence(channel, (0, 1), n, 1)[0] for channel in channels]
        found = compare((*bounds, *true), values, at=f"k=3, n={n}: two bounds, two worst pairs")
        yield from serving("values", [found])
        orders = bounds[0] < bounds[1], true[0] < true[1]
        yield decide(statement(*orders), at=f"k=3, n={n}", claimed="whether both rank alike", computed=str(orders))
        for orbits, bound, pair in zip((COMPLEMENTS, MIXED), bounds, true, strict=True):
            yield compare(pair, bound, "<=", at=f"n={n}: no pair is above the bound")
            yield compare(_enumerated(orbits, n, F(1)), bound, at=f"n={n}: the bound by enumeration")


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
        channel = BlockChannel(design, F(3), F(1)).channel()
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
    fano = BlockChannel(BlockDesign(2, 2), F(3), F(1)).channel()
    subsets = mechanism("subset-selection").at(k=7, s=3, lam=3).channel()
    blocks = [set(block) for block in BlockDesign(2, 2).blocks()]
    for third in (2, 3):
        found = [shuffled_divergence(one, first=(0, third), second=(1, third), gamma=F(1)) for one in (fano, subsets)]
        line = {0, 1, third} in blocks
        at = f"n=2, third input {third}, {'on' if line else 'off'} the line of the pair"
        yield decide(statement(*found), at=at, claimed="whether they agree", computed=f"{found[0]}, {found[1]}")
        values = {True: F(44, 169), False: F(40, 169)}[line], F(1036, 4225)
        yield from serving("values", [compare(tuple(found), values, at=at)])
    both = [delta(one, n=2, exp_eps=F(1), rigour=Rigour.EXACT).bracket.exact for one in (fano, subsets)]
    yield compare(both[0], both[1], at="n=2: the certified bounds agree")


CLAIMS: Final = (
    finding(
        "shuffled-response-not-best",
        "k-ary response does not always have the smallest certified bound at its trace",
        (
            Clause(
                "trace",
                "At $k=10$, k-ary response of ratio $3/2$ and subsets of size 2 of ratio $18/13$ have the same trace.",
            ),
            Clause("one user", r"At $e^\varepsilon=5/4$ and $n=1$ their certified bounds are $1/42$ and $1/45$."),
            Clause("more users", "Subsets win at $n=3,5$ too."),
        ),
        _pairs_lower,
        _response_lower,
        source=SOURCE,
        assumptions=("certified bound of the optimal decomposition",),
        scope="four exact cases, two of n = 1 by enumeration",
        check=_check_response,
        controls=(Control("equal bounds", lambda response, pairs: response == pairs),),
        obligations=(
            *for_all("response", "pairs", clause=("trace", "more users")),
            *by_cases("one user", clause="one user"),
        ),
    ),
    finding(
        "shuffled-no-convex-order",
        "laws of G are not ordered in convex order by the trace, not even for two inputs",
        (
            Clause(
                "trace", "Binary response of ratio 2, and of ratio 5 sent with probability $1/4$, have trace $2/9$."
            ),
            Clause("order", "Neither law of $G$ is below the other in convex order."),
            Clause(
                "bounds",
                "The certified bound of the thinned response is smaller at $n=1,2$, and at $n=5$ smaller for "
                r"$e^\varepsilon=1$ and larger for $e^\varepsilon=6/5$.",
            ),
        ),
        _incomparable,
        _response_below,
        source=SOURCE,
        assumptions=("k = 2", "exp(eps) = 1 and 6/5"),
        scope="one pair of channels at two orders, with thresholds as witnesses",
        check=_check_order,
        controls=(Control("the thinned one is below", lambda up, down: down and not up),),
        obligations=(
            *by_cases("traces", clause="trace"),
            *by_cases("up", "down", clause="order"),
            *by_cases("bounds", clause="bounds"),
        ),
    ),
    Claim(
        id="symshuffle.shuffled-one-user",
        kind=Kind.STATEMENT,
        title="for one user the best trace is a line in delta, for up to seven inputs",
        text=(
            Clause(
                "line",
                r"For $n=1$ the largest trace of an exchangeable channel with certified bound at most $\delta$ "
                r"is $(1-\delta)T_k(e^\varepsilon)+\delta k(k-1)$, with $T_k(\lambda)$ the largest trace at the "
                r"ratio cap $\lambda$: the best subset selection of ratio $e^\varepsilon$, or with probability "
                r"$\delta$ the true value.",
            ),
            Clause("decided", "Decided for k up to 7 at six levels; open for all k and levels.", Role.QUOTED),
        ),
        source=f"{SOURCE}.one_user",
        assumptions=("exchangeable channels", "k = 2..7", "exp(eps) in {1, 11/10, 3/2, 2, 3, 10}"),
        scope="all vertices of the cells on which the loss is linear, k <= 7, six levels",
        grade=Grade.EXACT_CASES,
        printed=_line,
        check=_check_one_user,
        controls=(Control("the identity with (k-1)^2", _lower_line),),
        expected=ClaimVerdict.HOLDS,
        obligations=for_all("k", "exp_eps", "loss", clause="line"),
    ),
    Claim(
        id="symshuffle.shuffled-small-delta",
        kind=Kind.STATEMENT,
        title="for a fixed number of users and delta to 0 the ratio cap exp(eps) is what remains",
        text=(
            Clause(
                "largest",
                r"The largest value of $G$ of subset selection is $\lambda-e^\varepsilon$, of mass "
                r"$p=s(k-s)/((k-1)(s\lambda+k-s))$, and no other one is positive.",
            ),
            Clause(
                "falls",
                r"So for $\lambda\ge e^\varepsilon$, at every $n$, "
                r"$p^n(\lambda-e^\varepsilon)\le H(n)\le p(\lambda-e^\varepsilon)$: $H(n)$ is 0 exactly if the ratio "
                r"is at most $e^\varepsilon$, and it falls to 0 with the excess of the ratio.",
            ),
            Clause(
                "cap",
                r"The largest value for a template of any kind is that at its ratio, so at $\delta=0$ the problem is "
                "the largest trace at a ratio cap.",
            ),
        ),
        source=SOURCE,
        assumptions=("subset selection of ratio above 1", "for the cap: templates without zeros"),
        scope="every k, s, ratio and level, symbolic; both bounds on H(n), exact, for k <= 5, n <= 4",
        grade=Grade.PROVED,
        printed=_largest_gain,
        check=_check_small_delta,
        controls=(Control("k for k - 1 in the mass", _smaller_share), Control("the other sign", _other_way)),
        expected=ClaimVerdict.HOLDS,
        obligations=(
            *for_all("k", "s", clause=("largest", "falls")),
            *for_all("lam", "exp_eps", clause=("largest", "falls", "cap")),
        ),
    ),
    finding(
        "shuffled-symmetrised",
        "publishing a random relabelling of inputs can raise the certified bound",
        (
            Clause(
                "two users",
                "The channel with rows $(3,8,2,7),(3,8,7,2),(6,4,5,5)$ over 20 has $H(2)=9/40$ at "
                r"$\varepsilon=0$; with a random public relabelling of the inputs it is $839/3600$.",
            ),
            Clause("one user", "At $n=1$ it falls from $3/10$ to $17/60$."),
            Clause("optimum", "So an optimum among exchangeable channels is no optimum among all.", Role.QUOTED),
        ),
        _raised,
        _never_raised,
        source=SOURCE,
        assumptions=("eps = 0", "certified bound, the larger over pairs of inputs"),
        scope="one channel, n = 1 and 2, exact",
        check=_check_symmetrised,
        controls=(Control("raised at n = 1", lambda n: n == 1),),
        obligations=for_all("n", clause=("two users", "one user")),
    ),
    finding(
        "shuffled-two-rankings",
        "the certified bound and the worst real pair rank two channels differently",
        (
            Clause(
                "subsets",
                r"At $k=3$, $n=2$, $\varepsilon=0$, 2-subsets of ratio 3 have certified bound and worst real "
                "pair $12/49$ and trace $24/49$.",
            ),
            Clause(
                "mixture",
                "An even mixture of 3-ary response of ratio 3 and 2-subsets of ratio 2 has certified bound "
                "$1/4$, worst real pair $6/25$ and trace $3/5$: better in truth and in accuracy, worse by the "
                "bound.",
            ),
            Clause(
                "open",
                "Whether a sound bound below the certified one exists for exchangeable mixtures is open.",
                Role.QUOTED,
            ),
        ),
        _reversed,
        _same,
        source=SOURCE,
        assumptions=("all backgrounds of n - 1 other users",),
        scope="two channels, n = 2 and 3, all backgrounds enumerated",
        check=_check_rankings,
        controls=(Control("never", lambda certified, true: False),),
        obligations=by_cases("values", "certified", "true", clause=("subsets", "mixture")),
    ),
    Claim(
        id="symshuffle.shuffled-blocks",
        kind=Kind.STATEMENT,
        title="blocks of a 2-design have the trace and the law of G of all subsets of their size",
        text=(
            Clause(
                "designs",
                "A channel that names a block of a 2-design has the trace, and for every pair of inputs the law "
                "of $G$, of subset selection with all subsets of the size of a block: only pairs of inputs and "
                "the minimum enter.",
            ),
            Clause("spaces", "Hyperplanes of a projective space over a finite field are a 2-design.", Role.QUOTED),
            Clause("points only", "A design that covers points, but not pairs, equally often may have several laws."),
        ),
        source=f"{SOURCE}.blocks",
        assumptions=("2-designs",),
        scope="every 2-design by its parameters; four projective spaces, every pair, from the matrix; a circle",
        grade=Grade.PROVED,
        printed=_blocks_of,
        check=_check_blocks,
        controls=(Control("blocks one smaller", _smaller_blocks), Control("pairs with replacement", _apart)),
        expected=ClaimVerdict.HOLDS,
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
