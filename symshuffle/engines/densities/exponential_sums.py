r"""Sums of waves :math:`\sum_iw_ie^{ijx_i}` for j = 0, 1, ..., in balls: one Fourier transform for each of few powers.

Angles go to the nearest of L places on the circle. With :math:`x_i=2\pi b_i/L+d_i` and :math:`|jd_i|\le y`,

.. math:: \sum_iw_ie^{ijx_i}=\sum_{k<K}\frac{(ij)^k}{k!}\sum_be^{2\pi ijb/L}\sum_{b_i=b}w_id_i^k+r,
   \qquad|r|\le\frac{y^K}{K!}\sum_i|w_i|,

so that an atom costs K products, however many sums there are. An angle that is off by :math:`\rho_i` moves no sum by
more than :math:`j\rho_i|w_i|`.

Evidence: *proved*, in balls, whatever the places, L and K.
"""

from __future__ import annotations

from collections.abc import Sequence

import flint

from symshuffle.base import cost
from symshuffle.base.errors import NotDecided
from symshuffle.base.numbers import working_precision


def exponential_sums(
    values: Sequence[flint.arb],
    weights: Sequence[flint.arb | flint.acb],
    step: flint.arb,
    count: int,
    *,
    crowd: int = 16,
    each: int = 2,
    spare_bits: int = 16,
) -> list[flint.acb]:
    """The sums for j = 0 to ``count - 1``, where x is the step times a value, to about the working precision.

    - ``values``, ``weights``: atoms, shape ``(m,)`` each; none makes every sum 0. Weights may be complex.
    - ``count``: how many points, at least 1.
    - ``crowd``: atoms for each place, at most about: fewer places are cheaper, and take more powers.
    - ``each``: terms of a contour in doubles that take as long as a bit of a point or of an atom: cost only.
    - ``spare_bits``: bits beyond the working precision.
    """
    bits, size = flint.ctx.prec, 1 << max(count // 2, len(values) // crowd).bit_length()
    cost.add(each * bits * (len(values) + count))
    with working_precision(bits + spare_bits + size.bit_length()):
        arc, zero = 2 * flint.arb.pi() / size, flint.arb(0)
        angles = [step * v for v in values]
        if not all(x.is_finite() for x in angles):
            raise NotDecided("a value of G could not be evaluated; raise bits")
        places = [int((x.mid() / arc + 0.5).mid().floor().unique_fmpz() or 0) for x in angles]
        offs = [(x.mid() - arc * b) * count for x, b in zip(angles, places, strict=True)]
        places = [-b % size for b in places]
        reach = max((abs(d).upper() for d in offs), default=zero)
        sizes = [abs(w).upper() for w in weights]
        moved = sum((x.rad() * w for x, w in zip(angles, sizes, strict=True)), start=zero).upper()
        rest = sum(sizes, start=zero).upper()
        least, part, powers = rest * flint.arb(2) ** -bits, zero + 1, list(weights)
        rows: list[list[flint.acb]] = []
        while rest > least or not rows:
            row: list[flint.arb | flint.acb] = [zero] * size
            for b, w in zip(places, powers, strict=True):
                row[b] += w
            rows.append(flint.acb.dft([x * part for x in row]))
            powers = [w * d for w, d in zip(powers, offs, strict=True)]
            part /= len(rows)
            rest = (rest * reach / len(rows)).upper()
        found = []
        for j in range(count):
            total = flint.acb_poly([row[j % size] for row in rows])(flint.acb(0, flint.arb(j) / count))
            off = flint.arb(0, rest + moved * j)
            found.append(total + flint.acb(off, off))
        return found


__all__ = ["exponential_sums"]
