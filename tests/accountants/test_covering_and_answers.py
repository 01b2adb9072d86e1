"""Whom a bound covers, the laws behind it and what an answer says: every field, choice and refusal by hand."""

import inspect
from dataclasses import replace
from fractions import Fraction

import pytest

from symshuffle import Bracket, Channel, InputError, Rigour, Unsupported
from symshuffle.accountants.amplification import Amplification, Attained, Composition
from symshuffle.accountants.covered import (
    Covering,
    Datasets,
    PairClass,
    Reducible,
    Reduction,
    laws,
    mixed_laws,
    own_reduction,
    spelled_out,
)
from symshuffle.accountants.evaluate import Request
from symshuffle.accountants.experiments import (
    bound_of,
    certain,
    coarse,
    covered_by,
    experiment,
    limit_distance,
    of_several,
    smallest_of,
    width_of,
)
from symshuffle.accountants.neighbours import Neighbours
from symshuffle.accountants.participation import EVERYBODY, Participation
from symshuffle.accountants.plan import rounds
from symshuffle.accountants.reduction import reduction
from symshuffle.choices import Adjacency, Blanket, Direction, Question
from symshuffle.errors import NotDecided
from symshuffle.law import Law
from symshuffle.numbers import Exp

F = Fraction
HALF = (F(1, 2), F(1, 2))
RR = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
REVEALS = Channel.from_rows([["1/4", "0", "3/4"], ["0", "1/4", "3/4"]])


def law(*values):
    return Law(tuple(F(v) for v in values), tuple(F(1, len(values)) for _ in values))


def family(forward, reverse):
    return lambda exp_eps, direction, bits: forward if direction is Direction.FORWARD else reverse


# Coverings.


def test_a_covering_reads_what_it_is_given():
    found = Covering.of(adjacency="zero-out", blanket="largest", min_users=3, group=2)
    assert found == Covering(Adjacency.ZERO_OUT, Blanket.LARGEST, None, 3, None, 2)
    assert isinstance(found.adjacency, Adjacency) and isinstance(found.blanket, Blanket)
    assert found.participation == Participation(3, None, 2)
    dropping = Covering.of(dropout="1/4")
    assert dropping.dropout == F(1, 4) and dropping.participation == Participation(None, F(1, 4), 1)
    nothing = Covering()
    assert nothing == Covering.of() and nothing.participation.everybody
    assert (nothing.min_users, nothing.dropout, nothing.group, nothing.adjacency) == (None, None, None, None)


def test_a_null_symbol_makes_it_zero_out():
    found = Covering.of(null=["1/4", F(3, 4)])
    assert found.null == (F(1, 4), F(3, 4)) and found.adjacency is Adjacency.ZERO_OUT
    assert Covering.of(null=HALF, adjacency="zero-out").adjacency is Adjacency.ZERO_OUT
    with pytest.raises(InputError, match=r"adjacency.*zero-out, where the law of a null symbol is given"):
        Covering.of(null=HALF, adjacency="replace-one")
    with pytest.raises(InputError, match=r"null\[1\]"):
        Covering.of(null=["1/2", "x"])


@pytest.mark.parametrize(
    "wrong", [{"adjacency": "near"}, {"blanket": "no"}, {"min_users": 0}, {"dropout": 1}, {"group": 0}]
)
def test_what_is_no_covering(wrong):
    with pytest.raises(InputError, match=next(iter(wrong))):
        Covering.of(**wrong)


def test_front_doors_show_the_keywords_of_a_covering():
    @spelled_out
    def door(source, *, n, **whom):
        return source, n, whom

    shown = inspect.signature(door).parameters
    assert list(shown) == ["source", "n", "adjacency", "blanket", "null", "min_users", "dropout", "group"]
    assert all(shown[name].kind is inspect.Parameter.KEYWORD_ONLY for name in list(shown)[1:])
    assert all(shown[name].default is None for name in list(shown)[2:])
    assert door(1, n=2, group=3) == (1, 2, {"group": 3})


def test_a_source_without_a_reduction_is_refused():
    class Own(Reducible):
        pass

    with pytest.raises(Unsupported, match="Own registered no reduction"):
        own_reduction(Own(), Covering())


