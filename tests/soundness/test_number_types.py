"""A number of any type is read as the rational that it is, and tables of every type as the matrices that they hold."""

import math
from decimal import Decimal
from fractions import Fraction as F

import flint
import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given
from hypothesis import strategies as st

from symshuffle import (
    Ball,
    Channel,
    InputError,
    delta,
    epsilon,
    joint,
    parallel,
    privacy_loss_distribution,
    randomizer,
    renyi,
    subsample,
)
from symshuffle.base.numbers import as_integer, as_number, parse_number, parse_rational, read_law
from symshuffle.channels import direct_sum
from symshuffle.mechanisms import Mechanism
from symshuffle.mechanisms.symbolic import LAM

HALF = F(1, 2)
K = sp.Symbol("k", positive=True)
DOUBLES = st.floats(allow_nan=False, allow_infinity=False)


@given(DOUBLES)
def test_doubles_are_the_decimals_that_they_show(x):
    assert (
        parse_rational(x, "x") == parse_rational(np.float64(x), "x") == parse_rational(np.array(x), "x") == F(repr(x))
    )


@given(DOUBLES, st.sampled_from([np.float32, np.float16, np.longdouble]))
def test_other_widths_of_numpy_are_their_values(x, width):
    with np.errstate(over="ignore"):
        value = width(x)
    if np.isfinite(value):
        assert parse_rational(value, "x") == F(*value.as_integer_ratio()) == parse_rational(np.array(value), "x")


@given(st.fractions(min_value=-(10**6), max_value=10**6), st.integers(4, 200))
def test_numbers_of_other_libraries_are_their_values(x, bits):
    n, d = x.numerator, x.denominator
    with mpmath.workprec(bits):
        near = mpmath.mpf(n) / d
    exact = (
        F(*map(int, near.as_integer_ratio()))
        if hasattr(near, "as_integer_ratio")
        else F(int(near.man)) * F(2) ** near.exp
    )
    real = sp.Float(near)
    with flint.ctx.workprec(bits):
        mid = (flint.arb(n) / d).mid()
    mantissa, exponent = map(int, mid.man_exp())
    assert parse_rational(near, "x") in (exact, -exact) and (parse_rational(near, "x") < 0) == (x < 0)
    assert parse_rational(real, "x") == F(*(int(part) for part in sp.Rational(real).as_numer_denom()))
    assert parse_rational(mid, "x") == F(mantissa) * F(2) ** exponent
    assert parse_rational(flint.fmpq(n, d), "x") == parse_rational(sp.Rational(n, d), "x") == x
    assert parse_rational(Ball(x, x), "x") == x


@given(st.decimals(allow_nan=False, allow_infinity=False, min_value=-(10**9), max_value=10**9))
def test_decimals_are_their_values(x):
    assert parse_rational(x, "x") == F(x)


def test_numbers_of_a_few_printed_digits_are_not_what_is_printed():
    for value in (np.float32(1.7), np.float16(1.7), mpmath.mpf(1) / 3, sp.Rational(1, 3).evalf(), Decimal(1) / 3):
        assert parse_rational(value, "x") != F(str(value)) or F(str(value)) == F(value)
    assert parse_rational(np.float32(0.1), "x") == F(13421773, 134217728)


@pytest.mark.parametrize(
    "value",
    [
        *(True, np.bool_(False), math.nan, math.inf, np.float32("inf"), np.longdouble("nan"), Decimal("nan")),
        *(Decimal("-Infinity"), Decimal("1e99999999"), mpmath.inf, mpmath.nan, mpmath.mpf(2) ** 10**9, mpmath.mpc(1)),
        *(sp.log(3), sp.sqrt(5), sp.oo, sp.nan, sp.I, sp.Symbol("x"), flint.arb("1 +/- 1"), flint.arb("nan")),
        *(
            1j,
            b"1",
            None,
            [],
            [1],
            {1},
            np.array([0.5]),
            np.array([1, 2]),
            np.ma.masked,
            object(),
            np.datetime64("2020"),
        ),
        *(
            "",
            "1_0",
            "1__0",
            "1_00",
            "+ 1",
            "1 0",
            "1/ 2",
            "\N{FULLWIDTH DIGIT ONE}",
            "1/2/3",
            "10%",
            "\N{MINUS SIGN}1",
            "1,5",
            "0x1",
            "exp(1)",
            "1e4000",
        ),
        Ball(F(0), F(1)),
    ],
    ids=lambda value: "object" if type(value) is object else repr(value),
)
def test_what_is_no_rational_number_is_refused(value):
    for read in (parse_rational, lambda value, name: as_integer(value, name, -9)):
        with pytest.raises(InputError):
            read(value, "x")


