"""What is kept of an answer: numbers, truth values and words of enumerations; no sentence, and no way of computing."""

import dataclasses
import hashlib
import re
from decimal import Context, Decimal
from enum import Enum
from fractions import Fraction

WORDS = {"arithmetic", "safe", "adjacency", "direction", "kind", "criterion", "blanket", "mechanism", "population"}
"""Keys whose text is a word of an enumeration, or the name of what was asked about."""
DERIVED = {"log10_lower", "log10_upper", "relative_width", "gap", "aimed"}
"""What follows from the ends of a bracket."""
LEFT_OUT = {
    "evaluation", "about", "meaning", "theorem", "space", "title", "source", "latex", "certificate", "inputs",
    "versions", "seconds", "attained_by", "datasets", "proposed",
}  # fmt: skip
"""Sentences and proofs, what was asked, and what another run does differently."""
WORD = re.compile(r"[A-Za-z0-9-]{1,24}")
NUMBER = re.compile(r"-?\d+(/\d+|(\.\d+)?([eE][-+]?\d+)?)|-?inf|exp\(-?\d+(/\d+)?\)")
BALL = re.compile(r"\[(?:(-?[\d.]+(?:e[-+]?\d+)?) )?\+/- ([\d.]+(?:e[-+]?\d+)?)\]")
LONGEST = 44
"""Characters of a rational that is kept in full."""
MANY = 24
"""Entries of a list of numbers that is kept in full."""


def plain(value):
    """A result as JSON: its ``to_dict`` where it has one, otherwise its public fields."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, Enum):
        return plain(value.value)
    if isinstance(value, str | Fraction):
        return str(value)
    if hasattr(value, "to_dict"):
        return plain(value.to_dict())
    if isinstance(value, dict):
        return {str(name): plain(part) for name, part in value.items()}
    if dataclasses.is_dataclass(value):
        fields = {one.name: getattr(value, one.name) for one in dataclasses.fields(value)}
        return {name: plain(part) for name, part in fields.items() if not callable(part) and name[0] != "_"}
    if isinstance(value, list | tuple):
        return [plain(part) for part in value]
    if isinstance(value, set | frozenset):
        return sorted(map(plain, value), key=str)
    return plain(value.tolist()) if hasattr(value, "tolist") else str(value)


def frozen(value, arithmetic=None):
    """The part of JSON that is kept; None where nothing is.

    Parameters
    ----------
    value
        Anything that ``json.loads`` returns.
    arithmetic : str, optional
        That of the answer around it.
    """
    if isinstance(value, dict):
        return _frozen_object(value, value.get("arithmetic", arithmetic))
    if isinstance(value, list):
        if len(value) > MANY and not any(isinstance(part, dict | list) for part in value):
            return {"length": len(value), "some": frozen(value[:: len(value) // 12], arithmetic)}
        return [frozen(part, arithmetic) for part in value]
    return _number(value) if isinstance(value, str) else value


def _frozen_object(value, arithmetic):
    bracket = "lower" in value and "upper" in value
    kept = {}
    for name, part in value.items():
        if name in LEFT_OUT or (name in DERIVED and (bracket or "attained_lower" in value)):
            continue
        if name == "engine":
            found = part if arithmetic == "ball" else None  # another engine may give another ball
        elif name == "exact" and isinstance(part, str):
            found = part if len(part) <= LONGEST else "sha:" + hashlib.sha256(part.encode()).hexdigest()[:16]
        elif name in WORDS and isinstance(part, str) and WORD.fullmatch(part):
            found = part
        elif name == "pairs" and isinstance(part, str):
            found = None if value.get("every_pair") else [int(digits) for digits in re.findall(r"\d+", part)]
        else:
            found = frozen(part, arithmetic)
        if found is not None and found != {} and found != []:
            kept[name] = found
    return kept


def _number(text):
    """A number as text, a long rational by its first digits; None for any other text."""
    if BALL.fullmatch(text):
        return text
    if not NUMBER.fullmatch(text):
        return None
    if "/" in text and len(text) > LONGEST and "exp" not in text:
        above, below = map(Decimal, text.split("/"))
        return f"{Context(prec=18).divide(above, below):e}"
    return text


def frozen_claim(found):
    """What is kept of the outcome of a claim: verdict, grade, cases, controls and obligations."""
    corrected = found["corrected"] or {}
    return {
        "verdict": found["verdict"],
        "grade": found["grade"],
        "cases": found["comparisons"],
        "controls": [found["controls_rejected"], found["controls"]],
        "symbolic_rejection": found["symbolic_rejection"],
        "obligations": found["obligations"],
        "clauses": [clause["verdict"] for clause in found["clauses"]],
        "corrected": [corrected.get("verdict"), corrected.get("grade")],
    }
