"""Backups: copied while people work, and put back without losing an answer."""

from __future__ import annotations

import errno
import json
import shutil
import sqlite3
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from affectlab.annotate import backups
from affectlab.annotate.backups import NEWEST, back_up_regularly, backup, regular_backup, restore, surplus
from affectlab.annotate.project import Project, find_project
from affectlab.errors import UserError, WorldError
from tests.annotate.projects import GLAD, answer, answers, made
from tests.annotate.support import Running, study


def test_a_backup_brings_back_what_was_there_and_no_more(project: Project) -> None:
    answer(project, "ann")
    before = answers(project)
    copy = backup(project)
    answer(project, "bob")
    assert len(answers(project)) == 2
    kept = restore(project, copy)
    assert answers(project) == before
    answer(project, "cem")  # people go on
    assert len(answers(project)) == 2
    assert kept is not None
    restore(project, kept)
    assert len(answers(project)) == 2  # ann and bob: unmerged changes came along
    assert answers(project) > before


def test_a_project_that_is_open_is_not_restored(project: Project) -> None:
    copy = backup(project)
    with project.opened() as store:
        with pytest.raises(UserError, match="is open: a server or another command"):
            restore(project, copy)
        run = Running(store, study())
        run.join("ann")
        item = run.claim("ann")
        assert item is not None
        run.submit("ann", item, GLAD)
    assert len(answers(project)) == 1


def test_a_backup_of_another_study_and_what_is_none(project: Project, tmp_path: Path) -> None:
    answer(project, "ann")
    copy = backup(project)
    settings = project.folder / "project.json"
    settings.write_text(json.dumps(json.loads(settings.read_text("utf-8")) | {"study": "another"}), encoding="utf-8")
    other = find_project(project.folder)
    with pytest.raises(UserError, match=r"another study.*--other-study"):
        restore(other, copy)
    restore(other, copy, other_study=True)
    assert find_project(project.folder) == project
    (tmp_path / "text").write_text("no backup", encoding="utf-8")
    with pytest.raises(UserError, match="is no backup of an annotation project"):
        restore(project, tmp_path / "text")
    assert len(answers(project)) == 1