def test_balls_of_flint_are_balls():
    wide = flint.arb("0.5 +/- 0.25")
    for read in (parse_number, as_number):
        found = read(wide, "x")
        assert isinstance(found, Ball) and found.lower <= F(1, 4) and found.upper >= F(3, 4)
        assert read(flint.arb(1) / 4, "x") == F(1, 4)


def test_a_mechanism_is_at_the_number_that_a_budget_is():
    for value in (np.float32(1.7), np.float32(2.9), mpmath.mpf("1.7"), sp.Float("1.7", 5), np.longdouble("1.7")):
        exact = parse_rational(value, "eps0")
        one, other = (randomizer("krr").at(k=3, eps0=level) for level in (value, exact))
        assert one.fixed == other.fixed
        assert delta(one, n=100, eps="1/2").bracket == delta(other, n=100, eps="1/2").bracket


ROWS = (("0.3", "0.7"), ("0.30000000000001", "0.69999999999999"))
NULLS = {
    "texts": ("0.3", "0.7"),
    "doubles": (0.3, 0.7),
    "array": np.array([0.3, 0.7]),
    "decimals": (Decimal("0.3"), Decimal("0.7")),
    "mixed": ("3/10", 0.7),
    "rationals": (F(3, 10), F(7, 10)),
    "iterator": iter((0.3, 0.7)),
}


@pytest.mark.parametrize("null", NULLS.values(), ids=NULLS)
def test_a_null_symbol_is_read_as_a_row(null):
    found = delta(ROWS, n=3, exp_eps=1, null=null)
    assert found.bracket.upper >= F(49, 10**16) and found.bracket == delta(ROWS, n=3, exp_eps=1, null=ROWS[0]).bracket


def test_a_null_symbol_of_rounded_numbers_widens_the_answer_as_a_row_does():
    exact = [[HALF, F(1, 4), F(1, 4)], [F(1, 4), HALF, F(1, 4)]]
    for third in (0.333, "0.333", np.float32(1 / 3), Decimal(1) / 3, mpmath.mpf(1) / 3):
        null = [third] * 3
        row = Channel.from_rows([null])
        found = delta(exact, n=5, eps="0.1", null=null)
        assert (row.rounding is None) == (found.neighbours.rounding is None) == (found.every_matrix is None)
        if row.rounding is not None:
            assert found.neighbours.rounding == row.rounding and found.every_matrix > found.bracket.upper
            assert row.rounding.row >= abs(3 * parse_rational(third, "x") - 1) / 2
    rounded = Channel.from_rows([[0.333] * 3, [0.25, 0.25, 0.5]])
    together = delta(rounded, n=5, eps="0.1", null=[0.34, 0.33, 0.34])
    assert together.neighbours.rounding.row == max(rounded.rounding.row, read_law([0.34, 0.33, 0.34], "n")[1].row)


@pytest.mark.parametrize("null", ["10", b"10", {1: 0, 0: 1}, {0, 1}, 5, [True, False], [1.5, -0.5], [0.2, 0.2], []])
def test_what_is_no_list_of_probabilities_is_no_null_symbol(null):
    with pytest.raises(InputError, match="null"):
        delta(ROWS, n=3, exp_eps=2, null=null)


def test_questions_of_losses_take_a_null_symbol_in_doubles():
    exact = {"null": ("1/4", "3/4")}
    doubles = {"null": np.array([0.25, 0.75])}
    table = (("1/2", "1/2"), ("1/4", "3/4"))
    ask = {
        "privacy_loss_distribution": lambda null: (
            privacy_loss_distribution(table, n=2, step="1/4", beyond="1/100", **null).law
        ),
        "renyi": lambda null: renyi(table, n=2, order=2, rtol=0.1, **null).bracket,
        "rounds": lambda null: epsilon(table, n=3, periods=2, delta="1/10", rtol=np.float32(1 / 8), **null).bracket,
    }
    for one in ask.values():
        assert one(exact) == one(doubles)


def test_arrays_of_few_digits_are_rounded_tables():
    rows = np.array([[0.1, 0.9], [1 / 3, 2 / 3]])
    for width, far in ((np.float32, F(1, 2**22)), (np.float16, F(1, 2**9)), (np.longdouble, F(1, 10**15))):
        found = Channel.from_rows(rows.astype(width))
        assert found.rounding is not None and found.rounding.row <= 2 * far
        exact = [[F(*entry.as_integer_ratio()) for entry in row] for row in rows.astype(width)]
        assert found.rows == tuple(tuple(entry / sum(row) for entry in row) for row in exact)
    assert Channel.from_rows(np.array([[0.25, 0.75]], dtype=np.float16)).rounding is None
    masked = np.ma.masked_array([[0.5, 0.5]], mask=[[True, False]])
    with pytest.raises(InputError):
        Channel.from_rows(masked)


