"""Every public door with a choice of texts: anything else is refused by name."""

import enum
import importlib
import inspect
import pkgutil
import re
import sys
import typing
from pathlib import Path

import pytest
import typer.main

import symshuffle
from symshuffle import InputError
from symshuffle.base import Verdict
from symshuffle.cli import WRONG_INPUT, application, main
from symshuffle.ledger.claims import comparisons, model, parts
from tests.soundness.public_doors import DOORS
from tests.words import words

sys.path.insert(0, str(Path(__file__).parents[2] / "docs"))

import api

SEARCHES = {
    "vectors.calibration.search.calibrate",
    "vectors.means.private.candidates",
    "vectors.means.private.private_mean",
    "vectors.calibration.families.roughly",
}
"""They take seconds, and hand the choice on to ``worst_pair``, which is walked."""

INSIDE = set(
    words(
        "engines.registry.Engine.for_auto engines.contours.ball.BallContour.for_auto engines.estimates.too_long "
        ""
        "engines.contours.contour.Contour.for_auto "
        "engines.counting.counts.Counts.for_auto engines.counting.exact.Exact.for_auto "
        "engines.counting.sparse.Sparse.for_auto engines.registry.offers "
        "engines.transforms.tilted.Window.side "
        "engines.confirm.front.recompute_laplace "
        "ledger.claims.obligations.unmet cli.vectors.beside accountants.rounds.losses.Losses "
        "accountants.questions.enumeration.Enumeration"
    )
)
"""Called with members: by the registry, an engine, rounds, a question, a comparison, the runner of claims, or a parsed
command."""

FILLED = {"accountants.deployment.neighbours.Neighbours.assumed", "accountants.deployment.reduced.Reduction.assumed"}
"""Fields that the library fills in, of classes whose other fields are walked."""

MADE = set(
    words(
        "vectors.calibration.search.Calibration vectors.error.indices.ShuffleIndex "
        "accountants.bounds.answers.Answer design.shuffled.model.ShuffledDesign "
        ""
        "engines.densities.bromwich.bromwich_bracket accountants.bounds.answers.Answer "
        "utility.frontiers.contamination.Leakage design.decision.designs.Design "
        "utility.likelihood.worst.WorstCurve "
        "base.lp.LinearProgram design.decision.designs.TradeoffCertificate "
        "ledger.claims.outcomes.PartOutcome "
        "ledger.claims.outcomes.Outcome "
        "ledger.report.entries.LedgerEntry ledger.claims.comparisons.Comparison ledger.claims.model.Obligation "
        "accountants.deployment.neighbours.Neighbours accountants.deployment.reduced.Reduction "
        "accountants.questions.curves.Curve accountants.questions.adversary.WorstCase "
        "accountants.bounds.evaluate.Method"
    )
)
"""Results and solver programs that the library fills in: certificates among them are refused by ``verify``."""

COMMANDS = set(
    words(
        "cli.collect.plan cli.compare.compare cli.views.pld cli.curves.profile "
        "cli.curves.amplification_curve cli.curves.tradeoff cli.curves.largest_eps0 "
        "cli.curves.smallest_n cli.privacy.delta cli.privacy.epsilon cli.views.renyi "
        "cli.views.gdp"
    )
)
"""Commands with options of an enumeration: the parser reads them, and ``test_the_parser`` asks it."""


def kinds(annotation):
    """The enumerations and literal texts in an annotation."""
    if annotation is Verdict:  # a truth of three values: no name stands for it
        return []
    if isinstance(annotation, type) and issubclass(annotation, enum.Enum):
        return [annotation]
    if typing.get_origin(annotation) is typing.Literal:
        return [annotation]
    return [kind for part in typing.get_args(annotation) for kind in kinds(part)]


def is_public(module, name):
    """Whether a function, or the class of a method, is a public name: others get their texts from parsed doors."""
    return (module.__name__, name.partition(".")[0]) in PUBLIC