class TestRestore:
    @pytest.fixture
    def project(self, tmp_path: Path) -> Project:
        return made(tmp_path / "p")

    def database(self, project: Project) -> Path:
        return project.folder / "annotate.sqlite"

    def untouched(self, project: Project) -> None:
        assert len(answers(project)) == 1
        names = {one.name for one in project.folder.iterdir()}
        assert names - {"annotate.sqlite-wal", "annotate.sqlite-shm"} <= {"project.json", "annotate.sqlite", "backups"}

    def test_the_database_itself_is_no_backup(self, project: Project) -> None:
        answer(project, "ann")
        with pytest.raises(UserError, match="is the database itself"):
            restore(project, self.database(project))
        self.untouched(project)

    def test_a_full_disk_leaves_everything_as_it_was(self, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
        answer(project, "ann")
        copy = backup(project)

        def full(_: Any, target: str) -> None:
            Path(target).write_bytes(b"SQLite f")  # what fitted on it
            raise OSError(errno.ENOSPC, "No space left on device")

        monkeypatch.setattr(shutil, "copyfile", full)
        with pytest.raises(WorldError, match="No space left on device"):
            restore(project, copy)
        self.untouched(project)

    @pytest.mark.parametrize("content", [b"", b"no database", b"SQLite format 3\x00" + b"broken" * 2000])
    def test_what_is_no_backup(self, project: Project, tmp_path: Path, content: bytes) -> None:
        answer(project, "ann")
        (tmp_path / "x").write_bytes(content)
        with pytest.raises(UserError, match=r"annotation|backup"):
            restore(project, tmp_path / "x")
        self.untouched(project)

    def test_a_backup_of_another_study(self, project: Project, tmp_path: Path) -> None:
        answer(project, "ann")
        copy = backup(made(tmp_path / "other"))
        with pytest.raises(UserError, match=r"another study.*--other-study"):
            restore(project, copy)
        self.untouched(project)
        restore(project, copy, other_study=True)
        assert answers(project) == set()
        restore(find_project(project.folder), copy)  # it is this one now

    def test_a_project_of_before_there_were_studies(self, project: Project, tmp_path: Path) -> None:
        (project.folder / "project.json").write_text('{"database": "sqlite"}', encoding="utf-8")
        old = find_project(project.folder)
        answer(old, "ann")
        with pytest.raises(UserError, match="another study"):
            restore(old, backup(made(tmp_path / "other")))
        restore(old, backup(old))
        assert len(answers(old)) == 1

    def test_a_damaged_database_is_replaced(self, project: Project) -> None:
        answer(project, "ann")
        copy = backup(project)
        self.database(project).write_bytes(b"SQLite format 3\x00" + b"broken" * 2000)
        assert restore(project, copy) is not None
        assert len(answers(project)) == 1

    def test_a_database_that_is_gone_comes_back(self, project: Project) -> None:
        answer(project, "ann")
        copy = backup(project)
        self.database(project).unlink()
        assert restore(project, copy) is None
        assert len(answers(project)) == 1

    def test_changes_that_were_not_merged_come_along(self, project: Project, tmp_path: Path) -> None:
        """A database put aside after a crash has its newest answers beside it."""
        aside = tmp_path / "aside.sqlite"
        with project.opened() as store:
            run = Running(store, study())
            run.join("ann")
            item = run.claim("ann")
            assert item is not None
            run.submit("ann", item, GLAD)
            for part in ("", "-wal"):
                shutil.copy(f"{self.database(project)}{part}", f"{aside}{part}")
        with closing(sqlite3.connect(f"file:{aside}?immutable=1", uri=True)) as alone:
            assert alone.execute("SELECT count(*) FROM response").fetchone() == (0,)
        self.database(project).unlink()
        restore(project, aside)
        assert len(answers(project)) == 1

    def test_a_backup_that_cannot_be_written_beside(self, project: Project, tmp_path: Path) -> None:
        """On read-only media SQLite cannot open a database in WAL mode where it lies."""
        answer(project, "ann")
        copy = backup(project)
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("PRAGMA journal_mode=WAL").fetchone() == ("wal",)
        media = tmp_path / "media"
        media.mkdir()
        lying = Path(shutil.copy(copy, media / "b.sqlite"))
        before = lying.read_bytes()
        lying.chmod(0o444)
        restore(project, lying)
        assert len(answers(project)) == 1
        assert lying.read_bytes() == before
        assert [one.name for one in media.iterdir()] == ["b.sqlite"]


class TestBackup:
    def test_a_place_that_is_taken(self, tmp_path: Path) -> None:
        project = made(tmp_path / "p")
        (project.folder / "backups").write_text("in the way", encoding="utf-8")
        with pytest.raises(WorldError, match="backups cannot be made"):
            backup(project)

    def test_a_part_of_a_backup_does_not_stay(self, tmp_path: Path) -> None:
        project = made(tmp_path / "p")
        (project.folder / "annotate.sqlite").write_bytes(b"SQLite format 3\x00" + b"broken" * 2000)
        with pytest.raises(WorldError, match="could not be written"):
            backup(project)
        assert list((project.folder / "backups").iterdir()) == []


class TestRegular:
    @pytest.fixture
    def project(self, tmp_path: Path) -> Project:
        return made(tmp_path / "p", items=1)

    def test_of_the_servers_own_backups_the_newest_stay_and_one_of_each_day_before(self) -> None:
        days = [f"auto-2026-01-{day:02}T{hour:02}-30-00.000.sqlite" for day in (1, 2) for hour in range(4)]
        newest = [f"auto-2026-01-03T{hour:02}-{half}-00.000.sqlite" for hour in range(24) for half in ("00", "30")]
        others = ["2026-01-01T00-00-00.000.sqlite", "replaced-2026-01-01T00-00-00.000.sqlite"]
        assert len(newest) == NEWEST
        # Of the first and the second day the last, made at 03:30, stays; what people made by hand is theirs.
        assert sorted(surplus([*others, *newest, *days])) == [*days[:3], *days[4:7]]

    def test_a_backup_of_the_server_removes_only_its_own(self, project: Project) -> None:
        by_hand = backup(project)
        old = [by_hand.with_name(f"auto-2020-01-01T00-00-{second:02}.000.sqlite") for second in range(NEWEST + 2)]
        for path in old:
            path.write_bytes(b"")
        new = regular_backup(project)
        assert new.read_bytes().startswith(b"SQLite format 3")
        there = set(new.parent.iterdir())
        # NEWEST are kept with the new one; of the three that are left over the newest of their day stays.
        assert {*old[2:], new, by_hand} == there

    def test_backups_go_on_after_one_that_could_not_be_made(
        self, project: Project, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (project.folder / "backups").write_text("in the way")
        tried = 0
        stop = threading.Event()

        def once_more(found: Project) -> Path:
            nonlocal tried
            tried += 1
            if tried == 2:
                (project.folder / "backups").unlink()
            if tried == 3:
                stop.set()
                raise OSError("disk away")
            return regular_backup(found)

        monkeypatch.setattr(backups, "regular_backup", once_more)
        back_up_regularly(project, 0, stop)
        assert tried == 3
        assert len(list((project.folder / "backups").iterdir())) == 1
        assert [record.message.startswith("no backup this time") for record in caplog.records] == [True, True]
