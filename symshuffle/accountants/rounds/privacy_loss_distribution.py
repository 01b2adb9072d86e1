r"""The privacy-loss distribution of one shuffled round, on the safe side, for accountants of other makers.

The law is that of :func:`symshuffle.accountants.rounds.dominating.law_above`: masses at losses :math:`i\,\ell` and at
infinity whose profile is certified to be above that of the round at every level, below 0 too. It speaks for both orders
of every pair of datasets that the bound covers, so one law is all that a composition needs, whichever order each round
has (Zhu, Dong, Wang, "Optimal accounting of differential privacy via characteristic function", 2022).
"""

from __future__ import annotations

import json
import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, Self, final

from symshuffle.accountants.bounds.evaluate import Method
from symshuffle.accountants.deployment.experiment import experiment
from symshuffle.accountants.deployment.neighbours import ASSUMED, NOT_COVERED, Neighbours
from symshuffle.accountants.deployment.subjects import Subject, with_fields
from symshuffle.accountants.rounds.dominating import LatticeLaw, law_above
from symshuffle.accountants.rounds.one_round import OneRound
from symshuffle.base import cost
from symshuffle.base.artifacts import installed, write_atomically
from symshuffle.base.choices import EVALUATED, Arithmetic
from symshuffle.base.documents import parse_json, read_text
from symshuffle.base.errors import InputError, Unsupported
from symshuffle.base.levels import LARGEST_LEVEL
from symshuffle.base.numbers import Ball, counted, format_decimal, parse_inside, parse_rational, working_precision
from symshuffle.base.results import MOST_DIGITS, FirstLines, outward

FORMAT: Final = "symshuffle privacy loss 1"

PROVED: Final = (
    "the profile of these masses is above that of one round at every level, in both orders of the datasets, in the "
    "arithmetic named here; so the exact composition with itself, or with others that dominate, is above that of the "
    "rounds"
)
"""What an export promises."""

NOT_PROVED: Final = (
    "what a program makes of it: a composition by an FFT in doubles without a stated error can answer too small an eps "
    "at small delta, about 1e-14 and below; for rounds of shuffled messages alone ask `symshuffle epsilon --periods`"
)
"""What it does not promise."""

USUAL_STEP: Final = 1e-4
"""The interval that dp_accounting takes where none is given: distributions compose there only if they share it."""

_LEVELS_PER_SCALE: Final = 20
"""Levels within the scale of one round; eps exceeds the bound by about a twelfth of the square of its inverse."""

_USUAL_LEVELS: Final = 1_000
"""Levels beyond which the usual interval is doubled: a law of so many takes seconds."""

_MOST_LEVELS: Final = 20_000
_LARGEST_FILE: Final = 20_000_000
_NUMBERS: Final[Mapping[str, Any]] = {
    "step": (int, float), "first": int, "infinity_mass": (int, float), "masses": list, "deltas": list,
}  # fmt: skip
_WORDS: Final[Mapping[str, Any]] = {
    "users": int, "neighbours": dict, "meaning": str, "arithmetic": str, "proved": str, "not_proved": str,
    "versions": dict, "inputs": dict,
}  # fmt: skip
"""Keys of a file besides its format, and types of their values; ``inputs`` is there if a command wrote the file."""
_BITS: Final = 320


