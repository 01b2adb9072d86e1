"""Recording what is missing, and comparing what is kept, by several processes."""

import multiprocessing
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed

from tests.frozen import requests, table
from tests.frozen.differences import asked_width, differences
from tests.frozen.doors import answer
from tests.frozen.spelling import answer_today

SECONDS = {"claims": 600}
"""CPU that a request of a part may take."""
USUAL_SECONDS = 6
SLOWER = 6
"""How much longer than when it was recorded a request may take."""


def asked(task):
    """Key, request, answer and CPU seconds of one task: a key, a request and the seconds that it may take."""
    key, request, most = task
    began = time.process_time()
    found = answer(request, most)
    return key, request, found, float(f"{time.process_time() - began:.2g}")


def answers(tasks, jobs):
    """The answers to all tasks as they come, by several processes or in this one."""
    if jobs < 2:
        yield from map(asked, tasks)
        return
    with ProcessPoolExecutor(jobs, mp_context=multiprocessing.get_context("spawn")) as pool:
        for done in as_completed([pool.submit(asked, task) for task in tasks]):
            yield done.result()


def most_seconds(key):
    """CPU that a request may take when it is recorded."""
    return SECONDS.get(key.partition("/")[0], USUAL_SECONDS)


def record(path, part, step, offset, jobs):
    """Add the missing rows, and those anew that a line of changes names; a run that was stopped goes on here."""
    rows, listed = table.read(path), table.changes(path)
    table.write(rows, path)  # a line that was cut off must not swallow the next one
    wanted = {table.key_of(name, request): request for name, request in requests.drawn()}
    wanted |= {key: row["request"] for key, row in rows.items()}
    chosen = _chosen(sorted(wanted), part, step, offset)
    chosen = [key for key in chosen if key not in rows or table.reason(rows[key], listed)]
    spent = 0.0
    with path.open("a", encoding="utf-8") as file:
        for key, request, found, seconds in answers([(key, wanted[key], most_seconds(key)) for key in chosen], jobs):
            if key in rows and "over" in found:
                print(f"{key}: too slow now, the old row stays")
                continue
            row = {"key": key, "request": request, "answer": found, "lines": len(listed), "seconds": seconds}
            rows[key] = row
            file.write(table.written(row) + "\n")
            file.flush()
            spent += seconds
            _progress(len(rows), seconds, key)
    table.write(rows, path)
    left_out = sum("over" in row["answer"] for row in rows.values())
    print(f"{len(rows)} rows, {len(chosen)} of them asked now in {spent:.0f} CPU s, {left_out} too slow")
    return 0


def found_in(rows, listed, jobs=1, *, identity=False):
    """Key and difference of everything that a line of changes does not explain, as it is found.

    Parameters
    ----------
    rows : iterable of dict
        Rows of the table; those that were too slow to be recorded are passed over.
    listed : list of (str, str)
        Lines of changes.
    jobs : int
        Number of processes.
    identity : bool
        Whether numbers in floating point have to be equal too.
    """
    kept = {row["key"]: row for row in rows if "over" not in row["answer"]}
    tasks = [(key, row["request"], SLOWER * most_seconds(key)) for key, row in kept.items()]
    for key, request, found, _ in answers(tasks, jobs):
        if not table.reason(kept[key], listed):
            for one in differences(answer_today(kept[key]["answer"]), found, asked_width(request), identity=identity):
                yield key, one


def compare(path, part, step, offset, jobs, identity):
    """Print what differs from the table, one line each; 1 where anything does."""
    rows = table.read(path)
    chosen = _chosen(list(rows), part, step, offset)
    seen = set()
    for key, one in found_in([rows[key] for key in chosen], table.changes(path), jobs, identity=identity):
        seen.add(key)
        print(f"{key}: {one}", flush=True)
    print(f"{len(chosen)} rows compared, {len(seen)} differ" if chosen else "no row is recorded: nothing was compared")
    return 1 if seen or not chosen else 0


def _chosen(keys, part, step, offset):
    return [key for key in keys if not part or key.partition("/")[0] in part][offset::step]


def _progress(number, seconds, key):
    if sys.stderr.isatty():
        print(f"\r{number} {seconds:6.2f} s {key[:80]:80}", end="", file=sys.stderr, flush=True)
