"""The rows that are kept, and the lines that allow one to change."""

import contextlib
import fnmatch
import hashlib
import json
import os
import re
from pathlib import Path

TABLE = Path(__file__).with_name("table.jsonl")


def written(value):
    """JSON of one line, keys sorted."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))


SUBJECT = re.compile(r"mechanism\('([\w-]+)'\)|(Channel|Laplace|Composed|Law|Users)\b|^symshuffle \S+ ([a-z][\w-]*)")


def key_of(part, request):
    """Name of a request: its part, what is called, what it is about where that has a name, and a digest."""
    if part == "claims":
        return f"{part}/{request.partition(' ')[2]}"
    called = re.search(r"[\w-]+", request.removeprefix("symshuffle "))
    subject = SUBJECT.search(request)
    named = next(filter(None, subject.groups())) if subject else "-"
    return f"{part}/{called[0]}/{named}/{hashlib.sha256(request.encode()).hexdigest()[:8]}"


def read(path=TABLE):
    """Rows by key, in order; the last of one key counts, and a line that was cut off does not."""
    rows = {}
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                row = json.loads(line)
                rows[row["key"]] = row
    return dict(sorted(rows.items()))


def write(rows, path=TABLE):
    """Replace the table, sorted by key."""
    beside = path.with_suffix(".new")
    beside.write_text("".join(written(rows[key]) + "\n" for key in sorted(rows)), encoding="utf-8")
    os.replace(beside, path)


def changes(beside=TABLE):
    """Pairs of a pattern of keys and the reason, of the ``changes.tsv`` beside a table; none goes without a reason."""
    path, found = beside.with_name("changes.tsv"), []
    for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
        pattern, tab, why = line.partition("\t")
        if not tab or len(why.split()) < 3:
            raise SystemExit(f"{path.name}: expected PATTERN, a tab and a reason of some words: {line!r}")
        found.append((pattern, why))
    return found


def reason(row, listed):
    """Why a row may change: the last line that names it and was added after the row was recorded; otherwise None."""
    for pattern, why in reversed(listed[row["lines"] :]):
        if fnmatch.fnmatchcase(row["key"], pattern):
            return why
    return None
