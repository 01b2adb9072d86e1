"""Files are written whole or not at all, and only where they can be."""

import io
from pathlib import Path
from typing import Any

import pytest

from symshuffle.base import artifacts
from symshuffle.base.errors import InputError
from tests.shell import refused


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    target.write_text("text, old")

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            super().write(data[:1])
            raise OSError(28, "No space left on device")

    def opened(self: Path, mode: str) -> io.FileIO:
        return Full(self, mode) if mode == "wb" else io.FileIO(self, mode)

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(InputError, match="No space left on device"):
        artifacts.write_atomically(target, "text, new", argument="--json")
    monkeypatch.undo()
    assert target.read_text() == "text, old"
    assert list(tmp_path.iterdir()) == [target]


def test_destination_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    artifacts.check_destination(tmp_path / "plain", argument="--json")
    artifacts.check_destination(tmp_path, argument="--out", directory=True)
    for path, directory in ((tmp_path, False), (tmp_path / "plain", True), (tmp_path / "plain" / "x", False)):
        with pytest.raises(InputError, match="--json = "):
            artifacts.check_destination(path, argument="--json", directory=directory)
    assert [entry.name for entry in tmp_path.iterdir()] == ["plain"]


KINDS = {
    "CSV": ("eps,lower\n0,1\n", "eps,lower\n-1,1\n", "n,lower\n0,1\n"),
    "column": ("estimate\n0.5\n", "estimate\n-0.5\n", "estimated\n1\n"),
    "JSON": (
        '{"format": "symshuffle bound 1: x"}',
        '{\n "format": "symshuffle bound 2"}',
        '{"format": "symshuffle trace 1"}',
    ),
    "list": ('[{"id": "a"}]', '[\n  {\n    "id": "b"', '{"id": "a"}'),
    "picture": (b"\x89PNG\r\n\x1a\n1", b"\x89PNG\r\n\x1a\n2", b"%PDF-1.7"),
}
"""A file, one of the same kind, and one of another."""


@pytest.mark.parametrize("kind", KINDS)
def test_what_begins_in_another_way_is_kept(kind: str, tmp_path: Path) -> None:
    first, same, other = (one if isinstance(one, bytes) else one.encode() for one in KINDS[kind])
    target = tmp_path / "file"
    for old in (b"", b" \n", first, same):
        target.write_bytes(old)
        artifacts.write_atomically(target, first)
        assert target.read_bytes() == first
    for old, new in ((first, other), (other, first), (b"users = 3\n", first), (b"\x00\x01", first)):
        target.write_bytes(old)
        with pytest.raises(InputError, match=r"^file = "):
            artifacts.write_atomically(target, new)
        assert target.read_bytes() == old and list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize(
    ("line", "option"),
    [
        (("mean", "x.csv", "--eps", "1", "--delta", "1e-3"), "--out=kept.csv"),
        (("mean", "x.csv", "--eps", "1", "--delta", "1e-3"), "--out=kept.npy"),
        (("compare", "--k", "3", "--n", "100", "--eps0", "-1"), "--csv=kept.csv"),
        (("compare", "--k", "3", "--n", "100", "--eps0", "-1"), "--plot=kept.png"),
        (("profile", "nosuch", "--to", "1", "--n", "100"), "--csv=kept.csv"),
        (("profile", "nosuch", "--to", "1", "--n", "100"), "--plot=kept.pdf"),
        (("amplification-curve", "nosuch", "--eps0", "1", "--delta", "1e-3"), "--csv=kept.csv"),
        (("tradeoff", "nosuch", "--eps0", "1", "--n", "100"), "--csv=kept.csv"),
        (("pld", "nosuch", "--eps0", "1", "--n", "100"), "--out=kept.json"),
        (
            ("design", "shuffled", "--k", "3", "--n", "9", "--eps", "1", "--delta", "2", "--lam-cap=3"),
            "--proof=kept",
        ),
        (("verify", "nosuch"), "--json=kept.json"),
    ],
)
def test_another_file_is_refused_before_the_work(
    line: tuple[str, ...], option: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    """Each line is wrong in what the work begins with, so that another refusal shows that it had begun."""
    monkeypatch.chdir(tmp_path)
    kept = tmp_path / option.partition("=")[2]
    name = option.replace("=", " = ")
    assert not refused(capsys, *line, option).startswith(f"symshuffle: {name}")
    kept.write_text("x,y\n1,2\n")
    assert refused(capsys, *line, option).startswith(f"symshuffle: {name}: expected a new file")
    assert kept.read_text() == "x,y\n1,2\n"


def test_the_file_behind_a_link_is_replaced(tmp_path: Path) -> None:
    link, target = tmp_path / "link", tmp_path / "file"
    target.write_text("eps\n1\n")
    link.symlink_to(target)
    artifacts.write_atomically(link, "eps\n2\n")
    assert link.is_symlink() and target.read_text() == "eps\n2\n"
    with pytest.raises(InputError, match=r"^--csv = "):
        artifacts.write_atomically(Path("/dev/null"), "eps\n", argument="--csv")
