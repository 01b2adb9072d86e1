"""The ledger as a whole: the catalogue of entries, the claims that check them, and how to name a part of it."""

from __future__ import annotations

import csv
import importlib
import pkgutil
import re
import sys
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cache
from importlib import resources
from pathlib import Path
from types import MappingProxyType, ModuleType
from typing import Any, Final, TypeAlias, final

from symshuffle.base.choices import choice
from symshuffle.base.errors import InputError, SymshuffleError
from symshuffle.ledger.claims.model import Claim, Kind
from symshuffle.ledger.claims.parts import Plot


@cache
def bibliography() -> Mapping[str, Mapping[str, Any]]:
    """The five papers by key, in the order of the catalogue: what is needed to cite them.

    - ``authors``: ``"family name, given names"``, in the printed order.
    - ``displays``: whether the text that the ledger was made from has the paper's displayed formulas. Where it has
      not, they are reconstructed from the prose and the proofs around them.
    """
    text = resources.files("symshuffle.ledger.claims").joinpath("papers.toml").read_text(encoding="utf-8")
    return MappingProxyType(
        {key: {"key": key, "displays": True, **facts} for key, facts in tomllib.loads(text).items()}
    )


CHECKS: Final = "proofs_checks"
"""The package whose section modules hold the claims.

It is a layer above this one and is therefore found by name, as a plug-in, and never imported by a statement: the
ledger does not know which theorems exist, only how to collect, run and report them.
"""

OWN_PREFIX: Final = "symshuffle."
"""Ids of our claims that no paper makes; they need no catalogue entry. Other ledgers have prefixes of their own."""

_ID: Final = re.compile(r"[A-Za-z0-9_]+(?:\.[A-Za-z0-9_-]+)+")

Reproduction: TypeAlias = Callable[[Path], Sequence[Path]]
"""Writes a figure or table into the given directory and returns the files it wrote."""


class LedgerError(SymshuffleError):
    """The section modules contradict the catalogue or each other."""


@cache
def catalogue() -> Mapping[str, tuple[Kind, str]]:
    """Kind and title of every entry of the five papers by id, ``<paper>.<entry>``, in paper order.

    An entry is a numbered statement of a paper, whether or not a claim checks it. Ids are permanent.
    """
    text = resources.files("symshuffle.ledger.claims").joinpath("catalogue.tsv").read_text(encoding="utf-8")
    rows = csv.DictReader(text.splitlines(), delimiter="\t", quoting=csv.QUOTE_NONE)
    return MappingProxyType({row["id"]: (choice(Kind, row["kind"], "kind"), row["title"]) for row in rows})


@cache
def papers() -> tuple[str, ...]:
    """Keys of the papers, in the order of the catalogue."""
    return tuple(dict.fromkeys(name.partition(".")[0] for name in catalogue()))


@final
@dataclass(frozen=True, slots=True)
class Ledger:
    """All claims of a package of checks.

    - ``reproductions``: what ``symshuffle reproduce`` can draw, by id.
    """

    package: str
    claims: tuple[Claim, ...]
    reproductions: Mapping[str, Reproduction]
    plots: Mapping[str, Plot] = field(default_factory=dict)
    costliest: tuple[str, ...] = ()

    def claim(self, claim_id: str) -> Claim:
        """The claim with this id."""
        for claim in self.claims:
            if claim.id == claim_id:
                return claim
        raise InputError("ID", claim_id, f"the id of a claim{self.suggestion(claim_id)}")

    def select(self, selectors: Iterable[str]) -> tuple[Claim, ...]:
        """The claims that any of the selectors names, in ledger order; all of them if there is no selector.

        - ``selectors``: each an id, the key of a paper, or a shell pattern over ids such as ``"*.thm-*"``.
        """
        names = self._ids() | {claim.paper for claim in self.claims}
        chosen: set[str] = set()
        for selector in selectors:
            named = {c.id for c in self.claims if c.paper == selector or fnmatchcase(c.id, selector)}
            if not named:
                expected = "an id, a paper or a pattern that names at least one claim"
                raise InputError("ID", selector, expected + _suggestion(selector, names))
            chosen |= named
        return tuple(claim for claim in self.claims if claim.id in chosen) if chosen else self.claims

    def reproduction(self, name: str) -> Reproduction:
        """The function that draws a figure or table."""
        if name not in self.reproductions:
            known = ", ".join(sorted(self.reproductions)) or "none yet"
            raise InputError("ID", name, f"something that can be reproduced (one of: {known})")
        return self.reproductions[name]

    def suggestion(self, name: str) -> str:
        """What to add to a message about a name that is none of an id: what comes close."""
        return _suggestion(name, self._ids())

    def _ids(self) -> set[str]:
        return {claim.id for claim in self.claims}


def _suggestion(name: str, known: Iterable[str]) -> str:
    if name in catalogue() or name in papers():
        return " (it is in the catalogue, but nothing checks it yet)"
    close = get_close_matches(name, sorted(known), n=5, cutoff=0.5)
    return f" (close matches: {', '.join(close)})" if close else " (see `symshuffle claims`)"


