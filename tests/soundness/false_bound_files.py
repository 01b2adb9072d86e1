"""False proof files of upper bounds, each wrong in one thing, with a digest that fits."""

import copy
from collections.abc import Callable
from functools import cache
from typing import Any

from symshuffle import CertificateError, prove
from symshuffle.ledger.recheck import bound
from symshuffle.mechanisms import krr
from tests.soundness.false_certificates import false

File = dict[str, Any]


@cache
def _made(n: int) -> File:
    return prove(krr().at(k=3, lam=3), n=n, exp_eps="6/5")


def true_bound(n: int = 60) -> File:
    """A file that proves its statement; beyond 50 users by a line."""
    return copy.deepcopy(_made(n))


def checked(content: Any, expected: Any = None) -> str:
    """The statement proved, or a refusal as the library's checkers refuse."""
    try:
        return bound.check(content, expected)
    except bound.CertificateError as error:
        place, what = error.args
        raise CertificateError(place, what) from error


def signed(content: File) -> File:
    """The file with a digest that fits."""
    return content | {"digest": bound.digest(content)}


def _case(name: str, place: str, change: Callable[[File], Any], *, n: int = 60, expected: Any = None) -> None:
    file = true_bound(n)
    change(file)
    file = file if name == "another digest" else signed(file)
    false(f"bound file: {name}", place, lambda: checked(file, expected))


def _said(**facts: Any) -> Callable[[File], None]:
    return lambda file: file["statement"].update(facts)


def _line(**facts: int) -> Callable[[File], None]:
    return lambda file: file["lines"][0].update(facts)


def _rows(rows: Any, **facts: Any) -> Callable[[File], None]:
    mechanism = {"name": "rows", "denominator": [4], "rows": rows}
    return _said(mechanism=mechanism, exp_eps0="1", **{"delta": "1/1", **facts})


ROWS = [[[3], [1]], [[1], [3]]]

_case("another format", "digest", lambda file: file.update(format="symshuffle bound 2"))
_case("another digest", "digest", lambda file: file.update(digest="sha256:" + "0" * 64))
_case("not what was expected", "statement", _said(), expected=true_bound()["statement"] | {"users": 61})
_case("a truth value for a number", "users", _said(users=True, min_users=True, delta="1/1"), n=5)
_case("more messages than users", "min_users", _said(users=50))
_case("a ratio below 1", "exp_eps", _said(exp_eps="1/2", delta="1/4"))
_case("an unknown name", "mechanism", _said(mechanism={"name": "kkr", "k": 3}))
_case("an unknown parameter", "mechanism", _said(mechanism={"name": "krr", "k": 3, "s": 1}))
_case("zero-out without a null symbol", "adjacency", _said(adjacency="zero-out"))
_case("a null symbol of any-ldp", "null", _said(mechanism={"name": "any-ldp"}, adjacency="zero-out", null="blanket"))
_case("a null symbol of its own", "null", _said(adjacency="zero-out", null=[[1], [1], [1]]))
_case("rows of a larger sum", "mechanism", _rows([[[3], [2]], [[1], [3]]]), n=5)
_case("a negative probability", "mechanism", _rows([[[5], [-1]], [[1], [3]]]), n=5)
_case("no pair", "pairs", _rows(ROWS, pairs=[]), n=5)
_case("an input against itself", "pairs", _rows(ROWS, pairs=[[0, 0]], delta="0/1"), n=5)
_case("a line too far out", "lines.c", _line(c=70_000 << bound.BITS))
_case("a line where the moments explode", "lines", _line(c=20 << bound.BITS))
_case("a smaller delta", "delta", _said(delta="1/1000000"))
_case("a smaller delta of few users", "delta", _said(delta="1/1000"), n=5)
