"""Calls, drawn from the grammar, the application and the signatures."""

import ast
import inspect
import random
import shlex
import typing
from decimal import Decimal
from enum import Enum
from fractions import Fraction
from functools import cache
from pathlib import Path

import mpmath
import numpy as np
import sympy
from typer.main import get_command

from symshuffle import cli
from symshuffle.channels.shuffled import shuffled_law
from symshuffle.vectors.privacy.pairs import worst_pair
from tests.frozen.requests import expanded, grammar, parsed
from tests.public import BELOW, PUBLIC

NAMES = {
    **PUBLIC,
    **BELOW,
    **{"F": Fraction, "Decimal": Decimal, "np": np, "mpmath": mpmath, "sympy": sympy, "Path": Path},
    **{"shuffled_law": shuffled_law, "worst_pair": worst_pair},
}
"""Names in which calls of functions are written."""
BUDGETS = ("eps", "exp_eps", "eps0", "lam")
KINDS = ("everyday command", "extreme command", "everyday function", "extreme function")


@cache
def rules():
    """Alternatives of every rule; those of grammar.txt replace those of the frozen requests."""
    own = Path(__file__).with_name("grammar.txt").read_text(encoding="utf-8")
    return grammar()[0] | parsed(own)[0]


@cache
def commands():
    """Commands of the parser by the words that name them."""
    found = {}
    for name, one in get_command(cli.application()).commands.items():
        inner = getattr(one, "commands", None)
        found |= {(name,): one} if inner is None else {(name, key): each for key, each in inner.items()}
    return found


def head(words):
    """The words of a line that name its command."""
    return next((key for key in (tuple(words[:2]), tuple(words[:1])) if key in commands()), ())


def options(words):
    """The options of the command of a line."""
    return [one for one in commands()[head(words)].params if one.opts[0].startswith("-")]


def key(word):
    """The name under which values of an option are drawn."""
    return "param" if word == "-p" else word.strip("-").replace("-", "_")


def is_switch(option):
    """Whether an option takes no value."""
    return option.type_descriptor.annotation is bool


def is_choice(option):
    """Whether an option is one of some words."""
    return bool(choices(option))


def choices(option):
    """The words of an option that is a choice; empty for another."""
    kind = option.type_descriptor.annotation
    if inspect.isclass(kind) and issubclass(kind, Enum):
        return [str(one.value) for one in kind]
    return list(typing.get_args(kind)) if typing.get_origin(kind) is typing.Literal else []


def everyday_option(option, rng):
    """An option with an everyday value; empty where none is known."""
    word, name = option.opts[0], f"option_{key(option.opts[0])}"
    if is_switch(option):
        return [word]
    if name in rules():
        return [word, rng.choice(rules()[name])]
    return [word, rng.choice(choices(option))] if is_choice(option) else []


def everyday_line(rng):
    """The words of a command with everyday values, each of its other options with a chance of one in eight."""
    words = shlex.split(expanded("{command}", rng, rules()))[1:]
    for option in options(words):
        excluded = refused_beside(option.opts, words)
        excluded |= "--header" in option.opts and not any(word.endswith(".csv") for word in words)
        if rng.random() < 1 / 8 and not excluded and not {*option.opts} & {*words}:
            words += everyday_option(option, rng)
    return words


def refused_beside(opts, words):
    """Whether an option is refused by name beside what a line has: a rule of ``apart``, whose `!words` it has not."""
    for rule in rules()["apart"]:
        together = [word for word in rule.split() if not word.startswith("!")]
        unless = {word[1:] for word in rule.split() if word.startswith("!")}
        if {*together} & {*opts} and {*together} <= {*opts, *words} and not unless & {*words}:
            return True
    return False


def extreme_word(name, rng):
    """A word that is extreme for an argument of this name, or for any."""
    own = f"extreme_{name}"
    return rng.choice(rules()[own if own in rules() and rng.random() < 0.6 else "words"])


WHOLE_LEDGER = ("verify", "report")
"""Commands whose first argument says which claims they run: all of them, for minutes, where it is missing."""


def extreme_line(rng):
    """An everyday line in which one or two things are changed."""
    words = everyday_line(rng)
    known, start = options(words), len(head(words))
    for _ in range(rng.choice((1, 1, 2))):
        values = [i for i in range(start, len(words)) if words[i][:1] != "-" and words[i - 1] != "--program"]
        match rng.choice(("value",) * 4 + ("option",) * 2 + ("misspelt", "missing", "twice")):
            case "value" if values:
                place = rng.choice(values)
                before = words[place - 1]
                words[place] = extreme_word(key(before) if before.startswith("-") else "mech", rng)
            case "option" if known:
                option = rng.choice(known)
                words += [option.opts[0], *([] if is_switch(option) else [extreme_word(key(option.opts[0]), rng)])]
            case "misspelt":
                place = rng.randrange(len(words))
                word, cut = words[place], rng.randrange(len(words[place]) + 1)
                words[place] = word[:cut] + rng.choice(("", "x", word[cut : cut + 1] * 2)) + word[cut + 1 :]
                if place < start:
                    return words
            case "missing" if len(words) > start:
                place = rng.randrange(start, len(words))
                if not (words[0] in WHOLE_LEDGER and place == start):
                    del words[place]
            case "twice":
                words.append(rng.choice(words))
    return words


