"""Public names, loaded on first use: where a call fails on an argument of a wrong kind, the refusal names it."""

from __future__ import annotations

import functools
import inspect
import operator
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass
from enum import StrEnum
from fractions import Fraction
from numbers import Rational
from pathlib import Path
from typing import Any, Final

from symshuffle.base.errors import InputError, SymshuffleError

_FAILURES: Final = (TypeError, AttributeError, LookupError, ValueError, ArithmeticError)
"""What Python raises where a value is of a wrong kind; an error of the library itself stays as it is."""

_LARGEST: Final = 10**300
"""Numbers that doubles hold are below it, with room for products by what is not large."""

_WORDS: Final = {int: "an integer below 2**63", bool: "true or false", str: "a text", float: "a number"}


def attach(package: str, file: str) -> tuple[Callable[[str], Any], Callable[[], list[str]], list[str]]:
    """Return what a package needs to load the names of its stub on first use: ``__getattr__, __dir__, __all__``."""
    import lazy_loader  # type: ignore[import-untyped]

    load, listed, names = lazy_loader.attach_stub(package, file)

    def get(name: str) -> Any:
        found = load(name)
        if inspect.isfunction(found) or (inspect.isclass(found) and "__post_init__" in vars(found)):
            found = vars(sys.modules[package])[name] = checked(found)
        return found

    return get, listed, names


def checked(door: Any) -> Any:
    """Return a function, or a data class, that names the argument of a wrong kind if its call fails on one."""
    made = inspect.isclass(door)
    inner = door.__init__ if made else door
    if hasattr(inner, "kinds_are_checked"):
        return door

    flags = _flags(inner)

    @functools.wraps(inner)
    def asked(*given: Any, **named: Any) -> Any:
        for name, place in flags:
            value = named.get(name, given[place] if place < len(given) else None)
            if isinstance(value, str | bytes):  # of which any but an empty one would be true
                raise InputError(name, value, _WORDS[bool])
        try:
            return inner(*given, **named)
        except SymshuffleError:
            raise
        except _FAILURES as failure:
            refusal = _wrong_kind(inner, given[made:], named, failure, skipped=int(made))
            if refusal is None:
                raise
            raise refusal from failure

    asked.kinds_are_checked = True  # type: ignore[attr-defined]
    if made:
        door.__init__ = asked
        return door
    home, name = vars(sys.modules[door.__module__]), str(inner.__name__)
    if home.get(name) is door:  # the name by which other processes find it
        home[name] = asked
    return asked


def _flags(door: Callable[..., Any]) -> list[tuple[str, int]]:
    """Names of the boolean parameters of a function, each with its position; of keyword-only ones a huge number."""
    shown = inspect.signature(door).parameters.values()
    keyed = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.VAR_KEYWORD)
    return [
        (one.name, sys.maxsize if one.kind in keyed else place)
        for place, one in enumerate(shown)
        if str(one.annotation) in ("bool", "bool | None", str(bool))
    ]


def _wrong_kind(
    door: Callable[..., Any], given: tuple[Any, ...], named: Mapping[str, Any], failure: Exception, *, skipped: int
) -> InputError | None:
    """The refusal of the argument that is not of the kind that the signature says; None if all are.

    Kinds of all arguments are compared first, then what each of them holds: a valid one is never blamed for another.
    """
    shown = inspect.signature(door)
    shown = shown.replace(parameters=list(shown.parameters.values())[skipped:])
    try:
        bound = shown.bind(*given, **named).arguments
    except TypeError:  # an argument is missing, or there is none of its name
        return None
    names = _Names(vars(sys.modules[door.__module__]))
    several = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
    given_kinds = [
        (name, value, _evaluated(shown.parameters[name].annotation, names), names)
        for name, value in bound.items()
        if shown.parameters[name].kind not in several and value is not shown.parameters[name].default
    ]
    places = [*given_kinds, *(part for one in given_kinds for part in _parts(*one[:2]))]
    for name, value, kind, known in places:
        if not _is_of(value, kind, known):
            return _refusal(name, value, kind)
    for name, value, kind, _ in given_kinds:  # fields of a data class were checked when it was made
        if not _suits(value, failure):
            return _refusal(name, value, kind)
    return None


def _parts(name: str, value: Any) -> Iterator[tuple[str, Any, Any, _Names]]:
    """The fields of a data class that are not at their defaults, by name, with their kinds."""
    if not is_dataclass(value) or inspect.isclass(value):
        return
    names = _Names(vars(sys.modules[type(value).__module__]))
    for part in fields(value):
        held = getattr(value, part.name)
        if held is not part.default:
            yield f"{name}.{part.name}", held, _evaluated(part.type, names), names


def _suits(value: Any, failure: Exception) -> bool:
    """Whether a value of the right kind is none of what such a failure comes from: too large, empty, an array."""
    if isinstance(failure, OverflowError) and isinstance(value, int | Fraction):
        return bool(-_LARGEST < value < _LARGEST)
    if isinstance(failure, ValueError | LookupError) and isinstance(value, list | tuple):
        return len(value) > 0
    if "truth value of an array" in str(failure):
        return not _is_array(value)
    convert = next((convert for text, convert in _CONVERSIONS.items() if text in repr(failure)), None)
    if not (isinstance(value, _CONVERTED) or _is_array(value) or type(value).__name__ in str(failure)):
        return True  # an object of which the failure does not speak
    try:
        return convert is None or convert(value) is not None
    except _FAILURES:
        return False


