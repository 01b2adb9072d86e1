"""How many values of H(n) a question asks the engines for: counted, not timed, so that every machine sees the same.

python -m benchmarks.evaluations [part of a question]

A value is one law, or one pair of densities, at one number of users and one width.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import Section, table

# Best integer sizes, real shares and floors (compare), calibrations, inverses, rounds.
QUESTIONS: Final = (
    "compare --k 50 --n 200000 --eps 0.5 --delta 1e-8",
    "compare --k 10000 --n 1000000 --eps0 2 --delta 1e-8",
    "epsilon krr -p k=10 --eps0 1 --n 10000 --delta 1e-6",
    "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --periods 30",
    "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --periods 1000",
    "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 1 --delta 1e-6 --periods 2",
    "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 3 --delta 1e-6 --periods 2",
    "epsilon bmg -p gamma=0.9 -p sigma0=3 --n 1000 --delta 1e-6 --adjacency zero-out --blanket largest --periods 2",
    "compare --k 10 --n 100 --eps 60 --delta 1e-9",
    "compare --k 10 --n 10000 --budget 1/2 --delta 1e-6",
    "calibrate bmg --n 1000 --d 10 --eps 0.5 --delta 1e-5",
    "calibrate gaussian --n 1000 --d 1 --eps 0.5 --delta 1e-5 --adjacency zero-out",
    "largest-eps0 hadamard -p D=16 --n 100 --eps 15 --delta 1e-9",
    "largest-eps0 rappor --n 10000 --eps 0.5 --delta 1e-6",
    "smallest-n krr -p k=10 --eps0 1 --eps 0.1 --delta 1e-6",
    "renyi gaussian -p sigma0=3 --n 1000 --order 2",
)


BEFORE: Final[Mapping[str, int]] = {
    "compare --k 50 --n 200000 --eps 0.5 --delta 1e-8": 943,
    "compare --k 10000 --n 1000000 --eps0 2 --delta 1e-8": 240,
    "epsilon krr -p k=10 --eps0 1 --n 10000 --delta 1e-6": 30,
    "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --periods 30": 440,
    "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --periods 1000": 479,
    "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 3 --delta 1e-6 --periods 2": 6843,
    "largest-eps0 rappor --n 10000 --eps 0.5 --delta 1e-6": 6,
    "smallest-n krr -p k=10 --eps0 1 --eps 0.1 --delta 1e-6": 3,
    "renyi gaussian -p sigma0=3 --n 1000 --order 2": 1,
}
"""The same at commit 2027a10e; what took too long to be counted there has no entry."""


def counted(line: str) -> int:
    """The values that one command line asks for, in this process."""
    from symshuffle.accountants.bounds import evaluate
    from symshuffle.cli import main

    asked = [0]

    def counting(function: Any) -> Any:
        def value(*given: Any) -> Any:
            asked[0] += 1
            return function(*given)

        return value

    for name in ("_answer", "_of_densities"):
        setattr(evaluate, name, counting(getattr(evaluate, name)))
    with redirect_stdout(io.StringIO()):
        main(line.split())
    return asked[0]


def rows(parts: Sequence[str] = ()) -> Iterator[tuple[str, str, str]]:
    """Question, values before and now; every question has a process of its own, where nothing is cached."""
    for line in QUESTIONS:
        if not parts or any(part in line for part in parts):
            command = [sys.executable, "-m", "benchmarks.evaluations", "--one", *line.split()]
            found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
            print(f"{found.stdout.split()[-1]:>8}  {line}", file=sys.stderr, flush=True)
            yield f"`{line}`", str(BEFORE.get(line, "")), found.stdout.split()[-1]


def section() -> Section:
    """The values that each question asks for, before and now."""
    counts = table(("question", "before", "now"), tuple(rows()))
    return Section(
        "## Values per question\n\nHow many values of H(n), of one law at one number of users, a question asks the "
        f"engines for, at commit 2027a10e and\nin this tree (`python -m benchmarks.evaluations`).\n\n{counts}"
    )


def main(arguments: Sequence[str]) -> int:
    """Print the table, or the number of one question."""
    if arguments and arguments[0] == "--one":
        print(counted(" ".join(arguments[1:])))
    else:
        print(table(("question", "before", "now"), tuple(rows(arguments))))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
