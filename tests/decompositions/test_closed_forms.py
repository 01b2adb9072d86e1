"""The closed forms on file are those of the mechanisms, and answer as these do."""

import pickle
import random
import re
import runpy
from fractions import Fraction
from pathlib import Path

import pytest

from symshuffle import Ball, Exp, InputError, NotDecided, Unsupported, delta, randomizer
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.choices import Direction, members
from symshuffle.base.numbers import enclose, lower_end, upper_end
from symshuffle.decompositions import closed_forms, symbolic
from symshuffle.decompositions.calculated import spreads
from symshuffle.decompositions.cells import counted_law
from symshuffle.decompositions.closed_forms import closed_form
from symshuffle.design.comparison.families import names
from symshuffle.mechanisms.affine import affine_hashing
from symshuffle.mechanisms.names import THINNED
from symshuffle.mechanisms.registry import EXAMPLES, LARGE, thinned

F = Fraction
CASES = [
    (name, {key: str(value) for key, value in one.items()})
    for name, form in closed_forms.table().items()
    if not (form["thinned"] or form["defaults"])
    for one in (*EXAMPLES[name], *LARGE.get(name, ()))
]
LEVELS = [
    ("4", F(3, 2)),
    (Exp(F(1)), F(1)),
    (Exp(F(1)), Exp(F(1))),
    ("3", Exp(F(1, 5))),
    ("1", F(6, 5)),
    (Exp(F(1)), Exp(F(1, 10))),
    (Exp(F(2)), Exp(F(1))),
    (Exp(F(1)), F(6, 5)),
]


def test_the_file_is_what_is_derived():
    path = closed_forms.resources.files("symshuffle.decompositions").joinpath(closed_forms.FILE)
    writer = runpy.run_path(str(Path(__file__).parents[2] / "docs" / "closed_forms.py"))
    assert path.read_text(encoding="utf-8") == writer["to_text"](writer["derived"]()), "run `make pages`"
    assert set(names()) == closed_forms.table().keys()


def agree(one, two):
    assert lower_end(one) <= upper_end(two) and lower_end(two) <= upper_end(one)
    assert isinstance(one, F) or not isinstance(two, F)  # quotients may be known to be rational where balls are not
    assert upper_end(one) - lower_end(one) <= F(1, 2**120) * max(1, abs(upper_end(one)))


@pytest.mark.parametrize(("name", "values"), CASES, ids=str)
@pytest.mark.parametrize("direction", list(members(Direction)))
def test_the_laws_are_those_of_the_mechanism(name, values, direction):
    levels = LEVELS if closed_forms.table()[name]["budget"] else [(None, F(3, 2)), (None, Exp(F(1, 3)))]
    if any(len(value) > 3 for value in values.values()):
        levels = levels[-1:]  # rationals of a thousand digits say no more
    for lam, target in levels:
        quick, slow = (
            reduction(one) for one in (closed_form(name, values, lam=lam), randomizer(name).at(lam=lam, **values))
        )
        assert quick.neighbours("both", 9) == slow.neighbours("both", 9)
        assert [one.describe(9) for one in quick.datasets] == [one.describe(9) for one in slow.datasets]
        for found, known in zip(
            (quick.bounds[0], *(one.upper for one in quick.datasets)),
            (slow.bounds[0], *(one.upper for one in slow.datasets)),
            strict=True,
        ):
            same_law(found(target, direction, 256), known(target, direction, 256))


def test_what_no_digits_tell_is_refused_before_algebra():
    """With so many inputs the value is next to 0, and polynomials are too long."""
    law = closed_form("rappor", {"D": "300"}, eps0=1).law_against_null(Exp(F(1, 2)), second=False)
    assert 0 < min(upper_end(value) for value in law.values if lower_end(value) > 0) < F(1, 10**80)
    with pytest.raises(Unsupported, match="eps: expected a level slightly above or below"):
        closed_form("rappor", {"D": "100000"}, eps0=1).law_against_null(Exp(F(1, 2)), second=False)


@pytest.mark.parametrize(("g", "m"), [(2, 1), (2, 3), (5, 2)])
@pytest.mark.parametrize("lam", ["4", Exp(F(1))])
def test_the_hashing_of_surveys_has_the_laws_of_its_mechanism(g, m, lam):
    assert closed_form("affine-hashing", {"g": str(g), "m": str(m)}, lam=lam) is None, "no name on the command line"
    quick = reduction(closed_form("affine-hashing", {"g": str(g), "m": str(m)}, lam=lam, surveys=True))
    slow = reduction(affine_hashing().at(g=g, m=m, lam=lam))
    assert quick.neighbours("both", 9) == slow.neighbours("both", 9)
    for found, known in zip(
        (quick.bounds[0], *(one.upper for one in quick.datasets)),
        (slow.bounds[0], *(one.upper for one in slow.datasets)),
        strict=True,
    ):
        same_law(found(F(6, 5), "forward", 256), known(F(6, 5), "forward", 256))


