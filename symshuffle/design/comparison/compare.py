r"""Which mechanism estimates frequencies best at a common local or central budget.

The chi-square budget of the ``alphabets`` paper is pairwise and local; what a deployment promises is (eps, delta)
after shuffling, against every background. The two order mechanisms differently, and this is where one sees it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, Final

from symshuffle.accountants.deployment.any_ldp import NAME
from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import KEYWORDS, UNSAID, named_fields
from symshuffle.accountants.deployment.subjects import with_fields
from symshuffle.accountants.questions.repeated import WIDTH_OF_LEVEL
from symshuffle.base.choices import Loss, choice
from symshuffle.base.errors import InputError, NamedProgress, NotDecided, Unsupported, check_progress
from symshuffle.base.executors import mapped
from symshuffle.base.numbers import Exp, as_integer, as_width, format_decimal
from symshuffle.base.results import Bracket
from symshuffle.design.comparison.branch_and_bound import DOUBT, MOST_INPUTS, Settled
from symshuffle.design.comparison.equivalence import equal_mechanisms
from symshuffle.design.comparison.families import Family, family, family_name, names_on_file
from symshuffle.design.comparison.matching import RTOL, Match, has_strings, level_in_doubles, matched, read_match
from symshuffle.design.comparison.parameter_choice import (
    CLOSEST,
    LOCAL,
    Candidate,
    around,
    beside,
    candidate_at,
    descended,
    has_share,
    is_unusual,
    matched_of,
    named,
    settled_for,
    share_of,
)
from symshuffle.design.comparison.proposals import LARGEST_EPS0, Values, loss_of, moment, proposals
from symshuffle.design.comparison.rows import Row, cap_of, generic_row, row_of
from symshuffle.design.comparison.table import Comparison
from symshuffle.utility.estimation.votes import LARGEST_STRING

if TYPE_CHECKING:
    from symshuffle.design.comparison.user_mechanisms import UserMechanism

_LARGEST_INPUTS: Final = 10**6
"""Inputs beyond which messages and moments are not written out."""

LARGEST_VARIANTS: Final = 100
"""Rows that one mechanism may have."""


@with_fields
def compare(
    k: int,
    *,
    n: int,
    budget: object = None,
    eps0: object = None,
    eps: object = None,
    delta: object = None,
    mechanisms: Sequence[object] | None = None,
    variants: int = 1,
    rtol: float | None = None,
    progress: NamedProgress | None = None,
    executor: Executor | None = None,
    loss: Loss = "l2",
    **fields: Any,
) -> Comparison:
    r"""Comparison of all finite mechanisms with k inputs under one common budget.

    Each mechanism is taken at the best parameters that were found.

    Parameters
    ----------
    k : int
        Number of inputs, 2 to 10^6.
    n : int
        Number of users, at least 1.
    budget : number or text, optional
        Match the largest pairwise chi-square divergence :math:`\chi_*`.
    eps0 : number or text, optional
        Match the local level, in nats.
    eps : number or text, optional
        Match the certified eps after shuffling, in nats, at ``delta``.
    delta : number or text, optional
        Probability in (0, 1) at which eps is certified. Without it no central level is given.
    mechanisms : sequence, optional
        Rows wanted; default all mechanisms of the registry that have k inputs, and thinned ones where a null symbol
        can reduce the risk. Each is a name, ``any-ldp`` included where eps0 or eps is matched (any randomizer of that
        level); an expression such as ``joint(krr(k=3),2)``; or a Mechanism with ``lam`` open, a composition, a Channel
        of your own, or a pair of a name and one of these. Texts with one meaning are one row. A Channel is taken as it
        is, and ``excess`` says if it spends more than the others.
    variants : int
        How many rows a mechanism with an integer parameter may have, 1 to 100: its best values found, the best first.
    rtol : float, optional
        Relative width of the brackets around eps and eps0 to aim at, in (0, 1); default 1e-4, for several batches 5e-3.
    progress : callable, optional
        Called before every mechanism that has a budget, and at the end, with the number of mechanisms done, their total
        and the name of the next one.
    executor : Executor, optional
        Executor that computes the mechanisms, as in :func:`symshuffle.sweep`; by default they are computed in this
        process.
    loss : {"l2", "max", "absent", "test"}
        Error for which parameters are chosen and by which rows are sorted, as in
        :class:`symshuffle.base.choices.Loss`. With another than ``l2`` the search for parameters is only local.
    and the fields of a deployment
        What eps at ``delta`` covers, as in :func:`symshuffle.epsilon`: all messages of all batches together. Risks are
        those of one message of every user; the search for parameters is only local where there are several. Fields by
        which the users of a batch drop out or neighbours differ are refused.

    Returns
    -------
    Comparison
        One row per mechanism and variant, the smallest loss first, and the mechanisms without a row with the reason.

    Raises
    ------
    InputError
        If not exactly one of budget, eps0 and eps is given, a value is out of range, a mechanism that is named has
        no k inputs, or a field of a deployment is given without ``delta``.

    Notes
    -----
    alphabets, Sections 8 and 10 to 12; anchored, Section 9.

    Examples
    --------
    >>> found = compare(10, n=100, budget="3/22", mechanisms=["krr", "subset-selection", "aug-rr"])
    >>> [(row.name, round(float(row.risk.upper), 4)) for row in found.rows]
    [('aug-rr', 1.047), ('krr', 1.08), ('subset-selection', 1.08)]
    """
    k = as_integer(k, "k", 2, _LARGEST_INPUTS)
    n = check_n(n)
    given = {name: value for name, value in fields.items() if value is not None}
    refused = named_fields("absent", "compare")
    for name, value in given.items():
        if name in refused:
            taken = ", ".join(one for one in KEYWORDS if one not in ("n", *refused))
            raise InputError(name, value, f"none in a comparison; it takes {taken}")
        if delta is None and value != 1:
            raise InputError(name, value, "none, unless delta is given, at which eps is certified")
    covered = UNSAID.with_(**given)
    covered.groups[0].check(n)
    covered = replace(covered, groups=(covered.groups[0].simplified(n),))
    match = replace(
        read_match(budget=budget, eps0=eps0, eps=eps, delta=delta),
        loss=choice(Loss, loss, "loss"),
        covered=covered,
    )
    rtol = (RTOL if covered.batches == 1 else WIDTH_OF_LEVEL) if rtol is None else as_width(rtol)
    check_progress(progress, 3)
    variants = as_integer(variants, "variants", 1, LARGEST_VARIANTS)
    wanted, own, repeated = (None, [], []) if mechanisms is None else _read(_listed(mechanisms), k)
    found, absent = _families(k, match, wanted) if wanted is None or wanted else ([], [])
    rows: list[Row] = [generic_row(match, n, rtol)] if wanted is not None and NAME in wanted else []
    budgeted = [one for one in found if one.has_budget]

    def told(known: int, of: int) -> None:
        if progress is not None:
            progress(known, of, budgeted[known].name if known < of else "")

    told(0, len(budgeted))
    tried = iter(mapped(partial(_tried, k, n, match, rtol, variants), budgeted, executor, told))
    reach = 0.0
    for one in found:
        if not one.has_budget:
            _without_budget(one, k, n, match, rows, absent)
            continue
        made, reason, farthest = next(tried)
        reach = max(reach, farthest)
        rows.extend(made)
        if reason:
            absent.append((one.name, reason))
    _add_own(own, match, n, rtol, rows, absent)
    if match.kind == "chi-square" and match.value > reach > 0:
        most = format_decimal(Fraction(reach), digits=4, up=False)
        allowed = f"a number in (0, {most}], the range attainable at local levels up to {LARGEST_EPS0}"
        raise InputError("budget", budget, allowed)
    ordered = tuple(sorted(rows, key=lambda row: row.order))
    brought: dict[str, Any] = dict(own)
    return Comparison(k, n, match, ordered, tuple(absent), (*repeated, *equal_mechanisms(k, ordered, brought)))


def _listed(mechanisms: object) -> Sequence[object]:
    if isinstance(mechanisms, str) or not isinstance(mechanisms, Sequence) or not mechanisms:
        raise InputError("mechanisms", mechanisms, "a list of at least one name, or None for all")
    return mechanisms


def _read(mechanisms: Sequence[object], k: int) -> tuple[list[str], list[UserMechanism], list[str]]:
    """Names of the registry, what a user brings, and which entries are one row; algebra loads with what is brought."""
    texts: dict[str, list[str]] = {}
    brought = [one for one in mechanisms if not isinstance(one, str) or "(" in one]
    for text in mechanisms:
        if isinstance(text, str) and "(" not in text:
            texts.setdefault(family_name(text), []).append(text)
    own: list[UserMechanism] = []
    if brought:
        from symshuffle.design.comparison.user_mechanisms import read_user_mechanisms

        own, same = read_user_mechanisms(brought, k)
        texts |= same
    repeated = [f"{name} is one row, asked for as {', '.join(one)}" for name, one in texts.items() if len(one) > 1]
    return [name for name in texts if "(" not in name], own, repeated


def _add_own(
    own: Sequence[UserMechanism], match: Match, n: int, rtol: float, rows: list[Row], absent: list[tuple[str, str]]
) -> None:
    if not own:
        return
    from symshuffle.design.comparison.user_mechanisms import user_row

    for name, source in own:
        try:
            rows.append(user_row(name, source, match, n, rtol))
        except (Unsupported, NotDecided) as error:
            absent.append((name, str(error)))


def _tried(k: int, n: int, match: Match, rtol: float, variants: int, one: Family) -> tuple[list[Row], str, float]:
    """The rows of a family, or why it has none, and how far its chi-square divergence reaches."""
    reach = 0.0
    try:
        _check_strings(one)
        reach = moment(one, "chi square")(math.exp(LARGEST_EPS0), {p.name: 1.0 for p in one.free})
        goal = _goal(k, match.of_one_round(), n, min(rtol, RTOL)) if match.kind == "eps-delta" else 0.0
        return _best(one, match, n, rtol, goal, variants), "", reach
    except (Unsupported, NotDecided) as error:
        return [], str(error), reach


def _families(k: int, match: Match, wanted: Sequence[str] | None) -> tuple[list[Family], list[tuple[str, str]]]:
    """The families to compare, and the names of those that do not exist at k inputs, with the reason."""
    if wanted is not None:
        return [family(name, k) for name in wanted if name != NAME], []
    found, absent = [], []
    for name in names_on_file():
        try:
            one = family(name, k)
        except InputError as error:
            absent.append((name, str(error)))
            continue
        if not one.thin or match.kind != "eps0":  # there the trace is proportional to the share
            found.append(one)
    return found, absent


def _check_strings(one: Family) -> None:
    """Refuse strings of bits that are too long, before their probabilities are written out."""
    if one.all_inputs > LARGEST_STRING and has_strings(one):
        raise Unsupported(f"messages are strings of {one.all_inputs} bits, above the limit of {LARGEST_STRING}")


def _without_budget(one: Family, k: int, n: int, match: Match, rows: list[Row], absent: list[tuple[str, str]]) -> None:
    """A mechanism without a local level: it says nothing, and meets every match, or it reveals inputs for certain."""
    if one.free or one.form["row"]["certain"]:
        absent.append((one.name, "some message is impossible at some inputs: no finite local level or chi-square"))
        return
    nothing = Bracket(Fraction(0), Fraction(0), "exact", "closed form", "all rows are equal")
    private: dict[str, Any] = {"epsilon": nothing, "privacy": "all datasets give the same messages"}
    private = {} if match.delta is None else private
    reason = "messages do not depend on inputs: no estimator is unbiased"
    rows.append(Row(one.name, one.form["row"]["title"], (), nothing, nothing, nothing, reason=reason, **private))


@lru_cache(maxsize=16)
def _goal(k: int, match: Match, n: int, rtol: float) -> float:
    """The blanket variance of k-ary response at a central target, at which other parameters are ranked."""
    reference = family("krr", k)
    at, _ = matched(reference, (), match, n=n, rtol=max(rtol, 1e-3))
    return moment(reference, "variance")(cap_of(at), {})


def _best(
    one: Family,
    match: Match,
    n: int,
    rtol: float,
    goal: float,
    variants: int,
) -> list[Row]:
    """The rows of a family: proposals in doubles, matched exactly, and all that may beat the best of them."""
    if match.rounds > 1 and match.kind == "eps-delta":
        return _over_rounds(one, match, n, rtol, goal, variants)
    ranked, settled = _ranked(one, match, n, rtol, goal, variants)
    if one.thin and dict(ranked[0].values)["p"] == 1:
        raise Unsupported(f"a null symbol does not reduce the risk of {one.base} at this target ({settled.evaluation})")
    # Rows of equal risk, to the last digit, are ordered by eps.
    made = [
        row_of(one, entry.here, match, n, rtol, settled)
        for i, entry in enumerate(ranked)
        if i < variants or entry.risk == ranked[0].risk
    ]
    return sorted(made, key=lambda row: row.order)[:variants]


def _over_rounds(one: Family, match: Match, n: int, rtol: float, goal: float, variants: int) -> list[Row]:
    """The rows of a family at a target of several rounds together: parameters that are best for one of them."""
    evaluation = LOCAL if one.free else "no free parameters"
    try:
        ranked, _ = _ranked(one, match.of_one_round(), n, RTOL, goal, variants, local=True)
        levels = [(entry.values, entry.here.lam) for entry in ranked[:variants]]
    except Unsupported as error:
        if one.free:
            raise Unsupported(f"no parameters found at the share that one round has in the target: {error}") from None
        levels = [((), Fraction(1))]
    if one.thin and dict(levels[0][0])["p"] == 1:
        raise Unsupported(f"a null symbol does not reduce the risk of {one.base} at this target ({evaluation})")
    chosen = [(values, lam.exponent if isinstance(lam, Exp) else None) for values, lam in levels]
    found = [matched(one, values, match, n=n, rtol=rtol, near=near)[0] for values, near in chosen]
    made = [row_of(one, at, match, n, rtol, Settled(None, evaluation)) for at in found]
    return sorted(made, key=lambda row: row.order)


def _ranked(
    one: Family,
    match: Match,
    n: int,
    rtol: float,
    goal: float,
    variants: int,
    *,
    local: bool = False,
    finalists: int = 3,
    rounds: int = 12,
    few: int = 1000,
) -> tuple[list[Candidate], Settled]:
    """Parameters that were matched, the smallest loss first, and what is known of all others.

    - ``local``: whether nothing is to be known of others.
    - ``rounds``: how often a share that is not excluded is taken up.
    - ``few``: inputs up to which several integers are matched exactly at a central target.
    """
    level = level_in_doubles(match, one, goal)
    risk = loss_of(one, match.loss)

    def in_doubles(values: Values) -> float:
        if risk is None:
            return 0.0
        try:
            return risk(math.exp(level(values)), values)
        except Unsupported:
            return math.inf

    # Few candidates where all others are looked at afterwards.
    several = match.kind == "eps-delta" and not one.thin and (local or MOST_INPUTS < one.inputs <= few)
    most = max(variants, finalists if several else 1)
    candidates = proposals(one, in_doubles, thin=match.kind != "eps0", most=most)
    tried = [candidate_at(one, values, match, n, rtol) for values in named(one, match, candidates)]
    best = min(tried, key=lambda entry: entry.risk)
    unusual = bool(one.free and risk and goal) and is_unusual(one, best, match, n, goal)
    if unusual:
        tried += descended(one, best, match, n, rtol)
        tried += beside(one, min(tried, key=lambda entry: entry.risk), variants, match, n, rtol)
    doubt, near = (math.inf, descended) if unusual else (DOUBT, around)
    settled = Settled(None, LOCAL) if local else settled_for(one, match, n, tried, doubt=doubt)
    searched = Fraction(0)  # around this share nothing is better
    for _ in range(rounds):
        if not settled.left:
            break
        before = min(entry.risk for entry in tried)
        tried += matched_of(one, settled.left, match, n, rtol)
        if not has_share(one):
            break  # each has been looked at
        best = min(tried, key=lambda entry: entry.risk)
        if best.risk >= before:
            settled = Settled(None, LOCAL)
            break
        if abs(share_of(best) - searched) > CLOSEST * searched:
            tried += near(one, best, match, n, rtol)
            searched = share_of(min(tried, key=lambda entry: entry.risk))
        settled = settled_for(one, match, n, tried, settled, doubt=doubt)
    ranked = sorted({entry.values: entry for entry in tried}.values(), key=lambda entry: entry.risk)  # each once
    return ranked, settled
