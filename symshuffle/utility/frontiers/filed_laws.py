"""Formulas of a law of templates at values of some parameters, from those on file: no algebra is done."""

from __future__ import annotations

import re
from fractions import Fraction
from typing import Any

from symshuffle.decompositions.filed_values import FiledValues
from symshuffle.decompositions.quotient_texts import QuotientTexts


def law_at(asked: FiledValues, n: int | None, exp_eps: str | None) -> dict[str, Any] | None:
    """The texts on file with values put in; None where a size was given that needs enumeration, or a risk is infinite.

    - ``n``, ``exp_eps``: number of users, and order of the hockey-stick envelope; None leaves them open.
    """
    answer = asked.form["law"]["answer"]
    if answer["refused"] and any(re.search(rf"\b{name}\b", asked.form["inputs"]) for name in asked.numbers):
        return None
    try:
        return _at(asked, n, exp_eps)
    except ZeroDivisionError:
        return None


def _at(asked: FiledValues, n: int | None, exp_eps: str | None) -> dict[str, Any]:
    kept = asked.form["law"]
    answer = kept["answer"]
    values = dict(asked.numbers) if n is None else {**asked.numbers, "n": Fraction(n)}
    reader = QuotientTexts(values, asked.lam, root="sqrt(" in str(answer))

    def put(text: str | None) -> str | None:
        if text is None or text == "oo" or text.startswith("Sum("):
            return text
        return str(reader.read(_named(text)))

    found = {name: put(answer[name]) for name in kept["words"]}
    if answer["ratio_cap"] != "oo":
        found["hockey_stick_envelope"] = _envelope(reader, answer["ratio_cap"], str(n or "n"), exp_eps or "exp(eps)")
    law = [
        {
            "mass": put(one["mass"]),
            "levels": [{name: put(text) for name, text in level.items()} for level in one["levels"]],
        }
        for one in answer["law"]
    ]
    symbols = {"lam": "lambda"}
    return {
        "answer": {"law": law, **found, "refused": answer["refused"]},
        "name": asked.title,
        "ranges": {one.name: f"{symbols.get(one.name, one.name)}: {one.range(asked.numbers)}" for one in asked.left},
        "words": kept["words"],
    }


def _named(text: str) -> str:
    """A formula as Python reads it, to which ``lambda`` is no name."""
    return re.sub(r"\blambda\b", "lam", text)


def _envelope(reader: QuotientTexts, cap: str, users: str, order: str) -> str:
    """The finite sum over counts of :func:`symshuffle.utility.frontiers.formulas.hockey_stick_envelope`."""
    ratio, n, c = (reader.read(_named(text)) for text in (cap, "n", "c"))
    base, whole = (f"({one})" if set(" */") & set(str(one)) else str(one) for one in (ratio, ratio + reader.number(1)))
    power = "" if base == "1" else f"{base}**({users} - c)*"
    excess = (c * ratio + (n - c) / ratio) / n
    return f"Sum({power}binomial({users}, c)*Max(0, {excess} - {order}), (c, 0, {users}))/{whole}**{users}"
