"""Options of commands that bound eps, delta or a divergence: those of `epsilon`, or the exception is listed.

Commands and options are read off the parsers.
"""

import pytest

from tests.test_outputs import COMMANDS

SOURCE = {"--param", "--eps0", "--lam", "--header"}
COVERED = {
    *("--null", "--adjacency", "--blanket", "--min-batch-size", "--dropout", "--group-size", "--colluding", "--pairs"),
    *("--graph", "--threshold"),
}
WHOM = {"--null", "--adjacency", "--blanket", "--pairs", "--graph"}
EVALUATED = {"--rtol", "--arithmetic", "--engine", "--direction"}
WITNESS = {"--engine", "--confirm"}
"""Asked of one evaluation; these commands evaluate many."""

LISTED = {
    "delta": [({"--delta"}, "the answer")],
    "largest-eps0": [
        ({"--eps0", "--lam"}, "the answer"),
        ({"--header"}, "a matrix has no level to be chosen"),
        (WITNESS, "many evaluations"),
        ({"--proof"}, "a proof is about a level that is given"),
    ],
    "smallest-n": [
        ({"--n"}, "the answer"),
        ({"--rtol"}, "an integer"),
        (WITNESS, "many evaluations"),
        ({"--proof"}, "a proof is about numbers of users that are given"),
    ],
    "profile": [(WITNESS | {"--delta"}, "many evaluations"), ({"--proof"}, "a proof is about one point")],
    "amplification-curve": [
        ({"--n"}, "the axis"),
        (WITNESS, "many evaluations"),
        ({"--proof"}, "a proof is about one point"),
    ],
    "tradeoff": [
        (WITNESS | {"--delta"}, "many evaluations"),
        ({"--direction"}, "both are taken"),
        ({"--proof"}, "a proof is about one point"),
    ],
    "renyi": [(WITNESS, "many evaluations"), ({"--delta", "--proof"}, "another divergence")],
    "gdp": [(WITNESS | {"--rtol", "--arithmetic", "--delta", "--proof"}, "an approximation, no bound")],
    "pld": [
        (WITNESS, "many evaluations"),
        ({"--delta", "--direction", "--proof"}, "the whole profile, for other accountants"),
    ],
    "worst-datasets": [
        ({"--null", "--direction"}, "real datasets that differ in one user, in both orders"),
        (WITNESS | {"--arithmetic", "--delta", "--proof"}, "a search among datasets at a level"),
    ],
    "design shuffled": [
        (SOURCE | EVALUATED | WHOM, "the channel is the answer, for replace-one"),
        ({"--confirm"}, "many evaluations"),
    ],
    "compare": [
        ({"--lam", "--param"}, "parameters are chosen; matrices are given by --channel"),
        (
            COVERED - {"--min-batch-size", "--colluding", "--threshold"},
            "rows are compared for replace-one and one user, and a number of messages",
        ),
        (EVALUATED - {"--rtol"} | {"--confirm", "--proof"}, "many evaluations"),
    ],
    "mean": [
        (SOURCE - {"--param", "--header"} | {"--n"}, "the mechanism is chosen; users come with the file"),
        (WHOM - {"--adjacency"}, "vectors of the unit ball"),
        (EVALUATED | {"--confirm", "--proof"}, "many evaluations"),
    ],
    "calibrate": [
        (SOURCE - {"--param"}, "the parameters are the answer"),
        (WHOM - {"--adjacency", "--blanket"}, "vectors of the unit ball"),
        (EVALUATED | {"--confirm", "--proof"}, "many evaluations"),
    ],
    "collect plan": [
        (SOURCE, "the mechanism is the answer"),
        ({"--reports", "--pairs", "--graph"}, "every user sends one report of any value"),
        (EVALUATED | {"--confirm"}, "eps is certified in balls, in both orders"),
    ],
}
"""Options of `epsilon` that a command does not have, with reasons."""

OTHERS = {
    "law": "risks and laws of one message; nothing is certified after shuffling",
    "frontier": "a local budget",
    "subset-size": "a local budget",
    "decompose": "formulas",
    **dict.fromkeys(("design bayes", "design minimax"), "a local budget"),
    **dict.fromkeys(("design mutual-information", "design f-divergence"), "a local budget"),
    "check": "files, and matrices against a local budget",
    "audit local": "a claim about a program",
    "collect randomize": "messages of a plan, whose order is chosen",
    "audit shuffled": "a claim about a program",
    "audit samples": "a claim about files",
}
"""Commands with a level, a number of users or a mechanism that bound nothing of shuffled messages."""


def options(command):
    return {name for one in COMMANDS[command].params for name in one.opts if name.startswith("--")}


ASKED = [
    name for name in COMMANDS if name not in OTHERS and options(name) & {"--eps", "--delta", "--n", "--eps0", "--order"}
]
BOUND = options("epsilon") - {"--json", "--explain"}


@pytest.mark.parametrize("command", ASKED)
def test_a_command_has_the_options_of_epsilon(command):
    """Exactly the listed ones are missing; an option that is added is taken off the list."""
    listed = set().union(*(names for names, _ in LISTED.get(command, ())))
    assert BOUND - options(command) == listed & BOUND
    assert listed <= BOUND, "an exception that is no option of epsilon"
    assert not sum(len(names) for names, _ in LISTED.get(command, ())) > len(listed), "listed twice"


def test_exceptions_are_of_commands_that_bound_something():
    assert LISTED.keys() <= {*ASKED} and OTHERS.keys() <= COMMANDS.keys()
    assert all(reason for one in LISTED.values() for _, reason in one) and all(OTHERS.values())
