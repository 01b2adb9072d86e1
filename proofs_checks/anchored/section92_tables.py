"""Section 9.2 and Appendix D: the two tables, and what they are said to show."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np
import sympy as sp

from symshuffle.base.numbers import Exp, enclose, format_decimal, lower_end, upper_end
from symshuffle.base.solvers import cvxpy, solve_model
from symshuffle.ledger.claims.comparisons import Comparison, compare, identity, serving
from symshuffle.ledger.claims.model import Claim, Control, Correction, Statement, by_cases
from symshuffle.ledger.claims.parts import Clause, Erratum
from symshuffle.mechanisms.finite import K, S
from symshuffle.mechanisms.symbolic import LAM, evaluate
from symshuffle.utility.frontiers.caps import optimal_subset_sizes, raw_cap_risk_constant, raw_cap_trace
from symshuffle.utility.frontiers.formulas import at, subset_budget, subset_trace
from symshuffle.utility.frontiers.frontier import slope_constant

ZERO: Final = Fraction(0)


TABLE: Final = (
    (3, "1/2", 1, "0.1897", "21.0899", "20.4232", "0.1907", "1.1118"),
    (3, "1", 1, "0.7957", "5.0268", "4.3601", "0.8812", "5.1358"),
    (3, "2", 1, "2.7783", "1.4397", "0.7731", "5.0813", "29.6160"),
    (5, "1/2", 2, "0.3184", "50.2587", "49.4587", "0.3579", "3.2208"),
    (5, "1", 1, "1.3083", "12.2298", "11.4298", "1.3359", "12.0229"),
    (5, "2", 1, "6.2940", "2.5421", "1.7421", "9.0427", "81.3841"),
    (10, "1/2", 4, "0.6367", "127.2172", "126.3172", "0.8052", "12.8832"),
    (10, "1", 3, "2.6996", "30.0041", "29.1041", "3.4977", "55.9634"),
    (10, "2", 1, "13.6775", "5.9221", "5.0221", "15.9062", "254.4990"),
    (20, "1/2", 8, "1.2734", "283.4902", "282.5402", "1.7944", "51.5326"),
    (20, "1", 5, "5.4176", "66.6344", "65.6844", "7.3780", "211.8811"),
    (20, "2", 2, "27.3551", "13.1968", "12.2468", "35.4483", "1017.9961"),
)
"""Inputs, budget, best size, then trace, both risk constants, low-budget cap and crude bound, as printed."""


def _table_1() -> Iterator[tuple[int, str, int, tuple[str, ...]]]:
    """Rows of Table 1."""
    return ((k, eps, s, tuple(row[:3])) for k, eps, s, *row in TABLE)


def _table_2() -> Iterator[tuple[int, str, int, tuple[str, ...]]]:
    """Rows of Table 2."""
    return ((k, eps, s, (row[0], row[3], row[4])) for k, eps, s, *row in TABLE)


def table_1_row(k: int, eps: str) -> tuple[Any, ...]:
    """Trace and both risk constants of the best size, as balls."""
    lam = Exp(Fraction(eps))
    risks = (raw_cap_risk_constant(k, lam, population=p) for p in ("iid", "fixed"))
    return raw_cap_trace(k, lam), *risks


def table_2_row(k: int, eps: str) -> tuple[Any, ...]:
    """Trace, low-budget cap and crude bound at the budget of the best size, as balls."""
    lam = Exp(Fraction(eps))
    spent = at(subset_budget(), k=k, s=optimal_subset_sizes(k, lam)[0], lam=lam)
    cap: Any = evaluate(slope_constant().subs(K, k), bits=128)
    return raw_cap_trace(k, lam), spent * cap, spent * k * (k - 1)


def _check_rows(row: Any, statement: Statement) -> Iterator[Comparison]:
    """The stated rows: best size of the library, and each number as a ball in the rounding interval of its digits."""
    for k, eps, s, printed in statement():
        size = compare(optimal_subset_sizes(k, Exp(Fraction(eps))), (s,), at=f"k={k}, eps0={eps}: size")
        yield from serving("sizes", [size])
        for column, (value, digits) in enumerate(zip(row(k, eps), printed, strict=True)):
            half = Fraction(1, 20000)
            for relation, end in ((">=", Fraction(digits) - half), ("<=", Fraction(digits) + half)):
                at = f"k={k}, eps0={eps}, column {column + 1}: rounds to {digits}"
                yield from serving("numbers", [compare(value, end, relation, at=at)])


def _check_table_1(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """All 12 stated rows: best size, trace and both risk constants, balls in the rounding intervals."""
    yield from _check_rows(table_1_row, statement)


def _check_table_2(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """All 12 stated rows: best size, trace, low-budget cap and crude bound, balls in the rounding intervals."""
    yield from _check_rows(table_2_row, statement)


def _other_size(rows: Any) -> Any:
    return lambda: ((k, eps, s + 1, printed) for k, eps, s, printed in rows())


def _shifted(rows: Any) -> Any:
    return lambda: (
        (k, eps, s, (*printed[:2], str(Fraction(printed[2]) + Fraction(1, 10**4)))) for k, eps, s, printed in rows()
    )


def _row(k: int, eps: Fraction) -> int:
    """The place of a row in the table."""
    return next(place for place, row in enumerate(TABLE) if (row[0], Fraction(row[1])) == (k, eps))


def _linear_program(k: int, eps: Fraction) -> str:
    """The printed optimum of the program over extremal channels."""
    return TABLE[_row(k, eps)][3]


def extremal_program(k: int, lam: float) -> float:
    """The largest trace as a linear program over extremal channels, modelled in cvxpy and solved by HiGHS.

    All ``2^k - 2`` two-level templates up to k = 10 with the mean as constraint; beyond, one variable per cyclic orbit,
    whose average has mean 1 by symmetry.
    """
    cp = cvxpy()
    masks = np.arange(1, 2**k - 1)
    if k > 10:
        masks = masks[_is_smallest_rotation(masks, k)]
    bits = (masks[:, None] >> np.arange(k)) & 1
    templates = np.where(bits, lam, 1.0)
    templates *= k / templates.sum(axis=1, keepdims=True)
    signal = ((templates - 1) ** 2).sum(axis=1)
    mass = cp.Variable(len(masks), nonneg=True)
    mean = [templates.T @ mass == np.ones(k)] if k <= 10 else [cp.sum(mass) == 1]
    problem = cp.Problem(cp.Maximize(signal @ mass), mean)
    solve_model(problem, cp.HIGHS)
    if problem.status != cp.OPTIMAL:
        from symshuffle.base.errors import SolverFailure

        raise SolverFailure("HiGHS", str(problem.status), f"{len(masks)} extremal columns")
    return float(problem.value)


def _is_smallest_rotation(masks: Any, k: int) -> Any:
    """Whether a subset, as a bit mask, is the smallest of its rotations."""
    keep = np.ones(len(masks), dtype=bool)
    for shift in range(1, k):
        keep &= masks <= ((masks << shift) | (masks >> (k - shift))) & (2**k - 1)
    return keep


def _column(k: int, s: int, lam: Any) -> Any:
    """What a template with s coordinates lam times the others, of mean 1, adds to the trace."""
    low = k / (s * lam + k - s)
    high, rest = low * lam - 1, low - 1
    return s * (high * high) + (k - s) * (rest * rest)


def _check_program(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """The program is solved by its dual.

    A template has total k, so that equal dual values v/k weigh every column at v: they are feasible where v is at least
    what each of the 2^k - 2 columns adds, which depends on its size alone. The uniform mixture of the columns of one
    size has mean 1, and reaches what they add.
    """
    half = Fraction(1, 20000)
    for k, eps, *_rest in TABLE:
        lam = enclose(Exp(Fraction(eps)))
        columns = {s: _column(k, s, lam) for s in range(1, k)}
        best = max(columns, key=lambda s: upper_end(columns[s]))
        for s in columns.keys() - {best}:
            yield compare(columns[s], columns[best], "<", at=f"k={k}, eps0={eps}: columns of size {s} against {best}")
        printed = Fraction(statement(k, Fraction(eps)))
        for relation, end in ((">=", printed - half), ("<=", printed + half)):
            yield compare(columns[best], end, relation, at=f"k={k}, eps0={eps}: optimum rounds to {printed}")


Gaps: TypeAlias = dict[tuple[int, str], str]
"""Relative gaps of trace and low-budget cap in percent, by number of inputs and budget, as printed digits."""


def _noticeable(eps: Fraction) -> tuple[Fraction, Gaps]:
    """The least relative gap of trace and cap once the budget is no longer small, as we read it; none by number."""
    return (Fraction(1, 20) if eps >= 1 else ZERO), {}


def _gap(eps: Fraction) -> tuple[Fraction, Gaps]:
    """The least relative gap at all 12 points, and three of the gaps."""
    return Fraction(569, 100_000), {(5, "1"): "2.1", (20, "1/2"): "29", (20, "2"): "23"}


def _one_digit_off(eps: Fraction) -> tuple[Fraction, Gaps]:
    """The last of the three gaps one percent point too large."""
    return Fraction(569, 100_000), {**_gap(eps)[1], (20, "2"): "24"}


def _check_prose(statement: Statement, _: np.random.Generator) -> Iterator[Comparison]:
    """At the 12 table points: relative gap of trace and cap at least the stated, and rounding to a stated one; balls.

    The crude bound is more than five times the trace.
    """
    for k, eps, *_rest in TABLE:
        exact, cap, crude = table_2_row(k, eps)
        gap = 1 - exact / cap
        least, stated = statement(Fraction(eps))
        yield compare(gap, least, ">=", at=f"k={k}, eps0={eps}: relative gap {float(gap):.4f}")
        if (digits := stated.get((k, eps))) is not None:
            half = Fraction(1, 20) if "." in digits else Fraction(1, 2)
            for relation, end in ((">=", Fraction(digits) - half), ("<=", Fraction(digits) + half)):
                yield compare(100 * gap, end, relation, at=f"k={k}, eps0={eps}: gap rounds to {digits} percent")
        yield compare(crude / exact, Fraction(5), ">", at=f"k={k}, eps0={eps}: crude bound over trace")


def _check_prose_corrected(statement: Statement, rng: np.random.Generator) -> Iterator[Comparison]:
    """As :func:`_check_prose`; at k = 20 the gap shrinks as the budget grows (balls), at k = 3 it closes (symbolic)."""
    yield from _check_prose(statement, rng)
    gaps = [1 - row[0] / row[1] for row in (table_2_row(20, eps) for eps in ("1/2", "1", "2"))]
    for earlier, later in ((0, 1), (1, 2)):
        yield compare(gaps[earlier], gaps[later], ">", at="k=20: the gap shrinks as the budget grows")
    root = sp.sqrt(2)
    slope = (subset_trace() / subset_budget()).subs({K: 3, S: 1, LAM: root})
    yield identity(slope, slope_constant().subs(K, 3), at="k=3, lam=sqrt(2): the cap is met exactly")


def _rounds_to(value: Any, digits: str) -> bool:
    """Whether a ball lies inside the rounding interval of the printed digits."""
    half = Fraction(1, 20000)
    return Fraction(digits) - half <= lower_end(value) and upper_end(value) <= Fraction(digits) + half


def write_table(rows: Any, row: Any, header: Sequence[str], path: Path) -> list[Path]:
    """Write a table as CSV: closed forms to 17 digits, the trace again by linear program, and the printed digits."""
    lines: list[list[Any]] = []
    for k, eps, s, printed in rows:
        values = row(k, eps)
        decimals = [format_decimal(lower_end(value), digits=17, up=False) for value in values]
        program = extremal_program(k, float(np.exp(float(Fraction(eps)))))
        agree = all(_rounds_to(value, digits) for value, digits in zip(values, printed, strict=True))
        lines.append([k, eps, s, *decimals, f"{program:.10f}", *printed, "yes" if agree else "no"])
    titles = [*header, "trace by cvxpy and HiGHS", *(f"{column} (printed)" for column in header), "every digit agrees"]
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream)
        writer.writerow(["k", "eps0", "s", *titles])
        writer.writerows(lines)
    return [path]


def reproduce_table_1(directory: Path) -> list[Path]:
    """Table 1 from closed forms, beside the printed digits."""
    header = ["trace", "iid constant", "fixed constant"]
    return write_table(_table_1(), table_1_row, header, directory / "anchored.table-1.csv")


def reproduce_table_2(directory: Path) -> list[Path]:
    """Table 2 from closed forms, beside the printed digits."""
    header = ["trace", "low-budget cap", "crude bound"]
    return write_table(_table_2(), table_2_row, header, directory / "anchored.table-2.csv")


REPRODUCE: Final = {"anchored.table-1": reproduce_table_1, "anchored.table-2": reproduce_table_2}


CLAIMS: Final = (
    Claim(
        id="anchored.sec-9.2",
        kind="statement",
        title="what the tables are said to show",
        text=(
            Clause(
                "trace",
                r"The exact trace is noticeably below the low-budget cap once $\varepsilon_0$ is no longer small "
                r"(read: by 5 percent from $\varepsilon_0=1$ on).",
            ),
            Clause("crude bound", "The crude bound is far too large throughout (read: fivefold)."),
        ),
        source="anchored, Section 9.2",
        assumptions=(),
        scope="the 12 table points, and the three gaps named in the correction, in balls",
        grade="refuted",
        printed=_noticeable,
        check=_check_prose,
        controls=(
            Control("20 percent everywhere", lambda eps: (Fraction(1, 5), {})),
            Control("a gap of 24 in place of 23 percent", _one_digit_off),
            Control("a gap of 2.2 in place of 2.1 percent", lambda eps: (_gap(eps)[0], {(5, "1"): "2.2"})),
        ),
        expected="refuted",
        erratum=Erratum(
            "wording",
            "reading",
            "Noticeably and far are no numbers: under another threshold than ours the sentence may pass. The "
            "tables are right.",
            quote="noticeably below the low-budget cap",
        ),
        corrected=Correction(
            text=(
                r"The trace is below the cap by at least 0.569 percent at all 12 points, but by how much is not a "
                r"matter of $\varepsilon_0$: 2.1 percent at $k=5$, $\varepsilon_0=1$, and at $k=20$ the gap shrinks "
                r"from 29 to 23 percent as $\varepsilon_0$ grows from 1/2 to 2; at $k=3$ the cap is met at "
                r"$\lambda=\sqrt2$. The "
                r"crude bound is at least five times the trace throughout."
            ),
            statement=_gap,
            grade="certified",
            check=_check_prose_corrected,
        ),
        obligations=by_cases("eps", clause=("trace", "crude bound")),
    ),
    Claim(
        id="anchored.table-1",
        kind="table",
        title="phase diagram and canonical risk constants",
        text=(
            Clause("sizes", r"Best size for $k\in\{3,5,10,20\}$, $\varepsilon_0\in\{\frac12,1,2\}$."),
            Clause("numbers", "Trace $T^*$, $(k-1)^2/T^*$ and $(k-1)^2/T^*-(k-1)/k$ at the same points."),
        ),
        source="anchored, Table 1",
        assumptions=(),
        scope="all 12 sizes and 36 numbers, each ball inside the rounding interval of the printed digits",
        grade="certified",
        printed=_table_1,
        check=_check_table_1,
        controls=(
            Control("sizes one larger", _other_size(_table_1)),
            Control("last column up by one digit", _shifted(_table_1)),
        ),
        expected="holds",
        obligations=(*by_cases("sizes", clause="sizes"), *by_cases("numbers", clause="numbers")),
    ),
    Claim(
        id="anchored.table-2",
        kind="table",
        title="exact trace, low-budget cap and crude bound",
        text=(
            Clause("sizes", r"The best size $s^*$ for $k\in\{3,5,10,20\}$, $\varepsilon_0\in\{\frac12,1,2\}$."),
            Clause("numbers", r"$T^*$, $\kappa_kB(s^*)$ and $k(k-1)B(s^*)$ at the same points."),
        ),
        source="anchored, Table 2",
        assumptions=(),
        scope="all 12 sizes and 36 numbers, each ball inside the rounding interval of the printed digits",
        grade="certified",
        printed=_table_2,
        check=_check_table_2,
        controls=(
            Control("sizes one larger", _other_size(_table_2)),
            Control("last column up by one digit", _shifted(_table_2)),
        ),
        expected="holds",
        obligations=(*by_cases("sizes", clause="sizes"), *by_cases("numbers", clause="numbers")),
    ),
    Claim(
        id="symshuffle.anchored-table-programs",
        kind="statement",
        title="the traces of the tables again, by linear programs",
        text=(
            "The largest trace over all mixtures of extremal channels, as a linear program over two-level templates, "
            "rounds to the printed trace."
        ),
        source="anchored, Tables 1 and 2, by another route",
        assumptions=(),
        scope="all 2^k - 2 columns by their size, primal and dual solution in balls",
        grade="certified",
        printed=_linear_program,
        check=_check_program,
        controls=(
            Control(
                "traces of the next row",
                lambda k, eps: TABLE[(_row(k, eps) + 1) % len(TABLE)][3],
            ),
        ),
        expected="holds",
        obligations=by_cases("k", "eps"),
    ),
)
