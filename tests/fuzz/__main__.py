"""``python -m tests.fuzz``: run drawn calls, and report which are not as they should be."""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

from tests.fuzz.calls import ROOT, preload, run
from tests.fuzz.draw import KINDS, drawn, hinted, witnesses

VIEWS = {"--json", "--explain", "--jobs", "--plot", "--csv", "attained", "progress", "executor"}
"""Options that show more of the same answer: none of them may refuse it."""


def fuzz(seed, numbers, jobs=1, say=lambda text: None):
    """What is found about the calls of some numbers, with witnesses of everyday refusals.

    A refusal that asks for a larger width is right if that is answered.
    """
    preload()
    pairs, found = {number: drawn(seed, number) for number in numbers}, {}

    def heard(place, one):
        number = list(pairs)[place]
        found[number] = {"number": number, "kind": pairs[number][0], **one}
        if one["class"] == "offence":
            say(f"{number} {one['seconds']} s: {one['wrong']}\n  {one['call']}")

    run([text for _, text in pairs.values()], jobs, heard)
    for one in found.values():
        if one["kind"].startswith("everyday") and one["class"].startswith("refusal"):
            asked, one["answered_without"] = list(witnesses(one["call"])), []

            def tried(place, other, asked=asked, one=one):
                if other["class"] == "answer":
                    one["answered_without"].append(asked[place][0])

            run([text for _, text in asked], jobs, tried)
            wider = hinted(one["call"], one["said"])
            if wider is not None:
                run([wider], 1, lambda _, other, one=one: one.update(hint=other["class"]))
                if one["hint"] != "answer":
                    one |= {"class": "offence", "wrong": f"a hint that does not help: {wider}"}
                    continue
            if {*VIEWS, *(["delta"] if wider is None else [])} & {*one["answered_without"]}:
                one |= {"class": "offence", "wrong": f"a false refusal: answered without {one['answered_without']}"}
    return [found[number] for number in sorted(found)]


def summary(found):
    """Lines about a run: numbers by kind and class, everyday refusals to be judged, and offences."""
    for kind in KINDS:
        numbers = Counter(one["class"] for one in found if one["kind"] == kind)
        yield f"{kind}: " + ", ".join(f"{number} {name}" for name, number in numbers.most_common())
    everyday = [one for one in found if one["kind"].startswith("everyday")]
    answered = sum(one["class"] == "answer" for one in everyday)
    yield f"everyday calls answered: {answered} of {len(everyday)} ({100 * answered / max(1, len(everyday)):.1f} %)"
    for one in everyday:
        if one["class"].startswith("refusal"):
            yield f"refused: {one['call']}\n    {one['said'].strip()}"
            yield f"    answered without: {', '.join(one['answered_without']) or 'nothing tried'}"
    alike = {}
    for one in found:
        if one["class"] == "offence":
            alike.setdefault(re.sub(r"\d+", "0", one["wrong"])[:80], []).append(one)
    for wrong in alike.values():
        yield f"OFFENCE ({len(wrong)}): {wrong[0]['wrong']}"
        yield from (f"    {one['call']}\n        {one['said'].strip()[-160:]!r}" for one in wrong[:6])
    yield f"{len(found)} calls, {sum(map(len, alike.values()))} offences"


def main():
    """Read the command line and run it."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("--seed", help="default the hash of the commit")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--first", type=int, default=0, help="number of the first call")
    parser.add_argument("--call", type=int, help="one call alone, by its number")
    parser.add_argument("--text", help="one call alone, as it is written")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--json", type=Path, help="file for all that is found")
    given = parser.parse_args()
    if given.text:
        run([given.text], 1, lambda _, one: sys.stdout.write(json.dumps(one, indent=1) + "\n"))
        return 0
    git = subprocess.run(["git", "rev-parse", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False)
    seed = given.seed or git.stdout.strip() or "symshuffle"
    numbers = range(given.first, given.first + given.calls) if given.call is None else [given.call]

    def say(text):
        sys.stdout.write(text + "\n")
        sys.stdout.flush()

    say(f"seed {seed}")
    found = fuzz(seed, numbers, given.jobs, say)
    say("\n".join(summary(found)))
    if given.json:
        given.json.write_text(json.dumps(found, indent=1), encoding="utf-8")
    return int(any(one["class"] == "offence" for one in found))


if __name__ == "__main__":
    sys.exit(main())
