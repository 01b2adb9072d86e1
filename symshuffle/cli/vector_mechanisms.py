"""Mechanisms of vectors on the command line: their parameters, read and echoed."""

from __future__ import annotations

from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final

from symshuffle.base.errors import InputError
from symshuffle.base.numbers import as_integer, format_decimal, parse_rational, ungrouped

if TYPE_CHECKING:
    from collections.abc import Mapping

    from symshuffle.vectors.randomizers.mechanisms import (
        BlanketMixedGaussian,
        ClippedLinear,
        LocalGaussian,
        PrivUnit,
        SphereLinear,
    )

PARAMETERS: Final[dict[str, dict[str, str]]] = {
    "bmg": {
        "gamma": "probability of noise around 0; a number in (0, 1)",
        "sigma0": "standard deviation of the noise; a number > 0",
        "norm": "largest length of an input; a number in (0, 1] (default 1)",
        "d": "dimension; an integer >= 1 (default 1)",
    },
    "privunit": {
        "p": "probability of the cap; a number in (0, 1), or derived from eps0",
        "theta": "height of the cap; a number in (-1, 1)",
        "d": "dimension; an integer >= 2",
    },
    "sphere-linear": {
        "c": "slope of the density; a number in (0, 1), or derived from eps0",
        "d": "dimension; an integer >= 1 (default 1)",
    },
    "clipped-linear": {
        "clip": "height below which the density is constant; a number in (-1, 1)",
        "chi": "lower index, which determines the slope; a number > 0",
        "d": "dimension; an integer >= 2",
    },
    "gaussian": {
        "sigma0": "standard deviation of the noise; a number > 0",
        "d": "dimension; an integer >= 1 (default 1)",
    },
}
"""Mechanisms of vectors of the unit ball with their parameters."""

_TITLES: Final = {
    "bmg": ("blanket-mixed Gaussian", "vecmean, Algorithm 1"),
    "privunit": ("PrivUnit, cap of the sphere", "vecmean, Definition A.5"),
    "sphere-linear": ("linear density on the sphere", "vecmean, Appendix B"),
    "clipped-linear": ("linear density on the sphere, clipped from below", "beyond vecmean"),
    "gaussian": ("Gaussian noise on every message", "vecmean, Section 4.3"),
}


def rows() -> list[dict[str, Any]]:
    """The mechanisms as `symshuffle mechanisms` lists them."""
    return [
        {"name": name, "title": _TITLES[name][0], "parameters": parameters, "source": _TITLES[name][1]}
        for name, parameters in PARAMETERS.items()
    ]


def mechanism(
    name: str, eps0: str | None, lam: str | None, values: Mapping[str, str]
) -> BlanketMixedGaussian | LocalGaussian | PrivUnit | SphereLinear | ClippedLinear:
    """A mechanism of vectors with the parameters of the command line, as text by name.

    Raises
    ------
    InputError
        If a parameter is unknown, missing, out of range or given twice, or a budget is given where there is none.
    """
    from symshuffle.base.levels import read_budget
    from symshuffle.vectors.randomizers.mechanisms import (
        BlanketMixedGaussian,
        ClippedLinear,
        LocalGaussian,
        PrivUnit,
        SphereLinear,
    )
    from symshuffle.vectors.randomizers.sphere import privunit_at, sphere_linear_at

    known = PARAMETERS[name]
    for key in values.keys() - known.keys():
        raise InputError(key, values[key], f"a parameter of {name}: {', '.join(known)}")
    derived = {"privunit": "p", "sphere-linear": "c"}.get(name)
    if derived is None and (eps0 is not None or lam is not None):
        raise InputError("--eps0" if lam is None else "--lam", eps0 or lam, f"no budget: {name} has none")
    budget = read_budget(eps0=eps0, lam=lam)
    if budget is not None and derived in values:
        raise InputError(str(derived), values[str(derived)], "no value where --eps0 or --lam is given: it follows")
    optional = (
        {"norm"}
        | ({"d"} if name not in ("privunit", "clipped-linear") else set())
        | ({derived} if budget is not None else set())
    )
    for key in known:
        if key not in values and key not in optional:
            raise InputError(key, None, f"{known[key].split('; ')[1]}, given by -p {key}=")
    d = dimension(values.get("d", "1"))
    read = {key: parse_rational(value, key) for key, value in values.items() if key != "d"}
    match name:
        case "bmg":
            return BlanketMixedGaussian(read["gamma"], read["sigma0"], read.get("norm", Fraction(1)), d)
        case "gaussian":
            return LocalGaussian(read["sigma0"], d)
        case "clipped-linear":
            return ClippedLinear(read["clip"], d, read["chi"])
        case "privunit":
            if budget is not None:
                return privunit_at(budget, read["theta"], d)
            return PrivUnit(read["p"], read["theta"], d)
        case _:
            return SphereLinear(read["c"], d) if budget is None else sphere_linear_at(budget, d)


def dimension(text: str) -> int:
    """A dimension, checked."""
    from symshuffle.vectors.randomizers.mechanisms import LARGEST_DIMENSION

    return as_integer(ungrouped(text), "d", 1, LARGEST_DIMENSION)


def echoed(found: Any) -> dict[str, Any]:
    """The parameters as they were understood, and the local budget where there is one."""
    from symshuffle.vectors.randomizers.mechanisms import BlanketMixedGaussian, ClippedLinear, LocalGaussian, PrivUnit
    from symshuffle.vectors.randomizers.sphere import epsilon0

    given: dict[str, Any] = {}
    for field in type(found).__dataclass_fields__:
        value = getattr(found, field)
        given["d" if field == "dimension" else field] = value if isinstance(value, int) else str(value)
    match found:
        case BlanketMixedGaussian():
            return {"mechanism": "bmg", **given}
        case LocalGaussian():
            return {"mechanism": "gaussian", **given}
        case ClippedLinear():
            return {"mechanism": "clipped-linear", **given}
    level = epsilon0(found)
    name = "privunit" if isinstance(found, PrivUnit) else "sphere-linear"
    return {"mechanism": name, **given, "eps0": format_decimal(level.upper, digits=12, up=True)}
