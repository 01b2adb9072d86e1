"""Rows of what a user brings: a mechanism, the matrix of a channel, a composition.

Nothing of it is chosen but its level, where it has one. A channel is compared as it is, and a row says if it spends
more than what the others have in common.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from typing import Any, Final, TypeAlias

import sympy as sp

from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import (
    DEFAULT_BITS,
    Ball,
    Exp,
    Number,
    Real,
    enclose,
    format_decimal,
    lower_end,
    maximum,
    minimum,
    shortest,
    to_arb,
    upper_end,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.calculated import number_at
from symshuffle.decompositions.closed_forms import moments_on_file
from symshuffle.decompositions.composition import Composed, Composition, Part, has_budget, leaves, written
from symshuffle.decompositions.composition.operators import parse
from symshuffle.decompositions.composition.tree import root
from symshuffle.decompositions.quotient_texts import OpenQuotient
from symshuffle.decompositions.quotients import quotient_of
from symshuffle.design.comparison.families import COMPARISON_BITS, HASHED
from symshuffle.design.comparison.matching import Match
from symshuffle.design.comparison.rows import Row, bracket_of, central, estimated
from symshuffle.mechanisms.hashing import hyperplanes
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.names import THINNED
from symshuffle.mechanisms.registry import is_named
from symshuffle.mechanisms.symbolic import LAM, Parameter, evaluate, normal_form, value_of
from symshuffle.mechanisms.symbolic import written as as_text
from symshuffle.utility.anchored.law import AnchoredLaw
from symshuffle.utility.estimation.moments import largest_pairwise_budget
from symshuffle.utility.estimation.votes import (
    VoteNoise,
    canonical_votes,
    channel_noise,
    is_alike,
    joint_noise,
    mixed_votes,
)

AS_GIVEN: Final = "as given: nothing of it is chosen"
_EXPECTED: Final = "a name, an expression such as joint(krr(k=10),2), a Mechanism, a Channel or a composition"


ComparedMechanism: TypeAlias = Mechanism | Channel | Composition
UserMechanism: TypeAlias = "tuple[str, ComparedMechanism]"
"""The name of a row, and what a user brings for it: parameters other than ``lam`` fixed."""


def read_user_mechanisms(given: Sequence[object], k: int) -> tuple[list[UserMechanism], dict[str, list[str]]]:
    """Return what a user brings, expressions of equal value once, and the texts of each row made of expressions."""
    own: list[UserMechanism] = []
    texts: dict[int, list[str]] = {}  # by index in ``own``
    for entry in given:
        one = _read(entry)
        if (inputs := _inputs(one[1])) != k:
            raise InputError("k", k, f"{inputs}, the number of inputs of {one[0]}")
        same = (place for place in texts if isinstance(entry, str) and own[place][1] == one[1])
        place = next(same, len(own))
        if place == len(own):
            own.append(one)
        if isinstance(entry, str):
            texts.setdefault(place, []).append(entry)
    names, found = [name for name, _ in own], []
    for place, (name, source) in enumerate(own):
        before = names[:place].count(name)
        found.append((f"{name} {before + 1}" if before else name, source))
    return found, {found[place][0]: same for place, same in texts.items()}


def _read(entry: object) -> UserMechanism:
    if isinstance(entry, tuple) and len(entry) == 2 and isinstance(entry[0], str):
        return f"own {entry[0]}", _read(entry[1])[1]
    if isinstance(entry, str):
        return "".join(entry.split()), _read(parse(entry))[1]
    match entry:
        case Composed():
            return _read(entry.composition)
        case Composition():
            open_ones = [
                p for leaf in leaves(entry) if isinstance(leaf, Mechanism) for p in leaf.with_defaults().needed
            ]
            return _budgeted(_short(entry), entry, open_ones)
        case Channel():
            return "own channel", entry
        case Mechanism():
            fixed = entry.with_defaults()
            return _budgeted(f"own {_short(fixed)}", fixed, fixed.needed)
    raise InputError("mechanisms", entry, _EXPECTED)


def _short(source: Mechanism | Composition) -> str:
    """How it is written, without the level that is matched."""
    return re.sub(r"\(lam(?:, |(\)))", lambda m: "" if m[1] else "(", written(source)).replace(", ", ",")


def _budgeted(name: str, source: Mechanism | Composition, needed: Sequence[Parameter]) -> UserMechanism:
    """Name and source, if the local level is all that is open."""
    for parameter in needed:
        if parameter.symbol != LAM:
            raise InputError(parameter.name, None, f"{parameter.range}, fixed in {name}")
    if not has_budget(source):
        raise InputError("mechanisms", name, "lam left open, which is matched; or the matrix, taken as it is")
    return name, source


def _inputs(part: Part | Channel) -> int:
    if isinstance(part, Channel):
        return part.num_inputs
    if isinstance(part, Mechanism):
        return int(part.inputs)
    if not isinstance(part, Composition):
        raise InputError("mechanisms", "laplace", "mechanisms of finitely many outputs")
    sizes = [_inputs(one) for one in part.parts]
    return max(sizes) if part.operator == "parallel" else math.prod(sizes)


def user_row(name: str, given: ComparedMechanism, match: Match, n: int, rtol: float) -> Row:
    """The row of what a user brings."""
    source, level, choice = _at_match(given, match, n, rtol)
    spent = _chi_square(source)
    try:
        noise, reason = _noise(source), ""
    except (Unsupported, NotDecided) as error:
        noise, reason = None, str(error)
    rounding = given.rounding if isinstance(given, Channel) else None
    certified = central(source, match, n, rtol, solved=not isinstance(given, Channel))
    return Row(
        name,
        "brought by the user",
        (),
        level,
        None if spent is None else bracket_of(spent, "closed form in the parameters, or a sum over messages"),
        reason=reason,
        bits=(_outputs(given) - 1).bit_length(),
        choice=choice,
        excess=_excess(match, level, spent, certified.get("epsilon")),
        rounding="" if rounding is None else str(rounding),
        **estimated(noise, match.loss, n, _inputs(given)),
        **certified,
    )


def _at_match(
    source: ComparedMechanism, match: Match, n: int, rtol: float, *, unit: int = 10**12
) -> tuple[Mechanism | Channel | Composed, Bracket, str]:
    """The source at its level, the level, and how that was found."""
    if isinstance(source, Channel):
        return source, _level(source), f"{AS_GIVEN}; it has a level of its own"
    if match.kind == "chi-square":
        raise Unsupported(
            "a mechanism of your own is matched at eps0, or at eps and delta; its matrix is taken as it is"
        )
    value = match.value
    if match.kind == "eps-delta":
        value = match.largest_eps0(lambda eps0: source.at(eps0=eps0), n, rtol).lower
    if isinstance(source, Mechanism) and not is_alike(source):
        # Its estimator inverts a matrix over the rationals.
        ratio = Fraction(math.floor(enclose(Exp(value)).lower * unit), unit)
        if ratio <= 1:
            raise Unsupported(f"at its level {float(value):.4g} the ratio is not a decimal of 12 places above 1")
        found: Any = source.at(lam=ratio)
        return found, _level(source, ratio), f"{AS_GIVEN} but lam, a decimal of 12 places"
    found = source.at(eps0=value)
    return found, _level(source, Exp(value)), f"{AS_GIVEN} but lam"


def _level(source: Channel | Mechanism | Composition, lam: Real | None = None) -> Bracket:
    """The local level at a ratio ``lam``: the logarithm of the largest likelihood ratio."""
    found = _logarithm(source.ratio_cap()) if isinstance(source, Channel) else _level_of(source, lam)
    return bracket_of(found, "logarithm of the largest likelihood ratio")


def _logarithm(ratio: Any) -> Ball:
    if ratio == math.inf:
        raise Unsupported("some message is impossible at some inputs: no finite local level")
    with working_precision(COMPARISON_BITS):
        return Ball.from_arb(to_arb(ratio).log(), COMPARISON_BITS)


def _level_of(part: Any, lam: Any) -> Any:
    """The level of a mechanism, or of a composition whose parts share a budget; exact where ``lam`` is the ratio."""
    if isinstance(part, Composition):
        if part.operator == "joint":
            share = root(lam, len(part.parts))
            return sum((_level_of(one, share) for one in part.parts), start=Fraction(0))
        return maximum([_level_of(one, lam) for one in part.parts])
    if not isinstance(part, Mechanism):
        raise Unsupported("laplace has a continuum of outputs")
    shown = [[state.probability for state in one.states] for one in (part.general or part).classes]
    if isinstance(lam, Exp) and all(p != 0 for states in shown for p in states):
        plain = [{normal_form(p / states[0]) for p in states} for states in shown]
        if all(found <= {LAM, 1} or found <= {1 / LAM, 1} for found in plain):  # lam and 1/lam are lam^2 apart
            return lam.exponent if any(found != {1} for found in plain) else Fraction(0)
    found = _leaf(part, lam)
    ratios: list[Any] = [Fraction(1)]
    for one in found.classes:
        values = [evaluate(state.probability.subs(dict(found.fixed)), bits=COMPARISON_BITS) for state in one.states]
        most, least = maximum(values), minimum(values)
        if upper_end(most) == 0:
            continue
        ratios.append(most / least if lower_end(least) > 0 else math.inf)
    return _logarithm(math.inf if math.inf in ratios else maximum(ratios))


def _leaf(part: Any, lam: Any) -> Mechanism:
    """A leaf at its share of the budget."""
    if not isinstance(part, Mechanism):
        raise Unsupported("laplace has a continuum of outputs")
    fixed = part.with_defaults()
    return fixed.at(lam=lam) if any(parameter.symbol == LAM for parameter in fixed.parameters) else fixed


def _chi_square(source: Any, lam: Any = None) -> Number | None:
    """The largest pairwise chi-square divergence; None where it is not known."""
    match source:
        case Channel():
            return AnchoredLaw.from_channel(source).pairwise_budget() if source.exact else None
        case Composed():
            return _chi_square(source.composition, source.lam)
        case Composition():
            joint = source.operator == "joint"
            parts = [_chi_square(part, root(lam, len(source.parts)) if joint else lam) for part in source.parts]
            if any(part is None for part in parts):
                return None
            known: list[Any] = parts
            if joint:
                return math.prod((1 + part for part in known), start=Fraction(1)) - 1
            return sum((w * c for w, c in zip(source.weights, known, strict=True)), start=Fraction(0))
        case Mechanism():
            found = source if lam is None else _leaf(source, lam)
            return budget_of(found) if is_alike(found) else _chi_square(_explicit(found))
    return None


def budget_of(mechanism: Mechanism) -> Number:
    """The largest pairwise chi-square divergence of a mechanism with all parameters fixed."""
    general, known, values = mechanism.general or mechanism, dict(mechanism.fixed), _values(mechanism)
    base = general.name.removeprefix(THINNED)
    kept = moments_on_file(base) if is_named(general) else None
    if kept is None:
        return evaluate(largest_pairwise_budget(general).subs(known), bits=None)
    found: Any = number_at(kept["chi square"], values, DEFAULT_BITS)
    spent: Number = found if base == general.name else found * values["p"]  # of a null symbol nothing is learnt
    return spent


def _explicit(mechanism: Mechanism, *, most: int = 1 << 18) -> Channel:
    outputs = int(mechanism.num_outputs)
    if outputs * int(mechanism.inputs) > most:
        raise Unsupported(f"{mechanism.name}: an explicit channel of {outputs} outputs is too large")
    return mechanism.channel()


def _noise(source: Mechanism | Channel | Composed) -> VoteNoise:
    """The votes of the unbiased estimator that is named."""
    if isinstance(source, Channel):
        return channel_noise(source)
    if isinstance(source, Mechanism):
        return canonical_votes(source, bits=COMPARISON_BITS) if is_alike(source) else channel_noise(_explicit(source))
    factors = list(_factors(source.composition, source.lam))
    return factors[0] if len(factors) == 1 else joint_noise(factors)


def _factors(part: Part, lam: Any) -> Iterator[VoteNoise]:
    """The votes of each coordinate of the input."""
    if isinstance(part, Composition) and part.operator == "joint":
        for one in part.parts:
            yield from _factors(one, root(lam, len(part.parts)))
        return
    yield mixed_votes(list(_mixed(part, Fraction(1), lam)), bits=COMPARISON_BITS)


def _mixed(part: Part, weight: Fraction, lam: Any) -> Iterator[tuple[Fraction, Mechanism]]:
    """The mechanisms of which one is drawn and named, with their probabilities."""
    if not isinstance(part, Composition):
        yield weight, _leaf(part, lam)
    elif part.operator == "joint":
        raise Unsupported("no estimator is known of a joint composition inside a parallel one")
    else:
        for share, one in zip(part.weights, part.parts, strict=True):
            yield from _mixed(one, weight * share, lam)


def _outputs(source: Any) -> int:
    """How many messages a client may send; of local hashing a function of a small family with a value, as plans do."""
    match source:
        case Channel():
            return source.num_outputs
        case Composition():
            counts = [_outputs(part) for part in source.parts]
            return math.prod(counts) if source.operator == "joint" else sum(counts)
        case Mechanism():
            return _hashed(source) or int(source.num_outputs)
    raise Unsupported("laplace has a continuum of outputs")


def _hashed(mechanism: Mechanism) -> int:
    """The number of messages of local hashing with a null symbol or without; 0 of any other mechanism."""
    general = mechanism.general or mechanism
    base = general.name.removeprefix(THINNED)
    if base not in HASHED or not is_named(general):
        return 0
    values = _values(mechanism)
    g: Any = number_at(HASHED[base], values, DEFAULT_BITS)
    thin = base != general.name and values["p"] != 1
    return hyperplanes(int(mechanism.inputs), int(lower_end(g))) + int(thin)


def _values(mechanism: Mechanism) -> dict[str, Any]:
    """The parameters that are fixed, by name."""
    general, known = mechanism.general or mechanism, dict(mechanism.fixed)
    return {
        p.name: value
        for p in general.parameters
        if p.symbol in known and (value := value_of(known[p.symbol])) is not None
    }


def _excess(
    match: Match,
    level: Bracket,
    spent: Number | None,
    certified: Bracket | None,
    *,
    slack: Fraction = Fraction(1, 10**12),
) -> str:
    """In which way it spends more than the others have in common, in words; empty where it does not.

    - ``slack``: by how much a level may exceed the common one, of what its enclosure is wide.
    """
    match match.kind:
        case "eps0" if level.upper > match.value * (1 + slack):
            end = format_decimal(level.upper, digits=7, up=True)
            return f"its level eps0 = {end} is above {shortest(match.value)}, that of the others"
        case "chi-square" if spent is None or upper_end(spent) > match.value:
            return "its largest pairwise chi-square divergence is above that of the others"
        case "eps-delta" if certified is not None and certified.upper > match.value:
            end = format_decimal(certified.upper, digits=7, up=True)
            return f"its certified eps {end} is above {shortest(match.value)}"
    return ""


def templates_of_own(source: object) -> frozenset[tuple[object, ...]] | None:
    """As the laws of families in :mod:`symshuffle.design.comparison.equivalence`: of a mechanism, with ``lam`` open."""
    if not isinstance(source, Mechanism):
        return None
    found = []
    for one in source.classes:
        total = sum((state.count * state.probability for state in one.states), start=sp.Integer(0))
        if normal_form(total) == 0:
            continue
        if one.members is not None or one.pair_counts is not None:
            return None
        levels = ((_quotient(state.probability / total), _quotient(state.count)) for state in one.states)
        found.append((tuple(sorted(levels, key=str)), _quotient(total * one.size)))
    return _collected(found)


def _collected(atoms: Iterable[tuple[tuple[object, ...], OpenQuotient]]) -> frozenset[tuple[object, ...]]:
    masses: dict[tuple[object, ...], OpenQuotient] = {}
    for place, mass in atoms:
        masses[place] = mass + masses.get(place, 0)
    return frozenset(masses.items())


def _quotient(expression: sp.Expr) -> OpenQuotient:
    return quotient_of(as_text(normal_form(expression)), {})
