"""The best channel after shuffling, in exact instances: orders by certified bounds, by true pairs and by the trace."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from proofs_checks._convex_order import convex_order
from proofs_checks._errata import finding
from proofs_checks.symshuffle._orbits import exact_bound
from symshuffle.accountants.questions.solve import delta
from symshuffle.channels.channel import Channel, exact_columns
from symshuffle.channels.shuffled import worst_shuffled_divergence
from symshuffle.design.shuffled.search import blanket_law, trace_of
from symshuffle.ledger.claims.comparisons import Comparison, compare, decide
from symshuffle.ledger.claims.model import (
    Clause,
    Control,
    Statement,
    by_cases,
    for_all,
    serving,
)
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.frontiers.orbit import Orbit, centre_orbit, orbit_mechanism, subset_orbit, symmetrize

F = Fraction


SOURCE: Final = "symshuffle.design.shuffled"


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
        found = [exact_bound(orbits, n, order) for orbits in (RESPONSE, PAIRS)]
        at = f"k=10, n={n}, exp(eps)={order}"
        yield decide(statement(*found), at=at, claimed="the order of the bounds", computed=f"{found[0]}, {found[1]}")
        if n == 1:
            yield from serving("one user", [compare(tuple(found), (F(1, 42), F(1, 45)), at=at)])
    for orbits in (RESPONSE, PAIRS):
        yield compare(exact_bound(orbits, 1, F(5, 4)), _enumerated(orbits, 1, F(5, 4)), at="k=10, n=1: by enumeration")
    small = (subset_orbit(3, 1, F(2), F(1, 2)), centre_orbit(3, F(1, 2)))
    for n in (2, 3):
        yield compare(exact_bound(small, n, F(6, 5)), _enumerated(small, n, F(6, 5)), at=f"k=3, n={n}: by enumeration")


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
            bounds = [exact_bound(orbits, n, order) for orbits in (BINARY, THINNED)]
            relation = ">" if (n, order) == (5, F(6, 5)) else "<"
            at = f"k=2, n={n}, exp(eps)={order}: the bounds"
            yield from serving("bounds", [compare(bounds[1], bounds[0], relation, at=at)])


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
        found = tuple(delta(one, n=n, exp_eps=F(1), arithmetic="exact").bracket.upper for one in (before, after))
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
        bounds = [exact_bound(orbits, n, F(1)) for orbits in (COMPLEMENTS, MIXED)]
        channels = [orbit_mechanism(orbits).channel() for orbits in (COMPLEMENTS, MIXED)]
        true = [worst_shuffled_divergence(channel, (0, 1), n, 1)[0] for channel in channels]
        found = compare((*bounds, *true), values, at=f"k=3, n={n}: two bounds, two worst pairs")
        yield from serving("values", [found])
        orders = bounds[0] < bounds[1], true[0] < true[1]
        yield decide(statement(*orders), at=f"k=3, n={n}", claimed="whether both rank alike", computed=str(orders))
        for orbits, bound, pair in zip((COMPLEMENTS, MIXED), bounds, true, strict=True):
            yield compare(pair, bound, "<=", at=f"n={n}: no pair is above the bound")
            yield compare(_enumerated(orbits, n, F(1)), bound, at=f"n={n}: the bound by enumeration")


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
            Clause("optimum", "So an optimum among exchangeable channels is no optimum among all.", "quoted"),
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
                "quoted",
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
)
