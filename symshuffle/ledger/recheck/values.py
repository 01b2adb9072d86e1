"""Values of a certificate: how they are written, compared and spoken of."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from typing import Any, Final, TypeAlias

from symshuffle.base.errors import CertificateError

Value: TypeAlias = Any
"""A side of a comparison as JSON: ``"p/q"``, ``{"ball": [lower, upper]}``, ``{"text": "..."}``, true, false, null, a
list, ``{"set": [...]}``, ``{"map": [[key, value], ...]}``, ``{"exp": "p/q"}`` or
``{"record": name, "fields": {...}}``."""

Interval: TypeAlias = tuple[Fraction, Fraction]

_RATIONAL: Final = re.compile(r"-?[0-9]{1,4300}(/[0-9]{1,4300})?", re.ASCII)
"""Python writes and reads integers of at most 4300 digits."""

_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


def decide(computed: Value, relation: Any, claimed: Value) -> str:
    """Whether a relation holds between two values: ``true``, ``false`` or, of balls that overlap, ``undecided``.

    Raises
    ------
    CertificateError
        At ``relation``, if there is none of that name, or it is none between such values.
    """
    first, second = _interval(computed), _interval(claimed)
    if relation not in ("==", "<", ">", "<=", ">="):
        raise CertificateError("relation", f"{relation!r} is none of ==, <, >, <=, >=")
    if first is None or second is None:
        if relation != "==":
            raise CertificateError("relation", f"{relation} between values that are no numbers")
        return "true" if computed == claimed else "false"
    if relation in (">", ">="):
        first, second, relation = second, first, {">": "<", ">=": "<="}[relation]
    (low, high), (lowest, highest) = first, second
    # The relation is true of all pairs of points, or false of all, or that is not decided.
    match relation:
        case "==":
            holds, fails = low == high == lowest == highest, high < lowest or highest < low
        case "<":
            holds, fails = high < lowest, low >= highest
        case _:
            holds, fails = high <= lowest, low > highest
    return "true" if holds else "false" if fails else "undecided"


def _interval(value: Value) -> Interval | None:
    """The ends of a number; None for everything else."""
    if isinstance(value, str):
        return Fraction(value), Fraction(value)
    if isinstance(value, dict) and "ball" in value:
        lower, upper = value["ball"]
        return Fraction(lower), Fraction(upper)
    return None


def check_value(value: Value, place: str) -> None:
    """That a value is well formed, its rationals in lowest terms and its balls not inside out."""
    if isinstance(value, str):
        rational(value, place)
    elif isinstance(value, list):
        for i, entry in enumerate(value):
            check_value(entry, f"{place}[{i}]")
    elif isinstance(value, dict):
        _check_object(value, place)
    elif value is not None and not isinstance(value, bool):
        raise CertificateError(place, f"{str(value)[:60]!r} is no value of a certificate")


def _check_object(value: dict[str, Any], place: str) -> None:
    match value:
        case {"ball": [lower, upper]} if len(value) == 1:
            if rational(lower, f"{place}.ball[0]") > rational(upper, f"{place}.ball[1]"):
                raise CertificateError(f"{place}.ball", f"{lower} > {upper}")
        case {"exp": exponent} if len(value) == 1:
            rational(exponent, f"{place}.exp")
        case {"text": str()} if len(value) == 1:
            pass
        case {"set": list(members)} if len(value) == 1:
            check_value(members, f"{place}.set")
            if not _ascending(members):
                raise CertificateError(f"{place}.set", "the members are not in order, each once")
        case {"map": list(pairs)} if len(value) == 1:
            _check_pairs(pairs, f"{place}.map")
        case {"record": str(name), "fields": dict(fields)} if len(value) == 2 and _NAME.fullmatch(name):
            check_fields(fields, place)
        case _:
            raise CertificateError(place, f"{str(value)[:60]!r} is no value of a certificate")


def check_fields(fields: dict[str, Any], place: str) -> None:
    """That each name is that of an argument, so that the sentence has one meaning, and each value is well formed."""
    for name, entry in fields.items():
        if not _NAME.fullmatch(name):
            raise CertificateError(f"{place}.{name[:60]}", "is no name of letters, digits and _")
        check_value(entry, f"{place}.{name}")


def _check_pairs(pairs: list[Any], place: str) -> None:
    for i, pair in enumerate(pairs):
        check_value(pair, f"{place}[{i}]")
        if not isinstance(pair, list) or len(pair) != 2:
            raise CertificateError(f"{place}[{i}]", "no pair of a key and a value")
    if not _ascending([pair[0] for pair in pairs]):
        raise CertificateError(place, "the keys are not in order, each once")


def _ascending(members: list[Value]) -> bool:
    """Whether what is said of the members is in order, each once."""
    said = [spoken(member) for member in members]
    return said == sorted(set(said))


def rational(text: Any, place: str) -> Fraction:
    """A rational in lowest terms, from its text."""
    if not isinstance(text, str) or not _RATIONAL.fullmatch(text):
        raise CertificateError(place, f"{str(text)[:60]!r} is no rational")
    numerator, _, denominator = text.partition("/")
    if denominator and not denominator.strip("0"):
        raise CertificateError(place, "a denominator of 0")
    found = Fraction(int(numerator), int(denominator or 1))
    if str(found) != text:
        raise CertificateError(place, f"{text} is not in lowest terms")
    return found


def spoken(value: Value) -> str:
    """Text of a value, in one line; values with the same text are equal."""
    match value:
        case str():
            return value
        case None | bool():
            return json.dumps(value)
        case list():
            return f"({', '.join(map(spoken, value))})"
        case {"ball": [lower, upper]}:
            return f"[{lower}, {upper}]"
        case {"exp": exponent}:
            return f"exp({exponent})"
        case {"text": text}:
            return json.dumps(text)
        case {"set": members}:
            return f"{{{', '.join(map(spoken, members))}}}"
        case {"map": pairs}:
            return f"map {{{', '.join(f'{spoken(key)}: {spoken(entry)}' for key, entry in pairs)}}}"
        case {"record": name, "fields": fields}:
            return f"{name}({', '.join(f'{key}={spoken(entry)}' for key, entry in fields.items())})"
        case _:
            return json.dumps(value)


def comparison_reads(comparison: Mapping[str, Any]) -> str:
    """The sentence of a comparison."""
    calls = " ".join(
        f"statement({', '.join(f'{name}={spoken(value)}' for name, value in call.items())})"
        for call in comparison["inputs"]
    )
    return (
        f"{comparison['serves']} at {comparison['at']} ({calls or 'statement not called'}): "
        f"{spoken(comparison['computed'])} {comparison['relation']} {spoken(comparison['claimed'])} "
        f"is {comparison['verdict']}"
    ).strip()


def program_reads(program: Mapping[str, Any]) -> str:
    """The sentence of a linear program."""
    rows: list[list[str]] = [[] for _ in program["rhs"]]
    for j, column in enumerate(program["columns"]):
        for i, entry in column:
            rows[i].append(f"{entry} x{j}")
    subject = "; ".join(
        f"{' + '.join(row) or '0'} {sense} {bound}"
        for row, sense, bound in zip(rows, program["senses"], program["rhs"], strict=True)
    )
    costs = " + ".join(f"{cost} x{j}" for j, cost in enumerate(program["costs"]))
    free = ", ".join(f"x{j}" for j in program["free"])
    attained = ", ".join(f"x{j} = {value}" for j, value in program["primal"])
    return (
        f"minimise {costs} subject to {subject}, free: {free or 'none'}; the optimum {program['optimum']}, taken with "
        f"sign {program['sign']}, is attained at {attained or 'zero'}, with multipliers {', '.join(program['dual'])}"
    )


def part_reads(part: Mapping[str, Any]) -> str:
    """The sentence of the printed or the corrected statement."""
    found = Counter(comparison["verdict"] for comparison in part["comparisons"])
    here = ", ".join(f"{found[verdict]} {verdict}" for verdict in ("true", "false", "undecided") if found[verdict])
    beside = ", ".join(f"{count} {name}" for name, count in part["beside"].items())
    return (
        f"{part['of']}: {part['statement']}: {part['verdict']}; compared here: {here or 'nothing'}; compared by the "
        f"check without exact values: {beside or 'nothing'}"
    )


def file_reads(content: Mapping[str, Any]) -> str:
    """The sentence of the whole file."""
    versions = ", ".join(f"{name} {text}" for name, text in content["versions"].items())
    return (
        f"{content['claim']}, {content['title']} ({content['source']}): {content['verdict']}, "
        f"{content['grade'] or 'no grade'}, {len(content['parts'])} statements; {content['scope']}; "
        f"made with {versions}"
    )
