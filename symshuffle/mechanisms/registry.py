"""The mechanisms that have a name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import TYPE_CHECKING, Final, Literal, overload

import sympy as sp

from symshuffle.base.errors import Unsupported
from symshuffle.mechanisms import definitions, finite, unary
from symshuffle.mechanisms.counted import definition_on_file
from symshuffle.mechanisms.finite import P
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.names import THINNED, mechanism_name, unknown_mechanism
from symshuffle.mechanisms.symbolic import LAM, Parameter

if TYPE_CHECKING:
    from symshuffle.mechanisms.continuous import Laplace

MECHANISMS: Final[Mapping[str, Callable[[], Mechanism]]] = {
    "rr": finite.rr,
    "krr": finite.krr,
    "subset-selection": finite.subset_selection,
    "aug-rr": finite.augmented_randomized_response,
    "half-block": finite.half_block,
    "identity": finite.truthful_response,
    "constant": finite.constant,
    "erasure": finite.erasure,
    "rappor": unary.rappor,
    "oue": unary.oue,
    "blh": unary.blh,
    "olh": unary.olh,
    "hadamard": unary.hadamard,
}
"""Name to definition; one line per mechanism."""

_SIZES: Final = ({"k": 2}, {"k": 3}, {"k": 10})
_DOMAINS: Final = ({"D": 2}, {"D": 3}, {"D": 10})

EXAMPLES: Final[Mapping[str, tuple[Mapping[str, int | str], ...]]] = {
    "rr": ({},),
    "krr": _SIZES,
    "subset-selection": ({"k": 2, "s": 1}, {"k": 3, "s": 2}, {"k": 10, "s": 4}),
    "aug-rr": tuple({**size, "p": "1/2"} for size in _SIZES),
    "half-block": ({"k": 2, "d": 1}, {"k": 4, "d": 2}, {"k": 10, "d": 5}, {"k": 10, "d": 2}),
    "identity": _SIZES,
    "constant": _SIZES,
    "erasure": tuple({**size, "p": "1/3"} for size in _SIZES),
    "rappor": _DOMAINS,
    "oue": _DOMAINS,
    "blh": _DOMAINS,
    "olh": tuple({"g": 4, **size} for size in _DOMAINS),
    "hadamard": ({"D": 4}, {"D": 8}, {"D": 16}),
}
"""Small values of the parameters beside the budget, for whatever runs through all mechanisms: the tests of the engines
and of the moments, the conformance grid, the benchmarks. At ``lam = 4`` every probability is rational."""

LARGE: Final[Mapping[str, tuple[Mapping[str, int | str], ...]]] = {
    "krr": ({"k": 1000},),
    "subset-selection": ({"k": 1000, "s": 333},),
    "aug-rr": ({"k": 1000, "p": "1/2"},),
    "half-block": ({"k": 1000, "d": 500},),
    "rappor": ({"D": 1000}, {}),
    "oue": ({"D": 1000}, {}),
    "blh": ({"D": 1000}, {}),
    "olh": ({"D": 1000, "g": 4}, {"g": 4}),
    "hadamard": ({"D": 1024}, {}),
}
"""Large values, and the limit where a mechanism has one, for what never writes a channel down."""


@overload
def mechanism(name: Literal["laplace"]) -> Laplace: ...  # type: ignore[overload-overlap]  # the one that has no matrix
@overload
def mechanism(name: str) -> Mechanism: ...
def mechanism(name: str) -> Mechanism | Laplace:
    """Mechanism of a given name, with all parameters open.

    Parameters
    ----------
    name : str
        A key of ``symshuffle.mechanisms.MECHANISMS``, such as ``"krr"``, or ``"laplace"``, the mechanism with
        continuous output; or a synonym, such as ``"grr"``.

    Returns
    -------
    Mechanism or Laplace
        ``Laplace`` for the name ``"laplace"``.

    Raises
    ------
    InputError
        If there is no mechanism of this name; the message lists close matches, or all names.

    Examples
    --------
    >>> mechanism("krr").at(k=10, eps0=1).title
    'k-ary randomized response'
    """
    wanted = mechanism_name(name)
    if wanted == "laplace":
        from symshuffle.mechanisms.continuous import Laplace

        return Laplace()
    if not isinstance(wanted, str) or wanted not in MECHANISMS:
        raise unknown_mechanism(name, [*MECHANISMS, "laplace"])
    return _made(wanted)


@cache
def _made(name: str) -> Mechanism:
    """Made once, so that what is derived from it is found again; a test checks its definition."""
    with definition_on_file():
        return MECHANISMS[name]()


SHARE: Final = Parameter(P, sp.Integer(0), sp.Integer(1), False, "activation probability")


@cache
def thinned(name: str) -> Mechanism:
    """The named mechanism (without parameter ``p``), run with probability ``p``; a null symbol is sent otherwise."""
    base = _made(name)
    check_thinnable(base)
    with definition_on_file():
        return Mechanism(
            THINNED + name,
            f"{base.title}, or a null symbol",
            base.inputs,
            definitions.thinned(tuple(base.classes), base.inputs, P),
            (*base.parameters, SHARE),
            source=f"{base.source}; a null symbol beside it as in anchored, Definition 7.3",
        )


def check_thinnable(base: Mechanism) -> None:
    """Refuse a mechanism that has no thinned form."""
    symbols = {parameter.symbol for parameter in base.parameters}
    if LAM not in symbols or P in symbols or not (base.pair.by is None and not base.pair.listed and base.pair.every):
        raise Unsupported(
            f"{base.name} is not thinned: no budget, a share p of its own, or pairs of inputs that differ"
        )


def is_named(one: Mechanism) -> bool:
    """Whether this is a mechanism of the registry, thinned or not, with all parameters open."""
    name = one.name.removeprefix(THINNED)
    return name in MECHANISMS and one == (_made(name) if name == one.name else thinned(name))
