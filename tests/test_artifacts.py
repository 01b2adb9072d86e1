"""Files are written whole or not at all, and only where they can be."""

import io
from pathlib import Path
from typing import Any

import pytest

from symshuffle.base import artifacts
from symshuffle.base.errors import InputError


def test_a_failed_write_leaves_the_old_file_and_no_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    target = tmp_path / "file"
    target.write_text("old")

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            super().write(data[:1])
            raise OSError(28, "No space left on device")

    def opened(self: Path, mode: str) -> Full:
        return Full(self, mode)

    monkeypatch.setattr(Path, "open", opened)
    with pytest.raises(InputError, match="No space left on device"):
        artifacts.write_atomically(target, "new", argument="--json")
    monkeypatch.undo()
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_destination_is_refused_before_anything_is_written(tmp_path: Path) -> None:
    (tmp_path / "plain").touch()
    artifacts.check_destination(tmp_path / "plain", argument="--json")
    artifacts.check_destination(tmp_path, argument="--out", directory=True)
    for path, directory in ((tmp_path, False), (tmp_path / "plain", True), (tmp_path / "plain" / "x", False)):
        with pytest.raises(InputError, match="--json = "):
            artifacts.check_destination(path, argument="--json", directory=directory)
    assert [entry.name for entry in tmp_path.iterdir()] == ["plain"]
