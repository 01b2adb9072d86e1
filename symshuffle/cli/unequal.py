"""Users with local budgets of their own on the command line: unequal."""

from __future__ import annotations

import tomllib
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from symshuffle.base.choices import Question, Rigour
from symshuffle.base.errors import InputError
from symshuffle.cli import arguments
from symshuffle.cli.shown import known, print_answer

if TYPE_CHECKING:
    from symshuffle.accountants.questions.unequal import Users

app = typer.Typer()

_KEYS: Final = ("count", "mechanism", "params", "eps0", "lam", "file")
_ORDERED: Final = ("rr", "krr")
"""Mechanisms in which a larger budget is never better for anybody: a level may be rounded up."""


@app.command()
def unequal(
    users: Annotated[Path, typer.Argument(metavar="FILE", help=f"TOML of tables [[users]] with {', '.join(_KEYS)}.")],
    delta: Annotated[str | None, typer.Option("--delta", help="Target delta in (0, 1): the answer is eps.")] = None,
    eps: Annotated[str | None, typer.Option("--eps", help="Level eps >= 0 in nats: the answer is delta.")] = None,
    direction: arguments.QuestionOption = Question.BOTH,
    rel: Annotated[float, typer.Option(help="Relative width of the bracket to aim at, in (0, 1).")] = 1e-3,
    rigour: Annotated[Rigour, typer.Option("--rigour", help="exact (up to 300 users), ball or float64.")] = (
        Rigour.FLOAT64
    ),
    explain: arguments.Explain = False,
    as_json: arguments.Json = False,
) -> None:
    """Bound eps or delta where users have different local budgets."""
    from symshuffle.accountants.questions.unequal import unequal_delta, unequal_epsilon

    if (delta is None) == (eps is None):
        raise InputError("--delta, --eps", f"{delta}, {eps}", "one of the two")
    asked = read_users(users)
    if eps is not None:
        found = unequal_delta(asked, eps=eps, direction=direction, rigour=rigour, rel=rel)
    else:
        found = unequal_epsilon(asked, delta=delta, direction=direction, rigour=rigour, rel=rel)
    inputs = {"file": str(users), "users": [_echoed(one) for one in asked], "delta": delta, "eps": eps}
    exact, ends = found.bracket.exact, found.bracket.decimals(12)
    upper = ends["upper"] if exact is None else f"{exact} = {ends['upper']}"
    rows = [(f"{found.quantity} <=", upper), ("lower end of the bound", ends["lower"])]
    rows += [*known(found), ("meaning", found.about)]
    print_answer(found, rows, explain=explain, inputs=inputs, as_json=as_json)


def _echoed(one: Users) -> dict[str, str]:
    """How many, and the level that they were given, where it was rounded up."""
    return {"count": str(one.count), "exp_eps0": str(one.channel.ratio_cap())}


def read_users(file: Path) -> list[Users]:
    """The users of a file."""
    try:
        data = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError("FILE", file, f"a TOML file that can be read: {error}") from None
    rows = data.get("users")
    if data.keys() != {"users"} or not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise InputError("FILE", file, "tables [[users]], and nothing beside them")
    return [_users(row, f"users[{i}]") for i, row in enumerate(rows)]


def _users(row: dict[str, Any], place: str) -> Users:
    from symshuffle.accountants.questions.unequal import Users
    from symshuffle.channels.channel import Channel

    for key in row:
        if key not in _KEYS:
            raise InputError(place, key, f"a key of some users: {', '.join(_KEYS)}")
    name, params = row.get("mechanism", "krr"), row.get("params", {})
    if not isinstance(name, str) or not isinstance(params, dict):
        raise InputError(f"{place}.mechanism, {place}.params", f"{name}, {params}", "a name, and a table")
    try:
        lam = None if row.get("lam") is None else str(row["lam"])
        pairs = [f"{key}={value}" for key, value in params.items()]
        file = None if row.get("file") is None else Path(str(row["file"]))
        if row.get("eps0") is not None:
            if lam is not None:
                raise InputError("lam", lam, "none where eps0 is given")
            if name not in _ORDERED:
                arguments.source_or_channel(name, str(row["eps0"]), None, pairs, file)  # first says what else is wrong
            lam = _rounded_up(name, row["eps0"])
        found: Any = arguments.source_or_channel(name, None, lam, pairs, file)
        if not isinstance(found, Channel) and not hasattr(found, "channel"):
            raise InputError("mechanism", name, "one of finitely many outputs")
        return Users(row.get("count", 1), found if isinstance(found, Channel) else found.channel())
    except InputError as error:
        raise InputError(f"{place}.{error.argument}", error.value, error.expected) from None


def _rounded_up(name: str, eps0: object) -> str:
    """A rational ratio that is hardly above exp(eps0)."""
    from symshuffle.base.levels import read_target
    from symshuffle.base.numbers import enclose, upper_end

    if name not in _ORDERED:
        raise InputError("eps0", eps0, f"lam, a rational exp(eps0): only of {', '.join(_ORDERED)} is it rounded up")
    top = Fraction(upper_end(enclose(read_target(eps=str(eps0)), 256)))
    return str(Fraction(-((-top * 10**12) // 1), 10**12))
