r"""Local hashing with a named family: inner products over a prime field.

Inputs are vectors :math:`x\in GF(g)^m`, all of them, so that there are :math:`g^m` inputs. A function of the family is
:math:`h_{a,b}(x)=\langle a,x\rangle+b` with :math:`(a,b)\in GF(g)^{m+1}` uniform: for two different inputs the pair of
values is uniform on :math:`GF(g)^2`. The message is :math:`(a,b,y)` with ``y`` the g-ary response to
:math:`h_{a,b}(x)`. As ``b`` is independent of all else, :math:`(a,y-b)` says the same, and that is what is sent: an
affine hyperplane :math:`\{x:\langle a,x\rangle=c\}`, ``lam`` times as likely if it contains the input. At
:math:`a=0` it contains all inputs or none.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, Final

import sympy as sp

from symshuffle.mechanisms.given import LAM_PARAMETER
from symshuffle.mechanisms.model import Mechanism
from symshuffle.mechanisms.outputs import OutputClass, State
from symshuffle.mechanisms.symbolic import LAM, PRIME, Parameter
from symshuffle.mechanisms.unary import G

M: Final = sp.Symbol("m", integer=True, positive=True)


@cache  # its definition is checked once
def affine_hashing() -> Mechanism:
    """Local hashing by inner products over GF(g), with lam, g and m open.

    - returned: with the parameters ``lam`` (the ratio cap ``exp(eps0)``), ``g`` (the number of hash values, a prime)
      and ``m`` (the length of the vectors): there are ``g**m`` inputs.

    The family is pairwise uniform (Carter and Wegman, Universal classes of hash functions, 1979).

    Examples
    --------
    >>> print(affine_hashing().at(g=2, m=1, lam=3).channel())
    3/8  1/8  3/8  1/8
    1/8  3/8  3/8  1/8
    """
    size, total, one = G**M, (LAM + G - 1) * G**M, sp.Integer(1)
    hit, miss = LAM / total, 1 / total
    alike, apart = size / G - 1, size - size / G  # numbers of a != 0 with equal and with different values at two inputs
    return Mechanism(
        "affine-hashing",
        "local hashing by inner products over a prime field",
        size,
        (
            OutputClass(
                "hyperplane",
                G * (size - 1),
                (State("inside", size / G, hit), State("outside", size - size / G, miss)),
                ((0, 0, alike), (0, 1, apart), (1, 0, apart), (1, 1, alike * (G - 1) + apart * (G - 2))),
                _hyperplanes,
            ),
            OutputClass("everywhere", one, (State("all", size, hit),)),
            OutputClass("nowhere", G - 1, (State("all", size, miss),), ((0, 0, G - 1),), _nowhere),
        ),
        (
            LAM_PARAMETER,
            Parameter(G, sp.Integer(2), None, True, "number of hash values, a prime", kind=PRIME),
            Parameter(M, one, None, True, "length of the vectors"),
        ),
        source="local hashing with the universal family of Carter and Wegman (1979)",
    )


def _hyperplanes(values: Mapping[str, int]) -> Iterator[tuple[tuple[int, ...], Any]]:
    g, m = values["g"], values["m"]
    points = list(itertools.product(range(g), repeat=m))
    for a in points[1:]:
        products = [sum(x * y for x, y in zip(a, point, strict=True)) % g for point in points]
        for c in range(g):
            yield tuple(int(product != c) for product in products), sp.Integer(1)


def _nowhere(values: Mapping[str, int]) -> Iterator[tuple[tuple[int, ...], Any]]:
    g, m = values["g"], values["m"]
    return (((0,) * g**m, sp.Integer(1)) for _ in range(g - 1))
