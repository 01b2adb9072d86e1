"""Write the closed forms of the named mechanisms, and of thinned ones, derived from their definitions."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from symshuffle.base.choices import Others
from symshuffle.base.errors import Unsupported
from symshuffle.cli.laws import formulas_in_texts
from symshuffle.decompositions import closed_forms
from symshuffle.decompositions.backgrounds import slope_in
from symshuffle.decompositions.shown import shown_in_texts
from symshuffle.decompositions.symbolic import counted_decomposition, lines_of, optimal_decomposition
from symshuffle.design.comparison.families import names
from symshuffle.design.comparison.forms import moments_in_texts, row_in_texts
from symshuffle.mechanisms.given import LAM_PARAMETER
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import mechanism, thinned
from symshuffle.mechanisms.symbolic import written
from symshuffle.mechanisms.thin import THINNED
from symshuffle.utility.frontiers.formulas import law_formulas


def derived() -> dict[str, Any]:
    """What belongs on file, by name of the mechanism."""
    found = {}
    for name in names():
        thin = name.startswith(THINNED)
        one = thinned(name.removeprefix(THINNED)) if thin else mechanism(name)
        limits = any(p.has_limit for p in one.parameters)
        found[name] = {
            "thinned": thin,
            **_described(one),
            "cells": dict(_decompositions(one, limits=False)),
            "limit": dict(_decompositions(one, limits=True)) if limits else {},
            **({} if thin or one.parameters[:1] != (LAM_PARAMETER,) else {"moments": moments_in_texts(one)}),
            **({} if thin else _shown(one)),
        }
    return found


def _shown(one: Mechanism) -> dict[str, Any]:
    """What commands show of a mechanism with all parameters open."""
    return {
        "row": row_in_texts(one),
        "shown": shown_in_texts(one),
        "law": formulas_in_texts(law_formulas(one)),
        "listed": [one.title, {p.name: f"{p.meaning}; {p.range}" for p in one.parameters}, one.source],
    }


def to_text(forms: Mapping[str, Any]) -> str:
    """What the file holds: JSON, one mechanism per line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(form)}" for name, form in forms.items()) + "\n}\n"


def _described(one: Mechanism) -> dict[str, Any]:
    own = [p for p in one.parameters if p.name != "lam"]
    told = one.pair.by
    slope = None if told is None else slope_in(optimal_decomposition(one), told)
    return {
        "pairs": one.pair.words,
        "by": None if told is None else str(told),
        "slope": None if slope is None else [[*map(written, (*ratios, rate))] for ratios, rate in slope.atoms],
        "defaults": any(p.default is not None and not p.has_limit for p in own),
        "inputs": written(one.inputs),
        "budget": len(own) < len(one.parameters),
        "parameters": [
            {
                "name": p.name,
                "lower": written(p.lower),
                "upper": None if p.upper is None else written(p.upper),
                "integer": p.integer,
                "limit": p.has_limit,
                "kind": None if p.kind is None else p.kind.words,
                "default": None if p.default is None or p.has_limit else written(p.default),
            }
            for p in own
        ],
    }


def _decompositions(one: Mechanism, *, limits: bool) -> Iterator[tuple[str, list[list[Any]]]]:
    """The cells over the blanket (the left-over last) and over each constant background, written out."""
    for others in Others:
        try:
            found = counted_decomposition(one, others=others, limits=limits)
        except Unsupported:  # a third input that no class counts
            continue
        yield others, lines_of(found.cells, found.beta if others == "blanket" else None)


if __name__ == "__main__":
    target = Path(closed_forms.__file__).with_name(closed_forms.FILE)
    target.write_text(to_text(derived()), encoding="utf-8")
