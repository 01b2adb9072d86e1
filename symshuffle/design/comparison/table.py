"""A comparison as data: rows in the order of their risk, and their faces."""

from __future__ import annotations

import html
import io
import itertools
import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, final

from symshuffle.base.choices import EVALUATED, LOSSES
from symshuffle.base.errors import InputError
from symshuffle.base.levels import words_of_target
from symshuffle.base.numbers import counted, target_decimal
from symshuffle.base.results import Bracket, FirstLines, at_target, outward, safe_number
from symshuffle.base.rows import FlatRow, csv_text, ends
from symshuffle.design.comparison.matching import Match
from symshuffle.design.comparison.rows import MARK, Row

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from rich.table import Table


@final
@dataclass(frozen=True, slots=True)
class Comparison:
    """Table of mechanisms compared under one common budget.

    Parameters
    ----------
    inputs, users : int
        Numbers k of inputs and n of users.
    match : Match
        What they have in common.
    rows : tuple of Row
        The smallest loss first, ties by eps.
    absent : tuple of (str, str)
        Mechanisms without a row, and why.
    alike : tuple of str
        Which rows are the same mechanism, and which have the same bound.
    """

    inputs: int
    users: int
    match: Match
    rows: tuple[Row, ...]
    absent: tuple[tuple[str, str], ...]
    alike: tuple[str, ...] = ()

    @property
    def about(self) -> str:
        """What the rows say."""
        over = self.match.over
        private = (
            "no delta was given, so that eps is null"
            if self.match.delta is None
            else f"eps is certified at delta = {target_decimal(self.match.delta, up=True)} "
            f"by the optimal decomposition{over}"
        )
        worst = " or ".join(dict.fromkeys(row.worst for row in self.rows if row.worst))
        ranked = f"rows are sorted by the {LOSSES[self.match.loss]} (worst at: {worst}); "
        ranked = "" if self.match.loss == "l2" or not worst else ranked
        return (
            f"{self.inputs} inputs, {self.users} users, {self.match.words}; risks are exact squared errors of the "
            f"estimator named in each row, for every fixed composition alike (the worst is the uniform one); {ranked}"
            f"{private};"
            f" {MARK} marks risks above {1 - Fraction(1, self.inputs)}, that of the answer uniform"
        )

    @property
    def best(self) -> Row | None:
        """The row with the smallest loss among those that spend no more than is common; None if no loss is finite."""
        return next((row for row in self.rows if row.loss is not None and not row.excess), None)

    @property
    def lines(self) -> FirstLines:
        """First lines of the comparison: best row, protected users, assumptions, evidence."""
        best, loss = self.best, LOSSES[self.match.loss]
        over = "" if self.match.kind == "eps-delta" else f", eps{self.match.over}" if self.match.over else ""
        at = f"at {self.match.words}{over}, k = {self.inputs}, n = {self.users}"
        if best is None or best.loss is None:
            return FirstLines("best", "none: no row has a finite loss", about=at, sure="no unbiased estimator is known")
        compared = [row for row in self.rows if not row.excess and row.loss is not None]
        same = [row.cells()["mechanism"] for row in compared[1:] if row.loss and row.loss.lower <= best.loss.upper]
        worst = "" if self.match.loss == "l2" else f" (worst: {best.worst})"
        tied = f"; as small: {', '.join(same)}" if same else ""
        left = len(self.rows) - len(compared)
        others = f" ({left} more: no finite loss, or more is spent)" if left else ""
        number = (
            f"{best.cells()['mechanism']}: {loss}{worst} {safe_number(best.loss, 'upper')}, the smallest of "
            f"{counted(len(compared), 'row')}{others}{tied}"
        )
        chosen = f"loss {EVALUATED[best.loss.arithmetic]}; parameters: {best.choice}"
        if best.neighbours is None or best.epsilon is None:
            told = "" if self.match.delta is None else f" ({best.privacy})"
            return FirstLines("best", number, about=f"{at}; nothing is said of shuffled messages{told}", sure=chosen)
        eps = best.neighbours.lines("eps", safe_number(best.epsilon, "upper"), EVALUATED[best.epsilon.arithmetic])
        level = at_target(eps.number, words_of_target(delta=self.match.delta))
        return FirstLines(
            "best",
            number,
            protects=f"{eps.protects}, eps {level}",
            assumes=eps.assumes,
            sure=f"{chosen}; eps: {eps.sure}",
        )

    @property
    def evaluation(self) -> str:
        """How parameters were chosen."""
        return (
            "free parameters are proposed by a search in doubles, and matched with certified arithmetic on the safe "
            "side; each row says what excludes better ones (choice, risk_floor). " + _HOW[self.match.kind]
        )

    def row(self, name: str) -> Row:
        """The first row of a mechanism, by name; ``KeyError`` if it has none."""
        return {row.name: row for row in reversed(self.rows)}[name]

    def to_dict(self) -> dict[str, Any]:
        """A form that ``json.dumps`` accepts."""
        once = self.match.rounds == 1
        return {
            "k": self.inputs,
            "n": self.users,
            **({} if once else {"rounds": self.match.rounds}),
            **{name: value for name, value in self.match.covered.groups[0].to_dict().items() if name != "count"},
            "match": {
                "kind": self.match.kind,
                "value": str(self.match.value),
                "delta": None if self.match.delta is None else str(self.match.delta),
                "loss": self.match.loss,
            },
            "about": self.about,
            "evaluation": self.evaluation,
            "rows": [row.to_dict() for row in self.rows],
            "absent": [{"mechanism": name, "reason": reason} for name, reason in self.absent],
            "alike": list(self.alike),
        }

    def to_rows(self) -> list[FlatRow]:
        """One flat row per mechanism, for a data frame; doubles are rounded outward."""
        found: list[FlatRow] = []
        for row in self.rows:
            attained = row.attained
            one: FlatRow = {"mechanism": row.name, "k": self.inputs, "n": self.users}
            one["parameters"] = ", ".join(f"{name}={value}" for name, value in row.parameters)
            for name in ("eps0", "epsilon", "chi_square", "trace", "risk", "iid_risk", "variance", "bitwise_risk"):
                one |= ends(getattr(row, name), name)
            one["attained_lower"] = None if attained is None else outward(attained.lower, up=False)
            one["risk_floor"] = None if row.floor is None else outward(row.floor, up=False)
            one |= {"estimator": row.estimator or None, "reason": row.reason or None, "choice": row.choice}
            one |= ends(row.loss, "loss") | {"loss_worst_at": row.worst or None}
            found.append(one | {"worse_than_uniform": row.worse_than_uniform, "bits_per_message": row.bits})
        return found

    def to_csv(self) -> str:
        """CSV text with one line per row, one value in each cell, numbers rounded to the safe side.

        Parameters of mechanisms are columns ``parameters.k``, ratios over lower bounds ``iid_risk_over.sharp cube``.
        """
        records = [dict(_flat(row.to_dict())) for row in self.rows]
        heads = dict.fromkeys(name for record in records for name in record)
        return csv_text(list(heads) or ["mechanism"], records)

    def table(self, *, every: bool = False) -> Table:
        """A table for a terminal: what fits a page, or with ``every`` all columns."""
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        drawn = Table(box=SIMPLE_HEAD, pad_edge=False, padding=(0, 1, 0, 0))
        shown = [row.cells() for row in self.rows]
        empty = {name for name in (shown[0] if shown else ()) if not any(row[name] for row in shown)}
        fewer = set() if every else {"trace", "risk/bound"} | ({"chi2"} - {self._matched})
        heads = [name for name in (shown[0] if shown else ()) if name not in empty | fewer]
        for name in heads:
            drawn.add_column(name, justify="left" if name == "mechanism" else "right", no_wrap=name != "mechanism")
        for row in shown:
            drawn.add_row(*(row[name] for name in heads))
        return drawn

    @property
    def _matched(self) -> str:
        """The column of what the rows have in common."""
        return {"chi-square": "chi2", "eps0": "eps0", "eps-delta": "eps"}[self.match.kind]

    def remarks(self) -> Iterator[str]:
        """Remarks below the table: meaning of marks, whose risks, equal rows, infinite risks, missing rows."""
        if any(row.worse_than_uniform for row in self.rows):
            yield f"{MARK} marks a risk above {1 - Fraction(1, self.inputs)}, the risk of always answering uniform"
        named: dict[str, list[str]] = {}
        for row in self.rows:
            if row.estimator:
                named.setdefault(row.estimator, []).append(row.cells()["mechanism"])
        for estimator, rows in named.items():
            whose = f" of {', '.join(rows)}" if len(named) > 1 else ""
            yield f"estimator{whose}: {estimator}"
        yield from self.alike
        for row in self.rows:
            if row.excess:
                yield f"{row.name} spends more: {row.excess}"
            if row.rounding:
                yield f"{row.name} is {row.rounding}"
            if row.reason:
                yield f"{row.name}: {row.reason}"
        for name, reason in self.absent:
            yield f"{name} has no row: {reason}"

    def __repr__(self) -> str:
        best = f", best {self.rows[0].name}" if self.rows else ""
        return f"<Comparison of {len(self.rows)} mechanisms, k = {self.inputs}, n = {self.users}{best}>"

    def _repr_html_(self) -> str:
        shown = [row.cells() for row in self.rows]
        heads = [name for name in (shown[0] if shown else ()) if any(row[name] for row in shown)]
        lines = [_line("th", heads), *(_line("td", (row[name] for name in heads)) for row in shown)]
        remarks = "".join(f"<li>{html.escape(remark)}</li>" for remark in self.remarks())
        return f"{self.lines.to_html()}<table>{''.join(lines)}</table><ul>{remarks}</ul>"


