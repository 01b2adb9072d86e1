"""From what users run to the laws of G that the engines see."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from fractions import Fraction
from functools import cache, lru_cache, partial
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from symshuffle.accountants.deployment import listed
from symshuffle.accountants.deployment.adjacency import USUAL, Adjacency
from symshuffle.accountants.deployment.group import EVERYBODY, RANDOMIZERS
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.deployment.reduced import (
    LawFamily,
    PairClass,
    Reducible,
    Reduction,
    first_decided,
    own_reduction,
)
from symshuffle.accountants.deployment.subjects import Subject, read_deployment, with_fields
from symshuffle.base.choices import Direction, Others, Side
from symshuffle.base.errors import InputError, NotDecided, Unsupported
from symshuffle.base.numbers import Exp, Real, enclose, upper_end
from symshuffle.channels.channel import Channel
from symshuffle.channels.law import Law
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.decompositions.model import Decomposition, ReductionPair
from symshuffle.mechanisms.members import ANY_TWO
from symshuffle.mechanisms.names import source_name

if TYPE_CHECKING:
    import numpy.typing as npt

    from symshuffle.decompositions.composition import Composed, Composition
    from symshuffle.decompositions.symbolic import SymbolicDecomposition
    from symshuffle.mechanisms.continuous import Laplace
    from symshuffle.mechanisms.model import Mechanism
    from symshuffle.mechanisms.pairs import Pairs

_ORDERED: Final = ("rr", "krr")
"""Randomizers in which a larger budget is never better for anybody: a level may be rounded up."""

_LEVEL_BITS: Final = 256
"""Precision of a level that is rounded up to twelve decimals."""

_FIRST: Final = "X0 holding the first of the two"

_MOST_CLASSES: Final = 4
"""Classes of pairs of a mechanism up to which the constant backgrounds of all are tried; beyond, those of the first."""

Source: TypeAlias = (
    "Mechanism | ClosedForm | Laplace | Composed | Composition | Decomposition | ReductionPair | "
    "SymbolicDecomposition | Channel | Reducible | Reduction | Sequence[Sequence[object]] | npt.NDArray[Any]"
)
"""What can be asked about; a matrix has one row per input."""


@with_fields
def reduction(subject: Subject, **fields: Any) -> Reduction:
    """Derive the laws of one batch of messages: of a randomizer with all parameters fixed, or of a deployment.

    All pairs of inputs are compared, unless the randomizer has one pair only (a decomposition, or a mechanism whose
    pair was fixed), or ``pairs`` are given.

    - ``subject``, and fields by keyword: as in :func:`symshuffle.delta`; periods and reports play no part.

    Examples
    --------
    >>> from symshuffle.base.choices import Question
    >>> W = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])
    >>> reduction(W, null=("1/2", "1/2")).neighbours("both", 5).covered
    'all pairs of datasets of n = 5 users that differ in one user, whose input is replaced by the null symbol'
    """
    return reduction_of(read_deployment(subject, fields))


def reduction_of(deployment: Deployment) -> Reduction:
    """As :func:`reduction`, of a deployment that was read already; only its groups and its adjacency count."""
    adjacency = deployment.adjacency
    if len(deployment.groups) > 1:
        return _of_groups(deployment)
    group = deployment.groups[0]
    found = _derived(group.randomizer, adjacency)
    if adjacency.relation not in (None, found.adjacency):
        raise Unsupported(f"adjacency {adjacency.relation}: this source has a reduction for {found.adjacency} only")
    size = adjacency.group_size
    if group.everybody and size == 1:
        return found
    sending = group.without_randomizer
    if (found.group, found.steps) == (sending, size):
        return found
    if (found.group, found.steps) != (EVERYBODY, 1):
        raise InputError("group", sending.to_dict(), f"{found.group.to_dict()}, that of the reduction")
    return replace(found, group=sending, steps=size)


def _derived(source: Source, adjacency: Adjacency) -> Reduction:
    """Where all users send and neighbours differ in one, or what the reduction given has it."""
    if source is None:
        raise InputError("randomizer", None, RANDOMIZERS)
    if isinstance(source, Reduction):
        return _as_asked(source, adjacency)
    if adjacency.blanket == "mechanism" and not isinstance(source, Reducible):
        raise Unsupported("blanket mechanism: a finite mechanism has one blanket, the largest")
    if adjacency.pairs or adjacency.graph:
        return _of_pairs(source, adjacency)
    if adjacency.null is not None:
        if not isinstance(source, Channel):
            given = ", ".join(map(str, adjacency.null.rows[0]))
            expected = f"none with {source_name(source)}: it is a row beside those of a channel given by its matrix"
            raise InputError("null", given, expected)
        return listed.against_null(source, adjacency.null)
    if isinstance(source, Reducible):
        return own_reduction(source, adjacency)
    if adjacency.relation == "zero-out":
        return _to_the_blanket(source)
    match source:
        case ClosedForm():
            return _of_closed_form(source)
        case ReductionPair(unsound=True):
            raise InputError("source", "a reduction pair kept for study", "one that bounds something")
        case Decomposition() | ReductionPair():
            made = "were decomposed" if isinstance(source, Decomposition) else "the pair was made for"
            only = PairClass(f"the two inputs that {made}", listed.numeric(source))
            return Reduction((only,), first=_FIRST)
        case Channel():
            return listed.of_channel(source)
    from symshuffle.mechanisms.continuous import Laplace

    return _of_laplace(source) if isinstance(source, Laplace) else _of_symbols(source)


def _of_pairs(source: Source, adjacency: Adjacency) -> Reduction:
    """Some pairs of inputs of a channel, or of a randomizer that has one."""
    compared = adjacency.compared
    assert compared is not None
    alike = _inputs_alike(source)
    channel = None if alike else channel_of_pairs(source, adjacency)
    adjacency.check_inputs(alike if channel is None else channel.num_inputs)
    if channel is None:  # the laws of one pair are those of all
        return replace(_derived(source, USUAL), every=False, pairs=listed.pairs_in_words(compared))
    return listed.of_channel(channel, compared)


def _inputs_alike(source: Source) -> int:
    """Number of inputs of a mechanism all pairs of which have the same laws, in both orders; 0 for others."""
    if isinstance(source, ClosedForm):
        return source.shape[0] if source.alike else 0
    pair: Any = getattr(source, "pair", None)
    if getattr(pair, "words", "") != ANY_TWO or not pair.every:
        return 0
    inputs: Any = _complete(source).inputs  # type: ignore[arg-type]  # only a mechanism has such pairs
    return int(inputs) if inputs.is_Integer else 0


def channel_of_pairs(source: Any, adjacency: Adjacency) -> Channel:
    """Return the matrix of a randomizer of which some pairs of inputs are compared."""
    return finite_channel(source, adjacency.compared_name, adjacency.shown(adjacency.compared_name))


def finite_channel(source: Any, argument: str, value: object = None) -> Channel:
    """Return the matrix of a randomizer with finitely many inputs and outputs.

    - ``argument``, ``value``: what needs it, for the message; no value where it is the randomizer itself.
    """
    if isinstance(source, Channel):
        return source
    if isinstance(source, Reducible) or not hasattr(source, "channel"):
        name, needed = source_name(source), "a randomizer with finitely many inputs and outputs"
        raise InputError(argument, value or name, needed if value is None else f"none with {name}: it needs {needed}")
    found = source.channel()
    assert isinstance(found, Channel)
    return found


def _as_asked(found: Reduction, adjacency: Adjacency) -> Reduction:
    """A reduction, which was derived for an adjacency and has no other."""
    if adjacency.blanket is not None:
        raise InputError("blanket", adjacency.blanket, "none with a reduction, which was derived for one")
    if adjacency.null is not None or adjacency.compared is not None:
        raise InputError("source", found, "a Channel, where the law of a null symbol, or pairs, are given")
    if adjacency.relation not in (None, found.adjacency):
        raise InputError("adjacency", adjacency.relation, f"{found.adjacency}, that of the reduction")
    return found


def _of_symbols(source: object) -> Reduction:
    """Of what holds expressions; apart, so that what needs no algebra loads none."""
    from symshuffle.decompositions.composition import Composed, Composition
    from symshuffle.decompositions.symbolic import SymbolicDecomposition
    from symshuffle.mechanisms.model import Mechanism

    match source:
        case Mechanism():
            return _of_mechanism(source)
        case Composed():
            return listed.of_composition(source)
        case Composition():
            return listed.of_composition(source.at())
        case SymbolicDecomposition():
            return _of_symbolic(source)
    raise InputError("source", source, RANDOMIZERS)


def _of_groups(deployment: Deployment) -> Reduction:
    """Several groups, or dummies, that have one blanket distribution: each user is hidden by draws from it."""
    from symshuffle.accountants.deployment.several import reduction_of_groups

    channels = [_rational_channel(one.randomizer, place) for place, one in enumerate(deployment.users)]
    return reduction_of_groups(deployment, channels)


def _rational_channel(source: Any, place: int) -> Channel:
    """The matrix of a group; for binary or k-ary randomized response lam is rounded up to a multiple of 1e-12.

    That is safe, as a larger budget never leaks less. Only a lam that is no rational is rounded.
    """
    name = f"group[{place}].randomizer"
    level = getattr(source, "lam", None)
    if getattr(source, "name", "") in _ORDERED and isinstance(level, Exp):
        top = upper_end(enclose(level, _LEVEL_BITS))
        source = ClosedForm(source.name, source.values, Fraction(-((-top * 10**12) // 1), 10**12))
    found = finite_channel(source, name)
    if not found.exact or found.num_inputs < 2:
        kind = f"{found.num_inputs} inputs" if found.exact else "probabilities that are not rational"
        raise InputError(name, kind, "a channel of rationals with at least 2 inputs, as of lam = 3 for eps0 = log 3")
    return found


@lru_cache(maxsize=128)
def _of_mechanism(mechanism: Mechanism) -> Reduction:
    from symshuffle.decompositions.backgrounds import rises, slope_in
    from symshuffle.decompositions.symbolic import optimal_decomposition

    mechanism = _complete(mechanism)
    several = mechanism.pair_kinds()
    told = mechanism.pair.by
    slope = None if told is None else slope_in(optimal_decomposition(mechanism), told)
    return Reduction(
        tuple(
            _pair_class(mechanism, kind, real=i == 0 or len(several) <= _MOST_CLASSES) for i, kind in enumerate(several)
        ),
        mechanism.pair.every,
        pairs=str(mechanism.pair) if told is None else f"{mechanism.pair}, for every {told}",
        first=_FIRST if mechanism.pair.listed else "",
        spreads=None if slope is None else partial(rises, slope),
    )


def _pair_class(mechanism: Mechanism, kind: Pairs, *, real: bool) -> PairClass:
    """One class of pairs; its counts are made, and its laws derived, when one of them is asked for."""
    from symshuffle.decompositions.backgrounds import constant_backgrounds, datasets
    from symshuffle.decompositions.symbolic import counted_decomposition, quick_law

    chosen = cache(lambda: mechanism.at_pairs(kind))

    def family(others: Others) -> LawFamily:
        derived = cache(lambda: counted_decomposition(chosen(), others=others))
        return first_decided(
            lambda x, way, bits: quick_law(chosen(), x, others=others, direction=way, bits=bits),
            lambda: lambda x, way, bits: derived().law(x, direction=way, bits=bits),
        )

    def backgrounds() -> tuple[PairClass, ...]:
        others = constant_backgrounds(chosen()) if real else ()
        return tuple(PairClass.real(partial(datasets, chosen(), one), family(one)) for one in others)

    return PairClass(str(kind), family("blanket"), datasets=backgrounds)


@lru_cache(maxsize=128)
def _of_closed_form(form: ClosedForm) -> Reduction:
    """As that of the mechanism, which is asked where numbers do not settle what algebra would."""
    algebra, kinds = cache(lambda: _of_mechanism(form.mechanism())), form.kinds

    def rises_in_order(exp_eps: Real, direction: Direction, bits: int | None) -> bool:
        with suppress(NotDecided):
            return form.spreads(exp_eps, direction, bits)
        known = algebra().spreads
        return known is not None and known(exp_eps, direction, bits)

    classes = []
    for i, kind in enumerate(kinds):
        law = partial(_filed_law, kind, algebra, i, "blanket", None)
        known = i == 0 or len(kinds) <= _MOST_CLASSES
        classes.append(
            PairClass(kind.pairs, law, datasets=partial(_filed_datasets, kind, algebra, i) if known else tuple)
        )
    told = form.told
    return Reduction(
        tuple(classes),
        form.every,
        pairs=f"{form.pairs}, for every {told}" if told else form.pairs,
        spreads=rises_in_order if told else None,
        symmetric=True,
    )


def _filed_law(
    form: ClosedForm,
    algebra: Callable[[], Reduction],
    place: int,
    others: Others,
    which: int | None,
    exp_eps: Real,
    direction: Direction,
    bits: int | None,
) -> Law:
    """The law of one class of pairs by numbers; by algebra where these do not settle it.

    - ``place``: of the class among those of the mechanism; ``which``: place of the real datasets in it, or None.
    """
    with suppress(NotDecided):
        return form.law(exp_eps, others=others, direction=direction, bits=bits)
    found = algebra().classes[place]
    derived = found.upper if which is None else found.datasets()[which].upper
    assert derived is not None
    return derived(exp_eps, direction, bits)


def _filed_datasets(form: ClosedForm, algebra: Callable[[], Reduction], place: int) -> tuple[PairClass, ...]:
    """The constant backgrounds of one class of pairs."""
    return tuple(
        PairClass.real(partial(form.datasets, others), partial(_filed_law, form, algebra, place, others, which))
        for which, others in enumerate(form.backgrounds)
    )


def _of_laplace(source: Laplace) -> Reduction:
    def family(side: Side) -> LawFamily:
        return lambda order, way, bits: source.law(order, side=side, direction=way, bits=bits)

    real = PairClass.real(
        lambda n: f"X0 = (0, 1 x {n - 1}), X1 = (1, 1 x {n - 1})",
        lambda order, way, bits: source.background(order, direction=way, bits=bits),
        lambda order, way, bits: source.mixed_background(order, direction=way, bits=bits),
    )
    only = PairClass(
        source.pair,
        family("upper"),
        family("lower"),
        lambda order, way, bits: source.mixed_law(order, direction=way, bits=bits),
        lambda: (real,),
    )
    return Reduction((only,), source.every_pair)


def _of_symbolic(source: SymbolicDecomposition) -> Reduction:
    cells = (weight for cell in source.cells for weight in (cell.a, cell.b, cell.c))
    missing = sorted(str(symbol) for weight in (*cells, source.beta) for symbol in weight.free_symbols)
    if missing:
        raise InputError(
            "source", f"{missing[0]} left open", "a decomposition of a mechanism with all parameters fixed"
        )

    only = PairClass(
        f"{source.mechanism.pair}, as decomposed",
        lambda order, way, bits: source.law(order, direction=way, bits=bits),
    )
    return Reduction((only,), first=_FIRST)


def _to_the_blanket(source: Source) -> Reduction:
    """Every input against a null symbol that has the law of the blanket."""
    match source:
        case ClosedForm():
            _check_sizes(source.limits)
            return listed.blanket_of_closed_form(source)
        case Channel():
            return listed.blanket_of_channel(source)
    from symshuffle.mechanisms.continuous import Laplace

    if isinstance(source, Laplace):
        return listed.blanket_of_laplace(source)
    from symshuffle.mechanisms.model import Mechanism

    if isinstance(source, Mechanism):
        _check_sizes([parameter.name for parameter in source.parameters if parameter.has_limit])
        return listed.blanket_of_mechanism(_complete(source))
    raise Unsupported(
        "adjacency zero-out: this source has no null symbol; use a mechanism, a vector mechanism or channel"
    )


def _check_sizes(limits: Sequence[str]) -> None:
    """Refuse parameters at their limits: the null symbol depends on them, and a bound in the limit covers no value.

    For rappor at exp(eps0) = 4 and n = 3, delta at exp(eps) = 2 is 0 in the limit of D and 16/729 at D = 2.
    """
    if limits:
        raise InputError(
            limits[0], None, "a value where the adjacency is zero-out, as its limit does not bound all values"
        )


def _complete(mechanism: Mechanism) -> Mechanism:
    """With its defaults; refused where a parameter is left open."""
    mechanism = mechanism.with_defaults()
    if mechanism.needed:
        missing = ", ".join(parameter.name for parameter in mechanism.needed)
        raise InputError("parameters", f"{missing} left open", f"a value for each, as {mechanism.name}.at(...)")
    return mechanism
