"""Files are the old ones or the new ones, never halves."""

from __future__ import annotations

from pathlib import Path

import pytest

from ycbench_agents.cli.files import replace_file, write_ascii


def test_a_file_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    replace_file(path, lambda part: write_ascii(part, "old\n"))
    replace_file(path, lambda part: write_ascii(part, "new\n"))
    assert path.read_bytes() == b"new\n"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", [OSError("disk full"), KeyboardInterrupt()])
def test_what_fails_midway_leaves_the_old_file_and_nothing_else(tmp_path: Path, error: BaseException) -> None:
    path = tmp_path / "results.json"
    path.write_text("old", encoding="ascii")

    def fail_midway(part: Path) -> None:
        write_ascii(part, "ne")
        raise error

    with pytest.raises(type(error)):
        replace_file(path, fail_midway)
    assert path.read_text(encoding="ascii") == "old"
    assert list(tmp_path.iterdir()) == [path]
