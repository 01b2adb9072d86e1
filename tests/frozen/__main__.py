"""``python -m tests.frozen record|compare``: keep the answers of every public door, and say which have changed."""

import argparse
import sys
from pathlib import Path

from tests.frozen import requests, table
from tests.frozen.runs import compare, record


def main(arguments=None):
    """Read the command line and run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.frozen", description=__doc__)
    parser.add_argument("what", choices=("record", "compare"))
    parser.add_argument("--part", action="append", choices=requests.PARTS, help="part (repeat); default all")
    parser.add_argument("--slice", type=int, default=1, metavar="K", help="every K-th row")
    parser.add_argument("--offset", type=int, default=0, metavar="J", help="from the J-th on")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--table", type=Path, default=table.TABLE, help="another table")
    parser.add_argument("--identity", action="store_true", help="compare: doubles have to be equal too")
    given = parser.parse_args(arguments)
    chosen = (given.table, given.part, given.slice, given.offset, given.jobs)
    return record(*chosen) if given.what == "record" else compare(*chosen, given.identity)


if __name__ == "__main__":
    sys.exit(main())
