"""Formulas at values of some parameters, from the file, are the functions that algebra derives there.

Algebra may leave a component in place whose weight is 0 at the values, written as a difference; the file leaves it out.
"""

import itertools
import random
import re
from fractions import Fraction as F

import pytest
from mpmath import mp

from symshuffle import Exp, InputError, Unsupported, randomizer
from symshuffle.decompositions.closed_forms import ClosedForm, table
from symshuffle.decompositions.quotient_texts import QuotientTexts
from symshuffle.decompositions.shown import shown_at, shown_decomposition
from symshuffle.mechanisms.registry import EXAMPLES
from symshuffle.utility import law_formulas
from symshuffle.utility.frontiers.filed_laws import law_at
from tests.slices import marked

NAMED = [name for name, form in table().items() if not form["thinned"]]
LEVELS = [{}, {"lam": "3"}, {"lam": "4"}, {"lam": "9/4"}, {"lam": "1"}, {"eps0": "1"}, {"eps0": "2/3"}]
POINT = {
    "lambda": F(81, 16), "k": 12, "s": 5, "d": 3, "D": 16, "g": 5, "p": F(2, 7), "x": F(5, 4), "n": 7, "eps": F(1, 3),
}  # fmt: skip
EACH = pytest.mark.parametrize(("name", "most"), [each for name in NAMED for each in ((name, 9), marked((name, 999)))])
"""Some of the choices of values of a mechanism; all of them in the marked rows."""


def choices(name, examples, most):
    """Values of some parameters, all of them among these, at several levels: at most so many, drawn by seed."""
    levels, found = LEVELS if table()[name]["budget"] else LEVELS[:1], []
    for example in examples:
        given = {key: str(value) for key, value in example.items()}
        for chosen in itertools.chain.from_iterable(itertools.combinations(given, r) for r in range(len(given) + 1)):
            values = {key: given[key] for key in chosen}
            if "k" in values or not {"s", "d"} & values.keys():
                found += [(values, level) for level in levels if values or level]
    return random.Random(name).sample(found, min(most, len(found)))


def value(text):
    """The value of a formula at a point inside the ranges, to 40 digits."""
    known = {name: mp.mpf(number.numerator) / number.denominator for name, number in POINT.items()}
    known |= {"sqrt": mp.sqrt, "exp": mp.exp, "Max": max, "binomial": mp.binomial, "mpf": mp.mpf, "__builtins__": {}}
    known["lambda_"] = known.pop("lambda")
    known["Sum"] = lambda summand, ends: mp.fsum(summand(mp.mpf(c)) for c in range(int(ends[2]) + 1))
    python = re.sub(r"\b(\d+)\b", r"mpf(\1)", re.sub(r"\blambda\b", "lambda_", text))
    python = python.replace("Sum(", "Sum(lambda c: ").replace("(c, mpf(0), ", "(0, 0, ")
    return eval(python, known)  # noqa: S307  # texts of this library


@pytest.fixture(autouse=True)
def _forty_digits():
    with mp.workdps(40):
        yield


def agree(one, two):
    if None in (one, two) or "oo" in (one, two):
        assert one == two
    else:
        assert abs(value(one) - value(two)) <= 1e-25 * max(1, abs(value(two))), (one, two)


def counted(law):
    """Masses of templates that are rearrangements of each other, by numbers of coordinates of each value."""
    found = {}
    for one in law:
        levels = {}
        for level in one["levels"]:
            at = mp.nstr(value(level["value"]), 25)
            levels[at] = levels.get(at, 0) + value(level["coordinates"])
        key = tuple(sorted(levels.items()))
        found[key] = found.get(key, 0) + value(one["mass"])
    return found