def _as_array(value: Any) -> Any:
    return sys.modules["numpy"].asarray(value, dtype=float)


def _as_expression(value: Any) -> Any:
    return sys.modules["sympy"].sympify(value)


_CONVERTED: Final = (str, bytes, int, float, complex, list, tuple, set, dict)

_CONVERSIONS: Final[Mapping[str, Callable[[Any], Any]]] = {
    "float() argument": _as_array,
    "to float": _as_array,
    "SympifyError": _as_expression,
}
"""What failed on one of the values, by words of the failure: the value on which it fails alone is of a wrong kind."""


def _refusal(name: str, value: Any, kind: Any) -> InputError:
    shown = value if isinstance(value, str | int | float) else type(value).__name__
    return InputError(
        name, shown, "at least one entry" if isinstance(value, list | tuple) and not value else _in_words(kind)
    )


class _Unknown:
    """Kind of a name that is imported for annotations alone, a class of numbers or of the library."""


_NO_NUMBERS: Final = (str, bytes, list, dict, types.FunctionType)


class _Names(dict[str, Any]):
    """Names of a module; what it imports for its annotations alone is looked for among the public names."""

    def __missing__(self, name: str) -> Any:
        public = sys.modules["symshuffle"]
        return getattr(typing, name, None) or getattr(public, name, None) or vars(_BUILTINS).get(name, _Unknown)


_BUILTINS: Final = sys.modules["builtins"]


def _evaluated(annotation: Any, names: _Names) -> Any:
    """The kind that an annotation says."""
    if isinstance(annotation, typing.ForwardRef):
        annotation = annotation.__forward_arg__
    if not isinstance(annotation, str):
        return annotation
    try:
        found = eval(annotation, {"__builtins__": {}}, names)  # noqa: S307  # an annotation of the library
    except (TypeError, AttributeError, SyntaxError):
        return Any
    return _evaluated(found, names) if isinstance(found, str) else found  # an alias that is written as a text


def _is_array(value: Any) -> bool:
    return bool(getattr(value, "ndim", 0))


def _is_of(value: Any, kind: Any, names: _Names) -> bool:
    """Whether a value may be of a kind; of what is not known here it may."""
    kind = _evaluated(kind, names)
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return any(_is_of(value, one, names) for one in inner)
    if origin is typing.Literal:
        return value in inner if isinstance(value, str | int) else False
    if kind is None or kind is type(None):
        return value is None
    if origin is Callable or kind is Callable:
        return callable(value)
    base = origin or kind
    if base is _Unknown:
        return not (value is None or isinstance(value, _NO_NUMBERS))
    if not inspect.isclass(base) or base in (object, Any, inspect.Parameter.empty):
        return True
    if base in _READERS:
        return _READERS[base](value)
    if issubclass(base, Rational):
        return isinstance(value, int | base)
    if issubclass(base, Mapping):
        return isinstance(value, Mapping)
    if issubclass(base, Iterable) and base.__module__ in ("builtins", "collections.abc"):
        return _is_list(value, inner, names)
    return isinstance(value, _SPELT.get(base.__name__, str if issubclass(base, StrEnum) else base))


def _fits(value: Any) -> bool:
    try:
        return not isinstance(value, bool) and abs(operator.index(value)) < 2**63
    except TypeError:
        return False


_READERS: Final[Mapping[type, Callable[[Any], bool]]] = {
    bool: lambda value: type(value).__name__ in ("bool", "bool_"),
    int: _fits,
    float: lambda value: not isinstance(value, str | bytes) and not _is_array(value) and hasattr(value, "__float__"),
    str: lambda value: isinstance(value, str),
}

_SPELT: Final = {"Path": (str, Path)}
"""Classes that another kind is read for."""


def _is_list(value: Any, inner: tuple[Any, ...], names: _Names) -> bool:
    """Whether a value may be a list, and each of its entries of the kind of one."""
    if isinstance(value, str | bytes | Mapping) or not (_is_array(value) or isinstance(value, Iterable)):
        return False
    if not inner or not isinstance(value, list | tuple | range):
        return True
    if len(inner) > 1 and inner[-1] is not Ellipsis:
        return len(inner) == len(value) and all(map(_is_of, value, inner, [names] * len(inner)))
    return all(_is_of(one, inner[0], names) for one in value)


def _in_words(kind: Any) -> str:
    """What a value should have been."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (typing.Union, types.UnionType):
        return " or ".join(dict.fromkeys(map(_in_words, inner)))
    if kind is None or kind is type(None):
        return "None"
    if origin is typing.Literal:
        return "one of " + ", ".join(map(str, inner))
    base = origin or kind
    if base is Callable or base in (Any, _Unknown) or not inspect.isclass(base):
        return "a callable" if base is Callable else "another kind of value"
    if base in _WORDS:
        return _WORDS[base]
    if base is object or issubclass(base, Rational):
        return "a number"
    if issubclass(base, Mapping):
        return "a dict"
    if issubclass(base, Iterable) and base.__module__ in ("builtins", "collections.abc"):
        return "a list"
    return f"a {base.__name__}"
