"""Write the closed forms of the named mechanisms, derived from their definitions."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import sympy as sp

from symshuffle.decompositions import closed_forms
from symshuffle.design.comparison.proposals import blanket_variance
from symshuffle.mechanisms.affine import affine_hashing
from symshuffle.mechanisms.given import LAM_PARAMETER
from symshuffle.mechanisms.members import TOLD, BitStrings
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.registry import MECHANISMS, mechanism
from symshuffle.mechanisms.symbolic import normal_form, written
from symshuffle.utility.estimation.moments import largest_pairwise_budget
from symshuffle.utility.estimation.votes import is_alike, sums_in_texts
from symshuffle.utility.frontiers.formulas import law_formulas
from symshuffle.utility.frontiers.formulas import texts as capped_texts


def derived() -> dict[str, Any]:
    """What belongs on file, by name of the mechanism."""
    found = {}
    for name in MECHANISMS:
        one = mechanism(name)
        found[name] = {
            "thinned": False,
            **_described(one),
            **({} if one.parameters[:1] != (LAM_PARAMETER,) else {"moments": _moments(one)}),
            **_shown(one),
            **({"capped": capped_texts()} if name == "subset-selection" else {}),
        }
    hashing = affine_hashing()  # no name: plans of surveys alone ask for it
    found[hashing.name] = {
        "thinned": False,
        **_described(hashing),
    }
    return found


def _shown(one: Mechanism) -> dict[str, Any]:
    """What commands show of a mechanism with all parameters open."""
    return {
        "row": _row(one),
        "law": law_formulas(one).to_dict(),
    }


def _moments(general: Mechanism) -> dict[str, Any]:
    """What a comparison asks of a mechanism with all parameters open: its entry in the file of closed forms."""
    sums, strings = sums_in_texts(general) if is_alike(general) else (None, None)
    variance, budget = written(blanket_variance(general)), written(largest_pairwise_budget(general))
    return {"chi square": budget, "variance": variance, "sums": sums, "strings": strings}


def _row(general: Mechanism) -> dict[str, Any]:
    """What a row says of a mechanism beside its moments: its entry in the file of closed forms.

    ``certain``: whether some message is impossible at some inputs. ``bitwise``: variances of the two kinds of votes of
    bits; None where messages are no strings of bits. ``templates``: mass, and levels with their counts, of each class;
    None where not all arrangements are messages. ``obstructed``: whether two populations of 4, 6, ... inputs send the
    same messages.
    """
    outputs = sp.sympify(general.num_outputs)
    templates: list[Any] = []
    whole = all(one.members is None and one.pair_counts is None for one in general.classes)
    for one in general.classes if whole else ():
        total = normal_form(sum((state.count * state.probability for state in one.states), start=sp.Integer(0)))
        if total == 0:
            continue
        levels = [[written(normal_form(state.probability / total)), written(state.count)] for state in one.states]
        templates.append([written(normal_form(total * one.size)), levels])
    bitwise = _bitwise(general) if is_alike(general) else None
    return {
        "title": general.title,
        "source": general.source,
        "outputs": written(outputs),
        "certain": any(state.probability == 0 for one in general.classes for state in one.states),
        "bitwise": None if bitwise is None else [*map(written, bitwise)],
        "templates": templates if whole else None,
        "obstructed": not is_alike(general) and all(_obstructed(general, size) for size in (4, 6, 8, 10)),
    }


def _bitwise(general: Mechanism) -> tuple[sp.Expr, sp.Expr] | None:
    """Variances of a bit's vote for its own input and for another; None where messages are no strings of bits."""
    strings = [c for c in general.classes if isinstance(c.members, BitStrings)]
    if len(strings) != 1:
        return None
    (mixed,) = strings
    other = mixed.members.other
    own = normal_form(other * mixed.states[0].probability)
    if normal_form(own + (1 - other) * mixed.states[1].probability - 1) != 0:
        return None  # other messages occur as well
    apart = (own - other) ** 2
    found = [normal_form(q * (1 - q) / apart) for q in (own, other)]
    return found[0], found[1]


def _obstructed(general: Mechanism, size: int) -> bool:
    r"""Whether two populations of a mechanism whose pairs of inputs differ send the same messages.

    With :math:`z=e_0+e_h-e_1-e_{h+1}`, ``h`` half the number of inputs, :math:`|z^TW|^2` is a sum over pairs of inputs
    that pair counts give; where it is 0, users half at 0 and half at h, and half at 1 and half at h + 1, do.
    """
    (parameter,) = (p for p in general.parameters if p.symbol in sp.sympify(general.inputs).free_symbols)
    at, half = general.at(**{parameter.name: size}), size // 2
    of, told = at.pair.class_of, at.pair.by
    if of is None or told is None:
        return False
    signs = {0: 1, half: 1, 1: -1, half + 1: -1}
    total = sp.Integer(0)
    for x, sign in signs.items():
        for y, other in signs.items():
            roles = (0, 0) if x == y else (0, 1)
            for shown, count in ((s, c) for one in at.classes for s, c in one.shown(at.inputs, roles)):
                found = count if x == y else count.subs(told, of({parameter.name: size}, x, y))
                total += sign * other * found * shown[0] * shown[1]
    return bool(sp.simplify(total) == 0)


def to_text(forms: Mapping[str, Any]) -> str:
    """What the file holds: JSON, one mechanism per line."""
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(form)}" for name, form in forms.items()) + "\n}\n"


def _described(one: Mechanism) -> dict[str, Any]:
    own = [p for p in one.parameters if p.name != "lam"]
    told = one.pair.by
    return {
        "pairs": one.pair.words,
        "by": None if told is None else str(told),
        "told": next((name for name, class_of in TOLD.items() if class_of is one.pair.class_of), None),
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
                "kind": None if p.kind is None else p.kind[0],
                "default": None if p.default is None or p.has_limit else written(p.default),
                "meaning": p.meaning,
            }
            for p in own
        ],
    }


def write() -> None:
    """Write the file."""
    target = Path(closed_forms.__file__).with_name(closed_forms.FILE)
    target.write_text(to_text(derived()), encoding="utf-8")


if __name__ == "__main__":
    write()
