"""The calls whose prices are measured: command lines with their goals in Y, and the files that some of them read.

``{data}`` stands for a folder in which :func:`prepare` writes what a call needs, before it is timed.
"""

from __future__ import annotations

import csv
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from typing import Final

import numpy as np


@dataclass(frozen=True, slots=True)
class Call:
    """What is run, and its goal in Y; None where only the price is of interest.

    ``line`` is what follows ``symshuffle``, or ``python: CODE``, or ``make: TARGET``. A call that is ``refusable`` may
    be refused, in one line, instead of answered.
    """

    name: str
    line: str
    goal: float | None = None
    refusable: bool = False

    def command(self, data: Path) -> list[str]:
        """As it is run."""
        kind, _, rest = self.line.replace("{data}", str(data)).partition(": ")
        if kind == "make":
            return ["make", rest]
        if kind == "python":
            return [sys.executable, "-c", rest]
        return [sys.executable, "-m", "symshuffle", *f"{kind}{rest and ': '}{rest}".split()]


_TARGET: Final = "--eps 0.5 --delta 1e-5"
_ZERO_OUT: Final = f"{_TARGET} --adjacency zero-out"

EVERYDAY: Final = (
    Call("example", "example", 10),
    Call("compare, k = 50", "compare --k 50 --n 200000 --eps 0.5 --delta 1e-8", 15),
    Call("compare, k = 10^4", "compare --k 10000 --n 1000000 --eps0 2 --delta 1e-8", 25),
    Call("law in balls", "law krr -p k=20 --eps0 3", 3),
    Call("law of many inputs", "law krr -p k=165 --eps0 14", 3),
    Call("hashing of a million", "compare --k 1000000 --n 1000000 --eps0 12 --mechanism olh", 5),
    Call("compare, 30 rounds", "compare --k 50 --n 100000 --eps 1 --delta 1e-6 --periods 30", 25),
    Call("30 rounds of krr", "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --periods 30", 5),
    Call("mean, 20,000 x 8", "mean {data}/vectors-20000-8.npy --eps 1 --delta 1e-6 --seed 1", 20),
    Call("calibrate bmg, zero-out", f"calibrate bmg --n 1000 --d 10 {_ZERO_OUT}", 25),
    Call("calibrate gaussian, zero-out", f"calibrate gaussian --n 1000 --d 1 {_ZERO_OUT}", 25),
    Call("unequal, 900 + 100", "unequal {data}/users.toml --eps 0.1", 15),
)
"""What has to be reached, but for the families of ``calibrate`` and the surveys."""

_ROWS: Final = product(("bmg", "gaussian", "sphere-linear", "privunit", "clipped-linear"), (1000, 10**5), (1, 10, 100))

FAMILIES: Final = tuple(
    Call(f"calibrate {family}, n = {n}, d = {d}", f"calibrate {family} --n {n} --d {d} {_ZERO_OUT}", 25)
    for family, n, d in _ROWS
    if d > 1 or family not in ("privunit", "clipped-linear")  # these are refused on a line
)

SURVEYED: Final = ("krr", "subset-selection", "rappor", "oue", "blh", "olh", "hadamard")

_VALUES: Final = "--values {data}/values-50.csv --column c"

SURVEYS: Final = (
    *(
        Call(
            f"randomize 10^6 values, {name}",
            f"collect randomize {{data}}/{name}.json {_VALUES} --out {{data}}/new-{name}.csv",
            20,
        )
        for name in SURVEYED
    ),
    *(
        Call(
            f"estimate from 10^6 messages, {name}",
            f"collect estimate {{data}}/{name}.json {{data}}/messages-{name}.csv --out {{data}}/histogram-{name}.csv",
            20,
        )
        for name in SURVEYED
    ),
    Call(
        "estimate with band, k = 1,000",
        "collect estimate {data}/wide.json {data}/messages-wide.csv --out {data}/histogram-wide.csv",
        10,
    ),
)
"""The commands that run a survey of 50 categories; ``prepare`` plans them and draws the messages that are read."""

