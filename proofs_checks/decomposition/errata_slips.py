"""Slips in the algorithms and in the appendix: what is printed does not do what the text says that it does."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import partial
from typing import Any, Final

import numpy as np

from proofs_checks._errata import finding, refuted
from proofs_checks.decomposition._algorithms import Kernel, general_clone_map, push_forward
from proofs_checks.decomposition._cases import PAIR, named_channels, same_law
from proofs_checks.decomposition._clones import standard_clone
from proofs_checks.decomposition.appendix_a_tables import explicit
from proofs_checks.decomposition.section52_algorithm import algorithm_7, returned
from symshuffle.channels.shuffled import Tally, shuffled_law
from symshuffle.decompositions.model import primary_decomposition, privacy_blanket
from symshuffle.engines.counting.exact import Exact
from symshuffle.ledger.claims.comparisons import Comparison, compare
from symshuffle.ledger.claims.model import Claim, Clause, Control, Statement, by_cases, for_all, serving
from symshuffle.ledger.claims.parts import Erratum

# -- Algorithm 3


def _nothing(components: Sequence[Any], left_overs: Sequence[Any]) -> Kernel:
    """Algorithm 3 as printed: samples are joined to O, and the union is not assigned."""
    return lambda histogram: {(0,) * len(components[0]): Fraction(1)}


def _shared_only(components: Sequence[Any], left_overs: Sequence[Any]) -> Kernel:
    """The loop over the components assigns, that over the left-overs does not."""
    kernel = general_clone_map(components, left_overs)

    def without(histogram: Tally) -> Any:
        return kernel((*histogram[:-1], 0))

    return without


def _check_output(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """What the algorithm makes of the pair of the standard clone, against the messages; n <= 3, in rationals."""
    for label, channel in named_channels(("rr", {"lam": 3}), ("krr", {"lam": 2, "k": 3})):
        clone = standard_clone(channel, PAIR)
        for background in ((), (1,), (0, channel.num_inputs - 1)):
            kernel = statement(clone.components, [clone.left_over(channel.rows[x]) for x in background])
            for x, law in zip(PAIR, clone.reduction_pair().histogram_laws(len(background) + 1), strict=True):
                messages = shuffled_law(channel, (x, *background))
                yield same_law(push_forward(law, kernel), messages, at=f"{label}, dataset {(x, *background)}")


# -- Algorithm 7 at the length of the rounded law


def _check_wrapped(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Two mechanisms, two steps, n <= 4: the exact divergence is at most what Algorithm 7 returns; in rationals."""
    for label, channel in named_channels(("rr", {"lam": 2}), ("krr", {"lam": 3, "k": 4})):
        law = primary_decomposition(channel, PAIR).reduction_pair().gparv(Fraction(3, 2))
        atoms: list[tuple[Any, Any]] = list(law.atoms())
        for n, step in itertools.product((1, 2, 3, 4), (Fraction(1, 2), Fraction(1, 5))):
            at = f"{label}, exp(eps)=3/2, n={n}, l={step}"
            yield compare(Exact().bracket(law, n).exact, returned(statement, atoms, n, step), "<=", at=at)


# -- Appendix A.1 and A.4

RATIO: Final = Fraction(4)


def _hashed(lam: Fraction, size: int, constant: bool, *, functions: int | None = None) -> Fraction:
    """Mass of the blanket at (h, y): h constant and equal to y, or not; over ``functions`` many functions."""
    gamma = 2 / (1 + lam) + (lam - 1) / (Fraction(2) ** (size - 1) * (1 + lam))
    number: int = 2**size if functions is None else functions
    above = lam if constant else Fraction(1)
    return above / ((1 + lam) * gamma * number)


