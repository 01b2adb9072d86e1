"""The law of the template of a mechanism with its parameters open: moments and risks as formulas in ``lam``.

Where each class of outputs has one template up to rearrangement, the formulas hold for every number of inputs;
otherwise the number of inputs has to be given, and the outputs are listed. A maximum is taken only where it is decided
on the whole range of the open parameters which of its members is largest.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias, final

import sympy as sp
from sympy.polys.matrices import DomainMatrix

from symshuffle.base.choices import Population, choice
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Verdict, as_integer
from symshuffle.mechanisms.display import factored, latex
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, expression_of, nonnegative, normal_form, same_function
from symshuffle.mechanisms.symbolic.constants import root_order
from symshuffle.mechanisms.tables import array
from symshuffle.utility.anchored.enclosed import EnclosedLaw, template_law
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.moments import (
    TemplateClass,
    chi_square_sum,
    largest_pairwise_budget,
    levels_signal,
    template_classes,
    trace,
)

Expressions: TypeAlias = "tuple[sp.Expr, ...]"

_KEPT: Final = 16
"""Mechanisms whose templates and sizes of votes are kept: every formula is made of them."""


@final
@dataclass(frozen=True, slots=True)
class SymbolicLaw:
    r"""Law of the templates of a mechanism, as functions of its open parameters.

    A template is the vector :math:`u(y)=W_\cdot(y)/\bar W(y)` of an output y.

    Parameters
    ----------
    mechanism : Mechanism
        With any of its parameters open; give values with :meth:`~symshuffle.mechanisms.model.Mechanism.at`.

    Notes
    -----
    anchored, Definition 2.3, Lemma 7.1, Propositions 5.2, 5.5 and 5.7.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> law = SymbolicLaw(randomizer("krr"))
    >>> law.trace()
    k*(k - 1)*(lambda - 1)**2/(k + lambda - 1)**2
    >>> law.pairwise_budget()
    (lambda - 1)**2*(lambda + 1)/(lambda*(k + lambda - 1))
    >>> law.risk_constant("iid")
    (k - 1)*(k + lambda - 1)**2/(k*(lambda - 1)**2)

    >>> law.at(k=3, lam=4).trace()
    Fraction(3, 2)
    """

    mechanism: Mechanism

    def __post_init__(self) -> None:
        given = type(self.mechanism).__name__
        if given != Mechanism.__name__:
            raise InputError("mechanism", given, "a Mechanism (AnchoredLaw takes a Channel of numbers)")

    @property
    def num_inputs(self) -> sp.Expr:
        """Number of inputs, as an expression in the open parameters."""
        return sp.sympify(self.mechanism.inputs)

    @property
    def classes(self) -> tuple[TemplateClass, ...]:
        """Templates by class with masses, and levels with numbers of coordinates; refused if a class has several."""
        return template_classes(self.mechanism)

    def atoms(self) -> tuple[tuple[Expressions, sp.Expr], ...]:
        """Pairs (template, mass), by output; a number of inputs or outputs that is open is refused."""
        return _atoms(self.mechanism)

    def at(self, **values: object) -> AnchoredLaw | EnclosedLaw:
        """Law at values of the open parameters: exact where all probabilities are rational, and in balls otherwise."""
        return template_law(self.mechanism.at(**values).channel())

    def trace(self) -> sp.Expr:
        r"""The number :math:`\operatorname{tr}\Sigma=E\sum_i(u_i-1)^2`."""
        classes = self.tabulated()
        if not classes:
            self.atoms()  # raises: nothing is tabulated where the number of inputs is open
        return self._shown(sum(mass * levels_signal(levels) for mass, levels in classes))

    def covariance(self) -> tuple[Expressions, ...]:
        r"""The matrix :math:`C=E[(u-1)(u-1)^T]`, at a fixed number of inputs."""
        return self.fisher_information([sp.Rational(1, self._listed())] * self._listed())

    def pairwise_divergence(self, i: int, j: int) -> sp.Expr:
        r"""Divergence :math:`\chi^2(W_i\Vert W_j)` at a fixed number of inputs; ``oo`` if infinite."""
        last = self._listed() - 1
        i, j = (as_integer(x, name, 0, last) for name, x in (("i", i), ("j", j)))
        return self._shown(chi_square_sum((u[i] * mass, u[j] * mass) for u, mass in self.atoms()))

    def pairwise_budget(self) -> sp.Expr:
        r"""The budget :math:`\max_{i\ne j}\chi^2(W_i\Vert W_j)`, refused unless the worst pair is decided.

        anchored, Definition 5.8.
        """
        pair = self.mechanism.pair
        if pair.every and not pair.listed:
            return self._shown(largest_pairwise_budget(self.mechanism))
        both = itertools.permutations(range(self._listed()), 2)
        return self._largest({self.pairwise_divergence(i, j) for i, j in both}, "divergences of pairs")

    def ratio_cap(self) -> sp.Expr:
        """The largest ratio of two coordinates of a template, if decided; ``oo`` where a coordinate is zero."""
        columns = [tuple(state.probability for state in c.states if state.count != 0) for c in self.mechanism.classes]
        columns = [column for column in columns if any(entry != 0 for entry in column)]
        if any(entry == 0 for column in columns for entry in column):
            return sp.oo
        ratios = {normal_form(high / low) for column in columns for high in column for low in column}
        return self._largest(ratios, "ratios")

    def fiber(self, composition: Sequence[Any]) -> tuple[tuple[Expressions, sp.Expr], ...]:
        r"""Pairs (ratio vector :math:`u/(w\cdot u)`, mass) of one message at a composition.

        - ``composition``: one expression, number or text such as ``1/3`` per input, of sum 1.

        >>> from symshuffle import randomizer
        >>> SymbolicLaw(randomizer("rr")).fiber(["1/2", "1/2"])[0]
        ((2*lambda/(lambda + 1), 2/(lambda + 1)), 1/2)
        """
        return tuple(
            (tuple(self._shown(entry / seen) for entry in u), self._shown(mass * seen))
            for u, mass, seen in self._seen(self._composition(composition))
            if seen != 0
        )

    def _seen(self, w: Expressions) -> Iterator[tuple[Expressions, sp.Expr, sp.Expr]]:
        """Templates, their masses, and their products with a composition."""
        for u, mass in self.atoms():
            yield u, mass, normal_form(sum(share * entry for share, entry in zip(w, u, strict=True)))

    def fisher_information(self, composition: Sequence[Any]) -> tuple[Expressions, ...]:
        r"""Fisher information :math:`E[(u-1)(u-1)^T/(w\cdot u)]` of one message about the composition, on contrasts."""
        w, inputs = self._composition(composition), range(self._listed())
        parts = list(self._seen(w))
        if any(seen == 0 for _, _, seen in parts):
            raise InputError("composition", tuple(map(str, w)), "a composition under which every output can occur")
        return tuple(
            tuple(self._shown(sum(mass / seen * (u[i] - 1) * (u[j] - 1) for u, mass, seen in parts)) for j in inputs)
            for i in inputs
        )

    def vote_sizes(self) -> Expressions:
        """Numbers :math:`E_{W_i}|c(u)|^2` by row, wherever the covariance has full rank on contrasts."""
        return _vote_sizes(self)

    def canonical_risk(self, composition: Sequence[Any], *, n: Any, population: Population) -> sp.Expr:
        """The exact :func:`~symshuffle.utility.estimation.canonical.canonical_risk`, open in ``n`` as well.

        >>> from symshuffle import randomizer
        >>> law = SymbolicLaw(randomizer("rr"))
        >>> law.canonical_risk(["1/2", "1/2"], n=sp.Symbol("n"), population="iid")
        (lambda + 1)**2/(2*n*(lambda - 1)**2)
        """
        population = choice(Population, population, "population")
        w, users = self._composition(composition), expression_of(n, "n")
        if users.is_number and not (users.is_Integer and users >= 1):
            raise InputError("n", n, "an integer of at least 1")
        fixed = population == "fixed"
        if fixed and users.is_number and any((entry * users).is_integer is False for entry in w):
            raise InputError("composition", tuple(map(str, w)), f"multiples of 1/{users} for {users} users")
        share = sp.Rational(1, len(w))
        explained = 1 - share if fixed else sum(entry**2 for entry in w) - share
        return self._shown((sum(a * b for a, b in zip(w, self.vote_sizes(), strict=True)) - explained) / users)

    def risk_constant(self, population: Population) -> sp.Expr:
        """``n`` times the largest canonical risk over all compositions (anchored, Theorem 6.2 and Corollary 6.3).

        Refused if rows differ and the population is i.i.d., or it is not decided which row is worst.
        """
        population = choice(Population, population, "population")
        k, common = self.num_inputs, self._common_size()
        sizes = self.vote_sizes() if common is None else (common,)
        alike = all(same_function(size, sizes[0]) is Verdict.TRUE for size in sizes[1:])
        if population == "iid":
            if not alike:
                raise Unsupported("which composition is worst depends on the open parameters: use at(...), worst_risk")
            return self._shown(sizes[0])
        worst = sizes[0] if alike else self._largest(set(sizes), "sizes of votes")
        return self._shown(worst - (k - 1) / k)

    def _common_size(self) -> sp.Expr | None:
        """The size of all votes where inputs are alike and every class has one template; None otherwise."""
        pair = self.mechanism.pair
        if pair.listed or pair.by is not None or not pair.every:
            return None
        if (signal := _or_none(partial(trace, self.mechanism))) is None:
            return None
        if signal == 0:
            raise InputError("mechanism", self.mechanism.name, "rows that span all contrasts (the risk is infinite)")
        return self._shown((self.num_inputs - 1) ** 2 / signal)

    def _inverse(self, rows: Sequence[Sequence[sp.Expr]]) -> list[list[sp.Expr]]:
        order = max(root_order(entry) for row in rows for entry in row)
        root = sp.Dummy("t", positive=True)
        matrix = DomainMatrix.from_Matrix(sp.Matrix(rows).subs(LAM, root**order)).to_field()
        if matrix.det() == matrix.domain.zero:
            raise InputError("mechanism", self.mechanism.name, "rows that span all contrasts (the risk is infinite)")
        found: list[list[sp.Expr]] = matrix.inv().to_Matrix().subs(root, LAM ** sp.Rational(1, order)).tolist()
        return found

    def _largest(self, values: set[sp.Expr], what: str) -> sp.Expr:
        """The value that is largest on the whole range of the open parameters."""
        if sp.oo in values:
            return sp.oo
        for candidate in sorted(values, key=str):
            if all(nonnegative(candidate - other, self.mechanism.chart) is Verdict.TRUE for other in values):
                return self._shown(candidate)
        raise Unsupported(
            f"which of {len(values)} {what} of {self.mechanism.name} is largest is not decided on the range of "
            f"{', '.join(p.name for p in self.mechanism.parameters)}: give values with at(...)"
        )

    def _listed(self) -> int:
        """The number of inputs, refused where it is open."""
        if not self.num_inputs.is_Integer:
            raise InputError("inputs", self.num_inputs, "a number of inputs: give it with mechanism.at(...)")
        return int(self.num_inputs)

    def _composition(self, composition: Sequence[Any]) -> Expressions:
        w = tuple(expression_of(entry, f"composition[{x}]") for x, entry in enumerate(composition))
        if len(w) != self._listed():
            raise InputError("composition", f"{len(w)} entries", f"{self._listed()}, one per input")
        if same_function(sum(w), 1) is not Verdict.TRUE or any(entry.is_number and entry < 0 for entry in w):
            raise InputError("composition", tuple(map(str, w)), "entries of at least 0 and sum 1")
        return w

    def _shown(self, expression: Any) -> sp.Expr:
        """The normal form, factored."""
        found = sp.sympify(expression)
        return sp.oo if found is sp.oo else factored(normal_form(found), self.mechanism.chart)

    def _repr_latex_(self) -> str:
        lines = [
            (latex(mass), ",\\; ".join(f"{latex(value)}\\ ({latex(count)})" for count, value in levels))
            for mass, levels in self.tabulated()
        ]
        table = array((r"\text{mass}", r"\text{levels of the template (coordinates)}"), lines)
        facts = (
            (r"\operatorname{tr}\Sigma", self.trace),
            (r"\chi_*", self.pairwise_budget),
            (r"n R_{\rm iid}", partial(self.risk_constant, "iid")),
            (r"n R_{\rm fix}", partial(self.risk_constant, "fixed")),
        )
        known = [rf"{name} = {latex(value)}" for name, find in facts if (value := _or_none(find)) is not None]
        below = ", \\quad ".join(known)
        return f"$\\displaystyle \\begin{{gathered}}{table} \\\\ {below}\\end{{gathered}}$"

    def tabulated(self) -> Sequence[TemplateClass]:
        """Templates by class, or by output where a class has several templates and the number of inputs is fixed."""
        try:
            return self.classes
        except Unsupported:
            if not self.num_inputs.is_Integer:
                return ()
            return [(mass, tuple((sp.Integer(1), entry) for entry in u)) for u, mass in self.atoms()]


def _or_none(find: Callable[[], sp.Expr]) -> sp.Expr | None:
    """A formula, or None where there is none."""
    try:
        return find()
    except (InputError, Unsupported):
        return None


@lru_cache(_KEPT)
def _atoms(mechanism: Mechanism) -> tuple[tuple[Expressions, sp.Expr], ...]:
    found = []
    for column in zip(*mechanism.symbolic_rows(), strict=True):
        average = normal_form(sp.Add(*column) / len(column))
        if average != 0:
            found.append((tuple(normal_form(entry / average) for entry in column), average))
    return tuple(found)


@lru_cache(_KEPT)
def _vote_sizes(law: SymbolicLaw) -> Expressions:
    k, common = law._listed(), law._common_size()
    if common is not None:
        return (common,) * k
    share = sp.Rational(1, k)
    inverse = law._inverse([[entry + share for entry in row] for row in law.covariance()])
    sizes = [sp.Integer(0)] * k
    for u, mass in law.atoms():
        # The inverse fixes the all-ones vector, and u sums to k: its part there takes 1 from every entry.
        length = normal_form(sum((sum(a * b for a, b in zip(row, u, strict=True)) - 1) ** 2 for row in inverse))
        sizes = [size + mass * entry * length for size, entry in zip(sizes, u, strict=True)]
    return tuple(law._shown(size) for size in sizes)
