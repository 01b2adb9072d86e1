"""A family's closed forms in doubles: what a search for good parameters looks at. Nothing here is quoted."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Final, TypeAlias, final

from symshuffle.accountants.bounds.guided import level
from symshuffle.base.choices import Loss, Others
from symshuffle.base.crossings import zero_between
from symshuffle.base.errors import Unsupported
from symshuffle.decompositions.calculated import compiled
from symshuffle.decompositions.closed_forms import lines_on_file
from symshuffle.design.comparison.families import Family
from symshuffle.utility.estimation.votes import is_alike, string_terms, sums_in_texts

if TYPE_CHECKING:  # what is on file needs no algebra
    import sympy as sp

    from symshuffle.mechanisms.model import Mechanism

Values: TypeAlias = Mapping[str, float]
"""Free parameters by name."""

LARGEST_EPS0: Final = 64
"""Local levels beyond this are not tried."""

_FAR: Final = 700.0


@cache
def blanket_variance(mechanism: Mechanism) -> sp.Expr:
    r"""The second moment :math:`\sum(a-b)^2/c` over the cells of the optimal decomposition, at the worst pair.

    Divided by ``n`` it is all that is left of the certified bound for many users and small eps. It ranks parameters
    before they are matched; no privacy number is read off it.
    """
    import sympy as sp

    from symshuffle.decompositions.counting import count_cells
    from symshuffle.mechanisms.registry import is_named
    from symshuffle.mechanisms.symbolic import LAM

    told = mechanism.pair.by
    kept = lines_on_file(mechanism.name, False, Others.BLANKET) if is_named(mechanism) else None
    if kept is None:
        cells = [(cell.a, cell.b, cell.c) for cell in count_cells(mechanism, (0, 1))[0]]
    else:
        named = {"lam" if p.symbol == LAM else p.name: p.symbol for p in mechanism.parameters}
        cells = [tuple(sp.sympify(text, locals=named) for text in line[:3]) for line in kept]
    total = sp.Add(*((a - b) ** 2 / c for a, b, c in cells if c != 0 and a != b))
    if told is None:
        return total
    (parameter,) = (p for p in mechanism.parameters if p.symbol == told)
    return total.subs(told, parameter.upper)


@final
@dataclass(frozen=True, slots=True)
class Forms:
    """Functions of ``lam`` and the free parameters, in doubles.

    A null symbol scales both measures and the trace by the share ``p`` of the other messages.

    - ``risk``: loss of one user; None where no unbiased estimator is known.
    """

    chi_square: Callable[[float, Values], float]
    variance: Callable[[float, Values], float]
    risk: Callable[[float, Values], float] | None


def moments_in_texts(general: Mechanism) -> dict[str, Any]:
    """What a comparison asks of a mechanism with all parameters open: its entry in the file of closed forms."""
    from symshuffle.mechanisms.symbolic import written
    from symshuffle.utility.estimation.moments import largest_pairwise_budget

    sums, strings = sums_in_texts(general) if is_alike(general) else (None, None)
    variance, budget = written(blanket_variance(general)), written(largest_pairwise_budget(general))
    return {"chi square": budget, "variance": variance, "sums": sums, "strings": strings}


def row_in_texts(general: Mechanism) -> dict[str, Any]:
    """What a row says of a mechanism beside its moments: its entry in the file of closed forms.

    ``certain``: whether some message is impossible at some inputs. ``bitwise``: variances of the two kinds of votes of
    bits; None where messages are no strings of bits. ``templates``: mass, and levels with their counts, of each class;
    None where not all arrangements are messages. ``obstructed``: whether two populations of 4, 6, ... inputs send the
    same messages.
    """
    import sympy as sp

    from symshuffle.mechanisms.symbolic import normal_form, written

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
        "outputs": written(outputs),
        "certain": any(state.probability == 0 for one in general.classes for state in one.states),
        "bitwise": None if bitwise is None else [*map(written, bitwise)],
        "templates": templates if whole else None,
        "obstructed": not is_alike(general) and all(_obstructed(general, size) for size in (4, 6, 8, 10)),
    }


def _bitwise(general: Mechanism) -> tuple[sp.Expr, sp.Expr] | None:
    """Variances of a bit's vote for its own input and for another; None where messages are no strings of bits."""
    from symshuffle.mechanisms.symbolic import normal_form
    from symshuffle.mechanisms.unary import BitStrings

    strings = [c for c in general.classes if isinstance(c.members, BitStrings)]
    if len(strings) != 1:
        return None
    (mixed,) = strings
    other = mixed.members.other  # type: ignore[union-attr]  # it is BitStrings
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
    import sympy as sp

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


