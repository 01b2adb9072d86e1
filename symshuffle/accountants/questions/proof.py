"""Files that carry the proof of an upper bound, for the checker :mod:`symshuffle.ledger.recheck.bound`.

Doubles choose the four numbers of a line; the checker computes the bound from them in integers, here as anywhere else.
"""

from __future__ import annotations

import html
import json
import math
import platform
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from os import PathLike
from pathlib import Path
from typing import Any, Final, final

import flint
import numpy as np

from symshuffle.accountants.bounds.answers import Answer
from symshuffle.accountants.deployment.adjacency import Adjacency, check_one_user
from symshuffle.accountants.deployment.any_ldp import AnyLdp
from symshuffle.accountants.deployment.experiment import experiment_of
from symshuffle.accountants.deployment.groups import group_factor, group_root
from symshuffle.accountants.deployment.model import Deployment
from symshuffle.accountants.deployment.reduced import Reducible, Reduction
from symshuffle.accountants.deployment.reduction import channel_of_pairs
from symshuffle.accountants.questions import solve
from symshuffle.base.artifacts import check_destination, installed, write_atomically
from symshuffle.base.choices import Question
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import read_delta, read_target
from symshuffle.base.numbers import Exp, Real, enclose, format_decimal, is_exact, parse_rational, shortest, upper_end
from symshuffle.channels.channel import Channel
from symshuffle.decompositions.closed_forms import ClosedForm
from symshuffle.decompositions.quotient_texts import OpenQuotient
from symshuffle.decompositions.quotients import polynomials, quotient_of
from symshuffle.engines.contours import saddle
from symshuffle.ledger.recheck import bound
from symshuffle.mechanisms.names import source_name

_WIDTHS: Final = (1e-3, 3e-5, 1e-6)
"""Relative widths for which a line is chosen, until the bound is as near as promised."""

_NEAR: Final = Fraction(1001, 1000)
"""How far above the upper end in balls the proved bound may be at most."""

_LEAST: Final = Fraction(1, 10**70)
"""What a proof may state where the bound is 0: irrational probabilities are rounded, so that no sum of them is 0."""

_ABOVE: Final = tuple(Fraction(1) + Fraction(k, 10**6) for k in (0, 1, 10, 30, 300, 990))
"""By what the upper end of eps is raised until the proved bound meets delta."""

_MANY: Final = 5_000
_MOST: Final = 10**7
"""Users between which narrow lines are cheap: most of their nodes are bounded and not evaluated."""

_LARGEST_MATRIX: Final = bound.CELLS
_MOST_LINES: Final = 6


def prove(answer: Answer, *, delta: object = None) -> BoundProof:
    """File that proves the upper end of an answer, for the checker ``bound.py``.

    Parameters
    ----------
    answer : Answer
        Of :func:`symshuffle.delta` or :func:`symshuffle.epsilon`, about one batch of messages of one group of users
        whose messages have finitely many values, with probabilities that are rational in ``exp(eps0/2)``.
    delta : number or text, optional
        For an answer about delta: the bound to be proved; default: the smallest one with six digits that the proof
        reaches. An eps is proved at its own delta, at most a thousandth above the upper end.

    Returns
    -------
    BoundProof
        The content of the file, which passed the checker; ``save`` writes it.

    Raises
    ------
    InputError
        If an argument is out of its range.
    Unsupported
        If the deployment or the precision has no such proof; the message names it.

    Examples
    --------
    >>> from symshuffle import delta, epsilon, randomizer
    >>> krr = randomizer("krr", k=10, eps0=1)
    >>> prove(delta(krr, n=1000, eps="0.1")).statement["delta"]
    '9602621/500000000000000'
    >>> prove(epsilon(krr, n=1000, delta="1e-2")).statement["delta"]
    '1/100'
    """
    if not isinstance(answer, Answer):
        raise InputError("answer", type(answer).__name__, "an answer of delta or epsilon")
    if answer.deployment is None:
        raise Unsupported("proof: an answer about laws that were derived before does not say what users run")
    if answer.quantity == "epsilon" and answer.delta is not None:
        if delta is not None:
            raise InputError("delta", delta, "none for an answer about eps, which has its own")
        return _of_epsilon(answer.deployment, answer.direction, answer.delta, answer.bracket.upper)
    if answer.quantity != "delta" or answer.exp_eps is None:
        raise Unsupported(
            f"proof: an answer about {answer.quantity} has no proof file; proof files support delta and eps"
        )
    return _of_delta(answer.deployment, answer.direction, answer.exp_eps, None if delta is None else read_delta(delta))


