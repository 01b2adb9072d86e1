"""Names of mechanisms and of their parameters: synonyms, and the nearest names of a misspelt one."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable, Mapping
from typing import Final, TypeVar

from symshuffle.base.errors import InputError

SYNONYMS: Final[Mapping[str, str]] = {
    "binary-randomized-response": "rr",
    "k-rr": "krr",
    "grr": "krr",
    "generalized-randomized-response": "krr",
    "k-ary-randomized-response": "krr",
    "ss": "subset-selection",
    "k-subset": "subset-selection",
    "sue": "rappor",
    "symmetric-unary-encoding": "rappor",
    "optimized-unary-encoding": "oue",
    "binary-local-hashing": "blh",
    "optimized-local-hashing": "olh",
    "hadamard-response": "hadamard",
    "blanket-mixed-gaussian": "bmg",
    "local-gaussian": "gaussian",
    "priv-unit": "privunit",
}
"""Other names of mechanisms, in small letters with hyphens, each with the name that answers have."""

SIZE_NAMES: Final = ("k", "D")
"""Names of the number of values that a user may hold: either is read as the one that a mechanism has."""

DIMENSIONS: Final = ("d", "dimension")
"""Names of the dimension of a mechanism of vectors."""

VECTORS: Final[Mapping[str, str]] = {
    "bmg": "BlanketMixedGaussian",
    "privunit": "PrivUnit",
    "sphere-linear": "SphereLinear",
    "clipped-linear": "ClippedLinear",
    "gaussian": "LocalGaussian",
}
"""Names of mechanisms of vectors, each with its class in :mod:`symshuffle.vectors`."""

THINNED: Final = "thinned "
"""How the name of a thinned mechanism begins."""

NAMED_WHEN_THINNED: Final = frozenset({"krr", "rr"})
"""Mechanisms whose thinned form has a name of its own, aug-rr."""

_V = TypeVar("_V")


def mechanism_name(text: str) -> str:
    """Return the name of a mechanism for a synonym, whatever its capitals and underscores; another text as it is.

    Examples
    --------
    >>> mechanism_name("GRR"), mechanism_name("subset_selection"), mechanism_name("joint(krr(k=3),2)")
    ('krr', 'subset-selection', 'joint(krr(k=3),2)')
    """
    if not isinstance(text, str) or "(" in text:
        return text
    plain = text.strip().lower().replace("_", "-")
    return SYNONYMS.get(plain, plain)


def source_name(source: object) -> str:
    """Return the name of a mechanism, a composition or a randomizer of vectors; of anything else, that of its class.

    Examples
    --------
    >>> from symshuffle import joint, randomizer, vectors
    >>> source_name(joint(randomizer("rr"), randomizer("rr")).at(lam=2)), source_name(vectors.LocalGaussian(1))
    ('joint(rr(lam),2)', 'gaussian')
    """
    kind = type(source).__name__
    commands = {one: name for name, one in VECTORS.items()}
    name = getattr(getattr(source, "composition", source), "name", None)
    return name if isinstance(name, str) else commands.get(kind, kind)


def named_parameters(
    given: Mapping[str, _V], own: Collection[str], synonyms: tuple[str, ...] = SIZE_NAMES
) -> dict[str, _V]:
    """Return values by the names that a mechanism has: one of ``synonyms`` stands for the only one that it has.

    Examples
    --------
    >>> named_parameters({"k": 10}, ["D", "lam"]), named_parameters({"k": 10, "D": 9}, ["D", "lam"])
    ({'D': 10}, {'k': 10, 'D': 9})
    """
    meant = set(synonyms).intersection(own)
    others = set(synonyms).intersection(given).difference(own)
    if len(meant) != 1 or len(others) != 1 or not meant.isdisjoint(given):
        return dict(given)
    (name,), (other,) = meant, others
    return {name if key == other else key: value for key, value in given.items()}


def unknown_mechanism(name: object, known: Iterable[str]) -> InputError:
    """Return the refusal of a name that no mechanism has, with the nearest names, or all."""
    listed = list(known)
    text = mechanism_name(name) if isinstance(name, str) else str(name)
    if text in VECTORS and text not in listed:
        where = f"vectors have symshuffle.vectors.{VECTORS[text]}, on the command line {text}"
        return InputError("mechanism", name, f"a mechanism of finitely many outputs, or laplace; {where}")
    near = difflib.get_close_matches(text, [*listed, *SYNONYMS])
    if close := dict.fromkeys(one for one in map(mechanism_name, near) if one in listed):
        return InputError("mechanism", name, f"a known name; did you mean {' or '.join(close)}?")
    return InputError("mechanism", name, "one of " + ", ".join(listed))


def unknown_parameter(name: str, value: object, mechanism: str, known: Collection[str]) -> InputError:
    """Return the refusal of a parameter that a mechanism does not have, with those that it has."""
    near = difflib.get_close_matches(name.lower(), {one.lower(): one for one in known}, 1)
    sizes = [one for one in known if one in SIZE_NAMES] if name in ("n", "m", "size", "domain") else []
    hint = [one for one in known if one.lower() in near] or sizes
    meant = f"; did you mean {hint[0]}?" if len(hint) == 1 else ""
    return InputError(name, value, f"a parameter of {mechanism}: {', '.join(known) or 'none'}{meant}")