# Reductions.

A, B, C = law(-1, 1), law(-2, 1), law(-3, 2)


def test_the_laws_of_a_family_are_each_once_and_sorted():
    assert laws(family(A, B), F(1), "both", None) == [A, B]
    assert laws(family(A, B), F(1), "reverse", None) == [B]
    assert laws(family(A, B), F(2), Question.FORWARD, None) == [A]
    assert laws(family(law(1, -1), A), F(1), "both", None) == [A]
    odd = Law((F(1), F(0)), (F(1, 4), F(3, 4)), F(1, 8))
    assert laws(family(odd, odd), F(1), "both", None) == [Law((F(0), F(1)), (F(3, 4), F(1, 4)), F(1, 8))]
    with pytest.raises(InputError, match="question"):
        laws(family(A, B), F(1), "all", None)


def test_laws_are_asked_with_ratio_direction_and_bits():
    asked = []

    def made(exp_eps, direction, bits):
        asked.append((exp_eps, direction, bits))
        return A

    assert laws(made, F(3), "both", 77) == [A]
    assert asked == [(F(3), Direction.FORWARD, 77), (F(3), Direction.REVERSE, 77)]
    assert laws(made, F(3), "both", 77) == [A] and len(asked) == 2
    laws(made, F(3), "both", 78)
    assert len(asked) == 4
    assert mixed_laws(made, F(3), "both", 5) == [A] and asked[-1] == (F(3), Direction.REVERSE, 5)
    assert mixed_laws(family("one", "two"), F(1), "both", None) == ["one", "two"]
    assert mixed_laws(family("one", "two"), F(1), "reverse", None) == ["two"]


REAL = Datasets(lambda n: f"of {n}", family(A, B))
TWO = Reduction(
    (
        PairClass("first", family(A, B), inner=family(C, C), datasets=(REAL,), doubles=family(B, B)),
        PairClass("second", family(B, C), mixed=family("m", "m"), datasets=(REAL, REAL), doubles=family(C, B)),
        PairClass("third", None, mixed=family("k", "k"), doubles=family(A, A)),
    )
)


def test_a_reduction_collects_its_classes():
    assert [len(part) for part in (TWO.bounds, TWO.inner, TWO.mixed, TWO.datasets)] == [2, 1, 2, 3]
    assert TWO.laws(F(1), "both", None) == [A, B, C]
    assert TWO.laws(F(1), "forward", None) == [A, B]
    assert TWO.laws(F(1), "reverse", None) == [B, C]


def test_where_the_first_class_spreads_most_it_is_enough():
    said = []

    def first(exp_eps, direction, bits):
        said.append((exp_eps, direction, bits))
        return direction is Direction.FORWARD

    only = replace(TWO, spreads=first)
    assert only.laws(F(2), "forward", 9) == [A]
    assert only.laws(F(2), "reverse", 9) == [B, C]
    assert said == [(F(2), Direction.FORWARD, 9), (F(2), Direction.REVERSE, 9)]
    assert only.laws_in_doubles(F(2), "forward") == [B]


def test_laws_in_doubles_are_those_of_all_classes_or_none():
    assert TWO.laws_in_doubles(F(1), "forward") == [B, C, A]
    assert TWO.laws_in_doubles(F(1), "both") == [B, C, A]

    def undecided(*_):
        raise NotDecided("overlap")

    def broken(*_):
        raise ValueError("something else")

    first = TWO.classes[0]
    assert replace(TWO, classes=(first, replace(first, doubles=None))).laws_in_doubles(F(1), "both") == []
    assert replace(TWO, classes=(first, replace(first, doubles=undecided))).laws_in_doubles(F(1), "both") == []
    with pytest.raises(ValueError, match="something else"):
        replace(TWO, classes=(replace(first, doubles=broken),)).laws_in_doubles(F(1), "both")