def forms(family: Family, loss: Loss = Loss.L2) -> Forms:
    """The closed forms of a family, off the file."""
    texts = family.form["moments"]
    budget, variance = (_function(texts[which], family) for which in ("chi square", "variance"))
    return Forms(budget, variance, _risk(family, loss) if family.alike else None)


def _function(text: str, family: Family, *, scaled: bool = True) -> Callable[[float, Values], float]:
    names = [p.name for p in family.free if not (family.thin and p.name == "p")]
    sized = {name: float(value) for name, value in family.sized.items()}
    raw = compiled(text, ("lam", *sized, *names), float, math.sqrt)
    size, thin = tuple(sized.values()), scaled and family.thin

    def value(lam: float, values: Values) -> float:
        try:
            found = float(raw(lam, *size, *(values[name] for name in names)))
        except (OverflowError, ZeroDivisionError):
            return math.inf
        return found * values["p"] if thin else found

    return value


def _risk(family: Family, loss: Loss) -> Callable[[float, Values], float]:
    import numpy as np

    texts = family.form["moments"]
    parts = [_function(part, family) for part in texts["sums"]]
    shown = [tuple(_function(part, family, scaled=False) for part in string) for string in texts["strings"]]
    size, used = family.all_inputs, family.inputs

    def value(lam: float, values: Values) -> float:
        sums: list[Any] = [part(lam, values) for part in parts]
        for of in shown:
            hit, miss, other = (part(lam, values) for part in of)
            middle, wide = size * other, 40 + 12 * math.sqrt(size * other * (1 - other))
            ones = np.arange(max(1, int(middle - wide)), min(size - 1, int(middle + wide)) + 1)
            first, odds = int(ones[0]), math.log(other) - math.log1p(-other)
            lead = math.lgamma(size + 1) - math.lgamma(first + 1) - math.lgamma(size - first + 1)
            steps = np.log((size - ones[:-1]) / (ones[:-1] + 1)) + odds
            start = lead + first * math.log(other) + (size - first) * math.log1p(-other)
            likely = np.exp(start + np.concatenate(([0.0], np.cumsum(steps))))
            terms = string_terms(ones, size, likely, hit, miss)
            share = values["p"] if family.thin else 1
            sums = [total + share * float(term.sum()) for total, term in zip(sums, terms, strict=True)]
        if not sums[0] > 0:
            return math.inf
        scale = ((size - 1) / sums[0]) ** 2
        own = scale * sums[1] - ((size - 1) / size) ** 2
        absent = scale * sums[2] - 1 / size**2
        match loss:
            case Loss.L2:
                return float(own + (used - 1) * absent)
            case Loss.MAX:
                return float(max(own, absent))
            case Loss.ABSENT:
                return float(absent)
        return math.sqrt(own) + math.sqrt(absent)

    return value


def matched_log(measure: Callable[[float, Values], float], goal: float, values: Values) -> float:
    """The local level at which a rising measure takes a value."""
    if not measure(math.exp(LARGEST_EPS0), values) >= goal:
        raise Unsupported(f"at every local level up to {LARGEST_EPS0} it spends less")

    def off(log: float) -> float:
        found = measure(math.exp(math.exp(log)), values) / goal
        return min(max(math.log(found), -_FAR), _FAR) if found > 0 else -_FAR

    return math.exp(zero_between(off, math.log(1e-13), math.log(LARGEST_EPS0), xtol=1e-16, rtol=1e-15))


def gaussian_epsilon(variance: float, n: int, delta: float) -> float:
    """The eps of a Gaussian shift whose second moment is that of the bound: a guess where to look for the true one."""
    return level(math.sqrt(variance / n), math.log(delta))
