"""How bad real neighbouring datasets are: lower bounds that can be pointed at.

Few users are enumerated. For many, all others hold one input (decomposition, Theorem 14), or one of two, drawn with a
common weight: the divergence is jointly convex, so some dataset of these two types is at least as bad as the mixture.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from typing import Any, Final, TypeAlias, final

import numpy as np

from symshuffle.accountants.bounds.brackets import bound_at
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.listed import numeric
from symshuffle.accountants.deployment.reduced import PairClass, Reducible, Reduction
from symshuffle.accountants.deployment.reduction import channel_of_pairs, reduction
from symshuffle.accountants.deployment.subjects import Subject, read_deployment, smallest_batch, with_fields
from symshuffle.base import cost
from symshuffle.base.choices import EVALUATED, Arithmetic, Direction, SafeEnd, members
from symshuffle.base.errors import InputError, Progress, Unsupported
from symshuffle.base.executors import mapped
from symshuffle.base.levels import read_target, words_of_target
from symshuffle.base.numbers import Number, Real, as_width, format_decimal, lower_end
from symshuffle.base.results import AnswerMethods, Bracket, FirstLines, at_target, safe_number
from symshuffle.channels import shuffled
from symshuffle.channels.channel import Channel, check_channel
from symshuffle.channels.shuffled import LARGEST_ENUMERATION, count_histograms
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.decompositions.model import Decomposition
from symshuffle.mechanisms.continuous import Laplace
from symshuffle.mechanisms.names import source_name

InputPairs: TypeAlias = Sequence[tuple[int, int]]
"""Ordered pairs of inputs."""

WEIGHTS: Final = tuple(Fraction(j, 8) for j in range(1, 8))
"""Weights of the second type that a two-type search tries."""


def count_families(
    inputs: int, outputs: int, n: int, *, pairs: int | None = None, largest_search: int = 100_000_000
) -> int:
    """Number of combinations of an ordered pair of inputs and a background that a two-type search covers.

    A background is constant, or a mixture of two inputs at one of the weights.

    - ``pairs``: number of ordered pairs; None for all.
    - ``largest_search``: pairs times backgrounds, weights not counted, times outputs beyond which it is refused.
    """
    mixtures = math.comb(inputs, 2) if n > 1 else 0
    ordered = math.perm(inputs, 2) if pairs is None else pairs
    if ordered * (inputs + mixtures) * outputs > largest_search:
        raise Unsupported(
            f"a channel with {inputs} inputs and {outputs} outputs has too many families of datasets to search: "
            f"at most {largest_search} families times outputs"
        )
    return ordered * (inputs + mixtures * len(WEIGHTS))


def distinct_families(channel: Channel, n: int, pairs: InputPairs) -> list[tuple[str, Decomposition]]:
    """One family of datasets of each kind, with its exact decomposition.

    Two families are of a kind if they show the same probabilities at as many outputs: their laws of G are then equal.
    """
    check_channel(channel)
    inputs = range(channel.num_inputs)
    constant = np.arange(len(inputs))[:, None]
    mixtures = np.column_stack(np.triu_indices(len(inputs), 1)) if n > 1 else np.empty((0, 2), dtype=np.int64)
    names: dict[Number, int] = {}
    rows = np.array([[names.setdefault(entry, len(names)) for entry in row] for row in channel.rows], dtype=np.int64)
    kinds: dict[tuple[int, bytes], tuple[int, ...]] = {}
    for pair in pairs:
        shown = rows[pair[0]] * len(names) + rows[pair[1]]
        for others in (constant, mixtures):
            codes = np.broadcast_to(shown, (len(others), len(shown)))
            for x in others.T:
                codes = codes * len(names) + rows[x]
            found, where = np.unique(np.sort(codes, axis=1), axis=0, return_index=True)
            for key, index in zip(found, where, strict=True):
                kinds.setdefault((others.shape[1], key.tobytes()), (*pair, *map(int, others[index])))
    return [family for chosen in kinds.values() for family in _families(channel, n, *chosen)]


def _families(channel: Channel, n: int, first: int, second: int, *others: int) -> Iterator[tuple[str, Decomposition]]:
    """The families of a pair of inputs and one or two types, each with its exact decomposition."""
    a, b, *held = (channel.rows[x] for x in (first, second, *others))
    if len(others) == 1:
        datasets = f"X0 = ({first}; {others[0]} x {n - 1}), X1 = ({second}; {others[0]} x {n - 1})"
        yield datasets, Decomposition(a, b, held[0], Fraction(0))
        return
    for weight in WEIGHTS:
        mixed: tuple[Any, ...] = tuple((1 - weight) * p + weight * q for p, q in zip(*held, strict=True))
        drawn = f"{n - 1} users holding {others[1]} with probability {weight} and {others[0]} otherwise"
        yield f"X0 = ({first}; {drawn}), X1 = ({second}; the same)", Decomposition(a, b, mixed, Fraction(0))


@final
@dataclass(frozen=True, slots=True, repr=False)
class WorstCase(AnswerMethods):
    """Worst pair of neighbouring datasets that a search found.

    ``float`` returns the lower end, rounded down.

    The lower end is the safe one: the divergence of these datasets is certainly not below it.

    Parameters
    ----------
    bracket : Bracket
        Around their shuffled divergence; for a two-type background, a lower bound on that of some dataset of these
        types.
    datasets : str
        The two datasets.
    searched : int
        Number of pairs of neighbouring datasets, or, in a two-type search, of combinations of an ordered pair of inputs
        and a background. Of combinations whose probabilities agree up to the order of outputs, one is evaluated.
    space : str
        What was searched, and whether that is everything.
    direction : Direction
        Which of their two divergences it is.
    target : str
        The eps at which delta was asked for, in words.
    """

    bracket: Bracket
    datasets: str
    searched: int
    space: str
    direction: Direction = "forward"
    target: str = ""

    @property
    def divergence(self) -> str:
        """Which divergence of the two datasets, in words."""
        first, second = ("X0", "X1") if self.direction == "forward" else ("X1", "X0")
        return f"D(M({first}) || M({second})) at order exp(eps)"

    @property
    def about(self) -> str:
        """The divergence, the two datasets, and the datasets that were searched, in one sentence."""
        return f"{self.divergence} for {self.datasets}, the worst of {self.space}"

    @property
    def lines(self) -> FirstLines:
        """First lines of the search: the value certainly reached, its datasets, evidence."""
        number = at_target(safe_number(self.bracket, self.safe), self.target)
        about = (
            f"two real datasets, {self.datasets}: nobody can prove a smaller delta for all; the worst of {self.space}"
        )
        return FirstLines("delta", number, about=about, sure=f"evaluated {EVALUATED[self.bracket.arithmetic]}")

    @property
    def safe(self) -> SafeEnd:
        """Lower end: the divergence of these datasets is certainly not below it."""
        return "lower"

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: the divergence, the datasets, and what was searched."""
        return AnswerMethods.to_dict(self) | {
            "safe": self.safe,
            "datasets": self.datasets,
            "direction": self.direction,
            "searched": self.searched,
            "space": self.space,
        }

    def __repr__(self) -> str:
        return f"<worst of {self.searched} pairs of datasets: {self.bracket}>"