def test_a_reduction_says_whom_it_covers():
    found = TWO.neighbours("both", 7)
    assert found == Neighbours("first", False, Adjacency.REPLACE_ONE, Question.BOTH, 7, TWO.theorem)
    who = Participation(5, None, 2)
    named = replace(TWO, pairs="all of them", every=True, first="X0 first", participation=who, adjacency="zero-out")
    assert named.neighbours("forward", 5) == Neighbours(
        "all of them", True, Adjacency.ZERO_OUT, Question.FORWARD, 5, TWO.theorem, "X0 first", who
    )
    with pytest.raises(InputError, match="min_users"):
        named.neighbours("forward", 4)
    with pytest.raises(InputError, match=r"classes.*at least one class"):
        Reduction(())


def test_datasets_alone_cover_nobody_else():
    like = replace(TWO, adjacency="zero-out", every=True, pairs="all", participation=Participation(3, None, 4))
    one = REAL.alone(like)
    assert (one.every, one.adjacency, one.participation) == (False, Adjacency.ZERO_OUT, Participation(3, None, 1))
    assert one.bounds == (REAL.law,) and one.mixed == () and one.classes[0].pairs == "two given datasets"
    assert REAL.finite() is REAL.law
    dense = Datasets(REAL.describe, None, family("m", "m"))
    assert dense.alone(like).mixed == (dense.mixed,) and dense.alone(like).bounds == ()
    with pytest.raises(Unsupported, match="density"):
        dense.finite()


# Answers.


def bracket(low, high, rigour=Rigour.FLOAT64):
    return Bracket(F(low), F(high), rigour, "none", "given")


NEAR = Neighbours("first", False, Adjacency.REPLACE_ONE, Question.BOTH, 7, "theorem")


def test_the_gap_of_an_answer_is_what_no_real_pair_reaches():
    answer = Amplification("delta", bracket(F(1, 4), F(1, 2)), NEAR, Attained(F(1, 8), "these"))
    assert answer.gap == F(3, 4)
    assert replace(answer, attained=None).gap is None
    assert replace(answer, bracket=bracket(0, 0), attained=Attained(F(0), "these")).gap == 0
    assert answer.n == 7 and answer.safe.value == "upper"


def test_an_answer_as_json():
    answer = Amplification("delta", bracket(F(1, 4), F(1, 2)), NEAR, Attained(F(1, 3), "these"))
    found = answer.to_dict()
    assert (float(found["lower"]), float(found["upper"]), found["exact"]) == (0.25, 0.5, None)
    assert (found["relative_width"], found["aimed"], found["safe"]) == (0.5, None, "upper")
    assert (found["rigour"], found["engine"], found["attained_by"]) == ("float64", "none", "these")
    assert F(found["attained_lower"]) < F(1, 3) < F(found["attained_lower"]) + F(1, 10**15)
    assert found["gap"] == "0.333334"
    assert "rounds" not in found
    bare = replace(answer, attained=None, bracket=bracket(0, 0, Rigour.EXACT)).to_dict()
    assert [bare[key] for key in ("attained_lower", "attained_by", "gap", "relative_width")] == [None] * 4
    assert bare["exact"] == "0"
    several = replace(answer, rounds=Composition(5, ((2, 10), (3, None)), (("basic", F(1, 3)),))).to_dict()
    assert several["rounds"] == 5
    assert several["parts"] == [{"rounds": 2, "n": 10}, {"rounds": 3, "n": None}]
    assert F(1, 3) < F(several["simpler"]["basic"]) < F(1, 3) + F(1, 10**15)


# Experiments.


def test_one_round_or_several():
    assert [of_several(one) for one in (RR, rounds(RR, 1), rounds(RR, 2), [rounds(RR, 1), rounds(RR, 1)])] == [
        False, False, True, True,
    ]  # fmt: skip
    alone, dropping = experiment(RR, Covering()), experiment(RR, Covering.of(dropout="1/4"))
    assert isinstance(alone, Reduction) and alone.participation == EVERYBODY
    assert [coarse(one) for one in (alone, dropping, experiment(rounds(RR, 1), Covering()))] == [False, True, False]
    assert coarse(experiment(rounds(RR, 2), Covering()))
    assert coarse(experiment(rounds(RR, 1), Covering.of(dropout="1/4")))
    plan = experiment([rounds(RR, 2, n=5), rounds(RR, 3)], Covering.of(group=2))
    assert [(part.times, part.n, part.source.participation.group) for part in plan.parts] == [(2, 5, 2), (3, None, 2)]


