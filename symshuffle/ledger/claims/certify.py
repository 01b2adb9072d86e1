"""The comparisons of a check as exact data: what a certificate file holds.

A comparison is a witness if both of its sides can be written exactly (rationals, ends of balls, what is made of them)
and the little code that reads the file decides it in the same way (:mod:`symshuffle.ledger.recheck`). What cannot be
written so, symbolic comparisons above all, is counted beside it.
"""

from __future__ import annotations

import numbers
import platform
from collections import Counter
from collections.abc import Mapping, Set
from dataclasses import dataclass, field, fields, is_dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.artifacts import installed
from symshuffle.base.numbers import Ball, Exp
from symshuffle.ledger.claims.comparisons import Comparison
from symshuffle.ledger.claims.model import Claim, ClaimVerdict, Grade
from symshuffle.ledger.recheck.checker import CERTIFICATE_FORMAT, digest, verdict_of
from symshuffle.ledger.recheck.values import comparison_reads, decide, file_reads, part_reads, program_reads, spoken

_LIBRARIES: Final = ("symshuffle", "python-flint", "sympy", "numpy")
"""Whose versions a certificate names, beside that of Python."""


def encode(value: Any) -> Any:
    """A value in the form of a certificate; a ValueError if it has none, or holds integers of more than 4300 digits."""
    match value:
        case None | bool():
            return value
        case str():
            return {"text": value}
        case Ball():
            return {"ball": [str(value.lower), str(value.upper)]}
        case Exp():
            return {"exp": str(value.exponent)}
        case numbers.Rational():
            return str(Fraction(int(value.numerator), int(value.denominator)))
        case list() | tuple():
            return [encode(entry) for entry in value]
        case Set():
            return {"set": sorted(map(encode, value), key=spoken)}
        case Mapping():
            pairs = [[encode(key), encode(entry)] for key, entry in value.items()]
            return {"map": sorted(pairs, key=lambda pair: spoken(pair[0]))}
        case _ if is_dataclass(value) and not isinstance(value, type):
            entries = {one.name: encode(getattr(value, one.name)) for one in fields(value) if one.compare}
            return {"record": type(value).__name__, "fields": entries}
        case _:
            raise ValueError(type(value).__name__)


@final
@dataclass(slots=True)
class Witnesses:
    """The comparisons of one statement, as they are made."""

    calls: list[Mapping[str, Any]] = field(default_factory=list)
    comparisons: list[dict[str, Any]] = field(default_factory=list)
    beside: Counter[str] = field(default_factory=Counter)
    _inputs: list[dict[str, Any]] = field(default_factory=list)

    def add(self, comparison: Comparison) -> None:
        """Take one more."""
        if self.calls:
            # Of the calls of the statement before this comparison, the last ones.
            self._inputs = [{name: _shown(value) for name, value in call.items()} for call in self.calls[-8:]]
            self.calls.clear()
        written = self._written(comparison)
        if written is None:
            self.beside[f"{comparison.means} {comparison.verdict.value}"] += 1
        else:
            self.comparisons.append(written)

    def _written(self, comparison: Comparison) -> dict[str, Any] | None:
        if comparison.values is None:
            return None
        try:
            computed, claimed = map(encode, comparison.values)
        except ValueError:
            return None
        if decide(computed, comparison.relation, claimed) != comparison.verdict.value:
            return None  # an equality of its own, which the file could not show
        written = {
            "at": comparison.at,
            "serves": comparison.serves,
            "inputs": self._inputs,
            "computed": computed,
            "relation": comparison.relation,
            "claimed": claimed,
            "verdict": comparison.verdict.value,
            "program": _program(comparison),
        }
        return {**written, "reads": comparison_reads(written)}

    def part(self, of: str, statement: str) -> dict[str, Any]:
        """All of it, as a part of a certificate."""
        found = Counter(comparison["verdict"] for comparison in self.comparisons)
        for name, count in self.beside.items():
            found[name.partition(" ")[2]] += count
        written = {
            "of": of,
            "statement": statement,
            "verdict": verdict_of(found),
            "beside": dict(sorted(self.beside.items())),
            "comparisons": self.comparisons,
        }
        return {**written, "reads": part_reads(written)}


def _shown(value: Any, longest: int = 200) -> Any:
    """An argument exactly, or as text where it has no such form or a long one: it is named, not computed with."""
    try:
        exact = encode(value)
        if len(spoken(exact)) <= 8 * longest:
            return exact
    except ValueError:
        pass
    text = " ".join(str(value).split())
    return {"text": text if len(text) <= longest else f"{text[: longest - 1]}…"}


def _program(comparison: Comparison) -> dict[str, Any] | None:
    """The linear program whose optimum, up to a sign, is the computed side."""
    if comparison.solution is None or comparison.values is None:
        return None
    program, certificate = comparison.solution.program, comparison.solution.certificate
    optimum = comparison.solution.value.exact
    vectors = certificate.to_json()
    written = {
        "costs": [str(Fraction(cost)) for cost in program.costs],
        "columns": [[[i, str(Fraction(entry))] for i, entry in column] for column in program.columns],
        "senses": list(program.senses),
        "rhs": [str(Fraction(bound)) for bound in program.rhs],
        "free": sorted(program.free),
        "primal": vectors["primal"],
        "dual": vectors["dual"],
        "optimum": str(optimum),
        "sign": 1 if comparison.values[0] == optimum else -1,
    }
    return {**written, "reads": program_reads(written)}


def certificate(
    claim: Claim, verdict: ClaimVerdict, grade: Grade | None, printed: Witnesses, corrected: Witnesses | None
) -> dict[str, Any] | None:
    """The content of a certificate file; None if no comparison could be written exactly."""
    parts = [printed.part("printed", claim.words)]
    if corrected is not None and claim.corrected is not None:
        parts.append(corrected.part("corrected", claim.corrected.text))
    if not any(part["comparisons"] for part in parts):
        return None
    content = {
        "format": CERTIFICATE_FORMAT,
        "claim": claim.id,
        "title": claim.title,
        "source": claim.source,
        "scope": claim.scope,
        "verdict": verdict,
        "grade": grade,
        "versions": {"python": platform.python_version()} | {name: installed(name) for name in _LIBRARIES},
        "parts": parts,
    }
    content["reads"] = file_reads(content)
    return {**content, "digest": digest(content)}
