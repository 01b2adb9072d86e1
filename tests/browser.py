"""Open the ledger page in a real browser and count what it shows.

    python -m tests.browser PAGE.html

Needs Chromium or Chrome on the PATH; says so if there is none. The page must render without a network, and show a row
for every claim of the ledger.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from symshuffle.claims.registry import load

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--virtual-time-budget=5000",
)


def rendered(page: Path) -> str:
    """The document as the browser has it after loading the page."""
    browser = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if browser is None:
        raise SystemExit(f"no browser found: install one of {', '.join(BROWSERS)}")
    with tempfile.TemporaryDirectory() as profile:
        command = [browser, *FLAGS, f"--user-data-dir={profile}", "--dump-dom", page.resolve().as_uri()]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=True).stdout


def main(arguments: list[str]) -> int:
    """Compare the rendered page with the ledger."""
    if len(arguments) != 1 or not Path(arguments[0]).is_file():
        raise SystemExit("usage: python -m tests.browser PAGE.html, an existing file")
    document = rendered(Path(arguments[0]))
    missing = [claim.id for claim in load().claims if claim.id not in document]
    print(f"{len(load().claims) - len(missing)} claims shown, {len(missing)} missing")
    for name in missing:
        print(f"  {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
