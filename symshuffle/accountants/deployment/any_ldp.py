r"""The randomizer of which only the local budget is known: bounds by the pair of claim ``symshuffle.generic-bound``.

The variable G of every eps0-LDP channel is below that of binary randomized response in convex order, whose blanket
therefore bounds all of them. The bound speaks about one channel: users may run different randomizers only if the rows
of all of them together are within exp(eps0) of each other. Two users with disjoint alphabets exceed it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Final, final

from symshuffle.accountants.deployment.adjacency import Adjacency
from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.accountants.deployment.reduced import PairClass, Reducible, Reduction, own_reduction
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import read_budget
from symshuffle.base.numbers import Real, parse_rational
from symshuffle.decompositions.closed_forms import ClosedForm

NAME: Final = "any-ldp"

_ATTAINED: Final = range(3, 5)
"""Inputs of k-ary randomized response that are tried, beside binary one; larger ones attained less wherever tried."""

_SAME: Final = (
    "all users run the same one, or different ones whose rows all together are within exp(eps0) of each other"
)
_PAIRS: Final = f"any two rows of any randomizer in which all rows are within exp(eps0) of each other; {_SAME}"
_THEOREM: Final = "claim symshuffle.generic-bound"


@final
@dataclass(frozen=True, slots=True)
class AnyLdp(Reducible):
    """Any eps0-LDP randomizer, the same for all users.

    - ``lam``: ratio cap ``exp(eps0)``, above 1; None leaves it open, for :func:`symshuffle.largest_eps0`.
    """

    lam: Real | None = None

    @property
    def name(self) -> str:
        """Name on the command line."""
        return NAME


def any_ldp(*, eps0: object = None, lam: object = None, delta0: object = None) -> AnyLdp:
    """Source of which only the local budget is known: some eps0-LDP randomizer.

    The bound holds where all users run the same randomizer, whatever it is, or different ones whose rows all together
    are within ``exp(eps0)`` of each other.

    Parameters
    ----------
    eps0, lam : number or text, optional
        Local budget in nats, or the ratio cap ``exp(eps0)``, above 1; kept exact. Neither leaves the budget open.
    delta0 : None
        A local delta0 is refused.

    Returns
    -------
    AnyLdp
        A source for :func:`symshuffle.epsilon` and every other function that needs no matrix.

    Raises
    ------
    InputError
        If the budget is out of range, or a local delta0 above 0 is given.

    Notes
    -----
    Claim ``symshuffle.generic-bound`` of the ledger.

    Examples
    --------
    >>> from symshuffle import epsilon
    >>> round(float(epsilon(any_ldp(eps0=1), n=10_000, delta="1e-6").bracket.upper), 4)
    0.0432
    """
    if delta0 is not None and parse_rational(delta0, "delta0") != 0:
        raise InputError(
            "delta0", delta0, "0: the bound is proved for pure eps0-LDP; with delta0 an output may reveal its input"
        )
    return AnyLdp(read_budget(eps0=eps0, lam=lam))


@own_reduction.register(AnyLdp)
def _reduction(source: AnyLdp, adjacency: Adjacency) -> Reduction:
    if adjacency.blanket is not None:
        raise Unsupported(f"blanket {adjacency.blanket}: {NAME} has one pair, that of {_THEOREM}")
    if adjacency.relation == "zero-out":
        raise Unsupported(
            f"adjacency zero-out: the null symbol of {NAME} is not known. If its row, too, is within exp(eps0) of all "
            "rows, it is one more input: ask for replace-one"
        )
    if source.lam is None:
        raise InputError("eps0", None, "a number > 0 (or lam, a number > 1)")
    return _derived(source.lam)


@cache
def _derived(lam: Real) -> Reduction:
    """The reduction of binary randomized response; its datasets, and those of k-ary response, are real ones."""
    binary = reduction(ClosedForm("rr", (), lam))
    others = {k: reduction(ClosedForm("krr", (("k", str(k)),), lam)) for k in _ATTAINED}
    real = [(f"rr at exp(eps0) = {lam}", one) for one in binary.datasets]
    real += [(f"krr k={k} at exp(eps0) = {lam}", found.datasets[0]) for k, found in others.items()]
    assert ClosedForm("krr", (("k", "3"),), lam).backgrounds[0] == "third"
    named = tuple(
        PairClass.real(lambda n, name=name, one=one: f"{name}, {one.describe(n)}", one.upper)  # type: ignore[misc]
        for name, one in real
    )
    only = replace(binary.classes[0], pairs=_PAIRS, datasets=lambda: named)
    one = (Assumption.ONE_RANDOMIZER, _SAME)
    return Reduction((only,), True, pairs=_PAIRS, theorem=_THEOREM, assumed=(one,))
