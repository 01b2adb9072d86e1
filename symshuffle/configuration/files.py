"""Deployments in files: TOML or JSON with the fields of a deployment as keys, read and written.

Files of two earlier kinds, tables [[rounds]] and [[users]], are read as well, with a notice.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, Final, final

from symshuffle.accountants.deployment.adjacency import Adjacency
from symshuffle.accountants.deployment.group import Group, check_n
from symshuffle.accountants.deployment.model import MOST_PERIODS, Deployment
from symshuffle.base.documents import LARGEST_LIST, line_of_key, parse_json, parse_toml, read_text
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer
from symshuffle.channels.channel import Channel
from symshuffle.configuration.randomizers import ArgumentNames, NamedRandomizer, channel_of_file, matrix_path

OF_DEPLOYMENT, OF_ADJACENCY, OF_GROUP = (
    tuple(one.name for one in fields(owner) if one.metadata) for owner in (Deployment, Adjacency, Group)
)
"""Keys of a file: the fields that are keywords of questions."""

_OF_RANDOMIZER: Final = ("randomizer", "parameters", "rows", "header")
_BESIDE: Final = ("target", "estimator", "certificate")
"""Tables that other questions have in the same file."""

_OF_ANSWER: Final = (
    "lower upper log10_lower log10_upper exact order relative_width aimed safe arithmetic engine evaluation direction "
    "adjacency neighbours meaning attained_lower attained_by attained_missing gap rounds parts assumed not_covered "
    "simpler simpler_missing every_matrix confirmed confirmed_missing parameters blanket orders orders_missing "
    "blankets deployment inputs"
)
"""Keys of an answer with --json that has its deployment beside it."""

_OLD_ROUND: Final = ("mechanism", "params", "eps0", "lam", "n", "times", "file", "header")
_OLD_USERS: Final = ("count", "mechanism", "params", "eps0", "lam", "file", "header")
_OLD_WORDS: Final = {"reports": "fresh", "participation": "all", "messages": "unlinkable"}
"""Keys of an earlier kind of file with the one value that they could have."""

_REFUSED: Final = {
    ("reports", "reused"): "fresh; for reports that are kept write memoised = true in a file of groups",
    ("participation", "fixed-size"): "all: how many of a fixed number take part depends on who does (independent coins "
    "are a mechanism, subsample(...))",
    ("messages", "linkable"): "unlinkable: messages that can be told to be of one user are no shuffled batches",
}


@final
@dataclass(frozen=True, slots=True)
class DeploymentFile:
    """What a file says.

    - ``deployment``: the deployment; ``target``: keys of the table [target].
    - ``notices``: what a user is to be told: assumptions that the file leaves out, an earlier kind of file.
    - ``matrices``: paths of the matrices that were read, by the place of the group.
    """

    deployment: Deployment
    target: dict[str, str] = field(default_factory=dict)
    notices: tuple[str, ...] = ()
    matrices: tuple[tuple[str, Path], ...] = ()


def read_deployment_file(path: Path | str, argument: str = "file", *, budget: bool = True) -> DeploymentFile:
    """Return what a TOML file, or a JSON file with the same keys, says of a deployment.

    - ``argument``: what the caller calls the file, for messages.
    - ``budget``: whether every randomizer has to have its local budget; if not, it may be left open.

    Raises
    ------
    InputError
        If the file cannot be read, a key is unknown (its line is named), or a value is out of its range (its place is
        named, as ``group[1].count``).
    """
    file, text = read_text(path, argument, LARGEST_LIST)
    if file.suffix.lower() == ".json":  # numbers stay the text they are in the file: 0.1 is one tenth
        data = parse_json(text, file, argument, parse_float=str, parse_constant=str)
    else:
        data = parse_toml(text, file, argument)
    if not isinstance(data, dict):
        raise InputError(argument, file, "a table of the fields of a deployment")
    return read_deployment_table(data, file, text, argument, budget=budget)


def read_deployment_table(
    data: dict[str, Any], file: Path, text: str = "", argument: str = "file", *, budget: bool = True
) -> DeploymentFile:
    """Return what the content of a file says of a deployment; arguments and errors as :func:`read_deployment_file`.

    - ``file``, ``text``: the file that has the content, and its text, where lines of keys are looked up.
    """
    try:
        with _Placed(f"{file}: "):
            return _file(_Reader(file, text, argument, budget), data)
    except InputError as error:
        place = error.argument.removeprefix(f"{file}: ")
        if place == error.argument:
            raise
        raise in_file(error, file, text, place) from None


def in_file(error: InputError, file: Path, text: str, place: str) -> InputError:
    """Return a refusal of the value of a key of a file, by the key's place, and its line where that is known.

    - ``text``: of the file.
    """
    line = line_of_key(place, text, missing=error.value is None)
    value = str(error.value).lower() if isinstance(error.value, bool) else error.value
    return InputError(f"{file}: {place}" if line is None else f"{file}, line {line}: {place}", value, error.expected)


def read_subject_file(path: Path | str, argument: str = "file") -> Deployment:
    """Return the deployment of a file, of users who run its matrix where it holds one, as commands read it.

    Errors as of :func:`read_deployment_file` and :func:`symshuffle.channels.read_channel`.
    """
    file = matrix_path(str(path))
    if file is None or (file.suffix.lower() == ".json" and not holds_matrix(file)):
        return read_deployment_file(path, argument).deployment
    return Deployment((Group(channel_of_file(file)),))


def holds_matrix(path: Path) -> bool:
    """Whether a JSON file holds a matrix, a list of rows or an object with the key ``rows``, and no deployment."""
    if path.suffix.lower() != ".json":
        return False
    try:
        data = parse_json(read_text(path, "file", LARGEST_LIST)[1], path, "file", parse_float=str)
    except InputError:  # the reader of deployments says what is wrong
        return False
    return isinstance(data, list) or (isinstance(data, dict) and "rows" in data)


def _file(reader: _Reader, data: dict[str, Any]) -> DeploymentFile:
    """The deployment in a table, in any of its four layouts.

    An answer of --json, the earlier ``rounds`` and ``users``, and the present one.
    """
    if isinstance(data.get("deployment"), dict) and "upper" in data:  # an answer with --json
        for key in data.keys() - _OF_ANSWER.split():
            raise InputError(key, data[key], "no key beside those of an answer, whose deployment is under deployment")
        data = data["deployment"]
    if "rounds" in data:
        return reader.old_rounds(data)
    if "users" in data:
        return reader.old_users(data)
    found = reader.deployment(data, "", outer=True)
    target = data.get("target", {})
    reader.check_table(target, "target", ("eps", "exp_eps", "delta", "order"))
    told = {name: str(value) for name, value in target.items()}
    return DeploymentFile(found, told, matrices=tuple(reader.matrices.items()))


@dataclass(slots=True)
class _Reader:
    """One file, its text for the lines of keys, and the matrices that were read on the way."""

    file: Path
    text: str
    argument: str
    budget: bool
    matrices: dict[str, Path] = field(default_factory=dict)

    def check_table(self, table: object, place: str, known: tuple[str, ...]) -> Mapping[str, Any]:
        """Refuse what is no table, and a key that is not known, with its line."""
        if not isinstance(table, dict):
            raise InputError(place or self.argument, table, f"a table with keys of {', '.join(known)}")
        for key in table:
            if key not in known:
                line = line_of_key(f"{place}.{key}", self.text)
                where = f"{self.file}{f', line {line}' if line else ''}"
                raise InputError(where, key, f"a key of {place or 'a deployment'}: {', '.join(known)}")
        return table

    def deployment(self, data: object, place: str, *, outer: bool = False) -> Deployment:
        """The deployment of a table; an outer one may have later periods and further tables."""
        inner: tuple[str, ...] = (*OF_DEPLOYMENT, "group", "groups")
        table = self.check_table(data, place, (*inner, "adjacency", "later_periods", *_BESIDE) if outer else inner)
        if {"group", "groups"} <= table.keys():
            raise InputError(f"{place}groups", table["groups"], "none where group is given: one list has all groups")
        rows = table.get("group", table.get("groups"))
        rows = [rows] if isinstance(rows, dict) else rows
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            expected = (
                "one table [[group]] for each group of users, at least one (earlier kinds: [[rounds]], [[users]])"
            )
            if self.file.suffix.lower() == ".json":
                expected += "; or the rows of a matrix"
            raise InputError(f"{place}group", rows, expected)
        groups = [self.group(row, f"{place}group[{i}]") for i, row in enumerate(rows)]
        adjacency = self.adjacency(table.get("adjacency", {}), place)
        later = table.get("later_periods", [])
        if not isinstance(later, list):
            raise InputError("later_periods", later, "one table [[later_periods]] for each kind of period")
        own = {name: table[name] for name in OF_DEPLOYMENT if name in table}
        with _Placed(place):
            further = [self.deployment(one, f"later_periods[{i}].") for i, one in enumerate(later)]
            further = [replace(one, adjacency=adjacency) for one in further]
            return Deployment(tuple(groups), adjacency, later_periods=tuple(further), **own)

    def adjacency(self, given: object, place: str) -> Adjacency:
        """The adjacency of a table, or of its relation alone."""
        if isinstance(given, str):
            with _Placed(place):
                return Adjacency(given)  # type: ignore[arg-type]  # a relation is read from its text
        table = self.check_table(given, f"{place}adjacency", OF_ADJACENCY)
        try:
            return Adjacency(**table)
        except InputError as error:
            keys = ("relation" if name == "adjacency" else name for name in error.argument.split(", "))
            named = ", ".join(f"{place}adjacency.{key}" for key in keys)
            raise InputError(named, error.value, error.expected) from None

    def group(self, row: Mapping[str, Any], place: str) -> Group:
        """The group of a table."""
        if "dummies" in row:
            self.check_table(row, place, ("dummies", "count"))
            with _Placed(f"{place}."):
                return Group.of_dummies(row.get("count"), row["dummies"])
        self.check_table(row, place, (*_OF_RANDOMIZER, *OF_GROUP))
        with _Placed(f"{place}."):
            run = self._randomizer(row, place)
            return Group(run, **{name: row[name] for name in OF_GROUP if name in row})

    def _randomizer(self, row: Mapping[str, Any], place: str) -> Any:
        if "rows" in row:
            for key in ("randomizer", "parameters", "header"):
                if key in row:
                    raise InputError(key, row[key], "none with rows, which are the matrix of a channel")
            return Channel.from_rows(row["rows"])
        name, parameters = row.get("randomizer"), row.get("parameters", {})
        if not isinstance(name, str):
            raise InputError("randomizer", name, "a name, an expression, the path of a matrix, or rows")
        if not isinstance(parameters, dict):
            raise InputError("parameters", parameters, "a table of parameters")
        values = {key: str(value) for key, value in parameters.items()}
        eps0, lam = values.pop("eps0", None), values.pop("lam", None)
        if matrix_path(name) is not None:
            return self._matrix(name, row.get("header"), {**values, **_set(eps0=eps0, lam=lam)}, place)
        if row.get("header") is not None:
            raise InputError("header", row["header"], "none, unless the randomizer is the path of a matrix")
        return self._named(NamedRandomizer(name, values, eps0, lam, words=_WORDS))

    def _named(self, named: NamedRandomizer) -> Any:
        if not self.budget and named.eps0 is None and named.lam is None:
            return named  # from a budget to what is run with it
        with _keys(named.words):
            return named.quickest()

    def _matrix(self, name: str, header: object, given: Mapping[str, str], place: str) -> Channel:
        """The matrix of a file beside this one."""
        from symshuffle.channels.channel_file import read_channel

        for key in given:
            raise InputError(f"parameters.{key}", given[key], "none with the path of a matrix")
        if header is not None and not isinstance(header, bool):
            raise InputError("header", header, "true or false")
        path = self.file.parent / name
        self.matrices[place] = path
        return read_channel(path, header=header)

    def old_rounds(self, data: Mapping[str, Any]) -> DeploymentFile:
        """A file of an earlier kind: one period, or several, of one group each."""
        rows = data["rounds"]
        self.check_table(data, "", ("rounds",))
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise InputError(self.argument, self.file, "a list `rounds` of tables, at least one")
        kinds, silent = [], []
        for i, row in enumerate(rows):
            place, kept = f"rounds[{i}]", f"later_periods[{i - 1}].group[0]" if i else "group[0]"
            self.check_table(row, place, (*_OLD_ROUND, *_OLD_WORDS))
            for key, allowed in _OLD_WORDS.items():
                if row.get(key, allowed) != allowed:
                    value = row[key]
                    raise InputError(f"{place}.{key}", value, _REFUSED.get((key, str(value)), allowed))
            if "reports" not in row:
                silent.append(place)
            with _Placed(f"{place}."):
                run = self._of_old(row, kept)
                times = as_integer(row.get("times", 1), "times", 1, MOST_PERIODS)
                n = None if row.get("n") is None else check_n(row["n"])
                kinds.append(Deployment((Group(run, n),), periods=times))
        found = replace(kinds[0], later_periods=tuple(kinds[1:]))
        notices = [_old("rounds")]
        if silent:
            notices.append(f'{", ".join(silent)}: no key `reports`; assumed "fresh": new randomness in every round')
        return DeploymentFile(found, {}, tuple(notices), tuple(self.matrices.items()))

    def old_users(self, data: Mapping[str, Any]) -> DeploymentFile:
        """A file of an earlier kind: several groups of users."""
        rows = data["users"]
        self.check_table(data, "", ("users",))
        if not isinstance(rows, list) or not rows or not all(isinstance(row, dict) for row in rows):
            raise InputError(self.argument, self.file, "tables [[users]] and no other key")
        groups = []
        for i, row in enumerate(rows):
            place = f"users[{i}]"
            self.check_table(row, place, _OLD_USERS)
            with _Placed(f"{place}."):
                groups.append(Group(self._of_old({"mechanism": "krr", **row}, f"group[{i}]"), row.get("count", 1)))
        return DeploymentFile(Deployment(tuple(groups)), {}, (_old("users"),), tuple(self.matrices.items()))

    def _of_old(self, row: Mapping[str, Any], place: str) -> Any:
        name, params = row.get("mechanism"), row.get("params", {})
        if not isinstance(name, str):
            raise InputError("mechanism", name, "the name of a mechanism, or an expression")
        if not isinstance(params, dict):
            raise InputError("params", params, "a table of parameters")
        header = row.get("header")
        if header is not None and not isinstance(header, bool):
            raise InputError("header", header, "true or false")
        eps0, lam = (None if row.get(key) is None else str(row[key]) for key in ("eps0", "lam"))
        if eps0 is not None and lam is not None:
            raise InputError("lam", lam, "none where eps0 is given")
        where = None if row.get("file") is None else Path(str(row["file"]))
        if where is not None:
            self.matrices[place] = where
        values = {key: str(value) for key, value in params.items()}
        named = NamedRandomizer(name, values, eps0, lam, where, header, _OLD_KEYS)
        return named.quickest() if name == "channel" else self._named(named)


_WORDS: Final = ArgumentNames(eps0="parameters.eps0", lam="parameters.lam")
_OLD_KEYS: Final = ArgumentNames(name="mechanism", parameter="params", assigned="params.{}")


@contextmanager
def _keys(words: ArgumentNames) -> Iterator[None]:
    """A block of which refusals name a parameter of a randomizer by its key in the file."""
    try:
        yield
    except InputError as error:
        known = {"mechanism": words.name, "eps0": words.eps0, "lam": words.lam}
        known |= {name: name for name in (words.name, words.file, words.header, words.parameter)}
        names = error.argument.split(", ")
        keys = [known.get(name) or (words.of(name) if name.isidentifier() else name) for name in names]
        raise InputError(", ".join(keys), error.value, error.expected) from None


def _old(kind: str) -> str:
    return f"a file of [[{kind}]], an earlier kind: write [[group]] tables (docs: deployments in files)"


def _set(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


@dataclass(slots=True)
class _Placed:
    """A block of which refusals name the place in the file before the argument."""

    place: str

    def __enter__(self) -> None:
        """Nothing has to be prepared."""

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        """Name the place."""
        if isinstance(error, InputError) and self.place and self.place.rstrip(": ") not in str(error.argument):
            raise InputError(f"{self.place}{error.argument}", error.value, error.expected) from None