def test_the_width_to_aim_at():
    alone, dropping = experiment(RR, Covering()), experiment(RR, Covering.of(dropout="1/4"))
    two = experiment(rounds(RR, 2), Covering())
    assert width_of(two, 0.5, 1e-6, 1e-2) == width_of(alone, 0.5, 1e-6, 1e-2) == 0.5
    assert width_of(alone, None, 1e-6, 1e-2) == 1e-6
    assert width_of(two, None, 1e-6, 1e-2) == 1e-2
    assert width_of(dropping, None, 1e-6, 1e-2) == 1e-3
    mixed = [rounds(experiment(RR, Covering()), 1)]
    assert width_of(experiment(mixed, Covering()), None, 1e-6, 1e-2) == 1e-6


def test_whom_an_experiment_covers():
    alone = experiment(RR, Covering())
    assert covered_by(alone, 9, Question.BOTH) == alone.neighbours("both", 9)
    assert covered_by(alone, None, Question.FORWARD).users is None
    plan = experiment([rounds(RR, 2, n=12), rounds(RR, 3)], Covering())
    found = covered_by(plan, 20, Question.BOTH)
    assert found.users == 12 and [(times, one.users) for times, one in found.rounds] == [(2, 12), (3, 20)]
    assert covered_by(plan, 9, Question.BOTH).users == 9
    assert covered_by(plan, None, Question.BOTH).users == 12
    once = experiment(rounds(RR, 1, n=4), Covering())
    assert covered_by(once, None, Question.BOTH) == alone.neighbours("both", 4)


def test_what_is_revealed_in_any_round():
    for source, expected in ((RR, False), (REVEALS, True), ([rounds(RR, 2), rounds(REVEALS, 1)], True)):
        assert certain(experiment(source, Covering()), Question.BOTH) is expected


def test_the_distance_of_the_limits():
    """G of randomized response at 3/4 is 2, 0 or -2 with weights 1/4, 1/2, 1/4: its variance is 2."""
    alone = experiment(RR, Covering())
    assert limit_distance(alone, 10, Question.BOTH) == pytest.approx(0.2)
    assert limit_distance(experiment(RR, Covering.of(group=3)), 10, Question.BOTH) == pytest.approx(1.8)
    # One user for certain, and three quarters of nine others.
    assert limit_distance(experiment(RR, Covering.of(dropout="1/4")), 10, Question.BOTH) == pytest.approx(2 / 7.75)
    assert limit_distance(experiment(RR, Covering.of(min_users=4)), 10, Question.BOTH) == pytest.approx(0.5)
    plan = experiment([rounds(RR, 2, n=5), rounds(RR, 3)], Covering())
    assert limit_distance(plan, 10, Question.BOTH) == pytest.approx(2 * 2 / 5 + 3 * 2 / 10)

    def none(*_):
        raise Unsupported("no law")

    nothing = Reduction((PairClass("none", none),))
    assert limit_distance(nothing, 10, Question.BOTH) is None
    both = experiment([rounds(RR, 2), rounds(nothing, 1)], Covering())
    assert limit_distance(both, 10, Question.BOTH) is None


def test_one_round_is_asked_for_as_such():
    """A plan of one round is answered as the round; the level found has the target between its two ends."""
    request = Request.of(rigour="exact")
    for source in (RR, rounds(RR, 1)):
        found = bound_of(experiment(source, Covering()), 3, F(6, 5), request)
        assert found == bound_of(reduction(RR), 3, F(6, 5), request)
    one = smallest_of(experiment(rounds(RR, 1), Covering()), 3, F(1, 5), Request.of(rel=1e-4))
    assert one.how.startswith("root search on delta(eps); at the upper end: ")
    at = [bound_of(reduction(RR), 3, Exp(eps), Request()) for eps in (one.lower, one.upper)]
    assert at[0].upper > F(1, 5) >= at[1].lower
    assert 0 < one.width < F(1, 1000) * one.upper
    several = bound_of(experiment(rounds(RR, 2), Covering()), 3, F(6, 5), Request.of(rel=1e-2))
    assert several.engine == "rounds" and several.lower > found.upper
