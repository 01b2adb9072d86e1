"""Relation is a value: zero-out beside replace-one, and answers that say whom they cover."""

# No public door has an adjacency without words: private names are replaced.
import dataclasses
import inspect
import itertools
import json
import math
from contextlib import suppress
from fractions import Fraction
from typing import get_type_hints

import pytest

from symshuffle import Channel, InputError, Unsupported, delta, epsilon, largest_eps0, randomizer, smallest_n
from symshuffle.accountants.bounds.answers import Answer
from symshuffle.accountants.deployment import neighbours
from symshuffle.accountants.deployment.model import KEYWORDS
from symshuffle.accountants.deployment.neighbours import Neighbours
from symshuffle.accountants.deployment.reduced import Reduction
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.accountants.questions.adversary import worst_constant
from symshuffle.accountants.questions.curves import amplification_curve, profile
from symshuffle.accountants.questions.tradeoff_function import tradeoff
from symshuffle.base.choices import Relation, members
from symshuffle.base.results import Bracket
from symshuffle.channels.shuffled import shuffled_divergence
from symshuffle.cli import curves as cli_curves
from symshuffle.cli import privacy
from symshuffle.cli.deployments import FieldOptions
from symshuffle.vectors import SphereLinear
from tests.shell import answer, refused
from tests.shown import as_html

ORDER = Fraction(6, 5)
CHANNEL = Channel.from_rows([["2/3", "1/3"], ["1/3", "2/3"]])


def zeroed(rows, null, n, order, *, symbols: bool = True):
    """The largest divergence, in both directions, over all datasets and users who are zeroed out, by enumeration."""
    whole, symbol = Channel.from_rows([*rows, null]), len(rows)
    held = range(symbol + 1 if symbols else symbol)
    return max(
        max(
            shuffled_divergence(whole, (x, *others), (symbol, *others), order),
            shuffled_divergence(whole, (symbol, *others), (x, *others), order),
        )
        for x in range(symbol)
        for others in itertools.combinations_with_replacement(held, n - 1)
    )


def test_zero_out_is_not_replace_one():
    """Two users may differ where neither differs from the null symbol by much, and the other way round."""
    rows, null = [["9/10", "1/10"], ["1/10", "9/10"]], ["1/2", "1/2"]
    channel = Channel.from_rows(rows)
    for n in (1, 3):
        one, other = (
            delta(source, n=n, exp_eps=ORDER, arithmetic="exact").bracket.exact
            for source in (channel, reduction(channel, null=null))
        )
        assert other < one
    certain = reduction(channel, null=["1", "0"])  # an output that it never sends tells it from both inputs
    assert delta(certain, n=1, exp_eps=ORDER, arithmetic="exact").bracket.exact == Fraction(9, 10)


@pytest.mark.parametrize("pair", [(0, 1), (1, 0), (2, 0)])
def test_a_direction_starts_from_the_first_input_of_a_pair(pair):
    channel, ratio, n = Channel.from_rows([["4/9", "1/6", "7/18"], ["11/19", "6/19", "2/19"], ["1/3"] * 3]), 3, 2
    for direction, (x, y) in (("forward", pair), ("reverse", pair[::-1])):
        found = delta(channel, n=n, exp_eps=ratio / 2, pairs=[pair], direction=direction)
        truth = max(shuffled_divergence(channel, (x, z), (y, z), Fraction(ratio, 2)) for z in range(3))
        other = max(shuffled_divergence(channel, (y, z), (x, z), Fraction(ratio, 2)) for z in range(3))
        assert truth <= found.bracket.upper and (truth <= other or found.bracket.upper > other)
        assert f"inputs {pair[0]} and {pair[1]}" in found.about and "X0 holding the first of the two" in found.about


def test_a_zero_out_reduction_goes_through_every_front_door():
    reduced = reduction(Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]]), null=["1/2", "1/2"])
    smallest = epsilon(reduced, n=50, delta="1e-3", attained=True)
    assert smallest.attained is not None
    assert smallest.attained.lower <= smallest.bracket.upper
    fewest = smallest_n(reduced, eps="0.5", delta="1e-3")
    curve = profile(reduced, n=50, eps=["0.1", "0.2"])
    for found in (smallest, fewest, curve):
        assert found.neighbours.adjacency == "zero-out"
        assert "null symbol" in found.about
    assert "null" in worst_constant(reduced, 5, ORDER).datasets


def test_a_null_symbol_needs_a_channel_and_a_law():
    with pytest.raises(InputError, match="null = 1: expected none with krr"):
        reduction(randomizer("krr").at(k=3, lam=3), null=["1"])
    with pytest.raises(InputError, match=r"null = sum 5/6, .*: expected probabilities of sum 1"):
        reduction(Channel.from_rows([["1/2", "1/2"], ["1/3", "2/3"]]), null=["1/2", "1/3"])


def test_nobody_is_covered_by_nothing():
    with pytest.raises(InputError, match="classes"):
        Reduction(())


def test_an_answer_has_one_shape():
    found = delta(randomizer("krr").at(k=10, lam=3), n=6, exp_eps=ORDER, arithmetic="exact")
    assert found.bracket.exact == Fraction(55591, 829440)
    assert Fraction(float(found)) >= found.bracket.upper > Fraction(math.nextafter(float(found), 0))
    assert found.evaluation == found.bracket.evaluation
    assert json.loads(json.dumps(found.to_dict()))["exact"] == "55591/829440"
    assert repr(found) == "<delta 55591/829440 (exact, exact), n = 6, replace-one>"
    assert found.neighbours.protects in as_html(found)
    assert found.neighbours.to_dict()["users"] == 6


