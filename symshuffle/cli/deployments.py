"""What a command is about: a randomizer with options, or a file, and the fields of a deployment as options."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, make_dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, final

import typer

from symshuffle.accountants.deployment.adjacency import Adjacency
from symshuffle.accountants.deployment.experiment import Experiment, experiment_of
from symshuffle.accountants.deployment.group import Group, check_n
from symshuffle.accountants.deployment.model import FIELD_NAMES, KEYWORDS, OWNERS, UNSAID, Deployment
from symshuffle.base.choices import Blanket
from symshuffle.base.documents import LARGEST_LIST, read_text
from symshuffle.base.errors import InputError, Unsupported, optional
from symshuffle.base.numbers import as_width
from symshuffle.cli import arguments
from symshuffle.cli.arguments import OPTION_WORDS
from symshuffle.cli.options import Eps0, Header, Lam, Params
from symshuffle.configuration.randomizers import NamedRandomizer, matrix_sizes

if TYPE_CHECKING:
    from symshuffle.configuration.files import DeploymentFile

RelOrUsual = Annotated[
    float | None,
    typer.Option(
        metavar="REL",
        parser=as_width,
        help="Relative width of the bracket to aim at, in (0, 1); default 1e-6, or up to 1e-2 for curves of eps, "
        "means over the number of messages or several batches of messages.",
    ),
]

_NO_OPTION: Final = ("n", "datasets")
"""Fields without an option of these: n has one of its own, and two datasets are given in files only."""


def _options() -> list[tuple[str, Any, Any]]:
    """Return the fields of a dataclass of options, one for each field of a deployment that has one."""
    metadata: dict[str, Mapping[str, Any]] = {}
    for kind in (Adjacency, Group, Deployment):
        for one in fields(kind):
            if one.metadata:
                metadata[one.metadata.get("keyword", one.name)] = one.metadata
    found: list[tuple[str, Any, Any]] = []
    for name in KEYWORDS:
        if name not in _NO_OPTION:
            told = metadata[name]
            shown = typer.Option(f"--{name.replace('_', '-')}", metavar=told.get("metavar"), help=told.get("help"))
            held, usual = (bool, False) if name == "memoised" else (str | None, None)
            found.append((name, Annotated[held, shown], field(default=usual)))
    return found


class _FieldMethods:
    """What the options of the fields of a deployment say together."""

    @property
    def written(self: Any) -> dict[str, Any]:
        """The options that were given."""
        found = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if value not in (None, False):
                found[one.name] = value
        return found

    @property
    def given(self) -> dict[str, Any]:
        """The options that were given, as keywords of a question."""
        found = self.written
        if "null" in found:
            found["null"] = found["null"].split(",")
        return found

    @property
    def values(self: Any) -> dict[str, Any]:
        """The options that were given as they were understood, for a JSON object."""
        from symshuffle.configuration.tables import json_fields

        understood = json_fields(UNSAID.with_(**self.given))
        return {name: understood[name] or 0 for name in self.written}

    def as_written(self, error: InputError) -> InputError:
        """Return a refusal that shows the values of the options that it names as they were written."""
        names, written = error.argument.split(", "), self.written
        if not {*names} <= written.keys() - {"null"}:  # of which the entries are described
            return error
        return InputError(error.argument, ", ".join(str(written[name]) for name in names), error.expected)


if TYPE_CHECKING:

    class FieldOptions(_FieldMethods):
        """The fields of a deployment as options of a command."""

        null: str | None
        blanket: Blanket | None

        def __init__(self, **given: Any) -> None: ...
else:
    FieldOptions = make_dataclass("FieldOptions", _options(), bases=(_FieldMethods,), frozen=True)

NONE_GIVEN: Final = FieldOptions()


@final
@dataclass(frozen=True, slots=True)
class DescribedDeployment:
    """What a command is about.

    - ``deployment``: as it was described; ``batches``: its laws, None of two given datasets, which are enumerated.
    - ``asked``: as it was written; ``numbers``: those that are echoed beside it, as they were understood.
    - ``matrices``: paths of the matrices that were read, by the place of their group.
    """

    deployment: Deployment
    batches: Experiment | None
    asked: Asked
    numbers: dict[str, Any]
    matrices: Mapping[str, Path]

    @property
    def inputs(self) -> dict[str, Any]:
        """What is echoed: the randomizer or the groups of the file, the numbers and the fields that were given."""
        return self.asked.echo(self.deployment, self.matrices) | self.numbers | self.asked.fields.values

    @property
    def described(self) -> dict[str, Any]:
        """The deployment for a JSON object, or the reason why it is missing, which never refuses the answer."""
        from symshuffle.configuration.tables import deployment_table

        found, missing = optional(lambda: deployment_table(self.deployment, self.matrices))
        return {"deployment_missing": missing} if found is None else {"deployment": found}

    @property
    def experiment(self) -> Experiment:
        """The batches with their laws; refused for two given datasets."""
        return experiment_of(self.deployment) if self.batches is None else self.batches

    @property
    def users(self) -> int | None:
        """Number of users of the one batch, or of all alike; None where it is asked for."""
        return self.experiment.parts[0].n

    @property
    def source(self) -> Any:
        """What the users of the first group run."""
        return self.deployment.groups[0].randomizer


@final
@dataclass(frozen=True, slots=True)
class Asked:
    """What a command is about, as it was written: a randomizer or a file, and fields of a deployment."""

    mech: Annotated[
        str | None,
        typer.Argument(
            metavar="MECH|FILE",
            help="A mechanism (see `symshuffle mechanisms`), an expression such as joint(krr(k=3),2), or a file: "
            "a matrix (CSV or JSON, a row per input, entries p, p/q, 0.1) or a deployment (TOML or JSON).",
            show_default=False,
        ),
    ] = None
    n: Annotated[
        str | None,
        typer.Option(
            "--n", help="Number of users, the differing one included; it replaces the count of a file with one group."
        ),
    ] = None
    eps0: Eps0 = None
    lam: Lam = None
    param: Params = None
    header: Header = None
    fields: FieldOptions = NONE_GIVEN

    @property
    def path(self) -> Path | None:
        """The file that describes the deployment; None for a randomizer, which may be the file of a matrix."""
        if self.mech is None or Path(self.mech).suffix.lower() not in (".toml", ".json"):
            return None
        from symshuffle.configuration.files import holds_matrix

        return None if holds_matrix(Path(self.mech)) else Path(self.mech)

    @property
    def target(self) -> dict[str, str]:
        """The table [target] of the file."""
        return {} if self.path is None else self._read().target

    @property
    def target_level(self) -> dict[str, str]:
        """The level of that table."""
        return {name: value for name, value in self.target.items() if name in ("eps", "exp_eps")}

    def subject(self, *, users: bool = True, **echo: Any) -> DescribedDeployment:
        """The deployment, its batches, and what is echoed.

        - ``users``: whether every group has to have its number of users.
        """
        numbers = arguments.understood(**echo)
        try:
            deployment, matrices = self._named(users=users) if self.path is None else self._of_file(users=users)
            asked = None if deployment.adjacency.datasets is not None else experiment_of(deployment)
            if users and asked is not None:
                asked.check_users()
        except InputError as error:
            raise self._in_its_place(self.fields.as_written(error)) from None
        return DescribedDeployment(deployment, asked, self, numbers, matrices)

    def echo(self, deployment: Deployment, matrices: Mapping[str, Path]) -> dict[str, Any]:
        """Return what was understood of the randomizer and of n, or of the groups of a file."""
        if self.path is None:
            return arguments.echoed(self._one(), deployment.groups[0].randomizer, n=self._users())
        inputs = {"file": str(self.path), "groups": _echoed_groups(deployment, matrices)}
        return inputs if self.n is None else inputs | {"n": self._users()}

    def budgeted(self) -> tuple[Deployment, dict[str, Any]]:
        """The deployment whose local budget is asked for, and what is echoed."""
        if self.path is not None:
            with self.placed():
                deployment, matrices = self._of_file(budget=False)
            if not any(callable(group.randomizer) for one in deployment.kinds for group in one.users):
                raise InputError("FILE", self.path, "a group without eps0 and lam: its budget is asked for")
            return deployment, self.echo(deployment, matrices)
        one = self._one()
        if one.file is not None:
            raise InputError("mechanism", self.mech, "a mechanism with a local budget, not a matrix")
        run = partial(one, null=self.fields.null)
        try:
            known = run("1")
        except InputError as error:
            if error.argument == "--eps0":  # the user gave none
                raise InputError("mechanism", one.name, "a mechanism with a local budget") from None
            raise
        return Deployment((Group(run),)).with_(n=self.n, **self.fields.given), arguments.echoed(
            one, known, n=self._users()
        )

    def check_confirmable(self, subject: DescribedDeployment) -> None:
        """A confirmation recomputes one batch of users of one group who all send, of whom one differs."""
        if subject.experiment.several:
            raise Unsupported("--confirm recomputes one batch of messages; not with several")
        if not subject.experiment.parts[0].of_all_users:
            raise Unsupported(
                "--confirm recomputes the bound for n users who all send; leave --min-batch-size, ... away"
            )

    def _users(self) -> int | None:
        return None if self.n is None else check_n(self.n)

    def _one(self) -> NamedRandomizer:
        if self.mech is None:
            raise InputError("MECH", None, "a mechanism (see `symshuffle mechanisms`), a matrix or a deployment")
        return arguments.named_randomizer(self.mech, self.eps0, self.lam, self.param, self.header)

    def _named(self, *, users: bool) -> tuple[Deployment, dict[str, Path]]:
        one, many = self._one(), self._users()
        if users and many is None:
            raise InputError("--n", None, "a number of users")
        deployment, given = Deployment((Group(one.quickest(self.fields.null), many),)), self.fields.given
        if given:
            deployment = deployment.with_(**given)
        return deployment, {} if one.file is None else {"group[0]": one.file}

    @contextmanager
    def placed(self) -> Iterator[None]:
        """A block of which refusals name fields that were not typed as options by their keys in the file."""
        try:
            yield
        except InputError as error:
            raise self._in_its_place(error) from None

    def _in_its_place(self, error: InputError) -> InputError:
        """A refusal that names fields that were not typed as options by their keys in the file."""
        names = error.argument.split(", ")
        typed = {*self.fields.written} | ({"n"} if self.n is not None else set())
        if self.path is None or not {*names} <= {*KEYWORDS} or {*names} <= typed:
            return error
        if len(names) == 1:
            from symshuffle.configuration.files import in_file

            return in_file(error, self.path, read_text(self.path, "FILE", LARGEST_LIST)[1], self._key(names[0]))
        places = [f"--{name.replace('_', '-')}" if name in typed else self._key(name) for name in names]
        return InputError(f"{self.path}: {', '.join(places)}", error.value, error.expected)

    def _key(self, name: str) -> str:
        """The key of a field in the file."""
        told, owner = self._read(budget=False).deployment, OWNERS[name]
        if owner is Group and len(told.groups) == 1 and not told.later_periods:
            return f"group[0].{FIELD_NAMES.get(name, name)}"
        return f"adjacency.{FIELD_NAMES.get(name, name)}" if owner is Adjacency else name

    def _read(self, *, budget: bool = True) -> DeploymentFile:
        from symshuffle.configuration.files import read_deployment_file

        assert self.path is not None
        return read_deployment_file(self.path, "FILE", budget=budget)

    def _of_file(self, *, users: bool = True, budget: bool = True) -> tuple[Deployment, dict[str, Path]]:
        """The deployment of a file, changed by the options, and the paths of its matrices."""
        file = self.path
        options = (
            (OPTION_WORDS.eps0, self.eps0),
            (OPTION_WORDS.lam, self.lam),
            (OPTION_WORDS.parameter, self.param[0] if self.param else None),
            (OPTION_WORDS.header, self.header),
        )
        for option, value in options:
            if value is not None:
                raise InputError(option, value, f"none with the file {file}, which says what users run")
        found = self._read(budget=budget)
        deployment, matrices = found.deployment.with_(n=self.n, **self.fields.given), dict(found.matrices)
        for k, kind in enumerate(deployment.kinds):
            for i, group in enumerate(kind.groups):
                if users and group.count is None and kind.adjacency.datasets is None:
                    place = f"later_periods[{k - 1}].group[{i}]" if k else f"group[{i}]"
                    raise InputError(f"{file}: {place}.count", None, "a number of users, there or by --n")
        for notice in found.notices:
            typer.echo(f"{file}: {notice}", err=True)
        return deployment, matrices


def _echoed_groups(deployment: Deployment, matrices: Mapping[str, Path]) -> list[dict[str, Any]]:
    """The groups of all periods of a file as they were understood, with what was read of their matrices."""
    from symshuffle.configuration.tables import deployment_table

    rows = []
    for k, kind in enumerate(deployment.kinds):
        table = optional(lambda kind=kind: deployment_table(kind))[0]  # type: ignore[misc]
        for i, group in enumerate(kind.groups):
            place = f"later_periods[{k - 1}].group[{i}]" if k else f"group[{i}]"
            row: dict[str, Any] = dict(table["group"][i]) if table else {"count": group.count}
            if place in matrices:
                row = {"count": group.count, "file": str(matrices[place]), **matrix_sizes(group.randomizer)}
            rows.append(row)
    return rows
