"""The definitions are those of the literature: channels written out here by hand, laws by enumeration of messages.

Nothing of the library is asked about a randomizer but its answer. Messages here are those that a client sends, as a
hash function with a value; messages that all inputs send with proportional probabilities are one message.
"""

import itertools
import random
from fractions import Fraction as F

import pytest
from mpmath import mp

from symshuffle import Exp
from symshuffle.base.numbers import lower_end, upper_end
from symshuffle.decompositions.closed_forms import ClosedForm

PROPER = ("1/7", "1/3", "1/2", "5/6")


def response(lam, k):
    """Warner (1965); Kairouz, Bonawitz, Ramage (2016): the truth ``lam`` times as likely as each other symbol."""
    return [[(lam if x == y else lam**0) / (lam + k - 1) for y in range(k)] for x in range(k)]


def scaled(rows):
    """Rows from weights: each input's weights divided by their sum."""
    return [[weight / sum(row) for weight in row] for row in rows]


def with_null(rows, p):
    return [[p * entry for entry in row] + [1 - p] for row in rows]


def rr(lam):
    return response(lam, 2)


def krr(lam, k):
    return response(lam, k)


def subset_selection(lam, k, s):
    """Ye and Barg (2018): a subset of s symbols, exp(eps0) times as likely if it has the input."""
    subsets = list(itertools.combinations(range(k), s))
    return scaled([[lam if x in subset else lam**0 for subset in subsets] for x in range(k)])


def aug_rr(lam, k, p):
    return with_null(response(lam, k), p)


