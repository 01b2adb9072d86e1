"""One line of the ledger as its faces see it: the catalogue entry, the claim that checks it, what a run found."""

from __future__ import annotations

import functools
import inspect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any, Final, TypeAlias, final

from markupsafe import Markup

from symshuffle.base.choices import members
from symshuffle.ledger.claims.model import Claim, ClaimVerdict, Grade, Kind
from symshuffle.ledger.claims.outcomes import Outcome
from symshuffle.ledger.claims.parts import Erratum, Severity, Standing
from symshuffle.ledger.claims.registry import CHECKS, Ledger, bibliography, catalogue
from symshuffle.ledger.report.mathematics import to_search

_CLASS: Final = "source"


def definition(function: Callable[..., Any]) -> tuple[str, int] | None:
    """Module and line of the definition of a function; None if it is not written in Python."""
    while isinstance(function, functools.partial):
        function = function.func
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    return None if code is None else (function.__module__, code.co_firstlineno)


def listing(module: str) -> Markup:
    """The source of a module with numbered, addressable lines."""
    from pygments import highlight
    from pygments.formatters import HtmlFormatter
    from pygments.lexers import PythonLexer

    formatter = HtmlFormatter(linenos="inline", linespans="L", cssclass=_CLASS, wrapcode=True)
    return Markup(highlight(inspect.getsource(import_module(module)), PythonLexer(), formatter))


def colours() -> str:
    """The style of listings, light and dark."""
    from pygments.formatters import HtmlFormatter

    light, dark = (HtmlFormatter(style=style, cssclass=_CLASS) for style in ("default", "github-dark"))
    rules = dark.get_style_defs(f".{_CLASS}")
    return f"{light.get_style_defs(f'.{_CLASS}')}\n@media (prefers-color-scheme: dark) {{\n{rules}\n}}\n"


UNCHECKED: Final = "unchecked"
"""Said of an entry of the catalogue that no claim checks."""

NONE: Final = "none"
"""Said of an entry without a grade."""

VERDICTS: Final = (*members(ClaimVerdict), UNCHECKED)
GRADES: Final = (*(grade for grade in members(Grade) if grade != "refuted"), NONE)


@final
@dataclass(frozen=True)
class LedgerEntry:
    """An entry of the ledger, checked or not, run or not.

    - ``id``, ``paper``, ``title``: as in the catalogue, or in the claim where the catalogue does not have it.
    """

    id: str
    paper: str
    title: str
    kind: Kind
    claim: Claim | None
    outcome: Outcome | None

    @property
    def verdict(self) -> str:
        """What was found; what is on record where nothing was run; ``unchecked`` without a claim."""
        if self.outcome is not None:
            return self.outcome.verdict
        return UNCHECKED if self.claim is None else self.claim.expected

    @property
    def grade(self) -> str:
        """Strength of the evidence for what is true: of the correction, where the printed statement is refuted."""
        holder = self.outcome or self.claim
        if holder is None:
            return NONE
        strength = holder.grade
        if self.verdict == "refuted":
            strength = None if holder.corrected is None else holder.corrected.grade
        return NONE if strength is None else strength

    @property
    def catalogued(self) -> bool:
        """Whether one of the papers makes the statement."""
        return self.id in catalogue()

    @property
    def printed(self) -> bool:
        """Whether a paper makes the statement, with a number of its own or without."""
        return self.catalogued or self.about in bibliography()

    @property
    def as_recorded(self) -> bool:
        """Whether nothing contradicts the record."""
        return self.outcome is None or self.outcome.agrees_with_record

    @property
    def about(self) -> str:
        """The paper that it speaks about: a finding without a number of its own names it in its source."""
        named = self.source.partition(",")[0]
        return named if named in bibliography() else self.paper

    @property
    def reconstructed(self) -> bool:
        """Whether formulas of its statement are ours: no display of the paper is legible, and no sentence is quoted."""
        paper = bibliography().get(self.about)
        quoted = self.erratum is not None and bool(self.erratum.quote)
        return paper is not None and not paper["displays"] and not quoted and self.kind != "no-content"

    @property
    def erratum(self) -> Erratum | None:
        """How a refutation is to be judged, or a slip beside a statement that holds."""
        return None if self.claim is None else self.claim.erratum

    @property
    def source(self) -> str:
        """Where the statement is made."""
        return self.paper if self.claim is None else self.claim.source

    @cached_property
    def check_place(self) -> tuple[str, int] | None:
        """Module and line of the definition of its check."""
        return None if self.claim is None else definition(self.claim.check)

    @cached_property
    def statement_place(self) -> tuple[str, int] | None:
        """Module and line of the transcription of the printed statement."""
        return None if self.claim is None else definition(self.claim.printed)

    @cached_property
    def search_text(self) -> str:
        """Everything by which somebody may look for it."""
        parts = [self.id, self.title, self.source]
        if self.claim is not None:
            parts += [self.claim.words, *self.claim.assumptions]
        if (paper := bibliography().get(self.paper)) is not None:
            parts += paper["authors"]  # not its title, whose words would find all of its entries
        return to_search(" ".join(parts))


