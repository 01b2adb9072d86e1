"""``python -m symshuffle``."""

import sys

from symshuffle.cli import main

if __name__ == "__main__":  # a worker process imports this module again under another name
    sys.exit(main())
