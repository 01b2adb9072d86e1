"""The mechanisms that have a name."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping
from functools import cache
from typing import Final

from symshuffle.errors import InputError
from symshuffle.mechanisms import finite, unary
from symshuffle.mechanisms.model import Mechanism

MECHANISMS: Final[Mapping[str, Callable[[], Mechanism]]] = {
    "rr": finite.rr,
    "krr": finite.krr,
    "subset-selection": finite.subset_selection,
    "aug-rr": finite.augmented_randomized_response,
    "half-block": finite.half_block,
    "identity": finite.identity,
    "constant": finite.constant,
    "erasure": finite.erasure,
    "rappor": unary.rappor,
    "oue": unary.oue,
    "blh": unary.blh,
    "olh": unary.olh,
    "hadamard": unary.hadamard,
}
"""Name to definition; one line per mechanism."""


def mechanism(name: str) -> Mechanism:
    """The mechanism of this name, with all parameters open.

    Raises
    ------
    InputError
        If there is none; the message lists close matches, or all names.
    """
    if name not in MECHANISMS:
        close = difflib.get_close_matches(name, MECHANISMS) or list(MECHANISMS)
        raise InputError("mechanism", name, "one of " + ", ".join(close))
    return _made(name)


@cache
def _made(name: str) -> Mechanism:
    """Made once, so that what is derived from it is found again."""
    return MECHANISMS[name]()
