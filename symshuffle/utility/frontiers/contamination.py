r"""Divergences of one user against a constant population, from the law of one likelihood ratio.

The experiment is the *contamination pair*: one user holds ``i`` where the other dataset has ``j``, and **all other
users hold** ``j``. For it the shuffled divergence is a functional of one scalar law, the likelihood ratio
:math:`L=W_i/W_j` under :math:`W_j`,

.. math:: E_\gamma(P_n\Vert Q_n)=E(\bar L_n-\gamma)_+,\qquad E_\gamma(Q_n\Vert P_n)=E(1-\gamma\bar L_n)_+

(anchored, Section 4). Other neighbouring datasets are another matter, so every result names its experiment, and
:meth:`Contamination.of` refuses datasets that are not of this form.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar, Final, final

from symshuffle.accountants.bounds.evaluate import check_n, evaluate_law
from symshuffle.base.choices import Direction, Rigour, choice, replace_choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Exp, Number, Verdict, as_integer, enclose, equal, is_exact, less
from symshuffle.base.results import AnswerMethods, Bracket, SafeEnd
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law

_ORDER_BITS: Final = 192
"""Precision of an irrational order."""


@final
@dataclass(frozen=True, slots=True)
class Contamination:
    """Pair of datasets ``(i, j, ..., j)`` and ``(j, ..., j)`` of ``n`` users.

    Parameters
    ----------
    n : int
        Number of users, the differing one included.
    direction : Direction
        Which divergence.
    """

    n: int
    direction: Direction = Direction.FORWARD

    def __post_init__(self) -> None:
        object.__setattr__(self, "n", check_n(self.n))
        replace_choice(Direction, self, "direction")

    @classmethod
    def of(cls, first: Sequence[int], second: Sequence[int]) -> Contamination:
        """The experiment of two datasets, in the order given.

        Raises
        ------
        Unsupported
            If neither dataset is constant, or they do not differ in exactly one user: the envelope is no bound there.
        """
        if len(first) != len(second) or not first:
            raise InputError("datasets", f"{len(first)} and {len(second)} users", "two datasets of the same size")
        for contaminated, constant, direction in (
            (first, second, Direction.FORWARD),
            (second, first, Direction.REVERSE),
        ):
            if len(set(constant)) == 1 and sum(x != constant[0] for x in contaminated) == 1:
                return cls(len(first), direction)
        raise Unsupported(
            "the envelope of anchored, Theorem 4.9 applies to one user against a constant population only; for other "
            "datasets use symshuffle.delta"
        )

    @property
    def datasets(self) -> str:
        """The pair in words."""
        pair = f"one user holds i, the other {self.n - 1} hold j", f"all {self.n} hold j"
        first, second = pair if self.direction is Direction.FORWARD else pair[::-1]
        return f"{first}; against: {second}"


@final
@dataclass(frozen=True, slots=True, repr=False)
class Leakage(AnswerMethods):
    """A divergence of the contamination pair, with what it is a divergence of; its safe end is the upper one."""

    safe: ClassVar[SafeEnd] = SafeEnd.UPPER
    bracket: Bracket
    experiment: Contamination
    meaning: str

    @property
    def about(self) -> str:
        """Which channels and which datasets the number speaks about."""
        return f"{self.meaning}; {self.experiment.datasets}"

    def to_dict(self) -> dict[str, Any]:
        """The answer with its experiment."""
        experiment = {"n": self.experiment.n, "direction": self.experiment.direction.value}
        return AnswerMethods.to_dict(self) | {"experiment": experiment}


def ratio_law(channel: Channel, i: int, j: int) -> Law:
    """Law of the likelihood ratio of row ``i`` to row ``j``, under row ``j``.

    Parameters
    ----------
    channel : Channel
        The local randomizer.
    i, j : int
        Inputs, each from 0 to k - 1.

    Returns
    -------
    Law
        Of :math:`W_i/W_j` under :math:`W_j`; the mass of row ``i`` where row ``j`` has none is the singular mass.

    Raises
    ------
    InputError
        If an input is out of range.

    Examples
    --------
    >>> ratio_law(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]), 0, 1).atoms()
    ((Fraction(3, 1), Fraction(1, 4)), (Fraction(1, 3), Fraction(3, 4)))
    """
    atoms: list[tuple[Any, Any]] = []
    singular: Any = Fraction(0)
    for a, b in zip(*pair_of_rows(channel, i, j).rows, strict=True):
        top: Any = a
        if equal(b, 0):
            singular = singular + top
        else:
            atoms.append((top / b, b))
    return Law.from_atoms(atoms, singular)


def _tested(ratio: Law, gamma: Any, direction: Direction) -> Law:
    """The variable whose average's positive part is the divergence."""
    if direction is Direction.FORWARD:
        return Law.from_atoms(((value - gamma, weight) for value, weight in ratio.atoms()), ratio.singular)
    return Law.from_atoms((1 - value * gamma, weight) for value, weight in ratio.atoms())


def shuffled_leakage(
    ratio: Law,
    experiment: Contamination,
    *,
    gamma: Number | Exp | int,
    rigour: Rigour | str | None = None,
    rel: float = 1e-6,
) -> Leakage:
    r"""Hockey-stick divergence of one user against a constant population.

    The channel enters by the law of its likelihood ratio.

    Parameters
    ----------
    ratio : Law
        Law of :math:`W_i/W_j` under :math:`W_j` (:func:`ratio_law`).
    experiment : Contamination
        Number of users and direction.
    gamma : Number or Exp
        Order :math:`e^\varepsilon`, at least 0.
    rigour, rel
        As in :func:`symshuffle.accountants.bounds.evaluate.evaluate_law`, which chooses the engine; by default exact
        where the law and the order are rational, and in balls otherwise.

    Returns
    -------
    Leakage
        The divergence as a bracket, and the pair of datasets.

    Raises
    ------
    InputError
        If ``gamma`` is negative.
    Unsupported
        If no engine evaluates the law with the rigour asked for.

    Notes
    -----
    anchored, Proposition 4.1.

    Examples
    --------
    >>> response = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    >>> shuffled_leakage(ratio_law(response, 0, 1), Contamination(2), gamma=1).bracket.exact
    Fraction(3, 8)
    """
    rigour = None if rigour is None else choice(Rigour, rigour, "rigour")
    if less(gamma, 0) is Verdict.TRUE:
        raise InputError("gamma", gamma, "a number of at least 0")
    order: Any = Fraction(gamma) if isinstance(gamma, int) else gamma
    if isinstance(gamma, Exp):
        order = enclose(gamma, _ORDER_BITS)
    law = _tested(ratio, order, experiment.direction)
    if rigour is None:
        rigour = Rigour.EXACT if is_exact((*law.values, *law.weights, law.singular)) else Rigour.BALL
    return Leakage(
        evaluate_law(law, experiment.n, rigour=rigour, rel=rel), experiment, "the channel with this likelihood ratio"
    )


def pair_of_rows(channel: Channel, i: int, j: int) -> Channel:
    """Two rows of a channel, as a channel with two inputs."""
    last = channel.num_inputs - 1
    return channel.restrict((as_integer(i, "i", 0, last), as_integer(j, "j", 0, last)))
