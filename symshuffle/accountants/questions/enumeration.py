r"""Exact divergences by enumeration: of two given datasets, and of one batch with several reports of few users.

A reader sees the histogram of all messages of the batch. Its law is computed for each dataset, so nothing is bounded:
the answer is the largest divergence of neighbouring datasets itself. It is at most that of separate batches, one per
report, of which one batch is a function (claim ``symshuffle.reports``); that of separate batches may be larger. Every
report may be about another input.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, reduce
from typing import Any, Final, TypeAlias, final

from symshuffle.accountants.bounds.answers import Answer, Attained, Quantity
from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.adjacency import dataset_words
from symshuffle.accountants.deployment.experiment import Experiment, published, single_batch
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.deployment.neighbours import ENUMERATED, Neighbours
from symshuffle.accountants.deployment.reduction import finite_channel
from symshuffle.accountants.deployment.subjects import Subject, read_deployment
from symshuffle.base.choices import DIRECTIONS, Arithmetic, Question
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.numbers import Real, enclose, enclose_log, lower_end, upper_end, usual_bits
from symshuffle.base.results import Bracket
from symshuffle.channels.channel import Channel
from symshuffle.channels.shuffled import Tally, count_histograms, shuffled_law
from symshuffle.decompositions.closed_forms import ClosedForm

_MARGIN: Final = Fraction(1, 2**96)
"""Share by which a level is rounded up, so that delta enclosed by balls of the usual precision meets its target."""

_Cells: TypeAlias = "Sequence[tuple[Any, Any]]"
"""Masses of both laws at every histogram, times a common denominator."""

_Pair: TypeAlias = "tuple[str, _Cells, _Cells, int]"
"""Two datasets in words, cells whose divergence is not below and not above theirs, and the denominator of the cells."""


@final
@dataclass(frozen=True, slots=True)
class Enumeration:
    """Pairs of datasets with the laws of their histograms.

    - ``deployment``: what is enumerated.
    - ``complete``: whether all counts are published, so that the datasets attain their divergence.
    - ``arithmetic``: what is asked for.
    - ``pairs``: from the divergences that are asked for to all of them, each with the first of two laws first.
    """

    deployment: Deployment
    neighbours: Neighbours
    exact: bool
    complete: bool
    arithmetic: Arithmetic | None
    pairs: Callable[[Question], Iterator[_Pair]]

    def _answer(self, quantity: Quantity, bracket: Bracket, question: Question, worst: str, **target: Any) -> Answer:
        attained = Attained(bracket.lower, worst) if worst and self.complete else None
        covered = replace(self.neighbours, question=question)
        return Answer(quantity, bracket, covered, attained=attained, deployment=self.deployment, **target)

    def kept(self, question: Question) -> Enumeration:
        """Return an enumeration whose laws are kept in a list, to evaluate several levels."""
        found = list(self.pairs(question))
        return replace(self, pairs=lambda _: iter(found))

    def delta(self, order: Real, question: Question, *, attained: bool) -> Answer:
        """Return the largest divergence at a level, as :func:`symshuffle.delta` does."""
        ball = order if isinstance(order, Fraction) else enclose(order, usual_bits(order))
        if self.arithmetic == "exact" and not isinstance(order, Fraction):
            raise Unsupported(f"arithmetic exact: {order} is not rational; use ball")
        lower = upper = Fraction(0)
        worst = ""
        for words, outer, inner, scale in self.pairs(question):
            upper = max(upper, _divergence(outer, lower_end(ball), scale))
            least = _divergence(inner, upper_end(ball), scale)
            if least > lower or not worst:
                lower, worst = least, words
        arithmetic: Arithmetic = "exact" if self.exact and isinstance(order, Fraction) else "ball"
        bracket = Bracket(lower, min(upper, Fraction(1)), arithmetic, "enumeration", "all histograms of all datasets")
        return self._answer("delta", bracket, question, worst if attained else "", exp_eps=order)

    def epsilon(self, target: Fraction, question: Question, *, attained: bool) -> Answer:
        """Return the smallest level at a target, as :func:`symshuffle.epsilon` does."""
        lower = upper = Fraction(1)
        worst = ""
        for words, outer, inner, scale in self.pairs(question):
            upper = _root(outer, target * scale, upper)
            least = _root(inner, target * scale, lower)
            if least > lower or not worst:
                lower, worst = least, words
        ends = enclose_log(lower).lower, enclose_log(upper).upper
        arithmetic: Arithmetic = "exact" if self.exact and upper == 1 else "ball"
        if self.arithmetic == "exact" and arithmetic == "ball":
            raise Unsupported("arithmetic exact: eps is a logarithm; use arithmetic='ball'")
        upper = ends[1] * (1 + _MARGIN)
        bracket = Bracket(
            max(ends[0], Fraction(0)), upper, arithmetic, "enumeration", "root of a sum of positive parts"
        )
        return self._answer("epsilon", bracket, question, worst if attained else "", delta=target)


def _divergence(cells: _Cells, order: Fraction, scale: int) -> Fraction:
    top, bottom = order.numerator, order.denominator
    return Fraction(sum(max(bottom * p - top * q, 0) for p, q in cells)) / (bottom * scale)


def _root(cells: _Cells, target: Fraction, start: Fraction) -> Fraction:
    """Smallest order from a start on at which a sum of positive parts is at most a target: Newton, exact as it ends."""
    order = start
    while True:
        positive = [(p, q) for p, q in cells if p > order * q]
        above, slope = sum(p for p, _ in positive) - target, sum(q for _, q in positive)
        if above <= order * slope:
            return order
        if slope == 0:
            raise Unsupported("a histogram reveals an input with a probability above delta: no eps meets it")
        order = Fraction(above) / slope


def enumeration(subject: Subject, fields: Mapping[str, Any], request: Method) -> Enumeration | None:
    """Return the enumeration of what a question is about; None where its answer is a bound, or an engine is named.

    - ``subject``, ``fields``: as in :func:`symshuffle.delta`.
    """
    if isinstance(subject, Experiment):
        return None
    deployment = read_deployment(subject, fields)
    if deployment.adjacency.datasets is not None:
        if request.engine is not None:
            raise InputError("engine", request.engine.name, "none with two given datasets, which are enumerated")
        found: Enumeration | None = _of_datasets(deployment, request.arithmetic)
    else:
        found = (
            _of_reports(deployment, request.arithmetic) if deployment.reports > 1 and request.engine is None else None
        )
    if found is not None and not found.exact and request.arithmetic == "exact":
        raise Unsupported("arithmetic exact: probabilities are not rational, or were rounded; use ball")
    return found


def _of_datasets(deployment: Deployment, arithmetic: Arithmetic | None, *, max_steps: int = 4_000_000) -> Enumeration:
    """Two given datasets of any number of users.

    - ``max_steps``: sums of masses of two given datasets: seconds.
    """
    datasets = deployment.adjacency.datasets
    assert datasets is not None
    shown = deployment.adjacency.shown("datasets")
    channel = finite_channel(deployment.users[0].randomizer, "datasets", shown)
    for x in itertools.chain(*datasets):
        if x >= channel.num_inputs:
            raise InputError("datasets", x, f"inputs from 0 to {channel.num_inputs - 1}")
    work = len(datasets[0]) * channel.num_outputs * count_histograms(len(datasets[0]), channel.num_outputs)
    if work > max_steps:
        raise Unsupported(f"datasets of {len(datasets[0])} users: too many histograms; ask for a bound on all datasets")
    words = "X0 = {}, X1 = {}".format(*map(dataset_words, datasets))
    laws = [shuffled_law(channel, one) for one in datasets]
    nothing = Fraction(0)
    cells = [(laws[0].get(h, nothing), laws[1].get(h, nothing)) for h in sorted(laws[0].keys() | laws[1].keys())]

    def pairs(question: Question) -> Iterator[_Pair]:
        for direction in DIRECTIONS[question]:
            ordered = cells if direction == "forward" else [(q, p) for p, q in cells]
            outer = [(upper_end(p), lower_end(q)) for p, q in ordered]
            yield words, outer, [(lower_end(p), upper_end(q)) for p, q in ordered], 1

    neighbours = Neighbours(
        words, False, "replace-one", "both", len(datasets[0]), ENUMERATED,
        rounding=channel.rounding, notes=published(deployment), datasets=True,
    )  # fmt: skip
    exact = channel.exact and channel.rounding is None
    return Enumeration(deployment, neighbours, exact, deployment.threshold is None, arithmetic, pairs)


def _of_reports(
    deployment: Deployment, arithmetic: Arithmetic | None, *, max_terms: int = 100_000, max_batch: int = 10_000
) -> Enumeration | None:
    """One batch of several reports of few users; None where there are more batches, groups, or datasets.

    - ``max_terms``: histograms of all pairs of datasets of several reports up to which they are enumerated: about a
      second. Beyond, the bound on separate batches is returned, so the constant does not affect correctness.
    - ``max_batch``: messages of a batch of several reports up to which the number of its histograms is computed.
    """
    group, adjacency, reports = deployment.users[0], deployment.adjacency, deployment.reports
    source = group.randomizer
    one_batch = (deployment.memoised or deployment.periods == 1) and not deployment.later_periods
    if not one_batch or len(deployment.groups) > 1 or adjacency.group_size > 1 or group.count is None:
        return None
    known = isinstance(source, Channel) or (isinstance(source, ClosedForm) and isinstance(source.lam, Fraction))
    of_null = adjacency.relation == "zero-out"
    if not known or adjacency.blanket is not None or (of_null and adjacency.null is None):
        return None
    others = group.messages(group.count) - 1
    if isinstance(source, ClosedForm) and (source.limits or math.prod(source.shape) > max_batch):
        return None  # a parameter in its limit, or a matrix that is too large
    if others * reports > max_batch:
        return None
    batch, channel = single_batch(deployment), finite_channel(source, "reports", reports)
    rows, inputs = [*channel.rows, *(adjacency.null.rows if adjacency.null else ())], range(channel.num_inputs)
    if not channel.exact or channel.rounding or not (batch.every or isinstance(source, Channel)):
        return None
    moves = list(itertools.permutations(inputs, 2))
    if of_null:
        moves = [(x, len(inputs)) for x in inputs]
    elif adjacency.changes is not None:
        moves = list(adjacency.changes)
    moves += [(x, x) for x in range(len(rows))]
    backgrounds = math.comb(others * reports + len(rows) - 1, len(rows) - 1)
    changes = math.comb(len(moves) + reports - 1, reports)
    if backgrounds * changes * count_histograms((others + 1) * reports, channel.num_outputs) > max_terms:
        return None
    several = [tuple(zip(*both, strict=True)) for both in itertools.combinations_with_replacement(moves, reports)]
    swaps = {(tuple(sorted(one)), tuple(sorted(other))) for one, other in several}
    scale = math.lcm(*(lower_end(p).denominator for row in rows for p in row))
    units = [tuple(int(z == y) for z in range(channel.num_outputs)) for y in range(channel.num_outputs)]

    @cache
    def alike(x: int, reports: int) -> dict[Tally, int]:
        if reports == 1:
            return {unit: int(p * scale) for unit, p in zip(units, rows[x], strict=True) if p}
        return _merged(alike(x, reports // 2), alike(x, reports - reports // 2))

    def law(held: Sequence[int]) -> dict[Tally, int]:
        parts = [alike(x, held.count(x)) for x in sorted(set(held))]
        return reduce(_merged, parts, {(0,) * channel.num_outputs: 1})

    owns = {held: law(held) for swap in swaps for held in swap}
    steps = {"forward": (1,), "reverse": (-1,), "both": (1, -1)}

    def pairs(question: Question) -> Iterator[_Pair]:
        for rest in itertools.combinations_with_replacement(range(len(rows)), others * reports):
            base = law(rest)
            whole = {held: _merged(base, own) for held, own in owns.items()}
            for first, second in {swap[::step] for swap in swaps for step in steps[question]}:
                p, q = whole[first], whole[second]
                cells = [(p.get(h, 0), q.get(h, 0)) for h in p.keys() | q.keys()]
                held = map(dataset_words, (first, second, rest))
                words = "a user with reports about {} and about {}, all others about {}".format(*held)
                yield words, cells, cells, scale ** ((others + 1) * reports)

    words = f"all {reports} reports of every user are one batch; the divergence of separate batches may be larger"
    notes = tuple(words if "symshuffle.reports" in note else note for note in batch.notes)
    neighbours = replace(batch.neighbours("both", group.count), theorem=ENUMERATED, notes=notes)
    return Enumeration(deployment, neighbours, True, deployment.threshold is None, arithmetic, pairs)


def _merged(one: Mapping[Tally, int], other: Mapping[Tally, int]) -> dict[Tally, int]:
    """The law of the sum of two independent histograms."""
    found: dict[Tally, int] = {}
    for (h, p), (g, q) in itertools.product(one.items(), other.items()):
        key = tuple(map(int.__add__, h, g))
        found[key] = found.get(key, 0) + p * q
    return found
