"""The likelihood ratio :math:`g=W_b/W_a` of a canonical pair: its law, and the outputs merged by its value.

Under P all ``n`` users hold ``a``, under Q one of them holds ``b``. The likelihood ratio of the shuffled messages is
the average of ``g`` over them, so that the law of ``g`` under :math:`W_a` decides every divergence at every ``n``
(alphabets, Theorem 3.2 and Corollary 3.3). Level sets are found by exact comparison; in balls outputs stay apart.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, final

from symshuffle.base.choices import DIRECTIONS, Arithmetic, Question, choice
from symshuffle.base.errors import CertificateError, InputError, Unsupported
from symshuffle.base.levels import read_target
from symshuffle.base.numbers import (
    Ball,
    Number,
    Verdict,
    as_integer,
    enclose,
    equal,
    exact_sum,
    is_enclosed,
    is_exact,
    less,
    lower_end,
    maximum,
    minimum,
    parse_number,
    sums_to_one,
)
from symshuffle.base.results import Bracket, well_formed
from symshuffle.channels.channel import Channel, check_channel
from symshuffle.channels.law import Law
from symshuffle.decompositions.symbolic import counted_decomposition, evaluate_atom
from symshuffle.mechanisms.model import Mechanism
from symshuffle.utility.frontiers.contamination import Contamination, ratio_law, shuffled_leakage


@final
@dataclass(frozen=True, slots=True)
class LikelihoodRatio:
    """Finitely supported law of the likelihood ratio of two rows, of mean 1.

    It is the law of :math:`g=W_b/W_a` under :math:`W_a`, which is positive.

    Parameters
    ----------
    values : tuple of Number
        The distinct ratios, rising; fractions or balls.
    weights : tuple of Number
        Their probabilities, positive, of sum 1.

    Raises
    ------
    InputError
        If an entry is a double, a ratio or weight is not positive, the weights do not sum to 1, or the mean is not 1.

    Notes
    -----
    alphabets, Corollary 3.3. Two rational laws are equal (``==``) exactly if the canonical experiments are.

    Examples
    --------
    >>> W = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> ratio = LikelihoodRatio.of(W, 0, 1)
    >>> ratio.chi_square, ratio.profile(2, exp_eps="6/5", direction="forward", arithmetic="exact").exact
    (Fraction(4, 3), Fraction(23, 80))
    """

    values: tuple[Number, ...]
    weights: tuple[Number, ...]

    def __post_init__(self) -> None:
        if not self.values or len(self.values) != len(self.weights):
            raise InputError("atoms", f"{len(self.values)} ratios, {len(self.weights)} weights", "as many, at least 1")
        if not is_enclosed((*self.values, *self.weights)):
            raise InputError("atoms", "doubles", "rationals or balls (a double has no exact level set)")
        for name, numbers in (("values", self.values), ("weights", self.weights)):
            for entry in numbers:
                if less(0, entry) is Verdict.FALSE:
                    raise InputError(name, entry, "positive numbers (rows of one support have finite ratios)")
        if not sums_to_one(self.weights):
            raise InputError("weights", f"sum {exact_sum(self.weights)}", "probabilities of sum 1")
        mean = exact_sum(v * w for v, w in self.atoms())
        if equal(mean, 1) is Verdict.FALSE:
            raise InputError("mean", mean, "1, since both rows are probabilities")

    @classmethod
    def from_atoms(cls, atoms: Iterable[tuple[Any, Any]]) -> LikelihoodRatio:
        """Law from (ratio, weight) pairs in any order; pairs of weight 0 are dropped, those of equal ratios merged."""
        law = Law.from_atoms(atoms)
        ordered = sorted(law.atoms(), key=lambda atom: (lower_end(atom[0]), lower_end(atom[1])))
        return cls(tuple(value for value, _ in ordered), tuple(weight for _, weight in ordered))

    @classmethod
    def of(cls, channel: Channel, a: int, b: int) -> LikelihoodRatio:
        """The law of ``W_b / W_a`` under ``W_a``; an output that only one of the rows can send is refused by name."""
        check_channel(channel)
        a, b = (as_integer(x, name, 0, channel.num_inputs - 1) for name, x in (("a", a), ("b", b)))
        require_common_support(channel.restrict((a, b)))
        return cls.from_atoms(ratio_law(channel, b, a).atoms())

    @classmethod
    def of_mechanism(cls, mechanism: Mechanism, *, bits: int | None = None) -> LikelihoodRatio:
        """Law of a mechanism at its pair of inputs, in closed form at the same cost for every number of inputs."""
        cells = counted_decomposition(mechanism, others="second").cells
        for cell in cells:
            if cell.ratios is None or cell.a == 0:
                raise InputError("mechanism", mechanism.name, "one whose two rows have the same support")
        return cls.from_atoms(
            (evaluate_atom(cell.ratios[0], bits), evaluate_atom(cell.c, bits)) for cell in cells if cell.ratios
        )

    def atoms(self) -> tuple[tuple[Any, Any], ...]:
        """Pairs (ratio, probability)."""
        return tuple(zip(self.values, self.weights, strict=True))

    @property
    def exact(self) -> bool:
        """Whether all numbers are rational."""
        return is_exact((*self.values, *self.weights))

    @property
    def law(self) -> Law:
        """The same as a :class:`symshuffle.Law`."""
        return Law(self.values, self.weights)

    @property
    def chi_square(self) -> Any:
        r"""Divergence :math:`\chi^2(W_b\Vert W_a)`, the variance of the ratio (alphabets, Definition 2.3)."""
        return exact_sum((v - 1) * (v - 1) * w for v, w in self.atoms())

    @property
    def third_absolute_moment(self) -> Any:
        r"""The moment :math:`E|g-1|^3`."""
        return exact_sum(_distance(v) * (v - 1) * (v - 1) * w for v, w in self.atoms())

    @property
    def wasserstein_to_one(self) -> Any:
        """Wasserstein-1 distance :math:`E|g-1|` to the point mass at 1, twice the total variation of the rows."""
        return exact_sum(_distance(v) * w for v, w in self.atoms())

    @property
    def active(self) -> Any:
        """Probability that the ratio is not 1."""
        return exact_sum(w for v, w in self.atoms() if equal(v, 1) is not Verdict.TRUE)

    @property
    def cap(self) -> Any:
        """The smallest ``lam`` with all ratios in ``[1/lam, lam]``."""
        return maximum([Fraction(1), maximum(self.values), 1 / minimum(self.values)])

    def reverse(self) -> LikelihoodRatio:
        """Law of the reversed pair, :math:`W_a/W_b` under :math:`W_b`."""
        return LikelihoodRatio.from_atoms((1 / v, v * w) for v, w in self.atoms())

    def dilute(self, eta: Fraction) -> LikelihoodRatio:
        """Mixture ``eta * law + (1 - eta) * (point mass at 1)``, eta in [0, 1] (alphabets, Corollary 7.3)."""
        eta = parse_number(eta, "eta")  # type: ignore[assignment]  # a ball is welcome
        check_share("eta", eta)
        return LikelihoodRatio.from_atoms([*((v, eta * w) for v, w in self.atoms()), (Fraction(1), 1 - eta)])

    def profile(
        self,
        n: int,
        *,
        exp_eps: object = None,
        eps: object = None,
        direction: Question = "both",
        arithmetic: Arithmetic = "float64",
        rtol: object = 1e-6,
    ) -> Bracket:
        """Hockey-stick divergence of the canonical pair of ``n`` users at one level.

        Parameters
        ----------
        n : int
            Number of users, the differing one included.
        exp_eps, eps : number, text or Exp
            The ratio ``exp(eps) >= 1`` or its logarithm; one of the two.
        direction : {"forward", "reverse", "both"}
            ``forward`` is D(Q || P), with the contaminated dataset first.
        arithmetic, rtol
            As in :func:`symshuffle.accountants.bounds.evaluate.evaluate_law`.
        """
        question = choice(Question, direction, "direction")
        target = read_target(eps=eps, exp_eps=exp_eps)
        gamma: Number = target if isinstance(target, Fraction) else enclose(target)
        found = [
            shuffled_leakage(self.law, Contamination(n, way), gamma=gamma, arithmetic=arithmetic, rtol=rtol).bracket
            for way in DIRECTIONS[question]
        ]
        return max(found, key=lambda bracket: (bracket.upper, bracket.lower))

    def __repr__(self) -> str:
        shown = ", ".join(f"{v}: {w}" for v, w in self.atoms()[:4])
        more = f", ... ({len(self.values)} atoms)" if len(self.values) > 4 else ""
        return f"LikelihoodRatio({shown}{more})"

    def _repr_html_(self) -> str:
        rows = "".join(f"<tr><td>{value}</td><td>{weight}</td></tr>" for value, weight in self.atoms()[:50])
        return f"<table><tr><th>W<sub>b</sub>/W<sub>a</sub></th><th>probability</th></tr>{rows}</table>"


def require_common_support(channel: Channel) -> None:
    """Check that every output is impossible at all inputs or possible at all of them (alphabets, Lemma 2.2)."""
    check_channel(channel)
    for y, column in enumerate(channel.columns()):
        possible = [less(0, entry) for entry in column]
        if any(one is Verdict.UNDECIDED for one in possible):
            raise InputError(f"output {y}", list(map(str, column)), "probabilities that are certainly 0 or positive")
        if len(set(possible)) > 1:
            raise InputError(f"output {y}", list(map(str, column)), "0 at every input or at none (a finite eps0)")


def _distance(ratio: Any) -> Any:
    return maximum([Fraction(0), ratio - 1, 1 - ratio])


def check_share(name: str, value: Any) -> None:
    """Check a weight in [0, 1]."""
    if isinstance(value, float) or less(value, 0) is Verdict.TRUE or less(1, value) is Verdict.TRUE:
        raise InputError(name, value, "a rational or ball in [0, 1]")


@final
@dataclass(frozen=True, slots=True)
class Quotient:
    """The level sets of :math:`g=W_b/W_a`, by rising ratio, of outputs that a row charges (Theorem 3.2)."""

    rows: tuple[tuple[Number, ...], tuple[Number, ...]]
    blocks: tuple[tuple[int, ...], ...]
    ratios: tuple[Number, ...]

    @property
    def masses(self) -> tuple[Any, ...]:
        """The probability ``q_r`` of each block under ``W_a``; under ``W_b`` it is ``r q_r``."""
        return tuple(exact_sum(self.rows[0][y] for y in block) for block in self.blocks)

    @property
    def law(self) -> LikelihoodRatio:
        """The law of the ratio: all that is left of the channel."""
        return LikelihoodRatio.from_atoms(zip(self.ratios, self.masses, strict=True))

    @property
    def channel(self) -> Channel:
        """The two rows after merging, one output per block."""
        return Channel((self.masses, tuple(r * q for r, q in zip(self.ratios, self.masses, strict=True))))

    def kernel(self) -> Iterator[tuple[tuple[int, Any], ...]]:
        r"""The backward kernel, block by block: outputs ``y`` with :math:`K(y\mid r)=W_a(y)/q_r`."""
        base: tuple[Any, ...] = self.rows[0]
        for block, mass in zip(self.blocks, self.masses, strict=True):
            yield tuple((y, base[y] / mass) for y in block)

    def verify(self) -> None:
        """Check sufficiency from the two rows alone: a partition, and a kernel that rebuilds both rows exactly."""
        if any(isinstance(number, Ball) for row in (*self.rows, self.ratios) for number in row):
            raise Unsupported("sufficiency is checked over the rationals; balls cannot be equal")
        self._verify()

    @well_formed()
    def _verify(self) -> None:
        seen = [y for block in self.blocks for y in block]
        charged = [y for y, masses in enumerate(zip(*self.rows, strict=True)) if any(masses)]
        if sorted(seen) != charged:
            raise CertificateError("blocks", f"{seen[:10]} are not the outputs that a row charges, each once")
        if len(set(self.ratios)) != len(self.ratios) or len(self.ratios) != len(self.blocks):
            raise CertificateError("ratios", f"{len(self.ratios)} of {len(self.blocks)} blocks, to be distinct")
        parts = zip(self.ratios, self.masses, self.kernel(), strict=True)
        for i, (r, mass, conditional) in enumerate(parts):
            shares = [share for _, share in conditional]
            if not shares or min(shares) < 0:  # their sum is 1: the masses are the sums over the blocks
                raise CertificateError(f"kernel[{i}]", f"{conditional[:10]} is no distribution on the block")
            for y, share in conditional:
                rebuilt: tuple[Any, Any] = mass * share, r * mass * share
                if rebuilt != (self.rows[0][y], self.rows[1][y]):
                    was = f"{self.rows[0][y]}, {self.rows[1][y]}"
                    raise CertificateError(f"outputs[{y}]", f"rebuilt as {rebuilt[0]}, {rebuilt[1]}; they are {was}")

    def push(self, histogram: tuple[int, ...]) -> tuple[int, ...]:
        """The histogram of blocks of a histogram of outputs."""
        return tuple(sum(histogram[y] for y in block) for block in self.blocks)

    def _repr_html_(self) -> str:
        rows = "".join(
            f"<tr><td>{r}</td><td>{q}</td><td>{len(block)}</td></tr>"
            for r, q, block in list(zip(self.ratios, self.masses, self.blocks, strict=True))[:50]
        )
        return f"<table><tr><th>ratio</th><th>mass under a</th><th>outputs</th></tr>{rows}</table>"


def likelihood_quotient(channel: Channel, a: int, b: int) -> Quotient:
    """Outputs of a channel grouped by the likelihood ratio of two rows.

    Parameters
    ----------
    channel : Channel
        Rational, or in balls; of any number of outputs.
    a, b : int
        The input of the background, and of the differing user.

    Returns
    -------
    Quotient
        Blocks of outputs with equal ratio, in rising order of the ratio. In balls no outputs are merged.

    Raises
    ------
    InputError
        If an entry is a double, or an output has positive probability under one row only (the message names it).

    Examples
    --------
    >>> W = Channel.from_rows([["1/2", "1/4", "1/4"], ["1/4", "1/2", "1/4"]])
    >>> likelihood_quotient(W, 0, 1).blocks
    ((0,), (2,), (1,))
    """
    check_channel(channel)
    a, b = (as_integer(x, name, 0, channel.num_inputs - 1) for name, x in (("a", a), ("b", b)))
    rows = channel.rows[a], channel.rows[b]
    if any(isinstance(entry, float) for row in rows for entry in row):
        raise InputError("channel", "doubles", "rationals or balls: rounding would merge ratios that differ")
    require_common_support(channel.restrict((a, b)))
    groups: dict[object, tuple[Any, list[int]]] = {}
    for y, (base, other) in enumerate(zip(*rows, strict=True)):
        if equal(base, 0):
            continue
        top: Any = other
        ratio = top / base
        groups.setdefault(ratio if isinstance(ratio, Fraction) else y + 0.5, (ratio, []))[1].append(y)
    ordered = sorted(groups.values(), key=lambda group: (lower_end(group[0]), group[1]))
    return Quotient(rows, tuple(tuple(block) for _, block in ordered), tuple(ratio for ratio, _ in ordered))