def worst_of_all(
    channel: Channel,
    n: int,
    exp_eps: Fraction,
    *,
    pairs: InputPairs | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
) -> WorstCase:
    """The worst of all neighbouring datasets of ``n`` users, by enumeration in exact arithmetic."""
    check_channel(channel)
    if not channel.exact:
        raise InputError("channel", "not rational", "rational entries, for an exact enumeration")
    chosen = _pairs(channel, pairs)
    search = shuffled.worst_shuffled_divergence  # as the module has it now, so that other processes find it
    worst = mapped(partial(search, channel, n=n, gamma=exp_eps), chosen, executor, progress)
    found = [(value, pair, others) for pair, (value, others) in zip(chosen, worst, strict=True)]
    best = max(found, key=lambda item: item[0], default=None)
    if best is None:
        raise InputError("channel", f"{channel.num_inputs} input", "at least 2 inputs")
    searched = len(found) * count_histograms(n - 1, channel.num_inputs)
    bracket = Bracket(best[0], best[0], "exact", "enumeration", "every histogram of every dataset")
    some = "" if pairs is None else " who change between the inputs compared"
    space = f"all neighbouring datasets of {n} users{some}, up to their order"
    (first, second), others = best[1], ", ".join(map(str, best[2]))
    datasets = f"X0 = ({first}; {others}), X1 = ({second}; {others})"
    return WorstCase(bracket, datasets, searched, space, target=words_of_target(exp_eps=exp_eps))