_HOW: Final = {
    "chi-square": ("The match is the largest pairwise chi-square divergence, by a closed form in each mechanism."),
    "eps0": "All share the ratio cap exp(eps0).",
    "eps-delta": (
        "The match is the bound by the optimal decomposition, solved for eps0 for the best few integers; candidates "
        "are ranked by the second moment of the blanket law."
    ),
}


def _line(tag: str, cells: Iterable[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in cells) + "</tr>"


def _flat(row: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The cells of a row: of a bracket its upper end, of a table one for each of its entries."""
    for name, value in row.items():
        if not isinstance(value, dict):
            yield prefix + name, value
        elif set(value) == {"lower", "upper", "exact", "arithmetic"}:
            yield prefix + name, value["upper"]
        else:
            yield from _flat(value, f"{prefix}{name}.")


FORMATS: Final = ("pdf", "png", "svg")
_MARKERS: Final = "osD^v<>P"


def draw(found: Comparison) -> Figure:
    """Loss against the certified eps and against the local level, whichever differ between rows.

    Points are numbered, the smallest loss first; the names stand beside the picture, so that no two of them overlap.
    """
    from matplotlib.figure import Figure

    points = _points(found)
    levels: list[tuple[str, Callable[[Row], Bracket | None]]] = [
        ("certified eps", lambda row: row.epsilon),
        ("local level eps0", lambda row: row.eps0),
    ]
    # What all have in common is no axis: it is in the title.
    panels = [one for one in levels if len({place[0] for row, _ in points if (place := _place(row, one[1](row)))}) > 1]
    panels = panels or levels[1:]
    size = (2 + 5 * len(panels) + 2, max(4.5, 1 + 0.22 * len(points)))
    figure = Figure(figsize=size, layout="constrained")
    axes: Any = figure.subplots(1, len(panels), squeeze=False, sharey=True)
    for axis, (label, level) in zip(axes[0], panels, strict=True):
        _draw_on(axis, found, points, label, level)
    axes[0][0].set_ylabel(LOSSES[found.match.loss] if found.match.loss != "l2" else "risk")
    handles, labels = axes[0][-1].get_legend_handles_labels()
    figure.legend(handles, labels, loc="outside right upper", fontsize=8, frameon=False)
    figure.suptitle(f"k = {found.inputs}, n = {found.users}, {found.match.words}", fontsize=10)
    return figure


def _points(found: Comparison) -> list[tuple[Row, str]]:
    """The rows that have a place, each with the names of all that share it: the same loss, eps and level."""
    shared: dict[tuple[object, ...], tuple[Row, list[str]]] = {}
    for row in found.rows:
        if row.loss is not None:
            place = tuple(
                None if one is None else f"{float(one.upper):.6g}" for one in (row.loss, row.epsilon, row.eps0)
            )
            shared.setdefault(place, (row, []))[1].append(row.cells()["mechanism"])
    return [(row, " = ".join(names)) for row, names in shared.values()]


def _draw_on(axis: Any, found: Comparison, points: list[tuple[Row, str]], label: str, level: Any) -> None:
    places: dict[tuple[float, float], list[str]] = {}
    for number, (row, names) in enumerate(points, start=1):
        place = _place(row, level(row))
        if place is None:
            axis.plot([], [], " ", label=f"{number}  {names}")
            continue
        axis.plot([place[0]], [place[1]], _MARKERS[number % len(_MARKERS)], markersize=6, label=f"{number}  {names}")
        places.setdefault(place, []).append(str(number))
    _number(axis, places)
    uniform = 1 - 1 / found.inputs
    if found.match.loss == "l2" and any(place[1] > uniform / 10 for place in places):
        axis.axhline(uniform, linestyle=":", color="gray", linewidth=1, label="the answer uniform")
    axis.set_yscale("log")
    axis.set_xlabel(label)
    axis.margins(x=0.08, y=0.12)
    axis.locator_params(axis="x", nbins=5)
    axis.grid(alpha=0.3)


def _number(
    axis: Any, places: dict[tuple[float, float], list[str]], *, near: float = 0.06, letter: float = 0.016
) -> None:
    """Numbers beside the points; those of points that lie close together in one label.

    - ``near``: share of an axis within which two points have one label.
    - ``letter``: share of an axis that a letter of a label takes.
    """
    if not places:
        return
    across = [x for x, _ in places]
    up = [math.log(y) for _, y in places]
    wide, high = max(across) - min(across) or 1.0, max(up) - min(up) or 1.0
    # A label starts at its point; one that would reach another label becomes part of it.
    labels = sorted((x, math.log(y), numbers) for (x, y), numbers in places.items())
    for _ in places:
        for (i, left), (j, right) in itertools.combinations(enumerate(labels), 2):
            reach = (near + letter * len(", ".join(left[2]))) * wide
            if right[0] - left[0] < reach and abs(left[1] - right[1]) < near * high:
                labels[i] = (left[0], left[1], [*left[2], *right[2]])
                del labels[j]
                break
        else:
            break
    for x, y, numbers in labels:
        text = ", ".join(sorted(numbers, key=int))
        axis.annotate(text, (x, math.exp(y)), textcoords="offset points", xytext=(5, 5), fontsize=8)


def _place(row: Row, level: Bracket | None) -> tuple[float, float] | None:
    if row.loss is None or level is None:
        return None
    return float(f"{float(level.upper):.6g}"), float(f"{float(row.loss.upper):.6g}")


def drawn(found: Comparison, suffix: str) -> bytes:
    """Picture of a comparison as the bytes of a file.

    Parameters
    ----------
    found : Comparison
        What :func:`symshuffle.compare` returned.
    suffix : {".png", ".svg", ".pdf"}
        Format of the file.

    Returns
    -------
    bytes
        The content of the file.

    Raises
    ------
    InputError
        If the format is another one.
    """
    return picture(draw(found), suffix, dpi=120)


def picture(figure: Figure, suffix: str, *, dpi: int) -> bytes:
    """A figure as the bytes of a file."""
    stream = io.BytesIO()
    figure.savefig(stream, format=check_picture(suffix), dpi=dpi)
    return stream.getvalue()


def check_picture(suffix: str) -> str:
    """The kind of file that a suffix stands for."""
    kind = suffix.removeprefix(".").lower()
    if kind not in FORMATS:
        raise InputError("suffix", suffix or "no suffix", "a file name that ends in ." + ", .".join(FORMATS))
    return kind
