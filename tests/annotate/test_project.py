"""A project folder: made whole or not at all, and never opened while it is restored."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from affectlab.annotate.project import Project, init_project, locked
from affectlab.errors import UserError, WorldError
from tests.annotate.projects import answer, answers, made
from tests.annotate.support import study, texts


def test_a_project_that_is_being_restored_is_not_opened(project: Project) -> None:
    with locked(project, alone=True), pytest.raises(WorldError, match="being restored"), project.opened():
        pass


def test_a_file_system_without_locks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import fcntl

    project = made(tmp_path / "p")

    def none(*_: Any) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    assert answers(project) == set()


class TestInit:
    def test_a_project_that_cannot_be_made_leaves_nothing(self, tmp_path: Path) -> None:
        design = study()
        with pytest.raises(UserError, match="items the project does not have: i9"):
            init_project(tmp_path / "p", design, texts(design, 2), assignments=[("i9", "ann")])
        assert list(tmp_path.iterdir()) == []
        (tmp_path / "p").mkdir()
        with pytest.raises(UserError, match="i9"):
            init_project(tmp_path / "p", design, texts(design, 2), assignments=[("i9", "ann")])
        project, _ = init_project(tmp_path / "p", design, texts(design, 2), assignments=[("i1", "ann")])
        assert json.loads((project.folder / "project.json").read_text("utf-8"))["study"] == project.study != ""

    def test_a_database_in_use_is_left_alone(self, tmp_path: Path, postgres_url: str) -> None:
        first = made(tmp_path / "p", postgres_url)
        answer(first, "ann")
        with pytest.raises(UserError, match="holds an annotation project already"):
            made(tmp_path / "q", postgres_url)
        assert not (tmp_path / "q").exists()
        assert len(answers(first)) == 1
