"""Use the site of the ledger in a real browser: search, filter, open a claim, read its formulas, on a phone too.

    python -m tests.browser SITE [SHOTS]

SITE is a directory that `symshuffle report --html SITE` wrote; pictures go to SHOTS. Needs Chromium or Chrome on the
PATH, and says so if there is none. The browser is driven through a pipe of its own, so that nothing listens on a port.
"""

import base64
import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from symshuffle.ledger.claims.registry import catalogue, load

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--hide-scrollbars",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--remote-debugging-pipe",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
SECONDS = 60
DESKTOP, PHONE = (1200, 1000), (390, 844)


class Browser:
    """A page in a headless browser, by way of its debugging protocol: one JSON text after the other, ended by NUL."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to, self._from, self._rest, self._id = to_browser, from_browser, b"", 0
        self._session: str | None = None
        self.complaints: list[str] = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method: str, **parameters: Any) -> Any:
        """Call a method of the protocol and return its result."""
        self._id += 1
        message: dict[str, Any] = {"id": self._id, "method": method, "params": parameters}
        if self._session is not None:
            message["sessionId"] = self._session
        os.write(self._to, json.dumps(message).encode() + b"\0")
        while (answer := self._receive()).get("id") != self._id:
            self._listen(answer)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def _receive(self) -> Any:
        while b"\0" not in self._rest:
            if not (read := os.read(self._from, 1 << 16)):
                raise RuntimeError("the browser went away")
            self._rest += read
        text, _, self._rest = self._rest.partition(b"\0")
        return json.loads(text)

    def _listen(self, event: Any) -> None:
        method, parameters = event.get("method"), event.get("params", {})
        if method == "Runtime.exceptionThrown":
            self.complaints.append(f"exception: {parameters['exceptionDetails']}")
        elif method == "Runtime.consoleAPICalled" and parameters["type"] in {"error", "warning", "assert"}:
            self.complaints.append(f"console: {parameters['args']}")
        elif method == "Log.entryAdded" and parameters["entry"]["level"] in {"error", "warning"}:
            self.complaints.append(f"log: {parameters['entry']['text']} {parameters['entry'].get('url', '')}")
        elif method == "Network.requestWillBeSent" and not parameters["request"]["url"].startswith(("file:", "data:")):
            self.complaints.append(f"network: {parameters['request']['url']}")

    def evaluate(self, expression: str) -> Any:
        """The value of a JavaScript expression in the page."""
        done = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in done:
            raise RuntimeError(f"{expression}: {done['exceptionDetails']}")
        return done["result"].get("value")

    def wait(self, condition: str) -> None:
        """Wait until a JavaScript condition is true, on this page or the one that a click leads to."""
        end = time.monotonic() + SECONDS
        while not self._holds(condition):
            if time.monotonic() > end:
                raise SystemExit(f"not within {SECONDS} s: {condition}")
            time.sleep(0.05)

    def _holds(self, condition: str) -> bool:
        try:
            return bool(self.evaluate(condition))
        except RuntimeError as error:
            if "navigated" in str(error):  # the page went away while it was asked
                return False
            raise

    def open(self, address: str) -> None:
        """Load a page, whole."""
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=address)
        self.wait(f"location.href.startsWith({json.dumps(address[:20])}) && document.readyState === 'complete'")

    def size(self, width: int, height: int, *, dark: bool = False) -> None:
        """Take the size of a screen, and its colours."""
        mobile = width < 600
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=mobile)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])

    def press(self, key: str, code: int = 0) -> None:
        """Press and release a key."""
        text = key if len(key) == 1 else {"Enter": "\r"}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, text=text, windowsVirtualKeyCode=code)

    def type(self, text: str) -> None:
        """Type a text where the cursor is."""
        self.call("Input.insertText", text=text)

    def click(self, selector: str) -> None:
        """Click in the middle of the first element that a selector finds."""
        self.wait(f"document.querySelector({json.dumps(selector)}) !== null")
        box = self.evaluate(
            f"(() => {{ const e = document.querySelector({json.dumps(selector)});"
            " e.scrollIntoView({block: 'center'});"
            " const b = e.getClientRects()[0]; return [b.x + b.width / 2, b.y + b.height / 2]; })()"
        )
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=box[0], y=box[1], button="left", clickCount=1)

    def shoot(self, file: Path) -> None:
        """A picture of what is on the screen."""
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))


@contextlib.contextmanager
def browser() -> Iterator[Browser]:
    """A browser, ended at the end."""
    program = next((found for name in BROWSERS if (found := shutil.which(name))), None)
    if program is None:
        raise SystemExit(f"no browser found: install one of {', '.join(BROWSERS)}")
    to_read, to_write = os.pipe()
    from_read, from_write = os.pipe()

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # The protocol reads from descriptor 3 and writes to 4. By name: some shells take one digit only after <&.
        start = ["sh", "-c", f'exec "$@" 3</dev/fd/{to_read} 4>/dev/fd/{from_write} >/dev/null 2>&1', "sh"]
        command = [*start, program, *FLAGS, f"--user-data-dir={profile}", "about:blank"]
        running = subprocess.Popen(command, pass_fds=(to_read, from_write))
        os.close(to_read)
        os.close(from_write)
        try:
            yield Browser(to_write, from_read)
        finally:
            os.close(to_write)
            os.close(from_read)
            running.terminate()
            running.wait(timeout=SECONDS)


SHOWN = (
    "[...document.querySelectorAll('#entries > li:not([hidden])')].map((li) => li.querySelector('code').textContent)"
)
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


class Findings:
    """What was looked at, and what was wrong."""

    def __init__(self) -> None:
        self.wrong = 0

    def expect(self, what: str, found: object, expected: object = True) -> None:
        """Say what was found, and count it if it is not what was expected."""
        good = found == expected
        self.wrong += not good
        print(f"{'ok   ' if good else 'WRONG'} {what}" + ("" if good else f": {found!r}, expected {expected!r}"))


def look(page: Browser, site: Path, shots: Path, findings: Findings) -> None:
    """Go through the site as a reader would."""
    index = (site / "index.html").resolve().as_uri()
    entries = {*catalogue(), *(claim.id for claim in load().claims)}
    refuted = [claim for claim in load().claims if claim.expected == "refuted"]
    page.size(*DESKTOP)
    page.open(index)
    findings.expect("every entry is listed", set(page.evaluate(SHOWN)), entries)
    page.shoot(shots / "dashboard.png")

    page.press("/", 191)
    findings.expect("/ goes to the search", page.evaluate("document.activeElement.id"), "q")
    page.type("anchored theorem 4.9")
    found = page.evaluate(SHOWN)
    findings.expect("a search by the name of a theorem finds it", "anchored.thm-4.9" in found and len(found) < 10)
    page.shoot(shots / "search.png")
    page.press("Escape", 27)
    page.wait(f"{SHOWN}.length === {len(entries)}")
    findings.expect("Escape shows all again", page.evaluate("document.getElementById('q').value"), "")

    page.click("a.badge[href='#paper=decomposition&verdict=refuted']")
    page.wait("!document.querySelector('#entries > li:not([data-verdict=refuted]):not([hidden])')")
    expected = [claim.id for claim in refuted if claim.paper == "decomposition"]
    findings.expect("one click filters a paper by verdict", page.evaluate(SHOWN), expected)
    page.shoot(shots / "filtered.png")
    page.evaluate("document.querySelector('select[name=paper]').focus()")
    page.click("#entries > li:not([hidden]) a")
    page.wait("document.querySelector('.refutation') !== null")
    findings.expect("a second click opens its counterexample", page.evaluate("location.pathname.includes('/claims/')"))
    findings.expect(
        "formulas are set", page.evaluate("[...document.querySelectorAll('math')].some((m) => m.clientHeight > 8)")
    )
    page.shoot(shots / "refuted.png")
    page.click("a[href^='../source/']")
    page.wait("document.querySelector(':target') !== null")
    findings.expect("a third leads to the code of its check", "def " in page.evaluate("document.body.innerText"))
    page.shoot(shots / "source.png")

    page.open(index)
    page.click("a[href='errata.html']")
    page.wait("document.querySelector('.errata') !== null")
    ids = page.evaluate("[...document.querySelectorAll('.errata a')].map((a) => a.pathname.split('/').pop())")
    missing = {f"{claim.id}.html" for claim in refuted} - set(ids)
    findings.expect("one click leads to the errata, and every refuted claim is there", missing, set())
    page.shoot(shots / "errata.png")
    pictured = sorted(load().plots)
    for name in pictured:
        page.open((site / f"claims/{name}.html").resolve().as_uri())
        tall = page.evaluate("document.querySelector('svg.plot')?.clientHeight > 150")
        findings.expect(f"{name} has its picture", tall)
        page.evaluate("document.querySelector('svg.plot')?.scrollIntoView({block: 'center'})")
        page.shoot(shots / f"picture-{name}.png")

    for dark in (False, True):
        page.size(*PHONE, dark=dark)
        for name in (
            "index.html",
            "errata.html",
            *(f"claims/{name}.html" for name in sorted(entries) if not dark or name in expected),
        ):
            page.open((site / name).resolve().as_uri())
            if (over := page.evaluate(OVERFLOW)) > 0:
                findings.expect(f"{name} fits a screen of {PHONE[0]} px", f"{over} px too wide")
            if dark and name == "index.html":
                background = page.evaluate("getComputedStyle(document.body).backgroundColor")
                findings.expect("dark where that is preferred", background, "rgb(20, 22, 26)")
            if name in ("index.html", "errata.html", f"claims/{expected[0]}.html"):
                if "claims/" in name:
                    page.evaluate("document.querySelector('svg.plot')?.scrollIntoView({block: 'center'})")
                page.shoot(shots / f"phone-{'dark' if dark else 'light'}-{Path(name).stem}.png")
        findings.expect(f"pages fit a phone, {'dark' if dark else 'light'}", True)
    page.size(*DESKTOP)
    plain = [name for name in sorted(entries) if 'class="tex"' in (site / f"claims/{name}.html").read_text("utf-8")]
    findings.expect("no formula is left as LaTeX", plain, [])
    findings.expect("no complaint in the console, nothing asked of a network", page.complaints, [])


def main(arguments: list[str]) -> int:
    """Look at a site; 1 if anything is wrong."""
    if len(arguments) not in (1, 2) or not (Path(arguments[0]) / "index.html").is_file():
        raise SystemExit("usage: python -m tests.browser SITE [SHOTS], with a SITE that `symshuffle report` wrote")
    findings = Findings()
    with browser() as page:
        look(page, Path(arguments[0]), Path(arguments[-1] if len(arguments) == 2 else "out/shots"), findings)
    print(f"{findings.wrong} wrong")
    return bool(findings.wrong)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