def _pairs(channel: Channel, pairs: InputPairs | None) -> list[tuple[int, int]]:
    return list(itertools.permutations(range(channel.num_inputs), 2)) if pairs is None else list(pairs)


def worst_of_two_types(
    channel: Channel,
    n: int,
    exp_eps: Real,
    *,
    rtol: float = 1e-6,
    arithmetic: Arithmetic | None = "float64",
    progress: Progress | None = None,
    pairs: InputPairs | None = None,
    executor: Executor | None = None,
    coarse: float = 1e-2,
) -> WorstCase:
    """The worst of all constant backgrounds and of two-type backgrounds on a grid of weights, at any ``n``.

    - ``coarse``: relative width that tells which families come close to the worst.
    """
    check_channel(channel)
    n, order, request = check_n(n), read_target(exp_eps=exp_eps), Method.of("forward", None, arithmetic, rtol)
    chosen = _pairs(channel, pairs)
    size = count_families(channel.num_inputs, channel.num_outputs, n, pairs=len(chosen))
    distinct = distinct_families(channel, n, chosen)
    if not distinct:
        raise InputError("channel", f"{channel.num_inputs} input", "at least 2 inputs")

    value = partial(_value, n, order)
    wide = replace(request, rtol=max(request.rtol, coarse))
    rough = mapped(partial(value, wide), [one for _, one in distinct], executor, progress)
    leading = max(bracket.lower for bracket in rough)
    left = [family for family, bracket in zip(distinct, rough, strict=True) if bracket.upper >= leading]
    fine = mapped(partial(value, request), [one for _, one in left], executor)
    close = [(bracket, datasets) for (datasets, _), bracket in zip(left, fine, strict=True)]
    best, datasets = max(close, key=lambda item: item[0].lower)
    some = "" if pairs is None else ", of users who change between the inputs compared"
    space = f"constant backgrounds, and two-type backgrounds with weights j/{len(WEIGHTS) + 1}{some}: not all datasets"
    return WorstCase(best, datasets, size, space, target=words_of_target(exp_eps=order))


def _value(n: int, order: Real, request: Method, decomposition: Decomposition) -> Bracket:
    one = Reduction((PairClass("two given datasets", numeric(decomposition)),))
    return bound_at(one, n, order, request)


def worst_constant(
    source: Reduction, n: int, exp_eps: Real, *, rtol: float = 1e-6, arithmetic: Arithmetic | None = "float64"
) -> WorstCase:
    """The worst constant background of the pair that a bound compares, without the matrix of a channel."""
    n, order, real = check_n(n), read_target(exp_eps=exp_eps), source.real_pairs(n)
    if not real:
        raise Unsupported("no constant background is known for this source")
    found = [
        (bound_at(one, n, order, Method.of(way, None, arithmetic, rtol)), datasets, way)
        for datasets, one in real
        for way in (("forward",) if one.same_both_ways(order, None) else members(Direction))
    ]
    bracket, datasets, way = max(found, key=lambda item: item[0].lower)
    space = f"constant backgrounds at {source.neighbours('both', n).pairs}: not all datasets"
    return WorstCase(bracket, datasets, len(real), space, way, words_of_target(exp_eps=order))


def worst_of_channel(
    channel: Channel,
    n: int,
    exp_eps: Real,
    *,
    rtol: float = 1e-6,
    progress: Progress | None = None,
    pairs: InputPairs | None = None,
    executor: Executor | None = None,
) -> WorstCase:
    """The worst neighbouring datasets of a channel: of all where they can be enumerated, otherwise of two types."""
    check_channel(channel)
    n, exp_eps, rtol = check_n(n), read_target(exp_eps=exp_eps), as_width(rtol)
    size = count_histograms(n - 1, channel.num_inputs) * count_histograms(n, channel.num_outputs)
    if channel.exact and isinstance(exp_eps, Fraction) and size <= LARGEST_ENUMERATION // 10:
        return worst_of_all(channel, n, exp_eps, pairs=pairs, executor=executor, progress=progress)
    return worst_of_two_types(channel, n, exp_eps, rtol=rtol, progress=progress, pairs=pairs, executor=executor)


