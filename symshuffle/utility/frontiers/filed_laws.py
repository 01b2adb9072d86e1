"""Formulas of a law of templates at values of some parameters, from those on file: no algebra is done."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, final

from symshuffle.base.numbers import DEFAULT_BITS, Ball, Real, enclose
from symshuffle.decompositions.calculated import number_at
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.decompositions.quotient_texts import OpenQuotient, QuotientTexts
from symshuffle.mechanisms.members import strings_counted

FORMULAS: Final[Mapping[str, str]] = {
    "trace": "trace",
    "budget": "largest chi-square of two rows",
    "ratio_cap": "largest likelihood ratio",
    "iid_risk": "worst i.i.d. risk",
    "fixed_risk": "worst fixed-composition risk",
    "chi_square": "chi-square leakage, worst pair",
    "chi_square_envelope": "its envelope",
    "hockey_stick_envelope": "hockey-stick envelope",
}
"""Names of the formulas, and what each is."""

_RISKS: Final = ("iid_risk", "fixed_risk")
_SYMBOLS: Final = {"lam": "lambda"}


def law_at(asked: ClosedForm, n: int | None, exp_eps: str | None, *, largest: int = 40) -> dict[str, Any]:
    """The texts on file with values put in; at a size, outputs with one template up to order are counted together.

    - ``n``, ``exp_eps``: number of users, and order of the hockey-stick envelope; None leaves them open.
    - ``largest``: lengths of strings up to which formulas at a size are written: they have as many terms.
    """
    answer: Mapping[str, Any] = asked.form["law"]
    about = {
        "name": asked.title,
        "ranges": {one.name: f"{_SYMBOLS.get(one.name, one.name)}: {one.range(asked.numbers)}" for one in asked.left},
        "words": FORMULAS,
    }
    if not asked.arguments and n is None and exp_eps is None:
        return {"answer": answer, **about}
    refused = dict(answer["refused"])
    values = asked.numbers if n is None else {**asked.numbers, "n": Fraction(n)}
    reader = QuotientTexts(values, asked.lam, root=asked.name == "rappor")
    infinite = f"mechanism = {asked.name}: expected rows that span all contrasts (the risk is infinite)"

    def put(text: str | None) -> str | None:
        if text is None or text == "oo" or text.startswith("Sum("):
            return text
        return str(reader.read(_named(text)))

    found: dict[str, str | None] = {}
    for name in FORMULAS:
        try:
            found[name] = put(answer[name])
        except ZeroDivisionError:
            found[name], refused[name] = None, infinite
    if answer["ratio_cap"] != "oo":
        found["hockey_stick_envelope"] = _envelope(reader, answer["ratio_cap"], str(n or "n"), exp_eps or "exp(eps)")
    law = [
        {"mass": put(one["mass"]), "levels": [{key: put(text) for key, text in of.items()} for of in one["levels"]]}
        for one in answer["law"]
    ]
    size = int(asked.numbers.get(asked.form["inputs"], 0))
    if size > largest and "trace" in refused:
        most = f"{asked.form['inputs']} = {size}: expected at most {largest} where other parameters are open"
        refused |= dict.fromkeys(("trace", *_RISKS), most)
    elif size and refused.keys() & set(_RISKS):
        if answer["trace"] is None:
            templates = _templates(asked, reader, size)
            signal = sum((one.signal for one in templates), start=reader.number(0))
            found["trace"], law = str(signal), [one.told() for one in templates]
        else:
            signal = reader.read(_named(answer["trace"]))
        # Half arcs hide a contrast from 4 inputs on: the rows of an input and of its opposite have one sum for all.
        seen = signal and (size == 2 or asked.name != "half-block")
        told = _risks(reader, size, signal) if seen else dict.fromkeys(_RISKS)
        found, refused = found | told, {} if seen else dict.fromkeys(_RISKS, infinite)
    return {"answer": {"law": law, **found, "refused": refused}, **about}


def law_numbers(asked: ClosedForm, lam: Real, n: int) -> dict[str, Any] | None:
    """The law at a ratio, with balls for numbers, from its formulas in the ratio; None where some have no formula.

    - ``asked``: the values of all parameters but the ratio.
    - ``n``: number of users.
    """
    texts = law_at(asked, n, None)["answer"]
    names = ("trace", "budget", "ratio_cap", *_RISKS)
    if not texts["law"] or any(texts[name] in (None, "oo") for name in names):
        return None

    def number(text: str) -> Ball:
        return enclose(number_at(_named(text), {"lam": lam}, DEFAULT_BITS))

    law = [
        (number(one["mass"]), [(int(of["coordinates"]), number(of["value"])) for of in one["levels"]])
        for one in texts["law"]
    ]
    return {"law": law, **{name: number(texts[name]) for name in names}}


def _risks(reader: QuotientTexts, size: int, signal: OpenQuotient) -> dict[str, str | None]:
    """Worst risks where inputs are alike and all contrasts are seen (anchored, Corollary 6.3)."""
    votes, users, share = reader.number((size - 1) ** 2) / signal, reader.read("n"), Fraction(size - 1, size)
    return {"iid_risk": str(votes / users), "fixed_risk": str((votes - reader.number(share)) / users)}


@final
@dataclass(frozen=True, slots=True)
class _Template:
    """Outputs of one template up to order: its levels with numbers of coordinates, and their mass."""

    levels: tuple[tuple[OpenQuotient, int], ...]
    mass: OpenQuotient

    @property
    def signal(self) -> OpenQuotient:
        """What they add to the trace."""
        first, *rest = (self.mass * (-(1 - value)) ** 2 * count for value, count in self.levels)
        return sum(rest, start=first)

    def told(self) -> dict[str, Any]:
        """The texts that are shown."""
        return {"mass": str(self.mass), "levels": [{"value": str(v), "coordinates": str(k)} for v, k in self.levels]}


def _templates(asked: ClosedForm, reader: QuotientTexts, size: int) -> list[_Template]:
    """Those of strings of bits of a size."""
    found: dict[tuple[tuple[OpenQuotient, int], ...], OpenQuotient] = {}
    zero = reader.number(0)
    for one in reader.classes(asked.name, [parameter.name for parameter in asked.parameters]):
        entries = [zero + state.probability for state in one.states]
        for counts, weight in strings_counted(one.members, size):
            several = [(entry, count) for entry, count in zip(entries, counts, strict=False) if count]
            average = sum((entry * count for entry, count in several), start=zero) / reader.number(size)
            if average:
                levels = tuple((entry / average, count) for entry, count in several)
                if len({value for value, _ in levels}) == 1:
                    levels = ((levels[0][0], size),)
                found[levels] = found.get(levels, zero) + weight * average
    return list(itertools.starmap(_Template, found.items()))


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