CHOOSING: Final = tuple(
    Call(f"how to choose: {line.split()[0]}", line, 15)
    for line in (
        "delta krr -p k=10 --eps0 1 --n 10000 --eps 0.02 --confirm",
        "epsilon krr -p k=10 --eps0 1 --n 10000 --delta 1e-6",
        "largest-eps0 krr -p k=10 --n 10000 --eps 0.5 --delta 1e-6",
        "smallest-n krr -p k=10 --eps0 1 --eps 0.1 --delta 1e-6",
        "profile krr -p k=10 --eps0 1 --n 10000 --to 0.05",
        "decompose krr",
        "mechanisms",
        "show decomposition.thm-12",
        "verify decomposition.thm-12",
        "frontier --k 5 --budget 1/2",
        "subset-size --k 10 --lam 3",
        "renyi krr -p k=10 --eps0 1 --n 10000 --order 4",
        "gdp krr -p k=10 --eps0 1 --n 10000",
        "errata",
        "law krr",
        "compare --k 10 --n 10000 --budget 1/2",
        "delta bmg -p gamma=0.95 -p sigma0=4.6 --adjacency zero-out --n 1000 --eps 0.0004",
        "calibrate bmg --n 1000 --d 10 --eps 0.5 --delta 1e-5",
        "epsilon any-ldp --eps0 1 --n 10000 --delta 1e-6",
        "doctor",
    )
)
"""The commands of the table in docs/how-to-choose.md."""

_PYTHON: Final = "python: from symshuffle import *; from fractions import Fraction as F; "

EDGES: Final = tuple(
    Call(f"edge: {line.removeprefix(_PYTHON)}", line, 20, refusable=line.startswith("renyi gaussian"))
    for line in (
        "largest-eps0 hadamard -p D=16 --n 100 --eps 15 --delta 1e-9",
        "compare --k 10 --n 100 --eps 60 --delta 1e-9",
        "mean {data}/vectors-400-2.npy --eps 1 --delta 1e-5 --seed 1",
        "mean {data}/vectors-1-2.npy --eps 1 --delta 1e-5 --seed 1 --mechanism sphere-linear",
        "epsilon bmg -p gamma=0.9 -p sigma0=3 --n 1000 --delta 1e-6 --adjacency zero-out --blanket largest --periods 2",
        "epsilon sphere-linear -p d=10 -p c=0.5 --n 1000 --delta 1e-6 --periods 2",
        "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 1 --delta 1e-6 --periods 2",
        "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 2 --delta 1e-6 --periods 2",
        "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 3 --delta 1e-6 --periods 2",
        "epsilon rr --lam 1.1 --n 1000 --delta 1e-6 --periods 2",
        "renyi gaussian -p sigma0=3 --n 1000 --order 2",
        "delta rr --eps0 50 --eps 49.99999999 --n 1000000000",
        "largest-eps0 rappor --n 10000 --eps 0.5 --delta 1e-6",
        "largest-eps0 hadamard -p D=16 --n 1000000 --eps 5 --delta 1e-6",
        "calibrate bmg --n 1000 --d 10 --eps 0.5 --delta 0.9 --adjacency zero-out",
        "calibrate gaussian --n 1000 --d 1 --eps 0.5 --delta 0.9",
        "calibrate clipped-linear --n 3 --d 3 --eps 1 --delta 0.9 --adjacency replace-one",
        "calibrate gaussian --n 6 --d 3 --eps 1 --delta 0.9 --adjacency replace-one",
        "delta krr -p k=10 --eps0 8 --eps 1 --n 100 --arithmetic ball",
        "epsilon krr -p k=10 --eps0 1 --delta 1e-6 --n 10000 --dropout 0.1",
        "epsilon krr -p k=10 --eps0 4 --delta 1e-6 --n 1000000000",
        "epsilon rr --eps0 1 --delta 1e-300 --n 1000000",
        "delta laplace --eps0 1 --eps 0.02 --n 10000 --confirm",
        "delta oue --eps0 1 --eps 0.02 --n 10000 --confirm",
        "delta half-block -p k=10 --eps0 1 --eps 0.02 --n 10000",
        "delta hadamard -p D=16 --eps0 1 --eps 0.02 --n 10000",
        "epsilon olh -p g=4 -p D=1000 --eps0 2 --delta 1e-8 --n 1000000",
        "delta krr -p k=10 --eps0 1 --eps 0.02 --n 10000 --group-size 5",
        "delta krr -p k=10 --eps0 1 --eps 0.02 --n 10000 --min-batch-size 5000",
        "smallest-n krr -p k=50 --eps0 20 --eps .3 --delta .01",
        "amplification-curve krr -p k=10 --eps0 1 --delta 1e-6",
        "tradeoff krr -p k=10 --eps0 1 --n 1000",
        "gdp rappor --eps0 1 --n 10000",
        "pld krr -p k=50 --eps0 2 --n 200000 --out {data}/day.json",
        "check {data}/rounded.csv --eps0 1",
        "epsilon {data}/rounded.csv --n 1000 --delta 1e-5",
        "law {data}/rounded.csv --n 1000 --eps 0.1",
        "law krr -p k=10 --eps0 1 --n 1000 --eps 0.1",
        "compare --k 50 --n 30 --eps .3 --delta .05 --mechanism aug-rr",
        "delta krr -p k=5 --eps0 1 --n 1000000 --eps 0.1 --periods 30",
        "compare --k 10 --n 100 --eps0 30 --delta 1e-3",
        "epsilon laplace --eps0 1 --n 1 --delta 1e-400",
        "calibrate bmg --n 10 --d 1 --eps 0.5 --delta 0.5",
        "calibrate gaussian --n 10 --d 2 --eps 1 --delta .1 --adjacency zero-out",
        "epsilon olh -p g=4 -p D=1000 --eps0 20 --n 20 --delta 0.05",
        "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --proof {data}/bound.json",
        "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --periods 1000",
        "epsilon joint(krr(k=20),3) --eps0 3 --n 10000 --delta 1e-6",
        "worst-datasets krr -p k=3 --lam 3 --n 6 --exp-eps 6/5",
        "delta rr --lam 3 --exp-eps 1 --n 1",
        "epsilon erasure -p k=3 -p p=0.95 --n 1000 --delta 0.1",
        _PYTHON + "print(delta(mechanism('krr').at(k=20, eps0=1), n=1, eps=F(1, 2), engine=Counts()))",
        _PYTHON + "W = Channel.from_rows([[F(1, 2), F(1, 4), F(1, 4)], [F(1, 4), F(1, 2), F(1, 4)], "
        "[F(1, 4), F(1, 4), F(1, 2)]]); print(delta(W, n=10000, eps=F(1, 50)))",
        _PYTHON + "import sympy as sp; from symshuffle.mechanisms.symbolic import LAM; "
        "k = sp.Symbol('k', integer=True, positive=True); own = 1 / (LAM * (k - 1) + 1); "
        "avoid = Mechanism.symmetric('avoid', k, {'value': {'own': (1, own), 'other': (k - 1, LAM * own)}}); "
        "print(epsilon(avoid.at(k=10, eps0=2), n=10000, delta='1e-6'))",
        "delta rappor -p D=2000 --eps0 1 --eps 0.5 --adjacency zero-out --n 1000",
    )
)
"""Everyday and edge calls; all have to be answered within 20 Y, but for the one that is refused before work starts."""