def check_provable(deployment: Deployment, order: Real = Fraction(1), way: Question = "both") -> None:
    """Refuse, before anything is computed, a question whose answer :func:`prove` has no file for.

    Parameters
    ----------
    deployment : Deployment
        What is asked about.
    order : Fraction or Exp
        The target ``exp(eps)``; any where eps is what is asked for.
    way : str
        The direction that is asked for.

    Raises
    ------
    Unsupported
        As :func:`prove`.
    """
    _statement(deployment, order, way)


def _of_delta(deployment: Deployment, way: Question, order: Real, target: Fraction | None) -> BoundProof:
    said = _statement(deployment, order, way)
    group = deployment.adjacency.group_size
    one = group_root(order, group)  # the proof is of this ratio; what is bounded may be smaller at a smaller one
    alone = solve.delta(
        replace(deployment, adjacency=deployment.adjacency.of_one_user), exp_eps=one, arithmetic="ball"
    ).bracket.upper
    best = alone * upper_end(group_factor(group, upper_end(enclose(one))))
    content = _proof(said, max(best * _NEAR, _LEAST) if target is None else target, target)
    if content is None and not best:
        raise Unsupported(f"proof: the bound is 0 there, which no line proves beyond {bound.FEW_USERS} users")
    if content is None:
        raise Unsupported(
            f"proof: no line of at most {bound.NODES + 10 * said['users']} nodes proves delta within a thousandth of "
            f"{float(best):.6g}" + ("" if target is None else f" that is at most delta = {shortest(target)}")
        )
    return content


def _of_epsilon(deployment: Deployment, way: Question, target: Fraction, upper: Fraction) -> BoundProof:
    n = _statement(deployment, Fraction(1), way)["users"]  # refuses unsupported deployments before the search
    widths = _WIDTHS[:1] if n < _MANY else _WIDTHS if n < _MOST else _WIDTHS[:2]
    for factor in _ABOVE:
        level = format_decimal(upper * factor, digits=12, up=True)
        found = _proof(_statement(deployment, read_target(eps=level), way), target, target, widths)
        if found is not None:
            return found
    raise Unsupported(f"proof: no line proves delta <= {shortest(target)} within a thousandth above eps")


@final
@dataclass(frozen=True, slots=True, repr=False)
class BoundProof:
    """File that proves an upper bound.

    - ``content``: the statement, and the lines from which the checker computes the bound, as the file has them.
    """

    content: dict[str, Any]

    @property
    def statement(self) -> dict[str, Any]:
        """What is proved, as the file has it."""
        found: dict[str, Any] = self.content["statement"]
        return found

    @property
    def text(self) -> str:
        """Content of the file, in JSON."""
        return json.dumps(self.content, indent=1) + "\n"

    def save(self, path: str | PathLike[str]) -> None:
        """Write the file, whole or not at all."""
        file = Path(path)
        check_destination(file, argument="path")
        write_atomically(file, self.text, argument="path")

    def __str__(self) -> str:
        return bound.check(self.content)

    def __repr__(self) -> str:
        return f"<proof of {self}>"

    def _repr_html_(self) -> str:
        return f"<p>{html.escape(str(self))}</p>"


def _proof(
    said: dict[str, Any], most: Fraction, target: Fraction | None, widths: Sequence[float] = _WIDTHS
) -> BoundProof | None:
    """The file for the first width whose bound is small enough; None if none is."""
    scale, parsed = 1 << bound.FINE, bound.parse(said | {"delta": "1/1"})
    if target is not None:
        try:
            bound.read(f"{target.numerator}/{target.denominator}", "delta", bound.SHARE)
        except bound.CertificateError:
            raise Unsupported("proof: delta: at most 4000 digits of p and q in p/q") from None
    for width in widths:
        lines = _lines(parsed, width)
        if lines is None:
            return None
        try:
            found = Fraction(bound.value(parsed, lines), scale)
        except bound.CertificateError:
            continue
        if found <= most:
            delta = parse_rational(format_decimal(found, digits=8, up=True), "delta") if target is None else target
            versions = {name: installed(name) for name in ("symshuffle", "numpy")}
            content = {
                "format": bound.FORMAT,
                "statement": said | {"delta": f"{delta.numerator}/{delta.denominator}"},
                "lines": lines,
                "versions": versions | {"python": platform.python_version()},
            }
            content["digest"] = bound.digest(content)
            bound.check(content)
            return BoundProof(content)
    return None


