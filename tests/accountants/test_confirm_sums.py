"""The sum over counts of a second opinion, piece by piece, and what a confirmation says of its digits."""

import itertools
import math
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from symshuffle import Bracket, InputError, Rigour, Unsupported
from symshuffle.accountants.confirm import Confirmation, confirm, confirm_laplace, front, sums
from symshuffle.accountants.confirm.laplace import laplace_transform, one_user
from symshuffle.accountants.confirm.transform import transform
from symshuffle.law import Law
from symshuffle.numbers import Exp

F = Fraction
TWO = Law((F(1), F(-2)), (F(1, 4), F(3, 4)))
THREE = Law((F(3, 2), F(0), F(-1)), (F(1, 4), F(1, 4), F(1, 2)))
FOUR = Law((F(2), F(1, 3), F(-1, 2), F(-1)), (F(1, 10), F(3, 10), F(2, 10), F(4, 10)))


def positive_part(law, n):
    """E[S_+]/n by enumeration of all counts, in rationals."""
    total = F(0)
    for counts in itertools.product(range(n + 1), repeat=len(law.values)):
        if sum(counts) == n:
            ways = math.factorial(n)
            for count in counts:
                ways //= math.factorial(count)
            weight = math.prod((w**c for w, c in zip(law.weights, counts, strict=True)), start=F(ways))
            total += weight * max(sum(v * c for v, c in zip(law.values, counts, strict=True)), F(0))
    return total / n


@pytest.mark.parametrize("n", [1, 2, 5, 9])
@pytest.mark.parametrize("law", [TWO, THREE, FOUR, Law((F(3),), (F(1),))])
def test_the_sum_over_counts_is_that_of_all_counts(law, n):
    read = transform(law, n, digits=30)
    expected = positive_part(law, n)
    found = sums.by_sums(read, n, digits=30)
    assert abs(found * expected.denominator / expected.numerator - 1) < mpmath.mpf(10) ** -29


def test_compositions_are_all_ways():
    assert sums._compositions(3, 0).shape == (0, 0) and sums._compositions(0, 0).shape == (1, 0)
    assert sums._compositions(3, 1).tolist() == [[3]]
    assert sorted(map(tuple, sums._compositions(4, 3).tolist())) == sorted(
        c for c in itertools.product(range(5), repeat=3) if sum(c) == 4
    )


@pytest.mark.parametrize("x", [0, 1, 2, 7, 50, 10**6])
def test_factorials_by_their_series(x):
    assert float(sums._log_factorial(x)) == pytest.approx(math.lgamma(x + 1), rel=1e-12, abs=6e-6)


def test_the_pair_is_the_largest_and_the_lightest():
    read = transform(FOUR, 3, digits=20)
    pair, others = sums._split(read.atoms)
    assert [float(v) for v, _ in pair] == [2, -0.5]
    assert [float(v) for v, _ in others] == pytest.approx([1 / 3, -1])


def test_terms_are_counted():
    """Three atoms, five users: one term for each number 0 to 5 on the pair, and a tail of as many steps."""
    assert sums.number_of_terms(transform(THREE, 5, digits=20), 5, digits=20) == 6 + 15
    assert sums.number_of_terms(transform(TWO, 5, digits=20), 5, digits=20) == 1 + 5
    # Four atoms: k users on the two others can be split in k + 1 ways.
    assert sums.number_of_terms(transform(FOUR, 3, digits=20), 3, digits=20) == (4 + 3 + 2 + 1) + 6
    one = transform(Law((F(1),), (F(1),)), 5, digits=20)
    assert sums.number_of_terms(one, 10**5, digits=20) == 1
    assert sums.number_of_terms(laplace_transform(F(3), F(2), 5, digits=10), 5, digits=10) == math.inf


def test_sums_end_at_their_limits(monkeypatch):
    read = transform(TWO, 5, digits=20)
    monkeypatch.setattr(sums, "LARGEST_N", 5)
    assert sums.number_of_terms(read, 5, digits=20) == 6
    assert sums.number_of_terms(read, 6, digits=20) == math.inf
    monkeypatch.setattr(sums, "LARGEST_SUM", 6)
    assert float(sums.by_sums(read, 5, digits=20)) == pytest.approx(float(positive_part(TWO, 5)))
    monkeypatch.setattr(sums, "LARGEST_SUM", 5)
    with pytest.raises(Unsupported, match="at n = 5 with 2 atoms: too many terms"):
        sums.by_sums(read, 5, digits=20)