def counts(listed: Iterable[LedgerEntry], name: str) -> list[tuple[str, int]]:
    """How often each verdict or grade of some entries occurs, without those that do not.

    - ``name``: ``"verdict"`` or ``"grade"``.
    """
    found = Counter(getattr(entry, name) for entry in listed)
    return [(value, found[value]) for value in (VERDICTS if name == "verdict" else GRADES) if found[value]]


def strength(listed: Iterable[LedgerEntry]) -> tuple[int, int]:
    """Of the catalogue's entries that state something, how many are proved or certified, and how many there are."""
    stated = [e for e in listed if e.catalogued and e.kind not in ("definition", "no-content")]
    return sum(entry.grade in ("proved", "certified") for entry in stated), len(stated)


def entries(ledger: Ledger, outcomes: Sequence[Outcome] = ()) -> tuple[LedgerEntry, ...]:
    """Every entry of a ledger in order: of ours the whole catalogue and what goes beyond it; of others the claims."""
    claims = {claim.id: claim for claim in ledger.claims}
    found = {outcome.id: outcome for outcome in outcomes}
    known = catalogue() if ledger.package == CHECKS else {}
    listed = [
        LedgerEntry(name, name.partition(".")[0], title, kind, claims.get(name), found.get(name))
        for name, (kind, title) in known.items()
    ]
    listed += [
        LedgerEntry(claim.id, claim.paper, claim.title, claim.kind, claim, found.get(claim.id))
        for claim in ledger.claims
        if claim.id not in known
    ]
    return tuple(listed)


def groups(listed: Iterable[LedgerEntry]) -> dict[str, list[LedgerEntry]]:
    """The same entries by paper, or by the prefix of claims that no paper makes."""
    by_paper: dict[str, list[LedgerEntry]] = {}
    for entry in listed:
        by_paper.setdefault(entry.paper, []).append(entry)
    return by_paper


RECONSTRUCTED: Final = "display not legible; formulas of the statement are reconstructed and accuse nobody"
"""Said of every entry that rests on a reconstruction."""


Mistake: TypeAlias = tuple[LedgerEntry, Erratum, tuple[LedgerEntry, ...]]
"""One mistake: the entry in which it was found first, its erratum, and the other entries that have it."""


def errata(listed: Iterable[LedgerEntry]) -> tuple[tuple[Severity, tuple[Mistake, ...]], ...]:
    """What is wrong as printed by severity, the most serious first; severities that do not occur are left out.

    Within one, what is only a matter of reading comes after the rest.
    """
    order = {standing: index for index, standing in enumerate((*members(Standing), None))}
    judged = [(entry, entry.erratum) for entry in listed if entry.erratum is not None]
    known = {entry.id for entry, _ in judged}
    found = [
        (entry, erratum, tuple(other for other, one in judged if one.same_as == entry.id))
        for entry, erratum in judged
        if erratum.same_as not in known
    ]
    found.sort(key=lambda mistake: order[mistake[1].standing])
    by_severity = ((one, tuple(part for part in found if part[1].severity == one)) for one in members(Severity))
    return tuple((severity, part) for severity, part in by_severity if part)


def number_of_errata(found: Iterable[tuple[Severity, tuple[Mistake, ...]]]) -> str:
    """Return how many mistakes there are, and how many questions that are answered no: these are no mistakes."""
    numbers = {severity: len(part) for severity, part in found}
    questions = numbers.pop("question", 0)
    words = [(sum(numbers.values()), "mistake"), (questions, "question")]
    told = [f"{number} {word}{'s' if number != 1 else ''}" for number, word in words if number or word == "mistake"]
    return " and ".join(told) + (" answered no" if questions else "")
