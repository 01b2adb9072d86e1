"""Every argument of every drawn call of a public function, replaced by values of a wrong kind: an answer or one line.

The calls are those of the fuzz grammar, which has each public function; a new function is tried once it has a line.
"""

import ast
import random
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import symshuffle
from symshuffle import InputError, SymshuffleError, vectors
from symshuffle.base.errors import check_progress
from tests.frozen.requests import expanded
from tests.fuzz.calls import furnish
from tests.fuzz.draw import NAMES, calls_in, expression, ours, rules
from tests.soundness.test_wrong_arguments import TooLongError, soon

WRONG = (
    "None", "True", "0", "1.5", "float('inf')", "''", "'x'", "F(-1, 2)", "np.float32(0.1)", "np.int64(3)",
    "np.bool_(True)", "np.array([[0.5, 0.5], [0.25, 0.75]])", "Exp(F(1))", "[]", "{}", "[None]", "object()", "('k', 3)",
    "Channel.from_rows([['1/2', '1/2'], ['1/4', '3/4']])", "lambda x: x",
)  # fmt: skip
SLOW = (
    "private_mean",
    "calibrate",
    "best_shuffled",
    "worst_background_on_the_line",
    "plan_survey",
    "takeover",
    "contenders",
)
"""Searches, which answer many of these values after seconds."""


@cache
def folder():
    """A folder with the files that calls read."""
    here = Path(tempfile.mkdtemp(prefix="symshuffle-rooms-"))
    furnish(here)
    return here


def changed(line, rng):
    """For each argument of a call and of the calls inside, the text of the call with every wrong value there."""
    tree, found = calls_in(expanded(line, rng, rules()))
    for call in found:
        for sequence in (call.args, call.keywords) if ours(call) else ():
            for i, old in enumerate(sequence):
                texts = []
                for wrong in WRONG:
                    value = expression(wrong)
                    sequence[i] = ast.keyword(old.arg, value) if sequence is call.keywords else value
                    texts.append(ast.unparse(tree))
                sequence[i] = old
                yield texts


def faults(texts):
    """Calls that neither answer, nor take long, nor are refused in one line, each with what it raised."""
    found = []
    for text in texts:
        try:
            with soon():
                eval(text, dict(NAMES))  # noqa: S307  # a line of the grammar
        except TooLongError:
            pass
        except Exception as error:
            if not isinstance(error, SymshuffleError) or "\n" in str(error):
                found.append((text, repr(error)))
    return found


LINES = [line for line in rules()["room"] if not any(name in line for name in SLOW)]


@pytest.mark.parametrize("line", LINES)
def test_a_wrong_kind_is_an_answer_or_one_line(line, monkeypatch):
    monkeypatch.chdir(folder())
    rng = random.Random(line)
    assert faults([rng.choice(texts) for texts in changed(line, rng)]) == []


@pytest.mark.conformance
@pytest.mark.parametrize("line", LINES)
def test_every_wrong_kind_is_an_answer_or_one_line(line, monkeypatch):
    monkeypatch.chdir(folder())
    assert faults([text for texts in changed(line, random.Random(line)) for text in texts]) == []


def test_the_argument_of_a_wrong_kind_is_named():
    for ask, argument in (
        (lambda: vectors.correspondence(vectors.SphereLinear("1/2", 3), float("inf")), "users"),
        (lambda: symshuffle.collect.named_claim(np.ones((2, 2)), {}, lam=3), "name"),
        (lambda: symshuffle.Problem(np.int64(3), ((1, 0),)), "model"),
        (lambda: symshuffle.mechanisms.mechanism(np.ones((2, 2))), "name"),
        (lambda: symshuffle.randomizer(np.ones((2, 2))), "rows[0]"),
        (lambda: symshuffle.utility.law_from_fiber(np.float32(0.1)), "source"),
        (lambda: symshuffle.sweep(pow, base=[2], exp=[3], progress=lambda x: x), "progress"),
    ):
        with pytest.raises(InputError) as refusal:
            ask()
        assert refusal.value.argument == argument


def test_a_fault_in_a_right_call_stays_a_fault(monkeypatch):
    fiber = symshuffle.utility.fiber
    law = symshuffle.utility.AnchoredLaw.from_channel(NAMES["Channel"].from_rows([["3/4", "1/4"], ["1/4", "3/4"]]))

    def planted(*_):
        raise AttributeError("planted")

    monkeypatch.setattr("symshuffle.utility.anchored.maps.check_composition", planted)
    with pytest.raises(AttributeError, match="planted"):
        fiber(law, [symshuffle.utility.endpoint_law(2).weights[0] * 0 + 1, 0])


def test_callables_of_other_arguments_are_no_progress():
    check_progress(print, 3)
    check_progress(lambda *_: None, 3)
    with pytest.raises(InputError, match=r"^progress = "):
        check_progress(lambda done: None, 2)
