"""Spellings of the numbers of marked calls, and the public functions that need one."""

import inspect
import re
from decimal import Decimal
from enum import Enum
from fractions import Fraction as F
from importlib import import_module

import flint
import mpmath
import numpy as np
import sympy as sp

import symshuffle
from symshuffle import Exp, InputError
from tests.soundness.marked_calls import CALLS as MARKED
from tests.soundness.marked_calls import Integer, Number, Several, Table
from tests.words import words

PACKAGES = words(
    "symshuffle symshuffle.base symshuffle.channels symshuffle.mechanisms symshuffle.decompositions symshuffle.engines "
    "symshuffle.accountants symshuffle.utility symshuffle.design symshuffle.collect symshuffle.vectors"
)


KEEP_THEIR_NUMBERS = {
    "Ball": "ends that are proved: a double encloses nothing",
    "Bracket": "ends that are proved",
    "Exp": "an exact constant; its text form is read where a constant is asked for",
    "Channel": "from_rows reads",
    "Problem": "of reads",
    "Law": "numbers of their own kind: doubles stay doubles, for arithmetic in doubles",
    "LikelihoodRatio": "of reads a channel; doubles would merge level sets",
    "AnchoredLaw": "from_channel reads a channel",
    "channels.SubsetOrbit": "masks and sizes that the library makes",
    "decompositions.Decomposition": "made of a channel; numbers of their own kind",
    "decompositions.ReductionPair": "made of a decomposition; numbers of their own kind",
    "accountants.BlanketVariable": "of and laplace read",
    "collect.Client": "made by SurveyPlan.client, with numbers of categories",
    "collect.SurveyPlan": "made by plan_survey, or read from a file",
    "collect.LocalAudit": "audit_local reads",
    "collect.PairAudit": "audit_pair reads",
    "collect.ShuffledAudit": "audit_shuffled reads",
    "Mechanism": "at and from_matrix read",
    "OutputClass": "expressions of SymPy",
    "State": "expressions of SymPy",
    "Parameter": "expressions of SymPy",
    "Composed": "Composition.at reads",
}
"""Classes whose constructor takes numbers as they are, with the reason; results of the library have no line."""

OF_ONE_BATCH = {"min_batch_size", "dropout", "group_size", "null"}
"""Fields of a deployment that programs about one number of users leave to the readers of ``delta``."""

SLOW = {
    "worst_datasets": {"dropout", "null", "group_size"},
    "utility.bayes_risk": {"prior"},
    "vectors.contenders": {"chi", "dimension", "bits"},
    "vectors.takeover": {"chi", "most"},
    "vectors.correspondence": {"users", "growth"},
    "worst_curve": {"eps0"},
    "amplification_curve": {"n", "min_batch_size"},
    "renyi": {"dropout", "group_size"},
    "tradeoff": {"group_size"},
    "smallest_n": {"n", "min_batch_size"},
    "vectors.calibrate": {"n", "dimension", "delta", "eps", "exp_eps", "gap", "fixed", *OF_ONE_BATCH},
    "vectors.private_mean": {"eps", "delta", "fixed", "n", *OF_ONE_BATCH},
    "design.best_shuffled": OF_ONE_BATCH,
    **{
        f"collect.audit_{kind}": {"n", *OF_ONE_BATCH} - ({"n"} if kind == "shuffled" else set())
        for kind in ("shuffled", "pair", "samples")
    },
    "vectors.which_order": {"n", "low", "high", "evaluations"},
    "vectors.worst_background_on_the_line": {"n", "sigma0", "eps", "tolerance", "others"},
    "collect.plan_survey": {"dropout", "group_size", "null"},
    "compare": {"min_batch_size", "dropout", "group_size", "null"},
    "privacy_loss_distribution": {"min_batch_size", "dropout", "group_size"},
    "largest_eps0": {"null", "dropout", "group_size"},
}
"""Arguments that one reader takes as well, of functions whose calls take seconds, or which no question can have."""

OF_DELTA = {"colluding", "periods", "reports", "threshold"}
"""Fields of a deployment that every question takes, and one reader reads: ``delta`` is asked with them."""

NO_NUMBERS = set(
    words(
        "subject pairs graph datasets memoised source direction engine arithmetic attained target adjacency blanket "
        "executor progress problem method experiment first second channel part parts composition law route mechanism "
        "mechanisms loss users_of grid function out measure group criterion population divergence text seed values "
        "labels name parameters order side on_sphere messages vectors rng data pair reverse up limits file path "
        "channels ratio then found suffix kind variable header disjoint plan certified claim jobs ledger claims frame "
        "vector generator blocks moves prior_of answer question arguments"
    )
)
"""Names of arguments that take no numbers in any function, where a call does not mark them."""