def test_compositions_take_doubles():
    krr = randomizer("krr").at(k=3)
    assert subsample(krr, 0.1).weights == subsample(krr, "1/10").weights == (F(1, 10), F(9, 10))
    assert parallel([krr, krr], [0.25, 0.75]).weights == (F(1, 4), F(3, 4))
    thirds = parallel([krr, krr], [1 / 3, 2 / 3])
    assert thirds.rounding is not None and sum(thirds.weights) == 1
    found = delta(thirds.at(eps0=1), n=9, eps="1/2")
    assert found.every_matrix > found.bracket.upper
    assert delta(joint(thirds, krr).at(eps0=1), n=2, eps="1/2", rtol=0.1).every_matrix is not None
    channel = Channel.from_rows([["3/4", "1/4"], ["1/4", "3/4"]])
    assert direct_sum([channel, channel], [1 / 3, 2 / 3]).rounding == thirds.rounding.__class__(
        *[thirds.rounding.row] * 2
    )
    for weights in ("10", [1, 0.5], [True, False], {0.5: 1}):
        with pytest.raises(InputError, match="weights"):
            parallel([krr, krr], weights)


def test_a_matrix_has_no_symbol_that_is_no_parameter():
    x = sp.Symbol("x", positive=True)
    for rows, parameters in (
        ([[x, 1 - x], [1 - x, x]], ()),
        ([[1 / LAM, 1 - 1 / LAM]] * 2, ()),
        ([[1 / K, 1 - 1 / K]] * 2, None),
    ):
        more = {} if parameters is None else {"parameters": parameters}
        with pytest.raises(InputError, match="parameters"):
            Mechanism.from_matrix("own", rows, **more)
    assert Mechanism.from_matrix("own", [[1 / LAM, 1 - 1 / LAM], [1 - 1 / LAM, 1 / LAM]]).parameters


@pytest.mark.parametrize("rtol", [np.float32(1e-3), "1e-3", F(1, 1000), Decimal("0.001"), mpmath.mpf("0.001")])
def test_a_width_is_read_as_other_numbers_are(rtol):
    krr = randomizer("krr").at(k=3, lam=2)
    assert epsilon(krr, n=9, delta="1/100", rtol=rtol).bracket.relative_width <= F(2, 1000)
    assert privacy_loss_distribution(krr, n=3, step="1/4", beyond="1/10", rtol=rtol).law.masses
    for wrong in (True, "0", 1, -1, math.nan, "one", 10**400):
        with pytest.raises(InputError, match="rtol"):
            delta(krr, n=9, eps=1, rtol=wrong)


@pytest.mark.parametrize(
    ("level", "ratio"),
    [
        ({"eps": sp.log(sp.Rational(3, 2))}, {"exp_eps": "3/2"}),
        ({"exp_eps": sp.exp(sp.Rational(1, 3))}, {"eps": "1/3"}),
        ({"exp_eps": sp.E}, {"eps": 1}),
    ],
)
def test_logarithms_and_exponentials_of_rationals_are_exact_levels(level, ratio):
    one, other = (delta(randomizer("krr", k=3, lam=9), n=50, **asked) for asked in (level, ratio))
    assert one.exp_eps == other.exp_eps and one.bracket.upper == other.bracket.upper
    (name,) = level
    budget = {"eps": "eps0", "exp_eps": "lam"}
    named = [randomizer("krr", k=3, **{budget[key]: value}) for (key, value) in (*level.items(), *ratio.items())]
    assert named[0] == named[1]
    for no_level in (sp.sqrt(5), sp.log(sp.Rational(1, 2)), sp.exp(-1), sp.log(sp.sqrt(2)), sp.log(sp.Symbol("x"))):
        with pytest.raises(InputError, match=name):
            delta(named[0], n=50, **{name: no_level})


@pytest.mark.parametrize("written", ["250.000", "1.000", " 12.000.000 "])
def test_an_integer_that_may_be_a_thousand_times_another_is_refused(written):
    few, many = written.strip().partition(".")[0], written.strip().replace(".", "")
    with pytest.raises(InputError, match=f"expected {few} or {many}"):
        as_integer(written, "n", 1)
    assert as_integer("250.0", "n", 1) == 250 and as_integer("250,000", "n", 1) == 250_000