@pytest.mark.parametrize("upper", [Fraction(1, 3), Fraction(2, 3), Fraction(1, 10), Fraction(1, 4), Fraction(0)])
def test_a_float_of_an_answer_is_not_below_it(upper):
    bracket = Bracket(Fraction(0), upper, "exact", "none", "given")
    some = Neighbours("inputs 0 and <1>", False, "replace-one", "both", 2, "no theorem")
    found = Answer("delta", bracket, some)
    assert Fraction(float(found)) >= upper
    assert "&lt;1&gt;" in as_html(found)


def test_a_null_symbol_on_the_command_line(tmp_path, capsys):
    path = tmp_path / "channel.csv"
    path.write_text("3/4,1/4\n1/4,3/4\n")
    asked = ["delta", str(path), "--null", "1/2,1/2", "--exp-eps", "6/5", "--n", "2"]
    told = answer(capsys, *asked, "--arithmetic", "exact")
    rows = [[Fraction(3, 4), Fraction(1, 4)], [Fraction(1, 4), Fraction(3, 4)]]
    assert Fraction(told["exact"]) >= zeroed(rows, [Fraction(1, 2)] * 2, 2, ORDER)
    assert told["adjacency"] == told["neighbours"]["adjacency"] == "zero-out"
    assert told["inputs"]["null"] == ["1/2", "1/2"]
    command = "delta krr -p k=3 --lam 3 --null 1 --exp-eps 2 --n 2"
    assert "it is a row beside those of a channel given by its matrix" in refused(capsys, *command.split())
    three = [*asked[:4], "--null", "1/2,1/4,1/4", *asked[6:]]
    assert "null = 3 masses: expected 2, one per output" in refused(capsys, *three)


def test_a_field_of_a_deployment_is_taught_once():
    """Questions and commands read their options from the fields of a deployment: none mentions one."""
    names = set(KEYWORDS)
    options = {field.name for field in dataclasses.fields(FieldOptions)}
    assert options == names - {"n", "datasets"}
    for door in (delta, epsilon, largest_eps0, smallest_n, profile, amplification_curve, tradeoff, reduction):
        assert names <= inspect.signature(door).parameters.keys()
    commands = [one for family in (privacy, cli_curves) for one in family.app.registered_commands]
    bounding = [one.callback for one in commands if "asked" in inspect.unwrap(one.callback).__annotations__]
    assert len(bounding) == 7 and all(options <= inspect.signature(one).parameters.keys() for one in bounding)
    with pytest.raises(TypeError, match="unexpected keyword argument 'adjacensy'"):
        delta(CHANNEL, n=3, eps=1, adjacensy="zero-out")


def test_a_null_symbol_is_asked_for_at_any_front_door():
    null = ["1/2", "1/2"]
    found = delta(CHANNEL, n=5, exp_eps="6/5", null=null)
    assert found.neighbours.adjacency == "zero-out"
    assert found.bracket == delta(reduction(CHANNEL, null=null), n=5, exp_eps="6/5").bracket
    assert smallest_n(CHANNEL, eps="1/2", delta="1/10", null=null).neighbours.adjacency == "zero-out"
    with pytest.raises(InputError, match="adjacency = replace-one"):
        delta(CHANNEL, n=5, exp_eps="6/5", null=null, adjacency="replace-one")


def _alone(adjacency):
    return reduction(CHANNEL, adjacency=adjacency).neighbours("both", 5).covered


def _in_groups(adjacency):
    return delta(CHANNEL, n=5, eps="1/10", adjacency=adjacency, group_size=2).neighbours.covered


@pytest.mark.parametrize("adjacency", members(Relation))
def test_every_adjacency_has_a_reduction_and_words_of_its_own(adjacency):
    covered = reduction(CHANNEL, adjacency=adjacency).neighbours("both", 5)
    assert covered.adjacency == adjacency
    for words in (_alone, _in_groups, neighbours._any_pair):
        said = {one: words(one) for one in members(Relation)}
        assert len(set(said.values())) == len(said)
    assert said[adjacency]
    option = get_type_hints(FieldOptions, include_extras=True)["adjacency"]
    assert adjacency in option.__metadata__[0].help, "help of --adjacency, of the field of Adjacency"


def test_vectors_take_no_adjacency_for_another():
    """Each has a pair of its own, or `worst_pair` refuses it by name."""
    said = {}
    for adjacency in members(Relation):
        with suppress(Unsupported):
            said[adjacency] = reduction(SphereLinear("1/2", 1), adjacency=adjacency).neighbours("both", 5).pairs
    assert len(set(said.values())) == len(said), f"vectors.privacy.pairs takes one adjacency for another: {said}"


def test_an_adjacency_without_a_reduction_is_refused(monkeypatch):
    """A member that nobody derives bounds for must not get those of another adjacency."""
    from symshuffle.accountants.deployment import reduction as module

    monkeypatch.setattr(module, "_to_the_blanket", module.reduction)
    with pytest.raises(Unsupported, match="adjacency zero-out: this source has a reduction for replace-one only"):
        delta(CHANNEL, n=5, eps="1/10", adjacency="zero-out")
