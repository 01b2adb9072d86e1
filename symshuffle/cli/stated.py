"""A channel in a file beside what is claimed of it: its local level and its blanket."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from rich.table import Table

from symshuffle.base.numbers import format_decimal, parse_rational
from symshuffle.cli import arguments

_SHOWN: Final = 5
"""Places that are written out; --json has all."""


def check_channel(
    path: Path,
    *,
    eps0: str | None = None,
    lam: str | None = None,
    blanket_mass: str | None = None,
    blanket: str | None = None,
) -> tuple[bool, dict[str, Any], Table]:
    """Whether a channel is as claimed, the answer for JSON, and the table that is shown."""
    from symshuffle.base.levels import read_budget
    from symshuffle.decompositions.stated import check_blanket, check_level

    claimed = read_budget(eps0=eps0, lam=lam)
    mass = None if blanket_mass is None else parse_rational(blanket_mass, "--blanket-mass")
    masses = None if blanket is None else [parse_rational(part, "--blanket") for part in blanket.split(",")]
    channel = arguments.channel(path)
    level = check_level(channel, claimed)
    common = check_blanket(channel, mass=mass, masses=masses)
    verdicts = [verdict for verdict in (level.as_claimed, common.as_claimed) if verdict is not None]
    answer = {
        "inputs": channel.num_inputs,
        "outputs": channel.num_outputs,
        **({} if channel.rounding is None else {"matrix": str(channel.rounding)}),
        "as_claimed": all(verdicts) if verdicts else None,
        "level": level.to_dict(),
        "blanket": common.to_dict(),
    }
    table = Table.grid(padding=(0, 2))
    own = level.eps0
    shown = "infinite: not LDP for any budget" if own is None else format_decimal(own.upper, digits=9, up=True)
    table.add_row("eps0 <=", shown)
    table.add_row("largest ratio", str(level.largest))
    if level.every_matrix is not None:
        least, most = level.every_matrix
        low = format_decimal(least, digits=9, up=False)
        ends = f"{low} or more" if most is None else f"from {low} to {format_decimal(most, digits=9, up=True)}"
        table.add_row("matrix", str(channel.rounding))
        table.add_row("largest ratio, any such", ends)
    if level.claimed is not None:
        table.add_row("claimed level", f"exp(eps0) <= {level.claimed}: {'yes' if level.as_claimed else 'NO'}")
        for place in level.above[:_SHOWN]:
            table.add_row("", str(place))
        if len(level.above) > _SHOWN:
            table.add_row("", f"and at {len(level.above) - _SHOWN} more outputs")
    table.add_row("blanket mass", f"{common.mass} ({format_decimal(common.mass, digits=9, up=False)})")
    if common.as_claimed is not None:
        harm = "no more than there is: bounds made with it hold" if common.safe else "more than there is: UNSAFE"
        table.add_row("claimed blanket", "yes" if common.as_claimed else f"NO, {harm}")
        for y in common.differs[:_SHOWN]:
            table.add_row("", f"output {y}: {common.masses[y]}, not {(common.claimed_masses or ())[y]}")
        if len(common.differs) > _SHOWN:
            table.add_row("", f"and {len(common.differs) - _SHOWN} more outputs")
    return all(verdicts), answer, table