@pytest.mark.parametrize(("d", "pairs"), [("1", 8), ("2", 4)])
def test_pairs_of_inputs_are_those_of_the_mechanism(d, pairs):
    quick, slow = (
        one("half-block", {"k": "4", "d": d}).input_pairs()
        for one in (lambda n, v: closed_form(n, v, lam=3), lambda n, v: randomizer(n).at(lam=3, **v))
    )
    assert quick == slow and len(quick) == pairs


def same_law(found, known):
    laws = [sorted(law.atoms(), key=lambda atom: lower_end(atom[0])) for law in (found, known)]
    assert len(laws[0]) == len(laws[1])
    for (value, weight), (true, mass) in zip(*laws, strict=True):
        agree(value, true)
        agree(weight, mass)
    agree(found.singular, known.singular)


NULLS = [name for name, form in closed_forms.table().items() if not form["thinned"]]


@pytest.mark.parametrize("name", NULLS)
def test_the_laws_against_a_null_symbol_are_those_of_the_mechanism(name):
    """One example by algebra, which takes long; at half the budget the ratio of a bit is the level."""
    left = [closed_forms.table()[name]["by"]]  # the pair of a mechanism whose pairs differ is left open
    values = {key: str(value) for key, value in EXAMPLES[name][-1].items() if key not in left}
    levels = [*LEVELS[:3], (Exp(F(2)), Exp(F(1)))]
    for lam, target in levels if closed_forms.table()[name]["budget"] else [(None, F(3, 2))]:
        both = closed_form(name, values, lam=lam), randomizer(name).at(lam=lam, **values)
        quick, slow = (reduction(one, adjacency="zero-out") for one in both)
        assert quick.neighbours("both", 9) == slow.neighbours("both", 9)
        assert [one.pairs for one in quick.classes] == [one.pairs for one in slow.classes]
        for found, known in zip(quick.bounds, slow.bounds, strict=True):
            if name == "identity":
                for law in (found, known):
                    with pytest.raises(Unsupported, match="blanket of identity has no mass"):
                        law(target, "forward", 256)
                continue
            for direction in members(Direction):
                same_law(found(target, direction, 256), known(target, direction, 256))


@pytest.mark.parametrize("lam", ["3", Exp(F(1))])
@pytest.mark.parametrize("k", [2, 6, 10])
def test_classes_of_pairs_are_those_of_the_mechanism(k, lam):
    """With d open every class is covered, and where the law rises with d the largest one is enough."""
    quick, slow = (
        reduction(one)
        for one in (closed_form("half-block", {"k": str(k)}, lam=lam), randomizer("half-block").at(lam=lam, k=k))
    )
    assert quick.neighbours("both", 9) == slow.neighbours("both", 9)
    assert [one.pairs for one in quick.classes] == [one.pairs for one in slow.classes]
    assert [one.describe(9) for one in quick.datasets] == [one.describe(9) for one in slow.datasets]
    assert quick.spreads(F(6, 5), "forward", 128) and slow.spreads(F(6, 5), "forward", 128)
    for found, known in zip(quick.bounds, slow.bounds, strict=True):
        for one, two in zip(
            *(sorted(f(F(6, 5), "reverse", 256).atoms(), key=lambda a: lower_end(a[0])) for f in (found, known)),
            strict=True,
        ):
            agree(one[0], two[0])
            agree(one[1], two[1])


def test_a_measure_that_moves_mass_inwards_spreads_nothing():
    outwards = [(F(-1), F(1)), (F(0), F(-2)), (F(1), F(1))]
    assert spreads(outwards)
    assert not spreads([(value, -weight) for value, weight in outwards])


def test_differences_vanish_where_the_levels_agree():
    quick, slow = (
        reduction(one) for one in (closed_form("krr", {"k": "10"}, eps0=1), randomizer("krr").at(k=10, eps0=1))
    )
    same = [one.laws(Exp(F(1)), "forward", 128) for one in (quick, slow)]
    for laws in same:
        assert F(0) in laws[0].values  # lam - exp(eps), exactly
    for one, two in zip(same[0][0].atoms(), same[1][0].atoms(), strict=True):
        agree(one[0], two[0])
        agree(one[1], two[1])
    law = closed_form("rappor", {}, eps0=1).law(F(1))
    assert law.values.count(F(0)) == 1  # lam - lam exp(eps) and 1 - exp(eps), with the left-over


def test_a_weight_that_vanishes_for_every_ratio_is_none():
    form = closed_form("rappor", {"D": "2"}, eps0=1)
    law = form.law(Exp(F(1, 10)))  # no string has both bits of a pair set: its weight is 0
    assert len(law.values) == len(closed_form("rappor", {"D": "2"}, lam=4).law(F(6, 5)).values)
    assert delta(form, n=20, eps="0.1").bracket == delta(randomizer("rappor").at(D=2, eps0=1), n=20, eps="0.1").bracket


def test_a_ball_around_zero_gets_more_digits():
    """A ratio cap next to e: 128 bits do not tell its difference from e, which is not 0."""
    form = closed_form("krr", {"k": "10"}, lam=enclose(Exp(F(1)), 400).upper)
    with pytest.raises(NotDecided):
        counted_law(form, Exp(F(1)), "forward", bits=128)
    for bits in (128, 512):
        assert all(value != 0 for value, _ in form.law(Exp(F(1)), bits=bits).atoms() if not isinstance(value, F))


