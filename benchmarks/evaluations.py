"""How many values of H(n) a question asks the engines for: counted, not timed, so that every machine sees the same.

python -m benchmarks.evaluations [part of a question]

A value is one law, or one pair of densities, at one number of users and one width.
"""

from __future__ import annotations

import io
import subprocess
import sys
from collections.abc import Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, Final

from benchmarks.measure import table

QUESTIONS: Final = (
    "compare --k 50 --n 200000 --eps 0.5 --delta 1e-8",
    "compare --k 10000 --n 1000000 --eps0 2 --delta 1e-8",
    "epsilon krr -p k=10 --eps0 1 --n 10000 --delta 1e-6",
    "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --rounds 30",
    "epsilon krr -p k=50 --eps0 2 --n 200000 --delta 1e-8 --rounds 1000",
    "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 1 --delta 1e-6 --rounds 2",
    "epsilon subset-selection -p k=3 -p s=1 --eps0 1 --n 3 --delta 1e-6 --rounds 2",
    "solve-eps0 hadamard -p D=16 --n 100 --eps 15 --delta 1e-9",
    "solve-eps0 rappor --n 10000 --eps 0.5 --delta 1e-6",
    "solve-n krr -p k=10 --eps0 1 --eps 0.1 --delta 1e-6",
    "renyi gaussian -p sigma0=3 --n 1000 --alpha 2",
)


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


def main(arguments: Sequence[str]) -> int:
    """Print the table; every question has a process of its own, where nothing is cached."""
    if arguments and arguments[0] == "--one":
        print(counted(" ".join(arguments[1:])))
        return 0
    rows = []
    for line in QUESTIONS:
        if not arguments or any(part in line for part in arguments):
            command = [sys.executable, "-m", "benchmarks.evaluations", "--one", *line.split()]
            found = subprocess.run(command, check=True, capture_output=True, text=True, cwd=Path(__file__).parents[1])
            rows.append((f"`{line}`", found.stdout.split()[-1]))
    print(table(("question", "values"), rows))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