def _lines(said: dict[str, Any], width: float) -> list[dict[str, int]] | None:
    """Lines for the laws that may be the worst; None where they are out of reach, no line where none is needed."""
    n = said["min_users"]
    ratio = bound.ratio(*said["exp_eps"])[0]
    if said["group"] > 1:  # a guess of the root will do
        ratio = int((ratio / bound.ONE) ** (1 / said["group"]) * 2**60) << bound.BITS - 60
    plans: list[tuple[float, saddle.ContourPlan]] = []
    for _, law in bound.laws(said, ratio):
        atoms = [(value / bound.ONE, weight / bound.ONE) for value, weight in law if weight >> 1 and value]
        zero = sum(weight for value, weight in law if not value) / bound.ONE
        atoms += [(0.0, zero)] if zero > 0 else []
        if n <= bound.FEW_USERS and math.comb(n + len(law) - 1, n) <= bound.FEW_VECTORS:
            continue
        if law[-1][0] <= 0:  # G is never positive
            continue
        if not any(value > 0 for value, _ in atoms):
            plans.append((-math.inf, saddle.ContourPlan(1.0, 1.0, 16, 1.0)))
            continue
        tilt = saddle.Tilt(np.array([v for v, _ in atoms]), np.array([w for _, w in atoms]))
        plan = saddle.choose(tilt, n, rtol=width)
        plans.append((n * tilt.at(plan.c).cumulant - 2 * math.log(plan.c), plan))
    plans.sort(key=lambda pair: -pair[0])
    lines: list[dict[str, int]] = []
    for size, plan in plans:
        near = any(abs(math.log(plan.c * bound.ONE / line["c"])) < 0.1 for line in lines)
        if lines and (near or size < plans[0][0] - 7 or len(lines) == _MOST_LINES):
            continue
        if plan.nodes > bound.NODES + 10 * n:
            return None
        smoothing = (plan.tau * plan.c) ** 2
        parts = (plan.c, plan.step / plan.c, smoothing)
        if not all(0 < part < 2**8 for part in parts[1:]) or not 0 < plan.c < 2**64:
            return None
        c, step, v = (int(Fraction(part) * bound.ONE) for part in parts)
        lines.append({"c": c, "step": step, "smoothing": v, "last": plan.nodes})
    return lines


def _statement(deployment: Deployment, order: Real, way: Question) -> dict[str, Any]:
    """All of a statement but its delta."""
    asked = experiment_of(deployment)
    if asked.several:
        raise Unsupported("proof: several batches of messages have no proof file; a proof covers one")
    if asked.parts[0].cases:
        raise Unsupported("proof: several groups or dummies have no proof file; a proof covers one group of users")
    group, adjacency = deployment.groups[0], deployment.adjacency
    source = group.randomizer
    own = None if isinstance(source, Reducible) else "largest"  # the only one of a finite mechanism or channel
    try:
        group.check_fixed_number("in a proof file", "leave the proof away")
        check_one_user(adjacency.group_size if adjacency.group_size > 1000 else 1, "at most 1000 in a proof file")
    except InputError as reason:
        raise Unsupported(f"proof: {reason}") from None
    if adjacency.blanket not in (None, own):
        raise Unsupported("proof: blanket has no proof file; leave it away, or the proof")
    if way != "both":
        raise Unsupported(f"proof: direction {way}: a proof covers both orders of each pair; leave direction away")
    n = asked.parts[0].users
    asked.parts[0].check(n)
    mechanism, cap, null, pairs = _described(source, adjacency)
    if null is not None and mechanism.get("D", 1) is None:
        raise InputError("D", None, "a value where the adjacency is zero-out")
    if null is not None and mechanism.get("D", 1) >= bound.SIZES:
        raise Unsupported(f"proof: zero-out has no proof file where D is above {bound.SIZES - 1}")
    for name, ratio in (("exp_eps", order), ("exp_eps0", cap)):
        try:
            bound.number(bound.read(_written(ratio), name, bound.LEVEL), name, bound.LEVEL)
        except bound.CertificateError as error:
            raise Unsupported(f"proof: {name}: {error.args[1]}") from None
    return {
        "mechanism": mechanism,
        "exp_eps0": _written(cap),
        "adjacency": (adjacency.relation or "replace-one"),
        "null": null,
        "pairs": pairs,
        "users": group.honest(n),
        "min_users": group.messages(n),
        "group": adjacency.group_size,
        "exp_eps": _written(order),
    }


def _written(level: Real) -> str:
    return f"exp({level.exponent})" if isinstance(level, Exp) else str(level)


