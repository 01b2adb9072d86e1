"""Problem files: JSON in, frozen objects out, with one schema that is also published.

Numbers are integers or strings such as ``"1/3"`` or ``"0.25"``, read exactly; a JSON float is refused, because nobody
can know which rational was meant. Probabilities that are rounded decimals, and sum to 1 within their last digits, are
divided by their sum (:mod:`symshuffle.base.numbers.tables`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field, fields
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal, TypeAlias, final

from pydantic import BeforeValidator, ConfigDict, Field, StrictInt, TypeAdapter, ValidationError, WithJsonSchema
from pydantic.dataclasses import dataclass as pydantic_dataclass
from pydantic.json_schema import SkipJsonSchema

from symshuffle.base.documents import parse_json, read_text
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import Rounding, parse_rational, read_rows
from symshuffle.channels.geometry.groups import SymmetryGroup, cyclic_group, dihedral_group, product_of_symmetric_groups
from symshuffle.design.decision.problems import Problem

_PATTERN: Final = r"^[+-]?(\d+/\d+|\d+(\.\d+)?)$"
if TYPE_CHECKING:
    from symshuffle.design.information.measures import Measure

_MAX_BYTES: Final = 20_000_000


def _exact(value: object) -> Fraction:
    if isinstance(value, bool) or not isinstance(value, int | str | Fraction):
        raise ValueError('an integer, or a string such as "1/3" or "0.25" (a JSON float is not exact)')
    try:
        return parse_rational(value, "number")
    except InputError as error:
        raise ValueError(error.expected) from None


Rational: TypeAlias = Annotated[
    Fraction,
    BeforeValidator(_exact),
    WithJsonSchema({"anyOf": [{"type": "integer"}, {"type": "string", "pattern": _PATTERN}]}),
]
_STRICT: Final = ConfigDict(extra="forbid", arbitrary_types_allowed=True)


@final
@pydantic_dataclass(frozen=True, config=_STRICT)
class SymmetrySpec:
    """Symmetries of the inputs: exactly one of the three forms.

    ``generators`` are permutations in image form, ``blocks`` inputs that may be permuted freely, ``form`` a name.
    """

    generators: list[list[StrictInt]] | None = None
    blocks: list[list[StrictInt]] | None = None
    form: Literal["cyclic", "dihedral"] | None = None

    def group(self, m: int) -> SymmetryGroup:
        """The group on ``m`` inputs."""
        given = [name for name in ("generators", "blocks", "form") if getattr(self, name) is not None]
        if len(given) != 1:
            raise InputError("symmetry", given, "exactly one of generators, blocks, form")
        if self.generators is not None:
            return SymmetryGroup(m, tuple(tuple(g) for g in self.generators))
        if self.blocks is not None:
            group = product_of_symmetric_groups(self.blocks)
            if group.m != m:
                raise InputError("symmetry.blocks", self.blocks, f"a partition of the inputs 0..{m - 1}")
            return group
        return cyclic_group(m) if self.form == "cyclic" else dihedral_group(m)


@final
@pydantic_dataclass(frozen=True, config=_STRICT)
class DecisionFile:
    """A decision problem: ``model[t][x]`` is P(x|t), ``loss[t][a]`` the loss, ``prior[t]`` the prior."""

    kind: Literal["decision"]
    model: list[list[Rational]]
    loss: list[list[Rational]]
    prior: list[Rational] | None = None
    symmetry: SymmetrySpec | None = None
    title: str = ""
    rounding: SkipJsonSchema[Rounding | None] = field(default=None, init=False)

    def problem(self) -> Problem:
        """The problem, with its shapes and sums checked."""
        return Problem(
            tuple(map(tuple, self.model)),
            tuple(map(tuple, self.loss)),
            None if self.prior is None else tuple(self.prior),
        )

    def group(self) -> SymmetryGroup | None:
        """The symmetries that the file names, if any."""
        return None if self.symmetry is None else self.symmetry.group(len(self.model[0]))

    def moved(self, rounding: Rounding, *, prior: bool) -> Fraction:
        """Largest difference, at most, of an optimal risk from that of a problem that rounds to the file.

        Under any channel and decision rule the risk is the mean of a loss under the joint law of parameter and input. A
        model moves that law by a total variation of at most ``rounding.row``, a prior by as much again; the mean moves
        by no more than that times the range of the loss, and so does the least one over all channels and rules.
        """
        losses = [value for row in self.loss for value in row]
        return (max(losses) - min(losses)) * rounding.row * (2 if prior else 1)


@final
@pydantic_dataclass(frozen=True, config=_STRICT)
class InformationFile:
    """A source: the distribution of the input."""

    kind: Literal["mutual-information"]
    source: list[Rational]
    title: str = ""
    rounding: SkipJsonSchema[Rounding | None] = field(default=None, init=False)

    def measure(self) -> Measure:
        """The mutual information of input and output."""
        from symshuffle.design.information import measures

        return measures.mutual_information(self.source)


@final
@pydantic_dataclass(frozen=True, config=_STRICT)
class DivergenceFile:
    """Two distributions and a divergence; ``order`` for the hockey-stick (its gamma) and Renyi (its alpha)."""

    kind: Literal["f-divergence"]
    p: list[Rational]
    q: list[Rational]
    divergence: Literal["kl", "tv", "chi-square", "hockey-stick", "renyi"]
    order: Rational | None = None
    title: str = ""
    rounding: SkipJsonSchema[Rounding | None] = field(default=None, init=False)

    def measure(self) -> Measure:
        """The divergence of the two output laws; for Renyi, the power sum behind it."""
        from symshuffle.design.information import measures

        if (self.order is None) == (self.divergence in ("hockey-stick", "renyi")):
            raise InputError("order", self.order, "a number for hockey-stick and renyi, and none otherwise")
        if self.order is not None:
            of_order = measures.hockey_stick_measure if self.divergence == "hockey-stick" else measures.renyi_power
            return of_order(self.p, self.q, self.order)
        known = {"kl": measures.kullback_leibler, "tv": measures.total_variation_measure}
        return known.get(self.divergence, measures.chi_square_measure)(self.p, self.q)


ProblemFile: TypeAlias = DecisionFile | InformationFile | DivergenceFile


@cache
def _adapter() -> TypeAdapter[ProblemFile]:
    return TypeAdapter(Annotated[ProblemFile, Field(discriminator="kind")])


def problem_schema() -> dict[str, Any]:
    """The JSON Schema of problem files."""
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **_adapter().json_schema()}


_DISTRIBUTIONS: Final = ("prior", "source", "p", "q")


def normalised(data: Mapping[str, Any]) -> tuple[dict[str, Any], Rounding | None]:
    """The object that a JSON file holds with rounded probabilities normalised; how far they may be off, or None."""
    found, most = dict(data), None
    for name in (*_DISTRIBUTIONS, "model"):
        given = data.get(name)
        rows = given if name == "model" else [given]
        if not isinstance(rows, list) or not all(isinstance(row, list) and all(map(_taken, row)) for row in rows):
            continue  # refused with its place, or absent
        try:
            read, rounding = read_rows(rows)
        except InputError as error:
            place = error.argument.replace("rows", name, 1) if name == "model" else name
            raise InputError(place, error.value, error.expected) from None
        if rounding is not None:
            found[name] = [list(row) for row in read] if name == "model" else list(read[0])
            most = rounding if most is None or most.row < rounding.row else most
    return found, most


def _taken(value: object) -> bool:
    try:
        _exact(value)
    except ValueError:
        return False
    return True


def read_problem(path: Path | str) -> ProblemFile:
    """Decision problem read from a JSON file.

    Parameters
    ----------
    path : Path or str
        The file.

    Returns
    -------
    ProblemFile
        The problem, and what else the file gives.

    Raises
    ------
    InputError
        If there is no such file, it is not JSON, a field is wrong, or fields do not go together; the file is named.
    """
    path, text = read_text(path, "problem", _MAX_BYTES)
    data = parse_json(text, path, "problem")
    if not isinstance(data, dict):
        raise InputError("problem", path, "a JSON object")
    try:
        found, rounding = normalised(data)
        problem = _adapter().validate_python(found)
        object.__setattr__(problem, "rounding", rounding)
        # Made here, so that errors about fields that do not go together name the file.
        _ = (problem.problem(), problem.group()) if isinstance(problem, DecisionFile) else problem.measure()
        return problem
    except InputError as error:
        raise InputError(f"{path}: {error.argument}", error.value, error.expected) from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = [part for part in first["loc"] if part not in _KINDS]
        field = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in where).lstrip(".")
        raise InputError(f"{path}: {field or 'kind'}", *_wrong(data, where, dict(first))) from None


_KINDS: Final = {"decision": DecisionFile, "mutual-information": InformationFile, "f-divergence": DivergenceFile}


def _wrong(data: dict[str, Any], where: list[int | str], found: dict[str, Any]) -> tuple[str | None, str]:
    """The value that pydantic refuses, None for a key that is missing, and what is expected there."""
    if not where:
        return data.get("kind"), f"one of {', '.join(_KINDS)}"
    owner = _KINDS[data["kind"]] if len(where) == 1 else SymmetrySpec
    value = str(found["input"])
    shown = value if len(value) <= 60 else f"{value[:57]}..."
    match found["type"]:
        case "missing" | "missing_argument":
            return None, f"a key of every file of the kind {data['kind']}"
        case "unexpected_keyword_argument":
            return shown, f"one of the keys {', '.join(one.name for one in fields(owner) if one.init)}"
    message = found["msg"].removeprefix("Value error, ")
    return shown, message[:1].lower() + message[1:]
