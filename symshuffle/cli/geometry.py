"""Commands about anchored geometry: frontier, subset-size."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer
from rich.console import Console
from rich.table import Table

from symshuffle.base.choices import EVALUATED, LOSSES, Loss
from symshuffle.base.errors import InputError
from symshuffle.base.levels import read_budget, words_of_target
from symshuffle.base.numbers import (
    Ball,
    Number,
    as_integer,
    exact_text,
    format_decimal,
    lower_end,
    parse_rational,
    upper_end,
)
from symshuffle.base.results import FirstLines, safe_number
from symshuffle.cli.options import PLAIN, LossOption, Show, command
from symshuffle.cli.progress import progress

if TYPE_CHECKING:
    from symshuffle.base.numbers import Real
    from symshuffle.base.results import Bracket
    from symshuffle.utility.frontiers.certificate import Frontier

app = typer.Typer()

_DIGITS: Final = 20

Inputs = Annotated[str, typer.Option("--k", help="Number of inputs, at least 2.")]
Latex = Annotated[bool, typer.Option("--latex", help="Print the closed forms behind the numbers as LaTeX instead.")]


@command(app)
def frontier(
    k: Inputs,
    budget: Annotated[
        str, typer.Option("--budget", help="Cap on every pairwise chi-square divergence of rows; `inf` for none.")
    ],
    lam_cap: Annotated[
        str | None,
        typer.Option("--lam-cap", help="Cap exp(eps0) > 1 on every likelihood ratio besides; `inf` for none."),
    ] = None,
    eps0: Annotated[
        str | None,
        typer.Option("--eps0", help="The cap of --lam-cap as eps0 = log of it, > 0, in nats; `inf` for none."),
    ] = None,
    show: Show = PLAIN,
    latex: Latex = False,
) -> None:
    """Largest trace of a channel under a pairwise budget, with a law that attains it and a line that bounds it.

    The law printed attains lower, and the certificate proves upper; both were checked over the rationals. iid_constant
    and fixed_constant are n times the smallest worst-case canonical risk: the first for i.i.d. users, the second for a
    fixed composition of the population.
    """
    from symshuffle.utility.frontiers.frontier import trace_frontier

    uncapped = [text for text in (lam_cap, eps0) if text is not None and text.strip() == "inf"]
    cap = None if uncapped and None in (lam_cap, eps0) else _cap(lam_cap, eps0, "--lam-cap")
    limit = math.inf if budget.strip() == "inf" else parse_rational(budget, "--budget")
    found = trace_frontier(as_integer(k, "--k", 2), limit, lam_cap=cap)
    found.verify()
    if latex and not show.as_json:
        _show_formulas("frontier latex")
    elif not show.data(_frontier_json(found, k=k, budget=budget, lam_cap=lam_cap, eps0=eps0)):
        _show_frontier(found, show)


@command(app, name="subset-size")
def subset_size(
    k: Inputs,
    lam: Annotated[str | None, typer.Option("--lam", help="Ratio cap exp(eps0) > 1; rationals stay exact.")] = None,
    eps0: Annotated[str | None, typer.Option("--eps0", help="The same cap as eps0 > 0, in nats.")] = None,
    loss: LossOption = "l2",
    show: Show = PLAIN,
    latex: Latex = False,
) -> None:
    """Best subset sizes under a local ratio cap, with trace and risks: one size, or two that tie exactly."""
    from symshuffle.utility.frontiers.caps import optimal_subset_sizes, raw_cap_risk_constant, raw_cap_trace

    cap = _cap(lam, eps0, "--lam")
    if cap is None:
        raise InputError("--lam, --eps0", None, "one of the two")
    inputs = as_integer(k, "--k", 2)
    if latex and loss != "l2":
        raise InputError("--latex", f"with --loss {loss}", "--loss l2: the other losses have no formula here")
    with progress() as display:
        display.add_task("", total=None)
        sizes = optimal_subset_sizes(inputs, cap, loss=loss)
    if loss != "l2":
        _show_size_by_loss(inputs, cap, loss, sizes, show)
        return
    if latex and not show.as_json:
        _show_formulas("size latex")
        return
    numbers = {
        "trace": raw_cap_trace(inputs, cap),
        "iid_constant": raw_cap_risk_constant(inputs, cap, population="iid"),
        "fixed_constant": raw_cap_risk_constant(inputs, cap, population="fixed"),
    }
    data: dict[str, Any] = {"maximisers": list(sizes)}
    for name, value in numbers.items():
        data |= _number_json(name, value)
    if show.data(data | {"inputs": {"k": k, "lam": lam, "eps0": eps0}}):
        return
    decided = "in rationals" if isinstance(cap, Fraction) else "in balls around exp(eps0)"
    lines = FirstLines(
        "subset size",
        _sizes(sizes, cap),
        about=f"the largest trace, so the smallest worst-case canonical risk, of all channels with {inputs} inputs and "
        "likelihood ratios of at most exp(eps0); nothing is said of shuffled messages",
        sure=f"a theorem (anchored, Theorem 9.3), decided {decided}",
    )
    show.rows(lines.rows, _SIZED)
    table = Table(box=None, show_header=False)
    labels = ("trace", "n x i.i.d. risk", "n x fixed-composition risk")
    for label, value in zip(labels, numbers.values(), strict=True):
        side = "" if not isinstance(value, Ball) else "at least " if label == "trace" else "at most "
        table.add_row(label, side + _text(value, up=label != "trace"))
    Console().print(table)


def _sizes(sizes: tuple[int, ...], cap: Real) -> str:
    """The best sizes at their target."""
    target = words_of_target(exp_eps=cap).replace("eps", "eps0")
    return f"{' and '.join(map(str, sizes))} ({'tied, exact' if len(sizes) > 1 else 'exact'}) at {target}"


def _show_size_by_loss(inputs: int, cap: Real, loss: Loss, sizes: tuple[int, ...], show: Show) -> None:
    """The sizes that are best by another loss than l2, with that loss and its worst composition."""
    from symshuffle.utility.frontiers.caps import size_noise

    noise = size_noise(inputs, sizes[0], cap)
    value, worst = noise.loss(loss, 1), noise.worst(loss)
    scale = "sqrt(n)" if loss == "test" else "n"
    found = {"maximisers": list(sizes), "loss": loss, "loss_worst_at": worst, **_number_json("value", value)}
    if show.data(found | {"scale": scale}):
        return
    at_most = format_decimal(upper_end(value), digits=7, up=True)
    lines = FirstLines(
        "subset size",
        f"{_sizes(sizes, cap)}; {scale} x loss <= {at_most} (upper end, rounded up)",
        about=f"{LOSSES[loss]}, at its worst ({worst}): no subset selection with {inputs} inputs has less, other "
        "channels may; nothing is said of shuffled messages",
        sure="each size computed and compared, in rationals or enclosures",
    )
    show.rows(lines.rows, _SIZED)


_SIZED: Final = (
    (
        "trace",
        "The trace is that of the covariance of the channel's template. The largest one gives the smallest worst-case "
        "squared error of the unbiased canonical estimator.",
    ),
    (
        "risks",
        "n times the worst expected sum of squared errors of the estimated shares of n users: who draw their inputs "
        "(i.i.d.), or whose composition is fixed.",
    ),
    (
        "tie",
        "Two sizes tie where the ratio cap is a root of a polynomial; its sign is decided exactly, so that a tie is "
        "never a matter of rounding.",
    ),
)
"""What the numbers of a subset size mean."""


def _show_formulas(lines: str) -> None:
    from symshuffle.utility.frontiers.caps import capped_forms

    for line in capped_forms()[lines]:
        typer.echo(line)


def _cap(lam: str | None, eps0: str | None, option: str) -> Real | None:
    try:
        return read_budget(eps0=eps0, lam=lam)
    except InputError as error:
        names = {"lam": option, "eps0": "--eps0"}
        raise InputError(names.get(error.argument, f"{option}, --eps0"), error.value, error.expected) from None


def _text(value: Number, *, up: bool = False) -> str:
    """A rational as it is, a ball by the digits of one end."""
    if isinstance(value, Ball):
        return format_decimal(value.upper if up else value.lower, digits=_DIGITS, up=up)
    return str(value)


def _number_json(name: str, value: Number) -> dict[str, Any]:
    low, high = lower_end(value), upper_end(value)
    ends = [format_decimal(low, digits=_DIGITS, up=False), format_decimal(high, digits=_DIGITS, up=True)]
    return {name: _text(value), f"{name}_bracket": ends}


def _bracket_json(name: str, value: Bracket) -> dict[str, Any]:
    exact = value.exact
    return _number_json(name, Ball(value.lower, value.upper) if exact is None else exact)


def _frontier_json(found: Frontier, **given: str | None) -> dict[str, Any]:
    trace, shown = found.trace, found.to_dict()
    ends = trace.decimals(_DIGITS)
    data: dict[str, Any] = {
        "lower": ends["lower"],
        "upper": ends["upper"],
        "exact": None if trace.exact is None else exact_text(trace.exact),
        "law": shown["law"],
        "certificate": {
            **shown["certificate"],
            "meaning": "signal <= eta * budget + intercept for every template (of ratio at most lam_cap, if given)",
            "verified": True,
        },
    }
    if trace.lower == 0:
        data |= {"iid_constant": "inf", "fixed_constant": "inf"}
    else:
        data |= _bracket_json("iid_constant", found.risk_constant("iid"))
        data |= _bracket_json("fixed_constant", found.risk_constant("fixed"))
    return data | {"evaluation": trace.evaluation, "inputs": given}


def _show_frontier(found: Frontier, show: Show) -> None:
    about = "the largest trace of a channel under the caps: the law below attains it, a line above bounds it"
    sure = f"a certificate, checked {EVALUATED[found.trace.arithmetic]}"
    show.rows(FirstLines("trace", safe_number(found.trace, "neither"), about=about, sure=sure).rows)
    table = Table(box=None, show_header=False)
    if show.explain:
        ends, exact = found.trace.decimals(_DIGITS), found.trace.exact
        wide = f"at least {ends['lower']}, at most {ends['upper']}"
        table.add_row("trace", wide if exact is None else exact_text(exact))
    for orbit in found.orbits:
        levels = ", ".join(f"{count} x {float(value):.6g}" for count, value in orbit.levels)
        table.add_row(f"weight {float(orbit.weight):.6g}", f"all rearrangements of ({levels})")
    if found.trace.lower:
        risks = (("n x i.i.d. risk", found.risk_constant("iid")), ("n x fixed risk", found.risk_constant("fixed")))
        for label, risk in risks:
            end = format_decimal(risk.upper, digits=15, up=True)
            table.add_row(label, f"at most {end}" if risk.exact is None else exact_text(risk.exact))
    else:
        table.add_row("canonical risk", "infinite: nothing is learnt")
    table.add_row("certificate", f"S <= {found.certificate.line}")
    if show.explain:
        table.add_row("", found.trace.evaluation)
    Console().print(table)
