"""A phase diagram over (mechanism, eps0, n, eps) on a local Dask cluster, killed in the middle and resumed.

Run by `make phase`, in an environment that has Dask: a sweep is started on a cluster, killed (SIGKILL) when half of its
points are known, started again, and compared with one that nobody stopped, which a pool of processes computes. Every
computed point is logged by its worker, so that it shows which were computed twice.
"""

import argparse
import csv
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from functools import cache
from pathlib import Path

from symshuffle import delta, randomizer
from symshuffle.accountants.deployment.reduction import reduction
from symshuffle.base.executors import processes
from symshuffle.base.sweeps import SECONDS, TABLE, tabulate

WORKERS = 2
LOG = "SYMSHUFFLE_PHASE_LOG"

MECHANISMS = {"krr": {"k": 10}, "subset-selection": {"k": 10, "s": 2}, "rappor": {}, "oue": {}}

WHOLE = {
    "name": list(MECHANISMS),
    "eps0": [f"{i / 4}" for i in range(1, 21)],
    "n": [round(10 ** (2 + i / 6)) for i in range(25)],
    "eps": [f"{i / 50}" for i in range(1, 51)],
}
"""4 mechanisms, eps0 from 0.25 to 5, n from 100 to 10^6, eps from 0.02 to 1: 10^5 points."""


@cache
def reduced(name, eps0):
    return reduction(randomizer(name).at(eps0=eps0, **MECHANISMS[name]))


def point(name, eps0, n, eps):
    """delta, from both sides within 1 %, as a picture needs it; and a line in the log of this process."""
    if LOG in os.environ:
        with (Path(os.environ[LOG]) / str(os.getpid())).open("a", encoding="utf-8") as log:
            log.write(f"{name} {eps0} {n} {eps}\n")
    found = delta(reduced(name, eps0), n=n, eps=eps, rtol=1e-2).bracket.decimals()
    return {"lower": found["lower"], "upper": found["upper"], "log10_upper": found["log10_upper"]}


def grid(levels):
    return WHOLE | {"eps": WHOLE["eps"][:levels]}


def on_dask(out, levels):
    """One sweep on a cluster of its own."""
    from distributed import Client, LocalCluster

    with (
        LocalCluster(n_workers=WORKERS, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        return tabulate(point, grid(levels), out=out, executor=client.get_executor())


def started(out, levels, log):
    log.mkdir()
    command = [sys.executable, "-m", "tests.phase", "--sweep", str(out), "--levels", str(levels)]
    return subprocess.Popen(command, env=os.environ | {LOG: str(log)}, start_new_session=True)


def known(out):
    table = out / TABLE
    return max(table.read_bytes().count(b"\n") - 1, 0) if table.exists() else 0


def rows(out):
    with (out / TABLE).open(newline="", encoding="utf-8") as file:
        return sorted(tuple(v for k, v in row.items() if k != SECONDS) for row in csv.DictReader(file))


def logged(log):
    return Counter(line for file in log.iterdir() for line in file.read_text(encoding="utf-8").splitlines())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sweep", type=Path, help="run one sweep into this folder, and nothing else")
    parser.add_argument("--levels", type=int, default=len(WHOLE["eps"]), help="how many of the 50 levels eps")
    parser.add_argument("folder", type=Path, nargs="?", default=Path("out/phase"))
    asked = parser.parse_args()
    if asked.sweep is not None:
        found = on_dask(asked.sweep, asked.levels)
        print(found, flush=True)
        return 1 if found.failed else 0
    folder, size = asked.folder, len(WHOLE["name"]) * len(WHOLE["eps0"]) * len(WHOLE["n"]) * asked.levels
    folder.mkdir(parents=True)
    begun = time.monotonic()
    first = started(folder / "killed", asked.levels, folder / "first")
    while known(folder / "killed") < size // 2:
        if first.poll() is not None:
            print("the first sweep ended before it was killed")
            return 1
        time.sleep(0.2)
    first.send_signal(signal.SIGKILL)
    first.wait()
    left = known(folder / "killed")
    print(f"killed after {time.monotonic() - begun:.0f} s: {left} of {size} rows are there", flush=True)
    if started(folder / "killed", asked.levels, folder / "second").wait():
        return 1
    print(f"resumed and finished after {time.monotonic() - begun:.0f} s", flush=True)
    before, after = logged(folder / "first"), logged(folder / "second")
    twice = before.keys() & after.keys()
    own = max(*before.values(), *after.values())
    print(f"computed {before.total()} times before and {after.total()} after; both: {len(twice)}, at hand when killed")
    with processes(WORKERS) as pool:
        tabulate(point, grid(asked.levels), out=folder / "whole", executor=pool)
    same = rows(folder / "killed") == rows(folder / "whole")
    print(f"after {time.monotonic() - begun:.0f} s: {len(rows(folder / 'whole'))} rows of a sweep that nobody stopped")
    print("equal, sorted by point, without the column of seconds" if same else "NOT equal")
    return 0 if same and own == 1 and len(before.keys() | after.keys()) == size else 1


if __name__ == "__main__":
    sys.exit(main())
