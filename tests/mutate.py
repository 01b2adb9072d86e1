"""Break the library on purpose, one formula at a time, and list the claims of the ledger that fall.

    python -m tests.mutate [WORD ...]     only the mutations whose name contains one of the words

Each mutation of ``mutations.toml`` is applied to a temporary copy of the package; the ledger of that copy is run in a
process of its own and compared with the ledger of an unbroken copy. A claim has fallen if its verdict, its grade, its
rejected controls or its correction differ. The exit code is 1 if some mutation brings no claim down.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGES = ("symshuffle", "proofs_checks")
LIMIT = 900
"""Seconds for one run of the ledger; a mutation may also make a check run away."""


@dataclass(frozen=True)
class Mutation:
    """One wrong formula: in ``file``, every ``(old, new)`` replaces one occurrence."""

    name: str
    file: str
    edits: tuple[tuple[str, str], ...]
    paper: str

    def apply(self, root: Path) -> None:
        """Edit the copy of the package below ``root``; a mutation that no longer fits the code is an error."""
        path = root / self.file
        text = path.read_text(encoding="utf-8")
        for old, new in self.edits:
            if text.count(old) != 1:
                raise SystemExit(
                    f"mutations.toml: {self.name!r}: {old!r} occurs {text.count(old)} times in {self.file}"
                )
            text = text.replace(old, new)
        path.write_text(text, encoding="utf-8")


def mutations() -> tuple[Mutation, ...]:
    """All mutations on file."""
    listed = tomllib.loads((ROOT / "tests" / "mutations.toml").read_text(encoding="utf-8"))["mutation"]
    return tuple(
        Mutation(m["name"], m["file"], ((m["old"], m["new"]), *map(tuple, m.get("also", ()))), m["paper"])
        for m in listed
    )


@contextmanager
def copy() -> Iterator[Path]:
    """A temporary copy of the package and its ledger."""
    with tempfile.TemporaryDirectory(prefix="symshuffle-mutate-") as directory:
        root = Path(directory)
        for package in PACKAGES:
            shutil.copytree(ROOT / package, root / package, ignore=shutil.ignore_patterns("__pycache__"))
        yield root


def run_ledger(root: Path, paper: str) -> dict[str, tuple[object, ...]] | None:
    """What the ledger of a copy says of each claim of a paper; None if it does not run to its end."""
    target = root / "ledger.json"
    command = [sys.executable, "-m", "symshuffle", "verify", paper, "--jobs", "1", "--json", str(target)]
    environment = {**os.environ, "PYTHONPATH": str(root), "PYTHONDONTWRITEBYTECODE": "1"}
    try:
        subprocess.run(command, cwd=root, env=environment, capture_output=True, check=False, timeout=LIMIT)
    except subprocess.TimeoutExpired:
        return None
    if not target.exists():
        return None
    keys = ("verdict", "grade", "controls_rejected", "corrected")
    return {r["id"]: tuple(r[key] for key in keys) for r in json.loads(target.read_text(encoding="utf-8"))}


def fallen(mutation: Mutation, sound: dict[str, tuple[object, ...]]) -> list[str] | None:
    """Claims that differ under a mutation; None if the ledger does not even run."""
    with copy() as root:
        mutation.apply(root)
        found = run_ledger(root, mutation.paper)
    return None if found is None else [claim for claim, outcome in sound.items() if found.get(claim) != outcome]


def main(words: list[str]) -> int:
    """Run the mutations, print a table, and say whether each was caught."""
    chosen = [m for m in mutations() if not words or any(word in m.name for word in words)]
    sound: dict[str, dict[str, tuple[object, ...]]] = {}
    for paper in {mutation.paper for mutation in chosen}:
        with copy() as root:
            found = run_ledger(root, paper)
        if not found:
            raise SystemExit(f"the unbroken ledger of {paper} does not run")
        sound[paper] = found
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda m: fallen(m, sound[m.paper]), chosen))
    missed = 0
    for mutation, claims in zip(chosen, results, strict=True):
        caught = bool(claims)
        missed += not caught
        names = "the ledger does not run" if claims is None else ", ".join(claims) or "NO CLAIM FALLS"
        print(f"{'caught' if caught else 'MISSED':7} {mutation.name}  [{mutation.file}]\n        {names}")  # noqa: T201
    print(f"{len(chosen) - missed} of {len(chosen)} mutations caught")  # noqa: T201
    return int(missed > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