@pytest.mark.parametrize(
    ("name", "values", "budget"),
    [
        ("krr", {}, {"eps0": 1}),
        ("krr", {"k": "1"}, {"eps0": 1}),
        ("krr", {"k": "5/2"}, {"eps0": 1}),
        ("krr", {"k": "ten"}, {"eps0": 1}),
        ("krr", {"k": "10", "s": "1"}, {"eps0": 1}),
        ("krr", {"k": "10"}, {}),
        ("krr", {"k": "10"}, {"eps0": 1, "lam": 3}),
        ("krr", {"k": str(10**15 + 1)}, {"eps0": 1}),
        ("subset-selection", {"k": "5", "s": "5"}, {"eps0": 1}),
        ("subset-selection", {"k": "5", "s": "0"}, {"eps0": 1}),
        ("aug-rr", {"k": "5", "p": "11/10"}, {"eps0": 1}),
        ("identity", {"k": "5"}, {"eps0": 1}),
        ("half-block", {"k": "5", "d": "1"}, {"eps0": 1}),
        ("half-block", {"k": "4", "d": "3"}, {"eps0": 1}),
        ("half-block", {"d": "1"}, {"eps0": 1}),
        ("hadamard", {"D": "6"}, {"eps0": 1}),
        ("constant", {"k": "1"}, {}),
        ("thinned oue", {"D": "4", "p": "1/2"}, {"eps0": 1}),
        ("nonsense", {}, {"eps0": 1}),
    ],
)
def test_what_is_in_doubt_is_left_to_the_mechanism(name, values, budget):
    assert closed_form(name, values, **budget) is None


def test_a_default_is_a_value():
    form = closed_form("constant", {})
    assert form.values == (("k", "2"),)
    assert form.law(F(6, 5)) == reduction(randomizer("constant").with_defaults()).laws(F(6, 5), "forward", None)[0]


def test_random_values_give_the_same_exact_law():
    chance = random.Random(5)
    for _ in range(20):
        k = chance.randint(3, 30)
        values = {"k": str(k), "s": str(chance.randint(1, k - 1))}
        lam = F(chance.randint(11, 90), 10)
        form = closed_form("subset-selection", values, lam=lam)
        found = reduction(form).laws(F(11, 10), "both", None)
        assert found == reduction(form.mechanism()).laws(F(11, 10), "both", None)
        assert all(isinstance(v, F) and not isinstance(v, Ball) for law in found for v in law.values)


@pytest.mark.parametrize("name", names())
def test_no_algebra_is_needed_for_a_mechanism_with_a_name(name, monkeypatch):
    """Its laws come from the file. No public door shows who derived them: the derivation is taken away."""
    base = name.removeprefix(THINNED)
    values = {**EXAMPLES[base][-1], **({"p": "1/2"} if name.startswith(THINNED) else {})}
    whole = randomizer(base) if base == name else thinned(base)
    budget = {"lam": 3} if any(p.name == "lam" for p in whole.parameters) else {}
    pairs = [whole.at(**budget, **values).at_pairs(kind) for kind in whole.at(**budget, **values).pair_kinds()]
    with monkeypatch.context() as without:
        without.setattr(symbolic, "_far_out", None)
        symbolic._calculated.cache_clear()
        quick = [symbolic.quick_law(one, F(6, 5), bits=64) for one in pairs]
    for one, law in zip(pairs, quick, strict=True):
        derived = symbolic.counted_decomposition(one).law(F(6, 5))
        for mine, other in ((law.values, derived.values), (law.weights, derived.weights)):
            assert len(mine) == len(other)
            for x, y in zip(sorted(mine, key=lower_end), sorted(other, key=lower_end), strict=True):
                assert lower_end(x) <= upper_end(y) and lower_end(y) <= upper_end(x)


def test_a_mechanism_is_reduced_once():
    at = randomizer("rappor").at(D=10, eps0=1)
    assert reduction(at) is reduction(pickle.loads(pickle.dumps(at)))


SMALL = [(name, values) for name, values in CASES if all(len(value) < 2 for value in values.values())]


@pytest.mark.parametrize(("name", "values"), SMALL, ids=str)
def test_the_channels_are_those_of_the_mechanism(name, values):
    """Where a channel is not written out, both are refused in the same words."""
    for lam in ("4", Exp(F(1, 2))) if closed_forms.table()[name]["budget"] else (None,):
        form, whole = closed_form(name, values, lam=lam), randomizer(name).at(lam=lam, **values)
        try:
            true = whole.channel()
        except (InputError, Unsupported) as error:
            with pytest.raises(type(error), match=re.escape(str(error))):
                form.channel()
            continue
        found = form.channel()
        assert form.shape == (found.num_inputs, found.num_outputs) == (whole.inputs, whole.num_outputs)
        assert len(found.rows) == len(true.rows)
        for one, other in zip(found.rows, true.rows, strict=True):
            for entry, known in zip(one, other, strict=True):
                agree(entry, known)