def _described(source: Any, adjacency: Adjacency) -> tuple[dict[str, Any], Real, Any, Any]:
    """Mechanism, exp(eps0), null symbol and pairs, as a statement has them."""
    zero_out = adjacency.relation == "zero-out"
    if adjacency.compared is not None:
        return _of_channel(channel_of_pairs(source, adjacency), adjacency)
    if isinstance(source, Reduction):
        raise Unsupported("proof: a reduction does not say what users run; give the mechanism or channel itself")
    if isinstance(source, AnyLdp) and source.lam is not None and not zero_out:
        return {"name": source.name}, source.lam, None, "all"
    if isinstance(source, ClosedForm):
        if source.name in bound.NAMED and source.lam is not None:
            numbers = {name: int(parse_rational(value, name)) for name, value in source.values}
            named = {"name": source.name, **numbers, **dict.fromkeys(source.limits)}
            return named, source.lam, "blanket" if zero_out else None, "all"
        pairs = None if source.every else source.input_pairs
        if not source.limits and math.prod(source.shape) > _LARGEST_MATRIX:
            raise Unsupported(f"proof: {source.name}: at most {_LARGEST_MATRIX} cells, all parameters given")
        return _of_quotients(source.rows(), source.lam or Fraction(1), zero_out, pairs)
    if isinstance(source, Channel):
        return _of_channel(source, adjacency)
    if type(source).__name__ == "Mechanism":
        return _of_mechanism(source, zero_out)
    raise Unsupported(
        f"proof: {source_name(source)} has no proof file; proof files support finite mechanisms and channels"
    )


def _of_channel(channel: Channel, adjacency: Adjacency) -> tuple[dict[str, Any], Real, Any, Any]:
    rows: list[Any] = list(channel.rows)
    if adjacency.null is not None:
        rows.append(adjacency.null.rows[0])
    if not all(is_exact(row) for row in rows):
        raise Unsupported("proof: channel: its probabilities have to be rational, not doubles or balls")
    if len(rows) * channel.num_outputs > _LARGEST_MATRIX:
        raise Unsupported(f"proof: a channel of {len(rows)} x {channel.num_outputs}: at most {_LARGEST_MATRIX} cells")
    unit = math.lcm(*(entry.denominator for row in rows for entry in row))
    cells = [[[int(entry * unit)] for entry in row] for row in rows]
    own = cells[: channel.num_inputs]
    null = None if adjacency.relation != "zero-out" else "blanket" if adjacency.null is None else cells[-1]
    pairs = "all" if adjacency.changes is None else [list(pair) for pair in adjacency.changes]
    return {"name": "rows", "denominator": [unit], "rows": own}, Fraction(1), null, pairs


def _of_mechanism(mechanism: Any, zero_out: bool) -> tuple[dict[str, Any], Real, Any, Any]:
    from symshuffle.mechanisms import registry
    from symshuffle.mechanisms.symbolic import LAM, written

    fixed = mechanism.with_defaults()
    values = dict(fixed.values)
    cap: Real = values.pop("lam", Fraction(1))
    known = registry.MECHANISMS.get(fixed.name)
    general = fixed.general or fixed
    null = "blanket" if zero_out else None
    if fixed.name in bound.NAMED and known is not None and known() == general and not fixed.needed:
        numbers = {name: int(parse_rational(value, name)) for name, value in values.items()}
        limits = {p.name: None for p in fixed.parameters}
        return {"name": fixed.name, **numbers, **limits}, cap, null, "all"
    rows = general.at(**values).symbolic_rows()
    if len(rows) * len(rows[0]) > _LARGEST_MATRIX or any(p.free_symbols - {LAM} for row in rows for p in row):
        raise Unsupported(f"proof: {fixed.name}: at most {_LARGEST_MATRIX} cells, all parameters given")
    try:
        quotients = [[quotient_of(written(p), {}) for p in row] for row in rows]
    except (InputError, Unsupported):
        raise Unsupported(f"proof: {fixed.name}: its probabilities are not rational in exp(eps0/2)") from None
    return _of_quotients(quotients, cap, zero_out, None if fixed.every_pair else fixed.input_pairs)


def _of_quotients(
    rows: Sequence[Sequence[OpenQuotient]],
    cap: Real,
    zero_out: bool,
    pairs: Callable[[], Sequence[tuple[int, int]]] | None,
) -> tuple[dict[str, Any], Real, Any, Any]:
    """The rows as integer polynomials in exp(eps0/2) over one denominator; ``pairs``: those meant, None for all."""
    parts = [[polynomials(p) for p in row] for row in rows]
    below = reduce(_least_multiple, (low for row in parts for _, low in row))
    cells = [[top * (below // low) for top, low in row] for row in parts]
    unit = math.lcm(*(int(p.denom()) for p in (below, *(p for row in cells for p in row))))
    listed = [[[int(c) for c in (p * unit).coeffs()] or [0] for p in row] for row in cells]
    found = {"name": "rows", "denominator": [int(c) for c in (below * unit).coeffs()], "rows": listed}
    told = "all" if pairs is None or zero_out else [list(pair) for pair in pairs()]
    return found, cap, "blanket" if zero_out else None, told


def _least_multiple(one: flint.fmpq_poly, other: flint.fmpq_poly) -> flint.fmpq_poly:
    return one * (other // one.gcd(other))