@pytest.mark.parametrize("law", [TWO, THREE, FOUR])
@pytest.mark.parametrize("n", [3, 12])
def test_chernoff_bounds_the_expectation(law, n):
    """From above, and at most 4000 places of c leave it within a thousandth of the least bound."""
    found = sums._log_bound(transform(law, n, digits=20).atoms, n)
    assert n > 3 or found >= math.log(positive_part(law, n) * n)
    cs = np.exp(np.linspace(-8, 5, 20001))
    moments = sum(float(w) * np.exp(cs * float(v)) for v, w in zip(law.values, law.weights, strict=True))
    assert found == pytest.approx(float((n * np.log(moments) - np.log(cs) - 1).min()), abs=1e-3)


def given_counts(law, n):
    """By the numbers of all others than the pair, what they add to E[S_+] and the probability of so many."""
    atoms = sorted(zip(law.values, law.weights, strict=True), reverse=True)
    (pair, others) = sums._split(atoms)
    for counts in itertools.product(range(n + 1), repeat=len(others)):
        inner = n - sum(counts)
        if inner < 0:
            continue
        base = F(math.factorial(n))
        for (_, w), c in zip(others, counts, strict=True):
            base *= w**c / math.factorial(c)
        drift = sum((v * c for (v, _), c in zip(others, counts, strict=True)), start=F(0))
        term = F(0)
        for i in range(inner + 1):
            mass = pair[0][1] ** i * pair[1][1] ** (inner - i) / math.factorial(i) / math.factorial(inner - i)
            term += base * mass * max(pair[0][0] * i + pair[1][0] * (inner - i) + drift, F(0))
        yield inner, counts, term


@pytest.mark.parametrize("law", [THREE, FOUR])
def test_what_may_be_skipped_is_bounded(law):
    """Every term is below its bound, and the largest one is within a factor n of it; so for all terms with so many."""
    n = 7
    read = transform(law, n, digits=20)
    pair, others = sums._split(read.atoms)
    by_inner, closest = {}, math.inf
    for inner, counts, term in given_counts(law, n):
        (bound,) = sums._log_terms(pair, others, inner, np.array([counts]), n)
        by_inner[inner] = by_inner.get(inner, F(0)) + term
        if term:
            assert math.log(term) <= bound + 2e-5
            closest = min(closest, bound - math.log(term))
    assert closest < math.log(n)
    for inner, term in by_inner.items():
        (bound,) = sums._log_joint(pair, np.array([inner]), n)
        binomial = math.comb(n, inner) * float(pair[0][1] + pair[1][1]) ** inner
        binomial *= float(1 - pair[0][1] - pair[1][1]) ** (n - inner)
        assert bound == pytest.approx(math.log(binomial * n * float(pair[0][0])), abs=2e-5)
        assert not term or math.log(term) <= bound + 2e-5


def test_counts_that_cannot_be_positive_have_no_bound():
    """None of five users on the pair, all at -1; with four of them on the pair the sum may be positive."""
    law = Law((F(3, 2), F(-1), F(-2)), (F(1, 4), F(1, 2), F(1, 4)))
    pair, others = sums._split(transform(law, 5, digits=20).atoms)
    assert sums._log_terms(pair, others, 0, np.array([[5]]), 5).tolist() == [-math.inf]
    assert math.isfinite(sums._log_terms(pair, others, 4, np.array([[1]]), 5)[0])


def test_ties_are_not_positive():
    """Of 2 and -1 with six users on the pair, two on 2 make 0: three are needed; a drift moves that."""
    context = mpmath.MPContext()
    others = ((context.mpf(3), context.mpf(1) / 4),)
    counts = np.array([[0], [1], [2], [3]])
    found = sums._starts(context, context.mpf(3), context.mpf(-6), others, counts)
    assert found.tolist() == [3, 2, 1, 0]
    third = context.mpf(1) / 3
    assert sums._starts(context, third, -2 * third, (), np.zeros((1, 0), dtype=np.int64)).tolist() == [3]
    assert sums._starts(context, third, -2 * third - third / 2, (), np.zeros((1, 0), dtype=np.int64)).tolist() == [3]
    assert sums._starts(context, third, third, (), np.zeros((1, 0), dtype=np.int64)).tolist() == [0]


def test_tails_of_a_binomial_by_hand():
    """Mass and first moment of i or more of 4 at 1/4 and 1/2, without the factorial of four."""
    context = mpmath.MPContext()
    tables = [sums._Table.of((context.mpf(v), context.mpf(w)), 4) for v, w in ((2, 0.25), (-1, 0.5))]
    tail, moment = sums._binomial_tails(*tables, 4, 2, context)
    masses = [0.25**i * 0.5 ** (4 - i) / math.factorial(i) / math.factorial(4 - i) for i in range(5)]
    assert [float(x) for x in tail] == pytest.approx([sum(masses[i:]) for i in (2, 3, 4)])
    assert [float(x) for x in moment] == pytest.approx([sum(j * masses[j] for j in range(i, 5)) for i in (2, 3, 4)])
    assert [float(x) for x in tables[0].values] == [0, 2, 4, 6, 8]


