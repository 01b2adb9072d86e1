"""The checker of certificate files."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

from symshuffle.base.errors import CertificateError, InputError
from symshuffle.base.lp import Certificate, LinearProgram
from symshuffle.base.results import within
from symshuffle.ledger.recheck import bound
from symshuffle.ledger.recheck.values import (
    Value,
    check_fields,
    check_value,
    comparison_reads,
    decide,
    file_reads,
    part_reads,
    program_reads,
    rational,
)

CERTIFICATE_FORMAT: Final = "symshuffle certificate 1"

EXACT_GRADES: Final = ("proved", "certified", "exact-cases")
"""Grades that nothing in floating point carries."""

_GRADES: Final = (*EXACT_GRADES, "sampled", "refuted", None)
_CLAIM: Final = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)+", re.ASCII)
_BESIDE: Final = re.compile("(symbolic|exact|ball|float) (true|false|undecided)")
_SHA: Final = "sha256:"

_FILE: Final = frozenset(
    ("format", "claim", "title", "source", "scope", "verdict", "grade", "versions", "parts", "reads", "digest")
)
_PART: Final = frozenset(("of", "statement", "verdict", "beside", "comparisons", "reads"))
_COMPARISON: Final = frozenset(
    ("at", "serves", "inputs", "computed", "relation", "claimed", "verdict", "reads", "program")
)
_PROGRAM: Final = frozenset(("costs", "columns", "senses", "rhs", "free", "primal", "dual", "optimum", "sign", "reads"))


def read(path: Path, *, argument: str = "FILE") -> Any:
    """The JSON content of a file, read as the checker of bounds reads it."""
    try:
        return bound.load(path)
    except OSError as error:
        raise InputError(argument, path, f"a file that can be read ({error.strerror})") from error
    except (ValueError, RecursionError) as error:
        raise InputError(argument, path, f"JSON ({error})") from error


def digest(content: Mapping[str, Any]) -> str:
    """The digest of a certificate: of its JSON with sorted keys and no blanks, without the digest itself."""
    rest = {name: value for name, value in content.items() if name != "digest"}
    text = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)
    return _SHA + hashlib.sha256(text.encode()).hexdigest()


def recheck(content: Any) -> dict[str, Any]:
    """What a certificate says, once every part of it has been checked: its head, and how much was decided again."""
    _check_depth(content)
    _keys(content, _FILE, "file")
    if content["format"] != CERTIFICATE_FORMAT:
        raise CertificateError("format", f"{content['format']!r} is not {CERTIFICATE_FORMAT!r}")
    for name in ("claim", "title", "source", "scope", "verdict"):
        _text(content[name], name)
    _check_head(content)
    _texts(content["versions"], "versions")
    parts = _list(content["parts"], "parts")
    for i, part in enumerate(parts):
        with within(f"parts[{i}]"):
            _check_part(part)
    if not any(part["comparisons"] for part in parts):
        raise CertificateError("parts", "no comparison is written out")
    names = [part["of"] for part in parts]
    if names not in (["printed"], ["printed", "corrected"]):
        raise CertificateError("parts", f"{names} is neither the printed statement nor that and its correction")
    found = parts[0]["verdict"]
    if content["verdict"] not in (("holds", "definition") if found == "holds" else (found,)):
        raise CertificateError("verdict", f"{content['verdict']}, where the comparisons say {found}")
    if (content["grade"] == "refuted") is not (found == "refuted"):
        raise CertificateError("grade", f"{content['grade']}, where the comparisons say {found}")
    beside = {name.partition(" ")[0] for name in parts[0]["beside"]}
    if content["grade"] in EXACT_GRADES and "float" in beside:
        raise CertificateError("grade", f"{content['grade']}, with comparisons in floating point beside")
    if content["grade"] == "proved" and "symbolic" not in beside:
        raise CertificateError("grade", "proved, without a symbolic comparison")
    if content["reads"] != file_reads(content):
        raise CertificateError("reads", "the sentence says something else than the data")
    if content["digest"] != digest(content):
        raise CertificateError("digest", "the content was changed after the digest was taken")
    comparisons = [comparison for part in parts for comparison in part["comparisons"]]
    programs = sum(comparison["program"] is not None for comparison in comparisons)
    head = {name: content[name] for name in ("claim", "verdict", "grade")}
    return {**head, "comparisons": len(comparisons), "programs": programs, "digest": content["digest"]}


def _check_depth(content: Any, most: int = 100) -> None:
    """Refuse deeply nested lists and objects; those of claims have about ten levels."""
    nodes = [content]
    for _ in range(most):
        within_nodes = (x.values() if isinstance(x, dict) else x for x in nodes if isinstance(x, dict | list))
        nodes = [x for entries in within_nodes for x in entries]
    if nodes:
        raise CertificateError("file", f"more than {most} lists or objects within each other")


def _check_head(content: Mapping[str, Any]) -> None:
    if not _CLAIM.fullmatch(content["claim"]):
        raise CertificateError("claim", "is no id such as paper.thm-1")
    if content["grade"] not in _GRADES:
        raise CertificateError("grade", f"{str(content['grade'])[:60]!r} is none of {', '.join(map(str, _GRADES))}")


def _check_part(part: Any) -> None:
    _keys(part, _PART, "part")
    for name in ("of", "statement", "verdict"):
        _text(part[name], name)
    found: Counter[str] = Counter()
    for name, count in _mapping(part["beside"], "beside").items():
        if type(count) is not int or count < 1 or not _BESIDE.fullmatch(name):
            raise CertificateError(f"beside.{name}", f"{count!r} is no count")
        found[name.partition(" ")[2]] += count
    for i, comparison in enumerate(_list(part["comparisons"], "comparisons")):
        with within(f"comparisons[{i}]"):
            _check_comparison(comparison)
        found[comparison["verdict"]] += 1
    if not found:
        raise CertificateError("comparisons", "a verdict on nothing")
    verdict = verdict_of(found)
    if part["verdict"] != verdict:
        raise CertificateError("verdict", f"{part['verdict']}, where the comparisons say {verdict}")
    if part["reads"] != part_reads(part):
        raise CertificateError("reads", "the sentence says something else than the data")


def verdict_of(found: Mapping[str, int]) -> str:
    """What comparisons say of a statement, from how many of them came out how."""
    if found.get("false"):
        return "refuted"
    return "undecided" if found.get("undecided") else "holds"


def _check_comparison(comparison: Any) -> None:
    _keys(comparison, _COMPARISON, "comparison")
    for name in ("at", "serves", "verdict"):
        _text(comparison[name], name)
    for i, call in enumerate(_list(comparison["inputs"], "inputs")):
        check_fields(_mapping(call, f"inputs[{i}]"), f"inputs[{i}]")
    for name in ("computed", "claimed"):
        check_value(comparison[name], name)
    verdict = decide(comparison["computed"], comparison["relation"], comparison["claimed"])
    if comparison["verdict"] != verdict:
        raise CertificateError("verdict", f"{comparison['verdict']}, where the values say {verdict}")
    if comparison["program"] is not None:
        with within("program"):
            _check_program(comparison["program"], comparison["computed"])
    if comparison["reads"] != comparison_reads(comparison):
        raise CertificateError("reads", "the sentence says something else than the data")


def _check_program(program: Any, computed: Value) -> None:
    """That a side of a comparison is, up to a sign, the optimum of a linear program."""
    _keys(program, _PROGRAM, "program")
    lengths = {
        name: len(_list(program[name], name))
        for name in ("costs", "columns", "senses", "rhs", "free", "primal", "dual")
    }
    for j in range(lengths["columns"]):
        _list(program["columns"][j], f"columns[{j}]")
    try:
        parsed = LinearProgram(
            _rationals(program["costs"], "costs"),
            tuple(_entries(column, f"columns[{j}]") for j, column in enumerate(program["columns"])),
            tuple(program["senses"]),
            _rationals(program["rhs"], "rhs"),
            frozenset(_index(j, f"free[{i}]") for i, j in enumerate(program["free"])),
        )
    except InputError as error:
        raise CertificateError(error.argument, f"{error.value} (expected {error.expected})") from error
    bracket = Certificate(_entries(program["primal"], "primal"), _rationals(program["dual"], "dual")).prove(parsed)
    optimum = rational(program["optimum"], "optimum")
    if not bracket.lower == bracket.upper == optimum:
        raise CertificateError("optimum", f"{optimum}, where the vectors prove [{bracket.lower}, {bracket.upper}]")
    if type(program["sign"]) is not int or abs(program["sign"]) != 1:
        raise CertificateError("sign", f"{program['sign']!r} is neither 1 nor -1")
    if computed != str(program["sign"] * optimum):
        raise CertificateError("optimum", f"{program['sign']} times {optimum} is not {computed}")
    if program["reads"] != program_reads(program):
        raise CertificateError("reads", "the sentence says something else than the data")


def _rationals(texts: Sequence[Any], place: str) -> tuple[Fraction, ...]:
    return tuple(rational(text, f"{place}[{i}]") for i, text in enumerate(texts))


def _entries(entries: Sequence[Any], place: str) -> tuple[tuple[int, Fraction], ...]:
    """Pairs of an index and a rational."""
    found = []
    for i, entry in enumerate(entries):
        if not isinstance(entry, list) or len(entry) != 2:
            raise CertificateError(f"{place}[{i}]", "no pair of an index and a rational")
        found.append((_index(entry[0], f"{place}[{i}][0]"), rational(entry[1], f"{place}[{i}][1]")))
    return tuple(found)


def _index(value: Any, place: str) -> int:
    if type(value) is not int or value < 0:
        raise CertificateError(place, f"{value!r} is no index")
    return value


def _keys(content: Any, expected: frozenset[str], what: str) -> None:
    if not isinstance(content, dict):
        raise CertificateError(what, f"{type(content).__name__} is no object")
    if content.keys() != expected:
        name = min(map(str, expected ^ content.keys()))
        raise CertificateError(name, "is missing" if name in expected else "is not known")


def _text(value: Any, place: str) -> None:
    if not isinstance(value, str):
        raise CertificateError(place, f"{value!r} is no text")


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise CertificateError(place, f"{type(value).__name__} is no list")
    return value


def _mapping(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise CertificateError(place, f"{type(value).__name__} is no object")
    return value


def _texts(value: Any, place: str) -> None:
    for name, text in _mapping(value, place).items():
        _text(text, f"{place}.{name}")