@cache
def load(package: str = CHECKS) -> Ledger:
    """Ledger with the claims that the section modules of a package declare.

    The modules are imported. A section module defines ``CLAIMS``, a tuple of claims, and may define ``REPRODUCE``, a
    mapping from ids to functions that draw a figure or table, and ``PLOTS``, a mapping from ids of claims to functions
    that compute a picture of one. Modules whose name begins with an underscore are shared code of their sections and
    declare nothing. A ledger of one section may be that module itself. The package may define ``COSTLIEST``, the ids of
    the claims that take longest.

    Parameters
    ----------
    package : str
        Dotted name of the package or module; by default the checks of the papers.

    Returns
    -------
    Ledger
        Claims in the order of the catalogue, with the functions of figures, tables and pictures.

    Raises
    ------
    LedgerError
        If a section declares no ``CLAIMS``, two claims share an id, an id is not of the form ``prefix.name``, or an id
        or kind disagrees with the catalogue.
    """
    claims: list[Claim] = []
    reproductions: dict[str, Reproduction] = {}
    plots: dict[str, Plot] = {}
    for module in _sections(package):
        declared = getattr(module, "CLAIMS", None)
        if not isinstance(declared, tuple):
            raise LedgerError(f"{module.__name__} defines no tuple CLAIMS")
        claims.extend(declared)
        for name, function in getattr(module, "REPRODUCE", {}).items():
            if name in reproductions:
                raise LedgerError(f"{module.__name__}: {name} is reproduced twice")
            reproductions[name] = function
        plots |= getattr(module, "PLOTS", {})
    if strange := plots.keys() - {claim.id for claim in claims}:
        raise LedgerError(f"there is a plot of {min(strange)}, and no such claim")
    _agree_with_catalogue(claims, ours=package == CHECKS)
    _agree_on_errata(claims)
    position = {entry: index for index, entry in enumerate(catalogue())}
    ordered = sorted(claims, key=lambda claim: position.get(claim.id, len(position)))
    costliest = tuple(getattr(importlib.import_module(package), "COSTLIEST", ()))
    if strange := set(costliest) - {claim.id for claim in claims}:
        raise LedgerError(f"{min(strange)} is said to be costly, and there is no such claim")
    return Ledger(package, tuple(ordered), MappingProxyType(reproductions), MappingProxyType(plots), costliest)


def load_named(package: str, *, argument: str = "package") -> Ledger:
    """The ledger in a package or module of somebody's own, importable or in the working directory."""
    expected = "a package or module of claims that can be imported"
    if not all(part.isidentifier() for part in package.split(".")):
        raise InputError(argument, package, f"{expected}, by its dotted name")
    here = str(Path.cwd())
    if here not in sys.path:  # a console script does not look there; workers are started with the same path
        sys.path.append(here)
    try:
        for module in _sections(package):
            if not isinstance(getattr(module, "CLAIMS", None), tuple):
                raise InputError(argument, package, f"{expected} ({module.__name__} defines no tuple CLAIMS)")
        ledger = load(package)
    except LedgerError:
        raise
    except Exception as error:  # what somebody's module raises when it is imported
        raise InputError(argument, package, f"{expected} ({type(error).__name__}: {error})") from error
    if not ledger.claims:
        raise InputError(argument, package, "a package with at least one section module that declares CLAIMS")
    return ledger


def _sections(package: str) -> Iterator[ModuleType]:
    root = importlib.import_module(package)
    if not hasattr(root, "__path__"):
        yield root
        return
    # A package that fails to import fails loudly: a silent loss of claims would look like a green ledger.
    found = pkgutil.walk_packages(root.__path__, f"{package}.", onerror=importlib.import_module)
    for module in sorted(found, key=lambda info: info.name):
        if not module.ispkg and not module.name.rpartition(".")[2].startswith("_"):
            yield importlib.import_module(module.name)


def _agree_on_errata(claims: Sequence[Claim]) -> None:
    """One mistake has one entry: what is the same mistake names a claim whose own erratum it is."""
    judged = {claim.id: claim.erratum for claim in claims if claim.erratum is not None}
    for name, erratum in judged.items():
        first = judged.get(erratum.same_as)
        if erratum.same_as and (first is None or first.same_as):
            raise LedgerError(f"{name} is said to be the same mistake as {erratum.same_as}, which has none of its own")


def _agree_with_catalogue(claims: Sequence[Claim], *, ours: bool) -> None:
    seen: set[str] = set()
    for claim in claims:
        if claim.id in seen:
            raise LedgerError(f"two claims have the id {claim.id}")
        seen.add(claim.id)
        kind, _ = catalogue().get(claim.id, (None, ""))
        if not _ID.fullmatch(claim.id):
            raise LedgerError(f"{claim.id!r} is no id of the form prefix.name, of letters, digits, '_' and '-'")
        if kind is None and claim.paper in papers():
            raise LedgerError(f"{claim.id} is not in the catalogue of that paper")
        if kind is None and ours and not claim.id.startswith(OWN_PREFIX):
            raise LedgerError(f"{claim.id} is not in the catalogue and does not begin with {OWN_PREFIX!r}")
        if kind is not None and kind != claim.kind:
            raise LedgerError(f"{claim.id} is a {kind} in the catalogue, not a {claim.kind}")