def callables(module):
    for name, value in vars(module).items():
        if name.startswith("_") or getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, type):
            yield name, value.__init__
            for method, found in vars(value).items():
                body = inspect.unwrap(getattr(found, "__func__", found))
                if not method.startswith("_") and inspect.isfunction(body):
                    yield f"{name}.{method}", body
        elif inspect.isfunction(inspect.unwrap(value)):
            yield name, inspect.unwrap(value)


PUBLIC = {(value.__module__, value.__name__) for _, _, value in api.public() if hasattr(value, "__name__")}
ROWS = {door.removesuffix(" of groups").rpartition(".")[0] for door in DOORS}


def doors():
    """Every argument of a public callable that takes an enumeration or literal text, with its kinds."""
    for info in pkgutil.walk_packages(symshuffle.__path__, "symshuffle."):
        if info.name.endswith("__main__"):
            continue
        module = importlib.import_module(info.name)
        for name, body in callables(module):
            place = f"{info.name.removeprefix('symshuffle.')}.{name}"
            if place in INSIDE | MADE | SEARCHES | COMMANDS:
                continue
            for argument, text in getattr(body, "__annotations__", {}).items():
                if argument == "return" or f"{place}.{argument}" in FILLED:
                    continue
                try:
                    names = {**vars(typing), **vars(module)}
                    annotation = eval(text, names) if isinstance(text, str) else text  # noqa: S307  # our own source
                except (NameError, TypeError):  # a name that only the type checker knows: it must be no enumeration
                    if NAMES & set(re.findall(r"\w+", str(text))):
                        yield f"{place}.{argument}", []  # hidden from this test, which fails for want of a row
                    continue
                found = kinds(annotation)
                if found and (body.__name__ == "__init__" or place in ROWS or is_public(module, name)):
                    yield f"{place}.{argument}", found


NAMES = {
    name
    for module in (symshuffle.base.choices, comparisons, model, parts)
    for name, kind in vars(module).items()
    if isinstance(kind, enum.EnumMeta) or typing.get_origin(kind) is typing.Literal
} | {"Literal"}
WALKED = dict(doors())
ASKED = {door: WALKED.get(door.removesuffix(" of groups"), []) for door in DOORS}
KEYWORDS = {"accountants.deployment.adjacency.Adjacency.relation": "adjacency"}
"""Refused by the keyword of questions, from which it is read."""


def test_every_door_has_a_row():
    assert set(WALKED) == {door.removesuffix(" of groups") for door in DOORS}


def texts(kind):
    return [member.value for member in kind] if isinstance(kind, type) else list(typing.get_args(kind))


@pytest.mark.parametrize("door", ASKED)
def test_nonsense_is_refused_by_name(door):
    argument = KEYWORDS.get(door, door.rpartition(".")[2].removesuffix(" of groups"))
    known = {text for kind in ASKED[door] for text in texts(kind)}
    for nonsense in ("nonsense", "", next(iter(known)).swapcase(), 0, True, object()):
        with pytest.raises(InputError) as refusal:
            DOORS[door](nonsense)
        assert refusal.value.argument == argument


def options():
    """The options of an enumeration, by function of the command line, with the words of the command."""

    def commands(command, path=()):
        for word, inner in getattr(command, "commands", {}).items():
            yield from commands(inner, (*path, word))
        if not hasattr(command, "commands"):
            yield path, command

    for path, command in commands(typer.main.get_command(application())):
        module = command.callback.__module__.removeprefix("symshuffle.")
        for option in command.params:
            if found := kinds(option.type_descriptor.annotation):
                yield f"{module}.{command.callback.__name__}", path, option.opts[0], found


OPTIONS = tuple(options())


def test_every_command_with_a_choice_is_parsed():
    assert {place for place, *_ in OPTIONS} >= COMMANDS


@pytest.mark.parametrize(("place", "words", "option", "found"), OPTIONS)
def test_the_parser_refuses_nonsense_by_name(place, words, option, found, capsys):
    known = {text for kind in found for text in texts(kind)}
    for nonsense in ("nonsense", "", next(iter(known)).swapcase()):
        assert main([*words, option, nonsense]) == WRONG_INPUT
        said = capsys.readouterr().err
        assert option in said
        assert all(text in said for text in known)
        assert said.count("\n") == 1
