"""The mean of users' vectors from shuffled messages: calibrated, simulated, and measured against what is exact."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from symshuffle.accountants.deployment.experiment import experiment_of
from symshuffle.accountants.deployment.group import check_n
from symshuffle.accountants.deployment.model import UNSAID
from symshuffle.accountants.deployment.subjects import smallest_batch, with_fields
from symshuffle.accountants.questions import solve
from symshuffle.base.choices import Relation, choice
from symshuffle.base.errors import InputError, NotDecided, SolverFailure, Unsupported
from symshuffle.base.levels import read_target, words_of_target
from symshuffle.base.numbers import (
    Ball,
    Real,
    Verdict,
    format_decimal,
    less,
    parse_rational,
    shortest,
    target_decimal,
    to_arb,
    to_float,
    working_precision,
)
from symshuffle.base.results import Bracket
from symshuffle.mechanisms.names import mechanism_name, source_name
from symshuffle.vectors.calibration.floor import Target
from symshuffle.vectors.calibration.search import calibrate, central_noise, estimated_rmse, read_goal
from symshuffle.vectors.error.risk import affine_risk, err1
from symshuffle.vectors.means.answers import CalibratedMechanism, Certifiable, PrivateMean
from symshuffle.vectors.means.rows import Rows, array_rows, file_rows, survey
from symshuffle.vectors.randomizers.mechanisms import (
    BlanketMixedGaussian,
    ClippedLinear,
    LocalGaussian,
    LocalLaplace,
    PrivUnit,
    SphereLinear,
)
from symshuffle.vectors.randomizers.sampling import estimate, round_to_sphere, sample, source

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors: TypeAlias = NDArray[np.float64]

_Progress: TypeAlias = Callable[[str], None]

NAMES: Final = ("privunit", "sphere-linear", "clipped-linear", "bmg")
"""Mechanisms with a certified bound in every dimension that they serve; the cheapest to calibrate first."""


@with_fields
def private_mean(
    data: Any,
    *,
    eps: object,
    delta: object,
    rng: np.random.Generator | None = None,
    adjacency: Relation = "replace-one",
    mechanism: str | Certifiable = "auto",
    progress: _Progress | None = None,
    fixed: Mapping[str, object] | None = None,
    header: bool | None = None,
    **fields: Any,
) -> PrivateMean:
    """Estimate of the mean of vectors of the unit ball from shuffled messages.

    Every user's message is simulated, the messages of a block are permuted, and the analyzer adds them up: a sum does
    not depend on the order, so a permutation of all of them would change nothing but rounding. Memory does not grow
    with the number of users.

    Parameters
    ----------
    data : array of shape (n, d), or path
        One vector per user, of length at most 1, or a ``.npy`` or ``.csv`` file of them. Nothing is clipped.
    eps, delta : number or text
        The guarantee of the shuffled messages: eps > 0 in nats, delta in (0, 1).
    rng : numpy.random.Generator, optional
        Source of all randomness; by default a new generator seeded by the operating system.
    adjacency : {"replace-one", "zero-out"}
        Whether a record is compared with another record or with the null symbol.
    mechanism : str, BlanketMixedGaussian, SphereLinear, PrivUnit or ClippedLinear
        A name of :data:`NAMES`, or ``auto`` for the smallest certified worst-case error; or a mechanism with its
        parameters, which has to meet the target.
    progress : callable, optional
        Called with a short text before each stage.
    fixed : mapping of str, optional
        A value of gamma, theta or clip of the mechanism that is named, which then is not searched.
    header : bool, optional
        Of a ``.csv`` file: whether its first line has names of columns. By default as for the file of a channel; the
        first lines ``0`` and ``0,1``, which may be vectors, are refused.
    and the fields of a deployment
        Those that only change how many honest messages a batch has: the mechanism is calibrated for the smallest batch,
        and the errors are those of all vectors. Another is refused, and the message names a question that supports it.
        ``n`` is the number of vectors.

    Returns
    -------
    PrivateMean
        The estimate and its errors.

    Raises
    ------
    InputError
        If an argument is out of range, a vector is too long or not a number, or a given mechanism misses the target.
    Unsupported
        If no mechanism is certified at the target.

    Notes
    -----
    A simulation: doubles and NumPy's generator, where a deployment needs a secure source and exact samplers. PrivUnit
    and the clipped density round a shorter vector to the sphere first, and their error includes that.

    Examples
    --------
    >>> import numpy as np
    >>> data = np.full((400, 2), 0.5)
    >>> found = private_mean(data, eps=1, delta="1e-5", mechanism="privunit", rng=np.random.default_rng(1))
    >>> found.measured < 3 * float(found)
    True
    """
    import numpy as np

    generator = np.random.default_rng() if rng is None else source(rng)
    order, goal = read_target(eps=eps), read_goal(delta)
    if less(1, order) is not Verdict.TRUE:
        raise InputError("eps", eps, "a number > 0")
    adjacency = choice(Relation, adjacency, "adjacency")
    if isinstance(mechanism, str):
        mechanism = mechanism_name(mechanism)
    if isinstance(mechanism, str) and mechanism not in ("auto", *NAMES):
        raise InputError("mechanism", mechanism, f"auto, {', '.join(NAMES)}{_no_bound(mechanism)}")
    if fixed and (not isinstance(mechanism, str) or mechanism == "auto"):
        raise InputError("fixed", ", ".join(fixed), "no value, unless a mechanism is named that has it")
    tell = progress or (lambda _: None)
    tell("checking the vectors")
    if header is not None and not isinstance(data, str | Path):
        raise InputError("header", header, "none, unless a file is given")
    rows = file_rows(Path(data), header) if isinstance(data, str | Path) else array_rows(data)
    count, mean, mean_square, ends = survey(rows)
    n, d = check_n(count), rows.dimension
    if fields.setdefault("n", n) not in (None, n):
        raise InputError("n", fields["n"], f"{n}, the number of vectors")
    covered = UNSAID.with_(adjacency=adjacency, **fields | {"n": n})
    least = smallest_batch(covered, "vectors")
    noise = central_noise(order, goal, adjacency)
    refused: list[tuple[str, str]] = []
    if isinstance(mechanism, str):
        names = NAMES if mechanism == "auto" else (mechanism,)
        asked: dict[str, Any] = {"n": n, "dimension": d, "order": order, "goal": goal, "adjacency": adjacency}
        found = candidates(names, **asked, least=least, refused=refused, progress=tell, fixed=fixed, every=False)
    else:
        found = (_given(mechanism, n, least, d, order, goal, adjacency),)
    if not found:
        raise Unsupported("; ".join(f"{name}: {reason}" for name, reason in refused))
    tell(f"simulating {n} messages of {found[0].name}")
    guess = _simulated(rows, found[0].mechanism, n, generator)
    for array in (guess, mean):
        array.flags.writeable = False
    a, b, _ = affine_risk(found[0].mechanism)
    about = (
        f"worst-case root mean squared error per coordinate of the mean of n = {n} vectors of the unit ball, d = {d}, "
        f"from shuffled messages of {found[0].name} that are ({target_decimal(parse_rational(eps, 'eps'), up=True)}, "
        f"{target_decimal(goal, up=True)})-private under {adjacency} adjacency"
    )
    return PrivateMean(
        estimate=guess,
        mean=mean,
        chosen=found[0],
        bracket=found[0].rmse,
        expected=math.sqrt((to_float(a) + to_float(b) * mean_square) / (n * d)),
        measured=math.sqrt(float(((guess - mean) ** 2).sum()) / d),
        central=noise / n,
        n=n,
        candidates=found,
        refused=tuple(refused),
        about=about,
        neighbours=experiment_of(covered.with_randomizers(lambda _: found[0].mechanism)).neighbours("both"),
        target=words_of_target(exp_eps=order),
        hint=_range_hint(d, *ends),
    )


def _range_hint(dimension: int, lowest: float, highest: float, *, max_dimension: int = 50) -> str | None:
    """How the error of vectors without coordinates of one sign is reduced; None for others.

    For d > 1 these lie in the ball of radius r, r^2 = 1 - 1/d, around c = (1, ..., 1)/d or -c: S being the sum of
    absolute values, |x|^2 is at most 1 and S, so that |x - c|^2 = |x|^2 - 2 S/d + 1/d is at most 1 - 1/d.
    """
    if dimension > max_dimension or lowest < 0 < highest or lowest == highest:
        return None
    if dimension > 1:
        missing, sign = ("negative", "-") if lowest >= 0 else ("positive", "+")
        return (
            f"no coordinate is {missing}: where that is known before data are seen, send (x {sign} 1/{dimension})/r in "
            f"each coordinate, r = sqrt(1 - 1/{dimension}), which is in the unit ball; mapped back, the mean has "
            f"{math.ceil(1000 * math.sqrt(1 - 1 / dimension)) / 10:g} % of the error"
        )
    known, mapped = ("[0, 1]", "2x - 1") if lowest >= 0 else ("[-1, 0]", "2x + 1")
    return (
        f"the data are in {known}: where that is known before they are seen, send {mapped}, which uses all of [-1, 1]; "
        "mapped back, the mean has half the error"
    )


def candidates(
    names: tuple[str, ...],
    *,
    n: int,
    dimension: int,
    order: Real,
    goal: Fraction,
    adjacency: Relation,
    refused: list[tuple[str, str]] | None = None,
    progress: _Progress | None = None,
    fixed: Mapping[str, object] | None = None,
    every: bool = True,
    least: int | None = None,
    worse: float = 1.05,
) -> tuple[CalibratedMechanism, ...]:
    """Mechanisms that certainly meet a target, the smallest worst-case error first.

    - ``refused``: gets what could not be certified, with the reason.
    - ``fixed``: values that are not searched.
    - ``every``: whether those are calibrated too that cannot win by an estimate of their errors.
    - ``least``: number of users for whom the target is met; default n, of whom the errors are.
    """
    found: list[CalibratedMechanism] = []
    least = n if least is None else least
    about = dict.fromkeys(names, 0.0)
    if not every and len(names) > 1:
        target = Target(least, order, goal, adjacency, "mechanism")
        start, share = central_noise(order, goal, adjacency) / least, math.sqrt(least / n)
        about = {name: share * estimated_rmse(name, target, dimension, start) for name in names}
    for name in sorted(names, key=lambda one: about[one]):
        best = min((float(one.rmse.upper) for one in found), default=math.inf)
        if math.isfinite(about[name]) and about[name] > worse * best:
            if refused is not None:
                refused.append((name, f"about {about[name]:.4g} by an estimate: not calibrated, as it cannot win"))
            continue
        if progress is not None:
            progress(f"calibrating {name}")
        try:
            found.append(_calibrated(name, n, least, dimension, order, goal, adjacency, fixed))
        except (Unsupported, NotDecided, SolverFailure) as error:
            if refused is not None:
                refused.append((name, str(error)))
    return tuple(sorted(found, key=lambda candidate: candidate.rmse.upper))


def _calibrated(
    name: str,
    n: int,
    least: int,
    d: int,
    order: Real,
    goal: Fraction,
    adjacency: Relation,
    fixed: Mapping[str, object] | None,
) -> CalibratedMechanism:
    """The mechanism that :func:`~symshuffle.vectors.calibration.search.calibrate` finds, without a floor."""
    tuned = calibrate(name, n=least, dimension=d, exp_eps=order, delta=goal, adjacency=adjacency, gap=None, fixed=fixed)
    best = tuned.parameters
    if not isinstance(best, Certifiable):
        raise Unsupported(f"no mean by {name}: its calibration is {source_name(best)}")
    return CalibratedMechanism(name, best, _rmse(best, n), tuned.certificate.bracket)


def _given(
    mechanism: Certifiable, n: int, least: int, d: int, order: Real, goal: Fraction, adjacency: Relation
) -> CalibratedMechanism:
    """A mechanism with parameters, if it meets the target."""
    if not isinstance(mechanism, Certifiable):
        raise InputError("mechanism", mechanism, f"auto, {', '.join(NAMES)}, or one of these with its parameters")
    if mechanism.dimension != d:
        raise InputError("mechanism", f"of dimension {mechanism.dimension}", f"dimension {d}, as the data")
    name = {
        BlanketMixedGaussian: "bmg",
        SphereLinear: "sphere-linear",
        PrivUnit: "privunit",
        ClippedLinear: "clipped-linear",
    }[type(mechanism)]
    if isinstance(mechanism, BlanketMixedGaussian) and mechanism.norm != 1:
        raise InputError("mechanism", f"norm {mechanism.norm}", "norm 1: the data may fill the unit ball")
    bound = solve.delta(mechanism, n=least, exp_eps=order, adjacency=adjacency, rtol=1e-6).bracket
    if bound.upper > goal:
        end = format_decimal(bound.upper, digits=7, up=True)
        raise InputError("mechanism", f"with delta <= {end}", f"at most {shortest(goal)}")
    return CalibratedMechanism(name, mechanism, _rmse(mechanism, n), bound)


def _no_bound(name: str) -> str:
    if name in ("gaussian", "laplace"):
        noise: Any = LocalGaussian if name == "gaussian" else LocalLaplace
        return f" ({noise.__name__} has no certified bound for vectors of every length and dimension)"
    return ""


def _rmse(mechanism: Certifiable, n: int) -> Bracket:
    with working_precision(128):
        value = Ball.from_arb((to_arb(err1(mechanism)) / (n * mechanism.dimension)).sqrt())
    return Bracket(value.lower, value.upper, "ball", "risk", "root of the exact worst-case squared error over nd")


def _simulated(rows: Rows, mechanism: Certifiable, users: int, rng: np.random.Generator) -> Vectors:
    """The estimate from messages of all users, a block at a time."""
    import numpy as np

    total, count = np.zeros(rows.dimension), 0
    for block in rows.blocks():
        inputs = round_to_sphere(block, rng) if isinstance(mechanism, PrivUnit | ClippedLinear) else block
        messages = sample(mechanism, inputs, rng)
        total += messages[rng.permutation(len(messages))].sum(axis=0)
        count += len(block)
    if count != users:
        raise InputError(rows.name, f"{count} rows at the second pass", f"{users}, as at the first")
    found: Vectors = estimate(mechanism, (total / count)[None, :])[0]
    return found
