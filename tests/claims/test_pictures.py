"""Pictures of claims: data that say what there is to see, drawn the same each time and in the colours of the page."""

import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from symshuffle.base.errors import InputError
from symshuffle.ledger.claims.parts import CURVE_ROLES, Picture, curve
from symshuffle.ledger.claims.registry import load
from symshuffle.ledger.report.site import to_svg

LINE = curve("a & b", "printed", ((1.0, 1.0), (2.0, 10.0)))
DOTS = curve("c", "found", ((1.0, 2.0),), joined=False)


@pytest.fixture(scope="module")
def drawn() -> str:
    return to_svg(Picture('1 < 2 & "so"', "x", "y", (LINE, DOTS), (False, True)), name="one")


def test_a_picture_is_the_same_each_time(drawn: str) -> None:
    assert to_svg(Picture('1 < 2 & "so"', "x", "y", (LINE, DOTS), (False, True)), name="one") == drawn


def test_a_picture_stands_in_a_page(drawn: str) -> None:
    root = ElementTree.fromstring(drawn)
    assert (root.get("role"), root.get("aria-label")) == ("img", '1 < 2 & "so"')
    assert {"width", "height"}.isdisjoint(root.keys())
    assert "a & b" in "".join(root.itertext())  # text is text
    assert "var(--violet)" in drawn and "currentColor" in drawn  # light and dark
    assert not re.search(r"#[0-9a-f]{6}\b", drawn), "a colour that does not follow the page"
    for foreign in ("<style", "<metadata", "font-family", "<script", "<image", "date"):
        assert foreign not in drawn.lower(), foreign


def test_names_of_two_pictures_do_not_clash(drawn: str) -> None:
    other = to_svg(Picture("the same", "x", "y", (LINE, DOTS), (False, True)), name="two")
    first, second = (re.findall(r' id="([^"]+)"', text) for text in (drawn, other))
    assert len(set(first)) == len(first) > 0
    assert set(first).isdisjoint(second)
    assert set(re.findall(r'xlink:href="#([^"]+)"', drawn)) <= set(first)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"shows": " "}, "shows"),
        ({"curves": ()}, "curves"),
        ({"curves": (LINE,) * 7}, "curves"),
        ({"curves": (curve("a", "found", ((0.0, 1.0),)),), "logarithmic": (True, False)}, "logarithmic"),
    ],
)
def test_pictures_that_are_none(changes: dict, words: str) -> None:
    facts = {"shows": "something", "x": "x", "y": "y", "curves": (LINE,), **changes}
    with pytest.raises(InputError, match=f"^{words} = "):
        Picture(**facts)
    with pytest.raises(InputError, match="points"):
        curve("a", "found", ())


@pytest.mark.parametrize("name", load().plots)
def test_pictures_of_the_ledger_show_what_is_wrong(name: str) -> None:
    """Where bounds are drawn, what is found is above the printed one somewhere and never above the corrected one."""
    picture = load().plots[name]()
    assert to_svg(picture, name=name)
    heights = {role: [dict(points) for _, one, points, _ in picture.curves if one == role] for role in CURVE_ROLES}
    found = heights["found"] or heights["corrected"]
    if found and heights["printed"]:
        printed = heights["printed"]
        assert any(abs(found[0][x] - one[x]) > 1e-3 * abs(one[x]) for one in printed for x in found[0] if x in one)
    if name == "decomposition.eq-1":
        (seen,), (printed_,), (corrected,) = (heights[one] for one in ("found", "printed", "corrected"))
        assert any(seen[x] > 1.01 * printed_[x] for x in seen)
        assert all(seen[x] <= corrected[x] * (1 + 1e-12) for x in seen)


def test_nothing_is_drawn_before_it_is_asked_for() -> None:
    code = "import sys, symshuffle.ledger.report.site as s, symshuffle.ledger.claims.registry as r; r.load()\n"
    code += "print('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "False\n"
