r"""Local hashing with a named family: inner products over a prime field.

Inputs are vectors :math:`x\in GF(g)^m`, all of them, so that there are :math:`g^m` inputs. A function of the family is
:math:`h_{a,b}(x)=\langle a,x\rangle+b` with :math:`(a,b)\in GF(g)^{m+1}` uniform: for two different inputs the pair of
values is uniform on :math:`GF(g)^2`. The message is :math:`(a,b,y)` with ``y`` the g-ary response to
:math:`h_{a,b}(x)`. As ``b`` is independent of all else, :math:`(a,y-b)` says the same, and that is what is sent: an
affine hyperplane :math:`\{x:\langle a,x\rangle=c\}`, ``lam`` times as likely if it contains the input. At
:math:`a=0` it contains all inputs or none.
"""

from __future__ import annotations

from functools import cache
from typing import Final

import sympy as sp

from symshuffle.mechanisms import definitions
from symshuffle.mechanisms.given import LAM_PARAMETER
from symshuffle.mechanisms.model import Mechanism
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
    return Mechanism(
        "affine-hashing",
        "local hashing by inner products over a prime field",
        G**M,
        definitions.affine_hashing(LAM, G, M),
        (
            LAM_PARAMETER,
            Parameter(G, sp.Integer(2), None, True, "number of hash values, a prime", kind=PRIME),
            Parameter(M, sp.Integer(1), None, True, "length of the vectors"),
        ),
        source="local hashing with the universal family of Carter and Wegman (1979)",
    )