def spelled(value):
    """A number in every type that holds it, by the name of the type."""
    n, d = value.numerator, value.denominator
    found = {
        "text": f"{n}/{d}",
        "float": n / d,
        "float64": np.float64(n / d),
        "float32": np.float32(n / d),
        "float16": np.float16(n / d),
        "longdouble": np.longdouble(n / d),
        "array": np.array(n / d),
        "decimal": Decimal(n) / Decimal(d),
        "decimal text": f" {n / d} ",
        "rational of SymPy": sp.Rational(n, d),
        "Float of SymPy": sp.Float(n / d),
        "mpf": mpmath.mpf(n) / d,
        "fmpq": flint.fmpq(n, d),
        "arb": flint.arb(n) / d,
        "arf": flint.arf(n / d),
    }
    if d == 1:
        found |= {"int": n, "int32": np.int32(n), "fmpz": flint.fmpz(n), "integer of SymPy": sp.Integer(n)}
    return found


NOT_NUMBERS = {
    "truth value": True,
    "truth value of NumPy": np.bool_(True),
    "word": "one",
    "nan": float("nan"),
    "nan of NumPy": np.float32("nan"),
    "complex": 1j,
    "bytes": b"1",
    "constant of SymPy": sp.sqrt(5),
    "set": {1},
}
"""What no argument reads as a number."""


def function(name):
    """A function, a class or a method by its name; one of an object takes that as ``self``."""
    package, _, rest = name.partition(".") if name[0].islower() and "." in name else ("", "", name)
    value = import_module(f"symshuffle.{package}") if package else symshuffle
    for part in rest.split("."):
        value = getattr(value, part)
    return value


def full_name(name):
    """The name below ``symshuffle`` of what is public there or in a package."""
    head, _, rest = name.partition(".")
    short = rest.partition(".")[0]
    if f"symshuffle.{head}" in PACKAGES and short in symshuffle.__all__:
        return rest
    if head in symshuffle.__all__ or f"symshuffle.{head}" in PACKAGES:
        return name
    homes = (one for one in PACKAGES[1:] if head in getattr(import_module(one), "__all__", ()))
    return f"{next(homes).removeprefix('symshuffle.')}.{name}"


CALLS = [(full_name(name), given) for name, given in MARKED]
SLOW = {full_name(name): given for name, given in SLOW.items()}
KEEP_THEIR_NUMBERS = {full_name(name): why for name, why in KEEP_THEIR_NUMBERS.items()}


def functions():
    """All public functions, by their names below ``symshuffle``."""
    found = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if inspect.isfunction(value) and value.__module__.startswith("symshuffle.") and not name.startswith("_"):
                found.setdefault(value, f"{package}.{name}".removeprefix("symshuffle."))
    return {name: value for value, name in found.items()}


OF_RESULTS = ("lines", "verify", "__float__", "neighbours", "to_csv")
"""What results of the library have, and nothing that users make."""
KINDS_OF_NUMBERS = re.compile(r"\b(int|float|Fraction|Real|Number|Vector|Matrix)\b")


def made_of_numbers():
    """Public classes whose constructor takes numbers, but for results, by their names below ``symshuffle``."""
    found = {}
    for package in PACKAGES:
        module = import_module(package)
        for name in getattr(module, "__all__", dir(module)):
            value = getattr(module, name)
            if not inspect.isclass(value) or issubclass(value, Enum | Exception):
                continue
            given = inspect.signature(value).parameters.values()
            taken = any(KINDS_OF_NUMBERS.search(str(one.annotation)) for one in given)
            if taken and not any(hasattr(value, one) for one in OF_RESULTS):
                found.setdefault(value, f"{package}.{name}".removeprefix("symshuffle."))
    return [name.removeprefix("symshuffle.") for name in found.values()]


def plain(value):
    """The value of a marked argument as rationals and integers."""
    match value:
        case Number(x) | Integer(x):
            return x
        case Several(values):
            return list(values)
        case Table(rows):
            return [list(row) for row in rows]
    return value


def ask(name, given):
    """What a function answers, as data, or the argument that it refuses."""
    try:
        own, given = [given[key] for key in given if key == "self"], {k: v for k, v in given.items() if k != "self"}
        found = function(name)(*own, **given)
        return ("refused", "a point") if getattr(found, "failed", 0) else content(found)
    except InputError as refusal:
        return ("refused", refusal.argument)


def content(value):
    """An answer as data that can be compared."""
    if isinstance(value, F | int | float | str | None | Exp):
        return value
    if isinstance(value, dict):
        return {str(content(key)): content(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [content(one) for one in value]
    if hasattr(value, "rows") and hasattr(value, "failed"):  # a table of points
        return [content({key: row[key] for key in ("lower", "upper") if key in row}) for row in value.rows]
    if hasattr(value, "to_dict"):
        return content(value.to_dict())
    if isinstance(value, np.ndarray):
        return content(value.tolist())
    return re.sub(r" at 0x\w+", "", repr(value))
