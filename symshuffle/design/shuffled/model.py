"""What the search for the best channel after shuffling returns, and block designs that need few messages."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import product
from typing import TYPE_CHECKING, Any, Final, final

import flint

from symshuffle.accountants.deployment.reduced import LawFamily, PairClass, Reduction
from symshuffle.base.choices import Loss, Others
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Exp, Real, as_integer, exact_text, format_decimal
from symshuffle.base.results import MOST_DIGITS, FirstLines
from symshuffle.decompositions.calculated import Cell, calculated_cell, calculated_law
from symshuffle.decompositions.closed_forms import constant_datasets
from symshuffle.design.shuffled.search import ratio_of, trace_of
from symshuffle.mechanisms.members import ANY_TWO
from symshuffle.utility.estimation.canonical import isotropic_risk
from symshuffle.utility.frontiers.orbit import Orbit, orbit_mechanism, subset_orbit

if TYPE_CHECKING:
    from symshuffle.accountants.bounds.answers import Answer
    from symshuffle.channels.channel import Channel
    from symshuffle.design.shuffled.minorant import TraceBound
    from symshuffle.mechanisms.model import Mechanism


@final
@dataclass(frozen=True, slots=True)
class BlockDesign:
    r"""A projective space as a 2-design, for a channel that names hyperplanes.

    There are :math:`(q^{d+1}-1)/(q-1)` points and as many hyperplanes, and any two points lie in equally many.
    Only pairs of inputs and the minimum of a template enter the trace and the law of G, so both are those of subset
    selection: the same certified bound. Real pairs of datasets involve triples of inputs and may differ.

    - ``q``, ``dimension``: prime order of the field, and dimension of the space, at least 2.
    - ``ratio``: likelihood ratio of the channel.

    Examples
    --------
    >>> fano = BlockDesign(2, 2)
    >>> fano.points, fano.size, fano.bits
    (7, 3, 3)
    """

    q: int
    dimension: int
    ratio: Fraction = Fraction(1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimension", as_integer(self.dimension, "dimension", 2))
        object.__setattr__(self, "q", as_integer(self.q, "q", 2))
        if not flint.fmpz(self.q).is_prime():
            raise InputError("q", self.q, "a prime")

    @property
    def points(self) -> int:
        """Number of points, which is the number of blocks as well: inputs of the channel, padded."""
        return sum(self.q**j for j in range(self.dimension + 1))

    @property
    def size(self) -> int:
        """Points of a block."""
        return sum(self.q**j for j in range(self.dimension))

    @property
    def bits(self) -> int:
        """Bits of a message, which names a block."""
        return (self.points - 1).bit_length()

    def blocks(self, *, most: int = 2000) -> tuple[tuple[int, ...], ...]:
        """Points of each block, ascending; points are numbered from 0.

        - ``most``: points up to which the blocks of a design are listed.
        """
        if self.points > most:
            raise Unsupported(f"{self.points} points: blocks are listed up to {most} points")
        # Vectors whose first entry that is not 0 is 1.
        points = [
            (0,) * zeros + (1, *rest)
            for zeros in range(self.dimension, -1, -1)
            for rest in itertools.product(range(self.q), repeat=self.dimension - zeros)
        ]
        return tuple(
            tuple(i for i, x in enumerate(points) if sum(a * b for a, b in zip(x, y, strict=True)) % self.q == 0)
            for y in points
        )

    def risk(self, n: int) -> Fraction:
        """Canonical l2 risk of the channel at n users, over all points."""
        return fixed_risk(self.points, subset_orbit(self.points, self.size, self.ratio).signal, n)

    def channel(self) -> Channel:
        """The explicit channel: one row per point, one column per block."""
        from symshuffle.channels.channel import Channel

        low = 1 / (self.size * self.ratio + self.points - self.size)
        held = [frozenset(block) for block in self.blocks()]
        return Channel(
            tuple(tuple(low * self.ratio if x in block else low for block in held) for x in range(self.points))
        )

    def to_dict(self, n: int) -> dict[str, Any]:
        """JSON-ready, with the risk at n users."""
        return {
            "padded_k": self.points,
            "s": self.size,
            "b": self.points,
            "q": self.q,
            "ratio": exact_text(self.ratio),
            "risk": exact_text(self.risk(n)),
            "bits": self.bits,
            "bound": "same certified bound as subset selection; attained pairs may differ",
        }


def block_designs(k: int, *, padding: int = 4) -> tuple[BlockDesign, ...]:
    """Projective spaces with k to 4k points, by number; those beyond the first k are categories that nobody holds.

    Examples
    --------
    >>> [(one.points, one.size) for one in block_designs(10)]
    [(13, 4), (15, 7), (31, 15), (31, 6), (40, 13)]
    """
    k = as_integer(k, "k", 2)
    found = []
    q = 2
    while 1 + q + q * q <= padding * k:
        if flint.fmpz(q).is_prime():
            dimension = 2
            while (one := BlockDesign(q, dimension)).points <= padding * k:
                if one.points >= k:
                    found.append(one)
                dimension += 1
        q += 1
    return tuple(sorted(found, key=lambda one: (one.points, one.q)))


NO_UPPER: Final = "no upper end"


def fixed_risk(k: int, trace: Fraction, n: int) -> Fraction:
    """Canonical l2 risk of a channel of k inputs and a trace, the same at every fixed composition of n users."""
    return Fraction(isotropic_risk(k, trace, population="fixed")) / n


@final
@dataclass(frozen=True, slots=True)
class ShuffledDesign:
    """A channel that meets a central target, found among mixtures of orbits by a local search.

    - ``orbits``: the channel: a mixture of orbits of templates.
    - ``upper``: largest trace of an exchangeable channel with ratios at most ``lam_cap`` that meets the target by the
      certified bound: it is at most this. None without a cap.
    - ``bound``: the proof of ``upper``; None where ``upper`` is the largest trace under the cap alone, or None.
    """

    k: int
    n: int
    exp_eps: Real
    target: Fraction
    lam_cap: Fraction | None
    loss: Loss
    orbits: tuple[Orbit, ...]
    size: int
    delta: Answer
    epsilon: Answer
    blocks: BlockDesign | None
    upper: Fraction | None
    bound: TraceBound | None

    @property
    def about(self) -> str:
        """What the answer speaks about: the class of channels, and that the search is local."""
        cap = "" if self.lam_cap is None else f" with likelihood ratios at most {self.lam_cap}"
        return f"exchangeable channels{cap}; local search over mixtures of orbits"

    @property
    def lines(self) -> FirstLines:
        """First lines of the design: risk and eps, protected users, assumptions, evidence."""
        risk = format_decimal(self.risk, digits=MOST_DIGITS, up=True)
        privacy = self.epsilon.lines
        worse = "" if self.useful else ", worse than always answering uniform"
        other = (
            "no exchangeable channel that meets the target by this bound has a risk below "
            f"{format_decimal(self.least_risk, digits=4, up=False)}"
            if self.least_risk is not None
            else "a better channel is not excluded"
        )
        return FirstLines(
            "risk",
            f"<= {risk} (upper end, rounded up; sum of squared errors{worse}); eps {privacy.number}",
            protects=privacy.protects,
            assumes=privacy.assumes,
            sure=f"eps: {privacy.sure}; the risk is exact; the channel was found by a local search, and {other}",
        )

    @property
    def trace(self) -> Fraction:
        """Trace of the template's covariance, exact."""
        return trace_of(self.orbits)

    @property
    def ratio(self) -> Fraction | float:
        """Largest likelihood ratio of the channel: it is log(ratio)-LDP."""
        return ratio_of(self.orbits)

    @property
    def risk(self) -> Fraction:
        """Exact canonical l2 risk (sum of squared errors of the shares), the same at every fixed composition."""
        return fixed_risk(self.k, self.trace, self.n)

    @property
    def least_risk(self) -> Fraction | None:
        """Lower bound on the risk of every channel of the class that meets the target; None without a cap."""
        return None if self.upper is None else fixed_risk(self.k, self.upper, self.n)

    @property
    def useful(self) -> bool:
        """Whether the risk is below 1 - 1/k, the largest risk of always answering "uniform"."""
        return self.risk < 1 - Fraction(1, self.k)

    @property
    def bits(self) -> int:
        """Bits that name an output."""
        outputs = 0
        for orbit in self.orbits:
            counts = [count for count, _ in orbit.levels]
            outputs += math.prod(map(math.comb, itertools.accumulate(counts), counts))
        return (outputs - 1).bit_length()

    def mechanism(self) -> Mechanism:
        """The mechanism, for :func:`symshuffle.delta` and its like."""
        return orbit_mechanism(self.orbits)

    def channel(self) -> Channel:
        """The explicit channel."""
        return self.mechanism().channel()

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready: parameters, risk, both privacy numbers, message length, blocks; rationals are strings."""
        attained = self.epsilon.attained
        return {
            "about": self.about,
            "k": self.k,
            "n": self.n,
            "eps": str(self.exp_eps.exponent) if isinstance(self.exp_eps, Exp) else None,
            "exp_eps": None if isinstance(self.exp_eps, Exp) else str(self.exp_eps),
            "delta": exact_text(self.target),
            "lam_cap": None if self.lam_cap is None else exact_text(self.lam_cap),
            "loss": self.loss,
            "orbits": [
                {
                    "weight": exact_text(orbit.weight),
                    "levels": [[count, exact_text(value)] for count, value in orbit.levels],
                }
                for orbit in self.orbits
            ],
            "subset_size": self.size,
            "ratio": str(self.ratio) if isinstance(self.ratio, float) else exact_text(self.ratio),
            "trace": exact_text(self.trace),
            "risk": exact_text(self.risk),
            "uniform_risk": str(1 - Fraction(1, self.k)),
            "useful": self.useful,
            "certified_delta": format_decimal(self.delta.bracket.upper, up=True),
            "certified_eps": format_decimal(self.epsilon.bracket.upper, up=True),
            "attained_eps": None if attained is None else format_decimal(attained.lower, up=False),
            "attained_by": None if attained is None else attained.datasets,
            "bits": self.bits,
            "blocks": None if self.blocks is None else self.blocks.to_dict(self.n),
            "upper": NO_UPPER if self.upper is None else exact_text(self.upper),
            "least_risk": None if self.least_risk is None else exact_text(self.least_risk),
            "certificate": None if self.bound is None else self.bound.to_dict(),
        }

    def _repr_html_(self) -> str:
        rows = {
            "about": self.about,
            "risk": format_decimal(self.risk, digits=MOST_DIGITS, up=True),
            "ratio": f"{float(self.ratio):.6g}",
            "certified eps": format_decimal(self.epsilon.bracket.upper, digits=MOST_DIGITS, up=True),
            "bits of a message": str(self.bits),
        }
        body = "".join(f"<tr><th>{name}</th><td>{value}</td></tr>" for name, value in rows.items())
        return f"<table>{body}</table>"


def orbit_reduction(orbits: Sequence[Orbit]) -> Reduction:
    """Reduction of a mixture of orbits, that of ``orbit_mechanism``: one class of pairs, all others alike."""
    k = sum(count for count, _ in orbits[0].levels)
    real: tuple[Others, ...] = ("third", "second", "first") if k > 2 else ("second", "first")

    def family(others: Others) -> LawFamily:
        cells = tuple(_cells(orbits, k, others))
        return lambda x, way, bits: calculated_law(cells, {}, x, way, bits=bits)

    def datasets() -> tuple[PairClass, ...]:
        return tuple(PairClass.real(partial(constant_datasets, others), family(others)) for others in real)

    only = PairClass(ANY_TWO, family("blanket"), datasets=datasets)
    return Reduction((only,), True, pairs=ANY_TWO)


def _cells(orbits: Sequence[Orbit], k: int, others: Others) -> Iterator[Cell]:
    """Cells of inputs 0 and 1 over what the others hold; over the blanket the left-over comes last."""
    known: dict[Others, tuple[int, ...]] = {"blanket": (), "first": (0,), "second": (1,), "third": (2,)}
    held, rest = known[others], Fraction(1)
    roles = max((1, *held)) + 1
    for orbit in orbits:
        low = orbit.weight * min(value for _, value in orbit.levels)
        rest -= low
        for levels in product(range(len(orbit.levels)), repeat=roles):
            share = Fraction(_placements(orbit, levels), math.perm(k, roles))
            if share:
                a, b, *third = (share * orbit.weight * orbit.levels[level][1] for level in levels)
                c = (a, b, *third)[held[0]] if held else share * low
                yield calculated_cell(str(a), str(b), str(c), (str(a / c), str(b / c)) if c else None)
    if not held:
        yield calculated_cell("0", "0", str(rest), ("0", "0"))


def _placements(orbit: Orbit, levels: Sequence[int]) -> int:
    """Number of ways to choose different coordinates in some levels, one for each."""
    return math.prod(math.perm(count, levels.count(i)) for i, (count, _) in enumerate(orbit.levels))