@final
@dataclass(frozen=True, slots=True, repr=False)
class PrivacyLossDistribution:
    """Distribution of privacy losses that dominates one round of shuffled messages.

    Parameters
    ----------
    law : LatticeLaw
        The masses on a lattice of losses in nats, with a mass at infinity; the step is exactly a double.
    about : dict
        JSON-ready: users, neighbours, meaning, arithmetic, what is proved and what is not, versions.
    neighbours : Neighbours or None
        The pairs of datasets that are covered; None where the distribution was read from a file, which has their words.
    """

    law: LatticeLaw
    about: dict[str, Any]
    neighbours: Neighbours | None = field(default=None, compare=False)

    @property
    def lines(self) -> FirstLines:
        """First lines of the distribution: size, protected users, assumptions, evidence."""
        beyond = format_decimal(self.law.infinity, digits=MOST_DIGITS, up=True)
        losses = len(self.law.masses)
        number = (
            f"{losses} masses at multiples of {float(self.law.step):.6g}, mass {beyond} at infinity (all rounded up)"
        )
        if self.neighbours is None:
            return FirstLines("privacy loss", number, about=str(self.about.get("meaning", "")))
        return self.neighbours.lines("privacy loss", number, EVALUATED[self.about["arithmetic"]])

    def __repr__(self) -> str:
        law = self.law
        return f"<privacy loss of {len(law.masses)} masses at multiples of {float(law.step):g} from {law.first} on>"

    def _repr_html_(self) -> str:
        return self.lines.to_html()

    def deltas(self) -> list[float]:
        """The profile at the levels 0, step, 2 step, ..., rounded up."""
        with working_precision(_BITS):
            _, values = self.law.profile_at_nodes()
            return [outward(Ball.from_arb(value, _BITS).upper, up=True) for value in values[-self.law.first :]]

    def to_dict(self) -> dict[str, Any]:
        """JSON-ready form: the header, the masses as doubles, and the profile.

        The profile is that at the levels of at least 0.
        """
        return {
            "format": FORMAT,
            **self.about,
            "step": float(self.law.step),
            "first": self.law.first,
            "infinity_mass": float(self.law.infinity),
            "masses": list(self.law.masses),
            "deltas": self.deltas(),
        }

    def save(self, file: Path | str) -> None:
        """Write :meth:`to_dict` as JSON, whole or not at all.

        Raises
        ------
        InputError
            If the file cannot be written.
        """
        write_atomically(Path(file), json.dumps(self.to_dict(), indent=1) + "\n")

    @classmethod
    def read(cls, file: Path | str) -> Self:
        """The distribution that :meth:`save` left in a file.

        Raises
        ------
        InputError
            If the file cannot be read, has other keys or types, or its masses do not have the deltas beside them.

        Notes
        -----
        That the masses are above a round is taken at the word of the file: its profile is not computed again.
        """
        path, text = read_text(file, "file", _LARGEST_FILE)
        told = parse_json(text, path, "file")
        if not isinstance(told, dict) or told.pop("format", None) != FORMAT:
            raise InputError("file", path, f"JSON of the format {FORMAT!r}")
        if "rigour" in told:  # the name of an earlier version
            told["arithmetic"] = told.pop("rigour")
        known = {**_NUMBERS, **_WORDS}
        for key in sorted(told.keys() ^ known.keys() - ({"inputs"} - told.keys())):
            what = "no such key in a privacy loss" if key in told else "a value"
            raise InputError(f"{path}: {key}", told.get(key), what)
        for key, value in told.items():
            entries, kind = (value, (int, float)) if isinstance(value, list) else ([value], known[key])
            if isinstance(value, list) is not (known[key] is list) or not all(
                isinstance(entry, kind) and not isinstance(entry, bool) for entry in entries
            ):
                raise InputError(f"{path}: {key}", value, "a value of the kind that `symshuffle pld` writes")
        numbers = {name: told.pop(name) for name in _NUMBERS}
        try:
            masses = tuple(float(mass) for mass in numbers["masses"])
            step, infinity = Fraction(numbers["step"]), Fraction(numbers["infinity_mass"])
            found = cls(LatticeLaw(step, int(numbers["first"]), masses, infinity), told)
        except (ValueError, OverflowError) as error:
            raise InputError("file", path, f"step, first, infinity_mass, masses and deltas ({error})") from None
        with working_precision(_BITS):
            whole = found.law.profile_at_nodes()[0] >= 1  # the profile at order 0
        if not whole:
            raise InputError(f"{path}: masses", math.fsum(masses), "a sum, with infinity_mass, of at least 1")
        if found.law.first > 0:
            raise InputError(f"{path}: first", found.law.first, "an integer of at most 0")
        made, written = found.deltas(), numbers["deltas"]
        if len(made) != len(written):
            raise InputError(f"{path}: deltas", counted(len(written), "value"), f"{len(made)}, as follows from masses")
        for i, (one, wanted) in enumerate(zip(written, made, strict=True)):
            if one != wanted:
                raise InputError(f"{path}: deltas[{i}]", one, f"{wanted}, which follows from masses")
        return found

    def to_dp_accounting(self) -> Any:
        """Distribution as a ``PrivacyLossDistribution`` of the package dp-accounting.

        It is a ``dp_accounting.pld.privacy_loss_distribution.PrivacyLossDistribution``. It dominates the round; about
        its compositions in that package nothing is proved (see ``about["not_proved"]``).

        Raises
        ------
        Unsupported
            If the package dp-accounting is not installed.
        """
        try:
            from dp_accounting.pld import pld_pmf, privacy_loss_distribution
        except ImportError:
            raise Unsupported("dp-accounting is not installed: pip install 'symshuffle[dp-accounting]'") from None
        law = self.law
        masses = {law.first + k: mass for k, mass in enumerate(law.masses)}
        pmf = pld_pmf.create_pmf(masses, float(law.step), float(law.infinity), pessimistic_estimate=True)
        return privacy_loss_distribution.PrivacyLossDistribution(pmf)


