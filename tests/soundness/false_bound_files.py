"""False proof files of upper bounds, each wrong in one thing, with a digest that fits."""

import copy
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

from symshuffle import CertificateError, delta, prove
from symshuffle.ledger.recheck import bound
from symshuffle.mechanisms import krr
from tests.soundness.false_certificates import false

File = dict[str, Any]


@cache
def _made(n: int) -> File:
    return prove(delta(krr().at(k=3, lam=3), n=n, exp_eps="6/5" if n < 1000 else "101/100")).content


def true_bound(n: int = 10_000) -> File:
    """A file that proves its statement; beyond 50 users by a line."""
    return copy.deepcopy(_made(n))


def checked(content: Any, *expected: Any) -> str:
    """The statement proved, or a refusal as the library's checkers refuse."""
    try:
        return bound.check(content, *expected)
    except bound.CertificateError as error:
        place, what = error.args
        raise CertificateError(place, what) from error


def signed(content: File) -> File:
    """The file with a digest that fits."""
    return content | {"digest": bound.digest(content)}


@contextmanager
def lowered(**limits: int) -> Iterator[None]:
    """Smaller limits of the checker, so that a small file is beyond them."""
    kept = {name: getattr(bound, name) for name in limits}
    bound.contour.cache_clear()
    try:
        for name, limit in limits.items():
            setattr(bound, name, limit)
        yield
    finally:
        for name, limit in kept.items():
            setattr(bound, name, limit)


def _case(
    name: str,
    place: str,
    change: Callable[[File], Any],
    *,
    n: int = 10_000,
    expected: tuple[Any, ...] = (),
    **limits: int,
) -> None:
    file = true_bound(n)
    change(file)
    file = file if name == "another digest" else signed(file)

    def check() -> object:
        with lowered(**limits):
            return checked(file, *expected)

    false(f"bound file: {name}", place, check)


def _steps() -> int:
    """Steps that the line of the true file takes."""
    file = true_bound()
    said = bound.parse(file["statement"])
    ((_, law),) = bound.laws(said, bound.ratio(*said["exp_eps"])[0])
    return bound.contour(law, said["min_users"], *(file["lines"][0][name] for name in bound.LINE))[1]


def _said(**facts: Any) -> Callable[[File], None]:
    return lambda file: file["statement"].update(facts)


def _line(**facts: int) -> Callable[[File], None]:
    return lambda file: file["lines"][0].update(facts)


def _lines(times: int) -> Callable[[File], None]:
    return lambda file: file.update(lines=file["lines"] * times)


def _rows(rows: Any, **facts: Any) -> Callable[[File], None]:
    mechanism = {"name": "rows", "denominator": [4], "rows": rows}
    return _said(mechanism=mechanism, exp_eps0="1", **{"delta": "1/1", **facts})


def _named(name: str, **facts: Any) -> Callable[[File], None]:
    parameters = {key: facts.pop(key) for key in ("k", "s", "D") if key in facts}
    return _said(mechanism={"name": name, **parameters}, delta="1/1", **facts)


ROWS = [[[3], [1]], [[1], [3]]]
APART = [[[4], [0]], [[0], [4]]]
ZERO_OUT = {"adjacency": "zero-out", "null": "blanket"}

_case("another format", "file.format", lambda file: file.update(format="symshuffle bound 2"))
_case("another digest", "file.digest", lambda file: file.update(digest="sha256:" + "0" * 64))
SAID = true_bound()["statement"]
_case("not what was expected", "statement", _said(), expected=(SAID | {"users": 10_001},))
_case("nothing for what was expected", "statement", _said(), expected=(None,))
_case("a double for what was expected", "statement", _said(), expected=(SAID | {"users": 10_000.0},))
_case("a truth value for a number", "statement.users", _said(users=True, min_users=True, delta="1/1"), n=5)
_case("a text for null", "statement.null", _rows(ROWS, adjacency="zero-out", null="[[4], [0]]"), n=5)
_case("no text for a number", "statement.delta", _said(delta="1/1 "), n=5)
_case("too large a group", "statement.group", _said(group=1001, users=2000, delta="1/1"), n=5)
_case("too many lines", "file.lines", _lines(7))
_case("an unknown key", "statement", _said(extra="1"))
_case("an unknown name", "statement.mechanism.name", _named("kkr"))
_case("an unknown parameter", "statement.mechanism", _named("krr", k=3, s=1))
_case("not in lowest terms", "statement.delta", _said(delta="2/2"), n=5)
_case("a ratio below 1", "statement.exp_eps", _said(exp_eps="1/2", delta="1/1"), n=5)
_case("more messages than users", "statement.users", _said(users=50))
_case("rows of different lengths", "statement.mechanism", _rows([ROWS[0], [[1], [1], [2]]]), n=5)
_case("too many cells", "statement.mechanism", _rows(ROWS), n=5, CELLS=3)
_case("a coefficient of 0", "statement.mechanism", _rows([[[3, 0], [1]], [[1], [3]]]), n=5)
_case("subsets of everything", "statement.mechanism", _named("subset-selection", k=2, s=2), n=5)
_case("zero-out without a null symbol", "statement.null", _said(adjacency="zero-out"))
_case("a null symbol of any-ldp", "statement.null", _named("any-ldp", **ZERO_OUT), n=5)
_case("a null symbol of a size not counted", "statement.mechanism", _named("rappor", D=65, **ZERO_OUT), n=5)
_case("a null symbol of its own", "statement.mechanism", _said(adjacency="zero-out", null=[[1], [1], [1]]))
_case("a single input", "statement.pairs", _rows(ROWS[:1], delta="0/1"), n=5)
_case("an input against itself", "statement.pairs", _rows(ROWS, pairs=[[0, 0]], delta="0/1"), n=5)
_case("a pair of a named mechanism", "statement.pairs", _said(pairs=[[0, 1]]), n=5)
_case("a pair twice", "statement.pairs", _rows(ROWS, pairs=[[0, 1], [0, 1]]), n=5)
_case("no pair", "statement.pairs", _rows(ROWS, pairs=[]), n=5)
_case("rows of a larger sum", "statement.mechanism", _rows([[[3], [2]], [[1], [3]]]), n=5)
_case("a row that grows with t", "statement.mechanism", _rows([[[3], [1, 1]], [[1], [3]]]), n=5)
_case("a negative probability", "statement.mechanism", _rows([[[5], [-1]], [[1], [3]]]), n=5)
_case("laws of too many steps", "statement", _rows(ROWS), n=5, STEPS=7)
_case("no common part for a blanket", "statement.null", _rows(APART, **ZERO_OUT), n=5)
_case("a line too far out", "lines.c", _line(c=70_000 << bound.BITS))
_case("a line where the moments explode", "lines", _line(c=20 << bound.BITS))
_case("a line of too many nodes", "lines", _line(last=1 << 30))
_case("a line of too many steps", "lines", _line(), STEPS=10_000)
_case("too many steps in all", "lines", _lines(3), STEPS=3 * _steps() // 2)  # three lines of a law
_case("no line", "lines", lambda file: file.update(lines=[]))
_case("a smaller delta", "statement.delta", _said(delta="0/1"))
_case("a smaller delta of few users", "statement.delta", _said(delta="1/1000"), n=5)
