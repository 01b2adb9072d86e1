r"""The likelihood ratio of a canonical pair as a random variable: the whole of its privacy.

The canonical pair for inputs ``(a, b)``: under P all ``n`` users hold ``a``, under Q one of them holds ``b``; the
histogram of their messages is published. With :math:`g=W_b/W_a` its likelihood ratio is the average
:math:`L_n=\frac1n\sum_i g(Y_i)`, so the law of :math:`g` under :math:`W_a` decides every divergence, at every ``n``
(alphabets, Theorem 3.2 and Corollary 3.3). It is the contamination pair of
:mod:`symshuffle.utility.frontiers.envelope`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

import flint

from symshuffle.base.choices import Question, Rigour, choice
from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_target
from symshuffle.base.numbers import (
    Ball,
    Number,
    Verdict,
    as_integer,
    enclose,
    equal,
    is_enclosed,
    is_exact,
    less,
    lower_end,
    maximum,
    minimum,
    sums_to_one,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.decompositions.symbolic import counted_decomposition, evaluate_atom
from symshuffle.mechanisms.model import Mechanism
from symshuffle.utility.frontiers.contamination import Contamination, ratio_law, shuffled_leakage

_ONE: Final = Fraction(1)


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
    >>> ratio.chi_square, ratio.profile(2, exp_eps="6/5", direction="forward", rigour=Rigour.EXACT).exact
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
        mean = exact_sum(v * w for v, w in self._atoms())
        if equal(mean, 1) is Verdict.FALSE:
            raise InputError("mean", mean, "1, since both rows are probabilities")

    @classmethod
    def from_atoms(cls, atoms: Iterable[tuple[Any, Any]]) -> LikelihoodRatio:
        """Law from (ratio, weight) pairs, in rising order of the ratio.

        Pairs of weight 0 are dropped, and the weights of equal ratios added.
        """
        law = Law.from_atoms(atoms)
        ordered = sorted(law.atoms(), key=lambda atom: (lower_end(atom[0]), lower_end(atom[1])))
        return cls(tuple(value for value, _ in ordered), tuple(weight for _, weight in ordered))

    @classmethod
    def of(cls, channel: Channel, a: int, b: int) -> LikelihoodRatio:
        """The law of ``W_b / W_a`` under ``W_a``.

        Raises
        ------
        InputError
            If an output has positive probability under only one of the two rows; the message names it.
        """
        a, b = _pair(channel, a, b)
        require_common_support(channel.restrict((a, b)))
        return cls.from_atoms(ratio_law(channel, b, a).atoms())

    @classmethod
    def of_mechanism(cls, mechanism: Mechanism, *, bits: int | None = None) -> LikelihoodRatio:
        """Law of a mechanism at its pair of inputs, in closed form.

        The cost does not depend on the number of inputs.

        Examples
        --------
        >>> from symshuffle import mechanism
        >>> LikelihoodRatio.of_mechanism(mechanism("krr").at(k=10**9, lam=3)).chi_square
        Fraction(8, 1500000003)
        """
        cells = counted_decomposition(mechanism, others="second").cells
        for cell in cells:
            if cell.ratios is None or cell.a == 0:
                raise InputError("mechanism", mechanism.name, "one whose two rows have the same support")
        return cls.from_atoms(
            (evaluate_atom(cell.ratios[0], bits), evaluate_atom(cell.c, bits)) for cell in cells if cell.ratios
        )

    def _atoms(self) -> Iterable[tuple[Any, Any]]:
        return zip(self.values, self.weights, strict=True)

    def atoms(self) -> tuple[tuple[Number, Number], ...]:
        """Pairs (ratio, probability)."""
        return tuple(self._atoms())

    @property
    def exact(self) -> bool:
        """Whether all numbers are rational."""
        return is_exact((*self.values, *self.weights))

    @property
    def law(self) -> Law:
        """The same as a :class:`symshuffle.Law`.

        That is what :func:`symshuffle.utility.frontiers.contamination.ratio_law` gives.
        """
        return Law(self.values, self.weights)

    @property
    def chi_square(self) -> Any:
        r"""Divergence :math:`\chi^2(W_b\Vert W_a)`, the variance of the ratio.

        alphabets, Definition 2.3.
        """
        return exact_sum((v - 1) * (v - 1) * w for v, w in self._atoms())

    @property
    def third_absolute_moment(self) -> Any:
        r"""The moment :math:`E|g-1|^3`."""
        return exact_sum(abs_number(v - 1) * (v - 1) * (v - 1) * w for v, w in self._atoms())

    @property
    def wasserstein_to_one(self) -> Any:
        """Wasserstein-1 distance to the point mass at 1, :math:`E|g-1|`.

        It is twice the total variation distance of the two rows.
        """
        return exact_sum(abs_number(v - 1) * w for v, w in self._atoms())

    @property
    def active(self) -> Any:
        """Probability that the ratio is not 1."""
        return exact_sum(w for v, w in self._atoms() if equal(v, 1) is not Verdict.TRUE)

    @property
    def cap(self) -> Any:
        """The smallest ``lam`` with all ratios in ``[1/lam, lam]``."""
        return maximum([_ONE, maximum(self.values), 1 / minimum(self.values)])

    def reverse(self) -> LikelihoodRatio:
        """Law of the reversed pair, :math:`W_a/W_b` under :math:`W_b`.

        Weights are multiplied by the ratio, and ratios inverted.
        """
        return LikelihoodRatio.from_atoms((1 / v, v * w) for v, w in self._atoms())

    def dilute(self, eta: Fraction) -> LikelihoodRatio:
        """Mixture ``eta * law + (1 - eta) * (point mass at 1)``.

        alphabets, Corollary 7.3.

        Raises
        ------
        InputError
            If ``eta`` is outside [0, 1].
        """
        check_share("eta", eta)
        return LikelihoodRatio.from_atoms([*((v, eta * w) for v, w in self._atoms()), (_ONE, 1 - eta)])

    def profile(
        self,
        n: int,
        *,
        exp_eps: object = None,
        eps: object = None,
        direction: Question | str = Question.BOTH,
        rigour: Rigour | str = Rigour.FLOAT64,
        rel: float = 1e-6,
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
        rigour, rel
            As in :func:`symshuffle.accountants.bounds.evaluate.evaluate_law`.
        """
        question = choice(Question, direction, "direction")
        target = read_target(eps=eps, exp_eps=exp_eps)
        gamma: Number = target if isinstance(target, Fraction) else enclose(target)
        found = [
            shuffled_leakage(self.law, Contamination(n, way), gamma=gamma, rigour=rigour, rel=rel).bracket
            for way in question.directions
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
    """Check that every output is impossible at all inputs or possible at all of them.

    alphabets, Lemma 2.2.
    """
    for y, column in enumerate(channel.columns()):
        possible = [less(0, entry) for entry in column]
        if any(one is Verdict.UNDECIDED for one in possible):
            raise InputError(f"output {y}", list(map(str, column)), "probabilities that are certainly 0 or positive")
        if len(set(possible)) > 1:
            raise InputError(f"output {y}", list(map(str, column)), "0 at every input or at none (a finite eps0)")


def exact_sum(terms: Iterable[Any]) -> Any:
    """The sum of many rationals by halves, so that common denominators grow once; balls add up from the left."""
    items = list(terms)
    if not is_exact(items):
        return sum(items, start=Fraction(0))
    numbers = [flint.fmpq(term.numerator, term.denominator) for term in items] or [flint.fmpq(0)]
    while len(numbers) > 1:
        pairs = [x + y for x, y in zip(numbers[::2], numbers[1::2], strict=False)]
        numbers = pairs + numbers[len(numbers) & ~1 :]
    return Fraction(int(numbers[0].p), int(numbers[0].q))


def abs_number(value: Any) -> Any:
    """The absolute value of a rational or a ball."""
    if isinstance(value, Ball):
        low = Fraction(0) if value.lower <= 0 <= value.upper else min(abs(value.lower), abs(value.upper))
        return Ball(low, max(abs(value.lower), abs(value.upper)), value.bits)
    return abs(value)


def check_share(name: str, value: Any) -> None:
    """Check a weight in [0, 1]."""
    if isinstance(value, float) or less(value, 0) is Verdict.TRUE or less(1, value) is Verdict.TRUE:
        raise InputError(name, value, "a rational or ball in [0, 1]")


def _pair(channel: Channel, a: int, b: int) -> Sequence[int]:
    return [as_integer(x, name, 0, channel.num_inputs - 1) for name, x in (("a", a), ("b", b))]