@cost.question()
@with_fields
def privacy_loss_distribution(
    subject: Subject,
    *,
    step: object = None,
    beyond: object = "1e-15",
    arithmetic: Arithmetic = "float64",
    rtol: float = 1e-4,
    bits: int | None = None,
    **fields: Any,
) -> PrivacyLossDistribution:
    """Privacy-loss distribution that dominates one shuffled round.

    The distribution is above that of every pair of datasets that is covered.

    Parameters
    ----------
    subject, arithmetic, bits, and the fields of a deployment
        As in :func:`symshuffle.delta`, for one batch of messages; both directions are taken.
    step : number or text, optional
        Distance of the losses in nats, read as the nearest double; by default 1e-4 (as in dp_accounting) times the
        power of 2 that leaves 20 to 40 levels within the scale of the round, and at most 1,000 levels in all.
        Distributions compose there only if they share it.
    beyond : number or text
        Largest mass at an infinite loss that a round is given, in (0, 1), in addition to the mass that it reveals for
        certain; no composition of T rounds then meets a delta below T times this.
    rtol : float
        Relative width to aim at, of each value of delta.

    Returns
    -------
    PrivacyLossDistribution
        The masses on the lattice ``step * j``, in nats, and the description of what they cover.

    Raises
    ------
    InputError
        If an argument is out of its range, or the step needs more than 20,000 levels.
    Unsupported
        For arithmetic exact, as the levels are exponentials, and for several batches.

    Examples
    --------
    >>> from symshuffle import randomizer
    >>> found = privacy_loss_distribution(randomizer("krr", k=4, eps0=1), n=1000)
    >>> float(found.law.step), round(found.deltas()[0], 3)
    (0.0016, 0.013)
    """
    most = parse_inside(beyond, "beyond", "(0, 1)")
    request = Method.of("both", None, arithmetic, rtol, bits)
    if request.arithmetic == "exact":
        raise Unsupported(
            "arithmetic exact: values at exponential levels are not rational numbers; use arithmetic='ball'"
        )
    asked = experiment(subject, fields)
    asked.check_users()
    if asked.several:
        raise Unsupported("privacy loss of several batches of messages: export one, and compose it there")
    users = asked.parts[0].users
    one = OneRound(asked.parts[0], users, 1, request)
    last = one.last_level(most)
    width = Fraction(_usual_step(one.scale(), float(last)) if step is None else float(_step(step)))
    levels = last / width
    if levels > _MOST_LEVELS:
        least = format_decimal(last / _MOST_LEVELS, digits=2, up=True)
        raise InputError("step", float(width), f"at least {least}, or {math.ceil(levels)} levels")
    neighbours = one.reduced.neighbours("both", users)
    return PrivacyLossDistribution(
        law_above(one.profile(width, most, request.rtol)),
        {
            "users": users,
            "neighbours": neighbours.to_dict(),
            "meaning": (
                f"the hockey-stick divergence of the masses bounds {neighbours.compared}; in a composition, "
                f"assumed: {ASSUMED}; not covered: {NOT_COVERED}"
            ),
            "arithmetic": (request.arithmetic or "float64"),
            "proved": PROVED,
            "not_proved": NOT_PROVED,
            "versions": {"python": platform.python_version()}
            | {name: installed(name) for name in ("symshuffle", "numpy", "python-flint")},
        },
        neighbours,
    )


def _step(step: object) -> Fraction:
    """Refuse a step that is not a positive double."""
    read = parse_rational(step, "step")
    if not 0 < read <= LARGEST_LEVEL or float(read) == 0:
        raise InputError("step", step, "a positive number")
    return read


def _usual_step(scale: float, last: float) -> float:
    """The usual interval, doubled or halved until the levels are as dense as the scale of the round asks for.

    - ``last``: the last level, to which few enough of them have to reach.
    """
    step = USUAL_STEP
    while scale > 0 and step > scale / _LEVELS_PER_SCALE:
        step /= 2
    while 2 * step <= scale / _LEVELS_PER_SCALE or step * _USUAL_LEVELS < last:
        step *= 2
    return step