@EACH
def test_decompositions_at_values_are_those_that_are_derived(name, most):
    first, second = EXAMPLES[name][0], EXAMPLES[name][-1]  # sizes of 2 are special
    for values, level in choices(name, (first, second) if len(first) < 2 else (second,), most):
        told = shown_at(ClosedForm.read(name, values, **level))
        derived = shown_decomposition(randomizer(name).at(**level, **values))
        assert (told.name, told.title, told.pair, told.inputs) == (
            *(derived.name, derived.title, derived.pair, derived.inputs),
        )
        assert told.lines[1:] == derived.lines[1:]
        cells = [cell for cell in derived.cells if any(abs(value(text)) > 1e-25 for text in cell)]
        law = [atom for atom in derived.law if atom[0] == "0" or abs(value(atom[1])) > 1e-25]
        for mine, theirs in zip(told.cells + told.law, cells + law, strict=True):
            for one, two in zip(mine, theirs, strict=True):
                agree(one, two)
        for field in ("beta", "gamma", "singular"):
            agree(getattr(told, field), getattr(derived, field))
        assert told.latex.count("{") == told.latex.count("}") and "lambda" not in told.latex.replace(r"\lambda", "")


@EACH
def test_formulas_of_a_law_at_values_are_those_that_are_derived(name, most):
    for values, level in choices(name, EXAMPLES[name][1:2], most):
        numbers = (5, Exp(F(1, 3)), "exp(1/3)")
        for n, gamma, order in ((None, None, None), numbers)[: 1 + ("eps0" in level)]:
            at = ClosedForm.read(name, values, **level)
            if not at.left:
                continue
            told = law_at(at, n, order)
            given = {} if n is None else {"n": n, "gamma": gamma}
            derived = law_formulas(randomizer(name).at(**level, **values), **given)
            known = derived.to_dict()
            assert told["name"] == repr(derived.mechanism)
            assert told["answer"].keys() == known.keys() and told["answer"]["refused"] == known["refused"]
            for key in told["words"]:
                agree(told["answer"][key], known[key])
            mine, theirs = counted(told["answer"]["law"]), counted(known["law"])
            assert mine.keys() == theirs.keys()
            assert all(abs(mine[levels] - theirs[levels]) <= mp.mpf(10) ** -25 for levels in mine)


Q = r"Q_{1} & "


@pytest.mark.parametrize(
    ("name", "values", "level", "line"),
    [
        ("krr", {"k": "10"}, {}, Q + r"\frac{\lambda}{\lambda + 9} & \frac{1}{\lambda + 9} & \frac{1}{\lambda + 9} \\"),
        ("rr", {}, {"eps0": "1"}, r"\text{left-over} & 0 & 0 & \frac{e^{1} - 1}{e^{1} + 1}"),
        ("oue", {}, {"lam": "4"}, r"\text{left-over} & 0 & 0 & \frac{3 \left(5^{D} - 5\right)}{8 \cdot 5^{D}}"),
        ("rappor", {"D": "2"}, {"lam": "4"}, Q + r"\frac{4}{9} & \frac{1}{9} & \frac{1}{9} \\"),
    ],
)
def test_latex_is_a_table(name, values, level, line):
    assert line in shown_at(ClosedForm.read(name, values, **level)).latex.split("\n")


def test_what_is_no_quotient_is_refused():
    reader = QuotientTexts({}, None, root=False)
    refused = {
        "sqrt(k)": "roots are known of the ratio cap only",
        "(1 - lam)**D": "a power with an open exponent has a base",
        "(x + 1)**D": "a power of a target ratio has an open exponent",
        "lam**(1/k)": "an exponent is no",
        "lam**(D*k)": "an exponent is no",
    }
    for text, reason in refused.items():
        with pytest.raises(Unsupported, match=reason):
            reader.read(text)
    with pytest.raises(ZeroDivisionError):
        reader.read("1/(lam - lam)")
    with pytest.raises(InputError, match="sums, products, powers and roots"):
        reader.read("log(lam)")
    assert reader.read("2**D*2") == reader.read("2**(D + 1)") != reader.read("2**D")
    assert hash(reader.read("lam - 1")) == hash(reader.read("(lam**2 - 1)/(lam + 1)"))