def signature(call):
    """Parameters of the function that an expression calls; empty if they cannot be inspected."""
    try:
        return dict(inspect.signature(eval(ast.unparse(call.func), NAMES)).parameters)  # noqa: S307
    except Exception:  # the function or its object may have an extreme argument
        return {}


def calls_in(text):
    """The tree of an expression, and its calls, the outermost first."""
    tree = ast.parse(text, mode="eval")
    return tree, [one for one in ast.walk(tree) if isinstance(one, ast.Call)]


def ours(call):
    """Whether an expression calls a name of the library, or a method."""
    root = call.func
    while isinstance(root, ast.Attribute | ast.Call):
        root = root.value if isinstance(root, ast.Attribute) else root.func
    if isinstance(call.func, ast.Attribute) and call.func.attr == "select":  # without a choice it selects all claims
        return False
    return isinstance(root, ast.Name) and root.id not in (
        "F",
        "Decimal",
        "np",
        "mpmath",
        "sympy",
        "Path",
        "object",
        "range",
    )


def expression(text):
    """The tree of a value."""
    return ast.parse(text, mode="eval").body


def everyday_function(rng):
    """An expression with everyday values, and some of its optional arguments."""
    tree, found = calls_in(expanded("{function}", rng, rules()))
    given = {one.arg for one in found[0].keywords}
    for name, one in signature(found[0]).items():
        free = one.kind is one.KEYWORD_ONLY and f"keyword_{name}" in rules() and name not in given
        if free and not apart_in_call(name, found[0]) and rng.random() < 1 / 8:
            found[0].keywords.append(ast.keyword(name, expression(rng.choice(rules()[f"keyword_{name}"]))))
    return ast.unparse(tree)


def apart_in_call(name, call):
    """Whether an argument is refused by name beside others, in a function, or with what it is about."""
    told = {name, *(one.arg for one in call.keywords), ast.unparse(call.func)}
    if call.args and isinstance(call.args[0], ast.List):
        told.add("[" + getattr(getattr(call.args[0].elts[0], "func", None), "id", "") + "]")
    return any(name in rule.split() and {*rule.split()} <= told for rule in rules()["apart_in_calls"])


def extreme_value(name, rng):
    """A value that is extreme for an argument of this name, or for any."""
    if f"extreme_{name}" in rules() and rng.random() < 0.5:
        return expression(repr(rng.choice(rules()[f"extreme_{name}"])))
    return expression(rng.choice(rules()["values"]))


def extreme_function(rng):
    """An everyday expression in which one or two arguments are replaced or added."""
    tree, found = calls_in(everyday_function(rng))
    for _ in range(rng.choice((1, 1, 2))):
        call = found[0] if rng.random() < 0.75 else rng.choice([one for one in found if ours(one)])
        known = signature(call)
        ordered = [name for name, one in known.items() if one.kind is not one.KEYWORD_ONLY]
        names = dict.fromkeys([one.arg for one in call.keywords] + [name for name in known if name not in ordered])
        places = [*range(len(call.args)), *names, *(["nothing"] if rng.random() < 0.05 else [])]
        if not places:
            continue
        place = rng.choice(places)
        if isinstance(place, int):
            call.args[place] = extreme_value((ordered[place : place + 1] or [""])[0], rng)
        else:
            call.keywords = [one for one in call.keywords if one.arg != place]
            call.keywords.append(ast.keyword(place, extreme_value(place, rng)))
    return ast.unparse(tree)


def drawn(seed, number):
    """The kind of a call and its text, always the same for a seed and a number."""
    rng, kind = random.Random(f"{seed} {number}"), KINDS[number % 4]
    if kind.endswith("function"):
        return kind, (everyday_function if kind.startswith("everyday") else extreme_function)(rng)
    words = (everyday_line if kind.startswith("everyday") else extreme_line)(rng)
    return kind, f"symshuffle {shlex.join(words)}"


def witnesses(text):
    """Variants of a refused call: the argument that is omitted or the command that is run instead, and the text."""
    if not text.startswith("symshuffle "):
        tree, (call, *_) = calls_in(text)
        optional = {name for name, one in signature(call).items() if one.default is not one.empty} - {*BUDGETS, "n"}
        given = list(call.keywords)
        for one in given:
            if one.arg in optional:
                call.keywords = [other for other in given if other is not one]
                yield one.arg, ast.unparse(tree)
        return
    words = shlex.split(text)[1:]
    for option in options(words):
        size = 1 if is_switch(option) else 2
        needed = option.required or key(option.opts[0]) in (*BUDGETS, "param", "n", "file", "delta")
        for place in [i for i, word in enumerate(words) if word in option.opts and not needed]:
            yield words[place], f"symshuffle {shlex.join(words[:place] + words[place + size :])}"
    if words[0] == "epsilon" and "--delta" in words:
        i = words.index("--delta")
        yield "delta", f"symshuffle {shlex.join(['delta', *words[1:i], '--eps', '1/2', *words[i + 2 :]])}"


def hinted(text, said):
    """The call with the width that a refusal asks for; None where it asks for none."""
    if not text.startswith("symshuffle ") or "rtol" not in said or "ask for a larger" not in said:
        return None
    words = shlex.split(text)[1:]
    if "--rtol" in words:
        i = words.index("--rtol")
        words = words[:i] + words[i + 2 :]
    return f"symshuffle {shlex.join([*words, '--rtol', '1/10'])}"