def half_block(lam, k, d):
    """Half cycles: the points x, x + 1, ..., x + k/2 - 1 are ``lam`` times as likely."""
    near = [{(x + step) % k for step in range(k // 2)} for x in range(k)]
    return scaled([[lam if y in near[x] else lam**0 for y in range(k)] for x in range(k)])


def identity(k):
    return [[F(x == y) for y in range(k)] for x in range(k)]


def constant(k):
    return [[F(1)] for _ in range(k)]


def erasure(k, p):
    return with_null(identity(k), 1 - p)


def bits(own, other, length):
    """Independent bits: the input's own one is 1 with probability ``own``, each other one with ``other``."""
    rows = []
    for x in range(length):
        ones = [own if place == x else other for place in range(length)]
        row = [own**0]
        for one in ones:
            row = [before * chance for before in row for chance in (one, 1 - one)]
        rows.append(row)
    return rows


def rappor(lam, D):
    """Erlingsson, Pihur, Korolova (2014), one time: the one-hot string with every bit flipped at exp(eps0/2)."""
    root = next(r for r in map(F, ROOTS) if r * r == lam) if isinstance(lam, F) else mp.sqrt(lam)
    return bits(root / (root + 1), 1 / (root + 1), D)


def oue(lam, D):
    """Wang, Blocki, Li, Jha (2017), optimized unary encoding: p = 1/2, q = 1/(exp(eps0) + 1)."""
    return bits(lam**0 / 2, 1 / (lam + 1), D)


def olh(lam, g, D):
    """The same, local hashing: a uniform function to g values, with g-ary randomized response to the input's value."""
    functions, told = list(itertools.product(range(g), repeat=D)), response(lam, g)
    return [[told[h[x]][v] / g**D for h in functions for v in range(g)] for x in range(D)]


def blh(lam, D):
    return olh(lam, 2, D)


def hadamard(lam, D):
    """Acharya, Sun, Zhang (2019): a row of Sylvester's matrix; input x has column x + 1."""
    matrix = [[1]]
    while len(matrix) < D:
        matrix = [row + row for row in matrix] + [row + [-entry for entry in row] for row in matrix]
    return scaled([[lam if matrix[y][x] > 0 else lam**0 for y in range(D)] for x in range(1, D)])


def affine_hashing(lam, g, m):
    """Local hashing by the functions a x + b over GF(g), g a prime."""
    points, told = list(itertools.product(range(g), repeat=m)), response(lam, g)
    hashes = [(a, b) for a in points for b in range(g)]
    return [
        [
            told[(sum(i * j for i, j in zip(a, x, strict=True)) + b) % g][v] / len(hashes)
            for a, b in hashes
            for v in range(g)
        ]
        for x in points
    ]


ROOTS = ("1", "9/8", "3/2", "2", "7/2", "11")
"""Roots of ratio caps, so that laws of every randomizer are rational."""
WRITTEN = {
    "rr": (rr, {}),
    "krr": (krr, {"k": range(2, 9)}),
    "subset-selection": (subset_selection, {"k": range(3, 7), "s": range(1, 6)}),
    "aug-rr": (aug_rr, {"k": range(2, 7), "p": PROPER}),
    "half-block": (half_block, {"k": (2, 4, 6, 8, 10), "d": range(1, 6)}),
    "identity": (identity, {"k": range(2, 7)}),
    "constant": (constant, {"k": range(2, 7)}),
    "erasure": (erasure, {"k": range(2, 7), "p": PROPER}),
    "rappor": (rappor, {"D": range(2, 7)}),
    "oue": (oue, {"D": range(2, 7)}),
    "blh": (blh, {"D": range(2, 6)}),
    "olh": (olh, {"g": (2, 3, 4, 5), "D": range(2, 5)}),
    "hadamard": (hadamard, {"D": (4, 8, 16)}),
    "affine-hashing": (affine_hashing, {"g": (2, 3, 5), "m": (1, 2)}),
}
WITHOUT_BUDGET = ("identity", "constant", "erasure")
HIGHEST = {"s": lambda v: v["k"] - 1, "d": lambda v: v["k"] // 2}
THIN = ("subset-selection", "rappor", "oue", "blh", "olh", "hadamard")


def number(value):
    """A rational as mpmath has it."""
    return mp.mpf(value.numerator) / value.denominator


def drawn(name, chance, budget=None):
    """A closed form with its channel written out, at drawn values: the ratio cap drawn too, or exp of a number."""
    base, thin = name.removeprefix("thinned "), name.startswith("thinned ")
    channel, ranges = WRITTEN[base]
    values = {}
    for key, range_ in ranges.items():
        allowed = [v for v in range_ if key not in HIGHEST or v <= HIGHEST[key](values)]
        value = chance.choice(allowed)
        values[key] = F(value) if isinstance(value, str) else value
    lam = None if base in WITHOUT_BUDGET else F(chance.choice(ROOTS)) ** 2
    at = lam
    if budget is not None and lam is not None:
        lam, at = Exp(budget), mp.exp(number(budget))
    told = values if budget is None else {key: number(v) if isinstance(v, F) else v for key, v in values.items()}
    rows = channel(**told) if lam is None else channel(at, **told)
    assert all(abs(sum(row) - 1) <= (0 if budget is None else mp.mpf(10) ** -50) for row in rows)
    if thin:
        values["p"] = F(chance.choice(PROPER))
        rows = with_null(rows, values["p"] if budget is None else number(values["p"]))
    return ClosedForm(name, tuple((key, str(value)) for key, value in values.items()), lam), values, rows


def merged(columns):
    """Messages that tell the same about the input, together: proportions over the inputs, and their weight."""
    found = {}
    for column in columns:
        weight = sum(column)
        if weight:
            key = tuple(F(entry) / weight for entry in column)
            found[key] = found.get(key, 0) + weight
    return found


def law_of(first, second, charge, x):
    """The law of (first - x second)/charge over what is charged, with mass 0 added up to 1, and what is not charged."""
    atoms, singular = {}, F(0)
    for a, b, c in zip(first, second, charge, strict=True):
        if c:
            value = (a - x * b) / c
            atoms[value] = atoms.get(value, 0) + c
        else:
            singular += max(0, a - x * b)
    left = 1 - sum(charge)
    if left:
        atoms[F(0)] = atoms.get(F(0), 0) + left
    return atoms, singular


def counted(law):
    assert all(isinstance(number, F) for atom in law.atoms() for number in atom), "rational, not enclosed"
    return dict(law.atoms()), law.singular


def compared(name, values):
    """The two inputs that the closed form is about."""
    return 0, values["d"] if name == "half-block" else 1


NAMES = (*WRITTEN, *(f"thinned {name}" for name in THIN))


@pytest.mark.parametrize("name", NAMES)
def test_channels_are_those_of_the_literature(name):
    chance = random.Random(f"channel {name}")
    for _ in range(4):
        form, _, rows = drawn(name, chance)
        found = form.channel()
        assert merged(zip(*found.rows, strict=True)) == merged(zip(*rows, strict=True)), form


@pytest.mark.parametrize("name", NAMES)
def test_laws_are_those_of_enumerated_messages(name):
    chance = random.Random(f"law {name}")
    for _ in range(8):
        form, values, rows = drawn(name, chance)
        x = chance.choice([F(1), form.lam or F(1), F(chance.randint(9, 40), 8)])
        i, j = compared(name, values)
        blanket = [min(column) for column in zip(*rows, strict=True)]
        held = {"blanket": blanket, "first": rows[i], "second": rows[j]}
        if "third" in form.backgrounds:
            held["third"] = next(row for z, row in enumerate(rows) if z not in (i, j))
        for others, charge in held.items():
            assert counted(form.law(x, others=others)) == law_of(rows[i], rows[j], charge, x), (form, others)
            found = form.law(x, others=others, direction="reverse")
            assert counted(found) == law_of(rows[j], rows[i], charge, x), (form, others)
        mass = sum(blanket)
        if not mass:
            continue
        null = [entry / mass for entry in blanket]
        for second in (False, True):
            row = rows[j if second else i]
            found = [form.law_against_null(x, second=second, direction=way) for way in ("forward", "reverse")]
            assert counted(found[0]) == law_of(row, null, blanket, x), (form, second)
            assert counted(found[1]) == law_of(null, row, blanket, x), (form, second)


@pytest.mark.parametrize("name", ["rappor", "oue", "blh", "olh"])
def test_an_unbounded_domain_has_independent_bits_beside_the_pair(name):
    """Of infinitely many bits some are 0 for sure: the least likely input of a string has its own bit at 0."""
    chance = random.Random(f"limit {name}")
    for _ in range(8):
        root, g, x = F(chance.choice(ROOTS[1:])), chance.randint(2, 9), F(chance.randint(9, 40), 8)
        lam = root**2
        own, other = {
            "rappor": (root / (root + 1), 1 / (root + 1)),
            "oue": (F(1, 2), 1 / (lam + 1)),
            "blh": (lam / (lam + 1), F(1, 2)),
            "olh": (lam / (lam + g - 1), F(1, g)),
        }[name]
        chances, seen = (1 - other, other), ((1 - own) / (1 - other), own / other)
        pairs = list(itertools.product((0, 1), repeat=2))
        first = [chances[i] * chances[j] * seen[i] for i, j in pairs]
        second = [chances[i] * chances[j] * seen[j] for i, j in pairs]
        least = [chances[i] * chances[j] * seen[0] for i, j in pairs]
        form = ClosedForm(name, (("g", str(g)),) if name == "olh" else (), lam)
        assert counted(form.law(x)) == law_of(first, second, least, x), form


def rounded(atoms):
    """Masses by value to 30 digits, without the masses that are rounding alone, or a left-over of 0."""
    found = {}
    for value, mass in atoms:
        key = mp.nstr(value, 30) if value and abs(value) > mp.mpf(10) ** -40 else "0"
        found[key] = found.get(key, 0) + mass
    return {key: mp.nstr(mass, 30) for key, mass in found.items() if abs(mass) > mp.mpf(10) ** -40}


def middle(end):
    assert upper_end(end) - lower_end(end) < F(1, 10**50)
    return number(lower_end(end))


@pytest.mark.parametrize("name", [name for name in NAMES if name.removeprefix("thinned ") not in WITHOUT_BUDGET])
def test_laws_at_a_budget_are_those_of_enumerated_messages(name):
    """Ratio caps are exponentials here, and levels may be their powers: what is no difference is exactly 0."""
    chance = random.Random(f"budget {name}")
    with mp.workdps(60):
        for _ in range(4):
            budget = F(chance.randint(1, 12), 4)
            level = chance.choice([F(0), budget / 2, budget, F(1, 3)])
            form, values, rows = drawn(name, chance, budget)
            x, (i, j) = mp.exp(number(level)), compared(name, values)
            for others, charge in {"blanket": [min(c) for c in zip(*rows, strict=True)], "second": rows[j]}.items():
                atoms, _ = law_of(rows[i], rows[j], charge, x)
                found = form.law(Exp(level), others=others, bits=256)
                assert rounded((middle(v), middle(m)) for v, m in found.atoms()) == rounded(atoms.items()), form
