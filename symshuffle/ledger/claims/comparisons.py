"""One comparison of a computed value with a claimed one: exact, in balls, symbolic, or in doubles within a slack.

Checks yield them, the runner counts them by their means, and certificates hold the values of the exact ones.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Ball, Verdict, equal, less

if TYPE_CHECKING:
    from symshuffle.channels.geometry.linprog import Solution


Means: TypeAlias = Literal["symbolic", "exact", "ball", "float"]
"""How one comparison was decided."""


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """One instance of a claim: computed, claimed, and how the two should relate.

    Parameters
    ----------
    computed, claimed : object
        Two values obtained independently of each other, as text for the report.
    relation : str
        One of ``==``, ``<=``, ``>=``, ``<``, ``>``.
    verdict : Verdict
        Whether the relation holds.
    means : Means
        How that was decided.
    at : str
        The instance, for example ``"k=3, lam=2, n=4"``.
    serves : str
        The clause of the claim that it is made for; empty where that is the whole statement.
    values : tuple or None
        The two values themselves, where they were compared exactly or as balls.
    solution : Solution or None
        The linear program whose optimum the computed value is, up to its sign.
    """

    computed: str
    claimed: str
    relation: str
    verdict: Verdict
    means: Means
    at: str
    serves: str = ""
    values: tuple[Any, Any] | None = field(default=None, compare=False, repr=False)
    solution: Solution | None = field(default=None, compare=False, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.verdict, Verdict):
            raise InputError("verdict", self.verdict, "a Verdict")

    @property
    def is_question(self) -> bool:
        """Whether the claim is one in words, or yes or no, and not a value that could be compared."""
        answers = {verdict.value for verdict in Verdict}
        return bool({self.computed, self.claimed} & answers) or _WORDS.search(self.claimed) is not None

    def __str__(self) -> str:
        if self.is_question:
            return f"at {self.at}: {self.computed}, where the statement says: {self.claimed} ({self.means})"
        stated = self.claimed if self.claimed.startswith(("<", ">")) else f"{self.relation} {self.claimed}"
        relation = f"{self.computed} {stated}"
        return f"at {self.at}: {relation} is {self.verdict.value} ({self.means})"


_WORDS: Final = re.compile(r"[a-z]{2,} [a-z]+")

_RELATIONS: Final[dict[str, Callable[[Any, Any], Verdict]]] = {
    "==": equal,
    "<": less,
    ">": lambda x, y: less(y, x),
    "<=": lambda x, y: ~less(y, x),
    ">=": lambda x, y: ~less(x, y),
}


def compare(
    computed: Any,
    claimed: Any,
    relation: str = "==",
    *,
    at: str,
    slack: float | None = None,
    solution: Solution | None = None,
    found: str = "",
) -> Comparison:
    """Comparison of two numbers, or of any two values for the relation ``==``.

    Fractions, integers and other plain values are compared exactly, balls by :mod:`symshuffle.base.numbers`. A double
    needs a stated ``slack``; the comparison then counts as a floating-point one.

    Parameters
    ----------
    computed : Any
        The value that the check computed.
    claimed : Any
        The value that the statement claims.
    relation : {"==", "<", ">", "<=", ">="}
        The relation that has to hold, ``computed`` on its left.
    at : str
        The case at which the values were computed, for the report.
    slack : float, optional
        Absolute tolerance; required where one of the values is a double.
    solution : Solution, optional
        Solution of the linear program of which ``computed`` is the optimum or its negative; it goes into the
        certificate of the claim.
    found : str
        Text shown in place of ``computed``, such as the numbers behind an answer yes or no.

    Returns
    -------
    Comparison
        With the verdict true, false or undecided.

    Raises
    ------
    InputError
        If a double is compared without a slack, the relation is unknown, or the solution is not that of the value.

    Examples
    --------
    >>> compare(Fraction(1, 3), Fraction(1, 2), "<=", at="one case").verdict
    <Verdict.TRUE: 'true'>
    """
    if relation not in _RELATIONS:
        raise InputError("relation", relation, "one of " + ", ".join(_RELATIONS))
    numeric = (int, Fraction, Ball, float)
    means: Means = "exact"
    if slack is not None:
        means, verdict = "float", Verdict.of(_within(float(computed), float(claimed), relation, slack))
    elif isinstance(computed, float) or isinstance(claimed, float):
        raise InputError("slack", slack, "an absolute tolerance when a double is compared")
    elif isinstance(computed, numeric) and isinstance(claimed, numeric):
        means = "ball" if isinstance(computed, Ball) or isinstance(claimed, Ball) else "exact"
        verdict = _RELATIONS[relation](computed, claimed)
    elif relation == "==":
        verdict = Verdict.of(bool(computed == claimed))
    else:
        raise InputError("relation", relation, f"== for values of type {type(computed).__name__}")
    if solution is not None and computed not in (solution.value.exact, -solution.value.upper):
        raise InputError("solution", solution.value, f"one with the optimum {computed}, or its negative")
    values = None if means == "float" else (computed, claimed)
    return Comparison(
        found or _shorten(computed), _shorten(claimed), relation, verdict, means, at, values=values, solution=solution
    )


def _within(computed: float, claimed: float, relation: str, slack: float) -> bool:
    difference = computed - claimed
    match relation:
        case "==":
            return abs(difference) <= slack
        case "<" | "<=":
            return difference <= slack
        case _:
            return difference >= -slack


def identity(computed: Any, claimed: Any, *, at: str) -> Comparison:
    """Comparison of two SymPy expressions as functions of their symbols.

    The verdict is true only if the difference reduces to zero by a rational normal form (after rewriting
    binomials as gamma functions); false only if an exact rational evaluation shows that they differ.

    Parameters
    ----------
    computed, claimed : sympy.Expr or number
        The two expressions.
    at : str
        The case at which they are compared, for the report.

    Returns
    -------
    Comparison
        Symbolic; the verdict may be undecided.

    Raises
    ------
    InputError
        If one is no expression.

    Examples
    --------
    >>> import sympy as sp
    >>> x = sp.Symbol("x")
    >>> identity((x + 1) ** 2, x**2 + 2 * x + 1, at="all x").verdict
    <Verdict.TRUE: 'true'>
    """
    from symshuffle.mechanisms.symbolic import check_expression, same_function

    for argument, side in (("computed", computed), ("claimed", claimed)):
        check_expression(side, argument)
    return Comparison(_shorten(computed), _shorten(claimed), "==", same_function(computed, claimed), "symbolic", at)


def decide(truth: bool | Verdict, *, at: str, claimed: str, computed: str = "", symbolic: bool = False) -> Comparison:
    """Comparison that records an answer of an exact or symbolic decision procedure.

    Parameters
    ----------
    truth : bool or Verdict
        The answer.
    at : str
        The case that was decided, for the report.
    claimed : str
        What the statement claims, in words.
    computed : str
        What was found, in words; by default the answer itself.
    symbolic : bool
        Whether the procedure decides for all parameters at once.

    Returns
    -------
    Comparison
        With the answer as its verdict.

    Raises
    ------
    InputError
        If the answer is neither true nor false nor a :class:`~symshuffle.base.numbers.Verdict`: a text, a number or a
        collection is not one, however true Python finds it.

    Examples
    --------
    >>> decide(True, at="n = 3", claimed="the graph is connected").verdict
    <Verdict.TRUE: 'true'>
    """
    if not isinstance(truth, bool | Verdict):
        raise InputError("truth", truth, "True, False or a Verdict")
    verdict = truth if isinstance(truth, Verdict) else Verdict.of(truth)
    return Comparison(computed or verdict.value, claimed, "==", verdict, "symbolic" if symbolic else "exact", at)


def serving(clause: str, comparisons: Iterable[Comparison]) -> Iterator[Comparison]:
    """Comparisons that count as evidence for one clause of the claim.

    Parameters
    ----------
    clause : str
        Name of the clause.
    comparisons : iterable of Comparison
        The comparisons.

    Yields
    ------
    Comparison
        Each of them, with ``serves`` set to the clause.
    """
    return (replace(comparison, serves=clause) for comparison in comparisons)


def _shorten(value: object) -> str:
    text = _plain(value)
    return text if len(text) <= 200 else f"{text[:199]}…"


def _plain(value: object) -> str:
    """A value as a reader writes it: rationals as p/q inside of containers too, truths in lower case."""
    match value:
        case bool():
            return str(value).lower()
        case tuple() | list():
            return f"({', '.join(map(_plain, value))})"
        case set() | frozenset():
            return f"{{{', '.join(sorted(map(_plain, value)))}}}"
        case dict():
            return f"{{{', '.join(f'{_plain(key)}: {_plain(entry)}' for key, entry in value.items())}}}"
        case _:
            return str(value)