def _check_hashed(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Binary local hashing of two and three inputs, written out: the blanket at every output, and its total."""
    for size in (2, 3):
        channel = explicit("BLH", RATIO, size)
        outputs = list(itertools.product(itertools.product((0, 1), repeat=size), (0, 1)))
        claimed = [statement(RATIO, size, set(h) == {y}) for h, y in outputs]
        yield compare(sum(claimed, Fraction(0)), Fraction(1), at=f"total of omega, D={size}, lam={RATIO}")
        omega: Any = privacy_blanket(channel).omega
        for (h, y), mass, stated in zip(outputs, omega, claimed, strict=True):
            yield compare(mass, stated, at=f"omega at h={h}, y={y}, D={size}, lam={RATIO}")


def _low_at_one(first: int, second: int, output: int) -> tuple[int, int]:
    """Which of the pair's probabilities are above the infimum, for y > 0 where the product of the bits is 0."""
    return (1 - first, 1 - second) if output else (0, 0)


def _check_hadamard(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Hadamard response of three and seven inputs, written out: who is above the infimum at every output."""
    for order in (4, 8):
        channel = explicit("HR", RATIO, order)  # row i is that of the input i + 1
        sets: dict[tuple[int, ...], int] = {}
        for y, column in enumerate(channel.columns()):
            masses: list[Any] = list(column)
            found = tuple(int(masses[x] > min(masses)) for x in PAIR)
            bits = (((x + 1) & y).bit_count() % 2 for x in PAIR)
            yield compare(found, statement(*bits, y), at=f"D={order}, inputs 1 and 2, y={y}: above the infimum")
            sets[found] = sets.get(found, 0) + 1
        sizes = tuple(sets.get(key, 0) for key in ((1, 0), (0, 1), (1, 1), (0, 0)))
        quarter = order // 4
        claimed = (quarter, quarter, quarter - 1, quarter + 1)
        yield from serving("sizes", [compare(sizes, claimed, at=f"D={order}: sizes of the sets")])


def _check_order(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """Hadamard response of three and seven inputs: gamma, and Appendix A.4's formula at the stated D."""
    for order in (4, 8):
        channel = explicit("HR", RATIO, order)
        size = statement(channel.num_inputs)
        claimed = 2 / (1 + RATIO) + 2 * (RATIO - 1) / ((1 + RATIO) * size)
        yield compare(privacy_blanket(channel).gamma, claimed, at=f"{channel.num_inputs} inputs, lam={RATIO}: gamma")


CLAIMS: Final[Sequence[Claim]] = (
    refuted(
        "algorithm-3-returns-nothing",
        "what Algorithm 3 returns",
        (
            Clause(
                "said",
                r"Algorithm 3 starts with $O\leftarrow\emptyset$, has lines $O\cup\{s\mid s\sim Q\}$ without an "
                "assignment, and returns $O$: the empty set.",
            ),
            Clause("one user", "For one user the message is a sample of $R(x_1^0)$."),
        ),
        _nothing,
        general_clone_map,
        correction=r"With $O\leftarrow O\cup\{s\}$, a multiset, as in Algorithms 2 and 5, it maps the pair to "
        r"the messages.",
        source="decomposition, Algorithm 3",
        assumptions=(),
        scope="the standard clone of two mechanisms, n <= 3",
        check=_check_output,
        controls=(Control("left-overs are not assigned", _shared_only),),
        erratum=Erratum(
            "wording",
            "granted",
            "A missing assignment; the text before it says what is meant.",
            quote="lines O cup {s | s ~ Q} of Algorithm 3",
        ),
        obligations=for_all("components", "left_overs", clause=("said", "one user")),
    ),
    refuted(
        "wrapped-sum",
        "how long the transforms of Algorithm 7 have to be",
        (
            Clause("said", r"Algorithm 7 takes the power of the transform of $\bar G$ and transforms back.", "quoted"),
            Clause(
                "circular",
                r"At the length of $\bar G$ that is a circular convolution, and the result is no upper bound, "
                "against the paragraph on correctness.",
            ),
            Clause(
                "instance", r"Binary response, $e^{\varepsilon_0}=2$, $e^\varepsilon=\frac32$, in steps of $\frac12$."
            ),
            Clause("length", "No length is given.", "quoted"),
        ),
        partial(algorithm_7, padded=False),
        algorithm_7,
        correction=r"At a length of at least $n(\max\bar G-\min\bar G)/l+1$ it is an upper bound (claim "
        r"decomposition.alg-7).",
        source="decomposition, Algorithm 7 and the paragraph on correctness, Section 5.2",
        assumptions=("exact arithmetic",),
        scope="two mechanisms, two steps, n <= 4",
        check=_check_wrapped,
        controls=(Control("atoms rounded down", partial(algorithm_7, up=False)),),
        erratum=Erratum(
            "hypothesis",
            "reading",
            "The comment asks for the n-fold convolution, and the stated cost is that of transforms as long as it.",
            quote="Calculate the optimal privacy amplification bound via FFT",
        ),
        obligations=for_all("whole", "part", "low", "high", "n", "padded", "up", clause=("circular", "instance")),
    ),
    refuted(
        "hash-blanket",
        "the blanket of binary local hashing",
        (
            Clause(
                "said",
                r"Appendix A.1 gives the blanket the masses $\frac1{\gamma(1+e^{\varepsilon_0})}$ and "
                r"$\frac{e^{\varepsilon_0}}{\gamma(1+e^{\varepsilon_0})}$.",
            ),
            Clause("total", "They have total $|H|=2^D$."),
            Clause("factor", r"The infima above the display have the factor $\frac1{|H|}$."),
        ),
        partial(_hashed, functions=1),
        _hashed,
        correction=r"Both masses are $\frac1{|H|}$ times those printed.",
        source="decomposition, Appendix A.1, display of omega",
        assumptions=(),
        scope="D = 2 and 3 at one budget, every output",
        check=_check_hashed,
        controls=(
            Control(
                "one function fewer", lambda lam, size, constant: _hashed(lam, size, constant, functions=2**size - 1)
            ),
        ),
        erratum=Erratum(
            "wording",
            "granted",
            "A factor lost in one display; gamma and Table 2 have it.",
            quote="the display of omega in Appendix A.1",
        ),
        obligations=for_all("lam", "size", "constant", "functions", clause=("said", "total", "factor")),
    ),
    finding(
        "hadamard-sets",
        "the sets S of Hadamard response",
        (
            Clause(
                "sets",
                r"From the definition $H_{x,y}=(-1)^{x\odot y}$: $S_{e^{\varepsilon_0},1}=\{x_1^0\odot y=0,\ "
                r"x_1^1\odot y=1\}$ and so on, with $y=0$ in $S_{1,1}$.",
            ),
            Clause("sizes", r"The sizes are $\frac D4,\frac D4,\frac D4-1,\frac D4+1$."),
            Clause(
                "row",
                "From them the row of Table 2 has the weights of claim decomposition.table-2, whose erratum "
                "comes from the exchange of 0 and 1 in the sets of Appendix A.4.",
                "quoted",
            ),
        ),
        _low_at_one,
        lambda first, second, output: (first, second),
        source="decomposition, Appendix A.4",
        assumptions=("inputs 1 and 2",),
        scope="D = 4 and 8, every output",
        check=_check_hadamard,
        controls=(Control("y = 0 not set apart", lambda first, second, output: (1 - first, 1 - second)),),
        obligations=(*for_all("first", "second", "output", clause="sets"), *by_cases("sizes", clause="sizes")),
    ),
    finding(
        "hadamard-order",
        "the domain of Hadamard response",
        (
            Clause(
                "order", "In the row of Hadamard response in Table 2, $D$ is the order of the matrix, for $D-1$ inputs."
            ),
            Clause("footnote", "The footnote of Appendix A.4 excludes the input 0.", "quoted"),
        ),
        lambda inputs: inputs + 1,
        lambda inputs: inputs,
        source="decomposition, Table 2, caption; Appendix A.4",
        assumptions=("all rows but that of 0 are inputs",),
        scope="three and seven inputs at one budget",
        check=_check_order,
        controls=(Control("two inputs excluded", lambda inputs: inputs + 2),),
        obligations=for_all("inputs", clause="order"),
    ),
)
