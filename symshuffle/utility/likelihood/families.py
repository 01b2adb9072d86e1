r"""Families of channels on growing alphabets: their ratio laws for all sizes at once, and what becomes of them.

A family of common ratio cap is *diluting* if its largest chi-square tends to 0 and *persistent* if it does not; the two
exhaust all families, and are decided by the limit of the ratio law: point mass at 1 or not (alphabets, Theorem 6.2).
Laws are derived from the mechanism with the number of inputs left open, so no size is too large.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any, Final, Literal, TypeAlias, final

import sympy as sp

from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import read_budget, takes_eps0
from symshuffle.base.numbers import Verdict, less
from symshuffle.decompositions.symbolic import counted_decomposition
from symshuffle.mechanisms.finite import K, S, half_block, krr, subset_selection
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.symbolic import LAM, constant_of, evaluate, normal_form
from symshuffle.utility.likelihood.law import LikelihoodRatio

_Kind: TypeAlias = Literal["diluting", "persistent"]


@final
@dataclass(frozen=True, slots=True)
class ChannelFamily:
    """A sequence of canonical pairs, one for every number ``k`` of inputs.

    - ``atoms``: ratios, which do not depend on ``k``, and their probabilities, in ``k`` and perhaps ``lam``.
    - ``even``: whether ``k`` has to be even.
    """

    name: str
    atoms: tuple[tuple[sp.Expr, sp.Expr], ...]
    even: bool = False

    def __post_init__(self) -> None:
        for ratio, _ in self.atoms:
            if ratio.has(K):
                raise Unsupported(f"the ratio {ratio} of {self.name} grows with k: the family has no common ratio cap")

    @classmethod
    def of(
        cls, mechanism: Mechanism, *, even: bool = False, fixed: Mapping[sp.Symbol, sp.Expr] | None = None
    ) -> ChannelFamily:
        """The family of a mechanism whose number of inputs is open, other parameters fixed as expressions in it."""
        cells = counted_decomposition(mechanism, others="second").cells
        found = ((cell.ratios[0], normal_form(cell.c.subs(fixed or {}))) for cell in cells if cell.ratios is not None)
        return cls(mechanism.name, tuple((ratio, weight) for ratio, weight in found if weight != 0), even)

    @takes_eps0()
    def at(self, *, lam: object) -> ChannelFamily:
        """The family at a ratio cap."""
        cap = read_budget(lam=lam)
        if cap is None:
            raise InputError("lam", lam, "a number > 1")
        fixed = {LAM: constant_of(cap)}
        return ChannelFamily(self.name, tuple((r.subs(fixed), w.subs(fixed)) for r, w in self.atoms), self.even)

    def diluted(self, eta: sp.Expr) -> ChannelFamily:
        """The family run with probability ``eta(k)`` in [0, 1], else a null symbol (alphabets, Corollary 7.3)."""
        share = sp.sympify(eta)
        merged: dict[sp.Expr, sp.Expr] = {sp.Integer(1): 1 - share}
        for ratio, weight in self.atoms:
            merged[ratio] = merged.get(ratio, sp.Integer(0)) + share * weight
        return ChannelFamily(f"{self.name}, diluted by {share}", tuple(merged.items()), self.even)

    @property
    def chi_square(self) -> sp.Expr:
        """The chi-square of the pair, for every ``k``."""
        return sp.factor(normal_form(sum(((r - 1) ** 2 * w for r, w in self.atoms), start=sp.Integer(0))))

    @property
    def limit_chi_square(self) -> sp.Expr:
        """Its limit as the alphabet grows."""
        return normal_form(sp.limit(self.chi_square, K, sp.oo))

    @property
    def limit_atoms(self) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        """The weak limit of the ratio laws; ratios whose probability vanishes are dropped."""
        limits = ((ratio, normal_form(sp.limit(weight, K, sp.oo))) for ratio, weight in self.atoms)
        return tuple((ratio, weight) for ratio, weight in limits if weight != 0)

    @property
    def kind(self) -> _Kind:
        """Diluting or persistent, by the limit of the chi-square."""
        limit = self.limit_chi_square
        if limit == 0:
            return "diluting"
        if sp.factor(limit.subs(LAM, 1 + sp.Symbol("t", positive=True))).is_positive:
            return "persistent"
        raise Unsupported(f"the limit {limit} of the chi-square of {self.name} is not decided")

    def size(self, k: int, *, bits: int | None = None) -> LikelihoodRatio:
        """The law at ``k`` inputs; ``lam`` has to have a value."""
        if not isinstance(k, int) or k < 2 or (self.even and k % 2):
            raise InputError("k", k, f"an {'even ' if self.even else ''}integer of at least 2")
        atoms: list[tuple[Any, Any]] = []
        for ratio, weight in self.atoms:
            mass = evaluate(sp.sympify(weight).subs(K, k), bits=bits)
            if less(mass, 0) is Verdict.TRUE:
                shown = mass if isinstance(mass, Fraction) else f"{float(mass):.4g}"
                raise InputError("eta", f"a negative mass {shown} at k = {k}", "a dilution weight in [0, 1]")
            atoms.append((evaluate(ratio, bits=bits), mass))
        return LikelihoodRatio.from_atoms(atoms)

    def _repr_latex_(self) -> str:
        terms = " + ".join(rf"{sp.latex(weight)}\,\delta_{{{sp.latex(ratio)}}}" for ratio, weight in self.atoms)
        return f"${terms}$"


_DISTANCE: Final = sp.Symbol("d", integer=True, positive=True)

_DERIVATIONS: Final[dict[str, Callable[[], ChannelFamily]]] = {
    "GRR": cache(lambda: ChannelFamily.of(krr())),
    "HALF_BLOCK": cache(lambda: ChannelFamily.of(half_block(), even=True, fixed={_DISTANCE: K / 2})),
    "HALF_SUBSETS": cache(lambda: ChannelFamily.of(subset_selection(), even=True, fixed={S: K / 2})),
}


def __getattr__(name: str) -> ChannelFamily:
    """The families GRR, HALF_BLOCK and HALF_SUBSETS, derived when first asked for."""
    if name not in _DERIVATIONS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _DERIVATIONS[name]()
