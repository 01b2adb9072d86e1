"""Unary encodings, local hashing and Hadamard response against channels written from their definitions."""

from fractions import Fraction

import pytest
import sympy as sp

from symshuffle import Channel, Exp, optimal_decomposition, randomizer
from symshuffle.decompositions import Decomposition, simplified_decomposition
from symshuffle.decompositions.symbolic import counted_decomposition
from symshuffle.mechanisms import LAM
from tests.oracles import encodings

FOUR = Fraction(4)


def oracle(name: str, size: int) -> Channel:
    match name:
        case "blh":
            return encodings.local_hashing(size, 2, FOUR)
        case "olh":
            return encodings.local_hashing(size, 3, FOUR)
        case "oue":
            return encodings.unary(size, Fraction(1, 2), 1 / (1 + FOUR))
        case "rappor":
            return encodings.unary(size, Fraction(2, 3), Fraction(1, 3))
        case _:
            return encodings.hadamard(size, FOUR)


def triples(decomposition: Decomposition) -> list[tuple[Fraction, ...]]:
    return sorted(zip(decomposition.a, decomposition.b, decomposition.c, strict=True))  # type: ignore[type-var]


def parameters(name: str, size: int) -> dict[str, int]:
    return {"D": size, "g": 3} if name == "olh" else {"D": size}


CASES = [(name, size) for name in ("blh", "oue", "rappor", "olh") for size in (2, 3, 4)] + [
    ("hadamard", 4),
    ("hadamard", 8),
]


@pytest.mark.parametrize(("name", "size"), CASES)
def test_derived_decomposition_is_that_of_the_channel(name: str, size: int) -> None:
    derived = optimal_decomposition(randomizer(name).at(lam=4, **parameters(name, size))).numeric()
    assert triples(derived) == triples(simplified_decomposition(oracle(name, size), (0, 1)))


@pytest.mark.parametrize(("name", "size"), CASES)
def test_explicit_channel_has_the_blanket_of_the_definition(name: str, size: int) -> None:
    explicit = randomizer(name).channel(lam=4, **parameters(name, size))
    assert explicit.num_inputs == oracle(name, size).num_inputs
    assert sum(explicit.blanket()) == sum(oracle(name, size).blanket())  # type: ignore[type-var]
    assert explicit.ratio_cap() == oracle(name, size).ratio_cap()


@pytest.mark.parametrize(("name", "size"), [case for case in CASES if case[1] >= 3 and case[0] != "hadamard"])
def test_third_background_is_that_of_the_channel(name: str, size: int) -> None:
    rows = oracle(name, size).rows
    cells = counted_decomposition(randomizer(name).at(lam=4, **parameters(name, size)), others="third").numeric()
    direct = Decomposition(rows[0], rows[1], rows[2], Fraction(0)).reduction_pair().gparv(Fraction(6, 5))
    law = cells.reduction_pair().gparv(Fraction(6, 5))
    assert sorted(law.atoms()) == sorted(direct.atoms())  # type: ignore[type-var]


@pytest.mark.parametrize("name", ["blh", "oue", "rappor", "hadamard"])
def test_limit_is_the_limit_of_the_finite_forms(name: str) -> None:
    limit = optimal_decomposition(randomizer(name).at(lam=4))
    large = optimal_decomposition(randomizer(name).at(lam=4, D=2**40 if name == "hadamard" else 200))
    for cell, near in zip(limit.cells, large.cells, strict=True):
        assert abs(float(cell.c - near.c)) < 1e-10


def test_hadamard_in_closed_form() -> None:
    order = sp.Symbol("D", integer=True, positive=True)
    both = next(
        cell for cell in optimal_decomposition(randomizer("hadamard"), limits=False).cells if cell.ratios == (LAM, LAM)
    )
    assert sp.simplify(both.c - (order - 4) / (2 * order * (LAM + 1))) == 0


def test_wrong_matrix_order_is_refused() -> None:
    with pytest.raises(ValueError, match=r"D = 12: expected a power of 2"):
        randomizer("hadamard").at(D=12)


@pytest.mark.parametrize("name", ["rappor", "oue", "blh"])
def test_two_inputs_leave_no_atom_of_weight_zero(name: str) -> None:
    law = optimal_decomposition(randomizer(name).at(eps0=4, D=2)).law(Exp(Fraction(1)), bits=200)
    assert len(law.values) == 4
    assert min(float(weight) for weight in law.weights) > 1e-4
