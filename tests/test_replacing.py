"""Files are replaced whole, through links, and nothing but a file is."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

from affectlab.errors import UserError
from affectlab.replacing import replacing, target


def put(path: Path, text: str) -> None:
    with replacing(path) as part:
        part.write_text(text, encoding="utf-8")


def test_a_file_is_there_once_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with replacing(path) as part:
        part.write_text("new", encoding="utf-8")
        assert not path.exists()
        assert part.parent == tmp_path
    assert path.read_text(encoding="utf-8") == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_what_stood_there_stays_when_writing_fails(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")

    def fail() -> None:
        with replacing(path) as part:
            part.write_text("ne", encoding="utf-8")
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_stays_one_and_what_it_means_is_replaced(tmp_path: Path) -> None:
    there, link, dangling = tmp_path / "folder" / "there.txt", tmp_path / "link.txt", tmp_path / "dangling.txt"
    there.parent.mkdir()
    there.write_text("old", encoding="utf-8")
    link.symlink_to(there)
    dangling.symlink_to("folder/later.txt")
    put(link, "new")
    put(dangling, "later")
    assert link.is_symlink()
    assert dangling.is_symlink()
    assert there.read_text(encoding="utf-8") == "new"
    assert sorted(there.parent.iterdir()) == [there.parent / "later.txt", there]
    assert sorted(tmp_path.iterdir()) == [dangling, there.parent, link]


def test_nothing_but_a_file_is_replaced(tmp_path: Path) -> None:
    pipe, link, one, other = (tmp_path / name for name in ("pipe", "link", "one", "other"))
    os.mkfifo(pipe)
    link.symlink_to(pipe)
    one.symlink_to(other)
    other.symlink_to(one)
    for path in (pipe, link):
        with pytest.raises(UserError, match=rf"{path} is no regular file .* left as it is"):
            put(path, "new")
        assert stat.S_ISFIFO(path.stat().st_mode)
    with pytest.raises(UserError, match="is a folder; name a file"):
        put(tmp_path, "new")
    with pytest.raises(UserError, match="symbolic links"):
        target(one)
    with pytest.raises(UserError, match="name too long"):
        target(tmp_path / ("x" * 300))
    assert sorted(tmp_path.iterdir()) == sorted([pipe, link, one, other])
