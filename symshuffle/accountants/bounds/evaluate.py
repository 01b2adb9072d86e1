"""One law, one bracket: which engine answers, and at which arithmetic."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.accountants.bounds.chernoff import below_all_numbers, positive_at_most, without_engine
from symshuffle.accountants.bounds.rare_atoms import beyond_doubles, without_rare_atoms
from symshuffle.accountants.deployment.group import check_n
from symshuffle.base import cost
from symshuffle.base.choices import Arithmetic, Question, choice, weakest_arithmetic
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import (
    as_precision,
    as_width,
    format_decimal,
    lower_end,
    upper_end,
)
from symshuffle.base.results import Bracket, is_far
from symshuffle.channels.law import NOTHING, Law
from symshuffle.engines.registry import Engine, engine_class, offers

if TYPE_CHECKING:
    from symshuffle.channels.continuous_law import LevelledPair
    from symshuffle.channels.mixed_law import MixedLaw

_MANY: Final = 10**5
"""Users from which on H(n) may be below the least number that is kept."""

_FEW_NODES: Final = 100_000
_SUMS: Final = ((None, 3_000_000), (128, 300_000))
"""Nodes of a contour, and steps of sums over counts in doubles and in integers, that take half a second at most."""


_VALUE: Final = 30_000
_ATOM: Final = 600
"""Terms that take as long as what a value, and an atom of its law, need besides sums: cost only."""

_SPENT: Final = f"the limit of {cost.MOST:.2g} terms for one question is reached"

_LOOKS: Final = 6
"""How often Chernoff's bound on a pair of densities cuts tails, where no engine narrows its bracket: cost only."""

_LITTLE: Final = Fraction(1, 10**16)
"""A value of H(n) down to which Chernoff's bound looks at tails where no target is given: cost only."""

_PASSES: Final = 4
"""About as many passes as a value takes whose width is part of that of a question."""


