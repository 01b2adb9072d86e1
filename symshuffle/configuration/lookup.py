"""Randomizers by their names, their matrices, or files with these."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

from symshuffle.accountants.deployment.group import RANDOMIZERS, Group
from symshuffle.base.errors import InputError
from symshuffle.base.numbers import parse_rational
from symshuffle.channels.channel import Channel
from symshuffle.configuration.randomizers import NamedRandomizer, channel_of_file
from symshuffle.mechanisms.names import mechanism_name


def randomizer(
    source: Any,
    *,
    eps0: object = None,
    lam: object = None,
    header: bool | None = None,
    **parameters: object,
) -> Any:
    """Local randomizer by its name, its matrix, or a file with its matrix.

    Parameters
    ----------
    source : str, path, matrix or Channel
        The name of a mechanism (``symshuffle mechanisms`` lists them), an expression such as ``"joint(krr(k=3),2)"``,
        the path of a CSV, JSON, Parquet or NumPy file, or a matrix with one row per input.
    eps0, lam : number or text, optional
        Local budget in nats, or its exponential; at most one.
    header : bool, optional
        Of a file: whether its first row has names.
    **parameters
        Parameters of the mechanism by name. Those of a finite mechanism that are not given stay open, and get values
        by ``at``.

    Returns
    -------
    Mechanism, Laplace, AnyLdp, Composed, VectorMechanism or Channel
        What every user runs, for the questions.

    Raises
    ------
    InputError
        If there is no such mechanism or parameter, a value is out of its range, or the file or matrix is not that of a
        channel.

    Examples
    --------
    >>> randomizer("krr", k=10, eps0=1).title
    'k-ary randomized response'
    >>> randomizer([["3/4", "1/4"], ["1/4", "3/4"]]).num_inputs
    2
    """
    given = {name: value for name, value in {"eps0": eps0, "lam": lam, **parameters}.items() if value is not None}
    if source is None:
        raise InputError("source", None, RANDOMIZERS)
    if isinstance(source, str) and ("(" in source or "." not in source):
        return _by_name(source, header, given)
    for name, value in given.items():
        raise InputError(name, value, "none with a matrix")
    if isinstance(source, str | PathLike):
        return channel_of_file(Path(source), header)
    if header is not None:
        raise InputError("header", header, "none, unless a file is given")
    found = Group(source).randomizer
    return found if isinstance(found, Channel) else source


def _by_name(name: str, header: bool | None, given: dict[str, object]) -> Any:
    """A mechanism with the values given, finite ones with others open."""
    from symshuffle.mechanisms.registry import MECHANISMS, mechanism

    known = mechanism_name(name)
    if header is None and (known in MECHANISMS or (known == "laplace" and not given)):
        made: Any = mechanism(known)
        return made.at(**given) if given else made
    values = {key: one if isinstance(one, str) else str(parse_rational(one, key)) for key, one in given.items()}
    eps0, lam = values.pop("eps0", None), values.pop("lam", None)
    return NamedRandomizer(name, values, eps0, lam, header=header).source()