# What is said of the digits.


def test_no_digit_is_shown_that_the_error_denies():
    """0.5 known to 1e-8 has seven digits after log10(2e-8); the error shown has the rounding of the string in it."""
    read = transform(TWO, 3, digits=30)
    context = read.context
    found = front._from_transform(read, context.mpf(1) / 2, context.mpf(10) ** -8, 30, 6, "route")
    assert (found.digits, found.value, found.route) == (7, "0.5000000", "route")
    assert float(found.error) == pytest.approx(1e-8 + 0.5e-6, rel=1e-2)
    full = front._from_transform(read, context.mpf(1) / 3, 0, 12, 6, "route")
    assert full.digits == 12 and full.value == "0.333333333333"
    assert front._from_transform(read, context.mpf(1) / 2, -(context.mpf(10) ** -8), 30, 7, "route").digits == 7
    with pytest.raises(Unsupported, match=r"7 digits can be had .* fewer than 8"):
        front._from_transform(read, context.mpf(1) / 2, context.mpf(10) ** -8, 30, 8, "route")
    nothing = front._from_transform(read, context.mpf(0), context.mpf(0), 9, 6, "route")
    assert nothing.digits == 9 and float(nothing.value) == 0


def test_inside_a_bracket_its_own_error_granted():
    found = Confirmation("0.5", 6, "0.125", "route")
    assert found.exactly == F(1, 2)
    for low, high, expected in (
        (F(1, 4), F(3, 8), True), (F(1, 4), F(374, 1000), False), (F(5, 8), F(1), True), (F(626, 1000), F(1), False)
    ):  # fmt: skip
        assert found.inside(Bracket(low, high, Rigour.BALL, "none", "given")) is expected


def test_a_law_that_is_never_positive_is_its_singular_mass():
    found = confirm(Law((F(-1), F(0)), (F(1, 2), F(1, 2)), F(1, 8)), 5, digits=9)
    assert F(found.value) == F(1, 8) and found.digits == 9


@pytest.mark.parametrize("wrong", [{"n": 0}, {"digits": 0}, {"least": 0}, {"route": "none"}])
def test_what_is_no_question(wrong):
    asked = {"n": 3} | wrong
    with pytest.raises(InputError, match=next(iter(wrong))):
        confirm(TWO, asked.pop("n"), **asked)


def test_both_ends_of_what_is_asked():
    assert F(confirm(TWO, 1, digits=1, least=1).value) == F(3, 10)  # 1/4 to one digit, up
    assert float(confirm(TWO, 4, digits=20, route="sums").value) == pytest.approx(
        float(positive_part(TWO, 4)), rel=1e-15
    )


def test_laplace_noise_of_one_user_is_the_hockey_stick():
    """Of densities exp(-|y|) and exp(-|y - 1|) at order x, by hand: 1 - exp((eps - eps0)/2)."""
    for eps in (F(0), F(1, 2)):
        found = confirm_laplace(Exp(F(1)), Exp(eps) if eps else F(1), 1, digits=12)
        assert float(found.value) == pytest.approx(-math.expm1((float(eps) - 1) / 2), rel=1e-11)
    assert confirm_laplace(F(2), F(2), 5).value == "0" and confirm_laplace(F(2), F(3), 5, digits=7).digits == 7
    assert float(one_user(laplace_transform(F(2), F(199, 100), 1, digits=12))) > 0


def test_the_route_is_the_one_asked_for_and_a_short_sum_else(monkeypatch):
    """Five users on two atoms are six terms: up to so many the sum is taken unasked."""
    expected = float(positive_part(TWO, 5))
    said = {route: confirm(TWO, 5, digits=12, route=route) for route in ("auto", "sums", "inversion")}
    assert all(float(found.value) == pytest.approx(expected, rel=1e-10) for found in said.values())
    assert said["auto"].route == said["sums"].route == front._SUMS
    assert said["inversion"].route.startswith(front._INVERSION)
    monkeypatch.setattr(front, "_QUICK_SUM", 6)
    assert confirm(TWO, 5, digits=12).route == front._SUMS
    monkeypatch.setattr(front, "_QUICK_SUM", 5)
    assert confirm(TWO, 5, digits=12).route.startswith(front._INVERSION)


def test_what_is_no_question_about_laplace_noise():
    assert confirm_laplace(F(2), F(2), 1, digits=1, least=1).digits == 1
    for wrong in ({"digits": 0}, {"least": 0}):
        with pytest.raises(InputError, match=next(iter(wrong))):
            confirm_laplace(F(2), F(2), 5, **wrong)
    with pytest.raises(InputError, match="n"):
        confirm_laplace(F(2), F(2), 0)