DEAR: Final = tuple(
    Call(f"dear: {line}", line)
    for line in (
        "compare --k 50 --n 30 --eps .3 --delta .05",
        "delta gaussian -p sigma0=3 --n 1000 --eps 0.3 --periods 2",
        "delta subset-selection -p k=6 -p s=2 --eps0 2 --n 2557 --eps 3/5 --arithmetic ball --rtol 1e-9",
        "calibrate bmg --n 30 --d 2 --eps 1 --delta .01",
        "calibrate gaussian --n 20 --d 7 --eps 1.26 --delta 1.7e-05 --adjacency zero-out",
    )
)
"""What takes more than 20 Y, or took it until lately: prices without a goal, so that they are seen to fall."""

LONG: Final = (
    Call("verify", "verify", 800),
    Call("make docs", "make: docs", 250),
    Call("make test", "make: test", 4000),
)


def prepare(data: Path, calls: Sequence[Call]) -> None:
    """Write the files that some calls read."""
    needed, rng = " ".join(call.line for call in calls), np.random.default_rng(1)
    for users, d in ((20000, 8), (400, 2), (1, 2)):
        if f"vectors-{users}-{d}" in needed:
            np.save(data / f"vectors-{users}-{d}.npy", rng.uniform(-0.3, 0.3, (users, d)))
    (data / "rounded.csv").write_text(
        "0.576117,0.211942,0.211942\n0.211942,0.576117,0.211942\n0.211942,0.211942,0.576117\n"
    )
    (data / "users.toml").write_text(
        '[[users]]\ncount = 900\nmechanism = "krr"\nparams = { k = 3 }\neps0 = 1\n\n'
        '[[users]]\ncount = 100\nmechanism = "krr"\nparams = { k = 3 }\neps0 = 2\n'
    )
    if "collect" in needed:
        _survey(data, rng)


def _survey(data: Path, rng: np.random.Generator) -> None:
    plans = [(name, 50, "0.2") for name in SURVEYED] + [("wide", 1000, "1")]
    for k in (50, 1000):
        with (data / f"values-{k}.csv").open("w", newline="") as file:
            csv.writer(file).writerows([["c"], *([value] for value in rng.integers(0, k, 10**6).tolist())])
    for name, k, eps in plans:
        mechanism = "krr" if name == "wide" else name
        asked = f"--k {k} --n 1000000 --eps {eps} --delta 1e-8 --mechanism {mechanism} --out {data}/{name}.json"
        values = f"--values {data}/values-{k}.csv --column c --out {data}/messages-{name}.csv"
        for line in (f"collect plan {asked}", f"collect randomize {data}/{name}.json {values}"):
            subprocess.run([sys.executable, "-m", "symshuffle", *line.split()], check=True, capture_output=True)