@final
@dataclass(frozen=True, slots=True)
class Method:
    """What a caller asks of the engines.

    - ``direction``: which divergence; ``both`` takes the larger.
    - ``engine``: the engine to use; with None it is chosen automatically.
    - ``arithmetic``: weakest arithmetic that is accepted; the result may have a stronger one. None accepts any.
    - ``rtol``: relative width to aim at, in (0, 1).
    - ``bits``: precision of balls in the laws, at least 2; with None it is chosen automatically.
    - ``goal``: number with which the value is compared; a bracket far below or far above it is not narrowed further.
    - ``values``: about how many values the question evaluates; the default limit of a named engine is divided among
      them.
    - ``lenient``: whether doubles do where balls would take more work than is left.
    """

    direction: Question = "both"
    engine: Engine | None = None
    arithmetic: Arithmetic | None = "float64"
    rtol: float = 1e-6
    bits: int | None = None
    goal: Fraction | None = None
    values: int = 1
    lenient: bool = False

    @property
    def sharing(self) -> Engine | None:
        """The named engine; its default limit, unless the caller set another, is divided among the values."""
        engine: Any = self.engine
        usual = getattr(type(engine), "__dataclass_fields__", {}).get("largest")
        if self.values == 1 or usual is None or engine.largest != usual.default:
            return self.engine
        limited: Engine = replace(engine, largest=max(usual.default // (_PASSES * self.values), 1))
        return limited

    def is_met_by(self, found: Bracket) -> bool:
        """Whether a bracket is as narrow as asked, or far from the number that it is compared with."""
        narrow = found.upper - found.lower <= Fraction(self.rtol) * found.upper
        return narrow or is_far(found, self.goal)

    @classmethod
    def of(
        cls,
        direction: Question = "both",
        engine: Engine | None = None,
        arithmetic: Arithmetic | None = "float64",
        rtol: object = 1e-6,
        bits: object = None,
    ) -> Method:
        """The request of a caller, who may name direction and arithmetic by their text: each argument is read here."""
        if engine is not None and (isinstance(engine, type) or not isinstance(engine, Engine)):
            raise InputError("engine", engine, "an engine such as Contour(), or None")
        level = None if arithmetic is None else choice(Arithmetic, arithmetic, "arithmetic")
        precision = None if bits is None else as_precision(bits)
        return cls(choice(Question, direction, "direction"), engine, level, as_width(rtol), precision)


@contextmanager
def _usual_floating_point() -> Iterator[None]:
    """NumPy's own treatment of floating-point errors, whatever the caller's is: engines count on quiet underflow."""
    numpy = sys.modules.get("numpy")  # where it is not loaded yet, nobody has changed it
    if numpy is None:
        yield
        return
    with numpy.errstate(divide="warn", over="warn", under="ignore", invalid="warn"):
        yield


@_usual_floating_point()
def evaluate(law: Law | MixedLaw | LevelledPair, n: int, request: Method) -> Bracket:
    """H(n) of one law, at the arithmetic asked for.

    A law that is never positive has H(n) equal to its singular mass, 0 where it has a density, and needs no engine; of
    one user, a continuous part is integrated in closed form. A bracket that is wider than asked has ``aimed`` set.
    """
    cost.add(_VALUE + (_ATOM * len(law.values) if law.kind == "atoms" else 0))
    if law.kind == "densities":
        return _of_densities(law, n, request)
    if law.never_positive:
        known: Arithmetic = "exact" if isinstance(law.singular, Fraction) else "ball"
        evaluation = "G is never positive: only the singular mass is left"
        singular = Bracket(lower_end(law.singular), upper_end(law.singular), known, "none", evaluation)
        return _at(singular, request.arithmetic)
    if law.kind == "atoms":
        return _of_finite(law, n, request)
    if request.engine is not None and not request.engine.continuous:
        raise Unsupported(f"engine {request.engine.name} takes no law with a continuous part; use engine contour")
    if n == 1 and request.engine is None:
        value = law.positive_mean() + law.singular
        ends = lower_end(value), upper_end(value)
        return _at(Bracket(*ends, "ball", "none", "closed form of one user"), request.arithmetic)
    return _of_segments(law, n, request)


def evaluate_law(
    law: Law,
    n: int,
    *,
    engine: Engine | None = None,
    arithmetic: Arithmetic | None = "float64",
    rtol: float = 1e-6,
) -> Bracket:
    """Bracket around H(n) of a finite law of G.

    H(n) is :math:`E[(S_n/n)_+]` plus the singular mass of the law, for S_n a sum of n independent copies of G.

    Parameters
    ----------
    law : Law
        Finite law of G at the level of interest.
    n : int
        Number of users, at least 1.
    engine : Engine, optional
        Default: the cheapest that will do.
    arithmetic : Arithmetic or None
        Weakest arithmetic that is accepted; ``arithmetic`` of the result names the one used. None accepts any.
    rtol : float
        Relative width to aim at, where the engine has a width.

    Returns
    -------
    Bracket
        Around H(n). A bracket that is wider than asked has ``aimed`` set.

    Raises
    ------
    InputError
        If an argument is out of its range.
    Unsupported
        If the engine refuses the law, or delivers less than the arithmetic asked for.

    Examples
    --------
    >>> from symshuffle import Law
    >>> law = Law((Fraction(1), Fraction(-2)), (Fraction(1, 2), Fraction(1, 2)))
    >>> evaluate_law(law, 2, arithmetic="exact").exact
    Fraction(1, 4)
    """
    return evaluate(law, check_n(n), Method.of(engine=engine, arithmetic=arithmetic, rtol=rtol))


def _of_finite(law: Law, n: int, request: Method, *, least_atom: Fraction = Fraction(1, 1 << 400)) -> Bracket:
    """H(n) of a finite law, in units in which its atoms are small integers or ordinary doubles where it needs some.

    - ``least_atom``: below it, squares of slopes of Chernoff's bound may exceed the largest double at 10^15 users.
    """
    found = None
    if max(map(abs, chain.from_iterable(law.ends[0]))) < least_atom and law.enclosed:
        found = _in_larger_units(law, n, request)
    elif request.arithmetic != "exact" and (scaled := law.in_units()) is not None:
        found = _in_units(law, scaled, n, request)
    if found is None:
        found = _at(_of_atoms(law, n, request), request.arithmetic)
    return _below_one_user(found, law)


def _of_densities(law: LevelledPair, n: int, request: Method) -> Bracket:
    """H(n) of a pair of densities, which has a road of its own."""
    from symshuffle.engines.densities.engine import at_most

    if request.engine is not None:
        raise Unsupported(f"engine {request.engine.name} takes no law with a density; leave the choice to auto")
    if law.others or law.single is not None:
        return _smallest_of_pairs(law, n, request)
    pair = law.pair.about
    if law.never_positive:
        never = Bracket(Fraction(0), Fraction(0), "ball", "none", "G is never positive", pair=pair)
        return _at(never, request.arithmetic)
    alone = law.alone() if n == 1 else None
    if alone is not None:
        evaluation = "closed form of one user"
        return _at(Bracket(alone.lower, alone.upper, "ball", "none", evaluation, pair=pair), request.arithmetic)
    found = _of_pair(law, n, request)
    if found.aimed is not None:  # H(n) never rises with n
        only = request.values == 1 and request.goal is None  # of many values none is worth more than one look
        ceiling, road = at_most(law, n, near=found.upper, looks=_LOOKS) if only else (law.ceiling, "that of one user")
        if ceiling is not None and ceiling < found.upper:
            evaluation = f"at most {road}; {found.evaluation}"
            found = replace(found, lower=min(found.lower, ceiling), upper=ceiling, evaluation=evaluation)
    return replace(found, pair=pair)


def _of_pair(law: LevelledPair, n: int, request: Method) -> Bracket:
    """H(n) of one pair of densities, or a bound on it that takes little where no work is left."""
    from symshuffle.engines.densities.engine import at_most, density_bracket

    arithmetic = request.arithmetic or "float64"
    if cost.left():
        try:
            return density_bracket(law, n, arithmetic=arithmetic, rtol=request.rtol, goal=request.goal)
        except (Unsupported, NotDecided):
            if cost.left():
                raise
    ceiling, road = at_most(law, n, near=request.goal or _LITTLE)
    evaluation = f"at most {road} ({_SPENT})"
    return Bracket(Fraction(0), min(ceiling, Fraction(1)), arithmetic, "none", evaluation, aimed=request.rtol)


def _smallest_of_pairs(law: LevelledPair, n: int, request: Method, *, far_below: int = 4) -> Bracket:
    """The smallest of several bounds on one divergence; those that no engine brackets are left out.

    - ``far_below``: how far below a goal the value for one user is all that is looked at.
    """
    found: list[Bracket] = []
    one = law.of_single
    if one is not None and (alone := one.alone()) is not None:
        about = f"{one.pair.about.rsplit(', ', 1)[0]}, of one user"  # what others hold is of no account
        evaluation = "at most the value for one user, in closed form"
        found.append(_at(Bracket(alone.lower, alone.upper, "ball", "none", evaluation, pair=about), request.arithmetic))
    if n > 1 and found and found[0].upper <= max(NOTHING, request.goal or NOTHING) / far_below:
        return replace(found[0], lower=Fraction(0), aimed=request.rtol)
    refusal = ""
    main = replace(law, others=(), single=None)
    for place, one in enumerate((main, *law.others) if n > 1 or not found else ()):
        try:
            with cost.part(1 + len(law.others) - place):
                known: Bracket | str = evaluate(one, n, request) if one is main else _kept(one, n, _at_level(request))
        except (NotDecided, Unsupported) as reason:
            known = str(reason)
        if isinstance(known, Bracket):
            found.append(known)
        else:
            refusal = refusal or known
    if not found:
        raise Unsupported(refusal or f"no engine answers at n = {n}")
    least = min(found, key=lambda bracket: bracket.upper)
    lower, weakest = (
        min(bracket.lower for bracket in found),
        weakest_arithmetic(bracket.arithmetic for bracket in found),
    )
    return replace(least, lower=lower, arithmetic=weakest, evaluation=f"{least.pair}: {least.evaluation}")


def _at_level(request: Method, *, kept: float = 1e-3) -> Method:
    """The request for a value that is kept: as few of them as there are widths below the usual one.

    - ``kept``: relative width of values that are kept, where none finer is asked for.
    """
    return replace(request, goal=None, rtol=min(request.rtol, kept))


@cost.forgotten
@lru_cache(maxsize=64)
def _kept(law: LevelledPair, n: int, request: Method) -> Bracket | str:
    """The value of a law at a level of its own, or why there is none: a search asks for it at each of its levels."""
    try:
        found = evaluate(law, n, request)
    except (NotDecided, Unsupported) as reason:
        return str(reason)
    return replace(found, pair=f"{law.pair.about}, at exp(eps) = {law.exp_eps}, a smaller level")


def _of_segments(law: MixedLaw, n: int, request: Method) -> Bracket:
    """H(n) of a law with a continuous part; next to nothing, where no engine is named, is an answer as it stands."""
    ceiling = law.ceiling
    try:
        found = _at(_answer(law, n, request), request.arithmetic)
    except Unsupported as reason:
        if request.engine is not None or ceiling >= NOTHING:
            raise
        evaluation = f"at most the value for one user, in closed form ({reason})"
        return Bracket(Fraction(0), ceiling, "ball", "none", evaluation, aimed=request.rtol)
    return found if found.upper <= ceiling else replace(found, upper=ceiling)


def _below_one_user(found: Bracket, law: Law | MixedLaw) -> Bracket:
    """Where an engine says little, one user says more: looked at exactly where doubles do not tell that it is more."""
    if isinstance(law, Law):
        with suppress(OverflowError):
            rough = 0.0
            for value, weight in zip(*law.doubles, strict=True):
                rough += max(value, 0.0) * weight
            if found.upper <= Fraction(rough) / 2:  # what is singular is added to it
                return found
    return found if found.upper <= law.ceiling else replace(found, upper=law.ceiling)


def _of_atoms(
    law: Law, n: int, request: Method, *, few_atoms: int = 50, coarsest: Fraction = Fraction(1, 1000)
) -> Bracket:
    """H(n) of a finite law: where no engine takes it, or sums would be long, from a law without its rare atoms.

    - ``few_atoms``: atoms up to which sums in long rationals take less than a law without rare ones.
    - ``coarsest``: relative width up to which a sum over rare draws of more atoms is returned as it is, since a contour
      would take minutes to narrow it.
    """
    several = request.engine is None and request.arithmetic != "exact"
    if several and n * len(law.values) * min(law.ends[1][0]) < 1:  # far above what is a rare draw
        from symshuffle.accountants.bounds.rare_draws import by_rare_draws

        drawn = by_rare_draws(law, n, partial(_of_part, request, 4), request.is_met_by)
        if drawn is not None and request.is_met_by(drawn):
            return drawn
        if drawn is not None and len(law.values) > few_atoms and drawn.width <= coarsest * drawn.upper:
            return _aimed(drawn, request)
    apart = _apart(law, n, request) if several and len(law.values) > few_atoms and beyond_doubles(law) else None
    if apart is not None and apart.aimed is None:
        return apart
    try:
        found = _answer(law, n, request)
    except (Unsupported, NotDecided) as reason:
        apart = apart or (_apart(law, n, request) if several else None)
        if apart is None and several and request.arithmetic != "ball":
            return _aimed(without_engine(law, n, str(reason)), request)
        if apart is None:
            raise
        return apart
    return found if apart is None or found.width <= apart.width else apart


def _apart(law: Law, n: int, request: Method) -> Bracket | None:
    """H(n) by way of a law without rare atoms; None where there is none, or no engine takes it."""
    return without_rare_atoms(law, n, request.rtol, lambda others: _of_part(request, 2, others, n))


def _of_part(request: Method, narrower: int, law: Law, n: int) -> Bracket | None:
    """Bracket of a part of a law, so many times narrower than asked; None where no engine takes it."""
    try:
        return evaluate(law, n, replace(request, rtol=request.rtol / narrower, goal=None))
    except (Unsupported, NotDecided):
        return None


def _answer(law: Law | MixedLaw, n: int, request: Method) -> Bracket:
    """The first bracket as narrow as asked; if no engine that offers has one, the narrowest, which then says so."""
    with cost.part(max(request.values // _PASSES, 1 if request.goal is None else 2)) as left:  # for other values, too
        if left == 0 and request.arithmetic != "exact":
            if request.engine is not None:
                over = f"{_SPENT}; ask for a larger rtol, or leave the choice to auto"
                raise Unsupported(f"engine {request.engine.name} at n = {n}: {over}")
            return _aimed(without_engine(law, n, _SPENT), request)
        if request.engine is None and request.arithmetic != "exact" and n >= _MANY and isinstance(law, Law):
            least = below_all_numbers(law, n)
            if least is not None:
                return _aimed(least, request)
        return _of_engines(law, n, request)


def _of_engines(law: Law | MixedLaw, n: int, request: Method) -> Bracket:
    """The same, by the engines alone."""
    best, reason = None, None
    missed: type[Engine] | None = None  # by little, for rounding: more of its nodes would change nothing
    for engine in _offers(law, n, request):
        if type(engine) is missed:
            continue
        try:
            found = _at(engine.bracket(law, n), request.arithmetic)
        except (Unsupported, NotDecided) as refusal:
            reason = refusal
            continue
        if request.is_met_by(found):
            return found
        found = _below_one_user(found, law)
        if request.is_met_by(found):
            return found
        missed = type(engine) if found.width <= 2 * Fraction(request.rtol) * found.upper else None
        best = found if best is None or found.width < best.width else best
    if best is None and reason is not None and request.values > 1 and request.engine is not None:
        raise Unsupported(f"{reason}, one of about {request.values} values; leave the choice to auto")
    if best is None:
        raise reason or _no_engine(law, n, request)
    return _aimed(best, request)


def _aimed(found: Bracket, request: Method) -> Bracket:
    """The bracket, which says that it is wider than asked."""
    width = f"relative width {float(found.relative_width or 0):.1e} where {request.rtol:.1e} was aimed at"
    return replace(found, evaluation=f"{found.evaluation}; {width}", aimed=request.rtol)


def _offers(law: Law | MixedLaw, n: int, request: Method) -> Iterator[Engine]:
    """The engine that is named, or those that the registry offers: a contour of many nodes after sums over counts.

    One that narrows its bracket in passes is told with which number its value is compared.
    """
    engine: Any
    if request.engine is not None:
        engine = request.sharing
        yield engine if request.goal is None or not hasattr(engine, "goal") else replace(engine, goal=request.goal)
        return
    for engine in offers(law, n, request.arithmetic, request.rtol, continuous=law.kind == "segments"):
        goal = {} if request.goal is None or not hasattr(engine, "goal") else {"goal": request.goal}
        if engine.name == "contour" and isinstance(law, Law):
            yield replace(engine, largest=_FEW_NODES, **goal)
            counts: Any = engine_class("counts")
            for bits, most in _SUMS:
                sums = counts(rtol=request.rtol, bits=bits, largest=most)
                if (bits or request.arithmetic != "ball") and sums.refusal(law, n) is None:
                    yield sums
        yield replace(engine, **goal) if goal else engine


def _no_engine(law: Law | MixedLaw, n: int, request: Method) -> Unsupported:
    """Why the registry offers no engine."""
    if request.arithmetic == "exact" and not (isinstance(law, Law) and law.exact):
        return Unsupported("arithmetic exact needs rational lam, exp_eps and probabilities; use arithmetic='ball'")
    if request.arithmetic == "exact":
        refused = engine_class("exact")().refusal(law, n)
        return Unsupported(f"arithmetic exact at n = {n}: {refused}; use arithmetic='ball'")
    return Unsupported(f"no engine answers at n = {n}")


def _in_larger_units(law: Law, n: int, request: Method) -> Bracket:
    """H(n) of a law whose atoms have squares below the range of doubles, of which engines take some: times 2^k."""
    top = max(map(abs, chain.from_iterable(law.ends[0])))
    one = 1 << (top.denominator // top.numerator).bit_length()
    larger = replace(law, values=tuple(value * Fraction(one) for value in law.values), singular=Fraction(0))
    found = evaluate(larger, n, replace(request, goal=None)).scaled(Fraction(1, one))
    known = found.arithmetic if isinstance(law.singular, Fraction) else weakest_arithmetic((found.arithmetic, "ball"))
    low, high = found.lower + lower_end(law.singular), found.upper + upper_end(law.singular)
    return _at(replace(found, lower=low, upper=high, arithmetic=known), request.arithmetic)


def _in_units(law: Law, scaled: tuple[Law, Fraction, Fraction], n: int, request: Method) -> Bracket | None:
    """H(n) by way of a lattice that balls do not show, if what that neglects is small enough.

    - ``scaled``: as :meth:`Law.in_units` returns it.
    """
    multiples, unit, error = scaled
    found = _of_atoms(multiples, n, replace(request, goal=None)).scaled(unit)
    if error > found.upper * Fraction(request.rtol) / 8:  # only sums of at least 0 count then: they may be rare
        error = found.upper * (n * error / unit) + error * positive_at_most(multiples, n) if n * error < unit else error
    if error > found.upper * Fraction(request.rtol) / 8:
        return None
    low = max(found.lower - error, Fraction(0)) + lower_end(law.singular)
    known = "ball" if found.arithmetic == "exact" else found.arithmetic
    high = found.upper + error + upper_end(law.singular)
    shown = format_decimal(unit, digits=4, up=False)
    evaluation = f"in units of {shown}: {found.evaluation}"
    return _at(Bracket(low, high, known, found.engine, evaluation, found.aimed), request.arithmetic)


def _at(bracket: Bracket, arithmetic: Arithmetic | None) -> Bracket:
    """The bracket, whose arithmetic is that of its engine; less than was asked for is refused."""
    if arithmetic in (None, "float64", bracket.arithmetic) or bracket.arithmetic == "exact":
        return bracket
    serves = "exact" if arithmetic == "exact" else "ball, counts or exact"
    told = f"engine {bracket.engine} answers at arithmetic {bracket.arithmetic}, not {arithmetic}"
    raise Unsupported(f"{told}; use engine {serves}, or leave the choice to auto")