@cost.question()
@with_fields
def worst_datasets(
    subject: Subject,
    *,
    exp_eps: object = None,
    eps: object = None,
    rtol: float = 1e-6,
    executor: Executor | None = None,
    progress: Progress | None = None,
    **fields: Any,
) -> WorstCase:
    """Real neighbouring datasets with the largest divergence that a search finds.

    The divergence is a lower bound on delta. Of few users all datasets are enumerated. Of many, all others hold one
    input, or one of two inputs drawn with a common probability.

    Parameters
    ----------
    subject : Deployment, Group or randomizer
        One group of users who run a finite mechanism or channel, or Laplace noise, in one batch of messages.
    exp_eps, eps : number, text or Exp
        Target: the ratio ``exp(eps)``, at least 1, or its logarithm. One of the two.
    rtol : float
        Relative width of the divergence to aim at.
    executor, progress
        As in :func:`symshuffle.sweep`; the units of work are pairs of inputs or families of datasets.
    n : int, optional
        Number of users; the search is among the honest ones of the smallest batch.
    and the fields of a deployment
        Those that only change how many honest messages a batch has, or which pairs of inputs are compared; another is
        refused, and the message names a question that supports it.

    Returns
    -------
    WorstCase
        ``bracket`` encloses the divergence of the two datasets; its lower end is safe. ``space`` says what was
        searched.

    Raises
    ------
    InputError
        If an argument is out of its range, or a field is set with which no search is known.
    Unsupported
        If there are too many families of datasets and no constant one is known.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> worst_datasets(randomizer("rr", lam=3), n=3, exp_eps="6/5").bracket.exact
    Fraction(81, 320)
    """
    order, deployment = read_target(eps=eps, exp_eps=exp_eps), read_deployment(subject, fields)
    users, source = smallest_batch(deployment, "worst"), deployment.groups[0].randomizer
    if isinstance(source, Reducible):
        raise InputError("subject", source_name(source), "a mechanism of finitely many inputs, or laplace")
    changes = deployment.adjacency.changes
    try:
        channel = channel_of_pairs(source, deployment.adjacency) if changes else explicit_channel(source, users)
        if channel is not None:
            some = not source.every if isinstance(source, ClosedForm) else not getattr(source, "every_pair", True)
            deployment.adjacency.check_inputs(channel.num_inputs)
            pairs = changes or (source.input_pairs() if some else None)
            return worst_of_channel(channel, users, order, rtol=rtol, progress=progress, pairs=pairs, executor=executor)
    except Unsupported:
        if not reduction(source).datasets:
            raise
    return worst_constant(reduction(source), users, order, rtol=rtol)


def explicit_channel(source: Any, users: int) -> Channel | None:
    """Return the matrix of a randomizer; None for a continuum of outputs, or in the limit of many.

    - ``users``: with so many, a matrix with too many families of datasets is refused before it is built.
    """
    match source:
        case Channel():
            return source
        case ClosedForm():
            if source.limits:
                return None
            count_families(*source.shape, users)
            return source.channel()
        case Laplace():
            return None
    from symshuffle.decompositions.composition import Composed
    from symshuffle.mechanisms.model import Mechanism

    match source:
        case Composed():
            return source.composition.channel(source.lam)
        case Mechanism() if not any(parameter.has_limit for parameter in source.parameters):
            count_families(int(source.inputs), source.num_outputs, users)
            return source.channel()
    return None


def gap(found: WorstCase, bound: Bracket) -> Fraction:
    """How much of the bound is not reached by the datasets found, in [0, 1]."""
    if lower_end(found.bracket.lower) > bound.upper:
        end = format_decimal(bound.upper, digits=6, up=False)
        raise Unsupported(f"datasets {found.datasets} exceed the bound {end}: please report this")
    return 1 - found.bracket.lower / bound.upper if bound.upper else Fraction(0)
