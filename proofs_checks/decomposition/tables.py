"""Tables 1 to 4, computed: the numbers as CSV, the same as a Markdown page, and a picture of Table 4."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, Final, final

import numpy as np
import sympy as sp

from proofs_checks._simulation import simulated_errors
from proofs_checks.decomposition import section6_frequencies as frequencies
from proofs_checks.decomposition._panels import BLUE, VERMILION, Look, Panel, Series, drawn
from proofs_checks.decomposition.appendix_a_tables import MECHANISMS, RATIOS, TABLE_1, TABLE_2, TABLE_3
from symshuffle.base.artifacts import write_atomically
from symshuffle.base.numbers import Exp, Verdict, enclose, to_float
from symshuffle.decompositions.symbolic import SymbolicDecomposition, optimal_decomposition
from symshuffle.ledger.claims.model import Claim, Statement
from symshuffle.mechanisms.display import latex, text
from symshuffle.mechanisms.registry import mechanism
from symshuffle.mechanisms.symbolic import EXP_EPS, LAM, evaluate, same_function

CLAIMS: Final[tuple[Claim, ...]] = ()

_REPEATS: Final = 4000
_DIGITS: Final = 10**6


def _write(name: str, remark: str, head: Sequence[str], rows: Sequence[Sequence[str]], directory: Path) -> Path:
    data = io.StringIO()
    data.write(f"# {name}: {remark}\n")
    lines = csv.writer(data, lineterminator="\n")
    lines.writerows([head, *rows])
    path = directory / f"{name}.csv"
    write_atomically(path, data.getvalue())
    return path


def _page(name: str, remark: str, head: Sequence[str], rows: Sequence[Sequence[str]], directory: Path) -> Path:
    lines = [head, ["---"] * len(head), *rows]
    table = "\n".join("| " + " | ".join(line) + " |" for line in lines)
    path = directory / f"{name}.md"
    write_atomically(path, f"# {name}\n\n{remark}\n\n{table}\n")
    return path


# -- Tables 1 to 3: formulas


def _decomposed(name: str, *, limits: bool) -> SymbolicDecomposition:
    return optimal_decomposition(MECHANISMS[name](), limits=limits)


def _size(name: str) -> sp.Symbol:
    return sp.Symbol("k" if name == "k-RR" else "D", integer=True, positive=True)


def _table_1(name: str) -> Iterator[tuple[str, Any]]:
    values = (1 - LAM * EXP_EPS, LAM - LAM * EXP_EPS, 1 - EXP_EPS, sp.Integer(0), LAM - EXP_EPS)
    law = _decomposed(name, limits=True).gparv()
    for value in values:
        masses = [mass for atom, mass in law if sp.expand(atom - value) == 0]
        yield text(value), sum(masses, start=sp.Integer(0))


def _weights(name: str, *, limits: bool) -> Iterator[tuple[str, Any]]:
    whole = _decomposed(name, limits=limits)
    found = {cell.ratios: cell.c for cell in whole.cells}
    for letter, ratios in zip("pqr", RATIOS[1:], strict=True):
        yield letter, found.get(ratios, sp.Integer(0))
    if not limits:
        yield "gamma", whole.gamma


def _formulas(
    name: str,
    remark: str,
    derived: Callable[[str], Iterator[tuple[str, Any]]],
    printed: Callable[[str], Sequence[Any]],
    mechanisms: Sequence[str],
    directory: Path,
) -> list[Path]:
    """Every entry as derived, beside the printed one; on the page a wrong entry shows both."""
    rows, page, head = [], [], ["mechanism"]
    for of in mechanisms:
        line = [of]
        entries = list(derived(of))
        for (entry, ours), theirs in zip(entries, printed(of), strict=True):
            same = same_function(ours, theirs) is Verdict.TRUE
            claimed = sp.sympify(theirs)
            rows.append([of, entry, text(ours), text(claimed), "yes" if same else "no", latex(ours)])
            line.append(f"${latex(ours)}$" + ("" if same else f" (printed: ${latex(claimed)}$)"))
        head = ["mechanism", *(entry for entry, _ in entries)]
        page.append(line)
    table = _write(name, remark, ["mechanism", "entry", "derived", "printed", "agree", "LaTeX"], rows, directory)
    return [table, _page(name, remark, head, page, directory)]


def _row(statement: Statement, of: str, *, sized: bool) -> Sequence[Any]:
    size = (_size(of),) if sized else ()
    entries: Sequence[Any] = statement(of, LAM, sp.sqrt(LAM), *size)
    return entries if sized else entries[:3]


_BUDGET: Final = "lambda = exp(eps0), derived by counting outputs"
_EVERY: Final = tuple(MECHANISMS)
_FORMULAS: Final[dict[str, Callable[[Path], list[Path]]]] = {
    "decomposition.table-1": partial(
        _formulas,
        "decomposition.table-1",
        f"law of G by value, x = exp(eps), {_BUDGET}; large domains but for k-RR",
        _table_1,
        partial(_row, TABLE_1.printed, sized=True),
        _EVERY,
    ),
    "decomposition.table-2": partial(
        _formulas,
        "decomposition.table-2",
        f"mixture weights for a domain of size D (HR: matrix order D), {_BUDGET}",
        partial(_weights, limits=False),
        partial(_row, TABLE_2.printed, sized=True),
        _EVERY,
    ),
    "decomposition.table-3": partial(
        _formulas,
        "decomposition.table-3",
        f"mixture weights in the limit of large domains, {_BUDGET}",
        partial(_weights, limits=True),
        partial(_row, TABLE_3.printed, sized=False),
        _EVERY[1:],
    ),
}


# -- Table 4: numbers

_COLUMNS: Final = (
    *("eps", "bound", "eps0", "eps0 (printed)", "printed meets target", "mean l2 error", "standard error"),
    *("root mean square (closed form)", "error (printed)"),
)
_LOOKS: Final = {"Bennett": Look(VERMILION, (0, (6, 2))), "optimal": Look(BLUE, width=2.2)}


@final
@dataclass(frozen=True, slots=True)
class _Entry:
    """One entry of Table 4, computed and as printed."""

    eps: Fraction
    bound: str
    eps0: Fraction
    printed: Fraction
    mean: float
    spread: float
    root: float
    error: Fraction

    def row(self) -> list[str]:
        met = "yes" if self.printed <= self.eps0 else "no"
        return [
            *(f"{float(self.eps):g}", self.bound, f"{float(self.eps0):.6f}", f"{float(self.printed):.2f}", met),
            *(f"{self.mean:.5f}", f"{self.spread:.5f}", f"{self.root:.5f}", f"{float(self.error):.3f}"),
        ]


def _entries() -> Iterator[_Entry]:
    rng = np.random.default_rng(20)
    for eps in frequencies.EPSILONS:
        printed = (frequencies.PRINTED_BENNETT[eps], frequencies.PRINTED_OPTIMAL[eps])
        for bound, claimed, error in zip(_LOOKS, printed, frequencies.PRINTED_ERRORS[eps], strict=True):
            eps0 = _largest_budget(bound, eps)
            runs = _errors(eps0, rng)
            spread = float(runs.std(ddof=1) / len(runs) ** 0.5)
            root = evaluate(sp.sqrt(frequencies.mean_square(sp.exp(sp.Rational(eps0.numerator, eps0.denominator)))))
            yield _Entry(eps, bound, eps0, claimed, float(runs.mean()), spread, to_float(root), error)


def table_4(directory: Path) -> list[Path]:
    """Table 4: largest budgets in millionths, certified from both sides, and the errors they leave."""
    name, entries = "decomposition.table-4", list(_entries())
    remark = (
        "largest eps0 (six digits, rounded down, certified in ball arithmetic) with delta(eps) <= 1e-6 for 10-RR, "
        f"n = {frequencies.USERS}; l2 error at that eps0 over {_REPEATS} seeded runs, Zipf(0.7) data, unbiased and not "
        "clipped; the closed form is that of the mean square, whatever the data"
    )
    picture = directory / f"{name}.png"
    write_atomically(picture, drawn(_panels(entries), 2))
    rows = [entry.row() for entry in entries]
    return [_write(name, remark, _COLUMNS, rows, directory), _page(name, remark, _COLUMNS, rows, directory), picture]


def _panels(entries: Sequence[_Entry]) -> list[Panel]:
    """Budgets, and the errors they leave, as curves with the printed entries as points beside them."""
    budgets: list[Series] = []
    errors: list[Series] = []
    for bound, look in _LOOKS.items():
        own = [entry for entry in entries if entry.bound == bound]
        given = Look(look.colour, "", "x" if bound == "Bennett" else "o")
        for label, style, value, error in (
            ("computed", look, attrgetter("eps0"), attrgetter("mean")),
            ("printed", given, attrgetter("printed"), attrgetter("error")),
        ):
            budgets.append(Series(f"{bound}, {label}", tuple((float(e.eps), float(value(e))) for e in own), style))
            errors.append(Series(f"{bound}, {label}", tuple((float(e.eps), float(error(e))) for e in own), style))
    setting = f"10-RR, n = {frequencies.USERS}, δ = 1e-6"
    return [
        Panel(setting, ("ε", "largest ε₀"), tuple(budgets), ("log", "log")),
        Panel(setting, ("ε", "mean l2 error"), tuple(errors), ("log", "log")),
    ]


def _largest_budget(bound: str, eps: Fraction) -> Fraction:
    """The largest multiple of 1e-6 at which a bound certainly meets the target; it misses it at the next one."""
    low, high = 0, 5 * _DIGITS
    while high - low > 1:
        middle = (low + high) // 2
        ball = frequencies.certified_bound(bound, Fraction(middle, _DIGITS), eps)
        low, high = (middle, high) if ball.upper <= frequencies.TARGET else (low, middle)
    return Fraction(low, _DIGITS)


def _errors(eps0: Fraction, rng: np.random.Generator) -> Any:
    """Errors of seeded runs on Zipf data; the channel has a rational ratio cap, right to thirty digits."""
    k, n = frequencies.SYMBOLS, frequencies.USERS
    share = np.arange(1, k + 1) ** -0.7
    data = rng.multinomial(n, share / share.sum())
    lam = enclose(Exp(eps0)).midpoint.limit_denominator(10**12)
    channel = mechanism("krr").channel(lam=lam, k=k)
    truth = [Fraction(int(count), n) for count in data]
    return simulated_errors(channel, truth, n=n, population="fixed", rng=rng, repetitions=_REPEATS)


REPRODUCE: Final = {**_FORMULAS, "decomposition.table-4": table_4}
