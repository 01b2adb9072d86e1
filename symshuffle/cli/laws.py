"""Commands about one channel as a law of templates: law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.accountants.deployment.assumptions import Assumption
from symshuffle.base.choices import Population
from symshuffle.base.numbers import Exp, as_integer, counted, format_decimal, lower_end, parse_inside, upper_end
from symshuffle.base.results import MOST_DIGITS, Bracket, FirstLines, safe_number
from symshuffle.cli.arguments import named_randomizer
from symshuffle.cli.options import PLAIN, Header, NamedEps0, NamedLam, NamedMech, Params, Show, command, file_rows
from symshuffle.configuration.randomizers import matrix_sizes

if TYPE_CHECKING:
    from symshuffle.channels.channel import Channel
    from symshuffle.decompositions.closed_forms import ClosedForm
    from symshuffle.mechanisms.model import Mechanism
    from symshuffle.utility.anchored.enclosed import EnclosedLaw
    from symshuffle.utility.anchored.law import AnchoredLaw
    from symshuffle.utility.frontiers.contamination import Leakage
    from symshuffle.utility.frontiers.formulas import LawFormulas

app = typer.Typer()


@command(app)
def law(
    mech: NamedMech,
    header: Header = None,
    eps0: NamedEps0 = None,
    lam: NamedLam = None,
    param: Params = None,
    n: Annotated[
        str | None,
        typer.Option("--n", help="Number of users, for risks and leakage. Default: open in a formula, otherwise 1."),
    ] = None,
    eps: Annotated[
        str | None, typer.Option("--eps", help="Also the leakage of every ordered pair of inputs at this eps, in nats.")
    ] = None,
    show: Show = PLAIN,
) -> None:
    """Accuracy and privacy of a channel: templates, trace, budget, worst canonical risks, leakage and its envelope.

    Leakage is for one user who holds i while all others hold j. Its envelope is the leakage of the worst channel with
    the same ratio cap. Risks are expected squared errors of the estimated composition. For a mechanism with open
    parameters, the answer has formulas in these parameters. If all parameters have values, the answer has numbers.
    """
    users = None if n is None else as_integer(n, "--n", 1)
    level = None if eps is None else _level(eps)
    one = named_randomizer(mech, eps0, lam, param, header)
    if one.file is not None:
        channel = one.source()
        matrix = {} if channel.rounding is None else {"matrix": str(channel.rounding)}
        _numbers(channel, users, level, {"file": one.file.name} | matrix_sizes(channel) | matrix, eps, show)
        return
    mech = one.name
    from symshuffle.utility.frontiers.filed_laws import law_at

    at = one.values()
    form = one.on_file() if at is not None and not at.left else None
    if form is not None and at is not None:
        inputs = {"mechanism": mech} | at.arguments
        if level is None and isinstance(at.lam, Exp) and _closed(replace(at, lam=None), at.lam, users, inputs, show):
            return
        _numbers(form.channel(), users, level, {"mechanism": mech} | at.arguments, eps, show)
        return
    texts = None if at is None else law_at(at, users, None if level is None else str(Exp(level) if level else 1))
    if texts is not None and at is not None:
        _show_formulas(texts, users, level, {"mechanism": mech} | at.arguments, show)
        return
    found = one.mechanism()
    named = {"mechanism": found.name, **{name: str(value) for name, value in found.values}}
    if found.parameters:
        _show_formulas(_formulas(found, users, level), users, level, named, show)
    else:
        _numbers(found.channel(), users, level, named, eps, show)


def _level(text: str) -> Fraction:
    level = parse_inside(text, "--eps", "[0, inf)")
    return level


def formulas_in_texts(answer: LawFormulas) -> dict[str, Any]:
    """What is shown of the formulas of a mechanism: JSON-ready answer, name, ranges, words."""
    from symshuffle.utility.frontiers.filed_laws import FORMULAS

    return {
        "answer": answer.to_dict(),
        "name": repr(answer.mechanism),
        "ranges": {one.name: f"{one.symbol}: {one.range}" for one in answer.mechanism.parameters},
        "words": dict(FORMULAS),
    }


def _formulas(found: Mechanism, users: int | None, level: Fraction | None) -> dict[str, Any]:
    from symshuffle.utility.frontiers import formulas

    given: dict[str, Any] = {} if users is None else {"n": users}
    if level is not None:
        given["gamma"] = Exp(level) if level else 1
    return formulas_in_texts(formulas.law_formulas(found, **given))


def _show_formulas(
    texts: Mapping[str, Any], users: int | None, level: Fraction | None, named: dict[str, Any], show: Show
) -> None:
    answer = texts["answer"]
    asked = {"n": users, "eps": None if level is None else str(level)}
    if show.data(answer | {"inputs": named | dict.fromkeys(texts["ranges"], "all") | asked}):
        return
    told = {
        name: f"no formula: {answer['refused'][name]}" if answer[name] is None else answer[name]
        for name in texts["words"]
    }
    lines = FirstLines(
        "trace",
        told["trace"] if answer["trace"] is None else f"{told['trace']} (exact)",
        about=f"{texts['name']}, a channel of one user, for all {'; '.join(texts['ranges'].values())}; {_NOT_PRIVACY}",
        sure="derived by computer algebra from the definition of the mechanism, without rounding",
    )
    show.rows(lines.rows, _MEANINGS)
    console = Console(highlight=False)
    if answer["law"]:
        rows = Table("mass", "levels of the template", "coordinates", title="templates")
        for one in answer["law"]:
            for index, part in enumerate(one["levels"]):
                rows.add_row("" if index else one["mass"], part["value"], part["coordinates"])
        console.print(rows)
    for name, words in texts["words"].items():
        console.print(f"{words}: {told[name]}", markup=False, soft_wrap=True)


_MOST_TEMPLATES: Final = 40
"""Inputs up to which templates in balls are written out, one for each output; beyond, formulas are evaluated."""


def _closed(asked: ClosedForm, lam: Exp, n: int | None, inputs: dict[str, Any], show: Show) -> bool:
    """Show the numbers of a mechanism of many inputs by its formulas; False where it has few, or no formula."""
    from symshuffle.utility.frontiers.filed_laws import law_numbers

    users, size = 1 if n is None else n, int(asked.numbers.get(asked.form["inputs"], 0))
    found = law_numbers(asked, lam, users) if size > _MOST_TEMPLATES else None
    if found is None:
        return False
    law = [
        {"mass": str(mass), "levels": [{"coordinates": count, "value": str(value)} for count, value in levels]}
        for mass, levels in found["law"]
    ]
    numbers = {name: str(found[name]) for name in ("trace", "budget", "ratio_cap")}
    vertex = (Fraction(1), *[Fraction(0)] * (size - 1))
    places = {"iid_risk": (Fraction(1, size),) * size, "fixed_risk": vertex}
    risks = {
        name: (
            Bracket(found[name].lower, found[name].upper, "ball", "closed form", "formulas of the mechanism"),
            where,
        )
        for name, where in places.items()
    }
    told = {name: _risk_data(name, risk, users) for name, risk in risks.items()}
    shown = {"law": law, **numbers, "extreme": None, **told}
    if show.data({**shown, "leakage": [], "inputs": inputs | {"n": users, "eps": None}}):
        return True
    named = ", ".join(f"{name} {value}" for name, value in inputs.items())
    worst, _ = risks["fixed_risk"]
    lines = FirstLines(
        "risk",
        f"{safe_number(worst, 'upper')} for {counted(users, 'user')} of the worst fixed composition",
        about=f"squared error of the canonical estimate of the shares of {size} inputs, by the channel ({named}); "
        f"{_NOT_PRIVACY}",
        sure="closed formulas of the mechanism, evaluated in balls",
    )
    show.rows(lines.rows, _MEANINGS)
    for mass, levels in found["law"]:
        parts = ", ".join(f"{count} coordinates at {_short(value)}" for count, value in levels)
        typer.echo(f"templates of mass {_short(mass)}: {parts}")
    for name, words in (("trace", "trace"), ("budget", "largest chi-square of two rows"), ("ratio_cap", "ratio")):
        typer.echo(f"{words}: {_short(found[name])}")
    typer.echo(f"worst i.i.d. risk, n = {users}: {_risk(risks['iid_risk'][0])}")
    return True


def _numbers(
    channel: Channel, n: int | None, level: Fraction | None, named: dict[str, Any], eps: str | None, show: Show
) -> None:
    from symshuffle.utility.anchored.enclosed import template_law

    users, found = 1 if n is None else n, template_law(channel)
    leaks = [] if level is None else _leaks(channel, users, level)
    risks = _risks(found, users)
    if not show.data(_json(found, users, risks, leaks) | {"inputs": named | {"n": users, "eps": eps}}):
        show.rows([*_lines(found, users, risks, named).rows, *file_rows(named)], _MEANINGS)
        _tables(found, users, risks, leaks)


def _leaks(channel: Channel, users: int, level: Fraction) -> list[Leakage]:
    from symshuffle.utility.frontiers.contamination import ratio_law
    from symshuffle.utility.frontiers.leakage import leakage

    gamma: Fraction | Exp = Exp(level) if level else Fraction(1)
    known: dict[object, Leakage] = {}  # many pairs have one law of the ratio, and all have one cap
    found: list[Leakage] = []
    for i, j in permutations(range(channel.num_inputs), 2):
        ratio = ratio_law(channel, i, j)
        law = frozenset(ratio.atoms()), ratio.singular
        if law not in known:
            known[law] = leakage(channel, i, j, n=users, gamma=gamma)
        found.append(replace(known[law], inputs=(i, j)))
    return found


def _risks(found: AnchoredLaw | EnclosedLaw, users: int) -> dict[str, Any]:
    """The worst canonical risks as answers; infinite ones as None."""
    from symshuffle.utility.anchored.enclosed import EnclosedLaw
    from symshuffle.utility.estimation.canonical import inverse_trace, worst_risk

    infinite = found.vote_sizes() is None if isinstance(found, EnclosedLaw) else inverse_trace(found) == math.inf
    if infinite:
        return {"iid_risk": None, "fixed_risk": None}
    return {name: worst_risk(found, n=users, population=kind) for name, kind in _POPULATIONS.items()}


_POPULATIONS: Final[dict[str, Population]] = {"iid_risk": "iid", "fixed_risk": "fixed"}


def _risk_data(name: str, risk: tuple[Bracket, tuple[Fraction, ...]], users: int) -> dict[str, Any]:
    """A risk as plain data: its bracket, its meaning, and the composition at which it is largest."""
    bracket, composition = risk
    population = _POPULATIONS[name]
    kind = "i.i.d. users" if population == "iid" else "a fixed composition"
    return bracket.to_dict() | {
        "about": f"largest canonical risk over all compositions, n = {users}, {kind}",
        "evaluation": bracket.evaluation,
        "composition": [str(entry) for entry in composition],
        "population": population,
        "n": users,
    }


def _lines(found: AnchoredLaw | EnclosedLaw, users: int, risks: dict[str, Any], named: dict[str, Any]) -> FirstLines:
    """First lines of a law: risk, channel, limits of the answer, evidence."""
    from symshuffle.utility.anchored.law import AnchoredLaw

    shown = ", ".join(f"{name} {value}" for name, value in named.items() if name not in _OF_FILES)
    assumes = f"{Assumption.NORMALISED}: {named['matrix']}" if "matrix" in named else ""
    arithmetic = "rationals" if isinstance(found, AnchoredLaw) else "balls"
    risk, words = risks["fixed_risk"], f"for {counted(users, 'user')} of the worst fixed composition"
    return FirstLines(
        "risk",
        f"infinite {words}: some compositions look alike"
        if risk is None
        else f"{safe_number(risk[0], 'upper')} {words}",
        about=f"squared error of the canonical estimate of the shares of {found.num_inputs} inputs, by the channel "
        f"({shown}); {_NOT_PRIVACY}",
        assumes=assumes,
        sure=f"an enumeration of all messages in {arithmetic}",
    )


_OF_FILES: Final = ("matrix", "inputs", "outputs", "header")
"""What is echoed of a matrix, and said in rows of its own."""

_NOT_PRIVACY: Final = "no guarantee about shuffled messages: for one ask `symshuffle delta`"
_MEANINGS: Final = (
    (
        "template",
        "For each message the probabilities of it, one for each input, divided by their mean. The law of the template "
        "of a message of a uniform input says everything that the channel can do.",
    ),
    ("trace", "That of the covariance of the template. The larger it is, the smaller are the canonical risks."),
    (
        "risk",
        "The largest expected sum of squared errors of the unbiased canonical estimator over all compositions: of "
        "users who draw their inputs (i.i.d.), or who hold them (fixed).",
    ),
    ("extreme", "Whether the law is no mixture of other laws of the same mean."),
    (
        "leakage",
        "The hockey-stick divergence at eps between one user who holds i and one who holds j, where all others hold j. "
        "Its envelope is that of the worst channel with the same largest likelihood ratio. Other datasets may leak "
        "more: for a guarantee ask `symshuffle delta`.",
    ),
)
"""What the numbers of a law mean."""


def _atoms(found: AnchoredLaw | EnclosedLaw) -> tuple[Any, ...]:
    from symshuffle.utility.anchored.enclosed import EnclosedLaw

    return found.atoms() if isinstance(found, EnclosedLaw) else tuple(found.template.atoms())


def _extreme(found: AnchoredLaw | EnclosedLaw) -> bool | None:
    """Whether the law is extreme; None where it is not decided whether templates in balls are equal."""
    from symshuffle.utility.anchored.law import AnchoredLaw

    return found.is_extreme() if isinstance(found, AnchoredLaw) else None


def _json(found: AnchoredLaw | EnclosedLaw, users: int, risks: dict[str, Any], leaks: list[Leakage]) -> dict[str, Any]:
    atoms = [{"template": [str(a) for a in u], "mass": str(w)} for u, w in _atoms(found)]
    return {
        "law": atoms,
        "trace": str(found.trace()),
        "budget": str(found.pairwise_budget()),
        "ratio_cap": str(found.ratio_cap()),
        "extreme": _extreme(found),
        **{name: None if risk is None else _risk_data(name, risk, users) for name, risk in risks.items()},
        "leakage": [one.to_dict() | dict(zip("ij", one.inputs or (), strict=True)) for one in leaks],
    }


def _tables(found: AnchoredLaw | EnclosedLaw, users: int, risks: dict[str, Any], leaks: list[Leakage]) -> None:
    console = Console(highlight=False)
    table = Table("mass", *(f"input {x}" for x in range(found.num_inputs)), title="templates")
    for u, weight in _atoms(found):
        table.add_row(_short(weight), *map(_short, u))
    console.print(table)
    facts = Table(box=None, show_header=False)
    facts.add_row("trace", _short(found.trace()))
    facts.add_row("largest chi-square of two rows", _short(found.pairwise_budget(), up=True))
    facts.add_row("largest likelihood ratio", _short(found.ratio_cap(), up=True))
    answers = {True: "yes", False: "no: a mixture of other laws", None: "open: templates in balls"}
    facts.add_row("extreme", answers[_extreme(found)])
    labels = {"iid_risk": "worst i.i.d. risk", "fixed_risk": "worst fixed-composition risk"}
    for name, risk in risks.items():
        shown = "infinite: some compositions look alike" if risk is None else _risk(risk[0])
        facts.add_row(f"{labels[name]}, n = {users}", shown)
    console.print(facts)
    if leaks:
        pairs = Table("i", "j", "leakage, at most", "envelope, at most", title="one user against a constant population")
        for one in leaks:
            ends = [None if found is None else found.bracket.upper for found in (one, one.envelope)]
            cells = ("none" if end is None else format_decimal(end, digits=MOST_DIGITS, up=True) for end in ends)
            pairs.add_row(*map(str, one.inputs or ()), *cells)
        console.print(pairs)


def _risk(bracket: Any) -> str:
    return str(bracket) if bracket.exact is None else _short(bracket.exact, up=True)


def _short(value: Any, *, up: bool = False) -> str:
    text = str(value)
    end = upper_end if up else lower_end
    return text if len(text) <= 16 else format_decimal(end(value), digits=8, up=up)
