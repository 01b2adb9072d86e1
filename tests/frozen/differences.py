"""Whether an answer says what was recorded: equal, overlapping, or worse."""

import re
from fractions import Fraction

from tests.frozen.answers import BALL

STRENGTH = {"float64": 0, "ball": 1, "exact": 2}
USUAL = 1e-6
"""Relative width that is aimed at where a request names none."""
ROUNDING = 1e-9
"""Relative difference of numbers that come without a bracket, and of the last digit of ends that are no wider."""
TINY = 1e-15
"""Absolute difference of such numbers."""
DECIMAL = re.compile(r"-?\d+(\.\d+)?([eE][-+]?\d+)?")


WIDTH = re.compile(r"\brel[= ]([\d.e-]+)")


def asked_width(request):
    """The relative width that a request asks for."""
    found = WIDTH.search(request)
    return float(found[1]) if found else USUAL


def differences(recorded, found, asked=USUAL, *, identity=False):
    """In what an answer falls short of the recorded one, one line each.

    Parameters
    ----------
    recorded, found : dict
        Answers as they are kept.
    asked : float
        Relative width that was asked for.
    identity : bool
        Whether all numbers have to be equal, those in floating point too.
    """
    return list(_in_value(recorded, found, "", {"asked": asked, "identity": identity}))


def _argument(text):
    """The argument of a refusal, which the command line calls by its option since the answers were recorded."""
    parts = (part.lstrip("-").replace("-", "_") for part in str(text).split(", "))
    return ", ".join("mechanism" if part == "MECH" else part for part in parts)


def _in_value(old, new, path, about):
    if old == new or (path.rpartition(".")[2] == "argument" and _argument(old) == _argument(new)):
        return
    if type(old) is not type(new) and not (_is_number(old) and _is_number(new)):
        yield f"{path or '.'}: {old} became {new}"
    elif isinstance(old, dict):
        yield from _in_object(old, new, path, about)
    elif isinstance(old, list):
        if len(old) != len(new):
            yield f"{path}: {len(old)} entries became {len(new)}"
        else:
            for i, (one, other) in enumerate(zip(old, new, strict=True)):
                yield from _in_value(one, other, f"{path}[{i}]", about)
    elif about["identity"] or not _close(old, new, max(about["asked"], ROUNDING)):
        yield f"{path}: {old} became {new}"


def _in_object(old, new, path, about):
    """A bracket takes arithmetic and engine from the object around it, where it has none of its own."""
    here, left = about, set(old)
    if not about["identity"]:
        here = about | {name: (old[name], new.get(name)) for name in ("arithmetic", "engine") if name in old}
        left -= {"arithmetic", "engine"}
        if _weaker(*here.get("arithmetic", ("", ""))) and "arithmetic" in old:
            yield f"{path}.arithmetic: {old['arithmetic']} became {new.get('arithmetic')}"
        if old.keys() >= {"lower", "upper"} <= new.keys():
            yield from _in_bracket(old, new, path, here)
            left -= {"lower", "upper"}
    for name in sorted(left):
        inside = f"{path}.{name}".lstrip(".")
        if name not in new:
            yield f"{inside}: {old[name]} is no longer there"
        elif name == "attained_lower" and not about["identity"]:
            if Fraction(new[name]) < Fraction(old[name]) * (1 - Fraction(about["asked"])):
                yield f"{inside}: fell from {old[name]} to {new[name]}"
        else:
            yield from _in_value(old[name], new[name], inside, here)


def _in_bracket(old, new, path, about):
    ends = f"[{old['lower']}, {old['upper']}] became [{new['lower']}, {new['upper']}]"
    was, (engine, other) = about.get("arithmetic", ("", ""))[0], about.get("engine", ("", ""))
    if (old["lower"], old["upper"]) == (new["lower"], new["upper"]):
        return
    infinite = any("inf" in str(end) for one in (old, new) for end in (one["lower"], one["upper"]))
    if infinite or was == "exact" or (was == "ball" and engine == other):
        yield f"{path}: {ends}, {was}"
        return
    (low, high), (lower, upper) = _ends(old), _ends(new)
    if not (low <= upper and lower <= high):
        yield f"{path}: {ends}, disjoint"
    allowed = max((high - low) * (1 + Fraction(ROUNDING)), Fraction(about["asked"]) * max(abs(upper), abs(lower)))
    if upper - lower > allowed:
        yield f"{path}: {ends}, wider than asked"


def _ends(bracket):
    return Fraction(bracket["lower"]), Fraction(bracket["upper"])


def _weaker(was, now):
    return STRENGTH.get(now, -1) < STRENGTH.get(was, -1)


def _is_number(value):
    return isinstance(value, int | float) and not isinstance(value, bool)


def _close(old, new, tolerance):
    """Balls overlap; decimals and doubles differ by rounding; all else, integers and ratios too, is equal."""
    if isinstance(old, str):
        one, other = BALL.fullmatch(old), BALL.fullmatch(new)
        if one and other:
            (mid, rad), (centre, radius) = (map(float, (ball[1] or "0", ball[2])) for ball in (one, other))
            return abs(mid - centre) <= rad + radius + ROUNDING * abs(mid)
        if not (DECIMAL.fullmatch(old) and DECIMAL.fullmatch(new) and {*".e"} & {*old, *new}):
            return False
    elif isinstance(old, bool) or not (isinstance(old, float) or isinstance(new, float)):
        return False
    return abs(float(old) - float(new)) <= tolerance * max(abs(float(old)), abs(float(new))) + TINY
